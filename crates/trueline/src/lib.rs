//! Checks whether concurrent objects behave as if their operations happened one at a time.
//!
//! A concurrent object is *linearizable* if each of its operations seems to take effect at one moment between its call
//! and its return. Given a **history** of calls and returns, and a **specification** of the sequential object, trueline
//! either finds an order of the operations that explains the history, or shows that no such order exists.
//!
//! [The guide](https://github.com/trueline/trueline/blob/main/docs/src/SUMMARY.md) explains how to
//! use trueline, from the
//! [first test](https://github.com/trueline/trueline/blob/main/docs/src/first-structure.md) to
//! [what a pass does not prove](https://github.com/trueline/trueline/blob/main/docs/src/what-a-pass-does-not-prove.md).
//! These pages are the reference.
//!
//! # A test
//!
//! [`test()`](fn@test) runs a concurrent object on real threads, records histories, and judges them; see [`mod@test`].
//!
//! ```
//! use std::{collections::VecDeque, sync::Mutex};
//!
//! trueline::test(|| Mutex::new(VecDeque::new()))
//!     .model(VecDeque::new())
//!     .operation("push", 0..100, |queue, x| queue.lock().unwrap().push_back(x), |model, x| model.push_back(x))
//!     .operation("pop", (), |queue, ()| queue.lock().unwrap().pop_front(), |model, ()| model.pop_front())
//!     .runs(100) // by default, runs for one second
//!     .run();
//! ```
//!
//! # A history, a specification, a verdict
//!
//! ```
//! use trueline::history::History;
//! use trueline::judge::{Config, check};
//! use trueline::spec::{Queue, QueueOp, QueueRet};
//!
//! // Two processes use a queue at the same time.
//! let mut builder = History::builder();
//! builder.call(0, QueueOp::Enqueue("a"))?;
//! builder.call(1, QueueOp::Dequeue)?;
//! builder.ret(1, QueueRet::Value(Some("a")))?; // the enqueue has not returned, but it has taken effect
//! builder.ret(0, QueueRet::Done)?;
//! builder.call(1, QueueOp::Dequeue)?;
//! builder.ret(1, QueueRet::Value(Some("a")))?; // the same element a second time
//! let history = builder.finish();
//!
//! let judgment = check(&Queue::new(), &history, &Config::new());
//! let evidence = judgment.verdict.evidence().expect("the element was enqueued only once");
//! assert_eq!(evidence.refused.0, 2); // operation 2 is the second dequeue
//! assert_eq!(evidence.allowed, [QueueRet::Value(None)]); // it could only have found the queue empty
//! # Ok::<(), trueline::history::HistoryError>(())
//! ```
//!
//! # Your own object
//!
//! A plain Rust type becomes a specification by implementing [`spec::Model`]. For partial, nondeterministic or large
//! objects, implement the trait [`spec::Spec`] directly.
//!
//! ```
//! use trueline::history::History;
//! use trueline::judge::{Config, check};
//! use trueline::spec::{FromModel, Model};
//!
//! #[derive(Clone, PartialEq, Eq, Hash, Debug)]
//! struct Tickets(u32);
//!
//! impl Model for Tickets {
//!     type Op = (); // draw a ticket
//!     type Ret = u32; // its number
//!     fn apply(&mut self, _draw: &()) -> u32 {
//!         self.0 += 1;
//!         self.0
//!     }
//! }
//!
//! let mut builder = History::builder();
//! for process in [0, 1] {
//!     builder.call(process, ())?;
//! }
//! builder.ret(0, 1)?;
//! builder.ret(1, 1)?; // the same number
//! assert!(check(&FromModel::new(Tickets(0)), &builder.finish(), &Config::new()).verdict.is_rejected());
//! # Ok::<(), trueline::history::HistoryError>(())
//! ```
//!
//! # How data flows
//!
//! [`drive`] produces histories; [`history`] holds histories and reads them from files; [`judge`]
//! compares a history with a [`spec`]; a [`verdict`] is accepted, rejected or unknown, never a
//! `bool`; [`report`] assembles a report from a verdict, and [`view`] displays the report.
//! [`registry`] looks up specifications by name, for histories that come from files.
//! [`assert_linearizable!`] does all of this in one line of a test. [`primitives`] has atomics,
//! mutexes and condition variables for objects whose threads trueline is to schedule, or to stop
//! when they are stuck.

// Data.
pub mod history;
pub mod spec;
pub mod verdict;

// Recording and judging.
pub mod primitives;
pub mod drive;
pub mod judge;
#[cfg(feature = "named")]
pub mod registry;

// Reports.
pub mod view;
pub mod report;

// The interface for tests.
pub mod test;
#[doc(hidden)]
pub mod assert;

#[doc(hidden)]
pub mod _macro_support {
    //! Items used by the code that the derive macros generate.

    // Generated code cannot use `::std`, because it does not exist in crates with `#![no_std]`.
    pub use std::string::String;

    pub use crate::history::derived::{
        FieldShape, Shape, enum_as_rust, split_enum, split_struct, struct_as_rust, to_value,
    };
}

pub use test::test;

/// Fails to compile unless the main types can be sent to other threads and shared between them.
const _: () = {
    const fn is_send_and_sync<T: ?Sized + Send + Sync>() {}

    is_send_and_sync::<history::History<u8, u8>>();
    is_send_and_sync::<history::Builder<u8, u8>>();
    is_send_and_sync::<history::HistoryError>();
    #[cfg(feature = "json")]
    is_send_and_sync::<history::codec::CodecError>();
    is_send_and_sync::<spec::Queue<u8>>();
    is_send_and_sync::<judge::Algorithm>();
    is_send_and_sync::<judge::Budget>();
    is_send_and_sync::<judge::CancelToken>();
    is_send_and_sync::<judge::Config>();
    is_send_and_sync::<dyn judge::Checker>();
    is_send_and_sync::<dyn judge::Judged>();
    is_send_and_sync::<judge::quasi::Semantics<'static, u8, u8>>();
    is_send_and_sync::<judge::shrink::Limits>();
    is_send_and_sync::<verdict::Core<u8, u8>>();
    is_send_and_sync::<verdict::Judgment<u8>>();
    is_send_and_sync::<verdict::ProgressVerdict<u8>>();
    #[cfg(feature = "named")]
    is_send_and_sync::<registry::NamedSpec>();
    #[cfg(feature = "named")]
    is_send_and_sync::<registry::NamedError>();
    is_send_and_sync::<report::Assembled>();
    is_send_and_sync::<test::Calls>();
    #[cfg(feature = "systematic")]
    is_send_and_sync::<test::Exploration>();
    is_send_and_sync::<test::Failure>();
    is_send_and_sync::<test::Outcome>();
    is_send_and_sync::<test::Plan>();
    is_send_and_sync::<test::Token>();
};

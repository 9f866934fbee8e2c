//! Testing a concurrent object in a dozen lines.
//!
//! A test specifies how to create the object, its correct behavior (a plain Rust type, or a specification by name), and
//! for each operation its name, its arguments, and the code to call. [`Test::run`] then executes many small runs on
//! real threads, each on a fresh object, and checks the history of each run against the specification.
//!
//! ```
//! use std::collections::VecDeque;
//! use std::sync::Mutex;
//!
//! trueline::test(|| Mutex::new(VecDeque::new()))
//!     .model(VecDeque::new())
//!     .operation("push", 0..100, |queue, x| queue.lock().unwrap().push_back(x), |model, x| model.push_back(x))
//!     .operation("pop", (), |queue, ()| queue.lock().unwrap().pop_front(), |model, ()| model.pop_front())
//!     .runs(200)
//!     .run();
//! ```
//!
//! If no linearization explains the history of a run, the test fails with a report. The report
//! shows the threads side by side, the few operations that explain the failure, their results, the
//! results that would have been correct, and how to repeat the run. The test also fails if a run
//! gets stuck or the object panics.
//!
//! ```should_panic
//! use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
//! use std::time::Duration;
//!
//! // The increment is a load and a store, so two threads may draw the same number.
//! trueline::test(|| AtomicU64::new(0))
//!     .model(0_u64)
//!     .operation(
//!         "draw",
//!         (),
//!         |counter, ()| {
//!             let number = counter.load(SeqCst);
//!             std::thread::sleep(Duration::from_millis(1)); // something that takes a while
//!             counter.store(number + 1, SeqCst);
//!             number
//!         },
//!         |model, ()| {
//!             *model += 1;
//!             *model - 1
//!         },
//!     )
//!     .runs(1000)
//!     .run();
//! ```
//!
//! Before the report is written, the program of the failing run is shrunk, for at most two
//! [seconds](Test::shrink_for). The report shows the smallest program that failed in the same way,
//! and ends with a regression test for it. To complete that test, move the failing test, up to
//! `.run()`, into a separate function:
//!
//! ```
//! # use std::collections::VecDeque;
//! # use std::sync::Mutex;
//! use trueline::test::{Modeled, Shared, Test};
//!
//! type Queue = Mutex<VecDeque<u32>>;
//!
//! fn your_test() -> Test<Queue, Shared<Queue>, Modeled<VecDeque<u32>>> {
//!     trueline::test(Queue::default)
//!         .model(VecDeque::new())
//!         .operation("push", 0..100_u32, |queue, x| queue.lock().unwrap().push_back(x), |model, x| model.push_back(x))
//!         .operation("pop", (), |queue, ()| queue.lock().unwrap().pop_front(), |model, ()| model.pop_front())
//! }
//!
//! your_test()
//!     .only("push 1, pop | pop")
//!     .chaos(16)
//!     .runs(1000)
//!     .run();
//! ```
//!
//! # What real objects need
//!
//! - **A handle for each thread** ([`Test::handle`]), which may keep a guard from one operation
//!   until a later operation drops it; **roles** ([`Test::by`]), such as a single consumer;
//!   operations that are possible only in [some states](Test::when).
//! - **Operations that may never return** ([`Test::may_block`]), with a way to [release them](Test::release).
//! - Operations [before](Test::before) a run, to fill the object, and [after](Test::after) it, when all threads have
//!   finished.
//! - Fixed [programs](Test::program), and [workers](Test::worker) that choose their calls from the results they have
//!   seen.
//! - Arguments from [generators](crate::drive::Generate): ranges, lists, [unique](crate::drive::unique) values;
//!   elements of a [chosen size](crate::drive::Payload), keys whose [hashes collide](crate::drive::Colliding).
//! - Operations that [wait for each other](Test::synchronizes): channels, exchangers, barriers.
//! - [Weak](Test::weak) operations, such as `len`, which are called only on request.
//! - Closing a channel, dropping one of its ends, and polling a future [once](poll_once). These are
//!   ordinary operations. Their results must show what happened, so that they can be compared with
//!   the results of the model:
//!
//! ```
//! use std::collections::VecDeque;
//! use std::sync::{Mutex, mpsc};
//!
//! trueline::test(|| {
//!     let (sender, receiver) = mpsc::channel();
//!     (Mutex::new(Some(sender)), Mutex::new(receiver))
//! })
//! .model((VecDeque::new(), true))
//! .operation(
//!     "send",
//!     0..100_u32,
//!     |channel, x| channel.0.lock().unwrap().as_ref().is_some_and(|sender| sender.send(x).is_ok()),
//!     |(sent, is_open), x| {
//!         sent.extend(is_open.then_some(x));
//!         *is_open
//!     },
//! )
//! .operation("drop the sender", (), |channel, ()| drop(channel.0.lock().unwrap().take()), |(_, is_open), ()| *is_open = false)
//! .operation(
//!     "receive",
//!     (),
//!     |channel, ()| channel.1.lock().unwrap().try_recv().map_err(|none| none == mpsc::TryRecvError::Disconnected),
//!     |(sent, is_open), ()| sent.pop_front().ok_or(!*is_open),
//! )
//! .runs(100)
//! .run();
//! ```
//!
//! # The environment
//!
//! | variable | meaning |
//! |---|---|
//! | `TRUELINE_SEED` | seeds all randomness |
//! | `TRUELINE_REPLAY` | repeats only the run with this name, which a report printed |
//! | `TRUELINE_TIME` | executes runs for this many seconds |
//! | `TRUELINE_RUNS` | executes this many runs, without a time limit |
//! | `TRUELINE_THREADS`, `TRUELINE_OPERATIONS` | the number of threads, and of operations of each thread |
//! | `TRUELINE_CHAOS` | makes threads yield at one in N schedule points; 0 disables yielding |
//! | `TRUELINE_CLOCK` | selects the clock: `tsc`, `instant` or `counter` |
//! | `TRUELINE_PAGES` | draws failing runs, and failing assertions, as HTML pages in this folder |
//! | `TRUELINE_SHRINK_TIME` | shrinks a failing program for at most this many seconds; 0 disables shrinking |
//! | `TRUELINE_WEAK` | if 1, also calls operations that are tagged weak |
//!
//! Failing runs are recorded in `trueline-regressions.txt`, beside the `Cargo.toml` of the package,
//! and are repeated first when the test runs again.

// The parts of a test.
mod model;
mod meaning;
mod specified;
mod synchronizing;
mod judge;
mod guess;
mod notation;

// The settings and programs of a test.
mod settings;
mod environment;
mod plan;
mod listing;
mod calls;
mod outline;
mod token;
mod regressions;

// Running a test.
mod supervise;
mod running;
#[cfg(feature = "systematic")]
mod explore;
#[cfg(feature = "systematic")]
mod programs;
#[cfg(feature = "systematic")]
mod serial;

// The outcome of a test.
mod coverage;
mod failure;
mod shrink;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::drive::{Call, Clock, Generate, Handle, Instance, Kind, Timed, Worker, Workload};
use crate::history::{Argument, Datum, Value, visible};
use crate::judge::Algorithm;

#[cfg(feature = "systematic")]
pub use crate::drive::systematic::Search;
pub use calls::Calls;
pub use coverage::TooLittle;
#[cfg(feature = "systematic")]
pub use explore::{Against, Exploration};
pub use failure::{Failure, FailureKind, Smallest};
pub use meaning::Meaning;
pub use model::PlainModel;
#[doc(hidden)]
pub use model::{ModelSpec, State};
#[doc(hidden)]
pub use plan::Plan;
pub use specified::OwnSpec;
pub use synchronizing::SyncModel;
pub use token::Token;
#[doc(hidden)]
pub use token::{Scheduled, Source};

use judge::Judge;
use model::ModelOperation;
use outline::Outline;
use plan::{Options, Signature};
use settings::settings;
use synchronizing::{Mode, Who};

/// Creates a [`Test`] of the objects that `make` returns.
///
/// See the [module](self) for examples.
#[track_caller]
pub fn test<O: Send + Sync + 'static>(make: impl Fn() -> O + Send + Sync + 'static) -> Test<O> {
    let place = std::panic::Location::caller();
    let thread = std::thread::current();
    // Test harnesses name the thread of a test after the test, unless they run all tests on one thread.
    let of_harness = thread.name().filter(|name| *name != "main");
    let name = of_harness.map_or_else(
        || format!("{}:{}", place.file().rsplit(['/', '\\']).next().unwrap_or_default(), place.line()),
        str::to_owned,
    );
    // Failing runs are not recorded under a line number, because the next edit of the file may move the line.
    let remembers = of_harness.is_some();
    Test {
        make: Arc::new(make),
        handle: Arc::new(|object, _| object.clone()),
        release: None,
        bodies: Vec::new(),
        outline: Outline::default(),
        judge: Unjudged(()),
        options: Options { name: Some(name), remembers, ..Options::default() },
    }
}

/// An object that all threads of a run share.
pub struct Shared<O>(Arc<O>);

impl<O> Clone for Shared<O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<O> Deref for Shared<O> {
    type Target = O;

    fn deref(&self) -> &O {
        &self.0
    }
}

impl<O: fmt::Debug> fmt::Debug for Shared<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Marks a test whose correct behavior is not specified yet. To specify it, choose a
/// [model](Test::model), a [specification by name](Test::spec), or [one of your
/// own](Test::own_spec).
#[derive(Debug)]
pub struct Unjudged(());

/// A test whose operations are compared with those of a plain Rust type.
pub struct Modeled<M> {
    initial: M,
    steps: Vec<ModelOperation>,
    independent_keys: bool,
}

impl<M: fmt::Debug> fmt::Debug for Modeled<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Modeled").field("initial", &self.initial).finish_non_exhaustive()
    }
}

/// A test whose operations are compared with a specification that was chosen by name.
#[cfg(feature = "named")]
#[derive(Debug)]
pub struct Specified {
    spec: crate::registry::NamedSpec,
}

#[cfg(feature = "named")]
impl Specified {
    #[track_caller]
    fn check_name(&self, operation: &str) {
        let info = self.spec.info();
        assert!(
            info.operation(operation).is_some(),
            "the specification `{}` has no operation `{}`; its operations are: {}",
            info.name,
            visible(operation),
            info.operations.iter().map(|operation| operation.name).collect::<Vec<_>>().join(", ")
        );
    }
}

/// A test whose operations wait for each other.
pub struct SynchronizingModel<M> {
    initial: M,
    modes: Vec<Mode>,
}

impl<M: fmt::Debug> fmt::Debug for SynchronizingModel<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SynchronizingModel").field("initial", &self.initial).finish_non_exhaustive()
    }
}

/// Returns whether an operation may be called now.
type IsPossible<H> = Box<dyn Fn(&mut H) -> bool + Send + Sync>;

/// Creates the handle of a thread.
type MakeHandle<O, H> = Arc<dyn Fn(&Shared<O>, u32) -> H + Send + Sync>;

/// Releases operations that are blocked.
type Release<O> = Arc<dyn Fn(&O) + Send + Sync>;

/// Executes an operation with an argument on a handle, and records the timestamps of the operation.
type Carry<H> = Box<dyn Fn(&mut H, &Value, Clock) -> Timed + Send + Sync>;

/// The code that executes an operation.
struct Body<H> {
    call: Carry<H>,
    is_possible: Option<IsPossible<H>>,
}

/// A call of an operation by its name, for fixed programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCall {
    name: String,
    argument: Value,
}

/// Creates a call of the operation with this name, for [programs](Test::program).
pub fn call(name: &str, argument: impl Argument) -> NamedCall {
    NamedCall { name: name.to_owned(), argument: argument.to_value() }
}

/// A test of a concurrent object: see the [module](self).
///
/// `O` is the type of the object, `H` the type of each thread's handle, and `J` specifies the correct behavior.
#[must_use = "a test does nothing until `run` is called"]
pub struct Test<O, H = Shared<O>, J = Unjudged> {
    make: Arc<dyn Fn() -> O + Send + Sync>,
    handle: MakeHandle<O, H>,
    release: Option<Release<O>>,
    /// The code of each operation, by the number of the operation in `outline`.
    bodies: Vec<Body<H>>,
    outline: Outline,
    judge: J,
    options: Options,
}

impl<O, H, J: fmt::Debug> fmt::Debug for Test<O, H, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<&Kind> = self.outline.operations.iter().map(|operation| &operation.kind).collect();
        f.debug_struct("Test")
            .field("operations", &kinds)
            .field("judge", &self.judge)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl<O: 'static> Test<O, Shared<O>, Unjudged> {
    /// Gives each thread a handle of its own, which is passed to its operations instead of the object.
    ///
    /// A handle is created on its thread, and dropped when all threads have finished. Threads are numbered from 0.
    /// Operations [before](Test::before) and [after](Test::after) a run have a handle of their own.
    ///
    /// ```
    /// use std::collections::VecDeque;
    /// use std::sync::mpsc::{Receiver, Sender, channel};
    /// use std::sync::Mutex;
    ///
    /// /// A sender for each thread, and the receiver for the first one.
    /// struct Ends { sender: Sender<u64>, receiver: Option<Receiver<u64>> }
    ///
    /// trueline::test(|| { let (sender, receiver) = channel(); Mutex::new((sender, Some(receiver))) })
    ///     .handle(|channel, _thread| {
    ///         let mut ends = channel.lock().unwrap();
    ///         Ends { sender: ends.0.clone(), receiver: ends.1.take() }
    ///     })
    ///     .model(VecDeque::new())
    ///     .operation("send", 0..9_u64, |ends, x| ends.sender.send(x).is_ok(), |queue, x| { queue.push_back(x); true })
    ///     .operation("receive", (), |ends, ()| ends.receiver.as_ref()?.try_recv().ok(), |queue, ()| queue.pop_front())
    ///     .when(|ends| ends.receiver.is_some())
    ///     .runs(100)
    ///     .run();
    /// ```
    pub fn handle<H: 'static>(
        self,
        handle: impl Fn(&Shared<O>, u32) -> H + Send + Sync + 'static,
    ) -> Test<O, H, Unjudged> {
        Test {
            make: self.make,
            handle: Arc::new(handle),
            release: self.release,
            bodies: Vec::new(),
            outline: self.outline,
            judge: self.judge,
            options: Options { has_handles: true, ..self.options },
        }
    }
}

impl<O, H> Test<O, H, Unjudged> {
    fn judged_by<J>(self, judge: J) -> Test<O, H, J> {
        let Self { make, handle, release, bodies, outline, options, judge: _ } = self;
        Test { make, handle, release, bodies, outline, judge, options }
    }

    /// Specifies the correct behavior by a plain Rust type, which executes one operation at a time,
    /// starting from the state `initial`.
    pub fn model<M: PlainModel>(self, initial: M) -> Test<O, H, Modeled<M>> {
        self.judged_by(Modeled { initial, steps: Vec::new(), independent_keys: false })
    }

    /// Tests operations that wait for each other. [`together`](Test::together) specifies which
    /// operations synchronize, and which results they return. The model is a state of a plain Rust
    /// type, which starts as `initial` and is kept from each synchronization to the next. Use `()`
    /// if no state is needed.
    ///
    /// A run also fails if a call did not return although it should have.
    ///
    /// ```
    /// use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
    /// use std::sync::Mutex;
    ///
    /// // A channel without a buffer: a send waits for a receive.
    /// trueline::test(|| {
    ///     let (sender, receiver) = sync_channel(0);
    ///     (sender, Mutex::new(receiver))
    /// })
    /// .synchronizes(())
    /// .operation("send", 0..100_u32, |channel, x| channel.0.send(x).unwrap())
    /// .operation("receive", (), |channel, ()| channel.1.lock().unwrap().recv().unwrap())
    /// .together(["send", "receive"], |(), (x, ()): (u32, ())| ((), x))
    /// .runs(100)
    /// .run();
    /// ```
    pub fn synchronizes<M: PlainModel>(self, initial: M) -> Test<O, H, SynchronizingModel<M>> {
        self.judged_by(SynchronizingModel { initial, modes: Vec::new() })
    }

    /// Specifies the correct behavior by the name of a specification, such as `queue` or
    /// `register:0` (`trueline specs` lists them). If the specification has a
    /// [monitor](crate::judge::monitor), which is an algorithm that takes near-linear time, long
    /// runs can be judged, too.
    ///
    /// Operations must have the names that the specification gives them.
    ///
    /// ```
    /// use std::collections::VecDeque;
    /// use std::sync::Mutex;
    ///
    /// trueline::test(|| Mutex::new(VecDeque::new()))
    ///     .spec("queue")
    ///     .operation("enqueue", trueline::drive::unique(), |queue, x| queue.lock().unwrap().push_back(x))
    ///     .operation("dequeue", (), |queue, ()| queue.lock().unwrap().pop_front())
    ///     .runs(200)
    ///     .run();
    /// ```
    ///
    /// # Panics
    /// Panics if there is no specification with this name.
    #[cfg(feature = "named")]
    #[track_caller]
    pub fn spec(self, name: &str) -> Test<O, H, Specified> {
        match crate::registry::spec(name, crate::registry::Options::new()) {
            Ok(spec) => self.judged_by(Specified { spec }),
            Err(error) => panic!("{}", visible(&error.to_string())),
        }
    }
}

impl<O, H: 'static, J> Test<O, H, J> {
    #[track_caller]
    fn add<G, R>(&mut self, name: &str, arguments: G, body: impl Fn(&mut H, G::Item) -> R + Send + Sync + 'static)
    where
        G: Generate + Send + Sync + 'static,
        R: Datum,
    {
        let kind = Kind::new(name, move |making| arguments.generate(making).to_value()).with_types::<G::Item, R>();
        let takes = |argument: &Value| G::Item::from_value(argument).is_some();
        self.outline.add(kind, Signature { takes, returns: size_of::<R>() > 0 });
        let call = move |handle: &mut H, argument: &Value, clock| {
            let argument = G::Item::from_value(argument).expect("each argument has the type that its operation takes");
            Timed::measure(clock, || body(handle, argument))
        };
        self.bodies.push(Body { call: Box::new(call), is_possible: None });
    }

    /// Sets the weight of the operation that was added last. An operation with weight N is called N
    /// times as often as an operation without a weight.
    ///
    /// # Panics
    /// Panics if there is no operation yet.
    #[track_caller]
    pub fn weight(mut self, weight: u32) -> Self {
        self.outline.last("weight").kind.weight = weight;
        self
    }

    /// Restricts the operation that was added last to one thread, which has this role. Threads
    /// without a role call only operations without a role, and a thread with a role calls only
    /// operations of that role.
    ///
    /// ```
    /// # use std::sync::Mutex;
    /// // One thread is the consumer; all other threads are producers.
    /// # trueline::test(|| Mutex::new(Vec::new())).spec("stack")
    /// # .operation("push", 0..9, |stack, x| stack.lock().unwrap().push(x))
    /// .operation("pop", (), |stack, ()| stack.lock().unwrap().pop()).by("consumer")
    /// # .runs(10).run();
    /// ```
    ///
    /// # Panics
    /// Panics if there is no operation yet.
    #[track_caller]
    pub fn by(self, role: &str) -> Self {
        self.by_threads(role, 1)
    }

    /// Restricts the operation that was added last to threads with this role, as [`by`](Test::by)
    /// does, and sets the number of these threads.
    ///
    /// # Panics
    /// Panics if there is no operation yet, or `threads` is 0.
    #[track_caller]
    pub fn by_threads(mut self, role: &str, threads: u32) -> Self {
        self.outline.by_threads(role, threads);
        self
    }

    /// Restricts the operation that was added last to one thread, which has this role. Unlike with
    /// [`by`](Test::by), this thread also calls operations without a role.
    ///
    /// ```
    /// # use std::sync::Mutex;
    /// // All threads push; only one of them pops.
    /// # trueline::test(|| Mutex::new(Vec::new())).spec("stack")
    /// # .operation("push", 0..9, |stack, x| stack.lock().unwrap().push(x))
    /// .operation("pop", (), |stack, ()| stack.lock().unwrap().pop()).exclusively_by("owner")
    /// # .runs(10).run();
    /// ```
    ///
    /// # Panics
    /// Panics if there is no operation yet.
    #[track_caller]
    pub fn exclusively_by(mut self, role: &str) -> Self {
        self.outline.by_threads(role, 1);
        self.outline.sharing.push(role.into());
        self
    }

    /// Calls the operation that was added last only on request ([`check_weak`](Test::check_weak),
    /// or `TRUELINE_WEAK=1`). Use it for operations such as `len` or iteration, which many objects
    /// do not promise to be exact.
    ///
    /// # Panics
    /// Panics if there is no operation yet.
    #[track_caller]
    pub fn weak(mut self) -> Self {
        self.outline.last("weak").is_weak = true;
        self
    }

    /// Sets whether operations that are tagged [weak](Test::weak) are called.
    pub fn check_weak(mut self, yes: bool) -> Self {
        self.outline.weak = yes;
        self
    }

    /// Allows the operation that was added last to wait forever. A call that waits forever is
    /// pending when the run is judged.
    ///
    /// # Panics
    /// Panics if there is no operation yet.
    #[track_caller]
    pub fn may_block(mut self) -> Self {
        self.outline.last("may_block").kind.may_block = true;
        self
    }

    /// Calls the operation that was added last only if the given function returns `true` for the
    /// thread's handle: for example, only if the handle has a guard to drop, or if a channel is not
    /// closed yet.
    ///
    /// # Panics
    /// Panics if there is no operation yet.
    #[track_caller]
    pub fn when(mut self, is_possible: impl Fn(&mut H) -> bool + Send + Sync + 'static) -> Self {
        self.outline.last("when");
        self.bodies.last_mut().expect("each operation has a body").is_possible = Some(Box::new(is_possible));
        self
    }

    /// Sets the function that releases operations that wait forever, for example by closing the channel. The results
    /// of released operations are ignored. Objects that are written with [`primitives`](crate::primitives) do not
    /// need such a function.
    pub fn release(mut self, release: impl Fn(&O) + Send + Sync + 'static) -> Self {
        self.release = Some(Arc::new(release));
        self
    }

    /// Adds calls that are made one after another before the threads start, for example to fill the
    /// object.
    pub fn before(mut self, calls: impl IntoIterator<Item = NamedCall>) -> Self {
        self.outline.before.extend(calls);
        self
    }

    /// Adds calls that are made when all threads have finished, such as reading the remaining
    /// values.
    pub fn after(mut self, calls: impl IntoIterator<Item = NamedCall>) -> Self {
        self.outline.after.extend(calls);
        self
    }

    /// Adds a fixed program: the calls of each thread. The test runs it in addition to random
    /// programs, or instead of random programs if all operations have weight 0.
    ///
    /// ```
    /// use trueline::test::call;
    /// # use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    /// # trueline::test(|| AtomicU64::new(0)).spec("fetch-add")
    /// # .operation("fetch-add", 1..9_u64, |count, x| count.fetch_add(x, SeqCst))
    /// .program([vec![call("fetch-add", 1)], vec![call("fetch-add", 2), call("fetch-add", 3)]])
    /// # .runs(10).run();
    /// ```
    pub fn program<T>(mut self, threads: impl IntoIterator<Item = T>) -> Self
    where
        T: IntoIterator<Item = NamedCall>,
    {
        self.outline.programs.push(threads.into_iter().map(|calls| calls.into_iter().collect()).collect());
        self
    }

    /// Runs or explores only this program. The program is written in the notation of reports.
    ///
    /// Threads are separated by `|`, and the calls of a thread by `,`. The argument of a call follows the name of its
    /// operation, in JSON notation. Calls before the threads start and calls after they have finished are written
    /// around the threads, which are then in parentheses. These calls replace the calls of [`before`](Test::before)
    /// and [`after`](Test::after).
    ///
    /// ```
    /// # use std::sync::Mutex;
    /// # trueline::test(|| Mutex::new(Vec::new())).spec("stack")
    /// # .operation("push", 0..9_u64, |stack, x| stack.lock().unwrap().push(x))
    /// # .operation("pop", (), |stack, ()| stack.lock().unwrap().pop())
    /// .only("push 1 (pop | push 2, pop) pop")
    /// # .runs(10).run();
    /// ```
    ///
    /// The test [panics](Test::run) if the program calls an operation that does not exist.
    pub fn only(mut self, program: &str) -> Self {
        self.options.only = Some(program.into());
        // The source of the test contains the program already, so failing runs need not be
        // recorded.
        self.options.remembers = false;
        self
    }

    /// Lets each thread choose its next call based on the results that it has seen.
    ///
    /// The function `worker` runs on each thread. It also decides how many calls to make:
    /// [`Worker::operations`] returns the number of calls that the test requests.
    ///
    /// ```
    /// # use std::sync::Mutex;
    /// # trueline::test(|| Mutex::new(Vec::new())).spec("stack")
    /// # .operation("push", 0..9_u64, |stack, x| stack.lock().unwrap().push(x))
    /// # .operation("pop", (), |stack, ()| stack.lock().unwrap().pop())
    /// .worker(|worker| {
    ///     for _ in 0..5 {
    ///         let top: Option<u64> = worker.call("pop", ());
    ///         let next = top.map_or(0, |top| top + 1);
    ///         worker.call::<_, ()>("push", next);
    ///     }
    /// })
    /// # .runs(10).run();
    /// ```
    pub fn worker(mut self, worker: impl Fn(&mut Worker<'_>) + Send + Sync + 'static) -> Self {
        self.outline.choose = Some(Arc::new(worker));
        self
    }

    settings!();

    /// Explores all schedules of small programs, instead of running on real threads. Failures are found
    /// deterministically, and can be reproduced. The object must be written with [`primitives`](crate::primitives).
    ///
    /// ```should_panic
    /// use trueline::primitives::{AtomicU64, Ordering::SeqCst};
    /// use trueline::test::Exploration;
    ///
    /// trueline::test(|| AtomicU64::new(0))
    ///     .model(0_u64)
    ///     .operation(
    ///         "draw",
    ///         (),
    ///         |counter, ()| {
    ///             let number = counter.load(SeqCst);
    ///             counter.store(number + 1, SeqCst);
    ///             number
    ///         },
    ///         |model, ()| {
    ///             *model += 1;
    ///             *model - 1
    ///         },
    ///     )
    ///     .explore(Exploration::new())
    ///     .run();
    /// ```
    #[cfg(feature = "systematic")]
    pub fn explore(mut self, exploration: Exploration) -> Self {
        self.options.exploration = Some(exploration);
        self
    }

    /// Explores the program of a run that failed on real threads, to [shrink](Test::shrink_for) it deterministically
    /// and to report it step by step. If the exploration finds no failure, the run on real threads is reported as
    /// usual.
    ///
    /// The object must be written with [`primitives`](crate::primitives), as for [`explore`](Test::explore): an
    /// object that blocks by other means would block forever.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueline::primitives::{AtomicU64, Ordering::SeqCst};
    ///
    /// let outcome = trueline::test(|| AtomicU64::new(0))
    ///     .handle(|counter, _| (counter.clone(), 0)) // each thread keeps the number that it drew last
    ///     .model(0_u64)
    ///     .operation(
    ///         "draw",
    ///         (),
    ///         |(counter, last), ()| {
    ///             *last += 1;
    ///             counter.fetch_max(*last, SeqCst);
    ///             *last
    ///         },
    ///         |model, ()| {
    ///             *model += 1;
    ///             *model
    ///         },
    ///     )
    ///     .threads(2)
    ///     .calls(10)
    ///     .shrink_by_exploring()
    ///     .shrink_for(Duration::MAX) // until there is nothing left to try
    ///     .outcome();
    /// let smallest = outcome.failure.unwrap().smallest.unwrap();
    /// assert_eq!((smallest.program.as_str(), smallest.of_calls), ("draw | draw", 20));
    /// ```
    #[cfg(feature = "systematic")]
    pub fn shrink_by_exploring(mut self) -> Self {
        self.options.shrinks_by_exploring = true;
        self
    }

    /// Repeats only the run with this name, which a report has printed.
    ///
    /// # Panics
    /// Panics if `token` is not the name of a run.
    #[track_caller]
    pub fn replay(mut self, token: &str) -> Self {
        match token.parse() {
            Ok(token) => self.options.replay = Some(token),
            Err(error) => panic!("{}", visible(&error.to_string())),
        }
        self
    }
}

impl<O, H: 'static, M: PlainModel> Test<O, H, Modeled<M>> {
    /// Adds an operation: its name, the generator of its arguments, the code that it calls, and its effect on the
    /// model.
    ///
    /// The result must own its data. If the compiler reports that a lifetime may not live long enough, the code returns
    /// a reference into the object: return a copy instead, with `.copied()`, `.cloned()` or `*`.
    ///
    /// # Panics
    /// Panics if there is already an operation with this name.
    #[track_caller]
    pub fn operation<G, R>(
        self,
        name: &str,
        arguments: G,
        body: impl Fn(&mut H, G::Item) -> R + Send + Sync + 'static,
        model: impl Fn(&mut M, G::Item) -> R + Send + Sync + 'static,
    ) -> Self
    where
        G: Generate + Send + Sync + 'static,
        R: Datum,
    {
        self.partial_operation(name, arguments, body, move |state, argument| Some(model(state, argument)))
    }

    /// Adds a partial operation, which is blocked in some states: the model returns `None` in a
    /// state in which the operation cannot happen.
    ///
    /// ```
    /// use std::sync::Mutex;
    /// use trueline::primitives::{AtomicBool, Ordering::SeqCst, spin_hint};
    ///
    /// trueline::test(|| AtomicBool::new(false))
    ///     .handle(|lock, _| (lock.clone(), false))
    ///     .model(false)
    ///     .partial_operation(
    ///         "lock",
    ///         (),
    ///         |(lock, is_mine), ()| {
    ///             while lock.swap(true, SeqCst) {
    ///                 spin_hint();
    ///             }
    ///             *is_mine = true;
    ///         },
    ///         |is_locked, ()| if *is_locked { None } else { *is_locked = true; Some(()) },
    ///     )
    ///     .when(|(_, is_mine)| !*is_mine)
    ///     .may_block()
    ///     .operation(
    ///         "unlock",
    ///         (),
    ///         |(lock, is_mine), ()| { lock.store(false, SeqCst); *is_mine = false; },
    ///         |is_locked, ()| *is_locked = false,
    ///     )
    ///     .when(|(_, is_mine)| *is_mine)
    ///     .runs(20)
    ///     .run();
    /// ```
    ///
    /// # Panics
    /// Panics if there is already an operation with this name.
    #[track_caller]
    pub fn partial_operation<G, R>(
        mut self,
        name: &str,
        arguments: G,
        body: impl Fn(&mut H, G::Item) -> R + Send + Sync + 'static,
        model: impl Fn(&mut M, G::Item) -> Option<R> + Send + Sync + 'static,
    ) -> Self
    where
        G: Generate + Send + Sync + 'static,
        R: Datum,
    {
        self.add(name, arguments, body);
        let step = model::step(move |state: &mut M, argument| {
            let argument = G::Item::from_value(argument).expect("each argument has the type that its operation takes");
            model(state, argument).map(|result| result.to_value())
        });
        self.judge.steps.push(ModelOperation::new(step));
        self
    }

    /// Declares that the operation that was added last never changes the model. Judging is then
    /// faster.
    ///
    /// # Panics
    /// Panics if there is no operation yet.
    #[track_caller]
    pub fn reads_only(mut self) -> Self {
        self.outline.last("reads_only");
        self.judge.steps.last_mut().expect("each operation has a model step").reads_only = true;
        self
    }

    /// Declares the meaning of the operation that was added last. If all operations of a test have
    /// a [meaning](Meaning), the near-linear monitors judge its runs, so that runs may be long.
    ///
    /// ```
    /// # use std::collections::VecDeque;
    /// # use std::sync::Mutex;
    /// use trueline::test::Meaning;
    /// # trueline::test(|| Mutex::new(VecDeque::new()))
    /// # .model(VecDeque::new())
    /// .operation("push", 0..9, |queue, x| queue.lock().unwrap().push_back(x), |model, x| model.push_back(x))
    /// .means(Meaning::Enqueue)
    /// .operation("pop", (), |queue, ()| queue.lock().unwrap().pop_front(), |model, ()| model.pop_front())
    /// .means(Meaning::Dequeue)
    /// # .runs(20).run();
    /// ```
    ///
    /// The model must behave as the meaning describes. Sample calls of the model check this before
    /// the first run.
    ///
    /// # Panics
    /// Panics if there is no operation yet.
    #[track_caller]
    pub fn means(mut self, meaning: Meaning) -> Self {
        self.outline.last("means");
        self.judge.steps.last_mut().expect("each operation has a model step").meaning = Some(meaning);
        self
    }

    /// Declares that the first argument of each operation is a key, and that operations on
    /// different keys are independent. The operations on each key are then judged separately, which
    /// is much faster than judging them together. An operation without arguments affects all keys.
    pub fn independent_keys(mut self) -> Self {
        self.judge.independent_keys = true;
        self
    }
}

impl<O, H: 'static, M: PlainModel> Test<O, H, SynchronizingModel<M>> {
    /// Adds an operation: its name, the generator of its arguments, and the code that it calls. The operation [may
    /// block](Test::may_block).
    ///
    /// # Panics
    /// Panics if there is already an operation with this name.
    #[track_caller]
    pub fn operation<G, R>(
        mut self,
        name: &str,
        arguments: G,
        body: impl Fn(&mut H, G::Item) -> R + Send + Sync + 'static,
    ) -> Self
    where
        G: Generate + Send + Sync + 'static,
        R: Datum,
    {
        self.add(name, arguments, body);
        self.may_block()
    }

    /// Declares that operations with these names synchronize. `results` maps their arguments, in the order of the
    /// names, to their results.
    ///
    /// For one name, `results` maps a single argument to a single result. If a name occurs more
    /// than once, every order of its executions is tried. At most 5,040 orders are allowed (the
    /// number of orders of seven executions of one operation), unless the order does not matter
    /// (see [`in_any_order`](Self::in_any_order)).
    ///
    /// ```
    /// use trueline::primitives::{Condvar, Mutex};
    ///
    /// /// Two threads exchange values, in rounds.
    /// #[derive(Default)]
    /// struct Exchanger(Mutex<(u8, u32)>, Condvar);
    ///
    /// impl Exchanger {
    ///     fn exchange(&self, x: u32) -> u32 {
    ///         let mut state = self.1.wait_while(self.0.lock(), |(stage, _)| *stage == 2);
    ///         if state.0 == 0 {
    ///             *state = (1, x);
    ///             state = self.1.wait_while(state, |(stage, _)| *stage == 1);
    ///             state.0 = 0;
    ///             self.1.notify_all();
    ///             state.1
    ///         } else {
    ///             let other = std::mem::replace(&mut *state, (2, x));
    ///             self.1.notify_all();
    ///             other.1
    ///         }
    ///     }
    /// }
    ///
    /// trueline::test(Exchanger::default)
    ///     .synchronizes(())
    ///     .operation("exchange", 0..100_u32, |exchanger, x| exchanger.exchange(x))
    ///     .together(["exchange", "exchange"], |(), (x, y): (u32, u32)| (y, x))
    ///     .runs(50)
    ///     .run();
    /// ```
    ///
    /// # Panics
    /// Panics if there is no operation with one of these names yet.
    #[track_caller]
    pub fn together<const N: usize, A: Argument, R: Datum>(
        self,
        names: [&str; N],
        results: impl Fn(&mut M, A) -> R + Send + Sync + 'static,
    ) -> Self {
        self.together_if(names, move |state, arguments| Some(results(state, arguments)))
    }

    /// Declares that operations with these names synchronize, as [`together`](Self::together) does,
    /// but only in some states or with some arguments: `results` returns `None` if the operations
    /// do not synchronize.
    ///
    /// ```
    /// # use std::sync::Mutex;
    /// # struct Channel;
    /// # impl Channel { fn send(&self, _: u32) -> bool { false } fn receive(&self) -> Option<u32> { None } fn close(&self) {} }
    /// # trueline::test(|| Channel)
    /// .synchronizes(true) // the state: whether the channel is open
    /// # .operation("send", 0..9_u32, |channel, x| channel.send(x))
    /// # .operation("receive", (), |channel, ()| channel.receive())
    /// # .operation("close", (), |channel, ()| channel.close())
    /// # .before([trueline::test::call("close", ())])
    /// .together_if(["send", "receive"], |is_open, (x, ()): (u32, ())| is_open.then_some((true, Some(x))))
    /// .together_if(["send"], |is_open, _: u32| (!*is_open).then_some(false))
    /// .together_if(["receive"], |is_open, ()| (!*is_open).then_some(None::<u32>))
    /// .together(["close"], |is_open, ()| *is_open = false)
    /// # .runs(10).run();
    /// ```
    ///
    /// # Panics
    /// Panics if there is no operation with one of these names yet, or no name is given.
    #[track_caller]
    pub fn together_if<const N: usize, A: Argument, R: Datum>(
        mut self,
        names: [&str; N],
        results: impl Fn(&mut M, A) -> Option<R> + Send + Sync + 'static,
    ) -> Self {
        assert!(N > 0, "`together_if` needs at least one operation name");
        let these = names.map(|name| self.number(name)).to_vec();
        self.judge.modes.push(Mode { who: Who::These(these), step: step_of(results), is_order_free: false });
        self
    }

    /// Declares that several executions of one operation synchronize. `size` computes their number
    /// from the state, and `results` maps the list of their arguments to the list of their results.
    ///
    /// Every order of the executions is tried, so at most seven executions can synchronize. To
    /// allow more, see [`in_any_order`](Self::in_any_order).
    ///
    /// ```
    /// # use std::sync::Barrier;
    /// # use std::sync::Mutex;
    /// trueline::test(|| Barrier::new(3))
    ///     .synchronizes(())
    ///     .operation("wait", (), |barrier, ()| drop(barrier.wait()))
    ///     .so_many_together("wait", |()| 3, |(), all: Vec<()>| Some(all))
    ///     .threads(3)
    ///     .runs(50)
    ///     .run();
    /// ```
    ///
    /// # Panics
    /// Panics if there is no operation with this name yet.
    #[track_caller]
    pub fn so_many_together<A: Argument, R: Datum>(
        mut self,
        name: &str,
        size: impl Fn(&M) -> usize + Send + Sync + 'static,
        results: impl Fn(&mut M, Vec<A>) -> Option<Vec<R>> + Send + Sync + 'static,
    ) -> Self {
        let size = move |state: &State| size(state.of());
        let who = Who::SoMany(self.number(name), Arc::new(size));
        self.judge.modes.push(Mode { who, step: step_of(results), is_order_free: false });
        self
    }

    /// Declares that, for the `together` that was added last, the order of the executions does not
    /// matter: in every order, each execution has the same result and the next state is the same.
    /// With this declaration, more than seven executions of one operation can synchronize. The
    /// declaration is checked on samples: a few orders, among them the given order and its reverse,
    /// must give the same results.
    ///
    /// ```
    /// # use std::sync::Barrier;
    /// trueline::test(|| Barrier::new(8))
    ///     .synchronizes(())
    ///     .operation("wait", (), |barrier, ()| drop(barrier.wait()))
    ///     .so_many_together("wait", |()| 8, |(), all: Vec<()>| Some(all))
    ///     .in_any_order()
    ///     .threads(8)
    ///     .runs(5)
    ///     .run();
    /// ```
    ///
    /// # Panics
    /// Panics if there is no `together` yet.
    #[track_caller]
    pub fn in_any_order(mut self) -> Self {
        let last =
            self.judge.modes.last_mut().expect("`in_any_order` must come after the `together` that it applies to");
        last.is_order_free = true;
        self
    }

    #[track_caller]
    fn number(&self, name: &str) -> u32 {
        match self.outline.find(name) {
            Some(number) => number,
            None => panic!(
                "there is no operation `{}` yet: add it before you name the operations that it synchronizes with",
                visible(name)
            ),
        }
    }
}

/// Returns advice for tests whose operations never reach a schedule point.
fn how_to_instrument() -> &'static str {
    if trueline_sync::is_instrumented() {
        "instrument the crates of these operations with `cargo trueline test --instrument CRATE,..`"
    } else {
        "`cargo trueline test` adds schedule points to code that uses `std`"
    }
}

/// Erases the types of `results`, which computes the results of executions that synchronize.
fn step_of<M: PlainModel, A: Argument, R: Datum>(
    results: impl Fn(&mut M, A) -> Option<R> + Send + Sync + 'static,
) -> model::ModelStep {
    model::step(move |state: &mut M, arguments| {
        let arguments = A::from_value(arguments).unwrap_or_else(|| {
            panic!("`together` does not accept the arguments {arguments} of the operations that synchronize")
        });
        results(state, arguments).map(|results| results.to_value())
    })
}

impl<M: PlainModel> Judges for SynchronizingModel<M> {
    #[track_caller]
    fn into_judge(self, workload: &Workload) -> Arc<dyn Judge> {
        let Self { initial, modes } = self;
        assert!(!modes.is_empty(), "no operations synchronize: use `.together(...)` to declare the operations that do");
        let (initial, names) = (State::new(initial), judge::names(workload));
        if let Some(message) = modes.iter().find_map(|mode| mode.too_many_orders(&initial)) {
            panic!("{message}");
        }
        Arc::new(SyncModel { initial, modes, names, is_stateless: size_of::<M>() == 0 })
    }
}

#[cfg(feature = "named")]
impl<O, H: 'static> Test<O, H, Specified> {
    /// Adds an operation of the specification: its name in the specification, the generator of its
    /// arguments, and the code that it calls.
    ///
    /// # Panics
    /// Panics if there is already an operation with this name, or the specification has no operation with this name.
    #[track_caller]
    pub fn operation<G, R>(
        mut self,
        name: &str,
        arguments: G,
        body: impl Fn(&mut H, G::Item) -> R + Send + Sync + 'static,
    ) -> Self
    where
        G: Generate + Send + Sync + 'static,
        R: Datum,
    {
        self.judge.check_name(name);
        self.add(name, arguments, body);
        self
    }
}

/// A trait that no type implements. Its only purpose is the message that the compiler prints if
/// operations are added to a test without a model.
#[diagnostic::on_unimplemented(
    message = "the correct behavior of the operation is not specified",
    label = "call `.model(..)` before the first operation",
    note = "or `.spec(..)` for a specification by name, `.own_spec(..)` for one of your own, `.synchronizes(..)` for operations that wait for each other"
)]
trait HasModel {}

impl<O, H: 'static> Test<O, H, Unjudged> {
    /// Makes the compiler suggest what to do if a test has no model. The result may have any type,
    /// so that the rest of the expression causes no further errors.
    #[doc(hidden)]
    #[expect(private_bounds, reason = "no type satisfies the private bound, which exists only for its error message")]
    pub fn operation<G, R, M, T>(
        self,
        _name: &str,
        _arguments: G,
        _body: impl Fn(&mut H, G::Item) -> R + Send + Sync + 'static,
        _model: M,
    ) -> T
    where
        Self: HasModel,
        G: Generate + Send + Sync + 'static,
        R: Datum,
    {
        unreachable!("no type implements `HasModel`")
    }
}

/// The part of a test that specifies the correct behavior. [`into_judge`](Self::into_judge) turns it into a
/// [`Judge`], which erases its types.
#[diagnostic::on_unimplemented(
    message = "the correct behavior of the tested object is not specified",
    label = "call `.model(..)` and add operations before the test is run",
    note = "or `.spec(..)` for a specification by name, `.own_spec(..)` for one of your own, `.synchronizes(..)` for operations that wait for each other"
)]
trait Judges {
    fn into_judge(self, workload: &Workload) -> Arc<dyn Judge>;
}

impl<M: PlainModel> Judges for Modeled<M> {
    #[track_caller]
    fn into_judge(self, workload: &Workload) -> Arc<dyn Judge> {
        let Self { initial, steps, independent_keys } = self;
        judge_by_model(State::new(initial), steps, independent_keys, workload)
    }
}

#[track_caller]
fn judge_by_model(
    initial: State,
    operations: Vec<ModelOperation>,
    independent_keys: bool,
    workload: &Workload,
) -> Arc<dyn Judge> {
    let names = judge::names(workload);
    let mut spec = ModelSpec { initial, operations, names, independent_keys, register: None, guess: None };
    let workload = workload.clone();
    if spec.operations.iter().all(|operation| operation.meaning.is_none()) {
        spec.guess = Some(Arc::new(guess::Guessing::new(workload)));
        return Arc::new(spec);
    }
    let tried = supervise::call(supervise::Doing::Judging, move || {
        meaning::try_out(&mut spec, |number, random| workload.argument(number, random)).map(|()| spec)
    });
    match tried {
        Ok(spec) => Arc::new(spec),
        Err(problem) => panic!("{}", visible(&problem.to_string())),
    }
}

#[cfg(feature = "named")]
impl Judges for Specified {
    fn into_judge(self, workload: &Workload) -> Arc<dyn Judge> {
        Arc::new(judge::Named { spec: self.spec, names: judge::names(workload) })
    }
}

/// Polls a future once, and returns its output if it is ready. The future is dropped in either
/// case, and is never woken.
///
/// Use this function to turn an operation that waits into an operation that returns at once. The
/// result can then be compared with the result of the model.
///
/// ```
/// use trueline::test::poll_once;
///
/// assert_eq!(poll_once(async { 7 }), Some(7));
/// assert_eq!(poll_once(std::future::pending::<u8>()), None);
/// ```
pub fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}

/// The result of a test.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The number of runs.
    pub runs: u64,
    /// The number of operations in all runs.
    pub operations: u64,
    /// The number of runs that could not be judged in time.
    pub undecided: u64,
    /// The number of threads that were lost because they called operations that never returned. 0
    /// unless the test gave up for this reason.
    #[doc(hidden)]
    pub lost: u32,
    /// The time that the test took.
    pub elapsed: Duration,
    /// The part of the elapsed time that was spent on judging.
    #[doc(hidden)]
    pub judging: Duration,
    /// The seed of all randomness.
    pub seed: u64,
    /// The clock that was used.
    #[doc(hidden)]
    pub clock: Clock,
    /// The reason why the best clock could not be used, or `None` if the best clock was used.
    #[doc(hidden)]
    pub warning: Option<&'static str>,
    /// The reasons why a test without failures has tested too little to pass. Empty if the test has
    /// tested enough, has failed, or was canceled.
    pub too_little: Vec<TooLittle>,
    /// Other warnings about a test without failures, as sentences.
    pub warnings: Vec<String>,
    /// The first run that failed, if any.
    pub failure: Option<Failure>,
    /// The other runs that failed, if [more than one failing run](Plan::collect) was requested.
    pub further: Vec<Failure>,
    /// The extent of the exploration, if the test explored schedules.
    pub explored: Option<Explored>,
}

/// The extent of an exploration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explored {
    /// The number of programs.
    pub programs: u64,
    /// The number of executions of all programs.
    pub executions: u64,
    /// The number of executions that were cut off because the exploration also covers an equivalent
    /// execution.
    #[doc(hidden)]
    pub redundant: u64,
    /// The number of different histories, summed over the programs.
    pub histories: u64,
    /// The number of serial histories, if histories were compared with serial ones.
    #[doc(hidden)]
    pub serial: Option<u64>,
    /// The semantics by which histories were compared with serial ones, if operations may be out of order.
    #[doc(hidden)]
    pub semantics: Option<String>,
    /// The largest number N such that all executions with at most N preemptions were explored, for
    /// all programs. `None` if some executions without preemptions were not explored.
    pub preemptions: Option<u32>,
    /// Whether all executions of all programs were explored. If the test requested only some of the
    /// executions, such as those with few preemptions, whether all of these were explored.
    pub is_complete: bool,
    /// Whether the test was asked to repeat one execution, but the schedule of that execution does
    /// not fit the test. Such a schedule was recorded with another object, or with another version
    /// of the object.
    #[doc(hidden)]
    pub is_misfit: bool,
}

#[expect(private_bounds, reason = "either a model or a specification defines correct behavior")]
impl<O: Send + Sync + 'static, H: 'static, J> Test<O, H, J> {
    /// Executes runs until one fails or the time limit is reached, and panics with a report if one
    /// fails.
    ///
    /// # Panics
    /// Panics if a run fails, or the test has tested [too little](TooLittle).
    #[track_caller]
    pub fn run(self)
    where
        J: Judges,
    {
        let plan = self.into_plan_here();
        // This guard removes the files of the current runs when it is dropped, which is after the
        // report of a failure has been printed.
        let _files = plan.running_files();
        plan.run_until_reported().conclude();
    }

    /// Executes runs until one fails or the time limit is reached, and returns the outcome.
    ///
    /// # Panics
    /// Panics if the test has no operation, or a program calls an operation that does not exist.
    #[track_caller]
    pub fn outcome(self) -> Outcome
    where
        J: Judges,
    {
        self.into_plan_here().run()
    }

    /// Returns the test with its types erased. Environment variables override the settings of the
    /// test.
    #[track_caller]
    fn into_plan_here(mut self) -> Plan
    where
        J: Judges,
    {
        self.options = self.options.with_environment();
        self.outline.weak = environment::weak().unwrap_or(self.outline.weak);
        self.into_plan()
    }

    /// Returns the test with its types erased. Environment variables are ignored.
    ///
    /// # Panics
    /// Panics if the test has no operation, or a program calls an operation that does not exist.
    #[track_caller]
    #[doc(hidden)]
    pub fn into_plan(self) -> Plan
    where
        J: Judges,
    {
        let Self { make, handle, release, bodies, outline, judge, options } = self;
        let bodies: Arc<[Body<H>]> = bodies.into();
        let make = move || -> Arc<dyn Instance> {
            Arc::new(Object {
                object: Shared(Arc::new(make())),
                handle: Arc::clone(&handle),
                release: release.clone(),
                bodies: Arc::clone(&bodies),
            })
        };
        let calls = outline.into_calls(&options);
        let judge = judge.into_judge(&calls.workload);
        calls.into_plan(Arc::new(make), judge, options)
    }
}

/// The object of a test: an [`Instance`], which erases the types of the test.
struct Object<O, H> {
    object: Shared<O>,
    handle: MakeHandle<O, H>,
    release: Option<Release<O>>,
    bodies: Arc<[Body<H>]>,
}

impl<O: Send + Sync + 'static, H: 'static> Instance for Object<O, H> {
    fn handle(&self, thread: u32) -> Box<dyn Handle> {
        Box::new(Bound { handle: (self.handle)(&self.object, thread), bodies: Arc::clone(&self.bodies) })
    }

    fn release(&self) {
        if let Some(release) = &self.release {
            release(&self.object);
        }
    }
}

/// The handle of a thread.
struct Bound<H> {
    handle: H,
    bodies: Arc<[Body<H>]>,
}

impl<H> Handle for Bound<H> {
    fn is_possible(&mut self, operation: u32) -> bool {
        self.bodies[operation as usize].is_possible.as_ref().is_none_or(|is_possible| is_possible(&mut self.handle))
    }

    fn call(&mut self, call: &Call, clock: Clock) -> Timed {
        (self.bodies[call.operation as usize].call)(&mut self.handle, &call.argument, clock)
    }
}

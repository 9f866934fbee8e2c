//! Produces histories.
//!
//! Histories are recorded from real objects on real threads, or [simulated](simulate): a sequential object is run, and
//! calls and returns are placed at random around its operations. Simulated histories are used to test and to benchmark
//! checkers.

mod clock;
mod generate;
mod os_thread;
mod panics;
mod pool;
mod random;
mod raw;
mod recorder;
mod run;
mod simulate;
#[cfg(feature = "systematic")]
#[doc(hidden)]
pub mod systematic;
mod workload;

pub(crate) use os_thread::OsThread;
pub(crate) use panics::{QUIET_THREADS, Quiet, are_printed as panics_are_printed, install as install_panic_hook};
pub(crate) use pool::without_exit;
pub(crate) use run::message;

#[doc(hidden)]
pub use clock::Chosen;
pub use clock::Clock;
pub use generate::{
    Always, Colliding, Generate, MadeBy, Making, Payload, Skewed, Unique, always, made_by, skewed, unique,
};
pub use random::Random;
#[cfg(feature = "_cli_internal")]
#[doc(hidden)]
pub use raw::stdout_was_closed;
pub use recorder::Recorder;
pub use run::Worker;
#[doc(hidden)]
pub use run::{End, Handle, Instance, Look, Recorded, Run, Runner, Settings, Timed};
pub use simulate::{Simulation, simulate};
#[doc(hidden)]
pub use workload::{Behavior, Call, Kind, Shape, Workload};

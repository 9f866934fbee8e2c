//! Making histories.
//!
//! Histories are recorded from real objects under real threads, or [simulated](simulate): a sequential object is run with
//! made-up calls and returns around its operations. That is how checkers are tested and measured.

mod clock;
mod generate;
mod pool;
mod random;
mod raw;
mod recorder;
mod run;
mod simulate;
#[cfg(feature = "systematic")]
pub mod systematic;
mod task;
mod workload;

pub(crate) use pool::without_exit;
pub(crate) use run::message;
pub(crate) use task::Task;

pub use clock::{Chosen, Clock};
pub use generate::{
    Always, Colliding, Generate, MadeBy, Making, Payload, Skewed, Unique, always, made_by, skewed, unique,
};
pub use random::Random;
#[cfg(feature = "_cli_internal")]
#[doc(hidden)]
pub use raw::stdout_was_closed;
pub use recorder::Recorder;
pub use run::{End, Handle, Instance, Look, Run, Runner, Seen, Settings, Timed, Worker};
pub use simulate::{Simulation, simulate};
pub use workload::{Behaviour, Call, Kind, Shape, Workload};

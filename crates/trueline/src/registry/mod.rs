//! Specifications that are chosen by name. They convert between the operations in files and the
//! operations of a specification.
//!
//! [`SPECS`] lists the names, and describes the operations of each, with their arguments and
//! results. [`spec`] finds a specification by its name. [`NamedSpec::judge`] reads a
//! [`RawHistory`](crate::history::RawHistory) with that specification, and judges the history.
//!
//! ```
//! use trueline::history::codec::jsonl;
//! use trueline::judge::Config;
//! use trueline::registry::{self, Options};
//!
//! let history = jsonl::read(&br#"
//!     {"process":0,"f":"enqueue","value":1,"call":0,"return":10}
//!     {"process":0,"f":"enqueue","value":2,"call":20,"return":30}
//!     {"process":1,"f":"dequeue","result":2,"call":40,"return":50}
//! "#[..])?;
//! let spec = registry::spec("queue", Options::new())?;
//! let judged = spec.judge(history, &Config::new())?;
//! let evidence = judged.judgment().verdict.evidence().expect("2 was not first");
//! assert_eq!(evidence.allowed, ["1"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod families;
mod family;
mod live;
mod numbered;
mod parts;
mod quasi;
mod reading;
mod lookup;
mod sequential;
mod table;
#[cfg(all(test, feature = "json"))]
mod tests;

#[doc(hidden)]
pub use crate::judge::Why;
#[doc(hidden)]
pub use live::{Live, LiveCall, LiveEffect, LiveLimits};
#[doc(hidden)]
pub use lookup::Unjudged;
pub use lookup::{NamedError, NamedSpec, Options, spec};
pub use quasi::{NoFactors, QuasiFactors};
#[doc(hidden)]
pub use sequential::{Choose, NamedObject};
#[doc(hidden)]
pub use table::nearest;
pub use table::{OperationInfo, SPECS, SpecInfo};

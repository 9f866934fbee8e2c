//! The checkers by name: trueline's and those of other crates.

use std::fmt;
use std::str::FromStr;

use trueline::history::History;
use trueline::judge::{Algorithm, Config, check};
use trueline::spec::Spec;
use trueline::verdict::Verdict;

use crate::child::{self, Clock};
use crate::objects::Object;
use crate::peers::{self, Peer, Porcupine, PorcupineThreads, Stateright, Todc};

/// A checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checker {
    Auto,
    WingGongGraph,
    JustInTimeGraph,
    Linear,
    Porcupine,
    PorcupineThreads,
    Todc,
    Stateright,
}

/// All checkers, in the order of the tables. The tables compare every other checker with the first
/// one.
pub(crate) const CHECKERS: [Checker; 8] = [
    Checker::Auto,
    Checker::WingGongGraph,
    Checker::JustInTimeGraph,
    Checker::Linear,
    Checker::Porcupine,
    Checker::PorcupineThreads,
    Checker::Todc,
    Checker::Stateright,
];

impl Checker {
    /// Returns the name by which the command line refers to the checker.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::WingGongGraph => "wing-gong-graph",
            Self::JustInTimeGraph => "jit-graph",
            Self::Linear => "linear",
            Self::Porcupine => "porcupine-rs",
            Self::PorcupineThreads => "porcupine-rs-threads",
            Self::Todc => "todc-utils",
            Self::Stateright => "stateright",
        }
    }

    /// Returns the algorithm, if this is a checker of trueline.
    fn algorithm(self) -> Option<Algorithm> {
        match self {
            Self::Auto => Some(Algorithm::Auto),
            Self::WingGongGraph => Some(Algorithm::WingGongGraph),
            Self::JustInTimeGraph => Some(Algorithm::JustInTimeGraph),
            Self::Linear => Some(Algorithm::Linear),
            Self::Porcupine | Self::PorcupineThreads | Self::Todc | Self::Stateright => None,
        }
    }
}

/// Formats the name of the checker as the tables show it.
impl fmt::Display for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PorcupineThreads => f.write_str("porcupine-rs, a thread for each key"),
            _ if self.algorithm().is_some() => write!(f, "**trueline** {}", self.name()),
            _ => f.write_str(self.name()),
        }
    }
}

impl FromStr for Checker {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        CHECKERS.into_iter().find(|checker| checker.name() == name).ok_or_else(|| format!("there is no checker {name}"))
    }
}

/// The verdict of a checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Accepted,
    Rejected,
    Unknown,
}

impl Answer {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Unknown => "unknown",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Accepted, Self::Rejected, Self::Unknown].into_iter().find(|answer| answer.name() == name)
    }

    fn from_bool(linearizable: bool) -> Self {
        if linearizable { Self::Accepted } else { Self::Rejected }
    }
}

/// Judges `history` with `checker` several times, and prints the result of each run.
///
/// The checkers of other crates judge `plain`, which is the same history with the types that they
/// need. If the history is judged as a whole, they use the object `Whole`. If the history is split
/// by key, they use `Part`, the object of a single key.
pub(crate) fn run<S, Whole, Part>(
    checker: Checker,
    by_key: bool,
    spec: &S,
    history: &History<S::Op, S::Ret>,
    plain: &History<Whole::Op, Whole::Ret>,
) where
    S: Spec,
    Whole: Object,
    Part: Object<Op = Whole::Op, Ret = Whole::Ret>,
{
    let size = (history.len(), history.pending());
    if let Some(algorithm) = checker.algorithm() {
        let config = Config::new().algorithm(algorithm).partition(by_key);
        child::repeat(
            Clock::Processor,
            size,
            || (),
            |()| match check(spec, history, &config).verdict {
                Verdict::Accepted(_) => Answer::Accepted,
                Verdict::Rejected(_) => Answer::Rejected,
                Verdict::Unknown(_) => Answer::Unknown,
            },
        );
        return;
    }
    match (checker, by_key) {
        (Checker::Porcupine, false) => peer::<Porcupine, Whole>(size, plain),
        (Checker::Porcupine, true) => peer_by_key::<Porcupine, Part>(size, plain),
        (Checker::Todc, false) => peer::<Todc, Whole>(size, plain),
        (Checker::Todc, true) => peer_by_key::<Todc, Part>(size, plain),
        (Checker::Stateright, false) => peer::<Stateright, Whole>(size, plain),
        (Checker::Stateright, true) => peer_by_key::<Stateright, Part>(size, plain),
        _ => child::repeat(
            Clock::Wall,
            size,
            || <PorcupineThreads as Peer<Part>>::translate(plain),
            |input| Answer::from_bool(PorcupineThreads::judge(input)),
        ),
    }
}

fn peer<P: Peer<O>, O: Object>(size: (usize, usize), history: &History<O::Op, O::Ret>) {
    child::repeat(Clock::Processor, size, || P::translate(history), |input| Answer::from_bool(P::judge(input)));
}

fn peer_by_key<P: Peer<O>, O: Object>(size: (usize, usize), history: &History<O::Op, O::Ret>) {
    let parts = peers::split::<O>(history);
    child::repeat(
        Clock::Processor,
        size,
        || parts.iter().map(P::translate).collect::<Vec<_>>(),
        |inputs| Answer::from_bool(inputs.into_iter().all(P::judge)),
    );
}

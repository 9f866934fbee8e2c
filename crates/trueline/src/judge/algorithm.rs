//! The algorithms and their names.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use super::checker::{Checker, OwnChecker};

/// An algorithm that judges a history. Its `Display` form is its name on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// Chooses an algorithm from the specification and the history.
    #[default]
    Auto,
    /// Tries every order that the definition of linearizability allows.
    Brute,
    /// Wing & Gong's tree search.
    WingGongTree,
    /// Lowe's graph search, based on Wing & Gong's tree search.
    WingGongGraph,
    /// Lowe's just-in-time tree search.
    JustInTimeTree,
    /// Lowe's just-in-time graph search.
    JustInTimeGraph,
    /// Lowe's linear tester, a breadth-first search.
    Linear,
    /// The linear tester as in Lowe's slides: the result of an operation is compared when the
    /// operation returns.
    LinearAtReturn,
    /// Graph search with a visited set that forgets old entries that were cheap to find.
    BoundedGraph,
    /// Graph search with a visited set that forgets the least recently used entries (Horn & Kroening).
    BoundedGraphLru,
    /// The near-linear monitor for the type of the object. The monitor refuses histories that it cannot judge.
    Monitor,
    /// Lowe's queue-oriented algorithm. It refuses objects that are not queues, and histories with operations that
    /// never returned.
    QueueLowe,
    /// Runs several algorithms at once, and uses the verdict of the first one that reaches a verdict.
    Compete(Vec<Algorithm>),
    /// An algorithm of your own: see [`Algorithm::own`].
    Own(OwnChecker),
}

impl Algorithm {
    /// Returns the algorithm that `checker` implements.
    pub fn own(checker: impl Checker + 'static) -> Self {
        Self::Own(OwnChecker::new(checker))
    }
}

/// The built-in algorithms other than [`Algorithm::Compete`], with a short description of each.
pub const ALGORITHMS: &[(Algorithm, &str)] = &[
    (
        Algorithm::Auto,
        "chooses algorithms for each history: splits the history into partitions, then tries the monitor of the \
         type, then just-in-time search with a limit, then Lowe's algorithm for queues, or breadth-first search with dominance",
    ),
    (
        Algorithm::Brute,
        "tries every order that the definition allows: for small histories, and for testing other algorithms",
    ),
    (Algorithm::WingGongTree, "Wing & Gong's tree search: little memory, sometimes exponential time"),
    (
        Algorithm::WingGongGraph,
        "Lowe's graph search, based on Wing & Gong's tree search: remembers configurations that failed",
    ),
    (Algorithm::JustInTimeTree, "Lowe's just-in-time linearization, tree search"),
    (Algorithm::JustInTimeGraph, "Lowe's just-in-time linearization, graph search"),
    (Algorithm::Linear, "Lowe's linear tester: breadth-first search, event by event"),
    (Algorithm::LinearAtReturn, "the linear tester of Lowe's slides: compares results when operations return"),
    (
        Algorithm::BoundedGraph,
        "just-in-time graph search in bounded memory: keeps configurations that are recent or were costly to find",
    ),
    (
        Algorithm::Monitor,
        "the near-linear monitor of the type; the verdict is unknown if the monitor does not support the history",
    ),
    (Algorithm::QueueLowe, "Lowe's queue-oriented algorithm, for complete histories of queues; values may repeat"),
    (
        Algorithm::BoundedGraphLru,
        "Wing & Gong graph search in bounded memory: forgets the least recently used configurations",
    ),
];

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Brute => "brute",
            Self::WingGongTree => "wing-gong-tree",
            Self::WingGongGraph => "wing-gong-graph",
            Self::JustInTimeTree => "jit-tree",
            Self::JustInTimeGraph => "jit-graph",
            Self::Linear => "linear",
            Self::LinearAtReturn => "linear-at-return",
            Self::BoundedGraph => "bounded-graph",
            Self::BoundedGraphLru => "bounded-graph-lru",
            Self::Monitor => "monitor",
            Self::QueueLowe => "queue-lowe",
            Self::Own(checker) => checker.name(),
            Self::Compete(algorithms) => {
                for (index, algorithm) in algorithms.iter().enumerate() {
                    f.write_str(if index == 0 { "compete:" } else { "," })?;
                    algorithm.fmt(f)?;
                }
                return Ok(());
            }
        })
    }
}

/// The error for a name that is not the name of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm(String);

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown algorithm {:?}; `trueline algorithms` lists all algorithms", self.0)
    }
}

impl Error for UnknownAlgorithm {}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        if let Some(names) = name.strip_prefix("compete:") {
            let algorithms = names.split(',').map(str::parse).collect::<Result<Vec<Self>, _>>()?;
            if algorithms.len() < 2 || algorithms.iter().any(|algorithm| matches!(algorithm, Self::Compete(_))) {
                return Err(UnknownAlgorithm(name.to_owned()));
            }
            return Ok(Self::Compete(algorithms));
        }
        ALGORITHMS
            .iter()
            .find(|(algorithm, _)| algorithm.to_string() == name)
            .map(|(algorithm, _)| algorithm.clone())
            .ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }
}

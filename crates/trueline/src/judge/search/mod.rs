//! The search core that every generic checker uses.
//!
//! A checker sees neither user types nor whole histories. It sees
//! - a [`Problem`](problem::Problem): the operations of one part as small integers, with the [`Window`] of the
//!   operations that are open at a return;
//! - an [`Automaton`](automaton::Automaton): the specification as a graph of interned states, whose transitions are
//!   memoized;
//! - a [`Meter`]: the limits.
//!
//! A *configuration* is `(level, state, mask)`. The level is the number of returns that have been
//! passed: the operations of these returns are linearized, and the operation that returns next is
//! not. The mask marks those open operations that are linearized already. These three values
//! describe a partial linearization completely, because a linearized operation whose return has not
//! been passed must be open at the level (Lowe's configuration `(s, calls, rets)`, paper section 4;
//! the same holds for Wing & Gong's sets of linearized operations, because an operation may be
//! linearized only if it was called before the first unlinearized return). A configuration
//! therefore takes a few machine words, not a bit for each operation of the history.
//!
//! States are immutable, so a step is undone by popping the number of the previous state off a
//! stack. Interning subsumes Lowe's union-find memo of equality tests, and the table of transitions
//! subsumes his memo of operations (paper section 3).

pub(crate) mod automaton;
pub(crate) mod breadth_first;
pub(crate) mod budget;
mod candidates;
pub(crate) mod depth_first;
mod foresight;
pub(crate) mod hash;
pub(crate) mod mask;
pub(crate) mod problem;
pub(crate) mod rules;
pub(crate) mod seen;
pub(crate) mod window;

pub(crate) use automaton::StateId;
pub(crate) use budget::Meter;
pub(crate) use window::Window;

use crate::verdict::LimitKind;

/// The result of searching one part. Operations have the numbers that the [`Problem`] gives them.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// A linearization.
    Accepted(Vec<u32>),
    /// No configuration passes the return at `level`.
    Rejected {
        level: u32,
        /// A linearization of the history before that return.
        prefix: Vec<u32>,
    },
    /// A limit was reached; `level` is the highest level that any configuration had reached.
    Unknown { kind: LimitKind, level: u32 },
}

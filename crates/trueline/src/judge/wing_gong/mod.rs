//! Wing & Gong's algorithm: linearize some minimal operation, and the rest after it.
//!
//! J. M. Wing and C. Gong, *Testing and verifying concurrent objects* (1993), as Lowe's *Testing for Linearizability*,
//! section 3 and figure 1, presents it. An operation is minimal if no operation that is not linearized returned before
//! its call.

pub mod graph;
pub mod tree;

//! Wing & Gong's algorithm: linearize a minimal operation, then the rest of the history.
//!
//! J. M. Wing and C. Gong, *Testing and verifying concurrent objects* (1993), as presented in section 3 and figure 1 of
//! Lowe's *Testing for Linearizability*. An operation is minimal if every operation that returned before its call is
//! already linearized.

pub mod graph;
pub mod tree;

//! Just-in-time linearization: linearize an operation only when a return demands it.
//!
//! Lowe, *Testing for Linearizability*, section 4. By lemma 6, a linearizable history has a
//! *just-in-time* linearization (definition 5): each linearization point is followed by another one
//! or by the return of the same operation. So the search reads the history from the front. It
//! records each call. If a returning operation has not been linearized, the search linearizes any
//! number of other open operations, and then the returning operation.

pub mod graph;
pub mod tree;

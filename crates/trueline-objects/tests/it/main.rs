//! The objects: one thread at a time, and many.

mod catalog;
mod explore;
mod sequential;
mod sync;

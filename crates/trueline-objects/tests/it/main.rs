//! The objects: one thread at a time, and many.

mod catalog;
mod explore;
mod relaxed;
mod sequential;
mod smaller;
mod sync;
mod together;

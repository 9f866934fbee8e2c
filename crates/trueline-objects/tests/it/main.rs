//! The objects: one thread at a time, and many.

mod catalog;
mod explore;
mod relaxed;
mod sequential;
mod sync;
mod together;

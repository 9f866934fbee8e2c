//! The objects: one thread at a time, and many.

mod catalog;
mod relaxed;
mod sequential;
mod sync;
mod together;

//! Tests of the objects, with one thread and with many.

mod catalog;
mod explore;
mod relaxed;
mod sequential;
mod smaller;
mod sync;
mod together;

//! Tells whether concurrent objects behave as if their operations happened one at a time.

pub mod drive;
pub mod history;
pub mod judge;
pub mod named;
pub mod spec;
pub mod verdict;
pub mod view;

//! The commands.

pub(crate) mod algorithms;
pub(crate) mod check;
pub(crate) mod explore;
pub(crate) mod specs;
pub(crate) mod test;

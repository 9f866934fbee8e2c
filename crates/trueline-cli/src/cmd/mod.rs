//! The commands.

pub(crate) mod algorithms;
pub(crate) mod check;
pub(crate) mod collect;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod generate;
pub(crate) mod lint;
pub(crate) mod specs;
pub(crate) mod test;

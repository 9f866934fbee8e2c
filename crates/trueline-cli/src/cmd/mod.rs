//! The commands.

pub(crate) mod algorithms;
pub(crate) mod check;
pub(crate) mod explore;
mod picture;
pub(crate) mod specs;
pub(crate) mod test;
pub(crate) mod view;

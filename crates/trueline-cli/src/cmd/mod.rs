//! The commands.

pub(crate) mod algorithms;
pub(crate) mod check;
pub(crate) mod collect;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod explore;
pub(crate) mod generate;
pub(crate) mod lint;
pub(crate) mod map;
mod picture;
pub(crate) mod specs;
pub(crate) mod test;
pub(crate) mod view;

/// The name of the specification whose operations one of relaxed order has; of any other, its own.
fn in_order(spec: &str) -> &str {
    match spec {
        "quasi-queue" | "k-fifo" | "out-of-order-queue" | "displacement-queue" => "queue",
        "quasi-stack" | "k-stack" => "stack",
        "quasi-priority-queue" | "k-priority-queue" => "priority-queue",
        other => other,
    }
}

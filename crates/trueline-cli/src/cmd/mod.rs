//! The commands.

pub(crate) mod algorithms;
pub(crate) mod check;
pub(crate) mod collect;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod explore;
pub(crate) mod follow;
pub(crate) mod generate;
mod late;
pub(crate) mod lint;
pub(crate) mod map;
mod picture;
pub(crate) mod specs;
pub(crate) mod test;
pub(crate) mod view;

use trueline::history::{Operation, RawHistory, Record, Value};
use trueline::registry::NamedSpec;

/// For the name of a relaxed specification, returns the name of the specification that has the same
/// operations and a strict order, such as `queue` for `k-fifo`. Returns any other name unchanged.
fn in_order(spec: &str) -> &str {
    match spec {
        "quasi-queue" | "k-fifo" | "out-of-order-queue" | "displacement-queue" => "queue",
        "quasi-stack" | "k-stack" => "stack",
        "quasi-priority-queue" | "k-priority-queue" => "priority-queue",
        other => other,
    }
}

/// Returns a warning if a history has different numbers of inserting and removing calls. Quasi
/// linearizability is not defined for such histories (Round-Up, section V-D).
fn ill_formed(spec: &NamedSpec, history: &RawHistory) -> Option<String> {
    let (family, _) = spec.name().split_once(':').unwrap_or((spec.name(), ""));
    let (insert, remove) = match in_order(family) {
        "queue" => ("enqueue", "dequeue"),
        "stack" => ("push", "pop"),
        "priority-queue" => ("insert", "delete-min"),
        _ => return None,
    };
    let is = |operation: &Operation<Record, Value>, name| {
        spec.info().operation(&operation.op.f).is_some_and(|operation| operation.name == name)
    };
    let count = |name| history.operations().iter().filter(|operation| is(operation, name)).count();
    let (inserts, removes) = (count(insert), count(remove));
    (inserts != removes).then(|| {
        format!(
            "the history has {inserts} calls to `{insert}` but {removes} to `{remove}`; an element that is not both \
             inserted and removed has no position to compare, so quasi linearizability may reject operations that are \
             within their factors; record the same number of calls to both"
        )
    })
}

//! Judges one part of a history with a monitor.

use super::family::{self, Family, Monitor, Start};
use super::locate::{Place, locate};
use super::{Answer, Input};
use crate::history::OpId;
use crate::judge::queue_lowe;
use crate::judge::search::Meter;
use crate::judge::search::automaton::ResultId;
use crate::judge::search::problem::Task;
use crate::judge::turns::{self, Turn};
use crate::judge::worker::Worker;
use crate::spec::{Standard, Taken};
use crate::verdict::{Evidence, Verdict, Witness};

/// The maximum number of configurations that a search visits to find where a rejected history
/// fails. The verdict is already known, and must not be delayed by a search that may take forever.
pub(in crate::judge) const MOST_TO_LOCATE: u64 = 500_000;

/// The approximate number of bytes that monitors take for each operation, in addition to their input.
const BYTES: usize = 120;

/// The algorithm that judges a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::judge) enum By {
    /// The monitor of the object's type.
    Type,
    /// Lowe's queue algorithm.
    QueueLowe,
}

/// Judges a part, or returns the reason why it cannot be judged.
pub(in crate::judge) fn judge(
    worker: &mut Worker<'_>,
    task: Task<'_>,
    by: By,
    meter: &mut Meter,
) -> Result<(Verdict<ResultId>, Monitor), &'static str> {
    let mut stopped = None;
    let (family, start) = match worker.reader.read(task, meter) {
        Ok(read) => read?,
        Err(kind) => return Ok((worker.unknown(kind), Monitor("reading"))),
    };
    let bytes = worker.reader.bytes() + BYTES * worker.reader.ids.len();
    if meter.allocate(bytes).is_err() {
        return Err("there is not enough memory");
    }
    // The bytes that the algorithm takes in addition to `bytes`.
    let mut held = 0;
    let mut go_on = |holds: usize| {
        meter.free(held);
        held = 0;
        let allocated = meter.allocate(holds).inspect(|()| held = holds);
        match allocated.and_then(|()| meter.configuration()) {
            Ok(()) => true,
            Err(kind) => {
                stopped = Some(kind);
                false
            }
        }
    };
    let input = &worker.reader.input;
    let (monitor, answer) = match by {
        By::Type => family::judge(family, start, input, &mut || go_on(0)),
        By::QueueLowe if family == Family::Queue => {
            let (answer, counters) = queue_lowe::judge(input, &mut go_on);
            worker.backtracks += counters.backtracks;
            (Monitor("queue-lowe"), answer)
        }
        By::QueueLowe => return Err("the object is not a queue"),
    };
    meter.free(held);
    let verdict = match answer {
        None => worker.unknown(stopped.expect("a monitor fails to answer only if a limit was reached")),
        Some(Answer::Refused(why)) => {
            meter.free(bytes);
            return Err(why);
        }
        Some(Answer::Accepted(order)) => Verdict::Accepted(Witness::one_by_one(worker.reader.operations(&order))),
        Some(Answer::Rejected(conflict)) => {
            let evidence = explain(worker, task, (family, start), conflict, meter);
            Verdict::Rejected(evidence)
        }
    };
    meter.free(bytes);
    Ok((verdict, monitor))
}

/// Finds the evidence for a part that is rejected.
fn explain(
    worker: &mut Worker<'_>,
    task: Task<'_>,
    (family, start): (Family, Start),
    conflict: Vec<u32>,
    meter: &mut Meter,
) -> Evidence<ResultId> {
    let mut judge = |input: &Input| {
        // Most monitors do not search, so they never check a limit. But they are called many times
        // here, so check the clock before each call.
        meter.look_at_clock().ok()?;
        let mut go_on = || meter.configuration().is_ok();
        family::judge(family, start, input, &mut go_on).1
    };
    let (frame, reader) = (worker.case.frame(), &worker.reader);
    let place = locate(&reader.input, conflict.clone(), &mut judge);
    let conflict = reader.operations(place.as_ref().map_or(&conflict, |place| &place.conflict));
    // If monitors cannot find the place where the history fails, find it by a search.
    if place.is_none() {
        let mut own = meter.part(Some(MOST_TO_LOCATE), None);
        let verdict = worker.alone(task, None, |worker| turns::search(worker, task, Turn::DepthFirst, &mut own).0);
        meter.add(&own);
        match verdict {
            Verdict::Rejected(evidence) => return Evidence { conflict, ..evidence },
            Verdict::Unknown(_) => {}
            Verdict::Accepted(_) => panic!(
                "the monitor for {family:?} rejects a history that a search accepts: either `standard` of the \
                 specification describes an operation incorrectly, or this is a bug in trueline; these operations \
                 conflict: {conflict:?}"
            ),
        }
    }
    let Some(Place { refused, prefix, .. }) = place else {
        let refused = *conflict.last().expect("a conflict has at least one operation");
        let last = conflict.iter().filter_map(|op| Some((frame.ret(*op)?, *op))).max();
        let (event, refused) = last.unwrap_or((0, refused));
        return evidence(worker, task, (refused, event), Vec::new(), None, conflict, false);
    };
    let refused = worker.reader.ids[refused as usize];
    let event = frame.ret(refused).expect("the refused operation has a return event");
    let left = left_over(&worker.reader.input, &prefix).map(|left| worker.reader.operations(&left));
    let prefix = worker.reader.operations(&prefix);
    evidence(worker, task, (refused, event), prefix, left, conflict, true)
}

fn evidence(
    worker: &Worker<'_>,
    task: Task<'_>,
    (refused, event): (OpId, u32),
    prefix: Vec<OpId>,
    left: Option<Vec<OpId>>,
    conflict: Vec<OpId>,
    is_first: bool,
) -> Evidence<ResultId> {
    let mut replay = worker.case.replay();
    for &op in left.as_ref().unwrap_or(&prefix) {
        if let Err(problem) = replay.step(op) {
            panic!(
                "a linearization of a prefix cannot be replayed: {problem}; check that `standard` of the specification \
                 agrees with `step`"
            );
        }
    }
    Evidence {
        allowed: if is_first { replay.results(refused) } else { Vec::new() },
        all_allowed: false,
        prefix,
        together: Vec::new(),
        refused,
        event,
        is_first,
        open: worker.case.frame().open_at_return(task.events, refused),
        conflict,
        quasi: None,
    }
}

/// Returns a few operations of a linearization that lead, by themselves, to the same state as the
/// whole linearization: for a container, the adds of the values that were not removed, in their
/// order; for a register, the last write. Returns `None` for other objects, or if these operations
/// are not known.
fn left_over(input: &Input, order: &[u32]) -> Option<Vec<u32>> {
    let mut is_out = vec![false; input.values as usize];
    let mut is_in = vec![false; input.values as usize];
    let mut last_write = None;
    let mut added = Vec::new();
    for &index in order {
        match input.spans[index as usize].what {
            Standard::Read(_) | Standard::Front(_) | Standard::Top(_) | Standard::Min(_) => {}
            Standard::Write(_) => last_write = Some(index),
            Standard::Enqueue(value) | Standard::Push(value) | Standard::Insert(value) | Standard::Put(value) => {
                // If a value was added twice, it is not known which of its adds remains.
                if std::mem::replace(&mut is_in[value.index()], true) {
                    return None;
                }
                added.push((index, value));
            }
            Standard::Dequeue(Taken::Value(value))
            | Standard::Pop(Taken::Value(value))
            | Standard::DeleteMin(Taken::Value(value))
            | Standard::Take(Taken::Value(value)) => is_out[value.index()] = true,
            Standard::Dequeue(Taken::Nothing)
            | Standard::Pop(Taken::Nothing)
            | Standard::DeleteMin(Taken::Nothing)
            | Standard::Take(Taken::Nothing) => {}
            _ => return None,
        }
    }
    let left = added.into_iter().filter(|(_, value)| !is_out[value.index()]).map(|(index, _)| index);
    Some(left.chain(last_write).collect())
}

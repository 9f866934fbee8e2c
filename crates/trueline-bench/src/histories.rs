//! The histories that are used for measurements.

use trueline::drive::{Random, Simulation, simulate};
use trueline::history::{Builder, History, Outcome};
use trueline::spec::{Queue, QueueOp, QueueRet, Register, RegisterOp, RegisterRet, Set, SetOp, SetRet, Spec};

/// Returns a history of a set, like those that Horn and Kroening recorded: there are 4 threads,
/// values are below 24, and all operations are equally frequent.
pub fn set(operations: u32, seed: u64) -> History<SetOp<u64>, SetRet> {
    let shape = Simulation { processes: 4, operations, crashes: 0, busy: false };
    run(&shape, seed, &Set::new(), |random, _| any_set_operation(random, 24))
}

/// Returns a history of a set of 6 values with a violation at the end: the last operation reports
/// that a seventh value is present, although this value was never added.
///
/// # Panics
/// Panics if there are no processes.
pub fn bad_set(operations: u32, processes: u32, seed: u64) -> History<SetOp<u64>, SetRet> {
    let shape = Simulation { processes, operations, crashes: 0, busy: true };
    let good = run(&shape, seed, &Set::new(), |random, _| any_set_operation(random, 6));
    let mut builder = History::builder();
    append(&mut builder, &good, 0);
    builder.call(processes, SetOp::Contains(7)).expect("the process is new");
    builder.ret(processes, SetRet::Bool(true)).expect("the process has called");
    builder.finish()
}

fn any_set_operation(random: &mut Random, values: u32) -> SetOp<u64> {
    let value = u64::from(random.below(values));
    match random.below(3) {
        0 => SetOp::Add(value),
        1 => SetOp::Remove(value),
        _ => SetOp::Contains(value),
    }
}

/// Returns a history of a register that can have 5 different values. The clients never pause
/// between operations. If `crashes` is small, about `crashes` of 1,000 operations never return.
pub fn register(operations: u32, clients: u32, crashes: u32, seed: u64) -> History<RegisterOp<u64>, RegisterRet<u64>> {
    let shape = Simulation { processes: clients, operations, crashes, busy: true };
    run(&shape, seed, &Register::new(0), |random, _| {
        if random.chance(1, 2) { RegisterOp::Read } else { RegisterOp::Write(u64::from(random.below(5))) }
    })
}

/// Returns a history like those of [`register`], but with a violation after nine tenths of the
/// operations. At this point, all clients pause, and a new client writes 1 and then reads 2, a
/// value that was written earlier. The remaining operations then continue with a register that
/// contains 1.
///
/// Writes of 2 that never return in [`register`] do return here, before the new client writes 1.
/// Otherwise, one of these writes could take effect after the write of 1, and the read of 2 would
/// be correct.
///
/// # Panics
/// Panics if there are no clients.
pub fn bad_register(
    operations: u32,
    clients: u32,
    crashes: u32,
    seed: u64,
) -> History<RegisterOp<u64>, RegisterRet<u64>> {
    let before = register(operations * 9 / 10, clients, crashes, seed);
    let shape = Simulation { processes: clients, operations: operations / 10, crashes, busy: true };
    let after = run(&shape, seed + 1, &Register::new(1), |random, _| {
        if random.chance(1, 2) { RegisterOp::Read } else { RegisterOp::Write(u64::from(random.below(5))) }
    });
    let mut builder = History::builder();
    append(&mut builder, &before, 0);
    for operation in before.operations().iter().filter(|operation| operation.return_position().is_none()) {
        if operation.op == RegisterOp::Write(2) {
            // In [`register`], this write never returns; here it returns. If it has not taken
            // effect so far, it takes effect at this point.
            builder.ret(operation.process, RegisterRet::Done).expect("the operation is open");
        }
    }
    let highest = before.operations().iter().map(|operation| operation.process.0).max().unwrap_or(0) + 1;
    builder.call(highest, RegisterOp::Write(1)).expect("the process is new");
    builder.ret(highest, RegisterRet::Done).expect("the process has called");
    builder.call(highest, RegisterOp::Read).expect("the process has returned");
    builder.ret(highest, RegisterRet::Value(2)).expect("the process has called");
    append(&mut builder, &after, highest + 1);
    builder.finish()
}

/// Returns the history without the reads that never returned, which contain no information.
#[must_use]
pub fn without_lost_reads(
    history: &History<RegisterOp<u64>, RegisterRet<u64>>,
) -> History<RegisterOp<u64>, RegisterRet<u64>> {
    history.project(|_, operation| operation.return_position().is_some() || operation.op != RegisterOp::Read)
}

fn append<Op: Clone, Ret: Clone>(builder: &mut Builder<Op, Ret>, history: &History<Op, Ret>, first_process: u32) {
    for event in history.events() {
        let operation = &history[event.op()];
        let process = operation.process.0 + first_process;
        match (event.kind(), &operation.outcome) {
            (trueline::history::EventKind::Call, _) => {
                builder.call(process, operation.op.clone()).expect("the original history is well formed");
            }
            (_, Outcome::Returned(result)) => {
                builder.ret(process, result.clone()).expect("the original history is well formed");
            }
            _ => unreachable!("only operations that returned have a return event"),
        }
    }
}

/// Returns a history that is hard for every generic search: busy clients enqueue and dequeue
/// distinct values.
pub fn queue(operations: u32, clients: u32, seed: u64) -> History<QueueOp<u64>, QueueRet<u64>> {
    let shape = Simulation { processes: clients, operations, crashes: 0, busy: true };
    let mut next = 0;
    run(&shape, seed, &Queue::new(), move |random, _| {
        if random.chance(1, 2) {
            next += 1;
            QueueOp::Enqueue(next)
        } else {
            QueueOp::Dequeue
        }
    })
}

/// Returns a history of operations by busy clients in which each value is added only once.
///
/// # Panics
/// Panics if there are no clients.
pub fn distinct<S: Spec>(
    spec: &S,
    operations: u32,
    clients: u32,
    seed: u64,
    mut call: impl FnMut(&mut Random, u64) -> (S::Op, bool),
) -> History<S::Op, S::Ret> {
    let shape = Simulation { processes: clients, operations, crashes: 0, busy: true };
    // 0 is the initial value of a register.
    let mut next = 1;
    run(&shape, seed, spec, move |random, _| {
        let (op, is_new) = call(random, next);
        next += u64::from(is_new);
        op
    })
}

/// Returns the history with the results of two operations exchanged. The two operations are chosen
/// such that their results differ and `is_wrong` returns `true` for the new history. The first of
/// the two operations is at or soon after nine tenths of the history; the second comes later.
///
/// # Panics
/// Panics if no exchange makes the history violate its specification.
pub fn spoilt<Op: Clone, Ret: Clone + PartialEq>(
    history: &History<Op, Ret>,
    may_exchange: impl Fn(&Op, &Ret) -> bool,
    is_wrong: impl Fn(&History<Op, Ret>) -> bool,
) -> History<Op, Ret> {
    let from = history.len() / 10 * 9;
    let candidates: Vec<usize> = (from..history.len())
        .filter(|index| {
            let operation = &history.operations()[*index];
            operation.outcome.result().is_some_and(|result| may_exchange(&operation.op, result))
        })
        .take(400)
        .collect();
    let candidates = candidates.as_slice();
    let result = |index: usize| history.operations()[index].outcome.result();
    let pairs = candidates.iter().take(20).enumerate().flat_map(|(place, one)| {
        let others = [40, 60, 100, 200, 399].into_iter().filter_map(move |distance| candidates.get(place + distance));
        others.map(move |other| (*one, *other))
    });
    for (one, other) in pairs.filter(|(one, other)| result(*one) != result(*other)) {
        let mut index = 0;
        let spoilt = history.map(|operation| {
            let of = match index {
                index if index == one => other,
                index if index == other => one,
                index => index,
            };
            index += 1;
            (operation.op.clone(), history.operations()[of].outcome.clone())
        });
        if is_wrong(&spoilt) {
            return spoilt;
        }
    }
    panic!("no swap of two results violates the specification")
}

fn run<S: Spec>(
    shape: &Simulation,
    seed: u64,
    spec: &S,
    call: impl FnMut(&mut Random, trueline::history::ProcessId) -> S::Op,
) -> History<S::Op, S::Ret> {
    let mut state = spec.initial();
    simulate(shape, &mut Random::new(seed), call, |_, op| {
        let (result, next) = spec.step(&state, op, None).into_iter().next()?;
        state = next;
        Some(result)
    })
}

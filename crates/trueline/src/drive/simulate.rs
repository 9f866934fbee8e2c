//! Simulates histories of a sequential object, with calls and returns spread around its operations.

use super::Random;
use crate::history::{Builder, History, ProcessId};

/// The shape of a simulated history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// The number of processes.
    pub processes: u32,
    /// The number of operations.
    pub operations: u32,
    /// Out of 1,000 operations, the number that never return. Half of them take no effect. The
    /// process that called such an operation continues under a new number, as in Jepsen's
    /// histories.
    pub crashes: u32,
    /// Whether each process calls its next operation immediately, so that all processes are always busy. If not, a
    /// process idles between operations, and the history has fewer overlaps.
    pub busy: bool,
}

enum Phase<Op, Ret> {
    Idle,
    /// The operation was called, but has not taken effect yet. The flag is set if the operation
    /// will crash before it takes effect.
    Called(Op, bool),
    /// The operation has taken effect, but has not returned yet.
    Done(Ret),
}

/// Simulates a history. At each step, one process calls an operation, makes the operation take
/// effect, or returns from it.
///
/// `call` generates the next operation of a process. `effect` executes an operation when it takes effect; it returns
/// `None` if the operation is blocked for now. An operation that stays blocked until the end is pending.
///
/// ```
/// use trueline::drive::{Random, Simulation, simulate};
///
/// let shape = Simulation { processes: 3, operations: 100, crashes: 0, busy: false };
/// let mut counter = 0;
/// let history = simulate(&shape, &mut Random::new(1), |_, _| "increment", |_, _| { counter += 1; Some(counter) });
/// assert_eq!(history.len(), 100);
/// ```
///
/// # Panics
/// Panics if there are no processes.
pub fn simulate<Op: Clone, Ret>(
    shape: &Simulation,
    random: &mut Random,
    mut call: impl FnMut(&mut Random, ProcessId) -> Op,
    mut effect: impl FnMut(&mut Random, &Op) -> Option<Ret>,
) -> History<Op, Ret> {
    let mut builder = Builder::new();
    let mut processes: Vec<(ProcessId, Phase<Op, Ret>)> =
        (0..shape.processes).map(|process| (ProcessId(process), Phase::Idle)).collect();
    let mut next_process = shape.processes;
    let mut called = 0;
    // The number of consecutive steps in which nothing happened. If this number grows large, all
    // processes count as blocked, and the operations that have not returned are pending.
    let mut stuck = 0;
    while stuck < 64 * shape.processes {
        let idle = processes.iter().filter(|(_, phase)| matches!(phase, Phase::Idle)).count();
        if called == shape.operations && idle == processes.len() {
            break;
        }
        let first_idle = processes.iter().position(|(_, phase)| matches!(phase, Phase::Idle));
        let index = match first_idle {
            Some(index) if shape.busy && called < shape.operations => index,
            _ => random.below(shape.processes) as usize,
        };
        let (process, phase) = &mut processes[index];
        match phase {
            Phase::Idle => {
                if called < shape.operations {
                    let op = call(random, *process);
                    builder.call(*process, op.clone()).expect("the process is idle");
                    *phase = Phase::Called(op, random.chance(shape.crashes, 2000));
                    called += 1;
                } else {
                    stuck += 1;
                    continue;
                }
            }
            Phase::Called(op, crash) => {
                if *crash {
                    builder.info(*process).expect("the process has called");
                    *process = ProcessId(next_process);
                    next_process += 1;
                    *phase = Phase::Idle;
                } else if let Some(result) = effect(random, op) {
                    *phase = Phase::Done(result);
                } else {
                    stuck += 1;
                    continue;
                }
            }
            Phase::Done(_) => {
                let Phase::Done(result) = std::mem::replace(phase, Phase::Idle) else {
                    unreachable!("the phase is `Done`, as matched above")
                };
                if random.chance(shape.crashes, 2000) {
                    builder.info(*process).expect("the process has called");
                    *process = ProcessId(next_process);
                    next_process += 1;
                } else {
                    builder.ret(*process, result).expect("the process has called");
                }
            }
        }
        stuck = 0;
    }
    builder.finish()
}

//! Histories of a sequential object, with calls and returns spread around its operations.

use super::Random;
use crate::history::{Builder, History, ProcessId};

/// The shape of a simulated history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// How many processes call operations.
    pub processes: u32,
    /// How many operations are called.
    pub operations: u32,
    /// Of 1,000 operations, how many never return. Half of these take no effect. The process that called it goes on
    /// under a new number, as in Jepsen's histories.
    pub crashes: u32,
    /// Whether each process calls its next operation at once, so that all are busy all the time. If not, a process
    /// idles between operations, and the history has fewer overlaps.
    pub busy: bool,
}

enum Phase<Op, Ret> {
    Idle,
    /// Called, and not yet in effect; whether it will crash before its effect.
    Called(Op, bool),
    /// In effect, and not yet returned.
    Done(Ret),
}

/// Simulates: at each step one process calls, takes effect or returns.
///
/// `call` makes up the next operation of a process. `effect` carries an operation out, when it takes effect; `None`
/// says that it is blocked for now. An operation that stays blocked to the end is pending.
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
/// If there is no process.
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
    // Blocked steps in a row: when nobody can move, the rest is pending.
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
                let Phase::Done(result) = std::mem::replace(phase, Phase::Idle) else { unreachable!("it is done") };
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

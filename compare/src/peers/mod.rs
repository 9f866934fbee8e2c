//! Checkers of other crates, with a common interface.
//!
//! Each module converts a history to the input of its crate; only the checking itself is measured. The crates accept
//! different inputs:
//!
//! | crate | operations that never returned | splitting by key |
//! |---|---|---|
//! | porcupine-rs | treated as if they returned last, with any result | by the crate, with a thread for each key; or by us |
//! | todc-utils | treated as if they returned last, with any result | by us |
//! | stateright | never return | by us |
//!
//! For an operation that is possible in every state, both treatments lead to the same verdict: a
//! linearization without the operation can be extended by placing the operation at the end, where
//! no other operation observes its effect. All operations of the [`objects`](crate::objects) are
//! possible in every state.

mod porcupine;
mod stateright;
mod todc;

use std::collections::BTreeMap;

use trueline::history::{EventKind, History, OpId};

use crate::objects::Object;

pub(crate) use porcupine::{Porcupine, PorcupineThreads};
pub(crate) use stateright::Stateright;
pub(crate) use todc::Todc;

/// A checker of another crate.
pub(crate) trait Peer<O: Object> {
    /// A history in the form that the crate requires.
    type Input;

    fn translate(history: &History<O::Op, O::Ret>) -> Self::Input;

    /// Returns whether the history is linearizable.
    fn judge(input: Self::Input) -> bool;
}

/// Splits the history by key. If its operations do not have keys, returns the whole history as the
/// only part.
pub(crate) fn split<O: Object>(history: &History<O::Op, O::Ret>) -> Vec<History<O::Op, O::Ret>> {
    let mut numbers = BTreeMap::new();
    let of: Vec<usize> = history
        .operations()
        .iter()
        .map(|operation| {
            let next = numbers.len();
            *numbers.entry(O::key(&operation.op)).or_insert(next)
        })
        .collect();
    (0..numbers.len()).map(|number| history.project(|id, _| of[id.index()] == number)).collect()
}

/// Returns the events (calls and returns) in their order, followed by a return for each operation
/// that never returned.
fn events_with_all_returns<Op, Ret>(history: &History<Op, Ret>) -> impl Iterator<Item = (EventKind, OpId)> {
    let lost = (0..).zip(history.operations()).filter(|(_, operation)| operation.return_position().is_none());
    let events = history.events().iter().map(|event| (event.kind(), event.op()));
    events.chain(lost.map(|(id, _)| (EventKind::Return, OpId(id))))
}

#[cfg(test)]
mod tests {
    use trueline::drive::{Random, Simulation, simulate};
    use trueline::judge::{Config, check};
    use trueline::spec::{self, CasRegisterOp, QueueOp, RegisterOp, SetOp, Spec};

    use super::*;
    use crate::objects;

    const HISTORIES: u64 = 200;

    fn judge<'h, P: Peer<O>, O: Object>(parts: impl IntoIterator<Item = &'h History<O::Op, O::Ret>>) -> bool
    where
        O::Op: 'h,
        O::Ret: 'h,
    {
        parts.into_iter().all(|part| P::judge(P::translate(part)))
    }

    /// Compares the verdicts of all checkers on small histories, in which some results are replaced by the result of an
    /// earlier equal operation, and so may be wrong.
    fn agree<S, Whole, Part>(spec: &S, call: fn(&mut Random) -> S::Op)
    where
        S: Spec,
        Whole: Object<Op = S::Op, Ret = S::Ret>,
        Part: Object<Op = S::Op, Ret = S::Ret>,
    {
        let mut seen = [false; 2];
        for seed in 1..=HISTORIES {
            let shape = Simulation { processes: 3, operations: 8, crashes: 100, busy: true };
            let mut state = Whole::initial();
            let mut earlier: Vec<(S::Op, S::Ret)> = Vec::new();
            let history = simulate(
                &shape,
                &mut Random::new(seed),
                |random, _| call(random),
                |random, op| {
                    let right = Whole::answer(&state, op);
                    Whole::update(&mut state, op);
                    let wrong = earlier.iter().find(|(same, _)| same == op).map(|(_, ret)| ret.clone());
                    earlier.push((op.clone(), right.clone()));
                    Some(wrong.filter(|_| random.chance(1, 4)).unwrap_or(right))
                },
            );
            let ours = check(spec, &history, &Config::new()).verdict.is_accepted();
            let parts = split::<Part>(&history);
            let theirs = [
                judge::<Porcupine, Whole>([&history]),
                judge::<Todc, Whole>([&history]),
                judge::<Stateright, Whole>([&history]),
                judge::<PorcupineThreads, Part>([&history]),
                judge::<Porcupine, Part>(&parts),
                judge::<Todc, Part>(&parts),
                judge::<Stateright, Part>(&parts),
            ];
            assert_eq!(theirs, [ours; 7], "seed {seed}: {history:?}");
            seen[usize::from(ours)] = true;
        }
        assert_eq!(seen, [true; 2], "both verdicts occur");
    }

    #[test]
    fn peers_agree_on_registers() {
        agree::<spec::Register<u64>, objects::Register, objects::Register>(&spec::Register::new(0), |random| {
            if random.chance(1, 2) { RegisterOp::Read } else { RegisterOp::Write(u64::from(random.below(3))) }
        });
    }

    #[test]
    fn peers_agree_on_registers_with_compare_and_set() {
        let register = spec::CasRegister::new(None);
        agree::<spec::CasRegister<Option<i64>>, objects::CasRegister, objects::CasRegister>(&register, |random| {
            let value = |random: &mut Random| Some(i64::from(random.below(2)));
            match random.below(3) {
                0 => CasRegisterOp::Read,
                1 => CasRegisterOp::Write(value(random)),
                _ => CasRegisterOp::Cas { expected: value(random), new: value(random) },
            }
        });
    }

    #[test]
    fn peers_agree_on_sets() {
        agree::<spec::Set<u64>, objects::Set, objects::OneOfSet>(&spec::Set::new(), |random| {
            let value = u64::from(random.below(2));
            random.pick(&[SetOp::Add, SetOp::Remove, SetOp::Contains])(value)
        });
    }

    #[test]
    fn peers_agree_on_queues() {
        agree::<spec::Queue<u64>, objects::Queue, objects::Queue>(&spec::Queue::new(), |random| {
            if random.chance(1, 2) { QueueOp::Enqueue(u64::from(random.below(5))) } else { QueueOp::Dequeue }
        });
    }
}

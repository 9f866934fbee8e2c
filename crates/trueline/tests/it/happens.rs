//! Random histories as lists of events, for the tests that judge many of them.

use trueline::drive::Random;
use trueline::history::History;

/// The number of histories of each kind in an ordinary test run.
const HISTORIES: u64 = 8_000;

/// Returns the number of histories of each kind, which `TRUELINE_SOAK` can set.
pub(crate) fn histories() -> u64 {
    std::env::var("TRUELINE_SOAK").map_or(HISTORIES, |soak| soak.parse().expect("TRUELINE_SOAK is a number"))
}

/// An event of a history.
#[derive(Clone, Debug)]
pub(crate) enum Happens<Op, Ret> {
    Call(u32, Op),
    Return(u32, Ret),
}

impl<Op, Ret> Happens<Op, Ret> {
    fn process(&self) -> u32 {
        match self {
            Self::Call(process, _) | Self::Return(process, _) => *process,
        }
    }
}

/// Spoils a run: shortens executions, replaces results by others, and adds returns of executions without partners.
pub(crate) fn spoil<Op, Ret: Clone>(events: &mut Vec<Happens<Op, Ret>>, random: &mut Random) {
    let results: Vec<Ret> = events
        .iter()
        .filter_map(|event| if let Happens::Return(_, result) = event { Some(result.clone()) } else { None })
        .collect();
    if results.is_empty() {
        return;
    }
    let any_result = |random: &mut Random| results[random.below(results.len() as u32) as usize].clone();
    for _ in 0..1 + random.below(3) {
        let at = random.below(events.len() as u32) as usize;
        let process = events[at].process();
        let is_other = |event: &Happens<Op, Ret>| event.process() != process;
        match &mut events[at] {
            Happens::Return(..) if random.chance(1, 2) => {
                let others = events[..at].iter().rev().take_while(|event| is_other(event)).count();
                let event = events.remove(at);
                events.insert(at - random.below(others as u32 + 1) as usize, event);
            }
            Happens::Return(_, result) => *result = any_result(random),
            Happens::Call(..) => {
                let others = events[at + 1..].iter().take_while(|event| is_other(event)).count();
                if at + 1 + others < events.len() {
                    let event = events.remove(at);
                    events.insert(at + random.below(others as u32 + 1) as usize, event);
                } else {
                    let place = at + 1 + random.below(others as u32 + 1) as usize;
                    events.insert(place, Happens::Return(process, any_result(random)));
                }
            }
        }
    }
}

pub(crate) fn history<Op, Ret>(events: Vec<Happens<Op, Ret>>) -> History<Op, Ret> {
    let mut builder = History::builder();
    for event in events {
        match event {
            Happens::Call(process, op) => builder.call(process, op).map(|_| ()),
            Happens::Return(process, result) => builder.ret(process, result).map(|_| ()),
        }
        .expect("events of a process stay in their order");
    }
    builder.finish()
}

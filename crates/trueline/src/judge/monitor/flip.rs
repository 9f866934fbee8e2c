//! Judges one key of a set, or any other object with two states. The monitor flips lazily, earliest
//! deadline first: the *deadline* of a flip is its return.
//!
//! A flip to `true` is possible only in state `false`, and the other way around; observers see the
//! state. Flips are delayed until a returning operation needs one. A flip that has not taken effect
//! earlier takes effect at its return, after a flip to the other state if necessary. If an observer
//! returns without having been satisfied, the state is flipped for it. Among the open flips to a
//! state, the one that returns first is used. An open observer is satisfied as
//! soon as the state is the one that it saw.
//!
//! *Why this is enough.* Compare the lazy run with any linearization, at the same event. The lazy
//! run has made no more flips than the linearization. Open flips to the same state can be exchanged
//! for each other; after such exchanges, the flips of the lazy run are among those of the
//! linearization. So the lazy run can catch up at any time, with flips in pairs that restore the
//! state but pass through both states, and it satisfies at least as many observers. If the lazy run
//! is stuck, the linearization cannot continue either.
//!
//! # Conditions
//! Only `Flip` and `Sees`; the state may change any number of times. Flips that never returned are optional, with no
//! deadline: this covers operations that may have found the state already changed.
//!
//! # Conflict
//! The run gets stuck at a return. The monitor looks for a *window*: the events from some position
//! up to this return, such that the run also gets stuck if it begins at that position, *whatever
//! happened before*, that is, for both states at that position, and for each choice of the flips
//! open there that had taken effect. (For each state, the monitor tries each number of open flips to
//! this state that had taken effect, but only one selection of this number: the flips that return
//! first. This is the best case for the run, because the flips that return last are the most useful
//! ones in the window.) The conflict consists of the flips in the window that the runs used, and the
//! operations that needed these flips; the runs do not depend on the other operations. The conflict
//! is not linearizable by itself, even if the state is initially `true`.
//! The exception is a window that reaches back to the beginning of the history, where the state is
//! `false`: then the conflict holds only for this state.
//!
//! The window is as short as possible if it has at most [`SHORTEN`] events. Otherwise it may be up to four times as
//! long as necessary. If there is too much to try, the window is the whole history up to the return.
//!
//! # Complexity
//! O(n log k) for k open operations; about 25 bytes for each operation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::zones::NONE;
use super::{Answer, Input, NEVER, Span};
use crate::spec::Standard;

/// The role of an operation for an object with two states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Changes the state to the given one. Before the change, the state must be the opposite one.
    Flip(bool),
    /// Sees the given state and leaves it unchanged.
    Sees(bool),
    /// The operation has no role, because it never took effect.
    None,
}

pub(crate) fn judge(input: &Input) -> Answer {
    alternation(input, |_, span| match span.what {
        Standard::Flip(to) => Some(Part::Flip(to)),
        Standard::Sees(state) => Some(Part::Sees(state)),
        _ => None,
    })
}

/// Judges an object whose state is `true` or `false`, and initially `false`. If `part` returns
/// `None` for an operation, the object does not support this operation, and the history is refused.
pub(super) fn alternation(input: &Input, part: impl Fn(usize, &Span) -> Option<Part>) -> Answer {
    let mut problem = Problem::with_capacity(input.spans.len(), input.events as usize);
    problem.at.resize(input.events as usize, NONE);
    for (op, span) in input.spans.iter().enumerate() {
        let Some(part) = part(op, span) else {
            return Answer::Refused("the algorithm does not support some of the operations");
        };
        let kind = match part {
            Part::Flip(to) => FLIP | u8::from(to),
            Part::Sees(state) => u8::from(state),
            Part::None => 0,
        };
        let id = problem.push(kind, span.ret);
        if !is_flip(kind) && (span.ret == NEVER || part == Part::None) {
            continue;
        }
        problem.at[span.call as usize] = id << 1;
        if span.ret != NEVER {
            problem.at[span.ret as usize] = id << 1 | 1;
        }
    }
    let run = problem.run(false);
    match run.stuck {
        None => Answer::Accepted(run.order),
        Some(position) => Answer::Rejected(conflict(input, &problem, position)),
    }
}

/// The kind of an operation is a number with two bits. This bit is set if the operation is a flip;
/// the other bit is the state.
const FLIP: u8 = 2;

fn is_flip(kind: u8) -> bool {
    kind & FLIP != 0
}

fn state_of(kind: u8) -> bool {
    kind & 1 != 0
}

/// Flips and observers, and the order of their calls and returns.
struct Problem {
    kinds: Vec<u8>,
    /// For each operation, its deadline: the position of its return in `at`, or [`NEVER`].
    returns: Vec<u32>,
    /// For each position, the event there: `2 * op` for the call of operation `op`, `2 * op + 1`
    /// for its return, and [`NONE`] if no operation is called or returns there.
    at: Vec<u32>,
}

impl Problem {
    fn with_capacity(operations: usize, events: usize) -> Self {
        let (kinds, returns) = (Vec::with_capacity(operations), Vec::with_capacity(operations));
        Self { kinds, returns, at: Vec::with_capacity(events) }
    }

    fn push(&mut self, kind: u8, ret: u32) -> u32 {
        let id = u32::try_from(self.kinds.len()).expect("the number of operations fits in 32 bits");
        self.kinds.push(kind);
        self.returns.push(ret);
        id
    }

    fn run(&self, state: bool) -> Run {
        let mut run = Run {
            state,
            open: Default::default(),
            never: Default::default(),
            want: Default::default(),
            done: vec![false; self.kinds.len()],
            order: Vec::with_capacity(self.kinds.len()),
            demanding: Vec::new(),
            stuck: None,
        };
        for (position, &event) in (0..).zip(&self.at) {
            if event == NONE {
                continue;
            }
            let op = event >> 1;
            let kind = self.kinds[op as usize];
            let to = state_of(kind);
            if event & 1 == 0 {
                if !is_flip(kind) {
                    if run.state == to {
                        run.place(op);
                    } else {
                        run.want[usize::from(to)].push(op);
                    }
                } else if self.returns[op as usize] == NEVER {
                    run.never[usize::from(to)].push(op);
                } else {
                    run.open[usize::from(to)].push(Reverse((self.returns[op as usize], op)));
                }
            } else if !run.done[op as usize] {
                run.demanding.push(op);
                let possible = if is_flip(kind) {
                    // `op` is the flip that returns first among the open flips to this state.
                    let first = run.open[usize::from(to)].pop();
                    debug_assert!(first.is_some_and(|Reverse((_, first))| first == op), "deadlines are in order");
                    let possible = run.state != to || run.turn(!to);
                    if possible {
                        run.flip(op, to);
                    }
                    possible
                } else {
                    run.turn(to)
                };
                if !possible {
                    run.stuck = Some(position);
                    break;
                }
            }
        }
        run
    }
}

struct Run {
    state: bool,
    /// For each state, the open flips to this state that have not taken effect and will return. The
    /// first one to return is on top.
    open: [BinaryHeap<Reverse<(u32, u32)>>; 2],
    /// For each state, the open flips to this state that have not taken effect and never return.
    never: [Vec<u32>; 2],
    /// For each state, the open observers that need this state and have not seen it yet.
    want: [Vec<u32>; 2],
    /// For each operation, whether it is in `order`.
    done: Vec<bool>,
    order: Vec<u32>,
    /// The operations that had not taken effect before their return, so that their return forced
    /// flips.
    demanding: Vec<u32>,
    /// The position of the return of an operation that could not take effect.
    stuck: Option<u32>,
}

impl Run {
    fn place(&mut self, op: u32) {
        self.order.push(op);
        self.done[op as usize] = true;
    }

    fn flip(&mut self, op: u32, to: bool) {
        self.place(op);
        self.state = to;
        let mut satisfied = std::mem::take(&mut self.want[usize::from(to)]);
        for observer in satisfied.drain(..) {
            self.place(observer);
        }
        self.want[usize::from(to)] = satisfied;
    }

    /// Changes the state to `to` if a flip to it is open. Returns whether such a flip was open.
    fn turn(&mut self, to: bool) -> bool {
        let side = usize::from(to);
        let first = self.open[side].pop().map(|Reverse((_, op))| op).or_else(|| self.never[side].pop());
        first.inspect(|&op| self.flip(op, to)).is_some()
    }
}

/// Windows of at most this many events are made as short as possible.
const SHORTEN: u32 = 4096;

/// The maximum number of events that all runs on one window may visit together. There is one run
/// for each possibility of what happened before the window. If the window is the whole history, a
/// single run is enough, and this run is always performed.
const TRY: usize = 1 << 22;

/// Returns a small set of operations on which the run gets stuck. The run on the whole history must
/// get stuck at `end`.
fn conflict(input: &Input, problem: &Problem, end: u32) -> Vec<u32> {
    // The flips that are open at `end`, in the order of their calls.
    let flips = (0..).zip(&input.spans).filter(|&(op, _)| is_flip(problem.kinds[op as usize]));
    let open: Vec<u32> = flips.filter(|(_, span)| span.call < end && span.ret > end).map(|(op, _)| op).collect();
    let stuck_from = |start: u32| Window::new(input, problem, &open, start, end).stuck(start == 0);
    // If the window begins at `long`, the run is known to get stuck. If it begins at `short`, this
    // is not known.
    let (mut length, mut short) = (8, end);
    let (mut long, mut operations) = loop {
        let start = end.saturating_sub(length);
        if let Some(operations) = stuck_from(start) {
            break (start, operations);
        }
        assert!(start > 0, "the run over the whole history is stuck");
        short = start;
        length = length.saturating_mul(4);
    };
    while short - long > 1 && end - long <= SHORTEN {
        let start = long + (short - long) / 2;
        match stuck_from(start) {
            Some(fewer) => (long, operations) = (start, fewer),
            None => short = start,
        }
    }
    operations
}

/// A range of the events of a history.
struct Window {
    problem: Problem,
    /// For each operation of the window, its index in the whole history.
    names: Vec<u32>,
    /// For each state, the number of flips to it that were open at the start of the window and
    /// return within it. These flips are the first operations of the window: first those to
    /// `false`, then those to `true`, both in the reverse order of their returns.
    before: [u32; 2],
}

impl Window {
    /// Returns the window from `start` to `end`; `open` holds the flips that are open at `end`.
    fn new(input: &Input, whole: &Problem, open: &[u32], start: u32, end: u32) -> Self {
        let events = &whole.at[start as usize..=end as usize];
        let mut problem = Problem::with_capacity(events.len(), 2 * events.len());
        let mut names = Vec::new();
        let span = |op: u32| input.spans[op as usize];
        let kind = |op: u32| whole.kinds[op as usize];
        let mut before = [0; 2];
        for to in [false, true] {
            let returns = events.iter().rev().filter(|&&event| event != NONE && event & 1 == 1);
            let returns = returns.map(|&event| event >> 1).filter(|&op| span(op).call < start);
            for op in returns.filter(|&op| is_flip(kind(op)) && state_of(kind(op)) == to) {
                problem.push(kind(op), span(op).ret);
                names.push(op);
                before[usize::from(to)] += 1;
            }
        }
        // Among the flips to one state that are open both at the start and at the end of the
        // window, at most one is needed for each event of the window.
        let mut left = [events.len(); 2];
        for &op in open.iter().take_while(|&&op| span(op).call < start) {
            let left = &mut left[usize::from(state_of(kind(op)))];
            if *left > 0 {
                *left -= 1;
                problem.push(kind(op), NEVER);
                names.push(op);
            }
        }
        // The operations that were added above are called at the first positions. The events of the
        // window follow.
        let first = u32::try_from(names.len()).expect("the number of operations fits in 32 bits");
        let shifted = |position: u32| position - start + first;
        problem.at.extend((0..first).map(|op| op << 1));
        problem.at.resize(names.len() + events.len(), NONE);
        for &event in events.iter().filter(|&&event| event != NONE && event & 1 == 0) {
            let op = event >> 1;
            let ret = if span(op).ret > end { NEVER } else { shifted(span(op).ret) };
            if is_flip(kind(op)) || ret != NEVER {
                let id = problem.push(kind(op), ret);
                names.push(op);
                problem.at[shifted(span(op).call) as usize] = id << 1;
                if ret != NEVER {
                    problem.at[ret as usize] = id << 1 | 1;
                }
            }
        }
        for ret in &mut problem.returns[..(before[0] + before[1]) as usize] {
            *ret = shifted(*ret);
        }
        Self { problem, names, before }
    }

    /// If the run gets stuck whatever happened before the window, returns the operations of the
    /// conflict. Returns `None` if the run does not always get stuck, or if there are too many
    /// possibilities to try. If `whole` is set, the window begins where the history begins, so
    /// nothing happened before the window.
    fn stuck(mut self, whole: bool) -> Option<Vec<u32>> {
        let choices = 2 * (self.before[0] + 1) * (self.before[1] + 1);
        if !whole && (choices as usize).saturating_mul(self.problem.at.len()) > TRY {
            return None;
        }
        let before = self.before[0] + self.before[1];
        let mut matters = vec![false; self.names.len()];
        matters[..before as usize].fill(true);
        for off in 0..=self.before[0] {
            for on in 0..=self.before[1] {
                for id in 0..before {
                    let later = if id < self.before[0] { id < off } else { id - self.before[0] < on };
                    self.problem.at[id as usize] = if later { id << 1 } else { NONE };
                    let ret = self.problem.returns[id as usize] as usize;
                    self.problem.at[ret] = if later { id << 1 | 1 } else { NONE };
                }
                for state in [false, true] {
                    if whole && state {
                        continue;
                    }
                    let run = self.problem.run(state);
                    run.stuck?;
                    let flips = run.order.iter().filter(|&&op| is_flip(self.problem.kinds[op as usize]));
                    for &op in flips.chain(&run.demanding) {
                        matters[op as usize] = true;
                    }
                }
            }
        }
        let mut operations: Vec<u32> =
            self.names.iter().zip(matters).filter(|(_, matters)| *matters).map(|(&op, _)| op).collect();
        operations.sort_unstable();
        Some(operations)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spans;
    use super::*;

    #[test]
    fn a_conflict_of_flips_is_found_where_it_is() {
        // The key is added and removed in turn, and then added twice.
        let mut whats: Vec<_> = (0..10_000).map(|index| (Standard::Flip(index % 2 == 0), true)).collect();
        whats.extend([(Standard::Flip(true), true), (Standard::Sees(true), true), (Standard::Flip(true), true)]);
        assert_eq!(judge(&spans(&whats)), Answer::Rejected(vec![10_001, 10_002]));
        // The key was absent, and then it was present.
        let mut whats = vec![(Standard::Sees(false), true); 10_000];
        whats.push((Standard::Sees(true), true));
        assert_eq!(judge(&spans(&whats)), Answer::Rejected(vec![9_999, 10_000]));
    }
}

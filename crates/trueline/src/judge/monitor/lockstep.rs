//! FIFO queues whose values need not be distinct: a search that moves enqueues and dequeues in lockstep.
//!
//! The `i`-th enqueue of a linearization is matched with its `i`-th dequeue of a value. So a configuration needs no
//! content of the queue: it is a set of enqueues and one of dequeues that are placed, each closed under "returned
//! before the call of". Two moves lead on:
//! 1. An enqueue and a dequeue of the same value, neither of which has a predecessor left among its own kind, such that
//!    the dequeue does not return before the call of any enqueue that is placed.
//! 2. A dequeue that found nothing and has no predecessor left among the dequeues, such that it does not return before
//!    the call of an enqueue that is placed, and no enqueue that is left returned before the call of any dequeue that is
//!    placed, itself included.
//!
//! The history is linearizable if and only if a configuration is reached that has all dequeues that returned; enqueues
//! that are left go behind.
//!
//! *Proof idea.* The order of the enqueues, that of the dequeues, each enqueue before its dequeue, and real time are
//! together without a cycle if and only if no dequeue returned before the call of an enqueue that was placed with it or
//! before: any other cycle has a step "returned before" from dequeue to enqueue, steps along the enqueues, one
//! "returned before" from enqueue to dequeue and steps along the dequeues; of two such real-time steps one can be
//! replaced by a step inside its own kind. [`interleave`] builds the order.
//!
//! Move 2 is taken whenever it is possible. It costs nothing: it could be done later only at such a cut, and bringing it
//! forward forbids nothing there, since all enqueues that are left then are left now, and returned after its call.
//!
//! Operations that never returned are placed or not, as it suits; of several that are alike only the one called first
//! is tried, as its interval contains the others. Looks are refused.
//!
//! A conflict is the whole history, without what never returned and was placed by no configuration: the search does not
//! tell more.
//!
//! # Complexity
//! Configurations with the same number of moves differ only in open operations, so that there are O(n 4^k) for n
//! operations of which at most k overlap; on linearizable histories mostly about n are visited.

use super::{Answer, Input, NEVER};
use crate::judge::search::hash;
use crate::spec::{Standard, Taken};

/// What a dequeue takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Value(u32),
    Nothing,
    Anything,
}

/// An operation.
#[derive(Clone, Copy)]
struct Op {
    span: u32,
    call: u32,
    ret: u32,
    what: What,
}

/// The operations of one kind that returned, by call; and those that never did.
#[derive(Default)]
struct Ops {
    returned: Vec<Op>,
    /// Never-returning operations that are alike are together, by call: `class[i]` is the first of those like `i`.
    optional: Vec<Op>,
    class: Vec<usize>,
}

/// How many never-returning operations of each kind there may be: one bit of a word for each.
const MOST_OPTIONAL: usize = 64;

/// How many operations of one kind may overlap with one of them, in words.
const WIDEST: usize = 16;

/// Which operations of one kind are placed: all that returned before `base` in the order of calls, not `base` itself,
/// and those behind it that have a bit; and never-returning ones that have a bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Placed<const W: usize> {
    /// Bit `i` is for operation `base + i`; bit 0 is never set.
    bits: [u64; W],
    optional: u64,
    base: u32,
}

impl<const W: usize> Placed<W> {
    fn has(&self, offset: usize) -> bool {
        self.bits[offset / 64] >> (offset % 64) & 1 == 1
    }

    /// Places operation `base + offset`.
    fn place(&mut self, offset: usize) {
        self.bits[offset / 64] |= 1 << (offset % 64);
        // Shift until the base is one that is not placed.
        loop {
            let ones = self.bits[0].trailing_ones();
            if ones == 0 {
                return;
            }
            self.base += ones;
            for word in 0..W {
                let above = self.bits.get(word + 1).copied().unwrap_or(0);
                self.bits[word] = if ones == 64 { above } else { self.bits[word] >> ones | above << (64 - ones) };
            }
        }
    }

    /// The last call of an operation that is placed, plus 1; 0 if there is none.
    fn last_call(&self, ops: &Ops) -> u32 {
        let word = self.bits.iter().rposition(|word| *word != 0);
        let returned = match word {
            Some(word) => self.base as usize + 64 * word + self.bits[word].ilog2() as usize + 1,
            None => self.base as usize,
        };
        let mut last = returned.checked_sub(1).map_or(0, |index| ops.returned[index].call + 1);
        let mut optional = self.optional;
        while optional != 0 {
            last = last.max(ops.optional[optional.trailing_zeros() as usize].call + 1);
            optional &= optional - 1;
        }
        last
    }

    /// Collects the operations without a predecessor that is left, as indices (never-returning ones behind the others);
    /// gives the first return of an operation that is left.
    fn minimal(&self, ops: &Ops, found: &mut Vec<usize>) -> u32 {
        found.clear();
        let mut first = NEVER;
        for (offset, op) in ops.returned[self.base as usize..].iter().enumerate() {
            if op.call > first {
                break;
            }
            // The window is as wide as the widest overlap: what is behind it was called after the base returned.
            if !self.has(offset) {
                first = first.min(op.ret);
                found.push(self.base as usize + offset);
            }
        }
        found.retain(|index| ops.returned[*index].call < first);
        let mut tried = usize::MAX;
        for (index, op) in ops.optional.iter().enumerate() {
            if self.optional >> index & 1 == 0 && ops.class[index] != tried && op.call < first {
                tried = ops.class[index];
                found.push(ops.returned.len() + index);
            }
        }
        first
    }

    fn place_index(&mut self, ops: &Ops, index: usize) {
        match index.checked_sub(ops.returned.len()) {
            Some(optional) => self.optional |= 1 << optional,
            None => self.place(index - self.base as usize),
        }
    }
}

impl Ops {
    fn get(&self, index: usize) -> &Op {
        self.returned.get(index).unwrap_or_else(|| &self.optional[index - self.returned.len()])
    }

    /// Puts never-returning operations that are alike together.
    fn sort_optional(&mut self) {
        self.optional.sort_by_key(|op| match op.what {
            What::Value(value) => (0, value, op.call),
            What::Nothing | What::Anything => (1, 0, op.call),
        });
        let alike = |index: usize| (0..=index).find(|other| self.optional[*other].what == self.optional[index].what);
        self.class = (0..self.optional.len()).map(|index| alike(index).unwrap_or(index)).collect();
    }

    /// How many bits a window needs: the most operations that are called while one of them is open, itself included.
    fn widest(&self) -> usize {
        let mut widest = 0;
        for (index, op) in self.returned.iter().enumerate() {
            let until = index + self.returned[index..].partition_point(|other| other.call < op.ret);
            widest = widest.max(until - index);
        }
        widest
    }
}

/// A configuration.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Config<const W: usize> {
    enqueues: Placed<W>,
    dequeues: Placed<W>,
}

/// Judges a queue; its values need not be distinct.
///
/// `go_on` is asked at each configuration; if it says no, the search ends without an answer.
pub(crate) fn judge(input: &Input, go_on: &mut dyn FnMut() -> bool) -> Option<Answer> {
    let (mut enqueues, mut dequeues) = (Ops::default(), Ops::default());
    for (index, span) in (0u32..).zip(&input.spans) {
        let (ops, what) = match span.what {
            Standard::Enqueue(value) => (&mut enqueues, What::Value(value.0)),
            Standard::Dequeue(Taken::Value(value)) => (&mut dequeues, What::Value(value.0)),
            Standard::Dequeue(Taken::Nothing) if span.ret == NEVER => continue,
            Standard::Dequeue(Taken::Nothing) => (&mut dequeues, What::Nothing),
            Standard::Dequeue(Taken::Unknown) if span.ret == NEVER => (&mut dequeues, What::Anything),
            Standard::Dequeue(Taken::Unknown) => {
                return Some(Answer::Refused("an operation returned, but its result is not known"));
            }
            Standard::Front(_) if span.ret == NEVER => continue,
            Standard::Front(_) => return Some(Answer::Refused("there are operations that look")),
            _ => return Some(Answer::Refused("there are operations of another type")),
        };
        let op = Op { span: index, call: span.call, ret: span.ret, what };
        if span.ret == NEVER { ops.optional.push(op) } else { ops.returned.push(op) }
    }
    if enqueues.optional.len().max(dequeues.optional.len()) > MOST_OPTIONAL {
        return Some(Answer::Refused("there are too many operations that never returned"));
    }
    enqueues.sort_optional();
    dequeues.sort_optional();
    match enqueues.widest().max(dequeues.widest()).div_ceil(64) {
        0 | 1 => search::<1>(input, &enqueues, &dequeues, go_on),
        2..=4 => search::<4>(input, &enqueues, &dequeues, go_on),
        5..=WIDEST => search::<WIDEST>(input, &enqueues, &dequeues, go_on),
        _ => Some(Answer::Refused("too many operations overlap")),
    }
}

/// A configuration on the path, with the moves from it that were not tried.
struct Frame<const W: usize> {
    config: Config<W>,
    /// Where its moves start among all; what is behind them is tried.
    moves: usize,
    /// How many enqueues and dequeues were placed on the way to it.
    placed: (usize, usize),
}

fn search<const W: usize>(
    input: &Input,
    enqueues: &Ops,
    dequeues: &Ops,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Answer> {
    let start = Placed { bits: [0; W], optional: 0, base: 0 };
    let mut config = Config { enqueues: start, dequeues: start };
    // Configurations from which nothing was found. A configuration determines how many moves led to it, so that no path
    // comes back to where it was: it is enough to note them when they are left.
    let mut failed: hashbrown::HashSet<Config<W>, hash::Builder> = hashbrown::HashSet::default();
    let mut path: Vec<Frame<W>> = Vec::new();
    let mut moves: Vec<(usize, usize)> = Vec::new();
    let (mut enqueued, mut dequeued): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let (mut next_enqueues, mut next_dequeues) = (Vec::new(), Vec::new());
    loop {
        // Arrived at `config`.
        if !go_on() {
            return None;
        }
        let enqueue_call = config.enqueues.last_call(enqueues);
        let first_return = config.enqueues.minimal(enqueues, &mut next_enqueues);
        // Empty results first, as long as there are any.
        loop {
            config.dequeues.minimal(dequeues, &mut next_dequeues);
            let dequeue_call = config.dequeues.last_call(dequeues);
            let is_possible = |index: &&usize| {
                let op = dequeues.get(**index);
                op.what == What::Nothing && op.ret >= enqueue_call && dequeue_call.max(op.call + 1) <= first_return
            };
            let Some(&index) = next_dequeues.iter().find(is_possible) else { break };
            config.dequeues.place_index(dequeues, index);
            dequeued.push(index);
        }
        if config.dequeues.base as usize == dequeues.returned.len() {
            return Some(Answer::Accepted(witness(input, enqueues, dequeues, &enqueued, &dequeued)));
        }
        if !failed.contains(&config) {
            let from = moves.len();
            for &enqueue in &next_enqueues {
                let op = enqueues.get(enqueue);
                let call = enqueue_call.max(op.call + 1);
                let fits = |other: &Op| (other.what == op.what || other.what == What::Anything) && other.ret >= call;
                let matching = next_dequeues.iter().filter(|dequeue| fits(dequeues.get(**dequeue)));
                moves.extend(matching.map(|dequeue| (enqueue, *dequeue)));
            }
            // The last is tried first: the dequeue that returns first, with the enqueue that returns first.
            moves[from..].sort_unstable_by_key(|(enqueue, dequeue)| {
                std::cmp::Reverse((dequeues.get(*dequeue).ret, enqueues.get(*enqueue).ret))
            });
            path.push(Frame { config, moves: from, placed: (enqueued.len(), dequeued.len()) });
        }
        // On to the next configuration: the last that has a move left.
        loop {
            let Some(frame) = path.last() else {
                let all = 0..u32::try_from(input.spans.len()).expect("positions fit");
                return Some(Answer::Rejected(all.collect()));
            };
            enqueued.truncate(frame.placed.0);
            dequeued.truncate(frame.placed.1);
            if moves.len() > frame.moves {
                break;
            }
            failed.insert(frame.config);
            path.pop();
        }
        let frame = path.last().expect("one with a move left");
        let (enqueue, dequeue) = moves.pop().expect("a move");
        config = frame.config;
        config.enqueues.place_index(enqueues, enqueue);
        config.dequeues.place_index(dequeues, dequeue);
        enqueued.push(enqueue);
        dequeued.push(dequeue);
    }
}

fn witness(input: &Input, enqueues: &Ops, dequeues: &Ops, enqueued: &[usize], dequeued: &[usize]) -> Vec<u32> {
    let mut is_placed = vec![false; enqueues.returned.len()];
    for index in enqueued {
        // Not so for those that never returned, which have no place there.
        if let Some(slot) = is_placed.get_mut(*index) {
            *slot = true;
        }
    }
    let left = (0..enqueues.returned.len()).filter(|index| !is_placed[*index]);
    let first: Vec<u32> = enqueued.iter().copied().chain(left).map(|index| enqueues.get(index).span).collect();
    let second: Vec<u32> = dequeued.iter().map(|index| dequeues.get(*index).span).collect();
    interleave(input, &first, &second)
}

/// The linearization with enqueues and dequeues in these orders.
///
/// Each dequeue comes as early as it can: behind the enqueue it is matched with, and behind all that returned before
/// its call.
///
/// # Complexity
/// O(n) for n operations and events.
pub(in crate::judge) fn interleave(input: &Input, enqueues: &[u32], dequeues: &[u32]) -> Vec<u32> {
    // By position: how many enqueues must come before a dequeue called there.
    let mut before = vec![0usize; input.events as usize];
    for (place, enqueue) in enqueues.iter().enumerate() {
        if let Some(slot) = before.get_mut(input.spans[*enqueue as usize].ret as usize) {
            *slot = place + 1;
        }
    }
    let mut most = 0;
    for slot in &mut before {
        most = most.max(*slot);
        *slot = most;
    }
    let mut order = Vec::with_capacity(enqueues.len() + dequeues.len());
    let (mut placed, mut matched) = (0, 0);
    for dequeue in dequeues {
        let span = input.spans[*dequeue as usize];
        if span.what != Standard::Dequeue(Taken::Nothing) {
            matched += 1;
        }
        let until = placed.max(matched).max(before[span.call as usize]);
        order.extend(&enqueues[placed..until]);
        placed = until;
        order.push(*dequeue);
    }
    order.extend(&enqueues[placed..]);
    order
}

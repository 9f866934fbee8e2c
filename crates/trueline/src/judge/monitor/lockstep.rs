//! FIFO queues whose values need not be distinct: a search that advances enqueues and dequeues in lockstep.
//!
//! The `i`-th enqueue of a linearization is matched with its `i`-th dequeue of a value. So a configuration need not
//! contain the content of the queue: it is a set of placed enqueues and a set of placed dequeues, each closed under
//! "returned before the call of". There are two kinds of moves:
//! 1. An enqueue and a dequeue of the same value, neither of which has an unplaced predecessor among its own kind, such
//!    that the dequeue does not return before the call of any placed enqueue (including this one).
//! 2. A dequeue that found nothing and has no unplaced predecessor among the dequeues, such that it does not return
//!    before the call of a placed enqueue, and no unplaced enqueue returned before the call of any placed dequeue,
//!    including this one.
//!
//! The history is linearizable if and only if a configuration can be reached that contains all dequeues that returned;
//! the unplaced enqueues go to the end.
//!
//! *Proof idea.* The order of the enqueues, that of the dequeues, each enqueue before its dequeue, and real time
//! together have no cycle if and only if no dequeue returned before the call of an enqueue that was placed with it or
//! before it. Any other cycle has a step "returned before" from a dequeue to an enqueue, steps along the enqueues, a
//! step "returned before" from an enqueue to a dequeue, and steps along the dequeues; one of these two real-time steps
//! can be replaced by a step inside its own kind. [`interleave`] builds the order.
//!
//! Move 2 is made whenever it is possible, without loss: it could be made later only at such a cut, and making it
//! earlier forbids nothing there, because all enqueues that are unplaced then are unplaced now, and returned after its
//! call.
//!
//! Operations that never returned are placed only if needed. Of several that are alike, only the one called first is
//! tried, because its interval contains the others. Histories in which an operation looked at a value without removing
//! it, such as a peek, are refused.
//!
//! The conflict of a rejection is always the whole history: the search does not find a smaller one.
//!
//! # Complexity
//! Configurations with the same number of moves differ only in open operations, so there are O(n 4^k) of them for n
//! operations of which at most k overlap. On linearizable histories, usually about n are visited.

use super::{Answer, Input, NEVER};
use crate::judge::search::hash;
use crate::spec::{Standard, Taken};

/// The value that an operation puts in or takes out.
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

/// The operations of one kind that returned, in the order of their calls, and those that never did.
#[derive(Default)]
struct Ops {
    returned: Vec<Op>,
    /// The never-returning operations. Those that are alike are adjacent, in the order of their calls; `class[i]` is
    /// the first one like `i`.
    optional: Vec<Op>,
    class: Vec<usize>,
}

/// The maximum number of never-returning operations of each kind: each needs one bit of a word.
const MOST_OPTIONAL: usize = 64;

/// The maximum number of operations of one kind that are called while one of them is open, in words of 64.
const WIDEST: usize = 16;

/// The placed operations of one kind. Of the operations that returned, in the order of their calls, these are all
/// before index `base`, not `base` itself, and those after it whose bit is set; of the never-returning ones, those
/// whose bit is set.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Placed<const W: usize> {
    /// Bit `i` stands for operation `base + i`; bit 0 is never set.
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
        // Shift until the base is not placed.
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

    /// Returns the last call of a placed operation, plus 1; 0 if there is none.
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

    /// Collects the operations without an unplaced predecessor, as indices (never-returning ones after the others).
    /// Returns the first return of an unplaced operation.
    fn minimal(&self, ops: &Ops, found: &mut Vec<usize>) -> u32 {
        found.clear();
        let mut first = NEVER;
        for (offset, op) in ops.returned[self.base as usize..].iter().enumerate() {
            if op.call > first {
                break;
            }
            // The window is as wide as the widest overlap: operations after it were called after the base returned.
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

    /// Sorts never-returning operations so that those that are alike are adjacent.
    fn sort_optional(&mut self) {
        self.optional.sort_by_key(|op| match op.what {
            What::Value(value) => (0, value, op.call),
            What::Nothing | What::Anything => (1, 0, op.call),
        });
        let alike = |index: usize| (0..=index).find(|other| self.optional[*other].what == self.optional[index].what);
        self.class = (0..self.optional.len()).map(|index| alike(index).unwrap_or(index)).collect();
    }

    /// Returns the number of bits that a window needs: the maximum number of operations that are called while one of
    /// them is open, including that one.
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

/// Judges a queue, whose values need not be distinct.
///
/// Calls `go_on` at each configuration; if it returns `false`, the search ends without an answer.
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
            Standard::Front(_) => {
                return Some(Answer::Refused("it has operations that read without removing, such as peek"));
            }
            _ => return Some(Answer::Refused("it has operations that the algorithm does not support")),
        };
        let op = Op { span: index, call: span.call, ret: span.ret, what };
        if span.ret == NEVER { ops.optional.push(op) } else { ops.returned.push(op) }
    }
    if enqueues.optional.len().max(dequeues.optional.len()) > MOST_OPTIONAL {
        return Some(Answer::Refused("it has too many operations that never returned"));
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

/// A configuration on the path, with the moves from it that were not tried yet.
struct Frame<const W: usize> {
    config: Config<W>,
    /// The index where its remaining moves start.
    moves: usize,
    /// The number of enqueues and dequeues placed on the path to it.
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
    // The configurations from which the search failed. A configuration determines the number of moves that led to it,
    // so a path never returns to a configuration, and it is enough to record a configuration when it is left.
    let mut failed: hashbrown::HashSet<Config<W>, hash::Builder> = hashbrown::HashSet::default();
    let mut path: Vec<Frame<W>> = Vec::new();
    let mut moves: Vec<(usize, usize)> = Vec::new();
    let (mut enqueued, mut dequeued): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let (mut next_enqueues, mut next_dequeues) = (Vec::new(), Vec::new());
    loop {
        // The search has arrived at `config`.
        if !go_on() {
            return None;
        }
        let enqueue_call = config.enqueues.last_call(enqueues);
        let first_return = config.enqueues.minimal(enqueues, &mut next_enqueues);
        // Place empty results first, as long as there are any.
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
            // The last move is tried first: the dequeue that returns first, with the enqueue that returns first.
            moves[from..].sort_unstable_by_key(|(enqueue, dequeue)| {
                std::cmp::Reverse((dequeues.get(*dequeue).ret, enqueues.get(*enqueue).ret))
            });
            path.push(Frame { config, moves: from, placed: (enqueued.len(), dequeued.len()) });
        }
        // Continue from the last configuration that has a move left.
        loop {
            let Some(frame) = path.last() else {
                let all = 0..u32::try_from(input.spans.len()).expect("positions fit in 32 bits");
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
        let frame = path.last().expect("while moves remain, the stack has a frame");
        let (enqueue, dequeue) = moves.pop().expect("the last frame has a move that was not tried");
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
        // `is_placed` contains only the enqueues that returned.
        if let Some(slot) = is_placed.get_mut(*index) {
            *slot = true;
        }
    }
    let left = (0..enqueues.returned.len()).filter(|index| !is_placed[*index]);
    let first: Vec<u32> = enqueued.iter().copied().chain(left).map(|index| enqueues.get(index).span).collect();
    let second: Vec<u32> = dequeued.iter().map(|index| dequeues.get(*index).span).collect();
    interleave(input, &first, &second)
}

/// Returns the linearization with enqueues and dequeues in these orders.
///
/// Each dequeue comes as early as possible: after the enqueue that it is matched with, and after all enqueues that
/// returned before its call.
///
/// # Complexity
/// O(n) for n operations and events.
pub(in crate::judge) fn interleave(input: &Input, enqueues: &[u32], dequeues: &[u32]) -> Vec<u32> {
    // For each position, the number of enqueues that must come before a dequeue called there.
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

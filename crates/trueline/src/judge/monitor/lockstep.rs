//! Judges FIFO queues whose values need not be distinct, by a search that advances enqueues and dequeues in lockstep.
//!
//! A *predecessor* of an operation is an operation that returned before its call. The `i`-th
//! enqueue of a linearization is matched with the `i`-th dequeue that returned a value. So a
//! configuration need not contain the content of the queue: it consists of the enqueues and the
//! dequeues that have been placed. If an operation has been placed, so have all its predecessors of
//! the same kind. There are two kinds of moves:
//! 1. Place an enqueue and a dequeue of the same value. Neither may have an unplaced predecessor of its own kind, and
//!    the dequeue must not return before the call of any placed enqueue (including the one that this move places).
//! 2. Place a dequeue that found nothing. It must not have an unplaced predecessor among the
//!    dequeues, and it must not return before the call of a placed enqueue. No unplaced enqueue may
//!    be a predecessor of a placed dequeue (including this one).
//!
//! The history is linearizable if and only if a configuration can be reached that contains all dequeues that returned;
//! the unplaced enqueues go to the end of the linearization.
//!
//! *Proof idea.* Four relations must not form a cycle: the order of the enqueues, the order of the
//! dequeues, "each enqueue comes before its dequeue", and real time. They form no cycle if and only
//! if no dequeue returned before the call of an enqueue that was placed with it or before it. Any
//! other cycle has a step "returned before" from a dequeue `d` to an enqueue `e`, steps along the
//! enqueues from `e` to an enqueue `f`, a step "returned before" from `f` to a dequeue `c`, and
//! steps along the dequeues from `c` to `d`. But then `d` returned before `c` was called, or `f`
//! returned before `e` was called, which contradicts the order of the dequeues or that of the
//! enqueues. [`interleave`] builds the order.
//!
//! Move 2 is made as soon as it is possible. This loses no linearization: if the dequeue is not
//! placed now, it is placed in a later configuration, in which move 2 is possible again. Placing
//! the dequeue now forbids no move until then: all enqueues that are unplaced in that later
//! configuration are unplaced now, too, so they did not return before the call of the dequeue.
//!
//! Operations that never returned are placed only if needed. If several of them are alike, that is, of the same kind
//! and with the same value, only the one called first is tried, because its interval contains those of the others.
//! Histories in which an operation looked at a value without removing it, such as a peek, are refused.
//!
//! The conflict of a rejection is always the whole history: the search does not find a smaller one.
//!
//! # Complexity
//! Configurations with the same number of moves differ only in open operations, so there are
//! O(n 4^k) configurations, for n operations with at most k open at once. On linearizable
//! histories, the search usually visits about n configurations.

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

/// An enqueue or a dequeue.
#[derive(Clone, Copy)]
struct Op {
    span: u32,
    call: u32,
    ret: u32,
    what: What,
}

/// All enqueues, or all dequeues: first those that returned, in the order of their calls, and then
/// those that never returned.
#[derive(Default)]
struct Ops {
    returned: Vec<Op>,
    /// The never-returning operations. Operations with the same value are adjacent, in the order of
    /// their calls; `class[i]` is the index of the first operation in `optional` that has the same
    /// value as `optional[i]`.
    optional: Vec<Op>,
    class: Vec<usize>,
}

/// The maximum number of never-returning operations of each kind: each needs one bit of a word.
const MOST_OPTIONAL: usize = 64;

/// The maximum number of 64-bit words of a window, that is, of `Placed::bits`. A window needs one
/// bit for operation `base` of a kind, and one bit for each operation of this kind that is called
/// while `base` is open.
const WIDEST: usize = 16;

/// The placed operations of one kind: enqueues or dequeues. The operations that returned are in the
/// order of their calls: those before index `base` are placed, operation `base` is not placed, and
/// a later operation is placed if its bit in `bits` is set. An operation that never returned is
/// placed if its bit in `optional` is set.
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
        // Shift the bits until operation `base` is not placed.
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

    /// Returns 1 plus the position of the latest call of a placed operation, or 0 if no operation
    /// is placed.
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

    /// Collects the indices of the unplaced operations that have no unplaced predecessor. (The
    /// indices of never-returning operations follow those of the operations that returned.) Returns
    /// the position of the earliest return of an unplaced operation.
    fn minimal(&self, ops: &Ops, found: &mut Vec<usize>) -> u32 {
        found.clear();
        let mut first = NEVER;
        for (offset, op) in ops.returned[self.base as usize..].iter().enumerate() {
            if op.call > first {
                break;
            }
            // `offset` is inside the window, because the window is as wide as the widest overlap:
            // operations after the window were called after operation `base` returned, so the loop
            // ends before them.
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

    /// Sorts never-returning operations so that operations with the same value are adjacent.
    fn sort_optional(&mut self) {
        self.optional.sort_by_key(|op| match op.what {
            What::Value(value) => (0, value, op.call),
            What::Nothing | What::Anything => (1, 0, op.call),
        });
        let alike = |index: usize| (0..=index).find(|other| self.optional[*other].what == self.optional[index].what);
        self.class = (0..self.optional.len()).map(|index| alike(index).unwrap_or(index)).collect();
    }

    /// Returns the number of bits that a window needs: the maximum number of operations of this
    /// kind that are called while one of them is open, including the open operation.
    fn widest(&self) -> usize {
        let mut widest = 0;
        for (index, op) in self.returned.iter().enumerate() {
            let until = index + self.returned[index..].partition_point(|other| other.call < op.ret);
            widest = widest.max(until - index);
        }
        widest
    }
}

/// A configuration of the search.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Config<const W: usize> {
    enqueues: Placed<W>,
    dequeues: Placed<W>,
}

/// Judges a queue whose values need not be distinct.
///
/// Calls `go_on` at each configuration; if `go_on` returns `false`, the search ends without an
/// answer.
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
                return Some(Answer::Refused("some operations returned an unknown result"));
            }
            Standard::Front(_) if span.ret == NEVER => continue,
            Standard::Front(_) => {
                return Some(Answer::Refused("some operations read a value without removing it, such as peek"));
            }
            _ => return Some(Answer::Refused("the algorithm does not support some of the operations")),
        };
        let op = Op { span: index, call: span.call, ret: span.ret, what };
        if span.ret == NEVER { ops.optional.push(op) } else { ops.returned.push(op) }
    }
    if enqueues.optional.len().max(dequeues.optional.len()) > MOST_OPTIONAL {
        return Some(Answer::Refused("too many operations never returned"));
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

/// A configuration on the path of the search, with its moves that have not been tried yet.
struct Frame<const W: usize> {
    config: Config<W>,
    /// The index in the list of moves where the untried moves of this configuration start.
    moves: usize,
    /// The numbers of enqueues and of dequeues that have been placed on the path to this
    /// configuration.
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
    // The configurations from which the search failed. A configuration determines the number of
    // moves that led to it, so a path never returns to a configuration, and it is enough to record
    // a configuration when the search leaves it.
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
        // First place dequeues that found nothing, as long as one of them can be placed.
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
            // The last move in the list is tried first. So the move whose dequeue returns first is
            // put last and, among the moves with this dequeue, the move whose enqueue returns
            // first.
            moves[from..].sort_unstable_by_key(|(enqueue, dequeue)| {
                std::cmp::Reverse((dequeues.get(*dequeue).ret, enqueues.get(*enqueue).ret))
            });
            path.push(Frame { config, moves: from, placed: (enqueued.len(), dequeued.len()) });
        }
        // Continue from the last configuration that has an untried move.
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
        let frame = path.last().expect("the loop above stops at a frame with a move left");
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
        // `is_placed` has entries only for the enqueues that returned.
        if let Some(slot) = is_placed.get_mut(*index) {
            *slot = true;
        }
    }
    let left = (0..enqueues.returned.len()).filter(|index| !is_placed[*index]);
    let first: Vec<u32> = enqueued.iter().copied().chain(left).map(|index| enqueues.get(index).span).collect();
    let second: Vec<u32> = dequeued.iter().map(|index| dequeues.get(*index).span).collect();
    interleave(input, &first, &second)
}

/// Returns the linearization in which the enqueues and the dequeues have the given orders.
///
/// Each dequeue comes as early as possible: after the enqueue that it is matched with, and after all enqueues that
/// returned before its call.
///
/// # Complexity
/// O(n) for n operations and events.
pub(in crate::judge) fn interleave(input: &Input, enqueues: &[u32], dequeues: &[u32]) -> Vec<u32> {
    // For each position, the number of enqueues that must come before a dequeue that is called
    // there.
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

//! Lowe's queue-oriented algorithm: "Testing for linearizability" (2017), section 5 and figure 3.
//!
//! The algorithm removes operations from the front of a complete history of a queue, whose values
//! need not be distinct. An operation is *minimal* if no remaining operation returned before its
//! call.
//! - *Lemma 7*: if only enqueues are left, the history is linearizable.
//! - *Lemma 8*: a minimal unsuccessful dequeue can be removed.
//! - *Lemmas 9 and 10*: otherwise, consider each *minimal matching pair*: a minimal enqueue, and a
//!   dequeue of the same value that is minimal among the dequeues. For one of these pairs, the
//!   history without the pair must be linearizable after the calls of some dequeues have been
//!   delayed: each remaining dequeue must come after the enqueues that the removed dequeue came
//!   after.
//! - *Lemma 12*: if the enqueue and the dequeue are the *earliest-ending* ones of their value, and
//!   the dequeue has no *conflicting unsuccessful dequeue* (definition 11), it is enough to try
//!   this pair.
//!
//! The recursion is implemented as a loop with a stack. If several pairs must be tried, the stack
//! holds these pairs and a clone of the history.
//!
//! # Departures from the paper
//! The paper's history is a linked list of calls and returns, with references by thread. Here
//! enqueues and dequeues are two lists, because the lemmas depend on two facts only: which
//! operations of a kind come first, and which enqueue was the last to return before the call of a
//! dequeue. Positions of events are doubled, so that a delayed call can be placed between a return
//! and the next event. Delaying a call does not reorder the list of dequeues: no remaining dequeue
//! returns before the call of a dequeue that is minimal among dequeues. Earliest-ending operations
//! are found in lists that are sorted by value and return.
//!
//! # Complexity
//! An iteration takes time linear in the number of operations that overlap at the front. Without
//! backtracking there are at most n iterations. In the worst case, the time is exponential.

use super::monitor::lockstep::interleave;
use super::monitor::{Answer, Input, NEVER};
use super::{Algorithm, Budget, Config};
use crate::history::History;
use crate::spec::{Spec, Standard, Taken};
use crate::verdict::Judgment;

/// Judges a history of a queue by Lowe's queue-oriented algorithm.
///
/// Each iteration counts as a configuration. The verdict on a history that the algorithm cannot
/// judge is [unknown](crate::verdict::LimitKind::Refused), with the reason.
///
/// ```
/// use trueline::history::History;
/// use trueline::judge::{Budget, queue_lowe};
/// use trueline::spec::{Queue, QueueOp, QueueRet};
///
/// let mut builder = History::builder();
/// builder.call(0, QueueOp::Enqueue(7))?;
/// builder.call(1, QueueOp::Dequeue)?;
/// builder.ret(1, QueueRet::Value(Some(7)))?;
/// builder.ret(0, QueueRet::Done)?;
/// let judgment = queue_lowe::check(&Queue::new(), &builder.finish(), &Budget::unlimited());
/// assert!(judgment.verdict.is_accepted());
/// assert_eq!(judgment.stats.backtracks, 0);
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgment<S::Ret> {
    super::check(spec, history, &Config::plain(Algorithm::QueueLowe, budget))
}

/// The amount of work of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// The number of histories that were examined, that is, the number of iterations of figure 3.
    pub(crate) iterations: u64,
    /// The number of times that the algorithm returned to an earlier choice, because the current
    /// history was not linearizable.
    pub(crate) backtracks: u64,
}

/// A number that no operation has; marks a missing operation.
const NONE: u32 = u32::MAX;

/// A linked list of the remaining operations of one kind, in the order of their calls or of their returns.
#[derive(Clone)]
struct List {
    /// The first remaining operation.
    head: u32,
    /// For each operation, the next and the previous remaining operation. Removed operations keep
    /// their links.
    next: Vec<u32>,
    previous: Vec<u32>,
}

impl List {
    fn new(count: usize) -> Self {
        let count = u32::try_from(count).expect("positions fit in 32 bits");
        let next = (1..=count).map(|next| if next == count { NONE } else { next }).collect();
        let previous = (0..count).map(|index| index.checked_sub(1).unwrap_or(NONE)).collect();
        Self { head: if count == 0 { NONE } else { 0 }, next, previous }
    }

    fn remove(&mut self, index: u32) {
        let (next, previous) = (self.next[index as usize], self.previous[index as usize]);
        match previous {
            NONE => self.head = next,
            previous => self.next[previous as usize] = next,
        }
        if next != NONE {
            self.previous[next as usize] = previous;
        }
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        let known = |index: u32| (index != NONE).then_some(index);
        std::iter::successors(known(self.head), move |index| known(self.next[*index as usize]))
    }
}

/// The operations of one kind in the whole history.
struct Operations {
    /// The indices of the operations in `Input::spans`, in the order of their calls.
    spans: Vec<u32>,
    /// The positions of the calls of these operations, doubled. `returns` holds the positions of
    /// their returns, doubled.
    calls: Vec<u32>,
    returns: Vec<u32>,
    /// The value of each operation; [`NONE`] for an unsuccessful dequeue.
    values: Vec<u32>,
    /// The operations that have a value, sorted by value and then by return. `starts` holds the
    /// index where each value starts.
    by_return: Vec<u32>,
    starts: Vec<u32>,
}

impl Operations {
    fn new(input: &Input, of_kind: impl Fn(&Standard<super::monitor::ValueId>) -> Option<u32>) -> Self {
        let spans: Vec<u32> =
            (0u32..).zip(&input.spans).filter(|(_, span)| of_kind(&span.what).is_some()).map(|(op, _)| op).collect();
        let values: Vec<u32> = spans.iter().filter_map(|op| of_kind(&input.spans[*op as usize].what)).collect();
        let calls = spans.iter().map(|op| 2 * input.spans[*op as usize].call).collect();
        let returns: Vec<u32> = spans.iter().map(|op| 2 * input.spans[*op as usize].ret).collect();
        let mut by_return: Vec<u32> = (0u32..).zip(&values).filter(|(_, v)| **v != NONE).map(|(i, _)| i).collect();
        by_return.sort_unstable_by_key(|index| (values[*index as usize], returns[*index as usize]));
        let mut starts = vec![0u32; input.values as usize + 1];
        for index in &by_return {
            starts[values[*index as usize] as usize + 1] += 1;
        }
        for value in 0..input.values as usize {
            starts[value + 1] += starts[value];
        }
        Self { spans, calls, returns, values, by_return, starts }
    }
}

/// The part of a history that is still to be judged.
#[derive(Clone)]
struct Rest {
    enqueues: List,
    dequeues: List,
    /// The enqueues in the order of their returns.
    ended: List,
    /// For each dequeue, the position of its call, which may have been delayed.
    calls: Vec<u32>,
    /// For each enqueue, whether it was removed. `dequeue_is_out` is the list for the dequeues.
    enqueue_is_out: Vec<bool>,
    dequeue_is_out: Vec<bool>,
    /// For each value, an index in `by_return`: all operations of the value before this index have
    /// been removed.
    first_enqueue: Vec<u32>,
    first_dequeue: Vec<u32>,
    /// The removed enqueues, in the order of their removal. `dequeued` is the list of the removed
    /// dequeues.
    enqueued: Vec<u32>,
    dequeued: Vec<u32>,
}

struct Lowe<'a> {
    input: &'a Input,
    enqueues: Operations,
    dequeues: Operations,
    /// The enqueues in the order of their returns. `place` holds the index of each enqueue in this
    /// order.
    ended: Vec<u32>,
    place: Vec<u32>,
    /// For each dequeue, the number of enqueues that returned before its call.
    ended_before: Vec<u32>,
    counters: Counters,
}

/// Judges a queue, and returns the answer and the amount of work. Calls `go_on` in each iteration,
/// with the number of bytes that the clones of the history will take at the end of the iteration. If
/// `go_on` returns `false`, this function returns no answer.
///
/// The conflict of a rejection is always the whole history: the algorithm does not find a smaller one.
pub(crate) fn judge(input: &Input, go_on: &mut dyn FnMut(usize) -> bool) -> (Option<Answer>, Counters) {
    for span in &input.spans {
        let refused = match span.what {
            _ if span.ret == NEVER => "it has operations that never returned",
            Standard::Enqueue(_) | Standard::Dequeue(Taken::Value(_) | Taken::Nothing) => continue,
            Standard::Dequeue(Taken::Unknown) => "some operations returned an unknown result",
            Standard::Front(_) => "some operations read a value without removing it, such as peek",
            _ => "the algorithm does not support some of the operations",
        };
        return (Some(Answer::Refused(refused)), Counters::default());
    }
    if input.events >= NEVER / 2 {
        return (Some(Answer::Refused("there are too many events")), Counters::default());
    }
    let mut lowe = Lowe::new(input);
    let answer = lowe.run(go_on);
    (answer, lowe.counters)
}

impl<'a> Lowe<'a> {
    fn new(input: &'a Input) -> Self {
        let enqueues = Operations::new(input, |what| match what {
            Standard::Enqueue(value) => Some(value.0),
            _ => None,
        });
        let dequeues = Operations::new(input, |what| match what {
            Standard::Dequeue(Taken::Value(value)) => Some(value.0),
            Standard::Dequeue(Taken::Nothing) => Some(NONE),
            _ => None,
        });
        let mut ended: Vec<u32> = (0..).take(enqueues.spans.len()).collect();
        ended.sort_unstable_by_key(|enqueue| enqueues.returns[*enqueue as usize]);
        let mut place = vec![0; ended.len()];
        for (at, enqueue) in (0..).zip(&ended) {
            place[*enqueue as usize] = at;
        }
        // The calls of the dequeues are in increasing order, so one pass over the enqueues is
        // enough.
        let mut before = 0usize;
        let ended_before = dequeues
            .calls
            .iter()
            .map(|call| {
                while ended.get(before).is_some_and(|enqueue| enqueues.returns[*enqueue as usize] < *call) {
                    before += 1;
                }
                u32::try_from(before).expect("positions fit in 32 bits")
            })
            .collect();
        Self { input, enqueues, dequeues, ended, place, ended_before, counters: Counters::default() }
    }

    fn run(&mut self, go_on: &mut dyn FnMut(usize) -> bool) -> Option<Answer> {
        let mut rest = Rest {
            enqueues: List::new(self.enqueues.spans.len()),
            dequeues: List::new(self.dequeues.spans.len()),
            ended: List::new(self.ended.len()),
            calls: self.dequeues.calls.clone(),
            enqueue_is_out: vec![false; self.enqueues.spans.len()],
            dequeue_is_out: vec![false; self.dequeues.spans.len()],
            first_enqueue: self.enqueues.starts.clone(),
            first_dequeue: self.dequeues.starts.clone(),
            enqueued: Vec::new(),
            dequeued: Vec::new(),
        };
        // Lists of pairs that are still to be tried, each in reverse order and with the history
        // from which one of its pairs is to be removed.
        let mut stack: Vec<(Rest, Vec<(u32, u32)>)> = Vec::new();
        let bytes = rest.bytes();
        loop {
            // An iteration makes at most one clone.
            if !go_on((stack.len() + 1) * bytes) {
                return None;
            }
            self.counters.iterations += 1;
            // Lemma 7: only enqueues are left.
            if rest.dequeues.head == NONE {
                return Some(Answer::Accepted(self.witness(&rest)));
            }
            // Lemma 8: a minimal unsuccessful dequeue.
            if let Some(dequeue) = self.minimal_unsuccessful(&rest) {
                rest.take_out_dequeue(dequeue);
                continue;
            }
            let (enqueues, dequeues) = (self.minimal_enqueues(&rest), self.minimal_dequeues(&rest));
            // Lemma 12: if a pair is earliest-ending and has no conflicting unsuccessful dequeue,
            // the other pairs need not be tried.
            if let Some((enqueue, dequeue)) = self.sure_pair(&mut rest, &enqueues, &dequeues) {
                self.take_out(&mut rest, enqueue, dequeue);
                continue;
            }
            // Lemmas 9 and 10: the history is linearizable if and only if, for at least one of
            // these pairs, the history that `take_out` leaves is linearizable.
            let matches = |e: &u32, d: &u32| self.enqueues.values[*e as usize] == self.dequeues.values[*d as usize];
            let mut pairs: Vec<(u32, u32)> =
                enqueues.iter().flat_map(|e| dequeues.iter().filter(|d| matches(e, d)).map(|d| (*e, *d))).collect();
            pairs.reverse();
            if let Some((enqueue, dequeue)) = pairs.pop() {
                if !pairs.is_empty() {
                    stack.push((rest.clone(), pairs));
                }
                self.take_out(&mut rest, enqueue, dequeue);
                continue;
            }
            // The current history is not linearizable: backtrack to the last choice.
            let Some((before, mut pairs)) = stack.pop() else {
                let all = 0..u32::try_from(self.input.spans.len()).expect("positions fit in 32 bits");
                return Some(Answer::Rejected(all.collect()));
            };
            self.counters.backtracks += 1;
            let (enqueue, dequeue) = pairs.pop().expect("empty lists of pairs are removed");
            if pairs.is_empty() {
                rest = before;
            } else {
                rest = before.clone();
                stack.push((before, pairs));
            }
            self.take_out(&mut rest, enqueue, dequeue);
        }
    }

    /// Returns the position of the first return of a remaining enqueue.
    fn first_enqueue_return(&self, rest: &Rest) -> u32 {
        match rest.ended.head {
            NONE => NEVER,
            place => self.enqueues.returns[self.ended[place as usize] as usize],
        }
    }

    /// Returns the dequeues that are minimal among the dequeues: no other remaining dequeue
    /// returned before their calls.
    fn minimal_dequeues(&self, rest: &Rest) -> Vec<u32> {
        let mut first = NEVER;
        let mut minimal = Vec::new();
        for dequeue in rest.dequeues.iter() {
            // Recorded calls give the same result as delayed calls, because every delayed call
            // still comes before the first return of a remaining dequeue.
            if self.dequeues.calls[dequeue as usize] > first {
                break;
            }
            first = first.min(self.dequeues.returns[dequeue as usize]);
            minimal.push(dequeue);
        }
        minimal.retain(|dequeue| self.dequeues.calls[*dequeue as usize] < first);
        minimal
    }

    /// Returns a minimal unsuccessful dequeue: no remaining operation returned before its call.
    fn minimal_unsuccessful(&self, rest: &Rest) -> Option<u32> {
        let first = self.first_enqueue_return(rest);
        self.minimal_dequeues(rest)
            .into_iter()
            .find(|d| self.dequeues.values[*d as usize] == NONE && rest.calls[*d as usize] < first)
    }

    /// Returns the minimal enqueues: no remaining operation returned before their calls.
    fn minimal_enqueues(&self, rest: &Rest) -> Vec<u32> {
        let returns = self.minimal_dequeues(rest).into_iter().map(|d| self.dequeues.returns[d as usize]);
        let first = returns.min().unwrap_or(NEVER).min(self.first_enqueue_return(rest));
        rest.enqueues.iter().take_while(|e| self.enqueues.calls[*e as usize] < first).collect()
    }

    /// Returns an earliest-ending minimal matching pair without a conflicting unsuccessful dequeue.
    fn sure_pair(&self, rest: &mut Rest, enqueues: &[u32], dequeues: &[u32]) -> Option<(u32, u32)> {
        for &enqueue in enqueues {
            let value = self.enqueues.values[enqueue as usize];
            if rest.earliest_enqueue(&self.enqueues, value) != Some(enqueue) {
                continue;
            }
            let Some(dequeue) = rest.earliest_dequeue(&self.dequeues, value) else { continue };
            if dequeues.contains(&dequeue) && !self.has_conflict(rest, dequeue, dequeues) {
                return Some((enqueue, dequeue));
            }
        }
        None
    }

    /// Returns the last remaining enqueue that returned before a dequeue's call, which may have been delayed.
    fn last_enqueue_before(&self, rest: &Rest, dequeue: u32) -> Option<u32> {
        let call = rest.calls[dequeue as usize];
        let first = rest.ended.head;
        let mut place = self.ended_before[dequeue as usize].checked_sub(1)?;
        if call != self.dequeues.calls[dequeue as usize] {
            // The call was delayed to just after the return of an enqueue.
            place = u32::try_from(self.ended.partition_point(|e| self.enqueues.returns[*e as usize] < call) - 1)
                .expect("positions fit in 32 bits");
        }
        // Look backward for an enqueue that remains. All enqueues before `first` were removed, and
        // most of the removed enqueues are among them, so the loop is short.
        while first != NONE && place >= first {
            if !rest.enqueue_is_out[self.ended[place as usize] as usize] {
                return Some(self.ended[place as usize]);
            }
            place = place.checked_sub(1)?;
        }
        None
    }

    /// Returns whether definition 11 applies: an enqueue `e'` precedes `dequeue`, but there are a
    /// successful and an unsuccessful dequeue that `e'` does not precede. The later an enqueue
    /// returned, the more dequeues it does not precede. So it is enough to examine the last enqueue
    /// that precedes `dequeue`.
    fn has_conflict(&self, rest: &Rest, dequeue: u32, dequeues: &[u32]) -> bool {
        let Some(enqueue) = self.last_enqueue_before(rest, dequeue) else { return false };
        let until = self.enqueues.returns[enqueue as usize];
        // `dequeue` is minimal among the dequeues and was called after `until`. So every dequeue
        // that was called before `until` is minimal among the dequeues, too.
        let mut early = dequeues.iter().filter(|d| rest.calls[**d as usize] < until);
        let unsuccessful = |d: &&u32| self.dequeues.values[**d as usize] == NONE;
        early.clone().any(|d| unsuccessful(&d)) && early.any(|d| !unsuccessful(&d))
    }

    /// Applies the operation `h - e -D d` of the paper: removes a pair, and delays the calls of the
    /// remaining dequeues until after the returns of the enqueues that preceded `dequeue`.
    fn take_out(&self, rest: &mut Rest, enqueue: u32, dequeue: u32) {
        rest.enqueues.remove(enqueue);
        rest.ended.remove(self.place[enqueue as usize]);
        rest.enqueue_is_out[enqueue as usize] = true;
        rest.enqueued.push(enqueue);
        let last = self.last_enqueue_before(rest, dequeue);
        rest.take_out_dequeue(dequeue);
        if let Some(last) = last {
            let until = self.enqueues.returns[last as usize];
            let mut next = rest.dequeues.head;
            while next != NONE && self.dequeues.calls[next as usize] < until {
                rest.calls[next as usize] = rest.calls[next as usize].max(until + 1);
                next = rest.dequeues.next[next as usize];
            }
        }
    }

    /// Builds the linearization as in the proofs of lemmas 7, 8 and 10. The enqueues are in the
    /// order in which they were removed from the history, and so are the dequeues. The enqueues
    /// that were not removed come after the removed ones.
    fn witness(&self, rest: &Rest) -> Vec<u32> {
        let enqueues = rest.enqueued.iter().copied().chain(rest.enqueues.iter());
        let enqueues: Vec<u32> = enqueues.map(|enqueue| self.enqueues.spans[enqueue as usize]).collect();
        let dequeues: Vec<u32> = rest.dequeued.iter().map(|dequeue| self.dequeues.spans[*dequeue as usize]).collect();
        interleave(self.input, &enqueues, &dequeues)
    }
}

impl Rest {
    /// Returns the approximate number of bytes that a clone takes.
    fn bytes(&self) -> usize {
        // Two lists of enqueues and one of dequeues have two links for each operation. Each
        // operation may be in a list of removed operations, too.
        let (enqueues, dequeues) = (self.enqueue_is_out.len(), self.dequeue_is_out.len());
        let values = self.first_enqueue.len() + self.first_dequeue.len();
        size_of::<u32>() * (5 * enqueues + 4 * dequeues + values) + enqueues + dequeues
    }

    fn take_out_dequeue(&mut self, dequeue: u32) {
        self.dequeues.remove(dequeue);
        self.dequeue_is_out[dequeue as usize] = true;
        self.dequeued.push(dequeue);
    }

    /// Returns, among the remaining enqueues of a value, the one that returned first.
    fn earliest_enqueue(&mut self, enqueues: &Operations, value: u32) -> Option<u32> {
        earliest(enqueues, value, &mut self.first_enqueue, &self.enqueue_is_out)
    }

    /// Returns, among the remaining dequeues of a value, the one that returned first.
    fn earliest_dequeue(&mut self, dequeues: &Operations, value: u32) -> Option<u32> {
        earliest(dequeues, value, &mut self.first_dequeue, &self.dequeue_is_out)
    }
}

fn earliest(operations: &Operations, value: u32, first: &mut [u32], is_out: &[bool]) -> Option<u32> {
    let first = &mut first[value as usize];
    let end = operations.starts[value as usize + 1];
    while *first < end && is_out[operations.by_return[*first as usize] as usize] {
        *first += 1;
    }
    (*first < end).then(|| operations.by_return[*first as usize])
}

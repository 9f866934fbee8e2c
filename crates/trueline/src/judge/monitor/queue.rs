//! Judges FIFO queues with distinct values.
//!
//! After [tuning](super::container), value `w` must come before value `v` if the enqueue of `w` ended before that of
//! `v` began, or if an operation that saw `w` at the front ended before the last call of an operation of `v`:
//! `first_return(w) < add_call(v)` or `first_front(w) < last_call(v)`, where `first_front` is the first return of a
//! dequeue or peek. The history is linearizable if and only if this *forced order* has no cycle, and each operation
//! that found the queue empty has a gap in which no value is critical.
//!
//! *Sufficient*: take the values in an order that extends the forced order. Enqueue each value at
//! the latest of the enqueue calls of this value and the values before it; look at it and dequeue
//! it after the last calls of all values before it. If one of these points were after the return of
//! its operation, the order would not extend the forced order. Operations that found the queue
//! empty can be judged separately, by [cuts](super::container).
//!
//! **Without peeks**, if the forced order has a cycle, it also has a cycle of two values: `a` is
//! certainly enqueued before `b`, and `b` is certainly dequeued before `a` (Henzinger, Sezgin and
//! Vafeiadis have this condition in "Aspect-oriented linearizability proofs"). One sweep over the
//! events finds it.
//!
//! **With peeks**, there may be a cycle of three values but no cycle of two, so the forced order is sorted
//! topologically. Its edges are never listed: a value has no predecessor among the remaining ones if and only if its
//! enqueue was called before the earliest of their first returns, and its last call was before the earliest of the
//! *others'* first fronts. Both bounds only grow as values are taken.
//!
//! **Dequeues that never returned** and whose values are unknown are paired, in the order of their
//! calls, with unremoved values in the order of their first returns, if there are no peeks. With
//! peeks, this pairing would be incorrect, so all choices are tried, if there are few. If there are
//! many, the history is refused.
//!
//! A conflict consists of two values, or of up to three values in a cycle, or of an operation that
//! found nothing and values that cover the whole time from its call to its return.
//!
//! # Complexity
//! O(n) for n operations and events.

use super::container::{self, Container, NONE, Role, Value};
use super::{Answer, Input, ValueId};
use crate::spec::Standard;

fn role(what: &Standard<ValueId>) -> Option<Role> {
    match *what {
        Standard::Enqueue(value) => Some(Role::Add(value)),
        Standard::Dequeue(taken) => Some(Role::Remove(taken)),
        Standard::Front(taken) => Some(Role::Look(taken)),
        _ => None,
    }
}

/// Judges a queue whose values are distinct.
pub(crate) fn judge(input: &Input) -> Answer {
    match container::collect(input, role) {
        Ok(container) => {
            let in_order = !container.has_looks();
            container::complete(input, container, in_order, |container| decide(input, container))
        }
        Err(answer) => answer,
    }
}

fn decide(input: &Input, container: &Container) -> Answer {
    let cuts = match cuts(input, container) {
        Ok(cuts) => cuts,
        Err(operation) => return container.not_empty(input, operation),
    };
    if !container.has_looks() {
        if let Some(pair) = sweep(container) {
            return container.conflict(input, &pair, &[]);
        }
    }
    match topological(input, container) {
        Ok(order) => Answer::Accepted(witness(input, container, &order, &cuts)),
        Err(cycle) => container.conflict(input, &cycle, &[]),
    }
}

/// Returns, for each operation that found nothing, a gap in which no value is critical, as `(gap, operation)`, in the
/// order of the gaps.
///
/// # Errors
/// Returns the first operation that has no such gap.
fn cuts(input: &Input, container: &Container) -> Result<Vec<(u32, u32)>, u32> {
    if container.empties.is_empty() {
        return Ok(Vec::new());
    }
    let free = container.free_gaps();
    container
        .empties
        .iter()
        .map(|&operation| {
            let span = input.spans[operation as usize];
            let gap = free[span.call as usize];
            // The operations are in the order of their calls, so the gaps are in order too.
            if gap < span.ret { Ok((gap, operation)) } else { Err(operation) }
        })
        .collect()
}

/// Returns two values that conflict, if there are any: the first was certainly enqueued before the
/// second, and the second was certainly dequeued before the first.
///
/// This decides histories without peeks.
fn sweep(container: &Container) -> Option<[u32; 2]> {
    // For each position, the value whose enqueue is called there, or the value whose first return
    // (the earliest return of its operations) is there.
    let mut at = vec![NONE; container.end as usize];
    for (number, value) in container.living() {
        at[value.add_call as usize] = number;
        at[value.first_return as usize] = number;
    }
    // The maximum `last_call` of the values that have certainly been enqueued so far, and the value
    // with this last call.
    let (mut late, mut latest) = (0, NONE);
    for (position, &number) in (0..).zip(&at) {
        if number == NONE {
            continue;
        }
        let value = &container.values[number as usize];
        if position == value.first_return {
            if value.last_call >= late {
                (late, latest) = (value.last_call, number);
            }
        } else if late > value.remove_return {
            return Some([latest, number]);
        }
    }
    None
}

/// Returns the values in an order that extends the forced order, or at most three values that form
/// a cycle of the forced order.
fn topological(input: &Input, container: &Container) -> Result<Vec<u32>, Vec<u32>> {
    let mut kahn = Kahn::new(input, container);
    kahn.run();
    if kahn.order.len() == container.live { Ok(kahn.order) } else { Err(kahn.cycle()) }
}

/// The state of Kahn's algorithm, which runs on the forced order.
struct Kahn<'a> {
    values: &'a [Value],
    end: u32,
    /// For each value, its *first front*: the first return of a dequeue or peek of this value, or a
    /// position after the end if no such operation returned. Empty if the history has no peeks.
    first_front: Vec<u32>,
    /// For each position, the value whose enqueue is called there, or the value whose first return
    /// (the earliest return of its operations) is there.
    enqueued: Vec<u32>,
    /// For each position, the value whose last call is there, or the value whose first front is
    /// there.
    fronted: Vec<u32>,
    /// The values that no operation removes.
    unremoved: Vec<u32>,
    /// For each value, bit 0 is set once its enqueue is known to be early enough for the value to
    /// come next, and bit 1 is set once its last call is known to be early enough, too. [`TAKEN`]
    /// is set once the value has been taken from `order`.
    free: Vec<u8>,
    /// The position of the earliest first return of a remaining value. All earlier positions are calls, or belong to
    /// values that are taken.
    first_enqueued: usize,
    /// The position of the earliest first front of a remaining value.
    first_fronted: usize,
    /// The position of the second-earliest first front of a remaining value; updated only when it is needed.
    second_fronted: usize,
    /// The values that are ready, in the order in which they became ready. Those before index `taken` have been taken.
    order: Vec<u32>,
    taken: usize,
}

const READY: u8 = 3;
const TAKEN: u8 = 4;

impl<'a> Kahn<'a> {
    fn new(input: &Input, container: &'a Container) -> Self {
        let end = container.end;
        let mut first_front: Vec<u32> = Vec::new();
        if container.has_looks() {
            first_front.extend(container.values.iter().map(|value| value.remove_return));
            for (value, front) in first_front.iter_mut().enumerate() {
                let looks = container.looks(value).iter().map(|look| input.spans[*look as usize].ret);
                *front = looks.fold(*front, u32::min);
            }
        }
        let mut enqueued = vec![NONE; end as usize];
        let mut fronted = vec![NONE; end as usize];
        let mut unremoved = Vec::new();
        for (number, value) in container.living() {
            enqueued[value.add_call as usize] = number;
            enqueued[value.first_return as usize] = number;
            match fronted.get_mut(value.last_call as usize) {
                Some(slot) => *slot = number,
                None => unremoved.push(number),
            }
            let front = first_front.get(number as usize).copied().unwrap_or(value.remove_return);
            if let Some(slot) = fronted.get_mut(front as usize) {
                *slot = number;
            }
        }
        Self {
            values: &container.values,
            end,
            first_front,
            enqueued,
            fronted,
            unremoved,
            free: vec![0; container.values.len()],
            first_enqueued: 0,
            first_fronted: 0,
            second_fronted: 0,
            order: Vec::with_capacity(container.live),
            taken: 0,
        }
    }

    fn front(&self, value: u32) -> u32 {
        self.first_front.get(value as usize).copied().unwrap_or(self.values[value as usize].remove_return)
    }

    #[inline]
    fn allow(&mut self, value: u32, bit: u8) {
        let free = &mut self.free[value as usize];
        if *free & bit == 0 {
            *free |= bit;
            if *free == READY {
                self.order.push(value);
            }
        }
    }

    fn run(&mut self) {
        loop {
            self.look_for_enqueues();
            self.look_for_fronts();
            let Some(&value) = self.order.get(self.taken) else { return };
            self.taken += 1;
            self.free[value as usize] |= TAKEN;
        }
    }

    #[inline]
    fn is_taken(&self, value: u32) -> bool {
        self.free[value as usize] & TAKEN != 0
    }

    fn look_for_enqueues(&mut self) {
        while let Some(&value) = self.enqueued.get(self.first_enqueued) {
            if value != NONE && !self.is_taken(value) {
                if self.first_enqueued == self.values[value as usize].first_return as usize {
                    return;
                }
                self.allow(value, 1);
            }
            self.first_enqueued += 1;
        }
    }

    fn look_for_fronts(&mut self) {
        while let Some(&value) = self.fronted.get(self.first_fronted) {
            if value != NONE && !self.is_taken(value) {
                if self.first_fronted == self.front(value) as usize {
                    return self.look_for_second_front(value);
                }
                self.allow(value, 2);
            }
            self.first_fronted += 1;
        }
        for unremoved in std::mem::take(&mut self.unremoved) {
            self.allow(unremoved, 2);
        }
    }

    /// Checks the last call of `first`, which is the value with the earliest first front. A value
    /// does not wait for its own first front. So the last call of `first` is early enough if it is
    /// before the second-earliest first front.
    fn look_for_second_front(&mut self, first: u32) {
        if self.free[first as usize] & 2 != 0 {
            return;
        }
        self.second_fronted = self.second_fronted.max(self.first_fronted + 1);
        while let Some(&value) = self.fronted.get(self.second_fronted) {
            if value != NONE && !self.is_taken(value) && self.second_fronted == self.front(value) as usize {
                break;
            }
            self.second_fronted += 1;
        }
        // If no other remaining value has a first front, the bound is after the end.
        if self.second_fronted >= self.end as usize
            || (self.values[first as usize].last_call as usize) < self.second_fronted
        {
            self.allow(first, 2);
        }
    }

    /// Returns a cycle of the forced order among the remaining values.
    ///
    /// Each remaining value waits for one of at most three values: the one with the earliest first return, and the two
    /// with the earliest first fronts.
    fn cycle(&self) -> Vec<u32> {
        let waits_for = |value: u32| {
            if self.free[value as usize] & 1 == 0 {
                return self.enqueued[self.first_enqueued];
            }
            let first = self.fronted[self.first_fronted];
            if first == value { self.fronted[self.second_fronted] } else { first }
        };
        let left = (0..).zip(self.values).find(|(number, value)| value.lives() && !self.is_taken(*number));
        let mut path: Vec<u32> = left.into_iter().map(|(number, _)| number).collect();
        while let Some(&last) = path.last() {
            let next = waits_for(last);
            if let Some(start) = path.iter().position(|value| *value == next) {
                path.drain(..start);
                break;
            }
            path.push(next);
        }
        path
    }
}

/// Returns the linearization in which the values have the given order, and the queue is empty in
/// the given gaps (the *cuts*).
///
/// First, the cuts are ignored: each enqueue takes effect at the latest of the enqueue calls of its
/// value and the values before it, and each peek or dequeue comes after the last calls of all
/// values before its value. The sequence of enqueues and the sequence of peeks and dequeues both
/// move forward in time, so they can be merged, with enqueues first. Then, if there are cuts, they
/// divide the time into parts. All operations of a value go to the first part that ends with a cut
/// at or after the last call of the value, or else to the part after the last cut. [`container`]
/// explains why this is correct.
fn witness(input: &Input, container: &Container, values: &[u32], cuts: &[(u32, u32)]) -> Vec<u32> {
    let end = container.end;
    let mut order = Vec::with_capacity(input.spans.len());
    // The value of each operation in `order`. It is needed only if there are cuts.
    let mut whose = Vec::new();
    let (mut enqueues, mut enqueue_point) = (values.iter(), 0);
    let mut enqueue_until = |point: u32, order: &mut Vec<u32>, whose: &mut Vec<u32>| {
        // `enqueue_point` is the point of the last enqueue that was placed. It does not change if
        // the next enqueue is examined but not placed.
        while let Some(&number) = enqueues.as_slice().first() {
            let value = &container.values[number as usize];
            if enqueue_point.max(value.add_call) > point {
                return;
            }
            enqueue_point = enqueue_point.max(value.add_call);
            enqueues.next();
            order.push(value.add);
            whose.push(number);
        }
    };
    // The maximum `last_call` of the values so far, and the index in `order` of the first remove
    // that takes effect in the gap at the end.
    let (mut front_point, mut at_end) = (0, None);
    for &number in values {
        let value = &container.values[number as usize];
        for &look in container.looks(number as usize) {
            let point = front_point.max(value.add_call).max(input.spans[look as usize].call);
            enqueue_until(point, &mut order, &mut whose);
            order.push(look);
            whose.push(number);
        }
        front_point = front_point.max(value.last_call);
        enqueue_until(front_point, &mut order, &mut whose);
        if front_point >= end {
            at_end.get_or_insert(order.len());
        }
        if value.remove != NONE {
            order.push(value.remove);
            whose.push(number);
        }
    }
    let at_end = at_end.unwrap_or(order.len());
    if cuts.is_empty() {
        // The dequeues that take effect in the gap at the end need not have happened, so leave them
        // out.
        order.truncate(at_end);
        return order;
    }
    // For each gap, the number of earlier gaps that are cuts.
    let mut part = vec![0u32; end as usize + 1];
    for (gap, _) in cuts {
        part[*gap as usize] = 1;
    }
    let mut parts = 0;
    for slot in &mut part {
        parts += std::mem::replace(slot, parts);
    }
    // A counting sort puts the operations in the order part 0, cut 0, part 1, cut 1, and so on.
    let in_parts = order.iter().zip(&whose).enumerate().filter_map(|(place, (&operation, &number))| {
        let of_value = part[container.values[number as usize].last_call as usize];
        (place < at_end || of_value < parts).then_some((2 * of_value as usize, operation))
    });
    let in_cuts = cuts.iter().map(|(gap, operation)| (2 * part[*gap as usize] as usize + 1, *operation));
    let mut next = vec![0u32; 2 * parts as usize + 2];
    for (key, _) in in_parts.clone().chain(in_cuts.clone()) {
        next[key + 1] += 1;
    }
    for key in 0..2 * parts as usize + 1 {
        next[key + 1] += next[key];
    }
    let mut cut = vec![NONE; next[2 * parts as usize + 1] as usize];
    for (key, operation) in in_parts.chain(in_cuts) {
        cut[next[key] as usize] = operation;
        next[key] += 1;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::super::tests::container as made;
    use super::*;
    use crate::drive::Random;
    use crate::spec::{Queue, QueueOp, QueueRet};

    /// Without peeks, a history is rejected only because of two values that are certainly in the wrong order.
    #[test]
    fn the_sweep_and_the_topological_order_agree() {
        let mut random = Random::new(11);
        let mut verdicts = [0; 2];
        for number in 0..20_000 {
            let operations = if number % 200 == 0 { 2000 } else { 4 + random.below(8) };
            let call = |value: Option<u32>| value.map_or(QueueOp::Dequeue, QueueOp::Enqueue);
            let is_possible = |result: &QueueRet<u32>| *result != QueueRet::Value(None);
            let (_, input) = made::<Queue<u32>>(&Queue::new(), operations, &mut random, call, is_possible);
            let Ok(container) = container::collect(&input, role) else { continue };
            let accepted = sweep(&container).is_none();
            assert_eq!(accepted, topological(&input, &container).is_ok(), "{input:#?}");
            verdicts[usize::from(accepted)] += 1;
        }
        assert!(verdicts.iter().all(|count| *count > 500), "{verdicts:?}");
    }
}

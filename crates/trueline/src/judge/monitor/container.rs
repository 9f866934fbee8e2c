//! The common part of queues, stacks, priority queues and bags: values that are added, looked at and removed.
//!
//! The monitors of these types need each value to be added at most once. Then it is known which operations belong
//! together, and each value has at most one add, one remove and some *looks*: operations that return the value and
//! leave it in the container, such as a peek.
//!
//! **Gaps.** Gap `g` is the time just after event `g`; after the gap of the last event there is one more gap,
//! `Container::end`. An operation takes effect in one of the gaps `call..return`. Several operations may take effect in
//! the same gap, in any order.
//!
//! **Tuning.** In any linearization, the add of a value precedes every other operation on it, and its remove follows
//! them. So the add takes effect before the first of the value's operations returns, and the remove after the last of
//! them is called: the *tuned* interval of the add is `add_call..first_return`, and that of the remove is
//! `last_call..remove_return`.
//!
//! **Critical.** In each gap of `first_return..last_call` the value is in the container, in every linearization. It is
//! *critical* in these gaps.
//!
//! **Cuts.** If no value is critical in gap `g`, any linearization can be rearranged to one in which the container is
//! empty at `g`. For each value, either all operations can take effect at `g` or before it (if its last call is at most
//! `g`), or all can take effect at `g` or after it (if its first return is after `g`). The operations of the first
//! group move from their gap `p` to `min(p, g)`, those of the second group to `max(p, g)`, and in `g` the first group
//! comes first. The new order is legal, because an order stays legal if all operations of a value are removed, and
//! inside the two groups the order does not change. The same holds for several cuts at once. So an operation that found
//! the container empty needs only one thing: a gap between its call and its return in which no value is critical.
//!
//! **Operations that never returned.** A look is left out. An add is left out if no operation that returned saw its
//! value. A value that no operation removed is treated as removed in the gap at the end. If a remove of a known value
//! never returned, its interval lasts from its call to the gap at the end: using this remove can only help, because its
//! interval contains that gap. Among several such removes of a value, the one called first is used, because its
//! interval contains those of the others. For removes whose values are unknown, see [`complete`].

use super::{Answer, Input, NEVER, ValueId};
use crate::spec::{Standard, Taken};

/// Marks a missing operation or value.
pub(super) const NONE: u32 = u32::MAX;

/// The role of an operation for a container.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    Add(ValueId),
    Remove(Taken<ValueId>),
    Look(Taken<ValueId>),
}

/// A value, with the tuned intervals of its add and its remove.
///
/// [`collect`] guarantees that `add_call < first_return` and `last_call < remove_return`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    /// The operation that adds the value; [`NONE`] if the value is left out.
    pub(super) add: u32,
    /// The operation that removes the value; [`NONE`] if no operation removes it.
    pub(super) remove: u32,
    pub(super) add_call: u32,
    /// The earliest return among the operations on the value.
    pub(super) first_return: u32,
    /// The latest call among the operations on the value; `Container::end` if no operation removes
    /// the value.
    pub(super) last_call: u32,
    /// The position of the return of the remove; a position after `Container::end` if no remove of
    /// the value returned.
    pub(super) remove_return: u32,
}

impl Value {
    const ABSENT: Self =
        Self { add: NONE, remove: NONE, add_call: 0, first_return: NEVER, last_call: 0, remove_return: NEVER };

    /// Returns `true` unless the value is left out.
    #[inline]
    pub(super) fn lives(&self) -> bool {
        self.add != NONE
    }

    /// Returns whether the value is critical in some gap, that is, whether it is certainly in the
    /// container there.
    #[inline]
    pub(super) fn is_critical(&self) -> bool {
        self.first_return < self.last_call
    }
}

/// A value that no completed operation removed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unremoved {
    pub(super) value: u32,
    /// The position of the latest call among the operations on the value, not counting removes.
    last_call: u32,
}

/// The operations of a container, grouped by value.
#[derive(Clone, Debug)]
pub(super) struct Container {
    /// The gap after all events.
    pub(super) end: u32,
    /// The values, indexed by [`ValueId`].
    pub(super) values: Vec<Value>,
    /// The number of values that are not left out.
    pub(super) live: usize,
    /// For each value, the index in `looks` where its looks start. Empty if there are no looks.
    look_starts: Vec<u32>,
    /// The looks that returned a value, ordered by value and then by call.
    looks: Vec<u32>,
    /// The removes and looks that found the container empty, in the order of their calls.
    pub(super) empties: Vec<u32>,
    /// The never-returning removes whose values are unknown, in the order of their calls.
    pub(super) pending: Vec<u32>,
    /// The values that no completed operation removed, in the order of their first returns. Empty
    /// if there are no `pending` removes.
    pub(super) unremoved: Vec<Unremoved>,
}

impl Container {
    /// Returns the operations that look at a value, in the order of their calls.
    #[inline]
    pub(super) fn looks(&self, value: usize) -> &[u32] {
        match self.look_starts.get(value..value + 2) {
            Some(bounds) => &self.looks[bounds[0] as usize..bounds[1] as usize],
            None => &[],
        }
    }

    pub(super) fn has_looks(&self) -> bool {
        !self.looks.is_empty()
    }

    /// Returns the values that are not left out, each with its number.
    pub(super) fn living(&self) -> impl Iterator<Item = (u32, &Value)> + Clone {
        (0..).zip(&self.values).filter(|(_, value)| value.lives())
    }

    /// Adds to `conflict` the operations that determine the tuned intervals of `value`: its add and remove, the look
    /// that returned first and the look that was called last. The other looks do not change these intervals.
    pub(super) fn name(&self, input: &Input, value: u32, conflict: &mut Vec<u32>) {
        let Value { add, remove, .. } = self.values[value as usize];
        let looks = self.looks(value as usize);
        let first = looks.iter().copied().min_by_key(|look| input.spans[*look as usize].ret);
        let named = [Some(add), first, looks.last().copied(), Some(remove)];
        conflict.extend(named.into_iter().flatten().filter(|op| *op != NONE));
    }

    /// Returns a rejection. Its conflict consists of the given operations and of the operations
    /// that determine the tuned intervals of the given values.
    pub(super) fn conflict(&self, input: &Input, values: &[u32], operations: &[u32]) -> Answer {
        let mut conflict = operations.to_vec();
        for &value in values {
            self.name(input, value, &mut conflict);
        }
        Answer::Rejected(in_order(conflict))
    }

    /// Returns, for each gap, the first gap at or after it in which no value is critical.
    pub(super) fn free_gaps(&self) -> Vec<u32> {
        // The vector is reused. For each gap, it first holds by how much the number of critical
        // values changes there, then this number, and finally the result.
        let mut gaps = vec![0u32; self.end as usize + 1];
        for value in self.values.iter().filter(|value| value.lives() && value.is_critical()) {
            gaps[value.first_return as usize] = gaps[value.first_return as usize].wrapping_add(1);
            gaps[value.last_call as usize] = gaps[value.last_call as usize].wrapping_sub(1);
        }
        let mut depth = 0u32;
        for gap in &mut gaps {
            depth = depth.wrapping_add(*gap);
            *gap = depth;
        }
        let mut free = self.end;
        for (gap, slot) in (0..=self.end).rev().zip(gaps.iter_mut().rev()) {
            if *slot == 0 {
                free = gap;
            }
            *slot = free;
        }
        gaps
    }

    /// Returns as few values as possible that cover the gaps `from..until`: in each of these gaps,
    /// at least one of the returned values is critical. Considers only values for which `among`
    /// returns `true`. Returns `None` if these values leave a gap uncovered.
    pub(super) fn cover(&self, from: u32, until: u32, among: impl Fn(u32) -> bool) -> Option<Vec<u32>> {
        let mut starts = vec![NONE; until as usize];
        for (number, value) in self.living() {
            if value.is_critical() && value.first_return < until && among(number) {
                starts[value.first_return as usize] = number;
            }
        }
        let mut chain = Vec::new();
        let (mut best, mut reach, mut next) = (NONE, 0, from);
        for (gap, &number) in (0..).zip(&starts) {
            if number != NONE && self.values[number as usize].last_call > reach {
                best = number;
                reach = self.values[number as usize].last_call;
            }
            if gap == next {
                if reach <= gap {
                    return None;
                }
                chain.push(best);
                next = reach;
            }
        }
        Some(chain)
    }

    /// Returns the rejection for an operation that found the container empty although some value is
    /// critical in each gap from the call of this operation to its return.
    pub(super) fn not_empty(&self, input: &Input, operation: u32) -> Answer {
        let span = input.spans[operation as usize];
        let chain = self.cover(span.call, span.ret, |_| true).unwrap_or_default();
        debug_assert!(!chain.is_empty(), "every gap has a critical value");
        self.conflict(input, &chain, &[operation])
    }

    /// Assigns the remove `pending`, which never returned, to an unremoved value.
    fn assign(&mut self, input: &Input, unremoved: Unremoved, pending: u32) {
        let value = &mut self.values[unremoved.value as usize];
        value.remove = pending;
        value.last_call = unremoved.last_call.max(input.spans[pending as usize].call);
    }
}

/// Sorts the operations by value, and tunes the values.
///
/// # Errors
/// Returns the answer of the monitor if it is already known: refused if a value is added twice or
/// an operation does not belong to this kind of container; rejected if the operations of one value
/// contradict each other.
///
/// # Complexity
/// O(n) for n operations and values.
pub(super) fn collect(input: &Input, role: impl Fn(&Standard<ValueId>) -> Option<Role>) -> Result<Container, Answer> {
    if input.events >= NEVER - 1 {
        return Err(Answer::Refused("there are too many events"));
    }
    let mut values = vec![Value::ABSENT; input.values as usize];
    let (mut empties, mut pending, mut looks) = (Vec::new(), Vec::new(), 0usize);
    // A value that is removed twice, and its two removes.
    let mut twice: Option<(u32, [u32; 2])> = None;
    for (op, span) in (0u32..).zip(&input.spans) {
        let returned = span.ret != NEVER;
        let role = role(&span.what).ok_or(Answer::Refused("the algorithm does not support some of the operations"))?;
        match role {
            Role::Add(id) => {
                let value = &mut values[id.index()];
                if value.lives() {
                    return Err(Answer::Refused("the same value is added twice"));
                }
                value.add = op;
                value.add_call = span.call;
                value.first_return = value.first_return.min(span.ret);
                value.last_call = value.last_call.max(span.call);
            }
            Role::Remove(Taken::Value(id)) => {
                let value = &mut values[id.index()];
                // `remove_return` is `NEVER` until a remove that returned is found.
                if returned {
                    if value.remove_return != NEVER {
                        twice.get_or_insert((id.0, [value.remove, op]));
                    }
                    value.remove = op;
                    value.remove_return = span.ret;
                    value.first_return = value.first_return.min(span.ret);
                    value.last_call = value.last_call.max(span.call);
                } else if value.remove == NONE {
                    value.remove = op;
                }
            }
            Role::Look(Taken::Value(id)) if returned => {
                let value = &mut values[id.index()];
                value.first_return = value.first_return.min(span.ret);
                value.last_call = value.last_call.max(span.call);
                looks += 1;
            }
            Role::Remove(Taken::Nothing) | Role::Look(Taken::Nothing) if returned => empties.push(op),
            Role::Remove(Taken::Unknown) | Role::Look(Taken::Unknown) if returned => {
                return Err(Answer::Refused("some operations returned an unknown result"));
            }
            Role::Remove(Taken::Unknown) => pending.push(op),
            Role::Remove(Taken::Nothing) | Role::Look(_) => {}
        }
    }
    if let Some((value, [first, second])) = twice {
        let add = values[value as usize].add;
        return Err(Answer::Rejected(if add == NONE { vec![first] } else { in_order(vec![add, first, second]) }));
    }
    let mut container = Container {
        end: input.events,
        values,
        live: 0,
        look_starts: Vec::new(),
        looks: Vec::new(),
        empties,
        pending,
        unremoved: Vec::new(),
    };
    container.tune(input, &role)?;
    if looks > 0 {
        container.sort_looks(input, &role);
    }
    Ok(container)
}

/// Returns the operations without duplicates, in the order of their calls.
fn in_order(mut operations: Vec<u32>) -> Vec<u32> {
    operations.sort_unstable();
    operations.dedup();
    operations
}

impl Container {
    fn tune(&mut self, input: &Input, role: &impl Fn(&Standard<ValueId>) -> Option<Role>) -> Result<(), Answer> {
        let end = self.end;
        for number in 0..self.values.len() {
            let value = &mut self.values[number];
            if !value.lives() {
                if value.first_return != NEVER {
                    return Err(self.contradiction(input, role, number));
                }
                continue;
            }
            if input.spans[value.add as usize].ret == NEVER && value.first_return == NEVER {
                value.add = NONE;
                continue;
            }
            if value.remove_return == NEVER {
                if !self.pending.is_empty() {
                    #[expect(clippy::cast_possible_truncation, reason = "the number of values fits in 32 bits")]
                    self.unremoved.push(Unremoved { value: number as u32, last_call: value.last_call });
                }
                value.last_call = match value.remove {
                    NONE => end,
                    remove => value.last_call.max(input.spans[remove as usize].call),
                };
                value.remove_return = end + 1;
            }
            if value.first_return < value.add_call || value.remove_return < value.last_call {
                return Err(self.contradiction(input, role, number));
            }
            self.live += 1;
        }
        let values = &self.values;
        self.unremoved.sort_unstable_by_key(|unremoved| values[unremoved.value as usize].first_return);
        Ok(())
    }

    /// Returns the conflict of one value whose operations contradict each other: the value is seen
    /// but never added, seen before it is added, or seen after it is removed.
    fn contradiction(
        &self,
        input: &Input,
        role: &impl Fn(&Standard<ValueId>) -> Option<Role>,
        number: usize,
    ) -> Answer {
        let Value { add, remove, add_call, first_return, last_call, remove_return } = self.values[number];
        let of_value = |op: &u32| {
            let id = match role(&input.spans[*op as usize].what) {
                Some(Role::Add(id) | Role::Remove(Taken::Value(id)) | Role::Look(Taken::Value(id))) => id,
                _ => return false,
            };
            id.index() == number && input.spans[*op as usize].ret != NEVER
        };
        let operations = 0..u32::try_from(input.spans.len()).expect("positions fit in 32 bits");
        let mut seen = operations.filter(of_value);
        let conflict = if add == NONE {
            seen.find(|op| input.spans[*op as usize].ret == first_return).into_iter().collect()
        } else if first_return < add_call {
            let first = seen.find(|op| input.spans[*op as usize].ret == first_return);
            [Some(add), first].into_iter().flatten().collect()
        } else {
            debug_assert!(remove_return < last_call, "no other contradiction is possible for one value");
            // Include the add: without it, the remove would be rejected for another reason, because its value was never
            // added.
            let last = seen.find(|op| input.spans[*op as usize].call == last_call);
            [Some(add), Some(remove), last].into_iter().flatten().collect()
        };
        Answer::Rejected(in_order(conflict))
    }

    fn sort_looks(&mut self, input: &Input, role: &impl Fn(&Standard<ValueId>) -> Option<Role>) {
        let looks =
            (0u32..).zip(&input.spans).filter(|(_, span)| span.ret != NEVER).filter_map(|(op, span)| {
                match role(&span.what) {
                    Some(Role::Look(Taken::Value(id))) => Some((op, id)),
                    _ => None,
                }
            });
        let mut starts = vec![0u32; self.values.len() + 1];
        for (_, id) in looks.clone() {
            starts[id.index() + 1] += 1;
        }
        for value in 0..self.values.len() {
            starts[value + 1] += starts[value];
        }
        self.looks = vec![0; starts[self.values.len()] as usize];
        let mut next = starts.clone();
        for (op, id) in looks {
            self.looks[next[id.index()] as usize] = op;
            next[id.index()] += 1;
        }
        self.look_starts = starts;
    }
}

/// If the values of some removes are unknown, all choices of these values are tried only if the
/// number of choices times the number of operations is at most this number.
const MOST_WORK: usize = 1 << 21;

/// Judges a container with removes whose values are unknown, by choosing the values that they took.
///
/// Each of these removes took a value that no other operation removed, or did not take effect. A
/// value that is not assigned to one of these removes counts as removed in the gap at the end; a
/// value that is assigned to one can also be removed earlier. So as many of these removes as
/// possible are assigned to values. Which remove takes which value depends on the type:
/// - With `pair_in_order`, the removes in the order of their calls take the values in the order of
///   their first returns. For a queue without looks and for a bag, this loses no linearization (the
///   modules of these monitors explain why). The exception is a value with a never-returning remove
///   of its own, which may be called between the other removes: if there is such a value, all
///   choices are tried.
/// - Otherwise all choices are tried, if they are few.
///
/// A conflict that depends on the choice contains the operations of all unremoved values and all pending removes, so
/// that the history of the conflict leaves the same choices as the whole history.
///
/// # Complexity
/// If there is only one choice, the complexity of `decide`. If all choices are tried, `decide`
/// judges at most [`MOST_WORK`] operations in total.
pub(super) fn complete(
    input: &Input,
    mut container: Container,
    pair_in_order: bool,
    decide: impl Fn(&Container) -> Answer,
) -> Answer {
    let (pending, unremoved) = (container.pending.clone(), container.unremoved.clone());
    if pending.is_empty() || unremoved.is_empty() {
        return decide(&container);
    }
    let is_known = |unremoved: &Unremoved| container.values[unremoved.value as usize].remove != NONE;
    let any_known = unremoved.iter().any(is_known);
    if pair_in_order && !any_known {
        for (&unremoved, &pending) in unremoved.iter().zip(&pending) {
            container.assign(input, unremoved, pending);
        }
        let answer = decide(&container);
        return match answer {
            Answer::Rejected(conflict) => {
                let mut is_unremoved = vec![false; input.spans.len()];
                for unremoved in &unremoved {
                    is_unremoved[container.values[unremoved.value as usize].add as usize] = true;
                }
                if conflict.iter().any(|op| is_unremoved[*op as usize]) {
                    container.with_choice(input, &[conflict])
                } else {
                    Answer::Rejected(conflict)
                }
            }
            answer => answer,
        };
    }
    let choices = if any_known {
        pending.iter().try_fold(1usize, |choices, _| choices.checked_mul(unremoved.len() + 1))
    } else {
        let (less, more) = (pending.len().min(unremoved.len()), pending.len().max(unremoved.len()));
        (0..less).try_fold(1usize, |choices, used| choices.checked_mul(more - used))
    };
    if choices.and_then(|choices| choices.checked_mul(input.spans.len())).is_none_or(|work| work > MOST_WORK) {
        return Answer::Refused("there are too many ways to choose results for the removes that never returned");
    }
    let mut choice = Choice { input, pending, used: vec![false; unremoved.len()], unremoved, conflicts: Vec::new() };
    match choice.try_all(&container, 0, &decide) {
        Some(answer) => answer,
        None => container.with_choice(input, &choice.conflicts),
    }
}

impl Container {
    /// Returns a rejection. Its conflict consists of the given conflicts and of the operations on
    /// which the choices depend.
    fn with_choice(&self, input: &Input, conflicts: &[Vec<u32>]) -> Answer {
        let mut conflict = conflicts.concat();
        conflict.extend(&self.pending);
        for unremoved in &self.unremoved {
            self.name(input, unremoved.value, &mut conflict);
        }
        Answer::Rejected(in_order(conflict))
    }
}

/// Tries all assignments of unremoved values to pending removes.
struct Choice<'a> {
    input: &'a Input,
    pending: Vec<u32>,
    unremoved: Vec<Unremoved>,
    /// For each value in `unremoved`, whether the current choice assigns it to a pending remove.
    used: Vec<bool>,
    /// For each choice that was tried so far, the conflict that rejects it.
    conflicts: Vec<Vec<u32>>,
}

impl Choice<'_> {
    /// Tries all choices for the pending removes from `next` on. Returns the first answer that is not a rejection.
    fn try_all(
        &mut self,
        container: &Container,
        next: usize,
        decide: &impl Fn(&Container) -> Answer,
    ) -> Option<Answer> {
        let Some(&pending) = self.pending.get(next) else {
            let is_left = |place: usize| {
                !self.used[place] && container.values[self.unremoved[place].value as usize].remove == NONE
            };
            if self.used.iter().filter(|used| **used).count() < self.pending.len() && (0..self.used.len()).any(is_left)
            {
                // In this choice, a pending remove takes no value, although a value is still
                // unassigned. Skip the choice: another choice assigns the value to this remove.
                return None;
            }
            return match decide(container) {
                Answer::Rejected(conflict) => {
                    self.conflicts.push(conflict);
                    None
                }
                answer => Some(answer),
            };
        };
        for place in 0..self.unremoved.len() {
            if self.used[place] {
                continue;
            }
            let mut assigned = container.clone();
            assigned.assign(self.input, self.unremoved[place], pending);
            self.used[place] = true;
            let answer = self.try_all(&assigned, next + 1, decide);
            self.used[place] = false;
            if answer.is_some() {
                return answer;
            }
        }
        self.try_all(container, next + 1, decide)
    }
}

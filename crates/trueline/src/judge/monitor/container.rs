//! The common part of queues, stacks, priority queues and bags: values that are added, looked at and removed.
//!
//! The monitors of these types need each value to be added at most once. Then it is known which operations belong
//! together, and each value has at most one add, one remove and some *looks*: operations that return the value and
//! leave it in the container, such as a peek.
//!
//! **Gaps.** Gap `g` is the time just after event `g`; after the last event there is one more, `Container::end`. An
//! operation takes effect in one of the gaps `call..return`. Several operations may take effect in the same gap, in any
//! order.
//!
//! **Tuning.** The add of a value precedes, and its remove follows, every other operation on it. So the add has taken
//! effect when the first of the value's operations returns, and the remove cannot take effect before the last is
//! called.
//!
//! **Critical.** From that first return up to that last call the value is in the container, in every linearization.
//!
//! **Cuts.** If no value is critical in gap `g`, any linearization can be rearranged to one in which the container is
//! empty at `g`: all operations of a value can either take effect before `g` (last call at most `g`) or after it (first
//! return after `g`). The former go first, at `min(point, g)`, the latter second, at `max(point, g)`. This is legal,
//! because an order stays legal if all operations of a value are removed, and inside the two groups the order does not
//! change. The same holds for several cuts at once. So an operation that found the container empty needs a gap of its
//! own in which no value is critical, and that is all it needs.
//!
//! **Operations that never returned.** A look is left out. An add is left out if no operation that returned saw its
//! value. A value that no operation removed is removed in the gap at the end. A remove of a known value that never
//! returned is an interval that ends there too: it can only help, because its interval contains the gap at the end. Of
//! several such removes, the interval of the one called first contains the others. For removes whose values are
//! unknown, see [`complete`].

use super::{Answer, Input, NEVER, ValueId};
use crate::spec::{Standard, Taken};

/// A number that stands for no operation or no value.
pub(super) const NONE: u32 = u32::MAX;

/// The role of an operation for a container.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    Add(ValueId),
    Remove(Taken<ValueId>),
    Look(Taken<ValueId>),
}

/// A value, after tuning.
///
/// Once [collected](collect), `add_call < first_return` and `last_call < remove_return`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    /// The operation that adds the value; [`NONE`] if the value is left out.
    pub(super) add: u32,
    /// The operation that removes the value; [`NONE`] if there is none.
    pub(super) remove: u32,
    pub(super) add_call: u32,
    /// The first return of any of its operations.
    pub(super) first_return: u32,
    /// The last call of any of its operations; the end if it is not removed.
    pub(super) last_call: u32,
    /// The return of the remove; a position after the end of the history if the value is not removed.
    pub(super) remove_return: u32,
}

impl Value {
    const ABSENT: Self =
        Self { add: NONE, remove: NONE, add_call: 0, first_return: NEVER, last_call: 0, remove_return: NEVER };

    /// Returns whether the value counts, that is, is not left out.
    #[inline]
    pub(super) fn lives(&self) -> bool {
        self.add != NONE
    }

    /// Returns whether there are gaps, `first_return..last_call`, in which the value is certainly in the container.
    #[inline]
    pub(super) fn is_critical(&self) -> bool {
        self.first_return < self.last_call
    }
}

/// A value that was not removed by any operation that returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unremoved {
    pub(super) value: u32,
    /// The position of the last call among its operations, except for a remove.
    last_call: u32,
}

/// The operations of a container, by value.
#[derive(Clone, Debug)]
pub(super) struct Container {
    /// The gap after all events.
    pub(super) end: u32,
    /// The values, by [`ValueId`].
    pub(super) values: Vec<Value>,
    /// The number of values that are not left out.
    pub(super) live: usize,
    /// For each value, where its looks start in `looks`. Empty if there are no looks.
    look_starts: Vec<u32>,
    /// The looks that returned a value, ordered by value and then by call.
    looks: Vec<u32>,
    /// The removes and looks that found nothing, in the order of their calls.
    pub(super) empties: Vec<u32>,
    /// The never-returning removes whose values are unknown, in the order of their calls.
    pub(super) pending: Vec<u32>,
    /// The unremoved values in the order of their first returns; listed only if there are `pending` removes.
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

    /// Returns the values that are not left out, with their numbers.
    pub(super) fn living(&self) -> impl Iterator<Item = (u32, &Value)> + Clone {
        (0..).zip(&self.values).filter(|(_, value)| value.lives())
    }

    /// Adds the operations that determine the intervals of `value`: its add and remove, the look that returned first
    /// and the look that was called last. Without its other looks, the value is tuned to the same intervals.
    pub(super) fn name(&self, input: &Input, value: u32, conflict: &mut Vec<u32>) {
        let Value { add, remove, .. } = self.values[value as usize];
        let looks = self.looks(value as usize);
        let first = looks.iter().copied().min_by_key(|look| input.spans[*look as usize].ret);
        let named = [Some(add), first, looks.last().copied(), Some(remove)];
        conflict.extend(named.into_iter().flatten().filter(|op| *op != NONE));
    }

    /// Returns the conflict of these values and operations.
    pub(super) fn conflict(&self, input: &Input, values: &[u32], operations: &[u32]) -> Answer {
        let mut conflict = operations.to_vec();
        for &value in values {
            self.name(input, value, &mut conflict);
        }
        Answer::Rejected(in_order(conflict))
    }

    /// Returns, for each gap, the first gap from it on in which no value is critical.
    pub(super) fn free_gaps(&self) -> Vec<u32> {
        // The vector holds first the change of depth at each gap, then the depth, then the result.
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

    /// Returns as few values of `among` as possible such that in each of the gaps `from..until` at least one of them is
    /// critical. Returns `None` if in some gap none is.
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

    /// Returns the conflict of an operation that found nothing although, in each gap from its call to its return, some
    /// value is critical.
    pub(super) fn not_empty(&self, input: &Input, operation: u32) -> Answer {
        let span = input.spans[operation as usize];
        let chain = self.cover(span.call, span.ret, |_| true).unwrap_or_default();
        debug_assert!(!chain.is_empty(), "there is a gap in which no value is critical");
        self.conflict(input, &chain, &[operation])
    }

    /// Gives an unremoved value the remove `pending`, which never returned.
    fn assign(&mut self, input: &Input, unremoved: Unremoved, pending: u32) {
        let value = &mut self.values[unremoved.value as usize];
        value.remove = pending;
        value.last_call = unremoved.last_call.max(input.spans[pending as usize].call);
    }
}

/// Sorts the operations by value, and tunes the values.
///
/// # Errors
/// Returns the answer if it is already known: refused if a value is added twice or an operation does not belong to this
/// kind of container; rejected if the operations of one value contradict each other.
///
/// # Complexity
/// O(n) for n operations and values.
pub(super) fn collect(input: &Input, role: impl Fn(&Standard<ValueId>) -> Option<Role>) -> Result<Container, Answer> {
    if input.events >= NEVER - 1 {
        return Err(Answer::Refused("it has too many events"));
    }
    let mut values = vec![Value::ABSENT; input.values as usize];
    let (mut empties, mut pending, mut looks) = (Vec::new(), Vec::new(), 0usize);
    // A value that is removed twice, and its two removes.
    let mut twice: Option<(u32, [u32; 2])> = None;
    for (op, span) in (0u32..).zip(&input.spans) {
        let returned = span.ret != NEVER;
        let role = role(&span.what).ok_or(Answer::Refused("it has operations that the algorithm does not support"))?;
        match role {
            Role::Add(id) => {
                let value = &mut values[id.index()];
                if value.lives() {
                    return Err(Answer::Refused("a value is added twice"));
                }
                value.add = op;
                value.add_call = span.call;
                value.first_return = value.first_return.min(span.ret);
                value.last_call = value.last_call.max(span.call);
            }
            Role::Remove(Taken::Value(id)) => {
                let value = &mut values[id.index()];
                // `remove_return` is `NEVER` as long as no remove that returned is known.
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
                return Err(Answer::Refused("an operation returned, but its result is not known"));
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

/// Returns each operation once, in the order of calls.
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

    /// Returns the conflict of one value whose operations contradict each other: it is seen but never added, seen
    /// before it is added, or seen after it is removed.
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
            debug_assert!(remove_return < last_call, "a single value cannot violate anything else");
            // Include the add: without it, the remove alone would be rejected, but for another reason.
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

/// The maximum amount of work to try every choice: the number of choices times the number of operations.
const MOST_WORK: usize = 1 << 21;

/// Judges a container with removes whose values are unknown, by choosing the values that they took.
///
/// Each of these removes took a value that no other operation removed, or nothing at all. A value that is removed by
/// one of them, rather than at the end, has a longer interval for its remove, so as many of them are used as possible.
/// Which remove took which value depends on the type:
/// - `pair_in_order`: in the order of their calls, they took the values in the order of first returns. For a queue
///   without looks and for a bag, this loses no linearization (the arguments are with those monitors), unless such a
///   value has a known remove of its own that never returned, with a call in between.
/// - Otherwise all choices are tried, if they are few.
///
/// A conflict that depends on the choice contains all unremoved values and all pending removes: restricted to these,
/// the choices are the same.
///
/// # Complexity
/// The complexity of `decide` with one choice; with all choices, at most [`MOST_WORK`] operations are looked at.
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
        return Answer::Refused("there are too many possible results of the removes that never returned");
    }
    let mut choice = Choice { input, pending, used: vec![false; unremoved.len()], unremoved, conflicts: Vec::new() };
    match choice.try_all(&container, 0, &decide) {
        Some(answer) => answer,
        None => container.with_choice(input, &choice.conflicts),
    }
}

impl Container {
    /// Returns these conflicts, with the operations that the choices depend on.
    fn with_choice(&self, input: &Input, conflicts: &[Vec<u32>]) -> Answer {
        let mut conflict = conflicts.concat();
        conflict.extend(&self.pending);
        for unremoved in &self.unremoved {
            self.name(input, unremoved.value, &mut conflict);
        }
        Answer::Rejected(in_order(conflict))
    }
}

/// All assignments of unremoved values to pending removes.
struct Choice<'a> {
    input: &'a Input,
    pending: Vec<u32>,
    unremoved: Vec<Unremoved>,
    /// For each place in `unremoved`, whether a pending remove took the value.
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
                return None; // A pending remove and a value are left over: another choice is better.
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

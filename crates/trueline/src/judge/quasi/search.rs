//! Searches for the legal order, and at the same time builds the sequentialization, which lags a
//! few operations behind.
//!
//! Definition 4 requires a sequentialization `s'` and a legal permutation `s''` of it. The paper
//! enumerates all `s'` and all `s''`. Here, only `s''` is searched for, operation by operation,
//! among legal orders; `s'` follows from it.
//!
//! **One class.** Let the operations of a class with factor `K` be in the order of `s''`. Is there
//! a linear extension of the real-time order `<_h` in which each operation is at most `K` places
//! away from its place in `s''`? This is a scheduling problem for unit jobs on a single machine:
//! the job at position `p` may be done in places `p - K` to `p + K`, after all jobs that precede it
//! in `<_h`. So the algorithm fills one place after the other: among the jobs that may be done in a
//! place, it chooses one with the earliest deadline. The deadline of a job is set to be less than
//! that of each job that it precedes.
//!
//! *This is exact, and place `s` can be filled as soon as the positions up to `s + K` are known.*
//! Let some schedule agree with ours before place `s`, and let `y` be its job at `s`, where we
//! choose `x`; this schedule has `x` at a place `t > s`. Move `y` to the place of the first job
//! that `y` precedes, move that job to the place of the first job that it precedes, and so on while
//! these places are before `t`. The last of these jobs moves to `t`, and `x` moves to `s`. No job
//! passes a job that it precedes, and all except `x` move to later places, at most `t`. None of
//! them comes too late: `t` is at most the deadline of `x`, and no other job that moves has an
//! earlier deadline than `x`. For `y`, this holds because the algorithm chose `x`. Any other job
//! `z` that moves is preceded by `y`. If the position of `z` is known, its deadline is after that
//! of `y`. If not, its position is at least `s + K + 1`, so its deadline is at least `s + 2K + 1`,
//! while the deadline of `x` is at most `s + 2K`. So there is a schedule that agrees with ours up
//! to and including `s`.
//!
//! **Several classes.** If they are disjoint and none of them contains all operations, any linear
//! extensions of the classes can be interleaved to one of all operations. If they could not, there
//! would be a cycle whose steps are in `<_h` or in the order of a class. The cycle would contain
//! `a <_h b`, `b` before `c` in the order of a class, and `c <_h d`. Then `b` was called before `c`
//! returned, so `a <_h d`, and the cycle can be shortened until it is within one class, where no
//! cycle exists. So each class can be judged separately, and the order in time between classes does
//! not matter.
//!
//! A configuration consists of the operations that are in `s''`, the state after them, and the *waiting* operations,
//! which are in `s''` but have no place in `s'` yet, with their positions (at most `K` of each class). Configurations
//! that cannot lead to any `s'` are dropped at once: if operations that are not in `s''` precede waiting operations,
//! `s'` must have places for all of them ([`QuasiSearch::fits`]).
//!
//! **Queues.** If no class contains both enqueues and dequeues, an enqueue and a dequeue commute as
//! long as the queue is not empty. The dequeue that takes the first value must be the next of all
//! dequeues, so it is appended to `s''` at once, and no other operation is tried. Without this
//! rule, the search would try every number of enqueues with every number of dequeues.
//!
//! If no value occurs twice, more can be foreseen, because values come out in the order in which they are put in. Let
//! `w` and `v` be two dequeues of a class such that `w` returns before the calls of `2K - 1` other dequeues, all of
//! which return before `v` is called (if `K` is 0, it is enough that `w` returns before `v` is called). In `s'`, `w`
//! and `v` are at least `2K` places apart, so in `s''` `w` still comes first, and so does the enqueue of its value. So
//! `v`'s value is not put in before that of `w` ([`Foresight`]). A value that is not taken out is put in after all
//! values that are taken out. The same argument, applied to the class of enqueues, may show that the order in time
//! requires the reverse. In this case, or if a value is taken out more often than it was put in, the history is
//! rejected without a search ([`QuasiSearch::conflict`]).
//!
//! # Complexity
//! If no class can run far ahead of another, about `n 2^k` configurations times the number of
//! orders of `K` operations, with O(K^2 + k) work for each configuration, where `k` operations are
//! open at a time. If there are several classes and the object is not a queue, `n` may become
//! `n^2`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::search::automaton::{Automaton, NextStates};
use super::super::search::{Meter, StateId};
use super::seen::VisitedSet;
use super::task::{NEVER, QuasiFound, QuasiTask, Queue, Role, Why};
use crate::verdict::LimitKind;

/// A class: its order in `s''`, its order in `s'`, and its operations that are in `s''` but not in
/// `s'`.
struct Class {
    factor: usize,
    permuted: Vec<u32>,
    order: Vec<u32>,
    /// The operations that are in `s''` but not in `s'`, in the order of `s''`.
    waiting: Vec<u32>,
    /// The operations of the class, in the order of their calls.
    members: Vec<u32>,
}

struct QuasiSearch<'t> {
    task: &'t QuasiTask,
    /// The classes. The last entry holds the operations that are in no class.
    classes: Vec<Class>,
    /// For each operation, its index in `classes`.
    class: Vec<usize>,
    /// For each operation, its position in `s''` within its class.
    position: Vec<u32>,
    /// For each operation, its index in the `members` of its class.
    rank: Vec<u32>,
    is_placed: Vec<bool>,
    /// The operations that are not in `s''`, in the order of their calls, as a doubly linked ring
    /// for each class. The entries that follow those of the operations are the heads of the rings.
    next: Vec<u32>,
    previous: Vec<u32>,
    /// The order `s''`.
    permuted: Vec<u32>,
    /// The number of operations that must be in `s''` and are not in `s''` yet.
    must: usize,
    /// For a queue, the number of values in the queue. `takes` is the number of operations that are
    /// not in `s''` yet and must take a value out or find the queue empty.
    holds: usize,
    takes: usize,
    foresight: Option<Foresight>,
    seen: VisitedSet,
    key: Vec<u32>,
}

/// For each value of a queue, determines which other values must be put in before it.
struct Foresight {
    /// For each put, the position of the return of the operation that takes the value out;
    /// [`NEVER`] if no operation takes the value out, or if that operation need not take effect.
    due: Vec<u32>,
    /// For each put, a position: every value whose `due` is before this position must be put in
    /// before the value of this put.
    until: Vec<u32>,
    /// The puts that are not in `s''` and whose values must be taken out, ordered by `due`, as a
    /// doubly linked ring. The entry that follows those of the operations is the head of the ring.
    next: Vec<u32>,
    previous: Vec<u32>,
}

impl Foresight {
    /// Returns the order of the puts as far as it can be foreseen, or `None` if nothing can be
    /// foreseen.
    fn new(task: &QuasiTask, queue: &Queue) -> Option<Self> {
        let taken_by = queue.taken_by.as_ref()?;
        let mut takes = task.operations().filter(|op| queue.roles[*op as usize] == Role::Takes);
        let class = task.class[takes.next()? as usize]?;
        if takes.any(|op| task.class[op as usize] != Some(class)) {
            return None;
        }
        let bounds = bounds(task, class, between(task.factors[class as usize]));
        let puts = || task.operations().filter(|op| queue.roles[*op as usize] == Role::Puts);
        let (mut due, mut until) = (vec![NEVER; task.len()], vec![NEVER; task.len()]);
        for put in puts() {
            if let Some(taken) = taken_by[put as usize] {
                due[put as usize] = task.returns[taken as usize];
                // If the value need not be taken out, it may be put in at any time.
                until[put as usize] = if task.must(taken) { bounds[taken as usize] } else { 0 };
            }
        }
        let mut by_due: Vec<u32> = puts().filter(|put| due[*put as usize] != NEVER).collect();
        by_due.sort_by_key(|put| due[*put as usize]);
        let ring = number_of(task.len());
        let (mut next, mut previous) = (vec![ring; task.len() + 1], vec![ring; task.len() + 1]);
        for (one, other) in
            std::iter::once(ring).chain(by_due.iter().copied()).zip(by_due.iter().copied().chain([ring]))
        {
            next[one as usize] = other;
            previous[other as usize] = one;
        }
        Some(Self { due, until, next, previous })
    }

    /// Returns whether a value whose put is not in `s''` yet must be put in before the value of `put`.
    fn forbids(&self, put: u32) -> bool {
        let first = self.next[self.due.len()] as usize;
        self.due.get(first).is_some_and(|due| *due < self.until[put as usize])
    }

    fn place(&mut self, put: u32, placed: bool) {
        let at = put as usize;
        if self.due[at] == NEVER {
            return;
        }
        let (before, behind) = (self.previous[at], self.next[at]);
        self.next[before as usize] = if placed { behind } else { put };
        self.previous[behind as usize] = if placed { before } else { put };
    }
}

/// Returns the number of operations of a class that must lie, in time, between two other operations
/// of the class so that these two are certain to have the same order in `s''` as in time.
fn between(factor: u32) -> usize {
    (factor as usize).saturating_mul(2).saturating_sub(1)
}

/// Returns, for each operation `x` of a class, a position. If another operation of the class
/// returned before this position, at least `between` operations of the class lie, in time, between
/// that operation and `x`.
fn bounds(task: &QuasiTask, class: u32, between: usize) -> Vec<u32> {
    let members: Vec<u32> = task.operations().filter(|op| task.class[*op as usize] == Some(class)).collect();
    if between == 0 {
        return task.calls.clone();
    }
    let mut by_return: Vec<u32> = members.iter().copied().filter(|op| task.must(*op)).collect();
    by_return.sort_by_key(|op| task.returns[*op as usize]);
    let mut returned = by_return.into_iter().peekable();
    let mut bounds = vec![0; task.len()];
    // The latest calls of operations that have returned so far, at most `between` of them.
    let mut last: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    for op in members {
        let call = task.calls[op as usize];
        while let Some(other) = returned.next_if(|other| task.returns[*other as usize] < call) {
            last.push(Reverse(task.calls[other as usize]));
            if last.len() > between {
                last.pop();
            }
        }
        if last.len() == between {
            bounds[op as usize] = last.peek().map_or(0, |Reverse(call)| *call);
        }
    }
    bounds
}

/// A configuration on the path to the current configuration.
struct Frame {
    /// The operation that led to this configuration, and the number of operations that this step
    /// added to `s'`.
    placed: Option<(u32, usize)>,
    /// The operations that may come next, each with the state to which it leads.
    candidates: Vec<(u32, StateId)>,
    tried: usize,
}

/// Searches for `s''` and `s'`.
pub(super) fn search(
    task: &QuasiTask,
    automaton: &mut Automaton<'_>,
    meter: &mut Meter,
) -> Result<QuasiFound, LimitKind> {
    let mut search = QuasiSearch::new(task);
    if search.must == 0 {
        return Ok(search.accepted());
    }
    if let Some(why) = search.conflict() {
        return Ok(QuasiFound::Rejected(why));
    }
    let mut longest = Vec::new();
    let candidates = search.candidates(StateId::INITIAL, automaton, meter)?;
    let mut frames = vec![Frame { placed: None, candidates, tried: 0 }];
    while let Some(frame) = frames.last_mut() {
        let Some(&(op, state)) = frame.candidates.get(frame.tried) else {
            if search.permuted.len() > longest.len() {
                longest.clone_from(&search.permuted);
            }
            if let Some((op, places)) = frame.placed {
                search.take_back(op, places);
            }
            frames.pop();
            continue;
        };
        frame.tried += 1;
        let Some(places) = search.place(op) else { continue };
        meter.configuration()?;
        if search.must == 0 {
            return Ok(search.accepted());
        }
        if !search.is_new(state, meter)? {
            search.take_back(op, places);
            continue;
        }
        let candidates = search.candidates(state, automaton, meter)?;
        frames.push(Frame { placed: Some((op, places)), candidates, tried: 0 });
    }
    Ok(QuasiFound::behind(longest))
}

impl<'t> QuasiSearch<'t> {
    fn new(task: &'t QuasiTask) -> Self {
        let none = task.factors.len();
        let class: Vec<usize> = task.class.iter().map(|class| class.map_or(none, |class| class as usize)).collect();
        let of = |index: usize| {
            let members: Vec<u32> = task.operations().filter(|op| class[*op as usize] == index).collect();
            let factor = task.factors.get(index).map_or(usize::MAX, |factor| *factor as usize);
            Class { factor, permuted: Vec::new(), order: Vec::new(), waiting: Vec::new(), members }
        };
        let classes: Vec<Class> = (0..=none).map(of).collect();
        let count = task.len();
        let mut rank = vec![0; count];
        let (mut next, mut previous) = (vec![0; count + classes.len()], vec![0; count + classes.len()]);
        for (ring, class) in (count..).zip(&classes) {
            let mut last = ring;
            for (number, &op) in (0..).zip(&class.members) {
                rank[op as usize] = number;
                next[last] = op;
                previous[op as usize] = number_of(last);
                last = op as usize;
            }
            next[last] = number_of(ring);
            previous[ring] = number_of(last);
        }
        let must = task.operations().filter(|op| task.must(*op));
        let takes =
            must.clone().filter(|op| task.queue.as_ref().is_some_and(|queue| queue.roles[*op as usize] != Role::Puts));
        Self {
            must: must.clone().count(),
            takes: takes.count(),
            holds: 0,
            foresight: task.queue.as_ref().and_then(|queue| Foresight::new(task, queue)),
            task,
            classes,
            class,
            position: vec![0; count],
            rank,
            is_placed: vec![false; count],
            next,
            previous,
            permuted: Vec::new(),
            seen: VisitedSet::default(),
            key: Vec::new(),
        }
    }

    /// Returns a conflict between operations of a queue, if one can be found without a search.
    fn conflict(&self) -> Option<Why> {
        let (task, queue) = (self.task, self.task.queue.as_ref()?);
        if let Some(op) = queue.from_nowhere {
            return Some(Why { conflict: vec![op], is_final: true, ..Why::default() });
        }
        let (foresight, taken_by) = (self.foresight.as_ref()?, queue.taken_by.as_ref()?);
        for (class, factor) in (0..).zip(&task.factors) {
            let puts = || task.operations().filter(|op| task.class[*op as usize] == Some(class) && self.puts(*op));
            let behind = bounds(task, class, between(*factor));
            // `by_due` holds the puts of values that must be taken out, ordered by `due`. `latest`
            // holds, for each prefix of `by_due`, the put with the greatest bound: a put that
            // certainly comes before some put of the prefix comes before this one.
            let mut by_due: Vec<u32> = puts().filter(|put| foresight.due[*put as usize] != NEVER).collect();
            by_due.sort_by_key(|put| foresight.due[*put as usize]);
            let mut latest = by_due.clone();
            for at in 1..latest.len() {
                if behind[latest[at - 1] as usize] > behind[latest[at] as usize] {
                    latest[at] = latest[at - 1];
                }
            }
            for put in puts() {
                // The first `count` values in `by_due` must be put in before the value of `put`.
                let count =
                    by_due.partition_point(|other| foresight.due[*other as usize] < foresight.until[put as usize]);
                let Some(&other) = count.checked_sub(1).and_then(|last| latest.get(last)) else { continue };
                // But the value of `put` is certainly put in before the value of `other`, which is
                // one of these `count` values.
                if task.returns[put as usize] < behind[other as usize] {
                    let taken = [put, other].into_iter().filter_map(|put| taken_by[put as usize]);
                    let mut conflict: Vec<u32> = [put, other].into_iter().chain(taken).collect();
                    conflict.sort_unstable();
                    return Some(Why { conflict, ..Why::default() });
                }
            }
        }
        None
    }

    /// Returns the operations of a class that are not in `s''`, in the order of their calls.
    fn unplaced(&self, class: usize) -> impl Iterator<Item = u32> + '_ {
        let ring = self.task.len() + class;
        let mut at = ring;
        std::iter::from_fn(move || {
            at = self.next[at] as usize;
            (at != ring).then(|| number_of(at))
        })
    }

    /// Returns the number of operations of a class that are not in `s''` and returned before `call`.
    fn unplaced_before(&self, class: usize, call: u32) -> usize {
        let task = self.task;
        let called_before = self.unplaced(class).take_while(|op| task.calls[*op as usize] < call);
        called_before.filter(|op| task.returns[*op as usize] < call).count()
    }

    /// Returns the operations that the specification allows to be next in `s''`, with the states to
    /// which they lead, in the order of the operations' returns.
    fn candidates(
        &self,
        state: StateId,
        automaton: &mut Automaton<'_>,
        meter: &mut Meter,
    ) -> Result<Vec<(u32, StateId)>, LimitKind> {
        let task = self.task;
        let mut candidates = Vec::new();
        // If no class contains both puts and other operations, the queue is not empty, and some
        // dequeue must still be added to `s''`, only dequeues that take a value need to be tried:
        // the next dequeue must take the first value, and puts can come after it.
        let only_takes = task.queue.as_ref().filter(|queue| queue.is_apart && self.holds > 0 && self.takes > 0);
        for (index, class) in self.classes.iter().enumerate() {
            let mut passed: Vec<u32> = Vec::new();
            for op in self.unplaced(index) {
                // If `op` comes next in `s''`, the operations whose returns are in `passed` come
                // after `op` in `s''`. Those that returned before this call come before `op` in
                // `s'`. If there are more of them than twice the factor, `op` or one of them is too
                // far from its place.
                let call = task.calls[op as usize];
                if passed.iter().filter(|returned| **returned < call).count() > class.factor.saturating_mul(2) {
                    break;
                }
                let returned = task.returns[op as usize];
                if returned != NEVER && class.factor != usize::MAX {
                    passed.push(returned);
                }
                if only_takes.is_some_and(|queue| queue.roles[op as usize] != Role::Takes) {
                    continue;
                }
                if self.foresight.as_ref().is_some_and(|foresight| self.puts(op) && foresight.forbids(op)) {
                    continue;
                }
                match automaton.step(state, task.kinds[op as usize], meter)? {
                    NextStates::None => {}
                    NextStates::One(next) => candidates.push((op, next)),
                    NextStates::Several(list) => {
                        candidates.extend(automaton.several(list).iter().map(|next| (op, *next)));
                    }
                }
            }
        }
        candidates.sort_by_key(|(op, _)| (task.returns[*op as usize], *op));
        Ok(candidates)
    }

    /// Appends `op` to `s''`, and appends to `s'` all operations whose places are then determined.
    /// Returns the number of operations appended to `s'`. If no `s'` is possible after this step,
    /// returns `None` and changes nothing.
    fn place(&mut self, op: u32) -> Option<usize> {
        let task = self.task;
        let (at, index) = (op as usize, self.class[op as usize]);
        self.next[self.previous[at] as usize] = self.next[at];
        self.previous[self.next[at] as usize] = self.previous[at];
        self.is_placed[at] = true;
        self.permuted.push(op);
        self.must -= usize::from(task.must(op));
        self.count_role(op, true);
        let class = &mut self.classes[index];
        self.position[at] = number_of(class.permuted.len());
        class.permuted.push(op);
        if class.factor == usize::MAX {
            return Some(0);
        }
        class.waiting.push(op);
        let mut places = 0;
        while self.classes[index].waiting.len() > self.classes[index].factor {
            if !self.fill(index) {
                self.take_back(op, places);
                return None;
            }
            places += 1;
        }
        if self.fits(index) {
            return Some(places);
        }
        self.take_back(op, places);
        None
    }

    /// Undoes [`place`](Self::place).
    fn take_back(&mut self, op: u32, places: usize) {
        let task = self.task;
        let at = op as usize;
        let class = &mut self.classes[self.class[at]];
        if class.factor != usize::MAX {
            for _ in 0..places {
                let back = class.order.pop().expect("the step to undo placed this many operations");
                let position = self.position[back as usize];
                let behind = class.waiting.partition_point(|other| self.position[*other as usize] < position);
                class.waiting.insert(behind, back);
            }
            let last = class.waiting.pop();
            debug_assert_eq!(last, Some(op), "the operation to undo is the last one that is waiting");
        }
        class.permuted.pop();
        self.count_role(op, false);
        self.must += usize::from(task.must(op));
        self.permuted.pop();
        self.is_placed[at] = false;
        self.next[self.previous[at] as usize] = op;
        self.previous[self.next[at] as usize] = op;
    }

    fn puts(&self, op: u32) -> bool {
        self.task.queue.as_ref().is_some_and(|queue| queue.roles[op as usize] == Role::Puts)
    }

    fn count_role(&mut self, op: u32, placed: bool) {
        let Some(queue) = &self.task.queue else { return };
        let role = queue.roles[op as usize];
        if let (Some(foresight), Role::Puts) = (&mut self.foresight, role) {
            foresight.place(op, placed);
        }
        let more = |count: &mut usize, more: bool| if more { *count += 1 } else { *count -= 1 };
        match role {
            Role::Puts => more(&mut self.holds, placed),
            Role::Takes => more(&mut self.holds, !placed),
            Role::FindsEmpty => {}
        }
        if role != Role::Puts && self.task.must(op) {
            more(&mut self.takes, !placed);
        }
    }

    /// Returns the last place in `s'` that a waiting operation can take such that the waiting
    /// operations that it precedes can still come after it.
    fn deadline(&self, class: &Class, op: u32) -> usize {
        let place = |op: u32| self.position[op as usize] as usize + class.factor;
        let behind = class.waiting.iter().filter(|other| self.task.precedes(op, **other)).map(|other| place(*other));
        behind.map(|place| place.saturating_sub(1)).fold(place(op), usize::min)
    }

    /// Fills the next place in the `s'` of a class. Returns `false` if no operation can take this
    /// place.
    fn fill(&mut self, index: usize) -> bool {
        let task = self.task;
        let class = &self.classes[index];
        let place = class.order.len();
        let mut best: Option<(usize, usize)> = None;
        for (at, &op) in class.waiting.iter().enumerate() {
            let deadline = self.deadline(class, op);
            if deadline < place {
                return false;
            }
            let is_free = class.waiting.iter().all(|other| !task.precedes(*other, op))
                && self.unplaced_before(index, task.calls[op as usize]) == 0;
            if is_free && best.is_none_or(|(least, _)| deadline < least) {
                best = Some((deadline, at));
            }
        }
        let Some((_, at)) = best else { return false };
        let class = &mut self.classes[index];
        let op = class.waiting.remove(at);
        class.order.push(op);
        true
    }

    /// Returns whether `s'` has places for all waiting operations and for the operations that
    /// precede them. If not, no `s'` is possible.
    ///
    /// At most `factor` operations may be waiting. Then the operations that are not in `s''` yet
    /// can be appended to `s''` in the order of `s'`, and each of them is moved by the number of
    /// waiting operations that come after it in `s'`, so by at most `factor` places. It remains to
    /// check that the waiting operations can meet their deadlines. They can if, for each deadline,
    /// not too many operations have this deadline or an earlier one.
    fn fits(&self, index: usize) -> bool {
        let task = self.task;
        let class = &self.classes[index];
        let place = class.order.len();
        let deadlines: Vec<(usize, u32)> =
            class.waiting.iter().map(|op| (self.deadline(class, *op), task.calls[*op as usize])).collect();
        deadlines.iter().flat_map(|(deadline, _)| [deadline.saturating_sub(1), *deadline]).all(|until| {
            let waiting = deadlines.iter().filter(|(deadline, _)| *deadline <= until).count();
            // The operations that precede one of these waiting operations must come before it in
            // `s'`.
            let calls = deadlines.iter().filter(|(deadline, _)| *deadline <= until + 1).map(|(_, call)| *call);
            let before = calls.max().map_or(0, |call| self.unplaced_before(index, call));
            place + waiting + before <= until + 1
        })
    }

    /// Records the configuration, and returns whether it is new.
    fn is_new(&mut self, state: StateId, meter: &mut Meter) -> Result<bool, LimitKind> {
        let (task, key) = (self.task, &mut self.key);
        key.clear();
        key.push(state.0);
        for (index, class) in self.classes.iter().enumerate() {
            // The key contains the index of the first member that is not in `s''`, and the indices
            // of the later members that are in `s''`.
            let first = self.next[task.len() + index] as usize;
            let start = if first < task.len() { self.rank[first] as usize } else { class.members.len() };
            key.push(number_of(start));
            let mut beyond = class.permuted.len() - start;
            for (number, &op) in class.members.iter().enumerate().skip(start) {
                if beyond == 0 {
                    break;
                }
                if self.is_placed[op as usize] {
                    key.push(number_of(number));
                    beyond -= 1;
                }
            }
            key.push(u32::MAX);
            for op in &class.waiting {
                key.push(*op);
                key.push(number_of(class.permuted.len()) - self.position[*op as usize]);
            }
            key.push(u32::MAX);
        }
        self.seen.insert(key, meter)
    }

    /// Returns the witness. Must be called only if `s''` contains all operations that it must
    /// contain.
    fn accepted(mut self) -> QuasiFound {
        for index in 0..self.task.factors.len() {
            while !self.classes[index].waiting.is_empty() {
                assert!(self.fill(index), "every operation that waits can be placed");
            }
        }
        // The operations that are in no class are in the order of their calls.
        let last = self.classes.last_mut().expect("the last entry is for operations that are in no class");
        last.order = last.members.iter().copied().filter(|op| self.is_placed[*op as usize]).collect();
        let orders: Vec<Vec<u32>> = self.classes.into_iter().map(|class| class.order).collect();
        QuasiFound::Accepted { order: interleave(self.task, &orders), permuted: self.permuted }
    }
}

/// Returns a linear extension of all operations, given a linear extension of each class.
fn interleave(task: &QuasiTask, orders: &[Vec<u32>]) -> Vec<u32> {
    let mut by_return: Vec<u32> = orders.concat();
    by_return.sort_by_key(|op| task.returns[*op as usize]);
    let mut is_out = vec![false; task.len()];
    let mut heads = vec![0; orders.len()];
    let mut first = 0;
    let mut order = Vec::with_capacity(by_return.len());
    while order.len() < by_return.len() {
        while is_out[by_return[first] as usize] {
            first += 1;
        }
        // `until` is the earliest return of a remaining operation: an operation that is called after this return cannot
        // come next.
        let until = task.returns[by_return[first] as usize];
        let head = (0..orders.len())
            .filter(|class| orders[*class].get(heads[*class]).is_some_and(|op| task.calls[*op as usize] < until))
            .min_by_key(|class| task.calls[orders[*class][heads[*class]] as usize])
            .expect("linear extensions of disjoint classes can be interleaved");
        let op = orders[head][heads[head]];
        heads[head] += 1;
        is_out[op as usize] = true;
        order.push(op);
    }
    order
}

fn number_of(index: usize) -> u32 {
    u32::try_from(index).expect("the number of operations fits in 32 bits")
}

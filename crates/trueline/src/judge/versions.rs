//! Orders the operations of a part (those on one object or key) by their versions. Versions are
//! only hints, so the order is verified.
//!
//! Many stores return a version, a revision or a log index with each response. The version of an
//! update is its place in the order of updates; the version of a read, or of an update that changed
//! nothing, is that of the last update before it. So versions determine the order of operations,
//! except for reads of the same version, which do not change the state, and are placed in the order
//! of their calls. The search has to place only operations without a version: those that never
//! returned, which may or may not have taken effect, and those that returned without a version.
//! Between two versions that differ by d, the search places at most d updates without a version.
//!
//! The result is a linearization, and is replayed like every other linearization. If the search
//! does not find a linearization, this proves nothing, because versions may be wrong. The history
//! is then judged without versions.
//!
//! # Complexity
//! One step of the specification for each operation if all operations have versions. Otherwise, the search gives up
//! after about [`STEPS_PER_OPERATION`] steps for each operation.

use std::cell::Cell;

use super::erased::{Case, Machine};
use super::frame::{Frame, NEVER, calls};
use super::search::Meter;
use crate::history::{Event, OpId};
use crate::verdict::Contradiction;

/// The search gives up after this many steps of the specification per operation, plus [`LEAST_STEPS`].
const STEPS_PER_OPERATION: usize = 32;

/// The number of steps that the search may take in addition to [`STEPS_PER_OPERATION`] steps for each operation.
const LEAST_STEPS: usize = 1_000;

/// The maximum number of operations without a version that the search examines to find one that may
/// come before a group. It limits the search for operations that never returned, in the second
/// round of [`VersionSearch::candidate`], and the search in [`VersionSearch::has_returned_update`].
const MOST_SPECULATED: usize = 8;

/// Returns the operations of a part in the order of their versions, or the reason why no
/// linearization in that order was found. Returns `None` if no operation has a version, or if a
/// limit was reached.
pub(super) fn order(case: &dyn Case, events: &[Event], meter: &mut Meter) -> Option<Result<Vec<OpId>, Contradiction>> {
    let frame = case.frame();
    let has_version = |op: OpId| case.version(op).is_some() && frame.ret(op).is_some();
    if !case.has_versions() || !calls(events).any(has_version) {
        return None;
    }
    let mut search = match VersionSearch::new(case, events) {
        Ok(search) => search,
        Err(contradiction) => return Some(Err(contradiction)),
    };
    match search.run(meter) {
        Ok(()) => Some(in_time(frame, search.order)),
        Err(End::Contradiction(contradiction)) => Some(Err(contradiction)),
        Err(End::Limit) => None,
    }
}

enum End {
    Contradiction(Contradiction),
    Limit,
}

/// Operations with the same version.
struct Group {
    /// The updates, followed by the other operations, both in the order of their calls.
    operations: Vec<OpId>,
    updates: usize,
    version: i64,
    latest_call: u32,
    /// The earliest return of all operations in this group and in later groups.
    earliest_return: u32,
}

/// An operation without a version.
struct Free {
    op: OpId,
    call: u32,
    ret: u32,
    observes: bool,
}

/// A queue of operations without a version. The search places operations in the linearization, and
/// may remove them from it again.
struct Queue {
    /// The operations of the queue, as indices in [`VersionSearch::free`].
    items: Vec<usize>,
    /// For each index in [`VersionSearch::free`], the position of the operation in `items`.
    places: Vec<usize>,
    /// All items before this position are placed.
    from: Cell<usize>,
}

impl Queue {
    fn new(items: Vec<usize>, all: usize) -> Self {
        let mut places = vec![usize::MAX; all];
        for (place, &at) in items.iter().enumerate() {
            places[at] = place;
        }
        Self { items, places, from: Cell::new(0) }
    }

    /// Returns the position of the first item that is not placed.
    fn first(&self, is_placed: &[bool]) -> usize {
        let rest = &self.items[self.from.get()..];
        self.from.set(self.from.get() + rest.iter().take_while(|&&at| is_placed[at]).count());
        self.from.get()
    }

    /// Records that an operation is no longer placed.
    fn put_back(&self, at: usize) {
        self.from.set(self.from.get().min(self.places[at]));
    }
}

/// A point to which the search returns if it fails later, to place another operation without a version.
struct ChoicePoint {
    group: usize,
    state: u32,
    /// The length of `order` at this point.
    length: usize,
    updates_in_gap: i64,
    /// The position of the next candidate to try, counted through both rounds of
    /// [`VersionSearch::candidate`].
    cursor: usize,
}

struct VersionSearch<'c> {
    machine: Box<dyn Machine + 'c>,
    groups: Vec<Group>,
    /// The operations without a version, in the order of their calls.
    free: Vec<Free>,
    /// The operations of `free` that returned, in the order of their returns.
    returned: Queue,
    /// The operations of `free` that do not change the state, in the order of their calls.
    observers: Queue,
    is_placed: Vec<bool>,
    /// For each operation in `order`, its index in `free`, if it has no version.
    placed: Vec<Option<usize>>,
    order: Vec<OpId>,
    steps: usize,
}

impl<'c> VersionSearch<'c> {
    fn new(case: &'c dyn Case, events: &[Event]) -> Result<Self, Contradiction> {
        let frame = case.frame();
        let (mut versioned, mut free) = (Vec::new(), Vec::new());
        let mut operations = 0;
        for op in calls(events) {
            operations += 1;
            let (call, ret) = (frame.call(op), frame.ret(op).unwrap_or(NEVER));
            match case.version(op) {
                Some(version) if ret != NEVER => versioned.push((version, case.observes(op), call, op)),
                // An operation that never returned and does not change the state can be left out.
                _ if ret == NEVER && case.observes(op) => {}
                _ => free.push(Free { op, call, ret, observes: case.observes(op) }),
            }
        }
        versioned.sort_unstable();
        contradicts_time(frame, &versioned)?;
        let mut groups: Vec<Group> = Vec::new();
        for same in versioned.chunk_by(|one, other| one.0 == other.0) {
            groups.push(Group {
                operations: same.iter().map(|(.., op)| *op).collect(),
                updates: same.iter().filter(|(_, observes, ..)| !observes).count(),
                version: same[0].0,
                latest_call: same.iter().map(|(_, _, call, _)| *call).max().unwrap_or(0),
                earliest_return: same.iter().filter_map(|(.., op)| frame.ret(*op)).min().unwrap_or(NEVER),
            });
        }
        let mut earliest = NEVER;
        for group in groups.iter_mut().rev() {
            earliest = earliest.min(group.earliest_return);
            group.earliest_return = earliest;
        }
        let mut returned: Vec<usize> = (0..free.len()).filter(|&at| free[at].ret != NEVER).collect();
        returned.sort_unstable_by_key(|&at| free[at].ret);
        let observers = (0..free.len()).filter(|&at| free[at].observes).collect();
        let (returned, observers) = (Queue::new(returned, free.len()), Queue::new(observers, free.len()));
        let is_placed = vec![false; free.len()];
        let steps = operations * STEPS_PER_OPERATION + LEAST_STEPS;
        let (placed, order) = (Vec::new(), Vec::with_capacity(operations));
        Ok(Self { machine: case.machine(), groups, free, returned, observers, is_placed, placed, order, steps })
    }

    fn run(&mut self, meter: &mut Meter) -> Result<(), End> {
        let mut choices: Vec<ChoicePoint> = Vec::new();
        let (mut group, mut state, mut updates_in_gap) = (0, 0, 0);
        // The index of the first group that could not be placed, in the attempt that placed the
        // most groups.
        let mut farthest = 0;
        loop {
            self.place_observers(group, state, meter)?;
            if let Some(next) = self.after_group(group, state, meter)? {
                if group == self.groups.len() {
                    return Ok(());
                }
                // An update that returned without a version must be placed somewhere. Place the
                // group now. If the search fails later, it returns to this choice point, and tries
                // the update before the group.
                if self.has_returned_update(group) {
                    choices.push(ChoicePoint { group, state, length: self.order.len(), updates_in_gap, cursor: 0 });
                }
                self.place_group(group, state, meter)?;
                (group, state, updates_in_gap) = (group + 1, next, 0);
                continue;
            }
            farthest = farthest.max(group);
            choices.push(ChoicePoint { group, state, length: self.order.len(), updates_in_gap, cursor: 0 });
            loop {
                let Some(mut choice) = choices.pop() else {
                    let op = self.groups.get(farthest).or(self.groups.last()).map(|group| group.operations[0]);
                    return Err(End::Contradiction(op.map_or(Contradiction::Undecided, Contradiction::Result)));
                };
                self.take_back(choice.length);
                if let Some((at, next)) = self.candidate(&mut choice, meter)? {
                    self.put(at);
                    (group, state, updates_in_gap) = (choice.group, next, choice.updates_in_gap + 1);
                    choices.push(choice);
                    break;
                }
            }
        }
    }

    /// Returns the state after an operation, if the operation can return its recorded result in
    /// this state.
    fn step(&mut self, state: u32, op: OpId, meter: &mut Meter) -> Result<Option<u32>, End> {
        meter.work(1).map_err(|_| End::Limit)?;
        self.steps = self.steps.checked_sub(1).ok_or(End::Contradiction(Contradiction::Undecided))?;
        match *self.machine.next(state, op) {
            [] => Ok(None),
            [next] => Ok(Some(next)),
            // Nondeterministic specifications are left to the searches.
            _ => Err(End::Contradiction(Contradiction::Undecided)),
        }
    }

    /// Returns the operation that returned first among those that returned without a version and
    /// are not placed.
    fn first_due(&self) -> Option<usize> {
        self.returned.items.get(self.returned.first(&self.is_placed)).copied()
    }

    /// Returns whether an update that returned without a version may come before a group.
    fn has_returned_update(&self, group: usize) -> bool {
        let earliest = self.groups[group].earliest_return;
        let due = self.returned.items[self.returned.first(&self.is_placed)..].iter();
        // It is enough to look at a few operations, because operations that return later are
        // usually called later, too.
        due.take(MOST_SPECULATED).any(|&at| {
            let free = &self.free[at];
            !self.is_placed[at] && !free.observes && free.call < earliest
        })
    }

    /// Returns whether an operation without a version may come before a group, and before all other operations without
    /// a version that are not placed.
    fn is_enabled(&self, at: usize, group: usize) -> bool {
        let Free { call, .. } = self.free[at];
        let earliest = self.groups.get(group).map_or(NEVER, |group| group.earliest_return);
        call < earliest && self.first_due().is_none_or(|due| due == at || call < self.free[due].ret)
    }

    /// Places all operations without a version that do not change the state and are legal in the
    /// current state. It is never better to place them later.
    fn place_observers(&mut self, group: usize, state: u32, meter: &mut Meter) -> Result<(), End> {
        let earliest = self.groups.get(group).map_or(NEVER, |group| group.earliest_return);
        let mut next = self.observers.first(&self.is_placed);
        while let Some(&at) = self.observers.items.get(next) {
            if self.free[at].call > earliest {
                break;
            }
            let is_candidate = !self.is_placed[at] && self.is_enabled(at, group);
            if is_candidate && self.step(state, self.free[at].op, meter)?.is_some() {
                self.put(at);
            }
            next += 1;
        }
        Ok(())
    }

    /// Returns the state after a group, or `None` if the whole group cannot be placed now. If there
    /// is no group at `index`, returns `state` if all operations that returned are placed, and
    /// `None` otherwise.
    fn after_group(&mut self, index: usize, state: u32, meter: &mut Meter) -> Result<Option<u32>, End> {
        let due = self.first_due().map(|at| self.free[at].ret);
        let Some(group) = self.groups.get(index) else { return Ok(due.is_none().then_some(state)) };
        if due.is_some_and(|due| due < group.latest_call) {
            return Ok(None);
        }
        Ok(self.group_from(index, state, meter)?.map(|(_, next)| next))
    }

    /// Returns the index of the update that comes first in a group, and the state after the group.
    /// Returns `None` if the group is not legal in `state`.
    fn group_from(&mut self, index: usize, state: u32, meter: &mut Meter) -> Result<Option<(usize, u32)>, End> {
        let (updates, length) = (self.groups[index].updates, self.groups[index].operations.len());
        for first in 0..updates.max(1) {
            let start = self.groups[index].operations[first];
            let Some(next) = self.step(state, start, meter)? else { continue };
            let mut is_legal = true;
            for other in (0..length).filter(|&other| other != first) {
                let op = self.groups[index].operations[other];
                // All operations of a group have the same version, so only the first one may change the state.
                is_legal = self.step(next, op, meter)? == Some(next);
                if !is_legal {
                    break;
                }
            }
            if is_legal {
                return Ok(Some((first, next)));
            }
        }
        Ok(None)
    }

    fn place_group(&mut self, index: usize, state: u32, meter: &mut Meter) -> Result<(), End> {
        let updates = self.groups[index].updates;
        // If there are several updates, the first one can be found only by trying.
        let first = if updates > 1 { self.group_from(index, state, meter)?.map_or(0, |(first, _)| first) } else { 0 };
        let operations = &self.groups[index].operations;
        self.order.push(operations[first]);
        self.order.extend(operations.iter().enumerate().filter(|(at, _)| *at != first).map(|(_, op)| *op));
        self.placed.resize(self.order.len(), None);
        Ok(())
    }

    /// Returns the next operation without a version to try before a group, and the state after that
    /// operation.
    fn candidate(&mut self, choice: &mut ChoicePoint, meter: &mut Meter) -> Result<Option<(usize, u32)>, End> {
        if !self.has_room(choice) {
            return Ok(None);
        }
        let earliest = self.groups.get(choice.group).map_or(NEVER, |group| group.earliest_return);
        let enabled = self.free.partition_point(|free| free.call < earliest);
        // The first round tries the operations after which the group can be placed, or after which
        // an observer that must be placed next is legal. It starts with the last call, because most
        // operations take effect soon after their calls. The second round tries some of the other
        // operations.
        while choice.cursor < 2 * enabled {
            let (is_second_round, at) = (choice.cursor >= enabled, enabled - 1 - choice.cursor % enabled);
            choice.cursor += 1;
            if self.is_placed[at] || !self.is_enabled(at, choice.group) {
                continue;
            }
            let is_due = self.free[at].ret != NEVER;
            if is_second_round && !is_due && choice.cursor > enabled + MOST_SPECULATED {
                continue;
            }
            let Some(next) = self.step(choice.state, self.free[at].op, meter)? else { continue };
            if next == choice.state && !is_due {
                continue;
            }
            self.is_placed[at] = true;
            let helps = is_second_round
                || self.after_group(choice.group, next, meter)?.is_some()
                || self.frees_due(next, meter)?;
            self.unplace(at);
            if helps {
                return Ok(Some((at, next)));
            }
        }
        Ok(None)
    }

    /// Returns whether the versions of the previous group and of this group leave room for one more
    /// update between the groups.
    fn has_room(&self, choice: &ChoicePoint) -> bool {
        match (choice.group.checked_sub(1).map(|last| &self.groups[last]), self.groups.get(choice.group)) {
            (Some(last), Some(next)) => next.version.saturating_sub(last.version) > choice.updates_in_gap,
            _ => true,
        }
    }

    /// Returns whether the operation that must be placed next leaves the state unchanged and is
    /// legal in `state`.
    fn frees_due(&mut self, state: u32, meter: &mut Meter) -> Result<bool, End> {
        match self.first_due() {
            Some(due) if self.free[due].observes => Ok(self.step(state, self.free[due].op, meter)?.is_some()),
            _ => Ok(false),
        }
    }

    fn put(&mut self, at: usize) {
        self.is_placed[at] = true;
        self.order.push(self.free[at].op);
        self.placed.push(Some(at));
    }

    fn take_back(&mut self, length: usize) {
        self.order.truncate(length);
        while self.placed.len() > length {
            if let Some(Some(at)) = self.placed.pop() {
                self.unplace(at);
            }
        }
    }

    fn unplace(&mut self, at: usize) {
        self.is_placed[at] = false;
        if self.free[at].ret != NEVER {
            self.returned.put_back(at);
        }
        if self.free[at].observes {
            self.observers.put_back(at);
        }
    }
}

/// Returns the order, if it respects real time. It may violate real time if several updates have the same version,
/// because any of them may have been placed first.
fn in_time(frame: Frame<'_>, order: Vec<OpId>) -> Result<Vec<OpId>, Contradiction> {
    let mut latest: Option<(u32, OpId)> = None;
    for &op in &order {
        match (latest, frame.ret(op)) {
            (Some((call, first)), Some(ret)) if ret < call => {
                return Err(Contradiction::RealTime { first, second: op });
            }
            _ => {}
        }
        if latest.is_none_or(|(call, _)| call < frame.call(op)) {
            latest = Some((frame.call(op), op));
        }
    }
    Ok(order)
}

/// Returns an error if an operation returned before the call of an operation with an earlier version.
fn contradicts_time(frame: Frame<'_>, versioned: &[(i64, bool, u32, OpId)]) -> Result<(), Contradiction> {
    let mut latest: Option<(u32, OpId)> = None;
    for same in versioned.chunk_by(|one, other| one.0 == other.0) {
        let is_ordered = same.iter().filter(|(_, observes, ..)| !observes).count() <= 1;
        let mut of_group = latest;
        for &(_, _, call, op) in same {
            let before = if is_ordered { of_group } else { latest };
            if let (Some((latest_call, other)), Some(ret)) = (before, frame.ret(op)) {
                if ret < latest_call {
                    return Err(Contradiction::RealTime { first: other, second: op });
                }
            }
            if of_group.is_none_or(|(latest, _)| latest < call) {
                of_group = Some((call, op));
            }
        }
        latest = of_group;
    }
    Ok(())
}

//! One part of a history that is judged online: the configurations that agree with the events so far.

use std::collections::{HashMap, HashSet, VecDeque};

use hashbrown::HashTable;
use smallvec::SmallVec;

use super::super::search::hash;
use super::Why;
use super::door::{Door, EffectKind, Steps};

/// Pairs of numbers, sorted and without duplicates.
type Pairs = SmallVec<[(u32, u32); 2]>;

/// A way in which the operations so far may have taken effect.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Configuration {
    state: u32,
    /// The time at which the last blind write took effect; 0 if no blind write took effect, or if
    /// every open operation was called after that time.
    gap: u64,
    /// The open operations that have taken effect, each with its result.
    done: Pairs,
    /// The results that open operations not in `done` could have had at no cost. An operation could
    /// have had a result at no cost if it could have taken effect without changing the state or,
    /// for a blind write, just before another blind write, which hides its effect.
    seen: Pairs,
    /// For each group of unknown outcomes, the number of its members that have taken effect. Groups
    /// without such members are left out.
    used: Pairs,
}

impl Configuration {
    /// Returns the result with which an open operation has taken effect.
    fn result(&self, op: u32) -> Option<u32> {
        self.done.iter().find(|(other, _)| *other == op).map(|(_, ret)| *ret)
    }

    fn has_seen(&self, op: u32, ret: u32) -> bool {
        self.seen.binary_search(&(op, ret)).is_ok()
    }

    fn see(&mut self, op: u32, ret: u32) {
        if let Err(place) = self.seen.binary_search(&(op, ret)) {
            self.seen.insert(place, (op, ret));
        }
    }

    fn complete(&mut self, op: u32, ret: u32) {
        self.seen.retain(|(other, _)| *other != op);
        let place = self.done.partition_point(|(other, _)| *other < op);
        self.done.insert(place, (op, ret));
    }

    /// Removes an operation that is no longer open.
    fn leave(&mut self, op: u32) {
        self.seen.retain(|(other, _)| *other != op);
        self.done.retain(|(other, _)| *other != op);
    }

    fn used(&self, group: u32) -> u32 {
        self.used.iter().find(|(other, _)| *other == group).map_or(0, |(_, count)| *count)
    }

    fn set_used(&mut self, group: u32, count: u32) {
        self.used.retain(|(other, _)| *other != group);
        if count > 0 {
            let place = self.used.partition_point(|(other, _)| *other < group);
            self.used.insert(place, (group, count));
        }
    }

    /// Returns whether this configuration can be continued in every way in which `other` can: see "Dominance" in the
    /// documentation of the parent module.
    fn dominates(&self, other: &Self) -> bool {
        if self.state != other.state || self.gap < other.gap {
            return false;
        }
        let is_done = |&(op, ret): &(u32, u32)| match self.result(op) {
            Some(own) => own == ret,
            None => self.has_seen(op, ret),
        };
        // An operation that has taken effect in `self` must have taken effect in `other`, too.
        self.done.iter().all(|&(op, _)| other.result(op).is_some())
            && other.done.iter().all(is_done)
            && other.seen.iter().all(|&(op, ret)| self.has_seen(op, ret))
            && self.used.iter().all(|&(group, count)| other.used(group) >= count)
    }

    fn bytes(&self) -> usize {
        let spilled = |pairs: &Pairs| if pairs.spilled() { pairs.capacity() * 8 } else { 0 };
        size_of::<Self>() + spilled(&self.done) + spilled(&self.seen) + spilled(&self.used)
    }
}

/// An open operation, which may return later.
#[derive(Clone, Copy, Debug)]
struct Open {
    op: u32,
    kind: EffectKind,
    called: u64,
}

/// Equal operations whose outcomes are unknown. They never return.
#[derive(Debug)]
struct Group {
    op: u32,
    kind: EffectKind,
    hash: u64,
    /// The times of the members' calls, ascending.
    called: VecDeque<u64>,
}

/// An operation that may take effect next: an open one, or a member of a group.
#[derive(Clone, Copy, Debug)]
enum Candidate {
    Open(Open),
    Group { group: u32, op: u32, kind: EffectKind },
}

impl Candidate {
    fn op(self) -> u32 {
        match self {
            Self::Open(open) => open.op,
            Self::Group { op, .. } => op,
        }
    }

    fn kind(self) -> EffectKind {
        match self {
            Self::Open(open) => open.kind,
            Self::Group { kind, .. } => kind,
        }
    }
}

/// The verdict on a part so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The events so far are linearizable.
    Fine,
    Rejected,
    Unknown(Why),
}

/// An error: there are more configurations than the limit allows.
struct TooMany;

/// One part of a history: its configurations, open operations and unknown outcomes.
#[derive(Debug)]
pub(super) struct Part {
    configurations: Vec<Configuration>,
    open: Vec<Open>,
    groups: Vec<Group>,
    /// The groups without members. Their numbers are reused.
    empty_groups: Vec<u32>,
    by_op: HashTable<u32>,
    /// The number of groups that have members and are of kind [`EffectKind::Other`].
    other_groups: usize,
    /// The number of operations whose outcome is unknown.
    unknown: usize,
    time: u64,
    /// Whether the part has forgotten unknown outcomes.
    has_forgotten: bool,
    fate: Fate,
    /// Whether all operations except observers commute, are possible in every state, and have only
    /// one possible result.
    commutes: bool,
    /// The number of states and results after the last collection.
    live: usize,
}

impl Part {
    pub(super) fn new(commutes: bool) -> Self {
        let empty = Configuration { state: 0, gap: 0, done: Pairs::new(), seen: Pairs::new(), used: Pairs::new() };
        Self {
            configurations: vec![empty],
            open: Vec::new(),
            groups: Vec::new(),
            empty_groups: Vec::new(),
            by_op: HashTable::new(),
            other_groups: 0,
            unknown: 0,
            time: 0,
            has_forgotten: false,
            fate: Fate::Fine,
            commutes,
            live: 1,
        }
    }

    pub(super) fn fate(&self) -> Fate {
        self.fate
    }

    /// Returns the approximate number of bytes that the part takes, not counting its operations,
    /// results and states.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.configurations.iter().map(Configuration::bytes).sum::<usize>()
            + self.open.capacity() * size_of::<Open>()
            // The queue of a group has room for four calls as soon as it contains one call.
            + self.groups.len() * (size_of::<Group>() + 32 + 8)
            + self.unknown * 8
    }

    /// Returns the number of operations whose outcome is unknown.
    pub(super) fn unknown(&self) -> usize {
        self.unknown
    }

    /// Gives up on the part.
    pub(super) fn give_up(&mut self, why: Why) {
        self.end(Fate::Unknown(why));
    }

    fn end(&mut self, fate: Fate) {
        *self = Self { fate, ..Self::new(self.commutes) };
        self.configurations = Vec::new();
    }

    /// Adds a call.
    pub(super) fn call(&mut self, door: &mut dyn Door, op: u32, kind: EffectKind) {
        self.time += 1;
        let open = Open { op, kind, called: self.time };
        if kind != EffectKind::Blind {
            for configuration in &mut self.configurations {
                for (ret, next) in door.step(configuration.state, op, None) {
                    if next == configuration.state {
                        configuration.see(op, ret);
                    }
                }
            }
        }
        self.open.push(open);
        self.collect(door);
    }

    /// Adds a return. If no configuration explains the result, rejects the part and returns the
    /// results that the operation could have had, and whether the list is complete. Returns `None`
    /// if the result is explained, or if the part becomes unknown.
    pub(super) fn ret(&mut self, door: &mut dyn Door, op: u32, ret: u32, most: usize) -> Option<(Vec<u32>, bool)> {
        self.time += 1;
        let place = self.open.iter().position(|open| open.op == op).expect("only open operations return");
        let open = self.open[place];
        let next = loop {
            match self.after(door, open, ret, most) {
                Ok(next) => break next,
                // Try again with fewer unknown outcomes, which lead to fewer configurations.
                Err(TooMany) if self.unknown > 0 => self.forget_oldest(door),
                Err(TooMany) => {
                    self.give_up(Why::TooMany);
                    return None;
                }
            }
        };
        if next.is_empty() {
            return self.refuse(door, Some(open), most);
        }
        self.configurations = next;
        self.open.swap_remove(place);
        door.forget(op);
        self.tidy(door);
        None
    }

    /// Ends an operation that did not take effect. If no configuration is left, rejects the part
    /// and returns an empty list of results.
    pub(super) fn fail(&mut self, door: &mut dyn Door, op: u32) -> Option<(Vec<u32>, bool)> {
        self.time += 1;
        self.open.retain(|open| open.op != op);
        let mut front = Front::new(usize::MAX);
        for mut configuration in std::mem::take(&mut self.configurations) {
            if configuration.result(op).is_none() {
                configuration.leave(op);
                let _ = front.insert(configuration);
            }
        }
        self.configurations = front.configurations;
        door.forget(op);
        if self.configurations.is_empty() {
            return self.refuse(door, None, 0);
        }
        self.tidy(door);
        None
    }

    /// Ends an operation whose outcome is unknown.
    pub(super) fn info(&mut self, door: &mut dyn Door, op: u32) {
        self.time += 1;
        let place = self.open.iter().position(|open| open.op == op).expect("only open operations end");
        let open = self.open.swap_remove(place);
        let group = (open.kind != EffectKind::Observer).then(|| self.group(door, open));
        let mut front = Front::new(usize::MAX);
        for mut configuration in std::mem::take(&mut self.configurations) {
            if let (Some(group), Some(_)) = (group, configuration.result(op)) {
                configuration.set_used(group, configuration.used(group) + 1);
            }
            configuration.leave(op);
            let _ = front.insert(configuration);
        }
        self.configurations = front.configurations;
        if group.is_none_or(|group| self.groups[group as usize].op != op) {
            door.forget(op);
        }
        self.tidy(door);
    }

    /// Adds an operation that never returns to the group of equal operations, and returns the group's number.
    fn group(&mut self, door: &dyn Door, open: Open) -> u32 {
        let hash = door.hash(open.op);
        let found = self.by_op.find(hash, |&group| door.is_same(self.groups[group as usize].op, open.op)).copied();
        let group = found.unwrap_or_else(|| {
            let new = Group { op: open.op, kind: open.kind, hash, called: VecDeque::new() };
            self.other_groups += usize::from(open.kind == EffectKind::Other);
            let group = match self.empty_groups.pop() {
                Some(group) => {
                    self.groups[group as usize] = new;
                    group
                }
                None => {
                    self.groups.push(new);
                    u32::try_from(self.groups.len() - 1).expect("memory runs out before 2^32 groups")
                }
            };
            let groups = &self.groups;
            self.by_op.insert_unique(hash, group, |&group| groups[group as usize].hash);
            group
        });
        let called = &mut self.groups[group as usize].called;
        let place = called.partition_point(|other| *other < open.called);
        called.insert(place, open.called);
        self.unknown += 1;
        group
    }

    /// Removes the first `count` members of a group, either because every configuration uses them
    /// or because the part forgets them.
    fn remove_members(&mut self, door: &mut dyn Door, group: u32, count: usize) {
        let members = &mut self.groups[group as usize];
        members.called.drain(..count);
        self.unknown -= count;
        if members.called.is_empty() && count > 0 {
            members.called = VecDeque::new();
            let (op, hash) = (members.op, members.hash);
            self.other_groups -= usize::from(members.kind == EffectKind::Other);
            if let Ok(entry) = self.by_op.find_entry(hash, |&other| other == group) {
                entry.remove();
            }
            self.empty_groups.push(group);
            door.forget(op);
        }
        for configuration in &mut self.configurations {
            let used = configuration.used(group) as usize;
            if used > 0 {
                configuration.set_used(group, u32::try_from(used.saturating_sub(count)).unwrap_or(u32::MAX));
            }
        }
    }

    /// Forgets the older half of the unknown outcomes. From then on, the part is never rejected: if
    /// no configuration is left, the part is unknown, because a forgotten outcome could have
    /// explained the event.
    pub(super) fn forget_oldest(&mut self, door: &mut dyn Door) {
        self.has_forgotten = true;
        let mut times: Vec<u64> = self.groups.iter().flat_map(|group| group.called.iter().copied()).collect();
        times.sort_unstable();
        let Some(&newest) = times.get(times.len().div_ceil(2).saturating_sub(1)) else { return };
        for group in 0..self.groups.len() {
            let count = self.groups[group].called.partition_point(|called| *called <= newest);
            if count > 0 {
                self.remove_members(door, u32::try_from(group).expect("groups are numbered with 32 bits"), count);
            }
        }
        if self.empty_groups.len() == self.groups.len() {
            self.groups = Vec::new();
            self.empty_groups = Vec::new();
        }
    }

    /// Ends the part, because no configuration explains its events. If unknown outcomes were
    /// forgotten, the part becomes unknown, and this function returns `None`. Otherwise the part is
    /// rejected, and this function returns the results that `open` could have had, and whether the
    /// list is complete; without `open`, the list is empty.
    fn refuse(&mut self, door: &mut dyn Door, open: Option<Open>, most: usize) -> Option<(Vec<u32>, bool)> {
        if self.has_forgotten {
            self.end(Fate::Unknown(Why::Forgotten));
            return None;
        }
        let allowed = open.map_or((Vec::new(), true), |open| self.results(door, open, most));
        self.end(Fate::Rejected);
        Some(allowed)
    }

    /// Removes data that can no longer affect the verdict.
    fn tidy(&mut self, door: &mut dyn Door) {
        let oldest = self.open.iter().map(|open| open.called).min().unwrap_or(u64::MAX);
        for configuration in &mut self.configurations {
            if configuration.gap <= oldest {
                configuration.gap = 0;
            }
        }
        if let Some((first, rest)) = self.configurations.split_first() {
            let in_all = |&(group, count): &(u32, u32)| {
                (group, rest.iter().fold(count, |least, other| least.min(other.used(group))))
            };
            let used: Pairs = first.used.iter().map(in_all).filter(|(_, count)| *count > 0).collect();
            for (group, count) in used {
                self.remove_members(door, group, count as usize);
            }
        }
        self.collect(door);
    }

    /// Forgets the states and results that no configuration uses, if the number of states and results has doubled since
    /// the last collection.
    fn collect(&mut self, door: &mut dyn Door) {
        if door.len() <= 2 * self.live + 8 {
            return;
        }
        let mut states: Vec<u32> = self.configurations.iter().map(|configuration| configuration.state).collect();
        let pairs = |configuration: &Configuration| {
            let pairs = configuration.done.iter().chain(&configuration.seen);
            pairs.map(|(_, ret)| *ret).collect::<SmallVec<[u32; 4]>>()
        };
        let mut rets: Vec<u32> = self.configurations.iter().flat_map(pairs).collect();
        for list in [&mut states, &mut rets] {
            list.sort_unstable();
            list.dedup();
        }
        door.retain(&states, &rets);
        let place = |list: &[u32], number: u32| {
            let place = list.binary_search(&number).expect("all numbers in use are kept");
            u32::try_from(place).expect("an index in a list of distinct 32-bit numbers fits in 32 bits")
        };
        for configuration in &mut self.configurations {
            configuration.state = place(&states, configuration.state);
            for (_, ret) in configuration.done.iter_mut().chain(&mut configuration.seen) {
                *ret = place(&rets, *ret);
            }
            // Renumbering keeps the order of the numbers, so the pairs are still sorted.
        }
        self.live = states.len() + rets.len();
    }

    /// Returns the candidates of the given kind that have not taken effect. Skips the operation
    /// `returning`.
    fn candidates<'p>(
        &'p self,
        configuration: &'p Configuration,
        kind: EffectKind,
        returning: u32,
    ) -> impl Iterator<Item = Candidate> + 'p {
        let open = self
            .open
            .iter()
            .filter(move |open| open.kind == kind && open.op != returning && configuration.result(open.op).is_none());
        let groups = (0..).zip(&self.groups).filter(move |(number, group)| {
            group.kind == kind && (configuration.used(*number) as usize) < group.called.len()
        });
        open.map(|open| Candidate::Open(*open)).chain(groups.map(|(group, members)| Candidate::Group {
            group,
            op: members.op,
            kind: members.kind,
        }))
    }

    /// Returns whether there is a candidate of kind [`EffectKind::Other`], apart from the operation
    /// `returning`. May return `true` although the only such candidates are members of groups whose
    /// members have all been used.
    fn has_other(&self, configuration: &Configuration, returning: u32) -> bool {
        self.other_groups > 0
            || self.open.iter().any(|open| {
                open.kind == EffectKind::Other && open.op != returning && configuration.result(open.op).is_none()
            })
    }

    /// Returns the configuration after a candidate has taken effect with the result `ret`, which
    /// leads to `state`. If the candidate is the operation `returning`, it is removed from the
    /// configuration.
    fn take(
        &self,
        door: &mut dyn Door,
        from: &Configuration,
        candidate: Candidate,
        (ret, state): (u32, u32),
        returning: u32,
    ) -> Configuration {
        let mut to = from.clone();
        to.state = state;
        match candidate {
            Candidate::Open(open) if open.op == returning => to.leave(open.op),
            Candidate::Open(open) => to.complete(open.op, ret),
            Candidate::Group { group, .. } => to.set_used(group, from.used(group) + 1),
        }
        let is_blind = candidate.kind() == EffectKind::Blind;
        if is_blind {
            to.gap = self.time;
        }
        let has_left = candidate.op() == returning;
        for open in &self.open {
            if to.result(open.op).is_some() || has_left && open.op == returning {
                continue;
            }
            if open.kind == EffectKind::Blind {
                if is_blind {
                    for (ret, _) in door.step(from.state, open.op, None) {
                        to.see(open.op, ret);
                    }
                }
                continue;
            }
            for (ret, next) in door.step(state, open.op, None) {
                if next == state {
                    to.see(open.op, ret);
                }
            }
        }
        to
    }

    /// Returns the configurations after the return of `open` with the result `ret`.
    fn after(&self, door: &mut dyn Door, open: Open, ret: u32, most: usize) -> Result<Vec<Configuration>, TooMany> {
        let mut front = Front::new(most);
        let mut stack = Vec::new();
        let observes =
            open.kind == EffectKind::Observer || open.kind == EffectKind::Other && door.observes(open.op, ret);
        for configuration in &self.configurations {
            if let Some(result) = configuration.result(open.op) {
                if result == ret {
                    front.insert_without(configuration, open.op)?;
                }
                continue;
            }
            if observes && configuration.has_seen(open.op, ret) {
                front.insert_without(configuration, open.op)?;
                continue;
            }
            let direct = door.step(configuration.state, open.op, Some(ret));
            let stays = direct.iter().any(|(_, next)| *next == configuration.state);
            let has_seen = stays || configuration.has_seen(open.op, ret);
            if has_seen {
                let mut to = configuration.clone();
                to.leave(open.op);
                if open.kind == EffectKind::Blind && configuration.gap > open.called {
                    // If this write took effect in the last gap, other operations may have seen the state after it.
                    for &(_, state) in &direct {
                        self.see_flash(door, &mut to, state, open.op);
                    }
                }
                front.insert(to)?;
                if observes {
                    continue;
                }
            } else if open.kind != EffectKind::Blind && configuration.gap > open.called {
                self.flash(door, configuration, open, ret, &mut front)?;
            }
            self.finish(door, configuration, open, &direct, &mut front)?;
            let mut others =
                self.open.iter().filter(|other| other.op != open.op && configuration.result(other.op).is_none());
            let is_useless = match open.kind {
                // The state after a blind write is the same, whatever took effect before it.
                EffectKind::Blind => {
                    !self.has_other(configuration, open.op) || others.all(|other| other.kind == EffectKind::Blind)
                }
                // Commuting operations lead to the same state in every order, and no open observer can see the states
                // between them.
                EffectKind::Other if self.commutes && !direct.is_empty() => {
                    others.all(|other| other.kind != EffectKind::Observer)
                }
                _ => {
                    let is_alone = others.next().is_none();
                    is_alone && self.unknown == 0 || is_alone && !direct.is_empty() && door.is_fixed(open.op, ret)
                }
            };
            if !is_useless {
                stack.push((configuration.clone(), false));
            }
        }
        let mut visited: HashSet<Configuration, hash::Builder> = HashSet::default();
        while let Some((from, is_after_blind)) = stack.pop() {
            for (to, is_blind) in self.successors(door, &from, open, Some(ret), is_after_blind) {
                if !visited.insert(to.clone()) {
                    continue;
                }
                if visited.len() > most.saturating_mul(4) {
                    return Err(TooMany);
                }
                // If the returning operation could have had its result at no cost in a
                // configuration, further operations can wait. So on each path, only the first such
                // configuration is needed.
                if to.has_seen(open.op, ret) && !from.has_seen(open.op, ret) {
                    front.insert_without(&to, open.op)?;
                    if observes {
                        continue;
                    }
                }
                let direct = door.step(to.state, open.op, Some(ret));
                self.finish(door, &to, open, &direct, &mut front)?;
                stack.push((to, is_blind));
            }
        }
        Ok(front.configurations)
    }

    /// Lets the returning operation take effect in the configuration `from` by each step in
    /// `direct`, and adds the resulting configurations to `front`. Skips steps that do not change
    /// the state, unless the operation is a blind write.
    fn finish(
        &self,
        door: &mut dyn Door,
        from: &Configuration,
        open: Open,
        direct: &Steps,
        front: &mut Front,
    ) -> Result<(), TooMany> {
        for &(ret, next) in direct {
            if next != from.state || open.kind == EffectKind::Blind {
                front.insert(self.take(door, from, Candidate::Open(open), (ret, next), open.op))?;
            }
        }
        Ok(())
    }

    /// Returns the blind writes that may have taken effect just before the configuration's last blind write, each with
    /// its result and the state that it leads to.
    fn flashes(
        &self,
        door: &mut dyn Door,
        configuration: &Configuration,
        returning: u32,
    ) -> Vec<(Candidate, u32, u32)> {
        let mut flashes = Vec::new();
        for candidate in self.candidates(configuration, EffectKind::Blind, returning) {
            let called = match candidate {
                Candidate::Open(open) => open.called,
                Candidate::Group { group, .. } => {
                    self.groups[group as usize].called[configuration.used(group) as usize]
                }
            };
            if called < configuration.gap {
                let steps = door.step(configuration.state, candidate.op(), None);
                flashes.extend(steps.into_iter().map(|(ret, next)| (candidate, ret, next)));
            }
        }
        flashes
    }

    /// Records the results that open operations could have had in `state` without changing it. It is
    /// the state after a blind write that took effect in the last gap. Skips the operation
    /// `returning`, which is no longer open.
    fn see_flash(&self, door: &mut dyn Door, to: &mut Configuration, state: u32, returning: u32) {
        for other in &self.open {
            let may_see = other.op != returning && other.called < to.gap && other.kind != EffectKind::Blind;
            if may_see && to.result(other.op).is_none() {
                for (ret, next) in door.step(state, other.op, None) {
                    if next == state {
                        to.see(other.op, ret);
                    }
                }
            }
        }
    }

    /// Explains the result of the returning operation by a blind write that took effect just before the last blind
    /// write, and adds the resulting configurations to `front`.
    fn flash(
        &self,
        door: &mut dyn Door,
        configuration: &Configuration,
        open: Open,
        ret: u32,
        front: &mut Front,
    ) -> Result<(), TooMany> {
        for (candidate, result, state) in self.flashes(door, configuration, open.op) {
            if !door.step(state, open.op, Some(ret)).iter().any(|(_, next)| *next == state) {
                continue;
            }
            let mut to = configuration.clone();
            to.leave(open.op);
            match candidate {
                Candidate::Open(write) => to.complete(write.op, result),
                Candidate::Group { group, .. } => to.set_used(group, configuration.used(group) + 1),
            }
            self.see_flash(door, &mut to, state, open.op);
            front.insert(to)?;
        }
        Ok(())
    }

    /// Returns the configurations in which one more operation has taken effect before `open`
    /// returns with the result `ret`, or with any result if `ret` is `None`. Each configuration has
    /// a flag that is set if this operation is a blind write; `is_after_blind` is the flag of
    /// `from`.
    fn successors(
        &self,
        door: &mut dyn Door,
        from: &Configuration,
        open: Open,
        ret: Option<u32>,
        is_after_blind: bool,
    ) -> Vec<(Configuration, bool)> {
        let mut to = Vec::new();
        let others: Vec<Candidate> = self.candidates(from, EffectKind::Other, open.op).collect();
        for &candidate in &others {
            for step in door.step(from.state, candidate.op(), None) {
                if step.1 != from.state {
                    to.push((self.take(door, from, candidate, step, open.op), false));
                }
            }
        }
        // A blind write directly before another blind write needs no configuration of its own:
        // either no operation saw its effect, or `flash` adds the configurations in which the
        // returning operation saw it.
        if is_after_blind || open.kind == EffectKind::Blind && others.is_empty() {
            return to;
        }
        let blind: Vec<Candidate> = self.candidates(from, EffectKind::Blind, open.op).collect();
        for candidate in blind {
            for step in door.step(from.state, candidate.op(), None) {
                let state = step.1;
                let is_useful = open.kind != EffectKind::Blind
                    && (ret.is_none() || !door.step(state, open.op, ret).is_empty())
                    || others.iter().any(|other| door.step(state, other.op(), None).iter().any(|next| next.1 != state));
                if is_useful {
                    to.push((self.take(door, from, candidate, step, open.op), true));
                }
            }
        }
        to
    }

    /// Returns the results that an open operation could return next, and whether the list is complete.
    fn results(&self, door: &mut dyn Door, open: Open, most: usize) -> (Vec<u32>, bool) {
        let mut results = Vec::new();
        let mut stack = Vec::new();
        for configuration in &self.configurations {
            if let Some(result) = configuration.result(open.op) {
                results.push(result);
                continue;
            }
            if open.kind != EffectKind::Blind && configuration.gap > open.called {
                for (_, _, state) in self.flashes(door, configuration, open.op) {
                    let steps = door.step(state, open.op, None);
                    results.extend(steps.iter().filter(|(_, next)| *next == state).map(|(ret, _)| *ret));
                }
            }
            stack.push((configuration.clone(), false));
        }
        let mut visited: HashSet<Configuration, hash::Builder> = HashSet::default();
        let mut are_all = true;
        while let Some((from, is_after_blind)) = stack.pop() {
            results.extend(from.seen.iter().filter(|(op, _)| *op == open.op).map(|(_, ret)| *ret));
            results.extend(door.step(from.state, open.op, None).iter().map(|(ret, _)| *ret));
            for (to, is_blind) in self.successors(door, &from, open, None, is_after_blind) {
                if visited.len() >= most {
                    are_all = false;
                } else if visited.insert(to.clone()) {
                    stack.push((to, is_blind));
                }
            }
        }
        results.sort_unstable();
        results.dedup();
        (results, are_all)
    }
}

/// A set of configurations. A configuration is dropped if another one dominates it. (In a large set,
/// some dominated configurations stay, because finding them would take too long.)
struct Front {
    configurations: Vec<Configuration>,
    most: usize,
    /// The configurations by state. Used only if there are more than [`FEW`] configurations.
    by_state: HashMap<u32, Vec<u32>, hash::Builder>,
    all: HashSet<Configuration, hash::Builder>,
}

/// In a set of at most this many configurations, a new configuration is compared with all others. In
/// a larger set, it is compared with at most this many configurations that have the same state.
const FEW: usize = 32;

impl Front {
    fn new(most: usize) -> Self {
        Self { configurations: Vec::new(), most, by_state: HashMap::default(), all: HashSet::default() }
    }

    /// Adds a copy of a configuration from which the operation `op` has been removed, because `op`
    /// returns.
    fn insert_without(&mut self, configuration: &Configuration, op: u32) -> Result<(), TooMany> {
        let mut configuration = configuration.clone();
        configuration.leave(op);
        self.insert(configuration)
    }

    fn insert(&mut self, new: Configuration) -> Result<(), TooMany> {
        if self.configurations.len() <= FEW {
            if !self.configurations.iter().any(|old| old.dominates(&new)) {
                self.configurations.retain(|old| !new.dominates(old));
                self.configurations.push(new);
            }
            return Ok(());
        }
        if self.all.is_empty() {
            self.all.extend(self.configurations.iter().cloned());
            for (number, configuration) in (0..).zip(&self.configurations) {
                self.by_state.entry(configuration.state).or_default().push(number);
            }
        }
        let alike = self.by_state.entry(new.state).or_default();
        let dominates = |old: &u32| self.configurations[*old as usize].dominates(&new);
        if alike.iter().take(FEW).any(dominates) || !self.all.insert(new.clone()) {
            return Ok(());
        }
        if self.configurations.len() >= self.most {
            return Err(TooMany);
        }
        alike.push(u32::try_from(self.configurations.len()).expect("memory runs out before 2^32 configurations"));
        self.configurations.push(new);
        Ok(())
    }
}

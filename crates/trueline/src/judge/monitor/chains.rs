//! Chains of values: the common part of the monitors for registers with read-modify-write and for keys of a map.
//!
//! Every value is written by one operation, its *writer*. Some changes report the value that they
//! replaced, and each value is reported by at most one of them. So values form **chains**. A chain
//! begins with the initial value or with a writer that does not depend on another value (a blind
//! write, or an insertion where no value was). Then come the operations that look at the value, the
//! operation that replaced it and left the next value, and so on. In a linearization, each chain is
//! a contiguous block in this order. The monitor checks three conditions:
//!
//! 1. No two operations replaced the same value, every value that was seen is the initial one or was written, and
//!    replacements do not form a cycle.
//! 2. Along a chain, no operation returned before the call of an earlier operation of the chain (the operations that
//!    look at one value come in any order).
//! 3. The [zone test](super::zones) finds an order of the chains.
//!
//! A history that violates one of these conditions is not linearizable. Conversely, chains that
//! satisfy conditions 1 and 2, in the order of condition 3, are a linearization: no operation
//! returned before the call of an earlier one, by condition 2 within a chain and by condition 3
//! between chains.
//!
//! # Operations that never returned
//! A change that never returned took effect if its value was seen by an operation that returned, or
//! by another never-returning change that took effect for the same reason. It may have taken effect
//! at any time after its call. All other never-returning changes are left out. (Without them, a
//! linearization is still a linearization: no operation saw their values, so the operation that
//! directly follows them, if there is one, is a blind write.) Removes leave no value to be seen;
//! `map_key` describes how removes that never returned are treated.
//!
//! # Complexity
//! O(events + values) time; about 45 bytes for each operation.

use super::zones::{NONE, Zone, arrange};
use super::{Answer, Input, NEVER, Span, ValueId};

/// The role of an operation in its chain. A value of `None` means that the key is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Look(Option<ValueId>),
    Change { old: Old, new: Option<ValueId> },
}

impl Role {
    fn saw(self) -> Option<ValueId> {
        match self {
            Self::Look(value) => value,
            Self::Change { old: Old::Value(value), .. } => Some(value),
            Self::Change { .. } => None,
        }
    }
}

/// The old value that a change found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Old {
    /// The change is a blind write: it did not look at the old value.
    Any,
    Value(ValueId),
    /// The change found no value.
    Nothing,
    /// The old value is unknown, because the change never returned.
    Unknown,
}

/// The kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    /// An object that always has a value. Chains begin with the initial value or with a blind
    /// write.
    Register,
    /// A key that is initially absent. Chains begin with an insertion that found no value, and end
    /// with a remove; one chain may last to the end of the history.
    Key,
}

/// The operations on one value.
#[derive(Clone, Copy, Debug)]
struct Value {
    /// The operation that wrote the value.
    writer: u32,
    /// The operation that replaced the value.
    next: u32,
    /// The zone of the operations that looked at the value and returned: the earliest of their
    /// returns and the latest of their calls.
    looks: Zone,
    /// Initially, the number of operations that looked at the value and returned. Later, the index
    /// in the witness at which the next of these operations is placed.
    count: u32,
}

impl Value {
    const UNSEEN: Self = Self { writer: NONE, next: NONE, looks: Zone::EMPTY, count: 0 };
}

/// The reason why the history is not accepted.
enum Stop {
    Conflict(Vec<u32>),
    Refused(&'static str),
}

type Checked<T> = Result<T, Stop>;

pub(super) fn judge(input: &Input, object: Object, role: impl Fn(&Span) -> Option<Role> + Copy) -> Answer {
    let mut chains = Chains {
        input,
        object,
        role,
        values: Vec::new(),
        absent: Vec::new(),
        changes: 0,
        remove: NONE,
        removes: Vec::new(),
        left_out: Vec::new(),
    };
    match chains.run() {
        Ok(order) => Answer::Accepted(order),
        Err(Stop::Conflict(operations)) => Answer::Rejected(chains.complete(operations)),
        Err(Stop::Refused(why)) => Answer::Refused(why),
    }
}

struct Chains<'a, F> {
    input: &'a Input,
    object: Object,
    role: F,
    values: Vec<Value>,
    /// The operations that looked and found the key absent. For the zone test, each counts as a
    /// chain of its own.
    absent: Vec<u32>,
    /// The number of changes that are not left out.
    changes: usize,
    /// Among the removes that never returned and whose old value is unknown, the one that was called
    /// first.
    remove: u32,
    /// The removes that never returned and whose old value is known, in the order of their calls.
    removes: Vec<u32>,
    /// The values of the writers that never returned and are left out, sorted by value, each with
    /// its writer.
    left_out: Vec<(ValueId, u32)>,
}

impl<F: Fn(&Span) -> Option<Role> + Copy> Chains<'_, F> {
    fn run(&mut self) -> Checked<Vec<u32>> {
        self.find_writers()?;
        self.link()?;
        let zones = self.walk_all()?;
        let initial = self.input.initial.map(|value| value.0);
        let order = arrange(&zones, self.input.events, initial).map_err(|[first, second]| {
            let ends = |block: u32| {
                let Zone { first_return, last_call } = zones[block as usize];
                // The block of the initial value began before the history. So its last call may be
                // part of the conflict, but its first return is not.
                [first_return, last_call].into_iter().filter(move |end| initial != Some(block) || *end == last_call)
            };
            let ends = ends(first).chain(ends(second)).filter(|&end| end != NEVER);
            let mut operations: Vec<u32> = ends.map(|end| self.at(end)).collect();
            operations.sort_unstable();
            operations.dedup();
            Stop::Conflict(operations)
        })?;
        Ok(self.witness(&order))
    }

    fn span(&self, op: u32) -> &Span {
        &self.input.spans[op as usize]
    }

    fn role_of(&self, op: u32) -> Role {
        (self.role)(self.span(op)).expect("every operation has been processed")
    }

    fn value(&mut self, value: ValueId) -> &mut Value {
        &mut self.values[value.index()]
    }

    /// Returns the operation that is called or returns at this position.
    fn at(&self, position: u32) -> u32 {
        let found = self.input.spans.iter().position(|span| span.call == position || span.ret == position);
        u32::try_from(found.expect("a zone ends at the position of an event"))
            .expect("the number of operations fits in 32 bits")
    }

    /// Finds the writer of each value, and leaves out never-returning changes whose values were not seen.
    fn find_writers(&mut self) -> Checked<()> {
        self.values = vec![Value::UNSEEN; self.input.values as usize];
        let mut pending = Vec::new();
        for (op, span) in (0..).zip(&self.input.spans) {
            let Some(role) = (self.role)(span) else {
                return Err(Stop::Refused("the algorithm does not support some of the operations"));
            };
            if let Role::Change { new, .. } = role {
                if let Some(new) = new {
                    let repeated = self.value(new).writer != NONE || self.input.initial == Some(new);
                    if repeated {
                        return Err(Stop::Refused("the same value is written twice"));
                    }
                    self.value(new).writer = op;
                }
                if span.ret == NEVER {
                    pending.push(op);
                }
            }
        }
        if pending.is_empty() { Ok(()) } else { self.leave_out_unseen(&pending) }
    }

    /// Leaves out the never-returning operations that need not have taken effect. `pending` holds all never-returning
    /// changes, in the order of their calls.
    fn leave_out_unseen(&mut self, pending: &[u32]) -> Checked<()> {
        // For each value, whether an operation that took effect saw it.
        let mut seen = vec![false; self.values.len()];
        let mut found = Vec::new();
        for span in self.input.spans.iter().filter(|span| span.ret != NEVER) {
            found.extend((self.role)(span).and_then(Role::saw));
            while let Some(value) = found.pop() {
                if !std::mem::replace(&mut seen[value.index()], true) {
                    let writer = self.value(value).writer;
                    if writer != NONE && self.span(writer).ret == NEVER {
                        found.extend(self.role_of(writer).saw());
                    }
                }
            }
        }
        for &op in pending {
            match self.role_of(op) {
                Role::Change { new: Some(new), .. } if !seen[new.index()] => {
                    self.value(new).writer = NONE;
                    self.left_out.push((new, op));
                }
                Role::Change { old: Old::Unknown, new: None } if self.remove == NONE => self.remove = op,
                Role::Change { old: Old::Value(_), new: None } => self.removes.push(op),
                _ => {}
            }
        }
        self.left_out.sort_unstable();
        let unknown = |value: &Value| {
            value.writer != NONE && matches!(self.role_of(value.writer), Role::Change { old: Old::Unknown, .. })
        };
        if self.values.iter().any(unknown) {
            return Err(Stop::Refused(
                "an operation that never returned wrote a value that was read, but the value that it replaced is unknown",
            ));
        }
        Ok(())
    }

    /// Links each value to the operations that saw it.
    fn link(&mut self) -> Checked<()> {
        for (op, span) in (0..).zip(&self.input.spans) {
            match (self.role)(span) {
                Some(Role::Look(value)) if span.ret != NEVER => match value {
                    None => self.absent.push(op),
                    Some(value) => {
                        let value = self.value(value);
                        value.looks.add(span.call, span.ret);
                        value.count += 1;
                    }
                },
                Some(Role::Change { old, new }) => {
                    let left_out = match new {
                        Some(new) => self.value(new).writer != op,
                        None => span.ret == NEVER,
                    };
                    if left_out {
                        continue;
                    }
                    self.changes += 1;
                    if let Old::Value(old) = old {
                        let other = std::mem::replace(&mut self.value(old).next, op);
                        if other != NONE {
                            return Err(Stop::Conflict(vec![other, op]));
                        }
                    }
                }
                _ => {}
            }
        }
        for (id, value) in (0..).zip(&self.values) {
            if value.writer == NONE && self.input.initial != Some(ValueId(id)) {
                if value.next != NONE {
                    return Err(Stop::Conflict(vec![value.next]));
                }
                if value.looks.first_return != NEVER {
                    return Err(Stop::Conflict(vec![self.at(value.looks.first_return)]));
                }
            }
        }
        self.link_removes()
    }

    /// Adds removes that never returned to the ends of chains, if the values that they removed are
    /// known. This loses no linearization: a remove that took no effect can take effect at the end
    /// of the history.
    fn link_removes(&mut self) -> Checked<()> {
        for op in std::mem::take(&mut self.removes) {
            let Role::Change { old: Old::Value(old), .. } = self.role_of(op) else { continue };
            if self.value(old).writer == NONE {
                let left_out = self.left_out.binary_search_by_key(&old, |&(value, _)| value);
                match left_out.map(|index| self.role_of(self.left_out[index].1)) {
                    // Either no operation wrote the value, so the remove took no effect, or the remove ended a chain in
                    // which no operation returned.
                    Err(_) | Ok(Role::Change { old: Old::Nothing, .. }) => continue,
                    Ok(_) => {
                        return Err(Stop::Refused(
                            "a remove never returned, and neither did the operation whose value it removed",
                        ));
                    }
                }
            }
            if self.value(old).next != NONE {
                // The value was replaced by another one, or removed by an operation that was called earlier.
                continue;
            }
            if self.remove != NONE {
                return Err(Stop::Refused("the results of some, but not all, removes that never returned are known"));
            }
            self.value(old).next = op;
            self.changes += 1;
        }
        Ok(())
    }

    fn is_head(&self, value: u32) -> bool {
        let writer = self.values[value as usize].writer;
        if writer == NONE {
            return self.input.initial == Some(ValueId(value));
        }
        matches!(self.role_of(writer), Role::Change { old: Old::Any | Old::Nothing, .. })
    }

    /// Checks each chain. Returns the zones of the chains, indexed by their first values, followed
    /// by the zones of the operations in `absent`.
    fn walk_all(&mut self) -> Checked<Vec<Zone>> {
        let mut zones = vec![Zone::EMPTY; self.values.len()];
        // The number of changes in chains; changes in cycles are not in any chain.
        let mut walked = 0;
        let mut unended = None;
        let mut several = false;
        for head in 0..self.input.values {
            if !self.is_head(head) {
                continue;
            }
            let (zone, last) = self.walk(head, &mut walked)?;
            zones[head as usize] = zone;
            if let (Object::Key, Some(last)) = (self.object, last) {
                several |= unended.is_some();
                unended = Some((head, last));
                zones[head as usize].last_call = NEVER;
            }
        }
        if walked != self.changes {
            return Err(Stop::Conflict(self.cycle()));
        }
        if self.remove != NONE {
            if several {
                return Err(Stop::Refused("several values may have been removed by operations that never returned"));
            }
            if let Some((head, last)) = unended {
                // If there are several removes that never returned and whose old values are unknown,
                // it does not matter which of them took effect, so choose the one that was called
                // first. If none of them took effect, this remove can take effect at the end.
                self.values[last as usize].next = self.remove;
                zones[head as usize] = self.walk(head, &mut walked)?.0;
            }
        }
        zones.extend(self.absent.iter().map(|&op| {
            let Span { call, ret, .. } = *self.span(op);
            Zone { first_return: ret, last_call: call }
        }));
        Ok(zones)
    }

    /// Checks the order along a chain. Returns the zone of the chain, and its last value if no
    /// operation removed this value.
    fn walk(&self, head: u32, walked: &mut usize) -> Checked<(Zone, Option<u32>)> {
        let mut zone = Zone::EMPTY;
        // Whether any operation has been added to `zone`. Until then, the last call of the zone has
        // no meaning.
        let mut begun = false;
        let mut value = head;
        let mut op = self.values[head as usize].writer;
        loop {
            if op != NONE {
                let Span { call, ret, .. } = *self.span(op);
                if begun && ret < zone.last_call {
                    return Err(Stop::Conflict(vec![self.at(zone.last_call), op]));
                }
                *walked += 1;
                zone.add(call, ret);
                begun = true;
                match self.role_of(op) {
                    Role::Change { new: Some(new), .. } => value = new.0,
                    _ => return Ok((zone, None)),
                }
            }
            let Value { looks, next, .. } = self.values[value as usize];
            if looks.first_return != NEVER {
                if begun && looks.first_return < zone.last_call {
                    return Err(Stop::Conflict(vec![self.at(zone.last_call), self.at(looks.first_return)]));
                }
                zone.merge(looks);
                begun = true;
            }
            if next == NONE {
                return Ok((zone, Some(value)));
            }
            op = next;
        }
    }

    /// Returns operations that replaced each other's values in a cycle. The caller must know that
    /// some value belongs to no chain.
    fn cycle(&self) -> Vec<u32> {
        let mut met = vec![false; self.values.len()];
        for head in (0..self.input.values).filter(|&value| self.is_head(value)) {
            let mut value = head;
            loop {
                met[value as usize] = true;
                let next = self.values[value as usize].next;
                if next == NONE {
                    break;
                }
                let Role::Change { new: Some(new), .. } = self.role_of(next) else { break };
                value = new.0;
            }
        }
        let unreached = (0..self.input.values)
            .find(|&value| !met[value as usize] && self.values[value as usize].writer != NONE)
            .expect("a cycle contains a value that is not on any chain");
        // Starting at `unreached`, go from each value to the value that it replaced. The first
        // value that is met twice is on the cycle.
        let mut operations = Vec::new();
        let mut value = unreached;
        while !met[value as usize] {
            met[value as usize] = true;
            let writer = self.values[value as usize].writer;
            operations.push(writer);
            match self.role_of(writer) {
                Role::Change { old: Old::Value(old), .. } => value = old.0,
                _ => unreachable!("a value outside all chains does not begin a chain"),
            }
        }
        let start = operations.iter().position(|&op| op == self.values[value as usize].writer);
        operations.split_off(start.expect("the value has already been visited"))
    }

    /// Returns the linearization in which the blocks are in the order of `blocks`. Each block is a
    /// chain, or a single operation that found no value.
    fn witness(&mut self, blocks: &[u32]) -> Vec<u32> {
        let values = self.input.values;
        let mut order = Vec::with_capacity(self.input.spans.len());
        for &block in blocks {
            if block >= values {
                order.push(self.absent[(block - values) as usize]);
                continue;
            }
            let mut value = block;
            let mut op = self.values[block as usize].writer;
            loop {
                if op != NONE {
                    order.push(op);
                    match self.role_of(op) {
                        Role::Change { new: Some(new), .. } => value = new.0,
                        _ => break,
                    }
                }
                let place = u32::try_from(order.len()).expect("the number of operations fits in 32 bits");
                let value = &mut self.values[value as usize];
                order.resize(order.len() + value.count as usize, NONE);
                value.count = place;
                op = value.next;
                if op == NONE {
                    break;
                }
            }
        }
        for (op, span) in (0..).zip(&self.input.spans) {
            if span.ret == NEVER {
                continue;
            }
            if let Some(Role::Look(Some(value))) = (self.role)(span) {
                let place = &mut self.values[value.index()].count;
                order[*place as usize] = op;
                *place += 1;
            }
        }
        order
    }

    /// Returns the given operations and two kinds of further operations: those that show that a
    /// given operation took effect although it never returned; and, for each value that a given or
    /// an added operation saw, the writer of this value.
    fn complete(&self, mut operations: Vec<u32>) -> Vec<u32> {
        self.add_those_who_show_it(&mut operations);
        for index in 0..operations.len() {
            if let Some(value) = self.role_of(operations[index]).saw() {
                let writer = self.values[value.index()].writer;
                if writer != NONE && !operations.contains(&writer) {
                    operations.push(writer);
                }
            }
        }
        operations.sort_unstable();
        operations
    }

    /// For each of these operations that never returned, adds an operation that shows that it took effect: one that
    /// saw its value and returned or, if there is none, one that saw its value and took effect without returning. The
    /// same is done for the added operations.
    fn add_those_who_show_it(&self, operations: &mut Vec<u32>) {
        let pending = |op: u32| self.span(op).ret == NEVER;
        if !operations.iter().any(|&op| pending(op)) {
            return;
        }
        // For each value, an operation that saw it, preferably one that returned.
        let mut seen_by = vec![NONE; self.values.len()];
        for (op, span) in (0..).zip(&self.input.spans) {
            let value = match (self.role)(span) {
                Some(Role::Look(Some(value))) if span.ret != NEVER => value,
                Some(Role::Change { old: Old::Value(value), new: Some(new) })
                    if self.values[new.index()].writer == op =>
                {
                    value
                }
                Some(Role::Change { old: Old::Value(value), new: None }) if span.ret != NEVER => value,
                _ => continue,
            };
            let by = &mut seen_by[value.index()];
            if *by == NONE || pending(*by) {
                *by = op;
            }
        }
        let mut index = 0;
        while let Some(&op) = operations.get(index) {
            index += 1;
            if let (true, Role::Change { new: Some(new), .. }) = (pending(op), self.role_of(op)) {
                let by = seen_by[new.index()];
                if by != NONE && !operations.contains(&by) {
                    operations.push(by);
                }
            }
        }
    }
}

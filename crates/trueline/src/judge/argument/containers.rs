//! Rules for queues, stacks, priority queues and bags, based on the values that were put in and
//! taken out.
//!
//! Most rules apply only to values that exactly one operation of the core puts in. Each rule is one of the conditions
//! of the monitors (`judge/monitor/container.rs`), stated for two values.

use std::cmp::Ordering;
use std::rc::Rc;

use super::executions::{Executions, Mask, bit, ops};
use super::prover::{Known, Proposal, Rule, id, ids};
use crate::history::OpId;
use crate::verdict::{Before, End, Reason};

/// The effect of an operation on a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handling {
    /// Puts this value in.
    Put(usize),
    /// Takes this value out.
    Take(usize),
    /// Sees this value.
    Look(usize),
    /// Finds nothing.
    Empty,
    /// Takes out an unknown value, or nothing.
    Unknown,
    /// Takes nothing out, and has a result that the rules do not use.
    Nothing,
}

/// The order in which values come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discipline {
    Queue,
    Stack,
    Priority,
    Bag,
}

/// The rules of a container.
#[derive(Debug)]
pub(super) struct Container {
    discipline: Discipline,
    handling: Vec<Handling>,
    values: Vec<Value>,
    /// `order[a][b]` is the result of comparing value `a` with value `b`.
    order: Vec<Vec<Ordering>>,
}

/// The operations that put a value in, take it out, or look at it.
#[derive(Clone, Debug, Default)]
struct Value {
    puts: Vec<usize>,
    takes: Vec<usize>,
    looks: Vec<usize>,
}

impl Value {
    /// Returns the operation that put the value in, if there is exactly one.
    fn put(&self) -> Option<usize> {
        if let [put] = self.puts.as_slice() { Some(*put) } else { None }
    }

    fn outs(&self) -> impl Iterator<Item = usize> + '_ {
        self.takes.iter().chain(&self.looks).copied()
    }
}

/// The operations that may have taken a value out.
enum Taker {
    /// No operation.
    None,
    /// Only this operation.
    One(usize),
    /// Several operations.
    Several,
}

impl Container {
    pub(super) fn new(discipline: Discipline, handling: Vec<Handling>, order: Vec<Vec<Ordering>>) -> Self {
        let mut values = vec![Value::default(); order.len()];
        for (op, handling) in handling.iter().enumerate() {
            match handling {
                Handling::Put(value) => values[*value].puts.push(op),
                Handling::Take(value) => values[*value].takes.push(op),
                Handling::Look(value) => values[*value].looks.push(op),
                Handling::Empty | Handling::Unknown | Handling::Nothing => {}
            }
        }
        Self { discipline, handling, values, order }
    }

    fn unknown(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.handling.len()).filter(|op| self.handling[*op] == Handling::Unknown)
    }

    /// Returns the operations that may have taken out a value that was put in exactly once.
    fn taker(&self, value: &Value) -> Taker {
        let mut takers = value.takes.iter().copied().chain(self.unknown());
        match (takers.next(), takers.next()) {
            (None, _) => Taker::None,
            (Some(one), None) => Taker::One(one),
            _ => Taker::Several,
        }
    }

    /// Returns the values that are put in exactly once, each with its number and the operation that puts it in.
    fn single(&self) -> impl Iterator<Item = (usize, &Value, usize)> + '_ {
        self.values.iter().enumerate().filter_map(|(number, value)| Some((number, value, value.put()?)))
    }

    fn sources(&self, known: &Known, proposals: &mut Vec<Proposal>) {
        for value in &self.values {
            if let Some(put) = value.put() {
                proposals.extend(value.outs().map(|out| Proposal::before(put, out, Reason::Source, &[])));
            }
            if let ([_], [take]) = (value.puts.as_slice(), value.takes.as_slice()) {
                let seen = |look: &usize| Proposal::before(*look, *take, Reason::Seen, &[]);
                proposals.extend(value.looks.iter().filter(|look| known.is_certain(**look)).map(seen));
            }
            let is_too_often = value.takes.len() > value.puts.len();
            let outs: Vec<usize> = if is_too_often { value.takes.clone() } else { value.looks.clone() };
            if is_too_often || value.puts.is_empty() {
                let reason = Reason::TakenTooOften { puts: ids(value.puts.clone()), takes: ids(outs.clone()) };
                proposals.extend(outs.last().map(|last| Proposal::impossible(*last, reason, &[])));
            }
        }
    }

    /// Proposes a claim about `value`, which must be taken out before `user` if the claims `given` hold. If only one
    /// operation may have taken the value out, proposes that this operation comes before `user`. If no operation may
    /// have taken it out, proposes that `user` is impossible.
    fn out_before(
        &self,
        (value, user): (&Value, usize),
        given: &[(usize, usize)],
        (taken, stuck): (Reason, Reason),
        proposals: &mut Vec<Proposal>,
    ) {
        match self.taker(value) {
            Taker::None => proposals.push(Proposal::impossible(user, stuck, given)),
            Taker::One(taker) if taker != user => proposals.push(Proposal::before(taker, user, taken, given)),
            Taker::One(_) | Taker::Several => {}
        }
    }

    /// Returns the takers: the operations that may have taken a value out before `empty` returned.
    fn takers(&self, real_time: &[Mask], empty: usize) -> impl Iterator<Item = usize> {
        let takes = |op: &usize| matches!(self.handling[*op], Handling::Take(_) | Handling::Unknown);
        (0..self.handling.len()).filter(takes).filter(move |op| real_time[*op] & bit(empty) == 0)
    }

    /// Returns an argument that contradicts `empty`, an operation that found the container empty: the container was not
    /// empty at any moment while `empty` was open. A *taker* is an operation that may have taken a value out before
    /// `empty` returned. The argument pairs `empty` and each taker with a put of its own. This put returned before the
    /// operation that it is paired with was called.
    ///
    /// Consider the moment at which `empty` took effect. All takers that had taken effect by then
    /// had been called, so their puts had taken effect, too. The put of `empty` had also taken
    /// effect. So more values had been put in than taken out.
    pub(super) fn never_empty<Ret>(&self, executions: &Executions<'_>) -> Option<End<Ret>> {
        let real_time = &executions.real_time;
        let is_empty = |op: &usize| self.handling[*op] == Handling::Empty && executions.completed & bit(*op) != 0;
        (0..self.handling.len()).filter(is_empty).find_map(|empty| {
            let mut users: Vec<usize> = self.takers(real_time, empty).chain([empty]).collect();
            let puts = |op: usize| ops(real_time[op]).filter(|put| matches!(self.handling[*put], Handling::Put(_)));
            // A put that returned before a call also returned before every later call. So a greedy pairing is enough.
            // It begins with the operation that has the fewest puts to choose from.
            users.sort_by_key(|op| puts(*op).count());
            let mut taken = 0;
            let mut first = None;
            let mut pairs = Vec::new();
            for user in users {
                let put = puts(user).find(|put| taken & bit(*put) == 0)?;
                taken |= bit(put);
                if user == empty {
                    first = Some(put);
                } else {
                    pairs.push(Before { first: id(put), second: id(user) });
                }
            }
            Some(End::NeverEmpty { op: id(empty), first: id(first?), pairs })
        })
    }

    /// Returns whether an argument from `never_empty` is correct. This check does not depend on how
    /// the argument was found.
    pub(super) fn is_never_empty(&self, executions: &Executions<'_>, op: OpId, first: OpId, pairs: &[Before]) -> bool {
        let returned_before =
            |first: OpId, second: OpId| executions.real_time[second.index()] & bit(first.index()) != 0;
        let mut puts: Vec<OpId> = pairs.iter().map(|pair| pair.first).chain([first]).collect();
        puts.sort_unstable();
        puts.dedup();
        self.handling[op.index()] == Handling::Empty
            && puts.len() == pairs.len() + 1
            && puts.iter().all(|put| matches!(self.handling[put.index()], Handling::Put(_)))
            && returned_before(first, op)
            && pairs.iter().all(|pair| returned_before(pair.first, pair.second))
            && self
                .takers(&executions.real_time, op.index())
                .all(|taker| pairs.iter().any(|pair| pair.second == id(taker)))
    }

    fn emptiness(&self, known: &Known, proposals: &mut Vec<Proposal>) {
        for empty in (0..self.handling.len()).filter(|op| self.handling[*op] == Handling::Empty) {
            for (_, value, put) in self.single() {
                if known.is_before(put, empty) {
                    let reasons = (Reason::Empty { put: id(put) }, Reason::StillIn { put: id(put) });
                    self.out_before((value, empty), &[(put, empty)], reasons, proposals);
                }
                for out in value.outs().filter(|out| known.is_before(empty, *out) && known.is_certain(empty)) {
                    let reason = Reason::NotYetIn { taken: id(out) };
                    proposals.push(Proposal::before(empty, put, reason, &[(empty, out)]));
                }
            }
        }
    }

    fn first_in_first_out(&self, known: &Known, proposals: &mut Vec<Proposal>) {
        for (one, first, first_in) in self.single() {
            for (_, second, second_in) in self.single().filter(|(other, ..)| *other != one) {
                for out in second.outs().filter(|_| known.is_before(first_in, second_in)) {
                    let given = [(first_in, second_in)];
                    let taken = Reason::FirstInFirstOut { first_in: id(first_in), second_in: id(second_in) };
                    let stuck = Reason::InFront { put: id(first_in), own: id(second_in) };
                    self.out_before((first, out), &given, (taken, stuck), proposals);
                }
                for first_out in first.outs() {
                    for second_out in second.outs().filter(|out| known.is_before(first_out, *out)) {
                        let reason = Reason::FirstOutFirstIn { first_out: id(first_out), second_out: id(second_out) };
                        proposals.push(Proposal::before(first_in, second_in, reason, &[(first_out, second_out)]));
                    }
                }
            }
        }
    }

    fn last_in_first_out(&self, known: &Known, proposals: &mut Vec<Proposal>) {
        for (one, lower, below) in self.single() {
            for (_, upper, above) in self.single().filter(|(other, ..)| *other != one) {
                for out in lower.outs() {
                    if known.is_before(below, above) && known.is_before(above, out) {
                        let given = [(below, above), (above, out)];
                        let taken = Reason::OnTop { below: id(below), above: id(above) };
                        let stuck = Reason::NotTakenOff { below: id(below), above: id(above) };
                        self.out_before((upper, out), &given, (taken, stuck), proposals);
                    }
                    // An operation took out or saw the upper value while the lower value was in the stack. So the lower
                    // value was put in before the upper value.
                    for top in upper.outs().filter(|top| known.is_before(below, *top) && known.is_before(*top, out)) {
                        let reason = Reason::Below { top: id(top), later: id(out) };
                        proposals.push(Proposal::before(below, above, reason, &[(below, top), (top, out)]));
                    }
                }
            }
        }
    }

    fn least_first(&self, known: &Known, proposals: &mut Vec<Proposal>) {
        for (one, lesser, put) in self.single() {
            for (other, greater) in self.values.iter().enumerate() {
                if self.order[one][other] != Ordering::Less {
                    continue;
                }
                for out in greater.outs() {
                    if known.is_before(put, out) {
                        let reasons = (Reason::Lesser { put: id(put) }, Reason::LesserStillIn { put: id(put) });
                        self.out_before((lesser, out), &[(put, out)], reasons, proposals);
                    }
                    for later in lesser.outs().filter(|later| known.is_before(out, *later) && known.is_certain(out)) {
                        let reason = Reason::LesserLater { taken: id(later) };
                        proposals.push(Proposal::before(out, put, reason, &[(out, later)]));
                    }
                }
            }
        }
    }
}

impl Rule for Rc<Container> {
    fn propose(&self, known: &Known, proposals: &mut Vec<Proposal>) {
        self.sources(known, proposals);
        self.emptiness(known, proposals);
        match self.discipline {
            Discipline::Queue => self.first_in_first_out(known, proposals),
            Discipline::Stack => self.last_in_first_out(known, proposals),
            Discipline::Priority => self.least_first(known, proposals),
            Discipline::Bag => {}
        }
    }
}

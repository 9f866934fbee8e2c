//! Checks the claims that an argument makes about a core.

use trueline::history::{History, OpId};
use trueline::spec::Spec;
use trueline::verdict::{Argument, Before, Core, End, Ground, NoPlace, Proof};

use super::definition::{self, Known};

/// Returns all false claims of an argument.
pub(super) fn false_claims<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    core: &Core<S::Op, S::Ret>,
    argument: &Argument<S::Ret>,
) -> Vec<String> {
    let mut calls = definition::all::<S>(&core.history);
    for (call, member) in calls.iter_mut().zip(&core.members) {
        call.id = member.id;
    }
    let mut orders: Vec<Vec<OpId>> = Vec::new();
    definition::for_each_order(spec, &calls, &mut |order| orders.push(order.to_vec()));
    let mut claims = Claims { spec, history, calls, orders, wrong: Vec::new() };
    claims.proof(&argument.proof, &[]);
    claims.wrong
}

/// Returns the operations that an argument names.
pub(super) fn named<R: std::fmt::Debug>(argument: &Argument<R>) -> Vec<OpId> {
    let text = format!("{argument:?}");
    let numbers = text.split("OpId(").skip(1).map(|rest| rest.split(')').next().expect("the parenthesis is closed"));
    let mut named: Vec<OpId> = numbers.map(|number| OpId(number.parse().expect("a number"))).collect();
    named.sort_unstable();
    named.dedup();
    named
}

struct Claims<'h, S: Spec> {
    spec: &'h S,
    history: &'h History<S::Op, S::Ret>,
    /// The known facts about the operations of the core, with their numbers in the whole history.
    calls: Vec<Known<'h, S>>,
    /// All legal orders of these operations, whenever they were called.
    orders: Vec<Vec<OpId>>,
    wrong: Vec<String>,
}

/// Returns whether a claim holds in an order: if the second operation took effect, so did the first, before the second.
fn holds(claim: Before, order: &[OpId]) -> bool {
    let place = |id: OpId| order.iter().position(|other| *other == id);
    place(claim.second).is_none_or(|second| place(claim.first).is_some_and(|first| first < second))
}

/// Returns whether a claim follows from others by transitivity.
fn follows(claim: Before, known: &[Before]) -> bool {
    let mut reached = vec![claim.first];
    let mut at = 0;
    while at < reached.len() {
        let next = known.iter().filter(|step| step.first == reached[at]).map(|step| step.second);
        let new: Vec<OpId> = next.filter(|id| !reached.contains(id)).collect();
        if known.iter().any(|step| step.first == reached[at] && step.second == claim.second) {
            return true;
        }
        reached.extend(new);
        at += 1;
    }
    false
}

impl<S: Spec> Claims<'_, S> {
    fn call(&self, id: OpId) -> Option<&Known<'_, S>> {
        self.calls.iter().find(|call| call.id == id)
    }

    fn is_sure(&self, id: OpId) -> bool {
        self.call(id).is_some_and(|call| call.is_sure)
    }

    /// Returns whether an operation certainly took effect, perhaps because an operation that comes after it did.
    fn takes_effect(&self, id: OpId, known: &[Before]) -> bool {
        let is_needed = |call: &Known<'_, S>| call.is_sure && follows(Before { first: id, second: call.id }, known);
        self.is_sure(id) || self.calls.iter().any(is_needed)
    }

    fn say(&mut self, is_right: bool, what: impl FnOnce() -> String) {
        if !is_right {
            self.wrong.push(what());
        }
    }

    fn proof(&mut self, proof: &Proof<S::Ret>, given: &[Before]) {
        let mut known = given.to_vec();
        for step in &proof.steps {
            let claim = step.claim;
            match &step.ground {
                Ground::RealTime => {
                    let is_right = self.history.precedes(claim.first, claim.second);
                    self.say(is_right, || format!("{claim:?} by real time"));
                }
                Ground::Value { given, .. } => {
                    let are_known = given.iter().all(|claim| follows(*claim, &known));
                    self.say(are_known, || format!("{step:?} rests on what was not claimed"));
                    let holds_in =
                        |order: &Vec<OpId>| !given.iter().all(|given| holds(*given, order)) || holds(claim, order);
                    let is_right = self.orders.iter().all(holds_in);
                    self.say(is_right, || format!("{step:?} does not hold in all legal orders"));
                }
            }
            known.push(claim);
        }
        match &proof.end {
            End::Circle(circle) => {
                let next = |at: usize| circle[(at + 1) % circle.len()];
                let is_circle =
                    (0..circle.len()).all(|at| follows(Before { first: circle[at], second: next(at) }, &known));
                self.say(is_circle, || format!("{circle:?} is not a circle of {known:?}"));
                let is_sure = circle.iter().any(|id| self.is_sure(*id));
                self.say(is_sure, || format!("nothing in the circle {circle:?} took effect for sure"));
            }
            End::Impossible { op, given, .. } => {
                let are_known = given.iter().all(|claim| follows(*claim, &known));
                self.say(are_known, || format!("{:?} rests on what was not claimed", proof.end));
                let takes_effect =
                    |order: &Vec<OpId>| order.contains(op) && given.iter().all(|given| holds(*given, order));
                let is_right = self.takes_effect(*op, &known) && !self.orders.iter().any(takes_effect);
                self.say(is_right, || format!("{:?}, but it is possible", proof.end));
            }
            End::NeverEmpty { op, first, pairs } => {
                let mut puts: Vec<OpId> = pairs.iter().map(|pair| pair.first).chain([*first]).collect();
                puts.sort_unstable();
                puts.dedup();
                self.say(puts.len() == pairs.len() + 1, || format!("{:?}: a put is counted twice", proof.end));
                let in_time = self.history.precedes(*first, *op)
                    && pairs.iter().all(|pair| self.history.precedes(pair.first, pair.second));
                self.say(in_time, || format!("{:?}: not in real time", proof.end));
                let are_sure = puts.iter().all(|id| self.is_sure(*id)) && self.is_sure(*op);
                self.say(are_sure, || format!("{:?}: something need not have taken effect", proof.end));
            }
            End::Cases { assumed, yes, no } => {
                let Before { first, second } = *assumed;
                let are_sure = self.is_sure(first) && self.is_sure(second);
                self.say(are_sure, || {
                    format!("{assumed:?} or the other way round, but one need not have taken effect")
                });
                self.proof(yes, &[known.as_slice(), &[*assumed]].concat());
                self.proof(no, &[known.as_slice(), &[Before { first: second, second: first }]].concat());
            }
            End::NoPlace(none) => self.no_place(none, &[]),
        }
    }

    /// Checks all places of an operation, after those that have been placed.
    fn no_place(&mut self, none: &NoPlace<S::Ret>, placed: &[OpId]) {
        let op = none.op;
        let is_sure = self.is_sure(op);
        self.say(is_sure, || format!("{op:?} has no place, but it need not have one"));
        for id in &none.before {
            let is_right = placed.contains(id) || self.history.precedes(*id, op);
            self.say(is_right, || format!("{id:?} is not before {op:?}"));
        }
        for place in &none.places {
            let order = [placed, &place.order].concat();
            let calls: Option<Vec<&Known<'_, S>>> = order.iter().map(|id| self.call(*id)).collect();
            let Some(calls) = calls else {
                self.wrong.push(format!("{order:?} are not all in the core"));
                continue;
            };
            let states = definition::states(self.spec, &calls);
            let precedes = |at: usize, earlier: &OpId| self.history.precedes(order[at], *earlier);
            let in_time = (0..order.len()).all(|at| !order[..at].iter().any(|earlier| precedes(at, earlier)));
            let own = self.call(op).map(|call| (call.op, call.result));
            let results: Vec<S::Ret> = own
                .iter()
                .flat_map(|(op, _)| {
                    let results = states.iter().flat_map(|state| self.spec.step(state, op, None));
                    results.map(|(result, _)| result)
                })
                .collect();
            let returns_its_own = own.is_some_and(|(_, result)| result.is_some_and(|own| place.results.contains(own)));
            let (is_legal, tells) = (!states.is_empty(), place.results.iter().all(|result| results.contains(result)));
            self.say(in_time, || format!("the order {order:?} is against real time"));
            self.say(is_legal, || format!("the order {order:?} is not allowed"));
            self.say(tells, || format!("after {order:?}, {op:?} returns {results:?}, not {:?}", place.results));
            let explained = returns_its_own == place.then.is_some();
            self.say(explained, || format!("{op:?} fits after {order:?}, and nothing is said of it"));
            if let Some(Some(then)) = &place.then {
                self.no_place(then, &[order.as_slice(), &[op]].concat());
            }
        }
    }
}

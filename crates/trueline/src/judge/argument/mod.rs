//! Arguments that explain why the operations of a core have no legal order. An argument consists of claims that follow
//! from each other.
//!
//! A [`Core`] is a small set of operations that cannot be linearized. An [`Argument`] explains why: it states which
//! operations came before which, by real time or by the values that they put in, took out, saw and left. In the end,
//! these claims form a circle, or there is no place in the order for one of the operations. Rules propose claims:
//! `containers.rs` has the rules for containers, `counts.rs` those for counters and locks, and `conditions.rs` those
//! for any object. A claim is accepted only if it holds in all legal orders of the core's operations (`executions.rs`),
//! and the finished argument is checked once more (`check.rs`). If there are too many orders to try, a rule that is
//! sound by itself must derive the claim from the given claims alone. So no rule can produce a false argument. If no
//! rule leads to an argument, the argument lists all places in the order where one operation could be, and why it fits
//! in none of them (`places.rs`). Such a list is correct by construction.

mod check;
mod conditions;
mod containers;
mod counts;
mod executions;
mod places;
mod prover;
mod read;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;

use self::conditions::Conditions;
use self::containers::Container;
use self::executions::{Executions, MOST_OPERATIONS, ops};
use self::places::Places;
use self::prover::{Prover, Rule, id, ids};
use self::read::Read;
use super::CancelToken;
use super::erased::{Case, Machine, Typed};
use super::search::automaton::ResultId;
use crate::history::OpId;
use crate::spec::Spec;
use crate::verdict::{Argument, Before, Core, Count, End, Ground, Member, NoPlace, Place, Proof, Reason, Step};

/// Returns an argument for why a core has no linearization, or `None` if the core is too large to explain or can be
/// linearized.
///
/// ```
/// use trueline::history::{History, OpId};
/// use trueline::judge::{argument, shrink};
/// use trueline::spec::{Register, RegisterOp, RegisterRet};
/// use trueline::verdict::{Before, End, Ground};
///
/// let mut builder = History::builder();
/// for value in [1, 2] {
///     builder.call(0, RegisterOp::Write(value))?;
///     builder.ret(0, RegisterRet::Done)?;
/// }
/// builder.call(1, RegisterOp::Read)?;
/// builder.ret(1, RegisterRet::Value(1))?;
/// let (spec, history) = (Register::new(0), builder.finish());
/// let core = shrink::judge(&spec, &history, &shrink::Limits::new()).expect("1 was overwritten");
/// let argument = argument::of_core(&spec, &core).expect("it is small");
/// assert!(argument.is_specific());
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn of_core<S: Spec + ?Sized>(spec: &S, core: &Core<S::Op, S::Ret>) -> Option<Argument<S::Ret>> {
    of_core_until(spec, core, &CancelToken::new())
}

/// Returns the argument of [`of_core`], but stops soon after the token is canceled. After a
/// cancellation, the result may be `None` or a less specific argument.
pub(super) fn of_core_until<S: Spec + ?Sized>(
    spec: &S,
    core: &Core<S::Op, S::Ret>,
    cancel: &CancelToken,
) -> Option<Argument<S::Ret>> {
    let case = Typed::new(spec, Cow::Borrowed(&core.history));
    let mut argument = of_case(&case, &core.members, cancel)?;
    let named = RefCell::new(BTreeSet::new());
    renumber(&mut argument.proof, &|id| {
        let id = core.members[id.index()].id;
        named.borrow_mut().insert(id);
        id
    });
    argument.named.extend(named.into_inner());
    Some(argument.map(|result| case.result(*result)))
}

/// Returns an argument for why the history of a core has no linearization; operations are numbered as in that history.
fn of_case(case: &dyn Case, members: &[Member], cancel: &CancelToken) -> Option<Argument<ResultId>> {
    let frame = case.frame();
    if frame.len() > MOST_OPERATIONS {
        return None;
    }
    let Read { object, rules, container } = read::read(case);
    let mut machine = case.machine();
    let proof = argue(&mut Executions::new(&mut *machine, frame, members, cancel), rules, container.as_deref());
    let is_enough = |proof: &Proof<ResultId>| !tells_little(proof) || frame.len() == 1;
    let proof = match proof {
        Some(proof) if is_enough(&proof) => proof,
        proof => {
            let places = places::find(&mut Executions::new(&mut *machine, frame, members, cancel), (0, 0));
            match (proof, places) {
                // If there are only a few places where the operation could be, the results that the operation would
                // have returned in these places explain more than the proof.
                (Some(_), Some(places)) if places.are_few() => in_places(&*machine, &places),
                (Some(proof), _) => proof,
                (None, places) => in_places(&*machine, &places?),
            }
        }
    };
    Some(Argument { object, proof, named: Vec::new() })
}

/// Returns whether the proof only states that an operation is impossible, without stating the states that the operation
/// needs.
fn tells_little(proof: &Proof<ResultId>) -> bool {
    let End::Impossible { reason: Reason::NoMaker { needs, .. }, .. } = &proof.end else { return false };
    needs.is_empty() && proof.steps.is_empty()
}

fn in_places(machine: &dyn Machine, places: &Places) -> Proof<ResultId> {
    Proof { steps: Vec::new(), end: End::NoPlace(no_place(machine, places)) }
}

/// Derives an argument by the rules for the object, and checks it. Returns `None` if no argument is
/// found. Operations are numbered as in the core.
fn argue(
    executions: &mut Executions<'_>,
    rules: Vec<Box<dyn Rule>>,
    container: Option<&Container>,
) -> Option<Proof<ResultId>> {
    let mut proof = if rules.is_empty() { None } else { Prover::new(executions, rules).prove() };
    if proof.as_ref().is_none_or(|proof| matches!(proof.end, End::Cases { .. })) {
        if let Some(end) = container.and_then(|container| container.never_empty(executions)) {
            proof = Some(Proof { steps: Vec::new(), end });
        }
    }
    if proof.is_none() && container.is_none() {
        let conditions = Conditions::new(executions);
        proof = Prover::new(executions, vec![Box::new(conditions)]).prove();
    }
    proof.filter(|proof| match (&proof.end, container) {
        (End::NeverEmpty { op, first, pairs }, Some(container)) => {
            container.is_never_empty(executions, *op, *first, pairs)
        }
        _ => true,
    })
}

/// Converts places to the form in which an argument reports them, with descriptions of states and
/// with results.
fn no_place(machine: &dyn Machine, places: &Places) -> NoPlace<ResultId> {
    let place = |at: &places::At| Place {
        order: ids(at.order.iter().copied()),
        state: machine.describe(at.state),
        results: machine.results(at.state, id(places.op)),
        then: at.then.as_ref().map(|then| then.as_ref().map(|then| Box::new(no_place(machine, then)))),
    };
    NoPlace {
        op: id(places.op),
        before: ids(ops(places.before)),
        open: ids(ops(places.open)),
        places: places.places.iter().map(place).collect(),
        more: places.more,
    }
}

/// Replaces the numbers of the operations in a proof: `number` returns the number of an operation in the whole history.
fn renumber(proof: &mut Proof<ResultId>, number: &dyn Fn(OpId) -> OpId) {
    let before = |before: &mut Before| {
        before.first = number(before.first);
        before.second = number(before.second);
    };
    for Step { claim, ground } in &mut proof.steps {
        before(claim);
        if let Ground::Value { reason, given } = ground {
            given.iter_mut().for_each(before);
            renumber_reason(reason, number);
        }
    }
    match &mut proof.end {
        End::Circle(circle) => circle.iter_mut().for_each(|op| *op = number(*op)),
        End::Impossible { op, reason, given } => {
            *op = number(*op);
            given.iter_mut().for_each(before);
            renumber_reason(reason, number);
        }
        End::NeverEmpty { op, first, pairs } => {
            *op = number(*op);
            *first = number(*first);
            pairs.iter_mut().for_each(before);
        }
        End::Cases { assumed, yes, no } => {
            before(assumed);
            renumber(yes, number);
            renumber(no, number);
        }
        End::NoPlace(none) => renumber_places(none, number),
    }
}

fn renumber_places(none: &mut NoPlace<ResultId>, number: &dyn Fn(OpId) -> OpId) {
    let all = |ops: &mut Vec<OpId>| ops.iter_mut().for_each(|op| *op = number(*op));
    none.op = number(none.op);
    all(&mut none.before);
    all(&mut none.open);
    for place in &mut none.places {
        all(&mut place.order);
        if let Some(Some(then)) = &mut place.then {
            renumber_places(then, number);
        }
    }
}

fn renumber_reason(reason: &mut Reason, number: &dyn Fn(OpId) -> OpId) {
    let one = |op: &mut OpId| *op = number(*op);
    let all = |ops: &mut Vec<OpId>| ops.iter_mut().for_each(|op| *op = number(*op));
    match reason {
        Reason::Source | Reason::Seen | Reason::NoMaker { .. } => {}
        Reason::FirstInFirstOut { first_in: first, second_in: second }
        | Reason::FirstOutFirstIn { first_out: first, second_out: second }
        | Reason::InFront { put: first, own: second }
        | Reason::OnTop { below: first, above: second }
        | Reason::NotTakenOff { below: first, above: second }
        | Reason::Below { top: first, later: second } => {
            one(first);
            one(second);
        }
        Reason::Empty { put }
        | Reason::StillIn { put }
        | Reason::Lesser { put }
        | Reason::LesserStillIn { put }
        | Reason::NotYetIn { taken: put }
        | Reason::LesserLater { taken: put } => one(put),
        Reason::TakenTooOften { puts: some, takes: others } => {
            all(some);
            all(others);
        }
        Reason::Undone { earlier, later, .. } => {
            all(earlier);
            all(later);
        }
        Reason::OnlyMaker { later, .. } => all(later),
        Reason::UsedUp { user, used, makers, later, .. } => {
            one(user);
            [used, makers, later].into_iter().for_each(all);
        }
        Reason::UsedTooOften { used: some, makers: others, .. } | Reason::CountInAll { users: some, others, .. } => {
            all(some);
            all(others);
        }
        Reason::MadeAgain { undone: op, earlier, later, .. } | Reason::Between { user: op, earlier, later, .. } => {
            one(op);
            all(earlier);
            all(later);
        }
        Reason::Count(Count { user, before, maybe, later, .. }) => {
            one(user);
            [before, maybe, later].into_iter().for_each(all);
        }
    }
}

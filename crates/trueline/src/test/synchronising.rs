//! Which operations of a test synchronise, as a specification without types: one compiled judge serves all tests.
//!
//! Lawrence & Lowe, *Synchronisation: Specification and Testing*, section 8: what they write as a partial function
//! `matching` is a few calls of [`Test::together`](super::Test::together) here.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use super::judge::Names;
use super::model::{State, Step};
use crate::drive::{Call, Random, Shape, Workload};
use crate::history::Value;
use crate::spec::sync::{SyncSpec, Synchronised};

/// How many executions of all the same operation synchronise in a state.
pub(super) type Size = Arc<dyn Fn(&State) -> usize + Send + Sync>;

/// Who synchronises.
#[derive(Clone)]
pub(super) enum Who {
    /// Executions of these operations, in the order in which the step has them.
    These(Vec<u32>),
    /// So many executions of this one.
    SoMany(u32, Size),
}

/// Executions that synchronise, and what comes of it.
#[derive(Clone)]
pub(super) struct Mode {
    pub(super) who: Who,
    /// From the state and all arguments to all results and the next state; `None` if they do not fit.
    pub(super) step: Step,
    /// Whether each returns the same in whichever order they come.
    pub(super) is_order_free: bool,
}

/// The specification that the modes are.
#[derive(Clone)]
pub struct SyncModel {
    pub(super) initial: State,
    pub(super) modes: Vec<Mode>,
    pub(super) names: Names,
    /// Whether nothing is kept from one synchronisation to the next.
    pub(super) is_stateless: bool,
}

impl fmt::Debug for SyncModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncModel").field("initial", &self.initial).finish_non_exhaustive()
    }
}

/// How many executions of one operation may synchronise, if their order may matter: each order is tried.
const MOST_IN_ANY_ORDER: usize = 7;

/// In how many orders executions are tried: what [`MOST_IN_ANY_ORDER`] of one operation have.
const MOST_ORDERS: usize = 5040;

/// In how many orders so many executions can come, each number being of one operation.
fn orders(counts: impl Iterator<Item = usize>) -> usize {
    counts.flat_map(|count| 1..=count).fold(1, usize::saturating_mul)
}

impl Mode {
    /// The operations of which executions synchronise in a state, in the order in which the step has them.
    fn operations(&self, state: &State) -> Vec<u32> {
        match &self.who {
            Who::These(these) => these.clone(),
            Who::SoMany(operation, size) => vec![*operation; size(state)],
        }
    }

    /// Why not all orders of the executions that synchronise in a state can be tried, if that is so.
    pub(super) fn too_many_orders(&self, state: &State) -> Option<String> {
        let count = |operation: u32, these: &[u32]| these.iter().filter(|other| **other == operation).count();
        let orders = match &self.who {
            _ if self.is_order_free => 1,
            Who::SoMany(_, size) => orders([size(state)].into_iter()),
            Who::These(these) => {
                let mut each = these.clone();
                each.sort_unstable();
                each.dedup();
                orders(each.into_iter().map(|operation| count(operation, these)))
            }
        };
        (orders > MOST_ORDERS).then(|| {
            format!(
                "{} executions of one operation synchronise, and they can come in too many orders to try each, which is possible for up to {MOST_IN_ANY_ORDER}; if each returns the same in whichever order they come, add `.in_any_order()` after this `together`",
                self.operations(state).len()
            )
        })
    }

    /// Where the executions, which are sorted by operation, stand among the arguments of the step: in each order that there
    /// is, if several are of one operation, or, if the order does not matter, in a few; none if it takes others.
    fn arrangements(&self, state: &State, ops: &[&Call]) -> Vec<Vec<usize>> {
        let these = match &self.who {
            Who::SoMany(_, size) if size(state) != ops.len() => return Vec::new(),
            Who::These(these) if these.len() != ops.len() => return Vec::new(),
            _ => self.operations(state),
        };
        if let Some(message) = self.too_many_orders(state) {
            panic!("{message}");
        }
        let mut found: Vec<Vec<usize>> = vec![Vec::with_capacity(ops.len())];
        for operation in these {
            let longer = |chosen: Vec<usize>| -> Vec<Vec<usize>> {
                let is_next = |at: &usize| ops[*at].operation == operation && !chosen.contains(at);
                (0..ops.len()).filter(is_next).map(|at| [chosen.as_slice(), &[at]].concat()).collect()
            };
            found = found.into_iter().flat_map(longer).collect();
            if let (true, 4.., Some(last)) = (self.is_order_free, found.len(), found.last().cloned()) {
                // The first keeps the order, the last reverses it, and one is in between.
                found.truncate(2);
                found.push(last);
            }
        }
        found
    }

    fn synchronise(&self, state: &State, ops: &[&Call], found: &mut Synchronised<State, Value>) {
        // The order of executions with equal arguments makes no difference to the step, only to who gets which result.
        let mut steps: HashMap<Value, Vec<(Value, State)>> = HashMap::new();
        let mut known: HashSet<Vec<Value>> = HashSet::new();
        let mut first: Option<Synchronised<State, Value>> = None;
        for order in self.arrangements(state, ops) {
            let arguments: Vec<Value> = order.iter().map(|at| ops[*at].argument.clone()).collect();
            let alone = arguments.len() == 1 && matches!(self.who, Who::These(_));
            let argument = if alone { arguments[0].clone() } else { Value::List(arguments.into()) };
            let outcomes =
                steps.entry(argument).or_insert_with_key(|argument| (self.step)(state, argument).into_iter().collect());
            let in_place = |(results, next): &(Value, State)| {
                let in_order = match results {
                    Value::List(results) if !alone => results.to_vec(),
                    result => vec![result.clone()],
                };
                assert_eq!(in_order.len(), ops.len(), "each execution that synchronises has a result");
                let mut results = vec![Value::Null; ops.len()];
                for (at, result) in order.iter().zip(in_order) {
                    results[*at] = result;
                }
                (next.clone(), results)
            };
            let outcomes: Synchronised<State, Value> = outcomes.iter().map(in_place).collect();
            if self.is_order_free {
                let expected = first.get_or_insert_with(|| outcomes.clone());
                let results = |outcomes: &Synchronised<State, Value>| -> Vec<Vec<Value>> {
                    outcomes.iter().map(|(_, results)| results.clone()).collect()
                };
                assert!(
                    *expected == outcomes,
                    "operations that synchronize `in_any_order` have other results in another order: {:?} and {:?}",
                    results(expected),
                    results(&outcomes)
                );
            }
            for outcome in outcomes {
                if known.insert(outcome.1.clone()) || !found.contains(&outcome) {
                    found.push(outcome);
                }
            }
        }
    }

    /// Whether these, which are sorted by operation, are some of those that synchronise, and not all.
    fn extends(&self, state: &State, ops: &[&Call]) -> bool {
        match &self.who {
            Who::SoMany(operation, size) => ops.iter().all(|op| op.operation == *operation) && ops.len() < size(state),
            Who::These(these) => {
                let count = |operation: u32| these.iter().filter(|other| **other == operation).count();
                let are_some = |op: &&Call| {
                    ops.iter().filter(|other| other.operation == op.operation).count() <= count(op.operation)
                };
                ops.len() < these.len() && ops.iter().all(are_some)
            }
        }
    }
}

impl SyncSpec for SyncModel {
    type Op = Call;
    type Ret = Value;
    type State = State;

    fn initial(&self) -> State {
        self.initial.clone()
    }

    fn arities(&self, state: &State) -> Vec<usize> {
        let arity = |mode: &Mode| match &mode.who {
            Who::These(these) => these.len(),
            Who::SoMany(_, size) => size(state),
        };
        let mut arities: Vec<usize> = self.modes.iter().map(arity).filter(|arity| *arity > 0).collect();
        arities.sort_unstable();
        arities.dedup();
        arities
    }

    fn place(&self, op: &Call) -> u32 {
        op.operation
    }

    fn extends(&self, state: &State, ops: &[&Call]) -> bool {
        self.modes.iter().any(|mode| mode.extends(state, ops))
    }

    fn synchronise(&self, state: &State, ops: &[&Call]) -> Synchronised<State, Value> {
        let mut found = Vec::new();
        for mode in &self.modes {
            mode.synchronise(state, ops, &mut found);
        }
        found
    }

    fn is_stateless(&self) -> bool {
        self.is_stateless
    }
}

/// How many calls a thread makes, where nothing is said.
const CALLS: u32 = 4;
/// At one in how many schedule points threads give way: those that wait for each other rarely meet others in between, unless
/// they are disturbed.
const CHAOS: u32 = 16;

impl SyncModel {
    /// The operations of the only synchronisation of several, if there is only one, and none of it happens otherwise.
    fn only(&self) -> Option<&[u32]> {
        let mut several = self.modes.iter().filter(|mode| !matches!(&mode.who, Who::These(these) if these.len() == 1));
        let (Some(Mode { who: Who::These(these), .. }), None) = (several.next(), several.next()) else { return None };
        let is_alone = |mode: &Mode| matches!(&mode.who, Who::These(one) if one.len() == 1 && these.contains(&one[0]));
        (!self.modes.iter().any(is_alone)).then_some(these)
    }

    /// How many threads synchronise at least.
    #[cfg(feature = "systematic")]
    pub(super) fn fewest_threads(&self) -> u32 {
        self.only().map_or(2, |these| u32::try_from(these.len()).expect("few"))
    }

    /// The size of runs: two of each kind, so that they can mistake each other, with 4 calls. Of all the same kind, as many
    /// as synchronise; but 8 with one call each if it is pairs, of which one may else be left without a partner.
    pub(super) fn shape(&self) -> Shape {
        let (threads, calls) = match self.only() {
            Some([one, other]) if one == other => (8, 1),
            Some(these) if these.iter().all(|operation| *operation == these[0]) => (these.len(), CALLS),
            Some(these) => (2 * these.len(), CALLS),
            None => (4, CALLS),
        };
        let threads = u32::try_from(threads).expect("few");
        Shape { threads, operations: (calls, calls), chaos: CHAOS, few: None, phases: 0 }
    }

    /// What threads call so that all can return, whoever synchronises with whom: each has an operation of its own, and makes
    /// now and then a call that needs nobody. Where this is not known, as they come.
    pub(super) fn program(&self, workload: &Workload, shape: &Shape, random: &mut Random) -> Vec<Vec<Call>> {
        let Some(these) = self.only().filter(|_| workload.roles.is_empty()) else {
            return workload.program(shape, random);
        };
        let is_called = |operation: &u32| workload.kinds[*operation as usize].weight > 0;
        let others = (0..).take(workload.kinds.len()).filter(|operation| !these.contains(operation));
        let others: Vec<u32> = others.filter(is_called).collect();
        let in_groups = shape.threads as usize / these.len() * these.len();
        let (fewest, most) = shape.operations;
        let calls = fewest + random.below(most.saturating_sub(fewest) + 1);
        let call =
            |operation: u32, random: &mut Random| Call { operation, argument: workload.argument(operation, random) };
        let of_thread = |thread: usize| {
            let mut program = Vec::new();
            for _ in 0..calls {
                while !others.is_empty() && random.chance(1, 8) {
                    let other = *random.pick(&others);
                    program.push(call(other, random));
                }
                if thread < in_groups {
                    program.push(call(these[thread % these.len()], random));
                }
            }
            program
        };
        (0..shape.threads as usize).map(of_thread).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::model;

    /// All of `count` arrivals synchronise; what each returns is up to the model.
    fn barrier(count: usize, is_order_free: bool, results: impl Fn(usize) -> i64 + Send + Sync + 'static) -> Mode {
        let who = Who::SoMany(0, Arc::new(move |_| count));
        let step = model::step(move |(): &mut (), arguments: &Value| {
            let Value::List(arguments) = arguments else { return None };
            Some((0..arguments.len()).map(|place| Value::Int(results(place))).collect())
        });
        Mode { who, step, is_order_free }
    }

    fn outcomes(mode: Mode, count: usize) -> Vec<Vec<Value>> {
        let model = SyncModel { initial: State::new(()), modes: vec![mode], names: Arc::from([]), is_stateless: true };
        let call = Call { operation: 0, argument: Value::Null };
        let found = model.synchronise(&model.initial(), &vec![&call; count]);
        found.into_iter().map(|(_, results)| results).collect()
    }

    #[test]
    fn all_orders_are_tried() {
        // Each returns how many came before it.
        let place = |place: usize| i64::try_from(place).expect("small");
        for (count, orders) in [(1, 1), (3, 6), (4, 24), (7, 5040)] {
            let found = outcomes(barrier(count, false, place), count);
            assert_eq!(found.len(), orders);
            let distinct: HashSet<Vec<Value>> = found.into_iter().collect();
            assert_eq!(distinct.len(), orders);
        }
        let these = Mode { who: Who::These(vec![0; 4]), ..barrier(4, false, place) };
        assert_eq!(outcomes(these, 4).len(), 24);
        // The first is the leader.
        assert_eq!(outcomes(barrier(7, false, |place| i64::from(place == 0)), 7).len(), 7);
    }

    #[test]
    fn more_than_seven_are_refused_unless_their_order_does_not_matter() {
        let state = State::new(());
        for (count, is_refused) in [(7, false), (8, true), (1000, true)] {
            let message = barrier(count, false, |_| 0).too_many_orders(&state);
            assert_eq!(message.is_some(), is_refused, "{count}");
            assert!(message.is_none_or(|message| message.contains(".in_any_order()")));
            assert!(barrier(count, true, |_| 0).too_many_orders(&state).is_none());
        }
        let mixed = Mode { who: Who::These([[0; 4], [1; 4]].concat()), ..barrier(8, false, |_| 0) };
        assert!(mixed.too_many_orders(&state).is_none(), "there are 576 orders");
        assert_eq!(outcomes(barrier(20, true, |_| 7), 20), [vec![Value::Int(7); 20]]);
    }

    #[test]
    #[should_panic(expected = "executions of one operation synchronise, and they can come in too many orders")]
    fn a_size_that_turns_out_to_be_too_large_is_refused() {
        outcomes(barrier(8, false, |_| 0), 8);
    }

    #[test]
    #[should_panic(expected = "have other results in another order")]
    fn an_order_that_matters_after_all_is_seen() {
        outcomes(barrier(9, true, |place| i64::from(place == 0)), 9);
    }
}

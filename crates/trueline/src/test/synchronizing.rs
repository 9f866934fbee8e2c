//! The operations of a test that synchronize, as a specification with erased types, so that one compiled judge serves
//! all tests.
//!
//! Lawrence & Lowe, *Synchronisation: Specification and Testing*, section 8: their partial function `matching`
//! corresponds to a few calls of [`Test::together`](super::Test::together) here.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use super::judge::Names;
use super::model::{ModelStep, State};
use crate::drive::{Call, Random, Shape, Workload};
use crate::history::Value;
use crate::spec::sync::{SyncSpec, Synchronized};

/// Computes how many executions of the same operation synchronize in a state.
pub(super) type Size = Arc<dyn Fn(&State) -> usize + Send + Sync>;

/// The executions that synchronize.
#[derive(Clone)]
pub(super) enum Who {
    /// One execution of each operation in this list. The step takes the executions in this order.
    These(Vec<u32>),
    /// Several executions of this operation. The function computes their number.
    SoMany(u32, Size),
}

/// A kind of synchronization: its executions, and the step that they take together.
#[derive(Clone)]
pub(super) struct Mode {
    pub(super) who: Who,
    /// Maps the state and the arguments of all executions to the results of all executions and the
    /// next state. Returns no outcome if executions with these arguments do not synchronize.
    pub(super) step: ModelStep,
    /// Whether each execution has the same result in every order of the executions that synchronize.
    pub(super) is_order_free: bool,
}

/// A specification that consists of modes of synchronization.
#[derive(Clone)]
pub struct SyncModel {
    pub(super) initial: State,
    pub(super) modes: Vec<Mode>,
    pub(super) names: Names,
    /// Whether no state is kept from one synchronization to the next.
    pub(super) is_stateless: bool,
}

impl fmt::Debug for SyncModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncModel").field("initial", &self.initial).finish_non_exhaustive()
    }
}

/// The maximum number of executions of one operation that may synchronize if their order may
/// matter. It is small because each order is tried.
const MOST_IN_ANY_ORDER: usize = 7;

/// The maximum number of orders that are tried: the factorial of [`MOST_IN_ANY_ORDER`], which is
/// the number of orders of that many executions.
const MOST_ORDERS: usize = 5040;

/// Returns the number of orders in which executions can be arranged if only executions of the same
/// operation change places. `counts` has the number of executions of each operation.
fn orders(counts: impl Iterator<Item = usize>) -> usize {
    counts.flat_map(|count| 1..=count).fold(1, usize::saturating_mul)
}

impl Mode {
    /// Returns the operations whose executions synchronize in a state, in the order in which the step takes them.
    fn operations(&self, state: &State) -> Vec<u32> {
        match &self.who {
            Who::These(these) => these.clone(),
            Who::SoMany(operation, size) => vec![*operation; size(state)],
        }
    }

    /// Returns an error message if the executions that synchronize in a state have too many orders to try.
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
                "{} executions of one operation synchronize, which is too many to try all their orders (the limit is \
                 {MOST_IN_ANY_ORDER}); if each returns the same result in any order, add `.in_any_order()` after this \
                 `together`",
                self.operations(state).len()
            )
        })
    }

    /// Returns the possible orders in which the step can take the executions `ops`, which are
    /// sorted by operation. An order has, for each argument of the step, the index of the execution
    /// that the argument belongs to. Executions of the same operation are arranged in all orders,
    /// or only in a few orders if their order does not matter. Returns no order if the step takes a
    /// different number of executions, or executions of other operations.
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
                // Keep three orders: the first is the given order, the last is its reverse, and the
                // second lies between them.
                found.truncate(2);
                found.push(last);
            }
        }
        found
    }

    fn synchronize(&self, state: &State, ops: &[&Call], found: &mut Synchronized<State, Value>) {
        // If two executions with equal arguments change places, the step gets the same arguments
        // and has the same outcomes. The two executions only exchange their results. So the
        // outcomes are computed once for each list of arguments.
        let mut steps: HashMap<Value, Vec<(Value, State)>> = HashMap::new();
        let mut known: HashSet<Vec<Value>> = HashSet::new();
        let mut first: Option<Synchronized<State, Value>> = None;
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
                assert_eq!(
                    in_order.len(),
                    ops.len(),
                    "the function of a `together` must return one result for each execution that synchronizes"
                );
                let mut results = vec![Value::Null; ops.len()];
                for (at, result) in order.iter().zip(in_order) {
                    results[*at] = result;
                }
                (next.clone(), results)
            };
            let outcomes: Synchronized<State, Value> = outcomes.iter().map(in_place).collect();
            if self.is_order_free {
                let expected = first.get_or_insert_with(|| outcomes.clone());
                let results = |outcomes: &Synchronized<State, Value>| -> Vec<Vec<Value>> {
                    outcomes.iter().map(|(_, results)| results.clone()).collect()
                };
                assert!(
                    *expected == outcomes,
                    "operations that synchronize `in_any_order` have different results in different orders: {:?} and \
                     {:?}",
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

    /// Returns whether these executions are some, but not all, of the executions that synchronize.
    /// The executions are sorted by operation.
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

    fn synchronize(&self, state: &State, ops: &[&Call]) -> Synchronized<State, Value> {
        let mut found = Vec::new();
        for mode in &self.modes {
            mode.synchronize(state, ops, &mut found);
        }
        found
    }

    fn is_stateless(&self) -> bool {
        self.is_stateless
    }
}

/// The default number of calls of a thread.
const CALLS: u32 = 4;
/// Threads yield at one in this many schedule points. Without yielding, threads that have
/// synchronized tend to synchronize with each other again, and rarely with other threads.
const CHAOS: u32 = 16;

impl SyncModel {
    /// Returns the operations of the mode in which several executions synchronize, if there is
    /// exactly one such mode. Returns `None` if there are several such modes, if the number of
    /// executions depends on the state, or if an operation of the mode may also happen alone.
    fn only(&self) -> Option<&[u32]> {
        let mut several = self.modes.iter().filter(|mode| !matches!(&mode.who, Who::These(these) if these.len() == 1));
        let (Some(Mode { who: Who::These(these), .. }), None) = (several.next(), several.next()) else { return None };
        let is_alone = |mode: &Mode| matches!(&mode.who, Who::These(one) if one.len() == 1 && these.contains(&one[0]));
        (!self.modes.iter().any(is_alone)).then_some(these)
    }

    /// Returns the minimum number of threads that synchronize.
    #[cfg(feature = "systematic")]
    pub(super) fn fewest_threads(&self) -> u32 {
        self.only().map_or(2, |these| {
            u32::try_from(these.len()).expect("the number of operations that synchronize fits in 32 bits")
        })
    }

    /// Returns the size of runs, which depends on the operations that `only` returns:
    ///
    /// - For two executions of one operation, there are 8 threads with one call each. With more
    ///   calls in each thread, a call could be left without a partner.
    /// - For more than two executions of one operation, there is one thread for each execution,
    ///   with 4 calls each.
    /// - For different operations, there are two threads for each operation, with 4 calls each, so
    ///   that a faulty object can confuse the calls.
    /// - If `only` returns `None`, there are 4 threads with 4 calls each.
    pub(super) fn shape(&self) -> Shape {
        let (threads, calls) = match self.only() {
            Some([one, other]) if one == other => (8, 1),
            Some(these) if these.iter().all(|operation| *operation == these[0]) => (these.len(), CALLS),
            Some(these) => (2 * these.len(), CALLS),
            None => (4, CALLS),
        };
        let threads = u32::try_from(threads).expect("the number of operations that synchronize fits in 32 bits");
        Shape { threads, operations: (calls, calls), chaos: CHAOS, few: None, phases: 0 }
    }

    /// Generates calls that can all return, no matter which executions synchronize: each thread
    /// repeatedly calls one of the operations that synchronize, and sometimes makes a call that
    /// needs no partner. If `only` returns `None`, or if the test has roles, the calls are random.
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

    /// Returns a mode in which `count` arrivals synchronize. `results` maps the place of an arrival
    /// to its result.
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
        let found = model.synchronize(&model.initial(), &vec![&call; count]);
        found.into_iter().map(|(_, results)| results).collect()
    }

    #[test]
    fn all_orders_are_tried() {
        // Each execution returns the number of executions before it.
        let place = |place: usize| i64::try_from(place).expect("a place fits in 64 bits");
        for (count, orders) in [(1, 1), (3, 6), (4, 24), (7, 5040)] {
            let found = outcomes(barrier(count, false, place), count);
            assert_eq!(found.len(), orders);
            let distinct: HashSet<Vec<Value>> = found.into_iter().collect();
            assert_eq!(distinct.len(), orders);
        }
        let these = Mode { who: Who::These(vec![0; 4]), ..barrier(4, false, place) };
        assert_eq!(outcomes(these, 4).len(), 24);
        // Only the first execution is the leader.
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
    #[should_panic(expected = "executions of one operation synchronize, which is too many")]
    fn a_size_that_turns_out_to_be_too_large_is_refused() {
        outcomes(barrier(8, false, |_| 0), 8);
    }

    #[test]
    #[should_panic(expected = "have different results in different orders")]
    fn an_order_that_matters_after_all_is_seen() {
        outcomes(barrier(9, true, |place| i64::from(place == 0)), 9);
    }
}

//! Which operations of a test synchronise, as a specification without types: one compiled judge serves all tests.
//!
//! Lawrence & Lowe, *Synchronisation: Specification and Testing*, section 8: what they write as a partial function
//! `matching` is a few calls of [`Test::together`](super::Test::together) here.

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

/// In how many orders executions of one operation are tried. Where there are more, the order must not matter.
const MOST_ORDERS: usize = 6;

impl Mode {
    /// Where the executions, which are sorted by operation, stand among the arguments of the step: in some ways if
    /// several are of one operation; none if it takes others.
    fn arrangements(&self, state: &State, ops: &[&Call]) -> Vec<Vec<usize>> {
        let these = match &self.who {
            Who::SoMany(operation, size) => {
                let are_all = ops.iter().all(|op| op.operation == *operation) && ops.len() == size(state);
                return if are_all { vec![(0..ops.len()).collect()] } else { Vec::new() };
            }
            Who::These(these) if these.len() == ops.len() => these,
            Who::These(_) => return Vec::new(),
        };
        let mut found: Vec<Vec<usize>> = vec![Vec::new()];
        for operation in these {
            let longer = |chosen: &Vec<usize>| -> Vec<Vec<usize>> {
                let is_next = |at: &usize| ops[*at].operation == *operation && !chosen.contains(at);
                (0..ops.len()).filter(is_next).map(|at| [chosen.as_slice(), &[at]].concat()).collect()
            };
            found = found.iter().flat_map(longer).collect();
            found.truncate(MOST_ORDERS);
        }
        found
    }

    fn synchronise(&self, state: &State, ops: &[&Call], found: &mut Synchronised<State, Value>) {
        for order in self.arrangements(state, ops) {
            let arguments: Vec<Value> = order.iter().map(|at| ops[*at].argument.clone()).collect();
            let alone = arguments.len() == 1 && matches!(self.who, Who::These(_));
            let argument = if alone { arguments[0].clone() } else { Value::List(arguments.into()) };
            for (results, next) in (self.step)(state, &argument) {
                let in_order = match results {
                    Value::List(results) if !alone => results.to_vec(),
                    result => vec![result],
                };
                assert_eq!(in_order.len(), ops.len(), "each execution that synchronises has a result");
                let mut results = vec![Value::Null; ops.len()];
                for (at, result) in order.iter().zip(in_order) {
                    results[*at] = result;
                }
                let outcome = (next, results);
                if !found.contains(&outcome) {
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

//! A specification that consists of a plain Rust type and its operations. Its types are erased, so
//! that one compiled judge serves all tests.

use std::any::Any;
use std::fmt::{self, Debug};
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::guess::{Guess, Guessing};
use super::judge::Names;
use super::meaning::Meaning;
use crate::drive::{Call, message};
use crate::history::Value;
use crate::spec::{Initial, Outcomes, Spec, Standard, blocked, outcome};

pub use crate::spec::state::State;

/// A sequential model: a plain type that can be cloned, compared and hashed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the model of a test",
    label = "a model is cloned, compared and hashed in the search for an order of the operations",
    note = "use plain types (`VecDeque`, `Vec`, `BTreeMap` instead of `HashMap`, `BTreeSet` instead of `HashSet`), or put `#[derive(Clone, PartialEq, Eq, Hash, Debug)]` on your own type",
    note = "a model must own its data: no references, no atomics, no locks"
)]
pub trait PlainModel: Clone + Eq + Hash + Debug + Send + Sync + 'static {}

impl<M: Clone + Eq + Hash + Debug + Send + Sync + 'static> PlainModel for M {}

/// A function that returns the possible results of an operation in a state of the model, each with
/// the next state. Returns no results if the operation is blocked in this state.
pub(super) type ModelStep = Arc<dyn Fn(&State, &Value) -> Outcomes<Value, State> + Send + Sync>;

/// Returns the step function of an operation, given the code `body` that executes the operation on
/// the model.
pub(super) fn step<M: PlainModel>(body: impl Fn(&mut M, &Value) -> Option<Value> + Send + Sync + 'static) -> ModelStep {
    Arc::new(move |state, argument| {
        let mut next = state.of::<M>().clone();
        body(&mut next, argument).map_or_else(blocked, |result| outcome(result, State::new(next)))
    })
}

/// Returns the step function of an operation, given the code `body` that returns all possible
/// outcomes of the operation.
pub(super) fn choices<M: PlainModel>(
    body: impl Fn(&M, &Value) -> Vec<(Value, M)> + Send + Sync + 'static,
) -> ModelStep {
    Arc::new(move |state, argument| {
        body(state.of(), argument).into_iter().map(|(result, next)| (result, State::new(next))).collect()
    })
}

/// Adds the name of an operation to the message of a panic in the model. A payload without a
/// message is returned unchanged, because a panic with such a payload may be a deliberate way to
/// end a thread.
fn with_operation(payload: Box<dyn Any + Send>, name: &str) -> Box<dyn Any + Send> {
    if payload.is::<String>() || payload.is::<&'static str>() {
        Box::new(format!("{} (in the operation `{name}`)", message(&*payload)))
    } else {
        payload
    }
}

/// An operation of a model.
#[derive(Clone)]
pub(super) struct ModelOperation {
    pub(super) step: ModelStep,
    /// Whether the operation never changes the state.
    pub(super) reads_only: bool,
    /// The standard operation that, according to the test, this operation behaves like. Monitors
    /// judge the operation as this standard operation. `None` if the test does not declare a
    /// meaning.
    pub(super) meaning: Option<Meaning>,
    /// For an operation that inserts or writes a value: the result that it always returns.
    pub(super) done: Value,
}

impl ModelOperation {
    pub(super) fn new(step: ModelStep) -> Self {
        Self { step, reads_only: false, meaning: None, done: Value::Null }
    }
}

/// A model as a specification.
#[derive(Clone)]
pub struct ModelSpec {
    pub(super) initial: State,
    pub(super) operations: Vec<ModelOperation>,
    /// The names of the operations, for descriptions.
    pub(super) names: Names,
    /// Whether operations on different keys, which are their first arguments, are independent.
    pub(super) independent_keys: bool,
    /// The initial value, if the model is a register.
    pub(super) register: Option<Value>,
    /// The guess of which standard object the model behaves like. A guess is made only if the test
    /// does not declare meanings.
    pub(super) guess: Option<Arc<Guessing>>,
}

impl ModelSpec {
    /// Returns the guess of which standard object the model behaves like. The first call tries out
    /// the model to make the guess.
    pub(super) fn guess(&self) -> Option<&Guess> {
        self.guess.as_ref()?.get(self)
    }

    /// Returns whether monitors can judge the model: either each operation has a meaning, or the
    /// guess of a standard object was made and has not turned out to be wrong.
    pub(super) fn is_standard(&self) -> bool {
        self.operations.iter().all(|operation| operation.meaning.is_some())
            || self.guess.as_ref().and_then(|guess| guess.known()).is_some_and(|guess| !guess.is_wrong())
    }
}

impl Debug for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelSpec").field("initial", &self.initial).field("names", &self.names).finish_non_exhaustive()
    }
}

impl Spec for ModelSpec {
    type Op = Call;
    type Ret = Value;
    type State = State;
    type Key = Value;
    type Value = Value;

    fn initial(&self) -> State {
        self.initial.clone()
    }

    fn step(&self, state: &State, op: &Call, recorded: Option<&Value>) -> Outcomes<Value, State> {
        let operation = &self.operations[op.operation as usize];
        let step = || (operation.step)(state, &op.argument);
        let mut outcomes = match catch_unwind(AssertUnwindSafe(step)) {
            Ok(outcomes) => outcomes,
            Err(payload) => resume_unwind(with_operation(payload, &self.names[op.operation as usize])),
        };
        for (_, next) in &outcomes {
            assert!(
                !operation.reads_only || next == state,
                "the test declares that `{}` only reads, but on the model it changes the state {state:?} to {next:?}",
                self.names[op.operation as usize]
            );
        }
        if let Some(recorded) = recorded {
            outcomes.retain(|(result, _)| result == recorded);
        }
        outcomes
    }

    fn observes(&self, op: &Call, _recorded: Option<&Value>) -> bool {
        self.operations[op.operation as usize].reads_only
    }

    fn standard<'a>(&'a self, op: &'a Call, recorded: Option<&'a Value>) -> Option<Standard<&'a Value>> {
        self.operations[op.operation as usize].standard(&op.argument, recorded)
    }

    fn standard_initial(&self) -> Initial<&Value> {
        self.register.as_ref().map_or(Initial::Nothing, Initial::Value)
    }

    fn key(&self, op: &Call, _recorded: Option<&Value>) -> Option<Value> {
        if !self.independent_keys {
            return None;
        }
        match &op.argument {
            Value::Null => None,
            Value::List(arguments) => arguments.first().cloned(),
            key => Some(key.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::meaning;
    use super::*;
    use crate::drive::Random;
    use crate::history::{Argument, Datum, History};
    use crate::judge::{Config, check};

    fn map() -> ModelSpec {
        type Map = BTreeMap<u64, u64>;
        let put = step(|map: &mut Map, argument| {
            let (key, value) = Argument::from_value(argument)?;
            map.insert(key, value);
            Some(Value::Null)
        });
        let get = step(|map: &mut Map, argument| Some(map.get(&u64::from_value(argument)?).to_value()));
        ModelSpec {
            initial: State::new(Map::new()),
            operations: vec![ModelOperation::new(put), ModelOperation { reads_only: true, ..ModelOperation::new(get) }],
            names: ["put".into(), "get".into()].into(),
            independent_keys: true,
            register: None,
            guess: None,
        }
    }

    #[test]
    fn states_are_those_of_the_model() {
        let (a, b) = (State::new(vec![1]), State::new(vec![1]));
        assert_eq!(a, b);
        assert_ne!(a, State::new(vec![2]));
        assert_ne!(State::new(1_u8), State::new(1_u16));
        assert_eq!(format!("{a:?}"), "[1]");
    }

    #[test]
    fn a_model_judges_by_key() {
        let call = |operation, argument: Value| Call { operation, argument };
        for (found, is_right) in [(Some(1_u64), true), (None, false)] {
            let mut builder = History::builder();
            for (op, result) in [
                (call(0, (1_u64, 1_u64).to_value()), Value::Null),
                (call(0, (2_u64, 9_u64).to_value()), Value::Null),
                (call(1, 1_u64.to_value()), found.to_value()),
            ] {
                builder.call(0, op).expect("the process has no open call");
                builder.ret(0, result).expect("the process has an open call");
            }
            let judgment = check(&map(), &builder.finish(), &Config::new());
            assert_eq!(judgment.verdict.is_accepted(), is_right);
            assert_eq!(judgment.stats.partitions, 2);
        }
    }

    /// Returns a model with two operations: one inserts a value, and the other removes a value by
    /// calling `take`.
    fn container(meanings: [Meaning; 2], take: fn(&mut Vec<u64>) -> Option<u64>) -> ModelSpec {
        let put = step(|model: &mut Vec<u64>, argument| {
            model.push(u64::from_value(argument)?);
            Some(true.to_value())
        });
        let take = step(move |model: &mut Vec<u64>, _| Some(take(model).to_value()));
        let [put, take] = [put, take].map(ModelOperation::new);
        ModelSpec {
            initial: State::new(Vec::<u64>::new()),
            operations: vec![
                ModelOperation { meaning: Some(meanings[0]), ..put },
                ModelOperation { meaning: Some(meanings[1]), ..take },
            ],
            names: ["put".into(), "take".into()].into(),
            independent_keys: false,
            register: None,
            guess: None,
        }
    }

    fn argument(number: u32, random: &mut Random) -> Value {
        if number == 0 { random.below(3).to_value() } else { Value::Null }
    }

    #[test]
    fn meanings_reach_the_monitors() {
        let first = |model: &mut Vec<u64>| (!model.is_empty()).then(|| model.remove(0));
        let mut queue = container([Meaning::Enqueue, Meaning::Dequeue], first);
        meaning::try_out(&mut queue, argument).expect("the model is a queue");
        assert!(queue.is_standard());
        let mut builder = History::builder();
        for (operation, argument, result) in
            [(0, 7_u64.to_value(), true.to_value()), (1, Value::Null, 7_u64.to_value())]
        {
            builder.call(0, Call { operation, argument }).expect("the process has no open call");
            builder.ret(0, result).expect("the process has an open call");
        }
        let history = builder.finish();
        let config = Config::new().algorithm(crate::judge::Algorithm::Monitor);
        assert!(check(&queue, &history, &config).verdict.is_accepted());
        let refused = Call { operation: 0, argument: 7_u64.to_value() };
        assert_eq!(queue.standard(&refused, Some(&false.to_value())), None, "`put` of the model returns true");
    }

    #[test]
    fn meanings_that_are_wrong_are_found_out() {
        let last = |model: &mut Vec<u64>| model.pop();
        let mut stack = container([Meaning::Push, Meaning::Pop], last);
        assert_eq!(meaning::try_out(&mut stack, argument), Ok(()));
        let mut no_queue = container([Meaning::Enqueue, Meaning::Dequeue], last);
        let problem = meaning::try_out(&mut no_queue, argument).expect_err("the model is a stack");
        assert!(problem.contains("`take` of the model returned"), "{problem}");
        let mut no_stack = container([Meaning::Push, Meaning::Pop], last);
        no_stack.initial = State::new(vec![5_u64]);
        assert!(meaning::try_out(&mut no_stack, argument).is_err(), "the stack is not empty initially");
    }

    #[test]
    #[should_panic(expected = "the test declares that `put` only reads")]
    fn what_only_reads_must_not_write() {
        let mut spec = map();
        spec.operations[0].reads_only = true;
        spec.step(&spec.initial(), &Call { operation: 0, argument: (1_u64, 1_u64).to_value() }, None);
    }
}

//! The meanings of a model's operations. If the meanings are known, monitors (near-linear
//! algorithms, each for one type of object) can judge the runs of the test.
//!
//! A test may declare a wrong meaning, so meanings are checked: on a random sequence of operations
//! from the initial state, the model must behave like the standard object.

use std::collections::VecDeque;

use super::model::{ModelOperation, ModelSpec, State};
use crate::drive::{Call, Random};
use crate::history::Value;
use crate::spec::{Standard, Taken};

/// The meaning of an operation, independent of its name. If all operations of a test have meanings,
/// near-linear [monitors](crate::judge::monitor) judge its runs. A monitor can judge histories of
/// thousands of operations, for which a search may take exponential time.
///
/// An operation that inserts a value has this value as its only argument. An operation that removes
/// a value returns an `Option`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Meaning {
    /// Appends its argument to a queue.
    Enqueue,
    /// Removes the first value of a queue.
    Dequeue,
    /// Pushes its argument onto a stack.
    Push,
    /// Removes the top value of a stack.
    Pop,
    /// Writes its argument to a register.
    Write,
    /// Returns the value of a register.
    Read,
}

impl Meaning {
    /// Returns the standard operation with this meaning, or `None` if the standard operation cannot
    /// have the `recorded` result. Also returns `None` for a read without a recorded result.
    ///
    /// `done` is the result of an operation that inserts or writes a value.
    pub(super) fn standard<'a>(
        self,
        argument: &'a Value,
        recorded: Option<&'a Value>,
        done: &Value,
    ) -> Option<Standard<&'a Value>> {
        let puts = |standard: Standard<&'a Value>| recorded.is_none_or(|recorded| recorded == done).then_some(standard);
        match self {
            Self::Enqueue => puts(Standard::Enqueue(argument)),
            Self::Push => puts(Standard::Push(argument)),
            Self::Write => puts(Standard::Write(argument)),
            Self::Dequeue => Some(Standard::Dequeue(taken(recorded))),
            Self::Pop => Some(Standard::Pop(taken(recorded))),
            Self::Read => recorded.map(Standard::Read),
        }
    }

    fn puts_in(self) -> bool {
        matches!(self, Self::Enqueue | Self::Push | Self::Write)
    }
}

/// Interprets a recorded result that represents an `Option`.
pub(super) fn taken(recorded: Option<&Value>) -> Taken<&Value> {
    match recorded {
        None => Taken::Unknown,
        Some(Value::Null) => Taken::Nothing,
        // The implementation of `Datum` for `Option` wraps some values in a list with one element.
        Some(Value::List(list)) if list.len() == 1 => Taken::Value(&list[0]),
        Some(value) => Taken::Value(value),
    }
}

/// The number of operations that are called to check meanings.
const TRIED: u32 = 300;

/// Checks that a model behaves as the meanings of its operations describe. Records the results of
/// operations that insert or write, and the initial value if the model is a register.
///
/// # Errors
/// Returns a message about an operation that behaves differently.
pub(super) fn try_out(spec: &mut ModelSpec, argument: impl Fn(u32, &mut Random) -> Value) -> Result<(), String> {
    let of_meaning: Vec<u32> = (0..)
        .zip(&spec.operations)
        .filter(|(_, operation)| operation.meaning.is_some())
        .map(|(number, _)| number)
        .collect();
    if of_meaning.is_empty() {
        return Ok(());
    }
    let ModelSpec { initial, operations, names, .. } = spec;
    let step = |state: &State, call: &Call| (operations[call.operation as usize].step)(state, &call.argument);
    let mut random = Random::new(1);
    let mut done: Vec<Option<Value>> = vec![None; operations.len()];
    let mut register: Option<Value> = None;
    let (mut state, mut held) = (initial.clone(), VecDeque::<Value>::new());
    for _ in 0..TRIED {
        let number = *random.pick(&of_meaning);
        let call = Call { operation: number, argument: argument(number, &mut random) };
        let name = &names[number as usize];
        let mut outcomes = step(&state, &call);
        let (Some((result, next)), true) = (outcomes.pop(), outcomes.is_empty()) else {
            return Err(format!(
                "in the state {state:?}, the model allows no outcome of `{name}`, or more than one, but an operation \
                 with a meaning must have exactly one: leave the meaning out"
            ));
        };
        let meaning = operations[number as usize].meaning.expect("only operations with a meaning are chosen");
        match meaning {
            Meaning::Enqueue | Meaning::Push => held.push_back(call.argument.clone()),
            Meaning::Write => register = Some(call.argument.clone()),
            Meaning::Dequeue | Meaning::Pop | Meaning::Read => {}
        }
        let agrees = match meaning {
            Meaning::Enqueue | Meaning::Push | Meaning::Write => {
                result == *done[number as usize].get_or_insert_with(|| result.clone())
            }
            Meaning::Dequeue => taken(Some(&result)) == Taken::from_result(Some(&held.pop_front())),
            Meaning::Pop => taken(Some(&result)) == Taken::from_result(Some(&held.pop_back())),
            Meaning::Read => result == *register.get_or_insert_with(|| result.clone()),
        };
        if !agrees {
            return Err(format!(
                "in the state {state:?}, `{name}` of the model returned {result}, but an operation with the meaning \
                 {meaning:?} returns something else: correct the model, or leave the meaning out"
            ));
        }
        state = next;
    }
    // The initial value of a register is what a read returns in the initial state.
    let read = (0..).zip(&*operations).find(|(_, operation)| operation.meaning == Some(Meaning::Read));
    let first = read.and_then(|(number, _)| step(initial, &Call { operation: number, argument: Value::Null }).pop());
    let is_pure = of_meaning.len() == operations.len();
    for (operation, done) in operations.iter_mut().zip(done) {
        // The result of an operation that inserts or writes is unknown if the operation was never
        // called above.
        let is_known = !operation.meaning.is_some_and(Meaning::puts_in) || done.is_some();
        operation.done = done.unwrap_or_default();
        if !is_known || !is_pure {
            operation.meaning = None;
        }
    }
    spec.register = first.map(|(value, _)| value);
    Ok(())
}

impl ModelOperation {
    pub(super) fn standard<'a>(
        &'a self,
        argument: &'a Value,
        recorded: Option<&'a Value>,
    ) -> Option<Standard<&'a Value>> {
        self.meaning?.standard(argument, recorded, &self.done)
    }
}

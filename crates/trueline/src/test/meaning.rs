//! What operations of a model mean to the near-linear monitors.
//!
//! To say so is a promise, so it is tried out: on random sequences of operations, the model must do what the standard
//! object does, from the start.

use std::collections::VecDeque;

use super::model::{ModelOperation, ModelSpec, State};
use crate::drive::{Call, Random};
use crate::history::Value;
use crate::spec::{Standard, Taken};

/// What an operation is, whatever its name: how runs of a model reach the near-linear [monitors](crate::judge::monitor),
/// which judge thousands of operations where a search may take for ever.
///
/// Operations that put a value in have it as their only argument; those that take one return an `Option`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Meaning {
    /// Puts its argument at the end of a queue.
    Enqueue,
    /// Takes the first of a queue.
    Dequeue,
    /// Puts its argument on a stack.
    Push,
    /// Takes the top of a stack.
    Pop,
    /// Puts its argument in a register.
    Write,
    /// Returns what is in a register.
    Read,
}

impl Meaning {
    /// The standard operation; `None` if the result is none that it has.
    ///
    /// `done` is what an operation that puts something in returns.
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

/// What an `Option` says that was returned.
pub(super) fn taken(recorded: Option<&Value>) -> Taken<&Value> {
    match recorded {
        None => Taken::Unknown,
        Some(Value::Null) => Taken::Nothing,
        // As `Option` becomes a value.
        Some(Value::List(list)) if list.len() == 1 => Taken::Value(&list[0]),
        Some(value) => Taken::Value(value),
    }
}

/// How many operations are tried out.
const TRIED: u32 = 300;

/// Tries out whether a model does what it means, and notes what operations that put something in return, and what its
/// register starts with, if it is one.
///
/// # Errors
/// What it does instead.
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
            return Err(format!("`{name}` has no outcome or several in {state:?}, but its meaning has always one"));
        };
        let meaning = operations[number as usize].meaning.expect("it was chosen for that");
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
                "`{name}` of the model returned {result} in {state:?}, which is not what {meaning:?} means; leave the meaning out"
            ));
        }
        state = next;
    }
    // What a register starts with is what a read finds there first.
    let read = (0..).zip(&*operations).find(|(_, operation)| operation.meaning == Some(Meaning::Read));
    let first = read.and_then(|(number, _)| step(initial, &Call { operation: number, argument: Value::Null }).pop());
    let is_pure = of_meaning.len() == operations.len();
    for (operation, done) in operations.iter_mut().zip(done) {
        // What was never called in all these tries is not known.
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

//! Guesses the family of a model from its behavior, so that monitors (near-linear algorithms, each
//! for one type of object) can judge models whose operations have no declared meanings.
//!
//! The model is called with arguments from the test's own generators, and its behavior is compared
//! with each family that has a monitor. A family that behaves like the model is only a guess: a
//! linearization that the monitor finds is replayed on the model, and a rejection is confirmed by a
//! search with the model. So a wrong guess never determines a verdict. It only costs time, until it
//! is found to be wrong and is dropped.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem::{replace, take};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::judge::Recorded;
#[cfg(feature = "systematic")]
use super::meaning::Meaning;
use super::meaning::taken;
use super::model::ModelSpec;
use super::supervise::Supervised;
use crate::drive::{Call, Random, Workload};
use crate::history::{History, Value};
use crate::judge::{Algorithm, Config, check, replay};
use crate::spec::{Initial, Object, Outcomes, Spec, Standard};
use crate::verdict::{Judgment, Verdict};

/// A family of objects that has a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Queue,
    Stack,
    /// A priority queue from which the least value is taken.
    Least,
    /// A priority queue from which the greatest value is taken.
    Greatest,
    Register,
    Counter,
    Set,
    Map,
    /// A multiset from which any value may be taken.
    Bag,
    Lock,
    SharedLock,
    Semaphore,
}

/// The role of an operation in its family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Put,
    Take,
    Look,
    Write,
    Read,
    Swap,
    /// Takes the value out of the register, and leaves the register empty.
    Empty,
    Increment,
    /// Adds one to the count. With 0, returns the old count; with 1, returns the new count.
    FetchIncrement(i64),
    Count,
    Add,
    Remove,
    Contains,
    PutAt,
    InsertAt,
    DeleteAt,
    RemoveAt,
    GetAt,
    Lock,
    TryLock,
    Unlock,
    LockShared,
    TryLockShared,
    UnlockShared,
    Acquire,
    TryAcquire,
    Release,
}

use Role::{
    Acquire, Add, Contains, Count, DeleteAt, Empty, FetchIncrement, GetAt, Increment, InsertAt, Lock, LockShared, Look,
    Put, PutAt, Read, Release, Remove, RemoveAt, Swap, Take, TryAcquire, TryLock, TryLockShared, Unlock, UnlockShared,
    Write,
};

impl Family {
    const ALL: [Self; 12] = [
        Self::Queue,
        Self::Stack,
        Self::Least,
        Self::Greatest,
        Self::Set,
        Self::Map,
        Self::Counter,
        Self::Register,
        Self::Bag,
        Self::Lock,
        Self::SharedLock,
        Self::Semaphore,
    ];

    fn roles(self) -> &'static [Role] {
        match self {
            Self::Queue | Self::Stack | Self::Least | Self::Greatest => &[Put, Take, Look],
            Self::Register => &[Write, Swap, Empty, Read],
            Self::Counter => &[Increment, FetchIncrement(0), FetchIncrement(1), Count],
            Self::Set => &[Add, Remove, Contains],
            Self::Map => &[PutAt, InsertAt, DeleteAt, RemoveAt, GetAt],
            Self::Bag => &[Put, Take],
            Self::Lock => &[Lock, TryLock, Unlock],
            Self::SharedLock => &[Lock, TryLock, Unlock, LockShared, TryLockShared, UnlockShared],
            Self::Semaphore => &[Acquire, TryAcquire, Release],
        }
    }

    fn start(self) -> Held {
        match self {
            Self::Queue | Self::Stack | Self::Least | Self::Greatest | Self::Bag => Held::Values(VecDeque::new()),
            Self::Lock | Self::SharedLock => Held::Lock { is_held: false, readers: 0 },
            Self::Semaphore => Held::Permits(0),
            Self::Register => Held::One(Value::Null),
            Self::Counter => Held::Count(0),
            Self::Set | Self::Map => Held::Keys(BTreeMap::new()),
        }
    }
}

impl Role {
    fn observes(self) -> bool {
        matches!(self, Look | Read | Count | Contains | GetAt)
    }

    /// Returns whether the result is always the same.
    fn says_nothing(self) -> bool {
        matches!(
            self,
            Put | Write | Increment | PutAt | DeleteAt | Lock | Unlock | LockShared | UnlockShared | Acquire | Release
        )
    }

    /// Returns whether an operation with this role may block, instead of returning at once, when it
    /// cannot take effect.
    fn may_wait(self) -> bool {
        matches!(self, Take | Look | Lock | LockShared | Acquire | Unlock | UnlockShared)
    }

    /// Returns whether the operation unlocks. Its effect when the lock is not held does not matter,
    /// because tests do not unlock a lock that is not held.
    fn is_unlock(self) -> bool {
        matches!(self, Unlock | UnlockShared)
    }

    /// Returns whether the operation has an argument.
    fn has_argument(self) -> bool {
        matches!(self, Put | Write | Swap | Add | Remove | Contains | PutAt | InsertAt | DeleteAt | RemoveAt | GetAt)
    }
}

/// The contents of an object of a family.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Held {
    Values(VecDeque<Value>),
    One(Value),
    Count(i64),
    Keys(BTreeMap<Value, Value>),
    Lock { is_held: bool, readers: u32 },
    Permits(u64),
}

/// Converts an `Option` to a value, as [`Datum`](crate::history::Datum) does.
fn option(value: Option<Value>) -> Value {
    match value {
        None => Value::Null,
        Some(Value::Null) => Value::List([Value::Null].into()),
        Some(Value::List(list)) if list.len() == 1 => Value::List([Value::List(list)].into()),
        Some(value) => value,
    }
}

/// Returns the key and the value of an entry of a map.
fn entry(argument: &Value) -> Option<(&Value, &Value)> {
    match argument {
        Value::List(list) => match &**list {
            [key, value] => Some((key, value)),
            _ => None,
        },
        _ => None,
    }
}

impl Held {
    /// Executes an operation, and returns its result. Returns `None` if the operation blocks, or
    /// does not accept the argument.
    ///
    /// `done` is the result of an operation whose result is always the same. `Take` removes the
    /// `recorded` value from a bag, or any value if no value was recorded.
    fn apply(
        &mut self,
        family: Family,
        role: Role,
        argument: &Value,
        done: &Value,
        recorded: Option<&Value>,
    ) -> Option<Value> {
        let try_to = |is_possible: bool| Value::Bool(is_possible);
        Some(match (self, role) {
            (Self::Values(values), Put) => {
                let at = match family {
                    Family::Least | Family::Greatest => values.partition_point(|value| value <= argument),
                    _ => values.len(),
                };
                values.insert(at, argument.clone());
                done.clone()
            }
            (Self::Values(values), Take) if family == Family::Bag => {
                let wanted = |value: &Value| recorded.is_none_or(|recorded| *recorded == option(Some(value.clone())));
                let place = values.iter().position(wanted);
                if place.is_none() && !values.is_empty() {
                    return None;
                }
                option(place.and_then(|place| values.remove(place)))
            }
            (Self::Values(values), Take | Look) => {
                let takes_front = matches!(family, Family::Queue | Family::Least);
                option(match (role, takes_front) {
                    (Take, true) => values.pop_front(),
                    (Take, false) => values.pop_back(),
                    (_, true) => values.front().cloned(),
                    (_, false) => values.back().cloned(),
                })
            }
            (Self::One(held), Write) => {
                *held = argument.clone();
                done.clone()
            }
            (Self::One(held), Swap) => replace(held, argument.clone()),
            (Self::One(held), Empty) => take(held),
            (Self::One(held), Read) => held.clone(),
            (Self::Count(count), Increment) => {
                *count += 1;
                done.clone()
            }
            (Self::Count(count), FetchIncrement(behind)) => {
                *count += 1;
                Value::Int(*count - 1 + behind)
            }
            (Self::Count(count), Count) => Value::Int(*count),
            (Self::Keys(keys), Add) => Value::Bool(keys.insert(argument.clone(), Value::Null).is_none()),
            (Self::Keys(keys), Remove) => Value::Bool(keys.remove(argument).is_some()),
            (Self::Keys(keys), Contains) => Value::Bool(keys.contains_key(argument)),
            (Self::Keys(keys), PutAt | InsertAt) => {
                let (key, value) = entry(argument)?;
                let old = option(keys.insert(key.clone(), value.clone()));
                if role == PutAt { done.clone() } else { old }
            }
            (Self::Keys(keys), DeleteAt | RemoveAt) => {
                let old = option(keys.remove(argument));
                if role == DeleteAt { done.clone() } else { old }
            }
            (Self::Keys(keys), GetAt) => option(keys.get(argument).cloned()),
            (Self::Lock { is_held, readers }, Lock | TryLock) => {
                let is_free = !*is_held && *readers == 0;
                *is_held |= is_free;
                if role == TryLock { try_to(is_free) } else { is_free.then(|| done.clone())? }
            }
            (Self::Lock { is_held, readers }, LockShared | TryLockShared) => {
                let is_free = !*is_held;
                *readers += u32::from(is_free);
                if role == TryLockShared { try_to(is_free) } else { is_free.then(|| done.clone())? }
            }
            (Self::Lock { is_held, .. }, Unlock) => take(is_held).then(|| done.clone())?,
            (Self::Lock { readers, .. }, UnlockShared) => {
                *readers = readers.checked_sub(1)?;
                done.clone()
            }
            (Self::Permits(permits), Acquire | TryAcquire) => {
                let is_free = *permits > 0;
                *permits -= u64::from(is_free);
                if role == TryAcquire { try_to(is_free) } else { is_free.then(|| done.clone())? }
            }
            (Self::Permits(permits), Release) => {
                *permits += 1;
                done.clone()
            }
            _ => return None,
        })
    }
}

/// A guess of the family of a model.
#[derive(Debug)]
pub(super) struct Guess {
    family: Family,
    /// The role of each operation.
    roles: Vec<Role>,
    /// For each operation, the first result that was seen, which is the only result if the
    /// operation always returns the same one.
    done: Vec<Value>,
    /// For each operation, whether any of its calls blocked while the model was tried out.
    waits: Vec<bool>,
    start: Held,
    is_wrong: AtomicBool,
}

/// The guess of a model's family. The guess is made when the first run is judged, and not earlier:
/// guessing calls code of the test, which may end the process, so the run must already have been
/// recorded.
#[derive(Debug)]
pub(super) struct Guessing {
    workload: Workload,
    guess: OnceLock<Option<Guess>>,
}

/// The time limit for trying out a model.
const LONGEST: Duration = Duration::from_millis(300);

impl Guessing {
    pub(super) fn new(workload: Workload) -> Self {
        Self { workload, guess: OnceLock::new() }
    }

    /// Returns the guess, if the model has already been tried out.
    pub(super) fn known(&self) -> Option<&Guess> {
        self.guess.get()?.as_ref()
    }

    pub(super) fn get(&self, spec: &ModelSpec) -> Option<&Guess> {
        let try_out = || {
            // If the model panics, or does not return in time, no family is guessed. Perhaps the
            // model does not support these calls.
            let (model, workload) = (ModelSpec { guess: None, ..spec.clone() }, self.workload.clone());
            Supervised::start(move || Guess::of(&model, &workload)).wait(|_| Some(LONGEST)).ok().flatten()
        };
        self.guess.get_or_init(try_out).as_ref()
    }
}

/// A call that was tried on a model: its possible results, the result that was chosen (`None` if
/// the call blocked), and whether the call changed the state.
struct Done {
    call: Call,
    results: Vec<Value>,
    result: Option<Value>,
    changed: bool,
}

/// The number of times that a model is tried from its initial state.
const TRIES: u64 = 24;
/// The number of calls in each of the [`TRIES`].
const TRIED: u32 = 32;
/// The maximum number of assignments of roles to operations that are tried for a family.
const MOST_WAYS: usize = 2000;

/// The maximum number of possible results of an operation. If there are more, no family is guessed.
const MOST_RESULTS: usize = 64;

/// Tries the model several times from its initial state, and returns the calls of each try. Returns
/// `None` if an operation has too many results.
fn try_out(spec: &ModelSpec, workload: &Workload) -> Option<Vec<Vec<Done>>> {
    let count = u32::try_from(spec.operations.len()).ok()?;
    let mut random = Random::new(7);
    let mut tries = Vec::new();
    for number in 0..TRIES {
        let (mut state, mut done) = (spec.initial.clone(), Vec::new());
        for place in 0..TRIED {
            let operation = random.below(count);
            // In one third of the tries, arguments are drawn from all possible values. In the other
            // tries, they are drawn from only a few values, so that more operations have equal
            // arguments.
            let argument = match number % 3 {
                0 => workload.argument(operation, &mut random),
                few => workload.draw(operation, random.bits(), u32::try_from(few).ok()? + 1, u64::from(place)),
            };
            let call = Call { operation, argument };
            let mut outcomes = (spec.operations[operation as usize].step)(&state, &call.argument);
            if outcomes.len() > MOST_RESULTS {
                return None;
            }
            let results = outcomes.iter().map(|(result, _)| result.clone()).collect();
            if outcomes.is_empty() {
                done.push(Done { call, results, result: None, changed: false });
                continue;
            }
            let chosen = random.below(u32::try_from(outcomes.len()).ok()?) as usize;
            let (result, next) = outcomes.swap_remove(chosen);
            let changed = next != state;
            state = next;
            done.push(Done { call, results, result: Some(result), changed });
        }
        tries.push(done);
    }
    Some(tries)
}

impl Guess {
    /// Returns a guess of the first family that explains the behavior of the model, or `None` if no
    /// family explains it.
    pub(super) fn of(spec: &ModelSpec, workload: &Workload) -> Option<Self> {
        let tries = try_out(spec, workload)?;
        Family::ALL.into_iter().find_map(|family| Self::of_family(family, spec.operations.len(), &tries))
    }

    fn of_family(family: Family, operations: usize, tries: &[Vec<Done>]) -> Option<Self> {
        let mut candidates = Vec::new();
        let (mut done, mut waits) = (Vec::new(), Vec::new());
        for operation in 0..operations {
            let calls = || tries.iter().flatten().filter(|done| done.call.operation as usize == operation);
            let first = calls().find_map(|done| done.result.as_ref())?;
            let changes = calls().any(|done| done.changed);
            let is_constant = calls().all(|done| done.result.as_ref().is_none_or(|result| result == first));
            let may_wait = calls().any(|done| done.results.is_empty());
            let is_possible = |role: &Role| {
                role.observes() != changes
                    && (is_constant || !role.says_nothing())
                    && (role.may_wait() || !may_wait)
                    && role.has_argument() == calls().any(|done| !done.call.argument.is_null())
            };
            candidates.push(family.roles().iter().copied().filter(is_possible).collect::<Vec<_>>());
            done.push(first.clone());
            waits.push(may_wait);
        }
        let ways: usize = candidates.iter().try_fold(1, |ways: usize, roles| ways.checked_mul(roles.len()))?;
        let mut guess =
            Self { family, roles: Vec::new(), done, waits, start: family.start(), is_wrong: AtomicBool::new(false) };
        (0..ways.min(MOST_WAYS)).find_map(|way| {
            let mut rest = way;
            guess.roles = candidates
                .iter()
                .map(|roles| {
                    let role = roles[rest % roles.len()];
                    rest /= roles.len();
                    role
                })
                .collect();
            guess.fit(tries).then_some(())
        })?;
        Some(guess)
    }

    /// Returns whether this guess explains the results of all calls that were tried. Also
    /// determines the initial contents of the object.
    fn fit(&mut self, tries: &[Vec<Done>]) -> bool {
        if self.family == Family::Register {
            // If the first call of a try returns the old value of the register, that value is the
            // initial one.
            let seen = |done: &Vec<Done>| {
                let first = done.first()?;
                let role = self.roles[first.call.operation as usize];
                first.result.clone().filter(|_| matches!(role, Read | Swap | Empty))
            };
            if let Some(start) = tries.iter().find_map(seen) {
                self.start = Held::One(start);
            }
        }
        if self.family == Family::Semaphore {
            let Some(permits) = tries.iter().find_map(|done| self.permits(done)) else { return false };
            self.start = Held::Permits(permits);
        }
        let is_number = |value: &Value| matches!(value, Value::Int(_));
        let has_order = !matches!(self.family, Family::Least | Family::Greatest)
            || tries.iter().flatten().all(|done| done.call.argument.is_null() || is_number(&done.call.argument));
        has_order
            && tries.iter().all(|done| {
                let mut held = self.start.clone();
                done.iter().all(|done| self.is_done_by(&mut held, done))
            })
    }

    /// Returns whether an object of the guessed family with the contents `held` has the same
    /// possible results for this call as the model. Also executes the call on `held`.
    fn is_done_by(&self, held: &mut Held, done: &Done) -> bool {
        let Done { call, results, result, changed } = done;
        let mut may_return = self.outcomes(held, call);
        let is_same = match self.family {
            Family::Bag => {
                let (mut expected, mut results): (Vec<&Value>, Vec<&Value>) =
                    (may_return.iter().map(|(result, _)| result).collect(), results.iter().collect());
                expected.sort_unstable();
                results.sort_unstable();
                results.dedup();
                expected == results
            }
            _ if may_return.is_empty() && self.roles[call.operation as usize].is_unlock() => return !changed,
            _ => may_return.iter().map(|(result, _)| result).eq(results),
        };
        if let Some(place) = may_return.iter().position(|(expected, _)| Some(expected) == result.as_ref()) {
            *held = may_return.swap_remove(place).1;
        }
        is_same
    }

    /// Returns the initial number of permits of a semaphore. Returns `None` if no acquire blocked
    /// or failed in this try, because the initial number cannot be inferred in that case.
    fn permits(&self, done: &[Done]) -> Option<u64> {
        let mut taken = 0_i64;
        for Done { call, result, .. } in done {
            match (self.roles[call.operation as usize], result) {
                (Release, _) => taken -= 1,
                (_, None | Some(Value::Bool(false))) => return u64::try_from(taken).ok(),
                _ => taken += 1,
            }
        }
        None
    }

    /// Returns the possible outcomes of a call on an object with the contents `held`. Each result
    /// occurs once.
    fn outcomes(&self, held: &Held, call: &Call) -> Vec<(Value, Held)> {
        let chosen: Vec<Option<Value>> = match (self.family, self.roles[call.operation as usize], held) {
            (Family::Bag, Take, Held::Values(values)) if !values.is_empty() => {
                let values: BTreeSet<&Value> = values.iter().collect();
                values.into_iter().map(|value| Some(option(Some(value.clone())))).collect()
            }
            _ => vec![None],
        };
        let outcome = |recorded: Option<Value>| {
            let mut next = held.clone();
            self.carry_out(&mut next, call, recorded.as_ref()).map(|result| (result, next))
        };
        chosen.into_iter().filter_map(outcome).collect()
    }

    fn carry_out(&self, held: &mut Held, call: &Call, recorded: Option<&Value>) -> Option<Value> {
        let operation = call.operation as usize;
        let role = self.roles[operation];
        let result = held.apply(self.family, role, &call.argument, &self.done[operation], recorded)?;
        let finds_nothing = matches!(role, Take | Look) && result.is_null();
        (!(finds_nothing && self.waits[operation])).then_some(result)
    }

    /// Returns the meaning of an operation, or `None` if no [`Meaning`] describes it.
    #[cfg(feature = "systematic")]
    pub(super) fn meaning(&self, operation: u32) -> Option<Meaning> {
        match (self.family, self.roles.get(operation as usize)?) {
            (Family::Queue, Put) => Some(Meaning::Enqueue),
            (Family::Queue, Take) => Some(Meaning::Dequeue),
            (Family::Stack | Family::Least | Family::Greatest, Put) => Some(Meaning::Push),
            (Family::Stack | Family::Least | Family::Greatest, Take) => Some(Meaning::Pop),
            _ => None,
        }
    }

    /// Returns whether the guess was found to be wrong.
    pub(super) fn is_wrong(&self) -> bool {
        self.is_wrong.load(Ordering::Relaxed)
    }

    /// Judges a history of the model with the monitor of the guessed family; returns `None` if the monitor cannot judge
    /// the history.
    pub(super) fn judge(&self, model: &ModelSpec, history: &Recorded, config: &Config) -> Option<Judgment<Value>> {
        if self.is_wrong() {
            return None;
        }
        let judgment = check(self, history, &config.clone().algorithm(Algorithm::Monitor));
        let is_accepted = judgment.verdict.is_accepted();
        match &judgment.verdict {
            Verdict::Accepted(_) => {
                let order = judgment.verdict.linearization()?.order;
                if replay(model, history, &order).is_ok() {
                    return Some(judgment);
                }
            }
            Verdict::Rejected(evidence) => {
                // The monitor rejected the history up to this event, so judge this prefix with the
                // model. If the model rejects the prefix, too, the whole history is rejected,
                // because later events cannot make a prefix linearizable. If the prefix cannot be
                // decided, the verdict on the history is unknown.
                let confirmed = check(model, &until(history, evidence.event), config);
                if !confirmed.verdict.is_accepted() {
                    return Some(confirmed);
                }
            }
            Verdict::Unknown(_) => return None,
        }
        let judgment = check(model, history, config);
        if judgment.verdict.is_accepted() || matches!(judgment.verdict, Verdict::Rejected(_)) && is_accepted {
            self.is_wrong.store(true, Ordering::Relaxed);
        }
        Some(judgment)
    }
}

/// Returns the prefix of the history up to the return at `event`. If other operations are open at
/// this return and return later, the prefix extends up to the last of their returns, because their
/// results affect the verdict, too. Operations that return after the end of the prefix are pending
/// in the prefix.
fn until(history: &Recorded, event: u32) -> Recorded {
    let is_open = |called: u32, returned: u32| called < event && event < returned;
    let returns = history.operations().iter().map(|operation| (operation.call_position(), operation.return_position()));
    let open = returns.filter_map(|(call, ret)| ret.filter(|ret| is_open(call, *ret)));
    let last = open.max().unwrap_or(event);
    let mut builder = History::builder();
    for (position, what) in (0..=last).zip(history.events()) {
        let operation = &history[what.op()];
        let process = operation.process.0;
        let added = match operation.outcome.result() {
            _ if operation.call_position() == position => builder.call(process, operation.op.clone()).map(drop),
            Some(result) => builder.ret(process, result.clone()).map(drop),
            None => Ok(()),
        };
        added.expect("the order of events is unchanged");
    }
    builder.finish()
}

static NOTHING: Value = Value::Null;

impl Spec for Guess {
    type Op = Call;
    type Ret = Value;
    type State = Held;
    type Key = Value;
    type Value = Value;

    fn initial(&self) -> Held {
        self.start.clone()
    }

    fn step(&self, state: &Held, op: &Call, recorded: Option<&Value>) -> Outcomes<Value, Held> {
        let mut outcomes: Outcomes<Value, Held> = self.outcomes(state, op).into_iter().collect();
        if let Some(recorded) = recorded {
            outcomes.retain(|(result, _)| result == recorded);
        }
        outcomes
    }

    fn object<'a>(&'a self) -> Option<Object<'a, Call, Value>> {
        let mut held = self.start.clone();
        Some(Box::new(move |call, result| self.carry_out(&mut held, call, Some(result)).as_ref() == Some(result)))
    }

    fn observes(&self, op: &Call, _recorded: Option<&Value>) -> bool {
        self.roles[op.operation as usize].observes()
    }

    fn key(&self, op: &Call, _recorded: Option<&Value>) -> Option<Value> {
        match self.roles[op.operation as usize] {
            Add | Remove | Contains | DeleteAt | RemoveAt | GetAt => Some(op.argument.clone()),
            PutAt | InsertAt => entry(&op.argument).map(|(key, _)| key.clone()),
            _ => None,
        }
    }

    fn standard<'a>(&'a self, op: &'a Call, recorded: Option<&'a Value>) -> Option<Standard<&'a Value>> {
        let (role, argument) = (self.roles[op.operation as usize], &op.argument);
        let is_done = || recorded.is_none_or(|recorded| *recorded == self.done[op.operation as usize]);
        let truth = || match recorded {
            None => Some(None),
            Some(Value::Bool(truth)) => Some(Some(*truth)),
            Some(_) => None,
        };
        let number = || match recorded {
            None => Some(None),
            Some(Value::Int(number)) => Some(Some(*number)),
            Some(_) => None,
        };
        let found = |recorded: &'a Value| match taken(Some(recorded)) {
            crate::spec::Taken::Value(value) => Some(value),
            _ => None,
        };
        // An operation that waits for a value never reports that the object is empty.
        if matches!(role, Take | Look) && self.waits[op.operation as usize] && recorded.is_some_and(Value::is_null) {
            return None;
        }
        Some(match (self.family, role) {
            (Family::Queue, Put) => is_done().then_some(Standard::Enqueue(argument))?,
            (Family::Queue, Take) => Standard::Dequeue(taken(recorded)),
            (Family::Queue, Look) => Standard::Front(taken(recorded)),
            (Family::Stack, Put) => is_done().then_some(Standard::Push(argument))?,
            (Family::Stack, Take) => Standard::Pop(taken(recorded)),
            (Family::Stack, Look) => Standard::Top(taken(recorded)),
            (Family::Bag, Put) => is_done().then_some(Standard::Put(argument))?,
            (Family::Bag, Take) => Standard::Take(taken(recorded)),
            (_, Put) => is_done().then_some(Standard::Insert(argument))?,
            (_, Take) => Standard::DeleteMin(taken(recorded)),
            (_, Look) => Standard::Min(taken(recorded)),
            (_, Write) => is_done().then_some(Standard::Write(argument))?,
            (_, Read) => Standard::Read(recorded?),
            (_, Swap) => Standard::Exchange { old: recorded, new: argument },
            (_, Empty) => Standard::Exchange { old: recorded, new: &NOTHING },
            (_, Increment) => is_done().then_some(Standard::Increment)?,
            (_, FetchIncrement(behind)) => Standard::FetchIncrement(match number()? {
                Some(number) => Some(number.checked_sub(behind)?),
                None => None,
            }),
            (_, Count) => Standard::Count(number()??),
            (_, Add) => match truth()? {
                Some(false) => Standard::Sees(true),
                _ => Standard::Flip(true),
            },
            (_, Remove) => match truth()? {
                Some(false) => Standard::Sees(false),
                _ => Standard::Flip(false),
            },
            (_, Contains) => Standard::Sees(truth()??),
            (_, PutAt) => {
                let (_, new) = entry(argument)?;
                is_done().then_some(Standard::Replace { old: None, new: Some(new) })?
            }
            (_, InsertAt) => {
                let (_, new) = entry(argument)?;
                Standard::Replace { old: recorded.map(found), new: Some(new) }
            }
            (_, DeleteAt) => is_done().then_some(Standard::Replace { old: None, new: None })?,
            (_, RemoveAt) => match recorded {
                Some(Value::Null) => Standard::Get(None),
                recorded => Standard::Replace { old: recorded.map(found), new: None },
            },
            (_, GetAt) => Standard::Get(found(recorded?)),
            (_, Lock) => is_done().then_some(Standard::Lock { by: None })?,
            (_, Unlock) => is_done().then_some(Standard::Unlock { by: None })?,
            (family, TryLock) => match truth()? {
                Some(false) if family == Family::SharedLock => return None,
                Some(false) => Standard::LockFailed,
                _ => Standard::Lock { by: None },
            },
            (_, LockShared) => is_done().then_some(Standard::LockShared { by: None })?,
            (_, UnlockShared) => is_done().then_some(Standard::UnlockShared { by: None })?,
            (_, TryLockShared) => truth()?.unwrap_or(true).then_some(Standard::LockShared { by: None })?,
            (_, Acquire) => is_done().then_some(Standard::Acquire)?,
            (_, TryAcquire) => truth()?.unwrap_or(true).then_some(Standard::Acquire)?,
            (_, Release) => is_done().then_some(Standard::Release)?,
        })
    }

    fn standard_initial(&self) -> Initial<&Value> {
        match &self.start {
            Held::One(value) => Initial::Value(value),
            Held::Permits(permits) => Initial::Permits(*permits),
            _ => Initial::Nothing,
        }
    }

    fn standard_order(&self, one: &Value, other: &Value) -> std::cmp::Ordering {
        if self.family == Family::Greatest { other.cmp(one) } else { one.cmp(other) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::model::{ModelOperation, ModelStep, PlainModel, State, choices, step};
    use super::*;
    use crate::drive::Kind;
    use crate::history::{Argument, Datum};

    /// An operation of a model: its name, the upper bound of its arguments (`None` if it takes no
    /// argument), and its body.
    type Operation<M> = (&'static str, Option<u32>, fn(&mut M, i64) -> Value);

    fn spec<M: PlainModel>(initial: M, operations: &[Operation<M>]) -> (ModelSpec, Workload) {
        spec_of(initial, plain(operations))
    }

    fn spec_of<M: PlainModel>(
        initial: M,
        operations: impl IntoIterator<Item = (&'static str, Option<u32>, ModelStep)>,
    ) -> (ModelSpec, Workload) {
        let kind = |name, arguments: Option<u32>| match arguments {
            Some(most) => Kind::new(name, move |making| making.random.below(most).to_value()),
            None => Kind::new(name, |_| Value::Null),
        };
        let (kinds, operations): (Vec<_>, Vec<_>) = operations
            .into_iter()
            .map(|(name, arguments, step)| (kind(name, arguments), ModelOperation::new(step)))
            .unzip();
        let spec = ModelSpec {
            initial: State::new(initial),
            operations,
            names: kinds.iter().map(|kind| Arc::clone(&kind.name)).collect(),
            independent_keys: false,
            register: None,
            guess: None,
        };
        (spec, Workload { kinds, ..Workload::default() })
    }

    fn seems<M: PlainModel>(initial: M, operations: &[Operation<M>]) -> Option<(Family, Vec<Role>)> {
        let (spec, workload) = spec(initial, operations);
        Guess::of(&spec, &workload).map(|guess| (guess.family, guess.roles))
    }

    const ANY: Option<u32> = Some(100);
    type Values = VecDeque<i64>;
    const PUSH_BACK: Operation<Values> = ("push", ANY, |model, x| {
        model.push_back(x);
        Value::Null
    });
    const POP_FRONT: Operation<Values> = ("pop", None, |model, _| model.pop_front().to_value());
    const POP_BACK: Operation<Values> = ("pop back", None, |model, _| model.pop_back().to_value());

    #[test]
    fn models_are_what_they_seem() {
        let front: Operation<Values> = ("front", None, |model, _| model.front().copied().to_value());
        let len: Operation<Values> = ("len", None, |model, _| model.len().to_value());
        assert_eq!(seems(Values::new(), &[PUSH_BACK, POP_FRONT, front]), Some((Family::Queue, vec![Put, Take, Look])));
        assert_eq!(seems(Values::new(), &[POP_BACK, PUSH_BACK]), Some((Family::Stack, vec![Take, Put])));
        assert_eq!(seems(Values::new(), &[PUSH_BACK, POP_FRONT, POP_BACK]), None, "a deque has no monitor");
        assert_eq!(seems(Values::new(), &[PUSH_BACK, POP_FRONT, len]), None);
        assert_eq!(seems(Values::from([1]), &[PUSH_BACK, POP_FRONT]), None, "the queue is not empty initially");
        let least: Operation<Values> = ("least", None, |model, _| {
            let least = model.iter().copied().min();
            model.retain({
                let mut is_first = true;
                move |x| Some(*x) != least || !std::mem::take(&mut is_first)
            });
            least.to_value()
        });
        let greatest: Operation<Values> = ("greatest", None, |model, _| {
            model.make_contiguous().sort_unstable();
            model.pop_back().to_value()
        });
        assert_eq!(seems(Values::new(), &[PUSH_BACK, least]), Some((Family::Least, vec![Put, Take])));
        assert_eq!(seems(Values::new(), &[PUSH_BACK, greatest]), Some((Family::Greatest, vec![Put, Take])));
        type Set = BTreeSet<i64>;
        let set: [Operation<Set>; 3] = [
            ("contains", ANY, |set, x| set.contains(&x).to_value()),
            ("insert", ANY, |set, x| set.insert(x).to_value()),
            ("remove", ANY, |set, x| set.remove(&x).to_value()),
        ];
        assert_eq!(seems(Set::new(), &set), Some((Family::Set, vec![Contains, Add, Remove])));
        let count: [Operation<i64>; 3] = [
            ("draw", None, |count, _| {
                *count += 1;
                (*count).to_value()
            }),
            ("add", None, |count, _| {
                *count += 1;
                Value::Null
            }),
            ("read", None, |count, _| count.to_value()),
        ];
        assert_eq!(seems(0, &count), Some((Family::Counter, vec![FetchIncrement(1), Increment, Count])));
        let cell: [Operation<Option<i64>>; 3] = [
            ("set", ANY, |cell, x| cell.replace(x).to_value()),
            ("take", None, |cell, _| cell.take().to_value()),
            ("get", None, |cell, _| (*cell).to_value()),
        ];
        assert_eq!(seems(Some(7), &cell), Some((Family::Register, vec![Swap, Empty, Read])));
        let panics: Operation<Values> =
            ("pop", None, |model, _| model.pop_front().map_or(Value::Null, |x| x.to_value()));
        assert_eq!(seems(Values::new(), &[PUSH_BACK, panics]).map(|(family, _)| family), Some(Family::Queue));
    }

    #[test]
    fn a_map_is_one() {
        type Map = BTreeMap<u32, u32>;
        let entry = |argument: &Value| <(u32, u32)>::from_value(argument);
        let put = step(move |map: &mut Map, argument| {
            let (key, value) = entry(argument)?;
            Some(map.insert(key, value).to_value())
        });
        let remove = step(|map: &mut Map, argument| Some(map.remove(&u32::from_value(argument)?).to_value()));
        let get = step(|map: &mut Map, argument| Some(map.get(&u32::from_value(argument)?).copied().to_value()));
        let key = |name| Kind::new(name, |making| making.random.below(3).to_value());
        let kinds = vec![
            Kind::new("put", |making| (making.random.below(3), making.random.below(9)).to_value()),
            key("remove"),
            key("get"),
        ];
        let spec = ModelSpec {
            initial: State::new(Map::new()),
            operations: [put, remove, get].into_iter().map(ModelOperation::new).collect(),
            names: kinds.iter().map(|kind| Arc::clone(&kind.name)).collect(),
            independent_keys: false,
            register: None,
            guess: None,
        };
        let guess = Guess::of(&spec, &Workload { kinds, ..Workload::default() }).expect("the model is a map");
        assert_eq!((guess.family, &guess.roles[..]), (Family::Map, &[InsertAt, RemoveAt, GetAt][..]));
    }

    /// The operations of a model, which may block, or have several outcomes.
    type Operations = Vec<(&'static str, Option<u32>, ModelStep)>;

    fn plain<M: PlainModel>(operations: &[Operation<M>]) -> Operations {
        let of_model = |(name, arguments, body): &Operation<M>| {
            let body = *body;
            (*name, *arguments, step(move |model: &mut M, x| Some(body(model, i64::from_value(x).unwrap_or_default()))))
        };
        operations.iter().map(of_model).collect()
    }

    /// Returns an operation without an argument that may block.
    fn waiting<M: PlainModel>(
        name: &'static str,
        body: impl Fn(&mut M) -> Option<Value> + Send + Sync + 'static,
    ) -> (&'static str, Option<u32>, ModelStep) {
        (name, None, step(move |model: &mut M, _| body(model)))
    }

    fn done(is_possible: bool) -> Option<Value> {
        is_possible.then_some(Value::Null)
    }

    /// Returns an operation that removes and returns any one of the first `most` values.
    fn take_any(most: usize) -> (&'static str, Option<u32>, ModelStep) {
        let take = move |values: &Values, _: &Value| {
            let without = |place: usize| {
                let mut rest = values.clone();
                (rest.remove(place).to_value(), rest)
            };
            match values.len().min(most) {
                0 => vec![(Value::Null, values.clone())],
                count => (0..count).map(without).collect(),
            }
        };
        ("take", None, choices(take))
    }

    /// A lock: whether it is held for writing, and the number of readers.
    type Locked = (bool, u32);

    fn lock() -> Operations {
        vec![
            waiting("lock", |(is_held, _): &mut Locked| done(!std::mem::replace(is_held, true))),
            waiting("unlock", |(is_held, _): &mut Locked| done(take(is_held))),
            waiting("try lock", |(is_held, _): &mut Locked| Some((!std::mem::replace(is_held, true)).to_value())),
        ]
    }

    fn shared_lock() -> Operations {
        vec![
            waiting("write", |(is_held, readers): &mut Locked| {
                let is_free = !*is_held && *readers == 0;
                *is_held = true;
                done(is_free)
            }),
            waiting("end write", |(is_held, _): &mut Locked| done(take(is_held))),
            waiting("read", |(is_held, readers): &mut Locked| {
                *readers += 1;
                done(!*is_held)
            }),
            waiting("end read", |(_, readers): &mut Locked| {
                *readers = readers.checked_sub(1)?;
                done(true)
            }),
        ]
    }

    fn semaphore(most: i64) -> Operations {
        vec![
            waiting("acquire", |permits: &mut i64| {
                *permits -= 1;
                done(*permits >= 0)
            }),
            (
                "release",
                None,
                step(move |permits: &mut i64, _| {
                    *permits = most.min(*permits + 1);
                    done(true)
                }),
            ),
        ]
    }

    #[test]
    fn models_that_wait_or_choose_are_what_they_seem() {
        let seems = |(spec, workload): (ModelSpec, Workload)| {
            Guess::of(&spec, &workload).map(|guess| (guess.family, guess.roles, guess.start))
        };
        let bag = [plain(&[PUSH_BACK]), vec![take_any(usize::MAX)]].concat();
        let empty = Held::Values(VecDeque::new());
        assert_eq!(seems(spec_of(Values::new(), bag)), Some((Family::Bag, vec![Put, Take], empty.clone())));
        let channel =
            [plain(&[PUSH_BACK]), vec![waiting("receive", |values: &mut Values| Some(values.pop_front()?.to_value()))]];
        assert_eq!(seems(spec_of(Values::new(), channel.concat())), Some((Family::Queue, vec![Put, Take], empty)));
        let free = Held::Lock { is_held: false, readers: 0 };
        let roles = vec![Lock, Unlock, TryLock];
        assert_eq!(seems(spec_of((false, 0_u32), lock())), Some((Family::Lock, roles.clone(), free.clone())));
        // The effect of `unlock` on a lock that is not held is left to the model.
        let mut lax = lock();
        lax[1] = waiting("unlock", |(is_held, _): &mut Locked| {
            *is_held = false;
            done(true)
        });
        assert_eq!(seems(spec_of((false, 0_u32), lax)), Some((Family::Lock, roles, free.clone())));
        let roles = vec![Lock, Unlock, LockShared, UnlockShared];
        assert_eq!(seems(spec_of((false, 0_u32), shared_lock())), Some((Family::SharedLock, roles, free)));
        let roles = vec![Acquire, Release];
        assert_eq!(seems(spec_of(2_i64, semaphore(i64::MAX))), Some((Family::Semaphore, roles, Held::Permits(2))));
        assert_eq!(seems(spec_of(2_i64, semaphore(2))), None, "the semaphore never has more than two permits");
        assert_eq!(seems(spec_of(Values::new(), [plain(&[PUSH_BACK]), vec![take_any(2)]].concat())), None);
    }

    /// Returns a small history of the model. Some of its results may be replaced by earlier results of the same
    /// history.
    fn history(spec: &ModelSpec, workload: &Workload, random: &mut Random) -> Recorded {
        let (mut builder, mut state, mut unique) = (History::builder(), spec.initial.clone(), 0);
        let processes = 2 + random.below(3);
        // For each process, its open call, and the result that it will return.
        let mut open: Vec<Option<(Call, Option<Value>)>> = vec![None; processes as usize];
        let mut results: Vec<Value> = vec![Value::Null];
        let mut left = 4 + random.below(9);
        // The number of steps is limited, because operations may block forever.
        for _ in 0..200 {
            let process = random.below(processes);
            let slot = &mut open[process as usize];
            match slot {
                None if left > 0 => {
                    left -= 1;
                    let operation = random.below(u32::try_from(workload.kinds.len()).expect("there are few kinds"));
                    let argument = workload.draw(operation, random.bits(), 3, unique);
                    unique += 1;
                    let call = Call { operation, argument };
                    builder.call(process, call.clone()).expect("the process has no open call");
                    *slot = Some((call, None));
                }
                None => {}
                Some((call, returned @ None)) => {
                    let mut outcomes = spec.step(&state, call, None);
                    if outcomes.is_empty() {
                        // A faulty object may return instead of blocking.
                        *returned = (random.below(40) == 0).then_some(Value::Null);
                    } else {
                        let chosen = random.below(u32::try_from(outcomes.len()).expect("a call has few outcomes"));
                        let (result, next) = outcomes.swap_remove(chosen as usize);
                        (state, *returned) = (next, Some(result));
                    }
                }
                Some((_, Some(result))) => {
                    let changes = !result.is_null() && random.below(12) == 0;
                    let result = if changes { random.pick(&results).clone() } else { result.clone() };
                    results.push(result.clone());
                    if random.below(20) == 0 && left == 0 {
                        break; // the open calls never return
                    }
                    builder.ret(process, result).expect("the process has an open call");
                    *slot = None;
                }
            }
        }
        builder.finish()
    }

    /// The numbers of verdicts on histories of models that resemble a known object.
    #[derive(Debug, Default)]
    struct Tally {
        rejected: u32,
        accepted: u32,
        refused: u32,
        wrong_guesses: u32,
    }

    /// Judges this many `histories` of each model with the guess for the first model, and asserts that no verdict is
    /// wrong.
    fn judge_as_the_first<M: PlainModel>(initial: &M, models: &[Operations], histories: u32) -> Tally {
        let (seeming, workload) = spec_of(initial.clone(), models[0].clone());
        let guess = Guess::of(&seeming, &workload).expect("the first model belongs to a family");
        let (mut random, mut tally) = (Random::new(3), Tally::default());
        for operations in models {
            let (model, workload) = spec_of(initial.clone(), operations.clone());
            for _ in 0..histories {
                let history = history(&model, &workload, &mut random);
                guess.is_wrong.store(false, Ordering::Relaxed);
                let right = check(&model, &history, &Config::new()).verdict;
                let judgment = guess.judge(&model, &history, &Config::new());
                tally.wrong_guesses += u32::from(guess.is_wrong());
                // Outside of this test, a search judges the histories that the monitor cannot judge.
                let Some(judgment) = judgment else {
                    tally.refused += 1;
                    continue;
                };
                assert_eq!(judgment.verdict.is_accepted(), right.is_accepted(), "{guess:?} {history:?}");
                assert_eq!(judgment.verdict.evidence().is_some(), right.evidence().is_some(), "{guess:?} {history:?}");
                *if right.is_accepted() { &mut tally.accepted } else { &mut tally.rejected } += 1;
                if let Some(found) = judgment.verdict.evidence() {
                    let last = history.events()[found.event as usize];
                    assert_eq!(last.op(), found.refused, "{history:?}");
                }
            }
        }
        tally
    }

    /// Judges histories of models that resemble a family but do not belong to it, as if they
    /// belonged to it.
    fn judge_look_alikes(histories: u32) {
        let bounded: Operation<Values> = ("push", ANY, |model, x| {
            if model.len() < 2 {
                model.push_back(x);
            }
            Value::Null
        });
        let no_copies: Operation<Values> = ("push", ANY, |model, x| {
            if model.back() != Some(&x) {
                model.push_back(x);
            }
            Value::Null
        });
        let turns: Operation<Values> =
            ("pop", None, |model, _| if model.len() > 2 { model.pop_back() } else { model.pop_front() }.to_value());
        let stays: Operation<Values> = ("pop", None, |model, _| model.front().copied().to_value());
        let least: Operation<Values> = ("pop", None, |model, _| {
            model.make_contiguous().sort_unstable();
            model.pop_front().to_value()
        });
        let greatest: Operation<Values> = ("pop", None, |model, _| {
            model.make_contiguous().sort_unstable();
            model.pop_back().to_value()
        });
        let containers = [
            [PUSH_BACK, POP_FRONT],
            [PUSH_BACK, POP_BACK],
            [PUSH_BACK, least],
            [PUSH_BACK, greatest],
            [bounded, POP_FRONT],
            [no_copies, POP_BACK],
            [PUSH_BACK, turns],
            [PUSH_BACK, stays],
        ];
        let containers: Vec<Operations> = containers.iter().map(|operations| plain(operations)).collect();
        let mut tallies = Vec::new();
        for family in 0..4 {
            let mut models = containers.clone();
            models.swap(0, family);
            tallies.push(("container", judge_as_the_first(&Values::new(), &models, histories)));
        }
        let bags = [usize::MAX, 2, 1].map(|most| [plain(&[PUSH_BACK]), vec![take_any(most)]].concat());
        tallies.push(("bag", judge_as_the_first(&Values::new(), &bags, histories)));

        let receive = |body: fn(&mut Values) -> Option<i64>| {
            let receive = waiting("receive", move |values: &mut Values| Some(body(values)?.to_value()));
            [plain(&[PUSH_BACK]), vec![receive]].concat()
        };
        let turns = |model: &mut Values| if model.len() > 2 { model.pop_back() } else { model.pop_front() };
        let channels = [receive(VecDeque::pop_front), receive(VecDeque::pop_back), receive(turns)];
        tallies.push(("channel", judge_as_the_first(&Values::new(), &channels, histories)));

        type Set = BTreeSet<i64>;
        let add: Operation<Set> = ("add", ANY, |set, x| set.insert(x).to_value());
        let remove: Operation<Set> = ("remove", ANY, |set, x| set.remove(&x).to_value());
        let contains: Operation<Set> = ("contains", ANY, |set, x| set.contains(&x).to_value());
        let add_if_few: Operation<Set> = ("add", ANY, |set, x| (set.len() < 2 && set.insert(x)).to_value());
        let clear: Operation<Set> = ("remove", ANY, |set, x| {
            let was_there = set.contains(&x);
            set.clear();
            was_there.to_value()
        });
        let sets = [[add, remove, contains], [add_if_few, remove, contains], [add, clear, contains]];
        let sets = sets.map(|operations| plain(&operations));
        tallies.push(("set", judge_as_the_first(&Set::new(), &sets, histories)));

        let draw: Operation<i64> = ("draw", None, |count, _| std::mem::replace(count, *count + 1).to_value());
        let draw_few: Operation<i64> =
            ("draw", None, |count, _| std::mem::replace(count, 3.min(*count + 1)).to_value());
        let draw_two: Operation<i64> = ("draw", None, |count, _| {
            let step = if *count > 2 { 2 } else { 1 };
            std::mem::replace(count, *count + step).to_value()
        });
        let read: Operation<i64> = ("read", None, |count, _| count.to_value());
        let counters = [[draw, read], [draw_few, read], [draw_two, read]].map(|operations| plain(&operations));
        tallies.push(("counter", judge_as_the_first(&0_i64, &counters, histories)));

        type Cell = Option<i64>;
        let write: Operation<Cell> = ("write", ANY, |cell, x| {
            *cell = Some(x);
            Value::Null
        });
        let once: Operation<Cell> = ("write", ANY, |cell, x| {
            cell.get_or_insert(x);
            Value::Null
        });
        let grows: Operation<Cell> = ("write", ANY, |cell, x| {
            *cell = (*cell).max(Some(x));
            Value::Null
        });
        let get: Operation<Cell> = ("get", None, |cell, _| cell.to_value());
        let take_out: Operation<Cell> = ("take", None, |cell, _| cell.take().to_value());
        let stays: Operation<Cell> = ("take", None, |cell, _| cell.to_value());
        let cells = [[write, get, take_out], [once, get, take_out], [grows, get, take_out], [write, get, stays]];
        let cells = cells.map(|operations| plain(&operations));
        tallies.push(("register", judge_as_the_first(&Cell::None, &cells, histories)));

        let mut reentrant = lock();
        reentrant[0] = waiting("lock", |(is_held, _): &mut Locked| {
            *is_held = true;
            done(true)
        });
        let mut lax = lock();
        lax[1] = waiting("unlock", |(is_held, _): &mut Locked| {
            *is_held = false;
            done(true)
        });
        tallies.push(("lock", judge_as_the_first(&(false, 0_u32), &[lock(), lax, reentrant], histories)));
        let mut many_writers = shared_lock();
        many_writers[0] = waiting("write", |(is_held, _): &mut Locked| {
            *is_held = true;
            done(true)
        });
        let locks = [shared_lock(), many_writers];
        tallies.push(("read-write lock", judge_as_the_first(&(false, 0_u32), &locks, histories)));
        let semaphores = [semaphore(i64::MAX), semaphore(2), semaphore(1)];
        tallies.push(("semaphore", judge_as_the_first(&2_i64, &semaphores, histories)));
        for (name, tally) in tallies {
            // The monitor of read-write locks cannot judge most of these histories, and can judge almost none of
            // those that are not linearizable.
            let is_mostly_refused = name == "read-write lock";
            let least = histories / if is_mostly_refused { 200 } else { 20 };
            assert!(tally.accepted > least, "{name}: {tally:?}");
            assert!(tally.rejected > least || is_mostly_refused, "{name}: {tally:?}");
            assert!(tally.wrong_guesses > 0, "{name}: {tally:?}");
        }
    }

    #[test]
    fn a_wrong_guess_makes_no_wrong_verdict() {
        judge_look_alikes(200);
    }

    #[test]
    #[ignore = "a soak: 20,000 histories of each model"]
    fn soak_a_wrong_guess_makes_no_wrong_verdict() {
        judge_look_alikes(20_000);
    }
}

//! What a core's operations are, for the rules that speak of it.

use std::cmp::Ordering;
use std::rc::Rc;

use super::containers::{Container, Discipline, Handling};
use super::counts::{Change, Counts};
use super::known::Rule;
use crate::history::{History, Operation};
use crate::spec::{Initial, Spec, Standard, Taken};
use crate::verdict::{Counted, ObjectKind};

/// What a core's operations are.
pub(super) struct Read {
    pub(super) object: ObjectKind,
    /// The rules that are special to it.
    pub(super) rules: Vec<Box<dyn Rule>>,
    /// Of a container, what is put in and taken out.
    pub(super) container: Option<Rc<Container>>,
}

impl Read {
    fn only(object: ObjectKind) -> Self {
        Self { object, rules: Vec::new(), container: None }
    }
}

/// What the object is, and the rules that are special to it.
pub(super) fn read<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>) -> Read {
    let standard: Vec<Option<Standard<&S::Value>>> =
        history.operations().iter().map(|operation| spec.standard(&operation.op, operation.outcome.result())).collect();
    let kinds: Vec<ObjectKind> = standard.iter().flatten().map(kind).collect();
    let Some(mut object) = kinds.first().copied() else { return Read::only(ObjectKind::Other) };
    for kind in kinds {
        object = match (object, kind) {
            (one, other) if one == other => one,
            // A lock for writers may be one for readers too.
            (ObjectKind::Lock | ObjectKind::ReadWriteLock, ObjectKind::Lock | ObjectKind::ReadWriteLock) => {
                ObjectKind::ReadWriteLock
            }
            _ => return Read::only(ObjectKind::Other),
        };
    }
    let mut is_keyed = false;
    if !spec.standard_spans_keys() {
        let key = |operation: &Operation<S::Op, S::Ret>| spec.key(&operation.op, operation.outcome.result());
        let mut keys = history.operations().iter().map(key);
        let first = keys.next();
        is_keyed = matches!(first, Some(Some(_)));
        if !keys.all(|key| first.as_ref() == Some(&key)) {
            // Each key is an object for itself.
            return Read::only(object_of_many(object));
        }
    }
    // What looks at more than the value, such as an exchange that fails, does not need one value.
    let is_partial = |(operation, standard): (&Operation<S::Op, S::Ret>, &Option<_>)| {
        standard.is_none() && operation.outcome.result().is_some()
    };
    let is_partial = history.operations().iter().zip(&standard).any(is_partial);
    if object == ObjectKind::Register && (is_keyed || is_partial) {
        // Neither are states of an array or a map one value.
        object = ObjectKind::Other;
    }
    // An operation that no monitor knows may do anything, unless it only looks.
    let knows = |(operation, standard): (&Operation<S::Op, S::Ret>, &Option<_>)| {
        standard.is_some() || spec.observes(&operation.op, operation.outcome.result())
    };
    if !history.operations().iter().zip(&standard).all(knows) {
        return Read::only(object);
    }
    let has_result: Vec<bool> =
        history.operations().iter().map(|operation| operation.outcome.result().is_some()).collect();
    let mut container_read = None;
    let rules: Vec<Box<dyn Rule>> = match object {
        ObjectKind::Queue | ObjectKind::Stack | ObjectKind::PriorityQueue | ObjectKind::Bag => {
            let discipline = match object {
                ObjectKind::Queue => Discipline::Queue,
                ObjectKind::Stack => Discipline::Stack,
                ObjectKind::PriorityQueue => Discipline::Priority,
                _ => Discipline::Bag,
            };
            let size = counts(Counted::Values, 0, &standard, &has_result);
            let container = Rc::new(container(spec, discipline, &standard));
            container_read = Some(Rc::clone(&container));
            vec![Box::new(container), Box::new(size)]
        }
        ObjectKind::Counter => vec![Box::new(counts(Counted::Total, 0, &standard, &has_result))],
        ObjectKind::ReadWriteLock => {
            vec![
                Box::new(counts(Counted::Readers, 0, &standard, &has_result)),
                Box::new(counts(Counted::Writers, 0, &standard, &has_result)),
            ]
        }
        ObjectKind::Semaphore => match spec.standard_initial() {
            Initial::Permits(permits) => match i64::try_from(permits) {
                Ok(permits) => vec![Box::new(counts(Counted::Permits, permits, &standard, &has_result))],
                Err(_) => Vec::new(),
            },
            Initial::Nothing | Initial::Value(_) => Vec::new(),
        },
        _ => Vec::new(),
    };
    Read { object, rules, container: container_read }
}

/// What several objects of a kind are together.
fn object_of_many(object: ObjectKind) -> ObjectKind {
    if matches!(object, ObjectKind::Set | ObjectKind::Map) { object } else { ObjectKind::Other }
}

fn kind<V>(standard: &Standard<V>) -> ObjectKind {
    match standard {
        Standard::Read(_) | Standard::Write(_) | Standard::Exchange { .. } => ObjectKind::Register,
        Standard::FetchIncrement(_) | Standard::Increment | Standard::Count(_) => ObjectKind::Counter,
        Standard::Flip(_) | Standard::Sees(_) => ObjectKind::Set,
        Standard::Replace { .. } | Standard::Get(_) => ObjectKind::Map,
        Standard::Enqueue(_) | Standard::Dequeue(_) | Standard::Front(_) => ObjectKind::Queue,
        Standard::Push(_) | Standard::Pop(_) | Standard::Top(_) => ObjectKind::Stack,
        Standard::Insert(_) | Standard::DeleteMin(_) | Standard::Min(_) => ObjectKind::PriorityQueue,
        Standard::Put(_) | Standard::Take(_) => ObjectKind::Bag,
        Standard::Lock { .. } | Standard::Unlock { .. } | Standard::LockFailed => ObjectKind::Lock,
        Standard::LockShared { .. } | Standard::UnlockShared { .. } => ObjectKind::ReadWriteLock,
        Standard::Acquire | Standard::Release => ObjectKind::Semaphore,
    }
}

fn container<S: Spec>(spec: &S, discipline: Discipline, standard: &[Option<Standard<&S::Value>>]) -> Container {
    let mut values: Vec<&S::Value> = Vec::new();
    let handling = standard
        .iter()
        .map(|standard| {
            let mut number = |value| {
                values.iter().position(|other| *other == value).unwrap_or_else(|| {
                    values.push(value);
                    values.len() - 1
                })
            };
            match standard {
                Some(
                    Standard::Enqueue(value) | Standard::Push(value) | Standard::Insert(value) | Standard::Put(value),
                ) => Handling::Put(number(value)),
                Some(
                    Standard::Dequeue(taken)
                    | Standard::Pop(taken)
                    | Standard::DeleteMin(taken)
                    | Standard::Take(taken),
                ) => match taken {
                    Taken::Value(value) => Handling::Take(number(value)),
                    Taken::Nothing => Handling::Empty,
                    Taken::Unknown => Handling::Unknown,
                },
                Some(Standard::Front(taken) | Standard::Top(taken) | Standard::Min(taken)) => match taken {
                    Taken::Value(value) => Handling::Look(number(value)),
                    Taken::Nothing => Handling::Empty,
                    Taken::Unknown => Handling::Nothing,
                },
                _ => Handling::Nothing,
            }
        })
        .collect();
    let order: Vec<Vec<Ordering>> =
        values.iter().map(|one| values.iter().map(|other| spec.standard_order(one, other)).collect()).collect();
    Container::new(discipline, handling, order)
}

fn counts<V>(what: Counted, initial: i64, standard: &[Option<Standard<V>>], has_result: &[bool]) -> Counts {
    let change = |standard: &Option<Standard<V>>| {
        let Some(standard) = standard else { return Change::default() };
        match (what, standard) {
            (Counted::Total, Standard::Increment | Standard::FetchIncrement(None)) => Change::by(1),
            (Counted::Total, Standard::FetchIncrement(Some(found))) => Change::by(1).from(*found).to(*found),
            (Counted::Total, Standard::Count(seen)) => Change::by(0).from(*seen).to(*seen),
            (Counted::Values, Standard::Enqueue(_) | Standard::Push(_) | Standard::Insert(_) | Standard::Put(_)) => {
                Change::by(1)
            }
            (
                Counted::Values,
                Standard::Dequeue(taken) | Standard::Pop(taken) | Standard::DeleteMin(taken) | Standard::Take(taken),
            ) => match taken {
                Taken::Nothing => Change::by(0).to(0),
                // If it is not known, it may have found nothing; but nobody needs there to be no less.
                Taken::Value(_) | Taken::Unknown => Change::by(-1),
            },
            (
                Counted::Values,
                Standard::Front(Taken::Nothing) | Standard::Top(Taken::Nothing) | Standard::Min(Taken::Nothing),
            ) => Change::by(0).to(0),
            (Counted::Permits, Standard::Acquire) => Change::by(-1).from(1),
            (Counted::Permits, Standard::Release) => Change::by(1),
            (Counted::Readers, Standard::LockShared { .. }) => Change::by(1),
            (Counted::Readers, Standard::UnlockShared { .. }) => Change::by(-1).from(1),
            (Counted::Readers, Standard::Lock { .. }) => Change::by(0).to(0),
            (Counted::Writers, Standard::LockShared { .. }) => Change::by(0).to(0),
            (Counted::Writers, Standard::Lock { .. }) => Change::by(1).to(0),
            (Counted::Writers, Standard::Unlock { .. }) => Change::by(-1).from(1),
            _ => Change::default(),
        }
    };
    let is_sure = |(standard, has_result): (&Option<Standard<V>>, &bool)| {
        let may_fail =
            matches!(standard, Some(Standard::Lock { .. } | Standard::LockShared { .. } | Standard::Acquire));
        *has_result || !may_fail
    };
    Counts {
        what,
        initial,
        changes: standard.iter().map(change).collect(),
        is_sure: standard.iter().zip(has_result).map(is_sure).collect(),
    }
}

//! Reads a core's operations: finds the kind of their object, and the rules that apply to this
//! kind.

use std::cmp::Ordering;
use std::rc::Rc;

use super::containers::{Container, Discipline, Handling};
use super::counts::{Change, Counts};
use super::prover::Rule;
use crate::history::OpId;
use crate::judge::erased::{Case, ReadValues};
use crate::judge::monitor::{Span, ValueId};
use crate::spec::{Initial, Standard, Taken};
use crate::verdict::{Counted, ObjectKind};

/// The kind of a core's object, and the rules for it.
pub(super) struct Read {
    pub(super) object: ObjectKind,
    /// The rules for this kind of object.
    pub(super) rules: Vec<Box<dyn Rule>>,
    /// For a container, the values that are put in and taken out.
    pub(super) container: Option<Rc<Container>>,
}

impl Read {
    fn only(object: ObjectKind) -> Self {
        Self { object, rules: Vec::new(), container: None }
    }
}

/// Returns the kind of the object and the rules for it.
pub(super) fn read(case: &dyn Case) -> Read {
    let mut values = case.values();
    let initial = values.start(0);
    let mut standard_of = |op: OpId| {
        let mut span = [Span { what: Standard::Increment, call: 0, ret: 0 }];
        let (_, not_read) = values.read(&[op], false, &mut span);
        not_read.is_none().then_some(span[0].what)
    };
    let frame = case.frame();
    let standard: Vec<Option<Standard<ValueId>>> = frame.operations().map(&mut standard_of).collect();
    let kinds: Vec<ObjectKind> = standard.iter().flatten().map(kind).collect();
    let Some(mut object) = kinds.first().copied() else { return Read::only(ObjectKind::Other) };
    for kind in kinds {
        object = match (object, kind) {
            (one, other) if one == other => one,
            // Operations of a lock are also operations of a read-write lock. So an object that has
            // operations of both kinds is a read-write lock.
            (ObjectKind::Lock | ObjectKind::ReadWriteLock, ObjectKind::Lock | ObjectKind::ReadWriteLock) => {
                ObjectKind::ReadWriteLock
            }
            _ => return Read::only(ObjectKind::Other),
        };
    }
    let keys = case.keys().filter(|_| !values.spans_keys());
    if keys.as_ref().is_some_and(|keys| keys.count > 1 || keys.any_spans) {
        // Each key is an object of its own.
        return Read::only(object_of_many(object));
    }
    // Some operations have a result but no standard form. For example, a failed exchange does not
    // show which value the register holds.
    let mut with_standard = frame.operations().zip(&standard);
    let is_partial = with_standard.clone().any(|(op, standard)| standard.is_none() && case.has_result(op));
    if object == ObjectKind::Register && (keys.is_some() || is_partial) {
        // The state of an array or a map is more than one value.
        object = ObjectKind::Other;
    }
    // An operation without a standard form may do anything, unless it only observes the state.
    if !with_standard.all(|(op, standard)| standard.is_some() || case.observes(op)) {
        return Read::only(object);
    }
    let has_result: Vec<bool> = frame.operations().map(|op| case.has_result(op)).collect();
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
            let container = Rc::new(container(&*values, discipline, &standard));
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
        ObjectKind::Semaphore => match initial {
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

/// Returns the kind of an object whose keys are objects of this kind.
fn object_of_many(object: ObjectKind) -> ObjectKind {
    if matches!(object, ObjectKind::Set | ObjectKind::Map) { object } else { ObjectKind::Other }
}

fn kind(standard: &Standard<ValueId>) -> ObjectKind {
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

fn container(values: &dyn ReadValues, discipline: Discipline, standard: &[Option<Standard<ValueId>>]) -> Container {
    let handling = standard
        .iter()
        .map(|standard| {
            let number = |value: &ValueId| value.index();
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
    let ranks = values.ranks();
    let order: Vec<Vec<Ordering>> =
        ranks.iter().map(|one| ranks.iter().map(|other| one.cmp(other)).collect()).collect();
    Container::new(discipline, handling, order)
}

fn counts(what: Counted, initial: i64, standard: &[Option<Standard<ValueId>>], has_result: &[bool]) -> Counts {
    let change = |standard: &Option<Standard<ValueId>>| {
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
                // If the result is unknown, the operation may have found no value. It is still
                // sound to count it as a removal, because no operation requires a minimum number of
                // values.
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
    let is_sure = |(standard, has_result): (&Option<Standard<ValueId>>, &bool)| {
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

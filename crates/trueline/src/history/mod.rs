//! What happened: the operations of processes on concurrent objects, with their calls and returns in one order.
//!
//! A [`History`] is a sequence of [`Event`]s; it is the only thing that a checker reads. It is built by hand or by a
//! recorder with a [`Builder`] (event by event), from whole operations with [`from_intervals`] or [`from_logs`], or by a [`codec`].
//! Construction validates: a history that exists is well formed.

mod builder;
#[cfg(feature = "json")]
pub mod codec;
mod datum;
mod interval;
mod operation;
mod partition;
mod value;
mod visible;
mod weaken;

use std::ops::Index;
use std::sync::Arc;

pub use builder::{Builder, HistoryError};
pub use datum::{Argument, Datum};
pub use interval::{Interval, from_intervals, from_logs, widen};
pub use operation::{Event, EventKind, ObjectId, OpId, Operation, Outcome, ProcessId};
pub use partition::{Parts, by_object, split};
pub use value::{Record, Shown, Value};
pub use visible::{visible, visible_json};
pub use weaken::Fate;

/// A history whose operations are as a file gives them, before a specification has read them.
pub type RawHistory = History<Record, Value>;

/// The operations of processes on one or several objects, with calls and returns in one total order of events.
///
/// Invariants, held by construction:
/// - operations are numbered in the order of their calls;
/// - each has one call event and, if it returned, one return event behind it;
/// - a process has at most one open operation, except that its whole operations may overlap where several processes return
///   and call again at the same time ([`from_intervals`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History<Op, Ret> {
    operations: Vec<Operation<Op, Ret>>,
    events: Vec<Event>,
    /// Names of the objects, by [`ObjectId`]; empty where the only object has no name.
    objects: Vec<Arc<str>>,
}

impl<Op, Ret> History<Op, Ret> {
    /// A builder that takes the events in their order.
    ///
    /// ```
    /// use trueline::history::History;
    ///
    /// let mut builder = History::builder();
    /// builder.call(0, "write 1")?;
    /// builder.call(1, "read")?;
    /// builder.ret(0, None)?;
    /// builder.ret(1, Some(1))?;
    /// let history = builder.finish();
    /// assert_eq!(history.len(), 2);
    /// assert_eq!(history.pending(), 0);
    /// # Ok::<(), trueline::history::HistoryError>(())
    /// ```
    pub fn builder() -> Builder<Op, Ret> {
        Builder::new()
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there is no operation.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// The operations, in the order of their calls.
    pub fn operations(&self) -> &[Operation<Op, Ret>] {
        &self.operations
    }

    /// The calls and returns, in their order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// How many operations never returned.
    pub fn pending(&self) -> usize {
        self.operations.iter().filter(|operation| operation.return_position().is_none()).count()
    }

    /// The number of objects; 1 for an empty history too.
    pub fn object_count(&self) -> usize {
        self.objects.len().max(1)
    }

    /// The name of an object, if it has one.
    pub fn object_name(&self, object: ObjectId) -> Option<&str> {
        self.objects.get(object.index()).map(AsRef::as_ref)
    }

    /// Whether `first` returned before `second` was called: the order that a linearization must keep.
    pub fn precedes(&self, first: OpId, second: OpId) -> bool {
        self[first].return_position().is_some_and(|ret| ret < self[second].call_position())
    }

    /// An operation, with the name of its object if that has one.
    pub fn named(&self, id: OpId) -> (Operation<Op, Ret>, Option<String>)
    where
        Op: Clone,
        Ret: Clone,
    {
        (self[id].clone(), self.object_name(self[id].object).map(str::to_owned))
    }

    /// The history with each operation and its outcome made anew; calls, returns and processes stay.
    #[must_use]
    pub fn map<Op2, Ret2>(
        &self,
        mut make: impl FnMut(&Operation<Op, Ret>) -> (Op2, Outcome<Ret2>),
    ) -> History<Op2, Ret2> {
        let mut operations = Vec::with_capacity(self.operations.len());
        for operation in &self.operations {
            let (op, outcome) = make(operation);
            operations.push(operation.with(op, outcome));
        }
        self.with_operations(operations)
    }

    /// The history with each operation and its outcome read anew; calls, returns and processes stay.
    ///
    /// # Errors
    /// The first error that `read` gives.
    pub fn try_map<Op2, Ret2, E>(
        &self,
        mut read: impl FnMut(&Operation<Op, Ret>) -> Result<(Op2, Outcome<Ret2>), E>,
    ) -> Result<History<Op2, Ret2>, E> {
        let mut operations = Vec::with_capacity(self.operations.len());
        for operation in &self.operations {
            let (op, outcome) = read(operation)?;
            operations.push(operation.with(op, outcome));
        }
        Ok(self.with_operations(operations))
    }

    /// The history with other operations at the same places.
    fn with_operations<Op2, Ret2>(&self, operations: Vec<Operation<Op2, Ret2>>) -> History<Op2, Ret2> {
        #[cfg(debug_assertions)]
        for operation in &operations {
            let has_returned = matches!(operation.outcome, Outcome::Returned(_));
            assert_eq!(has_returned, operation.return_position().is_some(), "mapping keeps what returned");
        }
        History { operations, events: self.events.clone(), objects: self.objects.clone() }
    }
}

/// How an operation that is kept ended.
type OutcomeOf<'f, Op, Ret> = dyn Fn(OpId, &Operation<Op, Ret>) -> Outcome<Ret> + 'f;

impl<Op: Clone, Ret: Clone> History<Op, Ret> {
    /// The history of only those operations that `keep` keeps.
    ///
    /// ```
    /// # use trueline::history::{History, ProcessId};
    /// # let mut builder = History::builder();
    /// # builder.call(0, 'a')?; builder.ret(0, ())?; builder.call(1, 'b')?; builder.ret(1, ())?;
    /// # let history = builder.finish();
    /// let of_process_1 = history.project(|_, operation| operation.process == ProcessId(1));
    /// assert_eq!(of_process_1.len(), 1);
    /// # Ok::<(), trueline::history::HistoryError>(())
    /// ```
    #[must_use]
    pub fn project(&self, mut keep: impl FnMut(OpId, &Operation<Op, Ret>) -> bool) -> Self {
        let kept: Vec<bool> = (0..).zip(&self.operations).map(|(id, operation)| keep(OpId(id), operation)).collect();
        let events: Vec<Event> = self.events.iter().copied().filter(|event| kept[event.op().index()]).collect();
        self.restricted_to(&events, &|_, operation| operation.outcome.clone())
    }

    /// The history of the first `length` events. Operations open there become optional and keep their results.
    ///
    /// This is the prefix that evidence speaks of. Results are kept because forgetting them can make the prefix
    /// linearizable: the open operation may then have returned something else.
    #[must_use]
    pub fn truncate(&self, length: usize) -> Self {
        let length = length.min(self.events.len());
        self.restricted_to(&self.events[..length], &|_, operation| match &operation.outcome {
            Outcome::Returned(ret) if operation.return_position().is_none_or(|ret| ret as usize >= length) => {
                Outcome::Optional(ret.clone())
            }
            outcome => outcome.clone(),
        })
    }

    /// The history of some of the events, in their order: each call before its return.
    fn restricted_to(&self, events: &[Event], outcome: &OutcomeOf<'_, Op, Ret>) -> Self {
        let mut renumbered = vec![u32::MAX; self.operations.len()];
        let mut operations: Vec<Operation<Op, Ret>> = Vec::new();
        let mut renumbered_events = Vec::with_capacity(events.len());
        for (position, event) in (0u32..).zip(events) {
            let old = event.op().index();
            match event.kind() {
                EventKind::Call => {
                    let id = u32::try_from(operations.len()).expect("fewer than in the whole history");
                    renumbered[old] = id;
                    let operation = &self.operations[old];
                    let mut kept = operation.with(operation.op.clone(), outcome(event.op(), operation));
                    kept.set_call(position);
                    kept.clear_return();
                    operations.push(kept);
                    renumbered_events.push(Event::call(OpId(id)));
                }
                EventKind::Return => {
                    let id = OpId(renumbered[old]);
                    operations[id.index()].set_return(position);
                    renumbered_events.push(Event::ret(id));
                }
            }
        }
        History { operations, events: renumbered_events, objects: self.objects.clone() }
    }
}

impl<Op, Ret> Index<OpId> for History<Op, Ret> {
    type Output = Operation<Op, Ret>;

    fn index(&self, id: OpId) -> &Self::Output {
        &self.operations[id.index()]
    }
}

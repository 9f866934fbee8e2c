//! Histories: the operations of processes on concurrent objects, with their calls and returns in one order.
//!
//! A [`History`] is a sequence of [`Event`]s. A checker needs no other information about an execution. A history is
//! built event by event with a [`Builder`], from whole operations with [`from_intervals`] or [`from_logs`], or from a
//! file by a [`codec`]. All constructors validate the history, so every `History` is well formed.

mod operation;
mod builder;
mod interval;
mod open;
mod value;
mod datum;
pub(crate) mod derived;

mod partition;
mod weaken;
mod visible;

#[cfg(feature = "json")]
pub mod codec;

use std::ops::Index;
use std::sync::Arc;

pub use builder::{Builder, HistoryError};
pub use datum::{Argument, Datum};
#[doc(hidden)]
pub use interval::widen;
pub use interval::{Interval, from_intervals, from_logs};
pub use operation::{Event, EventKind, ObjectId, OpId, Operation, Outcome, ProcessId};
#[doc(hidden)]
pub use partition::{Parts, by_object, split};
#[cfg(feature = "derive")]
pub use trueline_derive::{Argument, Datum};
#[doc(hidden)]
pub use value::Shown;
pub use value::{Record, Value};
#[doc(hidden)]
pub use visible::{visible, visible_json};
#[doc(hidden)]
pub use weaken::Fate;

/// A history whose operations are as the file gives them: no specification has interpreted the operations yet.
pub type RawHistory = History<Record, Value>;

/// The operations of processes on one or several objects, with calls and returns in one total order of events.
///
/// The constructors maintain these invariants:
/// - operations are numbered in the order of their calls;
/// - each operation has one call event and, if it returned, one return event after it;
/// - a process has at most one open operation. The only exception: if several processes return and
///   call again at the same time, whole operations of one process may overlap (see
///   [`from_intervals`]).
///
/// A history may have [annotations](Self::annotations) and names of processes for the readers of a
/// report. They do not affect a verdict, and histories that differ only in them are equal.
#[derive(Clone, Debug)]
pub struct History<Op, Ret> {
    operations: Vec<Operation<Op, Ret>>,
    events: Vec<Event>,
    /// Names of the objects, indexed by [`ObjectId`]; empty if the only object has no name.
    objects: Vec<Arc<str>>,
    /// Names of the processes, indexed by [`ProcessId`]; empty if the file has numbers instead of
    /// names.
    process_names: Arc<[Arc<str>]>,
    annotations: Vec<Annotation>,
}

/// A note about something that happened between two events of a history and is not an operation, such as a failover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The number of events before the annotation.
    pub position: u32,
    /// The line of the file that the annotation came from; 0 if the line is unknown.
    pub line: u32,
    /// What happened. The text is not safe to display: it may contain control characters.
    pub text: Arc<str>,
}

/// An operation, with the names of its object and of its process as far as they have names.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Named<Op, Ret> {
    /// The operation.
    pub operation: Operation<Op, Ret>,
    /// The name of the object.
    pub object: Option<String>,
    /// The name of the process.
    pub process: Option<String>,
}

impl<Op: PartialEq, Ret: PartialEq> PartialEq for History<Op, Ret> {
    fn eq(&self, other: &Self) -> bool {
        (&self.operations, &self.events, &self.objects) == (&other.operations, &other.events, &other.objects)
    }
}

impl<Op: Eq, Ret: Eq> Eq for History<Op, Ret> {}

impl<Op, Ret> History<Op, Ret> {
    /// Returns a builder that takes the events in their order.
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

    /// Returns the number of operations.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Returns whether the history has no operations.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Returns the operations, in the order of their calls.
    pub fn operations(&self) -> &[Operation<Op, Ret>] {
        &self.operations
    }

    /// Returns the calls and returns, in their order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns the number of operations that never returned.
    pub fn pending(&self) -> usize {
        self.operations.iter().filter(|operation| operation.return_position().is_none()).count()
    }

    /// Returns the number of objects, which is 1 for an empty history.
    pub fn object_count(&self) -> usize {
        self.objects.len().max(1)
    }

    /// Returns the name of an object, if it has one.
    pub fn object_name(&self, object: ObjectId) -> Option<&str> {
        self.objects.get(object.index()).map(AsRef::as_ref)
    }

    /// Returns the name of a process, if it has one: a [mapping](codec::mapping::Mapping) replaces
    /// the names of processes by numbers.
    ///
    /// ```
    /// use trueline::history::ProcessId;
    /// use trueline::history::codec::mapping::Mapping;
    ///
    /// let mapping = Mapping::from_json(&serde_json::json!({"process": "who", "f": "what", "call": "t0", "return": "t1"}))?;
    /// let history = mapping.read(&br#"{"who":"client-7","what":"read","t0":1,"t1":2}"#[..], 0).expect("a history");
    /// assert_eq!(history.process_name(ProcessId(0)), Some("client-7"));
    /// # Ok::<(), String>(())
    /// ```
    pub fn process_name(&self, process: ProcessId) -> Option<&str> {
        self.process_names.get(process.0 as usize).map(AsRef::as_ref)
    }

    /// Returns the name of a process, or its number if it has no name. The name is not safe to
    /// display: it may contain control characters.
    #[doc(hidden)]
    pub fn process_label(&self, process: ProcessId) -> String {
        self.process_name(process).map_or_else(|| process.to_string(), str::to_owned)
    }

    /// Returns the annotations in their order: notes about what happened between the events, such as a failover.
    /// Histories made from a part of the events, for example by [`project`](Self::project), have no annotations.
    ///
    /// ```
    /// use trueline::history::History;
    ///
    /// let mut builder = History::builder();
    /// builder.call(0, "read")?;
    /// builder.annotate("the leader was killed");
    /// builder.ret(0, 1)?;
    /// let history = builder.finish();
    /// assert_eq!(history.annotations()[0].position, 1);
    /// # Ok::<(), trueline::history::HistoryError>(())
    /// ```
    pub fn annotations(&self) -> &[Annotation] {
        &self.annotations
    }

    /// Returns whether `first` returned before `second` was called. A linearization must preserve this order.
    pub fn precedes(&self, first: OpId, second: OpId) -> bool {
        self[first].return_position().is_some_and(|ret| ret < self[second].call_position())
    }

    /// Returns an operation, with the names of its object and of its process as far as they have
    /// names.
    #[doc(hidden)]
    pub fn named(&self, id: OpId) -> Named<Op, Ret>
    where
        Op: Clone,
        Ret: Clone,
    {
        self.named_as(id, self[id].clone())
    }

    /// Returns `operation`, which describes the operation `id`, with the names of its object and of
    /// its process.
    pub(crate) fn named_as<Op2, Ret2>(&self, id: OpId, operation: Operation<Op2, Ret2>) -> Named<Op2, Ret2> {
        let object = self.object_name(self[id].object).map(str::to_owned);
        let process = self.process_name(self[id].process).map(str::to_owned);
        Named { operation, object, process }
    }

    /// Replaces each operation and its outcome by the result of `make`; calls, returns and processes stay the same.
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

    /// Replaces each operation and its outcome by the result of `read`; calls, returns and processes stay the same.
    ///
    /// # Errors
    /// Returns the first error that `read` returns.
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

    /// Replaces the operations of the history. Calls and returns keep their positions.
    fn with_operations<Op2, Ret2>(&self, operations: Vec<Operation<Op2, Ret2>>) -> History<Op2, Ret2> {
        #[cfg(debug_assertions)]
        for operation in &operations {
            let has_returned = matches!(operation.outcome, Outcome::Returned(_));
            assert_eq!(
                has_returned,
                operation.return_position().is_some(),
                "mapping must not change which operations returned"
            );
        }
        let annotations = self.annotations.clone();
        History {
            operations,
            events: self.events.clone(),
            objects: self.objects.clone(),
            process_names: Arc::clone(&self.process_names),
            annotations,
        }
    }
}

/// A function that computes the new outcome of an operation that is kept in a history.
type OutcomeOf<'f, Op, Ret> = dyn Fn(OpId, &Operation<Op, Ret>) -> Outcome<Ret> + 'f;

impl<Op: Clone, Ret: Clone> History<Op, Ret> {
    /// Returns the history that contains only the operations for which `keep` returns true.
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

    /// Returns the history of the first `length` events. Operations that return later become optional and keep their
    /// results.
    ///
    /// The evidence of a rejection refers to such a prefix. Results are kept because forgetting
    /// them can make the prefix linearizable: an open operation could then have returned a
    /// different result.
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

    /// Returns the history of a subsequence of the events. For each return, the subsequence must
    /// also contain the call.
    fn restricted_to(&self, events: &[Event], outcome: &OutcomeOf<'_, Op, Ret>) -> Self {
        let mut renumbered = vec![u32::MAX; self.operations.len()];
        let mut operations: Vec<Operation<Op, Ret>> = Vec::new();
        let mut renumbered_events = Vec::with_capacity(events.len());
        for (position, event) in (0u32..).zip(events) {
            let old = event.op().index();
            match event.kind() {
                EventKind::Call => {
                    let id =
                        u32::try_from(operations.len()).expect("there are fewer operations than in the whole history");
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
        History {
            operations,
            events: renumbered_events,
            objects: self.objects.clone(),
            process_names: Arc::clone(&self.process_names),
            annotations: Vec::new(),
        }
    }
}

impl<Op, Ret> Index<OpId> for History<Op, Ret> {
    type Output = Operation<Op, Ret>;

    fn index(&self, id: OpId) -> &Self::Output {
        &self.operations[id.index()]
    }
}

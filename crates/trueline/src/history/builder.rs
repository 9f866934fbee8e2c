//! Builds a history event by event.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::open::ByProcess;
use super::{Annotation, Event, History, ObjectId, OpId, Operation, Outcome, ProcessId};

/// An error in a history, with the event, operation or line where it occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryError {
    /// What `number` counts: "event" or "operation" (both from 0), or "line" (from 1).
    place: &'static str,
    number: usize,
    problem: Problem,
}

impl HistoryError {
    pub(super) fn at_operation(number: usize, line: u32, problem: Problem) -> Self {
        if line == 0 {
            Self { place: "operation", number, problem }
        } else {
            Self { place: "line", number: line as usize, problem }
        }
    }

    /// Returns the line of the file, if the history came from a file.
    pub fn line(&self) -> Option<usize> {
        (self.place == "line").then_some(self.number)
    }

    /// Returns the description of the error, without the place.
    pub fn problem(&self) -> String {
        self.problem.to_string()
    }
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, number, problem } = self;
        write!(f, "{place} {number}: {problem}")
    }
}

impl Error for HistoryError {}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    ReturnWithoutCall(ProcessId),
    TwoOpenCalls(ProcessId),
    ReturnBeforeCall { call: i64, ret: i64 },
    OverlapInProcess(ProcessId),
    TooMany,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let once = "a process does one operation at a time, so give concurrent operations different processes";
        match self {
            Self::ReturnWithoutCall(process) => {
                write!(f, "process {process} returns, but has no open call; log its call first")
            }
            Self::TwoOpenCalls(process) => {
                write!(f, "process {process} makes a call while its earlier call is open; {once}")
            }
            Self::ReturnBeforeCall { call, ret } => {
                write!(f, "the operation returns at {ret}, before its call at {call}; check the clock, or swap the two")
            }
            Self::OverlapInProcess(process) => {
                write!(f, "process {process} has two operations that overlap in time; {once}")
            }
            Self::TooMany => write!(f, "too many operations: the maximum is {}", Event::MOST_OPERATIONS),
        }
    }
}

/// Builds a [`History`] from events in their order, and rejects events that are not well formed.
///
/// An event `fail` in a file corresponds to [`fail`](Builder::fail): the operation did not happen. An event `info`
/// corresponds to [`info`](Builder::info): the operation stays pending, and the process may continue.
#[derive(Clone, Debug)]
pub struct Builder<Op, Ret> {
    operations: Vec<Operation<Op, Ret>>,
    events: Vec<Event>,
    /// The open operation of each process: the operation that was called and has not ended.
    open: ByProcess<OpId>,
    /// The operations that failed. `finish` removes them.
    failed: Vec<OpId>,
    objects: Vec<Arc<str>>,
    object_ids: HashMap<Arc<str>, ObjectId>,
    annotations: Vec<Annotation>,
    line: u32,
    /// The number of events so far, including the events of failed operations. If the line of an
    /// error is not known, the error message gives this number instead.
    seen: usize,
}

impl<Op, Ret> Default for Builder<Op, Ret> {
    fn default() -> Self {
        Self {
            operations: Vec::new(),
            events: Vec::new(),
            open: ByProcess::default(),
            failed: Vec::new(),
            objects: Vec::new(),
            object_ids: HashMap::new(),
            annotations: Vec::new(),
            line: 0,
            seen: 0,
        }
    }
}

impl<Op, Ret> Builder<Op, Ret> {
    /// Creates a builder without events.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the line of the file that the events added from now on come from. Errors and operations refer to this line.
    pub fn line(&mut self, line: u32) -> &mut Self {
        self.line = line;
        self
    }

    /// Returns the object with this name. Creates the object when the name is used for the first
    /// time.
    ///
    /// Either all operations of a history name an object, or none of them does.
    ///
    /// # Panics
    /// Panics if there are more than 2^32 objects.
    pub fn object(&mut self, name: &str) -> ObjectId {
        if let Some(&id) = self.object_ids.get(name) {
            return id;
        }
        let id = ObjectId(u32::try_from(self.objects.len()).expect("there are at most 2^32 objects"));
        let name: Arc<str> = name.into();
        self.objects.push(Arc::clone(&name));
        self.object_ids.insert(name, id);
        id
    }

    /// Adds a call of `op` by `process` on the only object.
    ///
    /// # Errors
    /// Fails if the process has an open call, or if there are too many operations.
    pub fn call(&mut self, process: impl Into<ProcessId>, op: Op) -> Result<OpId, HistoryError> {
        self.call_on(ObjectId::default(), process, op)
    }

    /// Adds a call of `op` by `process` on `object`.
    ///
    /// # Errors
    /// Fails if the process has an open call, or if there are too many operations.
    #[expect(clippy::missing_panics_doc, reason = "the number of operations is checked first")]
    pub fn call_on(&mut self, object: ObjectId, process: impl Into<ProcessId>, op: Op) -> Result<OpId, HistoryError> {
        let process = process.into();
        if self.open.get(process.0).is_some() {
            return Err(self.error(Problem::TwoOpenCalls(process)));
        }
        if self.operations.len() >= Event::MOST_OPERATIONS {
            return Err(self.error(Problem::TooMany));
        }
        let id = OpId(u32::try_from(self.operations.len()).expect("the number of operations was checked above"));
        let position = self.position();
        self.operations.push(Operation::new(op, Outcome::Pending, process, object, position, self.line));
        self.events.push(Event::call(id));
        self.open.insert(process.0, id);
        self.seen += 1;
        Ok(id)
    }

    /// Adds the return of `process`'s open operation, with the result `ret`.
    ///
    /// # Errors
    /// Fails if the process has no open call.
    pub fn ret(&mut self, process: impl Into<ProcessId>, ret: Ret) -> Result<OpId, HistoryError> {
        let id = self.close(process.into())?;
        let position = self.position();
        let operation = &mut self.operations[id.index()];
        operation.outcome = Outcome::Returned(ret);
        operation.set_return(position);
        operation.set_return_line(self.line);
        self.events.push(Event::ret(id));
        Ok(id)
    }

    /// Records the version, revision or log index that the object returned to `process` with the result of its open
    /// operation.
    ///
    /// The version of an update is the position of the update in the order of all updates of the object. The version of
    /// a read is the version of the last update before the read. Checkers use versions as hints, and verify them. A
    /// version never changes a verdict. An operation that does not return has no version.
    ///
    /// # Errors
    /// Returns an error if the process has no open call.
    pub fn version(&mut self, process: impl Into<ProcessId>, version: i64) -> Result<(), HistoryError> {
        let process = process.into();
        let id = *self.open.get(process.0).ok_or_else(|| self.error(Problem::ReturnWithoutCall(process)))?;
        self.operations[id.index()].set_version(Some(version));
        Ok(())
    }

    /// Drops the open operation of `process`, because it did not happen.
    ///
    /// # Errors
    /// Fails if the process has no open call.
    pub fn fail(&mut self, process: impl Into<ProcessId>) -> Result<(), HistoryError> {
        let id = self.close(process.into())?;
        self.failed.push(id);
        Ok(())
    }

    /// Leaves the open operation of `process` pending, because its outcome is unknown.
    ///
    /// # Errors
    /// Fails if the process has no open call.
    pub fn info(&mut self, process: impl Into<ProcessId>) -> Result<(), HistoryError> {
        self.close(process.into())?;
        Ok(())
    }

    /// Returns the open operation of `process`, if there is one.
    pub fn open(&self, process: impl Into<ProcessId>) -> Option<&Op> {
        self.open.get(process.into().0).map(|id| &self.operations[id.index()].op)
    }

    /// Returns the history. Operations that are still open become pending.
    pub fn finish(mut self) -> History<Op, Ret> {
        if !self.failed.is_empty() {
            self.drop_failed();
        }
        let Self { operations, events, objects, annotations, .. } = self;
        History { operations, events, objects, process_names: Arc::default(), annotations }
    }

    /// Adds a note about something other than an operation, such as a failover, that happened after the last event
    /// added so far: see [`History::annotations`].
    pub fn annotate(&mut self, text: impl Into<Arc<str>>) -> &mut Self {
        let annotation = Annotation { position: self.position(), line: self.line, text: text.into() };
        self.annotations.push(annotation);
        self
    }

    fn close(&mut self, process: ProcessId) -> Result<OpId, HistoryError> {
        let id = self.open.remove(process.0).ok_or_else(|| self.error(Problem::ReturnWithoutCall(process)))?;
        self.seen += 1;
        Ok(id)
    }

    fn position(&self) -> u32 {
        u32::try_from(self.events.len()).expect("the number of events fits in 32 bits")
    }

    fn error(&self, problem: Problem) -> HistoryError {
        if self.line == 0 {
            HistoryError { place: "event", number: self.seen, problem }
        } else {
            HistoryError { place: "line", number: self.line as usize, problem }
        }
    }

    fn drop_failed(&mut self) {
        let mut renumbered = vec![Some(OpId(0)); self.operations.len()];
        for id in &self.failed {
            renumbered[id.index()] = None;
        }
        for (next, id) in (0..).zip(renumbered.iter_mut().flatten()) {
            *id = OpId(next);
        }
        let mut old = renumbered.iter();
        self.operations.retain(|_| old.next().is_some_and(Option::is_some));
        let mut events = Vec::with_capacity(self.events.len());
        let mut annotations = self.annotations.iter_mut().peekable();
        for (old_position, event) in (0..).zip(&self.events) {
            let here = u32::try_from(events.len()).expect("there are at most as many events as before");
            while let Some(annotation) = annotations.next_if(|annotation| annotation.position <= old_position) {
                annotation.position = here;
            }
            let Some(id) = renumbered[event.op().index()] else { continue };
            let position = u32::try_from(events.len()).expect("there are at most as many events as before");
            let operation = &mut self.operations[id.index()];
            if event.kind() == super::EventKind::Call {
                operation.set_call(position);
                events.push(Event::call(id));
            } else {
                operation.set_return(position);
                events.push(Event::ret(id));
            }
        }
        let end = u32::try_from(events.len()).expect("there are at most as many events as before");
        annotations.for_each(|annotation| annotation.position = end);
        self.events = events;
    }
}

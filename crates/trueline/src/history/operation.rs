//! Operations and their events.

use std::fmt;

/// The number of an operation in a history, counted from 0 in the order of the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u32);

impl OpId {
    /// Returns the number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A process: a thread or client that has at most one operation open at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(pub u32);

impl From<u32> for ProcessId {
    fn from(id: u32) -> Self {
        Self(id)
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An object that operations are applied to. Objects are judged separately, because linearizability is local.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

impl ObjectId {
    /// Returns the number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The outcome of an operation, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome<Ret> {
    /// The operation returned this result.
    Returned(Ret),
    /// The operation never returned: it may have taken effect with any result, or not at all.
    Pending,
    /// The operation may or may not have taken effect. If it took effect, it had this result.
    /// Truncating a history produces such operations.
    Optional(Ret),
}

impl<Ret> Outcome<Ret> {
    /// Converts the result, if there is one, with `read`.
    pub fn map<Ret2>(&self, read: impl FnOnce(&Ret) -> Ret2) -> Outcome<Ret2> {
        match self {
            Self::Returned(ret) => Outcome::Returned(read(ret)),
            Self::Optional(ret) => Outcome::Optional(read(ret)),
            Self::Pending => Outcome::Pending,
        }
    }

    /// Returns the result, if it is known.
    pub fn result(&self) -> Option<&Ret> {
        match self {
            Self::Returned(ret) | Self::Optional(ret) => Some(ret),
            Self::Pending => None,
        }
    }
}

const NEVER: u32 = u32::MAX;

/// One operation of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation<Op, Ret> {
    /// The operation and its arguments.
    pub op: Op,
    /// The outcome of the operation.
    pub outcome: Outcome<Ret>,
    /// The process that called the operation.
    pub process: ProcessId,
    /// The object that the operation was called on.
    pub object: ObjectId,
    /// The position of the call in the order of events.
    call: u32,
    /// The position of the return if the outcome is `Returned`, and `NEVER` otherwise.
    ret: u32,
    /// The lines of a file that the call and the return came from; 0 if the line is unknown.
    lines: (u32, u32),
    /// The version that the object returned with the result, or [`NO_VERSION`].
    version: i64,
}

/// The placeholder for the version of an operation without a version.
pub(super) const NO_VERSION: i64 = i64::MIN;

impl<Op, Ret> Operation<Op, Ret> {
    pub(super) fn new(
        op: Op,
        outcome: Outcome<Ret>,
        process: ProcessId,
        object: ObjectId,
        call: u32,
        line: u32,
    ) -> Self {
        Self { op, outcome, process, object, call, ret: NEVER, lines: (line, line), version: NO_VERSION }
    }

    /// Returns the position of the call in the order of events.
    pub fn call_position(&self) -> u32 {
        self.call
    }

    /// Returns the position of the return, or `None` if the operation did not return.
    pub fn return_position(&self) -> Option<u32> {
        (self.ret != NEVER).then_some(self.ret)
    }

    /// Returns the line of the file that the call came from.
    pub fn call_line(&self) -> Option<u32> {
        (self.lines.0 != 0).then_some(self.lines.0)
    }

    /// Returns the line of the file that the return came from.
    pub fn return_line(&self) -> Option<u32> {
        (self.lines.1 != 0 && self.ret != NEVER).then_some(self.lines.1)
    }

    /// Returns the version that the object returned with the result, if it is recorded: see
    /// [`Builder::version`](super::Builder::version).
    pub fn version(&self) -> Option<i64> {
        (self.version != NO_VERSION).then_some(self.version)
    }

    pub(super) fn set_version(&mut self, version: Option<i64>) {
        self.version = version.unwrap_or(NO_VERSION);
    }

    pub(super) fn set_return(&mut self, position: u32) {
        self.ret = position;
    }

    pub(super) fn set_return_line(&mut self, line: u32) {
        self.lines.1 = line;
    }

    pub(super) fn set_call(&mut self, position: u32) {
        self.call = position;
    }

    pub(super) fn clear_return(&mut self) {
        self.ret = NEVER;
    }

    /// Returns this operation with `op` and `outcome` replaced by the arguments. All other fields
    /// stay the same.
    pub(crate) fn with<Op2, Ret2>(&self, op: Op2, outcome: Outcome<Ret2>) -> Operation<Op2, Ret2> {
        Operation {
            op,
            outcome,
            process: self.process,
            object: self.object,
            call: self.call,
            ret: self.ret,
            lines: self.lines,
            version: self.version,
        }
    }
}

/// Whether an event is a call or a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// The operation was called.
    Call,
    /// The operation returned.
    Return,
}

/// The call or the return of an operation, in four bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Event(u32);

impl Event {
    /// The largest number of operations that events can represent.
    pub(crate) const MOST_OPERATIONS: usize = (u32::MAX >> 1) as usize;

    pub(crate) fn call(op: OpId) -> Self {
        Self(op.0 << 1)
    }

    pub(crate) fn ret(op: OpId) -> Self {
        Self(op.0 << 1 | 1)
    }

    /// Returns the operation.
    pub fn op(self) -> OpId {
        OpId(self.0 >> 1)
    }

    /// Returns whether the event is a call or a return.
    pub fn kind(self) -> EventKind {
        if self.0 & 1 == 0 { EventKind::Call } else { EventKind::Return }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {}", self.kind(), self.op().0)
    }
}

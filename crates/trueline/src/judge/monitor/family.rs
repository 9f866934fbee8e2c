//! Selects the monitor that judges the given operations.

use super::{
    Answer, Input, NEVER, Span, ValueId, bag, counter, exchange, fetch_increment, flip, lock, lockstep, map_key,
    priority_queue, queue, register, semaphore, shared_lock, stack,
};
use crate::spec::Standard;

/// The families of standard objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::judge) enum Family {
    Register,
    FetchIncrement,
    Counter,
    SetKey,
    MapKey,
    Queue,
    Stack,
    PriorityQueue,
    Bag,
    Lock,
    SharedLock,
    Semaphore,
}

/// A set of families.
pub(super) type Families = u16;

/// The initial state of the object, without the initial value, which is in `Input::initial`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::judge) struct Start {
    pub(super) permits: u64,
}

impl Family {
    /// All families, in the order of preference. If two families support the same operations, the
    /// family whose monitor has fewer requirements comes first.
    const LIST: [Self; 12] = [
        Self::Register,
        Self::FetchIncrement,
        Self::Counter,
        Self::SetKey,
        Self::MapKey,
        Self::Queue,
        Self::Stack,
        Self::PriorityQueue,
        Self::Bag,
        Self::Lock,
        Self::SharedLock,
        Self::Semaphore,
    ];

    pub(super) const ALL: Families = (1 << Self::LIST.len()) - 1;

    pub(super) const fn bit(self) -> Families {
        1 << self as Families
    }

    /// Returns the families of objects that support an operation.
    pub(super) fn of<V>(what: &Standard<V>) -> Families {
        match what {
            Standard::Read(_) | Standard::Write(_) | Standard::Exchange { .. } => Self::Register.bit(),
            Standard::FetchIncrement(_) => Self::FetchIncrement.bit(),
            Standard::Increment => Self::Counter.bit(),
            Standard::Count(_) => Self::Counter.bit() | Self::FetchIncrement.bit(),
            Standard::Flip(_) | Standard::Sees(_) => Self::SetKey.bit(),
            Standard::Replace { .. } | Standard::Get(_) => Self::MapKey.bit(),
            Standard::Enqueue(_) | Standard::Dequeue(_) | Standard::Front(_) => Self::Queue.bit(),
            Standard::Push(_) | Standard::Pop(_) | Standard::Top(_) => Self::Stack.bit(),
            Standard::Insert(_) | Standard::DeleteMin(_) | Standard::Min(_) => Self::PriorityQueue.bit(),
            Standard::Put(_) | Standard::Take(_) => Self::Bag.bit(),
            Standard::Lock { .. } | Standard::Unlock { .. } | Standard::LockFailed => {
                Self::Lock.bit() | Self::SharedLock.bit()
            }
            Standard::LockShared { .. } | Standard::UnlockShared { .. } => Self::SharedLock.bit(),
            Standard::Acquire | Standard::Release => Self::Semaphore.bit(),
        }
    }

    /// Returns the first family of a non-empty set.
    pub(super) fn first_of(families: Families) -> Self {
        Self::LIST.into_iter().find(|family| families & family.bit() != 0).expect("the set is not empty")
    }
}

/// The name of a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::judge) struct Monitor(pub(in crate::judge) &'static str);

/// Judges a part with the monitor of a family. If the monitor for queues with distinct values
/// refuses the part, `lockstep` judges it.
///
/// A monitor that performs a search calls `go_on` regularly, and returns no answer if `go_on`
/// returns `false`.
pub(in crate::judge) fn judge(
    family: Family,
    start: Start,
    input: &Input,
    go_on: &mut dyn FnMut() -> bool,
) -> (Monitor, Option<Answer>) {
    let (name, answer) = match family {
        Family::Register if input.spans.iter().any(|span| matches!(span.what, Standard::Exchange { .. })) => {
            ("register with read-modify-write", exchange::judge(input))
        }
        Family::Register => ("register", register::judge(input)),
        Family::FetchIncrement => ("fetch-and-increment", fetch_increment::judge(input)),
        Family::Counter => ("counter", counter::judge(input)),
        Family::SetKey => ("set by key", flip::judge(input)),
        Family::MapKey => match as_register(input) {
            None => ("map by key", map_key::judge(input)),
            Some(input) => ("map by key, as a register", exchange::judge(&input)),
        },
        Family::Queue => match queue::judge(input) {
            Answer::Refused(_) => return (Monitor("queue in lockstep"), lockstep::judge(input, go_on)),
            answer => ("queue", answer),
        },
        Family::Stack => ("stack", stack::judge(input)),
        Family::PriorityQueue => ("priority queue", priority_queue::judge(input)),
        Family::Bag => ("bag", bag::judge(input)),
        Family::Lock => ("lock", lock::judge(input)),
        Family::SharedLock => ("read-write lock", shared_lock::judge(input)),
        Family::Semaphore => ("semaphore", semaphore::judge(input, start.permits)),
    };
    (Monitor(name), Some(answer))
}

/// Converts the operations on one key of a map to operations on a register, whose initial value
/// stands for the absent key. Returns `None` if the conversion is not needed, because all changes
/// that returned report what they found. (Changes that never returned report nothing, but they do
/// not matter here.)
fn as_register(input: &Input) -> Option<Input> {
    let tells_nothing = |span: &Span| span.ret != NEVER && matches!(span.what, Standard::Replace { old: None, .. });
    if !input.spans.iter().any(tells_nothing) {
        return None;
    }
    let nothing = ValueId(input.values);
    let value = |value: Option<ValueId>| value.unwrap_or(nothing);
    let read = |span: &Span| {
        let what = match span.what {
            Standard::Get(found) => Standard::Read(value(found)),
            Standard::Replace { old: None, new } => Standard::Write(value(new)),
            Standard::Replace { old: Some(old), new } => Standard::Exchange { old: Some(value(old)), new: value(new) },
            other => other,
        };
        Span { what, ..*span }
    };
    let spans = input.spans.iter().map(read).collect();
    Some(Input { spans, values: input.values + 1, initial: Some(nothing), events: input.events, rank: Vec::new() })
}

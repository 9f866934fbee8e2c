//! Queues, stacks and logs.

use super::Settled;
use super::notation::{
    ANY, ELEMENT, NOTHING, OR_EMPTY, ResultNotation, Return, SIZE, SUCCESS, WHETHER, brief, element_or_empty,
    must_return, operations, show_option, size, tuple, whether,
};
use crate::history::Value;
use crate::spec::{
    BoundedQueue, BoundedQueueRet, ContainerRet, Deque, DequeOp, Log, LogOp, LogRet, PriorityQueue, PriorityQueueOp,
    Queue, QueueOp, Stack, StackHeights, StackHeightsOp, StackHeightsRet, StackOp,
};

operations! {
    Queue<Value>: QueueOp<Value>, ContainerRet<Value>;
    "enqueue" ["enq", "push", "put", "insert", "add", "offer"]
        ELEMENT(value) [QueueOp::Enqueue(value)] -> SUCCESS() [ContainerRet::Done];
    "dequeue" ["deq", "pop", "take", "poll"]
        NOTHING() [QueueOp::Dequeue] -> OR_EMPTY(value) [ContainerRet::Value(value)];
    "peek" ["front"] NOTHING() [QueueOp::Peek] -> OR_EMPTY(value) [ContainerRet::Value(value)];
}

/// Whether there was room for an element. If there was room, logs may omit the result or repeat the
/// element.
const ACCEPTED: ResultNotation<bool> = ResultNotation {
    text: "false if the queue was full; otherwise true, nothing or the element",
    read: |returned| {
        let Return { record, result, .. } = returned;
        match result {
            Value::Bool(false) if record.value == **result => Err(format!(
                "{record} returned false, which is ambiguous: it may be the element, or mean that the queue was full; \
                 do not use false as an element"
            )),
            result if record.value == **result || result.is_null() => Ok(true),
            _ => whether(returned),
        }
    },
    ..WHETHER
};

operations! {
    BoundedQueue<Value>: QueueOp<Value>, BoundedQueueRet<Value>;
    "enqueue" ["enq", "push", "put", "insert", "add", "offer"]
        ELEMENT(value) [QueueOp::Enqueue(value)] -> ACCEPTED(accepted) [BoundedQueueRet::Accepted(accepted)];
    "dequeue" ["deq", "pop", "take", "poll"]
        NOTHING() [QueueOp::Dequeue] -> OR_EMPTY(value) [BoundedQueueRet::Value(value)];
    "peek" ["front"] NOTHING() [QueueOp::Peek] -> OR_EMPTY(value) [BoundedQueueRet::Value(value)];
}

operations! {
    Stack<Value>: StackOp<Value>, ContainerRet<Value>;
    "push" ["put", "insert", "add"] ELEMENT(value) [StackOp::Push(value)] -> SUCCESS() [ContainerRet::Done];
    "pop" ["take", "remove"] NOTHING() [StackOp::Pop] -> OR_EMPTY(value) [ContainerRet::Value(value)];
    "top" ["peek"] NOTHING() [StackOp::Top] -> OR_EMPTY(value) [ContainerRet::Value(value)];
}

/// A pair `[height value]`. If the stack was empty, the result may also be 0 or null.
const POPPED: ResultNotation<(usize, Option<Value>)> = ResultNotation {
    text: "[height element], where height is the height before the call, or 0 if empty",
    read: |returned| {
        let (height, value) = match (tuple(returned.result), returned.result) {
            (Some((height, value)), _) => (height.as_int(), element_or_empty(value)),
            (None, Value::Null | Value::Int(0)) => (Some(0), None),
            (None, _) => (None, None),
        };
        let height = height.and_then(|height| usize::try_from(height).ok());
        height.map(|height| (height, value)).ok_or_else(|| {
            must_return(
                returned,
                "[height value], where height is the height before the call, or 0 if the stack was empty",
            )
        })
    },
    show: |(height, value)| format!("[{height},{}]", show_option(value.as_ref())),
};

operations! {
    StackHeights<Value>: StackHeightsOp<Value>, StackHeightsRet<Value>;
    "push" ["put", "insert", "add"]
        ELEMENT(value) [StackHeightsOp::Push(value)]
        -> SIZE "the previous height" (height) [StackHeightsRet::Pushed(height)];
    "pop" ["take", "remove"]
        NOTHING() [StackHeightsOp::Pop] -> POPPED(height, value) [StackHeightsRet::Popped { height, value }];
}

operations! {
    Deque<Value>: DequeOp<Value>, ContainerRet<Value>;
    "push-front" ["push-left", "add-first", "offer-first"]
        ELEMENT(value) [DequeOp::PushFront(value)] -> SUCCESS() [ContainerRet::Done];
    "push-back" ["push-right", "add-last", "offer-last"]
        ELEMENT(value) [DequeOp::PushBack(value)] -> SUCCESS() [ContainerRet::Done];
    "pop-front" ["pop-left", "remove-first", "poll-first"]
        NOTHING() [DequeOp::PopFront] -> OR_EMPTY(value) [ContainerRet::Value(value)];
    "pop-back" ["pop-right", "remove-last", "poll-last"]
        NOTHING() [DequeOp::PopBack] -> OR_EMPTY(value) [ContainerRet::Value(value)];
    "peek-front" ["front", "peek-left", "peek-first"]
        NOTHING() [DequeOp::PeekFront] -> OR_EMPTY(value) [ContainerRet::Value(value)];
    "peek-back" ["back", "peek-right", "peek-last"]
        NOTHING() [DequeOp::PeekBack] -> OR_EMPTY(value) [ContainerRet::Value(value)];
}

operations! {
    PriorityQueue<Value>: PriorityQueueOp<Value>, ContainerRet<Value>;
    "insert" ["add", "enqueue", "enq", "push", "put", "offer"]
        ELEMENT(value) [PriorityQueueOp::Insert(value)] -> SUCCESS() [ContainerRet::Done];
    "delete-min" ["remove-min", "extract-min", "pop-min", "dequeue", "deq", "pop", "poll", "take"]
        NOTHING() [PriorityQueueOp::DeleteMin] -> OR_EMPTY(value) [ContainerRet::Value(value)];
    "peek-min" ["peek", "min", "find-min", "get-min"]
        NOTHING() [PriorityQueueOp::PeekMin] -> OR_EMPTY(value) [ContainerRet::Value(value)];
}

/// Decides the meaning of the numbers that appends returned. Such a number is either the index of
/// the element, or the element itself, which shows only that the append succeeded. The meaning is
/// the same for all appends of a history: the numbers are elements if each append that returned a
/// number returned its own element, and indices otherwise.
pub(super) fn settle_log(
    _: &Log<Value>,
    operations: &[(&LogOp<Value>, Option<&LogRet<Value>>)],
) -> Settled<LogRet<Value>> {
    let is_index = |(op, ret): &(&LogOp<Value>, Option<&LogRet<Value>>)| {
        matches!((op, ret), (LogOp::Append(element), Some(LogRet::Index(index)))
            if element.as_int().and_then(|element| usize::try_from(element).ok()) != Some(*index))
    };
    if !operations.iter().any(is_index) {
        return Ok(Some(|ret| if let LogRet::Index(_) = ret { LogRet::Done } else { ret.clone() }));
    }
    Ok(None)
}

fn show_log_ret(ret: LogRet<Value>) -> String {
    match ret {
        LogRet::Done => (SUCCESS.show)(()),
        LogRet::Index(number) | LogRet::Size(number) => number.to_string(),
        LogRet::Values(values) => {
            let mut values: Vec<Value> = values.iter().cloned().collect();
            values.reverse();
            values.into_iter().collect::<Value>().to_string()
        }
    }
}

const APPENDED: ResultNotation<LogRet<Value>> = ResultNotation {
    text: "nothing, the element, or the index of the element, counted from 0; if every append returned its own element, numbers are \
           read as elements",
    read: |returned| match returned.result {
        // The result repeats the element, and the element cannot be an index. If it could be an
        // index, `settle_log` decides what the result means.
        result if *result == returned.record.value && size(returned).is_err() => Ok(LogRet::Done),
        Value::Null | Value::Bool(true) => Ok(LogRet::Done),
        Value::Bool(false) => (SUCCESS.read)(returned).map(|()| LogRet::Done),
        _ => size(returned).map(LogRet::Index),
    },
    show: show_log_ret,
};

const ALL_ELEMENTS: ResultNotation<LogRet<Value>> = ResultNotation {
    text: "the list of all elements",
    read: |returned| match returned.result {
        Value::List(values) => Ok(LogRet::Values(values.iter().cloned().collect())),
        other => Err(format!(
            "{} returned {}, but must return the list of all values; log that list as the `result` of the return, [] if it is empty",
            returned.record,
            brief(other)
        )),
    },
    show: show_log_ret,
};

operations! {
    Log<Value>: LogOp<Value>, LogRet<Value>;
    "append" ["add", "write", "push"] ANY "the element" (value) [LogOp::Append(value)] -> APPENDED(ret) [ret];
    "read" ["r", "get", "list"] NOTHING() [LogOp::Read] -> ALL_ELEMENTS(ret) [ret];
    "size" ["len", "count"] NOTHING() [LogOp::Size] -> SIZE(size) [LogRet::Size(size)];
}

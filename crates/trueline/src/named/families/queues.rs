//! Queues, stacks and logs.

use super::{
    DONE, Settled, Written, brief, container_ret, done, element, element_or_empty, not_in_table, record,
    show_container_ret, show_option, size, tuple, whether, without_key,
};
use crate::history::{ProcessId, Record, Value};
use crate::spec::{
    BoundedQueue, BoundedQueueOp, BoundedQueueRet, Deque, DequeOp, Log, LogOp, LogRet, PriorityQueue, PriorityQueueOp,
    Queue, QueueOp, Stack, StackHeights, StackHeightsOp, StackHeightsRet, StackOp,
};

impl Written for Queue<Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        without_key(record)?;
        Ok(match name {
            "enqueue" => QueueOp::Enqueue(element(record)?),
            "dequeue" => QueueOp::Dequeue,
            "peek" => QueueOp::Peek,
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        container_ret(matches!(op, QueueOp::Enqueue(_)), record, result)
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            QueueOp::Enqueue(value) => record("enqueue", value.clone()),
            QueueOp::Dequeue => record("dequeue", Value::Null),
            QueueOp::Peek => record("peek", Value::Null),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        show_container_ret(ret)
    }
}

/// Returns whether there was room for an element. If there was, logs may omit the result or repeat the element.
fn accepted(record: &Record, result: &Value) -> Result<bool, String> {
    if *result != record.value {
        return if result.is_null() { Ok(true) } else { whether(record, result) };
    }
    match result {
        Value::Bool(false) => Err(format!(
            "{record} returned false, which may be the element again or mean that the queue was full; let the elements be other values"
        )),
        _ => Ok(true),
    }
}

impl Written for BoundedQueue<Value> {
    fn read_op(name: &str, process: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        Queue::read_op(name, process, record)
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        Ok(match op {
            BoundedQueueOp::Enqueue(_) => BoundedQueueRet::Accepted(accepted(record, result)?),
            BoundedQueueOp::Dequeue | BoundedQueueOp::Peek => BoundedQueueRet::Value(element_or_empty(result)),
        })
    }

    fn show_op(op: &Self::Op) -> Record {
        Queue::show_op(op)
    }

    fn show_ret(ret: &Self::Ret) -> String {
        match ret {
            BoundedQueueRet::Accepted(accepted) => accepted.to_string(),
            BoundedQueueRet::Value(value) => show_option(value.as_ref()),
        }
    }
}

impl Written for Stack<Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        without_key(record)?;
        Ok(match name {
            "push" => StackOp::Push(element(record)?),
            "pop" => StackOp::Pop,
            "top" => StackOp::Top,
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        container_ret(matches!(op, StackOp::Push(_)), record, result)
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            StackOp::Push(value) => record("push", value.clone()),
            StackOp::Pop => record("pop", Value::Null),
            StackOp::Top => record("top", Value::Null),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        show_container_ret(ret)
    }
}

/// Reads `[height value]`; 0 or null if the stack was empty.
fn popped(record: &Record, result: &Value) -> Result<StackHeightsRet<Value>, String> {
    let (height, value) = match (tuple(result), result) {
        (Some((height, value)), _) => (height.as_int(), element_or_empty(value)),
        (None, Value::Null | Value::Int(0)) => (Some(0), None),
        (None, _) => (None, None),
    };
    match height.and_then(|height| usize::try_from(height).ok()) {
        Some(height) => Ok(StackHeightsRet::Popped { height, value }),
        None => Err(format!(
            "{record} returned {}, but must return [height value] with the height before, or 0 if the stack was empty; give that as the `result` of the return",
            brief(result)
        )),
    }
}

impl Written for StackHeights<Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        without_key(record)?;
        Ok(match name {
            "push" => StackHeightsOp::Push(element(record)?),
            "pop" => StackHeightsOp::Pop,
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        match op {
            StackHeightsOp::Push(_) => Ok(StackHeightsRet::Pushed(size(record, result)?)),
            StackHeightsOp::Pop => popped(record, result),
        }
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            StackHeightsOp::Push(value) => record("push", value.clone()),
            StackHeightsOp::Pop => record("pop", Value::Null),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        match ret {
            StackHeightsRet::Pushed(height) => height.to_string(),
            StackHeightsRet::Popped { height, value } => format!("[{height},{}]", show_option(value.as_ref())),
        }
    }
}

impl Written for Deque<Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        without_key(record)?;
        Ok(match name {
            "push-front" => DequeOp::PushFront(element(record)?),
            "push-back" => DequeOp::PushBack(element(record)?),
            "pop-front" => DequeOp::PopFront,
            "pop-back" => DequeOp::PopBack,
            "peek-front" => DequeOp::PeekFront,
            "peek-back" => DequeOp::PeekBack,
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        container_ret(matches!(op, DequeOp::PushFront(_) | DequeOp::PushBack(_)), record, result)
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            DequeOp::PushFront(value) => record("push-front", value.clone()),
            DequeOp::PushBack(value) => record("push-back", value.clone()),
            DequeOp::PopFront => record("pop-front", Value::Null),
            DequeOp::PopBack => record("pop-back", Value::Null),
            DequeOp::PeekFront => record("peek-front", Value::Null),
            DequeOp::PeekBack => record("peek-back", Value::Null),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        show_container_ret(ret)
    }
}

impl Written for PriorityQueue<Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        without_key(record)?;
        Ok(match name {
            "insert" => PriorityQueueOp::Insert(element(record)?),
            "delete-min" => PriorityQueueOp::DeleteMin,
            "peek-min" => PriorityQueueOp::PeekMin,
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        container_ret(matches!(op, PriorityQueueOp::Insert(_)), record, result)
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            PriorityQueueOp::Insert(value) => record("insert", value.clone()),
            PriorityQueueOp::DeleteMin => record("delete-min", Value::Null),
            PriorityQueueOp::PeekMin => record("peek-min", Value::Null),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        show_container_ret(ret)
    }
}

/// Decides the meaning of the numbers that appends returned: the index, or the element repeated, which shows only that
/// it was appended. The meaning is the same for all appends of a history: the element, if all appends that returned a
/// number returned their elements.
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

impl Written for Log<Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        let value = without_key(record)?;
        Ok(match name {
            "append" => LogOp::Append(value.clone()),
            "read" => LogOp::Read,
            "size" => LogOp::Size,
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        Ok(match (op, result) {
            // The element repeated, unless it could be an index: see `settle_log`.
            (LogOp::Append(element), result) if element == result && size(record, result).is_err() => LogRet::Done,
            (LogOp::Append(_), Value::Null | Value::Bool(true)) => LogRet::Done,
            (LogOp::Append(_), Value::Bool(false)) => {
                done(record, result)?;
                LogRet::Done
            }
            (LogOp::Append(_), index) => LogRet::Index(size(record, index)?),
            (LogOp::Read, Value::List(values)) => LogRet::Values(values.iter().cloned().collect()),
            (LogOp::Read, other) => {
                return Err(format!(
                    "{record} returned {}, but must return the list of all values; give that as the `result` of the return, [] for none",
                    brief(other)
                ));
            }
            (LogOp::Size, result) => LogRet::Size(size(record, result)?),
        })
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            LogOp::Append(value) => record("append", value.clone()),
            LogOp::Read => record("read", Value::Null),
            LogOp::Size => record("size", Value::Null),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        match ret {
            LogRet::Done => DONE.to_owned(),
            LogRet::Index(number) | LogRet::Size(number) => number.to_string(),
            LogRet::Values(values) => {
                let mut values: Vec<Value> = values.iter().cloned().collect();
                values.reverse();
                values.into_iter().collect::<Value>().to_string()
            }
        }
    }
}

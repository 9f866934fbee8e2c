//! Queues, stacks and logs.

use super::{
    DONE, Family, HistoryOf, brief, done, element, element_or_empty, not_in_table, record, show_option, size, tuple,
    whether, without_key,
};
use crate::history::{Operation, ProcessId, Record, Value};
use crate::spec::{
    BoundedQueue, BoundedQueueOp, BoundedQueueRet, Deque, DequeOp, DequeRet, Log, LogOp, LogRet, PriorityQueue,
    PriorityQueueOp, PriorityQueueRet, Queue, QueueOp, QueueRet, Stack, StackHeights, StackHeightsOp, StackHeightsRet,
    StackOp, StackRet,
};

#[derive(Debug)]
pub(super) struct QueueFamily(pub(super) Queue<Value>);

impl Family for QueueFamily {
    type Spec = Queue<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<QueueOp<Value>, String> {
        without_key(record)?;
        Ok(match name {
            "enqueue" => QueueOp::Enqueue(element(record)?),
            "dequeue" => QueueOp::Dequeue,
            "peek" => QueueOp::Peek,
            name => not_in_table(name),
        })
    }

    fn read_ret(&self, record: &Record, op: &QueueOp<Value>, result: &Value) -> Result<QueueRet<Value>, String> {
        Ok(match op {
            QueueOp::Enqueue(_) => {
                done(record, result)?;
                QueueRet::Done
            }
            QueueOp::Dequeue | QueueOp::Peek => QueueRet::Value(element_or_empty(result)),
        })
    }

    fn show_op(op: &QueueOp<Value>) -> Record {
        match op {
            QueueOp::Enqueue(value) => record("enqueue", value.clone()),
            QueueOp::Dequeue => record("dequeue", Value::Null),
            QueueOp::Peek => record("peek", Value::Null),
        }
    }

    fn show_ret(ret: &QueueRet<Value>) -> String {
        match ret {
            QueueRet::Done => DONE.to_owned(),
            QueueRet::Value(value) => show_option(value.as_ref()),
        }
    }
}

#[derive(Debug)]
pub(super) struct BoundedQueueFamily(pub(super) BoundedQueue<Value>);

/// Whether there was room for an element. Logs may leave that out, or say the element again, if there was.
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

impl Family for BoundedQueueFamily {
    type Spec = BoundedQueue<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<BoundedQueueOp<Value>, String> {
        without_key(record)?;
        Ok(match name {
            "enqueue" => BoundedQueueOp::Enqueue(element(record)?),
            "dequeue" => BoundedQueueOp::Dequeue,
            "peek" => BoundedQueueOp::Peek,
            name => not_in_table(name),
        })
    }

    fn read_ret(
        &self,
        record: &Record,
        op: &BoundedQueueOp<Value>,
        result: &Value,
    ) -> Result<BoundedQueueRet<Value>, String> {
        Ok(match op {
            BoundedQueueOp::Enqueue(_) => BoundedQueueRet::Accepted(accepted(record, result)?),
            BoundedQueueOp::Dequeue | BoundedQueueOp::Peek => BoundedQueueRet::Value(element_or_empty(result)),
        })
    }

    fn show_op(op: &BoundedQueueOp<Value>) -> Record {
        match op {
            BoundedQueueOp::Enqueue(value) => record("enqueue", value.clone()),
            BoundedQueueOp::Dequeue => record("dequeue", Value::Null),
            BoundedQueueOp::Peek => record("peek", Value::Null),
        }
    }

    fn show_ret(ret: &BoundedQueueRet<Value>) -> String {
        match ret {
            BoundedQueueRet::Accepted(accepted) => accepted.to_string(),
            BoundedQueueRet::Value(value) => show_option(value.as_ref()),
        }
    }
}

#[derive(Debug)]
pub(super) struct StackFamily(pub(super) Stack<Value>);

impl Family for StackFamily {
    type Spec = Stack<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<StackOp<Value>, String> {
        without_key(record)?;
        Ok(match name {
            "push" => StackOp::Push(element(record)?),
            "pop" => StackOp::Pop,
            "top" => StackOp::Top,
            name => not_in_table(name),
        })
    }

    fn read_ret(&self, record: &Record, op: &StackOp<Value>, result: &Value) -> Result<StackRet<Value>, String> {
        Ok(match op {
            StackOp::Push(_) => {
                done(record, result)?;
                StackRet::Done
            }
            StackOp::Pop | StackOp::Top => StackRet::Value(element_or_empty(result)),
        })
    }

    fn show_op(op: &StackOp<Value>) -> Record {
        match op {
            StackOp::Push(value) => record("push", value.clone()),
            StackOp::Pop => record("pop", Value::Null),
            StackOp::Top => record("top", Value::Null),
        }
    }

    fn show_ret(ret: &StackRet<Value>) -> String {
        match ret {
            StackRet::Done => DONE.to_owned(),
            StackRet::Value(value) => show_option(value.as_ref()),
        }
    }
}

#[derive(Debug)]
pub(super) struct StackHeightsFamily(pub(super) StackHeights<Value>);

/// `[height value]`; 0 or null, if the stack was empty.
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

impl Family for StackHeightsFamily {
    type Spec = StackHeights<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<StackHeightsOp<Value>, String> {
        without_key(record)?;
        Ok(match name {
            "push" => StackHeightsOp::Push(element(record)?),
            "pop" => StackHeightsOp::Pop,
            name => not_in_table(name),
        })
    }

    fn read_ret(
        &self,
        record: &Record,
        op: &StackHeightsOp<Value>,
        result: &Value,
    ) -> Result<StackHeightsRet<Value>, String> {
        match op {
            StackHeightsOp::Push(_) => Ok(StackHeightsRet::Pushed(size(record, result)?)),
            StackHeightsOp::Pop => popped(record, result),
        }
    }

    fn show_op(op: &StackHeightsOp<Value>) -> Record {
        match op {
            StackHeightsOp::Push(value) => record("push", value.clone()),
            StackHeightsOp::Pop => record("pop", Value::Null),
        }
    }

    fn show_ret(ret: &StackHeightsRet<Value>) -> String {
        match ret {
            StackHeightsRet::Pushed(height) => height.to_string(),
            StackHeightsRet::Popped { height, value } => format!("[{height},{}]", show_option(value.as_ref())),
        }
    }
}

#[derive(Debug)]
pub(super) struct DequeFamily(pub(super) Deque<Value>);

impl Family for DequeFamily {
    type Spec = Deque<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<DequeOp<Value>, String> {
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

    fn read_ret(&self, record: &Record, op: &DequeOp<Value>, result: &Value) -> Result<DequeRet<Value>, String> {
        Ok(match op {
            DequeOp::PushFront(_) | DequeOp::PushBack(_) => {
                done(record, result)?;
                DequeRet::Done
            }
            DequeOp::PopFront | DequeOp::PopBack | DequeOp::PeekFront | DequeOp::PeekBack => {
                DequeRet::Value(element_or_empty(result))
            }
        })
    }

    fn show_op(op: &DequeOp<Value>) -> Record {
        match op {
            DequeOp::PushFront(value) => record("push-front", value.clone()),
            DequeOp::PushBack(value) => record("push-back", value.clone()),
            DequeOp::PopFront => record("pop-front", Value::Null),
            DequeOp::PopBack => record("pop-back", Value::Null),
            DequeOp::PeekFront => record("peek-front", Value::Null),
            DequeOp::PeekBack => record("peek-back", Value::Null),
        }
    }

    fn show_ret(ret: &DequeRet<Value>) -> String {
        match ret {
            DequeRet::Done => DONE.to_owned(),
            DequeRet::Value(value) => show_option(value.as_ref()),
        }
    }
}

#[derive(Debug)]
pub(super) struct PriorityQueueFamily(pub(super) PriorityQueue<Value>);

impl Family for PriorityQueueFamily {
    type Spec = PriorityQueue<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<PriorityQueueOp<Value>, String> {
        without_key(record)?;
        Ok(match name {
            "insert" => PriorityQueueOp::Insert(element(record)?),
            "delete-min" => PriorityQueueOp::DeleteMin,
            "peek-min" => PriorityQueueOp::PeekMin,
            name => not_in_table(name),
        })
    }

    fn read_ret(
        &self,
        record: &Record,
        op: &PriorityQueueOp<Value>,
        result: &Value,
    ) -> Result<PriorityQueueRet<Value>, String> {
        Ok(match op {
            PriorityQueueOp::Insert(_) => {
                done(record, result)?;
                PriorityQueueRet::Done
            }
            PriorityQueueOp::DeleteMin | PriorityQueueOp::PeekMin => PriorityQueueRet::Value(element_or_empty(result)),
        })
    }

    fn show_op(op: &PriorityQueueOp<Value>) -> Record {
        match op {
            PriorityQueueOp::Insert(value) => record("insert", value.clone()),
            PriorityQueueOp::DeleteMin => record("delete-min", Value::Null),
            PriorityQueueOp::PeekMin => record("peek-min", Value::Null),
        }
    }

    fn show_ret(ret: &PriorityQueueRet<Value>) -> String {
        match ret {
            PriorityQueueRet::Done => DONE.to_owned(),
            PriorityQueueRet::Value(value) => show_option(value.as_ref()),
        }
    }
}

#[derive(Debug)]
pub(super) struct LogFamily(pub(super) Log<Value>);

impl Family for LogFamily {
    type Spec = Log<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<LogOp<Value>, String> {
        let value = without_key(record)?;
        Ok(match name {
            "append" => LogOp::Append(value.clone()),
            "read" => LogOp::Read,
            "size" => LogOp::Size,
            name => not_in_table(name),
        })
    }

    fn read_ret(&self, record: &Record, op: &LogOp<Value>, result: &Value) -> Result<LogRet<Value>, String> {
        Ok(match (op, result) {
            // The element again, unless it could be an index: see `settle`.
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

    /// A number that an append returned is its index, or the element again, which says no more than that it was appended.
    /// Which of the two is the same for all appends: if all returned their elements, it is the element.
    fn settle(&self, history: HistoryOf<Self>) -> Result<HistoryOf<Self>, String> {
        let is_index =
            |operation: &Operation<LogOp<Value>, LogRet<Value>>| match (&operation.op, operation.outcome.result()) {
                (LogOp::Append(element), Some(LogRet::Index(index))) => {
                    element.as_int().and_then(|element| usize::try_from(element).ok()) != Some(*index)
                }
                _ => false,
            };
        if history.operations().iter().any(is_index) {
            return Ok(history);
        }
        let element = |ret: &LogRet<Value>| if let LogRet::Index(_) = ret { LogRet::Done } else { ret.clone() };
        Ok(history.map(|operation| (operation.op.clone(), operation.outcome.map(element))))
    }

    fn show_op(op: &LogOp<Value>) -> Record {
        match op {
            LogOp::Append(value) => record("append", value.clone()),
            LogOp::Read => record("read", Value::Null),
            LogOp::Size => record("size", Value::Null),
        }
    }

    fn show_ret(ret: &LogRet<Value>) -> String {
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

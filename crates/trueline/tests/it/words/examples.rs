//! Histories of which something false was said once.

use trueline::history::{History, OpId};
use trueline::spec::{
    Bag, BagOp, BagRet, BoundedQueue, BoundedQueueOp, BoundedQueueRet, Register, RegisterOp, RegisterRet, Set, SetOp,
    SetRet, Spec,
};

use super::{compare, definition, shown};

/// What the events of `history` are: `(process, Some(operation), None)` calls, and `(process, None, Some(result))` returns.
fn history<Op, Ret>(events: Vec<(u32, Result<Op, Ret>)>) -> History<Op, Ret> {
    let mut builder = History::builder();
    for (process, event) in events {
        let added = match event {
            Ok(op) => builder.call(process, op),
            Err(result) => builder.ret(process, result),
        };
        added.expect("calls and returns alternate");
    }
    builder.finish()
}

/// The history is rejected, and whatever is said of it is true.
fn is_told_truly<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>) {
    let said = compare(spec, history, true);
    assert!(said.is_rejected && said.is_explained && said.wrong.is_empty(), "{}{said:?}", shown(history));
}

#[test]
fn a_read_that_overlaps_a_write_may_come_before_it() {
    use RegisterOp::{Read, Write};
    let spec = Register::new(0);
    let history =
        history(vec![(0, Ok(Write(3))), (1, Ok(Read)), (0, Err(RegisterRet::Done)), (1, Err(RegisterRet::Value(1)))]);
    let mut allowed = definition::allowed(&spec, &history, 3);
    allowed.sort_by_key(|result| format!("{result:?}"));
    assert_eq!(allowed, [RegisterRet::Value(0), RegisterRet::Value(3)]);
    is_told_truly(&spec, &history);
}

#[test]
fn another_result_belongs_to_another_part() {
    let spec = Bag::new();
    let history = history(vec![
        (0, Ok(BagOp::Add(2))),
        (0, Err(BagRet::Done)),
        (0, Ok(BagOp::RemoveAny)),
        (0, Err(BagRet::Value(Some(1)))),
    ]);
    assert_eq!(definition::allowed(&spec, &history, 3), [BagRet::Value(Some(2))]);
    is_told_truly(&spec, &history);
}

#[test]
fn a_call_that_failed_is_left_out_with_its_result() {
    let spec = BoundedQueue::new(1);
    let history = history(vec![
        (0, Ok(BoundedQueueOp::Enqueue(1))),
        (1, Ok(BoundedQueueOp::Dequeue)),
        (1, Err(BoundedQueueRet::Value(Some(1)))),
        (0, Err(BoundedQueueRet::Accepted(false))),
    ]);
    // With the result that it had, the enqueue does not matter; with another, all would be well.
    let calls = definition::before::<BoundedQueue<i32>>(&history, history[OpId(0)].object, 3);
    assert!(!definition::is_linearizable(&spec, &calls));
    is_told_truly(&spec, &history);
}

#[test]
fn operations_that_span_keys_count_for_the_place() {
    let spec = Set::new();
    let history = history(vec![
        (0, Ok(SetOp::Add(1))),
        (0, Err(SetRet::Bool(true))),
        (0, Ok(SetOp::Size)),
        (0, Err(SetRet::Size(5))),
        (0, Ok(SetOp::Contains(1))),
        (0, Err(SetRet::Bool(false))),
    ]);
    assert_eq!(definition::place(&spec, &history), Some(3));
    is_told_truly(&spec, &history);
}

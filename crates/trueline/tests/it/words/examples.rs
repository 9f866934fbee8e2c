//! Histories that once led to a false claim, or that random generation seldom produces.

use trueline::history::{History, Interval, OpId, from_intervals};
use trueline::judge::{Algorithm, Config, check};
use trueline::spec::{
    Bag, BagOp, BagRet, BoundedQueue, BoundedQueueOp, BoundedQueueRet, Queue, QueueOp, QueueRet, Register, RegisterOp,
    RegisterRet, Set, SetOp, SetRet, Spec,
};

use super::{compare, definition, shown};

/// Builds a history from events: `(process, Ok(operation))` is a call, and `(process, Err(result))` a return.
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

/// Asserts that the history is rejected, and that all claims about it are true.
fn is_told_truly<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>) {
    let said = compare(spec, history, true, false);
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
    // With its recorded result, the enqueue does not matter; with another one, the history would be linearizable.
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

/// An operation of a queue: the call, the times of call and return, and the value that a dequeue or a peek finds.
type Timed = (QueueOp<char>, i64, i64, Option<char>);

fn queue(calls: &[Timed]) -> History<QueueOp<char>, QueueRet<char>> {
    let intervals = (0..).zip(calls).map(|(process, (op, call, ret, found))| {
        let result = if matches!(op, QueueOp::Enqueue(_)) { QueueRet::Done } else { QueueRet::Value(*found) };
        Interval::returned(process, op.clone(), *call, *ret, result)
    });
    from_intervals(intervals.collect::<Vec<_>>()).expect("each call has its own process")
}

/// Tests Lowe's definition 11. Without this definition, the monitor would use the dequeue that ends
/// first, and wrongly reject the history.
#[test]
fn a_conflicting_unsuccessful_dequeue_is_seen() {
    let history = queue(&[
        (QueueOp::Enqueue('a'), 0, 10, None),
        (QueueOp::Dequeue, 5, 200, Some('a')),
        (QueueOp::Dequeue, 15, 55, None),
        (QueueOp::Enqueue('b'), 20, 40, None),
        (QueueOp::Dequeue, 50, 150, Some('a')),
        (QueueOp::Dequeue, 60, 90, Some('b')),
        (QueueOp::Enqueue('a'), 65, 80, None),
    ]);
    for algorithm in [Algorithm::QueueLowe, Algorithm::Monitor] {
        let verdict = check(&Queue::new(), &history, &Config::new().algorithm(algorithm)).verdict;
        assert!(verdict.is_accepted(), "{verdict:?}");
    }
    let said = compare(&Queue::new(), &history, true, true);
    assert!(!said.is_rejected && said.wrong.is_empty(), "{said:?}");
}

/// With peeks, there are cycles of three values without any cycle of two.
#[test]
fn three_values_are_forced_in_a_cycle() {
    let calls = [
        (QueueOp::Enqueue('c'), -100, 0, None),
        (QueueOp::Enqueue('b'), -90, 200, None),
        (QueueOp::Enqueue('a'), 50, 410, None),
        (QueueOp::Dequeue, 100, 500, Some('a')),
        (QueueOp::Peek, 210, 300, Some('b')),
        (QueueOp::Dequeue, 400, 900, Some('c')),
        (QueueOp::Dequeue, 700, 800, Some('b')),
    ];
    let judge = |history: &_| check(&Queue::new(), history, &Config::new().algorithm(Algorithm::Monitor)).verdict;
    let verdict = judge(&queue(&calls));
    let evidence = verdict.evidence().expect("a cycle");
    // The cycle exists before the last operation is called.
    assert_eq!((evidence.event, &evidence.conflict), (10, &(0..6).map(OpId).collect()));
    let said = compare(&Queue::new(), &queue(&calls), true, true);
    assert!(said.is_rejected && said.wrong.is_empty(), "{said:?}");
    for left_out in ['a', 'b', 'c'] {
        let is_left = |(op, _, _, found): &&Timed| *op != QueueOp::Enqueue(left_out) && *found != Some(left_out);
        let pair: Vec<Timed> = calls.iter().filter(is_left).cloned().collect();
        assert!(judge(&queue(&pair)).is_accepted(), "two values do not form a cycle");
    }
}

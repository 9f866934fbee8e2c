//! Explores crates without known faults completely: all schedules of two threads with two calls
//! each, depth first. The exploration is the same each time. Run these tests with `cargo trueline
//! test --instrument-all --test complete`.

use std::collections::VecDeque;
use std::time::Duration;

use arc_swap::ArcSwap;
use crossbeam_queue::{ArrayQueue, SegQueue};
use trueline::test::{Exploration, Outcome, call};

/// Checks that no execution fails, that all schedules are explored, and that a second exploration has the same counts.
#[track_caller]
fn complete(explore: impl Fn(Exploration) -> Outcome) {
    let counts = [(); 2].map(|()| {
        let outcome = explore(Exploration::new());
        if let Some(failure) = outcome.failure {
            panic!("{failure}");
        }
        let explored = outcome.explored.expect("the outcome has the extent of the exploration");
        assert!(explored.is_complete, "{explored:?}");
        println!("{} executions, {} histories, {:.1?}", explored.executions, explored.histories, outcome.elapsed);
        (explored.executions, explored.histories)
    });
    assert_eq!(counts[0], counts[1]);
}

const TIME: Duration = Duration::from_secs(120);

#[test]
fn seg_queue() {
    complete(|exploration| {
        trueline::test(SegQueue::new)
            .model(VecDeque::new())
            .operation("push", 0..9_u8, |queue, x| queue.push(x), |queue, x| queue.push_back(x))
            .operation("pop", (), |queue, ()| queue.pop(), |queue, ()| queue.pop_front())
            .program([vec![call("push", 1_u8), call("pop", ())], vec![call("push", 2_u8), call("pop", ())]])
            .weight(0)
            .time(TIME)
            .explore(exploration)
            .outcome()
    });
}

#[test]
fn array_queue() {
    complete(|exploration| {
        trueline::test(|| ArrayQueue::new(2))
            .model(VecDeque::new())
            .operation(
                "push",
                0..9_u8,
                |queue, x| queue.push(x).is_ok(),
                |queue, x| {
                    let has_room = queue.len() < 2;
                    queue.extend(has_room.then_some(x));
                    has_room
                },
            )
            .operation("pop", (), |queue, ()| queue.pop(), |queue, ()| queue.pop_front())
            .program([vec![call("push", 1_u8), call("pop", ())], vec![call("push", 2_u8), call("pop", ())]])
            .weight(0)
            .time(TIME)
            .explore(exploration)
            .outcome()
    });
}

#[test]
fn arc_swap() {
    complete(|exploration| {
        trueline::test(|| ArcSwap::from_pointee(0_u8))
            .model(0_u8)
            .operation("store", 0..9_u8, |cell, x| cell.store(x.into()), |value, x| *value = x)
            .operation("load", (), |cell, ()| **cell.load(), |value, ()| *value)
            .program([vec![call("store", 1_u8), call("load", ())], vec![call("load", ()), call("store", 2_u8)]])
            .weight(0)
            .time(TIME)
            .explore(exploration)
            .outcome()
    });
}

#[test]
fn parking_lot_mutex() {
    complete(|exploration| {
        trueline::test(|| parking_lot::Mutex::new(0_u8))
            .model(0_u8)
            .operation("add", 0..9_u8, |number, x| *add(&mut number.lock(), x), |number, x| *add(number, x))
            .program([vec![call("add", 1_u8), call("add", 2_u8)], vec![call("add", 3_u8), call("add", 4_u8)]])
            .weight(0)
            .time(TIME)
            .explore(exploration)
            .outcome()
    });
}

fn add(number: &mut u8, x: u8) -> &u8 {
    *number += x;
    number
}

#[test]
fn once_cell() {
    complete(|exploration| {
        trueline::test(once_cell::sync::OnceCell::new)
            .model(None)
            .operation("get_or_init", 0..9_u8, |cell, x| *cell.get_or_init(|| x), |cell, x| *cell.get_or_insert(x))
            .operation("get", (), |cell, ()| cell.get().copied(), |cell, ()| *cell)
            .program([
                vec![call("get_or_init", 1_u8), call("get", ())],
                vec![call("get_or_init", 2_u8), call("get", ())],
            ])
            .weight(0)
            .time(TIME)
            .explore(exploration)
            .outcome()
    });
}

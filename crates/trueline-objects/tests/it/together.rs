//! Tests objects that synchronize threads. The tests use no named specification: they declare each
//! synchronization in one line.

use std::collections::BTreeSet;
use std::time::Duration;

use trueline::drive::systematic::Search;
use trueline::test::{Exploration, FailureKind, Plan};
use trueline_objects::sync::abc::{self, Abc};
use trueline_objects::sync::channel::{self, SyncChannel};
use trueline_objects::sync::closeable_channel::{self, CloseableChannel};
use trueline_objects::sync::enrollable_barrier::{self, EnrollableBarrier};
use trueline_objects::sync::exchanger::{self, Exchanger};

/// The maximum number of schedules in which a fault must appear.
const SCHEDULES: u64 = 100_000;
/// The time limit for judging one history; no test depends on it.
const TIMEOUT: Duration = Duration::from_secs(86_400);

/// Asserts that no run of a correct object fails or gets stuck: all calls return.
fn is_right(plan: Plan) {
    let outcome = plan.runs(300).timeout(TIMEOUT).forgetful().run();
    assert!(outcome.failure.is_none(), "{}", outcome.failure.expect("there is a failure"));
    assert_eq!((outcome.runs, outcome.undecided), (300, 0));
}

/// Asserts that a fault is found in random schedules, which are the same each time, and that its
/// report says which calls synchronized.
fn is_wrong(plan: Plan) -> FailureKind {
    let exploration = Exploration::new().search(Search::Uniform).programs(1);
    let plan = plan.explore(exploration).seed(0).runs(SCHEDULES).timeout(TIMEOUT).shrink_for(Duration::ZERO);
    let outcome = plan.forgetful().run();
    let failure = outcome.failure.expect("the object is faulty");
    assert!(failure.report().contains("together"), "the report does not say which calls synchronized:\n{failure}");
    failure.kind
}

fn channel(make: impl Fn() -> SyncChannel + Send + Sync + 'static) -> Plan {
    trueline::test(make)
        .synchronizes(())
        .operation("send", 0..100_u64, |channel, x| channel.send(x))
        .operation("receive", (), |channel, ()| channel.receive())
        .together(["send", "receive"], |(), (x, ()): (u64, ())| ((), x))
        .into_plan()
}

#[test]
fn channels() {
    is_right(channel(SyncChannel::new));
    assert_eq!(is_wrong(channel(|| SyncChannel::faulty(channel::Fault::NoWait))), FailureKind::NotLinearizable);
    let stuck = is_wrong(channel(|| SyncChannel::faulty(channel::Fault::WrongCondition)));
    assert!(matches!(stuck, FailureKind::Stuck(_)), "{stuck}");
}

fn exchanger(make: impl Fn() -> Exchanger + Send + Sync + 'static) -> Plan {
    trueline::test(make)
        .synchronizes(())
        .operation("exchange", 0..100_u64, |exchanger, x| exchanger.exchange(x))
        .together(["exchange", "exchange"], |(), (x, y): (u64, u64)| (y, x))
        .into_plan()
}

#[test]
fn exchangers() {
    is_right(exchanger(Exchanger::new));
    // A third exchange may take the value of another pair, or leave two executions that wait for
    // each other.
    let wrong = is_wrong(exchanger(|| Exchanger::faulty(exchanger::Fault::NoThirdStage)));
    assert!(matches!(wrong, FailureKind::NotLinearizable | FailureKind::Stuck(_)), "{wrong}");
}

fn abc(make: impl Fn() -> Abc + Send + Sync + 'static) -> Plan {
    trueline::test(make)
        .synchronizes(())
        .operation("a", 0..100_u64, |object, me| object.sync_a(me))
        .operation("b", 0..100_u64, |object, me| object.sync_b(me))
        .operation("c", 0..100_u64, |object, me| object.sync_c(me))
        .together(["a", "b", "c"], |(), (a, b, c): (u64, u64, u64)| ((b, c), (a, c), (a, b)))
        .into_plan()
}

#[test]
fn three_kinds() {
    is_right(abc(Abc::new));
    let faulty = abc(|| Abc::faulty(abc::Fault::LateRead)).threads(12);
    assert_eq!(is_wrong(faulty), FailureKind::NotLinearizable);
}

fn closeable_channel(make: impl Fn() -> CloseableChannel + Send + Sync + 'static) -> Plan {
    trueline::test(make)
        .synchronizes(true)
        .operation("send", 0..20_u64, |channel, x| channel.send(x))
        .operation("receive", (), |channel, ()| channel.receive())
        .operation("close", (), |channel, ()| channel.close())
        .together_if(["send", "receive"], |is_open, (x, ()): (u64, ())| is_open.then_some((true, Some(x))))
        .together_if(["send"], |is_open, _: u64| (!*is_open).then_some(false))
        .together_if(["receive"], |is_open, ()| (!*is_open).then_some(None::<u64>))
        .together(["close"], |is_open, ()| *is_open = false)
        .worker(|worker| {
            for _ in 0..worker.operations() {
                match worker.random().below(20) {
                    0 => worker.call("close", ()),
                    _ if worker.thread() % 2 == 0 => drop(worker.call::<u64, bool>("send", 7)),
                    _ => drop(worker.call::<(), Option<u64>>("receive", ())),
                }
            }
            // No thread is left waiting.
            worker.call("close", ())
        })
        .into_plan()
}

#[test]
fn channels_that_are_closed() {
    is_right(closeable_channel(CloseableChannel::new));
    let faulty = closeable_channel(|| CloseableChannel::faulty(closeable_channel::Fault::ClosedFirst));
    assert_eq!(is_wrong(faulty), FailureKind::NotLinearizable);
}

/// All enrolled threads synchronize.
fn enrollable_barrier(make: impl Fn() -> EnrollableBarrier + Send + Sync + 'static) -> Plan {
    trueline::test(make)
        .synchronizes(BTreeSet::<u32>::new())
        .operation("sync", 0..4_u32, |barrier, me| barrier.sync(me as usize))
        .operation("enrol", 0..4_u32, |barrier, me| barrier.enrol(me as usize))
        .operation("resign", 0..4_u32, |barrier, me| barrier.resign(me as usize))
        .together_if(["enrol"], |enrolled, me: u32| enrolled.insert(me).then_some(()))
        .together_if(["resign"], |enrolled, me: u32| enrolled.remove(&me).then_some(()))
        .so_many_together("sync", BTreeSet::len, |enrolled, all: Vec<u32>| {
            all.iter().all(|me| enrolled.contains(me)).then(|| vec![(); all.len()])
        })
        .worker(|worker| {
            let me = worker.thread();
            worker.call::<_, ()>("enrol", me);
            for _ in 0..worker.operations() {
                if worker.random().chance(7, 10) {
                    worker.call::<_, ()>("sync", me);
                } else {
                    worker.call::<_, ()>("resign", me);
                    worker.call::<_, ()>("enrol", me);
                }
            }
            worker.call("resign", me)
        })
        .into_plan()
}

#[test]
fn barriers_to_enrol_at() {
    is_right(enrollable_barrier(|| EnrollableBarrier::new(4)));
    let make = || EnrollableBarrier::faulty(4, enrollable_barrier::Fault::NoInitialWait);
    is_wrong(enrollable_barrier(make));
}

//! The objects of this module by name, each with a test of its correctness.
//!
//! The tests call the objects as in the paper: 4 threads make 4 calls each. For exchangers, where
//! two threads of the same kind synchronize, 8 threads make one call each. Objects at which three
//! threads must arrive together, or whose fault needs three threads, are tested with 12 threads,
//! because this finds faults much sooner. Most tests check results: their threads make calls that
//! can all return. Other tests look for calls that should return but get stuck: their threads make
//! arbitrary calls ([`Settings::progress`]).

use std::time::Duration;

use trueline::drive::Worker;
use trueline::test::Plan;

use super::abc::{self, Abc};
use super::atomic_broadcast::{self, AtomicBroadcast};
use super::barrier::{self, Barrier, CombiningBarrier, TreeBarrier};
use super::channel::{self, SyncChannel};
use super::closeable_channel::{self, CloseableChannel};
use super::counter_channel::{self, CounterChannel};
use super::enrollable_barrier::{self, EnrollableBarrier};
use super::exchanger::{self, Exchanger};
use super::filter_channel::{self, Filter, FilterChannel};
use super::men_women::{self, MenWomen};
use super::one_family::{self, OneFamily};
use super::signal::{self, Signal};
use super::terminating_queue::{self, TerminatingQueue, TerminatingQueues};
use super::timeout_channel::{self, TimeoutChannel};
use super::timeout_exchanger::{self, TimeoutExchanger};
use super::two_families::{self, TwoFamilies};
use crate::catalog::{EITHER, Entry, REJECTED, STUCK, Settings};

/// The default number of threads.
const THREADS: u32 = 4;
/// The number of calls that each thread makes.
const CALLS: u32 = 4;
/// Threads yield at one in `CHAOS` schedule points. Without these yields, other threads rarely
/// interfere with two threads that wait for each other.
const CHAOS: u32 = 16;
/// The default number of different values in calls.
const VALUES: u64 = 100;
/// The timeout of the calls that can time out.
const TIMEOUT: Duration = Duration::from_millis(1);

/// All objects that synchronize threads.
pub(crate) const ENTRIES: &[Entry] = &[
    Entry::synchronizing("sync-channel", "sync-channel", |settings| channel(settings, SyncChannel::new))
        .paper("§1, §9"),
    Entry::synchronizing("sync-channel-faulty-no-wait", "sync-channel", |settings| {
        channel(settings, || SyncChannel::faulty(channel::Fault::NoWait))
    })
    .fault("the sender does not wait", REJECTED),
    Entry::synchronizing("sync-channel-faulty-two-states", "sync-channel", |settings| {
        channel(&settings.stuck(), || SyncChannel::faulty(channel::Fault::TwoStates))
    })
    .fault("the slot is freed before its sender has left", STUCK),
    Entry::synchronizing("sync-channel-faulty-wrong-condition", "sync-channel", |settings| {
        channel(&settings.stuck(), || SyncChannel::faulty(channel::Fault::WrongCondition))
    })
    .fault("the sender wakes other senders instead of receivers", STUCK),
    Entry::synchronizing("filter-channel", "filter-channel", |settings| filter_channel(settings, FilterChannel::new))
        .paper("§2.1, §9"),
    Entry::synchronizing("filter-channel-faulty-no-filter", "filter-channel", |settings| {
        filter_channel(settings, || FilterChannel::faulty(filter_channel::Fault::NoFilter))
    })
    .fault("the filter of the receiver is ignored", REJECTED),
    Entry::synchronizing("filter-channel-faulty-one-slot", "filter-channel", |settings| {
        filter_channel(&settings.stuck(), || FilterChannel::faulty(filter_channel::Fault::OneSlot))
    })
    .fault("an unwanted value blocks the slot", STUCK),
    Entry::synchronizing("filter-channel-faulty-two-states", "filter-channel", |settings| {
        filter_channel(&settings.stuck(), || FilterChannel::faulty(filter_channel::Fault::TwoStates))
    })
    .fault("an unwanted value blocks the slot; also, the slot is freed before its sender has left", STUCK),
    Entry::synchronizing("men-women", "men-women", |settings| men_women(settings, MenWomen::new)).paper("§9"),
    Entry::synchronizing("men-women-faulty-two-slots", "men-women", |settings| {
        men_women(settings, || MenWomen::faulty(men_women::Fault::TwoSlots))
    })
    .fault("a thread may read the name of a partner of another round", REJECTED),
    Entry::synchronizing("men-women-faulty-crosswise", "men-women", |settings| {
        men_women(settings, || MenWomen::faulty(men_women::Fault::Crosswise))
    })
    .fault("men and women let each other in, and may take the signal of another thread", REJECTED),
    Entry::synchronizing("men-women-faulty-notify-one", "men-women", |settings| {
        men_women(&settings.stuck(), || MenWomen::faulty(men_women::Fault::NotifyOne))
    })
    .fault("wakes one thread, which may be waiting for something else", STUCK),
    Entry::synchronizing("exchanger", "exchanger", |settings| exchanger(settings, Exchanger::new)).paper("§1, §9"),
    Entry::synchronizing("exchanger-faulty-no-third-stage", "exchanger", |settings| {
        exchanger(settings, || Exchanger::faulty(exchanger::Fault::NoThirdStage))
    })
    .fault("the slot is freed before the first thread has taken its value", REJECTED),
    Entry::synchronizing("counter-channel", "counter-channel", |settings| {
        counter_channel(settings, CounterChannel::new)
    })
    .paper("§1, §9"),
    Entry::synchronizing("counter-channel-faulty-late-number", "counter-channel", |settings| {
        counter_channel(settings, || CounterChannel::faulty(counter_channel::Fault::LateNumber))
    })
    .fault("the sender reads the count when other threads may have changed it", REJECTED),
    Entry::synchronizing("counter-channel-faulty-early-number", "counter-channel", |settings| {
        counter_channel(settings, || CounterChannel::faulty(counter_channel::Fault::EarlyNumber))
    })
    .fault("a sender takes its number before it has the slot", REJECTED),
    Entry::synchronizing("counter-channel-faulty-two-states", "counter-channel", |settings| {
        counter_channel(&settings.stuck(), || CounterChannel::faulty(counter_channel::Fault::TwoStates))
    })
    .fault("the slot is freed before its sender has left", STUCK),
    Entry::synchronizing("two-families", "two-families", |settings| two_families(settings, TwoFamilies::new))
        .paper("§9"),
    Entry::synchronizing("two-families-faulty-late-read", "two-families", |settings| {
        two_families(settings, |a, b| TwoFamilies::faulty(a, b, two_families::Fault::LateRead))
    })
    .fault("the partner's name is overwritten", REJECTED),
    Entry::synchronizing("one-family", "one-family", |settings| one_family(settings, OneFamily::new)).paper("§9"),
    Entry::synchronizing("one-family-faulty-late-read", "one-family", |settings| {
        one_family(settings, |members| OneFamily::faulty(members, one_family::Fault::LateRead))
    })
    .fault("the partner's name is overwritten", REJECTED),
    Entry::synchronizing("one-family-faulty-early-look", "one-family", |settings| {
        one_family(&settings.stuck(), |members| OneFamily::faulty(members, one_family::Fault::EarlyLook))
    })
    .fault("a thread that finds no partner lets others search before it waits", STUCK),
    Entry::synchronizing("abc", "abc", |settings| abc(settings, Abc::new)).paper("§9"),
    Entry::synchronizing("abc-faulty-late-read", "abc", |settings| abc(settings, || Abc::faulty(abc::Fault::LateRead)))
        .fault("thread A reads the names when the next group may already have overwritten them", REJECTED),
    Entry::synchronizing("abc-faulty-lost-signal", "abc", |settings| {
        abc(&settings.stuck(), || Abc::faulty(abc::Fault::LostSignal))
    })
    .fault("one signal in fifty is lost", STUCK),
    Entry::synchronizing("barrier", "barrier:4", |settings| {
        barrier(settings, Barrier::new, |barrier, me| barrier.sync(me))
    })
    .paper("§1, §9"),
    Entry::synchronizing("barrier-faulty-returns-at-once", "barrier:4", |settings| {
        faulty_barrier(settings, barrier::Fault::ReturnsAtOnce)
    })
    .fault("does not wait for other threads", REJECTED),
    Entry::synchronizing("barrier-faulty-no-rounds", "barrier:4", |settings| {
        faulty_barrier(settings, barrier::Fault::NoRounds)
    })
    .fault("opens once and never closes again", REJECTED),
    Entry::synchronizing("barrier-faulty-no-initial-wait", "barrier:4", |settings| {
        faulty_barrier(&settings.stuck(), barrier::Fault::NoInitialWait)
    })
    .fault("threads enter while others are still leaving", EITHER),
    Entry::synchronizing("barrier-faulty-bare-wait", "barrier:4", |settings| {
        faulty_barrier(settings, barrier::Fault::BareWait)
    })
    .fault("waits without a loop; the fault shows only with spurious wake-ups", EITHER),
    Entry::synchronizing("barrier-faulty-notify-one", "barrier:4", |settings| {
        faulty_barrier(&settings.stuck(), barrier::Fault::NotifyOne)
    })
    .fault("wakes only one thread", STUCK),
    Entry::synchronizing("tree-barrier", "barrier:4", |settings| {
        barrier(settings, TreeBarrier::new, |barrier, me| barrier.sync(me))
    })
    .paper("§10"),
    Entry::synchronizing("tree-barrier-faulty-up-does-not-wait", "barrier:4", |settings| {
        let make = |threads| TreeBarrier::faulty(threads, signal::Fault::UpDoesNotWait);
        barrier(settings, make, |barrier, me| barrier.sync(me))
    })
    .fault("a child that signals does not wait for its parent", EITHER),
    Entry::synchronizing("tree-barrier-faulty-early-down", "barrier:4", |settings| {
        let make = |threads| TreeBarrier::faulty(threads, signal::Fault::EarlyDown);
        barrier(settings, make, |barrier, me| barrier.sync(me))
    })
    .fault("a child leaves as soon as its parent has seen it", EITHER),
    Entry::synchronizing("combining-barrier", "combining-barrier:4", combining_barrier).paper("§1"),
    Entry::synchronizing("enrollable-barrier", "enrollable-barrier", |settings| {
        enrollable_barrier(settings, EnrollableBarrier::new)
    })
    .paper("§1, §9"),
    Entry::synchronizing("enrollable-barrier-faulty-no-initial-wait", "enrollable-barrier", |settings| {
        enrollable_barrier(settings, |threads| {
            EnrollableBarrier::faulty(threads, enrollable_barrier::Fault::NoInitialWait)
        })
    })
    .fault("threads enter while others are still leaving", EITHER),
    Entry::synchronizing("timeout-channel", "timeout-channel", |settings| {
        timeout_channel(settings, TimeoutChannel::new)
    })
    .paper("§1, §2.4, §9"),
    Entry::synchronizing("timeout-channel-faulty-one-flag", "timeout-channel", |settings| {
        timeout_channel(settings, || TimeoutChannel::faulty(timeout_channel::Fault::OneFlag))
    })
    .fault("the slot is freed before its sender has left", REJECTED),
    Entry::synchronizing("timeout-exchanger", "timeout-exchanger", |settings| {
        timeout_exchanger(settings, TimeoutExchanger::new)
    })
    .paper("§1, §9"),
    Entry::synchronizing("timeout-exchanger-faulty-third-joins", "timeout-exchanger", |settings| {
        timeout_exchanger(settings, || TimeoutExchanger::faulty(timeout_exchanger::Fault::ThirdJoins))
    })
    .fault("three threads take part in an exchange between two", REJECTED),
    Entry::synchronizing("timeout-exchanger-faulty-ghost", "timeout-exchanger", |settings| {
        timeout_exchanger(settings, || TimeoutExchanger::faulty(timeout_exchanger::Fault::Ghost))
    })
    .fault("a thread that gives up leaves its value behind", REJECTED),
    Entry::synchronizing("closeable-channel", "closeable-channel", |settings| {
        closeable_channel(settings, CloseableChannel::new)
    })
    .paper("§1, §2.4, §9"),
    Entry::synchronizing("closeable-channel-faulty-closed-first", "closeable-channel", |settings| {
        closeable_channel(settings, || CloseableChannel::faulty(closeable_channel::Fault::ClosedFirst))
    })
    .fault("a send fails although its value was received", REJECTED),
    Entry::synchronizing("closeable-channel-faulty-old-library", "closeable-channel", |settings| {
        closeable_channel(settings, || CloseableChannel::faulty(closeable_channel::Fault::OldLibrary))
    })
    .fault("with three condition variables, a send fails although its value was received", REJECTED),
    Entry::synchronizing("terminating-queue", "terminating-queue:4", |settings| {
        terminating_queue(settings, TerminatingQueue::new)
    })
    .paper("§1, §9"),
    Entry::synchronizing("terminating-queue-faulty-returns-at-once", "terminating-queue:4", |settings| {
        terminating_queue(settings, |workers| {
            TerminatingQueue::faulty(workers, terminating_queue::Fault::ReturnsAtOnce)
        })
    })
    .fault("does not wait for other threads", REJECTED),
    Entry::synchronizing("terminating-queues", "terminating-queues:4", terminating_queues).paper("§1"),
    Entry::synchronizing("atomic-broadcast", "broadcast:3", |settings| broadcast(settings, AtomicBroadcast::new))
        .paper("§9"),
    Entry::synchronizing("atomic-broadcast-faulty-no-rounds", "broadcast:3", |settings| {
        broadcast(&settings.stuck(), |receivers| AtomicBroadcast::faulty(receivers, atomic_broadcast::Fault::NoRounds))
    })
    .fault("a send overwrites another", EITHER),
    Entry::interval("signal", "signal", |settings| signal(settings, Signal::new)).paper("§10"),
    Entry::interval("signal-faulty-up-does-not-wait", "signal", |settings| {
        signal(settings, || Signal::faulty(signal::Fault::UpDoesNotWait))
    })
    .fault("the child does not wait", EITHER),
    Entry::interval("signal-faulty-early-down", "signal", |settings| {
        signal(settings, || Signal::faulty(signal::Fault::EarlyDown))
    })
    .fault("the child leaves as soon as the parent has seen it", EITHER),
];

impl Settings {
    /// Returns a copy of these settings with which a test also finds calls that get stuck.
    fn stuck(&self) -> Self {
        Self { progress: true, ..*self }
    }

    fn parties(&self, of_the_paper: u32) -> u32 {
        self.threads.unwrap_or(of_the_paper)
    }

    fn most_values(&self) -> u64 {
        self.values.unwrap_or(VALUES).max(1)
    }
}

/// Sets the number of calls, and how often threads yield, to the values that most objects use.
fn sized(plan: Plan, threads: u32) -> Plan {
    plan.threads(threads).calls(CALLS).chaos(CHAOS)
}

/// Returns the behavior of threads that make two kinds of calls, where each call needs a call of
/// the other kind. With [`Settings::progress`], each thread makes random calls of both kinds.
/// Otherwise, the two threads of a pair make calls of different kinds, and a thread without a
/// partner makes none.
fn in_pairs(
    settings: &Settings,
    first: impl Fn(&mut Worker<'_>) + Send + Sync + 'static,
    second: impl Fn(&mut Worker<'_>) + Send + Sync + 'static,
) -> impl Fn(&mut Worker<'_>) + Send + Sync + 'static {
    let progress = settings.progress;
    move |worker| {
        let has_partner = (worker.thread() ^ 1) < worker.threads();
        for _ in 0..worker.operations() {
            let is_first = if progress { worker.random().chance(1, 2) } else { worker.thread() % 2 == 0 };
            match is_first {
                _ if !progress && !has_partner => {}
                true => first(worker),
                false => second(worker),
            }
        }
    }
}

fn any_value(worker: &mut Worker<'_>, bound: u64) -> u64 {
    worker.random().bits() % bound
}

fn channel(settings: &Settings, make: impl Fn() -> SyncChannel + Send + Sync + 'static) -> Plan {
    let values = settings.most_values();
    let test = trueline::test(make)
        .spec("sync-channel")
        .operation("send", 0..values, |channel, value| channel.send(value))
        .may_block()
        .operation("receive", (), |channel, ()| channel.receive())
        .may_block()
        .worker(in_pairs(
            settings,
            move |worker| {
                let value = any_value(worker, values);
                worker.call("send", value)
            },
            |worker| {
                let _: u64 = worker.call("receive", ());
            },
        ));
    sized(test.into_plan(), settings.parties(THREADS))
}

fn filter_channel(settings: &Settings, make: impl Fn() -> FilterChannel + Send + Sync + 'static) -> Plan {
    let (values, progress) = (settings.most_values(), settings.progress);
    let test = trueline::test(make)
        .spec("filter-channel")
        .operation("send", 0..values, |channel, value| channel.send(value))
        .may_block()
        .operation("receive", (2..=2_u64, 0..2_u64), |channel, (_, remainder)| {
            channel.receive(if remainder == 0 { Filter::Even } else { Filter::Odd })
        })
        .may_block()
        .worker(move |worker| {
            // Without `progress`, every second pair of threads uses only even values, and the other
            // pairs use only odd values.
            let has_partner = (worker.thread() ^ 1) < worker.threads();
            for _ in 0..worker.operations() {
                let (is_sender, parity) = if progress {
                    (worker.random().chance(1, 2), u64::from(worker.random().below(2)))
                } else {
                    (worker.thread() % 2 == 0, u64::from(worker.thread() / 2 % 2))
                };
                match is_sender {
                    _ if !progress && !has_partner => {}
                    true => {
                        let value = any_value(worker, values) / 2 * 2 + parity;
                        worker.call("send", value)
                    }
                    false => {
                        let _: u64 = worker.call("receive", (2_u64, parity));
                    }
                }
            }
        });
    sized(test.into_plan(), settings.parties(THREADS))
}

fn men_women(settings: &Settings, make: impl Fn() -> MenWomen + Send + Sync + 'static) -> Plan {
    let values = settings.most_values();
    let come = move |worker: &mut Worker<'_>, who: &str| {
        let me = any_value(worker, values);
        let _: u64 = worker.call(who, me);
    };
    let test = trueline::test(make)
        .spec("men-women")
        .operation("man", 0..values, |object, me| object.man_sync(me))
        .may_block()
        .operation("woman", 0..values, |object, me| object.woman_sync(me))
        .may_block()
        .worker(in_pairs(settings, move |worker| come(worker, "man"), move |worker| come(worker, "woman")));
    sized(test.into_plan(), settings.parties(THREADS))
}

/// The test of exchangers. A thread without a partner would wait forever, so an even number of threads make one call
/// each.
fn exchanger(settings: &Settings, make: impl Fn() -> Exchanger + Send + Sync + 'static) -> Plan {
    let (values, progress) = (settings.most_values(), settings.progress);
    trueline::test(make)
        .spec("exchanger")
        .operation("exchange", 0..values, |exchanger, value| exchanger.exchange(value))
        .may_block()
        .worker(move |worker| {
            let has_partner = (worker.thread() ^ 1) < worker.threads();
            for _ in 0..worker.operations() {
                if progress || has_partner {
                    let value = any_value(worker, values);
                    let _: u64 = worker.call("exchange", value);
                }
            }
        })
        .into_plan()
        .threads(settings.parties(2 * THREADS))
        .calls(1)
        .chaos(CHAOS)
}

fn counter_channel(settings: &Settings, make: impl Fn() -> CounterChannel + Send + Sync + 'static) -> Plan {
    let values = settings.most_values();
    let test = trueline::test(make)
        .spec("counter-channel")
        .operation("send", 0..values, |channel, value| channel.send(value))
        .may_block()
        .operation("receive", (), |channel, ()| channel.receive())
        .may_block()
        .worker(in_pairs(
            settings,
            move |worker| {
                let value = any_value(worker, values);
                let _: u64 = worker.call("send", value);
            },
            |worker| {
                let _: (u64, u64) = worker.call("receive", ());
            },
        ));
    sized(test.into_plan(), settings.parties(THREADS))
}

/// The test of two families. Each member meets all members of the other family, which has the same size.
fn two_families(settings: &Settings, make: impl Fn(usize, usize) -> TwoFamilies + Send + Sync + 'static) -> Plan {
    let (half, progress) = (settings.parties(THREADS).div_ceil(2), settings.progress);
    let members = half as usize;
    let test = trueline::test(move || make(members, members))
        .spec("two-families")
        .operation("sync-a", 0..half, |object, me: u32| object.sync_a(me as usize))
        .may_block()
        .operation("sync-b", 0..half, |object, me: u32| object.sync_b(me as usize))
        .may_block()
        .worker(move |worker| {
            let (me, is_first) = (worker.thread() / 2, worker.thread() % 2 == 0);
            let fewer = u32::from(progress && worker.random().chance(1, 2));
            for _ in fewer..worker.operations().min(half) {
                let _: u32 = worker.call(if is_first { "sync-a" } else { "sync-b" }, me);
            }
        });
    sized(test.into_plan(), 2 * half)
}

/// The test of one family. Each member meets all others.
fn one_family(settings: &Settings, make: impl Fn(usize) -> OneFamily + Send + Sync + 'static) -> Plan {
    let (members, progress) = (settings.parties(THREADS), settings.progress);
    trueline::test(move || make(members as usize))
        .spec("one-family")
        .operation("sync", 0..members, |object, me: u32| object.sync(me as usize))
        .may_block()
        .worker(move |worker| {
            let me = worker.thread();
            let fewer = u32::from(progress && worker.random().chance(1, 2));
            for _ in fewer..worker.operations().min(members - 1) {
                let _: u32 = worker.call("sync", me);
            }
        })
        .into_plan()
        .threads(members)
        .calls(CALLS)
        .chaos(if progress { CHAOS / 4 } else { CHAOS })
}

fn abc(settings: &Settings, make: impl Fn() -> Abc + Send + Sync + 'static) -> Plan {
    let (values, progress) = (settings.most_values(), settings.progress);
    let test = trueline::test(make)
        .spec("abc")
        .operation("sync-a", 0..values, |object, me| object.sync_a(me))
        .may_block()
        .operation("sync-b", 0..values, |object, me| object.sync_b(me))
        .may_block()
        .operation("sync-c", 0..values, |object, me| object.sync_c(me))
        .may_block()
        .worker(move |worker| {
            let has_partners = worker.thread() / 3 * 3 + 2 < worker.threads();
            for _ in 0..worker.operations() {
                let kind = if progress { worker.random().below(3) } else { worker.thread() % 3 };
                if progress || has_partners {
                    let me = any_value(worker, values);
                    let _: (u64, u64) = worker.call(["sync-a", "sync-b", "sync-c"][kind as usize], me);
                }
            }
        });
    sized(test.into_plan(), settings.parties(12))
}

fn faulty_barrier(settings: &Settings, fault: barrier::Fault) -> Plan {
    barrier(settings, move |threads| Barrier::faulty(threads, fault), |barrier, me| barrier.sync(me))
}

fn barrier<B: Send + Sync + 'static>(
    settings: &Settings,
    make: impl Fn(usize) -> B + Send + Sync + 'static,
    sync: impl Fn(&B, usize) + Send + Sync + 'static,
) -> Plan {
    let (parties, progress) = (settings.parties(THREADS), settings.progress);
    let test = trueline::test(move || make(parties as usize))
        .spec(&format!("barrier:{parties}"))
        .operation("sync", 0..parties, move |barrier, me: u32| sync(barrier, me as usize))
        .may_block()
        .worker(move |worker| {
            let me = worker.thread();
            let fewer = u32::from(progress && worker.random().chance(1, parties));
            for _ in fewer..worker.operations() {
                worker.call("sync", me)
            }
        });
    sized(test.into_plan(), parties)
}

fn combining_barrier(settings: &Settings) -> Plan {
    let (parties, values) = (settings.parties(THREADS), settings.most_values());
    let test = trueline::test(move || CombiningBarrier::new(parties as usize, u64::wrapping_add))
        .spec(&format!("combining-barrier:{parties}"))
        .operation("sync", (0..parties, 0..values), |barrier, (me, value): (u32, u64)| barrier.sync(me as usize, value))
        .may_block()
        .worker(move |worker| {
            let me = worker.thread();
            for _ in 0..worker.operations() {
                let value = any_value(worker, values);
                let _: u64 = worker.call("sync", (me, value));
            }
        });
    sized(test.into_plan(), parties)
}

/// The test of enrollable barriers. A thread that is not enrolled enrolls; a thread that is enrolled synchronizes or
/// resigns, and every thread has resigned at the end.
fn enrollable_barrier(settings: &Settings, make: impl Fn(usize) -> EnrollableBarrier + Send + Sync + 'static) -> Plan {
    let parties = settings.parties(THREADS);
    let test = trueline::test(move || make(parties as usize))
        .spec("enrollable-barrier")
        .operation("sync", 0..parties, |barrier, me: u32| barrier.sync(me as usize))
        .may_block()
        .operation("enrol", 0..parties, |barrier, me: u32| barrier.enrol(me as usize))
        .operation("resign", 0..parties, |barrier, me: u32| barrier.resign(me as usize))
        .worker(|worker| {
            let (me, mut is_enrolled) = (worker.thread(), false);
            for _ in 0..worker.operations() {
                if is_enrolled && worker.random().chance(7, 10) {
                    worker.call("sync", me)
                } else {
                    worker.call::<_, ()>(if is_enrolled { "resign" } else { "enrol" }, me);
                    is_enrolled = !is_enrolled;
                }
            }
            if is_enrolled {
                worker.call("resign", me)
            }
        });
    sized(test.into_plan(), parties)
}

fn timeout_channel(settings: &Settings, make: impl Fn() -> TimeoutChannel + Send + Sync + 'static) -> Plan {
    let values = settings.values.unwrap_or(20).max(1);
    let test = trueline::test(make)
        .spec("timeout-channel")
        .operation("send", 0..values, |channel, value| channel.send_within(value, TIMEOUT))
        .operation("receive", (), |channel, ()| channel.receive_within(TIMEOUT));
    sized(test.into_plan(), settings.parties(THREADS))
}

fn timeout_exchanger(settings: &Settings, make: impl Fn() -> TimeoutExchanger + Send + Sync + 'static) -> Plan {
    let values = settings.most_values();
    trueline::test(make)
        .spec("timeout-exchanger")
        .operation("exchange", 0..values, |exchanger, value| exchanger.exchange(value, TIMEOUT))
        .into_plan()
        // The fault needs three threads at the same time.
        .threads(settings.parties(3 * THREADS))
        .calls(CALLS)
        .chaos(CHAOS / 4)
}

fn closeable_channel(settings: &Settings, make: impl Fn() -> CloseableChannel + Send + Sync + 'static) -> Plan {
    let values = settings.values.unwrap_or(20).max(1);
    let close = |worker: &mut Worker<'_>| {
        let closes = worker.random().chance(1, 20);
        if closes {
            worker.call::<_, ()>("close", ());
        }
        closes
    };
    let test = trueline::test(make)
        .spec("closeable-channel")
        .operation("send", 0..values, |channel, value| channel.send(value))
        .may_block()
        .operation("receive", (), |channel, ()| channel.receive())
        .may_block()
        .operation("close", (), |channel, ()| channel.close())
        .worker(in_pairs(
            settings,
            move |worker| {
                if !close(worker) {
                    let value = any_value(worker, values);
                    let _: bool = worker.call("send", value);
                }
            },
            move |worker| {
                if !close(worker) {
                    let _: Option<u64> = worker.call("receive", ());
                }
            },
        ));
    sized(test.into_plan(), settings.parties(THREADS))
}

/// The test of terminating queues. Half of the threads only dequeue; the others dequeue or enqueue. A thread ends when
/// a dequeue reports that all threads are waiting.
fn terminating_queue(settings: &Settings, make: impl Fn(usize) -> TerminatingQueue + Send + Sync + 'static) -> Plan {
    let workers = settings.parties(THREADS);
    let values = settings.values.unwrap_or(20).max(1);
    let test = trueline::test(move || make(workers as usize))
        .spec(&format!("terminating-queue:{workers}"))
        .operation("enqueue", 0..values, |queue, value| queue.enqueue(value))
        .operation("dequeue", (), |queue, ()| queue.dequeue())
        .may_block()
        .worker(move |worker| until_all_wait(worker, values));
    sized(test.into_plan(), workers)
}

/// The test of terminating queues with one queue for each thread. The threads make the same calls
/// as in [`terminating_queue()`].
fn terminating_queues(settings: &Settings) -> Plan {
    let workers = settings.parties(THREADS);
    let values = settings.values.unwrap_or(20).max(1);
    let test = trueline::test(move || TerminatingQueues::new(workers as usize))
        .handle(|queues, me| (queues.clone(), me as usize))
        .spec(&format!("terminating-queues:{workers}"))
        .operation("enqueue", 0..values, |(queues, me), value| queues.enqueue(*me, value))
        .operation("dequeue", (), |(queues, me), ()| queues.dequeue(*me))
        .may_block()
        .worker(move |worker| until_all_wait(worker, values));
    sized(test.into_plan(), workers)
}

fn until_all_wait(worker: &mut Worker<'_>, values: u64) {
    let mut enqueues = if worker.thread() % 2 == 0 { 0 } else { worker.operations() };
    loop {
        if enqueues > 0 && worker.random().chance(1, 2) {
            enqueues -= 1;
            let value = any_value(worker, values);
            worker.call::<_, ()>("enqueue", value);
        } else if worker.call::<_, Option<u64>>("dequeue", ()).is_none() {
            return;
        }
    }
}

/// The test of broadcasts. The first thread sends, the others receive.
fn broadcast(settings: &Settings, make: impl Fn(usize) -> AtomicBroadcast + Send + Sync + 'static) -> Plan {
    let (receivers, values) = (settings.parties(THREADS).max(2) - 1, settings.most_values());
    let progress = settings.progress;
    let test = trueline::test(move || make(receivers as usize))
        .spec(&format!("broadcast:{receivers}"))
        .operation("send", 0..values, |broadcast, value| broadcast.send(value))
        .may_block()
        .operation("receive", (), |broadcast, ()| broadcast.receive())
        .may_block()
        .worker(move |worker| {
            for _ in 0..worker.operations() {
                let is_sender = if progress { worker.random().chance(1, receivers + 1) } else { worker.thread() == 0 };
                if is_sender {
                    let value = any_value(worker, values);
                    worker.call::<_, ()>("send", value);
                } else {
                    let _: u64 = worker.call("receive", ());
                }
            }
        });
    sized(test.into_plan(), receivers + 1)
}

/// The test of signals. The first thread is the child, the second its parent; further threads would make no calls.
fn signal(settings: &Settings, make: impl Fn() -> Signal + Send + Sync + 'static) -> Plan {
    let progress = settings.progress;
    let test = trueline::test(make)
        .spec("signal")
        .operation("signal-up-and-wait", (), |signal, ()| signal.signal_up_and_wait())
        .may_block()
        .operation("wait-for-signal-up", (), |signal, ()| signal.wait_for_signal_up())
        .may_block()
        .operation("signal-down", (), |signal, ()| signal.signal_down())
        .worker(move |worker| {
            if worker.threads() < 2 {
                return;
            }
            let fewer = u32::from(progress && worker.random().chance(1, 2));
            for round in fewer..worker.operations() {
                match worker.thread() {
                    0 => worker.call::<_, ()>("signal-up-and-wait", ()),
                    1 => {
                        worker.call::<_, ()>("wait-for-signal-up", ());
                        let is_last = round + 1 == worker.operations();
                        if !(progress && is_last && worker.random().chance(1, 2)) {
                            worker.call::<_, ()>("signal-down", ());
                        }
                    }
                    _ => return,
                }
            }
        });
    sized(test.into_plan(), 2)
}

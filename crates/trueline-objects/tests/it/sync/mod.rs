//! Objects that synchronise: the correct ones are right in all schedules that are tried, and each fault shows in some,
//! in the way that is told of it.

pub(crate) mod judge;
pub(crate) mod world;

use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::Hash;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use trueline::primitives::{Cancellation, Chaos, catch_cancelled, enter};
use trueline_objects::sync::abc::{self, Abc};
use trueline_objects::sync::atomic_broadcast::{self, AtomicBroadcast};
use trueline_objects::sync::barrier::{self, Barrier, CombiningBarrier, TreeBarrier};
use trueline_objects::sync::channel::{self, SyncChannel};
use trueline_objects::sync::closeable_channel::{self, CloseableChannel};
use trueline_objects::sync::counter_channel::{self, CounterChannel};
use trueline_objects::sync::enrollable_barrier::{self, EnrollableBarrier};
use trueline_objects::sync::exchanger::{self, Exchanger};
use trueline_objects::sync::filter_channel::{self, Filter, FilterChannel};
use trueline_objects::sync::men_women::{self, MenWomen};
use trueline_objects::sync::one_family::{self, OneFamily};
use trueline_objects::sync::semaphore::Semaphore;
use trueline_objects::sync::signal::{self, Signal};
use trueline_objects::sync::terminating_queue::{self, TerminatingQueue, TerminatingQueues};
use trueline_objects::sync::timeout_channel::{self, TimeoutChannel};
use trueline_objects::sync::timeout_exchanger::{self, TimeoutExchanger};
use trueline_objects::sync::two_families::{self, TwoFamilies};

use judge::{Done, Recorder, synchronises};

/// How a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    /// All calls return that should, and they synchronise.
    Fine,
    /// All calls return that should, and what they say cannot be.
    Wrong,
    /// Some do not return.
    Stuck,
}
use Outcome::{Fine, Stuck, Wrong};

/// How many schedules a correct object is tried in.
const SEEDS: u64 = 200;
/// How many schedules a fault may take to show.
const PATIENCE: u64 = 20_000;
/// How many runs of real threads a correct object goes through.
const CHAOS_RUNS: u64 = 40;
/// After this, real threads are stuck: they take milliseconds.
const WATCHDOG: Duration = Duration::from_secs(60);
/// For objects that give up.
const TIMEOUT: Duration = Duration::from_millis(1);

/// What threads do with an object, and what is right.
struct Trial<'t, T, O> {
    threads: usize,
    /// How many calls return, if not all.
    returns: Option<usize>,
    body: &'t (dyn Fn(&T, usize, &Recorder<O>) + Sync),
    is_right: &'t (dyn Fn(&[Done<O>]) -> bool + Sync),
}

impl<T: Sync, O: Clone + Send + Debug> Trial<'_, T, O> {
    fn outcome(&self, object: &T, seed: u64) -> (Outcome, Vec<Done<O>>) {
        let recorder = Recorder::new();
        let is_done = world::run(seed, self.threads, &|me| (self.body)(object, me, &recorder));
        let history = recorder.history();
        let outcome = match self.returns {
            None if !is_done => Stuck,
            Some(returns) if history.len() < returns => Stuck,
            _ if (self.is_right)(&history) => Fine,
            _ => Wrong,
        };
        (outcome, history)
    }

    /// It is right, one thread at a time and in chaos.
    fn correct(&self, make: impl Fn() -> T) {
        for seed in 0..SEEDS {
            let (outcome, history) = self.outcome(&make(), seed);
            assert_eq!(outcome, Fine, "with seed {seed}: {history:?}");
        }
        if self.returns.is_none() {
            for seed in 0..CHAOS_RUNS {
                self.correct_in_chaos(&make(), seed);
            }
        }
    }

    fn correct_in_chaos(&self, object: &T, seed: u64) {
        let (recorder, cancellation) = (Recorder::new(), Cancellation::new());
        let (one_in, thread_seeds) = ([2, 8, 64][seed as usize % 3], 0..);
        thread::scope(|scope| {
            let (ended, all_ended) = mpsc::channel::<()>();
            for (me, thread_seed) in (0..self.threads).zip(thread_seeds) {
                let (recorder, cancellation, ended) = (&recorder, &cancellation, ended.clone());
                scope.spawn(move || {
                    let _dropped_at_the_end = ended;
                    let _inside = enter(Rc::new(Chaos::new(one_in, seed, thread_seed)));
                    let _cancellable = cancellation.enter();
                    catch_cancelled(|| (self.body)(object, me, recorder)).ok();
                });
            }
            drop(ended);
            if all_ended.recv_timeout(WATCHDOG) == Err(mpsc::RecvTimeoutError::Timeout) {
                cancellation.cancel();
            }
        });
        let history = recorder.history();
        assert!(!cancellation.is_cancelled(), "stuck in chaos {seed}: {history:?}");
        assert!((self.is_right)(&history), "in chaos {seed}: {history:?}");
    }

    /// It ends in each of these ways, and in no other.
    fn faulty(&self, expected: &[Outcome], make: impl Fn() -> T) {
        let mut missing = expected.to_vec();
        for seed in 0..PATIENCE {
            let (outcome, history) = self.outcome(&make(), seed);
            assert!(expected.contains(&outcome), "{outcome:?} with seed {seed}: {history:?}");
            missing.retain(|other| *other != outcome);
            if missing.is_empty() {
                return;
            }
        }
        panic!("never {missing:?}");
    }
}

/// Whether all operations go in pairs that are right.
fn in_pairs<O: Clone + Ord>(history: &[Done<O>], is_right: impl Fn(&O, &O) -> bool) -> bool {
    synchronises(history, (), 2, |(), operations| match operations {
        [first, second] => is_right(first, second).then_some(()),
        _ => None,
    })
}

/// As `synchronises`, where the state is not needed.
fn in_groups<O: Clone + Ord>(history: &[Done<O>], size: usize, is_right: impl Fn(&[O]) -> bool) -> bool {
    synchronises(history, (), size, |(), operations| (operations.len() == size && is_right(operations)).then_some(()))
}

/// A value that no other call has.
fn unique(me: usize, call: usize) -> u64 {
    (10 * me + call) as u64
}

/// A set with one more member, which it did not have.
fn with<M: Clone + Eq + Hash + Ord>(set: &[M], member: M) -> Option<Vec<M>> {
    let mut after = set.to_vec();
    after.push(member);
    after.sort();
    after.windows(2).all(|neighbours| neighbours[0] != neighbours[1]).then_some(after)
}

mod channels {
    use super::*;

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum Op {
        Send(u64),
        Receive(u64),
    }
    use Op::{Receive, Send};

    fn is_right(history: &[Done<Op>]) -> bool {
        in_pairs(
            history,
            |first, second| matches!((first, second), (Send(sent), Receive(received)) if sent == received),
        )
    }

    #[test]
    fn synchronous() {
        let body = |channel: &SyncChannel, me: usize, recorder: &Recorder<Op>| {
            for call in 0..2 {
                let value = unique(me, call);
                recorder.record(|| match me % 2 {
                    0 => {
                        channel.send(value);
                        Send(value)
                    }
                    _ => Receive(channel.receive()),
                });
            }
        };
        let trial = Trial { threads: 4, returns: None, body: &body, is_right: &is_right };
        trial.correct(SyncChannel::new);
        trial.faulty(&[Fine, Wrong], || SyncChannel::faulty(channel::Fault::NoWait));
        trial.faulty(&[Fine, Stuck], || SyncChannel::faulty(channel::Fault::WrongCondition));
    }

    #[test]
    fn synchronous_with_a_sender_too_many() {
        let body = |channel: &SyncChannel, me: usize, recorder: &Recorder<Op>| {
            let value = unique(me, 0);
            recorder.record(|| match me {
                0 => Receive(channel.receive()),
                _ => {
                    channel.send(value);
                    Send(value)
                }
            });
        };
        let trial = Trial { threads: 3, returns: Some(2), body: &body, is_right: &is_right };
        trial.correct(SyncChannel::new);
        trial.faulty(&[Fine, Stuck], || SyncChannel::faulty(channel::Fault::TwoStates));
    }

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum FilterOp {
        Send(u64),
        /// A value, and whether it should be even.
        Receive(u64, bool),
    }

    fn is_filtered(history: &[Done<FilterOp>]) -> bool {
        use FilterOp::{Receive, Send};
        in_pairs(history, |first, second| match (first, second) {
            (Send(sent), Receive(received, even)) => sent == received && (sent % 2 == 0) == *even,
            _ => false,
        })
    }

    fn send_filtered(channel: &FilterChannel, recorder: &Recorder<FilterOp>, value: u64) {
        recorder.record(|| {
            channel.send(value);
            FilterOp::Send(value)
        });
    }

    fn receive_filtered(channel: &FilterChannel, recorder: &Recorder<FilterOp>, even: bool) {
        let filter = if even { Filter::Even } else { Filter::Odd };
        recorder.record(|| FilterOp::Receive(channel.receive(filter), even));
    }

    #[test]
    fn filtering() {
        let body = |channel: &FilterChannel, me: usize, recorder: &Recorder<FilterOp>| {
            for call in 0..2 {
                match me {
                    0 => send_filtered(channel, recorder, 2 * unique(me, call)),
                    1 => receive_filtered(channel, recorder, true),
                    2 => send_filtered(channel, recorder, 2 * unique(me, call) + 1),
                    _ => receive_filtered(channel, recorder, false),
                }
            }
        };
        let trial = Trial { threads: 4, returns: None, body: &body, is_right: &is_filtered };
        trial.correct(FilterChannel::new);
        trial.faulty(&[Fine, Wrong], || FilterChannel::faulty(filter_channel::Fault::NoFilter));
        assert!(Filter::Any.accepts(1) && Filter::Any.accepts(2));
    }

    #[test]
    fn filtering_with_a_value_that_nobody_wants() {
        let body = |channel: &FilterChannel, me: usize, recorder: &Recorder<FilterOp>| match me {
            0 => send_filtered(channel, recorder, 1),
            1 => send_filtered(channel, recorder, 2),
            _ => receive_filtered(channel, recorder, true),
        };
        let trial = Trial { threads: 3, returns: Some(2), body: &body, is_right: &is_filtered };
        trial.correct(FilterChannel::new);
        trial.faulty(&[Fine, Stuck], || FilterChannel::faulty(filter_channel::Fault::OneSlot));
        trial.faulty(&[Fine, Stuck], || FilterChannel::faulty(filter_channel::Fault::TwoStates));
    }

    #[test]
    fn filtering_in_two_states_loses_a_sender_that_was_heard() {
        let body = |channel: &FilterChannel, me: usize, recorder: &Recorder<FilterOp>| match me {
            0 => send_filtered(channel, recorder, 1),
            1 => send_filtered(channel, recorder, 3),
            _ => receive_filtered(channel, recorder, false),
        };
        let trial = Trial { threads: 3, returns: Some(2), body: &body, is_right: &is_filtered };
        trial.correct(FilterChannel::new);
        trial.correct(|| FilterChannel::faulty(filter_channel::Fault::OneSlot));
        trial.faulty(&[Fine, Stuck], || FilterChannel::faulty(filter_channel::Fault::TwoStates));
    }

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum CounterOp {
        Send(u64, u64),
        Receive(u64, u64),
    }

    fn is_counted(history: &[Done<CounterOp>]) -> bool {
        use CounterOp::{Receive, Send};
        synchronises(history, 0, 2, |count, operations| match *operations {
            [Send(sent, number), Receive(received, same)] => {
                (sent == received && number == same && number == count + 1).then_some(number)
            }
            _ => None,
        })
    }

    fn count(channel: &CounterChannel, recorder: &Recorder<CounterOp>, sends: bool, value: u64) {
        recorder.record(|| {
            if sends {
                CounterOp::Send(value, channel.send(value))
            } else {
                let (value, number) = channel.receive();
                CounterOp::Receive(value, number)
            }
        });
    }

    #[test]
    fn counting() {
        let body = |channel: &CounterChannel, me: usize, recorder: &Recorder<CounterOp>| {
            (0..2).for_each(|call| count(channel, recorder, me % 2 == 0, unique(me, call)));
        };
        let trial = Trial { threads: 4, returns: None, body: &body, is_right: &is_counted };
        trial.correct(CounterChannel::new);
        trial.faulty(&[Fine, Wrong], || CounterChannel::faulty(counter_channel::Fault::LateNumber));
        trial.faulty(&[Fine, Wrong], || CounterChannel::faulty(counter_channel::Fault::EarlyNumber));
    }

    #[test]
    fn counting_with_a_sender_too_many() {
        let body = |channel: &CounterChannel, me: usize, recorder: &Recorder<CounterOp>| {
            count(channel, recorder, me != 0, unique(me, 0));
        };
        let trial = Trial { threads: 3, returns: Some(2), body: &body, is_right: &is_counted };
        trial.correct(CounterChannel::new);
        trial.faulty(&[Fine, Stuck], || CounterChannel::faulty(counter_channel::Fault::TwoStates));
    }

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum FailingOp {
        Send(u64, bool),
        Receive(Option<u64>),
        Close,
    }

    #[test]
    fn giving_up() {
        use FailingOp::{Receive, Send};
        let body = |channel: &TimeoutChannel, me: usize, recorder: &Recorder<FailingOp>| {
            for call in 0..2 {
                let value = unique(me, call);
                recorder.record(|| match me % 2 {
                    0 => Send(value, channel.send_within(value, TIMEOUT)),
                    _ => Receive(channel.receive_within(TIMEOUT)),
                });
            }
        };
        let is_right = |history: &[Done<FailingOp>]| {
            synchronises(history, (), 2, |(), operations| match operations {
                [Send(sent, true), Receive(Some(received))] => (sent == received).then_some(()),
                [Send(_, false)] | [Receive(None)] => Some(()),
                _ => None,
            })
        };
        let trial = Trial { threads: 4, returns: None, body: &body, is_right: &is_right };
        trial.correct(TimeoutChannel::new);
        trial.faulty(&[Fine, Wrong], || TimeoutChannel::faulty(timeout_channel::Fault::OneFlag));
    }

    #[test]
    fn giving_up_is_neither_always_nor_never() {
        let mut sent = [false; 2];
        for seed in 0..SEEDS {
            let (channel, recorder) = (TimeoutChannel::new(), Recorder::new());
            world::run(seed, 2, &|me| match me {
                0 => recorder.record(|| channel.send_within(7, TIMEOUT)),
                _ => recorder.record(|| channel.receive_within(TIMEOUT).is_some()),
            });
            let history = recorder.history();
            assert_eq!(history[0].operation, history[1].operation, "both or neither");
            sent[usize::from(history[0].operation)] = true;
        }
        assert_eq!(sent, [true; 2]);
    }

    #[test]
    fn closing() {
        use FailingOp::{Close, Receive, Send};
        let body = |channel: &CloseableChannel, me: usize, recorder: &Recorder<FailingOp>| {
            for call in 0..2 {
                let value = unique(me, call);
                recorder.record(|| match me {
                    0 | 1 => Send(value, channel.send(value)),
                    2 => Receive(channel.receive()),
                    _ => {
                        channel.close();
                        Close
                    }
                });
            }
        };
        let is_right = |history: &[Done<FailingOp>]| {
            synchronises(history, false, 2, |closed, operations| match operations {
                [Send(sent, true), Receive(Some(received))] => (!closed && sent == received).then_some(false),
                [Send(_, false)] | [Receive(None)] => closed.then_some(true),
                [Close] => Some(true),
                _ => None,
            })
        };
        let trial = Trial { threads: 4, returns: None, body: &body, is_right: &is_right };
        trial.correct(CloseableChannel::new);
        trial.faulty(&[Fine, Wrong], || CloseableChannel::faulty(closeable_channel::Fault::ClosedFirst));
        trial.faulty(&[Fine, Wrong], || CloseableChannel::faulty(closeable_channel::Fault::OldLibrary));
    }

    #[test]
    fn a_channel_that_nobody_closes_serves_all() {
        let body = |channel: &CloseableChannel, me: usize, recorder: &Recorder<Op>| {
            for call in 0..2 {
                let value = unique(me, call);
                recorder.record(|| match me % 2 {
                    0 => {
                        assert!(channel.send(value), "it is open");
                        Send(value)
                    }
                    _ => Receive(channel.receive().expect("it is open")),
                });
            }
        };
        let trial = Trial { threads: 4, returns: None, body: &body, is_right: &is_right };
        trial.correct(CloseableChannel::new);
        // What is wrong shows only when it is closed.
        trial.correct(|| CloseableChannel::faulty(closeable_channel::Fault::ClosedFirst));
        trial.correct(|| CloseableChannel::faulty(closeable_channel::Fault::OldLibrary));
    }

    #[test]
    fn broadcasting() {
        const RECEIVERS: usize = 3;
        let body = |broadcast: &AtomicBroadcast, me: usize, recorder: &Recorder<Op>| {
            for call in 0..2 {
                let value = unique(me, call);
                recorder.record(|| match me {
                    0 => {
                        broadcast.send(value);
                        Send(value)
                    }
                    _ => Receive(broadcast.receive()),
                });
            }
        };
        let is_right = |history: &[Done<Op>]| {
            in_groups(history, RECEIVERS + 1, |operations| match &operations[0] {
                Send(sent) => operations[1..].iter().all(|operation| *operation == Receive(*sent)),
                Receive(_) => false,
            })
        };
        let trial = Trial { threads: RECEIVERS + 1, returns: None, body: &body, is_right: &is_right };
        trial.correct(|| AtomicBroadcast::new(RECEIVERS));
        trial.faulty(&[Fine, Stuck], || AtomicBroadcast::faulty(RECEIVERS, atomic_broadcast::Fault::NoRounds));
    }
}

mod meetings {
    use super::*;

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum Couple {
        Man(u64, u64),
        Woman(u64, u64),
    }

    #[test]
    fn men_and_women() {
        use Couple::{Man, Woman};
        let body = |party: &MenWomen, me: usize, recorder: &Recorder<Couple>| {
            for call in 0..2 {
                let name = unique(me, call);
                recorder.record(|| match me % 2 {
                    0 => Man(name, party.man_sync(name)),
                    _ => Woman(name, party.woman_sync(name)),
                });
            }
        };
        let is_right = |history: &[Done<Couple>]| {
            in_pairs(history, |first, second| match (first, second) {
                (Man(him, to_him), Woman(her, to_her)) => him == to_her && her == to_him,
                _ => false,
            })
        };
        let trial = Trial { threads: 4, returns: None, body: &body, is_right: &is_right };
        trial.correct(MenWomen::new);
        trial.faulty(&[Fine, Wrong], || MenWomen::faulty(men_women::Fault::TwoSlots));
        trial.faulty(&[Fine, Wrong], || MenWomen::faulty(men_women::Fault::Crosswise));
        trial.faulty(&[Fine, Stuck], || MenWomen::faulty(men_women::Fault::NotifyOne));
    }

    #[test]
    fn exchanges() {
        let body = |exchanger: &Exchanger, me: usize, recorder: &Recorder<(u64, u64)>| {
            let value = unique(me, 0);
            recorder.record(|| (value, exchanger.exchange(value)));
        };
        let is_right = |history: &[Done<(u64, u64)>]| in_pairs(history, |x, y| x.0 == y.1 && y.0 == x.1);
        let trial = Trial { threads: 8, returns: None, body: &body, is_right: &is_right };
        trial.correct(Exchanger::new);
        trial.faulty(&[Fine, Wrong], || Exchanger::faulty(exchanger::Fault::NoThirdStage));
    }

    #[test]
    fn exchanges_that_give_up() {
        let body = |exchanger: &TimeoutExchanger, me: usize, recorder: &Recorder<(u64, Option<u64>)>| {
            for call in 0..2 {
                let value = unique(me, call);
                recorder.record(|| (value, exchanger.exchange(value, TIMEOUT)));
            }
        };
        let is_right = |history: &[Done<(u64, Option<u64>)>]| {
            synchronises(history, (), 2, |(), operations| match *operations {
                [(_, None)] => Some(()),
                [(x, Some(to_x)), (y, Some(to_y))] => (x == to_y && y == to_x).then_some(()),
                _ => None,
            })
        };
        let trial = Trial { threads: 4, returns: None, body: &body, is_right: &is_right };
        trial.correct(TimeoutExchanger::new);
        trial.faulty(&[Fine, Wrong], || TimeoutExchanger::faulty(timeout_exchanger::Fault::ThirdJoins));
        trial.faulty(&[Fine, Wrong], || TimeoutExchanger::faulty(timeout_exchanger::Fault::Ghost));
    }

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum Family {
        A(usize, usize),
        B(usize, usize),
    }

    #[test]
    fn of_two_families() {
        use Family::{A, B};
        let body = |families: &TwoFamilies, me: usize, recorder: &Recorder<Family>| {
            let number = me / 2;
            for _ in 0..2 {
                recorder.record(|| match me % 2 {
                    0 => A(number, families.sync_a(number)),
                    _ => B(number, families.sync_b(number)),
                });
            }
        };
        let is_right = |history: &[Done<Family>]| {
            synchronises(history, Vec::new(), 2, |met, operations| match *operations {
                [A(a, to_a), B(b, to_b)] if a == to_b && b == to_a => with(met, (a, b)),
                _ => None,
            })
        };
        let trial = Trial { threads: 4, returns: None, body: &body, is_right: &is_right };
        trial.correct(|| TwoFamilies::new(2, 2));
        trial.faulty(&[Fine, Wrong], || TwoFamilies::faulty(2, 2, two_families::Fault::LateRead));
    }

    #[test]
    fn of_one_family() {
        let body = |family: &OneFamily, me: usize, recorder: &Recorder<(usize, usize)>| {
            for _ in 0..3 {
                recorder.record(|| (me, family.sync(me)));
            }
        };
        let is_right = |history: &[Done<(usize, usize)>]| {
            synchronises(history, Vec::new(), 2, |met, operations| match *operations {
                [(me, to_me), (other, to_other)] if me == to_other && other == to_me => with(met, (me, other)),
                _ => None,
            })
        };
        let trial = Trial { threads: 4, returns: None, body: &body, is_right: &is_right };
        trial.correct(|| OneFamily::new(4));
        trial.faulty(&[Fine, Wrong], || OneFamily::faulty(4, one_family::Fault::LateRead));
        trial.faulty(&[Fine, Stuck], || OneFamily::faulty(4, one_family::Fault::EarlyLook));
    }

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum Three {
        A(u64, (u64, u64)),
        B(u64, (u64, u64)),
        C(u64, (u64, u64)),
    }

    #[test]
    fn of_three_kinds() {
        use Three::{A, B, C};
        let body = |abc: &Abc, me: usize, recorder: &Recorder<Three>| {
            for call in 0..2 {
                let name = unique(me, call);
                recorder.record(|| match me % 3 {
                    0 => A(name, abc.sync_a(name)),
                    1 => B(name, abc.sync_b(name)),
                    _ => C(name, abc.sync_c(name)),
                });
            }
        };
        let is_right = |history: &[Done<Three>]| {
            in_groups(history, 3, |operations| match *operations {
                [A(a, to_a), B(b, to_b), C(c, to_c)] => to_a == (b, c) && to_b == (a, c) && to_c == (a, b),
                _ => false,
            })
        };
        let trial = Trial { threads: 6, returns: None, body: &body, is_right: &is_right };
        trial.correct(Abc::new);
        trial.faulty(&[Fine, Wrong], || Abc::faulty(abc::Fault::LateRead));
        trial.faulty(&[Fine, Stuck], || Abc::faulty(abc::Fault::LostSignal));
    }
}

mod barriers {
    use super::*;

    /// As many as make a tree of three levels.
    const THREADS: usize = 4;
    /// Few, and few rounds, so that faulty ones are sometimes lucky.
    const FEW: usize = 3;

    fn together(history: &[Done<usize>], threads: usize) -> bool {
        in_groups(history, threads, |synced| synced.iter().copied().eq(0..threads))
    }

    fn rounds(count: usize, me: usize, recorder: &Recorder<usize>, sync: impl Fn(usize)) {
        for _ in 0..count {
            recorder.record(|| {
                sync(me);
                me
            });
        }
    }

    #[test]
    fn that_count() {
        let body = |barrier: &Barrier, me: usize, recorder: &Recorder<usize>| {
            rounds(3, me, recorder, |me| barrier.sync(me));
        };
        let is_right = |history: &[Done<usize>]| together(history, THREADS);
        let trial = Trial { threads: THREADS, returns: None, body: &body, is_right: &is_right };
        trial.correct(|| Barrier::new(THREADS));

        let body = |barrier: &Barrier, me: usize, recorder: &Recorder<usize>| {
            rounds(2, me, recorder, |me| barrier.sync(me));
        };
        let is_right = |history: &[Done<usize>]| together(history, FEW);
        let trial = Trial { threads: FEW, returns: None, body: &body, is_right: &is_right };
        trial.correct(|| Barrier::new(FEW));
        let faulty = |fault, expected: &[Outcome]| trial.faulty(expected, || Barrier::faulty(FEW, fault));
        faulty(barrier::Fault::ReturnsAtOnce, &[Fine, Wrong]);
        faulty(barrier::Fault::NoRounds, &[Fine, Wrong]);
        // Who leaves too early is missed in the end.
        faulty(barrier::Fault::NoInitialWait, &[Fine, Stuck]);
        faulty(barrier::Fault::BareWait, &[Fine, Stuck]);
        faulty(barrier::Fault::NotifyOne, &[Fine, Stuck]);
    }

    #[test]
    fn that_are_wrong_and_right_alone() {
        Barrier::new(1).sync(0);
        for fault in [
            barrier::Fault::ReturnsAtOnce,
            barrier::Fault::NoRounds,
            barrier::Fault::NoInitialWait,
            barrier::Fault::BareWait,
            barrier::Fault::NotifyOne,
        ] {
            let barrier = Barrier::faulty(1, fault);
            (0..3).for_each(|_| barrier.sync(0));
        }
    }

    #[test]
    fn that_wait_without_a_loop_are_found_in_chaos() {
        // Nobody else is there.
        let _inside = enter(Rc::new(Chaos::new(1, 0, 0)));
        Barrier::faulty(2, barrier::Fault::BareWait).sync(0);
    }

    #[test]
    fn that_are_trees() {
        let body = |barrier: &TreeBarrier, me: usize, recorder: &Recorder<usize>| {
            rounds(3, me, recorder, |me| barrier.sync(me));
        };
        let is_right = |history: &[Done<usize>]| together(history, THREADS);
        let trial = Trial { threads: THREADS, returns: None, body: &body, is_right: &is_right };
        trial.correct(|| TreeBarrier::new(THREADS));

        let body = |barrier: &TreeBarrier, me: usize, recorder: &Recorder<usize>| {
            rounds(2, me, recorder, |me| barrier.sync(me));
        };
        let is_right = |history: &[Done<usize>]| together(history, FEW);
        let trial = Trial { threads: FEW, returns: None, body: &body, is_right: &is_right };
        trial.correct(|| TreeBarrier::new(FEW));
        for fault in [signal::Fault::UpDoesNotWait, signal::Fault::EarlyDown] {
            trial.faulty(&[Fine, Wrong, Stuck], || TreeBarrier::faulty(FEW, fault));
        }
        TreeBarrier::new(1).sync(0);
    }

    #[test]
    fn that_combine() {
        type Op = (usize, u64, u64);
        let body = |barrier: &CombiningBarrier, me: usize, recorder: &Recorder<Op>| {
            for call in 0..3 {
                let value = unique(me, call);
                recorder.record(|| (me, value, barrier.sync(me, value)));
            }
        };
        let sum = |history: &[Done<Op>]| {
            in_groups(history, THREADS, |operations| {
                let sum: u64 = operations.iter().map(|operation| operation.1).sum();
                operations.iter().enumerate().all(|(me, operation)| operation.0 == me && operation.2 == sum)
            })
        };
        let trial = Trial { threads: THREADS, returns: None, body: &body, is_right: &sum };
        trial.correct(|| CombiningBarrier::new(THREADS, |x, y| x + y));
        // In the order of the tree: 0, 1, 3, 2.
        for (combine, thread) in [((|x, _| x) as fn(u64, u64) -> u64, 0), (|_, y| y, 2)] {
            let barrier = CombiningBarrier::new(THREADS, combine);
            thread::scope(|scope| {
                for me in 0..THREADS {
                    let barrier = &barrier;
                    scope.spawn(move || assert_eq!(barrier.sync(me, me as u64), thread));
                }
            });
        }
    }

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum Op {
        Enrol(usize),
        Resign(usize),
        Sync(usize),
    }

    #[test]
    fn that_threads_enrol_in() {
        use Op::{Enrol, Resign, Sync};
        let body = |barrier: &EnrollableBarrier, me: usize, recorder: &Recorder<Op>| {
            recorder.record(|| {
                barrier.enrol(me);
                Enrol(me)
            });
            for _ in 0..2 {
                recorder.record(|| {
                    barrier.sync(me);
                    Sync(me)
                });
            }
            recorder.record(|| {
                barrier.resign(me);
                Resign(me)
            });
        };
        let is_right = |history: &[Done<Op>]| {
            synchronises(history, Vec::new(), 3, |enrolled, operations| match *operations {
                [Enrol(me)] => with(enrolled, me),
                [Resign(me)] => Some(enrolled.iter().copied().filter(|other| *other != me).collect()),
                _ => {
                    let synced = operations.iter().map(|operation| match operation {
                        Sync(me) => Some(*me),
                        Enrol(_) | Resign(_) => None,
                    });
                    synced.eq(enrolled.iter().copied().map(Some)).then(|| enrolled.clone())
                }
            })
        };
        let trial = Trial { threads: 3, returns: None, body: &body, is_right: &is_right };
        trial.correct(|| EnrollableBarrier::new(3));
        trial.faulty(&[Fine, Wrong], || EnrollableBarrier::faulty(3, enrollable_barrier::Fault::NoInitialWait));
    }

    #[derive(Clone, PartialEq, Eq, Debug)]
    enum SignalOp {
        Up,
        Wait,
        Down,
    }

    /// The child's call overlaps with both calls of its parent in this round.
    fn intervals(history: &[Done<SignalOp>]) -> bool {
        let calls = |kind: SignalOp| {
            let mut calls: Vec<_> = history.iter().filter(|done| done.operation == kind).collect();
            calls.sort_by_key(|done| done.called);
            calls
        };
        let rounds = calls(SignalOp::Up).into_iter().zip(calls(SignalOp::Wait)).zip(calls(SignalOp::Down));
        rounds.into_iter().all(|((up, wait), down)| up.called < wait.returned && down.called < up.returned)
    }

    #[test]
    fn made_of_signals() {
        let body = |signal: &Signal, me: usize, recorder: &Recorder<SignalOp>| {
            for _ in 0..3 {
                if me == 0 {
                    recorder.record(|| {
                        signal.signal_up_and_wait();
                        SignalOp::Up
                    });
                } else {
                    recorder.record(|| {
                        signal.wait_for_signal_up();
                        SignalOp::Wait
                    });
                    recorder.record(|| {
                        signal.signal_down();
                        SignalOp::Down
                    });
                }
            }
        };
        let trial = Trial { threads: 2, returns: None, body: &body, is_right: &intervals };
        trial.correct(Signal::new);
        for fault in [signal::Fault::UpDoesNotWait, signal::Fault::EarlyDown] {
            trial.faulty(&[Fine, Wrong, Stuck], || Signal::faulty(fault));
        }
    }
}

mod queues {
    use super::*;

    const WORKERS: usize = 3;

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum Op {
        Enqueue(u64),
        Dequeue(Option<u64>),
    }
    use Op::{Dequeue, Enqueue};

    fn dequeue(queue: &TerminatingQueue, recorder: &Recorder<Op>) -> bool {
        let mut has_value = false;
        recorder.record(|| {
            let value = queue.dequeue();
            has_value = value.is_some();
            Dequeue(value)
        });
        has_value
    }

    #[test]
    fn that_terminate() {
        let body = |queue: &TerminatingQueue, me: usize, recorder: &Recorder<Op>| {
            if me == 0 && !dequeue(queue, recorder) {
                return;
            }
            if me > 0 {
                for call in 0..2 {
                    recorder.record(|| {
                        queue.enqueue(unique(me, call));
                        Enqueue(unique(me, call))
                    });
                }
            }
            while dequeue(queue, recorder) {}
        };
        let is_right = |history: &[Done<Op>]| {
            let start = (VecDeque::new(), false);
            synchronises(history, start, WORKERS, |(values, done), operations| match operations {
                _ if *done => None,
                [Enqueue(value)] => {
                    let mut values = values.clone();
                    values.push_back(*value);
                    Some((values, false))
                }
                [Dequeue(Some(value))] => {
                    let mut values = values.clone();
                    (values.pop_front() == Some(*value)).then_some((values, false))
                }
                _ => {
                    let all_wait = operations.len() == WORKERS && operations.iter().all(|op| *op == Dequeue(None));
                    (all_wait && values.is_empty()).then(|| (VecDeque::new(), true))
                }
            })
        };
        let trial = Trial { threads: WORKERS, returns: None, body: &body, is_right: &is_right };
        trial.correct(|| TerminatingQueue::new(WORKERS));
        trial.faulty(&[Fine, Wrong], || TerminatingQueue::faulty(WORKERS, terminating_queue::Fault::ReturnsAtOnce));

        let queue = TerminatingQueue::faulty(1, terminating_queue::Fault::ReturnsAtOnce);
        queue.enqueue(5);
        assert_eq!((queue.dequeue(), queue.dequeue()), (Some(5), None), "right for one worker");
    }

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum OpOfWorker {
        Enqueue(usize, u64),
        Dequeue(Option<u64>),
    }

    #[test]
    fn of_each_worker_that_terminate() {
        use OpOfWorker::{Dequeue, Enqueue};
        let body = |queues: &TerminatingQueues, me: usize, recorder: &Recorder<OpOfWorker>| {
            // Who waits for a value may have more to enqueue: that is no matter, if all wait.
            let mut to_enqueue = me;
            let mut is_done = false;
            while !is_done {
                if to_enqueue > 0 {
                    to_enqueue -= 1;
                    let value = unique(me, to_enqueue);
                    recorder.record(|| {
                        queues.enqueue(me, value);
                        Enqueue(me, value)
                    });
                }
                recorder.record(|| {
                    let value = queues.dequeue(me);
                    is_done = value.is_none();
                    Dequeue(value)
                });
            }
        };
        let is_right = |history: &[Done<OpOfWorker>]| {
            let start = (vec![VecDeque::new(); WORKERS], false);
            synchronises(history, start, WORKERS, |(queues, done), operations| match operations {
                _ if *done => None,
                [Enqueue(worker, value)] => {
                    let mut queues = queues.clone();
                    queues[*worker].push_back(*value);
                    Some((queues, false))
                }
                [Dequeue(Some(value))] => {
                    // Values are unique: which queue it was is clear.
                    let mut queues = queues.clone();
                    let at = queues.iter().position(|queue| queue.front() == Some(value))?;
                    queues[at].pop_front();
                    Some((queues, false))
                }
                _ => {
                    let all_wait = operations.len() == WORKERS && operations.iter().all(|op| *op == Dequeue(None));
                    (all_wait && queues.iter().all(VecDeque::is_empty)).then(|| (queues.clone(), true))
                }
            })
        };
        let trial = Trial { threads: WORKERS, returns: None, body: &body, is_right: &is_right };
        trial.correct(|| TerminatingQueues::new(WORKERS));
    }
}

#[test]
fn a_semaphore_lets_one_in_for_each_signal() {
    let body = |semaphore: &Semaphore, _me: usize, recorder: &Recorder<()>| {
        for _ in 0..3 {
            semaphore.down();
            recorder.record(|| ());
            semaphore.up();
        }
    };
    let exclusive = |history: &[Done<()>]| {
        let mut calls: Vec<_> = history.iter().collect();
        calls.sort_by_key(|done| done.called);
        calls.windows(2).all(|calls| calls[0].returned < calls[1].called)
    };
    let trial = Trial { threads: 3, returns: None, body: &body, is_right: &exclusive };
    trial.correct(Semaphore::raised);
    trial.faulty(&[Stuck], Semaphore::lowered);
}

#[test]
#[should_panic = "the semaphore is up already"]
fn a_semaphore_loses_no_signal() {
    Semaphore::raised().up();
}

//! A world that runs one thread at a time, to try the seam that a scheduler needs.

use std::panic;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use super::cancel::lock;
use super::random::Choices;
use super::{
    Access, AtomicU64, Blocking, Cancellation, Ordering, Place, Wake, World, catch_cancelled, enter, spin_hint,
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Status {
    Ready,
    Blocked(Place),
    /// As blocked, and may go on: then its time is up.
    BlockedForAWhile(Place),
    Done,
}

struct State {
    statuses: Vec<Status>,
    /// Who runs.
    running: usize,
    /// Who ran, from point to point.
    trace: Vec<usize>,
    deadlock: bool,
}

struct Scheduler {
    state: Mutex<State>,
    changed: Condvar,
    cancellation: Cancellation,
    choices: Mutex<Choices>,
}

impl Scheduler {
    fn below(&self, bound: usize) -> usize {
        lock(&self.choices).below(bound)
    }

    /// Lets a thread that is ready run, which may be this one, and returns when this one is to run.
    fn switch(&self, thread: usize, status: Status) {
        let mut state = lock(&self.state);
        state.statuses[thread] = status;
        let can_run = |status| matches!(status, Status::Ready | Status::BlockedForAWhile(_));
        let mut ready: Vec<_> = (0..state.statuses.len()).filter(|i| can_run(state.statuses[*i])).collect();
        if ready.is_empty() && state.statuses.iter().any(|status| matches!(status, Status::Blocked(_))) {
            state.deadlock = true;
            self.cancellation.cancel();
            for (number, status) in state.statuses.iter_mut().enumerate() {
                if matches!(status, Status::Blocked(_)) {
                    *status = Status::Ready;
                    ready.push(number);
                }
            }
        }
        if !ready.is_empty() {
            let next = ready[self.below(ready.len())];
            state.running = next;
            state.trace.push(next);
        }
        self.changed.notify_all();
        while status != Status::Done && state.running != thread {
            state = self.changed.wait(state).expect("no thread panics here");
        }
    }
}

struct Thread {
    number: usize,
    scheduler: Arc<Scheduler>,
}

impl World for Thread {
    fn point(&self, _access: Access) {
        self.scheduler.switch(self.number, Status::Ready);
    }

    fn choose(&self, bound: usize) -> usize {
        self.scheduler.below(bound)
    }

    fn spin(&self) {
        self.scheduler.switch(self.number, Status::Ready);
    }

    fn blocking(&self) -> Option<&dyn Blocking> {
        Some(self)
    }
}

impl Blocking for Thread {
    fn block(&self, place: Place) {
        self.scheduler.switch(self.number, Status::Blocked(place));
    }

    fn block_for_a_while(&self, place: Place) -> bool {
        let waits = Status::BlockedForAWhile(place);
        self.scheduler.switch(self.number, waits);
        lock(&self.scheduler.state).statuses[self.number] == waits
    }

    fn wake(&self, place: Place, wake: Wake) {
        let mut state = lock(&self.scheduler.state);
        let is_here = |status: Status| [Status::Blocked(place), Status::BlockedForAWhile(place)].contains(&status);
        let mut blocked: Vec<_> = state.statuses.iter_mut().filter(|status| is_here(**status)).collect();
        if wake == Wake::One && !blocked.is_empty() {
            blocked = vec![blocked.swap_remove(self.scheduler.below(blocked.len()))];
        }
        blocked.into_iter().for_each(|status| *status = Status::Ready);
    }
}

/// Runs threads one at a time, in an order that the seed determines. Returns who ran, and whether they were stuck.
fn run(seed: u64, bodies: &[&(dyn Fn() + Sync)]) -> (Vec<usize>, bool) {
    let state = State { statuses: vec![Status::Ready; bodies.len()], running: 0, trace: Vec::new(), deadlock: false };
    let scheduler = Arc::new(Scheduler {
        state: Mutex::new(state),
        changed: Condvar::new(),
        cancellation: Cancellation::new(),
        choices: Mutex::new(Choices::new(seed)),
    });
    thread::scope(|scope| {
        for (number, body) in bodies.iter().enumerate() {
            let scheduler = Arc::clone(&scheduler);
            scope.spawn(move || {
                let mut state = lock(&scheduler.state);
                while state.running != number {
                    state = scheduler.changed.wait(state).expect("no thread panics here");
                }
                drop(state);
                let inside = enter(Rc::new(Thread { number, scheduler: Arc::clone(&scheduler) }));
                let cancellable = scheduler.cancellation.enter();
                let ended = panic::catch_unwind(panic::AssertUnwindSafe(|| catch_cancelled(*body)));
                drop((inside, cancellable));
                scheduler.switch(number, Status::Done);
                ended.expect("the body does not panic").ok();
            });
        }
    });
    let state = lock(&scheduler.state);
    (state.trace.clone(), state.deadlock)
}

#[test]
fn the_order_depends_on_the_seed_alone() {
    let word = AtomicU64::new(0);
    let body = || {
        for _ in 0..5 {
            word.fetch_add(1, Ordering::SeqCst);
        }
    };
    for seed in 0..20 {
        assert_eq!(run(seed, &[&body, &body, &body]), run(seed, &[&body, &body, &body]));
    }
    assert_ne!(run(1, &[&body, &body]), run(2, &[&body, &body]));
}

#[test]
fn a_race_is_lost_in_some_orders() {
    let counts: Vec<u64> = (0..50)
        .map(|seed| {
            let word = AtomicU64::new(0);
            let increment = || {
                let value = word.load(Ordering::SeqCst);
                word.store(value + 1, Ordering::SeqCst);
            };
            run(seed, &[&increment, &increment]);
            word.into_inner()
        })
        .collect();
    assert!(counts.contains(&1) && counts.contains(&2), "{counts:?}");
}

#[test]
fn a_mutex_excludes_in_all_orders() {
    for seed in 0..50 {
        let (mutex, inside) = (super::Mutex::new(0), AtomicU64::new(0));
        let increment = || {
            for _ in 0..3 {
                let mut count = mutex.lock();
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                *count += 1;
                inside.fetch_sub(1, Ordering::SeqCst);
            }
        };
        assert!(!run(seed, &[&increment, &increment, &increment]).1);
        assert_eq!(mutex.into_inner(), 9);
    }
}

#[test]
fn a_condition_variable_loses_no_wake_up() {
    for seed in 0..50 {
        let (slot, changed) = (super::Mutex::new(None), super::Condvar::new());
        let taken = AtomicU64::new(0);
        let send = || {
            for value in 1..=3 {
                let mut slot = changed.wait_while(slot.lock(), |slot| slot.is_some());
                *slot = Some(value);
                drop(slot);
                changed.notify_all();
            }
        };
        let receive = || {
            for _ in 0..3 {
                let mut slot = changed.wait_while(slot.lock(), |slot| slot.is_none());
                taken.fetch_add(slot.take().expect("it was waited for"), Ordering::SeqCst);
                drop(slot);
                changed.notify_all();
            }
        };
        assert!(!run(seed, &[&send, &receive]).1, "stuck with seed {seed}");
        assert_eq!(taken.into_inner(), 6);
    }
}

#[test]
fn a_timed_wait_ends_in_either_way_and_never_deadlocks() {
    let outcomes: Vec<_> = (0..100)
        .map(|seed| {
            let (slot, changed) = (super::Mutex::new(false), super::Condvar::new());
            let outcome = AtomicU64::new(0);
            let wait = || {
                let (slot, timed_out) = changed.wait_timeout(slot.lock(), Duration::MAX);
                outcome.store(u64::from(timed_out) * 2 + u64::from(*slot), Ordering::SeqCst);
            };
            let fill = || {
                *slot.lock() = true;
                changed.notify_one();
            };
            assert!(!run(seed, &[&wait, &fill]).1, "stuck with seed {seed}");
            outcome.into_inner()
        })
        .collect();
    for outcome in [1, 2, 3] {
        assert!(outcomes.contains(&outcome), "notified, timed out before, or between: {outcomes:?}");
    }
    assert!(!outcomes.contains(&0), "nobody is notified before the slot is filled");

    let (mutex, condvar) = (super::Mutex::new(()), super::Condvar::new());
    assert!(
        !run(0, &[&|| assert!(condvar.wait_timeout(mutex.lock(), Duration::MAX).1)]).1,
        "nobody is there to notify"
    );
}

#[test]
fn a_wake_up_that_goes_to_the_wrong_one_is_found() {
    // Two who wait for different things, and one notification for either.
    let stuck = (0..100).filter(|&seed| {
        let (number, changed) = (super::Mutex::new(0), super::Condvar::new());
        let wait_for = |wanted| {
            let mut number = changed.wait_while(number.lock(), |number| *number != wanted);
            *number += 1;
            drop(number);
            changed.notify_one();
        };
        run(seed, &[&|| wait_for(0), &|| wait_for(1), &|| wait_for(2)]).1
    });
    let stuck = stuck.count();
    assert!((1..100).contains(&stuck), "{stuck} of 100");
}

#[test]
fn a_deadlock_of_locks_is_found_exactly() {
    let stuck = (0..100).filter(|&seed| {
        let (left, right) = (super::Mutex::new(()), super::Mutex::new(()));
        let either = || drop((left.lock(), right.lock()));
        let other = || drop((right.lock(), left.lock()));
        run(seed, &[&either, &other]).1
    });
    let stuck = stuck.count();
    assert!((1..100).contains(&stuck), "{stuck} of 100");
}

#[test]
fn who_spins_lets_others_run() {
    for seed in 0..20 {
        let flag = super::AtomicBool::new(false);
        let wait = || {
            while !flag.load(Ordering::SeqCst) {
                spin_hint();
            }
        };
        assert!(!run(seed, &[&wait, &|| flag.store(true, Ordering::SeqCst)]).1);
    }
}

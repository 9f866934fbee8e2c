//! A world that runs one thread at a time, in an order that a seed determines, and sees when no thread can go on.

use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use trueline::drive::Random;
use trueline::primitives::{Access, Blocking, Cancellation, Place, Wake, World, catch_cancelled, enter};

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
    running: usize,
    random: Random,
    stuck: bool,
}

struct Scheduler {
    state: Mutex<State>,
    turns: Vec<Condvar>,
    cancellation: Cancellation,
}

impl Scheduler {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when it is this thread's turn.
    fn wait(&self, mut state: MutexGuard<'_, State>, thread: usize) {
        while state.running != thread {
            state = self.turns[thread].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets a thread run that can, which may be this one, and returns when it is this one's turn.
    fn switch(&self, thread: usize, status: Status) {
        let mut state = self.state();
        state.statuses[thread] = status;
        if status == Status::Ready && state.random.chance(1, 2) {
            return;
        }
        let can_run = |status| matches!(status, Status::Ready | Status::BlockedForAWhile(_));
        let mut ready: Vec<usize> = (0..state.statuses.len()).filter(|i| can_run(state.statuses[*i])).collect();
        if ready.is_empty() && state.statuses.iter().any(|status| *status != Status::Done) {
            state.stuck = true;
            self.cancellation.cancel();
            for (number, status) in state.statuses.iter_mut().enumerate().filter(|(_, status)| **status != Status::Done)
            {
                *status = Status::Ready;
                ready.push(number);
            }
        }
        if !ready.is_empty() {
            let next = *state.random.pick(&ready);
            state.running = next;
            self.turns[next].notify_one();
        }
        if status != Status::Done {
            self.wait(state, thread);
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
        let bound = u32::try_from(bound).expect("few to choose from");
        self.scheduler.state().random.below(bound) as usize
    }

    fn spin(&self) {
        self.point(Access::unknown());
    }

    fn blocking(&self) -> Option<&dyn Blocking> {
        Some(self)
    }
}

impl Blocking for Thread {
    fn block(&self, place: Place) {
        let wakes_early = self.scheduler.state().random.chance(1, 16);
        let status = if wakes_early { Status::Ready } else { Status::Blocked(place) };
        self.scheduler.switch(self.number, status);
    }

    fn block_for_a_while(&self, place: Place) -> bool {
        let waits = Status::BlockedForAWhile(place);
        self.scheduler.switch(self.number, waits);
        self.scheduler.state().statuses[self.number] == waits
    }

    fn wake(&self, place: Place, wake: Wake) {
        let state = &mut *self.scheduler.state();
        let is_here = |status: Status| [Status::Blocked(place), Status::BlockedForAWhile(place)].contains(&status);
        let mut here: Vec<usize> = (0..state.statuses.len()).filter(|i| is_here(state.statuses[*i])).collect();
        if wake == Wake::One && !here.is_empty() {
            here = vec![*state.random.pick(&here)];
        }
        here.into_iter().for_each(|number| state.statuses[number] = Status::Ready);
    }
}

/// Runs so many threads, one at a time, and tells whether all came to an end; those that did not are cancelled.
pub(crate) fn run(seed: u64, threads: usize, body: &(dyn Fn(usize) + Sync)) -> bool {
    let scheduler = Arc::new(Scheduler {
        state: Mutex::new(State {
            statuses: vec![Status::Ready; threads],
            running: 0,
            random: Random::new(seed),
            stuck: false,
        }),
        turns: (0..threads).map(|_| Condvar::new()).collect(),
        cancellation: Cancellation::new(),
    });
    thread::scope(|scope| {
        for number in 0..threads {
            let scheduler = Arc::clone(&scheduler);
            scope.spawn(move || {
                scheduler.wait(scheduler.state(), number);
                let inside = enter(Rc::new(Thread { number, scheduler: Arc::clone(&scheduler) }));
                let cancellable = scheduler.cancellation.enter();
                // A panic is one of the test; the others must not wait for this thread.
                let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    catch_cancelled(|| {
                        trueline::primitives::point();
                        body(number);
                    })
                }));
                drop((inside, cancellable));
                scheduler.switch(number, Status::Done);
                ended.expect("no thread panics").ok();
            });
        }
    });
    !scheduler.state().stuck
}

//! Worlds that decide what is chosen: by a list, or in every way, one after the other, with a bound on preemptions.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use trueline::primitives::{Access, Blocking, Cancellation, Place, Wake, World, catch_cancelled, enter};

/// A world for one thread, that chooses from a list, and 0 when it is at its end.
struct Choosing(RefCell<VecDeque<usize>>);

impl World for Choosing {
    fn point(&self, _access: Access) {}

    fn choose(&self, bound: usize) -> usize {
        let choice = self.0.borrow_mut().pop_front().unwrap_or(0);
        assert!(choice < bound, "{choice} of {bound}");
        choice
    }
}

/// Runs something on this thread, with these choices.
pub(super) fn choosing<R>(choices: &[usize], body: impl FnOnce() -> R) -> R {
    let world = Rc::new(Choosing(RefCell::new(choices.iter().copied().collect())));
    let inside = enter(world.clone());
    let result = body();
    drop(inside);
    assert!(world.0.borrow().is_empty(), "not all choices were made");
    result
}

/// What was decided: which of how many.
#[derive(Clone, Copy, Debug)]
struct Decision {
    chosen: usize,
    of: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Status {
    Ready,
    Blocked(Place),
    /// Can do nothing until another has run.
    Spinning,
    Done,
}

struct State {
    /// What to decide first; from then on, always the first of all.
    prefix: Vec<usize>,
    decisions: Vec<Decision>,
    statuses: Vec<Status>,
    running: usize,
    preemptions: usize,
    /// How often the only thread that is left has looked again.
    looks: u32,
    is_stuck: bool,
}

impl State {
    fn decide(&mut self, of: usize) -> usize {
        if of == 1 {
            return 0;
        }
        let chosen = self.prefix.get(self.decisions.len()).copied().unwrap_or(0);
        assert!(chosen < of, "a run is not the same again");
        self.decisions.push(Decision { chosen, of });
        chosen
    }
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
        let mut guard = self.state();
        let state = &mut *guard;
        // Whoever spins may look again when another has run.
        state
            .statuses
            .iter_mut()
            .filter(|status| **status == Status::Spinning)
            .for_each(|status| *status = Status::Ready);
        state.statuses[thread] = status;
        let mut can_run: Vec<usize> = Vec::new();
        if status == Status::Ready {
            can_run.push(thread);
        }
        if status != Status::Ready || state.preemptions > 0 {
            let is_ready = |other: &usize| *other != thread && state.statuses[*other] == Status::Ready;
            can_run.extend((0..state.statuses.len()).filter(is_ready));
        }
        if can_run.is_empty() && status == Status::Spinning && state.looks < 2 {
            // What it waits for may have come while it looked elsewhere.
            state.looks += 1;
            can_run.push(thread);
        } else {
            state.looks = 0;
        }
        if can_run.is_empty() && state.statuses.iter().any(|status| *status != Status::Done) {
            state.is_stuck = true;
            self.cancellation.cancel();
            let is_left = |status: &Status| *status != Status::Done;
            can_run.extend((0..state.statuses.len()).filter(|other| is_left(&state.statuses[*other])));
            state.statuses.iter_mut().filter(|status| is_left(status)).for_each(|status| *status = Status::Ready);
        }
        if !can_run.is_empty() {
            let next = can_run[if state.is_stuck { 0 } else { state.decide(can_run.len()) }];
            state.preemptions -= usize::from(status == Status::Ready && next != thread && !state.is_stuck);
            state.running = next;
            self.turns[next].notify_one();
        }
        if status != Status::Done {
            self.wait(guard, thread);
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
        self.scheduler.state().decide(bound)
    }

    fn spin(&self) {
        self.scheduler.switch(self.number, Status::Spinning);
    }

    fn blocking(&self) -> Option<&dyn Blocking> {
        Some(self)
    }
}

impl Blocking for Thread {
    fn block(&self, place: Place) {
        self.scheduler.switch(self.number, Status::Blocked(place));
    }

    fn wake(&self, place: Place, _wake: Wake) {
        let mut state = self.scheduler.state();
        let here = state.statuses.iter_mut().filter(|status| **status == Status::Blocked(place));
        // Those who block look again.
        here.for_each(|status| *status = Status::Ready);
    }
}

/// Runs threads in all orders with at most so many preemptions, and all choices that they make, until `is_over` says so,
/// and returns how many runs there were. `is_over` is asked after each run whether that one was the last.
///
/// # Panics
/// If a run is stuck, or there are more than `most`.
pub(super) fn explore<T: Sync>(
    preemptions: usize,
    most: usize,
    make: impl Fn() -> T,
    threads: usize,
    body: &(dyn Fn(&T, usize) + Sync),
    mut is_over: impl FnMut(&T) -> bool,
) -> usize {
    let (mut prefix, mut runs) = (Vec::new(), 0);
    loop {
        let object = make();
        let decisions = run(prefix, preemptions, threads, &|number| body(&object, number));
        runs += 1;
        if is_over(&object) {
            return runs;
        }
        let Some(last) = decisions.iter().rposition(|decision| decision.chosen + 1 < decision.of) else {
            return runs;
        };
        assert!(runs < most, "more than {most} runs");
        prefix = decisions[..last].iter().map(|decision| decision.chosen).collect();
        prefix.push(decisions[last].chosen + 1);
    }
}

fn run(prefix: Vec<usize>, preemptions: usize, threads: usize, body: &(dyn Fn(usize) + Sync)) -> Vec<Decision> {
    let statuses = vec![Status::Ready; threads];
    let mut state =
        State { prefix, decisions: Vec::new(), statuses, running: 0, preemptions, looks: 0, is_stuck: false };
    state.running = state.decide(threads);
    let scheduler = Arc::new(Scheduler {
        state: Mutex::new(state),
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
                // A panic is one of the object; the others must not wait for this thread.
                let ended = catch_unwind(AssertUnwindSafe(|| catch_cancelled(|| body(number))));
                drop((inside, cancellable));
                scheduler.switch(number, Status::Done);
                ended.expect("no thread panics").ok();
            });
        }
    });
    let state = scheduler.state();
    assert!(!state.is_stuck, "stuck after {:?}", state.decisions);
    state.decisions.clone()
}

#[test]
fn all_orders_are_tried() {
    use std::collections::BTreeSet;
    use trueline::primitives::{AtomicU64, Ordering::SeqCst, choose};

    // Two threads that read a number and add to it, once each: an update is lost if one comes between the other's.
    for (preemptions, expected) in [(0, vec![11, 21]), (1, vec![1, 10, 11, 20, 21])] {
        let mut seen = BTreeSet::new();
        explore(
            preemptions,
            1000,
            || AtomicU64::new(0),
            2,
            &|number: &AtomicU64, me| {
                let add = if me == 0 { 1 } else { 10 * (1 + choose(2) as u64) };
                let before = number.load(SeqCst);
                number.store(before + add, SeqCst);
            },
            |number| {
                seen.insert(number.load(SeqCst));
                false
            },
        );
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected, "with {preemptions} preemptions");
    }
}

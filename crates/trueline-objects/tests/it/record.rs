//! Runs an object under several threads, and records what they saw.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use trueline::drive::Random;
use trueline::history::{History, Interval, from_intervals};
use trueline::primitives::{Cancellation, Chaos, World, catch_cancelled, enter, point};

/// How an object is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) threads: u32,
    /// By each thread.
    pub(crate) operations: u32,
    /// At one in how many schedule points a thread gives way; 0 for never.
    pub(crate) chaos: u32,
}

pub(crate) struct Recorded<Op, Ret> {
    pub(crate) history: History<Op, Ret>,
    /// Whether nobody could go on, so that operations are pending.
    pub(crate) stuck: bool,
}

/// Whether anybody gets anywhere.
struct Progress {
    /// How many operations have returned.
    returned: AtomicU64,
    /// For each thread, 1 more than what `returned` was while it had many schedule points in vain.
    in_vain: Vec<AtomicU64>,
}

/// `in_vain` of a thread that is done.
const DONE: u64 = u64::MAX;
/// How many schedule points without any operation returning are in vain: many times what an operation takes.
const IN_VAIN: u32 = 20_000;

/// Chaos that notices when all threads are stuck, by what they do and not by the time, and ends them.
struct Watched {
    chaos: Chaos,
    thread: usize,
    progress: Arc<Progress>,
    cancellation: Cancellation,
    seen: Cell<u64>,
    points: Cell<u32>,
}

impl World for Watched {
    fn point(&self) {
        let returned = self.progress.returned.load(Ordering::SeqCst);
        if self.seen.replace(returned) != returned {
            self.points.set(0);
        }
        self.points.set(self.points.get() + 1);
        if self.points.get() % IN_VAIN == 0 {
            self.progress.in_vain[self.thread].store(returned + 1, Ordering::SeqCst);
            let is_stuck = |in_vain: &AtomicU64| [DONE, returned + 1].contains(&in_vain.load(Ordering::SeqCst));
            if self.progress.in_vain.iter().all(is_stuck) {
                self.cancellation.cancel();
            }
        }
        self.chaos.point();
    }

    fn choose(&self, bound: usize) -> usize {
        self.chaos.choose(bound)
    }

    fn spin(&self) {
        self.chaos.spin();
    }
}

/// Runs `object`: each thread calls the operations that `next` makes up, by `call`.
///
/// The clock is a shared counter. It orders memory, and hides faults that are of memory alone.
pub(crate) fn record<O: Sync, Op: Send, Ret: Send>(
    object: &O,
    shape: Shape,
    seed: u64,
    next: impl Fn(&mut Random, u32) -> Op + Sync,
    call: impl Fn(&O, usize, &Op) -> Ret + Sync,
) -> Recorded<Op, Ret> {
    let clock = AtomicI64::new(0);
    let start = Barrier::new(shape.threads as usize);
    let cancellation = Cancellation::new();
    let in_vain = (0..shape.threads).map(|_| AtomicU64::new(0)).collect();
    let progress = Arc::new(Progress { returned: AtomicU64::new(0), in_vain });
    let run = &|thread: u32| {
        let world = Watched {
            chaos: Chaos::new(shape.chaos, seed, thread),
            thread: thread as usize,
            progress: Arc::clone(&progress),
            cancellation: cancellation.clone(),
            seen: Cell::new(0),
            points: Cell::new(0),
        };
        let _inside = enter(Rc::new(world));
        let _cancellable = cancellation.enter();
        let mut random = Random::new(seed.wrapping_mul(1000).wrapping_add(u64::from(thread)));
        let mut log = Vec::with_capacity(shape.operations as usize);
        start.wait();
        for _ in 0..shape.operations {
            let op = next(&mut random, thread);
            let called = clock.fetch_add(1, Ordering::SeqCst);
            let result = catch_cancelled(|| {
                point();
                let result = call(object, thread as usize, &op);
                point();
                result
            });
            match result {
                Ok(result) => {
                    let returned = clock.fetch_add(1, Ordering::SeqCst);
                    log.push(Interval::returned(thread, op, called, returned, result));
                    progress.returned.fetch_add(1, Ordering::SeqCst);
                }
                Err(_) => {
                    log.push(Interval::pending(thread, op, called));
                    break;
                }
            }
        }
        progress.in_vain[thread as usize].store(DONE, Ordering::SeqCst);
        log
    };
    let log: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..shape.threads).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no operation panics")).collect()
    });
    Recorded {
        history: from_intervals(log).expect("the recorder records what is well formed"),
        stuck: cancellation.is_cancelled(),
    }
}

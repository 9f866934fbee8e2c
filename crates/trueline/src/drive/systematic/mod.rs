//! Exploring the schedules of small programs, one task at a time.
//!
//! Where [`Runner`](super::Runner) makes runs under real threads and hopes, this makes all there are: each thread of a
//! [`Program`] is a coroutine that stops before each access to a primitive, and it is decided who goes on. So histories
//! that need a thread to stop in a window of two instructions are found with certainty, and a fault that was found is
//! found again, by the name of its [`Schedule`].
//!
//! - **What is explored** ([`Search`]): one execution of each class of equivalent ones, which is exhaustive; all with so
//!   many preemptions; all serial ones; or as many as there is time for, at random.
//! - **What stops a task**: the accesses of [`primitives`](crate::primitives), and a bare point before each call. A call
//!   and a return happen at the transition that they are in, so that the number of an event is a sound clock.
//! - **Random choices** of the object, by [`choose`](crate::primitives::choose), are explored like schedules, or drawn.
//! - **Whoever spins** goes on when another has changed what it has read. When nobody else can go on, it is let look again
//!   a number of times, as it may give up.
//! - **Stuck** is exact: no task can go on. The tasks are then unwound, and exploration continues.
//! - **Each history once**: of histories that differ in the order of neighbouring calls, or of neighbouring returns, only
//!   one is judged. No checker, and no specification, can tell them apart.
//!
//! Objects must be deterministic, and share only what is on primitives, or behind locks of theirs. A thread that blocks by
//! other means, such as a mutex of `std` that is held at a schedule point, blocks the exploration, which its [`Pulse`]
//! shows. All accesses are
//! sequentially consistent, whatever their orderings, and a weak compare-and-exchange fails only for a reason.
//!
//! ```
//! use std::sync::Arc;
//! use trueline::drive::systematic::{Program, Settings, explore};
//! use trueline::drive::{Behaviour, Call, Clock, Handle, Instance, Kind, Timed};
//! use trueline::history::Value;
//! use trueline::primitives::{AtomicU64, Ordering::SeqCst};
//!
//! /// Two threads may draw the same number.
//! #[derive(Clone, Default)]
//! struct Tickets(Arc<AtomicU64>);
//!
//! impl Instance for Tickets {
//!     fn handle(&self, _thread: u32) -> Box<dyn Handle> {
//!         Box::new(self.clone())
//!     }
//! }
//!
//! impl Handle for Tickets {
//!     fn call(&mut self, _call: &Call, clock: Clock) -> Timed {
//!         Timed::measure(clock, || {
//!             let number = self.0.load(SeqCst);
//!             self.0.store(number + 1, SeqCst);
//!             number
//!         })
//!     }
//! }
//!
//! let draw = Call { operation: 0, argument: Value::Null };
//! let program = Program {
//!     make: Arc::new(|| Arc::new(Tickets::default())),
//!     kinds: Arc::from([Kind::new("draw", |_| Value::Null)]),
//!     threads: vec![Behaviour::Calls(vec![draw]); 2],
//!     before: Vec::new(),
//!     after: Vec::new(),
//!     operations: 1,
//!     seed: 0,
//! };
//! let is_fine = |execution: &trueline::drive::systematic::Execution| {
//!     let results: Vec<_> = execution.history.operations().iter().map(|draw| draw.outcome.result()).collect();
//!     results[0] != results[1]
//! };
//! let report = explore(&program, &Settings::default(), Arc::new(is_fine));
//! assert_eq!(report.wrong.len(), 1);
//! ```

mod controller;
mod depth_first;
mod engine;
mod jobs;
mod mixed;
mod pulse;
mod random;
mod reduced;
mod schedule;
mod strategy;
mod trace;

use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use controller::{Controller, Ending, Event, Happened, Raw, Rules};
use depth_first::DepthFirst;
use jobs::{Job, Jobs};
use mixed::Mixed;
use random::{Pct, Replay, Uniform};
use reduced::Reduced;
use strategy::Strategy;

pub use pulse::{Doing, Monitor, Pulse};
pub use schedule::Schedule;
pub use trace::Step;

use super::{Behaviour, Call, Instance, Kind};
use crate::history::{History, Value};

/// What an exploration says that is led astray.
const NOT_DETERMINISTIC: &str = "the object is not deterministic: with the same schedule it did something else; it must \
     make random choices by `primitives::choose`, and depend on no time, address or hash seed";

/// What is explored: an object, and what is called.
#[derive(Clone)]
pub struct Program {
    /// Makes the object.
    pub make: Arc<dyn Fn() -> Arc<dyn Instance> + Send + Sync>,
    /// The operations.
    pub kinds: Arc<[Kind]>,
    /// What each thread does; there are at most 64.
    pub threads: Vec<Behaviour>,
    /// What is called before the threads start, by a process of its own.
    pub before: Vec<Call>,
    /// What is called when they are done, by the same process.
    pub after: Vec<Call>,
    /// How many operations a thread that chooses is asked for.
    pub operations: u32,
    /// The seed of what threads that choose draw.
    pub seed: u64,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { make: _, kinds: _, threads, before, after, operations, seed } = self;
        f.debug_struct("Program")
            .field("threads", threads)
            .field("before", before)
            .field("after", after)
            .field("operations", operations)
            .field("seed", seed)
            .finish_non_exhaustive()
    }
}

/// Which schedules are explored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Search {
    /// One of each class of schedules that differ only in the order of what does not depend on each other: exhaustive.
    #[default]
    Exhaustive,
    /// All of them, one by one. It is there to be compared with.
    Unreduced,
    /// All with at most so many preemptions: switches away from a thread that could go on, in the middle of an operation.
    Preemptions(u32),
    /// All in which no operation begins while another is under way. One that cannot go on alone is stuck.
    Serial,
    /// At random, as probabilistic concurrency testing does for faults of this depth, until the time is over.
    Pct {
        /// How many orderings a fault may need.
        depth: u32,
    },
    /// At random, all about as likely, until the time is over.
    Uniform,
    /// This one.
    Replay(Schedule),
}

impl Search {
    fn is_random(&self) -> bool {
        matches!(self, Self::Pct { .. } | Self::Uniform)
    }
}

/// How far an exploration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// How many executions were made.
    pub executions: u64,
    /// How many histories were seen.
    pub histories: u64,
    /// Since when.
    pub elapsed: Duration,
}

/// Is told how far an exploration is.
pub type Watch = Arc<dyn Fn(Progress) + Send + Sync>;

/// Tells whether an exploration shall end.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// How a program is explored.
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    /// Which schedules.
    pub search: Search,
    /// The seed of the object's random choices; if there is none, they are explored.
    pub choices: Option<u64>,
    /// How often each thread may wake from a condition variable for nothing.
    pub spurious: u32,
    /// How many steps an execution may take. One that takes more has diverged.
    pub most_steps: u64,
    /// How many threads of the operating system explore. With more than one, it is chance what is found first.
    pub os_threads: u32,
    /// How long it may take.
    pub time: Option<Duration>,
    /// How many executions there may be.
    pub executions: Option<u64>,
    /// The seed of a random search.
    pub seed: u64,
    /// Makes one in this many executions at random, as [`Search::Pct`] does, besides those of the search; 0 for none.
    pub random_one_in: u32,
    /// How many wrong executions end it.
    pub collect: usize,
    /// Is told how far it is, now and then.
    pub watch: Option<Watch>,
    /// Is asked before each execution whether to end.
    pub stop: Option<Stop>,
    /// Shows another thread whether it gets anywhere, by a [`Monitor`].
    pub pulse: Option<Arc<Pulse>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            search: Search::default(),
            choices: None,
            spurious: 0,
            most_steps: 10_000,
            os_threads: 1,
            time: None,
            executions: None,
            seed: 0,
            random_one_in: 0,
            collect: 1,
            watch: None,
            stop: None,
            pulse: None,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { search, choices, spurious, most_steps, os_threads, time, executions, seed, .. } = self;
        let Self { random_one_in, collect, .. } = self;
        f.debug_struct("Settings")
            .field("search", search)
            .field("choices", choices)
            .field("spurious", spurious)
            .field("most_steps", most_steps)
            .field("os_threads", os_threads)
            .field("time", time)
            .field("executions", executions)
            .field("seed", seed)
            .field("random_one_in", random_one_in)
            .field("collect", collect)
            .finish_non_exhaustive()
    }
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ended {
    /// All threads did what they should.
    Complete,
    /// No thread could go on.
    Stuck,
    /// There was no end.
    Diverged,
    /// The object panicked.
    Panicked {
        /// In this thread.
        thread: u32,
        /// With this message.
        message: String,
    },
}

/// An execution, and what was seen of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Execution {
    /// What happened.
    pub history: History<Call, Value>,
    /// How it ended.
    pub ended: Ended,
    /// Its schedule, by which it is made again.
    pub schedule: Schedule,
    /// How many preemptions there were.
    pub preemptions: u32,
    /// How many random choices the object made, by [`choose`](crate::primitives::choose).
    pub choices: u32,
    /// Whether it made some of them in the second half of its steps: one that tries again by random choices does.
    pub chooses_late: bool,
    /// All steps, if they were asked for.
    pub steps: Vec<Step>,
}

impl Execution {
    fn new(raw: &Raw<'_>, kinds: &[Kind]) -> Self {
        let mut builder = History::builder();
        for Event { process, what } in raw.events {
            let added = match what {
                Happened::Called(call) => builder.call(*process, call.clone()).map(drop),
                Happened::Returned(value) => builder.ret(*process, value.clone()).map(drop),
            };
            added.expect("threads call one operation at a time");
        }
        let ended = match raw.ending {
            Ending::Complete | Ending::Redundant => Ended::Complete,
            Ending::Stuck => Ended::Stuck,
            Ending::Diverged => Ended::Diverged,
            Ending::Panicked { thread, message } => {
                Ended::Panicked { thread: u32::try_from(*thread).expect("few threads"), message: message.clone() }
            }
        };
        Self {
            history: builder.finish(),
            ended,
            schedule: raw.schedule.clone(),
            preemptions: raw.preemptions,
            choices: raw.choices,
            chooses_late: raw.chooses_late,
            steps: trace::steps(raw.trace, raw.events, kinds),
        }
    }
}

/// What an exploration found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// How many executions were made, also those that were cut off.
    pub executions: u64,
    /// How many of them were cut off, because an equivalent one is explored elsewhere.
    pub redundant: u64,
    /// How many had no end.
    pub diverged: u64,
    /// How many different histories were seen.
    pub histories: u64,
    /// How many operations were called in all of them.
    pub operations: u64,
    /// By operation: whether it reached a schedule point, and could be interrupted there.
    pub reached: Vec<bool>,
    /// Whether nothing is left to be explored.
    pub is_complete: bool,
    /// The executions that were wrong.
    pub wrong: Vec<Execution>,
    /// How long it took.
    pub elapsed: Duration,
}

/// Says whether an execution is right; of each history one is asked about.
pub type Judge = Arc<dyn Fn(&Execution) -> bool + Send + Sync>;

/// Explores a program, and judges each history once.
///
/// The same program and settings give the same report, but for its times, with one thread of the operating system and
/// without a limit on time. The judge is called in a world where accesses are no schedule points.
///
/// # Panics
/// If the object is not deterministic, or the program has more than 64 threads.
pub fn explore(program: &Program, settings: &Settings, judge: Judge) -> Report {
    let shared = Arc::new(Shared {
        program: program.clone(),
        settings: settings.clone(),
        judge,
        started: Instant::now(),
        jobs: Jobs::new(Job::default()),
        executions: AtomicU64::new(0),
        redundant: AtomicU64::new(0),
        diverged: AtomicU64::new(0),
        operations: AtomicU64::new(0),
        histories: Mutex::default(),
        wrong: Mutex::default(),
        reached: program.kinds.iter().map(|_| AtomicBool::new(false)).collect(),
        is_cut_off: AtomicBool::new(false),
    });
    let workers = if settings.search.is_random() || matches!(settings.search, Search::Replay(_)) {
        1
    } else {
        settings.os_threads.max(1)
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(|| shared.work())).collect();
        shared.work();
        for other in others {
            if let Err(payload) = other.join() {
                std::panic::resume_unwind(payload);
            }
        }
    });
    let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let mut wrong = std::mem::take(&mut *lock(&shared.wrong));
    wrong.truncate(settings.collect.max(1));
    let histories = shared.count();
    Report {
        executions: load(&shared.executions),
        redundant: load(&shared.redundant),
        diverged: load(&shared.diverged),
        histories,
        operations: load(&shared.operations),
        reached: shared.reached.iter().map(|reached| reached.load(Ordering::Relaxed)).collect(),
        is_complete: !shared.is_cut_off.load(Ordering::Relaxed) && !settings.search.is_random(),
        wrong,
        elapsed: shared.started.elapsed(),
    }
}

/// Makes one execution again, and writes down all its steps.
///
/// # Panics
/// If the program has more than 64 threads.
pub fn replay(program: &Program, settings: &Settings, schedule: &Schedule) -> Execution {
    let rules = Rules { traces: true, ..rules(settings) };
    let beat = settings.pulse.as_ref().map(|pulse| pulse.start());
    let controller = Controller::new(program.clone(), rules, Box::new(Replay::new(schedule.clone())), beat);
    let seen = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&seen);
    engine::run(
        controller,
        Box::new(move |controller| {
            let execution = controller.execute(&engine::switch, |raw| Execution::new(raw, &controller.program.kinds));
            *lock(&slot) = Some(execution);
            ControlFlow::Break(())
        }),
    );
    let execution = lock(&seen).take();
    execution.expect("a replay is one execution")
}

fn rules(settings: &Settings) -> Rules {
    Rules {
        most_steps: settings.most_steps,
        spurious: settings.spurious,
        serial: settings.search == Search::Serial,
        choices: settings.choices,
        traces: false,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many orderings a fault may need that is met by executions at random besides those of a search.
const RANDOM_DEPTH: u32 = 3;

/// Histories that are remembered, by how they ended.
type Known = [HashSet<Box<[Event]>>; 4];

/// What all threads that explore share.
struct Shared {
    program: Program,
    settings: Settings,
    judge: Judge,
    started: Instant,
    jobs: Jobs,
    executions: AtomicU64,
    redundant: AtomicU64,
    diverged: AtomicU64,
    operations: AtomicU64,
    histories: Mutex<Known>,
    wrong: Mutex<Vec<Execution>>,
    /// By operation: whether it reached a schedule point.
    reached: Vec<AtomicBool>,
    /// Whether something was left out.
    is_cut_off: AtomicBool,
}

/// After how many executions it is looked what time it is, and who has nothing to do.
const LOOKS: u64 = 32;

impl Shared {
    fn work(self: &Arc<Self>) {
        // A thread that panics must not leave the others waiting.
        struct Ends<'s>(&'s Jobs);
        impl Drop for Ends<'_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.end();
                }
            }
        }
        let _ends = Ends(&self.jobs);
        while let Some(job) = self.jobs.take() {
            let beat = self.settings.pulse.as_ref().map(|pulse| pulse.start());
            let (rules, strategy) = (rules(&self.settings), self.strategy(job));
            let controller = Controller::new(self.program.clone(), rules, strategy, beat.clone());
            let shared = Arc::clone(self);
            let mut known = Known::default();
            let mut key: Vec<Event> = Vec::new();
            let mut count = 0;
            engine::run(
                controller,
                Box::new(move |controller| {
                    if shared.jobs.is_over() || shared.is_enough() {
                        return ControlFlow::Break(());
                    }
                    let new = controller.execute(&engine::switch, |raw| shared.look(raw, &mut key, &mut known));
                    if let Some(execution) = new {
                        if let Some(beat) = &beat {
                            beat.judging();
                        }
                        shared.judge(execution);
                        shared.note_reached(controller);
                    }
                    count += 1;
                    if count % LOOKS == 0 {
                        shared.look_around(controller);
                    }
                    ControlFlow::Continue(())
                }),
            );
            self.jobs.done();
        }
        self.tell();
    }

    fn note_reached(&self, controller: &Controller) {
        controller.reached().for_each(|operation| self.reached[operation].store(true, Ordering::Relaxed));
    }

    fn strategy(&self, job: Job) -> Box<dyn Strategy> {
        let (tasks, seed) = (self.program.threads.len(), self.settings.seed);
        let search: Box<dyn Strategy> = match &self.settings.search {
            Search::Exhaustive => Box::new(Reduced::new(tasks, job)),
            Search::Unreduced => Box::new(DepthFirst::new(None, job)),
            Search::Preemptions(most) => Box::new(DepthFirst::new(Some(*most), job)),
            Search::Serial => return Box::new(DepthFirst::new(None, job)),
            Search::Pct { depth } => return Box::new(Pct::new(tasks, *depth, seed)),
            Search::Uniform => return Box::new(Uniform::new(tasks, seed)),
            Search::Replay(schedule) => return Box::new(Replay::new(schedule.clone())),
        };
        match self.settings.random_one_in {
            0 => search,
            one_in => Box::new(Mixed::new(search, Box::new(Pct::new(tasks, RANDOM_DEPTH, seed)), one_in)),
        }
    }

    fn is_enough(&self) -> bool {
        let is_enough = self.settings.executions.is_some_and(|most| self.executions.load(Ordering::Relaxed) >= most)
            || self.settings.stop.as_ref().is_some_and(|stop| stop());
        if is_enough {
            self.cut_off();
        }
        is_enough
    }

    fn cut_off(&self) {
        self.is_cut_off.store(true, Ordering::Relaxed);
        self.jobs.end();
    }

    fn look_around(&self, controller: &Controller) {
        if self.settings.time.is_some_and(|time| self.started.elapsed() >= time) {
            self.cut_off();
        }
        if self.jobs.are_wanted() {
            if let Some(job) = controller.donate() {
                self.jobs.give(job);
            }
        }
        if self.executions.load(Ordering::Relaxed) % 1024 < LOOKS {
            self.tell();
        }
    }

    /// How many histories there are.
    fn count(&self) -> u64 {
        lock(&self.histories).iter().map(|histories| histories.len() as u64).sum()
    }

    fn tell(&self) {
        if let Some(watch) = &self.settings.watch {
            watch(Progress {
                executions: self.executions.load(Ordering::Relaxed),
                histories: self.count(),
                elapsed: self.started.elapsed(),
            });
        }
    }

    /// The execution, if its history is new.
    fn look(&self, raw: &Raw<'_>, key: &mut Vec<Event>, known: &mut Known) -> Option<Execution> {
        self.executions.fetch_add(1, Ordering::Relaxed);
        let ending = match raw.ending {
            Ending::Redundant => {
                self.redundant.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            Ending::Complete => 0,
            Ending::Stuck => 1,
            Ending::Diverged => {
                self.diverged.fetch_add(1, Ordering::Relaxed);
                self.is_cut_off.store(true, Ordering::Relaxed);
                2
            }
            Ending::Panicked { .. } => 3,
        };
        self.operations.fetch_add(raw.events.len() as u64 / 2, Ordering::Relaxed);
        key.clear();
        key.extend_from_slice(raw.events);
        in_order(key);
        // Each thread asks itself first.
        if known[ending].contains(&key[..]) {
            return None;
        }
        known[ending].insert(key[..].into());
        lock(&self.histories)[ending].insert(key[..].into()).then(|| Execution::new(raw, &self.program.kinds))
    }

    fn judge(&self, execution: Execution) {
        if !(self.judge)(&execution) {
            let mut wrong = lock(&self.wrong);
            wrong.push(execution);
            if wrong.len() >= self.settings.collect.max(1) {
                drop(wrong);
                self.cut_off();
            }
        }
    }
}

/// Puts neighbouring calls in the order of their processes, and neighbouring returns: no criterion tells them apart.
fn in_order(events: &mut [Event]) {
    let is_call = |event: &Event| matches!(event.what, Happened::Called(_));
    for run in events.chunk_by_mut(|first, second| is_call(first) == is_call(second)) {
        run.sort_by_key(|event| event.process);
    }
}

//! Systematically explores the schedules of small programs, one task at a time.
//!
//! [`Runner`](super::Runner) runs a program on real threads, which interleave at random; this module can explore all
//! possible interleavings. Each thread of a [`Program`] is a *task*: a coroutine that stops before each access to a
//! primitive. At each stop, a strategy decides which task runs next. So histories that need a thread to stop between
//! two particular instructions are found with certainty, and a fault can be reproduced by the name of its [`Schedule`].
//!
//! - **Executions** ([`Search`]): an exhaustive search runs one execution of each class of equivalent executions. Other
//!   searches run all executions with a bounded number of preemptions, all serial executions, or as many random
//!   executions as time permits.
//! - **Where a task stops**: before the accesses of [`primitives`](crate::primitives), and before
//!   each call. Each call and each return happens between two stops of its task, so the position of
//!   an event is a sound time stamp.
//! - **Random choices** of the object, made with [`choose`](crate::primitives::choose), are explored like schedules, or
//!   drawn from a seed.
//! - **A task that spins** continues when another task has changed something that the spinning task has read. When no
//!   other task can run, the spinning task may check again a limited number of times, because it may give up.
//! - **Stuck** means that no task can run, not just that no task has run for some time. The tasks are then unwound, and
//!   the exploration continues.
//! - **Each history is judged once**: if histories differ only in the order of adjacent calls, or
//!   of adjacent returns, only one of them is judged. No checker and no specification can
//!   distinguish such histories.
//!
//! Objects must be deterministic, and share data only through primitives or under their locks. A thread that blocks by
//! other means, such as a `std` mutex that is held at a schedule point, blocks the exploration; its [`Pulse`] shows
//! this. All accesses are sequentially consistent, whatever their orderings, and a weak compare-and-exchange never
//! fails spuriously.
//!
//! ```
//! use std::sync::Arc;
//! use trueline::drive::systematic::{Program, Settings, explore};
//! use trueline::drive::{Behavior, Call, Clock, Handle, Instance, Kind, Timed};
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
//!     threads: vec![Behavior::Calls(vec![draw]); 2],
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

use super::{Behavior, Call, Instance, Kind};
use crate::history::{History, Value};

/// The panic message for an object whose executions are not reproducible.
const NOT_DETERMINISTIC: &str = "the object is not deterministic: it behaved differently under the same schedule; it \
    must make random choices with `primitives::choose`, and must not depend on time, addresses or hash seeds";

/// The program to explore: an object, and the calls of each thread.
#[derive(Clone)]
pub struct Program {
    /// Creates the object.
    pub make: Arc<dyn Fn() -> Arc<dyn Instance> + Send + Sync>,
    /// The operations.
    pub kinds: Arc<[Kind]>,
    /// The behavior of each thread; at most 63 threads.
    pub threads: Vec<Behavior>,
    /// The calls that a separate process makes before the threads start.
    pub before: Vec<Call>,
    /// The calls that the process of `before` makes after the threads are done.
    pub after: Vec<Call>,
    /// For threads that choose their calls: the number of calls that each of them is asked to make.
    pub operations: u32,
    /// The seed for threads that choose their calls.
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

/// The schedules to explore.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Search {
    /// Exhaustive: one schedule of each class of schedules that differ only in the order of independent transitions.
    #[default]
    Exhaustive,
    /// All schedules, one by one, for comparison.
    Unreduced,
    /// All schedules with at most this many preemptions. A preemption is a switch away from a
    /// thread that is in the middle of an operation and could continue.
    Preemptions(u32),
    /// All schedules in which no operation begins while another is under way. An operation that cannot finish while all
    /// other threads are stopped counts as stuck.
    Serial,
    /// Random schedules, generated by probabilistic concurrency testing for faults of depth `depth`, until a limit is
    /// reached.
    Pct {
        /// The number of ordering constraints that a fault may need.
        depth: u32,
    },
    /// Random schedules, each about equally likely, until a limit is reached.
    Uniform,
    /// The given schedule.
    #[doc(hidden)]
    Replay(Schedule),
}

impl Search {
    fn is_random(&self) -> bool {
        matches!(self, Self::Pct { .. } | Self::Uniform)
    }
}

/// The progress of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The number of executions so far.
    pub executions: u64,
    /// The number of different histories so far.
    pub histories: u64,
    /// The time since the start.
    pub elapsed: Duration,
}

/// A function that is called with the progress of an exploration.
pub type Watch = Arc<dyn Fn(Progress) + Send + Sync>;

/// A function that returns whether to end an exploration.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// Options for exploring a program.
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The schedules to explore.
    pub search: Search,
    /// The seed of the object's random choices; `None` to explore them.
    pub choices: Option<u64>,
    /// The maximum number of spurious wake-ups of each thread from condition variables.
    pub spurious: u32,
    /// The maximum number of steps of an execution. An execution that takes more steps has diverged.
    pub most_steps: u64,
    /// The number of operating system threads that explore. With more than one thread, the failure that is found first
    /// depends on timing.
    pub os_threads: u32,
    /// The time limit.
    pub time: Option<Duration>,
    /// The maximum number of executions.
    pub executions: Option<u64>,
    /// The seed of a random search.
    pub seed: u64,
    /// One in this many executions is random, as with [`Search::Pct`]. These executions are in
    /// addition to those of the search. 0 disables random executions.
    pub random_one_in: u32,
    /// The exploration ends after this number of failing executions.
    pub collect: usize,
    /// Called from time to time with the progress.
    pub watch: Option<Watch>,
    /// Called before each execution; the exploration ends if it returns true.
    pub stop: Option<Stop>,
    /// Heartbeats by which another thread can watch the exploration, with a [`Monitor`].
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
#[non_exhaustive]
pub enum Ended {
    /// All threads finished.
    Complete,
    /// No thread could continue.
    Stuck,
    /// The execution did not terminate within the maximum number of steps.
    Diverged,
    /// The object panicked.
    Panicked {
        /// The thread that panicked.
        thread: u32,
        /// The panic message.
        message: String,
    },
}

/// An execution and its observations.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Execution {
    /// The history.
    pub history: History<Call, Value>,
    /// How the execution ended.
    pub ended: Ended,
    /// The schedule, which reproduces the execution.
    pub schedule: Schedule,
    /// The number of preemptions.
    pub preemptions: u32,
    /// The number of random choices that the object made with [`choose`](crate::primitives::choose).
    pub choices: u32,
    /// Whether the object made a random choice in the second half of the steps. For example, an operation that retries
    /// with random choices does this.
    pub chooses_late: bool,
    /// All steps, if [`replay`] ran the execution; otherwise empty.
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
            added.expect("each thread calls one operation at a time");
        }
        let ended = match raw.ending {
            Ending::Complete | Ending::Redundant => Ended::Complete,
            Ending::Stuck => Ended::Stuck,
            Ending::Diverged => Ended::Diverged,
            Ending::Panicked { thread, message } => Ended::Panicked {
                thread: u32::try_from(*thread).expect("the number of threads fits in 32 bits"),
                message: message.clone(),
            },
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

/// The result of an exploration.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The number of executions, including those that were cut off.
    pub executions: u64,
    /// The number of executions that were cut off because an equivalent one is explored elsewhere.
    pub redundant: u64,
    /// The number of executions that did not terminate within the maximum number of steps.
    pub diverged: u64,
    /// The number of different histories.
    pub histories: u64,
    /// The number of operations in all executions that were not cut off; a pending operation counts
    /// as half an operation.
    pub operations: u64,
    /// For each operation, whether it reached a schedule point, where it could be interrupted.
    pub reached: Vec<bool>,
    /// Whether nothing is left to explore.
    pub is_complete: bool,
    /// The executions that the judge rejected.
    pub wrong: Vec<Execution>,
    /// The time that the exploration took.
    pub elapsed: Duration,
}

/// A function that returns whether an execution is correct. If several executions have the same
/// history, the function is called for only one of them.
pub type Judge = Arc<dyn Fn(&Execution) -> bool + Send + Sync>;

/// Explores a program, and judges each history once.
///
/// With one operating system thread and without a time limit, the same program and settings give the same report,
/// except for its times. While the judge runs, accesses to primitives are not schedule points.
///
/// # Panics
/// Panics if the object is not deterministic, or if the program has more than 63 threads.
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
    // Random searches are not split into jobs. Static variables of instrumented crates have the values of only one
    // execution at a time. In both cases, only one thread explores.
    let is_alone = settings.search.is_random() || trueline_sync::is_instrumented();
    let workers = if is_alone || matches!(settings.search, Search::Replay(_)) { 1 } else { settings.os_threads.max(1) };
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

/// Repeats one execution, and records all its steps.
///
/// # Panics
/// Panics if the program has more than 63 threads.
pub fn replay(program: &Program, settings: &Settings, schedule: &Schedule) -> Execution {
    let rules = Rules { traces: true, ..rules(settings) };
    let beat = settings.pulse.as_ref().map(|pulse| pulse.start());
    let controller = Controller::new(program.clone(), rules, Box::new(Replay::new(schedule.clone())), beat);
    let mut execution = None;
    engine::run(controller, |controller| {
        let seen = controller.execute(&engine::switch, |raw| Execution::new(raw, &controller.program.kinds));
        execution = Some(seen);
        ControlFlow::Break(())
    });
    execution.expect("a replay runs one execution")
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

/// The depth of the faults that the additional random executions of a search can find. The depth of
/// a fault is the number of ordering constraints that it needs.
const RANDOM_DEPTH: u32 = 3;

/// The histories seen so far, with a separate set for each way in which an execution can end.
type Known = [HashSet<Box<[Event]>>; 4];

/// Data that all exploring threads share.
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
    /// For each operation, whether it reached a schedule point.
    reached: Vec<AtomicBool>,
    /// Whether some executions were left out because of a limit.
    is_cut_off: AtomicBool,
}

/// The maximum number of tasks that are abandoned, each with its stack, before an exploration ends.
const MOST_ABANDONED: u64 = 4096;
/// After every `LOOKS` executions, a thread checks the time, and whether another thread needs a job.
const LOOKS: u64 = 32;

impl Shared {
    fn work(self: &Arc<Self>) {
        // Ends the exploration if this thread panics, so that the other threads do not wait for its job forever.
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
            let shared = self;
            let mut known = Known::default();
            let mut key: Vec<Event> = Vec::new();
            let mut count = 0;
            engine::run(controller, |controller| {
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
                if controller.abandoned() > MOST_ABANDONED {
                    shared.cut_off();
                }
                if count % LOOKS == 0 {
                    shared.look_around(controller);
                }
                ControlFlow::Continue(())
            });
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

    /// Returns the number of different histories.
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

    /// Returns the execution, if its history is new.
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
        // Check this thread's own set first, because it can be accessed without a lock.
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

/// Sorts adjacent calls by their processes, and adjacent returns by their processes. This does not
/// change a verdict, because no correctness criterion depends on the order of adjacent calls or of
/// adjacent returns.
fn in_order(events: &mut [Event]) {
    let is_call = |event: &Event| matches!(event.what, Happened::Called(_));
    for run in events.chunk_by_mut(|first, second| is_call(first) == is_call(second)) {
        run.sort_by_key(|event| event.process);
    }
}

//! Runs an object on real threads.
//!
//! Runs are performed in batches, so that waking threads costs little: each thread of the pool goes
//! through all runs of a batch, and the threads wait for each other before each run. Each run has
//! its own object. Each thread writes to its own log ([`raw::log`]); the thread that waits for the
//! pool's threads reads the logs when all of them are done, or when none of them makes progress.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::os_thread::OsThread;
use super::panics;
use super::pool::{Finish, Pool};
use super::raw::{self, Reader, Writer};
use super::recorder::time;
use super::{Behavior, Call, Clock, Kind, Random};
use crate::history::{Argument, Datum, History, Interval, Value, from_logs, visible};
use crate::primitives::{Cancellation, Cancelled, Chaos, DeadlockWatch, edge, enter};

/// An object that can be run, with its types erased.
pub trait Instance: Send + Sync {
    /// Returns the handle by which the thread with this number uses the object. The handle stays on that thread.
    fn handle(&self, thread: u32) -> Box<dyn Handle>;

    /// Releases operations that wait for an event that will never happen.
    fn release(&self) {}
}

/// A thread's handle to an object, with its types erased.
pub trait Handle {
    /// Returns whether the operation may be called now.
    fn is_possible(&mut self, operation: u32) -> bool {
        let _ = operation;
        true
    }

    /// Calls an operation.
    fn call(&mut self, call: &Call, clock: Clock) -> Timed;
}

/// The result of an operation, and the times of its call and its return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timed {
    /// The time of the call.
    pub call: u64,
    /// The time of the return.
    pub ret: u64,
    /// The result.
    pub result: Value,
}

impl Timed {
    /// Executes `body`, and measures the times of its call and its return.
    ///
    /// The schedule points around the body are inside the operation, so that random yields
    /// ([`Chaos`](crate::primitives::Chaos)) make the operation longer.
    #[inline]
    pub fn measure<R: Datum>(clock: Clock, body: impl FnOnce() -> R) -> Self {
        let call = clock.now();
        edge();
        let result = body();
        edge();
        let ret = clock.now();
        Self { call, ret, result: result.to_value() }
    }
}

/// A run to be performed.
pub struct Run {
    /// The object.
    pub instance: Arc<dyn Instance>,
    /// The behavior of each thread.
    pub threads: Vec<Behavior>,
    /// The calls that are made before the threads start. In the history, they belong to a
    /// process of their own.
    pub before: Vec<Call>,
    /// The calls that are made after the threads are done. In the history, they belong to the same
    /// process as the calls in `before`.
    pub after: Vec<Call>,
    /// The number of operations requested from a thread that chooses its calls.
    pub operations: u32,
    /// The seed of all randomness in the run.
    pub seed: u64,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { instance: _, threads, before, after, operations, seed } = self;
        f.debug_struct("Run")
            .field("threads", threads)
            .field("before", before)
            .field("after", after)
            .field("operations", operations)
            .field("seed", seed)
            .finish_non_exhaustive()
    }
}

/// The way in which a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// All threads finished.
    Complete,
    /// Some operations have not returned, either because they are blocked and are allowed to block,
    /// or because the run was ended early: the runs so far already violate the specification.
    Blocked,
    /// No thread made progress for this duration. The duration is zero if it is certain that no
    /// thread can ever make progress.
    Stuck(Duration),
    /// The object panicked.
    Panicked {
        /// The thread that panicked.
        thread: u32,
        /// The panic message.
        message: String,
    },
    /// All threads finished, but code outside of the operations failed.
    Broken {
        /// The code that failed, such as "dropping a handle".
        place: &'static str,
        /// The description of the failure, such as "panicked: out of range".
        how: String,
    },
}

/// The verdict on the runs so far, when the current run makes no progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Look {
    /// One of the runs violates the specification, no matter what happens later.
    IsWrong,
    /// A blocked operation should have returned: it no longer has anything to wait for.
    ShouldGoOn,
    /// The operations that are blocked may wait forever.
    MayWait,
}

/// The observations of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recorded {
    /// The recorded history.
    pub history: History<Call, Value>,
    /// The way in which the run ended.
    pub end: End,
}

/// Options for performing runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The clock.
    pub clock: Clock,
    /// Threads yield at one in `chaos` schedule points; 0 disables yielding.
    pub chaos: u32,
    /// The maximum random delay of each thread after the start of a run, in iterations of a loop.
    pub jitter: u32,
    /// The time without progress after which a run counts as stuck.
    pub watchdog: Duration,
    /// The time without progress after which a run counts as blocked, if all operations that are under way may block.
    pub patience: Duration,
    /// The maximum number of operations of a thread that chooses its calls. If [`Run::operations`]
    /// is larger, [`Run::operations`] is the maximum instead.
    pub most_chosen: usize,
    /// Whether the operations of a run may be woken by threads that do not belong to the run, such
    /// as a thread that the object has started. If `false`, a run is stuck as soon as all its
    /// threads are blocked in [`primitives`](crate::primitives). `None` means `true` if the process
    /// has threads that do not belong to tests, or if it is not known whether it has such threads.
    pub has_helpers: Option<bool>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            clock: Clock::best().clock,
            chaos: 0,
            jitter: 120,
            watchdog: Duration::from_secs(1),
            patience: Duration::from_millis(20),
            most_chosen: 1000,
            has_helpers: None,
        }
    }
}

/// Performs runs with reusable threads.
#[derive(Debug)]
pub struct Runner {
    pool: Pool,
    /// The number of threads that were abandoned.
    lost: u32,
}

/// The time limit for a thread to end after its batch was canceled.
const GRACE: Duration = Duration::from_millis(50);
/// The time limit for a thread to end if it does not get a processor. Also the time limit for
/// [`Instance::release`].
const MOST_GRACE: Duration = Duration::from_secs(2);
/// The time without progress after which the runs so far are judged.
const GLANCE: Duration = Duration::from_millis(5);
/// The interval between checks for progress.
const TICK: Duration = Duration::from_millis(2);

impl Default for Runner {
    fn default() -> Self {
        Self::new()
    }
}

impl Runner {
    /// Creates a runner without threads.
    pub fn new() -> Self {
        Self::with_name("trueline")
    }

    /// Creates a runner whose threads have this name.
    pub(crate) fn with_name(name: &'static str) -> Self {
        Self { pool: Pool::new(name), lost: 0 }
    }

    /// Returns the number of threads that were abandoned. Such threads stay inside the object until
    /// the program ends.
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// Replaces the threads, so that the next runs use new ones.
    ///
    /// Operating systems place new threads on idle processors. Threads that wake each other, in
    /// contrast, tend to gather on one processor if the other processors are busy. They then no
    /// longer run at the same time.
    pub fn renew(&mut self) {
        self.pool.renew();
    }

    /// Performs runs, one after another. Returns the runs that were started; the last of these may
    /// not have completed.
    ///
    /// # Panics
    /// Panics if runs of one batch have different numbers of threads.
    pub fn run(&mut self, runs: Vec<Run>, kinds: &Arc<[Kind]>, settings: &Settings) -> Vec<Recorded> {
        self.run_until(runs, kinds, settings, |_| Look::MayWait).0
    }

    /// Performs runs like [`run`](Self::run). Also returns the time from when the threads were
    /// given their work until the last thread was done.
    ///
    /// When no thread has made progress for a while, `look` judges the runs so far. If one of the
    /// runs already violates the specification, the batch ends immediately. If `look` finds that a
    /// blocked operation should have returned, the batch ends when the watchdog expires, or
    /// immediately if no thread can ever continue. The returned runs contain the operations that
    /// `look` was given, and may contain later ones.
    ///
    /// # Panics
    /// Panics if runs of one batch have different numbers of threads.
    pub fn run_until(
        &mut self,
        runs: Vec<Run>,
        kinds: &Arc<[Kind]>,
        settings: &Settings,
        mut look: impl FnMut(&[Recorded]) -> Look,
    ) -> (Vec<Recorded>, Duration) {
        let Some(first) = runs.first() else { return (Vec::new(), Duration::ZERO) };
        let threads = first.threads.len();
        assert!(
            runs.iter().all(|run| run.threads.len() == threads),
            "all runs of a batch must have the same number of threads"
        );
        let batch = Arc::new(Batch {
            starts: runs.iter().map(|_| AtomicUsize::new(0)).collect(),
            ends: runs.iter().map(|_| AtomicUsize::new(0)).collect(),
            around: runs.iter().map(|run| [&run.before[..], &run.after].concat()).map(Behavior::Calls).collect(),
            runs,
            kinds: Arc::clone(kinds),
            settings: settings.clone(),
            ended: AtomicBool::new(false),
            cancellation: Cancellation::new(),
        });
        let start = settings.clock.now();
        let begun = Instant::now();
        let finish = Arc::new(Finish::of(threads));
        let (around, log_around) = batch.lane(threads);
        let mut around = Some(around);
        let mut logs = Vec::with_capacity(threads + 1);
        for thread in 0..threads {
            let (lane, log) = batch.lane(thread);
            logs.push(log);
            // The first thread also makes the calls before and after the runs.
            let around = around.take();
            let (batch, finish) = (Arc::clone(&batch), Arc::clone(&finish));
            self.pool.give(
                thread,
                Box::new(move || {
                    batch.work(thread, lane, around);
                    // Drops this thread's reference to the objects before the thread reports that
                    // it has finished. So the objects are dropped by the thread that created them.
                    drop(batch);
                    finish.finished();
                }),
            );
        }
        logs.push(log_around);
        let end = wait(&batch, &finish, &logs, || look(&batch.read(start, &logs, &End::Blocked)));
        let elapsed = begun.elapsed();
        let broken = if end == End::Complete { None } else { self.end(&batch, &finish, &logs[..threads]) };
        let mut seen = batch.read(start, &logs, &end);
        if let (Some(how), Some(last)) = (broken, seen.last_mut().filter(|last| last.end == End::Blocked)) {
            last.end = End::Broken { place: "releasing operations", how };
        }
        (seen, elapsed)
    }

    /// Ends the threads of a batch that makes no progress. If the attempt to release blocked
    /// operations fails, returns a description of the failure.
    fn end(&mut self, batch: &Arc<Batch>, finish: &Finish, logs: &[LogOfThread]) -> Option<String> {
        batch.ended.store(true, Ordering::SeqCst);
        let begun = batch.starts.iter().filter(|start| start.load(Ordering::SeqCst) > 0).count();
        let (released, panicked) = (Arc::new(Finish::of(1)), Arc::new(OnceLock::new()));
        let release = (Arc::clone(batch), Arc::clone(&released), Arc::clone(&panicked));
        // The function that releases operations belongs to the test, too: it may panic, or never
        // return.
        let release = move || {
            let (batch, released, panicked) = release;
            for run in &batch.runs[..begun] {
                if let Err(payload) = catch_unwind(AssertUnwindSafe(|| run.instance.release())) {
                    let _ = panicked.set(message(&*payload));
                    std::mem::forget(payload);
                }
            }
            drop(batch);
            released.finished();
        };
        self.pool.give(logs.len(), Box::new(release));
        let started = Instant::now();
        while !released.is_over() && started.elapsed() < MOST_GRACE {
            std::thread::park_timeout(TICK);
        }
        let mut broken = panicked.get().map(|message| format!("panicked: {message}"));
        if !released.is_over() {
            self.pool.replace(logs.len());
            self.lost += 1;
            broken = Some(format!("did not return within {MOST_GRACE:?}"));
        }
        batch.cancellation.cancel();
        let (started, ran_before) = (Instant::now(), logs.iter().map(LogOfThread::ran).collect::<Vec<_>>());
        let is_too_long =
            |waited: Duration| waited >= MOST_GRACE || (waited >= GRACE && !is_starved(logs, &ran_before));
        while !finish.is_over() && !is_too_long(started.elapsed()) {
            std::thread::park_timeout(TICK);
        }
        for (thread, log) in logs.iter().enumerate() {
            if !finish.is_over() && !log.status.is_over.load(Ordering::SeqCst) {
                self.pool.replace(thread);
                self.lost += 1;
            }
        }
        broken
    }
}

/// An entry in the log of a thread.
enum LogEntry {
    /// The thread's next call in the run returned.
    Done(Timed),
    /// The thread's next call in the run was not possible.
    Skipped,
    /// The object panicked in the thread's next call.
    Panicked(String),
    /// The run is over for this thread.
    EndOfRun,
}

/// The data of a thread in a batch.
struct Lane {
    entries: Writer<LogEntry>,
    chosen: Writer<Call>,
    status: Arc<Status>,
    /// The number of calls that the thread has begun. Other threads read this number in `status.begun`.
    begun: usize,
    /// Whether the thread is making the calls that come before or after a run. This field is used only in
    /// the `Lane` that records these calls.
    is_inside: bool,
}

/// The part of a thread's data that other threads read.
struct LogOfThread {
    entries: Reader<LogEntry>,
    /// The calls that the thread has chosen, if it chooses its calls.
    chosen: Reader<Call>,
    status: Arc<Status>,
}

impl LogOfThread {
    /// Returns whether the thread is inside an operation.
    fn is_inside(&self) -> bool {
        let returned =
            self.entries.entries().filter(|entry| matches!(entry, LogEntry::Done(_) | LogEntry::Skipped)).count();
        self.status.begun.load(Ordering::SeqCst) > returned
    }

    /// Returns how long the thread has run on a processor, if that is known.
    fn ran(&self) -> Option<Duration> {
        self.status.task.get()?.ran()
    }

    /// Returns the operation that the thread is inside, if any.
    fn inside(&self, thread: usize, batch: &Batch) -> Option<u32> {
        if !self.is_inside() {
            return None;
        }
        let (mut run, mut place) = (0, 0);
        for entry in self.entries.entries() {
            match entry {
                LogEntry::EndOfRun => (run, place) = (run + 1, 0),
                _ => place += 1,
            }
        }
        match batch.behavior(run, thread) {
            Behavior::Calls(calls) => calls.get(place).map(|call| call.operation),
            Behavior::Chooses(_) => self.chosen.entries().last().map(|call| call.operation),
        }
    }
}

/// The progress of a thread. Only the thread itself writes to it.
#[derive(Default)]
struct Status {
    /// The number of calls that the thread has begun.
    begun: AtomicUsize,
    /// Whether the thread has finished the batch.
    is_over: AtomicBool,
    /// Whether the thread is waiting for the other threads before or after a run.
    meets: AtomicBool,
    /// The operating system thread.
    task: OnceLock<OsThread>,
    /// The number of the run, counted from 1, whose handle the thread is dropping now or has
    /// dropped most recently; 0 if it has not dropped a handle yet.
    dropping: AtomicUsize,
    /// If a handle panicked when it was dropped: the run of this handle, and the message of the
    /// panic.
    drop_panic: OnceLock<(usize, String)>,
}

/// Runs that are performed one after another.
struct Batch {
    runs: Vec<Run>,
    /// For each run, the calls before and after it.
    around: Vec<Behavior>,
    /// For each run, the number of threads that have reached its start.
    starts: Vec<AtomicUsize>,
    /// For each run, the number of threads that have reached its end.
    ends: Vec<AtomicUsize>,
    kinds: Arc<[Kind]>,
    settings: Settings,
    /// Whether threads should leave the batch.
    ended: AtomicBool,
    cancellation: Cancellation,
}

/// The handles of a thread, each with the number of its run.
#[derive(Default)]
struct Handles {
    /// The handles for the thread's own calls.
    own: Vec<(usize, Box<dyn Handle>)>,
    /// The handles for the calls before and after the runs.
    outer: Vec<(usize, Box<dyn Handle>)>,
}

impl Handles {
    fn keep(handles: &mut Vec<(usize, Box<dyn Handle>)>, run: usize, handle: Box<dyn Handle>) -> &mut dyn Handle {
        handles.push((run, handle));
        &mut *handles.last_mut().expect("the handle was pushed above").1
    }
}

/// The panic payload that ends a thread which chooses its calls.
struct Stop;

/// Executes the calls that a thread chooses.
pub(super) trait Caller {
    /// Calls an operation.
    fn call(&mut self, call: Call) -> Called;
}

/// The outcome of a call.
pub(super) enum Called {
    /// The operation returned this result.
    Done(Value),
    /// The operation is not possible now.
    Skipped,
    /// The run is over.
    Over,
}

/// A thread of a batch that chooses its calls.
struct InBatch<'w> {
    batch: &'w Batch,
    handle: &'w mut dyn Handle,
    lane: &'w mut Lane,
}

impl Caller for InBatch<'_> {
    fn call(&mut self, call: Call) -> Called {
        self.lane.chosen.push(call.clone());
        let before = self.lane.entries.len();
        if !self.batch.call(&call, self.handle, self.lane) {
            return Called::Over;
        }
        match self.lane.entries.last() {
            Some(LogEntry::Done(timed)) if self.lane.entries.len() > before => Called::Done(timed.result.clone()),
            _ => Called::Skipped,
        }
    }
}

impl Batch {
    /// Returns the behavior of the thread with the number `thread` in a run. If no thread has this
    /// number, because `thread` equals the number of threads, returns the calls before and after the
    /// run.
    fn behavior(&self, run: usize, thread: usize) -> &Behavior {
        self.runs[run].threads.get(thread).unwrap_or(&self.around[run])
    }

    /// Returns the maximum number of operations of a thread that chooses its calls.
    fn most_chosen(&self, run: &Run) -> usize {
        self.settings.most_chosen.max(run.operations as usize)
    }

    fn lane(&self, thread: usize) -> (Lane, LogOfThread) {
        let (mut length, mut chosen) = (0, 0);
        for run in 0..self.runs.len() {
            length += 1 + match self.behavior(run, thread) {
                Behavior::Calls(calls) => calls.len(),
                Behavior::Chooses(_) => {
                    let most = self.most_chosen(&self.runs[run]);
                    chosen += most;
                    most
                }
            };
        }
        let ((entries, entries_reader), (chosen, chosen_reader)) = (raw::log(length), raw::log(chosen));
        let status = Arc::<Status>::default();
        let log = LogOfThread { entries: entries_reader, chosen: chosen_reader, status: Arc::clone(&status) };
        (Lane { entries, chosen, status, begun: 0, is_inside: false }, log)
    }

    /// Does the work of a thread. The first thread also makes the calls before and after runs, if `around` is given.
    fn work(&self, thread: usize, mut lane: Lane, mut around: Option<Lane>) {
        let _cancellable = self.cancellation.enter();
        for lane in [Some(&lane), around.as_ref()].into_iter().flatten() {
            lane.status.task.get_or_init(OsThread::here);
        }
        // Keeps the handles until all threads are done, because dropping a handle may be an operation on the object.
        // This also avoids dropping a handle while a panic unwinds: a second panic would abort the process.
        let mut handles = Handles::default();
        for run in 0..self.runs.len() {
            // Unwind safe: only the object may be left in an inconsistent state, and the object is
            // no longer used.
            let outcome =
                catch_unwind(AssertUnwindSafe(|| self.work_once(run, thread, &mut lane, &mut around, &mut handles)));
            let is_ended = self.ended.load(Ordering::SeqCst);
            match outcome {
                _ if is_ended => break,
                Ok(()) => {}
                Err(payload) if payload.is::<Cancelled>() => break,
                Err(payload) => {
                    let is_around = around.as_ref().is_some_and(|around| around.is_inside);
                    let lane = if is_around { around.as_mut().unwrap_or(&mut lane) } else { &mut lane };
                    lane.entries.push(LogEntry::Panicked(message(&*payload)));
                    std::mem::forget(payload);
                    self.ended.store(true, Ordering::SeqCst);
                    break;
                }
            }
        }
        for (run, handle) in handles.own.into_iter().chain(handles.outer) {
            lane.status.dropping.store(run + 1, Ordering::Release);
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(handle))) {
                if !payload.is::<Cancelled>() {
                    let _ = lane.status.drop_panic.set((run, message(&*payload)));
                }
                std::mem::forget(payload);
            }
        }
        lane.status.is_over.store(true, Ordering::SeqCst);
    }

    fn work_once(
        &self,
        number: usize,
        thread: usize,
        lane: &mut Lane,
        around: &mut Option<Lane>,
        handles: &mut Handles,
    ) {
        let (run, threads) = (&self.runs[number], self.runs[number].threads.len());
        let thread_number = u32::try_from(thread).expect("the number of threads fits in 32 bits");
        let mut outer = match around {
            Some(lane) if !(run.before.is_empty() && run.after.is_empty()) => {
                lane.is_inside = true;
                let handle =
                    run.instance.handle(u32::try_from(threads).expect("the number of threads fits in 32 bits"));
                let handle = Handles::keep(&mut handles.outer, number, handle);
                self.call_all(&run.before, handle, lane);
                lane.is_inside = false;
                Some(handle)
            }
            _ => None,
        };
        let handle = Handles::keep(&mut handles.own, number, run.instance.handle(thread_number));
        if !self.arrive(&self.starts[number], true, &lane.status) {
            return;
        }
        let mut random = Random::new(run.seed ^ u64::from(thread_number).wrapping_mul(0x9e37_79b9));
        let inside =
            (self.settings.chaos > 0).then(|| enter(Rc::new(Chaos::new(self.settings.chaos, run.seed, thread_number))));
        for _ in 0..random.below(self.settings.jitter + 1) {
            std::hint::spin_loop();
        }
        match &run.threads[thread] {
            Behavior::Calls(calls) => self.call_all(calls, handle, lane),
            Behavior::Chooses(choose) => {
                let left = self.most_chosen(run);
                let caller = &mut InBatch { batch: self, handle, lane };
                let threads = u32::try_from(threads).expect("the number of threads fits in 32 bits");
                let operations = run.operations;
                Worker { caller, kinds: &self.kinds, random, thread: thread_number, threads, operations, left }
                    .choose(&**choose);
            }
        }
        drop(inside);
        if self.ended.load(Ordering::SeqCst) {
            return;
        }
        lane.entries.push(LogEntry::EndOfRun);
        let waits = outer.is_some() || number + 1 == self.runs.len();
        if !self.arrive(&self.ends[number], waits, &lane.status) {
            return;
        }
        if let Some(lane) = around {
            if let Some(handle) = &mut outer {
                lane.is_inside = true;
                self.call_all(&run.after, *handle, lane);
                lane.is_inside = false;
            }
            if !self.ended.load(Ordering::SeqCst) {
                lane.entries.push(LogEntry::EndOfRun);
            }
        }
    }

    /// Returns the observations of all runs that were started. If the last of these runs did not
    /// finish, `end` is recorded as its end.
    fn read(&self, start: u64, logs: &[LogOfThread], end: &End) -> Vec<Recorded> {
        let mut seen = Vec::with_capacity(self.runs.len());
        let mut entries: Vec<_> = logs.iter().map(|log| log.entries.entries()).collect();
        let mut chosen: Vec<_> = logs.iter().map(|log| log.chosen.entries()).collect();
        for run in 0..self.runs.len() {
            let mut intervals = Vec::with_capacity(logs.len());
            let mut how = Some(End::Complete);
            for (thread, log) in logs.iter().enumerate() {
                let behavior = self.behavior(run, thread);
                let (log, last) = read(behavior, thread, start, &mut entries[thread], &mut chosen[thread], log);
                intervals.push(log);
                match last {
                    Some(LogEntry::EndOfRun) => {}
                    Some(LogEntry::Panicked(message)) => {
                        let thread = u32::try_from(thread).expect("the number of threads fits in 32 bits");
                        how = Some(End::Panicked { thread, message: message.clone() });
                    }
                    _ if how == Some(End::Complete) => how = None,
                    _ => {}
                }
            }
            let end = how.unwrap_or_else(|| end.clone());
            let is_last = end != End::Complete;
            let history = from_logs(intervals).expect("the logs of the threads follow one another");
            seen.push(Recorded { history, end });
            if is_last {
                return seen;
            }
        }
        let place = "dropping a handle";
        for status in logs.iter().map(|log| &*log.status) {
            let (run, how) = match (status.drop_panic.get(), end) {
                (Some((run, message)), _) => (*run, format!("panicked: {message}")),
                (None, End::Stuck(time)) if !status.is_over.load(Ordering::SeqCst) => (
                    status.dropping.load(Ordering::SeqCst).saturating_sub(1),
                    format!("did not return within {time:.1?}"),
                ),
                _ => continue,
            };
            seen.truncate(run + 1);
            seen[run].end = End::Broken { place, how };
            break;
        }
        seen
    }

    /// Reports that this thread has arrived. If `waits` is set, also waits until all other threads
    /// have arrived, and returns `false` if the batch ends meanwhile.
    fn arrive(&self, meeting: &AtomicUsize, waits: bool, status: &Status) -> bool {
        let threads = self.runs[0].threads.len();
        meeting.fetch_add(1, Ordering::AcqRel);
        if !waits {
            return true;
        }
        let mut turns = 0_u32;
        status.meets.store(true, Ordering::Relaxed);
        while meeting.load(Ordering::Acquire) < threads {
            if self.ended.load(Ordering::Relaxed) {
                return false;
            }
            turns += 1;
            // Yields, because other threads need this processor if there are more threads than
            // processors.
            if turns % TURNS_PER_YIELD == 0 {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
        status.meets.store(false, Ordering::Relaxed);
        true
    }

    fn call_all(&self, calls: &[Call], handle: &mut dyn Handle, lane: &mut Lane) {
        for call in calls {
            if !self.call(call, handle, lane) {
                return;
            }
        }
    }

    /// Calls an operation, if it is possible now. Returns whether the thread should make its next
    /// call.
    fn call(&self, call: &Call, handle: &mut dyn Handle, lane: &mut Lane) -> bool {
        if self.ended.load(Ordering::Relaxed) {
            return false;
        }
        lane.begun += 1;
        if !handle.is_possible(call.operation) {
            lane.entries.push(LogEntry::Skipped);
            lane.status.begun.store(lane.begun, Ordering::Release);
            return true;
        }
        lane.status.begun.store(lane.begun, Ordering::Release);
        let timed = handle.call(call, self.settings.clock);
        // An operation that returns after the batch has ended may have returned because it was
        // released or canceled, so its result is not recorded.
        if self.ended.load(Ordering::Acquire) {
            return false;
        }
        lane.entries.push(LogEntry::Done(timed));
        true
    }
}

/// The number of iterations of a waiting loop after which the thread yields.
const TURNS_PER_YIELD: u32 = 64;

/// A thread that chooses its calls, depending on earlier results.
pub struct Worker<'w> {
    pub(super) caller: &'w mut dyn Caller,
    pub(super) kinds: &'w [Kind],
    pub(super) random: Random,
    pub(super) thread: u32,
    pub(super) threads: u32,
    pub(super) operations: u32,
    /// The number of operations that the worker is still allowed to call.
    pub(super) left: usize,
}

impl std::fmt::Debug for Worker<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").field("thread", &self.thread).finish_non_exhaustive()
    }
}

impl Worker<'_> {
    /// Runs `choose`, which makes calls. Returns when `choose` returns, or when it has made the
    /// maximum number of calls.
    pub(super) fn choose(mut self, choose: &(dyn Fn(&mut Worker<'_>) + Send + Sync)) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| choose(&mut self))) {
            if !payload.is::<Stop>() {
                resume_unwind(payload);
            }
        }
    }

    /// Returns the number of this thread, counted from 0.
    pub fn thread(&self) -> u32 {
        self.thread
    }

    /// Returns the number of threads in this run.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// Returns the number of operations that the test requests from each thread of this run. A
    /// thread may call more or fewer operations.
    pub fn operations(&self) -> u32 {
        self.operations
    }

    /// Returns a random number generator that is seeded from the seed of the run.
    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// Calls the operation with this name, and returns its result.
    ///
    /// If the thread has already called the maximum number of operations, its behavior ends here.
    ///
    /// # Panics
    /// Panics if the test has no such operation, if the operation is not possible now, or if its
    /// result does not have the type `R`.
    pub fn call<A: Argument, R: Argument>(&mut self, name: &str, argument: A) -> R {
        let Some(operation) = Kind::find(self.kinds, name) else {
            panic!("the test has no operation `{}`", visible(name))
        };
        if self.left == 0 {
            resume_unwind(Box::new(Stop));
        }
        self.left -= 1;
        let call = Call { operation, argument: argument.to_value() };
        let result = match self.caller.call(call) {
            Called::Done(result) => R::from_value(&result),
            Called::Skipped => panic!(
                "a worker called `{}` when its condition (`.when(..)`) was false; check the condition before the call",
                visible(name)
            ),
            Called::Over => resume_unwind(Box::new(Stop)),
        };
        result.unwrap_or_else(|| {
            panic!("the result of `{}` does not have the type that the worker expects", visible(name))
        })
    }
}

/// Waits until the threads of a batch have finished, until they make no progress, or until `look`
/// finds a violation. Returns how the batch ended, as far as this watching thread can observe it.
fn wait(batch: &Batch, finish: &Finish, logs: &[LogOfThread], mut look: impl FnMut() -> Look) -> End {
    let progress = || -> usize {
        let met = batch.starts.iter().chain(&batch.ends).map(|meeting| meeting.load(Ordering::Relaxed)).sum::<usize>();
        let of_thread = |log: &LogOfThread| {
            log.entries.len() + log.status.begun.load(Ordering::SeqCst) + log.status.dropping.load(Ordering::SeqCst)
        };
        met + logs.iter().map(of_thread).sum::<usize>()
    };
    let (mut seen, mut since, mut ticks, mut looked) = (progress(), Instant::now(), 0_u32, None);
    let (mut ran_before, mut deadlock) = (Vec::new(), DeadlockWatch::default());
    let of_threads = &logs[..logs.len() - 1];
    loop {
        if finish.is_over() {
            // If the batch was ended, a thread has panicked and told the other threads to leave.
            return if batch.ended.load(Ordering::SeqCst) { End::Blocked } else { End::Complete };
        }
        std::thread::park_timeout(TICK);
        ticks += 1;
        let now = progress();
        if now != seen || panics::are_printed() {
            (seen, since, ticks, looked) = (now, Instant::now(), 0, None);
            deadlock = DeadlockWatch::default();
            continue;
        }
        // Threads that have finished, or that wait for the other threads before or after a run, do
        // not wake other threads. So if all other threads are deadlocked in primitives, only
        // threads of the object itself can wake them.
        let rests = |status: &Status| status.is_over.load(Ordering::SeqCst) || status.meets.load(Ordering::SeqCst);
        let busy = of_threads.iter().filter(|log| !rests(&log.status)).count();
        let are_blocked = deadlock.look(&batch.cancellation, busy);
        let can_go_on = !are_blocked || batch.settings.has_helpers.unwrap_or_else(OsThread::has_strangers);
        // Counts only the time during which this watching thread woke up regularly. If this thread
        // did not wake up regularly, the machine is slow, and the lack of progress does not show
        // that the run is stuck.
        let waited = since.elapsed().min(TICK * ticks.saturating_mul(2));
        if waited >= batch.settings.watchdog && !is_starved(logs, &ran_before) {
            return End::Stuck(waited);
        }
        if (waited >= GLANCE.min(batch.settings.patience) || !can_go_on) && looked.is_none() {
            ran_before = logs.iter().map(LogOfThread::ran).collect();
            let look = look();
            // If no thread made progress while `look` ran, the logs show the state at a single
            // moment: no operation in the logs can have observed a call that is missing from them.
            // So a violation that `look` finds remains a violation, whatever the threads do later.
            looked = (progress() == seen).then_some(look);
        }
        if looked == Some(Look::IsWrong) {
            return End::Blocked;
        }
        if looked == Some(Look::ShouldGoOn) && !can_go_on {
            return End::Stuck(Duration::ZERO);
        }
        if (waited >= batch.settings.patience || !can_go_on) && looked == Some(Look::MayWait) {
            let mut inside = logs.iter().enumerate().filter_map(|(thread, log)| log.inside(thread, batch)).peekable();
            let may_block = |operation: u32| batch.kinds[operation as usize].may_block;
            let is_inside = inside.peek().is_some();
            if is_inside && inside.all(may_block) {
                return End::Blocked;
            }
            if is_inside && !can_go_on {
                return End::Stuck(Duration::ZERO);
            }
        }
    }
}

/// A thread counts as stuck only if it has run on a processor for this long without progress.
const IN_VAIN: Duration = Duration::from_millis(5);

/// Returns whether a thread could continue if it had a processor. If other programs use all processors, a run that
/// makes no progress is not stuck.
fn is_starved(logs: &[LogOfThread], ran_before: &[Option<Duration>]) -> bool {
    logs.iter().zip(ran_before).any(|(log, before)| {
        // A thread that has not started yet has not had a processor.
        let Some(task) = log.status.task.get() else { return true };
        !log.status.is_over.load(Ordering::SeqCst) && task.is_starved(*before, IN_VAIN)
    })
}

/// Reads the operations of a thread in a run, and the log entry that ends the run.
fn read<'e>(
    behavior: &Behavior,
    thread: usize,
    start: u64,
    entries: &mut impl Iterator<Item = &'e LogEntry>,
    chosen: &mut impl Iterator<Item = &'e Call>,
    of_thread: &LogOfThread,
) -> (Vec<Interval<Call, Value>>, Option<&'e LogEntry>) {
    let process = u32::try_from(thread).expect("the number of threads fits in 32 bits");
    let mut log = Vec::new();
    let mut calls = match behavior {
        Behavior::Calls(calls) => Some(calls.iter()),
        Behavior::Chooses(_) => None,
    };
    let mut next = || match &mut calls {
        Some(calls) => calls.next().cloned(),
        None => chosen.next().cloned(),
    };
    let mut last = start;
    loop {
        match entries.next() {
            Some(LogEntry::Done(Timed { call, ret, result })) => {
                let called = next().expect("each return follows its call");
                log.push(Interval::returned(process, called, time(*call), time(*ret), result.clone()));
                last = *ret;
            }
            Some(LogEntry::Skipped) => {
                next();
            }
            Some(end @ LogEntry::EndOfRun) => return (log, Some(end)),
            end => {
                // The time of the call is unknown. It is recorded as the time when the previous operation returned,
                // which cannot be too late.
                if of_thread.is_inside() {
                    log.extend(next().map(|called| Interval::pending(process, called, time(last))));
                }
                return (log, end);
            }
        }
    }
}

/// Returns the message of a panic.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::history::{EventKind, OpId, ProcessId};
    use crate::primitives;

    /// An object with these operations: 0 counts, 1 panics, 2 spins forever on a primitive, 3 sleeps forever outside of
    /// all primitives, 4 waits until it is released.
    #[derive(Default)]
    struct Mixed {
        count: AtomicU64,
        released: crate::primitives::AtomicBool,
    }

    struct Shared(Arc<Mixed>);

    impl Instance for Shared {
        fn handle(&self, _thread: u32) -> Box<dyn Handle> {
            Box::new(Self(Arc::clone(&self.0)))
        }

        fn release(&self) {
            self.0.released.store(true, Ordering::SeqCst);
        }
    }

    impl Handle for Shared {
        fn is_possible(&mut self, operation: u32) -> bool {
            operation != 5
        }

        fn call(&mut self, call: &Call, clock: Clock) -> Timed {
            Timed::measure(clock, || match call.operation {
                0 => self.0.count.fetch_add(1, Ordering::SeqCst),
                1 => panic!("as it should"),
                2 => loop {
                    crate::primitives::spin_hint();
                },
                3 => loop {
                    std::thread::park();
                },
                _ => loop {
                    if self.0.released.load(Ordering::SeqCst) {
                        return 7;
                    }
                    std::thread::yield_now();
                },
            })
        }
    }

    fn kinds() -> Arc<[Kind]> {
        let kind = |name, may_block| Kind { may_block, ..Kind::new(name, |_| Value::Null) };
        [
            kind("count", false),
            kind("panic", false),
            kind("spin", false),
            kind("sleep", false),
            kind("wait", true),
            kind("impossible", false),
        ]
        .into()
    }

    fn calls(operations: &[u32]) -> Vec<Call> {
        operations.iter().map(|operation| Call { operation: *operation, argument: Value::Null }).collect()
    }

    fn run_of(threads: &[&[u32]]) -> Run {
        let threads = threads.iter().map(|operations| Behavior::Calls(calls(operations))).collect();
        Run {
            instance: Arc::new(Shared(Arc::default())),
            threads,
            before: Vec::new(),
            after: Vec::new(),
            operations: 3,
            seed: 1,
        }
    }

    fn settings() -> Settings {
        Settings { watchdog: Duration::from_millis(100), ..Settings::default() }
    }

    #[test]
    fn runs_are_recorded_in_order() {
        let mut runner = Runner::new();
        for clock in Clock::ALL {
            for chaos in [0, 4] {
                let runs = (0..20).map(|_| run_of(&[&[0; 5], &[0, 5, 0], &[0; 4]])).collect();
                let seen = runner.run(runs, &kinds(), &Settings { clock, chaos, ..settings() });
                assert_eq!(seen.len(), 20);
                for Recorded { history, end } in seen {
                    assert_eq!(end, End::Complete);
                    assert_eq!((history.len(), history.pending()), (11, 0), "operation 5 was not possible");
                    // If one operation precedes another, its result must be smaller.
                    for (first, one) in (0..).zip(history.operations()) {
                        for (second, other) in (0..).zip(history.operations()) {
                            if history.precedes(OpId(first), OpId(second)) {
                                assert!(one.outcome.result() < other.outcome.result(), "{clock} {history:?}");
                            }
                        }
                    }
                }
            }
        }
        assert_eq!(runner.lost(), 0);
    }

    #[test]
    fn what_is_around_a_run_is_before_and_behind_it() {
        let runs = (0..10).map(|_| Run { before: calls(&[0, 0]), after: calls(&[0]), ..run_of(&[&[0; 3], &[0; 3]]) });
        for Recorded { history, end } in Runner::new().run(runs.collect(), &kinds(), &settings()) {
            assert_eq!((end, history.len()), (End::Complete, 9));
            let around: Vec<_> =
                history.operations().iter().filter(|operation| operation.process == ProcessId(2)).collect();
            let results: Vec<_> = around.iter().filter_map(|operation| operation.outcome.result()).collect();
            assert_eq!(results, [&Value::Int(0), &Value::Int(1), &Value::Int(8)]);
            assert_eq!(history.events()[16].kind(), EventKind::Call);
            assert_eq!(history.events()[16].op(), OpId(8), "the last is called when all others have returned");
        }
    }

    #[test]
    fn a_panic_ends_the_run_and_is_told() {
        let mut runner = Runner::new();
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        for _ in 0..20 {
            let runs = vec![run_of(&[&[0, 0], &[0]]), run_of(&[&[0, 1, 0], &[0]]), run_of(&[&[0], &[0]])];
            let seen = runner.run(runs, &kinds(), &settings());
            assert_eq!(seen.len(), 2);
            assert_eq!(seen[0].end, End::Complete);
            assert_eq!(seen[1].end, End::Panicked { thread: 0, message: "as it should".to_owned() });
            let panicked = seen[1].history.operations().iter().find(|operation| operation.op.operation == 1);
            assert_eq!(panicked.expect("operation 1 was called").return_position(), None);
        }
        std::panic::set_hook(hook);
        assert_eq!(runner.lost(), 0);
    }

    #[test]
    fn stuck_threads_are_ended_or_left_behind() {
        let mut runner = Runner::new();
        for (operation, lost) in [(2, 0), (3, 1), (2, 1)] {
            let runs = vec![run_of(&[&[0, 0], &[0]]), run_of(&[&[0], &[0, operation, 0]]), run_of(&[&[0], &[0]])];
            let seen = runner.run(runs, &kinds(), &settings());
            assert_eq!(seen.len(), 2);
            assert!(matches!(seen[1].end, End::Stuck(time) if time >= Duration::from_millis(100)), "{:?}", seen[1].end);
            assert_eq!((seen[1].history.len(), seen[1].history.pending()), (3, 1));
            assert_eq!(runner.lost(), lost);
        }
        // The threads that replaced the lost ones work.
        assert_eq!(runner.run(vec![run_of(&[&[0], &[0]])], &kinds(), &settings())[0].end, End::Complete);
    }

    /// An object built from primitives, with these operations: 0 does nothing; 2 waits on the condition variable; 3
    /// locks the first mutex, meets another thread, and locks the second mutex; 4 does the same with the mutexes
    /// exchanged; 5 locks the second mutex, meets another thread, and waits on the condition variable without unlocking
    /// the second mutex; 6 meets another thread, and locks the second mutex.
    struct Blocking {
        first: primitives::Mutex<()>,
        second: primitives::Mutex<()>,
        changed: primitives::Condvar,
        met: AtomicU64,
    }

    impl Blocking {
        /// Waits until two threads have called this.
        fn meet(&self) {
            self.met.fetch_add(1, Ordering::SeqCst);
            while self.met.load(Ordering::SeqCst) < 2 {
                std::thread::yield_now();
            }
        }
    }

    impl Instance for Arc<Blocking> {
        fn handle(&self, _thread: u32) -> Box<dyn Handle> {
            Box::new(Self::clone(self))
        }
    }

    impl Handle for Arc<Blocking> {
        fn call(&mut self, call: &Call, clock: Clock) -> Timed {
            Timed::measure(clock, || match call.operation {
                2 => drop(self.changed.wait(self.first.lock())),
                3 => {
                    let _first = self.first.lock();
                    self.meet();
                    drop(self.second.lock());
                }
                4 => {
                    let _second = self.second.lock();
                    self.meet();
                    drop(self.first.lock());
                }
                5 => {
                    let _second = self.second.lock();
                    self.meet();
                    drop(self.changed.wait(self.first.lock()));
                }
                6 => {
                    self.meet();
                    drop(self.second.lock());
                }
                _ => {}
            })
        }
    }

    fn blocking() -> Arc<Blocking> {
        let (first, second) = (primitives::Mutex::new(()), primitives::Mutex::new(()));
        Arc::new(Blocking { first, second, changed: primitives::Condvar::new(), met: AtomicU64::new(0) })
    }

    fn kinds_of_blocking() -> Arc<[Kind]> {
        (0..7).map(|number| Kind::new(&number.to_string(), |_| Value::Null)).collect()
    }

    /// Settings under which no run reaches a time limit.
    fn patient(has_helpers: Option<bool>) -> Settings {
        let never = Duration::from_secs(100_000);
        Settings { watchdog: never, patience: never, has_helpers, ..Settings::default() }
    }

    #[test]
    fn nobody_waits_for_the_watchdog_where_all_are_blocked_in_primitives() {
        let run = |threads: &[&[u32]]| Run { instance: Arc::new(blocking()), ..run_of(threads) };
        for threads in [
            // No thread notifies the two threads that wait; the other threads are done.
            &[&[2][..], &[0, 2], &[0]][..],
            &[&[0, 2], &[2]],
            // A deadlock of two mutexes, without and with other threads.
            &[&[3], &[4]],
            &[&[0], &[0, 3], &[4, 0], &[0]],
            // One thread waits for a mutex; the thread that holds the mutex waits to be notified.
            &[&[5], &[6]],
        ] {
            let runs = vec![run(&vec![&[0][..]; threads.len()]), run(threads)];
            let seen = Runner::new().run(runs, &kinds_of_blocking(), &patient(Some(false)));
            assert_eq!(seen[1].end, End::Stuck(Duration::ZERO));
            assert_eq!(seen[1].history.pending(), 2);
        }
    }

    #[test]
    fn threads_of_the_object_may_wake_operations() {
        for has_helpers in [None, Some(true)] {
            let object = blocking();
            let helped = Arc::clone(&object);
            let run = Run { instance: Arc::new(object), ..run_of(&[&[0, 2, 0], &[0]]) };
            // The helper thread exists before the run, and for longer than it takes to detect that all threads are
            // blocked.
            let helper = std::thread::spawn(move || {
                while helped.changed.waiting() == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
                std::thread::sleep(Duration::from_millis(100));
                helped.changed.notify_all();
            });
            let seen = Runner::new().run(vec![run], &kinds_of_blocking(), &patient(has_helpers));
            assert_eq!(seen[0].end, End::Complete);
            helper.join().expect("the helper thread does not panic");
        }
    }

    #[test]
    fn operations_that_may_block_are_pending_and_released() {
        let seen = Runner::new().run(vec![run_of(&[&[0, 4, 0], &[0, 4], &[0]])], &kinds(), &settings());
        assert_eq!(seen[0].end, End::Blocked);
        assert_eq!(
            (seen[0].history.len(), seen[0].history.pending()),
            (5, 2),
            "results of released operations are not recorded"
        );
    }

    #[test]
    fn workers_choose_from_what_they_have_seen() {
        let counted = Arc::new(Mutex::new(Vec::new()));
        let seen_by_worker = Arc::clone(&counted);
        let choose = move |worker: &mut Worker<'_>| {
            loop {
                let count: u64 = worker.call("count", ());
                seen_by_worker.lock().expect("no thread panics while it holds the lock").push(count);
                if count >= 9 {
                    return;
                }
            }
        };
        let threads = vec![Behavior::Chooses(Arc::new(choose)), Behavior::Calls(calls(&[0, 0]))];
        let seen = Runner::new().run(vec![Run { threads, ..run_of(&[]) }], &kinds(), &settings());
        assert_eq!(seen[0].end, End::Complete);
        assert_eq!(seen[0].history.len(), counted.lock().expect("no thread panics while it holds the lock").len() + 2);
        // A thread that never stops by itself is stopped.
        let endless = |worker: &mut Worker<'_>| loop {
            let _: u64 = worker.call("count", ());
        };
        let threads = vec![Behavior::Chooses(Arc::new(endless))];
        let seen = Runner::new().run(vec![Run { threads, ..run_of(&[]) }], &kinds(), &settings());
        assert_eq!((seen[0].history.len(), &seen[0].end), (1000, &End::Complete));
    }

    #[test]
    fn what_is_wrong_already_ends_runs_that_are_stuck() {
        let settings = Settings { watchdog: Duration::from_secs(600), ..settings() };
        let runs = vec![run_of(&[&[0], &[0, 0]]), run_of(&[&[0, 2], &[0]])];
        // On a busy machine, `look` may be called earlier, too.
        let (seen, _) = Runner::new().run_until(runs, &kinds(), &settings, |seen| {
            let sizes: Vec<_> = seen.iter().map(|seen| (seen.history.len(), seen.history.pending())).collect();
            if sizes == [(3, 0), (3, 1)] { Look::IsWrong } else { Look::MayWait }
        });
        assert_eq!(seen[1].end, End::Blocked);
        assert_eq!((seen[1].history.len(), seen[1].history.pending()), (3, 1));
    }

    #[test]
    fn workers_know_how_large_the_run_is_meant_to_be() {
        let obedient = |worker: &mut Worker<'_>| {
            assert_eq!((worker.threads(), worker.operations()), (2, 1500));
            for _ in 0..worker.operations() {
                let _: u64 = worker.call("count", ());
            }
        };
        let threads = vec![Behavior::Chooses(Arc::new(obedient)); 2];
        let run = Run { threads, operations: 1500, ..run_of(&[]) };
        let seen = Runner::new().run(vec![run], &kinds(), &settings());
        assert_eq!((seen[0].history.len(), &seen[0].end), (3000, &End::Complete));
    }
}

//! A test with its types erased, and the loop that executes runs until one fails.

use std::any::Any;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::coverage::{Coverage, TooLittle};
use super::failure::{Failure, FailureKind, Smallest};
use super::judge::{self, Judge};
use super::listing::Listing;
use super::running::{self, Running, RunningFiles};
use super::settings::settings;
use super::shrink::{self, threads};
use super::supervise::{self, Doing, How, LONGEST, Supervised, Trouble};
use super::token::{Source, Token};
use super::{Outcome, regressions};
#[cfg(feature = "systematic")]
use crate::drive::without_exit;
use crate::drive::{
    Behavior, Call, Clock, End, Instance, Kind, Look, OsThread, Random, Recorded, Run, Runner, Settings, Shape, Worker,
    Workload, install_panic_hook, message,
};
use crate::history::{History, Record, Value, visible};
use crate::judge::{Algorithm, Budget, CancelToken, Config, Judged, Rules};
use crate::verdict::{Judgment, ProgressVerdict, Verdict};

/// The function by which the threads of a run choose their calls.
pub(super) type Choose = Arc<dyn Fn(&mut Worker<'_>) + Send + Sync>;

/// The properties that a test needs to know about the argument type and the result type of an
/// operation.
#[derive(Clone, Copy)]
pub(super) struct Signature {
    /// Returns whether the operation accepts this argument.
    pub(super) takes: fn(&Value) -> bool,
    /// Whether the operation returns a value.
    pub(super) returns: bool,
}

/// The settings of a test. The [portfolio](PORTFOLIO) chooses the settings that are not set.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) name: Option<String>,
    pub(super) threads: Option<u32>,
    pub(super) operations: Option<(u32, u32)>,
    pub(super) chaos: Option<u32>,
    pub(super) phases: Option<u32>,
    /// Whether every run draws from all arguments. If not, some runs use only a few arguments.
    pub(super) all_arguments: bool,
    pub(super) seed: Option<u64>,
    pub(super) replay: Option<Token>,
    pub(super) time: Option<Duration>,
    pub(super) runs: Option<u64>,
    /// The minimum number of runs that must be judged.
    pub(super) min_runs: u64,
    pub(super) clock: Option<Clock>,
    pub(super) watchdog: Duration,
    /// Whether threads that belong to the object may wake operations; `None` if this is not known.
    pub(super) has_helpers: Option<bool>,
    /// The time limit for judging one history. A history that takes longer is skipped, and counted as undecided.
    pub(super) timeout: Duration,
    /// The time limit for shrinking the program of a failing run.
    pub(super) shrink_for: Duration,
    /// Whether failures on real threads are shrunk by exploring schedules.
    #[cfg(feature = "systematic")]
    pub(super) shrinks_by_exploring: bool,
    /// Whether the handle of a thread may depend on the number of the thread.
    pub(super) has_handles: bool,
    /// The only program to run. `None` to run all programs.
    pub(super) only: Option<Arc<str>>,
    /// The number of failing runs after which the test ends.
    pub(super) collect: usize,
    pub(super) noise: u32,
    pub(super) testers: u32,
    pub(super) algorithm: Algorithm,
    /// Whether histories are partitioned by key.
    pub(super) partitions: bool,
    /// The rules that searches apply. Defaults to the rules of the algorithm.
    pub(super) rules: Option<Rules>,
    /// The maximum number of configurations (states of a search) that judging a history may visit.
    pub(super) configurations: Option<u64>,
    /// Whether failing runs are stored in a file, and tried first.
    pub(super) remembers: bool,
    /// The settings for exploring schedules. `None` to run the test on real threads.
    #[cfg(feature = "systematic")]
    pub(super) exploration: Option<super::explore::Exploration>,
    /// The folder to which the HTML pages of failing runs are written.
    pub(super) pages: Option<PathBuf>,
    /// Whether failures are explained. Explaining a failure calls the model.
    pub(super) explains: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: None,
            threads: None,
            operations: None,
            chaos: None,
            phases: None,
            all_arguments: false,
            seed: None,
            replay: None,
            time: None,
            runs: None,
            min_runs: 10,
            clock: None,
            watchdog: Duration::from_millis(100),
            has_helpers: None,
            timeout: Duration::from_millis(500),
            shrink_for: Duration::from_secs(2),
            #[cfg(feature = "systematic")]
            shrinks_by_exploring: false,
            has_handles: false,
            only: None,
            collect: 1,
            noise: 0,
            testers: 1,
            algorithm: Algorithm::Auto,
            partitions: true,
            rules: None,
            configurations: None,
            remembers: true,
            #[cfg(feature = "systematic")]
            exploration: None,
            pages: None,
            explains: true,
        }
    }
}

/// The execution of the test that a run comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// This execution.
    This,
    /// An earlier execution. The run is repeated, in addition to the runs that the test requests. So it counts only if
    /// it fails.
    Earlier,
}

/// The function that is called with the number of runs so far.
type Watch = Arc<dyn Fn(u64) + Send + Sync>;

/// The function that is called with each judged history.
type Keep = Arc<dyn Fn(&History<Record, Value>, Option<bool>) + Send + Sync>;

/// A test with its types erased.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
///
/// let plan = trueline::test(|| AtomicU64::new(0))
///     .spec("fetch-add")
///     .operation("fetch-add", 1..9_u64, |count, x| count.fetch_add(x, SeqCst))
///     .into_plan();
/// let outcome = plan.threads(3).runs(20).seed(7).forgetful().run();
/// assert!(outcome.failure.is_none());
/// assert_eq!(outcome.runs, 20);
/// ```
#[must_use = "a plan does nothing until `run` is called"]
#[derive(Clone)]
pub struct Plan {
    pub(super) make: Arc<dyn Fn() -> Arc<dyn Instance> + Send + Sync>,
    pub(super) workload: Workload,
    /// The signature of each operation.
    pub(super) signatures: Arc<[Signature]>,
    pub(super) fixed: Vec<Vec<Vec<Call>>>,
    pub(super) choose: Option<Choose>,
    pub(super) judge: Arc<dyn Judge>,
    pub(super) options: Options,
    pub(super) watch: Option<Watch>,
    pub(super) keep: Option<Keep>,
    #[cfg(feature = "systematic")]
    pub(super) watch_exploration: Option<crate::drive::systematic::Watch>,
    pub(super) cancel: Option<CancelToken>,
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("workload", &self.workload).field("options", &self.options).finish_non_exhaustive()
    }
}

/// A stage of the portfolio: the size of its runs, how often their threads yield, and the number of
/// runs in a batch.
struct Stage {
    shape: Shape,
    runs: u32,
}

/// A mix of runs that, in practice, finds most faults early. In the first stages, two or three
/// threads execute few operations on few keys. Later stages have more operations, threads that
/// yield, more threads, arguments from the whole range, or long runs. After the last stage, the
/// first stage follows again.
const PORTFOLIO: [Stage; 8] = {
    const fn stage(threads: u32, operations: (u32, u32), chaos: u32, few: Option<u32>, runs: u32) -> Stage {
        let phases = if operations.1 > 100 { 4 } else { 1 };
        Stage { shape: Shape { threads, operations, chaos, few, phases }, runs }
    }
    [
        stage(2, (1, 3), 0, Some(2), 40),
        stage(3, (1, 4), 0, Some(2), 20),
        stage(3, (2, 6), 16, Some(2), 20),
        stage(4, (10, 25), 16, Some(3), 6),
        stage(2, (2, 5), 0, None, 30),
        stage(4, (25, 25), 16, None, 6),
        stage(3, (2, 6), 4, Some(2), 15),
        stage(4, (100, 200), 64, None, 1),
    ]
};

/// The default time limit.
const DEFAULT_TIME: Duration = Duration::from_secs(1);
/// The additional time for a test that has judged too few runs within its time limit.
const MORE_TIME: Duration = Duration::from_secs(3);
/// The time without progress after which a run is reported as stuck, as a multiple of the time of
/// the watchdog.
pub(super) const VERIFIED: u32 = 10;
/// The number of lost threads after which a test gives up. A thread is lost if an operation that it
/// called never returns.
pub(super) const MOST_LOST: u32 = 8;
/// The time that executing a batch of runs should take. The number of runs in a batch is computed
/// from this time, because the time of a run varies: if operations wait, a single run may take
/// milliseconds.
const BATCH: Duration = Duration::from_millis(10);
/// The number of runs in the first batch, when the time of a run is not known yet.
const FIRST_RUNS: u64 = 2;
/// The maximum number of times that a stored failing run is repeated before new runs start.
const TRIES_OF_REGRESSIONS: u32 = 100;
/// The number of times that the test repeats each run that may have ended the process.
const TRIES_OF_LEFT_BEHIND: usize = 10;
/// The maximum number of operations of a thread in the portfolio if judging needs a search, which
/// may take exponential time.
const MOST_FOR_MODELS: u32 = 15;

/// The time that judging runs may take, as a multiple of the time that executing them takes.
const JUDGING_PER_MAKING: u32 = 2;
/// If judging takes too long, the maximum number of operations of a thread is reduced for later
/// runs, but never below this number.
const FEWEST_TO_JUDGE: u32 = 6;

/// The state that all testers share. A tester is a thread that executes runs and judges them.
struct Testing {
    plan: Plan,
    kinds: Arc<[Kind]>,
    started: Instant,
    seed: u64,
    clock: Clock,
    is_over: AtomicBool,
    batches: AtomicU64,
    /// The number of runs that were started or are about to start.
    claimed: AtomicU64,
    runs: AtomicU64,
    operations: AtomicU64,
    undecided: AtomicU64,
    judging: AtomicU64,
    /// The maximum number of operations of a thread for which judging is fast enough.
    most_operations: AtomicU32,
    coverage: Coverage,
    /// The number of threads that never returned, if the test ended because of them; otherwise 0.
    lost: AtomicU32,
    /// The runs that failed.
    found: Mutex<Vec<FailingRun>>,
}

/// A failing run.
#[derive(Clone)]
struct FailingRun {
    token: Token,
    seen: Recorded,
    kind: FailureKind,
    after: Duration,
}

impl Plan {
    settings!();

    /// Explores schedules instead of running on real threads.
    #[cfg(feature = "systematic")]
    pub fn explore(mut self, exploration: super::Exploration) -> Self {
        self.options.exploration = Some(exploration);
        self
    }

    /// When a run fails on real threads, explores its program to shrink it: see
    /// [`Test`](super::Test::shrink_by_exploring).
    #[cfg(feature = "systematic")]
    pub fn shrink_by_exploring(mut self) -> Self {
        self.options.shrinks_by_exploring = true;
        self
    }

    /// Repeats only this run. The run is repeated many times, or once if its token contains a
    /// schedule.
    pub fn replay(mut self, token: Token) -> Self {
        self.options.replay = Some(token);
        self
    }

    /// Runs only this program, as [`Test::only`](super::Test::only) does.
    ///
    /// # Errors
    /// Returns a message if the program is invalid.
    pub fn only(mut self, program: &str) -> Result<Self, String> {
        self.read_program(program)?;
        self.options.only = Some(program.into());
        self.options.remembers = false;
        Ok(self)
    }

    /// Sets the relative frequencies of operations, in all runs. Operations that are not named keep their weights.
    ///
    /// # Errors
    /// Returns a message if an operation does not exist, if all weights are 0, or if the threads
    /// choose their calls themselves, so that weights have no effect.
    pub fn weights<'n>(mut self, weights: impl IntoIterator<Item = (&'n str, u32)>) -> Result<Self, String> {
        for (name, weight) in weights {
            let Some(number) = self.workload.find(name) else {
                return Err(format!("there is no operation `{name}`, only {}", self.operation_names().join(", ")));
            };
            self.workload.kinds[number as usize].weight = weight;
        }
        if self.choose.is_some() {
            return Err(
                "the threads of this test choose their operations, so weights have no effect: leave the weights \
                        out"
                .to_owned(),
            );
        }
        if self.workload.kinds.iter().all(|kind| kind.weight == 0) {
            return Err("all operations have weight 0, so there is nothing to call".to_owned());
        }
        let Workload { roles, kinds, .. } = &mut self.workload;
        roles.retain(|(role, _)| kinds.iter().any(|kind| kind.weight > 0 && kind.roles.contains(role)));
        self.options.phases = Some(0);
        Ok(self)
    }

    /// Promises that the object has no threads of its own, so that a blocked operation can be woken
    /// only by a thread that calls operations. A run in which all threads are blocked in
    /// [`primitives`](crate::primitives) is then reported as stuck immediately, even if the process
    /// has other threads.
    pub fn without_helpers(mut self) -> Self {
        self.options.has_helpers = Some(false);
        self
    }

    /// Returns whether the author of the test wrote programs, or described the programs to explore,
    /// so that their calls are known.
    pub(super) fn has_given_programs(&self) -> bool {
        #[cfg(feature = "systematic")]
        if self.options.exploration.as_ref().is_some_and(super::Exploration::has_given_programs) {
            return true;
        }
        !self.fixed.is_empty()
    }

    /// Returns the names of the operations.
    pub fn operation_names(&self) -> Vec<&str> {
        self.workload.kinds.iter().map(|kind| &*kind.name).collect()
    }

    /// Calls `watch` from time to time with the number of runs so far.
    pub fn watch(mut self, watch: impl Fn(u64) + Send + Sync + 'static) -> Self {
        self.watch = Some(Arc::new(watch));
        self
    }

    /// After each run on real threads, calls `keep` with two arguments: the judged history, and
    /// whether it was accepted. The second argument is `None` if this was not decided in time.
    #[doc(hidden)]
    pub fn keep(mut self, keep: impl Fn(&History<Record, Value>, Option<bool>) + Send + Sync + 'static) -> Self {
        self.keep = Some(Arc::new(keep));
        self
    }

    /// Sets whether the operations on each key are judged separately. Defaults to `true`.
    #[doc(hidden)]
    pub fn partition(mut self, partition: bool) -> Self {
        self.options.partitions = partition;
        self
    }

    /// Sets the rules of searches, which replace the default rules of the algorithm.
    #[doc(hidden)]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.options.rules = Some(rules);
        self
    }

    /// Limits the number of configurations (states of a search) that judging a history may visit. A
    /// history that needs more counts as undecided.
    #[doc(hidden)]
    pub fn configurations(mut self, configurations: u64) -> Self {
        self.options.configurations = Some(configurations);
        self
    }

    /// Executes one run on real threads, without judging it. The settings of the test determine the
    /// numbers of threads and calls.
    #[doc(hidden)]
    pub fn record(&self, runner: &mut Runner, seed: u64) -> Recorded {
        let shape = self.stage(0).shape;
        let program = if self.choose.is_some() { Source::Chosen(seed) } else { Source::Seed(seed) };
        let run = self.run_of(0, &Token { program, shape, scheduled: None });
        let clock = self.options.clock.unwrap_or_else(|| Clock::best().clock);
        let settings = self.run_settings(clock, shape.chaos, self.options.watchdog);
        let kinds: Arc<[Kind]> = self.workload.kinds.clone().into();
        runner.run(vec![run], &kinds, &settings).remove(0)
    }

    /// Judges a history of this test with the given options, which replace the options of the test.
    ///
    /// # Panics
    /// Panics if an operation returned a value that its specification cannot read.
    #[doc(hidden)]
    pub fn judgment(&self, history: &History<Call, Value>, config: &Config) -> Judgment<String> {
        let judged = self.judge.judge(Cow::Borrowed(history), config);
        judged.unwrap_or_else(|error| panic!("the history cannot be read: {error}")).judgment().clone()
    }

    /// Returns whether operations that are stuck at the end of the history should have returned; `None` if the
    /// operations of this test do not wait for each other.
    #[doc(hidden)]
    pub fn progress(&self, history: &History<Call, Value>, budget: &Budget) -> Option<ProgressVerdict<String>> {
        self.judge.has_progress().then(|| self.judged(history).progress(budget)).flatten()
    }

    /// Returns a history of this test in the form of history files.
    #[doc(hidden)]
    pub fn raw_history(&self, history: &History<Call, Value>) -> History<Record, Value> {
        self.raw(history)
    }

    /// Calls `watch` from time to time with the progress of an exploration.
    #[cfg(feature = "systematic")]
    pub fn watch_exploration(
        mut self,
        watch: impl Fn(crate::drive::systematic::Progress) + Send + Sync + 'static,
    ) -> Self {
        self.watch_exploration = Some(Arc::new(watch));
        self
    }

    /// Returns the same test, judged by the specification with this name.
    ///
    /// # Errors
    /// Returns a message if there is no specification with this name, or if it lacks an operation of the test.
    #[cfg(feature = "named")]
    pub fn judged_by(mut self, name: &str) -> Result<Self, String> {
        let spec = crate::registry::spec(name, crate::registry::Options::new()).map_err(|error| error.to_string())?;
        let lacks = |operation: &&str| spec.info().operation(operation).is_none();
        if let Some(operation) = self.operation_names().into_iter().find(lacks) {
            return Err(format!("the specification `{name}` has no operation `{operation}`"));
        }
        self.judge = Arc::new(judge::Named { spec, names: judge::names(&self.workload) });
        Ok(self)
    }

    /// Ends the test when `token` is canceled. The outcome then contains the results so far.
    pub fn cancelled_by(mut self, token: CancelToken) -> Self {
        self.cancel = Some(token);
        self
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(CancelToken::is_cancelled)
    }

    /// Executes runs until one fails, or the time limit is reached.
    ///
    /// # Panics
    /// Panics if an operation returns a value that its specification cannot read.
    pub fn run(&self) -> Outcome {
        let _files = self.running_files();
        self.run_until_reported()
    }

    /// Returns a guard for the files of the current runs, which removes the files when it is
    /// dropped.
    pub(super) fn running_files(&self) -> RunningFiles {
        RunningFiles::of(self.options.name.as_deref(), self.options.testers)
    }

    /// Executes runs as [`run`](Self::run) does, but does not remove the files of the current runs.
    /// The caller must remove them.
    pub(super) fn run_until_reported(&self) -> Outcome {
        install_panic_hook();
        #[cfg(feature = "systematic")]
        if let Some(outcome) = without_exit(|| super::explore::run(self)) {
            return outcome;
        }
        let _known = OsThread::here();
        let chosen = Clock::best();
        let search = Arc::new(Testing {
            plan: self.clone(),
            kinds: self.workload.kinds.clone().into(),
            started: Instant::now(),
            seed: self.options.seed.unwrap_or_else(|| RandomState::new().hash_one(std::process::id())),
            clock: self.options.clock.unwrap_or(chosen.clock),
            is_over: AtomicBool::new(false),
            batches: AtomicU64::new(0),
            claimed: AtomicU64::new(0),
            runs: AtomicU64::new(0),
            operations: AtomicU64::new(0),
            undecided: AtomicU64::new(0),
            judging: AtomicU64::new(0),
            most_operations: AtomicU32::new(u32::MAX),
            coverage: Coverage::default(),
            lost: AtomicU32::new(0),
            found: Mutex::default(),
        });
        let noise: Vec<_> = (0..self.options.noise)
            .map(|_| {
                let search = Arc::clone(&search);
                std::thread::spawn(move || search.make_noise())
            })
            .collect();
        let testers: Vec<_> = (0..self.options.testers)
            .map(|tester| {
                let search = Arc::clone(&search);
                Supervised::start(move || search.tester(tester))
            })
            .collect();
        let mut panics = Vec::new();
        for tester in testers {
            if let Err(trouble) = tester.wait(|doing| self.limit(doing)) {
                panics.extend(search.trouble(trouble));
            }
        }
        search.is_over.store(true, Ordering::Relaxed);
        noise.into_iter().for_each(|thread| thread.join().expect("threads that make noise do not panic"));
        if let Some(panic) = panics.into_iter().next() {
            resume_unwind(panic);
        }
        let mut found = std::mem::take(&mut *search.found());
        found.sort_by_key(|found| found.after);
        found.truncate(self.options.collect);
        let elapsed = search.started.elapsed();
        if self.options.remembers {
            let of_runs = found.iter().filter(|found| !matches!(found.kind, FailureKind::Broken { .. }));
            of_runs.for_each(|found| regressions::remember(self.options.name.as_deref(), &found.token));
        }
        let (too_little, warnings) = search.tested(found.is_empty());
        let mut failures = self.failures(found, search.clock).into_iter();
        Outcome {
            runs: search.runs.load(Ordering::Relaxed),
            operations: search.operations.load(Ordering::Relaxed),
            undecided: search.undecided.load(Ordering::Relaxed),
            lost: search.lost.load(Ordering::Relaxed),
            elapsed,
            judging: Duration::from_nanos(search.judging.load(Ordering::Relaxed)),
            seed: search.seed,
            clock: search.clock,
            warning: chosen.warning.filter(|_| self.options.clock.is_none()),
            too_little,
            warnings,
            failure: failures.next(),
            further: failures.collect(),
            explored: None,
        }
    }

    /// Returns the minimum number of runs that must be judged.
    pub(super) fn least_runs(&self) -> u64 {
        let Options { min_runs, runs, replay, .. } = &self.options;
        if replay.is_some() { 1 } else { (*min_runs).min(runs.unwrap_or(u64::MAX)) }
    }

    /// Returns the time limit for code outside of operations.
    pub(super) fn limit(&self, doing: Doing) -> Option<Duration> {
        let longest = LONGEST.max(self.options.watchdog.saturating_mul(VERIFIED));
        match doing {
            Doing::Running => None,
            Doing::Judging => Some(longest.saturating_add(self.options.timeout * 2)),
            Doing::Generating | Doing::Constructing | Doing::Dropping | Doing::Explaining => Some(longest),
        }
    }

    /// Returns reports about the failing runs. The first report is about the smallest program that
    /// fails in the same way as the first run.
    fn failures(&self, found: Vec<FailingRun>, clock: Clock) -> Vec<Failure> {
        let Some(first) = found.first() else { return Vec::new() };
        // If the process ends now, the next execution of the test finds the first failing run in
        // the file of current runs.
        let mut running = self.options.name.as_deref().and_then(|name| Running::create(name, 0));
        if let Some(running) = &mut running {
            running.write(std::slice::from_ref(&first.token));
        }
        let report = |plan: &Self, found: FailingRun| {
            let FailingRun { token, seen, kind, after } = found;
            Failure::new(plan, &seen.history, kind, token, after, &[])
        };
        let (plan, all) = (self.clone(), found.clone());
        let explain = move || {
            let mut all = all.into_iter();
            let first = all.next().map(|found| plan.shrunk(found, clock));
            first.into_iter().chain(all.map(|found| report(&plan, found))).collect()
        };
        let plain = |plan: &Self| found.into_iter().map(|found| report(plan, found)).collect();
        self.explained(explain, plain, |doing| self.limit(doing))
    }

    /// Returns the reports that `explain` makes. If code of the test panics or gets stuck while
    /// `explain` runs, returns the reports that `plain` makes. `plain` does not call code of the
    /// test.
    pub(super) fn explained(
        &self,
        explain: impl FnOnce() -> Vec<Failure> + Send + 'static,
        plain: impl FnOnce(&Self) -> Vec<Failure>,
        limit: impl Fn(Doing) -> Option<Duration>,
    ) -> Vec<Failure> {
        Supervised::start(explain).wait(limit).unwrap_or_else(|Trouble { doing, how, .. }| {
            let mut plan = self.clone();
            plan.options.explains = false;
            let remark = format!("(the failure could not be explained: {} {})", doing.place(), how.describe());
            std::mem::forget(how);
            plain(&plan).into_iter().map(|failure| failure.with_remark(&remark)).collect()
        })
    }

    /// Returns whether a failure of the test's code during the activity `doing` is reported as a
    /// failing run.
    pub(super) fn is_broken(&self, doing: Doing, how: &How) -> bool {
        match doing {
            Doing::Constructing | Doing::Dropping => true,
            Doing::Judging => self.judge.is_users_code(),
            Doing::Running | Doing::Generating | Doing::Explaining => matches!(how, How::Stuck(_)),
        }
    }

    /// Creates an object, for the run with this number.
    pub(super) fn construct(&self, run: usize) -> Arc<dyn Instance> {
        let _note = supervise::note(Doing::Constructing, Some(run));
        (self.make)()
    }

    /// Returns whether the programs of failing runs are shrunk. A replayed run is not shrunk.
    pub(super) fn shrinks(&self) -> bool {
        !self.options.shrink_for.is_zero() && self.options.replay.is_none()
    }

    /// Returns the time limit for shrinking: at most a day, because adding it to an `Instant` must not overflow.
    pub(super) fn time_to_shrink(&self) -> Duration {
        self.options.shrink_for.min(Duration::from_secs(86_400))
    }

    /// Returns whether a stored run can still be executed, that is, whether the test still has the
    /// operations or functions that the run needs.
    pub(super) fn can_make(&self, token: &Token) -> bool {
        match &token.program {
            Source::Seed(_) => self.workload.kinds.iter().any(|kind| kind.weight > 0),
            Source::Fixed(number) => (*number as usize) < self.fixed.len(),
            Source::Chosen(_) => self.choose.is_some(),
            Source::Given(program) => self.read_program(program).is_ok(),
            Source::Listed { .. } => cfg!(feature = "systematic"),
        }
    }

    /// Shrinks the program, and returns the failure of the smallest program that fails in the same
    /// way.
    fn shrunk(&self, found: FailingRun, clock: Clock) -> Failure {
        let FailingRun { token, seen, kind, after } = found;
        if !self.shrinks() || matches!(kind, FailureKind::Broken { .. }) {
            return Failure::new(self, &seen.history, kind, token, after, &[]);
        }
        let (started, budget) = (Instant::now(), self.time_to_shrink());
        let whole = shrink::program_of(self, &token, &seen.history);
        let of_calls = whole.calls();
        let first = shrink::First::new(self, &token, &whole, &seen.history, &kind, budget / 8);
        #[cfg(feature = "systematic")]
        let by_exploring = self.options.shrinks_by_exploring;
        #[cfg(not(feature = "systematic"))]
        let by_exploring = false;
        // A failure that is found by exploring can be reproduced, and does not depend on the load of the machine.
        #[cfg(feature = "systematic")]
        if by_exploring && first.is_free {
            let programs = first.hints.iter().chain([&whole]);
            let times = ((budget / 16).min(Duration::from_secs(1)), started + budget);
            if let Some(failure) = super::explore::shrink_further(self, &first, programs, times, after) {
                return failure;
            }
        }
        let left = (started + budget).saturating_duration_since(Instant::now());
        let shrunk = threads::shrink(self, &first, clock, if by_exploring { left.mul_f64(0.75) } else { left });
        let Some(threads::Shrunk { program, tally, seen: smaller, kind }) = shrunk else {
            let remark = first.why_not_shrunk();
            return Failure::new(self, &seen.history, kind, token, after, &[]).with_remark(remark);
        };
        #[cfg(feature = "systematic")]
        if by_exploring {
            let times = (budget / 8, started + budget);
            if let Some(failure) = super::explore::shrink_further(self, &first, [&program], times, after) {
                return failure;
            }
        }
        let mut smallest = Smallest {
            program: program.to_text(&self.workload.kinds),
            calls: program.calls(),
            of_calls,
            first: token.clone(),
            failed: tally.failed,
            runs: tally.runs,
            is_minimal: false,
            preemptions: None,
            by_chance: false,
            chaos: token.shape.chaos,
            elapsed: started.elapsed(),
            settings: Vec::new(),
        };
        smallest.settings = vec![format!("chaos({})", smallest.chaos), format!("runs({})", smallest.enough_runs())];
        let token = self.given(&program, smallest.program.as_str().into(), token.shape.chaos);
        Failure::new(self, &smaller.history, kind, token, after, &[]).with_smallest(smallest)
    }

    /// Returns the token of a run of this program.
    pub(super) fn given(&self, program: &Listing, text: Arc<str>, chaos: u32) -> Token {
        let threads = u32::try_from(program.threads.len()).expect("the number of threads fits in 32 bits");
        let shape = Shape { threads, operations: (1, 1), chaos, few: None, phases: 0 };
        Token { program: Source::Given(text), shape, scheduled: None }
    }

    /// Parses a program of this test.
    ///
    /// # Errors
    /// Returns a message if the program is invalid.
    pub(super) fn read_program(&self, text: &str) -> Result<Listing, String> {
        Listing::read(text, &self.workload.kinds, |operation, argument| {
            (self.signatures[operation as usize].takes)(argument)
        })
    }

    /// Returns the program of a run, unless its threads choose their calls.
    pub(super) fn written(&self, token: &Token) -> Option<Listing> {
        let threads = match &token.program {
            Source::Seed(seed) => self.made_up(&token.shape, *seed),
            Source::Fixed(number) => {
                let program = self.fixed.get(*number as usize).cloned();
                program.unwrap_or_else(|| {
                    panic!("the test has no fixed program {number}: the run belongs to another version of the test")
                })
            }
            Source::Given(text) => match self.read_program(text) {
                Ok(program) => return Some(program),
                Err(error) => panic!("{}", visible(&format!("the program of {token} does not fit this test: {error}"))),
            },
            Source::Chosen(_) => return None,
            #[cfg(feature = "systematic")]
            Source::Listed { calls, number } => {
                let listed = self.listed_calls(calls, *number);
                return Some(
                    listed.unwrap_or_else(|| panic!("there is no program {number} among those with {calls} calls")),
                );
            }
            #[cfg(not(feature = "systematic"))]
            Source::Listed { .. } => {
                panic!("{token} names an execution of an exploration: enable the feature `systematic` to repeat it")
            }
        };
        Some(Listing { before: self.workload.before.clone(), threads, after: self.workload.after.clone() })
    }

    /// Returns the settings of runs. With these settings, a run is stuck if it makes no progress
    /// for ten times the duration `watchdog`.
    pub(super) fn run_settings(&self, clock: Clock, chaos: u32, watchdog: Duration) -> Settings {
        let mut settings =
            Settings { clock, chaos, watchdog: watchdog.saturating_mul(VERIFIED), ..Settings::default() };
        settings.has_helpers = self.options.has_helpers;
        if self.judge.has_progress() {
            // The operations of this test wait for each other, and may wait forever.
            settings.patience = watchdog;
        }
        settings
    }

    /// Executes the runs in order, and stops after the first run that does not complete. The caller
    /// must drop the objects.
    pub(super) fn make_runs(
        &self,
        runner: &mut Runner,
        runs: Vec<Run>,
        kinds: &Arc<[Kind]>,
        settings: &Settings,
    ) -> (Vec<Recorded>, Objects) {
        let _note = supervise::note(Doing::Running, None);
        let objects = Objects(runs.iter().map(|run| Arc::clone(&run.instance)).collect());
        let is_wrong = |seen: &Recorded| self.is_right(&seen.history) == Some(false);
        let look = |seen: &[Recorded]| match seen.last() {
            _ if seen.iter().any(is_wrong) => Look::IsWrong,
            Some(last) if self.should_go_on(&last.history) => Look::ShouldGoOn,
            _ => Look::MayWait,
        };
        (runner.run_until(runs, kinds, settings, look).0, objects)
    }

    /// Returns the failure of a run, or `None` if the run did not fail. Calls `undecided` if the
    /// history of the run was not judged in time.
    pub(super) fn failure_of(&self, seen: &Recorded, undecided: impl Fn()) -> Option<FailureKind> {
        match self.is_right(&seen.history) {
            Some(false) => return Some(FailureKind::NotLinearizable),
            Some(true) => {}
            None => undecided(),
        }
        match &seen.end {
            End::Complete | End::Blocked => None,
            End::Stuck(time) => Some(FailureKind::Stuck(*time)),
            End::Panicked { thread, message } => {
                Some(FailureKind::Panicked { thread: *thread, message: message.clone() })
            }
            End::Broken { place, how } => Some(FailureKind::Broken { place, how: how.clone() }),
        }
    }

    /// Returns the history in the form of history files.
    pub(super) fn raw(&self, history: &History<Call, Value>) -> History<Record, Value> {
        judge::raw(&judge::names(&self.workload), history)
    }

    /// Judges the history within the limits of the test.
    ///
    /// # Panics
    /// Panics if an operation returns a value that its specification cannot read.
    pub(super) fn judged<'a>(&'a self, history: &'a History<Call, Value>) -> Box<dyn Judged + 'a> {
        self.judged_within(history, self.budget())
    }

    /// Judges the history within these limits.
    ///
    /// # Panics
    /// Panics if an operation returns a value that its specification cannot read.
    pub(super) fn judged_within<'a>(
        &'a self,
        history: &'a History<Call, Value>,
        budget: Budget,
    ) -> Box<dyn Judged + 'a> {
        let Options { algorithm, partitions, rules, .. } = &self.options;
        let config = Config::new().algorithm(algorithm.clone()).partition(*partitions).budget(budget);
        let config = rules.iter().fold(config, |config, rules| config.rules(*rules));
        match self.judge.judge(Cow::Borrowed(history), &config) {
            Ok(judged) => judged,
            Err(error) => panic!(
                "the specification `{}` cannot read the history that the test recorded: {error}",
                self.judge.name()
            ),
        }
    }

    /// Returns whether a history of this test is accepted; `None` if it was not decided in time.
    ///
    /// # Panics
    /// Panics if an operation returns a value that its specification cannot read.
    pub fn is_right(&self, history: &History<Call, Value>) -> Option<bool> {
        let _note = supervise::note(Doing::Judging, None);
        is_accepted(&*self.judged(history))
    }

    /// Returns whether the test checks progress, and some operation of this history should have
    /// returned but did not.
    fn should_go_on(&self, history: &History<Call, Value>) -> bool {
        let _note = supervise::note(Doing::Judging, None);
        self.judge.has_progress() && should_go_on(&*self.judged(history), &self.budget())
    }

    pub(super) fn budget(&self) -> Budget {
        let budget = Budget::unlimited().time(self.options.timeout).memory(1 << 30);
        let budget = self.options.configurations.into_iter().fold(budget, Budget::configurations);
        match &self.cancel {
            Some(token) => budget.cancelled_by(token.clone()),
            None => budget,
        }
    }

    /// Generates the calls of each thread.
    pub(super) fn made_up(&self, shape: &Shape, seed: u64) -> Vec<Vec<Call>> {
        let random = &mut Random::new(seed);
        match self.judge.synchronizing() {
            Some(spec) => spec.program(&self.workload, shape, random),
            None => self.workload.program(shape, random),
        }
    }

    /// Returns the run that this token names, with a new object.
    fn run_of(&self, run: usize, token: &Token) -> Run {
        let seed = match token.program {
            Source::Seed(seed) | Source::Chosen(seed) => seed,
            Source::Fixed(_) | Source::Given(_) | Source::Listed { .. } => RandomState::new().hash_one(0),
        };
        let (before, threads, after) = match self.written(token) {
            Some(Listing { before, threads, after }) => {
                (before, threads.into_iter().map(Behavior::Calls).collect(), after)
            }
            None => {
                let choose = self.choose.as_ref().expect("the test has a worker that chooses its operations");
                let Workload { before, after, .. } = self.workload.clone();
                (before, vec![Behavior::Chooses(Arc::clone(choose)); token.shape.threads as usize], after)
            }
        };
        let (fewest, most) = token.shape.operations;
        let operations = fewest + Random::new(seed).below(most.saturating_sub(fewest) + 1);
        Run { instance: self.construct(run), threads, before, after, operations, seed }
    }

    /// Returns a stage of the portfolio, with the settings of this test applied.
    fn stage(&self, number: u64) -> Stage {
        let Options { threads, operations, chaos, phases, all_arguments, .. } = self.options;
        let place = usize::try_from(number % PORTFOLIO.len() as u64)
            .expect("the remainder is below the length of the portfolio");
        let Stage { mut shape, mut runs } = PORTFOLIO[place];
        if let Some(spec) = self.judge.synchronizing() {
            shape = spec.shape();
        }
        if self.judge.needs_search() {
            let (fewest, most) = shape.operations;
            shape.operations = (fewest.min(MOST_FOR_MODELS), most.min(MOST_FOR_MODELS));
        }
        if let Some(threads) = threads {
            shape.threads = threads;
        }
        if let Some((fewest, most)) = operations {
            shape.operations = (fewest, most);
            // If the user sets the number of operations, each run draws from all arguments, and
            // uses the given weights throughout.
            shape.few = None;
            shape.phases = 0;
            runs = (400 / (most.max(1) * shape.threads)).clamp(1, 40);
        }
        shape.chaos = chaos.unwrap_or(shape.chaos);
        shape.phases = phases.unwrap_or(shape.phases);
        shape.few = shape.few.filter(|_| !all_arguments);
        shape.threads = shape.threads.max(self.workload.fewest_threads());
        Stage { shape, runs }
    }
}

/// Returns whether an operation has not returned although it should have.
pub(super) fn should_go_on(judged: &dyn Judged, budget: &Budget) -> bool {
    matches!(judged.progress(budget), Some(ProgressVerdict::Rejected(_)))
}

/// Returns whether a history was accepted; `None` if it was not decided in time.
pub(super) fn is_accepted(judged: &dyn Judged) -> Option<bool> {
    match judged.judgment().verdict {
        Verdict::Accepted(_) => Some(true),
        Verdict::Rejected(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// The objects of completed runs.
#[must_use = "call `drop_all`, which drops the objects one by one, because any of them may panic"]
pub(super) struct Objects(Vec<Arc<dyn Instance>>);

impl Objects {
    /// Drops all objects. If dropping an object panics, returns the index of the first such object
    /// and the message of its panic.
    pub(super) fn drop_all(self) -> Option<(usize, String)> {
        let mut first = None;
        for (run, object) in self.0.into_iter().enumerate() {
            let _note = supervise::note(Doing::Dropping, Some(run));
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(object))) {
                first = first.or_else(|| Some((run, message(&*payload))));
                std::mem::forget(payload);
            }
        }
        first
    }
}

impl Testing {
    fn found(&self) -> MutexGuard<'_, Vec<FailingRun>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a failure of code outside of operations. If the failure is a panic that does not
    /// count as a failing run, returns the payload of the panic.
    fn trouble(&self, Trouble { doing, token, how }: Trouble) -> Option<Box<dyn Any + Send>> {
        self.is_over.store(true, Ordering::Relaxed);
        match (how, token) {
            (how, Some(token)) if self.plan.is_broken(doing, &how) => {
                let kind = FailureKind::Broken { place: doing.place(), how: how.describe() };
                std::mem::forget(how);
                let seen = Recorded { history: History::builder().finish(), end: End::Complete };
                self.found().push(FailingRun { token: *token, seen, kind, after: self.started.elapsed() });
                None
            }
            (How::Panicked(payload), _) => Some(payload),
            (how @ How::Stuck(_), _) => Some(Box::new(format!("{} {}", doing.place(), how.describe()))),
        }
    }

    fn is_over(&self) -> bool {
        let Options { time, runs, .. } = self.plan.options;
        let time = time.or(if runs.is_none() { Some(DEFAULT_TIME) } else { None });
        let (made, elapsed) = (self.runs.load(Ordering::Relaxed), self.started.elapsed());
        // A test with too few runs would not be meaningful, so slow machines get some more time.
        let is_late = |time: Duration| {
            elapsed >= time && (self.judged() >= self.plan.least_runs() || elapsed >= time.saturating_add(MORE_TIME))
        };
        let is_enough = runs.is_some_and(|runs| made >= runs) || time.is_some_and(is_late);
        let is_enough = is_enough && made > 0;
        is_enough || self.plan.is_cancelled() || self.is_over.load(Ordering::Relaxed)
    }

    fn judged(&self) -> u64 {
        self.runs.load(Ordering::Relaxed).saturating_sub(self.undecided.load(Ordering::Relaxed))
    }

    /// Reduces the size of later runs if judging this batch took more than its share of the time,
    /// or if a run of this batch could not be decided.
    fn leave_time(&self, shape: Shape, making: Duration, judging: Duration, is_undecided: bool) {
        let most = shape.operations.1;
        let smaller = match is_undecided {
            true => most / 2,
            false if judging > making * JUDGING_PER_MAKING && judging > BATCH => most * 3 / 4,
            false => return,
        };
        if most > FEWEST_TO_JUDGE {
            self.most_operations.fetch_min(smaller.max(FEWEST_TO_JUDGE), Ordering::Relaxed);
        }
    }

    /// Returns the reasons why the test has tested too little, and other warnings. Both are empty if a run failed or
    /// the test was canceled.
    fn tested(&self, is_right: bool) -> (Vec<TooLittle>, Vec<String>) {
        if !is_right || self.plan.is_cancelled() {
            return (Vec::new(), Vec::new());
        }
        let (judged, least) = (self.judged(), self.plan.least_runs());
        let (lost, undecided) = (self.lost.load(Ordering::Relaxed), self.undecided.load(Ordering::Relaxed));
        let gave_up = (lost > 0).then_some(TooLittle::GaveUp { lost });
        let few = (judged < least).then_some(TooLittle::FewRuns { judged, least, undecided });
        let others = self.coverage.too_little(&self.plan);
        (gave_up.into_iter().chain(few).chain(others).collect(), self.coverage.warnings(&self.plan))
    }

    fn make_noise(&self) {
        let _known = OsThread::here();
        let mut noise = vec![0_u64; 4096];
        while !self.is_over.load(Ordering::Relaxed) {
            for word in &mut noise {
                *word = std::hint::black_box(word.wrapping_mul(31).wrapping_add(7));
            }
            std::thread::yield_now();
        }
    }

    /// Executes and judges runs until the test is over.
    fn tester(&self, tester: u32) {
        let mut runner = Runner::new();
        // The maximum number of runs in the next batch. It is computed from the time that the last
        // batch took, so that a batch does not take too long.
        let mut most_runs = FIRST_RUNS;
        let Options { replay, name, remembers, testers, .. } = &self.plan.options;
        let left_behind = match name {
            Some(name) if tester == 0 => running::left_behind(name, *testers),
            _ => Vec::new(),
        };
        let mut running = name.as_deref().and_then(|name| Running::create(name, tester));
        if let (None, Some(first)) = (replay, left_behind.first()) {
            let (name, runs) = (name.as_deref().unwrap_or_default(), left_behind.len());
            print_note(&format!(
                "the last time that {name} was tested, the process was killed or exited during one of {runs} runs; \
                 these runs are repeated first, one at a time, starting with {first}"
            ));
            for token in left_behind.iter().filter(|token| token.scheduled.is_none() && self.plan.can_make(token)) {
                if !self.is_over() {
                    self.batch(
                        &mut runner,
                        running.as_mut(),
                        &vec![token.clone(); TRIES_OF_LEFT_BEHIND],
                        Origin::Earlier,
                    );
                }
            }
        }
        if let (None, true, 0) = (replay, remembers, tester) {
            let of_threads = regressions::recall(name.as_deref()).into_iter().filter(|token| token.scheduled.is_none());
            for token in of_threads.filter(|token| self.plan.can_make(token)) {
                for _ in 0..TRIES_OF_REGRESSIONS.div_ceil(10) {
                    let tokens = vec![token.clone(); 10];
                    let (has_failed, _) = self.batch(&mut runner, running.as_mut(), &tokens, Origin::Earlier);
                    if has_failed {
                        break;
                    }
                }
            }
        }
        for batch in 0.. {
            if self.is_over() {
                break;
            }
            if batch % PORTFOLIO.len() == 0 {
                runner.renew();
            }
            let tokens = match replay {
                Some(token) => vec![token.clone(); 10.min(most_runs as usize)],
                None => self.next_tokens(most_runs),
            };
            if tokens.is_empty() {
                // Other testers have claimed the remaining runs, but may still release some of
                // them.
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
            let started = Instant::now();
            let (_, made) = self.batch(&mut runner, running.as_mut(), &tokens, Origin::This);
            if replay.is_none() && self.plan.options.runs.is_some() {
                self.give_back((tokens.len() - made) as u64);
            }
            let took = started.elapsed().max(Duration::from_nanos(1));
            let runs = BATCH.as_nanos() * tokens.len() as u128 / took.as_nanos();
            most_runs = u64::try_from(runs).unwrap_or(u64::MAX).max(1);
        }
    }

    /// Returns the next runs of the portfolio.
    fn next_tokens(&self, most_runs: u64) -> Vec<Token> {
        let batch = self.batches.fetch_add(1, Ordering::Relaxed);
        let mut random = Random::new(self.seed ^ batch.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let plan = &self.plan;
        let Stage { mut shape, runs } = plan.stage(batch);
        if plan.options.operations.is_none() {
            let most = self.most_operations.load(Ordering::Relaxed);
            shape.operations = (shape.operations.0.min(most), shape.operations.1.min(most));
        }
        let mut runs = u64::from(runs).min(most_runs);
        if let Some(most) = plan.options.runs {
            runs = self.claim(runs, most);
        }
        if let Some(program) = &plan.options.only {
            let program = Source::Given(Arc::clone(program));
            return vec![Token { program, shape, scheduled: None }; usize::try_from(runs).unwrap_or(usize::MAX)];
        }
        let sources = u32::from(plan.choose.is_some())
            + u32::try_from(plan.fixed.len()).expect("the number of fixed programs fits in 32 bits");
        let has_random = plan.workload.kinds.iter().any(|kind| kind.weight > 0) && plan.choose.is_none();
        // Draw the source of the programs in this batch. If the test has both fixed and random
        // programs, half of the batches, on average, have random programs.
        let drawn = random.below(sources + u32::from(has_random) * sources.max(1));
        (0..runs)
            .map(|_| {
                let program =
                    if drawn < u32::try_from(plan.fixed.len()).expect("the number of fixed programs fits in 32 bits") {
                        Source::Fixed(drawn)
                    } else if plan.choose.is_some() {
                        Source::Chosen(random.bits())
                    } else {
                        Source::Seed(random.bits())
                    };
                Token { program, shape, scheduled: None }
            })
            .collect()
    }

    /// Claims at most this many `runs`, so that other testers do not execute them, too. In total,
    /// at most `most` runs can be claimed. Returns the number of runs that were claimed.
    fn claim(&self, runs: u64, most: u64) -> u64 {
        let claim = |claimed: u64| Some(claimed.saturating_add(runs).min(most.max(claimed)));
        let before = self.claimed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim).unwrap_or_default();
        runs.min(most.saturating_sub(before))
    }

    /// Releases claimed runs, so that other testers can execute them.
    fn give_back(&self, runs: u64) {
        self.claimed.fetch_sub(runs, Ordering::Relaxed);
    }

    /// Executes runs and judges them. Returns whether a run failed, and the number of judged runs.
    fn batch(
        &self,
        runner: &mut Runner,
        running: Option<&mut Running>,
        tokens: &[Token],
        origin: Origin,
    ) -> (bool, usize) {
        let Some(first) = tokens.first() else { return (false, 0) };
        let settings = self.plan.run_settings(self.clock, first.shape.chaos, self.plan.options.watchdog);
        supervise::note_runs(tokens);
        if let Some(running) = running {
            running.write(tokens);
        }
        let note = supervise::note(Doing::Generating, None);
        let runs = tokens.iter().enumerate().map(|(run, token)| self.plan.run_of(run, token)).collect();
        drop(note);
        let making = Instant::now();
        let (seen, objects) = self.plan.make_runs(runner, runs, &self.kinds, &settings);
        let (making, started) = (making.elapsed(), Instant::now());
        let undecided_before = self.undecided.load(Ordering::Relaxed);
        let (mut found, mut made) = (None, 0);
        for (run, (token, seen)) in tokens.iter().zip(seen).enumerate() {
            made += 1;
            let _note = supervise::note(Doing::Running, Some(run));
            let count = || {
                self.runs.fetch_add(1, Ordering::Relaxed);
                self.operations.fetch_add(seen.history.len() as u64, Ordering::Relaxed);
                self.coverage.add(&seen.history);
            };
            if origin == Origin::This {
                count();
            }
            let is_undecided = Cell::new(false);
            let kind = self.plan.failure_of(&seen, || is_undecided.set(true));
            match (origin, &kind) {
                (Origin::This, _) => {
                    self.undecided.fetch_add(u64::from(is_undecided.get()), Ordering::Relaxed);
                }
                (Origin::Earlier, None) => continue,
                (Origin::Earlier, Some(_)) => count(),
            }
            if let Some(keep) = &self.plan.keep {
                let is_accepted = !matches!(kind, Some(FailureKind::NotLinearizable));
                keep(&self.plan.raw(&seen.history), (!is_undecided.get()).then_some(is_accepted));
            }
            if let Some(kind) = kind {
                found = Some(FailingRun { token: token.clone(), seen, kind, after: self.started.elapsed() });
                break;
            }
        }
        let judging = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.judging.fetch_add(judging, Ordering::Relaxed);
        self.leave_time(
            first.shape,
            making,
            started.elapsed(),
            self.undecided.load(Ordering::Relaxed) > undecided_before,
        );
        if let Some(watch) = &self.plan.watch {
            watch(self.runs.load(Ordering::Relaxed));
        }
        let has_failed = found.is_some();
        // Store the failing runs before objects are dropped, because a drop may never return.
        self.found().extend(found);
        let broken = objects.drop_all().filter(|_| !has_failed);
        self.found().extend(broken.map(|(run, message)| {
            let kind = FailureKind::Broken { place: Doing::Dropping.place(), how: format!("panicked: {message}") };
            let seen = Recorded { history: History::builder().finish(), end: End::Complete };
            FailingRun { token: tokens[run].clone(), seen, kind, after: self.started.elapsed() }
        }));
        let has_enough = self.found().len() >= self.plan.options.collect;
        let has_lost = runner.lost() >= MOST_LOST;
        if has_lost {
            self.lost.fetch_max(runner.lost(), Ordering::Relaxed);
        }
        if has_enough || has_lost {
            self.is_over.store(true, Ordering::Relaxed);
        }
        (has_failed, made)
    }
}

#[expect(clippy::print_stderr, reason = "test harnesses print their notes to stderr, too")]
fn print_note(note: &str) {
    eprintln!("trueline: {note}");
}

#[cfg(all(test, feature = "named"))]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn plan() -> Plan {
        crate::test::test(|| Mutex::new(Vec::new()))
            .spec("stack")
            .operation("push", 0..9_u64, |stack, x| {
                stack.lock().expect("no thread panics while it holds the lock").push(x)
            })
            .operation("pop", (), |stack, ()| stack.lock().expect("no thread panics while it holds the lock").pop())
            .into_plan()
            .forgetful()
    }

    #[test]
    fn weights_are_by_name() {
        let pushes = plan().weights([("pop", 0)]).expect("`push` still has a weight").threads(2).calls(50);
        let program = pushes.workload.program(&pushes.stage(0).shape, &mut Random::new(1)).concat();
        assert!(program.len() == 100 && program.iter().all(|call| call.operation == 0));
        assert!(plan().weights([("peek", 1)]).expect_err("there is no operation `peek`").contains("only push, pop"));
        assert!(plan().weights([("push", 0), ("pop", 0)]).is_err());
    }

    #[test]
    fn runs_end_at_the_first_limit() {
        assert_eq!(plan().runs(7).time(Duration::from_secs(600)).run().runs, 7);
        let outcome = plan().runs(u64::MAX).time(Duration::from_millis(5)).run();
        assert!(outcome.runs >= 1 && outcome.failure.is_none());
    }

    /// A process that was killed leaves a list of runs. The next execution of the test repeats them, but still makes all
    /// the runs that the test requests.
    #[test]
    fn runs_that_are_repeated_are_not_counted() {
        let name = format!("plan::runs_that_are_repeated::{}", std::process::id());
        let path = running::path(&name, 0).expect("the folder of the build is known");
        std::fs::create_dir_all(path.parent().expect("the file is in a folder")).expect("the folder can be created");
        // There is no process 0.
        std::fs::write(&path, "process 0\ns1.t2.o1-2.c0.p1\ns2.t2.o1-2.c0.p1\nend\n").expect("the file can be written");
        let made = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&made);
        let plan = crate::test::test(move || {
            count.fetch_add(1, Ordering::Relaxed);
            AtomicU64::new(0)
        });
        let plan = plan.spec("fetch-add").operation("fetch-add", 1..2_u64, |sum, x| sum.fetch_add(x, Ordering::SeqCst));
        let outcome = plan.into_plan().name(&name).forgetful().runs(3).run();
        assert_eq!((outcome.runs, outcome.failure.is_none()), (3, true));
        let most = made.load(Ordering::Relaxed);
        assert!(most >= 3 + 2 * TRIES_OF_LEFT_BEHIND as u64, "the runs of the file were not repeated: {most} objects");
        assert!(!path.exists());
    }

    #[test]
    fn testers_make_no_more_runs_than_asked_for() {
        for runs in [1, 2, 9] {
            assert_eq!(plan().runs(runs).testers(4).run().runs, runs);
        }
    }

    #[test]
    fn a_cancelled_test_ends() {
        let token = CancelToken::new();
        let cancel = token.clone();
        let outcome = plan().runs(u64::MAX).watch(move |_| cancel.cancel()).cancelled_by(token).run();
        assert!(outcome.runs >= 1 && outcome.failure.is_none());
    }

    #[test]
    fn all_arguments_are_drawn_on_request() {
        assert!((0..8).any(|stage| plan().stage(stage).shape.few.is_some()));
        assert!((0..8).all(|stage| plan().all_arguments().stage(stage).shape.few.is_none()));
    }

    #[test]
    fn whoever_watches_is_told() {
        let told = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&told);
        plan().runs(9).watch(move |runs| seen.store(runs, Ordering::Relaxed)).run();
        assert_eq!(told.load(Ordering::Relaxed), 9);
    }
}

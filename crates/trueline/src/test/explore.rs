//! Exploration of the schedules of a test.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::mem::discriminant;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::calls::Calls;
use super::coverage::{Coverage, TooLittle};
use super::failure::{Failure, FailureKind, Smallest};
use super::listing::Listing;
use super::plan::{Plan, VERIFIED, is_accepted, should_go_on};
use super::programs::{self, Programs};
use super::serial::{self, NamedFactors, Serial, interleavings};
use super::shrink::{self, schedules};
use super::supervise::{self, Doing, How, Supervised, Trouble};
use super::token::{Scheduled, Source, Token};
use super::{Explored, Outcome, regressions};
use crate::drive::systematic::{self, Ended, Execution, Monitor, Program, Pulse, Schedule, Search, Settings};
use crate::drive::{Behavior, Call, Clock, Handle, Instance, OsThread, Random, Shape, Workload};
use crate::history::History;
use crate::judge::Config;

/// The reference that histories are compared with.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Against {
    /// The specification of the test.
    #[default]
    Specification,
    /// The object itself, executing one operation at a time: no specification is needed.
    ///
    /// Comparing an object with itself checks linearizability if every behavior that the object is
    /// allowed to show is also possible when it executes one operation at a time. An object that
    /// satisfies a [relaxed](crate::spec::relaxed) specification may behave differently when
    /// operations overlap, and is then rejected. Judge such an object by its relaxed specification.
    Itself,
    /// The object of another test, executing one operation at a time. This object is assumed to be correct, and must
    /// have operations with the same names.
    Other(Arc<Plan>),
}

impl fmt::Debug for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Specification => "Specification",
            Self::Itself => "Itself",
            Self::Other(_) => "Other",
        })
    }
}

/// Options for exploring a test.
///
/// By default, most of the time is spent on many programs of increasing sizes. To find faults, each
/// program is explored for a short time in several ways. Then a few small programs, of two threads
/// with two or three calls each, are explored completely: first the schedules without preemptions,
/// then those with one preemption, then [all schedules](Search::Exhaustive). If the time does not
/// suffice for all schedules, those with two, three and more preemptions are explored instead. One
/// in ten executions is random. For objects that make random choices, a few seeds are tried before
/// all choices are explored. If there are several such programs, each is explored briefly before
/// any of them is explored completely.
///
/// ```
/// use trueline::primitives::{AtomicU64, Ordering::SeqCst};
/// use trueline::test::{Exploration, call};
///
/// let outcome = trueline::test(|| AtomicU64::new(0))
///     .model(0_u64)
///     .operation("add", 1..9_u64, |sum, x| sum.fetch_add(x, SeqCst), |model, x| { *model += x; *model - x })
///     .program([vec![call("add", 1_u64)], vec![call("add", 2_u64), call("add", 3_u64)]])
///     .weight(0)
///     .explore(Exploration::new())
///     .outcome();
/// assert!(outcome.failure.is_none());
/// let explored = outcome.explored.unwrap();
/// assert!(explored.is_complete && explored.histories > 5);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "an exploration does nothing until it is passed to `explore`"]
pub struct Exploration {
    calls: Option<Calls>,
    number: Option<u32>,
    programs: Option<u32>,
    search: Option<Search>,
    choices: Option<u64>,
    spurious: u32,
    most_steps: Option<u64>,
    os_threads: u32,
    against: Against,
    factors: Vec<(String, u32)>,
}

impl Exploration {
    /// Creates the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Explores all well-formed programs with these numbers of calls. A program is well formed if
    /// it removes as many values as it inserts. A function with which [threads
    /// choose](super::Test::worker) their calls is ignored. If there are more than 100,000
    /// programs, the first 100,000 are explored, and the exploration is not complete.
    ///
    /// ```
    /// use trueline::test::Exploration;
    ///
    /// let exploration = Exploration::new().calls("2*2+4".parse().unwrap());
    /// ```
    pub fn calls(mut self, calls: Calls) -> Self {
        self.calls = Some(calls);
        self
    }

    /// Explores only the program with this number, among those of [`calls`](Self::calls).
    pub fn number(mut self, number: u32) -> Self {
        self.number = Some(number);
        self
    }

    /// Sets the number of programs to generate, if programs are generated. Defaults to 20. At most
    /// 100,000 programs are explored.
    pub fn programs(mut self, programs: u32) -> Self {
        self.programs = Some(programs.max(1));
        self
    }

    /// Sets the schedules to explore.
    pub fn search(mut self, search: Search) -> Self {
        self.search = Some(search);
        self
    }

    /// Explores schedules with at most this many preemptions: switches away from a thread that could continue, in the
    /// middle of an operation.
    pub fn preemptions(self, most: u32) -> Self {
        self.search(Search::Preemptions(most))
    }

    /// Draws the object's random choices from a seed, instead of exploring them. Nevertheless, the
    /// serial executions with which histories are compared explore all choices.
    pub fn choices(mut self, seed: u64) -> Self {
        self.choices = Some(seed);
        self
    }

    /// Allows each thread this many spurious wake-ups from condition variables, and explores all of them.
    pub fn spurious(mut self, times: u32) -> Self {
        self.spurious = times;
        self
    }

    /// Limits the steps of an execution. An execution that takes more steps is reported as not
    /// terminating.
    pub fn most_steps(mut self, steps: u64) -> Self {
        self.most_steps = Some(steps);
        self
    }

    /// Sets the number of operating system threads that explore. Defaults to one. With more than one, the failure
    /// that is found first may differ from run to run.
    pub fn os_threads(mut self, threads: u32) -> Self {
        self.os_threads = threads;
        self
    }

    /// Sets the reference that histories are compared with.
    pub fn against(mut self, against: Against) -> Self {
        self.against = against;
        self
    }

    /// Allows operations with this name to be out of order, each by at most `factor` places among
    /// the operations with this name. These are the semantics [(C)](crate::judge::quasi), which
    /// Round-Up uses. Operations with other names keep their places.
    ///
    /// Each program is compared with the serial histories of the reference that
    /// [`against`](Self::against) sets; if the reference is the specification, the specification
    /// must be deterministic. Programs must insert as many values as they remove, like those of
    /// [`calls`](Self::calls): otherwise, an execution whose operations are out of order might
    /// return a value that no serial execution returns. Do not set a factor for an object that is
    /// compared with itself: its serial histories already contain its own reordering, which would
    /// count twice.
    ///
    /// ```
    /// use std::collections::VecDeque;
    /// use trueline::primitives::{Mutex, choose};
    /// use trueline::test::Exploration;
    ///
    /// /// A queue that dequeues one of its first two values.
    /// #[derive(Default)]
    /// struct Nearly(Mutex<VecDeque<u32>>);
    ///
    /// let explored = |factor| {
    ///     trueline::test(Nearly::default)
    ///         .model(VecDeque::new())
    ///         .operation("enqueue", trueline::drive::unique(), |queue, x| queue.0.lock().push_back(x as u32), |model, x| model.push_back(x as u32))
    ///         .operation("dequeue", (), |queue, ()| {
    ///             let mut values = queue.0.lock();
    ///             let place = choose(values.len().clamp(1, 2));
    ///             values.remove(place)
    ///         }, |model, ()| model.pop_front())
    ///         .explore(Exploration::new().calls("1*1+4".parse().unwrap()).factor("enqueue", 0).factor("dequeue", factor))
    ///         .outcome()
    /// };
    /// assert!(explored(0).failure.is_some());
    /// assert!(explored(2).failure.is_none());
    /// assert_eq!(explored(2).explored.unwrap().semantics.unwrap(), "quasi linearizable compared with serial runs (enqueue 0, dequeue 2)");
    /// ```
    pub fn factor(mut self, operation: &str, factor: u32) -> Self {
        self.factors.push((operation.to_owned(), factor));
        self
    }

    fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        settings.choices = self.choices;
        settings.spurious = self.spurious;
        settings.os_threads = self.os_threads.max(1);
        settings.most_steps = self.most_steps.unwrap_or(settings.most_steps);
        settings
    }
}

/// The default time limit.
const DEFAULT_TIME: Duration = Duration::from_secs(5);
/// The default number of generated programs.
const PROGRAMS: u32 = 20;
/// The maximum number of programs that are explored. It is limited because all of them are kept in
/// memory.
const MOST_PROGRAMS: usize = 100_000;
/// The number of seeds that are tried for an object that makes random choices, before all choices
/// are explored.
const GLANCES: u64 = 8;
/// The maximum number of preemptions in the searches that try [`GLANCES`] seeds.
const GLANCED_PREEMPTIONS: u32 = 2;
/// The searches that try [`GLANCES`] seeds get 1/N of the time, where N is this number.
const GLANCE_PART: u32 = 4;
/// The maximum number of executions for each combination of a seed and a number of preemptions,
/// unless [`Exploration::search`] is set.
const GLANCED_EXECUTIONS: u64 = 50;
/// The maximum number of executions of each search, when each of several programs is explored briefly.
const TRIED_EXECUTIONS: u64 = 1000;
/// The first pass over all programs gets 1/N of the time, where N is this number. If the pass does
/// not explore a program completely, up to half of the program's time is for short searches.
const FIRST_PART: u32 = 5;
/// One in N executions is random, where N is this number, unless [`Exploration::search`] is set.
/// The search chooses the schedules of the other executions.
const RANDOM_ONE_IN: u32 = 10;
/// The default size of the generated programs that are explored completely.
const SMALL: Shape = Shape { threads: 2, operations: (2, 3), chaos: 0, few: Some(2), phases: 0 };

/// The fraction of the time that is spent on short searches of programs of all sizes, before some
/// programs are explored completely.
const HUNT_PART: f64 = 0.7;
/// The maximum time for the short searches. It is limited to a day, so that adding it to an
/// `Instant` cannot overflow.
const LONGEST_LOOK: Duration = Duration::from_secs(86_400);
/// The short searches cover all sizes of programs in rounds. For each number N in this list, there
/// is one round, which may take 1/N of the time that remains for all rounds.
const HUNT_ROUNDS: [u32; 2] = [3, 1];
/// The time for each size suffices for short searches of at least this many programs: the search of
/// one program may take 1/N of that time, where N is this number.
const HUNTED_AT_LEAST: u32 = 10;
/// The sizes of programs, small ones first. Each size consists of three numbers: the number of
/// threads in addition to the minimum; the maximum number of operations of each thread; and the
/// maximum number of calls that the main thread makes before the other threads start. After the
/// other threads are done, the main thread makes at most the same number of calls again.
const SIZES: [(u32, u32, u32); 11] = [
    (0, 1, 3),
    (0, 2, 3),
    (1, 1, 3),
    (0, 1, 12),
    (0, 3, 4),
    (1, 2, 4),
    (0, 2, 8),
    (1, 3, 8),
    (2, 2, 6),
    (0, 5, 8),
    (2, 4, 4),
];
/// The maximum number of different arguments in programs of the sizes in [`SIZES`]. The program
/// with the number n uses item n modulo 7 of this list; `None` allows all arguments. Other
/// properties of a program depend on whether n is divisible by 2, 3 or 4. The length of the list is
/// 7, so that each item occurs with and without each of these properties.
const FEW_ARGUMENTS: [Option<u32>; 7] = [Some(2), Some(1), None, Some(3), Some(1), Some(5), Some(2)];
/// If this many generated programs in a row have already been searched, the search continues with
/// the next size.
const MOST_KNOWN: u32 = 50;
/// In one in N programs, where N is this number, threads may wake spuriously from condition
/// variables.
const SPURIOUS_ONE_IN: u32 = 4;

/// Explores a test, if it has an exploration or a token to replay.
pub(super) fn run(plan: &Plan) -> Option<Outcome> {
    let options = &plan.options;
    let replayed = options.replay.as_ref().filter(|token| token.scheduled.is_some());
    if options.exploration.is_none() && replayed.is_none() {
        return None;
    }
    let exploring = Exploring::new(plan.clone());
    let (pulse, coverage) = (Arc::clone(&exploring.pulse), Arc::clone(&exploring.coverage));
    let (started, seed, replayed) = (exploring.started, exploring.seed, replayed.cloned());
    let supervised = Supervised::start(move || exploring.run(replayed.as_ref()));
    let _known = OsThread::here();
    let (monitor, stuck) = (RefCell::new(Monitor::default()), Cell::new(None));
    let longest = LONGEST_STEP.max(options.watchdog.saturating_mul(VERIFIED));
    let limit = |doing| {
        let is_stuck = |stuck: &systematic::Doing| *stuck != systematic::Doing::Judging;
        stuck.set(monitor.borrow_mut().look(&pulse, longest).filter(is_stuck));
        // If an execution is stuck, stop at once. Otherwise, the time limit is that of the current
        // activity of the exploration.
        if stuck.get().is_some() { Some(Duration::ZERO) } else { plan.limit(doing) }
    };
    let broken = |Trouble { doing, token, how }: Trouble| {
        let is_broken = plan.is_broken(doing, &how);
        let how = match how {
            How::Panicked(payload) if !is_broken => resume_unwind(payload),
            how => how,
        };
        let (place, description) = match stuck.get() {
            Some(systematic::Doing::Operation(number)) => ("an operation", plan.blocked_outside(number, longest)),
            Some(_) if doing == Doing::Running => ("the test", format!("did not return within {longest:.1?}")),
            Some(_) => (doing.place(), format!("did not return within {longest:.1?}")),
            None => (doing.place(), how.describe()),
        };
        std::mem::forget(how);
        let token = token.map_or_else(|| plan.given(&Listing::default(), "".into(), 0), |token| *token);
        let (kind, after, nothing) =
            (FailureKind::Broken { place, how: description }, started.elapsed(), History::builder().finish());
        let explored = Explored { executions: coverage.runs(), ..Explored::default() };
        Outcome {
            runs: explored.executions,
            operations: 0,
            undecided: 0,
            lost: 1,
            elapsed: after,
            judging: Duration::ZERO,
            seed,
            clock: Clock::Counter,
            warning: None,
            too_little: Vec::new(),
            warnings: Vec::new(),
            failure: Some(Failure::new(plan, &nothing, kind, token, after, &[])),
            further: Vec::new(),
            explored: Some(explored),
        }
    };
    let (exploring, mut outcome) = match supervised.wait(limit) {
        Ok(explored) => explored,
        Err(trouble) => return Some(broken(trouble)),
    };
    let found = exploring.found.clone();
    if !found.is_empty() {
        let plain = |plan: &Plan| found.iter().map(|wrong| wrong.plain(plan)).collect();
        let mut failures = plan.explained(move || exploring.failures(), plain, limit).into_iter();
        (outcome.failure, outcome.further) = (failures.next(), failures.collect());
    }
    Some(outcome)
}

/// An execution counts as stuck if, for longer than this time, it does nothing that the scheduler
/// can observe.
const LONGEST_STEP: Duration = Duration::from_secs(1);

/// The maximum number of preemptions in the systematic searches of shrinking, if the failure was
/// found at random. Few faults need more preemptions.
const PREEMPTIONS: u32 = 2;
/// The random search for failures in programs that are too large for a systematic search.
const BY_CHANCE: Search = Search::Pct { depth: 3 };
/// If the random search of a program finds no failure, the program is also searched systematically, but only if it has
/// at most this many calls.
const MOST_CALLS: usize = 6;
/// The time for shrinking suffices for random searches of at least this many candidates: the search
/// of one candidate may take 1/N of that time, where N is this number.
const CANDIDATES: u32 = 32;
/// The maximum time for the random search of a candidate.
const LONGEST: Duration = Duration::from_millis(250);

/// Explores programs that may fail in the same way as a failed run on real threads, each program
/// for at most the time `share`. Shrinks the first program that fails, but only until `end`.
pub(super) fn shrink_further<'w>(
    plan: &Plan,
    first: &shrink::First<'_>,
    programs: impl IntoIterator<Item = &'w Listing>,
    (share, end): (Duration, Instant),
    after: Duration,
) -> Option<Failure> {
    let started = Instant::now();
    let search = Exploring::new(plan.clone());
    let mut settings = search.settings();
    settings.search = BY_CHANCE;
    programs.into_iter().find_map(|program| {
        let time = share.min(end.saturating_duration_since(Instant::now()));
        let candidate = || search.candidate(program, &settings, first.kind, time);
        let found = catch_unwind(AssertUnwindSafe(candidate)).ok()?;
        let schedules::Explored::Wrong(execution, kind, _) = found else { return None };
        let text = program.to_text(&plan.workload.kinds);
        let token = scheduled(plan.given(program, text.into(), 0), &settings, &execution);
        let origin = Origin { token: first.token, of_calls: first.program.calls(), is_known: true, started, end };
        let wrong = Wrong { settings: settings.clone(), execution: *execution, kind, token, after };
        Some(search.shrunk_from(wrong, program, origin))
    })
}

/// An exploration of a test.
struct Exploring {
    plan: Arc<Plan>,
    pulse: Arc<Pulse>,
    coverage: Arc<Coverage>,
    /// For each operation, whether it reached a schedule point.
    reached: Vec<bool>,
    /// The maximum number of executions of a search.
    most_executions: u64,
    exploration: Exploration,
    started: Instant,
    seed: u64,
    undecided: Arc<AtomicU64>,
    judging: Arc<AtomicU64>,
    operations: u64,
    explored: Explored,
    /// For each program, the number of different histories that were found.
    histories: Vec<(Token, u64)>,
    /// For each program, the number of preemptions up to which it was explored completely; `None`
    /// if some schedules without preemptions were not explored.
    complete_up_to: Vec<(Token, Option<u32>)>,
    /// For each program, all its serial histories, if histories are compared with them.
    serial: Vec<(Token, Arc<Serial>)>,
    found: Vec<Wrong>,
}

/// An execution that failed.
#[derive(Clone)]
struct Wrong {
    settings: Settings,
    execution: Execution,
    kind: FailureKind,
    token: Token,
    after: Duration,
}

impl Wrong {
    /// Returns the failure without running any code of the test.
    fn plain(&self, plan: &Plan) -> Failure {
        let Self { execution, kind, token, after, .. } = self;
        Failure::new(plan, &execution.history, kind.clone(), token.clone(), *after, &[])
    }
}

/// The origin of a program that is shrunk.
#[derive(Clone, Copy)]
struct Origin<'o> {
    /// The name of the run that failed first.
    token: &'o Token,
    /// The number of calls in the program of that run.
    of_calls: usize,
    /// Whether the calls of the program that failed were known before it ran. If not, the threads
    /// chose their calls while they ran.
    is_known: bool,
    started: Instant,
    /// The time limit for shrinking.
    end: Instant,
}

/// The error that is returned if there was not enough time to find all serial histories.
#[derive(Debug)]
struct OutOfTime {
    executions: u64,
}

/// The failures found so far, before they are explained.
type Found = Arc<Mutex<Vec<(FailureKind, Duration)>>>;

impl Exploring {
    fn new(plan: Plan) -> Self {
        Self {
            exploration: plan.options.exploration.clone().unwrap_or_default(),
            started: Instant::now(),
            seed: plan.options.seed.unwrap_or_else(|| RandomState::new().hash_one(std::process::id())),
            plan: Arc::new(plan),
            pulse: Arc::default(),
            coverage: Arc::default(),
            reached: Vec::new(),
            most_executions: u64::MAX,
            undecided: Arc::default(),
            judging: Arc::default(),
            operations: 0,
            explored: Explored { is_complete: true, ..Explored::default() },
            histories: Vec::new(),
            complete_up_to: Vec::new(),
            serial: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Explores, and returns the outcome without its [failures](Self::failures).
    fn run(mut self, replayed: Option<&Token>) -> (Self, Outcome) {
        let plan = Arc::clone(&self.plan);
        assert!(
            !(self.compares() && plan.judge.synchronizing().is_some()),
            "operations that synchronize cannot run one at a time, so they cannot be compared with serial runs: leave \
             out `.against(..)` and `.factor(..)`"
        );
        match replayed {
            Some(token) => {
                self.again(token);
            }
            None => {
                let remembered =
                    if plan.options.remembers { regressions::recall(plan.options.name.as_deref()) } else { vec![] };
                let mut is_found = false;
                let compares = self.compares();
                let can_make = |token: &&Token| {
                    let can_compare = !(compares && matches!(token.program, Source::Chosen(_)));
                    token.scheduled.is_some() && plan.can_make(token) && can_compare
                };
                for token in remembered.iter().filter(can_make) {
                    is_found |= self.again(token);
                }
                if !is_found {
                    self.programs();
                }
            }
        }
        let elapsed = self.started.elapsed();
        let (too_little, warnings) =
            if self.found.is_empty() && !plan.is_cancelled() { self.tested() } else { (Vec::new(), Vec::new()) };
        let outcome = Outcome {
            runs: self.explored.executions,
            operations: self.operations,
            undecided: self.undecided.load(Ordering::Relaxed),
            lost: 0,
            elapsed,
            judging: Duration::from_nanos(self.judging.load(Ordering::Relaxed)),
            seed: self.seed,
            clock: Clock::Counter,
            warning: None,
            too_little,
            warnings,
            failure: None,
            further: Vec::new(),
            explored: Some(self.explored.clone()),
        };
        (self, outcome)
    }

    /// Returns reports about the failing executions. The first report is about the smallest program
    /// that fails.
    fn failures(mut self) -> Vec<Failure> {
        let mut found = std::mem::take(&mut self.found).into_iter();
        let first = found.next().map(|wrong| self.shrunk(wrong));
        first.into_iter().chain(found.map(|wrong| self.failure(&wrong))).collect()
    }

    /// Returns the reasons why the exploration has tested too little, and other warnings. This
    /// function is called only if no failure was found.
    fn tested(&self) -> (Vec<TooLittle>, Vec<String>) {
        let (plan, coverage) = (&self.plan, &self.coverage);
        if plan.options.replay.is_some() || coverage.runs() == 0 {
            return (Vec::new(), Vec::new());
        }
        let mut too_little = coverage.too_little(plan);
        let mut warnings = coverage.warnings(plan);
        let unreached = coverage.called_except(plan, &self.reached);
        if !self.reached.contains(&true) {
            // Operations without schedule points never overlap.
            too_little.retain(|reason| !matches!(reason, TooLittle::NoOverlap { .. }));
            too_little.push(TooLittle::NoSchedulePoint);
        } else if !unreached.is_empty() {
            let names: Vec<String> = unreached.iter().map(|name| format!("`{name}`")).collect();
            warnings.push(format!(
                "some operations reached no schedule point, so they were never interrupted: {}; they do not use \
                 `trueline::primitives`; {}",
                names.join(", "),
                super::how_to_instrument()
            ));
        }
        let is_relaxed = self.exploration.factors.iter().any(|(_, factor)| *factor > 0);
        if is_relaxed && matches!(self.exploration.against, Against::Itself) {
            warnings.push(
                "the object's serial runs are already out of order, so the factors would count this reordering twice: \
                 compare the object with a strictly ordered one"
                    .to_owned(),
            );
        }
        let undecided = self.undecided.load(Ordering::Relaxed);
        if undecided >= coverage.runs() {
            too_little.push(TooLittle::FewRuns { judged: 0, least: 1, undecided });
        }
        (too_little, warnings)
    }

    /// Returns whether histories are compared with serial ones.
    fn compares(&self) -> bool {
        !matches!(self.exploration.against, Against::Specification) || !self.exploration.factors.is_empty()
    }

    /// Returns the factor of each operation that has one: the number of places by which it may be out of order.
    /// Returns `None` if no operation has a factor.
    fn factors(&self) -> Option<NamedFactors> {
        let plan = &self.plan;
        let factor = |(name, factor): &(String, u32)| {
            let number = plan.workload.find(name);
            let number = number.unwrap_or_else(|| {
                panic!("there is a factor for `{name}`, but the test has only {}", plan.operation_names().join(", "))
            });
            (number, Arc::clone(&plan.workload.kinds[number as usize].name), *factor)
        };
        let factors = &self.exploration.factors;
        (!factors.is_empty()).then(|| factors.iter().map(factor).collect())
    }

    /// Returns all serial histories of a program, according to the specification.
    fn serial_of_specification(&self, program: &Program, factors: NamedFactors) -> Serial {
        let mut serial = Serial::with_factors(Some(factors));
        let threads: Vec<&[Call]> = program
            .threads
            .iter()
            .map(|behavior| match behavior {
                Behavior::Calls(calls) => &calls[..],
                Behavior::Chooses(_) => &[],
            })
            .collect();
        let lengths: Vec<usize> = threads.iter().map(|calls| calls.len()).collect();
        interleavings(&lengths, &mut |order| {
            let mut next = vec![0; threads.len()];
            let of_threads = order.iter().map(|thread| {
                next[*thread] += 1;
                threads[*thread][next[*thread] - 1].clone()
            });
            let calls: Vec<Call> =
                program.before.iter().cloned().chain(of_threads).chain(program.after.iter().cloned()).collect();
            let Some(sequences) = self.plan.judge.sequences(&calls) else {
                panic!(
                    "`{}` allows several results, so serial histories cannot be generated from it: use a \
                     strictly ordered specification, or leave out the factors",
                    self.plan.judge.name()
                );
            };
            for results in sequences {
                let calls = calls.iter().cloned().zip(results);
                serial.add_sequence(calls.map(|(call, result)| (0, call, result)));
            }
        });
        serial
    }

    fn settings(&self) -> Settings {
        let mut settings = self.exploration.settings();
        settings.pulse = Some(Arc::clone(&self.pulse));
        settings
    }

    fn has_enough(&self) -> bool {
        self.found.len() >= self.plan.options.collect
    }

    /// Returns the remaining time.
    fn time_left(&self) -> Duration {
        let options = &self.plan.options;
        let time = options.time.or(if options.runs.is_none() { Some(DEFAULT_TIME) } else { None });
        time.map_or(Duration::MAX, |time| time.saturating_sub(self.started.elapsed()))
    }

    /// Returns a function that stops the exploration when the test is canceled.
    fn stop(&self) -> Option<systematic::Stop> {
        let token = self.plan.cancel.clone()?;
        Some(Arc::new(move || token.is_cancelled()))
    }

    fn executions_left(&self) -> Option<u64> {
        self.plan.options.runs.map(|most| most.saturating_sub(self.explored.executions))
    }

    fn is_over(&self) -> bool {
        let is_enough = self.has_enough() || self.time_left().is_zero() || self.executions_left() == Some(0);
        is_enough || self.plan.is_cancelled()
    }

    /// Explores all programs.
    fn programs(&mut self) {
        let plan = Arc::clone(&self.plan);
        let options = &plan.options;
        let fewest = plan.judge.synchronizing().map_or(SMALL.threads, |spec| spec.fewest_threads());
        let shape = Shape {
            threads: options.threads.unwrap_or(fewest).max(plan.workload.fewest_threads()),
            operations: options.operations.unwrap_or(SMALL.operations),
            few: SMALL.few.filter(|_| options.operations.is_none() && !options.all_arguments),
            ..SMALL
        };
        let token = |program| Token { program, shape, scheduled: None };
        self.hunt(shape);
        if self.is_over() {
            self.explored.is_complete = false;
            return;
        }
        let mut random = Random::new(self.seed);
        let calls = self.exploration.calls.clone();
        let programs = self.exploration.programs.unwrap_or(PROGRAMS);
        let sources: Box<dyn Iterator<Item = Source>> = match (calls, &plan.choose) {
            _ if options.only.is_some() => Box::new(options.only.iter().cloned().map(Source::Given)),
            (Some(calls), _) => {
                let count = Programs::new(&plan.workload, &calls, |number| plan.meaning(number)).count();
                let numbers = match (self.exploration.number, count) {
                    (Some(number), _) => number..number + 1,
                    (None, Some(count)) => 0..count,
                    (None, None) => 0..programs,
                };
                Box::new(numbers.map(move |number| Source::Listed { calls: calls.clone(), number }))
            }
            (None, _) if !plan.fixed.is_empty() => Box::new(
                (0..u32::try_from(plan.fixed.len()).expect("the number of fixed programs fits in 32 bits"))
                    .map(Source::Fixed),
            ),
            (None, Some(_)) => Box::new((0..programs).map(|_| Source::Chosen(random.bits()))),
            (None, None) => Box::new((0..programs).map(|_| Source::Seed(random.bits()))),
        };
        let mut sources = sources;
        let mut left: Vec<Token> = sources.by_ref().take(MOST_PROGRAMS).map(token).collect();
        let are_all = sources.next().is_none();
        let count = u32::try_from(left.len()).unwrap_or(u32::MAX).max(1);
        let share = self.time_left() / GLANCE_PART / count;
        for token in &left {
            if self.is_over() {
                break;
            }
            self.glance(token, share);
        }
        let is_free = self.exploration.search.is_none() && options.runs.is_none();
        if is_free && left.len() > 1 {
            left = self.tried(left);
        }
        // In the first pass, every program gets a share of the time: small programs are explored
        // completely, and larger ones are searched briefly. In the second pass, the time is shared
        // among the unfinished programs. In the third pass, the remaining time is shared among the
        // programs that are still unfinished. If the test sets the search or the number of
        // executions, there is no first pass.
        for part in if is_free { &[FIRST_PART, 1, 1][..] } else { &[1, 1] } {
            let mut unfinished = Vec::new();
            let (count, end) = (left.len(), self.started.elapsed().saturating_add(self.time_left() / *part));
            for (done, token) in left.into_iter().enumerate() {
                let rest = end.saturating_sub(self.started.elapsed());
                let share = rest / u32::try_from(count - done).unwrap_or(u32::MAX).max(1);
                let looks = if *part == FIRST_PART { (share / 2).min(LONGEST_LOOK) } else { Duration::ZERO };
                if self.is_over() || !self.explore(&token, share - looks) {
                    // The first of these two searches allows spurious wake-ups from condition
                    // variables.
                    for number in 0..if looks.is_zero() { 0 } else { 2 } {
                        self.look_for(&token, number, looks / 2);
                    }
                    unfinished.push(token);
                }
            }
            left = unfinished;
            if left.is_empty() || self.exploration.search.is_some() {
                break;
            }
        }
        self.explored.is_complete &= are_all && left.is_empty();
        self.explored.histories = self.histories.iter().map(|(_, histories)| histories).sum();
        self.explored.programs += self.histories.len() as u64;
        let up_to = self.complete_up_to.iter().map(|(_, most)| *most);
        // Programs that were not started have no entry in `complete_up_to`. If there is such a
        // program, the exploration is not complete up to any number of preemptions.
        self.explored.preemptions =
            up_to.min().flatten().filter(|_| are_all && left.iter().all(|token| self.was_begun(token)));
    }

    /// Explores each program with a limited number of executions, before any program is explored
    /// completely. So a fault that occurs only in the last program is found early. Returns the
    /// programs that need more executions.
    fn tried(&mut self, programs: Vec<Token>) -> Vec<Token> {
        let share = self.time_left() / FIRST_PART / u32::try_from(programs.len()).unwrap_or(u32::MAX).max(1);
        self.most_executions = TRIED_EXECUTIONS;
        let unfinished = programs.into_iter().filter(|token| self.is_over() || !self.explore(token, share)).collect();
        self.most_executions = u64::MAX;
        unfinished
    }

    /// Searches many programs for faults, starting with small programs. Each program is searched
    /// for a short time, in several ways.
    ///
    /// This search finds faults that occur only with calls that the few completely explored
    /// programs do not make.
    fn hunt(&mut self, shape: Shape) {
        let plan = Arc::clone(&self.plan);
        let (options, exploration) = (&plan.options, &self.exploration);
        let is_made_up = exploration.calls.is_none() && options.only.is_none() && plan.fixed.is_empty();
        let is_asked_for =
            exploration.search.is_some() || exploration.programs.is_some() || options.operations.is_some();
        if !is_made_up || is_asked_for || options.runs.is_some() {
            return;
        }
        let end = self.started.elapsed() + self.time_left().min(LONGEST_LOOK).mul_f64(HUNT_PART);
        let (mut number, mut known) = (0, HashSet::new());
        for part in HUNT_ROUNDS {
            let round = end.saturating_sub(self.started.elapsed()) / part;
            let round_end = self.started.elapsed() + round;
            for (done, size) in SIZES.into_iter().enumerate() {
                let left = round_end.saturating_sub(self.started.elapsed());
                let time = left / u32::try_from(SIZES.len() - done).unwrap_or(1);
                let size_end = self.started.elapsed() + time;
                while !self.is_over() && self.started.elapsed() < size_end {
                    // There are only a few different programs of the smallest sizes, so stop if
                    // many generated programs in a row have already been searched.
                    let unknown = (0..MOST_KNOWN).find_map(|_| {
                        number += 1;
                        let token = self.hunted(number, size, shape);
                        known.insert(token.to_string()).then_some(token)
                    });
                    let Some(token) = unknown else { break };
                    self.look_for(&token, number, time / HUNTED_AT_LEAST);
                    // A program that was only searched briefly does not count as explored.
                    self.histories.retain(|(known, _)| *known != token);
                    self.serial.retain(|(known, _)| *known != token);
                }
            }
        }
    }

    /// Returns the program with this number and size.
    fn hunted(&self, number: u32, (more_threads, operations, of_main): (u32, u32, u32), shape: Shape) -> Token {
        let _note = supervise::note(Doing::Generating, None);
        let plan = &self.plan;
        let few = FEW_ARGUMENTS[number as usize % FEW_ARGUMENTS.len()].filter(|_| shape.few.is_some());
        let seed = Random::new(self.seed ^ u64::from(number) << 32).bits();
        let shape = Shape {
            threads: shape.threads + more_threads,
            operations: (operations.div_ceil(2), operations),
            few,
            ..shape
        };
        if plan.choose.is_some() {
            return Token { program: Source::Chosen(seed), shape, scheduled: None };
        }
        let may_be_around =
            plan.judge.synchronizing().is_none() && plan.workload.roles.is_empty() && !plan.options.has_handles;
        if !may_be_around || plan.workload.kinds.iter().any(|kind| kind.may_block) {
            return Token { program: Source::Seed(seed), shape, scheduled: None };
        }
        // Calls for two more threads are generated. The main thread makes these calls before and after the other
        // threads run.
        let around = Shape { threads: shape.threads + 2, operations: (operations, operations.max(of_main)), ..shape };
        let mut random = Random::new(seed);
        let mut calls = plan.made_up(&around, seed);
        let mut take = || {
            let mut calls = calls.pop().unwrap_or_default();
            calls.truncate(random.below(of_main + 1) as usize);
            calls
        };
        let (mut after, mut before) = (take(), take());
        // Calling one operation many times can bring the object into an unusual state.
        if number % 3 == 0 {
            if let Some(first) = before.first().map(|call| call.operation) {
                let mut unique = plan.workload.before.len() as u64 + u64::from(u16::MAX);
                for call in &mut before {
                    unique += 1;
                    call.argument = match few {
                        Some(few) => plan.workload.draw(first, random.bits(), few, unique),
                        None => plan.workload.call(first, &mut random, &mut unique).argument,
                    };
                    call.operation = first;
                }
            }
        }
        // If the object is a container, every second program sorts the calls of the main thread.
        // Before the other threads run, insertions come first, to fill the container. After the
        // other threads are done, removals come first, to remove the remaining values.
        if let Some((insert, remove)) = programs::pair(&plan.workload, |number| plan.meaning(number)) {
            if number % 2 == 0 {
                before.sort_by_key(|call| call.operation != insert);
                after.sort_by_key(|call| call.operation != remove);
            }
        }
        calls.iter_mut().for_each(|calls| calls.truncate(operations as usize));
        let Workload { before: first, after: last, .. } = &plan.workload;
        let program =
            Listing { before: [&first[..], &before].concat(), threads: calls, after: [&after[..], last].concat() };
        let text = program.to_text(&plan.workload.kinds);
        plan.given(&program, text.into(), 0)
    }

    /// Searches a program for faults for a short time: first with few preemptions, then at random.
    /// The object's random choices are first drawn from a seed, then explored. If `number` is
    /// divisible by [`SPURIOUS_ONE_IN`], threads may also wake spuriously from condition variables.
    fn look_for(&mut self, token: &Token, number: u32, time: Duration) {
        supervise::note_runs(std::slice::from_ref(token));
        let program = self.program(token);
        let deadline = Instant::now() + time;
        let left = || deadline.saturating_duration_since(Instant::now());
        let (choices, spurious) = (self.exploration.choices, self.exploration.spurious);
        let Ok(serial) = self.serial(token, &program, Some(left())) else { return };
        let makes_choices =
            choices.is_none() && systematic::replay(&program, &self.settings(), &Schedule::default()).choices > 0;
        if number % SPURIOUS_ONE_IN == 0 {
            self.exploration.spurious = spurious.max(1);
        }
        let ways = [
            (Search::Preemptions(1), true),
            (Search::Preemptions(2), true),
            (Search::Pct { depth: 2 }, true),
            (BY_CHANCE, true),
            (Search::Pct { depth: 2 }, false),
            (Search::Uniform, false),
        ];
        let mut is_small = true;
        for (done, (search, by_seed)) in ways.iter().enumerate() {
            let rest = left();
            if self.is_over() || rest.is_zero() || (is_small && done == 2 && !makes_choices) {
                break;
            }
            // A program that is too large to be searched completely with one preemption is too
            // large for two.
            if !is_small && done == 1 {
                continue;
            }
            let share = rest / u32::try_from(ways.len() - done).unwrap_or(1);
            self.exploration.choices = choices.or(by_seed.then_some(u64::from(number)));
            is_small &= self.search(token, &program, search, serial.as_ref(), Some(share));
        }
        (self.exploration.choices, self.exploration.spurious) = (choices, spurious);
    }

    fn was_begun(&self, token: &Token) -> bool {
        self.complete_up_to.iter().any(|(known, _)| known == token)
    }

    fn program(&self, token: &Token) -> Program {
        let _note = supervise::note(Doing::Generating, None);
        let plan = &self.plan;
        if let Some(program) = plan.written(token) {
            if !self.exploration.factors.is_empty() {
                plan.well_formed(&program).unwrap_or_else(|fault| panic!("{fault}"));
            }
            return plan.program_of(program);
        }
        // The calls depend on the schedule, so concurrent threads may make calls that no serial
        // execution makes, even if the object is correct.
        assert!(
            !self.compares(),
            "threads that choose their operations cannot be compared with serial runs; set the operations with \
             `.calls(..)` of the exploration or with `.program(..)`"
        );
        let seed = if let Source::Chosen(seed) = token.program { seed } else { 0 };
        let choose = plan.choose.as_ref().expect("the test has a worker that chooses its operations");
        let threads = vec![Behavior::Chooses(Arc::clone(choose)); token.shape.threads as usize];
        let (fewest, most) = token.shape.operations;
        let operations = fewest + Random::new(seed).below(most.saturating_sub(fewest) + 1);
        let (before, after) = (plan.workload.before.clone(), plan.workload.after.clone());
        Program { threads, operations, seed, ..plan.program_of(Listing { before, threads: Vec::new(), after }) }
    }

    /// Explores one program for this time. Returns whether it was explored completely.
    fn explore(&mut self, token: &Token, time: Duration) -> bool {
        supervise::note_runs(std::slice::from_ref(token));
        let program = self.program(token);
        let deadline = Instant::now().checked_add(time);
        let left =
            |fraction: u32| deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()) / fraction);
        let Ok(serial) = self.serial(token, &program, left(1)) else {
            // With only some of the serial histories, correct histories might be rejected.
            return false;
        };
        let mut complete_up_to: Option<u32>;
        let mut is_complete = false;
        if let Some(search) = self.exploration.search.clone() {
            is_complete = self.search(token, &program, &search, serial.as_ref(), left(1));
            complete_up_to = match search {
                Search::Preemptions(most) if is_complete => Some(most),
                Search::Exhaustive | Search::Unreduced if is_complete => Some(u32::MAX),
                _ => None,
            };
        } else {
            let known = self.complete_up_to.iter().find(|(known, _)| known == token).and_then(|(_, most)| *most);
            complete_up_to = known;
            let mut is_bounded = false;
            for most in known.map_or(0, |most| most + 1)..u32::MAX {
                if most >= 2 && !is_bounded {
                    // Try the exhaustive search first: it may need fewer schedules than the search with two
                    // preemptions.
                    is_bounded = true;
                    is_complete = self.search(token, &program, &Search::Exhaustive, serial.as_ref(), left(2));
                    if is_complete {
                        complete_up_to = Some(u32::MAX);
                        break;
                    }
                }
                if self.is_over() || left(1) == Some(Duration::ZERO) {
                    break;
                }
                if !self.search(token, &program, &Search::Preemptions(most), serial.as_ref(), left(1)) {
                    break;
                }
                complete_up_to = Some(most);
            }
        }
        match self.complete_up_to.iter_mut().find(|(known, _)| known == token) {
            Some((_, known)) => *known = complete_up_to.max(*known),
            None => self.complete_up_to.push((token.clone(), complete_up_to)),
        }
        is_complete
    }

    /// Tries a few seeds for the random choices of an object.
    ///
    /// A search that explores the choices changes the last choices of an execution first, so it takes a long time to
    /// find a fault that depends on the first choices. With another seed, all choices may change, so such a fault is
    /// found sooner.
    fn glance(&mut self, token: &Token, time: Duration) {
        supervise::note_runs(std::slice::from_ref(token));
        let most = match self.exploration.search {
            None | Some(Search::Exhaustive) => GLANCED_PREEMPTIONS,
            Some(Search::Preemptions(most)) => most.min(GLANCED_PREEMPTIONS),
            Some(_) => return,
        };
        if self.exploration.choices.is_some() {
            return;
        }
        let program = self.program(token);
        if systematic::replay(&program, &self.settings(), &Schedule::default()).choices == 0 {
            return;
        }
        let deadline = Instant::now().checked_add(time);
        let left = || deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let Ok(serial) = self.serial(token, &program, left()) else { return };
        for (seed, most) in (0..GLANCES).flat_map(|seed| (0..=most).map(move |most| (seed, most))) {
            if self.is_over() || left() == Some(Duration::ZERO) {
                return;
            }
            self.exploration.choices = Some(seed);
            self.most_executions = if self.exploration.search.is_some() { u64::MAX } else { GLANCED_EXECUTIONS };
            self.search(token, &program, &Search::Preemptions(most), serial.as_ref(), left());
            (self.exploration.choices, self.most_executions) = (None, u64::MAX);
        }
    }

    /// Returns all serial histories, if histories are compared with them. Returns an error if there
    /// is not enough time for all of them.
    fn serial(
        &mut self,
        token: &Token,
        program: &Program,
        time: Option<Duration>,
    ) -> Result<Option<Arc<Serial>>, OutOfTime> {
        if let Some((_, known)) = self.serial.iter().find(|(known, _)| known == token) {
            return Ok(Some(Arc::clone(known)));
        }
        let found = self.serial_histories(program, time);
        if let Ok(Some((_, executions))) | Err(OutOfTime { executions }) = &found {
            self.explored.executions += executions;
        }
        let Some((serial, _)) = found? else { return Ok(None) };
        *self.explored.serial.get_or_insert(0) += serial.count();
        self.explored.semantics = serial.factors().map(serial::semantics);
        self.serial.push((token.clone(), Arc::clone(&serial)));
        Ok(Some(serial))
    }

    /// Returns all serial histories, if histories are compared with them, and the number of
    /// executions that were needed to find them.
    fn serial_histories(
        &self,
        program: &Program,
        time: Option<Duration>,
    ) -> Result<Option<(Arc<Serial>, u64)>, OutOfTime> {
        let factors = self.factors();
        let program = match &self.exploration.against {
            Against::Specification => {
                let serial = factors.map(|factors| (Arc::new(self.serial_of_specification(program, factors)), 0));
                return Ok(serial);
            }
            Against::Itself => program.clone(),
            Against::Other(other) => {
                let names =
                    |plan: &Plan| plan.workload.kinds.iter().map(|kind| Arc::clone(&kind.name)).collect::<Vec<_>>();
                assert_eq!(
                    names(other),
                    names(&self.plan),
                    "both objects must have the same operations, in the same order"
                );
                Program { make: Arc::clone(&other.make), ..program.clone() }
            }
        };
        let mut settings = self.settings();
        settings.search = Search::Serial;
        // Serial executions explore all choices, even if concurrent executions draw them from a
        // seed. When operations overlap, an operation may make more choices than in a serial
        // execution, and the choice that finally takes effect may be any that is possible in a
        // serial execution.
        settings.choices = None;
        settings.time = time;
        settings.stop = self.stop();
        let serial = Arc::new(Mutex::new(Serial::with_factors(factors)));
        let known = Arc::clone(&serial);
        let add = move |execution: &Execution| {
            known.lock().unwrap_or_else(PoisonError::into_inner).add(&execution.history);
            true
        };
        let report = systematic::explore(&program, &settings, Arc::new(add));
        let serial = std::mem::take(&mut *serial.lock().unwrap_or_else(PoisonError::into_inner));
        // If an execution does not terminate, the exploration is incomplete, but more time would not change that.
        let is_cut_off = self.plan.is_cancelled() || time.is_some_and(|time| report.elapsed >= time);
        if !report.is_complete && (is_cut_off || report.diverged == 0) {
            return Err(OutOfTime { executions: report.executions });
        }
        Ok(Some((Arc::new(serial), report.executions)))
    }

    /// Explores a program with one search. Returns whether the search was completed.
    fn search(
        &mut self,
        token: &Token,
        program: &Program,
        search: &Search,
        serial: Option<&Arc<Serial>>,
        time: Option<Duration>,
    ) -> bool {
        let mut settings = self.settings();
        settings.search = search.clone();
        settings.time = time;
        settings.seed = self.seed;
        settings.executions = self.executions_left().or(Some(u64::MAX)).map(|left| left.min(self.most_executions));
        settings.random_one_in = if self.exploration.search.is_none() { RANDOM_ONE_IN } else { 0 };
        settings.stop = self.stop();
        settings.collect = self.plan.options.collect.saturating_sub(self.found.len()).max(1);
        let (watches, before) = ((self.plan.watch.clone(), self.plan.watch_exploration.clone()), &self.explored);
        let executions = before.executions;
        let others = self.histories.iter().filter(|(known, _)| known != token).map(|(_, histories)| histories);
        let (histories, started) = (others.sum::<u64>(), self.started);
        settings.watch = Some(Arc::new(move |mut progress| {
            progress.executions += executions;
            progress.histories += histories;
            progress.elapsed = started.elapsed();
            if let Some(watch) = &watches.0 {
                watch(progress.executions);
            }
            if let Some(watch) = &watches.1 {
                watch(progress);
            }
        }));
        let found = Found::default();
        let judge = self.judge(serial.cloned(), Arc::clone(&found), settings.most_steps);
        let report = systematic::explore(program, &settings, judge);
        self.explored.executions += report.executions;
        self.explored.redundant += report.redundant;
        self.operations += report.operations;
        self.reached.resize(report.reached.len(), false);
        self.reached.iter_mut().zip(report.reached).for_each(|(known, reached)| *known |= reached);
        // A later search of the same program finds the same histories again. So keep the greatest
        // number of histories, instead of adding the numbers.
        match self.histories.iter_mut().find(|(known, _)| known == token) {
            Some((_, known)) => *known = report.histories.max(*known),
            None => self.histories.push((token.clone(), report.histories)),
        }
        let found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
        for (execution, (kind, after)) in report.wrong.into_iter().zip(found) {
            let token = scheduled(token.clone(), &settings, &execution);
            self.fail(Wrong { settings: settings.clone(), execution, kind, token, after });
        }
        report.is_complete
    }

    fn fail(&mut self, wrong: Wrong) {
        let options = &self.plan.options;
        if options.remembers {
            regressions::remember(options.name.as_deref(), &wrong.token);
        }
        self.found.push(wrong);
    }

    fn failure(&self, wrong: &Wrong) -> Failure {
        let Wrong { settings, execution, kind, token, after } = wrong;
        let again = systematic::replay(&self.program(token), settings, &execution.schedule);
        let steps: Vec<String> = again.steps.iter().map(ToString::to_string).collect();
        Failure::new(&self.plan, &execution.history, kind.clone(), token.clone(), *after, &steps)
    }

    /// Shrinks the program, and returns the failure of the smallest program that fails in the same
    /// way.
    fn shrunk(&self, wrong: Wrong) -> Failure {
        if !self.plan.shrinks() {
            return self.failure(&wrong);
        }
        let program = shrink::program_of(&self.plan, &wrong.token, &wrong.execution.history);
        let (token, of_calls) = (wrong.token.clone(), program.calls());
        let is_known = self.plan.written(&token).is_some();
        let started = Instant::now();
        let end = started + self.plan.time_to_shrink();
        self.shrunk_from(wrong, &program, Origin { token: &token, of_calls, is_known, started, end })
    }

    fn shrunk_from(&self, wrong: Wrong, program: &Listing, origin: Origin<'_>) -> Failure {
        let Wrong { mut settings, mut execution, mut kind, token, after } = wrong;
        let is_default = self.exploration.search.is_none() && self.plan.options.exploration.is_some();
        if is_default && execution.preemptions > PREEMPTIONS {
            // Try whether the program also fails with fewer preemptions. If it does, shrinking can
            // search systematically, which is exact.
            let systematic = Settings { search: Search::Preemptions(PREEMPTIONS), ..settings.clone() };
            let time = origin.end.saturating_duration_since(Instant::now()) / 8;
            if let schedules::Explored::Wrong(found, its_kind, _) = self.candidate(program, &systematic, &kind, time) {
                (settings.search, execution, kind) = (systematic.search, *found, its_kind);
            }
        }
        settings.search = match settings.search {
            Search::Exhaustive | Search::Unreduced => Search::Exhaustive,
            Search::Serial => Search::Serial,
            Search::Preemptions(most) if execution.preemptions <= most => Search::Preemptions(most),
            // If the failure was found at random, but the failing execution has at most
            // `PREEMPTIONS` preemptions, search systematically.
            Search::Pct { .. } | Search::Uniform | Search::Preemptions(_)
                if is_default && execution.preemptions <= PREEMPTIONS =>
            {
                Search::Preemptions(PREEMPTIONS)
            }
            // Search at random, because the program of a replayed run may be too large for a
            // systematic search.
            _ => BY_CHANCE,
        };
        (settings.os_threads, settings.executions, settings.collect, settings.watch) = (1, None, 1, None);
        let explore = |program: &Listing, time: Duration| self.candidate(program, &settings, &kind, time);
        let Origin { token: first, of_calls, is_known, started, end } = origin;
        let time = end.saturating_duration_since(Instant::now()) / 8;
        let known = shrink::First::new(&self.plan, first, program, &execution.history, &kind, time);
        let remark = known.why_not_shrunk();
        let shrunk = schedules::shrink(&self.plan, known, is_known.then_some(&execution), end, explore);
        let Some(shrunk) = shrunk else {
            return self.failure(&Wrong { settings, execution, kind, token, after }).with_remark(remark);
        };
        let schedules::Shrunk { program, execution: smaller, kind, executions, is_minimal } = shrunk;
        let text = program.to_text(&self.plan.workload.kinds);
        let given = self.plan.given(&program, text.as_str().into(), 0);
        let by_chance =
            settings.search == BY_CHANCE && (program.calls() > MOST_CALLS || smaller.preemptions > PREEMPTIONS);
        let preemptions = match settings.search {
            Search::Preemptions(most) => Some(most),
            Search::Pct { .. } if !by_chance => Some(PREEMPTIONS),
            _ => None,
        };
        let is_minimal = is_minimal && !by_chance;
        let token = scheduled(given, &settings, &smaller);
        // If `by_chance` is `true`, the regression test replays the failing schedule. Otherwise, it
        // must explore, even if this test does not.
        let bound = preemptions.map_or(String::new(), |most| format!(".preemptions({most})"));
        let again = match &self.plan.options.exploration {
            _ if by_chance => Some(format!("replay(\"{token}\")")),
            None => Some(format!("explore(trueline::test::Exploration::new(){bound})")),
            Some(_) => None,
        };
        let smallest = Smallest {
            program: text,
            calls: program.calls(),
            of_calls,
            first: first.clone(),
            failed: 1,
            runs: executions,
            is_minimal,
            preemptions,
            by_chance,
            chaos: 0,
            elapsed: started.elapsed(),
            settings: again.into_iter().collect(),
        };
        self.failure(&Wrong { settings, execution: smaller, kind, token, after }).with_smallest(smallest)
    }

    /// Explores a candidate for shrinking until it fails with a failure of this kind.
    fn candidate(
        &self,
        program: &Listing,
        settings: &Settings,
        kind: &FailureKind,
        time: Duration,
    ) -> schedules::Explored {
        let is_small = program.calls() <= MOST_CALLS;
        let program = self.plan.program_of(program.clone());
        let Ok(serial) = self.serial_histories(&program, Some(time)) else { return schedules::Explored::Unknown };
        let serial = serial.map(|(serial, _)| serial);
        let mut settings = Settings { time: Some(time), seed: 0, ..settings.clone() };
        if settings.search == BY_CHANCE {
            settings.time = Some(time.min(self.plan.time_to_shrink() / CANDIDATES).min(LONGEST));
            let found = self.explore_until(&program, &settings, kind, serial.clone());
            if !is_small || matches!(found, schedules::Explored::Wrong(..)) {
                return found;
            }
            (settings.search, settings.time) = (Search::Preemptions(PREEMPTIONS), Some(time));
        }
        self.explore_until(&program, &settings, kind, serial)
    }

    /// Explores a program until it fails with a failure of this kind.
    fn explore_until(
        &self,
        program: &Program,
        settings: &Settings,
        kind: &FailureKind,
        serial: Option<Arc<Serial>>,
    ) -> schedules::Explored {
        let (plan, most_steps, same) = (Arc::clone(&self.plan), settings.most_steps, discriminant(kind));
        let is_known = Arc::new(AtomicBool::new(true));
        let (found, all_known) = (Arc::new(Mutex::new(None)), Arc::clone(&is_known));
        let wrong = Arc::clone(&found);
        let judge = move |execution: &Execution| {
            let undecided = || all_known.store(false, Ordering::Relaxed);
            let kind = plan.wrong(execution, serial.as_deref(), most_steps, undecided);
            let kind = kind.filter(|kind| discriminant(kind) == same);
            let is_right = kind.is_none();
            let mut wrong = wrong.lock().unwrap_or_else(PoisonError::into_inner);
            *wrong = wrong.take().or(kind);
            is_right
        };
        let report = systematic::explore(program, settings, Arc::new(judge));
        let kind = found.lock().unwrap_or_else(PoisonError::into_inner).take();
        match report.wrong.into_iter().next().zip(kind) {
            Some((execution, kind)) => schedules::Explored::Wrong(Box::new(execution), kind, report.executions),
            None if report.is_complete && is_known.load(Ordering::Relaxed) => schedules::Explored::Right,
            None => schedules::Explored::Unknown,
        }
    }

    /// Replays a run. Returns whether it failed.
    fn again(&mut self, token: &Token) -> bool {
        supervise::note_runs(std::slice::from_ref(token));
        let Some(scheduled) = &token.scheduled else { return false };
        let schedule = match scheduled.schedule.parse() {
            Ok(schedule) => schedule,
            Err(error) => panic!("{error}"),
        };
        let program = self.program(token);
        // Without a time limit, the exploration of serial histories ends early only if it is
        // canceled.
        let Ok(serial) = self.serial(token, &program, None) else { return false };
        let exploration =
            Exploration { choices: scheduled.choices, spurious: scheduled.spurious, ..self.exploration.clone() };
        let mut settings = exploration.settings();
        settings.pulse = Some(Arc::clone(&self.pulse));
        if scheduled.serial {
            settings.search = Search::Serial;
        }
        let execution = systematic::replay(&program, &settings, &schedule);
        self.explored.is_misfit = execution.schedule != schedule;
        self.explored.programs += 1;
        self.explored.executions += 1;
        self.explored.histories += 1;
        self.explored.is_complete = false;
        self.operations += execution.history.len() as u64;
        let found = Found::default();
        let judge = self.judge(serial, Arc::clone(&found), settings.most_steps);
        if judge(&execution) {
            return false;
        }
        let (kind, after) = found.lock().unwrap_or_else(PoisonError::into_inner).remove(0);
        if !scheduled.serial {
            settings.search = Search::Replay(schedule);
        }
        self.fail(Wrong { settings, execution, kind, token: token.clone(), after });
        true
    }

    /// Returns the function that judges an execution and, if the execution fails, stores the
    /// failure. This function is the interface between exploring and judging.
    fn judge(&self, serial: Option<Arc<Serial>>, found: Found, most_steps: u64) -> systematic::Judge {
        let (plan, started) = (Arc::clone(&self.plan), self.started);
        let (undecided, judging, coverage) =
            (Arc::clone(&self.undecided), Arc::clone(&self.judging), Arc::clone(&self.coverage));
        Arc::new(move |execution| {
            let _note = supervise::note(Doing::Judging, None);
            let begun = Instant::now();
            coverage.add(&execution.history);
            let kind = plan.wrong(execution, serial.as_deref(), most_steps, || {
                undecided.fetch_add(1, Ordering::Relaxed);
            });
            let time = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
            judging.fetch_add(time, Ordering::Relaxed);
            let is_right = kind.is_none();
            let kind = kind.map(|kind| (kind, started.elapsed()));
            found.lock().unwrap_or_else(PoisonError::into_inner).extend(kind);
            is_right
        })
    }
}

/// Returns the token of an execution, based on the token of its program.
fn scheduled(token: Token, settings: &Settings, execution: &Execution) -> Token {
    let scheduled = Scheduled {
        schedule: execution.schedule.to_string(),
        choices: settings.choices,
        spurious: settings.spurious,
        serial: settings.search == Search::Serial,
    };
    Token { scheduled: Some(scheduled), ..token }
}

/// An object that records its drop with [`supervise::note`].
struct NotedInstance(Option<Arc<dyn Instance>>);

impl Instance for NotedInstance {
    fn handle(&self, thread: u32) -> Box<dyn Handle> {
        self.0.as_ref().expect("the instance is taken only when it is dropped").handle(thread)
    }

    fn release(&self) {
        if let Some(instance) = &self.0 {
            instance.release();
        }
    }
}

impl Drop for NotedInstance {
    fn drop(&mut self) {
        let _note = supervise::note(Doing::Dropping, None);
        drop(self.0.take());
    }
}

impl Exploration {
    /// Returns whether the numbers of [calls](Self::calls) are set, so that all programs with these
    /// numbers are explored.
    pub(super) fn has_given_programs(&self) -> bool {
        self.calls.is_some()
    }
}

impl Plan {
    /// Returns whether [threads choose](super::Test::worker) their calls.
    ///
    /// Programs that are generated for given numbers of [calls](Calls) do not use these choices.
    /// Such a program can therefore fail although the object has no fault: for example, if each
    /// thread must pass its own number to its calls.
    pub fn threads_choose(&self) -> bool {
        self.choose.is_some()
    }

    /// Among the programs with the numbers of calls `calls`, returns the program with the number
    /// `number`. The caller explores it with [`systematic::explore`], and judges it with
    /// [`Plan::is_right`].
    pub fn listed(&self, calls: &Calls, number: u32) -> Option<Program> {
        self.listed_calls(calls, number).map(|program| self.program_of(program))
    }

    /// Returns the calls of the program that [`Plan::listed`] returns, including the calls that the
    /// test makes before and after every program.
    pub(super) fn listed_calls(&self, calls: &Calls, number: u32) -> Option<Listing> {
        let programs = Programs::new(&self.workload, calls, |number| self.meaning(number));
        let Listing { threads, before, after } = programs.get(number)?;
        Some(Listing {
            before: self.workload.before.iter().cloned().chain(before).collect(),
            threads,
            after: after.into_iter().chain(self.workload.after.iter().cloned()).collect(),
        })
    }

    fn program_of(&self, Listing { before, threads, after }: Listing) -> Program {
        let threads = threads.into_iter().map(Behavior::Calls).collect();
        let kinds = self.workload.kinds.clone().into();
        let plan = self.clone();
        // `construct` records that the object is being constructed, and `NotedInstance` records
        // that it is being dropped. If the construction or the drop panics or does not return, the
        // report says which of the two failed.
        let make = move || -> Arc<dyn Instance> { Arc::new(NotedInstance(Some(plan.construct(0)))) };
        Program { make: Arc::new(make), kinds, threads, before, after, operations: 0, seed: 0 }
    }

    /// Returns the same test, but with only this program. `threads` contains the calls of each
    /// thread.
    ///
    /// # Panics
    /// Panics if the program calls an operation that does not exist.
    #[track_caller]
    pub fn program<T>(mut self, threads: impl IntoIterator<Item = T>) -> Self
    where
        T: IntoIterator<Item = super::NamedCall>,
    {
        let resolve = |call: super::NamedCall| {
            let Some(operation) = self.workload.find(&call.name) else {
                panic!("a program calls `{}`, but the test has only {}", call.name, self.operation_names().join(", "))
            };
            Call { operation, argument: call.argument }
        };
        let threads = threads.into_iter().map(|calls| calls.into_iter().map(resolve).collect()).collect();
        (self.fixed, self.choose) = (vec![threads], None);
        self
    }

    /// Returns the message for an operation that is waiting for something that the scheduler cannot
    /// observe.
    fn blocked_outside(&self, operation: u32, time: Duration) -> String {
        let name = self.workload.kinds.get(operation as usize).map_or("?", |kind| &*kind.name);
        format!(
            "blocked the exploration: `{name}` did nothing that the scheduler can see for {time:.1?}; it is perhaps waiting for a lock of `std` that another thread holds across a schedule point, or for a change that is not made \
             through `trueline::primitives`: use `trueline::primitives` for the lock and for the change"
        )
    }

    /// Checks that a program removes as many values as it inserts. For other programs,
    /// [factors](Exploration::factor) are not meaningful (Round-Up, section V.D).
    ///
    /// # Errors
    /// Returns a message if the program does not remove as many values as it inserts.
    pub fn is_well_formed(&self, program: &str) -> Result<(), String> {
        self.well_formed(&self.read_program(program)?)
    }

    fn well_formed(&self, program: &Listing) -> Result<(), String> {
        let Some((insert, remove)) = programs::pair(&self.workload, |number| self.meaning(number)) else {
            return Ok(());
        };
        let count = |operation| program.all().filter(|call| call.operation == operation).count();
        let name = |operation: u32| &self.workload.kinds[operation as usize].name;
        let (inserts, removes) = (count(insert), count(remove));
        if inserts == removes {
            return Ok(());
        }
        Err(format!(
            "the program is not well formed: it has {inserts} calls to `{}`, but {removes} to `{}`; an element that is \
             not both inserted and removed has no position to compare; make the same number of calls to both",
            name(insert),
            name(remove)
        ))
    }

    /// Returns the meaning that the test declares for an operation or, if there is none, the
    /// guessed meaning.
    fn meaning(&self, number: u32) -> Option<super::Meaning> {
        let model = self.judge.model()?;
        let guessed = || model.guess()?.meaning(number);
        model.operations.get(number as usize)?.meaning.or_else(guessed)
    }

    /// Returns the failure of an execution that did not terminate. If an operation repeats until it
    /// makes a lucky random choice, the execution might terminate later, so the execution counts as
    /// undecided instead.
    fn diverged(&self, execution: &Execution, most_steps: u64, undecided: impl Fn()) -> Option<FailureKind> {
        if execution.chooses_late {
            undecided();
            return None;
        }
        Some(FailureKind::Diverged(most_steps))
    }

    /// Returns the failure of an execution, if it failed.
    fn wrong(
        &self,
        execution: &Execution,
        serial: Option<&Serial>,
        most_steps: u64,
        undecided: impl Fn(),
    ) -> Option<FailureKind> {
        let Execution { history, ended, .. } = execution;
        if let Ended::Panicked { thread, message } = ended {
            return Some(FailureKind::Panicked { thread: *thread, message: message.clone() });
        }
        if let Some(serial) = serial {
            if *ended == Ended::Diverged {
                return self.diverged(execution, most_steps, undecided);
            }
            let config = Config::new().budget(self.budget());
            if let (Some(_), Ended::Stuck) = (serial.factors(), ended) {
                // In a program that removes at most as many values as it inserts, no operation
                // should wait forever, unless an operation also waits forever in a serial
                // execution.
                if serial.has_stuck() {
                    undecided();
                    return None;
                }
                return Some(FailureKind::Stuck(Duration::ZERO));
            }
            return match (serial.explains(history, &config), serial.factors()) {
                (Some(true), _) => None,
                (Some(false), None) => Some(FailureKind::NotSerial),
                (Some(false), Some(factors)) => Some(FailureKind::NotQuasi { semantics: serial::semantics(factors) }),
                (None, _) => {
                    undecided();
                    None
                }
            };
        }
        let judged = self.judged(history);
        match is_accepted(&*judged) {
            Some(false) => return Some(FailureKind::NotLinearizable),
            Some(true) => {}
            None => undecided(),
        }
        match ended {
            Ended::Complete | Ended::Panicked { .. } => None,
            Ended::Diverged => self.diverged(execution, most_steps, undecided),
            Ended::Stuck => {
                let may_block = |operation: u32| self.workload.kinds[operation as usize].may_block;
                let mut stuck = history.operations().iter().filter(|operation| operation.outcome.result().is_none());
                let may_wait =
                    stuck.all(|operation| may_block(operation.op.operation)) && !should_go_on(&*judged, &self.budget());
                (!may_wait).then_some(FailureKind::Stuck(Duration::ZERO))
            }
        }
    }
}

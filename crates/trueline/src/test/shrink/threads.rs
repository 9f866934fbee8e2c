//! Candidates are run again and again, under real threads.
//!
//! That one fails is certain when it was seen; that it does not is a guess. How long one is tried is measured by how long
//! it takes until the program that failed first does so again, and not by the last one that was taken: else each would
//! be allowed to fail more seldom than the one before, and what is left would hardly ever.

use std::hash::{BuildHasher as _, RandomState};
use std::mem::discriminant;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::failure::FailureKind;
use super::super::plan::{MOST_LOST, Plan, VERIFIED};
use super::super::written::Written;
use super::quiet::Quiet;
use super::{Answer, Effort, First, Freedom, Reduced, reduce};
use crate::drive::{Behaviour, Clock, Kind, Run, Runner, Seen};

/// The name of the threads that run candidates.
pub(super) const THREADS: &str = "trueline, smaller";
/// For how long runs of a candidate are made before they are judged.
const BATCH: Duration = Duration::from_millis(2);
/// The most runs of a batch.
const MOST_RUNS: u32 = 50;
/// For how long a candidate is tried at least, so many times as long as the first program takes to fail, and at most.
const SLICES: (Duration, u32, Duration) = (Duration::from_millis(15), 5, Duration::from_millis(250));
/// How often the first program is to fail before it is known how long that takes.
const FAILURES_TO_KNOW: u64 = 4;
/// How often the smallest program is to fail before it is known how often it does.
const FAILURES_TO_COUNT: u64 = 50;
/// The same if each failure costs much: time, or a thread.
const FEWER_TO_COUNT: u64 = 3;
/// After so many batches the threads are new ones.
const BATCHES_OF_THREADS: u32 = 8;
/// While it is made smaller, a program is stuck sooner; the smallest is stuck only when any is.
const IMPATIENCE: u32 = 5;
/// A candidate takes milliseconds here.
const EFFORT: Effort = Effort { most_for_pairs: 7, most_parts: 0 };

/// What is known of runs of a program.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Tally {
    /// How many went wrong in the same way as the first.
    pub(in super::super) failed: u64,
    /// How many there were.
    pub(in super::super) runs: u64,
}

/// The smallest program that was seen failing.
pub(in super::super) struct Shrunk {
    pub(in super::super) program: Written,
    pub(in super::super) tally: Tally,
    pub(in super::super) seen: Seen,
    pub(in super::super) kind: FailureKind,
}

/// Makes the program of a run that went wrong smaller; `None` if nothing smaller was seen going wrong.
pub(in super::super) fn shrink(plan: &Plan, first: &First<'_>, clock: Clock, budget: Duration) -> Option<Shrunk> {
    let freedom = Freedom::of(plan, first.token, first.kind, EFFORT).filter(|_| first.is_free)?;
    let _quiet = Quiet::new();
    let mut stress = Stress::new(plan, first, clock, Instant::now() + budget.mul_f64(0.85));
    // Few calls fail sooner, if they do at all; then nobody has to wait for many.
    let quick = (budget / 40).min(SLICES.2);
    let start = first.hints.iter().find(|hint| !stress.is_over() && stress.run(hint, quick, 1).failed > 0);
    let start = start.unwrap_or(first.program).clone();
    let is_stuck = matches!(first.kind, FailureKind::Stuck(_));
    let tally = stress.run(&start, budget / 3, if is_stuck { 1 } else { FAILURES_TO_KNOW });
    let failed = u32::try_from(tally.failed).unwrap_or(u32::MAX);
    if failed == 0 {
        return None;
    }
    let (shortest, times, longest) = SLICES;
    let took = stress.elapsed / failed;
    let slice = (took * times).clamp(shortest, longest.max(took * 2));
    let mut ask = |candidate: &Written| match stress.is_over() {
        true => Answer::Over,
        false if stress.run(candidate, slice, 1).failed > 0 => Answer::Fails,
        false => Answer::Unknown,
    };
    let Reduced { program, .. } = reduce(start, Vec::new(), &freedom, &mut ask);
    stress.confirm(program, budget)
}

/// Runs programs until they fail.
struct Stress<'p> {
    plan: &'p Plan,
    first: &'p First<'p>,
    clock: Clock,
    kinds: Arc<[Kind]>,
    runner: Runner,
    /// When nothing more is tried.
    end: Instant,
    watchdog: Duration,
    batches: u32,
    /// How long the last program was run, but for when it was stuck.
    elapsed: Duration,
    /// The last run that went wrong, and how many did of its program.
    last: Option<(Written, Tally, Seen, FailureKind)>,
}

impl<'p> Stress<'p> {
    fn new(plan: &'p Plan, first: &'p First<'p>, clock: Clock, end: Instant) -> Self {
        Self {
            plan,
            first,
            clock,
            kinds: plan.workload.kinds.clone().into(),
            runner: Runner::with_name(THREADS),
            end,
            watchdog: plan.options.watchdog / IMPATIENCE,
            batches: 0,
            elapsed: Duration::ZERO,
            last: None,
        }
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.end || self.runner.lost() >= MOST_LOST || self.plan.is_cancelled()
    }

    /// Runs a program for so long, or until so many runs went wrong in the way of the first.
    fn run(&mut self, program: &Written, time: Duration, enough: u64) -> Tally {
        let started = Instant::now();
        let is_stuck = matches!(self.first.kind, FailureKind::Stuck(_));
        let mut tally = Tally::default();
        let mut runs = 2;
        self.elapsed = Duration::ZERO;
        loop {
            let (begun, failed) = (Instant::now(), tally.failed);
            self.batch(program, runs, &mut tally);
            let took = begun.elapsed().max(Duration::from_nanos(1));
            // To be stuck takes its time, however soon it is.
            self.elapsed += if is_stuck && tally.failed > failed { took.min(BATCH) } else { took };
            if tally.failed >= enough || started.elapsed() >= time || self.is_over() {
                break;
            }
            let fit = BATCH.as_nanos() * u128::from(runs) / took.as_nanos();
            runs = u32::try_from(fit).unwrap_or(u32::MAX).clamp(1, MOST_RUNS);
        }
        tally
    }

    fn batch(&mut self, program: &Written, runs: u32, tally: &mut Tally) {
        if self.batches % BATCHES_OF_THREADS == 0 {
            self.runner.renew();
        }
        self.batches += 1;
        let run = |number: u32| Run {
            instance: self.plan.construct(0),
            threads: program.threads.iter().cloned().map(Behaviour::Calls).collect(),
            before: program.before.clone(),
            after: program.after.clone(),
            operations: 0,
            seed: RandomState::new().hash_one(number),
        };
        let settings = self.plan.run_settings(self.clock, self.first.token.shape.chaos, self.watchdog);
        let (seen, objects) =
            self.plan.make_runs(&mut self.runner, (0..runs).map(run).collect(), &self.kinds, &settings);
        for seen in seen {
            tally.runs += 1;
            let Some(kind) = self.plan.failure_of(&seen, || {}) else { continue };
            if discriminant(&kind) == discriminant(self.first.kind) {
                tally.failed += 1;
                self.last = Some((program.clone(), tally.clone(), seen, kind));
            }
        }
        // That this fails is not what is looked for.
        let _ = objects.drop_all();
    }

    /// Counts how often the program that is left fails, and gives one of its runs that did.
    fn confirm(mut self, program: Written, budget: Duration) -> Option<Shrunk> {
        let is_stuck = matches!(self.first.kind, FailureKind::Stuck(_));
        let (_, tally, mut seen, mut kind) = self.last.take().filter(|(known, ..)| *known == program)?;
        // What was stuck for a while may not be stuck.
        self.watchdog = self.plan.options.watchdog;
        let twice = self.watchdog.saturating_mul(2 * VERIFIED);
        self.end = Instant::now() + budget.mul_f64(0.15).max(if is_stuck { twice } else { Duration::ZERO });
        let enough = match self.first.kind {
            FailureKind::Stuck(_) => 1,
            FailureKind::Panicked { .. } => FEWER_TO_COUNT,
            _ => FAILURES_TO_COUNT,
        };
        let counted = self.run(&program, budget.mul_f64(0.15), enough);
        match self.last.take() {
            Some((_, _, last, how)) => (seen, kind) = (last, how),
            None if is_stuck => return None,
            None => {}
        }
        let tally = Tally { failed: tally.failed + counted.failed, runs: tally.runs + counted.runs };
        Some(Shrunk { program, tally, seen, kind })
    }
}

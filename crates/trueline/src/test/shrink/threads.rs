//! Runs candidates repeatedly, on real threads.
//!
//! If a run of a candidate fails, it is certain that the candidate can fail. If no run of a
//! candidate fails, the candidate may still be able to fail. The time for trying a candidate
//! depends on how long the starting program (the failing program, or the first hint that fails)
//! takes to fail again, and not on how long the last accepted candidate took. Otherwise each
//! accepted candidate could fail less often than the one before, and the final program would hardly
//! ever fail.

use std::hash::{BuildHasher as _, RandomState};
use std::mem::discriminant;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::failure::FailureKind;
use super::super::listing::Listing;
use super::super::plan::{MOST_LOST, Plan, VERIFIED};
use super::{Answer, Effort, First, Freedom, Reduced, reduce};
use crate::drive::{Behavior, Clock, Kind, QUIET_THREADS, Quiet, Recorded, Run, Runner};

/// The time that executing a batch of runs should take. The runs are judged after each batch.
const BATCH: Duration = Duration::from_millis(2);
/// The maximum number of runs of a batch.
const MOST_RUNS: u32 = 50;
/// Each candidate is tried for a multiple of the time that the starting program takes to fail. The
/// values are the minimum time for trying a candidate, this multiple, and the maximum time.
const SLICES: (Duration, u32, Duration) = (Duration::from_millis(15), 5, Duration::from_millis(250));
/// The time that the starting program takes to fail is estimated from this number of failures.
const FAILURES_TO_KNOW: u64 = 4;
/// The failure rate of the smallest program is estimated from this number of failures.
const FAILURES_TO_COUNT: u64 = 50;
/// The failure rate of the smallest program is estimated from this number of failures if the
/// failures are panics. This number is small, because each panic takes a long time.
const FEWER_TO_COUNT: u64 = 3;
/// The number of batches after which the threads are replaced.
const BATCHES_OF_THREADS: u32 = 8;
/// While candidates are tried, the time of the watchdog is divided by this number. The smallest
/// program is confirmed with the full time.
const IMPATIENCE: u32 = 5;
/// The limits of shrinking on real threads. They are low, because trying a candidate takes
/// milliseconds.
const EFFORT: Effort = Effort { most_for_pairs: 7, most_parts: 0 };

/// The number of runs of a program, and the number of failures among these runs.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Tally {
    /// The number of runs that failed in the same way as the first failing run.
    pub(in super::super) failed: u64,
    /// The number of runs.
    pub(in super::super) runs: u64,
}

/// The smallest program that was observed to fail.
pub(in super::super) struct Shrunk {
    pub(in super::super) program: Listing,
    pub(in super::super) tally: Tally,
    pub(in super::super) seen: Recorded,
    pub(in super::super) kind: FailureKind,
}

/// Shrinks the program of a failing run; returns `None` if the failure was not seen again.
pub(in super::super) fn shrink(plan: &Plan, first: &First<'_>, clock: Clock, budget: Duration) -> Option<Shrunk> {
    let freedom = Freedom::of(plan, first.token, first.kind, EFFORT).filter(|_| first.is_free)?;
    let _quiet = Quiet::new();
    let mut stress = Stress::new(plan, first, clock, Instant::now() + budget.mul_f64(0.85));
    // The hints have fewer calls than the first program. If a hint can fail, it usually fails
    // sooner than the first program. Shrinking starts with the first hint that fails.
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
    let mut ask = |candidate: &Listing| match stress.is_over() {
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
    /// The time at which shrinking stops.
    end: Instant,
    watchdog: Duration,
    batches: u32,
    /// The time for which the last program ran. If the failure is a stuck run, a batch in which a
    /// run was stuck counts for at most [`BATCH`].
    elapsed: Duration,
    /// The last failing run, with its program and the counts so far.
    last: Option<(Listing, Tally, Recorded, FailureKind)>,
}

impl<'p> Stress<'p> {
    fn new(plan: &'p Plan, first: &'p First<'p>, clock: Clock, end: Instant) -> Self {
        Self {
            plan,
            first,
            clock,
            kinds: plan.workload.kinds.clone().into(),
            runner: Runner::with_name(QUIET_THREADS),
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

    /// Runs a program for the given `time`, or until `enough` runs have failed in the same way as
    /// the first failing run.
    fn run(&mut self, program: &Listing, time: Duration, enough: u64) -> Tally {
        let started = Instant::now();
        let is_stuck = matches!(self.first.kind, FailureKind::Stuck(_));
        let mut tally = Tally::default();
        let mut runs = 2;
        self.elapsed = Duration::ZERO;
        loop {
            let (begun, failed) = (Instant::now(), tally.failed);
            self.batch(program, runs, &mut tally);
            let took = begun.elapsed().max(Duration::from_nanos(1));
            // A stuck run always takes as long as the watchdog, so its duration does not show how
            // soon a program fails.
            self.elapsed += if is_stuck && tally.failed > failed { took.min(BATCH) } else { took };
            if tally.failed >= enough || started.elapsed() >= time || self.is_over() {
                break;
            }
            let fit = BATCH.as_nanos() * u128::from(runs) / took.as_nanos();
            runs = u32::try_from(fit).unwrap_or(u32::MAX).clamp(1, MOST_RUNS);
        }
        tally
    }

    fn batch(&mut self, program: &Listing, runs: u32, tally: &mut Tally) {
        if self.batches % BATCHES_OF_THREADS == 0 {
            self.runner.renew();
        }
        self.batches += 1;
        let run = |number: u32| Run {
            instance: self.plan.construct(0),
            threads: program.threads.iter().cloned().map(Behavior::Calls).collect(),
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
        // A failure to drop an object is not the failure that shrinking looks for.
        let _ = objects.drop_all();
    }

    /// Counts how often the smallest program fails, and returns one of its failing runs.
    fn confirm(mut self, program: Listing, budget: Duration) -> Option<Shrunk> {
        let is_stuck = matches!(self.first.kind, FailureKind::Stuck(_));
        let (_, tally, mut seen, mut kind) = self.last.take().filter(|(known, ..)| *known == program)?;
        // A run that is stuck for the shorter watchdog may make progress before the full watchdog
        // expires.
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

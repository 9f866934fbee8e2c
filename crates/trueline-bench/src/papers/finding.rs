//! Code that the experiments share. It records and judges runs of the objects of the catalog, and
//! measures the time until a fault is found.

use std::time::{Duration, Instant};

use trueline::drive::Runner;
use trueline::judge::{Algorithm, Budget, Config};
use trueline::test::{FailureKind, Plan};
use trueline::verdict::Verdict;
use trueline_objects::catalog::{self, Settings};

use super::results::Observation;

/// Returns the test of an object of the catalog.
///
/// # Panics
/// Panics if no object has this name.
pub(crate) fn plan(name: &str, settings: &Settings) -> Plan {
    let entry = catalog::find(name).unwrap_or_else(|fault| panic!("{fault}"));
    entry.plan(settings).forgetful().shrink_for(Duration::ZERO)
}

/// The names of the testers, as in Lowe's paper.
pub(crate) const WG_GRAPH: &str = "WG graph";
pub(crate) const JIT_GRAPH: &str = "JIT graph";
pub(crate) const WG_TREE: &str = "WG tree";
pub(crate) const JIT_TREE: &str = "JIT tree";
pub(crate) const WG_JIT: &str = "WG-JIT competition";
pub(crate) const JIT_JIT: &str = "JIT-JIT competition";
pub(crate) const QUEUE_ORIENTED: &str = "queue-oriented";
/// The name of the tester that uses the default algorithm of trueline.
pub(crate) const AUTO: &str = "trueline";

/// Returns the algorithm of a tester, and the maximum number of configurations that it may visit.
/// For the graph searches, this is the paper's limit on iterations.
fn tester(name: &str) -> (Algorithm, u64) {
    /// The limit of all testers except the graph searches and [`AUTO`]. For competing searches, it
    /// replaces the limit of the paper, which no search reaches within the time limits used here.
    const MANY: u64 = 20_000_000;
    match name {
        WG_GRAPH => (Algorithm::WingGongGraph, 1_300_000),
        JIT_GRAPH => (Algorithm::JustInTimeGraph, 3_000_000),
        WG_TREE => (Algorithm::WingGongTree, MANY),
        JIT_TREE => (Algorithm::JustInTimeTree, MANY),
        WG_JIT => (Algorithm::Compete(vec![Algorithm::WingGongTree, Algorithm::JustInTimeGraph]), MANY),
        JIT_JIT => (Algorithm::Compete(vec![Algorithm::JustInTimeTree, Algorithm::JustInTimeGraph]), MANY),
        QUEUE_ORIENTED => (Algorithm::QueueLowe, MANY),
        AUTO => (Algorithm::Auto, u64::MAX),
        other => panic!("no tester is called {other}"),
    }
}

/// Returns the options of a tester. Only [`AUTO`], which judges like trueline by default, judges
/// keys separately.
pub(crate) fn config(name: &str, time: Duration) -> Config {
    let (algorithm, most) = tester(name);
    let budget = Budget::unlimited().configurations(most).time(time).memory(2 << 30);
    Config::new().algorithm(algorithm).partition(name == AUTO).budget(budget)
}

/// Returns a test that is judged by a tester.
pub(crate) fn judged_by(plan: Plan, name: &str, time: Duration) -> Plan {
    let (algorithm, most) = tester(name);
    plan.algorithm(algorithm).partition(name == AUTO).configurations(most).timeout(time)
}

/// An observation ends after this time, even if it has made only some of its runs.
const LONGEST: Duration = Duration::from_secs(30);

/// Executes `runs` runs of the test, and judges each of them with a tester. Returns the time in
/// seconds, the number of undecided runs, and the fraction of the runs in which the tree search won
/// the competition with the graph search. If the observation ends early, its time is extrapolated
/// from the runs that it made, whose number is `runs_made`.
///
/// # Panics
/// Panics if a run is rejected. The object is correct, so a rejection would be an error of the
/// tester.
#[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
pub(crate) fn runs(plan: &Plan, tester: &str, runs: u64, seed: u64, time: Duration) -> Observation {
    let config = config(tester, time);
    let mut runner = Runner::new();
    let (mut undecided, mut trees, mut judging) = (0_u64, 0_u64, Duration::ZERO);
    let (started, mut made) = (Instant::now(), 0_u64);
    while made < runs && (made == 0 || started.elapsed() < LONGEST) {
        let run = made;
        made += 1;
        let seen = plan.record(&mut runner, seed.wrapping_mul(1_000_003).wrapping_add(run));
        let before = Instant::now();
        let judgment = plan.judgment(&seen.history, &config);
        judging += before.elapsed();
        assert!(!judgment.verdict.is_rejected(), "{tester} rejected a run of a correct object");
        undecided += u64::from(matches!(judgment.verdict, Verdict::Unknown(_)));
        trees += u64::from(judgment.stats.choice.as_deref().is_some_and(|choice| choice.contains("tree")));
    }
    let elapsed = started.elapsed();
    let share = runs as f64 / made.max(1) as f64;
    Observation::of(elapsed.as_secs_f64() * share)
        .with("judging_s", judging.as_secs_f64() * share)
        .with("undecided", undecided as f64)
        .with("runs_made", made as f64)
        .with("tree_wins", trees as f64 / made.max(1) as f64)
}

/// Executes runs until a run fails, and returns the time until the failure in milliseconds. If no
/// run fails within the time limit, returns the elapsed time, and sets the number `found` of the
/// observation to 0.
#[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
pub(crate) fn find(plan: &Plan, most: Duration) -> Observation {
    let outcome = plan.clone().time(most).min_runs(1).run();
    let after = outcome.failure.as_ref().map_or(outcome.elapsed, |failure| failure.after);
    let is_stuck = |kind: &FailureKind| matches!(kind, FailureKind::Stuck(_));
    let stuck = outcome.failure.as_ref().is_some_and(|failure| is_stuck(&failure.kind));
    Observation::of(after.as_secs_f64() * 1e3)
        .with("found", f64::from(u8::from(outcome.failure.is_some())))
        .with("stuck", f64::from(u8::from(stuck)))
        .with("runs", outcome.runs as f64)
        .with("undecided", outcome.undecided as f64)
}

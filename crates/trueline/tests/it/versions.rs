//! Tests of the versions that operations carry: hints that are verified, and not trusted.

use trueline::history::{Interval, ProcessId, RawHistory, Record, Value, from_intervals};
use trueline::judge::{Algorithm, Config};
use trueline::registry::{self, Options};
use trueline::verdict::{Contradiction, Judgment, Verdict};

/// A deterministic generator of random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from((self.0 >> 33) % end).expect("small")
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// The parameters of a generated history.
struct Shape {
    operations: i64,
    values: u64,
    /// The maximum distance of calls and returns from the moment at which operations take effect.
    spread: u64,
    /// One in this many operations never returns.
    unknown: u64,
    /// One in this many operations has no version.
    unversioned: u64,
}

/// Generates a history of a compare-and-set register with correct versions.
fn intervals(dice: &mut Dice, shape: &Shape) -> Vec<Interval<Record, Value>> {
    let (mut state, mut version) = (0, 0);
    let mut intervals = Vec::new();
    for number in 0..shape.operations {
        let (f, value): (&str, Value) = match dice.below(3) {
            0 => ("write", dice.below(shape.values).into()),
            1 => {
                // Most compare-and-swaps succeed.
                let old = if dice.one_in(4) { dice.below(shape.values) } else { state };
                ("cas", [old, dice.below(shape.values)].into_iter().map(Value::Int).collect())
            }
            _ => ("read", Value::Null),
        };
        let returns = !dice.one_in(shape.unknown);
        let happens = returns || dice.one_in(2);
        let mut result = Value::Null;
        match (&value, f) {
            _ if !happens => {}
            (Value::Int(new), _) => (state, version) = (*new, version + 1),
            (Value::List(pair), _) => {
                let succeeds = pair[0] == Value::Int(state);
                if succeeds {
                    (state, version) = (pair[1].as_int().expect("a number"), version + 1);
                }
                result = succeeds.into();
            }
            _ => result = state.into(),
        }
        let at = number * 10;
        let (call, ret) = (at - dice.below(shape.spread), at + 1 + dice.below(shape.spread));
        intervals.push(Interval {
            process: ProcessId(u32::try_from(number).expect("few")),
            object: Default::default(),
            op: Record { f: f.into(), key: None, value },
            call,
            ret: returns.then_some((ret, result)),
            line: 0,
            version: (!dice.one_in(shape.unversioned)).then_some(version),
        });
    }
    intervals
}

fn judged(history: &RawHistory, config: Config) -> Judgment<String> {
    let spec = registry::spec("cas-register:0", Options::new()).expect("the specification exists");
    spec.judge(history.clone(), &config).expect("the history can be read").judgment().clone()
}

/// Compares the verdicts with hints with the definition. Half of the histories may have wrong hints.
fn compare(runs: u64, seed: u64) {
    let mut dice = Dice(seed);
    let (mut accepted, mut by_versions, mut contradicted) = (0_u32, 0_u32, 0_u32);
    for run in 0..runs {
        let unversioned = if dice.one_in(2) { 6 } else { u64::MAX };
        let shape = Shape { operations: 3 + dice.below(5), values: 3, spread: 30, unknown: 5, unversioned };
        let mut intervals = intervals(&mut dice, &shape);
        let is_wrong = dice.one_in(2);
        if is_wrong {
            let at = usize::try_from(dice.below(shape.operations.unsigned_abs())).expect("small");
            if let Some((_, result @ Value::Int(_))) = &mut intervals[at].ret {
                *result = dice.below(3).into();
            }
        }
        let are_true = dice.one_in(2);
        if !are_true {
            for _ in 0..=dice.below(3) {
                let at = usize::try_from(dice.below(shape.operations.unsigned_abs())).expect("small");
                intervals[at].version = Some(dice.below(8));
            }
        }
        let history = from_intervals(intervals).expect("a history");
        let expected = judged(&history, Config::new().algorithm(Algorithm::Brute).versions(false));
        let hinted = judged(&history, Config::new());
        let shown = || history.operations().iter().map(|o| format!("{o:?}\n")).collect::<String>();
        assert_eq!(
            matches!(hinted.verdict, Verdict::Accepted(_)),
            matches!(expected.verdict, Verdict::Accepted(_)),
            "run {run} of seed {seed}: {hinted:?} instead of {expected:?} of\n{}",
            shown()
        );
        accepted += u32::from(hinted.verdict.is_accepted());
        if let Some(versions) = hinted.stats.versions {
            by_versions += u32::try_from(versions.parts).expect("one part at most");
            contradicted += u32::from(versions.contradiction.is_some());
            // The order in which the operations took effect is an order by versions. The judge finds it if all
            // operations that returned have a version.
            if !is_wrong && are_true && unversioned == u64::MAX {
                assert_eq!(versions.contradiction, None, "run {run} of seed {seed}:\n{}", shown());
            }
        }
    }
    let runs = u32::try_from(runs).expect("few");
    assert!(accepted < runs - runs / 50, "too few rejected histories: {accepted} of {runs} accepted");
    for (what, count) in [("accepted", accepted), ("by versions", by_versions), ("contradicted", contradicted)] {
        assert!(count > runs / 10, "{what}: {count} of {runs}");
    }
}

#[test]
fn hints_change_no_verdict() {
    compare(4_000, 1);
}

#[test]
#[ignore = "a soak"]
fn soak_hints_change_no_verdict() {
    compare(20_000, 2);
}

/// A history like the histories of etcd, with one key, many clients and unknown outcomes. Without hints, every search
/// gives up.
#[test]
fn a_large_history_is_judged_by_its_versions() {
    let shape = Shape { operations: 20_000, values: 1_000_000, spread: 640, unknown: 20, unversioned: u64::MAX };
    let history = from_intervals(intervals(&mut Dice(3), &shape)).expect("a history");
    let hinted = judged(&history, Config::new());
    assert!(hinted.verdict.is_accepted(), "{:?}", hinted.stats);
    assert_eq!(hinted.stats.choice.as_deref(), Some("the order of versions"));
}

#[test]
fn contradictions_are_reported() {
    let write = |process: u32, value: i64, call, ret, version| Interval {
        version: Some(version),
        ..Interval::returned(
            process,
            Record { f: "write".into(), key: None, value: value.into() },
            call,
            ret,
            Value::Null,
        )
    };
    let read = |process: u32, result: i64, call, ret, version| Interval {
        version: Some(version),
        ..Interval::returned(
            process,
            Record { f: "read".into(), key: None, value: Value::Null },
            call,
            ret,
            result.into(),
        )
    };
    let contradiction = |intervals: Vec<Interval<Record, Value>>| {
        let judgment = judged(&from_intervals(intervals).expect("a history"), Config::new());
        assert!(judgment.verdict.is_accepted());
        judgment.stats.versions.expect("there are versions").contradiction
    };
    let op = trueline::history::OpId;
    assert_eq!(contradiction(vec![write(0, 1, 1, 2, 1), write(1, 2, 3, 4, 2), read(2, 2, 5, 6, 2)]), None);
    // The second write precedes the first one in the order of versions.
    let swapped = vec![write(0, 1, 1, 2, 2), write(1, 2, 3, 4, 1)];
    assert_eq!(contradiction(swapped), Some(Contradiction::RealTime { first: op(1), second: op(0) }));
    // The read returned the first value, but has the version of the second.
    let overlapping = vec![write(0, 1, 1, 9, 1), write(1, 2, 1, 9, 2), read(2, 1, 10, 11, 2)];
    assert_eq!(contradiction(overlapping), Some(Contradiction::Result(op(1))));
}

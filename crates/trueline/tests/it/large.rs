//! All checkers against each other, on histories that the definition cannot judge.

use std::time::Duration;

use trueline::drive::{Random, Simulation};
use trueline::judge::{ALGORITHMS, Algorithm, Budget, Config, check, replay};
use trueline::verdict::{LimitKind, Verdict};

use crate::families::{Family, HistoryOf, monitored, simulated, spoilt};

/// How many verdicts each algorithm gave.
#[derive(Default)]
struct Tally {
    accepted: u32,
    rejected: u32,
    /// Of these, how many algorithms judged on average.
    opinions: u32,
}

/// Every algorithm that knows within limits says the same, and of a rejected history at the same place.
fn agree<F: Family>(operations: u32, seed: u64, tally: &mut Tally) {
    let mut random = Random::new(seed);
    let shape = Simulation { processes: 2 + random.below(3), operations, crashes: 0, busy: false };
    let good = simulated::<F>(&shape, &mut random);
    for history in [spoilt::<F>(&good, &mut random), good] {
        agree_on::<F>(&history, tally);
    }
}

fn agree_on<F: Family>(history: &HistoryOf<F>, tally: &mut Tally) {
    let spec = F::spec();
    let budget = Budget::unlimited().configurations(300_000).memory(256 << 20).time(Duration::from_secs(20));
    let mut first: Option<(&Algorithm, Verdict<_>)> = None;
    for (algorithm, _) in ALGORITHMS.iter().filter(|(one, _)| *one != Algorithm::Brute) {
        let config = Config::new().algorithm(algorithm.clone()).budget(budget.clone());
        let verdict = check(&spec, history, &config).verdict;
        match (&verdict, &first) {
            (Verdict::Unknown(limit), _) => {
                assert_ne!(limit.kind, LimitKind::Cancelled, "{}: {algorithm}", F::NAME);
                continue;
            }
            (Verdict::Accepted(witness), _) => {
                replay(&spec, history, &witness.order).expect("a witness can be replayed");
            }
            (Verdict::Rejected(evidence), Some((other, Verdict::Rejected(expected)))) => {
                assert!(evidence.is_first, "{}: {algorithm}", F::NAME);
                let place = |refused, event| (refused, event);
                assert_eq!(
                    place(evidence.refused, evidence.event),
                    place(expected.refused, expected.event),
                    "{}: {algorithm} and {other}",
                    F::NAME
                );
            }
            (Verdict::Rejected(_), _) => {}
        }
        tally.opinions += 1;
        match &first {
            None => first = Some((algorithm, verdict)),
            Some((other, expected)) => {
                assert_eq!(verdict.name(), expected.name(), "{}: {algorithm} and {other}", F::NAME);
            }
        }
    }
    match first.map(|(_, verdict)| verdict) {
        Some(Verdict::Accepted(_)) => tally.accepted += 1,
        Some(Verdict::Rejected(_)) => tally.rejected += 1,
        _ => panic!("{}: nobody knows", F::NAME),
    }
}

fn family<F: Family>(seed: u64) {
    let mut tally = Tally::default();
    for (index, operations) in (0..).zip([1000, 1500, 2000, 3000, 4000, 5000]) {
        agree::<F>(operations, seed + index, &mut tally);
    }
    let Tally { accepted, rejected, opinions } = tally;
    println!("{}: {accepted} accepted, {rejected} rejected, {opinions} verdicts", F::NAME);
    assert!(accepted >= 6 && rejected >= 1, "{}: {accepted} accepted, {rejected} rejected", F::NAME);
    assert!(opinions >= 3 * (accepted + rejected), "{}: {opinions} verdicts are few", F::NAME);
}

#[test]
fn registers() {
    family::<monitored::Registers>(1);
}

#[test]
fn sets() {
    family::<monitored::Sets>(2);
}

#[test]
fn maps() {
    family::<monitored::Maps>(3);
}

#[test]
fn queues_with_repeats() {
    family::<monitored::RepeatingQueues>(4);
}

#[test]
fn counters() {
    family::<monitored::Counters>(5);
}

#[test]
fn fetch_adds() {
    family::<monitored::FetchAdds>(6);
}

#[test]
fn semaphores() {
    family::<monitored::Semaphores>(7);
}

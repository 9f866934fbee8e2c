//! The searches in bounded memory, with so little memory that they fold their path all the time.

use trueline::drive::{Random, Simulation};
use trueline::judge::{Algorithm, Budget, Config, Rules, check};
use trueline::verdict::{LimitKind, Verdict};

use crate::families::{Family, Kvs, Logs, OneStrings, PriorityQueues, RelaxedQueues, simulated, spoilt};

/// Limits in KiB. With the smallest one, the search keeps one or two frames of its path.
const LIMITS: [u64; 3] = [12, 24, 96];

/// Asserts that the searches give the verdict of the search that forgets nothing, or say that memory ran out.
fn agrees<F: Family>() {
    let (mut accepted, mut rejected, mut undecided) = (0, 0, 0);
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let shape = Simulation { processes: 4, operations: 40, crashes: 15, busy: random.chance(1, 2) };
        let history = spoilt::<F>(&simulated::<F>(&shape, &mut random), &mut random);
        let spec = F::spec();
        let plain = Config::new().partition(false);
        let expected = check(&spec, &history, &plain.clone().algorithm(Algorithm::JustInTimeGraph)).verdict;
        for (algorithm, rules) in [
            (Algorithm::BoundedGraph, Rules::ALL),
            (Algorithm::BoundedGraphLru, Rules::NONE),
            (Algorithm::BoundedGraphLru, Rules::ALL),
        ] {
            for limit in LIMITS {
                let config = plain.clone().algorithm(algorithm.clone()).rules(rules);
                let config = config.budget(Budget::unlimited().memory(limit << 10).configurations(100_000));
                let config = if seed % 2 == 0 { config } else { config.seed(seed) };
                match (check(&spec, &history, &config).verdict, &expected) {
                    (Verdict::Accepted(_), Verdict::Accepted(_)) => accepted += 1,
                    (Verdict::Rejected(bounded), Verdict::Rejected(expected)) => {
                        assert_eq!(bounded.refused, expected.refused, "{}: seed {seed} by {algorithm}", F::NAME);
                        rejected += 1;
                    }
                    (Verdict::Unknown(limit), _) => {
                        assert!(matches!(limit.kind, LimitKind::Memory | LimitKind::Configurations), "{limit:?}");
                        undecided += 1;
                    }
                    (verdict, _) => panic!("{}: seed {seed} by {algorithm} in {limit} KiB: {verdict:?}", F::NAME),
                }
            }
        }
    }
    println!("{}: {accepted} {rejected} {undecided}", F::NAME);
    assert!(
        accepted > 300 && rejected > 300,
        "{}: {accepted} accepted, {rejected} rejected, {undecided} undecided",
        F::NAME
    );
}

#[test]
fn folded_paths_do_not_change_verdicts() {
    agrees::<Kvs>();
    agrees::<OneStrings>();
    agrees::<Logs>();
    agrees::<PriorityQueues>();
    agrees::<RelaxedQueues>();
}

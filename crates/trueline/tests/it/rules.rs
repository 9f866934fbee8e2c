//! Tests the rules of the search core on histories that are rare among random ones of eight operations.

use trueline::drive::{Random, Simulation, simulate};
use trueline::history::{Builder, History};
use trueline::judge::{Algorithm, Budget, Config, Rules, check};
use trueline::spec::{Kv, KvOp, KvRet, Log, LogOp, LogRet, Spec};
use trueline::verdict::{LimitKind, Verdict};

use crate::families::{Family, Kvs, Logs, OneStrings, simulated, spoilt};

type Store = History<KvOp<char>, KvRet>;

#[test]
fn puts_that_never_return_are_part_of_plans() {
    let mut builder = Builder::new();
    let mut put = |process: u32, text: &str, get: &[&str]| {
        builder.call(process, KvOp::Put('k', text.into())).expect("the process has no open call");
        for text in get {
            builder.call(0, KvOp::Get('k')).expect("the process has no open call");
            builder.ret(0, KvRet::Value((*text).into())).expect("the process has an open call");
        }
    };
    // The history has two equal operations; one is called later, with another operation between
    // them.
    put(1, "a", &[]);
    put(2, "b", &["a"]);
    put(3, "a", &["b", "a"]);
    let history: Store = builder.finish();
    for algorithm in [Algorithm::Auto, Algorithm::WingGongTree, Algorithm::JustInTimeGraph, Algorithm::Linear] {
        let config = Config::new().algorithm(algorithm.clone()).rules(Rules::ALL);
        let verdict = check(&Kv::new(), &history, &config).verdict;
        assert!(verdict.is_accepted(), "{algorithm}: {verdict:?}");
    }
}

/// Generates a history of strings of one key with many busy clients, in which each appended piece is unique.
fn busy_store(operations: u32, processes: u32, seed: u64) -> Store {
    let shape = Simulation { processes, operations, crashes: 0, busy: true };
    let (kv, mut pieces) = (Kv::new(), 0);
    let mut state = kv.initial();
    simulate(
        &shape,
        &mut Random::new(seed),
        |random, _| {
            pieces += 1;
            match random.below(20) {
                0 => KvOp::Put('k', format!("{pieces},").into()),
                1..=9 => KvOp::Append('k', format!("{pieces},").into()),
                _ => KvOp::Get('k'),
            }
        },
        |_, op| {
            let (result, next) = kv.step(&state, op, None).remove(0);
            state = next;
            Some(result)
        },
    )
}

/// Generates a history of a log with many busy clients.
fn busy_log(operations: u32, processes: u32, seed: u64) -> History<LogOp<u32>, LogRet<u32>> {
    let shape = Simulation { processes, operations, crashes: 0, busy: true };
    let (log, mut values) = (Log::new(), 0);
    let mut state = log.initial();
    simulate(
        &shape,
        &mut Random::new(seed),
        |random, _| {
            values += 1;
            if random.chance(1, 2) { LogOp::Append(values) } else { LogOp::Read }
        },
        |_, op| {
            let (result, next) = log.step(&state, op, None).pop().expect("a log never blocks");
            state = next;
            Some(result)
        },
    )
}

fn is_easy<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>) {
    let operations = history.len() as u64;
    // The automatic choice first tries without the rule.
    let by_name = Config::new().algorithm(Algorithm::JustInTimeGraph).rules(Rules::ALL);
    for (config, most) in [(by_name, 4), (Config::new(), 16)] {
        let judgment = check(spec, history, &config);
        assert!(judgment.verdict.is_accepted());
        let visited = judgment.stats.configurations;
        assert!(visited < most * operations, "{visited} configurations for {operations} operations");
    }
    // Without the rule, the search does not finish.
    let rules = Rules { foresight: false, ..Rules::ALL };
    let config = Config::new().rules(rules).budget(Budget::unlimited().configurations(100 * operations));
    let verdict = check(spec, history, &config).verdict;
    assert!(matches!(&verdict, Verdict::Unknown(limit) if limit.kind == LimitKind::Configurations), "{verdict:?}");
}

#[test]
fn foresight_makes_busy_stores_and_logs_easy() {
    for seed in 1..=5 {
        is_easy(&Kv::new(), &busy_store(500, 20, seed));
        is_easy(&Log::new(), &busy_log(500, 20, seed));
    }
}

/// Asserts that foresight does not affect the evidence, on histories that are too long for the definition.
fn evidence_is_the_same<F: Family>() {
    let (mut rejected, mut complete) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let shape = Simulation { processes: 4, operations: 40, crashes: 20, busy: random.chance(1, 2) };
        let history = spoilt::<F>(&simulated::<F>(&shape, &mut random), &mut random);
        let spec = F::spec();
        let verdict = |config: Config| check(&spec, &history, &config.partition(false)).verdict;
        let without = verdict(Config::new().algorithm(Algorithm::Linear).rules(Rules::ALL));
        for algorithm in [Algorithm::Auto, Algorithm::JustInTimeGraph, Algorithm::BoundedGraph] {
            let with = verdict(Config::new().algorithm(algorithm.clone()).rules(Rules::ALL));
            match (&with, &without) {
                (Verdict::Rejected(with), Verdict::Rejected(without)) => {
                    // If there are too many results, it does not matter which of them are returned.
                    let are_all = with.all_allowed && without.all_allowed;
                    complete += u32::from(are_all);
                    assert_eq!(
                        (with.refused, &with.open, Some(&with.allowed).filter(|_| are_all)),
                        (without.refused, &without.open, Some(&without.allowed).filter(|_| are_all)),
                        "{}: seed {seed} by {algorithm}",
                        F::NAME
                    );
                }
                _ => assert!(with.is_accepted() && without.is_accepted(), "{}: seed {seed} by {algorithm}", F::NAME),
            }
        }
        rejected += u32::from(without.is_rejected());
    }
    assert!((80..=320).contains(&rejected), "{}: {rejected} of 400 rejected", F::NAME);
    assert!(complete * 10 > rejected * 3 * 8, "{}: all results are known only {complete} times", F::NAME);
}

#[test]
fn foresight_does_not_show_in_the_evidence() {
    evidence_is_the_same::<Kvs>();
    evidence_is_the_same::<OneStrings>();
    evidence_is_the_same::<Logs>();
}

//! Compares every checker with the definition, on random small histories of every specification.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use trueline::drive::Random;
use trueline::history::OpId;
use trueline::judge::{ALGORITHMS, Algorithm, Checker, CheckerInput, Config, Rules, check, replay};
use trueline::spec::Spec;
use trueline::verdict::{Evidence, LimitKind, Verdict};

use crate::families::{
    Arrays, Bags, BoundedQueues, CasRegisters, Counters, Deques, DisplacementQueues, Family, FetchAdds, HistoryOf, Kvs,
    Logs, Maps, MultiRegisterWildcards, MultiRegisters, Multisets, Mutexes, OnceCells, OneStrings, OwnedMutexes,
    PriorityQueues, Queues, Registers, RelaxedPriorityQueues, RelaxedQueues, RelaxedStacks, Ret, RwLocks, Semaphores,
    Sets, Stacks, StacksWithHeights, StutteringQueues, Wildcards, history,
};

/// A checker that is not part of the library: it tries all orders.
#[derive(Debug)]
struct Naive;

impl Checker for Naive {
    fn name(&self) -> &str {
        "naive"
    }

    fn linearize(&self, input: &mut CheckerInput<'_>) -> Result<Option<Vec<OpId>>, LimitKind> {
        let (mut order, rest) = (Vec::new(), input.operations().to_vec());
        Ok(Self::extend(input, CheckerInput::INITIAL, &mut order, &rest)?.then_some(order))
    }
}

impl Naive {
    /// Returns whether the other operations can be linearized after those in `order`, which lead to `state`.
    fn extend(
        input: &mut CheckerInput<'_>,
        state: u32,
        order: &mut Vec<OpId>,
        rest: &[OpId],
    ) -> Result<bool, LimitKind> {
        if rest.iter().all(|op| input.ret(*op).is_none()) {
            return Ok(true);
        }
        for &op in rest.iter().filter(|op| !rest.iter().any(|other| input.precedes(*other, **op))).collect::<Vec<_>>() {
            let others: Vec<OpId> = rest.iter().copied().filter(|other| *other != op).collect();
            for next in input.step(state, op)? {
                order.push(op);
                if Self::extend(input, next, order, &others)? {
                    return Ok(true);
                }
                order.pop();
            }
        }
        Ok(false)
    }
}

/// Returns every checker, with its defaults and in competition.
fn checkers() -> Vec<Algorithm> {
    let mut checkers: Vec<Algorithm> =
        ALGORITHMS.iter().map(|(algorithm, _)| algorithm.clone()).filter(|one| *one != Algorithm::Brute).collect();
    checkers.push("compete:wing-gong-tree,jit-graph".parse().expect("both exist"));
    checkers.push(Algorithm::own(Naive));
    checkers.push(Algorithm::Compete(vec![Algorithm::own(Naive), Algorithm::Linear]));
    checkers
}

fn any_rules(random: &mut Random) -> Rules {
    Rules {
        just_in_time: random.chance(1, 2),
        eager_observers: random.chance(1, 2),
        identical: random.chance(1, 2),
        dominance: random.chance(1, 2),
        counters: random.chance(1, 2),
        absorption: random.chance(1, 2),
        foresight: random.chance(1, 2),
    }
}

/// Returns configurations of each checker: the default one, and one with random rules.
fn configurations(random: &mut Random, competition: bool) -> Vec<Config> {
    let mut all = Vec::new();
    for algorithm in checkers() {
        if matches!(algorithm, Algorithm::Compete(_)) && !competition {
            continue;
        }
        let config = Config::new().algorithm(algorithm).partition(false);
        all.push(config.clone());
        all.push(config.clone().rules(any_rules(random)).seed(random.bits()));
        if random.chance(1, 4) {
            all.push(config.rules(any_rules(random)).restart_after(1 + u64::from(random.below(20))));
        }
    }
    all
}

#[derive(Default)]
struct Tally {
    /// The number of histories that the monitor of the type judged.
    monitored: u32,
    histories: u32,
    rejected: u32,
    pending: u32,
    optional: u32,
}

/// Judges `count` histories with every checker and the definition, and compares the verdicts.
fn agree<F: Family>(count: u32, seed: u64) {
    let mut tally = Tally::default();
    for index in 0..count {
        let seed = seed.wrapping_add(u64::from(index));
        let mut random = Random::new(seed);
        let history = history::<F>(&mut random, 8);
        let outcome = catch_unwind(AssertUnwindSafe(|| agree_on::<F>(&history, &mut random, index % 16 == 0)));
        match outcome {
            Ok(agreed) => {
                tally.rejected += u32::from(agreed.rejected);
                tally.monitored += u32::from(agreed.monitored);
            }
            Err(panic) => {
                let mut shown = String::new();
                for (position, event) in history.events().iter().enumerate() {
                    let operation = &history[event.op()];
                    let _ = writeln!(shown, "  {position:3} {event:?}: {} {:?}", operation.process, operation.op);
                }
                for (id, operation) in history.operations().iter().enumerate() {
                    let _ = writeln!(shown, "  operation {id}: {:?} {:?}", operation.op, operation.outcome);
                }
                eprintln!("{}: seed {seed} gives\n{shown}", F::NAME);
                std::panic::resume_unwind(panic);
            }
        }
        tally.histories += 1;
        let unreturned = history.operations().iter().filter(|operation| operation.return_position().is_none());
        for operation in unreturned {
            match operation.outcome.result() {
                None => tally.pending += 1,
                Some(_) => tally.optional += 1,
            }
        }
    }
    let Tally { monitored, histories, rejected, pending, optional } = tally;
    println!(
        "{}: {histories} histories, {rejected} rejected, {monitored} monitored, {pending} pending, {optional} optional",
        F::NAME
    );
    assert!(monitored >= histories / 100 * F::MONITORED, "too few judged by a monitor: {monitored} of {histories}");
    assert!(rejected * 10 >= histories, "too few rejected histories: {rejected} of {histories}");
    assert!((histories - rejected) * 10 >= histories, "too few accepted histories: {rejected} of {histories} rejected");
    assert!(pending * 10 >= histories && optional * 20 >= histories, "pending {pending}, optional {optional}");
}

struct Agreed {
    rejected: bool,
    /// Whether the monitor of the type judged the history.
    monitored: bool,
}

fn agree_on<F: Family>(history: &HistoryOf<F>, random: &mut Random, competition: bool) -> Agreed {
    let spec = F::spec();
    let brute = Config::new().algorithm(Algorithm::Brute).partition(false);
    let truth = check(&spec, history, &brute).verdict;
    assert!(!matches!(truth, Verdict::Unknown(_)), "the definition decides every small history");
    for config in configurations(random, competition) {
        let judgment = check(&spec, history, &config);
        if is_refused(&judgment.verdict) {
            continue;
        }
        match (&truth, &judgment.verdict) {
            (Verdict::Accepted(_), Verdict::Accepted(witness)) => {
                replay(&spec, history, &witness.order).expect("a witness can be replayed");
            }
            (Verdict::Rejected(expected), Verdict::Rejected(evidence)) => {
                assert_eq!(place(evidence), place(expected), "{config:?}");
                check_prefix::<F>(&spec, history, evidence);
            }
            (expected, got) => panic!("{config:?}: {got:?}, but the truth is {expected:?}"),
        }
    }
    partitions_agree::<F>(history, &truth, random);
    Agreed { rejected: truth.is_rejected(), monitored: monitor_agrees::<F>(history, &truth) }
}

/// Returns whether the monitor of the type judged the history by key, and asserts that its verdict is correct.
fn monitor_agrees<F: Family>(history: &HistoryOf<F>, truth: &Verdict<Ret<F>>) -> bool {
    let verdict = check(&F::spec(), history, &Config::new().algorithm(Algorithm::Monitor)).verdict;
    if is_refused(&verdict) {
        return false;
    }
    assert_eq!(verdict.name(), truth.name(), "{verdict:?}");
    // With several keys, the first bad event may belong to a key that another checker judged.
    let spec = F::spec();
    let mut keys = history.operations().iter().map(|operation| spec.key(&operation.op, operation.outcome.result()));
    let first = keys.next();
    let is_one_part = keys.all(|key| Some(key) == first) && !spec.standard_spans_keys();
    if let Some(evidence) = verdict.evidence().filter(|_| is_one_part) {
        assert!(!evidence.conflict.is_empty(), "a monitor names what conflicts: {evidence:?}");
    }
    true
}

/// Returns whether the algorithm refused to judge the history.
fn is_refused<R>(verdict: &Verdict<R>) -> bool {
    matches!(verdict, Verdict::Unknown(limit) if matches!(limit.kind, LimitKind::Refused(_)))
}

/// Returns all parts of the evidence that must not depend on the checker.
fn place<R: Clone>(evidence: &Evidence<R>) -> (OpId, u32, Vec<OpId>, Vec<R>) {
    (evidence.refused, evidence.event, evidence.open.clone(), evidence.allowed.clone())
}

/// Asserts that the prefix is a linearization of the history up to the refused return; operations keep their numbers.
fn check_prefix<F: Family>(spec: &F::Spec, history: &HistoryOf<F>, evidence: &Evidence<Ret<F>>) {
    let prefix = history.truncate(evidence.event as usize);
    replay(spec, &prefix, &evidence.prefix).expect("the prefix is linearizable");
}

/// Asserts that judging by key gives the same verdict, place and allowed results.
fn partitions_agree<F: Family>(history: &HistoryOf<F>, truth: &Verdict<Ret<F>>, random: &mut Random) {
    let spec = F::spec();
    let algorithm = random.pick(&[Algorithm::Auto, Algorithm::JustInTimeGraph, Algorithm::Linear]).clone();
    let threads = if random.chance(1, 64) { 3 } else { 1 };
    let config = Config::new().algorithm(algorithm).threads(threads);
    let judgment = check(&spec, history, &config);
    match (truth, &judgment.verdict) {
        (Verdict::Accepted(_), Verdict::Accepted(witness)) => {
            replay(&spec, history, &witness.order).expect("a merged witness can be replayed");
        }
        (Verdict::Rejected(whole), Verdict::Rejected(evidence)) => {
            // The open operations are not compared, because the evidence contains only the open operations of its key.
            let told = |evidence: &Evidence<Ret<F>>| (evidence.refused, evidence.event, evidence.allowed.clone());
            assert_eq!(told(evidence), told(whole), "{config:?}");
        }
        (expected, got) => panic!("{config:?}: {got:?}, but the truth is {expected:?}"),
    }
}

/// Histories for each specification in the normal test run.
const COUNT: u32 = 8_000;

#[test]
fn register() {
    agree::<Registers>(COUNT, 1 << 32);
}

#[test]
fn cas_register() {
    agree::<CasRegisters>(COUNT, 2 << 32);
}

#[test]
fn cas_register_with_wildcard() {
    agree::<Wildcards>(COUNT, 3 << 32);
}

#[test]
fn set() {
    agree::<Sets>(COUNT, 4 << 32);
}

#[test]
fn map() {
    agree::<Maps>(COUNT, 5 << 32);
}

#[test]
fn queue() {
    agree::<Queues>(COUNT, 6 << 32);
}

#[test]
fn stack() {
    agree::<Stacks>(COUNT, 7 << 32);
}

#[test]
fn mutex() {
    agree::<Mutexes>(COUNT, 8 << 32);
}

#[test]
fn mutex_with_owners() {
    agree::<OwnedMutexes>(COUNT, 9 << 32);
}

#[test]
fn bag() {
    agree::<Bags>(COUNT, 10 << 32);
}

#[test]
fn multi_register() {
    agree::<MultiRegisters>(COUNT, 11 << 32);
}

#[test]
fn multi_register_with_wildcard() {
    agree::<MultiRegisterWildcards>(COUNT, 12 << 32);
}

#[test]
fn array() {
    agree::<Arrays>(COUNT, 13 << 32);
}

#[test]
fn once_cell() {
    agree::<OnceCells>(COUNT, 14 << 32);
}

#[test]
fn counter() {
    agree::<Counters>(COUNT, 15 << 32);
}

#[test]
fn fetch_add() {
    agree::<FetchAdds>(COUNT, 16 << 32);
}

#[test]
fn multiset() {
    agree::<Multisets>(COUNT, 17 << 32);
}

#[test]
fn kv() {
    agree::<Kvs>(COUNT, 18 << 32);
}

#[test]
fn one_string() {
    agree::<OneStrings>(COUNT, 26 << 32);
}

#[test]
fn bounded_queue() {
    agree::<BoundedQueues>(COUNT, 19 << 32);
}

#[test]
fn stack_heights() {
    agree::<StacksWithHeights>(COUNT, 20 << 32);
}

#[test]
fn deque() {
    agree::<Deques>(COUNT, 21 << 32);
}

#[test]
fn priority_queue() {
    agree::<PriorityQueues>(COUNT, 22 << 32);
}

#[test]
fn log() {
    agree::<Logs>(COUNT, 23 << 32);
}

#[test]
fn rwlock() {
    agree::<RwLocks>(COUNT, 24 << 32);
}

#[test]
fn relaxed_queue() {
    agree::<RelaxedQueues>(COUNT, 60 << 32);
}

#[test]
fn displacement_queue() {
    agree::<DisplacementQueues>(COUNT, 61 << 32);
}

#[test]
fn stuttering_queue() {
    agree::<StutteringQueues>(COUNT, 62 << 32);
}

#[test]
fn relaxed_stack() {
    agree::<RelaxedStacks>(COUNT, 63 << 32);
}

#[test]
fn relaxed_priority_queue() {
    agree::<RelaxedPriorityQueues>(COUNT, 64 << 32);
}

#[test]
fn semaphore() {
    agree::<Semaphores>(COUNT, 25 << 32);
}

/// Histories that the monitors can judge: values are mostly distinct, and all operations are known to the monitors.
mod monitored {
    use super::*;
    use crate::families::monitored as families;

    macro_rules! monitored {
        ($($name:ident: $family:ident, $seed:literal;)*) => {
            $(
                #[test]
                fn $name() {
                    agree::<families::$family>(COUNT, $seed << 32);
                }
            )*
            mod soak {
                use super::*;
                $(
                    #[test]
                    #[ignore = "a soak: judges a million histories"]
                    fn $name() {
                        super::super::soak::soak::<families::$family>();
                    }
                )*
            }
        };
    }

    monitored! {
        register: Registers, 40;
        cas_register: CasRegisters, 41;
        set: Sets, 42;
        map: Maps, 43;
        map_with_blind_puts: BlindMaps, 44;
        queue: Queues, 45;
        queue_with_repeats: RepeatingQueues, 46;
        stack: Stacks, 47;
        priority_queue: PriorityQueues, 48;
        bag: Bags, 49;
        counter: Counters, 50;
        fetch_add: FetchAdds, 51;
        rwlock: RwLocks, 52;
        semaphore: Semaphores, 53;
        swap_register: Swaps, 54;
        lock_with_tries: TryLocks, 55;
        lock_with_tries_and_owners: OwnedTryLocks, 56;
        priority_queue_of_pairs: PairQueues, 57;
    }
}

/// Specifications that break their promises: rules that rely on a broken promise must lead to wrong verdicts, and the
/// comparison must detect them.
mod broken {
    use super::{AssertUnwindSafe, Family, Registers, agree_on, catch_unwind};
    use crate::families::{Op, Ret, history};
    use trueline::drive::Random;
    use trueline::spec::{Outcomes, Register, RegisterOp, RegisterRet, Spec};

    /// A register with one false promise: that writes observe, that reads overwrite, that each value is a separate
    /// object, or that no read can ever be reached.
    #[derive(Clone, Copy, PartialEq)]
    enum Lie {
        WritesObserve,
        ReadsOverwrite,
        ValuesAreKeys,
        NothingIsInReach,
    }

    struct Liar(Lie, Register<u8>);

    impl Spec for Liar {
        type Op = RegisterOp<u8>;
        type Ret = RegisterRet<u8>;
        type State = u8;
        type Key = u8;
        type Value = ();

        fn initial(&self) -> u8 {
            self.1.initial()
        }

        fn step(&self, state: &u8, op: &Self::Op, recorded: Option<&Self::Ret>) -> Outcomes<Self::Ret, u8> {
            self.1.step(state, op, recorded)
        }

        fn observes(&self, op: &Self::Op, recorded: Option<&Self::Ret>) -> bool {
            self.0 == Lie::WritesObserve || self.1.observes(op, recorded)
        }

        fn overwrites(&self, op: &Self::Op, recorded: Option<&Self::Ret>) -> bool {
            self.0 == Lie::ReadsOverwrite || self.1.overwrites(op, recorded)
        }

        fn is_goal(&self, op: &Self::Op, _result: &Self::Ret) -> bool {
            self.0 == Lie::NothingIsInReach && *op == RegisterOp::Read
        }

        fn reaches(&self, _state: &u8, _goal: &Self::Op, _result: &Self::Ret) -> bool {
            false
        }

        fn key(&self, op: &Self::Op, recorded: Option<&Self::Ret>) -> Option<u8> {
            match (self.0, op, recorded) {
                (Lie::ValuesAreKeys, RegisterOp::Write(value), _)
                | (Lie::ValuesAreKeys, RegisterOp::Read, Some(RegisterRet::Value(value))) => Some(*value),
                _ => None,
            }
        }
    }

    macro_rules! liar {
        ($family:ident, $lie:expr, $test:ident) => {
            struct $family;
            impl Family for $family {
                type Spec = Liar;
                const NAME: &'static str = stringify!($family);
                fn spec() -> Liar {
                    Liar($lie, Register::new(0))
                }
                fn call(random: &mut Random, process: u32) -> Op<Self> {
                    Registers::call(random, process)
                }
                fn result(random: &mut Random, op: &Op<Self>) -> Ret<Self> {
                    Registers::result(random, op)
                }
            }
            #[test]
            fn $test() {
                let caught = (0..2_000).any(|seed| {
                    let mut random = Random::new(seed);
                    let history = history::<$family>(&mut random, 8);
                    catch_unwind(AssertUnwindSafe(|| agree_on::<$family>(&history, &mut random, false))).is_err()
                });
                assert!(caught, "2,000 histories did not show that the rule is broken");
            }
        };
    }

    liar!(WritesObserve, Lie::WritesObserve, a_broken_observer_rule_is_caught);
    liar!(ReadsOverwrite, Lie::ReadsOverwrite, a_broken_absorption_rule_is_caught);
    liar!(NothingIsInReach, Lie::NothingIsInReach, a_broken_foresight_is_caught);
    liar!(ValuesAreKeys, Lie::ValuesAreKeys, an_unsound_partition_is_caught);
}

/// The soak: `cargo test --release -p trueline --test it oracle:: -- --ignored`.
mod soak {
    use super::*;

    /// Judges random histories of a specification. `TRUELINE_SOAK` sets their number.
    pub(super) fn soak<F: Family>() {
        let count = std::env::var("TRUELINE_SOAK").ok().and_then(|count| count.parse().ok()).unwrap_or(1_000_000);
        agree::<F>(count, 1 << 48);
    }

    macro_rules! soaks {
        ($($name:ident: $family:ty),* $(,)?) => {
            $(
                #[test]
                #[ignore = "a soak: judges a million histories"]
                fn $name() {
                    soak::<$family>();
                }
            )*
        };
    }

    soaks! {
        register: Registers,
        cas_register: CasRegisters,
        cas_register_with_wildcard: Wildcards,
        set: Sets,
        map: Maps,
        queue: Queues,
        stack: Stacks,
        mutex: Mutexes,
        mutex_with_owners: OwnedMutexes,
        bag: Bags,
        multi_register: MultiRegisters,
        multi_register_with_wildcard: MultiRegisterWildcards,
        array: Arrays,
        once_cell: OnceCells,
        counter: Counters,
        fetch_add: FetchAdds,
        multiset: Multisets,
        kv: Kvs,
        one_string: OneStrings,
        bounded_queue: BoundedQueues,
        stack_heights: StacksWithHeights,
        deque: Deques,
        priority_queue: PriorityQueues,
        log: Logs,
        rwlock: RwLocks,
        semaphore: Semaphores,
        relaxed_queue: RelaxedQueues,
        displacement_queue: DisplacementQueues,
        stuttering_queue: StutteringQueues,
        relaxed_stack: RelaxedStacks,
        relaxed_priority_queue: RelaxedPriorityQueues,
    }
}

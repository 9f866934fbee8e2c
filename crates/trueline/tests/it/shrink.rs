//! Compares shrinking with the definition: every step preserves the rejection, and no further step is possible.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use trueline::drive::Random;
use trueline::history::{Fate, History, OpId, Outcome};
use trueline::judge::shrink::{self, Limits};
use trueline::judge::{Algorithm, CancelToken, Config, check};
use trueline::spec::{Spec, Subject};
use trueline::verdict::{Core, Role, Verdict};

use crate::families::{
    Arrays, Bags, BoundedQueues, CasRegisters, Counters, Deques, Family, FetchAdds, HistoryOf, Kvs, Logs, Maps,
    MultiRegisterWildcards, MultiRegisters, Multisets, Mutexes, OnceCells, Op, OwnedMutexes, PriorityQueues, Queues,
    Registers, Ret, RwLocks, Semaphores, Sets, Stacks, StacksWithHeights, Wildcards, history,
};

/// Returns whether the definition rejects the history.
fn is_rejected<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>) -> bool {
    match check(spec, history, &Config::new().algorithm(Algorithm::Brute).partition(false)).verdict {
        Verdict::Accepted(_) => false,
        Verdict::Rejected(_) => true,
        Verdict::Unknown(limit) => panic!("the definition did not decide: {limit}"),
    }
}

/// Returns the fate of an operation that is dropped; `None` if it is already pending.
fn dropped<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, id: OpId) -> Option<Fate> {
    let operation = &history[id];
    let result = operation.outcome.result();
    if spec.observes(&operation.op, result) {
        return Some(Fate::LeaveOut);
    }
    result.is_some().then_some(Fate::Forget)
}

/// Returns the subjects that may be left out.
fn subjects<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>) -> Vec<Subject> {
    let mut found: Vec<Subject> = Vec::new();
    for operation in history.operations() {
        match spec.subject(&operation.op, operation.outcome.result()) {
            Subject::All => return Vec::new(),
            one @ Subject::One(_) if !found.contains(&one) => found.push(one),
            _ => {}
        }
    }
    found
}

/// Returns the history without all operations on these subjects.
fn without<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, gone: &[Subject]) -> History<S::Op, S::Ret> {
    let left = |op: &S::Op, result: Option<&S::Ret>| {
        if gone.contains(&spec.subject(op, result)) {
            return None;
        }
        spec.restrict(op, result, &|subject| gone.contains(&subject))
    };
    let stays = history.project(|_, operation| left(&operation.op, operation.outcome.result()).is_some());
    let restricted = stays.try_map(|operation| {
        let (op, result) = left(&operation.op, operation.outcome.result()).expect("the operation is kept");
        let outcome = match &operation.outcome {
            Outcome::Pending => Outcome::Pending,
            Outcome::Returned(_) => Outcome::Returned(result.expect("an operation with a result keeps one")),
            Outcome::Optional(_) => Outcome::Optional(result.expect("an operation with a result keeps one")),
        };
        Ok::<_, std::convert::Infallible>((op, outcome))
    });
    match restricted {
        Ok(restricted) => restricted,
        Err(never) => match never {},
    }
}

/// Returns the history that begins with an operation that leads to the same state from all states, if that is useful.
fn begun<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, first: OpId) -> Option<History<S::Op, S::Ret>> {
    let operation = &history[first];
    let Outcome::Returned(result) = &operation.outcome else { return None };
    let key = |id: OpId| spec.key(&history[id].op, history[id].outcome.result());
    if key(first).is_some() && ids(history).any(|id| key(id) != key(first)) {
        return None;
    }
    let state = spec.leads_to(&operation.op, result)?;
    let initial = spec.initial();
    let possible = spec.step(&initial, &operation.op, Some(result)).contains(&(result.clone(), state.clone()));
    if !possible && state != initial {
        return None;
    }
    Some(history.weaken(|id, _| {
        if id == first {
            // The first operation stays if it is possible in the initial state.
            if possible { Fate::Keep } else { Fate::LeaveOut }
        } else if history.precedes(id, first) {
            Fate::LeaveOut
        } else if history.precedes(first, id) {
            Fate::Keep
        } else {
            Fate::Optional
        }
    }))
}

fn ids<Op, Ret>(history: &History<Op, Ret>) -> impl Iterator<Item = OpId> + use<Op, Ret> {
    (0..u32::try_from(history.len()).expect("small")).map(OpId)
}

/// Runs `test` on `count` histories, and prints the history on which `test` fails.
fn for_each_history<F: Family>(count: u32, seed: u64, mut test: impl FnMut(&HistoryOf<F>, &mut Random)) {
    for seed in seed..seed + u64::from(count) {
        let mut random = Random::new(seed);
        let history = history::<F>(&mut random, 8);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| test(&history, &mut random))) {
            eprintln!("{}: seed {seed} gives {:?}", F::NAME, history.events());
            for (id, operation) in history.operations().iter().enumerate() {
                eprintln!("  operation {id}: {:?} {:?}", operation.op, operation.outcome);
            }
            std::panic::resume_unwind(panic);
        }
    }
}

/// Shrinks the rejected histories among `count` random ones.
fn cores_are_evidence_and_minimal<F: Family>(count: u32, seed: u64) {
    let spec = F::spec();
    let (mut rejected, mut told, mut calls) = (0, 0, 0);
    for_each_history::<F>(count, seed, |history, random| {
        let truth = check(&spec, history, &Config::new().algorithm(Algorithm::Brute).partition(false)).verdict;
        let core = match truth.evidence() {
            // Evidence is about the whole history, or about one key.
            Some(evidence) if random.chance(1, 2) => Some(shrink::core(&spec, history, evidence, &Limits::new())),
            _ => shrink::judge(&spec, history, &Limits::new()),
        };
        assert_eq!(core.is_some(), truth.is_rejected(), "shrinking determines by itself what is rejected");
        let Some(core) = core else { return };
        check_members(history, &core);
        assert!(core.confirmed && is_rejected(&spec, &core.history), "a core is rejected: {core:?}");
        assert!(core.is_minimal(), "nothing is undecided in small histories: {core:?}");
        check_minimal::<F>(&spec, &core);
        rejected += 1;
        told += core.told().count();
        calls += core.oracle_calls;
    });
    println!("{}: {rejected} of {count} rejected; {told} operations told, {calls} calls", F::NAME);
    assert!(rejected * 10 >= count, "too few rejected histories: {rejected} of {count}");
}

/// Asserts that the members of a core are correctly described.
fn check_members<Op: Clone + PartialEq + std::fmt::Debug, Ret: Clone + PartialEq + std::fmt::Debug>(
    history: &History<Op, Ret>,
    core: &Core<Op, Ret>,
) {
    assert_eq!(core.members.len(), core.history.len());
    assert_eq!(core.of, history.len());
    assert!(core.members.is_sorted_by_key(|member| member.id), "in the order of the calls");
    for (member, kept) in core.members.iter().zip(core.history.operations()) {
        let original = &history[member.id];
        assert_eq!((kept.process, kept.object), (original.process, original.object));
        let (result, recorded) = (kept.outcome.result(), original.outcome.result());
        assert_eq!(member.in_part, kept.op != original.op || (result.is_some() && result != recorded));
        match member.role {
            Role::Completed => assert!(matches!(kept.outcome, Outcome::Returned(_))),
            Role::Optional => assert!(matches!(kept.outcome, Outcome::Optional(_))),
            Role::Forgotten => {
                assert_eq!(kept.outcome, Outcome::Pending);
                assert!(original.outcome.result().is_some());
            }
            Role::Pending => assert_eq!((&kept.outcome, &original.outcome), (&Outcome::Pending, &Outcome::Pending)),
        }
        assert_eq!(kept.return_position().is_some(), member.role == Role::Completed);
    }
    for first in ids(&core.history) {
        for second in ids(&core.history).filter(|_| core.members[first.index()].role == Role::Completed) {
            let [one, other] = [first, second].map(|id| core.members[id.index()].id);
            assert_eq!(core.history.precedes(first, second), history.precedes(one, other), "the order is kept");
        }
    }
    assert!(!core.calls.is_empty() && core.calls.len() + core.left_out() == history.len());
    let begins = core.members.iter().find(|member| core.begins_behind == Some(member.id));
    assert!(
        begins.is_none_or(|first| first.role == Role::Completed),
        "a history begins with what took effect: {core:?}"
    );
    let is_told = |id: &OpId| core.begins_behind == Some(*id) || core.told().any(|member| member.id == *id);
    assert!(core.calls.iter().all(is_told), "{core:?}");
}

/// Asserts that no single further step leaves the history rejected.
fn check_minimal<F: Family>(spec: &F::Spec, core: &Core<Op<F>, Ret<F>>) {
    for id in ids(&core.history) {
        if core.begins_behind == Some(core.members[id.index()].id) {
            continue;
        }
        let Some(fate) = dropped(spec, &core.history, id) else { continue };
        let weaker = core.history.weaken(|other, _| if other == id { fate } else { Fate::Keep });
        assert!(!is_rejected(spec, &weaker), "{fate:?} of {id:?} leaves the core rejected: {core:?}");
    }
    for subject in subjects(spec, &core.history) {
        let weaker = without(spec, &core.history, &[subject]);
        assert!(!is_rejected(spec, &weaker), "without {subject:?} the core is rejected: {core:?}");
    }
}

/// Takes one sound step at random.
fn weakened<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, random: &mut Random) -> History<S::Op, S::Ret> {
    let count = u32::try_from(history.len()).expect("small");
    let id = OpId(random.below(count));
    match random.below(12) {
        0 => history.truncate(random.below(2 * count + 1) as usize),
        1..=3 => {
            let mut gone = subjects(spec, history);
            if gone.is_empty() {
                return history.clone();
            }
            gone.retain(|_| random.chance(1, 2));
            without(spec, history, &gone)
        }
        4..=6 => begun(spec, history, id).unwrap_or_else(|| history.clone()),
        7 => history.weaken(|other, _| if other == id { Fate::Optional } else { Fate::Keep }),
        _ => {
            let fate = dropped(spec, history, id).unwrap_or(Fate::Keep);
            history.weaken(|other, _| if other == id { fate } else { Fate::Keep })
        }
    }
}

/// Takes random steps from the accepted histories among `count` random ones: none may lead to a rejected history.
fn steps_are_sound<F: Family>(count: u32, seed: u64) {
    let spec = F::spec();
    let (mut accepted, mut steps) = (0, 0);
    for_each_history::<F>(count, seed, |history, random| {
        if is_rejected(&spec, history) {
            return;
        }
        accepted += 1;
        let mut weaker = history.clone();
        for _ in 0..6 {
            if weaker.is_empty() {
                break;
            }
            let next = weakened(&spec, &weaker, random);
            if next != weaker {
                assert!(!is_rejected(&spec, &next), "from {weaker:?} to {next:?}");
                steps += 1;
                weaker = next;
            }
        }
    });
    println!("{}: {steps} steps from {accepted} of {count} histories", F::NAME);
    assert!(accepted * 10 >= count && steps > accepted, "too few accepted: {accepted} of {count}, {steps} steps");
}

/// Without time for a single judgment, the failing prefix remains, and no operation is known to be
/// needed. The failing prefix also remains if shrinking was canceled, but then it is judged without
/// further steps.
#[test]
fn without_time_the_failing_prefix_is_left() {
    let spec = Queues::spec();
    let token = CancelToken::new();
    token.cancel();
    let mut rejected = 0;
    for_each_history::<Queues>(500, 7 << 40, |history, _| {
        let Some(evidence) = check(&spec, history, &Config::new()).verdict.evidence().cloned() else { return };
        for (limits, is_confirmed) in [
            (Limits::new().time(Duration::ZERO), false),
            (Limits::new().time(Duration::from_secs(3600)).cancelled_by(token.clone()), true),
        ] {
            let core = shrink::core(&spec, history, &evidence, &limits);
            check_members(history, &core);
            assert!(is_rejected(&spec, &core.history));
            assert_eq!((core.oracle_calls, core.confirmed), (u32::from(is_confirmed), is_confirmed));
            assert!(!core.is_minimal() || core.told().count() == 1, "{core:?}");
            assert!(core.members.iter().all(|member| history[member.id].call_position() < evidence.event), "{core:?}");
        }
        rejected += 1;
    });
    assert!(rejected > 50, "{rejected}");
}

/// The number of histories for each specification in the normal test run, for each of the two tests.
const COUNT: u32 = 8_000;

macro_rules! shrinks {
    ($($name:ident: $family:ty, $seed:literal;)*) => {
        mod cores {
            use super::*;
            $(
                #[test]
                fn $name() {
                    cores_are_evidence_and_minimal::<$family>(COUNT, ($seed << 32) + (1 << 24));
                }
            )*
        }

        mod steps {
            use super::*;
            $(
                #[test]
                fn $name() {
                    steps_are_sound::<$family>(COUNT, ($seed << 32) + (2 << 24));
                }
            )*
        }

        /// The soak: `cargo test --release -p trueline --test it shrink::soak -- --ignored`.
        mod soak {
            use super::*;
            $(
                #[test]
                #[ignore = "many histories: a command of its own"]
                fn $name() {
                    let count = std::env::var("TRUELINE_SOAK").ok().and_then(|count| count.parse().ok());
                    let count = count.unwrap_or(100_000);
                    cores_are_evidence_and_minimal::<$family>(count, ($seed << 32) + (3 << 24));
                    steps_are_sound::<$family>(count, ($seed << 32) + (4 << 24));
                }
            )*
        }
    };
}

shrinks! {
    register: Registers, 1;
    cas_register: CasRegisters, 2;
    cas_register_with_wildcard: Wildcards, 3;
    set: Sets, 4;
    map: Maps, 5;
    queue: Queues, 6;
    stack: Stacks, 7;
    mutex: Mutexes, 8;
    mutex_with_owners: OwnedMutexes, 9;
    bag: Bags, 10;
    multi_register: MultiRegisters, 11;
    multi_register_with_wildcard: MultiRegisterWildcards, 12;
    array: Arrays, 13;
    once_cell: OnceCells, 14;
    counter: Counters, 15;
    fetch_add: FetchAdds, 16;
    multiset: Multisets, 17;
    kv: Kvs, 18;
    bounded_queue: BoundedQueues, 19;
    stack_heights: StacksWithHeights, 20;
    deque: Deques, 21;
    priority_queue: PriorityQueues, 22;
    log: Logs, 23;
    rwlock: RwLocks, 24;
    semaphore: Semaphores, 25;
}

/// Specifications that break their promises: steps that rely on a broken promise must lead to wrong cores, and the
/// comparison must detect them.
mod broken {
    use super::*;
    use trueline::spec::{Outcomes, Set, SetOp, SetRet};

    /// A set that makes a false promise about one of its operations.
    #[derive(Clone, Copy, PartialEq)]
    enum Lie {
        SizesAreFree,
        AddsObserve,
        SizesAreKnown,
    }

    struct Liar(Lie, Set<u8>);

    impl Spec for Liar {
        type Op = SetOp<u8>;
        type Ret = SetRet;
        type State = <Set<u8> as Spec>::State;
        type Key = u8;
        type Value = ();

        fn initial(&self) -> Self::State {
            self.1.initial()
        }

        fn step(
            &self,
            state: &Self::State,
            op: &SetOp<u8>,
            recorded: Option<&SetRet>,
        ) -> Outcomes<SetRet, Self::State> {
            self.1.step(state, op, recorded)
        }

        fn observes(&self, op: &SetOp<u8>, recorded: Option<&SetRet>) -> bool {
            (self.0 == Lie::AddsObserve && matches!(op, SetOp::Add(_))) || self.1.observes(op, recorded)
        }

        fn subject(&self, op: &SetOp<u8>, recorded: Option<&SetRet>) -> Subject {
            match op {
                SetOp::Size if self.0 == Lie::SizesAreFree => Subject::Free,
                _ => self.1.subject(op, recorded),
            }
        }

        fn leads_to(&self, op: &SetOp<u8>, recorded: &SetRet) -> Option<Self::State> {
            match op {
                SetOp::Size if self.0 == Lie::SizesAreKnown => Some(self.initial()),
                _ => self.1.leads_to(op, recorded),
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
                    Liar($lie, Set::new())
                }
                fn call(random: &mut Random, process: u32) -> Op<Self> {
                    Sets::call(random, process)
                }
                fn result(random: &mut Random, op: &Op<Self>) -> Ret<Self> {
                    Sets::result(random, op)
                }
            }
            #[test]
            fn $test() {
                let caught = catch_unwind(|| steps_are_sound::<$family>(4_000, 1 << 40)).is_err();
                assert!(caught, "4,000 histories did not show that the promise is broken");
            }
        };
    }

    liar!(SizesAreFree, Lie::SizesAreFree, a_broken_subject_is_caught);
    liar!(AddsObserve, Lie::AddsObserve, a_broken_observer_is_caught);
    liar!(SizesAreKnown, Lie::SizesAreKnown, a_broken_beginning_is_caught);
}

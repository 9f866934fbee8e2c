//! Compares all claims of a judgment with the definitions, on random small histories of every specification.
//!
//! This module shares no code with `judge`: [`definition`] tries all orders of operations. The module compares the
//! verdict, the place, the allowed results, the prefix, the core, and each claim of an argument.

mod claims;
mod definition;
mod examples;

use std::fmt::{Debug, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

use trueline::drive::Random;
use trueline::history::{EventKind, History, OpId};
use trueline::judge::shrink::{self, Limits};
use trueline::judge::{ALGORITHMS, Algorithm, Config, argument, check};
use trueline::spec::{Spec, Subject};
use trueline::verdict::{Core, Evidence, LimitKind, Verdict};
use trueline::view::prose;

use crate::families::{self, Family, HistoryOf};

/// A claim that may be false.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    Verdict,
    Prefix,
    Conflict,
    /// The place is the first bad event of the whole history, or it is not claimed to be the first.
    Place,
    /// The definition allows these results for the whole object, and no other results if all are claimed to be known.
    Allowed,
    /// A core is rejected with all other operations left out.
    CoreRejected,
    /// A core is not rejected if one more operation is left out.
    CoreMinimal,
    /// The claims of an explanation hold.
    Claim,
    /// All operations that an explanation names are shown.
    Named,
}

/// The false claims about a history.
#[derive(Debug, Default)]
pub(crate) struct Said {
    wrong: Vec<(Word, String)>,
    is_rejected: bool,
    /// Whether the monitor of the type judged the history.
    is_monitored: bool,
    is_explained: bool,
}

impl Said {
    fn say(&mut self, is_right: bool, word: Word, what: impl FnOnce() -> String) {
        if !is_right {
            self.wrong.push((word, what()));
        }
    }
}

/// Judges a history with every checker that can, and compares all claims with the definitions.
///
/// `alone` is whether the operations that a monitor reports as conflicting conflict by themselves.
pub(crate) fn compare<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, compete: bool, alone: bool) -> Said {
    let mut said = Said::default();
    let place = definition::place(spec, history);
    let allowed = place.map(|event| definition::allowed(spec, history, event)).unwrap_or_default();
    said.is_rejected = place.is_some();
    let algorithms = ALGORITHMS.iter().map(|(algorithm, _)| algorithm.clone());
    let competition = compete.then(|| "compete:wing-gong-tree,jit-graph".parse().expect("both exist"));
    for algorithm in algorithms.chain(competition) {
        let verdict = check(spec, history, &Config::new().algorithm(algorithm.clone())).verdict;
        match &verdict {
            Verdict::Unknown(limit) => {
                let is_refused = matches!(limit.kind, LimitKind::Refused(_));
                said.say(is_refused, Word::Verdict, || format!("{algorithm:?}: {limit}"));
                continue;
            }
            verdict => said.say(verdict.is_rejected() == place.is_some(), Word::Verdict, || {
                format!("{algorithm:?}: {verdict:?}, but the first bad event is {place:?}")
            }),
        }
        said.is_monitored |= algorithm == Algorithm::Monitor;
        if let (Some(event), Some(evidence)) = (place, verdict.evidence()) {
            compare_evidence(spec, history, (event, &allowed), &algorithm, evidence, &mut said);
            let conflict = &evidence.conflict;
            if !conflict.is_empty() {
                let is_right = is_conflict(spec, history, conflict, false)
                    && (!alone || is_conflict(spec, history, conflict, true));
                said.say(is_right, Word::Conflict, || format!("{algorithm:?}: {conflict:?} do not conflict"));
            }
        }
        if let (None, Some(witness)) = (place, verdict.witness()) {
            let is_right = is_linearization(spec, history, &witness.order, u32::MAX, |_| true);
            said.say(is_right, Word::Verdict, || format!("{algorithm:?}: {witness:?} is not a linearization"));
        }
        // The explanation of a rejection is based on the evidence of the default algorithm.
        if let (Algorithm::Auto, Some(evidence)) = (&algorithm, verdict.evidence()) {
            compare_core(spec, history, evidence, &mut said);
        }
    }
    said
}

fn compare_evidence<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    (event, allowed): (u32, &[S::Ret]),
    algorithm: &Algorithm,
    evidence: &Evidence<S::Ret>,
    said: &mut Said,
) {
    let is_of = history[evidence.refused].return_position() == Some(evidence.event);
    said.say(is_of, Word::Place, || format!("{algorithm:?}: event {} is not the return", evidence.event));
    let is_first = if evidence.is_first { evidence.event == event } else { evidence.event >= event };
    said.say(is_first, Word::Place, || format!("{algorithm:?}: event {}, but the first is {event}", evidence.event));
    if evidence.event == event {
        let is_subset = evidence.allowed.iter().all(|result| allowed.contains(result));
        let is_right = is_subset && (!evidence.all_allowed || evidence.allowed.len() == allowed.len());
        said.say(is_right, Word::Allowed, || {
            let all = if evidence.all_allowed { "all" } else { "some" };
            format!("{algorithm:?}: allowed are {all} {:?}, but it is {allowed:?}", evidence.allowed)
        });
    }
    // The prefix consists of operations of the object, or of a part of the object.
    let refused = &history[evidence.refused];
    let key = |id: OpId| spec.key(&history[id].op, history[id].outcome.result());
    let own = key(evidence.refused);
    let is_in_object = |id: OpId| history[id].object == refused.object;
    let is_in_part = |id: OpId| is_in_object(id) && own.is_some() && key(id) == own;
    let is_right = is_linearization(spec, history, &evidence.prefix, evidence.event, is_in_object)
        || is_linearization(spec, history, &evidence.prefix, evidence.event, is_in_part);
    said.say(is_right, Word::Prefix, || format!("{algorithm:?}: {:?} is not a linearization", evidence.prefix));
}

/// Returns whether operations conflict: if `alone`, they have no legal order by themselves; otherwise, they have none
/// together with all operations on the same values or keys.
fn is_conflict<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, conflict: &[OpId], alone: bool) -> bool {
    let Some(first) = conflict.first() else { return false };
    let subject = |id: OpId| spec.subject(&history[id].op, history[id].outcome.result());
    let mut calls = definition::before::<S>(history, history[*first].object, u32::MAX);
    calls.retain(|call| {
        let own = subject(call.id);
        let is_about = |other: &OpId| own == Subject::All || matches!(own, Subject::One(_)) && own == subject(*other);
        conflict.contains(&call.id) || (!alone && conflict.iter().any(is_about))
    });
    conflict.is_sorted() && !definition::is_linearizable(spec, &calls)
}

/// Returns whether an order is a linearization of these operations, as far as they happened before `end`.
fn is_linearization<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    order: &[OpId],
    end: u32,
    belongs: impl Fn(OpId) -> bool,
) -> bool {
    let objects = (0..).take(history.object_count()).map(trueline::history::ObjectId);
    let mut used = 0;
    let is_right = objects.into_iter().all(|object| {
        let mut calls = definition::before::<S>(history, object, end);
        calls.retain(|call| belongs(call.id));
        let placed: Vec<_> = order.iter().filter_map(|id| calls.iter().find(|call| call.id == *id)).collect();
        used += placed.len();
        let is_complete = calls.iter().all(|call| !call.is_sure || order.contains(&call.id));
        is_complete && definition::is_in_time(&placed) && !definition::states(spec, &placed).is_empty()
    });
    let is_once = order.iter().enumerate().all(|(at, id)| !order[..at].contains(id));
    is_right && is_once && used == order.len()
}

fn compare_core<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, evidence: &Evidence<S::Ret>, said: &mut Said) {
    let core = shrink::core(spec, history, evidence, &Limits::new());
    let members = core.calls.clone();
    let is_rejected = |members: &[OpId]| {
        let mut calls = definition::before::<S>(history, history[evidence.refused].object, evidence.event + 1);
        for call in &mut calls {
            call.is_sure &= members.contains(&call.id);
        }
        !definition::is_linearizable(spec, &calls)
    };
    said.say(is_rejected(&members), Word::CoreRejected, || {
        format!("{members:?} with all others left out is linearizable")
    });
    if core.is_minimal() && is_rejected(&members) {
        for id in &members {
            let others: Vec<OpId> = members.iter().copied().filter(|other| other != id).collect();
            said.say(!is_rejected(&others), Word::CoreMinimal, || format!("{members:?} does not need {id:?}"));
        }
    }
    let Some(argument) = argument::of_core(spec, &core) else { return };
    said.is_explained = true;
    for wrong in claims::false_claims(spec, history, &core, &argument) {
        said.wrong.push((Word::Claim, wrong));
    }
    let is_listed = |id: &OpId| is_in(&core, *id);
    for id in claims::named(&argument).iter().filter(|id| !is_listed(id)) {
        said.wrong.push((Word::Named, format!("{id:?} is in the explanation, and not in the core {members:?}")));
    }
}

fn is_in<Op, Ret>(core: &Core<Op, Ret>, id: OpId) -> bool {
    core.begins_behind == Some(id) || core.members.iter().any(|member| member.id == id)
}

/// Formats a history for people.
pub(crate) fn shown<Op: Debug, Ret: Debug>(history: &History<Op, Ret>) -> String {
    let mut text = String::new();
    for (position, event) in history.events().iter().enumerate() {
        let id = event.op();
        let operation = &history[id];
        let object =
            if history.object_count() > 1 { format!(" on object {}", operation.object.0) } else { String::new() };
        let _ = match event.kind() {
            EventKind::Call => {
                let unknown = match operation.return_position() {
                    None => format!(", and never returns: {:?}", operation.outcome),
                    Some(_) => String::new(),
                };
                writeln!(
                    text,
                    "  event {position}: process {} calls {:?}{object} ({id:?}){unknown}",
                    operation.process, operation.op
                )
            }
            EventKind::Return => writeln!(
                text,
                "  event {position}: process {}: {:?} returns {:?}",
                operation.process,
                operation.op,
                operation.outcome.result()
            ),
        };
    }
    text
}

/// Returns the same operations, each on one of two objects; `None` if operations of a process overlap.
fn on_two_objects<Op: Clone, Ret: Clone>(history: &History<Op, Ret>, random: &mut Random) -> Option<History<Op, Ret>> {
    let mut builder = History::builder();
    let objects = ["a", "b"].map(|name| builder.object(name));
    for event in history.events() {
        let operation = &history[event.op()];
        match (event.kind(), operation.outcome.result()) {
            (EventKind::Call, _) => {
                builder.call_on(*random.pick(&objects), operation.process, operation.op.clone()).ok()?;
            }
            (EventKind::Return, Some(result)) => {
                builder.ret(operation.process, result.clone()).ok()?;
            }
            (EventKind::Return, None) => unreachable!("what returned has a result"),
        }
    }
    Some(builder.finish())
}

/// The maximum number of operations of a history.
const MOST: u32 = 6;

fn history<F: Family>(random: &mut Random) -> HistoryOf<F> {
    let mut history = families::history::<F>(random, MOST);
    if F::MONITORED > 0 && random.chance(1, 2) {
        history = families::exchanged(&history, 1, random).unwrap_or(history);
    }
    if !random.chance(1, 8) {
        return history;
    }
    on_two_objects(&history, random).unwrap_or(history)
}

/// Compares the claims about `count` histories: all must be true.
fn agree<F: Family>(count: u32, seed: u64) {
    let spec = F::spec();
    let (mut rejected, mut monitored, mut explained, mut pending, mut objects) = (0, 0, 0, 0, 0);
    for index in 0..count {
        let seed = seed.wrapping_add(u64::from(index));
        let history = history::<F>(&mut Random::new(seed));
        let compared = catch_unwind(AssertUnwindSafe(|| compare(&spec, &history, index % 64 == 0, F::ALONE)));
        let said = compared.unwrap_or_else(|panic| {
            eprintln!("{}: seed {seed} gives\n{}", F::NAME, shown(&history));
            std::panic::resume_unwind(panic)
        });
        rejected += u32::from(said.is_rejected);
        monitored += u32::from(said.is_monitored);
        explained += u32::from(said.is_explained);
        pending += u32::from(history.operations().iter().any(|operation| operation.return_position().is_none()));
        objects += u32::from(history.object_count() > 1);
        assert!(said.wrong.is_empty(), "{}: seed {seed} gives\n{}{:?}", F::NAME, shown(&history), said.wrong);
    }
    println!(
        "{}: {count} histories, {rejected} rejected, {monitored} monitored, {explained} explained, {pending} with pending or optional calls, {objects} with two objects",
        F::NAME
    );
    // Monitors refuse histories of two objects and truncated histories a little more often than those of the families.
    assert!(
        monitored >= count / 100 * F::MONITORED.saturating_sub(5),
        "too few judged by a monitor: {monitored} of {count}"
    );
    assert!(rejected * 10 >= count, "too few rejected histories: {rejected} of {count}");
    assert!((count - rejected) * 10 >= count, "too few accepted histories: {rejected} of {count} rejected");
    assert!(pending * 10 >= count && objects * 20 >= count, "{pending} pending, {objects} with two objects");
}

/// Prints rejected histories with their explanations, for people to read.
fn print<F: Family>(count: usize, seed: u64) {
    let spec = F::spec();
    let mut printed = 0;
    for seed in seed.. {
        let history = families::history::<F>(&mut Random::new(seed), MOST);
        let judgment = check(&spec, &history, &Config::new());
        let Some(evidence) = judgment.verdict.evidence() else { continue };
        let core = shrink::core(&spec, &history, evidence, &Limits::new());
        let Some(argument) = argument::of_core(&spec, &core) else { continue };
        let show = |history: &HistoryOf<F>| {
            history
                .map(|operation| (format!("{:?}", operation.op), operation.outcome.map(|result| format!("{result:?}"))))
        };
        println!("{}, seed {seed}:\n{}", F::NAME, shown(&history));
        println!("  refused {:?}, allowed {:?}; core {:?}", evidence.refused, evidence.allowed, core.calls);
        for sentence in prose::tell(&show(&history), &core.map(show), &argument.map(|result| format!("{result:?}"))) {
            println!("    {sentence}");
        }
        printed += 1;
        if printed == count {
            return;
        }
    }
}

/// Histories for each specification in the normal test run.
const COUNT: u32 = 2_000;

/// Histories for each specification in the soak:
/// `TRUELINE_SOAK=20000 cargo test --release -p trueline --test it words -- --ignored`.
fn soak<F: Family>() {
    let count = std::env::var("TRUELINE_SOAK").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000);
    agree::<F>(count, 1 << 48);
}

macro_rules! words {
    ($($name:ident: $family:path, $seed:literal;)*) => {
        $(
            #[test]
            fn $name() {
                agree::<$family>(COUNT, $seed << 32);
            }
        )*
        /// `cargo test -p trueline --test it words::explanations -- --ignored --nocapture`.
        #[test]
        #[ignore = "to be read by a person"]
        fn explanations() {
            $(print::<$family>(3, $seed << 32);)*
        }
        mod soak {
            $(
                #[test]
                #[ignore = "many histories: a command of its own"]
                fn $name() {
                    super::soak::<$family>();
                }
            )*
        }
    };
}

words! {
    register: crate::families::Registers, 1;
    cas_register: crate::families::CasRegisters, 2;
    cas_register_with_wildcard: crate::families::Wildcards, 3;
    set: crate::families::Sets, 4;
    map: crate::families::Maps, 5;
    queue: crate::families::Queues, 6;
    stack: crate::families::Stacks, 7;
    mutex: crate::families::Mutexes, 8;
    mutex_with_owners: crate::families::OwnedMutexes, 9;
    bag: crate::families::Bags, 10;
    multi_register: crate::families::MultiRegisters, 11;
    multi_register_with_wildcard: crate::families::MultiRegisterWildcards, 12;
    array: crate::families::Arrays, 13;
    once_cell: crate::families::OnceCells, 14;
    counter: crate::families::Counters, 15;
    fetch_add: crate::families::FetchAdds, 16;
    multiset: crate::families::Multisets, 17;
    kv: crate::families::Kvs, 18;
    one_string: crate::families::OneStrings, 26;
    bounded_queue: crate::families::BoundedQueues, 19;
    stack_heights: crate::families::StacksWithHeights, 20;
    deque: crate::families::Deques, 21;
    priority_queue: crate::families::PriorityQueues, 22;
    log: crate::families::Logs, 23;
    rwlock: crate::families::RwLocks, 24;
    semaphore: crate::families::Semaphores, 25;
    relaxed_queue: crate::families::RelaxedQueues, 60;
    displacement_queue: crate::families::DisplacementQueues, 61;
    stuttering_queue: crate::families::StutteringQueues, 62;
    relaxed_stack: crate::families::RelaxedStacks, 63;
    relaxed_priority_queue: crate::families::RelaxedPriorityQueues, 64;
    monitored_register: crate::families::monitored::Registers, 40;
    monitored_cas_register: crate::families::monitored::CasRegisters, 41;
    monitored_set: crate::families::monitored::Sets, 42;
    monitored_map: crate::families::monitored::Maps, 43;
    monitored_map_with_blind_puts: crate::families::monitored::BlindMaps, 44;
    monitored_queue: crate::families::monitored::Queues, 45;
    monitored_queue_with_repeats: crate::families::monitored::RepeatingQueues, 46;
    monitored_stack: crate::families::monitored::Stacks, 47;
    monitored_priority_queue: crate::families::monitored::PriorityQueues, 48;
    monitored_bag: crate::families::monitored::Bags, 49;
    monitored_counter: crate::families::monitored::Counters, 50;
    monitored_fetch_add: crate::families::monitored::FetchAdds, 51;
    monitored_rwlock: crate::families::monitored::RwLocks, 52;
    monitored_semaphore: crate::families::monitored::Semaphores, 53;
    monitored_swap_register: crate::families::monitored::Swaps, 54;
    monitored_lock_with_tries: crate::families::monitored::TryLocks, 55;
    monitored_lock_with_tries_and_owners: crate::families::monitored::OwnedTryLocks, 56;
    monitored_priority_queue_of_pairs: crate::families::monitored::PairQueues, 57;
}

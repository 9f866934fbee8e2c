//! Compares the checker of interval linearizability with the definition, on small random histories.

use std::collections::BTreeSet;
use std::fmt::Debug;

use trueline::drive::Random;
use trueline::history::{History, OpId};
use trueline::judge::interval::{IntervalAlgorithm, check, progress};
use trueline::judge::sync::{self, SyncAlgorithm};
use trueline::judge::{Budget, CancelToken};
use trueline::spec::interval::Part::{self, Begins, GoesOn};
use trueline::spec::interval::{IntervalSpec, OneStep, Signal, SignalOp, Stepped, WriteSnapshot};
use trueline::spec::sync::{
    Barrier, BarrierOp, Channel, ChannelOp, CounterChannel, Exchanger, SyncSpec, TerminatingQueue, TerminatingQueueOp,
    TimeoutChannel,
};
use trueline::verdict::{Evidence, LimitKind, ProgressVerdict, Verdict};

use crate::happens::{Happens, histories, history, spoil};

/// A specification with random operations.
struct Family<S, F> {
    name: &'static str,
    spec: S,
    processes: u32,
    /// Generates an operation of a process.
    random_op: F,
}

type Events<S> = Vec<Happens<<S as IntervalSpec>::Op, <S as IntervalSpec>::Ret>>;

/// An execution that is open in a simulated object and has not ended.
#[derive(Clone)]
struct Open<Op> {
    process: u32,
    op: Op,
    has_begun: bool,
}

impl<Op> Open<Op> {
    fn part(&self) -> Part<'_, Op> {
        if self.has_begun { GoesOn(&self.op) } else { Begins(&self.op) }
    }
}

/// A possible step: the next state, and for each process that takes part, its result if it ends.
type Possible<S> = (<S as IntervalSpec>::State, Vec<(u32, Option<<S as IntervalSpec>::Ret>)>);

impl<S: IntervalSpec, F: Fn(&mut Random, u32) -> S::Op> Family<S, F> {
    /// Returns all possible steps.
    fn possible(&self, state: &S::State, open: &[Open<S::Op>]) -> Vec<Possible<S>> {
        // Sorted by place. Within a place, executions that have begun come first; otherwise, the order of the calls is
        // kept, because the sort is stable.
        let mut sorted = open.to_vec();
        sorted.sort_by_key(|open| (self.spec.place(&open.op), !open.has_begun));
        let mut possible = Vec::new();
        for bits in 1_u32..1 << sorted.len() {
            let group: Vec<&Open<S::Op>> =
                sorted.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, open)| open).collect();
            let parts: Vec<Part<'_, S::Op>> = group.iter().map(|open| open.part()).collect();
            for (next, results) in self.spec.step(state, &parts) {
                possible.push((next, group.iter().map(|open| open.process).zip(results).collect()));
            }
        }
        possible
    }

    /// Simulates a correct object, with calls, steps and returns at random times.
    fn simulate(&self, random: &mut Random) -> Events<S> {
        let mut state = self.spec.initial();
        let mut open: Vec<Open<S::Op>> = Vec::new();
        let mut ready: Vec<(u32, S::Ret)> = Vec::new();
        let mut idle: Vec<u32> = (0..self.processes).collect();
        let mut events = Vec::new();
        let mut calls = 2 + random.below(6);
        for _ in 0..8 + random.below(32) {
            match random.below(3) {
                0 if calls > 0 && !idle.is_empty() => {
                    calls -= 1;
                    let process = idle.swap_remove(random.below(idle.len() as u32) as usize);
                    let op = (self.random_op)(random, process);
                    open.push(Open { process, op: op.clone(), has_begun: false });
                    events.push(Happens::Call(process, op));
                }
                1 => {
                    let mut possible = self.possible(&state, &open);
                    if !possible.is_empty() {
                        let (next, results) = possible.swap_remove(random.below(possible.len() as u32) as usize);
                        state = next;
                        for (process, result) in results {
                            let at = open.iter().position(|open| open.process == process).expect("it is open");
                            open[at].has_begun = true;
                            if let Some(result) = result {
                                open.remove(at);
                                ready.push((process, result));
                            }
                        }
                    }
                }
                _ if !ready.is_empty() && random.chance(2, 3) => {
                    let (process, result) = ready.swap_remove(random.below(ready.len() as u32) as usize);
                    events.push(Happens::Return(process, result));
                    idle.push(process);
                }
                _ => {}
            }
        }
        if random.chance(1, 2) {
            events.extend(ready.into_iter().map(|(process, result)| Happens::Return(process, result)));
        }
        events
    }

    fn history(&self, random: &mut Random) -> History<S::Op, S::Ret> {
        let mut events = self.simulate(random);
        if random.chance(3, 4) {
            spoil(&mut events, random);
        }
        let history = history(events);
        // Executions that are open at the cut either have ended with their recorded results, or have not ended.
        if random.chance(1, 8) {
            history.truncate(random.below(history.events().len() as u32 + 1) as usize)
        } else {
            history
        }
    }

    /// Asserts that the checker and the definition agree, on enough histories that are accepted, rejected, stuck and
    /// not stuck. Calls `also` for each history.
    fn agree(&self, also: impl Fn(&History<S::Op, S::Ret>, &Verdict<S::Ret>, u8)) {
        let budget = Budget::unlimited();
        let (mut accepted, mut pending, mut stuck, mut steps) = (0_u64, 0_u64, [0_u64; 3], 0_u64);
        for seed in 0..histories() {
            let mut random = Random::new(seed);
            let history = self.history(&mut random);
            let context = || format!("{}: seed {seed}: {history:#?}", self.name);
            let expected = check(&self.spec, &history, IntervalAlgorithm::Brute, &budget).verdict;
            let verdict = check(&self.spec, &history, IntervalAlgorithm::Search, &budget).verdict;
            same_verdict(&verdict, &expected, &context);
            let expected_progress = kind(&progress(&self.spec, &history, IntervalAlgorithm::Brute, &budget));
            let found = progress(&self.spec, &history, IntervalAlgorithm::Search, &budget);
            assert_eq!(kind(&found), expected_progress, "{}: {found:?}", context());
            also(&history, &verdict, expected_progress);
            accepted += u64::from(expected.is_accepted());
            pending += u64::from(history.pending() > 0);
            stuck[expected_progress as usize] += 1;
            // Counts the witnesses in which an execution takes part in more than one step.
            steps += u64::from(verdict.witness().is_some_and(|witness| {
                let distinct: BTreeSet<OpId> = witness.order.iter().copied().collect();
                distinct.len() < witness.order.len()
            }));
        }
        println!(
            "{}: {accepted} of {} accepted, {steps} with several steps of one, {pending} with pending operations; \
             progress: {} yes, {} no, {} unsafe",
            self.name,
            histories(),
            stuck[0],
            stuck[1],
            stuck[2]
        );
        let few = histories() / 20;
        assert!(accepted > few && histories() - accepted > few, "{}: {accepted} accepted", self.name);
        assert!(pending > few, "{}: {pending} with pending operations", self.name);
        assert!(stuck.iter().all(|of| *of > few / 10), "{}: {stuck:?}", self.name);
    }
}

/// Asserts that the verdicts are of the same kind, and that rejections have the same place and the same allowed
/// results.
fn same_verdict<Ret: PartialEq + Debug>(found: &Verdict<Ret>, expected: &Verdict<Ret>, context: &dyn Fn() -> String) {
    match (found, expected) {
        (Verdict::Accepted(_), Verdict::Accepted(_)) => {}
        (Verdict::Rejected(found), Verdict::Rejected(expected)) => same_evidence(found, expected, context),
        _ => panic!("{} is {found:?}, should be {expected:?}", context()),
    }
}

fn same_evidence<Ret: PartialEq + Debug>(
    found: &Evidence<Ret>,
    expected: &Evidence<Ret>,
    context: &dyn Fn() -> String,
) {
    let place = |evidence: &Evidence<Ret>| (evidence.refused, evidence.event, evidence.open.clone());
    assert_eq!(place(found), place(expected), "{}", context());
    let within = |one: &[Ret], other: &[Ret]| one.iter().all(|result| other.contains(result));
    let are_same = within(&found.allowed, &expected.allowed) && within(&expected.allowed, &found.allowed);
    assert!(are_same && found.all_allowed && expected.all_allowed, "{}: {found:?}", context());
}

fn kind<Ret: Debug>(verdict: &ProgressVerdict<Ret>) -> u8 {
    match verdict {
        ProgressVerdict::Accepted(_) => 0,
        ProgressVerdict::Rejected(evidence) => {
            assert!(!evidence.anticipated.is_empty(), "{evidence:?}");
            1
        }
        ProgressVerdict::Unsafe(_) => 2,
        ProgressVerdict::Unknown(limit) => panic!("{limit}"),
    }
}

/// A hotel with one host at a time. A host begins with its first guest, continues with other guests, and ends with its
/// last guest, or alone after its last guest. Guests are numbered; a host returns the number of its guests.
#[derive(Clone, Copy, Debug)]
struct Hotel;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum HotelOp {
    Host,
    Guest,
}

impl IntervalSpec for Hotel {
    type Op = HotelOp;
    type Ret = u32;
    /// The number of guests of the current host; 0 if there is no host.
    type State = u32;

    fn initial(&self) -> u32 {
        0
    }

    fn place(&self, op: &HotelOp) -> u32 {
        u32::from(*op == HotelOp::Guest)
    }

    fn step(&self, guests: &u32, parts: &[Part<'_, HotelOp>]) -> Stepped<u32, u32> {
        let more = guests + 1;
        match (guests, parts) {
            (0, [Begins(HotelOp::Host), Begins(HotelOp::Guest)])
            | (1.., [GoesOn(HotelOp::Host), Begins(HotelOp::Guest)]) => {
                vec![(more, vec![None, Some(more)]), (0, vec![Some(more), Some(more)])]
            }
            (1.., [GoesOn(HotelOp::Host)]) => vec![(0, vec![Some(*guests)])],
            _ => Vec::new(),
        }
    }
}

/// Write-snapshot with steps of several executions, as in the literature: in a step, some executions write their
/// values, and then some executions take snapshots.
#[derive(Clone, Copy, Debug)]
struct WriteSnapshotOfSets;

impl IntervalSpec for WriteSnapshotOfSets {
    type Op = u32;
    type Ret = BTreeSet<u32>;
    type State = BTreeSet<u32>;

    fn initial(&self) -> BTreeSet<u32> {
        BTreeSet::new()
    }

    fn step(&self, written: &BTreeSet<u32>, parts: &[Part<'_, u32>]) -> Stepped<BTreeSet<u32>, BTreeSet<u32>> {
        let mut written = written.clone();
        written.extend(parts.iter().filter(|part| part.begins()).map(|part| *part.op()));
        let outcome = |ends: u32| {
            let results = (0..parts.len()).map(|at| (ends >> at & 1 == 1).then(|| written.clone())).collect();
            (written.clone(), results)
        };
        (0..1_u32 << parts.len()).map(outcome).collect()
    }
}

/// All executions of a step see each other, and all executions of earlier steps.
#[derive(Clone, Copy, Debug)]
struct ImmediateSnapshot;

impl SyncSpec for ImmediateSnapshot {
    type Op = u32;
    type Ret = BTreeSet<u32>;
    type State = BTreeSet<u32>;

    fn initial(&self) -> BTreeSet<u32> {
        BTreeSet::new()
    }

    fn arities(&self, _: &BTreeSet<u32>) -> Vec<usize> {
        (1..=8).collect()
    }

    fn synchronize(&self, written: &BTreeSet<u32>, ops: &[&u32]) -> Vec<(BTreeSet<u32>, Vec<BTreeSet<u32>>)> {
        let mut written = written.clone();
        written.extend(ops.iter().copied());
        vec![(written.clone(), vec![written; ops.len()])]
    }
}

#[test]
fn signal() {
    // Mostly valid calls: one or two children, and parents.
    let random_op = |random: &mut Random, process| match (process % 2, random.chance(1, 2)) {
        (0, _) => SignalOp::SignalUpAndWait,
        (_, true) => SignalOp::WaitForSignalUp,
        (_, false) => SignalOp::SignalDown,
    };
    Family { name: "signal", spec: Signal, processes: 4, random_op }.agree(|_, _, _| {});
}

#[test]
fn hotel() {
    let random_op = |random: &mut Random, _| if random.chance(1, 3) { HotelOp::Host } else { HotelOp::Guest };
    Family { name: "hotel", spec: Hotel, processes: 4, random_op }.agree(|_, _, _| {});
}

#[test]
fn write_snapshot() {
    let random_op = |_: &mut Random, process| process;
    let family = Family { name: "write-snapshot", spec: WriteSnapshot::new(), processes: 3, random_op };
    // The specification with steps of several executions has the same verdicts.
    let of_sets = |history: &History<u32, BTreeSet<u32>>, verdict: &Verdict<BTreeSet<u32>>, stuck| {
        let budget = Budget::unlimited();
        let found = check(&WriteSnapshotOfSets, history, IntervalAlgorithm::Search, &budget).verdict;
        same_verdict(&found, verdict, &|| format!("{history:#?}"));
        assert_eq!(kind(&progress(&WriteSnapshotOfSets, history, IntervalAlgorithm::Search, &budget)), stuck);
    };
    family.agree(of_sets);
}

#[test]
fn write_snapshot_of_sets() {
    let random_op = |random: &mut Random, _| random.below(3);
    Family { name: "write-snapshot of sets", spec: WriteSnapshotOfSets, processes: 3, random_op }.agree(|_, _, _| {});
}

/// Generates a test for each specification: synchronizations are judged in the same way as single steps.
macro_rules! synchronizing {
    ($($name:ident: $spec:expr, $processes:expr, $random_op:expr;)+) => {
        $(
            #[test]
            fn $name() {
                let synchronizing = $spec;
                let family =
                    Family { name: stringify!($name), spec: OneStep($spec), processes: $processes, random_op: $random_op };
                family.agree(|history, verdict, stuck| {
                    let budget = Budget::unlimited();
                    let context = || format!("{}: {history:#?}", stringify!($name));
                    let expected = sync::check(&synchronizing, history, SyncAlgorithm::Auto, &budget).verdict;
                    same_verdict(verdict, &expected, &context);
                    let expected = sync::progress(&synchronizing, history, SyncAlgorithm::Auto, &budget);
                    assert_eq!(stuck, kind(&expected), "{}", context());
                });
            }
        )+
    };
}

synchronizing! {
    channel: Channel::new(), 4, channel_op;
    exchanger: Exchanger::new(), 4, |random: &mut Random, _| random.below(3);
    counter_channel: CounterChannel::new(), 4, channel_op;
    barrier: Barrier::new(3), 4, |_: &mut Random, process| BarrierOp { me: process, value: 0 };
    timeout_channel: TimeoutChannel::new(), 4, channel_op;
    terminating_queue: TerminatingQueue::new(3), 3, |random: &mut Random, _| match random.below(5) {
        0 | 1 => TerminatingQueueOp::Enqueue(random.below(3)),
        _ => TerminatingQueueOp::Dequeue,
    };
    immediate_snapshot: ImmediateSnapshot, 4, |_: &mut Random, process| process;
}

fn channel_op(random: &mut Random, _: u32) -> ChannelOp<u32> {
    if random.chance(1, 2) { ChannelOp::Send(random.below(3)) } else { ChannelOp::Receive }
}

use SignalOp::{SignalDown, SignalUpAndWait, WaitForSignalUp};

fn judged(events: Vec<Happens<SignalOp, ()>>) -> Verdict<()> {
    check(&Signal, &history(events), IntervalAlgorithm::Search, &Budget::unlimited()).verdict
}

/// A slow snapshot is seen by a second snapshot, which returns before a third one is called, and the slow snapshot sees
/// the third one.
#[test]
fn no_moment_explains_a_slow_snapshot() {
    let set = |values: &[u32]| values.iter().copied().collect::<BTreeSet<u32>>();
    let events = vec![
        Happens::Call(2, 2),
        Happens::Call(0, 0),
        Happens::Return(0, set(&[0, 2])),
        Happens::Call(1, 1),
        Happens::Return(1, set(&[0, 1, 2])),
        Happens::Return(2, set(&[0, 1, 2])),
    ];
    let history = history(events);
    let budget = Budget::unlimited();
    let verdict = check(&WriteSnapshot::new(), &history, IntervalAlgorithm::Search, &budget).verdict;
    assert!(verdict.is_accepted(), "{verdict:?}");
    assert!(sync::check(&ImmediateSnapshot, &history, SyncAlgorithm::Auto, &budget).verdict.is_rejected());
}

/// Two rounds of figure 16; in the second, a call that has not returned releases the child.
#[test]
fn a_signal_is_used_again_and_again() {
    let (call, ret) = (Happens::Call::<SignalOp, ()>, |process| Happens::Return(process, ()));
    let verdict = judged(vec![
        call(0, SignalUpAndWait),
        call(1, WaitForSignalUp),
        ret(1),
        call(1, SignalDown),
        ret(1),
        call(1, WaitForSignalUp),
        ret(0),
        call(0, SignalUpAndWait),
        ret(1),
        call(1, SignalDown),
        ret(0),
    ]);
    let witness = verdict.witness().expect("both rounds are right");
    let steps: Vec<Vec<u32>> = witness.groups().map(|group| group.iter().map(|op| op.0).collect()).collect();
    assert_eq!(steps, [[0, 1], [0, 2], [4, 3], [4, 5]]);
}

/// A child whose parent has seen it but not released it must not return, whatever else is open.
#[test]
fn a_child_must_wait_for_both_calls() {
    let (call, ret) = (Happens::Call::<SignalOp, ()>, |process| Happens::Return(process, ()));
    let verdict = judged(vec![call(0, SignalUpAndWait), call(1, WaitForSignalUp), ret(0), ret(1)]);
    let evidence = verdict.evidence().expect("the parent has not lowered the signal");
    assert_eq!((evidence.refused, evidence.event), (OpId(0), 2));
    assert!(evidence.allowed.is_empty() && evidence.all_allowed);
    // The parent lowers a signal that it has not seen.
    let verdict = judged(vec![call(0, SignalUpAndWait), call(1, SignalDown), ret(1)]);
    assert_eq!(verdict.evidence().expect("the parent has not seen the signal").refused, OpId(1));
}

/// Several objects are judged one by one.
#[test]
fn objects_are_judged_one_by_one() {
    let mut builder = History::builder();
    let [left, right] = ["left", "right"].map(|name| builder.object(name));
    for (process, object) in [(0, left), (2, right)] {
        builder.call_on(object, process, SignalUpAndWait).expect("well formed");
        builder.call_on(object, process + 1, WaitForSignalUp).expect("well formed");
    }
    builder.ret(1, ()).expect("well formed");
    builder.ret(3, ()).expect("well formed");
    builder.call_on(left, 1, SignalDown).expect("well formed");
    let accepted = builder.clone().finish();
    let budget = Budget::unlimited();
    assert!(check(&Signal, &accepted, IntervalAlgorithm::Search, &budget).verdict.is_accepted());
    // The right child returns, but only the parent of the left child has lowered its signal.
    builder.ret(2, ()).expect("well formed");
    let judgment = check(&Signal, &builder.finish(), IntervalAlgorithm::Search, &budget);
    assert_eq!(judgment.verdict.evidence().expect("its parent has not released the child").refused, OpId(2));
    assert_eq!(judgment.stats.partitions, 2);
}

/// A history with many executions that are open at once, and a wrong result at the end, so that all possibilities must
/// be tried.
fn hard() -> History<u32, BTreeSet<u32>> {
    let mut events: Vec<Happens<u32, BTreeSet<u32>>> = (0..14).map(|process| Happens::Call(process, process)).collect();
    events.push(Happens::Return(0, [99].into()));
    history(events)
}

#[test]
fn budgets_are_kept() {
    let spec = WriteSnapshot::new();
    let limit = |budget: &Budget| match check(&spec, &hard(), IntervalAlgorithm::Search, budget).verdict {
        Verdict::Unknown(limit) => limit.kind,
        verdict => panic!("{verdict:?}"),
    };
    assert_eq!(limit(&Budget::unlimited().configurations(1000)), LimitKind::Configurations);
    assert_eq!(limit(&Budget::unlimited().memory(100_000)), LimitKind::Memory);
    assert_eq!(limit(&Budget::unlimited().time(std::time::Duration::ZERO)), LimitKind::Time);
    let token = CancelToken::new();
    token.cancel();
    assert_eq!(limit(&Budget::unlimited().cancelled_by(token)), LimitKind::Cancelled);
    let limited = Budget::unlimited().configurations(1000);
    let stuck = progress(&spec, &hard(), IntervalAlgorithm::Search, &limited);
    assert!(matches!(stuck, ProgressVerdict::Unknown(limit) if limit.kind == LimitKind::Configurations));
}

//! Compares every checker of quasi linearizability with the definition, on small random histories, and with the claims
//! of the paper.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Debug;

use trueline::drive::Random;
use trueline::history::{History, OpId};
use trueline::judge::quasi::strict::{is_near_the_head, is_not_late};
use trueline::judge::quasi::{
    Factors, Optimizations, Pending, Permutations, QuasiAlgorithm, RoundUp, Semantics, SerialList, check,
};
use trueline::judge::{self, Budget, Config};
use trueline::spec::{
    DisplacementQueue, Outcomes, PriorityQueue, PriorityQueueOp, PriorityQueueRet, Queue, QueueOp, QueueRet,
    RelaxedQueue, Spec, Stack, StackOp, StackRet, Stuttering, outcome,
};
use trueline::verdict::{LimitKind, MoreFactor, Verdict};

use crate::happens::histories;

/// A container, and its operations that put values in and take them out.
struct Container<S: Spec> {
    name: &'static str,
    spec: S,
    put: fn(u8) -> S::Op,
    take: S::Op,
    done: S::Ret,
    value: fn(Option<u8>) -> S::Ret,
    is_put: fn(&S::Op) -> bool,
}

const QUEUE: Container<Queue<u8>> = Container {
    name: "queue",
    spec: Queue::new(),
    put: QueueOp::Enqueue,
    take: QueueOp::Dequeue,
    done: QueueRet::Done,
    value: QueueRet::Value,
    is_put: |op| matches!(op, QueueOp::Enqueue(_)),
};

const STACK: Container<Stack<u8>> = Container {
    name: "stack",
    spec: Stack::new(),
    put: StackOp::Push,
    take: StackOp::Pop,
    done: StackRet::Done,
    value: StackRet::Value,
    is_put: |op| matches!(op, StackOp::Push(_)),
};

const PRIORITY_QUEUE: Container<PriorityQueue<u8>> = Container {
    name: "priority queue",
    spec: PriorityQueue::new(),
    put: PriorityQueueOp::Insert,
    take: PriorityQueueOp::DeleteMin,
    done: PriorityQueueRet::Done,
    value: PriorityQueueRet::Value,
    is_put: |op| matches!(op, PriorityQueueOp::Insert(_)),
};

/// A queue whose operations may have no effect: several states may follow.
const STUTTERING: Container<Stuttering<Queue<u8>>> = Container {
    name: "stuttering queue",
    spec: Stuttering::new(Queue::new(), 1),
    put: QueueOp::Enqueue,
    take: QueueOp::Dequeue,
    done: QueueRet::Done,
    value: QueueRet::Value,
    is_put: |op| matches!(op, QueueOp::Enqueue(_)),
};

/// A call with its result.
type Call<S> = (<S as Spec>::Op, <S as Spec>::Ret);

/// A history, and its program.
struct Run<S: Spec> {
    history: History<S::Op, S::Ret>,
    threads: Vec<Vec<S::Op>>,
}

/// Makes these calls, in this order, by several processes, with returns at random times; some operations never return.
fn overlapping<S: Spec>(calls: Vec<Call<S>>, random: &mut Random, processes: u32, may_pend: bool) -> Run<S> {
    let mut threads: Vec<Vec<S::Op>> = vec![Vec::new(); processes as usize];
    let mut builder = History::builder();
    let mut idle: Vec<u32> = (0..processes).collect();
    let mut open: Vec<(u32, S::Ret)> = Vec::new();
    let mut calls = calls.into_iter().peekable();
    loop {
        let may_call = calls.peek().is_some() && !idle.is_empty();
        if may_call && (open.is_empty() || random.chance(1, 2)) {
            let (op, result) = calls.next().expect("a call remains");
            let process = idle.swap_remove(random.below(u32::try_from(idle.len()).expect("few")) as usize);
            threads[process as usize].push(op.clone());
            builder.call(process, op).expect("the process is idle");
            open.push((process, result));
        } else if open.is_empty() {
            break;
        } else {
            let at = random.below(u32::try_from(open.len()).expect("few")) as usize;
            let (process, result) = open.swap_remove(at);
            if !may_pend || !random.chance(1, 12) {
                builder.ret(process, result).expect("the process has called");
                idle.push(process);
            }
        }
    }
    Run { history: builder.finish(), threads }
}

impl<S: Spec> Container<S> {
    /// Generates operations that mostly behave like those of the object.
    fn calls(&self, random: &mut Random, most: u32) -> Vec<Call<S>> {
        let count = 2 + random.below(most - 1);
        let mut calls: Vec<Call<S>> = Vec::new();
        let mut state = self.spec.initial();
        let mut put: Vec<u8> = Vec::new();
        for _ in 0..count {
            if random.chance(1, 2) {
                // Some values repeat.
                let value = if random.chance(1, 8) { 1 } else { u8::try_from(random.below(9)).expect("small") };
                put.push(value);
                calls.push(((self.put)(value), self.done.clone()));
                state = self.spec.step(&state, &calls[calls.len() - 1].0, None).remove(0).1;
                continue;
            }
            let (right, next) = self.spec.step(&state, &self.take, None).remove(0);
            let result = match random.below(8) {
                0 => (self.value)(None),
                1 | 2 if !put.is_empty() => (self.value)(Some(*random.pick(&put))),
                _ => {
                    state = next;
                    right
                }
            };
            calls.push((self.take.clone(), result));
        }
        // Move some calls out of order.
        for _ in 0..random.below(4) {
            let at = random.below(u32::try_from(calls.len() - 1).expect("small").max(1)) as usize;
            if at + 1 < calls.len() {
                calls.swap(at, at + 1);
            }
        }
        calls
    }

    /// Generates operations that take out all values that were put in, in another order.
    fn drained(&self, random: &mut Random, most: u32) -> Vec<Call<S>> {
        let count = 2 + u8::try_from(random.below(most - 1)).expect("small");
        let mut taken: Vec<u8> = (0..count).collect();
        for at in 0..count as usize {
            if random.chance(1, 2) {
                taken.swap(at, random.below(u32::from(count)) as usize);
            }
        }
        let mut puts = (0..count).map(|value| ((self.put)(value), self.done.clone()));
        let mut takes = taken.into_iter().map(|value| (self.take.clone(), (self.value)(Some(value))));
        let mut calls = Vec::new();
        let early = random.below(4);
        while calls.len() < 2 * count as usize {
            let one = if random.chance(early, 8) { takes.next() } else { puts.next() };
            calls.extend(one.or_else(|| puts.next()).or_else(|| takes.next()));
        }
        calls
    }

    /// Generates a run of random operations by several processes; some operations may never return.
    fn run(&self, random: &mut Random, most: u32, may_pend: bool) -> Run<S> {
        let calls = if random.chance(1, 2) { self.calls(random, 6) } else { self.drained(random, most) };
        // The definition is slow if many operations overlap.
        let processes = 1 + random.below(if calls.len() > 6 { 2 } else { 4 });
        overlapping(calls, random, processes, may_pend)
    }

    /// Generates classes of operations with random factors up to 3; sometimes, puts are in no class.
    fn factors(&self, random: &mut Random) -> Factors<'static, S::Op, S::Ret>
    where
        S::Op: 'static,
        S::Ret: 'static,
    {
        let is_put = self.is_put;
        let (one, other) = (random.below(4), random.below(4));
        let factors = if random.chance(1, 8) { Factors::new() } else { Factors::new().class("put", one, is_put) };
        factors.class("take", other, move |op| !is_put(op))
    }

    /// Asserts that all checkers agree on a history.
    fn agree(&self, run: &Run<S>, semantics: &Semantics<'_, S::Op, S::Ret>, counts: &mut Counts, seed: u64) -> bool {
        let budget = Budget::unlimited();
        let judge = |algorithm| check(&self.spec, &run.history, semantics, algorithm, &budget);
        let [brute, search, enumerate] =
            [QuasiAlgorithm::Brute, QuasiAlgorithm::Search, QuasiAlgorithm::Enumerate].map(judge);
        let says = || format!("seed {seed}, {}, {semantics}: {:#?}", self.name, run.history);
        let name = brute.verdict.name();
        assert_ne!(name, "unknown", "{}", says());
        assert_eq!(search.verdict.name(), name, "search, {}", says());
        assert_eq!(enumerate.verdict.name(), name, "enumerate, {}", says());
        match (more(&search.verdict), more(&brute.verdict)) {
            // The search for a sufficient factor is limited, and the definition reaches the limit earlier.
            (Some(MoreFactor::By(by)), Some(MoreFactor::MoreThan(less))) => assert!(by > less, "{}", says()),
            (Some(MoreFactor::Never), Some(MoreFactor::MoreThan(_))) => {}
            (search, brute) => assert_eq!(search, brute, "{}", says()),
        }
        counts.count(&brute.verdict);
        brute.verdict.is_accepted()
    }
}

fn more<Ret>(verdict: &Verdict<Ret>) -> Option<MoreFactor> {
    verdict.evidence().map(|evidence| evidence.quasi.as_ref().expect("evidence of quasi linearizability").more)
}

/// The numbers of verdicts.
#[derive(Debug, Default)]
struct Counts {
    accepted: u64,
    /// The numbers of rejected histories that would be accepted with larger factors, and that never would be.
    nearly: u64,
    never: u64,
}

impl Counts {
    fn count<Ret>(&mut self, verdict: &Verdict<Ret>) {
        match more(verdict) {
            None => self.accepted += 1,
            Some(MoreFactor::By(_)) => self.nearly += 1,
            Some(_) => self.never += 1,
        }
    }

    fn check(&self, name: &str, semantics: &str) {
        println!("{name}, {semantics}: {self:?}");
        let all = self.accepted + self.nearly + self.never;
        assert!(self.accepted > all / 40 && self.nearly + self.never > all / 40, "{name}, {semantics}: {self:?}");
    }
}

fn by_class<S: Spec<Op: 'static, Ret: 'static>>(container: &Container<S>) {
    let mut counts = Counts::default();
    for seed in 0..histories() {
        let mut random = Random::new(seed);
        let run = container.run(&mut random, 4, true);
        let semantics = Semantics::by_class(container.factors(&mut random));
        container.agree(&run, &semantics, &mut counts, seed);
    }
    counts.check(container.name, "by class");
}

fn as_a_whole<S: Spec<Op: 'static, Ret: 'static>>(container: &Container<S>) {
    let all: Vec<Semantics<'_, S::Op, S::Ret>> = (0..4).map(Semantics::whole_domain).collect();
    let mut round_ups: Vec<RoundUp<'_, S>> =
        all.iter().map(|semantics| RoundUp::new(&container.spec, semantics, Optimizations::all())).collect();
    let mut counts = Counts::default();
    let mut nearly = 0;
    for seed in 0..histories() {
        let mut random = Random::new(seed);
        let run = container.run(&mut random, 4, true);
        let factor = random.below(4) as usize;
        let accepted = container.agree(&run, &all[factor], &mut counts, seed);
        let remembered = round_ups[factor].check(&run.history, &Budget::unlimited());
        assert_eq!(remembered.verdict.is_accepted(), accepted, "seed {seed}, {}: {:#?}", container.name, run.history);
        let linearizable = judge::check(&container.spec, &run.history, &Config::new()).verdict.is_accepted();
        if factor == 0 {
            assert_eq!(accepted, linearizable, "seed {seed}: {:#?}", run.history);
        } else {
            assert!(accepted || !linearizable, "seed {seed}: {:#?}", run.history);
            nearly += u64::from(accepted && !linearizable);
        }
    }
    counts.check(container.name, "as a whole");
    assert!(nearly > histories() / 50, "{nearly}");
}

fn as_a_program<S: Spec<Op: 'static, Ret: 'static>>(container: &Container<S>) {
    let mut counts = Counts::default();
    let mut nearly = 0;
    for seed in 0..histories() {
        let mut random = Random::new(seed);
        let run = container.run(&mut random, 3, false);
        let serial = SerialList::of_program(&container.spec, &[], &run.threads, &[]);
        let serial = if random.chance(1, 2) { serial.without_duplicates() } else { serial };
        let semantics = Semantics::of_program(container.factors(&mut random), &serial);
        let accepted = container.agree(&run, &semantics, &mut counts, seed);
        let plain = Semantics::of_program(Factors::new(), &serial);
        let budget = Budget::unlimited();
        let linearizable = check(&container.spec, &run.history, &plain, QuasiAlgorithm::Auto, &budget);
        assert!(accepted || !linearizable.verdict.is_accepted(), "seed {seed}: {:#?}", run.history);
        nearly += u64::from(accepted && !linearizable.verdict.is_accepted());
    }
    counts.check(container.name, "as a program");
    assert!(nearly > histories() / 100, "{nearly}");
}

#[test]
fn checkers_agree_by_class() {
    by_class(&QUEUE);
    by_class(&STACK);
    by_class(&PRIORITY_QUEUE);
}

#[test]
fn checkers_agree_as_a_whole() {
    as_a_whole(&QUEUE);
    as_a_whole(&STACK);
    as_a_whole(&PRIORITY_QUEUE);
    as_a_whole(&STUTTERING);
}

#[test]
fn checkers_agree_as_a_program() {
    as_a_program(&QUEUE);
    as_a_program(&STACK);
    as_a_program(&PRIORITY_QUEUE);
}

/// Operations return consecutive numbers, so there is only one legal order. The checker has to find a sequentialization
/// that is near this order.
struct Tickets;

impl Spec for Tickets {
    /// The class of the operation.
    type Op = u8;
    type Ret = u32;
    type State = u32;
    type Key = ();
    type Value = ();

    fn initial(&self) -> u32 {
        0
    }

    fn step(&self, next: &u32, _class: &u8, _recorded: Option<&u32>) -> Outcomes<u32, u32> {
        outcome(*next, next + 1)
    }
}

#[test]
fn sequentializations_near_a_given_order_are_found() {
    let mut counts = Counts::default();
    for seed in 0..histories() {
        let mut random = Random::new(seed);
        let count = 4 + random.below(4);
        let mut tickets: Vec<u32> = (0..count).collect();
        for _ in 0..random.below(8) {
            let at = random.below(count - 1) as usize;
            tickets.swap(at, at + 1);
        }
        let classes = 1 + random.below(2);
        let calls = tickets.iter().map(|ticket| (u8::try_from(random.below(classes)).expect("few"), *ticket)).collect();
        let processes = 1 + random.below(3);
        let run = overlapping::<Tickets>(calls, &mut random, processes, false);
        let mut factors = Factors::new();
        for class in 0..classes {
            factors = factors.class(format!("{class}"), random.below(4), move |op: &u8| u32::from(*op) == class);
        }
        let container = Container {
            name: "tickets",
            spec: Tickets,
            put: |class| class,
            take: 0,
            done: 0,
            value: |value| value.map_or(0, u32::from),
            is_put: |_| true,
        };
        container.agree(&run, &Semantics::by_class(factors), &mut counts, seed);
    }
    counts.check("tickets", "by class");
    assert!(counts.nearly > histories() / 20, "{counts:?}");
}

/// A queue that does not declare that it is a queue.
struct Unnamed(Queue<u8>);

impl Spec for Unnamed {
    type Op = QueueOp<u8>;
    type Ret = QueueRet<u8>;
    type State = <Queue<u8> as Spec>::State;
    type Key = ();
    type Value = ();

    fn initial(&self) -> Self::State {
        self.0.initial()
    }

    fn step(
        &self,
        state: &Self::State,
        op: &QueueOp<u8>,
        recorded: Option<&QueueRet<u8>>,
    ) -> Outcomes<QueueRet<u8>, Self::State> {
        self.0.step(state, op, recorded)
    }
}

/// The rules for queues shorten the search, and do not change any verdict.
#[test]
fn rules_for_queues_change_nothing() {
    let mut counts = Counts::default();
    let mut fewer = 0;
    for seed in 0..histories() {
        let mut random = Random::new(seed);
        let calls = QUEUE.drained(&mut random, 6);
        let processes = 1 + random.below(3);
        let may_pend = random.chance(1, 4);
        let Run { history, .. } = overlapping::<Queue<u8>>(calls, &mut random, processes, may_pend);
        let semantics = match random.below(3) {
            0 => Semantics::whole_domain(random.below(4)),
            1 => Semantics::by_class(queue_factors(0, random.below(4))),
            _ => Semantics::by_class(queue_factors(random.below(3), random.below(4))),
        };
        let budget = Budget::unlimited();
        let with = check(&Queue::new(), &history, &semantics, QuasiAlgorithm::Search, &budget);
        let without = check(&Unnamed(Queue::new()), &history, &semantics, QuasiAlgorithm::Search, &budget);
        assert_eq!(with.verdict.name(), without.verdict.name(), "seed {seed}, {semantics}: {history:#?}");
        // The precision of this result depends on how long the search takes.
        match (more(&with.verdict), more(&without.verdict)) {
            (Some(MoreFactor::MoreThan(_)), _) | (_, Some(MoreFactor::MoreThan(_))) => {}
            (one, other) => assert_eq!(one, other, "seed {seed}, {semantics}: {history:#?}"),
        }
        fewer += u64::from(with.stats.configurations < without.stats.configurations);
        counts.count(&with.verdict);
    }
    counts.check("queue", "with rules and without");
    assert!(fewer > histories() / 10, "{fewer}");
}

/// Returns a history of operations that do not overlap.
fn sequential<Op: Clone + Debug, Ret: Clone + Debug>(calls: &[(Op, Ret)]) -> History<Op, Ret> {
    let mut builder = History::builder();
    for (op, ret) in calls {
        builder.call(0, op.clone()).expect("the process is idle");
        builder.ret(0, ret.clone()).expect("the process has called");
    }
    builder.finish()
}

fn enqueue(value: u8) -> (QueueOp<u8>, QueueRet<u8>) {
    (QueueOp::Enqueue(value), QueueRet::Done)
}

fn dequeue(value: u8) -> (QueueOp<u8>, QueueRet<u8>) {
    (QueueOp::Dequeue, QueueRet::Value(Some(value)))
}

fn queue_factors(put: u32, take: u32) -> Factors<'static, QueueOp<u8>, QueueRet<u8>> {
    Factors::new()
        .class("enqueue", put, |op| matches!(op, QueueOp::Enqueue(_)))
        .class("dequeue", take, |op| matches!(op, QueueOp::Dequeue))
}

fn accepts(history: &History<QueueOp<u8>, QueueRet<u8>>, semantics: &Semantics<'_, QueueOp<u8>, QueueRet<u8>>) -> bool {
    let judge =
        |algorithm| check(&Queue::new(), history, semantics, algorithm, &Budget::unlimited()).verdict.is_accepted();
    let says = [QuasiAlgorithm::Brute, QuasiAlgorithm::Search, QuasiAlgorithm::Enumerate].map(judge);
    assert!(says.iter().all(|one| *one == says[0]), "{says:?}");
    says[0]
}

#[test]
fn with_factor_0_classes_are_weaker_than_linearizability() {
    let early = sequential(&[dequeue(1), enqueue(1)]);
    assert!(accepts(&early, &Semantics::by_class(queue_factors(0, 0))));
    assert!(!accepts(&early, &Semantics::whole_domain(0)));
    assert!(judge::check(&Queue::new(), &early, &Config::new()).verdict.is_rejected());
}

#[test]
fn what_is_not_drained_is_out_of_thin_air() {
    // The example of section V-D of the paper.
    let program = [vec![QueueOp::Enqueue(3), QueueOp::Enqueue(4)], vec![QueueOp::Enqueue(5), QueueOp::Dequeue]];
    let serial = SerialList::of_program(&Queue::new(), &[], &program, &[]);
    let history = sequential(&[enqueue(3), enqueue(4), enqueue(5), dequeue(4)]);
    for factor in 0..4 {
        assert!(!accepts(&history, &Semantics::of_program(queue_factors(factor, factor), &serial)));
    }
    // With two more dequeues, the history is accepted.
    let after = [QueueOp::Dequeue, QueueOp::Dequeue];
    let serial = SerialList::of_program(&Queue::new(), &[], &program, &after);
    let history = sequential(&[enqueue(3), enqueue(4), enqueue(5), dequeue(4), dequeue(3), dequeue(5)]);
    assert!(accepts(&history, &Semantics::of_program(queue_factors(0, 1), &serial)));
    assert!(!accepts(&history, &Semantics::of_program(queue_factors(0, 0), &serial)));
}

#[test]
fn the_semantics_differ_for_a_stack() {
    // Pushes 1 to 4, then pops 1, 4, 3, 2: by class, this is accepted even with 0.
    let mut builder = History::builder();
    for value in 1..=4 {
        builder.call(0, StackOp::Push(value)).expect("the process is idle");
        builder.ret(0, StackRet::Done).expect("the process has called");
    }
    for value in [1, 4, 3, 2] {
        builder.call(0, StackOp::Pop).expect("the process is idle");
        builder.ret(0, StackRet::Value(Some(value))).expect("the process has called");
    }
    let history = builder.finish();
    let factors = |factor| {
        Factors::new()
            .class("push", factor, |op| matches!(op, StackOp::Push(_)))
            .class("pop", factor, |op| matches!(op, StackOp::Pop))
    };
    let serial = SerialList::of_program(
        &Stack::new(),
        &[],
        &[history.operations().iter().map(|one| one.op.clone()).collect()],
        &[],
    );
    let judge = |semantics: Semantics<'_, StackOp<i32>, StackRet<i32>>| {
        check(&Stack::new(), &history, &semantics, QuasiAlgorithm::Auto, &Budget::unlimited()).verdict
    };
    assert!(judge(Semantics::by_class(factors(0))).is_accepted());
    assert!(judge(Semantics::whole_domain(1)).is_rejected());
    assert!(judge(Semantics::of_program(factors(2), &serial)).is_rejected());
    assert!(judge(Semantics::of_program(factors(3), &serial)).is_accepted());
}

#[test]
fn operations_that_never_return_are_extended_or_refused() {
    let mut builder = History::builder();
    builder.call(0, QueueOp::Enqueue(1)).expect("the process is idle");
    builder.call(1, QueueOp::Dequeue).expect("the process is idle");
    builder.ret(1, QueueRet::Value(Some(1))).expect("the process has called");
    let history = builder.finish();
    assert!(accepts(&history, &Semantics::whole_domain(0)));
    let refusing = Semantics::whole_domain(0).pending(Pending::Refuse);
    let verdict = check(&Queue::new(), &history, &refusing, QuasiAlgorithm::Auto, &Budget::unlimited()).verdict;
    assert!(matches!(verdict, Verdict::Unknown(limit) if matches!(limit.kind, LimitKind::Refused(_))));
}

#[test]
fn objects_are_judged_one_by_one() {
    let mut builder = History::builder();
    for (object, value) in [("a", 1), ("b", 2), ("a", 3), ("b", 4)] {
        let object = builder.object(object);
        builder.call_on(object, 0, QueueOp::Enqueue(value)).expect("the process is idle");
        builder.ret(0, QueueRet::Done).expect("the process has called");
    }
    for (object, value) in [("b", 4), ("a", 1), ("a", 3), ("b", 2)] {
        let object = builder.object(object);
        builder.call_on(object, 0, QueueOp::Dequeue).expect("the process is idle");
        builder.ret(0, QueueRet::Value(Some(value))).expect("the process has called");
    }
    let history = builder.finish();
    assert!(!accepts(&history, &Semantics::by_class(queue_factors(0, 0))));
    let semantics = Semantics::by_class(queue_factors(0, 1));
    let judgment = check(&Queue::new(), &history, &semantics, QuasiAlgorithm::Auto, &Budget::unlimited());
    let witness = judgment.verdict.witness().expect("two operations change places");
    assert_eq!(witness.order, (0..8).map(OpId).collect::<Vec<_>>());
    assert_eq!(witness.permuted, [0, 5, 2, 6, 1, 7, 3, 4].map(OpId));
    assert_eq!(judgment.stats.criterion.as_deref(), Some("quasi linearizable by class (enqueue 0, dequeue 1)"));
}

#[test]
fn a_budget_is_kept() {
    let history = sequential(&[enqueue(1), enqueue(2), dequeue(2), dequeue(1)]);
    for algorithm in [QuasiAlgorithm::Brute, QuasiAlgorithm::Search, QuasiAlgorithm::Enumerate] {
        let budget = Budget::unlimited().configurations(2);
        let verdict = check(&Queue::new(), &history, &Semantics::whole_domain(3), algorithm, &budget).verdict;
        assert!(matches!(verdict, Verdict::Unknown(limit) if limit.kind == LimitKind::Configurations));
    }
}

/// Returns all permutations of `0..m`.
fn all_permutations(m: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..m {
        let longer = |start: &Vec<usize>| {
            (0..m)
                .filter(|next| !start.contains(next))
                .map(|next| [start.as_slice(), &[next]].concat())
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

fn is_within(permutation: &[usize], k: usize) -> bool {
    permutation.iter().enumerate().all(|(at, event)| at.abs_diff(*event) <= k)
}

#[test]
fn permutations_are_those_that_nothing_is_far_off_in() {
    for m in 0..=6 {
        for k in 0..=6 {
            let made: Vec<Vec<usize>> = Permutations::new(m, u32::try_from(k).expect("small")).collect();
            let distinct: BTreeSet<Vec<usize>> = made.iter().cloned().collect();
            assert_eq!(distinct.len(), made.len(), "no permutation is generated twice");
            let expected: BTreeSet<Vec<usize>> =
                all_permutations(m).into_iter().filter(|one| is_within(one, k)).collect();
            assert_eq!(distinct, expected, "of {m} by {k}");
        }
    }
    let counts: Vec<usize> = (1..=7).map(|m| Permutations::new(m, 2).count()).collect();
    assert_eq!(counts, [1, 2, 6, 14, 31, 73, 172]);
    assert_eq!(Permutations::new(4, 3).count(), 24);
}

#[test]
fn the_permutations_of_figure_7() {
    let made: Vec<Vec<usize>> = Permutations::new(3, 1).skip(1).collect();
    assert_eq!(made.iter().collect::<BTreeSet<_>>(), [vec![1, 0, 2], vec![0, 2, 1]].iter().collect());
}

#[test]
fn the_two_restrictions_together_bound_how_far_off_anything_is() {
    for m in 0..=7 {
        for one in all_permutations(m) {
            for k in 0..4 {
                assert_eq!(is_near_the_head(&one, k) && is_not_late(&one, k), is_within(&one, k), "{one:?} by {k}");
            }
        }
    }
}

#[test]
fn a_permutation_near_as_a_whole_is_near_in_every_class() {
    for one in all_permutations(6) {
        let off = one.iter().enumerate().map(|(at, event)| at.abs_diff(*event)).max().unwrap_or(0);
        for class in 0_u32..1 << 6 {
            let of_class: Vec<usize> = one.iter().copied().filter(|event| class >> event & 1 == 1).collect();
            let mut sorted = of_class.clone();
            sorted.sort_unstable();
            let within = |(at, event): (usize, &usize)| {
                sorted.iter().position(|other| other == event).expect("a permutation").abs_diff(at) <= off
            };
            assert!(of_class.iter().enumerate().all(within), "{one:?}, class {class:b}");
        }
    }
}

/// Algorithm 2 as it is printed, or with some of its lines corrected.
struct Printed {
    /// Line 36 adds the event to `done`.
    line_36: bool,
    /// Line 59 uses `select`.
    line_59: bool,
    /// Line 60 adds one.
    line_60: bool,
}

impl Printed {
    /// Runs the algorithm up to this many times, and returns the permutations; `None` if it gets stuck.
    fn permutations(&self, m: usize, k: i64, runs: usize) -> Option<Vec<Vec<usize>>> {
        #[derive(Clone, Default)]
        struct State {
            enabled: Vec<(usize, i64)>,
            newly_enabled: Vec<(usize, i64)>,
            select: usize,
            done: Vec<usize>,
        }
        let pick = |s: &State| match s.enabled.iter().find(|(_, lateness)| *lateness == k) {
            Some((event, _)) => Some(*event).filter(|event| !s.done.contains(event)),
            None => s.enabled.iter().map(|(event, _)| *event).find(|event| !s.done.contains(event)),
        };
        let mut stack: Vec<State> = vec![State::default(); m];
        for event in 0..m {
            stack[event].select = event;
            stack[event].done = vec![event];
            for back in 0..=event {
                let lateness = -i64::try_from(back).expect("small");
                stack[event - back].enabled.push((event, lateness));
                if lateness == -k || event == back {
                    stack[event - back].newly_enabled.push((event, lateness));
                    break;
                }
            }
        }
        let mut made = vec![(0..m).collect::<Vec<usize>>()];
        while let Some(back) = (0..m).rev().find(|at| pick(&stack[*at]).is_some()) {
            if made.len() >= runs {
                return Some(made);
            }
            for at in back..m {
                if at > back {
                    let before = stack[at - 1].clone();
                    let goes_on = |event: &usize| {
                        if self.line_59 { *event != before.select } else { !before.done.contains(event) }
                    };
                    let more = if self.line_60 { 1 } else { -1 };
                    let mut enabled: Vec<(usize, i64)> = before
                        .enabled
                        .iter()
                        .filter(|(event, _)| goes_on(event))
                        .map(|(e, l)| (*e, l + more))
                        .collect();
                    enabled.extend(&stack[at].newly_enabled);
                    stack[at].enabled = enabled;
                    stack[at].done.clear();
                }
                let event = pick(&stack[at])?;
                stack[at].select = event;
                if self.line_36 {
                    stack[at].done.push(event);
                } else {
                    stack[at].done = vec![event];
                }
            }
            made.push(stack.iter().map(|state| state.select).collect());
        }
        Some(made)
    }
}

#[test]
fn algorithm_2_as_printed_is_wrong_in_three_lines() {
    let expected: BTreeSet<Vec<usize>> = Permutations::new(4, 2).collect();
    let is_right = |line_36, line_59, line_60| {
        let made = Printed { line_36, line_59, line_60 }.permutations(4, 2, 1_000);
        made.is_some_and(|made| made.len() == expected.len() && made.into_iter().collect::<BTreeSet<_>>() == expected)
    };
    assert!(is_right(true, true, true));
    assert!(!is_right(false, false, false));
    // Each correction is needed.
    assert!(!is_right(false, true, true));
    assert!(!is_right(true, false, true));
    assert!(!is_right(true, true, false));
}

/// Lines 13 to 23 of algorithm 1 as they are printed, on calls and returns of numbered operations.
fn printed_sequentializations(history: Vec<(usize, bool)>) -> HashSet<Vec<usize>> {
    let mut left = vec![history];
    let mut made = HashSet::new();
    while let Some(one) = left.pop() {
        let Some(at) = one.windows(2).position(|pair| !pair[0].1 && !pair[1].1) else {
            made.insert(one.iter().filter(|(_, is_return)| !is_return).map(|(op, _)| *op).collect());
            continue;
        };
        let (first, second) = (one[at].0, one[at + 1].0);
        // Moves each of the two operations to the front of the part that is not serial yet.
        for goes_first in [first, second] {
            let mut next: Vec<(usize, bool)> = one[..at].to_vec();
            next.extend([(goes_first, false), (goes_first, true)]);
            next.extend(one[at..].iter().filter(|(op, _)| *op != goes_first));
            left.push(next);
        }
    }
    made
}

#[test]
fn algorithm_1_as_printed_misses_sequentializations_of_three_overlapping_calls() {
    let (call, ret) = (|op| (op, false), |op| (op, true));
    // With two calls, both orders are found.
    assert_eq!(printed_sequentializations(vec![call(0), call(1), ret(0), ret(1)]).len(), 2);
    // With three calls, the third is never first.
    let three = vec![call(0), call(1), call(2), ret(0), ret(1), ret(2)];
    let made = printed_sequentializations(three);
    assert_eq!(made.len(), 4);
    assert!(made.iter().all(|order| order[0] != 2));
    // So the printed algorithm rejects this linearizable history, in which 2 is enqueued first. Ours finds all orders.
    let mut builder = History::builder();
    for value in 0..3 {
        builder.call(u32::from(value), QueueOp::Enqueue(value)).expect("the process is idle");
    }
    for value in 0..3_u8 {
        builder.ret(u32::from(value), QueueRet::Done).expect("the process has called");
    }
    for value in [2, 0, 1] {
        builder.call(0, QueueOp::Dequeue).expect("the process is idle");
        builder.ret(0, QueueRet::Value(Some(value))).expect("the process has called");
    }
    let history = builder.finish();
    assert!(accepts(&history, &Semantics::whole_domain(0)));
    let nothing = |_: &[(&QueueOp<u8>, &QueueRet<u8>)]| false;
    let semantics = Semantics::of_program(Factors::new(), &nothing);
    let queue = Queue::new();
    let mut round_up = RoundUp::new(&queue, &semantics, Optimizations::none());
    assert_eq!(round_up.check(&history, &Budget::unlimited()).stats.sequentializations, 6);
}

#[test]
fn permutations_are_counted_as_the_paper_counts_them() {
    // 2*2+4: two threads with two calls each, then four calls of the main thread; each sequentialization has 28
    // permutations.
    let threads = [[enqueue(1), enqueue(2)], [enqueue(3), enqueue(4)]];
    let mut builder = History::builder();
    for at in 0..2 {
        for (process, calls) in (0..).zip(&threads) {
            builder.call(process, calls[at].0.clone()).expect("the process is idle");
        }
        for (process, calls) in (0..).zip(&threads) {
            builder.ret(process, calls[at].1.clone()).expect("the process has called");
        }
    }
    for (op, ret) in [4, 4, 4, 4].map(dequeue) {
        builder.call(2, op).expect("the process is idle");
        builder.ret(2, ret).expect("the process has called");
    }
    let history = builder.finish();
    let program = threads.map(|calls| calls.map(|(op, _)| op).to_vec());
    let serial = SerialList::of_program(&Queue::new(), &[], &program, &[const { QueueOp::Dequeue }; 4]);
    let semantics = Semantics::of_program(queue_factors(2, 2), &serial);
    let queue = Queue::new();
    let mut plain = RoundUp::new(&queue, &semantics, Optimizations::none());
    let stats = plain.check(&history, &Budget::unlimited()).stats;
    assert_eq!((stats.sequentializations, stats.permutations), (4, 4 * 28));
    // The optimizations reduce the number of permutations, and the verdict is the same. The four dequeues are equal, so
    // their permutations are, too.
    let mut optimized = RoundUp::new(&queue, &semantics, Optimizations::all());
    let judgment = optimized.check(&history, &Budget::unlimited());
    assert!(judgment.verdict.is_rejected());
    assert!(judgment.stats.permutations < stats.permutations / 2, "{:?}", judgment.stats);
    let again = optimized.check(&history, &Budget::unlimited());
    assert!(again.verdict.is_rejected());
    assert_eq!(again.stats.permutations, 0);
}

#[test]
fn a_displacement_queue_is_stricter_than_definition_4_if_it_is_drained() {
    let (mut both, mut only_definition) = (0, 0);
    for seed in 0..histories() {
        let mut random = Random::new(seed);
        let calls = QUEUE.drained(&mut random, 5);
        let processes = 1 + random.below(3);
        let Run { history, .. } = overlapping::<Queue<u8>>(calls, &mut random, processes, false);
        let factor = random.below(4);
        let displaced = judge::check(&DisplacementQueue::new(factor), &history, &Config::new()).verdict.is_accepted();
        let semantics = Semantics::by_class(queue_factors(0, factor));
        let by_definition = check(&Queue::new(), &history, &semantics, QuasiAlgorithm::Auto, &Budget::unlimited());
        let by_definition = by_definition.verdict.is_accepted();
        assert!(!displaced || by_definition, "seed {seed}, factor {factor}: {history:#?}");
        both += u64::from(displaced);
        only_definition += u64::from(by_definition && !displaced);
    }
    assert!(both > histories() / 10 && only_definition > 0, "{both}, {only_definition}");
}

#[test]
fn what_is_not_drained_may_be_right_for_either_alone() {
    let displaced = |history: &History<_, _>| {
        judge::check(&DisplacementQueue::new(2), history, &Config::new()).verdict.is_accepted()
    };
    let by_definition = |history: &History<_, _>| accepts(history, &Semantics::by_class(queue_factors(0, 2)));
    let left = sequential(&[enqueue(1), enqueue(2), enqueue(3), enqueue(4), dequeue(3)]);
    assert!(displaced(&left) && !by_definition(&left));
    let early = sequential(&[dequeue(1), enqueue(1), enqueue(2)]);
    assert!(!displaced(&early) && by_definition(&early));
}

/// Returns whether a queue into which the values from 0 on were enqueued may return all of them in this order.
fn gives_out<S: Spec<Op = QueueOp<usize>, Ret = QueueRet<usize>>>(spec: &S, removed: &[usize]) -> bool {
    let mut states = vec![spec.initial()];
    let mut step = |op, ret| {
        let outcomes = states.iter().flat_map(|state| spec.step(state, &op, Some(&ret)));
        states = outcomes.filter(|(result, _)| *result == ret).map(|(_, next)| next).collect();
    };
    (0..removed.len()).for_each(|value| step(QueueOp::Enqueue(value), QueueRet::Done));
    removed.iter().for_each(|value| step(QueueOp::Dequeue, QueueRet::Value(Some(*value))));
    !states.is_empty()
}

#[test]
fn relaxed_queues_of_two_kinds() {
    for k in 0..3 {
        let factor = u32::try_from(k).expect("small");
        let (mut latest, mut more) = (0, 0);
        for one in all_permutations(7) {
            let displaced = gives_out(&DisplacementQueue::new(factor), &one);
            assert_eq!(displaced, is_within(&one, k), "{one:?} by {k}");
            let fifo = gives_out(&RelaxedQueue::k_fifo(factor), &one);
            assert!(fifo || !displaced, "{one:?} by {k}");
            assert!(!fifo || is_near_the_head(&one, k), "{one:?} by {k}");
            assert!(!fifo || gives_out(&RelaxedQueue::new(factor), &one), "{one:?} by {k}");
            more += u32::from(fifo && !displaced);
            if fifo {
                latest = one.iter().enumerate().map(|(at, value)| at.saturating_sub(*value)).fold(latest, usize::max);
            }
        }
        assert_eq!(latest, k * k, "how late by {k}");
        assert_eq!(more > 0, k > 1);
    }
}

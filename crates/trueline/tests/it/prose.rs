//! Compares arguments with the definition: every claim is checked in all orders of the core's operations.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use trueline::drive::Random;
use trueline::history::{History, Interval, OpId, Operation, Outcome, from_intervals};
use trueline::judge::argument;
use trueline::judge::shrink::{self, Limits};
use trueline::spec::Spec;
use trueline::verdict::{Argument, Before, Core, End, Ground, Member, NoPlace, Proof, Role};
use trueline::view::prose;

use crate::families::{self, Family, Op, Ret, history};

/// The facts about a core's operations, found by trying all orders. Operations are numbered as in the core.
struct Orders<'a, S: Spec> {
    spec: &'a S,
    history: &'a History<S::Op, S::Ret>,
    members: &'a [Member],
    /// For each operation of the whole history, its number in the core.
    numbers: BTreeMap<OpId, usize>,
    /// All legal orders that contain all completed operations, regardless of the times of their
    /// calls.
    orders: Vec<Vec<usize>>,
}

impl<'a, S: Spec> Orders<'a, S> {
    fn new(spec: &'a S, core: &'a Core<S::Op, S::Ret>) -> Self {
        let numbers = core.members.iter().enumerate().map(|(number, member)| (member.id, number)).collect();
        let mut all = Self { spec, history: &core.history, members: &core.members, numbers, orders: Vec::new() };
        all.extend(&mut Vec::new(), &[spec.initial()]);
        all
    }

    fn is_completed(&self, op: usize) -> bool {
        matches!(self.history.operations()[op].outcome, Outcome::Returned(_))
    }

    /// Returns the states after an operation, from any of these states.
    fn step(&self, states: &[S::State], op: usize) -> Vec<S::State> {
        let operation = &self.history.operations()[op];
        let known = operation.outcome.result();
        let mut next: Vec<S::State> = Vec::new();
        for state in states {
            for (result, state) in self.spec.step(state, &operation.op, known) {
                if known.is_none_or(|known| *known == result) && !next.contains(&state) {
                    next.push(state);
                }
            }
        }
        next
    }

    fn extend(&mut self, order: &mut Vec<usize>, states: &[S::State]) {
        let count = self.history.len();
        if (0..count).all(|op| !self.is_completed(op) || order.contains(&op)) {
            self.orders.push(order.clone());
        }
        for op in 0..count {
            if !order.contains(&op) {
                let next = self.step(states, op);
                if !next.is_empty() {
                    order.push(op);
                    self.extend(order, &next);
                    order.pop();
                }
            }
        }
    }

    fn number(&self, id: OpId) -> usize {
        self.numbers[&id]
    }

    fn returned_before(&self, first: usize, second: usize) -> bool {
        let operations = self.history.operations();
        operations[first].return_position().is_some_and(|ret| ret < operations[second].call_position())
    }

    fn keeps(&self, order: &[usize], claim: Before) -> bool {
        let place = |op: usize| order.iter().position(|other| *other == op);
        match (place(self.number(claim.first)), place(self.number(claim.second))) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(first), Some(second)) => first < second,
        }
    }

    fn keeps_all(&self, order: &[usize], claims: &[Before]) -> bool {
        claims.iter().all(|claim| self.keeps(order, *claim))
    }

    fn check_proof(&self, proof: &Proof<S::Ret>, claims: &mut Vec<Before>) {
        let outer = claims.len();
        for step in &proof.steps {
            match &step.ground {
                Ground::RealTime => {
                    let (first, second) = (self.number(step.claim.first), self.number(step.claim.second));
                    assert!(self.returned_before(first, second), "by real time: {step:?}");
                }
                Ground::Value { given, .. } => {
                    let mut is_said = false;
                    for order in self.orders.iter().filter(|order| self.keeps_all(order, given)) {
                        is_said = true;
                        assert!(self.keeps(order, step.claim), "{step:?} is wrong in {order:?}");
                    }
                    assert!(is_said, "no sentence is about {step:?}");
                    self.follow(claims, given);
                }
            }
            claims.push(step.claim);
        }
        match &proof.end {
            End::Circle(circle) => {
                for (at, first) in circle.iter().enumerate() {
                    let second = circle[(at + 1) % circle.len()];
                    assert!(
                        claims.contains(&Before { first: *first, second }),
                        "{circle:?} is not closed by {claims:?}"
                    );
                }
                self.nothing_is_left(claims);
            }
            End::Impossible { op, given, .. } => {
                let op = self.number(*op);
                let mut orders = self.orders.iter().filter(|order| self.keeps_all(order, given));
                assert!(orders.all(|order| !order.contains(&op)), "it is possible");
                self.follow(claims, given);
                self.nothing_is_left(claims);
            }
            End::Cases { assumed, yes, no } => {
                let reverse = Before { first: assumed.second, second: assumed.first };
                for order in self.orders.iter().filter(|order| self.keeps_all(order, claims)) {
                    assert!(
                        self.keeps(order, *assumed) != self.keeps(order, reverse),
                        "{assumed:?} or not in {order:?}"
                    );
                }
                for (assumed, proof) in [(*assumed, yes), (reverse, no)] {
                    claims.push(assumed);
                    self.check_proof(proof, claims);
                    claims.pop();
                }
            }
            End::NeverEmpty { op, first, pairs } => {
                let op = self.number(*op);
                assert!(self.is_completed(op) && self.returned_before(self.number(*first), op));
                let mut puts = BTreeSet::from([*first]);
                for Before { first, second } in pairs {
                    assert!(puts.insert(*first), "no value is used twice");
                    assert!(self.returned_before(self.number(*first), self.number(*second)));
                }
                self.visit(&mut Vec::new(), &self.spec.initial(), op, &mut |state| {
                    assert!(self.step(std::slice::from_ref(state), op).is_empty(), "it fits in {state:?}");
                });
            }
            End::NoPlace(none) => self.check_places(none, &[], self.spec.initial()),
        }
        claims.truncate(outer);
    }

    /// Asserts that all given claims were established before.
    fn follow(&self, claims: &[Before], given: &[Before]) {
        let mut known: BTreeSet<(usize, usize)> =
            claims.iter().map(|claim| (self.number(claim.first), self.number(claim.second))).collect();
        for middle in 0..self.history.len() {
            for first in 0..self.history.len() {
                for second in 0..self.history.len() {
                    if known.contains(&(first, middle)) && known.contains(&(middle, second)) {
                        known.insert((first, second));
                    }
                }
            }
        }
        for claim in given {
            assert!(
                known.contains(&(self.number(claim.first), self.number(claim.second))),
                "{claim:?} was not claimed"
            );
        }
    }

    fn nothing_is_left(&self, claims: &[Before]) {
        let left = self.orders.iter().find(|order| self.keeps_all(order, claims));
        assert!(left.is_none(), "{left:?} is left by {claims:?}");
    }

    /// Checks all places after `done`, in this state.
    fn check_places(&self, none: &NoPlace<S::Ret>, done: &[usize], state: S::State) {
        let op = self.number(none.op);
        assert!(self.is_completed(op) && !done.contains(&op));
        let mut places: BTreeMap<String, Vec<&trueline::verdict::Place<S::Ret>>> = BTreeMap::new();
        for place in &none.places {
            places.entry(place.state.clone()).or_default().push(place);
            // The operation is possible where the argument places it.
            let mut states = vec![state.clone()];
            let mut before = done.to_vec();
            for id in &place.order {
                let next = self.number(*id);
                assert!(!before.contains(&next) && self.may_be_next(&before, next));
                states = self.step(&states, next);
                before.push(next);
            }
            assert!(self.may_be_next(&before, op));
            let there = states.iter().find(|state| self.spec.describe_state(state) == place.state);
            let there = there.expect("the place leads to that state");
            let mut results: Vec<S::Ret> = Vec::new();
            for (result, _) in self.spec.step(there, &self.history.operations()[op].op, None) {
                if !results.contains(&result) {
                    results.push(result);
                }
            }
            assert_eq!(results, place.results);
            let fits = self.step(std::slice::from_ref(there), op);
            assert_eq!(!fits.is_empty(), place.then.is_some());
            before.push(op);
            if let Some(Some(then)) = &place.then {
                let [next] = fits.as_slice() else { continue };
                self.check_places(then, &before, next.clone());
            }
        }
        let mut silent = BTreeSet::new();
        self.visit(&mut done.to_vec(), &state, op, &mut |state| {
            let text = self.spec.describe_state(state);
            if !places.contains_key(&text) {
                assert!(self.step(std::slice::from_ref(state), op).is_empty(), "the argument omits a place: {text}");
                silent.insert(text);
            }
        });
        assert_eq!(silent.len(), none.more, "{silent:?} {none:?}");
    }

    /// Returns whether `op` may be next in real time: all operations that returned before the call
    /// of `op` are done, and no operation that was called after the return of `op`. The return
    /// counts even if it is forgotten.
    fn may_be_next(&self, done: &[usize], op: usize) -> bool {
        let is_late = |other: &usize| self.members[op].events.1.is_some_and(|ret| ret < self.members[*other].events.0);
        !done.iter().any(is_late)
            && (0..self.history.len()).all(|other| done.contains(&other) || !self.returned_before(other, op))
    }

    fn visit(&self, done: &mut Vec<usize>, state: &S::State, op: usize, visitor: &mut dyn FnMut(&S::State)) {
        if self.may_be_next(done, op) {
            visitor(state);
        }
        for other in (0..self.history.len()).filter(|other| *other != op) {
            if !done.contains(&other) && self.may_be_next(done, other) {
                for next in self.step(std::slice::from_ref(state), other) {
                    done.push(other);
                    self.visit(done, &next, op, visitor);
                    done.pop();
                }
            }
        }
    }
}

/// Returns the operations as they are shown.
fn show<F: Family>(history: &History<Op<F>, Ret<F>>) -> History<String, String> {
    history.map(|operation| (format!("{:?}", operation.op), operation.outcome.map(show_result)))
}

fn show_result(result: &impl std::fmt::Debug) -> String {
    let text = format!("{result:?}");
    if text == "Done" { "ok".to_owned() } else { text }
}

fn tell<F: Family>(
    history: &History<Op<F>, Ret<F>>,
    core: &Core<Op<F>, Ret<F>>,
    argument: &Argument<Ret<F>>,
) -> Vec<String> {
    prose::tell(&show::<F>(history), &core.clone().map(show::<F>), &argument.clone().map(show_result))
}

/// Cores with more operations than this are not enumerated.
const MOST_ENUMERATED: usize = 8;

/// The results of arguing about some histories.
#[derive(Default)]
struct Tally {
    rejected: u32,
    specific: u32,
    checked: u32,
    /// The number of claims of each kind, by the name of their reason.
    claims: BTreeMap<String, u32>,
}

impl Tally {
    fn count(&mut self, proof: &Proof<impl std::fmt::Debug>) {
        let name = |reason: &trueline::verdict::Reason| {
            format!("{reason:?}").split(|c: char| !c.is_alphabetic()).next().unwrap_or_default().to_owned()
        };
        for step in &proof.steps {
            if let Ground::Value { reason, .. } = &step.ground {
                *self.claims.entry(name(reason)).or_default() += 1;
            }
        }
        match &proof.end {
            End::Circle(_) => *self.claims.entry("a circle".to_owned()).or_default() += 1,
            End::Impossible { reason, .. } => *self.claims.entry(name(reason)).or_default() += 1,
            End::Cases { yes, no, .. } => {
                *self.claims.entry("cases".to_owned()).or_default() += 1;
                self.count(yes);
                self.count(no);
            }
            End::NeverEmpty { .. } => *self.claims.entry("never empty".to_owned()).or_default() += 1,
            End::NoPlace(_) => *self.claims.entry("no place".to_owned()).or_default() += 1,
        }
    }

    /// Argues about a history, if it is rejected, and checks the argument in all orders.
    fn argue<F: Family>(&mut self, history: &History<Op<F>, Ret<F>>, seed: u64) {
        let spec = F::spec();
        let Some(core) = shrink::judge(&spec, history, &Limits::new()) else { return };
        self.rejected += 1;
        let argument = argument::of_core(&spec, &core).expect("small cores are explained");
        let sentences = tell::<F>(history, &core, &argument);
        assert!(!sentences.is_empty());
        check_words(history, &core, &argument, &sentences);
        self.specific += u32::from(argument.is_specific());
        self.count(&argument.proof);
        if core.history.len() > MOST_ENUMERATED {
            return;
        }
        self.checked += 1;
        let check = || Orders::new(&spec, &core).check_proof(&argument.proof, &mut Vec::new());
        if let Err(panic) = catch_unwind(AssertUnwindSafe(check)) {
            eprintln!("{}: seed {seed}: {:?} {:?}", F::NAME, core.history.events(), core.members);
            for (id, operation) in core.history.operations().iter().enumerate() {
                eprintln!("  operation {id}: {:?} {:?}", operation.op, operation.outcome);
            }
            eprintln!("{argument:?}\n{}", sentences.join("\n"));
            std::panic::resume_unwind(panic);
        }
    }
}

/// Checks what the sentences say about the calls that the core's history leaves out.
fn check_words<Op, Ret>(history: &History<Op, Ret>, core: &Core<Op, Ret>, argument: &Argument<Ret>, said: &[String]) {
    let is_member = |id: OpId| core.members.iter().any(|member| member.id == id);
    if core.begins_behind.is_some_and(|first| !is_member(first)) {
        // The argument does not begin with the initial state.
        assert!(!said.iter().any(|sentence| sentence.contains("nitially")), "{said:?}");
    }
    // The states of the core's history are not those of the object if other calls may have changed the object.
    let last = core.members.iter().filter(|member| matches!(member.role, Role::Completed));
    let last = last.filter_map(|member| member.events.1).max().expect("one member is refused");
    let is_over = |operation: &Operation<Op, Ret>| {
        let returned = |first| operation.return_position().is_some_and(|ret| ret < history[first].call_position());
        core.begins_behind.is_some_and(returned)
    };
    let is_ignored = |(id, operation): (OpId, &Operation<Op, Ret>)| {
        operation.call_position() < last && !is_over(operation) && core.begins_behind != Some(id) && !is_member(id)
    };
    if !argument.is_specific() && (0..).map(OpId).zip(history.operations()).any(is_ignored) {
        let note = "All other calls, with the results that they returned, make no difference";
        assert!(said.iter().any(|sentence| sentence.starts_with(note)), "{said:?}");
    }
}

/// Generates a history with the results of a sequential run, but with other times of calls and returns, so that the
/// times do not fit the results.
fn at_other_times<F: Family>(random: &mut Random, most: u32) -> History<Op<F>, Ret<F>> {
    let spec = F::spec();
    let mut state = spec.initial();
    let mut intervals = Vec::new();
    for process in 0..2 + random.below(most - 1) {
        let by = random.below(3);
        let op = F::call(random, by);
        let outcomes = spec.step(&state, &op, None);
        if outcomes.is_empty() {
            continue;
        }
        let (result, next) = outcomes[random.below(u32::try_from(outcomes.len()).expect("few")) as usize].clone();
        state = next;
        let call = 3 * i64::from(process) + i64::from(random.below(14));
        let length = i64::from(random.below(10));
        intervals.push(if random.chance(1, 12) {
            Interval::pending(process, op, call)
        } else {
            Interval::returned(process, op, call, call + length, result)
        });
    }
    from_intervals(intervals).expect("each process calls once")
}

/// Argues about the rejected histories among `count` random ones.
fn arguments_are_right<F: Family>(count: u32, seed: u64) -> Tally {
    let mut tally = Tally::default();
    for seed in seed..seed + u64::from(count) {
        tally.argue::<F>(&history::<F>(&mut Random::new(seed), 8), seed);
        tally.argue::<F>(&at_other_times::<F>(&mut Random::new(seed), 7), seed);
    }
    let Tally { rejected, specific, checked, claims } = &tally;
    println!("{}: {rejected} of {} rejected, {checked} checked, {specific} specific: {claims:?}", F::NAME, 2 * count);
    assert!(checked * 2 >= *rejected && *checked > 0, "too few are checked");
    tally
}

macro_rules! families {
    ($($name:ident: $family:ident, $share:literal;)*) => {
        mod right {
            use super::*;
            $(
                #[test]
                fn $name() {
                    let Tally { rejected, specific, .. } = arguments_are_right::<families::$family>(COUNT, 1 << 40);
                    assert!(specific * 100 >= rejected * $share, "only {specific} of {rejected} are special");
                }
            )*
        }

        #[test]
        #[ignore = "writes explanations to be read by a person, to the file in TRUELINE_EXPLAINED"]
        fn write_explanations() {
            let mut out = String::new();
            $(explanations::<families::$family>(&mut out);)*
            let path = std::env::var("TRUELINE_EXPLAINED").unwrap_or_else(|_| "explained.md".to_owned());
            std::fs::write(path, out).expect("the file can be written");
        }
    };
}

/// The number of histories of each specification.
const COUNT: u32 = 1500;

families! {
    registers: Registers, 95;
    cas_registers: CasRegisters, 60;
    sets: Sets, 75;
    maps: Maps, 55;
    queues: Queues, 85;
    stacks: Stacks, 85;
    priority_queues: PriorityQueues, 85;
    bags: Bags, 90;
    deques: Deques, 75;
    mutexes: Mutexes, 70;
    owned_mutexes: OwnedMutexes, 45;
    rwlocks: RwLocks, 70;
    semaphores: Semaphores, 70;
    counters: Counters, 45;
    fetch_adds: FetchAdds, 30;
    multisets: Multisets, 70;
    arrays: Arrays, 90;
    kvs: Kvs, 45;
    logs: Logs, 60;
    once_cells: OnceCells, 45;
    bounded_queues: BoundedQueues, 45;
    multi_registers: MultiRegisters, 45;
}

/// The maximum number of explained cores of a specification that are written.
const MOST_SHAPES: usize = 4;

/// Writes some explained cores of a specification whose texts differ.
fn explanations<F: Family>(out: &mut String) {
    let spec = F::spec();
    let mut shapes = BTreeSet::new();
    let _ = writeln!(out, "# {}\n", F::NAME);
    for seed in 0..400 {
        let history = match seed % 4 {
            0 => history::<F>(&mut Random::new(seed), 8),
            _ => at_other_times::<F>(&mut Random::new(seed), 8),
        };
        let Some(core) = shrink::judge(&spec, &history, &Limits::new()) else { continue };
        let Some(argument) = argument::of_core(&spec, &core) else { continue };
        if core.history.len() < 3 && seed % 5 != 0 {
            // There are many such small cores, so most of them are skipped.
            continue;
        }
        let shape = match &argument.proof.end {
            End::Circle(circle) => format!("circle {} {}", circle.len(), argument.proof.steps.len()),
            End::Impossible { reason, .. } => {
                format!("impossible {:?} {}", std::mem::discriminant(reason), argument.proof.steps.len())
            }
            End::Cases { .. } => "cases".to_owned(),
            End::NeverEmpty { pairs, .. } => format!("never empty {}", pairs.len()),
            End::NoPlace(none) => format!("no place {}", none.places.iter().any(|place| place.then.is_some())),
        };
        if !shapes.insert(shape) || shapes.len() > MOST_SHAPES {
            continue;
        }
        let _ = writeln!(out, "## seed {seed}\n\n```");
        let shown = show::<F>(&core.history);
        for (member, operation) in core.members.iter().zip(shown.operations()) {
            let whole = &history[member.id];
            let _ = writeln!(
                out,
                "{:>3}-{:<3} process {}  {} {:?}  {}",
                whole.call_position(),
                whole.return_position().map_or_else(String::new, |ret| ret.to_string()),
                operation.process,
                operation.op,
                operation.outcome,
                member.role.name()
            );
        }
        let _ = writeln!(out, "```\n\n{}\n", tell::<F>(&history, &core, &argument).join("\n"));
    }
}

/// Containers in which each value is put in once and usually taken out once, by operations that overlap a lot, which
/// leads to longer arguments.
mod containers {
    use super::*;
    use families::{PriorityQueues, Queues, Stacks};
    use trueline::spec::{PriorityQueueOp, PriorityQueueRet, QueueOp, QueueRet, StackOp, StackRet};

    /// An action on a value.
    enum What {
        Put(u8),
        Take(Option<u8>),
        Look(Option<u8>),
    }

    fn made_up<F: Family>(random: &mut Random, read: fn(What) -> (Op<F>, Ret<F>)) -> History<Op<F>, Ret<F>> {
        let mut whats = Vec::new();
        for value in 0..2 + u8::from(random.chance(1, 2)) {
            whats.push(What::Put(value));
            if random.chance(5, 6) {
                whats.push(What::Take(Some(value)));
            }
            if random.chance(1, 6) {
                whats.push(What::Look(Some(value)));
            }
        }
        if random.chance(1, 4) {
            whats.push(What::Take(None));
        }
        let intervals = (0..).zip(whats).map(|(process, what)| {
            // Takes are usually later than puts.
            let first = if matches!(what, What::Put(_)) { 0 } else { 9 };
            let (call, length) = (first + i64::from(random.below(14)), i64::from(random.below(8)));
            let (op, ret) = read(what);
            if random.chance(1, 12) {
                return Interval::pending(process, op, call);
            }
            Interval::returned(process, op, call, call + length, ret)
        });
        from_intervals(intervals.collect::<Vec<_>>()).expect("each process calls once")
    }

    fn all<F: Family>(read: fn(What) -> (Op<F>, Ret<F>), expected: &[&str]) {
        let mut tally = Tally::default();
        for seed in 0..4000 {
            tally.argue::<F>(&made_up::<F>(&mut Random::new(seed), read), seed);
        }
        let Tally { rejected, specific, checked, claims } = &tally;
        println!("{}: {rejected} rejected, {checked} checked, {specific} specific: {claims:?}", F::NAME);
        assert!(*rejected > 1000 && specific * 100 >= rejected * 90, "{specific} of {rejected}");
        for name in expected {
            assert!(claims.contains_key(*name), "{name} is never claimed: {claims:?}");
        }
    }

    #[test]
    fn queues() {
        let read = |what| match what {
            What::Put(value) => (QueueOp::Enqueue(value), QueueRet::Done),
            What::Take(value) => (QueueOp::Dequeue, QueueRet::Value(value)),
            What::Look(value) => (QueueOp::Peek, QueueRet::Value(value)),
        };
        let expected = ["Source", "Seen", "FirstOutFirstIn", "InFront", "Empty", "NotYetIn", "StillIn"];
        all::<Queues>(read, &expected);
    }

    /// The intervals of values overlap like the links of a chain, and an operation that overlaps all of them finds
    /// nothing.
    #[test]
    fn chains_of_values() {
        for length in [3u8, 6, 12, 20] {
            let time = |value: u8| 10 * i64::from(value);
            let mut intervals = Vec::new();
            for value in 0..length {
                let process = 2 * u32::from(value);
                let start = time(value);
                intervals.push(Interval::returned(process, QueueOp::Enqueue(value), start, start + 1, QueueRet::Done));
                let end = time(value + 1) + 5;
                let taken = QueueRet::Value(Some(value));
                intervals.push(Interval::returned(process + 1, QueueOp::Dequeue, end, end + 1, taken));
            }
            let nothing = QueueRet::Value(None);
            intervals.push(Interval::returned(1000, QueueOp::Dequeue, 5, time(length) + 3, nothing));
            let history = from_intervals(intervals).expect("each process calls once");
            let core = shrink::judge(&Queues::spec(), &history, &Limits::new()).expect("the queue was never empty");
            let argument = argument::of_core(&Queues::spec(), &core).expect("chains of any length are explained");
            let End::NeverEmpty { pairs, .. } = &argument.proof.end else { panic!("{argument:?}") };
            assert_eq!(pairs.len() + 1, usize::from(length));
            let sentences = tell::<Queues>(&history, &core, &argument);
            assert_eq!(sentences.len(), 3, "{sentences:?}");
            Tally::default().argue::<Queues>(&history, 0);
        }
    }

    #[test]
    fn stacks() {
        let read = |what| match what {
            What::Put(value) => (StackOp::Push(value), StackRet::Done),
            What::Take(value) => (StackOp::Pop, StackRet::Value(value)),
            What::Look(value) => (StackOp::Top, StackRet::Value(value)),
        };
        all::<Stacks>(read, &["Source", "Seen", "OnTop", "NotTakenOff", "Below", "Empty", "NotYetIn", "StillIn"]);
    }

    #[test]
    fn priority_queues() {
        let read = |what| match what {
            What::Put(value) => (PriorityQueueOp::Insert(value), PriorityQueueRet::Done),
            What::Take(value) => (PriorityQueueOp::DeleteMin, PriorityQueueRet::Value(value)),
            What::Look(value) => (PriorityQueueOp::PeekMin, PriorityQueueRet::Value(value)),
        };
        all::<PriorityQueues>(read, &["Source", "Seen", "Lesser", "LesserLater", "LesserStillIn", "Empty", "StillIn"]);
    }
}

mod partners {
    use super::*;
    use trueline::judge::Budget;
    use trueline::judge::sync::{SyncAlgorithm, check, partners};
    use trueline::spec::sync::{Channel, ChannelOp, ChannelRet, Exchanger, SyncSpec};
    use trueline::verdict::WhyUnfit;

    /// Generates executions at random times with random results.
    fn made_up<S: SyncSpec>(
        random: &mut Random,
        call: impl Fn(&mut Random) -> S::Op,
        result: impl Fn(&mut Random, &S::Op) -> S::Ret,
    ) -> History<S::Op, S::Ret> {
        let mut free = [0i64; 4];
        let intervals = (0..2 + random.below(6)).map(|_| {
            let process = random.below(4);
            let start = free[process as usize] + i64::from(random.below(4));
            let end = start + 1 + i64::from(random.below(8));
            free[process as usize] = end + 1;
            let op = call(random);
            if random.chance(1, 6) {
                free[process as usize] = i64::MAX / 2;
                return Interval::pending(process, op, start);
            }
            let ret = result(random, &op);
            Interval::returned(process, op, start, end, ret)
        });
        let mut seen = BTreeSet::new();
        let intervals: Vec<_> = intervals.collect();
        let intervals = intervals.into_iter().filter(|interval| interval.call < 1 << 40 && seen.insert(interval.call));
        from_intervals(intervals.collect::<Vec<_>>()).expect("operations of a process do not overlap")
    }

    /// Asserts that the argument holds by the definition, on the history up to the refused return.
    fn check_partners<S: SyncSpec>(
        spec: &S,
        history: &History<S::Op, S::Ret>,
        event: u32,
        found: &trueline::verdict::Partners,
    ) {
        let result = |op: OpId| match &history[op].outcome {
            Outcome::Returned(ret) if history[op].return_position().is_some_and(|at| at <= event) => Some(ret),
            Outcome::Optional(ret) => Some(ret),
            _ => None,
        };
        let may_be = |group: &[OpId]| {
            let mut group = group.to_vec();
            group.sort_by_key(|op| (spec.place(&history[*op].op), *op));
            let ops: Vec<&S::Op> = group.iter().map(|op| &history[*op].op).collect();
            spec.synchronize(&spec.initial(), &ops).iter().any(|(_, results)| {
                group.iter().zip(results).all(|(op, ret)| result(*op).is_none_or(|known| known == ret))
            })
        };
        let ids = (0..u32::try_from(history.len()).expect("few")).map(OpId);
        let called: Vec<OpId> = ids.filter(|op| history[*op].call_position() < event).collect();
        let overlap = |one: OpId, other: OpId| !history.precedes(one, other) && !history.precedes(other, one);
        assert!(found.partners.len() < found.needing.len());
        for op in &found.needing {
            assert!(history[*op].return_position().is_some_and(|at| at <= event), "it has returned");
            assert!(!found.partners.contains(op) && !may_be(&[*op]));
            for other in called.iter().filter(|other| *other != op && overlap(*op, **other)) {
                assert!(!may_be(&[*op, *other]) || found.partners.contains(other), "{other:?} is a partner of {op:?}");
            }
        }
        for unfit in &found.unfit {
            let (op, other) = (found.needing[0], unfit.op);
            match unfit.why {
                WhyUnfit::TooEarly => assert!(history.precedes(other, op) && may_be(&[op, other])),
                WhyUnfit::TooLate => assert!(history.precedes(op, other) && may_be(&[op, other])),
                WhyUnfit::Result => assert!(overlap(op, other) && !may_be(&[op, other])),
            }
        }
    }

    fn all<S: SyncSpec>(
        name: &str,
        spec: &S,
        share: u32,
        call: impl Fn(&mut Random) -> S::Op,
        result: impl Fn(&mut Random, &S::Op) -> S::Ret,
    ) {
        let (mut rejected, mut told, mut several) = (0, 0, 0);
        for seed in 0..3000 {
            let history = made_up::<S>(&mut Random::new(seed), &call, &result);
            let judgment = check(spec, &history, SyncAlgorithm::Auto, &Budget::unlimited());
            let Some(evidence) = judgment.verdict.evidence() else { continue };
            rejected += 1;
            let shown = history
                .map(|operation| (format!("{:?}", operation.op), operation.outcome.map(|ret| format!("{ret:?}"))));
            assert!(prose::tell_evidence(&shown, &evidence.clone().map(|ret| format!("{ret:?}"))).len() > 1);
            if let Some(found) = partners(spec, &history, evidence) {
                told += 1;
                several += u32::from(found.needing.len() > 1);
                check_partners(spec, &history, evidence.event, &found);
                assert!(prose::tell_partners(&shown, &found).len() > 1);
            }
        }
        println!("{name}: {rejected} rejected, {told} told, {several} of several");
        assert!(rejected > 500 && several > 20 && told * 100 >= rejected * share, "{told} of {rejected}");
    }

    #[test]
    fn of_channels() {
        let call = |random: &mut Random| {
            if random.chance(1, 2) { ChannelOp::Send(random.below(2)) } else { ChannelOp::Receive }
        };
        all("channel", &Channel::new(), 100, call, |random, op| match op {
            ChannelOp::Send(_) => ChannelRet::Done,
            ChannelOp::Receive => ChannelRet::Value(random.below(2)),
        });
    }

    #[test]
    fn of_exchangers() {
        all("exchanger", &Exchanger::new(), 75, |random| random.below(2), |random, _| random.below(2));
    }
}

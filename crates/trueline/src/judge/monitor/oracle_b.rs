//! Monitors of registers, counters, keys and locks against the definition, on random histories.
//!
//! Compiled for tests only, as if it stood behind `#[cfg(test)]`: it may look at everything.

#![expect(clippy::print_stderr, reason = "a failing test shows its history")]
#![expect(clippy::print_stdout, reason = "tests print what they counted")]

use std::collections::HashMap;
use std::fmt::{Debug, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::{Answer, Input, NEVER, Span, ValueId};
use super::{counter, exchange, fetch_increment, flip, lock, map_key, register, semaphore, shared_lock};
use crate::drive::{Random, Simulation, simulate};
use crate::history::{History, Interval, OpId, Operation, Outcome, from_intervals};
use crate::judge::{Algorithm, Budget, Config, brute, check, replay};
use crate::spec::{
    CasRegister, CasRegisterOp, CasRegisterRet, LockRet, Map, MapOp, MapRet, Mutex, MutexOp, Outcomes, Register,
    RegisterOp, RegisterRet, Set, SetOp, SetRet, Spec, Standard, blocked, outcome,
};
use crate::verdict::Verdict;

/// What an operation is to the monitor.
enum Meaning {
    Is(Standard<u32>),
    /// It never returned and changes nothing, or it is not for this monitor, and no history should have it.
    Observer,
    Foreign,
}

/// A specification, its operations and results made up, and its monitor.
trait Case: Default {
    type Spec: Spec;
    const NAME: &'static str;
    const INITIAL: Option<u32> = None;
    /// Of 8 histories, so many are made up. Where results cannot be spoilt, many have to be.
    const WILD: u32 = 1;
    fn spec(&self) -> Self::Spec;
    /// Any operation that `process` may call.
    fn call(&mut self, random: &mut Random, process: u32) -> Op<Self>;
    /// From here on keeps to the conditions of the monitor: a long history would not by chance.
    fn keep_conditions(&mut self) {}
    /// Any result that `op` might be recorded with, right or wrong.
    fn result(&mut self, random: &mut Random, op: &Op<Self>) -> Ret<Self>;
    fn meaning(op: &Op<Self>, result: Option<&Ret<Self>>, returned: bool) -> Meaning;
    fn judge(&self, input: &Input) -> Answer;
    /// Whether `other` belongs to the history of a conflict that has the operation `one`, as the monitor says.
    fn belongs(_one: &Span, _other: &Span) -> bool {
        false
    }
}

type Op<C> = <<C as Case>::Spec as Spec>::Op;
type Ret<C> = <<C as Case>::Spec as Spec>::Ret;
type HistoryOf<C> = History<Op<C>, Ret<C>>;

/// A history of at most `most` operations: good, spoilt or made up; with pending and optional operations.
fn history<C: Case>(case: &mut C, random: &mut Random, most: u32) -> HistoryOf<C> {
    let history = match random.below(8) {
        kind if kind < C::WILD => made_up(case, random, most),
        0..=2 => run(case, random, most),
        3 => {
            let history = run(case, random, most);
            let history = spoilt(case, &history, random);
            spoilt(case, &history, random)
        }
        4 => stretched(case, random, most),
        5 => {
            let history = stretched(case, random, most);
            spoilt(case, &history, random)
        }
        _ => {
            let history = run(case, random, most);
            spoilt(case, &history, random)
        }
    };
    if random.chance(1, 6) && !history.is_empty() {
        let length = random.below(u32::try_from(history.events().len()).expect("small")) + 1;
        return history.truncate(length as usize);
    }
    history
}

fn run<C: Case>(case: &mut C, random: &mut Random, most: u32) -> HistoryOf<C> {
    let shape = Simulation {
        processes: 2 + random.below(3),
        operations: 1 + random.below(most),
        crashes: if random.chance(1, 3) { 250 } else { 0 },
        busy: random.chance(1, 3),
    };
    simulated(case, &shape, random)
}

fn simulated<C: Case>(case: &mut C, shape: &Simulation, random: &mut Random) -> HistoryOf<C> {
    let spec = case.spec();
    let mut state = spec.initial();
    simulate(
        shape,
        random,
        |random, process| case.call(random, process.0),
        |_, op| {
            let (result, next) = spec.step(&state, op, None).into_iter().next()?;
            state = next;
            Some(result)
        },
    )
}

/// The same with one operation replaced, or only its result.
fn spoilt<C: Case>(case: &mut C, history: &HistoryOf<C>, random: &mut Random) -> HistoryOf<C> {
    let Some(count) = u32::try_from(history.len()).ok().filter(|count| *count > 0) else { return history.clone() };
    let victim = random.below(count) as usize;
    let mut index = 0;
    history.map(|operation| {
        let is_victim = index == victim;
        index += 1;
        if !is_victim || operation.return_position().is_none() {
            return (operation.op.clone(), operation.outcome.clone());
        }
        let op = if random.chance(1, 3) { case.call(random, operation.process.0) } else { operation.op.clone() };
        let result = case.result(random, &op);
        (op, Outcome::Returned(result))
    })
}

/// Operations at random times with random results.
fn made_up<C: Case>(case: &mut C, random: &mut Random, most: u32) -> HistoryOf<C> {
    let operations = 1 + random.below(if C::WILD > 1 { most } else { most.min(5) });
    let mut free = [0i64; 3];
    let mut crashed = 3;
    let intervals: Vec<_> = (0..operations)
        .map(|_| {
            let process = random.below(3);
            let call = free[process as usize] + i64::from(random.below(4));
            if random.chance(1, 8) {
                crashed += 1;
                return Interval::pending(crashed, case.call(random, crashed), call);
            }
            let op = case.call(random, process);
            let ret = call + i64::from(random.below(6));
            free[process as usize] = ret + 1;
            let result = case.result(random, &op);
            Interval::returned(process, op, call, ret, result)
        })
        .collect();
    from_intervals(intervals).expect("operations of a process do not overlap")
}

/// A run of the sequential object, each operation stretched over a random time.
fn stretched<C: Case>(case: &mut C, random: &mut Random, most: u32) -> HistoryOf<C> {
    let spec = case.spec();
    let mut state = spec.initial();
    let mut free = [0i64; 4];
    let mut intervals = Vec::new();
    for time in 0..i64::from(1 + random.below(most)) {
        let process = random.below(4);
        let crashes = random.chance(1, 10);
        let by = if crashes { 4 + u32::try_from(time).expect("few") } else { process };
        let op = case.call(random, by);
        let Some((result, next)) = spec.step(&state, &op, None).into_iter().next() else { continue };
        state = next;
        let point = 2 * time.max(free[process as usize] / 2 + 1);
        let call = (point - i64::from(random.below(5))).max(free[process as usize]);
        let ret = point + i64::from(random.below(5));
        free[process as usize] = ret + 1;
        if crashes {
            intervals.push(Interval::pending(by, op, call));
        } else {
            intervals.push(Interval::returned(process, op, call, ret, result));
        }
    }
    from_intervals(intervals).expect("operations of a process do not overlap")
}

/// What the monitor reads, with the operations it stands for; and the history without what is not for the monitor.
fn prepared<C: Case>(history: &HistoryOf<C>) -> (HistoryOf<C>, Input, Vec<OpId>) {
    let meaning = |operation: &Operation<Op<C>, Ret<C>>| {
        C::meaning(&operation.op, operation.outcome.result(), operation.return_position().is_some())
    };
    let history = history.project(|_, operation| !matches!(meaning(operation), Meaning::Foreign));
    let mut numbers = HashMap::new();
    let mut id = |value: u32| {
        let next = u32::try_from(numbers.len()).expect("few");
        ValueId(*numbers.entry(value).or_insert(next))
    };
    let initial = C::INITIAL.map(&mut id);
    let (mut spans, mut ids) = (Vec::new(), Vec::new());
    for (op, operation) in (0..).map(OpId).zip(history.operations()) {
        if let Meaning::Is(what) = meaning(operation) {
            let ret = operation.return_position().unwrap_or(NEVER);
            spans.push(Span { what: numbered(what, &mut id), call: operation.call_position(), ret });
            ids.push(op);
        }
    }
    let events = u32::try_from(history.events().len()).expect("few");
    let values = u32::try_from(numbers.len()).expect("few");
    (history, Input { spans, events, values, initial, rank: Vec::new() }, ids)
}

fn numbered(what: Standard<u32>, id: &mut impl FnMut(u32) -> ValueId) -> Standard<ValueId> {
    match what {
        Standard::Read(value) => Standard::Read(id(value)),
        Standard::Write(value) => Standard::Write(id(value)),
        Standard::Exchange { old, new } => Standard::Exchange { old: old.map(&mut *id), new: id(new) },
        Standard::Replace { old, new } => {
            Standard::Replace { old: old.map(|old| old.map(&mut *id)), new: new.map(&mut *id) }
        }
        Standard::Get(value) => Standard::Get(value.map(&mut *id)),
        Standard::FetchIncrement(found) => Standard::FetchIncrement(found),
        Standard::Increment => Standard::Increment,
        Standard::Count(seen) => Standard::Count(seen),
        Standard::Flip(to) => Standard::Flip(to),
        Standard::Sees(state) => Standard::Sees(state),
        Standard::Lock { by } => Standard::Lock { by },
        Standard::Unlock { by } => Standard::Unlock { by },
        Standard::LockFailed => Standard::LockFailed,
        Standard::LockShared { by } => Standard::LockShared { by },
        Standard::UnlockShared { by } => Standard::UnlockShared { by },
        Standard::Acquire => Standard::Acquire,
        Standard::Release => Standard::Release,
        other => unreachable!("{other:?} is of a container"),
    }
}

/// The operations of a conflict, and all that belongs to them.
fn closure<C: Case>(input: &Input, conflict: &[u32]) -> Vec<bool> {
    let mut kept = vec![false; input.spans.len()];
    let mut found: Vec<usize> = conflict.iter().map(|&op| op as usize).collect();
    while let Some(one) = found.pop() {
        if !std::mem::replace(&mut kept[one], true) {
            let belong = (0..kept.len()).filter(|&other| C::belongs(&input.spans[one], &input.spans[other]));
            found.extend(belong);
        }
    }
    kept
}

#[derive(Default)]
struct Tally {
    judged: u32,
    rejected: u32,
    refused: u32,
    pending: u32,
    /// The largest conflict, and all of them together.
    largest: usize,
    conflicts: usize,
}

/// Judges so many small histories by the monitor and by the definition.
fn agree<C: Case>(count: u32, seed: u64) {
    let started = Instant::now();
    let mut tally = Tally::default();
    for index in 0..count {
        let seed = seed.wrapping_add(u64::from(index) << 20);
        let mut random = Random::new(seed);
        let mut case = C::default();
        let history = history(&mut case, &mut random, 9);
        let (history, input, ids) = prepared::<C>(&history);
        let outcome = catch_unwind(AssertUnwindSafe(|| agree_on(&case, &history, &input, &ids, &mut tally)));
        if let Err(panic) = outcome {
            let mut shown = String::new();
            for (op, span) in input.spans.iter().enumerate() {
                let _ = writeln!(shown, "  {op}: {:?} {}..{}", span.what, span.call, span.ret);
            }
            eprintln!("{}: seed {seed} gives\n{shown}{:?}", C::NAME, case.judge(&input));
            std::panic::resume_unwind(panic);
        }
        tally.pending += u32::from(history.pending() > 0);
    }
    let Tally { judged, rejected, refused, pending, largest, conflicts } = tally;
    println!(
        "{}: {judged} judged, {rejected} rejected, {refused} refused, {pending} with pending operations, conflicts of \
         {:.2} operations, at most {largest}; {:?}",
        C::NAME,
        conflicts as f64 / f64::from(rejected.max(1)),
        started.elapsed()
    );
    assert!(judged >= count / 5 * 4, "too few judged: {judged} of {count}");
    assert!(rejected * 10 >= judged, "too few rejected to mean much: {rejected} of {judged}");
    assert!((judged - rejected) * 10 >= judged, "too few accepted to mean much: {rejected} of {judged}");
    assert!(pending * 10 >= count, "too few with pending operations: {pending} of {count}");
}

/// What the definition says. (Reaching it by itself, without the other algorithms, spares compiling these.)
fn defined<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>) -> Verdict<S::Ret> {
    brute::check(spec, history, &Budget::unlimited()).verdict
}

fn agree_on<C: Case>(case: &C, history: &HistoryOf<C>, input: &Input, ids: &[OpId], tally: &mut Tally) {
    let spec = case.spec();
    let answer = case.judge(input);
    if let Answer::Refused(_) = answer {
        tally.refused += 1;
        return;
    }
    let truth = defined(&spec, history);
    tally.judged += 1;
    match answer {
        Answer::Accepted(order) => {
            assert!(truth.is_accepted(), "the monitor accepts");
            let order: Vec<OpId> = order.iter().map(|&op| ids[op as usize]).collect();
            replay(&spec, history, &order).expect("a witness can be replayed");
        }
        Answer::Rejected(conflict) => {
            assert!(truth.is_rejected(), "the monitor rejects");
            tally.rejected += 1;
            tally.largest = tally.largest.max(conflict.len());
            tally.conflicts += conflict.len();
            assert!(!conflict.is_empty() && conflict.is_sorted_by(|one, next| one < next), "{conflict:?}");
            let kept = closure::<C>(input, &conflict);
            let part = history.project(|op, _| ids.binary_search(&op).is_ok_and(|index| kept[index]));
            assert!(defined(&spec, &part).is_rejected(), "the conflict {conflict:?} can be resolved");
        }
        Answer::Refused(_) => unreachable!("counted above"),
    }
}

/// Operations as monitors see them, as a specification: one for all types, which a search judges.
struct Meant {
    initial: Option<ValueId>,
    permits: u64,
}

/// Whatever a type needs: a value; a number, a state or who holds; who holds may be anybody (`None` within).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct MeantState {
    value: Option<ValueId>,
    number: i64,
    holder: Option<Option<u32>>,
}

impl Spec for Meant {
    type Op = Standard<ValueId>;
    type Ret = ();
    type State = MeantState;
    type Key = ();
    type Value = ();

    fn initial(&self) -> MeantState {
        MeantState { value: self.initial, number: 0, holder: None }
    }

    fn step(&self, state: &MeantState, op: &Standard<ValueId>, _: Option<&()>) -> Outcomes<(), MeantState> {
        let MeantState { value, number, holder } = *state;
        let permits = i64::try_from(self.permits).expect("few");
        let next = match *op {
            Standard::Read(seen) => (value == Some(seen)).then_some((value, number, holder)),
            Standard::Write(new) => Some((Some(new), number, holder)),
            Standard::Exchange { old, new } => (old.is_none() || old == value).then_some((Some(new), number, holder)),
            Standard::Replace { old, new } => old.is_none_or(|old| old == value).then_some((new, number, holder)),
            Standard::Get(found) => (found == value).then_some((value, number, holder)),
            Standard::FetchIncrement(found) => {
                found.is_none_or(|found| found == number).then_some((value, number + 1, holder))
            }
            Standard::Increment => Some((value, number + 1, holder)),
            Standard::Count(seen) => (seen == number).then_some((value, number, holder)),
            Standard::Flip(to) => (number == i64::from(!to)).then_some((value, i64::from(to), holder)),
            Standard::Sees(seen) => (number == i64::from(seen)).then_some((value, number, holder)),
            Standard::Lock { by } => (holder.is_none() && number == 0).then_some((value, number, Some(by))),
            Standard::Unlock { by } => (holder == Some(by)).then_some((value, number, None)),
            Standard::LockFailed => holder.is_some().then_some((value, number, holder)),
            Standard::LockShared { .. } => holder.is_none().then_some((value, number + 1, holder)),
            Standard::UnlockShared { .. } => (number > 0).then_some((value, number - 1, holder)),
            Standard::Acquire => (permits + number > 0).then_some((value, number - 1, holder)),
            Standard::Release => Some((value, number + 1, holder)),
            ref other => unreachable!("{other:?} is of a container"),
        };
        next.map_or_else(blocked, |(value, number, holder)| outcome((), MeantState { value, number, holder }))
    }

    fn observes(&self, op: &Standard<ValueId>, _: Option<&()>) -> bool {
        use Standard::{Count, Get, LockFailed, Read, Sees};
        matches!(op, Read(_) | Get(_) | Count(_) | Sees(_) | LockFailed)
    }

    fn overwrites(&self, op: &Standard<ValueId>, _: Option<&()>) -> bool {
        matches!(op, Standard::Write(_))
    }
}

/// The history that a monitor reads, for a search.
fn meant(input: &Input) -> History<Standard<ValueId>, ()> {
    let intervals = (0..).zip(&input.spans).map(|(process, span)| {
        if span.ret == NEVER {
            Interval::pending(process, span.what, i64::from(span.call))
        } else {
            Interval::returned(process, span.what, i64::from(span.call), i64::from(span.ret), ())
        }
    });
    from_intervals(intervals.collect::<Vec<_>>()).expect("each has its own process")
}

/// Moves some returns before calls that they were right behind.
fn narrow(input: &mut Input, random: &mut Random) {
    let mut at = vec![None; input.events as usize];
    for (op, span) in input.spans.iter().enumerate() {
        at[span.call as usize] = Some((op, false));
        if span.ret != NEVER {
            at[span.ret as usize] = Some((op, true));
        }
    }
    for (position, pair) in (0..).zip(at.windows(2)) {
        if let [Some((called, false)), Some((returned, true))] = *pair {
            if called != returned && random.chance(1, 40) {
                input.spans[returned].ret = position;
                input.spans[called].call = position + 1;
            }
        }
    }
}

/// Compares with a search on larger histories.
fn agree_on_large<C: Case>(count: u32) {
    let (mut decided, mut rejected, mut refused, mut operations) = (0, 0, 0, 0);
    for seed in 0..u64::from(count) {
        let mut random = Random::new(seed);
        let mut case = C::default();
        let shape = Simulation {
            processes: 2 + random.below(5),
            operations: 1000 + random.below(4001),
            crashes: if random.chance(1, 4) { 2 } else { 0 },
            busy: random.chance(1, 3),
        };
        case.keep_conditions();
        let mut history = simulated(&mut case, &shape, &mut random);
        let kind = random.below(3);
        if kind == 1 {
            history = spoilt(&mut case, &history, &mut random);
        }
        let (_, mut input, _) = prepared::<C>(&history);
        if kind == 2 {
            narrow(&mut input, &mut random);
        }
        let algorithm = if random.chance(1, 2) { Algorithm::Auto } else { Algorithm::Linear };
        let budget = Budget::unlimited().time(Duration::from_secs(2));
        let answer = case.judge(&input);
        if let Answer::Refused(_) = answer {
            refused += 1;
            continue;
        }
        let spec = Meant { initial: input.initial, permits: PERMITS };
        let history = meant(&input);
        if let Answer::Accepted(order) = &answer {
            let order: Vec<OpId> = order.iter().copied().map(OpId).collect();
            replay(&spec, &history, &order).expect("a witness can be replayed");
        }
        let verdict = check(&spec, &history, &Config::new().algorithm(algorithm).budget(budget)).verdict;
        if !matches!(verdict, Verdict::Unknown(_)) {
            let is_rejected = matches!(answer, Answer::Rejected(_));
            assert_eq!(verdict.is_rejected(), is_rejected, "{}: seed {seed}", C::NAME);
            decided += 1;
            operations += input.spans.len();
            rejected += u32::from(is_rejected);
        }
    }
    println!(
        "{}: {decided} of {count} large ones decided by both, {rejected} rejected, {refused} refused, {operations} \
         operations together",
        C::NAME
    );
    assert!(decided * 2 >= count && rejected > 0, "{}: too few", C::NAME);
}

macro_rules! cases {
    ($($name:ident: $case:ty;)*) => {
        $(mod $name {
            use super::*;

            #[test]
            fn agrees_with_the_definition() {
                agree::<$case>(20_000, 1);
            }

            #[test]
            #[ignore = "long"]
            fn agrees_with_the_definition_for_long() {
                agree::<$case>(500_000, 1 << 60);
            }

            #[test]
            fn agrees_with_search_on_large_histories() {
                agree_on_large::<$case>(15);
            }
        })*
    };
}

cases! {
    registers: Registers;
    swaps: Swaps;
    compare_and_swaps: CompareAndSwaps;
    keys_of_sets: SetKeys;
    keys_of_maps: MapKeys;
    locks: Locks;
    owned_locks: OwnedLocks;
    tried_locks: TriedLocks;
    tried_owned_locks: TriedOwnedLocks;
    shared_locks: SharedLocks;
    semaphores: Semaphores;
    counters: Counters;
    fetch_increments: FetchIncrements;
}

/// Values, mostly new ones.
#[derive(Default)]
struct Fresh {
    last: u32,
    never_again: bool,
}

impl Fresh {
    fn next(&mut self, random: &mut Random) -> u32 {
        if random.chance(1, 60) && !self.never_again {
            return self.any(random);
        }
        self.last += 1;
        self.last
    }

    /// The initial value or one of the last.
    fn any(&self, random: &mut Random) -> u32 {
        if random.chance(1, 8) { 0 } else { self.last.saturating_sub(random.below(5)) }
    }
}

#[derive(Default)]
struct Registers(Fresh);

impl Case for Registers {
    type Spec = Register<u32>;
    const NAME: &'static str = "register";
    const INITIAL: Option<u32> = Some(0);

    fn spec(&self) -> Register<u32> {
        Register::new(0)
    }

    fn call(&mut self, random: &mut Random, _: u32) -> RegisterOp<u32> {
        if random.chance(1, 2) { RegisterOp::Read } else { RegisterOp::Write(self.0.next(random)) }
    }

    fn keep_conditions(&mut self) {
        self.0.never_again = true;
    }

    fn result(&mut self, random: &mut Random, op: &RegisterOp<u32>) -> RegisterRet<u32> {
        match op {
            RegisterOp::Read => RegisterRet::Value(self.0.any(random)),
            RegisterOp::Write(_) => RegisterRet::Done,
        }
    }

    fn meaning(op: &RegisterOp<u32>, result: Option<&RegisterRet<u32>>, returned: bool) -> Meaning {
        match (op, result) {
            (RegisterOp::Read, Some(RegisterRet::Value(value))) if returned => Meaning::Is(Standard::Read(*value)),
            (RegisterOp::Read, _) => Meaning::Observer,
            (RegisterOp::Write(value), _) => Meaning::Is(Standard::Write(*value)),
        }
    }

    fn judge(&self, input: &Input) -> Answer {
        register::judge(input)
    }
}

/// Whether `other` wrote what `one` saw.
fn wrote(one: &Span, other: &Span) -> bool {
    let (Standard::Read(seen) | Standard::Exchange { old: Some(seen), .. }) = one.what else { return false };
    matches!(other.what, Standard::Write(new) | Standard::Exchange { new, .. } if new == seen)
}

/// A register that swaps.
struct SwapRegister;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum SwapOp {
    Read,
    Write(u32),
    Swap(u32),
}

impl Spec for SwapRegister {
    type Op = SwapOp;
    type Ret = u32;
    type State = u32;
    type Key = ();
    type Value = ();

    fn initial(&self) -> u32 {
        0
    }

    fn step(&self, state: &u32, op: &SwapOp, _: Option<&u32>) -> Outcomes<u32, u32> {
        match op {
            SwapOp::Read => outcome(*state, *state),
            SwapOp::Write(new) => outcome(0, *new),
            SwapOp::Swap(new) => outcome(*state, *new),
        }
    }

    fn observes(&self, op: &SwapOp, _: Option<&u32>) -> bool {
        *op == SwapOp::Read
    }
}

#[derive(Default)]
struct Swaps(Fresh);

impl Case for Swaps {
    type Spec = SwapRegister;
    const NAME: &'static str = "swap";
    const INITIAL: Option<u32> = Some(0);

    fn spec(&self) -> SwapRegister {
        SwapRegister
    }

    fn call(&mut self, random: &mut Random, _: u32) -> SwapOp {
        match random.below(8) {
            0..3 => SwapOp::Read,
            3..5 => SwapOp::Write(self.0.next(random)),
            _ => SwapOp::Swap(self.0.next(random)),
        }
    }

    fn keep_conditions(&mut self) {
        self.0.never_again = true;
    }

    fn result(&mut self, random: &mut Random, op: &SwapOp) -> u32 {
        if matches!(op, SwapOp::Write(_)) { 0 } else { self.0.any(random) }
    }

    fn meaning(op: &SwapOp, result: Option<&u32>, returned: bool) -> Meaning {
        match (op, result) {
            (SwapOp::Read, Some(value)) if returned => Meaning::Is(Standard::Read(*value)),
            (SwapOp::Read, _) => Meaning::Observer,
            (SwapOp::Write(value), _) => Meaning::Is(Standard::Write(*value)),
            (SwapOp::Swap(new), old) => Meaning::Is(Standard::Exchange { old: old.copied(), new: *new }),
        }
    }

    fn judge(&self, input: &Input) -> Answer {
        exchange::judge(input)
    }

    fn belongs(one: &Span, other: &Span) -> bool {
        wrote(one, other)
    }
}

#[derive(Default)]
struct CompareAndSwaps(Fresh);

impl Case for CompareAndSwaps {
    type Spec = CasRegister<u32>;
    const NAME: &'static str = "compare-and-swap";
    const INITIAL: Option<u32> = Some(0);

    fn spec(&self) -> CasRegister<u32> {
        CasRegister::new(0)
    }

    fn call(&mut self, random: &mut Random, _: u32) -> CasRegisterOp<u32> {
        match random.below(9) {
            0 | 1 => CasRegisterOp::Read,
            2 => CasRegisterOp::Write(self.0.next(random)),
            _ => {
                let expected = self.0.last.saturating_sub(random.below(3));
                CasRegisterOp::Cas { expected, new: self.0.next(random) }
            }
        }
    }

    fn keep_conditions(&mut self) {
        self.0.never_again = true;
    }

    fn result(&mut self, random: &mut Random, op: &CasRegisterOp<u32>) -> CasRegisterRet<u32> {
        match op {
            CasRegisterOp::Read => CasRegisterRet::Value(self.0.any(random)),
            CasRegisterOp::Write(_) => CasRegisterRet::Done,
            CasRegisterOp::Cas { .. } => CasRegisterRet::Swapped(true),
        }
    }

    fn meaning(op: &CasRegisterOp<u32>, result: Option<&CasRegisterRet<u32>>, returned: bool) -> Meaning {
        match (op, result) {
            (CasRegisterOp::Read, Some(CasRegisterRet::Value(value))) if returned => {
                Meaning::Is(Standard::Read(*value))
            }
            (CasRegisterOp::Read, _) => Meaning::Observer,
            (CasRegisterOp::Write(value), _) => Meaning::Is(Standard::Write(*value)),
            (CasRegisterOp::Cas { .. }, Some(CasRegisterRet::Swapped(false))) => Meaning::Foreign,
            (CasRegisterOp::Cas { expected, new }, _) => {
                Meaning::Is(Standard::Exchange { old: Some(*expected), new: *new })
            }
        }
    }

    fn judge(&self, input: &Input) -> Answer {
        exchange::judge(input)
    }

    fn belongs(one: &Span, other: &Span) -> bool {
        wrote(one, other)
    }
}

#[derive(Default)]
struct SetKeys;

impl Case for SetKeys {
    type Spec = Set<u8>;
    const NAME: &'static str = "key of a set";

    fn spec(&self) -> Set<u8> {
        Set::new()
    }

    fn call(&mut self, random: &mut Random, _: u32) -> SetOp<u8> {
        match random.below(3) {
            0 => SetOp::Contains(0),
            1 => SetOp::Remove(0),
            _ => SetOp::Add(0),
        }
    }

    fn result(&mut self, random: &mut Random, _: &SetOp<u8>) -> SetRet {
        SetRet::Bool(random.chance(1, 2))
    }

    fn meaning(op: &SetOp<u8>, result: Option<&SetRet>, returned: bool) -> Meaning {
        let changed = match result {
            Some(SetRet::Bool(changed)) => *changed,
            _ => true,
        };
        let (flips, state) = match op {
            SetOp::Add(_) => (changed, true),
            SetOp::Remove(_) => (changed, false),
            _ => (false, changed),
        };
        let to = matches!(op, SetOp::Add(_));
        match (flips, returned) {
            (true, _) => Meaning::Is(Standard::Flip(to)),
            (false, true) => Meaning::Is(Standard::Sees(state)),
            (false, false) => Meaning::Observer,
        }
    }

    fn judge(&self, input: &Input) -> Answer {
        flip::judge(input)
    }
}

#[derive(Default)]
struct MapKeys(Fresh);

impl Case for MapKeys {
    type Spec = Map<u8, u32>;
    const NAME: &'static str = "key of a map";

    fn spec(&self) -> Map<u8, u32> {
        Map::new()
    }

    fn call(&mut self, random: &mut Random, _: u32) -> MapOp<u8, u32> {
        match random.below(12) {
            0..3 => MapOp::Get(0),
            3..7 => MapOp::Insert(0, self.0.next(random)),
            7 => {
                let expected = Some(self.0.last.saturating_sub(random.below(3))).filter(|&value| value > 0);
                MapOp::Cas { key: 0, expected, new: self.0.next(random) }
            }
            _ => MapOp::Remove(0),
        }
    }

    fn keep_conditions(&mut self) {
        self.0.never_again = true;
    }

    fn result(&mut self, random: &mut Random, op: &MapOp<u8, u32>) -> MapRet<u32> {
        match op {
            MapOp::Cas { .. } => MapRet::Swapped(true),
            _ => MapRet::Value(random.chance(2, 3).then(|| self.0.any(random)).filter(|&value| value > 0)),
        }
    }

    fn meaning(op: &MapOp<u8, u32>, result: Option<&MapRet<u32>>, returned: bool) -> Meaning {
        let old = match result {
            Some(MapRet::Value(old)) => Some(*old),
            _ => None,
        };
        match op {
            MapOp::Get(_) => match old {
                Some(found) if returned => Meaning::Is(Standard::Get(found)),
                _ => Meaning::Observer,
            },
            MapOp::Insert(_, new) => Meaning::Is(Standard::Replace { old, new: Some(*new) }),
            MapOp::Remove(_) => Meaning::Is(Standard::Replace { old, new: None }),
            MapOp::Cas { .. } if result == Some(&MapRet::Swapped(false)) => Meaning::Foreign,
            MapOp::Cas { expected, new, .. } => {
                Meaning::Is(Standard::Replace { old: Some(*expected), new: Some(*new) })
            }
            _ => unreachable!("never called"),
        }
    }

    fn judge(&self, input: &Input) -> Answer {
        map_key::judge(input)
    }

    fn belongs(one: &Span, other: &Span) -> bool {
        let values = |what| match what {
            Standard::Replace { old, new } => [old.flatten(), new],
            Standard::Get(seen) => [seen, None],
            _ => [None, None],
        };
        let Standard::Replace { old, new } = other.what else { return false };
        if old.is_none() && new.is_none() {
            return true;
        }
        values(one.what).into_iter().flatten().any(|value| values(other.what).contains(&Some(value)))
    }
}

/// A lock with tries, with owners or without.
struct TryLock {
    owned: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum TryOp {
    Lock(u32),
    TryLock(u32),
    Unlock(u32),
    /// If it is, a try that failed.
    IsHeld,
}

impl Spec for TryLock {
    type Op = TryOp;
    type Ret = bool;
    type State = Option<u32>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> Option<u32> {
        None
    }

    fn step(&self, state: &Option<u32>, op: &TryOp, _: Option<&bool>) -> Outcomes<bool, Option<u32>> {
        match (op, state) {
            (TryOp::Lock(by) | TryOp::TryLock(by), None) => outcome(true, Some(*by)),
            (TryOp::TryLock(_), Some(_)) => outcome(false, *state),
            (TryOp::IsHeld, _) => outcome(state.is_none(), *state),
            (TryOp::Unlock(by), Some(owner)) if !self.owned || by == owner => outcome(true, None),
            _ => blocked(),
        }
    }
}

/// Which processes hold the lock, as far as they know.
#[derive(Default)]
struct Holders {
    hold: HashMap<u32, bool>,
    in_turn: bool,
}

impl Holders {
    /// Whether `process` should lock: mostly in turn.
    fn locks(&mut self, random: &mut Random, process: u32) -> bool {
        let holds = self.hold.entry(process).or_default();
        let in_turn = self.in_turn || !random.chance(1, 24);
        *holds = *holds != in_turn;
        *holds == in_turn
    }
}

fn tried(op: &TryOp, result: Option<&bool>, returned: bool, owned: bool) -> Meaning {
    match op {
        TryOp::IsHeld if result == Some(&true) => Meaning::Foreign,
        TryOp::IsHeld | TryOp::TryLock(_) if result != Some(&true) && result.is_some() => {
            if returned {
                Meaning::Is(Standard::LockFailed)
            } else {
                Meaning::Observer
            }
        }
        TryOp::Lock(by) | TryOp::TryLock(by) => Meaning::Is(Standard::Lock { by: owned.then_some(*by) }),
        TryOp::Unlock(by) => Meaning::Is(Standard::Unlock { by: owned.then_some(*by) }),
        TryOp::IsHeld => Meaning::Observer,
    }
}

macro_rules! tried_locks {
    ($name:ident, $text:literal, $owned:literal) => {
        #[derive(Default)]
        struct $name(Holders);

        impl Case for $name {
            type Spec = TryLock;
            const NAME: &'static str = $text;

            fn spec(&self) -> TryLock {
                TryLock { owned: $owned }
            }

            fn call(&mut self, random: &mut Random, process: u32) -> TryOp {
                if random.chance(1, 5) {
                    // A process that tries with success does not know.
                    return if self.0.in_turn { TryOp::IsHeld } else { TryOp::TryLock(process) };
                }
                if self.0.locks(random, process) { TryOp::Lock(process) } else { TryOp::Unlock(process) }
            }

            fn keep_conditions(&mut self) {
                self.0.in_turn = true;
            }

            fn result(&mut self, random: &mut Random, op: &TryOp) -> bool {
                !matches!(op, TryOp::TryLock(_) | TryOp::IsHeld) || random.chance(1, 2)
            }

            fn meaning(op: &TryOp, result: Option<&bool>, returned: bool) -> Meaning {
                tried(op, result, returned, $owned)
            }

            fn judge(&self, input: &Input) -> Answer {
                lock::judge(input)
            }
        }
    };
}

tried_locks!(TriedLocks, "lock with tries", false);
tried_locks!(TriedOwnedLocks, "lock with tries and owners", true);

macro_rules! mutexes {
    ($name:ident, $text:literal, $owned:literal) => {
        #[derive(Default)]
        struct $name(Holders);

        impl Case for $name {
            type Spec = Mutex;
            const NAME: &'static str = $text;

            fn spec(&self) -> Mutex {
                Mutex::new()
            }

            fn call(&mut self, random: &mut Random, process: u32) -> MutexOp {
                let by = $owned.then_some(process);
                if self.0.locks(random, process) { MutexOp::Acquire { by } } else { MutexOp::Release { by } }
            }

            fn keep_conditions(&mut self) {
                self.0.in_turn = true;
            }

            fn result(&mut self, _: &mut Random, _: &MutexOp) -> LockRet {
                LockRet::Done
            }

            fn meaning(op: &MutexOp, _: Option<&LockRet>, _: bool) -> Meaning {
                Meaning::Is(match *op {
                    MutexOp::Acquire { by } => Standard::Lock { by },
                    MutexOp::Release { by } => Standard::Unlock { by },
                    MutexOp::TryAcquire { .. } => unreachable!("tries have a case of their own"),
                })
            }

            fn judge(&self, input: &Input) -> Answer {
                lock::judge(input)
            }
        }
    };
}

mutexes!(Locks, "lock", false);
mutexes!(OwnedLocks, "lock with owners", true);

/// A read-write lock that does not look at owners; they are in the operations for the monitor.
struct RwLock;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct RwOp {
    locks: bool,
    shared: bool,
    by: u32,
}

impl Spec for RwLock {
    type Op = RwOp;
    type Ret = ();
    /// Readers, or -1 for a writer.
    type State = i32;
    type Key = ();
    type Value = ();

    fn initial(&self) -> i32 {
        0
    }

    fn step(&self, state: &i32, op: &RwOp, _: Option<&()>) -> Outcomes<(), i32> {
        match (op.locks, op.shared) {
            (true, true) if *state >= 0 => outcome((), state + 1),
            (true, false) if *state == 0 => outcome((), -1),
            (false, true) if *state > 0 => outcome((), state - 1),
            (false, false) if *state < 0 => outcome((), 0),
            _ => blocked(),
        }
    }
}

#[derive(Default)]
struct SharedLocks {
    hold: HashMap<u32, Option<bool>>,
    in_turn: bool,
}

impl Case for SharedLocks {
    type Spec = RwLock;
    const NAME: &'static str = "read-write lock";
    const WILD: u32 = 5;

    fn spec(&self) -> RwLock {
        RwLock
    }

    fn call(&mut self, random: &mut Random, process: u32) -> RwOp {
        let holds = self.hold.entry(process).or_default();
        if random.chance(1, 80) && !self.in_turn {
            return RwOp { locks: random.chance(1, 2), shared: random.chance(1, 2), by: process };
        }
        if let Some(shared) = holds.take() {
            return RwOp { locks: false, shared, by: process };
        }
        let shared = random.chance(1, 2);
        *holds = Some(shared);
        RwOp { locks: true, shared, by: process }
    }

    fn keep_conditions(&mut self) {
        self.in_turn = true;
    }

    fn result(&mut self, _: &mut Random, _: &RwOp) {}

    fn meaning(op: &RwOp, _: Option<&()>, _: bool) -> Meaning {
        let by = Some(op.by);
        Meaning::Is(match (op.locks, op.shared) {
            (true, true) => Standard::LockShared { by },
            (true, false) => Standard::Lock { by },
            (false, true) => Standard::UnlockShared { by },
            (false, false) => Standard::Unlock { by },
        })
    }

    fn judge(&self, input: &Input) -> Answer {
        shared_lock::judge(input)
    }
}

/// One permit at first.
struct Semaphore;

const PERMITS: u64 = 1;

impl Spec for Semaphore {
    /// Whether it acquires.
    type Op = bool;
    type Ret = ();
    type State = u64;
    type Key = ();
    type Value = ();

    fn initial(&self) -> u64 {
        PERMITS
    }

    fn step(&self, state: &u64, acquires: &bool, _: Option<&()>) -> Outcomes<(), u64> {
        match (acquires, state) {
            (true, 0) => blocked(),
            (true, left) => outcome((), left - 1),
            (false, left) => outcome((), left + 1),
        }
    }
}

#[derive(Default)]
struct Semaphores(Holders);

impl Case for Semaphores {
    type Spec = Semaphore;
    const NAME: &'static str = "semaphore";
    const WILD: u32 = 6;

    fn spec(&self) -> Semaphore {
        Semaphore
    }

    fn call(&mut self, random: &mut Random, process: u32) -> bool {
        if self.0.in_turn { self.0.locks(random, process) } else { random.chance(12, 20) }
    }

    fn keep_conditions(&mut self) {
        self.0.in_turn = true;
    }

    fn result(&mut self, _: &mut Random, _: &bool) {}

    fn meaning(acquires: &bool, _: Option<&()>, _: bool) -> Meaning {
        Meaning::Is(if *acquires { Standard::Acquire } else { Standard::Release })
    }

    fn judge(&self, input: &Input) -> Answer {
        semaphore::judge(input, PERMITS)
    }

    fn belongs(one: &Span, other: &Span) -> bool {
        other.what == Standard::Release || (one.what == Standard::Acquire && other.ret < one.ret)
    }
}

/// A counter, with increments that tell what they found or not.
struct Counter {
    fetches: bool,
}

impl Spec for Counter {
    /// Whether it increments.
    type Op = bool;
    type Ret = i64;
    type State = i64;
    type Key = ();
    type Value = ();

    fn initial(&self) -> i64 {
        0
    }

    fn step(&self, state: &i64, increments: &bool, _: Option<&i64>) -> Outcomes<i64, i64> {
        match (increments, self.fetches) {
            (true, true) => outcome(*state, state + 1),
            (true, false) => outcome(0, state + 1),
            (false, _) => outcome(*state, *state),
        }
    }

    fn observes(&self, increments: &bool, _: Option<&i64>) -> bool {
        !increments
    }
}

/// Counters know how many increments were called, to make up results.
macro_rules! counters {
    ($name:ident, $text:literal, $fetches:literal, $increment:expr, $judge:expr) => {
        #[derive(Default)]
        struct $name(u32);

        impl Case for $name {
            type Spec = Counter;
            const NAME: &'static str = $text;

            fn spec(&self) -> Counter {
                Counter { fetches: $fetches }
            }

            fn call(&mut self, random: &mut Random, _: u32) -> bool {
                let increments = random.chance(1, 2);
                self.0 += u32::from(increments);
                increments
            }

            fn result(&mut self, random: &mut Random, increments: &bool) -> i64 {
                if *increments && !$fetches { 0 } else { i64::from(random.below(self.0 + 3)) - 1 }
            }

            fn meaning(increments: &bool, result: Option<&i64>, returned: bool) -> Meaning {
                let increment: fn(Option<i64>) -> Standard<u32> = $increment;
                match (increments, result) {
                    (true, found) => Meaning::Is(increment(found.copied())),
                    (false, Some(seen)) if returned => Meaning::Is(Standard::Count(*seen)),
                    (false, _) => Meaning::Observer,
                }
            }

            fn judge(&self, input: &Input) -> Answer {
                let judge: fn(&Input) -> Answer = $judge;
                judge(input)
            }

            fn belongs(_: &Span, other: &Span) -> bool {
                matches!(other.what, Standard::Increment | Standard::FetchIncrement(_))
            }
        }
    };
}

counters!(Counters, "counter", false, |_| Standard::Increment, counter::judge);
counters!(FetchIncrements, "fetch-and-increment", true, Standard::FetchIncrement, fetch_increment::judge);

fn measure<C: Case>(unit: Duration, operations: u32) {
    for bad in [false, true] {
        let mut random = Random::new(7);
        let mut case = C::default();
        case.keep_conditions();
        let shape = Simulation { processes: 16, operations, crashes: 0, busy: true };
        let history = simulated(&mut case, &shape, &mut random);
        let (_, mut input, _) = prepared::<C>(&history);
        drop(history);
        if bad {
            // Two operations change places in time; where that is refused or allowed, returns come earlier.
            let middle = input.spans.len() / 2;
            let others = middle + 1000..input.spans.len();
            let other = others.into_iter().find(|&other| input.spans[other].what != input.spans[middle].what);
            let other = other.expect("not all are alike");
            let whats = (input.spans[middle].what, input.spans[other].what);
            (input.spans[other].what, input.spans[middle].what) = whats;
            if !matches!(case.judge(&input), Answer::Rejected(_)) {
                (input.spans[middle].what, input.spans[other].what) = whats;
                narrow(&mut input, &mut random);
            }
        }
        let mut best = Duration::MAX;
        let mut answer = String::new();
        for _ in 0..3 {
            let started = Instant::now();
            let judged = case.judge(&input);
            best = best.min(started.elapsed());
            answer = match judged {
                Answer::Accepted(_) => "accepted".to_owned(),
                Answer::Rejected(conflict) => format!("rejected by {}", conflict.len()),
                Answer::Refused(why) => format!("refused: {why}"),
            };
        }
        println!(
            "{:>28} {:>9} {:>24} {:>10.2?} {:>6.2} sorts {:>5} ns each",
            C::NAME,
            input.spans.len(),
            answer,
            best,
            best.as_secs_f64() / unit.as_secs_f64(),
            best.as_nanos() / u128::from(operations)
        );
    }
}

#[test]
#[ignore = "a measurement"]
fn ratios() {
    let mut random = Random::new(1);
    let numbers: Vec<u64> = (0..2_000_000).map(|_| random.bits()).collect();
    let sort = || {
        let mut numbers = numbers.clone();
        let started = Instant::now();
        numbers.sort_unstable();
        std::hint::black_box(&numbers);
        started.elapsed()
    };
    let unit = (0..5).map(|_| sort()).min().expect("five");
    println!("sorting takes {unit:?}");
    for operations in [10_000, 1_000_000] {
        measure::<Registers>(unit, operations);
        measure::<Swaps>(unit, operations);
        measure::<SetKeys>(unit, operations);
        measure::<MapKeys>(unit, operations);
        measure::<TriedOwnedLocks>(unit, operations);
        measure::<SharedLocks>(unit, operations);
        measure::<Semaphores>(unit, operations);
        measure::<Counters>(unit, operations);
        measure::<FetchIncrements>(unit, operations);
    }
}

/// Spans one after the other, but those that never return.
fn spans(whats: &[(Standard<ValueId>, bool)]) -> Input {
    let spans = (0..).zip(whats).map(|(index, &(what, returns))| {
        let call = 2 * index;
        Span { what, call, ret: if returns { call + 1 } else { NEVER } }
    });
    let spans: Vec<Span> = spans.collect();
    let events = 2 * u32::try_from(spans.len()).expect("few");
    Input { spans, events, values: 4, initial: None, rank: Vec::new() }
}

#[test]
fn what_is_outside_the_conditions_is_refused() {
    use Standard::{Acquire, Exchange, FetchIncrement, Increment, Lock, LockShared, Read, Replace, Unlock, Write};
    let refuses = |answer| assert!(matches!(answer, Answer::Refused(_)), "{answer:?}");
    let value = ValueId;
    let from_0 = |whats: &[_]| Input { initial: Some(value(0)), ..spans(whats) };
    refuses(register::judge(&spans(&[(Write(value(1)), true)])));
    refuses(register::judge(&from_0(&[(Write(value(0)), true)])));
    refuses(register::judge(&from_0(&[(Write(value(1)), true), (Write(value(1)), false)])));
    refuses(register::judge(&from_0(&[(Exchange { old: Some(value(0)), new: value(1) }, true)])));
    let unknown = (Exchange { old: None, new: value(1) }, false);
    refuses(exchange::judge(&from_0(&[unknown, (Read(value(1)), true)])));
    assert_eq!(exchange::judge(&from_0(&[unknown, (Read(value(0)), true)])), Answer::Accepted(vec![1]));
    let insert = |new| (Replace { old: Some(None), new: Some(value(new)) }, true);
    let remove = (Replace { old: None, new: None }, false);
    refuses(map_key::judge(&spans(&[insert(0), insert(1), remove])));
    assert!(matches!(map_key::judge(&spans(&[insert(0), remove, insert(1)])), Answer::Refused(_)));
    assert_eq!(map_key::judge(&spans(&[remove, insert(0)])), Answer::Accepted(vec![1, 0]));
    refuses(flip::judge(&spans(&[(Increment, true)])));
    refuses(counter::judge(&spans(&[(Acquire, true)])));
    refuses(fetch_increment::judge(&spans(&[(Increment, true)])));
    refuses(fetch_increment::judge(&spans(&[(FetchIncrement(None), false), (FetchIncrement(Some(1)), false)])));
    refuses(lock::judge(&spans(&[(Lock { by: Some(1) }, true), (Unlock { by: None }, true)])));
    refuses(lock::judge(&spans(&[(Lock { by: Some(1) }, false), (Unlock { by: Some(1) }, true)])));
    refuses(shared_lock::judge(&spans(&[(LockShared { by: None }, true)])));
    refuses(shared_lock::judge(&spans(&[(LockShared { by: Some(1) }, true), (LockShared { by: Some(1) }, true)])));
    refuses(semaphore::judge(&spans(&[(Increment, true)]), 1));
}

#[test]
fn owners_may_have_any_numbers() {
    let by = Some(u32::MAX);
    let turns = [(Standard::Lock { by }, true), (Standard::Unlock { by }, true), (Standard::Lock { by }, true)];
    assert_eq!(lock::judge(&spans(&turns)), Answer::Accepted(vec![0, 1, 2]));
    let twice = [(Standard::Lock { by }, true), (Standard::Lock { by }, true)];
    assert_eq!(lock::judge(&spans(&twice)), Answer::Rejected(vec![0, 1]));
}

#[test]
fn a_conflict_of_flips_is_found_where_it_is() {
    // The key comes and goes, and then comes twice.
    let mut whats: Vec<_> = (0..10_000).map(|index| (Standard::Flip(index % 2 == 0), true)).collect();
    whats.extend([(Standard::Flip(true), true), (Standard::Sees(true), true), (Standard::Flip(true), true)]);
    assert_eq!(flip::judge(&spans(&whats)), Answer::Rejected(vec![10_001, 10_002]));
    // It was not there, and then it was.
    let mut whats = vec![(Standard::Sees(false), true); 10_000];
    whats.push((Standard::Sees(true), true));
    assert_eq!(flip::judge(&spans(&whats)), Answer::Rejected(vec![9_999, 10_000]));
}

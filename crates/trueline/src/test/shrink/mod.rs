//! Shrinks the program of a failing run.
//!
//! Zeller & Hildebrandt, *Simplifying and Isolating Failure-Inducing Input*, section 3: chunks of calls are left out,
//! in decreasing sizes, as long as the remaining program fails. Departures from the paper: the most promising
//! candidates are tried first (keeping only the calls that the verdict rests on, leaving out whole threads); only
//! complements are candidates, as subsets seldom fail; from small programs, two calls at a time are left out, because
//! an insertion and a removal are often needed only together; threads are joined, and arguments move toward the
//! beginning of their generator.
//!
//! Whether a candidate fails is decided elsewhere: [`threads`] runs it repeatedly, [`schedules`]
//! explores it. A candidate is accepted only if it fails in the same way as the first program.
//!
//! Not every call may be left out. If threads choose their calls, or a test gives a program
//! explicitly, calls may rely on earlier calls: if nothing was pushed, for example, a `pop` may get
//! stuck or panic although the object is correct. So such programs shrink only if the failure is a
//! violation of a specification, and they keep their arguments. A model defines the result of every
//! call in every state. A specification that is not a model may forbid some calls in some states:
//! for example, it may reject an `unlock` of a lock that is not held, although the lock is correct.
//! So, without a model, only the last calls of threads are left out of such programs. In two cases,
//! any calls may be left out even without a model: if all operations may block, because an
//! operation that is not possible yet waits instead of returning; and if no operation may block,
//! and the test gives the program explicitly. In generated programs, threads keep their roles, if
//! they have any. In other programs, threads with handles keep their numbers, because a handle may
//! depend on the number.
//!
//! # Complexity
//! With `n` calls, there are `O(n²)` candidates in the worst case, and `O(log n)` if a single call
//! is enough to fail. The given budget limits the time.

mod arguments;
#[cfg(feature = "systematic")]
pub(super) mod schedules;
pub(super) mod threads;

use std::collections::{HashMap, HashSet};

use super::failure::{FailureKind, Places};
use super::listing::Listing;
use super::plan::Plan;
use super::token::{Source, Token};
use crate::drive::Call;
use crate::history::{History, Value};

/// The result of trying a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The candidate failed in the same way as the first program.
    Fails,
    /// The candidate was explored, and did not fail in the same way as the first program.
    #[cfg_attr(
        not(feature = "systematic"),
        allow(dead_code, reason = "only explorations try all executions of a candidate")
    )]
    Holds,
    /// The candidate did not fail, but not all of its executions were tried.
    Unknown,
    /// No time is left.
    Over,
}

/// The limits of two steps of shrinking: the step that leaves out pairs of calls, and the step that
/// tries all smaller parts of the first program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effort {
    most_for_pairs: usize,
    most_parts: usize,
}

/// The parts of a program that may be left out or changed.
pub(super) struct Freedom<'p> {
    plan: &'p Plan,
    /// Whether the calls before and after the threads may be left out.
    around: bool,
    /// Whether threads may get other numbers, or be joined.
    renumbers: bool,
    /// Whether the number of a thread determines its role. If so, each thread may call only
    /// operations of its role.
    keeps_roles: bool,
    /// Whether arguments may change: the first value is for the calls of the threads, the second
    /// value for the calls before and after the threads.
    arguments: (bool, bool),
    /// Whether there must be as many removals as insertions.
    balance: bool,
    /// Whether only the last calls of threads may be left out.
    only_ends: bool,
    /// If a program has at most this many calls, shrinking also tries to leave out each pair of
    /// calls.
    most_for_pairs: usize,
    /// If the first program has at most this many parts that are smaller than the current program,
    /// all these parts are tried.
    most_parts: usize,
}

impl<'p> Freedom<'p> {
    /// Returns the parts that may be left out of the program of a failing run, which depend on the
    /// kind of the failure. Returns `None` if the program must not shrink.
    pub(super) fn of(plan: &'p Plan, token: &Token, kind: &FailureKind, effort: Effort) -> Option<Self> {
        let Effort { most_for_pairs, most_parts } = effort;
        let is_compared = is_compared(plan, kind);
        let is_made_up = matches!(token.program, Source::Seed(_) | Source::Listed { .. });
        // A program for a relaxed object is well formed only if it removes as many values as it
        // inserts. Other programs may fail although the object is correct.
        let balance = (plan.judge.is_quasi() && matches!(token.program, Source::Listed { .. }))
            || matches!(kind, FailureKind::NotQuasi { .. });
        // A model defines the result of each operation in every state.
        let is_total = plan.judge.model().is_some();
        let is_chosen = matches!(token.program, Source::Chosen(_));
        let waiting = plan.workload.kinds.iter().filter(|kind| kind.may_block).count();
        let some_wait = waiting > 0 && waiting < plan.workload.kinds.len();
        let only_ends = !is_made_up && !is_total && (some_wait || (is_chosen && waiting == 0));
        (is_compared || is_made_up).then_some(Self {
            plan,
            around: is_compared,
            renumbers: is_made_up || !plan.options.has_handles,
            keeps_roles: is_made_up && !plan.workload.roles.is_empty(),
            // Arguments that the test chooses may have a meaning, such as the number of the caller.
            // These arguments must not change.
            arguments: (
                is_made_up,
                is_made_up && is_compared && plan.workload.before.is_empty() && plan.workload.after.is_empty(),
            ),
            balance,
            only_ends,
            most_for_pairs,
            most_parts,
        })
    }

    /// Returns whether the program may shrink to this candidate.
    fn allows(&self, program: &Listing, whole: &Listing) -> bool {
        let workload = &self.plan.workload;
        let keeps_roles = || {
            let may_call =
                |(thread, calls): (u32, &Vec<Call>)| calls.iter().all(|call| workload.may_call(thread, call.operation));
            (0..).zip(&program.threads).all(may_call)
        };
        let is_balanced = || {
            let take_out = program.all().filter(|call| call.argument.is_null()).count();
            take_out * 2 == program.calls()
        };
        program.calls() > 0
            && (!self.keeps_roles || keeps_roles())
            && (!self.balance || is_balanced())
            && (!self.only_ends || program.is_beginning_of(whole))
    }
}

/// Returns whether the failure violates a specification that covers every program. If so, a smaller
/// program that fails in the same way proves that the object is faulty, too.
fn is_compared(plan: &Plan, kind: &FailureKind) -> bool {
    match kind {
        FailureKind::NotLinearizable | FailureKind::NotSerial | FailureKind::NotQuasi { .. } => true,
        FailureKind::Stuck(_) => plan.judge.has_progress() && plan.workload.kinds.iter().all(|kind| kind.may_block),
        FailureKind::Diverged(_) | FailureKind::Panicked { .. } | FailureKind::Broken { .. } => false,
    }
}

/// The shrunk program, and whether every candidate with one call fewer was decided.
pub(super) struct Reduced {
    pub(super) program: Listing,
    #[cfg_attr(not(feature = "systematic"), allow(dead_code, reason = "only explorations can decide all candidates"))]
    pub(super) is_minimal: bool,
}

/// Shrinks a failing program. `ask` tries a candidate, and reports whether it fails. The `hints`
/// are the first candidates.
pub(super) fn reduce(
    program: Listing,
    hints: Vec<Listing>,
    freedom: &Freedom<'_>,
    ask: &mut dyn FnMut(&Listing) -> Answer,
) -> Reduced {
    let mut reduction = Reduction {
        first: program.clone(),
        smallest: program,
        asked: HashMap::new(),
        freedom,
        ask,
        is_over: false,
        is_minimal: true,
    };
    // Hints are sorted by size, so the first hint that fails is the smallest one that fails.
    hints.into_iter().any(|hint| reduction.try_out(hint));
    loop {
        reduction.is_minimal = !reduction.is_over;
        let is_smaller = reduction.without_threads()
            | reduction.without_chunks()
            | reduction.with_threads_joined()
            | reduction.with_simpler_arguments();
        if !is_smaller && !reduction.without_pairs() && !reduction.with_few_of() {
            break;
        }
    }
    let Reduction { smallest, is_minimal, .. } = reduction;
    // If only the last calls of threads may be left out, some programs with one call fewer were not
    // tried.
    Reduced { program: smallest, is_minimal: is_minimal && !freedom.only_ends }
}

struct Reduction<'r, 'p> {
    /// The program that shrinking started with.
    first: Listing,
    smallest: Listing,
    /// The candidates that were tried, with the answers. No candidate is tried twice.
    asked: HashMap<Listing, Answer>,
    freedom: &'r Freedom<'p>,
    ask: &'r mut dyn FnMut(&Listing) -> Answer,
    is_over: bool,
    /// Whether all candidates of the current pass were decided.
    is_minimal: bool,
}

impl Reduction<'_, '_> {
    /// Accepts a candidate if it fails. Returns whether it was accepted.
    fn try_out(&mut self, candidate: Listing) -> bool {
        let candidate = self.tidy(candidate);
        if self.is_over || candidate == self.smallest || !self.freedom.allows(&candidate, &self.first) {
            return false;
        }
        let known = self.asked.get(&candidate).copied();
        let answer = known.unwrap_or_else(|| (self.ask)(&candidate));
        self.asked.insert(candidate.clone(), answer);
        match answer {
            // The candidate was accepted before, so it is not smaller than the current program.
            Answer::Fails if known.is_some() => {}
            Answer::Fails => {
                self.smallest = candidate;
                return true;
            }
            Answer::Holds => {}
            Answer::Unknown => self.is_minimal = false,
            Answer::Over => (self.is_over, self.is_minimal) = (true, false),
        }
        false
    }

    /// Removes threads without calls, unless the other threads must keep their numbers.
    fn tidy(&self, mut program: Listing) -> Listing {
        if self.freedom.renumbers {
            let tidied: Vec<_> = program.threads.iter().filter(|calls| !calls.is_empty()).cloned().collect();
            let untidy = std::mem::replace(&mut program.threads, tidied);
            if !self.freedom.allows(&program, &self.first) {
                program.threads = untidy;
            }
        }
        while program.threads.last().is_some_and(Vec::is_empty) {
            program.threads.pop();
        }
        if program.threads.is_empty() {
            program.threads.push(Vec::new());
        }
        program
    }

    /// Returns whether the call at this place belongs to a thread.
    fn is_of_threads(&self, place: usize) -> bool {
        let Listing { before, threads, .. } = &self.smallest;
        (before.len()..before.len() + threads.iter().map(Vec::len).sum::<usize>()).contains(&place)
    }

    /// Returns whether the call at this place may be left out.
    fn is_free(&self, place: usize) -> bool {
        self.freedom.around || self.is_of_threads(place)
    }

    fn try_without(&mut self, is_left_out: impl Fn(usize) -> bool) -> bool {
        let mut candidate = self.smallest.clone();
        candidate.retain(|place| !is_left_out(place) || !self.is_free(place));
        self.try_out(candidate)
    }

    /// Leaves out whole threads, the longest first, and all calls before or after the threads.
    fn without_threads(&mut self) -> bool {
        let mut is_smaller = false;
        let mut lengths: Vec<usize> = self.smallest.threads.iter().map(Vec::len).collect();
        lengths.sort_unstable();
        lengths.dedup();
        for length in lengths.into_iter().rev().filter(|length| *length > 0) {
            let mut thread = 0;
            while thread < self.smallest.threads.len() {
                let mut candidate = self.smallest.clone();
                if candidate.threads[thread].len() == length {
                    candidate.threads[thread].clear();
                    if self.try_out(candidate) {
                        is_smaller = true;
                        continue;
                    }
                }
                thread += 1;
            }
        }
        if self.freedom.around {
            is_smaller |= self.try_out(Listing { before: Vec::new(), ..self.smallest.clone() });
            is_smaller |= self.try_out(Listing { after: Vec::new(), ..self.smallest.clone() });
        }
        is_smaller
    }

    /// Leaves out chunks of consecutive calls: large chunks first, and single calls last.
    fn without_chunks(&mut self) -> bool {
        let mut is_smaller = false;
        let mut size = self.smallest.calls().div_ceil(2);
        while size > 0 && !self.is_over {
            let mut first = 0;
            while first < self.smallest.calls() {
                let chunk = first..first + size;
                if self.try_without(|place| chunk.contains(&place)) {
                    is_smaller = true;
                } else {
                    first += size;
                }
            }
            size /= 2;
        }
        is_smaller
    }

    /// Leaves out pairs of calls.
    fn without_pairs(&mut self) -> bool {
        let calls = self.smallest.calls();
        if calls > self.freedom.most_for_pairs {
            return false;
        }
        (0..calls)
            .any(|first| (first + 1..calls).any(|second| self.try_without(|place| [first, second].contains(&place))))
    }

    /// Tries all parts of the first program that have fewer calls than the current program, if
    /// there are not too many of them. Even if no call of the current program can be left out,
    /// another part of the first program may be smaller and fail, too.
    fn with_few_of(&mut self) -> bool {
        let first = self.first.clone();
        let free: Vec<usize> = {
            let of_threads = first.before.len()..first.calls() - first.after.len();
            (0..first.calls()).filter(|place| self.freedom.around || of_threads.contains(place)).collect()
        };
        let kept = first.calls() - free.len();
        let sizes = 1..self.smallest.calls().saturating_sub(kept);
        let mut parts = 0_usize;
        let mut ways = 1_usize;
        for size in sizes.clone() {
            ways = ways.saturating_mul((free.len() + 1).saturating_sub(size)) / size;
            parts = parts.saturating_add(ways);
        }
        if parts > self.freedom.most_parts {
            return false;
        }
        sizes.into_iter().any(|size| {
            let mut chosen: Vec<usize> = (0..size).collect();
            loop {
                let mut candidate = first.clone();
                candidate.retain(|place| {
                    free.binary_search(&place).map_or(true, |number| chosen.binary_search(&number).is_ok())
                });
                if self.try_out(candidate) {
                    return true;
                }
                // Advance to the next combination in lexicographic order.
                let Some(at) = (0..size).rev().find(|at| chosen[*at] < free.len() - size + at) else { return false };
                chosen[at] += 1;
                for after in at + 1..size {
                    chosen[after] = chosen[after - 1] + 1;
                }
            }
        })
    }

    /// Joins two threads into one.
    fn with_threads_joined(&mut self) -> bool {
        let mut is_smaller = false;
        let mut pair = (0, 1);
        while self.freedom.renumbers && pair.0 + 1 < self.smallest.threads.len() {
            let join = |first: usize, second: usize| {
                let mut joined = self.smallest.clone();
                let calls = std::mem::take(&mut joined.threads[second]);
                joined.threads[first].extend(calls);
                joined
            };
            let candidates = [join(pair.0, pair.1), join(pair.1, pair.0)];
            if candidates.into_iter().any(|candidate| self.try_out(candidate)) {
                (is_smaller, pair) = (true, (0, 1));
                continue;
            }
            pair =
                if pair.1 + 1 < self.smallest.threads.len() { (pair.0, pair.1 + 1) } else { (pair.0 + 1, pair.0 + 2) };
        }
        is_smaller
    }

    /// Replaces arguments by arguments that their generators produce earlier.
    fn with_simpler_arguments(&mut self) -> bool {
        let workload = &self.freedom.plan.workload;
        let (of_threads, around) = self.freedom.arguments;
        let mut is_smaller = false;
        let is_bare = self.smallest.before.is_empty() && self.smallest.after.is_empty();
        if of_threads && (around || is_bare) {
            is_smaller |= self.try_out(arguments::simplest(workload, &self.smallest));
            is_smaller |= self.try_out(arguments::renumbered(workload, &self.smallest));
        }
        for place in (0..self.smallest.calls()).filter(|_| of_threads) {
            if !around && !self.is_of_threads(place) {
                continue;
            }
            let simpler =
                arguments::simpler(workload, self.smallest.all().nth(place).expect("there is a call at this place"));
            is_smaller |= simpler.into_iter().any(|argument| {
                let mut candidate = self.smallest.clone();
                candidate.all_mut().nth(place).expect("there is a call at this place").argument = argument;
                self.try_out(candidate)
            });
        }
        is_smaller
    }
}

/// A failing run, with hints for shrinking its program.
pub(super) struct First<'f> {
    pub(super) token: &'f Token,
    pub(super) program: &'f Listing,
    pub(super) kind: &'f FailureKind,
    /// Whether the program may shrink.
    pub(super) is_free: bool,
    /// Smaller programs that may fail, too, the smallest first.
    pub(super) hints: Vec<Listing>,
}

impl<'f> First<'f> {
    /// Looks for the relevant calls of a run, for at most `time`.
    pub(super) fn new(
        plan: &Plan,
        token: &'f Token,
        program: &'f Listing,
        seen: &History<Call, Value>,
        kind: &'f FailureKind,
        time: std::time::Duration,
    ) -> Self {
        let Some(freedom) = Freedom::of(plan, token, kind, Effort::default()) else {
            return Self { token, program, kind, is_free: false, hints: Vec::new() };
        };
        let places = Places::find(plan, seen, kind, time);
        let mut hints = hints(program, seen, freedom.around, &places);
        hints.retain(|hint| freedom.allows(hint, program));
        Self { token, program, kind, is_free: true, hints }
    }

    /// Returns a remark for the report of a failure whose program did not shrink.
    pub(super) fn why_not_shrunk(&self) -> &'static str {
        if self.is_free {
            "the program was not shrunk, because it did not fail again within the time for shrinking"
        } else {
            "the program was not shrunk, because a smaller program might fail for another reason"
        }
    }
}

/// [`hints`] proposes the last calls before a failure as programs: this number of calls, twice this
/// number, and so on.
const FEWEST_LAST: usize = 4;

/// Returns parts of a failing program, the smallest first: the calls that the verdict rests on, the calls that did not
/// return, the last calls, and all calls that were actually made. Most failures need only the last calls.
fn hints(program: &Listing, seen: &History<Call, Value>, around: bool, places: &Places) -> Vec<Listing> {
    let numbers = numbers_of(program, seen);
    let only = |keeps: &dyn Fn(usize) -> bool| {
        let kept: HashSet<usize> =
            (0..seen.len()).filter(|number| keeps(*number)).filter_map(|number| numbers[number]).collect();
        let mut hint = program.clone();
        let of_threads = program.before.len()..program.calls() - program.after.len();
        hint.retain(|place| kept.contains(&place) || (!around && !of_threads.contains(&place)));
        hint
    };
    let operations = seen.operations();
    let is_pending = |number: usize| operations[number].return_position().is_none();
    let end = places.refused.and_then(|refused| seen[refused].return_position()).unwrap_or(u32::MAX);
    // The operations that were called before the refused return, latest call first.
    let mut last: Vec<usize> = (0..seen.len()).filter(|number| operations[*number].call_position() < end).collect();
    last.sort_by_key(|number| std::cmp::Reverse(operations[*number].call_position()));
    let mut hints = vec![only(&|number| places.core.iter().any(|id| id.index() == number)), only(&is_pending)];
    let sizes = std::iter::successors(Some(FEWEST_LAST), |size| Some(size * 2)).take_while(|size| *size < last.len());
    hints.extend(sizes.chain([last.len()]).map(|size| only(&|number| last[..size].contains(&number))));
    hints.push(only(&|_| true));
    hints.retain(|hint| hint.calls() > 0 && hint.calls() < program.calls());
    hints.sort_by_key(Listing::calls);
    hints.dedup();
    hints
}

/// Returns, for each operation of a run, the index of its call in the program. A call that was not
/// possible has no operation in the history.
fn numbers_of(program: &Listing, seen: &History<Call, Value>) -> Vec<Option<usize>> {
    let mut first = program.before.len();
    let mut places: Vec<std::ops::Range<usize>> = Vec::new();
    for calls in &program.threads {
        places.push(first..first + calls.len());
        first += calls.len();
    }
    let calls: Vec<&Call> = program.all().collect();
    // The calls before and after the threads belong to a process of their own, which has the number
    // after the last thread.
    let mut around = (0..program.before.len()).chain(first..calls.len()).peekable();
    let of_operation = |operation: &crate::history::Operation<Call, Value>| {
        let is_it = |place: &usize| *calls[*place] == operation.op;
        let thread = operation.process.0 as usize;
        match places.get_mut(thread) {
            Some(places) => places.find(is_it),
            None => around.find(is_it),
        }
    };
    seen.operations().iter().map(of_operation).collect()
}

/// Returns the calls that the threads of a run chose, as a program.
fn chosen(plan: &Plan, seen: &History<Call, Value>, threads: u32) -> Listing {
    let mut program = Listing {
        before: plan.workload.before.clone(),
        threads: vec![Vec::new(); threads as usize],
        after: plan.workload.after.clone(),
    };
    for operation in seen.operations() {
        if let Some(calls) = program.threads.get_mut(operation.process.0 as usize) {
            calls.push(operation.op.clone());
        }
    }
    program
}

/// Returns the program of a failing run.
pub(super) fn program_of(plan: &Plan, token: &Token, seen: &History<Call, Value>) -> Listing {
    plan.written(token).unwrap_or_else(|| chosen(plan, seen, token.shape.threads))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::drive::Shape;

    fn plan(fill: &[i32]) -> Plan {
        crate::test::test(|| Mutex::new(Vec::new()))
            .model(Vec::new())
            .operation("push", 0..9_u64, |stack, x| stack.lock().expect("no panic").push(x), |model, x| model.push(x))
            .operation("pop", (), |stack, ()| stack.lock().expect("no panic").pop(), |model, ()| model.pop())
            .before(fill.iter().map(|value| crate::test::call("push", *value)))
            .into_plan()
            .forgetful()
    }

    const EFFORT: Effort = Effort { most_for_pairs: 12, most_parts: 0 };
    const SHAPE: Shape = Shape { threads: 4, operations: (10, 15), chaos: 0, few: None, phases: 0 };

    fn token(seed: u64) -> Token {
        Token { program: Source::Seed(seed), shape: SHAPE, scheduled: None }
    }

    fn text(plan: &Plan, program: &Listing) -> String {
        program.to_text(&plan.workload.kinds)
    }

    /// Shrinking leaves exactly the calls that are needed for the failure, and tries few
    /// candidates.
    #[test]
    fn what_is_needed_is_left() {
        let plan = plan(&[7, 8]);
        for seed in 0..50 {
            let token = token(seed);
            let program = plan.written(&token).expect("no thread chooses its calls");
            // A candidate fails if at least two of its threads have this many pops each.
            let needed = 1 + seed as usize % 3;
            let mut asked = 0;
            let mut ask = |candidate: &Listing| {
                asked += 1;
                let pops = |calls: &&Vec<Call>| calls.iter().filter(|call| call.operation == 1).count() >= needed;
                let is_enough = candidate.threads.iter().filter(pops).count() >= 2;
                if is_enough { Answer::Fails } else { Answer::Holds }
            };
            if ask(&program) == Answer::Holds {
                continue;
            }
            let freedom =
                Freedom::of(&plan, &token, &FailureKind::NotLinearizable, EFFORT).expect("the program may shrink");
            let reduced = reduce(program, Vec::new(), &freedom, &mut ask);
            let pops = vec!["pop"; needed].join(", ");
            assert_eq!(text(&plan, &reduced.program), format!("{pops} | {pops}"));
            assert!(reduced.is_minimal && asked < 200, "{asked} questions");
        }
    }

    #[test]
    fn arguments_threads_and_pairs_are_reduced() {
        let plan = plan(&[]);
        let freedom =
            Freedom::of(&plan, &token(1), &FailureKind::NotLinearizable, EFFORT).expect("the program may shrink");
        let read = |text: &str| plan.read_program(text).expect("the program is valid");
        let reduce = |program: &str, fails: &dyn Fn(&Listing) -> bool| {
            let mut ask = |candidate: &Listing| if fails(candidate) { Answer::Fails } else { Answer::Holds };
            assert_eq!(ask(&read(program)), Answer::Fails);
            text(&plan, &reduce(read(program), Vec::new(), &freedom, &mut ask).program)
        };
        // There must be as many removals as insertions.
        let is_even = |program: &Listing| {
            let pushes = program.all().filter(|call| call.operation == 0).count();
            pushes * 2 == program.calls() && program.threads.len() > 1
        };
        assert_eq!(reduce("push 5, pop | push 6 | pop | push 7, pop", &is_even), "push 0 | pop");
        // A program fails if it has calls with two different values, in any threads.
        let differ = |program: &Listing| {
            let values: HashSet<&Value> =
                program.all().map(|call| &call.argument).filter(|value| !value.is_null()).collect();
            values.len() > 1
        };
        assert_eq!(reduce("push 3 (push 8 | pop, push 5) pop", &differ), "push 0 (push 1)");
    }

    /// Even if no call can be left out of a failing program, another part of the first program may
    /// be smaller and fail, too.
    #[test]
    fn smaller_parts_are_tried_if_there_are_few() {
        let plan = plan(&[]);
        let program = || plan.read_program("push 1, push 2 | pop, pop, push 3 | push 4").expect("the program is valid");
        let mut ask = |candidate: &Listing| {
            let values: Vec<i64> = candidate.all().filter_map(|call| call.argument.as_int()).collect();
            let fails =
                [&[3, 4][..], &[1, 2, 4]].iter().any(|needed| needed.iter().all(|value| values.contains(value)));
            // A program with the value 3 fails only if it does not also have the value 2.
            if fails && !(values.contains(&3) && values.contains(&2)) { Answer::Fails } else { Answer::Holds }
        };
        let mut reduce = |most_parts| {
            let effort = Effort { most_parts, ..Effort::default() };
            let freedom =
                Freedom::of(&plan, &token(1), &FailureKind::NotLinearizable, effort).expect("the program may shrink");
            text(&plan, &reduce(program(), Vec::new(), &freedom, &mut ask).program)
        };
        assert_eq!(reduce(0), "push 1, push 2, push 4");
        assert_eq!(reduce(6 + 15), "push 3, push 4");
        assert_eq!(reduce(6 + 14), "push 1, push 2, push 4");
    }

    #[test]
    fn what_others_rely_on_stays() {
        let mut plan = plan(&[]);
        plan.options.has_handles = true;
        let panicked = FailureKind::Panicked { thread: 0, message: String::new() };
        let given = |kind| {
            let token = Token { program: Source::Given("pop | pop".into()), shape: SHAPE, scheduled: None };
            Freedom::of(&plan, &token, kind, EFFORT)
        };
        assert!(given(&panicked).is_none() && given(&FailureKind::Stuck(std::time::Duration::ZERO)).is_none());
        let given = given(&FailureKind::NotLinearizable).expect("the program may shrink");
        let program = || plan.read_program("push 1 ( | pop, pop | push 3) pop").expect("the program is valid");
        let mut ask = |candidate: &Listing| {
            let pops = |calls: &Vec<Call>| calls.iter().any(|call| call.operation == 1);
            if candidate.threads.get(1).is_some_and(pops) { Answer::Fails } else { Answer::Holds }
        };
        let reduced = reduce(program(), Vec::new(), &given, &mut ask).program;
        assert_eq!(text(&plan, &reduced), "| pop", "threads keep their numbers");
        let made_up = Freedom::of(&plan, &token(1), &panicked, EFFORT).expect("generated programs may shrink");
        let reduced = reduce(program(), Vec::new(), &made_up, &mut |_| Answer::Fails).program;
        assert_eq!(text(&plan, &reduced), "push 1 () pop", "the calls before and after the threads stay");
    }

    /// If a specification forbids some calls in some states, a remaining call keeps all calls
    /// before it on its thread.
    #[test]
    #[cfg(feature = "named")]
    fn what_a_specification_asks_for_stays() {
        let plan = crate::test::test(|| ())
            .spec("mutex")
            .operation("lock", (), |_, ()| ())
            .may_block()
            .operation("unlock", (), |_, ()| ())
            .into_plan()
            .forgetful();
        let reduced = |source: Source, text_of: &str| {
            let token = Token { program: source, shape: SHAPE, scheduled: None };
            let freedom =
                Freedom::of(&plan, &token, &FailureKind::NotLinearizable, EFFORT).expect("the program may shrink");
            // Every program with an unlock fails.
            let fails = |candidate: &Listing| candidate.all().any(|call| call.operation == 1);
            let mut ask = |candidate: &Listing| if fails(candidate) { Answer::Fails } else { Answer::Holds };
            let program = plan.read_program(text_of).expect("the program is valid");
            let Reduced { program, is_minimal } = reduce(program, Vec::new(), &freedom, &mut ask);
            (text(&plan, &program), is_minimal)
        };
        let program = "lock, unlock, lock, unlock | lock, unlock";
        for source in [Source::Chosen(1), Source::Given(program.into())] {
            assert_eq!(reduced(source, program), ("lock, unlock".to_owned(), false));
        }
        assert_eq!(reduced(Source::Seed(1), program), ("unlock".to_owned(), true), "generated programs may shrink");
    }

    #[test]
    fn time_ends_it() {
        let plan = plan(&[]);
        let token = token(3);
        let program = plan.written(&token).expect("no thread chooses its calls");
        let freedom =
            Freedom::of(&plan, &token, &FailureKind::NotLinearizable, EFFORT).expect("the program may shrink");
        let mut asked = 0;
        let reduced = reduce(program.clone(), Vec::new(), &freedom, &mut |_| {
            asked += 1;
            if asked > 1 { Answer::Over } else { Answer::Fails }
        });
        assert!(asked == 2 && !reduced.is_minimal && reduced.program.calls() < program.calls());
        let unknown = reduce(program.clone(), Vec::new(), &freedom, &mut |_| Answer::Unknown);
        assert!(!unknown.is_minimal && unknown.program == program);
    }

    #[test]
    fn calls_of_a_run_are_found_in_its_program() {
        let plan = plan(&[]);
        let program = plan.read_program("push 1 (pop, push 2, pop | push 2) pop").expect("the program is valid");
        let mut builder = History::builder();
        let calls: Vec<Call> = program.all().cloned().collect();
        // The first pop of thread 0 was not possible.
        for (process, place) in [(2, 0), (0, 2), (1, 4), (0, 3), (2, 5)] {
            builder.call(process, calls[place].clone()).expect("the process has no open call");
            builder.ret(process, Value::Null).expect("the process has an open call");
        }
        let seen = builder.finish();
        assert_eq!(numbers_of(&program, &seen), [Some(0), Some(2), Some(4), Some(3), Some(5)]);
        let places = Places { refused: Some(crate::history::OpId(1)), core: vec![] };
        let hints = hints(&program, &seen, true, &places);
        let hints: Vec<String> = hints.iter().map(|hint| text(&plan, hint)).collect();
        assert_eq!(hints, ["push 1 (push 2 |)", "push 1 (push 2, pop | push 2) pop"]);
    }
}

//! Making the program of a failing run smaller.
//!
//! Zeller & Hildebrandt, *Simplifying and Isolating Failure-Inducing Input*, section 3: chunks of calls are left out, ever
//! smaller ones, as long as what is left fails. Departures: what gains most is tried first (the calls that the verdict rests
//! on and no others, whole threads); complements are the only candidates, as subsets seldom fail; two calls at once are left
//! out of small programs, since what is put in and what is taken out are often needed only together; threads
//! are joined, and arguments move to the beginning of their generator.
//!
//! Whether a candidate fails is for others to say: [`threads`] runs it again and again, [`schedules`] explores it. A
//! candidate is taken only if it was seen failing, in the same way.
//!
//! Not everything may be left out. Threads that choose what they call, and programs that a test has by hand, may
//! rely on calls that come before: a `pop` that is stuck, or panics, where nothing was pushed is no fault. So these are made
//! smaller only if what they do is compared with a specification, and keep their arguments. A specification may not allow every
//! call at every time: an `unlock` where nothing was locked is rejected, and that is no fault of the lock. So where threads
//! choose, or some operations wait and others do not, only the last calls of threads are left out, unless all operations
//! wait: what cannot be done yet does not return then. Where threads have roles, they keep them; where they have handles,
//! which may depend on their numbers, these.
//!
//! # Complexity
//! With `n` calls, `O(n²)` candidates in the worst case, `O(log n)` if one call is enough; in time as much as is given.

mod arguments;
mod quiet;
#[cfg(feature = "systematic")]
pub(super) mod schedules;
pub(super) mod threads;

use std::collections::{HashMap, HashSet};

use super::failure::{FailureKind, Places};
use super::plan::Plan;
use super::token::{Source, Token};
use super::written::Written;
use crate::drive::Call;
use crate::history::{History, Value};

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It was seen failing.
    Fails,
    /// It does not fail, as far as one looks.
    #[cfg_attr(not(feature = "systematic"), allow(dead_code, reason = "under real threads nothing is certain"))]
    Holds,
    /// It was not seen failing, but not all was looked at.
    Unknown,
    /// There is no time for more.
    Over,
}

/// How much is tried besides leaving out threads, chunks and single calls.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effort {
    most_for_pairs: usize,
    most_parts: usize,
}

/// What may be left out of a program.
pub(super) struct Freedom<'p> {
    plan: &'p Plan,
    /// Whether what is called before and after the threads may be.
    around: bool,
    /// Whether threads may have other numbers than before.
    renumbers: bool,
    /// Whether threads call what those with their number may.
    keeps_roles: bool,
    /// Whether arguments of threads may be others, and those around them.
    arguments: (bool, bool),
    /// Whether as much must be taken out as is put in.
    balance: bool,
    /// Whether only the last calls of threads may be left out.
    only_ends: bool,
    /// Programs with so many calls are tried without any two of them.
    most_for_pairs: usize,
    /// If there are no more of them, all smaller parts of the first program are tried.
    most_parts: usize,
}

impl<'p> Freedom<'p> {
    /// What may be left out of the program of a run that went wrong so; `None` if nothing may.
    pub(super) fn of(plan: &'p Plan, token: &Token, kind: &FailureKind, effort: Effort) -> Option<Self> {
        let Effort { most_for_pairs, most_parts } = effort;
        let is_compared = is_compared(plan, kind);
        let is_made_up = matches!(token.program, Source::Seed(_) | Source::Listed { .. });
        // Programs that are no longer well formed may show what a relaxed object is allowed to do.
        let balance = (plan.judge.is_quasi() && matches!(token.program, Source::Listed { .. }))
            || matches!(kind, FailureKind::NotQuasi { .. });
        // A model says what each operation returns, whatever was before it.
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
            // What somebody chose has a meaning, such as who calls.
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

    /// Whether this may be left of a program.
    fn allows(&self, program: &Written, whole: &Written) -> bool {
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

/// Whether what went wrong is so by a specification, whatever the program is.
fn is_compared(plan: &Plan, kind: &FailureKind) -> bool {
    match kind {
        FailureKind::NotLinearizable | FailureKind::NotSerial | FailureKind::NotQuasi { .. } => true,
        FailureKind::Stuck(_) => plan.judge.has_progress() && plan.workload.kinds.iter().all(|kind| kind.may_block),
        FailureKind::Diverged(_) | FailureKind::Panicked { .. } | FailureKind::Broken { .. } => false,
    }
}

/// What is left, and whether each candidate that is smaller by a call was looked at.
pub(super) struct Reduced {
    pub(super) program: Written,
    #[cfg_attr(not(feature = "systematic"), allow(dead_code, reason = "under real threads nothing is certain"))]
    pub(super) is_minimal: bool,
}

/// Makes a program smaller that fails, as long as `ask` says that what is left fails. The `hints` are tried first.
pub(super) fn reduce(
    program: Written,
    hints: Vec<Written>,
    freedom: &Freedom<'_>,
    ask: &mut dyn FnMut(&Written) -> Answer,
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
    // They are larger and larger.
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
    // Programs with one less may be smaller still where they may not be tried.
    Reduced { program: smallest, is_minimal: is_minimal && !freedom.only_ends }
}

struct Reduction<'r, 'p> {
    /// What it began with.
    first: Written,
    smallest: Written,
    /// Those that were asked about, and what was said. None is asked about twice.
    asked: HashMap<Written, Answer>,
    freedom: &'r Freedom<'p>,
    ask: &'r mut dyn FnMut(&Written) -> Answer,
    is_over: bool,
    /// Whether nothing was left undecided, as far as is known.
    is_minimal: bool,
}

impl Reduction<'_, '_> {
    /// Takes a candidate if it fails; whether it does.
    fn try_out(&mut self, candidate: Written) -> bool {
        let candidate = self.tidy(candidate);
        if self.is_over || candidate == self.smallest || !self.freedom.allows(&candidate, &self.first) {
            return false;
        }
        let known = self.asked.get(&candidate).copied();
        let answer = known.unwrap_or_else(|| (self.ask)(&candidate));
        self.asked.insert(candidate.clone(), answer);
        match answer {
            // It would be the smallest by now, or is larger than that.
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

    /// The same without threads that have nothing to do, if the others need not keep their numbers.
    fn tidy(&self, mut program: Written) -> Written {
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

    /// Whether a thread makes the call at this place.
    fn is_of_threads(&self, place: usize) -> bool {
        let Written { before, threads, .. } = &self.smallest;
        (before.len()..before.len() + threads.iter().map(Vec::len).sum::<usize>()).contains(&place)
    }

    /// Whether the call at this place may be left out.
    fn is_free(&self, place: usize) -> bool {
        self.freedom.around || self.is_of_threads(place)
    }

    fn try_without(&mut self, is_left_out: impl Fn(usize) -> bool) -> bool {
        let mut candidate = self.smallest.clone();
        candidate.retain(|place| !is_left_out(place) || !self.is_free(place));
        self.try_out(candidate)
    }

    /// Whole threads, and all that is around them: the largest first.
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
            is_smaller |= self.try_out(Written { before: Vec::new(), ..self.smallest.clone() });
            is_smaller |= self.try_out(Written { after: Vec::new(), ..self.smallest.clone() });
        }
        is_smaller
    }

    /// Chunks of calls, at last one by one.
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

    /// Two calls at once.
    fn without_pairs(&mut self) -> bool {
        let calls = self.smallest.calls();
        if calls > self.freedom.most_for_pairs {
            return false;
        }
        (0..calls)
            .any(|first| (first + 1..calls).any(|second| self.try_without(|place| [first, second].contains(&place))))
    }

    /// All parts of the first program that have fewer calls, if there are not too many: what cannot lose a call may still be
    /// larger than something else.
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
                // The next choice, in order.
                let Some(at) = (0..size).rev().find(|at| chosen[*at] < free.len() - size + at) else { return false };
                chosen[at] += 1;
                for after in at + 1..size {
                    chosen[after] = chosen[after - 1] + 1;
                }
            }
        })
    }

    /// One thread does what two did.
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

    /// Arguments that come earlier from their generators.
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
            let simpler = arguments::simpler(workload, self.smallest.all().nth(place).expect("there are so many"));
            is_smaller |= simpler.into_iter().any(|argument| {
                let mut candidate = self.smallest.clone();
                candidate.all_mut().nth(place).expect("there are so many").argument = argument;
                self.try_out(candidate)
            });
        }
        is_smaller
    }
}

/// A run that went wrong, and what is known of it.
pub(super) struct First<'f> {
    pub(super) token: &'f Token,
    pub(super) program: &'f Written,
    pub(super) kind: &'f FailureKind,
    /// Whether anything may be left out.
    pub(super) is_free: bool,
    /// Smaller programs that may go wrong too, the smallest first.
    pub(super) hints: Vec<Written>,
}

impl<'f> First<'f> {
    /// Looks for what matters in a run, for so long.
    pub(super) fn new(
        plan: &Plan,
        token: &'f Token,
        program: &'f Written,
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
}

/// How many calls the smallest program has that is made of the last calls before a run went wrong.
const FEWEST_LAST: usize = 4;

/// Programs with few of the calls of one that went wrong, the smallest first: those that the verdict rests on, those that did
/// not return, the last ones, and all that were made. Most faults need what happened last, and no more.
fn hints(program: &Written, seen: &History<Call, Value>, around: bool, places: &Places) -> Vec<Written> {
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
    // By when they were called, the last one first.
    let mut last: Vec<usize> = (0..seen.len()).filter(|number| operations[*number].call_position() < end).collect();
    last.sort_by_key(|number| std::cmp::Reverse(operations[*number].call_position()));
    let mut hints = vec![only(&|number| places.core.iter().any(|id| id.index() == number)), only(&is_pending)];
    let sizes = std::iter::successors(Some(FEWEST_LAST), |size| Some(size * 2)).take_while(|size| *size < last.len());
    hints.extend(sizes.chain([last.len()]).map(|size| only(&|number| last[..size].contains(&number))));
    hints.push(only(&|_| true));
    hints.retain(|hint| hint.calls() > 0 && hint.calls() < program.calls());
    hints.sort_by_key(Written::calls);
    hints.dedup();
    hints
}

/// By operation of a run: its place in the program. Calls that were not possible are in no history.
fn numbers_of(program: &Written, seen: &History<Call, Value>) -> Vec<Option<usize>> {
    let mut first = program.before.len();
    let mut places: Vec<std::ops::Range<usize>> = Vec::new();
    for calls in &program.threads {
        places.push(first..first + calls.len());
        first += calls.len();
    }
    let calls: Vec<&Call> = program.all().collect();
    // What is around the threads has the process behind theirs.
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

/// The calls of a run whose threads chose them, as a program.
fn chosen(plan: &Plan, seen: &History<Call, Value>, threads: u32) -> Written {
    let mut program = Written {
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

/// The program of a run that went wrong.
pub(super) fn program_of(plan: &Plan, token: &Token, seen: &History<Call, Value>) -> Written {
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

    fn text(plan: &Plan, program: &Written) -> String {
        program.to_text(&plan.workload.kinds)
    }

    /// Whatever is needed is left, and nothing else; and few questions are asked.
    #[test]
    fn what_is_needed_is_left() {
        let plan = plan(&[7, 8]);
        for seed in 0..50 {
            let token = token(seed);
            let program = plan.written(&token).expect("nobody chooses");
            // Two threads that call so much each are needed.
            let needed = 1 + seed as usize % 3;
            let mut asked = 0;
            let mut ask = |candidate: &Written| {
                asked += 1;
                let pops = |calls: &&Vec<Call>| calls.iter().filter(|call| call.operation == 1).count() >= needed;
                let is_enough = candidate.threads.iter().filter(pops).count() >= 2;
                if is_enough { Answer::Fails } else { Answer::Holds }
            };
            if ask(&program) == Answer::Holds {
                continue;
            }
            let freedom = Freedom::of(&plan, &token, &FailureKind::NotLinearizable, EFFORT).expect("it is free");
            let reduced = reduce(program, Vec::new(), &freedom, &mut ask);
            let pops = vec!["pop"; needed].join(", ");
            assert_eq!(text(&plan, &reduced.program), format!("{pops} | {pops}"));
            assert!(reduced.is_minimal && asked < 200, "{asked} questions");
        }
    }

    #[test]
    fn arguments_threads_and_pairs_are_reduced() {
        let plan = plan(&[]);
        let freedom = Freedom::of(&plan, &token(1), &FailureKind::NotLinearizable, EFFORT).expect("it is free");
        let read = |text: &str| plan.read_program(text).expect("a program");
        let reduce = |program: &str, fails: &dyn Fn(&Written) -> bool| {
            let mut ask = |candidate: &Written| if fails(candidate) { Answer::Fails } else { Answer::Holds };
            assert_eq!(ask(&read(program)), Answer::Fails);
            text(&plan, &reduce(read(program), Vec::new(), &freedom, &mut ask).program)
        };
        // As much is taken out as is put in.
        let is_even = |program: &Written| {
            let pushes = program.all().filter(|call| call.operation == 0).count();
            pushes * 2 == program.calls() && program.threads.len() > 1
        };
        assert_eq!(reduce("push 5, pop | push 6 | pop | push 7, pop", &is_even), "push 0 | pop");
        // Two values that differ, in whatever thread.
        let differ = |program: &Written| {
            let values: HashSet<&Value> =
                program.all().map(|call| &call.argument).filter(|value| !value.is_null()).collect();
            values.len() > 1
        };
        assert_eq!(reduce("push 3 (push 8 | pop, push 5) pop", &differ), "push 0 (push 1)");
    }

    /// What can lose no call may be larger than something else.
    #[test]
    fn smaller_parts_are_tried_if_there_are_few() {
        let plan = plan(&[]);
        let program = || plan.read_program("push 1, push 2 | pop, pop, push 3 | push 4").expect("a program");
        let mut ask = |candidate: &Written| {
            let values: Vec<i64> = candidate.all().filter_map(|call| call.argument.as_int()).collect();
            let fails =
                [&[3, 4][..], &[1, 2, 4]].iter().any(|needed| needed.iter().all(|value| values.contains(value)));
            // With 3, it fails only without 2.
            if fails && !(values.contains(&3) && values.contains(&2)) { Answer::Fails } else { Answer::Holds }
        };
        let mut reduce = |most_parts| {
            let effort = Effort { most_parts, ..Effort::default() };
            let freedom = Freedom::of(&plan, &token(1), &FailureKind::NotLinearizable, effort).expect("it is free");
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
        let given = given(&FailureKind::NotLinearizable).expect("it is compared with the model");
        let program = || plan.read_program("push 1 ( | pop, pop | push 3) pop").expect("a program");
        let mut ask = |candidate: &Written| {
            let pops = |calls: &Vec<Call>| calls.iter().any(|call| call.operation == 1);
            if candidate.threads.get(1).is_some_and(pops) { Answer::Fails } else { Answer::Holds }
        };
        let reduced = reduce(program(), Vec::new(), &given, &mut ask).program;
        assert_eq!(text(&plan, &reduced), "| pop", "threads keep their numbers");
        let made_up = Freedom::of(&plan, &token(1), &panicked, EFFORT).expect("any program may be made up");
        let reduced = reduce(program(), Vec::new(), &made_up, &mut |_| Answer::Fails).program;
        assert_eq!(text(&plan, &reduced), "push 1 () pop", "what is around the threads stays");
    }

    /// Where a specification does not allow each call at each time, what comes before a call stays.
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
            let freedom = Freedom::of(&plan, &token, &FailureKind::NotLinearizable, EFFORT).expect("it is compared");
            // Any unlock is enough.
            let fails = |candidate: &Written| candidate.all().any(|call| call.operation == 1);
            let mut ask = |candidate: &Written| if fails(candidate) { Answer::Fails } else { Answer::Holds };
            let program = plan.read_program(text_of).expect("a program");
            let Reduced { program, is_minimal } = reduce(program, Vec::new(), &freedom, &mut ask);
            (text(&plan, &program), is_minimal)
        };
        let program = "lock, unlock, lock, unlock | lock, unlock";
        for source in [Source::Chosen(1), Source::Given(program.into())] {
            assert_eq!(reduced(source, program), ("lock, unlock".to_owned(), false));
        }
        assert_eq!(reduced(Source::Seed(1), program), ("unlock".to_owned(), true), "any program may be made up");
    }

    #[test]
    fn time_ends_it() {
        let plan = plan(&[]);
        let token = token(3);
        let program = plan.written(&token).expect("nobody chooses");
        let freedom = Freedom::of(&plan, &token, &FailureKind::NotLinearizable, EFFORT).expect("it is free");
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
        let program = plan.read_program("push 1 (pop, push 2, pop | push 2) pop").expect("a program");
        let mut builder = History::builder();
        let calls: Vec<Call> = program.all().cloned().collect();
        // The first pop of thread 0 was not possible.
        for (process, place) in [(2, 0), (0, 2), (1, 4), (0, 3), (2, 5)] {
            builder.call(process, calls[place].clone()).expect("one at a time");
            builder.ret(process, Value::Null).expect("it was called");
        }
        let seen = builder.finish();
        assert_eq!(numbers_of(&program, &seen), [Some(0), Some(2), Some(4), Some(3), Some(5)]);
        let places = Places { refused: Some(crate::history::OpId(1)), core: vec![] };
        let hints = hints(&program, &seen, true, &places);
        let hints: Vec<String> = hints.iter().map(|hint| text(&plan, hint)).collect();
        assert_eq!(hints, ["push 1 (push 2 |)", "push 1 (push 2, pop | push 2) pop"]);
    }
}

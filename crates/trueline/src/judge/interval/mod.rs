//! Judges objects whose operations take effect in several steps: interval linearizability, and progress.
//!
//! Castañeda, Rajsbaum & Raynal, *Unifying concurrent objects and distributed tasks: interval-linearizability*; section
//! 10 of Lawrence & Lowe, *Synchronisation: Specification and Testing*, asks for a checker.
//!
//! # Definition
//! Let an [`IntervalSpec`] define which steps can be taken. An *interval linearization* of a history is a sequence of
//! allowed steps, each placed in time, such that
//!
//! - each execution takes part in steps only between its call and its return; it *begins* with the first of these
//!   steps, and may *end* only with the last of them;
//! - each execution that returned has ended, with the result that it returned.
//!
//! So an execution that never returned may or may not have begun, and may or may not have ended. A
//! history is interval-linearizable if it has an interval linearization. Then every prefix of the
//! history is interval-linearizable, too: the steps before the cut are an interval linearization of
//! the prefix. Objects can be judged one by one, because steps of different objects do not
//! interfere, wherever they are placed in time.
//!
//! # Progress
//! As in section 3 of Lawrence & Lowe, with steps instead of synchronizations: if open executions
//! can take a step, some step should be taken; and an execution that has ended should return. An
//! interval linearization is *maximal* if no step can follow it. After an interval linearization, a
//! return is *anticipated* if its execution has ended but has not returned. Progress is violated if
//! after every maximal interval linearization some return is anticipated: whatever the object has
//! done, it should have done more. An execution that has begun and cannot end yet may wait. There
//! always is a maximal interval linearization, because with each step an execution begins or ends.
//! If all executions begin and end in one step, these are definitions 7 to 9 of the paper.

mod brute;
mod search;
mod task;

use std::time::Instant;

use super::groups::{self, Cut, Explain};
use super::search::Meter;
use super::{Algorithm, Budget, Config};
use crate::history::{EventKind, History, OpId};
use crate::spec::interval::IntervalSpec;
use crate::verdict::{Judgment, Limit, LimitKind, ProgressEvidence, ProgressVerdict, Stats, Synchronizations, Verdict};
use search::IntervalSearch;
use task::{IntervalStep, IntervalTask, Member};

/// The algorithm that judges a history of an object whose operations take effect in several steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IntervalAlgorithm {
    /// Searches depth first, and visits each configuration once.
    #[default]
    Search,
    /// Tries everything that the definition allows. Use it only for tests and small histories.
    Brute,
}

/// Judges whether a history is interval-linearizable.
///
/// An accepted history comes with an interval linearization that has been replayed: one group of
/// executions for each step, which contains the executions that take part in the step. The place of
/// a rejection is exact: the history up to the event before the failing return is
/// interval-linearizable, but the history up to the failing return is not, whatever the executions
/// that are still open would return.
///
/// ```
/// use trueline::history::{History, OpId};
/// use trueline::judge::Budget;
/// use trueline::judge::interval::{IntervalAlgorithm, check};
/// use trueline::spec::interval::{Signal, SignalOp};
///
/// // Figure 16 of the paper: the child meets its parent twice.
/// let mut builder = History::builder();
/// builder.call(0, SignalOp::SignalUpAndWait)?;
/// builder.call(1, SignalOp::WaitForSignalUp)?;
/// builder.ret(1, ())?;
/// builder.call(1, SignalOp::SignalDown)?;
/// builder.ret(1, ())?;
/// builder.ret(0, ())?;
/// let judgment = check(&Signal, &builder.finish(), IntervalAlgorithm::Search, &Budget::unlimited());
/// let witness = judgment.verdict.witness().expect("it is interval-linearizable");
/// let steps: Vec<_> = witness.groups().collect();
/// assert_eq!(steps, [[OpId(0), OpId(1)], [OpId(0), OpId(2)]]);
///
/// // The child returns before the parent has signaled down.
/// let mut builder = History::builder();
/// builder.call(0, SignalOp::SignalUpAndWait)?;
/// builder.call(1, SignalOp::WaitForSignalUp)?;
/// builder.ret(1, ())?;
/// builder.ret(0, ())?;
/// let judgment = check(&Signal, &builder.finish(), IntervalAlgorithm::Search, &Budget::unlimited());
/// assert_eq!(judgment.verdict.evidence().expect("it is too early").refused, OpId(0));
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn check<S: IntervalSpec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    algorithm: IntervalAlgorithm,
    budget: &Budget,
) -> Judgment<S::Ret> {
    let started = Instant::now();
    let mut judge = IntervalJudge { spec, algorithm, meter: Meter::start(budget), states: 0 };
    let verdict = groups::safety(history, &mut judge);
    groups::judgment(history, verdict, &judge.meter, judge.states, started)
}

/// Judges whether a history is interval-linearizable, by the algorithm of a [`Config`]: `auto` and `brute` are
/// supported, and any other algorithm is refused.
#[doc(hidden)]
pub fn judge<S: IntervalSpec>(spec: &S, history: &History<S::Op, S::Ret>, config: &Config) -> Judgment<S::Ret> {
    let mut judgment = match &config.algorithm {
        Algorithm::Auto => check(spec, history, IntervalAlgorithm::Search, &config.budget),
        Algorithm::Brute => check(spec, history, IntervalAlgorithm::Brute, &config.budget),
        _ => {
            let kind = LimitKind::Refused(
                "its operations take effect in several steps, which only the algorithms auto and brute can judge",
            );
            let events = u32::try_from(history.events().len()).unwrap_or(u32::MAX);
            let verdict = Verdict::Unknown(Limit { kind, event: 0, events });
            Judgment { verdict, stats: Stats { partitions: history.object_count(), ..Stats::default() } }
        }
    };
    judgment.stats.algorithm = config.algorithm.to_string();
    judgment.stats.choice = (config.algorithm == Algorithm::Auto).then(|| "just-in-time search, by steps".to_owned());
    judgment
}

/// Judges whether executions that are stuck at the end of a history should have returned, as [defined](self#progress).
///
/// The caller must know that no more executions will return.
///
/// ```
/// use trueline::history::{History, OpId};
/// use trueline::judge::Budget;
/// use trueline::judge::interval::{IntervalAlgorithm, progress};
/// use trueline::spec::interval::{Signal, SignalOp};
/// use trueline::verdict::ProgressVerdict;
///
/// let mut builder = History::builder();
/// builder.call(0, SignalOp::SignalUpAndWait)?;
/// builder.call(1, SignalOp::WaitForSignalUp)?;
/// let stuck = builder.finish();
/// let verdict = progress(&Signal, &stuck, IntervalAlgorithm::Search, &Budget::unlimited());
/// let ProgressVerdict::Rejected(evidence) = verdict else { panic!("the parent should have seen the child") };
/// assert_eq!(evidence.anticipated, [[OpId(0), OpId(1)]]);
///
/// // The child has begun, and waits for the parent, which is allowed.
/// let mut builder = History::builder();
/// builder.call(0, SignalOp::SignalUpAndWait)?;
/// builder.call(1, SignalOp::WaitForSignalUp)?;
/// builder.ret(1, ())?;
/// let waiting = builder.finish();
/// let verdict = progress(&Signal, &waiting, IntervalAlgorithm::Search, &Budget::unlimited());
/// assert!(matches!(verdict, ProgressVerdict::Accepted(_)));
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn progress<S: IntervalSpec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    algorithm: IntervalAlgorithm,
    budget: &Budget,
) -> ProgressVerdict<S::Ret> {
    groups::progress(history, &mut IntervalJudge { spec, algorithm, meter: Meter::start(budget), states: 0 })
}

struct IntervalJudge<'s, S> {
    spec: &'s S,
    algorithm: IntervalAlgorithm,
    meter: Meter,
    states: u64,
}

impl<'s, S: IntervalSpec> IntervalJudge<'s, S> {
    fn task<'a>(&self, cut: &Cut<'a, S::Op, S::Ret>, only_returned_end: bool) -> IntervalTask<'a, S>
    where
        's: 'a,
    {
        IntervalTask { spec: self.spec, cut: *cut, only_returned_end }
    }

    /// Finds an interval linearization, replays it to verify it, and returns it. Returns `None` if
    /// the history has no interval linearization. If `is_maximal` is set, the linearization is
    /// maximal.
    ///
    /// # Panics
    /// Panics if the specification contradicts itself.
    fn linearize(
        &mut self,
        task: &IntervalTask<'_, S>,
        is_maximal: bool,
    ) -> Result<Option<Vec<IntervalStep>>, LimitKind> {
        let steps = match self.algorithm {
            IntervalAlgorithm::Brute => brute::search(task, is_maximal, &mut self.meter),
            IntervalAlgorithm::Search => {
                let stuck = is_maximal.then(|| task.stuck());
                self.search(task, |search| search.run(stuck.as_deref()))
            }
        }?;
        if let Some(steps) = &steps {
            assert!(!replay(task, steps).is_empty(), "the interval linearization that was found cannot be replayed");
        }
        Ok(steps)
    }

    fn search<T>(
        &mut self,
        task: &IntervalTask<'_, S>,
        work: impl FnOnce(&mut IntervalSearch<'_, '_, S>) -> Result<T, LimitKind>,
    ) -> Result<T, LimitKind> {
        let mut own = self.meter.part(None, None);
        let done = IntervalSearch::new(task, &mut own).and_then(|mut search| {
            let done = work(&mut search);
            self.states += search.states();
            done
        });
        self.meter.add(&own);
        done
    }
}

impl<S: IntervalSpec> Explain<S::Op, S::Ret> for IntervalJudge<'_, S> {
    fn explain(&mut self, cut: &Cut<'_, S::Op, S::Ret>) -> Result<Option<Synchronizations>, LimitKind> {
        let steps = self.linearize(&self.task(cut, false), false)?;
        Ok(steps.map(|steps| groups(&steps)))
    }

    fn results(&mut self, cut: &Cut<'_, S::Op, S::Ret>, op: OpId) -> Result<Vec<S::Ret>, LimitKind> {
        self.search(&self.task(cut, false), |search| search.results(op))
    }

    fn progress(
        &mut self,
        cut: &Cut<'_, S::Op, S::Ret>,
    ) -> Result<Result<Synchronizations, ProgressVerdict<S::Ret>>, LimitKind> {
        let (task, returned) = (self.task(cut, false), self.task(cut, true));
        if let Some(steps) = self.linearize(&returned, true)? {
            return Ok(Ok(groups(&steps)));
        }
        let Some(steps) = self.linearize(&task, false)? else {
            return Ok(Err(ProgressVerdict::Unsafe(self.evidence(cut, 0)?)));
        };
        let evidence = match self.linearize(&returned, false)? {
            // There is an explanation in which only the executions that returned have ended. After
            // it, some of the other executions could have continued.
            Some(steps) => {
                ProgressEvidence { anticipated: groups(&further(&task, &steps)), synchronizations: groups(&steps) }
            }
            // The executions that returned can be explained only if some of the other executions
            // have ended.
            None => {
                let ends_stuck = |step: &&IntervalStep| step.iter().any(|(op, ends)| *ends && !task.has_returned(*op));
                let anticipated: Vec<IntervalStep> = steps.iter().filter(ends_stuck).cloned().collect();
                ProgressEvidence { anticipated: groups(&anticipated), synchronizations: groups(&steps) }
            }
        };
        Ok(Err(ProgressVerdict::Rejected(evidence)))
    }
}

/// Returns the executions that take part in each step.
fn groups(steps: &[IntervalStep]) -> Synchronizations {
    steps.iter().map(|step| step.iter().map(|(op, _)| *op).collect()).collect()
}

/// Returns a sequence of steps that can follow `steps`. It ends with the first step at which an
/// execution ends.
fn further<S: IntervalSpec>(task: &IntervalTask<'_, S>, steps: &[IntervalStep]) -> Vec<IntervalStep> {
    let mut members: Vec<Member> = task.stuck().into_iter().map(|op| Member { op, has_begun: false }).collect();
    let begin = |members: &mut [Member], step: &IntervalStep| {
        for member in members {
            member.has_begun |= step.iter().any(|(op, _)| *op == member.op);
        }
    };
    for step in steps {
        begin(&mut members, step);
    }
    task.sort(&mut members);
    let mut found = Vec::new();
    let states = replay(task, steps);
    let mut next = states.iter().find_map(|state| task.find_step(state, &members));
    while let Some((step, state)) = next {
        begin(&mut members, &step);
        task.sort(&mut members);
        let is_last = step.iter().any(|(_, ends)| *ends);
        found.push(step);
        next = if is_last { None } else { task.find_step(&state, &members) };
    }
    found
}

/// Returns the states that these steps may lead to; the list is empty if the steps do not explain the history.
fn replay<S: IntervalSpec>(task: &IntervalTask<'_, S>, steps: &[IntervalStep]) -> Vec<S::State> {
    let mut states = vec![task.spec.initial()];
    let (mut has_begun, mut has_ended) = (vec![false; task.history.len()], vec![false; task.history.len()]);
    // Each step is taken as early as possible.
    let mut now = 0;
    for step in steps {
        now = step.iter().map(|(op, _)| task.history[*op].call_position()).fold(now, u32::max);
        let may_take_part =
            |(op, _): &(OpId, bool)| now < task.return_position(*op) && now < task.until && !has_ended[op.index()];
        if !step.iter().all(may_take_part) {
            return Vec::new();
        }
        let parts: Vec<_> =
            step.iter().map(|(op, _)| task.part(Member { op: *op, has_begun: has_begun[op.index()] })).collect();
        let as_told = |results: &[Option<S::Ret>]| {
            let is_told = |((op, ends), result): (&(OpId, bool), &Option<S::Ret>)| {
                *ends == result.is_some() && task.fits(*op, result.as_ref())
            };
            step.len() == results.len() && step.iter().zip(results).all(is_told)
        };
        let mut next: Vec<S::State> = Vec::new();
        for (state, results) in states.iter().flat_map(|state| task.spec.step(state, &parts)) {
            if as_told(&results) && !next.contains(&state) {
                next.push(state);
            }
        }
        states = next;
        for (op, ends) in step {
            has_begun[op.index()] = true;
            has_ended[op.index()] = *ends;
        }
    }
    let mut returns = task.events().filter(|event| event.kind() == EventKind::Return);
    if returns.all(|event| has_ended[event.op().index()]) { states } else { Vec::new() }
}

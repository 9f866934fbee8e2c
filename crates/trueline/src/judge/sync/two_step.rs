//! Two-step linearization: synchronizations as operations of a linearizable object.
//!
//! This is the construction of Lawrence & Lowe, section 4. An execution takes effect in two steps:
//! it arrives in the first step, and gets its result in the second. Executions that synchronize
//! arrive one after the other, with no step in between. The first of their second steps performs
//! the synchronization, and the others fetch their results at any later time. A history is
//! synchronization-linearizable if and only if the history of steps is linearizable (proposition
//! 14, and section 4.4 for the general case), so any checker for linearizability can judge it.
//! Two-step linearization cannot judge progress.
//!
//! Both steps of an execution may come at any time between its call and its return. In a log that
//! is recorded while the object runs, as in section 6 of the paper, the second step comes after the
//! return. Such a log leads to the same verdict if the number of executions that synchronize does
//! not depend on when they arrive; otherwise, a correct history may be rejected.

use std::collections::BTreeMap;

use super::numbered::{ByNumber, Numbered};
use crate::history::{EventKind, History, OpId, Outcome};
use crate::judge::groups::open_at_return;
use crate::judge::{Config, check as check_linearizable};
use crate::spec::sync::SyncSpec;
use crate::spec::{Outcomes, Spec};
use crate::verdict::{Evidence, Judgment, Synchronizations, Verdict, Witness, sizes};

/// A step of an execution. The `u32` is the number of the execution.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step<Op> {
    /// The execution arrives.
    First(u32, Op),
    /// The execution gets its result.
    Second(u32),
    /// Both steps in one: the execution is the last to arrive, and gets its result at once.
    Only(u32, Op),
}

/// The state of the object whose operations are the steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TwoStepState<State, Op, Ret> {
    state: State,
    /// The executions that have arrived for the next synchronization.
    present: Vec<(u32, Op)>,
    /// The results that have not been fetched yet.
    results: BTreeMap<u32, Ret>,
}

type State<S> = TwoStepState<<S as SyncSpec>::State, <S as SyncSpec>::Op, <S as SyncSpec>::Ret>;
type Steps<S> = History<Step<<S as SyncSpec>::Op>, Option<<S as SyncSpec>::Ret>>;

/// Turns a synchronization specification into a specification of steps, for two-step linearization.
#[derive(Clone, Copy, Debug)]
pub struct TwoStep<'s, S: ?Sized> {
    spec: &'s S,
    /// Whether executions synchronize in pairs in which the first execution takes two steps, and
    /// the second execution takes only one.
    is_binary: bool,
}

impl<'s, S: SyncSpec + ?Sized> TwoStep<'s, S> {
    /// Creates the general construction (section 4.4).
    pub fn new(spec: &'s S) -> Self {
        Self { spec, is_binary: false }
    }

    /// Returns the construction for pairs of executions with different places (section 4.1): only the first of them
    /// takes two steps.
    pub fn binary(spec: &'s S) -> Self {
        Self { spec, is_binary: true }
    }

    /// Returns the history of steps. Both steps of an execution may take effect at any time between
    /// its call and its return. If `is_delayed` is set, the second step takes effect at the return.
    ///
    /// The history of steps does not contain the results of optional executions; [`check`](Self::check) handles them.
    ///
    /// # Errors
    /// Returns an error if `is_delayed` is set and the number of executions that synchronize is not
    /// always the same. The verdict may then depend on when an execution got its result, and
    /// delayed steps do not record that time.
    ///
    /// # Panics
    /// Never panics: the steps of a well-formed history are well formed.
    pub fn history(&self, history: &History<S::Op, S::Ret>, is_delayed: bool) -> Result<Steps<S>, &'static str> {
        if is_delayed && self.spec.arities(&self.spec.initial()).len() != 1 {
            return Err(
                "the second steps cannot be delayed for this specification: the number of executions that synchronize may depend on when they returned, which delayed steps do not record; leave `is_delayed` unset",
            );
        }
        let mut builder = History::builder();
        for event in history.events() {
            let operation = &history[event.op()];
            let number = event.op().0;
            // Each step has a process of its own, because the two steps of an execution overlap,
            // and because the process of an execution that never returned may call again. No
            // information is lost, because the order of the operations of a process is also their
            // order in time.
            let [one, other] = [2 * number, 2 * number + 1];
            let takes_one = self.is_binary && self.spec.place(&operation.op) > 0;
            let result = || match &operation.outcome {
                Outcome::Returned(result) => Some(result.clone()),
                Outcome::Pending | Outcome::Optional(_) => unreachable!("the operation has a return event"),
            };
            let added = match (event.kind(), takes_one) {
                (EventKind::Call, true) => builder.call(one, Step::Only(number, operation.op.clone())).map(|_| ()),
                (EventKind::Return, true) => builder.ret(one, result()).map(|_| ()),
                (EventKind::Call, false) => {
                    let first = builder.call(one, Step::First(number, operation.op.clone())).map(|_| ());
                    if is_delayed {
                        first
                    } else {
                        first.and_then(|()| builder.call(other, Step::Second(number)).map(|_| ()))
                    }
                }
                (EventKind::Return, false) => {
                    let first = builder.ret(one, None).map(|_| ());
                    let second = if is_delayed {
                        first.and_then(|()| builder.call(other, Step::Second(number)).map(|_| ()))
                    } else {
                        first
                    };
                    second.and_then(|()| builder.ret(other, result()).map(|_| ()))
                }
            };
            added.expect("the steps are well formed, because the history is");
        }
        Ok(builder.finish())
    }

    /// Judges a history by its steps, with any algorithm for linearizability.
    ///
    /// A rejection names a return that cannot be explained in the history of steps. That return
    /// need not be the first return that cannot be explained in the history of executions.
    ///
    /// ```
    /// use trueline::history::History;
    /// use trueline::judge::Config;
    /// use trueline::judge::sync::TwoStep;
    /// use trueline::spec::sync::{Channel, ChannelOp, ChannelRet};
    ///
    /// // The send returned before the receive was called.
    /// let mut builder = History::builder();
    /// builder.call(0, ChannelOp::Send(3))?;
    /// builder.ret(0, ChannelRet::Done)?;
    /// builder.call(1, ChannelOp::Receive)?;
    /// builder.ret(1, ChannelRet::Value(3))?;
    /// let channel = Channel::new();
    /// let judgment = TwoStep::binary(&channel).check(&builder.finish(), &Config::new());
    /// assert!(judgment.verdict.is_rejected());
    /// # Ok::<(), trueline::history::HistoryError>(())
    /// ```
    ///
    /// # Panics
    /// Panics if the specification contradicts itself.
    pub fn check(&self, history: &History<S::Op, S::Ret>, config: &Config) -> Judgment<S::Ret> {
        let (numbered, history) = Numbered::new(self.spec, history);
        let spec: &dyn ByNumber = &numbered;
        check_numbered(&TwoStep { spec, is_binary: self.is_binary }, &history, config)
            .map(|result| numbered.result(*result))
    }

    fn ops(present: &[(u32, S::Op)]) -> Vec<&S::Op> {
        present.iter().map(|(_, op)| op).collect()
    }

    /// Returns the outcomes of a step in which the executions that are present synchronize, and the
    /// execution `number` gets its result.
    fn synchronize(&self, state: &State<S>, number: u32) -> Outcomes<Option<S::Ret>, State<S>> {
        let TwoStepState { state: before, present, results } = state;
        if !self.spec.arities(before).contains(&present.len()) {
            return Outcomes::new();
        }
        let outcomes = self.spec.synchronize(before, &Self::ops(present)).into_iter();
        outcomes
            .map(|(state, of_present)| {
                let mut results = results.clone();
                results.extend(present.iter().map(|(number, _)| *number).zip(of_present));
                let result = results.remove(&number);
                (result, TwoStepState { state, present: Vec::new(), results })
            })
            .collect()
    }

    /// Returns the state after one more execution has arrived, or `None` if it cannot arrive in this state.
    fn come(&self, state: &State<S>, number: u32, op: &S::Op) -> Option<State<S>> {
        let TwoStepState { state: before, present, .. } = state;
        let rank = |(number, op): &(u32, S::Op)| (self.spec.place(op), *number);
        let one = (number, op.clone());
        let is_in_order = present.last().is_none_or(|last| rank(last) < rank(&one));
        let has_room = self.spec.arities(before).iter().any(|arity| *arity > present.len());
        let may_extend = present.is_empty() || self.spec.extends(before, &Self::ops(present));
        (is_in_order && has_room && may_extend).then(|| {
            let mut next = state.clone();
            next.present.push(one);
            next
        })
    }
}

/// Judges a history, whose types have been erased, by its steps.
fn check_numbered(
    two_step: &TwoStep<'_, dyn ByNumber + '_>,
    history: &History<u32, u32>,
    config: &Config,
) -> Judgment<u32> {
    let steps = two_step.history(history, false).expect("only delayed steps are refused");
    let Judgment { verdict, stats } = check_linearizable(two_step, &steps, config);
    let execution = |step: OpId| match &steps[step].op {
        Step::First(number, _) | Step::Second(number) | Step::Only(number, _) => OpId(*number),
    };
    let verdict = match verdict {
        Verdict::Accepted(Witness { order, .. }) => {
            Verdict::Accepted(Witness::in_groups(&synchronizations(&steps, &order)))
        }
        Verdict::Unknown(limit) => Verdict::Unknown(limit),
        Verdict::Rejected(Evidence { prefix, refused, allowed, .. }) => {
            let refused = execution(refused);
            let groups = synchronizations(&steps, &prefix);
            Verdict::Rejected(Evidence {
                prefix: groups.concat(),
                together: sizes(&groups),
                refused,
                event: history[refused].return_position().expect("a refused operation has returned"),
                open: open_at_return(history, history.events(), refused),
                allowed: allowed.into_iter().flatten().collect(),
                // More results may be allowed if the earlier steps are linearized in another order.
                all_allowed: false,
                is_first: false,
                conflict: Vec::new(),
                quasi: None,
            })
        }
    };
    Judgment { verdict, stats }
}

/// Returns the synchronizations that these steps perform, in the order of the steps.
fn synchronizations<Op, Ret>(steps: &History<Step<Op>, Ret>, order: &[OpId]) -> Synchronizations {
    let (mut groups, mut present) = (Vec::new(), Vec::new());
    for step in order {
        match &steps[*step].op {
            Step::First(number, _) => present.push(OpId(*number)),
            Step::Only(number, _) => {
                present.push(OpId(*number));
                groups.push(std::mem::take(&mut present));
            }
            Step::Second(number) if present.contains(&OpId(*number)) => groups.push(std::mem::take(&mut present)),
            Step::Second(_) => {}
        }
    }
    groups
}

impl<S: SyncSpec + ?Sized> Spec for TwoStep<'_, S> {
    type Op = Step<S::Op>;
    type Ret = Option<S::Ret>;
    type State = State<S>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> Self::State {
        TwoStepState { state: self.spec.initial(), present: Vec::new(), results: BTreeMap::new() }
    }

    fn step(
        &self,
        state: &Self::State,
        step: &Step<S::Op>,
        _: Option<&Option<S::Ret>>,
    ) -> Outcomes<Option<S::Ret>, Self::State> {
        match step {
            Step::First(number, op) => self.come(state, *number, op).into_iter().map(|next| (None, next)).collect(),
            Step::Only(number, op) => {
                self.come(state, *number, op).map_or_else(Outcomes::new, |next| self.synchronize(&next, *number))
            }
            Step::Second(number) if state.present.iter().any(|(present, _)| present == number) => {
                self.synchronize(state, *number)
            }
            // A result can be fetched only while no execution has arrived for the next
            // synchronization.
            Step::Second(number) if state.present.is_empty() => {
                let mut next = state.clone();
                let fetched = next.results.remove(number);
                fetched.into_iter().map(|result| (Some(result), next.clone())).collect()
            }
            Step::Second(_) => Outcomes::new(),
        }
    }
}

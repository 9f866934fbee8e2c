//! Two-step linearisation: synchronisations as operations of an object that is linearizable.
//!
//! Lawrence & Lowe, section 4. An execution takes effect in two steps: in the first it comes, in the second it has its
//! result. Those that synchronise come one behind the other, without anything in between; the first of their second steps
//! makes the synchronisation, and the others fetch their results whenever they like. A history is
//! synchronisation-linearisable exactly if the history of steps is linearizable (proposition 14, and section 4.4 for the
//! general case); so any checker for linearizability judges it. It says nothing about progress.
//!
//! Both steps of an execution may come anywhere in it. In a log as the paper makes it while the object runs (section 6),
//! the second step comes behind the return; that is the same if the number of those who synchronise does not depend on when
//! they come, and a false alarm if it does.

use std::collections::BTreeMap;

use super::numbered::{ByNumber, Numbered};
use crate::history::{EventKind, History, OpId, Outcome};
use crate::judge::explain::open_at_return;
use crate::judge::{Config, check as check_linearizable};
use crate::spec::sync::SyncSpec;
use crate::spec::{Outcomes, Spec};
use crate::verdict::{Evidence, Judgement, Synchronisations, Verdict, Witness, sizes};

/// A step of an execution, which is named by its number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step<Op> {
    /// It comes.
    First(u32, Op),
    /// It has its result.
    Second(u32),
    /// Both in one: it is the last to come, and takes its result.
    Only(u32, Op),
}

/// How far the synchronisations are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TwoStepState<State, Op, Ret> {
    state: State,
    /// Who has come for the next synchronisation.
    present: Vec<(u32, Op)>,
    /// Results that wait to be fetched.
    results: BTreeMap<u32, Ret>,
}

type State<S> = TwoStepState<<S as SyncSpec>::State, <S as SyncSpec>::Op, <S as SyncSpec>::Ret>;
type Steps<S> = History<Step<<S as SyncSpec>::Op>, Option<<S as SyncSpec>::Ret>>;

/// The two-step linearisation specification of a synchronisation specification.
#[derive(Clone, Copy, Debug)]
pub struct TwoStep<'s, S: ?Sized> {
    spec: &'s S,
    /// Whether executions behind the first place take one step only.
    is_binary: bool,
}

impl<'s, S: SyncSpec + ?Sized> TwoStep<'s, S> {
    /// The general construction (section 4.4).
    pub fn new(spec: &'s S) -> Self {
        Self { spec, is_binary: false }
    }

    /// The construction for two that come at different places (section 4.1): only the first of them takes two steps.
    pub fn binary(spec: &'s S) -> Self {
        Self { spec, is_binary: true }
    }

    /// The history of steps: both in the interval of their execution, or, if it is `delayed`, the second at its return.
    ///
    /// What optional executions return, if they take effect, is not in it: [`check`](Self::check) sees to that.
    ///
    /// # Errors
    /// If it is delayed and the number of those who synchronise is not always the same: then it may matter when an execution
    /// returned, and that is not in the log.
    ///
    /// # Panics
    /// Never: the steps are well formed if the history is.
    pub fn history(&self, history: &History<S::Op, S::Ret>, is_delayed: bool) -> Result<Steps<S>, &'static str> {
        if is_delayed && self.spec.arities(&self.spec.initial()).len() != 1 {
            return Err(
                "how many synchronise depends on when they come, which a second step that is logged late does not tell",
            );
        }
        let mut builder = History::builder();
        for event in history.events() {
            let operation = &history[event.op()];
            let number = event.op().0;
            // Each step has a process of its own: both steps overlap, and a process may have called again after an execution
            // that never returned. The order in time is all that the order of a process says.
            let [one, other] = [2 * number, 2 * number + 1];
            let takes_one = self.is_binary && self.spec.place(&operation.op) > 0;
            let result = || match &operation.outcome {
                Outcome::Returned(result) => Some(result.clone()),
                Outcome::Pending | Outcome::Optional(_) => unreachable!("it has a return event"),
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
            added.expect("the steps are well formed, as the history is");
        }
        Ok(builder.finish())
    }

    /// Judges a history by its steps, with any algorithm for linearizability.
    ///
    /// The place of a rejection is that of the steps: not always the first return that nothing explains.
    ///
    /// ```
    /// use trueline::history::History;
    /// use trueline::judge::Config;
    /// use trueline::judge::sync::TwoStep;
    /// use trueline::spec::sync::{Channel, ChannelOp, ChannelRet};
    ///
    /// // Sent before anybody received.
    /// let mut builder = History::builder();
    /// builder.call(0, ChannelOp::Send(3))?;
    /// builder.ret(0, ChannelRet::Done)?;
    /// builder.call(1, ChannelOp::Receive)?;
    /// builder.ret(1, ChannelRet::Value(3))?;
    /// let channel = Channel::new();
    /// let judgement = TwoStep::binary(&channel).check(&builder.finish(), &Config::new());
    /// assert!(judgement.verdict.is_rejected());
    /// # Ok::<(), trueline::history::HistoryError>(())
    /// ```
    ///
    /// # Panics
    /// If the specification contradicts itself.
    pub fn check(&self, history: &History<S::Op, S::Ret>, config: &Config) -> Judgement<S::Ret> {
        let (numbered, history) = Numbered::new(self.spec, history);
        let spec: &dyn ByNumber = &numbered;
        check_numbered(&TwoStep { spec, is_binary: self.is_binary }, &history, config)
            .map(|result| numbered.result(*result))
    }

    fn ops(present: &[(u32, S::Op)]) -> Vec<&S::Op> {
        present.iter().map(|(_, op)| op).collect()
    }

    /// What comes of it if those who are present synchronise, and `number` takes its result at once.
    fn synchronise(&self, state: &State<S>, number: u32) -> Outcomes<Option<S::Ret>, State<S>> {
        let TwoStepState { state: before, present, results } = state;
        if !self.spec.arities(before).contains(&present.len()) {
            return Outcomes::new();
        }
        let outcomes = self.spec.synchronise(before, &Self::ops(present)).into_iter();
        outcomes
            .map(|(state, of_present)| {
                let mut results = results.clone();
                results.extend(present.iter().map(|(number, _)| *number).zip(of_present));
                let result = results.remove(&number);
                (result, TwoStepState { state, present: Vec::new(), results })
            })
            .collect()
    }

    /// The state in which one more is present, if it may be.
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

/// Judges a history in numbers by its steps.
fn check_numbered(
    two_step: &TwoStep<'_, dyn ByNumber + '_>,
    history: &History<u32, u32>,
    config: &Config,
) -> Judgement<u32> {
    let steps = two_step.history(history, false).expect("only delayed steps are refused");
    let Judgement { verdict, stats } = check_linearizable(two_step, &steps, config);
    let execution = |step: OpId| match &steps[step].op {
        Step::First(number, _) | Step::Second(number) | Step::Only(number, _) => OpId(*number),
    };
    let verdict = match verdict {
        Verdict::Accepted(Witness { order, .. }) => {
            Verdict::Accepted(Witness::in_groups(&synchronisations(&steps, &order)))
        }
        Verdict::Unknown(limit) => Verdict::Unknown(limit),
        Verdict::Rejected(Evidence { prefix, refused, allowed, .. }) => {
            let refused = execution(refused);
            let groups = synchronisations(&steps, &prefix);
            Verdict::Rejected(Evidence {
                prefix: groups.concat(),
                together: sizes(&groups),
                refused,
                event: history[refused].return_position().expect("what is refused has returned"),
                open: open_at_return(history, history.events(), refused),
                allowed: allowed.into_iter().flatten().collect(),
                // Others may be allowed if steps before are taken in another way.
                all_allowed: false,
                is_first: false,
                conflict: Vec::new(),
                quasi: None,
            })
        }
    };
    Judgement { verdict, stats }
}

/// The synchronisations that some steps make, in their order.
fn synchronisations<Op, Ret>(steps: &History<Step<Op>, Ret>, order: &[OpId]) -> Synchronisations {
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
                self.come(state, *number, op).map_or_else(Outcomes::new, |next| self.synchronise(&next, *number))
            }
            Step::Second(number) if state.present.iter().any(|(present, _)| present == number) => {
                self.synchronise(state, *number)
            }
            // Nobody else may be in between those who come together.
            Step::Second(number) if state.present.is_empty() => {
                let mut next = state.clone();
                let fetched = next.results.remove(number);
                fetched.into_iter().map(|result| (Some(result), next.clone())).collect()
            }
            Step::Second(_) => Outcomes::new(),
        }
    }
}

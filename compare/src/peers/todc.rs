//! todc-utils: Wing and Gong's search with Lowe's memoization.

use std::marker::PhantomData;

use todc_utils::{Action, History as Input, Specification, WGLChecker};
use trueline::history::{EventKind, History};

use super::{Peer, events_with_all_returns};
use crate::objects::Object;

#[derive(Clone, Debug)]
pub(crate) struct Todc;

#[derive(Debug)]
pub(crate) struct Adapter<O> {
    of: PhantomData<O>,
}

impl<O: Object> Specification for Adapter<O> {
    type State = O::State;
    type Operation = (O::Op, Option<O::Ret>);

    fn init() -> O::State {
        O::initial()
    }

    fn apply((op, ret): &Self::Operation, state: &O::State) -> (bool, O::State) {
        match O::step(state, op, ret.as_ref()) {
            Some(next) => (true, next),
            None => (false, state.clone()),
        }
    }
}

impl<O: Object> Peer<O> for Todc {
    type Input = Input<(O::Op, Option<O::Ret>)>;

    fn translate(history: &History<O::Op, O::Ret>) -> Self::Input {
        let actions = events_with_all_returns(history).map(|(kind, id)| {
            let operation = &history[id];
            let action = match kind {
                EventKind::Call => Action::Call((operation.op.clone(), None)),
                EventKind::Return => Action::Response((operation.op.clone(), operation.outcome.result().cloned())),
            };
            (operation.process.0 as usize, action)
        });
        Input::from_actions(actions.collect())
    }

    fn judge(input: Self::Input) -> bool {
        WGLChecker::<Adapter<O>>::is_linearizable(input)
    }
}

//! porcupine-rs: Porcupine's algorithm in Rust.
//!
//! `check_events` panics on a call without a return, so this module passes whole operations.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use porcupine_rs::{Model, Operation, check_operations};
use trueline::history::{EventKind, History};

use super::{Peer, events_with_all_returns};
use crate::objects::Object;

/// porcupine-rs on one thread.
#[derive(Clone, Debug)]
pub(crate) struct Porcupine;

/// porcupine-rs, which splits the history and judges each part on a separate thread.
#[derive(Clone, Debug)]
pub(crate) struct PorcupineThreads;

#[derive(Clone, Debug)]
pub(crate) struct Adapter<O, How> {
    of: PhantomData<fn() -> (O, How)>,
}

/// A version of the checker. `SPLITS` states whether porcupine-rs itself splits the history by key.
pub(crate) trait Splitting: Clone {
    const SPLITS: bool;
}

impl Splitting for Porcupine {
    const SPLITS: bool = false;
}

impl Splitting for PorcupineThreads {
    const SPLITS: bool = true;
}

impl<O: Object, How: Splitting> Model for Adapter<O, How> {
    type State = O::State;
    type Op = (O::Op, Option<O::Ret>);
    type Metadata = ();

    fn partition_operations(history: &[Operation<Self>]) -> Vec<Vec<Operation<Self>>> {
        if !How::SPLITS {
            return vec![history.to_vec()];
        }
        let mut parts: BTreeMap<_, Vec<Operation<Self>>> = BTreeMap::new();
        for operation in history {
            parts.entry(O::key(&operation.op.0)).or_default().push(operation.clone());
        }
        parts.into_values().collect()
    }

    fn init() -> O::State {
        O::initial()
    }

    fn step(state: &O::State, (op, ret): &Self::Op) -> (bool, O::State) {
        match O::step(state, op, ret.as_ref()) {
            Some(next) => (true, next),
            // If the returned `bool` is `false`, porcupine-rs ignores the returned state. Therefore
            // return the initial state, which is cheaper to create than a copy of `state`.
            None => (false, O::initial()),
        }
    }
}

impl<O: Object, How: Splitting> Peer<O> for How {
    type Input = Vec<Operation<Adapter<O, How>>>;

    fn translate(history: &History<O::Op, O::Ret>) -> Self::Input {
        let mut operations: Vec<Operation<_>> = history
            .operations()
            .iter()
            .map(|operation| Operation {
                client_id: Some(operation.process.0),
                call_time: 0,
                return_time: 0,
                op: (operation.op.clone(), operation.outcome.result().cloned()),
                metadata: None,
            })
            .collect();
        for (time, (kind, id)) in (0..).zip(events_with_all_returns(history)) {
            match kind {
                EventKind::Call => operations[id.index()].call_time = time,
                EventKind::Return => operations[id.index()].return_time = time,
            }
        }
        operations
    }

    fn judge(input: Self::Input) -> bool {
        check_operations(&input)
    }
}

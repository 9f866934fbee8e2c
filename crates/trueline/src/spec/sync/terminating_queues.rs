//! Queues of several workers that terminate when all workers are waiting.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::{SyncSpec, Synchronized, TerminatingQueueRet};
use crate::spec::persistent::Chain;

/// An operation of [`TerminatingQueues`], with the number of the worker that calls it, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TerminatingQueuesOp<V> {
    /// Adds a value at the end of the worker's own queue.
    Enqueue(u32, V),
    /// Takes the first value of the worker's own queue, or of any other queue if the worker's own
    /// queue is empty; waits if all queues are empty.
    Dequeue(u32),
}

/// A queue for each worker. A worker whose own queue is empty takes a value from any other queue, which is chosen
/// nondeterministically. When all workers are waiting, all their dequeues return without a value.
#[derive(Clone, Copy, Debug)]
pub struct TerminatingQueues<V> {
    workers: usize,
    values: PhantomData<fn(V)>,
}

impl<V> TerminatingQueues<V> {
    /// Creates empty queues for this many workers.
    pub fn new(workers: usize) -> Self {
        Self { workers, values: PhantomData }
    }
}

fn is_empty<V>(queues: &[Chain<V>]) -> bool {
    queues.iter().all(Chain::is_empty)
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> SyncSpec for TerminatingQueues<V> {
    type Op = TerminatingQueuesOp<V>;
    type Ret = TerminatingQueueRet<V>;
    /// The queues; `None` after all workers have waited at the same time.
    type State = Option<Vec<Chain<V>>>;

    fn initial(&self) -> Self::State {
        Some(vec![Chain::default(); self.workers])
    }

    fn arities(&self, state: &Self::State) -> Vec<usize> {
        let all_may_wait = state.as_deref().is_some_and(is_empty) && self.workers > 1;
        if all_may_wait { vec![1, self.workers] } else { vec![1] }
    }

    fn extends(&self, state: &Self::State, ops: &[&Self::Op]) -> bool {
        state.as_deref().is_some_and(is_empty) && ops.iter().all(|op| matches!(op, TerminatingQueuesOp::Dequeue(_)))
    }

    fn synchronize(&self, state: &Self::State, ops: &[&Self::Op]) -> Synchronized<Self::State, Self::Ret> {
        let nothing = || TerminatingQueueRet::Value(None);
        match (state, ops) {
            (None, [TerminatingQueuesOp::Enqueue(..)]) => vec![(None, vec![TerminatingQueueRet::Done])],
            (None, [TerminatingQueuesOp::Dequeue(_)]) => vec![(None, vec![nothing()])],
            (Some(queues), [TerminatingQueuesOp::Enqueue(me, value)]) => {
                let mut queues = queues.clone();
                let Some(own) = queues.get_mut(*me as usize) else { return Vec::new() };
                *own = own.push_newest(value.clone());
                vec![(Some(queues), vec![TerminatingQueueRet::Done])]
            }
            (Some(queues), ops) if is_empty(queues) => {
                let all_wait = ops.len() == self.workers && self.extends(state, ops);
                if all_wait { vec![(None, vec![nothing(); self.workers])] } else { Vec::new() }
            }
            (Some(queues), [TerminatingQueuesOp::Dequeue(me)]) => {
                let me = *me as usize;
                let has_own = queues.get(me).is_some_and(|own| !own.is_empty());
                let may_take = |from: &usize| !has_own || *from == me;
                let take = |from: usize| {
                    let (value, rest) = queues[from].drop_oldest()?;
                    let mut queues = queues.clone();
                    let taken = TerminatingQueueRet::Value(Some(value.clone()));
                    queues[from] = rest;
                    Some((Some(queues), vec![taken]))
                };
                (0..queues.len()).filter(may_take).filter_map(take).collect()
            }
            _ => Vec::new(),
        }
    }
}

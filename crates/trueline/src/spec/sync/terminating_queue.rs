//! Queues that terminate when all workers are waiting.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::{SyncSpec, Synchronized};
use crate::spec::persistent::Chain;

/// An operation of a [`TerminatingQueue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TerminatingQueueOp<V> {
    /// Adds a value at the end.
    Enqueue(V),
    /// Takes the first value; waits if the queue is empty.
    Dequeue,
}

/// The result of an operation of a [`TerminatingQueue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TerminatingQueueRet<V> {
    /// The value was added.
    Done,
    /// The value that was taken; `None` if all workers were waiting.
    Value(Option<V>),
}

/// A queue whose dequeues wait for an element. When all workers are waiting, all their dequeues
/// return without an element.
#[derive(Clone, Copy, Debug)]
pub struct TerminatingQueue<V> {
    workers: usize,
    values: PhantomData<fn(V)>,
}

impl<V> TerminatingQueue<V> {
    /// Creates an empty queue that this many workers use.
    pub fn new(workers: usize) -> Self {
        Self { workers, values: PhantomData }
    }
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> SyncSpec for TerminatingQueue<V> {
    type Op = TerminatingQueueOp<V>;
    type Ret = TerminatingQueueRet<V>;
    /// The elements; `None` after all workers have waited at the same time.
    type State = Option<Chain<V>>;

    fn initial(&self) -> Option<Chain<V>> {
        Some(Chain::default())
    }

    fn arities(&self, queue: &Option<Chain<V>>) -> Vec<usize> {
        let is_empty = queue.as_ref().is_some_and(Chain::is_empty);
        if is_empty && self.workers > 1 { vec![1, self.workers] } else { vec![1] }
    }

    fn extends(&self, queue: &Option<Chain<V>>, ops: &[&TerminatingQueueOp<V>]) -> bool {
        queue.as_ref().is_some_and(Chain::is_empty) && ops.iter().all(|op| matches!(op, TerminatingQueueOp::Dequeue))
    }

    fn synchronize(&self, queue: &Self::State, ops: &[&Self::Op]) -> Synchronized<Self::State, Self::Ret> {
        let nothing = || TerminatingQueueRet::Value(None);
        match (queue, ops) {
            (Some(queue), [TerminatingQueueOp::Enqueue(value)]) => {
                vec![(Some(queue.push_newest(value.clone())), vec![TerminatingQueueRet::Done])]
            }
            (None, [TerminatingQueueOp::Enqueue(_)]) => vec![(None, vec![TerminatingQueueRet::Done])],
            (None, [TerminatingQueueOp::Dequeue]) => vec![(None, vec![nothing()])],
            (Some(queue), ops) if queue.is_empty() => {
                let all_wait = ops.len() == self.workers && self.extends(&Some(queue.clone()), ops);
                if all_wait { vec![(None, vec![nothing(); self.workers])] } else { Vec::new() }
            }
            (Some(queue), [TerminatingQueueOp::Dequeue]) => match queue.drop_oldest() {
                Some((value, rest)) => vec![(Some(rest), vec![TerminatingQueueRet::Value(Some(value.clone()))])],
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}

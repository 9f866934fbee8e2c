//! The first phase of Round-Up: all serial histories of a program, as a list.
//!
//! Only the reproduction of the paper's experiments needs this module, so it is available only with
//! the feature `papers`.

use std::hash::Hash;

use hashbrown::HashSet;

use super::super::search::hash;
use super::semantics::SerialHistories;
use crate::spec::Spec;

/// An explicit list of serial histories, which are compared one by one: the first phase of Round-Up.
///
/// ```
/// use trueline::judge::quasi::{SerialHistories, SerialList};
/// use trueline::spec::{Queue, QueueOp, QueueRet};
///
/// // Figure 2 of the paper: 1 and 2 are put in; one thread puts in 3, another puts in 4 and takes one out;
/// // then three are taken out.
/// let before = [QueueOp::Enqueue(1), QueueOp::Enqueue(2)];
/// let threads = [vec![QueueOp::Enqueue(3)], vec![QueueOp::Enqueue(4), QueueOp::Dequeue]];
/// let after = [QueueOp::Dequeue, QueueOp::Dequeue, QueueOp::Dequeue];
/// let list = SerialList::of_program(&Queue::new(), &before, &threads, &after);
/// assert_eq!(list.len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SerialList<Op, Ret> {
    histories: Vec<Vec<(Op, Ret)>>,
}

impl<Op: Clone + Eq + Hash, Ret: Clone + Eq + Hash> SerialList<Op, Ret> {
    /// Returns a list of the given histories.
    pub fn new(histories: Vec<Vec<(Op, Ret)>>) -> Self {
        Self { histories }
    }

    /// Returns all serial histories of a program that runs on the object of `spec`: first `before`,
    /// then the calls of `threads`, one at a time, and finally `after`.
    pub fn of_program<S: Spec<Op = Op, Ret = Ret>>(spec: &S, before: &[Op], threads: &[Vec<Op>], after: &[Op]) -> Self {
        let mut program = Program {
            spec,
            before,
            threads,
            after,
            done: vec![0; threads.len()],
            sequence: Vec::new(),
            found: Vec::new(),
        };
        program.go_on(0, &spec.initial());
        Self { histories: program.found }
    }

    /// Removes duplicates: the first optimization of the paper.
    #[must_use]
    pub fn without_duplicates(mut self) -> Self {
        let mut known = HashSet::<Vec<(Op, Ret)>, hash::Builder>::default();
        self.histories.retain(|history| known.insert(history.clone()));
        self
    }

    /// Returns the number of serial histories.
    pub fn len(&self) -> usize {
        self.histories.len()
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.histories.is_empty()
    }
}

impl<Op: Clone + Eq + Hash + Sync, Ret: Clone + Eq + Hash + Sync> SerialHistories<Op, Ret> for SerialList<Op, Ret> {
    fn contains(&self, sequence: &[(&Op, &Ret)]) -> bool {
        self.histories.iter().any(|history| history.len() == sequence.len() && begins(history, sequence))
    }

    fn may_begin(&self, sequence: &[(&Op, &Ret)]) -> bool {
        self.histories.iter().any(|history| begins(history, sequence))
    }
}

fn begins<Op: Eq, Ret: Eq>(history: &[(Op, Ret)], sequence: &[(&Op, &Ret)]) -> bool {
    history.len() >= sequence.len() && history.iter().zip(sequence).all(|((op, ret), other)| (op, ret) == *other)
}

/// A program whose calls are made one at a time, in every possible order.
struct Program<'p, S: Spec> {
    spec: &'p S,
    before: &'p [S::Op],
    threads: &'p [Vec<S::Op>],
    after: &'p [S::Op],
    /// The number of calls that each thread has made.
    done: Vec<usize>,
    sequence: Vec<(S::Op, S::Ret)>,
    found: Vec<Vec<(S::Op, S::Ret)>>,
}

impl<S: Spec> Program<'_, S> {
    fn go_on(&mut self, made: usize, state: &S::State) {
        let in_threads: usize = self.threads.iter().map(Vec::len).sum();
        if let Some(op) = self.before.get(made) {
            return self.call(op.clone(), made, state);
        }
        if made < self.before.len() + in_threads {
            for thread in 0..self.threads.len() {
                if let Some(op) = self.threads[thread].get(self.done[thread]) {
                    self.done[thread] += 1;
                    self.call(op.clone(), made, state);
                    self.done[thread] -= 1;
                }
            }
            return;
        }
        match self.after.get(made - self.before.len() - in_threads) {
            Some(op) => self.call(op.clone(), made, state),
            None => self.found.push(self.sequence.clone()),
        }
    }

    fn call(&mut self, op: S::Op, made: usize, state: &S::State) {
        for (result, next) in self.spec.step(state, &op, None) {
            self.sequence.push((op.clone(), result));
            self.go_on(made + 1, &next);
            self.sequence.pop();
        }
    }
}

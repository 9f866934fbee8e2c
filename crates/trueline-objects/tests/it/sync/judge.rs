//! What a history of synchronisations is, and whether it is right, by trying all.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use trueline::primitives::point;

/// A call that has returned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Done<O> {
    pub(crate) called: usize,
    pub(crate) returned: usize,
    /// What was called, and what it returned.
    pub(crate) operation: O,
}

/// Writes down calls and returns in the order in which they happen.
pub(crate) struct Recorder<O> {
    clock: AtomicUsize,
    done: Mutex<Vec<Done<O>>>,
}

impl<O: Clone> Recorder<O> {
    pub(crate) fn new() -> Self {
        Self { clock: AtomicUsize::new(0), done: Mutex::default() }
    }

    pub(crate) fn record(&self, call: impl FnOnce() -> O) {
        let tick = || self.clock.fetch_add(1, Ordering::SeqCst);
        let called = tick();
        point();
        let operation = call();
        point();
        let done = Done { called, returned: tick(), operation };
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(done);
    }

    pub(crate) fn history(&self) -> Vec<Done<O>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Whether a history is made of synchronisations of at most `most` calls each, one after another, each within all its
/// calls. `step` gives the state after one, if it is right; its operations are in their order.
pub(crate) fn synchronises<S: Clone + Eq + Hash, O: Clone + Ord>(
    history: &[Done<O>],
    start: S,
    most: usize,
    step: impl Fn(&S, &[O]) -> Option<S>,
) -> bool {
    assert!(history.len() < 32, "a set of calls is a word");
    let mut seen = HashSet::new();
    let mut todo = vec![((1_u32 << history.len()) - 1, start)];
    while let Some((left, state)) = todo.pop() {
        if left == 0 {
            return true;
        }
        if !seen.insert((left, state.clone())) {
            continue;
        }
        let is_left = |number: &usize| left >> number & 1 == 1;
        let numbers = || (0..history.len()).filter(is_left);
        let first_return = numbers().map(|number| history[number].returned).min().expect("some are left");
        let enabled: Vec<usize> = numbers().filter(|number| history[*number].called < first_return).collect();
        for subset in 1_u32..1 << enabled.len() {
            if subset.count_ones() as usize > most {
                continue;
            }
            let members = (0..enabled.len()).filter(|at| subset >> at & 1 == 1).map(|at| enabled[at]);
            let mut operations: Vec<O> = members.clone().map(|number| history[number].operation.clone()).collect();
            operations.sort();
            if let Some(after) = step(&state, &operations) {
                todo.push((members.fold(left, |left, number| left & !(1 << number)), after));
            }
        }
    }
    false
}

#[test]
fn calls_that_do_not_overlap_do_not_synchronise() {
    let exchange = |operations: &[(u64, u64)]| match *operations {
        [(x, to_x), (y, to_y)] => (to_x == y && to_y == x).then_some(()),
        _ => None,
    };
    let judge = |history: &[Done<(u64, u64)>]| synchronises(history, (), 2, |(), operations| exchange(operations));
    let done = |called, returned, operation| Done { called, returned, operation };
    assert!(judge(&[done(0, 2, (5, 6)), done(1, 3, (6, 5))]));
    assert!(!judge(&[done(0, 1, (5, 6)), done(2, 3, (6, 5))]));
    assert!(!judge(&[done(0, 2, (5, 6)), done(1, 3, (6, 6))]));
    assert!(!judge(&[done(0, 2, (5, 6))]));
    // Both overlap with the third, and not with each other.
    assert!(!judge(&[done(0, 1, (5, 6)), done(2, 4, (6, 5)), done(0, 5, (7, 8)), done(3, 6, (8, 7))]));
    assert!(judge(&[done(0, 3, (5, 6)), done(2, 4, (6, 5)), done(0, 6, (7, 8)), done(5, 7, (8, 7))]));
}

//! A world in which threads yield at random.

use std::cell::Cell;

use crate::random::{Choices, mix};
use crate::world::{Access, World, relax};

/// A world in which a thread yields at one in N schedule points, at random, and one in N waits on a
/// [`Condvar`](crate::primitives::Condvar) ends immediately, without a notification.
///
/// A race that requires a thread to stop in a window of a few instructions takes minutes to occur on an idle machine,
/// and milliseconds in this world. The operating system still schedules the threads: the seed determines where a thread
/// yields, and its random choices, but not which thread runs next.
///
/// ```
/// use std::rc::Rc;
/// use trueline_sync::primitives::{AtomicU64, Chaos, Ordering, enter};
///
/// let counter = AtomicU64::new(0);
/// std::thread::scope(|scope| {
///     for thread in 0..2 {
///         let counter = &counter;
///         scope.spawn(move || {
///             let _inside = enter(Rc::new(Chaos::new(64, 7, thread)));
///             counter.fetch_add(1, Ordering::SeqCst);
///         });
///     }
/// });
/// assert_eq!(counter.into_inner(), 2);
/// ```
#[derive(Debug)]
pub struct Chaos {
    one_in: usize,
    choices: Choices,
    /// Whether the last wait ended early. If it did, the next wait does not end early, so a thread that checks its
    /// condition and waits again really sleeps. Without this rule, repeated early wake-ups would hide that no other
    /// thread notifies this thread.
    woke_early: Cell<bool>,
}

impl Chaos {
    /// Creates the world of one thread. The thread yields at one in `one_in` schedule points, and wakes early from one
    /// in `one_in` waits, but never from two in a row; if `one_in` is 0, it does neither. All randomness depends on
    /// `seed` and `thread`.
    pub fn new(one_in: u32, seed: u64, thread: u32) -> Self {
        let choices = Choices::new(mix(mix(seed) ^ u64::from(thread)));
        Self { one_in: one_in as usize, choices, woke_early: Cell::new(false) }
    }

    /// Returns true at random, on average in one of `one_in` calls. If `one_in` is 0, always
    /// returns false.
    fn now(&self) -> bool {
        self.one_in != 0 && self.choices.below(self.one_in) == 0
    }
}

impl World for Chaos {
    fn point(&self, _access: Access) {
        if self.now() {
            std::thread::yield_now();
        }
    }

    fn choose(&self, bound: usize) -> usize {
        self.choices.below(bound)
    }

    fn spin(&self) {
        relax();
    }

    fn wakes_early(&self) -> bool {
        let early = !self.woke_early.get() && self.now();
        self.woke_early.set(early);
        early
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::primitives::{choose, enter};

    #[test]
    fn choices_come_from_the_seed_and_the_thread() {
        let draw = |seed, thread| {
            let _inside = enter(Rc::new(Chaos::new(64, seed, thread)));
            (0..8).map(|_| choose(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
        assert_ne!(draw(1, 0), draw(2, 0));
    }
}

//! Two families.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, section 9. Threads of one family synchronise
//! with threads of the other, each with each once, and are told who it is. A thread calls as often as the other family
//! has members, at most: then it has met all of them, and waits for ever.
//!
//! Who finds a member of the other family waiting that it has not met wakes it; who finds none waits.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::LateRead`] | who is woken reads by whom when others may go on, who overwrite that | `sync_a(0)` waits; `sync_b(0)` → 0; `sync_a(1)` waits; `sync_b(1)` → 1; `sync_a(0)` → 1 |

use super::pairs::{self, Pairs};

/// What is wrong with an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Reads the partner's name when others may have overwritten it.
    LateRead,
}

/// Where they meet.
///
/// ```
/// use trueline_objects::sync::two_families::TwoFamilies;
///
/// let families = TwoFamilies::new(1, 2);
/// std::thread::scope(|scope| {
///     scope.spawn(|| families.sync_b(0));
///     scope.spawn(|| families.sync_b(1));
///     let (first, second) = (families.sync_a(0), families.sync_a(0));
///     assert_eq!(first + second, 1);
/// });
/// ```
#[derive(Debug)]
pub struct TwoFamilies {
    /// Those of the first family, and then those of the second.
    pairs: Pairs,
    first: usize,
    both: usize,
}

impl TwoFamilies {
    /// For families of so many threads, that have not met.
    pub fn new(first: usize, second: usize) -> Self {
        Self::faulty(first, second, None)
    }

    /// One that is wrong.
    pub fn faulty(first: usize, second: usize, fault: impl Into<Option<Fault>>) -> Self {
        let fault = fault.into().map(|Fault::LateRead| pairs::Fault::LateRead);
        Self { pairs: Pairs::new(first + second, fault), first, both: first + second }
    }

    /// Waits for a thread of the second family that this one of the first has not met, and returns its number.
    ///
    /// # Panics
    /// If there is no such thread in the first family.
    pub fn sync_a(&self, me: usize) -> usize {
        assert!(me < self.first, "the first family has {} members", self.first);
        self.number(self.pairs.sync(me, self.first..self.both))
    }

    /// Waits for a thread of the first family that this one of the second has not met, and returns its number.
    ///
    /// # Panics
    /// If there is no such thread in the second family.
    pub fn sync_b(&self, me: usize) -> usize {
        assert!(me < self.both - self.first, "the second family has {} members", self.both - self.first);
        self.number(self.pairs.sync(self.first + me, 0..self.first))
    }

    /// The number of a thread in its family, which is the wrong one if there is a fault.
    fn number(&self, thread: usize) -> usize {
        thread.checked_sub(self.first).unwrap_or(thread)
    }
}

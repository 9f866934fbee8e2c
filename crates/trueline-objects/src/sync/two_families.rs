//! Two families whose members meet.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, section 9. Each thread of
//! one family synchronizes once with each thread of the other family. Each of the two threads
//! receives the number of its partner. A thread should make at most one call for each member of the
//! other family: after it has met all of them, a further call waits forever.
//!
//! A thread searches for a waiting member of the other family that it has not met. If it finds one,
//! it wakes this member; otherwise it waits.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::LateRead`] | a thread that is woken reads the number of its partner too late: other threads may already have overwritten it | `sync_a(0)` waits; `sync_b(0)` → 0; `sync_a(1)` waits; `sync_b(1)` → 1; `sync_a(0)` → 1 |

use super::pairs::{self, Pairs};

/// A fault of the object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A thread reads its partner's number too late: other threads may already have overwritten it.
    LateRead,
}

/// The object at which members of two families meet.
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
    /// The members of the first family, followed by those of the second.
    pairs: Pairs,
    first: usize,
    both: usize,
}

impl TwoFamilies {
    /// Creates an object for families of these sizes, whose members have not met.
    pub fn new(first: usize, second: usize) -> Self {
        Self::faulty(first, second, None)
    }

    /// Creates an object with a fault; `None` creates a correct one.
    pub fn faulty(first: usize, second: usize, fault: impl Into<Option<Fault>>) -> Self {
        let fault = fault.into().map(|Fault::LateRead| pairs::Fault::LateRead);
        Self { pairs: Pairs::new(first + second, fault), first, both: first + second }
    }

    /// Waits for a member of the second family that member `me` of the first has not met, and returns its number.
    ///
    /// # Panics
    /// Panics if `me` is not less than the number of members of the first family.
    pub fn sync_a(&self, me: usize) -> usize {
        assert!(me < self.first, "member {me} is out of range: the first family has {} members", self.first);
        self.number(self.pairs.sync(me, self.first..self.both))
    }

    /// Waits for a member of the first family that member `me` of the second has not met, and returns its number.
    ///
    /// # Panics
    /// Panics if `me` is not less than the number of members of the second family.
    pub fn sync_b(&self, me: usize) -> usize {
        assert!(
            me < self.both - self.first,
            "member {me} is out of range: the second family has {} members",
            self.both - self.first
        );
        self.number(self.pairs.sync(self.first + me, 0..self.first))
    }

    /// Returns the number that a thread has within its family. An object with a fault may report a
    /// thread of the wrong family as the partner; this function accepts such a thread.
    fn number(&self, thread: usize) -> usize {
        thread.checked_sub(self.first).unwrap_or(thread)
    }
}

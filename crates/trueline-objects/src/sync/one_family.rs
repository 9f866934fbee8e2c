//! One family whose members meet.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, section 9. Each thread
//! synchronizes once with each other thread, and receives the number of that thread. A thread
//! should make at most one call for each other thread: after it has met all of them, a further call
//! waits forever. A call may wait forever even earlier, if all threads that still make calls have
//! already met this thread.
//!
//! This works like [two families](super::two_families), except that each thread belongs to both
//! families.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::LateRead`] | a thread that is woken reads the number of its partner too late: other threads may already have overwritten it | `sync(0)` waits; `sync(1)` → 0; `sync(3)` waits; `sync(2)` → 3; `sync(0)` → 2 |
//! | [`Fault::EarlyLook`] | a thread that finds no partner lets others search before it announces that it is waiting | `sync(0)` and `sync(1)` do not return |

use super::pairs::Pairs;

pub use super::pairs::Fault;

/// The object at which members of a family meet.
///
/// ```
/// use trueline_objects::sync::one_family::OneFamily;
///
/// let family = OneFamily::new(2);
/// std::thread::scope(|scope| {
///     scope.spawn(|| assert_eq!(family.sync(0), 1));
///     assert_eq!(family.sync(1), 0);
/// });
/// ```
#[derive(Debug)]
pub struct OneFamily {
    pairs: Pairs,
    members: usize,
}

impl OneFamily {
    /// Creates an object for a family of this size, whose members have not met.
    pub fn new(members: usize) -> Self {
        Self::faulty(members, None)
    }

    /// Creates an object with a fault; `None` creates a correct one.
    pub fn faulty(members: usize, fault: impl Into<Option<Fault>>) -> Self {
        Self { pairs: Pairs::new(members, fault.into()), members }
    }

    /// Waits for a thread that thread `me` has not met, and returns the number of that thread.
    ///
    /// # Panics
    /// Panics if `me` is not less than the number of members.
    pub fn sync(&self, me: usize) -> usize {
        assert!(me < self.members, "member {me} is out of range: the family has {} members", self.members);
        // A thread never meets itself, because it is not marked as waiting while it searches.
        self.pairs.sync(me, 0..self.members)
    }
}

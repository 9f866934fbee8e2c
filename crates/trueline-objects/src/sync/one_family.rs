//! One family.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, section 9. Each thread synchronises with each
//! other one once, and is told who it is. A thread calls as often as there are others, at most: then it has met all of
//! them, and waits for ever. Even before, it may wait for ever: of four, two pairs may be left that have met.
//!
//! As [two families](super::two_families), except that all threads are of both.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::LateRead`] | who is woken reads by whom when others may go on, who overwrite that | `sync(0)` waits; `sync(1)` → 0; `sync(3)` waits; `sync(2)` → 3; `sync(0)` → 2 |
//! | [`Fault::EarlyLook`] | who finds nobody waiting lets others look, before it says that it waits | `sync(0)` and `sync(1)` do not return |

use super::pairs::Pairs;

pub use super::pairs::Fault;

/// Where they meet.
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
    /// For a family of so many threads, that have not met.
    pub fn new(members: usize) -> Self {
        Self::faulty(members, None)
    }

    /// One that is wrong.
    pub fn faulty(members: usize, fault: impl Into<Option<Fault>>) -> Self {
        Self { pairs: Pairs::new(members, fault.into()), members }
    }

    /// Waits for a thread that this one has not met, and returns its number.
    ///
    /// # Panics
    /// If there is no such thread in the family.
    pub fn sync(&self, me: usize) -> usize {
        assert!(me < self.members, "the family has {} members", self.members);
        // A thread does not meet itself: it does not wait while it looks.
        self.pairs.sync(me, 0..self.members)
    }
}

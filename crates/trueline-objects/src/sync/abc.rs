//! Synchronization of threads of three kinds.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, section 9. A thread of kind A, one of kind B
//! and one of kind C synchronize; each passes its name, and receives the names of the other two.
//!
//! The threads A, B and C arrive in turn and store their names; then they read the names of the others, again in turn,
//! and the last one makes room for the next three threads.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::LateRead`] | thread A lets the other two threads continue before it has read their names: the next three threads may overwrite the names | `sync_b(1)` → (0, 2), `sync_c(2)` → (0, 1); `sync_a(3)`, `sync_b(4)` and `sync_c(5)` arrive; `sync_a(0)` → (4, 5) |
//! | [`Fault::LostSignal`] | one in fifty signals is lost, at random | no more calls return |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU64, choose};

use super::semaphore::Semaphore;

/// A fault of the object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Thread A reads the names of its partners too late: the next three threads may already have
    /// overwritten them.
    LateRead,
    /// One in fifty signals is lost, at random.
    LostSignal,
}

/// With [`Fault::LostSignal`], one in `SIGNALS` signals is lost.
const SIGNALS: usize = 50;

#[derive(Debug)]
struct Kind {
    name: AtomicU64,
    /// A semaphore that is up while a thread of this kind may store its name.
    clear: Semaphore,
    /// A semaphore that is raised to let the thread of this kind read the names of the other two
    /// threads.
    signal: Semaphore,
}

impl Kind {
    fn new(clear: Semaphore) -> Self {
        Self { name: AtomicU64::new(0), clear, signal: Semaphore::lowered() }
    }
}

/// The object at which threads of three kinds synchronize.
///
/// ```
/// use trueline_objects::sync::abc::Abc;
///
/// let abc = Abc::new();
/// std::thread::scope(|scope| {
///     scope.spawn(|| assert_eq!(abc.sync_a(1), (2, 3)));
///     scope.spawn(|| assert_eq!(abc.sync_b(2), (1, 3)));
///     assert_eq!(abc.sync_c(3), (1, 2));
/// });
/// ```
#[derive(Debug)]
pub struct Abc {
    a: Kind,
    b: Kind,
    c: Kind,
    fault: Option<Fault>,
}

impl Abc {
    /// Creates an object without waiting threads.
    pub fn new() -> Self {
        Self::faulty(None)
    }

    /// Creates an object with a fault; `None` creates a correct one.
    pub fn faulty(fault: impl Into<Option<Fault>>) -> Self {
        let [a, b, c] = [Semaphore::raised(), Semaphore::lowered(), Semaphore::lowered()].map(Kind::new);
        Self { a, b, c, fault: fault.into() }
    }

    /// Called by a thread of kind A: waits for threads of kinds B and C, and returns their names.
    pub fn sync_a(&self, me: u64) -> (u64, u64) {
        let Self { a, b, c, fault } = self;
        self.tell(a, me, &b.clear);
        a.signal.down();
        if *fault == Some(Fault::LateRead) {
            self.up(&b.signal);
            return Self::names(b, c);
        }
        let names = Self::names(b, c);
        self.up(&b.signal);
        names
    }

    /// Called by a thread of kind B: waits for threads of kinds A and C, and returns their names.
    pub fn sync_b(&self, me: u64) -> (u64, u64) {
        let Self { a, b, c, .. } = self;
        self.tell(b, me, &c.clear);
        b.signal.down();
        let names = Self::names(a, c);
        self.up(&c.signal);
        names
    }

    /// Called by a thread of kind C: waits for threads of kinds A and B, and returns their names.
    pub fn sync_c(&self, me: u64) -> (u64, u64) {
        let Self { a, b, c, .. } = self;
        self.tell(c, me, &a.signal);
        c.signal.down();
        let names = Self::names(a, b);
        self.up(&a.clear);
        names
    }

    fn tell(&self, kind: &Kind, me: u64, next: &Semaphore) {
        kind.clear.down();
        kind.name.store(me, SeqCst);
        self.up(next);
    }

    fn names(first: &Kind, second: &Kind) -> (u64, u64) {
        (first.name.load(SeqCst), second.name.load(SeqCst))
    }

    fn up(&self, semaphore: &Semaphore) {
        if self.fault != Some(Fault::LostSignal) || choose(SIGNALS) != 0 {
            semaphore.up();
        }
    }
}

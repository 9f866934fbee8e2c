//! Threads that pair off, each pair once.

use std::ops::Range;

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicBool, AtomicUsize};

use super::semaphore::Semaphore;

/// What is wrong with an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Who is woken passes the baton on before it reads whom it was paired with.
    LateRead,
    /// Who finds nobody lets go of the baton before it says that it waits.
    EarlyLook,
}

/// Threads that wait, and those they have been paired with.
///
/// A semaphore and not a lock gives access to it: who finds a partner wakes it and leaves it the semaphore, as a baton,
/// so that nobody comes between. The accesses to what it protects are no schedule points.
#[derive(Debug)]
pub(super) struct Pairs {
    baton: Semaphore,
    threads: Box<[Thread]>,
    /// Whether two threads have been paired, for each of both in turn.
    paired: Box<[AtomicBool]>,
    /// Who has found a partner last. Accesses are schedule points: with [`Fault::LateRead`] they are a race.
    last: AtomicUsize,
    fault: Option<Fault>,
}

#[derive(Debug)]
struct Thread {
    waits: AtomicBool,
    woken: Semaphore,
}

impl Pairs {
    pub(super) fn new(threads: usize, fault: Option<Fault>) -> Self {
        let thread = || Thread { waits: AtomicBool::new(false), woken: Semaphore::lowered() };
        Self {
            baton: Semaphore::raised(),
            threads: (0..threads).map(|_| thread()).collect(),
            paired: (0..threads * threads).map(|_| AtomicBool::new(false)).collect(),
            last: AtomicUsize::new(0),
            fault,
        }
    }

    /// Waits for one of `others` that this one was not paired with before, and returns who it is.
    pub(super) fn sync(&self, me: usize, others: Range<usize>) -> usize {
        let partner = loop {
            self.baton.down();
            let candidate = others.clone().find(|other| self.waits(*other) && !self.paired(me, *other).load(SeqCst));
            if self.fault != Some(Fault::EarlyLook) {
                break candidate;
            }
            self.baton.up();
            self.baton.down();
            // That it is still there is looked at; that there is still nobody is not.
            if candidate.is_none_or(|other| self.waits(other)) {
                break candidate;
            }
            self.baton.up();
        };
        if let Some(partner) = partner {
            self.paired(me, partner).store(true, SeqCst);
            self.paired(partner, me).store(true, SeqCst);
            self.last.store(me, SeqCst);
            self.threads[partner].woken.up();
            return partner;
        }
        let waits = self.threads[me].waits.unscheduled();
        waits.store(true, SeqCst);
        self.baton.up();
        self.threads[me].woken.down();
        // Now the baton is ours.
        waits.store(false, SeqCst);
        if self.fault == Some(Fault::LateRead) {
            self.baton.up();
            return self.last.load(SeqCst);
        }
        let partner = self.last.load(SeqCst);
        self.baton.up();
        partner
    }

    fn waits(&self, thread: usize) -> bool {
        self.threads[thread].waits.unscheduled().load(SeqCst)
    }

    fn paired(&self, thread: usize, other: usize) -> &std::sync::atomic::AtomicBool {
        self.paired[thread * self.threads.len() + other].unscheduled()
    }
}

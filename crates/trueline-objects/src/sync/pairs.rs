//! Threads that synchronize in pairs, each pair at most once.

use std::ops::Range;

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicBool, AtomicUsize};

use super::semaphore::Semaphore;

/// A fault of the object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A thread that is woken allows other threads to change the state before it has read the
    /// number of its partner.
    LateRead,
    /// A thread that finds no partner allows other threads to search before it announces that it
    /// is waiting.
    EarlyLook,
}

/// Waiting threads, and the pairs that have met.
///
/// A semaphore, the *baton*, protects the state instead of a lock. A thread that finds a partner
/// wakes the partner without raising the semaphore. The partner raises it later, so that no other
/// thread can interfere. Accesses to the protected state are not schedule points.
#[derive(Debug)]
pub(super) struct Pairs {
    baton: Semaphore,
    threads: Box<[Thread]>,
    /// For each pair of threads, whether they have met. The entry of a pair is stored twice, at
    /// `first * threads + second` and at `second * threads + first`.
    paired: Box<[AtomicBool]>,
    /// The last thread that found a waiting partner. Accesses are schedule points, because threads
    /// race for this field in the version with [`Fault::LateRead`].
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

    /// Waits for one of `others` that this thread has not met, and returns its number.
    pub(super) fn sync(&self, me: usize, others: Range<usize>) -> usize {
        let partner = loop {
            self.baton.down();
            let candidate = others.clone().find(|other| self.waits(*other) && !self.paired(me, *other).load(SeqCst));
            if self.fault != Some(Fault::EarlyLook) {
                break candidate;
            }
            self.baton.up();
            self.baton.down();
            // With this fault, other threads may have changed the state since the search. A thread
            // that found a candidate checks that the candidate is still waiting. A thread that found
            // no candidate does not search again, although a candidate may be waiting by now.
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
        // The partner has left the baton lowered, so this thread must raise it.
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

//! Objects with a relaxed order, and the objects that are tested alongside them.
//!
//! These are the objects of L. Zhang, A. Chattopadhyay and C. Wang, *Round-Up: runtime verification of quasi
//! linearizability for concurrent data structures* (2015), tables I and IV, in correct and faulty versions. Values may
//! be removed out of order by at most *K* steps, the *quasi factor*; some of the objects are linearizable nevertheless.
//! Two more objects of the paper are elsewhere in this crate: its `ms-queue` is [`MsQueue`](crate::ms_queue::MsQueue),
//! and its `t-stack` is [`TreiberStack`](crate::treiber_stack::TreiberStack).
//!
//! The objects make random choices by [`choose`](trueline::primitives::choose), so that a scheduler can make the
//! choices. Each object is a [`Collection`], so that the paper's small programs, a list of [calls](Call) for each
//! thread, can run on any of them; [`catalog`] creates objects by name.
//!
//! Objects with a relaxed order are judged by equally relaxed [specifications](trueline::spec). The object in the last
//! row of the table is judged only by quasi linearizability, in programs that remove everything they insert.
//!
//! | name | made by | paper | fault | specification | expected |
//! |---|---|---|---|---|---|
//! | `iqueue` | [`IQueue::new`](iqueue::IQueue::new) | | | `queue` | accepted |
//! | `iqueue-faulty-empty-at-gap` | [`iqueue::Fault::EmptyAtGap`] | Round-Up table I, `IQueue` | a slot that is not filled yet is mistaken for the end | `queue` | rejected |
//! | `herlihy-wing-queue` | [`HerlihyWingQueue`](herlihy_wing_queue::HerlihyWingQueue) | Round-Up table I, `Herlihy/Wing queue` | | `queue` | accepted |
//! | `quasi-queue` | [`QuasiQueue::new`](quasi_queue::QuasiQueue::new) | Round-Up table I, `Quasi Queue` | | `displacement-queue:2` | accepted |
//! | `quasi-queue-faulty-removed-twice` | [`quasi_queue::Fault::RemovedTwice`] | Round-Up table I, `Quasi Queue b2` | the mark is read and set in two steps | `displacement-queue:2` | rejected |
//! | `quasi-queue-faulty-empty-at-gap` | [`quasi_queue::Fault::EmptyAtGap`] | Round-Up table I, `Quasi Queue b3` | one free cell is mistaken for an empty queue | `displacement-queue:2` | rejected |
//! | `quasi-stack` | [`QuasiStack::new`](quasi_stack::QuasiStack::new) | Round-Up table I, `Quasi Stack` | | `stack` | accepted |
//! | `quasi-stack-faulty-empty-on-conflict` | [`quasi_stack::Fault::EmptyOnConflict`] | Round-Up table I, `Quasi Stack b1` | a thread that loses a race reports an empty stack | `stack` | rejected |
//! | `quasi-stack-faulty-too-deep` | [`quasi_stack::Fault::TooDeep`] | Round-Up table I, `Quasi Stack b2` | a pop may take a value too far from the top | `stack` | rejected |
//! | `quasi-priority-queue` | [`QuasiPriorityQueue::new`](quasi_priority_queue::QuasiPriorityQueue::new) | Round-Up table I, `Quasi Priority Queue` | | `k-priority-queue:2` | accepted |
//! | `sl-queue` | [`SlQueue::new`](sl_queue::SlQueue::new) | | | `queue` | accepted |
//! | `sl-queue-faulty-no-lock` | [`sl_queue::Fault::NoLock`] | Round-Up table IV, `sl-queue` | a list for a single thread is used by several threads | `queue` | rejected |
//! | `rd-queue` | [`RdQueue::new`](rd_queue::RdQueue::new) | Round-Up table IV, `rd-queue` | | `displacement-queue:2` | accepted |
//! | `bk-queue` | [`BkQueue::new`](bk_queue::BkQueue::new) | Round-Up table IV, `bk-queue` | | `k-fifo:2` | accepted |
//! | `bk-queue-faulty-no-commit` | [`bk_queue::Fault::NoCommit`] | | a value inserted into a segment that the head has already passed stays there | `k-fifo:2` | rejected |
//! | `ubk-queue` | [`UbkQueue::new`](ubk_queue::UbkQueue::new) | Round-Up table IV, `ubk-queue` | | `k-fifo:2` | accepted |
//! | `ubk-queue-faulty-no-commit` | [`ubk_queue::Fault::NoCommit`] | | a value inserted into a segment that the head has already passed stays there | `k-fifo:2` | rejected |
//! | `k-stack` | [`KStack::new`](k_stack::KStack::new) | | | `k-stack:2` | accepted |
//! | `k-stack-faulty-second-read` | [`k_stack::Fault::SecondRead`] | Round-Up table IV, `k-stack`, and algorithm 3 | a counter is read twice, and a value pushed twice | `k-stack:2` | rejected |
//! | `quasi-queue-faulty-long-segments` | [`quasi_queue::Fault::LongSegments`] | Round-Up table I, `Quasi Queue b1` | a removal may take a value too far from the front | `displacement-queue:2` | rejected |
//! | `quasi-priority-queue-faulty-beyond-window` | [`quasi_priority_queue::Fault::BeyondWindow`] | Round-Up table I, `Quasi Priority Queue b2` | a removal may take a value too far from the front | `k-priority-queue:2` | rejected |
//! | `rd-queue-faulty-sliding-window` | [`rd_queue::Fault::SlidingWindow`] | Round-Up §II | the oldest element may be overtaken forever | `displacement-queue:2` | rejected |
//! | `quasi-priority-queue-faulty-no-window` | [`quasi_priority_queue::Fault::NoWindow`] | Round-Up §II | the smallest element may be overtaken forever | `quasi-priority-queue:2` | rejected |

pub mod catalog;
mod cells;
mod word;

pub mod bk_queue;
pub mod herlihy_wing_queue;
pub mod iqueue;
pub mod k_stack;
pub mod quasi_priority_queue;
pub mod quasi_queue;
pub mod quasi_stack;
pub mod rd_queue;
pub mod sl_queue;
pub mod ubk_queue;

use trueline::primitives::spin_hint;

/// A call of a [`Collection`], for programs that are lists of calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Call {
    /// Inserts a value.
    Insert(u64),
    /// Removes a value.
    Remove,
}

/// The common interface of the objects of this module: values are inserted and removed.
pub trait Collection: Send + Sync {
    /// Inserts a value, which is also its priority in a priority queue. Bounded objects wait for room.
    fn insert(&self, value: u64);

    /// Removes and returns a value. If the object is empty, it returns `None` or waits, depending on the object.
    fn remove(&self) -> Option<u64>;

    /// Makes a call, and returns the removed value, if any.
    fn call(&self, call: Call) -> Option<u64> {
        match call {
            Call::Insert(value) => {
                self.insert(value);
                None
            }
            Call::Remove => self.remove(),
        }
    }
}

macro_rules! collections {
    ($($type:ty: $insert:ident, $remove:ident;)*) => {$(
        impl Collection for $type {
            fn insert(&self, value: u64) {
                self.$insert(value);
            }

            fn remove(&self) -> Option<u64> {
                self.$remove()
            }
        }
    )*};
}

collections! {
    iqueue::IQueue: enqueue, dequeue;
    quasi_queue::QuasiQueue: enqueue, dequeue;
    quasi_stack::QuasiStack: push, pop;
    sl_queue::SlQueue: enqueue, dequeue;
    rd_queue::RdQueue: enqueue, dequeue;
    ubk_queue::UbkQueue: enqueue, dequeue;
    k_stack::KStack: push, pop;
    crate::ms_queue::MsQueue: enqueue, dequeue;
    crate::treiber_stack::TreiberStack: push, pop;
}

impl Collection for herlihy_wing_queue::HerlihyWingQueue {
    fn insert(&self, value: u64) {
        self.enqueue(value);
    }

    fn remove(&self) -> Option<u64> {
        Some(self.dequeue())
    }
}

impl Collection for quasi_priority_queue::QuasiPriorityQueue {
    fn insert(&self, value: u64) {
        self.insert(value, value);
    }

    fn remove(&self) -> Option<u64> {
        self.delete_min()
    }
}

impl Collection for bk_queue::BkQueue {
    fn insert(&self, value: u64) {
        while !self.enqueue(value) {
            spin_hint();
        }
    }

    fn remove(&self) -> Option<u64> {
        self.dequeue()
    }
}

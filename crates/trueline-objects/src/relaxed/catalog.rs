//! The objects of this module by name, each with a test of its correctness. The objects can also be
//! created without a test, to run programs that are given as lists of calls.
//!
//! ```
//! use trueline_objects::relaxed::Call::{Insert, Remove};
//! use trueline_objects::relaxed::catalog;
//!
//! let object = catalog::find("rd-queue").unwrap();
//! let queue = object.make();
//! let results: Vec<_> = [Insert(1), Insert(2), Remove, Remove, Remove].map(|call| queue.call(call)).into();
//! assert_eq!(results[4], None);
//! assert_eq!(object.entry.spec, "displacement-queue:2");
//! ```

use trueline::test::{Plan, Shared, Specified, Test};

use super::Collection;
use super::bk_queue::{self, BkQueue};
use super::herlihy_wing_queue::HerlihyWingQueue;
use super::iqueue::{self, IQueue};
use super::k_stack::{self, KStack};
use super::quasi_priority_queue::{self, QuasiPriorityQueue};
use super::quasi_queue::{self, QuasiQueue};
use super::quasi_stack::{self, QuasiStack};
use super::rd_queue::{self, RdQueue};
use super::sl_queue::{self, SlQueue};
use super::ubk_queue::{self, UbkQueue};
use crate::catalog::{Entry, REJECTED, Settings};

/// The default quasi factor, which is the factor in the paper on Round-Up.
pub const FACTOR: usize = 2;

/// The number of segments in the ring of a `bk-queue`. They have room for all values that the
/// queue's test keeps in the queue at the same time.
const RING: usize = 16;

/// The specifications by which relaxed objects are judged.
const QUASI_QUEUE: &str = "displacement-queue:2";
const QUASI_PRIORITY_QUEUE: &str = "k-priority-queue:2";
const K_FIFO: &str = "k-fifo:2";
const K_STACK: &str = "k-stack:2";

/// An object of this module.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Object {
    /// The entry of the object in the [catalog of all objects](crate::catalog), with its test.
    pub entry: Entry,
    make: fn() -> Box<dyn Collection>,
    /// Whether the object is created with a quasi factor.
    pub(crate) has_factor: bool,
}

impl Object {
    /// Creates an empty object with the default quasi factor.
    pub fn make(&self) -> Box<dyn Collection> {
        (self.make)()
    }

    const fn without_factor(self) -> Self {
        Self { has_factor: false, ..self }
    }

    const fn paper(self, paper: &'static str) -> Self {
        Self { entry: self.entry.paper(paper), ..self }
    }

    const fn quasi(self) -> Self {
        Self { entry: self.entry.quasi(), ..self }
    }

    const fn faulty(self, fault: &'static str) -> Self {
        Self { entry: self.entry.fault(fault, REJECTED), ..self }
    }
}

/// Returns the object with this name.
pub fn find(name: &str) -> Option<&'static Object> {
    OBJECTS.iter().find(|object| object.entry.name == name)
}

/// Defines an object. The parameters are, in this order: the function that creates the object's
/// test; the object's file, name and specification; and the function that creates the object.
macro_rules! object {
    ($test:ident, $family:literal, $name:literal, $spec:expr, $make:expr) => {
        Object {
            entry: Entry::new($family, $name, $spec, |settings| $test(settings, $spec, $make)),
            make: || Box::new(($make)(FACTOR)),
            has_factor: true,
        }
    };
}

/// All objects of this module.
pub const OBJECTS: &[Object] = &[
    object!(queue, "iqueue", "iqueue", "queue", |_| IQueue::new()).without_factor(),
    object!(queue, "iqueue", "iqueue-faulty-empty-at-gap", "queue", |_| IQueue::faulty(iqueue::Fault::EmptyAtGap))
        .without_factor()
        .paper("Round-Up table I, `IQueue`")
        .faulty("a slot that is not filled yet is mistaken for the end"),
    object!(balanced_queue, "herlihy-wing-queue", "herlihy-wing-queue", "queue", |_| HerlihyWingQueue::new())
        .without_factor()
        .paper("Round-Up table I, `Herlihy/Wing queue`"),
    object!(queue, "quasi-queue", "quasi-queue", QUASI_QUEUE, QuasiQueue::new).paper("Round-Up table I, `Quasi Queue`"),
    object!(queue, "quasi-queue", "quasi-queue-faulty-removed-twice", QUASI_QUEUE, |k| QuasiQueue::faulty(
        k,
        quasi_queue::Fault::RemovedTwice
    ))
    .paper("Round-Up table I, `Quasi Queue b2`")
    .faulty("the mark is read and set in two steps"),
    object!(queue, "quasi-queue", "quasi-queue-faulty-empty-at-gap", QUASI_QUEUE, |k| QuasiQueue::faulty(
        k,
        quasi_queue::Fault::EmptyAtGap
    ))
    .paper("Round-Up table I, `Quasi Queue b3`")
    .faulty("one free cell is mistaken for an empty queue"),
    object!(stack, "quasi-stack", "quasi-stack", "stack", QuasiStack::new).paper("Round-Up table I, `Quasi Stack`"),
    object!(stack, "quasi-stack", "quasi-stack-faulty-empty-on-conflict", "stack", |k| QuasiStack::faulty(
        k,
        quasi_stack::Fault::EmptyOnConflict
    ))
    .paper("Round-Up table I, `Quasi Stack b1`")
    .faulty("a thread that loses a race reports an empty stack"),
    object!(stack, "quasi-stack", "quasi-stack-faulty-too-deep", "stack", |k| QuasiStack::faulty(
        k,
        quasi_stack::Fault::TooDeep
    ))
    .paper("Round-Up table I, `Quasi Stack b2`")
    .faulty("a pop may take a value too far from the top"),
    object!(priority_queue, "quasi-priority-queue", "quasi-priority-queue", QUASI_PRIORITY_QUEUE, |k| {
        QuasiPriorityQueue::new(k)
    })
    .paper("Round-Up table I, `Quasi Priority Queue`"),
    object!(queue, "sl-queue", "sl-queue", "queue", |_| SlQueue::new()).without_factor(),
    object!(queue, "sl-queue", "sl-queue-faulty-no-lock", "queue", |_| SlQueue::faulty(sl_queue::Fault::NoLock))
        .without_factor()
        .paper("Round-Up table IV, `sl-queue`")
        .faulty("a list for a single thread is used by several threads"),
    object!(queue, "rd-queue", "rd-queue", QUASI_QUEUE, RdQueue::new).paper("Round-Up table IV, `rd-queue`"),
    object!(balanced_queue, "bk-queue", "bk-queue", K_FIFO, |k| BkQueue::new(k, RING))
        .paper("Round-Up table IV, `bk-queue`"),
    object!(balanced_queue, "bk-queue", "bk-queue-faulty-no-commit", K_FIFO, |k| BkQueue::faulty(
        k,
        RING,
        bk_queue::Fault::NoCommit
    ))
    .faulty("a value inserted into a segment that the head has already passed stays there"),
    object!(queue, "ubk-queue", "ubk-queue", K_FIFO, UbkQueue::new).paper("Round-Up table IV, `ubk-queue`"),
    object!(queue, "ubk-queue", "ubk-queue-faulty-no-commit", K_FIFO, |k| UbkQueue::faulty(
        k,
        ubk_queue::Fault::NoCommit
    ))
    .faulty("a value inserted into a segment that the head has already passed stays there"),
    object!(stack, "k-stack", "k-stack", K_STACK, KStack::new),
    object!(stack, "k-stack", "k-stack-faulty-second-read", K_STACK, |k| KStack::faulty(k, k_stack::Fault::SecondRead))
        .paper("Round-Up table IV, `k-stack`, and algorithm 3")
        .faulty("a counter is read twice, and a value pushed twice"),
    object!(queue, "quasi-queue", "quasi-queue-faulty-long-segments", "displacement-queue:2", |k| QuasiQueue::faulty(
        k,
        quasi_queue::Fault::LongSegments
    ))
    .paper("Round-Up table I, `Quasi Queue b1`")
    .faulty("a removal may take a value too far from the front"),
    object!(
        priority_queue,
        "quasi-priority-queue",
        "quasi-priority-queue-faulty-beyond-window",
        "k-priority-queue:2",
        |k| QuasiPriorityQueue::faulty(k, quasi_priority_queue::Fault::BeyondWindow)
    )
    .paper("Round-Up table I, `Quasi Priority Queue b2`")
    .faulty("a removal may take a value too far from the front"),
    object!(queue, "rd-queue", "rd-queue-faulty-sliding-window", "displacement-queue:2", |k| RdQueue::faulty(
        k,
        rd_queue::Fault::SlidingWindow
    ))
    .paper("Round-Up §II")
    .faulty("the oldest element may be overtaken forever"),
    // The fault shows only in programs that remove everything they insert.
    object!(
        drained_priority_queue,
        "quasi-priority-queue",
        "quasi-priority-queue-faulty-no-window",
        "quasi-priority-queue:2",
        |k| QuasiPriorityQueue::faulty(k, quasi_priority_queue::Fault::NoWindow)
    )
    .quasi()
    .paper("Round-Up §II")
    .faulty("the smallest element may be overtaken forever"),
];

/// The entries of [`OBJECTS`].
pub(crate) const ENTRIES: &[Entry] = &{
    let mut entries = [OBJECTS[0].entry; OBJECTS.len()];
    let mut at = 0;
    while at < entries.len() {
        entries[at] = OBJECTS[at].entry;
        at += 1;
    }
    entries
};

/// Creates the test of a collection, from the names of its two operations and the number of inserts in ten calls.
fn collection<C: Collection + 'static>(
    settings: &Settings,
    spec: &str,
    make: fn(usize) -> C,
    inserts: u32,
    [insert, remove]: [&str; 2],
) -> Test<C, Shared<C>, Specified> {
    let factor = settings.factor.unwrap_or(FACTOR);
    trueline::test(move || make(factor))
        .spec(spec)
        .operation(insert, settings.made_values(), |object, value| object.insert(value))
        .weight(inserts)
        .operation(remove, (), |object, ()| object.remove())
        .weight(10 - inserts)
}

/// Number of calls of each thread, for objects with a relaxed order. Longer runs would take too
/// long to judge.
const CALLS: u32 = 12;

/// Creates the plan of a test. If the order is relaxed, the runs are short. The order is relaxed if
/// the name of the specification is followed by a factor.
fn sized<C: Collection + 'static>(test: Test<C, Shared<C>, Specified>, spec: &str) -> Plan {
    let plan = test.into_plan();
    if spec.contains(':') { plan.calls(CALLS) } else { plan }
}

/// Returns the names of the two operations. For the specification `bag`, these are the names of the
/// operations of a bag; otherwise, they are `names`.
fn unless_bag(spec: &str, names: [&'static str; 2]) -> [&'static str; 2] {
    if spec == "bag" { ["add", "remove-any"] } else { names }
}

const QUEUE: [&str; 2] = ["enqueue", "dequeue"];

fn queue<C: Collection + 'static>(settings: &Settings, spec: &str, make: fn(usize) -> C) -> Plan {
    sized(collection(settings, spec, make, 4, unless_bag(spec, QUEUE)), spec)
}

fn stack<C: Collection + 'static>(settings: &Settings, spec: &str, make: fn(usize) -> C) -> Plan {
    sized(collection(settings, spec, make, 5, unless_bag(spec, ["push", "pop"])), spec)
}

fn priority_queue<C: Collection + 'static>(settings: &Settings, spec: &str, make: fn(usize) -> C) -> Plan {
    sized(collection(settings, spec, make, 5, unless_bag(spec, ["insert", "delete-min"])), spec)
}

/// In tests whose threads insert as often as they remove, the maximum number of values that a
/// thread has inserted but not yet matched with a removal.
const OWN: u32 = 2;

/// The test of queues that are bounded, or whose dequeues wait while the queue is empty. So that no
/// thread waits forever, each thread makes as many dequeues as enqueues in total, and begins each
/// dequeue only when it has made more enqueues than dequeues.
fn balanced_queue<C: Collection + 'static>(settings: &Settings, spec: &str, make: fn(usize) -> C) -> Plan {
    balanced(settings, spec, make, unless_bag(spec, QUEUE))
}

/// The test of priority queues that are judged by quasi linearizability. Every value that is
/// inserted must also be removed.
fn drained_priority_queue<C: Collection + 'static>(settings: &Settings, spec: &str, make: fn(usize) -> C) -> Plan {
    balanced(settings, spec, make, ["insert", "delete-min"])
}

fn balanced<C: Collection + 'static>(
    settings: &Settings,
    spec: &str,
    make: fn(usize) -> C,
    [insert, remove]: [&'static str; 2],
) -> Plan {
    let values = settings.values;
    let test = collection(settings, spec, make, 5, [insert, remove]).worker(move |worker| {
        let (thread, threads) = (u64::from(worker.thread()), u64::from(worker.threads()));
        let (calls, mut own, mut inserted) = (worker.operations() / 2 * 2, 0, 0);
        for left in (1..=calls).rev() {
            let removes = own == left || own == OWN || own > 0 && worker.random().chance(1, 2);
            if removes {
                let _: Option<u64> = worker.call(remove, ());
                own -= 1;
            } else {
                let unique = inserted * threads + thread;
                let value = values.map_or(unique, |bound| worker.random().bits() % bound.max(1));
                worker.call::<_, ()>(insert, value);
                own += 1;
                inserted += 1;
            }
        }
    });
    sized(test, spec)
}

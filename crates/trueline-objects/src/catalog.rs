//! All objects of this crate by name, each with a test of its correctness.
//!
//! The mix of operations follows the papers: on unbounded queues, 3 of 10 calls enqueue; on stacks,
//! half of the calls push; on maps, the four operations are equally frequent; and on registers, 6
//! of 10 calls read. Sets have 24 items; with the bad hash function, many of these items collide.
//! Values are an exception: the papers draw them from small ranges, but here each value is used
//! once, because such histories are the most informative and the near-linear monitors can judge
//! them. Set [`Settings::values`] to draw values as in the papers.
//!
//! ```
//! use trueline_objects::catalog::{self, Settings, Verdict};
//!
//! let entry = catalog::find("ms-queue-faulty-aba").unwrap();
//! assert!(entry.expects(Verdict::Rejected));
//! let outcome = entry.plan(&Settings::default()).forgetful().runs(20).run();
//! assert!(outcome.runs <= 20);
//! ```

use std::collections::BTreeSet;
use std::fmt;

use trueline::drive::{Generate, Making, unique};
use trueline::test::Plan;

use crate::fine_grained_list::{self, FineGrainedList};
use crate::hash::Hash::{Bad, Good};
use crate::laarman_map::{self, LaarmanMap};
use crate::lazy_list::{self, LazyList};
use crate::lazy_skiplist::{self, LazySkiplist};
use crate::lock_free_list::{self, LockFreeList};
use crate::lock_free_skiplist::{self, LockFreeSkiplist};
use crate::locked::{LockedHeightStack, LockedMap, LockedQueue};
use crate::ms_queue::{self, MsQueue};
use crate::optimistic_list::{self, OptimisticList};
use crate::register::{Access, BufferedRegister, Buffering, Register};
use crate::relaxed::catalog::ENTRIES as RELAXED;
use crate::resizing_map::{self, ResizingMap};
use crate::shann_queue::{self, Mode, ShannQueue};
use crate::sharded_map::{self, ShardedMap};
use crate::split_ordered_set::SplitOrderedSet;
use crate::sync::catalog::ENTRIES as SYNCHRONIZING;
use crate::treiber_stack::{self, TreiberStack};

/// The verdict of a test of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// All runs were accepted.
    Accepted,
    /// A run was not linearizable, or the object panicked.
    Rejected,
    /// A run got stuck: its threads made no further progress.
    Stuck,
}

impl Verdict {
    /// Returns the name of the verdict.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Stuck => "stuck",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An object of the catalog.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The name of the object.
    pub name: &'static str,
    /// The name of the file that contains the object and related objects, such as `ms-queue`. For
    /// all objects of [`sync`](crate::sync), it is `sync`.
    pub family: &'static str,
    /// The name of the specification; or `growing-set`, a model that is defined in this file.
    pub spec: &'static str,
    /// The correctness criterion: `linearizable`, `synchronisation`, `interval` or `quasi`.
    pub criterion: &'static str,
    /// The verdicts that a test may reach, the most likely one first.
    pub expected: &'static [Verdict],
    /// The fault of the object; `None` if it is correct.
    pub fault: Option<&'static str>,
    /// The source of the object; `None` for faults that were invented for this crate.
    pub paper: Option<&'static str>,
    plan: fn(&Settings) -> Plan,
}

/// Settings of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Number of keys or items. Defaults to the number in the papers.
    pub keys: Option<u64>,
    /// The number of values from which arguments are drawn. By default, the test of the object
    /// chooses the number, or uses each value only once.
    pub values: Option<u64>,
    /// The number of threads for which the object is created, for objects that depend on the number
    /// of threads. Defaults to 4, or to the number that the object's test needs.
    ///
    /// Buffered registers are created for at least 4 threads. Objects that synchronize threads are
    /// created for exactly this number.
    pub threads: Option<u32>,
    /// The quasi factor of relaxed objects that support any factor. The factor bounds how far
    /// operations may be out of order. Defaults to 2, as in the paper.
    pub factor: Option<usize>,
    /// Whether threads make arbitrary calls, even if some of the calls may then wait forever.
    /// Applies only to objects that synchronize threads.
    ///
    /// By default, the calls are chosen so that all of them can return. Objects whose fault makes
    /// them get stuck are always tested with arbitrary calls.
    pub progress: bool,
}

impl Entry {
    /// Returns the test of this object. By default, the test does not write failing runs to a file.
    pub fn plan(&self, settings: &Settings) -> Plan {
        let plan = (self.plan)(settings).name(self.name).forgetful();
        // If the settings give the number of keys or values, each run uses the whole range of keys
        // and values.
        if settings.keys.is_some() || settings.values.is_some() { plan.all_arguments() } else { plan }
    }

    /// Returns whether the object has a [quasi factor](Settings::factor).
    pub fn has_factor(&self) -> bool {
        crate::relaxed::catalog::find(self.name).is_some_and(|object| object.has_factor)
    }

    /// Returns whether a test of the object may reach this verdict.
    pub fn expects(&self, verdict: Verdict) -> bool {
        self.expected.contains(&verdict)
    }

    /// Returns whether a test is expected to accept the object.
    pub fn is_correct(&self) -> bool {
        self.expects(Verdict::Accepted)
    }

    pub(crate) const fn new(
        family: &'static str,
        name: &'static str,
        spec: &'static str,
        plan: fn(&Settings) -> Plan,
    ) -> Self {
        let criterion = "linearizable";
        Self { name, family, spec, criterion, expected: ACCEPTED, fault: None, paper: None, plan }
    }

    pub(crate) const fn synchronizing(name: &'static str, spec: &'static str, plan: fn(&Settings) -> Plan) -> Self {
        Self { criterion: "synchronisation", ..Self::new("sync", name, spec, plan) }
    }

    /// Creates the entry of an object whose operations take effect in several steps.
    pub(crate) const fn interval(name: &'static str, spec: &'static str, plan: fn(&Settings) -> Plan) -> Self {
        Self { criterion: "interval", ..Self::new("sync", name, spec, plan) }
    }

    pub(crate) const fn quasi(self) -> Self {
        Self { criterion: "quasi", ..self }
    }

    pub(crate) const fn paper(self, paper: &'static str) -> Self {
        Self { paper: Some(paper), ..self }
    }

    pub(crate) const fn fault(self, fault: &'static str, expected: &'static [Verdict]) -> Self {
        Self { fault: Some(fault), expected, ..self }
    }
}

const ACCEPTED: &[Verdict] = &[Verdict::Accepted];
pub(crate) const REJECTED: &[Verdict] = &[Verdict::Rejected];
pub(crate) const STUCK: &[Verdict] = &[Verdict::Stuck];
pub(crate) const EITHER: &[Verdict] = &[Verdict::Rejected, Verdict::Stuck];

/// Returns the object with this name.
///
/// # Errors
/// Returns an error if there is no such object. The message suggests similar names.
pub fn find(name: &str) -> Result<&'static Entry, String> {
    if let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) {
        return Ok(entry);
    }
    let names = || ENTRIES.iter().map(|entry| entry.name);
    let containing: Vec<&str> = names().filter(|known| !name.is_empty() && known.contains(name)).take(5).collect();
    let hint = match trueline::registry::nearest(name, names()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if !containing.is_empty() => format!("; did you mean one of {}?", containing.join(", ")),
        None => String::new(),
    };
    Err(format!("no object is called `{name}`{hint}"))
}

/// The capacity of bounded queues. It is small, so that the queues are often full.
const CAPACITY: usize = 2;
const BOUNDED_QUEUE: &str = "bounded-queue:2";
/// Number of items of a set in Horn and Kroening's paper.
const ITEMS: u64 = 24;
/// The initial capacity of maps that grow.
const SMALL: usize = 4;

/// All objects of this crate.
pub const ENTRIES: &[Entry] = &{
    const LISTS: [&[Entry]; 3] = [LINEARIZABLE, SYNCHRONIZING, RELAXED];
    let mut all = [LINEARIZABLE[0]; LINEARIZABLE.len() + SYNCHRONIZING.len() + RELAXED.len()];
    let (mut filled, mut list) = (0, 0);
    while list < LISTS.len() {
        let mut at = 0;
        while at < LISTS[list].len() {
            all[filled] = LISTS[list][at];
            filled += 1;
            at += 1;
        }
        list += 1;
    }
    all
};

/// The objects whose operations take effect one at a time.
const LINEARIZABLE: &[Entry] = &[
    Entry::new("ms-queue", "ms-queue", "queue", |settings| queue(settings, MsQueue::new)).paper("Lowe §6, H&S §10.5"),
    Entry::new("ms-queue", "ms-queue-recycling", "queue", |settings| queue(settings, MsQueue::recycling))
        .paper("Michael & Scott 1996"),
    Entry::new("ms-queue", "ms-queue-faulty-late-read", "queue", |settings| {
        queue(settings, || MsQueue::faulty(ms_queue::Fault::LateRead))
    })
    .fault("a dequeue reads the value after it has moved the head", EITHER),
    Entry::new("ms-queue", "ms-queue-faulty-aba", "queue", |settings| {
        queue(settings, || MsQueue::faulty(ms_queue::Fault::Aba))
    })
    .fault("nodes are reused, but links have no tags (ABA)", EITHER),
    Entry::new("ms-queue", "ms-queue-faulty-no-help", "queue", |settings| {
        queue(settings, || MsQueue::faulty(ms_queue::Fault::NoHelp))
    })
    .fault("an enqueue may set the tail back, and no thread moves it forward again", STUCK),
    Entry::new("treiber-stack", "treiber-stack", "stack", |settings| stack(settings, TreiberStack::new))
        .paper("Treiber 1986"),
    Entry::new("treiber-stack", "treiber-stack-faulty-aba", "stack", |settings| {
        stack(settings, || TreiberStack::faulty(treiber_stack::Fault::Aba))
    })
    .fault("nodes are reused, but links have no tags (ABA)", EITHER),
    Entry::new("locked", "locked-queue", BOUNDED_QUEUE, |settings| {
        bounded_queue(settings, || LockedQueue::new(CAPACITY))
    })
    .paper("Lowe"),
    Entry::new("locked", "locked-map", "map", |settings| map(settings, 20, LockedMap::new)).paper("Lowe §6"),
    Entry::new("locked", "locked-height-stack", "stack-heights", stack_heights).paper("H&K example 9"),
    Entry::new("laarman-map", "laarman-map", "map", |settings| {
        let room = room(settings);
        map(settings, 2, move || LaarmanMap::new(room))
    })
    .paper("Lowe §8"),
    Entry::new("laarman-map", "laarman-map-faulty-delete", "map", |settings| {
        let room = room(settings);
        map(settings, 2, move || LaarmanMap::faulty(room, laarman_map::Fault::Delete))
    })
    .paper("Lowe §8, figure 7")
    .fault("delete does not use compare-and-set", REJECTED),
    Entry::new("resizing-map", "resizing-map", "map", |settings| map(settings, 32, || ResizingMap::new(SMALL)))
        .paper("Lowe §8"),
    Entry::new("resizing-map", "resizing-map-faulty-migrate", "map", |settings| {
        map(settings, 32, || ResizingMap::faulty(SMALL, resizing_map::Fault::Migrate))
    })
    .paper("Lowe §8")
    .fault("slots are copied without being owned", REJECTED),
    Entry::new("sharded-map", "sharded-map", "map", |settings| map(settings, 20, ShardedMap::new)).paper("Lowe §8"),
    Entry::new("sharded-map", "sharded-map-faulty-early-status", "map", |settings| {
        map(settings, 2, || ShardedMap::faulty(sharded_map::Fault::EarlyStatus))
    })
    .paper("Lowe §8")
    .fault("update stores the status before the datum", REJECTED),
    Entry::new("sharded-map", "sharded-map-faulty-late-status", "map", |settings| {
        map(settings, 2, || ShardedMap::faulty(sharded_map::Fault::LateStatus))
    })
    .fault("update stores the datum before the status", REJECTED),
    Entry::new("shann-queue", "shann-queue", BOUNDED_QUEUE, |settings| {
        bounded_queue(settings, || ShannQueue::new(CAPACITY, Mode::Total))
    })
    .paper("Shann et al. 2000, Lowe §8"),
    Entry::new("shann-queue", "shann-queue-faulty-stale-slot", BOUNDED_QUEUE, |settings| {
        bounded_queue(settings, || stale_slot(Mode::Total))
    })
    .paper("Colvin & Groves 2005, Lowe §8")
    .fault("the slot is not read again before a counter is advanced", REJECTED),
    Entry::new("shann-queue", "shann-queue-partial", BOUNDED_QUEUE, |settings| {
        waiting_queue(settings, || ShannQueue::new(CAPACITY, Mode::Partial))
    })
    .paper("Shann et al. 2000, Lowe §8"),
    Entry::new("shann-queue", "shann-queue-partial-faulty-stale-slot", BOUNDED_QUEUE, |settings| {
        waiting_queue(settings, || stale_slot(Mode::Partial))
    })
    .paper("Colvin & Groves 2005, Lowe §8")
    .fault("the slot is not read again before a counter is advanced", EITHER),
    Entry::new("shann-queue", "shann-queue-partial-without-help", BOUNDED_QUEUE, |settings| {
        waiting_queue(settings, || ShannQueue::new(CAPACITY, Mode::PartialWithoutHelp))
    })
    .paper("Shann et al. 2000, Lowe §8"),
    Entry::new("shann-queue", "shann-queue-partial-without-help-faulty-stale-slot", BOUNDED_QUEUE, |settings| {
        waiting_queue(settings, || stale_slot(Mode::PartialWithoutHelp))
    })
    .paper("Colvin & Groves 2005, Lowe §8")
    .fault("the slot is not read again before a counter is advanced", STUCK),
    Entry::new("register", "register", "register:0", |settings| register(settings, Access::SeqCst)).paper("Lowe §8"),
    Entry::new("register", "register-faulty-relaxed", "register:0", |settings| register(settings, Access::Relaxed))
        .paper("Lowe §8")
        .fault(
            "writes become visible late; the fault shows only with a clock that does not order memory accesses",
            REJECTED,
        ),
    Entry::new("register", "register-faulty-acquire-release", "register:0", |settings| {
        register(settings, Access::AcquireRelease)
    })
    .paper("Lowe §8")
    .fault(
        "writes become visible late; the fault shows only with a clock that does not order memory accesses",
        REJECTED,
    ),
    Entry::new("register", "buffered-register", "register:0", |settings| {
        buffered_register(settings, Buffering::Stores(0))
    })
    .paper("Lowe §8, simulated"),
    Entry::new("register", "buffered-register-faulty-stores", "register:0", |settings| {
        buffered_register(settings, Buffering::Stores(2))
    })
    .paper("Lowe §8, simulated")
    .fault("writes wait in a buffer", REJECTED),
    Entry::new("register", "buffered-register-faulty-loads", "register:0", |settings| {
        buffered_register(settings, Buffering::Loads(3))
    })
    .paper("Lowe §8, simulated")
    .fault("reads may return an old copy", REJECTED),
    Entry::new("fine-grained-list", "fine-grained-list", "set", |settings| set(settings, || FineGrainedList::new(Bad)))
        .paper("H&K `FGL`, H&S §9.5"),
    Entry::new("fine-grained-list", "fine-grained-list-faulty-early-unlock", "set", |settings| {
        set(settings, || FineGrainedList::faulty(Bad, fine_grained_list::Fault::EarlyUnlock))
    })
    .fault("a node is unlocked before the next one is locked", REJECTED),
    Entry::new("optimistic-list", "optimistic-list", "set", |settings| set(settings, || OptimisticList::new(Bad)))
        .paper("H&K `OPTIMIST`, H&S §9.6"),
    Entry::new("optimistic-list", "optimistic-list-faulty-no-validation", "set", |settings| {
        set(settings, || OptimisticList::faulty(Bad, optimistic_list::Fault::NoValidation))
    })
    .fault("nodes are not validated after they are locked", REJECTED),
    Entry::new("lazy-list", "lazy-list", "set", |settings| set(settings, || LazyList::new(Bad)))
        .paper("H&K `LLL`, H&S §9.7"),
    Entry::new("lazy-list", "lazy-list-blind-contains", "set", |settings| set(settings, || LazyList::blind(Bad))),
    Entry::new("lazy-list", "lazy-list-faulty-unmarked-validation", "set", |settings| {
        set(settings, || LazyList::faulty(Bad, lazy_list::Fault::UnmarkedValidation))
    })
    .fault("validation ignores marks", REJECTED),
    Entry::new("lock-free-list", "lock-free-list", "set", |settings| set(settings, || LockFreeList::new(Bad)))
        .paper("H&K `LFLL`, H&S §9.8"),
    Entry::new("lock-free-list", "lock-free-list-faulty-separate-mark", "set", |settings| {
        set(settings, || LockFreeList::faulty(Bad, lock_free_list::Fault::SeparateMark))
    })
    .fault("the mark and the link are stored separately", REJECTED),
    Entry::new("lock-free-list", "lock-free-list-faulty-unlink-only", "set", |settings| {
        set(settings, || LockFreeList::faulty(Bad, lock_free_list::Fault::UnlinkOnly))
    })
    .fault("a node is unlinked without being marked", REJECTED),
    Entry::new("lock-free-list", "lock-free-list-faulty-blind-contains", "set", |settings| {
        set(settings, || LockFreeList::faulty(Bad, lock_free_list::Fault::BlindContains))
    })
    .fault("`contains` ignores marks", REJECTED),
    Entry::new("lazy-skiplist", "lazy-skiplist", "set", |settings| {
        set(settings, || LazySkiplist::new(Good, lazy_skiplist::Collisions::None))
    })
    .paper("H&K `LSL`, H&S §14.3"),
    Entry::new("lazy-skiplist", "collision-resistant-lazy-skiplist", "set", |settings| {
        set(settings, || LazySkiplist::new(Bad, lazy_skiplist::Collisions::Scan))
    })
    .paper("H&K `CRLSL`"),
    Entry::new("lock-free-skiplist", "lock-free-skiplist", "set", |settings| {
        set(settings, || LockFreeSkiplist::new(Good, lock_free_skiplist::Collisions::None))
    })
    .paper("H&K `LFSL`, H&S §14.4"),
    Entry::new("lock-free-skiplist", "collision-resistant-lock-free-skiplist", "set", |settings| {
        set(settings, || LockFreeSkiplist::new(Bad, lock_free_skiplist::Collisions::Scan))
    })
    .paper("H&K `CRLFSL`"),
    Entry::new("lock-free-skiplist", "lock-free-skiplist-stepping-over", "set", |settings| {
        set(settings, || LockFreeSkiplist::new(Good, lock_free_skiplist::Collisions::StepOver))
    })
    .paper("H&K `LFSLF0`")
    .fault("a traversal may skip the item that it is looking for; a good hash function hides this fault", ACCEPTED),
    Entry::new("lock-free-skiplist", "lock-free-skiplist-faulty-stepping-over", "set", |settings| {
        set(settings, || LockFreeSkiplist::new(Bad, lock_free_skiplist::Collisions::StepOver))
    })
    .paper("H&K `LFSLF1`, Lowe §8")
    .fault("a traversal may skip the item that it is looking for", REJECTED),
    Entry::new("lock-free-skiplist", "lock-free-skiplist-faulty-collisions", "set", |settings| {
        set(settings, || LockFreeSkiplist::new(Bad, lock_free_skiplist::Collisions::None))
    })
    .paper("H&K")
    .fault("items with equal hashes are not distinguished", REJECTED),
    Entry::new("split-ordered-set", "split-ordered-set", "growing-set", |settings| {
        growing_set(settings, SplitOrderedSet::new)
    })
    .paper("H&K `TBB`, H&S §13.3"),
    Entry::new("split-ordered-set", "split-ordered-set-preloaded", "growing-set", |settings| {
        growing_set(settings, || SplitOrderedSet::preloaded(5))
    })
    .paper("H&K")
    .fault("contains an item that was added before the history began", REJECTED),
];

/// A generator of values.
pub(crate) enum Values {
    Unique,
    Below(u64),
}

impl Generate for Values {
    type Item = u64;

    fn generate(&self, making: &mut Making<'_>) -> u64 {
        match self {
            Self::Unique => unique().generate(making),
            Self::Below(bound) => (0..*bound).generate(making),
        }
    }
}

impl Settings {
    pub(crate) fn made_values(&self) -> Values {
        self.values.map_or(Values::Unique, Values::Below)
    }

    fn range_of_keys(&self, of_the_paper: u64) -> std::ops::Range<u64> {
        0..self.keys.unwrap_or(of_the_paper)
    }
}

fn queue(settings: &Settings, make: impl Fn() -> MsQueue + Send + Sync + 'static) -> Plan {
    trueline::test(make)
        .spec("queue")
        .operation("enqueue", settings.made_values(), |queue, value| queue.enqueue(value))
        .weight(3)
        .operation("dequeue", (), |queue, ()| queue.dequeue())
        .weight(7)
        .into_plan()
}

fn stack(settings: &Settings, make: impl Fn() -> TreiberStack + Send + Sync + 'static) -> Plan {
    trueline::test(make)
        .spec("stack")
        .operation("push", settings.made_values(), |stack, value| stack.push(value))
        .operation("pop", (), |stack, ()| stack.pop())
        .into_plan()
}

fn stack_heights(settings: &Settings) -> Plan {
    trueline::test(LockedHeightStack::new)
        .spec("stack-heights")
        .operation("push", settings.made_values(), |stack, value| stack.push(value))
        .operation("pop", (), |stack, ()| stack.pop())
        .into_plan()
}

/// A bounded queue.
trait BoundedQueue: Send + Sync + 'static {
    fn enqueue(&self, value: u64) -> bool;
    fn dequeue(&self) -> Option<u64>;
}

macro_rules! bounded_queues {
    ($($type:ty)*) => {$(
        impl BoundedQueue for $type {
            fn enqueue(&self, value: u64) -> bool {
                self.enqueue(value)
            }

            fn dequeue(&self) -> Option<u64> {
                self.dequeue()
            }
        }
    )*};
}

bounded_queues!(LockedQueue ShannQueue);

fn bounded_queue<Q: BoundedQueue>(settings: &Settings, make: impl Fn() -> Q + Send + Sync + 'static) -> Plan {
    trueline::test(make)
        .spec(BOUNDED_QUEUE)
        .operation("enqueue", settings.made_values(), |queue, value| queue.enqueue(value))
        .operation("dequeue", (), |queue, ()| queue.dequeue())
        .into_plan()
}

fn stale_slot(mode: Mode) -> ShannQueue {
    ShannQueue::faulty(CAPACITY, mode, shann_queue::Fault::StaleSlot)
}

/// The test of queues whose operations wait while the queue is full or empty. It makes as many
/// enqueues as dequeues, so that no thread waits forever.
fn waiting_queue(settings: &Settings, make: impl Fn() -> ShannQueue + Send + Sync + 'static) -> Plan {
    let values = settings.values;
    trueline::test(make)
        .spec(BOUNDED_QUEUE)
        .operation("enqueue", settings.made_values(), |queue, value| queue.enqueue(value))
        .operation("dequeue", (), |queue, ()| queue.dequeue())
        .worker(move |worker| {
            let (thread, threads) = (worker.thread(), worker.threads());
            // Threads form pairs: one thread enqueues and the other dequeues. A thread without a partner alternates
            // between enqueuing and dequeuing.
            let is_alone = thread + 1 == threads && thread % 2 == 0;
            let turns = if is_alone { worker.operations() / 2 * 2 } else { worker.operations() };
            for turn in 0..turns {
                if (if is_alone { turn } else { thread }) % 2 == 0 {
                    let own = u64::from(turn) * u64::from(threads) + u64::from(thread);
                    let value = values.map_or(own, |bound| worker.random().bits() % bound.max(1));
                    let _: bool = worker.call("enqueue", value);
                } else {
                    let _: Option<u64> = worker.call("dequeue", ());
                }
            }
        })
        .into_plan()
}

/// A map with the operations of the papers.
trait Map: Send + Sync + 'static {
    fn get(&self, key: u64) -> Option<u64>;
    fn update(&self, key: u64, value: u64);
    fn delete(&self, key: u64);
    fn get_or_else_update(&self, key: u64, value: u64) -> u64;
}

macro_rules! maps {
    ($($type:ty)*) => {$(
        impl Map for $type {
            fn get(&self, key: u64) -> Option<u64> {
                self.get(key)
            }

            fn update(&self, key: u64, value: u64) {
                self.update(key, value);
            }

            fn delete(&self, key: u64) {
                self.delete(key);
            }

            fn get_or_else_update(&self, key: u64, value: u64) -> u64 {
                self.get_or_else_update(key, value)
            }
        }
    )*};
}

maps!(LockedMap LaarmanMap ResizingMap ShardedMap);

/// Number of slots of a map that does not grow.
fn room(settings: &Settings) -> usize {
    usize::try_from(settings.range_of_keys(2).end).unwrap_or(usize::MAX).saturating_mul(2)
}

fn map<M: Map>(settings: &Settings, keys: u64, make: impl Fn() -> M + Send + Sync + 'static) -> Plan {
    let keys = || settings.range_of_keys(keys);
    trueline::test(make)
        .spec("map")
        .operation("get", keys(), |map, key| map.get(key))
        .operation("put", (keys(), settings.made_values()), |map, (key, value)| map.update(key, value))
        .operation("delete", keys(), |map, key| map.delete(key))
        .operation("get-or-insert", (keys(), settings.made_values()), |map, (key, value)| {
            map.get_or_else_update(key, value)
        })
        .into_plan()
}

fn register(settings: &Settings, access: Access) -> Plan {
    trueline::test(move || Register::new(access))
        .spec("register:0")
        .operation("read", (), |register, ()| register.read())
        .weight(6)
        .operation("write", settings.made_values(), |register, value| register.write(value))
        .weight(4)
        .into_plan()
}

fn buffered_register(settings: &Settings, buffering: Buffering) -> Plan {
    let processes = settings.threads.unwrap_or(0).max(4) as usize;
    trueline::test(move || BufferedRegister::new(processes, buffering))
        .handle(|register, thread| (register.clone(), thread as usize))
        .spec("register:0")
        .operation("read", (), |(register, process), ()| register.read(*process))
        .weight(6)
        .operation("write", settings.made_values(), |(register, process), value| register.write(*process, value))
        .weight(4)
        .into_plan()
}

/// A set.
trait Set: Send + Sync + 'static {
    fn add(&self, item: u64) -> bool;
    fn remove(&self, item: u64) -> bool;
    fn contains(&self, item: u64) -> bool;
}

macro_rules! sets {
    ($($type:ty)*) => {$(
        impl Set for $type {
            fn add(&self, item: u64) -> bool {
                self.add(item)
            }

            fn remove(&self, item: u64) -> bool {
                self.remove(item)
            }

            fn contains(&self, item: u64) -> bool {
                self.contains(item)
            }
        }
    )*};
}

sets!(FineGrainedList OptimisticList LazyList LockFreeList LazySkiplist LockFreeSkiplist);

fn set<S: Set>(settings: &Settings, make: impl Fn() -> S + Send + Sync + 'static) -> Plan {
    let items = || settings.range_of_keys(ITEMS);
    trueline::test(make)
        .spec("set")
        .operation("add", items(), |set, item| set.add(item))
        .operation("remove", items(), |set, item| set.remove(item))
        .operation("contains", items(), |set, item| set.contains(item))
        .into_plan()
}

/// The test of a set without removal that can report whether it is empty. It has its own model, because no named
/// specification has these operations.
///
/// In the paper, there are two threads, and one of them calls `is-empty` in 2 of 10 calls. Among
/// the calls of both threads together, this is 1 of 10 calls.
fn growing_set(settings: &Settings, make: impl Fn() -> SplitOrderedSet + Send + Sync + 'static) -> Plan {
    let items = || settings.range_of_keys(21);
    trueline::test(make)
        .model(BTreeSet::new())
        .operation("insert", items(), |set, item| set.insert(item), |model, item| model.insert(item))
        .weight(3)
        .operation("contains", items(), |set, item| set.contains(item), |model, item| model.contains(&item))
        .weight(6)
        .reads_only()
        .operation("is-empty", (), |set, ()| set.is_empty(), |model, ()| model.is_empty())
        .weight(1)
        .reads_only()
        .into_plan()
}

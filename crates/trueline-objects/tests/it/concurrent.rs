//! Objects under several threads: correct ones are accepted in all runs, and faulty ones rejected in one of many.

use trueline::spec::{RegisterOp, RegisterRet, Spec, StackHeightsOp, StackHeightsRet};
use trueline_objects::fine_grained_list::{self, FineGrainedList};
use trueline_objects::hash::Hash;
use trueline_objects::laarman_map::{self, LaarmanMap};
use trueline_objects::lazy_list::{self, LazyList};
use trueline_objects::lazy_skiplist::{self, LazySkiplist};
use trueline_objects::lock_free_list::{self, LockFreeList};
use trueline_objects::lock_free_skiplist::{Collisions, LockFreeSkiplist};
use trueline_objects::locked::{LockedHeightStack, LockedMap, LockedQueue};
use trueline_objects::ms_queue::{self, MsQueue};
use trueline_objects::optimistic_list::{self, OptimisticList};
use trueline_objects::register::{Access, BufferedRegister, Buffering, Register};
use trueline_objects::resizing_map::{self, ResizingMap};
use trueline_objects::shann_queue::{self, Mode, ShannQueue};
use trueline_objects::sharded_map::{self, ShardedMap};
use trueline_objects::split_ordered_set::SplitOrderedSet;
use trueline_objects::treiber_stack::{self, TreiberStack};

use crate::record::Shape;
use crate::workloads::{self as workload, GrowingSetOp, Outcome, Workload};
use crate::workloads::{bounded_queue_calls, map_calls, queue_calls, set_calls, stack_calls};

/// What finds most faults soonest: little chaos is too quiet, and much keeps threads from meeting.
const SHAPE: Shape = Shape { threads: 4, operations: 25, chaos: 16 };
/// How often a correct object is run, unless the variable `TRUELINE_OBJECTS_RUNS` says otherwise.
const RUNS: u64 = 200;
/// How often a faulty one is, at most.
const MOST_RUNS: u64 = 50_000;

/// A correct object is accepted, however often it is run.
fn accepted<O: Sync, S: Spec>(name: &str, workload: &Workload<O, S>, make: impl Fn() -> O) {
    let runs = std::env::var("TRUELINE_OBJECTS_RUNS").map_or(RUNS, |runs| runs.parse().expect("a number of runs"));
    assert!(runs > 0, "an object that is not run is not accepted");
    for seed in 0..runs {
        // Fewer threads, less chaos and none, now and then.
        let shape = match seed % 4 {
            0 => Shape { threads: 2, operations: 50, ..SHAPE },
            1 => Shape { chaos: 0, ..SHAPE },
            2 => Shape { chaos: 64, ..SHAPE },
            _ => SHAPE,
        };
        assert_eq!(workload.run(&make(), shape, seed), Outcome::Accepted, "{name}, seed {seed}, {shape:?}");
    }
}

/// A faulty object ends in one of these ways, sooner or later.
fn ends_in<O: Sync, S: Spec>(name: &str, expected: &[Outcome], workload: &Workload<O, S>, make: impl Fn() -> O) {
    for seed in 0..MOST_RUNS {
        let outcome = workload.run(&make(), SHAPE, seed);
        if expected.contains(&outcome) {
            return;
        }
        assert_eq!(outcome, Outcome::Accepted, "{name}, seed {seed}");
    }
    panic!("{name}: not found in {MOST_RUNS} runs");
}

fn rejected<O: Sync, S: Spec>(name: &str, workload: &Workload<O, S>, make: impl Fn() -> O) {
    ends_in(name, &[Outcome::Rejected], workload, make);
}

#[test]
fn ms_queue() {
    let queue = workload::queue::<MsQueue>(40, queue_calls!());
    accepted("ms-queue", &queue, MsQueue::new);
    accepted("ms-queue-recycling", &queue, MsQueue::recycling);
    for (name, fault) in
        [("ms-queue-faulty-late-read", ms_queue::Fault::LateRead), ("ms-queue-faulty-aba", ms_queue::Fault::Aba)]
    {
        ends_in(name, &[Outcome::Rejected, Outcome::Stuck], &queue, || MsQueue::faulty(fault));
    }
    ends_in("ms-queue-faulty-no-help", &[Outcome::Stuck], &queue, || MsQueue::faulty(ms_queue::Fault::NoHelp));
}

#[test]
fn stacks() {
    let stack = workload::stack::<TreiberStack>(stack_calls!());
    accepted("treiber-stack", &stack, TreiberStack::new);
    let aba = || TreiberStack::faulty(treiber_stack::Fault::Aba);
    ends_in("treiber-stack-faulty-aba", &[Outcome::Rejected, Outcome::Stuck], &stack, aba);

    let heights = workload::stack_heights::<LockedHeightStack>(|stack, _, op| match op {
        StackHeightsOp::Push(value) => StackHeightsRet::Pushed(stack.push(*value)),
        StackHeightsOp::Pop => {
            let (height, value) = stack.pop();
            StackHeightsRet::Popped { height, value }
        }
    });
    accepted("locked-height-stack", &heights, LockedHeightStack::new);
}

#[test]
fn bounded_queues() {
    accepted("locked-queue", &workload::bounded_queue::<LockedQueue>(2, bounded_queue_calls!()), || {
        LockedQueue::new(2)
    });
    let queue = workload::bounded_queue::<ShannQueue>(2, bounded_queue_calls!());
    accepted("shann-queue", &queue, || ShannQueue::new(2, Mode::Total));
    let faulty = |mode| move || ShannQueue::faulty(2, mode, shann_queue::Fault::StaleSlot);
    rejected("shann-queue-faulty-stale-slot", &queue, faulty(Mode::Total));

    let waiting = workload::waiting_queue::<ShannQueue>(2, bounded_queue_calls!());
    accepted("shann-queue-partial", &waiting, || ShannQueue::new(2, Mode::Partial));
    accepted("shann-queue-partial-without-help", &waiting, || ShannQueue::new(2, Mode::PartialWithoutHelp));
    let wrong = [Outcome::Rejected, Outcome::Stuck];
    ends_in("shann-queue-partial-faulty-stale-slot", &wrong, &waiting, faulty(Mode::Partial));
    let name = "shann-queue-partial-without-help-faulty-stale-slot";
    ends_in(name, &[Outcome::Stuck], &waiting, faulty(Mode::PartialWithoutHelp));
}

#[test]
fn maps() {
    accepted("locked-map", &workload::map::<LockedMap>(4, map_calls!()), LockedMap::new);

    let laarman = workload::map::<LaarmanMap>(2, map_calls!());
    accepted("laarman-map", &laarman, || LaarmanMap::new(4));
    let faulty = || LaarmanMap::faulty(4, laarman_map::Fault::Delete);
    rejected("laarman-map-faulty-delete", &laarman, faulty);

    let resizing = workload::map::<ResizingMap>(32, map_calls!());
    accepted("resizing-map", &resizing, || ResizingMap::new(4));
    let faulty = || ResizingMap::faulty(4, resizing_map::Fault::Migrate);
    rejected("resizing-map-faulty-migrate", &resizing, faulty);

    accepted("sharded-map", &workload::map::<ShardedMap>(20, map_calls!()), ShardedMap::new);
    let sharded = workload::map::<ShardedMap>(2, map_calls!());
    accepted("sharded-map", &sharded, ShardedMap::new);
    let faulty = |fault| move || ShardedMap::faulty(fault);
    rejected("sharded-map-faulty-early-status", &sharded, faulty(sharded_map::Fault::EarlyStatus));
    // It takes five operations on one key to see this one.
    let one_key = workload::map::<ShardedMap>(1, map_calls!());
    rejected("sharded-map-faulty-late-status", &one_key, faulty(sharded_map::Fault::LateStatus));
}

#[test]
fn registers() {
    // The faults of memory order are hidden by the recorder's clock.
    let register = workload::register::<Register>(|register, _, op| match op {
        RegisterOp::Read => RegisterRet::Value(register.read()),
        RegisterOp::Write(value) => {
            register.write(*value);
            RegisterRet::Done
        }
    });
    accepted("register", &register, || Register::new(Access::SeqCst));

    let buffered = workload::register::<BufferedRegister>(|register, process, op| match op {
        RegisterOp::Read => RegisterRet::Value(register.read(process)),
        RegisterOp::Write(value) => {
            register.write(process, *value);
            RegisterRet::Done
        }
    });
    accepted("buffered-register", &buffered, || BufferedRegister::new(4, Buffering::Stores(0)));
    let faulty = |buffering| move || BufferedRegister::new(4, buffering);
    rejected("buffered-register-faulty-stores", &buffered, faulty(Buffering::Stores(2)));
    rejected("buffered-register-faulty-loads", &buffered, faulty(Buffering::Loads(3)));
}

#[test]
fn lists_with_locks() {
    let fine_grained = workload::set::<FineGrainedList>(6, set_calls!());
    accepted("fine-grained-list", &fine_grained, || FineGrainedList::new(Hash::Bad));
    let faulty = || FineGrainedList::faulty(Hash::Bad, fine_grained_list::Fault::EarlyUnlock);
    rejected("fine-grained-list-faulty-early-unlock", &fine_grained, faulty);

    let optimistic = workload::set::<OptimisticList>(6, set_calls!());
    accepted("optimistic-list", &optimistic, || OptimisticList::new(Hash::Bad));
    let faulty = || OptimisticList::faulty(Hash::Bad, optimistic_list::Fault::NoValidation);
    rejected("optimistic-list-faulty-no-validation", &optimistic, faulty);

    let lazy = workload::set::<LazyList>(6, set_calls!());
    accepted("lazy-list", &lazy, || LazyList::new(Hash::Bad));
    accepted("lazy-list-blind-contains", &lazy, || LazyList::blind(Hash::Bad));
    let faulty = || LazyList::faulty(Hash::Bad, lazy_list::Fault::UnmarkedValidation);
    rejected("lazy-list-faulty-unmarked-validation", &lazy, faulty);
}

#[test]
fn lists_without_locks() {
    let list = workload::set::<LockFreeList>(6, set_calls!());
    accepted("lock-free-list", &list, || LockFreeList::new(Hash::Bad));
    for (name, fault) in [
        ("lock-free-list-faulty-separate-mark", lock_free_list::Fault::SeparateMark),
        ("lock-free-list-faulty-unlink-only", lock_free_list::Fault::UnlinkOnly),
        ("lock-free-list-faulty-blind-contains", lock_free_list::Fault::BlindContains),
    ] {
        rejected(name, &list, || LockFreeList::faulty(Hash::Bad, fault));
    }

    let growing = workload::growing_set::<SplitOrderedSet>(|set, _, op| match op {
        GrowingSetOp::Insert(item) => set.insert(*item),
        GrowingSetOp::Contains(item) => set.contains(*item),
        GrowingSetOp::IsEmpty => set.is_empty(),
    });
    accepted("split-ordered-set", &growing, SplitOrderedSet::new);
    rejected("split-ordered-set-preloaded", &growing, || SplitOrderedSet::preloaded(5));
}

#[test]
fn skiplists() {
    let lazy = workload::set::<LazySkiplist>(8, set_calls!());
    accepted("lazy-skiplist", &lazy, || LazySkiplist::new(Hash::Good, lazy_skiplist::Collisions::None));
    let resistant = || LazySkiplist::new(Hash::Bad, lazy_skiplist::Collisions::Scan);
    accepted("collision-resistant-lazy-skiplist", &lazy, resistant);

    let lock_free = workload::set::<LockFreeSkiplist>(8, set_calls!());
    let skiplist = |hash, collisions| move || LockFreeSkiplist::new(hash, collisions);
    accepted("lock-free-skiplist", &lock_free, skiplist(Hash::Good, Collisions::None));
    accepted("collision-resistant-lock-free-skiplist", &lock_free, skiplist(Hash::Bad, Collisions::Scan));
    accepted("lock-free-skiplist-stepping-over", &lock_free, skiplist(Hash::Good, Collisions::StepOver));
    let name = "lock-free-skiplist-faulty-stepping-over";
    rejected(name, &lock_free, skiplist(Hash::Bad, Collisions::StepOver));
    rejected("lock-free-skiplist-faulty-collisions", &lock_free, skiplist(Hash::Bad, Collisions::None));
}

/// Each object of the list in the crate's documentation is run here, but for those whose fault the clock hides.
#[test]
fn no_object_is_forgotten() {
    let list =
        include_str!("../../src/lib.rs").lines().filter_map(|line| line.strip_prefix("//! | `")?.split('`').next());
    let hidden = ["register-faulty-relaxed", "register-faulty-acquire-release"];
    let tests = include_str!("concurrent.rs");
    let mut listed = 0;
    for name in list.filter(|name| !hidden.contains(name)) {
        assert!(tests.contains(&format!("\"{name}\"")), "{name} is not run");
        listed += 1;
    }
    assert!(listed > 40, "the list has {listed} objects");
}

#[test]
fn objects_go_where_threads_go() {
    fn goes<T: Send + Sync + 'static>() {}
    goes::<MsQueue>();
    goes::<TreiberStack>();
    goes::<(LockedQueue, LockedMap, LockedHeightStack)>();
    goes::<(LaarmanMap, ResizingMap, ShardedMap)>();
    goes::<ShannQueue>();
    goes::<(Register, BufferedRegister)>();
    goes::<(FineGrainedList, OptimisticList, LazyList, LockFreeList)>();
    goes::<(LazySkiplist, LockFreeSkiplist, SplitOrderedSet)>();
}

//! Objects whose order is relaxed: the correct ones keep within it in all runs that are tried, and each fault shows in some,
//! in the way that is told of it.

mod explore;
mod order;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use trueline::drive::Random;
use trueline::primitives::{Chaos, enter};
use trueline_objects::ms_queue::MsQueue;
use trueline_objects::relaxed::Call::{self, Insert, Remove};
use trueline_objects::relaxed::Collection;
use trueline_objects::relaxed::bk_queue::{self, BkQueue};
use trueline_objects::relaxed::catalog::{self, DRAINED, FACTOR, OBJECTS};
use trueline_objects::relaxed::herlihy_wing_queue::HerlihyWingQueue;
use trueline_objects::relaxed::iqueue::{self, IQueue};
use trueline_objects::relaxed::k_stack::{self, KStack};
use trueline_objects::relaxed::quasi_priority_queue::{self, QuasiPriorityQueue};
use trueline_objects::relaxed::quasi_queue::{self, QuasiQueue};
use trueline_objects::relaxed::quasi_stack::{self, QuasiStack};
use trueline_objects::relaxed::rd_queue::{self, RdQueue};
use trueline_objects::relaxed::sl_queue::{self, SlQueue};
use trueline_objects::relaxed::ubk_queue::{self, UbkQueue};
use trueline_objects::treiber_stack::TreiberStack;

use crate::sync::judge::{Done, Recorder};
use crate::sync::world;
use explore::{choosing, explore};
use order::{Op, Order, Relaxed, State};

type Object = Box<dyn Collection>;
type Make = Box<dyn Fn() -> Object>;

/// Segments of a ring that is not full soon, but soon used again.
const RING: usize = 8;

/// The correct objects, and their orders.
fn correct(factor: usize) -> Vec<(&'static str, Relaxed, Make)> {
    let strict = |order| Relaxed { order, factor: 0 };
    let relaxed = |order| Relaxed { order, factor };
    vec![
        ("iqueue", strict(Order::First), Box::new(|| Box::new(IQueue::new()))),
        ("sl-queue", strict(Order::First), Box::new(|| Box::new(SlQueue::new()))),
        ("ms-queue", strict(Order::First), Box::new(|| Box::new(MsQueue::recycling()))),
        ("treiber-stack", strict(Order::Last), Box::new(|| Box::new(TreiberStack::new()))),
        ("quasi-stack", strict(Order::Last), Box::new(move || Box::new(QuasiStack::new(factor)))),
        ("quasi-queue", relaxed(Order::First), Box::new(move || Box::new(QuasiQueue::new(factor)))),
        ("rd-queue", relaxed(Order::First), Box::new(move || Box::new(RdQueue::new(factor)))),
        ("bk-queue", relaxed(Order::First), Box::new(move || Box::new(BkQueue::new(factor, RING)))),
        ("ubk-queue", relaxed(Order::First), Box::new(move || Box::new(UbkQueue::new(factor)))),
        ("k-stack", relaxed(Order::Last), Box::new(move || Box::new(KStack::new(factor)))),
        ("quasi-priority-queue", relaxed(Order::Least), Box::new(move || Box::new(QuasiPriorityQueue::new(factor)))),
    ]
}

fn call(object: &dyn Collection, call: Call) -> Op {
    let removed = object.call(call);
    match call {
        Insert(value) => Op::Insert(value),
        Remove => Op::Remove(removed),
    }
}

/// Inserts and removes at random, never more than `most` inside, and returns the step at which the order was not kept.
fn goes_wrong(object: &dyn Collection, relaxed: Relaxed, most: usize, seed: u64) -> Option<usize> {
    let (mut state, mut random) = (State::new(), Random::new(seed));
    for step in 0..600 {
        let made = if state.len() < most && random.chance(1, 2) {
            Insert(u64::from(random.below(1_000_000)) * 1000 + step as u64)
        } else {
            Remove
        };
        let Some(after) = relaxed.step(&state, call(object, made)) else { return Some(step) };
        state = after;
    }
    None
}

/// The ring is never full with so few values in it.
fn most(factor: usize) -> usize {
    (factor + 1) * (RING - 2)
}

#[test]
fn alone_the_correct_ones_keep_their_order() {
    for factor in 0..4 {
        for (name, relaxed, make) in correct(factor) {
            for seed in 0..20 {
                let wrong = goes_wrong(&*make(), relaxed, most(factor), seed);
                assert_eq!(wrong, None, "{name} with factor {factor} and seed {seed}");
            }
        }
    }
}

/// The order is as relaxed as it may be: with one step less it is not kept.
#[test]
fn alone_the_relaxed_ones_use_all_of_their_factor() {
    for factor in 1..4 {
        for (name, relaxed, make) in correct(factor).into_iter().filter(|(_, relaxed, _)| relaxed.factor > 0) {
            let less = Relaxed { factor: factor - 1, ..relaxed };
            assert!(
                (0..50).any(|seed| goes_wrong(&*make(), less, most(factor), seed).is_some()),
                "{name} with factor {factor}"
            );
        }
    }
}

#[test]
fn alone_faults_of_order_show() {
    let fifo = Relaxed { order: Order::First, factor: FACTOR };
    let lifo = Relaxed { order: Order::Last, factor: FACTOR };
    let least = Relaxed { order: Order::Least, factor: FACTOR };
    for (name, relaxed) in [
        ("quasi-queue-faulty-long-segments", fifo),
        ("quasi-queue-faulty-empty-at-gap", fifo),
        ("quasi-stack-faulty-too-deep", lifo),
        ("quasi-priority-queue-faulty-beyond-window", least),
        ("quasi-priority-queue-faulty-no-window", least),
        ("rd-queue-faulty-sliding-window", fifo),
    ] {
        let object = catalog::find(name).expect("it is there");
        assert!((0..50).any(|seed| goes_wrong(&*object.make(), relaxed, 12, seed).is_some()), "{name}");
    }
    // These go wrong only where threads meet.
    for (name, relaxed) in [
        ("iqueue-faulty-empty-at-gap", Relaxed { factor: 0, ..fifo }),
        ("quasi-queue-faulty-removed-twice", fifo),
        ("quasi-stack-faulty-empty-on-conflict", Relaxed { factor: 0, ..lifo }),
        ("sl-queue-faulty-no-lock", Relaxed { factor: 0, ..fifo }),
        ("bk-queue-faulty-no-commit", fifo),
        ("ubk-queue-faulty-no-commit", fifo),
        ("k-stack-faulty-second-read", lifo),
    ] {
        let object = catalog::find(name).expect("it is there");
        assert!((0..20).all(|seed| goes_wrong(&*object.make(), relaxed, 12, seed).is_none()), "{name}");
    }
}

/// The histories that are told of faults which need one thread only, with the choices that lead to them.
#[test]
fn alone_faults_show_as_it_is_told() {
    let removed = |object: &dyn Collection, inserted: u64, choices: &[usize], removes: usize| {
        (1..=inserted).for_each(|value| object.insert(value));
        choosing(choices, || (0..removes).map(|_| object.remove()).collect::<Vec<_>>())
    };
    // Values are in the cells in which they were put, from the first on.
    let queue = QuasiQueue::faulty(2, quasi_queue::Fault::LongSegments);
    choosing(&[0; 4], || (1..=4).for_each(|value| queue.enqueue(value)));
    assert_eq!(choosing(&[3], || queue.dequeue()), Some(4));

    let queue = QuasiQueue::faulty(2, quasi_queue::Fault::EmptyAtGap);
    choosing(&[0], || queue.enqueue(1));
    assert_eq!(choosing(&[1], || queue.dequeue()), None);

    let stack = QuasiStack::faulty(2, quasi_stack::Fault::TooDeep);
    assert_eq!(removed(&stack, 4, &[3], 1), [Some(1)]);

    let queue = QuasiPriorityQueue::faulty(1, quasi_priority_queue::Fault::BeyondWindow);
    assert_eq!(removed(&queue, 3, &[2], 1), [Some(3)]);
    let queue = QuasiPriorityQueue::faulty(1, quasi_priority_queue::Fault::NoWindow);
    assert_eq!(removed(&queue, 3, &[1, 1], 2), [Some(2), Some(3)]);
    // The window has ended: there is one to choose from.
    assert_eq!(removed(&QuasiPriorityQueue::new(1), 3, &[1, 0], 2), [Some(2), Some(1)]);

    let queue = RdQueue::faulty(1, rd_queue::Fault::SlidingWindow);
    assert_eq!(removed(&queue, 3, &[1, 1], 2), [Some(2), Some(3)]);
    // The second node is removed already, whenever it is chosen: then the first is taken.
    assert_eq!(removed(&RdQueue::new(1), 3, &[1, 1, 1, 1], 2), [Some(2), Some(1)]);
}

#[test]
fn a_ring_is_full_of_segments() {
    let queue = BkQueue::new(1, 3);
    assert!((1..=6).all(|value| queue.enqueue(value)));
    assert!(!queue.enqueue(7));
    let first = queue.dequeue();
    assert!(first == Some(1) || first == Some(2));
    // There is a free slot now, but not in the segment of the tail.
    assert!(!queue.enqueue(7));
    let second = queue.dequeue();
    assert_eq!(first.into_iter().chain(second).sum::<u64>(), 3);
    assert!(queue.enqueue(7) && queue.enqueue(8) && !queue.enqueue(9));
    let mut rest: Vec<u64> = std::iter::from_fn(|| queue.dequeue()).collect();
    rest.sort_unstable();
    assert_eq!(rest, [3, 4, 5, 6, 7, 8]);
}

/// A program of the paper: what the main thread calls first, what others call at a time, and what it calls in the end.
struct Program<'p> {
    before: &'p [Call],
    threads: &'p [&'p [Call]],
    /// How often the main thread removes.
    after: usize,
}

/// A run: the object, and what was called.
struct Run {
    object: Object,
    recorder: Recorder<Op>,
}

impl Program<'_> {
    fn start(&self, object: Object) -> Run {
        let recorder = Recorder::new();
        self.before.iter().for_each(|made| recorder.record(|| call(&*object, *made)));
        Run { object, recorder }
    }

    fn thread(&self, run: &Run, number: usize) {
        self.threads[number].iter().for_each(|made| run.recorder.record(|| call(&*run.object, *made)));
    }

    fn end(&self, run: &Run) -> Vec<Done<Op>> {
        // Faulty objects are not to loop for ever.
        (0..self.after).for_each(|_| run.recorder.record(|| call(&*run.object, Remove)));
        run.recorder.history()
    }

    /// Runs it in all ways with so many preemptions, and returns the histories, each with how it was judged.
    fn in_all_ways(
        &self,
        preemptions: usize,
        relaxed: Relaxed,
        make: impl Fn() -> Object,
    ) -> (usize, Vec<Vec<Done<Op>>>) {
        let mut bad = Vec::new();
        let runs = explore(
            preemptions,
            200_000,
            || choosing(&[], || self.start(make())),
            self.threads.len(),
            &|run, number| self.thread(run, number),
            |run| {
                let history = choosing(&[], || self.end(run));
                if !relaxed.allows(&history) {
                    bad.push(history);
                }
                false
            },
        );
        (runs, bad)
    }
}

fn fifo(factor: usize) -> Relaxed {
    Relaxed { order: Order::First, factor }
}

fn lifo(factor: usize) -> Relaxed {
    Relaxed { order: Order::Last, factor }
}

/// Two calls at a time, as in table V, and more, around the edges of segments of two cells: none full, one full, and one on
/// top of another that is empty.
const PROGRAMS: &[Program<'_>] = &[
    Program { before: &[], threads: &[&[Insert(1)], &[Insert(2)]], after: 3 },
    Program { before: &[], threads: &[&[Insert(1)], &[Remove]], after: 2 },
    Program { before: &[Insert(1), Insert(2)], threads: &[&[Remove], &[Remove]], after: 1 },
    Program { before: &[Insert(1), Insert(2)], threads: &[&[Remove], &[Insert(3)]], after: 4 },
    Program { before: &[Insert(1), Insert(2), Insert(3), Remove], threads: &[&[Remove], &[Insert(4)]], after: 4 },
    Program { before: &[Insert(1), Insert(2), Insert(3), Remove], threads: &[&[Remove], &[Remove]], after: 3 },
];

#[test]
fn two_at_a_time_the_correct_ones_keep_their_order() {
    for program in PROGRAMS {
        for (name, relaxed, make) in correct(1) {
            let (runs, bad) = program.in_all_ways(2, relaxed, make);
            assert!(bad.is_empty(), "{name}: {} of {runs} histories, such as {:?}", bad.len(), bad[0]);
            assert!(runs > 2, "{name}");
        }
    }
}

/// Two threads with two calls each, as in tables II and III.
#[test]
fn two_by_two_the_correct_ones_keep_their_order() {
    for (before, threads) in
        [(&[][..], [&[Insert(1), Remove][..], &[Insert(2), Remove]]), (&[Insert(1)], [&[Insert(2)], &[Remove, Remove]])]
    {
        let program = Program { before, threads: &threads, after: 2 };
        for (name, relaxed, make) in correct(1) {
            let (runs, bad) = program.in_all_ways(1, relaxed, make);
            assert!(bad.is_empty(), "{name}: {} of {runs} histories, such as {:?}", bad.len(), bad[0]);
        }
        // It waits while it is empty, so that as many are removed as were inserted.
        let balanced = Program { after: 0, ..program };
        let (_, bad) = balanced.in_all_ways(3, fifo(0), || Box::new(HerlihyWingQueue::new()));
        assert!(bad.is_empty(), "{:?}", bad[0]);
    }
}

/// What was removed, in the order in which calls ended.
fn removed(history: &[Done<Op>]) -> Vec<Option<u64>> {
    let removed = |done: &Done<Op>| match done.operation {
        Op::Remove(value) => Some(value),
        Op::Insert(_) => None,
    };
    history.iter().filter_map(removed).collect()
}

#[test]
fn two_at_a_time_faults_show_as_it_is_told() {
    let shows = |relaxed, program: Program<'_>, what: &dyn Fn(&[Option<u64>]) -> bool, make: &dyn Fn() -> Object| {
        let (runs, bad) = program.in_all_ways(2, relaxed, make);
        assert!(bad.len() < runs, "it is not always wrong");
        assert!(bad.iter().any(|history| what(&removed(history))), "{} of {runs} histories: {bad:?}", bad.len());
    };
    let twice =
        |value| move |removed: &[Option<u64>]| removed.iter().filter(|other| **other == Some(value)).count() == 2;
    let empty_first =
        |removed: &[Option<u64>]| removed.first() == Some(&None) && removed[1..].iter().any(Option::is_some);
    let lost = |removed: &[Option<u64>]| removed.iter().flatten().count() == 1;

    let program = || Program { before: &[], threads: &[&[Insert(1)], &[Insert(2), Remove]], after: 2 };
    shows(fifo(0), program(), &empty_first, &|| Box::new(IQueue::faulty(iqueue::Fault::EmptyAtGap)));

    let two_removes = || Program { before: &[Insert(1)], threads: &[&[Remove], &[Remove]], after: 1 };
    let make = || -> Object { Box::new(QuasiQueue::faulty(2, quasi_queue::Fault::RemovedTwice)) };
    shows(fifo(2), two_removes(), &twice(1), &make);
    let unsynchronised = || -> Object { Box::new(SlQueue::faulty(sl_queue::Fault::NoLock)) };
    shows(fifo(0), two_removes(), &twice(1), &unsynchronised);
    let two_inserts = Program { before: &[], threads: &[&[Insert(1)], &[Insert(2)]], after: 2 };
    shows(fifo(0), two_inserts, &lost, &unsynchronised);
    // As the paper says: one of each is fine.
    let one_of_each = Program { before: &[Insert(1)], threads: &[&[Insert(2)], &[Remove]], after: 2 };
    assert!(one_of_each.in_all_ways(3, fifo(0), unsynchronised).1.is_empty());

    let program = Program { before: &[Insert(1), Insert(2)], threads: &[&[Remove], &[Remove]], after: 2 };
    let make = || -> Object { Box::new(QuasiStack::faulty(2, quasi_stack::Fault::EmptyOnConflict)) };
    shows(lifo(0), program, &|removed| removed[..2].contains(&None) && removed[..2].contains(&Some(2)), &make);

    let late = || Program { before: &[], threads: &[&[Insert(1)], &[Insert(2), Remove, Remove]], after: 2 };
    let make = || -> Object { Box::new(BkQueue::faulty(1, RING, bk_queue::Fault::NoCommit)) };
    shows(fifo(1), late(), &lost, &make);
    let make = || -> Object { Box::new(UbkQueue::faulty(1, ubk_queue::Fault::NoCommit)) };
    shows(fifo(1), late(), &lost, &make);

    let above_an_empty_segment = || Program {
        before: &[Insert(1), Insert(2), Insert(3), Remove],
        threads: &[&[Remove], &[Insert(4)]],
        after: 4,
    };
    let make = || -> Object { Box::new(KStack::faulty(1, k_stack::Fault::SecondRead)) };
    shows(lifo(1), above_an_empty_segment(), &twice(4), &make);
}

/// The correct ones in random schedules of three threads.
#[test]
fn three_at_a_time_the_correct_ones_keep_their_order() {
    for factor in [1, 2] {
        for (name, relaxed, make) in correct(factor) {
            for seed in 0..150 {
                let mut random = Random::new(seed);
                let mut values = 1..;
                let mut any = |calls: usize| -> Vec<Call> {
                    let mut any = || if random.chance(1, 2) { values.next().map_or(Remove, Insert) } else { Remove };
                    (0..calls).map(|_| any()).collect()
                };
                let (before, threads) = (any(3), [any(3), any(3), any(3)]);
                let threads = threads.each_ref().map(Vec::as_slice);
                let program = Program { before: &before, threads: &threads, after: 7 };
                let run = program.start(make());
                assert!(world::run(seed, threads.len(), &|number| program.thread(&run, number)), "{name}: stuck");
                let history = program.end(&run);
                assert!(relaxed.allows(&history), "{name} with factor {factor} and seed {seed}: {history:?}");
            }
        }
    }
}

/// Nothing is lost and nothing comes twice, with real threads.
#[test]
fn values_that_go_in_come_out_once() {
    const THREADS: u64 = 4;
    const VALUES: u64 = 1000;
    for object in OBJECTS.iter().filter(|object| object.entry.is_correct()) {
        for one_in in [0, 16] {
            let collection = object.make();
            let out = Mutex::new(Vec::new());
            thread::scope(|scope| {
                for me in 0..THREADS {
                    let (collection, out) = (&collection, &out);
                    scope.spawn(move || {
                        let _inside = (one_in > 0).then(|| enter(Rc::new(Chaos::new(one_in, 1, me as u32))));
                        let mut own = Vec::new();
                        for turn in 0..VALUES {
                            collection.insert(turn * THREADS + me);
                            // No more than it has put in: some objects wait for more.
                            own.extend(collection.remove());
                        }
                        out.lock().expect("nobody panics").extend(own);
                    });
                }
            });
            let mut out = out.into_inner().expect("nobody panics");
            // Those that wait have nothing left.
            while out.len() < (THREADS * VALUES) as usize {
                let Some(value) = collection.remove() else { panic!("{} has lost something", object.entry.name) };
                out.push(value);
            }
            out.sort_unstable();
            assert!(out.into_iter().eq(0..THREADS * VALUES), "{} with chaos {one_in}", object.entry.name);
        }
    }
}

/// With one thread that inserts in order and one that removes, the place of each value in the output is known.
#[test]
fn values_are_out_of_order_by_the_factor_at_most() {
    const VALUES: u64 = 3000;
    for factor in [0, 1, 3] {
        for (name, relaxed, make) in correct(factor).into_iter().filter(|(_, relaxed, _)| relaxed.order != Order::Last)
        {
            let collection = make();
            let is_done = AtomicBool::new(false);
            let out = thread::scope(|scope| {
                scope.spawn(|| {
                    let _inside = enter(Rc::new(Chaos::new(16, factor as u64, 0)));
                    (0..VALUES).for_each(|value| collection.insert(value));
                    is_done.store(true, Ordering::SeqCst);
                });
                let mut out = Vec::new();
                loop {
                    let last = is_done.load(Ordering::SeqCst);
                    match collection.remove() {
                        Some(value) => out.push(value),
                        None if last => break,
                        None => thread::yield_now(),
                    }
                }
                out
            });
            assert_eq!(out.len() as u64, VALUES, "{name}");
            for (place, value) in (0..).zip(&out) {
                assert!(value.abs_diff(place) <= relaxed.factor as u64, "{name}: {value} in place {place}");
            }
        }
    }
}

/// The objects of the catalogue are those that are told, in the programs of the paper.
#[test]
fn objects_by_name_run_programs() {
    let mut kinds = BTreeMap::<&str, usize>::new();
    for object in OBJECTS.iter().chain(DRAINED) {
        assert_eq!(catalog::find(object.entry.name).map(|found| found.entry.name), Some(object.entry.name));
        *kinds.entry(object.entry.family).or_default() += 1;
        let collection = object.make();
        let mut out: Vec<u64> = [Insert(1), Remove].into_iter().filter_map(|made| collection.call(made)).collect();
        // One that sees gaps everywhere says that it is empty, and may be asked again.
        let mut left = 1000;
        while out.is_empty() && left > 0 {
            out.extend(collection.call(Remove));
            left -= 1;
        }
        assert_eq!(out, [1], "{}", object.entry.name);
    }
    assert_eq!(kinds.len(), 10);
    assert!(catalog::find("ms-queue").is_none());
}

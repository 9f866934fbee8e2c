//! Plain models are judged as fast as those that say what they are.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use trueline::test::{FailureKind, Meaning, Outcome, Plan};

/// A queue of which every third `pop` takes the second value, if there are more than eight.
#[derive(Default)]
struct Queue {
    values: Mutex<VecDeque<u32>>,
    is_faulty: bool,
    pops: AtomicU32,
}

impl Queue {
    fn pop(&self) -> Option<u32> {
        let mut values = self.values.lock().unwrap();
        let takes_second = self.is_faulty && values.len() > 8 && self.pops.fetch_add(1, SeqCst) % 3 == 2;
        if takes_second { values.remove(1) } else { values.pop_front() }
    }
}

fn queue(is_faulty: bool, meanings: Option<[Meaning; 2]>) -> Plan {
    let test = trueline::test(move || Queue { is_faulty, ..Queue::default() }).model(VecDeque::new());
    let push = test.operation(
        "push",
        trueline::drive::unique(),
        |queue, x| queue.values.lock().unwrap().push_back(u32::try_from(x).unwrap_or(0)),
        |model, x| model.push_back(u32::try_from(x).unwrap_or(0)),
    );
    match meanings {
        Some([put, take]) => push
            .means(put)
            .operation("pop", (), |queue, ()| queue.pop(), |model, ()| model.pop_front())
            .means(take)
            .into_plan(),
        None => push.operation("pop", (), |queue, ()| queue.pop(), |model, ()| model.pop_front()).into_plan(),
    }
    .forgetful()
}

#[test]
fn a_fault_of_long_runs_is_found_by_a_plain_model() {
    // Judged by search, runs were small, and few.
    let outcome = queue(true, None).seed(1).runs(1000).shrink_for(Duration::ZERO).run();
    let failure = outcome.failure.expect("the second is not the first");
    assert_eq!(failure.kind, FailureKind::NotLinearizable);
}

fn per_second(outcome: &Outcome) -> f64 {
    assert!(outcome.failure.is_none(), "{}", outcome.failure.as_ref().unwrap());
    outcome.runs as f64 / outcome.elapsed.as_secs_f64()
}

/// Prints runs per second of plain models, beside the same test judged by a specification or by meanings.
#[test]
#[ignore = "a measurement"]
fn runs_per_second() {
    type Set = Mutex<BTreeSet<u32>>;
    type Map = Mutex<BTreeMap<u32, u32>>;
    let set = || {
        trueline::test(Set::default)
            .model(BTreeSet::new())
            .operation("add", 0..50_u32, |set, x| set.lock().unwrap().insert(x), |model, x| model.insert(x))
            .operation("remove", 0..50_u32, |set, x| set.lock().unwrap().remove(&x), |model, x| model.remove(&x))
            .operation("contains", 0..50_u32, |set, x| set.lock().unwrap().contains(&x), |model, x| model.contains(&x))
            .into_plan()
    };
    let map = || {
        trueline::test(Map::default)
            .model(BTreeMap::new())
            .operation(
                "insert",
                (0..50_u32, 0..1000_u32),
                |map, (k, v)| map.lock().unwrap().insert(k, v),
                |model, (k, v)| model.insert(k, v),
            )
            .operation("remove", 0..50_u32, |map, k| map.lock().unwrap().remove(&k), |model, k| model.remove(&k))
            .operation(
                "get",
                0..50_u32,
                |map, k| map.lock().unwrap().get(&k).copied(),
                |model, k| model.get(&k).copied(),
            )
            .into_plan()
    };
    let stack = || {
        trueline::test(Mutex::<Vec<u64>>::default)
            .model(Vec::new())
            .operation(
                "push",
                trueline::drive::unique(),
                |stack, x| stack.lock().unwrap().push(x),
                |model, x| model.push(x),
            )
            .operation("pop", (), |stack, ()| stack.lock().unwrap().pop(), |model, ()| model.pop())
            .into_plan()
    };
    let least = || {
        trueline::test(Mutex::<Vec<u64>>::default)
            .model(Vec::new())
            .operation(
                "insert",
                trueline::drive::unique(),
                |queue, x| queue.lock().unwrap().push(x),
                |model, x| model.push(x),
            )
            .operation(
                "delete-min",
                (),
                |queue, ()| take_least(&mut queue.lock().unwrap()),
                |model, ()| take_least(model),
            )
            .into_plan()
    };
    let count = || {
        trueline::test(Mutex::<u64>::default)
            .model(0_u64)
            .operation("increment", (), |count, ()| *count.lock().unwrap() += 1, |model, ()| *model += 1)
            .operation("read", (), |count, ()| *count.lock().unwrap(), |model, ()| *model)
            .into_plan()
    };
    let cell = || {
        trueline::test(Mutex::<Option<u64>>::default)
            .model(None)
            .operation(
                "write",
                trueline::drive::unique(),
                |cell, x| *cell.lock().unwrap() = Some(x),
                |model, x| *model = Some(x),
            )
            .operation("read", (), |cell, ()| *cell.lock().unwrap(), |model, ()| *model)
            .into_plan()
    };
    let deque = || {
        trueline::test(Mutex::<VecDeque<u64>>::default)
            .model(VecDeque::new())
            .operation(
                "push-back",
                trueline::drive::unique(),
                |deque, x| deque.lock().unwrap().push_back(x),
                |model, x| model.push_back(x),
            )
            .operation(
                "push-front",
                trueline::drive::unique(),
                |deque, x| deque.lock().unwrap().push_front(x),
                |model, x| model.push_front(x),
            )
            .operation("pop-back", (), |deque, ()| deque.lock().unwrap().pop_back(), |model, ()| model.pop_back())
            .operation("pop-front", (), |deque, ()| deque.lock().unwrap().pop_front(), |model, ()| model.pop_front())
            .into_plan()
    };
    let by = |plan: Plan, name: &str| plan.judged_by(name).unwrap_or_else(|error| panic!("{error}"));
    type Make = Box<dyn Fn() -> Plan>;
    let rows: Vec<(&str, Make, Make)> = vec![
        (
            "VecDeque, queue",
            Box::new(|| queue(false, None)),
            Box::new(|| queue(false, Some([Meaning::Enqueue, Meaning::Dequeue]))),
        ),
        ("VecDeque, deque", Box::new(deque), Box::new(move || by(deque(), "deque"))),
        ("Vec, stack", Box::new(stack), Box::new(move || by(stack(), "stack"))),
        ("Vec, priority queue", Box::new(least), Box::new(move || by(least(), "priority-queue"))),
        ("BTreeMap", Box::new(map), Box::new(move || by(map(), "map"))),
        ("BTreeSet", Box::new(set), Box::new(move || by(set(), "set"))),
        ("u64, counter", Box::new(count), Box::new(move || by(count(), "counter"))),
        ("Option, register", Box::new(cell), Box::new(move || by(cell(), "register"))),
    ];
    for (name, plain, told) in rows {
        let (mut sums, rounds) = ([0.0; 2], 5);
        for seed in 0..rounds {
            for (sum, plan) in sums.iter_mut().zip([&plain, &told]) {
                let outcome = plan().forgetful().seed(seed).time(Duration::from_secs(1)).run();
                *sum += per_second(&outcome);
            }
        }
        println!("{name:22} {:9.0} {:9.0} {:5.2}", sums[0] / 5.0, sums[1] / 5.0, sums[0] / sums[1]);
    }
}

fn take_least(values: &mut Vec<u64>) -> Option<u64> {
    let (place, _) = values.iter().enumerate().min_by_key(|(_, value)| **value)?;
    Some(values.swap_remove(place))
}

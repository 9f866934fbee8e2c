//! Tests of objects that are compared with a user-defined `Spec`.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use trueline::primitives;
use trueline::spec::{Outcomes, Spec, blocked, outcome};
use trueline::test::{FailureKind, OwnSpec, Plan, Shared, Test};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum QueueOp {
    Push(u32),
    Pop,
}

/// A queue with room for this many values: a push waits while the queue is full, and a pop waits while it is empty.
struct Blocking(usize);

impl Spec for Blocking {
    type Op = QueueOp;
    type Ret = Option<u32>;
    type State = VecDeque<u32>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> Self::State {
        VecDeque::new()
    }

    fn step(&self, state: &Self::State, op: &QueueOp, _: Option<&Option<u32>>) -> Outcomes<Option<u32>, Self::State> {
        let mut next = state.clone();
        match op {
            QueueOp::Push(_) if state.len() >= self.0 => blocked(),
            QueueOp::Push(x) => {
                next.push_back(*x);
                outcome(None, next)
            }
            QueueOp::Pop => match next.pop_front() {
                Some(x) => outcome(Some(x), next),
                None => blocked(),
            },
        }
    }
}

/// A blocking queue with this capacity, which may differ from the specified one.
struct Queue {
    room: usize,
    values: primitives::Mutex<VecDeque<u32>>,
    changed: primitives::Condvar,
}

impl Queue {
    fn new(room: usize) -> Self {
        Self { room, values: primitives::Mutex::new(VecDeque::new()), changed: primitives::Condvar::new() }
    }

    fn push(&self, x: u32) {
        let mut values = self.changed.wait_while(self.values.lock(), |values| values.len() >= self.room);
        values.push_back(x);
        self.changed.notify_all();
    }

    fn pop(&self) -> u32 {
        let mut values = self.changed.wait_while(self.values.lock(), |values| values.is_empty());
        self.changed.notify_all();
        values.pop_front().expect("the queue is not empty")
    }
}

fn blocking_queue(room: usize) -> Test<Queue, Shared<Queue>, OwnSpec<Blocking>> {
    trueline::test(move || Queue::new(room))
        .own_spec(Blocking(2))
        .operation("push", 0..100_u32, |queue, x| queue.push(x), QueueOp::Push, |()| None)
        .may_block()
        .operation("pop", (), |queue, ()| queue.pop(), |()| QueueOp::Pop, Some)
        .may_block()
}

#[test]
fn a_partial_specification_judges_what_waits() {
    let right = blocking_queue(2).into_plan().forgetful().seed(1).runs(100).run();
    assert!(right.failure.is_none(), "{}", right.failure.expect("there is a failure"));
    // Every program with three pushes and nothing else fails, in any schedule, so the smallest program consists of
    // three pushes. Shrinking has no time limit, and ends when it has tried everything.
    let wrong = blocking_queue(3).into_plan().forgetful().seed(1).runs(1000).shrink_for(Duration::MAX).run();
    let failure = wrong.failure.expect("a third push should have waited");
    assert_eq!(failure.kind, FailureKind::NotLinearizable);
    let smallest = failure.smallest.as_ref().expect("the program was shrunk");
    assert_eq!((smallest.calls, smallest.program.matches("push").count()), (3, 3), "{}", smallest.program);
    assert!(failure.report().contains("but could not have returned anything at that point"), "{failure}");
    assert!(failure.report().contains("Push("), "operations are as the specification describes them: {failure}");
}

/// A queue that may report that it is empty although it is not.
struct Reluctant;

impl Spec for Reluctant {
    type Op = QueueOp;
    type Ret = Option<u32>;
    type State = VecDeque<u32>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> Self::State {
        VecDeque::new()
    }

    fn step(
        &self,
        state: &Self::State,
        op: &QueueOp,
        recorded: Option<&Option<u32>>,
    ) -> Outcomes<Option<u32>, Self::State> {
        let mut outcomes = Blocking(usize::MAX).step(state, op, recorded);
        if *op == QueueOp::Pop {
            outcomes.push((None, state.clone()));
        }
        outcomes
    }
}

/// A queue in which every third pop reports that the queue is empty. With `is_stack`, a pop takes the last value.
struct EveryThird {
    values: Mutex<VecDeque<u32>>,
    pops: AtomicU32,
    is_stack: bool,
}

impl EveryThird {
    fn new(is_stack: bool) -> Self {
        Self { values: Mutex::default(), pops: AtomicU32::new(0), is_stack }
    }

    fn push(&self, x: u32) {
        self.values.lock().expect("no thread panics").push_back(x);
    }

    fn pop(&self) -> Option<u32> {
        let mut values = self.values.lock().expect("no thread panics");
        match (self.pops.fetch_add(1, SeqCst) % 3, self.is_stack) {
            (2, _) => None,
            (_, false) => values.pop_front(),
            (_, true) => values.pop_back(),
        }
    }
}

fn own_spec(is_stack: bool) -> Plan {
    trueline::test(move || EveryThird::new(is_stack))
        .own_spec(Reluctant)
        .operation("push", 0..100_u32, |queue, x| queue.push(x), QueueOp::Push, |()| None)
        .operation("pop", (), |queue, ()| queue.pop(), |()| QueueOp::Pop, |popped| popped)
        .into_plan()
}

fn model(is_stack: bool, may_be_reluctant: bool) -> Plan {
    trueline::test(move || EveryThird::new(is_stack))
        .model(VecDeque::new())
        .operation("push", 0..100_u32, |queue, x| queue.push(x), |model, x| model.push_back(x))
        .nondeterministic_operation(
            "pop",
            (),
            |queue, ()| queue.pop(),
            move |model, ()| {
                let mut next = model.clone();
                let popped = next.pop_front();
                let reluctant = (may_be_reluctant && popped.is_some()).then(|| (None, model.clone()));
                [(popped, next)].into_iter().chain(reluctant)
            },
        )
        .into_plan()
}

#[test]
fn several_outcomes_are_allowed() {
    for plan in [own_spec(false), model(false, true)] {
        let outcome = plan.forgetful().seed(1).runs(200).run();
        assert!(outcome.failure.is_none(), "{}", outcome.failure.expect("there is a failure"));
    }
    let strict = model(false, false).forgetful().seed(1).runs(1000).run();
    assert!(strict.failure.is_some(), "without the choice, it is not a queue");
    for plan in [own_spec(true), model(true, true)] {
        let failure = plan.forgetful().seed(1).runs(1000).run().failure.expect("the object is a stack");
        assert!(failure.report().contains("could only have returned"), "{failure}");
    }
}

#[test]
fn a_choice_that_waits_blocks() {
    // In this model, a pop of an empty queue has no outcome, so it should wait. The pop of the object returns.
    let plan = trueline::test(|| EveryThird::new(false))
        .model(VecDeque::new())
        .operation("push", 0..100_u32, |queue, x| queue.push(x), |model, x| model.push_back(x))
        .nondeterministic_operation(
            "pop",
            (),
            |queue, ()| queue.pop(),
            |model, ()| {
                let mut next = model.clone();
                next.pop_front().map(|x| (Some(x), next))
            },
        )
        .into_plan();
    let failure = plan.only("pop").expect("a program").forgetful().runs(1).run().failure.expect("the pop returned");
    assert!(failure.report().contains("but could not have returned anything at that point"), "{failure}");
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum MapOp {
    Put(u32, u32),
    Get(u32),
}

/// A map whose keys are judged separately.
struct Map;

impl Spec for Map {
    type Op = MapOp;
    type Ret = Option<u32>;
    type State = BTreeMap<u32, u32>;
    type Key = u32;
    type Value = ();

    fn initial(&self) -> Self::State {
        BTreeMap::new()
    }

    fn step(&self, state: &Self::State, op: &MapOp, _: Option<&Option<u32>>) -> Outcomes<Option<u32>, Self::State> {
        match op {
            MapOp::Put(key, value) => {
                let mut next = state.clone();
                next.insert(*key, *value);
                outcome(None, next)
            }
            MapOp::Get(key) => outcome(state.get(key).copied(), state.clone()),
        }
    }

    fn key(&self, op: &MapOp, _: Option<&Option<u32>>) -> Option<u32> {
        let (MapOp::Put(key, _) | MapOp::Get(key)) = op;
        Some(*key)
    }
}

/// The test of a map that loses this key.
fn map(forgets: Option<u32>) -> Plan {
    type Object = Mutex<BTreeMap<u32, u32>>;
    trueline::test(Object::default)
        .own_spec(Map)
        .operation(
            "put",
            (0..3_u32, 0..100_u32),
            move |map, (key, value)| {
                let is_kept = Some(key) != forgets;
                map.lock().expect("no thread panics").extend(is_kept.then_some((key, value)));
            },
            |(key, value)| MapOp::Put(key, value),
            |()| None,
        )
        .operation(
            "get",
            0..3_u32,
            |map, key| map.lock().expect("no thread panics").get(&key).copied(),
            MapOp::Get,
            |value| value,
        )
        .into_plan()
        .forgetful()
}

#[test]
fn keys_are_judged_one_by_one() {
    let right = map(None).seed(1).runs(200).run();
    assert!(right.failure.is_none(), "{}", right.failure.expect("there is a failure"));
    let program = "put [0,1], put [1,7], put [2,9], get 0, get 1";
    let plan = map(Some(1)).only(program).expect("the program is valid").shrink_for(Duration::ZERO);
    let failure = plan.runs(1).run().failure.expect("the map forgets a key");
    assert!(failure.report().contains(", 3 partitions, "), "{failure}");
    assert!(failure.report().contains("Get(1) of process 0"), "{failure}");
    assert!(failure.report().contains("returned None, but could only have returned Some(7)"), "{failure}");
}

#[test]
fn a_failing_run_is_made_again_and_drawn() {
    // A single thread behaves the same in each run.
    let first = map(Some(1)).threads(1).seed(1).runs(1000).run().failure.expect("the map forgets a key");
    let folder = std::env::temp_dir().join(format!("trueline-own-spec-{}", std::process::id()));
    let again = map(Some(1)).replay(first.token.clone()).runs(1).pages(&folder).run().failure.expect("it fails again");
    assert_eq!(again.token, first.token);
    let page = again.page.as_ref().expect("a page was drawn");
    let drawn = std::fs::read_to_string(page).expect("the page exists");
    assert!(drawn.contains("Get(1)"), "the page has the operations");
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
}

#[cfg(feature = "systematic")]
#[test]
fn what_is_explored_may_have_its_own_specification() {
    use primitives::AtomicU32;
    use trueline::test::Exploration;

    /// Each draw returns the number of draws before it.
    struct Draws;

    impl Spec for Draws {
        type Op = ();
        type Ret = u32;
        type State = u32;
        type Key = ();
        type Value = ();

        fn initial(&self) -> u32 {
            0
        }

        fn step(&self, drawn: &u32, (): &(), _: Option<&u32>) -> Outcomes<u32, u32> {
            outcome(*drawn, drawn + 1)
        }
    }

    let plan = |is_atomic: bool| {
        let draw = move |counter: &mut Shared<AtomicU32>, ()| {
            if is_atomic {
                return counter.fetch_add(1, SeqCst);
            }
            let drawn = counter.load(SeqCst);
            counter.store(drawn + 1, SeqCst);
            drawn
        };
        let test = trueline::test(|| AtomicU32::new(0)).own_spec(Draws);
        let test = test.operation("draw", (), draw, |()| (), |drawn: u32| drawn);
        test.explore(Exploration::new()).into_plan().forgetful()
    };
    let right = plan(true).run();
    assert!(right.failure.is_none() && right.explored.expect("the plan was explored").executions > 1);
    let failure = plan(false).run().failure.expect("two calls draw the same number");
    let smallest = failure.smallest.as_ref().expect("the program was shrunk");
    assert_eq!((smallest.program.as_str(), smallest.is_minimal), ("draw | draw", true));
    let again = plan(false).replay(failure.token.clone()).run();
    assert_eq!(again.failure.expect("the schedule is the same").history, failure.history);
}

//! Explores objects that use the types of `std`, as instrumented crates do: checks the explored behaviors, and that no
//! state is left from one execution to the next.

use std::cell::Cell;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use trueline::drive::systematic::{Ended, Execution, Program, Report, Search, Settings, explore};
use trueline::drive::{Behavior, Call, Clock, Handle, Instance, Kind, Timed};
use trueline::history::Value;
use trueline_sync::hint::spin_loop;
use trueline_sync::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering::SeqCst};
use trueline_sync::sync::{Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, mpsc};
use trueline_sync::thread;

type Operation<O> = fn(&O) -> u64;

/// An object with its operations, which are called by number.
struct Scripted<O> {
    object: Arc<O>,
    operations: Arc<[Operation<O>]>,
}

impl<O> Clone for Scripted<O> {
    fn clone(&self) -> Self {
        Self { object: Arc::clone(&self.object), operations: Arc::clone(&self.operations) }
    }
}

impl<O: Send + Sync + 'static> Instance for Scripted<O> {
    fn handle(&self, _thread: u32) -> Box<dyn Handle> {
        Box::new(self.clone())
    }
}

impl<O: Send + Sync + 'static> Handle for Scripted<O> {
    fn call(&mut self, call: &Call, clock: Clock) -> Timed {
        Timed::measure(clock, || self.operations[call.operation as usize](&self.object))
    }
}

/// Explores a program, and returns how each execution ended, and what each operation returned.
fn seen<O: Send + Sync + 'static>(
    make: fn() -> O,
    operations: &[Operation<O>],
    threads: &[&[u32]],
    search: Search,
) -> (BTreeSet<String>, Report) {
    let operations: Arc<[Operation<O>]> = operations.into();
    let kinds = operations.iter().map(|_| Kind::new("operation", |_| Value::Null)).collect::<Vec<_>>();
    let calls = |calls: &&[u32]| {
        let call = |operation: &u32| Call { operation: *operation, argument: Value::Null };
        Behavior::Calls(calls.iter().map(call).collect())
    };
    let program = Program {
        make: Arc::new(move || Arc::new(Scripted { object: Arc::new(make()), operations: Arc::clone(&operations) })),
        kinds: kinds.into(),
        threads: threads.iter().map(calls).collect(),
        before: Vec::new(),
        after: Vec::new(),
        operations: 0,
        seed: 0,
    };
    let all = Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    let noted = Arc::clone(&all);
    let judge = move |execution: &Execution| {
        let results = execution.history.operations().iter().map(|operation| match operation.outcome.result() {
            Some(result) => format!("{}:{result}", operation.process),
            None => format!("{}:?", operation.process),
        });
        let mut results: Vec<_> = results.collect();
        results.sort();
        let ended = match &execution.ended {
            Ended::Panicked { message, .. } => format!("panicked: {message}"),
            ended => format!("{ended:?}"),
        };
        noted.lock().expect("not poisoned").insert(format!("{ended} {}", results.join(" ")));
        true
    };
    let mut settings = Settings::default();
    (settings.search, settings.most_steps) = (search, 2000);
    let report = explore(&program, &settings, Arc::new(judge));
    let all = all.lock().expect("not poisoned").clone();
    (all, report)
}

/// Returns the behaviors of all schedules. Asserts that leaving out equivalent schedules changes nothing.
#[track_caller]
fn all<O: Send + Sync + 'static>(make: fn() -> O, operations: &[Operation<O>], threads: &[&[u32]]) -> BTreeSet<String> {
    let (reduced, report) = seen(make, operations, threads, Search::Exhaustive);
    assert!(report.is_complete, "{report:?}");
    let (bounded, _) = seen(make, operations, threads, Search::Preemptions(2));
    assert!(bounded.is_subset(&reduced), "{bounded:?}\n{reduced:?}");
    let (unreduced, _) = seen(make, operations, threads, Search::Unreduced);
    assert_eq!(reduced, unreduced);
    reduced
}

#[track_caller]
fn expect(all: &BTreeSet<String>, expected: &[&str]) {
    assert_eq!(all.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn atomics_and_locks_are_interrupted() {
    let lose = |word: &AtomicU64| {
        let value = word.load(SeqCst);
        word.store(value + 1, SeqCst);
        value
    };
    expect(
        &all(|| AtomicU64::new(0), &[lose], &[&[0], &[0]]),
        &["Complete 0:0 1:0", "Complete 0:0 1:1", "Complete 0:1 1:0"],
    );
    let count: Operation<Mutex<u64>> = |number| {
        let mut guard = number.lock().expect("not poisoned");
        *guard += 1;
        *guard
    };
    expect(&all(|| Mutex::new(0), &[count], &[&[0], &[0]]), &["Complete 0:1 1:2", "Complete 0:2 1:1"]);
    let (write, read): (Operation<RwLock<u64>>, Operation<RwLock<u64>>) = (
        |number| {
            *number.write().expect("not poisoned") += 1;
            0
        },
        |number| *number.read().expect("not poisoned"),
    );
    expect(&all(|| RwLock::new(0), &[write, read], &[&[0], &[1]]), &["Complete 0:0 1:0", "Complete 0:0 1:1"]);
}

#[test]
fn deadlocks_are_found_and_left_behind() {
    type Pair = (Mutex<()>, Mutex<()>);
    let forth: Operation<Pair> = |(one, other)| {
        let _one = one.lock().expect("not poisoned");
        let _other = other.lock().expect("not poisoned");
        0
    };
    let back: Operation<Pair> = |(one, other)| {
        let _other = other.lock().expect("not poisoned");
        let _one = one.lock().expect("not poisoned");
        0
    };
    expect(
        &all(|| (Mutex::new(()), Mutex::new(())), &[forth, back], &[&[0], &[1]]),
        &["Complete 0:0 1:0", "Stuck 0:? 1:?"],
    );
}

type Gate = (Mutex<bool>, Condvar, AtomicBool);

#[test]
fn notifications_are_not_lost_unless_they_are() {
    let wait: Operation<Gate> = |(open, changed, _)| {
        let mut guard = open.lock().expect("not poisoned");
        while !*guard {
            guard = changed.wait(guard).expect("not poisoned");
        }
        1
    };
    let open: Operation<Gate> = |(open, changed, _)| {
        *open.lock().expect("not poisoned") = true;
        changed.notify_one();
        0
    };
    // Checks the condition before it has the lock.
    let wait_late: Operation<Gate> = |(lock, changed, open)| {
        if !open.load(SeqCst) {
            drop(changed.wait(lock.lock().expect("not poisoned")));
        }
        1
    };
    let open_bare: Operation<Gate> = |(_, changed, open)| {
        open.store(true, SeqCst);
        changed.notify_one();
        0
    };
    let make = || (Mutex::new(false), Condvar::new(), AtomicBool::new(false));
    expect(&all(make, &[wait, open], &[&[0], &[1]]), &["Complete 0:1 1:0"]);
    expect(&all(make, &[wait_late, open_bare], &[&[0], &[1]]), &["Complete 0:1 1:0", "Stuck 0:? 1:0"]);
    let timed: Operation<Gate> = |(lock, changed, _)| {
        let guard = lock.lock().expect("not poisoned");
        let (guard, _) = changed.wait_timeout_while(guard, Duration::from_secs(9), |open| !*open).expect("no panics");
        u64::from(*guard)
    };
    expect(&all(make, &[timed, open], &[&[0], &[1]]), &["Complete 0:0 1:0", "Complete 0:1 1:0"]);
}

#[test]
fn one_thread_initializes() {
    let [first, second]: [Operation<OnceLock<u64>>; 2] =
        [|cell| *cell.get_or_init(|| 1), |cell| *cell.get_or_init(|| 2)];
    expect(&all(OnceLock::new, &[first, second], &[&[0], &[1]]), &["Complete 0:1 1:1", "Complete 0:2 1:2"]);
    let once: Operation<(Once, AtomicU64)> = |(once, runs)| {
        once.call_once(|| {
            runs.fetch_add(1, SeqCst);
        });
        runs.load(SeqCst)
    };
    expect(&all(|| (Once::new(), AtomicU64::new(0)), &[once], &[&[0], &[0]]), &["Complete 0:1 1:1"]);
}

static COUNT: AtomicU64 = AtomicU64::new(5);
static CELL: OnceLock<AtomicU64> = OnceLock::new();
static LAZY: LazyLock<AtomicU64> = LazyLock::new(|| AtomicU64::new(7));
static TARGET: AtomicPtr<u64> = AtomicPtr::new(std::ptr::null_mut());

#[test]
#[cfg(target_os = "linux")]
fn statics_begin_anew() {
    let add: Operation<()> = |()| COUNT.fetch_add(1, SeqCst);
    let of_cell: Operation<()> = |()| CELL.get_or_init(|| AtomicU64::new(0)).fetch_add(1, SeqCst);
    let of_lazy: Operation<()> = |()| LAZY.fetch_add(1, SeqCst);
    let pointer: Operation<()> = |()| {
        let new = Box::into_raw(Box::new(0));
        u64::from(TARGET.compare_exchange(std::ptr::null_mut(), new, SeqCst, SeqCst).is_ok())
    };
    expect(&all(|| (), &[add], &[&[0], &[0]]), &["Complete 0:5 1:6", "Complete 0:6 1:5"]);
    expect(&all(|| (), &[of_cell], &[&[0], &[0]]), &["Complete 0:0 1:1", "Complete 0:1 1:0"]);
    expect(&all(|| (), &[of_lazy], &[&[0], &[0]]), &["Complete 0:7 1:8", "Complete 0:8 1:7"]);
    expect(&all(|| (), &[pointer], &[&[0], &[0]]), &["Complete 0:0 1:1", "Complete 0:1 1:0"]);
    assert_eq!(COUNT.load(SeqCst), 5, "statics have their initial values after the exploration");
    assert!(CELL.get().is_none());
}

#[test]
fn threads_are_tasks() {
    let join: Operation<Arc<AtomicU64>> = |word| {
        let theirs = Arc::clone(word);
        let thread = thread::spawn(move || theirs.fetch_add(1, SeqCst));
        let mine = word.fetch_add(10, SeqCst);
        mine * 100 + thread.join().expect("the thread does not panic")
    };
    expect(&all(Arc::default, &[join], &[&[0]]), &["Complete 0:10", "Complete 0:100"]);
    let scoped: Operation<AtomicU64> = |word| {
        thread::scope(|scope| {
            scope.spawn(|| word.fetch_add(1, SeqCst));
            scope.spawn(|| word.store(5, SeqCst));
        });
        word.load(SeqCst)
    };
    expect(&all(|| AtomicU64::new(0), &[scoped], &[&[0]]), &["Complete 0:5", "Complete 0:6"]);
    let panics: Operation<()> = |()| {
        let thread = thread::spawn(|| std::panic::resume_unwind(Box::new("quiet")));
        let result: thread::Result<()> = thread.join();
        u64::from(result.is_err())
    };
    expect(&all(|| (), &[panics], &[&[0]]), &["Complete 0:1"]);
}

#[test]
fn parked_threads_are_unparked() {
    type Parked = (OnceLock<thread::Thread>, AtomicBool);
    let park: Operation<Parked> = |(parked, flag)| {
        parked.set(thread::current()).expect("only one thread parks");
        while !flag.load(SeqCst) {
            thread::park();
        }
        1
    };
    let unpark: Operation<Parked> = |(parked, flag)| {
        flag.store(true, SeqCst);
        parked.get().map_or(0, |thread| {
            thread.unpark();
            1
        })
    };
    let make = || (OnceLock::new(), AtomicBool::new(false));
    expect(&all(make, &[park, unpark], &[&[0], &[1]]), &["Complete 0:1 1:0", "Complete 0:1 1:1"]);
}

struct Noisy(Cell<u64>, Option<Arc<AtomicU64>>);

impl Drop for Noisy {
    fn drop(&mut self) {
        if let Some(dropped) = &self.1 {
            dropped.fetch_add(self.0.get(), SeqCst);
        }
    }
}

trueline_sync::thread_local! {
    static NOISY: Cell<Option<Noisy>> = const { Cell::new(None) };
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

#[test]
fn thread_locals_are_those_of_the_task() {
    let count: Operation<()> = |()| {
        CALLS.set(CALLS.get() + 1);
        CALLS.get()
    };
    expect(&all(|| (), &[count], &[&[0, 0], &[0]]), &["Complete 0:1 0:2 1:1"]);
    // The thread locals of a thread are dropped when it ends, before it is joined.
    let leave: Operation<Arc<AtomicU64>> = |dropped| {
        let theirs = Arc::clone(dropped);
        thread::spawn(move || NOISY.set(Some(Noisy(Cell::new(3), Some(theirs))))).join().expect("no thread panics");
        dropped.load(SeqCst)
    };
    expect(&all(Arc::default, &[leave], &[&[0]]), &["Complete 0:3"]);
}

#[test]
fn messages_arrive() {
    type Ends = (Mutex<mpsc::Sender<u64>>, Mutex<mpsc::Receiver<u64>>);
    let send: Operation<Ends> = |(sender, _)| u64::from(sender.lock().expect("not poisoned").send(4).is_err());
    let receive: Operation<Ends> = |(_, receiver)| receiver.lock().expect("not poisoned").recv().unwrap_or(99);
    let make = || {
        let (sender, receiver) = mpsc::channel();
        (Mutex::new(sender), Mutex::new(receiver))
    };
    expect(&all(make, &[send, receive], &[&[0], &[1]]), &["Complete 0:0 1:4"]);
    expect(&all(make, &[send, receive], &[&[0], &[1, 1]]), &["Stuck 0:0 1:4 1:?"]);
}

/// Adds the numbers that are sent to it, on a separate thread.
struct Adder {
    sender: Option<Mutex<mpsc::Sender<u64>>>,
    sum: Arc<(Mutex<u64>, Condvar)>,
    worker: Option<thread::JoinHandle<()>>,
}

impl Adder {
    fn new() -> Self {
        let (sender, receiver) = mpsc::channel();
        let (ready, is_ready) = mpsc::channel();
        let sum = Arc::<(Mutex<u64>, Condvar)>::default();
        let theirs = Arc::clone(&sum);
        let worker = thread::spawn(move || {
            ready.send(()).expect("the creator waits for this");
            for number in receiver {
                *theirs.0.lock().expect("not poisoned") += number;
                theirs.1.notify_all();
            }
        });
        is_ready.recv().expect("the thread reports that it is ready");
        Self { sender: Some(Mutex::new(sender)), sum, worker: Some(worker) }
    }
}

impl Drop for Adder {
    fn drop(&mut self) {
        self.sender = None;
        self.worker.take().map(thread::JoinHandle::join).expect("the worker is running").expect("no thread panics");
    }
}

#[test]
fn objects_may_have_threads_of_their_own() {
    let add: Operation<Adder> =
        |adder| adder.sender.as_ref().map_or(9, |sender| u64::from(sender.lock().expect("no panics").send(2).is_err()));
    let wait: Operation<Adder> = |adder| {
        let sum = adder.sum.1.wait_while(adder.sum.0.lock().expect("not poisoned"), |sum| *sum == 0);
        *sum.expect("not poisoned")
    };
    let (seen_all, report) = seen(Adder::new, &[add, wait], &[&[0], &[1]], Search::Preemptions(2));
    expect(&seen_all, &["Complete 0:0 1:2"]);
    assert!(report.is_complete);
}

#[test]
fn a_thread_that_waits_for_ever_is_left_behind() {
    let make = || {
        let word = Arc::new(AtomicU64::new(0));
        let theirs = Arc::clone(&word);
        // No thread sends, and the sender is never dropped.
        thread::spawn(move || {
            let (sender, receiver) = mpsc::channel::<()>();
            theirs.store(1, SeqCst);
            let _ = receiver.recv();
            drop(sender);
        });
        word
    };
    let read: Operation<Arc<AtomicU64>> = |word| word.load(SeqCst);
    expect(&all(make, &[read], &[&[0]]), &["Complete 0:0", "Complete 0:1"]);
}

#[test]
fn loops_that_back_off_wait() {
    type Handed = (AtomicBool, Mutex<VecDeque<u64>>);
    let wait: Operation<Handed> = |(ready, values)| {
        let mut step = 0;
        while !ready.load(SeqCst) {
            (0..1 << step).for_each(|_| spin_loop());
            step = (step + 1).min(6);
        }
        values.lock().expect("not poisoned").pop_front().unwrap_or(99)
    };
    let hand: Operation<Handed> = |(ready, values)| {
        values.lock().expect("not poisoned").push_back(8);
        ready.store(true, SeqCst);
        0
    };
    expect(&all(|| (AtomicBool::new(false), Mutex::default()), &[wait, hand], &[&[0], &[1]]), &["Complete 0:8 1:0"]);
    expect(&all(|| (AtomicBool::new(false), Mutex::default()), &[wait], &[&[0]]), &["Stuck 0:?"]);
}

//! Tests of exploration: leaving out equivalent schedules loses no history, and all expected faults are found.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use trueline::drive::systematic::{Ended, Execution, Program, Report, Search, Settings, explore, replay};
use trueline::drive::{Behavior, Call, Clock, Handle, Instance, Kind, Random, Timed};
use trueline::history::{Argument as _, EventKind, Value};
use trueline::primitives::{self, AtomicU64, Condvar, MutexGuard, Ordering::SeqCst, choose, spin_hint};

/// An instruction of an operation of the [`Machine`].
#[derive(Clone, Copy, Debug)]
enum Instruction {
    Load(usize),
    Store(usize, u64),
    Add(usize),
    CompareExchange(usize, u64, u64),
    Choose(usize),
    /// Spins until a word has this value.
    Until(usize, u64),
    /// Spins until a word has this value, and gives up after three attempts.
    Try(usize, u64),
    Lock(usize),
    TryLock(usize),
    Unlock(usize),
    /// With the lock of this number held, waits to be notified while the value of the lock is not this one.
    Wait(usize, u64),
    /// With the lock of this number held, waits once, with a time limit.
    WaitForAWhile(usize),
    /// With the lock of this number held, sets the value of the lock.
    Set(usize, u64),
    NotifyOne(usize),
    NotifyAll(usize),
}
use Instruction::*;

/// A machine with words and locks. Its operations are small programs, and return the values that they have read.
struct Machine {
    words: [AtomicU64; 3],
    locks: [primitives::Mutex<u64>; 2],
    condvars: [Condvar; 2],
    operations: Arc<[Vec<Instruction>]>,
}

#[derive(Clone)]
struct Shared(Arc<Machine>);

impl Instance for Shared {
    fn handle(&self, _thread: u32) -> Box<dyn Handle> {
        Box::new(self.clone())
    }
}

impl Handle for Shared {
    fn call(&mut self, call: &Call, clock: Clock) -> Timed {
        Timed::measure(clock, || self.0.run(call.operation as usize))
    }
}

impl Machine {
    fn run(&self, operation: usize) -> Vec<u64> {
        let mut read = Vec::new();
        let mut guards: [Option<MutexGuard<'_, u64>>; 2] = [None, None];
        for instruction in &self.operations[operation] {
            match *instruction {
                Load(word) => read.push(self.words[word].load(SeqCst)),
                Store(word, value) => self.words[word].store(value, SeqCst),
                Add(word) => read.push(self.words[word].fetch_add(1, SeqCst)),
                CompareExchange(word, old, new) => {
                    read.push(u64::from(self.words[word].compare_exchange(old, new, SeqCst, SeqCst).is_ok()));
                }
                Choose(bound) => read.push(choose(bound) as u64),
                Until(word, value) => {
                    while self.words[word].load(SeqCst) != value {
                        spin_hint();
                    }
                }
                Try(word, value) => {
                    let mut tries = 0;
                    while self.words[word].load(SeqCst) != value && tries < 3 {
                        tries += 1;
                        spin_hint();
                    }
                    // The number of attempts depends on the schedule.
                    read.push(u64::from(tries == 3));
                }
                Lock(lock) if guards[lock].is_none() => guards[lock] = Some(self.locks[lock].lock()),
                TryLock(lock) if guards[lock].is_none() => {
                    guards[lock] = self.locks[lock].try_lock();
                    read.push(u64::from(guards[lock].is_some()));
                }
                Unlock(lock) => drop(guards[lock].take()),
                Wait(lock, value) => {
                    if let Some(mut guard) = guards[lock].take() {
                        while *guard != value {
                            guard = self.condvars[lock].wait(guard);
                        }
                        guards[lock] = Some(guard);
                    }
                }
                WaitForAWhile(lock) => {
                    if let Some(guard) = guards[lock].take() {
                        let (guard, timed_out) = self.condvars[lock].wait_timeout(guard, std::time::Duration::MAX);
                        read.push(u64::from(timed_out) * 10 + *guard);
                        guards[lock] = Some(guard);
                    }
                }
                Set(lock, value) => {
                    if let Some(guard) = &mut guards[lock] {
                        read.push(**guard);
                        **guard = value;
                    }
                }
                NotifyOne(lock) => self.condvars[lock].notify_one(),
                NotifyAll(lock) => self.condvars[lock].notify_all(),
                Lock(_) | TryLock(_) => {}
            }
        }
        read
    }
}

/// Returns the program in which each thread calls its operations, each once.
fn program(threads: &[Vec<Vec<Instruction>>]) -> Program {
    let operations: Arc<[Vec<Instruction>]> = threads.concat().into();
    let mut number = 0;
    let threads = threads.iter().map(|operations| {
        let calls = operations.iter().map(|_| {
            number += 1;
            Call { operation: number - 1, argument: Value::Null }
        });
        Behavior::Calls(calls.collect())
    });
    let threads = threads.collect();
    let kinds: Vec<Kind> = (0..operations.len()).map(|name| Kind::new(&format!("op{name}"), |_| Value::Null)).collect();
    let make = move || -> Arc<dyn Instance> {
        let operations = Arc::clone(&operations);
        Arc::new(Shared(Arc::new(Machine {
            words: Default::default(),
            locks: Default::default(),
            condvars: Default::default(),
            operations,
        })))
    };
    Program {
        make: Arc::new(make),
        kinds: kinds.into(),
        threads,
        before: vec![],
        after: vec![],
        operations: 0,
        seed: 0,
    }
}

/// Returns a canonical form of a history: adjacent calls are sorted by process, and so are adjacent returns.
fn canonical(execution: &Execution) -> String {
    let history = &execution.history;
    let mut events: Vec<(bool, u32, String)> = history
        .events()
        .iter()
        .map(|event| {
            let operation = &history[event.op()];
            let is_call = event.kind() == EventKind::Call;
            let text = match is_call {
                true => operation.op.operation.to_string(),
                false => format!("{:?}", operation.outcome.result()),
            };
            (is_call, operation.process.0, text)
        })
        .collect();
    for run in events.chunk_by_mut(|first, second| first.0 == second.0) {
        run.sort();
    }
    format!("{:?} {events:?}", execution.ended)
}

fn histories(program: &Program, settings: &Settings) -> (BTreeSet<String>, Report) {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let collected = Arc::clone(&seen);
    let report = explore(
        program,
        settings,
        Arc::new(move |execution| {
            assert!(collected.lock().expect("not poisoned").insert(canonical(execution)), "each is judged once");
            true
        }),
    );
    let histories = std::mem::take(&mut *seen.lock().expect("not poisoned"));
    assert_eq!(histories.len() as u64, report.histories);
    (histories, report)
}

fn settings(search: Search) -> Settings {
    let mut settings = Settings::default();
    settings.search = search;
    settings
}

/// Generates a random operation.
fn operation(random: &mut Random, level: u32) -> Vec<Instruction> {
    let length = 1 + random.below(3);
    let mut operation: Vec<Instruction> = (0..length)
        .map(|_| {
            let (word, value) = (random.below(2) as usize, u64::from(random.below(2)));
            let lock = random.below(2) as usize;
            match random.below([5, 8, 15][level as usize]) {
                0 => Load(word),
                1 | 2 => Store(word, value + 1),
                3 => Add(word),
                4 => CompareExchange(word, value, value + 1),
                5 => Choose(2),
                6 => Until(word, value),
                7 => Try(word, value),
                8 => Wait(lock, value),
                9 => WaitForAWhile(lock),
                10 => NotifyOne(lock),
                11 => NotifyAll(lock),
                12 => Unlock(lock),
                13 => Set(lock, value),
                _ => TryLock(lock),
            }
        })
        .collect();
    if level == 2 && random.chance(2, 3) {
        operation.insert(0, Lock(random.below(2) as usize));
    }
    operation
}

/// The maximum number of executions without reduction, so that a test takes seconds.
const MOST: u64 = 1_500;

fn random_programs(seeds: std::ops::Range<u64>, level: u32) -> (u64, u64) {
    let (mut reduced, mut unreduced) = (0, 0);
    let mut compared = 0;
    for seed in seeds {
        let mut random = Random::new(seed);
        let sizes: &[u32] = random.pick::<&[u32]>(&[&[1, 1], &[2, 1], &[1, 1, 1], &[2, 2]]);
        let threads: Vec<Vec<Vec<Instruction>>> =
            sizes.iter().map(|calls| (0..*calls).map(|_| operation(&mut random, level)).collect()).collect();
        let program = program(&threads);
        let mut all = settings(Search::Unreduced);
        all.executions = Some(MOST);
        let (expected, all) = histories(&program, &all);
        if !all.is_complete {
            continue;
        }
        compared += 1;
        let (got, report) = histories(&program, &settings(Search::Exhaustive));
        assert!(report.is_complete);
        if threads.concat().concat().iter().any(|instruction| matches!(instruction, Try(..))) {
            // The exploration does not try all orders in which spinning tasks give up.
            assert!(got.is_subset(&expected) && !got.is_empty(), "seed {seed}: {threads:#?}");
            continue;
        }
        let missing: Vec<_> = expected.difference(&got).collect();
        assert!(missing.is_empty(), "seed {seed}: {threads:#?} can do what was left out: {missing:#?}");
        assert_eq!(expected, got, "seed {seed}: {threads:#?}");
        assert!(report.executions <= all.executions, "seed {seed}: {report:?}");
        reduced += report.executions;
        unreduced += all.executions;
        if seed % 8 == 0 {
            for search in [Search::Exhaustive, Search::Unreduced] {
                let mut parallel = settings(search);
                parallel.os_threads = 3;
                let (got, report) = histories(&program, &parallel);
                assert_eq!(expected, got, "seed {seed}: {threads:#?}");
                assert!(report.is_complete);
            }
        }
    }
    assert!(compared > 20, "only {compared} programs were small enough");
    (reduced, unreduced)
}

#[test]
fn reduction_loses_no_history_of_atomics() {
    let (reduced, unreduced) = random_programs(0..150, 0);
    assert!(reduced * 3 < unreduced, "{reduced} of {unreduced} executions");
}

#[test]
fn reduction_loses_no_history_of_choices_and_spinning() {
    random_programs(0..150, 1);
}

#[test]
fn reduction_loses_no_history_of_locks_and_conditions() {
    random_programs(0..200, 2);
}

#[test]
fn without_reduction_there_are_all_interleavings() {
    // Each thread makes one call with this many loads, in any order.
    for (loads, interleavings) in [([1, 1], 6), ([2, 2], 20), ([2, 3], 35), ([4, 4], 252)] {
        let program = program(&loads.map(|loads| vec![vec![Load(0); loads]]));
        let (all, report) = histories(&program, &settings(Search::Unreduced));
        assert_eq!((report.executions, all.len()), (interleavings, 3), "{loads:?}");
        // The loads do not depend on each other, so only the order of the operations matters: one precedes the other,
        // or they overlap.
        let (reduced, report) = histories(&program, &settings(Search::Exhaustive));
        assert_eq!(reduced, all);
        assert!(report.executions - report.redundant <= 4, "{report:?}");
    }
}

#[test]
fn without_preemptions_there_are_the_serial_executions_of_what_does_not_wait() {
    let threads = vec![vec![vec![Load(0), Store(0, 1)], vec![Add(0)]], vec![vec![Store(0, 5), Load(1)], vec![Load(0)]]];
    let program = program(&threads);
    let (serial, report) = histories(&program, &settings(Search::Serial));
    assert_eq!((report.executions, serial.len()), (6, 6));
    let (without, report) = histories(&program, &settings(Search::Preemptions(0)));
    assert_eq!(without, serial);
    assert_eq!(report.executions, 6);
    let mut known = without;
    for preemptions in 1..8 {
        let (more, _) = histories(&program, &settings(Search::Preemptions(preemptions)));
        assert!(more.is_superset(&known));
        known = more;
    }
    assert_eq!(known, histories(&program, &settings(Search::Exhaustive)).0, "seven preemptions are enough");
}

#[test]
fn it_ends_when_it_is_told_to() {
    let program = program(&[vec![vec![Load(0); 4]], vec![vec![Load(0); 4]]]);
    for most in [0, 1, 17, 251, 252] {
        let mut settings = settings(Search::Unreduced);
        let asked = AtomicU64::new(0);
        settings.stop = Some(Arc::new(move || asked.fetch_add(1, SeqCst) >= most));
        let (_, report) = histories(&program, &settings);
        assert_eq!(report.executions, most);
        // After all 252 executions, the exploration must look for another one to find that it is
        // complete.
        assert!(!report.is_complete || most == 252, "{most}: {report:?}");
    }
}

#[test]
fn serial_executions_get_stuck_alone() {
    // Alone, the first operation waits forever; the second one ends the wait.
    let program = program(&[vec![vec![Until(0, 1)]], vec![vec![Store(0, 1)]]]);
    let (serial, _) = histories(&program, &settings(Search::Serial));
    assert_eq!(serial.iter().filter(|history| history.starts_with("Stuck")).count(), 1, "{serial:#?}");
    assert_eq!(serial.len(), 2);
    let (all, _) = histories(&program, &settings(Search::Exhaustive));
    assert!(all.iter().all(|history| history.starts_with("Complete")), "{all:#?}");
}

#[test]
fn whoever_gives_up_is_not_stuck() {
    let (all, report) = histories(&program(&[vec![vec![Try(0, 1)]]]), &settings(Search::Exhaustive));
    assert!(all.iter().all(|history| history.starts_with("Complete")), "{all:#?}");
    assert!(report.is_complete);
}

#[test]
fn deadlocks_are_found_exactly_and_exploration_goes_on() {
    let either = vec![vec![Lock(0), Lock(1)]];
    let other = vec![vec![Lock(1), Lock(0)]];
    for search in [Search::Exhaustive, Search::Unreduced, Search::Preemptions(1)] {
        let (all, _) = histories(&program(&[either.clone(), other.clone()]), &settings(search));
        assert_eq!(all.iter().filter(|history| history.starts_with("Stuck")).count(), 1, "{all:#?}");
        assert!(all.iter().any(|history| history.starts_with("Complete")));
    }
    let (all, _) = histories(&program(&[either.clone(), either]), &settings(Search::Exhaustive));
    assert!(all.iter().all(|history| history.starts_with("Complete")), "{all:#?}");
}

#[test]
fn a_lost_wake_up_is_found_and_a_spurious_one_on_request() {
    // The notification may come before the wait, because the value is not checked.
    let waits = vec![vec![Lock(0), Wait(0, 7)]];
    let sets = vec![vec![NotifyAll(0), Lock(0), Set(0, 7)]];
    let (all, _) = histories(&program(&[waits, sets]), &settings(Search::Exhaustive));
    assert!(all.iter().any(|history| history.starts_with("Stuck")), "{all:#?}");
    let bare = program(&[vec![vec![Lock(0), Wait(0, 1)]]]);
    let mut spurious = settings(Search::Exhaustive);
    let (without, _) = histories(&bare, &spurious);
    spurious.spurious = 2;
    let (with, report) = histories(&bare, &spurious);
    assert_eq!((without.len(), with.len()), (1, 1));
    assert!(report.is_complete);
}

/// Returns the values that operations have read, by their numbers; empty for operations that have not returned.
fn read(execution: &Execution) -> Vec<Vec<u64>> {
    let mut operations: Vec<_> = execution.history.operations().iter().collect();
    operations.sort_by_key(|operation| operation.op.operation);
    operations.iter().filter_map(|operation| Vec::from_value(operation.outcome.result()?)).collect()
}

#[test]
fn a_mutex_excludes() {
    let is_excluded = |operation: Vec<Instruction>| {
        let program = program(&vec![vec![operation]; 3]);
        let is_undisturbed = |read: &Vec<u64>| read[1] == read[0] + 1;
        let judge = move |execution: &Execution| {
            let read = read(execution);
            read.len() == 3 && read.iter().all(is_undisturbed)
        };
        let report = explore(&program, &settings(Search::Exhaustive), Arc::new(judge));
        assert_eq!(report.is_complete, report.wrong.is_empty());
        report.wrong.is_empty()
    };
    assert!(is_excluded(vec![Lock(0), Add(0), Load(0)]));
    assert!(!is_excluded(vec![Add(0), Load(0)]));
    assert!(!is_excluded(vec![Lock(0), Add(0), Unlock(0), Load(0)]));
}

#[test]
fn a_condition_variable_loses_no_wake_up_unless_it_goes_to_the_wrong_one() {
    let turn = |mine, next, notify| vec![Lock(0), Wait(0, mine), Set(0, next), Unlock(0), notify];
    let (send, receive) = (turn(0, 1, NotifyAll(0)), turn(1, 0, NotifyAll(0)));
    let twice = program(&[vec![send; 2], vec![receive; 2]]);
    let in_a_row = |notify| program(&[0, 1, 2].map(|me| vec![turn(me, me + 1, notify)]));
    for program in [twice, in_a_row(NotifyAll(0))] {
        let (all, report) = histories(&program, &settings(Search::Exhaustive));
        assert!(report.is_complete && all.iter().all(|history| history.starts_with("Complete")), "{all:#?}");
    }
    // Two operations wait for different values, and only one of them is woken.
    let (all, _) = histories(&in_a_row(NotifyOne(0)), &settings(Search::Exhaustive));
    for ended in ["Stuck", "Complete"] {
        assert!(all.iter().any(|history| history.starts_with(ended)), "{ended}: {all:#?}");
    }
}

#[test]
fn a_timed_wait_ends_in_either_way_and_is_never_stuck() {
    let waits = vec![vec![Lock(0), WaitForAWhile(0)]];
    let fills = vec![vec![Lock(0), Set(0, 1), Unlock(0), NotifyOne(0)]];
    let seen = |threads: &[Vec<Vec<Instruction>>]| {
        let seen = Arc::new(Mutex::new(BTreeSet::new()));
        let collected = Arc::clone(&seen);
        let judge = move |execution: &Execution| {
            assert_eq!(execution.ended, Ended::Complete);
            collected.lock().expect("not poisoned").insert(read(execution)[0][0]);
            true
        };
        explore(&program(threads), &settings(Search::Exhaustive), Arc::new(judge));
        let seen = seen.lock().expect("not poisoned");
        seen.iter().copied().collect::<Vec<_>>()
    };
    // The wait ends by a notification (1), or its time limit expires before the value is set (10) or after that (11).
    // The other thread sets the value before it notifies, so a notification with the value 0 is impossible.
    assert_eq!(seen(&[waits.clone(), fills]), [1, 10, 11]);
    assert_eq!(seen(&[waits]), [10], "no thread notifies");
}

#[test]
fn endless_loops_diverge() {
    // This operation never signals that it waits.
    let endless = vec![vec![CompareExchange(0, 0, 1), Load(0)]; 1];
    let (all, _) = histories(&program(&[endless]), &settings(Search::Exhaustive));
    assert_eq!(all.len(), 1);
    let mut few = settings(Search::Exhaustive);
    few.most_steps = 3;
    let threads = program(&[vec![vec![Load(0); 5]], vec![vec![Store(0, 1)]]]);
    let (all, report) = histories(&threads, &few);
    assert!(all.iter().all(|history| history.starts_with("Diverged")), "{all:#?}");
    assert!(report.diverged > 0 && !report.is_complete);
}

#[test]
fn random_searches_find_what_there_is() {
    let lost = program(&[vec![vec![Load(0), Store(0, 1)]], vec![vec![Load(0), Store(0, 2)]], vec![vec![Load(0)]]]);
    let (expected, _) = histories(&lost, &settings(Search::Exhaustive));
    for search in [Search::Uniform, Search::Pct { depth: 3 }] {
        let mut random = settings(search);
        random.executions = Some(4000);
        let (got, report) = histories(&lost, &random);
        assert!(got.is_subset(&expected) && got.len() * 4 > expected.len() * 3, "{} of {}", got.len(), expected.len());
        assert!(!report.is_complete);
        assert_eq!(histories(&lost, &random).0, got, "the seed determines the schedules");
    }
}

#[test]
fn executions_at_random_add_a_tenth_to_a_search_and_change_nothing_else() {
    let threads = vec![vec![vec![Load(0), Store(0, 1), Add(1)]; 2], vec![vec![Store(0, 5), Load(1), Add(0)]; 2]];
    let program = program(&threads);
    for search in [Search::Exhaustive, Search::Preemptions(2), Search::Unreduced] {
        let (all, alone) = histories(&program, &settings(search.clone()));
        let mut mixed = settings(search.clone());
        mixed.random_one_in = 10;
        let (got, report) = histories(&program, &mixed);
        assert!(report.is_complete && got.is_superset(&all), "{search:?}");
        assert!(got == all || matches!(search, Search::Preemptions(_)), "{search:?}: all were known before");
        assert_eq!(report.executions, alone.executions + alone.executions / 9, "{search:?}");
    }
}

#[test]
fn a_schedule_is_made_again_with_all_its_steps() {
    let threads = vec![vec![vec![Load(0), Store(0, 1), Choose(3)]], vec![vec![Load(0), Store(0, 2), TryLock(0)]]];
    let program = program(&threads);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let collected = Arc::clone(&seen);
    let judge = Arc::new(move |execution: &Execution| {
        collected.lock().expect("not poisoned").push(execution.clone());
        true
    });
    explore(&program, &settings(Search::Exhaustive), judge);
    let seen = seen.lock().expect("not poisoned");
    assert!(seen.len() > 10);
    for execution in &*seen {
        let again = replay(&program, &Settings::default(), &execution.schedule.to_string().parse().expect("valid"));
        assert_eq!(canonical(&again), canonical(execution));
        assert_eq!(again.schedule, execution.schedule);
        assert_eq!(again.preemptions, execution.preemptions);
        let events = again.steps.iter().filter(|step| step.is_event).count();
        assert_eq!((events, again.steps.len()), (4, 4 + 7));
    }
    let plain = replay(&program, &Settings::default(), &Default::default());
    let text: Vec<String> = plain.steps.iter().map(ToString::to_string).collect();
    assert!(text[1].starts_with("T0    load a1 = 0") && text[1].contains("systematic.rs:"), "{text:#?}");
    assert!(text[2].starts_with("T0    store a1 := 1 (was 0)"), "{text:#?}");
    assert!(text[3].starts_with("T0    choose 0 of 3"), "{text:#?}");
    assert!(text[8].starts_with("T1    try_lock m1: acquired"), "{text:#?}");
    assert!(text[9].contains("unlock m1   ") && text[9].contains("systematic.rs:"), "{text:#?}");
    assert!(text[10].starts_with("T1  return from op1: [1,1]"), "{text:#?}");
}

#[test]
fn panics_are_told_and_do_not_end_the_exploration() {
    struct Panics(Arc<AtomicU64>);
    impl Instance for Panics {
        fn handle(&self, _thread: u32) -> Box<dyn Handle> {
            Box::new(Self(Arc::clone(&self.0)))
        }
    }
    impl Handle for Panics {
        fn call(&mut self, _call: &Call, clock: Clock) -> Timed {
            Timed::measure(clock, || {
                if self.0.fetch_add(1, SeqCst) == 1 {
                    std::panic::resume_unwind(Box::new("the second"));
                }
            })
        }
    }
    let mut program = program(&[vec![vec![]], vec![vec![]]]);
    program.make = Arc::new(|| Arc::new(Panics(Arc::default())));
    let ends = Arc::new(Mutex::new(BTreeSet::new()));
    let collected = Arc::clone(&ends);
    let mut settings = Settings::default();
    settings.collect = 100;
    let report = explore(
        &program,
        &settings,
        Arc::new(move |execution| {
            collected.lock().expect("not poisoned").insert(format!("{:?}", execution.ended));
            false
        }),
    );
    let ends: Vec<_> = ends.lock().expect("not poisoned").iter().cloned().collect();
    let panicked = |thread| format!("{:?}", Ended::Panicked { thread, message: "the second".to_owned() });
    assert_eq!(ends, [panicked(0), panicked(1)], "{report:?}");
}

#[test]
#[should_panic(expected = "the object is not deterministic")]
fn objects_that_are_not_deterministic_are_found_out() {
    static MADE: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

    struct Fickle(Arc<AtomicU64>, u64);
    impl Instance for Fickle {
        fn handle(&self, _thread: u32) -> Box<dyn Handle> {
            Box::new(Self(Arc::clone(&self.0), self.1))
        }
    }
    impl Handle for Fickle {
        fn call(&mut self, _call: &Call, clock: Clock) -> Timed {
            Timed::measure(clock, || {
                for _ in 0..1 + self.1 % 3 {
                    self.0.fetch_add(1, SeqCst);
                }
            })
        }
    }
    let mut program = program(&[vec![vec![]], vec![vec![]]]);
    program.make = Arc::new(|| Arc::new(Fickle(Arc::default(), MADE.fetch_add(1, SeqCst))));
    explore(&program, &settings(Search::Unreduced), Arc::new(|_| true));
}

mod tests_with_types {
    use super::*;
    use trueline::test::{Against, Exploration, FailureKind, Meaning, Test, call};

    /// A test of a ticket counter: correct with an atomic update, faulty with a load and a store.
    fn tickets(is_right: bool) -> Test<AtomicU64, trueline::test::Shared<AtomicU64>, trueline::test::Modeled<u64>> {
        trueline::test(|| AtomicU64::new(0))
            .model(0_u64)
            .operation(
                "draw",
                (),
                move |counter, ()| {
                    if is_right {
                        return counter.fetch_add(1, SeqCst);
                    }
                    let number = counter.load(SeqCst);
                    counter.store(number + 1, SeqCst);
                    number
                },
                |model, ()| {
                    *model += 1;
                    *model - 1
                },
            )
            .name("tickets")
            .forgetful()
    }

    #[test]
    fn one_test_serves_both_engines() {
        assert!(tickets(true).explore(Exploration::new()).seed(1).outcome().failure.is_none());
        assert!(tickets(true).runs(50).outcome().failure.is_none());
        let failure = tickets(false).explore(Exploration::new()).seed(1).outcome().failure.expect("it is faulty");
        assert_eq!(failure.kind, FailureKind::NotLinearizable);
        let text = failure.to_string();
        for expected in
            ["tickets is not linearizable", "step by step", "load a1 = 0", "store a1 := 1", "TRUELINE_REPLAY="]
        {
            assert!(text.contains(expected), "{expected} in {text}");
        }
        let token = failure.token.to_string();
        let again = tickets(false).replay(&token).outcome();
        assert_eq!(again.runs, 1);
        assert_eq!(again.failure.expect("it fails again").history.events().len(), failure.history.events().len());
        assert!(tickets(true).replay(&token).outcome().failure.is_none(), "the corrected object does not fail");
    }

    /// A canceled exploration rejects no correct history, even if it has found only some of the
    /// serial histories.
    #[test]
    fn a_cancelled_exploration_says_nothing_wrong() {
        use trueline::judge::CancelToken;
        let explore = |most: u64, against: Against| {
            let token = CancelToken::new();
            let (cancels, calls) = (token.clone(), std::sync::atomic::AtomicU64::new(0));
            let plan = trueline::test(|| AtomicU64::new(0))
                .model(0_u64)
                .operation(
                    "draw",
                    (),
                    move |counter, ()| {
                        if calls.fetch_add(1, SeqCst) == most {
                            cancels.cancel();
                        }
                        counter.fetch_add(1, SeqCst)
                    },
                    |model, ()| {
                        *model += 1;
                        *model - 1
                    },
                )
                .program([vec![call("draw", ()), call("draw", ())], vec![call("draw", ()), call("draw", ())]])
                .weight(0)
                .forgetful()
                .explore(Exploration::new().against(against))
                .into_plan();
            let outcome = plan.cancelled_by(token.clone()).run();
            assert!(outcome.failure.is_none(), "cancelled at call {most}: {:?}", outcome.failure);
            (token.is_cancelled(), outcome.explored.expect("the plan was explored"))
        };
        for against in [Against::Itself, Against::Specification] {
            let (_, whole) = explore(u64::MAX, against.clone());
            assert!(whole.is_complete, "{whole:?}");
            // Cancels later and later, until the exploration ends before it is canceled.
            let cancelled = (0..1_000_000).step_by(7).take_while(|most| {
                let (is_cancelled, explored) = explore(*most, against.clone());
                let is_whole = explored.executions == whole.executions && explored.histories == whole.histories;
                assert_eq!(explored.is_complete, is_whole, "cancelled at call {most}: {explored:?}");
                is_cancelled
            });
            let cancelled = cancelled.count();
            assert!((20..10_000).contains(&cancelled), "{against:?}: {cancelled}");
        }
    }

    #[test]
    fn what_is_before_and_after_counts() {
        let around = |is_right| {
            tickets(is_right)
                .before([call("draw", ()), call("draw", ())])
                .after([call("draw", ())])
                .program([vec![call("draw", ())], vec![call("draw", ())]])
                .shrink_for(std::time::Duration::ZERO)
                .explore(Exploration::new())
                .outcome()
        };
        let outcome = around(true);
        let explored = outcome.explored.expect("the plan was explored");
        assert!(outcome.failure.is_none() && explored.is_complete, "{explored:?}");
        // One call precedes the other, or they overlap, with either result.
        assert_eq!((explored.programs, explored.histories), (1, 4));
        let failure = around(false).failure.expect("the object is faulty");
        let last = failure.history.operations().last().expect("the history is not empty");
        assert_eq!((failure.history.len(), last.outcome.result()), (5, Some(&Value::Int(3))), "one was lost");
    }

    #[test]
    fn without_a_model_that_is_right_the_object_itself_is_one() {
        // According to the model, all numbers are 7, so it must not be used.
        let unspecified = |is_right: bool| {
            trueline::test(|| AtomicU64::new(0))
                .model(())
                .operation(
                    "draw",
                    (),
                    move |counter, ()| {
                        if is_right {
                            return counter.fetch_add(1, SeqCst);
                        }
                        let number = counter.load(SeqCst);
                        counter.store(number + 1, SeqCst);
                        number
                    },
                    |(), ()| 7,
                )
                .forgetful()
                .explore(Exploration::new().against(Against::Itself))
                .outcome()
        };
        assert!(unspecified(true).failure.is_none());
        assert_eq!(unspecified(false).failure.expect("the object is faulty").kind, FailureKind::NotSerial);
    }

    #[test]
    fn what_waits_alone_may_wait_among_others() {
        // A gate that can be passed only if it was opened before. The faulty gate can also be passed if it is opened
        // meanwhile.
        let gate = |is_right: bool| {
            trueline::test(|| AtomicU64::new(0))
                .model(())
                .operation(
                    "pass",
                    (),
                    move |opened, ()| {
                        let before = if is_right { 0 } else { opened.load(SeqCst) };
                        while opened.load(SeqCst) == before {
                            spin_hint();
                        }
                    },
                    |(), ()| (),
                )
                .operation("open", (), |opened, ()| opened.store(1, SeqCst), |(), ()| ())
                .program([vec![call("pass", ())], vec![call("open", ())]])
                .forgetful()
                .explore(Exploration::new().against(Against::Itself))
                .outcome()
        };
        let outcome = gate(true);
        assert!(outcome.failure.is_none(), "{}", outcome.failure.expect("there is a failure"));
        assert_eq!(outcome.explored.and_then(|explored| explored.serial), Some(2), "alone, the first is stuck");
        assert_eq!(gate(false).failure.expect("serially, the gate is never passed").kind, FailureKind::NotSerial);
    }

    #[test]
    fn programs_of_a_size_put_in_as_much_as_they_take_out() {
        let stack = || {
            trueline::test(|| primitives::Mutex::new(Vec::<u64>::new()))
                .model(Vec::<u64>::new())
                .operation("put", trueline::drive::unique(), |stack, x| stack.lock().push(x), |model, x| model.push(x))
                .means(Meaning::Push)
                .operation("take", (), |stack, ()| stack.lock().pop(), |model, ()| model.pop())
                .means(Meaning::Pop)
                .forgetful()
        };
        let explored = |size: &str| {
            let outcome = stack().explore(Exploration::new().calls(size.parse().expect("a size"))).outcome();
            assert!(outcome.failure.is_none());
            outcome.explored.expect("the plan was explored")
        };
        let small = explored("1*1+4");
        assert!(small.is_complete && small.programs == 3, "{small:?}");
        assert!(explored("2*2+0").is_complete);
    }

    #[test]
    fn reports_are_the_same_each_time() {
        let report = || {
            let failure = tickets(false).explore(Exploration::new()).seed(3).outcome().failure.expect("it is faulty");
            let report = failure.report().to_owned();
            // All lines but the first, which contains the time.
            report.lines().skip(1).filter(|line| !line.contains("rejected (")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(report(), report());
    }
}

/// The calls of the main task also end, and the main task does not repeat the same choice forever.
#[test]
fn the_main_task_comes_to_an_end() {
    use trueline::test::{Exploration, call};

    let drawn = |wanted: usize| {
        trueline::test(|| AtomicU64::new(0))
            .model(0_u64)
            .operation("draw", (), move |flag, ()| while flag.load(SeqCst) == 0 && choose(4) != wanted {}, |_, ()| ())
            .before([call("draw", ())])
            .program([vec![call("draw", ())]])
            .explore(Exploration::new().choices(7).most_steps(1000))
            .forgetful()
            .outcome()
    };
    let outcome = drawn(3);
    assert!(outcome.failure.is_none(), "{}", outcome.failure.expect("there is a failure"));
    // `choose(4)` never returns 4, so the loop does not end. The exploration cannot decide whether that is a fault or
    // bad luck.
    let outcome = drawn(4);
    assert!(outcome.failure.is_none(), "{}", outcome.failure.expect("there is a failure"));
    assert!(!outcome.explored.expect("the plan was explored").is_complete);
}

//! Tests objects that panic, block, spin, allocate without end or exit, wherever code of a test runs. Every test of
//! such an object must end in time, with a report that names the place, or with an exit status other than 0 and the run
//! in a file.
//!
//! Each object is tested in a separate process, which is this program with an environment variable.
#![cfg(unix)]

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use trueline::drive::made_by;

const CASE: &str = "TRUELINE_HOSTILE_CASE";
const NAME: &str = "TRUELINE_HOSTILE_NAME";

const PLACES: [&str; 12] = [
    "constructor",
    "handle",
    "operation",
    "drop",
    "drop-handle",
    "clone",
    "debug",
    "model",
    "eq",
    "drop-model",
    "arguments",
    "release",
];
const BEHAVIORS: [&str; 5] = ["panic", "block", "spin", "allocate", "exit"];
/// Behaviors after which no code can continue: a stack overflow, and a panic while another panic
/// unwinds.
const ABORTS: [&str; 2] = ["overflow", "unwind"];

/// The time limit for the runs.
const TIME: Duration = Duration::from_millis(200);
/// The maximum time that a test may take in addition to [`TIME`].
const LATER: Duration = Duration::from_secs(5);
/// If a test takes longer than this, the parent prints its name, and keeps waiting: no time limit could distinguish a
/// slow machine from a slow test.
const SLOW: Duration = Duration::from_secs(60);

/// Misbehaves, if this is the place for it.
fn at(place: &str) {
    let case = std::env::var(CASE).unwrap_or_default();
    let Some((hostile, behavior)) = case.split_once(':') else { return };
    if hostile != place {
        return;
    }
    match behavior {
        "panic" => panic!("hostile"),
        "block" => loop {
            std::thread::park();
        },
        "spin" => loop {
            std::hint::spin_loop();
        },
        // The memory is not touched, so only addresses are used. An optimizing compiler removes allocations that nothing
        // can see.
        "allocate" => loop {
            std::mem::forget(std::hint::black_box(Vec::<u8>::with_capacity(64 << 20)));
        },
        "exit" => std::process::exit(0),
        "overflow" => drop(overflow(0)),
        "unwind" => {
            let _again = PanicsWhenDropped;
            panic!("hostile");
        }
        _ => unreachable!("{case}"),
    }
}

/// Calls itself without end.
fn overflow(depth: u64) -> Vec<u64> {
    let mut deeper = if std::hint::black_box(depth) < u64::MAX { overflow(depth + 1) } else { Vec::new() };
    deeper.push(depth);
    deeper
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("hostile again");
    }
}

struct Object(AtomicU64);

impl Drop for Object {
    fn drop(&mut self) {
        at("drop");
    }
}

struct Handle(trueline::test::Shared<Object>);

impl Drop for Handle {
    fn drop(&mut self) {
        at("drop-handle");
    }
}

struct Model(u64);

impl Clone for Model {
    fn clone(&self) -> Self {
        at("clone");
        Self(self.0)
    }
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        at("eq");
        self.0 == other.0
    }
}

impl Eq for Model {}

impl Hash for Model {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        at("debug");
        self.0.fmt(f)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        at("drop-model");
    }
}

/// Tests a hostile object, if an environment variable names one.
#[test]
fn child() {
    let Ok(case) = std::env::var(CASE) else { return };
    let name = std::env::var(NAME).expect("both variables are set");
    let has = |place: &str| case.starts_with(&format!("{place}:"));
    // Explaining a failure requires a failure, and releasing requires an operation that waits.
    let (is_wrong, waits) = (has("debug"), has("release"));
    let mut test = trueline::test(|| {
        at("constructor");
        Object(AtomicU64::new(0))
    })
    .handle(|object, _| {
        at("handle");
        Handle(object.clone())
    })
    .release(|_| at("release"))
    .model(Model(0))
    .operation(
        "add",
        made_by(|random| {
            at("arguments");
            u64::from(random.below(9))
        }),
        move |handle: &mut Handle, x| {
            at("operation");
            if waits {
                loop {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            handle.0.0.fetch_add(x, Ordering::SeqCst) + u64::from(is_wrong)
        },
        |model, x| {
            at("model");
            model.0 += x;
            model.0 - x
        },
    );
    if waits {
        test = test.may_block();
    }
    if is_wrong {
        test = test.pages(std::env::temp_dir().join(&name));
    }
    // An abort may print a long trace first, and the run must not count as stuck meanwhile.
    let aborts = ABORTS.iter().any(|behavior| case.ends_with(behavior));
    test.name(&name)
        .forgetful()
        .time(TIME)
        .watchdog(if aborts { Duration::from_secs(86_400) } else { Duration::from_millis(30) })
        .shrink_for(Duration::from_millis(300))
        .run();
}

/// A process that tests a hostile object.
struct Test {
    place: &'static str,
    behavior: &'static str,
    name: String,
    child: Child,
    started: Instant,
    output: PathBuf,
}

/// The end of a test.
struct Ended {
    what: String,
    status: ExitStatus,
    took: Duration,
    output: String,
    /// Whether a file still contains the run.
    is_left: bool,
}

impl Test {
    fn start(place: &'static str, behavior: &'static str) -> Self {
        let name = format!("hostile-{place}-{behavior}-{}", std::process::id());
        Self::start_named(place, behavior, name)
    }

    fn start_named(place: &'static str, behavior: &'static str, name: String) -> Self {
        let program = std::env::current_exe().expect("the program has a path");
        let test = module_path!().split_once("::").map_or("child".to_owned(), |(_, module)| format!("{module}::child"));
        let output = std::env::temp_dir().join(format!("{name}.txt"));
        let file = std::fs::File::create(&output).expect("temporary files can be written");
        let again = file.try_clone().expect("the file can be cloned");
        // A process that allocates without end must not take the memory of the machine.
        let child = Command::new("sh")
            .args(["-c", "ulimit -v 3000000; exec \"$0\" \"$@\""])
            .arg(program)
            .args(["--exact", &test, "--nocapture"])
            .env(CASE, format!("{place}:{behavior}"))
            .env(NAME, &name)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(again)
            .spawn()
            .expect("there is a shell");
        Self { place, behavior, name, child, started: Instant::now(), output }
    }

    fn end(mut self) -> Ended {
        let what = format!("{} in {}", self.behavior, self.place);
        let mut is_named = false;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the child can be waited for") {
                break status;
            }
            if !is_named && self.started.elapsed() > SLOW {
                is_named = true;
                let output = std::fs::read_to_string(&self.output).unwrap_or_default();
                eprintln!("{what}: the test has not ended after {SLOW:?}\n{output}");
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let took = self.started.elapsed();
        let output = std::fs::read_to_string(&self.output).expect("the output was written");
        let _ = std::fs::remove_file(&self.output);
        let left = running(&self.name);
        Ended { what, status, took, output, is_left: left.exists() }
    }
}

/// Returns the file of the current runs.
fn running(test: &str) -> PathBuf {
    let program = std::env::current_exe().expect("the program has a path");
    let target = program.ancestors().find(|folder| folder.ends_with("target"));
    target.map_or_else(std::env::temp_dir, Path::to_path_buf).join(format!("trueline/{test}.0.running"))
}

/// Asserts that no test passes, that a test that ends by itself prints a report, and that a test whose process was
/// ended leaves its run in a file.
fn check(tests: Vec<Test>) -> Duration {
    let mut longest = Duration::ZERO;
    for test in tests {
        let (place, behavior, name) = (test.place, test.behavior, test.name.clone());
        let ended = test.end();
        let Ended { what, status, took, output, is_left } = &ended;
        longest = longest.max(*took);
        assert!(!status.success(), "{what}: the test passed\n{output}");
        let reports: &[&str] = match (place, behavior) {
            // Dropping states is part of judging. If many drops panic, the process aborts.
            ("drop-model", "panic") => &[],
            (_, "allocate" | "exit" | "overflow" | "unwind") => {
                // On a slow machine, printing the trace of an abort takes longer than the time
                // limit for releasing.
                let is_reported =
                    place == "release" && output.contains("is broken: releasing operations did not return");
                assert!(*is_left || is_reported, "{what}: no run is in a file\n{output}");
                assert!(behavior != "exit" || output.contains("called `std::process::exit`"), "{what}: {output}");
                &[]
            }
            ("release", "panic") => &["is broken: releasing operations panicked: hostile"],
            ("release", _) => &["is broken: releasing operations did not return"],
            ("handle" | "operation", "panic") => &["panicked in thread", "hostile"],
            ("handle" | "operation", _) => &["is stuck"],
            ("debug", "panic") => &["is not linearizable", "explaining the failure panicked: hostile"],
            ("debug", _) => &["is not linearizable", "explaining the failure did not return"],
            ("constructor", "panic") => &["is broken: the constructor panicked: hostile"],
            ("constructor", _) => &["is broken: the constructor did not return"],
            ("drop", "panic") => &["is broken: dropping the object panicked: hostile"],
            ("drop", _) => &["is broken: dropping the object did not return"],
            ("drop-handle", "panic") => &["is broken: dropping a handle panicked: hostile"],
            ("drop-handle", _) => &["is broken: dropping a handle did not return"],
            ("arguments", "panic") => &["hostile"],
            ("arguments", _) => &["is broken: generating arguments did not return"],
            (_, "panic") => &["is broken: the model panicked: hostile"],
            (_, _) => &["is broken: the model did not return"],
        };
        for report in reports {
            assert!(output.contains(report), "{what}: {status}, no {report:?} in\n{output}");
        }
        assert!(reports.is_empty() || !is_left, "{what}: the file of runs is still there\n{output}");
        let _ = std::fs::remove_file(running(&name));
        // Removes the pages of the test, if it wrote any.
        let _ = std::fs::remove_dir_all(std::env::temp_dir().join(&name));
    }
    longest
}

/// Objects that spin take processors from all others, so most of them are in the soak test.
#[test]
fn tests_of_hostile_objects_end() {
    let tests: Vec<Test> = PLACES
        .into_iter()
        .flat_map(|place| BEHAVIORS.into_iter().map(move |behavior| (place, behavior)))
        .filter(|(place, behavior)| *behavior != "spin" || *place == "model")
        .map(|(place, behavior)| Test::start(place, behavior))
        .collect();
    check(tests);
}

#[test]
fn tests_of_objects_that_abort_leave_the_run_behind() {
    let everywhere = PLACES.into_iter().flat_map(|place| ABORTS.into_iter().map(move |behavior| (place, behavior)));
    check(everywhere.map(|(place, behavior)| Test::start(place, behavior)).collect());
}

/// Returns the number of threads of this process.
#[cfg(target_os = "linux")]
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("this is Linux").count()
}

/// Runs tests with many threads, if an environment variable requests it: tests of correct objects, and of objects that
/// panic or get stuck where their threads can be ended.
#[cfg(target_os = "linux")]
#[test]
fn child_that_counts_threads() {
    const MANY: u32 = 200;
    if std::env::var_os(NAME).is_none() {
        return;
    }
    let before = threads();
    for number in 0..12_u64 {
        let test = trueline::test(|| trueline::primitives::AtomicU64::new(0)).model(()).operation(
            "go",
            (),
            move |turns, ()| match (turns.fetch_add(1, Ordering::SeqCst), number % 3) {
                (3.., 1) => panic!("hostile"),
                (3.., 2) => loop {
                    trueline::primitives::spin_hint();
                },
                _ => {}
            },
            |(), ()| (),
        );
        let outcome = test.forgetful().threads(MANY).calls(2).runs(3).shrink_for(Duration::ZERO).outcome();
        assert_eq!((outcome.failure.is_some(), outcome.lost), (number % 3 > 0, 0));
        // A thread that has reported its result may still be about to end.
        let after = threads();
        assert!(
            after < before + MANY as usize / 4,
            "{after} threads are alive after test {number}, {before} were before"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn threads_do_not_pile_up() {
    // In a separate process, no other test has threads.
    let program = std::env::current_exe().expect("the program has a path");
    let output = Command::new(program)
        .args(["--exact", "hostile::child_that_counts_threads", "--nocapture"])
        .env(NAME, "threads")
        .output()
        .expect("the program can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{said}");
}

#[test]
#[ignore = "a soak: one after the other, they take minutes"]
#[expect(clippy::print_stderr, reason = "the test prints what it measured")]
fn soak_of_hostile_objects() {
    let mut longest = Duration::ZERO;
    for place in PLACES {
        for behavior in BEHAVIORS {
            let took = check(vec![Test::start(place, behavior)]);
            eprintln!("{behavior} in {place}: {took:.1?}");
            longest = longest.max(took);
        }
    }
    assert!(longest <= TIME + LATER, "the longest test took {longest:?}");
}

/// After a test has ended its process, the next start of the test names the runs that may have
/// caused this, and narrows them down.
#[test]
fn runs_that_ended_the_process_are_tried_first() {
    let name = format!("hostile-again-{}", std::process::id());
    let first = Test::start_named("operation", "exit", name.clone()).end();
    assert!(first.is_left && !first.output.contains("was killed or exited during"), "{}", first.output);
    let again = Test::start_named("operation", "exit", name.clone()).end();
    assert!(again.output.contains("was killed or exited during"), "{}", again.output);
    let left = std::fs::read_to_string(running(&name)).expect("the process ended again");
    let runs = left.lines().take_while(|line| *line != "end").count() - 1;
    assert_eq!(runs, 1, "{left}");
    let good = Test::start_named("nowhere", "exit", name.clone()).end();
    assert!(good.status.success() && !good.is_left, "{}", good.output);
    assert!(good.output.contains("was killed or exited during"), "{}", good.output);
}

//! Tests `cargo trueline` with the real command, on a project whose dependencies are all local: the tests need neither
//! the network nor `trueline` itself, which takes long to compile. A `World` that counts schedule points takes the place
//! of an exploration.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A crate that does not depend on trueline.
const VICTIM: &str = r#"
#![no_std]
extern crate std;

use std::cell::Cell;
use std::prelude::v1::*;
use core::sync::atomic::{AtomicUsize, Ordering};

static CALLS: AtomicUsize = AtomicUsize::new(0);

std::thread_local! {
    static MINE: Cell<usize> = const { Cell::new(0) };
}

/// Two accesses in `core`, one in `std`, a lock, and a thread local.
///
/// ```
/// assert!(victim::work() > 0);
/// ```
pub fn work() -> usize {
    let lock = std::sync::Mutex::new(1);
    let number = std::sync::atomic::AtomicI8::new(1);
    number.fetch_add(1, Ordering::SeqCst);
    MINE.set(MINE.get() + 1);
    let guard = lock.lock().unwrap();
    CALLS.store(CALLS.load(Ordering::SeqCst) + *guard, Ordering::SeqCst);
    drop(guard);
    format_nothing(&number);
    MINE.get()
}

fn format_nothing(number: &impl core::fmt::Debug) {
    assert!(!std::format!("{number:?}").is_empty());
}
"#;

/// A build script that probes the compiler, as in many crates, and that links an instrumented crate.
const BUILD: &str = r#"
fn main() {
    let rustc = std::env::var_os("RUSTC").expect("cargo sets `RUSTC`");
    let mut command = match std::env::var_os("RUSTC_WRAPPER") {
        Some(wrapper) => {
            let mut command = std::process::Command::new(wrapper);
            command.arg(rustc);
            command
        }
        None => std::process::Command::new(rustc),
    };
    let status = command.args(["--crate-name", "probe", "--print", "cfg"]).stdout(std::process::Stdio::null()).status();
    assert!(status.expect("the compiler runs").success());
    assert!(victim::work() > 0);
}
"#;

/// The tests of the project. They read the expected numbers of schedule points from environment variables.
const TESTS: &str = r#"
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use trueline_sync::primitives::{Access, World, enter};

#[derive(Default)]
struct Points(Cell<u32>);

impl World for Points {
    fn point(&self, _access: Access) {
        self.0.set(self.0.get() + 1);
    }

    fn choose(&self, _bound: usize) -> usize {
        0
    }
}

fn points(run: impl FnOnce()) -> u32 {
    let points = Rc::new(Points::default());
    let inside = enter(points.clone());
    run();
    drop(inside);
    points.0.get()
}

fn expected(name: &str) -> u32 {
    std::env::var(name).unwrap().parse().unwrap()
}

#[test]
fn inside_of_the_victim() {
    assert_eq!(points(|| drop(victim::work())), expected("POINTS_OF_VICTIM"));
}

#[test]
fn inside_of_ones_own_tests() {
    let flag = AtomicBool::new(false);
    assert_eq!(points(|| flag.store(true, Ordering::SeqCst)), expected("POINTS_OF_MINE"));
}

#[test]
fn inside_of_ones_own_crate() {
    assert_eq!(points(mine::work), expected("POINTS_OF_MINE"));
    assert_eq!(std::env::var("TRUELINE_REPLAY").unwrap_or_default(), std::env::var("EXPECTED_TOKEN").unwrap_or_default());
}
"#;

/// A crate with one access, and with a documentation test that uses the victim. It compiles only if `thread_local!`,
/// which is in the prelude, and `LocalKey` are either both instrumented or both not.
const MINE: &str = r#"
thread_local! {
    static MINE: std::cell::Cell<usize> = std::cell::Cell::new(0);
}

pub fn of_thread() -> &'static std::thread::LocalKey<std::cell::Cell<usize>> {
    &MINE
}

/// ```
/// static READY: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);
/// mine::check(&READY);
/// assert!(victim::work() > 0);
/// ```
pub fn check(flag: &std::sync::atomic::AtomicBool) {
    assert!(flag.load(std::sync::atomic::Ordering::SeqCst));
}

pub fn work() {
    check(&std::sync::atomic::AtomicBool::new(true));
}
"#;

struct Project {
    folder: PathBuf,
}

impl Project {
    /// Creates a project in a folder with this name.
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        let leaf = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("trueline-sync");
        let write = |path: &str, text: &str| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder can be made");
            fs::write(path, text).expect("a file can be written");
        };
        write(
            "victim/Cargo.toml",
            "[package]\nname = \"victim\"\nversion = \"1.2.3\"\nedition = \"2018\"\n[workspace]\n",
        );
        write("victim/src/lib.rs", VICTIM);
        write(
            "mine/Cargo.toml",
            &format!(
                "[package]\nname = \"mine\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n\
                 [dependencies]\nvictim = {{ path = \"../victim\" }}\n\
                 [build-dependencies]\nvictim = {{ path = \"../victim\" }}\n\
                 [dev-dependencies]\ntrueline-sync = {{ path = {leaf:?} }}\n"
            ),
        );
        write("mine/build.rs", BUILD);
        write("mine/src/lib.rs", MINE);
        write("mine/tests/points.rs", TESTS);
        Self { folder }
    }

    fn run(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-trueline"));
        command.arg("trueline").args(arguments).current_dir(self.folder.join("mine"));
        // The environment of the run that this test is part of is removed.
        for (name, _) in std::env::vars_os() {
            let is_ours =
                |name: &str| name.starts_with("CARGO") || name.starts_with("RUSTC") || name.starts_with("TRUELINE");
            if name.to_str().is_some_and(|name| is_ours(name) && name != "CARGO_HOME") {
                command.env_remove(name);
            }
        }
        command.envs(environment.iter().copied()).output().expect("the command runs")
    }

    /// Runs the tests, and expects this many schedule points.
    #[track_caller]
    fn passes(&self, arguments: &[&str], of_victim: &str, more: &[(&str, &str)]) {
        let mut environment = vec![("POINTS_OF_VICTIM", of_victim), ("POINTS_OF_MINE", "1")];
        environment.extend(more);
        let output = self.run(arguments, &environment);
        let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{arguments:?}\n{said}\n{errors}");
        assert!(said.contains("inside_of_the_victim ... ok"), "{said}\n{errors}");
    }
}

/// Three accesses to atomics, and one lock and one release of the mutex.
const INSTRUMENTED: &str = "5";

#[test]
fn schedule_points_are_where_they_are_asked_for() {
    let project = Project::new("points");
    // Each run uses its own list of instrumented crates, whatever was built before.
    project.passes(&["test", "--offline"], "0", &[]);
    project.passes(&["test", "--offline", "--instrument", "victim"], INSTRUMENTED, &[]);
    project.passes(&["test", "--offline", "--test", "points"], "0", &[]);
    project.passes(
        &["replay", "some.token", "inside", "--offline", "--instrument-all", "--test", "points"],
        INSTRUMENTED,
        &[("EXPECTED_TOKEN", "some.token")],
    );
    // The instrumentation does not depend on the profile.
    let optimized = [("CARGO_PROFILE_TEST_OPT_LEVEL", "1")];
    project.passes(&["test", "--offline", "--instrument", "victim", "--test", "points"], INSTRUMENTED, &optimized);
}

#[cfg(unix)]
#[test]
fn a_wrapper_that_is_there_is_called_too() {
    let project = Project::new("chained");
    let (wrapper, log) = (project.folder.join("wrapper"), project.folder.join("log"));
    let script = format!("#!/bin/sh\necho \"$@\" >> '{}'\nexec \"$@\"\n", log.display());
    write_script(&wrapper, &script);
    let wrapper = wrapper.to_str().expect("a path in UTF-8");
    let arguments = ["test", "--offline", "--instrument", "victim", "--test", "points"];
    project.passes(&arguments, INSTRUMENTED, &[("RUSTC_WRAPPER", wrapper)]);
    let calls = fs::read_to_string(log).expect("the wrapper was called");
    let of_victim = calls.lines().find(|call| call.contains("--crate-name victim"));
    assert!(of_victim.is_some_and(|call| call.contains("std=") && call.contains("libtrueline_shim_std")), "{calls}");
}

#[cfg(unix)]
fn write_script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).expect("the script can be written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("the script can be made executable");
}

/// Tests that an earlier build is not reused after the list of crates, the profile, a source or the compiler has changed.
#[cfg(unix)]
#[test]
fn stale_code_never_runs() {
    let project = Project::new("stale");
    let instrumented = ["test", "--offline", "--instrument", "victim", "--test", "points"];
    let plain = ["test", "--offline", "--test", "points"];
    let folders = || fs::read_dir(project.folder.join("mine/target/trueline")).expect("the folder was built").count();
    project.passes(&plain, "0", &[]);
    project.passes(&instrumented, INSTRUMENTED, &[]);
    assert_eq!(folders(), 3, "there is one folder for the shims, and one for each list of instrumented crates");
    // The victim gets one more access, which must appear with both lists, and the profile is a different one.
    let more = VICTIM.replace("    MINE.set(", "    number.load(Ordering::SeqCst);\n    MINE.set(");
    fs::write(project.folder.join("victim/src/lib.rs"), more).expect("a file can be written");
    let optimized = [("CARGO_PROFILE_TEST_OPT_LEVEL", "1")];
    project.passes(&plain, "0", &optimized);
    project.passes(&instrumented, "6", &optimized);
    assert_eq!(folders(), 3);
    // A compiler that reports another version gets its own shims and target directory.
    let rustc = project.folder.join("rustc");
    let script = "#!/bin/sh\n[ \"$1\" = -vV ] && echo 'another compiler'\nexec rustc \"$@\"\n";
    write_script(&rustc, script);
    project.passes(&instrumented, "6", &[("RUSTC", rustc.to_str().expect("a path in UTF-8"))]);
    assert_eq!(folders(), 5);
}

/// Tests that a wrapper and a target in a configuration file have the same effect as in the environment and on the
/// command line.
#[cfg(unix)]
#[test]
fn configuration_files_are_followed() {
    let project = Project::new("configured");
    let (wrapper, log) = (project.folder.join("wrapper"), project.folder.join("log"));
    write_script(&wrapper, &format!("#!/bin/sh\necho \"$@\" >> '{}'\nexec \"$@\"\n", log.display()));
    let version = Command::new("rustc").arg("-vV").output().expect("the compiler runs");
    let version = String::from_utf8(version.stdout).expect("text");
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("the compiler prints its host");
    fs::create_dir_all(project.folder.join("mine/.cargo")).expect("a folder can be made");
    let config = format!("[build]\nrustc-wrapper = {wrapper:?}\ntarget = {host:?}\n");
    fs::write(project.folder.join("mine/.cargo/config.toml"), config).expect("a file can be written");
    project.passes(&["test", "--offline", "--instrument", "victim", "--test", "points"], INSTRUMENTED, &[]);
    let calls = fs::read_to_string(log).expect("the wrapper was called");
    assert!(calls.lines().any(|call| call.contains("--crate-name victim") && call.contains("std=")), "{calls}");
}

#[test]
fn what_is_wrong_is_said_with_exit_code_2() {
    let project = Project::new("wrong");
    for (arguments, part) in [
        (&["test", "--offline", "--instrument", "nothing"][..], "does not depend on `nothing`"),
        (&["test", "--offline", "--instrument", "trueline-sync"], "cannot have schedule points"),
        (&["fly"], "no command `fly`"),
        (&["test", "--offline", "--manifest-path", "../victim/Cargo.toml"], "cargo add --dev trueline"),
        (&["test", "--offline", "--manifest-path", "nowhere/Cargo.toml"], "`cargo metadata` failed"),
    ] {
        let output = project.run(arguments, &[]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(part), "{arguments:?}: {errors}");
    }
    let help = project.run(&["--help"], &[]);
    assert!(help.status.success() && String::from_utf8_lossy(&help.stdout).contains("cargo trueline replay TOKEN"));
}

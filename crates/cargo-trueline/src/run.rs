//! Runs cargo with the wrapper.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::args::{self, Args, Command as Asked, HELP};
use crate::project::Project;
use crate::shims::library;
use crate::{Fallible, complain, config, shims, wrapper};

/// The source code of the wrapper. The name of the target directory depends on it, because a
/// different wrapper may compile crates differently.
const WRAPPER: &str = include_str!("wrapper.rs");

/// Executes the command line.
pub(crate) fn run(arguments: Vec<OsString>) -> Fallible<ExitCode> {
    let args = args::read(arguments)?;
    match &args.command {
        Asked::Help => {
            print(HELP);
            Ok(ExitCode::SUCCESS)
        }
        Asked::Version => {
            print(concat!("cargo-trueline ", env!("CARGO_PKG_VERSION"), "\n"));
            Ok(ExitCode::SUCCESS)
        }
        Asked::Test => test(&args, None),
        Asked::Replay(token) => test(&args, Some(token)),
    }
}

#[expect(clippy::print_stdout, reason = "this function is the only way to print results")]
fn print(text: &str) {
    print!("{text}");
}

fn test(args: &Args, replayed: Option<&str>) -> Fallible<ExitCode> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let rustc = env::var_os("RUSTC").or_else(|| config::of_build("rustc")).unwrap_or_else(|| "rustc".into());
    let project = Project::read(&cargo, args)?;
    let leaf = project.leaf()?;
    let packages = project.instrumented(args)?;
    let digest = shims::digest(&leaf, &version(&rustc)?)?;
    let base =
        args.target_dir.as_ref().map_or_else(|| project.target_directory.clone(), PathBuf::from).join("trueline");
    let target = match &args.target {
        Some(target) => Some(target.clone()),
        None => config::of_build("target").map(|target| target.to_string_lossy().into_owned()),
    };
    let target = target.as_deref();
    // The path must be absolute, because cargo compiles each crate in its own folder.
    let base = std::path::absolute(&base).map_err(|error| format!("{}: {error}", base.display()))?;
    let folder = base.join(format!("shims-{:016x}", hash(&(digest, target))));
    shims::build(&leaf, &folder, &rustc, target)?;
    let target_dir = base.join(format!("{:016x}", key(digest, &packages)));

    complain(&format!("trueline: instrumenting {}", list(&packages)));
    let mut command = Command::new(&cargo);
    command.arg("test").arg("--target-dir").arg(&target_dir).args(&args.cargo);
    let own = env::current_exe()
        .map_err(|error| format!("cannot determine the path of the cargo-trueline executable: {error}"))?;
    let before = env::var_os("RUSTC_WRAPPER").or_else(|| config::of_build("rustc-wrapper"));
    if let Some(chained) = before.filter(|wrapper| !wrapper.is_empty() && Path::new(wrapper) != own) {
        command.env(wrapper::CHAINED, chained);
    }
    command.env("RUSTC_WRAPPER", own);
    command.env(wrapper::SHIMS, &folder);
    command.env(wrapper::PACKAGES, packages.into_iter().collect::<Vec<_>>().join(","));
    match target {
        Some(target) => command.env(wrapper::TARGET, target),
        None => command.env_remove(wrapper::TARGET),
    };
    command.env("CARGO_ENCODED_RUSTDOCFLAGS", of_rustdoc(&folder));
    if env::var_os("RUST_TEST_THREADS").is_none() {
        command.env("RUST_TEST_THREADS", "1");
    }
    // When a report prints the command that repeats a run, the command includes these options.
    command.env("TRUELINE_INSTRUMENT", options(args));
    if let Some(token) = replayed {
        command.env("TRUELINE_REPLAY", token);
    }
    let status = command.status().map_err(|error| format!("cannot run {}: {error}", cargo.to_string_lossy()))?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// Returns the command-line options that select the packages to instrument.
fn options(args: &Args) -> String {
    let all = args.instrument_all.then(|| "--instrument-all".to_owned());
    let named = (!args.instrument.is_empty()).then(|| format!("--instrument {}", args.instrument.join(",")));
    all.into_iter().chain(named).collect::<Vec<_>>().join(" ")
}

/// Returns the version information that the compiler prints.
fn version(rustc: &OsStr) -> Fallible<String> {
    let output = Command::new(rustc).arg("-vV").output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", rustc.to_string_lossy()))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns a hash, which is used as the name of the target directory.
///
/// Within one target directory, cargo distinguishes profiles, targets, features and flags by
/// itself. The hash covers the inputs that cargo does not know: the shims, the compiler, the
/// instrumented packages, and the wrapper.
fn key(digest: u64, packages: &BTreeSet<String>) -> u64 {
    hash(&(digest, packages, WRAPPER))
}

/// Returns the flags for `rustdoc`. They are needed because `rustdoc` compiles documentation tests
/// itself, without calling the wrapper.
fn of_rustdoc(folder: &Path) -> OsString {
    let encoded = env::var_os("CARGO_ENCODED_RUSTDOCFLAGS");
    let mut flags: Vec<OsString> = match (encoded, env::var("RUSTDOCFLAGS")) {
        (Some(encoded), _) => vec![encoded],
        (None, Ok(flags)) => flags.split_whitespace().map(OsString::from).collect(),
        (None, Err(_)) => Vec::new(),
    };
    let mut with_path = |option: &str, name: &str, path: &Path| {
        let mut value = OsString::from(name);
        value.push(path);
        flags.extend([option.into(), value]);
    };
    with_path("--extern", "core=", &library(folder, "trueline_shim_core"));
    with_path("--extern", "std=", &library(folder, "trueline_shim_std"));
    with_path("-L", "dependency=", folder);
    flags.retain(|flag| !flag.is_empty());
    flags.join(OsStr::new("\u{1f}"))
}

/// Formats the names of the first few packages, for a message.
fn list(packages: &BTreeSet<String>) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<_> = packages.iter().take(SHOWN).map(String::as_str).collect();
    let more = packages.len().saturating_sub(SHOWN);
    match more {
        0 if packages.is_empty() => "nothing".to_owned(),
        0 => shown.join(", "),
        _ => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_of_packages_has_a_directory_of_its_own() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let (one, other) = (set(&["a@1.0.0"]), set(&["a@1.0.0", "b@1.0.0"]));
        assert_ne!(key(1, &one), key(1, &other));
        assert_ne!(key(1, &one), key(2, &one), "a different compiler or different shims need a different directory");
        assert_eq!(key(1, &one), key(1, &set(&["a@1.0.0"])));
    }
}

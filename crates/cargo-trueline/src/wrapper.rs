//! The program that cargo calls in place of the compiler, for each crate.
//!
//! In an instrumented crate, `std` and `core` are replaced by the shims. Every crate may depend on
//! an instrumented crate, so the location of the shims is passed to all crates. There must be only
//! one copy of `trueline-sync`: with two copies, a thread would enter a `World` (the scheduler of
//! an exploration) in one copy while its primitives look for a `World` in the other copy, and there
//! would be no schedule points. Therefore every crate that depends on `trueline-sync` is linked
//! with the copy that the shims use.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::shims::library;
use crate::{BAD_INPUT, complain};

/// The folder of the shims. If this variable is set, the program runs as the wrapper.
pub(crate) const SHIMS: &str = "CARGO_TRUELINE_SHIMS";
/// The packages that are instrumented, as `name@version`, with commas between them.
pub(crate) const PACKAGES: &str = "CARGO_TRUELINE_PACKAGES";
/// The compiler wrapper that the user has configured, if any. This program calls that wrapper.
pub(crate) const CHAINED: &str = "CARGO_TRUELINE_CHAINED_WRAPPER";
/// The target triple, if the command line gives one. In this case, build scripts and procedural
/// macros are compiled for the host instead of the target.
pub(crate) const TARGET: &str = "CARGO_TRUELINE_TARGET";

/// The environment variables with which the wrapper was called.
#[derive(Debug, Default)]
struct Call<'c> {
    /// The package that cargo builds, as `name@version`, if there is one.
    package: Option<String>,
    /// The name of the crate, according to cargo.
    crate_name: Option<String>,
    packages: Vec<&'c str>,
    target: Option<&'c str>,
}

impl Call<'_> {
    /// Returns whether the crate that is compiled with these arguments is instrumented.
    fn is_instrumented(&self, arguments: &[OsString]) -> bool {
        let value = |name: &str| {
            let at = arguments.iter().position(|argument| argument == name)?;
            arguments.get(at + 1)?.to_str()
        };
        let Some(package) = &self.package else { return false };
        let crate_name = value("--crate-name").unwrap_or_default();
        // A build script may call the compiler to probe it. Such a call has the environment of the
        // package, but cargo has not set the name of the crate for it.
        let is_of_cargo = self.crate_name.as_deref() == Some(crate_name);
        let is_for_host = value("--crate-type") == Some("proc-macro") || crate_name.starts_with("build_script_");
        let is_for_target = value("--target") == self.target;
        is_of_cargo && !is_for_host && is_for_target && self.packages.contains(&package.as_str())
    }

    /// Returns the arguments with the shims added.
    fn rewrite(&self, arguments: &[OsString], shims: &Path) -> Vec<OsString> {
        let with_path = |name: &str, path: &Path| {
            let mut argument = OsString::from(name);
            argument.push(path);
            argument
        };
        let mut rewritten: Vec<OsString> = arguments.to_vec();
        for argument in &mut rewritten {
            if argument.to_str().is_some_and(|text| text.starts_with("trueline_sync=")) {
                *argument = with_path("trueline_sync=", &library(shims, "trueline_sync"));
            }
        }
        if self.is_instrumented(arguments) {
            for (name, shim) in [("core=", "trueline_shim_core"), ("std=", "trueline_shim_std")] {
                rewritten.extend(["--extern".into(), with_path(name, &library(shims, shim))]);
            }
        }
        rewritten.extend(["-L".into(), with_path("dependency=", shims)]);
        rewritten
    }
}

/// If cargo has called this program in place of the compiler, runs the compiler.
pub(crate) fn run(arguments: &[OsString]) -> Option<ExitCode> {
    let shims = env::var_os(SHIMS)?;
    let (compiler, arguments) = arguments.split_first().filter(|(first, _)| *first != "trueline")?;
    let variable = |name: &str| env::var(name).ok();
    let packages = variable(PACKAGES).unwrap_or_default();
    let target = variable(TARGET);
    let package = variable("CARGO_PKG_NAME").zip(variable("CARGO_PKG_VERSION"));
    let call = Call {
        package: package.map(|(name, version)| format!("{name}@{version}")),
        crate_name: variable("CARGO_CRATE_NAME"),
        packages: packages.split(',').collect(),
        target: target.as_deref(),
    };
    let arguments = expand(arguments);
    let is_instrumented = call.is_instrumented(&arguments);
    let rewritten = call.rewrite(&arguments, Path::new(&shims));
    let mut command = match env::var_os(CHAINED) {
        Some(chained) => {
            let mut command = Command::new(chained);
            command.arg(compiler);
            command
        }
        None => Command::new(compiler),
    };
    let status = match command.args(rewritten).status() {
        Ok(status) => status,
        Err(error) => {
            complain(&format!("error: cannot run {}: {error}", compiler.to_string_lossy()));
            return Some(ExitCode::from(BAD_INPUT));
        }
    };
    if !status.success() {
        if let Some((name, _)) = call.package.as_deref().and_then(|package| package.split_once('@')) {
            let (how, other) = if is_instrumented { ("with", "without") } else { ("without", "with") };
            complain(&format!(
                "note: cargo trueline compiled `{name}` {how} an instrumented `std`. If an error above is about two \
                 types with the same name (E0308), or about a missing method or trait (E0599, E0277), `{name}` passes \
                 `std` types to or from a crate that was compiled {other} it: find out which \
                 of these two crates is not instrumented, and add its name to --instrument, or try --instrument-all"
            ));
        }
    }
    Some(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// Replaces each argument of the form `@FILE` with the arguments that the file contains, one on
/// each line. Arguments are passed in a file if they are too long for a command line.
fn expand(arguments: &[OsString]) -> Vec<OsString> {
    let from_file = |argument: &OsStr| {
        let path = argument.to_str()?.strip_prefix('@')?;
        let text = std::fs::read_to_string(path).ok()?;
        Some(text.lines().map(OsString::from).collect::<Vec<_>>())
    };
    arguments.iter().flat_map(|argument| from_file(argument).unwrap_or_else(|| vec![argument.clone()])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(package: &str, crate_name: &str) -> Call<'static> {
        Call {
            package: Some(package.to_owned()),
            crate_name: Some(crate_name.to_owned()),
            packages: vec!["mine@1.0.0", "queue@2.0.0"],
            target: None,
        }
    }

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn crates_that_are_named_get_the_shims() {
        let rewritten = call("queue@2.0.0", "queue").rewrite(&words("--crate-name queue src/lib.rs"), Path::new("/s"));
        let expected = "--crate-name queue src/lib.rs --extern core=/s/libtrueline_shim_core.rlib --extern \
                        std=/s/libtrueline_shim_std.rlib -L dependency=/s";
        assert_eq!(rewritten, words(expected));
    }

    #[test]
    fn all_others_know_where_they_are() {
        for (package, crate_name, arguments) in [
            ("queue@1.0.0", "queue", "--crate-name queue"),
            ("queue@2.0.0", "build_script_build", "--crate-name build_script_build"),
            ("queue@2.0.0", "queue_macros", "--crate-name queue_macros --crate-type proc-macro"),
            ("queue@2.0.0", "queue", "--crate-name probe0"),
            ("queue@2.0.0", "queue", "--crate-name queue --target other"),
        ] {
            let rewritten = call(package, crate_name).rewrite(&words(arguments), Path::new("/s"));
            assert_eq!(rewritten, words(&format!("{arguments} -L dependency=/s")));
        }
    }

    #[test]
    fn there_is_one_copy_of_the_leaf() {
        let arguments = words("--crate-name trueline --extern trueline_sync=/t/libtrueline_sync-12.rmeta");
        let rewritten = call("trueline@1.0.0", "trueline").rewrite(&arguments, Path::new("/s"));
        let expected = "--crate-name trueline --extern trueline_sync=/s/libtrueline_sync.rlib -L dependency=/s";
        assert_eq!(rewritten, words(expected));
    }
}

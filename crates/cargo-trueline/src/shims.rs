//! Builds the shims, which replace `std` and `core` in an instrumented crate.
//!
//! The sources of the shims are in the copy of `trueline-sync` that the project depends on.
//! Therefore the shims always have the same version as that copy. The shims are built once for each
//! compiler, source and target. Like the standard library, they are always optimized, for every
//! profile of the project.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Fallible;

/// For each shim, the name of its crate, and its source file in the package `trueline-sync`. Each
/// crate may depend on the crates listed before it.
const CRATES: [(&str, &str); 3] =
    [("trueline_sync", "src/lib.rs"), ("trueline_shim_core", "shims/core.rs"), ("trueline_shim_std", "shims/std.rs")];

/// Returns the path of a crate's library in the folder of shims.
pub(crate) fn library(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("lib{name}.rlib"))
}

/// Returns a hash of the sources of the shims and of the compiler's version.
pub(crate) fn digest(leaf: &Path, compiler: &str) -> Fallible<u64> {
    let mut hasher = DefaultHasher::new();
    compiler.hash(&mut hasher);
    for folder in ["src", "shims"] {
        hash_folder(&leaf.join(folder), &mut hasher)?;
    }
    Ok(hasher.finish())
}

fn hash_folder(folder: &Path, hasher: &mut DefaultHasher) -> Fallible<()> {
    let cannot = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(cannot)?;
    let mut paths =
        entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, std::io::Error>>().map_err(cannot)?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            hash_folder(&path, hasher)?;
        } else {
            path.file_name().hash(hasher);
            fs::read(&path).map_err(cannot)?.hash(hasher);
        }
    }
    Ok(())
}

/// Builds the shims in `folder`, unless the folder exists.
pub(crate) fn build(leaf: &Path, folder: &Path, rustc: &OsStr, target: Option<&str>) -> Fallible<()> {
    if folder.is_dir() {
        return Ok(());
    }
    // The shims are built in a temporary folder, which is then renamed: another process may build them at the same time,
    // and this process may be interrupted.
    let unfinished = folder.with_extension(std::process::id().to_string());
    let cannot = |error: std::io::Error| format!("cannot write {}: {error}", unfinished.display());
    fs::create_dir_all(&unfinished).map_err(cannot)?;
    for (number, (name, source)) in CRATES.iter().enumerate() {
        let mut command = Command::new(rustc);
        command
            .args(["--crate-name", name, "--edition", "2024", "--crate-type", "rlib"])
            .args(["--cfg", "trueline_instrumented", "--cap-lints", "allow"])
            .args(["-C", "opt-level=3", "-C", "metadata=trueline-shims", "-C", "debuginfo=line-tables-only"])
            .arg("--out-dir")
            .arg(&unfinished)
            .arg(leaf.join(source));
        command.args(target.iter().flat_map(|target| ["--target", target]));
        for (earlier, _) in &CRATES[..number] {
            let mut library_of = std::ffi::OsString::from(format!("{earlier}="));
            library_of.push(library(&unfinished, earlier));
            command.arg("--extern").arg(library_of);
        }
        let status = command.status().map_err(|error| format!("cannot run {}: {error}", rustc.to_string_lossy()))?;
        if !status.success() {
            return Err(format!(
                "cannot compile {name}; check that {} contains the trueline-sync of the same release as cargo-trueline",
                leaf.display()
            ));
        }
    }
    if fs::rename(&unfinished, folder).is_err() {
        // Another process has built the shims in the meantime.
        let _ = fs::remove_dir_all(&unfinished);
    }
    if folder.is_dir() { Ok(()) } else { Err(format!("cannot write {}", folder.display())) }
}

//! The dependencies of a project, and the packages that are instrumented.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::Fallible;
use crate::args::Args;

/// The packages of a project, as `cargo metadata` lists them.
#[derive(Debug, Default)]
pub(crate) struct Project {
    /// The packages by id.
    packages: BTreeMap<String, Package>,
    members: BTreeSet<String>,
    pub(crate) target_directory: PathBuf,
}

#[derive(Debug, Default)]
struct Package {
    name: String,
    version: String,
    manifest: PathBuf,
    /// The ids of the dependencies, without those that only tests or build scripts need.
    dependencies: Vec<String>,
}

/// The packages that control schedules. They are never instrumented, because they must not contain
/// schedule points.
const SCHEDULERS: [&str; 2] = ["trueline", "trueline-sync"];

impl Project {
    /// Reads the project with `cargo metadata`.
    pub(crate) fn read(cargo: &OsString, args: &Args) -> Fallible<Self> {
        let output = Command::new(cargo)
            .args(["metadata", "--format-version", "1"])
            .args(args.of_metadata())
            .output()
            .map_err(|error| format!("cannot run {}: {error}", cargo.to_string_lossy()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("`cargo metadata` failed:\n{}", said.trim_end()));
        }
        let metadata = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("`cargo metadata` printed bad JSON: {error}"))?;
        Self::from_metadata(&metadata).ok_or_else(|| {
            "the output of `cargo metadata` has an unknown format; use the version of Cargo that belongs to your Rust toolchain".to_owned()
        })
    }

    fn from_metadata(metadata: &Value) -> Option<Self> {
        let mut project = Self { target_directory: metadata["target_directory"].as_str()?.into(), ..Self::default() };
        for package in metadata["packages"].as_array()? {
            let text = |field: &str| Some(package[field].as_str()?.to_owned());
            let found = Package {
                name: text("name")?,
                version: text("version")?,
                manifest: text("manifest_path")?.into(),
                dependencies: Vec::new(),
            };
            project.packages.insert(text("id")?, found);
        }
        for id in metadata["workspace_members"].as_array()? {
            project.members.insert(id.as_str()?.to_owned());
        }
        for node in metadata["resolve"]["nodes"].as_array()? {
            let package = project.packages.get_mut(node["id"].as_str()?)?;
            for dependency in node["deps"].as_array()? {
                // Packages that only tests or build scripts need are not part of the program that is explored.
                let is_normal = dependency["dep_kinds"].as_array()?.iter().any(|kind| kind["kind"].is_null());
                if is_normal {
                    package.dependencies.push(dependency["pkg"].as_str()?.to_owned());
                }
            }
        }
        Some(project)
    }

    /// Returns the given packages, and all packages on which they depend directly or indirectly.
    fn closure<'p>(&'p self, of: impl IntoIterator<Item = &'p str>) -> BTreeSet<&'p str> {
        let mut todo: Vec<&str> = of.into_iter().collect();
        let mut found = BTreeSet::new();
        while let Some(id) = todo.pop() {
            if found.insert(id) {
                todo.extend(self.packages[id].dependencies.iter().map(String::as_str));
            }
        }
        found
    }

    fn named<'p>(&'p self, name: &'p str) -> impl Iterator<Item = &'p str> {
        self.packages.iter().filter(move |(_, package)| package.name == name).map(|(id, _)| id.as_str())
    }

    /// Returns the folder of the package `trueline-sync`.
    pub(crate) fn leaf(&self) -> Fallible<PathBuf> {
        let found: Vec<_> = self.named("trueline-sync").collect();
        match found[..] {
            [] => {
                Err("no package here depends on trueline: add it with `cargo add --dev trueline --features systematic`"
                    .to_owned())
            }
            [id] => {
                let manifest = &self.packages[id].manifest;
                manifest
                    .parent()
                    .map(PathBuf::from)
                    .ok_or_else(|| "cannot find the source directory of trueline-sync".to_owned())
            }
            _ => {
                let versions: Vec<_> = found.iter().map(|id| self.packages[*id].version.as_str()).collect();
                let versions = versions.join(", ");
                Err(format!(
                    "there are several versions of trueline-sync ({versions}): make all packages use the same version of trueline"
                ))
            }
        }
    }

    /// Returns the packages that are instrumented, as `name@version`.
    pub(crate) fn instrumented(&self, args: &Args) -> Fallible<BTreeSet<String>> {
        let plain = self.closure(SCHEDULERS.iter().flat_map(|name| self.named(name)));
        let mut chosen: BTreeSet<&str> = self.members.iter().map(String::as_str).collect();
        for name in &args.instrument {
            let ids: Vec<_> = self.named(name).collect();
            if ids.is_empty() {
                return Err(format!("--instrument: this project does not depend on `{}`", name.escape_debug()));
            }
            if ids.iter().all(|id| plain.contains(id)) {
                return Err(format!(
                    "--instrument: `{name}` is trueline or one of its dependencies, which run the scheduler and \
                     cannot have schedule points"
                ));
            }
            chosen.extend(self.closure(ids));
        }
        if args.instrument_all {
            chosen.extend(self.packages.keys().map(String::as_str));
        }
        chosen.retain(|id| !plain.contains(id));
        // A package that uses an instrumented package is instrumented, too, because types of the
        // instrumented package appear in its fields and trait implementations.
        loop {
            let is_dependent = |package: &Package| package.dependencies.iter().any(|id| chosen.contains(id.as_str()));
            let is_new = |(id, package): &(&String, &Package)| {
                !chosen.contains(id.as_str()) && !plain.contains(id.as_str()) && is_dependent(package)
            };
            let dependents: Vec<&str> = self.packages.iter().filter(is_new).map(|(id, _)| id.as_str()).collect();
            if dependents.is_empty() {
                break;
            }
            chosen.extend(dependents);
        }
        let chosen = chosen.into_iter().map(|id| &self.packages[id]);
        Ok(chosen.map(|package| format!("{}@{}", package.name, package.version)).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn project() -> Project {
        let package = |name: &str| json!({"id": name, "name": name, "version": "1.0.0", "manifest_path": format!("/{name}/Cargo.toml")});
        let names = ["mine", "queue", "utils", "epoch", "shared", "trueline", "trueline-sync", "other"];
        let node = |id: &str, needs: &[(&str, Option<&str>)]| {
            let deps: Vec<_> =
                needs.iter().map(|(id, kind)| json!({"pkg": id, "dep_kinds": [{"kind": kind}]})).collect();
            json!({"id": id, "deps": deps})
        };
        let nodes = [
            node("mine", &[("queue", None), ("other", None), ("trueline", Some("dev"))]),
            node("epoch", &[("utils", None)]),
            node("queue", &[("utils", None), ("shared", None), ("other", Some("build"))]),
            node("trueline", &[("trueline-sync", None), ("shared", None)]),
        ];
        let metadata = json!({
            "packages": names.map(package),
            "workspace_members": ["mine"],
            "target_directory": "/target",
            "resolve": {"nodes": nodes},
        });
        Project::from_metadata(&metadata).expect("the metadata has the form that cargo writes")
    }

    fn instrumented(instrument: &[&str], instrument_all: bool) -> Fallible<Vec<String>> {
        let instrument = instrument.iter().map(|name| (*name).to_owned()).collect();
        let args = Args { instrument, instrument_all, ..Args::default() };
        project().instrumented(&args).map(|found| found.into_iter().collect())
    }

    #[test]
    fn ones_own_crates_are_instrumented_and_what_is_named() {
        assert_eq!(instrumented(&[], false), Ok(vec!["mine@1.0.0".to_owned()]));
        let of_queue = ["epoch@1.0.0", "mine@1.0.0", "queue@1.0.0", "utils@1.0.0"].map(str::to_owned).to_vec();
        assert_eq!(
            instrumented(&["queue"], false),
            Ok(of_queue),
            "includes the users of `queue` and its dependencies, but no dependency of trueline or of a build script"
        );
        let all =
            ["epoch@1.0.0", "mine@1.0.0", "other@1.0.0", "queue@1.0.0", "utils@1.0.0"].map(str::to_owned).to_vec();
        assert_eq!(instrumented(&[], true), Ok(all));
    }

    #[test]
    fn what_schedules_is_not_instrumented() {
        assert!(
            instrumented(&["shared"], false)
                .expect_err("trueline depends on `shared`")
                .contains("`shared` is trueline or one")
        );
        assert!(
            instrumented(&["nothing"], false)
                .expect_err("no such package exists")
                .contains("does not depend on `nothing`")
        );
    }

    #[test]
    fn the_leaf_is_found() {
        assert_eq!(project().leaf(), Ok("/trueline-sync".into()));
        assert!(Project::default().leaf().expect_err("the project has no packages").contains("cargo add"));
    }
}

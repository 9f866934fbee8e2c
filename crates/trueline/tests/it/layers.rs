//! Asserts that the dependencies between modules have no cycles.

use std::fs;
use std::path::{Path, PathBuf};

/// Each module of the library, and the modules that it may name.
const LAYERS: &[(&str, &[&str])] = &[
    ("spec", &[]),
    ("history", &[]),
    ("primitives", &[]),
    ("verdict", &["history"]),
    ("drive", &["history", "primitives"]),
    ("judge", &["history", "spec", "verdict"]),
    ("view", &["history", "verdict"]),
    ("report", &["history", "verdict", "judge", "view"]),
    ("assert", &["history", "spec", "verdict", "judge", "report", "view"]),
    ("registry", &["history", "spec", "verdict", "judge"]),
    ("test", &["drive", "history", "judge", "primitives", "registry", "report", "spec", "verdict", "view"]),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the source folder can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the modules of the crate that a line of code names as `crate::x`, ignoring comments.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or_default();
    code.match_indices("crate::").filter_map(move |(at, text)| {
        let rest = &code[at + text.len()..];
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        // Macros are at the root, whichever module defines them.
        (!name.is_empty() && !rest[name.len()..].starts_with('!')).then_some(name)
    })
}

/// Returns whether a line is an attribute that limits its item to unit tests.
fn is_for_tests(line: &str) -> bool {
    let attribute = line.trim_start();
    ["#[cfg(test)]", "#[cfg(all(test,"].iter().any(|start| attribute.starts_with(start))
}

/// Returns two lists of the lines of a file, numbered from 1: lines that are shipped, and lines for unit tests, which
/// may name every module.
///
/// An item for tests ends at the first line with the same indentation as its `#[cfg(test)]` that ends with `;`, `}` or
/// `,`. In code formatted by rustfmt, no earlier line of the item looks like this. If a string in the item contains
/// such a line, too many lines count as shipped, never too few.
fn lines(text: &str) -> [Vec<(usize, &str)>; 2] {
    let (mut shipped, mut for_tests) = (Vec::new(), Vec::new());
    let mut test_indent = None;
    for (number, line) in (1..).zip(text.lines()) {
        let indent = line.len() - line.trim_start().len();
        if test_indent.is_none() && is_for_tests(line) {
            test_indent = Some(indent);
        }
        let Some(of_test) = test_indent else {
            shipped.push((number, line));
            continue;
        };
        for_tests.push((number, line));
        let code = line.split("//").next().unwrap_or_default().trim_end();
        if indent == of_test && code.ends_with([';', '}', ',']) {
            test_indent = None;
        }
    }
    [shipped, for_tests]
}

/// Returns the files of the modules that `file` declares for unit tests with `mod name;`, by `#[path]` or by name.
fn test_modules<'a>(file: &'a Path, for_tests: &'a [(usize, &str)]) -> impl Iterator<Item = PathBuf> + 'a {
    let beside = file.parent().expect("a file is in a folder");
    let folder = match file.file_stem().and_then(|stem| stem.to_str()) {
        Some("mod" | "lib") | None => beside.to_owned(),
        Some(stem) => beside.join(stem),
    };
    let mut path = None;
    for_tests.iter().filter_map(move |(_, line)| {
        if let Some(rest) = line.trim().strip_prefix("#[path = \"") {
            path = rest.strip_suffix("\"]").map(|name| beside.join(name));
        }
        let name = line.strip_suffix(';')?.rsplit_once("mod ")?.1;
        Some(path.take().unwrap_or_else(|| folder.join(name).with_extension("rs")))
    })
}

#[test]
fn modules_name_only_what_is_below_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let texts: Vec<String> =
        files.iter().map(|file| fs::read_to_string(file).expect("the source can be read")).collect();
    let of_files: Vec<_> = texts.iter().map(|text| lines(text)).collect();
    let for_tests: Vec<PathBuf> =
        files.iter().zip(&of_files).flat_map(|(file, [_, lines])| test_modules(file, lines)).collect();
    assert!(!for_tests.is_empty() && for_tests.iter().all(|file| files.contains(file)), "{for_tests:?}");
    let mut seen = 0;
    let mut wrong = Vec::new();
    for (file, [shipped, _]) in files.iter().zip(&of_files).filter(|(file, _)| !for_tests.contains(file)) {
        let inside = file.strip_prefix(&root).expect("the file is in the source folder");
        let first = inside.components().next().expect("a file has a name").as_os_str().to_string_lossy();
        let module = first.trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == module) else {
            panic!("{module} is in no layer: add it to LAYERS, and to ARCHITECTURE.md");
        };
        seen += 1;
        for (number, line) in shipped {
            for name in named(line).filter(|name| *name != module && !allowed.contains(name)) {
                wrong.push(format!("{}:{}: {module} names {name}", inside.display(), number));
            }
        }
    }
    assert!(seen > 20, "only {seen} files were looked at");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reader_of_names_sees_what_it_should() {
    let names = |line: &'static str| named(line).collect::<Vec<_>>();
    assert_eq!(names("use crate::history::{History, OpId};"), ["history"]);
    assert_eq!(names("pub(in crate::judge) fn f(x: crate::spec::X) {} // crate::view"), ["judge", "spec"]);
    assert!(names("/// [`Spec`](crate::spec::Spec)").is_empty());
}

#[test]
fn the_reader_of_lines_skips_tests_and_nothing_else() {
    let text = r#"
use crate::one::A;

#[cfg(test)]
use crate::hidden::B;
#[cfg(test)]
#[path = "elsewhere.rs"]
pub(super) mod other;
#[cfg(test)]
mod oracle;

impl A {
    #[cfg(all(test, feature = "json"))]
    fn of_tests(
        hidden: crate::hidden::C,
    ) -> [u8; 2] {
        crate::hidden::f();
        [1, 2]
    } // crate::hidden ends

    fn shipped(x: crate::two::D) {}
}

#[cfg(test)]
mod tests {
    fn f() {
        crate::hidden::g();
    }
}

#[cfg(not(test))]
use crate::three::E;
"#;
    let [shipped, for_tests] = lines(text);
    let names: Vec<_> = shipped.iter().flat_map(|(_, line)| named(line)).collect();
    assert_eq!(names, ["one", "two", "three"]);
    assert!(text.lines().count() == shipped.len() + for_tests.len());
    let modules = |file: &str| test_modules(Path::new(file), &for_tests).collect::<Vec<_>>();
    assert_eq!(modules("src/mod.rs"), [Path::new("src/elsewhere.rs"), Path::new("src/oracle.rs")]);
    assert_eq!(modules("src/part.rs"), [Path::new("src/elsewhere.rs"), Path::new("src/part/oracle.rs")]);
}

#[test]
fn the_leaf_has_no_dependencies() {
    let leaf = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("trueline-sync");
    let manifest = fs::read_to_string(leaf.join("Cargo.toml")).expect("the leaf crate exists");
    assert!(
        !manifest.contains("dependencies"),
        "trueline-sync must depend on nothing: instrumented crates are built on it"
    );
    let mut files = Vec::new();
    sources(&leaf.join("src"), &mut files);
    let names_us = |file: &&PathBuf| {
        let text = fs::read_to_string(file).expect("the source can be read");
        text.lines().any(|line| line.split("//").next().unwrap_or_default().contains("trueline::"))
    };
    assert!(files.len() > 10);
    assert_eq!(files.iter().find(names_us), None, "the leaf names the library");
}

#[test]
fn the_derive_macros_have_no_dependencies() {
    let derive = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("trueline-derive");
    let manifest = fs::read_to_string(derive.join("Cargo.toml")).expect("the crate exists");
    assert!(!manifest.contains("dependencies"), "every user of trueline builds trueline-derive: keep it small");
}

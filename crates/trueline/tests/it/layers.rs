//! The arrows between modules point one way.

use std::fs;
use std::path::{Path, PathBuf};

/// Each module of the library, and which others it may name.
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
    ("named", &["history", "spec", "verdict", "judge"]),
    ("test", &["drive", "history", "judge", "named", "report", "spec", "verdict", "view"]),
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

/// The modules of the crate that a line of code names: `crate::x`, in code and not in comments.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or_default();
    code.match_indices("crate::").filter_map(move |(at, text)| {
        let rest = &code[at + text.len()..];
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        // Macros live at the root, whoever defines them.
        (!name.is_empty() && !rest[name.len()..].starts_with('!')).then_some(name)
    })
}

/// The code of a file without its unit tests, which may look at everything.
fn without_tests(text: &str) -> &str {
    text.find("#[cfg(test)]").map_or(text, |at| &text[..at])
}

#[test]
fn modules_name_only_what_is_below_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut seen = 0;
    let mut wrong = Vec::new();
    for file in &files {
        let inside = file.strip_prefix(&root).expect("it was found there");
        let first = inside.components().next().expect("a file has a name").as_os_str().to_string_lossy();
        let module = first.trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == module) else {
            panic!("{module} is in no layer: add it to LAYERS, and to ARCHITECTURE.md");
        };
        seen += 1;
        let text = fs::read_to_string(file).expect("the source can be read");
        for (number, line) in without_tests(&text).lines().enumerate() {
            for name in named(line).filter(|name| *name != module && !allowed.contains(name)) {
                wrong.push(format!("{}:{}: {module} names {name}", inside.display(), number + 1));
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

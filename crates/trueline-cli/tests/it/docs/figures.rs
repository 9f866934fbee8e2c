//! Tests that the figures and names on the pages agree with the tables and the code.

use std::fs;

use regex::Regex;

use super::pages::{Page, pages, root};
use crate::{json, run};

/// A page, a claim on it, and the row of a table in `BENCHMARKS.md` that supports the claim: the beginning of the row,
/// and a part of it. After new measurements, a failing test shows which claims must be changed.
const FIGURES: [(&str, &str, &str, &str); 38] = [
    ("README.md", "in about 40 ms", "set 280000 auto partitioned", "36.76 ms"),
    ("README.md", "in about 20 ms", "register-bad 32 2", "18.34 ms"),
    ("README.md", "in about 8 ms", "register-info 5 2", "8.19 ms"),
    ("README.md", "in less than a\n  fifth of a second", "monitor queue 1000000 16 bad", "178.44 ms"),
    (
        "docs/src/checkers.md",
        "`auto` | 85 ms | 92,721 | 34.6 MiB",
        "set 280000 auto |",
        "84.99 ms | 304 | 92721 | 34.6 MiB",
    ),
    (
        "docs/src/checkers.md",
        "`jit-tree` | 97 ms | 306,366 | 55.4 MiB",
        "set 280000 jit-tree",
        "97.03 ms | 347 | 306366 | 55.4 MiB",
    ),
    (
        "docs/src/checkers.md",
        "`wing-gong-graph` | 101 ms | 287,521 | 56.8 MiB",
        "set 280000 wing-gong-graph",
        "101.17 ms | 361 | 287521 | 56.8 MiB",
    ),
    (
        "docs/src/checkers.md",
        "`wing-gong-tree` | 103 ms | 304,507 | 56.6 MiB",
        "set 280000 wing-gong-tree",
        "102.68 ms | 367 | 304507 | 56.6 MiB",
    ),
    (
        "docs/src/checkers.md",
        "`jit-graph` | 104 ms | 291,567 | 55.1 MiB",
        "set 280000 jit-graph",
        "103.94 ms | 371 | 291567 | 55.1 MiB",
    ),
    (
        "docs/src/checkers.md",
        "`bounded-graph` | 131 ms | 291,567 | 55.5 MiB",
        "set 280000 bounded-graph |",
        "130.99 ms | 468 | 291567 | 55.5 MiB",
    ),
    (
        "docs/src/checkers.md",
        "`bounded-graph-lru` | 191 ms | 287,521 | 72.9 MiB",
        "set 280000 bounded-graph-lru",
        "190.91 ms | 682 | 287521 | 72.9 MiB",
    ),
    (
        "docs/src/checkers.md",
        "`linear` | 402 ms | 3,963,308 | 43.6 MiB",
        "set 280000 linear",
        "401.72 ms | 1435 | 3963308 | 43.6 MiB",
    ),
    ("docs/src/checkers.md", "`auto` takes 17 ms", "register-bad 32 1", "16.95 ms"),
    ("docs/src/checkers.md", "567,116 configurations if all", "queue, 4 clients, good, seed 2 | all", "567116"),
    ("docs/src/checkers.md", "and 879,900 if it is the 8,192", "| 8192 | 879900", "569510"),
    ("docs/src/checkers.md", "37 ms instead of", "set 280000 auto partitioned", "36.76 ms"),
    ("docs/src/checkers.md", "instead of 85 ms", "set 280000 auto |", "84.99 ms"),
    (
        "docs/src/checkers.md",
        "| queue, 1,000,000 operations, 8 clients | accepted | 120 ms |",
        "monitor queue 1000000 8 good",
        "119.80 ms",
    ),
    (
        "docs/src/checkers.md",
        "| the same with a fault | rejected | 175 ms |",
        "monitor queue 1000000 8 bad",
        "175.01 ms",
    ),
    (
        "docs/src/checkers.md",
        "| stack, 1,000,000 operations, 8 clients | accepted | 302 ms |",
        "monitor stack 1000000 8 good",
        "301.57 ms",
    ),
    (
        "docs/src/checkers.md",
        "| register, 1,000,000 operations, 8 clients | accepted | 100 ms |",
        "monitor register 1000000 8 good",
        "99.78 ms",
    ),
    (
        "docs/src/checkers.md",
        "| map, 1,000,000 operations, 8 clients | accepted | 250 ms |",
        "monitor map 1000000 8 good",
        "249.69 ms",
    ),
    ("docs/src/checkers.md", "| 1/10 | 0.97 ms | 0.76 ms | 1.08 ms |", "1/10", "| 0.97 | 0.76 | 1.08 |"),
    ("docs/src/checkers.md", "| 3/10 | 1.48 ms | 1.02 ms | 2.33 ms |", "3/10", "| 1.48 | 1.02 | 2.33 |"),
    ("docs/src/checkers.md", "| 4/10 | 1.75 ms | 1.13 ms | 17.74 ms |", "4/10", "| 1.75 | 1.13 | 17.74 |"),
    (
        "docs/src/checkers.md",
        "| 5/10 | 2.24 ms | 1.46 ms | undecided after 1.2 s |",
        "5/10",
        "| 2.24 | 1.46 | 1234.97 (4 of 4 undecided) |",
    ),
    (
        "docs/src/explanations.md",
        "of 247 rejected histories of up to 10,000 operations, half have a core of two calls",
        "all | 247",
        "| 1 to 10000 | 2 |",
    ),
    ("docs/src/finding-bugs.md", "here it takes 5.6 ± 1.6 ms", "`resizing-map-faulty-migrate`", "5.6 ± 1.6"),
    (
        "docs/src/finding-bugs.md",
        "here it takes 3.0 ± 0.1 ms",
        "`lock-free-skiplist-faulty-stepping-over`",
        "3.0 ± 0.1",
    ),
    ("docs/src/finding-bugs.md", "trueline 46 ± 48 ms", "`register-faulty-relaxed`", "46.4 ± 47.5"),
    ("docs/src/finding-bugs.md", "in 8.2 ± 1.7 s on average", "`resizing-map-faulty-migrate`", "8200"),
    ("docs/src/finding-bugs.md", "in\n  123 ± 7 ms", "`lock-free-skiplist-faulty-stepping-over`", "| 123 |"),
    ("docs/src/finding-bugs.md", "takes 679 ± 26 ms", "`register-faulty-relaxed`", "| 679 |"),
    ("docs/src/finding-bugs.md", "here it takes 5.6 ± 1.7 ms", "`sharded-map-faulty-early-status`", "5.6 ± 1.7"),
    (
        "docs/src/finding-bugs.md",
        "of 20 tests 8 ended stuck and 12",
        "`shann-queue-partial-faulty-stale-slot`",
        "12 rejected, 8 stuck",
    ),
    (
        "docs/src/finding-bugs.md",
        "in less than a fifth of a second on average",
        "`sharded-map-faulty-late-status`",
        "183.1 ± 65.7",
    ),
    (
        "docs/src/finding-bugs.md",
        "laarman-map-faulty-delete is not linearizable (found after 8.2ms)",
        "`laarman-map-faulty-delete`",
        "8.2 ± 3.6",
    ),
    ("docs/src/synchronizing.md", "of 16 clients is judged in 276 ms", "synchronous channel, 16 clients", "276.4 ms"),
];

#[test]
fn figures_are_those_of_the_tables() {
    let tables = fs::read_to_string(root().join("BENCHMARKS.md")).expect("it is there");
    for (page, said, row, figure) in FIGURES {
        let text = Page::read(page).text;
        assert!(text.contains(said), "{page} does not say `{said}` any more");
        let row = format!("| {row}");
        let is_there = tables.lines().any(|line| line.starts_with(&row) && line.contains(figure));
        assert!(is_there, "BENCHMARKS.md has no row `{row}` with `{figure}`: what does {page} say?");
    }
    assert!(tables.contains("On all 171 files it took\nat most 1.5 times"), "see docs/src/checkers.md");
}

#[test]
fn benchmarks_and_variables_exist() {
    let commands = fs::read_to_string(root().join("crates/trueline-bench/src/main.rs")).expect("it is there");
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("it is there");
    // The variables of tests, and those of the project itself.
    let variables = read("crates/trueline/src/test/environment.rs")
        + &read("crates/trueline/tests/it/happens.rs")
        + &read("crates/trueline-bench/src/papers/horn.rs");
    let command = Regex::new(r"-p trueline-bench (?:--features \S+ )?-- ([a-z-]+)").expect("a pattern");
    let variable = Regex::new(r"TRUELINE_[A-Z]+").expect("a pattern");
    let (mut faults, mut seen) = (Vec::new(), (0, 0));
    for page in pages() {
        for found in command.captures_iter(&page.text) {
            seen.0 += 1;
            if !commands.contains(&format!("\"{}\"", &found[1])) {
                faults.push(format!("{}: there is no benchmark `{}`", page.name, &found[1]));
            }
        }
        for found in variable.find_iter(&page.text) {
            seen.1 += 1;
            if !variables.contains(found.as_str()) {
                faults.push(format!("{}: there is no {}", page.name, found.as_str()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen.0 >= 3 && seen.1 >= 8, "{seen:?}");
}

#[test]
fn every_algorithm_is_in_the_chapter_on_checkers() {
    let page = Page::read("docs/src/checkers.md");
    let listed = run(&["algorithms", "--json"]);
    assert!(listed.stdout.lines().count() >= 13, "{}", listed.stdout);
    for line in listed.stdout.lines() {
        let algorithm = json(line);
        let name = algorithm["name"].as_str().expect("a name").trim_end_matches("[,..]");
        assert!(page.text.contains(&format!("| `{name}` |")), "{name} is not in the table");
    }
}

#[test]
fn promises_name_what_there_is() {
    let page = Page::read("docs/src/stability.md").text;
    let manifest = |path: &str| -> toml::Table {
        let text = fs::read_to_string(root().join(path)).expect("it is there");
        text.parse().expect("it is TOML")
    };
    let oldest = manifest("Cargo.toml")["workspace"]["package"]["rust-version"].as_str().expect("a text").to_owned();
    assert!(page.contains(&format!("| the oldest Rust | {oldest}, in")), "{oldest}");
    let library = manifest("crates/trueline/Cargo.toml");
    // Features that begin with an underscore are internal.
    let is_promised = |name: &&String| *name != "default" && !name.starts_with('_');
    for feature in library["features"].as_table().expect("a table").keys().filter(is_promised) {
        assert!(page.contains(&format!("`{feature}`")), "{feature}");
    }
}

//! Tests that the figures and names on the pages agree with the tables and the code.

use std::fs;

use regex::Regex;

use super::pages::{Page, pages, root};
use crate::{json, run};

/// Figures on a page, and the table of `BENCHMARKS.md` that supports them.
struct Figures {
    page: &'static str,
    /// The text around the figures, which stand for `{}`. After `about {}`, a figure may differ by a fifth.
    text: &'static str,
    /// The beginning of a row, without its first `| `. The first such row counts. After `A > B`, it is the first row that
    /// begins with B below a row that begins with A.
    row: &'static str,
    /// The beginning of the header of a column, for each figure.
    columns: &'static [&'static str],
}

const fn figures(
    page: &'static str,
    text: &'static str,
    row: &'static str,
    columns: &'static [&'static str],
) -> Figures {
    Figures { page, text, row, columns }
}

const README: &str = "README.md";
const CHECKERS: &str = "docs/src/checkers.md";
const FINDING: &str = "docs/src/finding-bugs.md";

/// The columns of the first table that the chapter on checkers repeats.
const CORE: &[&str] = &["best CPU time", "configurations", "memory beyond"];
const TIME: &[&str] = &["best CPU time"];
const MEAN: &[&str] = &["mean"];
const PAPER: &[&str] = &["the paper"];
const LOWE: &[&str] = &["queue-lowe", "auto", "jit-graph"];

const FIGURES: [Figures; 35] = [
    figures(README, "with the witness, in about {};", "set 280000 auto partitioned", TIME),
    figures(README, "a violation in about {};", "register-bad 32 2", TIME),
    figures(README, "and a violation, in about {}.", "register-info 5 2", TIME),
    figures(CHECKERS, "| `auto` | {} | {} | {} |", "set 280000 auto |", CORE),
    figures(CHECKERS, "| `jit-tree` | {} | {} | {} |", "set 280000 jit-tree", CORE),
    figures(CHECKERS, "| `wing-gong-graph` | {} | {} | {} |", "set 280000 wing-gong-graph", CORE),
    figures(CHECKERS, "| `wing-gong-tree` | {} | {} | {} |", "set 280000 wing-gong-tree", CORE),
    figures(CHECKERS, "| `jit-graph` | {} | {} | {} |", "set 280000 jit-graph", CORE),
    figures(CHECKERS, "| `bounded-graph` | {} | {} | {} |", "set 280000 bounded-graph |", CORE),
    figures(CHECKERS, "| `bounded-graph-lru` | {} | {} | {} |", "set 280000 bounded-graph-lru", CORE),
    figures(CHECKERS, "| `linear` | {} | {} | {} |", "set 280000 linear", CORE),
    figures(CHECKERS, "`auto` takes {}.", "register-bad 32 1", TIME),
    figures(CHECKERS, "{} configurations if all", "queue, 4 clients, good, seed 2 | all", &["recent or costly"]),
    figures(
        CHECKERS,
        "{} if only 8,192 of them are, chosen by recency and cost, and {} if",
        "queue, 4 clients, good, seed 2 > | 8192 |",
        &["recent or costly", "least recently used"],
    ),
    figures(CHECKERS, "this takes {} instead of", "set 280000 auto partitioned", TIME),
    figures(CHECKERS, "instead of {} (rows", "set 280000 auto |", TIME),
    figures(CHECKERS, "queue, 1,000,000 operations, 8 clients | accepted | {} |", "monitor queue 1000000 8 good", TIME),
    figures(CHECKERS, "| the same with a fault | rejected | {} |", "monitor queue 1000000 8 bad", TIME),
    figures(CHECKERS, "stack, 1,000,000 operations, 8 clients | accepted | {} |", "monitor stack 1000000 8 good", TIME),
    figures(
        CHECKERS,
        "register, 1,000,000 operations, 8 clients | accepted | {} |",
        "monitor register 1000000 8 good",
        TIME,
    ),
    figures(CHECKERS, "map, 1,000,000 operations, 8 clients | accepted | {} |", "monitor map 1000000 8 good", TIME),
    figures(CHECKERS, "| 1/10 | {} | {} | {} |", "1/10", LOWE),
    figures(CHECKERS, "| 3/10 | {} | {} | {} |", "3/10", LOWE),
    figures(CHECKERS, "| 4/10 | {} | {} | {} |", "4/10", LOWE),
    figures(CHECKERS, "| 5/10 | {} | {} | undecided after {} |", "5/10", LOWE),
    figures("docs/src/explanations.md", "of {} rejected histories", "all |", &["rejected"]),
    figures(FINDING, "here it takes {}", "`resizing-map-faulty-migrate`", MEAN),
    figures(FINDING, "in {} on average", "`resizing-map-faulty-migrate`", PAPER),
    figures(FINDING, "here it takes {}", "`lock-free-skiplist-faulty-stepping-over`", MEAN),
    figures(FINDING, "in\n  {}", "`lock-free-skiplist-faulty-stepping-over`", PAPER),
    figures(FINDING, "trueline {}", "`register-faulty-relaxed`", MEAN),
    figures(FINDING, "takes {}", "`register-faulty-relaxed`", PAPER),
    figures(FINDING, "here it takes {}", "`sharded-map-faulty-early-status`", MEAN),
    figures(FINDING, "is not linearizable (found after {})", "`laarman-map-faulty-delete`", MEAN),
    figures("docs/src/synchronizing.md", "of 16 clients is judged in {}", "synchronous channel, 16 clients", TIME),
];

/// A claim in words: a page, the words, a row and a column of a table, and what the words mean for its cell.
type Claim = (&'static str, &'static str, &'static str, &'static str, fn(&str) -> bool);

const CLAIMS: [Claim; 4] = [
    (README, "in less than a\n  fifth of a second", "monitor queue 1000000 16 bad", "best CPU time", |cell| {
        first(cell) < 200.0
    }),
    ("docs/src/explanations.md", "half have a core of two calls", "all |", "median core", |cell| cell == "2"),
    (FINDING, "of 20 tests 8 ended stuck and 12", "`shann-queue-partial-faulty-stale-slot`", "verdicts", |cell| {
        cell == "12 rejected, 8 stuck"
    }),
    (FINDING, "in less than a fifth of a second on average", "`sharded-map-faulty-late-status`", "mean", |cell| {
        first(cell) < 200.0
    }),
];

fn first(cell: &str) -> f64 {
    figure(cell)[0].value
}

/// A number as it is written, in milliseconds if it is a time in seconds.
#[derive(Debug)]
struct Number {
    value: f64,
    /// Half of its last digit: the error of correct rounding.
    half: f64,
}

/// Reads a figure, such as `8.2 ± 1.7 s` or `92,721`.
fn figure(text: &str) -> Vec<Number> {
    let number = Regex::new(r"\d[\d,]*(\.\d+)?").expect("a pattern");
    let in_ms = if Regex::new(r"\d s$").expect("a pattern").is_match(text) { 1000.0 } else { 1.0 };
    let read = |digits: &str| {
        let digits = digits.replace(',', "");
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let half = 0.5 / 10_f64.powi(i32::try_from(decimals).expect("few digits"));
        Number { value: digits.parse::<f64>().expect("a number") * in_ms, half: half * in_ms }
    };
    number.find_iter(text).map(|found| read(found.as_str())).collect()
}

/// Returns the cell of a table in this row and column, or `None` if no row has this column.
fn cell<'t>(tables: &'t str, row: &str, column: &str) -> Option<&'t str> {
    let cells = |line: &'t str| line.trim_matches('|').split('|').map(str::trim);
    let (above, row) = row.split_once(" > ").map_or((None, row), |(above, row)| (Some(above), row));
    let mut is_below = above.is_none();
    let mut header = None;
    let mut previous = "";
    for line in tables.lines() {
        if line.starts_with("|--") {
            header = cells(previous).position(|name| name.starts_with(column));
        }
        if let (Some(rest), Some(at)) = (line.strip_prefix("| "), header) {
            if is_below && rest.starts_with(row) {
                return cells(line).nth(at);
            }
            is_below = is_below || above.is_some_and(|above| rest.starts_with(above));
        }
        previous = line;
    }
    None
}

/// Whether a page may show `said` for a figure of a table.
fn agrees(said: &str, cell: &str, is_about: bool) -> bool {
    let (said, measured) = (figure(said), figure(cell));
    let is_near = |(said, measured): (&Number, &Number)| {
        let error = if is_about { measured.value / 5.0 } else { said.half * 1.000_001 };
        (said.value - measured.value).abs() <= error
    };
    !said.is_empty() && !measured.is_empty() && said.iter().zip(&measured).all(is_near)
}

/// Returns what is wrong with these figures.
fn faults_of(Figures { page, text, row, columns }: &Figures, tables: &str) -> Vec<String> {
    let figure = r"(\d[\d,.]*(?: ± [\d.]+)?(?: ?(?:ms|s|MiB)\b)?)";
    let pattern = Regex::new(&regex::escape(text).replace(r"\{\}", figure)).expect("a pattern");
    let contents = Page::read(page).text;
    let found: Vec<_> = pattern.captures_iter(&contents).collect();
    if found.is_empty() {
        return vec![format!("{page} does not say {text:?} any more")];
    }
    let cells: Vec<_> = columns.iter().map(|column| cell(tables, row, column)).collect();
    // The words may stand on a page more than once, with figures of different rows.
    let is_right = |found: &&regex::Captures<'_>| {
        let figures = found.iter().skip(1).flatten();
        figures
            .zip(&cells)
            .all(|(said, cell)| cell.is_some_and(|cell| agrees(said.as_str(), cell, text.contains("about {}"))))
    };
    if found.iter().any(|found| is_right(&found)) {
        return Vec::new();
    }
    vec![format!("{page} says {:?}, but in the row {row:?}, {columns:?} are {cells:?}", &found[0][0])]
}

#[test]
fn figures_are_those_of_the_tables() {
    let tables = fs::read_to_string(root().join("BENCHMARKS.md")).expect("the file can be read");
    let mut faults: Vec<String> = FIGURES.iter().flat_map(|figures| faults_of(figures, &tables)).collect();
    for (page, words, row, column, means) in CLAIMS {
        if !Page::read(page).text.contains(words) {
            faults.push(format!("{page} does not say {words:?} any more"));
        }
        match cell(&tables, row, column) {
            Some(cell) if means(cell) => {}
            cell => faults.push(format!("{page} says {words:?}, but in the row {row:?}, {column:?} is {cell:?}")),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(tables.contains("On all 171 files it took\nat most 1.5 times"), "see docs/src/checkers.md");
}

#[test]
fn wrong_figures_are_found() {
    let tables = "| case | time | memory |\n|---|---|---|\n| a b | 27.16 ms | 1,024 |\n| c | 8.2 ± 1.74 | 5 |\n\
                  | d e | 1 | 2 |\n| | f | 3 | 4 |\n| d g | 5 | 6 |\n| | f | 7 | 8 |\n";
    assert_eq!(cell(tables, "a b", "time"), Some("27.16 ms"));
    assert_eq!(cell(tables, "c", "mem"), Some("5"));
    assert_eq!(cell(tables, "x", "time"), None);
    assert_eq!(cell(tables, "| f |", "memory"), Some("3"));
    assert_eq!(cell(tables, "d g > | f |", "memory"), Some("7"));
    assert_eq!(cell(tables, "d g > | h |", "memory"), None);
    for (said, measured, is_about) in [
        ("27 ms", "27.16 ms", false),
        ("1,024", "1024", false),
        ("8.2 ± 1.7 s", "8200", false),
        ("25 ms", "27.16 ms", true),
    ] {
        assert!(agrees(said, measured, is_about), "{said} {measured}");
    }
    for (said, measured, is_about) in [
        ("28 ms", "27.16 ms", false),
        ("27.1 ms", "27.16 ms", false),
        ("8.2 ± 1.6", "8.2 ± 1.74", false),
        ("40 ms", "27.16 ms", true),
        ("27 s", "27.16 ms", false),
    ] {
        assert!(!agrees(said, measured, is_about), "{said} {measured}");
    }
}

#[test]
fn benchmarks_and_variables_exist() {
    let commands = fs::read_to_string(root().join("crates/trueline-bench/src/main.rs")).expect("the file can be read");
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("the file can be read");
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
        let text = fs::read_to_string(root().join(path)).expect("the file can be read");
        text.parse().expect("the file is TOML")
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

//! Tests histories that other projects recorded, with the verdicts of these projects or their checkers.
//!
//! The files are outside of this repository, because they belong to others; if they are absent, the test prints a
//! message.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use trueline::history::RawHistory;
use trueline::history::codec::{self, Format};
use trueline::judge::{Algorithm, Budget, Config};
use trueline::registry::{self, NamedSpec, Options};
use trueline::verdict::Verdict;

/// The number of files, if they are present.
const FILES: usize = 113;

/// The checkers that judge every file.
const ALGORITHMS: &[&str] = &["auto", "wing-gong-graph", "jit-graph", "bounded-graph", "bounded-graph-lru"];

/// Returns the limits of each checker: as much memory as any machine has.
fn budget() -> Budget {
    Budget::unlimited().memory(1 << 30)
}

/// A file and its expected verdict.
struct Case {
    path: PathBuf,
    spec: &'static str,
    nil_wildcard: bool,
    format: Format,
    linearizable: bool,
    /// The number of operations that happened or may have happened, and the number of these operations that never
    /// returned; `None` if the list does not contain these numbers.
    counts: Option<(usize, usize)>,
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data")
}

/// Returns the rows of a list of verdicts.
fn rows(list: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(list).unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

fn is_linearizable(verdict: &str) -> bool {
    match verdict {
        "linearizable" => true,
        "non-linearizable" => false,
        other => panic!("{other} is not a verdict"),
    }
}

fn cases(data: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for row in rows(&data.join("porcupine/EXPECTED.tsv")) {
        let (spec, format) =
            if row[0].starts_with("kv/") { ("kv", Format::PorcupineKv) } else { ("cas-register", Format::JepsenLog) };
        let path = data.join("porcupine").join(&row[0]);
        let linearizable = is_linearizable(&row[2]);
        cases.push(Case { path, spec, nil_wildcard: false, format, linearizable, counts: None });
    }
    for row in rows(&data.join("knossos/EXPECTED.tsv")) {
        let (spec, nil_wildcard) = match row[1].as_str() {
            "cas-register" => ("cas-register:0", true),
            "multi-register" => ("multi-register:0", true),
            "mutex" => ("mutex", false),
            other => panic!("the model {other} is unknown"),
        };
        let path = data.join("knossos").join(&row[0]);
        let linearizable = is_linearizable(&row[3]);
        // The columns from 6 on: operations, ok, fail, info, unclosed.
        let number = |column: usize| row[column].parse::<usize>().expect("a number");
        let counts = Some((number(6) - number(8), number(9) + number(10)));
        cases.push(Case { path, spec, nil_wildcard, format: Format::Jepsen, linearizable, counts });
    }
    cases
}

fn read(path: &Path, format: Format) -> RawHistory {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    codec::read(BufReader::new(file), format).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the histories; prints a message if they are absent.
fn histories() -> Option<Vec<(Case, RawHistory)>> {
    let data = data();
    if !data.is_dir() {
        eprintln!("skipped: the histories of others are not at {}", data.display());
        return None;
    }
    let with_history = |case: Case| {
        let history = read(&case.path, Format::Auto);
        (case, history)
    };
    Some(cases(&data).into_iter().map(with_history).collect())
}

#[test]
fn all_files_are_read() {
    let Some(histories) = histories() else { return };
    assert_eq!(histories.len(), FILES);
    for (case, history) in &histories {
        let name = case.path.display();
        assert_eq!(*history, read(&case.path, case.format), "{name} is of the format that is detected");
        // The list has no counts for Porcupine's files, but each line of these files is an event,
        // and only a cas can fail.
        let counts = case.counts.unwrap_or_else(|| {
            let text = fs::read_to_string(&case.path).expect("the file was read before");
            let count = |kind: &str| text.lines().filter(|line| line.contains(kind)).count();
            (count(":invoke"), count(":invoke") - count(":ok") - count(":fail"))
        });
        assert_eq!((history.len(), history.pending()), counts, "{name}");
    }
}

#[test]
fn all_files_get_their_verdicts() {
    let Some(histories) = histories() else { return };
    let mut specs: BTreeMap<&str, NamedSpec> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut judged = 0;
    let mut slowest: BTreeMap<&str, (Duration, String)> = BTreeMap::new();
    for (case, history) in &histories {
        let options = Options::new().nil_wildcard(case.nil_wildcard);
        let spec = specs.entry(case.spec).or_insert_with(|| {
            registry::spec(case.spec, options).unwrap_or_else(|error| panic!("{}: {error}", case.spec))
        });
        for name in ALGORITHMS {
            let algorithm: Algorithm = name.parse().expect("the algorithm exists");
            let config = Config::new().algorithm(algorithm).budget(budget());
            let started = Instant::now();
            let found =
                spec.judge(history.clone(), &config).unwrap_or_else(|error| panic!("{}: {error}", case.path.display()));
            let elapsed = started.elapsed();
            let verdict = match &found.judgment().verdict {
                Verdict::Accepted(_) => Ok(true),
                Verdict::Rejected(_) => Ok(false),
                Verdict::Unknown(limit) => Err(limit.to_string()),
            };
            if verdict != Ok(case.linearizable) {
                wrong.push(format!("{} by {name}: {verdict:?} in {elapsed:?}", case.path.display()));
            }
            let file = case.path.file_name().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
            let slow = slowest.entry(name).or_default();
            *slow = slow.clone().max((elapsed, file));
        }
        judged += 1;
    }
    for (algorithm, (elapsed, file)) in &slowest {
        eprintln!("{algorithm}: at most {elapsed:?}, of {file}");
    }
    eprintln!("{judged} files of others judged by {} checkers each", ALGORITHMS.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(judged, FILES);
}

//! Measures shrinking: how large the cores (the operations that remain) are, how long shrinking
//! takes, and whether the cores are rejected when they are judged alone.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::time::{Duration, Instant};

use trueline::history::codec::{self, Format};
use trueline::history::{Fate, History, OpId, RawHistory, Shown};
use trueline::judge::shrink::{self, Limits};
use trueline::judge::{Budget, Config, check};
use trueline::registry::{self, Options};
use trueline::spec::Spec;
use trueline::verdict::{Core, Role};
use trueline_bench::failures::{self, Visitor};

/// The number of failures that are shrunk for each family. In total, there are a little more than
/// 200.
const OF_EACH: usize = 8;
/// The time limit for judging and shrinking.
const BAR: Duration = Duration::from_secs(5);

/// The result of shrinking one rejected history.
struct Shrunk {
    operations: usize,
    told: usize,
    minimal: bool,
    /// Whether the core was rejected when it was judged alone.
    rejected: bool,
    calls: u32,
    /// The time that judging and shrinking took together.
    elapsed: Duration,
}

#[derive(Default)]
struct Table {
    rows: BTreeMap<String, Vec<Shrunk>>,
    only: Option<String>,
    /// The number of generated histories that were accepted.
    good: usize,
    /// The number of generated histories that were not decided, and therefore not shrunk.
    undecided: usize,
}

impl Table {
    fn add<Op, Ret>(&mut self, family: &str, core: &Core<Op, Ret>, elapsed: Duration, rejected: bool) {
        let shrunk = Shrunk {
            operations: core.of,
            told: core.calls.len(),
            minimal: core.is_minimal(),
            rejected,
            calls: core.oracle_calls,
            elapsed,
        };
        if self.only.is_some() || !shrunk.minimal {
            eprintln!(
                "{family}: {} of {} calls in the core, {} in its explanation, {} undecided, {} judgments, {elapsed:?}",
                shrunk.told,
                core.of,
                core.history.len(),
                core.undecided.len(),
                shrunk.calls
            );
        }
        self.rows.entry(family.to_owned()).or_default().push(shrunk);
    }

    fn print(&self) {
        if self.rows.is_empty() {
            return;
        }
        println!(
            "| histories | rejected | operations | median core | largest core | 1-minimal | median time | longest time | most judgments |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
        let all: Vec<&Shrunk> = self.rows.values().flatten().collect();
        for (family, rows) in &self.rows {
            row(family, &rows.iter().collect::<Vec<_>>());
        }
        row("all", &all);
        let wrong = all.iter().filter(|shrunk| !shrunk.rejected).count();
        let slow = all.iter().filter(|shrunk| shrunk.elapsed > BAR).count();
        eprintln!("{wrong} cores were not rejected when judged by themselves; {slow} took longer than {BAR:?}");
        eprintln!("in {} histories the injected fault had no effect, {} were undecided", self.good, self.undecided);
    }
}

fn row(name: &str, shrunk: &[&Shrunk]) {
    let told = sorted(shrunk, |one| one.told);
    let times = sorted(shrunk, |one| one.elapsed);
    let operations = sorted(shrunk, |one| one.operations);
    let calls = sorted(shrunk, |one| one.calls);
    let minimal = shrunk.iter().filter(|one| one.minimal).count();
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    let (Some(fewest), Some(most)) = (operations.first(), operations.last()) else { return };
    println!(
        "| {name} | {} | {fewest} to {most} | {} | {} | {minimal} | {} | {} | {} |",
        shrunk.len(),
        told[told.len() / 2],
        told[told.len() - 1],
        ms(times[times.len() / 2]),
        ms(times[times.len() - 1]),
        calls[calls.len() - 1],
    );
}

fn sorted<T: Ord>(shrunk: &[&Shrunk], of: impl Fn(&Shrunk) -> T) -> Vec<T> {
    let mut values: Vec<T> = shrunk.iter().map(|one| of(one)).collect();
    values.sort_unstable();
    values
}

fn config() -> Config {
    Config::new().budget(Budget::unlimited().time(BAR).memory(4 << 30))
}

impl Visitor for Table {
    fn visit<S: Spec>(&mut self, family: &'static str, spec: &S, history: &History<S::Op, S::Ret>) {
        let started = Instant::now();
        let judgment = check(spec, history, &config());
        let Some(evidence) = judgment.verdict.evidence() else {
            if judgment.verdict.is_accepted() {
                self.good += 1;
            } else {
                self.undecided += 1;
            }
            if self.only.is_some() {
                eprintln!(
                    "{family}: a history of {} operations is {} after {:?}",
                    history.len(),
                    judgment.verdict.name(),
                    judgment.stats.elapsed
                );
            }
            return;
        };
        let core = shrink::core(spec, history, evidence, &Limits::new());
        let elapsed = started.elapsed();
        let rejected = check(spec, &core.history, &config()).verdict.is_rejected();
        self.add(family, &core, elapsed, rejected);
        if self.only.is_some() {
            for member in core.told() {
                let operation = &history[member.id];
                eprintln!(
                    "    {}-{:?} process {} {:?} {:?} {:?}",
                    operation.call_position(),
                    operation.return_position(),
                    operation.process,
                    operation.op,
                    operation.outcome,
                    member.role
                );
            }
        }
    }

    fn has_enough(&self, family: &'static str) -> bool {
        self.only.as_ref().is_some_and(|only| only != family)
            || self.rows.get(family).is_some_and(|rows| rows.len() >= OF_EACH)
    }
}

/// Prints a table of the failures of all families and of the rejected files in `data`. Then prints
/// a table of failures that are harder to shrink than those of the first table. If `family` is
/// given, both tables show only this family, in detail.
pub(crate) fn table(data: &Path, family: Option<&str>) {
    let mut table = Table { only: family.map(str::to_owned), ..Table::default() };
    failures::all(&mut table);
    if family.is_none() {
        for (folder, expected) in [("porcupine", 2), ("knossos", 3)] {
            if let Err(problem) = files(&data.join(folder), expected, &mut table) {
                eprintln!("files of other projects are left out; give their directory with --data: {problem}");
            }
        }
    }
    table.print();
    println!();
    let mut hard = Table { only: table.only, ..Table::default() };
    failures::hard(&mut hard);
    hard.print();
}

/// Returns a history from a file, weakened to its core: only the operations of the core are kept.
///
/// # Panics
/// Panics if the core contains only the call or only the return of an operation, which does not
/// occur in these files.
fn only_core(history: &RawHistory, core: &Core<Shown, String>) -> RawHistory {
    let roles: HashMap<OpId, Role> = core.members.iter().map(|member| (member.id, member.role)).collect();
    assert!(core.members.iter().all(|member| !member.in_part), "the core must not contain a part of an operation");
    history.weaken(|id, _| match roles.get(&id) {
        None => Fate::LeaveOut,
        Some(Role::Completed | Role::Pending) => Fate::Keep,
        Some(Role::Optional) => Fate::Optional,
        Some(Role::Forgotten) => Fate::Forget,
    })
}

/// Adds the rejected files of a folder. In the list of these files, `expected` is the column with
/// the verdicts.
fn files(folder: &Path, expected: usize, table: &mut Table) -> Result<(), String> {
    let list = folder.join("EXPECTED.tsv");
    let text = fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        if columns.get(expected) != Some(&"non-linearizable") {
            continue;
        }
        let (kind, wildcard) = match columns[1].split(' ').next().unwrap_or_default() {
            "etcd" => ("cas-register", false),
            "kv" => ("kv", false),
            "cas-register" => ("cas-register:0", true),
            "multi-register" => ("multi-register:0", true),
            other => (other, false),
        };
        let path = folder.join(columns[0]);
        let problem = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let spec = registry::spec(kind, Options::new().nil_wildcard(wildcard)).map_err(|error| problem(&error))?;
        let file = File::open(&path).map_err(|error| problem(&error))?;
        let history = codec::read(BufReader::new(file), Format::Auto).map_err(|error| problem(&error))?;
        let copy = history.clone();
        let started = Instant::now();
        let judged = spec.judge(copy, &config()).map_err(|error| problem(&error))?;
        let (core, _) = judged.core(&Limits::new()).ok_or_else(|| problem(&"the history was not rejected"))?;
        let elapsed = started.elapsed();
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let again = spec.judge(only_core(&history, &core), &config()).map_err(|error| problem(&error))?;
        let rejected = again.judgment().verdict.is_rejected();
        let family = format!("{name}: {}", columns[1].split(' ').next().unwrap_or_default());
        table.add(&family, &core, elapsed, rejected);
    }
    Ok(())
}

//! Compares the automatic choice of an algorithm with each individual algorithm, on files.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trueline::history::codec::{self, Format};
use trueline::history::{History, RawHistory};
use trueline::judge::{Budget, Config, check};
use trueline::registry::{self, Options};
use trueline::spec::Spec;
use trueline::verdict::Verdict;
use trueline_bench::{failures, usage};

/// The individual algorithms with which the automatic choice is compared.
const SINGLE: &[&str] =
    &["monitor", "queue-lowe", "jit-graph", "wing-gong-graph", "jit-tree", "wing-gong-tree", "linear", "bounded-graph"];

/// A file, and the specification by which its history is judged.
struct Case {
    path: PathBuf,
    spec: String,
    nil_wildcard: bool,
}

/// Judges every file in `directories`, and prints a table. In each directory, a list of verdicts
/// names the files to judge. The files come from other projects and from this repository.
pub(crate) fn table(directories: &[&str]) {
    let mut cases = Vec::new();
    for directory in directories {
        cases.extend(listed(Path::new(directory)));
    }
    println!(
        "| file | specification | operations | auto | best single | which | ratio | at most 1.5 times the best, or 1 ms more |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let (mut held, mut auto_sum, mut best_sum) = (0, 0.0, 0.0);
    for case in &cases {
        let Some(row) = measure(case) else { continue };
        held += usize::from(row.holds());
        auto_sum += row.auto;
        best_sum += row.best;
        println!(
            "| {} | {} | {} | {:.3} ms | {:.3} ms | {} | {:.2} | {} |",
            case.path.file_name().unwrap_or_default().to_string_lossy(),
            case.spec,
            row.operations,
            row.auto,
            row.best,
            row.which,
            row.auto / row.best,
            if row.holds() { "yes" } else { "**no**" }
        );
    }
    println!(
        "\n{held} of {} files meet the bar; auto took {auto_sum:.1} ms in total, the best single algorithms \
         {best_sum:.1} ms.",
        cases.len()
    );
}

/// Judges simulated histories of every family of specifications, some of them with a fault.
pub(crate) fn families() {
    println!(
        "| family | histories | auto | best single algorithms | worst ratio, where auto takes more than 1 ms | at most 1.5 times the best, or 1 ms more |"
    );
    println!("|---|---|---|---|---|---|");
    let mut families = Families::default();
    failures::all(&mut families);
    let held: usize = families.0.iter().map(|(_, of)| of.held).sum();
    let all: usize = families.0.iter().map(|(_, of)| of.histories).sum();
    for (name, OfFamily { histories, held, auto, best, worst }) in families.0 {
        println!("| {name} | {histories} | {auto:.2} ms | {best:.2} ms | {worst:.2} | {held} of {histories} |");
    }
    println!("\n{held} of {all} histories meet the bar.");
}

/// The number of histories of each family that are judged.
const OF_FAMILY: usize = 3;

#[derive(Default)]
struct Families(Vec<(&'static str, OfFamily)>);

#[derive(Default)]
struct OfFamily {
    histories: usize,
    held: usize,
    auto: f64,
    best: f64,
    worst: f64,
}

impl failures::Visitor for Families {
    fn visit<S: Spec>(&mut self, family: &'static str, spec: &S, history: &History<S::Op, S::Ret>) {
        let time = |algorithm: &str| time_of(spec, history, algorithm);
        let singles = SINGLE.iter().filter_map(|single| Some((time(single)?, *single)));
        // A history that no individual algorithm decides in time is skipped. If an individual
        // algorithm decides the history but the automatic choice does not, the time of the
        // automatic choice counts as infinite.
        let Some((best, which)) = singles.min_by(|one, other| one.0.total_cmp(&other.0)) else { return };
        let row = Row { operations: history.len(), auto: time("auto").unwrap_or(f64::INFINITY), best, which };
        if !row.holds() {
            eprintln!("{family}: {} operations, auto {:.2} ms, {which} {best:.2} ms", row.operations, row.auto);
        }
        if self.0.last().is_none_or(|(name, _)| *name != family) {
            self.0.push((family, OfFamily::default()));
        }
        let of = &mut self.0.last_mut().expect("the entry was pushed above").1;
        of.histories += 1;
        of.held += usize::from(row.holds());
        of.auto += row.auto;
        of.best += row.best;
        if row.auto > 1.0 {
            of.worst = of.worst.max(row.auto / row.best);
        }
    }

    fn has_enough(&self, family: &'static str) -> bool {
        self.0.last().is_some_and(|(name, of)| *name == family && of.histories >= OF_FAMILY)
    }
}

/// Measures three runs, and returns the shortest time in milliseconds; `None` if the algorithm did
/// not decide.
fn time_of<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, algorithm: &str) -> Option<f64> {
    let budget = Budget::unlimited().time(Duration::from_millis(500)).memory(1 << 30);
    let config = Config::new().algorithm(algorithm.parse().ok()?).budget(budget);
    let mut best = f64::MAX;
    for _ in 0..3 {
        let before = usage::cpu_ns();
        if matches!(check(spec, history, &config).verdict, Verdict::Unknown(_)) {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
        let taken = (usage::cpu_ns() - before) as f64 / 1e6;
        best = best.min(taken);
    }
    Some(best)
}

struct Row {
    operations: usize,
    auto: f64,
    best: f64,
    which: &'static str,
}

impl Row {
    fn holds(&self) -> bool {
        self.auto <= 1.5 * self.best + 1.0
    }
}

fn listed(directory: &Path) -> Vec<Case> {
    let rows = |list: &str| -> Vec<Vec<String>> {
        let text = fs::read_to_string(directory.join(list)).unwrap_or_default();
        text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    };
    let case =
        |file: &str, spec: &str, nil_wildcard| Case { path: directory.join(file), spec: spec.to_owned(), nil_wildcard };
    let mut cases: Vec<Case> = rows("VERDICTS.tsv").iter().map(|row| case(&row[0], &row[1], false)).collect();
    for row in rows("porcupine/EXPECTED.tsv") {
        let spec = if row[0].starts_with("kv/") { "kv" } else { "cas-register" };
        cases.push(case(&format!("porcupine/{}", row[0]), spec, false));
    }
    for row in rows("knossos/EXPECTED.tsv") {
        let (spec, nil_wildcard) =
            if row[1] == "mutex" { ("mutex".into(), false) } else { (format!("{}:0", row[1]), true) };
        cases.push(case(&format!("knossos/{}", row[0]), &spec, nil_wildcard));
    }
    cases
}

fn measure(case: &Case) -> Option<Row> {
    let file = File::open(&case.path).ok()?;
    let history = codec::read(BufReader::new(file), Format::Auto).ok()?;
    let auto = time(case, &history, "auto")?;
    let singles = SINGLE.iter().filter_map(|single| Some((time(case, &history, single)?, *single)));
    let (best, which) = singles.min_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(Row { operations: history.len(), auto, best, which })
}

/// Measures three runs, each from a validated history to the verdict, and returns the shortest time
/// in milliseconds; `None` if the algorithm did not decide.
#[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
fn time(case: &Case, history: &RawHistory, algorithm: &str) -> Option<f64> {
    let budget = Budget::unlimited().time(Duration::from_secs(5)).memory(2 << 30);
    let config = Config::new().algorithm(algorithm.parse().ok()?).budget(budget);
    let options = Options::new().nil_wildcard(case.nil_wildcard);
    let mut best = f64::MAX;
    for _ in 0..3 {
        let spec = registry::spec(&case.spec, options).ok()?;
        let before = usage::cpu_ns();
        let judged = spec.judge(history.clone(), &config).ok()?;
        let all = usage::cpu_ns() - before;
        let stats = &judged.judgment().stats;
        if matches!(judged.judgment().verdict, Verdict::Unknown(_)) {
            return None;
        }
        // Do not count the time for converting the operations to operations of the specification.
        best = best.min((stats.elapsed.as_nanos() as f64).min(all as f64) / 1e6);
    }
    Some(best)
}

//! How soon the faults of the built-in objects are found: Lowe, *Testing for linearizability*, section 8.
//!
//! Each observation is a process of its own, of the command line as people run it, with nothing set: what is measured is
//! from the first run to the one that went wrong, judging included.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

/// What the papers took, on average. They count from the start of a warm process, on machines with more processors.
const PAPERS: &[(&str, Duration)] = &[
    ("laarman-map-faulty-delete", Duration::from_millis(12_400)),
    ("resizing-map-faulty-migrate", Duration::from_millis(8_200)),
    ("lock-free-skiplist-faulty-stepping-over", Duration::from_millis(123)),
    ("sharded-map-faulty-early-status", Duration::from_millis(671)),
    ("shann-queue-faulty-stale-slot", Duration::from_millis(100)),
    ("register-faulty-relaxed", Duration::from_millis(679)),
    ("register-faulty-acquire-release", Duration::from_millis(679)),
];
/// The bar where no paper has a time.
const BAR: Duration = Duration::from_secs(1);
/// The bar of Shann's queue, which the paper finds wrong "normally within 100 ms".
const BAR_OF_SHANN: Duration = Duration::from_millis(100);
/// For how long nobody gets anywhere before an object is stuck.
const WATCHDOG: Duration = Duration::from_secs(1);
/// When an observation is given up; it then counts as this long, and is told.
const MOST: Duration = Duration::from_secs(60);

/// What is measured, and how often.
#[derive(Debug)]
pub(crate) struct Options<'a> {
    /// The command line of trueline; the one beside this program, if nothing is said.
    pub(crate) trueline: Option<&'a str>,
    pub(crate) times: u32,
    /// Words that are all in the names of objects.
    pub(crate) words: Vec<&'a str>,
}

impl<'a> Options<'a> {
    pub(crate) fn read(words: &[&'a str]) -> Option<Self> {
        let mut options = Self { trueline: None, times: 20, words: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--trueline" => options.trueline = Some(words.next()?),
                "--times" => options.times = words.next()?.parse().ok().filter(|times| *times > 1)?,
                word if word.starts_with("--") => return None,
                word => options.words.push(word),
            }
        }
        Some(options)
    }
}

/// Prints the table.
pub(crate) fn table(options: &Options<'_>) -> Result<(), String> {
    let trueline = match options.trueline {
        Some(path) => PathBuf::from(path),
        None => std::env::current_exe()
            .map_err(|error| format!("where is this program? {error}"))?
            .with_file_name("trueline"),
    };
    println!(
        "| object | fault | verdicts | mean ± 95 %, ms | most, ms | of it waiting for the stuck, ms | the paper, ms | bar, ms | holds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for object in ask(&trueline, &["--list", "--json"])? {
        let name = object["name"].as_str().unwrap_or_default();
        if object["expected"] == "accepted" || !options.words.iter().all(|word| name.contains(word)) {
            continue;
        }
        let seconds = MOST.as_secs().to_string();
        let mut observed = Vec::new();
        for _ in 0..options.times {
            let observation = ask(&trueline, &[name, "--json", "--time", &seconds])?;
            observed.extend(observation.iter().map(Observation::read));
        }
        println!("{}", row(name, object["fault"].as_str().unwrap_or_default(), &observed));
    }
    Ok(())
}

/// What `trueline test` says: an object a line.
fn ask(trueline: &Path, args: &[&str]) -> Result<Vec<Value>, String> {
    let output = Command::new(trueline).arg("test").args(args).output().map_err(|error| {
        format!("{} could not be started: {error}; build it, or name it by --trueline", trueline.display())
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    match lines {
        Ok(lines) if !lines.is_empty() => Ok(lines),
        _ => Err(format!("`trueline test {}` failed: {}", args.join(" "), String::from_utf8_lossy(&output.stderr))),
    }
}

/// One observation.
#[derive(Clone, Debug)]
struct Observation {
    verdict: String,
    ms: f64,
    /// What of it was the watchdog's.
    waiting_ms: f64,
}

impl Observation {
    #[expect(clippy::cast_precision_loss, reason = "for reading")]
    fn read(object: &Value) -> Self {
        let verdict = object["verdict"].as_str().unwrap_or("none").to_owned();
        let ms = object["found_ns"].as_u64().map_or(MOST.as_secs_f64() * 1e3, |ns| ns as f64 / 1e6);
        let waiting_ms = if verdict == "stuck" { WATCHDOG.as_secs_f64() * 1e3 } else { 0.0 };
        Self { verdict, ms, waiting_ms }
    }
}

fn row(name: &str, fault: &str, observed: &[Observation]) -> String {
    let mut verdicts: Vec<String> = Vec::new();
    for verdict in ["rejected", "stuck", "unknown", "accepted"] {
        let times = observed.iter().filter(|observation| observation.verdict == verdict).count();
        if times > 0 {
            verdicts.push(format!("{times} {verdict}"));
        }
    }
    let times: Vec<f64> = observed.iter().map(|observation| observation.ms).collect();
    let (mean, around) = mean_and_interval(&times);
    let waiting: Vec<f64> = observed.iter().map(|observation| observation.waiting_ms).collect();
    let (waiting, _) = mean_and_interval(&waiting);
    let most = times.iter().copied().fold(0.0, f64::max);
    let paper = PAPERS.iter().find(|(of_paper, _)| *of_paper == name).map(|(_, mean)| mean.as_secs_f64() * 1e3);
    let bar = match paper {
        _ if name.starts_with("shann") => BAR_OF_SHANN.as_secs_f64() * 1e3,
        Some(paper) => paper / 10.0,
        None => BAR.as_secs_f64() * 1e3,
    };
    let is_found = observed.iter().all(|observation| ["rejected", "stuck"].contains(&observation.verdict.as_str()));
    let holds = if is_found && mean - waiting <= bar { "yes" } else { "**no**" };
    let paper = paper.map_or_else(String::new, |paper| format!("{paper:.0}"));
    let verdicts = verdicts.join(", ");
    let bar = if waiting > 0.0 { format!("{bar:.1} + watchdog") } else { format!("{bar:.1}") };
    format!(
        "| `{name}` | {fault} | {verdicts} | {mean:.1} ± {around:.1} | {most:.1} | {waiting:.0} | {paper} | {bar} | {holds} |"
    )
}

/// Student's t for 95 %, by degrees of freedom from 1 on.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// The mean, and how far from it the true one is with 95 % confidence.
#[expect(clippy::cast_precision_loss, reason = "for reading")]
fn mean_and_interval(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let freedom = values.len().saturating_sub(1);
    if freedom == 0 {
        return (mean, 0.0);
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / freedom as f64;
    let student = STUDENT.get(freedom - 1).copied().unwrap_or(1.96);
    (mean, student * (variance / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_student() {
        let (mean, around) = mean_and_interval(&[1.0, 2.0, 3.0]);
        assert!((mean - 2.0).abs() < 1e-9 && (around - 4.303 / 3.0_f64.sqrt()).abs() < 1e-9);
        assert_eq!(mean_and_interval(&[5.0]), (5.0, 0.0));
    }

    #[test]
    fn bars_hold_or_not() {
        let observed =
            |verdict: &str, ms, waiting_ms| vec![Observation { verdict: verdict.to_owned(), ms, waiting_ms }; 3];
        let holds = |name, observed: &[Observation]| row(name, "", observed).ends_with("| yes |");
        assert!(holds("sharded-map-faulty-early-status", &observed("rejected", 67.0, 0.0)));
        assert!(!holds("sharded-map-faulty-early-status", &observed("rejected", 68.0, 0.0)));
        assert!(holds("shann-queue-partial-faulty-stale-slot", &observed("stuck", 1090.0, 1000.0)));
        assert!(!holds("shann-queue-partial-faulty-stale-slot", &observed("stuck", 1110.0, 1000.0)));
        assert!(!holds("ms-queue-faulty-aba", &observed("accepted", 10.0, 0.0)));
    }

    #[test]
    fn options_are_read() {
        let options = Options::read(&["--times", "5", "map", "--trueline", "x"]).expect("they make sense");
        assert_eq!((options.times, options.trueline, options.words), (5, Some("x"), vec!["map"]));
        assert!(Options::read(&["--times", "one"]).is_none() && Options::read(&["--other"]).is_none());
    }
}

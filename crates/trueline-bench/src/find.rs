//! Measures how fast the faults of the built-in objects are found, as in Lowe, *Testing for
//! linearizability*, section 8, and in Lawrence & Lowe, *Synchronisation*, figures 14 and 15.
//!
//! For each observation, the command-line program runs in a separate process, with default
//! settings, as users run it. The measured time is the time from the first run to the failing run,
//! including judging.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

/// The mean times to find a fault, according to the papers. In the papers, the time began with the
/// start of the test, the process had already warmed up, and the machines had more processors.
const PAPERS: &[(&str, Duration)] = &[
    ("laarman-map-faulty-delete", Duration::from_millis(12_400)),
    ("resizing-map-faulty-migrate", Duration::from_millis(8_200)),
    ("lock-free-skiplist-faulty-stepping-over", Duration::from_millis(123)),
    ("sharded-map-faulty-early-status", Duration::from_millis(671)),
    ("shann-queue-faulty-stale-slot", Duration::from_millis(100)),
    ("register-faulty-relaxed", Duration::from_millis(679)),
    ("register-faulty-acquire-release", Duration::from_millis(679)),
];
/// A mean reported in the papers, in milliseconds, and half the width of its 95 % confidence
/// interval.
type Mean = (u32, u32);
/// The times in figure 14. For each object, there are two times: one for the direct tester, and one
/// for the two-step tester.
const FIGURE_14: &[(&str, Mean, Mean)] = &[
    ("sync-channel-faulty-no-wait", (85, 3), (109, 2)),
    ("filter-channel-faulty-no-filter", (77, 1), (108, 3)),
    ("men-women-faulty-two-slots", (75, 1), (108, 4)),
    ("exchanger-faulty-no-third-stage", (73, 1), (511, 25)),
    ("counter-channel-faulty-late-number", (94, 2), (106, 1)),
    ("two-families-faulty-late-read", (299, 34), (267, 25)),
    ("one-family-faulty-late-read", (336, 27), (437, 39)),
    ("abc-faulty-late-read", (717, 225), (928, 216)),
    ("barrier-faulty-no-rounds", (80, 1), (106, 1)),
    ("enrollable-barrier-faulty-no-initial-wait", (132, 5), (149, 6)),
    ("timeout-channel-faulty-one-flag", (121, 5), (135, 5)),
    ("timeout-exchanger-faulty-third-joins", (288, 64), (231, 18)),
    ("closeable-channel-faulty-old-library", (191, 11), (173, 9)),
    ("terminating-queue-faulty-returns-at-once", (103, 1), (105, 1)),
];
/// The times in figure 15.
const FIGURE_15: &[(&str, Mean)] = &[
    ("sync-channel-faulty-two-states", (323, 39)),
    ("filter-channel-faulty-two-states", (338, 50)),
    ("men-women-faulty-notify-one", (232, 19)),
    ("one-family-faulty-early-look", (1098, 278)),
    ("abc-faulty-lost-signal", (1080, 186)),
    ("barrier-faulty-no-initial-wait", (169, 3)),
];
/// A safety violation must be found this many times faster than in figure 14.
const PART: f64 = 5.0;
/// The bar (the longest acceptable time) for objects without a time in the papers.
const BAR: Duration = Duration::from_secs(1);
/// The bar for Shann's queue. According to the paper, its fault is found "normally within 100 ms".
const BAR_OF_SHANN: Duration = Duration::from_millis(100);
/// The time without progress after which an object counts as stuck.
const WATCHDOG: Duration = Duration::from_secs(1);
/// The time limit of an observation. An observation that reaches the limit is reported, and counts
/// as taking exactly this long.
const MOST: Duration = Duration::from_secs(60);

/// The options of the command: which objects to measure, how often, and with which program.
#[derive(Debug)]
pub(crate) struct Options<'a> {
    /// The path of the command-line program `trueline`. Defaults to the `trueline` beside this program.
    pub(crate) trueline: Option<&'a str>,
    pub(crate) times: u32,
    /// Words that must all occur in the name of an object.
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

/// Prints the table of faulty objects that do not synchronize threads.
pub(crate) fn table(options: &Options<'_>) -> Result<(), String> {
    let trueline = options.trueline()?;
    println!(
        "| object | fault | verdicts | mean ± 95 %, ms | most, ms | of which waiting for stuck threads, ms | the \
         paper, ms | bar, ms | holds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for object in options.faulty(&trueline, false)? {
        let name = object["name"].as_str().unwrap_or_default();
        let observed = observe(&trueline, options.times, &[name])?;
        println!("{}", row(name, object["fault"].as_str().unwrap_or_default(), &observed));
    }
    Ok(())
}

/// Returns whether the fault may cause calls to get stuck.
fn gets_stuck(object: &Value) -> bool {
    object["expected"] == "stuck" || object["or"] == "stuck"
}

/// Prints the table of faulty objects that synchronize threads.
pub(crate) fn synchronizing(options: &Options<'_>) -> Result<(), String> {
    let trueline = options.trueline()?;
    let faulty = options.faulty(&trueline, true)?;
    println!("| object | fault | verdicts | direct, ms | figure 14 | in two steps, ms | figure 14 | bar, ms | holds |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let of_figure_14 = |name: &str| FIGURE_14.iter().find(|(of_paper, ..)| *of_paper == name);
    let in_figure_14 = |object: &Value| object["name"].as_str().is_some_and(|name| of_figure_14(name).is_some());
    for object in faulty.iter().filter(|object| !gets_stuck(object) || in_figure_14(object)) {
        let name = object["name"].as_str().unwrap_or_default();
        let fault = object["fault"].as_str().unwrap_or_default();
        let direct = observe(&trueline, options.times, &[name])?;
        let two_step = observe(&trueline, options.times, &[name, "--algorithm", "jit-graph"])?;
        let mut cells = vec![format!("`{name}`"), fault.to_owned(), verdicts(&direct), in_words(&direct)];
        let paper = of_figure_14(name);
        cells.push(paper.map_or_else(String::new, |(_, (mean, around), _)| format!("{mean} ± {around}")));
        cells.push(in_words(&two_step));
        cells.push(paper.map_or_else(String::new, |(.., (mean, around))| format!("{mean} ± {around}")));
        let bar = paper.map_or(BAR.as_secs_f64() * 1e3, |(_, (mean, _), _)| f64::from(*mean) / PART);
        cells.push(format!("{bar:.1}"));
        let holds = is_found(&direct) && mean_of(&direct) <= bar;
        cells.push(if holds { "yes" } else { "**no**" }.to_owned());
        println!("| {} |", cells.join(" | "));
    }
    Ok(())
}

/// Prints the table of faulty objects that synchronize threads and whose calls get stuck.
pub(crate) fn stuck(options: &Options<'_>) -> Result<(), String> {
    let trueline = options.trueline()?;
    println!("| object | fault | verdicts | direct, ms | of which waiting for stuck threads, ms | figure 15 |");
    println!("|---|---|---|---|---|---|");
    for object in options.faulty(&trueline, true)?.iter().filter(|object| gets_stuck(object)) {
        let name = object["name"].as_str().unwrap_or_default();
        let observed = observe(&trueline, options.times, &[name, "--criterion", "progress"])?;
        let waiting: Vec<f64> = observed.iter().map(|observation| observation.waiting_ms).collect();
        let (waiting, _) = mean_and_interval(&waiting);
        let paper = FIGURE_15.iter().find(|(of_paper, _)| *of_paper == name);
        let paper = paper.map_or_else(String::new, |(_, (mean, around))| format!("{mean} ± {around}"));
        let fault = object["fault"].as_str().unwrap_or_default();
        let (verdicts, time) = (verdicts(&observed), in_words(&observed));
        println!("| `{name}` | {fault} | {verdicts} | {time} | {waiting:.0} | {paper} |");
    }
    Ok(())
}

impl Options<'_> {
    fn trueline(&self) -> Result<PathBuf, String> {
        match self.trueline {
            Some(path) => Ok(PathBuf::from(path)),
            None => Ok(std::env::current_exe()
                .map_err(|error| format!("cannot find the path of this program: {error}"))?
                .with_file_name("trueline")),
        }
    }

    /// Returns the faulty objects to measure. If `synchronizes` is true, returns only objects that
    /// synchronize threads; otherwise, returns only objects that do not.
    fn faulty(&self, trueline: &Path, synchronizes: bool) -> Result<Vec<Value>, String> {
        let mut objects = ask(trueline, &["--list", "--json"])?;
        objects.retain(|object| {
            let name = object["name"].as_str().unwrap_or_default();
            let is_asked_for = self.words.iter().all(|word| name.contains(word));
            object["expected"] != "accepted" && (object["family"] == "sync") == synchronizes && is_asked_for
        });
        Ok(objects)
    }
}

/// Runs `trueline test` with these arguments, `times` times, and returns the observations.
fn observe(trueline: &Path, times: u32, args: &[&str]) -> Result<Vec<Observation>, String> {
    let seconds = MOST.as_secs().to_string();
    let mut observed = Vec::new();
    for _ in 0..times {
        let observation = ask(trueline, &[args, &["--json", "--shrink-time", "0", "--time", &seconds]].concat())?;
        observed.extend(observation.iter().map(Observation::read));
    }
    Ok(observed)
}

/// Returns the output of `trueline test`: one JSON object for each line.
fn ask(trueline: &Path, args: &[&str]) -> Result<Vec<Value>, String> {
    let output = Command::new(trueline).arg("test").args(args).output().map_err(|error| {
        format!("{} could not be started: {error}; build it, or give its path with --trueline", trueline.display())
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    match lines {
        Ok(lines) if !lines.is_empty() => Ok(lines),
        _ => Err(format!("`trueline test {}` failed: {}", args.join(" "), String::from_utf8_lossy(&output.stderr))),
    }
}

/// One run of `trueline test`: its verdict and its time.
#[derive(Clone, Debug)]
struct Observation {
    verdict: String,
    ms: f64,
    /// The part of `ms` that was spent waiting for the watchdog, in milliseconds.
    waiting_ms: f64,
}

impl Observation {
    #[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
    fn read(object: &Value) -> Self {
        let verdict = object["verdict"].as_str().unwrap_or("none").to_owned();
        let ms = object["found_ns"].as_u64().map_or(MOST.as_secs_f64() * 1e3, |ns| ns as f64 / 1e6);
        // A run in which all threads wait in primitives is reported as stuck at once, before the
        // watchdog notices it.
        let watchdog_ms = WATCHDOG.as_secs_f64() * 1e3;
        let waiting_ms = if verdict == "stuck" && ms >= watchdog_ms { watchdog_ms } else { 0.0 };
        Self { verdict, ms, waiting_ms }
    }
}

fn mean_of(observed: &[Observation]) -> f64 {
    mean_and_interval(&observed.iter().map(|observation| observation.ms).collect::<Vec<_>>()).0
}

fn in_words(observed: &[Observation]) -> String {
    let (mean, around) = mean_and_interval(&observed.iter().map(|observation| observation.ms).collect::<Vec<_>>());
    format!("{mean:.1} ± {around:.1}")
}

fn verdicts(observed: &[Observation]) -> String {
    let mut verdicts: Vec<String> = Vec::new();
    for verdict in ["rejected", "stuck", "unknown", "accepted"] {
        let times = observed.iter().filter(|observation| observation.verdict == verdict).count();
        if times > 0 {
            verdicts.push(format!("{times} {verdict}"));
        }
    }
    verdicts.join(", ")
}

fn is_found(observed: &[Observation]) -> bool {
    observed.iter().all(|observation| ["rejected", "stuck"].contains(&observation.verdict.as_str()))
}

fn row(name: &str, fault: &str, observed: &[Observation]) -> String {
    let waiting: Vec<f64> = observed.iter().map(|observation| observation.waiting_ms).collect();
    let (waiting, _) = mean_and_interval(&waiting);
    let most = observed.iter().map(|observation| observation.ms).fold(0.0, f64::max);
    let paper = PAPERS.iter().find(|(of_paper, _)| *of_paper == name).map(|(_, mean)| mean.as_secs_f64() * 1e3);
    let bar = match paper {
        _ if name.starts_with("shann") => BAR_OF_SHANN.as_secs_f64() * 1e3,
        Some(paper) => paper / 10.0,
        None => BAR.as_secs_f64() * 1e3,
    };
    let holds = if is_found(observed) && mean_of(observed) - waiting <= bar { "yes" } else { "**no**" };
    let paper = paper.map_or_else(String::new, |paper| format!("{paper:.0}"));
    let (verdicts, time) = (verdicts(observed), in_words(observed));
    let bar = if waiting > 0.0 { format!("{bar:.1} + watchdog") } else { format!("{bar:.1}") };
    format!("| `{name}` | {fault} | {verdicts} | {time} | {most:.1} | {waiting:.0} | {paper} | {bar} | {holds} |")
}

/// The values of Student's t for 95 % confidence intervals, with 1 to 30 degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// Returns the mean, and the half-width of its 95 % confidence interval.
#[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
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
    fn only_the_watchdog_is_waited_for() {
        let read = |verdict: &str, found_ns: u64| {
            Observation::read(&serde_json::json!({ "verdict": verdict, "found_ns": found_ns })).waiting_ms
        };
        assert_eq!([read("stuck", 20_000_000), read("rejected", 2_000_000_000)], [0.0, 0.0]);
        assert_eq!(read("stuck", 1_100_000_000), 1000.0);
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
        let options = Options::read(&["--times", "5", "map", "--trueline", "x"]).expect("the options are valid");
        assert_eq!((options.times, options.trueline, options.words), (5, Some("x"), vec!["map"]));
        assert!(Options::read(&["--times", "one"]).is_none() && Options::read(&["--other"]).is_none());
    }
}

//! Runs an experiment with the method of the papers: each observation is made in a separate
//! process.
//!
//! The observations of a point end when the 95 % interval is within 2 % of the mean, when there are
//! enough observations, or when the time for the point is over. The time for a point is its share
//! of the time for the whole experiment; in a full run, it is at most 2 minutes.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::experiment::{Experiment, Point, Scale};
use super::results::{Machine, Observation, PointResults, Results};
use super::statistics::Summary;

/// The maximum number of observations of a point.
pub(crate) const MOST: usize = 50;
/// The maximum time for observing a point in a full run.
const POINT: Duration = Duration::from_secs(120);
/// The time for all points of an experiment in a full run, as a multiple of the time in a quick
/// run. With this factor, full runs of all experiments together take at most four hours.
pub(crate) const FULL: f64 = 12.0;
/// A point is complete when half the width of its interval is at most this fraction of the mean.
const NARROW: f64 = 0.02;
/// The minimum number of observations of a point before its interval is computed.
const FEWEST: usize = 5;
/// A process is killed when it runs for longer than the time limit of the point that it observes,
/// plus this duration.
const SLACK: Duration = Duration::from_secs(60);

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options<'o> {
    pub(crate) scale: Scale,
    /// Whether to discard earlier results.
    pub(crate) again: bool,
    /// The folder of the results.
    pub(crate) folder: &'o Path,
    /// Run only the points whose names contain all these words.
    pub(crate) words: &'o [&'o str],
}

/// Runs an experiment, or continues an earlier run of it. Then checks whether the results have the
/// shapes of the experiment.
///
/// # Errors
/// Returns a message if results cannot be read or written.
pub(crate) fn run(experiment: &Experiment, options: &Options<'_>) -> Result<Results, String> {
    let Options { scale, again, folder, words } = *options;
    let earlier = Results::read(folder, experiment.id)?.filter(|results| !again && results.mode == scale.name());
    let mut results = experiment.described(scale);
    results.machine = machine();
    let points = (experiment.points)(scale);
    results.points = points.iter().map(|point| continued(point, earlier.as_ref())).collect();
    let all = points.len();
    #[expect(clippy::cast_precision_loss, reason = "there are few points")]
    let quick = Duration::from_secs_f64(experiment.quick_s / all.max(1) as f64);
    let time = match scale {
        Scale::Full => POINT.min(quick.mul_f64(FULL)),
        Scale::Quick => quick,
    };
    let commit = commit();
    for (at, point) in points.iter().enumerate() {
        let name = format!("{} {} {}", point.panel, point.series, point.x);
        if results.points[at].is_complete || !words.iter().all(|word| name.contains(word)) {
            continue;
        }
        let left = results.points[at..].iter().filter(|point| !point.is_complete).count();
        let most = time * u32::try_from(left).unwrap_or(u32::MAX);
        eprintln!("{}: {name} ({} of {all}, about {:.0} s left)", experiment.id, at + 1, most.as_secs_f64());
        let observed = &mut results.points[at];
        observe(experiment, point, scale, time, observed)?;
        observed.load = load();
        observed.commit.clone_from(&commit);
        let Summary { mean, around, count } = observed.summary();
        eprintln!("    {mean:.4} ± {around:.4}, n = {count}");
        results.shapes = experiment.judge(&results);
        results.write(folder)?;
    }
    results.shapes = experiment.judge(&results);
    results.write(folder)?;
    Ok(results)
}

/// Checks again whether the stored results of an experiment have its shapes. Returns `None` if no
/// results are stored.
///
/// # Errors
/// Returns a message if results cannot be read or written.
pub(crate) fn judge_again(experiment: &Experiment, folder: &Path) -> Result<Option<Results>, String> {
    let Some(stored) = Results::read(folder, experiment.id)? else { return Ok(None) };
    let scale = if stored.mode == "full" { Scale::Full } else { Scale::Quick };
    let mut results = experiment.described(scale);
    results.machine.clone_from(&stored.machine);
    results.points = (experiment.points)(scale).iter().map(|point| continued(point, Some(&stored))).collect();
    results.points.retain(|point| !point.observations.is_empty());
    results.shapes = experiment.judge(&results);
    results.write(folder)?;
    Ok(Some(results))
}

/// Returns a point, together with the observations of it from earlier runs.
fn continued(point: &Point, earlier: Option<&Results>) -> PointResults {
    let Point { panel, series, x, paper } = point.clone();
    let known = earlier.and_then(|earlier| earlier.point(&panel, &series, &x)).cloned().unwrap_or_default();
    PointResults { panel, series, x, paper, ..known }
}

fn observe(
    experiment: &Experiment,
    point: &Point,
    scale: Scale,
    time: Duration,
    observed: &mut PointResults,
) -> Result<(), String> {
    let most = if experiment.repeats { experiment.most.min(MOST) } else { 1 };
    loop {
        let Summary { mean, around, count } = observed.summary();
        let is_narrow = count >= FEWEST && around <= NARROW * mean.abs();
        let is_late = count > 0 && observed.spent_s >= time.as_secs_f64();
        if count >= most || is_narrow || is_late {
            observed.is_complete = true;
            return Ok(());
        }
        let started = Instant::now();
        let observation = in_new_process(experiment.id, point, scale, count as u64 + 1, time + SLACK);
        observed.spent_s += started.elapsed().as_secs_f64();
        match observation {
            Ok(observation) => observed.observations.push(observation),
            Err(problem) => {
                // A point that cannot be observed is left out; the results of the other points are still useful.
                eprintln!("    {problem}");
                observed.is_complete = !observed.observations.is_empty();
                return Ok(());
            }
        }
    }
}

/// Makes an observation in a new process of this program. Kills the process after the time `most`.
fn in_new_process(id: &str, point: &Point, scale: Scale, seed: u64, most: Duration) -> Result<Observation, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find the path of this program: {error}"))?;
    let mut child = Command::new(program)
        .args(["observe", id, &point.panel, &point.series, &point.x, scale.name(), &seed.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{id} could not be started: {error}"))?;
    let mut output = child.stdout.take().expect("the output is piped");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = output.read_to_string(&mut text);
        text
    });
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if started.elapsed() > most => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("killed after {:.0} s", most.as_secs_f64()));
            }
            Ok(None) => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
            Err(error) => return Err(format!("{id} does not end: {error}")),
        }
    }
    let text = reader.join().unwrap_or_default();
    let json = text.lines().last().and_then(|line| serde_json::from_str(line).ok());
    json.as_ref().and_then(Observation::from_json).ok_or_else(|| format!("the observation failed: {}", text.trim()))
}

fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(-1.0)
}

/// Returns the commit that is checked out, or an empty text.
fn commit() -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(super::root())
        .args(["rev-parse", "--short=10", "HEAD"])
        .stderr(Stdio::null())
        .output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

/// Describes this machine.
pub(crate) fn machine() -> Machine {
    let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let kib = field(&text("/proc/meminfo"), "MemTotal");
    let kib: u64 = kib.and_then(|kib| kib.split_whitespace().next()?.parse().ok()).unwrap_or(0);
    Machine {
        cpu: field(&text("/proc/cpuinfo"), "model name").unwrap_or_else(|| "unknown".to_owned()),
        cores: std::thread::available_parallelism().map_or(0, |cores| cores.get() as u64),
        memory_gib: (kib + (1 << 19)) >> 20,
    }
}

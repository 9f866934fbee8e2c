//! Reproduces the experiments of the papers. For each table or figure, there is a command that
//! repeats the experiment and shows the results beside those of the paper.
//!
//! An [experiment](experiment) defines its points, what one observation measures, and the shapes
//! that the results must have: rules such as "A is faster than B". The [runner] makes each
//! observation in a fresh process, and stores it in `docs/papers` immediately. The [page] and the
//! [plots](plot) are generated from these files alone.

// The page is generated and tested without the objects. Only the experiments need the objects.
#![cfg_attr(not(feature = "objects"), allow(dead_code, reason = "only experiments, which run objects, use it"))]

#[cfg(feature = "objects")]
mod experiment;
#[cfg(feature = "objects")]
mod finding;
#[cfg(feature = "objects")]
mod horn;
#[cfg(feature = "objects")]
mod linked_list;
#[cfg(feature = "objects")]
mod lowe;
mod page;
mod plot;
mod results;
#[cfg(feature = "objects")]
mod round_up;
#[cfg(feature = "objects")]
mod runner;
mod statistics;
#[cfg(feature = "objects")]
mod sync;

use std::path::{Path, PathBuf};

use results::Results;

/// Returns the folder of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(".")).to_path_buf()
}

/// Returns the folder of the results.
fn folder() -> PathBuf {
    root().join("docs/papers")
}

/// The names of all experiments, in the order of the page.
const IDS: &[&str] = &[
    "lowe-fig4-map",
    "lowe-fig4-queue",
    "lowe-fig5-keys",
    "lowe-fig5-enqueues",
    "lowe-parallel",
    "lowe-trees",
    "lowe-backtracks",
    "lowe-fig7-trace",
    "lowe-fig7-workers",
    "lowe-bugs",
    "lowe-linear",
    "lowe-example",
    "horn-table1",
    "horn-memory",
    "horn-options",
    "horn-etcd",
    "horn-facts",
    "horn-bounded",
    "roundup-table2",
    "roundup-table3",
    "roundup-table5",
    "roundup-fig8",
    "roundup-example",
    "sync-fig11",
    "sync-fig12",
    "sync-fig13",
    "sync-fig14",
    "sync-fig15",
    "sync-timeout",
    "sync-asap",
    "sync-complexity",
    "sync-display",
];

/// Reads all results that are stored.
fn stored() -> Result<Vec<Results>, String> {
    let folder = folder();
    let read = IDS.iter().filter_map(|id| Results::read(&folder, id).transpose());
    read.collect()
}

/// Writes the page, the plots and the tables, from the stored results.
///
/// # Errors
/// Returns a message if a file cannot be read or written.
pub(crate) fn write_page() -> Result<(), String> {
    #[cfg(feature = "objects")]
    for experiment in experiments() {
        runner::judge_again(experiment, &folder())?;
    }
    for (path, text) in page::files(&stored()?) {
        results::write(&root().join(path), &text)?;
    }
    Ok(())
}

#[cfg(feature = "objects")]
pub(crate) use run::{Request, observe, run};

#[cfg(feature = "objects")]
use run::{equals_paper, experiments};

#[cfg(feature = "objects")]
mod run {
    use super::experiment::{Experiment, Holds, Scale};
    use super::results::{Results, Verdict};
    use super::{IDS, folder, horn, lowe, round_up, runner, sync};

    /// Which experiments to run, and how.
    #[derive(Debug)]
    pub(crate) struct Request<'r> {
        /// The paper, and the table or figure; `all` and an empty string for all experiments.
        command: (&'r str, &'r str),
        scale: Scale,
        again: bool,
        words: Vec<&'r str>,
    }

    impl<'r> Request<'r> {
        /// Reads the words of a command, such as `lowe fig4 --quick`; `None` if they are not a command.
        pub(crate) fn read(words: &[&'r str]) -> Option<Self> {
            let (command, rest) = match words {
                ["all", rest @ ..] => (("all", ""), rest),
                [paper @ ("lowe" | "horn" | "roundup" | "sync"), what, rest @ ..] => ((*paper, *what), rest),
                _ => return None,
            };
            let is_known = command.0 == "all" || experiments().any(|experiment| experiment.command == command);
            let is_flag = |word: &&&str| word.starts_with("--");
            let flags: Vec<&str> = rest.iter().filter(is_flag).copied().collect();
            let are_known = flags.iter().all(|flag| matches!(*flag, "--quick" | "--again"));
            (is_known && are_known).then(|| Self {
                command,
                scale: if flags.contains(&"--quick") { Scale::Quick } else { Scale::Full },
                again: flags.contains(&"--again"),
                words: rest.iter().filter(|word| !is_flag(word)).copied().collect(),
            })
        }
    }

    /// Returns all experiments, in the order of the page.
    pub(crate) fn experiments() -> impl Iterator<Item = &'static Experiment> {
        let all =
            || lowe::EXPERIMENTS.iter().chain(horn::EXPERIMENTS).chain(round_up::EXPERIMENTS).chain(sync::EXPERIMENTS);
        IDS.iter().filter_map(move |id| all().find(|experiment| experiment.id == *id))
    }

    /// Runs experiments, and prints their results.
    ///
    /// # Errors
    /// Returns a message if results cannot be read or written.
    pub(crate) fn run(request: &Request<'_>) -> Result<(), String> {
        let Request { command, scale, again, words } = request;
        let folder = folder();
        let options = runner::Options { scale: *scale, again: *again, folder: &folder, words };
        let chosen: Vec<&Experiment> =
            experiments().filter(|experiment| command.0 == "all" || experiment.command == *command).collect();
        let started = std::time::Instant::now();
        for (at, experiment) in chosen.iter().enumerate() {
            let left: f64 = chosen[at..].iter().map(|experiment| experiment.quick_s).sum();
            let left = if *scale == Scale::Full { left * runner::FULL } else { left };
            if command.0 == "all" {
                eprintln!(
                    "== {} ({:.0} s so far, about {left:.0} s left)",
                    experiment.id,
                    started.elapsed().as_secs_f64()
                );
            }
            let results = runner::run(experiment, &options)?;
            println!("{}", super::page::section(&results, 3));
        }
        super::write_page()
    }

    /// Makes one observation of the point that `words` describe, and prints it. Returns `None` if
    /// the point does not exist.
    pub(crate) fn observe(words: &[&str]) -> Option<()> {
        let [id, panel, series, x, scale, seed] = *words else { return None };
        let experiment = experiments().find(|experiment| experiment.id == id)?;
        let scale = if scale == "full" { Scale::Full } else { Scale::Quick };
        let points = (experiment.points)(scale);
        let point = points.iter().find(|point| point.panel == panel && point.series == series && point.x == x)?;
        println!("{}", (experiment.observe)(point, scale, seed.parse().ok()?).to_json());
        Some(())
    }

    /// Returns whether the mean at each observed point equals the number in the paper.
    pub(crate) fn equals_paper(results: &Results) -> Holds {
        let observed: Vec<_> = results.points.iter().filter(|point| !point.observations.is_empty()).collect();
        let differs = |point: &&&super::results::PointResults| {
            point.paper.is_some_and(|(paper, _)| (point.summary().mean - paper).abs() > 1e-9)
        };
        let wrong: Vec<String> = observed
            .iter()
            .filter(differs)
            .map(|point| format!("{}: {}, not {}", point.x, point.summary().mean, point.paper.unwrap_or_default().0))
            .collect();
        if observed.is_empty() {
            return Holds::not_testable("not measured yet");
        }
        let detail = if wrong.is_empty() { format!("all {}", observed.len()) } else { wrong.join("; ") };
        Holds::when(wrong.is_empty(), detail)
    }

    /// Prints how many shapes hold, and which shapes do not hold.
    pub(crate) fn print_shapes() -> Result<(), String> {
        let all = super::stored()?;
        let shapes = || all.iter().flat_map(|results| results.shapes.iter().map(move |shape| (&results.id, shape)));
        let count = |verdict| shapes().filter(|(_, shape)| shape.verdict == verdict).count();
        println!(
            "{} hold, {} do not, {} are not testable here",
            count(Verdict::Pass),
            count(Verdict::Fail),
            count(Verdict::NotTestable)
        );
        for (id, shape) in shapes().filter(|(_, shape)| shape.verdict == Verdict::Fail) {
            println!("FAIL {id}: {} ({})", shape.rule, shape.detail);
        }
        Ok(())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn each_experiment_is_on_the_page_and_has_shapes() {
            let known: Vec<&str> = experiments().map(|experiment| experiment.id).collect();
            assert_eq!(known, IDS);
            for experiment in experiments() {
                assert!(!experiment.shapes.is_empty(), "{} has no shape", experiment.id);
                for scale in [Scale::Quick, Scale::Full] {
                    let points = (experiment.points)(scale);
                    assert!(!points.is_empty(), "{} has no points", experiment.id);
                    for (at, point) in points.iter().enumerate() {
                        let same = |other: &super::super::experiment::Point| {
                            (&other.panel, &other.series, &other.x) == (&point.panel, &point.series, &point.x)
                        };
                        assert!(!points[..at].iter().any(same), "{}: {point:?} twice", experiment.id);
                    }
                }
            }
        }

        #[test]
        fn a_quick_run_of_all_takes_at_most_twenty_minutes_and_a_full_run_four_hours() {
            let all: f64 = experiments().map(|experiment| experiment.quick_s).sum();
            assert!(all <= 1060.0, "{all} s");
            assert!(all * runner::FULL <= 4.0 * 3600.0, "a full run takes more than four hours");
        }

        #[test]
        fn commands_are_read() {
            let request = Request::read(&["lowe", "fig4", "--quick", "map"]).expect("the words are a command");
            assert_eq!((request.scale, request.again, request.words), (Scale::Quick, false, vec!["map"]));
            assert!(Request::read(&["lowe", "fig99"]).is_none());
            assert!(Request::read(&["all", "--fast"]).is_none());
            assert!(Request::read(&["all", "--quick", "--again"]).is_some_and(|request| request.again));
        }
    }
}

#[cfg(feature = "objects")]
pub(crate) use run::print_shapes;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_has_a_reason() {
        for results in stored().expect("results can be read") {
            let fails = results.shapes.iter().any(|shape| shape.verdict == results::Verdict::Fail);
            assert!(!fails || results.why.is_some(), "{} fails without a reason", results.id);
        }
    }

    /// The page, the plots and the tables are those that `papers` makes from the stored results.
    #[test]
    fn the_page_is_made_from_the_results() {
        let stored = stored().expect("results can be read");
        for (path, text) in page::files(&stored) {
            let found = std::fs::read_to_string(root().join(&path)).unwrap_or_default();
            assert!(found == text, "{path} is old: `cargo run -p trueline-bench -- papers` makes it");
        }
    }
}

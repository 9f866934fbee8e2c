//! Judges the same histories with trueline's checkers and with those of other crates, in one run.
//!
//! `cargo run --release --manifest-path compare/Cargo.toml -- --write COMPARISON.md` writes the
//! page. Each checker judges each history in a separate process, so that the time and memory of the
//! checker can be measured and limited. If verdicts disagree, the page reports the disagreement at
//! the top, and the exit code is 1.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints tables")]

mod cases;
mod checkers;
mod child;
mod explore;
mod files;
mod machine;
mod objects;
mod peers;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use cases::Case;
use checkers::{CHECKERS, Checker};
use child::{End, Limits};
use report::{Bar, Results};

const USAGE: &str = "\
usage: trueline-bench-compare [OPTIONS] [WORDS]
       trueline-bench-compare explore [SECONDS]
Only cases that have all WORDS in their titles are measured.
  --write FILE      writes the page to FILE instead of to standard output
  --data DIR        directory of the histories of other projects [default: ../shared/data]
  --limit SECONDS   time after which a checker is stopped [default: 30]
  --memory GIB      memory, beyond that of the history, at which a checker is stopped [default: 12]
";

/// The stack size of the thread that judges. It is large because some checkers recurse once for
/// each operation.
const STACK: usize = 1 << 30;

/// The speedups that this comparison must show.
const BARS: [Bar; 3] = [
    Bar { title: cases::SET_WHOLE, times: 20.0 },
    Bar { title: files::ALL, times: 10.0 },
    Bar { title: files::STORE_WHOLE, times: 5.0 },
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "case") {
        return in_child(words);
    }
    if words.first().is_some_and(|word| word == "explore") {
        let seconds = words.get(1).and_then(|word| word.parse().ok()).unwrap_or(3);
        return explore::table(Duration::from_secs(seconds));
    }
    let options = match Options::read(words) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    compare(&options)
}

struct Options {
    write: Option<PathBuf>,
    data: PathBuf,
    limits: Limits,
    filter: Vec<String>,
}

impl Options {
    fn read(words: Vec<String>) -> Result<Self, String> {
        let limits = Limits { time: Duration::from_secs(30), memory_kib: 12 << 20 };
        let mut options = Self { write: None, data: PathBuf::from("../shared/data"), limits, filter: Vec::new() };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut argument = || words.next().ok_or_else(|| format!("{word} needs an argument"));
            let number = |word: String| word.parse::<u64>().map_err(|_| format!("{word} is not a whole number"));
            match word.as_str() {
                "--write" => options.write = Some(argument()?.into()),
                "--data" => options.data = argument()?.into(),
                "--limit" => options.limits.time = Duration::from_secs(number(argument()?)?),
                "--memory" => options.limits.memory_kib = number(argument()?)? << 20,
                option if option.starts_with('-') => return Err(format!("there is no option {option}")),
                _ => options.filter.push(word),
            }
        }
        Ok(options)
    }
}

/// Runs `case CHECKER whole|by-key HISTORY`: judges one history with one checker, in this process.
fn in_child(words: Vec<String>) -> ExitCode {
    let judge = move || -> Result<(), String> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match *words.as_slice() {
            ["case", checker, how @ ("whole" | "by-key"), ref history @ ..] => {
                cases::run(history, checker.parse()?, how == "by-key")
            }
            _ => Err("usage: case CHECKER whole|by-key HISTORY".to_owned()),
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(judge);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        Ok(Ok(Err(problem))) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
        // The thread panicked, so it has already printed a message.
        Ok(Err(_)) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cannot start a thread: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(options: &Options) -> ExitCode {
    let mut cases = cases::all_generated();
    let missing = match files::cases(&options.data) {
        Ok(of_files) => {
            cases.extend(of_files);
            None
        }
        Err(problem) => {
            eprintln!("the histories of other projects are left out; pass their directory with --data: {problem}");
            Some(problem)
        }
    };
    let cases = cases.into_iter().filter(|case| options.filter.iter().all(|word| case.title.contains(word)));
    let all: Vec<Results> = cases.map(|case| measure(case, options.limits)).collect();
    let disagreements: Vec<String> = all.iter().flat_map(Results::disagreements).collect();
    let page = page(&all, &disagreements, missing.as_deref(), options.limits);
    let written = match &options.write {
        Some(file) => std::fs::write(file, page).map_err(|error| format!("{}: {error}", file.display())),
        None => {
            print!("{page}");
            Ok(())
        }
    };
    if let Err(problem) = written {
        eprintln!("{problem}");
        return ExitCode::from(2);
    }
    for disagreement in &disagreements {
        eprintln!("DISAGREEMENT: {disagreement}");
    }
    if disagreements.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn measure(case: Case, limits: Limits) -> Results {
    let limits = Limits { time: case.limit.unwrap_or(limits.time).min(limits.time), ..limits };
    let mut by_checker = Vec::new();
    for checker in CHECKERS {
        // `PorcupineThreads` uses a thread for each key, so it is measured only on histories that
        // are split by key.
        if checker == Checker::PorcupineThreads && !case.by_key {
            continue;
        }
        eprint!("{}: {}: ", case.title, checker.name());
        let how = if case.by_key { "by-key" } else { "whole" };
        let measured: Vec<_> = case
            .histories
            .iter()
            .map(|source| {
                let words = ["case", checker.name(), how].into_iter().chain(source.words.iter().map(String::as_str));
                child::measure(&words.collect::<Vec<_>>(), limits)
            })
            .collect();
        let judged = measured.iter().filter(|measured| matches!(measured.end, End::Judged(..))).count();
        eprintln!("{judged} of {} judged", measured.len());
        by_checker.push((checker, measured));
    }
    Results { case, limits, by_checker }
}

fn page(all: &[Results], disagreements: &[String], missing: Option<&str>, limits: Limits) -> String {
    let mut page = String::from("# trueline compared with its peers\n\n");
    if !disagreements.is_empty() {
        page += "**DISAGREEMENT**: these verdicts cannot all be right.\n\n";
        for disagreement in disagreements {
            page += &format!("- {disagreement}\n");
        }
        page += "\n";
    }
    page += &machine::preamble(limits);
    if let Some(missing) = missing {
        page += &format!("- **Left out**: files of other projects, which were not found ({missing}).\n");
    }
    let bars = report::bars(&BARS, all);
    page += &format!("\n## Targets\n\n{bars}\n## In short\n\n{}", report::summary(all));
    for results in all {
        page += "\n";
        page += &report::section(results);
    }
    page
}

//! Measures trueline.
//!
//! `cargo run --release -p trueline-bench -- core` prints the table of the generic checkers. Each
//! row is measured in a separate process, so that the measured memory is that of one row only.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this program prints tables")]

#[cfg(feature = "files")]
mod auto;
mod bounded;
mod core;
mod count;
#[cfg(feature = "objects")]
mod drive;
mod find;
#[cfg(feature = "objects")]
mod hunt;
mod lowe;
mod measure;
mod monitors;
mod papers;
#[cfg(feature = "files")]
mod plain;
mod quasi;
#[cfg(feature = "objects")]
mod round_up;
#[cfg(feature = "files")]
mod shrink;
mod sync;

#[cfg(feature = "files")]
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words.as_slice() {
        ["papers"] => {
            if let Err(problem) = papers::write_page() {
                eprintln!("{problem}");
                return ExitCode::FAILURE;
            }
        }
        #[cfg(feature = "objects")]
        ["papers", "shapes"] => {
            if let Err(problem) = papers::print_shapes() {
                eprintln!("{problem}");
                return ExitCode::FAILURE;
            }
        }
        #[cfg(feature = "objects")]
        ["observe", ref words @ ..] => {
            if papers::observe(words).is_none() {
                return usage();
            }
        }
        #[cfg(feature = "objects")]
        ["all", ..] | ["lowe" | "horn" | "roundup" | "sync", _, ..] => {
            let Some(request) = papers::Request::read(&words) else { return usage() };
            if let Err(problem) = papers::run(&request) {
                eprintln!("{problem}");
                return ExitCode::FAILURE;
            }
        }
        ["core", ref filter @ ..] => table(&core::rows(), filter),
        ["bounded"] => bounded::table(),
        ["lowe"] => lowe::table(),
        ["quasi"] => quasi::tables(),
        ["sync"] => sync::table(),
        [command @ ("find" | "find-sync" | "find-stuck"), ref options @ ..] => {
            let Some(options) = find::Options::read(options) else { return usage() };
            let table = match command {
                "find" => find::table,
                "find-sync" => find::synchronizing,
                _ => find::stuck,
            };
            if let Err(problem) = table(&options) {
                eprintln!("{problem}");
                return ExitCode::FAILURE;
            }
        }
        #[cfg(feature = "files")]
        ["plain"] => plain::table(),
        #[cfg(feature = "files")]
        ["auto", "families"] => auto::families(),
        #[cfg(feature = "files")]
        ["auto", ref directories @ ..] => auto::table(directories),
        #[cfg(feature = "objects")]
        ["round-up", ref words @ ..] => round_up::tables(words),
        #[cfg(feature = "objects")]
        ["hunt", seconds, ref words @ ..] => match seconds.parse() {
            Ok(seconds) => hunt::table(seconds, words),
            Err(_) => return usage(),
        },
        #[cfg(feature = "objects")]
        ["drive"] => drive::table(),
        ["monitors", ref filter @ ..] => monitors::table(filter),
        #[cfg(feature = "files")]
        ["shrink", ref options @ ..] => match *options {
            [] => shrink::table(Path::new("../shared/data"), None),
            ["--data", data] => shrink::table(Path::new(data), None),
            ["--family", family] => shrink::table(Path::new(""), Some(family)),
            _ => return usage(),
        },
        ["case", name] => match core::case(name, u32::MAX).or_else(|| monitors::case(name, u32::MAX)) {
            Some(measured) => println!("{}", measured.to_line()),
            None => return usage(),
        },
        ["count", name] => match count::case(name) {
            Some(result) => println!("{result}"),
            None => return usage(),
        },
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: trueline-bench core [words in the names of cases] | bounded | monitors [words] | lowe | quasi | sync | case NAME | count NAME |\n       find | find-sync | find-stuck [--times N] [--trueline PATH] [words in the names of objects]\n       with the feature `files`: shrink [--data DIR | --family NAME] | auto DIRECTORY.. | auto families | plain\n       with the feature `objects`: drive | round-up [words in the names of objects] | hunt SECONDS [correct] [words]\n       the papers, reproduced (feature `objects`): all | lowe fig4|fig5|parallel|trees|backtracks|fig7|bugs|linear|example |\n       horn table1|options|etcd|facts|bounded | roundup table2|table3|table5|fig8|example |\n       sync fig11|fig12|fig13|fig14|fig15|timeout|asap|complexity|display, each with [--quick] [--again] [words in the names of points];\n       papers (write the page from the results) | papers shapes"
    );
    ExitCode::from(2)
}

fn table(rows: &[core::Row], filter: &[&str]) {
    println!(
        "| case | operations | never return | verdict | best CPU time | ns per operation | configurations | memory beyond the history | memory of the process | bar |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for core::Row { case, bar } in rows {
        if !filter.iter().all(|word| case.contains(word)) {
            continue;
        }
        match measure::in_new_process(case) {
            Ok(measured) => {
                #[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
                let (ms, per_operation, above, most) = (
                    measured.best_ns as f64 / 1e6,
                    measured.best_ns as f64 / measured.operations.max(1) as f64,
                    measured.above_kib as f64 / 1024.0,
                    measured.most_kib as f64 / 1024.0,
                );
                println!(
                    "| {case} | {} | {} | {} | {ms:.2} ms | {per_operation:.0} | {} | {above:.1} MiB | {most:.1} MiB | {bar} |",
                    measured.operations, measured.pending, measured.verdict, measured.configurations
                );
            }
            Err(problem) => eprintln!("{problem}"),
        }
    }
}

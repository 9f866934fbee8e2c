//! Feeds mutated files to a reader for some seconds: `fuzz_readers <reader> <seconds> [seed] [files or directories..]`.
//!
//! The reader is not instrumented. Instead, an input is kept for further mutation if the first words
//! of the reader's error message are new, or if the input is a history of a new size. A panic, a
//! response after more than a second, or an error that violates the rules for errors is a finding:
//! the input is written to the directory for temporary files, and the exit code is 1.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program prints its results")]

#[path = "../tests/it/mutate.rs"]
mod mutate;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs, panic, process};

use mutate::{Dice, SUBJECTS, Subject, mutate, read};
use trueline::history::codec::Format;

/// The maximum number of inputs that are kept for further mutation.
const POOL: usize = 4096;

/// The size of the pieces into which longer files are cut.
const PIECE: usize = 4096;

/// The time limit for an input: a longer time is a finding.
const SLOW: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let seconds = args.get(1).and_then(|seconds| seconds.parse().ok());
    let (Some(name), Some(seconds)) = (args.first(), seconds) else {
        let names: Vec<&str> = SUBJECTS.iter().map(|subject| subject.name).collect();
        eprintln!("usage: fuzz_readers <reader> <seconds> [seed] [files or directories..]");
        eprintln!("readers: {}, auto", names.join(", "));
        return ExitCode::from(2);
    };
    let subjects: Vec<&Subject> = SUBJECTS.iter().filter(|subject| name == "auto" || subject.name == name).collect();
    if subjects.is_empty() {
        eprintln!("there is no reader `{name}`; run this program without arguments to list the readers");
        return ExitCode::from(2);
    }
    let format = if name == "auto" { Format::Auto } else { subjects[0].format };
    let seed = args.get(2).and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut pool: Vec<Vec<u8>> =
        subjects.iter().flat_map(|subject| subject.samples).map(|sample| sample.as_bytes().to_vec()).collect();
    for path in args.iter().skip(3) {
        add_files(Path::new(path), &mut pool);
    }
    let words: Vec<&str> = subjects.iter().flat_map(|subject| subject.words).copied().collect();
    fuzz(name, format, Duration::from_secs(seconds), seed, pool, &words)
}

/// Adds the first four pieces of a file, or of each file in a directory, to the pool.
fn add_files(path: &Path, pool: &mut Vec<Vec<u8>>) {
    if let Ok(entries) = fs::read_dir(path) {
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.iter().for_each(|path| add_files(path, pool));
    } else if let Ok(bytes) = fs::read(path) {
        pool.extend(bytes.chunks(PIECE).take(4).map(<[u8]>::to_vec));
    }
}

fn fuzz(name: &str, format: Format, time: Duration, seed: u64, mut pool: Vec<Vec<u8>>, words: &[&str]) -> ExitCode {
    let seeds = pool.len();
    let mut dice = Dice::new(seed);
    let mut kinds: HashSet<String> = HashSet::new();
    let (mut runs, mut histories, mut findings) = (0u64, 0u64, 0u64);
    let mut slowest = Duration::ZERO;
    let started = Instant::now();
    while started.elapsed() < time && findings < 20 {
        // For half of the inputs, mutates one of the original inputs. Most inputs that were added to
        // the pool later already contain errors, and each further mutation adds more.
        let from = if dice.below(2) == 0 { seeds } else { pool.len() };
        let mut bytes = pool[dice.below(from)].clone();
        let other = dice.below(pool.len());
        mutate(&mut dice, &mut bytes, &pool[other], words);
        let timed = || {
            let begun = Instant::now();
            (panic::catch_unwind(|| read(format, &bytes)), begun.elapsed())
        };
        // A slow input is run again, up to three times, because a busy machine may have slowed it
        // down.
        let (outcome, elapsed) = (0..3).map(|_| timed()).find(|(_, elapsed)| *elapsed <= SLOW).unwrap_or_else(timed);
        slowest = slowest.max(elapsed);
        runs += 1;
        let new = match &outcome {
            Ok(Ok(history)) => {
                histories += 1;
                kinds.insert(format!("{} {} {}", history.len().min(12), history.pending().min(4), bytes.len() / 512))
            }
            Ok(Err(error)) => kinds.insert(kind_of(error.message())),
            Err(_) => false,
        };
        if outcome.is_err() || elapsed > SLOW {
            findings += 1;
            let file = env::temp_dir().join(format!("fuzz-{name}-{}-{findings}", process::id()));
            match fs::write(&file, &bytes) {
                Ok(()) => eprintln!("finding after {elapsed:?}: {}", file.display()),
                Err(error) => eprintln!("finding after {elapsed:?}, but its input cannot be saved: {error}"),
            }
        }
        if new && bytes.len() <= 2 * PIECE {
            if pool.len() < seeds + POOL {
                pool.push(bytes);
            } else {
                let place = seeds + dice.below(pool.len() - seeds);
                pool[place] = bytes;
            }
        }
    }
    println!(
        "{name}: {runs} inputs from {seeds} seeds in {:?}, {histories} of them valid histories, {} kinds of answers, slowest {slowest:?}, {findings} findings",
        started.elapsed(),
        kinds.len()
    );
    ExitCode::from(u8::from(findings > 0))
}

/// Returns the first eight lowercase words of a message, without the parts that are quoted from the file.
fn kind_of(message: &str) -> String {
    let ours: String = message.split(['`', '"']).step_by(2).collect();
    let is_word = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b',' | b';'));
    ours.split_ascii_whitespace().filter(is_word).take(8).collect()
}

//! Records the current runs in a file, because a run that ends the process leaves no other trace.
//!
//! The file is written before each batch of runs, and removed when the test has ended. If the test
//! fails, the file is removed only after the report has been printed, because until then, code that
//! the test has abandoned may still end the process. If the process dies, the next execution of the
//! test finds the file, and first repeats the listed runs, one at a time. If the process dies
//! again, the file lists exactly the run that ended the process.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::hash::{Hash as _, Hasher as _};
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};

use super::token::Token;

/// The line that marks the end of the valid part of the file. After this line, the file may still
/// contain the rest of an older, longer text.
const END: &str = "end";

/// Returns the folder for saved files about tests. It is in the build folder, or, if the build
/// folder is not known, in the folder of temporary files.
pub(super) fn folder() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let beside = program.ancestors().find(|folder| folder.ends_with("target"));
    Some(beside.map_or_else(std::env::temp_dir, Path::to_path_buf).join("trueline"))
}

/// Returns the file of a tester.
pub(super) fn path(test: &str, tester: u32) -> Option<PathBuf> {
    Some(folder()?.join(format!("{}.{tester}.running", plain(test))))
}

/// The maximum length, in bytes and without a hash, of each of the two parts of a file name. All
/// file systems allow names that consist of two such parts, their hashes and an ending.
const LONGEST_PART: usize = 80;

/// Returns the name of a test as a part of a file name.
pub(super) fn plain(test: &str) -> String {
    shortened(test.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect())
}

/// Returns the text as a part of a file name. If the text is too long, a hash of the whole text
/// replaces its end.
pub(super) fn shortened(mut text: String) -> String {
    if text.len() > LONGEST_PART {
        let mut hasher = std::hash::DefaultHasher::new();
        text.hash(&mut hasher);
        while text.len() > LONGEST_PART {
            text.pop();
        }
        let _ = write!(text, "-{:x}", hasher.finish());
    }
    text
}

/// A guard that removes the files of a test when the guard is dropped.
pub(super) struct RunningFiles(Vec<PathBuf>);

impl RunningFiles {
    /// Returns a guard for the files of all testers of a test.
    pub(super) fn of(test: Option<&str>, testers: u32) -> Self {
        Self(test.into_iter().flat_map(|test| (0..testers).filter_map(|tester| path(test, tester))).collect())
    }
}

impl Drop for RunningFiles {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The file of a tester, which [`RunningFiles`] removes.
pub(super) struct Running {
    file: File,
    last: Vec<Token>,
    text: String,
}

impl Running {
    /// Opens the file, or creates it if it does not exist. Returns `None` if this fails. The file
    /// keeps the runs that it already lists until other runs are written.
    pub(super) fn create(test: &str, tester: u32) -> Option<Self> {
        let path = path(test, tester)?;
        std::fs::create_dir_all(path.parent()?).ok()?;
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).ok()?;
        Some(Self { file, last: Vec::new(), text: String::new() })
    }

    /// Writes the runs that are about to be executed.
    pub(super) fn write(&mut self, tokens: &[Token]) {
        if self.last == tokens {
            return;
        }
        tokens.clone_into(&mut self.last);
        self.text.clear();
        let _ = writeln!(self.text, "process {}", std::process::id());
        let mut before = None;
        for token in tokens.iter().filter(|token| before.replace(*token) != Some(*token)) {
            let _ = writeln!(self.text, "{token}");
        }
        let _ = writeln!(self.text, "{END}");
        // If writing fails, the test continues without the file.
        let _ = self.file.rewind().and_then(|()| self.file.write_all(self.text.as_bytes()));
    }
}

/// Returns the runs that a process was executing when it ended in the middle of this test.
pub(super) fn left_behind(test: &str, testers: u32) -> Vec<Token> {
    let texts = (0..testers).filter_map(|tester| std::fs::read_to_string(path(test, tester)?).ok());
    texts.flat_map(|text| tokens_of(&text, |process| Path::new("/proc").join(process).exists())).collect()
}

fn tokens_of(text: &str, is_alive: impl Fn(&str) -> bool) -> Vec<Token> {
    let mut lines = text.lines();
    let process = lines.next().and_then(|line| line.strip_prefix("process "));
    if process.is_none_or(is_alive) {
        return Vec::new();
    }
    lines.take_while(|line| *line != END).filter_map(|line| line.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_written_read_and_removed() {
        let test = format!("running::runs_are_written::{}", std::process::id());
        let read = || std::fs::read_to_string(path(&test, 1).expect("the folder is known"));
        let tokens: Vec<Token> = ["s1.t2.o1-2.c0.p1", "s1.t2.o1-2.c0.p1", "gpush%201.c16"]
            .iter()
            .filter_map(|token| token.parse().ok())
            .collect();
        let mut running = Running::create(&test, 1).expect("the folder of the build can be written");
        running.write(&tokens);
        running.write(&tokens[..1]);
        let text = read().expect("the file exists");
        assert_eq!(tokens_of(&text, |_| false), tokens[..1]);
        assert!(tokens_of(&text, |process| process == std::process::id().to_string()).is_empty());
        // Opening the file again keeps the runs.
        drop(running);
        drop(Running::create(&test, 1));
        assert_eq!(tokens_of(&read().expect("the file still exists"), |_| false), tokens[..1]);
        drop(RunningFiles::of(Some(&test), 2));
        assert!(read().is_err());
    }

    #[test]
    fn long_names_differ_and_fit() {
        let names = ["a", "ä"].map(|letter| letter.repeat(300)).map(|name| [format!("{name}1"), format!("{name}2")]);
        for [one, other] in names {
            assert_ne!(plain(&one), plain(&other));
            drop(Running::create(&one, 0).expect("the folder of the build can be written"));
            drop(RunningFiles::of(Some(&one), 1));
        }
    }
}

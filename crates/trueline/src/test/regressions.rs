//! Runs that failed once, kept in a file so that they are tried first.

use std::io::Write as _;
use std::path::PathBuf;

use super::token::Token;

/// The file, in the folder of the package under test.
const FILE: &str = "trueline-regressions.txt";

const HEAD: &str = "\
# Runs in which tests failed: they are tried first. Keep this file with the tests.
# test run
";

fn path() -> Option<PathBuf> {
    std::env::var_os("CARGO_MANIFEST_DIR").map(|folder| PathBuf::from(folder).join(FILE))
}

/// The runs in which the test failed.
pub(super) fn recall(test: Option<&str>) -> Vec<Token> {
    let text = path().and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    test.map_or_else(Vec::new, |test| tokens_of(test, &text))
}

fn tokens_of(test: &str, text: &str) -> Vec<Token> {
    let of_test = |line: &str| {
        let (name, token) = line.split_once(' ')?;
        (name == test).then(|| token.trim().parse().ok()).flatten()
    };
    text.lines().filter_map(of_test).collect()
}

/// Keeps a run in which the test failed. If that cannot be done, it is not: the report has it too.
pub(super) fn remember(test: Option<&str>, token: &Token) {
    let (Some(test), Some(path)) = (test, path()) else { return };
    if test.contains(char::is_whitespace) || recall(Some(test)).contains(token) {
        return;
    }
    let is_new = !path.exists();
    let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path) else { return };
    let head = if is_new { HEAD } else { "" };
    let _ = file.write_all(format!("{head}{test} {token}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_test_are_read() {
        let text = format!("{HEAD}a::b s1.t2.o1-2.c0.p1\na::c s2.t2.o1-2.c0.p1\na::b nonsense\na::b x3.c16\n");
        let tokens: Vec<String> = tokens_of("a::b", &text).iter().map(ToString::to_string).collect();
        assert_eq!(tokens, ["s1.t2.o1-2.c0.p1", "x3.c16"]);
        assert!(tokens_of("a", &text).is_empty());
    }
}

//! Failing runs, kept in a file so that the next execution of the test tries them first.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::token::Token;

/// The name of the file, in the folder of the package under test.
const FILE: &str = "trueline-regressions.txt";

const HEAD: &str = "\
# Runs in which tests failed: they are tried first. Keep this file with the tests.
# test run
";

fn path() -> Option<PathBuf> {
    std::env::var_os("CARGO_MANIFEST_DIR").map(|folder| PathBuf::from(folder).join(FILE))
}

/// Returns the recorded runs in which the test failed.
pub(super) fn recall(test: Option<&str>) -> Vec<Token> {
    let text = path().and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
    test.map_or_else(Vec::new, |test| tokens_of(test, &text))
}

/// Parses the tokens of a test. Lines that are not valid UTF-8 are skipped.
fn tokens_of(test: &str, text: &[u8]) -> Vec<Token> {
    let of_test = |line: &[u8]| {
        let line = std::str::from_utf8(line).ok()?;
        let (name, token) = line.split_once(' ')?;
        (name == test).then(|| token.trim().parse().ok()).flatten()
    };
    text.split(|byte| *byte == b'\n').filter_map(of_test).collect()
}

/// Adds a failing run of a test to the file, unless the file already contains the run. If another
/// process leaves an incomplete line at the same moment, the line that the first attempt adds is
/// lost, because it continues the incomplete line. In this case, makes a second attempt.
pub(super) fn remember(test: Option<&str>, token: &Token) {
    let (Some(test), Some(path)) = (test, path()) else { return };
    // The second attempt returns early unless the line of the first attempt was lost.
    for _ in 0..2 {
        if test.contains(char::is_whitespace) || recall(Some(test)).contains(token) {
            return;
        }
        let _ = add(&path, &format!("{test} {token}\n"));
    }
}

/// Appends a line to the file with a single write, so that lines of two processes do not mix. If the last line is not
/// terminated, because of an editor or a full disk, it is terminated first.
fn add(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).read(true).open(path)?;
    let length = file.seek(SeekFrom::End(0))?;
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::Start(length - 1))?;
        file.read_exact(&mut last)?;
    }
    let before = match (length, last) {
        (0, _) => HEAD,
        (_, [b'\n']) => "",
        _ => "\n",
    };
    file.write_all(format!("{before}{line}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_test_are_read() {
        let text = format!("{HEAD}a::b s1.t2.o1-2.c0.p1\na::c s2.t2.o1-2.c0.p1\na::b nonsense\na::b x3.c16\n");
        let tokens: Vec<String> = tokens_of("a::b", text.as_bytes()).iter().map(ToString::to_string).collect();
        assert_eq!(tokens, ["s1.t2.o1-2.c0.p1", "x3.c16"]);
        assert!(tokens_of("a", text.as_bytes()).is_empty());
    }

    #[test]
    fn a_file_that_others_have_spoilt_is_read_and_goes_on() {
        let path = std::env::temp_dir().join(format!("trueline-regressions-{}.txt", std::process::id()));
        std::fs::write(&path, b"a::b s1.t2.o1-2.c0.p1\r\n\xff\xfe a::b\n\0\na::b x3.c16").expect("the file is created");
        add(&path, "a::b x4.c16\n").expect("the file can be written");
        add(&path, "a::b x5.c16\n").expect("the file can be written");
        let text = std::fs::read(&path).expect("the file exists");
        std::fs::remove_file(&path).expect("the test may remove its own file");
        let tokens: Vec<String> = tokens_of("a::b", &text).iter().map(ToString::to_string).collect();
        assert_eq!(tokens, ["s1.t2.o1-2.c0.p1", "x3.c16", "x4.c16", "x5.c16"]);
    }

    #[test]
    fn lines_that_are_added_at_once_do_not_mix() {
        let path = std::env::temp_dir().join(format!("trueline-regressions-at-once-{}.txt", std::process::id()));
        let _ = std::fs::remove_file(&path);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..50 {
                        add(path, &format!("t{thread} x{number}.c16\n")).expect("the file can be written");
                    }
                });
            }
        });
        let text = std::fs::read(&path).expect("the file exists");
        std::fs::remove_file(&path).expect("the test may remove its own file");
        for thread in 0..4 {
            let tokens: Vec<String> = tokens_of(&format!("t{thread}"), &text).iter().map(ToString::to_string).collect();
            let expected: Vec<String> = (0..50).map(|number| format!("x{number}.c16")).collect();
            assert_eq!(tokens, expected);
        }
    }

    /// The environment variable with the path of the file to which `appends_if_it_is_told_to`
    /// appends.
    const APPENDED: &str = "TRUELINE_TEST_APPENDED";

    #[test]
    #[expect(clippy::print_stdout, reason = "the process that started this one reads the output")]
    fn appends_if_it_is_told_to() {
        let Some(path) = std::env::var_os(APPENDED) else { return };
        for number in 0.. {
            let line = format!("t{} x{number}.c16\n", std::process::id());
            // On a full disk, the line is not acknowledged.
            if add(Path::new(&path), &line).is_ok() {
                println!("acknowledged {line}");
            }
        }
    }

    /// Kills pairs of processes while both append to the file. For half of the pairs, a limit on the file size leaves
    /// hardly any room.
    #[test]
    #[ignore = "a soak: it takes a minute"]
    #[expect(clippy::print_stderr, reason = "the soak prints its figures")]
    fn nothing_is_lost_in_crashes() {
        use std::process::{Command, Stdio};
        let path = std::env::temp_dir().join(format!("trueline-regressions-crashes-{}.txt", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let mut acknowledged = 0;
        for round in 0..300_u64 {
            let room = std::fs::metadata(&path).map_or(0, |data| data.len()) / 1024 + 1 + round % 5;
            let limit = if round % 2 == 0 { format!("ulimit -f {room}; trap '' XFSZ; ") } else { String::new() };
            let start = || {
                Command::new("bash")
                    .args(["-c", &format!("{limit}exec \"$0\" appends_if_it_is_told_to --nocapture")])
                    .arg(std::env::current_exe().expect("the path of this program is known"))
                    .env(APPENDED, &path)
                    .stdout(Stdio::piped())
                    .spawn()
                    .expect("bash is installed")
            };
            let mut both = [start(), start()];
            std::thread::sleep(std::time::Duration::from_millis(10 + round % 20));
            let mut lines = Vec::new();
            for child in &mut both {
                child.kill().expect("the child can be killed");
                let mut said = String::new();
                child.stdout.take().expect("stdout is piped").read_to_string(&mut said).expect("the output is text");
                child.wait().expect("the child was started");
                let whole = said.split_inclusive('\n').filter(|line| line.ends_with('\n'));
                lines.extend(
                    whole
                        .filter_map(|line| line.trim_end().split_once("acknowledged "))
                        .map(|(_, line)| line.to_owned()),
                );
            }
            let text = std::fs::read(&path).unwrap_or_default();
            let kept: std::collections::HashSet<&[u8]> = text.split(|byte| *byte == b'\n').collect();
            let lost = lines.iter().filter(|line| !kept.contains(line.as_bytes())).count();
            assert_eq!(lost, 0, "round {round}");
            acknowledged += lines.len();
        }
        let length = std::fs::metadata(&path).expect("the file exists").len();
        std::fs::remove_file(&path).expect("the test may remove its own file");
        eprintln!(
            "regressions: 300 crashes of two processes, {acknowledged} acknowledged lines in {length} bytes, none lost"
        );
        assert!(acknowledged > 300);
    }
}

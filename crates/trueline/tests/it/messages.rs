//! Tests the compiler's messages for invalid tests: a newcomer should know what to do.
//!
//! Compilers phrase their messages differently, so this test runs only with the release that the files in `tests/ui`
//! are from. After a change, run `TRYBUILD=overwrite cargo test -p trueline --test it messages`, and read the
//! differences.

/// The release of Rust whose messages are in `tests/ui`.
const RELEASE: &str = "1.95";

#[test]
fn messages_say_what_to_do() {
    let version = std::process::Command::new("rustc").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    if !version.starts_with(&format!("rustc {RELEASE}.")) {
        eprintln!("skipped: the messages are those of Rust {RELEASE}, and this is {version:?}");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

//! Reports of tests that the pages show.
//!
//! The schedules of real threads vary, so the calls of a run, its explanation and its smallest program differ from run to
//! run. The lines that each report has are compared with the page.

use std::collections::VecDeque;

use trueline::primitives::Mutex;
use trueline::test::Outcome;

/// The lines that each report contains, for any behavior of the threads: the beginning of a line,
/// and the text after the part that varies. The line about the refused call is not one of them: a
/// busy machine may not have time to explain the failure.
const IN_EACH_REPORT: [(&str, &str); 3] = [
    ("queue is not linearizable (found after ", ")"),
    ("  the history:  ", ".jsonl"),
    ("  run it again: TRUELINE_REPLAY=", " cargo test queue"),
];

/// Runs the test of the page, and compares its report with the one on the page.
pub(super) fn comes_true(name: &str, expected: &str) -> Result<(), String> {
    if name != "racy_queue" {
        return Err(format!("there is no test `{name}` in reports.rs"));
    }
    if !expected.lines().any(|line| line.contains('┌')) {
        return Err("there is no picture of what the threads did".to_owned());
    }
    let report = racy_queue().failure.map_or_else(|| "it did not fail".to_owned(), |failure| failure.to_string());
    for (name, text) in [("the page", expected), ("the report", &report)] {
        let mut lines = text.lines();
        for (begin, end) in IN_EACH_REPORT {
            if !lines.any(|line| line.starts_with(begin) && line.ends_with(end)) {
                return Err(format!("{name} has no line `{begin}...{end}` where it should be:\n{text}"));
            }
        }
    }
    Ok(())
}

/// The first test of the guide that fails.
fn racy_queue() -> Outcome {
    fn pop(queue: &Mutex<VecDeque<i32>>) -> Option<i32> {
        let first = queue.lock().front().copied(); // two threads may see the same one
        queue.lock().pop_front().and(first)
    }

    trueline::test(|| Mutex::new(VecDeque::new()))
        .model(VecDeque::new())
        .operation("push", 0..100, |queue, x| queue.lock().push_back(x), |model, x| model.push_back(x))
        .operation("pop", (), |queue, ()| pop(queue), |model, ()| model.pop_front())
        .runs(1_000_000)
        .name("queue")
        .forgetful()
        .outcome()
}

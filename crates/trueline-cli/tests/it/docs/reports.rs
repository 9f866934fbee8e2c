//! Reports of tests that the pages show.
//!
//! The schedules of real threads vary, so the calls of a run and its smallest program differ from run to run. The rest
//! of the report is compared with the page.

use std::collections::VecDeque;

use trueline::primitives::Mutex;
use trueline::test::Outcome;

use super::commands::{Step, is_same};

/// The parts of a line that depend on the run, given as the text before and after each.
const DEPENDS_ON_THE_RUN: [(&str, &str); 4] = [
    ("  pop() of process ", ""),
    ("  the history:  ", ".jsonl"),
    ("TRUELINE_REPLAY=", " cargo test queue"),
    (".replay(\"", "\") before .run()"),
];

/// Runs the test of the page, and compares its report with the one on the page.
pub(super) fn comes_true(name: &str, expected: &str) -> Result<(), String> {
    if name != "racy_queue" {
        return Err(format!("there is no test `{name}` in reports.rs"));
    }
    if !expected.lines().any(|line| line.contains('┌')) {
        return Err("there is no picture of what the threads did".to_owned());
    }
    // As for the output of the command `test`, numbers are random.
    let expected = expected.lines().map(of_any_run).collect();
    let step = Step { command: "trueline test".to_owned(), prompt: String::new(), expected };
    let report = racy_queue().failure.map_or_else(|| "it did not fail".to_owned(), |failure| failure.to_string());
    if is_same(&step, &report) { Ok(()) } else { Err(format!("the report is not like the one on the page:\n{report}")) }
}

/// Returns a line of a report, with `...` for what depends on the run.
fn of_any_run(line: &str) -> String {
    let is_picture =
        line.contains(['┌', '│', '└']) || ["  process ", "    "].iter().any(|begin| line.starts_with(begin));
    let masked = DEPENDS_ON_THE_RUN.iter().find_map(|(before, after)| {
        let head = line.split_once(before)?.0;
        let tail = line.strip_suffix(after).map(|_| after)?;
        // The explanation has such lines, too, with other indentation.
        (head.is_empty() || !before.starts_with(' ')).then_some(())?;
        Some(format!("{head}{before}...{tail}"))
    });
    // `or put .replay(..)` begins with as many spaces as a picture.
    match masked {
        Some(masked) => masked,
        None if is_picture => "...".to_owned(),
        None => line.to_owned(),
    }
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

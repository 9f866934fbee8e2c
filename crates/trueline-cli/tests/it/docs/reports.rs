//! Reports of tests that the pages show.
//!
//! What real threads do is chance. So the report on the page is compared with that of an object which fails in the same way
//! whatever the schedule, and only a soak runs the test of the page until its report looks like the one there.

use std::collections::VecDeque;
use std::time::Duration;

use trueline::primitives::Mutex;
use trueline::primitives::{AtomicBool, Ordering::SeqCst, spin_hint};
use trueline::test::{Outcome, call};

use super::commands::{Step, is_same};

/// How many reports the soak makes until one is like that on the page: one of a few is.
const TRIES: u32 = 200;

/// Compares the report on the page of the test of this name with one that is certain.
pub(super) fn comes_true(name: &str, expected: &str) -> Result<(), String> {
    is_report_of(name, certain_queue, 1, expected)
}

/// Runs the test of the page until its report is the one on the page.
pub(super) fn comes_true_by_chance(name: &str, expected: &str) -> Result<(), String> {
    is_report_of(name, racy_queue, TRIES, expected)
}

fn is_report_of(name: &str, test: fn() -> Outcome, tries: u32, expected: &str) -> Result<(), String> {
    if name != "racy_queue" {
        return Err(format!("there is no test `{name}` in reports.rs"));
    }
    // What the threads did is drawn, told and made smaller, and is something else each time.
    let is_picture = |line: &&str| {
        line.contains(['┌', '│', '└']) || ["  process ", "    "].iter().any(|begin| line.starts_with(begin))
    };
    if !expected.lines().any(|line| line.contains('┌')) {
        return Err("there is no picture of what the threads did".to_owned());
    }
    let expected = expected.lines().map(|line| if is_picture(&line) { "..." } else { line }.to_owned()).collect();
    // As what the command `test` says: numbers are chance.
    let step = Step { command: "trueline test".to_owned(), prompt: String::new(), expected };
    let mut last = String::new();
    for _ in 0..tries {
        last = test().failure.map_or_else(String::new, |failure| failure.to_string());
        if is_same(&step, &last) {
            return Ok(());
        }
    }
    Err(format!("no report was like the one on the page; the last was\n{last}"))
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

/// A queue with the same fault, in the order that shows it: what is pushed waits until the first `pop` has seen nothing, and that
/// waits until there is something to take away.
#[derive(Default)]
struct CertainQueue {
    values: Mutex<VecDeque<i32>>,
    was_looked_at: AtomicBool,
}

impl CertainQueue {
    fn push(&self, x: i32) {
        while !self.was_looked_at.load(SeqCst) {
            spin_hint();
        }
        self.values.lock().push_back(x);
    }

    fn pop(&self) -> Option<i32> {
        let first = self.values.lock().front().copied();
        if !self.was_looked_at.swap(true, SeqCst) {
            while self.values.lock().is_empty() {
                spin_hint();
            }
        }
        self.values.lock().pop_front().and(first)
    }
}

fn certain_queue() -> Outcome {
    trueline::test(CertainQueue::default)
        .model(VecDeque::new())
        .operation("push", 0..100, |queue, x| queue.push(x), |model, x| model.push_back(x))
        .operation("pop", (), |queue, ()| queue.pop(), |model, ()| model.pop_front())
        .program([vec![call("push", 2)], vec![call("pop", ()), call("pop", ()), call("pop", ())]])
        .watchdog(Duration::from_millis(200))
        .runs(1)
        .name("queue")
        .forgetful()
        .outcome()
}

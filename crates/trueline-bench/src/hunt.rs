//! Measures which faulty objects of the catalog are rejected by an exploration with default settings, and how soon.

use std::time::Duration;

use trueline::test::Exploration;
use trueline_objects::catalog::{ENTRIES, Settings};

/// Explores each faulty object whose name contains all of `words`. If the first word is `correct`,
/// explores instead the correct objects whose names contain all other words.
pub(crate) fn table(seconds: u64, words: &[&str]) {
    let (correct, words) = match words {
        ["correct", words @ ..] => (true, words),
        words => (false, words),
    };
    println!("| object | fault | executions | found after |\n|---|---|---:|---:|");
    let (mut all, mut found) = (0, 0);
    for entry in ENTRIES.iter().filter(|entry| entry.is_correct() == correct) {
        if !words.iter().all(|word| entry.name.contains(word)) {
            continue;
        }
        let plan = entry.plan(&Settings::default()).seed(0).chaos(0).time(Duration::from_secs(seconds));
        let outcome = plan.forgetful().shrink_for(Duration::ZERO).explore(Exploration::new()).run();
        let after = match &outcome.failure {
            Some(failure) => format!("{:.2} s, {}", failure.after.as_secs_f64(), failure.kind),
            None => "not found".to_owned(),
        };
        println!("| `{}` | {} | {} | {after} |", entry.name, entry.fault.unwrap_or(""), outcome.runs);
        all += 1;
        found += u32::from(outcome.failure.is_some());
    }
    println!("\n{found} of {all} objects were rejected; each was tested for up to {seconds} s.");
}

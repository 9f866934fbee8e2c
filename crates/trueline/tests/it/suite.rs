//! Judges the histories of `testdata/` with every checker.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::PathBuf;

use trueline::history::codec::jsonl;
use trueline::judge::{ALGORITHMS, Config};
use trueline::registry::{self, Options};
use trueline::verdict::{LimitKind, Verdict};

fn testdata() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

#[test]
fn every_checker_gives_the_verdict() {
    let table = fs::read_to_string(testdata().join("VERDICTS.tsv")).expect("the verdicts can be read");
    let mut judged = 0;
    let mut refusals = Vec::new();
    for row in table.lines().skip(1) {
        let [file, spec, expected, _] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row:?} has no 4 cells")
        };
        for (algorithm, _) in ALGORITHMS {
            for partition in [true, false] {
                let input = File::open(testdata().join(file)).expect("a listed file exists");
                let history = jsonl::read(BufReader::new(input)).unwrap_or_else(|error| panic!("{file}: {error}"));
                let config = Config::new().algorithm(algorithm.clone()).partition(partition);
                let spec = registry::spec(spec, Options::new()).unwrap_or_else(|error| panic!("{file}: {error}"));
                let judged = spec.judge(history, &config).unwrap_or_else(|error| panic!("{file}: {error}"));
                let verdict = &judged.judgment().verdict;
                match verdict {
                    Verdict::Unknown(limit) if matches!(limit.kind, LimitKind::Refused(_)) => {
                        refusals.push(format!("{file} by {algorithm}, by key: {partition}: {limit}"));
                    }
                    _ => assert_eq!(verdict.name(), expected, "{file} by {algorithm}, by key: {partition}"),
                }
            }
        }
        judged += 1;
    }
    println!("skipped {}:\n{}", refusals.len(), refusals.join("\n"));
    let others = refusals.iter().find(|refusal| !refusal.contains("by monitor") && !refusal.contains("by queue-lowe"));
    assert_eq!(others, None, "only these two refuse anything");
    assert!(refusals.len() < 2 * 2 * judged * 3 / 4, "too many refusals: {}", refusals.len());
    let files = fs::read_dir(testdata()).expect("the folder exists").filter(|entry| {
        entry.as_ref().is_ok_and(|entry| entry.path().extension().is_some_and(|extension| extension == "jsonl"))
    });
    assert_eq!(judged, files.count(), "every history has a verdict");
}

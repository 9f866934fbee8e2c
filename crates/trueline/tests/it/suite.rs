//! The histories of `testdata/`, by every checker.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::PathBuf;

use trueline::history::codec::jsonl;
use trueline::judge::{ALGORITHMS, Config};
use trueline::named::{self, Options};

fn testdata() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

#[test]
fn every_checker_gives_the_verdict() {
    let table = fs::read_to_string(testdata().join("VERDICTS.tsv")).expect("the verdicts can be read");
    let mut judged = 0;
    for row in table.lines().skip(1) {
        let [file, spec, expected, _] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row:?} has no 4 cells")
        };
        for (algorithm, _) in ALGORITHMS {
            for partition in [true, false] {
                let input = File::open(testdata().join(file)).expect("what is listed is there");
                let history = jsonl::read(BufReader::new(input)).unwrap_or_else(|error| panic!("{file}: {error}"));
                let config = Config::new().algorithm(algorithm.clone()).partition(partition);
                let spec = named::spec(spec, Options::new()).unwrap_or_else(|error| panic!("{file}: {error}"));
                let judged = spec.judge(history, &config).unwrap_or_else(|error| panic!("{file}: {error}"));
                assert_eq!(judged.judgement().verdict.name(), expected, "{file} by {algorithm}, by key: {partition}");
            }
        }
        judged += 1;
    }
    let files = fs::read_dir(testdata()).expect("it is there").filter(|entry| {
        entry.as_ref().is_ok_and(|entry| entry.path().extension().is_some_and(|extension| extension == "jsonl"))
    });
    assert_eq!(judged, files.count(), "every history has a verdict");
}

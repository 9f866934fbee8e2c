//! Tests readers with files that were mutated at random: each returns a history or an error, in a short time.

use std::time::Duration;

use trueline::history::codec::Format;

use crate::mutate::{Dice, SUBJECTS, mutate, read};
use crate::ran::ran;

#[test]
fn no_input_panics_or_takes_long() {
    for subject in SUBJECTS {
        let samples = subject.samples;
        for sample in samples {
            for format in [subject.format, Format::Auto] {
                let good = read(format, sample.as_bytes());
                assert!(good.is_ok(), "{} as {format:?}: {good:?} of {sample}", subject.name);
            }
        }
        let (mut good, mut bad) = (0, 0);
        let mut slowest = Duration::ZERO;
        for seed in 0..20_000 {
            let mut dice = Dice::new(seed);
            let mut bytes = samples[dice.below(samples.len())].as_bytes().to_vec();
            let other = samples[dice.below(samples.len())].as_bytes();
            mutate(&mut dice, &mut bytes, other, subject.words);
            let format = if seed % 4 == 0 { Format::Auto } else { subject.format };
            let before = ran();
            match read(format, &bytes) {
                Ok(_) => good += 1,
                Err(_) => bad += 1,
            }
            slowest = slowest.max(ran() - before);
        }
        println!("{}: {good} were histories, {bad} were not; at most {slowest:?}", subject.name);
        assert!(good > 100 && bad > 100, "{}: {good} good, {bad} bad", subject.name);
        // The files are small, so each of them must be read in a short time.
        assert!(slowest < Duration::from_secs(5), "{}: {slowest:?}", subject.name);
    }
}

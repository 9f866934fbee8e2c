//! Tests that no input makes a reader panic, and that a history that was read can be written and
//! read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trueline::history::codec::{self, Format, Target};

const FORMATS: [Format; 7] = [
    Format::Auto,
    Format::Jsonl,
    Format::Jepsen,
    Format::JepsenLog,
    Format::PorcupineKv,
    Format::PorcupineJson,
    Format::Events,
];

fuzz_target!(|data: &[u8]| {
    let Some((first, text)) = data.split_first() else { return };
    let format = FORMATS[usize::from(*first) % FORMATS.len()];
    let _ = codec::survey(text, format, None);
    let Ok(history) = codec::read(text, format) else { return };
    for (target, format) in [
        (Target::Jsonl, Format::Jsonl),
        (Target::Operations, Format::Jsonl),
        (Target::Jepsen, Format::Jepsen),
        (Target::PorcupineJson, Format::PorcupineJson),
    ] {
        let mut written = Vec::new();
        // Some formats cannot represent every history.
        if codec::write(&history, target, &mut written).is_ok() {
            let again = codec::read(written.as_slice(), format).expect("what was written can be read");
            assert_eq!(again.len(), history.len());
        }
    }
});

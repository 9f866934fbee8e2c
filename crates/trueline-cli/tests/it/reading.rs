//! Where histories come from: pipes, compressed files, foreign formats.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::{ACCEPTED, REJECTED, Scratch, run, run_with_input};

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).expect("to memory");
    encoder.finish().expect("to memory")
}

fn zstd(text: &[u8]) -> Vec<u8> {
    compress_to_vec(text, CompressionLevel::Fastest)
}

#[test]
fn compressed_files() {
    let scratch = Scratch::new("compressed");
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd(REJECTED.as_bytes())].concat();
    let (first, second) = REJECTED.split_at(80);
    let pieces = [zstd(first.as_bytes()), zstd(second.as_bytes())].concat();
    let members = [gzip(first.as_bytes()), gzip(second.as_bytes())].concat();
    for (name, content) in [
        ("a.jsonl.gz", gzip(REJECTED.as_bytes())),
        ("b.jsonl.zst", zstd(REJECTED.as_bytes())),
        ("c.jsonl.zst", skippable),
        ("d.jsonl.zst", pieces),
        ("e.jsonl.gz", members),
    ] {
        let file = scratch.file(name, &content);
        assert_eq!(run(&["check", "--spec", "queue", &file]).code, 1, "{name}");
        assert_eq!(run_with_input(&["check", "--spec", "queue", "-"], &content).code, 1, "{name} from standard input");
        let converted = run(&["convert", &file, "--to", "jsonl"]);
        assert_eq!(converted.stdout.lines().count(), 6, "{name}: {converted:?}");
        assert_eq!(run(&["lint", "--spec", "queue", &file]).code, 0, "{name}");
    }
    let below = run(&["check", "--spec", "queue", scratch.path()]);
    assert_eq!(below.stdout.matches(": rejected").count(), 5, "{below:?}");
}

#[test]
fn what_is_cut_off_or_broken_is_told() {
    for content in [gzip(ACCEPTED.as_bytes()), zstd(ACCEPTED.as_bytes())] {
        let short = run_with_input(&["check", "--spec", "queue", "-"], &content[..content.len() - 9]);
        assert_eq!(short.code, 2, "{short:?}");
        assert!(short.stderr.contains("broken or cut off"), "{short:?}");
    }
    // A bomb is a long line, or many; both have their limits.
    let bomb = gzip(&vec![b'x'; 64 << 20]);
    assert!(bomb.len() < 1 << 20);
    let judged = run_with_input(&["check", "--spec", "queue", "-"], &bomb);
    assert_eq!(judged.code, 2);
    assert!(judged.stderr.contains("not JSON") || judged.stderr.contains("longer than 16 MiB"), "{judged:?}");
}

const MAPPING: &str = r#"
process = "who"
type = "ev"
f = "what.name"
value = "what.args.0"
result = "answer"

[types]
begin = "invoke"
end = "ok"
beat = "skip"

[functions]
offer = "enqueue"
take = "dequeue"
"#;

const FOREIGN: &str = r#"{"who":"ann","ev":"begin","what":{"name":"offer","args":[1]}}
{"who":"bob","ev":"beat"}
{"who":"ann","ev":"end","answer":true}
{"who":"ann","ev":"begin","what":{"name":"take","args":[]}}
{"who":"ann","ev":"end","answer":2}
"#;

#[test]
fn foreign_formats() {
    let scratch = Scratch::new("foreign");
    let map = scratch.file("mapping.toml", MAPPING);
    let judged = run_with_input(&["check", "--spec", "queue", "--map", &map, "-"], FOREIGN.as_bytes());
    assert_eq!(judged.code, 1, "{judged:?}");
    assert!(judged.stdout.contains("dequeue() of process 0 (lines 4-5) returned 2"), "{judged:?}");
    let converted = run_with_input(&["convert", "--map", &map, "-", "--to", "jsonl"], FOREIGN.as_bytes());
    assert_eq!(converted.stdout.lines().count(), 4, "{converted:?}");
    assert_eq!(run_with_input(&["lint", "--map", &map, "-"], FOREIGN.as_bytes()).code, 0);
    let json = scratch.file(
        "mapping.json",
        r#"{"process":"p","f":"op","value":"arg","result":"out","call":"t0","return":"t1","scale":1000}"#,
    );
    let whole = r#"{"p":"x","op":"write","arg":1,"t0":0.5,"t1":0.7}
{"p":"y","op":"read","out":2,"t0":0.8,"t1":0.9}
"#;
    assert_eq!(run_with_input(&["check", "--spec", "register", "--map", &json, "-"], whole.as_bytes()).code, 1);
    for (name, content, expected) in [
        ("bad.toml", "process = ", "bad.toml:1: this is no TOML"),
        ("bad.json", "{\"process\":", "this is no JSON"),
        ("other.toml", "process = \"a\"\nf = \"b\"\n", "neither `type` nor `call`"),
        ("typo.toml", "proces = \"a\"\n", "`proces` is none of the fields"),
    ] {
        let map = scratch.file(name, content);
        let judged = run_with_input(&["check", "--spec", "register", "--map", &map, "-"], whole.as_bytes());
        assert_eq!(judged.code, 2, "{judged:?}");
        assert!(judged.stderr.contains(expected), "{judged:?}");
    }
    let missing = run_with_input(&["check", "--spec", "register", "--map", "/no/such/file", "-"], whole.as_bytes());
    assert!(missing.code == 2 && missing.stderr.contains("/no/such/file: cannot read"), "{missing:?}");
}

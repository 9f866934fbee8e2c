//! Tests `view` and `check --view`: histories as pictures.
//!
//! The pictures are compared with the files in `tests/pictures`; `TRUELINE_UPDATE=1` writes these files, which must be
//! reviewed before they are committed.

use std::fs;
use std::path::Path;

use super::{ACCEPTED, REJECTED, Run, Scratch, json, run, run_with_input, same, trueline};

/// Runs a command in the folder of our histories, so that pictures do not contain a path of the machine.
fn run_in_testdata(args: &[&str]) -> Run {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    trueline(args).current_dir(folder).output().expect("the binary is built").into()
}

/// Histories to draw: figures of the papers, and some accepted ones.
const DRAWN: [(&str, &[&str]); 6] = [
    ("map-figure-7", &["--spec", "map", "map-figure-7.jsonl"]),
    ("queue-out-of-order", &["--spec", "queue", "queue-out-of-order.jsonl"]),
    ("stack-good", &["--spec", "stack", "stack-good.jsonl"]),
    ("two-objects-one-bad", &["--spec", "register:0", "two-objects-one-bad.jsonl"]),
    ("exchanger-figure-8", &["--spec", "exchanger", "sync/exchanger-figure-8.jsonl"]),
    (
        "sync-channel-figure-9",
        &["--criterion", "progress", "--spec", "sync-channel", "sync/sync-channel-figure-9.jsonl"],
    ),
];

#[test]
fn pictures_are_as_they_were() {
    let scratch = Scratch::new("pictures");
    for (name, args) in DRAWN {
        let args = [&["view"], args].concat();
        let drawn = run_in_testdata(&args);
        assert_eq!((drawn.code, drawn.stderr.as_str()), (0, ""), "{drawn:?}");
        same(&format!("pictures/{name}.txt"), &drawn.stdout);
        let plain = run_in_testdata(&[&args[..], &["--ascii"]].concat());
        assert!(plain.stdout.is_ascii(), "{}", plain.stdout);
        same(&format!("pictures/{name}.ascii.txt"), &plain.stdout);
        let path = scratch.0.join(format!("{name}.svg"));
        let drawn = run_in_testdata(&[&args[..], &["--output", path.to_str().expect("the path is UTF-8")]].concat());
        assert_eq!((drawn.code, drawn.stdout.as_str()), (0, ""), "{drawn:?}");
        same(&format!("pictures/{name}.svg"), &fs::read_to_string(path).expect("the file was written"));
    }
}

#[test]
fn a_rejection_is_drawn_in_the_report() {
    let judged = run_with_input(&["check", "--spec", "queue", "-"], REJECTED.as_bytes());
    assert_eq!(judged.code, 1);
    let picture = "
             enqueue(1) enqueue(2)
  process 0  ├─1───────┤├─2───────┤
                            dequeue() → 2
  process 1                 ┣━━━━━━━━━━━━✗
  (numbers: an order that works so far; ✗: refused)
  the state after the numbered operations, in numerical order: [1, 2]
  operations before it, in an order that works:
";
    assert!(judged.stdout.contains(picture), "{}", judged.stdout);
    let accepted = run_with_input(&["check", "--spec", "queue", "-"], ACCEPTED.as_bytes());
    assert_eq!(accepted.stdout.lines().count(), 1, "{accepted:?}");
}

#[test]
fn check_writes_a_page_and_says_the_same_otherwise() {
    let scratch = Scratch::new("page");
    let page = scratch.0.join("page.html");
    let page = page.to_str().expect("the path is UTF-8");
    for (history, code) in [(REJECTED, 1), (ACCEPTED, 0)] {
        let args = ["check", "--spec", "queue", "--json", "-"];
        let judged = run_with_input(&[&args[..], &["--view", page]].concat(), history.as_bytes());
        assert_eq!(judged.code, code, "{judged:?}");
        assert!(judged.stderr.contains("drawn in"), "{judged:?}");
        let without = run_with_input(&args, history.as_bytes());
        let (mut with, mut without) = (json(&judged.stdout), json(&without.stdout));
        with["stats"] = serde_json::Value::Null;
        without["stats"] = serde_json::Value::Null;
        assert_eq!(with, without);
        let page = fs::read_to_string(page).expect("the file was written");
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{page}");
        assert!(page.contains(if code == 1 { "verdict rejected" } else { "verdict accepted" }));
    }
}

#[test]
fn check_draws_several_files_in_a_folder() {
    let scratch = Scratch::new("pages");
    scratch.file("in/one.jsonl", REJECTED);
    scratch.file("in/two.jsonl", ACCEPTED);
    scratch.file("in/below/one.jsonl", ACCEPTED);
    scratch.file("in/broken.jsonl", "{}\n");
    let input = scratch.0.join("in").to_str().expect("plain").to_owned();
    // A path is a folder if it exists as one, if it ends with a slash, or if it has no file extension.
    fs::create_dir(scratch.0.join("is.there")).expect("ours");
    for name in ["pages", "pages.of/", "is.there"] {
        let folder = format!("{}/{name}", scratch.path());
        let judged = run(&["check", "--spec", "queue", "--view", &folder, &input, "-"]);
        assert_eq!(judged.code, 2, "{judged:?}");
        let mut drawn: Vec<String> = fs::read_dir(&folder)
            .expect("the folder was created")
            .map(|entry| entry.expect("ours").file_name().into_string().expect("plain"))
            .collect();
        drawn.sort();
        // Standard input has no operations, and is accepted.
        let expected = ["one.jsonl-2.html", "one.jsonl.html", "standard-input.html", "two.jsonl.html"];
        assert_eq!(drawn, expected, "{judged:?}");
        for (page, verdict) in [("one.jsonl", "accepted"), ("one.jsonl-2", "rejected"), ("two.jsonl", "accepted")] {
            let text = fs::read_to_string(format!("{folder}/{page}.html")).expect("the file was written");
            assert!(text.contains(&format!("verdict {verdict}")), "{page}");
        }
        assert_eq!(judged.stderr.matches("drawn in").count(), expected.len(), "{judged:?}");
    }
    let folder = format!("{}/of-one", scratch.path());
    let judged = run_with_input(&["check", "--spec", "queue", "--view", &folder, "-"], REJECTED.as_bytes());
    assert_eq!(judged.code, 1, "{judged:?}");
    assert!(Path::new(&format!("{folder}/standard-input.html")).exists());
}

#[test]
fn wrong_usage_of_pictures() {
    let scratch = Scratch::new("wrong-pictures");
    let one = scratch.file("one.jsonl", REJECTED);
    let two = scratch.file("two.jsonl", ACCEPTED);
    let cases: [(&[&str], &str); 7] = [
        (&["check", "--view", "a.txt", &one], "must end in .html or .svg"),
        (
            &["check", "--view", "a.html", &one, &two],
            "there are 2 files; name a directory, such as a/, to get a page for each",
        ),
        (&["check", "--view", &format!("{one}/below/"), &one], "cannot create the directory"),
        (&["view", "--output", "a.pdf", &one], "must end in .html or .svg"),
        (&["view", &one, &two], "draws one history"),
        (&["view", "--output", "/no/such/folder/a.html", &one], "cannot write"),
        (&["view", "no-such-file.jsonl"], "cannot open"),
    ];
    for (args, message) in cases {
        let drawn = run(&[args, &["--spec", "queue"]].concat());
        assert_eq!(drawn.code, 2, "{drawn:?}");
        assert!(drawn.stderr.contains(message), "{drawn:?}");
    }
    assert!(!Path::new("a.html").exists());
}

/// With `--core`, a picture shows only the core, and a page shows the core first.
#[test]
fn only_the_core() {
    let scratch = Scratch::new("core-picture");
    let mut lines = String::new();
    for at in 0..50 {
        lines.push_str(&format!(
            "{{\"process\":0,\"f\":\"enqueue\",\"value\":{at},\"call\":{},\"return\":{}}}\n",
            2 * at,
            2 * at + 1
        ));
    }
    lines.push_str("{\"process\":1,\"f\":\"dequeue\",\"result\":1,\"call\":200,\"return\":201}\n");
    let file = scratch.file("long.jsonl", lines);
    let drawn = run(&["view", "--spec", "queue", "--core", &file]);
    assert!(drawn.stdout.contains("48 operations are not shown"), "{}", drawn.stdout);
    let whole = run(&["view", "--spec", "queue", &file]);
    assert!(whole.stdout.contains("enqueue(49)"), "{}", whole.stdout);
    for (args, first) in [(&["--core"][..], "true"), (&[], "false")] {
        let page = scratch.0.join("page.html");
        let page = page.to_str().expect("the path is UTF-8");
        assert_eq!(run(&[&["view", "--spec", "queue", "-o", page, &file], args].concat()).code, 0);
        let page = fs::read_to_string(page).expect("the file was written");
        assert!(page.contains(&format!("\"coreFirst\":{first}")));
    }
}

//! Tests that hostile text, in every field of every format and in file names, is escaped in all output.
#![cfg(unix)]

use std::fs;

use serde_json::{Value, json};

use super::{Run, Scratch, json as parsed, trueline};

/// Line breaks followed by commands for CI systems, escape sequences, direction marks, line separators, control
/// characters of both kinds, characters without width, tags, and markup.
const HOSTILE: &str = "\n::error::INJ\r\u{1b}[35mINJ\u{1b}]0;INJ\u{7}\u{202e}\u{2066}\u{2028}INJ\u{2029}::INJ \u{9b}5mINJ\u{85}::INJ\u{7f}\u{200b}\u{feff}\u{e0041}##[error]INJ ::INJ::##vso[x]<script>INJ</script>&\"'\\]]>\u{1}";

/// The escape sequences with which reports are colored.
const COLORS: [&str; 10] = ["0", "1", "2", "4", "31", "32", "33", "36", "1;31", "1;33"];

const TARGETS: [&str; 8] =
    ["jsonl", "jsonl-operations", "jepsen", "jepsen-log", "porcupine-kv", "porcupine-json", "events", "csv"];

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Asserts that all characters of an output are visible, except for our own colors, and that no
/// line is a command. All tabs are our own, because the hostile text does not contain tabs.
#[track_caller]
fn assert_harmless(what: &str, text: &str) {
    let mut text = text.to_owned();
    for color in COLORS {
        text = text.replace(&format!("\x1b[{color}m"), "");
    }
    if let Some((at, c)) = text.char_indices().find(|(_, c)| is_hidden(*c) && !matches!(c, '\n' | '\t')) {
        let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
        panic!("{what}: {c:?} in {:?}", &text[start..text.len().min(at + 20)]);
    }
    for line in text.lines().map(str::trim_start) {
        assert!(!line.starts_with("INJ"), "{what}: a forged line in {text}");
        let is_ours = ["::error file=", "::warning file="].iter().any(|ours| line.starts_with(ours));
        assert!(!line.starts_with("::") || (what.contains("--github") && is_ours), "{what}: a command: {line}");
    }
    assert!(!text.contains("##[") && !text.contains("##vso"), "{what}: a command in {text}");
}

/// Runs with colors, so that no hostile sequence is removed because it looks like a color.
fn run(args: &[&str]) -> Run {
    let run: Run = trueline(args).env("CLICOLOR_FORCE", "1").output().expect("the binary is built").into();
    let what = args.iter().take(4).copied().collect::<Vec<_>>().join(" ").replace(HOSTILE, "HOSTILE");
    assert_harmless(&format!("stdout of {what}"), &run.stdout);
    assert_harmless(&format!("stderr of {what}"), &run.stderr);
    run
}

fn event(process: u32, kind: &str, f: &str, value: Value) -> Value {
    json!({"process": process, "type": kind, "f": f, "value": value})
}

/// Returns histories with hostile text in fields; all but the last two are rejected by a register or a map.
fn histories() -> Vec<Vec<Value>> {
    let other = format!("{HOSTILE}2");
    let register = vec![
        event(0, "invoke", "write", json!(HOSTILE)),
        event(0, "ok", "write", json!(HOSTILE)),
        event(1, "invoke", "read", json!(null)),
        event(1, "ok", "read", json!(other)),
    ];
    let with = |events: &[Value], name: &str| -> Vec<Value> {
        let named = events.iter().cloned().map(|mut event| {
            event[name] = json!(HOSTILE);
            event
        });
        named.collect()
    };
    let map = [
        event(0, "invoke", "put", json!(HOSTILE)),
        event(0, "ok", "put", json!(null)),
        event(1, "invoke", "get", json!(null)),
        event(1, "ok", "get", json!([other, [HOSTILE]])),
    ];
    let pairs = [
        event(0, "invoke", "write", json!([HOSTILE, 1])),
        event(0, "ok", "write", json!([HOSTILE, 1])),
        event(1, "invoke", "read", json!([HOSTILE, null])),
        event(1, "ok", "read", json!([HOSTILE, 2])),
    ];
    let unknown = [event(0, "invoke", HOSTILE, json!(HOSTILE)), event(0, "ok", HOSTILE, json!(HOSTILE))];
    let open = [event(0, "invoke", HOSTILE, json!(null)), event(0, "info", HOSTILE, json!(HOSTILE))];
    vec![with(&register, "object"), with(&map, "key"), pairs.into(), unknown.into(), with(&open, HOSTILE), register]
}

/// Returns invalid lines, each with hostile text in another field.
fn wrong_lines() -> Vec<String> {
    let line = |name: &str, value: Value| {
        let mut line = event(0, "invoke", "read", json!(null));
        line[name] = value;
        line.to_string()
    };
    let mut lines: Vec<String> =
        ["process", "type", "time", "f", "key", "object"].iter().map(|name| line(name, json!([HOSTILE]))).collect();
    lines.extend(["process", "type", "time"].iter().map(|name| line(name, json!(HOSTILE))));
    let twice = json!(HOSTILE).to_string();
    lines.extend([
        HOSTILE.to_owned(),
        HOSTILE.trim().to_owned(),
        format!("{{{twice}:1,{twice}:2}}"),
        format!("[{twice}]"),
        twice.clone(),
        format!(r#"{{"process":0,"type":"ok","f":{twice}}}"#),
        format!(r#"{{"process":0,"f":"x","call":{twice}}}"#),
        format!(r#"{{"process":0,"f":"x","call":1,"return":2,"id":{twice}}}"#),
        format!("{{:process {twice}, :type {twice}, :f {twice}}}"),
        format!("{{:process 0, :type :invoke, :f :x, {twice} \\q}}"),
        format!("{{:process 0 :type :invoke :f {} :value #\u{202e}x {{}}}}", HOSTILE.replace('"', "")),
        format!("INFO  jepsen.util - 0 :{twice} :read {twice}"),
        format!(r#"{{"ClientId":{twice},"Input":{twice},"Call":{twice},"Output":1,"Return":2}}"#),
        format!(r#"{{"client":{twice},"event":{twice},"op":{twice}}}"#),
        format!(r#"{{"client":0,"event":{twice},"op":"x"}}"#),
    ]);
    lines
}

/// Returns the text with those characters unescaped for which `is_raw` returns true.
fn unescaped(text: &str, is_raw: fn(char) -> bool) -> String {
    let mut out = text.to_owned();
    for c in HOSTILE.chars().filter(|c| is_raw(*c)) {
        let escape: String = c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
        out = out.replace(&escape, &c.to_string());
    }
    out
}

/// Returns whether a character is unescaped in a file: no character, those that JSON allows, or all.
type IsRaw = fn(char) -> bool;

const KINDS: [(&str, IsRaw); 3] = [("escaped", |_| false), ("raw", |c| !c.is_ascii()), ("all", |_| true)];

/// Creates files of all formats in a folder, one of them with a hostile name.
fn files(scratch: &Scratch) -> Vec<String> {
    let mut files = Vec::new();
    for (number, history) in histories().into_iter().enumerate() {
        let text: String = history.iter().map(|event| format!("{event}\n")).collect();
        let source = scratch.file(&format!("{number}.jsonl"), &text);
        for target in TARGETS {
            let tuples: &[&[&str]] =
                if number == 2 { &[&[], &["--tuples", "objects"], &["--tuples", "keys"]] } else { &[&[]] };
            for tuples in tuples {
                let converted = run(&[&["convert", &source, "--to", target], *tuples].concat());
                if converted.code != 0 {
                    assert!(converted.stderr.contains("error:"), "{converted:?}");
                    continue;
                }
                for (kind, is_raw) in KINDS {
                    let name = format!("{number}-{target}{}-{kind}.jsonl", tuples.concat());
                    files.push(scratch.file(&name, unescaped(&converted.stdout, is_raw)));
                }
            }
        }
        files.push(source);
    }
    for (number, line) in wrong_lines().iter().enumerate() {
        files.push(scratch.file(&format!("wrong-{number}.jsonl"), format!("{line}\n")));
    }
    // A file name cannot contain a slash.
    let name = HOSTILE.replace('/', "");
    files.push(scratch.file(&format!("{name}.jsonl"), super::REJECTED));
    files.push(scratch.file(&format!("{name}-bad.jsonl"), "{\n"));
    files.push(scratch.0.join(&name).join("absent").to_str().expect("text").to_owned());
    files
}

#[test]
fn histories_reach_no_output_raw() {
    let scratch = Scratch::new("hostile");
    let files = files(&scratch);
    assert!(files.len() > 80, "{} files", files.len());
    let all: Vec<&str> = files.iter().map(String::as_str).collect();
    let with = |args: &[&'static str]| -> Run { run(&[args, &all].concat()) };
    let mut rejected = 0;
    for spec in ["register", "map", "queue", "cas-register"] {
        let judged = with(&["check", "--spec", spec, "--core"]);
        rejected += judged.stdout.matches("rejected").count();
        with(&["check", "--quiet", "--spec", spec]);
        with(&["check", "--github", "--spec", spec]);
        with(&["explain", "--spec", spec]);
        with(&["explain", "--tuples", "keys", "--spec", spec]);
        with(&["lint", "--spec", spec]);
        for command in ["check", "explain", "lint"] {
            let lines = with(&[command, "--json", "--spec", spec]).stdout;
            assert_eq!(lines.lines().count(), files.len());
            lines.lines().for_each(|line| drop(parsed(line)));
        }
    }
    assert!(rejected > 20, "{rejected} reports of rejections");
    with(&["lint"]);
    for file in &files {
        run(&["map", "--guess", file]);
    }
    let xml = scratch.0.join("out.xml");
    let judged =
        run(&[&["check", "--spec", "register", "--quiet", "--junit", xml.to_str().expect("plain")][..], &all].concat());
    assert_eq!(judged.code, 2);
    let xml = fs::read_to_string(xml).expect("the file was written");
    assert_harmless("JUnit", &xml);
    assert!(xml.contains("INJ") && !xml.contains("<script"), "{xml}");
}

#[test]
fn pictures_have_nothing_raw() {
    let scratch = Scratch::new("hostile-pictures");
    let files: Vec<String> =
        files(&scratch).into_iter().filter(|file| !file.contains("wrong-") && !file.contains("raw")).collect();
    let mut drawn = 0;
    for file in &files {
        let spec = if file.contains("/1") { "map" } else { "register" };
        run(&["view", "--spec", spec, file]);
        for name in ["out.svg", "out.html"] {
            let out = scratch.0.join(name);
            let out = out.to_str().expect("plain");
            if run(&["view", "--spec", spec, "-o", out, file]).code == 0 {
                let picture = fs::read_to_string(out).expect("the picture was drawn");
                // Our own scripts and styles are indented with spaces.
                assert_harmless_markup(name, &picture);
                drawn += 1;
            }
        }
    }
    assert!(drawn > 20, "{drawn} were drawn");
    let named =
        files.iter().find(|file| file.contains("INJ") && !file.contains("bad")).expect("one file has a hostile name");
    let folder = scratch.0.join("pages");
    assert_eq!(run(&["check", "--spec", "queue", "--view", folder.to_str().expect("plain"), named]).code, 1);
    for page in fs::read_dir(folder).expect("the folder was created") {
        assert_harmless_markup("page", &fs::read_to_string(page.expect("ours").path()).expect("the picture was drawn"));
    }
}

#[track_caller]
fn assert_harmless_markup(what: &str, text: &str) {
    assert!(text.contains("INJ"), "{what} has nothing of it");
    assert!(!text.contains("<script>INJ"), "{what}");
    let hidden = text.chars().find(|c| is_hidden(*c) && *c != '\n');
    assert_eq!(hidden, None, "{what}");
}

#[test]
fn arguments_and_mappings_are_repeated_harmlessly() {
    let scratch = Scratch::new("hostile-arguments");
    let good = scratch.file("good.jsonl", super::REJECTED);
    for args in [
        &["check", "--spec", HOSTILE, &good][..],
        &["check", "--spec", &format!("register:{HOSTILE}"), &good],
        &["check", "--spec", "queue", "--algorithm", HOSTILE, &good],
        &["check", "--spec", "queue", "--timeout", HOSTILE, &good],
        &["check", "--spec", "queue", "--factor", HOSTILE, &good],
        &["check", "--spec", "queue", &format!("--{HOSTILE}"), &good],
        &["check", "--spec", "queue", "--junit", &format!("/no/{HOSTILE}"), &good],
        &["check", "--spec", "queue", "--view", &format!("/dev/null/{HOSTILE}"), &good],
        &["view", "--spec", "queue", "-o", HOSTILE, &good],
        &["view", "--spec", "queue", "-o", &format!("/no/{HOSTILE}.svg"), &good],
        &["convert", &good, "--to", HOSTILE],
        &["convert", &good, "--to", "jsonl", "-o", &format!("/no/{HOSTILE}")],
        &["generate", HOSTILE],
        &["generate", "--spec", HOSTILE],
        &["test", HOSTILE],
        &["test", "msqueue", "--replay", HOSTILE],
        &["test", "msqueue", "--program", HOSTILE],
        &["explore", HOSTILE],
        &["explore", "msqueue", "--program", HOSTILE],
        &["collect", "--listen", HOSTILE, "-o", "/no/x"],
        &["collect", "--listen", "127.0.0.1:0", "-o", &format!("/no/{HOSTILE}")],
        &["completions", HOSTILE],
        &["man", "--directory", &format!("/dev/null/{HOSTILE}")],
        &["lint", "--map", &format!("/no/{HOSTILE}"), &good],
        &["map", "--guess", &format!("/no/{HOSTILE}")],
        &[HOSTILE],
    ] {
        let run = run(args);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(!run.stderr.is_empty(), "{args:?}");
    }
    let name = serde_json::to_string(HOSTILE).expect("text");
    let mapping = r#"{"process":"who","f":"op","result":"got","call":"t0","return":"t1"}"#;
    let map = scratch.file("named", mapping);
    let log = scratch.file("named.jsonl", format!(r#"{{"who":{name},"op":"read","got":7,"t0":1,"t1":2}}"#));
    let page = scratch.0.join("page.html");
    let page = page.to_str().expect("plain");
    for more in [&["check"][..], &["check", "--json"], &["explain"], &["view"], &["check", "--view", page], &["lint"]] {
        let run = run(&[more, &["--spec", "register", "--map", &map, &log]].concat());
        assert!(more[0] == "view" || run.code == 1 || more[0] == "lint", "{run:?}");
        assert!(more[0] == "lint" || run.stdout.contains("INJ"), "the name is not shown: {run:?}");
    }
    assert_harmless_markup("page", &fs::read_to_string(page).expect("the page was drawn"));
    assert!(run(&["map", &log, "--map", &map]).stdout.contains("INJ"));
    for mapping in [
        format!("{{{name}:{name}}}"),
        format!(r#"{{"process":{name},"type":{name},"f":{name}}}"#),
        format!(r#"{{"process":"process","type":"type","f":"f","types":{{{name}:{name}}}}}"#),
        format!(r#"{{"process":"process","type":"f","f":"f"}}{HOSTILE}"#),
        HOSTILE.to_owned(),
        format!("process = {HOSTILE}"),
    ] {
        let map = scratch.file("map", mapping);
        for command in [&["check", "--spec", "queue"][..], &["lint"], &["convert", "--to", "jsonl"]] {
            assert_eq!(run(&[command, &["--map", &map, &good]].concat()).code, 2);
        }
    }
}

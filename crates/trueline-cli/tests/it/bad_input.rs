//! Input that is wrong: exit code 2, and a message with file, line and remedy.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{Scratch, json, run, trueline};

/// A file that is wrong.
struct Case {
    name: &'static str,
    spec: &'static str,
    content: Vec<u8>,
    /// The line that the message must name.
    line: Option<usize>,
    /// What the message must contain.
    expected: &'static [&'static str],
}

fn case(
    name: &'static str,
    spec: &'static str,
    content: impl Into<Vec<u8>>,
    line: impl Into<Option<usize>>,
    expected: &'static [&'static str],
) -> Case {
    Case { name, spec, content: content.into(), line: line.into(), expected }
}

const INVOKE: &str = r#"{"process":0,"type":"invoke","f":"enqueue","value":1}"#;

/// The line behind a good one.
fn second(line: &str) -> String {
    format!("{INVOKE}\n{line}\n")
}

fn nested(depth: usize) -> String {
    second(&format!(
        r#"{{"process":1,"type":"invoke","f":"enqueue","value":{}{}}}"#,
        "[".repeat(depth),
        "]".repeat(depth)
    ))
}

fn cases() -> Vec<Case> {
    vec![
        // Not a file of JSON lines.
        case("empty", "queue", "", None, &["no operation in the file", "give a file of JSON lines"]),
        case("blank", "queue", "\n\n   \n", None, &["no operation in the file"]),
        case("only-failed", "queue", second(r#"{"process":0,"type":"fail"}"#), None, &["that did not fail"]),
        case("truncated", "queue", second(r#"{"process":0,"type":"ok","f":"enq"#), 2, &["cut off", "delete the line"]),
        case("cut-in-the-middle", "queue", format!("{{\"process\":0,\n{INVOKE}"), 1, &["on a single line"]),
        case("pretty-printed", "queue", "{\n  \"process\": 0\n}\n", 1, &["on a single line"]),
        case("binary", "queue", b"\x7fELF\x02\x01\x01\0\0\0\0\0\xff\xfe".to_vec(), 1, &["not text", "JSON lines"]),
        case("gzip", "queue", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03".to_vec(), 1, &["not compressed"]),
        case("nul-bytes", "queue", [INVOKE.as_bytes(), b"\n\0\0\0\0"].concat(), 2, &["not text"]),
        case("utf-16", "queue", b"\xff\xfe{\0}\0".to_vec(), 1, &["UTF-8"]),
        case("invalid-utf-8", "queue", [INVOKE.as_bytes(), b"\n{\"f\":\"caf\xe9\"}"].concat(), 2, &["UTF-8"]),
        case("prose", "queue", "Dear reader,\n", 1, &["not JSON", "one JSON object on each line"]),
        case("edn", "queue", "{:process 0, :type :invoke, :f :enqueue, :value 1}\n", 1, &["looks like EDN", "convert"]),
        case("json-list", "queue", format!("[{INVOKE}]"), 1, &["JSON list", "jq -c"]),
        case("json-number", "queue", second("17"), 2, &["a JSON object such as"]),
        case("json-string", "queue", second("\"invoke\""), 2, &["a JSON object such as"]),
        case("json-null", "queue", second("null"), 2, &["a JSON object such as"]),
        case("trailing-comma", "queue", second(r#"{"process":0,"type":"ok",}"#), 2, &["not JSON", "column"]),
        case("two-on-a-line", "queue", format!("{INVOKE} {INVOKE}"), 1, &["one object on each line"]),
        case("bad-escape", "queue", second(r#"{"process":0,"type":"ok","f":"\x"}"#), 2, &["not JSON"]),
        case("lone-surrogate", "queue", second(r#"{"process":1,"type":"invoke","f":"\ud800"}"#), 2, &["not JSON"]),
        // Too deep, too long.
        case("deep", "queue", nested(65), 2, &["nested deeper than 64", "flatten it"]),
        case("very-deep", "queue", nested(2_000_000), 2, &["nested deeper than 64", "flatten it"]),
        case("deep-line", "queue", "[".repeat(1_000_000), 1, &["JSON list"]),
        case("deep-objects", "queue", "{\"a\":".repeat(1_000_000), 1, &["cut off"]),
        case("long-line", "queue", second(&"x".repeat((16 << 20) + 1)), 2, &["longer than 16 MiB", "on each line"]),
        // Fields.
        case(
            "duplicate-key",
            "queue",
            second(r#"{"process":0,"type":"ok","process":0}"#),
            2,
            &["\"process\" is there twice", "keep one"],
        ),
        case(
            "duplicate-other-key",
            "queue",
            second(r#"{"process":0,"type":"ok","x":0,"x":0}"#),
            2,
            &["\"x\" is there twice"],
        ),
        case(
            "no-process",
            "queue",
            r#"{"type":"invoke","f":"enqueue","value":1}"#,
            1,
            &["`process` is missing", "\"process\":0"],
        ),
        case(
            "process-string",
            "queue",
            r#"{"process":"p1","type":"invoke","f":"enqueue","value":1}"#,
            1,
            &["`process` must be an integer", "number the processes"],
        ),
        case(
            "process-negative",
            "queue",
            r#"{"process":-1,"type":"invoke","f":"enqueue","value":1}"#,
            1,
            &["from 0 to 4294967295"],
        ),
        case(
            "process-big",
            "queue",
            r#"{"process":4294967296,"type":"invoke","f":"enqueue","value":1}"#,
            1,
            &["from 0 to 4294967295"],
        ),
        case("process-float", "queue", r#"{"process":0.5,"type":"invoke","f":"enqueue","value":1}"#, 1, &["found 0.5"]),
        case(
            "no-shape",
            "queue",
            r#"{"process":0,"f":"enqueue","value":1}"#,
            1,
            &["neither `type` nor `call`", "give `type`"],
        ),
        case(
            "both-shapes",
            "queue",
            r#"{"process":0,"type":"invoke","f":"enqueue","value":1,"call":3}"#,
            1,
            &["both `type` and `call`"],
        ),
        case(
            "type-unknown",
            "queue",
            r#"{"process":0,"type":"begin","f":"enqueue","value":1}"#,
            1,
            &["`type` must be invoke, ok, fail or info"],
        ),
        case("type-number", "queue", r#"{"process":0,"type":1,"f":"enqueue","value":1}"#, 1, &["`type` must be"]),
        case(
            "no-f",
            "queue",
            r#"{"process":0,"type":"invoke","value":1}"#,
            1,
            &["`f` is missing", "say what was called"],
        ),
        case("f-number", "queue", r#"{"process":0,"type":"invoke","f":3,"value":1}"#, 1, &["`f` must be the name"]),
        case(
            "float-value",
            "queue",
            r#"{"process":0,"type":"invoke","f":"enqueue","value":1.0}"#,
            1,
            &["1.0", "write it as a string"],
        ),
        case(
            "big-value",
            "queue",
            r#"{"process":0,"type":"invoke","f":"enqueue","value":9223372036854775808}"#,
            1,
            &["write it as a string"],
        ),
        case("huge-value", "queue", r#"{"process":0,"type":"invoke","f":"enqueue","value":1e999}"#, 1, &["not JSON"]),
        case(
            "object-value",
            "queue",
            r#"{"process":0,"type":"invoke","f":"enqueue","value":{"id":1}}"#,
            1,
            &["JSON object", "as a list or a string"],
        ),
        case(
            "float-in-a-list",
            "queue",
            r#"{"process":0,"type":"invoke","f":"enqueue","value":[1,[2.5]]}"#,
            1,
            &["2.5"],
        ),
        case(
            "time-string",
            "queue",
            r#"{"process":0,"type":"invoke","f":"enqueue","value":1,"time":"noon"}"#,
            1,
            &["`time` must be a number"],
        ),
        case(
            "object-float",
            "queue",
            r#"{"process":0,"type":"invoke","f":"enqueue","value":1,"object":1.5}"#,
            1,
            &["`object` must be a string or an integer"],
        ),
        case(
            "object-on-some",
            "queue",
            second(r#"{"process":0,"type":"ok","f":"enqueue","object":"a"}"#),
            2,
            &["on every line or on none"],
        ),
        case(
            "call-float",
            "queue",
            r#"{"process":0,"f":"enqueue","value":1,"call":0.5,"return":2}"#,
            1,
            &["`call` must be an integer", "nanoseconds"],
        ),
        case(
            "call-null",
            "queue",
            r#"{"process":0,"f":"enqueue","value":1,"call":null,"return":2}"#,
            1,
            &["`call` is null", "give the time"],
        ),
        case(
            "return-string",
            "queue",
            r#"{"process":0,"f":"enqueue","value":1,"call":1,"return":"2"}"#,
            1,
            &["`return` must be an integer"],
        ),
        case(
            "result-without-return",
            "queue",
            r#"{"process":0,"f":"dequeue","result":1,"call":1}"#,
            1,
            &["no time of `return`", "leave out the result"],
        ),
        case(
            "duplicate-id",
            "queue",
            "{\"process\":0,\"f\":\"enqueue\",\"value\":1,\"call\":1,\"return\":2,\"id\":7}\n{\"process\":1,\"f\":\"enqueue\",\"value\":2,\"call\":1,\"return\":2,\"id\":7}",
            2,
            &["id 7 was used on line 1", "its own"],
        ),
        case(
            "id-string",
            "queue",
            r#"{"process":0,"f":"enqueue","value":1,"call":1,"return":2,"id":"x"}"#,
            1,
            &["`id` must be an integer"],
        ),
        // Lines that are no history together.
        case(
            "return-without-call",
            "queue",
            second(r#"{"process":1,"type":"ok","f":"enqueue","value":1}"#),
            2,
            &["no open call", "log its call first"],
        ),
        case(
            "fail-without-call",
            "queue",
            second(r#"{"process":1,"type":"fail","f":"enqueue"}"#),
            2,
            &["no open call"],
        ),
        case(
            "info-without-call",
            "queue",
            second(r#"{"process":1,"type":"info","f":"enqueue"}"#),
            2,
            &["no open call"],
        ),
        case("two-open-calls", "queue", second(INVOKE), 2, &["earlier call is open", "different processes"]),
        case(
            "return-from-another",
            "queue",
            second(r#"{"process":0,"type":"ok","f":"dequeue","value":1}"#),
            2,
            &["its open call is `enqueue`"],
        ),
        case(
            "return-before-call",
            "queue",
            r#"{"process":0,"f":"enqueue","value":1,"call":5,"return":4}"#,
            1,
            &["before its call", "check the clock"],
        ),
        case(
            "overlap-in-process",
            "queue",
            "{\"process\":0,\"f\":\"enqueue\",\"value\":1,\"call\":1,\"return\":5}\n{\"process\":0,\"f\":\"enqueue\",\"value\":2,\"call\":3,\"return\":9}",
            2,
            &["overlap in time", "different processes"],
        ),
        case(
            "mixed-events-first",
            "queue",
            second(r#"{"process":1,"f":"enqueue","value":1,"call":5,"return":6}"#),
            2,
            &["earlier lines are events", "one shape in a file"],
        ),
        case(
            "mixed-operations-first",
            "queue",
            format!("{}\n{INVOKE}", r#"{"process":1,"f":"enqueue","value":1,"call":5,"return":6}"#),
            2,
            &["earlier lines are whole operations"],
        ),
        // Operations that the specification does not know, and what they say.
        case(
            "unknown-operation",
            "queue",
            r#"{"process":0,"type":"invoke","f":"enqeue","value":1}"#,
            1,
            &["no operation \"enqeue\"", "did you mean `enqueue`?"],
        ),
        case("operation-of-another-spec", "register", INVOKE, 1, &["no operation \"enqueue\"", "`queue` has it"]),
        case(
            "element-missing",
            "queue",
            r#"{"process":0,"type":"invoke","f":"enqueue"}"#,
            1,
            &["give the element in `value`"],
        ),
        case(
            "set-result",
            "set",
            "{\"process\":0,\"type\":\"invoke\",\"f\":\"add\",\"value\":1}\n{\"process\":0,\"type\":\"ok\",\"f\":\"add\",\"value\":1}",
            2,
            &["must return true or false", "give that as the `result`"],
        ),
        case(
            "size-result",
            "set",
            r#"{"process":0,"f":"size","result":"many","call":1,"return":2}"#,
            1,
            &["not negative"],
        ),
        case(
            "cas-argument",
            "cas-register:0",
            r#"{"process":0,"f":"cas","value":[1,2,3],"result":true,"call":1,"return":2}"#,
            1,
            &["a list of two"],
        ),
        case(
            "cas-result",
            "cas-register:0",
            r#"{"process":0,"f":"cas","value":[1,2],"result":"yes","call":1,"return":2}"#,
            1,
            &["must return true or false"],
        ),
        case(
            "key-of-a-queue",
            "queue",
            r#"{"process":0,"type":"invoke","f":"enqueue","key":"k","value":1}"#,
            1,
            &["has no keys", "`object`"],
        ),
        case(
            "map-without-key",
            "map",
            r#"{"process":0,"type":"invoke","f":"put","value":1}"#,
            1,
            &["needs a key", "the field `key`"],
        ),
        case(
            "queue-full",
            "queue",
            r#"{"process":0,"f":"enqueue","value":1,"result":false,"call":1,"return":2}"#,
            1,
            &["always succeeds", "`fail`"],
        ),
    ]
}

#[test]
fn bad_files_get_exit_code_2_and_a_message_with_file_line_and_remedy() {
    let scratch = Scratch::new("bad_files");
    for Case { name, spec, content, line, expected } in cases() {
        let file = scratch.file(&format!("{name}.jsonl"), content);
        let judged = run(&["check", "--spec", spec, "--json", &file]);
        assert_eq!(judged.code, 2, "{name}: {judged:?}");
        let place = line.map_or(format!("error: {file}: "), |line| format!("error: {file}:{line}: "));
        assert!(judged.stderr.starts_with(&place), "{name}: {judged:?}");
        assert_eq!(judged.stderr.lines().count(), 1, "{name}: {judged:?}");
        assert!(judged.stderr.len() < 600 + file.len(), "{name}: {judged:?}");
        for expected in expected {
            assert!(judged.stderr.contains(expected), "{name} lacks {expected:?}: {judged:?}");
        }
        let object = json(judged.stdout.trim_end());
        assert_eq!(object["file"], file.as_str(), "{name}");
        assert!(object["error"].is_string(), "{name}: {object}");
    }
}

#[test]
fn a_line_of_a_gigabyte_is_refused_at_once() {
    let started = Instant::now();
    let mut child = trueline(&["check", "--spec", "queue", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary is built");
    let mut stdin = child.stdin.take().expect("it is piped");
    let chunk = vec![b'a'; 1 << 16];
    let mut written = 0usize;
    while written < 1 << 30 && stdin.write_all(&chunk).is_ok() {
        written += chunk.len();
    }
    drop(stdin);
    let output = child.wait_with_output().expect("it was started");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.starts_with("error: -:1: the line is longer than 16 MiB"), "{stderr}");
    assert!(written < 32 << 20, "it read {written} bytes");
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn bad_usage_gets_exit_code_2_and_a_remedy() {
    let scratch = Scratch::new("bad_usage");
    let file = scratch.file("good.jsonl", super::ACCEPTED);
    let file = file.as_str();
    let missing = scratch.0.join("missing.jsonl");
    let missing = missing.to_str().expect("tests have plain names");
    let table: &[(&[&str], &[&str])] = &[
        (&[], &["Usage"]),
        (&["chekc"], &["check"]),
        (&["check", file], &["--spec"]),
        (&["check", "--spec", "queue"], &["FILES_OR_DIRS"]),
        (&["check", "--spec", "quee", file], &["no specification is called `quee`", "did you mean `queue`?"]),
        (&["check", "--spec", "spacecraft", file], &["there are register,", "trueline specs"]),
        (&["check", "--spec", "queue:5", file], &["takes no parameter"]),
        (&["check", "--spec", "register:", file], &["initial value is missing"]),
        (&["check", "--spec", "mutex:nobody", file], &["mutex:owned"]),
        (&["check", "--spec", "queue", "--nil-wildcard", file], &["leave it out"]),
        (&["check", "--spec", "queue", "--algorithm", "magic", file], &["magic", "trueline algorithms"]),
        (&["check", "--spec", "queue", "--algorithm", "compete:linear", file], &["trueline algorithms"]),
        (&["check", "--spec", "queue", "--timeout", "5", file], &["--timeout", "such as 200ms"]),
        (&["check", "--spec", "queue", "--timeout", "soon", file], &["--timeout", "such as 200ms"]),
        (&["check", "--spec", "queue", "--timeout=-5s", file], &["--timeout", "such as 200ms"]),
        (&["check", "--spec", "queue", "--memory", "64", file], &["--memory", "such as 64MiB"]),
        (&["check", "--spec", "queue", "--memory", "64 elephants", file], &["--memory", "such as 64MiB"]),
        (&["check", "--spec", "queue", "--threads", "0", file], &["--threads"]),
        (&["check", "--spec", "queue", "--threads", "many", file], &["--threads"]),
        (&["check", "--spec", "queue", "--configurations=-1", file], &["--configurations"]),
        (&["check", "--spec", "queue", "--seed", "x", file], &["--seed"]),
        (&["check", "--spec", "queue", "--rules", "golden", file], &["golden", "just-in-time"]),
        (&["check", "--spec", "queue", "--format", "xml", file], &["jsonl"]),
        (&["check", "--spec", "queue", "--json", "--quiet", file], &["cannot be used with"]),
        (&["check", "--spec", "queue", missing], &["missing.jsonl: cannot open", "check the path"]),
    ];
    for (args, expected) in table {
        let judged = run(args);
        assert_eq!(judged.code, 2, "{args:?}: {judged:?}");
        assert_eq!(judged.stdout, "", "{args:?}");
        for expected in *expected {
            assert!(judged.stderr.contains(expected), "{args:?} lacks {expected:?}: {judged:?}");
        }
    }
}

#[test]
fn a_directory_without_histories_is_an_error() {
    let scratch = Scratch::new("no_histories");
    scratch.file("notes.txt", "nothing");
    let judged = run(&["check", "--spec", "queue", scratch.path()]);
    assert_eq!(judged.code, 2, "{judged:?}");
    let expected = format!("error: {}: no *.jsonl or *.json file in this directory", scratch.path());
    assert!(judged.stderr.starts_with(&expected), "{judged:?}");
}

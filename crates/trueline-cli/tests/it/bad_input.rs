//! Tests invalid input: exit code 2, and a message with file, line and remedy.

use std::io::Write;
use std::process::Stdio;

use super::{Scratch, json, run, trueline};

/// An invalid file.
#[derive(Clone)]
struct Case {
    name: &'static str,
    spec: &'static str,
    /// Additional arguments.
    args: &'static [&'static str],
    content: Vec<u8>,
    /// The line that the message must name.
    line: Option<usize>,
    /// Texts that the message must contain.
    expected: &'static [&'static str],
}

fn case(
    name: &'static str,
    spec: &'static str,
    content: impl Into<Vec<u8>>,
    line: impl Into<Option<usize>>,
    expected: &'static [&'static str],
) -> Case {
    Case { name, spec, args: &[], content: content.into(), line: line.into(), expected }
}

impl Case {
    fn with(self, args: &'static [&'static str]) -> Self {
        Self { args, ..self }
    }
}

const INVOKE: &str = r#"{"process":0,"type":"invoke","f":"enqueue","value":1}"#;

/// Returns a file in which this line follows a valid one.
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
        case("truncated", "queue", second(r#"{"process":0,"type":"ok","f":"enq"#), 2, &["cut off", "delete the line"]),
        case("cut-in-the-middle", "queue", format!("{{\"process\":0,\n{INVOKE}"), 1, &["on a single line"]),
        case("pretty-printed", "queue", "{\n  \"process\": 0\n}\n", 1, &["on a single line"]),
        case("binary", "queue", b"\x7fELF\x02\x01\x01\0\0\0\0\0\xff\xfe".to_vec(), 1, &["not text", "JSON lines"]),
        case(
            "gzip",
            "queue",
            b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03".to_vec(),
            None,
            &["gzip", "cut off", "copy the file"],
        ),
        case("zstd", "queue", b"\x28\xb5\x2f\xfd\x04".to_vec(), None, &["zstd", "cut off", "copy the file"]),
        case("bzip2", "queue", b"BZh91AY&SY\xff\xfe".to_vec(), 1, &["not text"]),
        case("nul-bytes", "queue", [INVOKE.as_bytes(), b"\n\0\0\0\0"].concat(), 2, &["not text"]),
        case("utf-16", "queue", b"\xff\xfe{\0}\0".to_vec(), 1, &["UTF-8"]),
        case("invalid-utf-8", "queue", [INVOKE.as_bytes(), b"\n{\"f\":\"caf\xe9\"}"].concat(), 2, &["UTF-8"]),
        case("prose", "queue", "Dear reader,\n", 1, &["not JSON", "one JSON object on each line"]),
        case(
            "edn",
            "queue",
            "{:process 0, :type :invoke, :f :enqueue, :value 1}\n",
            1,
            &["looks like EDN", "`jepsen`"],
        )
        .with(&["--format", "jsonl"]),
        case("json-list", "queue", second(&format!("[{INVOKE}]")), 2, &["JSON list", "jq -c"]),
        case("json-number", "queue", second("17"), 2, &["a JSON object such as"]),
        case("json-string", "queue", second("\"invoke\""), 2, &["a JSON object such as"]),
        case("json-null", "queue", second("null"), 2, &["a JSON object such as"]),
        case("trailing-comma", "queue", second(r#"{"process":0,"type":"ok",}"#), 2, &["not JSON", "column"]),
        case("two-on-a-line", "queue", format!("{INVOKE} {INVOKE}"), 1, &["one object on each line"]),
        case("bad-escape", "queue", second(r#"{"process":0,"type":"ok","f":"\x"}"#), 2, &["not JSON"]),
        case("lone-surrogate", "queue", second(r#"{"process":1,"type":"invoke","f":"\ud800"}"#), 2, &["not JSON"]),
        // Nested too deeply, or too long.
        case("deep", "queue", nested(65), 2, &["nested deeper than 64", "flatten it"]),
        case("very-deep", "queue", nested(2_000_000), 2, &["nested deeper than 64", "flatten it"]),
        case(
            "deep-line",
            "queue",
            "[".repeat(1_000_000),
            1,
            &["ends in the middle of a JSON value", "record it again"],
        ),
        case("deep-objects", "queue", "{\"a\":".repeat(1_000_000), 1, &["cut off"]),
        case("long-line", "queue", second(&"x".repeat((16 << 20) + 1)), 2, &["longer than 16 MiB", "on each line"]),
        // Fields.
        case(
            "duplicate-key",
            "queue",
            second(r#"{"process":0,"type":"ok","process":0}"#),
            2,
            &["\"process\" occurs twice", "keep one"],
        ),
        case(
            "duplicate-other-key",
            "queue",
            second(r#"{"process":0,"type":"ok","x":0,"x":0}"#),
            2,
            &["\"x\" occurs twice"],
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
            r#"{"process":0,"type":"launch","f":"enqueue","value":1}"#,
            1,
            &["`type` must be invoke, ok, fail or info"],
        ),
        case("type-number", "queue", r#"{"process":0,"type":1,"f":"enqueue","value":1}"#, 1, &["`type` must be"]),
        case(
            "no-f",
            "queue",
            r#"{"process":0,"type":"invoke","value":1}"#,
            1,
            &["`f` is missing", "name the operation"],
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
            &["no `return` time", "leave out the result"],
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
        // Lines that do not form a history.
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
            &["earlier lines are events", "only one of the two forms in a file"],
        ),
        case(
            "mixed-operations-first",
            "queue",
            format!("{}\n{INVOKE}", r#"{"process":1,"f":"enqueue","value":1,"call":5,"return":6}"#),
            2,
            &["earlier lines are whole operations"],
        ),
        // Operations that the specification does not define, and the messages.
        case(
            "unknown-operation",
            "queue",
            r#"{"process":0,"type":"invoke","f":"enqeue","value":1}"#,
            1,
            &["no operation \"enqeue\"", "did you mean `enqueue`?"],
        ),
        case(
            "operation-of-another-spec",
            "register",
            INVOKE,
            1,
            &["no operation \"enqueue\"", "`queue` has such an operation"],
        ),
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
            &["must return true or false", "log such a value as the `result`"],
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

/// A valid event, which others follow.
const EDN: &str = "{:process 0, :type :invoke, :f :enqueue, :value 1}";

fn edn(name: &'static str, event: &str, line: impl Into<Option<usize>>, expected: &'static [&'static str]) -> Case {
    case(name, "queue", format!("[{EDN}\n{event}\n"), line, expected)
}

fn jepsen_cases() -> Vec<Case> {
    const FORCED: &[&str] = &["--format", "jepsen"];
    let deep =
        |depth| format!("{{:process 1 :type :invoke :f :enqueue :value {}{}}}]", "[".repeat(depth), "]".repeat(depth));
    vec![
        case("edn-binary", "queue", b"\x7fELF\x02\0\0\xff".to_vec(), 1, &["not text", "uncompressed"]).with(FORCED),
        case("edn-invalid-utf-8", "queue", [EDN.as_bytes(), b"\n{:f \"caf\xe9\"}"].concat(), 2, &["UTF-8"]),
        case("edn-nul", "queue", [EDN.as_bytes(), b"\n\0\0"].concat(), 2, &["not text"]),
        case("edn-prose", "queue", "Dear reader,\n", 1, &["was found instead of an event", "write a map"]).with(FORCED),
        case("edn-json", "queue", format!("{INVOKE}\n"), 1, &["if this is JSON", "`jsonl`"]).with(FORCED),
        case("edn-cut-off", "queue", format!("[{EDN}\n{EDN}"), 2, &["different processes"]),
        edn("edn-unclosed", "", 1, &["the file ends inside the vector", "record it again"]),
        edn("edn-unclosed-map", "{:process 1 :type :ok", 2, &["the file ends inside the map", "close the map"]),
        edn("edn-unclosed-string", "{:process 1 :type \"ok", 2, &["the file ends inside the string"]),
        edn("edn-mismatch", "{:process 1 :type :ok]", 2, &["`]` cannot close the map", "close that with `}` first"]),
        edn("edn-mismatch-of-the-vector", ")", 2, &["`)` cannot close the vector that begins on line 1"]),
        case("edn-closed-twice", "queue", format!("[{EDN}]\n]"), 2, &["more text after the end", "keep one history"]),
        case("edn-two-histories", "queue", format!("[{EDN}]\n[{EDN}]"), 2, &["put all events into one vector"]),
        case("edn-closes-nothing", "queue", format!("{EDN}\n)"), 2, &["closes nothing", "remove it"]),
        edn("edn-number", "17", 2, &["17 was found instead of an event"]),
        edn("edn-nested-vector", "[]", 2, &["a vector was found instead of an event"]),
        edn("edn-odd-map", "{:process 1 :type}", 2, &["`:type` has no value", "give it one, or remove it"]),
        edn("edn-odd-inner-map", "{:process 1 :value {:a}}", 2, &["a key without a value", "give the value"]),
        edn("edn-twice", "{:process 1 :process 1}", 2, &["`:process` occurs twice", "keep one"]),
        edn("edn-twice-unknown", "{:process 1 :x 1\n :x 2}", 3, &["`:x` occurs twice"]),
        edn("edn-twice-in-a-set", "{:process 1 :value #{1 1}}", 2, &["has 1 twice", "keep one"]),
        edn("edn-field-number", "{5 6}", 2, &["`field` must be a keyword", "name the fields"]),
        edn("edn-no-process", "{:type :invoke :f :enqueue}", 2, &["`:process` is missing", ":process 0"]),
        edn("edn-process-float", "{:process 0.5 :type :invoke :f :enqueue}", 2, &["found 0.5", "number the processes"]),
        edn("edn-process-negative", "{:process -1 :type :invoke}", 2, &["from 0 to 4294967295"]),
        edn("edn-no-type", "{:process 1 :f :enqueue}", 2, &["`:type` is missing", "give :invoke, :ok, :fail or :info"]),
        edn("edn-type-unknown", "{:process 1 :type :begin}", 2, &["must be invoke, ok, fail or info"]),
        edn("edn-no-f", "{:process 1 :type :invoke}", 2, &["`:f` is missing", "such as :f :read"]),
        edn("edn-f-number", "{:process 1 :type :invoke :f 1}", 2, &["the name of an operation", "such as :read"]),
        edn("edn-float", "{:process 1 :type :invoke :f :enqueue :value 1.5}", 2, &["1.5", "write it as a string"]),
        edn("edn-ratio", "{:process 1 :type :invoke :f :enqueue :value 1/2}", 2, &["0.5", "write it as a string"]),
        edn("edn-big", "{:process 1 :type :invoke :f :enqueue :value 9223372036854775808N}", 2, &["as a string"]),
        edn(
            "edn-no-number",
            "{:process 1 :type :invoke :f :enqueue :value 1x}",
            2,
            &["`1x` is not a number", "quote it"],
        ),
        edn("edn-bad-escape", r#"{:process 1 :f "\x"}"#, 2, &["is not an escape", "for a backslash"]),
        edn("edn-bad-unicode", r#"{:process 1 :f "\ud800"}"#, 2, &["four hexadecimal digits", "correct it"]),
        edn("edn-bad-character", r"{:process 1 :f \foo}", 2, &["is not a character", "quote it"]),
        edn("edn-unreadable", "{:process 1 :error #<Exception>}", 2, &["is not EDN", "quote it as a string"]),
        edn("edn-odd-character", "{:process 1 :f @x}", 2, &["'@' is not part of EDN", "quote it"]),
        edn("edn-empty-keyword", "{:process 1 : 2}", 2, &["`:` has no name after it"]),
        edn("edn-tag-alone", "{:process 1 :f #inst}", 2, &["a tag has no form after it"]),
        edn("edn-discards-nothing", "{:process 1 #_}", 2, &["`#_` has no form after it"]),
        edn("edn-deep", &deep(65), 2, &["nested deeper than 64", "flatten it"]),
        edn("edn-very-deep", &deep(2_000_000), 2, &["nested deeper than 64", "flatten it"]),
        case("edn-deep-file", "queue", "[".repeat(1_000_000), 1, &["a vector was found instead of"]).with(FORCED),
        edn("edn-deep-discards", &"#_[".repeat(1_000_000), 2, &["the file ends inside the form"]),
        edn("edn-long", &"x".repeat((16 << 20) + 1), 2, &["longer than 16 MiB", "as its own form"]),
        edn("edn-return-without-call", "{:process 1 :type :ok :f :enqueue}", 2, &["log its call first"]),
        edn("edn-return-from-another", "{:process 0 :type :ok :f :dequeue}", 2, &["its open call is `enqueue`"]),
        case("edn-unknown-operation", "queue", EDN.replace(":enqueue", ":enqeue"), 1, &["did you mean `enqueue`?"]),
        case("edn-no-pair", "queue", EDN, 1, &["not a pair of key and value", "log it as [key value]"])
            .with(&["--independent"]),
        case(
            "kv-pair-and-key",
            "map",
            KV,
            1,
            &["the key already has a field of its own", "do not also read values as pairs"],
        )
        .with(&["--tuples", "keys"]),
        case(
            "edn-pair-of-another-key",
            "register",
            "{:process 0 :type :invoke :f :read :value [1 nil]}\n{:process 0 :type :ok :f :read :value [2 5]}",
            2,
            &["not a pair with the key 1", "log it as [key value]"],
        )
        .with(&["--tuples", "objects"]),
    ]
}

fn log_cases() -> Vec<Case> {
    const FORCED: &[&str] = &["--format", "jepsen-log"];
    let log = |name, event: &str, expected| {
        let content =
            format!("INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  other - 7\nINFO  jepsen.util - {event}\n");
        case(name, "cas-register", content, 3, expected)
    };
    let text = |name, event: &str, expected| {
        case(name, "cas-register", format!("0\t:invoke\t:read\tnil\n{event}\n"), 2, expected)
    };
    vec![
        case("log-binary", "cas-register", b"BZh91AY\0".to_vec(), 1, &["not text", "uncompressed"]).with(FORCED),
        case(
            "log-prose-first",
            "cas-register",
            "Well.\n0\t:invoke\t:read\tnil\n",
            1,
            &["this is not an event", "remove"],
        )
        .with(FORCED),
        log("log-cut-off", "1\t:inv", &["the line ends too early", "delete the line"]),
        log("log-process-alone", "1", &["the line ends too early", "delete the line"]),
        log("log-no-value", "1\t:invoke\t:read", &["the line ends too early", "delete the line"]),
        log("log-open-list", "1\t:invoke\t:cas\t[1 2", &["the line ends inside the vector", "close the vector"]),
        log("log-closes-nothing", "1\t:invoke\t:cas\t]", &["`]` closes nothing", "remove it"]),
        log("log-type-unknown", "1\t:begin\t:read\tnil", &["must be invoke, ok, fail or info"]),
        log("log-f-number", "1\t:invoke\t5\tnil", &["the name of an operation"]),
        log("log-float", "1\t:invoke\t:write\t1.5", &["write it as a string"]),
        log("log-process-big", "4294967296\t:invoke\t:write\t1", &["number the processes"]),
        log("log-return-without-call", "1\t:ok\t:write\t1", &["log its call first"]),
        log("log-two-open-calls", "0\t:invoke\t:write\t1", &["different processes"]),
        log("log-return-from-another", "0\t:ok\t:write\t1", &["its open call is `read`"]),
        log("log-cas-argument", "1\t:invoke\t:cas\t1", &["a list of two"]),
        log("log-unknown-operation", "1\t:invoke\t:reed\t1", &["did you mean `read`?"]),
        text("txt-prose", "Well, it is :ok now.", &["this is not an event", "with tabs between them"]),
        text("txt-one-word", "5", &["the line ends too early"]),
        text("txt-return-without-call", "1\t:ok\t:read\t5", &["log its call first"]),
        text("txt-long", &"x".repeat((16 << 20) + 1), &["longer than 16 MiB"]),
    ]
}

/// An event of a key-value history.
const KV: &str = "{:process 0, :type :invoke, :f :get, :key \"a\", :value nil}";

/// An operation in Porcupine's format.
const OPERATION: &str = r#"{"ClientId":0,"Input":{"op":"write","value":1},"Call":5,"Output":{},"Return":9}"#;

fn porcupine_cases() -> Vec<Case> {
    let kv = |name, line: &str, expected| case(name, "map", format!("{KV}\n{line}\n"), 2, expected);
    let json = |name, line: &str, expected| case(name, "register", format!("{OPERATION}\n{line}\n"), 2, expected);
    vec![
        case("kv-vector", "map", format!("[{KV}]"), 1, &["this is not an EDN map", "one on each line"])
            .with(&["--format", "porcupine-kv"]),
        kv("kv-no-key", "{:process 1, :type :invoke, :f :get}", &["`:key` is missing", "`jepsen`"]),
        kv(
            "kv-another-key",
            "{:process 0, :type :ok, :f :get, :key \"b\"}",
            &["the key is \"b\"", "the same key on both"],
        ),
        kv("kv-two-on-a-line", &format!("{} {KV}", KV.replace('0', "1")), &["one map on each line"]),
        kv("kv-broken-line", "{:process 1, :type :invoke,\n :f :get, :key 1}", &["the line ends inside the map"]),
        kv("kv-key-float", "{:process 1, :type :invoke, :f :get, :key 1.5}", &["`key` holds 1.5", "as a string"]),
        kv("kv-prose", "Well.", &["this is not an EDN map"]),
        kv("kv-return-without-call", "{:process 1, :type :ok, :f :get, :key 1}", &["log its call first"]),
        kv("kv-unknown-operation", "{:process 1, :type :invoke, :f :frob, :key 1}", &["no operation \"frob\""]),
        json("porcupine-list", &format!("[{OPERATION}]"), &["JSON list", "jq -c"])
            .with(&["--format", "porcupine-json"]),
        case("porcupine-jsonl", "register", INVOKE, 1, &["`Input` is missing"]).with(&["--format", "porcupine-json"]),
        json("porcupine-cut-off", r#"{"ClientId":1,"Inp"#, &["cut off", "delete the line"]),
        json("porcupine-no-client", r#"{"Input":"read","Call":1}"#, &["only some lines have `ClientId`", "or on none"]),
        json("porcupine-client", r#"{"ClientId":"c","Input":"read","Call":1}"#, &["number the processes"]),
        json("porcupine-no-input", r#"{"ClientId":1,"Call":1}"#, &["`Input` is missing", "name the operation"]),
        json("porcupine-input", r#"{"ClientId":1,"Input":5,"Call":1}"#, &["an object, a list or a name", "such as"]),
        json("porcupine-no-op", r#"{"ClientId":1,"Input":{"value":5},"Call":1}"#, &["give its name in `op`"]),
        json("porcupine-op", r#"{"ClientId":1,"Input":{"op":9},"Call":1}"#, &["or 0, 1 or 2, found 9", "write a name"]),
        json("porcupine-no-call", r#"{"ClientId":1,"Input":"read","Return":9}"#, &["`Call` is missing", "\"Call\":10"]),
        json("porcupine-call", r#"{"ClientId":1,"Input":"read","Call":0.5}"#, &["`Call` must be an integer"]),
        json("porcupine-backwards", r#"{"ClientId":1,"Input":"read","Call":5,"Return":1}"#, &["check the clock"]),
        json("porcupine-overlap", r#"{"ClientId":0,"Input":"read","Call":6,"Return":7}"#, &["different processes"]),
        json("porcupine-value", r#"{"ClientId":1,"Input":{"op":"write","value":{}},"Call":1}"#, &["as a list or a"]),
        json("porcupine-output", r#"{"ClientId":1,"Input":"read","Call":1,"Output":{"x":1}}"#, &["result in `value`"]),
        json("porcupine-twice", r#"{"ClientId":1,"ClientId":1}"#, &["occurs twice", "keep one"]),
        json("porcupine-aliases", r#"{"ClientId":1,"client":1}"#, &["mean the same", "keep one"]),
    ]
}

fn event_cases() -> Vec<Case> {
    let start = r#"{"client":0,"id":1,"event":"start","op":"read"}"#;
    let event = |name, line: &str, expected| case(name, "register", format!("{start}\n{line}\n"), 2, expected);
    vec![
        case("events-jsonl", "register", r#"{"process":0,"f":"read","call":1}"#, 1, &["`event` is missing", "start"])
            .with(&["--format", "events"]),
        case(
            "events-nobody",
            "register",
            r#"{"event":"start","op":"read"}"#,
            1,
            &["`client` is missing", "name the client"],
        ),
        event("events-cut-off", r#"{"client":0,"event":"fin"#, &["cut off", "delete the line"]),
        event("events-no-event", r#"{"client":1,"op":"read"}"#, &["`event` is missing", "give start or finish"]),
        event("events-event", r#"{"client":1,"event":"pause"}"#, &["must be start or finish", "write one of these"]),
        event("events-some-clients", r#"{"id":2,"event":"start","op":"read"}"#, &["only some lines have `client`"]),
        event("events-client", r#"{"client":-1,"event":"start","op":"read"}"#, &["number the processes"]),
        event("events-no-op", r#"{"client":1,"event":"start"}"#, &["give its name in `op`"]),
        event("events-value", r#"{"client":1,"event":"start","op":"write","value":0.5}"#, &["write it as a string"]),
        event("events-id", r#"{"client":1,"id":"x","event":"start","op":"read"}"#, &["`id` must be an integer"]),
        event(
            "events-same-id",
            r#"{"client":1,"id":1,"event":"start","op":"read"}"#,
            &["give each operation an id of its own"],
        ),
        event("events-unknown-id", r#"{"client":0,"id":2,"event":"finish"}"#, &["log its start first"]),
        event(
            "events-id-of-another",
            r#"{"client":1,"id":1,"event":"finish"}"#,
            &["give the same client on both lines"],
        ),
        event("events-finish-first", r#"{"client":1,"event":"finish"}"#, &["log its call first"]),
        event("events-two-open", r#"{"client":0,"event":"start","op":"read"}"#, &["different processes"]),
        event("events-another-op", r#"{"client":0,"event":"finish","op":"write"}"#, &["its open call is `read`"]),
        event("events-result", r#"{"client":0,"event":"finish","result":{"x":{}}}"#, &["give the result in `value`"]),
    ]
}

#[test]
fn bad_files_get_exit_code_2_and_a_message_with_file_line_and_remedy() {
    let scratch = Scratch::new("bad_files");
    let all = [cases(), jepsen_cases(), log_cases(), porcupine_cases(), event_cases()].concat();
    assert!(all.len() > 150, "{}", all.len());
    // All cases are tried, so that a changed message shows all its effects.
    let wrong: Vec<String> = all.into_iter().filter_map(|case| fault_of(&scratch, case)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns a description of the problem if the message about an invalid file is not as expected.
fn fault_of(scratch: &Scratch, case: Case) -> Option<String> {
    let Case { name, spec, args, content, line, expected } = case;
    let file = scratch.file(name, content);
    let judged = run(&[&["check", "--spec", spec, "--json", &file], args].concat());
    let place = line.map_or(format!("error: {file}: "), |line| format!("error: {file}:{line}: "));
    let said = &judged.stderr;
    let good = judged.code == 2
        && said.starts_with(&place)
        && said.lines().count() == 1
        && said.len() < 600 + file.len()
        && expected.iter().all(|expected| said.contains(expected));
    if !good {
        return Some(format!("{name} should have {line:?} and {expected:?}: {judged:?}"));
    }
    let object = json(judged.stdout.trim_end());
    let good = object["file"] == file.as_str() && object["error"].is_string();
    (!good).then(|| format!("{name}: {object}"))
}

#[test]
fn a_line_of_a_gigabyte_is_refused_at_once() {
    let mut child = trueline(&["check", "--spec", "queue", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary is built");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let chunk = vec![b'a'; 1 << 16];
    let mut written = 0usize;
    while written < 1 << 30 && stdin.write_all(&chunk).is_ok() {
        written += chunk.len();
    }
    drop(stdin);
    let output = child.wait_with_output().expect("the process has started");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.starts_with("error: -:1: the line is longer than 16 MiB"), "{stderr}");
    assert!(written < 32 << 20, "it read {written} bytes");
}

#[test]
fn bad_usage_gets_exit_code_2_and_a_remedy() {
    let scratch = Scratch::new("bad_usage");
    let file = scratch.file("good.jsonl", super::ACCEPTED);
    let file = file.as_str();
    let missing = scratch.0.join("missing.jsonl");
    let missing = missing.to_str().expect("the path is UTF-8");
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
        (&["check", "--spec", "queue", "--format", "xml", file], &["jsonl, jepsen, jepsen-log, porcupine-kv"]),
        (&["check", "--spec", "queue", "--tuples", "nothing", file], &["objects, keys"]),
        (&["check", "--spec", "queue", "--tuples", "keys", "--independent", file], &["cannot be used with"]),
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
    assert!(
        judged
            .stderr
            .contains("notes.txt: skipped, because it does not look like a history; give the path of the file"),
        "{judged:?}"
    );
    let expected = format!(
        "error: {}: this directory contains no *.jsonl, *.json, *.edn, *.parquet, *.arrow or *.feather file",
        scratch.path()
    );
    assert!(judged.stderr.contains(&expected), "{judged:?}");
}

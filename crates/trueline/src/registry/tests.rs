//! Tests of all named specifications.

use super::*;
use crate::history::Shown;
use crate::history::codec::{self, Format, Source, jsonl};
use crate::judge::{Config, Judged};
use crate::verdict::{Judgment, Verdict};

fn judge(name: &str, text: &str) -> Result<Judgment<String>, NamedError> {
    let history = jsonl::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error} in {text}"));
    Ok(spec(name, Options::new())?.judge(history, &Config::new())?.judgment().clone())
}

/// Writes a history of operations that are called one after another. Each element of `operations`
/// is a pair: the function and argument, as fields of a JSON object, and the result.
fn sequential(operations: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (index, (call, result)) in operations.iter().enumerate() {
        let (from, to) = (index * 10, index * 10 + 5);
        text += &format!("{{\"process\":0,{call},\"result\":{result},\"call\":{from},\"return\":{to}}}\n");
    }
    text
}

/// Returns whether the operations are legal when they are executed one after another.
fn legal(name: &str, operations: &[(&str, &str)]) -> bool {
    let judged = judge(name, &sequential(operations)).unwrap_or_else(|error| panic!("{error} in {operations:?}"));
    match &judged.verdict {
        Verdict::Accepted(_) => true,
        Verdict::Rejected(_) => false,
        Verdict::Unknown(limit) => panic!("{limit}"),
    }
}

fn fault(name: &str, operations: &[(&str, &str)]) -> String {
    judge(name, &sequential(operations)).expect_err("the operations contain an error").to_string()
}

#[test]
fn every_operation_of_the_table_is_read() {
    let values = ["[1,[1,2]]", "1", "[1,2]", r#"["k","v"]"#, r#"[["w",1,2]]"#];
    for info in SPECS {
        let parameter = if info.parameter.starts_with(':') { ":2" } else { "" };
        let spec = spec(&format!("{}{parameter}", info.name), Options::new()).expect("the name is in the table");
        for operation in info.operations {
            for name in operation.aliases.iter().chain([&operation.name]) {
                for name in [(*name).to_owned(), format!(":{name}"), name.replace('-', "_")] {
                    let read = values.iter().find_map(|value| {
                        let text = format!(r#"{{"process":0,"type":"invoke","f":"{name}","value":{value}}}"#);
                        let history = jsonl::read(text.as_bytes()).expect("the line is well formed");
                        spec.judge(history, &Config::new()).ok()
                    });
                    let shown = read.unwrap_or_else(|| panic!("{name} of {} takes no value", info.name)).history();
                    let Shown::Record(record) = &shown.operations()[0].op else { panic!("files have records") };
                    assert_eq!(&*record.f, operation.name);
                }
            }
        }
    }
}

#[test]
fn registers() {
    let read = r#""f":"read""#;
    assert!(legal("register", &[(read, "null"), (r#""f":":w","value":7"#, "\"whatever\""), (read, "7")]));
    assert!(legal("register:0", &[(read, "0")]));
    assert!(!legal("register:0", &[(read, "\"0\"")]));
    assert!(legal("register:\"0\"", &[(read, "\"0\"")]));
    assert!(legal("register:foo", &[(read, "\"foo\"")]));
    assert!(legal("cas-register:true", &[(read, "true")]));
    let cas = r#""f":"cas","value":[1,2]"#;
    assert!(legal("cas-register:1", &[(cas, "true"), (cas, "false"), (read, "2")]));
    assert!(legal("cas-register:1", &[(cas, "[1,2]"), (read, "2")]));
    assert!(!legal("cas-register:3", &[(cas, "[1,2]")]));
    assert!(fault("cas-register", &[(cas, "null")]).contains("line 1: cas([1,2]) returned null"));
    assert!(fault("cas-register", &[(r#""f":"cas","value":1"#, "true")]).contains("needs a list of two"));
}

#[test]
fn multi_registers() {
    let both = r#""f":"txn","value":[["read","x",null],[":r","y"]]"#;
    let write = r#""f":"txn","value":[["w","x",1],["write","y",2]]"#;
    let found = |x, y| format!(r#"[["read","x",{x}],["r","y",{y}]]"#);
    assert!(legal("multi-register:0", &[(both, &found(0, 0)), (write, "null"), (both, &found(1, 2))]));
    assert!(legal("multi-register:0", &[(write, r#"[["w","x",1],["w","y",2]]"#), (both, &found(1, 2))]));
    assert!(!legal("multi-register:0", &[(write, "null"), (both, &found(1, 0))]));
    assert!(legal("multi-register", &[(both, r#"[["read","x",null],["r","y",null]]"#)]));
    assert!(fault("multi-register", &[(both, "null")]).contains("list of reads and writes"));
    assert!(fault("multi-register", &[(both, r#"[["r","x",1]]"#)]).contains("its own list"));
    assert!(fault("multi-register", &[(write, r#"[["w","x",1],["w","y",3]]"#)]).contains("its own list"));
    for bad in ["1", r#"["r","x",null]"#, r#"[["r"]]"#, r#"[["w","x"]]"#, r#"[["append","x",1]]"#, r#"[[1,2,3]]"#] {
        let call = format!(r#""f":"txn","value":{bad}"#);
        assert!(fault("multi-register", &[(&call, "null")]).contains("list of reads and writes"), "{bad}");
    }
    let history = jsonl::read(sequential(&[(both, &found(1, 1))]).as_bytes()).expect("the history is well formed");
    let spec = spec("multi-register:0", Options::new()).expect("the name is in the table");
    let judged = spec.judge(history, &Config::new()).expect("the history is well typed");
    assert_eq!(judged.history().operations()[0].op.to_string(), r#"txn([["read","x",null],["read","y",null]])"#);
    assert_eq!(judged.judgment().verdict.evidence().expect("the registers hold 0 and 0").allowed, ["[0,0]"]);
}

#[test]
fn arrays_and_cells() {
    let write = r#""f":"write","value":[2,7]"#;
    assert!(legal("array:0", &[(write, "null"), (r#""f":"read","value":2"#, "7"), (r#""f":"r","key":1"#, "0")]));
    assert!(legal("array", &[(write, "null"), (r#""f":"read","value":[2,null]"#, "[2,7]")]));
    assert!(!legal("array", &[(r#""f":"read","value":2"#, "7")]));
    assert!(fault("array", &[(r#""f":"read","value":-1"#, "7")]).contains("not negative"));
    assert!(fault("array", &[(r#""f":"write","value":["a",1]"#, "7")]).contains("use the spec `map`"));
    assert!(fault("array", &[(r#""f":"write","value":1"#, "7")]).contains("needs a key too"));
    let (set, get, init) = (r#""f":"set","value":1"#, r#""f":"get""#, r#""f":"get-or-init","value":2"#);
    assert!(legal("once-cell", &[(get, "null"), (set, "true"), (set, "false"), (init, "1"), (get, "1")]));
    assert!(!legal("once-cell", &[(init, "2"), (set, "true")]));
    assert!(fault("once-cell", &[(set, "1")]).contains("true or false"));
    assert!(fault("once-cell", &[(r#""f":"set""#, "true")]).contains("give the element"));
}

#[test]
fn counters() {
    let (add, inc, dec, read) =
        (r#""f":"add","value":5"#, r#""f":"inc""#, r#""f":":decrement","value":2"#, r#""f":"read""#);
    assert!(legal("counter", &[(add, "5"), (inc, "null"), (dec, "null"), (read, "4")]));
    assert!(legal("counter:-3", &[(read, "-3")]));
    assert!(!legal("counter", &[(add, "null"), (read, "0")]));
    assert!(fault("counter", &[(r#""f":"add""#, "null")]).contains("needs a number to add"));
    assert!(fault("counter", &[(read, "null")]).contains("must return a number"));
    let (add, inc) = (r#""f":"faa","value":5"#, r#""f":"get-and-inc""#);
    assert!(legal("fetch-add:2", &[(add, "2"), (inc, "7"), (read, "8")]));
    assert!(!legal("fetch-add", &[(inc, "0"), (inc, "0")]));
}

#[test]
fn strings_by_key() {
    let (put, append, get) =
        (r#""f":"put","key":"k","value":"a""#, r#""f":"append","value":["k","b"]"#, r#""f":"get","key":"k""#);
    assert!(legal("kv", &[(get, r#""""#), (put, "null"), (append, "\"b\""), (get, r#""ab""#)]));
    assert!(legal("kv", &[(put, "null"), (r#""f":"get","value":["k",null]"#, r#"["k","a"]"#)]));
    assert!(!legal("kv", &[(append, "null"), (put, "null"), (get, r#""ba""#)]));
    assert!(fault("kv", &[(r#""f":"put","value":["k",1]"#, "null")]).contains("holds strings"));
    assert!(fault("kv", &[(get, "null")]).contains("use the spec `map`"));
}

#[test]
fn nil_wildcard() {
    let read = r#""f":"read""#;
    let txn = r#""f":"txn","value":[["r","x",null],["r","y",null]]"#;
    let wild_txn = r#"[["r","x",5],["r","y",null]]"#;
    for (name, call, unknown, known) in [
        ("register:5", read, "null", "5"),
        ("cas-register:5", read, "null", "5"),
        ("multi-register:5", txn, wild_txn, r#"[["r","x",5],["r","y",5]]"#),
    ] {
        let spec = spec(name, Options::new().nil_wildcard(true)).expect("the specification has a wildcard");
        let text = sequential(&[(call, unknown), (call, known)]);
        let judged = spec.judge(jsonl::read(text.as_bytes()).expect("the history is well formed"), &Config::new());
        assert!(judged.expect("the history is well typed").judgment().verdict.is_accepted(), "{name}");
        assert!(!legal(name, &[(call, unknown)]));
    }
    assert!(spec("queue", Options::new().nil_wildcard(true)).is_err());
}

#[test]
fn sets() {
    let (add, remove, contains) =
        (r#""f":"add","value":1"#, r#""f":"remove","value":1"#, r#""f":"contains","value":1"#);
    assert!(legal("set", &[(add, "true"), (add, "false"), (contains, "true"), (remove, "true")]));
    assert!(legal("set", &[(add, "true"), (r#""f":"size""#, "1"), (r#""f":"clear""#, "null"), (contains, "false")]));
    assert!(!legal("set", &[(add, "false")]));
    assert!(fault("set", &[(add, "1")]).contains("must return true or false"));
    assert!(fault("set", &[(r#""f":"size""#, "-1")]).contains("not negative"));
}

#[test]
fn containers() {
    let (enqueue, dequeue, peek) = (r#""f":"enq","value":1"#, r#""f":"deq""#, r#""f":"peek""#);
    assert!(legal("queue", &[(enqueue, "1"), (peek, "1"), (dequeue, "1"), (dequeue, "null")]));
    assert!(!legal("queue", &[(dequeue, "1")]));
    assert!(fault("queue", &[(enqueue, "false")]).contains("returned false"));
    assert!(fault("queue", &[(r#""f":"enq""#, "null")]).contains("give the element"));
    let (push, pop, top) = (r#""f":"push","value":1"#, r#""f":"pop""#, r#""f":"top""#);
    assert!(legal("stack", &[(push, "null"), (top, "1"), (pop, "1"), (pop, "null")]));
    let (add, remove) = (r#""f":"add","value":1"#, r#""f":"remove-any""#);
    assert!(legal("bag", &[(add, "null"), (remove, "1"), (remove, "null")]));
}

#[test]
fn containers_that_tell_more() {
    let (enqueue, dequeue) = (r#""f":"enqueue","value":1"#, r#""f":"dequeue""#);
    assert!(legal("bounded-queue:2", &[(enqueue, "true"), (enqueue, "1"), (enqueue, "false"), (dequeue, "1")]));
    assert!(!legal("bounded-queue:1", &[(enqueue, "null"), (enqueue, "true")]));
    assert!(!legal("bounded-queue:1", &[(enqueue, "false")]));
    assert!(fault("bounded-queue:1", &[(enqueue, "7")]).contains("true or false"));
    assert!(
        fault("bounded-queue:1", &[(r#""f":"enqueue","value":false"#, "false")])
            .contains("do not use false as an element")
    );
    let (push, pop) = (r#""f":"push","value":7"#, r#""f":"pop""#);
    assert!(legal("stack-heights", &[(push, "0"), (push, "1"), (pop, "[2,7]"), (pop, "[1,7]"), (pop, "0")]));
    assert!(legal("stack-heights", &[(pop, "null"), (pop, "[0,null]")]));
    assert!(!legal("stack-heights", &[(push, "0"), (push, "1"), (pop, "[1,7]")]));
    assert!(fault("stack-heights", &[(push, "null")]).contains("not negative"));
    assert!(fault("stack-heights", &[(pop, "7")]).contains("[height value]"));
    let (add, remove, count) = (r#""f":"add","value":1"#, r#""f":"remove","value":1"#, r#""f":"count","value":1"#);
    assert!(legal("multiset", &[(add, "null"), (add, "1"), (count, "2"), (remove, "true"), (count, "1")]));
    assert!(!legal("multiset", &[(remove, "true")]));
    assert!(!legal("multiset", &[(count, "99999999999")]));
}

#[test]
fn containers_with_ends() {
    let (front, back) = (r#""f":"push-front","value":1"#, r#""f":"push_back","value":2"#);
    let pops = [(r#""f":"peek-back""#, "2"), (r#""f":"pop-front""#, "1"), (r#""f":"pop-front""#, "2")];
    assert!(legal("deque", &[&[(back, "null"), (front, "null")], &pops[..]].concat()));
    assert!(!legal("deque", &[(back, "null"), (front, "null"), (r#""f":"pop-back""#, "1")]));
    let insert = |value| format!(r#""f":"insert","value":{value}"#);
    let (nine, ten, delete) = (insert("[9,\"b\"]"), insert("[10,\"a\"]"), r#""f":"delete-min""#);
    let inserts = [(&*ten, "null"), (&*nine, "null")];
    assert!(legal("priority-queue", &[&inserts, &[(delete, "[9,\"b\"]")][..]].concat()));
    assert!(!legal("priority-queue", &[&inserts, &[(delete, "[10,\"a\"]")][..]].concat()));
    let (append, read) = (|value| format!(r#""f":"append","value":{value}"#), r#""f":"read""#);
    let (a, b, c) = (append("\"a\""), append("5"), append("6"));
    let appends = [(&*a, "0"), (&*b, "1"), (&*c, "2")];
    assert!(legal("log", &[&appends, &[(read, "[\"a\",5,6]"), (r#""f":"size""#, "3")][..]].concat()));
    assert!(!legal("log", &[&appends, &[(read, "[\"a\",6,5]")][..]].concat()));
    assert!(!legal("log", &[(&a, "1")]));
    assert!(legal("log", &[(&b, "5"), (&c, "null"), (&a, "\"a\"")]));
    assert!(!legal("log", &[(&a, "0"), (&append("0"), "0")]));
    assert!(legal("log", &[(&a, "0"), (&c, "null"), (&b, "2")]));
    assert!(fault("log", &[(read, "null")]).contains("[] if it is empty"));
    assert!(fault("log", &[(&a, "\"b\"")]).contains("not negative"));
    assert!(fault("log", &[(&a, "false")]).contains("always succeeds"));
    let judged = judge("log", &sequential(&[(&a, "0"), (read, "[]")])).expect("the history is well typed");
    assert_eq!(judged.verdict.evidence().expect("the log is not empty").allowed, ["[\"a\"]"]);
}

#[test]
fn locks() {
    let (read, write) = (r#""f":"read-lock""#, r#""f":"write-lock""#);
    let (try_read, try_write) = (r#""f":"try-read-lock""#, r#""f":"try_write_lock""#);
    let (end_read, end_write) = (r#""f":"read-unlock""#, r#""f":"write-unlock""#);
    let readers = [(read, "null"), (try_read, "true"), (try_write, "false"), (end_read, "null")];
    assert!(legal("rwlock", &[&readers, &[(end_read, "true"), (write, "true"), (end_write, "null")][..]].concat()));
    assert!(!legal("rwlock", &[&readers, &[(write, "null")][..]].concat()));
    assert!(fault("rwlock", &[(write, "false")]).contains("if it may fail, rename it to `try-write-lock`"));
    let (acquire, attempt, release) = (r#""f":"acquire""#, r#""f":"try-acquire""#, r#""f":"release""#);
    assert!(legal("semaphore:2", &[(acquire, "null"), (attempt, "true"), (attempt, "false"), (release, "null")]));
    assert!(!legal("semaphore:1", &[(acquire, "null"), (acquire, "null")]));
    assert!(legal("semaphore:0", &[(release, "null"), (acquire, "null")]));
    assert!(fault("semaphore:1", &[(attempt, "null")]).contains("true or false"));
    assert!(legal("mutex", &[(attempt, "true"), (attempt, "false"), (release, "null"), (acquire, "null")]));
    assert!(!legal("mutex:owned", &[(attempt, "false")]));
}

#[test]
fn mutexes() {
    let (acquire, release) = (r#""f":"lock""#, r#""f":"unlock""#);
    assert!(legal("mutex", &[(acquire, "null"), (release, "null"), (acquire, "true")]));
    assert!(!legal("mutex", &[(acquire, "null"), (acquire, "null")]));
    assert!(fault("mutex", &[(acquire, "false")]).contains("log a failed attempt as `fail`"));
    let other_releases = r#"{"process":0,"f":"acquire","call":1,"return":2}
                            {"process":1,"f":"release","call":3,"return":4}"#;
    let accepts = |name| judge(name, other_releases).expect("the history is well typed").verdict.is_accepted();
    assert!(accepts("mutex"));
    assert!(!accepts("mutex:owned"));
}

#[test]
fn maps() {
    let get = r#""f":"get","key":"k""#;
    assert!(legal("map", &[(get, "null"), (r#""f":"put","key":"k","value":1"#, "null"), (get, "1")]));
    assert!(legal("map", &[(r#""f":"put","value":["k",1]"#, "[\"k\",1]"), (r#""f":"get","value":"k""#, "1")]));
    assert!(legal(
        "map",
        &[(r#""f":"put","value":["k",1]"#, "null"), (r#""f":"read","value":["k",null]"#, "[\"k\",1]")]
    ));
    // The call has its key in the field `key`, not in a pair, so the pair in the result is a value.
    assert!(!legal("map", &[(r#""f":"put","value":["k",1]"#, "null"), (get, "[\"k\",1]")]));
    assert!(legal("map", &[(r#""f":"put","key":"k","value":["k",1]"#, "null"), (get, "[\"k\",1]")]));
    let absent = r#""f":"cas","key":"k","value":[null,1]"#;
    assert!(legal(
        "map",
        &[(absent, "true"), (absent, "false"), (r#""f":"cas","value":["k",1,2]"#, "true"), (get, "2")]
    ));
    assert!(legal("map", &[(absent, "true"), (r#""f":"cas","value":["k",[1,2]]"#, "[\"k\",[1,2]]"), (get, "2")]));
    assert!(legal(
        "map",
        &[(r#""f":"insert","key":"k","value":1"#, "null"), (r#""f":"remove","value":"k""#, "1"), (get, "null")]
    ));
    assert!(legal(
        "map",
        &[
            (r#""f":"get-or-insert","key":"k","value":1"#, "1"),
            (r#""f":"size""#, "1"),
            (r#""f":"delete","key":"k""#, "false"),
            (get, "null")
        ]
    ));
    assert!(fault("map", &[(r#""f":"put","value":1"#, "null")]).contains("needs a key too"));
    assert!(fault("map", &[(r#""f":"get""#, "null")]).contains("has no key"));
    assert!(fault("map", &[(r#""f":"put","key":1"#, "null")]).contains("stores null"));
}

#[test]
fn names_that_are_wrong_get_a_hint() {
    let error = |name| spec(name, Options::new()).expect_err("the name is invalid").to_string();
    assert!(error("quee").contains("did you mean `queue`?"));
    assert!(error("flux-capacitor").contains("there are register, cas-register,"));
    assert!(error("queue:3").contains("takes no parameter"));
    assert!(error("mutex:mine").contains("write mutex or mutex:owned"));
    assert!(error("register:").contains("initial value is missing"));
    assert!(error("queue:3").contains("bounded-queue:N"));
    assert!(error("bounded-queue").contains("needs its capacity; for example, write bounded-queue:3"));
    assert!(error("bounded-queue:0").contains("number that is at least 1"));
    assert!(error("semaphore").contains("needs its number of permits; for example, write semaphore:3"));
    assert!(error("semaphore:-1").contains("number that is at least 0, not `-1`"));
    assert!(error("counter:many").contains("write counter or counter:5"));
    assert!(error("deque:3").contains("takes no parameter"));
    assert!(error("register:\"a").contains("close the quote"));
    assert!(error("register:[1]").contains("neither a number nor text"));
    assert!(fault("queue", &[(r#""f":"enqeue","value":1"#, "null")]).contains("did you mean `enqueue`?"));
    assert!(fault("queue", &[(r#""f":"compare-and-set""#, "null")]).contains("`cas-register` has such an operation"));
    assert!(fault("queue", &[(r#""f":"dance""#, "null")]).contains("line 1: `queue` has no operation \"dance\""));
    assert!(fault("queue", &[(r#""f":"deq","key":1"#, "null")]).contains("this spec has no keys"));
}

#[test]
fn a_fault_of_a_result_names_the_line_of_the_return() {
    let text = r#"{"process":0,"type":"invoke","f":"add","value":1}
                  {"process":1,"type":"invoke","f":"add","value":1}
                  {"process":0,"type":"ok","f":"add","value":5}"#;
    assert_eq!(judge("set", text).expect_err("5 is not a boolean").line(), Some(3));
}

#[test]
fn named_things_can_be_sent_to_other_threads() {
    fn check<T: Send + Sync>() {}
    check::<NamedSpec>();
    check::<Box<dyn Judged>>();
    check::<NamedError>();
}

/// Judges a file in two ways, and returns both outcomes. The first way converts the records to
/// operations of the specification while reading, without keeping the records. The second way reads
/// all records before judging them.
fn both_ways(name: &str, text: &str) -> [Result<String, String>; 2] {
    let spec = spec(name, Options::new()).expect("the name is in the table");
    let shown = |judged: Box<dyn Judged + '_>| {
        format!("{:?} {:?} {:?}", judged.history(), judged.judgment().verdict, judged.history().annotations())
    };
    let mut warnings = Vec::new();
    let source = Source {
        input: &mut text.as_bytes(),
        format: Format::Auto,
        mapping: None,
        tuples: None,
        skew: 0,
        notes: &[],
        warnings: &mut warnings,
    };
    let direct = spec.read(source).and_then(|unjudged| {
        let extent = unjudged.extent();
        let judged = unjudged.judge(&Config::new())?;
        let history = judged.history();
        assert_eq!(extent, (history.len(), history.pending(), history.events().len()));
        Ok(shown(judged))
    });
    let kept = codec::read(text.as_bytes(), Format::Auto)
        .map_err(|error| error.to_string())
        .and_then(|history| spec.judge(history, &Config::new()).map(shown).map_err(|error| error.to_string()));
    [direct.map_err(|error| error.to_string()), kept]
}

#[test]
fn a_history_is_the_same_if_its_records_are_not_kept() {
    let files = [
        r#"{"process":0,"type":"invoke","f":"put","key":"k","value":1}
{"process":1,"type":"invoke","f":"get","key":"k"}
{"process":2,"type":"invoke","f":"remove","key":"j"}
{"process":2,"type":"ok","value":null}
{"type":"note","value":"meanwhile"}
{"process":0,"type":"ok","f":"put"}
{"process":2,"type":"invoke","f":"get","key":"k","value":null}
{"process":1,"type":"ok","f":"get","value":1}
{"process":2,"type":"fail","f":"get"}
{"process":1,"type":"invoke","f":"size"}
{"process":0,"type":"invoke","f":"cas","key":"k","value":[1,2]}
{"process":0,"type":"info","f":"cas"}
{"process":1,"type":"ok","value":1}
"#,
        r#"{"process":0,"f":"put","key":"k","value":1,"call":10,"return":20}
{"process":1,"f":"get","key":"k","result":1,"call":10,"return":10}
{"process":2,"f":"size","result":1,"call":20,"return":30}
{"process":0,"f":"put","key":"k","value":2,"call":20,"return":25}
{"process":1,"f":"insert","key":"k","value":3,"result":2,"call":40,"return":50}
{"process":3,"f":"delete","key":"k","call":60}
{"type":"note","value":"late","time":55}
"#,
    ];
    let mut random = crate::drive::Random::new(5);
    // Words that make lines malformed, operations unknown, or arguments and results invalid.
    let words =
        ["get", "put", "null", "1", "\"x\"", "[1]", "size", "pop", "fail", "info", "ok", "10", "20", "{", "true"];
    let (mut good, mut bad) = (0, 0);
    for round in 0..4000 {
        let mut text = files[round % files.len()].to_owned();
        for _ in 0..random.below(4) {
            let old = *random.pick(&words);
            let places: Vec<usize> = text.match_indices(old).map(|(at, _)| at).collect();
            if places.is_empty() {
                continue;
            }
            let at = *random.pick(&places);
            let new = *random.pick(&words);
            text.replace_range(at..at + old.len(), new);
        }
        for name in ["map", "kv", "register"] {
            let [direct, kept] = both_ways(name, &text);
            assert_eq!(direct, kept, "{name}: {text}");
            *(if direct.is_ok() { &mut good } else { &mut bad }) += 1;
        }
    }
    assert!(good > 400 && bad > 400, "{good} good, {bad} bad");
}

#[test]
fn the_fault_of_the_first_operation_counts() {
    for (text, expected) in [
        // The result on line 3 is invalid, too, but the operation of line 1 is the first one with
        // an error.
        (
            "{\"process\":0,\"type\":\"invoke\",\"f\":\"pop\"}\n{\"process\":1,\"type\":\"invoke\",\"f\":\"size\"}\n\
             {\"process\":1,\"type\":\"ok\",\"value\":\"x\"}\n{\"process\":0,\"type\":\"ok\"}",
            "line 1: ",
        ),
        // The operation of line 1 failed, so it is not part of the history.
        (
            "{\"process\":0,\"type\":\"invoke\",\"f\":\"pop\"}\n{\"process\":1,\"type\":\"invoke\",\"f\":\"size\"}\n\
             {\"process\":1,\"type\":\"ok\",\"value\":\"x\"}\n{\"process\":0,\"type\":\"fail\"}",
            "line 3: ",
        ),
        // An error in the format of the file takes precedence over errors in operations.
        ("{\"process\":0,\"type\":\"invoke\",\"f\":\"pop\"}\n{\"process\":0", "line 2: the file ends"),
        (
            "{\"process\":0,\"type\":\"invoke\",\"f\":\"pop\"}\n{\"process\":0,\"type\":\"ok\"}\n\
             {\"process\":0,\"type\":\"invoke\",\"f\":\"get\",\"key\":1}\n{\"process\":0,\"type\":\"ok\",\"f\":\"put\"}",
            "line 4: process 0 returns from `put`",
        ),
        // If each line contains both the call and the return of an operation, the operations are in
        // the order of their calls.
        (
            "{\"process\":0,\"f\":\"pop\",\"call\":2,\"return\":3}\n{\"process\":1,\"f\":\"push\",\"call\":1,\"return\":3}\n\
             {\"process\":2,\"f\":\"peek\",\"call\":1,\"return\":1}",
            "line 3: ",
        ),
    ] {
        let [direct, kept] = both_ways("map", text);
        assert_eq!(direct, kept);
        let fault = direct.expect_err("the file contains an error");
        assert!(fault.starts_with(expected), "{fault}");
    }
}

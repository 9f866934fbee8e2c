//! Tests `explain`. Each expected text was checked against its history by hand.

use super::{ACCEPTED, REJECTED, Scratch, json, run, run_with_input};

/// Returns the explanation of operations, each given as `process call-return operation`: the lines below "why".
fn why(spec: &str, operations: &[(u32, &str, u32, u32)]) -> Vec<String> {
    let lines: Vec<String> = operations
        .iter()
        .map(|(process, what, call, ret)| {
            // A return at time 0 means that the operation did not return.
            let ret = if *ret == 0 { "null".to_owned() } else { ret.to_string() };
            format!(r#"{{"process":{process},{what},"call":{call},"return":{ret}}}"#)
        })
        .collect();
    let judged = run_with_input(&["explain", "--json", "--spec", spec, "-"], lines.join("\n").as_bytes());
    assert_eq!(judged.code, 1, "{judged:?}");
    let object = json(&judged.stdout);
    let sentences = object["explanation"].as_array().unwrap_or_else(|| panic!("{object}"));
    sentences.iter().map(|sentence| sentence.as_str().expect("a sentence is a string").to_owned()).collect()
}

#[test]
fn a_queue_out_of_order() {
    let sentences = why(
        "queue",
        &[
            (0, r#""f":"enqueue","value":1"#, 1, 2),
            (0, r#""f":"enqueue","value":2"#, 3, 4),
            (1, r#""f":"dequeue","result":2"#, 5, 6),
        ],
    );
    assert_eq!(
        sentences,
        [
            "enqueue(1) of process 0 (line 1) returned before enqueue(2) of process 0 (line 2) was called.",
            "enqueue(1) came before enqueue(2), so that its value was in front of the one that dequeue() -> 2 of process 1 \
             (line 3) got, and nothing had taken it out: so there is no place for dequeue() -> 2.",
        ]
    );
}

#[test]
fn a_queue_that_lost_an_element() {
    let sentences =
        why("queue", &[(0, r#""f":"enqueue","value":1"#, 1, 2), (1, r#""f":"dequeue","result":null"#, 3, 4)]);
    assert_eq!(
        sentences,
        [
            "enqueue(1) of process 0 (line 1) returned before dequeue() -> null of process 1 (line 2) was called.",
            "enqueue(1) came before dequeue() -> null, which found the queue empty, but nothing had taken its value out: \
             so there is no place for dequeue() -> null.",
        ]
    );
}

#[test]
fn a_queue_that_gave_an_element_twice() {
    let sentences = why(
        "queue",
        &[
            (0, r#""f":"enqueue","value":1"#, 1, 2),
            (1, r#""f":"dequeue","result":1"#, 3, 5),
            (2, r#""f":"dequeue","result":1"#, 4, 6),
        ],
    );
    assert_eq!(
        sentences,
        [
            "dequeue() -> 1 of process 1 (line 2) and dequeue() -> 1 of process 2 (line 3) took out the same value, and only \
          enqueue(1) of process 0 (line 1) put it in: so there is no order for them."
        ]
    );
}

#[test]
fn a_stack_that_is_none() {
    let sentences = why(
        "stack",
        &[
            (0, r#""f":"push","value":1"#, 1, 2),
            (0, r#""f":"push","value":2"#, 3, 4),
            (1, r#""f":"pop","result":1"#, 5, 6),
        ],
    );
    assert_eq!(
        sentences,
        [
            "push(1) of process 0 (line 1) returned before push(2) of process 0 (line 2) was called.",
            "push(2) returned before pop() -> 1 of process 1 (line 3) was called.",
            "push(2) came between push(1) and pop() -> 1, so that its value lay on top of the one that pop() -> 1 got, and \
             nothing had taken it off: so there is no place for pop() -> 1.",
        ]
    );
}

#[test]
fn a_register_that_goes_back() {
    let sentences = why(
        "register:0",
        &[
            (0, r#""f":"write","value":1"#, 1, 2),
            (1, r#""f":"write","value":2"#, 3, 10),
            (2, r#""f":"read","result":2"#, 4, 5),
            (2, r#""f":"read","result":1"#, 6, 7),
        ],
    );
    assert_eq!(
        sentences,
        [
            "read() -> 2 of process 2 (line 3) returned before read() -> 1 of process 2 (line 4) was called.",
            "write(1) of process 0 (line 1) returned before read() -> 2 was called.",
            "read() -> 1 needs the register to hold 1; after read() -> 2 this is not the case, and no call could have brought it \
             about again (write(1) came before read() -> 2): so read() -> 1 came before read() -> 2.",
            "But read() -> 1 and read() -> 2 cannot each come before the other.",
        ]
    );
}

#[test]
fn a_swap_that_two_win() {
    let sentences = why(
        "cas-register:0",
        &[(0, r#""f":"cas","value":[0,1],"result":true"#, 1, 3), (1, r#""f":"cas","value":[0,2],"result":true"#, 2, 4)],
    );
    assert_eq!(
        sentences,
        [
            "cas([0,1]) -> true of process 0 (line 1) and cas([0,2]) -> true of process 1 (line 2) each need the register to \
          hold 0, and after each of them this is no longer the case; this was the case initially, and no call could have brought it about again: so there is no order for them."
        ]
    );
}

#[test]
fn a_set_that_forgets() {
    let sentences = why(
        "set",
        &[
            (0, r#""f":"add","value":1,"result":true"#, 1, 6),
            (1, r#""f":"contains","value":1,"result":true"#, 2, 3),
            (1, r#""f":"contains","value":1,"result":false"#, 4, 5),
        ],
    );
    assert_eq!(
        sentences,
        [
            "contains(1) -> true of process 1 (line 2) returned before contains(1) -> false of process 1 (line 3) was called.",
            "contains(1) -> false needs the set to be {} (these calls can reach no other state that allows its result); after \
             contains(1) -> true this is not the case, and no call could have brought it about again: so contains(1) -> false came before contains(1) -> true.",
            "But contains(1) -> false and contains(1) -> true cannot each come before the other.",
        ]
    );
}

#[test]
fn a_map_of_which_one_key_matters() {
    let sentences = why(
        "map",
        &[
            (0, r#""f":"put","key":"j","value":7"#, 1, 2),
            (0, r#""f":"put","key":"k","value":1"#, 3, 4),
            (1, r#""f":"get","key":"k","result":null"#, 5, 6),
        ],
    );
    assert_eq!(
        sentences,
        [
            "put(\"k\", 1) of process 0 (line 2) returned before get(\"k\") -> null of process 1 (line 3) was called.",
            "get(\"k\") -> null needs the map to be {} (these calls can reach no other state that allows its result); after \
             put(\"k\", 1) this is not the case, and no call could have brought it about again: so get(\"k\") -> null came before put(\"k\", 1).",
            "But get(\"k\") -> null and put(\"k\", 1) cannot each come before the other.",
        ]
    );
}

#[test]
fn a_mutex_with_two_holders() {
    let sentences = why("mutex", &[(0, r#""f":"acquire""#, 1, 3), (1, r#""f":"acquire""#, 2, 4)]);
    assert_eq!(
        sentences,
        [
            "acquire() of process 0 (line 1) and acquire() of process 1 (line 2) each need the lock to be free, and after each of \
          them this is no longer the case; this was the case initially, and no call could have brought it about again: so there is no order for them."
        ]
    );
}

#[test]
fn a_writer_beside_a_reader() {
    let sentences = why(
        "rwlock",
        &[
            (0, r#""f":"read-lock""#, 1, 2),
            (1, r#""f":"read-lock""#, 1, 3),
            (1, r#""f":"read-unlock""#, 4, 5),
            (2, r#""f":"write-lock""#, 6, 7),
        ],
    );
    assert_eq!(
        sentences,
        [
            "read-lock() of process 0 (line 1) returned before write-lock() of process 2 (line 4) was called.",
            "read-lock() of process 1 (line 2) returned before write-lock() was called.",
            "write-lock() needs the lock to have no readers; read-lock() of process 0 and read-lock() of process 1 each acquired the read lock \
             before it, and only read-unlock() of process 1 (line 3) could have released the read lock before it: so \
             there is no place for write-lock().",
        ]
    );
}

#[test]
fn a_semaphore_with_too_many() {
    let sentences = why("semaphore:1", &[(0, r#""f":"acquire""#, 1, 2), (1, r#""f":"acquire""#, 1, 3)]);
    assert_eq!(
        sentences,
        [
            "acquire() of process 0 (line 1) and acquire() of process 1 (line 2) each needed 1 permit and took one; there was 1 \
          permit initially, and nothing could have given one back: so there is no order for them."
        ]
    );
}

#[test]
fn all_places_of_an_operation() {
    let sentences = why(
        "log",
        &[
            (0, r#""f":"append","value":"a""#, 1, 2),
            (1, r#""f":"append","value":"b""#, 1, 3),
            (2, r#""f":"read","result":["a"]"#, 4, 5),
        ],
    );
    assert!(sentences.last().is_some_and(|last| last.contains("read() ->")), "{sentences:?}");
}

#[test]
fn a_receive_that_was_too_late() {
    let sentences = why(
        "sync-channel",
        &[
            (0, r#""f":"send","value":1"#, 1, 4),
            (1, r#""f":"receive","result":1"#, 2, 5),
            (2, r#""f":"receive","result":1"#, 3, 6),
        ],
    );
    assert_eq!(
        sentences,
        [
            "Each of receive() -> 1 of process 1 (line 2) and receive() -> 1 of process 2 (line 3) needs a partner of its own: a \
             call that overlapped it, with arguments and results that fit. So 2 partners are needed.",
            "But of the calls made before the rejected return, only send(1) of process 0 (line 1) can be a partner.",
        ]
    );
}

/// The argument begins with the second put: the first one would have allowed the result, and the map was not empty.
#[test]
fn an_argument_that_begins_with_a_call_does_not_speak_of_the_beginning() {
    let sentences = why(
        "map",
        &[
            (0, r#""f":"put","key":"a","value":15"#, 0, 1),
            (0, r#""f":"put","key":"a","value":20"#, 2, 3),
            (1, r#""f":"put","key":"a","value":23"#, 4, 9),
            (0, r#""f":"get","key":"a","result":15"#, 5, 10),
            (3, r#""f":"put","key":"a","value":25"#, 6, 12),
            (2, r#""f":"put","key":"a","value":26"#, 7, 11),
            (4, r#""f":"put","key":"a","value":27"#, 8, 13),
        ],
    );
    assert!(sentences[0].ends_with("do not matter: the explanation starts with it."), "{sentences:?}");
    assert!(!sentences.iter().any(|sentence| sentence.contains("nitially")), "{sentences:?}");
    assert!(!sentences.iter().any(|sentence| sentence.contains("no call made before")), "{sentences:?}");
    assert!(sentences[1].contains("at the start of this explanation"), "{sentences:?}");
}

/// The argument begins right after the release by process 0, not with the initial state.
#[test]
fn an_argument_that_begins_later() {
    let sentences = why(
        "mutex:owned",
        &[
            (0, r#""f":"try-acquire","result":true"#, 1, 2),
            (0, r#""f":"release""#, 3, 4),
            (0, r#""f":"acquire""#, 5, 8),
            (1, r#""f":"release""#, 6, 7),
        ],
    );
    assert!(sentences[0].ends_with("do not matter: the explanation starts right after it."), "{sentences:?}");
    assert!(!sentences.iter().any(|sentence| sentence.contains("nitially")), "{sentences:?}");
    let begin = "Right after release() of process 0, the lock is free, and it could not return at all.";
    assert!(sentences.iter().any(|sentence| sentence == begin), "{sentences:?}");
}

/// The explanation leaves out the other values of the deque, and must state this, because otherwise
/// "would return null" would be false.
#[test]
fn states_without_other_calls() {
    let sentences = why(
        "deque",
        &[
            (0, r#""f":"pop-back""#, 1, 0),
            (1, r#""f":"push-back","value":2"#, 2, 3),
            (2, r#""f":"pop-back","result":3"#, 4, 5),
        ],
    );
    assert_eq!(
        sentences,
        [
            "All other calls, with the results that they returned, make no difference, so the states below are computed without them.",
            "Initially, the state is [], whether or not pop-back() of process 0 (line 1-) took effect by then, and \
             pop-back() -> 3 of process 2 (line 3) would return null.",
        ]
    );
}

#[test]
fn a_cell_in_the_notation_of_the_file() {
    let sentences = why("once-cell", &[(0, r#""f":"set","value":1,"result":false"#, 1, 2)]);
    assert!(sentences[0].contains("initially, when the state was empty"), "{sentences:?}");
}

/// The report shows only the write of "x" of a transaction, without a result. It must not say that the transaction
/// never returned.
#[test]
fn a_call_that_is_shown_in_part_did_return() {
    let lines = r#"
        {"process":1,"f":"txn","value":[["w","x",2]],"result":[["w","x",2]],"call":0,"return":10}
        {"process":2,"f":"txn","value":[["w","x",1],["w","y",2]],"result":[["w","x",1],["w","y",2]],"call":1,"return":3}
        {"process":0,"f":"txn","value":[["w","y",1]],"result":[["w","y",1]],"call":2,"return":7}
        {"process":2,"f":"txn","value":[["w","y",1],["r","x",null]],"result":[["w","y",1],["r","x",2]],"call":6,"return":8}
        {"process":0,"f":"txn","value":[["r","x",null],["r","x",null]],"result":[["r","x",2],["r","x",null]],"call":9,"return":11}
    "#;
    let judged = run_with_input(&["explain", "--spec", "multi-register", "-"], lines.as_bytes());
    assert_eq!(judged.code, 1, "{judged:?}");
    assert!(judged.stdout.contains("only the part that matters"), "{}", judged.stdout);
    assert!(!judged.stdout.contains("never returned"), "{}", judged.stdout);
}

/// The call of the man fits the result of the woman, but the result of the man names another woman.
#[test]
fn a_partner_whose_own_result_does_not_fit() {
    let sentences = why(
        "men-women",
        &[
            (3, r#""f":"woman","result":5"#, 1, 5),
            (5, r#""f":"man","result":3"#, 2, 4),
            (4, r#""f":"woman","result":5"#, 3, 6),
        ],
    );
    let unfit = "man(5) -> 3 of process 5 (line 2) overlapped it, but the arguments and results do not fit.";
    assert!(sentences.iter().any(|sentence| sentence == unfit), "{sentences:?}");
}

/// One receive is not enough for a broadcast to two, and no other call could have been its partner.
#[test]
fn a_synchronization_that_lacks_a_call() {
    let sentences =
        why("broadcast:2", &[(0, r#""f":"send","value":2"#, 1, 3), (1, r#""f":"receive","result":2"#, 2, 4)]);
    assert_eq!(
        sentences,
        [
            "Of the other calls, only receive() -> 2 of process 1 (line 2) could have taken effect before the return of \
             send(2) of process 0 (line 1).",
            "But send(2) could not have returned then, whichever of these took effect.",
        ]
    );
}

/// Either receive may have met the send, so the report names one of them only as an example.
#[test]
fn a_stuck_partner_is_an_example() {
    let lines = r#"
        {"process":0,"f":"send","value":1,"call":1,"return":4}
        {"process":1,"f":"receive","call":2,"return":null}
        {"process":2,"f":"receive","call":3,"return":null}
    "#;
    let judged = run_with_input(&["check", "--spec", "sync-channel", "--criterion", "progress", "-"], lines.as_bytes());
    assert_eq!(judged.code, 1, "{judged:?}");
    let reason = "the calls that returned are possible only if a call that never returned took effect, such as receive() of process";
    assert!(judged.stdout.contains(reason), "{}", judged.stdout);
}

#[test]
fn allowed_results_ascend() {
    let lines = r#"
        {"process":0,"f":"add","value":9,"call":1,"return":2}
        {"process":1,"f":"add","value":1,"call":3,"return":6}
        {"process":2,"f":"read","result":5,"call":4,"return":5}
    "#;
    let judged = run_with_input(&["check", "--spec", "counter", "-"], lines.as_bytes());
    assert!(judged.stdout.contains("could only have returned 9 or 10\n"), "{}", judged.stdout);
}

#[test]
fn a_report_is_the_core_and_why() {
    let scratch = Scratch::new("explain");
    let file = scratch.file("queue.jsonl", REJECTED);
    let judged = run(&["explain", "--spec", "queue", &file]);
    assert_eq!((judged.code, judged.stderr.as_str()), (1, ""), "{judged:?}");
    let (_, below) = judged.stdout.split_once('\n').expect("the verdict has a line of its own");
    assert_eq!(
        below,
        "  dequeue() of process 1 (lines 4-6) returned 2, but could only have returned 1
  the core: no order of these calls is legal, whether or not other calls took effect:
    lines 1-2  process 0  enqueue(1) -> ok
    lines 3-5  process 0  enqueue(2) -> ok  (left out, but named in the explanation)
    lines 4-6  process 1  dequeue() -> 2
  1 call is left out: whether it took effect makes no difference
  why:
    enqueue(1) of process 0 (lines 1-2) returned before enqueue(2) of process 0 (lines 3-5) was called.
    enqueue(1) came before enqueue(2), so that its value was in front of the one that dequeue() -> 2 of
      process 1 (lines 4-6) got, and nothing had taken it out: so there is no place for dequeue() -> 2.
"
    );
}

#[test]
fn codes_are_those_of_check() {
    let accepted = run_with_input(&["explain", "--spec", "queue", "-"], ACCEPTED.as_bytes());
    assert_eq!(accepted.code, 0, "{accepted:?}");
    assert!(
        accepted.stdout.ends_with(
            "The operations could have taken effect in this order: enqueue(2), enqueue(1), dequeue() -> 2.\n"
        ),
        "{accepted:?}"
    );
    let unknown = run_with_input(
        &["explain", "--spec", "queue", "--algorithm", "brute", "--configurations", "1", "-"],
        ACCEPTED.as_bytes(),
    );
    assert_eq!(unknown.code, 3, "{unknown:?}");
    assert_eq!(run_with_input(&["explain", "--spec", "queue", "-"], b"nonsense").code, 2);
    assert_eq!(run(&["explain", "--spec", "queue", "--view", "a.html", "-"]).code, 2);
    let quiet = run_with_input(&["explain", "--quiet", "--spec", "queue", "-"], REJECTED.as_bytes());
    assert_eq!((quiet.code, quiet.stdout.as_str()), (1, ""), "{quiet:?}");
}

//! Random mutations of files, for tests of readers and for the fuzzer.

use trueline::history::RawHistory;
use trueline::history::codec::{self, CodecError, Format, Tuples, jsonl};

/// A reader, valid samples of its format, and words that may occur in such files.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) format: Format,
    pub(crate) samples: &'static [&'static str],
    pub(crate) words: &'static [&'static str],
}

const EDN_WORDS: &[&str] = &[
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "#{",
    "#_",
    "#inst ",
    "#_[",
    "#",
    "##NaN",
    "\"",
    "\\",
    "\\newline",
    "\\u0041",
    ";",
    ",",
    ":",
    ":process ",
    ":type ",
    ":f ",
    ":value ",
    ":key ",
    ":invoke",
    ":ok",
    ":fail",
    ":info",
    ":cas",
    ":nemesis",
    "nil",
    "true",
    "false",
    "0",
    "-1",
    "1.5",
    "1/2",
    "9223372036854775808",
    "0x7f",
    "12N",
    "[1 2]",
    "\"\\ud83d\\ude00\"",
    "\t",
    "INFO  jepsen.util - ",
    "jepsen.util: ",
    "\u{fffd}",
    "\0",
];

const JSON_WORDS: &[&str] = &[
    "[",
    "]",
    "{",
    "}",
    "\"",
    ",",
    ":",
    "\\",
    "\\u0041",
    "\\ud800",
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1.5",
    "1e999",
    "9223372036854775808",
    "\"process\":",
    "\"type\":",
    "\"f\":",
    "\"value\":",
    "\"result\":",
    "\"key\":",
    "\"object\":",
    "\"call\":",
    "\"return\":",
    "\"id\":",
    "\"ClientId\":",
    "\"Input\":",
    "\"Output\":",
    "\"op\":",
    "\"event\":",
    "\"invoke\"",
    "\"ok\"",
    "\"fail\"",
    "\"info\"",
    "\"start\"",
    "\"finish\"",
    "\"cas\"",
    "{\"op\":2,\"old\":1,\"new\":2}",
    "[1,[2]]",
    "\u{fffd}",
    "\0",
];

/// All readers.
pub(crate) const SUBJECTS: &[Subject] = &[
    Subject {
        name: "jsonl",
        format: Format::Jsonl,
        samples: &[
            r#"{"process":0,"type":"invoke","f":"write","value":1,"time":1.5}
{"process":1,"type":"invoke","f":"cas","value":[1,["two",true]],"key":"k\n"}
{"process":0,"type":"ok","f":"write","value":1}
{"process":"nemesis","type":"info","f":"kill","value":{"n1":0.5}}
{"process":1,"type":"info","f":"cas","value":"timed out"}
{"process":2,"type":"invoke","f":"read"}
{"process":2,"type":"fail","f":"read"}
"#,
            r#"{"process":0,"type":"invoke","f":"read","object":"a"}
{"process":1,"type":"invoke","f":"read","object":7}
{"process":0,"type":"ok","f":"read","object":"a","result":null}
"#,
            r#"{"process":1,"f":"read","result":7,"call":20,"return":30,"id":1}
{"process":0,"f":"write","value":7,"call":-5,"return":10,"id":2}
{"process":2,"f":"write","value":8,"call":25,"return":null}
"#,
        ],
        words: JSON_WORDS,
    },
    Subject {
        name: "jepsen",
        format: Format::Jepsen,
        samples: &[
            r#"; a register
[{:process 0, :type :invoke, :f :write, :value 1, :time 1.5}
 {:type :invoke :value nil :f :read :process 1 :index 1}
 {:process 2, :type :invoke, :f :cas, :value [1 2]}
 #jepsen.history.Op{:process 0, :type :ok, :f :write, :value 1}
 {:process :nemesis, :type :info, :f :kill, :value {"n1" #{0.5 \a}}}
 #_{:process 9 :type :nonsense}
 {:process 2, :type :info, :f :cas, :value :timed-out, :error ["x\n" {:code 5N}]}
 {:process 1, :type :ok, :f :read, :value 1}]
"#,
            "({:process 0 :type :invoke :f :txn :value [[:r :x nil] [:w \"y\" #{2 1}]]} {:process 0 :type :fail} {:process 0 :type :invoke :f 'x})",
            "{:process 0 :type :invoke :f :read :value [:k nil]}\n{:process 0 :type :ok :f :read :value [:k 3]}\n",
        ],
        words: EDN_WORDS,
    },
    Subject {
        name: "jepsen-log",
        format: Format::JepsenLog,
        samples: &[
            "INFO  jepsen.core - up\nINFO  jepsen.util - 0\t:invoke\t:cas\t[0 1]\nINFO  jepsen.util - 1\t:invoke\t:read\tnil\nINFO  jepsen.util - 0\t:fail\t:cas\t[0 1]\nINFO  jepsen.util - :nemesis\t:info\t:start\t\"cut\"\nINFO  jepsen.util - 1\t:ok\t:read\t5\n",
            "0\t:invoke\t:write\t1\n1\t:invoke\t:read\tnil\n0\t:info\t:write\t:timed-out\tjava.net {\n1\t:ok\t:read\tnil\n",
            "2024-01-01 12:00:00,000{GMT}\tINFO\t[jepsen worker 0] jepsen.util: 0\t:invoke\t:txn\t[[:r 1 nil]]\n",
        ],
        words: EDN_WORDS,
    },
    Subject {
        name: "porcupine-kv",
        format: Format::PorcupineKv,
        samples: &[
            "{:process 0, :type :invoke, :f :append, :key \"0\", :value \"x 0 0 y\"}\n{:process 1, :type :invoke, :f :get, :key \"0\", :value nil}\n{:process 0, :type :ok, :f :append, :key \"0\", :value \"x 0 0 y\"}\n{:process 1, :type :ok, :f :get, :key \"0\", :value \"\"}\n",
            "; kv\n{:process 3, :type :invoke, :f :put, :key 5, :value \"\"}\n{:process 3, :type :info, :f :put, :key 5}\n",
        ],
        words: EDN_WORDS,
    },
    Subject {
        name: "porcupine-json",
        format: Format::PorcupineJson,
        samples: &[
            r#"{"ClientId":0,"Input":{"op":1,"key":"k","value":"v"},"Call":10,"Output":{"value":""},"Return":20}
{"ClientId":1,"Input":{"op":"get","key":"k"},"Call":15,"Output":{"value":"v"},"Return":30,"Metadata":{"a":[1]}}
{"ClientId":2,"Input":{"op":2,"arg1":1,"arg2":2},"Call":16,"Output":{"ok":false,"exists":true,"unknown":true},"Return":30}
"#,
            r#"{"input":["cas","k",1,2],"call":1,"output":true,"return":2}
{"input":"read","call":1,"output":[1,[2,"x"]],"return_time":null}
"#,
        ],
        words: JSON_WORDS,
    },
    Subject {
        name: "events",
        format: Format::Events,
        samples: &[
            r#"{"client":0,"event":"start","op":"put","key":"k","value":"v","time":1.5}
{"client":1,"event":"call","op":{"f":"cas","old":1,"new":2}}
{"client":0,"event":"finish","op":"put"}
{"client":1,"event":"return","output":{"ok":false}}
{"client":0,"event":"begin","op":1,"value":5}
{"client":0,"event":"fail"}
"#,
            r#"{"ClientId":0,"Kind":false,"Value":{"op":1,"key":"k","value":"v"},"Id":0}
{"ClientId":0,"Kind":true,"Value":{},"Id":0}
"#,
            r#"{"id":7,"type":"start","op":["push",5]}
{"id":9,"type":"start","op":"pop"}
{"id":7,"type":"finish","value":null}
"#,
        ],
        words: JSON_WORDS,
    },
];

/// A generator of random numbers: Marsaglia's xorshift.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `below`; `below` must not be 0.
    pub(crate) fn below(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below as u64).expect("the number fits in a `usize`")
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// Returns a part of `bytes`, which is mostly short, and may be empty.
    fn range(&mut self, bytes: &[u8]) -> std::ops::Range<usize> {
        let start = self.below(bytes.len() + 1);
        let longest = if self.below(4) == 0 { bytes.len() } else { 40 };
        let length = self.below((bytes.len() - start).min(longest) + 1);
        start..start + length
    }
}

/// The maximum length of mutated inputs.
const LONGEST: usize = 1 << 16;

/// Changes `bytes` at random. `other` is another input, to take pieces from.
pub(crate) fn mutate(dice: &mut Dice, bytes: &mut Vec<u8>, other: &[u8], words: &[&str]) {
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len() + 1);
        match dice.below(12) {
            0 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            1 if at < bytes.len() => bytes[at] = u8::try_from(dice.below(256)).expect("below 256"),
            2 => bytes.truncate(at),
            3 => {
                let range = dice.range(bytes);
                bytes.drain(range);
            }
            4 => {
                let range = dice.range(bytes);
                let again = bytes[range].to_vec();
                bytes.splice(at..at, again);
            }
            5 => {
                let range = dice.range(other);
                let piece = other[range].to_vec();
                bytes.splice(at..at, piece);
            }
            6 => {
                // Joins the start of one input and the end of the other.
                bytes.truncate(at);
                bytes.extend_from_slice(&other[dice.below(other.len() + 1)..]);
            }
            7 => {
                let word = dice.of(words).repeat([1, 2, 65, 500, 5000][dice.below(5)]);
                bytes.splice(at..at, word.into_bytes());
            }
            8 => {
                // Swaps two lines.
                let mut lines: Vec<Vec<u8>> =
                    bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
                if lines.len() > 1 {
                    let (first, second) = (dice.below(lines.len()), dice.below(lines.len()));
                    lines.swap(first, second);
                }
                *bytes = lines.concat();
            }
            9 => {
                // Replaces a digit with a number.
                if let Some(found) = bytes.iter().skip(at).position(u8::is_ascii_digit) {
                    let number = ["0", "1", "-1", "4294967295", "4294967296", "-9223372036854775808", "007", "1e5"];
                    bytes.splice(at + found..at + found + 1, dice.of(&number).bytes());
                }
            }
            _ => {
                let word = dice.of(words);
                bytes.splice(at..at, word.bytes());
            }
        }
        bytes.truncate(LONGEST);
    }
}

/// Reads `bytes`, and panics if a property is violated that must hold for any input.
pub(crate) fn read(format: Format, bytes: &[u8]) -> Result<RawHistory, CodecError> {
    let read = codec::read(bytes, format);
    match &read {
        Ok(history) => {
            // A history that can be read can be written and read again.
            let mut written = Vec::new();
            jsonl::write_operations(history, &mut written).expect("writing to memory succeeds");
            let again = jsonl::read(written.as_slice()).expect("what was written can be read");
            assert_eq!(again.events(), history.events());
            for (again, operation) in again.operations().iter().zip(history.operations()) {
                assert_eq!((&again.op, &again.outcome), (&operation.op, &operation.outcome));
            }
            for tuples in [Tuples::Objects, Tuples::Keys] {
                if let Err(error) = tuples.take_apart(history.clone()) {
                    check_error(&error, bytes);
                }
            }
        }
        Err(error) => check_error(error, bytes),
    }
    read
}

fn check_error(error: &CodecError, bytes: &[u8]) {
    let message = error.message();
    assert!(!message.is_empty() && message.len() < 700, "too long: {message}");
    assert!(!message.contains(['\n', '\r', '\0', '\x1b']), "not a line: {message:?}");
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
    assert!(error.line().is_none_or(|line| (1..=lines).contains(&line)), "there are only {lines} lines: {error}");
}

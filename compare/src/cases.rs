//! The cases of the comparison. Each case has histories with their expected verdicts. It also
//! determines whether a history is split by key or judged as a whole.

use std::time::Duration;

use trueline::spec;
use trueline_bench::histories;

use crate::checkers::{self, Answer, Checker};
use crate::files;
use crate::objects;

/// A case of the comparison.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The heading of the case's table.
    pub(crate) title: String,
    /// The reason for including the case, in a sentence or two; may be empty.
    pub(crate) remark: &'static str,
    pub(crate) by_key: bool,
    /// The histories of the case. If there are several, their times are added up.
    pub(crate) histories: Vec<Source>,
    /// The time limit for each history; `None` for the default limit.
    pub(crate) limit: Option<Duration>,
}

/// The source of a history, and the expected verdict.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The words that name the history on the command line of the child process.
    pub(crate) words: Vec<String>,
    /// The expected verdict; `None` if it is not known.
    pub(crate) expected: Option<Answer>,
}

fn generated(words: &str, expected: Answer) -> Vec<Source> {
    vec![Source { words: words.split(' ').map(str::to_owned).collect(), expected: Some(expected) }]
}

fn case(title: &str, remark: &'static str, by_key: bool, histories: Vec<Source>) -> Case {
    Case { title: title.to_owned(), remark, by_key, histories, limit: None }
}

/// The title of the case with 280,000 operations on a set, judged as a whole. `BARS` sets the
/// minimum speedup of this case.
pub(crate) const SET_WHOLE: &str = "Set, 280,000 operations, whole";

/// The number of small queue histories of each length.
const QUEUES: u32 = 20;
/// The time limit for each history of a case with many histories.
pub(crate) const FOR_ONE_OF_MANY: Duration = Duration::from_secs(5);
/// The number of writes that never return, in each history of a case that has such writes.
const LOST: usize = 30;

/// Returns all cases with generated histories.
pub(crate) fn all_generated() -> Vec<Case> {
    use Answer::{Accepted, Rejected};
    let mut cases = vec![
        case(
            "Set, 280,000 operations, by key",
            "4 threads, 24 values, so 24 histories of some 11,700 operations.",
            true,
            generated("set 280000", Accepted),
        ),
        case(
            SET_WHOLE,
            "The same history, not split by key: each configuration holds a bit set of 35 kB, a bit for each operation.",
            false,
            generated("set 280000", Accepted),
        ),
        case("Set, 20,000 operations, whole", "", false, generated("set 20000", Accepted)),
        case("Set, 2,000 operations, whole", "", false, generated("set 2000", Accepted)),
    ];
    for clients in [8, 16, 32] {
        cases.push(case(
            &format!("Register, 1,000 operations, {clients} busy clients, good"),
            "",
            false,
            generated(&format!("register good {clients}"), Accepted),
        ));
        cases.push(case(
            &format!("Register, 1,000 operations, {clients} busy clients, bad"),
            "The violation is after nine tenths of the history.",
            false,
            generated(&format!("register bad {clients}"), Rejected),
        ));
    }
    for (name, expected) in [("good", Accepted), ("bad", Rejected)] {
        cases.push(case(
            &format!("Register, some 1,000 operations, 5 clients, {LOST} writes that never return, {name}"),
            "",
            false,
            generated(&format!("register-lost {name}"), expected),
        ));
    }
    for operations in [60, 100] {
        let histories = (1..=QUEUES).flat_map(|seed| generated(&format!("queue {operations} {seed}"), Accepted));
        let title = format!("Queue, {QUEUES} histories of {operations} operations, 4 busy clients");
        let remark = "The time depends heavily on which order happens to be tried first.";
        cases.push(Case { limit: Some(FOR_ONE_OF_MANY), ..case(&title, remark, false, histories.collect()) });
    }
    cases.push(case(
        "Queue, 1,000 operations, 4 busy clients",
        "No generic search decides this history within the limit, not even trueline's.",
        false,
        generated("queue 1000 1", Accepted),
    ));
    cases
}

/// Generates or reads the history that `words` name, and judges it. Runs in the child process.
pub(crate) fn run(words: &[&str], checker: Checker, by_key: bool) -> Result<(), String> {
    let number = |word: &str| word.parse::<u32>().map_err(|error| format!("{word}: {error}"));
    match *words {
        ["set", operations] => {
            let history = histories::set(number(operations)?, 1);
            checkers::run::<_, objects::Set, objects::OneOfSet>(checker, by_key, &spec::Set::new(), &history, &history);
        }
        ["register", kind @ ("good" | "bad"), clients] => {
            let make = if kind == "good" { histories::register } else { histories::bad_register };
            let history = make(1000, number(clients)?, 0, 1);
            let register = spec::Register::new(0);
            checkers::run::<_, objects::Register, objects::Register>(checker, by_key, &register, &history, &history);
        }
        ["register-lost", kind @ ("good" | "bad")] => {
            let make = if kind == "good" { histories::register } else { histories::bad_register };
            let mut candidates = (1..).map(|seed| histories::without_lost_reads(&make(1000, 5, 60, seed)));
            let history = candidates
                .find(|history| history.pending() == LOST)
                .expect("some candidate has the mean number of lost writes");
            let register = spec::Register::new(0);
            checkers::run::<_, objects::Register, objects::Register>(checker, by_key, &register, &history, &history);
        }
        ["queue", operations, seed] => {
            let history = histories::queue(number(operations)?, 4, number(seed)?.into());
            let queue = spec::Queue::new();
            checkers::run::<_, objects::Queue, objects::Queue>(checker, by_key, &queue, &history, &history);
        }
        ["etcd", path] => {
            let history = files::read_etcd(path)?;
            let register = spec::CasRegister::new(None);
            checkers::run::<_, objects::CasRegister, objects::CasRegister>(
                checker, by_key, &register, &history, &history,
            );
        }
        ["store", path] => {
            let (history, plain) = files::read_store(path)?;
            let kv = spec::Kv::new();
            checkers::run::<_, objects::Store, objects::OneOfStore>(checker, by_key, &kv, &history, &plain);
        }
        _ => return Err(format!("unknown history: {}", words.join(" "))),
    }
    Ok(())
}

//! Round-Up's tables: L. Zhang, A. Chattopadhyay and C. Wang, *Round-Up: runtime verification of quasi linearizability
//! for concurrent data structures*, tables II, III and V.
//!
//! A program has two threads with a given number of calls each. The main thread inserts values
//! before it starts the threads, and removes values after they have finished. Phase 1 runs a
//! correct object to generate all serial histories of the program. Phase 2 explores the schedules
//! of the program, and judges each history that occurs.
//!
//! The paper does not print its programs. Where it gives only the number of calls, we let each
//! thread alternate between inserting and removing. With these programs, no removal finds the
//! object empty, and all values are removed in the end. This is necessary because quasi
//! linearizability has no meaning for an execution that leaves a value in the object although
//! every legal order removes the value (section V.D of the paper).

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use trueline::drive::systematic::{Ended, Program, Search, Settings, explore};
use trueline::drive::{Behavior, Call, Clock, Handle, Instance, Kind, Timed};
use trueline::history::{Argument, Datum, History, Value};
use trueline::judge::quasi::{Factors, Optimizations, RoundUp, Semantics, SerialList};
use trueline::judge::{Budget, Config, check};
use trueline::spec::{
    PriorityQueue, PriorityQueueOp, PriorityQueueRet, Queue, QueueOp, QueueRet, Spec, Stack, StackOp, StackRet,
};
use trueline_objects::ms_queue::MsQueue;
use trueline_objects::relaxed::bk_queue::BkQueue;
use trueline_objects::relaxed::herlihy_wing_queue::HerlihyWingQueue;
use trueline_objects::relaxed::iqueue::{self, IQueue};
use trueline_objects::relaxed::k_stack::{self, KStack};
use trueline_objects::relaxed::quasi_priority_queue::{self, QuasiPriorityQueue};
use trueline_objects::relaxed::quasi_queue::{self, QuasiQueue};
use trueline_objects::relaxed::quasi_stack::{self, QuasiStack};
use trueline_objects::relaxed::rd_queue::RdQueue;
use trueline_objects::relaxed::sl_queue::{self, SlQueue};
use trueline_objects::relaxed::ubk_queue::UbkQueue;
use trueline_objects::relaxed::{Call as Calls, Collection};
use trueline_objects::treiber_stack::TreiberStack;

/// The default quasi factor.
const K: u32 = 2;

/// A row of a table.
pub(crate) struct Row {
    /// The name of the object in the paper.
    pub(crate) name: &'static str,
    make: fn(usize) -> Box<dyn Collection>,
    order: Order,
    pub(crate) factor: u32,
    /// The calls of the two threads: `i` inserts, `r` removes.
    pub(crate) threads: [&'static str; 2],
    /// The calls of the main thread, before it starts the two threads and after they have finished.
    pub(crate) main: (&'static str, &'static str),
    /// The results of the paper: the number of violating histories, the number of all histories,
    /// the number of sequentializations or permutations, and the time in seconds.
    pub(crate) paper: (u32, u32, u32, f64),
}

/// The sequential data structure that an object resembles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Queue,
    Stack,
    PriorityQueue,
}

/// An object whose operations have numbers: 0 inserts, and 1 removes.
struct Driven(Arc<dyn Collection>);

impl Instance for Driven {
    fn handle(&self, _thread: u32) -> Box<dyn Handle> {
        Box::new(Self(Arc::clone(&self.0)))
    }
}

impl Handle for Driven {
    fn call(&mut self, call: &Call, clock: Clock) -> Timed {
        let call = match call.operation {
            0 => Calls::Insert(u64::from_value(&call.argument).expect("the value is a number")),
            _ => Calls::Remove,
        };
        Timed::measure(clock, || self.0.call(call))
    }
}

/// Adapts a stack of `trueline-objects` to the interface of the other objects.
struct Treiber(TreiberStack);

impl Collection for Treiber {
    fn insert(&self, value: u64) {
        self.0.push(value);
    }

    fn remove(&self) -> Option<u64> {
        self.0.pop()
    }
}

/// Adapts a queue of `trueline-objects` to the interface of the other objects.
struct MichaelScott(MsQueue);

impl Collection for MichaelScott {
    fn insert(&self, value: u64) {
        self.0.enqueue(value);
    }

    fn remove(&self) -> Option<u64> {
        self.0.dequeue()
    }
}

impl Row {
    /// Returns the calls of the program: those of the main thread before the threads start, those
    /// of each thread, and those of the main thread after the threads have finished.
    fn calls(&self) -> (Vec<Call>, Vec<Vec<Call>>, Vec<Call>) {
        let mut next = 0_u64;
        let mut call = |inserts: bool| {
            next += u64::from(inserts);
            let argument = if inserts { next.to_value() } else { Value::Null };
            Call { operation: u32::from(!inserts), argument }
        };
        let mut all = |calls: &str| -> Vec<Call> { calls.chars().map(|letter| call(letter == 'i')).collect() };
        let before = all(self.main.0);
        let threads = self.threads.map(&mut all).to_vec();
        (before, threads, all(self.main.1))
    }

    fn program(&self) -> Program {
        let (before, threads, after) = self.calls();
        let (make, factor) = (self.make, self.factor as usize);
        Program {
            make: Arc::new(move || Arc::new(Driven(make(factor).into()))),
            kinds: Arc::from([Kind::with_unique_values("insert"), Kind::new("remove", |_| Value::Null)]),
            threads: threads.into_iter().map(Behavior::Calls).collect(),
            before,
            after,
            operations: 0,
            seed: 0,
        }
    }
}

/// The result of exploring a program.
pub(crate) struct Explored {
    pub(crate) histories: Vec<(History<Call, Value>, Ended)>,
    executions: u64,
    pub(crate) is_complete: bool,
    pub(crate) elapsed: Duration,
}

pub(crate) fn explored(row: &Row, preemptions: u32, choices: Option<u64>, time: Duration) -> Explored {
    let histories = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&histories);
    let mut settings = Settings::default();
    settings.search = Search::Preemptions(preemptions);
    settings.choices = choices;
    settings.time = Some(time);
    let judge = move |execution: &trueline::drive::systematic::Execution| {
        seen.lock()
            .expect("no thread panics while it holds the lock")
            .push((execution.history.clone(), execution.ended.clone()));
        true
    };
    let report = explore(&row.program(), &settings, Arc::new(judge));
    let histories = std::mem::take(&mut *histories.lock().expect("no thread panics while it holds the lock"));
    Explored { histories, executions: report.executions, is_complete: report.is_complete, elapsed: report.elapsed }
}

/// The result of judging the histories of a program.
#[derive(Default)]
pub(crate) struct Judged {
    pub(crate) serial: usize,
    pub(crate) wrong: usize,
    pub(crate) sequentializations: u64,
    pub(crate) permutations: u64,
    pub(crate) elapsed: Duration,
}

/// A specification whose operations and results can be converted from recorded calls and values.
trait Typed: Spec {
    fn op(call: &Call) -> Self::Op;
    fn ret(call: &Call, result: &Value) -> Self::Ret;
    fn inserts(op: &Self::Op) -> bool;
}

macro_rules! typed {
    ($spec:ty, $op:ident, $ret:ident, $insert:ident, $remove:ident) => {
        impl Typed for $spec {
            fn op(call: &Call) -> Self::Op {
                match call.operation {
                    0 => $op::$insert(u64::from_value(&call.argument).expect("the value is a number")),
                    _ => $op::$remove,
                }
            }

            fn ret(call: &Call, result: &Value) -> Self::Ret {
                match call.operation {
                    0 => $ret::Done,
                    _ => $ret::Value(Option::<u64>::from_value(result).expect("the value is a number or null")),
                }
            }

            fn inserts(op: &Self::Op) -> bool {
                matches!(op, $op::$insert(_))
            }
        }
    };
}

typed!(Queue<u64>, QueueOp, QueueRet, Enqueue, Dequeue);
typed!(Stack<u64>, StackOp, StackRet, Push, Pop);
typed!(PriorityQueue<u64>, PriorityQueueOp, PriorityQueueRet, Insert, DeleteMin);

/// Judges all histories of a program: by linearizability if `is_strict`, otherwise by quasi
/// linearizability.
fn judged<S: Typed>(spec: &S, row: &Row, explored: &Explored, is_strict: bool, optimizations: Optimizations) -> Judged {
    let started = Instant::now();
    let (before, threads, after) = row.calls();
    let ops = |calls: &[Call]| -> Vec<S::Op> { calls.iter().map(S::op).collect() };
    let threads: Vec<Vec<S::Op>> = threads.iter().map(|calls| ops(calls)).collect();
    let mut serial = SerialList::of_program(spec, &ops(&before), &threads, &ops(&after));
    if optimizations.sequences {
        serial = serial.without_duplicates();
    }
    let factors = |factor| {
        Factors::new()
            .class("insert", factor, |op: &S::Op| S::inserts(op))
            .class("remove", factor, |op: &S::Op| !S::inserts(op))
    };
    let semantics = Semantics::of_program(factors(if is_strict { 0 } else { row.factor }), &serial);
    let mut round_up = RoundUp::new(spec, &semantics, optimizations);
    let mut judged = Judged { serial: serial.len(), ..Judged::default() };
    for (history, ended) in &explored.histories {
        let typed =
            history.map(|operation| (S::op(&operation.op), operation.outcome.map(|ret| S::ret(&operation.op, ret))));
        let of_paper = round_up.check(&typed, &Budget::unlimited());
        judged.sequentializations += of_paper.stats.sequentializations;
        judged.permutations += of_paper.stats.permutations;
        let is_right = if is_strict {
            check(spec, &typed, &Config::new()).verdict.is_accepted()
        } else {
            of_paper.verdict.is_accepted()
        };
        judged.wrong += usize::from(!is_right || *ended != Ended::Complete);
    }
    judged.elapsed = started.elapsed();
    judged
}

pub(crate) fn judge(row: &Row, explored: &Explored, is_strict: bool, optimizations: Optimizations) -> Judged {
    match row.order {
        Order::Queue => judged(&Queue::new(), row, explored, is_strict, optimizations),
        Order::Stack => judged(&Stack::new(), row, explored, is_strict, optimizations),
        Order::PriorityQueue => judged(&PriorityQueue::new(), row, explored, is_strict, optimizations),
    }
}

/// The time limit for exploring a program.
const MOST: Duration = Duration::from_secs(60);
/// The time limit if the object's random choices are explored, too.
const MOST_WITH_CHOICES: Duration = Duration::from_secs(5);

/// Prints a row of the table. The program is explored twice: first with random choices that come
/// from a seed, then with all random choices of the object. Returns the result of the second
/// exploration.
fn print(row: &Row, is_strict: bool) -> Explored {
    let Row { name, threads, main, paper, factor, .. } = row;
    let by_seed = explored(row, 2, Some(1), MOST);
    let judged = judge(row, &by_seed, is_strict, Optimizations::all());
    let all = explored(row, 2, None, MOST_WITH_CHOICES);
    let of_all = judge(row, &all, is_strict, Optimizations::all());
    let is_wrong = |wrong: usize| if wrong > 0 { "yes" } else { "no" };
    let expected = if paper.0 > 0 { "yes" } else { "no" };
    let found = is_wrong(judged.wrong + of_all.wrong);
    let agrees = if expected == found { expected.to_owned() } else { format!("**{found}, not {expected}**") };
    let counted = if is_strict { judged.sequentializations } else { judged.permutations };
    let ended = if all.is_complete { "" } else { ", cut off" };
    let [of_paper, counted_by_paper, time_of_paper] = match paper {
        (_, 0, ..) => [const { String::new() }; 3],
        (wrong, all, counted, seconds) => [format!("{wrong}/{all}"), counted.to_string(), format!("{seconds:.2} s")],
    };
    println!(
        "| {name} | {factor} | {}*{}+{} | {agrees} | {} | {of_paper} | {}/{} | {} | {counted_by_paper} | {counted} | {:.3} s | {time_of_paper} | {}/{}, {:.2} s{ended} |",
        threads[0].len(),
        threads[1].len(),
        main.0.len() + main.1.len(),
        judged.serial,
        judged.wrong,
        by_seed.histories.len(),
        by_seed.executions,
        (by_seed.elapsed + judged.elapsed).as_secs_f64(),
        of_all.wrong,
        all.histories.len(),
        (all.elapsed + of_all.elapsed).as_secs_f64(),
    );
    all
}

/// Prints figures 8 and 9: how many permutations and how much time the optimizations save, on the
/// distinct histories of a program.
///
/// The paper judges each execution. Here, equal histories are judged only once, even without
/// optimizations.
fn figures(seen: &[(&Row, Explored)]) {
    println!("Figures 8 and 9\n");
    println!(
        "| object | calls | histories | permutations, plain | permutations | time, plain | time |\n|---|---|---|---|---|---|---|"
    );
    for (row, explored) in seen {
        let plain = judge(row, explored, false, Optimizations::none());
        let optimized = judge(row, explored, false, Optimizations::all());
        assert_eq!(plain.wrong, optimized.wrong, "{}: the optimization changed the verdict", row.name);
        println!(
            "| {} | {} + {} | {} | {} | {} | {:.2} ms | {:.2} ms |",
            row.name,
            row.threads[0],
            row.threads[1],
            explored.histories.len(),
            plain.permutations,
            optimized.permutations,
            plain.elapsed.as_secs_f64() * 1e3,
            optimized.elapsed.as_secs_f64() * 1e3,
        );
    }
    println!();
}

/// Prints the tables, restricted to objects whose names contain all these words.
pub(crate) fn tables(words: &[&str]) {
    for (title, is_strict, rows) in
        [("Table II", true, table_2()), ("Table III", false, table_3()), ("Table V", false, table_5())]
    {
        let counted = if is_strict { "sequentializations" } else { "permutations" };
        println!("{title}\n");
        println!(
            "| object | K | calls | violation | serial histories | wrong histories, paper | wrong histories | executions | {counted}, paper | {counted} | time | time, paper | with choices explored |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
        let rows = rows.iter().filter(|row| words.iter().all(|word| row.name.contains(word)));
        let seen: Vec<_> = rows.map(|row| (row, print(row, is_strict))).collect();
        println!();
        if title == "Table V" {
            figures(&seen);
        }
    }
}

/// Returns the calls of a program for the quasi objects: the calls of the two threads, and the
/// calls of the main thread before and after them. `calls` gives the numbers of calls, such as
/// `2*2+4`.
fn sizes(calls: &str) -> ([&'static str; 2], (&'static str, &'static str)) {
    match calls {
        "2*2+0" => (["ir", "ir"], ("", "")),
        "2*2+4" => (["ir", "ir"], ("ii", "rr")),
        "3*3+4" => (["iri", "iri"], ("i", "rrr")),
        "2*3+3" => (["ir", "iri"], ("i", "rr")),
        "3*3+2" => (["iri", "iri"], ("", "rr")),
        "3*4+1" => (["iri", "irir"], ("", "r")),
        "4*4+0" => (["irir", "irir"], ("", "")),
        other => panic!("no program has {other} calls"),
    }
}

fn row(
    name: &'static str,
    order: Order,
    calls: &str,
    make: fn(usize) -> Box<dyn Collection>,
    paper: (u32, u32, u32, f64),
) -> Row {
    let (threads, main) = sizes(calls);
    Row { name, make, order, factor: K, threads, main, paper }
}

fn quasi_queue(factor: usize) -> Box<dyn Collection> {
    Box::new(QuasiQueue::new(factor))
}

fn faulty_rows(paper: [(u32, u32, u32, f64); 8]) -> Vec<Row> {
    let [queue_1, queue_2, queue_3, stack_1, stack_2, stack, priority, priority_2] = paper;
    vec![
        row(
            "Quasi Queue b1",
            Order::Queue,
            "2*2+4",
            |factor| Box::new(QuasiQueue::faulty(factor, quasi_queue::Fault::LongSegments)),
            queue_1,
        ),
        row(
            "Quasi Queue b2",
            Order::Queue,
            "2*2+4",
            |factor| Box::new(QuasiQueue::faulty(factor, quasi_queue::Fault::RemovedTwice)),
            queue_2,
        ),
        row(
            "Quasi Queue b3",
            Order::Queue,
            "2*2+4",
            |factor| Box::new(QuasiQueue::faulty(factor, quasi_queue::Fault::EmptyAtGap)),
            queue_3,
        ),
        row(
            "Quasi Stack b1",
            Order::Stack,
            "2*2+4",
            |factor| Box::new(QuasiStack::faulty(factor, quasi_stack::Fault::EmptyOnConflict)),
            stack_1,
        ),
        row(
            "Quasi Stack b2",
            Order::Stack,
            "2*2+4",
            |factor| Box::new(QuasiStack::faulty(factor, quasi_stack::Fault::TooDeep)),
            stack_2,
        ),
        row("Quasi Stack", Order::Stack, "2*2+4", |factor| Box::new(QuasiStack::new(factor)), stack),
        // In this program, one thread only inserts, and the other only removes. Thus a value may be
        // inserted after a removal has already taken another value out of order. The inserted value
        // may then be too far from its position.
        Row {
            threads: ["ii", "rr"],
            ..row(
                "Quasi Priority Queue",
                Order::PriorityQueue,
                "2*2+4",
                |factor| Box::new(QuasiPriorityQueue::new(factor)),
                priority,
            )
        },
        Row {
            threads: ["ii", "rr"],
            ..row(
                "Quasi Priority Queue b2",
                Order::PriorityQueue,
                "2*2+4",
                |factor| Box::new(QuasiPriorityQueue::faulty(factor, quasi_priority_queue::Fault::BeyondWindow)),
                priority_2,
            )
        },
    ]
}

pub(crate) fn table_2() -> Vec<Row> {
    let mut rows = vec![
        row("IQueue", Order::Queue, "2*2+0", |_| Box::new(IQueue::faulty(iqueue::Fault::EmptyAtGap)), (2, 6, 13, 0.3)),
        row("Herlihy/Wing queue", Order::Queue, "2*2+0", |_| Box::new(HerlihyWingQueue::new()), (0, 4, 9, 0.2)),
    ];
    for (calls, paper) in [
        ("2*2+4", (16, 16, 61, 2.5)),
        ("3*3+4", (64, 64, 505, 43.7)),
        ("2*3+3", (24, 32, 169, 8.3)),
        ("3*3+2", (108, 118, 1033, 83.0)),
        ("3*4+1", (149, 198, 2260, 308.0)),
        ("4*4+0", (274, 476, 8484, 2254.0)),
    ] {
        rows.push(row("Quasi Queue", Order::Queue, calls, quasi_queue, paper));
    }
    rows.extend(faulty_rows([
        (91, 91, 409, 17.8),
        (91, 91, 409, 18.1),
        (141, 141, 653, 26.9),
        (9, 9, 34, 1.6),
        (16, 16, 61, 2.5),
        (0, 16, 61, 2.5),
        (16, 16, 61, 4.9),
        (125, 125, 532, 27.0),
    ]));
    rows
}

pub(crate) fn table_3() -> Vec<Row> {
    let mut rows = Vec::new();
    for (calls, factor, paper) in [
        ("2*2+4", 2, (0, 16, 1708, 2.9)),
        ("3*3+4", 2, (0, 64, 73_730, 333.0)),
        ("2*3+3", 2, (0, 32, 4732, 9.6)),
        ("3*3+2", 2, (0, 118, 28_924, 94.0)),
        ("3*4+1", 2, (0, 198, 63_280, 340.0)),
        ("4*4+0", 2, (0, 476, 237_552, 2456.0)),
        ("2*3+3", 3, (0, 32, 8112, 14.9)),
        ("3*3+2", 3, (0, 118, 49_584, 156.0)),
        ("3*4+1", 3, (0, 198, 108_480, 615.0)),
        ("4*4+0", 3, (0, 476, 407_232, 4172.0)),
    ] {
        rows.push(Row { factor, ..row("Quasi Queue", Order::Queue, calls, quasi_queue, paper) });
    }
    rows.extend(faulty_rows([
        (41, 91, 11_452, 20.1),
        (91, 91, 11_452, 20.2),
        (73, 141, 18_284, 31.0),
        (9, 9, 2108, 3.5),
        (6, 16, 1708, 2.8),
        (0, 16, 1708, 2.8),
        (0, 16, 1708, 4.7),
        (54, 125, 6384, 20.0),
    ]));
    rows
}

pub(crate) fn table_5() -> Vec<Row> {
    type Make = fn(usize) -> Box<dyn Collection>;
    type Paper = (u32, u32, u32, f64);
    // In Scal, k is the number of slots of a segment. Here, k is one less than this number: it is
    // the maximum distance of a value from its position. A k-stack whose segments have more slots
    // is not quasi linearizable with factor k, because a value that is pushed into a hole changes
    // the positions of other values.
    let objects: [(&'static str, Order, Make, [Paper; 3]); 8] = [
        (
            "sl-queue",
            Order::Queue,
            |_| Box::new(SlQueue::faulty(sl_queue::Fault::NoLock)),
            [(0, 2, 1032, 1.61), (1, 2, 1032, 1.78), (4, 8, 5160, 7.21)],
        ),
        (
            "t-stack",
            Order::Stack,
            |_| Box::new(Treiber(TreiberStack::new())),
            [(0, 8, 5160, 7.6), (0, 8, 5160, 7.7), (0, 8, 5160, 7.8)],
        ),
        (
            "ms-queue",
            Order::Queue,
            |_| Box::new(MichaelScott(MsQueue::new())),
            [(0, 3, 1720, 2.94), (0, 31, 20_984, 32.47), (0, 12, 7912, 12.33)],
        ),
        (
            "rd-queue",
            Order::Queue,
            |factor| Box::new(RdQueue::new(factor)),
            [(0, 5, 3096, 5.97), (0, 31, 20_984, 37.83), (0, 4, 2408, 7.31)],
        ),
        (
            "bk-queue",
            Order::Queue,
            |factor| Box::new(BkQueue::new(factor - 1, 16)),
            [(0, 29, 19_608, 34.45), (0, 41, 27_864, 50.98), (0, 24, 16_168, 28.11)],
        ),
        (
            "ubk-queue",
            Order::Queue,
            |factor| Box::new(UbkQueue::new(factor - 1)),
            [(0, 21, 14_104, 35.71), (0, 41, 27_864, 61.94), (0, 52, 35_432, 68.21)],
        ),
        (
            "k-stack",
            Order::Stack,
            |factor| Box::new(KStack::faulty(factor - 1, k_stack::Fault::SecondRead)),
            [(11, 69, 47_128, 89.0), (0, 12, 7192, 15.13), (0, 8, 5160, 9.46)],
        ),
        // The paper does not have this row, which is for the k-stack without its fault.
        (
            "k-stack, read once",
            Order::Stack,
            |factor| Box::new(KStack::new(factor - 1)),
            [(0, 0, 0, 0.0), (0, 0, 0, 0.0), (0, 0, 0, 0.0)],
        ),
    ];
    let programs =
        [(["i", "r"], ("iiiiii", "rrrrrr")), (["i", "i"], ("iiiii", "rrrrrrr")), (["r", "r"], ("iiiiiii", "rrrrr"))];
    let mut rows = Vec::new();
    for (name, order, make, papers) in objects {
        for ((threads, main), paper) in programs.into_iter().zip(papers) {
            // The fault of the k-stack can occur only if the top segment is empty.
            let main = if name.starts_with("k-stack") && threads == ["i", "r"] { ("iiiiiirr", "rrrr") } else { main };
            rows.push(Row { name, make, order, factor: K, threads, main, paper });
        }
    }
    rows
}

//! `trueline generate`: random histories of a specification, correct or with a violation.

use std::process::ExitCode;
use std::time::Duration;

use trueline::drive::Random;
use trueline::history::{Builder, Outcome, ProcessId, RawHistory, Record, Value};
use trueline::judge::{Budget, CancelToken, Config};
use trueline::registry::{self, NamedObject, NamedSpec, Options};
use trueline::verdict::{LimitKind, Verdict};

use super::{convert, in_order};
use crate::args::GenerateArgs;
use crate::input::Unreadable;
use crate::limits::{Limits, Stage};
use crate::{cancel, output, progress};

/// Maximum number of attempts to create a violation.
const TRIES: u32 = 400;
/// The time limit for judging a history with a violation; a history that takes longer is not used.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &GenerateArgs) -> ExitCode {
    let limits = Limits::start(&args.limits, &cancel::on_interrupt());
    let token = &limits.token;
    let spinner = progress::spinner(format!("generating {} operations", args.operations));
    let late = |kind| {
        output::error(Unreadable::limit(kind).message);
        3
    };
    let made = limits.watch(Stage::Judging, late, || cancel::while_busy(|| generate(args, token)));
    spinner.finish_and_clear();
    if let Some(kind) = limits.reached().filter(|kind| *kind != LimitKind::Cancelled) {
        // Do not write the incomplete history, because the limit is already reached, and writing
        // takes more time.
        return ExitCode::from(late(kind));
    }
    let is_cancelled = token.is_cancelled();
    match made {
        Ok(history) => {
            if is_cancelled {
                let (made, wanted) = (history.len(), args.operations);
                output::note(format_args!("{made} of {wanted} operations were generated"));
            }
            let limits = (!is_cancelled).then_some(&limits);
            let written = convert::write(&history, args.format.into(), args.output.as_deref(), "the history", limits);
            if is_cancelled && written == ExitCode::SUCCESS { ExitCode::from(3) } else { written }
        }
        Err(fault) => {
            output::error(fault);
            ExitCode::from(if is_cancelled { 3 } else { 2 })
        }
    }
}

fn generate(args: &GenerateArgs, token: &CancelToken) -> Result<RawHistory, String> {
    let spec = registry::spec(&args.spec, Options::new()).map_err(|fault| fault.to_string())?;
    let name = spec.name().to_owned();
    let mut random = Random::new(args.seed);
    let history = Simulation::new(&spec, args, token)?.run(&mut random)?;
    if history.is_empty() {
        return Err(format!(
            "no operation of {name} can return with {} processes; give more --processes",
            args.processes
        ));
    }
    if !args.violation {
        return Ok(history);
    }
    for _ in 0..TRIES {
        let Some(bad) = spoilt(&history, &mut random) else { break };
        if is_rejected(&spec, &bad, token) {
            return Ok(bad);
        }
        if token.is_cancelled() {
            return Err("interrupted before a violation was found; give it more time".to_owned());
        }
    }
    Err(format!(
        "no violation was found: every change that was tried left the history correct for {name}; give more \
         --operations, less --contention, or another --seed"
    ))
}

fn is_rejected(spec: &NamedSpec, history: &RawHistory, token: &CancelToken) -> bool {
    let budget = Budget::unlimited().time(PATIENCE).memory(1 << 30).cancelled_by(token.clone());
    let config = Config::new().budget(budget);
    spec.judge(history.clone(), &config).is_ok_and(|judged| matches!(judged.judgment().verdict, Verdict::Rejected(_)))
}

/// Returns the history with one result changed. The new result is the result of another operation
/// with the same name, an argument of an operation, or a value similar to the old result.
fn spoilt(history: &RawHistory, random: &mut Random) -> Option<RawHistory> {
    let returned: Vec<usize> = (0..history.len())
        .filter(|index| history.operations()[*index].outcome.result().is_some_and(|result| !result.is_null()))
        .collect();
    // Change a result that is not null. If all results are null, change any of them.
    let places = if returned.is_empty() { (0..history.len()).collect() } else { returned };
    if places.is_empty() {
        return None;
    }
    let place = *random.pick(&places);
    let operations = history.operations();
    let spoilt = &operations[place];
    let old = spoilt.outcome.result()?;
    let others: Vec<&Value> = operations
        .iter()
        .filter(|other| other.op.f == spoilt.op.f)
        .filter_map(|other| other.outcome.result())
        .filter(|result| *result != old)
        .collect();
    let arguments: Vec<&Value> = operations
        .iter()
        .map(|operation| &operation.op.value)
        .filter(|value| !value.is_null() && *value != old)
        .collect();
    let new = match random.below(3) {
        0 if !others.is_empty() => (*random.pick(&others)).clone(),
        1 if !arguments.is_empty() && !matches!(old, Value::Bool(_) | Value::List(_)) => {
            (*random.pick(&arguments)).clone()
        }
        _ => neighbor(old, random),
    };
    let mut index = 0;
    Some(history.map(|operation| {
        let outcome = match &operation.outcome {
            Outcome::Returned(_) if index == place => Outcome::Returned(new.clone()),
            outcome => outcome.clone(),
        };
        index += 1;
        (operation.op.clone(), outcome)
    }))
}

/// Returns a similar but different value.
fn neighbor(value: &Value, random: &mut Random) -> Value {
    match value {
        Value::Null => Value::Int(i64::from(random.below(1_000_000))),
        Value::Bool(value) => Value::Bool(!value),
        Value::Int(value) => Value::Int(value.wrapping_add(if random.chance(1, 2) { 1 } else { -1 })),
        Value::Text(text) => match text.char_indices().next_back() {
            Some((last, _)) => Value::from(&text[..last]),
            None => Value::from("x"),
        },
        Value::List(values) => {
            let mut values = values.to_vec();
            match values.len() {
                0 => values.push(Value::Int(1)),
                length => {
                    let place = random.below(u32::try_from(length).unwrap_or(u32::MAX)) as usize;
                    values[place] = neighbor(&values[place], random);
                }
            }
            values.into_iter().collect()
        }
    }
}

/// A simulated process.
struct Process {
    id: ProcessId,
    phase: Phase,
    /// The operation that releases what the process holds, such as a lock; `None` if the process
    /// holds nothing.
    holds: Option<&'static str>,
}

enum Phase {
    Idle,
    Called(Record),
    /// The operation has taken effect, but not returned.
    Done(Value),
}

/// An event of the simulated history.
enum Happened {
    Call(ProcessId, Record),
    Return(ProcessId, Value),
}

struct Simulation<'s> {
    name: &'static str,
    object: NamedObject<'s>,
    operations: u32,
    contention: u32,
    pending: u32,
    processes: Vec<Process>,
    next_process: u32,
    next_value: i64,
    called: u32,
    /// When this token is canceled, no more operations are called, and the open operations return.
    token: &'s CancelToken,
}

impl<'s> Simulation<'s> {
    fn new(spec: &'s NamedSpec, args: &GenerateArgs, token: &'s CancelToken) -> Result<Self, String> {
        let name = spec.info().name;
        let Some(object) = spec.object() else {
            return Err(format!(
                "histories of `{name}` cannot be generated, because its operations take several steps; give another \
                 spec"
            ));
        };
        if args.pending > args.operations {
            return Err(format!(
                "--pending {} is more than the {} operations; give fewer",
                args.pending, args.operations
            ));
        }
        let idle = |id| Process { id: ProcessId(id), phase: Phase::Idle, holds: None };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the contention must be from 0 to 1"
        )]
        let contention = (args.contention * 1000.0) as u32;
        Ok(Self {
            name: in_order(name),
            object,
            operations: args.operations,
            contention,
            pending: args.pending,
            processes: (0..args.processes).map(idle).collect(),
            next_process: args.processes,
            next_value: 0,
            called: 0,
            token,
        })
    }

    fn run(mut self, random: &mut Random) -> Result<RawHistory, String> {
        let mut events: Vec<Happened> = Vec::new();
        // Number of consecutive steps in which no process could do anything.
        let mut stuck = 0;
        while stuck < 64 {
            let of = |wanted: fn(&Phase) -> bool| {
                let places = (0..self.processes.len()).filter(|place| wanted(&self.processes[*place].phase));
                places.collect::<Vec<usize>>()
            };
            let idle = of(|phase| matches!(phase, Phase::Idle));
            let open = of(|phase| matches!(phase, Phase::Called(_)));
            let done = of(|phase| matches!(phase, Phase::Done(..)));
            let may_call = self.called < self.operations && !idle.is_empty() && !self.token.is_cancelled();
            if !may_call && open.is_empty() && done.is_empty() {
                break;
            }
            // A random idle process calls an operation, or a random busy process continues.
            let quiet = open.is_empty() && done.is_empty();
            if may_call && (quiet || stuck > 0 || random.chance(self.contention, 1000)) {
                self.call(*random.pick(&idle), random, &mut events);
                stuck = 0;
            } else if !done.is_empty() && (open.is_empty() || random.chance(1, 2)) {
                self.give_back(*random.pick(&done), &mut events);
                stuck = 0;
            } else if self.take_effect(&open, random)? {
                stuck = 0;
            } else if !done.is_empty() {
                self.give_back(*random.pick(&done), &mut events);
            } else {
                stuck += 1;
            }
        }
        self.history(events)
    }

    fn call(&mut self, place: usize, random: &mut Random, events: &mut Vec<Happened>) {
        let (id, holds) = (self.processes[place].id, self.processes[place].holds);
        let record = self.make(random, place, holds);
        events.push(Happened::Call(id, record.clone()));
        self.called += 1;
        // `never_returns` chooses at random the calls that never return. It chooses exactly
        // `pending` of the remaining calls, unless too many of them must return.
        if self.never_returns(random, &record) {
            self.pending -= 1;
            if !is_lock(self.name) && random.chance(1, 2) {
                // Half of the operations that never return take effect, if they can.
                let _ = self.object.step(&[(id, &record)], &mut |bound| below(random, bound));
            }
            self.renew(place);
        } else {
            self.processes[place].phase = Phase::Called(record);
        }
    }

    fn never_returns(&self, random: &mut Random, record: &Record) -> bool {
        let left = self.operations - self.called + 1;
        // Operations that release something must return, because other processes may be waiting for
        // the release.
        let may = !matches!(&*record.f, "release" | "read-unlock" | "write-unlock" | "resign" | "close");
        self.pending > 0 && may && random.below(left) < self.pending
    }

    /// Replaces a process with a new one, because the operation of the old process never returns.
    fn renew(&mut self, place: usize) {
        self.processes[place] = Process { id: ProcessId(self.next_process), phase: Phase::Idle, holds: None };
        self.next_process += 1;
    }

    /// Lets open operations take effect; returns whether any did.
    fn take_effect(&mut self, open: &[usize], random: &mut Random) -> Result<bool, String> {
        let calls: Vec<(ProcessId, &Record)> = open
            .iter()
            .filter_map(|place| match &self.processes[*place].phase {
                Phase::Called(record) => Some((self.processes[*place].id, record)),
                _ => None,
            })
            .collect();
        let step = self.object.step(&calls, &mut |bound| below(random, bound));
        let effects = step.map_err(|fault| fault.to_string())?;
        for (index, result) in &effects {
            let process = &mut self.processes[open[*index]];
            if let Phase::Called(record) = std::mem::replace(&mut process.phase, Phase::Idle) {
                process.holds = held(&record.f, result, process.holds);
                process.phase = Phase::Done(result.clone());
            }
        }
        Ok(!effects.is_empty())
    }

    fn give_back(&mut self, place: usize, events: &mut Vec<Happened>) {
        let process = &mut self.processes[place];
        if let Phase::Done(result) = std::mem::replace(&mut process.phase, Phase::Idle) {
            events.push(Happened::Return(process.id, result));
        }
    }

    /// Returns the history, without the calls that are stuck at the end.
    fn history(self, events: Vec<Happened>) -> Result<RawHistory, String> {
        let stuck: Vec<ProcessId> = self
            .processes
            .iter()
            .filter(|process| matches!(process.phase, Phase::Called(_)))
            .map(|process| process.id)
            .collect();
        let mut builder = Builder::new();
        for event in events {
            match event {
                Happened::Call(id, record) => builder.call(id, record).map(drop),
                Happened::Return(id, result) => builder.ret(id, result).map(drop),
            }
            .map_err(|fault| fault.to_string())?;
        }
        for id in stuck {
            builder.fail(id).map_err(|fault| fault.to_string())?;
        }
        Ok(builder.finish())
    }

    fn fresh(&mut self) -> Value {
        self.next_value += 1;
        Value::Int(self.next_value)
    }

    /// Creates the next operation of a process.
    fn make(&mut self, random: &mut Random, place: usize, holds: Option<&'static str>) -> Record {
        let plain = |f: &str, value: Value| Record { f: f.into(), key: None, value };
        let small = |random: &mut Random, bound: u32| Value::Int(i64::from(random.below(bound)));
        let list = |values: [Value; 2]| values.into_iter().collect::<Value>();
        let key = |random: &mut Random| Value::from(*random.pick(&["a", "b", "c"]));
        let keyed = |f: &str, key: Value, value: Value| Record { f: f.into(), key: Some(key), value };
        let even = place % 2 == 0;
        let me = Value::Null;
        // A process that is enrolled at a barrier usually waits at the barrier next, and resigns
        // only sometimes.
        let waits = holds == Some("resign") && random.chance(7, 10);
        if let Some(give_back) = holds.filter(|_| !waits) {
            return plain(give_back, Value::Null);
        }
        match (self.name, random.below(10)) {
            ("register", 0..=4) | ("cas-register", 0..=3) => plain("read", Value::Null),
            ("register", _) => plain("write", self.fresh()),
            ("cas-register", 4..=6) => plain("write", small(random, 4)),
            ("cas-register", _) => plain("cas", list([small(random, 4), small(random, 4)])),
            ("multi-register", _) => {
                let access = |random: &mut Random, key: &str| {
                    let (f, value) = if random.chance(1, 2) { ("r", Value::Null) } else { ("w", small(random, 9)) };
                    [Value::from(f), Value::from(key), value].into_iter().collect::<Value>()
                };
                let both = [access(random, "x"), access(random, "y")];
                plain("txn", both.into_iter().collect())
            }
            ("array", 0..=4) => keyed("read", small(random, 3), Value::Null),
            ("array", _) => keyed("write", small(random, 3), self.fresh()),
            ("once-cell", 0..=4) => plain("get", Value::Null),
            ("once-cell", 5..=7) => plain("set", self.fresh()),
            ("once-cell", _) => plain("get-or-init", self.fresh()),
            ("counter", 0..=4) => plain("add", Value::Int(1 + i64::from(random.below(9)))),
            ("fetch-add", 0..=6) => plain("fetch-add", Value::Int(1 + i64::from(random.below(3)))),
            ("counter" | "fetch-add", _) => plain("read", Value::Null),
            ("set", number) => plain(["add", "add", "remove", "contains"][number as usize % 4], small(random, 5)),
            ("multiset", number) => plain(["add", "add", "remove", "count"][number as usize % 4], small(random, 5)),
            ("map", 0..=3) => keyed("get", key(random), Value::Null),
            ("map", 4..=6) => keyed("put", key(random), self.fresh()),
            ("map", 7) => keyed("delete", key(random), Value::Null),
            ("map", 8) => keyed("get-or-insert", key(random), self.fresh()),
            ("map", _) => keyed("insert", key(random), self.fresh()),
            ("kv", 0..=3) => keyed("get", key(random), Value::Null),
            ("kv", number) => {
                let text = format!("{} ", self.next_value);
                self.next_value += 1;
                keyed(if number < 9 { "append" } else { "put" }, key(random), Value::from(&*text))
            }
            ("queue" | "bounded-queue" | "terminating-queue" | "terminating-queues", 0..=4) => {
                plain("enqueue", self.fresh())
            }
            ("queue" | "bounded-queue", 9) => plain("peek", Value::Null),
            ("queue" | "bounded-queue" | "terminating-queue" | "terminating-queues", _) => {
                plain("dequeue", Value::Null)
            }
            ("stack" | "stack-heights", 0..=4) => plain("push", self.fresh()),
            ("stack", 9) => plain("top", Value::Null),
            ("stack" | "stack-heights", _) => plain("pop", Value::Null),
            ("deque", number @ 0..=4) => plain(["push-front", "push-back"][number as usize % 2], self.fresh()),
            ("deque", number) => plain(["pop-front", "pop-back"][number as usize % 2], Value::Null),
            ("priority-queue", 0..=4) => {
                let priority = random.below(1000);
                let unique = self.fresh();
                plain("insert", list([Value::Int(i64::from(priority)), unique]))
            }
            ("priority-queue", _) => plain("delete-min", Value::Null),
            ("log", 0..=6) => plain("append", self.fresh()),
            ("log", 9) => plain("size", Value::Null),
            ("log", _) => plain("read", Value::Null),
            ("mutex" | "semaphore", 6..=9) => plain("try-acquire", Value::Null),
            ("mutex" | "semaphore", _) => plain("acquire", Value::Null),
            ("rwlock", number) => plain(
                ["read-lock", "read-lock", "try-read-lock", "write-lock", "try-write-lock"][number as usize % 5],
                Value::Null,
            ),
            ("bag", 0..=4) => plain("add", self.fresh()),
            ("bag", _) => plain("remove-any", Value::Null),
            ("closeable-channel", 9) if self.called * 2 > self.operations => plain("close", Value::Null),
            ("sync-channel" | "counter-channel" | "timeout-channel" | "closeable-channel" | "filter-channel", _)
                if even =>
            {
                plain("send", self.fresh())
            }
            ("filter-channel", 0..=6) => plain("receive", Value::Null),
            ("filter-channel", number) => plain("receive", Value::from(["even", "odd"][number as usize % 2])),
            ("broadcast", _) if place == 0 => plain("send", self.fresh()),
            ("sync-channel" | "counter-channel" | "timeout-channel" | "closeable-channel" | "broadcast", _) => {
                plain("receive", Value::Null)
            }
            ("men-women", _) => plain(if even { "man" } else { "woman" }, me),
            ("two-families", _) => plain(if even { "sync-a" } else { "sync-b" }, me),
            ("abc", _) => plain(["sync-a", "sync-b", "sync-c"][place % 3], me),
            ("exchanger" | "timeout-exchanger", _) => plain("exchange", self.fresh()),
            ("combining-barrier", _) => {
                plain("sync", list([Value::Int(i64::try_from(place).unwrap_or(0)), small(random, 9)]))
            }
            ("enrollable-barrier", _) if !waits => plain("enrol", me),
            ("one-family" | "barrier" | "enrollable-barrier", _) => plain("sync", me),
            (name, _) => plain(name, Value::Null),
        }
    }
}

fn below(random: &mut Random, bound: usize) -> usize {
    random.below(u32::try_from(bound).unwrap_or(u32::MAX).max(1)) as usize
}

fn is_lock(spec: &str) -> bool {
    matches!(spec, "mutex" | "semaphore" | "rwlock")
}

/// If a process holds something after this operation, returns the operation with which the process
/// must release it.
fn held(f: &str, result: &Value, before: Option<&'static str>) -> Option<&'static str> {
    let taken = *result != Value::Bool(false);
    match f {
        "acquire" | "try-acquire" if taken => Some("release"),
        "read-lock" | "try-read-lock" if taken => Some("read-unlock"),
        "write-lock" | "try-write-lock" if taken => Some("write-unlock"),
        "enrol" => Some("resign"),
        "release" | "read-unlock" | "write-unlock" | "resign" => None,
        _ => before,
    }
}

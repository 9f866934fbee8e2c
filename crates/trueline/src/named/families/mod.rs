//! How the operations of each specification are written in files.

mod counters;
mod locks;
mod maps;
mod queues;
mod registers;
mod relaxed;
mod sets;
mod sync;

use self::counters::{CounterFamily, FetchAddFamily};
use self::locks::{MutexFamily, RwLockFamily, SemaphoreFamily};
use self::maps::{KvFamily, MapFamily};
use self::queues::{
    BoundedQueueFamily, DequeFamily, LogFamily, PriorityQueueFamily, QueueFamily, StackFamily, StackHeightsFamily,
};
use self::registers::{ArrayFamily, CasRegisterFamily, MultiRegisterFamily, OnceCellFamily, RegisterFamily};
use self::sets::{BagFamily, MultisetFamily, SetFamily};
use super::quasi::Quasi;
use super::table::SpecInfo;
use super::{AnyFamily, Family, HistoryOf, Options, Synchronising};
use crate::history::{Record, Value};
use crate::spec::interval::Signal;
use crate::spec::sync as synchronising;
use crate::spec::{
    Array, Bag, BoundedQueue, CasRegister, Counter, Deque, DisplacementQueue, FetchAdd, Kv, Log, Map, MultiRegister,
    Multiset, Mutex, OnceCell, PriorityQueue, Queue, Register, RelaxedPriorityQueue, RelaxedQueue, RelaxedStack,
    RwLock, Semaphore, Set, Stack, StackHeights,
};

/// The family of a specification, with its parameter.
pub(super) fn family(info: &SpecInfo, parameter: Option<&str>, options: Options) -> Result<Box<dyn AnyFamily>, String> {
    let name = info.name;
    let initial = || parameter.map_or(Ok(Value::Null), |parameter| initial_value(name, parameter));
    let wildcard = options.nil_wildcard;
    let family: Box<dyn AnyFamily> = match name {
        // Only the spec with compare-and-set knows the wildcard; the table keeps `cas` out of a plain register.
        "register" if wildcard => Box::new(CasRegisterFamily(CasRegister::new(initial()?).nil_wildcard(Value::Null))),
        "register" => Box::new(RegisterFamily(Register::new(initial()?))),
        "cas-register" if wildcard => {
            Box::new(CasRegisterFamily(CasRegister::new(initial()?).nil_wildcard(Value::Null)))
        }
        "cas-register" => Box::new(CasRegisterFamily(CasRegister::new(initial()?))),
        "multi-register" if wildcard => {
            Box::new(MultiRegisterFamily(MultiRegister::new(initial()?).nil_wildcard(Value::Null)))
        }
        "multi-register" => Box::new(MultiRegisterFamily(MultiRegister::new(initial()?))),
        "array" => Box::new(ArrayFamily(Array::new(initial()?))),
        "counter" => Box::new(CounterFamily(Counter::new(initial_number(name, parameter)?))),
        "fetch-add" => Box::new(FetchAddFamily(FetchAdd::new(initial_number(name, parameter)?))),
        "bounded-queue" => {
            let capacity = amount(name, "capacity", 1, parameter)?;
            Box::new(BoundedQueueFamily(BoundedQueue::new(usize::try_from(capacity).unwrap_or(usize::MAX))))
        }
        "semaphore" => Box::new(SemaphoreFamily(Semaphore::new(amount(name, "number of permits", 0, parameter)?))),
        "mutex" => match parameter {
            None => Box::new(MutexFamily { spec: Mutex::new(), owned: false }),
            Some("owned") => Box::new(MutexFamily { spec: Mutex::new(), owned: true }),
            Some(other) => return Err(format!("`mutex` has no form `{other}`; write mutex or mutex:owned")),
        },
        "quasi-queue" => Box::new(Quasi { family: QueueFamily(Queue::new()), factor: factor(name, parameter)? }),
        "quasi-stack" => Box::new(Quasi { family: StackFamily(Stack::new()), factor: factor(name, parameter)? }),
        "quasi-priority-queue" => {
            let family = PriorityQueueFamily(PriorityQueue::new());
            Box::new(Quasi { family, factor: factor(name, parameter)? })
        }
        "k-fifo" => {
            let (k, relaxed_empty) = factor_and_empty(name, parameter)?;
            Box::new(relaxed::RelaxedQueueFamily(RelaxedQueue::k_fifo(k).relaxed_empty(relaxed_empty)))
        }
        "out-of-order-queue" => {
            let (k, relaxed_empty) = factor_and_empty(name, parameter)?;
            Box::new(relaxed::RelaxedQueueFamily(RelaxedQueue::new(k).relaxed_empty(relaxed_empty)))
        }
        "displacement-queue" => {
            Box::new(relaxed::DisplacementQueueFamily(DisplacementQueue::new(factor(name, parameter)?)))
        }
        "k-stack" => {
            let (k, relaxed_empty) = factor_and_empty(name, parameter)?;
            Box::new(relaxed::RelaxedStackFamily(RelaxedStack::new(k).relaxed_empty(relaxed_empty)))
        }
        "k-priority-queue" => {
            let (k, relaxed_empty) = factor_and_empty(name, parameter)?;
            let queue = RelaxedPriorityQueue::new(k).relaxed_empty(relaxed_empty);
            Box::new(relaxed::RelaxedPriorityQueueFamily(queue))
        }
        "barrier" => {
            Box::new(Synchronising(sync::BarrierFamily(synchronising::Barrier::new(parties(name, parameter)?))))
        }
        "combining-barrier" => {
            let barrier = synchronising::Barrier::combining(parties(name, parameter)?, synchronising::Combine::Sum);
            Box::new(Synchronising(sync::CombiningBarrierFamily(barrier)))
        }
        "terminating-queue" => {
            let queue = synchronising::TerminatingQueue::new(parties(name, parameter)?);
            Box::new(Synchronising(sync::TerminatingQueueFamily(queue)))
        }
        "terminating-queues" => {
            let queues = synchronising::TerminatingQueues::new(parties(name, parameter)?);
            Box::new(Synchronising(sync::TerminatingQueuesFamily(queues)))
        }
        "broadcast" => {
            let broadcast = synchronising::Broadcast::new(parties(name, parameter)?);
            Box::new(Synchronising(sync::BroadcastFamily(broadcast)))
        }
        name => {
            if let Some(parameter) = parameter {
                let remedy = match name {
                    "queue" => "write queue, or bounded-queue:N for one with room for N".to_owned(),
                    name => format!("write {name}"),
                };
                return Err(format!("`{name}` takes no parameter, but got `{parameter}`; {remedy}"));
            }
            match name {
                "once-cell" => Box::new(OnceCellFamily(OnceCell::new())),
                "set" => Box::new(SetFamily(Set::new())),
                "multiset" => Box::new(MultisetFamily(Multiset::new())),
                "bag" => Box::new(BagFamily(Bag::new())),
                "map" => Box::new(MapFamily(Map::new().appending(maps::append))),
                "kv" => Box::new(KvFamily(Kv::new())),
                "queue" => Box::new(QueueFamily(Queue::new())),
                "stack" => Box::new(StackFamily(Stack::new())),
                "stack-heights" => Box::new(StackHeightsFamily(StackHeights::new())),
                "deque" => Box::new(DequeFamily(Deque::new())),
                "priority-queue" => Box::new(PriorityQueueFamily(PriorityQueue::new())),
                "log" => Box::new(LogFamily(Log::new())),
                "rwlock" => Box::new(RwLockFamily(RwLock::new())),
                "sync-channel" => Box::new(Synchronising(sync::ChannelFamily(synchronising::Channel::new()))),
                "filter-channel" => Box::new(Synchronising(sync::FilterChannelFamily(synchronising::FilterChannel))),
                "men-women" => Box::new(Synchronising(sync::MenWomenFamily(synchronising::MenWomen))),
                "exchanger" => Box::new(Synchronising(sync::ExchangerFamily(synchronising::Exchanger::new()))),
                "counter-channel" => {
                    Box::new(Synchronising(sync::CounterChannelFamily(synchronising::CounterChannel::new())))
                }
                "two-families" => Box::new(Synchronising(sync::TwoFamiliesFamily(synchronising::TwoFamilies))),
                "one-family" => Box::new(Synchronising(sync::OneFamilyFamily(synchronising::OneFamily))),
                "abc" => Box::new(Synchronising(sync::AbcFamily(synchronising::Abc))),
                "enrollable-barrier" => {
                    Box::new(Synchronising(sync::EnrollableBarrierFamily(synchronising::EnrollableBarrier)))
                }
                "timeout-channel" => {
                    Box::new(Synchronising(sync::TimeoutChannelFamily(synchronising::TimeoutChannel::new())))
                }
                "timeout-exchanger" => {
                    Box::new(Synchronising(sync::TimeoutExchangerFamily(synchronising::TimeoutExchanger::new())))
                }
                "closeable-channel" => {
                    Box::new(Synchronising(sync::CloseableChannelFamily(synchronising::CloseableChannel::new())))
                }
                "signal" => Box::new(Synchronising(sync::SignalFamily(Signal))),
                name => unreachable!("{name} is in the table, but has no family"),
            }
        }
    };
    Ok(family)
}

/// By how much operations may be out of order.
fn factor(spec: &str, parameter: Option<&str>) -> Result<u32, String> {
    u32::try_from(amount(spec, "factor", 0, parameter)?).map_err(|_| format!("that is no factor; write {spec}:3 for 3"))
}

/// The same, and whether it may claim to be empty: `2` or `2:empty`.
fn factor_and_empty(spec: &str, parameter: Option<&str>) -> Result<(u32, bool), String> {
    match parameter.and_then(|parameter| parameter.split_once(':')) {
        None => Ok((factor(spec, parameter)?, false)),
        Some((k, "empty")) => Ok((factor(spec, Some(k))?, true)),
        Some((k, other)) => Err(format!("`{spec}` has no form `{k}:{other}`; write {spec}:{k} or {spec}:{k}:empty")),
    }
}

/// How many synchronise.
fn parties(spec: &str, parameter: Option<&str>) -> Result<usize, String> {
    // Not more than threads can be.
    let parties = amount(spec, "number of parties", 1, parameter)?;
    usize::try_from(parties)
        .ok()
        .filter(|parties| *parties <= 1 << 20)
        .ok_or_else(|| format!("`{spec}` of {parties} parties would never synchronise; write {spec}:3 for 3"))
}

/// The number that a counter begins with; 0 if there is no parameter.
fn initial_number(spec: &str, parameter: Option<&str>) -> Result<i64, String> {
    parameter.map_or(Ok(0), |text| {
        text.parse().map_err(|_| format!("`{spec}` begins with a number, not with `{text}`; write {spec} or {spec}:5"))
    })
}

/// A number that a specification cannot do without.
fn amount(spec: &str, what: &str, least: u64, parameter: Option<&str>) -> Result<u64, String> {
    let Some(text) = parameter else {
        return Err(format!("`{spec}` needs its {what}; write {spec}:3 for 3"));
    };
    text.parse().ok().filter(|amount| *amount >= least).ok_or_else(|| {
        format!("the {what} of `{spec}` must be a number from {least} on, not `{text}`; write {spec}:3 for 3")
    })
}

/// The initial value of a register, as people type it.
fn initial_value(spec: &str, text: &str) -> Result<Value, String> {
    Ok(match text {
        "" => return Err(format!("the initial value is missing after `{spec}:`; write {spec}:0, or {spec} for null")),
        "null" | "nil" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => {
            if let Ok(int) = text.parse() {
                Value::Int(int)
            } else if let Some(open) = text.strip_prefix('"') {
                let inner = open.strip_suffix('"').filter(|inner| !inner.contains(['"', '\\']));
                Value::from(inner.ok_or_else(|| {
                    format!("the initial value {text} is no plain string; close the quote, and do without escapes")
                })?)
            } else if text.starts_with(['[', '{']) {
                return Err(format!(
                    "the initial value {text} is neither a number nor text; write {spec}:0 or {spec}:abc"
                ));
            } else {
                Value::from(text)
            }
        }
    })
}

/// The names in the table and in the families must agree; a test holds them together.
fn not_in_table(name: &str) -> ! {
    unreachable!("{name} is in the table, but its family does not read it")
}

fn record(f: &str, value: Value) -> Record {
    Record { f: f.into(), key: None, value }
}

/// The same of an operation with a key.
fn keyed(f: &str, key: &Value, value: Value) -> Record {
    Record { f: f.into(), key: Some(key.clone()), value }
}

fn pair(first: &Value, second: &Value) -> Value {
    [first.clone(), second.clone()].into_iter().collect()
}

/// What a result that says nothing is shown as.
const DONE: &str = "ok";

fn show_option(value: Option<&Value>) -> String {
    value.map_or_else(|| Value::Null.to_string(), Value::to_string)
}

fn without_key(record: &Record) -> Result<&Value, String> {
    match &record.key {
        None => Ok(&record.value),
        Some(_) => Err(format!(
            "{record} has a `key`, but this spec has no keys; call the field `object` if each key is an object of its own, or use the spec `map`"
        )),
    }
}

/// An element that goes into a container whose null means empty.
fn element(record: &Record) -> Result<Value, String> {
    let value = without_key(record)?;
    if value.is_null() {
        return Err(format!(
            "`{}` has no element: its `value` is null or missing, and null means empty; give the element in `value`",
            record.f
        ));
    }
    Ok(value.clone())
}

/// The result of an operation that may fail elsewhere (a full queue, a lock not taken) but not here: anything but a
/// `false` that is not the argument said again.
fn done(record: &Record, result: &Value) -> Result<(), String> {
    if *result == Value::Bool(false) && record.value != *result {
        return Err(format!(
            "{record} returned false, but in this spec it always succeeds; log what did not happen as `fail`, or leave it out"
        ));
    }
    Ok(())
}

fn whether(record: &Record, result: &Value) -> Result<bool, String> {
    match result {
        Value::Bool(value) => Ok(*value),
        other => Err(format!(
            "{record} returned {}, but must return true or false; give that as the `result` of the return",
            brief(other)
        )),
    }
}

/// Whether a compare-and-set succeeded; logs often say its argument again when it did.
fn swapped(record: &Record, result: &Value) -> Result<bool, String> {
    if matches!(result, Value::List(_)) && *result == record.value { Ok(true) } else { whether(record, result) }
}

fn size(record: &Record, result: &Value) -> Result<usize, String> {
    result.as_int().and_then(|size| usize::try_from(size).ok()).ok_or_else(|| {
        format!(
            "{record} returned {}, but must return a number that is not negative; give that as the `result` of the return",
            brief(result)
        )
    })
}

fn brief(value: &Value) -> String {
    let mut text = value.to_string();
    if let Some((end, _)) = text.char_indices().nth(40) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

fn element_or_empty(result: &Value) -> Option<Value> {
    (!result.is_null()).then(|| result.clone())
}

/// `[old new]`.
fn old_and_new(record: &Record, value: &Value) -> Result<(Value, Value), String> {
    match value {
        Value::List(values) if values.len() == 2 => Ok((values[0].clone(), values[1].clone())),
        other => Err(format!(
            "`{}` has the argument {}, but needs a list of two, the old value and the new one; write \"value\":[1,2]",
            record.f,
            brief(other)
        )),
    }
}

/// The key and the rest of the argument.
///
/// Without the field `key`, the argument is `[key rest]`; of an operation that needs nothing but a key, it is the key,
/// or `[key null]` as Jepsen's independent tests have it.
fn key_and_rest(record: &Record, only_key: bool) -> Result<(Value, Value), String> {
    if let Some(key) = &record.key {
        return Ok((key.clone(), record.value.clone()));
    }
    if let Some((key, rest)) = tuple(&record.value) {
        if !only_key || rest.is_null() {
            return Ok((key.clone(), rest.clone()));
        }
    }
    if !only_key {
        return Err(format!(
            "`{}` has the argument {}, but needs a key too; give it in the field `key`, or write \"value\":[key, ..]",
            record.f,
            brief(&record.value)
        ));
    }
    if record.value.is_null() {
        return Err(format!("`{}` has no key; give it in the field `key` or in `value`", record.f));
    }
    Ok((record.value.clone(), Value::Null))
}

fn tuple(value: &Value) -> Option<(&Value, &Value)> {
    match value {
        Value::List(values) if values.len() == 2 => Some((&values[0], &values[1])),
        _ => None,
    }
}

/// A result of an operation with a key: as it is, or the value of `[key value]` if the key came that way.
fn untupled<'result>(record: &Record, key: &Value, result: &'result Value) -> &'result Value {
    let came_in_a_tuple = record.key.is_none() && tuple(&record.value).is_some_and(|(first, _)| first == key);
    match tuple(result) {
        Some((first, value)) if came_in_a_tuple && first == key => value,
        _ => result,
    }
}

//! The notation in files of each specification's operations.

mod counters;
mod locks;
mod maps;
mod queues;
mod registers;
mod sets;
mod sync;

use std::fmt::Debug;
use std::marker::PhantomData;

use super::quasi::Quasi;
use super::table::SpecInfo;
use super::{AnyFamily, Family, Options, Settle, Settled, SyncFamily, Synchronising, Typed, Written};
use crate::history::{Record, Value};
use crate::spec::interval::Signal;
use crate::spec::sync as synchronising;
use crate::spec::{
    Array, Bag, BoundedQueue, CasRegister, ContainerRet, Counter, Deque, DisplacementQueue, FetchAdd, Kv, Log, Map,
    MultiRegister, Multiset, Mutex, OnceCell, PriorityQueue, Queue, Register, RelaxedPriorityQueue, RelaxedQueue,
    RelaxedStack, RwLock, Semaphore, Set, Spec, Stack, StackHeights,
};

/// The family of a specification whose operations have the notation of `W`.
#[derive(Debug)]
struct Of<S: Spec, W = S> {
    spec: S,
    /// The function that [`Family::settle`] returns.
    settle: Option<Settle<S>>,
    process_matters: bool,
    written: PhantomData<fn() -> W>,
}

impl<S: Spec, W> Of<S, W> {
    fn new(spec: S) -> Self {
        Self { spec, settle: None, process_matters: false, written: PhantomData }
    }
}

impl<S, W> Family for Of<S, W>
where
    S: Typed + Debug + Send + 'static,
    W: Written<Op = S::Op, Ret = S::Ret> + Debug + 'static,
{
    type Spec = S;
    type Written = W;

    fn spec(&self) -> &S {
        &self.spec
    }

    fn process_matters(&self) -> bool {
        self.process_matters
    }

    fn settle(&self) -> Option<Settle<S>> {
        self.settle
    }
}

/// Returns the family of a specification that has a notation of its own.
fn of<S: Written + Typed + Debug + Send + 'static>(spec: S) -> Box<dyn AnyFamily> {
    Box::new(Of::<S>::new(spec))
}

/// Returns the family of a specification for which some questions depend on the whole history.
fn settled<S: Written + Typed + Debug + Send + 'static>(spec: S, settle: Settle<S>) -> Box<dyn AnyFamily> {
    Box::new(Of::<S> { settle: Some(settle), ..Of::new(spec) })
}

/// Returns the family of a relaxed specification that has the notation of the strict one.
fn like<W, S>(spec: S) -> Box<dyn AnyFamily>
where
    S: Typed + Debug + Send + 'static,
    W: Written<Op = S::Op, Ret = S::Ret> + Debug + 'static,
{
    Box::new(Of::<S, W>::new(spec))
}

/// Returns the family of a specification whose operations may be out of order by this factor.
fn quasi<S: Written + Typed + Debug + Send + 'static>(spec: S, factor: u32) -> Box<dyn AnyFamily> {
    Box::new(Quasi { family: Of::<S>::new(spec), factor })
}

/// Returns the family of a specification whose operations wait for each other.
fn waiting<F: SyncFamily>(family: F) -> Box<dyn AnyFamily> {
    Box::new(Synchronising(family))
}

/// Returns the family of a specification, with its parameter.
pub(super) fn family(info: &SpecInfo, parameter: Option<&str>, options: Options) -> Result<Box<dyn AnyFamily>, String> {
    let name = info.name;
    let initial = || parameter.map_or(Ok(Value::Null), |parameter| initial_value(name, parameter));
    let wildcard = options.nil_wildcard;
    let parties = || parties(name, parameter);
    let family: Box<dyn AnyFamily> = match name {
        // Only the specification with compare-and-set supports the wildcard; the table keeps `cas` out of a plain
        // register.
        "register" if wildcard => of(CasRegister::new(initial()?).nil_wildcard(Value::Null)),
        "register" => of(Register::new(initial()?)),
        "cas-register" if wildcard => of(CasRegister::new(initial()?).nil_wildcard(Value::Null)),
        "cas-register" => of(CasRegister::new(initial()?)),
        "multi-register" if wildcard => of(MultiRegister::new(initial()?).nil_wildcard(Value::Null)),
        "multi-register" => of(MultiRegister::new(initial()?)),
        "array" => of(Array::new(initial()?)),
        "counter" => settled(Counter::new(initial_number(name, parameter)?), counters::settle_counter),
        "fetch-add" => settled(FetchAdd::new(initial_number(name, parameter)?), counters::settle_fetch_add),
        "bounded-queue" => {
            let capacity = amount(name, "capacity", 1, parameter)?;
            of(BoundedQueue::new(usize::try_from(capacity).unwrap_or(usize::MAX)))
        }
        "semaphore" => of(Semaphore::new(amount(name, "number of permits", 0, parameter)?)),
        "mutex" => match parameter {
            None => of(Mutex::new()),
            Some("owned") => Box::new(Of::<Mutex> { process_matters: true, ..Of::new(Mutex::new()) }),
            Some(other) => return Err(format!("`mutex` has no form `{other}`; write mutex or mutex:owned")),
        },
        "quasi-queue" => quasi(Queue::new(), factor(name, parameter)?),
        "quasi-stack" => quasi(Stack::new(), factor(name, parameter)?),
        "quasi-priority-queue" => quasi(PriorityQueue::new(), factor(name, parameter)?),
        "k-fifo" => {
            let (k, relaxed_empty) = factor_and_empty(name, parameter)?;
            like::<Queue<Value>, _>(RelaxedQueue::k_fifo(k).relaxed_empty(relaxed_empty))
        }
        "out-of-order-queue" => {
            let (k, relaxed_empty) = factor_and_empty(name, parameter)?;
            like::<Queue<Value>, _>(RelaxedQueue::new(k).relaxed_empty(relaxed_empty))
        }
        "displacement-queue" => like::<Queue<Value>, _>(DisplacementQueue::new(factor(name, parameter)?)),
        "k-stack" => {
            let (k, relaxed_empty) = factor_and_empty(name, parameter)?;
            like::<Stack<Value>, _>(RelaxedStack::new(k).relaxed_empty(relaxed_empty))
        }
        "k-priority-queue" => {
            let (k, relaxed_empty) = factor_and_empty(name, parameter)?;
            like::<PriorityQueue<Value>, _>(RelaxedPriorityQueue::new(k).relaxed_empty(relaxed_empty))
        }
        "barrier" => waiting(sync::BarrierFamily(synchronising::Barrier::new(parties()?))),
        "combining-barrier" => {
            let barrier = synchronising::Barrier::combining(parties()?, synchronising::Combine::Sum);
            waiting(sync::CombiningBarrierFamily(barrier))
        }
        "terminating-queue" => waiting(sync::TerminatingQueueFamily(synchronising::TerminatingQueue::new(parties()?))),
        "terminating-queues" => {
            waiting(sync::TerminatingQueuesFamily(synchronising::TerminatingQueues::new(parties()?)))
        }
        "broadcast" => waiting(sync::BroadcastFamily(synchronising::Broadcast::new(parties()?))),
        name => {
            if let Some(parameter) = parameter {
                let remedy = match name {
                    "queue" => "write queue, or bounded-queue:N for one with room for N".to_owned(),
                    name => format!("write {name}"),
                };
                return Err(format!("`{name}` takes no parameter, but got `{parameter}`; {remedy}"));
            }
            match name {
                "once-cell" => of(OnceCell::new()),
                "set" => of(Set::new()),
                "multiset" => of(Multiset::new()),
                "bag" => of(Bag::new()),
                "map" => of(Map::new().appending(maps::append)),
                "kv" => of(Kv::new()),
                "queue" => of(Queue::new()),
                "stack" => of(Stack::new()),
                "stack-heights" => of(StackHeights::new()),
                "deque" => of(Deque::new()),
                "priority-queue" => of(PriorityQueue::new()),
                "log" => settled(Log::new(), queues::settle_log),
                "rwlock" => of(RwLock::new()),
                "sync-channel" => waiting(sync::ChannelFamily(synchronising::Channel::new())),
                "filter-channel" => waiting(sync::FilterChannelFamily(synchronising::FilterChannel)),
                "men-women" => waiting(sync::MenWomenFamily(synchronising::MenWomen)),
                "exchanger" => waiting(sync::ExchangerFamily(synchronising::Exchanger::new())),
                "counter-channel" => waiting(sync::CounterChannelFamily(synchronising::CounterChannel::new())),
                "two-families" => waiting(sync::TwoFamiliesFamily(synchronising::TwoFamilies)),
                "one-family" => waiting(sync::OneFamilyFamily(synchronising::OneFamily)),
                "abc" => waiting(sync::AbcFamily(synchronising::Abc)),
                "enrollable-barrier" => waiting(sync::EnrollableBarrierFamily(synchronising::EnrollableBarrier)),
                "timeout-channel" => waiting(sync::TimeoutChannelFamily(synchronising::TimeoutChannel::new())),
                "timeout-exchanger" => waiting(sync::TimeoutExchangerFamily(synchronising::TimeoutExchanger::new())),
                "closeable-channel" => waiting(sync::CloseableChannelFamily(synchronising::CloseableChannel::new())),
                "signal" => waiting(sync::SignalFamily(Signal)),
                name => unreachable!("{name} is in the table, but has no family"),
            }
        }
    };
    Ok(family)
}

/// Reads the distance by which operations may be out of order.
fn factor(spec: &str, parameter: Option<&str>) -> Result<u32, String> {
    u32::try_from(amount(spec, "factor", 0, parameter)?)
        .map_err(|_| format!("that is not a factor; write {spec}:3 for 3"))
}

/// Reads this factor, and whether the object may spuriously report that it is empty: `2` or `2:empty`.
fn factor_and_empty(spec: &str, parameter: Option<&str>) -> Result<(u32, bool), String> {
    match parameter.and_then(|parameter| parameter.split_once(':')) {
        None => Ok((factor(spec, parameter)?, false)),
        Some((k, "empty")) => Ok((factor(spec, Some(k))?, true)),
        Some((k, other)) => Err(format!("`{spec}` has no form `{k}:{other}`; write {spec}:{k} or {spec}:{k}:empty")),
    }
}

/// Reads the number of parties that synchronize.
fn parties(spec: &str, parameter: Option<&str>) -> Result<usize, String> {
    // More threads than this are not possible.
    let parties = amount(spec, "number of parties", 1, parameter)?;
    usize::try_from(parties)
        .ok()
        .filter(|parties| *parties <= 1 << 20)
        .ok_or_else(|| format!("`{spec}` of {parties} parties would never synchronize; write {spec}:3 for 3"))
}

/// Reads the initial number of a counter; 0 if there is no parameter.
fn initial_number(spec: &str, parameter: Option<&str>) -> Result<i64, String> {
    parameter.map_or(Ok(0), |text| {
        text.parse().map_err(|_| format!("`{spec}` begins with a number, not with `{text}`; write {spec} or {spec}:5"))
    })
}

/// Reads a number that a specification requires.
fn amount(spec: &str, what: &str, least: u64, parameter: Option<&str>) -> Result<u64, String> {
    let Some(text) = parameter else {
        return Err(format!("`{spec}` needs its {what}; write {spec}:3 for 3"));
    };
    text.parse().ok().filter(|amount| *amount >= least).ok_or_else(|| {
        format!("the {what} of `{spec}` must be a number that is at least {least}, not `{text}`; write {spec}:3 for 3")
    })
}

/// Reads the initial value of a register, as users type it.
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
                    format!("the initial value {text} is not a plain string; close the quote, and do not use escapes")
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

/// Panics because the table and a family disagree on the names of operations; a test checks that they agree.
fn not_in_table(name: &str) -> ! {
    unreachable!("{name} is in the table, but its family does not read it")
}

fn record(f: &str, value: Value) -> Record {
    Record { f: f.into(), key: None, value }
}

/// Returns the record of an operation with a key.
fn keyed(f: &str, key: &Value, value: Value) -> Record {
    Record { f: f.into(), key: Some(key.clone()), value }
}

fn pair(first: &Value, second: &Value) -> Value {
    [first.clone(), second.clone()].into_iter().collect()
}

/// The text for a result that carries no information.
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

/// Returns the element that is added to a container, in which null means empty.
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

/// Checks the result of an operation that may fail elsewhere (a full queue, a lock that is not free) but always
/// succeeds here: every result is accepted except `false`, unless `false` repeats the argument.
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

/// Returns whether a compare-and-set succeeded. Logs often repeat its argument if it did.
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

/// Returns the result of an operation that adds an element to a container, removes one, or reads one.
fn container_ret(puts: bool, record: &Record, result: &Value) -> Result<ContainerRet<Value>, String> {
    if puts {
        done(record, result).map(|()| ContainerRet::Done)
    } else {
        Ok(ContainerRet::Value(element_or_empty(result)))
    }
}

fn show_container_ret(ret: &ContainerRet<Value>) -> String {
    match ret {
        ContainerRet::Done => DONE.to_owned(),
        ContainerRet::Value(value) => show_option(value.as_ref()),
    }
}

fn element_or_empty(result: &Value) -> Option<Value> {
    (!result.is_null()).then(|| result.clone())
}

/// Reads `[old new]`.
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

/// Returns the key and the rest of the argument.
///
/// Without the field `key`, the argument is `[key rest]`. For an operation that needs only a key, it is the key, or
/// `[key null]` as in Jepsen's independent tests.
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

/// Returns the result of an operation with a key: the value if the result is `[key value]` and the call gave its key in
/// such a pair, otherwise the result itself.
fn untupled<'result>(record: &Record, key: &Value, result: &'result Value) -> &'result Value {
    let came_in_a_tuple = record.key.is_none() && tuple(&record.value).is_some_and(|(first, _)| first == key);
    match tuple(result) {
        Some((first, value)) if came_in_a_tuple && first == key => value,
        _ => result,
    }
}

//! Families: specifications together with the notation of their operations in files.

mod counters;
mod locks;
mod maps;
pub(super) mod notation;
mod queues;
mod registers;
mod sets;
pub(super) mod sync;

pub(super) use counters::check_sums;

use std::fmt::Debug;
use std::marker::PhantomData;

use self::notation::Notation;
use super::family::{Adds, AnyFamily, Family, Settle, Settled, SyncErased, SyncFamily, Typed};
use super::lookup::Options;
use super::quasi::Quasi;
use super::sequential::{AnyObject, Together};
use super::table::SpecInfo;
use crate::history::Value;
use crate::judge::{Criterion, Intervals, Synchronizing};
use crate::spec::interval::{IntervalSpec, Signal};
use crate::spec::sync::{self as synchronizing, SyncSpec};
use crate::spec::{
    Array, Bag, BoundedQueue, CasRegister, Counter, Deque, DisplacementQueue, FetchAdd, Kv, Log, Map, MultiRegister,
    Multiset, Mutex, OnceCell, PriorityQueue, Queue, Register, RelaxedPriorityQueue, RelaxedQueue, RelaxedStack,
    RwLock, Semaphore, Set, Spec, Stack, StackHeights,
};

/// The family of a specification whose operations have the notation of `N`.
#[derive(Debug)]
struct Of<S: Spec, N = S> {
    spec: S,
    /// The function that [`Family::settle`] returns.
    settle: Option<Settle<S>>,
    /// The value that [`Family::adds`] returns.
    adds: Option<(i64, Adds<S>)>,
    /// The value that [`Family::commutes`] returns.
    commutes: bool,
    process_matters: bool,
    notation: PhantomData<fn() -> N>,
}

impl<S: Spec, N> Of<S, N> {
    fn new(spec: S) -> Self {
        Self { spec, settle: None, adds: None, commutes: false, process_matters: false, notation: PhantomData }
    }
}

impl<S, N> Family for Of<S, N>
where
    S: Typed + Debug + Send + 'static,
    N: Notation<Op = S::Op, Ret = S::Ret> + Debug + 'static,
{
    type Spec = S;
    type Notation = N;

    fn spec(&self) -> &S {
        &self.spec
    }

    fn process_matters(&self) -> bool {
        self.process_matters
    }

    fn settle(&self) -> Option<Settle<S>> {
        self.settle
    }

    fn adds(&self) -> Option<(i64, Adds<S>)> {
        self.adds
    }

    fn commutes(&self) -> bool {
        self.commutes
    }
}

/// A specification that has a notation of its own.
trait WithNotation: Typed + Notation<Op = <Self as Spec>::Op, Ret = <Self as Spec>::Ret> + Debug + Send + 'static {}

impl<S: Typed + Notation<Op = <S as Spec>::Op, Ret = <S as Spec>::Ret> + Debug + Send + 'static> WithNotation for S {}

/// Returns the family of a specification that has a notation of its own.
fn of<S: WithNotation>(spec: S) -> Box<dyn AnyFamily> {
    Box::new(Of::<S>::new(spec))
}

/// Returns the family of a specification that must see the whole history before it can decide how
/// results are read, or whether to refuse the history: see [`Family::settle`].
fn settled<S: WithNotation>(spec: S, settle: Settle<S>) -> Box<dyn AnyFamily> {
    Box::new(Of::<S> { settle: Some(settle), ..Of::new(spec) })
}

/// Returns the family of a relaxed specification that has the notation of the strict one.
fn like<N, S>(spec: S) -> Box<dyn AnyFamily>
where
    S: Typed + Debug + Send + 'static,
    N: Notation<Op = S::Op, Ret = S::Ret> + Debug + 'static,
{
    Box::new(Of::<S, N>::new(spec))
}

/// Returns the family of a specification whose operations may be out of order by up to `factor`
/// places.
fn quasi<S: WithNotation>(spec: S, factor: u32) -> Box<dyn AnyFamily> {
    Box::new(Quasi { family: Of::<S>::new(spec), factor })
}

/// The family of a specification whose operations synchronize, with the notation of `N`.
#[derive(Debug)]
struct Waiting<S, N = S> {
    spec: S,
    notation: PhantomData<fn() -> N>,
}

impl<S, N> Waiting<S, N> {
    fn new(spec: S) -> Self {
        Self { spec, notation: PhantomData }
    }
}

impl<S, N> SyncFamily for Waiting<S, N>
where
    S: SyncSpec<Op: 'static, Ret: 'static> + Debug + Send + 'static,
    N: Notation<Op = S::Op, Ret = S::Ret> + Debug + 'static,
{
    type Op = S::Op;
    type Ret = S::Ret;
    type Notation = N;

    fn criterion(&self) -> impl Criterion<Op = S::Op, Ret = S::Ret> {
        Synchronizing(&self.spec)
    }

    fn object(&self) -> Option<Box<dyn AnyObject + '_>> {
        Some(Box::new(Together::<S, N>::new(&self.spec)))
    }
}

/// The family of a specification whose operations take several steps.
#[derive(Debug)]
struct InSteps<S>(S);

impl<S, Op, Ret> SyncFamily for InSteps<S>
where
    S: IntervalSpec<Op = Op, Ret = Ret> + Notation<Op = Op, Ret = Ret> + Debug + Send + 'static,
    Op: Clone + Debug + Send + Sync + 'static,
    Ret: Clone + Eq + Debug + Send + Sync + 'static,
{
    type Op = Op;
    type Ret = Ret;
    type Notation = S;

    fn criterion(&self) -> impl Criterion<Op = Op, Ret = Ret> {
        Intervals(&self.0)
    }

    fn object(&self) -> Option<Box<dyn AnyObject + '_>> {
        None
    }
}

/// Returns the family of a specification whose operations synchronize.
fn waiting<S, Op: 'static, Ret: 'static>(spec: S) -> Box<dyn AnyFamily>
where
    S: SyncSpec<Op = Op, Ret = Ret> + Notation<Op = Op, Ret = Ret> + Debug + Send + 'static,
{
    Box::new(SyncErased(Waiting::<S>::new(spec)))
}

/// Returns the family of a specification with the given parameter.
pub(super) fn family(info: &SpecInfo, parameter: Option<&str>, options: Options) -> Result<Box<dyn AnyFamily>, String> {
    let name = info.name;
    let initial = || parameter.map_or(Ok(Value::Null), |parameter| initial_value(name, parameter));
    let wildcard = options.nil_wildcard;
    let parties = || parties(name, parameter);
    let family: Box<dyn AnyFamily> = match name {
        // Of the two specifications of a single register, only `CasRegister` supports the wildcard,
        // so it also judges `register` histories in which null is a wildcard. Nevertheless, `cas`
        // is an unknown operation in these histories, because the table does not list it for
        // `register`.
        "register" if wildcard => of(CasRegister::new(initial()?).nil_wildcard(Value::Null)),
        "register" => of(Register::new(initial()?)),
        "cas-register" if wildcard => of(CasRegister::new(initial()?).nil_wildcard(Value::Null)),
        "cas-register" => of(CasRegister::new(initial()?)),
        "multi-register" if wildcard => of(MultiRegister::new(initial()?).nil_wildcard(Value::Null)),
        "multi-register" => of(MultiRegister::new(initial()?)),
        "array" => of(Array::new(initial()?)),
        "counter" => {
            let initial = initial_number(name, parameter)?;
            Box::new(Of::<Counter> {
                settle: Some(counters::settle_counter),
                adds: Some((initial, counters::counter_adds)),
                commutes: true,
                ..Of::new(Counter::new(initial))
            })
        }
        "fetch-add" => {
            let initial = initial_number(name, parameter)?;
            Box::new(Of::<FetchAdd> {
                settle: Some(counters::settle_fetch_add),
                adds: Some((initial, counters::fetch_add_adds)),
                ..Of::new(FetchAdd::new(initial))
            })
        }
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
        "barrier" => waiting(synchronizing::Barrier::new(parties()?)),
        "combining-barrier" => {
            let barrier = synchronizing::Barrier::combining(parties()?, synchronizing::Combine::Sum);
            Box::new(SyncErased(Waiting::<_, sync::CombiningBarrier>::new(barrier)))
        }
        "terminating-queue" => waiting(synchronizing::TerminatingQueue::new(parties()?)),
        "terminating-queues" => waiting(synchronizing::TerminatingQueues::new(parties()?)),
        "broadcast" => waiting(synchronizing::Broadcast::new(parties()?)),
        name => {
            if let Some(parameter) = parameter {
                let remedy = match name {
                    "queue" => "write queue, or bounded-queue:N for a queue with room for N elements".to_owned(),
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
                "sync-channel" => waiting(synchronizing::Channel::new()),
                "filter-channel" => waiting(synchronizing::FilterChannel),
                "men-women" => waiting(synchronizing::MenWomen),
                "exchanger" => waiting(synchronizing::Exchanger::new()),
                "counter-channel" => waiting(synchronizing::CounterChannel::new()),
                "two-families" => waiting(synchronizing::TwoFamilies),
                "one-family" => waiting(synchronizing::OneFamily),
                "abc" => waiting(synchronizing::Abc),
                "enrollable-barrier" => waiting(synchronizing::EnrollableBarrier),
                "timeout-channel" => waiting(synchronizing::TimeoutChannel::new()),
                "timeout-exchanger" => waiting(synchronizing::TimeoutExchanger::new()),
                "closeable-channel" => waiting(synchronizing::CloseableChannel::new()),
                "signal" => Box::new(SyncErased(InSteps(Signal))),
                name => unreachable!("{name} is in the table, but has no family"),
            }
        }
    };
    Ok(family)
}

/// Reads the factor: the number of places by which operations may be out of order.
fn factor(spec: &str, parameter: Option<&str>) -> Result<u32, String> {
    u32::try_from(amount(spec, "factor", 0, parameter)?)
        .map_err(|_| format!("the factor of `{spec}` is too large; write a smaller one, such as {spec}:3"))
}

/// Reads the factor, and whether the object may spuriously report that it is empty: `2` or
/// `2:empty`.
fn factor_and_empty(spec: &str, parameter: Option<&str>) -> Result<(u32, bool), String> {
    match parameter.and_then(|parameter| parameter.split_once(':')) {
        None => Ok((factor(spec, parameter)?, false)),
        Some((k, "empty")) => Ok((factor(spec, Some(k))?, true)),
        Some((k, other)) => Err(format!("`{spec}` has no form `{k}:{other}`; write {spec}:{k} or {spec}:{k}:empty")),
    }
}

/// Reads the number of parties that synchronize.
fn parties(spec: &str, parameter: Option<&str>) -> Result<usize, String> {
    // The maximum, 2^20 parties, is greater than any realistic number of threads.
    let parties = amount(spec, "number of parties", 1, parameter)?;
    usize::try_from(parties).ok().filter(|parties| *parties <= 1 << 20).ok_or_else(|| {
        format!("`{spec}` supports at most 1048576 parties, not {parties}; for example, write {spec}:3 for 3 parties")
    })
}

/// Reads the initial number of a counter. Defaults to 0.
fn initial_number(spec: &str, parameter: Option<&str>) -> Result<i64, String> {
    parameter.map_or(Ok(0), |text| {
        text.parse().map_err(|_| {
            format!("the initial value of `{spec}` must be a number, not `{text}`; write {spec} or {spec}:5")
        })
    })
}

/// Reads a required parameter, which must be a number that is at least `least`.
fn amount(spec: &str, what: &str, least: u64, parameter: Option<&str>) -> Result<u64, String> {
    let Some(text) = parameter else {
        return Err(format!("`{spec}` needs its {what}; for example, write {spec}:3"));
    };
    text.parse().ok().filter(|amount| *amount >= least).ok_or_else(|| {
        format!("the {what} of `{spec}` must be a number that is at least {least}, not `{text}`; for example, write {spec}:3")
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

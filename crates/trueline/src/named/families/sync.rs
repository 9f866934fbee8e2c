//! Objects whose operations wait for each other.

use super::{DONE, done, element, element_or_empty, not_in_table, record, show_option, whether, without_key};
use crate::history::{ProcessId, Record, Value};
use crate::judge::{Criterion, Intervals, Synchronizing};
use crate::named::SyncFamily;
use crate::named::sequential::{AnyObject, Together};
use crate::spec::interval::{IntervalSpec, Signal, SignalOp};
use crate::spec::sync::{
    Abc, AbcOp, Barrier, BarrierOp, Broadcast, Channel, ChannelOp, ChannelRet, CloseableChannel, CloseableChannelOp,
    CloseableChannelRet, CounterChannel, CounterChannelRet, EnrollableBarrier, EnrollableBarrierOp, Exchanger, Filter,
    FilterChannel, FilterChannelOp, MenWomen, MenWomenOp, OneFamily, SyncSpec, TerminatingQueue, TerminatingQueueOp,
    TerminatingQueueRet, TerminatingQueues, TerminatingQueuesOp, TimeoutChannel, TimeoutChannelRet, TimeoutExchanger,
    TwoFamilies, TwoFamiliesOp,
};

/// Reads a nonnegative number.
fn number<N: TryFrom<i64>>(record: &Record, value: &Value) -> Result<N, String> {
    value.as_int().and_then(|number| N::try_from(number).ok()).ok_or_else(|| {
        format!(
            "{record} has {}, but needs a number that is neither negative nor too large; give that instead",
            super::brief(value)
        )
    })
}

/// Reads the identity of the caller: the argument, or the number of the process if there is no argument.
fn me<N: TryFrom<i64>>(process: ProcessId, record: &Record) -> Result<N, String> {
    match without_key(record)? {
        Value::Null => number(record, &Value::Int(i64::from(process.0))),
        value => number(record, value),
    }
}

/// Reads a list of two values.
fn two<'v>(record: &Record, value: &'v Value) -> Result<[&'v Value; 2], String> {
    match value {
        Value::List(values) => match values.as_ref() {
            [one, other] => Ok([one, other]),
            _ => Err(format!("{record} has {}, but needs a list of two; write [1,2]", super::brief(value))),
        },
        _ => Err(format!("{record} has {}, but needs a list of two; write [1,2]", super::brief(value))),
    }
}

fn int(number: impl TryInto<i64>) -> Value {
    Value::Int(number.try_into().unwrap_or(i64::MAX))
}

fn list(numbers: (u64, u64)) -> String {
    [int(numbers.0), int(numbers.1)].into_iter().collect::<Value>().to_string()
}

/// Reads an operation of a channel.
fn channel_op(name: &str, record: &Record) -> Result<ChannelOp<Value>, String> {
    Ok(match name {
        "send" => ChannelOp::Send(element(record)?),
        "receive" => {
            without_key(record)?;
            ChannelOp::Receive
        }
        name => not_in_table(name),
    })
}

fn show_channel_op(op: &ChannelOp<Value>) -> Record {
    match op {
        ChannelOp::Send(value) => record("send", value.clone()),
        ChannelOp::Receive => record("receive", Value::Null),
    }
}

fn channel_ret(record: &Record, op: &ChannelOp<Value>, result: &Value) -> Result<ChannelRet<Value>, String> {
    match op {
        ChannelOp::Send(_) => done(record, result).map(|()| ChannelRet::Done),
        ChannelOp::Receive => Ok(ChannelRet::Value(result.clone())),
    }
}

fn show_channel_ret(ret: &ChannelRet<Value>) -> String {
    match ret {
        ChannelRet::Done => DONE.to_owned(),
        ChannelRet::Value(value) => value.to_string(),
    }
}

fn together<'s, F, S>(family: &'s F, spec: &'s S) -> Option<Box<dyn AnyObject + 's>>
where
    S: SyncSpec,
    F: SyncFamily<Op = S::Op, Ret = S::Ret>,
{
    Some(Box::new(Together::new(family, spec)))
}

/// Defines families. The first line gives the trait of their specifications, the criterion of their histories, and
/// their objects. Each family then gives its specification, and how its operations and results are read and shown.
macro_rules! families {
    ($specifies:ident, $criterion:ident, $object:expr; $($family:ident: $spec:ty, $read_op:expr, $read_ret:expr, $show_op:expr, $show_ret:expr;)+) => {
        $(
            #[derive(Debug)]
            pub(super) struct $family(pub(super) $spec);

            impl SyncFamily for $family {
                type Op = <$spec as $specifies>::Op;
                type Ret = <$spec as $specifies>::Ret;

                fn criterion(&self) -> impl Criterion<Op = Self::Op, Ret = Self::Ret> {
                    $criterion(&self.0)
                }

                fn read_op(
                    &self,
                    name: &str,
                    process: ProcessId,
                    record: &Record,
                ) -> Result<Self::Op, String> {
                    let read: fn(&str, ProcessId, &Record) -> Result<Self::Op, String> = $read_op;
                    read(name, process, record)
                }

                fn read_ret(
                    &self,
                    record: &Record,
                    op: &Self::Op,
                    result: &Value,
                ) -> Result<Self::Ret, String> {
                    let read: fn(
                        &Record,
                        &Self::Op,
                        &Value,
                    ) -> Result<Self::Ret, String> = $read_ret;
                    read(record, op, result)
                }

                fn show_op(op: &Self::Op) -> Record {
                    let show: fn(&Self::Op) -> Record = $show_op;
                    show(op)
                }

                fn show_ret(ret: &Self::Ret) -> String {
                    let show: fn(&Self::Ret) -> String = $show_ret;
                    show(ret)
                }

                fn object(&self) -> Option<Box<dyn AnyObject + '_>> {
                    $object(self, &self.0)
                }
            }
        )+
    };
}

families! {
    SyncSpec, Synchronizing, together;
    ChannelFamily: Channel<Value>,
        |name, _, record| channel_op(name, record), channel_ret, show_channel_op, show_channel_ret;
    BroadcastFamily: Broadcast<Value>,
        |name, _, record| channel_op(name, record), channel_ret, show_channel_op, show_channel_ret;
    FilterChannelFamily: FilterChannel,
        |name, _, record| Ok(match name {
            "send" => FilterChannelOp::Send(number(record, without_key(record)?)?),
            "receive" => FilterChannelOp::Receive(filter(record)?),
            name => not_in_table(name),
        }),
        |record, op, result| match op {
            FilterChannelOp::Send(_) => done(record, result).map(|()| ChannelRet::Done),
            FilterChannelOp::Receive(_) => number(record, result).map(ChannelRet::Value),
        },
        |op| match op {
            FilterChannelOp::Send(value) => record("send", int(*value)),
            &FilterChannelOp::Receive(Filter { modulus, remainder }) => {
                record("receive", [int(modulus), int(remainder)].into_iter().collect())
            }
        },
        |ret| match ret {
            ChannelRet::Done => DONE.to_owned(),
            ChannelRet::Value(value) => value.to_string(),
        };
    MenWomenFamily: MenWomen,
        |name, process, record| Ok(match name {
            "man" => MenWomenOp::Man(me(process, record)?),
            "woman" => MenWomenOp::Woman(me(process, record)?),
            name => not_in_table(name),
        }),
        |record, _, result| number(record, result),
        |op| match op {
            MenWomenOp::Man(me) => record("man", int(*me)),
            MenWomenOp::Woman(me) => record("woman", int(*me)),
        },
        ToString::to_string;
    ExchangerFamily: Exchanger<Value>,
        |_, _, record| element(record),
        |_, _, result| Ok(result.clone()),
        |op| record("exchange", op.clone()),
        ToString::to_string;
    CounterChannelFamily: CounterChannel<Value>,
        |name, _, record| channel_op(name, record),
        |record, op, result| match op {
            ChannelOp::Send(_) => number(record, result).map(CounterChannelRet::Sent),
            ChannelOp::Receive => {
                let [value, count] = two(record, result)?;
                Ok(CounterChannelRet::Received(value.clone(), number(record, count)?))
            }
        },
        show_channel_op,
        |ret| match ret {
            CounterChannelRet::Sent(count) => count.to_string(),
            CounterChannelRet::Received(value, count) => super::pair(value, &int(*count)).to_string(),
        };
    TwoFamiliesFamily: TwoFamilies,
        |name, process, record| Ok(match name {
            "sync-a" => TwoFamiliesOp::A(me(process, record)?),
            "sync-b" => TwoFamiliesOp::B(me(process, record)?),
            name => not_in_table(name),
        }),
        |record, _, result| number(record, result),
        |op| match op {
            TwoFamiliesOp::A(me) => record("sync-a", int(*me)),
            TwoFamiliesOp::B(me) => record("sync-b", int(*me)),
        },
        ToString::to_string;
    OneFamilyFamily: OneFamily,
        |_, process, record| me(process, record),
        |record, _, result| number(record, result),
        |op| record("sync", int(*op)),
        ToString::to_string;
    AbcFamily: Abc,
        |name, process, record| Ok(match name {
            "sync-a" => AbcOp::A(me(process, record)?),
            "sync-b" => AbcOp::B(me(process, record)?),
            "sync-c" => AbcOp::C(me(process, record)?),
            name => not_in_table(name),
        }),
        |record, _, result| {
            let [one, other] = two(record, result)?;
            Ok((number(record, one)?, number(record, other)?))
        },
        |op| match op {
            AbcOp::A(me) => record("sync-a", int(*me)),
            AbcOp::B(me) => record("sync-b", int(*me)),
            AbcOp::C(me) => record("sync-c", int(*me)),
        },
        |ret| list(*ret);
    BarrierFamily: Barrier,
        |_, process, record| Ok(BarrierOp { me: me(process, record)?, value: 0 }),
        |record, _, result| done(record, result).map(|()| None),
        |op| record("sync", int(op.me)),
        |_| DONE.to_owned();
    CombiningBarrierFamily: Barrier,
        |_, _, record| {
            let [me, value] = two(record, without_key(record)?)?;
            // The sum over the maximum number of threads (see `parties`) fits into 64 bits.
            Ok(BarrierOp { me: number(record, me)?, value: number::<u32>(record, value)?.into() })
        },
        |record, _, result| number(record, result).map(Some),
        |op| record("sync", [int(op.me), int(op.value)].into_iter().collect()),
        |ret| ret.map_or_else(|| DONE.to_owned(), |sum| sum.to_string());
    EnrollableBarrierFamily: EnrollableBarrier,
        |name, process, record| Ok(match name {
            "sync" => EnrollableBarrierOp::Meet(me(process, record)?),
            "enrol" => EnrollableBarrierOp::Enrol(me(process, record)?),
            "resign" => EnrollableBarrierOp::Resign(me(process, record)?),
            name => not_in_table(name),
        }),
        |record, _, result| done(record, result),
        |op| match op {
            EnrollableBarrierOp::Meet(me) => record("sync", int(*me)),
            EnrollableBarrierOp::Enrol(me) => record("enrol", int(*me)),
            EnrollableBarrierOp::Resign(me) => record("resign", int(*me)),
        },
        |()| DONE.to_owned();
    TimeoutChannelFamily: TimeoutChannel<Value>,
        |name, _, record| channel_op(name, record),
        |record, op, result| Ok(match op {
            ChannelOp::Send(_) => TimeoutChannelRet::Sent(whether(record, result)?),
            ChannelOp::Receive => TimeoutChannelRet::Received(element_or_empty(result)),
        }),
        show_channel_op,
        |ret| match ret {
            TimeoutChannelRet::Sent(sent) => sent.to_string(),
            TimeoutChannelRet::Received(value) => show_option(value.as_ref()),
        };
    TimeoutExchangerFamily: TimeoutExchanger<Value>,
        |_, _, record| element(record),
        |_, _, result| Ok(element_or_empty(result)),
        |op| record("exchange", op.clone()),
        |ret| show_option(ret.as_ref());
    CloseableChannelFamily: CloseableChannel<Value>,
        |name, _, record| Ok(match name {
            "send" => CloseableChannelOp::Send(element(record)?),
            "receive" => CloseableChannelOp::Receive,
            "close" => CloseableChannelOp::Close,
            name => not_in_table(name),
        }),
        |record, op, result| Ok(match op {
            CloseableChannelOp::Send(_) => CloseableChannelRet::Sent(whether(record, result)?),
            CloseableChannelOp::Receive => CloseableChannelRet::Received(element_or_empty(result)),
            CloseableChannelOp::Close => CloseableChannelRet::Closed,
        }),
        |op| match op {
            CloseableChannelOp::Send(value) => record("send", value.clone()),
            CloseableChannelOp::Receive => record("receive", Value::Null),
            CloseableChannelOp::Close => record("close", Value::Null),
        },
        |ret| match ret {
            CloseableChannelRet::Sent(sent) => sent.to_string(),
            CloseableChannelRet::Received(value) => show_option(value.as_ref()),
            CloseableChannelRet::Closed => DONE.to_owned(),
        };
    TerminatingQueueFamily: TerminatingQueue<Value>,
        |name, _, record| Ok(match name {
            "enqueue" => TerminatingQueueOp::Enqueue(element(record)?),
            "dequeue" => TerminatingQueueOp::Dequeue,
            name => not_in_table(name),
        }),
        |record, op, result| match op {
            TerminatingQueueOp::Enqueue(_) => done(record, result).map(|()| TerminatingQueueRet::Done),
            TerminatingQueueOp::Dequeue => Ok(TerminatingQueueRet::Value(element_or_empty(result))),
        },
        |op| match op {
            TerminatingQueueOp::Enqueue(value) => record("enqueue", value.clone()),
            TerminatingQueueOp::Dequeue => record("dequeue", Value::Null),
        },
        |ret| match ret {
            TerminatingQueueRet::Done => DONE.to_owned(),
            TerminatingQueueRet::Value(value) => show_option(value.as_ref()),
        };
    TerminatingQueuesFamily: TerminatingQueues<Value>,
        |name, process, record| Ok(match name {
            "enqueue" => TerminatingQueuesOp::Enqueue(process.0, element(record)?),
            "dequeue" => TerminatingQueuesOp::Dequeue(process.0),
            name => not_in_table(name),
        }),
        |record, op, result| match op {
            TerminatingQueuesOp::Enqueue(..) => done(record, result).map(|()| TerminatingQueueRet::Done),
            TerminatingQueuesOp::Dequeue(_) => Ok(TerminatingQueueRet::Value(element_or_empty(result))),
        },
        |op| match op {
            TerminatingQueuesOp::Enqueue(_, value) => record("enqueue", value.clone()),
            TerminatingQueuesOp::Dequeue(_) => record("dequeue", Value::Null),
        },
        |ret| match ret {
            TerminatingQueueRet::Done => DONE.to_owned(),
            TerminatingQueueRet::Value(value) => show_option(value.as_ref()),
        };
}

families! {
    IntervalSpec, Intervals, |_, _| None;
    SignalFamily: Signal,
        |name, _, record| {
            without_key(record)?;
            Ok(match name {
                "signal-up-and-wait" => SignalOp::SignalUpAndWait,
                "wait-for-signal-up" => SignalOp::WaitForSignalUp,
                "signal-down" => SignalOp::SignalDown,
                name => not_in_table(name),
            })
        },
        |record, _, result| done(record, result),
        |op| {
            let name = match op {
                SignalOp::SignalUpAndWait => "signal-up-and-wait",
                SignalOp::WaitForSignalUp => "wait-for-signal-up",
                SignalOp::SignalDown => "signal-down",
            };
            record(name, Value::Null)
        },
        |()| DONE.to_owned();
}

/// Reads the filter of a receive.
fn filter(record: &Record) -> Result<Filter, String> {
    let value = without_key(record)?;
    if value.is_null() {
        return Ok(Filter { modulus: 1, remainder: 0 });
    }
    if *value == Value::from("even") {
        return Ok(Filter::EVEN);
    }
    if *value == Value::from("odd") {
        return Ok(Filter::ODD);
    }
    let [modulus, remainder] = two(record, value)?;
    let filter = Filter { modulus: number(record, modulus)?, remainder: number(record, remainder)? };
    if filter.modulus == 0 {
        return Err(format!("{record} divides by 0; write [1,0] for all values"));
    }
    Ok(filter)
}

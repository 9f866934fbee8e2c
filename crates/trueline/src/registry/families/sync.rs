//! Objects whose operations wait for each other.

use super::notation::{
    ArgumentNotation, Call, ELEMENT, IGNORED, NOTHING, NOTHING_AT_ANY_KEY, OR_EMPTY, ResultNotation, SUCCESS, VALUE,
    WHETHER, brief, element, operations, pair, tuple, without_key,
};
use crate::history::{Record, Value};
use crate::spec::interval::{Signal, SignalOp};
use crate::spec::sync::{
    Abc, AbcOp, Barrier, BarrierOp, Broadcast, Channel, ChannelOp, ChannelRet, CloseableChannel, CloseableChannelOp,
    CloseableChannelRet, CounterChannel, CounterChannelRet, EnrollableBarrier, EnrollableBarrierOp, Exchanger, Filter,
    FilterChannel, FilterChannelOp, MenWomen, MenWomenOp, OneFamily, TerminatingQueue, TerminatingQueueOp,
    TerminatingQueueRet, TerminatingQueues, TerminatingQueuesOp, TimeoutChannel, TimeoutChannelRet, TimeoutExchanger,
    TwoFamilies, TwoFamiliesOp,
};

/// Reads a nonnegative number.
fn number<N: TryFrom<i64>>(record: &Record, value: &Value) -> Result<N, String> {
    value.as_int().and_then(|number| N::try_from(number).ok()).ok_or_else(|| {
        format!(
            "{record} has {}, but needs a number such as 0 or 3; negative and very large numbers are not allowed",
            brief(value)
        )
    })
}

/// Returns the number of the process that calls the operation.
fn process(call: &Call<'_>) -> u32 {
    call.process.expect("the process is passed for operations that wait for each other").0
}

/// Reads the identity of the caller: the argument, or the number of the process if there is no argument.
fn me<N: TryFrom<i64>>(call: &Call<'_>) -> Result<N, String> {
    match without_key(call.record)? {
        Value::Null => number(call.record, &Value::Int(i64::from(process(call)))),
        value => number(call.record, value),
    }
}

/// Reads a list of two values.
fn two<'v>(record: &Record, value: &'v Value) -> Result<(&'v Value, &'v Value), String> {
    tuple(value).ok_or_else(|| format!("{record} has {}, but needs a list of two values; write [1,2]", brief(value)))
}

fn int(number: impl TryInto<i64>) -> Value {
    Value::Int(number.try_into().unwrap_or(i64::MAX))
}

const ME_TEXT: &str = "the number of the caller; null means the number of the process";

const ME: ArgumentNotation<u64> = ArgumentNotation { text: ME_TEXT, read: me, write: |me| (None, int(me)) };
const ME_U32: ArgumentNotation<u32> = ArgumentNotation { text: ME_TEXT, read: me, write: |me| (None, int(me)) };

const SENT: ArgumentNotation<Value> = ELEMENT.meaning("the value that is sent");

const NUMBER: ResultNotation<u64> = ResultNotation {
    text: "the number",
    read: |returned| number(returned.record, returned.result),
    show: |number| number.to_string(),
};

/// The identity of the partner.
const OTHER: ResultNotation<u32> = ResultNotation {
    text: "the number of the partner",
    read: |returned| number(returned.record, returned.result),
    show: |number| number.to_string(),
};

operations! {
    Channel<Value>: ChannelOp<Value>, ChannelRet<Value>;
    "send" ["put", "write"] SENT(value) [ChannelOp::Send(value)] -> SUCCESS() [ChannelRet::Done];
    "receive" ["recv", "take", "read"] NOTHING() [ChannelOp::Receive] -> VALUE(value) [ChannelRet::Value(value)];
}

operations! {
    Broadcast<Value>: ChannelOp<Value>, ChannelRet<Value>;
    "send" ["put", "write"] SENT(value) [ChannelOp::Send(value)] -> SUCCESS() [ChannelRet::Done];
    "receive" ["recv", "take"] NOTHING() [ChannelOp::Receive] -> VALUE(value) [ChannelRet::Value(value)];
}

const NUMBER_SENT: ArgumentNotation<u64> = ArgumentNotation {
    text: "a number that is at least 0",
    read: |call| number(call.record, without_key(call.record)?),
    write: |number| (None, int(number)),
};

const FILTER: ArgumentNotation<Filter> = ArgumentNotation {
    text: "even, odd, [modulus remainder], or null for all",
    read: |call| filter(call.record),
    write: |Filter { modulus, remainder }| {
        (None, if (modulus, remainder) == (1, 0) { Value::Null } else { pair(int(modulus), int(remainder)) })
    },
};

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
    let (modulus, remainder) = two(record, value)?;
    let filter = Filter { modulus: number(record, modulus)?, remainder: number(record, remainder)? };
    if filter.modulus == 0 {
        return Err(format!("{record} has a filter with modulus 0; write [1,0] to accept all values"));
    }
    Ok(filter)
}

operations! {
    FilterChannel: FilterChannelOp, ChannelRet<u64>;
    "send" ["put", "write"] NUMBER_SENT(value) [FilterChannelOp::Send(value)] -> SUCCESS() [ChannelRet::Done];
    "receive" ["recv", "take"]
        FILTER(filter) [FilterChannelOp::Receive(filter)] -> NUMBER "the value" (value) [ChannelRet::Value(value)];
}

operations! {
    MenWomen: MenWomenOp, u64;
    "man" ["man-sync"] ME(me) [MenWomenOp::Man(me)] -> NUMBER "the number of the woman" (woman) [woman];
    "woman" ["woman-sync"] ME(me) [MenWomenOp::Woman(me)] -> NUMBER "the number of the man" (man) [man];
}

operations! {
    Exchanger<Value>: Value, Value;
    "exchange" ["swap"]
        ELEMENT "the value that is given" (given) [given] -> VALUE "the value that is received" (got) [got];
}

const VALUE_NUMBER: ResultNotation<(Value, u64)> = ResultNotation {
    text: "[value number]",
    read: |returned| {
        let (value, count) = two(returned.record, returned.result)?;
        Ok((value.clone(), number(returned.record, count)?))
    },
    show: |(value, count)| pair(value, int(count)).to_string(),
};

operations! {
    CounterChannel<Value>: ChannelOp<Value>, CounterChannelRet<Value>;
    "send" ["put", "write"] SENT(value) [ChannelOp::Send(value)] -> NUMBER(count) [CounterChannelRet::Sent(count)];
    "receive" ["recv", "take"]
        NOTHING() [ChannelOp::Receive] -> VALUE_NUMBER(value, count) [CounterChannelRet::Received(value, count)];
}

operations! {
    TwoFamilies: TwoFamiliesOp, u32;
    "sync-a" ["a"] ME_U32(me) [TwoFamiliesOp::A(me)] -> OTHER(other) [other];
    "sync-b" ["b"] ME_U32(me) [TwoFamiliesOp::B(me)] -> OTHER(other) [other];
}

operations! {
    OneFamily: u32, u32;
    "sync" ["meet"] ME_U32(me) [me] -> OTHER(other) [other];
}

/// The identities of the two partners.
const OTHERS: ResultNotation<(u64, u64)> = ResultNotation {
    text: "[b c]",
    read: |returned| {
        let (one, other) = two(returned.record, returned.result)?;
        Ok((number(returned.record, one)?, number(returned.record, other)?))
    },
    show: |(one, other)| pair(int(one), int(other)).to_string(),
};

operations! {
    Abc: AbcOp, (u64, u64);
    "sync-a" ["a"] ME(me) [AbcOp::A(me)] -> OTHERS "[b c]" (b, c) [(b, c)];
    "sync-b" ["b"] ME(me) [AbcOp::B(me)] -> OTHERS "[a c]" (a, c) [(a, c)];
    "sync-c" ["c"] ME(me) [AbcOp::C(me)] -> OTHERS "[a b]" (a, b) [(a, b)];
}

/// The identity of the caller, for a barrier that does not combine numbers.
const ME_ALONE: ArgumentNotation<(u32, u64)> =
    ArgumentNotation { text: ME_TEXT, read: |call| Ok((me(call)?, 0)), write: |(me, _)| (None, int(me)) };

/// No sum, because the barrier does not combine numbers.
const NO_SUM: ResultNotation<Option<u64>> = ResultNotation {
    text: SUCCESS.text,
    read: |returned| (SUCCESS.read)(returned).map(|()| None),
    show: |_| (SUCCESS.show)(()),
};

operations! {
    Barrier: BarrierOp, Option<u64>;
    "sync" ["wait", "await"] ME_ALONE(me, value) [BarrierOp { me, value }] -> NO_SUM(sum) [sum];
}

/// The notation of a [`Barrier`] that combines numbers.
#[derive(Debug)]
pub(in crate::registry) struct CombiningBarrier;

const ME_AND_NUMBER: ArgumentNotation<(u32, u64)> = ArgumentNotation {
    text: "[caller number]",
    read: |call| {
        let (me, value) = two(call.record, without_key(call.record)?)?;
        // Each number fits into 32 bits, so the sum of the numbers of all threads fits into 64 bits
        // (`parties` limits the number of threads).
        Ok((number(call.record, me)?, number::<u32>(call.record, value)?.into()))
    },
    write: |(me, value)| (None, pair(int(me), int(value))),
};

const SUM: ResultNotation<Option<u64>> = ResultNotation {
    text: "the sum",
    read: |returned| number(returned.record, returned.result).map(Some),
    show: |sum| sum.map_or_else(|| (SUCCESS.show)(()), NUMBER.show),
};

operations! {
    CombiningBarrier: BarrierOp, Option<u64>;
    "sync" ["wait", "await"] ME_AND_NUMBER(me, value) [BarrierOp { me, value }] -> SUM(sum) [sum];
}

operations! {
    EnrollableBarrier: EnrollableBarrierOp, ();
    "sync" ["wait", "await"] ME_U32(me) [EnrollableBarrierOp::Meet(me)] -> SUCCESS() [()];
    "enrol" ["enroll"] ME_U32(me) [EnrollableBarrierOp::Enrol(me)] -> SUCCESS() [()];
    "resign" [] ME_U32(me) [EnrollableBarrierOp::Resign(me)] -> SUCCESS() [()];
}

operations! {
    TimeoutChannel<Value>: ChannelOp<Value>, TimeoutChannelRet<Value>;
    "send" ["put", "write"]
        SENT(value) [ChannelOp::Send(value)]
        -> WHETHER "true if the value was received" (sent) [TimeoutChannelRet::Sent(sent)];
    "receive" ["recv", "take"]
        NOTHING() [ChannelOp::Receive]
        -> OR_EMPTY "the value, or null if the receive timed out" (value) [TimeoutChannelRet::Received(value)];
}

operations! {
    TimeoutExchanger<Value>: Value, Option<Value>;
    "exchange" ["swap"]
        ELEMENT "the value that is given" (given) [given]
        -> OR_EMPTY "the value that was received, or null on a timeout" (got) [got];
}

operations! {
    CloseableChannel<Value>: CloseableChannelOp<Value>, CloseableChannelRet<Value>;
    "send" ["put", "write"]
        SENT(value) [CloseableChannelOp::Send(value)]
        -> WHETHER "true, or false if the channel is closed" (sent) [CloseableChannelRet::Sent(sent)];
    "receive" ["recv", "take"]
        NOTHING_AT_ANY_KEY() [CloseableChannelOp::Receive]
        -> OR_EMPTY "the value, or null if the channel is closed" (value) [CloseableChannelRet::Received(value)];
    "close" [] NOTHING_AT_ANY_KEY() [CloseableChannelOp::Close] -> IGNORED() [CloseableChannelRet::Closed];
}

const OR_ENDED: ResultNotation<Option<Value>> = OR_EMPTY.meaning("the element, or null if all workers waited");

operations! {
    TerminatingQueue<Value>: TerminatingQueueOp<Value>, TerminatingQueueRet<Value>;
    "enqueue" ["enq", "push"]
        ELEMENT(value) [TerminatingQueueOp::Enqueue(value)] -> SUCCESS() [TerminatingQueueRet::Done];
    "dequeue" ["deq", "pop"]
        NOTHING_AT_ANY_KEY() [TerminatingQueueOp::Dequeue] -> OR_ENDED(value) [TerminatingQueueRet::Value(value)];
}

/// The process that calls the operation, and the element that the operation adds.
const WORKER_ELEMENT: ArgumentNotation<(u32, Value)> = ArgumentNotation {
    text: ELEMENT.text,
    read: |call| Ok((process(call), element(call)?)),
    write: |(_, value)| (None, value),
};

/// The notation of an operation that is logged without an argument: its argument is the number of
/// the process that calls it.
const WORKER: ArgumentNotation<u32> =
    ArgumentNotation { text: NOTHING.text, read: |call| Ok(process(call)), write: |_| (None, Value::Null) };

operations! {
    TerminatingQueues<Value>: TerminatingQueuesOp<Value>, TerminatingQueueRet<Value>;
    "enqueue" ["enq", "push"]
        WORKER_ELEMENT(me, value) [TerminatingQueuesOp::Enqueue(me, value)] -> SUCCESS() [TerminatingQueueRet::Done];
    "dequeue" ["deq", "pop"]
        WORKER(me) [TerminatingQueuesOp::Dequeue(me)] -> OR_ENDED(value) [TerminatingQueueRet::Value(value)];
}

operations! {
    Signal: SignalOp, ();
    "signal-up-and-wait" ["signalupandwait", "up"] NOTHING() [SignalOp::SignalUpAndWait] -> SUCCESS() [()];
    "wait-for-signal-up" ["waitforsignalup", "wait"] NOTHING() [SignalOp::WaitForSignalUp] -> SUCCESS() [()];
    "signal-down" ["signaldown", "down"] NOTHING() [SignalOp::SignalDown] -> SUCCESS() [()];
}

//! Sets and bags.

use super::notation::{
    ANY, ELEMENT, IGNORED, NOTHING, OR_EMPTY, ResultNotation, SIZE, SUCCESS, WHETHER, operations, size,
};
use crate::history::Value;
use crate::spec::{Bag, BagOp, ContainerRet, Multiset, MultisetOp, MultisetRet, Set, SetOp, SetRet};

operations! {
    Set<Value>: SetOp<Value>, SetRet;
    "add" ["insert", "put"]
        ANY "the element" (value) [SetOp::Add(value)] -> WHETHER "true if the set did not contain it" (new) [SetRet::Bool(new)];
    "remove" ["delete", "rem", "discard"]
        ANY "the element" (value) [SetOp::Remove(value)] -> WHETHER "true if the set contained it" (found) [SetRet::Bool(found)];
    "contains" ["member", "has", "lookup"]
        ANY "the element" (value) [SetOp::Contains(value)] -> WHETHER (found) [SetRet::Bool(found)];
    "size" ["len", "count"] NOTHING() [SetOp::Size] -> SIZE(size) [SetRet::Size(size)];
    "clear" [] NOTHING() [SetOp::Clear] -> IGNORED() [SetRet::Done];
}

operations! {
    Bag<Value>: BagOp<Value>, ContainerRet<Value>;
    "add" ["put", "insert", "push"] ELEMENT(value) [BagOp::Add(value)] -> SUCCESS() [ContainerRet::Done];
    "remove-any" ["remove", "take", "pop"]
        NOTHING() [BagOp::RemoveAny] -> OR_EMPTY(value) [ContainerRet::Value(value)];
}

/// A count. A count that does not fit in 32 bits is read as the largest 32-bit number. This does
/// not change the verdict, because no history is long enough to reach either of these counts.
const COUNT: ResultNotation<u32> = ResultNotation {
    text: "the number of times that the element occurs",
    read: |returned| Ok(u32::try_from(size(returned)?).unwrap_or(u32::MAX)),
    show: |count| count.to_string(),
};

operations! {
    Multiset<Value>: MultisetOp<Value>, MultisetRet;
    "add" ["insert", "put"] ANY "the element" (value) [MultisetOp::Add(value)] -> SUCCESS() [MultisetRet::Done];
    "remove" ["delete", "rem", "discard"]
        ANY "the element" (value) [MultisetOp::Remove(value)]
        -> WHETHER "true if the multiset contained it" (found) [MultisetRet::Removed(found)];
    "count" ["multiplicity", "lookup"]
        ANY "the element" (value) [MultisetOp::Count(value)] -> COUNT(count) [MultisetRet::Count(count)];
}

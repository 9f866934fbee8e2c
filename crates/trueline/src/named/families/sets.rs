//! Sets and bags.

use super::{
    DONE, Written, container_ret, done, element, not_in_table, record, show_container_ret, size, whether, without_key,
};
use crate::history::{ProcessId, Record, Value};
use crate::spec::{Bag, BagOp, Multiset, MultisetOp, MultisetRet, Set, SetOp, SetRet};

impl Written for Set<Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        let value = without_key(record)?;
        Ok(match name {
            "add" => SetOp::Add(value.clone()),
            "remove" => SetOp::Remove(value.clone()),
            "contains" => SetOp::Contains(value.clone()),
            "size" => SetOp::Size,
            "clear" => SetOp::Clear,
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        Ok(match op {
            SetOp::Add(_) | SetOp::Remove(_) | SetOp::Contains(_) => SetRet::Bool(whether(record, result)?),
            SetOp::Size => SetRet::Size(size(record, result)?),
            SetOp::Clear => SetRet::Done,
        })
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            SetOp::Add(value) => record("add", value.clone()),
            SetOp::Remove(value) => record("remove", value.clone()),
            SetOp::Contains(value) => record("contains", value.clone()),
            SetOp::Size => record("size", Value::Null),
            SetOp::Clear => record("clear", Value::Null),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        match ret {
            SetRet::Bool(value) => value.to_string(),
            SetRet::Size(size) => size.to_string(),
            SetRet::Done => DONE.to_owned(),
        }
    }
}

impl Written for Bag<Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        without_key(record)?;
        Ok(match name {
            "add" => BagOp::Add(element(record)?),
            "remove-any" => BagOp::RemoveAny,
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        container_ret(matches!(op, BagOp::Add(_)), record, result)
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            BagOp::Add(value) => record("add", value.clone()),
            BagOp::RemoveAny => record("remove-any", Value::Null),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        show_container_ret(ret)
    }
}

impl Written for Multiset<Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        let value = without_key(record)?.clone();
        Ok(match name {
            "add" => MultisetOp::Add(value),
            "remove" => MultisetOp::Remove(value),
            "count" => MultisetOp::Count(value),
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        Ok(match op {
            MultisetOp::Add(_) => {
                done(record, result)?;
                MultisetRet::Done
            }
            MultisetOp::Remove(_) => MultisetRet::Removed(whether(record, result)?),
            // A count that does not fit is as impossible as the largest one that does.
            MultisetOp::Count(_) => MultisetRet::Count(u32::try_from(size(record, result)?).unwrap_or(u32::MAX)),
        })
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            MultisetOp::Add(value) => record("add", value.clone()),
            MultisetOp::Remove(value) => record("remove", value.clone()),
            MultisetOp::Count(value) => record("count", value.clone()),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        match ret {
            MultisetRet::Done => DONE.to_owned(),
            MultisetRet::Removed(removed) => removed.to_string(),
            MultisetRet::Count(count) => count.to_string(),
        }
    }
}

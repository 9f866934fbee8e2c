//! Sets and bags.

use super::{
    DONE, Family, done, element, element_or_empty, not_in_table, record, show_option, size, whether, without_key,
};
use crate::history::{ProcessId, Record, Value};
use crate::spec::{Bag, BagOp, BagRet, Multiset, MultisetOp, MultisetRet, Set, SetOp, SetRet};

#[derive(Debug)]
pub(super) struct SetFamily(pub(super) Set<Value>);

impl Family for SetFamily {
    type Spec = Set<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<SetOp<Value>, String> {
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

    fn read_ret(&self, record: &Record, op: &SetOp<Value>, result: &Value) -> Result<SetRet, String> {
        Ok(match op {
            SetOp::Add(_) | SetOp::Remove(_) | SetOp::Contains(_) => SetRet::Bool(whether(record, result)?),
            SetOp::Size => SetRet::Size(size(record, result)?),
            SetOp::Clear => SetRet::Done,
        })
    }

    fn show_op(op: &SetOp<Value>) -> Record {
        match op {
            SetOp::Add(value) => record("add", value.clone()),
            SetOp::Remove(value) => record("remove", value.clone()),
            SetOp::Contains(value) => record("contains", value.clone()),
            SetOp::Size => record("size", Value::Null),
            SetOp::Clear => record("clear", Value::Null),
        }
    }

    fn show_ret(ret: &SetRet) -> String {
        match ret {
            SetRet::Bool(value) => value.to_string(),
            SetRet::Size(size) => size.to_string(),
            SetRet::Done => DONE.to_owned(),
        }
    }
}

#[derive(Debug)]
pub(super) struct BagFamily(pub(super) Bag<Value>);

impl Family for BagFamily {
    type Spec = Bag<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<BagOp<Value>, String> {
        without_key(record)?;
        Ok(match name {
            "add" => BagOp::Add(element(record)?),
            "remove-any" => BagOp::RemoveAny,
            name => not_in_table(name),
        })
    }

    fn read_ret(&self, record: &Record, op: &BagOp<Value>, result: &Value) -> Result<BagRet<Value>, String> {
        Ok(match op {
            BagOp::Add(_) => {
                done(record, result)?;
                BagRet::Done
            }
            BagOp::RemoveAny => BagRet::Value(element_or_empty(result)),
        })
    }

    fn show_op(op: &BagOp<Value>) -> Record {
        match op {
            BagOp::Add(value) => record("add", value.clone()),
            BagOp::RemoveAny => record("remove-any", Value::Null),
        }
    }

    fn show_ret(ret: &BagRet<Value>) -> String {
        match ret {
            BagRet::Done => DONE.to_owned(),
            BagRet::Value(value) => show_option(value.as_ref()),
        }
    }
}

#[derive(Debug)]
pub(super) struct MultisetFamily(pub(super) Multiset<Value>);

impl Family for MultisetFamily {
    type Spec = Multiset<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<MultisetOp<Value>, String> {
        let value = without_key(record)?.clone();
        Ok(match name {
            "add" => MultisetOp::Add(value),
            "remove" => MultisetOp::Remove(value),
            "count" => MultisetOp::Count(value),
            name => not_in_table(name),
        })
    }

    fn read_ret(&self, record: &Record, op: &MultisetOp<Value>, result: &Value) -> Result<MultisetRet, String> {
        Ok(match op {
            MultisetOp::Add(_) => {
                done(record, result)?;
                MultisetRet::Done
            }
            MultisetOp::Remove(_) => MultisetRet::Removed(whether(record, result)?),
            // What is greater than any count can be is as wrong as the greatest.
            MultisetOp::Count(_) => MultisetRet::Count(u32::try_from(size(record, result)?).unwrap_or(u32::MAX)),
        })
    }

    fn show_op(op: &MultisetOp<Value>) -> Record {
        match op {
            MultisetOp::Add(value) => record("add", value.clone()),
            MultisetOp::Remove(value) => record("remove", value.clone()),
            MultisetOp::Count(value) => record("count", value.clone()),
        }
    }

    fn show_ret(ret: &MultisetRet) -> String {
        match ret {
            MultisetRet::Done => DONE.to_owned(),
            MultisetRet::Removed(removed) => removed.to_string(),
            MultisetRet::Count(count) => count.to_string(),
        }
    }
}

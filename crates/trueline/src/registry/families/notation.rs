//! The notation of operations in files.
//!
//! For each specification, a call of [`operations!`] has one row per operation, with the name and aliases, the argument
//! and the result. Readers, reports, error messages and `trueline specs` use only these rows.

use crate::history::{ProcessId, Record, Value};
use crate::registry::sequential::value_of;
use crate::registry::table::OperationInfo;

/// The notation of a specification's operations and results in files. [`operations!`] implements it.
pub(in crate::registry) trait Notation {
    /// The operations of the specification.
    type Op;
    /// The results of the specification.
    type Ret;

    /// The names of the operations, with the meaning of their arguments and results.
    const OPERATIONS: &'static [OperationInfo];

    /// Reads an operation. `name` is the name of the operation in [`OPERATIONS`](Self::OPERATIONS).
    /// `process` is the process that calls it, or `None` if the process does not matter.
    fn read_op(name: &str, process: Option<ProcessId>, record: &Record) -> Result<Self::Op, String>;

    /// Reads the result of `op`; the operation itself was read from `record`.
    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String>;

    /// Formats the operation for reports.
    fn show_op(op: &Self::Op) -> Record;

    /// Formats the result for reports.
    fn show_ret(ret: &Self::Ret) -> String;

    /// Converts `ret`, a result of the operation in `_record`, to the notation that files use.
    fn write_ret(_record: &Record, ret: &Self::Ret) -> Value {
        value_of(&Self::show_ret(ret))
    }
}

/// A call of an operation, as read from a file.
pub(super) struct Call<'r> {
    pub(super) record: &'r Record,
    /// The process that calls the operation, if that matters.
    pub(super) process: Option<ProcessId>,
}

/// A return of an operation, as read from a file.
pub(super) struct Return<'r> {
    /// The name of the operation, as its row in [`operations!`] defines it.
    pub(super) name: &'static str,
    pub(super) record: &'r Record,
    pub(super) result: &'r Value,
}

/// The notation of an argument. `T` is the type of the argument, a tuple if the argument has
/// several parts.
pub(super) struct ArgumentNotation<T> {
    /// A description of the call's `value`, for users.
    pub(super) text: &'static str,
    pub(super) read: fn(&Call<'_>) -> Result<T, String>,
    /// Returns the fields `key` and `value` of the call.
    pub(super) write: fn(T) -> (Option<Value>, Value),
}

impl<T> ArgumentNotation<T> {
    /// Returns the same notation with another description.
    pub(super) const fn meaning(self, text: &'static str) -> Self {
        Self { text, ..self }
    }
}

/// The notation of a result. `T` is the type of the result, a tuple if the result has several
/// parts.
pub(super) struct ResultNotation<T> {
    /// A description of the result, for users.
    pub(super) text: &'static str,
    pub(super) read: fn(&Return<'_>) -> Result<T, String>,
    pub(super) show: fn(T) -> String,
}

impl<T> ResultNotation<T> {
    /// Returns the same notation with another description.
    pub(super) const fn meaning(self, text: &'static str) -> Self {
        Self { text, ..self }
    }
}

/// Implements [`Notation`] from a list with one row for each operation.
///
/// The first line names the type that implements [`Notation`], the type of its operations, and the
/// type of its results. A row has the form
///
/// ```text
/// "name" ["alias", ..] ARGUMENT(part, ..) [operation] -> RESULT(part, ..) [result];
/// ```
///
/// where `ARGUMENT` is an [`ArgumentNotation`] and `RESULT` a [`ResultNotation`]. A string literal
/// after either of them replaces its description. `operation` and `result` are expressions that use
/// the parts. They are also used as patterns, which extract the parts.
macro_rules! operations {
    (
        $notation:ty: $op_type:ty, $ret_type:ty $(, write_ret: $write_ret:expr)?;
        $(
            $name:literal $aliases:tt
            $argument:ident $($value_meaning:literal)? ($($op_part:ident),*) [$($op:tt)+]
            -> $result:ident $($result_meaning:literal)? ($($ret_part:ident),*) [$($ret:tt)+];
        )+
    ) => {
        impl $crate::registry::families::notation::Notation for $notation {
            type Op = $op_type;
            type Ret = $ret_type;

            const OPERATIONS: &'static [$crate::registry::table::OperationInfo] = &[$(
                $crate::registry::table::OperationInfo {
                    name: $name,
                    aliases: &$aliases,
                    value: $argument$(.meaning($value_meaning))?.text,
                    result: $result$(.meaning($result_meaning))?.text,
                },
            )+];

            #[allow(unused_parens, reason = "a pattern with one part needs no parentheses")]
            fn read_op(
                name: &str,
                process: Option<$crate::history::ProcessId>,
                record: &$crate::history::Record,
            ) -> Result<$op_type, String> {
                let call = $crate::registry::families::notation::Call { record, process };
                match name {
                    $($name => {
                        let ($($op_part),*) = ($argument.read)(&call)?;
                        Ok($($op)+)
                    })+
                    name => unreachable!("the operation {name} has no row"),
                }
            }

            #[allow(unused_parens, unused_variables, reason = "a pattern with one part needs no parentheses, and some results are read without the argument")]
            fn read_ret(
                record: &$crate::history::Record,
                op: &$op_type,
                result: &$crate::history::Value,
            ) -> Result<$ret_type, String> {
                match op {
                    $($($op)+ => {
                        let name = $name;
                        let returned = $crate::registry::families::notation::Return { name, record, result };
                        let ($($ret_part),*) = ($result.read)(&returned)?;
                        Ok($($ret)+)
                    })+
                }
            }

            fn show_op(op: &$op_type) -> $crate::history::Record {
                match op {
                    $($($op)+ => {
                        let (key, value) = ($argument.write)(($($op_part.clone()),*));
                        $crate::history::Record { f: $name.into(), key, value }
                    })+
                }
            }

            #[allow(unreachable_patterns, reason = "several operations may have the same results")]
            fn show_ret(ret: &$ret_type) -> String {
                match ret {
                    $($($ret)+ => ($result.show)(($($ret_part.clone()),*)),)+
                }
            }

            $(
                fn write_ret(record: &$crate::history::Record, ret: &$ret_type) -> $crate::history::Value {
                    $write_ret(record, ret)
                }
            )?
        }
    };
}

pub(super) use operations;

/// No argument.
pub(super) const NOTHING: ArgumentNotation<()> =
    ArgumentNotation { text: "-", read: |call| without_key(call.record).map(|_| ()), write: |()| (None, Value::Null) };

/// No argument, for an operation that ignores keys.
pub(super) const NOTHING_AT_ANY_KEY: ArgumentNotation<()> = ArgumentNotation { read: |_| Ok(()), ..NOTHING };

/// A value, which may be null.
pub(super) const ANY: ArgumentNotation<Value> = ArgumentNotation {
    text: "the value",
    read: |call| without_key(call.record).cloned(),
    write: |value| (None, value),
};

/// An element of a container. Null is not an element, because null means that the container is
/// empty.
pub(super) const ELEMENT: ArgumentNotation<Value> = ArgumentNotation { text: "the element", read: element, ..ANY };

/// A key: the field `key` of the call or, if there is no such field, the argument.
pub(super) const KEY: ArgumentNotation<Value> = ArgumentNotation {
    text: "the key, unless the field `key` has it",
    read: |call| key_and_rest(call.record, true).map(|(key, _)| key),
    write: |key| (Some(key), Value::Null),
};

/// The description of an argument that has a key and a value.
pub(super) const KEY_VALUE_TEXT: &str = "[key value], or the value if the field `key` has the key";

/// The text for a result that carries no information.
pub(super) const DONE: &str = "ok";

/// A result that carries no information. Every result is accepted.
pub(super) const IGNORED: ResultNotation<()> =
    ResultNotation { text: "ignored", read: |_| Ok(()), show: |()| DONE.to_owned() };

/// The result of an operation that always succeeds in this specification, but may fail in others.
/// For example, an enqueue may fail if the queue is full. Every result except `false` is accepted.
/// `false` is accepted only if the argument is `false`, because logs may repeat the argument as the
/// result.
pub(super) const SUCCESS: ResultNotation<()> = ResultNotation { read: done, ..IGNORED };

/// A value, which may be null.
pub(super) const VALUE: ResultNotation<Value> =
    ResultNotation { text: "the value", read: |returned| Ok(returned.result.clone()), show: |value| value.to_string() };

/// An element, or null if the container is empty.
pub(super) const OR_EMPTY: ResultNotation<Option<Value>> = ResultNotation {
    text: "the element, or null if empty",
    read: |returned| Ok(element_or_empty(returned.result)),
    show: |value| show_option(value.as_ref()),
};

/// The notation of a boolean.
pub(super) const WHETHER: ResultNotation<bool> =
    ResultNotation { text: "true or false", read: whether, show: |yes| yes.to_string() };

/// Whether a compare-and-set succeeded. To report success, logs often repeat the argument as the
/// result.
pub(super) const SWAPPED: ResultNotation<bool> = ResultNotation {
    text: "true or false; returning [old new] means true",
    read: |returned| {
        let Return { record, result, .. } = returned;
        if matches!(result, Value::List(_)) && **result == record.value { Ok(true) } else { whether(returned) }
    },
    ..WHETHER
};

/// A number that is not negative.
pub(super) const SIZE: ResultNotation<usize> =
    ResultNotation { text: "the number of elements", read: size, show: |size| size.to_string() };

pub(super) fn pair(first: Value, second: Value) -> Value {
    [first, second].into_iter().collect()
}

pub(super) fn show_option(value: Option<&Value>) -> String {
    value.map_or_else(|| Value::Null.to_string(), Value::to_string)
}

pub(super) fn without_key(record: &Record) -> Result<&Value, String> {
    match &record.key {
        None => Ok(&record.value),
        Some(_) => Err(format!(
            "{record} has a `key`, but this spec has no keys; rename the field to `object` if each key is an object of its own, or use the spec `map`"
        )),
    }
}

/// Returns the element that is added to a container.
pub(super) fn element(call: &Call<'_>) -> Result<Value, String> {
    let value = without_key(call.record)?;
    if value.is_null() {
        return Err(format!(
            "`{}` has no element: its `value` is null or missing, and null means empty; give the element in `value`",
            call.record.f
        ));
    }
    Ok(value.clone())
}

pub(super) fn element_or_empty(result: &Value) -> Option<Value> {
    (!result.is_null()).then(|| result.clone())
}

fn done(returned: &Return<'_>) -> Result<(), String> {
    let Return { record, result, .. } = returned;
    if **result == Value::Bool(false) && record.value != **result {
        return Err(format!(
            "{record} returned false, but in this spec it always succeeds; log a failed attempt as `fail`, or leave \
             it out"
        ));
    }
    Ok(())
}

/// Returns the error for a result that the operation cannot return. `what` describes the results
/// that it can return.
pub(super) fn must_return(returned: &Return<'_>, what: &str) -> String {
    format!(
        "{} returned {}, but must return {what}; log such a value as the `result` of the return",
        returned.record,
        brief(returned.result)
    )
}

pub(super) fn whether(returned: &Return<'_>) -> Result<bool, String> {
    match returned.result {
        Value::Bool(value) => Ok(*value),
        _ => Err(must_return(returned, "true or false")),
    }
}

pub(super) fn size(returned: &Return<'_>) -> Result<usize, String> {
    let size = returned.result.as_int().and_then(|size| usize::try_from(size).ok());
    size.ok_or_else(|| must_return(returned, "a number that is not negative"))
}

pub(super) fn brief(value: &Value) -> String {
    let mut text = value.to_string();
    if let Some((end, _)) = text.char_indices().nth(40) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

/// Reads `[old new]`.
pub(super) fn old_and_new(record: &Record, value: &Value) -> Result<(Value, Value), String> {
    tuple(value).map(|(old, new)| (old.clone(), new.clone())).ok_or_else(|| {
        format!(
            "`{}` has the argument {}, but needs a list of two, the old value and the new one; write \"value\":[1,2]",
            record.f,
            brief(value)
        )
    })
}

/// Returns the key and the rest of the argument.
///
/// If the call has a field `key`, the whole argument is the rest. Otherwise, the argument is `[key rest]`. If the
/// operation needs only a key, the argument may also be the key itself; the rest is then null, as in `[key null]`,
/// which Jepsen's independent tests write.
pub(super) fn key_and_rest(record: &Record, only_key: bool) -> Result<(Value, Value), String> {
    if let Some(key) = &record.key {
        return Ok((key.clone(), record.value.clone()));
    }
    if let Some((key, rest)) = key_in_pair(record, only_key) {
        return Ok((key.clone(), rest.clone()));
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

/// Returns the key and the rest of an argument that is `[key rest]`.
fn key_in_pair(record: &Record, only_key: bool) -> Option<(&Value, &Value)> {
    let pair = if record.key.is_none() { tuple(&record.value) } else { None };
    pair.filter(|(_, rest)| !only_key || rest.is_null())
}

pub(super) fn tuple(value: &Value) -> Option<(&Value, &Value)> {
    match value {
        Value::List(values) if values.len() == 2 => Some((&values[0], &values[1])),
        _ => None,
    }
}

/// Returns the result of an operation with a key. If the call and the result are both pairs that
/// begin with the key, returns the second part of the result. Otherwise, returns the whole result.
pub(super) fn without_pair<'r>(returned: &Return<'r>, only_key: bool) -> &'r Value {
    match (key_in_pair(returned.record, only_key), tuple(returned.result)) {
        (Some((key, _)), Some((first, value))) if first == key => value,
        _ => returned.result,
    }
}

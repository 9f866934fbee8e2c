//! Splits values that are pairs of key and value.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::{ObjectId, Outcome, RawHistory, Record, Value};
use super::CodecError;
use super::field::{object_name, quoted, shorten};

/// The meaning of values that are pairs `[key value]`. Jepsen's `independent` writes such a pair as the value of every
/// operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tuples {
    /// Each key is a separate object, such as a register; objects are judged separately.
    Objects,
    /// Each key becomes the key of the operation, such as a key of a map.
    Keys,
}

impl Tuples {
    /// Splits the pairs in arguments and results.
    ///
    /// A result may also be a value without a key, unless this value is a list.
    ///
    /// ```
    /// use trueline::history::codec::{Tuples, jepsen_edn};
    ///
    /// let history = jepsen_edn::read(&b"
    ///     {:process 0, :type :invoke, :f :write, :value [:x 1]}
    ///     {:process 1, :type :invoke, :f :read,  :value [:y nil]}
    /// "[..])?;
    /// let history = Tuples::Objects.take_apart(history)?;
    /// assert_eq!(history.object_count(), 2);
    /// assert_eq!(history.operations()[0].op.to_string(), "write(1)");
    /// # Ok::<(), trueline::history::codec::CodecError>(())
    /// ```
    ///
    /// # Errors
    /// Fails if an argument is not a pair, a result has a different key, or the operations already have keys or
    /// objects.
    #[expect(clippy::missing_panics_doc, reason = "a history has too few operations to use up the numbers for objects")]
    pub fn take_apart(self, mut history: RawHistory) -> Result<RawHistory, CodecError> {
        let mut names: Vec<Arc<str>> = Vec::new();
        let mut ids: HashMap<Value, ObjectId> = HashMap::new();
        let named = !history.objects.is_empty();
        for operation in &mut history.operations {
            let at = |line: Option<u32>, message: String| match line {
                Some(line) => CodecError::at(line, message),
                None => CodecError::whole_file(message),
            };
            let record = &mut operation.op;
            let key = split_call(record, named).map_err(|message| at(operation.call_line(), message))?;
            let line = operation.return_line().or(operation.call_line());
            if let Outcome::Returned(result) | Outcome::Optional(result) = &mut operation.outcome {
                split_result(&key, result).map_err(|message| at(line, message))?;
            }
            match self {
                Self::Keys => operation.op.key = Some(key),
                Self::Objects => {
                    let count = names.len();
                    operation.object = *ids.entry(key).or_insert_with_key(|key| {
                        names.push(object_name(key));
                        ObjectId(u32::try_from(count).expect("there are no more objects than operations"))
                    });
                }
            }
        }
        if self == Self::Objects {
            history.objects = names;
        }
        Ok(history)
    }
}

/// Splits the argument of a call, and returns the key. `named` is true if the operations already name objects.
pub(super) fn split_call(record: &mut Record, named: bool) -> Result<Value, String> {
    if named || record.key.is_some() {
        let what = if named { "object" } else { "key" };
        return Err(format!("the {what} already has a field of its own; do not also read values as pairs"));
    }
    let Some((key, value)) = pair(&record.value) else {
        return Err(format!(
            "the value of `{}` is {}, not a pair of key and value; log it as [key value], or do not read values as \
             pairs",
            quoted(&record.f),
            shorten(record.value.to_string())
        ));
    };
    record.value = value;
    Ok(key)
}

/// Splits the result of an operation whose key is `key`.
pub(super) fn split_result(key: &Value, result: &mut Value) -> Result<(), String> {
    match pair(result) {
        Some((of, value)) if of == *key => *result = value,
        None if !matches!(result, Value::List(_)) => {}
        _ => {
            return Err(format!(
                "the result is {}, not a pair with the key {}; log it as [key value]",
                shorten(result.to_string()),
                shorten(key.to_string())
            ));
        }
    }
    Ok(())
}

fn pair(value: &Value) -> Option<(Value, Value)> {
    match value {
        Value::List(values) if values.len() == 2 => Some((values[0].clone(), values[1].clone())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{jepsen_edn, jsonl};
    use super::*;

    const EVENTS: &[u8] = b"
        {:process 0, :type :invoke, :f :cas, :value [:x [1 2]]}
        {:process 1, :type :invoke, :f :read, :value [7 nil]}
        {:process 0, :type :ok, :f :cas, :value [:x [1 2]]}
        {:process 1, :type :ok, :f :read, :value [7 5]}
        {:process 2, :type :invoke, :f :read, :value [7 nil]}
        {:process 3, :type :invoke, :f :cas, :value [:x [1 2]]}
        {:process 3, :type :ok, :f :cas}
    ";

    #[test]
    fn keys_become_objects_or_keys() {
        let history = jepsen_edn::read(EVENTS).expect("the history is well formed");
        let objects = Tuples::Objects.take_apart(history.clone()).expect("the values are pairs");
        let shown = |history: &RawHistory| -> Vec<String> {
            let operations = history.operations().iter();
            operations.map(|operation| format!("{} {:?}", operation.op, operation.outcome.result())).collect()
        };
        assert_eq!(objects.object_count(), 2);
        let names: Vec<_> =
            objects.operations().iter().filter_map(|operation| objects.object_name(operation.object)).collect();
        assert_eq!(names, ["x", "7", "7", "x"]);
        assert_eq!(shown(&objects)[1..3], ["read() Some(5)", "read() None"]);
        assert_eq!(shown(&objects)[3], "cas([1,2]) Some(true)");
        let keys = Tuples::Keys.take_apart(history).expect("the values are pairs");
        assert_eq!(keys.object_count(), 1);
        assert_eq!(shown(&keys)[0], r#"cas("x", [1,2]) Some([1,2])"#);
        assert_eq!(shown(&keys)[1], "read(7) Some(5)");
    }

    #[test]
    fn errors_name_the_line_and_the_remedy() {
        for (text, expected) in [
            (r#"{"process":0,"type":"invoke","f":"read"}"#, "line 1: the value of `read` is null, not a pair"),
            (r#"{"process":0,"type":"invoke","f":"w","value":[1,2,3]}"#, "line 1: the value of `w` is [1,2,3]"),
            (
                r#"{"process":0,"type":"invoke","f":"w","key":1,"value":[1,2]}"#,
                "line 1: the key already has a field of its own",
            ),
            (
                r#"{"process":0,"type":"invoke","f":"w","object":1,"value":[1,2]}"#,
                "line 1: the object already has a field of its own",
            ),
            (
                "{\"process\":0,\"type\":\"invoke\",\"f\":\"w\",\"value\":[1,2]}\n{\"process\":0,\"type\":\"ok\",\"value\":[2,2]}",
                "line 2: the result is [2,2], not a pair with the key 1",
            ),
        ] {
            let history = jsonl::read(text.as_bytes()).expect("the history is well formed");
            let error = Tuples::Keys.take_apart(history).expect_err(text).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}

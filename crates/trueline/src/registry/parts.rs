//! Divides histories into parts that can be judged separately.

use std::collections::HashMap;

use super::numbered::{LentValue, Numbered, NumberedHistory, OpNumber, RetNumber};
use crate::history::{Operation, RawHistory, Record};

/// Numbers the parts of a history by object and key.
pub(super) fn numbered_parts<V: LentValue>(
    spec: &dyn Numbered<V>,
    history: &RawHistory,
    numbered: &NumberedHistory,
) -> (Vec<usize>, Vec<String>) {
    let operations = numbered.operations();
    let key = |operation: &Operation<OpNumber, RetNumber>| {
        spec.key(&operation.op, operation.outcome.result()).map(|key| key as usize)
    };
    parts(history, operations.iter().map(key).collect(), &|index| {
        let Record { key, value, .. } = spec.show_op(operations[index].op);
        key.unwrap_or(value).to_string()
    })
}

/// Numbers the parts of a history in which each object is one part.
pub(super) fn by_object(history: &RawHistory) -> (Vec<usize>, Vec<String>) {
    parts(history, vec![None; history.len()], &|_| String::new())
}

/// Numbers the parts of a history: by object, and also by key if all operations of the object have
/// a key. `name` returns the name of an operation's key.
fn parts(history: &RawHistory, keys: Vec<Option<usize>>, name: &dyn Fn(usize) -> String) -> (Vec<usize>, Vec<String>) {
    let mut is_whole = vec![false; history.object_count()];
    for (operation, key) in history.operations().iter().zip(&keys) {
        is_whole[operation.object.index()] |= key.is_none();
    }
    let mut numbers = HashMap::new();
    let mut names = Vec::new();
    let numbered = history.operations().iter().zip(keys).enumerate().map(|(index, (operation, key))| {
        let object = operation.object;
        let key = key.filter(|_| !is_whole[object.index()]);
        let has_key = key.is_some();
        *numbers.entry((object, key)).or_insert_with(|| {
            let object = history.object_name(object).unwrap_or_default();
            names.push(match (object, has_key) {
                (object, false) => object.to_owned(),
                ("", true) => name(index),
                (object, true) => format!("{object} {}", name(index)),
            });
            names.len() - 1
        })
    });
    (numbered.collect(), names)
}

//! The histories that come with Porcupine: etcd's registers and a key-value store.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use trueline::history::codec::{CodecError, jepsen_log, porcupine};
use trueline::history::{History, Operation, Outcome, RawHistory, Record, Value};
use trueline::spec::{CasRegisterOp, CasRegisterRet, KvOp, KvRet};

use crate::cases::{Case, FOR_ONE_OF_MANY, Source};
use crate::checkers::Answer;
use crate::objects::{Action, StoreOp, StoreRet};

/// The title of the case with all files. `BARS` sets the minimum speedup of this case.
pub(crate) const ALL: &str = "All files of Porcupine (those of the key-value store are split by key)";
/// The title of the case with one file, which is judged as a whole. `BARS` sets the minimum speedup
/// of this case.
pub(crate) const STORE_WHOLE: &str = "Porcupine's key-value store, 10 clients (`c10-ok`), whole";

/// Returns the cases of the files in `data`.
///
/// # Errors
/// Returns an error if the files do not exist, or their table of verdicts is invalid.
pub(crate) fn cases(data: &Path) -> Result<Vec<Case>, String> {
    let folder = data.join("porcupine");
    let table = folder.join("EXPECTED.tsv");
    let text = fs::read_to_string(&table).map_err(|error| format!("{}: {error}", table.display()))?;
    let mut all = Vec::new();
    for line in text.lines().skip(1) {
        let wrong = || format!("{}: expected a file, a model and a verdict, but found {line:?}", table.display());
        let mut fields = line.split('\t');
        let (file, _model, expected) =
            fields.next().zip(fields.next()).zip(fields.next()).map(|((a, b), c)| (a, b, c)).ok_or_else(wrong)?;
        let expected = match expected {
            "linearizable" => Answer::Accepted,
            "non-linearizable" => Answer::Rejected,
            _ => return Err(wrong()),
        };
        let kind = if file.starts_with("jepsen/") { "etcd" } else { "store" };
        let path = folder.join(file).to_str().ok_or_else(wrong)?.to_owned();
        all.push(Source { words: vec![kind.to_owned(), path], expected: Some(expected) });
    }
    let whole = all.iter().find(|source| source.words[1].ends_with("c10-ok.txt")).cloned();
    let mut cases = vec![Case {
        title: ALL.to_owned(),
        remark: "Logs of etcd, and of a store with get, put and append.",
        by_key: true,
        histories: all,
        limit: Some(FOR_ONE_OF_MANY),
    }];
    cases.extend(whole.map(|whole| Case {
        title: STORE_WHOLE.to_owned(),
        remark: "",
        by_key: false,
        histories: vec![whole],
        limit: None,
    }));
    Ok(cases)
}

type Etcd = History<CasRegisterOp<Option<i64>>, CasRegisterRet<Option<i64>>>;
type Store = History<KvOp<Arc<str>>, KvRet>;

/// Reads a log of etcd.
pub(crate) fn read_etcd(path: &str) -> Result<Etcd, String> {
    let raw = read(path, |bytes| jepsen_log::read(bytes))?;
    raw.try_map(|operation| {
        let op = match (&*operation.op.f, &operation.op.value) {
            ("read", _) => CasRegisterOp::Read,
            ("write", value) => CasRegisterOp::Write(number(value)?),
            ("cas", Value::List(pair)) if pair.len() == 2 => {
                CasRegisterOp::Cas { expected: number(&pair[0])?, new: number(&pair[1])? }
            }
            _ => return Err(unknown(&operation.op)),
        };
        let outcome = outcome(operation, |result| match &op {
            CasRegisterOp::Read => number(result).map(CasRegisterRet::Value),
            CasRegisterOp::Write(_) => Ok(CasRegisterRet::Done),
            // A compare-and-set that failed has the result `false`. One that succeeded has its
            // argument as its result.
            CasRegisterOp::Cas { .. } => Ok(CasRegisterRet::Swapped(*result != Value::Bool(false))),
        })?;
        Ok((op, outcome))
    })
}

fn number(value: &Value) -> Result<Option<i64>, String> {
    match value {
        Value::Null => Ok(None),
        Value::Int(number) => Ok(Some(*number)),
        _ => Err(format!("{value} is not a number")),
    }
}

/// Reads a history of the key-value store, for trueline and for the other crates.
pub(crate) fn read_store(path: &str) -> Result<(Store, History<StoreOp, StoreRet>), String> {
    let raw = read(path, |bytes| porcupine::read_kv(bytes))?;
    let plain = raw.try_map(|operation| {
        let Some(Value::Text(key)) = &operation.op.key else { return Err(unknown(&operation.op)) };
        let action = match (&*operation.op.f, &operation.op.value) {
            ("get", _) => Action::Get,
            ("put", Value::Text(text)) => Action::Put(text.to_string()),
            ("append", Value::Text(text)) => Action::Append(text.to_string()),
            _ => return Err(unknown(&operation.op)),
        };
        let outcome = outcome(operation, |result| match (&action, result) {
            (Action::Get, Value::Text(text)) => Ok(Some(text.to_string())),
            (Action::Get, _) => Err(format!("a get returned {result}, which is not a string")),
            (Action::Put(_) | Action::Append(_), _) => Ok(None),
        })?;
        Ok((StoreOp { key: key.clone(), action }, outcome))
    })?;
    let ours = plain.try_map(|operation| {
        let key = operation.op.key.clone();
        let op = match &operation.op.action {
            Action::Get => KvOp::Get(key),
            Action::Put(text) => KvOp::Put(key, text.as_str().into()),
            Action::Append(text) => KvOp::Append(key, text.as_str().into()),
        };
        let outcome = outcome(operation, |result| {
            Ok(result.as_ref().map_or(KvRet::Done, |text| KvRet::Value(text.as_str().into())))
        })?;
        Ok::<_, String>((op, outcome))
    })?;
    Ok((ours, plain))
}

fn read(path: &str, read: fn(&[u8]) -> Result<RawHistory, CodecError>) -> Result<RawHistory, String> {
    let bytes = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    read(&bytes).map_err(|error| format!("{path}: {error}"))
}

fn outcome<Op, Ret, Ret2>(
    operation: &Operation<Op, Ret>,
    read: impl FnOnce(&Ret) -> Result<Ret2, String>,
) -> Result<Outcome<Ret2>, String> {
    Ok(match &operation.outcome {
        Outcome::Pending => Outcome::Pending,
        Outcome::Returned(result) => Outcome::Returned(read(result)?),
        Outcome::Optional(result) => Outcome::Optional(read(result)?),
    })
}

fn unknown(record: &Record) -> String {
    format!("{record} is not an operation of this object")
}

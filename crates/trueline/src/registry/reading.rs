//! Converts histories from the notation of files to the operations of a specification.

use std::cell::RefCell;
use std::sync::Arc;

use super::family::{Family, Lent};
use super::lookup::NamedError;
use super::numbered::{AnyNumbered, LentValue, Numbered, NumberedHistory, OpNumber, RetNumber, numbered};
use super::table::{SPECS, SpecInfo, nearest};
use crate::history::codec::{Numbers, Source};
use crate::history::{Operation, Outcome, ProcessId, RawHistory, Record, Value};

/// Reads a history with the notation of the family.
pub(super) fn read_all<'f, F: Family>(
    family: &'f F,
    info: &SpecInfo,
    history: &RawHistory,
) -> Result<(AnyNumbered<'f, Lent<F>>, NumberedHistory), NamedError> {
    let mut spec = numbered(family);
    let history = read_numbered(&mut *spec, info, history)?;
    Ok((Arc::from(spec), history))
}

fn read_numbered<V: LentValue>(
    spec: &mut dyn Numbered<V>,
    info: &SpecInfo,
    history: &RawHistory,
) -> Result<NumberedHistory, NamedError> {
    let numbered = history.try_map(|operation| read_one(spec, info, operation))?;
    spec.settle(numbered).map_err(NamedError::new)
}

/// Reads a history from a file with the notation of the family, without keeping its records.
pub(super) fn read_source<'f, F: Family>(
    family: &'f F,
    info: &SpecInfo,
    source: &mut Source<'_>,
) -> Result<(AnyNumbered<'f, Lent<F>>, NumberedHistory), NamedError> {
    let mut spec = numbered(family);
    let history = number_source(&mut *spec, info, source)?;
    Ok((Arc::from(spec), history))
}

fn number_source<V: LentValue>(
    spec: &mut dyn Numbered<V>,
    info: &SpecInfo,
    source: &mut Source<'_>,
) -> Result<NumberedHistory, NamedError> {
    let history = source.numbered(&mut TableNumbers { spec, info, found: Vec::new() })?;
    let history = history.map_err(|fault| NamedError::at(Some(fault.line).filter(|line| *line > 0), fault.message))?;
    spec.settle(history).map_err(NamedError::new)
}

/// Numbers operations and results with the [`Numbered`] specification of a family.
struct TableNumbers<'s, V> {
    spec: &'s mut dyn Numbered<V>,
    info: &'s SpecInfo,
    /// A cache of the names that were looked up: the name in a record, and the operation's name in
    /// the table. Records with the same name share one allocation of the name, so a lookup compares
    /// only addresses.
    found: Vec<(Arc<str>, &'static str)>,
}

/// The maximum number of names in the cache.
const MOST_FOUND: usize = 16;

impl<V: LentValue> Numbers for TableNumbers<'_, V> {
    fn process_matters(&self) -> bool {
        self.spec.process_matters()
    }

    fn op(&mut self, process: ProcessId, record: &Record) -> Result<OpNumber, String> {
        let found = self.found.iter().find(|(f, _)| Arc::ptr_eq(f, &record.f));
        let name = match found {
            Some((_, name)) => name,
            None => {
                let known = self.info.operation(&record.f).ok_or_else(|| unknown_operation(self.info, &record.f))?;
                if self.found.len() == MOST_FOUND {
                    self.found.clear();
                }
                self.found.push((Arc::clone(&record.f), known.name));
                known.name
            }
        };
        self.spec.read_op(name, process, record)
    }

    fn ret(&mut self, record: &Record, op: OpNumber, result: &Value) -> Result<RetNumber, String> {
        self.spec.read_ret(record, op, result)
    }
}

/// Reads an operation with the notation of the family.
pub(super) fn read_one<V: LentValue>(
    spec: &mut dyn Numbered<V>,
    info: &SpecInfo,
    operation: &Operation<Record, Value>,
) -> Result<(OpNumber, Outcome<RetNumber>), NamedError> {
    let spec = RefCell::new(spec);
    let read_op = |name: &str, process, record: &Record| spec.borrow_mut().read_op(name, process, record);
    read(info, operation, read_op, |record, op, result| spec.borrow_mut().read_ret(record, *op, result))
}

/// Reads an operation and its outcome. An error contains the line of the call or return that cannot
/// be read.
pub(super) fn read<Op, Ret>(
    info: &SpecInfo,
    operation: &Operation<Record, Value>,
    read_op: impl FnOnce(&str, ProcessId, &Record) -> Result<Op, String>,
    read_ret: impl FnOnce(&Record, &Op, &Value) -> Result<Ret, String>,
) -> Result<(Op, Outcome<Ret>), NamedError> {
    let record = &operation.op;
    let at_call = |message| NamedError::at(operation.call_line(), message);
    let Some(known) = info.operation(&record.f) else { return Err(at_call(unknown_operation(info, &record.f))) };
    let op = read_op(known.name, operation.process, record).map_err(at_call)?;
    let read_ret = |result: &Value| {
        read_ret(record, &op, result)
            .map_err(|message| NamedError::at(operation.return_line().or(operation.call_line()), message))
    };
    let outcome = match &operation.outcome {
        Outcome::Pending => Outcome::Pending,
        Outcome::Returned(result) => Outcome::Returned(read_ret(result)?),
        Outcome::Optional(result) => Outcome::Optional(read_ret(result)?),
    };
    Ok((op, outcome))
}

pub(super) fn unknown_operation(info: &SpecInfo, f: &str) -> String {
    let names = info.operations.iter().map(|operation| operation.name);
    let aliases = info.operations.iter().flat_map(|operation| operation.aliases.iter().copied());
    let hint = match nearest(f, names.clone().chain(aliases)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => match SPECS.iter().find(|other| other.operation(f).is_some()) {
            Some(other) => format!("`{}` has such an operation; did you mean that spec?", other.name),
            None => "correct the name, or give another spec (`trueline specs` lists them)".to_owned(),
        },
    };
    let f: String = f.chars().take(40).collect();
    format!("`{}` has no operation {f:?}, only {}; {hint}", info.name, names.collect::<Vec<_>>().join(", "))
}

//! Sequential objects that are chosen by name. They execute operations in the notation of files, and do not judge
//! histories.

use std::marker::PhantomData;

use super::families::notation::Notation;
use super::family::Family;
use super::lookup::{NamedError, NamedSpec};
use super::reading::unknown_operation;
use super::table::SpecInfo;
use crate::history::{ProcessId, Record, Value};
use crate::spec::Spec;
use crate::spec::sync::SyncSpec;

/// Chooses one of several alternatives: returns a number below its argument.
pub type Choose<'c> = &'c mut dyn FnMut(usize) -> usize;

/// The object that a [`NamedSpec`] specifies, in some state: see [`NamedSpec::object`].
pub struct NamedObject<'s> {
    info: &'static SpecInfo,
    object: Box<dyn AnyObject + 's>,
}

impl std::fmt::Debug for NamedObject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NamedObject").field(&self.info.name).finish()
    }
}

impl NamedSpec {
    /// Returns an object that executes operations, in its initial state; `None` if operations of
    /// the specification take several steps.
    ///
    /// ```
    /// use trueline::history::{ProcessId, Record, Value};
    /// use trueline::registry::{self, Options};
    ///
    /// let spec = registry::spec("queue", Options::new())?;
    /// let mut queue = spec.object().expect("it takes one step at a time");
    /// let mut step = |f: &str, value| {
    ///     let record = Record { f: f.into(), key: None, value };
    ///     queue.step(&[(ProcessId(0), &record)], &mut |_| 0)
    /// };
    /// step("enqueue", Value::Int(5))?;
    /// assert_eq!(step("dequeue", Value::Null)?, [(0, Value::Int(5))]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(hidden)]
    pub fn object(&self) -> Option<NamedObject<'_>> {
        self.family.object().map(|object| NamedObject { info: self.info, object })
    }
}

impl NamedObject<'_> {
    /// Lets one of the `open` operations take effect, or several that synchronize. Returns their
    /// positions in `open` and their results. Returns an empty list if all operations are blocked.
    /// If the operations synchronize, the list may be empty even though a group could synchronize,
    /// because not all groups are tried.
    ///
    /// # Errors
    /// Returns an error if an operation is unknown, or has an argument of the wrong type.
    pub fn step(
        &mut self,
        open: &[(ProcessId, &Record)],
        choose: Choose<'_>,
    ) -> Result<Vec<(usize, Value)>, NamedError> {
        for (_, record) in open {
            if self.info.operation(&record.f).is_none() {
                return Err(NamedError::new(unknown_operation(self.info, &record.f)));
            }
        }
        self.object.step(self.info, open, choose).map_err(NamedError::new)
    }
}

/// An object without its types.
pub(super) trait AnyObject {
    fn step(
        &mut self,
        info: &SpecInfo,
        open: &[(ProcessId, &Record)],
        choose: Choose<'_>,
    ) -> Result<Vec<(usize, Value)>, String>;
}

/// An object whose operations take effect one at a time.
pub(super) struct OneAtATime<'s, F: Family> {
    family: &'s F,
    state: <F::Spec as Spec>::State,
}

impl<'s, F: Family> OneAtATime<'s, F> {
    pub(super) fn new(family: &'s F) -> Self {
        Self { family, state: family.spec().initial() }
    }
}

impl<F: Family> AnyObject for OneAtATime<'_, F> {
    fn step(
        &mut self,
        info: &SpecInfo,
        open: &[(ProcessId, &Record)],
        choose: Choose<'_>,
    ) -> Result<Vec<(usize, Value)>, String> {
        if open.is_empty() {
            return Ok(Vec::new());
        }
        let first = choose(open.len());
        for index in (first..open.len()).chain(0..first) {
            let (process, record) = open[index];
            let process = self.family.process_matters().then_some(process);
            let op = F::Notation::read_op(canonical(info, record), process, record)?;
            let outcomes = self.family.spec().step(&self.state, &op, None);
            // The notation of files cannot express every result. For example, if an append of the
            // element 5 to a log returns the index 5, this result is read back as the repeated
            // element. Keep only results that are read back unchanged.
            let said = outcomes.into_iter().filter_map(|(ret, next)| {
                let value = F::Notation::write_ret(record, &ret);
                let again = F::Notation::read_ret(record, &op, &value);
                again.is_ok_and(|again| again == ret).then_some((value, next))
            });
            let mut said: Vec<(Value, _)> = said.collect();
            if said.is_empty() {
                continue;
            }
            let place = if said.len() == 1 { 0 } else { choose(said.len()) };
            let (value, next) = said.swap_remove(place);
            self.state = next;
            return Ok(vec![(index, value)]);
        }
        Ok(Vec::new())
    }
}

/// The maximum number of random groups that are tried to find one that can synchronize.
const TRIES: usize = 200;

/// An object whose operations synchronize.
pub(super) struct Together<'s, S: SyncSpec, N> {
    spec: &'s S,
    state: S::State,
    notation: PhantomData<fn() -> N>,
}

impl<'s, S: SyncSpec, N> Together<'s, S, N> {
    pub(super) fn new(spec: &'s S) -> Self {
        Self { spec, state: spec.initial(), notation: PhantomData }
    }
}

impl<S: SyncSpec, N: Notation<Op = S::Op, Ret = S::Ret>> AnyObject for Together<'_, S, N> {
    fn step(
        &mut self,
        info: &SpecInfo,
        open: &[(ProcessId, &Record)],
        choose: Choose<'_>,
    ) -> Result<Vec<(usize, Value)>, String> {
        let mut ops = Vec::with_capacity(open.len());
        let mut places = Vec::with_capacity(open.len());
        for (process, record) in open {
            let op = N::read_op(canonical(info, record), Some(*process), record)?;
            places.push(self.spec.place(&op));
            ops.push(op);
        }
        let mut arities = self.spec.arities(&self.state);
        arities.retain(|arity| *arity <= open.len());
        if arities.is_empty() {
            return Ok(Vec::new());
        }
        for _ in 0..TRIES {
            let group = some_group(&arities, &places, choose);
            let mut chosen = Vec::with_capacity(group.len());
            for index in &group {
                chosen.push(&ops[*index]);
            }
            let mut outcomes = self.spec.synchronize(&self.state, &chosen);
            if outcomes.is_empty() {
                continue;
            }
            let (next, results) = outcomes.swap_remove(choose(outcomes.len()));
            let mut said = Vec::with_capacity(group.len());
            for (&index, ret) in group.iter().zip(&results) {
                let value = N::write_ret(open[index].1, ret);
                let again = N::read_ret(open[index].1, &ops[index], &value)?;
                debug_assert_eq!(again, *ret, "{value} is read back as a different result");
                said.push((index, value));
            }
            self.state = next;
            return Ok(said);
        }
        Ok(Vec::new())
    }
}

/// Chooses a random group of operations, sorted by their `places`.
fn some_group(arities: &[usize], places: &[u32], choose: Choose<'_>) -> Vec<usize> {
    let arity = arities[choose(arities.len())];
    let mut rest: Vec<usize> = (0..places.len()).collect();
    let mut group: Vec<usize> = (0..arity).map(|_| rest.swap_remove(choose(rest.len()))).collect();
    group.sort_unstable_by_key(|index| (places[*index], *index));
    group
}

/// Returns the name of an operation in the table. The operation must be in the table.
fn canonical<'i>(info: &'i SpecInfo, record: &Record) -> &'i str {
    info.operation(&record.f).map_or("", |operation| operation.name)
}

/// Parses a result from its text; returns null if the text is not JSON.
pub(super) fn value_of(shown: &str) -> Value {
    fn read(json: serde_json::Value) -> Value {
        match json {
            serde_json::Value::Bool(value) => Value::Bool(value),
            serde_json::Value::Number(number) => number.as_i64().map_or(Value::Null, Value::Int),
            serde_json::Value::String(text) => Value::Text(text.into()),
            serde_json::Value::Array(values) => values.into_iter().map(read).collect(),
            serde_json::Value::Null | serde_json::Value::Object(_) => Value::Null,
        }
    }
    serde_json::from_str(shown).map_or(Value::Null, read)
}

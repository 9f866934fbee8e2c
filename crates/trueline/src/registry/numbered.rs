//! Specifications whose operations, results and keys are numbers.
//!
//! The entry points of the judges are generic over the specification, and so are histories, cores and evidence. `dyn`
//! [`Numbered`] is one specification type for all families: a family's [`Table`] holds the typed operations and
//! results, and all other code sees only their numbers. So the code around the judges is compiled once for all named
//! specifications, and a new specification adds only its `Table`.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::families::notation::Notation;
use super::family::{Family, Lent, Op, Ret};
pub(super) use crate::history::codec::{NumberedHistory, OpNumber, RetNumber};
use crate::history::{ProcessId, Record, Shown, Value};
use crate::judge::{HistoryInterner, Interner, Show};
use crate::spec::persistent::Text;
use crate::spec::state::State;
use crate::spec::{Initial, Object, Outcomes, Spec, Standard, Subject};

/// A type for the values of [`Standard`] operations.
pub(super) trait LentValue: Clone + Eq + Hash + Send + Sync + 'static {}

impl<V: Clone + Eq + Hash + Send + Sync + 'static> LentValue for V {}

/// Converts between the values of a family's [`Standard`] operations and the values of [`Numbered`].
pub(super) trait Lend: 'static {
    /// The type of the values in [`Numbered`].
    type As: LentValue;
    fn lend(&self) -> &Self::As;
    fn lent(value: &Self::As) -> &Self;
}

impl Lend for Value {
    type As = Self;
    fn lend(&self) -> &Self {
        self
    }
    fn lent(value: &Self) -> &Self {
        value
    }
}

impl Lend for Text {
    type As = Self;
    fn lend(&self) -> &Self {
        self
    }
    fn lent(value: &Self) -> &Self {
        value
    }
}

/// `()` is the value type of [`Standard`] operations that have no values.
impl Lend for () {
    type As = Value;
    fn lend(&self) -> &Value {
        &Value::Null
    }
    fn lent(_: &Value) -> &Self {
        &()
    }
}

/// A family's specification whose operations, results and keys are numbers, together with the
/// operations and results of one history.
pub(super) trait Numbered<V>:
    Spec<Op = OpNumber, Ret = RetNumber, State = State, Key = u32, Value = V> + Send
{
    /// Returns whether it matters which process calls an operation.
    fn process_matters(&self) -> bool;

    /// Reads an operation; `name` is its name in the table of specifications.
    fn read_op(&mut self, name: &str, process: ProcessId, record: &Record) -> Result<OpNumber, String>;

    /// Reads a result of `op`; the operation itself was read from `record`.
    fn read_ret(&mut self, record: &Record, op: OpNumber, result: &Value) -> Result<RetNumber, String>;

    /// Decides questions that depend on the whole history: see [`Family::settle`].
    fn settle(&mut self, history: NumberedHistory) -> Result<NumberedHistory, String>;

    /// Formats the operation for reports.
    fn show_op(&self, op: OpNumber) -> Record;

    /// Formats the result for reports.
    fn show_ret(&self, ret: RetNumber) -> String;
}

/// The specification of a family, with the type of the family erased.
pub(super) type AnyNumbered<'f, V> = Arc<dyn Numbered<V> + 'f>;

/// Returns the numbered specification of a family, initially without operations and results.
pub(super) fn numbered<F: Family>(family: &F) -> Box<dyn Numbered<Lent<F>> + '_> {
    Box::new(Table { family, ops: Items::new(), rets: Items::new(), keys: Mutex::default() })
}

/// Returns the functions that format operations and results for reports.
pub(super) fn show<'f, V: LentValue>(spec: &AnyNumbered<'f, V>) -> Show<'f, OpNumber, RetNumber> {
    let (spec, same) = (Arc::clone(spec), Arc::clone(spec));
    Show::by(move |op| Shown::Record(spec.show_op(*op)), move |ret| same.show_ret(*ret))
}

/// Numbered items: those that were read with the history, and those that were added while the
/// history was judged.
struct Items<T> {
    read: HistoryInterner<T>,
    later: Mutex<Interner<T>>,
}

impl<T: Clone + Eq + Hash> Items<T> {
    fn new() -> Self {
        Self { read: HistoryInterner::default(), later: Mutex::default() }
    }

    /// Returns the item with this number if it was read with the history, and `None` if it was
    /// added later.
    fn read(&self, number: u32) -> Option<&T> {
        ((number as usize) < self.read.len()).then(|| &self.read[number])
    }

    fn get(&self, number: u32) -> Cow<'_, T> {
        if let Some(item) = self.read(number) {
            return Cow::Borrowed(item);
        }
        Cow::Owned(self.later()[number - self.first_later()].clone())
    }

    fn number(&self, item: T) -> u32 {
        self.read.find(&item).unwrap_or_else(|| self.first_later() + self.later().number(item))
    }

    fn has_later(&self) -> bool {
        self.later().len() > 0
    }

    fn later(&self) -> MutexGuard<'_, Interner<T>> {
        self.later.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn first_later(&self) -> u32 {
        u32::try_from(self.read.len()).expect("the number of operations fits in 32 bits")
    }
}

/// Implements [`Numbered`] for a family. Contains the operations, results and keys that the numbers stand for.
struct Table<'f, F: Family> {
    family: &'f F,
    ops: Items<Op<F>>,
    rets: Items<Ret<F>>,
    keys: Mutex<Interner<<F::Spec as Spec>::Key>>,
}

impl<F: Family> Table<'_, F> {
    fn op(&self, op: &OpNumber) -> Cow<'_, Op<F>> {
        self.ops.get(op.0)
    }

    fn ret(&self, ret: Option<&RetNumber>) -> Option<Cow<'_, Ret<F>>> {
        ret.map(|ret| self.rets.get(ret.0))
    }

    fn spec(&self) -> &F::Spec {
        self.family.spec()
    }
}

impl<F: Family> Numbered<Lent<F>> for Table<'_, F> {
    fn process_matters(&self) -> bool {
        self.family.process_matters()
    }

    fn read_op(&mut self, name: &str, process: ProcessId, record: &Record) -> Result<OpNumber, String> {
        let op = F::Notation::read_op(name, self.family.process_matters().then_some(process), record)?;
        Ok(OpNumber(self.ops.read.number(op)))
    }

    fn read_ret(&mut self, record: &Record, op: OpNumber, result: &Value) -> Result<RetNumber, String> {
        let ret = F::Notation::read_ret(record, &self.ops.read[op.0], result)?;
        Ok(RetNumber(self.rets.read.number(ret)))
    }

    fn settle(&mut self, history: NumberedHistory) -> Result<NumberedHistory, String> {
        let Some(settle) = self.family.settle() else { return Ok(history) };
        let mut operations = Vec::with_capacity(history.len());
        for operation in history.operations() {
            let ret = operation.outcome.result().map(|ret| &self.rets.read[ret.0]);
            operations.push((&self.ops.read[operation.op.0], ret));
        }
        let Some(settled) = settle(self.spec(), &operations)? else { return Ok(history) };
        Ok(history.map(|operation| {
            let settle = |ret: &RetNumber| {
                let ret = settled(&self.rets.read[ret.0]);
                RetNumber(self.rets.read.number(ret))
            };
            (operation.op, operation.outcome.map(settle))
        }))
    }

    fn show_op(&self, op: OpNumber) -> Record {
        F::Notation::show_op(&self.op(&op))
    }

    fn show_ret(&self, ret: RetNumber) -> String {
        F::Notation::show_ret(&self.rets.get(ret.0))
    }
}

impl<F: Family> Spec for Table<'_, F> {
    type Op = OpNumber;
    type Ret = RetNumber;
    type State = State;
    type Key = u32;
    type Value = Lent<F>;

    fn initial(&self) -> State {
        State::new(self.spec().initial())
    }

    fn step(&self, state: &State, op: &OpNumber, recorded: Option<&RetNumber>) -> Outcomes<RetNumber, State> {
        let known = self.ret(recorded);
        let mut outcomes = Outcomes::new();
        for (ret, next) in self.spec().step(state.of(), &self.op(op), known.as_deref()) {
            let number = match (&known, recorded) {
                (Some(known), Some(recorded)) if **known == ret => *recorded,
                // The caller ignores results other than the recorded one.
                (Some(_), _) => continue,
                (None, _) => RetNumber(self.rets.number(ret)),
            };
            outcomes.push((number, State::new(next)));
        }
        outcomes
    }

    /// Returns `None` if operations or results were added after the history was read: an object borrows the operations
    /// and results that it is given, and only those read with the history can be borrowed.
    fn object<'a>(&'a self) -> Option<Object<'a, OpNumber, RetNumber>> {
        if self.ops.has_later() || self.rets.has_later() {
            return None;
        }
        let mut object = self.spec().object()?;
        Some(Box::new(move |op, ret| object(&self.ops.read[op.0], &self.rets.read[ret.0])))
    }

    fn observes(&self, op: &OpNumber, recorded: Option<&RetNumber>) -> bool {
        self.spec().observes(&self.op(op), self.ret(recorded).as_deref())
    }

    fn overwrites(&self, op: &OpNumber, recorded: Option<&RetNumber>) -> bool {
        self.spec().overwrites(&self.op(op), self.ret(recorded).as_deref())
    }

    fn key(&self, op: &OpNumber, recorded: Option<&RetNumber>) -> Option<u32> {
        let key = self.spec().key(&self.op(op), self.ret(recorded).as_deref())?;
        Some(self.keys.lock().unwrap_or_else(PoisonError::into_inner).number(key))
    }

    fn is_goal(&self, op: &OpNumber, result: &RetNumber) -> bool {
        self.spec().is_goal(&self.op(op), &self.rets.get(result.0))
    }

    fn reaches(&self, state: &State, goal: &OpNumber, result: &RetNumber) -> bool {
        self.spec().reaches(state.of(), &self.op(goal), &self.rets.get(result.0))
    }

    /// Returns `None` for operations that [`Spec::restrict`] has created: they were not read with
    /// the history, so their values cannot be borrowed. A history that contains such operations is
    /// judged by search.
    fn standard<'a>(&'a self, op: &'a OpNumber, recorded: Option<&'a RetNumber>) -> Option<Standard<&'a Lent<F>>> {
        let recorded = match recorded {
            Some(ret) => Some(self.rets.read(ret.0)?),
            None => None,
        };
        let standard = self.spec().standard(self.ops.read(op.0)?, recorded)?;
        Some(standard.map(Lend::lend))
    }

    fn standard_spans_keys(&self) -> bool {
        self.spec().standard_spans_keys()
    }

    fn standard_initial(&self) -> Initial<&Lent<F>> {
        match self.spec().standard_initial() {
            Initial::Nothing => Initial::Nothing,
            Initial::Value(value) => Initial::Value(value.lend()),
            Initial::Permits(permits) => Initial::Permits(permits),
        }
    }

    fn standard_order(&self, one: &Lent<F>, other: &Lent<F>) -> Ordering {
        self.spec().standard_order(Lend::lent(one), Lend::lent(other))
    }

    fn standard_ranks(&self, values: &[&Lent<F>]) -> Vec<u32> {
        let mut lent = Vec::with_capacity(values.len());
        for value in values {
            lent.push(Lend::lent(*value));
        }
        self.spec().standard_ranks(&lent)
    }

    fn subject(&self, op: &OpNumber, recorded: Option<&RetNumber>) -> Subject {
        self.spec().subject(&self.op(op), self.ret(recorded).as_deref())
    }

    fn restrict(
        &self,
        op: &OpNumber,
        recorded: Option<&RetNumber>,
        gone: &dyn Fn(Subject) -> bool,
    ) -> Option<(OpNumber, Option<RetNumber>)> {
        let (op, ret) = self.spec().restrict(&self.op(op), self.ret(recorded).as_deref(), gone)?;
        Some((OpNumber(self.ops.number(op)), ret.map(|ret| RetNumber(self.rets.number(ret)))))
    }

    fn leads_to(&self, op: &OpNumber, recorded: &RetNumber) -> Option<State> {
        self.spec().leads_to(&self.op(op), &self.rets.get(recorded.0)).map(State::new)
    }

    fn heap_size(&self, state: &State) -> usize {
        // A `State` points to a heap allocation, which holds the typed state and two reference
        // counts.
        size_of::<<F::Spec as Spec>::State>() + 2 * size_of::<usize>() + self.spec().heap_size(state.of())
    }

    fn describe_result(&self, result: &RetNumber) -> String {
        self.spec().describe_result(&self.rets.get(result.0))
    }

    fn describe_operation(&self, op: &OpNumber) -> String {
        self.show_op(*op).to_string()
    }

    fn describe_state(&self, state: &State) -> String {
        self.spec().describe_state(state.of())
    }
}

//! Judges histories while they are being recorded, with specifications that are chosen by name.

use super::families::check_sums;
use super::families::notation::Notation;
use super::family::{Family, Op, Ret};
use super::lookup::{NamedError, NamedSpec};
use super::reading::unknown_operation;
use super::table::SpecInfo;
use crate::history::{ProcessId, Record, Value};
use crate::judge::{Effect, Online, OnlineCall, OnlineLimits, Why};
use crate::spec::Spec;

/// The names of the specifications whose histories are judged online. Their states stay small, or
/// at least the part of the state that belongs to a single key stays small.
const ONLINE: &[&str] = &[
    "register",
    "cas-register",
    "multi-register",
    "array",
    "once-cell",
    "counter",
    "fetch-add",
    "set",
    "multiset",
    "map",
    "kv",
    "mutex",
    "rwlock",
    "semaphore",
];

/// The limits of a [`Live`] judge.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct LiveLimits {
    /// The maximum number of configurations that are kept for a key after an event.
    pub configurations: usize,
    /// The approximate number of bytes that open operations, unknown outcomes and configurations may take.
    pub memory: usize,
}

impl Default for LiveLimits {
    fn default() -> Self {
        Self { configurations: 20_000, memory: usize::MAX }
    }
}

/// An operation that was called and has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct LiveCall(u32);

/// The effect of an event on the verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum LiveEffect {
    /// The event does not change the verdict.
    Nothing,
    /// With this event, the history of one key, or of the whole object, has become impossible to
    /// linearize.
    Rejected {
        /// The key; `None` if the object is not divided by key.
        key: Option<Value>,
        /// The results that the operation could have returned instead, as text: shorter texts
        /// first, and texts of equal length in alphabetical order.
        allowed: Vec<String>,
        /// Whether `allowed` lists all results that the operation could have returned.
        are_all: bool,
    },
    /// It cannot be decided whether the history of one key, or of the whole object, is
    /// linearizable.
    Undecided {
        /// The key; `None` if the object is not divided by key.
        key: Option<Value>,
        /// The reason.
        why: Why,
    },
}

/// Judges a history event by event; see [`NamedSpec::live`].
#[doc(hidden)]
pub struct Live<'s> {
    info: &'static SpecInfo,
    judge: Box<dyn AnyLive + 's>,
}

impl std::fmt::Debug for Live<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Live").field(&self.info.name).finish()
    }
}

impl NamedSpec {
    /// Returns a judge for a history that is still being recorded; `None` if histories of this specification can only
    /// be judged as a whole.
    ///
    /// ```
    /// use trueline::history::{ProcessId, Record, Value};
    /// use trueline::registry::{self, LiveEffect, LiveLimits, Options};
    ///
    /// let spec = registry::spec("register:0", Options::new())?;
    /// let mut live = spec.live(LiveLimits::default()).expect("registers are judged online");
    /// let read = Record { f: "read".into(), key: None, value: Value::Null };
    /// let call = live.call(0, ProcessId(0), read, 1)?.expect("it does not span keys");
    /// let effect = live.ret(call, &Value::Int(5), 2)?;
    /// assert_eq!(effect, LiveEffect::Rejected { key: None, allowed: vec!["0".to_owned()], are_all: true });
    /// # Ok::<(), trueline::registry::NamedError>(())
    /// ```
    #[doc(hidden)]
    pub fn live(&self, limits: LiveLimits) -> Option<Live<'_>> {
        // If null is a wildcard, a transaction may have several possible results, but only one of
        // them is computed before the transaction returns.
        let is_online = ONLINE.contains(&self.info.name) && !(self.nil_wildcard && self.info.name == "multi-register");
        let judge = is_online.then(|| self.family.live(limits)).flatten()?;
        Some(Live { info: self.info, judge })
    }
}

impl Live<'_> {
    /// Adds a call, which is on line `line` of the file. Returns `None` if the earlier operations
    /// of the object were judged key by key, but this operation spans several keys. From then on,
    /// the object cannot be judged online.
    ///
    /// # Errors
    /// Returns an error if the operation is unknown, or has an argument of the wrong type.
    pub fn call(
        &mut self,
        object: u32,
        process: ProcessId,
        record: Record,
        line: u32,
    ) -> Result<Option<LiveCall>, NamedError> {
        let at = |message| NamedError::at(Some(line), message);
        let Some(operation) = self.info.operation(&record.f) else {
            return Err(at(unknown_operation(self.info, &record.f)));
        };
        self.judge.call(operation.name, object, process, record).map_err(at)
    }

    /// Adds the return of an operation. The return is on line `line` of the file.
    ///
    /// # Errors
    /// Returns an error if the result has the wrong type.
    pub fn ret(&mut self, call: LiveCall, result: &Value, line: u32) -> Result<LiveEffect, NamedError> {
        self.judge.ret(call, result).map_err(|message| NamedError::at(Some(line), message))
    }

    /// Adds the end of an operation that did not take effect.
    pub fn fail(&mut self, call: LiveCall) -> LiveEffect {
        self.judge.fail(call)
    }

    /// Adds the end of an operation whose outcome is unknown.
    pub fn info(&mut self, call: LiveCall) {
        self.judge.info(call);
    }

    /// Returns the number of the part that an operation belongs to. A part consists of the
    /// operations on one key of an object, or on a whole object. Parts are numbered from 0.
    pub fn part(&self, call: LiveCall) -> u32 {
        self.judge.part(call)
    }

    /// Returns the number of parts that have had events so far.
    pub fn parts(&self) -> u32 {
        self.judge.parts()
    }

    /// Returns the key of an operation, as it is shown in reports; `None` if the object is not divided by key.
    pub fn key(&self, call: LiveCall) -> Option<Value> {
        self.judge.key(call)
    }

    /// Gives up on the part that an operation belongs to, unless the verdict on the part is already
    /// final. Returns whether the judge gave up.
    pub fn give_up(&mut self, call: LiveCall, why: Why) -> bool {
        self.judge.give_up(call, why)
    }

    /// Returns the approximate number of bytes that open operations, unknown outcomes and configurations take.
    pub fn bytes(&self) -> usize {
        self.judge.bytes()
    }

    /// Frees memory if the judge uses more than [`LiveLimits::memory`]. Returns the parts whose unknown outcomes were
    /// forgotten, and the parts that were given up.
    pub fn save_memory(&mut self) -> (Vec<u32>, Vec<u32>) {
        self.judge.save_memory()
    }
}

/// A [`Live`] judge without the types of its specification.
pub(super) trait AnyLive: Send {
    fn call(&mut self, name: &str, object: u32, process: ProcessId, record: Record)
    -> Result<Option<LiveCall>, String>;
    fn ret(&mut self, call: LiveCall, result: &Value) -> Result<LiveEffect, String>;
    fn fail(&mut self, call: LiveCall) -> LiveEffect;
    fn info(&mut self, call: LiveCall);
    fn part(&self, call: LiveCall) -> u32;
    fn parts(&self) -> u32;
    fn key(&self, call: LiveCall) -> Option<Value>;
    fn give_up(&mut self, call: LiveCall, why: Why) -> bool;
    fn bytes(&self) -> usize;
    fn save_memory(&mut self) -> (Vec<u32>, Vec<u32>);
}

/// An open operation.
struct OpenCall<F: Family> {
    call: OnlineCall,
    op: Op<F>,
    record: Record,
}

/// A [`Live`] judge for the specification of a family.
pub(super) struct LiveFamily<'f, F: Family> {
    family: &'f F,
    online: Online<'f, F::Spec>,
    open: Vec<Option<OpenCall<F>>>,
    free: Vec<u32>,
    parts: u32,
    /// The sum of the positive numbers that operations add, and the sum of the negative ones. Used
    /// only if the specification is a counter.
    sums: (i128, i128),
}

impl<'f, F: Family> LiveFamily<'f, F> {
    pub(super) fn new(family: &'f F, limits: LiveLimits) -> Self {
        let LiveLimits { configurations, memory } = limits;
        let online = Online::new(family.spec(), OnlineLimits { configurations, memory }, family.commutes());
        Self { family, online, open: Vec::new(), free: Vec::new(), parts: 0, sums: (0, 0) }
    }

    fn get(&self, call: LiveCall) -> &OpenCall<F> {
        self.open[call.0 as usize].as_ref().expect("the operation is open")
    }

    fn end(&mut self, call: LiveCall) -> OpenCall<F> {
        let open = self.open[call.0 as usize].take().expect("the operation is open");
        self.free.push(call.0);
        open
    }

    fn key_of(&self, op: &Op<F>) -> Option<Value> {
        self.family.spec().key(op, None)?;
        let Record { key, value, .. } = F::Notation::show_op(op);
        Some(key.unwrap_or(value))
    }

    fn effect(&self, op: &Op<F>, effect: Effect<Ret<F>>) -> LiveEffect {
        match effect {
            Effect::Nothing => LiveEffect::Nothing,
            Effect::Undecided(why) => LiveEffect::Undecided { key: self.key_of(op), why },
            Effect::Rejected { allowed, are_all } => {
                let mut allowed: Vec<String> = allowed.iter().map(F::Notation::show_ret).collect();
                // Sort the results as in the evidence for a whole history: as text, with shorter
                // texts first. So results that are numbers are in ascending order.
                allowed.sort_unstable_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
                allowed.dedup();
                LiveEffect::Rejected { key: self.key_of(op), allowed, are_all }
            }
        }
    }
}

impl<F: Family> AnyLive for LiveFamily<'_, F> {
    fn call(
        &mut self,
        name: &str,
        object: u32,
        process: ProcessId,
        record: Record,
    ) -> Result<Option<LiveCall>, String> {
        let op = F::Notation::read_op(name, self.family.process_matters().then_some(process), &record)?;
        if let Some((initial, added)) = self.family.adds() {
            let added = i128::from(added(&op));
            *if added < 0 { &mut self.sums.1 } else { &mut self.sums.0 } += added;
            check_sums(initial, self.sums)?;
        }
        let Some((part, is_new)) = self.online.part(object, &op) else { return Ok(None) };
        self.parts += u32::from(is_new);
        let call = self.online.call(part, op.clone());
        let open = OpenCall { call, op, record };
        let number = match self.free.pop() {
            Some(number) => {
                self.open[number as usize] = Some(open);
                number
            }
            None => {
                self.open.push(Some(open));
                u32::try_from(self.open.len() - 1).expect("memory runs out before 2^32 operations")
            }
        };
        Ok(Some(LiveCall(number)))
    }

    fn ret(&mut self, call: LiveCall, result: &Value) -> Result<LiveEffect, String> {
        let OpenCall { call, op, record } = self.end(call);
        let ret = F::Notation::read_ret(&record, &op, result)?;
        let effect = self.online.ret(call, ret);
        Ok(self.effect(&op, effect))
    }

    fn fail(&mut self, call: LiveCall) -> LiveEffect {
        let OpenCall { call, op, .. } = self.end(call);
        if let Some((_, added)) = self.family.adds() {
            let added = i128::from(added(&op));
            *if added < 0 { &mut self.sums.1 } else { &mut self.sums.0 } -= added;
        }
        let effect = self.online.fail(call);
        self.effect(&op, effect)
    }

    fn info(&mut self, call: LiveCall) {
        let OpenCall { call, .. } = self.end(call);
        self.online.info(call);
    }

    fn part(&self, call: LiveCall) -> u32 {
        self.get(call).call.part
    }

    fn parts(&self) -> u32 {
        self.parts
    }

    fn key(&self, call: LiveCall) -> Option<Value> {
        self.key_of(&self.get(call).op)
    }

    fn give_up(&mut self, call: LiveCall, why: Why) -> bool {
        self.online.give_up(self.get(call).call.part, why)
    }

    fn bytes(&self) -> usize {
        self.online.bytes() + self.open.capacity() * size_of::<Option<OpenCall<F>>>()
    }

    fn save_memory(&mut self) -> (Vec<u32>, Vec<u32>) {
        self.online.save_memory()
    }
}

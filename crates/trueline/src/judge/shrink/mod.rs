//! Shrinking: the few operations that a rejection rests on.
//!
//! A rejected history of thousands of operations is weakened, step by step, as long as it stays rejected. What is left
//! is its [`Core`].
//!
//! # Which steps are sound
//!
//! A step from H to H' is sound if H' is linearizable whenever H is: then a rejection of H' is one of H. Take any
//! linearization L of H.
//!
//! 1. *Truncation*: keep the events up to the failing return; operations that are open there become optional, with the
//!    results that they have. The shortest prefix of L that has all operations which returned is a linearization of what
//!    is left, because what was called later comes behind. [`Evidence`] says where the shortest failing prefix ends.
//! 2. *Leave out an observer*, an operation that with its result leaves every state as it is ([`Spec::observes`]). L
//!    without it is a linearization.
//! 3. *Forget* the return and the result of any other operation. L is a linearization still. To leave it out would not
//!    be sound: without a write, a read of what it wrote is wrong.
//! 4. *Leave out all that is about one subject*, a value or a key, if no operation is about all ([`Spec::subject`]).
//!    L without these operations is legal, by the promise. Operations whose results are unknown may have been about the
//!    subject in L; they need not take effect, and are left out of L too. What speaks of several subjects is restricted
//!    to those that stay ([`Spec::restrict`]). Other objects are left out by locality, and other keys by the promise of
//!    [`Spec::key`].
//! 5. *Begin later*: if an operation X leads to the same state from wherever it is possible ([`Spec::leads_to`]), what
//!    returned before X was called is of no interest any more. Leave it out, and make optional, with their results, the
//!    operations that overlap X. The end of L, from X on, is a linearization of what is left, if X is possible at the
//!    very beginning and leads to the same state there. If that is the initial state, X can be left out too.
//!
//! An operation that was forgotten stays in the core as a pending one. It could be left out of a *picture* of the core,
//! since without it there are fewer linearizations, but a rejection without it proves nothing.
//!
//! # How the steps are found
//!
//! Rejection is monotone: if a weaker history is rejected, so is a stronger one. So units (all of one subject, or single
//! operations) are put in order, the nearest to the failing return first, and the least number is found, by doubling and
//! bisection, such that the history with only these is rejected. The last of them is needed, whatever is done with the
//! nearer ones. It is kept, and the same is done again with the nearer ones, until the kept ones suffice. Each kept one is
//! then needed for all others: the core is 1-minimal. It follows from monotony that one pass is enough, and that subjects
//! that were needed before operations were forgotten are needed behind it. Most histories that are judged on the way are
//! small, since doubling begins with the kept ones alone.
//!
//! Whatever [`check`] cannot decide in its share of the time counts as needed, and is said to be undecided.
//!
//! # Complexity
//! O(c log n) judgements for a core of c operations in n; each is given a limited time.

mod minimise;
mod oracle;

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use hashbrown::{HashMap, HashSet};

use self::minimise::{Choice, Small, Step, Unit};
use self::oracle::{Answer, Oracle};
use super::search::hash;
use super::{Budget, CancelToken, Config, check};
use crate::history::{Fate, History, OpId, Operation, Outcome};
use crate::spec::{Spec, Subject};
use crate::verdict::{Core, Evidence, Member, Role, Weakening};

/// What shrinking may take.
///
/// ```
/// use std::time::Duration;
/// use trueline::judge::shrink::Limits;
///
/// let limits = Limits::new().time(Duration::from_secs(1)).time_per_call(Duration::from_millis(100));
/// # let _ = limits;
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    time: Duration,
    time_per_call: Option<Duration>,
    memory: u64,
    cancel: CancelToken,
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

impl Limits {
    /// 5 s in all, and 1 GiB.
    pub fn new() -> Self {
        Self { time: Duration::from_secs(5), time_per_call: None, memory: 1 << 30, cancel: CancelToken::new() }
    }

    /// At most this long in all.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// At most this long for each history that is judged on the way; of itself, a twelfth of the whole.
    #[must_use]
    pub fn time_per_call(mut self, time: Duration) -> Self {
        self.time_per_call = Some(time);
        self
    }

    /// At most this many bytes of tables and states.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Until `token` is cancelled: what was not asked by then counts as undecided.
    #[must_use]
    pub fn cancelled_by(mut self, token: CancelToken) -> Self {
        self.cancel = token;
        self
    }
}

/// Judges a history and shrinks it; `None` if it is not rejected within the limits.
///
/// ```
/// use trueline::history::{History, OpId};
/// use trueline::judge::shrink::{self, Limits};
/// use trueline::spec::{Queue, QueueOp, QueueRet};
///
/// let mut builder = History::builder();
/// for value in 0..100 {
///     builder.call(0, QueueOp::Enqueue(value))?;
///     builder.ret(0, QueueRet::Done)?;
/// }
/// for value in [0, 1, 3, 2] {
///     builder.call(1, QueueOp::Dequeue)?;
///     builder.ret(1, QueueRet::Value(Some(value)))?;
/// }
/// let core = shrink::judge(&Queue::new(), &builder.finish(), &Limits::new()).expect("3 was not first");
///
/// // Enqueue(2) returned before Enqueue(3) was called, whose return does not matter; and Dequeue -> 3.
/// assert_eq!(core.members.iter().map(|member| member.id).collect::<Vec<_>>(), [OpId(2), OpId(3), OpId(102)]);
/// assert_eq!(core.told().map(|member| member.id).collect::<Vec<_>>(), [OpId(2), OpId(102)]);
/// assert_eq!(core.left_out(), 102);
/// assert!(core.is_minimal());
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn judge<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, limits: &Limits) -> Option<Core<S::Op, S::Ret>> {
    let started = Instant::now();
    let budget = Budget::unlimited().time(limits.time).memory(limits.memory).cancelled_by(limits.cancel.clone());
    let judgement = check(spec, history, &Config::new().budget(budget));
    let evidence = judgement.verdict.evidence()?;
    let left = limits.clone().time(limits.time.saturating_sub(started.elapsed()));
    Some(core(spec, history, evidence, &left))
}

/// Shrinks a history that was rejected with this evidence.
///
/// ```
/// use trueline::history::History;
/// use trueline::judge::shrink::{self, Limits};
/// use trueline::judge::{Config, check};
/// use trueline::spec::{Register, RegisterOp, RegisterRet};
///
/// let mut builder = History::builder();
/// builder.call(0, RegisterOp::Write(1))?;
/// builder.ret(0, RegisterRet::Done)?;
/// builder.call(0, RegisterOp::Write(2))?;
/// builder.call(1, RegisterOp::Read)?;
/// builder.ret(1, RegisterRet::Value(0))?; // what was there before the first write
/// builder.ret(0, RegisterRet::Done)?;
/// let (spec, history) = (Register::new(0), builder.finish());
/// let judgement = check(&spec, &history, &Config::new());
/// let evidence = judgement.verdict.evidence().expect("1 was written");
///
/// let core = shrink::core(&spec, &history, evidence, &Limits::new());
/// assert_eq!(core.history.len(), 2); // the write of 1, and the read
/// assert!(check(&spec, &core.history, &Config::new()).verdict.is_rejected());
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
///
/// # Panics
/// If the evidence is not of this history.
pub fn core<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    evidence: &Evidence<S::Ret>,
    limits: &Limits,
) -> Core<S::Op, S::Ret> {
    assert_eq!(history[evidence.refused].return_position(), Some(evidence.event), "the evidence is of another history");
    let mut shrinking = Shrinking::new(spec, history, evidence, limits);
    shrinking.run();
    shrinking.finish()
}

/// A history on its way to a core.
struct Shrinking<'a, S: Spec> {
    oracle: Oracle<'a, S>,
    original: &'a History<S::Op, S::Ret>,
    /// What is left so far: it is rejected.
    history: History<S::Op, S::Ret>,
    /// By operation of `history`: its number in `original`.
    ids: Vec<OpId>,
    /// The operation that was refused, as numbered in `original`.
    refused: OpId,
    /// What the refused operation would have been about, had it been right: where to look first.
    suspects: Vec<Subject>,
    /// The operation behind which the history begins anew.
    begins_behind: Option<OpId>,
    /// What was kept because nobody knows whether it is needed.
    undecided: Vec<Step>,
    /// How long a single question may take; less, when long questions are in vain.
    patience: Duration,
}

/// Whether leaving out subjects was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    Yes,
    /// Some operation is about all subjects, and is needed so far.
    Blocked,
}

impl<'a, S: Spec> Shrinking<'a, S> {
    /// Begins with the shortest failing prefix of the object that the evidence is about.
    fn new(spec: &'a S, original: &'a History<S::Op, S::Ret>, evidence: &Evidence<S::Ret>, limits: &Limits) -> Self {
        let Evidence { refused, event, ref allowed, .. } = *evidence;
        let object = original[refused].object;
        let prefix = |operation: &Operation<S::Op, S::Ret>| {
            if operation.object != object || operation.call_position() > event {
                return Fate::LeaveOut;
            }
            let returned = operation.return_position().is_some_and(|ret| ret <= event);
            if returned { Fate::Keep } else { optional(spec, operation) }
        };
        let fates: Vec<Fate> = original.operations().iter().map(prefix).collect();
        let oracle = Oracle::new(spec, limits);
        let mut shrinking = Self {
            original,
            history: original.clone(),
            ids: (0..original.len()).map(op_id).collect(),
            refused,
            suspects: allowed.iter().map(|result| spec.subject(&original[refused].op, Some(result))).collect(),
            begins_behind: None,
            undecided: Vec::new(),
            patience: oracle.most_time,
            oracle,
        };
        shrinking.take(&Choice { fates, gone: None });
        shrinking
    }

    fn run(&mut self) {
        self.leave_out_other_keys();
        let mut tried = self.leave_out_subjects();
        while self.begin_later() {
            tried = self.leave_out_subjects();
        }
        self.forget_operations();
        if tried == Tried::Blocked && self.find_subjects().is_some_and(|found| found.whole.is_empty()) {
            // What was about all is forgotten or gone.
            self.leave_out_subjects();
            if self.begin_later() {
                self.leave_out_subjects();
                self.forget_operations();
            }
        }
        self.reconsider();
    }

    fn finish(mut self) -> Core<S::Op, S::Ret> {
        let confirmed = self.oracle.confirms(&self.history);
        let member = |(&id, operation): (&OpId, &Operation<S::Op, S::Ret>)| {
            let original = &self.original[id];
            let role = match (&operation.outcome, &original.outcome) {
                (Outcome::Returned(_), _) => Role::Completed,
                (Outcome::Optional(_), _) => Role::Optional,
                (Outcome::Pending, Outcome::Pending) => Role::Pending,
                (Outcome::Pending, _) => Role::Forgotten,
            };
            let result = operation.outcome.result();
            let in_part = operation.op != original.op || (result.is_some() && result != original.outcome.result());
            Member { id, role, in_part }
        };
        Core {
            members: self.ids.iter().zip(self.history.operations()).map(member).collect(),
            of: self.original.len(),
            begins_behind: self.begins_behind,
            undecided: self.weakenings(),
            confirmed,
            oracle_calls: self.oracle.calls,
            history: self.history,
        }
    }

    fn spec(&self) -> &'a S {
        self.oracle.spec
    }

    /// The history with this choice made, and which of its operations are left.
    fn weaken(&self, choice: &Choice) -> (History<S::Op, S::Ret>, Vec<OpId>) {
        let Choice { fates, gone } = choice;
        let left = |fate: &dyn Fn(usize) -> Fate| -> Vec<OpId> {
            (0..self.ids.len()).filter(|index| fate(*index) != Fate::LeaveOut).map(|index| self.ids[index]).collect()
        };
        let Some(gone) = gone else {
            return (self.history.weaken(|id, _| fates[id.index()]), left(&|index| fates[index]));
        };
        let is_gone = |subject| matches!(subject, Subject::One(number) if gone.contains(&number));
        let restrict = |(fate, operation): (&Fate, &Operation<S::Op, S::Ret>)| match fate {
            Fate::LeaveOut => None,
            _ => {
                let left = self.spec().restrict(&operation.op, operation.outcome.result(), &is_gone);
                // What is left of it may be an observer, which if it never returned is of no interest.
                left.filter(|(op, result)| {
                    operation.return_position().is_some() || !self.spec().observes(op, result.as_ref())
                })
            }
        };
        let restricted: Vec<_> = fates.iter().zip(self.history.operations()).map(restrict).collect();
        let fate = |index: usize| if restricted[index].is_some() { fates[index] } else { Fate::LeaveOut };
        let weaker = self.history.weaken(|id, _| fate(id.index()));
        let left = left(&fate);
        let mut restricted = restricted.into_iter().flatten();
        let weaker = weaker.map(|operation| {
            let (op, result) = restricted.next().expect("one for each that is left");
            let outcome = match (&operation.outcome, result) {
                (Outcome::Returned(_), Some(result)) => Outcome::Returned(result),
                (Outcome::Optional(_), Some(result)) => Outcome::Optional(result),
                (outcome, _) => outcome.clone(),
            };
            (op, outcome)
        });
        (weaker, left)
    }

    /// Weakens the history; the caller knows that it stays rejected.
    fn take(&mut self, choice: &Choice) {
        (self.history, self.ids) = self.weaken(choice);
    }

    fn ask(&mut self, choice: &Choice, time: Duration) -> Answer {
        if self.oracle.is_out_of_time() {
            return Answer::Unknown;
        }
        let (weaker, _) = self.weaken(choice);
        self.oracle.ask(weaker, time)
    }

    fn nothing_dropped(&self) -> Choice {
        Choice { fates: vec![Fate::Keep; self.history.len()], gone: None }
    }

    /// The operations that are left.
    fn operations(&self) -> impl Iterator<Item = (OpId, &Operation<S::Op, S::Ret>)> {
        (0..).map(OpId).zip(self.history.operations())
    }

    /// The refused operation, as numbered in the history that is left.
    fn refused(&self) -> OpId {
        op_id(self.ids.binary_search(&self.refused).expect("the refused operation is never left out"))
    }

    fn is_observer(&self, id: OpId) -> bool {
        let operation = &self.history[id];
        self.spec().observes(&operation.op, operation.outcome.result())
    }

    fn subject(&self, id: OpId) -> Subject {
        let operation = &self.history[id];
        self.spec().subject(&operation.op, operation.outcome.result())
    }

    /// The place of an operation in time: its last event.
    fn last_event(&self, id: OpId) -> u32 {
        let operation = &self.history[id];
        operation.return_position().unwrap_or(operation.call_position())
    }

    /// Leaves out all other keys, if the evidence is about one: else what is wrong there might hide that the refused
    /// operation is needed.
    fn leave_out_other_keys(&mut self) {
        let key = |operation: &Operation<S::Op, S::Ret>| self.spec().key(&operation.op, operation.outcome.result());
        let Some(own) = key(&self.history[self.refused()]) else { return };
        let mut choice = self.nothing_dropped();
        for (id, operation) in self.operations() {
            match key(operation) {
                Some(key) if key == own => {}
                None if !self.is_observer(id) => return,
                _ => choice.fates[id.index()] = Fate::LeaveOut,
            }
        }
        if choice.fates.contains(&Fate::LeaveOut) && self.ask(&choice, self.patience) == Answer::Rejected {
            self.take(&choice);
        }
    }

    /// The operations by subject, or `None` if some operation that is not an observer, or the refused one, is about all.
    fn find_subjects(&self) -> Option<Subjects> {
        let refused = self.refused();
        let mut found =
            Subjects { units: Vec::new(), numbers: HashMap::default(), needed: usize::MAX, whole: Vec::new() };
        for (id, _) in self.operations() {
            let new = found.units.len();
            let (unit, step) = match self.subject(id) {
                Subject::One(number) => (*found.numbers.entry(number).or_insert(new), Step::Subject(number)),
                Subject::All if id == refused || !self.is_observer(id) => return None,
                Subject::All => {
                    found.whole.push(id);
                    continue;
                }
                Subject::Free | Subject::Several if self.is_observer(id) => {
                    (new, Step::Operation(self.ids[id.index()]))
                }
                Subject::Free | Subject::Several => continue,
            };
            if unit == new {
                found.units.push(Unit { step, operations: Vec::new(), last: 0 });
            }
            if id == refused {
                found.needed = unit;
            }
            let last = self.last_event(id);
            let unit = &mut found.units[unit];
            unit.operations.push(id);
            unit.last = unit.last.max(last);
        }
        Some(found)
    }

    /// Leaves out as many subjects, and observers that are not about one, as can be.
    fn leave_out_subjects(&mut self) -> Tried {
        self.undecided.retain(|step| matches!(step, Step::Operation(_)));
        let Some(found) = self.find_subjects() else { return Tried::Blocked };
        if !self.speaks_of_subjects_only(&found.whole) {
            return Tried::Blocked;
        }
        // Some operations may be gone.
        let found = if found.whole.is_empty() { Some(found) } else { self.find_subjects() };
        let Some(Subjects { units, numbers, needed, .. }) = found else { return Tried::Blocked };
        let mut suspected = vec![false; units.len()];
        for suspect in &self.suspects {
            if let Subject::One(number) = suspect {
                numbers.get(number).into_iter().for_each(|unit| suspected[*unit] = true);
            }
        }
        let mut order: Vec<usize> = (0..units.len()).filter(|unit| *unit != needed).collect();
        order.sort_by_key(|unit| (!suspected[*unit], Reverse(units[*unit].last)));
        let order: Vec<&Unit> = order.into_iter().map(|unit| &units[unit]).collect();
        let mut none = self.nothing_dropped();
        for unit in &order {
            for id in &unit.operations {
                none.fates[id.index()] = Fate::LeaveOut;
            }
        }
        let numbers =
            order.iter().filter_map(|unit| if let Step::Subject(number) = unit.step { Some(number) } else { None });
        none.gone = Some(numbers.collect());
        self.minimise(none, order, Small::Units);
        Tried::Yes
    }

    /// Makes sure that nothing is said of all subjects at once, if the history stays rejected.
    fn speaks_of_subjects_only(&mut self, whole: &[OpId]) -> bool {
        let says_less = |(_, operation): (OpId, &Operation<S::Op, S::Ret>)| {
            let recorded = operation.outcome.result();
            let restricted = self.spec().restrict(&operation.op, recorded, &|_| false);
            restricted.is_none_or(|(op, result)| op != operation.op || result.as_ref() != recorded)
        };
        if whole.is_empty() && !self.operations().any(says_less) {
            return true;
        }
        let mut choice = Choice { gone: Some(HashSet::default()), ..self.nothing_dropped() };
        for id in whole {
            choice.fates[id.index()] = Fate::LeaveOut;
        }
        let rejected = self.ask(&choice, self.patience) == Answer::Rejected;
        if rejected {
            self.take(&choice);
        }
        rejected
    }

    /// Begins anew behind the latest operation that can be, and says whether that changed anything.
    fn begin_later(&mut self) -> bool {
        let beginnings = self.find_beginnings();
        // The latest are tried first.
        let (mut low, mut high) = (0, beginnings.len());
        let quick = self.quick();
        let mut next = 0;
        while next < high {
            if self.ask(&self.begun(&beginnings[next]), quick) == Answer::Rejected {
                high = next;
            } else {
                low = next + 1;
                next = 2 * next + 1;
            }
        }
        if high == beginnings.len() {
            return false;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.ask(&self.begun(&beginnings[middle]), quick) == Answer::Rejected {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let choice = self.begun(&beginnings[high]);
        let goes = |(id, _): (OpId, _)| choice.fates[id.index()] == Fate::LeaveOut && !self.is_observer(id);
        if !self.operations().any(goes) {
            // Observers can be left out without that.
            return false;
        }
        self.begins_behind = Some(self.ids[beginnings[high].id.index()]);
        self.take(&choice);
        true
    }

    /// The operations behind which a history may begin anew, the latest first.
    fn find_beginnings(&self) -> Vec<Beginning> {
        let spec = self.spec();
        let initial = spec.initial();
        let end = self.history[self.refused()].call_position();
        let key = |operation: &Operation<S::Op, S::Ret>| spec.key(&operation.op, operation.outcome.result());
        let mut keys = self.history.operations().iter().map(key);
        let first = keys.next().flatten();
        let one_key = first.is_some() && keys.all(|key| key == first);
        let mut found: Vec<(u32, Beginning)> = Vec::new();
        for (id, operation) in self.operations() {
            let (Outcome::Returned(result), Some(ret)) = (&operation.outcome, operation.return_position()) else {
                continue;
            };
            if ret > end || (!one_key && key(operation).is_some()) {
                continue;
            }
            let Some(state) = spec.leads_to(&operation.op, result) else { continue };
            let is_possible = || {
                let mut outcomes = spec.step(&initial, &operation.op, Some(result)).into_iter();
                outcomes.any(|(other, next)| other == *result && next == state)
            };
            if state == initial {
                found.push((ret, Beginning { id, stays: false }));
            } else if is_possible() {
                found.push((ret, Beginning { id, stays: true }));
            }
        }
        found.sort_by_key(|(ret, _)| Reverse(*ret));
        found.into_iter().map(|(_, beginning)| beginning).collect()
    }

    /// The choice to begin there.
    fn begun(&self, beginning: &Beginning) -> Choice {
        let first = &self.history[beginning.id];
        let (call, ret) = (first.call_position(), first.return_position().expect("it has returned"));
        let fate = |(id, operation): (OpId, &Operation<S::Op, S::Ret>)| {
            if id == beginning.id {
                return if beginning.stays { Fate::Keep } else { Fate::LeaveOut };
            }
            match operation.return_position() {
                Some(other) if other < call => Fate::LeaveOut,
                // It may have been before.
                Some(_) if operation.call_position() < ret => optional(self.spec(), operation),
                _ => Fate::Keep,
            }
        };
        Choice { fates: self.operations().map(fate).collect(), gone: None }
    }

    /// Forgets as many operations as can be, and leaves out observers instead.
    fn forget_operations(&mut self) {
        self.undecided.retain(|step| matches!(step, Step::Subject(_)));
        let refused = self.refused();
        let known = |(id, operation): (OpId, &Operation<S::Op, S::Ret>)| {
            (id != refused && operation.outcome.result().is_some()).then(|| Unit {
                step: Step::Operation(self.ids[id.index()]),
                operations: vec![id],
                last: self.last_event(id),
            })
        };
        let units: Vec<Unit> = self.operations().filter_map(known).collect();
        let mut order: Vec<&Unit> = units.iter().collect();
        order.sort_by_key(|unit| Reverse(unit.last));
        let mut none = self.nothing_dropped();
        for unit in &units {
            for id in &unit.operations {
                none.fates[id.index()] = self.dropped(*id);
            }
        }
        self.minimise(none, order, Small::Nothing);
    }

    /// What becomes of an operation that is not kept.
    fn dropped(&self, id: OpId) -> Fate {
        if self.is_observer(id) { Fate::LeaveOut } else { Fate::Forget }
    }

    /// The public names of the steps that were not taken.
    fn weakenings(&self) -> Vec<Weakening> {
        let mut about: HashMap<u64, Vec<OpId>, hash::Builder> = HashMap::default();
        for (id, _) in self.operations() {
            if let Subject::One(number) = self.subject(id) {
                about.entry(number).or_default().push(self.ids[id.index()]);
            }
        }
        let weakening = |step: &Step| match step {
            Step::Operation(id) => {
                let operation = &self.original[*id];
                if self.spec().observes(&operation.op, operation.outcome.result()) {
                    Weakening::LeaveOut(*id)
                } else {
                    Weakening::Forget(*id)
                }
            }
            Step::Subject(number) => Weakening::LeaveOutAll(about.get(number).cloned().unwrap_or_default()),
        };
        self.undecided.iter().map(weakening).collect()
    }

    /// Tries what was undecided once more: the history is smaller now.
    fn reconsider(&mut self) {
        for step in std::mem::take(&mut self.undecided) {
            if self.oracle.is_out_of_time() {
                self.undecided.push(step);
                continue;
            }
            let mut choice = self.nothing_dropped();
            match step {
                Step::Operation(id) => {
                    let Ok(index) = self.ids.binary_search(&id) else { continue };
                    if self.history[op_id(index)].outcome.result().is_none() || self.undecided.contains(&step) {
                        continue;
                    }
                    choice.fates[index] = self.dropped(op_id(index));
                }
                Step::Subject(number) => {
                    let Some(found) = self.find_subjects().filter(|found| found.whole.is_empty()) else { continue };
                    let Some(unit) = found.numbers.get(&number) else { continue };
                    for id in &found.units[*unit].operations {
                        choice.fates[id.index()] = Fate::LeaveOut;
                    }
                    choice.gone = Some(std::iter::once(number).collect());
                }
            }
            match self.ask(&choice, self.oracle.most_time) {
                Answer::Rejected => self.take(&choice),
                Answer::Accepted => {}
                Answer::Unknown => self.undecided.push(step),
            }
        }
    }
}

/// The operations of a history by subject.
struct Subjects {
    units: Vec<Unit>,
    /// The units of the subjects by their numbers.
    numbers: HashMap<u64, usize, hash::Builder>,
    /// The unit of the refused operation.
    needed: usize,
    /// Observers that are about all: they must go before anything else can be left out.
    whole: Vec<OpId>,
}

/// An operation behind which the history begins anew.
struct Beginning {
    id: OpId,
    /// Whether it is the first operation then; if not, it is left out too.
    stays: bool,
}

/// What becomes of an operation that need not have taken effect any more.
fn optional<S: Spec>(spec: &S, operation: &Operation<S::Op, S::Ret>) -> Fate {
    // Of an observer, nobody can tell whether it did.
    if spec.observes(&operation.op, operation.outcome.result()) { Fate::LeaveOut } else { Fate::Optional }
}

fn op_id(index: usize) -> OpId {
    OpId(u32::try_from(index).expect("operations are numbered so"))
}

//! Shrinking: reduces a rejected history to the few operations that the rejection rests on.
//!
//! A rejected history of thousands of operations is weakened, step by step, as long as it stays rejected. The remaining
//! history is its [`Core`].
//!
//! # Which steps are sound
//!
//! A step from H to H' is sound if H' is linearizable whenever H is: then a rejection of H' implies one of H. Take any
//! linearization L of H.
//!
//! 1. *Truncation*: keep the events up to the failing return; operations that are open there become optional, with the
//!    results that they have. The shortest prefix of L that contains all operations that returned is a linearization of
//!    the remaining history, because operations that were called later come after it. The [`Evidence`] states where the
//!    shortest failing prefix ends.
//! 2. *Leave out an observer*, an operation that with its result leaves every state unchanged ([`Spec::observes`]). L
//!    without it is a linearization.
//! 3. *Forget* the return and the result of any other operation. L is still a linearization. Leaving the operation out
//!    would not be sound: without a write, a read of the written value would be rejected.
//! 4. *Leave out all operations on one subject*, a value or a key, if no operation is about all subjects
//!    ([`Spec::subject`]). L without these operations is legal, by the contract of `subject`. Operations whose results
//!    are unknown may have been about the subject in L; they need not take effect, and are removed from L too.
//!    Operations on several subjects are restricted to those that stay ([`Spec::restrict`]). Other objects are left out
//!    by locality, and other keys by the contract of [`Spec::key`].
//! 5. *Begin later*: if an operation X leads to the same state from wherever it is possible ([`Spec::leads_to`]),
//!    operations that returned before X was called no longer matter. Leave them out, and make the operations that
//!    overlap X optional, with their results. The end of L, from X on, is a linearization of the remaining history, if
//!    X is possible at the very beginning and leads to the same state there. If that is the initial state, X can be
//!    left out too.
//!
//! An operation that was forgotten stays in the core as a pending one. It could be left out of a *picture* of the core,
//! because without it there are fewer linearizations, but a rejection without it proves nothing.
//!
//! # How the steps are found
//!
//! Rejection is monotone: if a weaker history is rejected, so is a stronger one. So units (all operations on one
//! subject, or single operations) are ordered, the nearest to the failing return first. Doubling and binary search find
//! the smallest number of units such that the history with only these is rejected. The last of them is needed, whatever
//! is done with the nearer ones. It is kept, and the same is repeated with the nearer ones, until the kept ones
//! suffice. Each kept unit is then needed, given all others: the core is 1-minimal. By monotonicity one pass is enough,
//! and subjects that were needed before operations were forgotten are still needed afterward. Most histories that are
//! judged on the way are small, because doubling starts with the kept ones alone.
//!
//! A unit counts as needed if [`check`] cannot decide within its share of the time, and is reported as undecided.
//!
//! # Complexity
//! O(c log n) judgments for a core of c operations in n; each has a limited time.

mod calls;
mod minimize;
mod oracle;
mod weaker;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::time::{Duration, Instant};

use hashbrown::{HashMap, HashSet};

use self::minimize::{Choice, Reduction, Small, Unit};
use self::oracle::{Answer, Oracle};
use self::weaker::{Beginning, Histories, Weaken};
use super::erased::{Case, SPANS, Typed};
use super::search::hash;
use super::{Budget, CancelToken, Config, check};
use crate::history::{Fate, History, OpId, Outcome};
use crate::spec::{Spec, Subject};
use crate::verdict::{Core, Evidence, Member, Role, Weakening};

/// The limits of shrinking.
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
    /// Returns the default limits: 5 s in total, and 1 GiB.
    pub fn new() -> Self {
        Self { time: Duration::from_secs(5), time_per_call: None, memory: 1 << 30, cancel: CancelToken::new() }
    }

    /// Limits the total time. Defaults to 5 s.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Limits the time for each history that is judged on the way. Defaults to a twelfth of the total time.
    #[must_use]
    pub fn time_per_call(mut self, time: Duration) -> Self {
        self.time_per_call = Some(time);
        self
    }

    /// Limits the bytes of tables and states. Defaults to 1 GiB.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Returns the token that ends the work when it is canceled.
    pub(in crate::judge) fn token(&self) -> &CancelToken {
        &self.cancel
    }

    /// Stops when `token` is canceled; steps that were not tried by then count as undecided.
    #[must_use]
    pub fn cancelled_by(mut self, token: CancelToken) -> Self {
        self.cancel = token;
        self
    }
}

/// Judges a history and shrinks it. Returns `None` if it is not rejected within the limits.
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
/// // Enqueue(2) returned before Enqueue(3) was called, and Dequeue returned 3. The return of Enqueue(3) is not needed.
/// assert_eq!(core.members.iter().map(|member| member.id).collect::<Vec<_>>(), [OpId(2), OpId(3), OpId(102)]);
/// assert_eq!(core.told().map(|member| member.id).collect::<Vec<_>>(), [OpId(2), OpId(102)]);
/// assert_eq!(core.left_out(), 102);
/// assert!(core.is_minimal());
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
#[doc(hidden)]
pub fn judge<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, limits: &Limits) -> Option<Core<S::Op, S::Ret>> {
    let started = Instant::now();
    let budget = Budget::unlimited().time(limits.time).memory(limits.memory).cancelled_by(limits.cancel.clone());
    let judgment = check(spec, history, &Config::new().budget(budget));
    let evidence = judgment.verdict.evidence()?;
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
/// let judgment = check(&spec, &history, &Config::new());
/// let evidence = judgment.verdict.evidence().expect("1 was written");
///
/// let core = shrink::core(&spec, &history, evidence, &Limits::new());
/// assert_eq!(core.history.len(), 2); // the write of 1, and the read
/// assert!(check(&spec, &core.history, &Config::new()).verdict.is_rejected());
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
///
/// # Panics
/// Panics if the evidence is not of this history.
pub fn core<S: Spec + ?Sized>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    evidence: &Evidence<S::Ret>,
    limits: &Limits,
) -> Core<S::Op, S::Ret> {
    assert_eq!(
        history[evidence.refused].return_position(),
        Some(evidence.event),
        "the evidence belongs to another history"
    );
    let refused = &history[evidence.refused].op;
    let mut suspects = Vec::new();
    for result in &evidence.allowed {
        suspects.push(spec.subject(refused, Some(result)));
    }
    let original = Typed::new(spec, Cow::Borrowed(history));
    let mut histories = Histories::new(spec, history);
    let found = Shrinking::new(&original, &mut histories, (evidence.refused, evidence.event), suspects, limits).run();
    let in_part: Vec<bool> = (0..).map(OpId).take(histories.ids().len()).map(|op| histories.is_in_part(op)).collect();
    let (left, ids) = histories.into_left();
    let mut members = Vec::with_capacity(ids.len());
    for ((&id, operation), in_part) in ids.iter().zip(left.operations()).zip(in_part) {
        let role = match (&operation.outcome, &history[id].outcome) {
            (Outcome::Returned(_), _) => Role::Completed,
            (Outcome::Optional(_), _) => Role::Optional,
            (Outcome::Pending, Outcome::Pending) => Role::Pending,
            (Outcome::Pending, _) => Role::Forgotten,
        };
        let events = (history[id].call_position(), history[id].return_position());
        members.push(Member { id, events, role, in_part });
    }
    Core {
        calls: found.calls,
        named: Vec::new(),
        members,
        of: history.len(),
        begins_behind: found.begins_behind,
        undecided: found.undecided,
        confirmed: found.confirmed,
        oracle_calls: found.oracle_calls,
        history: left,
    }
}

/// The parts of a core other than its history.
struct Shrunk {
    calls: Vec<OpId>,
    begins_behind: Option<OpId>,
    undecided: Vec<Weakening>,
    confirmed: bool,
    oracle_calls: u32,
}

/// A history that is being shrunk to a core.
struct Shrinking<'a> {
    oracle: Oracle,
    original: &'a dyn Case,
    /// The remaining history, which is rejected.
    histories: &'a mut dyn Weaken,
    /// The operation that was refused, as numbered in `original`.
    refused: OpId,
    /// The position of its return.
    event: u32,
    /// The subjects of the results that the refused operation could have returned; they are tried first.
    suspects: Vec<Subject>,
    /// The operation after which the history begins.
    begins_behind: Option<OpId>,
    /// The kind of its beginning; `None` if it begins at its original beginning, or was cut several times.
    beginning: Option<Beginning>,
    /// The steps that were not taken because it is not known whether the history would stay rejected.
    undecided: Vec<Reduction>,
    /// The time for a single query; it is reduced when long queries do not succeed.
    patience: Duration,
}

/// Whether leaving out subjects was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    Yes,
    /// No, because some operation is about all subjects, and is needed so far.
    Blocked,
}

impl<'a> Shrinking<'a> {
    /// Starts with the shortest failing prefix of the object that the evidence is about.
    fn new(
        original: &'a dyn Case,
        histories: &'a mut dyn Weaken,
        (refused, event): (OpId, u32),
        suspects: Vec<Subject>,
        limits: &Limits,
    ) -> Self {
        let oracle = Oracle::new(limits);
        let patience = oracle.most_time;
        let new = Self {
            oracle,
            original,
            histories,
            refused,
            event,
            suspects,
            begins_behind: None,
            beginning: None,
            undecided: Vec::new(),
            patience,
        };
        let fates = original.frame().operations().map(|op| new.before_failure(op)).collect();
        new.histories.take(&Choice { fates, gone: None });
        new
    }

    fn run(mut self) -> Shrunk {
        self.leave_out_other_keys();
        let mut tried = self.leave_out_subjects();
        while self.begin_later() {
            tried = self.leave_out_subjects();
        }
        self.forget_operations();
        if tried == Tried::Blocked && self.find_subjects().is_some_and(|found| found.whole.is_empty()) {
            // The operations that were about all subjects are forgotten or left out.
            self.leave_out_subjects();
            if self.begin_later() {
                self.leave_out_subjects();
                self.forget_operations();
            }
        }
        self.reconsider();
        let confirmed = self.histories.is_noted() || self.oracle.confirms(self.histories.left());
        let mut undecided = self.weakenings();
        let (calls, unknown) = self.calls();
        undecided.extend(unknown.into_iter().map(Weakening::LeaveOut));
        Shrunk { calls, confirmed, undecided, begins_behind: self.begins_behind, oracle_calls: self.oracle.calls }
    }

    /// Weakens the history; the caller knows that it stays rejected.
    fn take(&mut self, choice: &Choice) {
        self.histories.take(choice);
    }

    fn ask(&mut self, choice: &Choice, time: Duration) -> Answer {
        if self.oracle.is_out_of_time() {
            return Answer::Unknown;
        }
        let answer = self.oracle.ask(self.histories.weaker(choice), time);
        if answer == Answer::Rejected {
            self.histories.note_rejected();
        }
        answer
    }

    fn nothing_dropped(&self) -> Choice {
        Choice { fates: vec![Fate::Keep; self.histories.ids().len()], gone: None }
    }

    /// Returns the remaining history, without its types.
    fn left(&self) -> &dyn Case {
        self.histories.left()
    }

    /// Returns the remaining operations.
    fn operations(&self) -> impl Iterator<Item = OpId> + use<> {
        self.left().frame().operations()
    }

    /// Returns the number in the original of a remaining operation.
    fn id(&self, op: OpId) -> OpId {
        self.histories.ids()[op.index()]
    }

    /// Returns the refused operation, as numbered in the remaining history.
    fn refused(&self) -> OpId {
        self.number(self.refused).expect("the refused operation is never left out")
    }

    /// Returns the current number of an operation of the original, if it remains.
    fn number(&self, id: OpId) -> Option<OpId> {
        let index = self.histories.ids().binary_search(&id).ok()?;
        Some(OpId(u32::try_from(index).expect("operations are numbered with 32 bits")))
    }

    /// Returns whether any remaining operation has lost some of its arguments or its result.
    fn is_in_part(&self) -> bool {
        self.operations().any(|op| self.histories.is_in_part(op))
    }

    fn is_observer(&self, op: OpId) -> bool {
        self.left().observes(op)
    }

    /// Returns the position of an operation's last event.
    fn last_event(&self, op: OpId) -> u32 {
        let frame = self.left().frame();
        frame.ret(op).unwrap_or(frame.call(op))
    }

    /// Leaves out all other keys if the evidence is about one: otherwise a failure there might hide that the refused
    /// operation is needed.
    fn leave_out_other_keys(&mut self) {
        let Some(keys) = self.left().keys() else { return };
        let own = keys.of[self.refused().index()];
        if own == SPANS {
            return;
        }
        let mut choice = self.nothing_dropped();
        for op in self.operations() {
            match keys.of[op.index()] {
                key if key == own => {}
                SPANS if !self.is_observer(op) => return,
                _ => choice.fates[op.index()] = Fate::LeaveOut,
            }
        }
        if choice.fates.contains(&Fate::LeaveOut) && self.ask(&choice, self.patience) == Answer::Rejected {
            self.take(&choice);
        }
    }

    /// Returns the operations by subject, or `None` if the refused operation, or one that is not an observer, is about
    /// all subjects.
    fn find_subjects(&self) -> Option<Subjects> {
        let refused = self.refused();
        let mut found =
            Subjects { units: Vec::new(), numbers: HashMap::default(), needed: usize::MAX, whole: Vec::new() };
        for id in self.operations() {
            let new = found.units.len();
            let (unit, step) = match self.histories.subject(id) {
                Subject::One(number) => (*found.numbers.entry(number).or_insert(new), Reduction::Subject(number)),
                Subject::All if id == refused || !self.is_observer(id) => return None,
                Subject::All => {
                    found.whole.push(id);
                    continue;
                }
                Subject::Free | Subject::Several if self.is_observer(id) => (new, Reduction::Operation(self.id(id))),
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

    /// Leaves out as many subjects as possible, and as many observers as possible that do not belong to one subject.
    fn leave_out_subjects(&mut self) -> Tried {
        self.undecided.retain(|step| matches!(step, Reduction::Operation(_)));
        let Some(found) = self.find_subjects() else { return Tried::Blocked };
        if !self.speaks_of_subjects_only(&found.whole) {
            return Tried::Blocked;
        }
        // Find the subjects again: operations may have been removed or weakened, even if none was about all subjects,
        // and a weakened operation may have become an observer.
        let Some(Subjects { units, numbers, needed, .. }) = self.find_subjects() else { return Tried::Blocked };
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
        let numbers = order
            .iter()
            .filter_map(|unit| if let Reduction::Subject(number) = unit.step { Some(number) } else { None });
        none.gone = Some(numbers.collect());
        self.minimize(none, order, Small::Units);
        Tried::Yes
    }

    /// Removes operations, and parts of operations, that are about all subjects at once, if the history stays rejected.
    /// Returns whether none is left.
    fn speaks_of_subjects_only(&mut self, whole: &[OpId]) -> bool {
        if whole.is_empty() && !self.operations().any(|op| self.histories.says_less(op)) {
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

    /// Makes the history begin after the latest operation for which it stays rejected. Returns whether this changed
    /// anything.
    fn begin_later(&mut self) -> bool {
        let beginnings = self.find_beginnings();
        // The latest operations are tried first.
        let (mut low, mut high) = (0, beginnings.len());
        let quick = self.quick();
        let mut next = 0;
        while next < high {
            if self.ask(&self.begun(beginnings[next]), quick) == Answer::Rejected {
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
            if self.ask(&self.begun(beginnings[middle]), quick) == Answer::Rejected {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let choice = self.begun(beginnings[high]);
        let goes = |op: OpId| choice.fates[op.index()] == Fate::LeaveOut && !self.is_observer(op);
        if !self.operations().any(goes) {
            // Observers can be left out without changing the beginning.
            return false;
        }
        self.beginning = self.begins_behind.is_none().then_some(beginnings[high].1);
        self.begins_behind = Some(self.id(beginnings[high].0));
        self.take(&choice);
        true
    }

    /// Returns the operations after which the history may begin, the latest first.
    fn find_beginnings(&self) -> Vec<(OpId, Beginning)> {
        let (left, frame) = (self.left(), self.left().frame());
        let end = frame.call(self.refused());
        let keys = left.keys();
        let key = |op: OpId| keys.as_ref().map_or(SPANS, |keys| keys.of[op.index()]);
        let one_key = keys.as_ref().is_some_and(|keys| keys.count == 1 && !keys.any_spans);
        let mut found: Vec<(u32, (OpId, Beginning))> = Vec::new();
        for op in frame.operations() {
            let Some(ret) = frame.ret(op).filter(|ret| *ret <= end && (one_key || key(op) == SPANS)) else { continue };
            if let Some(beginning) = self.histories.beginning(op) {
                found.push((ret, (op, beginning)));
            }
        }
        found.sort_by_key(|(ret, _)| Reverse(*ret));
        found.into_iter().map(|(_, beginning)| beginning).collect()
    }

    /// Returns the choice to begin there.
    fn begun(&self, (first, beginning): (OpId, Beginning)) -> Choice {
        let frame = self.left().frame();
        let (call, ret) = (frame.call(first), frame.ret(first).expect("the first operation has returned"));
        let fate = |op: OpId| {
            if op == first {
                return if beginning == Beginning::With { Fate::Keep } else { Fate::LeaveOut };
            }
            match frame.ret(op) {
                Some(other) if other < call => Fate::LeaveOut,
                // The operation overlaps `first`, so it may have taken effect before `first`.
                Some(_) if frame.call(op) < ret => optional(self.left(), op),
                _ => Fate::Keep,
            }
        };
        Choice { fates: frame.operations().map(fate).collect(), gone: None }
    }

    /// Forgets as many operations as possible; observers are left out instead.
    ///
    /// The operation with which the history begins is not changed. Earlier calls do not matter only because it took
    /// effect before all operations that were called after its return, and an explanation that begins with it must not
    /// place it later.
    fn forget_operations(&mut self) {
        self.undecided.retain(|step| matches!(step, Reduction::Subject(_)));
        let refused = self.refused();
        let stays = |id: OpId| id == refused || self.begins_behind == Some(self.id(id));
        let known = |id: OpId| {
            (!stays(id) && self.left().has_result(id)).then(|| Unit {
                step: Reduction::Operation(self.id(id)),
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
        self.minimize(none, order, Small::Nothing);
    }

    /// Returns the fate of an operation that is not kept.
    fn dropped(&self, id: OpId) -> Fate {
        if self.is_observer(id) { Fate::LeaveOut } else { Fate::Forget }
    }

    /// Returns the undecided steps in their public form.
    fn weakenings(&self) -> Vec<Weakening> {
        let mut about: HashMap<u64, Vec<OpId>, hash::Builder> = HashMap::default();
        for id in self.operations() {
            if let Subject::One(number) = self.histories.subject(id) {
                about.entry(number).or_default().push(self.id(id));
            }
        }
        let weakening = |step: &Reduction| match step {
            Reduction::Operation(id) if self.original.observes(*id) => Weakening::LeaveOut(*id),
            Reduction::Operation(id) => Weakening::Forget(*id),
            Reduction::Subject(number) => Weakening::LeaveOutAll(about.get(number).cloned().unwrap_or_default()),
        };
        self.undecided.iter().map(weakening).collect()
    }

    /// Tries undecided steps once more, because the history is smaller now.
    fn reconsider(&mut self) {
        for step in std::mem::take(&mut self.undecided) {
            if self.oracle.is_out_of_time() {
                self.undecided.push(step);
                continue;
            }
            let mut choice = self.nothing_dropped();
            match step {
                Reduction::Operation(id) => {
                    let Some(op) = self.number(id) else { continue };
                    if !self.left().has_result(op) || self.undecided.contains(&step) {
                        continue;
                    }
                    choice.fates[op.index()] = self.dropped(op);
                }
                Reduction::Subject(number) => {
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

/// The operations of a history, by subject.
struct Subjects {
    units: Vec<Unit>,
    /// The index of the unit of each subject, by the subject's number.
    numbers: HashMap<u64, usize, hash::Builder>,
    /// The unit of the refused operation.
    needed: usize,
    /// Observers that are about all subjects: they must be left out before any subject can be.
    whole: Vec<OpId>,
}

/// Returns the fate of an operation that no longer needs to have taken effect.
fn optional(case: &dyn Case, op: OpId) -> Fate {
    // It cannot be observed whether an observer took effect.
    if case.observes(op) { Fate::LeaveOut } else { Fate::Optional }
}

//! Shrinking: reduces a rejected history to the few operations that are needed for the rejection.
//!
//! A rejected history of thousands of operations is weakened, step by step, as long as it stays rejected. The remaining
//! history is its [`Core`].
//!
//! # Which steps are sound
//!
//! A step from H to H' is sound if H' is linearizable whenever H is. Then a rejection of H' implies
//! a rejection of H. Take any linearization L of H.
//!
//! 1. *Truncation*: keep the events up to the failing return; operations that are open at this return become optional,
//!    with their recorded results. The shortest prefix of L that contains all operations that returned by then is a
//!    linearization of the remaining history, because in L, operations that were called after the cut come after this
//!    prefix. The [`Evidence`] states where the shortest failing prefix ends.
//! 2. *Leave out an observer*, that is, an operation that leaves every state unchanged when it has
//!    its recorded result ([`Spec::observes`]). L without the observer is a linearization of H'.
//! 3. *Forget* the return and the result of any other operation. L is a linearization of H', too.
//!    Leaving the operation out would not be sound: without a write, a read of the written value
//!    would be rejected.
//! 4. *Leave out all operations on one subject*, a value or a key, if no operation concerns all
//!    subjects at once ([`Spec::subject`]). L without these operations is legal, by the contract of
//!    `subject`. Operations whose results are unknown may have been about the subject in L; they
//!    need not take effect, and are removed from L, too. Operations on several subjects are
//!    restricted to the subjects that stay ([`Spec::restrict`]). Other objects are left out by
//!    locality, and other keys by the contract of [`Spec::key`].
//! 5. *Begin later*: if an operation X leads to the same state from every state in which it is
//!    possible ([`Spec::leads_to`]), operations that returned before X was called no longer matter.
//!    Leave them out, and make the operations that overlap X optional, with their results. The end
//!    of L, from X on, is a linearization of the remaining history, if X is possible at the very
//!    beginning and leads to the same state there. If this state is the initial one, X can be left
//!    out, too.
//!
//! A forgotten operation stays in the core as a pending operation. A picture of the core may omit a
//! forgotten operation. But judging the core without it would prove nothing, because leaving out a
//! pending operation removes linearizations.
//!
//! # How the steps are found
//!
//! Rejection is monotone: if a history is rejected, every stronger history is rejected, too. Units
//! (all operations on one subject, or single operations) are ordered, the nearest to the failing
//! return first. Doubling and binary search find the smallest number k such that the history with
//! only the first k units is rejected. Then the k-th unit is needed no matter which of the nearer
//! units stay, so it is kept. The same search is repeated among the nearer units, until the kept
//! units alone suffice. Each kept unit is then needed, given all other kept units: the core is
//! 1-minimal. By monotonicity, one pass is enough, and subjects that were needed before operations
//! were forgotten are still needed afterward. Most of the histories that are judged during the
//! search are small, because doubling starts with the kept units alone.
//!
//! If [`check`] cannot decide in the time for one judgment whether a unit is needed, the unit
//! counts as needed, and is reported as undecided.
//!
//! # Complexity
//! O(c log n) judgments for a core of c operations and a history of n operations; each judgment has
//! a limited time.

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

    /// Limits the time for judging each of the weaker histories. Defaults to a twelfth of the total
    /// time.
    #[must_use]
    pub fn time_per_call(mut self, time: Duration) -> Self {
        self.time_per_call = Some(time);
        self
    }

    /// Limits the size of tables and states, in bytes. Defaults to 1 GiB.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Returns the token that stops shrinking when it is canceled.
    pub(in crate::judge) fn token(&self) -> &CancelToken {
        &self.cancel
    }

    /// Stops shrinking when `token` is canceled. Steps that have not been tried by then count as
    /// undecided.
    #[must_use]
    pub fn cancelled_by(mut self, token: CancelToken) -> Self {
        self.cancel = token;
        self
    }
}

/// Judges a history and shrinks it. Returns `None` if the history is not rejected within the
/// limits.
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

/// Shrinks a history that was rejected with the given evidence.
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
/// builder.ret(1, RegisterRet::Value(0))?; // the value before the first write
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
/// Panics if the evidence belongs to another history.
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

/// All parts of a core except its history.
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
    /// The remaining history, which is rejected, and ways to weaken it.
    histories: &'a mut dyn Weaken,
    /// The operation that was refused, by its number in `original`.
    refused: OpId,
    /// The position of the return of the refused operation.
    event: u32,
    /// The subjects of the results that the refused operation could have returned. The search for
    /// needed subjects starts with them.
    suspects: Vec<Subject>,
    /// The operation after which the remaining history begins. `None` if the beginning of the
    /// history was not cut off.
    begins_behind: Option<OpId>,
    /// Whether the remaining history begins with the operation in `begins_behind` or without it.
    /// `None` if the beginning was never cut off, or was cut off more than once.
    beginning: Option<Beginning>,
    /// The steps that were not taken because it is not known whether the history would stay rejected.
    undecided: Vec<Reduction>,
    /// The maximum time for judging one weaker history. It is halved, down to a minimum, whenever
    /// it was not enough to find out whether a unit is needed.
    patience: Duration,
}

/// Whether leaving out subjects was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    Yes,
    /// Leaving out subjects was not tried, because an operation that concerns all subjects at once
    /// is still needed.
    Blocked,
}

impl<'a> Shrinking<'a> {
    /// Starts with the shortest failing prefix, restricted to the object that the evidence is
    /// about.
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
            // Subjects can be left out now, because each operation that concerned all subjects at
            // once has been forgotten or left out.
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

    /// Replaces the remaining history by a weaker one. The caller must know that the weaker history
    /// is rejected.
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

    /// Returns the remaining history. Its types are erased.
    fn left(&self) -> &dyn Case {
        self.histories.left()
    }

    /// Returns the remaining operations.
    fn operations(&self) -> impl Iterator<Item = OpId> + use<> {
        self.left().frame().operations()
    }

    /// Returns the number that a remaining operation has in the original.
    fn id(&self, op: OpId) -> OpId {
        self.histories.ids()[op.index()]
    }

    /// Returns the refused operation, by its number in the remaining history.
    fn refused(&self) -> OpId {
        self.number(self.refused).expect("the refused operation is never left out")
    }

    /// Returns the number that an operation of the original has in the remaining history, or `None`
    /// if it does not remain.
    fn number(&self, id: OpId) -> Option<OpId> {
        let index = self.histories.ids().binary_search(&id).ok()?;
        Some(OpId(u32::try_from(index).expect("operations are numbered with 32 bits")))
    }

    /// Returns whether some remaining operation has lost a part of its arguments or of its result.
    fn is_in_part(&self) -> bool {
        self.operations().any(|op| self.histories.is_in_part(op))
    }

    fn is_observer(&self, op: OpId) -> bool {
        self.left().observes(op)
    }

    /// Returns the position of the last event of an operation.
    fn last_event(&self, op: OpId) -> u32 {
        let frame = self.left().frame();
        frame.ret(op).unwrap_or(frame.call(op))
    }

    /// If the refused operation has a key, leaves out the operations on all other keys. If they
    /// stayed, the history might fail on another key even without the refused operation.
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

    /// Groups the operations by subject. Returns `None` if an operation that concerns all subjects
    /// at once is the refused operation or is not an observer.
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

    /// Leaves out as many subjects as possible. Also leaves out as many as possible of the
    /// observers that do not belong to a single subject.
    fn leave_out_subjects(&mut self) -> Tried {
        self.undecided.retain(|step| matches!(step, Reduction::Operation(_)));
        let Some(found) = self.find_subjects() else { return Tried::Blocked };
        if !self.speaks_of_subjects_only(&found.whole) {
            return Tried::Blocked;
        }
        // Find the subjects again: operations may have been removed or weakened, and a weakened
        // operation may have become an observer.
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

    /// Removes the operations in `whole`, which concern all subjects at once, and those parts of
    /// other operations that concern all subjects at once. Removes them only if the history stays
    /// rejected. Returns `true` if no such operation or part remains.
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

    /// Finds the latest operation such that the history is still rejected if it begins after this
    /// operation, and makes the history begin there. Returns whether the history changed.
    fn begin_later(&mut self) -> bool {
        let beginnings = self.find_beginnings();
        // `beginnings` starts with the latest operation, so it is tried first.
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
            // Only observers would be left out. This is possible without changing the beginning.
            return false;
        }
        self.beginning = self.begins_behind.is_none().then_some(beginnings[high].1);
        self.begins_behind = Some(self.id(beginnings[high].0));
        self.take(&choice);
        true
    }

    /// Returns the operations after which the shortened history may begin, starting with the latest
    /// one.
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

    /// Returns the choice that makes the history begin after `first`.
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

    /// Forgets the returns and results of as many operations as possible, so that these operations
    /// are pending. Observers are left out instead.
    ///
    /// If the history was cut so that it begins after a certain operation, the return of that
    /// operation is not forgotten. Earlier calls can be ignored only because this operation took
    /// effect before all operations that were called after its return. If its return were
    /// forgotten, a linearization could place it later.
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

    /// Returns the fate of an operation that is not kept: it is left out if it is an observer, and
    /// forgotten otherwise.
    fn dropped(&self, id: OpId) -> Fate {
        if self.is_observer(id) { Fate::LeaveOut } else { Fate::Forget }
    }

    /// Returns the undecided steps as values of the public type [`Weakening`].
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

    /// Tries the undecided steps once more, because the history has become smaller since they were
    /// first tried.
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
    /// Maps the number of each subject to the index of its unit.
    numbers: HashMap<u64, usize, hash::Builder>,
    /// The index of the unit that contains the refused operation.
    needed: usize,
    /// The observers that concern all subjects at once. They must be left out before any subject
    /// can be left out.
    whole: Vec<OpId>,
}

/// Returns the fate of an operation that need not have taken effect.
fn optional(case: &dyn Case, op: OpId) -> Fate {
    // An observer can be left out, because no operation can observe whether it took effect.
    if case.observes(op) { Fate::LeaveOut } else { Fate::Optional }
}

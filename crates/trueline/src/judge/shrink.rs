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
//!    subject in L; they need not take effect, and are left out of L too. Other objects are left out by locality.
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

use std::time::{Duration, Instant};

use hashbrown::HashMap;

use super::search::hash;
use super::{Budget, Config, check};
use crate::history::{Fate, History, OpId, Operation, Outcome};
use crate::spec::{Spec, Subject};
use crate::verdict::{Core, Evidence, Member, Role, Verdict, Weakening};

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
    time_per_call: Duration,
    memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

impl Limits {
    /// 5 s in all, 400 ms for each history that is judged on the way, and 1 GiB.
    pub fn new() -> Self {
        Self { time: Duration::from_secs(5), time_per_call: Duration::from_millis(400), memory: 1 << 30 }
    }

    /// At most this long in all.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// At most this long for each history that is judged on the way.
    #[must_use]
    pub fn time_per_call(mut self, time: Duration) -> Self {
        self.time_per_call = time;
        self
    }

    /// At most this many bytes of tables and states.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
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
/// // Enqueue(2), Enqueue(3), Dequeue -> 3: that is enough.
/// assert_eq!(core.told().map(|member| member.id).collect::<Vec<_>>(), [OpId(2), OpId(3), OpId(102)]);
/// assert_eq!(core.left_out(), 101);
/// assert!(core.is_minimal());
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn judge<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, limits: &Limits) -> Option<Core<S::Op, S::Ret>> {
    let started = Instant::now();
    let config = Config::new().budget(Budget::unlimited().time(limits.time).memory(limits.memory));
    let judgement = check(spec, history, &config);
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
    assert_eq!(
        history[evidence.refused].return_position(),
        Some(evidence.event),
        "the evidence is of another history"
    );
    let mut shrinking = Shrinking::new(spec, history, evidence, limits);
    shrinking.run();
    shrinking.finish()
}

/// What the oracle says of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Rejected,
    Accepted,
    Unknown,
}

/// Whoever decides whether a weaker history is still rejected.
struct Oracle<'a, S: Spec> {
    spec: &'a S,
    limits: Limits,
    deadline: Option<Instant>,
    calls: u32,
}

impl<S: Spec> Oracle<'_, S> {
    /// Judges `history` within this time.
    fn ask(&mut self, history: &History<S::Op, S::Ret>, time: Duration) -> Answer {
        let time = self.deadline.map_or(time, |deadline| time.min(deadline.saturating_duration_since(Instant::now())));
        if time.is_zero() {
            return Answer::Unknown;
        }
        self.calls += 1;
        let budget = Budget::unlimited().time(time).memory(self.limits.memory);
        match check(self.spec, history, &Config::new().budget(budget)).verdict {
            Verdict::Rejected(_) => Answer::Rejected,
            Verdict::Accepted(_) => Answer::Accepted,
            Verdict::Unknown(_) => Answer::Unknown,
        }
    }

    fn is_out_of_time(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
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
    /// What was kept because nobody knows whether it is needed.
    undecided: Vec<Step>,
    /// How long a single question may take; less, when long questions are in vain.
    patience: Duration,
}

/// Something that could be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// All that is about the subject with this number.
    Subject(u64),
    /// An operation, as numbered in the original.
    Operation(OpId),
}

/// Something that is kept or not, as a whole.
struct Unit {
    step: Step,
    /// Its operations, as numbered in the history that is left.
    operations: Vec<OpId>,
    /// Its last event.
    last: u32,
}

/// Whether leaving out subjects was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    Yes,
    /// Some operation is about all subjects, and is needed so far.
    Blocked,
}

/// How much less time than a question may take the first try has.
const FIRST_TRY: u32 = 16;

/// How many units are tried alone, where questions about many of them are too hard.
const BLOCK: usize = 8;

impl<'a, S: Spec> Shrinking<'a, S> {
    /// Begins with the shortest failing prefix of the object that the evidence is about.
    fn new(
        spec: &'a S,
        original: &'a History<S::Op, S::Ret>,
        evidence: &Evidence<S::Ret>,
        limits: &Limits,
    ) -> Self {
        let Evidence { refused, event, ref allowed, .. } = *evidence;
        let object = original[refused].object;
        let prefix = |operation: &Operation<S::Op, S::Ret>| {
            if operation.object != object || operation.call_position() > event {
                return Fate::LeaveOut;
            }
            let returned = operation.return_position().is_some_and(|ret| ret <= event);
            if returned {
                Fate::Keep
            } else if spec.observes(&operation.op, operation.outcome.result()) {
                // It need not take effect, and nobody can tell whether it did.
                Fate::LeaveOut
            } else {
                Fate::Optional
            }
        };
        let mut shrinking = Self {
            oracle: Oracle { spec, limits: limits.clone(), deadline: Instant::now().checked_add(limits.time), calls: 0 },
            original,
            history: original.clone(),
            ids: (0..original.len()).map(op_id).collect(),
            refused,
            suspects: allowed.iter().map(|result| spec.subject(&original[refused].op, Some(result))).collect(),
            undecided: Vec::new(),
            patience: limits.time_per_call,
        };
        let fates: Vec<Fate> = original.operations().iter().map(prefix).collect();
        shrinking.take(&fates);
        shrinking
    }

    fn run(&mut self) {
        let tried = self.leave_out_subjects();
        self.forget_operations();
        if tried == Tried::Blocked && self.find_subjects().is_some_and(|found| found.whole.is_empty()) {
            // What was about all is forgotten or gone.
            self.leave_out_subjects();
        }
        self.reconsider();
    }

    fn finish(self) -> Core<S::Op, S::Ret> {
        let role = |id: OpId, operation: &Operation<S::Op, S::Ret>| match (&operation.outcome, &self.original[id].outcome)
        {
            (Outcome::Returned(_), _) => Role::Completed,
            (Outcome::Optional(_), _) => Role::Optional,
            (Outcome::Pending, Outcome::Pending) => Role::Pending,
            (Outcome::Pending, _) => Role::Forgotten,
        };
        let members = self
            .ids
            .iter()
            .zip(self.history.operations())
            .map(|(&id, operation)| Member { id, role: role(id, operation) })
            .collect();
        let undecided = self.undecided.iter().map(|step| self.weakening(*step)).collect();
        Core {
            members,
            of: self.original.len(),
            undecided,
            oracle_calls: self.oracle.calls,
            history: self.history,
        }
    }

    fn spec(&self) -> &'a S {
        self.oracle.spec
    }

    /// Weakens the history; the caller knows that it stays rejected.
    fn take(&mut self, fates: &[Fate]) {
        self.history = self.history.weaken(|id, _| fates[id.index()]);
        let mut fates = fates.iter();
        self.ids.retain(|_| fates.next() != Some(&Fate::LeaveOut));
    }

    /// The refused operation, as numbered in the history that is left.
    fn refused(&self) -> OpId {
        op_id(self.ids.binary_search(&self.refused).expect("the refused operation is never left out"))
    }

    fn is_observer(&self, id: OpId) -> bool {
        let operation = &self.history[id];
        self.spec().observes(&operation.op, operation.outcome.result())
    }

    /// What becomes of an operation that is not kept.
    fn dropped(&self, id: OpId) -> Fate {
        if self.is_observer(id) { Fate::LeaveOut } else { Fate::Forget }
    }

    /// The place of an operation in time: its last event.
    fn last_event(&self, id: OpId) -> u32 {
        let operation = &self.history[id];
        operation.return_position().unwrap_or(operation.call_position())
    }

    /// The operations by subject, or `None` if some operation that is not an observer, or the refused one, is about all.
    fn find_subjects(&self) -> Option<Subjects> {
        let refused = self.refused();
        let mut found = Subjects { units: Vec::new(), numbers: HashMap::default(), needed: usize::MAX, whole: Vec::new() };
        for (id, operation) in (0..).map(OpId).zip(self.history.operations()) {
            let subject = self.spec().subject(&operation.op, operation.outcome.result());
            let unit = match subject {
                Subject::One(number) => {
                    let new = found.units.len();
                    *found.numbers.entry(number).or_insert(new)
                }
                Subject::Free if self.is_observer(id) => found.units.len(),
                Subject::Free => continue,
                Subject::All if id != refused && self.is_observer(id) => {
                    found.whole.push(id);
                    continue;
                }
                Subject::All => return None,
            };
            if unit == found.units.len() {
                let step = match subject {
                    Subject::One(number) => Step::Subject(number),
                    _ => Step::Operation(self.ids[id.index()]),
                };
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

    /// Leaves out as many subjects, and free observers, as can be.
    fn leave_out_subjects(&mut self) -> Tried {
        let Some(found) = self.find_subjects() else { return Tried::Blocked };
        if !found.whole.is_empty() {
            let mut fates = vec![Fate::Keep; self.history.len()];
            for id in &found.whole {
                fates[id.index()] = Fate::LeaveOut;
            }
            if self.ask(&fates, self.patience) != Answer::Rejected {
                return Tried::Blocked;
            }
            self.take(&fates);
            return self.leave_out_subjects();
        }
        let Subjects { units, numbers, needed, .. } = found;
        let suspects: Vec<usize> = self
            .suspects
            .iter()
            .filter_map(|suspect| if let Subject::One(number) = suspect { numbers.get(number).copied() } else { None })
            .collect();
        let mut order: Vec<usize> = (0..units.len()).filter(|unit| *unit != needed).collect();
        order.sort_by_key(|unit| (!suspects.contains(unit), std::cmp::Reverse(units[*unit].last)));
        self.minimise(&units, &order, |_, _| Fate::LeaveOut, Small::Units);
        Tried::Yes
    }

    /// Forgets as many operations as can be, and leaves out observers instead.
    fn forget_operations(&mut self) {
        let refused = self.refused();
        let known = |(id, operation): (OpId, &Operation<S::Op, S::Ret>)| {
            (id != refused && operation.outcome.result().is_some()).then(|| Unit {
                step: Step::Operation(self.ids[id.index()]),
                operations: vec![id],
                last: self.last_event(id),
            })
        };
        let units: Vec<Unit> = (0..).map(OpId).zip(self.history.operations()).filter_map(known).collect();
        let mut order: Vec<usize> = (0..units.len()).collect();
        order.sort_by_key(|unit| std::cmp::Reverse(units[*unit].last));
        self.minimise(&units, &order, Self::dropped, Small::Nothing);
    }

    /// The public name of a step that was not taken.
    fn weakening(&self, step: Step) -> Weakening {
        match step {
            Step::Operation(id) => {
                let operation = &self.original[id];
                if self.spec().observes(&operation.op, operation.outcome.result()) {
                    Weakening::LeaveOut(id)
                } else {
                    Weakening::Forget(id)
                }
            }
            Step::Subject(number) => {
                let about = |(_, operation): &(&OpId, &Operation<S::Op, S::Ret>)| {
                    self.spec().subject(&operation.op, operation.outcome.result()) == Subject::One(number)
                };
                let ids = self.ids.iter().zip(self.history.operations()).filter(about).map(|(id, _)| *id).collect();
                Weakening::LeaveOutAll(ids)
            }
        }
    }

    /// Tries what was undecided once more: the history is smaller now.
    fn reconsider(&mut self) {
        for step in std::mem::take(&mut self.undecided) {
            let mut fates = vec![Fate::Keep; self.history.len()];
            match step {
                Step::Operation(id) => {
                    let Ok(index) = self.ids.binary_search(&id) else { continue };
                    if self.history[op_id(index)].outcome.result().is_none() {
                        continue;
                    }
                    fates[index] = self.dropped(op_id(index));
                }
                Step::Subject(number) => {
                    let Some(found) = self.find_subjects().filter(|found| found.whole.is_empty()) else { continue };
                    let Some(unit) = found.numbers.get(&number) else { continue };
                    for id in &found.units[*unit].operations {
                        fates[id.index()] = Fate::LeaveOut;
                    }
                }
            }
            match self.ask(&fates, self.oracle.limits.time_per_call) {
                Answer::Rejected => self.take(&fates),
                Answer::Accepted => {}
                Answer::Unknown => self.undecided.push(step),
            }
        }
    }

    /// Keeps as few units as can be, and does with the operations of all others as `dropped` says.
    ///
    /// `order` has the units that are not needed for sure, those that should be kept rather than others first.
    fn minimise(
        &mut self,
        units: &[Unit],
        order: &[usize],
        dropped: impl Fn(&Self, OpId) -> Fate,
        small: Small,
    ) {
        // What becomes of each operation if no unit is kept, and what is changed for a unit that is.
        let mut fates = vec![Fate::Keep; self.history.len()];
        for unit in order {
            for id in &units[*unit].operations {
                fates[id.index()] = dropped(self, *id);
            }
        }
        let mut candidates: Vec<&Unit> = order.iter().map(|unit| &units[*unit]).collect();
        let mut dense = false;
        // The history with all candidates is rejected, always.
        while !candidates.is_empty() {
            if self.oracle.is_out_of_time() {
                for unit in candidates {
                    self.undecided.push(unit.step);
                    keep(&mut fates, unit);
                }
                break;
            }
            let mut question = Question { fates: &fates, candidates: &candidates, answers: HashMap::default() };
            let (least, known) = self.least(&mut question, dense);
            if !known && small == Small::Units && candidates.len() > BLOCK {
                if let Some(few) = self.find_few(&question) {
                    candidates = few;
                    continue;
                }
            }
            let Some(last) = least.checked_sub(1) else { break };
            dense = least == candidates.len();
            let needed = candidates[last];
            keep(&mut fates, needed);
            if !known {
                self.undecided.push(needed.step);
                self.patience = (self.patience / 2).max(self.oracle.limits.time_per_call / FIRST_TRY);
            }
            candidates.truncate(last);
        }
        self.take(&fates);
    }

    /// The least number of candidates, from the first on, with which the history is rejected, as far as can be told;
    /// and whether it is known that with one less it is not.
    fn least(&mut self, question: &mut Question<'_, '_>, dense: bool) -> (usize, bool) {
        let quick = (self.patience / FIRST_TRY).max(Duration::from_millis(1));
        // Rejected with `high`; not known to be with what is below `low`.
        let (mut low, mut high) = (0, question.candidates.len());
        if dense && self.ask_for(question, high - 1, quick) == Answer::Accepted {
            return (high, true);
        }
        let mut next = 0;
        while next < high {
            if self.ask_for(question, next, quick) == Answer::Rejected {
                high = next;
            } else {
                low = next + 1;
                next = (2 * next).max(1);
            }
        }
        let mut time = quick;
        loop {
            while low < high {
                let middle = low + (high - low) / 2;
                if self.ask_for(question, middle, time) == Answer::Rejected {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            // With one less, it is accepted, or nobody knows: then think longer about that.
            let Some(less) = high.checked_sub(1) else { return (0, true) };
            match question.answers.get(&less) {
                Some(Answer::Accepted) => return (high, true),
                _ if time >= self.patience || self.oracle.is_out_of_time() => return (high, false),
                _ => {}
            }
            time = (time * 4).min(self.patience);
            question.answers.remove(&less);
            if self.ask_for(question, less, time) == Answer::Rejected {
                high = less;
                let accepted = question.answers.iter().filter(|(_, answer)| **answer == Answer::Accepted);
                low = accepted.map(|(count, _)| count + 1).max().unwrap_or(0);
                question.answers.retain(|_, answer| *answer != Answer::Unknown);
            }
        }
    }

    /// Whether the history is rejected with so many of the candidates.
    fn ask_for(&mut self, question: &mut Question<'_, '_>, count: usize, time: Duration) -> Answer {
        if let Some(answer) = question.answers.get(&count) {
            return *answer;
        }
        let answer = self.ask(&question.fates_with(&question.candidates[..count]), time);
        question.answers.insert(count, answer);
        answer
    }

    /// A few candidates next to one another with which the history is rejected, if such are found.
    ///
    /// Where the answer for many is not known, it mostly is for a few.
    fn find_few<'u>(&mut self, question: &Question<'_, 'u>) -> Option<Vec<&'u Unit>> {
        let quick = (self.patience / FIRST_TRY).max(Duration::from_millis(1));
        let mut unknown = 0;
        for few in question.candidates.chunks(BLOCK) {
            match self.ask(&question.fates_with(few), quick) {
                Answer::Rejected => return Some(few.to_vec()),
                Answer::Accepted => {}
                Answer::Unknown if unknown == 3 => return None,
                Answer::Unknown => unknown += 1,
            }
        }
        None
    }

    fn ask(&mut self, fates: &[Fate], time: Duration) -> Answer {
        if self.oracle.is_out_of_time() {
            return Answer::Unknown;
        }
        let weaker = self.history.weaken(|id, _| fates[id.index()]);
        self.oracle.ask(&weaker, time)
    }
}

/// What there is to keep or not.
struct Question<'f, 'u> {
    /// What becomes of each operation if no candidate is kept.
    fates: &'f [Fate],
    candidates: &'f [&'u Unit],
    /// By how many of the candidates are kept.
    answers: HashMap<usize, Answer, hash::Builder>,
}

impl Question<'_, '_> {
    fn fates_with(&self, kept: &[&Unit]) -> Vec<Fate> {
        let mut fates = self.fates.to_vec();
        for unit in kept {
            keep(&mut fates, unit);
        }
        fates
    }
}

fn keep(fates: &mut [Fate], unit: &Unit) {
    for id in &unit.operations {
        fates[id.index()] = Fate::Keep;
    }
}

/// What makes a history small enough to be judged for sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Small {
    /// To keep few units.
    Units,
    /// Nothing does: what is not kept is still there.
    Nothing,
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

fn op_id(index: usize) -> OpId {
    OpId(u32::try_from(index).expect("operations are numbered so"))
}

//! Erases the types of a specification and its history, so that the judges are not generic.
//!
//! To the judges, an operation is its [`OpId`], a result is a [`ResultId`], and states, values and
//! keys are numbers. The judges are therefore compiled once, and a new specification adds only the
//! code in this file: among the judges of linearizability and quasi linearizability, [`Typed`] is
//! the only code that is compiled for each specification. Its functions do only the work that needs
//! the specification, and leave everything else to the caller. Where there are many operations, a
//! function handles them in batches.

use std::borrow::Cow;
use std::cell::RefCell;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};

use smallvec::{SmallVec, smallvec};

use super::frame::{Frame, NEVER, Place};
use super::interner::{self, Interner, Numbers, Table};
use super::monitor::{Span, ValueId};
use super::replay::NotALinearization;
use super::search::StateId;
use super::search::automaton::{ResultId, StateSpace, keep_first_of_equal};
use super::search::hash;
use super::search::problem::{ClassId, Classes, Reach};
use crate::history::{Event, History, OpId};
use crate::spec::{Initial, Object, Outcomes, Spec, Standard};

/// The keys of all operations.
pub(crate) struct Keys {
    /// For each operation, the number of its key, or [`SPANS`].
    pub(crate) of: Vec<u32>,
    pub(crate) count: usize,
    pub(crate) any_spans: bool,
}

/// The key number of an operation that has no key and so spans all keys.
pub(crate) const SPANS: u32 = u32::MAX;

/// A specification, and a history that is judged by this specification, with their types erased.
pub(crate) trait Case: Sync {
    fn frame(&self) -> Frame<'_>;
    /// Returns whether the result of an operation is known.
    fn has_result(&self, op: OpId) -> bool;
    /// Returns whether an operation leaves every state unchanged ([`Spec::observes`]).
    fn observes(&self, op: OpId) -> bool;
    /// Returns whether any operation has a version. If operations are left out
    /// ([`Typed::leaving_out`]), versions are ignored, and this function returns `false`.
    fn has_versions(&self) -> bool;
    /// Returns the version that the object returned with the operation's result, if there is one.
    fn version(&self, op: OpId) -> Option<i64>;
    /// Returns the keys of the operations, or `None` if no operation has a key.
    fn keys(&self) -> Option<Keys>;
    /// Returns whether the operation has a key that does not depend on its result.
    fn has_key(&self, op: OpId) -> bool;
    /// Sorts some of the operations into classes of equal operations with equal results; the other
    /// operations get no class. The recorded result of `asked` is ignored, and `asked` has a class
    /// of its own.
    fn classes_of(&self, operations: &mut dyn Iterator<Item = OpId>, asked: Option<OpId>) -> Classes;
    /// Returns the states of the specification, for a search. If `asked` is given, the operation
    /// `asked.op` may have any result that is not in `asked.known`. The caller must also have passed
    /// this operation to [`classes_of`](Case::classes_of).
    fn states<'c>(&'c self, classes: &'c Classes, asked: Option<&'c Asked>) -> Box<dyn StateSpace + 'c>;
    /// Returns the states of the specification, for code that must share nothing with the searches.
    /// Operations are not sorted into classes.
    fn machine(&self) -> Box<dyn Machine + '_>;
    /// Returns a reader that translates operations into [standard](Spec::standard) operations.
    fn values(&self) -> Box<dyn ReadValues + '_>;
    /// Returns an object that replays operations.
    fn replay(&self) -> Box<dyn Replay + '_>;
    /// Checks that the operations of each part are legal in this order, starting from the initial
    /// state. `part_of` gives the part of each operation, numbered `0..parts`, or [`SPANS`] if the
    /// operation is to be skipped. If `part_of` is `None`, all operations belong to one part.
    ///
    /// If the specification provides [objects](Spec::object) and all results are known, the parts are
    /// replayed on these objects, and otherwise on states.
    fn replay_parts(&self, order: &[OpId], parts: usize, part_of: Option<&[u32]>) -> Result<(), NotALinearization>;
    /// Returns the number of operations that are left out: each of them may have had its recorded result, or no effect.
    fn left_out(&self) -> usize;
    /// Reads one field of the operation of each event, to bring this field into the cache. The
    /// operations are scattered in memory; if all of them are read at once, the cache misses
    /// overlap.
    fn touch(&self, events: &[Event]);
    /// Removes duplicates from these results, and sorts them by their descriptions. So their order
    /// does not depend on how a search found them.
    fn distinct_results(&self, results: Vec<ResultId>) -> Vec<ResultId>;

    /// Sorts all operations into classes.
    fn classes(&self) -> Classes {
        self.classes_of(&mut self.frame().operations(), None)
    }
}

/// An operation for which a search is to find all possible results, and the results that are
/// already known.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) op: OpId,
    pub(crate) known: RefCell<Vec<ResultId>>,
}

/// An object that replays operations one by one.
pub(crate) trait Replay {
    /// Replays one operation. Returns an error if the operation is not possible now, or cannot have
    /// its recorded result.
    fn step(&mut self, op: OpId) -> Result<(), NotALinearization>;
    /// Replays one operation as if its result were `result`.
    fn step_with(&mut self, op: OpId, result: ResultId) -> Result<(), NotALinearization>;
    /// Returns the results that an operation may return now, without duplicates.
    fn results(&self, op: OpId) -> Vec<ResultId>;
    /// Returns a description of the states that the object may be in.
    fn describe(&self) -> String;
}

/// The states of a specification by number; the initial state is 0.
pub(crate) trait Machine {
    /// Returns the states that an operation leads to from `state`, without duplicates. If the
    /// operation has a recorded result, only outcomes with this result are considered.
    fn next(&mut self, state: u32, op: OpId) -> SmallVec<[u32; 2]>;
    /// Returns the results that an operation may return in this state, without duplicates, in the specification's
    /// order.
    fn results(&self, state: u32, op: OpId) -> Vec<ResultId>;
    /// Returns a description of a state.
    fn describe(&self, state: u32) -> String;
    /// Returns the approximate number of bytes that the states take.
    fn bytes(&self) -> usize;
}

/// Assigns numbers to the values of standard operations: the typed part of a monitor's reader.
pub(crate) trait ReadValues {
    /// Forgets all values except the initial one, and returns the initial value. The caller expects
    /// to read approximately `expected` values.
    fn start(&mut self, expected: usize) -> Initial<ValueId>;
    /// Returns whether operations with different keys belong to one object ([`Spec::standard_spans_keys`]).
    fn spans_keys(&self) -> bool;
    /// Reads operations into spans. Stops at the first operation that is not a standard one or, if
    /// `of_one_key` is set, after the first operation whose key differs from that of the first
    /// operation since [`start`](Self::start). Returns the number of operations that were read, and
    /// the reason for stopping early, if any.
    fn read(&mut self, operations: &[OpId], of_one_key: bool, spans: &mut [Span]) -> (usize, Option<NotRead>);
    /// Returns the number of values.
    fn len(&self) -> usize;
    /// Returns the rank of each value in the order of values.
    fn ranks(&self) -> Vec<u32>;
    /// Returns the approximate number of bytes that the reader takes.
    fn bytes(&self) -> usize;
}

/// The reason why not all operations were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotRead {
    /// The operation is not a standard one.
    NotStandard,
    /// The key of the last operation that was read differs from that of the first operation.
    OtherKey,
}

/// A specification, and a history that is judged by this specification, with their types.
pub(crate) struct Typed<'a, S: Spec + ?Sized> {
    pub(crate) spec: &'a S,
    pub(crate) history: Cow<'a, History<S::Op, S::Ret>>,
    places: Vec<Place>,
    has_versions: bool,
    /// For each operation, whether it is left out, that is, whether it is optional. The list is
    /// empty if no operation is left out.
    left_out: Vec<bool>,
    /// The results by number. They are needed only if the history is rejected.
    results: Mutex<Interner<S::Ret>>,
}

impl<'a, S: Spec + ?Sized> Typed<'a, S> {
    pub(crate) fn new(spec: &'a S, history: Cow<'a, History<S::Op, S::Ret>>) -> Self {
        let mut places = Vec::with_capacity(history.len());
        let mut has_versions = false;
        for operation in history.operations() {
            has_versions |= operation.version().is_some();
            places.push(Place {
                call: operation.call_position(),
                ret: operation.return_position().unwrap_or(NEVER),
                process: operation.process.0,
                object: operation.object.0,
            });
        }
        Self { spec, history, places, has_versions, left_out: Vec::new(), results: Mutex::default() }
    }

    /// Leaves out some operations, that is, makes them optional: each of them took effect within
    /// its interval and with its result, or not at all.
    pub(crate) fn leaving_out(self, left_out: Vec<bool>) -> Self {
        Self { left_out, has_versions: false, ..self }
    }

    fn is_left_out(&self, id: OpId) -> bool {
        self.left_out.get(id.index()).is_some_and(|is_left_out| *is_left_out)
    }

    /// Returns the result with this number.
    pub(crate) fn result(&self, ResultId(number): ResultId) -> S::Ret {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)[number].clone()
    }

    /// Returns the number of a result.
    fn number(&self, result: &S::Ret) -> ResultId {
        ResultId(self.results.lock().unwrap_or_else(PoisonError::into_inner).number(result.clone()))
    }

    /// Returns an operation, and its result if it is known.
    fn op(&self, id: OpId) -> (&S::Op, Option<&S::Ret>) {
        let operation = &self.history[id];
        (&operation.op, operation.outcome.result())
    }

    /// Calls `each` with the number of each result that `op` may have in `state`.
    fn results_in(&self, state: &S::State, op: OpId, each: &mut dyn FnMut(ResultId)) {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        for (result, _) in self.spec.step(state, self.op(op).0, None) {
            each(ResultId(results.number(result)));
        }
    }

    /// Calls `each` with each state that `op` leads to from `state`. If `op` has a recorded result,
    /// only outcomes with this result are considered.
    #[inline]
    fn outcomes(&self, state: &S::State, op: OpId, each: &mut dyn FnMut(S::State)) {
        self.outcomes_with(state, op, self.op(op).1, each);
    }

    #[inline]
    fn outcomes_with(&self, state: &S::State, id: OpId, recorded: Option<&S::Ret>, each: &mut dyn FnMut(S::State)) {
        let outcomes = self.spec.step(state, self.op(id).0, recorded);
        self.select(outcomes, state, id, recorded, each);
    }

    /// Calls `each` with the states of the outcomes whose result is `recorded`, or of all outcomes
    /// if `recorded` is `None`. If the operation is left out, also calls `each` with `state`.
    fn select(
        &self,
        outcomes: Outcomes<S::Ret, S::State>,
        state: &S::State,
        id: OpId,
        recorded: Option<&S::Ret>,
        each: &mut dyn FnMut(S::State),
    ) {
        for (result, next) in outcomes {
            if recorded.is_none_or(|recorded| *recorded == result) {
                each(next);
            }
        }
        if self.is_left_out(id) {
            each(state.clone());
        }
    }
}

/// Removes duplicates, and sorts by description. Shorter descriptions come first, so that results
/// that are numbers are in ascending order.
fn by_description(mut ids: Vec<ResultId>, describe: &dyn Fn(ResultId) -> String) -> Vec<ResultId> {
    ids.sort_unstable();
    ids.dedup();
    ids.sort_by_cached_key(|id| {
        let description = describe(*id);
        (description.len(), description)
    });
    ids
}

impl<S: Spec + ?Sized> Case for Typed<'_, S> {
    fn frame(&self) -> Frame<'_> {
        Frame { events: self.history.events(), places: &self.places, objects: self.history.object_count() }
    }

    fn has_result(&self, op: OpId) -> bool {
        self.history[op].outcome.result().is_some()
    }

    fn observes(&self, op: OpId) -> bool {
        let (op, recorded) = self.op(op);
        self.spec.observes(op, recorded)
    }

    fn has_versions(&self) -> bool {
        self.has_versions
    }

    fn version(&self, op: OpId) -> Option<i64> {
        self.history[op].version()
    }

    fn keys(&self) -> Option<Keys> {
        let (mut numbers, mut keys) = (Numbers::default(), Vec::new());
        let mut of: Vec<u32> = Vec::with_capacity(self.places.len());
        for operation in self.history.operations() {
            let Some(key) = self.spec.key(&operation.op, operation.outcome.result()) else {
                of.push(SPANS);
                continue;
            };
            let hash = interner::hash_of(&key);
            let number = numbers.number(hash, self.places.len() / 4, |number| keys[number] == key);
            if number as usize == keys.len() {
                keys.push(key);
            }
            of.push(number);
        }
        let any_spans = of.contains(&SPANS);
        (!keys.is_empty()).then_some(Keys { of, count: keys.len(), any_spans })
    }

    fn has_key(&self, op: OpId) -> bool {
        self.spec.key(self.op(op).0, None).is_some()
    }

    fn classes_of(&self, operations: &mut dyn Iterator<Item = OpId>, asked: Option<OpId>) -> Classes {
        let hasher = hash::Builder::default();
        let mut table = Table::default();
        let mut classes = Classes::none(self.places.len());
        // Foresight (`judge/search/foresight.rs`) is sound only if the classes of all blind writes
        // are marked as overwriting. Two kinds of blind writes are not marked: operations that are
        // left out, and `asked`. So if any operation is left out, or if `asked` may be a blind
        // write, no class is marked as a goal, which turns foresight off.
        let foresees = self.left_out.is_empty() && asked.is_none_or(|asked| self.spec.observes(self.op(asked).0, None));
        for id in operations {
            let mut pair = self.op(id);
            let hash = hasher.hash_one(pair);
            let is_asked = asked == Some(id);
            let is_it = |class| {
                let first = classes.representative(ClassId(class));
                Some(first) != asked && self.op(first) == pair && self.is_left_out(first) == self.is_left_out(id)
            };
            if let Some(class) = if is_asked { None } else { table.find(hash, is_it) } {
                classes.put(id, ClassId(class));
                continue;
            }
            if is_asked {
                pair.1 = None;
            }
            let (op, result) = pair;
            let reach = if self.spec.key(op, result).is_some() { Reach::Key } else { Reach::Everything };
            let overwrites = !is_asked && !self.is_left_out(id) && self.spec.overwrites(op, result);
            let class = classes.add(
                id,
                self.spec.observes(op, result),
                overwrites.then_some(reach),
                foresees && result.is_some_and(|result| self.spec.is_goal(op, result)),
            );
            table.insert(hash, class.0);
            classes.put(id, class);
        }
        if classes.has_goals() {
            let mut keys = Interner::default();
            let key = |id: OpId| self.spec.key(self.op(id).0, self.op(id).1);
            classes.set_keys(&mut |id| key(id).map(|key| keys.number(key)));
        }
        classes
    }

    fn states<'c>(&'c self, classes: &'c Classes, asked: Option<&'c Asked>) -> Box<dyn StateSpace + 'c> {
        let mut space = Interned { case: self, classes, states: Interner::default(), heap: 0, asked };
        let initial = space.intern(self.spec.initial());
        debug_assert_eq!(initial, StateId::INITIAL, "the first state is numbered 0");
        Box::new(space)
    }

    fn machine(&self) -> Box<dyn Machine + '_> {
        let mut states = Interner::default();
        states.number(self.spec.initial());
        Box::new(Numbered { case: self, states, heap: 0 })
    }

    fn values(&self) -> Box<dyn ReadValues + '_> {
        Box::new(Values {
            case: self,
            numbers: Numbers::default(),
            in_order: Vec::new(),
            expected: 0,
            first_key: None,
            waiting: Vec::new(),
            hashes: Vec::new(),
        })
    }

    fn replay(&self) -> Box<dyn Replay + '_> {
        Box::new(InStates { case: self, states: smallvec![self.spec.initial()] })
    }

    fn replay_parts(&self, order: &[OpId], parts: usize, part_of: Option<&[u32]>) -> Result<(), NotALinearization> {
        if let Some(answer) = self.replay_in_place(order, parts, part_of) {
            return answer;
        }
        let mut objects = Vec::with_capacity(parts);
        for _ in 0..parts {
            objects.push(InStates { case: self, states: smallvec![self.spec.initial()] });
        }
        for &op in order {
            match part_of.map_or(0, |of| of[op.index()]) {
                SPANS => {}
                part => objects[part as usize].step(op)?,
            }
        }
        Ok(())
    }

    fn distinct_results(&self, ids: Vec<ResultId>) -> Vec<ResultId> {
        by_description(ids, &|id| self.spec.describe_result(&self.result(id)))
    }

    fn left_out(&self) -> usize {
        self.left_out.iter().filter(|is_left_out| **is_left_out).count()
    }

    fn touch(&self, events: &[Event]) {
        let mut sum = 0_u32;
        for event in events {
            sum = sum.wrapping_add(self.history[event.op()].process.0);
        }
        std::hint::black_box(sum);
    }
}

impl<S: Spec + ?Sized> Typed<'_, S> {
    /// Implements [`Case::replay_parts`] with the specification's [objects](Spec::object). Returns `None` if that is
    /// not possible.
    pub(super) fn replay_in_place(
        &self,
        order: &[OpId],
        parts: usize,
        part_of: Option<&[u32]>,
    ) -> Option<Result<(), NotALinearization>> {
        if !self.left_out.is_empty() {
            return None;
        }
        let mut objects: SmallVec<[Object<'_, S::Op, S::Ret>; 1]> = SmallVec::new();
        for _ in 0..parts {
            objects.push(self.spec.object()?);
        }
        for &id in order {
            let part = part_of.map_or(0, |of| of[id.index()]);
            if part == SPANS {
                continue;
            }
            let (op, result) = self.op(id);
            if !objects[part as usize](op, result?) {
                return Some(Err(NotALinearization::Illegal(id)));
            }
        }
        Some(Ok(()))
    }
}

/// One object, represented by the states to which the operations so far may have led.
struct InStates<'c, 'a, S: Spec + ?Sized> {
    case: &'c Typed<'a, S>,
    states: SmallVec<[S::State; 1]>,
}

impl<S: Spec + ?Sized> InStates<'_, '_, S> {
    fn carry_out(&mut self, id: OpId, recorded: Option<&S::Ret>) -> Result<(), NotALinearization> {
        let Self { case, states } = self;
        let mut next: SmallVec<[S::State; 1]> = SmallVec::new();
        if let [state] = states.as_mut_slice() {
            let mut outcomes = case.spec.step(state, case.op(id).0, recorded);
            if outcomes.len() == 1 && !case.is_left_out(id) {
                // The common case: one state, one outcome.
                let (result, successor) = outcomes.pop().expect("there is one outcome");
                if recorded.is_some_and(|recorded| *recorded != result) {
                    states.clear();
                    return Err(NotALinearization::Illegal(id));
                }
                *state = successor;
                return Ok(());
            }
            case.select(outcomes, state, id, recorded, &mut |successor| {
                if !next.contains(&successor) {
                    next.push(successor);
                }
            });
        } else {
            let mut known = Interner::default();
            for state in &*states {
                case.outcomes_with(state, id, recorded, &mut |successor| {
                    if known.intern(successor.clone()).1 {
                        next.push(successor);
                    }
                });
            }
        }
        *states = next;
        if states.is_empty() { Err(NotALinearization::Illegal(id)) } else { Ok(()) }
    }
}

impl<S: Spec + ?Sized> Replay for InStates<'_, '_, S> {
    fn step(&mut self, op: OpId) -> Result<(), NotALinearization> {
        self.carry_out(op, self.case.op(op).1)
    }

    fn step_with(&mut self, op: OpId, result: ResultId) -> Result<(), NotALinearization> {
        self.carry_out(op, Some(&self.case.result(result)))
    }

    fn results(&self, op: OpId) -> Vec<ResultId> {
        let mut results = Vec::new();
        for state in &self.states {
            self.case.results_in(state, op, &mut |result| results.push(result));
        }
        self.case.distinct_results(results)
    }

    fn describe(&self) -> String {
        let mut states = Vec::new();
        for state in &self.states {
            states.push(self.case.spec.describe_state(state));
        }
        in_order(states)
    }
}

/// Joins the descriptions of alternative states. They are sorted, because the order in which they were found has no
/// meaning.
fn in_order(mut states: Vec<String>) -> String {
    states.sort();
    states.join(" or ")
}

struct Numbered<'c, 'a, S: Spec + ?Sized> {
    case: &'c Typed<'a, S>,
    states: Interner<S::State>,
    /// The size of the heap memory of the states, in bytes.
    heap: usize,
}

impl<S: Spec + ?Sized> Machine for Numbered<'_, '_, S> {
    fn next(&mut self, state: u32, op: OpId) -> SmallVec<[u32; 2]> {
        let mut outcomes: SmallVec<[S::State; 1]> = SmallVec::new();
        self.case.outcomes(&self.states[state], op, &mut |next| outcomes.push(next));
        let mut next = SmallVec::new();
        for successor in outcomes {
            let (number, is_new) = self.states.intern(successor);
            if is_new {
                self.heap += self.case.spec.heap_size(&self.states[number]);
            }
            if !next.contains(&number) {
                next.push(number);
            }
        }
        next
    }

    fn results(&self, state: u32, op: OpId) -> Vec<ResultId> {
        let mut results = Vec::new();
        self.case.results_in(&self.states[state], op, &mut |result| {
            if !results.contains(&result) {
                results.push(result);
            }
        });
        results
    }

    fn describe(&self, state: u32) -> String {
        self.case.spec.describe_state(&self.states[state])
    }

    fn bytes(&self) -> usize {
        self.states.bytes() + self.heap
    }
}

/// The states of a specification that a search has encountered, without duplicates.
struct Interned<'c, 'a, S: Spec + ?Sized> {
    case: &'c Typed<'a, S>,
    classes: &'c Classes,
    states: Interner<S::State>,
    /// The size of the heap memory of the states, in bytes.
    heap: usize,
    asked: Option<&'c Asked>,
}

impl<S: Spec + ?Sized> Interned<'_, '_, S> {
    fn intern(&mut self, state: S::State) -> StateId {
        let (number, is_new) = self.states.intern(state);
        if is_new {
            self.heap += self.case.spec.heap_size(&self.states[number]);
        }
        StateId(number)
    }
}

impl<S: Spec + ?Sized> StateSpace for Interned<'_, '_, S> {
    fn successors(&mut self, state: StateId, class: ClassId, next: &mut Vec<StateId>) {
        let id = self.classes.representative(class);
        let (op, mut recorded) = self.case.op(id);
        let asked = self.asked.filter(|asked| asked.op == id);
        if asked.is_some() {
            recorded = None;
        }
        let observes = self.classes.observes(class);
        let mut outcomes = self.case.spec.step(&self.states[state.0], op, recorded);
        // Most operations have one outcome. Taking it from the end costs less than an iterator.
        outcomes.reverse();
        while let Some((result, successor)) = outcomes.pop() {
            if recorded.is_some_and(|recorded| *recorded != result)
                || asked.is_some_and(|asked| asked.known.borrow().contains(&self.case.number(&result)))
            {
                continue;
            }
            if observes {
                debug_assert!(
                    successor == self.states[state.0],
                    "`observes` of the specification is true for {op:?} -> {recorded:?}, but that operation changed \
                     the state"
                );
                next.push(state);
            } else {
                next.push(self.intern(successor));
            }
        }
        if self.case.is_left_out(id) {
            next.push(state);
        }
        keep_first_of_equal(next);
    }

    fn other_successors(&mut self, state: StateId, class: ClassId, next: &mut Vec<StateId>) {
        let (op, recorded) = self.case.op(self.classes.representative(class));
        let Some(recorded) = recorded else { return };
        for (result, successor) in self.case.spec.step(&self.states[state.0], op, None) {
            if *recorded != result {
                next.push(self.intern(successor));
            }
        }
        keep_first_of_equal(next);
    }

    fn reaches(&self, state: StateId, goal: ClassId) -> bool {
        let (op, recorded) = self.case.op(self.classes.representative(goal));
        recorded.is_none_or(|result| self.case.spec.reaches(&self.states[state.0], op, result))
    }

    fn len(&self) -> usize {
        self.states.len()
    }

    fn bytes(&self) -> usize {
        self.states.bytes() + self.heap
    }

    fn retain(&mut self, keep: &[StateId]) {
        let before = std::mem::take(&mut self.states);
        self.heap = 0;
        for id in keep {
            self.intern(before[id.0].clone());
        }
    }
}

/// The values of standard operations, numbered.
struct Values<'c, 'a, S: Spec + ?Sized> {
    case: &'c Typed<'a, S>,
    numbers: Numbers,
    /// The values by number.
    in_order: Vec<&'c S::Value>,
    /// The approximate number of values that the caller expects to read.
    expected: usize,
    /// The key of the first operation that was read since [`start`](ReadValues::start).
    first_key: Option<Option<S::Key>>,
    /// The operations of a batch, until their values are numbered.
    waiting: Vec<Standard<&'c S::Value>>,
    /// The hashes of the values of `waiting`.
    hashes: Vec<u32>,
}

impl<'c, S: Spec + ?Sized> Values<'c, '_, S> {
    /// Returns the number of a value.
    #[inline]
    fn number(&mut self, value: &'c S::Value, hash: u32) -> ValueId {
        let Self { numbers, in_order, expected, .. } = self;
        let number = numbers.number(hash, *expected, |number| in_order[number] == value);
        if number as usize == in_order.len() {
            if in_order.len() == in_order.capacity() {
                // As in the table of numbers, a full list makes room for `expected` values, but for
                // at most 64 times the number of values that it already holds.
                in_order.reserve(expected.saturating_sub(in_order.len()).min(64 * in_order.len()));
            }
            in_order.push(value);
        }
        ValueId(number)
    }
}

impl<S: Spec + ?Sized> ReadValues for Values<'_, '_, S> {
    fn start(&mut self, expected: usize) -> Initial<ValueId> {
        self.numbers.clear();
        self.in_order.clear();
        self.first_key = None;
        // Do not make room for all values yet: this call adds only the initial value.
        self.expected = 0;
        let initial = match self.case.spec.standard_initial() {
            Initial::Value(value) => Initial::Value(self.number(value, interner::hash_of(value))),
            Initial::Permits(permits) => Initial::Permits(permits),
            Initial::Nothing => Initial::Nothing,
        };
        self.expected = expected;
        initial
    }

    fn spans_keys(&self) -> bool {
        self.case.spec.standard_spans_keys()
    }

    fn read(&mut self, operations: &[OpId], of_one_key: bool, spans: &mut [Span]) -> (usize, Option<NotRead>) {
        let case = self.case;
        self.waiting.clear();
        self.hashes.clear();
        let mut not_read = None;
        for &id in operations {
            let (op, recorded) = case.op(id);
            let Some(what) = case.spec.standard(op, recorded).filter(|_| !case.is_left_out(id)) else {
                not_read = Some(NotRead::NotStandard);
                break;
            };
            let hashes = &mut self.hashes;
            what.map(|value| hashes.push(interner::hash_of(value)));
            self.waiting.push(what);
            if of_one_key {
                let key = case.spec.key(op, recorded);
                if *self.first_key.get_or_insert_with(|| key.clone()) != key {
                    not_read = Some(NotRead::OtherKey);
                    break;
                }
            }
        }
        self.numbers.touch(&self.hashes);
        let (waiting, hashes) = (std::mem::take(&mut self.waiting), std::mem::take(&mut self.hashes));
        let mut hash = hashes.iter();
        for (span, what) in spans.iter_mut().zip(&waiting) {
            span.what = what.map(|value| self.number(value, *hash.next().expect("each value was hashed")));
        }
        let read = waiting.len();
        (self.waiting, self.hashes) = (waiting, hashes);
        (read, not_read)
    }

    fn len(&self) -> usize {
        self.numbers.len()
    }

    fn ranks(&self) -> Vec<u32> {
        self.case.spec.standard_ranks(&self.in_order)
    }

    fn bytes(&self) -> usize {
        self.numbers.bytes() + self.in_order.capacity() * size_of::<&S::Value>()
    }
}

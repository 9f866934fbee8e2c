//! Reading a part of a history as standard operations.

use super::family::{Family, Start};
use super::{Input, NEVER, Span, ValueId};
use crate::history::{EventKind, History, OpId};
use crate::judge::numbers::{self, Numbers};
use crate::judge::search::Meter;
use crate::judge::search::problem::Task;
use crate::spec::{Initial, Spec, Standard};
use crate::verdict::LimitKind;

/// What monitors read, kept from one part to the next for its memory.
pub(in crate::judge) struct Reader<'a, S: Spec> {
    spec: &'a S,
    history: &'a History<S::Op, S::Ret>,
    values: Numbers,
    /// The values by number.
    in_order: Vec<&'a S::Value>,
    /// About how many values are expected in the part.
    expected_values: usize,
    /// What the last spans are, whose values are not numbered yet.
    waiting: Vec<Standard<&'a S::Value>>,
    /// The hashes of the values of those that are waiting.
    hashes: Vec<u32>,
    /// By operation of the history: its span, where it is one of the part's.
    spans: Vec<u32>,
    /// By span: its operation.
    pub(in crate::judge) ids: Vec<OpId>,
    pub(in crate::judge) input: Input,
}

/// How often the clock is looked at, in events.
const LOOK_EVERY: u32 = 1 << 16;

/// So many operations are numbered at a time.
const BATCH: usize = 32;

/// What stands for a value until it has a number.
const NUMBERED_LATER: ValueId = ValueId(u32::MAX);

/// The span of an operation that has none.
const NONE: u32 = u32::MAX;

impl<'a, S: Spec> Reader<'a, S> {
    pub(in crate::judge) fn new(spec: &'a S, history: &'a History<S::Op, S::Ret>) -> Self {
        let input = Input { spans: Vec::new(), events: 0, values: 0, initial: None, rank: Vec::new() };
        Self {
            spec,
            history,
            values: Numbers::default(),
            in_order: Vec::new(),
            expected_values: 0,
            waiting: Vec::new(),
            hashes: Vec::new(),
            spans: Vec::new(),
            ids: Vec::new(),
            input,
        }
    }

    /// Reads a part: answers its family and how it starts, or why it has none.
    ///
    /// # Complexity
    /// Linear in the events, up to the first operation that is not standard; n log n to rank values by priority.
    pub(in crate::judge) fn read(
        &mut self,
        task: Task<'_>,
        meter: &Meter,
    ) -> Result<Result<(Family, Start), &'static str>, LimitKind> {
        meter.look_at_clock()?;
        self.values.clear();
        self.in_order.clear();
        self.waiting.clear();
        self.hashes.clear();
        self.ids.clear();
        // Half of the events are calls, and about half of those bring a new value.
        self.expected_values = task.events.len() / 4;
        self.ids.reserve(task.events.len() / 2);
        self.input.spans.reserve(task.events.len() / 2);
        self.input.spans.clear();
        self.input.rank.clear();
        let initial = self.spec.standard_initial();
        let start = match initial {
            Initial::Permits(permits) => Start { permits },
            Initial::Nothing | Initial::Value(_) => Start { permits: 0 },
        };
        self.input.initial = match initial {
            Initial::Value(value) => {
                Some(number(&mut self.values, &mut self.in_order, 0, value, numbers::hash_of(value)))
            }
            Initial::Nothing | Initial::Permits(_) => None,
        };
        let mut families = Family::ALL;
        let is_one_object = task.one_key || self.spec.standard_spans_keys();
        let mut first_key = None;
        let mut position = 0;
        for event in task.events {
            let id = event.op();
            match event.kind() {
                EventKind::Call => {
                    let operation = &self.history[id];
                    let recorded = operation.outcome.result();
                    let what = self.spec.standard(&operation.op, recorded);
                    if operation.return_position().is_none() && self.spec.observes(&operation.op, recorded) {
                        continue;
                    }
                    let Some(what) = what else { return Ok(Err("an operation is not one that monitors know")) };
                    families &= Family::of(&what);
                    if families == 0 {
                        return Ok(Err("the operations are not all of one type"));
                    }
                    if !is_one_object {
                        let key = self.spec.key(&operation.op, recorded);
                        if first_key.get_or_insert_with(|| key.clone()) != &key {
                            return Ok(Err("the operations are not all on one key"));
                        }
                    }
                    let not_yet = what.map(|value| {
                        self.hashes.push(numbers::hash_of(value));
                        NUMBERED_LATER
                    });
                    if self.spans.len() <= id.index() {
                        self.spans.resize(self.history.len(), NONE);
                    }
                    self.spans[id.index()] = u32::try_from(self.ids.len()).expect("fewer than events");
                    self.ids.push(id);
                    self.input.spans.push(Span { what: not_yet, call: position, ret: NEVER });
                    self.waiting.push(what);
                    if self.waiting.len() == BATCH {
                        self.number_waiting();
                    }
                }
                EventKind::Return => {
                    self.input.spans[self.spans[id.index()] as usize].ret = position;
                }
            }
            position += 1;
            if position % LOOK_EVERY == 0 {
                meter.look_at_clock()?;
            }
        }
        self.number_waiting();
        self.input.events = position;
        self.input.values = u32::try_from(self.values.len()).expect("no more than events");
        let family = Family::first_of(families);
        match family {
            Family::PriorityQueue => self.rank(),
            Family::SharedLock => self.owners(),
            _ => {}
        }
        Ok(Ok((family, start)))
    }

    /// Numbers the values of the spans that wait for it.
    fn number_waiting(&mut self) {
        let Self { values, in_order, expected_values, waiting, hashes, input, .. } = self;
        values.touch(hashes);
        let first = input.spans.len() - waiting.len();
        let mut hashes = hashes.drain(..);
        for (span, what) in input.spans[first..].iter_mut().zip(waiting.drain(..)) {
            span.what = what.map(|value| {
                let hash = hashes.next().expect("each value was hashed");
                number(values, in_order, *expected_values, value, hash)
            });
        }
    }

    /// Ranks the values.
    fn rank(&mut self) {
        // Copies stand side by side; the values themselves are spread over the history, in the order of their numbers.
        let values = self.in_order.iter().map(|value| (*value).clone());
        let mut order: Vec<(S::Value, u32)> = values.zip(0..).collect();
        order.sort_unstable_by(|one, other| self.spec.standard_order(&one.0, &other.0));
        self.input.rank.resize(order.len(), 0);
        let mut rank = 0;
        for (place, (value, number)) in order.iter().enumerate() {
            if place > 0 && self.spec.standard_order(&order[place - 1].0, value).is_ne() {
                rank += 1;
            }
            self.input.rank[*number as usize] = rank;
        }
    }

    /// Makes processes the owners of locks, if owners do not count: a condition of the monitor, see `shared_lock`.
    fn owners(&mut self) {
        for (span, id) in self.input.spans.iter_mut().zip(&self.ids) {
            let process = self.history[*id].process.0;
            match &mut span.what {
                Standard::Lock { by }
                | Standard::Unlock { by }
                | Standard::LockShared { by }
                | Standard::UnlockShared { by } => {
                    by.get_or_insert(process);
                }
                _ => {}
            }
        }
    }

    /// The operations of these spans.
    pub(in crate::judge) fn operations(&self, spans: &[u32]) -> Vec<OpId> {
        spans.iter().map(|span| self.ids[*span as usize]).collect()
    }

    /// About the bytes that it takes.
    pub(in crate::judge) fn bytes(&self) -> usize {
        self.input.spans.capacity() * size_of::<Span>()
            + self.ids.capacity() * size_of::<OpId>()
            + self.spans.capacity() * 4
            + self.values.bytes()
            + self.in_order.capacity() * size_of::<&S::Value>()
    }
}

/// The number of a value.
#[inline]
fn number<'a, V: Eq>(
    values: &mut Numbers,
    in_order: &mut Vec<&'a V>,
    expected: usize,
    value: &'a V,
    hash: u32,
) -> ValueId {
    let number = values.number(hash, expected, |number| in_order[number] == value);
    if number as usize == in_order.len() {
        if in_order.len() == in_order.capacity() {
            // As the table has grown.
            in_order.reserve(expected.saturating_sub(in_order.len()).min(64 * in_order.len()));
        }
        in_order.push(value);
    }
    ValueId(number)
}

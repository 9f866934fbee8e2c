//! Finds where a rejected history fails: the first event such that the history up to and including
//! this event is not linearizable.
//!
//! When a history is cut off after an event, the operations that are open there become optional,
//! but keep their results. If a prefix is not linearizable, neither is any longer prefix. So there is
//! a first event at which the history ceases to be linearizable, and this event is a return. The
//! conflicting operations narrow the search: when the last of them has returned, the history is
//! certainly not linearizable. If the prefix up to the event before that last return is linearizable,
//! the last return is the event to be found. Otherwise, the monitor finds other conflicting
//! operations in this prefix, which return earlier.
//!
//! **Projection.** A history of a container or a register stays legal if all operations of a value
//! are removed. So if the operations on the recently used values are not linearizable by
//! themselves, neither is the whole history. These operations are few, so it costs little to find
//! the first event at which they cease to be linearizable. Then one run on the whole history, up to
//! the event before this one, shows that the whole history does not fail earlier, and returns a
//! linearization of this prefix.
//!
//! # Complexity
//! With projection, usually one more run of the monitor on the whole history; without it, two. After [`GUESSES`] wrong
//! guesses, binary search takes a logarithmic number of runs.

use super::{Answer, Input, NEVER, Span, ValueId};
use crate::judge::search::hash;
use crate::spec::{Standard, Taken};

/// The maximum number of guesses that are based on conflicting operations. After this number of
/// guesses, binary search takes over.
const GUESSES: usize = 6;

/// The maximum number of conflicting operations that are used for a guess: a larger conflict may be
/// the whole history.
const FEW: usize = 64;

/// A value counts as recently used if one of its operations was open at most this many events before the last return
/// of a conflicting operation.
const WINDOW: u32 = 2_000;

/// The place where a history ceases to be linearizable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::judge) struct Place {
    /// The operation whose return is the first failing event: the last event of the shortest prefix
    /// that is not linearizable.
    pub(in crate::judge) refused: u32,
    /// A linearization of the history up to the event before the return of `refused`.
    pub(in crate::judge) prefix: Vec<u32>,
    /// The operations that conflict when `refused` returns.
    pub(in crate::judge) conflict: Vec<u32>,
}

/// Finds the place where a history ceases to be linearizable, given operations that conflict in the
/// whole history. Returns `None` if the monitor refuses a shorter history, or gives up.
pub(in crate::judge) fn locate(
    input: &Input,
    conflict: Vec<u32>,
    judge: &mut dyn FnMut(&Input) -> Option<Answer>,
) -> Option<Place> {
    Locator::new(input).run(conflict, judge)
}

struct Locator<'i> {
    input: &'i Input,
    /// The operations that returned, in the order of their returns, as indices into
    /// `Input::spans`.
    returns: Vec<u32>,
}

impl<'i> Locator<'i> {
    fn new(input: &'i Input) -> Self {
        let mut returns: Vec<u32> = vec![NEVER; input.events as usize];
        for (index, span) in (0u32..).zip(&input.spans) {
            if let Some(slot) = returns.get_mut(span.ret as usize) {
                *slot = index;
            }
        }
        returns.retain(|index| *index != NEVER);
        Self { input, returns }
    }

    fn run(&self, conflict: Vec<u32>, judge: &mut dyn FnMut(&Input) -> Option<Answer>) -> Option<Place> {
        // The history up to and including return number `bad.0` is not linearizable, and `bad.1` is
        // its conflict. The history before return number `good.0` is linearizable, and `good.1` is
        // its linearization.
        let mut bad = (self.returns.len().checked_sub(1)?, conflict);
        let mut good = (0, Vec::new());
        let mut guesses = GUESSES;
        // Whether `bad` was found by judging only the operations on recently used values.
        let mut is_recent = false;
        while good.0 < bad.0 {
            let place = if guesses > 0 && bad.1.len() <= FEW {
                guesses -= 1;
                if !is_recent {
                    if let Some(found) = self.among_recent(&bad.1, judge).filter(|found| found.0 <= bad.0) {
                        bad = found;
                        is_recent = true;
                        continue;
                    }
                }
                let guess = self.last_return(&bad.1).filter(|guess| *guess < bad.0);
                guess.unwrap_or(bad.0 - 1).max(good.0)
            } else {
                good.0.midpoint(bad.0)
            };
            let part = Part::until(self.input, self.position(place));
            match part.judge(judge)? {
                Ok(prefix) => good = (place + 1, prefix),
                Err(conflict) => {
                    bad = (place, conflict);
                    is_recent = false;
                }
            }
        }
        Some(Place { refused: self.returns[bad.0], prefix: good.1, conflict: bad.1 })
    }

    fn position(&self, place: usize) -> u32 {
        self.input.spans[self.returns[place] as usize].ret
    }

    /// Returns the index in `returns` of the last of these operations to return.
    fn last_return(&self, operations: &[u32]) -> Option<usize> {
        let returns = operations.iter().map(|index| self.input.spans[*index as usize].ret);
        let last = returns.filter(|ret| *ret != NEVER).max()?;
        Some(self.returns.partition_point(|index| self.input.spans[*index as usize].ret < last))
    }

    /// Judges only the operations on recently used values and on the values of the conflict. Finds
    /// the first return at which these operations, by themselves, cease to be linearizable. Returns
    /// this return and the operations that conflict at it.
    fn among_recent(
        &self,
        conflict: &[u32],
        judge: &mut dyn FnMut(&Input) -> Option<Answer>,
    ) -> Option<(usize, Vec<u32>)> {
        let last = self.position(self.last_return(conflict)?);
        // Judging only some of the values pays off only for long histories.
        if self.input.events < 8 * WINDOW {
            return None;
        }
        let mut used = vec![false; self.input.values as usize];
        let first = last.saturating_sub(WINDOW);
        let is_recent = |span: &Span| span.call <= last && span.ret >= first;
        for span in &self.input.spans {
            match group(span) {
                Group::Value(value) if is_recent(span) => used[value.index()] = true,
                Group::Value(_) | Group::None => {}
                Group::All => return None,
            }
        }
        for index in conflict {
            if let Group::Value(value) = group(&self.input.spans[*index as usize]) {
                used[value.index()] = true;
            }
        }
        let kept = |index: u32, span: &Span| {
            span.call <= last
                && match group(span) {
                    Group::Value(value) => used[value.index()],
                    _ => is_recent(span) || conflict.contains(&index),
                }
        };
        let part = Part::of(self.input, kept);
        let conflict = part.judge(judge)?.err()?;
        let within = |index: &u32| part.spans.binary_search(index).ok().and_then(|index| u32::try_from(index).ok());
        let place = Locator::new(&part.input).run(conflict.iter().filter_map(within).collect(), judge)?;
        let refused = part.spans[place.refused as usize];
        Some((self.last_return(&[refused])?, part.whole(place.conflict)))
    }
}

/// The operations that must be removed together with a given operation so that a legal history stays
/// legal.
enum Group {
    /// All operations on the given value.
    Value(ValueId),
    /// No other operations: the given operation can be removed alone.
    None,
    /// All operations of the history: the given operation cannot be removed.
    All,
}

fn group(span: &Span) -> Group {
    let taken = |taken: Taken<ValueId>| match taken {
        Taken::Value(value) => Group::Value(value),
        Taken::Nothing => Group::None,
        // An operation that never returned is optional. If all operations on the value that it took
        // are removed, it can be removed, too.
        Taken::Unknown if span.ret == NEVER => Group::None,
        Taken::Unknown => Group::All,
    };
    match span.what {
        Standard::Read(value)
        | Standard::Write(value)
        | Standard::Enqueue(value)
        | Standard::Push(value)
        | Standard::Insert(value)
        | Standard::Put(value) => Group::Value(value),
        Standard::Dequeue(value)
        | Standard::Front(value)
        | Standard::Pop(value)
        | Standard::Top(value)
        | Standard::DeleteMin(value)
        | Standard::Min(value)
        | Standard::Take(value) => taken(value),
        _ => Group::All,
    }
}

/// A part of a history.
struct Part {
    input: Input,
    /// For each span of the part, its index in the whole history. The indices are ascending.
    spans: Vec<u32>,
}

impl Part {
    /// Returns the history up to and including the event at position `last`.
    fn until(input: &Input, last: u32) -> Self {
        let called = input.spans.partition_point(|span| span.call < last);
        let mut spans = Vec::with_capacity(called);
        let mut kept = Vec::with_capacity(called);
        for (index, span) in (0u32..).zip(&input.spans[..called]) {
            let ret = if span.ret > last { NEVER } else { span.ret };
            if ret == NEVER && span.observes() {
                continue;
            }
            spans.push(index);
            kept.push(Span { ret, ..*span });
        }
        let input = Input { spans: kept, events: last + 1, rank: input.rank.clone(), ..*input };
        Self { input, spans }
    }

    /// Returns the history of the operations that `keep` selects.
    fn of(input: &Input, keep: impl Fn(u32, &Span) -> bool) -> Self {
        let mut positions = Vec::new();
        let mut spans = Vec::new();
        for (index, span) in (0u32..).zip(&input.spans).filter(|(index, span)| keep(*index, span)) {
            spans.push(index);
            positions.extend([span.call, span.ret].into_iter().filter(|position| *position != NEVER));
        }
        positions.sort_unstable();
        let place = |position: u32| match positions.binary_search(&position) {
            Ok(place) => u32::try_from(place).expect("the number of positions fits in 32 bits"),
            Err(_) => NEVER,
        };
        // Values are renumbered without gaps, because a monitor takes time for each number up to
        // the largest one.
        let mut numbers = Numbers::default();
        let initial = input.initial.map(|value| renumber(&mut numbers, value));
        let kept = spans.iter().map(|index| {
            let span = &input.spans[*index as usize];
            let what = span.what.map(|value| renumber(&mut numbers, value));
            Span { what, call: place(span.call), ret: place(span.ret) }
        });
        let kept: Vec<Span> = kept.collect();
        let mut rank = Vec::new();
        if !input.rank.is_empty() {
            rank.resize(numbers.len(), 0);
            for index in &spans {
                let _ =
                    input.spans[*index as usize].what.map(|old| rank[numbers[&old].index()] = input.rank[old.index()]);
            }
        }
        let (events, values) = (positions.len(), numbers.len());
        let count = |count: usize| u32::try_from(count).expect("the numbers of events and of values fit in 32 bits");
        Self { input: Input { spans: kept, events: count(events), values: count(values), initial, rank }, spans }
    }

    /// Returns a linearization, or the operations that conflict, as indices of spans of the whole
    /// history.
    fn judge(&self, judge: &mut dyn FnMut(&Input) -> Option<Answer>) -> Option<Result<Vec<u32>, Vec<u32>>> {
        match judge(&self.input)? {
            Answer::Accepted(order) => Some(Ok(self.whole(order))),
            Answer::Rejected(conflict) => Some(Err(self.whole(conflict))),
            Answer::Refused(_) => None,
        }
    }

    fn whole(&self, spans: Vec<u32>) -> Vec<u32> {
        spans.into_iter().map(|span| self.spans[span as usize]).collect()
    }
}

type Numbers = hashbrown::HashMap<ValueId, ValueId, hash::Builder>;

fn renumber(numbers: &mut Numbers, value: ValueId) -> ValueId {
    let next = ValueId(u32::try_from(numbers.len()).expect("the number of values fits in 32 bits"));
    *numbers.entry(value).or_insert(next)
}

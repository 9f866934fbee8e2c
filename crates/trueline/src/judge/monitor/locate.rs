//! Where a history that a monitor rejected ceases to be linearizable.
//!
//! A history is cut off behind an event by making what is open there optional, with the result that it has. The longer
//! the rest, the less is linearizable, so that there is a first event, a return, at which it no longer is. The
//! operations that conflict say where to look: when the last of them has returned, it is too late. If it was not before
//! that return, this is the event; else what is left has other operations that conflict, earlier ones.
//!
//! # Complexity
//! Mostly two runs of the monitor behind the first. After [`GUESSES`] guesses that were wrong, bisection: a logarithm.

use super::{Answer, Input, NEVER, Span};

/// How often operations that conflict are asked where, before bisection.
const GUESSES: usize = 6;

/// Operations that conflict are asked only if there are no more: not if all do.
const FEW: usize = 64;

/// Where a history ceases to be linearizable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::judge) struct Place {
    /// The span whose return is the first event up to which the history is not linearizable.
    pub(in crate::judge) refused: u32,
    /// A linearization up to the event before.
    pub(in crate::judge) prefix: Vec<u32>,
    /// Operations that conflict then.
    pub(in crate::judge) conflict: Vec<u32>,
}

/// Finds it, given operations of the whole that conflict. `None` if the monitor refuses a shorter history, or gives up.
pub(in crate::judge) fn locate(
    input: &Input,
    conflict: Vec<u32>,
    judge: &mut dyn FnMut(&Input) -> Option<Answer>,
) -> Option<Place> {
    // The returns, in their order, as spans.
    let mut returns: Vec<u32> = vec![NEVER; input.events as usize];
    for (index, span) in (0u32..).zip(&input.spans) {
        if let Some(slot) = returns.get_mut(span.ret as usize) {
            *slot = index;
        }
    }
    returns.retain(|index| *index != NEVER);
    let position = |place: usize| input.spans[returns[place] as usize].ret;
    let mut cut = |place: usize| {
        let part = Part::new(input, position(place));
        let answer = judge(&part.input)?;
        Some(match answer {
            Answer::Accepted(order) => Ok(part.whole(order)),
            Answer::Rejected(conflict) => Err(part.whole(conflict)),
            Answer::Refused(_) => return None,
        })
    };
    let last_return = |conflict: &[u32]| {
        let last = conflict.iter().map(|index| input.spans[*index as usize].ret).filter(|ret| *ret != NEVER).max()?;
        Some(returns.partition_point(|index| input.spans[*index as usize].ret < last))
    };

    // Not linearizable up to `bad`; linearizable up to what comes before `good`.
    let mut bad = (returns.len().checked_sub(1)?, conflict);
    let mut good = (0, Vec::new());
    let mut guesses = GUESSES;
    while good.0 < bad.0 {
        let place = if guesses > 0 && bad.1.len() <= FEW {
            guesses -= 1;
            let guess = last_return(&bad.1).filter(|guess| *guess < bad.0);
            guess.unwrap_or(bad.0 - 1).max(good.0)
        } else {
            good.0.midpoint(bad.0)
        };
        match cut(place)? {
            Ok(prefix) => good = (place + 1, prefix),
            Err(conflict) => bad = (place, conflict),
        }
    }
    Some(Place { refused: returns[bad.0], prefix: good.1, conflict: bad.1 })
}

/// A history that was cut off.
struct Part {
    input: Input,
    /// By span of it: the span of the whole.
    spans: Vec<u32>,
}

impl Part {
    /// What happened up to an event.
    fn new(input: &Input, last: u32) -> Self {
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

    fn whole(&self, spans: Vec<u32>) -> Vec<u32> {
        spans.into_iter().map(|span| self.spans[span as usize]).collect()
    }
}

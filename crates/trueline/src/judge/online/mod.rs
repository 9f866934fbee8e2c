//! Judges a history while it is being recorded: a breadth-first tester that compares results when operations return.
//!
//! The method is just-in-time linearization (Lowe, *Testing for Linearizability*, section 5), breadth first, as in
//! [`linear`](super::linear): after each return, a set of configurations represents all linearizations of the events so
//! far in which an operation takes effect only when a return requires it. The history so far, with its open operations
//! pending, is linearizable if and only if the set is not empty. The other searches of this crate know the result of an
//! operation when it is called. Here the result is known only at the return, so no rule can use the result of an open
//! operation.
//!
//! # Configurations
//! A configuration consists of a state and, for each open operation, either the result with which
//! it took effect, or the results that it could have had *at no cost*. A result is at no cost if,
//! at some moment since the call, taking effect with this result would have left the state
//! unchanged. Choosing such a result later changes nothing else, so the choice can wait until the
//! return (an operation that only observes never takes effect in any other way). Operations with
//! unknown outcomes never return, so for each group of equal operations of this kind, a
//! configuration stores only how many of them took effect.
//!
//! At the return of *o* with result *r*, a configuration passes if *o* took effect with *r*, or could have had *r* at
//! no cost. Otherwise, and also if *o* may have changed the state when it took effect with *r*, the other open
//! operations may take effect before *o*, in every order that ends with *o*, and only in steps that change the state (Lowe's Lemma 5.1: operations that
//! take effect after *o* can wait for the next return). If an operation is reported later as failed (a late `fail`),
//! the configurations in which it took effect are dropped.
//!
//! # Blind writes
//! A blind write (see [`Spec::overwrites`]) leads to the same state from every state. The moment just before a blind
//! write takes effect is called a *gap*. In a gap,
//!
//! - every other open blind write may have taken effect without being seen, so its result is at no
//!   cost;
//! - an open blind write *w* may have taken effect, and operations that leave the state unchanged
//!   may have seen the state after *w*. The moment between *w* and the next blind write is called a
//!   *flash*. If *o* returns with a result that it can have only in the state after *w*, the
//!   configuration passes, but *w* then counts as having taken effect. The last gap of a path is
//!   the best one, because all operations that were open at an earlier gap and are still open were
//!   open at the last gap, too. So a configuration stores the time of its last gap, and a flash is
//!   possible if *o* and *w* were called before that time. All other results that can be seen in
//!   this flash are then at no cost. If *w* returns and passes because it may have taken effect
//!   unseen, the results that can be seen in its flash are at no cost, too.
//!
//! So a blind write that is followed by another one needs no configuration of its own. Without this rule, *k* unknown
//! outcomes of writes and one open read would need *2^k* configurations. A flash does not cover operations that change
//! the state after *w*, so blind writes are also tried before such operations.
//!
//! # Dominance
//! A configuration is dropped if another one is at least as good: the other one has the same state,
//! its gap is not earlier, it uses no more unknown outcomes, and for every open operation, it allows
//! each result that the dropped configuration allows. For the last condition, an operation that
//! could have had *r* at no cost is at least as good as one that took effect with *r*. This also
//! holds if the operation fails later, or if its outcome becomes unknown.
//!
//! Operations with unknown outcomes can wait under three conditions: no other operation could take
//! effect before *o*, *o* can return *r* without them, and the state after *o* with *r* does not
//! depend on them ([`Spec::leads_to`]). If all operations that change the state commute, as those
//! of a counter do, all of them can wait, unless an open operation may see the state between them.
//!
//! # Memory
//! A part stores the open operations, the operations with unknown outcomes, and the configurations. States and results
//! are numbered. When their number has doubled, those that no configuration uses are dropped. If a part has more
//! configurations than the limit, or if the parts together take more memory than the limit, the older half of the
//! unknown outcomes of a part is forgotten. The remaining configurations are a subset of the correct ones: as long as
//! one remains, the events so far are linearizable; if none remains, the part is unknown, never rejected.
//!
//! # Complexity
//! O(1) steps of the specification for each event of a part in which operations do not overlap and whose unknown
//! outcomes are not seen. Otherwise O(c k) for c configurations and k open operations, where c is exponential in k in
//! the worst case.

mod door;
mod part;

use std::collections::HashMap;

use self::door::{Opened, Typed};
use self::part::{Fate, Part};
use super::search::hash;
use crate::spec::Spec;

/// Limits of an online judge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnlineLimits {
    /// The maximum number of configurations of a part after an event.
    pub(crate) configurations: usize,
    /// The approximate number of bytes that all parts may take.
    pub(crate) memory: usize,
}

/// The reason why a part is not decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Why {
    /// No configuration explains a result. One of the unknown outcomes that were forgotten to save
    /// memory might explain it.
    Forgotten,
    /// There were more configurations than the limit allows.
    TooMany,
    /// The memory limit was reached, and there were no more unknown outcomes to forget.
    Memory,
    /// An operation was recorded too late to be judged.
    Late,
}

/// An operation that was called and has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OnlineCall {
    pub(crate) part: u32,
    op: u32,
}

/// The effect of an event on the verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect<Ret> {
    /// The event does not change the verdict.
    Nothing,
    /// The part is not linearizable from this event on. For a return, `allowed` holds the results
    /// that the operation could have had; `are_all` is `false` if the list may be incomplete.
    Rejected { allowed: Vec<Ret>, are_all: bool },
    /// The part cannot be decided, for the given reason.
    Undecided(Why),
}

/// The way in which an object is divided into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Division {
    /// Each key is a part.
    Keys,
    /// The whole object is one part, with the given number, because the first operation on the
    /// object spans keys.
    Whole(u32),
}

/// Judges a history event by event. The history is divided into parts by object and key.
pub(crate) struct Online<'s, S: Spec + ?Sized> {
    spec: &'s S,
    limits: OnlineLimits,
    /// Whether all operations except observers commute, are possible in every state, and have only
    /// one possible result.
    commutes: bool,
    objects: HashMap<u32, Division, hash::Builder>,
    keys: HashMap<(u32, S::Key), u32, hash::Builder>,
    parts: Vec<Part>,
    doors: Vec<Typed<S>>,
    /// The size of each part in bytes at its last event; `total` is the sum of these sizes.
    bytes: Vec<usize>,
    total: usize,
}

impl<'s, S: Spec + ?Sized> Online<'s, S> {
    /// Creates a judge. `commutes` may be set only if all operations except observers commute, are
    /// possible in every state, and have only one possible result.
    pub(crate) fn new(spec: &'s S, limits: OnlineLimits, commutes: bool) -> Self {
        Self {
            spec,
            limits,
            commutes,
            objects: HashMap::default(),
            keys: HashMap::default(),
            parts: Vec::new(),
            doors: Vec::new(),
            bytes: Vec::new(),
            total: 0,
        }
    }

    /// Returns the part of an operation, and whether the part is new. Returns `None` if the
    /// operation spans keys, but earlier operations on the object were judged by key.
    pub(crate) fn part(&mut self, object: u32, op: &S::Op) -> Option<(u32, bool)> {
        let next = u32::try_from(self.parts.len()).expect("memory runs out before 2^32 parts");
        let key = self.spec.key(op, None);
        let part = match (self.objects.get(&object), key) {
            (Some(&Division::Whole(part)), _) => part,
            (Some(Division::Keys), None) => return None,
            (Some(Division::Keys), Some(key)) => *self.keys.entry((object, key)).or_insert(next),
            (None, None) => {
                self.objects.insert(object, Division::Whole(next));
                next
            }
            (None, Some(key)) => {
                self.objects.insert(object, Division::Keys);
                self.keys.insert((object, key), next);
                next
            }
        };
        if part == next {
            self.parts.push(Part::new(self.commutes));
            let is_whole = matches!(self.objects.get(&object), Some(Division::Whole(_)));
            self.doors.push(Typed::new(self.spec, is_whole));
            self.bytes.push(0);
        }
        Some((part, part == next))
    }

    /// Adds a call to a part. A part that is already decided ignores the call.
    pub(crate) fn call(&mut self, part: u32, op: S::Op) -> OnlineCall {
        let at = part as usize;
        if self.parts[at].fate() != Fate::Fine {
            return OnlineCall { part, op: u32::MAX };
        }
        let (op, kind) = self.doors[at].add(self.spec, op);
        let mut door = Opened { spec: self.spec, typed: &mut self.doors[at] };
        self.parts[at].call(&mut door, op, kind);
        self.weigh(at);
        OnlineCall { part, op }
    }

    /// Adds the return of an operation.
    pub(crate) fn ret(&mut self, OnlineCall { part, op }: OnlineCall, ret: S::Ret) -> Effect<S::Ret> {
        let at = part as usize;
        if self.parts[at].fate() != Fate::Fine {
            return Effect::Nothing;
        }
        let ret = self.doors[at].ret(ret);
        let mut door = Opened { spec: self.spec, typed: &mut self.doors[at] };
        let refused = self.parts[at].ret(&mut door, op, ret, self.limits.configurations);
        self.effect(at, refused)
    }

    /// Adds the end of an operation that did not take effect.
    pub(crate) fn fail(&mut self, OnlineCall { part, op }: OnlineCall) -> Effect<S::Ret> {
        let at = part as usize;
        if self.parts[at].fate() != Fate::Fine {
            return Effect::Nothing;
        }
        let mut door = Opened { spec: self.spec, typed: &mut self.doors[at] };
        let refused = self.parts[at].fail(&mut door, op);
        self.effect(at, refused)
    }

    /// Adds the end of an operation whose outcome is unknown.
    pub(crate) fn info(&mut self, OnlineCall { part, op }: OnlineCall) {
        let at = part as usize;
        if self.parts[at].fate() == Fate::Fine {
            let mut door = Opened { spec: self.spec, typed: &mut self.doors[at] };
            self.parts[at].info(&mut door, op);
            self.weigh(at);
        }
    }

    /// Gives up on a part that is not decided yet. Returns whether the part was undecided before
    /// this call.
    pub(crate) fn give_up(&mut self, part: u32, why: Why) -> bool {
        let at = part as usize;
        let was_fine = self.parts[at].fate() == Fate::Fine;
        if was_fine {
            self.parts[at].give_up(why);
            self.end(at);
        }
        was_fine
    }

    /// Returns the approximate number of bytes that all parts take.
    pub(crate) fn bytes(&self) -> usize {
        self.total
    }

    /// Frees memory until the parts take less memory than the limit. Returns the parts that forgot
    /// unknown outcomes, and the parts on which the judge gave up.
    pub(crate) fn save_memory(&mut self) -> (Vec<u32>, Vec<u32>) {
        let (mut forgot, mut given_up) = (Vec::new(), Vec::new());
        if self.total <= self.limits.memory {
            return (forgot, given_up);
        }
        // Free more memory than necessary, so that the limit is not reached again soon.
        let wanted = self.limits.memory / 4 * 3;
        let mut largest: Vec<usize> = (0..self.parts.len()).collect();
        largest.sort_unstable_by_key(|at| std::cmp::Reverse(self.bytes[*at]));
        for at in largest {
            let number = u32::try_from(at).expect("parts are numbered with 32 bits");
            let is_first = self.parts[at].unknown() > 0;
            while self.total > wanted && self.parts[at].unknown() > 0 {
                let mut door = Opened { spec: self.spec, typed: &mut self.doors[at] };
                self.parts[at].forget_oldest(&mut door);
                self.weigh(at);
            }
            if is_first {
                forgot.push(number);
            }
            if self.total > wanted && self.give_up(number, Why::Memory) {
                given_up.push(number);
            }
            if self.total <= wanted {
                break;
            }
        }
        (forgot, given_up)
    }

    fn effect(&mut self, at: usize, refused: Option<(Vec<u32>, bool)>) -> Effect<S::Ret> {
        let effect = match (self.parts[at].fate(), refused) {
            (Fate::Unknown(why), _) => Effect::Undecided(why),
            (_, Some((allowed, are_all))) => {
                let allowed = allowed.into_iter().map(|ret| self.doors[at].ret_of(ret).clone()).collect();
                Effect::Rejected { allowed, are_all }
            }
            (Fate::Fine | Fate::Rejected, None) => {
                self.weigh(at);
                return Effect::Nothing;
            }
        };
        self.end(at);
        effect
    }

    /// Frees the memory of a part that is decided.
    fn end(&mut self, at: usize) {
        self.doors[at] = Typed::new(self.spec, self.doors[at].is_whole());
        self.weigh(at);
    }

    /// Updates the record of how much memory a part takes.
    fn weigh(&mut self, at: usize) {
        let door = Opened { spec: self.spec, typed: &mut self.doors[at] };
        let bytes = self.parts[at].bytes() + door::Door::bytes(&door) + size_of::<Typed<S>>();
        self.total = self.total - self.bytes[at] + bytes;
        self.bytes[at] = bytes;
    }
}

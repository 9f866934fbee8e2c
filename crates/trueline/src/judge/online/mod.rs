//! Judges a history while it is being recorded: a breadth-first tester that compares results when operations return.
//!
//! The method is just-in-time linearization (Lowe, *Testing for Linearizability*, section 5), breadth first, as in
//! [`linear`](super::linear): after each return, a set of configurations represents all linearizations of the events so
//! far in which no operation takes effect earlier than some return needs it. The history so far, with its open
//! operations pending, is linearizable if and only if the set is not empty. The other searches of this crate know the
//! result of an operation when it is called. Here it is known only at the return, so every rule must do without the
//! future.
//!
//! # Configurations
//! A configuration is a state, and for each open operation either the result with which it took effect, or the results
//! that it could have had *at no cost*: at some moment of the path since its call, it would have left the state
//! unchanged. Choosing such a result later changes nothing else, so the choice can wait until the return (an operation
//! that only observes never takes effect in any other way). Operations with unknown outcomes never return, so only the
//! number of those that took effect matters, among equal ones.
//!
//! At the return of *o* with result *r*, a configuration passes if *o* took effect with *r*, or could have had *r* at no
//! cost. Otherwise, and also if *r* may have changed the state, the other open operations may take effect before *o*, in
//! every order that ends with *o*, and only in steps that change the state (Lowe's Lemma 5.1: what takes effect after *o*
//! can wait for the next return). An operation that then fails (a late `fail`) takes back what it did: the
//! configurations in which it took effect are dropped.
//!
//! # Blind writes
//! A blind write (see [`Spec::overwrites`]) leads to the same state from everywhere. When one takes effect, at the *gap*
//! just before it,
//!
//! - every other open blind write may have taken effect, unseen: its result is one at no cost;
//! - an open blind write *w* may have taken effect and have been seen by operations that left its state unchanged: a
//!   *flash*. At the return of *o* with a result that it has only in the state after *w*, the configuration passes at the
//!   price that *w* has taken effect. The last gap of a path is the best one, because all operations that were open at
//!   an earlier gap and are still open were open there, too. So a configuration has the time of its last gap, and a
//!   flash is possible if *o* and *w* were called before it. What else can be seen in this flash is then at no cost.
//!   When *w* returns and passes because it may have taken effect unseen, its flash is at no cost, too.
//!
//! So a blind write that is followed by another one needs no configuration of its own. Without this rule, *k* unknown
//! outcomes of writes and one open read would need *2^k* configurations. Operations that change the state after *w* are
//! not covered by a flash: blind writes are tried before these.
//!
//! # Dominance
//! A configuration is dropped if another one has the same state, a gap that is not earlier, uses no more unknown
//! outcomes, and can give every open operation each result that the former can: an operation that took effect with *r*
//! is dominated by one that could have had *r* at no cost. This also holds if the operation fails later, or if its
//! outcome becomes unknown.
//!
//! If all other operations that took effect before *o* would have unknown outcomes, and the state after *o* with *r* is
//! the same whatever they do ([`Spec::leads_to`]), they can wait. If all operations that change the state commute, as those
//! of a counter do, all of them can wait, unless an open operation may see the state between them.
//!
//! # Memory
//! A part has the operations that are open, those with unknown outcomes, and the configurations. States and results are
//! numbered, and those that no configuration has are collected when their number has doubled. If a part has more
//! configurations than the limit, or if the parts together take more memory than the limit, the older half of the unknown
//! outcomes of a part is forgotten: the remaining configurations are some of the right ones, so as long as there are any,
//! the events so far are linearizable; if there are none, the part is unknown, never rejected.
//!
//! # Complexity
//! O(1) steps of the specification for each event of a part in which operations do not overlap and whose unknown
//! outcomes are not seen. Otherwise O(c k) for c configurations and k open operations, where c is exponential in k in the
//! worst case.

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
    /// A result has no explanation, but some unknown outcomes were forgotten to save memory.
    Forgotten,
    /// There were more configurations than the limit allows.
    TooMany,
    /// The memory limit was reached, and there were no more unknown outcomes to forget.
    Memory,
    /// An operation was recorded too late.
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
    /// The part is not linearizable from this event on. For a return, `allowed` has the results that it could have
    /// had; `are_all` is false if there may be others.
    Rejected { allowed: Vec<Ret>, are_all: bool },
    /// The part cannot be decided.
    Undecided(Why),
}

/// How an object is divided into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Division {
    /// By key.
    Keys,
    /// Not at all: its first operation spans keys.
    Whole(u32),
}

/// Judges the parts of a history, by object and key, event by event.
pub(crate) struct Online<'s, S: Spec + ?Sized> {
    spec: &'s S,
    limits: OnlineLimits,
    /// Whether all operations that do not observe commute.
    commutes: bool,
    objects: HashMap<u32, Division, hash::Builder>,
    keys: HashMap<(u32, S::Key), u32, hash::Builder>,
    parts: Vec<Part>,
    doors: Vec<Typed<S>>,
    /// The bytes of each part at its last event, and their sum.
    bytes: Vec<usize>,
    total: usize,
}

impl<'s, S: Spec + ?Sized> Online<'s, S> {
    /// Creates a judge. `commutes` promises that all operations that do not observe are possible in every state, have one
    /// result, and commute.
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

    /// Returns the part of an operation, and whether it is new; `None` if the operation spans keys, but earlier
    /// operations of the object were judged by key.
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

    /// Adds a call to a part. A part that is already decided ignores it.
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

    /// Gives up on a part, unless it is decided. Returns whether it was not.
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

    /// Frees memory until the parts take less than the limit. Returns the parts whose unknown outcomes were forgotten,
    /// and those that were given up.
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

    /// Updates the memory that a part takes.
    fn weigh(&mut self, at: usize) {
        let door = Opened { spec: self.spec, typed: &mut self.doors[at] };
        let bytes = self.parts[at].bytes() + door::Door::bytes(&door) + size_of::<Typed<S>>();
        self.total = self.total - self.bytes[at] + bytes;
        self.bytes[at] = bytes;
    }
}

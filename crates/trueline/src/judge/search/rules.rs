//! The rules that prune a search. For each rule, an argument shows that it is sound.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// The rules that a search uses. Each can be switched on and off, to measure its effect.
///
/// In the arguments below, a *completion* is any continuation of a configuration to one that passes
/// some later return. A rule is sound if this holds: whenever a completion existed before pruning,
/// a completion exists after pruning. Because this holds for completions up to *any* later return,
/// the rules change neither the first failing return of a rejected history nor the results that
/// were allowed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each rule can be switched on and off")]
pub struct Rules {
    /// *Just in time*: operations are linearized only at a return whose operation is not linearized
    /// yet, and the returning operation is tried first.
    ///
    /// This is sound by Lowe's lemma 6: the linearization point of an operation can be moved to a
    /// later place, across calls and returns of other operations, until it comes directly before
    /// another linearization point or before the operation's own return.
    pub just_in_time: bool,
    /// *Eager observers*: an *observer* is an operation that does not change any state in which its
    /// recorded result is possible. An open observer is linearized as soon as its result is
    /// possible, and no alternative is tried.
    ///
    /// This is sound: take a completion, remove the observer from wherever it is (it changes no
    /// state there), and insert it at the current configuration (it is open, and its result is
    /// possible). This is *not* sound for an operation that merely happens not to change the
    /// current state: a write of the current value may be needed after another write. An operation
    /// with an unknown result counts as an observer only if it is an observer with every result;
    /// such an operation is never needed, and is dropped.
    pub eager_observers: bool,
    /// *Identical operations*: among open operations that are equal and have equal results, only
    /// the one that returns first is tried.
    ///
    /// This is sound: let a and b be identical, and let a return before b. Suppose that a
    /// completion continues with b. If it contains a later than b, swap the two; if it does not
    /// contain a, replace b by a. Then a moves earlier, where it is open; if b moves later, it
    /// stays before a's return, which is before b's own return. Operations count as equal only if
    /// they are equal to the specification: if an operation depends on its caller, the caller is
    /// part of the operation.
    pub identical: bool,
    /// *Dominance*, in breadth-first order: of two configurations with the same level, state and linearized ordinary
    /// operations, one is dropped if the other has satisfied at least the same observers and used at most the same
    /// never-returning operations.
    ///
    /// This is sound: every completion of the dropped configuration is also a completion of the
    /// kept one, once the observers that the kept one has already linearized are removed from it.
    /// Every never-returning operation that is unused in the dropped configuration is unused in the
    /// kept one too, and need not be used.
    pub dominance: bool,
    /// *Counters*: equal never-returning operations are not distinguished; a configuration counts how many of them were
    /// used.
    ///
    /// This is sound by the argument for identical operations: all of them stay open forever, so
    /// the operation that was called first can take the place of any of them.
    pub counters: bool,
    /// *Absorption*: when a blind write is linearized, every other open blind write becomes
    /// *settled*: it may have taken effect just before the linearized write, unobserved. A settled
    /// write can still be linearized later, but need not be.
    ///
    /// A configuration thus represents all configurations in which any of the settled operations
    /// are linearized. This is sound, because a blind write
    /// ([`Spec::overwrites`](crate::spec::Spec::overwrites)) can be inserted just before another
    /// blind write: the inserted write is possible there, and changes neither the result of the
    /// other write nor the state after the other write. Under dominance, a configuration is better
    /// if it has fewer blind writes linearized and more of them settled, because it then represents
    /// at least all configurations that the other one represents. The rule for identical operations
    /// stays sound: let a and b be identical blind writes, let a be settled by an earlier write,
    /// and let b be linearized next. Then a can be linearized in the place of b, and a settles b.
    pub absorption: bool,
    /// *Foresight*, in depth-first order: a configuration is dropped if an operation that must return later can have
    /// its recorded result neither after the current state nor after a remaining blind write.
    ///
    /// This is sound for all levels after the return of that operation: by the contract of
    /// [`Spec::reaches`](crate::spec::Spec::reaches), no completion passes that return;
    /// `judge/search/foresight.rs` has the full argument. But a dropped configuration may have been
    /// able to pass earlier returns. So if no linearization is found, the search is repeated with
    /// less foresight, until the dropped configurations can affect neither the first failing return
    /// nor the results that were allowed there.
    pub foresight: bool,
}

impl Rules {
    /// No rules: the search is not pruned.
    pub const NONE: Self = Self {
        just_in_time: false,
        eager_observers: false,
        identical: false,
        dominance: false,
        counters: false,
        absorption: false,
        foresight: false,
    };
    /// All rules.
    pub const ALL: Self = Self {
        just_in_time: true,
        eager_observers: true,
        identical: true,
        dominance: true,
        counters: true,
        absorption: true,
        foresight: true,
    };
    /// The rules that Lowe's just-in-time algorithms use.
    pub const JUST_IN_TIME: Self = Self { just_in_time: true, ..Self::NONE };

    fn named(&self) -> [(&'static str, bool); 7] {
        [
            ("just-in-time", self.just_in_time),
            ("observers", self.eager_observers),
            ("identical", self.identical),
            ("dominance", self.dominance),
            ("counters", self.counters),
            ("absorption", self.absorption),
            ("foresight", self.foresight),
        ]
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (name, _) in self.named().into_iter().filter(|(_, on)| *on) {
            if !first {
                f.write_str(",")?;
            }
            first = false;
            f.write_str(name)?;
        }
        if first { f.write_str("none") } else { Ok(()) }
    }
}

/// The error for a name that is not the name of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRule(String);

impl fmt::Display for UnknownRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown rule {:?}; expected `all`, `none`, or one or more of {}", self.0, Rules::ALL)
    }
}

impl Error for UnknownRule {}

impl FromStr for Rules {
    type Err = UnknownRule;

    fn from_str(names: &str) -> Result<Self, UnknownRule> {
        match names {
            "none" => return Ok(Self::NONE),
            "all" => return Ok(Self::ALL),
            _ => {}
        }
        let mut rules = Self::NONE;
        for name in names.split(',') {
            let rule = match name.trim() {
                "just-in-time" => &mut rules.just_in_time,
                "observers" => &mut rules.eager_observers,
                "identical" => &mut rules.identical,
                "dominance" => &mut rules.dominance,
                "counters" => &mut rules.counters,
                "absorption" => &mut rules.absorption,
                "foresight" => &mut rules.foresight,
                other => return Err(UnknownRule(other.to_owned())),
            };
            *rule = true;
        }
        Ok(rules)
    }
}

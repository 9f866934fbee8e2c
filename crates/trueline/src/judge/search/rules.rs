//! The rules that prune a search, each with the argument why it is sound.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// The rules that a search uses. Each can be switched on and off, to measure its effect.
///
/// In the arguments below, a *completion* is any continuation of a configuration to one that passes some later return.
/// A rule is sound if a completion exists after pruning whenever one existed before. Because this holds for completions
/// up to *any* later return, the rules also change neither where a rejected history fails nor what would have been
/// allowed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each rule can be switched on and off")]
pub struct Rules {
    /// *Just in time*: linearize only at a return whose operation is not linearized yet, and try the returning
    /// operation first.
    ///
    /// Sound by Lowe's lemma 6: the linearization point of an operation can be moved later, past calls and past returns
    /// of other operations, until another linearization point or its own return follows.
    pub just_in_time: bool,
    /// *Eager observers*: an open operation that does not change any state in which its recorded result is possible is
    /// linearized as soon as it is possible, and no alternative is tried.
    ///
    /// Sound: take a completion, remove the observer from wherever it is (it changes no state there) and insert it here
    /// (it is open, and possible). This is *not* sound for an operation that merely happens not to change the current
    /// state: a write of the current value may be needed after another write. An operation with an unknown result
    /// counts only if it observes whatever its result is; such an operation is never needed at all, and is dropped.
    pub eager_observers: bool,
    /// *Identical operations*: among open operations that are equal in operation and result, only the one that returns
    /// first is tried.
    ///
    /// Sound: suppose that a completion has b first, and has a, which returns earlier, later or not at all. Swap them.
    /// Then a moves earlier, and is open here; b moves to a point before a's return, which is before b's own.
    /// Operations count as equal only if they are equal to the specification: if an operation depends on its caller,
    /// the caller is part of the operation.
    pub identical: bool,
    /// *Dominance*, in breadth-first order: of two configurations with the same level, state and linearized ordinary
    /// operations, one is dropped if the other has satisfied at least the same observers and used at most the same
    /// never-returning operations.
    ///
    /// Sound: the kept configuration can follow the completion of the dropped one, leaving out observers that it has
    /// already linearized. Every never-returning operation that is unused in the dropped configuration is unused in the
    /// kept one too, and need not be used.
    pub dominance: bool,
    /// *Counters*: equal never-returning operations are not distinguished; a configuration counts how many of them were
    /// used.
    ///
    /// Sound by the argument for identical operations: all of them stay open forever, so the first one called can stand
    /// for any of them.
    pub counters: bool,
    /// *Absorption*: when a blind write is linearized, every other open blind write is settled: it may have taken
    /// effect just before, unobserved. It can still be linearized later, but need not be.
    ///
    /// A configuration thus stands for all configurations in which any of the settled operations are linearized. Sound:
    /// another blind write that is inserted just before a blind write
    /// ([`Spec::overwrites`](crate::spec::Spec::overwrites)) changes neither its result nor the state after it, and is
    /// possible there. Under dominance, a configuration is better if it has fewer blind writes linearized and more of
    /// them settled: it stands for at least all that the other one stands for. The rule for identical operations stays
    /// sound: if b, used first, is swapped with a, which was settled by an earlier write, then b is settled by a.
    pub absorption: bool,
    /// *Foresight*, in depth-first order: a configuration is dropped if an operation that must return later can have
    /// its recorded result neither after the current state nor after a remaining blind write.
    ///
    /// Sound for everything after that return: no completion passes it, by the contract of
    /// [`Spec::reaches`](crate::spec::Spec::reaches); `judge/search/foresight.rs` has the full argument. Returns before
    /// it could still be passed. So if there is no linearization, the search is repeated with less foresight, until the
    /// dropped configurations do not matter for where the history fails and what would have been allowed there.
    pub foresight: bool,
}

impl Rules {
    /// No rules: the unpruned search space.
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
        write!(f, "no rule is called {:?}; give some of {}, or none, or all", self.0, Rules::ALL)
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

//! The rules that cut a search, each with the argument why it cuts nothing that matters.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// Which rules a search uses. Each can be switched to measure what it gains.
///
/// "Completion" below is any way to go on from a configuration to one that passes some later return; a rule is sound
/// if a completion exists after the cut whenever one existed before. Since that holds for completions up to *any*
/// later return, the rules also leave alone where a rejected history fails and what would have been allowed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Rules {
    /// *Just in time*: linearize only at a return whose operation is not linearized yet, the returning operation
    /// first.
    ///
    /// Sound by Lowe's lemma 6: the linearization of an operation can be moved later, past calls and past returns of
    /// others, until another linearization or its own return follows.
    pub just_in_time: bool,
    /// *Eager observers*: an open operation that changes no state, in whatever state its recorded result is possible,
    /// is linearized as soon as it is possible, and nothing else is tried instead.
    ///
    /// Sound: take a completion, remove the observer from wherever it is (no state changes there) and put it here
    /// (it is open, and possible). It is *not* sound for an operation that merely happens to leave this state: a
    /// write of the present value may be needed after another write. An operation with unknown result counts only if
    /// it observes whatever its result is; such an operation is never needed at all, and is dropped.
    pub eager_observers: bool,
    /// *Identical operations*: of open operations that are equal in operation and result, only the one that returns
    /// first is tried.
    ///
    /// Sound: if a completion has b first and a, which returns earlier, later or never, swap them. a moves earlier,
    /// and is open here; b moves to a point before a's return, which is before its own. Operations are equal only if
    /// they are to the specification: one that sees its caller has the caller in its operation.
    pub identical: bool,
    /// *Dominance*, in breadth-first order: of two configurations with the same level, state and linearized ordinary
    /// operations, one is dropped if the other has satisfied at least the same observers and used at most the same
    /// never-returning operations.
    ///
    /// Sound: the kept one can follow the dropped one's completion, leaving out observers that it has behind it; it
    /// has every never-returning operation left that the other has, and need not use them.
    pub dominance: bool,
    /// *Counters*: never-returning operations that are equal are told apart no longer; a configuration counts how
    /// many of them were used.
    ///
    /// Sound by the argument for identical operations: all of them stay open for ever, so the first called can stand
    /// for any.
    pub counters: bool,
    /// *Absorption*: when a blind write is linearized, every other blind write that is open is settled: it may have
    /// taken effect just before, and nobody can tell. It can still be linearized later, but need not be.
    ///
    /// A configuration thus stands for all those in which any of the settled operations are linearized. Sound: put
    /// just before a blind write ([`Spec::overwrites`](crate::spec::Spec::overwrites)), another blind write changes
    /// neither its result nor the state behind it, and it is possible there. Under dominance, having fewer blind
    /// writes linearized and more of them settled is better: what the other configuration stands for is a part of what
    /// this one does. Identical operations stay sound: if b, used first, is swapped with a that was settled by an
    /// earlier write, b is settled by a.
    pub absorption: bool,
    /// *Foresight*, in depth-first order: a configuration is dropped if an operation that is to return later can have
    /// its recorded result neither behind the present state nor behind a blind write that is left.
    ///
    /// Sound for what is behind that return: no completion passes it, by the promise of
    /// [`Spec::reaches`](crate::spec::Spec::reaches); `judge/search/foresight.rs` has the argument. What is before it
    /// could still be passed; so if there is no linearization, the search is repeated with less foresight, until what
    /// was dropped does not matter for where the history fails and what would have been allowed there.
    pub foresight: bool,
}

impl Rules {
    /// No rule: the search space as it is.
    pub const NONE: Self = Self {
        just_in_time: false,
        eager_observers: false,
        identical: false,
        dominance: false,
        counters: false,
        absorption: false,
        foresight: false,
    };
    /// Every rule.
    pub const ALL: Self = Self {
        just_in_time: true,
        eager_observers: true,
        identical: true,
        dominance: true,
        counters: true,
        absorption: true,
        foresight: true,
    };
    /// What Lowe's just-in-time algorithms use.
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

/// A name that no rule has.
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

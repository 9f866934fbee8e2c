//! Checks an argument independently of how it was found.
//!
//! Claims about real time are checked against the history, and claims about values against all legal orders of the
//! core's operations. This code does not depend on how arguments are found.

use super::executions::{Executions, Mask, bit, ops};
use super::prover::{Conclusion, Held, Rule, holds, is_vouched_for};
use crate::history::OpId;
use crate::verdict::{Before, End, Ground, Proof};

/// Returns whether a proof is correct: each of its claims must hold, and the claims together must exclude every order.
/// Operations are numbered as in the core.
///
/// A claim is verified by trying the executions. If there are too many executions, a sound rule
/// must derive the claim from the claims that are given as its reasons.
pub(super) fn is_right<Ret>(executions: &mut Executions<'_>, rules: &[Box<dyn Rule>], proof: &Proof<Ret>) -> bool {
    Checker { executions, rules, claims: Vec::new() }.is_right(proof)
}

struct Checker<'c, 'm> {
    executions: &'c mut Executions<'m>,
    rules: &'c [Box<dyn Rule>],
    /// The claims of the proof that were checked so far, all of which hold.
    claims: Vec<Before>,
}

impl Checker<'_, '_> {
    fn is_right<Ret>(&mut self, proof: &Proof<Ret>) -> bool {
        let length = self.claims.len();
        let is_right = self.steps_are_right(proof) && self.end_is_right(&proof.end);
        self.claims.truncate(length);
        is_right
    }

    /// Returns whether each given claim follows from the earlier claims of the proof, and the
    /// conclusion follows from the given claims.
    fn holds(&mut self, conclusion: Conclusion, given: &[Before]) -> bool {
        follow(self.executions.count, &self.claims, given)
            && match holds(self.executions, conclusion, given) {
                Some(held) => held == Held::Yes,
                None => is_vouched_for(self.rules, self.executions, conclusion, given),
            }
    }

    fn steps_are_right<Ret>(&mut self, proof: &Proof<Ret>) -> bool {
        for step in &proof.steps {
            let Before { first, second } = step.claim;
            let is_right = match &step.ground {
                Ground::RealTime => self.executions.real_time[second.index()] & bit(first.index()) != 0,
                Ground::Value { given, .. } => self.holds(Conclusion::Before(step.claim), given),
            };
            if !is_right {
                return false;
            }
            self.claims.push(step.claim);
        }
        true
    }

    fn end_is_right<Ret>(&mut self, end: &End<Ret>) -> bool {
        match end {
            End::Circle(circle) => {
                let mut next = circle.iter().cycle().skip(1);
                let is_closed = circle.iter().all(|first| {
                    let second = *next.next().expect("a cyclic iterator does not end");
                    self.claims.contains(&Before { first: *first, second })
                });
                is_closed && self.must_take_effect(circle[0]) && self.leaves_nothing()
            }
            End::Impossible { op, given, .. } => {
                self.holds(Conclusion::Impossible(*op), given) && self.must_take_effect(*op) && self.leaves_nothing()
            }
            End::Cases { assumed, yes, no } => {
                let Before { first, second } = *assumed;
                // The two possible orders of the operations cover all cases only if both operations
                // took effect.
                let mut is_right = self.must_take_effect(first) && self.must_take_effect(second);
                for (assumed, proof) in [(*assumed, yes), (Before { first: second, second: first }, no)] {
                    self.claims.push(assumed);
                    is_right = is_right && self.is_right(proof);
                    self.claims.pop();
                }
                is_right
            }
            // The checker cannot check this argument, because it does not know which values were
            // put in and taken out. `Container::is_never_empty` checks it.
            End::NeverEmpty { .. } => false,
            // The list was made by trying all places, so there is nothing further to check.
            End::NoPlace(_) => true,
        }
    }

    /// Returns whether the operation completed, or comes before a completed operation according to the claims.
    fn must_take_effect(&self, op: OpId) -> bool {
        let before = closure(self.executions.count, &self.claims);
        let completed = self.executions.completed;
        completed & bit(op.index()) != 0 || ops(completed).any(|other| before[other] & bit(op.index()) != 0)
    }

    /// Returns `true` if no execution satisfies the claims. Also returns `true` if there are too
    /// many executions to decide this.
    fn leaves_nothing(&mut self) -> bool {
        let mut query = self.executions.any();
        for claim in &self.claims {
            query.with(claim.first.index(), claim.second.index());
        }
        self.executions.exists(&query) != Some(true)
    }
}

/// Returns whether the given claims follow from `claims` by transitivity.
fn follow(count: usize, claims: &[Before], given: &[Before]) -> bool {
    let before = closure(count, claims);
    given.iter().all(|claim| before[claim.second.index()] & bit(claim.first.index()) != 0)
}

fn closure(count: usize, claims: &[Before]) -> Vec<Mask> {
    let mut before = vec![0; count];
    loop {
        let earlier = before.clone();
        for claim in claims {
            before[claim.second.index()] |= bit(claim.first.index()) | before[claim.first.index()];
        }
        if before == earlier {
            return before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;
    use crate::judge::CancelToken;
    use crate::judge::erased::{Case, Typed};
    use crate::spec::{Register, RegisterOp, RegisterRet};
    use crate::verdict::{Reason, Step};

    /// Returns a history of write(1), then write(2), then a read of 1.
    fn history() -> History<RegisterOp<u8>, RegisterRet<u8>> {
        let mut builder = History::builder();
        for (process, op, ret) in [
            (0, RegisterOp::Write(1), RegisterRet::Done),
            (0, RegisterOp::Write(2), RegisterRet::Done),
            (1, RegisterOp::Read, RegisterRet::Value(1)),
        ] {
            builder.call(process, op).expect("free");
            builder.ret(process, ret).expect("open");
        }
        builder.finish()
    }

    fn before(first: u32, second: u32) -> Before {
        Before { first: OpId(first), second: OpId(second) }
    }

    fn proof() -> Proof<RegisterRet<u8>> {
        let reason = Reason::Undone { needs: Vec::new(), earlier: vec![OpId(0)], later: Vec::new() };
        let steps = vec![
            Step { claim: before(0, 1), ground: Ground::RealTime },
            Step { claim: before(1, 2), ground: Ground::RealTime },
            Step { claim: before(2, 1), ground: Ground::Value { reason, given: vec![before(0, 1)] } },
        ];
        Proof { steps, end: End::Circle(vec![OpId(1), OpId(2)]) }
    }

    fn is_right(proof: &Proof<RegisterRet<u8>>) -> bool {
        let (spec, history) = (Register::new(0), history());
        let case = Typed::new(&spec, std::borrow::Cow::Owned(history));
        let token = CancelToken::new();
        super::is_right(&mut Executions::new(&mut *case.machine(), case.frame(), &[], &token), &[], proof)
    }

    #[test]
    fn what_is_right_is_right() {
        assert!(is_right(&proof()));
    }

    #[test]
    fn what_is_wrong_is_found() {
        let spoil = |spoil: fn(&mut Proof<RegisterRet<u8>>)| {
            let mut proof = proof();
            spoil(&mut proof);
            proof
        };
        // Reject a false claim about real time, and a false claim about values.
        assert!(!is_right(&spoil(|proof| proof.steps[0].claim = before(1, 0))));
        assert!(!is_right(&spoil(|proof| proof.steps[2].claim = before(2, 0))));
        // Reject a claim that rests on a removed claim, and a claim that does not list the claims that it rests on.
        assert!(!is_right(&spoil(|proof| drop(proof.steps.remove(0)))));
        assert!(!is_right(&spoil(|proof| {
            if let Ground::Value { given, .. } = &mut proof.steps[2].ground {
                given.clear();
            }
        })));
        // The checker rejects a circle that the claims do not close, and the right circle if one of its claims is missing.
        assert!(!is_right(&spoil(|proof| proof.end = End::Circle(vec![OpId(0), OpId(1)]))));
        assert!(!is_right(&spoil(|proof| drop(proof.steps.remove(1)))));
        // Reject a proof that ends with the claim that an operation is impossible, although the operation is possible.
        let possible = |op| End::Impossible { op: OpId(op), reason: Reason::Source, given: vec![before(0, 1)] };
        assert!(!is_right(&Proof { end: possible(2), ..proof() }));
        // Reject a proof by cases in which only one case is correct.
        let cases = |proof: Proof<RegisterRet<u8>>| {
            let (yes, no) = (Box::new(Proof { steps: Vec::new(), end: possible(1) }), Box::new(proof.clone()));
            Proof { steps: Vec::new(), end: End::Cases { assumed: before(0, 2), yes, no } }
        };
        assert!(!is_right(&cases(proof())));
    }
}

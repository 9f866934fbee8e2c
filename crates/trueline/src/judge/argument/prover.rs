//! Derives claims about the order of a core's operations, until the claims exclude every order.
//! Each claim has a ground: the reason why it holds.
//!
//! Rules propose claims, the [`Executions`] confirm or refute each claim, and confirmed claims lead
//! to further proposals, as in the saturation of the monitors for containers. When nothing more
//! follows, the prover picks a pair of operations and distinguishes two cases: it assumes first one
//! order of the pair, and then the other. The finished argument contains only the claims that are
//! needed.
//!
//! # Complexity
//! A few rounds, each with one query to the executions for each proposal. If the prover tries both
//! orders of pairs, this cost is multiplied by the square of the number of operations.

use hashbrown::HashMap;

use super::check;
use super::executions::{Executions, Mask, bit, ops};
use crate::history::OpId;
use crate::judge::search::hash;
use crate::verdict::{Before, End, Ground, Proof, Reason, Step};

/// A claim that a rule proposes.
#[derive(Clone, Debug)]
pub(super) struct Proposal {
    pub(super) conclusion: Conclusion,
    pub(super) reason: Reason,
    pub(super) given: Vec<Before>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Conclusion {
    Before(Before),
    Impossible(OpId),
}

impl Proposal {
    /// Proposes that one operation comes before another.
    pub(super) fn before(first: usize, second: usize, reason: Reason, given: &[(usize, usize)]) -> Self {
        let conclusion = Conclusion::Before(before((first, second)));
        Self { conclusion, reason, given: given.iter().copied().map(before).collect() }
    }

    /// Proposes that an operation cannot have taken effect.
    pub(super) fn impossible(op: usize, reason: Reason, given: &[(usize, usize)]) -> Self {
        let conclusion = Conclusion::Impossible(id(op));
        Self { conclusion, reason, given: given.iter().copied().map(before).collect() }
    }
}

pub(super) fn id(op: usize) -> OpId {
    OpId(u32::try_from(op).expect("the number of operations in a core fits in 32 bits"))
}

pub(super) fn ids(ops: impl IntoIterator<Item = usize>) -> Vec<OpId> {
    ops.into_iter().map(id).collect()
}

fn before((first, second): (usize, usize)) -> Before {
    Before { first: id(first), second: id(second) }
}

/// A rule, which proposes claims that follow from the known claims.
pub(super) trait Rule {
    fn propose(&self, known: &Known, proposals: &mut Vec<Proposal>);

    /// Returns whether the rule is sound, which means that every proposal follows from the claims
    /// that are given as its reasons. The comments in the file of the rule explain why. A proposal
    /// of a sound rule is accepted even if there are too many executions to confirm it.
    fn is_sound(&self) -> bool {
        false
    }
}

/// Returns whether a sound rule derives this conclusion from the given claims alone.
pub(super) fn is_vouched_for(
    rules: &[Box<dyn Rule>],
    executions: &Executions<'_>,
    conclusion: Conclusion,
    given: &[Before],
) -> bool {
    let known = Known::of(executions, given);
    rules.iter().filter(|rule| rule.is_sound()).any(|rule| {
        let mut proposals = Vec::new();
        rule.propose(&known, &mut proposals);
        let is_it = |proposal: &Proposal| {
            proposal.conclusion == conclusion && proposal.given.iter().all(|claim| given.contains(claim))
        };
        proposals.iter().any(is_it)
    })
}

/// The known claims about the order.
#[derive(Clone, Debug)]
pub(super) struct Known {
    claims: Vec<Claim>,
    /// For each operation, the operations that come before it, according to one claim or several
    /// claims together.
    before: Vec<Mask>,
    /// The operations that must have taken effect.
    certain: Mask,
}

#[derive(Clone, Debug)]
struct Claim {
    first: usize,
    second: usize,
    /// The reason why the claim holds, or `None` if the claim is an assumption.
    ground: Option<Ground>,
}

impl Known {
    /// Returns the claims that hold by real time.
    pub(super) fn new(executions: &Executions<'_>) -> Self {
        let mut known =
            Self { claims: Vec::new(), before: executions.real_time.clone(), certain: executions.completed };
        for second in 0..executions.count {
            for first in ops(executions.real_time[second]) {
                known.claims.push(Claim { first, second, ground: Some(Ground::RealTime) });
            }
        }
        known
    }

    /// Returns what is known from these claims alone. Even the claims that hold by real time are
    /// left out.
    fn of(executions: &Executions<'_>, claims: &[Before]) -> Self {
        let nothing = Self { claims: Vec::new(), before: vec![0; executions.count], certain: executions.completed };
        claims.iter().fold(nothing, |mut known, claim| {
            known.add(claim.first.index(), claim.second.index(), None);
            // Only completed operations count as certain here. An operation that must have taken
            // effect because of a claim does not count.
            known.certain = executions.completed;
            known
        })
    }

    pub(super) fn count(&self) -> usize {
        self.before.len()
    }

    /// Returns whether `first` is known to come before `second`.
    pub(super) fn is_before(&self, first: usize, second: usize) -> bool {
        self.before[second] & bit(first) != 0
    }

    /// Returns the operations that are known to come before `op`.
    pub(super) fn before(&self, op: usize) -> Mask {
        self.before[op]
    }

    /// Returns the operations that are known to come after `op`.
    pub(super) fn behind(&self, op: usize) -> Mask {
        (0..self.count()).filter(|other| self.is_before(op, *other)).fold(0, |mask, other| mask | bit(other))
    }

    /// Returns whether the operation is known to have taken effect.
    pub(super) fn is_certain(&self, op: usize) -> bool {
        self.certain & bit(op) != 0
    }

    fn add(&mut self, first: usize, second: usize, ground: Option<Ground>) {
        self.claims.push(Claim { first, second, ground });
        let new = self.before[first] | bit(first);
        for op in 0..self.count() {
            if op == second || self.is_before(second, op) {
                self.before[op] |= new;
            }
        }
        for op in ops(self.certain) {
            self.certain |= self.before[op];
        }
    }

    /// Returns the shortest chain of claims that leads from `first` to `second`, and so implies that
    /// `first` comes before `second`. Uses only the first `limit` claims.
    fn path(&self, first: usize, second: usize, limit: usize) -> Vec<usize> {
        // Search backward from the second operation, breadth first; a direct claim is found first.
        let mut via: Vec<Option<usize>> = vec![None; self.count()];
        let mut queue = vec![second];
        let mut at = 0;
        while at < queue.len() {
            let op = queue[at];
            at += 1;
            for (number, claim) in self.claims[..limit].iter().enumerate().filter(|(_, claim)| claim.second == op) {
                if via[claim.first].is_some() || (claim.first == second && first != second) {
                    continue;
                }
                via[claim.first] = Some(number);
                if claim.first == first {
                    let mut path = Vec::new();
                    let mut op = first;
                    loop {
                        let number = via[op].expect("each operation on the path has a link back");
                        path.push(number);
                        op = self.claims[number].second;
                        if op == second {
                            return path;
                        }
                    }
                }
                queue.push(claim.first);
            }
        }
        unreachable!("the first operation is known to come before the second")
    }

    /// Adds these claims and the claims that they rest on to `told`, in an order in which each
    /// claim follows from earlier ones.
    fn tell(&self, claims: &[usize], told: &mut Vec<usize>) {
        for &number in claims {
            if told.contains(&number) {
                continue;
            }
            if let Some(Ground::Value { given, .. }) = &self.claims[number].ground {
                for before in given {
                    self.tell(&self.path(before.first.index(), before.second.index(), number), told);
                }
            }
            told.push(number);
        }
    }

    fn steps(&self, told: &[usize]) -> Vec<Step> {
        let step = |number: &usize| {
            let Claim { first, second, ground } = &self.claims[*number];
            let claim = before((*first, *second));
            ground.as_ref().map(|ground| Step { claim, ground: ground.clone() })
        };
        told.iter().filter_map(step).collect()
    }

    /// If this proposal completes a proof, that is, leads to a contradiction, returns the proof.
    fn finish<Ret>(&self, proposal: &Proposal) -> Option<Proof<Ret>> {
        let limit = self.claims.len();
        let mut told = Vec::new();
        for before in &proposal.given {
            self.tell(&self.path(before.first.index(), before.second.index(), limit), &mut told);
        }
        match proposal.conclusion {
            Conclusion::Impossible(op) => {
                let end = End::Impossible { op, reason: proposal.reason.clone(), given: proposal.given.clone() };
                self.is_certain(op.index()).then(|| Proof { steps: self.steps(&told), end })
            }
            Conclusion::Before(Before { first, second }) => {
                let (first, second) = (first.index(), second.index());
                if first != second && !self.is_before(second, first) {
                    return None;
                }
                let back = if first == second { Vec::new() } else { self.path(second, first, limit) };
                let circle: Vec<usize> =
                    std::iter::once(first).chain(back.iter().map(|step| self.claims[*step].first)).collect();
                if !circle.iter().any(|op| self.is_certain(*op)) {
                    return None;
                }
                // The known claims come first. The proposed claim is the last one, and closes the circle.
                let mut all = Vec::new();
                self.tell(&back, &mut all);
                for number in told {
                    if !all.contains(&number) {
                        all.push(number);
                    }
                }
                let mut steps = self.steps(&all);
                let ground = Ground::Value { reason: proposal.reason.clone(), given: proposal.given.clone() };
                steps.push(Step { claim: before((first, second)), ground });
                Some(Proof { steps, end: End::Circle(ids(circle)) })
            }
        }
    }
}

/// A search for arguments.
pub(super) struct Prover<'e, 'm> {
    executions: &'e mut Executions<'m>,
    rules: Vec<Box<dyn Rule>>,
    /// The answers to the queries made so far.
    confirmed: HashMap<(Conclusion, Vec<Before>), bool, hash::Builder>,
    /// The number of times that the prover may still try both orders of a pair of operations.
    splits: u32,
}

/// The maximum number of times that the prover tries both orders of a pair of operations, for one core.
const MOST_SPLITS: u32 = 400;
/// The maximum number of operations of a core for which the prover tries both orders of pairs. For
/// a larger core, trying them would take a long time, and so would reading the result.
const MOST_SPLIT: usize = 16;
/// The maximum depth of nested cases.
const DEEPEST: u32 = 2;
/// The maximum [`length`] of an argument. Longer arguments are dropped.
const MOST_CLAIMS: usize = 24;

impl<'e, 'm> Prover<'e, 'm> {
    pub(super) fn new(executions: &'e mut Executions<'m>, rules: Vec<Box<dyn Rule>>) -> Self {
        Self { executions, rules, confirmed: HashMap::default(), splits: MOST_SPLITS }
    }

    /// Returns an argument for why no order is legal, if an argument is found and its check
    /// succeeds.
    pub(super) fn prove<Ret>(&mut self) -> Option<Proof<Ret>> {
        let known = Known::new(self.executions);
        (0..=DEEPEST)
            .find_map(|depth| self.search(known.clone(), depth))
            .filter(|proof| length(proof) <= MOST_CLAIMS && check::is_right(self.executions, &self.rules, proof))
    }

    fn search<Ret>(&mut self, mut known: Known, depth: u32) -> Option<Proof<Ret>> {
        if let Some(proof) = self.saturate(&mut known) {
            return Some(proof);
        }
        if depth == 0 || known.count() > MOST_SPLIT {
            return None;
        }
        let mut best: Option<Proof<Ret>> = None;
        for second in 0..known.count() {
            for first in 0..second {
                let is_open = !known.is_before(first, second) && !known.is_before(second, first);
                if !is_open || !known.is_certain(first) || !known.is_certain(second) || self.splits == 0 {
                    continue;
                }
                self.splits -= 1;
                let Some(yes) = self.assume(&known, first, second, depth) else { continue };
                let Some(no) = self.assume(&known, second, first, depth) else { continue };
                let assumed = before((first, second));
                let proof = cases(&known, assumed, yes, no);
                if best.as_ref().is_none_or(|best| length(&proof) < length(best)) {
                    best = Some(proof);
                }
            }
        }
        best
    }

    fn assume<Ret>(&mut self, known: &Known, first: usize, second: usize, depth: u32) -> Option<Proof<Ret>> {
        let mut known = known.clone();
        known.add(first, second, None);
        self.search(known, depth - 1)
    }

    /// Adds the claims that the rules derive, round by round. Stops at the first round that completes an argument, and
    /// returns the shortest argument of this round.
    fn saturate<Ret>(&mut self, known: &mut Known) -> Option<Proof<Ret>> {
        loop {
            let mut proposals = Vec::new();
            for rule in &self.rules {
                rule.propose(known, &mut proposals);
            }
            proposals.retain(|proposal| match proposal.conclusion {
                Conclusion::Before(Before { first, second }) => !known.is_before(first.index(), second.index()),
                Conclusion::Impossible(_) => true,
            });
            let mut best: Option<Proof<Ret>> = None;
            for proposal in &proposals {
                let Some(proof) = known.finish(proposal) else { continue };
                if best.as_ref().is_none_or(|best| length(&proof) < length(best)) && self.confirm(proposal) {
                    best = Some(proof);
                }
            }
            if best.is_some() {
                return best;
            }
            let mut has_news = false;
            for proposal in proposals {
                let Conclusion::Before(Before { first, second }) = proposal.conclusion else { continue };
                let (first, second) = (first.index(), second.index());
                let is_new = first != second && !known.is_before(first, second) && !known.is_before(second, first);
                if is_new && self.confirm(&proposal) {
                    let Proposal { reason, given, .. } = proposal;
                    known.add(first, second, Some(Ground::Value { reason, given }));
                    has_news = true;
                }
            }
            if !has_news {
                return None;
            }
        }
    }

    /// Returns whether the proposed claim holds in all executions in which its given claims hold. A
    /// claim about the order of two operations is not confirmed if no execution satisfies all given
    /// claims. If there are too many executions to decide, a sound rule must derive the claim.
    fn confirm(&mut self, proposal: &Proposal) -> bool {
        let mut given = proposal.given.clone();
        given.sort_unstable();
        let key = (proposal.conclusion, given);
        if let Some(confirmed) = self.confirmed.get(&key) {
            return *confirmed;
        }
        let held = holds(self.executions, proposal.conclusion, &proposal.given);
        let is_vouched = || is_vouched_for(&self.rules, self.executions, proposal.conclusion, &proposal.given);
        // If the executions show that the claim does not hold, verify that no rule that is marked
        // as sound derives the claim.
        debug_assert!(
            held != Some(Held::No) || !is_vouched(),
            "a rule is not sound: it proposed a claim that does not hold: {proposal:?}"
        );
        let confirmed = match held {
            Some(held) => held == Held::Yes,
            None => is_vouched(),
        };
        self.confirmed.insert(key, confirmed);
        confirmed
    }
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    Yes,
    No,
    /// The claim holds only because no execution satisfies all given claims.
    InVain,
}

/// Returns whether a claim holds in all executions in which the given claims hold, or `None` if there are too many
/// executions to decide it.
pub(super) fn holds(executions: &mut Executions<'_>, conclusion: Conclusion, given: &[Before]) -> Option<Held> {
    let mut query = executions.any();
    for before in given {
        query.with(before.first.index(), before.second.index());
    }
    match conclusion {
        Conclusion::Before(Before { first, second }) => {
            let mut reverse = query.clone();
            reverse.without(first.index(), second.index());
            if executions.exists(&reverse)? {
                return Some(Held::No);
            }
            Some(if executions.exists(&query)? { Held::Yes } else { Held::InVain })
        }
        Conclusion::Impossible(op) => {
            query.takes_effect(op.index());
            Some(if executions.exists(&query)? { Held::No } else { Held::Yes })
        }
    }
}

/// Combines the proofs of two cases. Known claims that both proofs use come first.
fn cases<Ret>(known: &Known, assumed: Before, yes: Proof<Ret>, no: Proof<Ret>) -> Proof<Ret> {
    // Returns whether the claim of a step was known before the assumption and is used in both
    // cases.
    let is_common = |step: &Step| {
        no.steps.contains(step)
            && known.claims.iter().any(|claim| {
                before((claim.first, claim.second)) == step.claim && claim.ground.as_ref() == Some(&step.ground)
            })
    };
    let common: Vec<Step> = yes.steps.iter().filter(|step| is_common(step)).cloned().collect();
    let rest = |proof: Proof<Ret>| {
        let steps = proof.steps.into_iter().filter(|step| !common.contains(step)).collect();
        Box::new(Proof { steps, end: proof.end })
    };
    let end = End::Cases { assumed, yes: rest(yes), no: rest(no) };
    Proof { steps: common, end }
}

fn length<Ret>(proof: &Proof<Ret>) -> usize {
    proof.steps.len()
        + match &proof.end {
            End::Cases { yes, no, .. } => 2 + length(yes) + length(no),
            _ => 1,
        }
}

//! Quasi linearizability: operations may be out of order, but only by a limited distance.
//!
//! This module uses the definition of Afek, Korland & Yanovsky, in the form that Zhang,
//! Chattopadhyay & Wang give in *Round-Up: Runtime Verification of Quasi Linearizability for
//! Concurrent Data Structures* (definition 4). A history is quasi linearizable if its operations
//! have two orders: a sequentialization `s'`, which keeps the order in time, and a legal order
//! `s''`, that is, a permutation of `s'` that the sequential object allows. In `s''`, no operation
//! of a *class* may be further from its place in `s'` than the *factor* of the class. Several
//! objects are judged one by one, which is sound.
//!
//! # Three semantics
//!
//! The paper contains three different semantics. A judgment reports which one was used
//! (`Stats::criterion`).
//!
//! **(A) [By class](Semantics::by_class)**: definition 4. Places are counted within each class. If classes are disjoint
//! and none of them contains all operations, then *the order in time between classes does not matter*: a value may be
//! taken out before it is put in, even if all factors are 0.
//!
//! **(B) [As a whole](Semantics::whole_domain)**: the paper's algorithm 1 decides this property.
//! All operations are one class. No operation is further from its place than the factor; it follows
//! that the same holds within any class. With factor 0, this is linearizability.
//!
//! **(C) [As a program](Semantics::of_program)**: according to the tables of the paper, the
//! Round-Up tool judged this way. The operations of one class change places among themselves, and
//! all other operations stay where they are. `s''` must be a serial history *of the same program*:
//! it is not enough that the specification allows it.
//!
//! ```
//! use trueline::history::History;
//! use trueline::judge::Budget;
//! use trueline::judge::quasi::{Factors, QuasiAlgorithm, Semantics, check};
//! use trueline::spec::{Queue, QueueOp, QueueRet};
//!
//! let factors = |dequeue| {
//!     Factors::new()
//!         .class("enqueue", 0, |op| matches!(op, QueueOp::Enqueue(_)))
//!         .class("dequeue", dequeue, |op| matches!(op, QueueOp::Dequeue))
//! };
//! let accepts = |history: &History<_, _>, semantics: Semantics<'_, _, _>| {
//!     check(&Queue::new(), history, &semantics, QuasiAlgorithm::Auto, &Budget::unlimited()).verdict.is_accepted()
//! };
//!
//! // 1 is dequeued before it is enqueued.
//! let mut builder = History::builder();
//! builder.call(0, QueueOp::Dequeue)?;
//! builder.ret(0, QueueRet::Value(Some(1)))?;
//! builder.call(0, QueueOp::Enqueue(1))?;
//! builder.ret(0, QueueRet::Done)?;
//! let early = builder.finish();
//! assert!(accepts(&early, Semantics::by_class(factors(0)))); // (A) looks at each class separately.
//! assert!(!accepts(&early, Semantics::whole_domain(0))); // (B) with factor 0 is linearizability.
//! assert!(accepts(&early, Semantics::whole_domain(1))); // With factor 1, the two operations may change places.
//! // (C) In the only serial history of this program, the dequeue comes first, and finds the queue empty.
//! let serial = |sequence: &[(&QueueOp<i32>, &QueueRet<i32>)]| {
//!     sequence
//!         == [(&QueueOp::Dequeue, &QueueRet::Value(None)), (&QueueOp::Enqueue(1), &QueueRet::Done)]
//! };
//! assert!(!accepts(&early, Semantics::of_program(factors(1), &serial)));
//!
//! // 1 and 2 are enqueued, and dequeued in reverse order.
//! let mut builder = History::builder();
//! for (op, ret) in [
//!     (QueueOp::Enqueue(1), QueueRet::Done),
//!     (QueueOp::Enqueue(2), QueueRet::Done),
//!     (QueueOp::Dequeue, QueueRet::Value(Some(2))),
//!     (QueueOp::Dequeue, QueueRet::Value(Some(1))),
//! ] {
//!     builder.call(0, op)?;
//!     builder.ret(0, ret)?;
//! }
//! let swapped = builder.finish();
//! assert!(!accepts(&swapped, Semantics::by_class(factors(0))));
//! assert!(accepts(&swapped, Semantics::by_class(factors(1))));
//! # Ok::<(), trueline::history::HistoryError>(())
//! ```
//!
//! All three semantics only reorder the operations of the history. So if the puts must stay in
//! order, a history of a queue that does not take out all values may be rejected even with a large
//! factor for the dequeues: if 1, 2 and 3 were put in, in this order, and only 3 was taken out, no
//! legal order takes 3 first. Round-Up requires programs that take out as many values as they put
//! in. The relaxed specifications ([`RelaxedQueue`](crate::spec::RelaxedQueue) and others) do not
//! require this, and keep the order in time, so prefer them where possible.
//!
//! # Checkers
//!
//! | algorithm | |
//! |---|---|
//! | [search](QuasiAlgorithm::Search) | one search for `s''`, which determines `s'`; for (C), a search for both |
//! | [enumerate](QuasiAlgorithm::Enumerate) | the paper's algorithm: tries all `s'`, and all `s''` of each |
//! | [brute force](QuasiAlgorithm::Brute) | tries all orders that the definition allows; for tests |

mod brute;
mod enumerate;
mod in_place;
#[cfg_attr(not(feature = "papers"), expect(unreachable_pub, reason = "exported with the feature `papers`"))]
mod permutations;
#[cfg(feature = "papers")]
mod round_up;
mod search;
mod seen;
mod semantics;
#[cfg(feature = "papers")]
mod serial_list;
#[cfg(feature = "papers")]
pub mod strict;
mod task;

use std::borrow::Cow;
use std::time::Instant;

#[cfg(feature = "papers")]
pub use permutations::Permutations;
#[cfg(feature = "papers")]
pub use round_up::{Optimizations, RoundUp};
#[doc(hidden)]
pub use semantics::SerialHistories;
pub use semantics::{Factors, Pending, Semantics};
#[cfg(feature = "papers")]
pub use serial_list::SerialList;

use super::erased::{Case, Typed};
use super::frame::Frame;
use super::search::Meter;
use super::search::automaton::{Automaton, ResultId, Steps};
use super::search::problem::Classes;
use super::{Algorithm, Budget, Config};
use crate::history::{Event, History, OpId, split};
use crate::spec::Spec;
use crate::verdict::{Evidence, Judgment, Limit, LimitKind, MoreFactor, QuasiEvidence, Stats, Verdict, Witness};
use enumerate::{Counts, Legal, Looked};
use in_place::Serial;
use semantics::{Criterion, SerialOrders};
use task::{QuasiFound, QuasiTask, Why};

/// The algorithm that judges quasi linearizability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuasiAlgorithm {
    /// The default: search.
    #[default]
    Auto,
    /// One search for the legal order.
    Search,
    /// The paper's algorithm, with all its optimizations.
    Enumerate,
    /// Tries all orders that the definition allows.
    Brute,
}

impl QuasiAlgorithm {
    fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Search => "search",
            Self::Enumerate => "enumerate",
            Self::Brute => "brute",
        }
    }
}

/// Judges whether a history is quasi linearizable.
///
/// An accepted history comes with `s'` ([`Witness::order`]) and `s''` ([`Witness::permuted`]),
/// which have been replayed. The evidence for a rejected history includes by how much the factors
/// would have to increase for the history to be accepted ([`QuasiEvidence`]).
///
/// ```
/// use trueline::history::History;
/// use trueline::judge::Budget;
/// use trueline::judge::quasi::{QuasiAlgorithm, Semantics, check};
/// use trueline::spec::{Stack, StackOp, StackRet};
/// use trueline::verdict::MoreFactor;
///
/// let mut builder = History::builder();
/// for value in [1, 2, 3] {
///     builder.call(0, StackOp::Push(value))?;
///     builder.ret(0, StackRet::Done)?;
/// }
/// for value in [1, 2, 3] {
///     builder.call(0, StackOp::Pop)?;
///     builder.ret(0, StackRet::Value(Some(value)))?; // the oldest first
/// }
/// let history = builder.finish();
/// let judgment =
///     check(&Stack::new(), &history, &Semantics::whole_domain(0), QuasiAlgorithm::Auto, &Budget::unlimited());
/// let evidence = judgment.verdict.evidence().expect("a stack returns the newest value first");
/// assert_eq!(evidence.quasi.as_ref().map(|quasi| quasi.more), Some(MoreFactor::By(1)));
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
///
/// # Panics
/// Panics if a witness that was found cannot be replayed, because the specification contradicts
/// itself.
pub fn check<S: Spec + ?Sized>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    semantics: &Semantics<'_, S::Op, S::Ret>,
    algorithm: QuasiAlgorithm,
    budget: &Budget,
) -> Judgment<S::Ret> {
    judge_typed(spec, history, semantics, budget, &mut |mut judge| {
        let started = Instant::now();
        let verdict = match algorithm {
            QuasiAlgorithm::Auto | QuasiAlgorithm::Search => judge.judge(&mut By::Search),
            QuasiAlgorithm::Brute => judge.judge(&mut By::Brute),
            QuasiAlgorithm::Enumerate => {
                let kinds = judge.case.classes();
                let numbers: Vec<u32> = judge.case.frame().operations().map(|op| kinds.of(op).0).collect();
                let mut looked = Looked::new(true);
                judge.judge(&mut By::Enumerate { numbers: &numbers, looked: &mut looked })
            }
        };
        judge.judgment(verdict, algorithm.name(), started)
    })
}

/// Erases the types of the history and judges it with `judge`.
fn judge_typed<S: Spec + ?Sized>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    semantics: &Semantics<'_, S::Op, S::Ret>,
    budget: &Budget,
    judge: &mut dyn FnMut(QuasiJudge<'_>) -> Judgment<ResultId>,
) -> Judgment<S::Ret> {
    let case = Typed::new(spec, Cow::Borrowed(history));
    let serial = semantics.serial_orders(history);
    let criterion = semantics.of_history(history, serial.as_ref().map(|serial| serial as &dyn SerialOrders));
    judge(QuasiJudge::new(&case, &criterion, budget)).map(|result| case.result(*result))
}

/// Judges by the algorithm of a [`Config`]: `auto` and `brute` select the [`QuasiAlgorithm`] of that name, and any
/// other algorithm is refused.
#[doc(hidden)]
pub fn judge<S: Spec + ?Sized>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    semantics: &Semantics<'_, S::Op, S::Ret>,
    config: &Config,
) -> Judgment<S::Ret> {
    let algorithm = match config.algorithm {
        Algorithm::Auto => QuasiAlgorithm::Auto,
        Algorithm::Brute => QuasiAlgorithm::Brute,
        _ => {
            return judge_typed(spec, history, semantics, &config.budget, &mut |judge| {
                let refused = LimitKind::Refused("only the algorithms auto and brute can judge quasi linearizability");
                let verdict = Verdict::Unknown(judge.limit(refused));
                judge.judgment(verdict, &config.algorithm.to_string(), Instant::now())
            });
        }
    };
    check(spec, history, semantics, algorithm, &config.budget)
}

/// The method by which one object is judged.
enum By<'b> {
    Search,
    Enumerate {
        /// For each operation of the history, a number that identifies the operation together with
        /// its result.
        numbers: &'b [u32],
        looked: &'b mut Looked,
    },
    Brute,
}

/// The maximum number of configurations that are visited to find out by how much the factors would
/// have to increase for a rejected history to be accepted.
const TO_LEARN_MORE: u64 = 50_000;

struct QuasiJudge<'a> {
    case: &'a dyn Case,
    criterion: &'a Criterion<'a>,
    meter: Meter,
    counts: Counts,
    states: u64,
}

impl<'a> QuasiJudge<'a> {
    fn new(case: &'a dyn Case, criterion: &'a Criterion<'a>, budget: &Budget) -> Self {
        Self { case, criterion, meter: Meter::start(budget), counts: Counts::default(), states: 0 }
    }

    fn judgment(&self, verdict: Verdict<ResultId>, algorithm: &str, started: Instant) -> Judgment<ResultId> {
        let stats = Stats {
            algorithm: algorithm.to_owned(),
            criterion: Some(self.criterion.name.clone()),
            partitions: self.case.frame().objects,
            configurations: self.meter.configurations,
            sequentializations: self.counts.sequentializations,
            permutations: self.counts.permutations,
            states: self.states,
            peak_bytes: self.meter.peak_bytes,
            elapsed: started.elapsed(),
            ..Stats::default()
        };
        Judgment { verdict, stats }
    }

    fn limit(&self, kind: LimitKind) -> Limit {
        Limit { kind, event: 0, events: self.case.frame().event_count() }
    }

    /// Returns the reason why the history cannot be judged, or `None` if it can be judged.
    fn refusal(&self) -> Option<LimitKind> {
        let frame = self.case.frame();
        if self.criterion.pending == Pending::Refuse && frame.operations().any(|op| frame.ret(op).is_none()) {
            return Some(LimitKind::Refused("it has operations that never returned"));
        }
        if self.criterion.serial.is_some() && !frame.operations().all(|op| self.case.has_result(op)) {
            return Some(LimitKind::Refused(
                "it is compared with serial histories, so each operation needs a result, but some operations have no result",
            ));
        }
        None
    }

    fn judge(&mut self, by: &mut By<'_>) -> Verdict<ResultId> {
        if let Some(kind) = self.refusal() {
            return Verdict::Unknown(self.limit(kind));
        }
        let frame = self.case.frame();
        let kinds = self.case.classes();
        let (mut orders, mut permuted) = (Vec::new(), Vec::new());
        let mut unknown = None;
        for events in split(frame.events, frame.objects, |op| frame.object(op)).iter() {
            let task = QuasiTask::new(self.case, events, &kinds, self.criterion);
            match self.decide(&task, &kinds, by) {
                Ok(QuasiFound::Accepted { order, permuted: legal }) => {
                    self.replay(&task, &order, &legal);
                    orders.push(task.ids(&order));
                    permuted.extend(task.ids(&legal));
                }
                Ok(QuasiFound::Rejected(why)) => {
                    let more = if why.is_final { MoreFactor::Never } else { self.more(&task, &kinds, by) };
                    return Verdict::Rejected(self.evidence(&task, events, &why, more));
                }
                // A limit was reached for this object, but another object may be rejected.
                Err(kind) => unknown = unknown.or(Some(self.limit(kind))),
            }
        }
        match unknown {
            Some(limit) => Verdict::Unknown(limit),
            None => Verdict::Accepted(Witness::quasi(merge(frame, orders), permuted)),
        }
    }

    /// Judges one object.
    fn decide(&mut self, task: &QuasiTask, kinds: &Classes, by: &mut By<'_>) -> Result<QuasiFound, LimitKind> {
        let mut meter = self.meter.part(None, None);
        let found = self.decide_within(task, kinds, by, &mut meter);
        self.meter.add(&meter);
        found
    }

    fn decide_within(
        &mut self,
        task: &QuasiTask,
        kinds: &Classes,
        by: &mut By<'_>,
        meter: &mut Meter,
    ) -> Result<QuasiFound, LimitKind> {
        if matches!(by, By::Brute) {
            return brute::search(self.case, task, self.criterion.serial, meter);
        }
        if let Some(serial) = self.criterion.serial {
            let contains = |ops: &[u32]| serial.contains(&task.ids(ops));
            let may_begin = |ops: &[u32]| serial.may_begin(&task.ids(ops));
            let serial = Serial { contains: &contains, may_begin: &may_begin };
            return match by {
                By::Enumerate { numbers, looked } => {
                    let numbers = of_task(task, numbers);
                    enumerate::search(task, Legal::Program(&serial), &numbers, looked, &mut self.counts, meter)
                }
                _ => in_place::search(task, &serial, meter),
            };
        }
        let mut space = self.case.states(kinds, None);
        let mut steps = Steps::new();
        let mut automaton = Automaton::new(&mut *space, &mut steps, kinds);
        let found = match by {
            By::Enumerate { numbers, looked } => {
                let numbers = of_task(task, numbers);
                let legal = Legal::Specification(&mut automaton);
                enumerate::search(task, legal, &numbers, looked, &mut self.counts, meter)
            }
            _ => search::search(task, &mut automaton, meter),
        };
        self.states += space.len() as u64;
        found
    }

    /// Returns by how much the factors would have to increase for this object to be accepted.
    fn more(&mut self, task: &QuasiTask, kinds: &Classes, by: &By<'_>) -> MoreFactor {
        let mut by = if matches!(by, By::Brute) { By::Brute } else { By::Search };
        // If the factors increase by `enough`, they allow every permutation.
        let enough = (0..).zip(&task.factors).map(|(class, factor)| {
            let members = task.class.iter().filter(|of| **of == Some(class)).count();
            u32::try_from(members).unwrap_or(u32::MAX).saturating_sub(1).saturating_sub(*factor)
        });
        let enough = enough.max().unwrap_or(0);
        let mut left = TO_LEARN_MORE;
        for more in 1..=enough {
            let mut meter = self.meter.part(Some(left), None);
            let found = self.decide_within(&task.relaxed_by(more), kinds, &mut by, &mut meter);
            // A rejection that is found without a search takes time, too. So count at least one
            // configuration for every eight operations.
            left = left.saturating_sub(meter.configurations.max(task.len() as u64 / 8));
            self.meter.add(&meter);
            match found {
                Ok(QuasiFound::Accepted { .. }) => return MoreFactor::By(more),
                Ok(QuasiFound::Rejected(_)) => {}
                Err(_) => return MoreFactor::MoreThan(more - 1),
            }
        }
        MoreFactor::Never
    }

    fn evidence(&self, task: &QuasiTask, events: &[Event], why: &Why, more: MoreFactor) -> Evidence<ResultId> {
        let mut is_reached = vec![false; task.len()];
        why.longest.iter().for_each(|op| is_reached[*op as usize] = true);
        let is_out_of_reach = |op: &u32| {
            task.must(*op) && !is_reached[*op as usize] && (why.conflict.is_empty() || why.conflict.contains(op))
        };
        let out_of_reach: Vec<u32> = task.operations().filter(is_out_of_reach).collect();
        let refused = out_of_reach.iter().copied().min_by_key(|op| task.returns[*op as usize]);
        // If all operations were reached, some of them are too far from their places. No operation
        // is more to blame than the others, so the evidence names the last one.
        let refused = refused.or_else(|| why.longest.iter().copied().rev().find(|op| task.must(*op)));
        let refused = refused.expect("a history in which no operation returned is accepted");
        let id = task.ids[refused as usize];
        Evidence {
            prefix: task.ids(&why.longest),
            together: Vec::new(),
            refused: id,
            event: task.returns[refused as usize],
            open: self.case.frame().open_at_return(events, id),
            allowed: Vec::new(),
            all_allowed: false,
            is_first: false,
            conflict: task.ids(&why.conflict),
            quasi: Some(QuasiEvidence { more, out_of_reach: task.ids(&out_of_reach) }),
        }
    }

    /// Checks a witness against each condition of the definition.
    fn replay(&self, task: &QuasiTask, order: &[u32], permuted: &[u32]) {
        let in_order = |one: &[u32]| {
            let mut sorted = one.to_vec();
            sorted.sort_unstable();
            sorted
        };
        let same = in_order(order);
        assert!(same.windows(2).all(|pair| pair[0] != pair[1]), "an operation occurs twice in the sequentialization");
        assert!(
            task.operations().all(|op| !task.must(op) || same.binary_search(&op).is_ok()),
            "an operation that returned is missing from the sequentialization"
        );
        assert_eq!(same, in_order(permuted), "the two orders do not have the same operations");
        let mut latest = 0;
        for op in order {
            assert!(task.returns[*op as usize] > latest, "the sequentialization violates the real-time order");
            latest = latest.max(task.calls[*op as usize]);
        }
        assert!(self.is_near(task, order, permuted), "an operation is further from its place than its factor allows");
        let legal = task.ids(permuted);
        let is_legal = match self.criterion.serial {
            Some(serial) => serial.contains(&legal),
            None => self.case.replay_parts(&legal, 1, None).is_ok(),
        };
        assert!(
            is_legal,
            "a legal order that was found cannot be replayed: either the specification is inconsistent (`step` must \
             give the same outcomes each time, and `object`, `observes` and `standard` must agree with it), or this is \
             a bug in trueline"
        );
    }

    /// Returns whether two orders of the same operations are as near to each other as the semantics requires.
    fn is_near(&self, task: &QuasiTask, order: &[u32], permuted: &[u32]) -> bool {
        // The place of each operation within its class.
        let places = |order: &[u32]| {
            let mut counts = vec![0_u32; task.factors.len()];
            let mut places = vec![0_u32; task.len()];
            for op in order {
                if let Some(class) = task.class[*op as usize] {
                    places[*op as usize] = counts[class as usize];
                    counts[class as usize] += 1;
                }
            }
            places
        };
        let (one, other) = (places(order), places(permuted));
        let is_near = |op: &u32| {
            task.class[*op as usize]
                .is_none_or(|class| one[*op as usize].abs_diff(other[*op as usize]) <= task.factors[class as usize])
        };
        if self.criterion.serial.is_none() {
            return order.iter().all(is_near);
        }
        // All operations that changed places must be of the same class.
        let changed = || order.iter().zip(permuted).filter(|(one, other)| one != other);
        let class = changed().next().map(|(one, _)| task.class[*one as usize]);
        changed().all(|(one, other)| {
            let both = (task.class[*one as usize], task.class[*other as usize]);
            both.0.is_some() && Some(both.0) == class && both.0 == both.1 && is_near(one)
        })
    }
}

fn of_task(task: &QuasiTask, numbers: &[u32]) -> Vec<u32> {
    task.ids.iter().map(|id| numbers[id.index()]).collect()
}

/// Merges the orders of all objects into one: each operation is placed as early as possible.
fn merge(frame: Frame<'_>, mut orders: Vec<Vec<OpId>>) -> Vec<OpId> {
    if orders.len() == 1 {
        return orders.pop().unwrap_or_default();
    }
    let mut placed = Vec::with_capacity(frame.len());
    for order in orders {
        let mut place = 0;
        for op in order {
            place = place.max(frame.call(op));
            placed.push((place, op));
        }
    }
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, op)| op).collect()
}

//! The variants of quasi linearizability: the classes of operations, their factors, and which orders are legal.

use std::fmt::{self, Write as _};

use crate::history::{History, OpId};

/// A function that returns whether an operation with its result belongs to a class.
type Member<'a, Op, Ret> = Box<dyn Fn(&Op, Option<&Ret>) -> bool + Send + Sync + 'a>;

/// Classes of operations, each with its factor: the function `Q` of definition 3.
///
/// An operation to which several classes apply belongs to the first of them, so classes are disjoint. An operation in
/// no class may be at any place.
///
/// ```
/// use trueline::judge::quasi::Factors;
/// use trueline::spec::QueueOp;
///
/// let factors: Factors<'_, QueueOp<u8>, ()> = Factors::new()
///     .class("enqueue", 0, |op| matches!(op, QueueOp::Enqueue(_)))
///     .class("dequeue", 4, |op| matches!(op, QueueOp::Dequeue));
/// assert_eq!(factors.to_string(), "enqueue 0, dequeue 4");
/// ```
pub struct Factors<'a, Op, Ret> {
    classes: Vec<Class<'a, Op, Ret>>,
}

struct Class<'a, Op, Ret> {
    name: String,
    factor: u32,
    has: Member<'a, Op, Ret>,
}

impl<Op, Ret> Default for Factors<'_, Op, Ret> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, Op, Ret> Factors<'a, Op, Ret> {
    /// Returns an empty set of factors: no operation has a class.
    pub fn new() -> Self {
        Self { classes: Vec::new() }
    }

    /// Adds a class that contains the operations for which `has` returns `true`. Each of them may
    /// be out of order by at most `factor` places.
    #[must_use]
    pub fn class(self, name: impl Into<String>, factor: u32, has: impl Fn(&Op) -> bool + Send + Sync + 'a) -> Self {
        self.class_by_result(name, factor, move |op, _| has(op))
    }

    /// Adds a class like [`class`](Self::class) does, but also passes the result of the operation
    /// to `has`, or `None` if the result is not known.
    #[must_use]
    pub fn class_by_result(
        mut self,
        name: impl Into<String>,
        factor: u32,
        has: impl Fn(&Op, Option<&Ret>) -> bool + Send + Sync + 'a,
    ) -> Self {
        self.classes.push(Class { name: name.into(), factor, has: Box::new(has) });
        self
    }

    /// Returns the class of an operation, or `None` if the operation is in no class.
    pub(super) fn of(&self, op: &Op, result: Option<&Ret>) -> Option<usize> {
        self.classes.iter().position(|class| (class.has)(op, result))
    }

    pub(super) fn factors(&self) -> Vec<u32> {
        self.classes.iter().map(|class| class.factor).collect()
    }
}

impl<Op, Ret> fmt::Display for Factors<'_, Op, Ret> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Class { name, factor, .. }) in self.classes.iter().enumerate() {
            write!(f, "{}{name} {factor}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl<Op, Ret> fmt::Debug for Factors<'_, Op, Ret> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Factors({self})")
    }
}

/// The serial histories of a program, that is, its histories in which calls do not overlap.
///
/// Code that explores a program provides them; a closure is enough.
pub trait SerialHistories<Op, Ret>: Sync {
    /// Returns whether `sequence`, a list of operations with their results, is a serial history of the program.
    fn contains(&self, sequence: &[(&Op, &Ret)]) -> bool;

    /// Returns whether a serial history of the program may begin with the given sequence. It is
    /// always correct to return `true`, but then the search may take longer.
    fn may_begin(&self, sequence: &[(&Op, &Ret)]) -> bool {
        let _ = sequence;
        true
    }
}

impl<Op, Ret, F: Fn(&[(&Op, &Ret)]) -> bool + Sync> SerialHistories<Op, Ret> for F {
    fn contains(&self, sequence: &[(&Op, &Ret)]) -> bool {
        self(sequence)
    }
}

/// The treatment of operations that never returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pending {
    /// Each pending operation may have taken effect, with any result, or may not have taken effect.
    /// For operations that took effect, returns are added to the history, as in the definition of
    /// linearizability.
    #[default]
    Extend,
    /// A history with pending operations is refused. The histories of the paper have no pending
    /// operations.
    Refuse,
}

/// A variant of quasi linearizability. See the [module](super) for how the variants differ.
pub struct Semantics<'a, Op, Ret> {
    pub(super) kind: Variant<'a, Op, Ret>,
    pub(super) pending: Pending,
}

pub(super) enum Variant<'a, Op, Ret> {
    ByClass(Factors<'a, Op, Ret>),
    WholeDomain(u32),
    OfProgram(Factors<'a, Op, Ret>, &'a dyn SerialHistories<Op, Ret>),
}

impl<'a, Op, Ret> Semantics<'a, Op, Ret> {
    /// Returns semantics (A), as in definition 4, with a factor for each class.
    pub fn by_class(factors: Factors<'a, Op, Ret>) -> Self {
        Self { kind: Variant::ByClass(factors), pending: Pending::default() }
    }

    /// Returns semantics (B), as in algorithm 1: all operations are one class.
    pub fn whole_domain(factor: u32) -> Self {
        Self { kind: Variant::WholeDomain(factor), pending: Pending::default() }
    }

    /// Returns semantics (C), that of the Round-Up tool: the operations of a single class (any of
    /// the classes) change places among themselves, and the resulting order must be a serial
    /// history of the program. The specification is not used.
    #[doc(hidden)]
    pub fn of_program(factors: Factors<'a, Op, Ret>, serial: &'a dyn SerialHistories<Op, Ret>) -> Self {
        Self { kind: Variant::OfProgram(factors, serial), pending: Pending::default() }
    }

    /// Sets how operations that never returned are treated.
    #[must_use]
    pub fn pending(mut self, pending: Pending) -> Self {
        self.pending = pending;
        self
    }
}

impl<Op, Ret> fmt::Display for Semantics<'_, Op, Ret> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Variant::ByClass(factors) => write!(f, "quasi linearizable by class ({factors})"),
            Variant::WholeDomain(factor) => write!(f, "quasi linearizable as a whole ({factor})"),
            Variant::OfProgram(factors, _) => write!(f, "quasi linearizable compared with serial runs ({factors})"),
        }
    }
}

impl<Op, Ret> fmt::Debug for Semantics<'_, Op, Ret> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Semantics(")?;
        write!(f, "{self}")?;
        f.write_char(')')
    }
}

impl<Op, Ret> Semantics<'_, Op, Ret> {
    /// Returns the criterion by which the operations of a history are judged. The criterion refers
    /// to operations by number.
    pub(super) fn of_history<'n>(
        &self,
        history: &History<Op, Ret>,
        serial: Option<&'n dyn SerialOrders>,
    ) -> Criterion<'n> {
        let (factors, class) = match &self.kind {
            Variant::WholeDomain(factor) => (vec![*factor], vec![Some(0); history.len()]),
            Variant::ByClass(factors) | Variant::OfProgram(factors, _) => {
                let mut classes = Vec::with_capacity(history.len());
                for operation in history.operations() {
                    let class = factors.of(&operation.op, operation.outcome.result());
                    classes
                        .push(class.map(|class| u32::try_from(class).expect("the number of classes fits in 32 bits")));
                }
                (factors.factors(), classes)
            }
        };
        Criterion { name: self.to_string(), pending: self.pending, class, factors, serial }
    }

    /// Returns a test that decides whether an order of the operations of `history` is a serial
    /// history of the program. Returns `None` if the semantics does not use serial histories.
    pub(super) fn serial_orders<'n>(&'n self, history: &'n History<Op, Ret>) -> Option<SerialOf<'n, Op, Ret>> {
        let Variant::OfProgram(_, histories) = self.kind else { return None };
        Some(SerialOf { histories, history })
    }
}

/// A semantics, applied to the operations of one history. It does not depend on their types.
pub(super) struct Criterion<'n> {
    /// A description of the semantics in words.
    pub(super) name: String,
    pub(super) pending: Pending,
    /// For each operation, its class; `None` if the operation is in no class.
    pub(super) class: Vec<Option<u32>>,
    /// The factor of each class.
    pub(super) factors: Vec<u32>,
    /// For (C), decides whether an order is a serial history.
    pub(super) serial: Option<&'n dyn SerialOrders>,
}

/// The [`SerialHistories`] of a program, applied to the operations of one history. All these
/// operations have results.
pub(super) trait SerialOrders {
    fn contains(&self, order: &[OpId]) -> bool;
    fn may_begin(&self, order: &[OpId]) -> bool;
}

pub(super) struct SerialOf<'n, Op, Ret> {
    histories: &'n dyn SerialHistories<Op, Ret>,
    history: &'n History<Op, Ret>,
}

impl<Op, Ret> SerialOf<'_, Op, Ret> {
    fn sequence(&self, order: &[OpId]) -> Vec<(&Op, &Ret)> {
        let mut sequence = Vec::with_capacity(order.len());
        for op in order {
            let operation = &self.history[*op];
            let result = operation.outcome.result().expect("histories without results are refused");
            sequence.push((&operation.op, result));
        }
        sequence
    }
}

impl<Op, Ret> SerialOrders for SerialOf<'_, Op, Ret> {
    fn contains(&self, order: &[OpId]) -> bool {
        self.histories.contains(&self.sequence(order))
    }

    fn may_begin(&self, order: &[OpId]) -> bool {
        self.histories.may_begin(&self.sequence(order))
    }
}

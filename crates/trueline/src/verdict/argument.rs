//! Arguments that explain, step by step, why the operations of a core have no legal order.

use crate::history::OpId;

/// An explanation of why a [core](super::Core) has no linearization, as claims that follow from each other.
///
/// It is plain data: [`judge::argument`](crate::judge::argument) makes and checks it, and
/// [`view::prose`](crate::view::prose) puts it into words. Operations are numbered as in the whole history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument<Ret> {
    /// The kind of object, as far as the wording depends on it.
    pub object: ObjectKind,
    /// The claims.
    pub proof: Proof<Ret>,
    /// The calls that the claims name, in the order of their numbers.
    pub named: Vec<OpId>,
}

/// The kind of an object, which selects the words that describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ObjectKind {
    /// An object that holds a value.
    Register,
    /// An object that holds a number and adds to it.
    Counter,
    /// A set, only one element of which matters.
    Set,
    /// A map, only one key of which matters.
    Map,
    /// A container whose values come out in the order in which they were put in.
    Queue,
    /// A container whose most recent value comes out first.
    Stack,
    /// A container whose least value comes out first.
    PriorityQueue,
    /// A container whose values may come out in any order.
    Bag,
    /// A lock, which is free or held.
    Lock,
    /// A lock that is free, held by readers, or held by a writer.
    ReadWriteLock,
    /// A semaphore, which has a number of permits.
    Semaphore,
    /// Anything else.
    Other,
}

/// Claims, each of which follows from those before it, and the reason why no order satisfies them all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof<Ret> {
    /// The claims.
    pub steps: Vec<Step>,
    /// The reason why no order satisfies all claims.
    pub end: End<Ret>,
}

/// The claim that if `second` took effect, then `first` took effect before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Before {
    /// The earlier operation.
    pub first: OpId,
    /// The later operation.
    pub second: OpId,
}

/// A claim and the ground that it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The claim.
    pub claim: Before,
    /// The reason why the claim holds.
    pub ground: Ground,
}

/// The ground that a claim rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ground {
    /// The first operation returned before the second was called.
    RealTime,
    /// The object requires it: the claim holds in every legal order of the core's operations in which the claims
    /// `given` hold, regardless of when the operations were called.
    Value {
        /// The reason why the object requires it.
        reason: Reason,
        /// The claims that it follows from: earlier claims, or claims that follow from earlier ones by transitivity.
        given: Vec<Before>,
    },
}

/// The reason why an object allows no other order, or no order at all.
///
/// "The first" and "the second" are the operations of the claim; "it" is the operation of [`End::Impossible`]. For
/// containers, the value of an operation is the one that the operation put in, took out or saw.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The second took or saw the value that the first put in.
    Source,
    /// The first saw the value that the second took out.
    Seen,
    /// The value that the second took or saw was put in after that of the first, and values come out first in, first
    /// out.
    FirstInFirstOut {
        /// The operation that put in the value of the first.
        first_in: OpId,
        /// The operation that put in the value of the second.
        second_in: OpId,
    },
    /// The value that the first put in was taken, or seen in front, before the one that the second put in, and values
    /// come out first in, first out.
    FirstOutFirstIn {
        /// The operation that took or saw the value that the first put in.
        first_out: OpId,
        /// The operation that took or saw the value that the second put in.
        second_out: OpId,
    },
    /// No order: another value was put in before the one that it took or saw, and nothing took that other value out.
    InFront {
        /// The operation that put in the value in front.
        put: OpId,
        /// The operation that put in the value that it took or saw.
        own: OpId,
    },
    /// The second found nothing, and the value that `put` put in before the second was taken out by the first.
    Empty {
        /// The operation that put in the value that the first took.
        put: OpId,
    },
    /// The first found nothing, before the value that the second put in was taken or seen.
    NotYetIn {
        /// The operation that took or saw that value.
        taken: OpId,
    },
    /// No order: it found nothing, but the value that `put` put in was there, and nothing took that value out.
    StillIn {
        /// The operation that put in that value.
        put: OpId,
    },
    /// The value that the first took lay on top of the one that the second took or saw, and values come out last in,
    /// first out.
    OnTop {
        /// The operation that put in the value of the second.
        below: OpId,
        /// The operation that put in the value of the first.
        above: OpId,
    },
    /// No order: the value that `above` put in lay on top of the one that it took or saw, and nothing took that value
    /// off.
    NotTakenOff {
        /// The operation that put in the value below the one on top.
        below: OpId,
        /// The operation that put in the value on top.
        above: OpId,
    },
    /// `top` took or saw the value of the second on top, while the value that the first put in was in the stack too.
    Below {
        /// The operation that took or saw the value on top.
        top: OpId,
        /// The operation that later took or saw the value that the first put in.
        later: OpId,
    },
    /// The first took a value that has priority over the one that the second took or saw, and that was in the queue.
    Lesser {
        /// The operation that put in the value of the first.
        put: OpId,
    },
    /// The first took or saw a value, the second put in one that has priority over it, and that one was taken or seen
    /// later.
    LesserLater {
        /// The operation that took or saw the value that the second put in.
        taken: OpId,
    },
    /// No order: the value that `put` put in has priority over the one that it took or saw, was in the queue, and
    /// nothing took it out.
    LesserStillIn {
        /// The operation that put in the value with priority.
        put: OpId,
    },
    /// No order: a value was taken out more often than it was put in.
    TakenTooOften {
        /// The operations that put the value in.
        puts: Vec<OpId>,
        /// The operations that took the value out, or that saw it if nothing put it in.
        takes: Vec<OpId>,
    },
    /// The second needs a state that only the first produced.
    OnlyMaker {
        /// The states that the second needs, in words.
        needs: Vec<String>,
        /// The other operations that could produce such a state, but came after the second.
        later: Vec<OpId>,
    },
    /// `undone` left another state than the second needs, before the second. Of all operations that could produce a
    /// needed state again, only the first is left.
    MadeAgain {
        /// The states that the second needs, in words.
        needs: Vec<String>,
        /// The operation that left another state.
        undone: OpId,
        /// The other operations that could produce such a state, but came before `undone`.
        earlier: Vec<OpId>,
        /// The other operations that could produce such a state, but came after the second.
        later: Vec<OpId>,
    },
    /// The first left another state than `user` needs, before `user`. Only the second can have produced a needed state
    /// again, so it came between the two.
    Between {
        /// The states that `user` needs, in words.
        needs: Vec<String>,
        /// The operation that needs such a state.
        user: OpId,
        /// The other operations that could produce such a state, but came before the first.
        earlier: Vec<OpId>,
        /// The other operations that could produce such a state, but came after `user`.
        later: Vec<OpId>,
    },
    /// The second left another state than the first needs, and nothing produced a needed state again in between.
    Undone {
        /// The states that the first needs, in words.
        needs: Vec<String>,
        /// The operations that could have produced such a state, but came before the second.
        earlier: Vec<OpId>,
        /// The operations that could have produced such a state, but came after the first.
        later: Vec<OpId>,
    },
    /// No order: it needs a state that nothing produced.
    NoMaker {
        /// The states that it needs, in words; empty if no operation can produce one.
        needs: Vec<String>,
        /// The initial state, in words.
        first: String,
    },
    /// `user` needs a state, and other operations before it need and undo such a state too. The state is not produced
    /// often enough for all of them, or would not be if the claim did not hold.
    UsedUp {
        /// The states that are needed, in words.
        needs: Vec<String>,
        /// Whether the initial state is one of the states that are needed.
        at_first: bool,
        /// The operation that needs such a state.
        user: OpId,
        /// The other operations that need and undo such a state, and come before `user`.
        used: Vec<OpId>,
        /// The operations that could produce such a state, and are not known to come after `user`.
        makers: Vec<OpId>,
        /// The operations that could produce such a state, but came after `user`.
        later: Vec<OpId>,
    },
    /// No order: in whichever order the operations come, a state is needed and undone more often than it is produced.
    UsedTooOften {
        /// The states that are needed, in words.
        needs: Vec<String>,
        /// Whether the initial state is one of the states that are needed.
        at_first: bool,
        /// The operations that need and undo such a state.
        used: Vec<OpId>,
        /// The operations that could produce such a state.
        makers: Vec<OpId>,
    },
    /// The number is not what an operation needs, or would not be if the claim did not hold.
    Count(Count),
    /// No order: in whichever order the operations come, the number would not be what the last of them needs.
    CountInAll {
        /// The quantity that is counted.
        what: Counted,
        /// The initial number.
        initial: i64,
        /// The number that the users need: at most this if they increase it, at least this if they decrease it.
        needed: i64,
        /// The operations that increase (or decrease) the number, each of which needs it to be at most (or at least)
        /// `needed` before.
        users: Vec<OpId>,
        /// Whether the users increase the number.
        is_more: bool,
        /// The operations that may change the number the other way.
        others: Vec<OpId>,
    },
}

/// The reason why a number does not satisfy the needs of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The quantity that is counted.
    pub what: Counted,
    /// The initial number.
    pub initial: i64,
    /// The operation that needs the number.
    pub user: OpId,
    /// The number that it needs.
    pub needed: i64,
    /// Whether the number would be too small; otherwise it would be too large.
    pub too_little: bool,
    /// The operations that are known to come before `user` and take the number further away from `needed`.
    pub before: Vec<OpId>,
    /// The operations that may come before `user` and bring the number closer to `needed`.
    pub maybe: Vec<OpId>,
    /// The operations that would bring the number closer to `needed`, but came after `user`.
    pub later: Vec<OpId>,
}

/// A quantity that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counted {
    /// The free permits of a semaphore.
    Permits,
    /// The readers that hold a lock.
    Readers,
    /// The writers that hold a lock.
    Writers,
    /// The value of a counter.
    Total,
    /// The number of values in a container.
    Values,
}

/// The reason why there is no legal order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End<Ret> {
    /// Each of these operations came before the next one, and the last one came before the first.
    Circle(Vec<OpId>),
    /// The operation took effect, but it did not in any legal order of the core's operations in which the claims
    /// `given` hold.
    Impossible {
        /// The operation.
        op: OpId,
        /// The reason why it is impossible.
        reason: Reason,
        /// The claims that this follows from.
        given: Vec<Before>,
    },
    /// The operation found nothing, but at every moment while it was open, more values had certainly been put in than
    /// calls had begun that may have taken one out: for each of these calls, and for the operation itself, a different
    /// put had returned before the call.
    NeverEmpty {
        /// The operation that found nothing.
        op: OpId,
        /// A put that had returned before the call of `op`.
        first: OpId,
        /// All operations that may have taken a value out before `op` returned, each with its own put that had returned
        /// before its call.
        pairs: Vec<Before>,
    },
    /// One operation came before the other or the other way around, and there is an argument against either case.
    Cases {
        /// The claim that is assumed in the first case; the second case assumes the reverse.
        assumed: Before,
        /// The argument under the assumption.
        yes: Box<Proof<Ret>>,
        /// The argument under the reverse of the assumption.
        no: Box<Proof<Ret>>,
    },
    /// The operation fits nowhere: all places were tried.
    NoPlace(NoPlace<Ret>),
}

/// All places of an operation among the other operations of a core, none of which is possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPlace<Ret> {
    /// The operation.
    pub op: OpId,
    /// The operations that must have taken effect before it, because they returned before it was called; without those
    /// that an enclosing [`Place`] has placed already.
    pub before: Vec<OpId>,
    /// The operations that may have taken effect before it too; all their orders were tried.
    pub open: Vec<OpId>,
    /// The places of the operation, with the state at each. A state in which it does not fit is listed only once.
    pub places: Vec<Place<Ret>>,
    /// The number of places that are not listed.
    pub more: usize,
}

/// A place of an operation among the others, with the state there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place<Ret> {
    /// Operations in an order that leads to this state.
    pub order: Vec<OpId>,
    /// The state, in words.
    pub state: String,
    /// The results that the operation may return there, without duplicates; empty if it cannot take effect.
    pub results: Vec<Ret>,
    /// If the recorded result is among `results`, why another operation has no place after it. The inner `None` means
    /// that this would take too long to explain.
    pub then: Option<Option<Box<NoPlace<Ret>>>>,
}

impl<Ret> Argument<Ret> {
    /// Returns the same argument with results of another type.
    pub fn map<Other>(self, mut read: impl FnMut(&Ret) -> Other) -> Argument<Other> {
        self.map_of(&mut |_, result| read(result))
    }

    /// Returns the same argument with results of another type; `read` gets the operation of each result, too.
    pub(crate) fn map_of<Other>(self, read: &mut dyn FnMut(OpId, &Ret) -> Other) -> Argument<Other> {
        Argument { object: self.object, proof: self.proof.map(read), named: self.named }
    }

    /// Returns whether the argument consists of claims, rather than of all places of an operation.
    pub fn is_specific(&self) -> bool {
        !matches!(self.proof.end, End::NoPlace(_))
    }
}

impl<Ret> Proof<Ret> {
    fn map<Other>(self, read: &mut dyn FnMut(OpId, &Ret) -> Other) -> Proof<Other> {
        let end = match self.end {
            End::Circle(circle) => End::Circle(circle),
            End::Impossible { op, reason, given } => End::Impossible { op, reason, given },
            End::NeverEmpty { op, first, pairs } => End::NeverEmpty { op, first, pairs },
            End::Cases { assumed, yes, no } => {
                let (yes, no) = (Box::new(yes.map(read)), Box::new(no.map(read)));
                End::Cases { assumed, yes, no }
            }
            End::NoPlace(none) => End::NoPlace(none.map(read)),
        };
        Proof { steps: self.steps, end }
    }
}

impl<Ret> NoPlace<Ret> {
    fn map<Other>(self, read: &mut dyn FnMut(OpId, &Ret) -> Other) -> NoPlace<Other> {
        let Self { op, before, open, places, more } = self;
        let mut mapped = Vec::with_capacity(places.len());
        for Place { order, state, results: before, then } in places {
            let mut results = Vec::with_capacity(before.len());
            for result in &before {
                results.push(read(op, result));
            }
            let then = match then {
                Some(Some(then)) => Some(Some(Box::new(then.map(read)))),
                Some(None) => Some(None),
                None => None,
            };
            mapped.push(Place { order, state, results, then });
        }
        NoPlace { op, before, open, places: mapped, more }
    }
}

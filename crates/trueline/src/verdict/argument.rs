//! Arguments that explain, step by step, why the operations of a core have no legal order.

use crate::history::OpId;

/// An explanation of why a [core](super::Core) has no linearization: a list of claims, each of
/// which follows from real time or from earlier claims.
///
/// An argument is plain data: [`judge::argument`](crate::judge::argument) makes and checks
/// arguments, and [`view::prose`](crate::view::prose) puts them into words. Operations are numbered
/// as in the whole history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument<Ret> {
    /// The kind of object, which selects the words that describe the object.
    pub object: ObjectKind,
    /// The claims.
    pub proof: Proof<Ret>,
    /// The calls that the claims refer to, in the order of their numbers.
    pub named: Vec<OpId>,
}

/// The kind of an object, which selects the words that describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ObjectKind {
    /// An object that holds a value.
    Register,
    /// An object that holds a number, to which operations add.
    Counter,
    /// A set, of which only one element is relevant.
    Set,
    /// A map, of which only one key is relevant.
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
    /// Any other object.
    Other,
}

/// A list of claims, each of which follows from real time or from earlier claims, and the reason
/// why no order satisfies all claims.
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
    /// The object requires the claim: the claim holds in every legal order of the core's operations
    /// in which the claims `given` hold, regardless of when the operations were called.
    Value {
        /// The reason why the object requires the claim.
        reason: Reason,
        /// The claims that this claim follows from: earlier claims, or claims that follow from
        /// earlier ones by transitivity.
        given: Vec<Before>,
    },
}

/// The reason why an object allows no other order, or no order at all.
///
/// "The first operation" and "the second operation" are those of the claim; "the impossible
/// operation" is that of [`End::Impossible`]. For containers, the value of an operation is the
/// value that the operation put in, took out or saw.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The second operation took or saw the value that the first operation put in.
    Source,
    /// The first operation saw the value that the second operation took out.
    Seen,
    /// The value of the second operation was put in after the value of the first operation, and the
    /// container is first in, first out.
    FirstInFirstOut {
        /// The operation that put in the value of the first operation.
        first_in: OpId,
        /// The operation that put in the value of the second operation.
        second_in: OpId,
    },
    /// The first operation and the second operation put values in. The value of the first operation
    /// was taken, or seen in front, before the value of the second operation, and the container is
    /// first in, first out.
    FirstOutFirstIn {
        /// The operation that took or saw the value that the first operation put in.
        first_out: OpId,
        /// The operation that took or saw the value that the second operation put in.
        second_out: OpId,
    },
    /// No order is possible: another value was put in before the value of the impossible operation,
    /// and no operation took that other value out.
    InFront {
        /// The operation that put in the value in front.
        put: OpId,
        /// The operation that put in the value of the impossible operation.
        own: OpId,
    },
    /// The second operation found nothing, although `put` had put a value in before. So the first
    /// operation, which took this value, came before the second operation.
    Empty {
        /// The operation that put in the value that the first operation took.
        put: OpId,
    },
    /// The first operation found nothing, and came before `taken`, which took or saw the value that
    /// the second operation put in. So the first operation came before the second operation.
    NotYetIn {
        /// The operation that took or saw the value of the second operation.
        taken: OpId,
    },
    /// No order is possible: the impossible operation found nothing, although `put` had put a value
    /// in before, and no operation took that value out.
    StillIn {
        /// The operation that put in the value that was not taken out.
        put: OpId,
    },
    /// The value of the first operation lay on top of the value of the second operation, and the
    /// container is last in, first out.
    OnTop {
        /// The operation that put in the value of the second operation.
        below: OpId,
        /// The operation that put in the value of the first operation.
        above: OpId,
    },
    /// No order is possible: a value lay on top of the value of the impossible operation, and no
    /// operation took the upper value off.
    NotTakenOff {
        /// The operation that put in the lower value.
        below: OpId,
        /// The operation that put in the upper value.
        above: OpId,
    },
    /// The value of the second operation was on top of the stack when `top` took or saw it, and the
    /// value that the first operation put in was in the stack, too.
    Below {
        /// The operation that took or saw the value of the second operation on top of the stack.
        top: OpId,
        /// The operation that later took or saw the value that the first operation put in.
        later: OpId,
    },
    /// The first operation took a value that was in the queue and has priority over the value of
    /// the second operation.
    Lesser {
        /// The operation that put in the value of the first operation.
        put: OpId,
    },
    /// The second operation put in a value that has priority over the value of the first operation.
    /// But the value with priority was taken or seen later than the value of the first operation.
    LesserLater {
        /// The operation that took or saw the value that the second operation put in.
        taken: OpId,
    },
    /// No order is possible: a value that has priority over the value of the impossible operation
    /// was in the queue, but no operation took it out.
    LesserStillIn {
        /// The operation that put in the value with priority.
        put: OpId,
    },
    /// No order is possible: a value was taken out more often than it was put in, or was seen
    /// although it was never put in.
    TakenTooOften {
        /// The operations that put the value in.
        puts: Vec<OpId>,
        /// The operations that took the value out. If no operation put it in or took it out, the
        /// operations that saw it.
        takes: Vec<OpId>,
    },
    /// The second operation needs a state that only the first operation produced.
    OnlyMaker {
        /// The states that the second operation needs, in words.
        needs: Vec<String>,
        /// The other operations that could produce a needed state, but came after the second
        /// operation.
        later: Vec<OpId>,
    },
    /// `undone` came before the second operation, and left a state in which the second operation is
    /// impossible. Only the first operation can have produced a needed state again.
    MadeAgain {
        /// The states that the second operation needs, in words.
        needs: Vec<String>,
        /// The operation that left a state in which the second operation is impossible.
        undone: OpId,
        /// The other operations that could produce a needed state, but came before `undone`.
        earlier: Vec<OpId>,
        /// The other operations that could produce a needed state, but came after the second
        /// operation.
        later: Vec<OpId>,
    },
    /// The first operation came before `user`, and left a state in which `user` is impossible. Only
    /// the second operation can have restored a state in which `user` is possible, so it came
    /// between the first operation and `user`.
    Between {
        /// The states that `user` needs, in words.
        needs: Vec<String>,
        /// The operation that is possible only in a needed state.
        user: OpId,
        /// The other operations that could produce a needed state, but came before the first
        /// operation.
        earlier: Vec<OpId>,
        /// The other operations that could produce a needed state, but came after `user`.
        later: Vec<OpId>,
    },
    /// The second operation left a state in which the first operation is impossible, and no
    /// operation can have produced a needed state again between the two.
    Undone {
        /// The states that the first operation needs, in words.
        needs: Vec<String>,
        /// The operations that could have produced a needed state, but came before the second
        /// operation.
        earlier: Vec<OpId>,
        /// The operations that could have produced a needed state, but came after the first
        /// operation.
        later: Vec<OpId>,
    },
    /// No order is possible: the impossible operation needs a state that no operation produced.
    NoMaker {
        /// The states that the impossible operation needs, in words; empty if no operation can
        /// produce such a state.
        needs: Vec<String>,
        /// The initial state, in words.
        first: String,
    },
    /// `user` is possible only in certain states, the needed states. Each operation in `used` comes
    /// before `user`, is also possible only in a needed state, and leaves the object in a state
    /// that is not needed. The needed states are not produced often enough for all these
    /// operations, or would not be produced often enough if the claim did not hold.
    UsedUp {
        /// The states that these operations need, in words.
        needs: Vec<String>,
        /// Whether the initial state is one of these states.
        at_first: bool,
        /// The operation that is possible only in a needed state.
        user: OpId,
        /// The other operations before `user` that need one of these states, and after which the
        /// object is in none of them.
        used: Vec<OpId>,
        /// The operations that could produce a needed state, and are not known to come after
        /// `user`.
        makers: Vec<OpId>,
        /// The operations that could produce a needed state, but came after `user`.
        later: Vec<OpId>,
    },
    /// No order is possible: each operation in `used` is possible only in certain states, the
    /// needed states, and leaves the object in a state that is not needed. In every order, the
    /// needed states are produced less often than they are needed.
    UsedTooOften {
        /// The states that these operations need, in words.
        needs: Vec<String>,
        /// Whether the initial state is one of these states.
        at_first: bool,
        /// The operations that need one of these states, and after which the object is in none of
        /// them.
        used: Vec<OpId>,
        /// The operations that could produce a needed state.
        makers: Vec<OpId>,
    },
    /// A count does not satisfy what an operation needs, or would not satisfy it if the claim did
    /// not hold.
    Count(Count),
    /// No order is possible: in every order, the count is not what the last of the `users` needs.
    CountInAll {
        /// The quantity that is counted.
        what: Counted,
        /// The initial number.
        initial: i64,
        /// The bound that each user needs for the count: an upper bound for users that increase the
        /// count, and a lower bound for users that decrease the count.
        needed: i64,
        /// The users: operations that all increase the count, and can take effect only if it is at
        /// most `needed`; or operations that all decrease the count, and can take effect only if it
        /// is at least `needed`.
        users: Vec<OpId>,
        /// Whether the operations in `users` increase the count; otherwise, they decrease it.
        is_more: bool,
        /// The operations that may change the count in the direction opposite to the users.
        others: Vec<OpId>,
    },
}

/// The reason why a count does not satisfy what an operation needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The quantity that is counted.
    pub what: Counted,
    /// The initial count.
    pub initial: i64,
    /// The operation that needs a certain count.
    pub user: OpId,
    /// The count that `user` needs.
    pub needed: i64,
    /// Whether the count would be too small; otherwise it would be too large.
    pub too_little: bool,
    /// The operations that are known to come before `user` and take the count further away from
    /// `needed`.
    pub before: Vec<OpId>,
    /// The operations that may come before `user` and bring the count closer to `needed`.
    pub maybe: Vec<OpId>,
    /// The operations that would bring the count closer to `needed`, but came after `user`.
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
    /// The operation must have taken effect, but it takes effect in no legal order of the core's
    /// operations in which the claims `given` hold.
    Impossible {
        /// The operation.
        op: OpId,
        /// The reason why the operation is impossible.
        reason: Reason,
        /// The claims from which it follows that the operation is impossible.
        given: Vec<Before>,
    },
    /// The operation found nothing, although the object held a value at every moment while the
    /// operation was open. At each of these moments, the number of values that had certainly been
    /// put in was greater than the number of values that earlier calls may have taken out. To show
    /// this, the operation and each of these earlier calls is paired with a put of its own, which
    /// had returned before the paired operation was called.
    NeverEmpty {
        /// The operation that found nothing.
        op: OpId,
        /// The put that is paired with `op`. It had returned before the call of `op`.
        first: OpId,
        /// All operations that may have taken a value out before `op` returned. Each of
        /// them is paired with a put of its own, which had returned before the paired operation was
        /// called.
        pairs: Vec<Before>,
    },
    /// Two operations came in one of two possible orders, and an argument rules out each of the two
    /// orders.
    Cases {
        /// The claim that is assumed in the first case; the second case assumes the reverse.
        assumed: Before,
        /// The argument in the first case.
        yes: Box<Proof<Ret>>,
        /// The argument in the second case.
        no: Box<Proof<Ret>>,
    },
    /// All places of one operation were tried, and none of them leads to a legal order of all
    /// operations.
    NoPlace(NoPlace<Ret>),
}

/// The places that an operation can take among the other operations of a core. None of these places
/// is part of a legal order of all operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPlace<Ret> {
    /// The operation.
    pub op: OpId,
    /// The operations that must have taken effect before this operation, because they returned
    /// before its call. Operations that an enclosing [`Place`] has already placed are omitted.
    pub before: Vec<OpId>,
    /// The other operations that may have taken effect before this operation; all their orders were
    /// tried.
    pub open: Vec<OpId>,
    /// The places where the operation could be inserted, with the state at each place. A state in
    /// which the operation cannot return its recorded result is listed only once.
    pub places: Vec<Place<Ret>>,
    /// The number of places that are not listed.
    pub more: usize,
}

/// A place of an operation in the order of the other operations, with the state there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place<Ret> {
    /// Operations in an order that leads to this state.
    pub order: Vec<OpId>,
    /// The state, in words.
    pub state: String,
    /// The results that the operation may return in this state, without duplicates. Empty if the
    /// operation cannot take effect in this state.
    pub results: Vec<Ret>,
    /// `None` if the recorded result is not among `results`. Otherwise, the reason why another
    /// operation has no place after this one, or `Some(None)` if the reason would take too long to
    /// explain.
    pub then: Option<Option<Box<NoPlace<Ret>>>>,
}

impl<Ret> Argument<Ret> {
    /// Returns the same argument with results of another type.
    pub fn map<Other>(self, mut read: impl FnMut(&Ret) -> Other) -> Argument<Other> {
        self.map_of(&mut |_, result| read(result))
    }

    /// Returns the same argument with results of another type. `read` converts a result, given the
    /// operation that has this result.
    pub(crate) fn map_of<Other>(self, read: &mut dyn FnMut(OpId, &Ret) -> Other) -> Argument<Other> {
        Argument { object: self.object, proof: self.proof.map(read), named: self.named }
    }

    /// Returns whether the argument consists of claims, rather than of a list of all places of an
    /// operation.
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

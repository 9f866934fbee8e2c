//! Why the operations of a core have no order: an argument, step by step.

use crate::history::OpId;

/// Why a [core](super::Core) has no linearization, as claims that follow from each other.
///
/// It is data: [`judge::argument`](crate::judge::argument) makes it and checks it, and
/// [`view::prose`](crate::view::prose) puts it into words. Operations are numbered as in the whole history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument<Ret> {
    /// What the object is, as far as words depend on it.
    pub object: ObjectKind,
    /// The claims.
    pub proof: Proof<Ret>,
    /// The calls that the claims name, in the order of their numbers.
    pub named: Vec<OpId>,
}

/// What an object is, for the words that are used of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ObjectKind {
    /// It holds a value.
    Register,
    /// It counts.
    Counter,
    /// A set, of which one element matters.
    Set,
    /// A map, of which one key matters.
    Map,
    /// First in, first out.
    Queue,
    /// Last in, first out.
    Stack,
    /// The least is out first.
    PriorityQueue,
    /// Whatever is in may be out first.
    Bag,
    /// Free or held.
    Lock,
    /// Free, held by readers or held by a writer.
    ReadWriteLock,
    /// So many permits.
    Semaphore,
    /// Anything else.
    Other,
}

/// Claims, each of which follows from those before it, and why they leave no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof<Ret> {
    /// The claims.
    pub steps: Vec<Step>,
    /// Why there is no order in which they all hold.
    pub end: End<Ret>,
}

/// The claim that one operation took effect before another: if `second` took effect, so did `first`, before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Before {
    /// The earlier one.
    pub first: OpId,
    /// The later one.
    pub second: OpId,
}

/// A claim and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is claimed.
    pub claim: Before,
    /// Why it is so.
    pub ground: Ground,
}

/// What a claim rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ground {
    /// The first returned before the second was called.
    RealTime,
    /// What the object allows: in every legal order of the core's operations in which the claims `given` hold, this one
    /// does, whenever they were called.
    Value {
        /// Why the object allows nothing else.
        reason: Reason,
        /// The claims it follows from: earlier ones, or such as follow from earlier ones because before is transitive.
        given: Vec<Before>,
    },
}

/// Why an object allows no other order, or no order at all.
///
/// Of containers, what is said of an operation's value is said of the one that it put in, took out or saw.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The second took or saw what the first put in.
    Source,
    /// The first saw what the second took out.
    Seen,
    /// The value that the second took or saw was put in behind that of the first: first in, first out.
    FirstInFirstOut {
        /// What put in the value of the first.
        first_in: OpId,
        /// What put in the value of the second.
        second_in: OpId,
    },
    /// What the first put in was taken, or seen in front, before what the second put in: first in, first out.
    FirstOutFirstIn {
        /// What took or saw the value of the first.
        first_out: OpId,
        /// What took or saw the value of the second.
        second_out: OpId,
    },
    /// No order: another value was put in before the one that it took or saw, and nothing took that out.
    InFront {
        /// What put in the value in front.
        put: OpId,
        /// What put in the value that it took or saw.
        own: OpId,
    },
    /// The second found nothing, and what `put` put in before it was taken out by the first.
    Empty {
        /// What put in the value that the first took.
        put: OpId,
    },
    /// The first found nothing, before what the second put in was taken or seen.
    NotYetIn {
        /// What took or saw it.
        taken: OpId,
    },
    /// No order: it found nothing, but what `put` put in was there, and nothing took it out.
    StillIn {
        /// What put in that value.
        put: OpId,
    },
    /// The value that the first took lay on top of the one that the second took or saw: last in, first out.
    OnTop {
        /// What put in the value of the second.
        below: OpId,
        /// What put in the value of the first.
        above: OpId,
    },
    /// No order: the value that `above` put in lay on top of the one that it took or saw, and nothing took it off.
    NotTakenOff {
        /// What put in its own value.
        below: OpId,
        /// What put in the value on top.
        above: OpId,
    },
    /// `top` took or saw what the second put in on top, when the value that the first put in was in too.
    Below {
        /// What took or saw the value on top.
        top: OpId,
        /// What took or saw the value of the first later.
        later: OpId,
    },
    /// The first took a value that goes before the one that the second took or saw, and was in.
    Lesser {
        /// What put in the value of the first.
        put: OpId,
    },
    /// The first took or saw a value, and the one that the second put in goes before it, and was taken or seen later.
    LesserLater {
        /// What took or saw that.
        taken: OpId,
    },
    /// No order: what `put` put in goes before what it took or saw, was in, and nothing took it out.
    LesserStillIn {
        /// What put in the lesser value.
        put: OpId,
    },
    /// No order: a value was taken out more often than it was put in.
    TakenTooOften {
        /// What put it in.
        puts: Vec<OpId>,
        /// What took it out, or saw it if nothing put it in.
        takes: Vec<OpId>,
    },
    /// The second needs a state that only the first brought about.
    OnlyMaker {
        /// The states that it needs, in words.
        needs: Vec<String>,
        /// Others that may bring it about, but came behind the second.
        later: Vec<OpId>,
    },
    /// What the second needs was undone by `undone`, before it: of all that may bring it about, only the first is left.
    MadeAgain {
        /// The states that it needs, in words.
        needs: Vec<String>,
        /// What left another state.
        undone: OpId,
        /// Others that may bring it about, but came before that.
        earlier: Vec<OpId>,
        /// Others that may bring it about, but came behind the second.
        later: Vec<OpId>,
    },
    /// The first left another state than `user` needs, before it, so that the second, which alone may have brought it
    /// about again, came in between.
    Between {
        /// The states that `user` needs, in words.
        needs: Vec<String>,
        /// What needs it.
        user: OpId,
        /// Others that may bring it about, but came before the first.
        earlier: Vec<OpId>,
        /// Others that may bring it about, but came behind `user`.
        later: Vec<OpId>,
    },
    /// The second left another state than the first needs, and nothing brought that about again.
    Undone {
        /// The states that the first needs, in words.
        needs: Vec<String>,
        /// What may have brought it about, but came before the second.
        earlier: Vec<OpId>,
        /// What may have brought it about, but came behind the first.
        later: Vec<OpId>,
    },
    /// No order: it needs a state that nothing brought about.
    NoMaker {
        /// The states that it needs, in words; none if nobody can bring one about.
        needs: Vec<String>,
        /// The first state, in words.
        first: String,
    },
    /// `user` needs a state, others that are before it need and undo it too, and it is not brought about often enough,
    /// unless the one comes before the other.
    UsedUp {
        /// The states that are needed, in words.
        needs: Vec<String>,
        /// Whether it was so at first.
        at_first: bool,
        /// What needs it.
        user: OpId,
        /// The others that need and undo it, and are before it.
        used: Vec<OpId>,
        /// What may bring it about, and is not known to be behind it.
        makers: Vec<OpId>,
        /// What may bring it about, but came behind it.
        later: Vec<OpId>,
    },
    /// No order: more operations need and undo a state than it is brought about, in whichever order they come.
    UsedTooOften {
        /// The states that are needed, in words.
        needs: Vec<String>,
        /// Whether it was so at first.
        at_first: bool,
        /// What needs and undoes it.
        used: Vec<OpId>,
        /// What may bring it about.
        makers: Vec<OpId>,
    },
    /// Without, or with, the one before the other, the number would not be what that needs.
    Count(Count),
    /// No order: in whichever order they come, the number would not be what the last of several needs.
    CountInAll {
        /// What is counted.
        what: Counted,
        /// What it is at first.
        initial: i64,
        /// What they need it to be: at most, if they make it more, or at least, if they make it less.
        needed: i64,
        /// What makes it more, or less, and needs it to be less, or more, before.
        users: Vec<OpId>,
        /// Whether they make it more.
        is_more: bool,
        /// What may make up for it.
        others: Vec<OpId>,
    },
}

/// Why a number is not what an operation needs it to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// What is counted.
    pub what: Counted,
    /// What it is at first.
    pub initial: i64,
    /// What needs it.
    pub user: OpId,
    /// What it needs: this much.
    pub needed: i64,
    /// Whether it would be too little; else it would be too much.
    pub too_little: bool,
    /// The operations that are known to be before it and make that worse.
    pub before: Vec<OpId>,
    /// The operations that may be before it and make that better.
    pub maybe: Vec<OpId>,
    /// The operations that would make it better, but came behind it.
    pub later: Vec<OpId>,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counted {
    /// The permits that are left of a semaphore.
    Permits,
    /// The readers that hold a lock.
    Readers,
    /// The writers that hold a lock.
    Writers,
    /// What a counter says.
    Total,
    /// The values in a container.
    Values,
}

/// Why there is no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End<Ret> {
    /// Each of these came before the next, and the last before the first.
    Circle(Vec<OpId>),
    /// In no legal order of the core's operations in which the claims `given` hold did it take effect; but it did.
    Impossible {
        /// The operation.
        op: OpId,
        /// Why it is impossible.
        reason: Reason,
        /// The claims it follows from.
        given: Vec<Before>,
    },
    /// It found nothing, but at every moment while it was open more values had been put in for sure than calls had begun that
    /// may have taken one out: for each of those, and for itself, another put had returned before its call.
    NeverEmpty {
        /// What found nothing.
        op: OpId,
        /// A put that had returned before its call.
        first: OpId,
        /// All that may have taken a value out before it returned, each with a put of its own that had returned before its
        /// call.
        pairs: Vec<Before>,
    },
    /// One came before the other, or the other way round, and there is an argument for either.
    Cases {
        /// What is assumed in the first case; in the second, the reverse is.
        assumed: Before,
        /// The argument with the assumption.
        yes: Box<Proof<Ret>>,
        /// The argument with the reverse.
        no: Box<Proof<Ret>>,
    },
    /// Wherever it is put, it does not fit: all places were tried.
    NoPlace(NoPlace<Ret>),
}

/// All places of an operation among the others of a core, none of which is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPlace<Ret> {
    /// The operation.
    pub op: OpId,
    /// What must have taken effect before it, because it returned before it was called, or has been placed.
    pub before: Vec<OpId>,
    /// What may have taken effect before it too, and was tried.
    pub open: Vec<OpId>,
    /// The states in which it may take effect, each once.
    pub places: Vec<Place<Ret>>,
    /// How many places are not listed.
    pub more: usize,
}

/// A place of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place<Ret> {
    /// Operations in an order that leads there.
    pub order: Vec<OpId>,
    /// The state there, in words.
    pub state: String,
    /// What the operation may return there, each once; nothing if it cannot take effect.
    pub results: Vec<Ret>,
    /// If what it returned is among that: why something else has no place then. `None` in it if that takes too long to tell.
    pub then: Option<Option<Box<NoPlace<Ret>>>>,
}

impl<Ret> Argument<Ret> {
    /// The same argument with results as another type.
    pub fn map<Other>(self, mut read: impl FnMut(&Ret) -> Other) -> Argument<Other> {
        Argument { object: self.object, proof: self.proof.map(&mut read), named: self.named }
    }

    /// Whether it is made of claims, instead of all places of an operation.
    pub fn is_specific(&self) -> bool {
        !matches!(self.proof.end, End::NoPlace(_))
    }
}

impl<Ret> Proof<Ret> {
    fn map<Other>(self, read: &mut dyn FnMut(&Ret) -> Other) -> Proof<Other> {
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
    fn map<Other>(self, read: &mut dyn FnMut(&Ret) -> Other) -> NoPlace<Other> {
        let Self { op, before, open, places, more } = self;
        let mut mapped = Vec::with_capacity(places.len());
        for Place { order, state, results: before, then } in places {
            let mut results = Vec::with_capacity(before.len());
            for result in &before {
                results.push(read(result));
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

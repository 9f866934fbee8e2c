//! The monitors of containers against the definition, on random small histories, and against each other on large ones.

#[cfg(test)] // What follows is for tests, and may look at everything.
use crate::drive::Random;
use crate::history::{History, OpId};
use crate::judge::{Budget, brute, replay};
use crate::spec::{
    Bag, BagOp, BagRet, Outcomes, Queue, QueueOp, QueueRet, Spec, Stack, StackOp, StackRet, Standard, Taken, blocked,
    outcome,
};

use super::{Answer, Input, NEVER, Span, ValueId};

/// A kind of container, with the specification that it is judged by.
pub(crate) trait Kind {
    type Spec: Spec;
    const NAME: &'static str;
    fn spec(input: &Input) -> Self::Spec;
    fn add(value: ValueId) -> Standard<ValueId>;
    fn remove(taken: Taken<ValueId>) -> Standard<ValueId>;
    /// `None` if it cannot be looked at.
    fn look(taken: Taken<ValueId>) -> Option<Standard<ValueId>>;
    /// Where in `content` (by time of arrival) the value is that is next.
    fn next(content: &[ValueId], rank: &[u32], random: &mut Random) -> usize;
    fn read(what: &Standard<ValueId>) -> (<Self::Spec as Spec>::Op, Option<<Self::Spec as Spec>::Ret>);
}

/// `None` for what nobody knows.
fn known(taken: Taken<ValueId>) -> Option<Option<u32>> {
    match taken {
        Taken::Value(value) => Some(Some(value.0)),
        Taken::Nothing => Some(None),
        Taken::Unknown => None,
    }
}

pub(crate) struct Queues;

impl Kind for Queues {
    type Spec = Queue<u32>;
    const NAME: &'static str = "queue";

    fn spec(_: &Input) -> Queue<u32> {
        Queue::new()
    }

    fn add(value: ValueId) -> Standard<ValueId> {
        Standard::Enqueue(value)
    }

    fn remove(taken: Taken<ValueId>) -> Standard<ValueId> {
        Standard::Dequeue(taken)
    }

    fn look(taken: Taken<ValueId>) -> Option<Standard<ValueId>> {
        Some(Standard::Front(taken))
    }

    fn next(_: &[ValueId], _: &[u32], _: &mut Random) -> usize {
        0
    }

    fn read(what: &Standard<ValueId>) -> (QueueOp<u32>, Option<QueueRet<u32>>) {
        match *what {
            Standard::Enqueue(value) => (QueueOp::Enqueue(value.0), Some(QueueRet::Done)),
            Standard::Dequeue(taken) => (QueueOp::Dequeue, known(taken).map(QueueRet::Value)),
            Standard::Front(taken) => (QueueOp::Peek, known(taken).map(QueueRet::Value)),
            _ => unreachable!("not of a queue"),
        }
    }
}

pub(crate) struct Stacks;

impl Kind for Stacks {
    type Spec = Stack<u32>;
    const NAME: &'static str = "stack";

    fn spec(_: &Input) -> Stack<u32> {
        Stack::new()
    }

    fn add(value: ValueId) -> Standard<ValueId> {
        Standard::Push(value)
    }

    fn remove(taken: Taken<ValueId>) -> Standard<ValueId> {
        Standard::Pop(taken)
    }

    fn look(taken: Taken<ValueId>) -> Option<Standard<ValueId>> {
        Some(Standard::Top(taken))
    }

    fn next(content: &[ValueId], _: &[u32], _: &mut Random) -> usize {
        content.len() - 1
    }

    fn read(what: &Standard<ValueId>) -> (StackOp<u32>, Option<StackRet<u32>>) {
        match *what {
            Standard::Push(value) => (StackOp::Push(value.0), Some(StackRet::Done)),
            Standard::Pop(taken) => (StackOp::Pop, known(taken).map(StackRet::Value)),
            Standard::Top(taken) => (StackOp::Top, known(taken).map(StackRet::Value)),
            _ => unreachable!("not of a stack"),
        }
    }
}

pub(crate) struct Bags;

impl Kind for Bags {
    type Spec = Bag<u32>;
    const NAME: &'static str = "bag";

    fn spec(_: &Input) -> Bag<u32> {
        Bag::new()
    }

    fn add(value: ValueId) -> Standard<ValueId> {
        Standard::Put(value)
    }

    fn remove(taken: Taken<ValueId>) -> Standard<ValueId> {
        Standard::Take(taken)
    }

    fn look(_: Taken<ValueId>) -> Option<Standard<ValueId>> {
        None
    }

    fn next(content: &[ValueId], _: &[u32], random: &mut Random) -> usize {
        random.below(u32::try_from(content.len()).expect("small")) as usize
    }

    fn read(what: &Standard<ValueId>) -> (BagOp<u32>, Option<BagRet<u32>>) {
        match *what {
            Standard::Put(value) => (BagOp::Add(value.0), Some(BagRet::Done)),
            Standard::Take(taken) => (BagOp::RemoveAny, known(taken).map(BagRet::Value)),
            _ => unreachable!("not of a bag"),
        }
    }
}

/// A priority queue: of those with the least rank, any is next.
pub(crate) struct Heap {
    rank: Vec<u32>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum HeapOp {
    Insert(u32),
    DeleteMin,
    Min,
}

impl Spec for Heap {
    type Op = HeapOp;
    type Ret = Option<Option<u32>>;
    type State = Vec<u32>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> Vec<u32> {
        Vec::new()
    }

    fn step(&self, state: &Vec<u32>, op: &HeapOp, recorded: Option<&Self::Ret>) -> Outcomes<Self::Ret, Vec<u32>> {
        if let HeapOp::Insert(value) = op {
            let mut next = state.clone();
            next.push(*value);
            next.sort_unstable();
            return outcome(None, next);
        }
        let Some(least) = state.iter().map(|value| self.rank[*value as usize]).min() else {
            return outcome(Some(None), Vec::new());
        };
        let mut outcomes = blocked();
        for (place, value) in state.iter().enumerate().filter(|(_, value)| self.rank[**value as usize] == least) {
            let result = Some(Some(*value));
            if recorded.is_some_and(|recorded| *recorded != result) {
                continue;
            }
            let mut next = state.clone();
            if *op == HeapOp::DeleteMin {
                next.remove(place);
            }
            outcomes.push((result, next));
        }
        outcomes
    }
}

pub(crate) struct Heaps;

impl Kind for Heaps {
    type Spec = Heap;
    const NAME: &'static str = "priority queue";

    fn spec(input: &Input) -> Heap {
        Heap { rank: input.rank.clone() }
    }

    fn add(value: ValueId) -> Standard<ValueId> {
        Standard::Insert(value)
    }

    fn remove(taken: Taken<ValueId>) -> Standard<ValueId> {
        Standard::DeleteMin(taken)
    }

    fn look(taken: Taken<ValueId>) -> Option<Standard<ValueId>> {
        Some(Standard::Min(taken))
    }

    fn next(content: &[ValueId], rank: &[u32], _: &mut Random) -> usize {
        (0..content.len()).min_by_key(|place| rank[content[*place].index()]).expect("not empty")
    }

    fn read(what: &Standard<ValueId>) -> (HeapOp, Option<Option<Option<u32>>>) {
        match *what {
            Standard::Insert(value) => (HeapOp::Insert(value.0), Some(None)),
            Standard::DeleteMin(taken) => (HeapOp::DeleteMin, known(taken).map(Some)),
            Standard::Min(taken) => (HeapOp::Min, known(taken).map(Some)),
            _ => unreachable!("not of a priority queue"),
        }
    }
}

/// The shape of made-up histories.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// How many operations there are at most.
    pub(crate) most: u32,
    pub(crate) clients: u32,
    /// How many different values there are; 0 if all are distinct.
    pub(crate) values: u32,
    /// Of 100 operations, how many look.
    pub(crate) looks: u32,
    /// Of 100 operations that do not look, how many add.
    pub(crate) adds: u32,
    /// Of 100 operations, how many never return.
    pub(crate) pending: u32,
    /// Whether a remove may find nothing.
    pub(crate) empties: bool,
    /// Whether the history may be cut off.
    pub(crate) cuts: bool,
    /// Of 1,000 removes and looks, how many find a value that is not next, or nothing though something is there.
    pub(crate) wrong: u32,
    /// How often something is spoilt, at most.
    pub(crate) spoils: u32,
}

impl Shape {
    pub(crate) const SMALL: Self = Self {
        most: 9,
        clients: 4,
        values: 0,
        looks: 12,
        adds: 45,
        pending: 6,
        empties: true,
        cuts: true,
        wrong: 0,
        spoils: 5,
    };
}

/// An operation while it is made up.
#[derive(Clone, Copy)]
struct Made {
    what: Standard<ValueId>,
    call: u32,
    ret: u32,
}

/// A history that a sequential container would make.
pub(crate) fn run<K: Kind>(shape: &Shape, operations: u32, random: &mut Random) -> Input {
    #[derive(Clone, Copy)]
    enum Phase {
        Idle,
        Called(usize),
        Done(usize),
    }
    let most_values = if shape.values == 0 { operations } else { shape.values };
    let rank: Vec<u32> = (0..most_values.max(1)).map(|_| random.below(most_values.max(1))).collect();
    let mut clients = vec![Phase::Idle; shape.clients as usize];
    let mut made: Vec<Made> = Vec::new();
    let mut content: std::collections::VecDeque<ValueId> = std::collections::VecDeque::new();
    let (mut events, mut fresh) = (0u32, 0u32);
    let (mut working, mut waits) = (0, 0);
    while made.len() < operations as usize || working > 0 {
        let client = random.below(shape.clients) as usize;
        match clients[client] {
            Phase::Idle if made.len() < operations as usize => {
                let what = if random.below(100) < shape.looks && K::look(Taken::Unknown).is_some() {
                    K::look(Taken::Unknown).expect("it can be looked at")
                } else if random.below(100) < shape.adds {
                    let value = if shape.values == 0 { fresh } else { random.below(shape.values) };
                    fresh += 1;
                    K::add(ValueId(value))
                } else {
                    K::remove(Taken::Unknown)
                };
                clients[client] = Phase::Called(made.len());
                working += 1;
                waits = 0;
                made.push(Made { what, call: events, ret: NEVER });
                events += 1;
            }
            Phase::Idle => {}
            Phase::Called(index) => {
                clients[client] = Phase::Done(index);
                let crashes = random.below(100) < shape.pending;
                if crashes {
                    clients[client] = Phase::Idle;
                    working -= 1;
                    if random.chance(1, 2) {
                        continue;
                    }
                }
                let what = &mut made[index].what;
                let is_add = K::read(what).1.is_some();
                if is_add {
                    content.push_back(added(what));
                    continue;
                }
                let is_remove = *what == K::remove(Taken::Unknown);
                let is_wrong = random.below(1000) < shape.wrong;
                if content.is_empty() || (is_wrong && shape.empties && random.chance(1, 4)) {
                    if shape.empties {
                        if !crashes {
                            *what = K::remove(Taken::Nothing);
                            if !is_remove {
                                *what = K::look(Taken::Nothing).expect("it looked");
                            }
                        }
                    } else if !crashes {
                        clients[client] = Phase::Called(index);
                        // It waits; after a while, for ever.
                        waits += 1;
                        if waits > 64 * shape.clients {
                            clients[client] = Phase::Idle;
                            working -= 1;
                        }
                    }
                    continue;
                }
                let place = if is_wrong {
                    random.below(u32::try_from(content.len()).expect("small")) as usize
                } else {
                    K::next(content.make_contiguous(), &rank, random)
                };
                let value = content[place];
                if is_remove {
                    content.remove(place);
                }
                if !crashes {
                    *what = if is_remove {
                        K::remove(Taken::Value(value))
                    } else {
                        K::look(Taken::Value(value)).expect("it looked")
                    };
                }
            }
            Phase::Done(index) => {
                made[index].ret = events;
                events += 1;
                clients[client] = Phase::Idle;
                working -= 1;
            }
        }
    }
    let spans = made.iter().map(|made| Span { what: made.what, call: made.call, ret: made.ret }).collect();
    Input { spans, events, values: most_values.max(1), initial: None, rank }
}

fn added(what: &Standard<ValueId>) -> ValueId {
    match *what {
        Standard::Enqueue(value) | Standard::Push(value) | Standard::Insert(value) | Standard::Put(value) => value,
        _ => unreachable!("not an add"),
    }
}

/// What an operation that is not an add found.
fn found(what: &Standard<ValueId>) -> Option<(bool, Taken<ValueId>)> {
    match *what {
        Standard::Dequeue(taken) | Standard::Pop(taken) | Standard::DeleteMin(taken) | Standard::Take(taken) => {
            Some((true, taken))
        }
        Standard::Front(taken) | Standard::Top(taken) | Standard::Min(taken) => Some((false, taken)),
        _ => None,
    }
}

/// The same with something wrong, perhaps.
pub(crate) fn spoil<K: Kind>(input: &mut Input, shape: &Shape, random: &mut Random) {
    let count = u32::try_from(input.spans.len()).expect("small");
    if count == 0 {
        return;
    }
    if random.chance(1, 2) {
        // Two neighbouring events change places.
        let from = random.below(input.events);
        let to = (from + 1) % input.events;
        let at = |position: u32| {
            input.spans.iter().position(|span| span.call == position || span.ret == position).expect("an event")
        };
        let (first, second) = (at(from), at(to));
        if first != second {
            for (index, old, new) in [(first, from, to), (second, to, from)] {
                let span = &mut input.spans[index];
                if span.call == old {
                    span.call = new;
                } else {
                    span.ret = new;
                }
            }
            for span in &mut input.spans {
                if span.ret < span.call {
                    (span.call, span.ret) = (span.ret, span.call);
                }
            }
            input.spans.sort_by_key(|span| span.call);
        }
        return;
    }
    let victim = random.below(count) as usize;
    let Some((is_remove, taken)) = found(&input.spans[victim].what) else { return };
    if taken == Taken::Unknown {
        return;
    }
    let other = random.below(count) as usize;
    let result = match found(&input.spans[other].what) {
        Some((_, Taken::Unknown)) => return,
        Some((_, taken)) if taken != Taken::Nothing || shape.empties => taken,
        Some(_) => return,
        None if random.chance(1, 4) && shape.empties => Taken::Nothing,
        None => Taken::Value(added(&input.spans[other].what)),
    };
    let make = |is_remove: bool, taken| if is_remove { K::remove(taken) } else { K::look(taken).expect("it looks") };
    if let Some((other_is_remove, _)) = found(&input.spans[other].what) {
        input.spans[other].what = make(other_is_remove, taken);
    }
    input.spans[victim].what = make(is_remove, result);
}

/// The first events of a history; what has not returned by then need not have happened.
pub(crate) fn cut_off(input: &mut Input, events: u32) {
    input.spans.retain(|span| span.call < events);
    for span in &mut input.spans {
        if span.ret != NEVER && span.ret >= events {
            span.ret = NEVER;
        }
    }
    input.events = events;
}

/// A small history, good or bad.
pub(crate) fn small<K: Kind>(shape: &Shape, random: &mut Random) -> Input {
    let mut shape = *shape;
    shape.clients = 2 + random.below(shape.clients - 1);
    if random.chance(1, 2) {
        shape.pending = 0;
    }
    if random.chance(1, 2) {
        shape.looks = 0;
    }
    if random.chance(1, 4) {
        shape.empties = false;
    }
    shape.wrong = if random.chance(1, 2) { 500 } else { 0 };
    let operations = 1 + random.below(shape.most);
    let operations = operations.max(1 + random.below(shape.most));
    let mut input = run::<K>(&shape, operations, random);
    for _ in 0..random.below(shape.spoils + 1) {
        spoil::<K>(&mut input, &shape, random);
    }
    if shape.cuts && random.chance(1, 6) && input.events > 1 {
        let events = 1 + random.below(input.events);
        cut_off(&mut input, events);
    }
    // Observers that never returned are not given to monitors.
    let observes =
        |span: &Span| matches!(found(&span.what), Some((false, _) | (true, Taken::Nothing))) && span.ret == NEVER;
    input.spans.retain(|span| !observes(span));
    input
}

/// The history that a specification judges. Operation `i` is span `i`.
pub(crate) fn history<K: Kind>(input: &Input) -> History<<K::Spec as Spec>::Op, <K::Spec as Spec>::Ret> {
    let mut at = vec![None; input.events as usize];
    for (index, span) in input.spans.iter().enumerate() {
        at[span.call as usize] = Some((index, true));
        if span.ret != NEVER {
            at[span.ret as usize] = Some((index, false));
        }
    }
    let mut builder = History::builder();
    let mut events = 0;
    for (index, is_call) in at.into_iter().flatten() {
        let process = u32::try_from(index).expect("small");
        let (op, result) = K::read(&input.spans[index].what);
        events += 1;
        if is_call {
            builder.call(process, op).expect("each operation has its own process");
        } else {
            builder.ret(process, result.expect("what returned is known")).expect("it was called");
        }
    }
    // What never returned but is known returns behind the end, which is then cut off.
    for (index, span) in (0u32..).zip(&input.spans).filter(|(_, span)| span.ret == NEVER) {
        if let Some(result) = K::read(&span.what).1 {
            builder.ret(index, result).expect("it was called");
        }
    }
    builder.finish().truncate(events)
}

/// Whether a small history is linearizable, by the definition.
fn is_linearizable<K: Kind>(input: &Input) -> bool {
    brute::check(&K::spec(input), &history::<K>(input), &Budget::unlimited()).verdict.is_accepted()
}

/// Checks a linearization against the specification.
pub(crate) fn check_witness<K: Kind>(input: &Input, order: &[u32]) {
    let order: Vec<OpId> = order.iter().map(|op| OpId(*op)).collect();
    if let Err(wrong) = replay(&K::spec(input), &history::<K>(input), &order) {
        panic!("{}: {wrong}\norder {order:?} of\n{input:#?}", K::NAME);
    }
}

/// The same history of only some operations.
pub(crate) fn restricted(input: &Input, keep: impl Fn(u32) -> bool) -> Input {
    let spans = (0..).zip(&input.spans).filter(|(op, _)| keep(*op)).map(|(_, span)| *span).collect();
    Input { spans, ..input.clone() }
}

fn value_of(span: &Span) -> Option<ValueId> {
    match found(&span.what) {
        Some((_, Taken::Value(value))) => Some(value),
        Some(_) => None,
        None => Some(added(&span.what)),
    }
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) accepted: u32,
    pub(crate) rejected: u32,
    pub(crate) refused: u32,
    pub(crate) with_pending: u32,
    /// How many conflicts had operations of different values, or of none.
    pub(crate) of_several: u32,
    /// How many operations the conflicts had, together.
    pub(crate) conflict_sizes: usize,
}

/// Judges so many small histories; the answers must be right.
pub(crate) fn compare<K: Kind>(histories: u32, seed: u64, shape: &Shape, judge: impl Fn(&Input) -> Answer) -> Tally {
    let mut tally = Tally::default();
    let mut random = Random::new(seed);
    for number in 0..histories {
        let input = small::<K>(shape, &mut random);
        let fail = |what: &str| panic!("{} {number} of seed {seed}: {what}\n{input:#?}\n{:?}", K::NAME, judge(&input));
        tally.with_pending += u32::from(input.spans.iter().any(|span| span.ret == NEVER));
        match judge(&input) {
            Answer::Refused(_) => tally.refused += 1,
            Answer::Accepted(order) => {
                tally.accepted += 1;
                check_witness::<K>(&input, &order);
            }
            Answer::Rejected(conflict) => {
                tally.rejected += 1;
                tally.conflict_sizes += conflict.len();
                if is_linearizable::<K>(&input) {
                    fail("it is linearizable");
                }
                if !conflict.is_sorted_by(|a, b| a < b) {
                    fail("the conflict is not in order");
                }
                if conflict.len() < input.spans.len()
                    && is_linearizable::<K>(&restricted(&input, |op| conflict.contains(&op)))
                {
                    fail("the conflict alone is linearizable");
                }
                let values: Vec<ValueId> =
                    conflict.iter().filter_map(|op| value_of(&input.spans[*op as usize])).collect();
                let is_simple = values.len() == conflict.len() && values.iter().all(|value| *value == values[0]);
                tally.of_several += u32::from(!is_simple);
                let of_values = |op: u32| {
                    conflict.contains(&op)
                        || value_of(&input.spans[op as usize]).is_some_and(|value| values.contains(&value))
                };
                if is_linearizable::<K>(&restricted(&input, of_values)) {
                    fail("all operations of the conflict's values are linearizable");
                }
            }
        }
    }
    tally
}

mod tests {
    use super::super::{bag, lockstep, priority_queue, queue, stack};
    use super::*;
    use crate::judge::queue_lowe;

    /// A queue of operations with these times, each in its own gap.
    fn timed(operations: &[(Standard<ValueId>, f64, f64)]) -> Input {
        let mut times: Vec<f64> = operations.iter().flat_map(|(_, call, ret)| [*call, *ret]).collect();
        times.sort_by(f64::total_cmp);
        let at = |time: f64| u32::try_from(times.partition_point(|other| *other < time)).expect("few");
        let mut spans: Vec<Span> =
            operations.iter().map(|(what, call, ret)| Span { what: *what, call: at(*call), ret: at(*ret) }).collect();
        spans.sort_by_key(|span| span.call);
        let events = u32::try_from(times.len()).expect("few");
        Input { spans, events, values: 3, initial: None, rank: Vec::new() }
    }

    /// Lowe's definition 11: without it the dequeue that ends first is taken, and the history wrongly rejected. Random
    /// histories seldom show that.
    #[test]
    fn a_conflicting_unsuccessful_dequeue_is_seen() {
        use Standard::{Dequeue, Enqueue};
        let [zero, one] = [ValueId(0), ValueId(1)];
        let input = timed(&[
            (Enqueue(zero), 0.0, 1.0),
            (Dequeue(Taken::Value(zero)), 0.5, 20.0),
            (Dequeue(Taken::Nothing), 1.5, 5.5),
            (Enqueue(one), 2.0, 4.0),
            (Dequeue(Taken::Value(zero)), 5.0, 15.0),
            (Dequeue(Taken::Value(one)), 6.0, 9.0),
            (Enqueue(zero), 6.5, 8.0),
        ]);
        for answer in [lowe(&input), search(&input)] {
            let Answer::Accepted(order) = answer else { panic!("it is linearizable: {answer:?}") };
            check_witness::<Queues>(&input, &order);
        }
    }

    /// With peeks there are cycles of three values without any of two.
    #[test]
    fn three_values_are_forced_in_a_cycle() {
        use Standard::{Dequeue, Enqueue, Front};
        let [a, b, c] = [ValueId(0), ValueId(1), ValueId(2)];
        let input = timed(&[
            (Enqueue(c), -10.0, 0.0),
            (Dequeue(Taken::Value(c)), 40.0, 90.0),
            (Enqueue(a), 5.0, 41.0),
            (Dequeue(Taken::Value(a)), 10.0, 50.0),
            (Enqueue(b), -9.0, 20.0),
            (Front(Taken::Value(b)), 21.0, 30.0),
            (Dequeue(Taken::Value(b)), 70.0, 80.0),
        ]);
        assert_eq!(queue::judge(&input), Answer::Rejected((0..7).collect()));
        for left_out in [a, b, c] {
            let pair = restricted(&input, |op| value_of(&input.spans[op as usize]) != Some(left_out));
            assert!(matches!(queue::judge(&pair), Answer::Accepted(_)), "two values are no cycle");
        }
    }

    const HISTORIES: u32 = 20_000;
    const SOAK: u32 = 500_000;

    /// Compares, tells what came out, and wants both verdicts to be common.
    #[expect(clippy::print_stdout, reason = "counts, for whoever asks with --nocapture")]
    fn check<K: Kind>(name: &str, histories: u32, seed: u64, shape: &Shape, judge: impl Fn(&Input) -> Answer) -> Tally {
        let tally = compare::<K>(histories, seed, shape, judge);
        println!("{name}: {tally:?}");
        let judged = tally.accepted + tally.rejected;
        assert!(tally.accepted * 10 >= judged && tally.rejected * 10 >= judged, "one verdict is rare: {tally:?}");
        tally
    }

    const DUPLICATES: Shape = Shape { values: 3, looks: 0, ..Shape::SMALL };

    fn search(input: &Input) -> Answer {
        lockstep::judge(input, &mut || true).expect("nobody stops it")
    }

    fn lowe(input: &Input) -> Answer {
        queue_lowe::judge(input, &mut || true).0.expect("nobody stops it")
    }

    fn queues(histories: u32, seed: u64) {
        let tally = check::<Queues>("queue", histories, seed, &Shape::SMALL, queue::judge);
        assert_eq!(tally.refused, 0, "small histories are all judged");
    }

    fn searched(histories: u32, seed: u64) {
        let tally = check::<Queues>("lockstep, duplicates", histories, seed, &DUPLICATES, search);
        assert_eq!(tally.refused, 0, "small histories are all judged");
        let distinct = Shape { looks: 0, ..Shape::SMALL };
        check::<Queues>("lockstep, distinct", histories / 2, seed, &distinct, search);
    }

    fn by_lowe(histories: u32, seed: u64) {
        let complete = Shape { pending: 0, cuts: false, ..DUPLICATES };
        let tally = check::<Queues>("Lowe", histories, seed, &complete, lowe);
        assert!(tally.refused * 5 < histories, "only what never returned is refused: {tally:?}");
    }

    fn stacks(histories: u32, seed: u64) {
        let tally = check::<Stacks>("stack", histories, seed, &Shape::SMALL, stack::judge);
        assert_eq!(tally.refused, 0, "small histories are all judged");
        let by_trees = |input: &Input| stack::judge_with(input, 0);
        let without_tops = Shape { looks: 0, ..Shape::SMALL };
        check::<Stacks>("stack, by trees", histories / 2, seed + 1, &without_tops, by_trees);
    }

    fn priority_queues(histories: u32, seed: u64) {
        let tally = check::<Heaps>("priority queue", histories, seed, &Shape::SMALL, priority_queue::judge);
        assert_eq!(tally.refused, 0, "small histories are all judged");
    }

    fn bags(histories: u32, seed: u64) {
        let tally = check::<Bags>("bag, distinct", histories, seed, &Shape::SMALL, bag::judge);
        assert_eq!(tally.refused, 0, "small histories are all judged");
        let never_empty = Shape { empties: false, spoils: 16, ..DUPLICATES };
        let tally = check::<Bags>("bag, never empty", histories, seed, &never_empty, bag::judge);
        assert_eq!(tally.refused, 0, "they are counted");
        let tally = check::<Bags>("bag, duplicates", histories / 2, seed, &DUPLICATES, bag::judge);
        assert!(tally.refused > 0, "duplicates and empty results together are refused");
    }

    /// A large history; a wrong one in half of the cases.
    fn large<K: Kind>(values: u32, random: &mut Random) -> Input {
        let wrong = if random.chance(1, 2) { 1 } else { 0 };
        let adds = 30 + random.below(40);
        let clients = 2 + random.below(8);
        let shape = Shape { clients, values, looks: 0, adds, pending: 0, wrong, ..Shape::SMALL };
        run::<K>(&shape, 1000 + random.below(2000), random)
    }

    /// The answer of a search, if it does not take too long.
    fn limited(judge: impl FnOnce(&mut dyn FnMut() -> bool) -> Option<Answer>) -> Option<Answer> {
        let mut left = 100_000u32;
        let mut go_on = || {
            left = left.saturating_sub(1);
            left > 0
        };
        judge(&mut go_on)
    }

    fn is_accepted<K: Kind>(input: &Input, answer: &Answer) -> bool {
        match answer {
            Answer::Accepted(order) => {
                check_witness::<K>(input, order);
                true
            }
            Answer::Rejected(_) => false,
            Answer::Refused(why) => panic!("{}: {why}", K::NAME),
        }
    }

    #[test]
    fn large_queues_are_judged_alike() {
        let mut random = Random::new(7);
        let (mut verdicts, mut undecided) = ([0; 2], 0);
        for number in 0..120 {
            let values = if number % 2 == 0 { 0 } else { 5 + random.below(20) };
            let input = large::<Queues>(values, &mut random);
            let mut answers = vec![
                limited(|go_on| lockstep::judge(&input, go_on)),
                limited(|go_on| queue_lowe::judge(&input, go_on).0),
            ];
            undecided += answers.iter().filter(|answer| answer.is_none()).count();
            if values == 0 {
                answers.push(Some(queue::judge(&input)));
            }
            let accepted: Vec<bool> = answers.iter().flatten().map(|a| is_accepted::<Queues>(&input, a)).collect();
            assert!(accepted.iter().all(|other| *other == accepted[0]), "history {number}: {accepted:?}");
            if let Some(accepted) = accepted.first() {
                verdicts[usize::from(*accepted)] += 1;
            }
        }
        assert!(verdicts.iter().all(|count| *count >= 12), "both verdicts: {verdicts:?}");
        assert!(undecided <= 12, "{undecided} searches took too long");
    }

    #[test]
    fn large_stacks_are_judged_alike() {
        let mut random = Random::new(8);
        let mut verdicts = [0; 2];
        for _ in 0..120 {
            let input = large::<Stacks>(0, &mut random);
            // By trees, by what comes first, by watching.
            let accepted = [0, 4, 1 << 20].map(|p| is_accepted::<Stacks>(&input, &stack::judge_with(&input, p)));
            assert!(accepted == [accepted[0]; 3], "{accepted:?}");
            let [accepted, ..] = accepted;
            verdicts[usize::from(accepted)] += 1;
        }
        assert!(verdicts.iter().all(|count| *count >= 12), "both verdicts: {verdicts:?}");
    }

    /// Something to be measured.
    type Work<'a> = Box<dyn FnMut() + 'a>;

    /// What large histories take, in units of sorting two million numbers. Means nothing without `--release`.
    #[test]
    #[ignore = "measures"]
    #[expect(clippy::print_stdout, reason = "it measures")]
    fn measure() {
        use std::time::Instant;
        let started = Instant::now();
        // The time that this thread ran, where the system tells: other work does not count.
        let now = || {
            let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
            let ran = text.split(' ').next().and_then(|text| text.parse::<f64>().ok());
            ran.map_or_else(|| started.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
        };
        let mut random = Random::new(1);
        let shuffled: Vec<u64> = (0..2_000_000).map(|_| random.bits()).collect();
        let best = |mut work: Work<'_>| {
            let times = (0..3).map(|_| {
                let before = now();
                work();
                now() - before
            });
            times.fold(f64::INFINITY, f64::min)
        };
        let unit = best(Box::new(|| {
            let mut numbers = shuffled.clone();
            numbers.sort_unstable();
            std::hint::black_box(numbers);
        }));
        println!("sorting: {:.1} ms", unit * 1e3);
        fn one<K: Kind>(
            name: &str,
            judge: fn(&Input) -> Answer,
            unit: f64,
            random: &mut Random,
            best: &dyn Fn(Work<'_>) -> f64,
        ) {
            for (looks, clients) in [(0, 8), (0, 16), (10, 16)] {
                for wrong in [false, true] {
                    let mut per_operation = [0.0; 2];
                    for (slot, operations) in per_operation.iter_mut().zip([10_000, 1_000_000]) {
                        let shape = Shape { clients, looks, adds: 50, pending: 0, ..Shape::SMALL };
                        let mut input = run::<K>(&shape, operations, random);
                        if wrong {
                            input = plant(&input, judge);
                        }
                        // The clock is coarse: what is short is repeated.
                        let time = best(Box::new(|| {
                            for _ in 0..1_000_000 / operations {
                                let answer = judge(&input);
                                assert_eq!(matches!(answer, Answer::Rejected(_)), wrong);
                            }
                        }));
                        *slot = time / 1e6;
                    }
                    let [few, many] = per_operation;
                    println!(
                        "{name}, looks {looks} %, {clients} clients, wrong {wrong}: {:.2} sorts, {:.0} ns each, {:.2} times \
                         that of 10,000",
                        many * 1e6 / unit,
                        many * 1e9,
                        many / few
                    );
                }
            }
        }
        one::<Queues>(Queues::NAME, queue::judge, unit, &mut random, &best);
        one::<Heaps>(Heaps::NAME, priority_queue::judge, unit, &mut random, &best);
        one::<Stacks>(Stacks::NAME, stack::judge, unit, &mut random, &best);
        let by_trees = |input: &Input| stack::judge_with(input, 0);
        one::<Stacks>("stack, by trees", by_trees, unit, &mut random, &best);
        one::<Bags>(Bags::NAME, bag::judge, unit, &mut random, &best);
        for clients in [4, 12] {
            let shape = Shape { clients, values: 10, looks: 0, adds: 50, pending: 0, ..Shape::SMALL };
            let input = run::<Queues>(&shape, 20_000, &mut random);
            let ten_times = |judge: fn(&Input) -> Answer| {
                best(Box::new(|| (0..10).for_each(|_| assert!(matches!(judge(&input), Answer::Accepted(_))))))
            };
            let [lockstep, by_lowe] = [ten_times(search), ten_times(lowe)].map(|time| time * 1e2);
            println!(
                "10 values, 20,000 operations, {clients} clients: lockstep {lockstep:.1} ms, Lowe {by_lowe:.1} ms"
            );
        }
    }

    /// Two removes somewhere in the second half exchange what they found, so that the history is wrong, though each value
    /// alone is not. Where nothing of the kind is wrong, a value is found twice.
    fn plant(input: &Input, judge: fn(&Input) -> Answer) -> Input {
        let mut returned = vec![NEVER; input.values as usize];
        for span in input.spans.iter().filter(|span| found(&span.what).is_none()) {
            returned[added(&span.what).index()] = span.ret;
        }
        let middle = input.spans.len() / 2;
        let is_remove = |index: &usize| matches!(found(&input.spans[*index].what), Some((true, Taken::Value(_))));
        let removes: Vec<usize> = (middle..input.spans.len()).filter(is_remove).collect();
        let mut wrong = input.clone();
        let mut tries = 0;
        for pair in removes.windows(40) {
            if tries == 10 {
                break;
            }
            let (first, second) = (pair[0], pair[39]);
            let was_there =
                value_of(&input.spans[second]).is_some_and(|value| returned[value.index()] < input.spans[first].call);
            if was_there && input.spans[first].ret < input.spans[second].call {
                let what = [input.spans[first].what, input.spans[second].what];
                [wrong.spans[second].what, wrong.spans[first].what] = what;
                tries += 1;
                if matches!(judge(&wrong), Answer::Rejected(_)) {
                    return wrong;
                }
                [wrong.spans[first].what, wrong.spans[second].what] = what;
            }
        }
        wrong.spans[removes[1]].what = wrong.spans[removes[0]].what;
        wrong
    }

    #[test]
    fn queues_agree_with_the_definition() {
        queues(HISTORIES, 1);
    }

    #[test]
    fn lockstep_search_agrees_with_the_definition() {
        searched(HISTORIES, 2);
    }

    #[test]
    fn lowes_algorithm_agrees_with_the_definition() {
        by_lowe(HISTORIES, 3);
    }

    #[test]
    fn stacks_agree_with_the_definition() {
        stacks(HISTORIES, 4);
    }

    #[test]
    fn priority_queues_agree_with_the_definition() {
        priority_queues(HISTORIES, 5);
    }

    #[test]
    fn bags_agree_with_the_definition() {
        bags(HISTORIES, 6);
    }

    #[test]
    #[ignore = "long: half a million histories for each monitor"]
    fn containers_agree_with_the_definition_soak() {
        for (number, run) in (0..).zip([queues, searched, by_lowe, stacks, priority_queues, bags]) {
            run(SOAK, 100 + 10 * number);
        }
    }
}

//! The names of the specifications, and the operations of each.

use super::families::notation::Notation;
use super::families::sync::CombiningBarrier;
use crate::history::Value;
use crate::spec::interval::Signal;
use crate::spec::sync::{
    Abc, Barrier, Broadcast, Channel, CloseableChannel, CounterChannel, EnrollableBarrier, Exchanger, FilterChannel,
    MenWomen, OneFamily, TerminatingQueue, TerminatingQueues, TimeoutChannel, TimeoutExchanger, TwoFamilies,
};
use crate::spec::{
    Array, Bag, BoundedQueue, CasRegister, Counter, Deque, FetchAdd, Kv, Log, Map, MultiRegister, Multiset, Mutex,
    OnceCell, PriorityQueue, Queue, Register, RwLock, Semaphore, Set, Stack, StackHeights,
};

/// A named specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecInfo {
    /// The name, such as `queue`.
    pub name: &'static str,
    /// The notation of the parameter after the name, such as `[:init]` if it is optional, or `:N` if it is required;
    /// empty if there is no parameter.
    pub parameter: &'static str,
    /// A summary in one line.
    pub summary: &'static str,
    /// The operations.
    pub operations: &'static [OperationInfo],
}

/// An operation of a named specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationInfo {
    /// The name, such as `enqueue`.
    pub name: &'static str,
    /// Other names that are accepted. Every name may also start with `:`, contain `_` instead of
    /// `-`, and use upper case.
    pub aliases: &'static [&'static str],
    /// The meaning of the call's `value`.
    pub value: &'static str,
    /// The meaning of the return's result.
    pub result: &'static str,
}

impl SpecInfo {
    /// Returns the entry of a specification whose operations have the notation of `N`.
    const fn of<N: Notation>(name: &'static str, summary: &'static str) -> Self {
        Self { name, parameter: "", summary, operations: N::OPERATIONS }
    }

    const fn parameter(self, parameter: &'static str) -> Self {
        Self { parameter, ..self }
    }

    /// Returns the operation that a file calls `f`.
    ///
    /// ```
    /// let queue = trueline::registry::SPECS.iter().find(|spec| spec.name == "queue").unwrap();
    /// assert_eq!(queue.operation(":enq").unwrap().name, "enqueue");
    /// ```
    pub fn operation(&self, f: &str) -> Option<&'static OperationInfo> {
        if let Some(operation) = self.operations.iter().find(|operation| operation.name == f) {
            return Some(operation);
        }
        let f = f.strip_prefix(':').unwrap_or(f);
        let same = |name: &str| {
            name.len() == f.len()
                && name.bytes().zip(f.bytes()).all(|(name, f)| {
                    let f = if f == b'_' { b'-' } else { f.to_ascii_lowercase() };
                    name == f
                })
        };
        self.operations.iter().find(|operation| same(operation.name) || operation.aliases.iter().any(|name| same(name)))
    }
}

/// All named specifications.
pub const SPECS: &[SpecInfo] = &[
    SpecInfo::of::<Register<Value>>("register", "holds one value; initially `init`, or null").parameter("[:init]"),
    SpecInfo::of::<CasRegister<Value>>("cas-register", "a register with compare-and-set").parameter("[:init]"),
    SpecInfo::of::<MultiRegister<Value, Value>>(
        "multi-register",
        "registers by key that transactions read and write together; partitioned by key if each transaction uses only \
         one key",
    )
    .parameter("[:init]"),
    SpecInfo::of::<Array<Value>>("array", "registers by index, starting at 0; partitioned by index")
        .parameter("[:init]"),
    SpecInfo::of::<OnceCell<Value>>("once-cell", "keeps the first value that is stored; initially empty"),
    SpecInfo::of::<Counter>(
        "counter",
        "a 64-bit number to add to and subtract from; initially `init`, or 0; a history whose sums might overflow is \
         refused",
    )
    .parameter("[:init]"),
    SpecInfo::of::<FetchAdd>(
        "fetch-add",
        "a counter whose operations return its previous value; initially `init`, or 0; a history whose sums might \
         overflow is refused",
    )
    .parameter("[:init]"),
    SpecInfo::of::<Set<Value>>("set", "a set of values; partitioned by value if size and clear are not called"),
    SpecInfo::of::<Multiset<Value>>(
        "multiset",
        "a set that may contain an element several times; partitioned by element",
    ),
    SpecInfo::of::<Map<Value, Value>>(
        "map",
        "values by key, initially empty; partitioned by key if size and clear are not called",
    ),
    SpecInfo::of::<Kv<Value>>("kv", "strings by key, initially \"\"; partitioned by key"),
    SpecInfo::of::<Queue<Value>>("queue", "first in, first out; unbounded, initially empty"),
    SpecInfo::of::<BoundedQueue<Value>>("bounded-queue", "a queue with room for N elements").parameter(":N"),
    SpecInfo::of::<Stack<Value>>("stack", "last in, first out; unbounded, initially empty"),
    SpecInfo::of::<StackHeights<Value>>("stack-heights", "a stack whose operations return its previous height"),
    SpecInfo::of::<Deque<Value>>("deque", "a double-ended queue; unbounded, initially empty"),
    SpecInfo::of::<PriorityQueue<Value>>(
        "priority-queue",
        "smallest first: numbers by size, strings alphabetically, and lists, such as [priority element], by the first \
         items that differ",
    ),
    SpecInfo::of::<Log<Value>>("log", "a list that is only ever appended to; initially empty"),
    SpecInfo::of::<Mutex>("mutex", "a lock; `mutex:owned` may be released only by the process that acquired it")
        .parameter("[:owned]"),
    SpecInfo::of::<RwLock>("rwlock", "a lock that several readers or one writer may hold"),
    SpecInfo::of::<Semaphore>(
        "semaphore",
        "N permits to take and give back; giving back more than were taken adds permits",
    )
    .parameter(":N"),
    SpecInfo::of::<Bag<Value>>("bag", "a multiset whose remove-any takes any element; initially empty"),
    SpecInfo::of::<Queue<Value>>(
        "quasi-queue",
        "a queue out of order by at most K places, judged by quasi linearizability; `--factor` overrides K",
    )
    .parameter(":K"),
    SpecInfo::of::<Stack<Value>>(
        "quasi-stack",
        "a stack out of order by at most K places, judged by quasi linearizability; `--factor` overrides K",
    )
    .parameter(":K"),
    SpecInfo::of::<PriorityQueue<Value>>(
        "quasi-priority-queue",
        "a priority queue out of order by at most K places, judged by quasi linearizability; `--factor` overrides K",
    )
    .parameter(":K"),
    SpecInfo::of::<Queue<Value>>(
        "k-fifo",
        "returns one of its K+1 oldest elements, and passes over the oldest at most K times; with `:empty`, it may \
         report empty while it has up to K elements",
    )
    .parameter(":K[:empty]"),
    SpecInfo::of::<Queue<Value>>(
        "out-of-order-queue",
        "returns one of its K+1 oldest elements; with `:empty`, it may report empty while it has up to K elements",
    )
    .parameter(":K[:empty]"),
    SpecInfo::of::<Queue<Value>>(
        "displacement-queue",
        "returns each element at most K places before or after its place in insertion order",
    )
    .parameter(":K"),
    SpecInfo::of::<Stack<Value>>(
        "k-stack",
        "returns one of its K+1 newest elements; with `:empty`, it may report empty while it has up to K elements",
    )
    .parameter(":K[:empty]"),
    SpecInfo::of::<PriorityQueue<Value>>(
        "k-priority-queue",
        "returns one of its K+1 smallest elements; with `:empty`, it may report empty while it has up to K elements",
    )
    .parameter(":K[:empty]"),
    SpecInfo::of::<Channel<Value>>("sync-channel", "a send and a receive synchronize"),
    SpecInfo::of::<FilterChannel>("filter-channel", "a send and a receive that accepts the value synchronize"),
    SpecInfo::of::<MenWomen>("men-women", "a man and a woman synchronize, and each returns the number of the other"),
    SpecInfo::of::<Exchanger<Value>>("exchanger", "two threads synchronize and exchange values"),
    SpecInfo::of::<CounterChannel<Value>>(
        "counter-channel",
        "a send and a receive synchronize; the synchronizations are numbered from 1",
    ),
    SpecInfo::of::<TwoFamilies>(
        "two-families",
        "a member of one family synchronizes with a member of the other, each pair at most once",
    ),
    SpecInfo::of::<OneFamily>("one-family", "two threads synchronize, each pair at most once"),
    SpecInfo::of::<Abc>("abc", "three operations synchronize, one of each kind"),
    SpecInfo::of::<Barrier>("barrier", "N parties synchronize").parameter(":N"),
    SpecInfo::of::<CombiningBarrier>("combining-barrier", "N parties synchronize, and get the sum of their numbers")
        .parameter(":N"),
    SpecInfo::of::<EnrollableBarrier>("enrollable-barrier", "all enrolled parties synchronize"),
    SpecInfo::of::<TimeoutChannel<Value>>("timeout-channel", "a send and a receive synchronize, or one times out"),
    SpecInfo::of::<TimeoutExchanger<Value>>("timeout-exchanger", "two threads exchange values, or one times out"),
    SpecInfo::of::<CloseableChannel<Value>>(
        "closeable-channel",
        "a send and a receive synchronize; when the channel is closed, each fails",
    ),
    SpecInfo::of::<TerminatingQueue<Value>>(
        "terminating-queue",
        "a queue whose dequeues wait for an element; when all N workers wait, all their dequeues return null",
    )
    .parameter(":N"),
    SpecInfo::of::<TerminatingQueues<Value>>(
        "terminating-queues",
        "N queues, one for each worker (processes 0 to N-1): a worker whose queue is empty takes from another one, or \
         waits; when all N workers wait, all their dequeues return null",
    )
    .parameter(":N"),
    SpecInfo::of::<Broadcast<Value>>("broadcast", "a send and N receives synchronize").parameter(":N"),
    SpecInfo::of::<Signal>(
        "signal",
        "a child raises a signal and waits until its parent lowers it; interval-linearizable",
    ),
];

/// Returns the name in `names` of which `name` is probably a misspelling, or `None` if no name is
/// similar enough.
///
/// ```
/// assert_eq!(trueline::registry::nearest("qeuue", ["stack", "queue"].into_iter()), Some("queue"));
/// ```
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // The cost of a distance is quadratic in the length of the names. A text of more than 64 bytes
    // is unlikely to be a misspelled name, so the distances are not computed.
    if name.len() > 64 {
        return None;
    }
    let close_enough = |distance: usize| distance <= 2 && distance * 2 <= name.chars().count();
    names
        .map(|other| (distance(name, other), other))
        .min_by_key(|(distance, _)| *distance)
        .and_then(|(distance, other)| close_enough(distance).then_some(other))
}

/// Returns Levenshtein's edit distance, but counts swapping two adjacent characters as one edit.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut previous = None;
    for (row, from) in a.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, &to) in b.iter().enumerate() {
            let replace = last[column] + usize::from(from != to);
            let mut least = replace.min(last[column + 1] + 1).min(current[column] + 1);
            if column > 0 && previous == Some(to) && b[column - 1] == from {
                least = least.min(before_last[column - 1] + 1);
            }
            current.push(least);
        }
        before_last = std::mem::replace(&mut last, current);
        previous = Some(from);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("queue", "queue"), 0);
        assert_eq!(distance("quee", "queue"), 1);
        assert_eq!(distance("qeuue", "queue"), 1);
        assert_eq!(distance("", "queue"), 5);
        assert_eq!(distance("stack", "queue"), 5);
        assert_eq!(nearest("enqeue", ["enqueue", "dequeue"].into_iter()), Some("enqueue"));
        assert_eq!(nearest("frobnicate", ["enqueue", "dequeue"].into_iter()), None);
    }

    #[test]
    fn no_name_means_two_operations() {
        for spec in SPECS {
            let mut names: Vec<&str> =
                spec.operations.iter().flat_map(|op| op.aliases.iter().chain([&op.name])).copied().collect();
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count, "two operations of {} have the same name", spec.name);
        }
    }
}

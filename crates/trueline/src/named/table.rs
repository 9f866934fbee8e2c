//! The names of the specifications and their operations, in files and on the command line.

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
    /// Other names that are accepted. A leading `:` is accepted too, and `_` for `-`.
    pub aliases: &'static [&'static str],
    /// The meaning of the call's `value`.
    pub value: &'static str,
    /// The meaning of the return's result.
    pub result: &'static str,
}

impl SpecInfo {
    const fn new(name: &'static str, summary: &'static str) -> Self {
        Self { name, parameter: "", summary, operations: &[] }
    }

    const fn parameter(self, parameter: &'static str) -> Self {
        Self { parameter, ..self }
    }

    const fn operations(self, operations: &'static [OperationInfo]) -> Self {
        Self { operations, ..self }
    }

    /// Returns the operation that a file calls `f`.
    ///
    /// ```
    /// let queue = trueline::named::SPECS.iter().find(|spec| spec.name == "queue").unwrap();
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

const fn op(
    name: &'static str,
    aliases: &'static [&'static str],
    value: &'static str,
    result: &'static str,
) -> OperationInfo {
    OperationInfo { name, aliases, value, result }
}

const NOTHING: &str = "-";
const IGNORED: &str = "ignored";
const WHETHER: &str = "true or false";
const OR_EMPTY: &str = "the element, or null if empty";
const OR_ABSENT: &str = "the value, or null if absent";
const KEY: &str = "the key, unless the field `key` has it";
const INDEX: &str = "the index, unless the field `key` has it";
const INDEX_VALUE: &str = "[index value], or the value if the field `key` has the index";
const KEY_VALUE: &str = "[key value], or the value if the field `key` has the key";

const TAKEN: &str = "true if it was taken";
const ELEMENT: &str = "the element";
const BEFORE: &str = "the number before";

const READ: OperationInfo = op("read", &["r", "get", "load"], NOTHING, "the value");
const WRITE: OperationInfo = op("write", &["w", "put", "set", "store"], "the new value", IGNORED);

const ME: &str = "the caller, a number; the process if it is null";
const SENT: &str = "the value that is sent";

const QUEUE: &[OperationInfo] = &[
    op("enqueue", &["enq", "push", "put", "insert", "add", "offer"], ELEMENT, IGNORED),
    op("dequeue", &["deq", "pop", "take", "poll"], NOTHING, OR_EMPTY),
    op("peek", &["front"], NOTHING, OR_EMPTY),
];

const STACK: &[OperationInfo] = &[
    op("push", &["put", "insert", "add"], ELEMENT, IGNORED),
    op("pop", &["take", "remove"], NOTHING, OR_EMPTY),
    op("top", &["peek"], NOTHING, OR_EMPTY),
];

const PRIORITY_QUEUE: &[OperationInfo] = &[
    op("insert", &["add", "enqueue", "enq", "push", "put", "offer"], ELEMENT, IGNORED),
    op(
        "delete-min",
        &["remove-min", "extract-min", "pop-min", "dequeue", "deq", "pop", "poll", "take"],
        NOTHING,
        OR_EMPTY,
    ),
    op("peek-min", &["peek", "min", "find-min", "get-min"], NOTHING, OR_EMPTY),
];

/// All named specifications.
pub const SPECS: &[SpecInfo] = &[
    SpecInfo::new("register", "holds one value; initially `init`, or null")
        .parameter("[:init]")
        .operations(&[READ, WRITE]),
    SpecInfo::new("cas-register", "a register with compare-and-set").parameter("[:init]").operations(&[
        READ,
        WRITE,
        op(
            "cas",
            &["compare-and-set", "compare-and-swap", "compare-exchange"],
            "[old new]",
            "true or false; [old new] again is true",
        ),
    ]),
    SpecInfo::new(
        "multi-register",
        "registers by key that transactions read and write together; partitioned by key if each transaction \
         has one",
    )
    .parameter("[:init]")
    .operations(&[op(
        "txn",
        &["transaction"],
        "[[f key value]..], where f is read (r) or write (w)",
        "the same list with the values that were read",
    )]),
    SpecInfo::new("array", "registers by index, from 0 on; partitioned by index").parameter("[:init]").operations(&[
        op("read", &["r", "get", "load"], INDEX, "the value"),
        op("write", &["w", "put", "set", "store"], INDEX_VALUE, IGNORED),
    ]),
    SpecInfo::new("once-cell", "keeps the first value that it is given; initially none").operations(&[
        op("set", &["init", "write", "put", "store"], "the value", "true if it was stored"),
        op("get", &["read", "load"], NOTHING, "the value, or null if there is none"),
        op("get-or-init", &["get-or-set", "get-or-insert"], "the value", "the value that is there afterwards"),
    ]),
    SpecInfo::new(
        "counter",
        "a number of 64 bits that is added to; initially `init`, or 0; a history whose sums might not fit \
         is refused",
    )
    .parameter("[:init]")
    .operations(&[
        op(
            "add",
            &["inc", "incr", "increment", "dec", "decr", "decrement"],
            "the number; inc and dec without one mean 1",
            IGNORED,
        ),
        op("read", &["r", "get", "load", "value"], NOTHING, "the number"),
    ]),
    SpecInfo::new(
        "fetch-add",
        "a counter whose operations return its value before; initially `init`, or 0; a history whose sums might not \
         fit 64 bits is refused",
    )
    .parameter("[:init]")
    .operations(&[
        op(
            "fetch-add",
            &["faa", "fetch-and-add", "get-and-add", "fetch-inc", "get-and-inc", "fetch-dec", "get-and-dec"],
            "the number; inc and dec without one mean 1",
            BEFORE,
        ),
        op("read", &["r", "get", "load"], NOTHING, "the number"),
    ]),
    SpecInfo::new("set", "a set of values; partitioned by value if size and clear are not called").operations(&[
        op("add", &["insert", "put"], "the element", "true if it was not in"),
        op("remove", &["delete", "rem", "discard"], "the element", "true if it was in"),
        op("contains", &["member", "has", "lookup"], "the element", WHETHER),
        op("size", &["len", "count"], NOTHING, "the number of elements"),
        op("clear", &[], NOTHING, IGNORED),
    ]),
    SpecInfo::new("multiset", "counts how often it has each element; partitioned by element").operations(&[
        op("add", &["insert", "put"], ELEMENT, IGNORED),
        op("remove", &["delete", "rem", "discard"], ELEMENT, "true if it was in"),
        op("count", &["multiplicity", "lookup"], ELEMENT, "how often it is in"),
    ]),
    SpecInfo::new("map", "values by key, initially none; partitioned by key if size and clear are not called")
        .operations(&[
            op("get", &["read", "lookup"], KEY, OR_ABSENT),
            op("put", &["write", "set", "store"], KEY_VALUE, IGNORED),
            op(
                "append",
                &["concat"],
                "[key value], or the value if the field `key` has the key: a string to add to a string, \
                 or an element to add to a list",
                IGNORED,
            ),
            op("delete", &["del"], KEY, IGNORED),
            op("get-or-insert", &["get-or-put", "get-or-else-update"], KEY_VALUE, "the value that is there afterwards"),
            op(
                "cas",
                &["compare-and-set", "compare-and-swap", "compare-exchange"],
                "[key [old new]] or [key old new], or [old new] with the field `key`; old null is absent",
                "true or false; the argument again is true",
            ),
            op("insert", &["replace"], KEY_VALUE, "the value before, or null"),
            op("remove", &["take"], KEY, "the value before, or null"),
            op("size", &["len", "count"], NOTHING, "the number of keys"),
            op("clear", &[], NOTHING, IGNORED),
        ]),
    SpecInfo::new("kv", "strings by key, initially \"\"; partitioned by key").operations(&[
        op("get", &["read"], KEY, "the string"),
        op("put", &["write", "set"], KEY_VALUE, IGNORED),
        op("append", &[], KEY_VALUE, IGNORED),
    ]),
    SpecInfo::new("queue", "first in, first out; unbounded, initially empty").operations(QUEUE),
    SpecInfo::new("bounded-queue", "a queue with room for N elements").parameter(":N").operations(&[
        op(
            "enqueue",
            &["enq", "push", "put", "insert", "add", "offer"],
            ELEMENT,
            "false if the queue was full; true, nothing or the element if not",
        ),
        op("dequeue", &["deq", "pop", "take", "poll"], NOTHING, OR_EMPTY),
        op("peek", &["front"], NOTHING, OR_EMPTY),
    ]),
    SpecInfo::new("stack", "last in, first out; unbounded, initially empty").operations(STACK),
    SpecInfo::new("stack-heights", "a stack whose operations return its height before").operations(&[
        op("push", &["put", "insert", "add"], ELEMENT, "the height before"),
        op("pop", &["take", "remove"], NOTHING, "[height element] with the height before, or 0 if empty"),
    ]),
    SpecInfo::new("deque", "a queue with two ends; unbounded, initially empty").operations(&[
        op("push-front", &["push-left", "add-first", "offer-first"], ELEMENT, IGNORED),
        op("push-back", &["push-right", "add-last", "offer-last"], ELEMENT, IGNORED),
        op("pop-front", &["pop-left", "remove-first", "poll-first"], NOTHING, OR_EMPTY),
        op("pop-back", &["pop-right", "remove-last", "poll-last"], NOTHING, OR_EMPTY),
        op("peek-front", &["front", "peek-left", "peek-first"], NOTHING, OR_EMPTY),
        op("peek-back", &["back", "peek-right", "peek-last"], NOTHING, OR_EMPTY),
    ]),
    SpecInfo::new(
        "priority-queue",
        "the least first: numbers by size, text by letter, lists by their first difference, such as \
         [priority element]",
    )
    .operations(PRIORITY_QUEUE),
    SpecInfo::new("log", "a list that is only ever appended to; initially empty").operations(&[
        op(
            "append",
            &["add", "write", "push"],
            ELEMENT,
            "its index, from 0 on; or nothing, or the element: a number is the element if all appends \
                 return their elements",
        ),
        op("read", &["r", "get", "list"], NOTHING, "the list of all elements"),
        op("size", &["len", "count"], NOTHING, "the number of elements"),
    ]),
    SpecInfo::new("mutex", "a lock; `mutex:owned` is released only by the process that acquired it")
        .parameter("[:owned]")
        .operations(&[
            op("acquire", &["lock"], NOTHING, IGNORED),
            op("try-acquire", &["try-lock"], NOTHING, TAKEN),
            op("release", &["unlock"], NOTHING, IGNORED),
        ]),
    SpecInfo::new("rwlock", "a lock that many may hold to read, or one to write").operations(&[
        op("read-lock", &["lock-read", "lock-shared", "rlock", "acquire-read"], NOTHING, IGNORED),
        op("try-read-lock", &["try-lock-read", "try-lock-shared", "try-rlock", "try-acquire-read"], NOTHING, TAKEN),
        op("read-unlock", &["unlock-read", "unlock-shared", "runlock", "release-read"], NOTHING, IGNORED),
        op("write-lock", &["lock-write", "lock-exclusive", "wlock", "acquire-write"], NOTHING, IGNORED),
        op(
            "try-write-lock",
            &["try-lock-write", "try-lock-exclusive", "try-wlock", "try-acquire-write"],
            NOTHING,
            TAKEN,
        ),
        op("write-unlock", &["unlock-write", "unlock-exclusive", "wunlock", "release-write"], NOTHING, IGNORED),
    ]),
    SpecInfo::new("semaphore", "N permits to take and give back; giving back more makes more")
        .parameter(":N")
        .operations(&[
            op("acquire", &["wait", "down", "p"], NOTHING, IGNORED),
            op("try-acquire", &["try-wait", "try-down"], NOTHING, TAKEN),
            op("release", &["signal", "post", "up", "v"], NOTHING, IGNORED),
        ]),
    SpecInfo::new("bag", "a multiset whose remove-any takes any element; initially empty").operations(&[
        op("add", &["put", "insert", "push"], "the element", IGNORED),
        op("remove-any", &["remove", "take", "pop"], NOTHING, OR_EMPTY),
    ]),
    SpecInfo::new(
        "quasi-queue",
        "a queue, judged by quasi linearizability: no operation more than K places off; `--factor` overrides that",
    )
    .parameter(":K")
    .operations(QUEUE),
    SpecInfo::new(
        "quasi-stack",
        "a stack, judged by quasi linearizability: no operation more than K places off; `--factor` overrides that",
    )
    .parameter(":K")
    .operations(STACK),
    SpecInfo::new(
        "quasi-priority-queue",
        "a priority queue, judged by quasi linearizability: no operation more than K places off; `--factor` overrides \
         that",
    )
    .parameter(":K")
    .operations(PRIORITY_QUEUE),
    SpecInfo::new(
        "k-fifo",
        "gives out one of its K+1 oldest, and passes over the oldest at most K times; `:empty` may report empty while \
         it has up to K",
    )
    .parameter(":K[:empty]")
    .operations(QUEUE),
    SpecInfo::new(
        "out-of-order-queue",
        "gives out one of its K+1 oldest; `:empty` may report empty while it has up to K",
    )
    .parameter(":K[:empty]")
    .operations(QUEUE),
    SpecInfo::new("displacement-queue", "gives out each element at most K places from where it was put in")
        .parameter(":K")
        .operations(QUEUE),
    SpecInfo::new("k-stack", "gives out one of its K+1 newest; `:empty` may report empty while it has up to K")
        .parameter(":K[:empty]")
        .operations(STACK),
    SpecInfo::new("k-priority-queue", "gives out one of its K+1 least; `:empty` may report empty while it has up to K")
        .parameter(":K[:empty]")
        .operations(PRIORITY_QUEUE),
    SpecInfo::new("sync-channel", "a send and a receive synchronize").operations(&[
        op("send", &["put", "write"], SENT, IGNORED),
        op("receive", &["recv", "take", "read"], NOTHING, "the value"),
    ]),
    SpecInfo::new("filter-channel", "a send and a receive that wants the value synchronize").operations(&[
        op("send", &["put", "write"], "a number from 0 on", IGNORED),
        op("receive", &["recv", "take"], "even, odd, [modulus remainder], or null for all", "the value"),
    ]),
    SpecInfo::new("men-women", "a man and a woman synchronize, and learn of each other").operations(&[
        op("man", &["man-sync"], ME, "the number of the woman"),
        op("woman", &["woman-sync"], ME, "the number of the man"),
    ]),
    SpecInfo::new("exchanger", "two synchronize, and exchange values").operations(&[op(
        "exchange",
        &["swap"],
        "the value that is given",
        "the value that is got",
    )]),
    SpecInfo::new("counter-channel", "a send and a receive synchronize, and are numbered from 1").operations(&[
        op("send", &["put", "write"], SENT, "the number"),
        op("receive", &["recv", "take"], NOTHING, "[value number]"),
    ]),
    SpecInfo::new("two-families", "one of each family synchronize, each pair once").operations(&[
        op("sync-a", &["a"], ME, "the number of the other"),
        op("sync-b", &["b"], ME, "the number of the other"),
    ]),
    SpecInfo::new("one-family", "two synchronize, each pair once").operations(&[op(
        "sync",
        &["meet"],
        ME,
        "the number of the other",
    )]),
    SpecInfo::new("abc", "one of each of three kinds synchronize").operations(&[
        op("sync-a", &["a"], ME, "[b c]"),
        op("sync-b", &["b"], ME, "[a c]"),
        op("sync-c", &["c"], ME, "[a b]"),
    ]),
    SpecInfo::new("barrier", "N parties synchronize").parameter(":N").operations(&[op(
        "sync",
        &["wait", "await"],
        ME,
        IGNORED,
    )]),
    SpecInfo::new("combining-barrier", "N parties synchronize, and get the sum of their numbers")
        .parameter(":N")
        .operations(&[op("sync", &["wait", "await"], "[caller number]", "the sum")]),
    SpecInfo::new("enrollable-barrier", "all enrolled parties synchronize").operations(&[
        op("sync", &["wait", "await"], ME, IGNORED),
        op("enrol", &["enroll"], ME, IGNORED),
        op("resign", &[], ME, IGNORED),
    ]),
    SpecInfo::new("timeout-channel", "a send and a receive synchronize, or one gives up").operations(&[
        op("send", &["put", "write"], SENT, "true if it was received"),
        op("receive", &["recv", "take"], NOTHING, "the value, or null if it gave up"),
    ]),
    SpecInfo::new("timeout-exchanger", "two exchange values, or one gives up").operations(&[op(
        "exchange",
        &["swap"],
        "the value that is given",
        "the value that is got, or null if it gave up",
    )]),
    SpecInfo::new("closeable-channel", "a send and a receive synchronize until the channel is closed, then each fails")
        .operations(&[
            op("send", &["put", "write"], SENT, "true, or false if it is closed"),
            op("receive", &["recv", "take"], NOTHING, "the value, or null if it is closed"),
            op("close", &[], NOTHING, IGNORED),
        ]),
    SpecInfo::new(
        "terminating-queue",
        "a queue whose dequeues wait, unless all N workers wait: then they end together",
    )
    .parameter(":N")
    .operations(&[
        op("enqueue", &["enq", "push"], ELEMENT, IGNORED),
        op("dequeue", &["deq", "pop"], NOTHING, "the element, or null if all waited"),
    ]),
    SpecInfo::new(
        "terminating-queues",
        "a queue for each of N workers, the processes from 0 on: a worker that has nothing takes from any other, or \
         waits; if all N wait, they end together",
    )
    .parameter(":N")
    .operations(&[
        op("enqueue", &["enq", "push"], ELEMENT, IGNORED),
        op("dequeue", &["deq", "pop"], NOTHING, "the element, or null if all waited"),
    ]),
    SpecInfo::new("broadcast", "a send and N receives synchronize").parameter(":N").operations(&[
        op("send", &["put", "write"], SENT, IGNORED),
        op("receive", &["recv", "take"], NOTHING, "the value"),
    ]),
    SpecInfo::new("signal", "a child waits until its parent has seen it and let it go; interval-linearizable")
        .operations(&[
            op("signal-up-and-wait", &["signalupandwait", "up"], NOTHING, IGNORED),
            op("wait-for-signal-up", &["waitforsignalup", "wait"], NOTHING, IGNORED),
            op("signal-down", &["signaldown", "down"], NOTHING, IGNORED),
        ]),
];

/// Returns the name in `names` that `name` is probably a misspelling of.
///
/// ```
/// assert_eq!(trueline::named::nearest("qeuue", ["stack", "queue"].into_iter()), Some("queue"));
/// ```
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // The table of distances is quadratic, and text this long is not a misspelled name.
    if name.len() > 64 {
        return None;
    }
    let close_enough = |distance: usize| distance <= 2 && distance * 2 <= name.chars().count();
    names
        .map(|other| (distance(name, other), other))
        .min_by_key(|(distance, _)| *distance)
        .and_then(|(distance, other)| close_enough(distance).then_some(other))
}

/// Returns Levenshtein's edit distance, in which swapping two adjacent characters is one edit.
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
            assert_eq!(names.len(), count, "of {}", spec.name);
        }
    }
}

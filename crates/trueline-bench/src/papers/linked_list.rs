//! A baseline: Wing and Gong's algorithm with Lowe's extension, exactly as in algorithm 1 of Horn
//! and Kroening. Calls and returns form a doubly linked list: LIFT removes an operation from the
//! list, and UNLIFT adds the operation again. A configuration is a bitset of all operations and a
//! state.
//!
//! The searches of the library differ from this baseline in two points: their configurations
//! consist of a position, a state and a mask over the few open operations, and they store only
//! configurations that failed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use trueline::drive::Random;
use trueline::history::{EventKind, History, Outcome};
use trueline::spec::{SetOp, SetRet};

/// A history of a set in which all operations return.
pub(crate) type SetHistory = History<SetOp<u64>, SetRet>;

/// Options of the baseline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) cache: Cache,
    /// Whether the hash of a bitset is updated when a bit changes (Zobrist hashing). If not, the
    /// hash is computed anew from all words of the bitset.
    pub(crate) is_incremental: bool,
}

/// The configurations that are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cache {
    All,
    /// Remembers at most this many configurations; forgets the least recently used one first.
    Recent(usize),
    /// Remembers no configurations: a tree search on a single state, which undoes each change of
    /// the state when it backtracks.
    None,
}

/// The number that means "no entry".
const NONE: usize = usize::MAX;

/// The list of calls and returns. Entry 0 is the head.
struct List {
    next: Vec<usize>,
    previous: Vec<usize>,
    /// The operation of each entry.
    op: Vec<usize>,
    /// For a call, the entry of its return.
    matching: Vec<usize>,
}

impl List {
    fn new(history: &SetHistory) -> Self {
        let count = history.events().len();
        let mut list = Self {
            next: (1..=count).chain([NONE]).collect(),
            previous: [NONE].into_iter().chain(0..count).collect(),
            op: vec![NONE; count + 1],
            matching: vec![NONE; count + 1],
        };
        let mut calls = vec![NONE; history.len()];
        for (at, event) in (1..).zip(history.events()) {
            let op = event.op().0 as usize;
            list.op[at] = op;
            match event.kind() {
                EventKind::Call => calls[op] = at,
                EventKind::Return => list.matching[calls[op]] = at,
            }
        }
        list
    }

    fn is_call(&self, entry: usize) -> bool {
        self.matching[entry] != NONE
    }

    fn remove(&mut self, entry: usize) {
        let (next, previous) = (self.next[entry], self.previous[entry]);
        self.next[previous] = next;
        if next != NONE {
            self.previous[next] = previous;
        }
    }

    fn restore(&mut self, entry: usize) {
        let (next, previous) = (self.next[entry], self.previous[entry]);
        self.next[previous] = entry;
        if next != NONE {
            self.previous[next] = entry;
        }
    }

    /// LIFT: removes a call and its return.
    fn lift(&mut self, call: usize) {
        self.remove(call);
        self.remove(self.matching[call]);
    }

    /// UNLIFT: adds the call and its return again. The entries keep their links, so this is the exact reverse of LIFT.
    fn unlift(&mut self, call: usize) {
        self.restore(self.matching[call]);
        self.restore(call);
    }
}

/// A configuration, with its hash.
#[derive(PartialEq, Eq)]
struct Key {
    hash: u64,
    done: Vec<u64>,
    state: BTreeSet<u64>,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.hash.hash(hasher);
    }
}

/// The visited configurations. If their number is limited, `order` contains them in the order of their last use.
struct Visited {
    ticks: HashMap<Rc<Key>, u64>,
    order: BTreeMap<u64, Rc<Key>>,
    tick: u64,
    most: Option<usize>,
}

impl Visited {
    /// Adds a configuration; returns whether it is new.
    fn insert(&mut self, key: Key) -> bool {
        self.tick += 1;
        let Some(most) = self.most else { return self.ticks.insert(Rc::new(key), 0).is_none() };
        if let Some(tick) = self.ticks.get_mut(&key) {
            let key = self.order.remove(tick).expect("each entry of `ticks` is in `order`");
            *tick = self.tick;
            self.order.insert(self.tick, key);
            return false;
        }
        let key = Rc::new(key);
        self.order.insert(self.tick, Rc::clone(&key));
        self.ticks.insert(key, self.tick);
        if self.ticks.len() > most {
            let (_, oldest) = self.order.pop_first().expect("the order has an entry to forget");
            self.ticks.remove(&oldest);
        }
        true
    }
}

/// Applies an operation to the set. Returns the result, and the operation that undoes the change if
/// the set has changed.
fn apply(state: &mut BTreeSet<u64>, op: &SetOp<u64>) -> (bool, Option<SetOp<u64>>) {
    match op {
        SetOp::Add(value) => {
            let is_new = state.insert(*value);
            (is_new, is_new.then_some(SetOp::Remove(*value)))
        }
        SetOp::Remove(value) => {
            let was_there = state.remove(value);
            (was_there, was_there.then_some(SetOp::Add(*value)))
        }
        SetOp::Contains(value) => (state.contains(value), None),
        _ => panic!("the histories of the paper have no other operations"),
    }
}

/// Judges a history. Returns whether it is linearizable, and the number of configurations that were
/// tried; `None` if more than `most` would be needed.
pub(crate) fn check(history: &SetHistory, options: Options, most: u64) -> Option<(bool, u64)> {
    let mut list = List::new(history);
    let results: Vec<bool> = history
        .operations()
        .iter()
        .map(|operation| operation.outcome == Outcome::Returned(SetRet::Bool(true)))
        .collect();
    let mut random = Random::new(7);
    let words: Vec<u64> = results.iter().map(|_| random.bits()).collect();
    let limit = match options.cache {
        Cache::Recent(most) => Some(most.max(1)),
        Cache::All | Cache::None => None,
    };
    let mut visited = Visited { ticks: HashMap::new(), order: BTreeMap::new(), tick: 0, most: limit };
    let (mut state, mut done, mut hash) = (BTreeSet::new(), vec![0_u64; history.len().div_ceil(64)], 0_u64);
    let mut calls: Vec<(usize, Option<SetOp<u64>>)> = Vec::new();
    let (mut entry, mut tried) = (list.next[0], 0_u64);
    while list.next[0] != NONE {
        if list.is_call(entry) {
            let op = list.op[entry];
            tried += 1;
            if tried > most {
                return None;
            }
            let (result, undo) = apply(&mut state, &history.operations()[op].op);
            done[op / 64] ^= 1 << (op % 64);
            hash ^= words[op];
            let is_new = result == results[op]
                && match options.cache {
                    Cache::None => true,
                    _ => {
                        let of_bits = if options.is_incremental { hash } else { of_all(&done) };
                        let of_state =
                            state.iter().fold(0, |hash: u64, item| hash.wrapping_mul(31).wrapping_add(item + 1));
                        visited.insert(Key {
                            hash: of_bits ^ of_state.wrapping_mul(0x9e37_79b9_7f4a_7c15),
                            done: done.clone(),
                            state: state.clone(),
                        })
                    }
                };
            if is_new {
                calls.push((entry, undo));
                list.lift(entry);
                entry = list.next[0];
            } else {
                undone(&mut state, undo);
                done[op / 64] ^= 1 << (op % 64);
                hash ^= words[op];
                entry = list.next[entry];
            }
        } else {
            let Some((call, undo)) = calls.pop() else { return Some((false, tried)) };
            undone(&mut state, undo);
            let op = list.op[call];
            done[op / 64] ^= 1 << (op % 64);
            hash ^= words[op];
            list.unlift(call);
            entry = list.next[call];
        }
    }
    Some((true, tried))
}

fn undone(state: &mut BTreeSet<u64>, undo: Option<SetOp<u64>>) {
    if let Some(undo) = undo {
        apply(state, &undo);
    }
}

/// Computes the hash of a bitset from all its words.
fn of_all(words: &[u64]) -> u64 {
    words.iter().fold(0, |hash: u64, word| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95))
}

/// Figure 2 of the paper: lifting an operation and putting it back restores the list.
pub(crate) fn figure_2() -> bool {
    let mut builder = History::builder();
    let mut add = |is_call: bool, process: u32, op: SetOp<u64>, result: bool| {
        let added = if is_call { builder.call(process, op) } else { builder.ret(process, SetRet::Bool(result)) };
        added.expect("the figure is well formed");
    };
    add(true, 0, SetOp::Add(0), true);
    add(true, 1, SetOp::Remove(1), false);
    add(false, 0, SetOp::Add(0), true);
    add(false, 1, SetOp::Remove(1), false);
    add(true, 0, SetOp::Contains(0), true);
    add(false, 0, SetOp::Contains(0), true);
    let mut list = List::new(&builder.finish());
    let entries = |list: &List| {
        let some = |entry: usize| (entry != NONE).then_some(entry);
        std::iter::successors(some(list.next[0]), |entry| some(list.next[*entry])).collect::<Vec<usize>>()
    };
    let before = entries(&list);
    list.lift(1);
    let lifted = entries(&list);
    list.unlift(1);
    before == [1, 2, 3, 4, 5, 6] && lifted == [2, 4, 5, 6] && entries(&list) == before
}

#[cfg(test)]
mod tests {
    use trueline::judge::{Config, check as judged};
    use trueline::spec::Set;
    use trueline_bench::histories;

    use super::*;

    #[test]
    fn the_baseline_agrees_with_the_library() {
        let mut seen = [0, 0];
        for seed in 0..200 {
            let history = if seed % 2 == 0 { histories::set(20, seed) } else { histories::bad_set(6, 3, seed) };
            let expected = judged(&Set::new(), &history, &Config::new()).verdict.is_accepted();
            seen[usize::from(expected)] += 1;
            for cache in [Cache::All, Cache::Recent(5), Cache::None] {
                for is_incremental in [false, true] {
                    let options = Options { cache, is_incremental };
                    let (verdict, _) = check(&history, options, u64::MAX).expect("the search has no limit");
                    assert_eq!(verdict, expected, "seed {seed}, {options:?}");
                }
            }
        }
        assert!(seen[0] > 50 && seen[1] > 50, "{seen:?}");
        assert!(figure_2());
    }

    #[test]
    fn a_limit_ends_the_search() {
        let history = histories::set(30, 1);
        let options = Options { cache: Cache::All, is_incremental: true };
        assert!(check(&history, options, 5).is_none());
    }
}

//! A persistent hash map.
//!
//! Small maps are one sorted array. A larger map is a tree over the bits of the keys' hashes, highest bits first, with
//! such arrays as leaves. Three properties make it simple:
//!
//! - *Sorted by hash, branching by the highest bits*: the entries of a subtree are a contiguous part of the sorted
//!   entries. A leaf is split by cutting it, leaves are merged by concatenating them, and iteration follows the order
//!   of the hashes.
//! - *The shape depends only on the contents*: a subtree is a leaf if and only if it has at most [`LEAF_CAPACITY`]
//!   entries (or no bits are left). So equal maps have equal trees. They are compared subtree by subtree, and comparing
//!   a subtree that both maps share costs one pointer comparison.
//! - *Hashes of keys are not stored*: for small keys this halves the memory. Keys in a leaf are found by equality, so a
//!   small map is read without hashing at all.

use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{ALLOCATOR_OVERHEAD, ARC_HEADER, FoldHasher, hash_of};

/// The maximum number of entries of a leaf. A leaf has more entries only if their hashes agree in
/// all bits that branches look at.
const LEAF_CAPACITY: usize = 24;
/// The number of hash bits that a branch looks at. With 3, an update of a map of 1,000 to 100,000 entries took a
/// quarter less time and memory than with 4: the tree is deeper, but less is copied on each level.
const BRANCH_BITS: u32 = 3;
const BRANCH_CHILDREN: usize = 1 << BRANCH_BITS;
/// The number of levels of the tree that may have branches. Levels are numbered from 0, so the
/// deepest leaves are on level `LEVELS`.
const LEVELS: u32 = u64::BITS / BRANCH_BITS;

/// A persistent hash map; with values `()`, a set.
///
/// A clone increments one reference count. The hash is maintained by each update; see the [module](super).
///
/// ```
/// use trueline::spec::persistent::Trie;
///
/// let one = Trie::new().insert("a", 1);
/// let two = one.insert("b", 2);
/// assert_eq!(two.get(&"a"), Some(&1));
/// assert_eq!(two.remove(&"b"), one);
/// assert_eq!(one.len(), 1); // unchanged
/// ```
///
/// # Complexity
///
/// Updates cost O(log n). A map of up to 24 entries is one array, which each update copies. An empty map allocates
/// nothing.
pub struct Trie<K, V> {
    root: Node<K, V>,
    /// The wrapping sum of the hashes of the entries: it does not depend on their order.
    hash: u64,
    /// The approximate number of bytes allocated by the update that created this map. This number
    /// is not part of the contents.
    allocated: u32,
}

/// A subtree: a leaf, a branch, or empty (`Branch(None)`).
///
/// The empty subtree is not a separate variant, because with only two variants a node takes two words instead of three,
/// and a branch has many nodes.
enum Node<K, V> {
    /// One or more entries, sorted by the hash of the key; entries with equal hashes are in any order.
    Leaf(Arc<[Entry<K, V>]>),
    Branch(Option<Arc<Branch<K, V>>>),
}

struct Branch<K, V> {
    /// The number of entries in all children: more than [`LEAF_CAPACITY`].
    len: usize,
    children: [Node<K, V>; BRANCH_CHILDREN],
}

#[derive(Clone, PartialEq, Eq)]
struct Entry<K, V> {
    key: K,
    value: V,
}

/// Returns which child of a branch on this level contains the keys with this hash.
fn slot(hash: u64, level: u32) -> usize {
    ((hash >> (u64::BITS - BRANCH_BITS * (level + 1))) as usize) % BRANCH_CHILDREN
}

pub(super) fn entry_hash<V: Hash>(key_hash: u64, value: &V) -> u64 {
    let mut hasher = FoldHasher::default();
    hasher.write_u64(key_hash);
    value.hash(&mut hasher);
    hasher.finish()
}

impl<K, V> Node<K, V> {
    const EMPTY: Self = Self::Branch(None);

    fn len(&self) -> usize {
        match self {
            Self::Leaf(entries) => entries.len(),
            Self::Branch(None) => 0,
            Self::Branch(Some(branch)) => branch.len,
        }
    }
}

impl<K, V> Clone for Node<K, V> {
    fn clone(&self) -> Self {
        match self {
            Self::Leaf(entries) => Self::Leaf(entries.clone()),
            Self::Branch(branch) => Self::Branch(branch.clone()),
        }
    }
}

/// Creates nodes and counts their bytes.
struct Builder {
    allocated: usize,
}

impl Builder {
    fn new() -> Self {
        Self { allocated: 0 }
    }

    /// Creates a leaf. The iterator should report its exact length, as a chain of slice iterators
    /// does, so that its items are moved only once.
    fn leaf<K, V>(&mut self, entries: impl Iterator<Item = Entry<K, V>>) -> Node<K, V> {
        let entries: Arc<[Entry<K, V>]> = entries.collect();
        self.allocated += size_of_val(&*entries) + ARC_HEADER + ALLOCATOR_OVERHEAD;
        Node::Leaf(entries)
    }

    fn branch<K, V>(&mut self, branch: Branch<K, V>) -> Node<K, V> {
        self.allocated += size_of::<Branch<K, V>>() + ARC_HEADER + ALLOCATOR_OVERHEAD;
        Node::Branch(Some(Arc::new(branch)))
    }

    /// Returns the branch with one child replaced.
    fn with_child<K, V>(&mut self, branch: &Branch<K, V>, slot: usize, child: Node<K, V>, len: usize) -> Node<K, V> {
        let mut child = Some(child);
        let children = std::array::from_fn(|index| {
            let replaced = if index == slot { child.take() } else { None };
            replaced.unwrap_or_else(|| branch.children[index].clone())
        });
        self.branch(Branch { len, children })
    }

    /// Returns a subtree on this level with these entries, which must be sorted by hash.
    fn subtree<K: Clone + Hash, V: Clone>(&mut self, entries: &[Entry<K, V>], level: u32) -> Node<K, V> {
        if entries.is_empty() {
            return Node::EMPTY;
        }
        if entries.len() <= LEAF_CAPACITY || level == LEVELS {
            return self.leaf(entries.iter().cloned());
        }
        let mut rest = entries;
        let children = std::array::from_fn(|index| {
            let end = rest.partition_point(|entry| slot(hash_of(&entry.key), level) <= index);
            let (mine, later) = rest.split_at(end);
            rest = later;
            self.subtree(mine, level + 1)
        });
        self.branch(Branch { len: entries.len(), children })
    }

    /// Returns the subtree with an additional entry. The subtree must not contain the key of
    /// `entry` yet.
    fn with_new<K: Clone + Hash, V: Clone>(
        &mut self,
        node: &Node<K, V>,
        level: u32,
        hash: u64,
        entry: Entry<K, V>,
    ) -> Node<K, V> {
        match node {
            Node::Branch(None) => self.leaf(std::iter::once(entry)),
            Node::Branch(Some(branch)) => {
                let slot = slot(hash, level);
                let child = self.with_new(&branch.children[slot], level + 1, hash, entry);
                self.with_child(branch, slot, child, branch.len + 1)
            }
            Node::Leaf(entries) => {
                let place = entries.partition_point(|other| hash_of(&other.key) <= hash);
                let (before, after) = entries.split_at(place);
                let all = before.iter().cloned().chain(std::iter::once(entry)).chain(after.iter().cloned());
                if entries.len() < LEAF_CAPACITY || level == LEVELS {
                    self.leaf(all)
                } else {
                    self.subtree(&all.collect::<Vec<_>>(), level)
                }
            }
        }
    }

    /// Returns the subtree in which the value of a key is replaced. The subtree must contain the
    /// key.
    fn with_value<K: Clone + Eq, V: Clone>(
        &mut self,
        node: &Node<K, V>,
        level: u32,
        hash: u64,
        entry: Entry<K, V>,
    ) -> Node<K, V> {
        match node {
            Node::Branch(None) => Node::EMPTY,
            Node::Branch(Some(branch)) => {
                let slot = slot(hash, level);
                let child = self.with_value(&branch.children[slot], level + 1, hash, entry);
                self.with_child(branch, slot, child, branch.len)
            }
            Node::Leaf(entries) => {
                let place = place(entries, &entry.key).unwrap_or(entries.len());
                let (before, after) = entries.split_at(place);
                let after = after.get(1..).unwrap_or_default();
                self.leaf(before.iter().cloned().chain(std::iter::once(entry)).chain(after.iter().cloned()))
            }
        }
    }

    /// Returns the subtree with a key removed. The subtree must contain the key.
    fn without<K: Clone + Eq, V: Clone>(&mut self, node: &Node<K, V>, level: u32, hash: u64, key: &K) -> Node<K, V> {
        match node {
            Node::Branch(None) => Node::EMPTY,
            Node::Branch(Some(branch)) => {
                let slot = slot(hash, level);
                if branch.len - 1 <= LEAF_CAPACITY {
                    // The contents determine the shape: a subtree that fits into a leaf must be a leaf.
                    let mut entries = Vec::with_capacity(branch.len - 1);
                    entries.extend(Iter::of_branch(branch).filter(|entry| entry.key != *key).cloned());
                    return self.leaf(entries.into_iter());
                }
                let child = self.without(&branch.children[slot], level + 1, hash, key);
                self.with_child(branch, slot, child, branch.len - 1)
            }
            Node::Leaf(entries) if entries.len() == 1 => Node::EMPTY,
            Node::Leaf(entries) => {
                let place = place(entries, key).unwrap_or(entries.len());
                let (before, after) = entries.split_at(place);
                self.leaf(before.iter().chain(after.get(1..).unwrap_or_default()).cloned())
            }
        }
    }
}

/// Returns the position of a key in a leaf. The key is found by equality, not by hash, because comparing a few keys
/// costs less than hashing them.
fn place<K: Eq, V>(entries: &[Entry<K, V>], key: &K) -> Option<usize> {
    entries.iter().position(|entry| entry.key == *key)
}

impl<K, V> Trie<K, V> {
    /// Creates a map without entries. It allocates nothing.
    pub const fn new() -> Self {
        Self { root: Node::EMPTY, hash: 0, allocated: 0 }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.root.len()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the entries in the order of their keys' hashes. This order is the same in each
    /// run and does not depend on the updates that created the map, except among keys whose hashes
    /// are equal.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        Iter::of_node(&self.root).map(|entry| (&entry.key, &entry.value))
    }

    /// Iterates over the keys, in the order of [`iter`](Self::iter).
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// Returns the approximate number of bytes allocated by the update that created this map: the
    /// size of the nodes on the path to the changed entry.
    ///
    /// The memory that keys and values themselves hold on the heap is unknown here, and is not counted.
    pub fn heap_size(&self) -> usize {
        self.allocated as usize
    }
}

impl<K: Clone + Eq + Hash, V: Clone + Eq + Hash> Trie<K, V> {
    /// Returns the value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        let mut node = &self.root;
        if let Node::Branch(Some(_)) = node {
            let hash = hash_of(key);
            let mut level = 0;
            while let Node::Branch(Some(branch)) = node {
                node = &branch.children[slot(hash, level)];
                level += 1;
            }
        }
        match node {
            Node::Leaf(entries) => place(entries, key).map(|place| &entries[place].value),
            Node::Branch(_) => None,
        }
    }

    /// Returns whether there is a value for this key.
    pub fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// Returns the map in which this key has this value, whether or not the key had a value before.
    #[must_use = "the map itself does not change"]
    pub fn insert(&self, key: K, value: V) -> Self {
        let mut builder = Builder::new();
        let (root, key_hash, old_hash, new_hash);
        match self.get(&key) {
            Some(present) if *present == value => return self.clone(),
            Some(present) => {
                key_hash = hash_of(&key);
                old_hash = entry_hash(key_hash, present);
                new_hash = entry_hash(key_hash, &value);
                root = builder.with_value(&self.root, 0, key_hash, Entry { key, value });
            }
            None => {
                key_hash = hash_of(&key);
                old_hash = 0;
                new_hash = entry_hash(key_hash, &value);
                root = builder.with_new(&self.root, 0, key_hash, Entry { key, value });
            }
        }
        Self::made(builder, root, self.hash.wrapping_sub(old_hash).wrapping_add(new_hash))
    }

    /// Returns the map without this key, whether or not the key had a value.
    #[must_use = "the map itself does not change"]
    pub fn remove(&self, key: &K) -> Self {
        let Some(present) = self.get(key) else {
            return self.clone();
        };
        let key_hash = hash_of(key);
        let mut builder = Builder::new();
        let root = builder.without(&self.root, 0, key_hash, key);
        Self::made(builder, root, self.hash.wrapping_sub(entry_hash(key_hash, present)))
    }

    fn made(builder: Builder, root: Node<K, V>, hash: u64) -> Self {
        // Only the size of a leaf with about a hundred million equal hashes would not fit into 32
        // bits, and for such a leaf `u32::MAX` is accurate enough.
        let allocated = u32::try_from(builder.allocated).unwrap_or(u32::MAX);
        Self { root, hash, allocated }
    }
}

// Implemented by hand, because derived implementations would require `K: Clone` and so on.
impl<K, V> Clone for Trie<K, V> {
    fn clone(&self) -> Self {
        Self { root: self.root.clone(), hash: self.hash, allocated: self.allocated }
    }
}

impl<K, V> Default for Trie<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Eq, V: Eq> PartialEq for Trie<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.root.len() == other.root.len() && same_entries(&self.root, &other.root)
    }
}

impl<K: Eq, V: Eq> Eq for Trie<K, V> {}

/// Returns whether two subtrees at the same position have the same entries.
fn same_entries<K: Eq, V: Eq>(left: &Node<K, V>, right: &Node<K, V>) -> bool {
    match (left, right) {
        (Node::Leaf(left), Node::Leaf(right)) => {
            let in_order = Arc::ptr_eq(left, right) || left == right;
            // Entries whose keys have equal hashes may be in different orders in the two leaves.
            // Keys are distinct and the lengths are equal, so it is enough that `right` contains
            // each entry of `left`.
            in_order || (left.len() == right.len() && left.iter().all(|entry| right.contains(entry)))
        }
        (Node::Branch(None), Node::Branch(None)) => true,
        (Node::Branch(Some(left)), Node::Branch(Some(right))) => {
            let mut children = left.children.iter().zip(&right.children);
            Arc::ptr_eq(left, right)
                || (left.len == right.len && children.all(|(left, right)| same_entries(left, right)))
        }
        // Equal contents have equal shapes, so subtrees of different kinds differ.
        _ => false,
    }
}

impl<K, V> Hash for Trie<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
        state.write_usize(self.len());
    }
}

impl<K: Debug, V: Debug> Debug for Trie<K, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Clone + Eq + Hash, V: Clone + Eq + Hash> FromIterator<(K, V)> for Trie<K, V> {
    /// If a key occurs more than once, its last value is kept.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        entries.into_iter().fold(Self::new(), |trie, (key, value)| trie.insert(key, value))
    }
}

/// Iterates over the entries of a subtree in the order of their hashes.
struct Iter<'trie, K, V> {
    leaf: std::slice::Iter<'trie, Entry<K, V>>,
    /// The remaining children of the branches on the path to the leaf, the innermost last.
    branches: Vec<std::slice::Iter<'trie, Node<K, V>>>,
}

impl<'trie, K, V> Iter<'trie, K, V> {
    fn of_node(node: &'trie Node<K, V>) -> Self {
        match node {
            Node::Leaf(entries) => Self { leaf: entries.iter(), branches: Vec::new() },
            Node::Branch(None) => Self { leaf: [].iter(), branches: Vec::new() },
            Node::Branch(Some(branch)) => Self::of_branch(branch),
        }
    }

    fn of_branch(branch: &'trie Branch<K, V>) -> Self {
        Self { leaf: [].iter(), branches: vec![branch.children.iter()] }
    }
}

impl<'trie, K, V> Iterator for Iter<'trie, K, V> {
    type Item = &'trie Entry<K, V>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.leaf.next() {
                return Some(entry);
            }
            match self.branches.last_mut()?.next() {
                Some(Node::Leaf(entries)) => self.leaf = entries.iter(),
                Some(Node::Branch(Some(branch))) => self.branches.push(branch.children.iter()),
                Some(Node::Branch(None)) => {}
                None => drop(self.branches.pop()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;
    use std::collections::HashMap;

    /// A key with only a few different hashes: `Clash<1>` has one, so every leaf overflows.
    #[derive(Clone, PartialEq, Eq, Debug)]
    struct Clash<const HASHES: u64>(u64);

    impl<const HASHES: u64> Hash for Clash<HASHES> {
        fn hash<H: Hasher>(&self, state: &mut H) {
            state.write_u64(self.0 % HASHES);
        }
    }

    trait Key: Clone + Eq + Hash + Debug {
        fn from_number(number: u64) -> Self;
        fn number(&self) -> u64;
    }

    impl Key for u64 {
        fn from_number(number: u64) -> Self {
            number
        }
        fn number(&self) -> u64 {
            *self
        }
    }

    impl<const HASHES: u64> Key for Clash<HASHES> {
        fn from_number(number: u64) -> Self {
            Self(number)
        }
        fn number(&self) -> u64 {
            self.0
        }
    }

    /// Checks the shape, order, counts and hash against their documentation.
    fn assert_sound<K: Key>(trie: &Trie<K, u64>) {
        fn sound<K: Key>(node: &Node<K, u64>, level: u32, prefix: &mut Vec<usize>) -> usize {
            match node {
                Node::Branch(None) => 0,
                Node::Leaf(entries) => {
                    assert!(!entries.is_empty());
                    assert!(entries.len() <= LEAF_CAPACITY || level == LEVELS);
                    assert!(entries.is_sorted_by_key(|entry| hash_of(&entry.key)));
                    for entry in entries.iter() {
                        let hash = hash_of(&entry.key);
                        assert!((0..level).all(|level| slot(hash, level) == prefix[level as usize]));
                    }
                    entries.len()
                }
                Node::Branch(Some(branch)) => {
                    assert!(branch.len > LEAF_CAPACITY && level < LEVELS);
                    let mut total = 0;
                    for (index, child) in branch.children.iter().enumerate() {
                        prefix.push(index);
                        total += sound(child, level + 1, prefix);
                        prefix.pop();
                    }
                    assert_eq!(total, branch.len);
                    total
                }
            }
        }
        assert_eq!(sound(&trie.root, 0, &mut Vec::new()), trie.len());
        let hashes = trie.iter().map(|(key, value)| entry_hash(hash_of(key), value));
        assert_eq!(trie.hash, hashes.fold(0, u64::wrapping_add));
    }

    fn assert_is<K: Key>(trie: &Trie<K, u64>, model: &HashMap<u64, u64>, keys: u64) {
        assert_eq!(trie.len(), model.len());
        assert_eq!(trie.is_empty(), model.is_empty());
        for key in 0..keys {
            assert_eq!(trie.get(&K::from_number(key)), model.get(&key));
        }
        let mut entries: Vec<(u64, u64)> = trie.iter().map(|(key, value)| (key.number(), *value)).collect();
        let mut expected: Vec<(u64, u64)> = model.iter().map(|(key, value)| (*key, *value)).collect();
        entries.sort_unstable();
        expected.sort_unstable();
        assert_eq!(entries, expected);
        assert_sound(trie);
    }

    /// Makes random updates on the latest and on older versions; on average, `grow` in ten updates
    /// are insertions. All versions that are kept are checked at regular intervals.
    fn agrees_with_a_map<K: Key>(seed: u64, rounds: usize, keys: u64, grow: usize) {
        let mut random = Random::new(seed);
        let mut versions: Vec<(Trie<K, u64>, HashMap<u64, u64>)> = vec![(Trie::new(), HashMap::new())];
        for round in 0..rounds {
            let from = if random.below(16) == 0 { random.below(versions.len()) } else { versions.len() - 1 };
            let (trie, mut model) = versions[from].clone();
            let key = random.below(keys as usize) as u64;
            let next = if random.below(10) < grow {
                let value = random.below(3) as u64;
                model.insert(key, value);
                trie.insert(K::from_number(key), value)
            } else {
                model.remove(&key);
                trie.remove(&K::from_number(key))
            };
            assert_eq!(next.get(&K::from_number(key)), model.get(&key));
            assert_eq!(next.len(), model.len());
            if versions.len() == 100 {
                let place = random.below(versions.len());
                versions.swap_remove(place);
            }
            versions.push((next, model));
            if round % (rounds / 20) == 0 {
                for (trie, model) in &versions {
                    assert_is(trie, model, keys);
                    // Create a trie with the same contents by other updates.
                    let direct: Trie<K, u64> = trie.iter().map(|(key, value)| (key.clone(), *value)).collect();
                    assert_eq!(hash_of(&direct), hash_of(trie));
                    assert_eq!(direct, *trie);
                }
                for (left, left_model) in &versions {
                    for (right, right_model) in &versions {
                        assert_eq!(left == right, left_model == right_model);
                        assert!(left.hash == right.hash || left_model != right_model);
                    }
                }
            }
        }
    }

    #[test]
    fn agrees_with_a_map_when_small() {
        agrees_with_a_map::<u64>(1, 40_000, 6, 5);
        agrees_with_a_map::<u64>(2, 20_000, 40, 6);
    }

    #[test]
    fn agrees_with_a_map_when_large() {
        agrees_with_a_map::<u64>(3, 20_000, 1_000, 7);
        agrees_with_a_map::<u64>(4, 20_000, 4_000, 8);
    }

    #[test]
    fn agrees_with_a_map_when_hashes_collide() {
        agrees_with_a_map::<Clash<1>>(5, 5_000, 60, 6);
        agrees_with_a_map::<Clash<3>>(6, 5_000, 150, 6);
        agrees_with_a_map::<Clash<50>>(7, 5_000, 200, 7);
    }

    #[test]
    fn colliding_keys_in_another_order_are_equal() {
        let forward: Trie<Clash<1>, ()> = (0..100).map(|key| (Clash(key), ())).collect();
        let backward: Trie<Clash<1>, ()> = (0..100).rev().map(|key| (Clash(key), ())).collect();
        assert_eq!(forward, backward);
        assert_eq!(hash_of(&forward), hash_of(&backward));
        let other = backward.remove(&Clash(5)).insert(Clash(100), ());
        assert_eq!(other.hash, forward.hash, "this test needs unequal maps with equal hashes");
        assert_ne!(other, forward);
    }

    #[test]
    fn iteration_is_by_hash_whatever_the_route() {
        let forward: Trie<u64, ()> = (0..500).map(|key| (key, ())).collect();
        let backward: Trie<u64, ()> = (0..600).rev().map(|key| (key, ())).collect();
        let backward = (500..600).fold(backward, |trie, key| trie.remove(&key));
        assert!(forward.keys().eq(backward.keys()));
        assert!(forward.keys().is_sorted_by_key(hash_of));
    }

    #[test]
    fn what_does_not_change_is_shared() {
        let trie: Trie<u64, u64> = (0..100).map(|key| (key, key)).collect();
        let shared = |left: &Trie<u64, u64>, right: &Trie<u64, u64>| match (&left.root, &right.root) {
            (Node::Branch(Some(left)), Node::Branch(Some(right))) => Arc::ptr_eq(left, right),
            _ => false,
        };
        assert!(shared(&trie, &trie.insert(5, 5)));
        assert!(shared(&trie, &trie.remove(&100)));
        assert!(!shared(&trie, &trie.insert(5, 6)));
    }

    #[test]
    fn small_maps_are_small() {
        assert_eq!(size_of::<Node<u64, u64>>(), 16);
        assert_eq!(size_of::<Trie<u64, u64>>(), 32);
        assert_eq!(Trie::<u64, u64>::new().heap_size(), 0);
        let full: Trie<u64, u64> = (0..LEAF_CAPACITY as u64).map(|key| (key, key)).collect();
        assert!(matches!(full.root, Node::Leaf(_)));
        assert_eq!(full.heap_size(), 24 * 16 + 32);
        let set: Trie<u64, ()> = (0..LEAF_CAPACITY as u64).map(|key| (key, ())).collect();
        assert_eq!(set.heap_size(), 24 * 8 + 32);
        let emptied = (0..LEAF_CAPACITY as u64).fold(full, |trie, key| trie.remove(&key));
        assert_eq!(emptied.heap_size(), 0);
    }

    #[test]
    fn a_large_map_allocates_little_per_update() {
        let trie: Trie<u64, ()> = (0..100_000).map(|key| (key, ())).collect();
        assert!(trie.heap_size() > 300 && trie.heap_size() < 2_000, "{}", trie.heap_size());
    }
}

//! A persistent map that is sorted by its keys.
//!
//! The map is a treap (R. Seidel and C. R. Aragon, "Randomized search trees", Algorithmica 16,
//! 1996): a search tree by keys that is also a heap by priorities. Here the priority of a key is
//! its hash, so the shape depends only on the contents: equal maps have equal trees. They are
//! compared subtree by subtree, and comparing a subtree that both maps share costs one pointer
//! comparison.

use std::cmp::Ordering;
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::trie::entry_hash;
use super::{ALLOCATOR_OVERHEAD, ARC_HEADER, hash_of};

/// A persistent map that is sorted by its keys.
///
/// A clone increments one reference count. The hash is maintained by each update; see the [module](super).
///
/// ```
/// use trueline::spec::persistent::Treap;
///
/// let one = Treap::new().insert("b", 1);
/// let two = one.insert("a", 2);
/// assert_eq!(two.first(), Some((&"a", &2)));
/// assert_eq!(two.remove(&"a"), one);
/// assert_eq!(one.first(), Some((&"b", &1))); // unchanged
/// ```
///
/// # Complexity
///
/// Updates and queries have an expected cost of O(log n), as for random priorities: only keys that were chosen to
/// attack the (fixed) hash function make the tree deep. An empty map allocates nothing. If the order does not matter,
/// use a [`Trie`](super::Trie).
pub struct Treap<K, V> {
    root: Link<K, V>,
    len: usize,
    /// The wrapping sum of the hashes of the entries: it does not depend on their order.
    hash: u64,
    /// The approximate number of bytes allocated by the update that created this map. This number
    /// is not part of the contents.
    allocated: u32,
}

struct Node<K, V> {
    /// The hash of the key.
    priority: u64,
    key: K,
    value: V,
    /// The entries with lesser keys. All of them rank below this node ([`Node::outranks`]).
    left: Link<K, V>,
    /// The entries with greater keys. All of them rank below this node ([`Node::outranks`]).
    right: Link<K, V>,
}

type Link<K, V> = Option<Arc<Node<K, V>>>;

impl<K: Ord, V> Node<K, V> {
    /// Returns whether this node ranks above `other`: by priority, and by key if the priorities are
    /// equal. This order is total, so each map has only one possible shape.
    fn outranks(&self, other: &Self) -> bool {
        (self.priority, &self.key) > (other.priority, &other.key)
    }
}

/// Creates nodes and counts them.
struct Builder {
    nodes: usize,
}

impl Builder {
    fn link<K, V>(&mut self, node: Node<K, V>) -> Link<K, V> {
        self.nodes += 1;
        Some(Arc::new(node))
    }

    fn copy<K: Clone, V: Clone>(&mut self, node: &Node<K, V>, left: Link<K, V>, right: Link<K, V>) -> Link<K, V> {
        self.link(Node { priority: node.priority, key: node.key.clone(), value: node.value.clone(), left, right })
    }

    /// Returns the tree with an additional entry. The tree must not contain the key of `entry` yet.
    fn with_new<K: Clone + Ord, V: Clone>(&mut self, tree: &Link<K, V>, mut entry: Node<K, V>) -> Link<K, V> {
        match tree {
            Some(node) if !entry.outranks(node) => {
                if entry.key < node.key {
                    let left = self.with_new(&node.left, entry);
                    self.copy(node, left, node.right.clone())
                } else {
                    let right = self.with_new(&node.right, entry);
                    self.copy(node, node.left.clone(), right)
                }
            }
            tree => {
                (entry.left, entry.right) = self.split(tree, &entry.key);
                self.link(entry)
            }
        }
    }

    /// Splits a tree that does not contain `key` into the entries with lesser keys and the entries with greater keys.
    fn split<K: Clone + Ord, V: Clone>(&mut self, tree: &Link<K, V>, key: &K) -> (Link<K, V>, Link<K, V>) {
        match tree {
            None => (None, None),
            Some(node) if node.key < *key => {
                let (middle, greater) = self.split(&node.right, key);
                (self.copy(node, node.left.clone(), middle), greater)
            }
            Some(node) => {
                let (less, middle) = self.split(&node.left, key);
                (less, self.copy(node, middle, node.right.clone()))
            }
        }
    }

    /// Returns the tree in which the value of a key is replaced. The tree must contain the key.
    fn with_value<K: Clone + Ord, V: Clone>(&mut self, tree: &Link<K, V>, key: &K, value: V) -> Link<K, V> {
        let node = tree.as_ref()?;
        match key.cmp(&node.key) {
            Ordering::Less => {
                let left = self.with_value(&node.left, key, value);
                self.copy(node, left, node.right.clone())
            }
            Ordering::Greater => {
                let right = self.with_value(&node.right, key, value);
                self.copy(node, node.left.clone(), right)
            }
            Ordering::Equal => {
                let (left, right) = (node.left.clone(), node.right.clone());
                self.link(Node { priority: node.priority, key: node.key.clone(), value, left, right })
            }
        }
    }

    /// Returns the tree with a key removed. The tree must contain the key.
    fn without<K: Clone + Ord, V: Clone>(&mut self, tree: &Link<K, V>, key: &K) -> Link<K, V> {
        let node = tree.as_ref()?;
        match key.cmp(&node.key) {
            Ordering::Less => {
                let left = self.without(&node.left, key);
                self.copy(node, left, node.right.clone())
            }
            Ordering::Greater => {
                let right = self.without(&node.right, key);
                self.copy(node, node.left.clone(), right)
            }
            Ordering::Equal => self.join(&node.left, &node.right),
        }
    }

    /// Returns the tree with its least key removed.
    fn without_first<K: Clone, V: Clone>(&mut self, tree: &Link<K, V>) -> Link<K, V> {
        let node = tree.as_ref()?;
        if node.left.is_none() {
            return node.right.clone();
        }
        let left = self.without_first(&node.left);
        self.copy(node, left, node.right.clone())
    }

    /// Joins two trees. All keys of the first tree must be less than those of the second.
    fn join<K: Clone + Ord, V: Clone>(&mut self, less: &Link<K, V>, greater: &Link<K, V>) -> Link<K, V> {
        match (less, greater) {
            (None, tree) | (tree, None) => tree.clone(),
            (Some(left), Some(right)) if left.outranks(right) => {
                let joined = self.join(&left.right, greater);
                self.copy(left, left.left.clone(), joined)
            }
            (Some(_), Some(right)) => {
                let joined = self.join(less, &right.left);
                self.copy(right, joined, right.right.clone())
            }
        }
    }
}

impl<K, V> Treap<K, V> {
    /// Creates a map without entries. It allocates nothing.
    pub const fn new() -> Self {
        Self { root: None, len: 0, hash: 0, allocated: 0 }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the entry with the least key.
    pub fn first(&self) -> Option<(&K, &V)> {
        let mut node = self.root.as_ref()?;
        while let Some(left) = &node.left {
            node = left;
        }
        Some((&node.key, &node.value))
    }

    /// Iterates over the entries in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        let mut iter = Iter { parents: Vec::new() };
        iter.descend(&self.root);
        iter
    }

    /// Returns the approximate number of bytes allocated by the update that created this map: the
    /// size of the nodes on the path to the changed entry.
    ///
    /// The memory that keys and values themselves hold on the heap is unknown here, and is not counted.
    pub fn heap_size(&self) -> usize {
        self.allocated as usize
    }
}

impl<K: Clone + Ord + Hash, V: Clone + Eq + Hash> Treap<K, V> {
    /// Returns the value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        let mut tree = &self.root;
        while let Some(node) = tree {
            tree = match key.cmp(&node.key) {
                Ordering::Less => &node.left,
                Ordering::Greater => &node.right,
                Ordering::Equal => return Some(&node.value),
            };
        }
        None
    }

    /// Returns the map in which this key has this value, whether or not the key had a value before.
    #[must_use = "the map itself does not change"]
    pub fn insert(&self, key: K, value: V) -> Self {
        let mut builder = Builder { nodes: 0 };
        let priority = hash_of(&key);
        let new_hash = entry_hash(priority, &value);
        match self.get(&key) {
            Some(present) if *present == value => self.clone(),
            Some(present) => {
                let hash = self.hash.wrapping_sub(entry_hash(priority, present)).wrapping_add(new_hash);
                let root = builder.with_value(&self.root, &key, value);
                Self::made(&builder, root, self.len, hash)
            }
            None => {
                let entry = Node { priority, key, value, left: None, right: None };
                let root = builder.with_new(&self.root, entry);
                Self::made(&builder, root, self.len + 1, self.hash.wrapping_add(new_hash))
            }
        }
    }

    /// Returns the entry with the least key, and the map without it.
    ///
    /// ```
    /// use trueline::spec::persistent::Treap;
    ///
    /// let two = Treap::new().insert("b", 1).insert("a", 2);
    /// let (key, value, rest) = two.pop_first().unwrap();
    /// assert_eq!((*key, *value), ("a", 2));
    /// assert_eq!(rest, Treap::new().insert("b", 1));
    /// ```
    pub fn pop_first(&self) -> Option<(&K, &V, Self)> {
        let (key, value) = self.first()?;
        let mut builder = Builder { nodes: 0 };
        let hash = self.hash.wrapping_sub(entry_hash(hash_of(key), value));
        let root = builder.without_first(&self.root);
        Some((key, value, Self::made(&builder, root, self.len - 1, hash)))
    }

    /// Returns the map without this key, whether or not the key had a value.
    #[must_use = "the map itself does not change"]
    pub fn remove(&self, key: &K) -> Self {
        let Some(present) = self.get(key) else {
            return self.clone();
        };
        let mut builder = Builder { nodes: 0 };
        let hash = self.hash.wrapping_sub(entry_hash(hash_of(key), present));
        let root = builder.without(&self.root, key);
        Self::made(&builder, root, self.len - 1, hash)
    }

    fn made(builder: &Builder, root: Link<K, V>, len: usize, hash: u64) -> Self {
        let allocated = builder.nodes * (size_of::<Node<K, V>>() + ARC_HEADER + ALLOCATOR_OVERHEAD);
        // Only the allocations of a degenerate, very deep tree would not fit into 32 bits, and for
        // such a tree `u32::MAX` is accurate enough.
        Self { root, len, hash, allocated: u32::try_from(allocated).unwrap_or(u32::MAX) }
    }
}

// Implemented by hand, because derived implementations would require `K: Clone` and so on.
impl<K, V> Clone for Treap<K, V> {
    fn clone(&self) -> Self {
        Self { root: self.root.clone(), len: self.len, hash: self.hash, allocated: self.allocated }
    }
}

impl<K, V> Default for Treap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Eq, V: Eq> PartialEq for Treap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.len == other.len && same_entries(&self.root, &other.root)
    }
}

impl<K: Eq, V: Eq> Eq for Treap<K, V> {}

/// Returns whether two subtrees at the same position have the same entries. Comparing node by node is enough, because
/// the contents determine the shape.
fn same_entries<K: Eq, V: Eq>(left: &Link<K, V>, right: &Link<K, V>) -> bool {
    match (left, right) {
        (None, None) => true,
        (Some(left), Some(right)) => {
            Arc::ptr_eq(left, right)
                || (left.key == right.key
                    && left.value == right.value
                    && same_entries(&left.left, &right.left)
                    && same_entries(&left.right, &right.right))
        }
        (None, Some(_)) | (Some(_), None) => false,
    }
}

impl<K, V> Hash for Treap<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
        state.write_usize(self.len);
    }
}

impl<K: Debug, V: Debug> Debug for Treap<K, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Clone + Ord + Hash, V: Clone + Eq + Hash> FromIterator<(K, V)> for Treap<K, V> {
    /// If a key occurs more than once, its last value is kept.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        entries.into_iter().fold(Self::new(), |treap, (key, value)| treap.insert(key, value))
    }
}

/// Iterates over the entries in the order of their keys.
struct Iter<'treap, K, V> {
    /// The nodes that are on the path to the next entry and have not been returned yet; the node
    /// with the least key is last.
    parents: Vec<&'treap Node<K, V>>,
}

impl<'treap, K, V> Iter<'treap, K, V> {
    fn descend(&mut self, mut tree: &'treap Link<K, V>) {
        while let Some(node) = tree {
            self.parents.push(node);
            tree = &node.left;
        }
    }
}

impl<'treap, K, V> Iterator for Iter<'treap, K, V> {
    type Item = (&'treap K, &'treap V);

    fn next(&mut self) -> Option<Self::Item> {
        let node = self.parents.pop()?;
        self.descend(&node.right);
        Some((&node.key, &node.value))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;
    use std::collections::BTreeMap;

    /// A key with only three different hashes.
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    struct Clash(u64);

    impl Hash for Clash {
        fn hash<H: Hasher>(&self, state: &mut H) {
            state.write_u64(self.0 % 3);
        }
    }

    fn depth<K, V>(tree: &Link<K, V>) -> usize {
        tree.as_ref().map_or(0, |node| 1 + depth(&node.left).max(depth(&node.right)))
    }

    fn assert_heap<K: Ord, V>(tree: &Link<K, V>) {
        let Some(node) = tree else { return };
        for child in [&node.left, &node.right] {
            assert!(child.as_ref().is_none_or(|child| node.outranks(child)));
            assert_heap(child);
        }
    }

    fn agrees_with_a_map<K: Clone + Ord + Hash + Debug>(seed: u64, key: impl Fn(u64) -> K, keys: usize, grow: usize) {
        let mut random = Random::new(seed);
        let mut versions: Vec<(Treap<K, u64>, BTreeMap<K, u64>)> = vec![(Treap::new(), BTreeMap::new())];
        for round in 0..10_000 {
            let from = if random.below(16) == 0 { random.below(versions.len()) } else { versions.len() - 1 };
            let (treap, mut model) = versions[from].clone();
            let key = key(random.below(keys) as u64);
            let next = if random.below(10) < grow {
                let value = random.below(3) as u64;
                model.insert(key.clone(), value);
                treap.insert(key.clone(), value)
            } else {
                model.remove(&key);
                treap.remove(&key)
            };
            assert_eq!(next.get(&key), model.get(&key));
            assert_eq!((next.len(), next.is_empty()), (model.len(), model.is_empty()));
            assert_eq!(next.first(), model.first_key_value());
            if versions.len() == 100 {
                versions.swap_remove(random.below(100));
            }
            versions.push((next, model));
            if round % 500 == 0 {
                for (left, left_model) in &versions {
                    assert!(left.iter().eq(left_model));
                    assert_heap(&left.root);
                    let direct: Treap<K, u64> = left_model.iter().rev().map(|(k, v)| (k.clone(), *v)).collect();
                    assert_eq!((direct.hash, &direct), (left.hash, left));
                    for (right, right_model) in &versions {
                        assert_eq!(left == right, left_model == right_model);
                    }
                }
            }
        }
    }

    #[test]
    fn agrees_with_a_map_on_branching_histories() {
        agrees_with_a_map(1, |key| key, 6, 5);
        agrees_with_a_map(2, |key| key, 300, 7);
    }

    #[test]
    fn agrees_with_a_map_when_hashes_collide() {
        agrees_with_a_map(3, Clash, 6, 5);
        agrees_with_a_map(4, Clash, 60, 7);
    }

    #[test]
    fn a_large_map_is_not_deep_and_allocates_little_per_update() {
        let treap: Treap<u64, ()> = (0..100_000).map(|key| (key, ())).collect();
        assert!(depth(&treap.root) < 60, "{}", depth(&treap.root));
        assert!(treap.heap_size() < 60 * 80, "{}", treap.heap_size());
        let emptied = (0..100_000).fold(treap, |treap, key| treap.remove(&key));
        assert_eq!((emptied.heap_size(), &emptied), (0, &Treap::new()));
    }

    #[test]
    fn what_does_not_change_is_shared() {
        let treap: Treap<u64, u64> = (0..100).map(|key| (key, key)).collect();
        let shared = |left: &Treap<u64, u64>, right: &Treap<u64, u64>| match (&left.root, &right.root) {
            (Some(left), Some(right)) => Arc::ptr_eq(left, right),
            _ => false,
        };
        assert!(shared(&treap, &treap.insert(5, 5)));
        assert!(shared(&treap, &treap.remove(&100)));
        assert!(!shared(&treap, &treap.insert(5, 6)));
    }
}

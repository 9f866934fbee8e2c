//! A persistent list for stacks, queues and logs.
//!
//! Nodes point from newer to older elements. A chain consists of its newest node and a length: its
//! elements are that node and the `len - 1` nodes before it. Therefore, several chains can share
//! nodes, and dropping the oldest element only decreases the length. The oldest element is found by
//! *jump pointers*: each node also points to one far ancestor, which is chosen by the skew-binary
//! rule of E. W. Myers, "An applicative random-access stack" (Information Processing Letters 17,
//! 1983). By this rule, any ancestor is O(log n) jumps away, although a node has only one jump
//! pointer.
//!
//! The hash is a polynomial ([`polynomial`](super::polynomial)) in which the newest element has weight 1. It can be
//! updated when an element is removed at either end.

use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::polynomial::{BASE, BASE_INVERSE, add, base_to_the, element_hash, multiply, subtract};
use super::{ALLOCATOR_OVERHEAD, ARC_HEADER};

/// A persistent list that grows at its newest end and shrinks at both ends.
///
/// A clone increments one reference count. The hash is maintained by each update; see the [module](super).
///
/// ```
/// use trueline::spec::persistent::Chain;
///
/// let one = Chain::new().push_newest('a');
/// let two = one.push_newest('b');
/// let (oldest, rest) = two.drop_oldest().unwrap();
/// assert_eq!(*oldest, 'a');
/// assert_eq!(rest, Chain::new().push_newest('b'));
/// assert_eq!(one.len(), 1); // unchanged
/// ```
///
/// # Memory
///
/// A node lives as long as a chain contains it *or a newer node* that was pushed onto it.
/// Therefore, the elements that are dropped at the oldest end of a chain stay in memory until the
/// chain becomes empty or is dropped. An empty chain keeps nothing alive.
pub struct Chain<T> {
    /// `None` if and only if `len` is 0, so that an empty chain keeps nothing alive.
    newest: Option<Arc<Node<T>>>,
    len: usize,
    /// The polynomial hash of the elements, less than the prime.
    hash: u64,
}

struct Node<T> {
    value: T,
    /// The number of nodes on the path from this node to the first one, including both.
    depth: usize,
    /// The node before this one. `None` stands for an imaginary node of depth 0 whose parent and
    /// jump target are the node itself.
    parent: Link<T>,
    /// A proper ancestor of this node, so `parent` keeps the target of the jump alive.
    jump: Link<T>,
}

type Link<T> = Option<Arc<Node<T>>>;

fn depth<T>(link: &Link<T>) -> usize {
    link.as_ref().map_or(0, |node| node.depth)
}

impl<T> Node<T> {
    fn after(parent: Link<T>, value: T) -> Self {
        let near = parent.as_ref().and_then(|node| node.jump.as_ref());
        let far = near.and_then(|node| node.jump.as_ref());
        let near_depth = near.map_or(0, |node| node.depth);
        let far_depth = far.map_or(0, |node| node.depth);
        // Two consecutive jumps of equal length become one, as two equal digits do in a skew-binary counter.
        let jump = if depth(&parent) - near_depth == near_depth - far_depth { far.cloned() } else { parent.clone() };
        Self { value, depth: depth(&parent) + 1, parent, jump }
    }

    /// Returns the ancestor (or this node) with depth `wanted`, which must be from 1 to the depth of this node.
    fn ancestor(&self, wanted: usize) -> &Self {
        debug_assert!((1..=self.depth).contains(&wanted));
        let mut node = self;
        while node.depth > wanted {
            let link = if depth(&node.jump) >= wanted { &node.jump } else { &node.parent };
            match link {
                Some(older) => node = older,
                // This does not occur: a missing link leads to the imaginary node of depth 0, but `wanted` is at
                // least 1.
                None => break,
            }
        }
        node
    }
}

impl<T> Drop for Node<T> {
    /// Drops linked nodes in a loop, because the default recursion would overflow the stack.
    fn drop(&mut self) {
        // Each jump is dropped before the parent, and the parent keeps the target of the jump alive. So a jump is never
        // the last reference to a node, and nodes are freed only by the loop, one after another.
        self.jump = None;
        let mut next = self.parent.take();
        while let Some(link) = next {
            next = Arc::into_inner(link).and_then(|mut node| {
                node.jump = None;
                node.parent.take()
            });
        }
    }
}

impl<T> Chain<T> {
    /// Creates a chain without elements. It allocates nothing.
    pub const fn new() -> Self {
        Self { newest: None, len: 0, hash: 0 }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the element that was pushed last.
    pub fn newest(&self) -> Option<&T> {
        self.newest.as_ref().map(|node| &node.value)
    }

    /// Returns the element that was pushed first.
    ///
    /// # Complexity
    ///
    /// O(log n), where n is the number of elements pushed since the chain was empty.
    pub fn oldest(&self) -> Option<&T> {
        let newest = self.newest.as_ref()?;
        Some(&newest.ancestor(newest.depth + 1 - self.len).value)
    }

    /// Iterates over the elements from the newest to the oldest, which is how the nodes are linked.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.nodes().map(|node| &node.value)
    }

    /// Returns `false` if this chain certainly does not start, at its oldest element, with the
    /// elements of `start`. If the result is `true`, the chain may or may not start with them,
    /// because only a few of the newest elements of `start` are compared.
    ///
    /// ```
    /// use trueline::spec::persistent::Chain;
    ///
    /// let chain: Chain<char> = "abc".chars().collect();
    /// assert!(chain.may_start_with(&"ab".chars().collect()));
    /// assert!(!chain.may_start_with(&"ac".chars().collect()));
    /// assert!(!chain.may_start_with(&"abcd".chars().collect()));
    /// ```
    ///
    /// # Complexity
    ///
    /// O(log n), where n is the number of elements pushed since this chain was empty.
    pub fn may_start_with(&self, start: &Self) -> bool
    where
        T: Eq,
    {
        const ELEMENTS: usize = 4;
        let Some(behind) = self.len.checked_sub(start.len) else { return false };
        let (Some(newest), false) = (&self.newest, start.is_empty()) else { return true };
        let own = std::iter::successors(Some(newest.ancestor(newest.depth - behind)), |node| node.parent.as_deref());
        start.nodes().take(ELEMENTS).zip(own).all(|(wanted, own)| wanted.value == own.value)
    }

    /// Returns the approximate number of bytes that an update allocates at most: the size of one
    /// node.
    ///
    /// The memory that the element itself holds on the heap is unknown here, and is not counted.
    pub fn heap_size(&self) -> usize {
        if self.is_empty() { 0 } else { size_of::<Node<T>>() + ARC_HEADER + ALLOCATOR_OVERHEAD }
    }

    fn nodes(&self) -> impl Iterator<Item = &Arc<Node<T>>> {
        std::iter::successors(self.newest.as_ref(), |node| node.parent.as_ref()).take(self.len)
    }
}

impl<T: Hash> Chain<T> {
    /// Returns the chain with one more element as its newest.
    #[must_use = "the chain itself does not change"]
    pub fn push_newest(&self, value: T) -> Self {
        let hash = add(multiply(self.hash, BASE), element_hash(&value));
        let newest = Some(Arc::new(Node::after(self.newest.clone(), value)));
        Self { newest, len: self.len + 1, hash }
    }

    /// Returns the newest element, and the chain without it.
    pub fn pop_newest(&self) -> Option<(&T, Self)> {
        let newest = self.newest.as_ref()?;
        if self.len == 1 {
            return Some((&newest.value, Self::new()));
        }
        let hash = multiply(subtract(self.hash, element_hash(&newest.value)), BASE_INVERSE);
        Some((&newest.value, Self { newest: newest.parent.clone(), len: self.len - 1, hash }))
    }

    /// Returns the oldest element, and the chain without it.
    ///
    /// # Complexity
    ///
    /// O(log n), where n is the number of elements pushed since the chain was empty.
    pub fn drop_oldest(&self) -> Option<(&T, Self)> {
        let oldest = self.oldest()?;
        if self.len == 1 {
            return Some((oldest, Self::new()));
        }
        let hash = subtract(self.hash, multiply(element_hash(oldest), base_to_the(self.len - 1)));
        Some((oldest, Self { newest: self.newest.clone(), len: self.len - 1, hash }))
    }
}

// Implemented by hand, because derived implementations would require `T: Clone` and `T: Default`.
impl<T> Clone for Chain<T> {
    fn clone(&self) -> Self {
        Self { newest: self.newest.clone(), len: self.len, hash: self.hash }
    }
}

impl<T> Default for Chain<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Eq> PartialEq for Chain<T> {
    fn eq(&self, other: &Self) -> bool {
        if self.hash != other.hash || self.len != other.len {
            return false;
        }
        for (left, right) in self.nodes().zip(other.nodes()) {
            if Arc::ptr_eq(left, right) {
                return true; // All older nodes are shared, too.
            }
            if left.value != right.value {
                return false;
            }
        }
        true
    }
}

impl<T: Eq> Eq for Chain<T> {}

impl<T> Hash for Chain<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
        state.write_usize(self.len);
    }
}

impl<T: Debug> Debug for Chain<T> {
    /// Formats the elements as a list, from the oldest to the newest.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut elements: Vec<&T> = self.iter().collect();
        elements.reverse();
        formatter.debug_list().entries(elements).finish()
    }
}

impl<T: Hash> FromIterator<T> for Chain<T> {
    /// The first item becomes the oldest element.
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        elements.into_iter().fold(Self::new(), |chain, element| chain.push_newest(element))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;
    use std::collections::VecDeque;

    fn contents(chain: &Chain<u64>) -> Vec<u64> {
        let mut contents: Vec<u64> = chain.iter().copied().collect();
        contents.reverse();
        contents
    }

    fn assert_is(chain: &Chain<u64>, model: &VecDeque<u64>) {
        assert_eq!(chain.len(), model.len());
        assert_eq!(chain.is_empty(), model.is_empty());
        assert_eq!(chain.newest(), model.back());
        assert_eq!(chain.oldest(), model.front());
        assert_eq!(contents(chain), Vec::from(model.clone()));
    }

    #[test]
    fn agrees_with_a_deque_on_branching_histories() {
        let mut random = Random::new(7);
        let mut versions = vec![(Chain::new(), VecDeque::new())];
        for round in 0..60_000 {
            // Update mostly the latest version, and sometimes an older one, so that the history branches.
            let from = if random.below(8) == 0 { random.below(versions.len()) } else { versions.len() - 1 };
            let (chain, mut model) = versions[from].clone();
            let next = match random.below(5) {
                0 | 1 => {
                    let value = random.below(3) as u64;
                    model.push_back(value);
                    chain.push_newest(value)
                }
                2 => chain.pop_newest().map_or(Chain::new(), |(value, rest)| {
                    assert_eq!(Some(*value), model.pop_back());
                    rest
                }),
                _ => chain.drop_oldest().map_or(Chain::new(), |(value, rest)| {
                    assert_eq!(Some(*value), model.pop_front());
                    rest
                }),
            };
            assert_is(&next, &model);
            if versions.len() < 300 {
                versions.push((next, model));
            } else {
                let place = random.below(versions.len());
                versions[place] = (next, model);
            }
            if round % 500 == 0 {
                for (chain, model) in &versions {
                    assert_is(chain, model);
                }
                for (left, left_model) in &versions {
                    for (right, right_model) in &versions {
                        assert_eq!(left == right, left_model == right_model);
                        assert_eq!(left.hash == right.hash, left_model == right_model, "a collision, or a wrong hash");
                        let starts =
                            left.len() >= right.len() && left_model.iter().zip(right_model).all(|(l, r)| l == r);
                        assert!(left.may_start_with(right) || !starts, "{left:?} starts with {right:?}");
                        assert!(starts || right.len() > 4 || !left.may_start_with(right), "{left:?}, {right:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_hash_is_that_of_the_contents_by_every_route() {
        let mut random = Random::new(11);
        let mut chain = Chain::new();
        for _ in 0..20_000 {
            chain = match random.below(7) {
                0..=3 => chain.push_newest(random.below(10)),
                4 | 5 => chain.drop_oldest().map_or(Chain::new(), |(_, rest)| rest),
                _ => chain.pop_newest().map_or(Chain::new(), |(_, rest)| rest),
            };
            if chain.len() > 40 {
                chain = Chain::new();
            }
            let mut elements: Vec<usize> = chain.iter().copied().collect();
            elements.reverse();
            let direct: Chain<usize> = elements.into_iter().collect();
            assert_eq!((chain.hash, chain.len), (direct.hash, direct.len));
            assert_eq!(chain, direct);
        }
    }

    #[test]
    fn the_order_matters() {
        let left: Chain<u8> = [1, 2].into_iter().collect();
        let right: Chain<u8> = [2, 1].into_iter().collect();
        assert_ne!(left, right);
        assert_ne!(left.hash, right.hash);
    }

    #[test]
    fn sequences_that_collide_modulo_powers_of_two_do_not_here() {
        // The Thue-Morse sequence and its complement collide modulo 2^64 for every odd base from length 2^11 on.
        let bit = |index: u32| index.count_ones() % 2;
        let left: Chain<u32> = (0..4096).map(bit).collect();
        let right: Chain<u32> = (0..4096).map(|index| 1 - bit(index)).collect();
        assert_ne!(left.hash, right.hash);
    }

    #[test]
    fn any_ancestor_is_few_jumps_away() {
        let chain: Chain<usize> = (1..=100_000).collect();
        let newest = chain.newest.as_ref().unwrap();
        let mut random = Random::new(3);
        for _ in 0..1000 {
            let wanted = 1 + random.below(100_000);
            assert_eq!(newest.ancestor(wanted).value, wanted);
            let (mut node, mut steps) = (newest, 0);
            while node.depth > wanted {
                let jump = node.jump.as_ref().filter(|jump| jump.depth >= wanted);
                node = jump.or(node.parent.as_ref()).unwrap();
                steps += 1;
            }
            assert!(steps <= 3 * 17, "{steps}");
        }
    }

    #[test]
    fn a_million_elements_are_used_and_dropped_without_recursion() {
        const MANY: u64 = 1_000_000;
        let small_stack = std::thread::Builder::new().stack_size(64 * 1024);
        let work = || {
            let chain: Chain<u64> = (0..MANY).collect();
            let again: Chain<u64> = (0..MANY).collect();
            assert_eq!(chain, again);
            assert_eq!(chain.iter().count() as u64, MANY);
            assert!(format!("{chain:?}").starts_with("[0, 1, 2"));
            assert_eq!(chain.oldest(), Some(&0));
            drop(again);
            // The older half is shared: freeing stops at the node where the other chain begins.
            let mut half = chain.clone();
            for _ in 0..MANY / 2 {
                half = half.pop_newest().unwrap().1;
            }
            drop(chain);
            assert_eq!(half.newest(), Some(&(MANY / 2 - 1)));
            let branch = half.push_newest(9);
            drop(half);
            assert_eq!(branch.iter().count() as u64, MANY / 2 + 1);
            // The oldest elements are dropped by decreasing the length only.
            let mut queue = branch;
            for expected in 0..MANY / 4 {
                let (oldest, rest) = queue.drop_oldest().unwrap();
                assert_eq!(*oldest, expected);
                queue = rest;
            }
            drop(queue);
        };
        small_stack.spawn(work).unwrap().join().unwrap();
    }

    #[test]
    fn chains_that_share_nodes_may_be_dropped_by_several_threads() {
        for _ in 0..20 {
            let trunk: Chain<u64> = (0..20_000).collect();
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let branch = trunk.push_newest(thread);
                    std::thread::spawn(move || drop(branch))
                })
                .collect();
            drop(trunk);
            for thread in threads {
                thread.join().unwrap();
            }
        }
    }

    #[test]
    fn every_element_is_dropped_once() {
        let token = Arc::new(());
        #[derive(Clone)]
        struct Counted(#[expect(dead_code, reason = "held only for its reference count")] Arc<()>);
        impl Hash for Counted {
            fn hash<H: Hasher>(&self, state: &mut H) {
                state.write_u8(0);
            }
        }
        let chain: Chain<Counted> = (0..100).map(|_| Counted(token.clone())).collect();
        let branch = chain.pop_newest().unwrap().1.push_newest(Counted(token.clone()));
        assert_eq!(Arc::strong_count(&token), 102);
        drop(chain);
        assert_eq!(Arc::strong_count(&token), 101);
        drop(branch);
        assert_eq!(Arc::strong_count(&token), 1);
    }

    #[test]
    fn an_empty_chain_holds_nothing() {
        let chain: Chain<u64> = (0..3).collect();
        let empty = (0..3).fold(chain, |chain, _| chain.drop_oldest().unwrap().1);
        assert!(empty.newest.is_none());
        assert_eq!(empty, Chain::new());
        assert_eq!(empty.heap_size(), 0);
        assert!(empty.pop_newest().is_none() && empty.drop_oldest().is_none());
        assert_eq!(empty.push_newest(1).heap_size(), 64);
    }

    #[test]
    fn debug_is_a_list_from_the_oldest() {
        assert_eq!(format!("{:?}", (1..4).collect::<Chain<u8>>()), "[1, 2, 3]");
    }
}

//! A persistent list that grows and shrinks at both ends.
//!
//! The list consists of two [`Chain`]s. Their newest elements are the two ends, and their oldest
//! elements meet in the middle. If one of the chains is empty, its end of the list is the oldest
//! element of the other chain. That element can be removed in O(log n). So no chain is ever
//! reversed, and every update costs O(log n) at most. This bound is not amortized. An amortized
//! bound would be of little use, because many states can branch off a single one, and each of them
//! could then repeat the same expensive update.
//!
//! The place where the two chains meet depends on the updates, and is not part of the contents. Therefore, the list has
//! a hash of its own, a polynomial ([`polynomial`](super::polynomial)) over all elements, in which the back has weight
//! 1.

use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};

use super::Chain;
use super::polynomial::{BASE, BASE_INVERSE, add, base_to_the, element_hash, multiply, subtract};

/// A persistent list that grows and shrinks at both ends.
///
/// A clone increments two reference counts. The hash is maintained by each update; see the [module](super).
///
/// ```
/// use trueline::spec::persistent::DoubleEnded;
///
/// let list = DoubleEnded::new().push_back('b').push_front('a');
/// assert_eq!(list, DoubleEnded::new().push_front('b').push_front('a'));
/// let (back, rest) = list.pop_back().unwrap();
/// assert_eq!(*back, 'b');
/// assert_eq!(rest.pop_back().unwrap().0, &'a');
/// ```
///
/// # Complexity
///
/// Pushing at the back costs O(1). All other updates, and reading an end, cost O(log n), where n is the number of
/// elements pushed since the list was empty. Lists that have equal hashes but were created by different updates may
/// have to be compared element by element.
pub struct DoubleEnded<T> {
    /// The front of the list is the newest element of this chain.
    front: Chain<T>,
    /// The back of the list is the newest element of this chain. The oldest element of this chain
    /// follows the oldest element of `front`.
    back: Chain<T>,
    /// The polynomial hash of the elements, less than the prime.
    hash: u64,
}

impl<T> DoubleEnded<T> {
    /// Creates a list without elements. It allocates nothing.
    pub const fn new() -> Self {
        Self { front: Chain::new(), back: Chain::new(), hash: 0 }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.front.len() + self.back.len()
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.front.is_empty() && self.back.is_empty()
    }

    /// Returns the element at the front.
    pub fn front(&self) -> Option<&T> {
        self.front.newest().or_else(|| self.back.oldest())
    }

    /// Returns the element at the back.
    pub fn back(&self) -> Option<&T> {
        self.back.newest().or_else(|| self.front.oldest())
    }

    /// Iterates over the elements from the front to the back.
    ///
    /// # Complexity
    ///
    /// The back chain is collected first, which costs O(n).
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let mut back: Vec<&T> = self.back.iter().collect();
        back.reverse();
        self.front.iter().chain(back)
    }

    /// Returns the approximate number of bytes that an update allocates at most: the size of one
    /// node; see [`Chain::heap_size`].
    pub fn heap_size(&self) -> usize {
        self.front.heap_size().max(self.back.heap_size())
    }
}

impl<T: Hash> DoubleEnded<T> {
    /// Returns the list with one more element at the front.
    #[must_use = "the list itself does not change"]
    pub fn push_front(&self, value: T) -> Self {
        let hash = add(self.hash, multiply(element_hash(&value), base_to_the(self.len())));
        Self { front: self.front.push_newest(value), back: self.back.clone(), hash }
    }

    /// Returns the list with one more element at the back.
    #[must_use = "the list itself does not change"]
    pub fn push_back(&self, value: T) -> Self {
        let hash = add(multiply(self.hash, BASE), element_hash(&value));
        Self { front: self.front.clone(), back: self.back.push_newest(value), hash }
    }

    /// Returns the element at the front, and the list without it.
    pub fn pop_front(&self) -> Option<(&T, Self)> {
        let (value, front, back) = match self.front.pop_newest() {
            Some((value, front)) => (value, front, self.back.clone()),
            None => self.back.drop_oldest().map(|(value, back)| (value, Chain::new(), back))?,
        };
        let hash = subtract(self.hash, multiply(element_hash(value), base_to_the(self.len() - 1)));
        Some((value, Self { front, back, hash }))
    }

    /// Returns the element at the back, and the list without it.
    pub fn pop_back(&self) -> Option<(&T, Self)> {
        let (value, front, back) = match self.back.pop_newest() {
            Some((value, back)) => (value, self.front.clone(), back),
            None => self.front.drop_oldest().map(|(value, front)| (value, front, Chain::new()))?,
        };
        let hash = multiply(subtract(self.hash, element_hash(value)), BASE_INVERSE);
        Some((value, Self { front, back, hash }))
    }
}

// Implemented by hand, because derived implementations would require `T: Clone` and `T: Default`.
impl<T> Clone for DoubleEnded<T> {
    fn clone(&self) -> Self {
        Self { front: self.front.clone(), back: self.back.clone(), hash: self.hash }
    }
}

impl<T> Default for DoubleEnded<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Eq> PartialEq for DoubleEnded<T> {
    fn eq(&self, other: &Self) -> bool {
        if self.hash != other.hash || self.len() != other.len() {
            return false;
        }
        if self.front.len() == other.front.len() {
            // Comparing chains stops at the first node that they share.
            return self.front == other.front && self.back == other.back;
        }
        self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for DoubleEnded<T> {}

impl<T> Hash for DoubleEnded<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
        state.write_usize(self.len());
    }
}

impl<T: Debug> Debug for DoubleEnded<T> {
    /// Formats the elements as a list, from the front to the back.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Hash> FromIterator<T> for DoubleEnded<T> {
    /// The first item becomes the front.
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        elements.into_iter().fold(Self::new(), |list, element| list.push_back(element))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn agrees_with_a_deque_on_branching_histories() {
        let mut random = Random::new(13);
        let mut versions = vec![(DoubleEnded::new(), VecDeque::new())];
        for round in 0..60_000 {
            // Update mostly the latest version, and sometimes an older one, so that the history branches.
            let from = if random.below(8) == 0 { random.below(versions.len()) } else { versions.len() - 1 };
            let (list, mut model) = versions[from].clone();
            let value = random.below(3);
            let next = match random.below(4) {
                0 => {
                    model.push_back(value);
                    list.push_back(value)
                }
                1 => {
                    model.push_front(value);
                    list.push_front(value)
                }
                2 => list.pop_back().map_or(DoubleEnded::new(), |(value, rest)| {
                    assert_eq!(Some(*value), model.pop_back());
                    rest
                }),
                _ => list.pop_front().map_or(DoubleEnded::new(), |(value, rest)| {
                    assert_eq!(Some(*value), model.pop_front());
                    rest
                }),
            };
            assert_eq!((next.len(), next.is_empty()), (model.len(), model.is_empty()));
            assert_eq!((next.front(), next.back()), (model.front(), model.back()));
            assert!(next.iter().eq(&model));
            if versions.len() == 300 {
                versions.swap_remove(random.below(300));
            }
            versions.push((next, model));
            if round % 500 == 0 {
                for (left, left_model) in &versions {
                    assert!(left.iter().eq(left_model), "an update changed an older version");
                    let direct: DoubleEnded<usize> = left_model.iter().copied().collect();
                    assert_eq!((direct.hash, &direct), (left.hash, left));
                    for (right, right_model) in &versions {
                        assert_eq!(left == right, left_model == right_model);
                        assert_eq!(left.hash == right.hash, left_model == right_model, "a collision, or a wrong hash");
                    }
                }
            }
        }
    }

    #[test]
    fn equal_hashes_of_unequal_lists_are_told_apart() {
        let forged = |list: DoubleEnded<u8>| DoubleEnded { hash: 1, ..list };
        let by_back = forged([1, 2, 3].into_iter().collect());
        assert_ne!(by_back, forged([1, 2, 4].into_iter().collect()));
        assert_ne!(by_back, forged(DoubleEnded::new().push_front(3).push_front(2).push_front(0)));
        assert_eq!(by_back, forged(DoubleEnded::new().push_front(3).push_front(2).push_front(1)));
    }

    #[test]
    fn an_empty_list_holds_nothing() {
        let list = DoubleEnded::new().push_front(1).push_back(2);
        let empty = list.pop_front().unwrap().1.pop_front().unwrap().1;
        assert_eq!((empty.heap_size(), &empty), (0, &DoubleEnded::new()));
        assert!(empty.pop_front().is_none() && empty.pop_back().is_none());
    }

    #[test]
    fn debug_is_a_list_from_the_front() {
        assert_eq!(format!("{:?}", DoubleEnded::new().push_back(2).push_front(1).push_back(3)), "[1, 2, 3]");
    }
}

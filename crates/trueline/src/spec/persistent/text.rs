//! A persistent text that grows at its end.
//!
//! A text is a list of pieces, each of which points to the one before it. Appending adds a piece
//! without copying its bytes. The division into pieces is not part of the contents: the hash is a
//! polynomial ([`polynomial`](super::polynomial)) over the bytes, and the hash of a concatenation
//! follows from the hashes and lengths of its two parts.

use std::fmt::{self, Debug, Display};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use smallvec::SmallVec;

use super::polynomial::{BASE, add, base_to_the, multiply};
use super::{ALLOCATOR_OVERHEAD, ARC_HEADER};

/// A persistent text: the cost of appending does not depend on the length of the existing text.
///
/// A clone increments one reference count. The hash is maintained by each update; see the [module](super).
///
/// ```
/// use trueline::spec::persistent::Text;
///
/// let hello = Text::from("hel").append(&Text::from("lo"));
/// assert_eq!(hello, Text::from("hello"));
/// assert_eq!(hello.to_string(), "hello");
/// assert_eq!(hello.len(), 5);
/// ```
///
/// # Complexity
///
/// Creating a text from a string costs the length of the string. Two texts are compared byte by byte only if their
/// lengths and hashes agree, up to the first piece that they share.
#[derive(Clone, Default)]
pub struct Text {
    newest: Link,
    /// The length in bytes.
    len: usize,
    /// The polynomial hash of the bytes, less than the prime.
    hash: u64,
}

type Link = Option<Arc<Piece>>;

struct Piece {
    /// The text of this piece, which is never empty.
    text: Arc<str>,
    before: Link,
}

impl Drop for Piece {
    /// Drops linked pieces in a loop, because the default recursion would overflow the stack.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(link) = next {
            next = Arc::into_inner(link).and_then(|mut piece| piece.before.take());
        }
    }
}

impl Text {
    /// Creates an empty text. It allocates nothing.
    pub const fn new() -> Self {
        Self { newest: None, len: 0, hash: 0 }
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns this text followed by another one.
    ///
    /// # Complexity
    ///
    /// O(p + log n), where p is the number of pieces of `end`, and n the length of `end`. A text that was created from
    /// a string is one piece.
    #[must_use = "the text itself does not change"]
    pub fn append(&self, end: &Self) -> Self {
        if self.is_empty() {
            return end.clone();
        }
        let pieces: SmallVec<[&Arc<str>; 1]> = end.pieces().collect();
        let push = |before, text: &Arc<str>| Some(Arc::new(Piece { text: text.clone(), before }));
        Self {
            newest: pieces.into_iter().rev().fold(self.newest.clone(), push),
            len: self.len + end.len,
            hash: add(multiply(self.hash, base_to_the(end.len)), end.hash),
        }
    }

    /// Returns `false` if this text certainly does not start with `start`. If the result is `true`,
    /// the text may or may not start with `start`, because only the last few pieces of `start` are
    /// compared.
    ///
    /// ```
    /// use trueline::spec::persistent::Text;
    ///
    /// let (hello, hel) = (Text::from("hello"), Text::from("he").append(&Text::from("l")));
    /// assert!(hello.may_start_with(&hel));
    /// assert!(!hello.may_start_with(&hel.append(&Text::from("p"))));
    /// assert!(!hel.may_start_with(&hello));
    /// ```
    ///
    /// # Complexity
    ///
    /// O(l + p), where l is the length of the compared pieces, and p the number of pieces of this text that are not
    /// part of `start`.
    pub fn may_start_with(&self, start: &Self) -> bool {
        const PIECES: usize = 4;
        let Some(mut behind) = self.len.checked_sub(start.len) else { return false };
        let mut pieces = self.pieces();
        let mut own: &[u8] = &[];
        for piece in start.pieces().take(PIECES) {
            let mut wanted = piece.as_bytes();
            while !wanted.is_empty() {
                if own.is_empty() {
                    let Some(piece) = pieces.next() else { return true };
                    let skipped = behind.min(piece.len());
                    own = &piece.as_bytes()[..piece.len() - skipped];
                    behind -= skipped;
                    continue;
                }
                let common = own.len().min(wanted.len());
                let (own_rest, own_end) = own.split_at(own.len() - common);
                let (wanted_rest, wanted_end) = wanted.split_at(wanted.len() - common);
                if own_end != wanted_end {
                    return false;
                }
                (own, wanted) = (own_rest, wanted_rest);
            }
        }
        true
    }

    /// Returns the approximate number of bytes that the last update allocated, if it appended a
    /// text of one piece. This is the size of a piece without its bytes, because the bytes are
    /// shared with the appended text.
    pub fn heap_size(&self) -> usize {
        if self.is_empty() { 0 } else { size_of::<Piece>() + ARC_HEADER + ALLOCATOR_OVERHEAD }
    }

    /// Iterates over the pieces from the last to the first.
    fn pieces(&self) -> impl Iterator<Item = &Arc<str>> {
        std::iter::successors(self.newest.as_ref(), |piece| piece.before.as_ref()).map(|piece| &piece.text)
    }
}

impl From<Arc<str>> for Text {
    fn from(text: Arc<str>) -> Self {
        if text.is_empty() {
            return Self::new();
        }
        // Each byte is increased by 1, because otherwise a zero byte at the start would not change the hash.
        let hash = text.bytes().fold(0, |hash, byte| add(multiply(hash, BASE), u64::from(byte) + 1));
        Self { len: text.len(), hash, newest: Some(Arc::new(Piece { text, before: None })) }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::from(Arc::<str>::from(text))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::from(Arc::<str>::from(text))
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        if self.hash != other.hash || self.len != other.len {
            return false;
        }
        // Compare from the end. `left_pieces` and `right_pieces` are the pieces that remain. `left`
        // and `right` are the bytes that remain of the current piece of each text.
        let (mut left_pieces, mut right_pieces) = (self.newest.as_ref(), other.newest.as_ref());
        let (mut left, mut right): (&[u8], &[u8]) = (&[], &[]);
        loop {
            if left.is_empty() && right.is_empty() {
                if let (Some(left), Some(right)) = (left_pieces, right_pieces) {
                    if Arc::ptr_eq(left, right) {
                        return true; // All earlier pieces are shared, too.
                    }
                }
            }
            if left.is_empty() {
                // The lengths are equal, so both texts end here.
                let Some(piece) = left_pieces else { return true };
                (left, left_pieces) = (piece.text.as_bytes(), piece.before.as_ref());
            }
            if right.is_empty() {
                let Some(piece) = right_pieces else { return true };
                (right, right_pieces) = (piece.text.as_bytes(), piece.before.as_ref());
            }
            let common = left.len().min(right.len());
            let (left_rest, left_end) = left.split_at(left.len() - common);
            let (right_rest, right_end) = right.split_at(right.len() - common);
            if left_end != right_end {
                return false;
            }
            (left, right) = (left_rest, right_rest);
        }
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
        state.write_usize(self.len);
    }
}

impl Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pieces: Vec<&Arc<str>> = self.pieces().collect();
        pieces.reverse();
        pieces.into_iter().try_for_each(|piece| formatter.write_str(piece))
    }
}

impl Debug for Text {
    /// Formats the text as a string literal.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.to_string(), formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;

    #[test]
    fn agrees_with_a_string_on_branching_histories() {
        let pieces = ["", "a", "b", "ab", "ba", "\0", "aab", "é"];
        let mut random = Random::new(5);
        let mut versions = vec![(Text::new(), String::new())];
        for _ in 0..20 {
            for _ in 0..200 {
                let from = if random.below(4) == 0 { random.below(versions.len()) } else { versions.len() - 1 };
                let (mut text, mut model) = versions[from].clone();
                if model.len() > 12 {
                    (text, model) = (Text::new(), String::new());
                }
                let (end, end_model) = if random.below(4) == 0 {
                    versions[random.below(versions.len())].clone()
                } else {
                    let piece = pieces[random.below(pieces.len())];
                    (Text::from(piece), piece.to_owned())
                };
                let next = (text.append(&end), model + &end_model);
                assert_eq!(next.0.to_string(), next.1);
                if versions.len() == 200 {
                    versions.swap_remove(random.below(200));
                }
                versions.push(next);
            }
            for (left, left_model) in &versions {
                assert_eq!(left.len(), left_model.len());
                assert_eq!(left.is_empty(), left_model.is_empty());
                assert_eq!(format!("{left:?}"), format!("{left_model:?}"));
                let direct = Text::from(left_model.clone());
                assert_eq!((direct.hash, &direct), (left.hash, left));
                for (right, right_model) in &versions {
                    assert_eq!(left == right, left_model == right_model);
                    assert_eq!(left.hash == right.hash, left_model == right_model, "a collision, or a wrong hash");
                    let starts = left_model.starts_with(right_model);
                    assert!(left.may_start_with(right) || !starts, "{left:?} starts with {right:?}");
                    let is_compared = right.pieces().count() <= 4;
                    assert!(starts || !is_compared || !left.may_start_with(right), "{left:?}, {right:?}");
                }
            }
        }
    }

    #[test]
    fn equal_hashes_of_unequal_texts_are_told_apart() {
        let forged = |text: &str| Text { hash: 1, ..Text::from(text) };
        assert_ne!(forged("ab").append(&Text::from("c")), forged("xb").append(&Text::from("c")));
        assert_ne!(forged("abc"), forged("abd"));
        assert_eq!(forged("abc"), forged("abc"));
    }

    #[test]
    fn a_hundred_thousand_pieces_are_used_and_dropped_without_recursion() {
        let small_stack = std::thread::Builder::new().stack_size(64 * 1024);
        let work = || {
            let piece = Text::from("xy");
            let trunk = (0..100_000).fold(Text::new(), |text, _| text.append(&piece));
            assert_eq!(trunk, Text::from("xy".repeat(100_000)));
            let branch = trunk.append(&piece);
            drop(trunk);
            assert_eq!(branch.len(), 200_002);
        };
        small_stack.spawn(work).unwrap().join().unwrap();
    }

    #[test]
    fn an_empty_text_holds_nothing() {
        let empty = Text::new().append(&Text::from(""));
        assert_eq!((empty.heap_size(), &empty), (0, &Text::new()));
        assert_eq!(Text::from("a").append(&empty).pieces().count(), 1);
    }
}

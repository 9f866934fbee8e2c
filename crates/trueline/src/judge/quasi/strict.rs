//! The two restrictions of strict out-of-order semantics, from section V of the Round-Up paper.
//!
//! A queue holds the values `0, 1, 2, ..`, and `removed` is the order in which they are taken out.
//! The two restrictions together are equivalent to the condition that no value is more than `k`
//! places away from its original place. In the paper's second restriction, the head is "returned by
//! one of the first k deq operations"; according to the paper's own example and to the lateness
//! attribute, this must be `k + 1`.
//!
//! ```
//! use trueline::judge::quasi::strict::{is_near_the_head, is_not_late};
//!
//! // The table of section V, for k = 1.
//! let both = |removed: [usize; 3]| (is_near_the_head(&removed, 1), is_not_late(&removed, 1));
//! assert_eq!(both([0, 1, 2]), (true, true));
//! assert_eq!(both([1, 0, 2]), (true, true));
//! assert_eq!(both([0, 2, 1]), (true, true));
//! assert_eq!(both([2, 0, 1]), (false, true));
//! assert_eq!(both([1, 2, 0]), (true, false));
//! assert_eq!(both([2, 1, 0]), (false, false));
//! ```

/// Restriction 1: returns whether each value is at most `k` steps from the head when it is removed.
pub fn is_near_the_head(removed: &[usize], k: usize) -> bool {
    let still_there = |at: usize| removed[at..].iter();
    removed.iter().enumerate().all(|(at, value)| still_there(at).filter(|other| *other < value).count() <= k)
}

/// Restriction 2: returns whether each value is removed at most `k` places after its original
/// place.
pub fn is_not_late(removed: &[usize], k: usize) -> bool {
    removed.iter().enumerate().all(|(at, value)| at.saturating_sub(*value) <= k)
}

//! Values packed into words, where the word 0 means no value.

/// Returns the word of a value.
///
/// # Panics
/// Panics if the value is `u64::MAX`, which does not fit into a word.
#[track_caller]
pub(super) fn of(value: u64) -> u64 {
    value.checked_add(1).expect("the value must be below `u64::MAX`")
}

/// Returns the value of a word, if any.
pub(super) fn value(word: u64) -> Option<u64> {
    word.checked_sub(1)
}

//! Values in words of which 0 is none.

/// The word of a value.
///
/// # Panics
/// If it is `u64::MAX`, for which there is none.
#[track_caller]
pub(super) fn of(value: u64) -> u64 {
    value.checked_add(1).expect("the value is below the largest")
}

/// The value of a word, if it has one.
pub(super) fn value(word: u64) -> Option<u64> {
    word.checked_sub(1)
}

//! Atomics with a schedule point before each access.

use std::sync::atomic;

use super::Ordering;
use crate::world::{Access, AccessKind, Named, Place, access};

macro_rules! common {
    ($name:ident, $value:ty) => {
        impl $name {
            /// Creates an atomic with this value.
            pub const fn new(value: $value) -> Self {
                Self(atomic::$name::new(value))
            }

            /// Returns the value.
            #[inline]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                self.access(AccessKind::Load, "load", || self.0.load(order))
            }

            /// Sets the value.
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                self.access(AccessKind::Store, "store", || self.0.store(value, order));
            }

            /// Sets the value and returns the previous value.
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.access(AccessKind::Update, "swap", || self.0.swap(value, order))
            }

            /// Sets the value to `new` if the value is `current`, and returns the previous value.
            ///
            /// # Errors
            /// Returns the value in an error if the value is not `current`.
            #[inline]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.access(AccessKind::Update, "compare_exchange", || {
                    self.0.compare_exchange(current, new, success, failure)
                })
            }

            /// Like [`compare_exchange`](Self::compare_exchange), but may fail spuriously.
            ///
            /// # Errors
            /// Returns the value in an error if the value is not `current`, or if the call fails
            /// spuriously.
            #[inline]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.access(AccessKind::Update, "compare_exchange_weak", || {
                    self.0.compare_exchange_weak(current, new, success, failure)
                })
            }

            /// Sets all bits that are set in `value`, and returns the previous value.
            #[inline]
            #[track_caller]
            pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.access(AccessKind::Update, "fetch_or", || self.0.fetch_or(value, order))
            }

            /// Clears all bits that are not set in `value`, and returns the previous value.
            #[inline]
            #[track_caller]
            pub fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.access(AccessKind::Update, "fetch_and", || self.0.fetch_and(value, order))
            }

            #[inline]
            #[track_caller]
            fn access<R>(&self, kind: AccessKind, name: &'static str, act: impl FnOnce() -> R) -> R {
                let value = || self.0.load(Ordering::Relaxed) as u64;
                access(Access::new(kind, Place::of(self)), Named::plain(name), act, value)
            }

            /// Returns the underlying atomic, whose accesses are not schedule points. Use it for data that no other
            /// thread can reach yet, and for data that no longer changes: fewer schedule points mean fewer schedules to
            /// explore.
            #[inline]
            pub fn unscheduled(&self) -> &atomic::$name {
                &self.0
            }

            /// Returns a mutable reference to the value. This is not a schedule point, because no
            /// other thread has access.
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            /// Returns the value, and consumes the atomic.
            pub fn into_inner(self) -> $value {
                self.0.into_inner()
            }
        }

        impl From<$value> for $name {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

macro_rules! integer {
    ($name:ident, $value:ident) => {
        #[doc = concat!("An atomic `", stringify!($value), "`, as in `std`, with a schedule point before each access.")]
        ///
        /// ```
        #[doc = concat!("use trueline_sync::primitives::{", stringify!($name), ", Ordering};")]
        ///
        #[doc = concat!("let word = ", stringify!($name), "::new(1);")]
        /// assert_eq!(word.fetch_add(1, Ordering::SeqCst), 1);
        /// assert_eq!(word.compare_exchange(1, 5, Ordering::SeqCst, Ordering::SeqCst), Err(2));
        /// ```
        #[derive(Default, Debug)]
        pub struct $name(atomic::$name);

        common!($name, $value);

        impl $name {
            /// Adds to the value, wrapping around on overflow, and returns the previous value.
            #[inline]
            #[track_caller]
            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.access(AccessKind::Update, "fetch_add", || self.0.fetch_add(value, order))
            }

            /// Subtracts from the value, wrapping around on overflow, and returns the previous
            /// value.
            #[inline]
            #[track_caller]
            pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.access(AccessKind::Update, "fetch_sub", || self.0.fetch_sub(value, order))
            }

            /// Sets the value to the maximum of the current value and `value`, and returns the
            /// previous value.
            #[inline]
            #[track_caller]
            pub fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                self.access(AccessKind::Update, "fetch_max", || self.0.fetch_max(value, order))
            }

            /// Sets the value to the minimum of the current value and `value`, and returns the
            /// previous value.
            #[inline]
            #[track_caller]
            pub fn fetch_min(&self, value: $value, order: Ordering) -> $value {
                self.access(AccessKind::Update, "fetch_min", || self.0.fetch_min(value, order))
            }
        }
    };
}

integer!(AtomicU32, u32);
integer!(AtomicU64, u64);
integer!(AtomicUsize, usize);

/// A replacement for `std`'s `AtomicBool`, with a schedule point before each access.
///
/// ```
/// use trueline_sync::primitives::{AtomicBool, Ordering};
///
/// let flag = AtomicBool::new(false);
/// assert!(!flag.swap(true, Ordering::SeqCst));
/// assert!(flag.load(Ordering::SeqCst));
/// ```
#[derive(Default, Debug)]
pub struct AtomicBool(atomic::AtomicBool);

common!(AtomicBool, bool);

#[cfg(test)]
mod tests {
    use super::Ordering::SeqCst;
    use super::*;

    #[test]
    fn accesses_do_what_those_of_std_do() {
        let mut word = AtomicU64::new(5);
        assert_eq!(word.swap(6, SeqCst), 5);
        assert_eq!(word.fetch_add(2, SeqCst), 6);
        assert_eq!(word.fetch_sub(1, SeqCst), 8);
        assert_eq!(word.fetch_max(9, SeqCst), 7);
        assert_eq!(word.fetch_min(3, SeqCst), 9);
        assert_eq!(word.fetch_or(4, SeqCst), 3);
        assert_eq!(word.fetch_and(5, SeqCst), 7);
        assert_eq!(word.compare_exchange(4, 0, SeqCst, SeqCst), Err(5));
        assert_eq!(word.compare_exchange(5, 1, SeqCst, SeqCst), Ok(5));
        while word.compare_exchange_weak(1, 2, SeqCst, SeqCst).is_err() {}
        word.store(word.load(SeqCst) + 1, SeqCst);
        *word.get_mut() += 1;
        assert_eq!(word.unscheduled().load(SeqCst), 4);
        assert_eq!(word.into_inner(), 4);
    }
}

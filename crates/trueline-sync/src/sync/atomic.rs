//! The atomics of `std::sync::atomic`, with every stable method, and a schedule point before each access.
//!
//! Each atomic contains the atomic of `std` with the same name, and has the same layout.
#![expect(unsafe_code, reason = "`from_ptr` is unsafe in `std`, too, and statics are restored through their addresses")]

use std::fmt;
use std::sync::atomic as real;

pub use std::sync::atomic::{Ordering, compiler_fence};

use crate::world::{self, Access, AccessKind, Named, Place, ValueKind};

/// A replacement for `std`'s `fence`. In an exploration, every access is immediately visible to all
/// threads, so a fence is not a schedule point there.
#[inline]
#[track_caller]
pub fn fence(order: Ordering) {
    if world::is_inside() {
        world::fence_in_world();
    }
    real::fence(order);
}

/// Another name for [`spin_loop`](crate::hint::spin_loop), deprecated as in `std`.
#[inline]
#[deprecated(note = "use hint::spin_loop instead")]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}

/// Returns the failure ordering of a `compare_and_swap` with this ordering.
fn of_failure(order: Ordering) -> Ordering {
    match order {
        Ordering::Release | Ordering::Relaxed => Ordering::Relaxed,
        Ordering::Acquire | Ordering::AcqRel => Ordering::Acquire,
        _ => Ordering::SeqCst,
    }
}

macro_rules! common {
    ([$($generic:ident)?] $name:ident, $value:ty, $kind:expr) => {
        impl$(<$generic>)? $name$(<$generic>)? {
            /// Creates an atomic with this value.
            #[inline]
            #[must_use]
            pub const fn new(value: $value) -> Self {
                Self(real::$name::new(value))
            }

            /// Returns the atomic at this address.
            ///
            /// # Safety
            /// The conditions are the same as in `std`: the pointer must be aligned and valid for reads and writes
            /// during `'a`, and non-atomic accesses during that time must be synchronized with atomic accesses.
            #[inline]
            #[must_use]
            pub const unsafe fn from_ptr<'a>(pointer: *mut $value) -> &'a Self {
                // SAFETY: the caller guarantees the conditions that `std` requires, and this type has the layout of the
                // value.
                unsafe { &*pointer.cast::<Self>() }
            }

            /// Returns a pointer to the value.
            #[inline]
            pub const fn as_ptr(&self) -> *mut $value {
                self.0.as_ptr()
            }

            /// Returns a mutable reference to the value. This is not a schedule point, because no
            /// other thread has access.
            #[inline]
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            /// Returns the value, and consumes the atomic.
            #[inline]
            #[must_use]
            pub const fn into_inner(self) -> $value {
                self.0.into_inner()
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

            /// Sets the value, and returns the previous value.
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.access(AccessKind::Update, "swap", || self.0.swap(value, order))
            }

            /// Sets the value to `new` if the value is `current`, and returns the previous value.
            #[inline]
            #[track_caller]
            #[deprecated(note = "use compare_exchange or compare_exchange_weak instead")]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                let swapped = self.access(AccessKind::Update, "compare_and_swap", || {
                    self.0.compare_exchange(current, new, order, of_failure(order))
                });
                swapped.unwrap_or_else(|other| other)
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

            /// Like [`compare_exchange`](Self::compare_exchange), but may fail spuriously. It never
            /// fails spuriously if the thread runs in a [`World`](crate::primitives::World).
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
                    if world::is_inside() {
                        self.0.compare_exchange(current, new, success, failure)
                    } else {
                        self.0.compare_exchange_weak(current, new, success, failure)
                    }
                })
            }

            /// Loads the value, and replaces it with the result of `update`. If another thread has
            /// changed the value in between, tries again with the new value.
            ///
            /// # Errors
            /// Returns the current value in an error if `update` returns `None`.
            #[inline]
            #[track_caller]
            pub fn fetch_update<F>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut update: F,
            ) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                let mut value = self.load(fetch_order);
                while let Some(next) = update(value) {
                    match self.compare_exchange_weak(value, next, set_order, fetch_order) {
                        Ok(previous) => return Ok(previous),
                        Err(other) => value = other,
                    }
                }
                Err(value)
            }

            /// Another name for [`fetch_update`](Self::fetch_update).
            ///
            /// # Errors
            /// Returns the current value in an error if `update` returns `None`.
            #[inline]
            #[track_caller]
            pub fn try_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                update: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.fetch_update(set_order, fetch_order, update)
            }

            /// Like [`fetch_update`](Self::fetch_update), but `update` always returns a new value.
            #[inline]
            #[track_caller]
            pub fn update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut update: impl FnMut($value) -> $value,
            ) -> $value {
                self.fetch_update(set_order, fetch_order, |value| Some(update(value))).unwrap_or_else(|value| value)
            }

            #[inline]
            #[track_caller]
            fn access<R>(&self, kind: AccessKind, name: &'static str, act: impl FnOnce() -> R) -> R {
                let named = Named { name, type_name: stringify!($name), value_kind: $kind };
                let value = || Self::bits(self.0.load(Ordering::Relaxed));
                world::access_of_std(Access::new(kind, Place::of(self)), named, act, value, Self::restore)
            }

            /// Sets the value of the static at this address.
            pub(crate) fn restore(address: usize, bits: u64) {
                let pointer = std::ptr::with_exposed_provenance::<real::$name$(<$generic>)?>(address);
                // SAFETY: `Statics` passes the address of an atomic of this type, which `access` had a reference to.
                // The atomic is in static memory, so it is still alive; `Place::of` exposed its provenance.
                let atomic = unsafe { &*pointer };
                atomic.store(Self::value_of(bits), Ordering::Relaxed);
            }
        }

        impl$(<$generic>)? From<$value> for $name$(<$generic>)? {
            #[inline]
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }

        impl$(<$generic>)? fmt::Debug for $name$(<$generic>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

macro_rules! fetches {
    ($name:ident, $value:ty, $($method:ident: $what:literal),+) => {
        impl $name {$(
            #[doc = concat!($what, ", and returns the previous one.")]
            #[inline]
            #[track_caller]
            pub fn $method(&self, value: $value, order: Ordering) -> $value {
                self.access(AccessKind::Update, stringify!($method), || self.0.$method(value, order))
            }
        )+}
    };
}

macro_rules! integers {
    ($($name:ident $value:ident $kind:ident $width:literal),+) => {$(
        #[doc = concat!("`std`'s `", stringify!($name), "`, with a schedule point before each access.")]
        ///
        /// ```
        #[doc = concat!("use trueline_sync::sync::atomic::{", stringify!($name), ", Ordering};")]
        ///
        #[doc = concat!("let number = ", stringify!($name), "::new(1);")]
        /// assert_eq!(number.fetch_add(1, Ordering::SeqCst), 1);
        /// assert_eq!(number.into_inner(), 2);
        /// ```
        #[cfg(target_has_atomic = $width)]
        #[derive(Default)]
        #[repr(transparent)]
        pub struct $name(real::$name);

        #[cfg(target_has_atomic = $width)]
        common!([] $name, $value, ValueKind::$kind);

        #[cfg(target_has_atomic = $width)]
        fetches!(
            $name,
            $value,
            fetch_add: "Adds to the value, wrapping around on overflow",
            fetch_sub: "Subtracts from the value, wrapping around on overflow",
            fetch_and: "Sets the value to its bitwise `and` with `value`",
            fetch_nand: "Sets the value to its bitwise `nand` with `value`",
            fetch_or: "Sets the value to its bitwise `or` with `value`",
            fetch_xor: "Sets the value to its bitwise `xor` with `value`",
            fetch_max: "Sets the value to the larger of the current value and `value`",
            fetch_min: "Sets the value to the smaller of the current value and `value`"
        );

        #[cfg(target_has_atomic = $width)]
        #[expect(
            clippy::allow_attributes,
            reason = "lossless for some widths; for others, truncates only the bits that `bits` added"
        )]
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_lossless,
            clippy::unnecessary_cast,
            reason = "truncates only the bits that `bits` added"
        )]
        impl $name {
            fn bits(value: $value) -> u64 {
                value as u64
            }

            fn value_of(bits: u64) -> $value {
                bits as $value
            }
        }
    )+};
}

integers!(
    AtomicI8 i8 Signed "8",
    AtomicU8 u8 Unsigned "8",
    AtomicI16 i16 Signed "16",
    AtomicU16 u16 Unsigned "16",
    AtomicI32 i32 Signed "32",
    AtomicU32 u32 Unsigned "32",
    AtomicI64 i64 Signed "64",
    AtomicU64 u64 Unsigned "64",
    AtomicIsize isize Signed "ptr",
    AtomicUsize usize Unsigned "ptr"
);

/// A replacement for `std`'s `AtomicBool`, with a schedule point before each access.
///
/// ```
/// use trueline_sync::sync::atomic::{AtomicBool, Ordering};
///
/// let flag = AtomicBool::new(false);
/// assert!(!flag.fetch_not(Ordering::SeqCst));
/// assert!(flag.load(Ordering::SeqCst));
/// ```
#[derive(Default)]
#[repr(transparent)]
pub struct AtomicBool(real::AtomicBool);

common!([] AtomicBool, bool, ValueKind::Bool);

fetches!(
    AtomicBool,
    bool,
    fetch_and: "Sets the value to its `and` with `value`",
    fetch_nand: "Sets the value to its `nand` with `value`",
    fetch_or: "Sets the value to its `or` with `value`",
    fetch_xor: "Sets the value to its `xor` with `value`"
);

impl AtomicBool {
    /// Negates the value, and returns the previous one.
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.access(AccessKind::Update, "fetch_not", || self.0.fetch_not(order))
    }

    fn bits(value: bool) -> u64 {
        u64::from(value)
    }

    fn value_of(bits: u64) -> bool {
        bits != 0
    }
}

/// A replacement for `std`'s `AtomicPtr`, with a schedule point before each access.
///
/// ```
/// use trueline_sync::sync::atomic::{AtomicPtr, Ordering};
///
/// let mut number = 5;
/// let pointer = AtomicPtr::new(&mut number);
/// assert!(!pointer.swap(std::ptr::null_mut(), Ordering::SeqCst).is_null());
/// assert!(pointer.load(Ordering::SeqCst).is_null());
/// ```
#[repr(transparent)]
pub struct AtomicPtr<T>(real::AtomicPtr<T>);

common!([T] AtomicPtr, *mut T, ValueKind::Pointer);

impl<T> AtomicPtr<T> {
    /// Moves the pointer forward by this many elements, and returns the previous pointer.
    #[inline]
    #[track_caller]
    pub fn fetch_ptr_add(&self, count: usize, order: Ordering) -> *mut T {
        self.fetch("fetch_ptr_add", order, |pointer| pointer.wrapping_add(count))
    }

    /// Moves the pointer backward by this many elements, and returns the previous pointer.
    #[inline]
    #[track_caller]
    pub fn fetch_ptr_sub(&self, count: usize, order: Ordering) -> *mut T {
        self.fetch("fetch_ptr_sub", order, |pointer| pointer.wrapping_sub(count))
    }

    /// Moves the pointer forward by this many bytes, and returns the previous pointer.
    #[inline]
    #[track_caller]
    pub fn fetch_byte_add(&self, count: usize, order: Ordering) -> *mut T {
        self.fetch("fetch_byte_add", order, |pointer| pointer.wrapping_byte_add(count))
    }

    /// Moves the pointer backward by this many bytes, and returns the previous pointer.
    #[inline]
    #[track_caller]
    pub fn fetch_byte_sub(&self, count: usize, order: Ordering) -> *mut T {
        self.fetch("fetch_byte_sub", order, |pointer| pointer.wrapping_byte_sub(count))
    }

    /// Sets the address to its bitwise `or` with `value`, and returns the previous pointer.
    #[inline]
    #[track_caller]
    pub fn fetch_or(&self, value: usize, order: Ordering) -> *mut T {
        self.fetch("fetch_or", order, |pointer| pointer.map_addr(|address| address | value))
    }

    /// Sets the address to its bitwise `and` with `value`, and returns the previous pointer.
    #[inline]
    #[track_caller]
    pub fn fetch_and(&self, value: usize, order: Ordering) -> *mut T {
        self.fetch("fetch_and", order, |pointer| pointer.map_addr(|address| address & value))
    }

    /// Sets the address to its bitwise `xor` with `value`, and returns the previous pointer.
    #[inline]
    #[track_caller]
    pub fn fetch_xor(&self, value: usize, order: Ordering) -> *mut T {
        self.fetch("fetch_xor", order, |pointer| pointer.map_addr(|address| address ^ value))
    }

    /// Updates the pointer in one access. The methods that use this function do not call the
    /// methods of `std` with the same names, because those methods do not exist in the oldest
    /// release of Rust that this crate supports.
    #[inline]
    #[track_caller]
    fn fetch(&self, name: &'static str, order: Ordering, next: impl Fn(*mut T) -> *mut T) -> *mut T {
        self.access(AccessKind::Update, name, || {
            let mut pointer = self.0.load(Ordering::Relaxed);
            loop {
                match self.0.compare_exchange_weak(pointer, next(pointer), order, of_failure(order)) {
                    Ok(previous) => return previous,
                    Err(other) => pointer = other,
                }
            }
        })
    }

    fn bits(pointer: *mut T) -> u64 {
        pointer.expose_provenance() as u64
    }

    #[expect(clippy::cast_possible_truncation, reason = "the bits are those of an address")]
    fn value_of(bits: u64) -> *mut T {
        std::ptr::with_exposed_provenance_mut(bits as usize)
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.0, f)
    }
}

macro_rules! deprecated_initial {
    ($($constant:ident: $name:ident = $value:expr),+) => {$(
        /// An initial value, deprecated as in `std`.
        #[deprecated(note = "use `new` instead")]
        #[expect(clippy::declare_interior_mutable_const, reason = "as in `std`")]
        pub const $constant: $name = $name::new($value);
    )+};
}

deprecated_initial!(
    ATOMIC_BOOL_INIT: AtomicBool = false,
    ATOMIC_ISIZE_INIT: AtomicIsize = 0,
    ATOMIC_USIZE_INIT: AtomicUsize = 0
);

#[cfg(test)]
mod tests {
    use super::Ordering::SeqCst;
    use super::*;

    /// Calls each method in turn on this type and on the type of `std`, and asserts that both return the same result
    /// and have the same value afterward.
    macro_rules! methods {
        ($name:ident: $initial:expr; $(.$method:ident($($argument:expr),*))+) => {{
            let (ours, theirs) = ($name::new($initial), real::$name::new($initial));
            $(
                assert_eq!(ours.$method($($argument),*), theirs.$method($($argument),*), stringify!($method));
                assert_eq!(ours.load(SeqCst), theirs.load(SeqCst), stringify!($method));
            )+
        }};
    }

    macro_rules! numbers {
        ($($name:ident),+) => {$(
            methods!($name: 5;
                .swap(6, SeqCst)
                .fetch_add(2, SeqCst)
                .fetch_sub(9, SeqCst)
                .fetch_and(0x55, SeqCst)
                .fetch_nand(0x2b, SeqCst)
                .fetch_or(8, SeqCst)
                .fetch_xor(3, SeqCst)
                .fetch_max(100, SeqCst)
                .fetch_min(4, SeqCst)
                .compare_exchange(4, 7, SeqCst, SeqCst)
                .compare_exchange(4, 8, SeqCst, SeqCst)
                .fetch_update(SeqCst, SeqCst, |value| Some(value + 1))
                .fetch_update(SeqCst, SeqCst, |_| None)
            );
        )+};
    }

    #[test]
    fn accesses_do_what_those_of_std_do() {
        numbers!(
            AtomicI8,
            AtomicU8,
            AtomicI16,
            AtomicU16,
            AtomicI32,
            AtomicU32,
            AtomicI64,
            AtomicU64,
            AtomicIsize,
            AtomicUsize
        );
        methods!(AtomicBool: true;
            .swap(true, SeqCst)
            .fetch_and(false, SeqCst)
            .fetch_nand(true, SeqCst)
            .fetch_or(false, SeqCst)
            .fetch_xor(true, SeqCst)
            .fetch_not(SeqCst)
            .compare_exchange(true, false, SeqCst, SeqCst)
            .compare_exchange(true, false, SeqCst, SeqCst)
        );
        let mut numbers = [1_u16, 2, 3];
        let pointer = AtomicPtr::new(numbers.as_mut_ptr());
        let start = pointer.load(SeqCst);
        assert_eq!(pointer.fetch_ptr_add(2, SeqCst), start);
        assert_eq!(pointer.fetch_ptr_sub(1, SeqCst), start.wrapping_add(2));
        assert_eq!(pointer.fetch_byte_add(2, SeqCst), start.wrapping_add(1));
        assert_eq!(pointer.fetch_byte_sub(4, SeqCst), start.wrapping_add(2));
        assert_eq!(pointer.fetch_or(1, SeqCst), start);
        assert_eq!(pointer.fetch_xor(3, SeqCst).addr(), start.addr() | 1);
        assert_eq!(pointer.fetch_and(!2, SeqCst).addr(), start.addr() | 2);
        assert_eq!(pointer.load(SeqCst), start);
    }

    #[test]
    fn the_layout_is_that_of_std() {
        fn is_alike<A, B>() {
            assert_eq!((size_of::<A>(), align_of::<A>()), (size_of::<B>(), align_of::<B>()));
        }
        is_alike::<AtomicU8, real::AtomicU8>();
        is_alike::<AtomicI64, real::AtomicI64>();
        is_alike::<AtomicBool, real::AtomicBool>();
        is_alike::<AtomicPtr<u8>, real::AtomicPtr<u8>>();
        let mut number = 3_u64;
        // SAFETY: the number outlives the reference, and is accessed only through it meanwhile.
        let atomic = unsafe { AtomicU64::from_ptr(&mut number) };
        atomic.fetch_add(1, SeqCst);
        assert_eq!(number, 4);
    }

    #[test]
    fn restoring_sets_values_of_every_type() {
        static NUMBER: AtomicI16 = AtomicI16::new(-3);
        static FLAG: AtomicBool = AtomicBool::new(true);
        let kept = (AtomicI16::bits(NUMBER.load(SeqCst)), AtomicBool::bits(FLAG.load(SeqCst)));
        NUMBER.store(9, SeqCst);
        FLAG.store(false, SeqCst);
        AtomicI16::restore(Place::of(&NUMBER).address(), kept.0);
        AtomicBool::restore(Place::of(&FLAG).address(), kept.1);
        assert_eq!((NUMBER.load(SeqCst), FLAG.load(SeqCst)), (-3, true));
    }
}

//! `std::sync::OnceLock` and `std::sync::LazyLock`.
#![expect(unsafe_code, reason = "a value is initialized if and only if its `Once` is complete")]

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit, needs_drop};
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};

use super::Once;

/// A replacement for `std`'s `OnceLock`, with schedule points. If a `static` `OnceLock` was empty
/// when an exploration began, it is empty at the start of each execution; the value of the previous
/// execution is leaked.
///
/// ```
/// use trueline_sync::sync::OnceLock;
///
/// static CELL: OnceLock<u32> = OnceLock::new();
/// assert!(CELL.get().is_none());
/// assert_eq!(*CELL.get_or_init(|| 5), 5);
/// assert_eq!(CELL.set(6), Err(6));
/// ```
pub struct OnceLock<T> {
    once: Once,
    // Invariant: if `once` is complete, the value is initialized, and no code writes it except
    // through an exclusive borrow. After an exploration has restored `once`, the value is
    // overwritten without being dropped.
    value: UnsafeCell<MaybeUninit<T>>,
    owns: PhantomData<T>,
}

// SAFETY: the value is written by the one thread that runs the closure of `once`, and only read after that, which needs
// `T: Sync`; threads that have a shared reference can move a value in, which needs `T: Send`.
unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}
// SAFETY: the cell owns the value.
unsafe impl<T: Send> Send for OnceLock<T> {}
impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// Creates an empty cell.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { once: Once::new(), value: UnsafeCell::new(MaybeUninit::uninit()), owns: PhantomData }
    }

    /// Returns the value, if it has been set.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if !self.once.is_completed() {
            return None;
        }
        // SAFETY: the `Once` is complete.
        Some(unsafe { self.value() })
    }

    /// Returns the value.
    ///
    /// # Safety
    /// `once` must be complete.
    unsafe fn value(&self) -> &T {
        // SAFETY: by the invariant, nothing writes the value.
        let value = unsafe { &*self.value.get() };
        // SAFETY: by the condition of this function, `once` is complete.
        unsafe { value.assume_init_ref() }
    }

    /// Returns a mutable reference to the value, if it has been set.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        // SAFETY: the `Once` is complete.
        self.once.is_completed_mut().then(|| unsafe { self.value.get_mut().assume_init_mut() })
    }

    /// Waits until the value has been set, and returns it.
    #[track_caller]
    pub fn wait(&self) -> &T {
        self.once.wait_force();
        // SAFETY: `wait_force` returns when `once` is complete.
        unsafe { self.value() }
    }

    /// Sets the value, if it has not been set.
    ///
    /// # Errors
    /// Returns `value` if another value has been set.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.once.call_once_force(|_| {
            if let Some(value) = value.take() {
                self.write(value);
            }
        });
        value.map_or(Ok(()), Err)
    }

    /// Returns the value. If it has not been set, first sets it to the result of `initialize`.
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, initialize: F) -> &T {
        self.once.call_once_force(|_| self.write(initialize()));
        // SAFETY: the call has returned, so `once` is complete.
        unsafe { self.value() }
    }

    /// Writes the value. Only the closure that `once` runs may call this.
    fn write(&self, value: T) {
        let slot = self.value.get();
        // SAFETY: closures of `once` run one at a time, and no reference to the value exists before
        // a closure has returned. If an exploration has restored `once`, the previous value is
        // leaked.
        unsafe { slot.write(MaybeUninit::new(value)) };
    }

    /// Returns the value, if it has been set, and consumes the cell.
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// Takes the value out of the cell, which is then empty.
    pub fn take(&mut self) -> Option<T> {
        if !self.once.is_completed_mut() {
            return None;
        }
        self.once.reset();
        // SAFETY: `once` was complete and no longer is, so no other code reads the
        // value.
        Some(unsafe { self.value.get_mut().assume_init_read() })
    }
}

impl<T> Drop for OnceLock<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => tuple.field(value).finish(),
            None => tuple.field(&format_args!("<uninit>")).finish(),
        }
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> Self {
        self.get().cloned().map_or_else(Self::new, Self::from)
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        let cell = Self::new();
        cell.get_or_init(|| value);
        cell
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

/// A replacement for `std`'s `LazyLock`, with schedule points. If a `static` `LazyLock` was not
/// initialized when an exploration began, it is initialized again in each execution; the value of
/// the previous execution is leaked.
///
/// ```
/// use trueline_sync::sync::LazyLock;
///
/// static NUMBERS: LazyLock<Vec<u32>> = LazyLock::new(|| vec![1, 2]);
/// assert_eq!(NUMBERS.len(), 2);
/// ```
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    /// The closure. Initializing the value moves the closure out of this field; after that, this
    /// field must not drop the closure. The closure is moved out a second time only if an
    /// exploration has restored `cell`.
    initialize: UnsafeCell<ManuallyDrop<F>>,
    is_taken: AtomicBool,
}

// SAFETY: the closure is read by the one thread that initializes the cell, which needs `F: Send`. The value is in a
// `OnceLock`, which is `Sync` under the same conditions.
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}
impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Creates a value that `initialize` computes when the value is first needed.
    #[inline]
    pub const fn new(initialize: F) -> Self {
        Self {
            cell: OnceLock::new(),
            initialize: UnsafeCell::new(ManuallyDrop::new(initialize)),
            is_taken: AtomicBool::new(false),
        }
    }

    /// Returns the value, and initializes it if needed.
    ///
    /// # Panics
    /// Panics if an earlier initialization has panicked, or if an exploration would initialize a static again whose
    /// closure owns data.
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        let cell = &this.cell;
        cell.once.call_once(|| {
            let was_taken = this.is_taken.swap(true, Ordering::Relaxed);
            assert!(
                !was_taken || !needs_drop::<F>(),
                "a static `LazyLock` whose closure owns data cannot be initialized again for the next execution: use a \
                 closure that owns no data"
            );
            let initialize = this.initialize.get();
            // SAFETY: `once` runs at most one closure, so `initialize` is read once. It is read
            // again only if an exploration has restored `once`. Reading it again is sound because
            // the assertion above ensures that the closure in `initialize` then owns no data.
            let initialize = unsafe { initialize.read() };
            cell.write(ManuallyDrop::into_inner(initialize)());
        });
        // SAFETY: the call has returned, so `once` is complete.
        unsafe { cell.value() }
    }

    /// Returns a mutable reference to the value, and initializes it if needed.
    ///
    /// # Panics
    /// Panics like [`force`](Self::force).
    pub fn force_mut(this: &mut Self) -> &mut T {
        Self::force(this);
        this.cell.get_mut().expect("`force` has initialized the value")
    }

    /// Returns the value, if it is initialized.
    #[track_caller]
    pub fn get(this: &Self) -> Option<&T> {
        this.cell.get()
    }

    /// Returns a mutable reference to the value, if it is initialized.
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        this.cell.get_mut()
    }
}

impl<T, F> Drop for LazyLock<T, F> {
    fn drop(&mut self) {
        if !*self.is_taken.get_mut() {
            // SAFETY: the closure was never read, and is not used again.
            unsafe { ManuallyDrop::drop(self.initialize.get_mut()) };
        }
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    fn deref_mut(&mut self) -> &mut T {
        Self::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = f.debug_tuple("LazyLock");
        match self.cell.get() {
            Some(value) => tuple.field(value).finish(),
            None => tuple.field(&format_args!("<uninit>")).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn values_are_dropped_once() {
        let value = Arc::new(());
        let cell = OnceLock::from(Arc::clone(&value));
        assert_eq!(Arc::strong_count(&value), 2);
        assert_eq!(cell.clone(), cell);
        assert!(cell.set(Arc::clone(&value)).is_err());
        drop(cell);
        assert_eq!(Arc::strong_count(&value), 1);

        let inner = Arc::clone(&value);
        let lazy = LazyLock::new(move || inner);
        assert_eq!(Arc::strong_count(&value), 2);
        assert_eq!(Arc::strong_count(&lazy), 2);
        drop(lazy);
        assert_eq!(Arc::strong_count(&value), 1);
        let inner = Arc::clone(&value);
        drop(LazyLock::new(move || inner));
        assert_eq!(Arc::strong_count(&value), 1, "a closure that was never called is dropped");
    }

    #[test]
    fn a_cell_can_be_taken_and_set_again() {
        let mut cell = OnceLock::new();
        assert_eq!(cell.set(1), Ok(()));
        assert_eq!(cell.take(), Some(1));
        assert_eq!(cell.get(), None);
        assert_eq!(*cell.get_or_init(|| 2), 2);
        *cell.get_mut().expect("the value has been set") = 3;
        assert_eq!(cell.into_inner(), Some(3));
    }
}

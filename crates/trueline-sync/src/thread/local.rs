//! Thread locals. Each thread has its own values. In a world that runs several tasks on one thread,
//! each task has its own values.

use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::error::Error;
use std::fmt;
use std::rc::Rc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::Thread;
use crate::world;

/// The thread locals of one task, in a world that runs several tasks on one operating-system thread.
pub struct Locals {
    /// The number of the task.
    pub(super) task: u64,
    pub(super) thread: OnceCell<Thread>,
    /// The values, each with the address of the `Key` of its `thread_local!`, in the order of their initialization.
    slots: RefCell<Vec<(usize, Slot)>>,
}

enum Slot {
    Alive(Rc<dyn Any>),
    /// The value has been destroyed, or is being destroyed.
    Destroyed,
}

impl Locals {
    /// Creates the thread locals of a new task. `task` is the number of the task, which is the same in each execution.
    pub fn new(task: u64) -> Rc<Self> {
        Rc::new(Self { task, thread: OnceCell::new(), slots: RefCell::default() })
    }

    /// Runs the destructors of all values, in reverse order of initialization. If a destructor
    /// initializes further values, they are destroyed too.
    pub fn destroy(&self) {
        loop {
            let value = {
                let mut slots = self.slots.borrow_mut();
                let alive = slots.iter_mut().rev().find(|(_, slot)| matches!(slot, Slot::Alive(_)));
                alive.map(|(_, slot)| std::mem::replace(slot, Slot::Destroyed))
            };
            // The value is dropped here, where nothing is borrowed, because a destructor may use
            // other thread locals.
            if value.is_none() {
                return;
            }
        }
    }

    /// Leaks all values, because their task was abandoned in the middle of an operation.
    pub fn leak(&self) {
        std::mem::forget(self.slots.take());
    }

    fn find(&self, key: usize) -> Option<Result<Rc<dyn Any>, AccessError>> {
        let slots = self.slots.borrow();
        let (_, slot) = slots.iter().find(|(known, _)| *known == key)?;
        Some(match slot {
            Slot::Alive(value) => Ok(Rc::clone(value)),
            Slot::Destroyed => Err(AccessError),
        })
    }

    fn get<T: 'static>(&self, key: usize, initialize: fn() -> T) -> Result<Rc<T>, AccessError> {
        let value = match self.find(key) {
            Some(found) => found?,
            None => {
                let value: Rc<dyn Any> = Rc::new(initialize());
                self.slots.borrow_mut().push((key, Slot::Alive(Rc::clone(&value))));
                value
            }
        };
        Ok(value.downcast().unwrap_or_else(|_| unreachable!("a key has values of one type")))
    }
}

impl fmt::Debug for Locals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, slots, .. } = self;
        f.debug_struct("Locals").field("task", task).field("slots", &slots.borrow().len()).finish_non_exhaustive()
    }
}

/// Identifies a `thread_local!` by its address.
#[derive(Debug)]
#[doc(hidden)]
pub struct Key(AtomicU8);

impl Key {
    /// Creates a key.
    #[expect(clippy::new_without_default, reason = "only the address matters")]
    pub const fn new() -> Self {
        Self(AtomicU8::new(0))
    }
}

/// The type of the statics that [`thread_local!`](crate::thread_local) declares. Replaces `std`'s
/// `LocalKey`.
pub struct LocalKey<T: 'static> {
    key: &'static Key,
    initialize: fn() -> T,
    real: &'static std::thread::LocalKey<T>,
}

/// The error of an access to a thread local that has been destroyed, or is being destroyed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct AccessError;

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl Error for AccessError {}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(key: &'static Key, initialize: fn() -> T, real: &'static std::thread::LocalKey<T>) -> Self {
        Self { key, initialize, real }
    }

    /// Calls `use_it` with the value of this thread.
    ///
    /// # Panics
    /// Panics if the value was destroyed.
    pub fn with<F, R>(&'static self, use_it: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.try_with(use_it).expect("cannot access a Thread Local Storage value during or after destruction")
    }

    /// Calls `use_it` with the value of this thread.
    ///
    /// # Errors
    /// Fails if the value was destroyed.
    #[inline]
    pub fn try_with<F, R>(&'static self, use_it: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        if world::is_inside() {
            if let Some(locals) = world::current().and_then(|world| world.locals()) {
                // Reads the key, so that the key has its own address: the compiler may merge a
                // static that is never read with another static.
                let _ = self.key.0.load(Ordering::Relaxed);
                let value = locals.get(std::ptr::from_ref(self.key).addr(), self.initialize)?;
                return Ok(use_it(&value));
            }
        }
        self.real.try_with(use_it).map_err(|_| AccessError)
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Sets the value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// Returns a copy of the value.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Takes the value, and replaces it with the default.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// Sets the value, and returns the previous one.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Calls `use_it` with the value.
    ///
    /// # Panics
    /// Panics if the value is mutably borrowed.
    pub fn with_borrow<F, R>(&'static self, use_it: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| use_it(&cell.borrow()))
    }

    /// Calls `use_it` with a mutable reference to the value.
    ///
    /// # Panics
    /// Panics if the value is borrowed.
    pub fn with_borrow_mut<F, R>(&'static self, use_it: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| use_it(&mut cell.borrow_mut()))
    }

    /// Sets the value.
    ///
    /// # Panics
    /// Panics if the value is borrowed.
    pub fn set(&'static self, value: T) {
        self.with(|cell| *cell.borrow_mut() = value);
    }

    /// Takes the value, and replaces it with the default.
    ///
    /// # Panics
    /// Panics if the value is borrowed.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Sets the value, and returns the previous one.
    ///
    /// # Panics
    /// Panics if the value is borrowed.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// A replacement for `std`'s `thread_local!`. In a world that runs tasks, each task has its own
/// values.
///
/// ```
/// use std::cell::Cell;
///
/// trueline_sync::thread_local! {
///     static COUNT: Cell<u32> = const { Cell::new(0) };
///     static NAME: Cell<String> = Cell::new("none".to_owned());
/// }
/// COUNT.set(COUNT.get() + 1);
/// assert_eq!(COUNT.get(), 1);
/// assert_eq!(NAME.take(), "none");
/// ```
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const $init:block; $($rest:tt)*) => {
        $crate::thread_local_inner!($(#[$attribute])* $vis $name, $type, const $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const $init:block) => {
        $crate::thread_local!($(#[$attribute])* $vis static $name: $type = const $init;);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::thread_local_inner!($(#[$attribute])* $vis $name, $type, $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = $init:expr) => {
        $crate::thread_local_inner!($(#[$attribute])* $vis $name, $type, $init);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! thread_local_inner {
    ($(#[$attribute:meta])* $vis:vis $name:ident, $type:ty, $init:expr) => {
        $(#[$attribute])*
        $vis const $name: $crate::thread::LocalKey<$type> = {
            static KEY: $crate::thread::Key = $crate::thread::Key::new();
            fn initialize() -> $type {
                $init
            }
            $crate::_macro_support::real_thread_local! {
                static REAL: $type = initialize();
            }
            $crate::thread::LocalKey::new(&KEY, initialize, &REAL)
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Noisy(&'static str);

    thread_local! {
        static DROPPED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }

    impl Drop for Noisy {
        fn drop(&mut self) {
            DROPPED.with_borrow_mut(|dropped| dropped.push(self.0));
        }
    }

    #[test]
    fn values_of_a_task_are_dropped_last_first_and_stay_so() {
        static KEYS: [Key; 2] = [Key::new(), Key::new()];
        let key = |number: usize| std::ptr::from_ref(&KEYS[number]).addr();
        let locals = Locals::new(0);
        locals.get(key(0), || Noisy("first")).expect("the value is alive");
        locals.get(key(1), || Noisy("second")).expect("the value is alive");
        locals.get(key(0), || unreachable!("the value is initialized") as Noisy).expect("the value is alive");
        locals.destroy();
        assert_eq!(DROPPED.take(), ["second", "first"]);
        assert!(locals.get(key(0), || Noisy("again")).is_err());
        Locals::new(1).get(key(0), || Noisy("leaked")).map(drop).expect("another task has its own value");
        DROPPED.take();
        let locals = Locals::new(2);
        locals.get(key(0), || Noisy("leaked")).map(drop).expect("the value is alive");
        locals.leak();
        assert!(DROPPED.take().is_empty());
    }

    #[test]
    fn keys_without_a_world_are_those_of_the_thread() {
        use std::cell::Cell;
        crate::thread_local! {
            pub(super) static ONE: Cell<u32> = const { Cell::new(1) };
            /// Documented.
            static TWO: RefCell<Vec<u32>> = RefCell::new(vec![2])
        }
        ONE.set(5);
        TWO.with_borrow_mut(|two| two.push(3));
        std::thread::spawn(|| assert_eq!((ONE.get(), TWO.take()), (1, vec![2]))).join().expect("the assertion holds");
        assert_eq!((ONE.get(), TWO.take()), (5, vec![2, 3]));
    }
}

//! The world that a thread runs in, and the functions by which primitives consult it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::Location;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cancel;
use crate::random::{Choices, mix};
use crate::statics::Statics;
use crate::thread::Locals;

/// The environment that threads run in: primitives consult it before each access to shared memory, at each random
/// choice, and whenever a thread waits.
///
/// A world belongs to one operating-system thread; [`enter`] installs it there. An implementation must not use
/// the types of this crate: their schedule points would call the world again.
///
/// ```
/// use std::cell::Cell;
/// use std::rc::Rc;
/// use trueline_sync::primitives::{Access, AtomicBool, Ordering, World, enter};
///
/// /// Counts the schedule points.
/// #[derive(Default)]
/// struct Points(Cell<u32>);
///
/// impl World for Points {
///     fn point(&self, _access: Access) {
///         self.0.set(self.0.get() + 1);
///     }
///
///     fn choose(&self, _bound: usize) -> usize {
///         0
///     }
/// }
///
/// let flag = AtomicBool::new(false);
/// let points = Rc::new(Points::default());
/// let inside = enter(points.clone());
/// flag.store(true, Ordering::SeqCst);
/// flag.load(Ordering::SeqCst);
/// drop(inside);
/// flag.load(Ordering::SeqCst); // outside of the world: not counted
/// assert_eq!(points.0.get(), 2);
/// ```
pub trait World {
    /// Called before an access to shared memory. Another thread may run before this call returns.
    fn point(&self, access: Access);

    /// Called where an operation of the object under test begins or ends: a schedule point outside of the code of the
    /// object.
    ///
    /// A world that already has other schedule points around operations can override this method to do nothing.
    fn edge(&self) {
        self.point(Access::unknown());
    }

    /// Returns whether the method [`saw`](Self::saw) is called after accesses. The values that
    /// `saw` receives are exact only if one thread runs at a time.
    fn is_watching(&self) -> bool {
        false
    }

    /// Called after each access, with its effect, if the world [is watching](Self::is_watching).
    fn saw(&self, seen: &Seen) {
        let _ = seen;
    }

    /// Returns a number below `bound`; `bound` is never 0.
    fn choose(&self, bound: usize) -> usize;

    /// Called when this thread cannot proceed until another thread has done something.
    fn spin(&self) {
        relax();
    }

    /// Called when this thread is about to wait on a condition variable. Returns whether the wait
    /// ends immediately, without a notification. This is a spurious wake-up, which callers of
    /// `wait` must expect.
    ///
    /// Not called if the world [blocks](Self::blocking) threads: such a world can return early from
    /// [`Blocking::block`].
    fn wakes_early(&self) -> bool {
        false
    }

    /// Returns the scheduler that blocks and wakes threads, if this world has one.
    ///
    /// If this method returns `None`, mutexes and condition variables block operating-system threads.
    fn blocking(&self) -> Option<&dyn Blocking> {
        None
    }

    /// Returns the thread locals of the current task, if this world runs several tasks on one
    /// operating-system thread.
    fn locals(&self) -> Option<Rc<Locals>> {
        None
    }

    /// Returns the storage for the initial values of static atomics, if this world restores them.
    fn statics(&self) -> Option<&Statics> {
        None
    }
}

/// The part of a [`World`] that blocks threads and wakes them: a scheduler that runs one thread at a time.
///
/// Since only one thread runs, no other thread can act between the last schedule point of a thread
/// and the moment when it blocks. So wake-ups cannot be lost.
pub trait Blocking {
    /// Lets other threads run until another thread wakes this thread at `place`, the primitive that
    /// this thread waits for. This method may return early, so callers check their condition again.
    ///
    /// On a condition variable, an early return is a spurious wake-up.
    fn block(&self, place: Place);

    /// Like [`block`](Self::block), for a wait with a time limit. Returns whether the limit has expired.
    ///
    /// Worlds do not measure time, so a time limit may expire at any point of a schedule. By
    /// default, this method does not block the thread, and reports that the limit has expired. The
    /// schedule determines when the thread runs again, so other threads may have done anything in
    /// the meantime. With this default, a missing notification never leaves the thread stuck. Every
    /// outcome remains possible under two conditions. First, threads check their condition before
    /// they check the time, as
    /// [`Condvar::wait_timeout_while`](crate::primitives::Condvar::wait_timeout_while) does.
    /// Second, threads notify all waiting threads: a notification of a single thread never wakes a
    /// thread in this method, because such a thread is not blocked. An implementation that overrides
    /// this method must not let the thread sleep forever.
    fn block_for_a_while(&self, place: Place) -> bool {
        let _ = place;
        true
    }

    /// Like [`block`](Self::block), for a wait that something outside of the world may also end:
    /// `is_over` returns whether something outside has ended the wait.
    fn block_unless(&self, place: Place, is_over: Rc<dyn Fn() -> bool>) {
        let _ = is_over;
        self.block(place);
    }

    /// Wakes threads that are blocked at `place`, if there are any. The current thread keeps running.
    fn wake(&self, place: Place, wake: Wake);

    /// Returns the number of threads that are blocked at `place`.
    fn blocked(&self, place: Place) -> usize {
        let _ = place;
        0
    }

    /// Returns the number of the task that [`spawn`](Self::spawn) starts next. The number is the
    /// same in each execution.
    fn next_task(&self) -> u64 {
        0
    }

    /// Starts a task of this world that runs `body`.
    ///
    /// # Errors
    /// Returns `body` if this world does not start tasks.
    fn spawn(&self, body: Box<dyn FnOnce()>) -> Result<(), Box<dyn FnOnce()>> {
        Err(body)
    }
}

/// Identifies a primitive (such as an atomic, a mutex or a condition variable) by its address, as
/// long as the primitive is not moved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place(usize);

impl Place {
    /// Returns the place of a primitive. Exposes the provenance of its address, because the value of a static primitive
    /// may be restored by its address.
    #[inline]
    pub(crate) fn of<T: ?Sized>(primitive: &T) -> Self {
        Self(std::ptr::from_ref(primitive).expose_provenance())
    }

    /// Returns the address of the primitive.
    pub fn address(self) -> usize {
        self.0
    }
}

/// The access that a thread is about to make at a schedule point: the primitive, and the kind of access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The kind of access.
    pub kind: AccessKind,
    /// The primitive; `None` if it is unknown.
    pub place: Option<Place>,
    /// A second primitive that is accessed in the same step, such as the condition variable that a
    /// thread begins to wait on when it releases a mutex.
    pub other: Option<Place>,
}

impl Access {
    /// Returns an access of unknown kind, to an unknown primitive.
    pub fn unknown() -> Self {
        Self { kind: AccessKind::Unknown, place: None, other: None }
    }

    #[inline]
    pub(crate) fn new(kind: AccessKind, place: Place) -> Self {
        Self { kind, place: Some(place), other: None }
    }
}

/// The kind of an access to a primitive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum AccessKind {
    /// Unknown: the access may be of any kind.
    Unknown,
    /// An atomic is read.
    Load,
    /// An atomic is written.
    Store,
    /// An atomic is read and perhaps written. Accesses to other primitives that have no kind of
    /// their own, such as joining a thread, are also of this kind.
    Update,
    /// A thread locks a mutex; if the mutex is not free, the thread waits until it is.
    Lock,
    /// A thread locks a mutex if the mutex is free, without waiting.
    TryLock,
    /// A mutex is released.
    Unlock,
    /// A mutex is released, and the thread that held it begins to wait on a condition variable.
    Wait,
    /// Threads that wait on a condition variable are woken.
    Notify,
}

/// An access with its effect.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Seen {
    /// The primitive and the kind of access.
    pub access: Access,
    /// The name of the access, such as `compare_exchange`.
    pub name: &'static str,
    /// The values of an atomic before and after the access. For [`AccessKind::TryLock`], the second value is 1 if the
    /// lock was taken.
    pub values: Option<(u64, u64)>,
    /// How to interpret the values.
    pub value_kind: ValueKind,
    /// The type of the primitive, such as `AtomicBool`; empty for the types of [`primitives`](crate::primitives).
    pub type_name: &'static str,
    /// The place of the access in the source code.
    pub location: &'static Location<'static>,
}

/// How to interpret the bits of an atomic's value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum ValueKind {
    /// As an unsigned number.
    #[default]
    Unsigned,
    /// As a signed number.
    Signed,
    /// As a `bool`.
    Bool,
    /// As an address, which differs between runs.
    Pointer,
}

/// The parts of a [`Seen`] that are known at compile time.
#[derive(Clone, Copy)]
pub(crate) struct Named {
    /// The name of the access.
    pub(crate) name: &'static str,
    pub(crate) type_name: &'static str,
    pub(crate) value_kind: ValueKind,
}

impl Named {
    /// Returns the parts for an access with this name to a primitive of
    /// [`primitives`](crate::primitives). The type of the primitive is not reported.
    pub(crate) const fn plain(name: &'static str) -> Self {
        Self::new(name, "")
    }

    pub(crate) const fn new(name: &'static str, type_name: &'static str) -> Self {
        Self { name, type_name, value_kind: ValueKind::Unsigned }
    }
}

/// Which of the waiting threads are woken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wake {
    /// Any one of the waiting threads.
    One,
    /// All waiting threads.
    All,
}

thread_local! {
    /// Whether `WORLD` is set. It is a separate variable because a thread-local without a destructor is read by a plain
    /// load.
    static IN_WORLD: Cell<bool> = const { Cell::new(false) };
    static WORLD: RefCell<Option<Rc<dyn World>>> = const { RefCell::new(None) };
    /// See [`may_end`].
    static MAY_END: Cell<bool> = const { Cell::new(true) };
    static SPINS: Cell<u32> = const { Cell::new(0) };
    /// The random choices of threads without a world.
    static CHOICES: Choices = {
        static THREADS: AtomicU64 = AtomicU64::new(0);
        Choices::new(mix(THREADS.fetch_add(1, Ordering::Relaxed)))
    };
}

/// Makes `world` the world of this thread until the guard is dropped.
///
/// Worlds nest: when the guard is dropped, the previous world is restored.
#[must_use = "the world ends when the guard is dropped"]
pub fn enter(world: Rc<dyn World>) -> Entered {
    #[cfg(all(trueline_instrumented, target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    crate::futex::link();
    let before = WORLD.replace(Some(world));
    IN_WORLD.set(true);
    Entered { before }
}

/// Keeps a thread in the world that it has [entered](enter).
pub struct Entered {
    before: Option<Rc<dyn World>>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        IN_WORLD.set(self.before.is_some());
        // If the guard is in a thread-local, `WORLD` may already be destroyed; in that case, there
        // is nothing to restore.
        let _ = WORLD.try_with(|world| world.replace(self.before.take()));
    }
}

impl fmt::Debug for Entered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entered").finish_non_exhaustive()
    }
}

/// Returns the world of this thread.
pub(crate) fn current() -> Option<Rc<dyn World>> {
    if !IN_WORLD.get() {
        return None;
    }
    // The world is cloned, not borrowed, because other threads of this world may run, and may leave
    // the world, while the world handles a call.
    WORLD.try_with(|world| world.borrow().clone()).ok().flatten()
}

/// Returns whether this thread runs in a world.
#[inline]
pub(crate) fn is_inside() -> bool {
    IN_WORLD.get()
}

/// Returns whether this copy of the crate was built by `cargo trueline`. If it was, the crates that
/// `cargo trueline` instruments have schedule points.
pub const fn is_instrumented() -> bool {
    cfg!(trueline_instrumented)
}

/// Returns whether the thread may be ended, by unwinding, at its current schedule point.
///
/// Code that uses [`primitives`](crate::primitives) may be ended. Code that uses the types of `std`
/// may have `unsafe` blocks that rely on accesses not panicking: a thread that runs such code must
/// be abandoned where it is.
pub fn may_end() -> bool {
    MAY_END.get()
}

/// A schedule point without an access: another thread may run before this call returns.
///
/// The primitives have a schedule point before each access. If the thread is
/// [canceled](crate::primitives::Cancellation), it ends here.
#[inline]
pub fn point() {
    if IN_WORLD.get() | cancel::any() {
        point_in_world(Access::unknown());
    }
}

/// A schedule point where an operation begins or ends.
#[inline]
pub fn edge() {
    if IN_WORLD.get() | cancel::any() {
        edge_in_world();
    }
}

#[cold]
#[inline(never)]
fn edge_in_world() {
    cancel::check();
    if let Some(world) = current() {
        MAY_END.set(true);
        world.edge();
    }
}

#[cold]
#[inline(never)]
fn point_in_world(access: Access) {
    cancel::check();
    if let Some(world) = current() {
        MAY_END.set(true);
        world.point(access);
    }
}

/// Accesses an atomic, after a schedule point where the thread may be ended. `value` returns the current value of the
/// atomic.
#[inline]
#[track_caller]
pub(crate) fn access<R>(access: Access, named: Named, act: impl FnOnce() -> R, value: impl Fn() -> u64) -> R {
    if IN_WORLD.get() | cancel::any() {
        return access_in_world(access, named, act, value, Location::caller());
    }
    act()
}

#[cold]
#[inline(never)]
fn access_in_world<R>(
    access: Access,
    named: Named,
    act: impl FnOnce() -> R,
    value: impl Fn() -> u64,
    location: &'static Location<'static>,
) -> R {
    cancel::check();
    let Some(world) = current() else { return act() };
    MAY_END.set(true);
    watched(&*world, access, named, act, value, location)
}

/// Like [`access`], but for the replacements of `std`'s atomics: the thread is not ended here. If
/// the atomic is a static, its value is saved at the first access. `restore` sets the atomic at a
/// given address to a given saved value.
#[inline]
#[track_caller]
pub(crate) fn access_of_std<R>(
    access: Access,
    named: Named,
    act: impl FnOnce() -> R,
    value: impl Fn() -> u64,
    restore: fn(usize, u64),
) -> R {
    if IN_WORLD.get() {
        return access_of_std_in_world(access, named, act, value, restore, Location::caller());
    }
    act()
}

#[cold]
#[inline(never)]
fn access_of_std_in_world<R>(
    access: Access,
    named: Named,
    act: impl FnOnce() -> R,
    value: impl Fn() -> u64,
    restore: fn(usize, u64),
    location: &'static Location<'static>,
) -> R {
    let Some(world) = current() else { return act() };
    if let (Some(statics), Some(place)) = (world.statics(), access.place) {
        statics.keep(place, &value, restore);
    }
    MAY_END.set(false);
    watched(&*world, access, named, act, value, location)
}

#[inline]
fn watched<R>(
    world: &dyn World,
    access: Access,
    Named { name, type_name, value_kind }: Named,
    act: impl FnOnce() -> R,
    value: impl Fn() -> u64,
    location: &'static Location<'static>,
) -> R {
    world.point(access);
    if !world.is_watching() {
        return act();
    }
    let before = value();
    let result = act();
    world.saw(&Seen { access, name, values: Some((before, value())), value_kind, type_name, location });
    result
}

/// The schedule point of a primitive whose value is not reported, such as a mutex. The thread may
/// be ended here, by unwinding.
#[inline]
#[track_caller]
pub(crate) fn point_at(access: Access, named: Named) {
    if IN_WORLD.get() | cancel::any() {
        cancel::check();
        point_at_in_world(access, named, true, Location::caller());
    }
}

/// Like [`point_at`], but for replacements of types of `std`, such as `std`'s mutex. The thread is
/// never ended here.
#[inline]
#[track_caller]
pub(crate) fn point_of_std(access: Access, named: Named) {
    if IN_WORLD.get() {
        point_at_in_world(access, named, false, Location::caller());
    }
}

#[cold]
#[inline(never)]
fn point_at_in_world(access: Access, named: Named, may_end: bool, location: &'static Location<'static>) {
    let Some(world) = current() else { return };
    MAY_END.set(may_end);
    world.point(access);
    if world.is_watching() {
        world.saw(&seen(access, named, None, location));
    }
}

fn seen(access: Access, named: Named, values: Option<(u64, u64)>, location: &'static Location<'static>) -> Seen {
    let Named { name, type_name, value_kind } = named;
    Seen { access, name, values, value_kind, type_name, location }
}

/// If the world is watching, reports the values of an access. The schedule point before the access
/// has already reported the access without values.
#[inline]
#[track_caller]
pub(crate) fn tell(access: Access, named: Named, values: (u64, u64)) {
    if let Some(world) = current() {
        if world.is_watching() {
            world.saw(&seen(access, named, Some(values), Location::caller()));
        }
    }
}

/// The schedule point of a guard that is being dropped. It does not cancel the thread, because the
/// thread may already be unwinding.
#[inline]
pub(crate) fn point_of_release(access: Access, named: Named, may_end: bool, location: &'static Location<'static>) {
    if let Some(world) = current() {
        // Several threads of a world may run on one operating-system thread. If this thread is
        // unwinding, the others must not run here, because `panicking()` would return true for
        // them, too.
        if !std::thread::panicking() {
            MAY_END.set(may_end);
            world.point(access);
        }
        if world.is_watching() {
            world.saw(&seen(access, named, None, location));
        }
    }
}

/// Returns whether a static at `place` had the value `value` when the exploration began.
#[cold]
pub(crate) fn was_always(place: Place, value: u64) -> bool {
    current().is_some_and(|world| world.statics().is_some_and(|statics| statics.value(place) == Some(value)))
}

/// Wakes threads that a world has blocked at `place`.
#[inline]
pub(crate) fn wake(place: Place, wake: Wake) {
    if let Some(world) = current() {
        if let Some(blocking) = world.blocking() {
            blocking.wake(place, wake);
        }
    }
}

/// If the world of this thread blocks threads, blocks this thread until it is woken at `place` or
/// wakes spuriously. Returns whether the world blocks threads.
pub(crate) fn block(place: Place) -> bool {
    let world = current();
    let blocking = world.as_ref().and_then(|world| world.blocking());
    blocking.map(|blocking| blocking.block(place)).is_some()
}

/// Like [`block`], with a time limit. Returns whether the limit has expired, or `None` if the world of this thread does
/// not block threads.
pub(crate) fn block_for_a_while(place: Place) -> Option<bool> {
    let world = current();
    world.as_ref().and_then(|world| world.blocking()).map(|blocking| blocking.block_for_a_while(place))
}

/// Returns whether the world of this thread blocks threads, and so runs one thread at a time.
pub(crate) fn blocks() -> bool {
    IN_WORLD.get() && current().is_some_and(|world| world.blocking().is_some())
}

/// If this thread is in a world, reports to the world that the thread is waiting in a loop for
/// other threads. Returns whether the thread is in a world.
#[inline]
pub(crate) fn spin_in_world() -> bool {
    IN_WORLD.get() && spin_cold()
}

/// Runs a schedule point for a fence, unless the world runs one thread at a time. In such a world,
/// all accesses are in order already, so a fence has no effect.
#[cold]
#[inline(never)]
pub(crate) fn fence_in_world() {
    if let Some(world) = current() {
        if world.blocking().is_none() {
            MAY_END.set(false);
            world.point(Access::unknown());
        }
    }
}

#[cold]
#[inline(never)]
fn spin_cold() -> bool {
    let Some(world) = current() else { return false };
    MAY_END.set(false);
    world.spin();
    true
}

/// Returns a number below `bound`, chosen by the world.
///
/// Without a world, the number is drawn from a random generator of the thread.
///
/// ```
/// use trueline_sync::primitives::choose;
///
/// let level = (0..8).take_while(|_| choose(2) == 1).count();
/// assert!(level <= 8);
/// ```
///
/// # Panics
/// Panics if `bound` is 0.
pub fn choose(bound: usize) -> usize {
    assert!(bound > 0, "cannot choose from 0 alternatives");
    let choice = match current() {
        Some(world) => world.choose(bound),
        None => CHOICES.with(|choices| choices.below(bound)),
    };
    assert!(choice < bound, "the world of this thread chose {choice}, but its choice must be below {bound}");
    choice
}

/// Signals that this thread cannot proceed until another thread has done something. Call it in the body of a loop that
/// waits.
///
/// Most calls are a hint to the processor; one in 32 yields to the operating system, so that another thread can run
/// even if there are few cores. If the thread is [canceled](crate::primitives::Cancellation), it ends here.
///
/// ```
/// use trueline_sync::primitives::{AtomicBool, Ordering, spin_hint};
///
/// let ready = AtomicBool::new(false);
/// std::thread::scope(|scope| {
///     scope.spawn(|| ready.store(true, Ordering::Release));
///     while !ready.load(Ordering::Acquire) {
///         spin_hint();
///     }
/// });
/// ```
pub fn spin_hint() {
    cancel::check();
    match current() {
        Some(world) => {
            MAY_END.set(true);
            world.spin();
        }
        None => relax(),
    }
}

/// One in `SPINS_PER_YIELD` calls of [`spin_hint`] yields to the operating system; the others are
/// hints to the processor. Together, the hints between two yields take about as long as one yield.
const SPINS_PER_YIELD: u32 = 32;

/// Waits briefly; now and then yields the processor to other threads.
pub(crate) fn relax() {
    let spins = SPINS.get().wrapping_add(1);
    SPINS.set(spins);
    if spins % SPINS_PER_YIELD == 0 {
        std::thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::primitives::{AtomicU64, Condvar, Mutex};

    /// Records the calls that a world gets, in order.
    #[derive(Default)]
    pub(crate) struct Scribe {
        pub(crate) asked: RefCell<Vec<&'static str>>,
        /// Runs when this thread is blocked: does what another thread would do.
        pub(crate) when_blocked: RefCell<Option<Box<dyn FnOnce()>>>,
        pub(crate) blocks: bool,
    }

    impl World for Scribe {
        fn point(&self, _access: Access) {
            self.asked.borrow_mut().push("point");
        }

        fn choose(&self, bound: usize) -> usize {
            self.asked.borrow_mut().push("choose");
            bound - 1
        }

        fn spin(&self) {
            self.asked.borrow_mut().push("spin");
        }

        fn blocking(&self) -> Option<&dyn Blocking> {
            self.blocks.then_some(self)
        }
    }

    impl Blocking for Scribe {
        fn block(&self, _place: Place) {
            self.asked.borrow_mut().push("block");
            let other = self.when_blocked.take().expect("the thread is blocked only once");
            other();
        }

        fn wake(&self, _place: Place, wake: Wake) {
            self.asked.borrow_mut().push(match wake {
                Wake::One => "wake one",
                Wake::All => "wake all",
            });
        }
    }

    #[test]
    fn each_access_asks_the_world_once() {
        let word = AtomicU64::new(0);
        let world = Rc::new(Scribe::default());
        let inside = enter(world.clone());
        word.store(1, Ordering::SeqCst);
        word.unscheduled().store(2, Ordering::SeqCst);
        assert_eq!(choose(5), 4);
        spin_hint();
        point();
        drop(inside);
        point();
        assert_eq!(world.asked.take(), ["point", "choose", "spin", "point"]);
    }

    #[test]
    fn worlds_nest() {
        let (outer, inner) = (Rc::new(Scribe::default()), Rc::new(Scribe::default()));
        let outside = enter(outer.clone());
        let inside = enter(inner.clone());
        point();
        drop(inside);
        point();
        point();
        drop(outside);
        assert_eq!((inner.asked.take().len(), outer.asked.take().len()), (1, 2));
    }

    #[test]
    fn a_thread_without_a_world_has_none() {
        let world = Rc::new(Scribe::default());
        let _inside = enter(world.clone());
        std::thread::scope(|scope| scope.spawn(point).join()).expect("a thread without a world does not panic");
        assert!(world.asked.take().is_empty());
    }

    #[test]
    fn a_mutex_blocks_through_the_world() {
        let world = Rc::new(Scribe { blocks: true, ..Scribe::default() });
        let _inside = enter(world.clone());
        // Two threads of the world run on one operating-system thread. The other thread holds the
        // lock, and releases it while this thread is blocked.
        let held: &'static Mutex<u32> = Box::leak(Box::new(Mutex::new(7)));
        let guard = held.lock();
        world.asked.take();
        world.when_blocked.replace(Some(Box::new(move || drop(guard))));
        assert_eq!(*held.lock(), 7);
        assert_eq!(
            world.asked.take(),
            ["point", "block", "point", "wake all", "point", "wake all"],
            "a woken thread tries the lock again, and wakes the others when it releases it"
        );
    }

    #[test]
    fn a_condition_variable_blocks_through_the_world() {
        let world = Rc::new(Scribe { blocks: true, ..Scribe::default() });
        let _inside = enter(world.clone());
        let shared: &'static (Mutex<bool>, Condvar) = Box::leak(Box::default());
        world.when_blocked.replace(Some(Box::new(|| {
            *shared.0.lock() = true;
            shared.1.notify_one();
        })));
        let ready = shared.1.wait_while(shared.0.lock(), |ready| !*ready);
        assert!(*ready);
        drop(ready);
        let asked = world.asked.take();
        let of_interest: Vec<_> = asked.into_iter().filter(|asked| *asked != "point").collect();
        assert_eq!(of_interest, ["wake all", "block", "wake all", "wake one", "wake all"]);
    }

    #[test]
    fn a_timed_wait_is_up_when_the_world_says_so() {
        let world = Rc::new(Scribe { blocks: true, ..Scribe::default() });
        let _inside = enter(world.clone());
        let (mutex, condvar) = (Mutex::new(()), Condvar::new());
        let started = Instant::now();
        let (guard, timed_out) = condvar.wait_timeout(mutex.lock(), Duration::from_secs(1 << 20));
        assert!(timed_out && started.elapsed() < Duration::from_secs(1 << 19));
        drop(guard);
        assert_eq!(world.asked.take(), ["point", "point", "wake all", "point", "point", "wake all"]);
    }
}

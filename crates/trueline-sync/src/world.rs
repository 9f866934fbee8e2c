//! The world that a thread runs in, and what asks it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::Location;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cancel;
use crate::random::{Choices, mix};
use crate::statics::Statics;
use crate::thread::Locals;

/// What threads run in: it is asked before each access to shared memory, at each choice, and whenever a thread waits.
///
/// A world belongs to one thread of the operating system; [`enter`] installs it there. It must not use the types of this
/// crate itself.
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
/// flag.load(Ordering::SeqCst); // no longer seen
/// assert_eq!(points.0.get(), 2);
/// ```
pub trait World {
    /// Another thread may go first here, before this one does what it says.
    fn point(&self, access: Access);

    /// An operation of the object under test begins or ends here: a point that is outside of its code.
    ///
    /// A world that has points of its own around operations needs no further ones.
    fn edge(&self) {
        self.point(Access::unknown());
    }

    /// Whether it wants to [see](Self::saw) what accesses did. Values are exact only where one thread runs at a time.
    fn is_watching(&self) -> bool {
        false
    }

    /// What the access at the last point did, if the world [is watching](Self::is_watching).
    fn saw(&self, seen: &Seen) {
        let _ = seen;
    }

    /// A number below `bound`, which is not 0.
    fn choose(&self, bound: usize) -> usize;

    /// This thread can do nothing until another has done something.
    fn spin(&self) {
        relax();
    }

    /// Whether the wait on a condition variable that this thread is about to begin ends at once, without a
    /// notification: a spurious wake-up, which those who wait must expect.
    ///
    /// A world that [blocks](Self::blocking) threads is not asked: it can return from [`Blocking::block`] early.
    fn wakes_early(&self) -> bool {
        false
    }

    /// Who lets threads sleep and wakes them, if this world does it.
    ///
    /// If it does not, mutexes and condition variables block threads of the operating system.
    fn blocking(&self) -> Option<&dyn Blocking> {
        None
    }

    /// The thread locals of the present task, if this world runs several tasks on one thread of the operating system.
    fn locals(&self) -> Option<Rc<Locals>> {
        None
    }

    /// What keeps the values of static atomics, if this world restores them.
    fn statics(&self) -> Option<&Statics> {
        None
    }
}

/// The part of a [`World`] that blocks threads and wakes them: a scheduler that runs one thread at a time.
///
/// Since only one runs, nothing happens between the last schedule point of a thread and its blocking: there are no lost
/// wake-ups to care for.
pub trait Blocking {
    /// Lets other threads run until this one is woken at `place`. It may return early: those who block look again.
    ///
    /// On a condition variable, an early return is a spurious wake-up, which it may have.
    fn block(&self, place: Place);

    /// As [`block`](Self::block), in a wait that has a time limit; returns whether the time is up.
    ///
    /// A world knows no time: a time limit may be over before all else, or after it. If nothing else is said it is over
    /// as soon as this thread runs again; and since that is a matter of the schedule, others may have done anything
    /// in between. No thread is stuck for want of a notification, and no outcome is lost where threads look at what they
    /// waited for before they ask about the time, as [`Condvar::wait_timeout_while`](crate::primitives::Condvar::wait_timeout_while)
    /// does, and where all are notified: one notification does not find this thread waiting, so it always goes to
    /// another. A world that overrides this must not let the thread sleep for good.
    fn block_for_a_while(&self, place: Place) -> bool {
        let _ = place;
        true
    }

    /// As [`block`](Self::block), where something outside of the world may also end the wait: `is_over` says whether it has.
    fn block_unless(&self, place: Place, is_over: Rc<dyn Fn() -> bool>) {
        let _ = is_over;
        self.block(place);
    }

    /// Wakes threads that are blocked at `place`, if there are any. The present thread goes on.
    fn wake(&self, place: Place, wake: Wake);

    /// How many threads are blocked at `place`.
    fn blocked(&self, place: Place) -> usize {
        let _ = place;
        0
    }

    /// The number of the task that [`spawn`](Self::spawn) starts next, which is the same in each execution.
    fn next_task(&self) -> u64 {
        0
    }

    /// Starts a task of this world, which runs `body`.
    ///
    /// # Errors
    /// Returns `body` if this world starts no tasks.
    fn spawn(&self, body: Box<dyn FnOnce()>) -> Result<(), Box<dyn FnOnce()>> {
        Err(body)
    }
}

/// Which primitive: an atomic, a mutex or a condition variable, as long as it is not moved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place(usize);

impl Place {
    #[inline]
    pub(crate) fn of<T: ?Sized>(primitive: &T) -> Self {
        Self(std::ptr::from_ref(primitive).addr())
    }

    /// The address of the primitive.
    pub fn address(self) -> usize {
        self.0
    }
}

/// What a thread is about to do at a schedule point: to which primitive, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// How.
    pub kind: AccessKind,
    /// The primitive; `None` if it is not known what happens.
    pub place: Option<Place>,
    /// Another that is accessed in the same step: the condition variable that a thread begins to wait on as it releases a
    /// mutex.
    pub other: Option<Place>,
}

impl Access {
    /// Nothing is known of what happens.
    pub fn unknown() -> Self {
        Self { kind: AccessKind::Unknown, place: None, other: None }
    }

    #[inline]
    pub(crate) fn new(kind: AccessKind, place: Place) -> Self {
        Self { kind, place: Some(place), other: None }
    }
}

/// How a primitive is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum AccessKind {
    /// In any way.
    Unknown,
    /// An atomic is read.
    Load,
    /// An atomic is written.
    Store,
    /// An atomic is read and perhaps written.
    Update,
    /// A mutex is taken, as soon as it is free.
    Lock,
    /// A mutex is taken if it is free.
    TryLock,
    /// A mutex is released.
    Unlock,
    /// A mutex is released, and its thread begins to wait on a condition variable.
    Wait,
    /// Threads are woken that wait on a condition variable.
    Notify,
}

/// What an access did.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Seen {
    /// What was accessed, and how.
    pub access: Access,
    /// The name of the access, such as `compare_exchange`.
    pub name: &'static str,
    /// The value of an atomic before it, and after it. Of [`AccessKind::TryLock`], 1 after it says that it was successful.
    pub values: Option<(u64, u64)>,
    /// How the values are to be read.
    pub value_kind: ValueKind,
    /// The type of the primitive, such as `AtomicBool`; empty for those of [`primitives`](crate::primitives).
    pub type_name: &'static str,
    /// Where it is in the source.
    pub location: &'static Location<'static>,
}

/// How the bits of an atomic's value are to be read.
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
    /// As an address, which is another one in each run.
    Pointer,
}

/// What is accessed, and by what: all of a [`Seen`] that is known when the program is compiled.
#[derive(Clone, Copy)]
pub(crate) struct Named {
    /// The name of the access.
    pub(crate) name: &'static str,
    pub(crate) type_name: &'static str,
    pub(crate) value_kind: ValueKind,
}

impl Named {
    /// Of a primitive of ours, whose type need not be said.
    pub(crate) const fn plain(name: &'static str) -> Self {
        Self::new(name, "")
    }

    pub(crate) const fn new(name: &'static str, type_name: &'static str) -> Self {
        Self { name, type_name, value_kind: ValueKind::Unsigned }
    }
}

/// How many of the threads at a place are woken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wake {
    /// One of them, whichever.
    One,
    /// All of them.
    All,
}

thread_local! {
    /// Whether `WORLD` is there. Apart from it, because a thread-local without destructor is a plain load.
    static IN_WORLD: Cell<bool> = const { Cell::new(false) };
    static WORLD: RefCell<Option<Rc<dyn World>>> = const { RefCell::new(None) };
    /// See [`may_end`].
    static MAY_END: Cell<bool> = const { Cell::new(true) };
    static SPINS: Cell<u32> = const { Cell::new(0) };
    /// Where choices come from that no world makes.
    static CHOICES: Choices = {
        static THREADS: AtomicU64 = AtomicU64::new(0);
        Choices::new(mix(THREADS.fetch_add(1, Ordering::Relaxed)))
    };
}

/// Makes `world` that of this thread, until the guard is dropped.
///
/// Worlds nest: the one before comes back.
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
        // A guard that a thread forgot in a thread-local of its own has nothing left to put back.
        let _ = WORLD.try_with(|world| world.replace(self.before.take()));
    }
}

impl fmt::Debug for Entered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entered").finish_non_exhaustive()
    }
}

/// The world of this thread.
pub(crate) fn current() -> Option<Rc<dyn World>> {
    if !IN_WORLD.get() {
        return None;
    }
    // Cloned, not borrowed: other threads of the world may run while it is asked, and they may leave it.
    WORLD.try_with(|world| world.borrow().clone()).ok().flatten()
}

/// Whether this thread runs in a world.
#[inline]
pub(crate) fn is_inside() -> bool {
    IN_WORLD.get()
}

/// Whether this copy of the crate was built by `cargo trueline`, so that there are schedule points in the crates that it
/// instruments.
pub const fn is_instrumented() -> bool {
    cfg!(trueline_instrumented)
}

/// Whether the thread may be ended, by unwinding, at the schedule point that it is at.
///
/// Code that is written on [`primitives`](crate::primitives) may be. Code that is written on the names of `std` may have
/// `unsafe` blocks that rely on accesses that do not panic: it must be left where it is.
pub fn may_end() -> bool {
    MAY_END.get()
}

/// A bare schedule point: another thread may go first here.
///
/// The primitives have one before each access. A thread that is [cancelled](crate::primitives::Cancellation) ends here.
#[inline]
pub fn point() {
    if IN_WORLD.get() | cancel::any() {
        point_in_world(Access::unknown());
    }
}

/// The schedule point where an operation begins or ends.
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

/// Accesses an atomic, behind a schedule point where its thread may be ended. `value` is what it is worth.
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

/// As [`access`], for the atomics of `std`: the thread is not ended here, and the value of a static is kept, which `restore`
/// puts back, given the address and the value.
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

/// A schedule point of a primitive that has no value, where its thread may be ended.
#[inline]
#[track_caller]
pub(crate) fn point_at(access: Access, named: Named) {
    if IN_WORLD.get() | cancel::any() {
        cancel::check();
        point_at_in_world(access, named, true, Location::caller());
    }
}

/// A schedule point of a primitive of `std` that has no value: its thread is not ended here.
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

/// Tells what became of an access that only [`point_at`] has told of, if the world is watching.
#[inline]
#[track_caller]
pub(crate) fn tell(access: Access, named: Named, values: (u64, u64)) {
    if let Some(world) = current() {
        if world.is_watching() {
            world.saw(&seen(access, named, Some(values), Location::caller()));
        }
    }
}

/// The schedule point of a guard that is dropped, perhaps because its thread unwinds: no thread is cancelled here.
#[inline]
pub(crate) fn point_of_release(access: Access, named: Named, may_end: bool, location: &'static Location<'static>) {
    if let Some(world) = current() {
        // Threads of a world may be one of the system, and the others must not take themselves for unwinding.
        if !std::thread::panicking() {
            MAY_END.set(may_end);
            world.point(access);
        }
        if world.is_watching() {
            world.saw(&seen(access, named, None, location));
        }
    }
}

/// Whether a static has had this value since before the exploration.
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

/// Blocks this thread until it is woken at `place`, or for no reason, if its world blocks threads; whether it does.
pub(crate) fn block(place: Place) -> bool {
    let world = current();
    let blocking = world.as_ref().and_then(|world| world.blocking());
    blocking.map(|blocking| blocking.block(place)).is_some()
}

/// As [`block`], for a limited time; whether that is over, or `None` if this thread's world does not block threads.
pub(crate) fn block_for_a_while(place: Place) -> Option<bool> {
    let world = current();
    world.as_ref().and_then(|world| world.blocking()).map(|blocking| blocking.block_for_a_while(place))
}

/// Whether the world of this thread blocks threads, and so runs one at a time.
pub(crate) fn blocks() -> bool {
    IN_WORLD.get() && current().is_some_and(|world| world.blocking().is_some())
}

/// Waits for other threads as `std::hint::spin_loop` does, if this thread is in a world; whether it is.
#[inline]
pub(crate) fn spin_in_world() -> bool {
    IN_WORLD.get() && spin_cold()
}

/// A fence is a schedule point where threads are those of the operating system. Where one task runs at a time, it orders
/// nothing that is not in order.
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

/// A number below `bound`, chosen by the world.
///
/// Without a world it is random, by a generator of the thread.
///
/// ```
/// use trueline_sync::primitives::choose;
///
/// let level = (0..8).take_while(|_| choose(2) == 1).count();
/// assert!(level <= 8);
/// ```
///
/// # Panics
/// If `bound` is 0.
pub fn choose(bound: usize) -> usize {
    assert!(bound > 0, "there is nothing to choose from");
    let choice = match current() {
        Some(world) => world.choose(bound),
        None => CHOICES.with(|choices| choices.below(bound)),
    };
    assert!(choice < bound, "the world chose {choice}, of {bound}");
    choice
}

/// Says that this thread can do nothing until another has done something: for the body of a loop that waits.
///
/// The processor is told; now and then the operating system is, so that the other runs, even on few cores. A thread
/// that is [cancelled](crate::primitives::Cancellation) ends here.
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

/// How many calls of [`spin_hint`] tell the processor only: about as long as it takes to give way to another thread.
const SPINS_PER_YIELD: u32 = 32;

/// Waits a little, on a processor that others need too.
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

    /// What a world was asked, in order.
    #[derive(Default)]
    pub(crate) struct Scribe {
        pub(crate) asked: RefCell<Vec<&'static str>>,
        /// What to do when blocked, as another thread would.
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
            let other = self.when_blocked.take().expect("blocked once");
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
        std::thread::scope(|scope| scope.spawn(point).join()).expect("it asks nobody");
        assert!(world.asked.take().is_empty());
    }

    #[test]
    fn a_mutex_blocks_through_the_world() {
        let world = Rc::new(Scribe { blocks: true, ..Scribe::default() });
        let _inside = enter(world.clone());
        // Two threads of the world are one of the system. The other holds the lock, and lets it go while this one is
        // blocked.
        let held: &'static Mutex<u32> = Box::leak(Box::new(Mutex::new(7)));
        let guard = held.lock();
        world.asked.take();
        world.when_blocked.replace(Some(Box::new(move || drop(guard))));
        assert_eq!(*held.lock(), 7);
        assert_eq!(
            world.asked.take(),
            ["point", "block", "point", "wake all", "point", "wake all"],
            "it looks again when it is woken, and says so when it is done"
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

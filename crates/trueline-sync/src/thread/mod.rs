//! A replacement for `std::thread`, with schedule points. In a world that runs tasks, a spawned
//! thread is a task.

mod local;
mod scoped;
mod spawned;

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fmt, io};

pub use std::thread::{Result, panicking};

pub use local::{AccessError, Key, LocalKey, Locals};
pub use scoped::{Scope, ScopedJoinHandle, scope};
pub use spawned::{Builder, JoinHandle, spawn};

use crate::world::{self, Access, AccessKind, Named, Place, Wake};

/// A handle to a thread, or to a task.
#[derive(Clone)]
pub struct Thread(Kind);

#[derive(Clone)]
enum Kind {
    Real(std::thread::Thread),
    Task(Arc<Task>),
}

/// The data of a task that all handles to the task share.
struct Task {
    id: u64,
    name: Option<String>,
    /// Whether the task was unparked since it last parked.
    token: AtomicBool,
}

/// Identifies a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Id {
    Real(std::thread::ThreadId),
    Task(u64),
}

impl Thread {
    fn of_task(id: u64, name: Option<String>) -> Self {
        Self(Kind::Task(Arc::new(Task { id, name, token: AtomicBool::new(false) })))
    }

    /// Returns the identifier of the thread. The identifier of a task is its number, which is the
    /// same in each execution.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            Kind::Real(real) => Id::Real(real.id()),
            Kind::Task(task) => Id::Task(task.id),
        })
    }

    /// Returns the name of the thread, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Kind::Real(real) => real.name(),
            Kind::Task(task) => task.name.as_deref(),
        }
    }

    /// Lets the thread continue from [`park`], now or when it next parks.
    #[track_caller]
    pub fn unpark(&self) {
        match &self.0 {
            Kind::Real(real) => real.unpark(),
            Kind::Task(task) => {
                let place = task.point("unpark");
                task.token.store(true, Ordering::Release);
                world::wake(place, Wake::All);
            }
        }
    }
}

impl Task {
    #[track_caller]
    fn point(&self, name: &'static str) -> Place {
        let place = Place::of(self);
        world::point_of_std(Access::new(AccessKind::Update, place), Named::new(name, "Thread"));
        place
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

/// Returns a handle to the current thread.
///
/// ```
/// use trueline_sync::thread;
///
/// let here = thread::current();
/// here.unpark();
/// thread::park();
/// assert_eq!(here.id(), thread::current().id());
/// ```
#[must_use]
pub fn current() -> Thread {
    let locals = world::current().and_then(|world| world.locals());
    let of_task = |locals: &Locals| locals.thread.get_or_init(|| Thread::of_task(locals.task, None)).clone();
    locals.map_or_else(|| Thread(Kind::Real(std::thread::current())), |locals| of_task(&locals))
}

/// Waits until this thread is [unparked](Thread::unpark); may also return spuriously.
#[track_caller]
pub fn park() {
    let Kind::Task(task) = current().0 else { return std::thread::park() };
    let place = task.point("park");
    if !task.token.swap(false, Ordering::Acquire) {
        world::block(place);
        task.token.store(false, Ordering::Relaxed);
    }
}

/// Like [`park`], with a time limit.
#[track_caller]
pub fn park_timeout(duration: Duration) {
    let Kind::Task(task) = current().0 else { return std::thread::park_timeout(duration) };
    let place = task.point("park_timeout");
    if !task.token.swap(false, Ordering::Acquire) {
        world::block_for_a_while(place);
        task.token.store(false, Ordering::Relaxed);
    }
}

/// Like [`park_timeout`], with a duration in milliseconds; deprecated as in `std`.
#[track_caller]
#[deprecated(note = "use park_timeout instead")]
pub fn park_timeout_ms(ms: u32) {
    park_timeout(Duration::from_millis(ms.into()));
}

/// Sleeps for this duration. A world that blocks threads does not measure time: other threads may do anything before
/// this function returns.
#[track_caller]
pub fn sleep(duration: Duration) {
    let unshared = 0_u8;
    let place = Place::of(&unshared);
    if world::blocks() {
        world::point_of_std(Access::new(AccessKind::Load, place), Named::new("sleep", "Thread"));
        world::block_for_a_while(place);
    } else {
        std::thread::sleep(duration);
    }
}

/// Like [`sleep`], with a duration in milliseconds; deprecated as in `std`.
#[track_caller]
#[deprecated(note = "use sleep instead")]
pub fn sleep_ms(ms: u32) {
    sleep(Duration::from_millis(ms.into()));
}

/// Yields to other threads. Replaces `std::thread::yield_now`, and is a schedule point.
///
/// ```
/// trueline_sync::thread::yield_now();
/// ```
#[inline]
pub fn yield_now() {
    if !world::spin_in_world() {
        std::thread::yield_now();
    }
}

/// Returns the number of threads that can run in parallel.
///
/// # Errors
/// Fails if the number is not known.
pub fn available_parallelism() -> io::Result<NonZero<usize>> {
    std::thread::available_parallelism()
}

//! Spawned threads.
#![expect(unsafe_code, reason = "threads that borrow are unsafe to spawn in `std`, too")]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::{fmt, io};

use super::{Kind, Result, Thread};
use crate::cancel::lock;
use crate::primitives::Cancelled;
use crate::world::{self, Access, AccessKind, Named, Place, Wake};

/// Starts a thread or, in a world that runs tasks, a task.
///
/// ```
/// let thread = trueline_sync::thread::spawn(|| 5);
/// assert_eq!(thread.join().unwrap(), 5);
/// ```
///
/// # Panics
/// Panics if the thread cannot be started.
#[track_caller]
pub fn spawn<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(body).expect("failed to spawn thread")
}

/// Configures a thread before it is started.
#[derive(Debug, Default)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// Creates a builder of a thread with the default stack size, and without a name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name of the thread.
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// Sets the stack size of the thread. Ignored for tasks, whose stacks all have the same size.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.stack_size = Some(size);
        self
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// Fails if the thread cannot be started.
    #[track_caller]
    pub fn spawn<F, T>(self, body: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: neither `body` nor its result borrows anything.
        unsafe { self.spawn_unchecked(body) }
    }

    /// Starts a thread that may borrow.
    ///
    /// # Safety
    /// Everything that the thread borrows, and that its result borrows, must live until the thread has been joined or
    /// has ended.
    ///
    /// # Errors
    /// Fails if the thread cannot be started.
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, body: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        // SAFETY: the called function has the same conditions as this one, and the caller
        // guarantees them.
        let spawned = unsafe { self.spawn_then(body, |_| ()) }?;
        Ok(JoinHandle(spawned))
    }

    /// Starts a thread that runs `body`, and then calls `then`. The argument of `then` is whether
    /// `body` panicked.
    ///
    /// # Safety
    /// The conditions are those of [`spawn_unchecked`](Self::spawn_unchecked).
    #[track_caller]
    pub(super) unsafe fn spawn_then<F, T>(self, body: F, then: impl FnOnce(bool) + Send) -> io::Result<Spawned<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        let packet = Arc::new(Packet { result: Mutex::new(None) });
        let world = world::current();
        let Some(blocking) = world.as_ref().and_then(|world| world.blocking()) else {
            let theirs = Arc::clone(&packet);
            let run = move || {
                let result = catch_unwind(AssertUnwindSafe(body));
                let has_panicked = result.is_err();
                *lock(&theirs.result) = Some(result);
                then(has_panicked);
            };
            let builder = std::thread::Builder::new();
            let builder = self.name.into_iter().fold(builder, std::thread::Builder::name);
            let builder = self.stack_size.into_iter().fold(builder, std::thread::Builder::stack_size);
            // SAFETY: the packet is shared by an `Arc`; the caller guarantees the rest.
            let real = unsafe { builder.spawn_unchecked(run) }?;
            let thread = Thread(Kind::Real(real.thread().clone()));
            return Ok(Spawned { packet, thread, real: Some(real) });
        };
        let point = |name| {
            world::point_of_std(Access::new(AccessKind::Update, Place::of(&*packet)), Named::new(name, "Thread"));
        };
        point("spawn");
        let thread = Thread::of_task(blocking.next_task(), self.name);
        let (mine, theirs) = (thread.clone(), Arc::clone(&packet));
        let run = move || {
            let locals = world::current().and_then(|world| world.locals());
            if let Some(locals) = &locals {
                let _ = locals.thread.set(mine);
            }
            let result = catch_unwind(AssertUnwindSafe(body));
            let has_panicked = result.is_err();
            if result.as_ref().is_err_and(|payload| payload.is::<Cancelled>()) {
                // The execution is over, and no task waits for this task.
                return;
            }
            if let Some(locals) = locals {
                locals.destroy();
            }
            let place = Place::of(&*theirs);
            world::point_of_std(Access::new(AccessKind::Update, place), Named::new("end", "Thread"));
            *lock(&theirs.result) = Some(result);
            world::wake(place, Wake::All);
            then(has_panicked);
        };
        let run: Box<dyn FnOnce() + '_> = Box::new(run);
        // SAFETY: only the lifetime changes. Either the task ends before the data that it borrows
        // is dropped, or the task is never continued. In the second case, the task that owns the
        // data is never continued either, because it waits for this task.
        let run: Box<dyn FnOnce()> = unsafe { std::mem::transmute(run) };
        match blocking.spawn(run) {
            Ok(()) => Ok(Spawned { packet, thread, real: None }),
            Err(_) => Err(io::Error::new(io::ErrorKind::WouldBlock, "too many threads for one exploration")),
        }
    }
}

/// The result of a thread, shared with the handle that joins it.
struct Packet<T> {
    result: Mutex<Option<Result<T>>>,
}

/// A thread that was started.
pub(super) struct Spawned<T> {
    packet: Arc<Packet<T>>,
    thread: Thread,
    /// The operating-system thread; `None` for a task.
    real: Option<std::thread::JoinHandle<()>>,
}

impl<T> Spawned<T> {
    #[track_caller]
    pub(super) fn join(self) -> Result<T> {
        if let Some(real) = self.real {
            real.join()?;
        } else {
            let place = Place::of(&*self.packet);
            world::point_of_std(Access::new(AccessKind::Update, place), Named::new("join", "Thread"));
            while lock(&self.packet.result).is_none() {
                if !world::block(place) {
                    // The execution is over, so the task cannot continue.
                    let message =
                        "the task has no result, because the execution that it belongs to ended before the task";
                    return Err(Box::new(message) as Box<dyn Any + Send>);
                }
            }
        }
        let result = lock(&self.packet.result).take();
        result.unwrap_or_else(|| Err(Box::new("the thread ended without a result")))
    }

    pub(super) fn thread(&self) -> &Thread {
        &self.thread
    }

    #[track_caller]
    pub(super) fn is_finished(&self) -> bool {
        match &self.real {
            Some(real) => real.is_finished(),
            None => {
                let access = Access::new(AccessKind::Update, Place::of(&*self.packet));
                world::point_of_std(access, Named::new("is_finished", "Thread"));
                lock(&self.packet.result).is_some()
            }
        }
    }
}

/// A handle to join a spawned thread. If it is dropped, the thread keeps running.
pub struct JoinHandle<T>(Spawned<T>);

impl<T> JoinHandle<T> {
    /// Waits until the thread has ended.
    ///
    /// # Errors
    /// Returns the payload of the panic if the thread has panicked.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.0.join()
    }

    /// Returns a handle to the thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        self.0.thread()
    }

    /// Returns whether the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// A task does not have its own operating-system thread: its handle is 0.
#[cfg(unix)]
impl<T> std::os::unix::thread::JoinHandleExt for JoinHandle<T> {
    fn as_pthread_t(&self) -> std::os::unix::thread::RawPthread {
        self.0.real.as_ref().map_or(0 as _, std::os::unix::thread::JoinHandleExt::as_pthread_t)
    }

    fn into_pthread_t(self) -> std::os::unix::thread::RawPthread {
        self.0.real.map_or(0 as _, std::os::unix::thread::JoinHandleExt::into_pthread_t)
    }
}

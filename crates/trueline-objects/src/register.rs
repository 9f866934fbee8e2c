//! One shared variable.
//!
//! Lowe, *Testing for linearizability* (2016), sections 7.1 and 8, tests a variable that is not volatile: a write that
//! has returned may not be seen yet.
//!
//! [`Register`] is a variable of the machine. With [`Access::SeqCst`] it is linearizable. With [`Access::Relaxed`] or
//! [`Access::AcquireRelease`] (which on x86-64 is the same code) a store may wait in the processor while the write returns. Whether
//! that is seen depends on the machine and on the clock: a recorder that draws its times from a shared counter empties
//! the store buffer each time, and hides it.
//!
//! [`BufferedRegister`] is the same in slow motion, on every machine and under every clock: each process has a
//! buffer of its own.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Access::Relaxed`], [`Access::AcquireRelease`] | a write may be seen late | `write(5)` returns; `read` → the value before |
//! | [`Buffering::Stores`] | a write reaches the memory only when its process has called so many more operations | the same |
//! | [`Buffering::Loads`] | a process looks at the memory only once in so many reads | the same |

use std::sync::{Mutex, PoisonError};

use trueline::primitives::{AtomicU64, Ordering};

/// How a [`Register`] is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// In one order that all agree on. This is correct.
    SeqCst,
    /// By acquiring loads and releasing stores.
    AcquireRelease,
    /// By loads and stores that order nothing.
    Relaxed,
}

/// A variable of the machine, initially 0.
///
/// ```
/// use trueline_objects::register::{Access, Register};
///
/// let register = Register::new(Access::SeqCst);
/// register.write(5);
/// assert_eq!(register.read(), 5);
/// ```
#[derive(Debug)]
pub struct Register {
    value: AtomicU64,
    load: Ordering,
    store: Ordering,
}

impl Register {
    /// A variable that is accessed so.
    pub fn new(access: Access) -> Self {
        let (load, store) = match access {
            Access::SeqCst => (Ordering::SeqCst, Ordering::SeqCst),
            Access::AcquireRelease => (Ordering::Acquire, Ordering::Release),
            Access::Relaxed => (Ordering::Relaxed, Ordering::Relaxed),
        };
        Self { value: AtomicU64::new(0), load, store }
    }

    /// The value.
    #[inline]
    pub fn read(&self) -> u64 {
        self.value.load(self.load)
    }

    /// Sets the value.
    #[inline]
    pub fn write(&self, value: u64) {
        self.value.store(value, self.store);
    }
}

/// What each process of a [`BufferedRegister`] keeps to itself, and how long.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Buffering {
    /// A write reaches the memory when its process has called this many more operations; 0 is at once, and correct. A
    /// process sees its own writes, as it would on a machine with store buffers.
    Stores(u32),
    /// A process looks at the memory once in this many reads, and else at the copy it has; 1 is correct. Its writes reach
    /// the memory and the copy at once.
    Loads(u32),
}

/// A variable with a buffer for each process, initially 0.
///
/// ```
/// use trueline_objects::register::{BufferedRegister, Buffering};
///
/// let register = BufferedRegister::new(2, Buffering::Stores(1));
/// register.write(0, 5);
/// assert_eq!((register.read(1), register.read(0)), (0, 5)); // process 0 sees its own write
/// assert_eq!(register.read(1), 5); // its second operation has let go of the first
/// ```
#[derive(Debug)]
pub struct BufferedRegister {
    memory: AtomicU64,
    /// One for each process, which alone looks at it: no schedule points.
    buffers: Box<[Mutex<Buffer>]>,
    buffering: Buffering,
}

#[derive(Default, Debug)]
struct Buffer {
    /// Written, and not yet in memory, oldest first: the value, and how many operations it still waits for.
    waiting: std::collections::VecDeque<(u64, u32)>,
    /// What the process saw last.
    copy: u64,
    /// How often it may still look at the copy.
    fresh: u32,
}

impl BufferedRegister {
    /// A variable for processes 0 to `processes`.
    pub fn new(processes: usize, buffering: Buffering) -> Self {
        let buffers = (0..processes).map(|_| Mutex::default()).collect();
        Self { memory: AtomicU64::new(0), buffers, buffering }
    }

    fn with<R>(&self, process: usize, operation: impl FnOnce(&mut Buffer) -> R) -> R {
        operation(&mut self.buffers[process].lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The value, as far as this process knows.
    pub fn read(&self, process: usize) -> u64 {
        self.with(process, |buffer| {
            self.drain(buffer);
            if let Some((value, _)) = buffer.waiting.back() {
                return *value;
            }
            if buffer.fresh == 0 {
                buffer.copy = self.memory.load(Ordering::SeqCst);
                if let Buffering::Loads(reads) = self.buffering {
                    buffer.fresh = reads;
                }
            }
            buffer.fresh = buffer.fresh.saturating_sub(1);
            buffer.copy
        })
    }

    /// Sets the value, sooner or later.
    pub fn write(&self, process: usize, value: u64) {
        self.with(process, |buffer| {
            self.drain(buffer);
            match self.buffering {
                Buffering::Stores(operations) if operations > 0 => buffer.waiting.push_back((value, operations)),
                Buffering::Stores(_) | Buffering::Loads(_) => {
                    buffer.copy = value;
                    self.memory.store(value, Ordering::SeqCst);
                }
            }
        });
    }

    /// Another operation of the process begins: writes that have waited for it reach the memory.
    fn drain(&self, buffer: &mut Buffer) {
        for (_, operations) in &mut buffer.waiting {
            *operations -= 1;
        }
        while let Some((value, 0)) = buffer.waiting.front() {
            self.memory.store(*value, Ordering::SeqCst);
            buffer.waiting.pop_front();
        }
    }
}

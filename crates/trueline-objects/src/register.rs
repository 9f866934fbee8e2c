//! Registers: objects that consist of one shared variable.
//!
//! Lowe, *Testing for linearizability* (2016), sections 7.1 and 8, tests a variable that is not
//! volatile: a write may return before other threads can see it.
//!
//! [`Register`] is an atomic variable of the machine. With [`Access::SeqCst`] it is linearizable. With
//! [`Access::Relaxed`] or [`Access::AcquireRelease`] (which compile to the same code on x86-64), a store may wait in
//! the processor's store buffer after the write has returned. Whether this can be observed depends on the machine and
//! on the clock: a recorder that takes its timestamps from a shared counter empties the store buffer each time, and
//! thus hides the fault.
//!
//! [`BufferedRegister`] reproduces this behavior on every machine and with every clock: each process has a simulated
//! buffer of its own.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Access::Relaxed`], [`Access::AcquireRelease`] | other threads may see a write late | `write(5)` returns; `read` → the previous value |
//! | [`Buffering::Stores`] | a write reaches the memory only after its process has called N more operations | `write(5)` returns; `read` by another process → the previous value |
//! | [`Buffering::Loads`] | a process reads the memory only once in N reads | `write(5)` returns; `read` by another process → the previous value |

use std::sync::{Mutex, PoisonError};

use trueline::primitives::{AtomicU64, Ordering};

/// The kind of access to a [`Register`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Sequentially consistent: all threads agree on one order of all accesses. This is correct.
    SeqCst,
    /// Acquire loads and release stores.
    AcquireRelease,
    /// Relaxed loads and stores.
    Relaxed,
}

/// An atomic variable of the machine, initially 0.
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
    /// Creates a variable whose accesses are of the given kind.
    pub fn new(access: Access) -> Self {
        let (load, store) = match access {
            Access::SeqCst => (Ordering::SeqCst, Ordering::SeqCst),
            Access::AcquireRelease => (Ordering::Acquire, Ordering::Release),
            Access::Relaxed => (Ordering::Relaxed, Ordering::Relaxed),
        };
        Self { value: AtomicU64::new(0), load, store }
    }

    /// Returns the value.
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

/// The operations that each process of a [`BufferedRegister`] buffers, and for how long.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Buffering {
    /// A write reaches the memory when its process has called this many more operations. With 0,
    /// which is correct, a write reaches the memory immediately. A process sees its own writes, as
    /// on a machine with store buffers.
    Stores(u32),
    /// A process reads the memory in one of this many reads; in the other reads, it uses its own
    /// copy. With 1, which is correct, it always reads the memory. Its writes reach both the memory
    /// and the copy immediately.
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
/// assert_eq!(register.read(1), 5); // the second operation of process 0 has flushed its write
/// ```
#[derive(Debug)]
pub struct BufferedRegister {
    memory: AtomicU64,
    /// The buffer of each process. No other process accesses it, so an access is not a schedule point.
    buffers: Box<[Mutex<Buffer>]>,
    buffering: Buffering,
}

#[derive(Default, Debug)]
struct Buffer {
    /// The writes that have not reached the memory yet, oldest first. For each write, the value,
    /// and the number of operations until the value reaches the memory.
    waiting: std::collections::VecDeque<(u64, u32)>,
    /// A copy of the value in memory. A read may return the copy instead of reading the memory.
    copy: u64,
    /// The number of further reads that may use the copy.
    fresh: u32,
}

impl BufferedRegister {
    /// Creates a variable for `processes` processes, which are numbered from 0.
    pub fn new(processes: usize, buffering: Buffering) -> Self {
        let buffers = (0..processes).map(|_| Mutex::default()).collect();
        Self { memory: AtomicU64::new(0), buffers, buffering }
    }

    fn with<R>(&self, process: usize, operation: impl FnOnce(&mut Buffer) -> R) -> R {
        operation(&mut self.buffers[process].lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the value that this process sees.
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

    /// Sets the value, which other processes may see only later.
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

    /// Records that the process has started another operation. Then stores in memory those writes
    /// that have waited long enough.
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

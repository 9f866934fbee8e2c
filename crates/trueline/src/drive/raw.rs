//! Code that requires `unsafe`: the time stamp counter, a log that one thread writes while another reads, coroutines
//! that can suspend themselves anywhere, and code that runs before `main`.
#![expect(unsafe_code, reason = "the only module of `drive` with unsafe code; each block says why it is sound")]
#![expect(clippy::multiple_unsafe_ops_per_block, reason = "reaching an entry and reading it belong together")]

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::MaybeUninit;
use std::sync::Arc;
#[cfg(feature = "_cli_internal")]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns whether standard output was closed when the process started. The standard library opens `/dev/null` in its
/// place before `main`, so everything written to it would be lost without an error.
#[cfg(feature = "_cli_internal")]
pub fn stdout_was_closed() -> bool {
    STDOUT_WAS_CLOSED.load(Ordering::Relaxed)
}

#[cfg(feature = "_cli_internal")]
static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: the loader of ELF files calls the functions in this section before `main`, with arguments
// that this function does not take, which C allows. The function only checks whether files exist.
#[cfg(all(feature = "_cli_internal", target_os = "linux"))]
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn look() {
        let is_there = |path| std::fs::symlink_metadata(path).is_ok();
        STDOUT_WAS_CLOSED.store(is_there("/proc/self/fd") && !is_there("/proc/self/fd/1"), Ordering::Relaxed);
    }
    look
};

#[cfg(feature = "systematic")]
pub(super) mod coroutine {
    //! Coroutines that are suspended by a function that needs no reference to them.

    use std::cell::Cell;
    use std::ptr::NonNull;

    use corosensei::Yielder;
    use corosensei::stack::DefaultStack;

    /// A coroutine.
    pub(in crate::drive) type Coroutine = corosensei::Coroutine<(), (), ()>;

    thread_local! {
        /// The handle that suspends the coroutine running on this thread; `None` if no coroutine is
        /// running.
        static YIELDER: Cell<Option<NonNull<Yielder<(), ()>>>> = const { Cell::new(None) };
    }

    /// Creates a coroutine that runs `body` on `stack` when it is [resumed](corosensei::Coroutine::resume).
    pub(in crate::drive) fn coroutine(stack: DefaultStack, body: impl FnOnce() + 'static) -> Coroutine {
        struct Leaves;
        impl Drop for Leaves {
            fn drop(&mut self) {
                YIELDER.set(None);
            }
        }
        Coroutine::with_stack(stack, move |yielder, ()| {
            YIELDER.set(Some(NonNull::from(yielder)));
            let _leaves = Leaves;
            body();
        })
    }

    /// Suspends the coroutine that calls this. Returns `false` if the caller is not a coroutine.
    pub(in crate::drive) fn suspend() -> bool {
        let Some(yielder) = YIELDER.take() else { return false };
        // SAFETY: the yielder belongs to the coroutine that is running, so it is alive: a coroutine sets `YIELDER` when
        // it is entered and after it has been resumed, takes it before it is suspended, and clears it before it ends.
        // Coroutines are not sent to other threads.
        unsafe { yielder.as_ref() }.suspend(());
        YIELDER.set(Some(yielder));
        true
    }
}

/// Reads the time stamp counter after all preceding instructions have completed, and before any following instruction
/// starts. Preceding stores may still be in the store buffer.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn fenced_time_stamp() -> u64 {
    use std::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: x86-64 has both instructions. A system that forbids `rdtsc` ends the process with a signal, which is not
    // undefined behavior.
    unsafe {
        _mm_lfence();
        let stamp = _rdtsc();
        _mm_lfence();
        stamp
    }
}

/// Returns whether the processor has a time stamp counter that always runs at the same rate,
/// regardless of the processor's frequency and power state.
#[cfg(target_arch = "x86_64")]
pub(super) fn has_invariant_time_stamps() -> bool {
    use std::arch::x86_64::__cpuid;
    const HAS_TSC: u32 = 1 << 4;
    const INVARIANT: u32 = 1 << 8;
    // SAFETY: x86-64 has the instruction `cpuid`, and each leaf is read only if the processor reports
    // that it has this leaf.
    #[allow(unused_unsafe, reason = "the instruction is safe in later releases of Rust")]
    unsafe {
        __cpuid(0).eax >= 1
            && __cpuid(1).edx & HAS_TSC != 0
            && __cpuid(0x8000_0000).eax >= 0x8000_0007
            && __cpuid(0x8000_0007).edx & INVARIANT != 0
    }
}

/// A log of a fixed size. One thread appends to it, without allocating or locking, and with no more memory ordering
/// than needed; any thread may read its entries.
///
/// Invariant: entries below `length` are initialized and never written again; entries at or above `length` are accessed
/// only by the one [`Writer`].
struct Log<T> {
    entries: Box<[UnsafeCell<MaybeUninit<T>>]>,
    length: AtomicUsize,
}

// SAFETY: entries below `length` are only read, which needs `T: Sync`. They were moved there from another thread and
// may be dropped on a third, which needs `T: Send`. Entries at or above `length` are accessed only by the writer.
unsafe impl<T: Send + Sync> Sync for Log<T> {}

impl<T> Drop for Log<T> {
    fn drop(&mut self) {
        let length = *self.length.get_mut();
        for entry in &mut self.entries[..length] {
            // SAFETY: the entry is below `length`, so it is initialized, and nothing else refers to the log.
            unsafe { entry.get_mut().assume_init_drop() };
        }
    }
}

/// The only writer of a log.
pub(super) struct Writer<T> {
    log: Arc<Log<T>>,
    /// Equals `length` of the log, which only this writer changes.
    length: usize,
}

/// A reader of a log.
pub(super) struct Reader<T> {
    log: Arc<Log<T>>,
}

/// Creates a log with room for `capacity` entries.
pub(super) fn log<T>(capacity: usize) -> (Writer<T>, Reader<T>) {
    let entries = (0..capacity).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
    let log = Arc::new(Log { entries, length: AtomicUsize::new(0) });
    (Writer { log: Arc::clone(&log), length: 0 }, Reader { log })
}

impl<T> Writer<T> {
    /// Appends an entry.
    ///
    /// # Panics
    /// Panics if the log is full.
    #[inline]
    pub(super) fn push(&mut self, entry: T) {
        let place = &self.log.entries[self.length];
        // SAFETY: the entry is not below the `length` of the log, so it is not read, and this is the only writer. The
        // write overwrites nothing that would have to be dropped.
        unsafe { (*place.get()).write(entry) };
        self.length += 1;
        self.log.length.store(self.length, Ordering::Release);
    }
}

impl<T> Writer<T> {
    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Returns the last entry.
    pub(super) fn last(&self) -> Option<&T> {
        let entry = &self.log.entries[self.length.checked_sub(1)?];
        // SAFETY: the entry is below the `length` of the log, which this writer has stored: it is initialized, and it
        // is never written again.
        Some(unsafe { (*entry.get()).assume_init_ref() })
    }
}

impl<T> Reader<T> {
    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.log.length.load(Ordering::Acquire)
    }

    /// Returns the entries that exist now.
    pub(super) fn entries(&self) -> impl ExactSizeIterator<Item = &T> {
        self.log.entries[..self.len()].iter().map(|entry| {
            // SAFETY: the entry is below `length`, which was read with `Acquire` after the writer's `Release`: it is
            // initialized and never written again. The reader keeps the log alive.
            unsafe { (*entry.get()).assume_init_ref() }
        })
    }
}

impl<T> fmt::Debug for Writer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("length", &self.length).finish_non_exhaustive()
    }
}

impl<T: fmt::Debug> fmt::Debug for Reader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_sees_whole_entries_in_order() {
        let (mut writer, reader) = log::<Box<usize>>(1000);
        std::thread::scope(|scope| {
            scope.spawn(move || (0..1000).for_each(|number| writer.push(Box::new(number))));
            let mut seen = 0;
            while seen < 1000 {
                assert!(reader.len() >= seen, "the length only grows");
                seen = reader.entries().zip(0..).filter(|(entry, number)| ***entry == *number).count();
                assert!(seen <= reader.len());
            }
        });
    }

    #[test]
    fn entries_are_dropped_once() {
        let entry = Arc::new(());
        let (mut writer, reader) = log(3);
        writer.push(Arc::clone(&entry));
        writer.push(Arc::clone(&entry));
        drop(writer);
        assert_eq!(Arc::strong_count(&entry), 3);
        drop(reader);
        assert_eq!(Arc::strong_count(&entry), 1);
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn a_full_log_takes_no_more() {
        let (mut writer, _reader) = log(1);
        writer.push(1);
        writer.push(2);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn time_stamps_grow() {
        let first = fenced_time_stamp();
        assert!(fenced_time_stamp() > first);
    }
}

//! A pool of reusable threads.

use std::cell::Cell;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use super::os_thread::OsThread;

/// A piece of work.
type Job = Box<dyn FnOnce() + Send>;

/// Threads that wait for work, so that a run does not have to spawn threads.
///
/// A thread that never returns from its work is abandoned: another thread replaces it, and the
/// abandoned thread ends with the program. Dropping the pool waits for all other threads to end, up
/// to a time limit.
#[derive(Debug)]
pub(super) struct Pool {
    threads: Vec<PoolThread>,
    /// Threads that have no more work, and are about to end.
    retired: Vec<JoinHandle<()>>,
    name: &'static str,
}

#[derive(Debug)]
struct PoolThread {
    jobs: Sender<Job>,
    handle: JoinHandle<()>,
}

/// The time limit for threads to end once they have no more work. During this time, the threads run
/// the destructors of their thread-local variables, some of which may belong to the object under
/// test.
const TIME_TO_END: Duration = Duration::from_secs(2);

impl Pool {
    /// Creates a pool without threads; they are spawned as needed.
    pub(super) fn new(name: &'static str) -> Self {
        Self { threads: Vec::new(), retired: Vec::new(), name }
    }

    /// Queues a job for the thread with this number.
    ///
    /// # Panics
    /// Panics if the system cannot spawn another thread.
    pub(super) fn give(&mut self, thread: usize, job: Job) {
        while self.threads.len() <= thread {
            let spawned = spawn(self.name);
            self.threads.push(spawned);
        }
        self.threads[thread].jobs.send(job).expect("a thread receives jobs as long as its sender exists");
    }

    /// Abandons a thread, and replaces it with a new one.
    pub(super) fn replace(&mut self, thread: usize) {
        self.threads[thread] = spawn(self.name);
    }

    /// Replaces all threads with new ones.
    pub(super) fn renew(&mut self) {
        // This call rarely has to wait, because the threads that the previous call of `renew`
        // retired have usually ended long ago.
        self.end_retired();
        self.retired.extend(self.threads.drain(..).map(|thread| thread.handle));
    }

    fn end_retired(&mut self) {
        let (started, mut turns) = (Instant::now(), 0_u32);
        while self.retired.iter().any(|handle| !handle.is_finished()) && started.elapsed() < TIME_TO_END {
            turns += 1;
            if turns < 100 {
                std::thread::yield_now();
            } else {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        for handle in self.retired.drain(..).filter(JoinHandle::is_finished) {
            // A panic could only come from a destructor of a thread-local variable.
            let _ = handle.join().map_err(std::mem::forget);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.retired.extend(self.threads.drain(..).map(|thread| thread.handle));
        self.end_retired();
    }
}

fn spawn(name: &str) -> PoolThread {
    let (jobs, receiver): (_, Receiver<Job>) = channel();
    let work = move || {
        OsThread::here();
        for job in receiver {
            // Jobs catch panics of the object. A panic of Trueline's own code must not end the thread either, because
            // other threads wait for it.
            let _ = without_exit(|| catch_unwind(AssertUnwindSafe(job))).map_err(std::mem::forget);
        }
    };
    match std::thread::Builder::new().name(name.to_owned()).spawn(work) {
        Ok(handle) => PoolThread { jobs, handle },
        Err(error) => {
            panic!("the system cannot start another thread for a run ({error}): use fewer threads, with `.threads(..)`")
        }
    }
}

thread_local!(static INSIDE: Inside = const { Inside(Cell::new(false)) });

/// Whether the thread is running code under test.
struct Inside(Cell<bool>);

impl Drop for Inside {
    fn drop(&mut self) {
        if self.0.get() {
            // This does not use `eprintln`, because the test harness captures its output and would
            // not print it before the process aborts.
            let _ = std::io::stderr().write_all(
                b"trueline: the code under test called `std::process::exit`, so the test fails; when the test \
                 runs again, it repeats this run first\n",
            );
            std::process::abort();
        }
    }
}

/// Runs code under test. If the code calls `exit`, the process aborts, because an exit status of 0 would look like
/// success.
///
/// This works where `exit` runs the destructors of the calling thread's thread-local variables, as with glibc and on
/// macOS. Elsewhere the exit status is unchanged.
pub(crate) fn without_exit<R>(code: impl FnOnce() -> R) -> R {
    /// Restores the previous value of `INSIDE` when dropped, unless the process exits first.
    struct Leave(bool);

    impl Drop for Leave {
        fn drop(&mut self) {
            INSIDE.with(|inside| inside.0.set(self.0));
        }
    }

    let _leave = Leave(INSIDE.with(|inside| inside.0.replace(true)));
    code()
}

/// Wakes a thread when the last of several threads has finished.
#[derive(Debug)]
pub(super) struct Finish {
    left: std::sync::atomic::AtomicUsize,
    waiting: Thread,
}

impl Finish {
    /// Creates a value for this many threads; the current thread is the thread to wake.
    pub(super) fn of(threads: usize) -> Self {
        Self { left: threads.into(), waiting: std::thread::current() }
    }

    pub(super) fn finished(&self) {
        if self.left.fetch_sub(1, std::sync::atomic::Ordering::AcqRel) == 1 {
            self.waiting.unpark();
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.left.load(std::sync::atomic::Ordering::Acquire) == 0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn threads_are_used_again_and_lost_ones_replaced() {
        let mut pool = Pool::new("test");
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let finish = Arc::new(Finish::of(2));
            for thread in 0..2 {
                let (count, finish) = (Arc::clone(&count), Arc::clone(&finish));
                pool.give(
                    thread,
                    Box::new(move || {
                        count.fetch_add(1, Ordering::Relaxed);
                        finish.finished();
                    }),
                );
            }
            while !finish.is_over() {
                std::thread::park();
            }
            // This job never returns.
            pool.give(
                1,
                Box::new(|| {
                    loop {
                        std::thread::park()
                    }
                }),
            );
            pool.replace(1);
        }
        assert_eq!(count.load(Ordering::Relaxed), 6);
    }
}

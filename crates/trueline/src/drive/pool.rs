//! Threads that are used again.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Thread;

/// A piece of work.
type Job = Box<dyn FnOnce() + Send>;

/// Threads that wait for work, so that a run costs no spawning.
///
/// A thread that never comes back is given up: another takes its place, and it ends with the program.
#[derive(Debug)]
pub(super) struct Pool {
    threads: Vec<Sender<Job>>,
    name: &'static str,
}

impl Pool {
    /// A pool without threads: they are spawned when they are needed.
    pub(super) fn new(name: &'static str) -> Self {
        Self { threads: Vec::new(), name }
    }

    /// The name of its threads.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Lets the thread of this number do a piece of work behind what it has.
    pub(super) fn give(&mut self, thread: usize, job: Job) {
        while self.threads.len() <= thread {
            let spawned = spawn(self.name);
            self.threads.push(spawned);
        }
        if let Err(lost) = self.threads[thread].send(job) {
            // It ended, by a panic that nobody caught.
            self.replace(thread);
            self.threads[thread].send(lost.0).expect("a new thread waits for work");
        }
    }

    /// Gives up a thread.
    pub(super) fn replace(&mut self, thread: usize) {
        self.threads[thread] = spawn(self.name);
    }
}

fn spawn(name: &str) -> Sender<Job> {
    let (sender, receiver): (_, Receiver<Job>) = channel();
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || receiver.into_iter().for_each(|job| job()))
        .expect("the system has threads to give");
    sender
}

/// Wakes a thread when the last of several has finished.
#[derive(Debug)]
pub(super) struct Finish {
    left: std::sync::atomic::AtomicUsize,
    waiting: Thread,
}

impl Finish {
    /// Of so many threads; the present thread waits.
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
            // This one never comes back.
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

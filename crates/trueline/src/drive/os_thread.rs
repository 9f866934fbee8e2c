//! Finds out from the operating system whether a thread is running, or could run if it had a
//! processor.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// An operating-system thread. On systems other than Linux, this value contains no information.
#[derive(Clone, Debug)]
pub(crate) struct OsThread(Option<Arc<Path>>);

/// The numbers of all threads that have called [`OsThread::here`] and have not ended.
static KNOWN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// The current thread. Its number is in [`KNOWN`] until the thread ends.
struct Here(Option<Arc<Path>>);

impl Here {
    fn new() -> Self {
        let link = std::fs::read_link("/proc/thread-self").ok();
        let here = Self(link.map(|link| PathBuf::from("/proc").join(link).into()));
        if let Some(number) = here.number() {
            KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
        }
        here
    }

    fn number(&self) -> Option<u32> {
        self.0.as_ref()?.file_name()?.to_str()?.parse().ok()
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        if let Some(number) = self.number() {
            KNOWN.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
        }
    }
}

impl OsThread {
    /// Returns the current thread.
    pub(crate) fn here() -> Self {
        thread_local!(static HERE: Here = Here::new());
        Self(HERE.with(|here| here.0.clone()))
    }

    /// Returns whether the process has threads, besides its first one, that never called
    /// [`here`](Self::here). If this is not known, returns `true`.
    pub(crate) fn has_strangers() -> bool {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return true };
        tasks
            .flatten()
            .filter_map(|task| task.file_name().to_str()?.parse().ok())
            .any(|task: u32| task != std::process::id() && !known.contains(&task))
    }

    fn read(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.0.as_ref()?.join(file)).ok()
    }

    /// Returns how long the thread has run on a processor, if that is known.
    pub(crate) fn ran(&self) -> Option<Duration> {
        let text = self.read("schedstat")?;
        text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    }

    /// Returns whether the thread could continue if it had a processor, and has run for less than `enough` since it had
    /// run for `before`. If other programs use all processors, such a thread is not stuck. Returns `false` if it is not
    /// known how long the thread has run.
    pub(crate) fn is_starved(&self, before: Option<Duration>, enough: Duration) -> bool {
        let (Some(before), Some(now)) = (before, self.ran()) else { return false };
        now.saturating_sub(before) < enough && self.is_runnable()
    }

    /// Returns whether the thread is running, or waiting only for a processor.
    pub(crate) fn is_runnable(&self) -> bool {
        // In the file `stat`, the state of the thread follows its name. The name is in parentheses
        // and may contain any character.
        let state = |text: String| text.rsplit(')').next()?.split_whitespace().next().map(|state| state == "R");
        self.read("stat").and_then(state).unwrap_or(false)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    #[expect(clippy::print_stderr, reason = "prints that the test is skipped")]
    fn a_thread_that_works_runs_and_one_that_waits_does_not() {
        let here = OsThread::here();
        let Some(before) = here.ran() else {
            eprintln!("skipped: this system does not report how long a thread has run");
            return;
        };
        // The thread works until its running time has increased.
        while here.ran().is_some_and(|ran| ran < before + Duration::from_millis(5)) {}
        assert!(here.is_runnable());
        let (sender, receiver) = channel::<()>();
        let (told, task) = channel();
        let waiting = std::thread::spawn(move || {
            told.send(OsThread::here()).expect("the test waits for the message");
            receiver.recv()
        });
        let task = task.recv().expect("the thread sends its handle");
        // Eventually, the thread waits for a message.
        while task.is_runnable() {
            std::thread::yield_now();
        }
        drop(sender);
        assert!(waiting.join().expect("the thread does not panic").is_err());
    }
}

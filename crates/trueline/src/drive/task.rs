//! What the system knows of a thread: whether it could run at all.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A thread as Linux sees it. Elsewhere nothing is known.
#[derive(Clone, Debug)]
pub(crate) struct Task(Option<Arc<Path>>);

impl Task {
    /// The present thread.
    pub(crate) fn here() -> Self {
        thread_local!(static HERE: Option<Arc<Path>> = {
            let link = std::fs::read_link("/proc/thread-self").ok();
            link.map(|link| PathBuf::from("/proc").join(link).into())
        });
        Self(HERE.with(Clone::clone))
    }

    fn read(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.0.as_ref()?.join(file)).ok()
    }

    /// How long it has run, if that is known.
    pub(crate) fn ran(&self) -> Option<Duration> {
        let text = self.read("schedstat")?;
        text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    }

    /// Whether it waits for nothing but a processor, or has one.
    pub(crate) fn is_runnable(&self) -> bool {
        // The state follows the name, which is in brackets and may have anything in it.
        let state = |text: String| text.rsplit(')').next()?.split_whitespace().next().map(|state| state == "R");
        self.read("stat").and_then(state).unwrap_or(false)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    #[expect(clippy::print_stderr, reason = "what cannot be tested here is said")]
    fn a_thread_that_works_runs_and_one_that_waits_does_not() {
        let here = Task::here();
        let Some(before) = here.ran() else {
            eprintln!("skipped: this system does not tell how long a thread has run");
            return;
        };
        // It gets on, and is seen to.
        while here.ran().is_some_and(|ran| ran < before + Duration::from_millis(5)) {}
        assert!(here.is_runnable());
        let (sender, receiver) = channel::<()>();
        let (told, task) = channel();
        let waiting = std::thread::spawn(move || {
            told.send(Task::here()).expect("somebody listens");
            receiver.recv()
        });
        let task = task.recv().expect("it is told");
        // Finally, it waits.
        while task.is_runnable() {
            std::thread::yield_now();
        }
        drop(sender);
        assert!(waiting.join().expect("no panic").is_err());
    }
}

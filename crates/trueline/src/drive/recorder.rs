//! Records the operations of the caller's own threads.

use super::Clock;
use crate::history::{Interval, ObjectId, ProcessId};

/// Records the operations of one thread on an object.
///
/// The log is private to its thread and allocated in advance: between a call and its return, the recorder does not
/// allocate or lock, and writes nothing that other threads read. For most objects, [`test`](mod@crate::test) records
/// the operations. The following example instead records operations of your own threads.
///
/// ```
/// use std::sync::Mutex;
/// use trueline::assert_linearizable;
/// use trueline::drive::{Clock, Recorder};
/// use trueline::history::from_logs;
/// use trueline::spec::{FetchAdd, FetchAddOp};
///
/// let (counter, clock) = (Mutex::new(0), Clock::best().clock);
/// let logs = std::thread::scope(|scope| {
///     let threads = [0, 1].map(|process| {
///         let counter = &counter;
///         scope.spawn(move || {
///             let mut recorder = Recorder::new(process, clock, 100);
///             for _ in 0..100 {
///                 recorder.record(FetchAddOp::FetchAdd(1), |_| {
///                     let mut count = counter.lock().unwrap();
///                     *count += 1;
///                     *count - 1
///                 });
///             }
///             recorder.into_log()
///         })
///     });
///     threads.map(|thread| thread.join().unwrap()).into()
/// });
/// assert_linearizable!(from_logs(logs)?, FetchAdd::new(0));
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
#[derive(Debug)]
pub struct Recorder<Op, Ret> {
    process: ProcessId,
    clock: Clock,
    log: Vec<Interval<Op, Ret>>,
}

impl<Op, Ret> Recorder<Op, Ret> {
    /// Creates a recorder for this process, with room for `capacity` operations. After that, the
    /// recorder allocates only if it records more than `capacity` operations.
    pub fn new(process: impl Into<ProcessId>, clock: Clock, capacity: usize) -> Self {
        Self { process: process.into(), clock, log: Vec::with_capacity(capacity) }
    }

    /// Executes the operation `op` by calling `body`. Records the call, the return and the result,
    /// and returns the result.
    ///
    /// If the body panics, the operation stays pending.
    #[expect(clippy::missing_panics_doc, reason = "the entry was pushed, and no clock runs long enough to overflow")]
    pub fn record(&mut self, op: Op, body: impl FnOnce(&Op) -> Ret) -> &Ret {
        self.log.push(Interval {
            process: self.process,
            object: ObjectId::default(),
            op,
            call: 0,
            ret: None,
            line: 0,
            version: None,
        });
        let entry = self.log.last_mut().expect("the entry was pushed above");
        entry.call = time(self.clock.now());
        let result = body(&entry.op);
        let returned = time(self.clock.now());
        &entry.ret.insert((returned, result)).1
    }

    /// Returns the log, for [`from_logs`](crate::history::from_logs).
    pub fn into_log(self) -> Vec<Interval<Op, Ret>> {
        self.log
    }
}

/// Converts a time of the clock to a time of a history.
pub(super) fn time(stamp: u64) -> i64 {
    i64::try_from(stamp).expect("clocks start near 0, and do not run long enough to overflow")
}

//! Limits on a check, and their enforcement.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use crate::verdict::LimitKind;

/// The limits of a check. Without a limit, a check runs until it has an answer.
///
/// A check ends soon after the time limit: at most 50 ms plus 5 % of the limit later. The total
/// size of its tables and states stays within the memory limit, because each growth is checked
/// before it happens.
///
/// ```
/// use std::time::Duration;
/// use trueline::judge::Budget;
///
/// let budget = Budget::unlimited().time(Duration::from_secs(10)).memory(1 << 30);
/// # let _ = budget;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Budget {
    time: Option<Duration>,
    memory: Option<u64>,
    configurations: Option<u64>,
    cancel: Option<CancelToken>,
}

impl Budget {
    /// Returns a budget without limits.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// Limits the time.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Limits the total size of tables and states, in bytes.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Limits the number of configurations that the check visits.
    #[must_use]
    pub fn configurations(mut self, configurations: u64) -> Self {
        self.configurations = Some(configurations);
        self
    }

    pub(crate) fn memory_limit(&self) -> Option<u64> {
        self.memory
    }

    /// Ends the check when `token` is canceled.
    #[must_use]
    pub fn cancelled_by(mut self, token: CancelToken) -> Self {
        self.cancel = Some(token);
        self
    }
}

/// Cancels checks from another thread.
///
/// A child is canceled together with its parent, but can also be canceled alone.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    /// The index in [`REASONS`] of the reason why the token was canceled, plus 1; 0 until the token
    /// is canceled.
    reason: Arc<AtomicU8>,
    parent: Option<Arc<CancelToken>>,
}

/// The reasons for which a check can be ended from outside.
const REASONS: [LimitKind; 3] = [LimitKind::Cancelled, LimitKind::Time, LimitKind::Memory];

impl CancelToken {
    /// Returns a token that is not canceled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends all checks that have this token or a child of it.
    pub fn cancel(&self) {
        self.cancel_for(LimitKind::Cancelled);
    }

    /// Ends all checks that have this token or a child of it, as if the checks themselves had
    /// reached the given limit. This is for a program that watches its own time or memory. If the
    /// token is canceled several times, only the first limit counts. Limits other than time and
    /// memory are treated as [`LimitKind::Cancelled`].
    pub fn cancel_for(&self, limit: LimitKind) {
        let code = match limit {
            LimitKind::Time => 2,
            LimitKind::Memory => 3,
            _ => 1,
        };
        let _ = self.reason.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Returns whether the token was canceled.
    pub fn is_cancelled(&self) -> bool {
        self.reason().is_some()
    }

    /// Returns the reason why the token was canceled, or `None` if it was not canceled.
    pub fn reason(&self) -> Option<LimitKind> {
        match self.reason.load(Ordering::Relaxed).checked_sub(1) {
            Some(reason) => Some(REASONS[usize::from(reason)]),
            None => self.parent.as_ref()?.reason(),
        }
    }

    /// Returns a token that is canceled when this token is canceled.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { reason: Arc::default(), parent: Some(Arc::new(self.clone())) }
    }
}

/// The number of configurations between two checks of the clock and the token. At 10 million
/// configurations per second, the checks are about 50 µs apart. Even the slowest specifications,
/// which take about 10 µs for a configuration, delay the next look at the clock by less than 6 ms.
const LOOK_EVERY: u32 = 512;

/// The number of small steps, such as looking at an operation, that take about as long as visiting
/// one configuration.
const STEPS: usize = 64;

/// The remaining budget of one search.
#[derive(Debug)]
pub(crate) struct Meter {
    deadline: Option<Instant>,
    memory: u64,
    configurations_left: u64,
    cancel: Option<CancelToken>,
    until_look: u32,
    /// The number of configurations visited.
    pub(crate) configurations: u64,
    bytes: u64,
    pub(crate) peak_bytes: u64,
}

impl Meter {
    /// Returns a meter for the whole budget, and starts the clock.
    pub(crate) fn start(budget: &Budget) -> Self {
        Self {
            deadline: budget.time.and_then(|time| Instant::now().checked_add(time)),
            memory: budget.memory.unwrap_or(u64::MAX),
            configurations_left: budget.configurations.unwrap_or(u64::MAX),
            cancel: budget.cancel.clone(),
            // The limits are checked at the first configuration, so that a token that was canceled
            // before the start ends the search at once.
            until_look: 1,
            configurations: 0,
            bytes: 0,
            peak_bytes: 0,
        }
    }

    /// Returns a meter for a part of the work, with the same deadline, the remaining memory and the
    /// remaining configurations. If `configurations` is given, the part may visit at most this
    /// number of configurations. If `cancel` is given, it replaces the token.
    pub(crate) fn part(&self, configurations: Option<u64>, cancel: Option<CancelToken>) -> Self {
        Self {
            deadline: self.deadline,
            memory: self.memory.saturating_sub(self.bytes),
            configurations_left: self.configurations_left.min(configurations.unwrap_or(u64::MAX)),
            cancel: cancel.or_else(|| self.cancel.clone()),
            until_look: 1,
            configurations: 0,
            bytes: 0,
            peak_bytes: 0,
        }
    }

    /// Returns a meter for one of several threads, with the same deadline and an equal share of the
    /// remaining memory.
    pub(crate) fn share(&self, threads: usize, cancel: CancelToken) -> Self {
        let mut own = self.part(None, Some(cancel));
        if own.memory != u64::MAX {
            own.memory /= threads as u64;
        }
        own
    }

    /// Adds the configurations and bytes that another thread counted while this thread was running.
    pub(crate) fn merge(&mut self, other: &Meter) {
        self.configurations += other.configurations;
        // The sum is an upper bound on the peak: it assumes that both meters had their peaks at the
        // same time.
        self.peak_bytes += other.peak_bytes;
    }

    /// Adds the configurations and bytes that the meter of a part has counted.
    pub(crate) fn add(&mut self, part: &Meter) {
        self.configurations += part.configurations;
        self.configurations_left = self.configurations_left.saturating_sub(part.configurations);
        self.peak_bytes = self.peak_bytes.max(self.bytes + part.peak_bytes);
    }

    /// Returns whether the limit on configurations has been reached.
    pub(crate) fn is_spent(&self) -> bool {
        self.configurations_left == 0
    }

    pub(crate) fn token(&self) -> CancelToken {
        self.cancel.as_ref().map_or_else(CancelToken::new, CancelToken::child)
    }

    /// Counts one more configuration.
    #[inline]
    pub(crate) fn configuration(&mut self) -> Result<(), LimitKind> {
        self.configurations += 1;
        self.until_look -= 1;
        if self.until_look == 0 { self.look() } else { Ok(()) }
    }

    /// Counts configurations that an earlier search has visited, and that this one would have visited too.
    pub(crate) fn skip(&mut self, configurations: u64) {
        self.configurations += configurations;
        // The limits are checked at the next configuration.
        self.until_look = 1;
    }

    /// Counts this many small steps in addition to configurations: the clock is checked as if every [`STEPS`] steps
    /// were a configuration.
    #[inline]
    pub(crate) fn work(&mut self, steps: usize) -> Result<(), LimitKind> {
        let spent = u32::try_from(steps / STEPS).unwrap_or(u32::MAX);
        if spent < self.until_look {
            self.until_look -= spent;
            return Ok(());
        }
        self.look()
    }

    /// Reserves bytes for a table that has grown to `bytes` bytes. `charged` is the number of bytes
    /// that have been reserved for this table so far, and is updated.
    pub(crate) fn grown(&mut self, charged: &mut usize, bytes: usize) -> Result<(), LimitKind> {
        if bytes > *charged {
            self.allocate(bytes - *charged)?;
            *charged = bytes;
        }
        Ok(())
    }

    #[cold]
    fn look(&mut self) -> Result<(), LimitKind> {
        if self.configurations > self.configurations_left {
            self.until_look = 1;
            return Err(LimitKind::Configurations);
        }
        let left = self.configurations_left - self.configurations;
        self.until_look =
            u32::try_from(left.min(u64::from(LOOK_EVERY))).expect("the minimum is at most `LOOK_EVERY`").max(1);
        self.look_at_clock()
    }

    /// Checks the clock and the token. Must be called from time to time during long work that visits no configurations.
    pub(crate) fn look_at_clock(&self) -> Result<(), LimitKind> {
        if let Some(reason) = self.cancel.as_ref().and_then(CancelToken::reason) {
            return Err(reason);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(LimitKind::Time);
        }
        Ok(())
    }

    /// Reserves `bytes` more bytes. The caller allocates them afterward.
    pub(crate) fn allocate(&mut self, bytes: usize) -> Result<(), LimitKind> {
        let total = self.bytes.saturating_add(bytes as u64);
        if total > self.memory {
            return Err(LimitKind::Memory);
        }
        self.bytes = total;
        self.peak_bytes = self.peak_bytes.max(total);
        Ok(())
    }

    /// Pushes `item`, after reserving the bytes by which the vector must grow.
    #[inline]
    pub(crate) fn push<T>(&mut self, items: &mut Vec<T>, item: T) -> Result<(), LimitKind> {
        if items.len() == items.capacity() {
            self.grow(items)?;
        }
        items.push(item);
        Ok(())
    }

    #[cold]
    fn grow<T>(&mut self, items: &mut Vec<T>) -> Result<(), LimitKind> {
        let old = items.capacity();
        let new = (old * 2).max(16);
        self.allocate(new * size_of::<T>())?;
        items.reserve_exact(new - items.len());
        self.free(old * size_of::<T>());
        Ok(())
    }

    /// Releases `bytes` bytes that were reserved before. The caller has already freed them.
    pub(crate) fn free(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes as u64);
    }
}

//! Weakening a history: dropping operations, or forgetting their returns and results.

use super::{Event, EventKind, History, OpId, Operation, Outcome};

/// The fate of an operation when a history is [weakened](History::weaken).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// The operation stays as it is.
    Keep,
    /// The return of the operation is forgotten, but its result is kept. So the operation may take
    /// effect at any time after its call, with this result, or not at all.
    Optional,
    /// The return and the result of the operation are forgotten. So the operation may take effect
    /// at any time after its call, with any result, or not at all.
    Forget,
    /// The operation is removed.
    LeaveOut,
}

impl<Op: Clone, Ret: Clone> History<Op, Ret> {
    /// Applies a fate to each operation, and returns the resulting history. The remaining
    /// operations keep their order and are renumbered.
    ///
    /// Forgetting returns, with or without results, keeps all linearizations, and may add some. Removing operations may
    /// add or remove linearizations; the module `judge::shrink` explains when removing operations cannot make a
    /// linearizable history non-linearizable.
    ///
    /// ```
    /// use trueline::history::{Fate, History, OpId, Outcome};
    ///
    /// let mut builder = History::builder();
    /// for (process, op) in [(0, "write 1"), (1, "write 2"), (2, "read")] {
    ///     builder.call(process, op)?;
    ///     builder.ret(process, process)?;
    /// }
    /// let history = builder.finish();
    /// let fates = [Fate::Forget, Fate::LeaveOut, Fate::Keep];
    /// let weaker = history.weaken(|id, _| fates[id.index()]);
    /// assert_eq!(weaker.len(), 2);
    /// assert_eq!(weaker[OpId(0)].outcome, Outcome::Pending);
    /// assert_eq!(weaker[OpId(1)].outcome, Outcome::Returned(2));
    /// # Ok::<(), trueline::history::HistoryError>(())
    /// ```
    ///
    /// # Complexity
    /// Linear in the number of events.
    #[must_use]
    #[doc(hidden)]
    pub fn weaken(&self, mut fate: impl FnMut(OpId, &Operation<Op, Ret>) -> Fate) -> Self {
        let mut fates = Vec::with_capacity(self.operations.len());
        for (id, operation) in (0..).zip(&self.operations) {
            fates.push(fate(OpId(id), operation));
        }
        self.weaken_by(&fates)
    }

    /// Applies a fate to each operation. `fates` is indexed by the number of the operation.
    pub(crate) fn weaken_by(&self, fates: &[Fate]) -> Self {
        self.restricted_to(&kept(&self.events, fates), &|id, operation| match (fates[id.index()], &operation.outcome) {
            (Fate::Forget, _) => Outcome::Pending,
            (Fate::Optional, Outcome::Returned(ret)) => Outcome::Optional(ret.clone()),
            (_, outcome) => outcome.clone(),
        })
    }
}

/// Returns the events that remain after weakening.
fn kept(events: &[Event], fates: &[Fate]) -> Vec<Event> {
    let is_kept = |event: &Event| match fates[event.op().index()] {
        Fate::Keep => true,
        Fate::Optional | Fate::Forget => event.kind() == EventKind::Call,
        Fate::LeaveOut => false,
    };
    events.iter().copied().filter(is_kept).collect()
}

//! Translates a part of a history into the standard operations that monitors understand.

use super::family::{Family, Start};
use super::{Input, NEVER, Span, ValueId};
use crate::history::{EventKind, OpId};
use crate::judge::erased::{Case, NotRead, ReadValues};
use crate::judge::search::Meter;
use crate::judge::search::problem::Task;
use crate::spec::{Initial, Standard};
use crate::verdict::LimitKind;

/// Translates parts of a history for monitors. One reader handles several parts, one after the
/// other, and reuses its memory.
pub(in crate::judge) struct Reader<'a> {
    case: &'a dyn Case,
    values: Box<dyn ReadValues + 'a>,
    /// The index of the span of each operation. Operations are indexed by their numbers in the
    /// history; the entries of operations that are not in the current part have no meaning.
    spans: Vec<u32>,
    /// For each span, its operation.
    pub(in crate::judge) ids: Vec<OpId>,
    pub(in crate::judge) input: Input,
    /// The family of the part that was read last; `None` if it could not be read.
    pub(in crate::judge) family: Option<Family>,
}

/// The number of events between two checks of the clock.
const LOOK_EVERY: u32 = 1 << 16;

/// The number of operations that are read at a time.
const BATCH: usize = 32;

/// A placeholder for an operation that has not been read yet.
const READ_LATER: Standard<ValueId> = Standard::Increment;

/// Marks an operation that has no span.
const NONE: u32 = u32::MAX;

impl<'a> Reader<'a> {
    pub(in crate::judge) fn new(case: &'a dyn Case) -> Self {
        let input = Input { spans: Vec::new(), events: 0, values: 0, initial: None, rank: Vec::new() };
        Self { case, values: case.values(), spans: Vec::new(), ids: Vec::new(), input, family: None }
    }

    /// Reads a part. Returns the family of its object and the initial state, or the reason why no
    /// monitor can judge the part.
    ///
    /// # Complexity
    /// Linear in the number of events, up to the first operation that is not standard; O(n log n) to rank values by
    /// priority.
    pub(in crate::judge) fn read(
        &mut self,
        task: Task<'_>,
        meter: &Meter,
    ) -> Result<Result<(Family, Start), &'static str>, LimitKind> {
        self.family = None;
        meter.look_at_clock()?;
        let frame = self.case.frame();
        self.ids.clear();
        self.ids.reserve(task.events.len() / 2);
        self.input.spans.clear();
        self.input.spans.reserve(task.events.len() / 2);
        self.input.rank.clear();
        // Expect one value for every four events: half of the events are calls, and about half of
        // the calls introduce a new value.
        let initial = self.values.start(task.events.len() / 4);
        let permits = if let Initial::Permits(permits) = initial { permits } else { 0 };
        self.input.initial = if let Initial::Value(value) = initial { Some(value) } else { None };
        let mut families = Family::ALL;
        let of_one_key = !task.one_key && !self.values.spans_keys();
        // An operation that returns after the end of the part counts as an operation that never
        // returned.
        let end = task.events.last().map_or(0, |event| frame.position(*event));
        let mut position = 0;
        let mut read = 0;
        for event in task.events {
            let id = event.op();
            match event.kind() {
                EventKind::Call => {
                    if frame.ret(id).is_none_or(|ret| ret > end) && self.case.observes(id) {
                        continue;
                    }
                    if self.spans.len() <= id.index() {
                        self.spans.resize(frame.len(), NONE);
                    }
                    self.spans[id.index()] =
                        u32::try_from(self.ids.len()).expect("there are fewer operations than events");
                    self.ids.push(id);
                    self.input.spans.push(Span { what: READ_LATER, call: position, ret: NEVER });
                    if self.ids.len() - read == BATCH {
                        if let Err(why) = self.read_batch(&mut read, of_one_key, &mut families) {
                            return Ok(Err(why));
                        }
                    }
                }
                EventKind::Return => {
                    self.input.spans[self.spans[id.index()] as usize].ret = position;
                }
            }
            position += 1;
            if position % LOOK_EVERY == 0 {
                meter.look_at_clock()?;
            }
        }
        if let Err(why) = self.read_batch(&mut read, of_one_key, &mut families) {
            return Ok(Err(why));
        }
        self.input.events = position;
        self.input.values = u32::try_from(self.values.len()).expect("there are no more values than events");
        let family = Family::first_of(families);
        match family {
            Family::PriorityQueue => self.input.rank = self.values.ranks(),
            Family::SharedLock => self.owners(),
            _ => {}
        }
        self.family = Some(family);
        Ok(Ok((family, Start { permits })))
    }

    /// Reads the operations from index `read` on. Removes from `families` the families of objects
    /// that do not have these operations.
    #[inline]
    fn read_batch(&mut self, read: &mut usize, of_one_key: bool, families: &mut u16) -> Result<(), &'static str> {
        let spans = &mut self.input.spans[*read..];
        let (count, not_read) = self.values.read(&self.ids[*read..], of_one_key, spans);
        *families = spans[..count].iter().fold(*families, |families, span| families & Family::of(&span.what));
        if *families == 0 {
            return Err("not all operations belong to the same type of object");
        }
        match not_read {
            Some(NotRead::NotStandard) => return Err("monitors do not support some of the operations"),
            Some(NotRead::OtherKey) => return Err("not all operations are on the same key"),
            None => {}
        }
        *read += count;
        Ok(())
    }

    /// For each lock operation without an owner, makes the process that called it the owner. The monitor requires
    /// owners; see `shared_lock`.
    fn owners(&mut self) {
        let frame = self.case.frame();
        for (span, id) in self.input.spans.iter_mut().zip(&self.ids) {
            match &mut span.what {
                Standard::Lock { by }
                | Standard::Unlock { by }
                | Standard::LockShared { by }
                | Standard::UnlockShared { by } => {
                    by.get_or_insert(frame.process(*id));
                }
                _ => {}
            }
        }
    }

    /// Returns the operations that belong to the given spans.
    pub(in crate::judge) fn operations(&self, spans: &[u32]) -> Vec<OpId> {
        spans.iter().map(|span| self.ids[*span as usize]).collect()
    }

    /// Returns the approximate number of bytes that the reader takes.
    pub(in crate::judge) fn bytes(&self) -> usize {
        self.input.spans.capacity() * size_of::<Span>()
            + self.ids.capacity() * size_of::<OpId>()
            + self.spans.capacity() * 4
            + self.values.bytes()
    }
}

//! Selects a part of a timeline.

use super::{Bar, Edge, Mark, Problem, Timeline, number};
use crate::history::EventKind;

#[doc(hidden)]
impl Timeline {
    /// Returns a timeline with only the core. If the core is unknown or has more than `most` operations, returns
    /// [`near_problem`](Self::near_problem).
    #[must_use]
    pub fn core_only(&self, most: usize) -> Self {
        let core = self.bars.iter().filter(|bar| bar.core).count();
        if !self.has_core || core == 0 || core > most {
            return self.near_problem(most);
        }
        self.keep(|_, bar| bar.core)
    }

    /// Returns a timeline with at most `most` operations near the problem.
    ///
    /// Operations are selected in this order: first the operations of the problem itself, the core,
    /// and other conflicting operations; then, alternately, operations that were open at the
    /// problem and the last operations to take effect before it; then other earlier operations,
    /// latest first; and finally later operations. Returns the whole timeline if it has at most
    /// `most` operations. Otherwise, if there is no problem, returns the beginning of the timeline.
    #[must_use]
    pub fn near_problem(&self, most: usize) -> Self {
        if self.bars.len() <= most {
            return self.clone();
        }
        let Some(problem) = &self.problem else {
            return self.keep(|index, _| (index as usize) < most);
        };
        let which = |of: &dyn Fn(&Bar) -> bool| -> Vec<u32> {
            (0..number(self.bars.len())).rev().filter(|bar| of(&self.bars[*bar as usize])).collect()
        };
        let mut wanted = problem.bars.clone();
        wanted.extend(problem.anticipated.iter().flatten());
        wanted.extend(which(&|bar| bar.core));
        wanted.extend(which(&|bar| bar.mark != Mark::None));
        let is_open = |bar: &Bar| bar.call < problem.event && bar.ret.is_none_or(|ret| ret > problem.event);
        // Alternate between open operations and operations that took effect, because a large number
        // of operations may never have returned.
        let (mut open, mut effective) = (which(&is_open).into_iter(), self.order.iter().rev().copied());
        loop {
            let (one, other) = (open.next(), effective.next());
            if one.or(other).is_none() {
                break;
            }
            wanted.extend(one);
            wanted.extend(other);
        }
        wanted.extend(which(&|bar| bar.call <= problem.event));
        wanted.extend(which(&|bar| bar.call > problem.event).iter().rev());
        let mut kept = vec![false; self.bars.len()];
        let mut left = most;
        for bar in wanted {
            if left > 0 && !std::mem::replace(&mut kept[bar as usize], true) {
                left -= 1;
            }
        }
        self.keep(|index, _| kept[index as usize])
    }

    /// Returns a timeline with only the operations that are known to cause the problem: those of
    /// the problem itself, the core, and conflicting operations. Returns `None` if there are fewer
    /// than two of them, or more than `most`.
    #[must_use]
    pub(crate) fn blamed_only(&self, most: usize) -> Option<Self> {
        let problem = self.problem.as_ref()?;
        let is_blamed = |index: u32, bar: &Bar| {
            let is_anticipated = problem.anticipated.iter().flatten().any(|other| *other == index);
            bar.core || bar.mark != Mark::None || problem.bars.contains(&index) || is_anticipated
        };
        let count = (0..).zip(&self.bars).filter(|(index, bar)| is_blamed(*index, bar)).count();
        (2..=most).contains(&count).then(|| self.keep(is_blamed))
    }

    /// Returns a timeline with only the bars for which `keeps` returns `true`. The numbers of steps
    /// and lines, and the positions in the whole history, do not change.
    #[must_use]
    pub fn keep(&self, keeps: impl Fn(u32, &Bar) -> bool) -> Self {
        let mut renumbered: Vec<Option<u32>> = Vec::with_capacity(self.bars.len());
        let mut bars: Vec<Bar> = Vec::new();
        for (index, bar) in (0..).zip(&self.bars) {
            let kept = keeps(index, bar);
            renumbered.push(kept.then(|| number(bars.len())));
            if kept {
                bars.push(bar.clone());
            }
        }
        let new = |bar: &u32| renumbered[*bar as usize];
        let mut events: Vec<Edge> = Vec::new();
        // The position of the problem among the remaining events.
        let mut event = 0;
        let mut annotations = self.annotations.clone();
        let mut left = annotations.iter_mut().peekable();
        for (position, edge) in (0..).zip(&self.events) {
            let Some(bar) = new(&edge.bar) else { continue };
            let here = number(events.len());
            while let Some(annotation) = left.next_if(|annotation| annotation.position <= position) {
                annotation.position = here;
            }
            match edge.kind {
                EventKind::Call => bars[bar as usize].call = here,
                EventKind::Return => bars[bar as usize].ret = Some(here),
            }
            if self.problem.as_ref().is_some_and(|problem| position <= problem.event) {
                event = here;
            }
            events.push(Edge { bar, kind: edge.kind });
        }
        if self.problem.as_ref().is_some_and(|problem| problem.event as usize >= self.events.len()) {
            event = number(events.len());
        }
        left.for_each(|annotation| annotation.position = number(events.len()));
        let mut used = vec![false; self.rows.len()];
        for bar in &bars {
            used[bar.row as usize] = true;
        }
        let rows = self.rows.iter().zip(&used).filter(|(_, used)| **used).map(|(row, _)| row.clone()).collect();
        let mut next = 0;
        let mut new_row = |used: &bool| {
            next += u32::from(*used);
            next - u32::from(*used)
        };
        let new_rows: Vec<u32> = used.iter().map(&mut new_row).collect();
        for bar in &mut bars {
            bar.row = new_rows[bar.row as usize];
        }
        let groups: Vec<Vec<u32>> = self
            .groups()
            .map(|group| group.iter().filter_map(new).collect::<Vec<u32>>())
            .filter(|group| !group.is_empty())
            .collect();
        let together = if self.together.is_empty() {
            Vec::new()
        } else {
            groups.iter().map(|group| number(group.len())).collect()
        };
        let problem = self.problem.as_ref().map(|problem| Problem {
            bars: problem.bars.iter().filter_map(new).collect(),
            event,
            anticipated: problem.anticipated.iter().map(|group| group.iter().filter_map(new).collect()).collect(),
            ..problem.clone()
        });
        let mut part = Self {
            title: self.title.clone(),
            spec: self.spec.clone(),
            outcome: self.outcome,
            reason: self.reason.clone(),
            why: self.why.clone(),
            notes: self.notes.clone(),
            algorithm: self.algorithm.clone(),
            rows,
            left_out: self.left_out + self.bars.len() - bars.len(),
            bars,
            events,
            annotations,
            order: groups.concat(),
            together,
            problem,
            states: self.states.clone(),
            linearized: self.linearized,
            has_core: self.has_core,
        };
        part.assign_lanes();
        part
    }
}

//! The operations that are open at a return.

use super::problem::Problem;

/// A cursor over the levels of a [`Problem`] that keeps a list of the operations that are open at
/// the current level.
///
/// Invariant: `open` holds the operations that were called before the return at `level` and return
/// at this level or later; the operation that returns next comes *last*. `available` counts, for
/// each [`Optional`](super::problem::Optional), its members that were called before the return at
/// `level`.
///
/// # Complexity
/// With k open operations, moving forward by one level takes O(k) for each call that lies between
/// the two levels; moving backward takes O(k) plus the number of these calls.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    level: u32,
    open: Vec<u32>,
    available: Vec<u32>,
}

impl Window {
    /// Returns a window at the first return. The problem must have at least one return.
    pub(crate) fn new(problem: &Problem) -> Self {
        let mut window = Self { level: 0, open: Vec::new(), available: vec![0; problem.optional.len()] };
        window.enter(problem, 0, problem.called[0]);
        window
    }

    /// Returns the open operations that will return, in the reverse order of their returns, so that
    /// the operation that returns next is last.
    #[inline]
    pub(crate) fn open(&self) -> &[u32] {
        &self.open
    }

    /// Returns, for each [`Optional`](super::problem::Optional), the number of its members that
    /// were called before the return at the current level.
    #[inline]
    pub(crate) fn available(&self) -> &[u32] {
        &self.available
    }

    /// Moves to `level`.
    #[inline]
    pub(crate) fn seek(&mut self, problem: &Problem, level: u32) {
        while self.level < level {
            self.forward(problem);
        }
        while self.level > level {
            self.backward(problem);
        }
    }

    #[inline]
    fn forward(&mut self, problem: &Problem) {
        let returned = self.open.pop();
        debug_assert_eq!(
            returned,
            Some(problem.returns[self.level as usize]),
            "the operation that returns next is the last one in `open`"
        );
        let from = problem.called[self.level as usize];
        self.level += 1;
        self.enter(problem, from, problem.called[self.level as usize]);
    }

    fn backward(&mut self, problem: &Problem) {
        let until = problem.called[self.level as usize];
        self.level -= 1;
        let from = problem.called[self.level as usize];
        self.open.retain(|op| *op < from);
        for op in from..until {
            if problem.returns_never(op) {
                self.available[problem.place[op as usize] as usize] -= 1;
            }
        }
        self.open.push(problem.returns[self.level as usize]);
    }

    #[inline]
    fn enter(&mut self, problem: &Problem, from: u32, until: u32) {
        for op in from..until {
            if problem.returns_never(op) {
                self.available[problem.place[op as usize] as usize] += 1;
            } else {
                let level = problem.level[op as usize];
                let at = self.open.iter().position(|other| problem.level[*other as usize] < level);
                self.open.insert(at.unwrap_or(self.open.len()), op);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;
    use crate::judge::erased::{Case, Typed};
    use crate::judge::search::problem::Task;
    use crate::judge::search::rules::Rules;
    use crate::spec::{Register, RegisterOp, RegisterRet};

    #[test]
    fn a_window_that_went_there_and_back_is_as_if_new() {
        let mut builder = History::builder();
        let mut random = 7u64;
        for step in 0..400u32 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let process = u32::try_from(random >> 33).expect("the number has 31 bits") % 5;
            if builder.open(process).is_none() {
                builder.call(process, RegisterOp::Write(step % 3)).expect("the process has no open call");
            } else if random >> 40 & 15 == 0 {
                builder.info(process).expect("the process has an open call");
            } else {
                builder.ret(process, RegisterRet::Done).expect("the process has an open call");
            }
        }
        let history = builder.finish();
        let classes = Typed::new(&Register::new(0), std::borrow::Cow::Borrowed(&history)).classes();
        let problem = {
            let task = Task { events: history.events(), one_key: false };
            Problem::new(task, &classes, Rules::ALL, false, &mut vec![0; history.len()])
        };
        let mut wanderer = Window::new(&problem);
        for level in 0..problem.levels() {
            let mut fresh = Window::new(&problem);
            fresh.seek(&problem, level);
            let mut expected: Vec<u32> = (0..problem.called[level as usize])
                .filter(|op| !problem.returns_never(*op) && problem.level[*op as usize] >= level)
                .collect();
            expected.sort_by_key(|op| std::cmp::Reverse(problem.level[*op as usize]));
            assert_eq!(fresh.open(), expected);
            wanderer.seek(&problem, level / 3);
            wanderer.seek(&problem, level);
            assert_eq!((wanderer.open(), wanderer.available()), (fresh.open(), fresh.available()));
            let slots: std::collections::HashSet<u32> = expected.iter().map(|op| problem.slot(*op)).collect();
            assert_eq!(slots.len(), expected.len(), "open operations have different slots");
        }
    }
}

//! The operations that can be linearized next.

use super::automaton::Automaton;
use super::budget::Meter;
use super::mask::Mask;
use super::problem::Problem;
use super::rules::Rules;
use super::window::Window;
use crate::verdict::LimitKind;

/// Lists the operations to try. Of several identical operations, only one is listed.
#[derive(Debug)]
pub(crate) struct Candidates {
    rules: Rules,
    /// For each class, the number of the latest list that contains one of its operations.
    listed: Vec<u32>,
    /// The number of the current list. The first list has number 1.
    list: u32,
}

impl Candidates {
    pub(crate) fn new(rules: Rules, automaton: &Automaton<'_>, meter: &mut Meter) -> Result<Self, LimitKind> {
        let classes = automaton.class_count();
        meter.allocate(classes * size_of::<u32>())?;
        Ok(Self { rules, listed: vec![0; classes], list: 0 })
    }

    /// Appends to `candidates` the operations to try in a configuration that has the given mask and
    /// is at the level of the window. The operations are in the order of their returns;
    /// never-returning operations come last.
    pub(crate) fn append<M: Mask>(
        &mut self,
        problem: &Problem,
        automaton: &Automaton<'_>,
        window: &Window,
        mask: &M,
        candidates: &mut Vec<u32>,
        meter: &mut Meter,
    ) -> Result<(), LimitKind> {
        meter.work(window.open().len() + problem.optional.len())?;
        self.list = self.list.wrapping_add(1);
        if self.list == 0 {
            self.listed.fill(0);
            self.list = 1;
        }
        let Self { rules, listed, list } = self;
        let mut is_repeated = |class: usize| rules.identical && std::mem::replace(&mut listed[class], *list) == *list;
        // Go through the operations in the order of their returns. So among identical operations,
        // the one that returns first is listed.
        for &op in window.open().iter().rev() {
            let class = problem.class(op);
            if mask.has(problem.slot(op))
                // The observers that are possible here have been linearized already, so this
                // observer is not possible.
                || rules.eager_observers && automaton.observes(class)
                || is_repeated(class.index())
            {
                continue;
            }
            meter.push(candidates, op)?;
        }
        for (optional, &available) in problem.optional.iter().zip(window.available()) {
            let used = mask.field(optional.field);
            if used < available && !is_repeated(optional.class.index()) {
                meter.push(candidates, optional.members[used as usize])?;
            }
        }
        Ok(())
    }
}

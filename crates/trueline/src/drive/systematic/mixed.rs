//! Mixes random executions into a search.
//!
//! A depth-first search changes the last decisions first, so it takes a long time to reach executions that differ at
//! the beginning. Random executions differ everywhere.

use super::jobs::Job;
use super::strategy::{Pending, Strategy, Transition, View};

/// A search in which another strategy schedules one in N executions.
pub(super) struct Mixed {
    search: Box<dyn Strategy>,
    random: Box<dyn Strategy>,
    one_in: u32,
    executions: u32,
    is_random: bool,
}

impl Mixed {
    pub(super) fn new(search: Box<dyn Strategy>, random: Box<dyn Strategy>, one_in: u32) -> Self {
        Self { search, random, one_in, executions: 0, is_random: false }
    }

    fn current(&mut self) -> &mut dyn Strategy {
        if self.is_random { &mut *self.random } else { &mut *self.search }
    }
}

impl Strategy for Mixed {
    fn begin(&mut self) -> bool {
        self.executions = self.executions.wrapping_add(1);
        self.is_random = self.executions % self.one_in == 0;
        self.current().begin()
    }

    fn schedule(&mut self, view: &View<'_>) -> Option<usize> {
        self.current().schedule(view)
    }

    fn choose(&mut self, bound: usize) -> usize {
        self.current().choose(bound)
    }

    fn observe(&mut self, transition: &Transition) {
        self.current().observe(transition);
    }

    fn end(&mut self, pending: &mut dyn Iterator<Item = (usize, Pending)>) {
        self.current().end(pending);
    }

    fn donate(&mut self) -> Option<Job> {
        self.search.donate()
    }
}

//! Judging one part of a history by one algorithm.

use super::search::automaton::{Automaton, Interned, StateSpace, Steps};
use super::search::problem::{Classes, Problem, Task};
use super::search::{Found, Meter, breadth_first, depth_first};
use super::{Algorithm, Config, Rules, auto, bounded, brute, compete, just_in_time, linear, wing_gong};
use crate::history::{History, OpId};
use crate::spec::Spec;
use crate::verdict::{Evidence, Limit, Verdict, Witness};

/// What a thread needs to judge parts: the states and steps of one part serve the next.
pub(super) struct Worker<'a, S: Spec> {
    pub(super) spec: &'a S,
    pub(super) history: &'a History<S::Op, S::Ret>,
    pub(super) classes: &'a Classes,
    pub(super) config: &'a Config,
    states: Interned<'a, S>,
    steps: Steps,
    /// Scratch for [`Problem::new`].
    numbers: Vec<u32>,
}

/// What one search on the core is to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Search {
    DepthFirst(depth_first::Options),
    BreadthFirst(breadth_first::Options),
}

impl<'a, S: Spec> Worker<'a, S> {
    pub(super) fn new(
        spec: &'a S,
        history: &'a History<S::Op, S::Ret>,
        classes: &'a Classes,
        config: &'a Config,
    ) -> Self {
        Self {
            spec,
            history,
            classes,
            config,
            states: Interned::new(spec, history, classes),
            steps: Steps::new(),
            numbers: vec![0; history.len()],
        }
    }

    /// A worker with the same task and nothing done yet, for another thread.
    pub(super) fn fresh(&self) -> Self {
        Self::new(self.spec, self.history, self.classes, self.config)
    }

    /// Forgets all states, to make room for another search.
    pub(super) fn forget(&mut self) {
        self.states = Interned::new(self.spec, self.history, self.classes);
        self.steps = Steps::new();
    }

    pub(super) fn states(&self) -> u64 {
        self.states.len() as u64
    }

    /// Judges the part. The linearization of an accepted part is legal: it has been replayed.
    /// Says by which algorithm, if that was a choice.
    pub(super) fn judge(
        &mut self,
        task: Task<'_>,
        algorithm: &Algorithm,
        meter: &mut Meter,
    ) -> (Verdict<S::Ret>, Option<auto::Choice>) {
        let (verdict, choice) = match algorithm {
            Algorithm::Auto => {
                let (verdict, choice) = auto::search(self, task, meter);
                (verdict, Some(choice))
            }
            Algorithm::Brute => (brute::search(self.spec, self.history, task.events, meter), None),
            Algorithm::Compete(algorithms) => return (compete::search(self, task, algorithms, meter), None),
            Algorithm::WingGongTree => (self.search(task, wing_gong::tree::search(self.config), meter), None),
            Algorithm::WingGongGraph => (self.search(task, wing_gong::graph::search(self.config), meter), None),
            Algorithm::JustInTimeTree => (self.search(task, just_in_time::tree::search(self.config), meter), None),
            Algorithm::JustInTimeGraph => (self.search(task, just_in_time::graph::search(self.config), meter), None),
            Algorithm::Linear => (self.search(task, linear::ahead(self.config), meter), None),
            Algorithm::LinearAtReturn => (self.search(task, linear::at_return(self.config), meter), None),
            Algorithm::BoundedGraph => (self.search(task, bounded::least_work(self.config), meter), None),
            Algorithm::BoundedGraphLru => (self.search(task, bounded::least_recent(self.config), meter), None),
        };
        if let Verdict::Accepted(witness) = &verdict {
            if let Err(problem) = super::replay::is_legal(self.spec, self.history, &witness.order) {
                panic!(
                    "a linearization that was found cannot be replayed: {problem}. The specification contradicts \
                     itself (does `step` answer the same each time, and is `observes` true?), or this is a bug in \
                     {algorithm}"
                );
            }
        }
        (verdict, choice)
    }

    /// Runs one search on the core.
    pub(super) fn search(&mut self, task: Task<'_>, search: Search, meter: &mut Meter) -> Verdict<S::Ret> {
        let rules = match &search {
            Search::DepthFirst(options) => options.rules,
            Search::BreadthFirst(options) => options.rules,
        };
        let at_return =
            matches!(&search, Search::BreadthFirst(options) if options.compare == breadth_first::Compare::AtReturn);
        let problem = Problem::new(task, self.classes, rules, at_return, &mut self.numbers);
        let mut automaton = Automaton::new(&mut self.states, &mut self.steps, self.classes);
        let found = match &search {
            Search::DepthFirst(options) => depth_first::search(&problem, &mut automaton, options, meter),
            Search::BreadthFirst(options) => breadth_first::search(&problem, &mut automaton, options, meter),
        };
        self.verdict(&problem, found)
    }

    fn verdict(&self, problem: &Problem, found: Found) -> Verdict<S::Ret> {
        let ids = |ops: Vec<u32>| -> Vec<OpId> { ops.into_iter().map(|op| problem.ids[op as usize]).collect() };
        let returning = |level: u32| problem.ids[problem.returns[level as usize] as usize];
        let position = |op: OpId| self.history[op].return_position().expect("what has a level returns");
        match found {
            Found::Accepted(order) => Verdict::Accepted(Witness { order: ids(order) }),
            Found::Rejected { level, prefix, states } => {
                let refused = returning(level);
                Verdict::Rejected(Evidence {
                    prefix: ids(prefix),
                    refused,
                    event: position(refused),
                    allowed: self.states.allowed(&states, &self.history[refused].op),
                })
            }
            Found::Unknown { kind, level } => Verdict::Unknown(Limit {
                kind,
                event: position(returning(level)),
                events: u32::try_from(self.history.events().len()).unwrap_or(u32::MAX),
            }),
        }
    }
}

impl Config {
    /// The rules to use, where the algorithm's own are `own`.
    pub(super) fn rules_or(&self, own: Rules) -> Rules {
        self.rules.unwrap_or(own)
    }

    pub(super) fn depth_first(&self, own: Rules, memory: depth_first::Memory) -> Search {
        Search::DepthFirst(depth_first::Options {
            rules: self.rules_or(own),
            memory,
            seed: self.seed,
            restart_after: self.restart_after.filter(|_| memory == depth_first::Memory::Tree),
        })
    }
}

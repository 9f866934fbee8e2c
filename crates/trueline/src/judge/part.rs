//! Judging one part of a history by one algorithm.

use std::sync::OnceLock;

use super::monitor::part::By;
use super::monitor::read::Reader;
use super::search::automaton::{Automaton, Interned, StateSpace, Steps};
use super::search::problem::{Classes, Problem, Task};
use super::search::{Found, Meter, breadth_first, depth_first};
use super::{Algorithm, Config, Rules, auto, bounded, brute, compete, just_in_time, linear, monitor, wing_gong};
use crate::history::{Event, EventKind, History, OpId};
use crate::spec::Spec;
use crate::verdict::{Evidence, Limit, Verdict, Witness};

/// What a thread needs to judge parts: the states and steps of one part serve the next.
pub(super) struct Worker<'a, S: Spec> {
    pub(super) spec: &'a S,
    pub(super) history: &'a History<S::Op, S::Ret>,
    /// Made when the first part is searched: monitors need none.
    classes: &'a OnceLock<Classes>,
    pub(super) config: &'a Config,
    pub(super) reader: Reader<'a, S>,
    core: Option<Core<'a, S>>,
    /// States of cores that were forgotten.
    forgotten: u64,
    /// How often Lowe's queue algorithm went back.
    pub(super) backtracks: u64,
}

/// What searches need.
struct Core<'a, S: Spec> {
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
        classes: &'a OnceLock<Classes>,
        config: &'a Config,
    ) -> Self {
        let reader = Reader::new(spec, history);
        Self { spec, history, classes, config, reader, core: None, forgotten: 0, backtracks: 0 }
    }

    /// A worker with the same task and nothing done yet, for another thread.
    pub(super) fn fresh(&self) -> Self {
        Self::new(self.spec, self.history, self.classes, self.config)
    }

    /// Forgets all states, to make room for another search.
    pub(super) fn forget(&mut self) {
        self.forgotten = self.states();
        self.core = None;
    }

    pub(super) fn states(&self) -> u64 {
        self.forgotten + self.core.as_ref().map_or(0, |core| core.states.len() as u64)
    }

    /// Judges the part; says by which algorithm, if that was a choice.
    pub(super) fn judge(
        &mut self,
        task: Task<'_>,
        algorithm: &Algorithm,
        meter: &mut Meter,
    ) -> (Verdict<S::Ret>, Option<auto::Choice>) {
        let search = match algorithm {
            Algorithm::Auto => {
                let (verdict, choice) = auto::search(self, task, meter);
                return (verdict, Some(choice));
            }
            Algorithm::Monitor => return (self.monitor(task, By::Type, meter), None),
            Algorithm::QueueLowe => return (self.monitor(task, By::QueueLowe, meter), None),
            Algorithm::Brute => return (brute::search(self.spec, self.history, task.events, meter), None),
            Algorithm::Compete(algorithms) => return (compete::search(self, task, algorithms, meter), None),
            Algorithm::WingGongTree => wing_gong::tree::search(self.config),
            Algorithm::WingGongGraph => wing_gong::graph::search(self.config),
            Algorithm::JustInTimeTree => just_in_time::tree::search(self.config),
            Algorithm::JustInTimeGraph => just_in_time::graph::search(self.config),
            Algorithm::Linear => linear::ahead(self.config),
            Algorithm::LinearAtReturn => linear::at_return(self.config),
            Algorithm::BoundedGraph => bounded::recent_or_costly(self.config),
            Algorithm::BoundedGraphLru => bounded::least_recent(self.config),
        };
        (self.search(task, search, meter), None)
    }

    /// Judges a part that the monitor has refused already, if the choice is automatic.
    pub(super) fn judge_refused(
        &mut self,
        task: Task<'_>,
        algorithm: &Algorithm,
        meter: &mut Meter,
    ) -> (Verdict<S::Ret>, Option<auto::Choice>) {
        if *algorithm != Algorithm::Auto {
            return self.judge(task, algorithm, meter);
        }
        let (verdict, choice) = auto::search_both(self, task, meter);
        (verdict, Some(choice))
    }

    /// Judges by a monitor, which may refuse.
    fn monitor(&mut self, task: Task<'_>, by: By, meter: &mut Meter) -> Verdict<S::Ret> {
        match monitor::part::judge(self, task, by, meter) {
            Ok((verdict, _)) => verdict,
            Err(why) => monitor::part::refused(why, self.history.events().len()),
        }
    }

    /// The classes of the history's operations, made when a search first needs them.
    pub(super) fn classes(&self) -> &'a Classes {
        self.classes.get_or_init(|| Classes::new(self.spec, self.history))
    }

    /// Judges one part by search, with the classes of its own operations: for a short part of a long history, those of all
    /// would take longer than the search.
    pub(super) fn search_alone(&mut self, task: Task<'_>, meter: &mut Meter) -> Verdict<S::Ret> {
        let calls = task.events.iter().filter(|event| event.kind() == EventKind::Call).map(|event| event.op());
        let classes = OnceLock::from(Classes::of_operations(self.spec, self.history, calls));
        let mut alone = Worker::new(self.spec, self.history, &classes, self.config);
        let (verdict, _) = auto::search_both(&mut alone, task, meter);
        self.forgotten += alone.states();
        verdict
    }

    /// Runs one search on the core.
    pub(super) fn search(&mut self, task: Task<'_>, search: Search, meter: &mut Meter) -> Verdict<S::Ret> {
        let rules = match &search {
            Search::DepthFirst(options) => options.rules,
            Search::BreadthFirst(options) => Rules { foresight: false, ..options.rules },
        };
        let at_return =
            matches!(&search, Search::BreadthFirst(options) if options.compare == breadth_first::Compare::AtReturn);
        let classes = self.classes();
        let core = self.core.get_or_insert_with(|| Core {
            states: Interned::new(self.spec, self.history, classes),
            steps: Steps::new(),
            numbers: vec![0; self.history.len()],
        });
        let problem = Problem::new(task, classes, rules, at_return, &mut core.numbers);
        let mut automaton = Automaton::new(&mut core.states, &mut core.steps, classes);
        let found = match &search {
            Search::DepthFirst(options) => depth_first::search(&problem, &mut automaton, options, meter),
            Search::BreadthFirst(options) => breadth_first::search(&problem, &mut automaton, options, meter),
        };
        self.verdict(task, &problem, found)
    }

    fn verdict(&self, task: Task<'_>, problem: &Problem, found: Found) -> Verdict<S::Ret> {
        let ids = |ops: Vec<u32>| -> Vec<OpId> { ops.into_iter().map(|op| problem.ids[op as usize]).collect() };
        let returning = |level: u32| problem.ids[problem.returns[level as usize] as usize];
        let position = |op: OpId| self.history[op].return_position().expect("what has a level returns");
        match found {
            Found::Accepted(order) => Verdict::Accepted(Witness::one_by_one(ids(order))),
            Found::Rejected { level, prefix, states } => {
                let refused = returning(level);
                Verdict::Rejected(Evidence {
                    prefix: ids(prefix),
                    together: Vec::new(),
                    refused,
                    event: position(refused),
                    open: open_at_return(self.history, task.events, refused),
                    allowed: self.core.as_ref().map_or_else(Vec::new, |core| core.states.allowed(&states, refused)),
                    all_allowed: true,
                    is_first: true,
                    conflict: Vec::new(),
                    quasi: None,
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

/// The operations of a part that are open when `returning` returns, without it.
pub(super) fn open_at_return<Op, Ret>(history: &History<Op, Ret>, events: &[Event], returning: OpId) -> Vec<OpId> {
    let at = history[returning].return_position();
    events
        .iter()
        .filter(|event| event.kind() == EventKind::Call)
        .map(|event| event.op())
        .take_while(|op| Some(history[*op].call_position()) < at)
        .filter(|op| *op != returning && history[*op].return_position().is_none_or(|ret| Some(ret) > at))
        .collect()
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
            patience: None,
        })
    }
}

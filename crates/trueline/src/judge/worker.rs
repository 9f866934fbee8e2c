//! Searches one part of a history: the code that all search algorithms share.

use std::sync::OnceLock;

use super::erased::{Asked, Case};
use super::frame::calls;
use super::monitor::read::Reader;
use super::search::automaton::{Automaton, ResultId, StateSpace, Steps};
use super::search::problem::{Classes, Problem, Task};
use super::search::{Found, Meter, breadth_first, depth_first};
use super::{Config, Rules};
use crate::history::OpId;
use crate::verdict::{Evidence, Limit, LimitKind, Verdict, Witness};

/// The data that a thread needs to judge parts. The states and steps of one part are reused for the next.
pub(super) struct Worker<'a> {
    pub(super) case: &'a dyn Case,
    /// The classes of operations, made when the first part is searched, because monitors do not need them.
    classes: &'a OnceLock<Classes>,
    pub(super) config: &'a Config,
    pub(super) reader: Reader<'a>,
    core: Option<Core<'a>>,
    /// The operation whose results the searches are to find, if they search for results.
    asked: Option<&'a Asked>,
    /// The number of states in search cores that were dropped.
    forgotten: u64,
    /// The number of times that Lowe's queue algorithm had to backtrack.
    pub(super) backtracks: u64,
}

/// The states and steps that searches share.
struct Core<'a> {
    states: Box<dyn StateSpace + 'a>,
    steps: Steps,
    /// Scratch space for [`Problem::new`].
    numbers: Vec<u32>,
}

/// The kind of a search and its options.
#[derive(Clone, Copy, Debug)]
pub(super) enum Search {
    DepthFirst(depth_first::Options),
    BreadthFirst(breadth_first::Options),
}

impl<'a> Worker<'a> {
    pub(super) fn new(case: &'a dyn Case, classes: &'a OnceLock<Classes>, config: &'a Config) -> Self {
        Self { case, classes, config, reader: Reader::new(case), core: None, asked: None, forgotten: 0, backtracks: 0 }
    }

    /// Returns what is needed to make a worker for another thread.
    pub(super) fn origin(&self) -> (&'a dyn Case, &'a OnceLock<Classes>, &'a Config) {
        (self.case, self.classes, self.config)
    }

    /// Forgets all states, to make room for another search.
    pub(super) fn forget(&mut self) {
        self.forgotten = self.states();
        self.core = None;
    }

    pub(super) fn states(&self) -> u64 {
        self.forgotten + self.core.as_ref().map_or(0, |core| core.states.len() as u64)
    }

    /// Returns the verdict for a search that a limit prevented.
    pub(super) fn unknown(&self, kind: LimitKind) -> Verdict<ResultId> {
        Verdict::Unknown(Limit { kind, event: 0, events: self.case.frame().event_count() })
    }

    /// Returns the classes of the history's operations, which are made when a search first needs them.
    pub(super) fn classes(&self) -> &'a Classes {
        self.classes.get_or_init(|| self.case.classes())
    }

    /// Calls `judge` with a worker that has classes only for the operations of this part: for a short part of a long
    /// history, classifying all operations would take longer than the search. The operation that is `asked` for must
    /// return a result that is not known yet.
    pub(super) fn alone(
        &mut self,
        task: Task<'_>,
        asked: Option<&Asked>,
        judge: impl FnOnce(&mut Worker<'_>) -> Verdict<ResultId>,
    ) -> Verdict<ResultId> {
        let classes = OnceLock::from(self.case.classes_of(&mut calls(task.events), asked.map(|asked| asked.op)));
        let mut alone = Worker { asked, ..Worker::new(self.case, &classes, self.config) };
        let verdict = judge(&mut alone);
        self.forgotten += alone.states();
        verdict
    }

    /// Runs one search.
    pub(super) fn search(&mut self, task: Task<'_>, search: Search, meter: &mut Meter) -> Verdict<ResultId> {
        let rules = match &search {
            Search::DepthFirst(options) => options.rules,
            Search::BreadthFirst(options) => Rules { foresight: false, ..options.rules },
        };
        let at_return =
            matches!(&search, Search::BreadthFirst(options) if options.compare == breadth_first::Compare::AtReturn);
        let classes = self.classes();
        let core = self.core.get_or_insert_with(|| Core {
            states: self.case.states(classes, self.asked),
            steps: Steps::new(),
            numbers: vec![0; self.case.frame().len()],
        });
        let problem = Problem::new(task, classes, rules, at_return, &mut core.numbers);
        let mut automaton = Automaton::new(&mut *core.states, &mut core.steps, classes);
        let found = match &search {
            Search::DepthFirst(options) => depth_first::search(&problem, &mut automaton, options, meter),
            Search::BreadthFirst(options) => breadth_first::search(&problem, &mut automaton, options, meter),
        };
        self.verdict(task, &problem, found)
    }

    fn verdict(&self, task: Task<'_>, problem: &Problem, found: Found) -> Verdict<ResultId> {
        let frame = self.case.frame();
        let ids = |ops: Vec<u32>| -> Vec<OpId> { ops.into_iter().map(|op| problem.ids[op as usize]).collect() };
        let returning = |level: u32| problem.ids[problem.returns[level as usize] as usize];
        let position = |op: OpId| frame.ret(op).expect("an operation that has a level has a return event");
        match found {
            Found::Accepted(order) => Verdict::Accepted(Witness::one_by_one(ids(order))),
            Found::Rejected { level, prefix } => {
                let refused = returning(level);
                Verdict::Rejected(Evidence {
                    prefix: ids(prefix),
                    together: Vec::new(),
                    refused,
                    event: position(refused),
                    open: frame.open_at_return(task.events, refused),
                    allowed: Vec::new(),
                    all_allowed: false,
                    is_first: true,
                    conflict: Vec::new(),
                    quasi: None,
                })
            }
            Found::Unknown { kind, level } => {
                Verdict::Unknown(Limit { kind, event: position(returning(level)), events: frame.event_count() })
            }
        }
    }
}

impl Config {
    /// Returns the rules to use, given the algorithm's `own` rules.
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

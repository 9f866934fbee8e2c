//! Searches one part of a history, that is, the operations on one object or key. All search
//! algorithms share this code.

use std::sync::OnceLock;

use super::erased::{Asked, Case};
use super::frame::calls;
use super::monitor::read::Reader;
use super::search::automaton::{Automaton, ResultId, StateSpace, Steps};
use super::search::breadth_first::Checkpoint;
use super::search::problem::{Classes, Problem, Task};
use super::search::{Found, Meter, breadth_first, depth_first};
use super::{Config, Rules};
use crate::history::OpId;
use crate::verdict::{Evidence, Limit, LimitKind, Verdict, Witness};

/// The data that a thread needs to judge parts. The states and steps of one part are reused for the next.
pub(super) struct Worker<'a> {
    pub(super) case: &'a dyn Case,
    /// The classes of operations. They are computed when the first part is searched, because
    /// monitors do not need them.
    classes: &'a OnceLock<Classes>,
    pub(super) config: &'a Config,
    pub(super) reader: Reader<'a>,
    core: Option<Core<'a>>,
    /// The operation whose possible results the searches look for; `None` if the searches only
    /// judge the part.
    asked: Option<&'a Asked>,
    /// The level at which breadth-first search can begin when it looks for another result of the operation in `asked`.
    checkpoint: Option<Checkpoint>,
    /// The total number of states that earlier searches stored and that have been dropped since.
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
        Self {
            case,
            classes,
            config,
            reader: Reader::new(case),
            core: None,
            asked: None,
            checkpoint: None,
            forgotten: 0,
            backtracks: 0,
        }
    }

    /// Returns the values that are needed to make a worker for another thread.
    pub(super) fn origin(&self) -> (&'a dyn Case, &'a OnceLock<Classes>, &'a Config) {
        (self.case, self.classes, self.config)
    }

    /// Forgets all states, to make room for another search.
    pub(super) fn forget(&mut self) {
        self.forgotten = self.states();
        self.core = None;
        self.checkpoint = None;
    }

    /// Prepares the next search for a result of the operation in [`asked`](Self::asked), after more of its results have
    /// become known.
    pub(super) fn ask_again(&mut self) {
        let is_reached = self.checkpoint.as_ref().is_some_and(Checkpoint::is_reached);
        let class = self.asked.map(|asked| self.classes().of(asked.op));
        match (&mut self.core, class) {
            (Some(core), Some(class)) if is_reached => core.steps.forget(class),
            _ => self.forget(),
        }
    }

    pub(super) fn states(&self) -> u64 {
        self.forgotten + self.core.as_ref().map_or(0, |core| core.states.len() as u64)
    }

    /// Returns the verdict for a part that was not searched because of a limit.
    pub(super) fn unknown(&self, kind: LimitKind) -> Verdict<ResultId> {
        Verdict::Unknown(Limit { kind, event: 0, events: self.case.frame().event_count() })
    }

    /// Returns the classes of the history's operations, which are computed when a search first
    /// needs them.
    pub(super) fn classes(&self) -> &'a Classes {
        self.classes.get_or_init(|| self.case.classes())
    }

    /// Calls `judge` with a worker that has classes only for the operations of this part: for a short part of a long
    /// history, classifying all operations would take longer than the search. If `asked` is given, the worker searches
    /// for linearizations in which the operation of `asked` has a result that is not known yet.
    pub(super) fn alone<T>(
        &mut self,
        task: Task<'_>,
        asked: Option<&Asked>,
        judge: impl FnOnce(&mut Worker<'_>) -> T,
    ) -> T {
        let classes = OnceLock::from(self.case.classes_of(&mut calls(task.events), asked.map(|asked| asked.op)));
        let mut alone = Worker { asked, ..Worker::new(self.case, &classes, self.config) };
        let judged = judge(&mut alone);
        self.forgotten += alone.states();
        judged
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
            Search::BreadthFirst(options) => {
                let checkpoint = self.asked.map(|asked| {
                    let level = problem.level_of_call(asked.op).expect("the part contains the operation");
                    self.checkpoint.get_or_insert(Checkpoint::at(level))
                });
                breadth_first::search(&problem, &mut automaton, options, checkpoint, meter)
            }
        };
        self.verdict(task, &problem, found)
    }

    fn verdict(&self, task: Task<'_>, problem: &Problem, found: Found) -> Verdict<ResultId> {
        let frame = self.case.frame();
        let ids = |ops: Vec<u32>| -> Vec<OpId> { ops.into_iter().map(|op| problem.ids[op as usize]).collect() };
        let returning = |level: u32| problem.ids[problem.returns[level as usize] as usize];
        let position = |op: OpId| frame.ret(op).expect("the operation has a return event");
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
    /// Returns the rules to use: the configured rules, or the algorithm's `own` rules if none are
    /// configured.
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

//! Breadth-first search by event: carries all configurations that agree with the history so far from return to return.

use hashbrown::HashTable;

use super::automaton::{Automaton, NextStates, StateId};
use super::budget::Meter;
use super::candidates::Candidates;
use super::mask::Mask;
use super::problem::{ABSORBED, Problem, SecondBit};
use super::rules::Rules;
use super::{Found, Window, hash};
use crate::verdict::LimitKind;

/// The time at which the result of an operation is compared with the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    /// When the operation is linearized.
    Ahead,
    /// When the operation returns. The [`Problem`] must have two bits for each slot; the second one is set if the
    /// result was not the recorded one. (Configurations that differ only in *which* wrong result an operation had are
    /// merged; all of them are dropped at its return.)
    AtReturn,
}

/// The options of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) rules: Rules,
    pub(crate) compare: Compare,
}

/// Searches one part.
pub(crate) fn search(problem: &Problem, automaton: &mut Automaton<'_>, options: &Options, meter: &mut Meter) -> Found {
    match problem.words {
        1 => run::<[u64; 1]>(problem, automaton, options, meter),
        2 => run::<[u64; 2]>(problem, automaton, options, meter),
        3 | 4 => run::<[u64; 4]>(problem, automaton, options, meter),
        _ => run::<Box<[u64]>>(problem, automaton, options, meter),
    }
}

fn run<M: Mask>(problem: &Problem, automaton: &mut Automaton<'_>, options: &Options, meter: &mut Meter) -> Found {
    if problem.levels() == 0 {
        return Found::Accepted(Vec::new());
    }
    let mut rules = options.rules;
    if options.compare == Compare::AtReturn {
        // Eager observers compare recorded results before the return.
        rules.eager_observers = false;
    }
    let lister = match Candidates::new(rules, automaton, meter) {
        Ok(lister) => lister,
        Err(kind) => return Found::Unknown { kind, level: 0 },
    };
    let mut search = BreadthFirst {
        problem,
        automaton,
        compare: options.compare,
        rules,
        meter,
        window: Window::new(problem),
        level: 0,
        here: Store::<M>::new(problem),
        next: Store::<M>::new(problem),
        queue: Vec::new(),
        steps: Steps::default(),
        lister,
        candidates: Vec::new(),
        others: Vec::new(),
        gained: Vec::new(),
    };
    search.run().unwrap_or_else(|kind| Found::Unknown { kind, level: search.level })
}

/// A configuration at the current level.
#[derive(Clone, Debug)]
struct Configuration<M> {
    state: StateId,
    mask: M,
    /// The last step on a path to the configuration.
    step: u32,
    /// The number of never-returning operations that it used.
    used: u32,
}

struct BreadthFirst<'s, 'a, M> {
    problem: &'s Problem,
    automaton: &'s mut Automaton<'a>,
    compare: Compare,
    rules: Rules,
    meter: &'s mut Meter,
    window: Window,
    level: u32,
    /// Configurations in which the operation that returns at this level is not linearized.
    here: Store<M>,
    /// Configurations after that return.
    next: Store<M>,
    /// Indices into `here` of configurations to expand, grouped by the number of never-returning operations that they
    /// used. A configuration that uses fewer may dominate one that uses more, so it comes first.
    queue: Vec<Vec<u32>>,
    steps: Steps,
    lister: Candidates,
    candidates: Vec<u32>,
    others: Vec<StateId>,
    /// The operations linearized by the current step.
    gained: Vec<u32>,
}

impl<M: Mask> BreadthFirst<'_, '_, M> {
    fn run(&mut self) -> Result<Found, LimitKind> {
        let problem = self.problem;
        self.meter.allocate(problem.bytes())?;
        let mask = M::zero(problem.words);
        let mut frontier = vec![Configuration { state: StateId::INITIAL, mask, step: Steps::START, used: 0 }];
        // Set when no configuration with only correct results is left: from then on the history is known to be
        // rejected.
        let mut rejected = None;
        for level in 0..problem.levels() {
            self.level = level;
            self.window.seek(problem, level);
            self.here.start(problem, &self.window, self.automaton, self.rules, self.meter);
            self.next.start(problem, &self.window, self.automaton, self.rules, self.meter);
            for configuration in frontier.drain(..) {
                self.gained.clear();
                self.admit(configuration, true)?;
            }
            self.expand()?;
            if rejected.is_none() && !self.next.configurations.iter().any(|one| self.all_right(&one.mask)) {
                rejected = Some(self.rejection());
            }
            if self.next.configurations.is_empty() {
                return Ok(rejected.expect("an empty frontier contains no configuration with only correct results"));
            }
            self.next.take_living(&mut frontier);
            self.steps.collect(&mut frontier, self.meter);
        }
        let last = frontier.first().expect("an empty frontier ends the search");
        debug_assert!(rejected.is_none(), "after the last return, no operation is linearized with a wrong result");
        Ok(Found::Accepted(problem.unfold(self.steps.path(last.step))))
    }

    /// Returns the rejection at the return that no configuration with correct results passes.
    fn rejection(&self) -> Found {
        let right = self.here.configurations.iter().find(|one| self.all_right(&one.mask));
        let prefix = right.map_or_else(Vec::new, |one| self.problem.unfold(self.steps.path(one.step)));
        Found::Rejected { level: self.level, prefix }
    }

    /// Returns whether no operation is linearized with a wrong result.
    fn all_right(&self, mask: &M) -> bool {
        match self.compare {
            Compare::Ahead => true,
            Compare::AtReturn => {
                let first = self.problem.second_bits;
                (first..first + self.problem.slots).all(|bit| !mask.has(bit))
            }
        }
    }

    /// Expands every configuration of this level, starting with those that used the fewest never-returning operations.
    fn expand(&mut self) -> Result<(), LimitKind> {
        let mut used = 0;
        while used < self.queue.len() {
            // A step never decreases the number of never-returning operations that were used, so new configurations go
            // to this bucket or a later one.
            let Some(index) = self.queue[used].pop() else {
                used += 1;
                continue;
            };
            if self.here.alive[index as usize] {
                self.expand_one(index)?;
            }
        }
        Ok(())
    }

    fn expand_one(&mut self, index: u32) -> Result<(), LimitKind> {
        let configuration = self.here.configurations[index as usize].clone();
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let mask = &configuration.mask;
        self.lister.append(self.problem, self.automaton, &self.window, mask, &mut candidates, self.meter)?;
        let mut others = std::mem::take(&mut self.others);
        for &op in &candidates {
            let class = self.problem.class(op);
            match self.automaton.step(configuration.state, class, self.meter)? {
                NextStates::None => {}
                NextStates::One(state) => self.take(&configuration, op, state, false)?,
                NextStates::Several(list) => {
                    for outcome in 0..self.automaton.several(list).len() {
                        let state = self.automaton.several(list)[outcome];
                        self.take(&configuration, op, state, false)?;
                    }
                }
            }
            let returns_now = self.problem.level[op as usize] == self.level;
            if self.compare == Compare::AtReturn && !returns_now && !self.problem.returns_never(op) {
                others.clear();
                self.automaton.other_steps(configuration.state, class, &mut others, self.meter)?;
                for &state in &others {
                    self.take(&configuration, op, state, true)?;
                }
            }
        }
        self.candidates = candidates;
        self.others = others;
        Ok(())
    }

    /// Linearizes `op` in `from`, which leads to `state`.
    #[inline]
    fn take(&mut self, from: &Configuration<M>, op: u32, state: StateId, wrong: bool) -> Result<(), LimitKind> {
        let mut to = Configuration { state, ..from.clone() };
        self.problem.linearize(&mut to.mask, op, self.window.open());
        if wrong {
            to.mask.set(self.problem.second_bits + self.problem.slot(op));
        }
        to.used += u32::from(self.problem.returns_never(op));
        self.gained.clear();
        self.gained.push(op);
        // If the returning operation was settled before this step, `from` has passed the return already; linearizing
        // further operations before that return can wait until they are needed.
        let newly_settled = !self.problem.is_settled(&from.mask, self.problem.returns[self.level as usize]);
        self.admit(to, newly_settled)
    }

    /// Admits a configuration at this level: after the return if the returning operation is linearized, otherwise
    /// before it. If that operation is settled and `may_pass` is set, which means that this is new, the configuration
    /// is admitted on both sides. `gained` holds the operations linearized since its `step`.
    fn admit(&mut self, mut configuration: Configuration<M>, may_pass: bool) -> Result<(), LimitKind> {
        self.meter.configuration()?;
        let problem = self.problem;
        if self.rules.eager_observers {
            for &op in self.window.open() {
                let class = problem.class(op);
                if self.automaton.observes(class)
                    && !configuration.mask.has(problem.slot(op))
                    && self.automaton.step(configuration.state, class, self.meter)? != NextStates::None
                {
                    problem.linearize(&mut configuration.mask, op, &[]);
                    self.gained.push(op);
                }
            }
        }
        let returning = problem.returns[self.level as usize];
        let slot = problem.slot(returning);
        let linearized = configuration.mask.has(slot);
        if linearized || may_pass && problem.is_settled(&configuration.mask, returning) {
            let wrong = self.compare == Compare::AtReturn && configuration.mask.has(problem.second_bits + slot);
            if !wrong {
                let mut behind = configuration.clone();
                problem.leave(&mut behind.mask, returning);
                if let Some(index) = self.next.insert(problem, behind, self.meter)? {
                    let mut step = self.steps.extend(configuration.step, &self.gained, self.meter)?;
                    if !linearized {
                        step = self.steps.extend(step, &[returning | ABSORBED], self.meter)?;
                    }
                    self.next.configurations[index as usize].step = step;
                }
            }
            if linearized && self.rules.just_in_time {
                return Ok(());
            }
        }
        let (step, used) = (configuration.step, configuration.used as usize);
        if let Some(index) = self.here.insert(problem, configuration, self.meter)? {
            self.here.configurations[index as usize].step = self.steps.extend(step, &self.gained, self.meter)?;
            if self.queue.len() <= used {
                self.queue.resize_with(used + 1, Vec::new);
            }
            self.meter.push(&mut self.queue[used], index)?;
        }
        Ok(())
    }
}

/// A set of configurations of one level, without those that others dominate.
#[derive(Debug)]
struct Store<M> {
    configurations: Vec<Configuration<M>>,
    alive: Vec<bool>,
    /// For each configuration, another one that differs only in bits that can be compared; `END` if there is none.
    chain: Vec<u32>,
    /// The first configuration of each chain.
    table: HashTable<u32>,
    table_bytes: usize,
    /// The heap bytes of masks since the start of the level.
    mask_bytes: usize,
    /// Of two configurations, the one with more of these bits is better: the bits of observers that have taken effect, and
    /// of blind writes that are settled.
    more: M,
    /// Of two configurations, the one with fewer of these bits is better: the bits of blind writes that are linearized,
    /// and of operations that never return and have taken effect.
    fewer: M,
    /// All bits in which configurations of one chain may differ: those of `more` and `fewer`, and the counters.
    comparable: M,
    dominance: bool,
}

const END: u32 = u32::MAX;

impl<M: Mask> Store<M> {
    fn new(problem: &Problem) -> Self {
        Self {
            configurations: Vec::new(),
            alive: Vec::new(),
            chain: Vec::new(),
            table: HashTable::new(),
            table_bytes: 0,
            mask_bytes: 0,
            more: M::zero(problem.words),
            fewer: M::zero(problem.words),
            comparable: M::zero(problem.words),
            dominance: false,
        }
    }

    /// Empties the set for a new level.
    fn start(
        &mut self,
        problem: &Problem,
        window: &Window,
        automaton: &Automaton<'_>,
        rules: Rules,
        meter: &mut Meter,
    ) {
        meter.free(std::mem::take(&mut self.mask_bytes));
        self.configurations.clear();
        self.alive.clear();
        self.chain.clear();
        self.table.clear();
        self.dominance = rules.dominance;
        if !rules.dominance {
            return;
        }
        self.more.words_mut().fill(0);
        self.fewer.words_mut().fill(0);
        for &op in window.open() {
            let slot = problem.slot(op);
            if automaton.observes(problem.class(op)) {
                self.more.set(slot);
            } else if problem.absorbs(op) {
                self.fewer.set(slot);
            } else {
                continue;
            }
            if problem.second == SecondBit::Settled {
                self.more.set(problem.second_bits + slot);
            }
        }
        self.comparable = self.more.clone();
        for (comparable, fewer) in self.comparable.words_mut().iter_mut().zip(self.fewer.words()) {
            *comparable |= fewer;
        }
        for optional in &problem.optional {
            optional.field.fill(self.comparable.words_mut());
            if optional.field.is_single() {
                optional.field.fill(self.fewer.words_mut());
            }
        }
    }

    /// Adds a configuration unless another one dominates it, and drops those that it dominates. Returns its index if it
    /// was added.
    fn insert(
        &mut self,
        problem: &Problem,
        new: Configuration<M>,
        meter: &mut Meter,
    ) -> Result<Option<u32>, LimitKind> {
        let Self { configurations, alive, chain, table, comparable, .. } = self;
        let hash = ordinary_hash(&new, comparable);
        let same = |index: &u32| {
            let other = &configurations[*index as usize];
            other.state == new.state && ordinary(&other.mask, comparable).eq(ordinary(&new.mask, comparable))
        };
        let first = table.find(hash, same).copied();
        if let Some(first) = first {
            if !self.dominance {
                return Ok(None);
            }
            let mut index = first;
            while index != END {
                if alive[index as usize] {
                    let other = &configurations[index as usize];
                    if dominates(problem, &self.more, &self.fewer, &other.mask, &new.mask) {
                        return Ok(None);
                    }
                    if dominates(problem, &self.more, &self.fewer, &new.mask, &other.mask) {
                        alive[index as usize] = false;
                    }
                }
                index = chain[index as usize];
            }
        }
        let index = u32::try_from(configurations.len()).expect("memory runs out before 2^32 configurations");
        let heap = new.mask.heap_size();
        if heap > 0 {
            meter.allocate(heap)?;
            self.mask_bytes += heap;
        }
        meter.push(configurations, new)?;
        meter.push(alive, true)?;
        match first {
            Some(first) => {
                let behind = std::mem::replace(&mut chain[first as usize], index);
                meter.push(chain, behind)?;
            }
            None => {
                meter.push(chain, END)?;
                let configurations = &*configurations;
                if table.len() == table.capacity() {
                    let more = ((table.capacity() + 1) * 8 / 7).next_power_of_two().max(4) * 2 * 5 + 16;
                    meter.allocate(more)?;
                    table.reserve(1, |other| ordinary_hash(&configurations[*other as usize], comparable));
                    meter.free(self.table_bytes + more - table.allocation_size().min(more));
                    self.table_bytes = table.allocation_size();
                }
                table.insert_unique(hash, index, |other| ordinary_hash(&configurations[*other as usize], comparable));
            }
        }
        Ok(Some(index))
    }

    /// Moves the configurations that are not dominated to `frontier`.
    fn take_living(&mut self, frontier: &mut Vec<Configuration<M>>) {
        let mut alive = self.alive.iter();
        frontier.extend(self.configurations.drain(..).filter(|_| alive.next().is_some_and(|alive| *alive)));
    }
}

fn ordinary<'m, M: Mask>(mask: &'m M, comparable: &'m M) -> impl Iterator<Item = u64> + 'm {
    mask.words().iter().zip(comparable.words()).map(|(word, comparable)| word & !comparable)
}

#[inline]
fn ordinary_hash<M: Mask>(configuration: &Configuration<M>, comparable: &M) -> u64 {
    ordinary(&configuration.mask, comparable)
        .fold(hash::word(configuration.state.0.into()), |hash, word| hash::words(hash, &[word]))
}

/// Returns whether `a`, which equals `b` in all bits that cannot be compared, is at least as good in all others.
#[inline]
fn dominates<M: Mask>(problem: &Problem, more: &M, fewer: &M, a: &M, b: &M) -> bool {
    let words = a.words().iter().zip(b.words()).zip(more.words().iter().zip(fewer.words()));
    let mut worse = 0;
    for ((a, b), (more, fewer)) in words {
        worse |= b & !a & more | a & !b & fewer;
    }
    worse == 0
        && problem
            .optional
            .iter()
            .filter(|optional| !optional.field.is_single())
            .all(|optional| a.field(optional.field) <= b.field(optional.field))
}

/// The steps on the paths to the remaining configurations: a tree with links to the root.
#[derive(Debug, Default)]
struct Steps {
    steps: Vec<Link>,
    /// The length at which steps that no configuration needs are dropped.
    collect_at: usize,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    op: u32,
}

impl Steps {
    const START: u32 = u32::MAX;

    fn extend(&mut self, mut step: u32, ops: &[u32], meter: &mut Meter) -> Result<u32, LimitKind> {
        for &op in ops {
            meter.push(&mut self.steps, Link { before: step, op })?;
            step = u32::try_from(self.steps.len() - 1).expect("memory runs out before 2^32 steps");
        }
        Ok(step)
    }

    /// Returns the operations on the path to `step`.
    fn path(&self, mut step: u32) -> Vec<u32> {
        let mut path = Vec::new();
        while step != Self::START {
            let Link { before, op } = self.steps[step as usize];
            path.push(op);
            step = before;
        }
        path.reverse();
        path
    }

    /// Drops the steps that do not lead to a configuration of the frontier, once these may be half of all steps.
    fn collect<M>(&mut self, frontier: &mut [Configuration<M>], meter: &mut Meter) {
        const LEAST: usize = 1 << 12;
        if self.steps.len() < self.collect_at.max(LEAST) {
            return;
        }
        let old_bytes = self.steps.capacity() * size_of::<Link>();
        // A flag and a new number for each step. If there is no room for them, the search continues without collecting.
        let scratch = self.steps.len() * 5;
        if meter.allocate(scratch).is_err() {
            return;
        }
        let mut needed = vec![false; self.steps.len()];
        for configuration in frontier.iter() {
            let mut step = configuration.step;
            while step != Self::START && !std::mem::replace(&mut needed[step as usize], true) {
                step = self.steps[step as usize].before;
            }
        }
        // A step always comes after its predecessor, so the new number of the predecessor is known.
        let mut renumbered = vec![Self::START; self.steps.len()];
        let mut kept = 0;
        for old in 0..self.steps.len() {
            if needed[old] {
                let Link { before, op } = self.steps[old];
                let before = if before == Self::START { before } else { renumbered[before as usize] };
                self.steps[kept] = Link { before, op };
                renumbered[old] = u32::try_from(kept).expect("there are at most as many steps as before");
                kept += 1;
            }
        }
        self.steps.truncate(kept);
        for configuration in frontier {
            if configuration.step != Self::START {
                configuration.step = renumbered[configuration.step as usize];
            }
        }
        self.collect_at = kept * 2;
        self.steps.shrink_to(kept * 2);
        meter.free(scratch + old_bytes.saturating_sub(self.steps.capacity() * size_of::<Link>()));
    }
}

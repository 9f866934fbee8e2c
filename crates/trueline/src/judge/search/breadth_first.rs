//! Breadth-first search, event by event: from each return to the next, the search keeps all
//! configurations that agree with the history so far.

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
    /// The results are compared when the operation is linearized.
    Ahead,
    /// The results are compared when the operation returns. The [`Problem`] must have two bits for
    /// each slot; the second one is set if the operation was linearized with a wrong result, that
    /// is, not the recorded one. (Configurations that differ only in *which* wrong result an
    /// operation has are merged. All of them are dropped when the operation returns.)
    AtReturn,
}

/// The options of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) rules: Rules,
    pub(crate) compare: Compare,
}

/// A level at which searches can begin. If their problems differ only in the results that one operation may have, they
/// all visit the same configurations before that operation is called, so only the first search needs to visit these.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    level: u32,
    /// The progress of the first search that reached this level; `None` if no search has reached it.
    reached: Option<Reached>,
}

#[derive(Debug)]
struct Reached {
    /// The configurations at the start of the level, without their masks.
    frontier: Vec<Configuration<()>>,
    /// The words of the masks of these configurations, one mask after the other.
    masks: Vec<u64>,
    steps: Steps,
    /// The number of configurations that the search had visited.
    visited: u64,
}

impl Checkpoint {
    pub(crate) fn at(level: u32) -> Self {
        Self { level, reached: None }
    }

    /// Returns whether a search has reached the level.
    pub(crate) fn is_reached(&self) -> bool {
        self.reached.is_some()
    }
}

impl Reached {
    fn bytes(&self) -> usize {
        size_of_val(&*self.frontier) + size_of_val(&*self.masks) + size_of_val(&*self.steps.steps)
    }
}

/// Searches one part. If an earlier search has reached the checkpoint, this search begins at the checkpoint.
pub(crate) fn search(
    problem: &Problem,
    automaton: &mut Automaton<'_>,
    options: &Options,
    checkpoint: Option<&mut Checkpoint>,
    meter: &mut Meter,
) -> Found {
    match problem.words {
        1 => run::<[u64; 1]>(problem, automaton, options, checkpoint, meter),
        2 => run::<[u64; 2]>(problem, automaton, options, checkpoint, meter),
        3 | 4 => run::<[u64; 4]>(problem, automaton, options, checkpoint, meter),
        _ => run::<Box<[u64]>>(problem, automaton, options, checkpoint, meter),
    }
}

fn run<M: Mask>(
    problem: &Problem,
    automaton: &mut Automaton<'_>,
    options: &Options,
    checkpoint: Option<&mut Checkpoint>,
    meter: &mut Meter,
) -> Found {
    if problem.levels() == 0 {
        return Found::Accepted(Vec::new());
    }
    let mut rules = options.rules;
    if options.compare == Compare::AtReturn {
        // The rule of eager observers compares the result of an operation before the operation
        // returns. Here, results are compared only at the return, so this rule is switched off.
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
        observers: Vec::new(),
        settled: M::zero(problem.words),
        here: Store::<M>::new(problem),
        next: Store::<M>::new(problem),
        queue: Vec::new(),
        steps: Steps::default(),
        lister,
        candidates: Vec::new(),
        others: Vec::new(),
        gained: Vec::new(),
    };
    search.run(checkpoint).unwrap_or_else(|kind| Found::Unknown { kind, level: search.level })
}

/// A configuration at the current level.
#[derive(Clone, Debug)]
struct Configuration<M> {
    state: StateId,
    mask: M,
    /// The last step on a path to the configuration.
    step: u32,
    /// The number of never-returning operations that have taken effect in the configuration.
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
    /// The open operations that leave every state unchanged.
    observers: Vec<u32>,
    /// The bits that mark the open blind writes as settled.
    settled: M,
    /// Configurations to expand at this level, which have not passed its return.
    here: Store<M>,
    /// Configurations that have passed the return at this level.
    next: Store<M>,
    /// Indices into `here` of the configurations to expand, grouped by the number of
    /// never-returning operations that have taken effect. A configuration with fewer of them may
    /// dominate one with more of them, so it is expanded first.
    queue: Vec<Vec<u32>>,
    steps: Steps,
    lister: Candidates,
    candidates: Vec<u32>,
    others: Vec<StateId>,
    /// The operations linearized by the current step.
    gained: Vec<u32>,
}

impl<M: Mask> BreadthFirst<'_, '_, M> {
    fn run(&mut self, mut checkpoint: Option<&mut Checkpoint>) -> Result<Found, LimitKind> {
        let problem = self.problem;
        let visited_before = self.meter.configurations;
        self.meter.allocate(problem.bytes())?;
        let mask = M::zero(problem.words);
        let mut frontier = vec![Configuration { state: StateId::INITIAL, mask, step: Steps::START, used: 0 }];
        let mut first = 0;
        if let Some(Checkpoint { level, reached: Some(reached) }) = checkpoint.as_deref() {
            first = *level;
            frontier = self.go_on_from(reached)?;
        }
        // Set when no configuration with only correct results is left: from then on the history is known to be
        // rejected.
        let mut rejected = None;
        for level in first..problem.levels() {
            self.level = level;
            if let Some(checkpoint) = checkpoint.as_deref_mut().filter(|checkpoint| checkpoint.level == level) {
                if !checkpoint.is_reached() {
                    checkpoint.reached = self.reached(&frontier, visited_before);
                }
            }
            self.window.seek(problem, level);
            self.look_at_open();
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
                return Ok(
                    rejected.expect("a rejection is recorded when no configuration with only correct results is left")
                );
            }
            self.next.take_living(&mut frontier);
            self.steps.collect(&mut frontier, self.meter);
        }
        let last = frontier.first().expect("an empty frontier ends the search");
        debug_assert!(rejected.is_none(), "at the last return, every linearized operation has its own result");
        Ok(Found::Accepted(problem.unfold(self.steps.path(last.step))))
    }

    /// Finds the observers and the blind writes among the operations that are open at this level, once for all
    /// configurations of the level.
    fn look_at_open(&mut self) {
        let (problem, open) = (self.problem, self.window.open());
        self.observers.clear();
        self.observers.extend(open.iter().filter(|op| self.automaton.observes(problem.class(**op))));
        self.settled.words_mut().fill(0);
        if problem.second == SecondBit::Settled {
            problem.settle_blind_writes(&mut self.settled, open);
        }
    }

    /// Returns what another search needs to begin at the current level, or `None` if there is no memory for it.
    /// `visited_before` is the number of configurations that were visited before this search.
    fn reached(&mut self, frontier: &[Configuration<M>], visited_before: u64) -> Option<Reached> {
        let without_mask = |one: &Configuration<M>| {
            let Configuration { state, step, used, .. } = *one;
            Configuration { state, mask: (), step, used }
        };
        let words = frontier.iter().flat_map(|one| one.mask.words());
        let reached = Reached {
            frontier: frontier.iter().map(without_mask).collect(),
            masks: words.copied().collect(),
            steps: self.steps.clone(),
            visited: self.meter.configurations - visited_before,
        };
        self.meter.allocate(reached.bytes()).is_ok().then_some(reached)
    }

    /// Begins at a level that an earlier search has reached, and returns the configurations of the earlier search at
    /// that level. The configurations that the earlier search had visited count as visited by this search, too, so a
    /// limit ends both searches at the same place.
    fn go_on_from(&mut self, reached: &Reached) -> Result<Vec<Configuration<M>>, LimitKind> {
        self.meter.allocate(reached.bytes())?;
        self.meter.skip(reached.visited);
        self.steps = reached.steps.clone();
        let mut words = reached.masks.iter();
        let with_mask = |one: &Configuration<()>| {
            let mut mask = M::zero(self.problem.words);
            for (word, reached) in mask.words_mut().iter_mut().zip(&mut words) {
                *word = *reached;
            }
            let Configuration { state, step, used, .. } = *one;
            Configuration { state, mask, step, used }
        };
        Ok(reached.frontier.iter().map(with_mask).collect())
    }

    /// Returns a rejection at the current level. Must be called only if no configuration with only correct results
    /// passes the return at this level.
    fn rejection(&self) -> Found {
        let right = self.here.configurations.iter().find(|one| self.all_right(&one.mask));
        let prefix = right.map_or_else(Vec::new, |one| self.problem.unfold(self.steps.path(one.step)));
        Found::Rejected { level: self.level, prefix }
    }

    /// Returns whether every linearized operation has its recorded result.
    fn all_right(&self, mask: &M) -> bool {
        match self.compare {
            Compare::Ahead => true,
            Compare::AtReturn => {
                let first = self.problem.second_bits;
                (first..first + self.problem.slots).all(|bit| !mask.has(bit))
            }
        }
    }

    /// Expands every configuration of this level, starting with those in which the fewest
    /// never-returning operations have taken effect.
    fn expand(&mut self) -> Result<(), LimitKind> {
        let mut used = 0;
        while used < self.queue.len() {
            // A step never decreases the number of never-returning operations that have taken
            // effect, so new configurations go to this bucket or to a later one.
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

    /// Adds the configuration that is reached from the configuration `from` by linearizing `op`.
    /// The new state is `state`. `wrong` is set if the result of `op` is not the recorded one.
    #[inline]
    fn take(&mut self, from: &Configuration<M>, op: u32, state: StateId, wrong: bool) -> Result<(), LimitKind> {
        let mut to = Configuration { state, ..from.clone() };
        self.problem.mark(&mut to.mask, op);
        if self.problem.absorbs(op) {
            for (word, settled) in to.mask.words_mut().iter_mut().zip(self.settled.words()) {
                *word |= settled;
            }
        }
        if wrong {
            to.mask.set(self.problem.second_bits + self.problem.slot(op));
        }
        to.used += u32::from(self.problem.returns_never(op));
        self.gained.clear();
        self.gained.push(op);
        // If the returning operation was settled before this step, a copy of `from` has already
        // passed the return. So this step can wait until a later return needs it.
        let newly_settled = !self.problem.is_settled(&from.mask, self.problem.returns[self.level as usize]);
        self.admit(to, newly_settled)
    }

    /// Adds a configuration to `here`, to `next`, or to both:
    /// - If the returning operation is linearized, the configuration is added to `next`, unless the
    ///   operation had a wrong result. Without the just-in-time rule, it is also added to `here`.
    /// - If the returning operation is not linearized, the configuration is added to `here`. If the
    ///   operation is settled and `may_pass` is set, the configuration is also added to `next`.
    ///
    /// `may_pass` is not set if the returning operation was already settled before the last step.
    /// `gained` holds the operations that were linearized after the configuration's `step`.
    fn admit(&mut self, mut configuration: Configuration<M>, may_pass: bool) -> Result<(), LimitKind> {
        self.meter.configuration()?;
        let problem = self.problem;
        if self.rules.eager_observers {
            for &op in &self.observers {
                if !configuration.mask.has(problem.slot(op))
                    && self.automaton.step(configuration.state, problem.class(op), self.meter)? != NextStates::None
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

/// The configurations of one level that are not dominated by others.
#[derive(Debug)]
struct Store<M> {
    configurations: Vec<Configuration<M>>,
    alive: Vec<bool>,
    /// For each configuration, the next one in its *chain*, or `END`. The configurations of a chain
    /// differ only in their comparable bits.
    chain: Vec<u32>,
    /// The first configuration of each chain.
    table: HashTable<u32>,
    table_bytes: usize,
    /// The heap size, in bytes, of the masks that were added since the start of the level.
    mask_bytes: usize,
    /// Bits that make a configuration better if they are set: the bits of observers that have taken
    /// effect, and of blind writes that are settled.
    more: M,
    /// Bits that make a configuration better if they are not set: the bits of blind writes that are
    /// linearized, and of operations that never return and have taken effect.
    fewer: M,
    /// All comparable bits: those of `more` and `fewer`, and the counters. The configurations of
    /// one chain differ only in these bits.
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

    /// Adds `new` unless another configuration dominates it, and drops the configurations that
    /// `new` dominates. Returns the index of `new` if it was added.
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

    /// Moves the configurations that are not dominated from this set to `frontier`.
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

/// Returns whether `a` is at least as good as `b` in the comparable bits. All other bits of `a` and
/// `b` are equal.
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

/// The steps on the paths to the remaining configurations: a tree in which each step has a link to
/// the step before it.
#[derive(Clone, Debug, Default)]
struct Steps {
    steps: Vec<Link>,
    /// The length of `steps` at which the steps that no configuration needs are dropped.
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

    /// Drops the steps that do not lead to a configuration of the frontier, if the number of steps
    /// has doubled since steps were last dropped.
    fn collect<M>(&mut self, frontier: &mut [Configuration<M>], meter: &mut Meter) {
        const LEAST: usize = 1 << 12;
        if self.steps.len() < self.collect_at.max(LEAST) {
            return;
        }
        let old_bytes = self.steps.capacity() * size_of::<Link>();
        // To drop steps, a flag and a new number are needed for each step. If there is no memory
        // for them, the search continues without dropping steps.
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
        // A step always comes after its predecessor, so the new number of the predecessor is
        // already known.
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

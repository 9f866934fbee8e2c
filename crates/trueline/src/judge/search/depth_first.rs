//! Depth-first search for a linearization: the code that the tree and graph searches of Wing & Gong and of Lowe share.
//!
//! From a configuration, each open operation that is not linearized is tried in some order; a dead end is undone. The
//! recursion is a stack of frames, a path is a stack of operations (`trail`), and undoing is popping.

use super::automaton::{Automaton, NextStates, StateId};
use super::budget::Meter;
use super::candidates::Candidates;
use super::foresight::{Plans, View};
use super::mask::Mask;
use super::problem::{ABSORBED, Problem};
use super::rules::Rules;
use super::seen::{Key, Seen};
use super::{Found, Window, hash};
use crate::verdict::LimitKind;

/// The failed configurations that are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// No configurations: a tree search.
    Tree,
    /// All configurations: a graph search.
    Graph,
    /// As many configurations as fit into this many bytes; the least recently used is forgotten first. A configuration
    /// is entered when it is reached, as in Horn & Kroening, not when it has failed.
    RecentlyMet(u64),
    /// As many configurations as fit into this many bytes: recent ones, and those that took much work to find.
    RecentOrCostly(u64),
}

/// The options of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) rules: Rules,
    pub(crate) memory: Memory,
    /// The seed that shuffles the order in which operations are tried.
    pub(crate) seed: Option<u64>,
    /// Restarts in another order after visiting this many configurations, times the next number of Luby's sequence,
    /// without an answer.
    pub(crate) restart_after: Option<u64>,
    /// Gives up when more configurations were visited than this allows.
    pub(crate) patience: Option<Patience>,
}

/// The number of configurations that may be visited, depending on how far the search has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) at_start: u64,
    /// The number that is added for each return that was passed.
    pub(crate) per_return: u64,
}

impl Patience {
    #[must_use]
    pub(crate) fn times(self, times: u64) -> Self {
        Self { at_start: self.at_start.saturating_mul(times), per_return: self.per_return.saturating_mul(times) }
    }
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
    let seen = match options.memory {
        Memory::Tree => Seen::<M>::Nothing,
        Memory::Graph => Seen::all(),
        Memory::RecentlyMet(bytes) => Seen::recent(bytes),
        Memory::RecentOrCostly(bytes) => Seen::costly(bytes),
    };
    let lister = match Candidates::new(options.rules, automaton, meter) {
        Ok(lister) => lister,
        Err(kind) => return Found::Unknown { kind, level: 0 },
    };
    let mut search = DepthFirst {
        problem,
        automaton,
        options,
        meter,
        window: Window::new(problem),
        seen,
        frames: Vec::new(),
        candidates: Vec::new(),
        trail: Vec::new(),
        lister,
        furthest: Furthest::default(),
        random: options.seed.map_or(0, |seed| hash::word(seed) | 1),
        other_bytes: 0,
        horizon: problem.levels() - 1,
        foreseen_until: problem.levels(),
        latest_doom: None,
        plans: Plans::default(),
        collect_at: match options.memory {
            Memory::RecentlyMet(bytes) | Memory::RecentOrCostly(bytes) => usize::try_from(bytes).unwrap_or(usize::MAX),
            Memory::Tree | Memory::Graph => usize::MAX,
        },
    };
    match search.until_known() {
        Ok(true) => Found::Accepted(problem.unfold(search.trail)),
        Ok(false) => Found::Rejected { level: search.furthest.level, prefix: problem.unfold(search.furthest.prefix) },
        Err(kind) => Found::Unknown { kind, level: search.furthest.level },
    }
}

/// A configuration on the path, and the alternatives that have not been tried from it.
#[derive(Debug)]
struct Frame<M> {
    key: Key<M>,
    /// The operations still to try are `candidates[next..]`, up to those of the next frame.
    first: u32,
    next: u32,
    /// The index of the next outcome to try, if the operation at `next` has several.
    outcome: u32,
    /// The length of the trail at this configuration.
    trail: u32,
    /// The number of configurations visited before this one.
    entered: u64,
}

struct DepthFirst<'s, 'a, M> {
    problem: &'s Problem,
    automaton: &'s mut Automaton<'a>,
    options: &'s Options,
    meter: &'s mut Meter,
    window: Window,
    seen: Seen<M>,
    frames: Vec<Frame<M>>,
    /// The candidates of all frames, concatenated.
    candidates: Vec<u32>,
    /// The operations linearized on the path, in their order.
    trail: Vec<u32>,
    lister: Candidates,
    furthest: Furthest,
    /// The state of the random number generator that shuffles; 0 if nothing is shuffled.
    random: u64,
    /// The bytes of masks and of `furthest` that have been reported to the meter.
    other_bytes: usize,
    /// The number of bytes of states at which states that are not needed are forgotten.
    collect_at: usize,
    /// A run succeeds when a configuration passes the return at this level.
    horizon: u32,
    /// Only goals that return below this level are considered.
    foreseen_until: u32,
    /// The highest level of the goals that caused configurations to be dropped in this run.
    latest_doom: Option<u32>,
    plans: Plans,
}

/// The furthest level reached, and a linearization up to it.
#[derive(Debug, Default)]
struct Furthest {
    level: u32,
    /// The trail at a dead end at that level.
    prefix: Vec<u32>,
    /// The length of the common prefix of `prefix` and the trail.
    common: usize,
    /// Whether `prefix` belongs to `level` already.
    known: bool,
}

impl Furthest {
    #[inline]
    fn reached(&mut self, level: u32) {
        if level > self.level {
            self.level = level;
            self.known = false;
        }
    }

    /// Records a dead end at `level`, where the trail is a linearization of the prefix. Copying only what has changed
    /// since the last time keeps this linear along a search that runs into a dead end at every step.
    fn dead_end(&mut self, level: u32, trail: &[u32]) {
        if level == self.level && !self.known {
            self.prefix.truncate(self.common);
            self.prefix.extend_from_slice(&trail[self.common..]);
            self.common = trail.len();
            self.known = true;
        }
    }

    #[inline]
    fn trail_cut(&mut self, length: usize) {
        self.common = self.common.min(length);
    }
}

/// The reason why a run ended without an answer.
enum Stop {
    Limit(LimitKind),
    Restart,
}

impl From<LimitKind> for Stop {
    fn from(kind: LimitKind) -> Self {
        Self::Limit(kind)
    }
}

impl<M: Mask> DepthFirst<'_, '_, M> {
    /// Returns whether there is a linearization. If not, `furthest` is set.
    fn until_known(&mut self) -> Result<bool, LimitKind> {
        self.meter.allocate(self.problem.bytes())?;
        if self.passes_horizon()? {
            return Ok(true);
        }
        // All returns before `furthest.level` can be passed; the one at `bad` cannot.
        let mut bad = self.horizon;
        let mut ahead = 0;
        let mut is_bounded = false;
        // Configurations that were dropped because of goals below the furthest level could not have reached it.
        while self.latest_doom.is_some_and(|level| level >= self.furthest.level) {
            let good = self.furthest.level;
            if good == bad {
                if !self.furthest.known {
                    // Every configuration that reached this level was dropped; search again with less foresight to find
                    // one.
                    (self.horizon, self.foreseen_until) = (bad, bad);
                    let passes = self.passes_horizon()?;
                    assert!(
                        !passes,
                        "`reaches` of the specification is wrong: it ruled out a state from which an operation could \
                         still return its result"
                    );
                }
                break;
            }
            // The failing return is usually near: double the distance, and bisect once a horizon could not be passed.
            self.horizon = if is_bounded { good + (bad - good) / 2 } else { (good + ahead).min(bad - 1) };
            self.foreseen_until = self.horizon + 1;
            if self.passes_horizon()? {
                // This run ended early, so configurations may have been dropped without a record; keep searching.
                self.latest_doom = Some(bad);
                ahead = ahead * 2 + 1;
            } else {
                bad = self.horizon;
                is_bounded = true;
            }
        }
        Ok(false)
    }

    /// Returns whether some configuration passes the return at `horizon`.
    fn passes_horizon(&mut self) -> Result<bool, LimitKind> {
        self.start_anew();
        self.seen.clear(self.meter);
        self.latest_doom = None;
        for run in 1.. {
            let until = match self.options.restart_after {
                Some(unit) => self.meter.configurations + unit.saturating_mul(luby(run)),
                None => u64::MAX,
            };
            match self.once(until) {
                Ok(answer) => return Ok(answer),
                Err(Stop::Limit(kind)) => return Err(kind),
                Err(Stop::Restart) => self.start_anew(),
            }
        }
        unreachable!("the loop ends only by returning")
    }

    fn start_anew(&mut self) {
        self.frames.clear();
        self.candidates.clear();
        self.cut_trail(0);
    }

    fn once(&mut self, until: u64) -> Result<bool, Stop> {
        let root = Key { level: 0, state: StateId::INITIAL, mask: M::zero(self.problem.words) };
        if self.enter(root, 0, None)? {
            return Ok(true);
        }
        while let Some((next, trail, op)) = self.next_move()? {
            if self.meter.configurations > until {
                return Err(Stop::Restart);
            }
            if self.enter(next, trail, Some(op))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the next configuration to enter, the length of the trail before it, and the operation that leads there:
    /// from the top frame or, if that has nothing left, from one below.
    fn next_move(&mut self) -> Result<Option<(Key<M>, usize, u32)>, LimitKind> {
        while let Some(frame) = self.frames.last_mut() {
            while let Some(&op) = self.candidates.get(frame.next as usize) {
                if op & ABSORBED != 0 {
                    frame.next += 1;
                    let mut key = frame.key.clone();
                    let trail = frame.trail as usize;
                    self.cut_trail(trail);
                    self.meter.push(&mut self.trail, op)?;
                    self.problem.leave(&mut key.mask, op & !ABSORBED);
                    key.level += 1;
                    self.pass_returns(&mut key);
                    return Ok(Some((key, trail, op & !ABSORBED)));
                }
                let step = self.automaton.step(frame.key.state, self.problem.class(op), self.meter)?;
                let (state, last) = match step {
                    NextStates::None => {
                        frame.next += 1;
                        continue;
                    }
                    NextStates::One(state) => (state, true),
                    NextStates::Several(list) => {
                        let states = self.automaton.several(list);
                        (states[frame.outcome as usize], frame.outcome as usize + 1 == states.len())
                    }
                };
                if last {
                    frame.next += 1;
                    frame.outcome = 0;
                } else {
                    frame.outcome += 1;
                }
                let mut key = Key { state, ..frame.key.clone() };
                let trail = frame.trail as usize;
                self.cut_trail(trail);
                self.linearize(&mut key, op)?;
                return Ok(Some((key, trail, op)));
            }
            let frame = self.frames.pop().expect("the loop has a current frame");
            self.candidates.truncate(frame.first as usize);
            self.furthest.dead_end(frame.key.level, &self.trail[..frame.trail as usize]);
            if !matches!(self.options.memory, Memory::RecentlyMet(_)) {
                let work = self.meter.configurations - frame.entered;
                self.seen.insert(frame.key, work, self.meter)?;
            }
        }
        Ok(None)
    }

    /// Linearizes `op`, which is open at the key's level, and passes the returns that this makes possible.
    #[inline]
    fn linearize(&mut self, key: &mut Key<M>, op: u32) -> Result<(), LimitKind> {
        self.meter.push(&mut self.trail, op)?;
        if self.problem.absorbs(op) {
            self.window.seek(self.problem, key.level);
            self.problem.linearize(&mut key.mask, op, self.window.open());
        } else {
            self.problem.linearize(&mut key.mask, op, &[]);
        }
        self.pass_returns(key);
        Ok(())
    }

    /// Advances to the next return whose operation is not linearized. That operation may be settled; then passing its
    /// return is one of the moves to try.
    #[inline]
    fn pass_returns(&self, key: &mut Key<M>) {
        while let Some(&op) = self.problem.returns.get(key.level as usize) {
            if !key.mask.has(self.problem.slot(op)) {
                break;
            }
            self.problem.leave(&mut key.mask, op);
            key.level += 1;
        }
    }

    #[inline]
    fn cut_trail(&mut self, length: usize) {
        self.trail.truncate(length);
        self.furthest.trail_cut(length);
    }

    /// Enters a configuration, which `op` led to. Returns whether it has passed the horizon. A configuration from which
    /// the search is known to fail is left at once, and the trail is cut to `trail`.
    #[inline]
    fn enter(&mut self, mut key: Key<M>, trail: usize, op: Option<u32>) -> Result<bool, LimitKind> {
        self.meter.configuration()?;
        let levels = self.problem.levels();
        if key.level < levels && self.options.rules.eager_observers {
            self.satisfy_observers(&mut key)?;
        }
        if key.level == levels {
            return Ok(true);
        }
        self.furthest.reached(key.level);
        if let Some(Patience { at_start, per_return }) = self.options.patience {
            let passed = u64::from(self.furthest.level);
            if self.meter.configurations > at_start.saturating_add(per_return.saturating_mul(passed)) {
                return Err(LimitKind::Configurations);
            }
        }
        if key.level > self.horizon {
            return Ok(true);
        }
        if let (Some(foresight), Some(op)) = (&self.problem.foresight, op) {
            self.window.seek(self.problem, key.level);
            let view = View { problem: self.problem, window: &self.window, configuration: &key };
            let doom = self.plans.doom(foresight, &view, self.automaton, op, self.foreseen_until, self.meter)?;
            if doom.is_some() {
                self.latest_doom = self.latest_doom.max(doom);
                self.cut_trail(trail);
                return Ok(false);
            }
        }
        if self.seen.contains(&key) {
            self.cut_trail(trail);
            return Ok(false);
        }
        if matches!(self.options.memory, Memory::RecentlyMet(_)) {
            self.seen.insert(key.clone(), 1, self.meter)?;
        }
        self.window.seek(self.problem, key.level);
        let first = self.candidates.len();
        self.list_candidates(&key)?;
        let frame = Frame {
            key,
            first: small(first),
            next: small(first),
            outcome: 0,
            trail: small(self.trail.len()),
            entered: self.meter.configurations,
        };
        self.meter.push(&mut self.frames, frame)?;
        self.account()?;
        Ok(false)
    }

    /// Linearizes every open observer that is possible here; the level increases if the next operation to return is one
    /// of them.
    fn satisfy_observers(&mut self, key: &mut Key<M>) -> Result<(), LimitKind> {
        let problem = self.problem;
        loop {
            self.window.seek(problem, key.level);
            let level = key.level;
            for &op in self.window.open() {
                let class = problem.class(op);
                if !self.automaton.observes(class) || key.mask.has(problem.slot(op)) {
                    continue;
                }
                if self.automaton.step(key.state, class, self.meter)? != NextStates::None {
                    self.meter.push(&mut self.trail, op)?;
                    problem.linearize(&mut key.mask, op, &[]);
                }
            }
            self.pass_returns(key);
            if key.level == level || key.level == problem.levels() {
                return Ok(());
            }
        }
    }

    /// Lists the operations to try from a configuration at the window's level.
    fn list_candidates(&mut self, key: &Key<M>) -> Result<(), LimitKind> {
        let problem = self.problem;
        let first = self.candidates.len();
        let candidates = &mut self.candidates;
        self.lister.append(problem, self.automaton, &self.window, &key.mask, candidates, self.meter)?;
        // Passing the return of a settled operation comes last: usually the operation took effect near its return, and
        // was observed.
        let returning = problem.returns[key.level as usize];
        if problem.is_settled(&key.mask, returning) {
            self.meter.push(&mut self.candidates, returning | ABSORBED)?;
        }
        let candidates = &mut self.candidates[first..];
        if !self.options.rules.just_in_time {
            // Wing & Gong go through the list of events, that is, in the order of calls. (Absorbed operations come
            // last.)
            candidates.sort_unstable();
        }
        if self.random != 0 {
            shuffle(candidates, &mut self.random);
        }
        Ok(())
    }

    /// Reports new allocations to the meter, and collects states if there are too many.
    #[inline]
    fn account(&mut self) -> Result<(), LimitKind> {
        let masks = self.frames.len() * self.frames.last().map_or(0, |frame| frame.key.mask.heap_size());
        let bytes = masks + self.furthest.prefix.capacity() * 4;
        if bytes > self.other_bytes {
            self.meter.allocate(bytes - self.other_bytes)?;
            self.other_bytes = bytes;
        }
        if self.collect_at != usize::MAX && self.automaton.state_bytes() > self.collect_at {
            self.collect()?;
        }
        Ok(())
    }

    /// Forgets states that are needed neither by the path nor by the costlier half of the set.
    #[cold]
    fn collect(&mut self) -> Result<(), LimitKind> {
        let mut needed = vec![false; self.automaton.states()];
        needed[StateId::INITIAL.index()] = true;
        for frame in &self.frames {
            needed[frame.key.state.index()] = true;
        }
        let half = needed.len() / 2;
        let mut count = needed.iter().filter(|needed| **needed).count();
        if count > half {
            // The path alone fills the memory.
            return Err(LimitKind::Memory);
        }
        for state in self.seen.states() {
            if count >= half {
                break;
            }
            count += usize::from(!std::mem::replace(&mut needed[state.index()], true));
        }
        let keep: Vec<StateId> =
            (0..).map(StateId).zip(&needed).filter(|(_, needed)| **needed).map(|(state, _)| state).collect();
        let mut renumbered = vec![None; needed.len()];
        for (new, old) in (0..).map(StateId).zip(&keep) {
            renumbered[old.index()] = Some(new);
        }
        self.automaton.retain(&keep, self.meter);
        self.seen.renumber(&renumbered);
        let new = |old: StateId| renumbered[old.index()].expect("all states in use were kept");
        for frame in &mut self.frames {
            frame.key.state = new(frame.key.state);
        }
        Ok(())
    }
}

fn small(index: usize) -> u32 {
    u32::try_from(index).expect("a path is no longer than the history, and memory runs out before 2^32 candidates")
}

/// Returns an element of the sequence 1, 1, 2, 1, 1, 2, 4, ... of Luby, Sinclair and Zuckerman. As a schedule of
/// restarts it is within a logarithmic factor of the best schedule, whatever the running times are. It is unbounded, so
/// the search stays complete.
fn luby(run: u64) -> u64 {
    let mut run = run;
    loop {
        let power = (run + 1).next_power_of_two();
        if power == run + 1 {
            return power / 2;
        }
        run -= power / 2 - 1;
    }
}

fn shuffle(items: &mut [u32], random: &mut u64) {
    for index in (1..items.len()).rev() {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        #[expect(clippy::cast_possible_truncation, reason = "the remainder is below a length")]
        let other = (*random % (index as u64 + 1)) as usize;
        items.swap(index, other);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn luby_is_the_sequence_of_the_paper() {
        let sequence: Vec<u64> = (1..=15).map(super::luby).collect();
        assert_eq!(sequence, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }
}

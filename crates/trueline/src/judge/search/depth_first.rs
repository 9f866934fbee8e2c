//! Depth-first search for a linearization: the code that the tree and graph searches of Wing & Gong and of Lowe share.
//!
//! From each configuration, the search tries the open operations that are not linearized, one after
//! the other, and undoes an operation that leads to a dead end. The recursion is implemented as a
//! stack of frames. The path to the current configuration is a stack of operations, the *trail*, so
//! an operation is undone by popping it.

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
    /// No configurations are remembered: this is a tree search.
    Tree,
    /// All failed configurations are remembered: this is a graph search.
    Graph,
    /// As many configurations as there is room for. The least recently used configuration is
    /// forgotten first. A configuration is remembered when it is reached, as in Horn & Kroening,
    /// not when it has failed.
    RecentlyMet(Room),
    /// As many configurations as there is room for: the most recent ones, and those that were the
    /// most costly to explore.
    RecentOrCostly(Room),
}

/// The memory that a search in bounded memory may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// The maximum size of the set of failed configurations, in bytes.
    pub(crate) set: u64,
    /// The total size of the states, in bytes, above which unneeded states are forgotten. The
    /// search doubles this limit if the path or the set needs more than half of the states.
    pub(crate) states: u64,
    /// The size, in bytes, at which the limit in `states` no longer doubles to make room for the
    /// states that the set needs. The limit still doubles if the path alone needs more than half of
    /// the states.
    pub(crate) most_states: u64,
    /// The number of frames to keep. Older parts of the path are folded (see `Fold`), so that
    /// between this number and twice this number of frames are kept.
    pub(crate) frames: usize,
}

impl Memory {
    /// Returns the memory that the search may use, or `None` if its memory is not bounded.
    fn room(self) -> Option<Room> {
        match self {
            Self::Tree | Self::Graph => None,
            Self::RecentlyMet(room) | Self::RecentOrCostly(room) => Some(room),
        }
    }
}

/// The options of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) rules: Rules,
    pub(crate) memory: Memory,
    /// The seed for shuffling the order in which operations are tried.
    pub(crate) seed: Option<u64>,
    /// Determines when the search restarts in another order: when the number of configurations
    /// visited since the last restart exceeds this value times the next element of Luby's sequence.
    pub(crate) restart_after: Option<u64>,
    /// The number of configurations after which the search gives up.
    pub(crate) patience: Option<Patience>,
}

/// The maximum number of configurations that a search may visit. It grows as the search passes
/// returns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) at_start: u64,
    /// The number that is added to the maximum for each return that the search has passed.
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
        Memory::RecentlyMet(room) => Seen::recent(room.set),
        Memory::RecentOrCostly(room) => Seen::costly(room.set),
    };
    let room = options.memory.room();
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
        folds: Vec::new(),
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
        collect_at: room.map_or(usize::MAX, |room| usize::try_from(room.states).unwrap_or(usize::MAX)),
        kept_frames: room.map_or(usize::MAX / 2, |room| room.frames),
    };
    match search.until_known() {
        Ok(true) => Found::Accepted(problem.unfold(search.trail)),
        Ok(false) => Found::Rejected { level: search.furthest.level, prefix: problem.unfold(search.furthest.prefix) },
        Err(kind) => Found::Unknown { kind, level: search.furthest.level },
    }
}

/// A configuration on the path, with the alternatives that have not been tried from it.
#[derive(Debug)]
struct Frame<M> {
    key: Key<M>,
    /// The candidates of this frame begin at `candidates[first]` and end where those of the next
    /// frame begin. The candidates from `candidates[next]` on are still to be tried.
    first: u32,
    next: u32,
    /// The index of the next outcome to try, if the operation in `candidates[next]` has several outcomes.
    outcome: u32,
    /// The length of the trail at this configuration.
    trail: u32,
    /// The number of configurations visited before this one.
    entered: u64,
}

/// Consecutive frames of the path that are not stored, to save memory. [`DepthFirst::unfold`]
/// rebuilds them: it follows the trail from the first of these frames, with one step of the
/// specification for each operation.
#[derive(Debug)]
struct Fold<M> {
    /// The configuration of the first frame.
    key: Key<M>,
    /// The length of the trail at the first frame.
    trail: u32,
    /// The number of frames.
    frames: usize,
    /// The number of configurations visited before the first frame.
    entered: u64,
    /// The frames at which an operation has outcomes that have not been tried. Each entry holds the
    /// position of the frame in the fold, and the index of the next outcome to try.
    outcomes: Vec<(usize, u32)>,
}

/// The smallest number of frames in a fold.
pub(crate) const FEWEST_FRAMES: usize = 1;

struct DepthFirst<'s, 'a, M> {
    problem: &'s Problem,
    automaton: &'s mut Automaton<'a>,
    options: &'s Options,
    meter: &'s mut Meter,
    window: Window,
    seen: Seen<M>,
    /// The older part of the path, if the memory is bounded. The newer part is in `frames`, which
    /// continues the path after the last fold.
    folds: Vec<Fold<M>>,
    frames: Vec<Frame<M>>,
    /// The candidates of all frames in `frames`, concatenated.
    candidates: Vec<u32>,
    /// The operations linearized on the path, in the order of the path.
    trail: Vec<u32>,
    lister: Candidates,
    furthest: Furthest,
    /// The state of the random number generator for shuffling; 0 if nothing is shuffled.
    random: u64,
    /// The size of the masks and of `furthest`, in bytes, that has been reported to the meter.
    other_bytes: usize,
    /// The total size of the states, in bytes, above which unneeded states are forgotten.
    collect_at: usize,
    /// When there are twice as many frames as this number, the older half is folded.
    kept_frames: usize,
    /// The level of the return that a run tries to pass. The run succeeds when a configuration
    /// passes this return.
    horizon: u32,
    /// The foresight rule considers only goals whose returns are below this level.
    foreseen_until: u32,
    /// The highest level of a goal that made this run drop a configuration.
    latest_doom: Option<u32>,
    plans: Plans,
}

/// The furthest level reached, and a linearization up to it.
#[derive(Debug, Default)]
struct Furthest {
    level: u32,
    /// The trail at a dead end at `level`.
    prefix: Vec<u32>,
    /// The length of the common prefix of `prefix` and the trail.
    common: usize,
    /// Whether `prefix` is the trail at a dead end at `level`. If `false`, `prefix` belongs to a
    /// lower level.
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

    /// Records a dead end at `level`; `trail` is a linearization of the history up to that level.
    /// Only the part of the trail that has changed since the last dead end is copied, so that a
    /// search that runs into a dead end at every step takes linear time in total.
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
    /// Returns whether the part has a linearization. If it has none, `furthest` describes the first
    /// failing return.
    fn until_known(&mut self) -> Result<bool, LimitKind> {
        self.meter.allocate(self.problem.bytes())?;
        if self.passes_horizon()? {
            return Ok(true);
        }
        // All returns before `furthest.level` can be passed. The return at level `bad` cannot be
        // passed.
        let mut bad = self.horizon;
        let mut ahead = 0;
        let mut is_bounded = false;
        // A configuration that was dropped because of a goal could not have passed the goal's
        // return. If this return is below the furthest level, the configuration could not have
        // reached the furthest level. So only goals at or above the furthest level matter.
        while self.latest_doom.is_some_and(|level| level >= self.furthest.level) {
            let good = self.furthest.level;
            if good == bad {
                if !self.furthest.known {
                    // Every configuration that reached this level was dropped. Search again with
                    // less foresight, to find a configuration that is not dropped.
                    (self.horizon, self.foreseen_until) = (bad, bad);
                    let passes = self.passes_horizon()?;
                    assert!(
                        !passes,
                        "`reaches` of the specification breaks its contract: it ruled out a state from which an \
                         operation could still return its result"
                    );
                }
                break;
            }
            // The failing return is usually near. So place the horizon at a distance that doubles
            // until the horizon cannot be passed, and then bisect.
            self.horizon = if is_bounded { good + (bad - good) / 2 } else { (good + ahead).min(bad - 1) };
            self.foreseen_until = self.horizon + 1;
            if self.passes_horizon()? {
                // This run ended as soon as it passed the horizon, and considered only goals below
                // `foreseen_until`. So its `latest_doom` has no meaning. Replace it, so that the
                // loop continues.
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
        self.folds.clear();
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

    /// Returns the next configuration to enter, the length of the trail before it, and the
    /// operation that leads to it. Pops the frames that have no moves left to try.
    fn next_move(&mut self) -> Result<Option<(Key<M>, usize, u32)>, LimitKind> {
        loop {
            let Some(frame) = self.frames.last_mut() else {
                if self.unfold()? {
                    continue;
                }
                return Ok(None);
            };
            while let Some(&op) = self.candidates.get(frame.next as usize) {
                if op & ABSORBED != 0 {
                    frame.next += 1;
                    let mut key = frame.key.clone();
                    let trail = frame.trail as usize;
                    self.cut_trail(trail);
                    self.pass_settled(&mut key, op)?;
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
            let frame = self.frames.pop().expect("the current frame is on the stack");
            self.candidates.truncate(frame.first as usize);
            self.furthest.dead_end(frame.key.level, &self.trail[..frame.trail as usize]);
            if !matches!(self.options.memory, Memory::RecentlyMet(_)) {
                let work = self.meter.configurations - frame.entered;
                self.seen.insert(frame.key, work, self.meter)?;
            }
        }
    }

    /// Folds the oldest frames until fewer than `2 * kept_frames` are left.
    #[cold]
    fn fold(&mut self) -> Result<(), LimitKind> {
        while self.frames.len() >= 2 * self.kept_frames {
            let folded = &self.frames[..self.kept_frames];
            let outcomes = folded.iter().enumerate().filter(|(_, frame)| frame.outcome > 0);
            let fold = Fold {
                key: folded[0].key.clone(),
                trail: folded[0].trail,
                frames: folded.len(),
                entered: folded[0].entered,
                outcomes: outcomes.map(|(place, frame)| (place, frame.outcome)).collect(),
            };
            self.meter.allocate(fold.outcomes.len() * size_of::<(usize, u32)>())?;
            self.meter.push(&mut self.folds, fold)?;
            self.frames.drain(..self.kept_frames);
            let candidates = self.frames[0].first;
            self.candidates.drain(..candidates as usize);
            for frame in &mut self.frames {
                frame.first -= candidates;
                frame.next -= candidates;
            }
        }
        Ok(())
    }

    /// Rebuilds the frames of the last fold, after the frames that follow it have failed. Returns
    /// whether there was a fold.
    #[cold]
    fn unfold(&mut self) -> Result<bool, LimitKind> {
        let Some(Fold { mut key, trail, frames, entered, outcomes }) = self.folds.pop() else { return Ok(false) };
        self.meter.free(outcomes.len() * size_of::<(usize, u32)>());
        let mut outcomes = outcomes.into_iter().peekable();
        let taken = self.trail.split_off(trail as usize);
        for place in 0..frames {
            let length = self.trail.len();
            let op = taken[length - trail as usize];
            self.window.seek(self.problem, key.level);
            let first = self.candidates.len();
            self.list_candidates(&key)?;
            let tried = self.candidates[first..].iter().position(|candidate| *candidate == op);
            let tried = first + tried.expect("the operation on the trail is a candidate, because lists do not change");
            let outcome = outcomes.next_if(|(of, _)| *of == place).map(|(_, outcome)| outcome);
            let frame = Frame {
                key: key.clone(),
                first: small(first),
                next: small(if outcome.is_some() { tried } else { tried + 1 }),
                outcome: outcome.unwrap_or(0),
                trail: small(length),
                entered,
            };
            self.meter.push(&mut self.frames, frame)?;
            if place + 1 < frames {
                self.repeat_move(&mut key, op, outcome)?;
            }
        }
        debug_assert!(taken.starts_with(&self.trail[trail as usize..]), "the same moves give the same trail");
        self.furthest.trail_cut(self.trail.len());
        Ok(true)
    }

    /// Moves from a frame's configuration to that of the next frame, as
    /// [`next_move`](Self::next_move) and [`enter`](Self::enter) did before. `outcome` is the next
    /// outcome of `op` to try, or `None` if all outcomes were tried.
    fn repeat_move(&mut self, key: &mut Key<M>, op: u32, outcome: Option<u32>) -> Result<(), LimitKind> {
        if op & ABSORBED != 0 {
            self.pass_settled(key, op)?;
        } else {
            key.state = match self.automaton.step(key.state, self.problem.class(op), self.meter)? {
                NextStates::None => unreachable!("the operation was possible when it was first tried"),
                NextStates::One(state) => state,
                NextStates::Several(list) => {
                    let states = self.automaton.several(list);
                    states[outcome.map_or(states.len(), |outcome| outcome as usize) - 1]
                }
            };
            self.linearize(key, op)?;
        }
        if self.options.rules.eager_observers {
            self.satisfy_observers(key)?;
        }
        Ok(())
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

    /// Passes the return of a settled operation. `op` is marked as [`ABSORBED`].
    #[inline]
    fn pass_settled(&mut self, key: &mut Key<M>, op: u32) -> Result<(), LimitKind> {
        self.meter.push(&mut self.trail, op)?;
        self.problem.leave(&mut key.mask, op & !ABSORBED);
        key.level += 1;
        self.pass_returns(key);
        Ok(())
    }

    /// Advances to the next return whose operation is not linearized. If that operation is settled,
    /// passing its return is one of the moves to try.
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

    /// Enters the configuration `key`, to which `op` led. Returns whether the configuration has
    /// passed the horizon. If the search is known to fail from this configuration, the
    /// configuration is left at once, and the trail is cut to the length `trail`.
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
        if self.frames.len() / 2 >= self.kept_frames {
            self.fold()?;
        }
        self.account()?;
        Ok(false)
    }

    /// Linearizes every open observer that is possible here. The level increases if the next
    /// operation to return is one of these observers.
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

    /// Lists the operations to try from a configuration that is at the level of the window.
    fn list_candidates(&mut self, key: &Key<M>) -> Result<(), LimitKind> {
        let problem = self.problem;
        let first = self.candidates.len();
        let candidates = &mut self.candidates;
        self.lister.append(problem, self.automaton, &self.window, &key.mask, candidates, self.meter)?;
        // Passing the return of a settled operation is tried last, because usually the operation
        // took effect near its return, and another operation observed its effect.
        let returning = problem.returns[key.level as usize];
        if problem.is_settled(&key.mask, returning) {
            self.meter.push(&mut self.candidates, returning | ABSORBED)?;
        }
        let candidates = &mut self.candidates[first..];
        if !self.options.rules.just_in_time {
            // Wing & Gong go through the list of events, so they try operations in the order of
            // calls. (Operations that are marked as absorbed come last, because the mark is the
            // highest bit.)
            candidates.sort_unstable();
        }
        if self.random != 0 {
            if self.options.memory.room().is_some() {
                // The order must be the same when the frame is rebuilt. By then, the number of the
                // state may have changed, so the order must not depend on it.
                let seed = self.options.seed.unwrap_or(0) ^ self.trail.len() as u64;
                self.random = hash::words(seed, key.mask.words()) | 1;
            }
            shuffle(candidates, &mut self.random);
        }
        Ok(())
    }

    /// Reports new allocations to the meter, and forgets unneeded states if there are too many
    /// states.
    #[inline]
    fn account(&mut self) -> Result<(), LimitKind> {
        let mask = self.frames.last().map_or(0, |frame| frame.key.mask.heap_size());
        let bytes = (self.folds.len() + self.frames.len()) * mask + self.furthest.prefix.capacity() * 4;
        if bytes > self.other_bytes {
            self.meter.allocate(bytes - self.other_bytes)?;
            self.other_bytes = bytes;
        }
        if self.collect_at != usize::MAX && self.automaton.state_bytes() > self.collect_at {
            self.collect()?;
        }
        Ok(())
    }

    /// Forgets states, and keeps at most about half of them: those that the path needs, and then
    /// those that the costliest entries of the set need. If the path alone needs more than half of
    /// the states, folds more of the path.
    ///
    /// In two cases, forgets no state, but doubles the size above which states are forgotten. In
    /// the first case, the path needs more than half of the states, and folding more of it does not
    /// help. In the second case, the path and the set together need at least half of the states,
    /// and that size has not reached its maximum.
    #[cold]
    fn collect(&mut self) -> Result<(), LimitKind> {
        let half = self.automaton.states() / 2;
        let (mut needed, mut count) = self.needed_by_path();
        while count > half {
            if self.frames.len() <= self.folds.len().max(2 * FEWEST_FRAMES) {
                // Smaller folds would not help: there would be more of them, so the path would need
                // more states.
                self.collect_at = self.collect_at.saturating_mul(2);
                return Ok(());
            }
            self.kept_frames = (self.frames.len() / 4).max(FEWEST_FRAMES);
            self.fold()?;
            (needed, count) = self.needed_by_path();
        }
        for state in self.seen.states() {
            if count >= half {
                let most = self.options.memory.room().map_or(u64::MAX, |room| room.most_states);
                if (self.collect_at as u64) < most {
                    self.collect_at = self.collect_at.saturating_mul(2);
                    return Ok(());
                }
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
        let folds = self.folds.iter_mut().map(|fold| &mut fold.key);
        for key in folds.chain(self.frames.iter_mut().map(|frame| &mut frame.key)) {
            key.state = new(key.state);
        }
        Ok(())
    }

    /// Returns, for each state, whether the path needs it. Also returns the number of states that
    /// the path needs.
    fn needed_by_path(&self) -> (Vec<bool>, usize) {
        let mut needed = vec![false; self.automaton.states()];
        needed[StateId::INITIAL.index()] = true;
        let folds = self.folds.iter().map(|fold| fold.key.state);
        for state in folds.chain(self.frames.iter().map(|frame| frame.key.state)) {
            needed[state.index()] = true;
        }
        let count = needed.iter().filter(|needed| **needed).count();
        (needed, count)
    }
}

fn small(index: usize) -> u32 {
    u32::try_from(index).expect("a path is no longer than the history, and memory runs out before 2^32 candidates")
}

/// Returns an element of the sequence 1, 1, 2, 1, 1, 2, 4, ... of Luby, Sinclair and Zuckerman. As
/// a schedule of restarts, the sequence is within a logarithmic factor of the best schedule,
/// whatever the running times are. The sequence is unbounded, so the search stays complete.
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
        #[expect(clippy::cast_possible_truncation, reason = "the remainder is less than the length")]
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

//! Algorithm 2 of the paper: the permutations of a sequence that move no element by more than `k` places.
//!
//! Zhang, Chattopadhyay & Wang, *Round-Up*, algorithm 2 and section V: a depth-first search that has no dead ends. At
//! each place some events are *enabled*: they may be selected there. Each enabled event has a *lateness*, from `-k` at
//! the place where it is first enabled to `k` at the place where it must be selected. The first run selects the
//! sequence itself; each further run goes back to the last place where another choice is left.
//!
//! Departures from the paper: three mistakes of the printed algorithm are corrected. Line 36 sets
//! `done` to the selected event, so the events that were selected at this place earlier are
//! forgotten; it must add the event to `done`. Line 59 passes on the events that are not in
//! `p.done`, and so loses events that were selected at this place in earlier runs; it must pass on
//! all events except `p.select`. Line 60 decreases the lateness; it must increase it, as the text
//! says.
//!
//! # Complexity
//! O(m k) for each permutation of m events.

/// An event that is enabled at a place, and its lateness there.
type Enabled = (usize, i64);

#[derive(Clone, Debug, Default)]
struct Place {
    enabled: Vec<Enabled>,
    /// The events that are enabled at this place for the first time.
    newly_enabled: Vec<Enabled>,
    select: usize,
    done: Vec<usize>,
}

/// The permutations of `0..m` that move no element by more than `k` places; the first is `0..m` itself.
///
/// ```
/// use trueline::judge::quasi::Permutations;
///
/// // Figure 7 of the paper.
/// let all: Vec<Vec<usize>> = Permutations::new(3, 1).collect();
/// assert_eq!(all, [[0, 1, 2], [0, 2, 1], [1, 0, 2]]);
/// ```
#[derive(Clone, Debug)]
pub struct Permutations {
    k: i64,
    places: Vec<Place>,
    is_first: bool,
}

impl Permutations {
    /// Returns the permutations of `m` events that move no event by more than `k` places.
    pub fn new(m: usize, k: u32) -> Self {
        let k = i64::from(k);
        let mut places = vec![Place::default(); m];
        for event in 0..m {
            places[event].select = event;
            places[event].done.push(event);
            let (mut lateness, mut at) = (0, event);
            loop {
                places[at].enabled.push((event, lateness));
                if lateness == -k || at == 0 {
                    places[at].newly_enabled.push((event, lateness));
                    break;
                }
                lateness -= 1;
                at -= 1;
            }
        }
        Self { k, places, is_first: true }
    }

    /// Returns an event that is enabled and has not been selected at this place yet.
    fn pick(&self, at: usize) -> Option<usize> {
        let Place { enabled, done, .. } = &self.places[at];
        let is_left = |event: &usize| !done.contains(event);
        match enabled.iter().find(|(_, lateness)| *lateness == self.k) {
            // This event must be selected here.
            Some((event, _)) => Some(*event).filter(is_left),
            None => enabled.iter().map(|(event, _)| *event).find(is_left),
        }
    }

    /// Computes the events that are enabled at a place from those that are enabled at the place before it.
    fn update(&mut self, at: usize) {
        let Some(before) = at.checked_sub(1).map(|before| &self.places[before]) else { return };
        let passed_on = before.enabled.iter().filter(|(event, _)| *event != before.select);
        let mut enabled: Vec<Enabled> = passed_on.map(|(event, lateness)| (*event, lateness + 1)).collect();
        enabled.extend(&self.places[at].newly_enabled);
        self.places[at].enabled = enabled;
    }

    fn selected(&self) -> Vec<usize> {
        self.places.iter().map(|place| place.select).collect()
    }
}

impl Iterator for Permutations {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        if std::mem::take(&mut self.is_first) {
            return Some(self.selected());
        }
        let back = (0..self.places.len()).rev().find(|at| self.pick(*at).is_some())?;
        for at in back..self.places.len() {
            if at > back {
                self.places[at].done.clear();
                self.update(at);
            }
            let event = self.pick(at).expect("every prefix of a permutation can be completed");
            self.places[at].select = event;
            self.places[at].done.push(event);
        }
        Some(self.selected())
    }
}

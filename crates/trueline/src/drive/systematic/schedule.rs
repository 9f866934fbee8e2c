//! The name of a schedule: its differences from the default schedule.

use std::fmt;
use std::str::FromStr;

use super::strategy::{Tasks, first_choice};

/// A schedule, described by the decisions in which it departs from the default schedule. In the
/// default schedule, each task runs as long as it can, and each choice is 0.
///
/// ```
/// use trueline::drive::systematic::Schedule;
///
/// let schedule: Schedule = "3-1_17-0".parse().unwrap();
/// assert_eq!(schedule.to_string(), "3-1_17-0");
/// assert_eq!(Schedule::default().to_string(), "0");
///
/// // Repeated departures are written once.
/// let departures: Vec<String> = (0..50).map(|at| format!("{}-{}", 2 * at + 1, (at + 1) % 2)).collect();
/// let long: Schedule = departures.join("_").parse().unwrap();
/// assert!(long.to_string().len() < 40);
/// assert_eq!(long.to_string().parse(), Ok(long));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// For each decision that departs from the default schedule: the number of the decision, and
    /// its value (the number of a task, or a choice).
    departures: Vec<(u32, u32)>,
}

/// If a group of at most this many decisions repeats, the name of a schedule abbreviates the repetitions.
const LONGEST_PERIOD: usize = 8;
/// The maximum number of decisions that one abbreviation in the name of a schedule can stand for.
const MOST_DEPARTURES: usize = 10_000_000;

impl Schedule {
    /// Takes the `period` departures directly before the index `from` as a group. Returns how many
    /// times this group is repeated, starting at `from`.
    fn repeats(&self, from: usize, period: usize) -> usize {
        let step = |at: usize| {
            let before = at.checked_sub(1).map_or(0, |at| self.departures[at].0);
            self.departures.get(at).map(|(decision, value)| (decision - before, *value))
        };
        if period > from {
            return 0;
        }
        (from..self.departures.len()).take_while(|at| step(*at) == step(at - period)).count() / period
    }

    pub(super) fn departure(&self, decision: u32) -> Option<usize> {
        let at = self.departures.binary_search_by_key(&decision, |(decision, _)| *decision).ok()?;
        Some(self.departures[at].1 as usize)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.departures.is_empty() {
            return f.write_str("0");
        }
        let mut number = 0;
        while let Some((decision, value)) = self.departures.get(number) {
            let separator = if number == 0 { "" } else { "_" };
            write!(f, "{separator}{decision}-{value}")?;
            number += 1;
            let repeats = (1..=LONGEST_PERIOD).map(|period| (period * self.repeats(number, period), period));
            if let Some((length, period)) = repeats.max_by_key(|(length, _)| *length).filter(|(length, _)| *length > 3)
            {
                write!(f, "_r{period}-{}", length / period)?;
                number += length;
            }
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || -> Option<Self> {
            if text == "0" {
                return Some(Self::default());
            }
            let mut departures: Vec<(u32, u32)> = Vec::new();
            for part in text.split('_') {
                let (first, second) = part.split_once('-')?;
                let Some(period) = first.strip_prefix('r') else {
                    departures.push((first.parse().ok()?, second.parse().ok()?));
                    continue;
                };
                let (period, times): (usize, usize) = (period.parse().ok()?, second.parse().ok()?);
                let length = times.checked_mul(period).filter(|length| *length <= MOST_DEPARTURES)?;
                (1..=departures.len()).contains(&period).then_some(())?;
                for _ in 0..length {
                    let at = departures.len() - period;
                    let before = at.checked_sub(1).map_or(0, |at| departures[at].0);
                    let step = departures[at].0.checked_sub(before)?;
                    let decision = departures.last()?.0.checked_add(step)?;
                    departures.push((decision, departures[at].1));
                }
            }
            departures.windows(2).all(|pair| pair[0].0 < pair[1].0).then_some(Self { departures })
        };
        read()
            .ok_or_else(|| format!("`{text}` does not name a schedule; copy the name from a report, such as 3-1_17-0"))
    }
}

/// Records the schedule of an execution.
#[derive(Debug, Default)]
pub(super) struct Scribe {
    decisions: u32,
    schedule: Schedule,
}

impl Scribe {
    pub(super) fn clear(&mut self) {
        self.decisions = 0;
        self.schedule.departures.clear();
    }

    pub(super) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub(super) fn decided_task(&mut self, enabled: Tasks, current: Option<usize>, task: usize) {
        if enabled.count_ones() > 1 {
            self.decided(task, first_choice(enabled, current));
        }
    }

    pub(super) fn decided_number(&mut self, bound: usize, number: usize) {
        if bound > 1 {
            self.decided(number, 0);
        }
    }

    fn decided(&mut self, value: usize, plainest: usize) {
        self.decisions += 1;
        if value != plainest {
            self.schedule.departures.push((self.decisions, u32::try_from(value).unwrap_or(u32::MAX)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_short() {
        let mut departures: Vec<(u32, u32)> = (1..=3000).map(|at| (3 * at, at % 3)).collect();
        departures.extend([(10_000, 1), (10_007, 5)]);
        let schedule = Schedule { departures };
        let name = schedule.to_string();
        assert!(name.len() < 60, "{name}");
        assert_eq!(name.parse(), Ok(schedule));
    }

    #[test]
    fn others_are_refused() {
        for bad in [
            "",
            "1",
            "1-",
            "1-2_",
            "2-1_1-1",
            "1-1_1-2",
            "a-b",
            "-1-2",
            "r1-2",
            "1-1_r2-1",
            "1-1_r0-1",
            "1-1_r1-99999999",
        ] {
            assert!(bad.parse::<Schedule>().is_err(), "{bad}");
        }
    }
}

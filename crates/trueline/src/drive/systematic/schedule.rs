//! The name of a schedule: where it departs from the plainest one.

use std::fmt;
use std::str::FromStr;

use super::strategy::{Tasks, first_choice};

/// A schedule by the decisions in which it departs from the plainest one, in which each task runs as long as it can and
/// each choice is the first.
///
/// ```
/// use trueline::drive::systematic::Schedule;
///
/// let schedule: Schedule = "3-1_17-0".parse().unwrap();
/// assert_eq!(schedule.to_string(), "3-1_17-0");
/// assert_eq!(Schedule::default().to_string(), "0");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// The numbers of decisions, and what was decided: the number of a task, or a choice.
    departures: Vec<(u32, u32)>,
}

impl Schedule {
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
        for (number, (decision, value)) in self.departures.iter().enumerate() {
            let separator = if number == 0 { "" } else { "_" };
            write!(f, "{separator}{decision}-{value}")?;
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
            let departure = |part: &str| {
                let (decision, value) = part.split_once('-')?;
                Some((decision.parse().ok()?, value.parse().ok()?))
            };
            let departures: Vec<(u32, u32)> = text.split('_').map(departure).collect::<Option<_>>()?;
            departures.windows(2).all(|pair| pair[0].0 < pair[1].0).then_some(Self { departures })
        };
        read().ok_or_else(|| format!("`{text}` does not name a schedule; copy it from the report, such as 3-1_17-0"))
    }
}

/// Writes down the schedule of an execution.
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
    fn others_are_refused() {
        for bad in ["", "1", "1-", "1-2_", "2-1_1-1", "1-1_1-2", "a-b", "-1-2"] {
            assert!(bad.parse::<Schedule>().is_err(), "{bad}");
        }
    }
}

//! The description of an experiment.

use super::results::{Chart, Observation, Results, ShapeResult, Verdict};

/// An experiment: its points, what one observation of a point does, and the shapes that the results must have.
pub(crate) struct Experiment {
    /// The name of its files.
    pub(crate) id: &'static str,
    /// The rows of the list of experiments, such as `L1`.
    pub(crate) row: &'static str,
    /// The command that runs it: the paper, and the table or figure.
    pub(crate) command: (&'static str, &'static str),
    pub(crate) paper: &'static str,
    pub(crate) title: &'static str,
    /// What is measured, and how it differs from the paper.
    pub(crate) about: &'static str,
    pub(crate) chart: Chart,
    /// The labels of the axes, and whether they are logarithmic.
    pub(crate) x: (&'static str, bool),
    pub(crate) y: (&'static str, bool),
    pub(crate) points: fn(Scale) -> Vec<Point>,
    /// Makes one observation, with this seed, in a process of its own.
    pub(crate) observe: fn(&Point, Scale, u64) -> Observation,
    /// Whether observations are repeated; `false` if every observation has the same result.
    pub(crate) repeats: bool,
    /// The maximum number of observations of a point.
    pub(crate) most: usize,
    /// The time for all points of a quick run, in seconds.
    pub(crate) quick_s: f64,
    pub(crate) shapes: &'static [Shape],
    /// The explanation of the shapes that are known not to hold.
    pub(crate) why: Option<&'static str>,
}

/// The size of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Quick,
    Full,
}

impl Scale {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }

    /// Returns the first in a quick run, and the second in a full one.
    pub(crate) fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// A point of an experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Point {
    pub(crate) panel: String,
    pub(crate) series: String,
    pub(crate) x: String,
    /// The mean in the paper, and its 95 % interval.
    pub(crate) paper: Option<(f64, Option<f64>)>,
}

impl Point {
    pub(crate) fn new(panel: &str, series: &str, x: impl ToString) -> Self {
        Self { panel: panel.to_owned(), series: series.to_owned(), x: x.to_string(), paper: None }
    }

    #[must_use]
    pub(crate) fn paper(mut self, mean: f64, around: impl Into<Option<f64>>) -> Self {
        self.paper = Some((mean, around.into()));
        self
    }

    /// Returns the coordinate as a number.
    ///
    /// # Panics
    /// Panics if it is not one.
    pub(crate) fn number<T: std::str::FromStr>(&self) -> T {
        self.x.parse().unwrap_or_else(|_| panic!("the coordinate {:?} is a number", self.x))
    }
}

/// A shape that the results of the paper have, and ours must have.
pub(crate) struct Shape {
    pub(crate) rule: &'static str,
    /// Returns whether it holds, and the numbers that decide.
    pub(crate) holds: fn(&Results) -> Holds,
}

/// Whether a shape holds, and the numbers that decide; `None` if it cannot be tested with these results.
pub(crate) struct Holds(pub(crate) Option<bool>, pub(crate) String);

impl Holds {
    pub(crate) fn when(condition: bool, detail: impl Into<String>) -> Self {
        Self(Some(condition), detail.into())
    }

    pub(crate) fn not_testable(detail: impl Into<String>) -> Self {
        Self(None, detail.into())
    }
}

impl Experiment {
    /// Judges the shapes.
    pub(crate) fn judge(&self, results: &Results) -> Vec<ShapeResult> {
        let judge = |shape: &Shape| {
            let Holds(holds, detail) = (shape.holds)(results);
            let verdict = match holds {
                Some(true) => Verdict::Pass,
                Some(false) => Verdict::Fail,
                None => Verdict::NotTestable,
            };
            ShapeResult { rule: shape.rule.to_owned(), verdict, detail }
        };
        self.shapes.iter().map(judge).collect()
    }

    /// Returns the description, without points.
    pub(crate) fn described(&self, scale: Scale) -> Results {
        let axis = |(label, is_log): (&str, bool)| super::results::Axis { label: label.to_owned(), is_log };
        Results {
            id: self.id.to_owned(),
            row: self.row.to_owned(),
            paper: self.paper.to_owned(),
            title: self.title.to_owned(),
            about: self.about.to_owned(),
            command: format!("{} {}", self.command.0, self.command.1),
            chart: self.chart,
            x: axis(self.x),
            y: axis(self.y),
            mode: scale.name().to_owned(),
            why: self.why.map(str::to_owned),
            ..Results::default()
        }
    }
}

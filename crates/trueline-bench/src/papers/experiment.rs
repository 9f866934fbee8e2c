//! The description of an experiment.

use super::results::{Chart, Observation, Results, ShapeResult, Verdict};

/// An experiment: its points, the quantity that one observation of a point measures, and the shapes
/// (rules) that the results must follow.
pub(crate) struct Experiment {
    /// The name of the experiment's files, without extension.
    pub(crate) id: &'static str,
    /// The rows that this experiment reproduces, by their labels in the list of experiments, such
    /// as `L1`.
    pub(crate) row: &'static str,
    /// The two arguments of the command that runs the experiment: the name of the paper, and the
    /// table or figure.
    pub(crate) command: (&'static str, &'static str),
    pub(crate) paper: &'static str,
    pub(crate) title: &'static str,
    /// What is measured, and how it differs from the paper.
    pub(crate) about: &'static str,
    pub(crate) chart: Chart,
    /// For each axis, its label and whether the axis is logarithmic.
    pub(crate) x: (&'static str, bool),
    pub(crate) y: (&'static str, bool),
    pub(crate) points: fn(Scale) -> Vec<Point>,
    /// Makes one observation of a point, in a separate process. The last argument is the seed.
    pub(crate) observe: fn(&Point, Scale, u64) -> Observation,
    /// Whether a point is observed repeatedly. `false` if every observation would have the same
    /// result.
    pub(crate) repeats: bool,
    /// The maximum number of observations of a point.
    pub(crate) most: usize,
    /// The time limit for all points of a quick run together, in seconds.
    pub(crate) quick_s: f64,
    pub(crate) shapes: &'static [Shape],
    /// The reason why some shapes may not hold, if it is known. The page shows it only if a shape
    /// does not hold.
    pub(crate) why: Option<&'static str>,
}

/// Whether a run of an experiment is quick or full.
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

    /// Returns `quick` in a quick run, and `full` in a full run.
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
    /// The mean in the paper, and half the width of its 95 % confidence interval.
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
    /// Panics if the coordinate is not a number.
    pub(crate) fn number<T: std::str::FromStr>(&self) -> T {
        self.x.parse().unwrap_or_else(|_| panic!("the coordinate {:?} is not a number", self.x))
    }
}

/// A shape: a rule that the paper's results follow and that our results must follow, too.
pub(crate) struct Shape {
    pub(crate) rule: &'static str,
    /// Returns whether the results have the expected shape, and the numbers that show this.
    pub(crate) holds: fn(&Results) -> Holds,
}

/// Whether the results have a shape, and the numbers that show this; `None` if these results are
/// not sufficient to test the shape.
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

    /// Returns results that contain the description of the experiment, but no points.
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

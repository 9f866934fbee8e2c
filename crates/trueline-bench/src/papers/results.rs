//! The results of an experiment, as they are stored in `docs/papers`: observations, the numbers of
//! the paper, and whether the shapes hold. The results contain everything that the page and the
//! plots show, so the page and the plots can be generated without running an experiment.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::statistics::{Summary, summary};

/// The results of an experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Results {
    pub(crate) id: String,
    /// The rows that the experiment reproduces, by their labels in the list of experiments, such as
    /// `L1`.
    pub(crate) row: String,
    pub(crate) paper: String,
    pub(crate) title: String,
    /// What is measured, and how it differs from the paper.
    pub(crate) about: String,
    /// The arguments of the command that runs the experiment.
    pub(crate) command: String,
    pub(crate) chart: Chart,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// `quick` or `full`.
    pub(crate) mode: String,
    pub(crate) machine: Machine,
    pub(crate) points: Vec<PointResults>,
    pub(crate) shapes: Vec<ShapeResult>,
    /// The reason why some shapes may not hold, if it is known. The page shows it only if a shape
    /// does not hold.
    pub(crate) why: Option<String>,
}

/// The kind of a plot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Chart {
    /// A line for each series. The coordinates of the points are numbers.
    #[default]
    Lines,
    /// A row for each coordinate, with a mark for each series. The coordinates are names.
    Rows,
    /// The observations of each series, sorted in increasing order.
    Sorted,
    /// A mark for each coordinate. The coordinates are names. The position of a mark shows two
    /// values: one of the first series, and one of the second.
    Scatter,
    /// No plot, because the results are facts that either hold or do not hold.
    Facts,
}

/// An axis of a plot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) is_log: bool,
}

/// The machine on which an experiment ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: u64,
    pub(crate) memory_gib: u64,
}

impl Machine {
    /// Formats the number of cores as "1 core" or "2 cores".
    pub(crate) fn cores_as_text(&self) -> String {
        if self.cores == 1 { "1 core".to_owned() } else { format!("{} cores", self.cores) }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {} GiB of memory", self.cpu, self.cores_as_text(), self.memory_gib)
    }
}

/// The observations of a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PointResults {
    pub(crate) panel: String,
    pub(crate) series: String,
    pub(crate) x: String,
    /// The mean in the paper, and half the width of its 95 % confidence interval.
    pub(crate) paper: Option<(f64, Option<f64>)>,
    pub(crate) observations: Vec<Observation>,
    pub(crate) is_complete: bool,
    pub(crate) spent_s: f64,
    /// The load average when the point was complete, and the commit that was measured.
    pub(crate) load: f64,
    pub(crate) commit: String,
}

/// One observation: its value, additional numbers with their names, and a note.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Observation {
    pub(crate) value: f64,
    pub(crate) more: Vec<(String, f64)>,
    pub(crate) note: Option<String>,
}

/// Whether a shape holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShapeResult {
    pub(crate) rule: String,
    pub(crate) verdict: Verdict,
    /// The numbers that decide whether the shape holds.
    pub(crate) detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Fail,
    NotTestable,
}

impl Verdict {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::NotTestable => "not testable here",
        }
    }
}

impl Observation {
    pub(crate) fn of(value: f64) -> Self {
        Self { value, ..Self::default() }
    }

    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: f64) -> Self {
        self.more.push((name.to_owned(), value));
        self
    }

    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        self.more.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("value".to_owned(), json!(self.value));
        for (name, value) in &self.more {
            object.insert(name.clone(), json!(value));
        }
        if let Some(note) = &self.note {
            object.insert("note".to_owned(), json!(note));
        }
        Value::Object(object)
    }

    pub(crate) fn from_json(json: &Value) -> Option<Self> {
        let object = json.as_object()?;
        let is_more = |name: &str| !matches!(name, "value" | "note");
        Some(Self {
            value: object.get("value")?.as_f64()?,
            more: object
                .iter()
                .filter(|(name, _)| is_more(name))
                .filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)))
                .collect(),
            note: object.get("note").and_then(Value::as_str).map(str::to_owned),
        })
    }
}

impl PointResults {
    pub(crate) fn summary(&self) -> Summary {
        summary(&self.values())
    }

    pub(crate) fn values(&self) -> Vec<f64> {
        self.observations.iter().map(|observation| observation.value).collect()
    }

    /// Returns the mean of the additional number `name` over all observations.
    pub(crate) fn mean_of(&self, name: &str) -> Option<f64> {
        let values: Vec<f64> = self.observations.iter().filter_map(|observation| observation.get(name)).collect();
        (!values.is_empty()).then(|| summary(&values).mean)
    }

    /// Returns the sum of the additional number `name` over all observations.
    pub(crate) fn sum_of(&self, name: &str) -> f64 {
        self.observations.iter().filter_map(|observation| observation.get(name)).sum()
    }

    fn to_json(&self) -> Value {
        json!({
            "panel": self.panel,
            "series": self.series,
            "x": self.x,
            "paper": self.paper.map(|(mean, around)| json!({"mean": mean, "interval": around})),
            "observations": self.observations.iter().map(Observation::to_json).collect::<Vec<_>>(),
            "complete": self.is_complete,
            "spent_s": (self.spent_s * 1000.0).round() / 1000.0,
            "load": self.load,
            "commit": self.commit,
        })
    }

    fn from_json(json: &Value) -> Option<Self> {
        let text = |name: &str| json[name].as_str().map(str::to_owned);
        Some(Self {
            panel: text("panel")?,
            series: text("series")?,
            x: text("x")?,
            paper: json["paper"]["mean"].as_f64().map(|mean| (mean, json["paper"]["interval"].as_f64())),
            observations: json["observations"].as_array()?.iter().filter_map(Observation::from_json).collect(),
            is_complete: json["complete"].as_bool()?,
            spent_s: json["spent_s"].as_f64()?,
            load: json["load"].as_f64()?,
            commit: text("commit")?,
        })
    }
}

impl Results {
    /// Returns the point with the given panel, series and coordinate, if it was observed.
    pub(crate) fn point(&self, panel: &str, series: &str, x: &str) -> Option<&PointResults> {
        let is_it = |point: &&PointResults| point.panel == panel && point.series == series && point.x == x;
        self.points.iter().find(is_it).filter(|point| !point.observations.is_empty())
    }

    /// Returns the mean at a point.
    pub(crate) fn mean(&self, panel: &str, series: &str, x: &str) -> Option<f64> {
        self.point(panel, series, x).map(|point| point.summary().mean)
    }

    /// Returns the observed points of a series, in the order of the points of the experiment.
    pub(crate) fn series<'r>(&'r self, panel: &'r str, series: &'r str) -> impl Iterator<Item = &'r PointResults> {
        self.points
            .iter()
            .filter(move |point| point.panel == panel && point.series == series && !point.observations.is_empty())
    }

    pub(crate) fn panels(&self) -> Vec<&str> {
        distinct(self.points.iter().map(|point| point.panel.as_str()))
    }

    pub(crate) fn series_names(&self) -> Vec<&str> {
        distinct(self.points.iter().map(|point| point.series.as_str()))
    }

    pub(crate) fn to_json(&self) -> Value {
        let axis = |axis: &Axis| json!({"label": axis.label, "log": axis.is_log});
        json!({
            "id": self.id,
            "row": self.row,
            "paper": self.paper,
            "title": self.title,
            "about": self.about,
            "command": self.command,
            "chart": self.chart.name(),
            "x": axis(&self.x),
            "y": axis(&self.y),
            "mode": self.mode,
            "machine": {
                "cpu": self.machine.cpu,
                "cores": self.machine.cores,
                "memory_gib": self.machine.memory_gib,
            },
            "shapes": self.shapes.iter().map(|shape| json!({
                "rule": shape.rule,
                "verdict": shape.verdict.name(),
                "detail": shape.detail,
            })).collect::<Vec<_>>(),
            "why": self.why,
            "points": self.points.iter().map(PointResults::to_json).collect::<Vec<_>>(),
        })
    }

    pub(crate) fn from_json(json: &Value) -> Option<Self> {
        let text = |name: &str| json[name].as_str().map(str::to_owned);
        let axis =
            |json: &Value| Some(Axis { label: json["label"].as_str()?.to_owned(), is_log: json["log"].as_bool()? });
        let shape = |json: &Value| {
            let verdict = [Verdict::Pass, Verdict::Fail, Verdict::NotTestable]
                .into_iter()
                .find(|verdict| Some(verdict.name()) == json["verdict"].as_str())?;
            let text = |name: &str| json[name].as_str().map(str::to_owned);
            Some(ShapeResult { rule: text("rule")?, verdict, detail: text("detail")? })
        };
        Some(Self {
            id: text("id")?,
            row: text("row")?,
            paper: text("paper")?,
            title: text("title")?,
            about: text("about")?,
            command: text("command")?,
            chart: Chart::ALL.into_iter().find(|chart| Some(chart.name()) == json["chart"].as_str())?,
            x: axis(&json["x"])?,
            y: axis(&json["y"])?,
            mode: text("mode")?,
            machine: Machine {
                cpu: json["machine"]["cpu"].as_str()?.to_owned(),
                cores: json["machine"]["cores"].as_u64()?,
                memory_gib: json["machine"]["memory_gib"].as_u64()?,
            },
            points: json["points"].as_array()?.iter().map(PointResults::from_json).collect::<Option<_>>()?,
            shapes: json["shapes"].as_array()?.iter().map(shape).collect::<Option<_>>()?,
            why: text("why"),
        })
    }

    /// Reads the results of an experiment; `None` if there are none yet.
    ///
    /// # Errors
    /// Returns a message if the file cannot be read.
    pub(crate) fn read(folder: &Path, id: &str) -> Result<Option<Self>, String> {
        let path = folder.join(format!("{id}.json"));
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        let json: Value = serde_json::from_str(&text)
            .map_err(|error| format!("{}: {error}; remove the file to start again", path.display()))?;
        let results = Self::from_json(&json);
        results.map(Some).ok_or_else(|| {
            format!("{} does not have the results of an experiment; remove it to start again", path.display())
        })
    }

    /// Writes the results to a temporary file, which then replaces the old results.
    ///
    /// # Errors
    /// Returns a message if a file cannot be written.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), String> {
        write(&folder.join(format!("{}.json", self.id)), &lines(&self.to_json()))
    }

    /// Returns a table of the means, as CSV.
    pub(crate) fn to_csv(&self) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let mut text = String::from("panel,series,x,mean,interval,n,paper_mean,paper_interval\n");
        for point in &self.points {
            let Summary { mean, around, count } = point.summary();
            let (paper, of_paper) = match point.paper {
                Some((mean, around)) => {
                    (mean.to_string(), around.map_or_else(String::new, |around| around.to_string()))
                }
                None => (String::new(), String::new()),
            };
            text.push_str(&format!(
                "{},{},{},{mean},{around},{count},{paper},{of_paper}\n",
                quoted(&point.panel),
                quoted(&point.series),
                quoted(&point.x)
            ));
        }
        text
    }
}

impl Chart {
    const ALL: [Self; 5] = [Self::Lines, Self::Rows, Self::Sorted, Self::Scatter, Self::Facts];

    fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Rows => "rows",
            Self::Sorted => "sorted",
            Self::Scatter => "scatter",
            Self::Facts => "facts",
        }
    }
}

/// Returns the names without repetitions, in the order in which they first appear.
pub(crate) fn distinct<'t>(names: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

/// Formats the results with one line for each point, so that differences between two versions are
/// easy to read.
fn lines(json: &Value) -> String {
    let mut text = String::from("{\n");
    let object = json.as_object().expect("results are a JSON object");
    for (at, (name, value)) in object.iter().enumerate() {
        let end = if at + 1 == object.len() { "\n" } else { ",\n" };
        match value.as_array() {
            Some(items) if !items.is_empty() => {
                let items: Vec<String> = items.iter().map(|item| format!("    {item}")).collect();
                text.push_str(&format!("  {}: [\n{}\n  ]{end}", json!(name), items.join(",\n")));
            }
            _ => text.push_str(&format!("  {}: {value}{end}", json!(name))),
        }
    }
    text.push_str("}\n");
    text
}

/// Writes a file under a temporary name, and then renames it.
pub(crate) fn write(path: &PathBuf, text: &str) -> Result<(), String> {
    let beside = path.with_extension("new");
    let fault = |error: io::Error| format!("{}: {error}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(fault)?;
    }
    fs::write(&beside, text).map_err(fault)?;
    fs::rename(&beside, path).map_err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_survive_their_file() {
        let observation = Observation::of(1.5).with("runs", 3.0);
        let point = PointResults {
            panel: "a \"panel\"".to_owned(),
            series: "s".to_owned(),
            x: "2".to_owned(),
            paper: Some((7.0, None)),
            observations: vec![observation.clone(), Observation { note: Some("n".to_owned()), ..observation }],
            is_complete: true,
            spent_s: 2.5,
            load: 1.25,
            commit: "abc".to_owned(),
        };
        let shape = ShapeResult { rule: "r".to_owned(), verdict: Verdict::NotTestable, detail: "d".to_owned() };
        let results = Results { id: "x".to_owned(), points: vec![point], shapes: vec![shape], ..Results::default() };
        let text = lines(&results.to_json());
        let read = Results::from_json(&serde_json::from_str(&text).expect("the text is JSON"));
        assert_eq!(read.as_ref(), Some(&results));
        assert_eq!(results.to_csv().lines().nth(1), Some("\"a \"\"panel\"\"\",\"s\",\"2\",1.5,0,2,7,"));
        assert!(Results::from_json(&json!({"id": "x"})).is_none());
    }
}

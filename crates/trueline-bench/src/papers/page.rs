//! Generates the chapter of the guide about the papers, from stored results.

use std::fmt::Write as _;

use super::plot::{number, svg};
use super::results::{Chart, PointResults, Results, Verdict, distinct};

/// The path of the page.
const PAGE: &str = "docs/src/papers.md";

const INTRODUCTION: &str = "\
# The papers, reproduced

trueline implements the algorithms of five papers. This chapter repeats their experiments: what each paper reports stands beside what
this code does on one machine. Absolute times cannot agree, because the papers measured other programs in other languages on machines
with 8 to 12 cores. What must agree is the *shape*: which tester is faster, which times grow exponentially, and which stay constant. Each shape is a rule in
code (`crates/trueline-bench/src/papers`), written before the results, and is reported as PASS, FAIL, or not testable here. Each FAIL
has a paragraph that says why.

Observations follow the papers' method: each is made in a fresh process, on recorded runs of the real objects, until the 95 % interval
of the mean is within 2 % of it, or there are 50 observations, or the time of the point is over: at most 2 minutes, and less where an
experiment has many points, so that a full run takes at most four hours. A *quick* run has smaller observations and less time for each
point. Numbers are means ± 95 % intervals, with the number of observations in parentheses. The load average of the
machine is given with each experiment: a load above the number of cores means that other programs were running at the same time, and
times are longer and less certain.

`cargo run --release -p trueline-bench --features objects -- all --quick` runs everything in at most 20 minutes, and
`... -- lowe fig4` one figure by the full method; an interrupted run continues where it was. `... -- papers` makes this page from the
files in `docs/papers`, where each result is stored as JSON and CSV.
";

/// Returns the files that are generated from results, each with its path: the page, and a plot and
/// a table for each experiment.
pub(crate) fn files(all: &[Results]) -> Vec<(String, String)> {
    let mut files = vec![(PAGE.to_owned(), page(all))];
    for results in all {
        if let Some(svg) = svg(results) {
            files.push((format!("docs/src/images/papers/{}.svg", results.id), svg));
        }
        files.push((format!("docs/papers/{}.csv", results.id), results.to_csv()));
    }
    files
}

fn page(all: &[Results]) -> String {
    let mut text = INTRODUCTION.to_owned();
    let machines: Vec<String> = all.iter().map(|results| results.machine.to_string()).collect();
    let machines = distinct(machines.iter().map(String::as_str));
    let noun = if machines.len() == 1 { "machine" } else { "machines" };
    let _ = write!(text, "\nThe {noun}: {}.\n", machines.join("; "));
    text.push_str(&overview(all));
    for paper in distinct(all.iter().map(|results| results.paper.as_str())) {
        let _ = write!(text, "\n## {paper}\n");
        for results in all.iter().filter(|results| results.paper == paper) {
            let _ = write!(text, "\n{}", section(results, 3));
        }
    }
    text
}

/// Returns a table of all shapes.
fn overview(all: &[Results]) -> String {
    let count = |results: &[Results], verdict: Verdict| {
        results.iter().flat_map(|results| &results.shapes).filter(|shape| shape.verdict == verdict).count()
    };
    let (pass, fail) = (count(all, Verdict::Pass), count(all, Verdict::Fail));
    let other = count(all, Verdict::NotTestable);
    let mut text = format!(
        "\nOf {} shapes that can be tested here, {pass} hold and {fail} do not; {other} cannot be tested on this machine or were not \
         measured.\n\n| row | experiment | run | PASS | FAIL | not testable |\n|---|---|---|---:|---:|---:|\n",
        pass + fail
    );
    for results in all {
        let one = std::slice::from_ref(results);
        let _ = writeln!(
            text,
            "| {} | [{}](#{}) | {} | {} | {} | {} |",
            results.row,
            results.title,
            anchor(&results.title),
            results.mode,
            count(one, Verdict::Pass),
            count(one, Verdict::Fail),
            count(one, Verdict::NotTestable),
        );
    }
    text
}

/// Returns the name by which links refer to a heading.
fn anchor(title: &str) -> String {
    let lower = title.to_lowercase();
    let kept = lower.chars().filter_map(|letter| match letter {
        ' ' | '-' => Some('-'),
        letter if letter.is_alphanumeric() || letter == '_' => Some(letter),
        _ => None,
    });
    kept.collect()
}

/// Returns the part of the page about one experiment.
pub(crate) fn section(results: &Results, level: usize) -> String {
    let mut text = format!("{} {}\n\n{}\n\n", "#".repeat(level), results.title, results.about);
    if svg(results).is_some() {
        let _ = write!(text, "![{}](images/papers/{}.svg)\n\n", results.title.replace(['[', ']'], ""), results.id);
    }
    text.push_str(&table(results));
    text.push('\n');
    for shape in &results.shapes {
        let _ = writeln!(text, "- **{}**: {}. ({})", shape.verdict.name(), shape.rule, shape.detail.replace('|', "/"));
    }
    if let (Some(why), true) = (&results.why, results.shapes.iter().any(|shape| shape.verdict == Verdict::Fail)) {
        let _ = write!(text, "\n*Why it differs.* {why}\n");
    }
    let commits = distinct(observed(results).map(|point| point.commit.as_str()));
    let loads: Vec<f64> = observed(results).map(|point| point.load).collect();
    let least = loads.iter().copied().reduce(f64::min).unwrap_or(0.0);
    let most = loads.iter().copied().reduce(f64::max).unwrap_or(0.0);
    let _ = write!(
        text,
        "\n*{} run of `{}` at commit {}, load average {least:.1} to {most:.1}.*\n",
        if results.mode == "full" { "Full" } else { "Quick" },
        results.command,
        commits.join(", "),
    );
    text
}

fn observed(results: &Results) -> impl Iterator<Item = &PointResults> {
    results.points.iter().filter(|point| !point.observations.is_empty())
}

/// Formats the mean of a point, its interval, and further facts about its observations.
fn cell(point: &PointResults) -> String {
    let summary = point.summary();
    let mut text = number(summary.mean);
    if summary.count > 1 {
        let _ = write!(text, " ± {} ({})", number(summary.around), summary.count);
    }
    let undecided = point.sum_of("undecided") + point.sum_of("capped");
    if undecided > 0.0 {
        let _ = write!(text, ", {} undecided", number(undecided));
    }
    if let Some(found) = point.mean_of("found").filter(|found| *found < 0.999) {
        let _ = write!(text, ", found in {:.0} %", found * 100.0);
    }
    if let Some(note) = point.observations.first().and_then(|observation| observation.note.as_ref()) {
        let _ = write!(text, "; {}", note.replace('|', "\\|"));
    }
    text
}

fn paper(point: &PointResults) -> String {
    match point.paper {
        Some((mean, Some(around))) => format!("{} ± {}", number(mean), number(around)),
        Some((mean, None)) => number(mean),
        None => String::new(),
    }
}

/// Returns a table of the means, with a row for each coordinate and a column for each series.
fn table(results: &Results) -> String {
    let series = results.series_names();
    let has_paper = |series: &str| observed(results).any(|point| point.series == series && point.paper.is_some());
    // If the paper gives the same number for all series, the table has one column for the paper.
    let is_shared = series.len() > 1
        && observed(results).all(|point| {
            series.iter().all(|series| {
                results.point(&point.panel, series, &point.x).is_none_or(|other| other.paper == point.paper)
            })
        });
    let has_panels = results.panels().len() > 1;
    let x = if results.x.label.is_empty() { "" } else { results.x.label.as_str() };
    let mut text = String::from("|");
    if has_panels {
        text.push_str(" |");
    }
    let _ = write!(text, " {x} |");
    for series in &series {
        let _ = write!(text, " {series} |");
        if !is_shared && has_paper(series) {
            text.push_str(" paper |");
        }
    }
    if is_shared && series.iter().any(|series| has_paper(series)) {
        text.push_str(" paper |");
    }
    let columns = text.matches('|').count() - 1;
    text.push('\n');
    text.push('|');
    text.push_str(&"---|".repeat(columns));
    text.push('\n');
    for panel in results.panels() {
        let xs = distinct(observed(results).filter(|point| point.panel == panel).map(|point| point.x.as_str()));
        for x in xs {
            text.push('|');
            if has_panels {
                let _ = write!(text, " {panel} |");
            }
            let _ = write!(text, " {} |", x.replace('*', "\\*"));
            let mut of_paper = String::new();
            for series in &series {
                let point = results.point(panel, series, x);
                let _ = write!(text, " {} |", point.map(cell).unwrap_or_default());
                if let Some(point) = point.filter(|point| point.paper.is_some()) {
                    of_paper = paper(point);
                }
                if !is_shared && has_paper(series) {
                    let _ = write!(text, " {} |", point.map(paper).unwrap_or_default());
                }
            }
            if is_shared && series.iter().any(|series| has_paper(series)) {
                let _ = write!(text, " {of_paper} |");
            }
            text.push('\n');
        }
    }
    let unit = &results.y.label;
    match results.chart {
        Chart::Facts if unit.is_empty() => text,
        _ => format!("In {unit}:\n\n{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::results::{Axis, Observation, ShapeResult};

    #[test]
    fn a_section_has_both_numbers_and_the_reason_of_a_failure() {
        let point = |series: &str, paper| PointResults {
            series: series.to_owned(),
            x: "4".to_owned(),
            paper,
            observations: vec![Observation::of(1.0).with("found", 1.0), Observation::of(3.0).with("found", 0.0)],
            commit: "abc".to_owned(),
            ..PointResults::default()
        };
        let shape = |verdict| ShapeResult { rule: "it falls".to_owned(), verdict, detail: "2".to_owned() };
        let mut results = Results {
            title: "Figure 1: times".to_owned(),
            y: Axis { label: "ms".to_owned(), is_log: false },
            x: Axis { label: "threads".to_owned(), is_log: false },
            points: vec![point("ours", None), point("theirs", Some((7.0, Some(1.0))))],
            shapes: vec![shape(Verdict::Fail)],
            why: Some("Because.".to_owned()),
            ..Results::default()
        };
        let text = section(&results, 2);
        assert!(text.contains("| threads | ours | theirs | paper |\n|---|---|---|---|\n"), "{text}");
        assert!(text.contains("| 4 | 2 ± 12.7 (2), found in 50 % | 2 ± 12.7 (2), found in 50 % | 7 ± 1 |"), "{text}");
        assert!(text.contains("- **FAIL**: it falls. (2)") && text.contains("*Why it differs.* Because."), "{text}");
        results.shapes = vec![shape(Verdict::Pass)];
        assert!(!section(&results, 2).contains("Because."));
        assert_eq!(anchor("Figure 4, left: a map (by `n`)"), "figure-4-left-a-map-by-n");
    }
}

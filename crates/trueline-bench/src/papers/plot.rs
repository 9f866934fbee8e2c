//! Draws results as SVG. There are four kinds of plots: lines with error bars, rows of marks,
//! sorted observations, and one series against another. Colors follow the color scheme of the
//! reader.

use std::fmt::Write as _;

use super::results::{Chart, PointResults, Results, distinct};

const WIDTH: f64 = 760.0;
const FONT: f64 = 12.0;

/// Colors that differ clearly on light and dark backgrounds, even for readers with impaired color
/// vision. In addition, the marks have different shapes.
const LIGHT: [&str; 7] = ["#0b62a4", "#c8501e", "#1d7f4f", "#8a3fa0", "#9a6a00", "#b3245b", "#4a5560"];
const DARK: [&str; 7] = ["#6db3f2", "#ff9a6b", "#6fd3a0", "#d09be6", "#e6b84d", "#ff86ae", "#b6c2cf"];

/// The area of a panel, and the scales of its axes.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    x: Scale,
    y: Scale,
}

#[derive(Clone, Copy)]
struct Scale {
    least: f64,
    most: f64,
    is_log: bool,
}

impl Scale {
    /// Returns a scale that contains all values, with a margin at both ends.
    fn of(values: impl Iterator<Item = f64>, is_log: bool) -> Self {
        let values: Vec<f64> = values.filter(|value| value.is_finite() && (!is_log || *value > 0.0)).collect();
        let least = values.iter().copied().reduce(f64::min).unwrap_or(1.0);
        let most = values.iter().copied().reduce(f64::max).unwrap_or(10.0);
        if is_log {
            let (least, most) = (least / 1.25, most * 1.25);
            let most = if most / least < 3.0 { least * 3.0 } else { most };
            Self { least, most, is_log }
        } else {
            let least = if least >= 0.0 { 0.0 } else { least };
            let most = if most > least { most + (most - least) * 0.05 } else { least + 1.0 };
            Self { least, most, is_log }
        }
    }

    /// Returns the position of a value on the scale, from 0 to 1.
    fn place(self, value: f64) -> f64 {
        let place = if self.is_log {
            (value.max(self.least) / self.least).ln() / (self.most / self.least).ln()
        } else {
            (value - self.least) / (self.most - self.least)
        };
        place.clamp(0.0, 1.0)
    }

    fn ticks(self) -> Vec<f64> {
        if !self.is_log {
            let step = nice((self.most - self.least) / 5.0);
            let first = (self.least / step).ceil() * step;
            let ticks = std::iter::successors(Some(first), |tick| Some(tick + step));
            return ticks.take_while(|tick| *tick <= self.most + step * 1e-9).collect();
        }
        let decades = (self.most / self.least).log10();
        let steps: &[f64] = if decades > 3.5 {
            &[1.0]
        } else if decades > 1.6 {
            &[1.0, 3.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        let mut ticks = Vec::new();
        let mut decade = 10_f64.powf(self.least.log10().floor());
        while decade <= self.most {
            ticks.extend(steps.iter().map(|step| step * decade).filter(|tick| (self.least..=self.most).contains(tick)));
            decade *= 10.0;
        }
        ticks
    }
}

/// Returns a round number of about this size.
fn nice(step: f64) -> f64 {
    let decade = 10_f64.powf(step.max(1e-12).log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * decade >= step);
    factor.unwrap_or(10.0) * decade
}

/// Formats a number for an axis or a table, with three digits.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if size >= 1e15 {
        format!("{value:.1e}")
    } else if size >= 1000.0 {
        let digits = format!("{:.0}", size);
        let mut text = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at) % 3 == 0 {
                text.push(',');
            }
            text.push(digit);
        }
        if value < 0.0 { format!("-{text}") } else { text }
    } else {
        let decimals = if size >= 100.0 {
            0
        } else if size >= 10.0 {
            1
        } else if size >= 1.0 {
            2
        } else {
            4
        };
        let text = format!("{value:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Returns the plot of results, if they have one.
pub(crate) fn svg(results: &Results) -> Option<String> {
    let body = match results.chart {
        _ if results.points.iter().all(|point| point.observations.is_empty()) => return None,
        Chart::Facts => return None,
        Chart::Lines => lines(results),
        Chart::Rows => rows(results),
        Chart::Sorted => sorted(results),
        Chart::Scatter => scatter(results),
    };
    let (height, body) = body;
    // CSS variables are not used, because not all programs that draw SVG support them.
    let theme = |[paper, ink, faint, grid]: [&str; 4], colors: &[&str; 7]| {
        let mut text =
            format!("text{{fill:{ink}}}.f,.s{{fill:{faint}}}.g{{stroke:{grid}}}.a{{stroke:{faint}}}.b{{fill:{paper}}}");
        for (at, color) in colors.iter().enumerate() {
            let _ = write!(
                text,
                ".l{at}{{stroke:{color}}}.m{at}{{fill:{color};stroke:{color}}}.h{at}{{fill:{paper};stroke:{color}}}"
            );
        }
        text
    };
    let light = theme(["#fff", "#1c2330", "#5d6675", "#e3e7ec"], &LIGHT);
    let dark = theme(["#15191f", "#e6eaf0", "#a3adba", "#2c333d"], &DARK);
    let title = format!("{} ({})", results.title, results.paper);
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" height=\"{height:.0}\" role=\"img\">\n\
         <title>{}</title>\n\
         <style>\n\
         text{{font:{FONT}px system-ui,\"Segoe UI\",Helvetica,Arial,sans-serif}}.t{{font-size:15px;font-weight:600}}.p{{font-weight:600}}.s{{font-size:11px}}\n\
         .q{{stroke-dasharray:4 3}}.n{{fill:none}}.w{{stroke-width:1.6}}\n\
         {light}\n\
         @media (prefers-color-scheme:dark){{{dark}}}\n\
         </style>\n\
         <rect width=\"100%\" height=\"100%\" class=\"b\"/>\n{body}</svg>\n",
        escaped(&title),
    ))
}

fn text(out: &mut String, x: f64, y: f64, class: &str, anchor: &str, words: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\" text-anchor=\"{anchor}\">{}</text>",
        escaped(words)
    );
}

fn line(out: &mut String, from: (f64, f64), to: (f64, f64), class: &str) {
    let _ = writeln!(
        out,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" class=\"{class}\"/>",
        from.0, from.1, to.0, to.1
    );
}

/// Draws a mark: filled for our results, hollow for those of the paper.
fn mark(out: &mut String, x: f64, y: f64, series: usize, is_paper: bool) {
    let class = format!("{}{}", if is_paper { 'h' } else { 'm' }, series % 7);
    let r = 3.6;
    let shape = match series % 4 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\""),
        1 => format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{w}\" height=\"{w}\"", x - r, y - r, w = 2.0 * r),
        2 => format!("<path d=\"M{x:.1} {:.1}l{r} {w}h-{w}z\"", y - r - 0.5, w = 2.0 * r),
        _ => format!("<path d=\"M{x:.1} {:.1}l{w} {w} -{w} {w} -{w} -{w}z\"", y - r - 0.8, w = r + 0.8),
    };
    let _ = writeln!(out, "{shape} class=\"{class}\"/>");
}

/// Draws the title, the paper and the machine. Returns the y coordinate at which the free space
/// below them begins.
fn heading(out: &mut String, results: &Results) -> f64 {
    text(out, 16.0, 26.0, "t", "start", &results.title);
    let load = loads(results);
    text(out, 16.0, 44.0, "s", "start", &results.paper);
    let machine = format!("{} run on {}{load}", results.mode, results.machine.cores_as_text());
    text(out, 16.0, 59.0, "s", "start", &machine);
    72.0
}

fn loads(results: &Results) -> String {
    let loads: Vec<f64> =
        results.points.iter().filter(|point| !point.observations.is_empty()).map(|point| point.load).collect();
    match (loads.iter().copied().reduce(f64::min), loads.iter().copied().reduce(f64::max)) {
        (Some(least), Some(most)) => format!(", load {least:.1} to {most:.1}"),
        _ => String::new(),
    }
}

/// Returns the approximate width of a text, in the usual fonts without serifs.
fn text_width(text: &str) -> f64 {
    let width = |letter: char| match letter {
        'f' | 'i' | 'j' | 'l' | 'r' | 't' | ' ' | ',' | '.' | ':' | '-' | '(' | ')' => 4.8,
        'm' | 'w' | '+' | '=' => 10.0,
        'A'..='Z' => 9.0,
        _ => 7.4,
    };
    text.chars().map(width).sum()
}

/// Draws the names of the series. Returns the y coordinate at which the free space below them
/// begins.
fn legend(out: &mut String, names: &[&str], top: f64, has_paper: bool) -> f64 {
    let (mut x, mut y) = (20.0, top + 12.0);
    let mut entry = |name: &str, at: Option<usize>| {
        let width = 30.0 + text_width(name);
        if x + width > WIDTH - 12.0 {
            x = 20.0;
            y += 18.0;
        }
        match at {
            Some(at) => {
                line(out, (x - 8.0, y - 4.0), (x + 8.0, y - 4.0), &format!("l{} w", at % 7));
                mark(out, x, y - 4.0, at, false);
            }
            None => mark(out, x, y - 4.0, 6, true),
        }
        text(out, x + 13.0, y, "", "start", name);
        x += width + 8.0;
    };
    for (at, name) in names.iter().enumerate() {
        entry(name, Some(at));
    }
    if has_paper {
        entry("hollow, dashed: the paper", None);
    }
    y + 12.0
}

fn axes(out: &mut String, frame: &Frame, x_label: &str, y_label: &str, x_ticks: Option<&[f64]>) {
    let Frame { left, top, width, height, x, y } = frame;
    for tick in y.ticks() {
        let at = top + height * (1.0 - y.place(tick));
        line(out, (*left, at), (left + width, at), "g");
        text(out, left - 6.0, at + 4.0, "f", "end", &number(tick));
    }
    let own = x.ticks();
    let ticks = x_ticks.unwrap_or(&own);
    let mut last = f64::NEG_INFINITY;
    for tick in ticks {
        let at = left + width * x.place(*tick);
        line(out, (at, top + height), (at, top + height + 4.0), "a");
        if at - last > 30.0 {
            text(out, at, top + height + 17.0, "f", "middle", &number(*tick));
            last = at;
        }
    }
    line(out, (*left, top + height), (left + width, top + height), "a");
    line(out, (*left, *top), (*left, top + height), "a");
    text(out, left + width / 2.0, top + height + 34.0, "f", "middle", x_label);
    let (x, y) = (left - 62.0, top + height / 2.0);
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"f\" text-anchor=\"middle\" transform=\"rotate(-90 {x:.1} {y:.1})\">{}</text>",
        escaped(y_label)
    );
}

fn observed(results: &Results) -> impl Iterator<Item = &PointResults> {
    results.points.iter().filter(|point| !point.observations.is_empty())
}

fn lines(results: &Results) -> (f64, String) {
    let mut out = String::new();
    let names = results.series_names();
    let has_paper = observed(results).any(|point| point.paper.is_some());
    let mut top = heading(&mut out, results);
    top = legend(&mut out, &names, top, has_paper);
    let panels: Vec<&str> = distinct(observed(results).map(|point| point.panel.as_str()));
    let columns = if panels.len() > 1 { 2 } else { 1 };
    let (gap, left) = (86.0, 86.0);
    #[expect(clippy::cast_precision_loss, reason = "there are at most two columns")]
    let width = (WIDTH - left - 20.0 - gap * (columns - 1) as f64) / columns as f64;
    let height = if columns == 1 { 280.0 } else { 190.0 };
    let number_of = |point: &PointResults| point.x.parse::<f64>().unwrap_or(0.0);
    let shown = |point: &PointResults| {
        let summary = point.summary();
        let paper = point.paper.map(|(mean, _)| mean);
        [Some(summary.mean), Some(summary.mean + summary.around), paper].into_iter().flatten()
    };
    let y = Scale::of(observed(results).flat_map(shown), results.y.is_log);
    for (at, panel) in panels.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "there are few panels")]
        let (column, row) = ((at % columns) as f64, (at / columns) as f64);
        let of_panel = || observed(results).filter(|point| point.panel == **panel);
        let frame = Frame {
            left: left + column * (width + gap),
            top: top + 24.0 + row * (height + 76.0),
            width,
            height,
            x: Scale::of(of_panel().map(number_of), results.x.is_log),
            y,
        };
        if !panel.is_empty() {
            text(&mut out, frame.left, frame.top - 8.0, "p", "start", panel);
        }
        let mut ticks: Vec<f64> = of_panel().map(number_of).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        axes(&mut out, &frame, &results.x.label, &results.y.label, (ticks.len() <= 12).then_some(&ticks[..]));
        for (number, name) in names.iter().enumerate() {
            let points: Vec<&PointResults> = of_panel().filter(|point| point.series == **name).collect();
            let place = |x: f64, y: f64| {
                (frame.left + frame.width * frame.x.place(x), frame.top + frame.height * (1.0 - frame.y.place(y)))
            };
            for is_paper in [true, false] {
                let values: Vec<(f64, f64, f64)> = points
                    .iter()
                    .filter_map(|point| {
                        let summary = point.summary();
                        match is_paper {
                            true => point.paper.map(|(mean, around)| (number_of(point), mean, around.unwrap_or(0.0))),
                            false => Some((number_of(point), summary.mean, summary.around)),
                        }
                    })
                    .collect();
                let path: Vec<String> = values
                    .iter()
                    .map(|(x, y, _)| {
                        let (x, y) = place(*x, *y);
                        format!("{x:.1} {y:.1}")
                    })
                    .collect();
                if path.len() > 1 {
                    let class = format!("l{} n w{}", number % 7, if is_paper { " q" } else { "" });
                    let _ = writeln!(out, "<path d=\"M{}\" class=\"{class}\"/>", path.join("L"));
                }
                for (x, y, around) in values {
                    let class = format!("l{}", number % 7);
                    let ((at, low), (_, high)) = (place(x, y - around), place(x, y + around));
                    if around > 0.0 {
                        line(&mut out, (at, low), (at, high), &class);
                        line(&mut out, (at - 3.0, low), (at + 3.0, low), &class);
                        line(&mut out, (at - 3.0, high), (at + 3.0, high), &class);
                    }
                    let (at, y) = place(x, y);
                    mark(&mut out, at, y, number, is_paper);
                }
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "there are few panels")]
    let rows = panels.len().div_ceil(columns) as f64;
    (top + 24.0 + rows * (height + 76.0) - 20.0, out)
}

fn rows(results: &Results) -> (f64, String) {
    let mut out = String::new();
    let names = results.series_names();
    let has_paper = observed(results).any(|point| point.paper.is_some());
    let mut top = heading(&mut out, results);
    top = legend(&mut out, &names, top, has_paper) + 8.0;
    let keys: Vec<String> = observed(results).map(rows_key).collect();
    let keys = distinct(keys.iter().map(String::as_str));
    let longest = keys.iter().map(|key| key.chars().count()).max().unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "names are short")]
    let left = (longest as f64 * 6.3 + 26.0).clamp(90.0, 400.0);
    let shown = |point: &PointResults| {
        let summary = point.summary();
        [Some(summary.mean), point.paper.map(|(mean, _)| mean)].into_iter().flatten()
    };
    let x = Scale::of(observed(results).flat_map(shown), results.y.is_log);
    #[expect(clippy::cast_precision_loss, reason = "there are few series")]
    let each = 8.0 + 8.0 * names.len().max(2) as f64;
    #[expect(clippy::cast_precision_loss, reason = "there are few rows")]
    let height = each * keys.len() as f64;
    let width = WIDTH - left - 24.0;
    for tick in x.ticks() {
        let at = left + width * x.place(tick);
        line(&mut out, (at, top), (at, top + height), "g");
        text(&mut out, at, top + height + 16.0, "f", "middle", &number(tick));
    }
    for (at, key) in keys.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "there are few rows")]
        let y = top + each * at as f64;
        line(&mut out, (16.0, y), (WIDTH - 16.0, y), "g");
        text(&mut out, left - 10.0, y + each / 2.0 + 4.0, "", "end", key);
        for (number, name) in names.iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "there are few series")]
            let y = y + each * (number as f64 + 1.0) / (names.len() as f64 + 1.0);
            let found = observed(results).find(|point| rows_key(point) == **key && point.series == **name);
            let Some(point) = found else { continue };
            let mut draw = |mean: f64, around: f64, is_paper: bool| {
                let place = |value: f64| left + width * x.place(value);
                let class = format!("l{}{}", number % 7, if is_paper { " q" } else { "" });
                if around > 0.0 {
                    line(&mut out, (place(mean - around), y), (place(mean + around), y), &class);
                }
                mark(&mut out, place(mean), y, number, is_paper);
            };
            if let Some((mean, around)) = point.paper {
                draw(mean, around.unwrap_or(0.0), true);
            }
            let summary = point.summary();
            draw(summary.mean, summary.around, false);
        }
    }
    line(&mut out, (16.0, top + height), (WIDTH - 16.0, top + height), "a");
    text(&mut out, left + width / 2.0, top + height + 34.0, "f", "middle", &results.y.label);
    (top + height + 48.0, out)
}

fn rows_key(point: &PointResults) -> String {
    if point.panel.is_empty() { point.x.clone() } else { format!("{}: {}", point.panel, point.x) }
}

fn sorted(results: &Results) -> (f64, String) {
    let mut out = String::new();
    let names = results.series_names();
    let mut top = heading(&mut out, results);
    top = legend(&mut out, &names, top, false);
    let all = || observed(results).flat_map(PointResults::values);
    let most = observed(results).map(|point| point.observations.len()).max().unwrap_or(1);
    #[expect(clippy::cast_precision_loss, reason = "there are few observations")]
    let x = Scale { least: 0.0, most: most as f64 + 1.0, is_log: false };
    let frame = Frame {
        left: 86.0,
        top: top + 16.0,
        width: WIDTH - 110.0,
        height: 260.0,
        x,
        y: Scale::of(all(), results.y.is_log),
    };
    axes(&mut out, &frame, &results.x.label, &results.y.label, None);
    for (number, name) in names.iter().enumerate() {
        let mut values: Vec<f64> =
            observed(results).filter(|point| point.series == **name).flat_map(PointResults::values).collect();
        values.sort_by(f64::total_cmp);
        for (at, value) in values.into_iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "there are few observations")]
            let at = frame.left + frame.width * frame.x.place(at as f64 + 1.0);
            mark(&mut out, at, frame.top + frame.height * (1.0 - frame.y.place(value)), number, false);
        }
    }
    (frame.top + frame.height + 48.0, out)
}

fn scatter(results: &Results) -> (f64, String) {
    let mut out = String::new();
    let names = results.series_names();
    let top = heading(&mut out, results);
    let panels: Vec<&str> = distinct(observed(results).map(|point| point.panel.as_str()));
    let (gap, left) = (86.0, 86.0);
    let width = (WIDTH - left - 20.0 - gap) / 2.0;
    for (at, panel) in panels.iter().enumerate() {
        let of_panel = || observed(results).filter(|point| point.panel == **panel);
        let scale = Scale::of(of_panel().map(|point| point.summary().mean), results.y.is_log);
        #[expect(clippy::cast_precision_loss, reason = "there are few panels")]
        let column = at as f64;
        let frame =
            Frame { left: left + column * (width + gap), top: top + 24.0, width, height: 280.0, x: scale, y: scale };
        text(&mut out, frame.left, frame.top - 8.0, "p", "start", panel);
        let label = |at: usize| names.get(at).copied().unwrap_or_default();
        axes(&mut out, &frame, label(0), label(1), None);
        line(&mut out, (frame.left, frame.top + frame.height), (frame.left + width, frame.top), "a q");
        for point in of_panel().filter(|point| point.series == label(0)) {
            let Some(other) = results.mean(panel, label(1), &point.x) else { continue };
            let x = frame.left + width * scale.place(point.summary().mean);
            mark(&mut out, x, frame.top + frame.height * (1.0 - scale.place(other)), 0, false);
        }
    }
    (top + 24.0 + 280.0 + 52.0, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::results::{Axis, Observation};

    fn results(chart: Chart) -> Results {
        let point = |panel: &str, series: &str, x: &str, values: &[f64]| PointResults {
            panel: panel.to_owned(),
            series: series.to_owned(),
            x: x.to_owned(),
            paper: Some((5.0, Some(1.0))),
            observations: values.iter().map(|value| Observation::of(*value)).collect(),
            ..PointResults::default()
        };
        Results {
            title: "a < b & \"c\"".to_owned(),
            chart,
            y: Axis { label: "ms".to_owned(), is_log: true },
            points: vec![
                point("p", "one", "1", &[1.0, 2.0]),
                point("p", "one", "2", &[10.0]),
                point("p", "two", "1", &[3.0]),
                point("p", "two", "3", &[]),
            ],
            ..Results::default()
        }
    }

    #[test]
    fn each_chart_shows_each_observed_point_once() {
        for chart in [Chart::Lines, Chart::Rows, Chart::Sorted, Chart::Scatter] {
            let svg = svg(&results(chart)).expect("there is something to draw");
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
            assert!(svg.contains("a &lt; b &amp; &quot;c&quot;") && !svg.contains("NaN") && !svg.contains("inf"));
            let filled = svg.matches("class=\"m0\"").count() + svg.matches("class=\"m1\"").count();
            // A mark for each point or observation, and one for each series in the legend.
            let expected = match chart {
                Chart::Lines | Chart::Rows => 3 + 2,
                Chart::Sorted => 4 + 2,
                _ => 1,
            };
            assert_eq!(filled, expected, "{chart:?}");
        }
        assert!(svg(&results(Chart::Facts)).is_none());
        assert!(svg(&Results { points: Vec::new(), ..results(Chart::Lines) }).is_none());
    }

    #[test]
    fn numbers_are_short() {
        let all = [0.0, 0.001_23, 1.5, 12.34, 123.4, 1234.5, 1e6, -4321.0].map(number);
        assert_eq!(all, ["0", "0.0012", "1.5", "12.3", "123", "1,234", "1,000,000", "-4,321"]);
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let ticks = |scale: Scale| scale.ticks().into_iter().map(number).collect::<Vec<_>>();
        let scale = Scale::of([0.3, 90.0].into_iter(), true);
        assert_eq!(ticks(scale), ["0.3", "1", "3", "10", "30", "100"]);
        let scale = Scale::of([0.0, 9.0].into_iter(), false);
        assert_eq!(ticks(scale), ["0", "2", "4", "6", "8"]);
        assert!((scale.place(9.45) - 1.0).abs() < 1e-9 && scale.place(0.0).abs() < 1e-9);
    }
}

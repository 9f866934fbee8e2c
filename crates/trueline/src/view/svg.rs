//! Timelines as SVG pictures for documents, which follow the reader's light or dark color scheme.
//!
//! A picture contains no scripts and loads nothing. All text is escaped.

use std::fmt::Write as _;

use super::timeline::{Bar, Mark, Outcome, Places, Timeline};

/// The maximum number of operations drawn.
#[doc(hidden)]
pub const MOST_SHOWN: usize = 200;

/// The width of a cell, in pixels. All sizes below are in pixels, too.
const CELL: f64 = 7.6;
const LANE: f64 = 38.0;
const BAR: f64 = 24.0;
const MARGIN: f64 = 16.0;
/// The maximum number of characters written for an operation.
const MOST_LETTERS: usize = 40;

const STYLE: &str = include_str!("svg.css");

/// Renders the timeline as an SVG document. If the timeline has more than [`MOST_SHOWN`]
/// operations, renders only the part near the problem.
///
/// ```
/// use trueline::history::History;
/// use trueline::view::svg;
/// use trueline::view::timeline::{Label, Timeline};
///
/// let mut builder = History::builder();
/// builder.call(0, "<script>")?;
/// builder.ret(0, "\"&")?;
/// let picture = svg::render(&Timeline::new(&builder.finish(), Label::of));
/// assert!(picture.contains("&lt;script&gt; → &quot;&amp;") && !picture.contains("<script>"));
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn render(timeline: &Timeline) -> String {
    let timeline = &timeline.near_problem(MOST_SHOWN);
    let texts: Vec<String> = timeline.bars.iter().map(|bar| shorten(&bar.text("→"))).collect();
    // Leave room for at least one character on each side of the text.
    let letters = |bar: u32| u32::try_from(texts[bar as usize].chars().count() + 2).unwrap_or(u32::MAX);
    let places = Places::new(timeline, letters);
    let names = timeline.rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
    let left = MARGIN + (names as f64 + 2.0) * CELL;
    let head = head(timeline);
    let top = MARGIN + 20.0 * head.len() as f64 + 8.0;
    let mut tops = Vec::with_capacity(timeline.rows.len());
    let mut bottom = top;
    for row in &timeline.rows {
        tops.push(bottom);
        bottom += LANE * f64::from(row.lanes) + 6.0;
    }
    let drawing = Drawing { timeline, places: &places, left, tops: &tops };
    let longest = head.iter().map(|(_, line)| line.chars().count()).max().unwrap_or(0);
    let width = (left + f64::from(places.width) * CELL + MARGIN).max(longest as f64 * 7.2 + 2.0 * MARGIN);
    let height = bottom + MARGIN;
    let mut out = String::new();
    let _ = write!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}" role="img" aria-labelledby="title">
<title id="title">{}</title>
<style>{STYLE}</style>
<rect class="paper" width="100%" height="100%"/>
"#,
        escape(&title(timeline)),
    );
    for (index, (class, line)) in head.iter().enumerate() {
        let y = MARGIN + 14.0 + 20.0 * index as f64;
        let _ = writeln!(out, r#"<text class="{class}" x="{MARGIN}" y="{y:.1}">{}</text>"#, escape(line));
    }
    for (row, top) in timeline.rows.iter().zip(&tops) {
        let height = LANE * f64::from(row.lanes);
        let _ = writeln!(
            out,
            r#"<rect class="row" x="{MARGIN}" y="{top:.1}" width="{:.1}" height="{height:.1}" rx="6"/><text class="name" x="{:.1}" y="{:.1}">{}</text>"#,
            width - 2.0 * MARGIN,
            MARGIN + 8.0,
            top + LANE / 2.0 + 4.0,
            escape(&row.label),
        );
    }
    for group in timeline.groups().filter(|group| group.len() > 1) {
        if let Some(point) = places.points[group[0] as usize] {
            drawing.link(&mut out, group, point.cell, "link");
        }
    }
    let anticipated = timeline.problem.iter().flat_map(|problem| &problem.anticipated);
    for group in anticipated.filter(|group| !group.is_empty()) {
        let call = group.iter().map(|bar| timeline.bars[*bar as usize].call).max().unwrap_or(0);
        drawing.link(&mut out, group, places.events[call as usize] + 1, "link missing");
    }
    for (index, text) in (0..).zip(&texts) {
        drawing.bar(&mut out, index, text);
    }
    out.push_str("</svg>\n");
    out
}

struct Drawing<'a> {
    timeline: &'a Timeline,
    places: &'a Places,
    left: f64,
    tops: &'a [f64],
}

impl Drawing<'_> {
    fn x(&self, cell: u32) -> f64 {
        self.left + f64::from(cell) * CELL
    }

    fn middle(&self, bar: &Bar) -> f64 {
        self.tops[bar.row as usize] + LANE * f64::from(bar.lane) + LANE / 2.0
    }

    fn link(&self, out: &mut String, group: &[u32], cell: u32, class: &str) {
        let middles = group.iter().map(|bar| self.middle(&self.timeline.bars[*bar as usize]));
        let (top, bottom) = middles.fold((f64::MAX, f64::MIN), |(top, bottom), y| (top.min(y), bottom.max(y)));
        let x = self.x(cell) + CELL / 2.0;
        let _ = writeln!(out, r#"<line class="{class}" x1="{x:.1}" x2="{x:.1}" y1="{top:.1}" y2="{bottom:.1}"/>"#);
    }

    fn bar(&self, out: &mut String, index: u32, text: &str) {
        let bar = &self.timeline.bars[index as usize];
        let (first, last) = self.places.of_bar(self.timeline, index);
        let (x, y) = (self.x(first), self.middle(bar) - BAR / 2.0);
        let width = self.x(last + 1) - x - 2.0;
        let mut class = String::from("bar");
        match bar.mark {
            Mark::Refused | Mark::Stuck => class.push_str(" wrong"),
            Mark::Conflict => class.push_str(" conflict"),
            Mark::None => {}
        }
        if bar.core {
            class.push_str(" core");
        } else if self.timeline.has_core {
            class.push_str(" aside");
        }
        if bar.ret.is_none() {
            class.push_str(" open");
        }
        let process = &self.timeline.rows[bar.row as usize].label;
        let mut says = format!("{}, {process}, {}", bar.text("→"), bar.place());
        if let Some(step) = bar.step {
            let _ = write!(says, ", step {step}");
        }
        let _ = write!(
            out,
            r#"<g class="{class}"><title>{}</title><rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{BAR}" rx="5"/><text x="{:.1}" y="{:.1}">{}</text>"#,
            escape(&says),
            x + CELL,
            self.middle(bar) - 1.0,
            escape(text),
        );
        if let (Some(point), Some(step)) = (self.places.points[index as usize], bar.step) {
            let digits = step.to_string();
            let x = self.x(point.cell) + digits.len() as f64 * CELL / 2.0;
            let y = self.middle(bar) + BAR / 2.0;
            let _ = write!(
                out,
                r#"<rect class="point" x="{:.1}" y="{:.1}" width="{:.1}" height="13" rx="6.5"/><text class="step" x="{x:.1}" y="{:.1}">{digits}</text>"#,
                x - digits.len() as f64 * 3.2 - 4.0,
                y - 6.5,
                digits.len() as f64 * 6.4 + 8.0,
                y + 3.5,
            );
        }
        if bar.mark.is_problem() {
            // Mark the problem with a cross, not by color alone.
            let (x, y) = (x + width, y + 1.0);
            let _ = write!(
                out,
                r#"<circle class="cross" cx="{x:.1}" cy="{y:.1}" r="8"/><text class="step" x="{x:.1}" y="{:.1}">✗</text>"#,
                y + 4.0,
            );
        }
        out.push_str("</g>\n");
    }
}

fn title(timeline: &Timeline) -> String {
    match &timeline.reason {
        Some(reason) => format!("{}: {reason}", timeline.outcome.name()),
        None => format!("{}: {}", timeline.title, timeline.outcome.name()),
    }
}

/// Returns the lines above the picture, each with its CSS class.
fn head(timeline: &Timeline) -> Vec<(&'static str, String)> {
    let mut head = Vec::new();
    let verdict = match timeline.outcome {
        Outcome::Accepted => "verdict accepted",
        Outcome::Rejected => "verdict rejected",
        Outcome::Unknown => "verdict",
    };
    let mut first = timeline.outcome.name().to_owned();
    // Keep the end of a path, which is its most informative part.
    let skipped = timeline.title.chars().count().saturating_sub(MOST_LETTERS);
    let name: String = timeline.title.chars().skip(skipped).collect();
    let name = if skipped > 0 { format!("…{name}") } else { name };
    for text in [name, shorten(&timeline.spec)].iter().filter(|text| !text.is_empty()) {
        let _ = write!(first, " · {text}");
    }
    if timeline.left_out > 0 {
        let _ = write!(first, " · {} of {} operations", timeline.bars.len(), timeline.bars.len() + timeline.left_out);
    }
    head.push((verdict, first));
    if let Some(reason) = &timeline.reason {
        head.push(("reason", reason.clone()));
    }
    head
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MOST_LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Escapes text for XML and HTML, including attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // These characters are not allowed in XML.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

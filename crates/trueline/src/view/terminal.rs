//! Timelines for a terminal: time runs to the right, and each lane of a process takes two lines, one for the text of
//! its operations and one for their bars.
//!
//! A timeline that is wider than a line is broken into bands, one below the other. If the bands are
//! too many, the timeline is reduced to the operations near the problem.

use std::fmt::Write as _;

use super::text::Style;
use super::timeline::{Annotated, Bar, Mark, Outcome, Places, Timeline};

/// Options for drawing a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The number of characters that fit on a line.
    pub width: usize,
    /// The characters to draw with.
    pub letters: Letters,
    /// The highlighting of text.
    pub style: Style,
    /// The maximum number of operations drawn.
    pub most: usize,
    /// Whether to draw only the core, if it is known.
    pub core_only: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { width: 100, letters: Letters::Unicode, style: Style::Plain, most: 24, core_only: false }
    }
}

/// The characters that lines are drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// Unicode characters for box drawing.
    Unicode,
    /// ASCII characters, which every terminal has.
    Ascii,
}

/// The maximum number of bands, one below the other, that a timeline is broken into.
const MOST_BANDS: usize = 3;
/// The maximum number of characters written for an operation.
const MOST_LETTERS: usize = 28;
/// A timeline with at most this many operations is not reduced further. Instead, the text of its
/// operations is shortened.
const FEWEST: usize = 4;
/// If operations of more processes than this would be drawn, only the operations that cause the
/// problem are drawn. If these operations are unknown or too many, at most this many operations
/// near the problem are drawn.
const MOST_ROWS: usize = 8;
/// The maximum number of annotations that are listed below a timeline.
const MOST_ANNOTATIONS: usize = 8;

/// The character or string for each element of the drawing.
struct Strokes {
    line: [char; 3],
    heavy: [char; 3],
    refused: char,
    open: char,
    link: char,
    cross: char,
    arrow: &'static str,
    ellipsis: char,
}

const UNICODE: Strokes = Strokes {
    line: ['├', '─', '┤'],
    heavy: ['┣', '━', '┫'],
    refused: '✗',
    open: '┄',
    link: '│',
    cross: '┼',
    arrow: "→",
    ellipsis: '…',
};

const ASCII: Strokes = Strokes {
    line: ['|', '-', '|'],
    heavy: ['|', '=', '|'],
    refused: 'x',
    open: '.',
    link: '|',
    cross: '+',
    arrow: "->",
    ellipsis: '~',
};

/// The highlighting of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ink {
    Plain,
    Faint,
    Strong,
    Problem,
    Point,
}

impl Ink {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Faint => Some("2"),
            Self::Strong => Some("1"),
            Self::Problem => Some("1;31"),
            Self::Point => Some("36"),
        }
    }
}

type Grid = Vec<Vec<(char, Ink)>>;

/// Renders the timeline as lines of text, each with a line break, followed by a legend of numbers and marks.
///
/// ```
/// use trueline::history::History;
/// use trueline::view::terminal::{self, Settings};
/// use trueline::view::timeline::{Label, Timeline};
///
/// let mut builder = History::builder();
/// builder.call(0, "push(1)")?;
/// builder.call(1, "pop()")?;
/// builder.ret(1, "1")?;
/// builder.ret(0, "ok")?;
/// let picture = terminal::render(&Timeline::new(&builder.finish(), Label::of), &Settings::default());
/// let lines = [
///     "             push(1)",
///     "  process 0  ├──────────┤",
///     "              pop() → 1",
///     "  process 1   ├────────┤",
/// ];
/// assert_eq!(picture.lines().collect::<Vec<_>>(), lines);
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn render(timeline: &Timeline, settings: &Settings) -> String {
    let strokes = match settings.letters {
        Letters::Unicode => &UNICODE,
        Letters::Ascii => &ASCII,
    };
    let whole =
        if settings.core_only { timeline.core_only(settings.most) } else { timeline.near_problem(settings.most) };
    if whole.bars.is_empty() {
        return String::new();
    }
    let mut shown = whole;
    if shown.rows.len() > MOST_ROWS {
        shown = timeline.blamed_only(settings.most).unwrap_or_else(|| timeline.near_problem(MOST_ROWS));
    }
    let mut most_letters = MOST_LETTERS;
    let (names, texts, places) = loop {
        let names = shown.rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
        let text = |bar: &Bar| shorten(&bar.text(strokes.arrow), most_letters, strokes.ellipsis);
        let texts: Vec<String> = shown.bars.iter().map(text).collect();
        let letters = |bar: u32| u32::try_from(texts[bar as usize].chars().count()).unwrap_or(u32::MAX);
        let places = Places::new(&shown, letters);
        let room = settings.width.saturating_sub(names + 4).max(20) * MOST_BANDS;
        if places.width as usize <= room || (shown.bars.len() <= FEWEST && most_letters <= 8) {
            break (names, texts, places);
        }
        // Draw fewer operations, or less of their text.
        if shown.bars.len() > FEWEST {
            let fewer = (shown.bars.len() * 3 / 4).max(FEWEST);
            shown = shown.near_problem(fewer);
        } else {
            most_letters = most_letters * 3 / 4;
        }
    };
    let grid = draw(&shown, &texts, &places, strokes);
    let mut out = String::new();
    let width = settings.width.saturating_sub(names + 4).max(20);
    let mut from = 0;
    let total = places.width as usize;
    while from < total {
        let until = band(&grid, from, width, total);
        if from > 0 {
            out.push('\n');
        }
        write_band(&mut out, &shown, &grid, (from, until), names, settings.style);
        from = until;
    }
    write_legend(&mut out, &shown, settings, strokes);
    out
}

fn shorten(text: &str, most: usize, ellipsis: char) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}{ellipsis}", &text[..end]),
        None => text.to_owned(),
    }
}

fn ink(timeline: &Timeline, bar: &Bar) -> Ink {
    match bar.mark {
        mark if mark.is_problem() => Ink::Problem,
        _ if bar.core => Ink::Strong,
        Mark::Conflict if !timeline.has_core => Ink::Strong,
        _ if timeline.has_core => Ink::Faint,
        _ => Ink::Plain,
    }
}

/// Draws all rows at their full width.
fn draw(timeline: &Timeline, texts: &[String], places: &Places, strokes: &Strokes) -> Grid {
    let mut first_lines = Vec::with_capacity(timeline.rows.len());
    let mut lines = 0;
    for row in &timeline.rows {
        first_lines.push(lines);
        lines += 2 * row.lanes as usize;
    }
    let mut grid: Grid = vec![vec![(' ', Ink::Plain); places.width as usize]; lines];
    let line_of = |bar: &Bar| first_lines[bar.row as usize] + 2 * bar.lane as usize + 1;
    for (index, bar) in (0..).zip(&timeline.bars) {
        let ink = ink(timeline, bar);
        let (first, last) = places.of_bar(timeline, index);
        let (first, last) = (first as usize, last as usize);
        let line = line_of(bar);
        for (cell, letter) in (first..).zip(texts[index as usize].chars()) {
            if let Some(place) = grid[line - 1].get_mut(cell) {
                *place = (letter, ink);
            }
        }
        let [left, middle, right] = if bar.mark.is_problem() { strokes.heavy } else { strokes.line };
        let stroke = if ink == Ink::Plain { Ink::Faint } else { ink };
        grid[line][first..=last].fill((middle, stroke));
        grid[line][first].0 = left;
        match (bar.ret, bar.mark.is_problem()) {
            (_, true) => grid[line][last].0 = strokes.refused,
            (Some(_), false) => grid[line][last].0 = right,
            (None, false) => {
                for place in &mut grid[line][last.saturating_sub(2).max(first + 1)..=last] {
                    place.0 = strokes.open;
                }
            }
        }
    }
    let links: Vec<Vec<u32>> = timeline.groups().filter(|group| group.len() > 1).map(<[u32]>::to_vec).collect();
    for group in links {
        let Some(point) = places.points[group[0] as usize] else { continue };
        link(&mut grid, timeline, &group, point.cell as usize, line_of, Ink::Point, strokes);
    }
    if let Some(problem) = &timeline.problem {
        for group in &problem.anticipated {
            // Draw the link after the last call of the group, where all operations of the group are
            // open.
            let call = group.iter().map(|bar| timeline.bars[*bar as usize].call).max();
            let Some(call) = call else { continue };
            link(&mut grid, timeline, group, places.events[call as usize] as usize + 2, line_of, Ink::Problem, strokes);
        }
    }
    for (index, bar) in timeline.bars.iter().enumerate() {
        let (Some(point), Some(step)) = (places.points[index], bar.step) else { continue };
        for (cell, digit) in (point.cell as usize..).zip(step.to_string().chars()) {
            if let Some(place) = grid[line_of(bar)].get_mut(cell) {
                *place = (digit, Ink::Point);
            }
        }
    }
    grid
}

/// Draws a vertical line that links bars, at a cell that all of these bars cover.
fn link(
    grid: &mut Grid,
    timeline: &Timeline,
    group: &[u32],
    cell: usize,
    line_of: impl Fn(&Bar) -> usize,
    ink: Ink,
    strokes: &Strokes,
) {
    let lines = group.iter().map(|bar| line_of(&timeline.bars[*bar as usize]));
    let (Some(first), Some(last)) = (lines.clone().min(), lines.max()) else { return };
    for line in &mut grid[first..=last] {
        match line.get_mut(cell) {
            Some(place) if place.0 == ' ' => *place = (strokes.link, ink),
            Some(place) if place.0 == strokes.line[1] || place.0 == strokes.heavy[1] => *place = (strokes.cross, ink),
            _ => {}
        }
    }
}

/// Returns the end of the band that begins at `from`. The end is within the last third of the width, at the place that
/// cuts the fewest words.
fn band(grid: &Grid, from: usize, width: usize, total: usize) -> usize {
    if total - from <= width {
        return total;
    }
    let is_cut = |line: &Vec<(char, Ink)>, at: usize| line[at - 1].0 != ' ' && line[at].0 != ' ';
    // A bar can be cut, because it continues in the next band. A word that is cut is hard to read.
    let cost = |at: usize| grid.iter().step_by(2).filter(|line| is_cut(line, at)).count();
    let earliest = from + width - width / 3;
    (earliest..=from + width).rev().min_by_key(|at| cost(*at)).unwrap_or(from + width)
}

fn write_band(
    out: &mut String,
    timeline: &Timeline,
    grid: &Grid,
    (from, until): (usize, usize),
    names: usize,
    style: Style,
) {
    let mut lines = grid.chunks_exact(2);
    for row in &timeline.rows {
        for lane in 0..row.lanes {
            let Some([texts, bars]) = lines.next() else { return };
            if texts[from..until].iter().chain(&bars[from..until]).all(|(letter, _)| *letter == ' ') && row.lanes > 1 {
                continue;
            }
            write_line(out, "", names, &texts[from..until], style);
            write_line(out, if lane == 0 { &row.label } else { "" }, names, &bars[from..until], style);
        }
    }
}

fn write_line(out: &mut String, name: &str, names: usize, cells: &[(char, Ink)], style: Style) {
    let _ = write!(out, "  {name:<names$}  ");
    let mut cells = cells.to_vec();
    // If the picture wraps within a label, the next line must not start with `::`, which CI systems read as a command.
    let start = cells.iter().position(|(letter, _)| *letter != ' ').unwrap_or(cells.len());
    if name.is_empty() && cells[start..].iter().map(|(letter, _)| *letter).take(2).eq("::".chars()) {
        cells[start].0 = '.';
    }
    for run in cells.chunk_by(|one, other| one.1 == other.1) {
        let text: String = run.iter().map(|(letter, _)| letter).collect();
        match run[0].1.code() {
            Some(code) if !text.trim().is_empty() => out.push_str(&style.paint(code, &text)),
            _ => out.push_str(&text),
        }
    }
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}

fn write_legend(out: &mut String, timeline: &Timeline, settings: &Settings, strokes: &Strokes) {
    let mut says: Vec<String> = Vec::new();
    if !timeline.order.is_empty() {
        says.push(match timeline.outcome {
            Outcome::Rejected => "numbers: an order that works so far".to_owned(),
            _ => "numbers: an order that works".to_owned(),
        });
    }
    match timeline.bars.iter().filter(|bar| bar.mark == Mark::Refused).count() {
        0 => {}
        1 => says.push(format!("{}: refused", strokes.refused)),
        _ => says.push(format!("{}: cannot all be right", strokes.refused)),
    }
    if timeline.bars.iter().any(|bar| bar.mark == Mark::Stuck) {
        says.push(format!("{}: should have returned", strokes.refused));
    }
    match timeline.left_out {
        0 => {}
        1 => says.push("1 operation is not shown".to_owned()),
        more => says.push(format!("{more} operations are not shown")),
    }
    if !says.is_empty() {
        let _ = writeln!(out, "  {}", settings.style.paint("2", &format!("({})", says.join("; "))));
    }
    if let Some(state) = timeline.state_at_problem() {
        let room = settings.width.saturating_sub(66).max(20);
        let _ = writeln!(
            out,
            "  the state after the numbered operations, in numerical order: {}",
            shorten(state, room, strokes.ellipsis)
        );
    }
    // List the last annotations between the first event that is drawn and the problem, because they
    // are closest to the problem.
    let until = timeline.problem.as_ref().map_or(u32::MAX, |problem| problem.event);
    let is_between = |annotation: &&Annotated| annotation.position > 0 && annotation.position <= until;
    let happened: Vec<&Annotated> = timeline.annotations.iter().filter(is_between).collect();
    for Annotated { line, text, .. } in &happened[happened.len().saturating_sub(MOST_ANNOTATIONS)..] {
        let place = if *line > 0 { format!(" (line {line})") } else { String::new() };
        let room = settings.width.saturating_sub(30).max(20);
        let _ = writeln!(out, "  meanwhile{place}: {}", shorten(text, room, strokes.ellipsis));
    }
}

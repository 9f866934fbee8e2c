//! Timelines as a single self-contained HTML page, which needs no network and no other files.
//!
//! The page consists of a template, a style sheet and scripts, which are files in this folder, and the timeline as
//! compact data. The scripts draw only the visible part on a canvas, so that 100,000 operations can be panned and
//! zoomed; search, filters, the jump to the problem and all details work with the keyboard alone.
//!
//! Text from a history is never read as markup. The data is JSON in which no character can end the
//! surrounding element; the scripts write text and never markup; and a Content-Security-Policy
//! allows only this page's scripts and style sheet, by their digests. The policy forbids loading
//! resources, running other scripts, and running scripts in attributes.

mod data;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::svg::escape;
use super::timeline::Timeline;
use super::{file, terminal};

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    "\"use strict\";(() => {\n",
    include_str!("model.js"),
    include_str!("draw.js"),
    include_str!("page.js"),
    "})();\n"
);

/// SHA-256 digests of the style sheet and of the script, for the policy. A test checks them.
const STYLE_DIGEST: &str = "sha256-19ylUabiGhL9nQs8usHQQt1B9j9V6OMx7FtVgNRO+mQ=";
const SCRIPT_DIGEST: &str = "sha256-xuhk2IZqLW+XTDeJvQ68duOv67Js2MEtzgNL2PHuVWs=";

/// The maximum number of operations on a page. For a longer history, the page shows the operations
/// near the problem.
#[doc(hidden)]
pub const MOST_SHOWN: usize = 500_000;

/// The initial settings of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether the page initially shows only the core, if it is known.
    pub core_first: bool,
}

/// Writes the timeline as a page to a folder, which is created if it does not exist. Returns the path of the page.
///
/// ```
/// use trueline::history::History;
/// use trueline::view::html;
/// use trueline::view::timeline::{Label, Timeline};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut builder = History::builder();
/// builder.call(0, "read")?;
/// builder.ret(0, "5")?;
/// let folder = std::env::temp_dir().join("trueline-pages");
/// let page = html::write(&folder, "what: happened", &Timeline::new(&builder.finish(), Label::of))?;
/// assert_eq!(page, folder.join("what__happened.html"));
/// # std::fs::remove_file(page)?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Fails if the folder or the file cannot be written.
#[doc(hidden)]
pub fn write(folder: &Path, name: &str, timeline: &Timeline) -> io::Result<PathBuf> {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    fs::create_dir_all(folder)?;
    let path = folder.join(format!("{}.html", name.chars().map(plain).collect::<String>()));
    file::write(&path, render(timeline, &Settings::default()))?;
    Ok(path)
}

/// Returns the timeline as an HTML page.
///
/// ```
/// use trueline::history::History;
/// use trueline::view::html::{self, Settings};
/// use trueline::view::timeline::{Label, Timeline};
///
/// let mut builder = History::builder();
/// builder.call(0, "write(</script><img src=x onerror=alert(1)>)")?;
/// builder.ret(0, "ok")?;
/// let page = html::render(&Timeline::new(&builder.finish(), Label::of), &Settings::default());
/// assert!(page.starts_with("<!doctype html>") && !page.contains("<img"));
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
///
/// # Complexity
/// O(n) time. The page has about half as many bytes as the history in JSON lines.
pub fn render(timeline: &Timeline, settings: &Settings) -> String {
    let cut;
    let timeline = if timeline.bars.len() > MOST_SHOWN {
        cut = timeline.near_problem(MOST_SHOWN);
        &cut
    } else {
        timeline
    };
    let name = if timeline.title.is_empty() { "history" } else { &timeline.title };
    let verdict = timeline.outcome.name();
    let text = terminal::render(timeline, &terminal::Settings { core_only: settings.core_first, ..Default::default() });
    let value = |place: &str| match place {
        "policy" => policy(),
        "title" => escape(&format!("{verdict}: {name}")),
        "style" => STYLE.to_owned(),
        "verdict" => verdict.to_owned(),
        "name" => escape(name),
        "meta" => escape(&meta(timeline)),
        "reason" => timeline.reason.as_ref().map_or_else(String::new, |reason| {
            format!(r#"<p class="reason" dir="ltr">{}{}</p>"#, subject(timeline), escape(reason))
        }),
        "notes" => {
            let note = |note: &String| format!(r#"<p class="hint" dir="ltr">note: {}</p>"#, escape(note));
            timeline.notes.iter().map(note).collect()
        }
        "why" => why(&timeline.why),
        "open" => String::new(),
        "text" => escape(&text),
        "data" => data::write(timeline, settings.core_first),
        "script" => SCRIPT.to_owned(),
        other => unreachable!("the template has an unknown placeholder `{other}`"),
    };
    fill(TEMPLATE, value)
}

/// Replaces the placeholders of a template by their values. Values are not searched for placeholders.
fn fill(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once("{{") {
        let (place, behind) = behind.split_once("}}").expect("each placeholder of the template is closed");
        out.push_str(before);
        out.push_str(&value(place));
        rest = behind;
    }
    out.push_str(rest);
    out
}

fn policy() -> String {
    format!(
        "default-src 'none'; script-src '{SCRIPT_DIGEST}'; style-src '{STYLE_DIGEST}'; base-uri 'none'; \
         form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
}

/// Returns the object and the key that the problem concerns, to be placed before the reason.
fn subject(timeline: &Timeline) -> String {
    timeline.subject().map_or_else(String::new, |subject| {
        format!(r#"<span class="subject">{}</span> "#, escape(&subject.to_string()))
    })
}

/// Returns the explanation of the rejection. Sentences that belong to one case of a case
/// distinction are indented.
fn why(sentences: &[String]) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    let mut out = String::from(r#"<article id="why"><h2>Why</h2>"#);
    for sentence in sentences {
        let text = sentence.trim_start_matches(' ');
        let depth = ((sentence.len() - text.len()) / 2).min(3);
        // Prevent line breaks within arrows.
        let text = escape(text).replace("-&gt;", r#"<span class="whole">-&gt;</span>"#);
        let _ = write!(out, r#"<p class="depth{depth}" dir="ltr">{text}</p>"#);
    }
    out.push_str("</article>");
    out
}

/// Returns the line with the name of the specification and the counts.
fn meta(timeline: &Timeline) -> String {
    let mut meta = String::new();
    if !timeline.spec.is_empty() {
        let _ = write!(meta, "{} · ", timeline.spec);
    }
    let count =
        |number: usize, noun: &str, plural: &str| format!("{number} {noun}{}", if number == 1 { "" } else { plural });
    meta.push_str(&count(timeline.bars.len() + timeline.left_out, "operation", "s"));
    let _ = write!(meta, " · {}", count(timeline.rows.len(), "process", "es"));
    if timeline.pending() > 0 {
        let _ = write!(meta, " · {} pending", timeline.pending());
    }
    if !timeline.algorithm.is_empty() {
        let _ = write!(meta, " · judged by {}", timeline.algorithm);
    }
    if timeline.left_out > 0 {
        let _ = write!(meta, " · only the {} near the problem are shown", timeline.bars.len());
    }
    meta
}

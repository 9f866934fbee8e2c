//! Assembles everything that is printed or drawn about a judged history.
//!
//! [`assemble`] builds a report on a [`Judged`] history from the parts that are [`Wanted`]. The report always contains
//! the verdict; the core, an explanation and a picture are optional. The command line, failing tests and the assertions
//! all show the result of `assemble`.
//!
//! ```
//! # #[cfg(feature = "named")] {
//! use trueline::history::codec::jsonl;
//! use trueline::judge::{Config, shrink::Limits};
//! use trueline::registry::{self, Options};
//! use trueline::report::{Wanted, Words, assemble};
//!
//! let history = jsonl::read(&br#"
//!     {"process":0,"f":"enqueue","value":1,"call":0,"return":10}
//!     {"process":0,"f":"enqueue","value":2,"call":20,"return":30}
//!     {"process":1,"f":"dequeue","result":2,"call":40,"return":50}
//! "#[..])?;
//! let spec = registry::spec("queue", Options::new())?;
//! let judged = spec.judge(history, &Config::new())?;
//! let wanted = Wanted { core: Some(Limits::new()), words: Words::Rejections, ..Wanted::default() };
//! let told = assemble("queue.jsonl", spec.name(), &*judged, &wanted);
//! assert_eq!(
//!     told.report.explanation[0],
//!     "enqueue(1) of process 0 (line 2) returned before enqueue(2) of process 0 (line 3) was called."
//! );
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::cell::LazyCell;

use crate::history::{History, Shown};
use crate::judge::shrink::Limits;
use crate::judge::{Argued, Budget, Judged};
use crate::verdict::{Core, ProgressVerdict, Witness};
use crate::view::timeline::Label;
use crate::view::{Finding, Report, Timeline, prose};

/// The approximate maximum number of operations in an excerpt, which shows operations near the
/// problem.
const EXCERPT: usize = 256;
/// The maximum length of a linearization that is replayed for an excerpt. Replaying a longer
/// linearization would take more time than finding it took.
const MOST_REPLAYED: usize = 200_000;

/// The requested parts of a report besides the verdict. By default, no part is requested.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The limits for finding the core of a rejected history. The core is searched for only if limits are given, and if
    /// an explanation or a complete picture is requested.
    pub core: Option<Limits>,
    /// The verdicts to explain.
    pub words: Words,
    /// The part of the history to draw.
    pub picture: Picture,
    /// The limits for checking, on an accepted history, whether pending operations should have returned.
    pub progress: Option<Budget>,
}

/// The verdicts that a report explains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Words {
    /// No verdict is explained. The report then has no core either.
    #[default]
    None,
    /// Rejections are explained.
    Rejections,
    /// Rejections, stuck operations, and accepted histories are explained.
    All,
}

/// The part of a history that is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Picture {
    /// Nothing is drawn.
    #[default]
    None,
    /// The operations near the problem are drawn, if there is a problem.
    Excerpt,
    /// All operations are drawn.
    Everything,
}

/// The result of [`assemble`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Assembled {
    /// The report to print.
    pub report: Report,
    /// The timeline to draw, if a picture was requested.
    pub timeline: Option<Timeline>,
    /// The core, if it was searched for and found.
    pub core: Option<Core<Shown, String>>,
    /// The verdict on progress, if it was requested: whether pending operations should have returned.
    pub progress: Option<ProgressVerdict<String>>,
}

/// Returns a report that contains only the verdict; [`assemble`] adds the other parts. Building
/// this report takes little time and memory, even for a long history.
#[doc(hidden)]
pub fn plain(file: &str, spec: &str, judged: &dyn Judged) -> Report {
    let sizes = (judged.operations(), judged.pending());
    Report::new(file, spec, sizes, judged.judgment(), |id| judged.operation(id))
}

/// Assembles the report on a history. The report refers to the history as `file`, and to the specification that judged
/// it as `spec`.
pub fn assemble(file: &str, spec: &str, judged: &dyn Judged, wanted: &Wanted) -> Assembled {
    let Wanted { core: limits, words, picture, progress: budget } = wanted;
    let judgment = judged.judgment();
    let mut report = plain(file, spec, judged);
    let history = LazyCell::new(|| judged.history());
    let budget = budget.as_ref().filter(|_| judgment.verdict.is_accepted());
    let progress = budget.and_then(|budget| judged.progress(budget));
    if let Some(verdict) = &progress {
        report = report.with_progress(&history, verdict);
    }
    let uses_core = *words != Words::None || *picture == Picture::Everything;
    let argued = limits.as_ref().filter(|_| uses_core).and_then(|limits| judged.core(limits));
    let explained =
        |finding: &Finding, words| explain(finding, judged, &history, argued.as_ref(), progress.as_ref(), words);
    if *words != Words::None {
        if let Some((core, _)) = &argued {
            report = report.with_core(&history, core);
        }
        let sentences = explained(&report.finding, *words);
        report = report.with_explanation(sentences);
    }
    let has_problem = matches!(report.finding, Finding::Rejected(_) | Finding::Stuck(_));
    // If the printed report does not explain the problem, a picture of the complete history does.
    let lacks_why = *picture == Picture::Everything && has_problem && report.explanation.is_empty();
    let why = lacks_why.then(|| explained(&report.finding, Words::All));
    let core = argued.map(|(core, _)| core);
    let is_drawn = *picture == Picture::Everything || (*picture == Picture::Excerpt && has_problem);
    let timeline = is_drawn.then(|| {
        let is_whole = *picture == Picture::Everything;
        let drawn = draw(judged, &history, core.as_ref(), progress.as_ref(), is_whole).with_report(&report);
        match &why {
            Some(why) => drawn.with_why(why),
            None => drawn,
        }
    });
    Assembled { report, timeline, core, progress }
}

/// Returns an explanation of the verdict, with one string for each sentence.
fn explain(
    finding: &Finding,
    judged: &dyn Judged,
    history: &History<Shown, String>,
    argued: Option<&Argued>,
    progress: Option<&ProgressVerdict<String>>,
    words: Words,
) -> Vec<String> {
    let verdict = &judged.judgment().verdict;
    match (finding, progress, words) {
        (Finding::Rejected(_), ..) => {
            let told = match argued {
                Some((core, Some(argument))) => prose::tell(history, core, argument),
                _ => Vec::new(),
            };
            let Some(evidence) = verdict.evidence() else { return told };
            let mut told = told;
            if told.is_empty() {
                told = match judged.partners() {
                    Some(partners) => prose::tell_partners(history, &partners),
                    None => prose::tell_evidence(history, evidence),
                };
            }
            // List the annotations, starting at the earliest call: that of the refused operation or
            // of an operation of the core.
            let ops = argued.map_or_else(Vec::new, |(core, _)| core.shown());
            let calls = ops.iter().chain([&evidence.refused]).map(|op| history[*op].call_position());
            let from = calls.min().unwrap_or(evidence.event);
            told.extend(prose::tell_annotations(history, from, evidence.event));
            told
        }
        (Finding::Stuck(_), Some(ProgressVerdict::Rejected(evidence)), Words::All) => {
            prose::tell_progress(history, evidence)
        }
        (Finding::Accepted, _, Words::All) => {
            verdict.witness().map_or_else(Vec::new, |witness| prose::tell_witness(history, witness))
        }
        _ => Vec::new(),
    }
}

/// Draws the timeline, but without the parts that the caller adds from the report, such as the
/// names and the reason.
fn draw(
    judged: &dyn Judged,
    history: &History<Shown, String>,
    core: Option<&Core<Shown, String>>,
    progress: Option<&ProgressVerdict<String>>,
    is_whole: bool,
) -> Timeline {
    let judgment = judged.judgment();
    let timeline = if is_whole {
        Timeline::new(history, Label::of_shown)
    } else {
        Timeline::excerpt(history, Label::of_shown, &judgment.verdict, core, EXCERPT)
    };
    let mut timeline = timeline.with_judgment(judgment);
    if let Some(progress) = progress {
        timeline = timeline.with_progress(progress);
    }
    if let Some(core) = core {
        timeline = timeline.with_core(core);
    }
    let length = judgment.verdict.linearization().map_or(0, |linearization| linearization.order.len());
    if is_whole || length <= MOST_REPLAYED {
        let synchronized = match progress {
            Some(ProgressVerdict::Rejected(evidence)) => Some(Witness::in_groups(&evidence.synchronizations)),
            _ => None,
        };
        timeline = timeline.with_states(judged.states(synchronized.as_ref()));
    }
    timeline
}

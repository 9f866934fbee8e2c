//! Shows processes side by side, with time running downward.

use std::fmt::{Display, Write as _};

use crate::history::{EventKind, History, OpId, ProcessId, visible};

/// The maximum number of characters shown of a call or a result.
const MOST_LETTERS: usize = 30;
/// The maximum number of processes shown side by side.
const MOST_COLUMNS: usize = 8;

/// Renders the operations that `shows` selects, with a column for each process and a line for each call and return.
///
/// Marks the return of the `refused` operation. Returns an empty string if there are more than 8 processes.
///
/// ```
/// use trueline::history::History;
/// use trueline::view::columns;
///
/// let mut builder = History::builder();
/// builder.call(0, "push(1)")?;
/// builder.call(1, "pop()")?;
/// builder.ret(1, "1")?;
/// builder.ret(0, "ok")?;
/// let text = columns::render(&builder.finish(), |_| true, None);
/// let lines = [
///     "  process 0  process 1",
///     "  ┌ push(1)",
///     "  │          ┌ pop()",
///     "  │          └ 1",
///     "  └ ok",
/// ];
/// assert!(text.lines().eq(lines));
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn render<Op: Display, Ret: Display>(
    history: &History<Op, Ret>,
    shows: impl Fn(OpId) -> bool,
    refused: Option<OpId>,
) -> String {
    let shown: Vec<_> = history.events().iter().filter(|event| shows(event.op())).collect();
    let mut processes: Vec<ProcessId> = shown.iter().map(|event| history[event.op()].process).collect();
    processes.sort_unstable();
    processes.dedup();
    if processes.len() > MOST_COLUMNS {
        return String::new();
    }
    let label = |id: OpId, kind| match kind {
        EventKind::Call => format!("┌ {}", shorten(&history[id].op.to_string())),
        EventKind::Return => {
            let result = history[id].outcome.result().map(ToString::to_string).unwrap_or_default();
            format!("└ {}", shorten(&result))
        }
    };
    let heading = |process: ProcessId| format!("process {}", shorten(&history.process_label(process)));
    let mut widths: Vec<usize> = processes.iter().map(|process| heading(*process).chars().count()).collect();
    let column = |id: OpId| processes.iter().position(|process| *process == history[id].process).unwrap_or(0);
    for event in &shown {
        let width = &mut widths[column(event.op())];
        *width = (*width).max(label(event.op(), event.kind()).chars().count());
    }
    let mut out = String::from(" ");
    for (process, width) in processes.iter().zip(&widths) {
        let _ = write!(out, " {:width$} ", heading(*process));
    }
    end_line(&mut out);
    // A process has several open operations if it calls an operation before its previous one has
    // returned.
    let mut open = vec![0_u32; processes.len()];
    for event in shown {
        let (id, kind) = (event.op(), event.kind());
        let here = column(id);
        out.push(' ');
        for (other, width) in widths.iter().enumerate() {
            let text = match other {
                _ if other == here => label(id, kind),
                _ if open[other] > 0 => "│".to_owned(),
                _ => String::new(),
            };
            let _ = write!(out, " {text:width$} ");
        }
        if refused == Some(id) && kind == EventKind::Return {
            out.push_str(" <-- refused");
        }
        end_line(&mut out);
        match kind {
            EventKind::Call => open[here] += 1,
            EventKind::Return => open[here] -= 1,
        }
    }
    if open.iter().any(|open| *open > 0) {
        out.push(' ');
        for (open, width) in open.iter().zip(&widths) {
            let text = if *open > 0 { "… never returned" } else { "" };
            let _ = write!(out, " {text:width$} ");
        }
        end_line(&mut out);
    }
    out
}

fn end_line(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}

fn shorten(text: &str) -> String {
    let text = visible(text);
    match text.char_indices().nth(MOST_LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;

    #[test]
    fn pending_and_refused_operations_are_marked() {
        let mut builder = History::builder();
        builder.call(3, "wait()").expect("the process has no open call");
        builder.call(7, "a\nname that is far too long for a column").expect("the process has no open call");
        builder.ret(7, "no").expect("the process has an open call");
        let history = builder.finish();
        let text = render(&history, |_| true, Some(OpId(1)));
        let expected = "  process 3         process 7
  ┌ wait()
  │                 ┌ a\\u{a}name that is far too lon…
  │                 └ no                               <-- refused
  … never returned
";
        assert_eq!(text.lines().nth(3).map(|line| line.ends_with("<-- refused")), Some(true), "{text}");
        assert_eq!(text.lines().count(), expected.lines().count(), "{text}");
        assert!(text.contains("… never returned") && text.contains("too lon…"), "{text}");
        assert_eq!(render(&history, |id| id == OpId(1), None).lines().count(), 3);
    }
}

//! The data of a page: compact JSON in which nothing can end the surrounding HTML element.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::history::EventKind;
use crate::view::timeline::{Mark, Timeline};

/// Returns the timeline as a JSON object that `model.js` reads.
///
/// Each text is stored once, in a table. Operations and events are stored as columns of small
/// numbers, mostly of a single digit. An event is stored as twice the number of its lane, plus one
/// for a return. The lane determines the operation, because a lane has at most one open operation.
/// Other numbers are stored as differences.
///
/// # Complexity
/// O(n) time, and about 30 bytes for each operation with a distinct value.
pub(super) fn write(timeline: &Timeline, core_first: bool) -> String {
    let mut out = String::with_capacity(timeline.bars.len() * 24 + 1024);
    out.push('{');
    field(&mut out, "outcome", |out| string(out, timeline.outcome.name()));
    field(&mut out, "hasCore", |out| out.push_str(if timeline.has_core { "true" } else { "false" }));
    field(&mut out, "coreFirst", |out| out.push_str(if core_first && timeline.has_core { "true" } else { "false" }));
    field(&mut out, "rows", |out| {
        list(out, &timeline.rows, |out, row| {
            out.push('[');
            string(out, &row.label);
            let _ = write!(out, ",{}]", row.lanes);
        });
    });
    write_texts(&mut out, timeline);
    write_events(&mut out, timeline);
    field(&mut out, "annotations", |out| {
        list(out, &timeline.annotations, |out, annotation| {
            let _ = write!(out, "[{},{},", annotation.position, annotation.line);
            string(out, &annotation.text);
            out.push(']');
        });
    });
    write_order(&mut out, timeline);
    let core = (0_u32..).zip(&timeline.bars).filter(|(_, bar)| bar.core);
    field(&mut out, "core", |out| list(out, core, |out, (index, _)| number(out, index)));
    let marked = (0_u32..).zip(&timeline.bars).filter_map(|(index, bar)| {
        let mark = match bar.mark {
            Mark::None => return None,
            Mark::Refused => 1,
            Mark::Stuck => 2,
            Mark::Conflict => 3,
        };
        Some((index, mark))
    });
    field(&mut out, "marks", |out| list(out, marked, |out, (bar, mark)| numbers(out, [bar, mark])));
    write_problem(&mut out, timeline);
    write_states(&mut out, timeline);
    // Remove the trailing comma.
    out.pop();
    out.push('}');
    out
}

/// A table that numbers texts in the order of their first occurrence.
#[derive(Default)]
struct Table<'t> {
    numbers: HashMap<&'t str, i64>,
    texts: Vec<&'t str>,
}

impl<'t> Table<'t> {
    /// Returns the number of `text` minus the number that the next new text would get. So the
    /// result is 0 for a new text, and negative for a known text.
    fn code(&mut self, text: &'t str) -> i64 {
        let next = i64::try_from(self.texts.len()).expect("the number of texts in memory fits in 63 bits");
        let number = *self.numbers.entry(text).or_insert(next);
        if number == next {
            self.texts.push(text);
        }
        number - next
    }

    fn number(&mut self, text: &'t str) -> i64 {
        let code = self.code(text);
        let length = i64::try_from(self.texts.len()).expect("the number of texts in memory fits in 63 bits");
        if code == 0 { length - 1 } else { length + code }
    }
}

fn write_texts(out: &mut String, timeline: &Timeline) {
    // Stands for the missing result of a pending operation. It differs from every result, because
    // results contain only visible characters.
    const NEVER: &str = "\0";
    let (mut calls, mut kinds, mut keys, mut returns) =
        (Table::default(), Table::default(), Table::default(), Table::default());
    let (mut call_kinds, mut call_keys) = (Vec::new(), Vec::new());
    // For each distinct text of a call, 0 if the call concerns the object and key of the problem,
    // and 1 if it does not.
    let mut others = String::new();
    let subject = timeline.subject();
    let mut ops = Vec::with_capacity(timeline.bars.len());
    let mut results = Vec::with_capacity(timeline.bars.len());
    for bar in &timeline.bars {
        let code = calls.code(&bar.label.text);
        ops.push(code);
        if code == 0 {
            call_kinds.push(kinds.number(&bar.label.kind));
            call_keys.push(bar.label.key.as_deref().map_or(-1, |key| keys.number(key)));
            if let Some(subject) = &subject {
                others.push(if subject.contains(bar) { '0' } else { '1' });
            }
        }
        results.push(returns.code(bar.result.as_deref().unwrap_or(NEVER)));
    }
    if keys.texts.is_empty() {
        call_keys.clear();
    }
    field(out, "kinds", |out| list(out, &kinds.texts, |out, text| string(out, text)));
    field(out, "keys", |out| list(out, &keys.texts, |out, text| string(out, text)));
    field(out, "calls", |out| list(out, &calls.texts, |out, text| string(out, text)));
    field(out, "callKinds", |out| list(out, call_kinds, number));
    field(out, "callKeys", |out| list(out, call_keys, number));
    if others.contains('1') {
        field(out, "others", |out| string(out, &others));
        field(out, "subject", |out| string(out, &subject.map_or_else(String::new, |subject| subject.to_string())));
    }
    let write_result = |out: &mut String, text: &&str| match *text {
        NEVER => out.push_str("null"),
        text => string(out, text),
    };
    field(out, "returns", |out| list(out, &returns.texts, write_result));
    field(out, "ops", |out| list(out, ops, number));
    field(out, "results", |out| list(out, results, number));
}

fn write_events(out: &mut String, timeline: &Timeline) {
    let mut first_lanes = Vec::with_capacity(timeline.rows.len());
    let mut lanes = 0;
    for row in &timeline.rows {
        first_lanes.push(lanes);
        lanes += row.lanes;
    }
    let codes = timeline.events.iter().map(|edge| {
        let bar = &timeline.bars[edge.bar as usize];
        (first_lanes[bar.row as usize] + bar.lane) << 1 | u32::from(edge.kind == EventKind::Return)
    });
    field(out, "events", |out| list(out, codes, number));
    let has_lines = timeline.bars.iter().all(|bar| bar.lines.0 > 0);
    let whole = timeline.bars.iter().all(|bar| bar.ret.is_none() || bar.lines.0 == bar.lines.1);
    let mut before = 0;
    let mut difference = |line: u32| {
        let difference = i64::from(line) - before;
        before = i64::from(line);
        difference
    };
    match (has_lines && !timeline.bars.is_empty(), whole) {
        (false, _) => field(out, "lines", |out| out.push_str("null")),
        (true, true) => {
            field(out, "lines", |out| string(out, "operations"));
            field(out, "at", |out| list(out, timeline.bars.iter().map(|bar| difference(bar.lines.0)), number));
        }
        (true, false) => {
            field(out, "lines", |out| string(out, "events"));
            let lines = timeline.events.iter().map(|edge| {
                let lines = timeline.bars[edge.bar as usize].lines;
                difference(if edge.kind == EventKind::Call { lines.0 } else { lines.1 })
            });
            field(out, "at", |out| list(out, lines, number));
        }
    }
}

fn write_order(out: &mut String, timeline: &Timeline) {
    let mut before = -1;
    let order = timeline.order.iter().map(|bar| {
        let difference = i64::from(*bar) - before - 1;
        before = i64::from(*bar);
        difference
    });
    field(out, "order", |out| list(out, order, number));
    field(out, "together", |out| list(out, &timeline.together, |out, size| number(out, *size)));
    let steps = || timeline.groups().zip(1..).map(|(group, at)| timeline.bars[group[0] as usize].step.unwrap_or(at));
    field(out, "stepsTotal", |out| number(out, steps().last().unwrap_or(0)));
    if timeline.left_out > 0 {
        field(out, "steps", |out| list(out, steps(), number));
    }
}

fn write_problem(out: &mut String, timeline: &Timeline) {
    let Some(problem) = &timeline.problem else {
        return field(out, "problem", |out| out.push_str("null"));
    };
    field(out, "problem", |out| {
        out.push('{');
        field(out, "bars", |out| list(out, &problem.bars, |out, bar| number(out, *bar)));
        field(out, "event", |out| number(out, problem.event));
        field(out, "allowed", |out| list(out, problem.allowed.iter().take(50), |out, result| string(out, result)));
        field(out, "all", |out| out.push_str(if problem.all_allowed { "true" } else { "false" }));
        field(out, "anticipated", |out| {
            list(out, &problem.anticipated, |out, group| list(out, group, |out, bar| number(out, *bar)));
        });
        out.pop();
        out.push('}');
    });
}

/// Writes states. Each distinct text is stored as its difference from the text before it: [length of the common prefix,
/// length of the common suffix, the text between].
fn write_states(out: &mut String, timeline: &Timeline) {
    let mut texts: Vec<&str> = Vec::new();
    let mut known: HashMap<&str, u32> = HashMap::new();
    let mut number_of = |text| {
        *known.entry(text).or_insert_with(|| {
            texts.push(text);
            u32::try_from(texts.len() - 1).expect("the number of described states fits in 32 bits")
        })
    };
    let states: Vec<(u32, u32, u32)> = timeline
        .states
        .iter()
        .filter_map(|passed| Some((timeline.bar_of(passed.op)?, number_of(&*passed.before), number_of(&*passed.after))))
        .collect();
    field(out, "states", |out| {
        list(out, states, |out, (bar, before, after)| numbers(out, [bar, before, after]));
    });
    // Lengths are in UTF-16 code units, as in JavaScript.
    let mut before: Vec<u16> = Vec::new();
    field(out, "texts", |out| {
        list(out, texts, |out, text| {
            let units: Vec<u16> = text.encode_utf16().collect();
            let is_whole =
                |units: &[u16], at: usize| !units.get(at).is_some_and(|unit| (0xdc00..0xe000).contains(unit));
            let mut front = before.iter().zip(&units).take_while(|(one, other)| one == other).count();
            while !is_whole(&units, front) || !is_whole(&before, front) {
                front -= 1;
            }
            let rest = (before.len() - front).min(units.len() - front);
            let pairs = before.iter().rev().zip(units.iter().rev());
            let mut back = pairs.take(rest).take_while(|(one, other)| one == other).count();
            while back > 0 && !is_whole(&units, units.len() - back) {
                back -= 1;
            }
            let middle = String::from_utf16_lossy(&units[front..units.len() - back]);
            let _ = write!(out, "[{front},{back},");
            string(out, &middle);
            out.push(']');
            before = units;
        });
    });
    field(out, "found", |out| match timeline.state_at_problem() {
        Some(state) => string(out, state),
        None => out.push_str("null"),
    });
}

fn field(out: &mut String, name: &str, write: impl FnOnce(&mut String)) {
    let _ = write!(out, "\"{name}\":");
    write(out);
    out.push(',');
}

fn list<T>(out: &mut String, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
    out.push('[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

fn numbers(out: &mut String, numbers: impl IntoIterator<Item = u32>) {
    list(out, numbers, number);
}

fn number(out: &mut String, number: impl Into<i64>) {
    let _ = write!(out, "{}", number.into());
}

/// Writes a JSON string, escaping all characters that HTML or JavaScript could interpret.
fn string(out: &mut String, text: &str) {
    let escape = |out: &mut String, c: char| {
        let _ = write!(out, "\\u{:04x}", u32::from(c));
    };
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '<' | '>' | '&' | '\'' | '\u{2028}' | '\u{2029}' => escape(out, c),
            c if c.is_control() => escape(out, c),
            c => out.push(c),
        }
    }
    out.push('"');
}

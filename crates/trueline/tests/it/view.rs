//! Tests of timelines: the invariants that all drawings rely on, and that the content of a history stays text.

use sha2::{Digest, Sha256};
use trueline::history::{EventKind, History, Interval, OpId, codec::jsonl, from_intervals};
use trueline::judge::sync::{SyncAlgorithm, check as check_sync};
use trueline::judge::{self, Budget, Config, check};
use trueline::spec::sync::Exchanger;
use trueline::spec::{Register, RegisterOp, RegisterRet};
use trueline::verdict::{Judgment, Passed, Verdict};
use trueline::view::terminal::{self, Letters};
use trueline::view::timeline::{Label, Mark, Outcome, Places, Timeline, visible};
use trueline::view::{Report, html, svg};

/// A generator of random numbers that is good enough for tests.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Generates a history of processes that call and return at random; `answer` determines the results.
fn random_history<Op: Clone, Ret>(
    random: &mut Random,
    processes: u32,
    calls: u32,
    mut call: impl FnMut(&mut Random) -> Op,
    mut answer: impl FnMut(&mut Random, &Op) -> Ret,
) -> History<Op, Ret> {
    let mut builder = History::builder();
    let mut open: Vec<Option<Op>> = vec![None; processes as usize];
    let mut left = calls;
    loop {
        let process = u32::try_from(random.below(u64::from(processes))).expect("few");
        match open[process as usize].take() {
            Some(op) => drop(builder.ret(process, answer(random, &op)).expect("the process has called")),
            None if left > 0 => {
                let op = call(random);
                builder.call(process, op.clone()).expect("the process is idle");
                open[process as usize] = Some(op);
                left -= 1;
            }
            // Some operations never return.
            None => return builder.finish(),
        }
    }
}

type RegisterHistory = History<RegisterOp<u64>, RegisterRet<u64>>;

fn random_register(random: &mut Random) -> RegisterHistory {
    random_history(
        random,
        3,
        9,
        |random| if random.below(2) == 0 { RegisterOp::Write(random.below(3)) } else { RegisterOp::Read },
        |random, op| match op {
            RegisterOp::Read => RegisterRet::Value(random.below(3)),
            RegisterOp::Write(_) => RegisterRet::Done,
        },
    )
}

fn debug_label<Op: std::fmt::Debug>(op: &Op) -> Label {
    Label::of(&format!("{op:?}"))
}

/// Returns the timeline of a history, with results as text.
fn drawn<Op: std::fmt::Debug, Ret: std::fmt::Debug>(history: &History<Op, Ret>, judgment: Judgment<Ret>) -> Timeline {
    let shown =
        history.map(|operation| (format!("{:?}", operation.op), operation.outcome.map(|result| format!("{result:?}"))));
    Timeline::new(&shown, |op: &String| Label::of(op)).with_judgment(&judgment.map(|result| format!("{result:?}")))
}

/// Asserts the invariants that all drawings rely on.
fn check_laws(timeline: &Timeline) {
    // Events begin and end bars, in the order of calls.
    let mut calls = 0;
    for (position, edge) in (0..).zip(&timeline.events) {
        let bar = &timeline.bars[edge.bar as usize];
        match edge.kind {
            EventKind::Call => {
                assert_eq!((edge.bar, bar.call), (calls, position));
                calls += 1;
            }
            EventKind::Return => assert_eq!(bar.ret, Some(position)),
        }
    }
    assert_eq!(calls as usize, timeline.bars.len());
    let texts: Vec<String> = timeline.bars.iter().map(|bar| bar.text("->")).collect();
    let places = Places::new(timeline, |bar| u32::try_from(texts[bar as usize].chars().count()).expect("short"));
    // Cells keep the order of events.
    assert!(places.events.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
    // Bars in the same lane do not overlap, and neither do their texts.
    for (index, bar) in (0..).zip(&timeline.bars) {
        assert!(bar.lane < timeline.rows[bar.row as usize].lanes);
        let (first, last) = places.of_bar(timeline, index);
        assert!(last >= first + u32::try_from(texts[index as usize].len()).expect("short"), "{bar:?}");
        for (other_index, other) in (0..).zip(&timeline.bars).skip(index as usize + 1) {
            if (other.row, other.lane) == (bar.row, bar.lane) {
                let (other_first, _) = places.of_bar(timeline, other_index);
                assert!(last < other_first, "{bar:?} overlaps {other:?}");
            }
        }
    }
    // Points are on their bars, in the order of the linearization; operations that took effect together have the same
    // place.
    let mut before = None;
    let mut points = 0;
    for group in timeline.groups() {
        let point = places.points[group[0] as usize].expect("what took effect has a point");
        for bar in group {
            assert_eq!(places.points[*bar as usize], Some(point), "partners are linked in one place");
            let (first, last) = places.of_bar(timeline, *bar);
            let digits =
                u32::try_from(timeline.bars[*bar as usize].step.expect("a step").to_string().len()).expect("few");
            assert!(first < point.cell && point.cell + digits <= last, "{point:?} is not within {first} to {last}");
            points += 1;
        }
        assert!(before < Some(point.cell), "points are in the order of the linearization");
        before = Some(point.cell);
    }
    assert_eq!(points, places.points.iter().flatten().count());
    assert_eq!(timeline.bars.iter().filter(|bar| bar.step.is_some()).count(), timeline.order.len());
    if let Some(problem) = &timeline.problem {
        for bar in &problem.bars {
            assert!(timeline.bars[*bar as usize].mark.is_problem());
        }
    }
}

#[test]
fn laws_of_the_layout() {
    let mut random = Random(7);
    let mut outcomes = [0; 2];
    for _ in 0..2_000 {
        let history = random_register(&mut random);
        let judgment = check(&Register::new(0), &history, &Config::new());
        outcomes[usize::from(judgment.verdict.is_accepted())] += 1;
        let timeline = drawn(&history, judgment);
        check_laws(&timeline);
        for most in 1..history.len() {
            let part = timeline.near_problem(most);
            assert_eq!((part.bars.len(), part.left_out), (most, history.len() - most));
            check_laws(&part);
            // The problem is never cut off.
            assert_eq!(timeline.problem.is_some(), part.bars.iter().any(|bar| bar.mark == Mark::Refused));
        }
    }
    assert!(outcomes.iter().all(|count| *count > 200), "{outcomes:?}");
}

/// Exchangers: operations that exchanged values are linked.
#[test]
fn partners_are_linked() {
    let mut random = Random(3);
    let (mut links, mut rejected) = (0, 0);
    for _ in 0..2_000 {
        let history = random_history(&mut random, 4, 6, |random| random.below(3), |random, _| random.below(3));
        let judgment = check_sync(&Exchanger::new(), &history, SyncAlgorithm::Auto, &Budget::unlimited());
        rejected += usize::from(judgment.verdict.is_rejected());
        let linearization = judgment.verdict.linearization().expect("no limits");
        let timeline = drawn(&history, judgment);
        check_laws(&timeline);
        let drawn: Vec<Vec<OpId>> =
            timeline.groups().map(|group| group.iter().map(|bar| OpId(*bar)).collect()).collect();
        let expected: Vec<Vec<OpId>> = linearization.groups().map(<[OpId]>::to_vec).collect();
        assert_eq!(drawn, expected);
        links += drawn.iter().filter(|group| group.len() == 2).count();
        let picture = svg::render(&timeline);
        assert_eq!(
            picture.matches(r#"<line class="link""#).count(),
            drawn.iter().filter(|group| group.len() > 1).count()
        );
    }
    assert!(links > 200 && rejected > 200, "{links} {rejected}");
}

/// Operations of one process that touch in time, but do not overlap, share one lane.
#[test]
fn ties_of_one_process_need_one_lane() {
    let history = from_intervals([
        Interval::returned(0, "a", 0, 10, "1"),
        Interval::returned(0, "b", 10, 10, "2"),
        Interval::returned(0, "c", 10, 20, "3"),
        Interval::pending(1, "d", 10),
    ])
    .expect("a process keeps its own order");
    let timeline = Timeline::new(&history, Label::of);
    assert_eq!(timeline.rows.iter().map(|row| row.lanes).collect::<Vec<_>>(), [1, 1]);
    check_laws(&timeline);
    let text = terminal::render(&timeline, &terminal::Settings::default());
    assert_eq!(text.lines().count(), 4, "{text}");
}

/// An excerpt that is selected before drawing equals the excerpt of the whole timeline.
#[test]
fn an_excerpt_has_what_is_near_the_problem() {
    let mut builder = History::builder();
    for value in 0..1_000_u64 {
        builder.call(0, RegisterOp::Write(value)).expect("the process is idle");
        builder.ret(0, RegisterRet::Done).expect("the process has called");
    }
    builder.call(1, RegisterOp::Read).expect("the process is idle");
    builder.ret(1, RegisterRet::Value(3)).expect("the process has called");
    for value in 0..1_000_u64 {
        builder.call(0, RegisterOp::Write(value)).expect("the process is idle");
        builder.ret(0, RegisterRet::Done).expect("the process has called");
    }
    let history = builder.finish();
    let judgment = check(&Register::new(0), &history, &Config::new());
    let shown = history.map(|operation| (operation.op.clone(), operation.outcome.map(|result| format!("{result:?}"))));
    let order = judgment.verdict.linearization().expect("no limits").order;
    let states = judge::states(&Register::new(0), &history, &order);
    let judgment = judgment.map(|result| format!("{result:?}"));
    let whole = Timeline::new(&shown, debug_label).with_judgment(&judgment).with_states(states.clone());
    let excerpt = Timeline::excerpt(&shown, debug_label, &judgment.verdict, None, 50)
        .with_judgment(&judgment)
        .with_states(states);
    assert!(excerpt.bars.len() < 110, "{}", excerpt.bars.len());
    check_laws(&excerpt);
    let settings = terminal::Settings::default();
    assert_eq!(terminal::render(&excerpt, &settings), terminal::render(&whole, &settings));
    assert_eq!(whole.state_at_problem(), Some("999"));
    assert_eq!(whole.states_of(OpId(999)), Some(&Passed::new(OpId(999), "998", "999")));
}

/// Texts that would have an effect if they were not escaped.
const HOSTILE: [&str; 12] = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "--><!--<script>",
    "]]><b>",
    "a\u{2028}b\u{2029}c",
    "\u{202e}gnp.exe\u{2066}\u{200b}",
    "\u{1b}[2J\u{7}\r\n\0",
    "\\u003c/script\\u003e",
    "{{data}}{{script}}",
    "&lt;&amp;\u{ffff}",
];

#[test]
fn hostile_texts_stay_text() {
    for text in HOSTILE {
        let mut builder = History::builder();
        builder.call(0, text.to_owned()).expect("the process is idle");
        builder.ret(0, text.to_owned()).expect("the process has called");
        builder.call(1, format!("f({text})")).expect("the process is idle");
        let history = builder.finish();
        let mut evidence = trueline::verdict::Evidence::at(OpId(0), 1);
        (evidence.prefix, evidence.open) = (vec![OpId(1)], vec![OpId(1)]);
        (evidence.allowed, evidence.all_allowed, evidence.is_first) = (vec![text.to_owned()], true, true);
        let judgment = Judgment::new(Verdict::Rejected(evidence), Default::default());
        let report = Report::new(text, text, (2, 1), &judgment, |id| history.named(id));
        let state = Passed::new(OpId(1), text, format!("{text}{text}"));
        let timeline = Timeline::new(&history, |op: &String| Label { key: Some(visible(text)), ..Label::of(op) })
            .with_judgment(&judgment)
            .with_states(vec![state])
            .with_report(&report);
        let page = html::render(&timeline, &html::Settings::default());
        // The page has no elements except those of the template.
        for (tag, count) in [("<script", 2), ("</script", 2), ("<img", 0), ("<svg", 0), ("<b>", 0), ("<!--", 0)] {
            assert_eq!(page.matches(tag).count(), count, "{tag} with {text:?}");
        }
        assert!(!page.contains(['\u{2028}', '\u{202e}', '\u{2066}', '\u{200b}', '\u{1b}', '\0']), "{text:?}");
        // The data is unchanged.
        let data = page.split_once(r#"type="application/json">"#).expect("the page has data").1;
        let data = data.split_once("</script>").expect("the element ends").0;
        assert!(!data.contains(['<', '>', '&', '\'']), "{data}");
        let data: serde_json::Value = serde_json::from_str(data).expect("the data is JSON");
        assert_eq!(data["calls"][0], visible(text));
        assert_eq!((&data["returns"][0], &data["returns"][1]), (&visible(text).into(), &serde_json::Value::Null));
        assert_eq!(data["keys"][0], visible(text));
        assert_eq!(data["problem"]["allowed"][0], visible(text));
        assert_eq!(data["texts"][0][2], visible(text));
        let picture = svg::render(&timeline);
        const ELEMENTS: [&str; 13] = [
            "svg ", "/svg>", "title", "/title>", "style>", "/style>", "rect ", "text ", "/text>", "g ", "/g>", "line ",
            "circle ",
        ];
        for (at, _) in picture.match_indices('<') {
            let element = &picture[at + 1..];
            assert!(ELEMENTS.iter().any(|known| element.starts_with(known)), "{text:?} in {element}");
        }
        assert_eq!(picture.matches("<svg").count(), 1, "{picture}");
        assert!(!picture.contains(|c: char| c.is_control() && c != '\n'), "{picture:?}");
        for letters in [Letters::Unicode, Letters::Ascii] {
            let drawn = terminal::render(&timeline, &terminal::Settings { letters, ..Default::default() });
            assert!(!drawn.contains(|c: char| c.is_control() && c != '\n'), "{drawn:?}");
            assert!(!drawn.contains(['\u{202e}', '\u{2066}', '\u{200b}', '\u{2028}']), "{drawn:?}");
        }
    }
}

/// States are written as differences, also for characters of several bytes.
#[test]
fn differences_of_states_add_up() {
    let texts = ["[]", "[a]", "[a, é]", "[a, é, 😀]", "[a, é, 😁]", "[é, 😁]", "[é, 😁😀]", "", "😀", "😁", "[]"];
    let mut builder = History::builder();
    let mut states = Vec::new();
    for (id, pair) in (0..).zip(texts.windows(2)) {
        builder.call(0, id).expect("the process is idle");
        builder.ret(0, "ok").expect("the process has called");
        states.push(Passed::new(OpId(id), pair[0], pair[1]));
    }
    let timeline = Timeline::new(&builder.finish(), |op: &u32| Label::of(op)).with_states(states);
    let page = html::render(&timeline, &html::Settings::default());
    let data =
        page.split_once(r#"type="application/json">"#).expect("data").1.split_once("</script>").expect("it ends").0;
    let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
    let mut text: Vec<u16> = Vec::new();
    let mut known = Vec::new();
    for entry in data["texts"].as_array().expect("a list") {
        let number = |at: usize| usize::try_from(entry[at].as_u64().expect("a number")).expect("small");
        let middle: Vec<u16> = entry[2].as_str().expect("text").encode_utf16().collect();
        text = [&text[..number(0)], &middle, &text[text.len() - number(1)..]].concat();
        known.push(String::from_utf16(&text).expect("whole letters"));
    }
    for (pair, state) in texts.windows(2).zip(data["states"].as_array().expect("a list")) {
        let of = |at: usize| known[usize::try_from(state[at].as_u64().expect("a number")).expect("small")].as_str();
        assert_eq!((of(1), of(2)), (pair[0], pair[1]));
    }
}

/// A page with 100,000 operations is smaller than the history as JSON lines. The test accepts up to
/// three times the size.
#[test]
fn pages_are_small() {
    use std::fmt::Write as _;
    let mut lines = String::new();
    for at in 0..100_000_u32 {
        let (process, call) = (at % 8, 10 * at);
        let ret = call + 5 + 71 * (at % 3 / 2);
        let (f, value, result) = match at % 2 {
            0 => ("enqueue", at.to_string(), "null".to_owned()),
            _ => ("dequeue", "null".to_owned(), (at - 1).to_string()),
        };
        writeln!(
            lines,
            r#"{{"process":{process},"f":"{f}","value":{value},"result":{result},"call":{call},"return":{ret}}}"#
        )
        .expect("a string");
    }
    let history = jsonl::read(lines.as_bytes()).expect("well formed");
    let mut compact = Vec::new();
    jsonl::write_operations(&history, &mut compact).expect("writing to memory succeeds");
    let mut timeline = Timeline::new(&history, Label::of_record);
    timeline.order = (0..100_000).collect();
    timeline.outcome = Outcome::Accepted;
    let page = html::render(&timeline, &html::Settings::default());
    assert!(page.len() < compact.len(), "{} of {}", page.len(), compact.len());
    // Rendering again produces the same bytes.
    assert_eq!(page, html::render(&timeline, &html::Settings::default()));
}

/// The security policy of the page contains the hashes of its script and its style.
#[test]
fn digests_are_right() {
    let page = html::render(&Timeline::new(&History::<&str, &str>::builder().finish(), Label::of), &Default::default());
    let between = |from: &str, to: &str| {
        let start = page.rfind(from).expect("the element exists") + from.len();
        &page[start..start + page[start..].find(to).expect("the element ends")]
    };
    for (kind, content) in [("script", between("<script>", "</script>")), ("style", between("<style>", "</style>"))] {
        let digest = base64(&Sha256::digest(content));
        let allowed = format!("{kind}-src 'sha256-{digest}'");
        assert!(page.contains(&allowed), "the {kind} has changed: write sha256-{digest} in view/html/mod.rs");
    }
    assert!(page.contains("default-src 'none'"));
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// Lines fit the width of the terminal, however long the history and its texts are.
#[test]
fn terminals_of_any_width() {
    let mut random = Random(11);
    let mut rejected = 0;
    for _ in 0..300 {
        let history = random_register(&mut random);
        let judgment = check(&Register::new(0), &history, &Config::new());
        rejected += usize::from(judgment.verdict.is_rejected());
        let mut timeline = drawn(&history, judgment);
        for bar in &mut timeline.bars {
            bar.label.text = bar.label.text.repeat(1 + usize::try_from(random.below(4)).expect("small"));
        }
        for width in [40, 60, 80, 132, 200] {
            let text = terminal::render(&timeline, &terminal::Settings { width, ..Default::default() });
            let longest = text.lines().filter(|line| !line.starts_with("  (")).map(|line| line.chars().count()).max();
            assert!(longest <= Some(width), "{longest:?} of {width}:\n{text}");
            assert!(timeline.problem.is_none() || text.contains('✗'), "{text}");
        }
    }
    assert!(rejected > 50, "{rejected}");
}

/// The failing assertion that [`failing_assertions_are_drawn`] runs in a separate process.
#[test]
#[ignore = "fails intentionally; run by `failing_assertions_are_drawn`"]
fn an_assertion_that_fails() {
    let mut builder = History::builder();
    builder.call(0, RegisterOp::Write(1)).expect("the process is idle");
    builder.ret(0, RegisterRet::Done).expect("the process has called");
    builder.call(1, RegisterOp::Read).expect("the process is idle");
    builder.ret(1, RegisterRet::Value(0)).expect("the process has called");
    trueline::assert_linearizable!(builder.finish(), Register::new(0));
}

/// A failing assertion draws its history, too, if the environment variable names a folder.
#[test]
fn failing_assertions_are_drawn() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages of assertions");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("the pages can be removed");
    }
    let fails = |pages: &std::path::Path| {
        let output = std::process::Command::new(std::env::current_exe().expect("the test program runs"))
            .args(["--exact", "view::an_assertion_that_fails", "--ignored"])
            .env("TRUELINE_PAGES", pages)
            .output()
            .expect("the test program runs");
        assert!(!output.status.success());
        String::from_utf8(output.stdout).expect("text")
    };
    let said = fails(&folder);
    let line = said.lines().find_map(|line| line.trim().strip_prefix("the page:")).unwrap_or_else(|| panic!("{said}"));
    let page = std::path::Path::new(line.trim());
    let name = page.file_name().and_then(|name| name.to_str()).expect("a name");
    assert!(page.starts_with(&folder) && name.starts_with("view__an_assertion_that_fails-view-"), "{line}");
    let page = std::fs::read_to_string(page).expect("the page was written");
    assert!(page.contains("verdict rejected") && page.contains("builder.finish()"), "{page}");
    assert_eq!(std::fs::read_dir(&folder).expect("the folder was created").count(), 1);
    // Without a folder, nothing is drawn; if drawing fails, that is reported.
    let said = fails(std::path::Path::new(""));
    assert!(said.contains("could only have returned") && !said.contains("page"), "{said}");
    assert!(fails(std::path::Path::new("/dev/null/below")).contains("check TRUELINE_PAGES=/dev/null/below"));
}

/// A failing test draws the failing run, if a folder is set.
#[test]
fn failing_tests_are_drawn() {
    use std::sync::atomic::{AtomicU64, Ordering};
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    // Every second draw returns the same number as the one before.
    let outcome = trueline::test(|| AtomicU64::new(0))
        .model(0_u64)
        .operation(
            "draw",
            (),
            |counter, ()| counter.fetch_add(1, Ordering::SeqCst) / 2,
            |model, ()| {
                *model += 1;
                *model - 1
            },
        )
        .calls(2)
        .runs(1)
        .forgetful()
        .pages(&folder)
        .outcome();
    let failure = outcome.failure.expect("an update is lost");
    let path = failure.page.as_ref().expect("the folder can be written");
    assert!(path.starts_with(&folder) && failure.to_string().contains(&path.display().to_string()), "{failure}");
    let page = std::fs::read_to_string(path).expect("the page was written");
    assert!(page.contains("verdict rejected") && page.contains(r#""kinds":["draw"]"#));
    std::fs::remove_file(path).expect("the pages can be removed");
}

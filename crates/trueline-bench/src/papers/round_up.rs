//! L. Zhang, A. Chattopadhyay and C. Wang, *Round-Up: runtime verification of quasi linearizability for concurrent data
//! structures*.

use std::time::Duration;

use trueline::history::History;
use trueline::judge::Budget;
use trueline::judge::quasi::{Factors, Optimizations, QuasiAlgorithm, Semantics, check};
use trueline::spec::{Queue, QueueOp, QueueRet};

use super::experiment::{Experiment, Holds, Point, Scale, Shape};
use super::results::{Chart, Observation, PointResults, Results};
use crate::round_up::{Row, explored, judge, table_2, table_3, table_5};

const PAPER: &str = "L. Zhang, A. Chattopadhyay and C. Wang, Round-Up: runtime verification of quasi linearizability for concurrent data structures";
const OURS: &str = "trueline";
const PLAIN: &str = "without the optimizations";
const OPTIMIZED: &str = "with the optimizations";

const AGREES: Shape = Shape {
    rule: "each object that the paper finds faulty is found faulty, and no other",
    holds: |r| {
        let wrong = |point: &&PointResults| (point.sum_of("wrong") > 0.0) != (point.sum_of("paper_wrong") > 0.0);
        let seen: Vec<&PointResults> = r.points.iter().filter(|point| !point.observations.is_empty()).collect();
        let differ: Vec<&str> = seen.iter().copied().filter(wrong).map(|point| point.x.as_str()).collect();
        match seen.len() {
            0 => missing(),
            all => Holds::when(
                differ.is_empty(),
                if differ.is_empty() { format!("all {all}") } else { format!("not {}", differ.join(", ")) },
            ),
        }
    },
};

const FASTER: Shape = Shape {
    rule: "each row takes less time than in the paper",
    holds: |r| {
        let slower = |point: &&PointResults| point.paper.is_some_and(|(paper, _)| point.summary().mean > paper);
        let seen: Vec<&PointResults> = r.points.iter().filter(|point| !point.observations.is_empty()).collect();
        let slow: Vec<&str> = seen.iter().copied().filter(slower).map(|point| point.x.as_str()).collect();
        match seen.len() {
            0 => missing(),
            all => Holds::when(
                slow.is_empty(),
                if slow.is_empty() { format!("all {all}") } else { format!("not {}", slow.join(", ")) },
            ),
        }
    },
};

const ABOUT: &str = "Two threads and the main thread make a fixed number of calls (`2*2+4`: two calls each, four by the main thread). All \
                     schedules with at most two preemptions are explored, with the random choices of the object from a seed, and \
                     then again with all choices for a limited time (5 s, quick: 0.5 s); each distinct history is judged. The time is \
                     that of the first exploration and its judging. *Buggy* counts distinct histories here, and executions in the paper.";

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "roundup-table2",
        row: "R1",
        command: ("roundup", "table2"),
        paper: PAPER,
        title: "Table II: objects checked for linearizability",
        about: ABOUT,
        chart: Chart::Rows,
        x: ("", false),
        y: ("seconds", true),
        points: |_| points(&table_2()),
        observe: |point, scale, _| observed(&table_2(), point, true, scale),
        repeats: false,
        most: 1,
        quick_s: 20.0,
        shapes: &[AGREES, FASTER],
        why: None,
    },
    Experiment {
        id: "roundup-table3",
        row: "R2",
        command: ("roundup", "table3"),
        paper: PAPER,
        title: "Table III: objects checked for quasi linearizability",
        about: ABOUT,
        chart: Chart::Rows,
        x: ("", false),
        y: ("seconds", true),
        points: |_| points(&table_3()),
        observe: |point, scale, _| observed(&table_3(), point, false, scale),
        repeats: false,
        most: 1,
        quick_s: 25.0,
        shapes: &[AGREES, FASTER],
        why: None,
    },
    Experiment {
        id: "roundup-table5",
        row: "R3",
        command: ("roundup", "table5"),
        paper: PAPER,
        title: "Table V: the queues and stacks of Scal",
        about: ABOUT,
        chart: Chart::Rows,
        x: ("", false),
        y: ("seconds", true),
        points: |_| points(&scal()),
        observe: |point, scale, _| observed(&scal(), point, false, scale),
        repeats: false,
        most: 1,
        quick_s: 25.0,
        shapes: &[AGREES, FASTER],
        why: None,
    },
    Experiment {
        id: "roundup-fig8",
        row: "R4",
        command: ("roundup", "fig8"),
        paper: PAPER,
        title: "Figures 8 and 9: what the removal of duplicates saves",
        about: "The programs of table V, with choices from a seed: permutations and time with and without \
                the three optimizations of the paper. Points below the diagonal show savings. The paper judges every \
                execution; here equal histories are judged once even without the optimizations.",
        chart: Chart::Scatter,
        x: (PLAIN, true),
        y: (OPTIMIZED, true),
        points: |_| {
            let rows = scal();
            ["permutations", "milliseconds"]
                .iter()
                .flat_map(|panel| {
                    [PLAIN, OPTIMIZED].into_iter().flat_map(move |series| {
                        let panel = (*panel).to_owned();
                        scal().iter().map(|row| Point::new(&panel, series, name(row))).collect::<Vec<_>>()
                    })
                })
                .take(rows.len() * 4)
                .collect()
        },
        observe: savings,
        repeats: false,
        most: 1,
        quick_s: 50.0,
        shapes: &[
            Shape {
                rule: "no program needs more permutations with the optimizations",
                holds: |r| {
                    let pairs: Vec<(f64, f64)> = both(r, "permutations");
                    let more = pairs.iter().filter(|(plain, optimized)| optimized > plain).count();
                    if pairs.is_empty() {
                        missing()
                    } else {
                        Holds::when(more == 0, format!("{more} of {} need more", pairs.len()))
                    }
                },
            },
            Shape {
                rule: "over all programs, there are at least 10 % fewer permutations",
                holds: |r| {
                    let pairs: Vec<(f64, f64)> = both(r, "permutations");
                    let (plain, optimized) =
                        pairs.iter().fold((0.0, 0.0), |(a, b), (plain, optimized)| (a + plain, b + optimized));
                    if pairs.is_empty() {
                        missing()
                    } else {
                        Holds::when(optimized <= 0.9 * plain, format!("{optimized:.0} of {plain:.0}"))
                    }
                },
            },
            Shape {
                rule: "over all programs, judging takes less time",
                holds: |r| {
                    let pairs: Vec<(f64, f64)> = both(r, "milliseconds");
                    let (plain, optimized) =
                        pairs.iter().fold((0.0, 0.0), |(a, b), (plain, optimized)| (a + plain, b + optimized));
                    if pairs.is_empty() {
                        missing()
                    } else {
                        Holds::when(optimized < plain, format!("{optimized:.1} ms, {plain:.1} ms plain"))
                    }
                },
            },
        ],
        why: Some(
            "The paper judges every execution, so that most of its savings are repeated histories. Here distinct histories are \
             judged in both cases, which is already the largest of the savings; the optimizations can only save \
             permutations by remembering them, which costs about as much as examining them again.",
        ),
    },
    Experiment {
        id: "roundup-example",
        row: "R5",
        command: ("roundup", "example"),
        paper: PAPER,
        title: "Figure 7: the 1-quasi permutations of three dequeues",
        about: "A queue with three values; the orders of the three dequeues, other than that of a queue, that are accepted with a \
                quasi factor of 1.",
        chart: Chart::Facts,
        x: ("", false),
        y: ("orders", false),
        points: |_| vec![Point::new("", "accepted", "orders other than 123").paper(2.0, None)],
        observe: |_, _, _| {
            let orders = permutations();
            let names: Vec<String> =
                orders.iter().map(|order| order.iter().map(ToString::to_string).collect()).collect();
            #[expect(clippy::cast_precision_loss, reason = "at most five")]
            let count = orders.len() as f64;
            Observation { note: Some(names.join(", ")), ..Observation::of(count) }
        },
        repeats: false,
        most: 1,
        quick_s: 1.0,
        shapes: &[Shape {
            rule: "two orders are accepted, 132 and 213",
            holds: |r| match r.points.first().and_then(|point| point.observations.first()) {
                Some(seen) => {
                    let note = seen.note.clone().unwrap_or_default();
                    Holds::when(note == "132, 213", note)
                }
                None => missing(),
            },
        }],
        why: None,
    },
];

fn missing() -> Holds {
    Holds::not_testable("not measured yet")
}

/// Returns our rows of table V that are also in the paper.
fn scal() -> Vec<Row> {
    table_5().into_iter().filter(|row| row.paper.1 > 0).collect()
}

fn name(row: &Row) -> String {
    let Row { name, threads, main, factor, .. } = row;
    match threads[0].len() {
        1 => {
            let word = |letter: &str| if letter == "i" { "insert" } else { "remove" };
            format!("{name}, {} and {}", word(threads[0]), word(threads[1]))
        }
        _ => {
            let k = if *factor == 2 { String::new() } else { format!(", K = {factor}") };
            format!("{name} {}*{}+{}{k}", threads[0].len(), threads[1].len(), main.0.len() + main.1.len())
        }
    }
}

fn points(rows: &[Row]) -> Vec<Point> {
    rows.iter().map(|row| Point::new("", OURS, name(row)).paper(row.paper.3, None)).collect()
}

fn find<'r>(rows: &'r [Row], point: &Point) -> &'r Row {
    rows.iter().find(|row| name(row) == point.x).expect("the name of a point is the name of a row")
}

fn choices(scale: Scale) -> Duration {
    Duration::from_millis(scale.pick(500, 5000))
}

#[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
fn observed(rows: &[Row], point: &Point, is_strict: bool, scale: Scale) -> Observation {
    let row = find(rows, point);
    let by_seed = explored(row, 2, Some(1), Duration::from_secs(scale.pick(10, 60)));
    let judged = judge(row, &by_seed, is_strict, Optimizations::all());
    let all = explored(row, 2, None, choices(scale));
    let of_all = judge(row, &all, is_strict, Optimizations::all());
    let counted = if is_strict { judged.sequentializations } else { judged.permutations };
    let what = if is_strict { "sequentializations" } else { "permutations" };
    let (wrong, histories) = match of_all.wrong {
        0 => (judged.wrong, by_seed.histories.len()),
        wrong => (wrong, all.histories.len()),
    };
    let (paper_wrong, of, paper_counted, _) = row.paper;
    let note = format!(
        "{wrong} of {histories} buggy, {counted} {what}; paper: {paper_wrong} of {of}, {paper_counted}{}",
        if by_seed.is_complete { "" } else { "; cut off" }
    );
    let seconds = (by_seed.elapsed + judged.elapsed).as_secs_f64();
    let seen = Observation::of(seconds)
        .with("wrong", (judged.wrong + of_all.wrong) as f64)
        .with("paper_wrong", f64::from(paper_wrong))
        .with("serial", judged.serial as f64);
    Observation { note: Some(note), ..seen }
}

#[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
fn savings(point: &Point, scale: Scale, _: u64) -> Observation {
    let rows = scal();
    let row = find(&rows, point);
    // The random choices of the object come from a seed, so that both series judge the same
    // histories.
    let all = explored(row, 2, Some(1), Duration::from_secs(scale.pick(10, 60)));
    let optimizations = if point.series == PLAIN { Optimizations::none() } else { Optimizations::all() };
    let judged = judge(row, &all, false, optimizations);
    let value = match point.panel.as_str() {
        "permutations" => judged.permutations as f64,
        _ => judged.elapsed.as_secs_f64() * 1e3,
    };
    Observation::of(value).with("histories", all.histories.len() as f64)
}

/// Returns the mean without optimizations and the mean with optimizations, for each program. Leaves
/// out programs for which the two explorations saw different numbers of histories.
fn both(results: &Results, panel: &str) -> Vec<(f64, f64)> {
    let pairs = results.series(panel, PLAIN).filter_map(|plain| {
        let optimized = results.point(panel, OPTIMIZED, &plain.x)?;
        let histories = |point: &PointResults| point.sum_of("histories");
        ((histories(plain) - histories(optimized)).abs() < 0.5)
            .then(|| (plain.summary().mean, optimized.summary().mean))
    });
    pairs.collect()
}

/// Returns the orders of three dequeues that are quasi linearizable with factor 1, except the
/// first-in-first-out order.
fn permutations() -> Vec<[u8; 3]> {
    let orders = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]];
    let factors = || {
        Factors::new().class("enqueue", 0, |op: &QueueOp<u8>| matches!(op, QueueOp::Enqueue(_))).class(
            "dequeue",
            1,
            |op: &QueueOp<u8>| matches!(op, QueueOp::Dequeue),
        )
    };
    let is_accepted = |order: &[u8; 3]| {
        let mut builder = History::builder();
        for value in 1..=3 {
            builder.call(0, QueueOp::Enqueue(value)).expect("the process is idle");
            builder.ret(0, QueueRet::Done).expect("the process has called");
        }
        for value in order {
            builder.call(0, QueueOp::Dequeue).expect("the process is idle");
            builder.ret(0, QueueRet::Value(Some(*value))).expect("the process has called");
        }
        let semantics = Semantics::by_class(factors());
        check(&Queue::new(), &builder.finish(), &semantics, QuasiAlgorithm::Search, &Budget::unlimited())
            .verdict
            .is_accepted()
    };
    orders.into_iter().filter(|order| *order != [1, 2, 3] && is_accepted(order)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_7() {
        assert_eq!(permutations(), [[1, 3, 2], [2, 1, 3]]);
    }
}

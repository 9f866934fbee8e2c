//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*.

use std::collections::BTreeMap;
use std::sync::Once;
use std::thread;
use std::time::{Duration, Instant};

use trueline::drive::{Call, Runner};
use trueline::history::{Argument, History, OpId, Value};
use trueline::judge::sync::{Discipline, SyncAlgorithm, check, progress};
use trueline::judge::{Algorithm, Budget};
use trueline::spec::sync::{
    Abc, AbcOp, Channel, ChannelOp, ChannelRet, CloseableChannel, CloseableChannelOp, CloseableChannelRet,
    CounterChannel, CounterChannelRet, Exchanger, OneFamily, SyncSpec, TwoFamilies, TwoFamiliesOp,
};
use trueline::test::Plan;
use trueline::verdict::{ProgressVerdict, Verdict};
use trueline_objects::catalog::Settings;

use super::experiment::{Experiment, Holds, Point, Scale, Shape};
use super::finding::{AUTO, find, plan};
use super::results::{Chart, Observation, Results};
use super::runner::MOST;
use super::statistics::exponent;
use crate::sync::{Event, history, simulate, spoil};

const PAPER: &str = "J. Lawrence and G. Lowe, Synchronisation: specification and testing";

const DIRECT: &str = "direct";
const TWO_STEP: &str = "two-step";
const TIMED: &str = "interrupted after 100 ms";

/// The times in figures 11 and 12, in milliseconds, from the sources of the paper. Each row has the
/// panel, the number of threads, and for each number of iterations, a mean and its interval.
const FIGURES_11_12: &[(&str, u32, &str)] = &[
    ("Synchronous channel, direct", 2, "2: 86±2 · 4: 81±2 · 8: 79±2 · 16: 76±2 · 32: 76±2"),
    ("Synchronous channel, direct", 4, "2: 88±2 · 4: 82±2 · 8: 81±2 · 16: 82±2 · 32: 84±1"),
    ("Synchronous channel, direct", 8, "2: 89±3 · 4: 87±2 · 8: 88±1 · 16: 93±1 · 32: 101±1"),
    ("Synchronous channel, direct", 16, "2: 101±3 · 4: 99±2 · 8: 102±1 · 16: 112±1"),
    ("Synchronous channel, two-step", 2, "2: 97±3 · 4: 98±1 · 8: 103±1 · 16: 110±2 · 32: 123±4"),
    ("Synchronous channel, two-step", 4, "2: 104±1 · 4: 108±1 · 8: 115±2 · 16: 129±3 · 32: 148±3"),
    ("Synchronous channel, two-step", 8, "2: 116±1 · 4: 129±3 · 8: 149±5 · 16: 184±9 · 32: 225±13"),
    ("ABC problem, direct", 6, "2: 63148±21760 · 4: 651±173 · 8: 890±254 · 16: 989±331 · 32: 2531±638"),
    ("ABC problem, direct", 9, "2: 8285±2778 · 4: 538±70 · 8: 570±73 · 16: 1236±603"),
    ("ABC problem, direct", 15, "2: 2354±557 · 4: 426±43 · 8: 461±55 · 16: 928±311"),
    ("ABC problem, direct", 24, "2: 2087±487 · 4: 457±58 · 8: 815±138"),
    ("ABC problem, two-step", 6, "2: 65759±25550 · 4: 1046±329 · 8: 1047±190 · 16: 2035±663"),
    ("ABC problem, two-step", 9, "2: 8272±2219 · 4: 648±92 · 8: 878±115"),
    ("ABC problem, two-step", 12, "2: 3215±833 · 4: 614±80 · 8: 1010±131"),
    ("Barrier, direct", 2, "2: 80±1 · 4: 80±1 · 8: 82±1 · 16: 86±1 · 32: 89±1"),
    ("Barrier, direct", 4, "2: 81±1 · 4: 79±1 · 8: 82±1 · 16: 91±1 · 32: 106±1"),
    ("Barrier, direct", 8, "2: 87±1 · 4: 92±1 · 8: 102±1 · 16: 115±1 · 32: 135±1"),
    ("Barrier, direct", 16, "2: 104±1 · 4: 115±1 · 8: 126±1 · 16: 147±1"),
    ("Barrier, two-step", 4, "2: 105±1 · 4: 107±1 · 8: 110±1 · 16: 118±1 · 32: 126±1"),
    ("Barrier, two-step", 8, "2: 473±7 · 4: 484±8 · 8: 492±5 · 16: 499±6 · 32: 507±7"),
    ("Barrier, two-step", 10, "2: 4724±89 · 4: 5140±391 · 8: 4985±299 · 16: 4846±185"),
    ("Closeable channel, direct", 2, "2: 218±21 · 4: 231±20 · 8: 262±23 · 16: 260±21 · 32: 283±24"),
    ("Closeable channel, direct", 4, "2: 211±12 · 4: 201±11 · 8: 210±11 · 16: 227±13 · 32: 245±12"),
    ("Closeable channel, direct", 8, "2: 230±13 · 4: 205±7 · 8: 216±9 · 16: 226±9 · 32: 269±14"),
    ("Closeable channel, direct", 16, "2: 412±67 · 4: 568±216 · 8: 496±104 · 16: 557±134"),
    ("Closeable channel, two-step", 2, "2: 220±16 · 4: 209±15 · 8: 214±16 · 16: 262±18 · 32: 258±19"),
    ("Closeable channel, two-step", 4, "2: 189±9 · 4: 172±9 · 8: 157±7 · 16: 170±8 · 32: 187±8"),
    ("Closeable channel, two-step", 8, "2: 193±10 · 4: 185±8 · 8: 190±8 · 16: 212±11"),
    ("Closeable channel, two-step", 10, "2: 219±24 · 4: 248±43 · 8: 436±334"),
];

/// The times in figure 13, in milliseconds. Each row has the object, the tester, and for each
/// number of threads, a mean and its interval.
const FIGURE_13: &[(&str, &str, &str)] = &[
    (
        "Synchronous channel",
        DIRECT,
        "2: 80±2 · 4: 82±2 · 8: 85±2 · 12: 92±1 · 16: 99±2 · 20: 104±1 · 24: 120±2 · 28: 132±2 · 32: 138±2",
    ),
    ("Synchronous channel", TWO_STEP, "2: 99±2 · 4: 107±1 · 8: 129±3 · 12: 192±18 · 16: 406±99 · 20: 3705±3686"),
    ("ABC", DIRECT, "6: 739±192 · 9: 516±73 · 12: 428±52 · 18: 437±44 · 21: 468±49 · 24: 481±45 · 30: 504±47"),
    ("ABC", TWO_STEP, "6: 1185±500 · 9: 650±92 · 12: 523±56 · 18: 1390±266 · 21: 6137±2375"),
    (
        "Exchanger",
        DIRECT,
        "4: 84±6 · 6: 72±2 · 8: 74±3 · 10: 75±1 · 12: 78±1 · 16: 85±1 · 20: 89±1 · 24: 95±1 · 28: 100±1 · 32: 111±2",
    ),
    ("Exchanger", TWO_STEP, "4: 119±6 · 6: 166±4 · 8: 512±24 · 10: 4368±521"),
    ("Barrier", DIRECT, "4: 79±1 · 6: 86±1 · 8: 92±1 · 10: 97±1 · 12: 103±1 · 16: 114±1 · 24: 134±2 · 32: 168±2"),
    ("Barrier", TWO_STEP, "4: 107±1 · 6: 165±1 · 8: 482±5 · 10: 4775±180"),
];

/// A mean and its interval, in milliseconds.
type Mean = (f64, f64);

/// The times in figure 14. Each row has the paper's name of the object, the catalog's name of the
/// object, the number of threads, the number of calls of each thread, and the mean times of the
/// direct and of the two-step tester.
const FIGURE_14: &[(&str, &str, u32, u32, Mean, Mean)] = &[
    ("synchronous channel", "sync-channel-faulty-no-wait", 4, 4, (85.0, 3.0), (109.0, 2.0)),
    ("filter channel", "filter-channel-faulty-no-filter", 4, 4, (77.0, 1.0), (108.0, 3.0)),
    ("men and women", "men-women-faulty-two-slots", 4, 4, (75.0, 1.0), (108.0, 4.0)),
    ("exchanger", "exchanger-faulty-no-third-stage", 8, 1, (73.0, 1.0), (511.0, 25.0)),
    ("channel with counter", "counter-channel-faulty-late-number", 4, 4, (94.0, 2.0), (106.0, 1.0)),
    ("two families", "two-families-faulty-late-read", 4, 2, (299.0, 34.0), (267.0, 25.0)),
    ("one family", "one-family-faulty-late-read", 4, 3, (336.0, 27.0), (437.0, 39.0)),
    ("ABC", "abc-faulty-late-read", 6, 4, (717.0, 225.0), (928.0, 216.0)),
    ("barrier", "barrier-faulty-no-rounds", 4, 4, (80.0, 1.0), (106.0, 1.0)),
    ("enrollable barrier", "enrollable-barrier-faulty-no-initial-wait", 4, 4, (132.0, 5.0), (149.0, 6.0)),
    ("timeout channel", "timeout-channel-faulty-one-flag", 4, 4, (121.0, 5.0), (135.0, 5.0)),
    ("timeout exchanger", "timeout-exchanger-faulty-third-joins", 8, 1, (288.0, 64.0), (231.0, 18.0)),
    ("closeable channel", "closeable-channel-faulty-old-library", 4, 4, (191.0, 11.0), (173.0, 9.0)),
    ("terminating queue", "terminating-queue-faulty-returns-at-once", 4, 4, (103.0, 1.0), (105.0, 1.0)),
];

/// The times in figure 15. Each row has the paper's name of the object, the catalog's name of the
/// object, the number of threads, the number of calls of each thread, and the mean time.
const FIGURE_15: &[(&str, &str, u32, u32, Mean)] = &[
    ("synchronous channel", "sync-channel-faulty-two-states", 4, 4, (323.0, 39.0)),
    ("filter channel", "filter-channel-faulty-two-states", 4, 4, (338.0, 50.0)),
    ("men and women", "men-women-faulty-notify-one", 4, 4, (232.0, 19.0)),
    ("one family", "one-family-faulty-early-look", 4, 3, (1098.0, 278.0)),
    ("ABC", "abc-faulty-lost-signal", 6, 4, (1080.0, 186.0)),
    ("barrier", "barrier-faulty-notify-one", 4, 4, (169.0, 3.0)),
];

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "sync-fig11",
        row: "S1",
        command: ("sync", "fig11"),
        paper: PAPER,
        title: "Figure 11: time to find a fault, by the iterations of each thread",
        about: "A faulty synchronous channel, ABC object and barrier, by the number of threads (p) and of calls of each \
                thread, with the direct tester and in two steps. Threads yield at 1 of 16 schedule points, because there are \
                fewer cores than in the paper. An observation ends after 20 s (quick: 2 s), and then counts as 20 s \
                (2 s). The times of the paper include about 75 ms in which the virtual machine starts.",
        chart: Chart::Lines,
        x: ("calls of each thread", true),
        y: ("milliseconds until the fault is found", true),
        points: |scale| sweep(scale, |panel| !panel.starts_with("Closeable")),
        observe: |point, scale, seed| {
            let object = match point.panel.split(',').next() {
                Some("ABC problem") => "abc-faulty-late-read",
                Some("Barrier") => "barrier-faulty-no-rounds",
                _ => "sync-channel-faulty-no-wait",
            };
            by_iterations(object, point, scale, seed)
        },
        repeats: true,
        most: MOST,
        quick_s: 65.0,
        shapes: &[
            Shape {
                rule: "about four calls are enough: with four calls, the direct tester finds each fault within 1.5 times the best time for the same number of threads, or within 20 ms",
                holds: four_calls,
            },
            Shape {
                rule: "ABC needs more than two calls: with 6 threads, two calls take longer than four",
                holds: |r| {
                    let time = |x: &str| r.mean("ABC problem, direct", "p = 6", x);
                    match (time("2"), time("4")) {
                        (Some(two), Some(four)) => {
                            Holds::when(two > four, format!("{two:.1} ms with two calls, {four:.1} ms with four"))
                        }
                        _ => missing(),
                    }
                },
            },
            Shape {
                rule: "in two steps, a barrier of 10 threads takes at least 5 times as long as one of 4",
                holds: |r| {
                    let time = |p: &str| r.mean("Barrier, two-step", p, "4");
                    match (time("p = 4"), time("p = 10")) {
                        (Some(few), Some(many)) => {
                            Holds::when(many >= 5.0 * few, format!("{few:.1} ms with 4, {many:.1} ms with 10"))
                        }
                        _ => missing(),
                    }
                },
            },
        ],
        why: Some(
            "Threads yield at one in 16 schedule points here, so a short run shows the fault of ABC, too: with two calls, \
             the fault takes about 1.6 times as many runs as with four, and each of these runs takes half the time.",
        ),
    },
    Experiment {
        id: "sync-fig12",
        row: "S2",
        command: ("sync", "fig12"),
        paper: PAPER,
        title: "Figure 12: time to find the fault of a closeable channel",
        about: "The closeable channel of an old version of the Scala Concurrency Library (SCL), tested as in figure 11.",
        chart: Chart::Lines,
        x: ("calls of each thread", true),
        y: ("milliseconds until the fault is found", true),
        points: |scale| sweep(scale, |panel| panel.starts_with("Closeable")),
        observe: |point, scale, seed| by_iterations("closeable-channel-faulty-old-library", point, scale, seed),
        repeats: true,
        most: MOST,
        quick_s: 30.0,
        shapes: &[Shape {
            rule: "the fault is found at each point, in at least half of the observations",
            holds: |r| {
                let missed: Vec<String> = observed(r)
                    .filter(|point| point.mean_of("found").unwrap_or(0.0) < 0.5)
                    .map(|point| format!("{}, {}, {} calls", point.panel, point.series, point.x))
                    .collect();
                Holds::when(missed.is_empty(), if missed.is_empty() { "all".to_owned() } else { missed.join("; ") })
            },
        }],
        why: None,
    },
    Experiment {
        id: "sync-fig13",
        row: "S3",
        command: ("sync", "fig13"),
        paper: PAPER,
        title: "Figure 13: time to find a fault, by the number of threads",
        about: "Four calls of each thread, or one for the exchanger. Everything else is as in figure 11.",
        chart: Chart::Lines,
        x: ("threads", false),
        y: ("milliseconds until the fault is found", true),
        points: |scale| {
            let all = FIGURE_13.iter().flat_map(|(panel, series, data)| of_paper(panel, series, data));
            let is_kept = |point: &Point| {
                scale == Scale::Full || !matches!(point.x.as_str(), "6" | "20" | "21" | "28") || point.panel == "ABC"
            };
            all.filter(is_kept).collect()
        },
        observe: |point, scale, seed| {
            let (object, calls) = match point.panel.as_str() {
                "ABC" => ("abc-faulty-late-read", 4),
                "Exchanger" => ("exchanger-faulty-no-third-stage", 1),
                "Barrier" => ("barrier-faulty-no-rounds", 4),
                _ => ("sync-channel-faulty-no-wait", 4),
            };
            by(object, point.number(), calls, point.series == TWO_STEP, scale, seed)
        },
        repeats: true,
        most: MOST,
        quick_s: 60.0,
        shapes: &[
            Shape {
                rule: "with the most threads, the direct tester finds the fault in less than 1 s, for channel, exchanger and barrier",
                holds: |r| {
                    let last: Vec<(&str, f64)> = ["Synchronous channel", "Exchanger", "Barrier"]
                        .iter()
                        .filter_map(|panel| Some((*panel, r.series(panel, DIRECT).last()?.summary().mean)))
                        .collect();
                    Holds::when(last.len() == 3 && last.iter().all(|(_, ms)| *ms < 1000.0), format!("{last:.1?}"))
                },
            },
            Shape {
                rule: "in two steps, 10 threads take at least 5 times as long as 4, for exchanger and barrier",
                holds: |r| {
                    let grown: Vec<(&str, f64)> = ["Exchanger", "Barrier"]
                        .iter()
                        .filter_map(|panel| {
                            Some((*panel, r.mean(panel, TWO_STEP, "10")? / r.mean(panel, TWO_STEP, "4")?))
                        })
                        .collect();
                    Holds::when(
                        grown.len() == 2 && grown.iter().all(|(_, grown)| *grown >= 5.0),
                        format!("{grown:.1?}"),
                    )
                },
            },
        ],
        why: Some(
            "With 4 threads, most of the time is spent on running the exchanger, not on judging: the direct tester takes \
             two thirds of it. The time that the second step adds grows by a factor of 5.",
        ),
    },
    Experiment {
        id: "sync-fig14",
        row: "S4",
        command: ("sync", "fig14"),
        paper: PAPER,
        title: "Figure 14: time to find each safety fault",
        about: "With the threads and calls of the paper, without chaos: `direct` and `two-step` as in the paper. `trueline` is \
                the default of this crate, which adds chaos. A test ends after 20 s (quick: 3 s). The times of the paper \
                include about 75 ms in which the virtual machine starts.",
        chart: Chart::Rows,
        x: ("", false),
        y: ("milliseconds until the fault is found", true),
        points: |_| {
            FIGURE_14
                .iter()
                .flat_map(|(name, _, _, _, direct, two)| {
                    [
                        Point::new("", DIRECT, name).paper(direct.0, direct.1),
                        Point::new("", TWO_STEP, name).paper(two.0, two.1),
                        Point::new("", AUTO, name),
                    ]
                })
                .collect()
        },
        observe: |point, scale, seed| {
            let (_, object, threads, calls, ..) =
                FIGURE_14.iter().find(|row| row.0 == point.x).expect("the name of a point is the name of a row");
            let most = Duration::from_secs(scale.pick(3, 20));
            match point.series.as_str() {
                AUTO => find(&plan(object, &Settings::default()).seed(seed), most),
                series => {
                    let test = plan(object, &Settings { threads: Some(*threads), ..Settings::default() });
                    find(
                        &tested(test.seed(seed).threads(*threads).calls(*calls).chaos(0), series == TWO_STEP, most),
                        most,
                    )
                }
            }
        },
        repeats: true,
        most: MOST,
        quick_s: 65.0,
        shapes: &[
            Shape {
                rule: "the default finds each fault, in each observation, in less than 1 s on average",
                holds: |r| {
                    let slow: Vec<&str> = FIGURE_14
                        .iter()
                        .map(|row| row.0)
                        .filter(|name| {
                            r.point("", AUTO, name).is_none_or(|point| {
                                point.summary().mean >= 1000.0 || point.mean_of("found").unwrap_or(0.0) < 0.999
                            })
                        })
                        .collect();
                    Holds::when(
                        slow.is_empty(),
                        if slow.is_empty() { "all".to_owned() } else { format!("not {}", slow.join(", ")) },
                    )
                },
            },
            Shape {
                rule: "the direct tester is usually faster than two steps: for at least half of the objects",
                holds: |r| {
                    let both: Vec<bool> = FIGURE_14
                        .iter()
                        .filter_map(|row| Some(r.mean("", DIRECT, row.0)? <= r.mean("", TWO_STEP, row.0)?))
                        .collect();
                    let faster = both.iter().filter(|faster| **faster).count();
                    if both.is_empty() {
                        missing()
                    } else {
                        Holds::when(2 * faster >= both.len(), format!("{faster} of {}", both.len()))
                    }
                },
            },
        ],
        why: None,
    },
    Experiment {
        id: "sync-fig15",
        row: "S5",
        command: ("sync", "fig15"),
        paper: PAPER,
        title: "Figure 15: time to find each progress fault",
        about: "Threads make arbitrary calls. `interrupted after 100 ms` follows the paper: a run in which no thread has made \
                progress for 100 ms is interrupted, and it is judged whether a call should have returned. `trueline` \
                is the default of this crate, which detects that all threads are blocked, and does not wait. The \
                barrier is faulty because it wakes one thread instead of all. A test ends after 20 s (quick: 4 s).",
        chart: Chart::Rows,
        x: ("", false),
        y: ("milliseconds until the fault is found", true),
        points: |_| {
            FIGURE_15
                .iter()
                .flat_map(|(name, _, _, _, mean)| {
                    [Point::new("", TIMED, name).paper(mean.0, mean.1), Point::new("", AUTO, name)]
                })
                .collect()
        },
        observe: |point, scale, seed| {
            let (_, object, threads, calls, _) =
                FIGURE_15.iter().find(|row| row.0 == point.x).expect("the name of a point is the name of a row");
            let most = Duration::from_secs(scale.pick(4, 20));
            let settings = Settings { threads: Some(*threads), progress: true, ..Settings::default() };
            match point.series.as_str() {
                AUTO => find(
                    &plan(object, &Settings { progress: true, ..Settings::default() }).without_helpers().seed(seed),
                    most,
                ),
                _ => stuck(&plan(object, &settings).threads(*threads).calls(*calls).watchdog(INTERRUPT), seed, most),
            }
        },
        repeats: true,
        most: MOST,
        quick_s: 50.0,
        shapes: &[
            Shape {
                rule: "the default finds each fault, in each observation, in less than 1 s on average",
                holds: |r| {
                    let slow: Vec<&str> = FIGURE_15
                        .iter()
                        .map(|row| row.0)
                        .filter(|name| {
                            r.point("", AUTO, name).is_none_or(|point| {
                                point.summary().mean >= 1000.0 || point.mean_of("found").unwrap_or(0.0) < 0.999
                            })
                        })
                        .collect();
                    Holds::when(
                        slow.is_empty(),
                        if slow.is_empty() { "all".to_owned() } else { format!("not {}", slow.join(", ")) },
                    )
                },
            },
            Shape {
                rule: "for each object, interrupting takes at least the 100 ms of the timeout",
                holds: |r| {
                    let least = r
                        .points
                        .iter()
                        .filter(|point| point.series == TIMED && !point.observations.is_empty())
                        .map(|point| point.summary().mean)
                        .reduce(f64::min);
                    least.map_or_else(missing, |least| Holds::when(least >= 100.0, format!("at least {least:.0} ms")))
                },
            },
        ],
        why: None,
    },
    Experiment {
        id: "sync-timeout",
        row: "S6",
        command: ("sync", "timeout"),
        paper: PAPER,
        title: "Section 9: false alarms of the time-out",
        about: "Correct objects, 4 threads with 4 arbitrary calls each. A run without progress for this time is \
                interrupted. If the judge then finds that a call should have returned, this is a false alarm. The \
                paper, on 8 cores, had some false alarms at 80 ms and none at 100 ms. 1,000 runs for each observation \
                (quick: 20).",
        chart: Chart::Lines,
        x: ("time-out in milliseconds", true),
        y: ("false alarms in 1,000 runs", false),
        points: |scale| {
            let delays: &[u32] = scale.pick(&[1, 5, 20, 100], &[1, 2, 5, 10, 20, 50, 80, 100]);
            let objects = ["sync-channel", "exchanger", "men-women", "barrier"];
            objects.iter().flat_map(|object| delays.iter().map(move |delay| Point::new("", object, delay))).collect()
        },
        observe: |point, scale, seed| {
            let delay = Duration::from_millis(point.number());
            let settings = Settings { threads: Some(4), progress: true, ..Settings::default() };
            let test = plan(&point.series, &settings).threads(4).calls(4).chaos(0).watchdog(delay);
            let runs = scale.pick(20, 1000);
            let mut runner = Runner::new();
            let alarms = (0..runs).filter(|run| is_stuck(&test, &mut runner, seed * 100_000 + run)).count();
            #[expect(clippy::cast_precision_loss, reason = "there are few runs")]
            Observation::of(alarms as f64 * 1000.0 / runs as f64)
        },
        repeats: true,
        most: 3,
        quick_s: 40.0,
        shapes: &[Shape {
            rule: "a time-out of 100 ms causes no false alarms",
            holds: |r| {
                let at: Vec<_> = observed(r).filter(|point| point.x == "100").collect();
                let alarms: f64 = at.iter().map(|point| point.summary().mean).sum();
                if at.is_empty() { missing() } else { Holds::when(alarms < 1e-9, format!("{alarms} in 1,000")) }
            },
        }],
        why: None,
    },
    Experiment {
        id: "sync-asap",
        row: "S7",
        command: ("sync", "asap"),
        paper: PAPER,
        title: "Section 7.1.1: synchronizing as soon as possible",
        about: "Recorded runs of correct objects with a state, 4 threads with 6 calls each, judged by search: synchronizations are tried at any time, as soon as possible (the paper's reduction, which saves up to 30 % there), \
                or just in time (the default of this crate). Each observation judges 1,000 histories (quick: 200).",
        chart: Chart::Rows,
        x: ("", false),
        y: ("milliseconds of judging for 1,000 histories", true),
        points: |_| {
            let objects = ["counter channel", "one family", "two families", "closeable channel", "ABC"];
            objects
                .iter()
                .flat_map(|object| DISCIPLINES.iter().map(move |(name, _)| Point::new("", name, object)))
                .collect()
        },
        observe: asap,
        repeats: true,
        most: 20,
        quick_s: 20.0,
        shapes: &[Shape {
            rule: "synchronizing as soon as possible takes less time than synchronizing at any time, over all objects",
            holds: |r| {
                let sum = |series: &str| r.series("", series).map(|point| point.summary().mean).sum::<f64>();
                let (any, soon) = (sum(DISCIPLINES[0].0), sum(DISCIPLINES[1].0));
                if any == 0.0 {
                    missing()
                } else {
                    Holds::when(soon < any, format!("{soon:.1} ms, {any:.1} ms at any time"))
                }
            },
        }],
        why: None,
    },
    Experiment {
        id: "sync-complexity",
        row: "S8",
        command: ("sync", "complexity"),
        paper: PAPER,
        title: "Section 7: complexity of the testers",
        about: "Simulated histories, in milliseconds of judging. The paper gives O(n²) for binary synchronizations without a state \
                (channel, by matching) and O(n⁴) for homogeneous ones (exchanger, by matching); with a state, or with \
                more than two parties, the problem is NP-complete; the histories for these cases have n overlapping \
                calls, and one wrong result. A search ends after 10 s.",
        chart: Chart::Lines,
        x: ("operations", true),
        y: ("milliseconds", true),
        points: |scale| {
            let long: &[usize] = scale.pick(&[1000, 4000, 16_000], &[1000, 2000, 4000, 8000, 16_000, 32_000]);
            let short: &[usize] = &[6, 8, 10, 12, 14];
            let threes: &[usize] = &[6, 9, 12, 15];
            let of = |series: &'static str, xs: &'static [usize]| xs.iter().map(move |x| Point::new("", series, x));
            of(BINARY, long).chain(of(HOMOGENEOUS, long)).chain(of(STATEFUL, short)).chain(of(THREE, threes)).collect()
        },
        observe: complexity,
        repeats: true,
        most: 10,
        quick_s: 25.0,
        shapes: &[
            Shape { rule: "binary: the exponent is at most 2.2", holds: |r| exponent_at_most(r, BINARY, 2.2) },
            Shape {
                rule: "homogeneous: the exponent is at most 4.2",
                holds: |r| exponent_at_most(r, HOMOGENEOUS, 4.2),
            },
            Shape {
                rule: "with a state, time grows faster than n⁴",
                holds: |r| {
                    let points: Vec<(f64, f64)> = line(r, STATEFUL);
                    if points.len() < 3 {
                        return missing();
                    }
                    let exponent = exponent(&points);
                    Holds::when(exponent > 4.0, format!("exponent {exponent:.2}"))
                },
            },
        ],
        why: None,
    },
    Experiment {
        id: "sync-display",
        row: "S9",
        command: ("sync", "display"),
        paper: PAPER,
        title: "Figures 8 and 9: what the tester says about two histories",
        about: "The history of figure 8 is rejected because a call of the exchanger returned 58, and could only have returned \
                70. In figure 9, the second send and the second receive should have synchronized.",
        chart: Chart::Facts,
        x: ("", false),
        y: ("1 if true, otherwise 0", false),
        points: |_| {
            ["figure 8: 70 was allowed", "figure 9: the second send and receive synchronized"]
                .iter()
                .map(|x| Point::new("", "holds", x).paper(1.0, None))
                .collect()
        },
        observe: |point, _, _| {
            Observation::of(f64::from(u8::from(if point.x.starts_with("figure 8") { figure_8() } else { figure_9() })))
        },
        repeats: false,
        most: 1,
        quick_s: 1.0,
        shapes: &[Shape { rule: "both facts are as in the paper", holds: |r| super::equals_paper(r) }],
        why: None,
    },
];

const INTERRUPT: Duration = Duration::from_millis(100);
const DISCIPLINES: [(&str, Discipline); 3] = [
    ("at any time", Discipline::Anytime),
    ("as soon as possible", Discipline::AsSoonAsPossible),
    ("just in time", Discipline::JustInTime),
];
const BINARY: &str = "binary: channel";
const HOMOGENEOUS: &str = "homogeneous: exchanger";
const STATEFUL: &str = "with a state: counter channel";
const THREE: &str = "three parties: ABC";

fn missing() -> Holds {
    Holds::not_testable("not measured yet")
}

fn observed(results: &Results) -> impl Iterator<Item = &super::results::PointResults> {
    results.points.iter().filter(|point| !point.observations.is_empty())
}

fn line(results: &Results, series: &str) -> Vec<(f64, f64)> {
    results.series("", series).map(|point| (point.x.parse().unwrap_or(1.0), point.summary().mean)).collect()
}

fn exponent_at_most(results: &Results, series: &str, most: f64) -> Holds {
    let points = line(results, series);
    if points.len() < 3 {
        return missing();
    }
    let exponent = exponent(&points);
    Holds::when(exponent <= most, format!("exponent {exponent:.2}"))
}

/// Parses a series of the paper. In `data`, each point has the form `x: mean±interval`, and the
/// points are separated by `·`.
fn of_paper(panel: &str, series: &str, data: &str) -> Vec<Point> {
    let point = |text: &str| {
        let (x, rest) = text.trim().split_once(": ")?;
        let (mean, around) = rest.split_once('±')?;
        Some(Point::new(panel, series, x).paper(mean.parse().ok()?, around.parse::<f64>().ok()))
    };
    data.split('·').map(|text| point(text).expect("the numbers of the paper can be read")).collect()
}

/// Returns the points of figures 11 and 12.
fn sweep(scale: Scale, is_chosen: impl Fn(&str) -> bool) -> Vec<Point> {
    let rows = FIGURES_11_12.iter().filter(|(panel, ..)| is_chosen(panel));
    let all = rows.flat_map(|(panel, threads, data)| of_paper(panel, &format!("p = {threads}"), data));
    all.filter(|point| scale == Scale::Full || matches!(point.x.as_str(), "2" | "4" | "16")).collect()
}

/// Selects the direct or the two-step tester for a test.
fn tested(plan: Plan, is_two_step: bool, most: Duration) -> Plan {
    let algorithm = if is_two_step { Algorithm::JustInTimeGraph } else { Algorithm::Auto };
    plan.without_helpers().algorithm(algorithm).timeout(most)
}

fn by(object: &str, threads: u32, calls: u32, is_two_step: bool, scale: Scale, seed: u64) -> Observation {
    let most = Duration::from_secs(scale.pick(2, 20));
    let test = plan(object, &Settings { threads: Some(threads), ..Settings::default() });
    let test = test.seed(seed).threads(threads).calls(calls).chaos(16);
    let found = find(&tested(test, is_two_step, most), most);
    Observation { value: found.value.min(most.as_secs_f64() * 1e3), ..found }
}

fn by_iterations(object: &str, point: &Point, scale: Scale, seed: u64) -> Observation {
    let threads = point.series.trim_start_matches("p = ").parse().expect("the name of a series is a number of threads");
    by(object, threads, point.number(), point.panel.ends_with(TWO_STEP), scale, seed)
}

fn four_calls(results: &Results) -> Holds {
    let mut bad = Vec::new();
    let mut all = 0;
    for (panel, threads, _) in
        FIGURES_11_12.iter().filter(|(panel, ..)| panel.ends_with("direct") && !panel.starts_with("Closeable"))
    {
        let series = format!("p = {threads}");
        let Some(four) = results.mean(panel, &series, "4") else { continue };
        let best = results.series(panel, &series).map(|point| point.summary().mean).fold(f64::INFINITY, f64::min);
        all += 1;
        if four > 1.5 * best && four > 20.0 {
            bad.push(format!("{panel}, {series}: {four:.1} ms, at best {best:.1} ms"));
        }
    }
    match all {
        0 => missing(),
        _ => Holds::when(bad.is_empty(), if bad.is_empty() { format!("all {all}") } else { bad.join("; ") }),
    }
}

/// Runs the test once. Returns whether an operation did not return although it should have
/// returned.
fn is_stuck(test: &Plan, runner: &mut Runner, seed: u64) -> bool {
    // The thread that is spawned here is not part of the test, so the runner must assume that this
    // thread may wake threads of the test. Therefore only the timeout ends a run that is stuck.
    static OTHER: Once = Once::new();
    OTHER.call_once(|| {
        drop(thread::spawn(|| {
            loop {
                thread::park()
            }
        }))
    });
    let seen = test.record(runner, seed);
    matches!(test.progress(&seen.history, &Budget::unlimited()), Some(ProgressVerdict::Rejected(_)))
}

/// Runs the test repeatedly, until an operation does not return although it should have returned,
/// or until the time is over.
fn stuck(test: &Plan, seed: u64, most: Duration) -> Observation {
    let started = Instant::now();
    let mut runner = Runner::new();
    let found =
        (0..).take_while(|_| started.elapsed() < most).any(|run| is_stuck(test, &mut runner, seed * 1_000_003 + run));
    Observation::of(started.elapsed().as_secs_f64() * 1e3).with("found", f64::from(u8::from(found)))
}

fn number(value: &Value) -> u64 {
    u64::from_value(value).expect("the value is a number")
}

fn small(value: &Value) -> u32 {
    u32::from_value(value).expect("the value is a small number")
}

/// Records runs of an object of the catalog, and judges them. Returns the time for judging 1,000
/// runs, in milliseconds.
#[expect(clippy::cast_precision_loss, reason = "there are few runs")]
fn judging<S: SyncSpec>(
    spec: &S,
    object: &str,
    discipline: Discipline,
    (runs, threads): (u64, u32),
    seed: u64,
    op: impl Fn(&Call) -> S::Op,
    ret: impl Fn(&Call, &Value) -> S::Ret,
) -> Observation {
    let test = plan(object, &Settings { threads: Some(threads), ..Settings::default() }).threads(threads).calls(6);
    let mut runner = Runner::new();
    let histories: Vec<History<S::Op, S::Ret>> = (0..runs)
        .map(|run| test.record(&mut runner, seed * 1_000_003 + run).history)
        .map(|history| {
            history.map(|operation| (op(&operation.op), operation.outcome.map(|result| ret(&operation.op, result))))
        })
        .collect();
    let started = Instant::now();
    for history in &histories {
        let verdict = check(spec, history, SyncAlgorithm::Search(discipline), &Budget::unlimited()).verdict;
        assert!(verdict.is_accepted(), "{object} is correct");
    }
    Observation::of(started.elapsed().as_secs_f64() * 1e6 / runs as f64)
}

fn asap(point: &Point, scale: Scale, seed: u64) -> Observation {
    let discipline = DISCIPLINES
        .iter()
        .find(|(name, _)| *name == point.series)
        .expect("the name of a series is the name of a discipline")
        .1;
    let runs = scale.pick(200, 1000);
    match point.x.as_str() {
        "counter channel" => judging(
            &CounterChannel::new(),
            "counter-channel",
            discipline,
            (runs, 4),
            seed,
            |call| if call.operation == 0 { ChannelOp::Send(number(&call.argument)) } else { ChannelOp::Receive },
            |call, result| match call.operation {
                0 => CounterChannelRet::Sent(number(result)),
                _ => {
                    let (value, count) = <(u64, u64)>::from_value(result).expect("the value is a pair");
                    CounterChannelRet::Received(value, count)
                }
            },
        ),
        "one family" => judging(
            &OneFamily,
            "one-family",
            discipline,
            (runs, 4),
            seed,
            |call| small(&call.argument),
            |_, result| small(result),
        ),
        "two families" => judging(
            &TwoFamilies,
            "two-families",
            discipline,
            (runs, 4),
            seed,
            |call| match call.operation {
                0 => TwoFamiliesOp::A(small(&call.argument)),
                _ => TwoFamiliesOp::B(small(&call.argument)),
            },
            |_, result| small(result),
        ),
        "ABC" => judging(
            &Abc,
            "abc",
            discipline,
            (runs, 6),
            seed,
            |call| {
                let me = number(&call.argument);
                [AbcOp::A(me), AbcOp::B(me), AbcOp::C(me)][call.operation as usize]
            },
            |_, result| <(u64, u64)>::from_value(result).expect("the value is a pair"),
        ),
        _ => judging(
            &CloseableChannel::new(),
            "closeable-channel",
            discipline,
            (runs, 4),
            seed,
            |call| match call.operation {
                0 => CloseableChannelOp::Send(number(&call.argument)),
                1 => CloseableChannelOp::Receive,
                _ => CloseableChannelOp::Close,
            },
            |call, result| match call.operation {
                0 => CloseableChannelRet::Sent(bool::from_value(result).expect("the value is a boolean")),
                1 => CloseableChannelRet::Received(
                    Option::<u64>::from_value(result).expect("the value is a number or null"),
                ),
                _ => CloseableChannelRet::Closed,
            },
        ),
    }
}

fn timed<S: SyncSpec>(spec: &S, history: &History<S::Op, S::Ret>, algorithm: SyncAlgorithm) -> Observation {
    let budget = Budget::unlimited().time(Duration::from_secs(10)).memory(2 << 30);
    let started = Instant::now();
    let verdict = check(spec, history, algorithm, &budget).verdict;
    let ms = started.elapsed().as_secs_f64() * 1e3;
    Observation::of(ms).with("undecided", f64::from(u8::from(matches!(verdict, Verdict::Unknown(_)))))
}

fn complexity(point: &Point, _: Scale, seed: u64) -> Observation {
    let operations: usize = point.number();
    let clients = u32::try_from(operations).expect("the number of clients fits in 32 bits");
    let channel = |random: &mut trueline::drive::Random, process: u32| match process % 2 {
        0 => ChannelOp::Send(random.below(100)),
        _ => ChannelOp::Receive,
    };
    let searching = SyncAlgorithm::Search(Discipline::JustInTime);
    match point.series.as_str() {
        BINARY => {
            let spec = Channel::new();
            timed(
                &spec,
                &history::<Channel<u32>>(simulate(&spec, operations, 16, seed, channel)),
                SyncAlgorithm::Matching,
            )
        }
        HOMOGENEOUS => {
            let spec = Exchanger::new();
            let events = simulate(&spec, operations, 16, seed, |random, _| random.below(3));
            timed(&spec, &history::<Exchanger<u32>>(events), SyncAlgorithm::Matching)
        }
        STATEFUL => {
            let spec = CounterChannel::new();
            let events = spoil(together(simulate(&spec, operations, clients, seed, channel)));
            timed(&spec, &history::<CounterChannel<u32>>(events), searching)
        }
        _ => {
            let events = simulate(&Abc, operations, clients, seed, |random, process| {
                let me = u64::from(random.below(100));
                [AbcOp::A(me), AbcOp::B(me), AbcOp::C(me)][process as usize % 3]
            });
            timed(&Abc, &history::<Abc>(spoil(together(events))), searching)
        }
    }
}

/// Moves all calls before all returns, so that all operations overlap, and assigns each operation
/// to a separate process.
fn together<S: SyncSpec>(events: Vec<Event<S>>) -> Vec<Event<S>> {
    let (mut calls, mut returns, mut own) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (number, event) in (0..).zip(events) {
        match event {
            Event::Call(process, op) => {
                own.insert(process, number);
                calls.push(Event::Call(number, op));
            }
            Event::Return(process, result) => returns.push(Event::Return(own[&process], result)),
        }
    }
    calls.extend(returns);
    calls
}

fn figure_8() -> bool {
    let mut builder = History::builder();
    let steps = [
        (0, 13, false),
        (1, 70, false),
        (1, 13, true),
        (2, 76, false),
        (3, 58, false),
        (3, 76, true),
        (2, 58, true),
        (0, 58, true),
    ];
    for (process, value, is_return) in steps {
        let added =
            if is_return { builder.ret(process, value).map(|_| ()) } else { builder.call(process, value).map(|_| ()) };
        added.expect("the figure is well formed");
    }
    let judgment = check(&Exchanger::new(), &builder.finish(), SyncAlgorithm::Auto, &Budget::unlimited());
    judgment.verdict.evidence().is_some_and(|evidence| evidence.allowed == [70])
}

fn figure_9() -> bool {
    let mut builder = History::builder();
    let calls = [ChannelOp::Send(48), ChannelOp::Receive, ChannelOp::Send(92), ChannelOp::Receive];
    for (process, op) in (0..).zip(calls) {
        builder.call(process, op).expect("the figure is well formed");
    }
    builder.ret(1, ChannelRet::Value(48)).expect("the process has called");
    builder.ret(0, ChannelRet::Done).expect("the process has called");
    match progress(&Channel::new(), &builder.finish(), SyncAlgorithm::Auto, &Budget::unlimited()) {
        ProgressVerdict::Rejected(evidence) => evidence.anticipated == [[OpId(2), OpId(3)]],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_the_paper_are_read() {
        let points = of_paper("p", "s", FIGURES_11_12[7].2);
        assert_eq!(points[0].paper, Some((63_148.0, Some(21_760.0))));
        assert_eq!(points.len(), 5);
        assert!(figure_8() && figure_9());
    }
}

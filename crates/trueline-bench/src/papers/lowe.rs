//! G. Lowe, *Testing for linearizability* (2016).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use trueline::drive::{Call, Clock, End, Runner};
use trueline::history::{Argument, History, Outcome, Value};
use trueline::judge::{Algorithm, Budget, Config, check};
use trueline::spec::{Queue, QueueOp, QueueRet};
use trueline::test::Plan;
use trueline::verdict::Verdict;
use trueline_objects::catalog::Settings;

use super::experiment::{Experiment, Holds, Point, Scale, Shape};
use super::finding::{
    self, AUTO, JIT_GRAPH, JIT_JIT, JIT_TREE, QUEUE_ORIENTED, WG_GRAPH, WG_JIT, WG_TREE, find, judged_by, plan, runs,
};
use super::results::{Chart, Observation, Results};
use super::runner::MOST;
use super::statistics::{exponent, median};

const PAPER: &str = "G. Lowe, Testing for linearizability";

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "lowe-fig4-map",
        row: "L1",
        command: ("lowe", "fig4"),
        paper: PAPER,
        title: "Figure 4, left: testers of a map, by the length of runs",
        about: "4 threads call `get`, `put`, `delete` and `get-or-insert` of a sharded map, equally often, with 20 \
                keys and 4 values. Each observation has the same number of operations, 2^18 by each thread (quick: \
                2^13), in runs of the length on the horizontal axis, and is the time to make and judge all of them. \
                The testers of the paper judge the map as a whole; `trueline` is the default of this crate, which \
                judges each key separately.",
        chart: Chart::Lines,
        x: ("operations of each thread in a run", true),
        y: ("seconds per observation", true),
        points: |scale| lengths(scale, &[WG_GRAPH, JIT_GRAPH, WG_JIT, JIT_JIT, AUTO]),
        observe: |point, scale, seed| {
            let calls: u32 = point.number();
            let map = plan("sharded-map", &settings(20, 4)).threads(4).calls(calls);
            runs(&map, &point.series, per_observation(scale, calls), seed, JUDGING)
        },
        repeats: true,
        most: MOST,
        quick_s: 45.0,
        shapes: &[
            Shape {
                rule: "short runs cost more: each tester is slower at the shortest runs than at its best",
                holds: falls,
            },
            Shape {
                rule: "long runs cost more for Wing and Gong's graph search: it is slower at the longest runs than at its best",
                holds: rises,
            },
            Shape {
                rule: "at its best, the JIT-JIT competition is not slower than the other testers of the paper by more than 15 %",
                holds: |r| best_is(r, JIT_JIT, &[WG_GRAPH, JIT_GRAPH, WG_JIT], 1.15),
            },
            Shape {
                rule: "JIT graph is not slower than WG graph at the longest runs",
                holds: |r| last_at_most(r, JIT_GRAPH, WG_GRAPH, 1.05),
            },
            Shape {
                rule: "the tree search wins 20 to 95 % of the competitions around the best length",
                holds: |r| tree_wins(r, 0.2, 0.95),
            },
        ],
        why: Some(
            "A competition pays for two searches of each run, and for the threads that make them. In the paper, that pays off, \
             because either search alone sometimes takes much longer than the other. Here the just-in-time graph search \
             rarely backtracks, and the set that it keeps costs little, so that it decides nearly every run about as fast as \
             the faster of the two.",
        ),
    },
    Experiment {
        id: "lowe-fig4-queue",
        row: "L2",
        command: ("lowe", "fig4"),
        paper: PAPER,
        title: "Figure 4, right: testers of a queue, by the length of runs",
        about: "4 threads call a Michael-Scott queue: 3 of 10 calls enqueue one of 20 values. Everything else is as \
                for the map.",
        chart: Chart::Lines,
        x: ("operations of each thread in a run", true),
        y: ("seconds per observation", true),
        points: |scale| lengths(scale, &[QUEUE_ORIENTED, WG_GRAPH, JIT_GRAPH, WG_JIT, JIT_JIT, AUTO]),
        observe: |point, scale, seed| {
            let calls: u32 = point.number();
            runs(&queue(3).calls(calls), &point.series, per_observation(scale, calls), seed, JUDGING)
        },
        repeats: true,
        most: MOST,
        quick_s: 50.0,
        shapes: &[
            Shape {
                rule: "at its best, the queue-oriented tester is the fastest of the paper's testers (within 5 %)",
                holds: |r| best_is(r, QUEUE_ORIENTED, &[WG_GRAPH, JIT_GRAPH, WG_JIT, JIT_JIT], 1.05),
            },
            Shape {
                rule: "JIT graph is not slower than WG graph at the longest runs",
                holds: |r| last_at_most(r, JIT_GRAPH, WG_GRAPH, 1.05),
            },
            Shape {
                rule: "short runs cost more: each tester is slower at the shortest runs than at its best",
                holds: falls,
            },
            Shape {
                rule: "the tree search wins at least 90 % of the competitions around the best length",
                holds: |r| tree_wins(r, 0.9, 1.0),
            },
        ],
        why: None,
    },
    Experiment {
        id: "lowe-fig5-keys",
        row: "L3",
        command: ("lowe", "fig5"),
        paper: PAPER,
        title: "Figure 5, left: testers of a map, by the number of keys",
        about: "4 threads with 2^11 operations each, 2^7 runs in an observation (quick: 2). The map is judged as a whole.",
        chart: Chart::Lines,
        x: ("keys", true),
        y: ("seconds per observation", true),
        points: |scale| {
            let keys: &[u32] = scale.pick(&[5, 20, 80, 320], &[5, 10, 20, 40, 80, 160, 320]);
            grid(&[WG_GRAPH, JIT_GRAPH, WG_JIT, JIT_JIT, AUTO], keys.iter())
        },
        observe: |point, scale, seed| {
            let map = plan("sharded-map", &settings(point.number(), 4)).threads(4).calls(2048);
            runs(&map, &point.series, scale.pick(2, 128), seed, JUDGING)
        },
        repeats: true,
        most: MOST,
        quick_s: 30.0,
        shapes: &[
            Shape {
                rule: "the competitions do not slow down with the number of keys: the most keys take at most 1.5 times as long as the fewest",
                holds: competitions_are_flat,
            },
            Shape {
                rule: "graph searches slow down with the number of keys: the most keys take at least 1.2 times as long as the fewest",
                holds: graphs_slow_down,
            },
        ],
        why: Some(
            "In the paper, the graph searches clone the map at each step, at a cost proportional to the number of keys, while \
             the tree searches of the competitions undo their steps in place. Here all testers use the same specification, a \
             trie that shares structure: a step copies the nodes on the path to a key, and this path is longer if there are \
             more keys. So graph searches slow down less than in the paper, and competitions as much as graph searches.",
        ),
    },
    Experiment {
        id: "lowe-fig5-enqueues",
        row: "L4",
        command: ("lowe", "fig5"),
        paper: PAPER,
        title: "Figure 5, right: testers of a queue, by the share of enqueues",
        about: "4 threads with 2^11 operations each, 2^7 runs in an observation (quick: 2). A generic search that \
                reaches the limit of the paper on iterations (1.3 million for WG graph, 3 million for JIT graph) leaves \
                the run undecided. An observation ends after 30 s; its time is then extrapolated from the runs that it made.",
        chart: Chart::Lines,
        x: ("share of enqueues", false),
        y: ("seconds per observation", true),
        points: |scale| {
            let tenths: &[u32] = scale.pick(&[0, 2, 3, 4, 5, 7, 10], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
            grid(
                &[QUEUE_ORIENTED, WG_GRAPH, JIT_GRAPH, JIT_JIT, AUTO],
                tenths.iter().map(|tenths| f64::from(*tenths) / 10.0),
            )
        },
        observe: |point, scale, seed| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "tenths")]
            let tenths = (point.number::<f64>() * 10.0).round() as u32;
            runs(&queue(tenths).calls(2048), &point.series, scale.pick(2, 128), seed, scale.pick(4, 20) * SECOND)
        },
        repeats: true,
        most: MOST,
        quick_s: 50.0,
        shapes: &[
            Shape {
                rule: "the queue-oriented tester decides all runs, whatever the share",
                holds: |r| undecided(r, QUEUE_ORIENTED, |_| true, false),
            },
            Shape { rule: "the queue-oriented tester is slowest at a share between the ends", holds: slowest_between },
            Shape {
                rule: "generic graph searches reach their limit at some share of 0.4 or more",
                holds: |r| undecided(r, JIT_GRAPH, |x| x >= 0.39, true),
            },
        ],
        why: None,
    },
    Experiment {
        id: "lowe-parallel",
        row: "L5",
        command: ("lowe", "parallel"),
        paper: PAPER,
        title: "Section 6: several queue-oriented testers in parallel",
        about: "n testers share 840 runs (quick: 60) of 4 threads with 2^11 operations each, half of them enqueues. \
                The machine of the paper has 8 cores, and is fastest with 5 testers, about 3 times as fast as with one.",
        chart: Chart::Lines,
        x: ("testers", false),
        y: ("seconds per observation", false),
        points: |scale| {
            let testers: &[u32] = scale.pick(&[1, 2, 3, 4, 6], &[1, 2, 3, 4, 5, 6, 7, 8]);
            grid(&[QUEUE_ORIENTED], testers.iter())
        },
        observe: parallel,
        repeats: true,
        most: MOST,
        quick_s: 30.0,
        shapes: &[
            Shape {
                rule: "two testers are faster than one (at most 0.9 of the time)",
                holds: |r| ratio(r, "", QUEUE_ORIENTED, "2", "1", 0.0, 0.9),
            },
            Shape {
                rule: "more testers than cores do not help: with the most testers, it takes at least 0.8 of the best time",
                holds: |r| {
                    let means: Vec<f64> = r.series("", QUEUE_ORIENTED).map(|point| point.summary().mean).collect();
                    let (Some(last), Some(best)) = (means.last(), means.iter().copied().reduce(f64::min)) else {
                        return missing();
                    };
                    Holds::when(*last >= 0.8 * best, format!("{last:.2} s with the most testers, {best:.2} s at best"))
                },
            },
            Shape {
                rule: "5 testers are about 3 times as fast as one (needs 8 cores)",
                holds: |r| match r.machine.cores {
                    0..8 => Holds::not_testable(format!("{} cores", r.machine.cores)),
                    _ => ratio(r, "", QUEUE_ORIENTED, "5", "1", 0.0, 0.5),
                },
            },
        ],
        why: None,
    },
    Experiment {
        id: "lowe-trees",
        row: "L6",
        command: ("lowe", "trees"),
        paper: PAPER,
        title: "Section 6: tree searches are erratic",
        about: "Single runs of a map by 4 threads with 2^8 operations each, judged as a whole by the tree searches. A \
                search ends at 10^8 configurations (quick: 10^6; paper: 10^10). In the paper, Wing and Gong's search took at most 30 ms for 43 of 50 runs, and reached the limit for 5; the just-in-time search reached the limit for 1 of 50. Times include \
                those of searches that reached the limit.",
        chart: Chart::Sorted,
        x: ("run, sorted by time", false),
        y: ("milliseconds", true),
        points: |_| grid(&[WG_TREE, JIT_TREE], ["all"].iter()),
        observe: tree,
        repeats: true,
        most: MOST,
        quick_s: 25.0,
        shapes: &[
            Shape {
                rule: "most runs are judged within 30 ms",
                holds: |r| {
                    all_series(r, |point| {
                        let middle = median(&point.values());
                        (middle <= 30.0, format!("{}: median {middle:.2} ms", point.series))
                    })
                },
            },
            Shape {
                rule: "a few searches by Wing and Gong explode: the slowest takes 20 times the median, or reaches the limit",
                holds: |r| {
                    let Some(point) = r.series("", WG_TREE).next() else { return missing() };
                    let (middle, most) = (median(&point.values()), point.values().into_iter().fold(0.0, f64::max));
                    let capped = point.sum_of("capped");
                    Holds::when(
                        most >= 20.0 * middle || capped > 0.0,
                        format!("median {middle:.2} ms, slowest {most:.1} ms, {capped} at the limit"),
                    )
                },
            },
        ],
        why: None,
    },
    Experiment {
        id: "lowe-backtracks",
        row: "L7",
        command: ("lowe", "backtracks"),
        paper: PAPER,
        title: "Section 5: the queue-oriented algorithm rarely backtracks",
        about: "Runs of a Michael-Scott queue by 4 threads with 200 operations each, 3 of 10 operations enqueue one of 20 values. \
                The paper saw backtracking in about 1 of 9,000 runs; backtracking at most doubled the iterations.",
        chart: Chart::Facts,
        x: ("", false),
        y: ("runs with backtracking, per 1,000", false),
        points: |_| vec![Point::new("", QUEUE_ORIENTED, "runs with backtracking, per 1,000").paper(1.0 / 9.0, None)],
        observe: backtracks,
        repeats: true,
        most: 5,
        quick_s: 12.0,
        shapes: &[
            Shape {
                rule: "fewer than 1 of 500 runs backtrack",
                holds: |r| {
                    all_series(r, |point| {
                        let mean = point.summary().mean;
                        (mean < 2.0, format!("{mean:.3} of 1,000 runs, over {} runs", point.sum_of("runs")))
                    })
                },
            },
            Shape {
                rule: "no run takes more than 2 iterations per operation",
                holds: |r| {
                    all_series(r, |point| {
                        let most = point.observations.iter().filter_map(|o| o.get("worst")).fold(0.0, f64::max);
                        (most <= 2.0, format!("at most {most:.3}"))
                    })
                },
            },
        ],
        why: None,
    },
    Experiment {
        id: "lowe-fig7-trace",
        row: "L8",
        command: ("lowe", "fig7"),
        paper: PAPER,
        title: "Figure 7, left: the operations that show the fault",
        about: "The map whose `delete` does not use compare-and-set, with 2 keys. The failing run is shrunk to the \
                smallest program that fails; the paper explains it by five operations: an update that is delayed, a \
                delete, another update, another delete, and a read that sees the deleted value.",
        chart: Chart::Facts,
        x: ("", false),
        y: ("operations of the smallest failing program", false),
        points: |_| vec![Point::new("", "smallest program", "operations").paper(5.0, None)],
        observe: trace,
        repeats: true,
        most: 3,
        quick_s: 12.0,
        shapes: &[Shape {
            rule: "at most 6 operations are left, among them two that set the value, a delete and a read",
            holds: |r| {
                let Some(point) = r.points.first() else { return missing() };
                let note = |o: &Observation| o.note.clone().unwrap_or_default();
                let has = |text: &str| {
                    let count = |name: &str| text.matches(name).count();
                    count("put") + count("get-or-insert") >= 2 && count("delete") >= 1 && count("get") >= 1
                };
                let fits = |o: &Observation| o.value <= 6.0 && has(&note(o));
                let best = point.observations.iter().find(|o| fits(o)).or(point.observations.first());
                Holds::when(point.observations.iter().any(fits), best.map(note).unwrap_or_default())
            },
        }],
        why: None,
    },
    Experiment {
        id: "lowe-fig7-workers",
        row: "L9",
        command: ("lowe", "fig7"),
        paper: PAPER,
        title: "Figure 7, right: time to find the fault, by the number of threads",
        about: "The same map. Each run has 8,400 operations, split evenly, and is judged as a whole by the JIT-JIT \
                competition, without chaos; `noisy` has one more thread that keeps a core busy. `trueline` is the default \
                of this crate with the same number of threads: short runs with chaos, each key by itself. An observation \
                ends after 20 s (quick: 4 s). The paper's slides give a mean of 12.4 s.",
        chart: Chart::Lines,
        x: ("threads", false),
        y: ("seconds until the fault is found", true),
        points: |scale| {
            let threads: &[u32] = scale.pick(&[2, 4, 6, 8, 12], &[2, 3, 4, 5, 6, 7, 8, 10, 12]);
            grid(&[QUIET, NOISY, AUTO], threads.iter())
        },
        observe: by_threads,
        repeats: true,
        most: MOST,
        quick_s: 70.0,
        shapes: &[
            Shape {
                rule: "the default finds the fault with every number of threads",
                holds: |r| {
                    let found: Vec<f64> = r.series("", AUTO).filter_map(|point| point.mean_of("found")).collect();
                    Holds::when(
                        !found.is_empty() && found.iter().all(|found| *found > 0.999),
                        format!("found in {found:?} of the observations"),
                    )
                },
            },
            Shape {
                rule: "the paper's tester finds the fault with some number of threads",
                holds: |r| {
                    let found: f64 =
                        r.series("", NOISY).chain(r.series("", QUIET)).map(|point| point.sum_of("found")).sum();
                    Holds::when(found > 0.0, format!("found in {found} observations"))
                },
            },
            Shape {
                rule: "the fault is found sooner on a noisy machine, over all numbers of threads",
                holds: |r| {
                    let sum = |series: &str| r.series("", series).map(|point| point.summary().mean).sum::<f64>();
                    let (noisy, quiet) = (sum(NOISY), sum(QUIET));
                    Holds::when(noisy < quiet, format!("{noisy:.1} s noisy, {quiet:.1} s quiet"))
                },
            },
            Shape {
                rule: "5 to 8 threads are best (needs 8 cores)",
                holds: |r| Holds::not_testable(format!("{} cores", r.machine.cores)),
            },
        ],
        why: Some(
            "The busy threads of the paper took 2 of 8 cores: 6 cores were left for the threads of the test, which were \
             preempted now and then. Here, one busy thread takes a large part of 2 cores. And with more threads than \
             cores, the threads of the test preempt each other without any noise.",
        ),
    },
    Experiment {
        id: "lowe-bugs",
        row: "L10-L14",
        command: ("lowe", "bugs"),
        paper: PAPER,
        title: "Section 8: time to find each fault",
        about: "`paper's tester`: 4 threads with 200 operations each, no chaos, judged as a whole by the tester that the \
                paper names, with its keys and values; noisy where the paper says so. `trueline`: the default of this \
                crate. Times are from the first run to the failing one, in a fresh process. A test ends after 20 s (quick: \
                5 s). The objects of the control rows are correct, so a test must not find a fault there: the variable whose events are timed by a shared counter, which orders memory accesses, and the skiplist with a good hash function. For Shann's queue, 29 of 50 tests \
                of the paper deadlocked.",
        chart: Chart::Rows,
        x: ("", false),
        y: ("milliseconds until the fault is found", true),
        points: bug_points,
        observe: bug,
        repeats: true,
        most: MOST,
        quick_s: 70.0,
        shapes: &[
            Shape { rule: "the default finds each fault in each observation", holds: |r| finds_all(r, AUTO) },
            Shape {
                rule: "the paper's tester finds each fault, in at least one observation",
                holds: |r| {
                    let missed: Vec<&str> = BUGS
                        .iter()
                        .filter(|bug| bug.is_faulty)
                        .map(|bug| bug.name)
                        .filter(|name| r.point("", PAPERS, name).is_none_or(|point| point.sum_of("found") < 1.0))
                        .collect();
                    Holds::when(
                        missed.is_empty(),
                        if missed.is_empty() { "all".to_owned() } else { format!("not {}", missed.join(", ")) },
                    )
                },
            },
            Shape {
                rule: "the default is faster than the paper's mean for each fault",
                holds: |r| {
                    let slower: Vec<&str> = BUGS
                        .iter()
                        .filter_map(|bug| {
                            let (ours, (theirs, _)) = (r.mean("", AUTO, bug.name)?, bug.paper?);
                            (ours > theirs).then_some(bug.name)
                        })
                        .collect();
                    Holds::when(
                        slower.is_empty(),
                        if slower.is_empty() { "all".to_owned() } else { format!("not {}", slower.join(", ")) },
                    )
                },
            },
            Shape {
                rule: "no fault is found in the controls",
                holds: |r| {
                    let found: f64 = BUGS
                        .iter()
                        .filter(|bug| !bug.is_faulty)
                        .flat_map(|bug| {
                            [PAPERS, AUTO]
                                .map(|series| r.point("", series, bug.name).map_or(0.0, |point| point.sum_of("found")))
                        })
                        .sum();
                    Holds::when(found < 0.5, format!("{found} found"))
                },
            },
            Shape {
                rule: "Shann's queue fails both with wrong results and by getting stuck",
                holds: |r| {
                    let points: Vec<_> = [PAPERS, AUTO]
                        .iter()
                        .flat_map(|series| {
                            BUGS.iter()
                                .filter(|bug| bug.name.starts_with("Shann"))
                                .filter_map(|bug| r.point("", series, bug.name))
                        })
                        .collect();
                    let (found, stuck) = points
                        .iter()
                        .fold((0.0, 0.0), |(f, s), point| (f + point.sum_of("found"), s + point.sum_of("stuck")));
                    Holds::when(stuck > 0.0 && found > stuck, format!("{stuck} of {found} stuck"))
                },
            },
        ],
        why: Some(
            "In most tests, the default finds a wrong result of Shann's queue in a tenth of the paper's time. In the \
             other tests, the queue gets stuck first. Its threads spin, so only the watchdog can detect this, after \
             one second, and these tests determine the mean.",
        ),
    },
    Experiment {
        id: "lowe-linear",
        row: "L15",
        command: ("lowe", "linear"),
        paper: PAPER,
        title: "Section 4: just-in-time search is linear for a register",
        about: "Recorded runs of a register by 4 threads, 6 of 10 operations are reads, 10 values. The paper proves that the \
                just-in-time graph search visits at most (N + 1) · 2^p · (p + 1) configurations, for N events of p threads.",
        chart: Chart::Lines,
        x: ("operations in the history", true),
        y: ("configurations", true),
        points: |_| grid(&[JIT_GRAPH, BOUND], [400, 1600, 6400, 25_600, 102_400].iter()),
        observe: |point, _, seed| {
            let operations: u32 = point.number();
            let seen =
                plan("register", &settings(1, 10)).threads(4).calls(operations / 4).record(&mut Runner::new(), seed);
            let events = f64::from(u32::try_from(seen.history.events().len()).unwrap_or(u32::MAX));
            let bound = (events + 1.0) * 16.0 * 5.0;
            if point.series == BOUND {
                return Observation::of(bound);
            }
            let test = plan("register", &settings(1, 10));
            let judgment = test.judgment(&seen.history, &finding::config(JIT_GRAPH, JUDGING));
            assert!(judgment.verdict.is_accepted(), "the register is correct");
            #[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
            Observation::of(judgment.stats.configurations as f64).with("bound", bound)
        },
        repeats: true,
        most: 10,
        quick_s: 12.0,
        shapes: &[
            Shape {
                rule: "no history takes more configurations than the bound",
                holds: |r| {
                    let points: Vec<_> = r.series("", JIT_GRAPH).collect();
                    let most = points
                        .iter()
                        .flat_map(|point| &point.observations)
                        .map(|o| o.value / o.get("bound").unwrap_or(1.0))
                        .fold(0.0, f64::max);
                    Holds::when(!points.is_empty() && most <= 1.0, format!("at most {most:.4} of the bound"))
                },
            },
            Shape {
                rule: "the growth is linear: the exponent of the best fit is between 0.9 and 1.1",
                holds: |r| {
                    let points: Vec<(f64, f64)> = r
                        .series("", JIT_GRAPH)
                        .map(|point| (point.x.parse().unwrap_or(1.0), point.summary().mean))
                        .collect();
                    let exponent = exponent(&points);
                    Holds::when((0.9..=1.1).contains(&exponent), format!("exponent {exponent:.3}"))
                },
            },
        ],
        why: None,
    },
    Experiment {
        id: "lowe-example",
        row: "L16",
        command: ("lowe", "example"),
        paper: PAPER,
        title: "Section 4: linearizations of two overlapping enqueues",
        about: "All executions of the specification automaton for two enqueues that overlap, and those that are just in \
                time (definition 5).",
        chart: Chart::Facts,
        x: ("", false),
        y: ("executions", false),
        points: |_| {
            vec![
                Point::new("", "executions", "all").paper(5.0, None),
                Point::new("", "executions", "just in time").paper(2.0, None),
            ]
        },
        observe: |point, _, _| Observation::of(two_enqueues(point.x == "just in time")),
        repeats: false,
        most: 1,
        quick_s: 1.0,
        shapes: &[Shape { rule: "the numbers are those of the paper", holds: |r| super::equals_paper(r) }],
        why: None,
    },
];

const SECOND: Duration = Duration::from_secs(1);
/// The time limit for judging one run.
const JUDGING: Duration = Duration::from_secs(30);
const QUIET: &str = "JIT-JIT, quiet";
const NOISY: &str = "JIT-JIT, noisy";
const PAPERS: &str = "paper's tester";
const BOUND: &str = "bound";

fn settings(keys: u64, values: u64) -> Settings {
    Settings { keys: Some(keys), values: Some(values), ..Settings::default() }
}

/// Returns the test of a queue. Of ten calls, `tenths` enqueue one of 20 values, and the others
/// dequeue.
fn queue(tenths: u32) -> Plan {
    let test = plan("ms-queue", &Settings { values: Some(20), ..Settings::default() }).threads(4);
    test.weights([("enqueue", tenths), ("dequeue", 10 - tenths)]).expect("the test has both operations")
}

fn per_observation(scale: Scale, calls: u32) -> u64 {
    u64::from((scale.pick(1 << 13, 1 << 18) / calls).max(1))
}

fn grid<X: ToString>(series: &[&str], xs: impl Iterator<Item = X> + Clone) -> Vec<Point> {
    series.iter().flat_map(|series| xs.clone().map(move |x| Point::new("", series, x))).collect()
}

fn lengths(scale: Scale, series: &[&str]) -> Vec<Point> {
    let powers: &[u32] = scale.pick(&[5, 7, 9, 11, 13], &[5, 6, 7, 8, 9, 10, 11, 12, 13]);
    grid(series, powers.iter().map(|power| 1_u32 << power))
}

fn missing() -> Holds {
    Holds::not_testable("not measured yet")
}

/// Returns the coordinates and means of a series.
fn line(results: &Results, series: &str) -> Vec<(f64, f64)> {
    let number = |text: &str| text.parse().unwrap_or(f64::NAN);
    results.series("", series).map(|point| (number(&point.x), point.summary().mean)).collect()
}

fn least(line: &[(f64, f64)]) -> Option<f64> {
    line.iter().map(|(_, y)| *y).reduce(f64::min)
}

fn falls(results: &Results) -> Holds {
    let mut details = Vec::new();
    let mut all = true;
    for series in results.series_names() {
        let line = line(results, series);
        let (Some((_, first)), Some(least)) = (line.first(), least(&line)) else { return missing() };
        all &= *first >= 1.05 * least;
        details.push(format!("{series} {:.2}", first / least));
    }
    Holds::when(all, format!("shortest runs, relative to the best: {}", details.join(", ")))
}

fn rises(results: &Results) -> Holds {
    let line = line(results, WG_GRAPH);
    let (Some((_, last)), Some(least)) = (line.last(), least(&line)) else { return missing() };
    Holds::when(*last >= 1.05 * least, format!("longest runs, relative to the best: {:.2}", last / least))
}

fn best_is(results: &Results, series: &str, others: &[&str], factor: f64) -> Holds {
    let Some(own) = least(&line(results, series)) else { return missing() };
    let others: Vec<(&str, f64)> =
        others.iter().filter_map(|other| Some((*other, least(&line(results, other))?))).collect();
    let text: Vec<String> = others.iter().map(|(name, best)| format!("{name} {best:.3} s")).collect();
    let holds = others.iter().all(|(_, best)| own <= factor * best);
    Holds::when(holds, format!("{series} {own:.3} s; {}", text.join(", ")))
}

fn last_at_most(results: &Results, series: &str, other: &str, factor: f64) -> Holds {
    let (own, theirs) = (line(results, series), line(results, other));
    let (Some((_, own)), Some((_, theirs))) = (own.last(), theirs.last()) else { return missing() };
    Holds::when(*own <= factor * theirs, format!("{series} {own:.3} s, {other} {theirs:.3} s"))
}

fn tree_wins(results: &Results, least: f64, most: f64) -> Holds {
    let best = results.series("", JIT_JIT).min_by(|a, b| a.summary().mean.total_cmp(&b.summary().mean));
    let Some(wins) = best.and_then(|point| point.mean_of("tree_wins")) else { return missing() };
    Holds::when((least..=most).contains(&wins), format!("{:.0} %", wins * 100.0))
}

/// Returns the last mean of a series as a multiple of the first.
fn growth(results: &Results, series: &str) -> Option<f64> {
    let line = line(results, series);
    Some(line.last()?.1 / line.first()?.1)
}

fn growths(results: &Results, series: &[&str], fits: impl Fn(f64) -> bool) -> Holds {
    let grown: Vec<(&str, f64)> =
        series.iter().filter_map(|series| Some((*series, growth(results, series)?))).collect();
    if grown.len() < series.len() {
        return missing();
    }
    let text: Vec<String> = grown.iter().map(|(series, growth)| format!("{series} {growth:.2}")).collect();
    Holds::when(
        grown.iter().all(|(_, growth)| fits(*growth)),
        format!("most keys, relative to the fewest: {}", text.join(", ")),
    )
}

fn competitions_are_flat(results: &Results) -> Holds {
    growths(results, &[WG_JIT, JIT_JIT], |growth| growth <= 1.5)
}

fn graphs_slow_down(results: &Results) -> Holds {
    growths(results, &[WG_GRAPH, JIT_GRAPH], |growth| growth >= 1.2)
}

/// Checks the runs of a series at the coordinates that `chosen` accepts. If `expected` is true, at
/// least one run must be undecided; otherwise, all runs must be decided.
fn undecided(results: &Results, series: &str, chosen: fn(f64) -> bool, expected: bool) -> Holds {
    let number = |text: &str| text.parse().unwrap_or(f64::NAN);
    let points: Vec<_> = results.series("", series).filter(|point| chosen(number(&point.x))).collect();
    if points.is_empty() {
        return missing();
    }
    let text: Vec<String> =
        points.iter().map(|point| format!("{} at {}", point.sum_of("undecided"), point.x)).collect();
    let some = points.iter().any(|point| point.sum_of("undecided") > 0.0);
    Holds::when(some == expected, format!("undecided: {}", text.join(", ")))
}

fn slowest_between(results: &Results) -> Holds {
    let line = line(results, QUEUE_ORIENTED);
    let slowest = line.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let (Some((first, _)), Some((last, _)), Some((x, y))) = (line.first(), line.last(), slowest) else {
        return missing();
    };
    Holds::when(x > first && x < last, format!("slowest at {x}: {y:.3} s"))
}

fn ratio(results: &Results, panel: &str, series: &str, x: &str, other: &str, least: f64, most: f64) -> Holds {
    let (Some(own), Some(theirs)) = (results.mean(panel, series, x), results.mean(panel, series, other)) else {
        return missing();
    };
    let ratio = own / theirs;
    Holds::when((least..=most).contains(&ratio), format!("{ratio:.2}"))
}

fn all_series(results: &Results, fits: impl Fn(&super::results::PointResults) -> (bool, String)) -> Holds {
    let observed: Vec<_> = results.points.iter().filter(|point| !point.observations.is_empty()).collect();
    if observed.is_empty() {
        return missing();
    }
    let all: Vec<(bool, String)> = observed.into_iter().map(fits).collect();
    let text: Vec<&str> = all.iter().map(|(_, text)| text.as_str()).collect();
    Holds::when(all.iter().all(|(holds, _)| *holds), text.join("; "))
}

fn finds_all(results: &Results, series: &str) -> Holds {
    let mut missed = Vec::new();
    for bug in BUGS.iter().filter(|bug| bug.is_faulty) {
        let Some(point) = results.point("", series, bug.name) else { return missing() };
        if point.mean_of("found").unwrap_or(0.0) < 0.999 {
            missed.push(bug.name);
        }
    }
    Holds::when(
        missed.is_empty(),
        if missed.is_empty() { "all".to_owned() } else { format!("not {}", missed.join(", ")) },
    )
}

/// A fault of section 8.
struct Bug {
    name: &'static str,
    object: &'static str,
    keys: Option<u64>,
    values: Option<u64>,
    tester: &'static str,
    noise: u32,
    clock: Option<Clock>,
    is_faulty: bool,
    /// The mean in the paper, in milliseconds, and half the width of its 95 % confidence interval.
    paper: Option<(f64, Option<f64>)>,
}

const BUGS: &[Bug] = &[
    Bug {
        name: "resizing map: slots copied without owning them",
        object: "resizing-map-faulty-migrate",
        keys: Some(32),
        values: Some(4),
        tester: JIT_JIT,
        noise: 1,
        clock: None,
        is_faulty: true,
        paper: Some((8200.0, Some(1700.0))),
    },
    Bug {
        name: "Shann's queue: slot not looked at again",
        object: "shann-queue-partial-faulty-stale-slot",
        keys: None,
        values: Some(20),
        tester: QUEUE_ORIENTED,
        noise: 0,
        clock: None,
        is_faulty: true,
        paper: Some((100.0, None)),
    },
    Bug {
        name: "variable without memory ordering",
        object: "register-faulty-relaxed",
        keys: None,
        values: Some(10),
        tester: JIT_GRAPH,
        noise: 0,
        clock: None,
        is_faulty: true,
        paper: Some((679.0, Some(26.0))),
    },
    Bug {
        name: "control: the variable, timed by a shared counter",
        object: "register-faulty-relaxed",
        keys: None,
        values: Some(10),
        tester: JIT_GRAPH,
        noise: 0,
        clock: Some(Clock::Counter),
        is_faulty: false,
        paper: None,
    },
    Bug {
        name: "skiplist: steps over a key",
        object: "lock-free-skiplist-faulty-stepping-over",
        keys: None,
        values: None,
        tester: JIT_GRAPH,
        noise: 0,
        clock: None,
        is_faulty: true,
        paper: Some((123.0, Some(7.0))),
    },
    Bug {
        name: "control: the skiplist, good hash function",
        object: "lock-free-skiplist-stepping-over",
        keys: None,
        values: None,
        tester: JIT_GRAPH,
        noise: 0,
        clock: None,
        is_faulty: false,
        paper: None,
    },
    Bug {
        name: "sharded map: status before datum",
        object: "sharded-map-faulty-early-status",
        keys: Some(2),
        values: Some(4),
        tester: JIT_JIT,
        noise: 1,
        clock: None,
        is_faulty: true,
        paper: Some((671.0, Some(44.0))),
    },
];

fn bug_points(_: Scale) -> Vec<Point> {
    let point = |bug: &Bug, series: &str| Point { paper: bug.paper, ..Point::new("", series, bug.name) };
    BUGS.iter().flat_map(|bug| [PAPERS, AUTO].map(|series| point(bug, series))).collect()
}

fn bug(point: &Point, scale: Scale, seed: u64) -> Observation {
    let bug = BUGS.iter().find(|bug| bug.name == point.x).expect("the name of a point is the name of a fault");
    let most = if bug.is_faulty { scale.pick(5, 20) * SECOND } else { scale.pick(2, 10) * SECOND };
    let is_paper = point.series == PAPERS;
    let numbers = Settings { keys: bug.keys, values: bug.values, ..Settings::default() };
    let test = plan(bug.object, &if is_paper { numbers } else { Settings::default() }).seed(seed);
    let test = bug.clock.into_iter().fold(test, Plan::clock);
    if !is_paper {
        return find(&test, most);
    }
    let test = test.threads(4).calls(200).chaos(0);
    if bug.tester == QUEUE_ORIENTED {
        return queue_oriented(&test.watchdog(Duration::from_millis(20)), seed, most);
    }
    find(&judged_by(test, bug.tester, 5 * SECOND).noise(bug.noise), most)
}

/// Executes runs of a bounded queue until a run is stuck, the queue-oriented tester rejects a run,
/// or the time is over. The tester judges an unbounded queue, so enqueues that a full queue refused
/// are left out. Leaving them out does not make a correct history incorrect.
fn queue_oriented(test: &Plan, seed: u64, most: Duration) -> Observation {
    let mut runner = Runner::new();
    let started = Instant::now();
    let config = finding::config(QUEUE_ORIENTED, JUDGING);
    let found = |stuck: f64| {
        let ms = started.elapsed().as_secs_f64() * 1e3;
        Observation::of(ms).with("found", 1.0).with("stuck", stuck)
    };
    for run in 0.. {
        let seen = test.record(&mut runner, seed.wrapping_mul(7919).wrapping_add(run));
        if matches!(seen.end, End::Stuck(_)) {
            return found(1.0);
        }
        if check(&Queue::new(), &as_queue(&seen.history), &config).verdict.is_rejected() {
            return found(0.0);
        }
        if started.elapsed() >= most {
            break;
        }
    }
    Observation::of(started.elapsed().as_secs_f64() * 1e3).with("found", 0.0).with("stuck", 0.0)
}

/// Converts a history of a bounded queue to a history of an unbounded queue. Enqueues that were
/// refused, and operations that never returned, are left out.
fn as_queue(history: &History<Call, Value>) -> History<QueueOp<Value>, QueueRet<Value>> {
    let stays = |operation: &trueline::history::Operation<Call, Value>| match &operation.outcome {
        Outcome::Returned(result) => operation.op.operation != 0 || bool::from_value(result) != Some(false),
        _ => false,
    };
    history.project(|_, operation| stays(operation)).map(|operation| match operation.op.operation {
        0 => (QueueOp::Enqueue(operation.op.argument.clone()), operation.outcome.map(|_| QueueRet::Done)),
        _ => (
            QueueOp::Dequeue,
            operation.outcome.map(|value| QueueRet::Value((!value.is_null()).then(|| value.clone()))),
        ),
    })
}

fn parallel(point: &Point, scale: Scale, seed: u64) -> Observation {
    let testers: u64 = point.number();
    let all = scale.pick(60_u32, 840);
    let left = AtomicU64::new(u64::from(all));
    let test = queue(5).calls(2048);
    let config = finding::config(QUEUE_ORIENTED, JUDGING);
    let started = Instant::now();
    std::thread::scope(|scope| {
        for tester in 0..testers {
            let (test, config, left) = (&test, &config, &left);
            scope.spawn(move || {
                let mut runner = Runner::new();
                let take = |left: u64| left.checked_sub(1);
                while let Ok(run) = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
                    let seen = test.record(&mut runner, seed.wrapping_mul(31) ^ (run << 8) ^ tester);
                    assert!(test.judgment(&seen.history, config).verdict.is_accepted(), "the queue is correct");
                }
            });
        }
    });
    Observation::of(started.elapsed().as_secs_f64()).with("runs", f64::from(all))
}

fn tree(point: &Point, scale: Scale, seed: u64) -> Observation {
    let test = plan("sharded-map", &settings(20, 4)).threads(4).calls(256);
    let seen = test.record(&mut Runner::new(), seed);
    let algorithm = if point.series == WG_TREE { Algorithm::WingGongTree } else { Algorithm::JustInTimeTree };
    let budget = Budget::unlimited().configurations(scale.pick(1_000_000, 100_000_000));
    let config = Config::new().algorithm(algorithm).partition(false).budget(budget);
    let started = Instant::now();
    let judgment = test.judgment(&seen.history, &config);
    let ms = started.elapsed().as_secs_f64() * 1e3;
    let capped = matches!(judgment.verdict, Verdict::Unknown(_));
    #[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
    let configurations = judgment.stats.configurations as f64;
    Observation::of(ms).with("capped", f64::from(u8::from(capped))).with("configurations", configurations)
}

#[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
fn backtracks(_: &Point, scale: Scale, seed: u64) -> Observation {
    let runs = scale.pick(2000, 20_000);
    let test = queue(3).calls(200);
    let config = finding::config(QUEUE_ORIENTED, JUDGING);
    let mut runner = Runner::new();
    let (mut with, mut worst) = (0_u64, 0.0_f64);
    for run in 0..runs {
        let seen = test.record(&mut runner, seed.wrapping_mul(1 << 20).wrapping_add(run));
        let stats = test.judgment(&seen.history, &config).stats;
        with += u64::from(stats.backtracks > 0);
        worst = worst.max(stats.configurations as f64 / seen.history.len().max(1) as f64);
    }
    Observation::of(with as f64 * 1000.0 / runs as f64).with("runs", runs as f64).with("worst", worst)
}

fn trace(_: &Point, scale: Scale, seed: u64) -> Observation {
    let test = plan("laarman-map-faulty-delete", &Settings { keys: Some(2), ..Settings::default() });
    let test = test.without_helpers().seed(seed).shrink_for(scale.pick(2, 10) * SECOND).shrink_by_exploring();
    let outcome = test.time(scale.pick(5, 60) * SECOND).run();
    let smallest = outcome.failure.as_ref().and_then(|failure| failure.smallest.as_ref());
    #[expect(clippy::cast_precision_loss, reason = "few calls")]
    let calls = smallest.map_or(f64::from(u16::MAX), |smallest| smallest.calls as f64);
    Observation { note: smallest.map(|smallest| smallest.program.clone()), ..Observation::of(calls) }
}

fn by_threads(point: &Point, scale: Scale, seed: u64) -> Observation {
    let threads: u32 = point.number();
    let test = plan("laarman-map-faulty-delete", &Settings { keys: Some(2), ..Settings::default() })
        .seed(seed)
        .threads(threads);
    let most = scale.pick(4, 20) * SECOND;
    let found = match point.series.as_str() {
        AUTO => find(&test, most),
        series => {
            let noise = u32::from(series == NOISY);
            find(&judged_by(test.calls(8400 / threads).chaos(0).noise(noise), JIT_JIT, 2 * SECOND), most)
        }
    };
    Observation { value: found.value / 1e3, ..found }
}

/// Counts the executions of the specification automaton (figure 2) in which the only operations are
/// two overlapping enqueues. With `is_just_in_time`, counts only the executions in which each
/// linearization point is immediately followed by another one, or by the return of its operation.
fn two_enqueues(is_just_in_time: bool) -> f64 {
    #[derive(Clone, Copy, PartialEq)]
    enum Step {
        Event(bool, u8),
        Point(u8),
    }
    const EVENTS: [(bool, u8); 4] = [(false, 1), (false, 2), (true, 1), (true, 2)];
    fn go(at: usize, path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
        let has = |path: &[Step], step: Step| path.contains(&step);
        for op in [1, 2] {
            let is_open = has(path, Step::Event(false, op)) && !has(path, Step::Event(true, op));
            if is_open && !has(path, Step::Point(op)) {
                path.push(Step::Point(op));
                go(at, path, found);
                path.pop();
            }
        }
        let Some((is_return, op)) = EVENTS.get(at).copied() else {
            found.push(path.clone());
            return;
        };
        if !is_return || has(path, Step::Point(op)) {
            path.push(Step::Event(is_return, op));
            go(at + 1, path, found);
            path.pop();
        }
    }
    let mut found = Vec::new();
    go(0, &mut Vec::new(), &mut found);
    let fits = |path: &&Vec<Step>| {
        path.windows(2).all(|pair| match pair {
            [Step::Point(op), next] => matches!(next, Step::Point(_)) || *next == Step::Event(true, *op),
            _ => true,
        })
    };
    let count = found.iter().filter(|path| !is_just_in_time || fits(path)).count();
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_enqueues_have_the_executions_of_the_paper() {
        assert_eq!([two_enqueues(false), two_enqueues(true)], [5.0, 2.0]);
    }
}

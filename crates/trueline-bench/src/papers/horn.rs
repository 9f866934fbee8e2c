//! A. Horn and D. Kroening, *Faster linearizability checking via P-compositionality*.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use trueline::drive::Runner;
use trueline::history::codec::{self, Format};
use trueline::history::{Argument, History};
use trueline::judge::{Algorithm, Budget, Config, check};
use trueline::registry;
use trueline::spec::{Set, SetOp, SetRet};
use trueline::verdict::Verdict;
use trueline_bench::usage;
use trueline_objects::catalog::Settings;

use super::experiment::{Experiment, Holds, Point, Scale, Shape};
use super::finding::{AUTO, plan};
use super::linked_list::{self, Cache, Options, SetHistory};
use super::results::{Chart, Observation, Results};

const PAPER: &str = "A. Horn and D. Kroening, Faster linearizability checking via P-compositionality";

const WGL: &str = "WGL";
const LRU: &str = "WGL+LRU";
const P: &str = "WGL+P";

/// An object of table 1.
struct Row {
    name: &'static str,
    object: &'static str,
    /// For WGL, WGL+LRU and WGL+P: the time in seconds and the memory in MiB, according to the
    /// paper.
    paper: [(f64, f64); 3],
}

const fn row(name: &'static str, object: &'static str, paper: [(f64, f64); 3]) -> Row {
    Row { name, object, paper }
}

/// Table 1. The paper gives times of less than a second as 1.
const TABLE_1: &[Row] = &[
    row("TBB", "split-ordered-set", [(101.0, 9792.0), (11.0, 670.0), (6.0, 672.0)]),
    row("CRLSL", "collision-resistant-lazy-skiplist", [(20.0, 15_738.0), (25.0, 678.0), (6.0, 400.0)]),
    row("CRLFSL", "collision-resistant-lock-free-skiplist", [(14.0, 15_029.0), (18.0, 678.0), (5.0, 401.0)]),
    row("FGL", "fine-grained-list", [(16.0, 14_297.0), (81.0, 678.0), (5.0, 401.0)]),
    row("LLL", "lazy-list", [(23.0, 16_494.0), (94.0, 678.0), (6.0, 401.0)]),
    row("LSL", "lazy-skiplist", [(20.0, 15_736.0), (25.0, 678.0), (6.0, 401.0)]),
    row("LFLL", "lock-free-list", [(11.0, 11_847.0), (15.0, 678.0), (5.0, 402.0)]),
    row("LFSL", "lock-free-skiplist", [(14.0, 14_712.0), (18.0, 678.0), (5.0, 401.0)]),
    row("LFSLF0", "lock-free-skiplist-stepping-over", [(14.0, 13_125.0), (18.0, 678.0), (5.0, 402.0)]),
    row("LFSLF1", "lock-free-skiplist-faulty-stepping-over", [(1.0, 404.0), (1.0, 407.0), (1.0, 402.0)]),
    row("OPTIMIST", "optimistic-list", [(16.0, 13_818.0), (54.0, 678.0), (5.0, 401.0)]),
];

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "horn-table1",
        row: "H1",
        command: ("horn", "table1"),
        paper: PAPER,
        title: "Table 1: time to judge a history",
        about: "Recorded histories of 11 sets: 4 threads with 70,000 operations each (quick: 7,000) on 24 items; 10 histories of \
                each object, 60 s for each history (quick: 10 s). WGL is Wing and Gong's graph search on the whole history, LRU \
                forgets the least recently used configurations, P judges each item separately, and `trueline` is the \
                default of this crate. `is-empty` of TBB is left out, because it has no item. The 14 % time-outs that \
                the paper prints for LSL belong to LLL, according to the authors' files, and LFSLF1 is the faulty object, with a bad hash function.",
        chart: Chart::Rows,
        x: ("", false),
        y: ("seconds", true),
        points: |_| table_1(|(seconds, _)| *seconds),
        observe: |point, scale, seed| judged(point, scale, seed).0,
        repeats: true,
        most: 10,
        quick_s: 70.0,
        shapes: &[
            Shape {
                rule: "over all correct objects, WGL+P takes at most half of the time of WGL",
                holds: |r| match (sum(r, P), sum(r, WGL)) {
                    (Some(parts), Some(whole)) => {
                        Holds::when(parts <= 0.5 * whole, format!("{parts:.3} s, {whole:.3} s"))
                    }
                    _ => missing(),
                },
            },
            Shape {
                rule: "the faulty skiplist is rejected in less than 1 s by each tester",
                holds: |r| {
                    let all: Vec<f64> = r
                        .points
                        .iter()
                        .filter(|point| point.x == "LFSLF1" && !point.observations.is_empty())
                        .map(|point| point.summary().mean)
                        .collect();
                    let most = all.iter().copied().fold(0.0, f64::max);
                    if all.is_empty() { missing() } else { Holds::when(most < 1.0, format!("at most {most:.3} s")) }
                },
            },
            Shape {
                rule: "WGL+LRU sometimes explodes: on some object it takes 3 times as long as WGL, or does not decide",
                holds: |r| {
                    let worst = TABLE_1
                        .iter()
                        .filter_map(|row| Some((row.name, r.mean("", LRU, row.name)? / r.mean("", WGL, row.name)?)))
                        .max_by(|a, b| a.1.total_cmp(&b.1));
                    let undecided: f64 = r.series("", LRU).map(|point| point.sum_of("undecided")).sum();
                    worst.map_or_else(missing, |(name, ratio)| {
                        Holds::when(
                            ratio >= 3.0 || undecided > 0.0,
                            format!("{ratio:.2} times for {name}, {undecided} undecided"),
                        )
                    })
                },
            },
            Shape {
                rule: "the default is not slower than WGL+P, over all correct objects",
                holds: |r| match (sum(r, AUTO), sum(r, P)) {
                    (Some(own), Some(parts)) => Holds::when(own <= 1.1 * parts, format!("{own:.3} s, {parts:.3} s")),
                    _ => missing(),
                },
            },
        ],
        why: Some(
            "A search with the LRU cache explodes if it needs configurations again that the cache has forgotten. On these \
             histories, the first order that is tried nearly always works: on 2 cores, few operations overlap, so the search \
             backtracks only a few steps, and soon after it stored a configuration. The cache then only saves memory, and \
             thereby some time.",
        ),
    },
    Experiment {
        id: "horn-memory",
        row: "H1",
        command: ("horn", "table1"),
        paper: PAPER,
        title: "Table 1: memory to judge a history",
        about: "The same runs as for the time: the peak of the resident memory while judging, minus the resident memory with the history loaded. The paper gives the \
                virtual memory of the whole process.",
        chart: Chart::Rows,
        x: ("", false),
        y: ("MiB beyond the history", true),
        points: |_| table_1(|(_, memory)| *memory),
        observe: |point, scale, seed| judged(point, scale, seed).1,
        repeats: true,
        most: 3,
        quick_s: 40.0,
        shapes: &[
            Shape {
                rule: "over all correct objects, WGL+P needs at most a tenth of the memory of WGL",
                holds: |r| match (sum(r, P), sum(r, WGL)) {
                    (Some(parts), Some(whole)) => {
                        Holds::when(parts <= 0.1 * whole, format!("{parts:.1} MiB, {whole:.1} MiB, summed"))
                    }
                    _ => missing(),
                },
            },
            Shape {
                rule: "WGL needs less than a tenth of the memory of the paper, relative to the number of operations",
                holds: |r| {
                    let factor = if r.mode == "full" { 1.0 } else { 0.1 };
                    let worst = TABLE_1
                        .iter()
                        .filter_map(|row| Some(r.mean("", WGL, row.name)? / (row.paper[0].1 * factor)))
                        .reduce(f64::max);
                    worst.map_or_else(missing, |worst| Holds::when(worst < 0.1, format!("at most {worst:.4}")))
                },
            },
        ],
        why: Some(
            "In the paper, each stored configuration has a bitset of all 280,000 operations, 34 KiB, which partitions \
             avoid. Here a stored configuration takes a few words. Relative to the number of operations, WGL without partitions \
             needs less than a thirtieth of the paper's memory, so that less is left for partitions to save.",
        ),
    },
    Experiment {
        id: "horn-options",
        row: "H2",
        command: ("horn", "options"),
        paper: PAPER,
        title: "Implementation options: cache and hash",
        about: "The paper's algorithm to the letter, as a baseline: a linked list with LIFT and UNLIFT, a bitset of all \
                operations, and a set of configurations that remembers all or the 1,000 most recently used, with a \
                hash that is computed from all words or updated with each bit; or a search without a set, which \
                undoes changes. A recorded history of the split-ordered set by 4 threads with 5,000 operations each \
                (quick: 2,000). The numbers of the paper's repository are for 4 × 70,000 operations.",
        chart: Chart::Rows,
        x: ("", false),
        y: ("seconds", true),
        points: |_| {
            let papers = [1060.0, 71.0, 59.0, 11.0, 5.5];
            let mut points: Vec<Point> = OPTIONS
                .iter()
                .zip(papers)
                .map(|((name, _), seconds)| Point::new("", "linked list", name).paper(seconds, None))
                .collect();
            points.extend(
                ["WGL of the library", "WGL+P of the library", "trueline"]
                    .iter()
                    .map(|name| Point::new("", "library", name)),
            );
            points
        },
        observe: options,
        repeats: true,
        most: 20,
        quick_s: 25.0,
        shapes: &[
            Shape {
                rule: "with all configurations remembered, the hash of all words takes longer than the updated one",
                holds: |r| compare(r, "all, hash of all words", "all, updated hash", 1.0),
            },
            Shape {
                rule: "the LRU cache is faster than remembering all configurations, with the hash of all words",
                holds: |r| compare(r, "all, hash of all words", "LRU, hash of all words", 1.0),
            },
            Shape {
                rule: "the search without a set is the fastest",
                holds: |r| compare(r, "all, updated hash", "none, with undo", 1.0),
            },
            Shape {
                rule: "the library's WGL is faster than the linked list with all configurations",
                holds: |r| match (
                    r.mean("", "linked list", "all, updated hash"),
                    r.mean("", "library", "WGL of the library"),
                ) {
                    (Some(list), Some(library)) => Holds::when(library < list, format!("{library:.4} s, {list:.4} s")),
                    _ => missing(),
                },
            },
        ],
        why: None,
    },
    Experiment {
        id: "horn-etcd",
        row: "H3",
        command: ("horn", "etcd"),
        paper: PAPER,
        title: "Histories of etcd that Jepsen recorded",
        about: "All `etcd_*.log` files of a folder (`TRUELINE_ETCD`), judged as compare-and-set registers; here the 52 of them that are \
                in the test data of Porcupine, with its verdicts. The authors judge 100 in a few seconds, where the Knossos of that time ran out of time or \
                memory on six.",
        chart: Chart::Facts,
        x: ("", false),
        y: ("milliseconds for all files", false),
        points: |_| vec![Point::new("", AUTO, "all files")],
        observe: etcd,
        repeats: true,
        most: 10,
        quick_s: 6.0,
        shapes: &[
            Shape {
                rule: "all files are judged within 5 s",
                holds: |r| {
                    r.points.first().filter(|point| !point.observations.is_empty()).map_or_else(missing, |point| {
                        let (ms, undecided) = (point.summary().mean, point.sum_of("undecided"));
                        Holds::when(
                            ms < 5000.0 && undecided < 0.5,
                            format!("{ms:.1} ms for {:.0} files", point.mean_of("files").unwrap_or(0.0)),
                        )
                    })
                },
            },
            Shape {
                rule: "all verdicts are those of Porcupine",
                holds: |r| {
                    r.points.first().filter(|point| !point.observations.is_empty()).map_or_else(missing, |point| {
                        let wrong = point.sum_of("wrong");
                        Holds::when(wrong < 0.5, format!("{wrong} differ"))
                    })
                },
            },
        ],
        why: None,
    },
    Experiment {
        id: "horn-facts",
        row: "H4",
        command: ("horn", "facts"),
        paper: PAPER,
        title: "Examples 5 and 11, and figure 2",
        about: "The history of figure 1 is linearizable; in figure 2, UNLIFT takes back what LIFT did; the history of figure 2b has two partitions.",
        chart: Chart::Facts,
        x: ("", false),
        y: ("1 if true, otherwise 0", false),
        points: |_| {
            ["figure 1 is linearizable", "figure 2: UNLIFT reverses LIFT", "example 11: two partitions"]
                .iter()
                .map(|x| Point::new("", "holds", x).paper(1.0, None))
                .collect()
        },
        observe: |point, _, _| {
            let holds = match &point.x[..8] {
                "figure 1" => judge_facts().0,
                "figure 2" => linked_list::figure_2(),
                _ => judge_facts().1,
            };
            Observation::of(f64::from(u8::from(holds)))
        },
        repeats: false,
        most: 1,
        quick_s: 1.0,
        shapes: &[Shape { rule: "all facts are as in the paper", holds: |r| super::equals_paper(r) }],
        why: None,
    },
    Experiment {
        id: "horn-bounded",
        row: "H1",
        command: ("horn", "bounded"),
        paper: PAPER,
        title: "Bounded memory against the unbounded search",
        about: "Accepted histories of a set (simulated, 24 items, 4 clients), judged as a whole by the unbounded searches, and by `bounded-graph` and `bounded-graph-lru`, each with a budget of 16 MiB and with its default budget. Bounded mode is useful if it needs at most half as much memory as the unbounded search, wherever the latter needs more than 16 MiB beyond the history.",
        chart: Chart::Lines,
        x: ("operations", true),
        y: ("MiB beyond the history", true),
        points: |scale| {
            let sizes: &[u32] = scale.pick(&[20_000, 80_000, 280_000], &[20_000, 40_000, 80_000, 160_000, 280_000]);
            BOUNDED.iter().flat_map(|name| sizes.iter().map(move |size| Point::new("", name, size))).collect()
        },
        observe: bounded,
        repeats: true,
        most: 3,
        quick_s: 25.0,
        shapes: &[
            Shape {
                rule: "bounded-graph decides with at most half of the memory of jit-graph, where that needs more than 16 MiB",
                holds: |r| halves(r, "bounded-graph", "jit-graph"),
            },
            Shape {
                rule: "bounded-graph-lru decides with at most half of the memory of wing-gong-graph, where that needs more than 16 MiB",
                holds: |r| halves(r, "bounded-graph-lru", "wing-gong-graph"),
            },
        ],
        why: None,
    },
];

const BOUNDED: [&str; 6] = [
    "jit-graph",
    "bounded-graph",
    "bounded-graph, default budget",
    "wing-gong-graph",
    "bounded-graph-lru",
    "bounded-graph-lru, default budget",
];

const RECENT: usize = 1000;
const OPTIONS: [(&str, Options); 5] = [
    ("all, hash of all words", Options { cache: Cache::All, is_incremental: false }),
    ("all, updated hash", Options { cache: Cache::All, is_incremental: true }),
    ("LRU, hash of all words", Options { cache: Cache::Recent(RECENT), is_incremental: false }),
    ("LRU, updated hash", Options { cache: Cache::Recent(RECENT), is_incremental: true }),
    ("none, with undo", Options { cache: Cache::None, is_incremental: true }),
];

fn missing() -> Holds {
    Holds::not_testable("not measured yet")
}

fn table_1(of: fn(&(f64, f64)) -> f64) -> Vec<Point> {
    let series = [WGL, LRU, P];
    TABLE_1
        .iter()
        .flat_map(|row| {
            let papers = series
                .iter()
                .zip(&row.paper)
                .map(|(series, paper)| Point::new("", series, row.name).paper(of(paper), None));
            papers.chain([Point::new("", AUTO, row.name)]).collect::<Vec<_>>()
        })
        .collect()
}

/// Returns the sum of a series over all correct objects.
fn sum(results: &Results, series: &str) -> Option<f64> {
    let correct = TABLE_1.iter().filter(|row| row.name != "LFSLF1");
    correct.map(|row| results.mean("", series, row.name)).sum()
}

fn compare(results: &Results, slow: &str, fast: &str, factor: f64) -> Holds {
    match (results.mean("", "linked list", slow), results.mean("", "linked list", fast)) {
        (Some(slow), Some(fast)) => Holds::when(slow > factor * fast, format!("{slow:.4} s, {fast:.4} s")),
        _ => missing(),
    }
}

fn halves(results: &Results, bounded: &str, unbounded: &str) -> Holds {
    let both: Vec<(&str, f64, f64)> = results
        .series("", unbounded)
        .filter_map(|point| Some((point.x.as_str(), point.summary().mean, results.mean("", bounded, &point.x)?)))
        .filter(|(_, all, _)| *all > 16.0)
        .collect();
    if both.is_empty() {
        return Holds::not_testable("no search needs more than 16 MiB");
    }
    let text: Vec<String> = both.iter().map(|(x, all, some)| format!("{some:.1} of {all:.1} MiB at {x}")).collect();
    let undecided: f64 = results.series("", bounded).map(|point| point.sum_of("undecided")).sum();
    let holds = undecided < 0.5 && both.iter().all(|(_, all, some)| *some <= 0.5 * all);
    Holds::when(holds, format!("{}; {undecided} undecided", text.join(", ")))
}

/// Records a history of a set.
fn recorded(object: &str, calls: u32, seed: u64) -> SetHistory {
    let keys = if object.starts_with("split") { 21 } else { 24 };
    let test = plan(object, &Settings { keys: Some(keys), ..Settings::default() }).threads(4).calls(calls);
    let is_growing = object.starts_with("split");
    let test = if is_growing { test.weights([("is-empty", 0)]).expect("the object has this operation") } else { test };
    let seen = test.record(&mut Runner::new(), seed).history;
    seen.map(|operation| {
        let item = u64::from_value(&operation.op.argument).expect("the value is a number");
        let op = match (operation.op.operation, is_growing) {
            (0, _) => SetOp::Add(item),
            (1, false) => SetOp::Remove(item),
            _ => SetOp::Contains(item),
        };
        (op, operation.outcome.map(|result| SetRet::Bool(bool::from_value(result).expect("the value is a boolean"))))
    })
}

/// Judges a recorded history. Returns two observations: the time in seconds, and the memory in MiB
/// that judging takes in addition to the history.
#[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
fn judged(point: &Point, scale: Scale, seed: u64) -> (Observation, Observation) {
    let row = TABLE_1.iter().find(|row| row.name == point.x).expect("the name of a point is the name of a row");
    let history = recorded(row.object, scale.pick(7000, 70_000), seed);
    let budget = Budget::unlimited().time(Duration::from_secs(scale.pick(10, 60)));
    let (algorithm, partition) = match point.series.as_str() {
        WGL => (Algorithm::WingGongGraph, false),
        LRU => (Algorithm::BoundedGraphLru, false),
        P => (Algorithm::WingGongGraph, true),
        _ => (Algorithm::Auto, true),
    };
    let config = Config::new().algorithm(algorithm).partition(partition).budget(budget);
    usage::forget_most();
    let (loaded, started) = (usage::resident_kib(), Instant::now());
    let judgment = check(&Set::new(), &history, &config);
    let seconds = started.elapsed().as_secs_f64();
    let above = usage::most_kib().saturating_sub(loaded) as f64 / 1024.0;
    let undecided = f64::from(u8::from(matches!(judgment.verdict, Verdict::Unknown(_))));
    let rejected = f64::from(u8::from(judgment.verdict.is_rejected()));
    let with = |observation: Observation| observation.with("undecided", undecided).with("rejected", rejected);
    (with(Observation::of(seconds)).with("mib", above), with(Observation::of(above)))
}

fn options(point: &Point, scale: Scale, seed: u64) -> Observation {
    let history = recorded("split-ordered-set", scale.pick(2000, 5000), seed);
    let started = Instant::now();
    let undecided = match OPTIONS.iter().find(|(name, _)| *name == point.x) {
        Some((_, options)) => match linked_list::check(&history, *options, 50_000_000) {
            Some((verdict, _)) => {
                assert!(verdict, "the set is correct");
                false
            }
            None => true,
        },
        None => {
            let (algorithm, partition) = match point.x.as_str() {
                "WGL of the library" => (Algorithm::WingGongGraph, false),
                "WGL+P of the library" => (Algorithm::WingGongGraph, true),
                _ => (Algorithm::Auto, true),
            };
            let config = Config::new().algorithm(algorithm).partition(partition);
            assert!(check(&Set::new(), &history, &config).verdict.is_accepted(), "the set is correct");
            false
        }
    };
    Observation::of(started.elapsed().as_secs_f64()).with("undecided", f64::from(u8::from(undecided)))
}

/// Returns the folder with the files of etcd.
fn etcd_folder() -> Option<PathBuf> {
    let given = std::env::var_os("TRUELINE_ETCD").map(PathBuf::from);
    given.or_else(|| {
        let root = super::root();
        let beside = root.ancestors().map(|folder| folder.join("shared/data/porcupine/jepsen"));
        beside.into_iter().find(|folder| folder.is_dir())
    })
}

#[expect(clippy::cast_precision_loss, reason = "few files")]
fn etcd(_: &Point, _: Scale, _: u64) -> Observation {
    let folder = etcd_folder().expect("TRUELINE_ETCD names the folder of the histories");
    let list = fs::read_to_string(folder.join("../EXPECTED.tsv")).unwrap_or_default();
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the folder can be read")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("etcd_")))
        .collect();
    files.sort();
    let (mut ms, mut undecided, mut wrong) = (0.0, 0_u32, 0_u32);
    for path in &files {
        let file = File::open(path).expect("the file can be read");
        let history = codec::read(BufReader::new(file), Format::Auto).expect("the file contains a history");
        let spec =
            registry::spec("cas-register", registry::Options::new()).expect("`cas-register` is a named specification");
        let config = Config::new().budget(Budget::unlimited().time(Duration::from_secs(10)));
        let started = Instant::now();
        let judged = spec.judge(history, &config).expect("the file contains a history of a register");
        ms += started.elapsed().as_secs_f64() * 1e3;
        let verdict = &judged.judgment().verdict;
        undecided += u32::from(matches!(verdict, Verdict::Unknown(_)));
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let expected = list.lines().find(|line| line.contains(&name)).and_then(|line| line.rsplit('\t').next());
        wrong += u32::from(expected.is_some_and(|expected| (expected == "linearizable") != verdict.is_accepted()));
    }
    Observation::of(ms)
        .with("files", files.len() as f64)
        .with("undecided", f64::from(undecided))
        .with("wrong", f64::from(wrong))
}

/// Returns two facts: whether figure 1 is accepted, and whether figure 2b is judged in two parts.
fn judge_facts() -> (bool, bool) {
    let history = |remove: u64| {
        let mut builder = History::builder();
        builder.call(0, SetOp::Add(1)).expect("the process is idle");
        builder.call(1, SetOp::Remove(remove)).expect("the process is idle");
        builder.ret(0, SetRet::Bool(true)).expect("the process has called");
        builder.ret(1, SetRet::Bool(false)).expect("the process has called");
        builder.call(0, SetOp::Contains(1)).expect("the process is idle");
        builder.ret(0, SetRet::Bool(true)).expect("the process has called");
        builder.finish()
    };
    let (one, other) =
        (check(&Set::new(), &history(1), &Config::new()), check(&Set::new(), &history(2), &Config::new()));
    (one.verdict.is_accepted(), other.verdict.is_accepted() && other.stats.partitions == 2)
}

#[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
fn bounded(point: &Point, _: Scale, seed: u64) -> Observation {
    let history = trueline_bench::histories::set(point.number(), seed);
    let budget = Budget::unlimited().time(Duration::from_secs(30));
    let (name, has_default) = match point.series.split_once(',') {
        Some((name, _)) => (name, true),
        None => (point.series.as_str(), false),
    };
    let is_limited = name.starts_with("bounded") && !has_default;
    let budget = if is_limited { budget.memory(16 << 20) } else { budget };
    let algorithm: Algorithm = name.parse().expect("the name of a series is the name of an algorithm");
    let config = Config::new().algorithm(algorithm).partition(false).budget(budget);
    usage::forget_most();
    let loaded = usage::resident_kib();
    let judgment = check(&Set::new(), &history, &config);
    let above = usage::most_kib().saturating_sub(loaded) as f64 / 1024.0;
    Observation::of(above)
        .with("undecided", f64::from(u8::from(!judgment.verdict.is_accepted())))
        .with("peak_mib", judgment.stats.peak_bytes as f64 / (1 << 20) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_hold() {
        assert_eq!(judge_facts(), (true, true));
    }
}

//! Measures the checkers of objects whose operations synchronize, on simulated histories.

use trueline::drive::Random;
use trueline::history::History;
use trueline::judge::sync::{Discipline, SyncAlgorithm, TwoStep, check};
use trueline::judge::{Algorithm, Budget, Config};
use trueline::spec::sync::{
    Abc, AbcOp, Barrier, BarrierOp, Channel, ChannelOp, CounterChannel, Exchanger, Filter, FilterChannel,
    FilterChannelOp, OneFamily, SyncSpec, TimeoutExchanger,
};
use trueline::verdict::Verdict;
use trueline_bench::usage;

/// Simulates a correct object whose operations synchronize with each other. In total, `processes`
/// processes call `operations` operations, which return at random times. `op` returns the next
/// operation of a process.
pub(crate) fn simulate<S: SyncSpec>(
    spec: &S,
    operations: usize,
    processes: u32,
    seed: u64,
    mut op: impl FnMut(&mut Random, u32) -> S::Op,
) -> Vec<Event<S>> {
    let mut random = Random::new(seed);
    let mut state = spec.initial();
    let mut idle: Vec<u32> = (0..processes).collect();
    let mut waiting: Vec<(u32, S::Op)> = Vec::new();
    let mut ready: Vec<(u32, S::Ret)> = Vec::new();
    let mut events = Vec::with_capacity(2 * operations);
    let mut calls = 0;
    let pick = |random: &mut Random, of: usize| random.below(u32::try_from(of).expect("few")) as usize;
    loop {
        if calls < operations && !idle.is_empty() && random.chance(1, 2) {
            let process = idle.swap_remove(pick(&mut random, idle.len()));
            let op = op(&mut random, process);
            waiting.push((process, op.clone()));
            events.push(Event::Call(process, op));
            calls += 1;
            // If the new operation can synchronize with waiting operations, it does so now.
            // Otherwise, it waits until a later call makes this possible.
            if let Some(results) = synchronize(spec, &mut state, &mut waiting) {
                ready.extend(results);
            }
        } else if !ready.is_empty() {
            let (process, result) = ready.swap_remove(pick(&mut random, ready.len()));
            events.push(Event::Return(process, result));
            idle.push(process);
        } else if calls >= operations || idle.is_empty() {
            return events;
        }
    }
}

pub(crate) enum Event<S: SyncSpec> {
    Call(u32, S::Op),
    Return(u32, S::Ret),
}

/// Executes the first synchronization that is possible among the waiting operations, if there is one.
fn synchronize<S: SyncSpec>(
    spec: &S,
    state: &mut S::State,
    waiting: &mut Vec<(u32, S::Op)>,
) -> Option<Vec<(u32, S::Ret)>> {
    waiting.sort_by_key(|(_, op)| spec.place(op));
    let arities = spec.arities(state);
    for bits in arities.iter().flat_map(|arity| subsets(waiting.len(), *arity)) {
        let group: Vec<&(u32, S::Op)> =
            waiting.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, one)| one).collect();
        let ops: Vec<&S::Op> = group.iter().map(|(_, op)| op).collect();
        if let Some((next, results)) = spec.synchronize(state, &ops).into_iter().next() {
            let results: Vec<(u32, S::Ret)> = group.iter().map(|(process, _)| *process).zip(results).collect();
            *state = next;
            waiting.retain(|(process, _)| results.iter().all(|(other, _)| other != process));
            return Some(results);
        }
    }
    None
}

/// Iterates over the subsets of `0..of` that have `size` elements, as bit masks in increasing
/// order. Each bit mask is the next larger number with the same number of ones.
fn subsets(of: usize, size: usize) -> impl Iterator<Item = u64> {
    let first = (size > 0 && size <= of).then(|| (1_u64 << size) - 1);
    std::iter::successors(first, |bits| {
        let lowest = bits & bits.wrapping_neg();
        let carried = bits + lowest;
        Some(carried | (((bits ^ carried) >> 2) / lowest))
    })
    .take_while(move |bits| bits >> of == 0)
}

pub(crate) fn history<S: SyncSpec>(events: Vec<Event<S>>) -> History<S::Op, S::Ret> {
    let mut builder = History::builder();
    for event in events {
        match event {
            Event::Call(process, op) => builder.call(process, op).map(|_| ()),
            Event::Return(process, result) => builder.ret(process, result).map(|_| ()),
        }
        .expect("simulated histories are well formed");
    }
    builder.finish()
}

/// Replaces the result of a return near the end of the history with a different result.
pub(crate) fn spoil<S: SyncSpec>(mut events: Vec<Event<S>>) -> Vec<Event<S>> {
    let late = events.len() * 9 / 10;
    let mut other: Option<S::Ret> = None;
    for event in &mut events[late..] {
        if let Event::Return(_, result) = event {
            match &other {
                Some(other) if other != result => {
                    result.clone_from(other);
                    break;
                }
                _ => other = Some(result.clone()),
            }
        }
    }
    events
}

fn verdict<Ret>(verdict: &Verdict<Ret>) -> String {
    match verdict {
        Verdict::Unknown(limit) => format!("unknown ({})", limit.kind),
        known => known.name().to_owned(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
fn best<T>(times: u32, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut measured = None::<(u64, T)>;
    for _ in 0..times {
        let before = usage::cpu_ns();
        let result = work();
        let taken = usage::cpu_ns() - before;
        if measured.as_ref().is_none_or(|(least, _)| taken < *least) {
            measured = Some((taken, result));
        }
    }
    let (taken, result) = measured.expect("the measurement was made at least once");
    (taken as f64 / 1e6, result)
}

fn long<S: SyncSpec>(name: &str, spec: &S, history: &History<S::Op, S::Ret>, algorithm: SyncAlgorithm) {
    let (ms, judgment) = best(3, || check(spec, history, algorithm, &Budget::unlimited()));
    let memory = usage::most_kib() / 1024;
    println!(
        "| {name} | {} | {:?} | {} | {ms:.1} ms | {memory} MiB |",
        history.len(),
        algorithm,
        verdict(&judgment.verdict)
    );
}

/// Prints the tables of long and of short histories.
pub(crate) fn table() {
    println!("| history | operations | algorithm | verdict | best CPU time of 3 | most memory of the process so far |");
    println!("|---|---|---|---|---|---|");
    let channel = |operations, seed| {
        simulate(&Channel::new(), operations, 16, seed, |random, process| match process % 2 {
            0 => ChannelOp::Send(random.below(100)),
            _ => ChannelOp::Receive,
        })
    };
    let spec = Channel::new();
    long(
        "synchronous channel, 16 clients",
        &spec,
        &history::<Channel<u32>>(channel(1_000_000, 1)),
        SyncAlgorithm::Auto,
    );
    long(
        "synchronous channel, one wrong",
        &spec,
        &history::<Channel<u32>>(spoil(channel(1_000_000, 1))),
        SyncAlgorithm::Auto,
    );
    long(
        "synchronous channel, by matching",
        &spec,
        &history::<Channel<u32>>(channel(1_000_000, 1)),
        SyncAlgorithm::Matching,
    );
    let exchanger = |operations, values, seed| {
        simulate(&Exchanger::new(), operations, 16, seed, move |random, _| random.below(values))
    };
    let spec = Exchanger::new();
    long(
        "exchanger, 100 values, 16 clients",
        &spec,
        &history::<Exchanger<u32>>(exchanger(100_000, 100, 1)),
        SyncAlgorithm::Auto,
    );
    long(
        "exchanger, one wrong",
        &spec,
        &history::<Exchanger<u32>>(spoil(exchanger(100_000, 100, 1))),
        SyncAlgorithm::Auto,
    );
    long("exchanger, 3 values", &spec, &history::<Exchanger<u32>>(exchanger(100_000, 3, 1)), SyncAlgorithm::Auto);
    long(
        "exchanger, 3 values, by matching",
        &spec,
        &history::<Exchanger<u32>>(exchanger(100_000, 3, 1)),
        SyncAlgorithm::Matching,
    );
    let filter = simulate(&FilterChannel, 100_000, 16, 1, |random, process| match process % 4 {
        0 => FilterChannelOp::Send(u64::from(random.below(50)) * 2),
        1 => FilterChannelOp::Receive(Filter::EVEN),
        2 => FilterChannelOp::Send(u64::from(random.below(50)) * 2 + 1),
        _ => FilterChannelOp::Receive(Filter::ODD),
    });
    long("filter channel, 16 clients", &FilterChannel, &history::<FilterChannel>(filter), SyncAlgorithm::Auto);
    let timeout = simulate(&TimeoutExchanger::new(), 100_000, 12, 1, |random, _| random.below(100));
    let spec = TimeoutExchanger::new();
    long("timeout exchanger, 12 clients", &spec, &history::<TimeoutExchanger<u32>>(timeout), SyncAlgorithm::Auto);

    println!("\n| object, threads x calls | direct, just in time | as soon as possible | anytime | two steps |");
    println!("|---|---|---|---|---|");
    short("counter channel 4 x 4", &CounterChannel::new(), 4, 4, |random, process| match process % 2 {
        0 => ChannelOp::Send(random.below(100)),
        _ => ChannelOp::Receive,
    });
    short("one family 4 x 3", &OneFamily, 4, 3, |_, process| process);
    for threads in [6, 12, 24, 30] {
        short(&format!("ABC {threads} x 4"), &Abc, threads, 4, |random, process| {
            let me = u64::from(random.below(100));
            [AbcOp::A(me), AbcOp::B(me), AbcOp::C(me)][process as usize % 3]
        });
    }
    for threads in [4, 8, 16, 32] {
        let barrier = Barrier::new(threads as usize);
        short(&format!("barrier {threads} x 4"), &barrier, threads, 4, |_, process| BarrierOp {
            me: process,
            value: 0,
        });
    }
    for threads in [4, 8, 16, 32] {
        short(&format!("channel {threads} x 4"), &Channel::new(), threads, 4, |random, process| match process % 2 {
            0 => ChannelOp::Send(random.below(100)),
            _ => ChannelOp::Receive,
        });
    }
    for threads in [4, 8, 16, 32] {
        short(&format!("exchanger {threads} x 1"), &Exchanger::new(), threads, 1, |random, _| random.below(100));
    }
}

/// Prints the mean time for judging a short history, in microseconds.
fn short<S: SyncSpec>(name: &str, spec: &S, threads: u32, calls: u32, op: impl Fn(&mut Random, u32) -> S::Op + Copy) {
    const HISTORIES: u64 = 50;
    let operations = (threads * calls) as usize;
    let histories: Vec<_> =
        (0..HISTORIES).map(|seed| history::<S>(simulate(spec, operations, threads, seed, op))).collect();
    let budget = Budget::unlimited().time(std::time::Duration::from_secs(2)).memory(2 << 30);
    let mut cells = Vec::new();
    for discipline in [Discipline::JustInTime, Discipline::AsSoonAsPossible, Discipline::Anytime] {
        cells.push(mean(&histories, |history| {
            !matches!(check(spec, history, SyncAlgorithm::Search(discipline), &budget).verdict, Verdict::Unknown(_))
        }));
    }
    let config = Config::new().algorithm(Algorithm::JustInTimeGraph).budget(budget.clone());
    cells.push(mean(&histories, |history| {
        !matches!(TwoStep::new(spec).check(history, &config).verdict, Verdict::Unknown(_))
    }));
    println!("| {name} | {} |", cells.join(" | "));
}

/// Judges as many of these histories as possible in a few seconds. Returns the mean time as text;
/// if a history is not decided, returns a text that says so.
#[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
fn mean<Op, Ret>(histories: &[History<Op, Ret>], decides: impl Fn(&History<Op, Ret>) -> bool) -> String {
    const MOST_NS: u64 = 4_000_000_000;
    let before = usage::cpu_ns();
    let mut judged = 0_u32;
    for history in histories {
        if !decides(history) {
            return "over 2 s".to_owned();
        }
        judged += 1;
        if usage::cpu_ns() - before > MOST_NS {
            break;
        }
    }
    let mean = (usage::cpu_ns() - before) as f64 / 1e3 / f64::from(judged);
    if judged as usize == histories.len() { format!("{mean:.1} µs") } else { format!("{mean:.1} µs (of {judged})") }
}

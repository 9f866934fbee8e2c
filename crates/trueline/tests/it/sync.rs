//! Compares every checker of synchronizations with the definition, on small random histories.

use std::fmt::Debug;

use trueline::drive::Random;
use trueline::history::{History, OpId};
use trueline::judge::sync::{Discipline, SyncAlgorithm, TwoStep, check, partners, progress};
use trueline::judge::{Algorithm, Budget, Config};
use trueline::spec::sync::{
    Abc, AbcOp, Barrier, BarrierOp, Broadcast, Channel, ChannelOp, ChannelRet, CloseableChannel, CloseableChannelOp,
    Combine, CounterChannel, EnrollableBarrier, EnrollableBarrierOp, Exchanger, Filter, FilterChannel, FilterChannelOp,
    MenWomen, MenWomenOp, OneFamily, SyncSpec, TerminatingQueue, TerminatingQueueOp, TerminatingQueues,
    TerminatingQueuesOp, TimeoutChannel, TimeoutExchanger, TwoFamilies, TwoFamiliesOp,
};
use trueline::verdict::{Evidence, LimitKind, Partners, ProgressVerdict, Unfit, Verdict, WhyUnfit};
use trueline::view::prose;

use crate::happens::{Happens, histories, history, spoil};

/// A specification with random operations.
struct Family<S, F> {
    name: &'static str,
    spec: S,
    processes: u32,
    /// Generates an operation of a process.
    random_op: F,
    /// Whether executions synchronize in pairs of different places, so that the simpler two-step specification is also
    /// correct.
    is_binary: bool,
}

type Events<S> = Vec<Happens<<S as SyncSpec>::Op, <S as SyncSpec>::Ret>>;

impl<S: SyncSpec, F: Fn(&mut Random, u32) -> S::Op> Family<S, F> {
    /// Simulates a correct object, with calls, synchronizations and returns at random times.
    fn simulate(&self, random: &mut Random) -> Events<S> {
        let mut state = self.spec.initial();
        let mut waiting: Vec<(u32, S::Op)> = Vec::new();
        let mut ready: Vec<(u32, S::Ret)> = Vec::new();
        let mut idle: Vec<u32> = (0..self.processes).collect();
        let mut events = Vec::new();
        let mut calls = 2 + random.below(5);
        for _ in 0..8 + random.below(28) {
            match random.below(3) {
                0 if calls > 0 && !idle.is_empty() => {
                    calls -= 1;
                    let process = idle.swap_remove(random.below(idle.len() as u32) as usize);
                    let op = (self.random_op)(random, process);
                    waiting.push((process, op.clone()));
                    events.push(Happens::Call(process, op));
                }
                1 => {
                    // Sorted by place, and within a place by call, because the sort is stable.
                    let mut by_place = waiting.clone();
                    by_place.sort_by_key(|(_, op)| self.spec.place(op));
                    let mut possible = Vec::new();
                    for bits in 1_u32..1 << by_place.len() {
                        let member = |at: &usize| bits >> at & 1 == 1;
                        let group: Vec<&(u32, S::Op)> =
                            (0..by_place.len()).filter(member).map(|at| &by_place[at]).collect();
                        let ops: Vec<&S::Op> = group.iter().map(|(_, op)| op).collect();
                        for (next, results) in self.spec.synchronize(&state, &ops) {
                            let results: Vec<_> = group.iter().map(|(process, _)| *process).zip(results).collect();
                            possible.push((next, results));
                        }
                    }
                    if !possible.is_empty() {
                        let (next, results) = possible.swap_remove(random.below(possible.len() as u32) as usize);
                        state = next;
                        waiting.retain(|(process, _)| results.iter().all(|(other, _)| other != process));
                        ready.extend(results);
                    }
                }
                _ if !ready.is_empty() && random.chance(2, 3) => {
                    let (process, result) = ready.swap_remove(random.below(ready.len() as u32) as usize);
                    events.push(Happens::Return(process, result));
                    idle.push(process);
                }
                _ => {}
            }
        }
        if random.chance(1, 2) {
            events.extend(ready.into_iter().map(|(process, result)| Happens::Return(process, result)));
        }
        events
    }

    fn history(&self, random: &mut Random) -> History<S::Op, S::Ret> {
        let mut events = self.simulate(random);
        if random.chance(3, 4) {
            spoil(&mut events, random);
        }
        let history = history(events);
        // Executions that are open at the cut either have synchronized with their recorded results, or have not
        // synchronized.
        if random.chance(1, 4) {
            history.truncate(random.below(history.events().len() as u32 + 1) as usize)
        } else {
            history
        }
    }

    fn algorithms(&self) -> Vec<SyncAlgorithm> {
        use Discipline::{Anytime, AsSoonAsPossible, JustInTime};
        let mut algorithms = vec![SyncAlgorithm::Auto];
        algorithms.extend([Anytime, AsSoonAsPossible, JustInTime].map(SyncAlgorithm::Search));
        let arities = self.spec.arities(&self.spec.initial());
        if self.spec.is_stateless() && arities.iter().all(|arity| *arity <= 2) {
            algorithms.extend([SyncAlgorithm::Greedy, SyncAlgorithm::Matching]);
        }
        algorithms
    }

    /// Prints rejected histories with their explanations, for people to read.
    fn print(&self, count: usize) {
        let rejected = (0..).filter_map(|seed| {
            let history = self.history(&mut Random::new(seed));
            let verdict = check(&self.spec, &history, SyncAlgorithm::Auto, &Budget::unlimited()).verdict;
            Some((seed, verdict.evidence()?.clone(), history))
        });
        for (seed, evidence, history) in rejected.take(count) {
            println!("{}, seed {seed}:\n{}", self.name, crate::words::shown(&history));
            let show = history.map(|operation| {
                (format!("{:?}", operation.op), operation.outcome.map(|result| format!("{result:?}")))
            });
            let sentences = match partners(&self.spec, &history, &evidence) {
                Some(partners) => prose::tell_partners(&show, &partners),
                None => prose::tell_evidence(&show, &evidence.map(|result| format!("{result:?}"))),
            };
            sentences.iter().for_each(|sentence| println!("    {sentence}"));
        }
    }

    fn agree(&self) {
        let budget = Budget::unlimited();
        let (mut accepted, mut stuck, mut refused, mut told) = (0_u64, [0_u64; 3], 0_u64, 0_u64);
        for seed in 0..histories() {
            let mut random = Random::new(seed);
            let history = self.history(&mut random);
            let context = |what: &dyn Debug| format!("{} {what:?}: seed {seed}: {history:#?}", self.name);
            let expected = check(&self.spec, &history, SyncAlgorithm::Brute, &budget).verdict;
            let expected_progress = kind(&progress(&self.spec, &history, SyncAlgorithm::Brute, &budget));
            accepted += u64::from(expected.is_accepted());
            stuck[expected_progress as usize] += 1;
            for algorithm in self.algorithms() {
                let verdict = check(&self.spec, &history, algorithm, &budget).verdict;
                match (&verdict, &expected) {
                    (Verdict::Accepted(_), Verdict::Accepted(_)) => {}
                    (Verdict::Rejected(found), Verdict::Rejected(expected)) => {
                        assert_eq!(
                            (found.refused, found.event, &found.open),
                            (expected.refused, expected.event, &expected.open),
                            "{}",
                            context(&algorithm)
                        );
                        // The greedy algorithm may not have found all allowed results.
                        if algorithm == SyncAlgorithm::Greedy && !found.all_allowed {
                            refused += 1;
                            continue;
                        }
                        let same = |one: &[S::Ret], other: &[S::Ret]| one.iter().all(|result| other.contains(result));
                        let are_same =
                            same(&found.allowed, &expected.allowed) && same(&expected.allowed, &found.allowed);
                        assert!(are_same && found.all_allowed, "{}: {found:?}", context(&algorithm));
                    }
                    (Verdict::Unknown(limit), _) if matches!(limit.kind, LimitKind::Refused(_)) => {
                        assert_eq!(algorithm, SyncAlgorithm::Greedy, "{}", context(&algorithm));
                        refused += 1;
                        continue;
                    }
                    _ => panic!("{} is {verdict:?}, should be {expected:?}", context(&algorithm)),
                }
                let found = progress(&self.spec, &history, algorithm, &budget);
                if !matches!(&found, ProgressVerdict::Unknown(limit) if matches!(limit.kind, LimitKind::Refused(_))) {
                    assert_eq!(kind(&found), expected_progress, "{}: {found:?}", context(&algorithm));
                }
            }
            if let Some(evidence) = check(&self.spec, &history, SyncAlgorithm::Auto, &budget).verdict.evidence() {
                if let Some(found) = partners(&self.spec, &history, evidence) {
                    told += 1;
                    let wrong = false_partners(&self.spec, &history, evidence, &found);
                    assert!(wrong.is_none(), "{}: {}", wrong.unwrap_or_default(), context(&found));
                }
            }
            let config = Config::new().algorithm(Algorithm::JustInTimeGraph);
            let mut two_steps = vec![TwoStep::new(&self.spec)];
            if self.is_binary {
                two_steps.push(TwoStep::binary(&self.spec));
            }
            for two_step in two_steps {
                let verdict = two_step.check(&history, &config).verdict;
                assert_eq!(verdict.is_accepted(), expected.is_accepted(), "{}", context(&"two steps"));
            }
        }
        println!(
            "{}: {accepted} of {} accepted; progress: {} yes, {} no, {} unsafe; {refused} refused by greedy; of {told} it was said who lacked partners",
            self.name,
            histories(),
            stuck[0],
            stuck[1],
            stuck[2]
        );
        let few = histories() / 20;
        assert!(accepted > few && histories() - accepted > few, "{}: {accepted} accepted", self.name);
        assert!(stuck.iter().all(|of| *of > few / 10), "{}: {stuck:?}", self.name);
    }
}

/// Returns a false claim about partners, by the definition. All executions in `needing` must have returned by the
/// event, and have taken effect with a partner; all possible partners of each of them must be in `partners`; and there
/// must be fewer executions in `partners` than in `needing`.
fn false_partners<S: SyncSpec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    evidence: &Evidence<S::Ret>,
    found: &Partners,
) -> Option<String> {
    let end = evidence.event + 1;
    let until = |id: OpId| history[id].return_position().filter(|ret| *ret < end).unwrap_or(u32::MAX);
    let overlap = |one: OpId, other: OpId| {
        history[one].call_position() < until(other) && history[other].call_position() < until(one)
    };
    let fit = |group: &[OpId]| {
        let ops: Vec<&S::Op> = group.iter().map(|id| &history[*id].op).collect();
        if !ops.is_sorted_by_key(|op| spec.place(op)) {
            return false;
        }
        let outcomes = spec.synchronize(&spec.initial(), &ops);
        outcomes.iter().any(|(_, results)| {
            let is_own = |(id, result): (&OpId, &S::Ret)| {
                // An execution that has not returned by then may still return any result, unless it never returns and
                // its result is known.
                let is_known = until(*id) < end || history[*id].return_position().is_none();
                !is_known || history[*id].outcome.result().is_none_or(|own| own == result)
            };
            group.iter().zip(results).all(is_own)
        })
    };
    let may_be_partners = |one: OpId, other: OpId| {
        one != other
            && history[one].object == history[other].object
            && overlap(one, other)
            && (fit(&[one, other]) || fit(&[other, one]))
    };
    let Partners { needing, partners, unfit, .. } = found;
    let is_set = |ids: &[OpId]| ids.iter().enumerate().all(|(at, id)| !ids[..at].contains(id));
    if !is_set(needing) || !is_set(partners) || needing.len() <= partners.len() {
        return Some("there are not fewer partners than needed".to_owned());
    }
    if let Some(id) = needing.iter().find(|id| until(**id) == u32::MAX || fit(&[**id])) {
        return Some(format!("{id:?} needs no partner"));
    }
    let all =
        (0..u32::try_from(history.len()).expect("small")).map(OpId).filter(|id| history[*id].call_position() < end);
    let may_be_one = |id: &OpId| needing.iter().any(|needing| may_be_partners(*needing, *id));
    let mut possible: Vec<OpId> = all.filter(may_be_one).collect();
    let mut listed = partners.clone();
    possible.sort_unstable();
    listed.sort_unstable();
    if possible != listed {
        return Some(format!("the partners are {possible:?}"));
    }
    let is_false = |unfit: &&Unfit| {
        !needing.iter().any(|one| match unfit.why {
            WhyUnfit::TooEarly => until(unfit.op) < history[*one].call_position(),
            WhyUnfit::TooLate => until(*one) < history[unfit.op].call_position(),
            WhyUnfit::Result => overlap(*one, unfit.op) && !may_be_partners(*one, unfit.op),
        })
    };
    unfit.iter().find(is_false).map(|unfit| format!("{unfit:?}"))
}

fn kind<Ret: Debug>(verdict: &ProgressVerdict<Ret>) -> u8 {
    match verdict {
        ProgressVerdict::Accepted(_) => 0,
        ProgressVerdict::Rejected(evidence) => {
            assert!(!evidence.anticipated.is_empty(), "{evidence:?}");
            1
        }
        ProgressVerdict::Unsafe(_) => 2,
        ProgressVerdict::Unknown(limit) => panic!("{limit}"),
    }
}

/// Generates a test for each family.
macro_rules! families {
    ($($name:ident: $spec:expr, $processes:expr, $is_binary:expr, $random_op:expr;)+) => {
        /// `cargo test -p trueline --test it sync::explanations -- --ignored --nocapture`.
        #[test]
        #[ignore = "to be read by a person"]
        fn explanations() {
            $({
                let (spec, random_op) = ($spec, $random_op);
                let name = stringify!($name);
                Family { name, spec, processes: $processes, random_op, is_binary: $is_binary }.print(2);
            })+
        }

        $(
            #[test]
            fn $name() {
                let spec = $spec;
                let family =
                    Family { name: stringify!($name), spec, processes: $processes, random_op: $random_op, is_binary: $is_binary };
                family.agree();
            }
        )+
    };
}

families! {
    channel: Channel::new(), 4, true, |random: &mut Random, _| channel_op(random, 3);
    filter_channel: FilterChannel, 4, true, |random: &mut Random, _| match random.below(4) {
        0 | 1 => FilterChannelOp::Send(random.below(4).into()),
        2 => FilterChannelOp::Receive(Filter::EVEN),
        _ => FilterChannelOp::Receive(if random.chance(1, 2) { Filter::ODD } else { Filter { modulus: 1, remainder: 0 } }),
    };
    men_women: MenWomen, 4, true, |random: &mut Random, _| match random.chance(1, 2) {
        true => MenWomenOp::Man(random.below(3).into()),
        false => MenWomenOp::Woman(random.below(3).into()),
    };
    exchanger: Exchanger::new(), 4, false, |random: &mut Random, _| random.below(3);
    counter_channel: CounterChannel::new(), 4, true, |random: &mut Random, _| channel_op(random, 2);
    two_families: TwoFamilies, 4, true, |random: &mut Random, process| match process % 2 {
        0 => TwoFamiliesOp::A(if random.chance(3, 4) { process / 2 } else { random.below(2) }),
        _ => TwoFamiliesOp::B(process / 2),
    };
    one_family: OneFamily, 4, false, |_: &mut Random, process| process;
    abc: Abc, 4, false, |random: &mut Random, _| match random.below(3) {
        0 => AbcOp::A(random.below(2).into()),
        1 => AbcOp::B(random.below(2).into()),
        _ => AbcOp::C(random.below(2).into()),
    };
    barrier: Barrier::new(3), 4, false, |_: &mut Random, process| BarrierOp { me: process, value: 0 };
    combining_barrier: Barrier::combining(2, Combine::Sum), 3, false, |random: &mut Random, process| BarrierOp {
        me: process,
        value: random.below(3).into(),
    };
    enrollable_barrier: EnrollableBarrier, 3, false, |random: &mut Random, process| match random.below(4) {
        0 | 1 => EnrollableBarrierOp::Enrol(process),
        2 => EnrollableBarrierOp::Meet(process),
        _ => EnrollableBarrierOp::Resign(process),
    };
    timeout_channel: TimeoutChannel::new(), 4, true, |random: &mut Random, _| channel_op(random, 3);
    timeout_exchanger: TimeoutExchanger::new(), 4, false, |random: &mut Random, _| random.below(3);
    closeable_channel: CloseableChannel::new(), 4, true, |random: &mut Random, _| match random.below(7) {
        0 => CloseableChannelOp::Close,
        1..=3 => CloseableChannelOp::Send(random.below(3)),
        _ => CloseableChannelOp::Receive,
    };
    terminating_queue: TerminatingQueue::new(3), 3, false, |random: &mut Random, _| match random.below(5) {
        0 | 1 => TerminatingQueueOp::Enqueue(random.below(3)),
        _ => TerminatingQueueOp::Dequeue,
    };
    terminating_queues: TerminatingQueues::new(3), 3, false, |random: &mut Random, process| match random.below(5) {
        0 | 1 => TerminatingQueuesOp::Enqueue(process, random.below(3)),
        _ => TerminatingQueuesOp::Dequeue(process),
    };
    broadcast: Broadcast::new(2), 4, false, |random: &mut Random, _| match random.below(3) {
        0 => ChannelOp::Send(random.below(2)),
        _ => ChannelOp::Receive,
    };
}

fn channel_op(random: &mut Random, values: u32) -> ChannelOp<u32> {
    if random.chance(1, 2) { ChannelOp::Send(random.below(values)) } else { ChannelOp::Receive }
}

/// Several objects are judged one by one.
#[test]
fn objects_are_judged_one_by_one() {
    let mut builder = History::builder();
    let [left, right] = ["left", "right"].map(|name| builder.object(name));
    builder.call_on(left, 0, ChannelOp::Send(1)).expect("well formed");
    builder.call_on(right, 1, ChannelOp::Receive).expect("well formed");
    builder.ret(1, ChannelRet::Value(1)).expect("well formed");
    builder.ret(0, ChannelRet::Done).expect("well formed");
    let judgment = check(&Channel::new(), &builder.finish(), SyncAlgorithm::Auto, &Budget::unlimited());
    let evidence = judgment.verdict.evidence().expect("they are on different channels").clone();
    assert!(evidence.allowed.is_empty() && [OpId(0), OpId(1)].contains(&evidence.refused));
}

/// For a timeout channel, it matters when the second step comes, so a log in which it comes late is refused.
#[test]
fn late_second_steps_are_refused_where_they_matter() {
    let mut builder = History::builder();
    builder.call(0, ChannelOp::Send(3)).expect("well formed");
    let history = builder.finish();
    let refused = TwoStep::new(&TimeoutChannel::new()).history(&history, true).expect_err("one or two synchronize");
    assert!(refused.contains("may depend on when they returned"));
    assert!(TwoStep::new(&TimeoutChannel::new()).history(&history, false).is_ok());
}

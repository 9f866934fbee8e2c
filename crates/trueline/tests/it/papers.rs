//! The papers' own examples.

use trueline::history::{EventKind, History, Interval, OpId, from_intervals};
use trueline::judge::{Algorithm, Budget, Config, check, just_in_time, replay};
use trueline::spec::{
    Outcomes, Queue, QueueOp, QueueRet, Register, RegisterOp, RegisterRet, Set, SetOp, SetRet, Spec, outcome,
};

use crate::families::{Registers, simulated};
use trueline::drive::{Random, Simulation};

/// Lowe, section 4: executions of the specification automaton, with linearization points between calls and returns.
mod just_in_time_example {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Step {
        Event(EventKind, OpId),
        Point(OpId),
    }

    /// All executions of the specification automaton (figure 2) whose calls and returns are the history.
    fn executions(history: &History<QueueOp<u8>, QueueRet<u8>>) -> Vec<Vec<Step>> {
        fn go(
            history: &History<QueueOp<u8>, QueueRet<u8>>,
            position: usize,
            pointed: &mut Vec<OpId>,
            path: &mut Vec<Step>,
            found: &mut Vec<Vec<Step>>,
        ) {
            // The next step is the linearization point of an open operation...
            let open = history.operations().iter().enumerate().filter(|(_, operation)| {
                (operation.call_position() as usize) < position
                    && operation.return_position().is_some_and(|ret| ret as usize >= position)
            });
            for id in open.map(|(index, _)| OpId(u32::try_from(index).expect("small"))) {
                if !pointed.contains(&id) {
                    pointed.push(id);
                    path.push(Step::Point(id));
                    go(history, position, pointed, path, found);
                    path.pop();
                    pointed.pop();
                }
            }
            // ... or the next event.
            let Some(event) = history.events().get(position) else {
                found.push(path.clone());
                return;
            };
            if event.kind() == EventKind::Call || pointed.contains(&event.op()) {
                path.push(Step::Event(event.kind(), event.op()));
                go(history, position + 1, pointed, path, found);
                path.pop();
            }
        }
        let mut found = Vec::new();
        go(history, 0, &mut Vec::new(), &mut Vec::new(), &mut found);
        found
    }

    /// Definition 5: each linearization point is followed by another one, or by the return of the same operation.
    fn is_just_in_time(execution: &[Step]) -> bool {
        execution.windows(2).all(|pair| match pair {
            [Step::Point(op), next] => matches!(next, Step::Point(_)) || *next == Step::Event(EventKind::Return, *op),
            _ => true,
        })
    }

    #[test]
    fn two_overlapping_enqueues_have_five_linearizations_and_two_just_in_time() {
        let mut builder = History::builder();
        builder.call(1, QueueOp::Enqueue(1)).unwrap();
        builder.call(2, QueueOp::Enqueue(2)).unwrap();
        builder.ret(1, QueueRet::Done).unwrap();
        builder.ret(2, QueueRet::Done).unwrap();
        let history = builder.finish();
        let all = executions(&history);
        assert_eq!(all.len(), 5);
        assert_eq!(all.iter().filter(|execution| is_just_in_time(execution)).count(), 2);

        // The search finds only these two executions: a dequeue that the queue refuses afterward makes the search try
        // all of them. Each path is the root, the first point and the second point; the first path has one point at
        // each return.
        let mut builder = History::builder();
        builder.call(1, QueueOp::Enqueue(1)).unwrap();
        builder.call(2, QueueOp::Enqueue(2)).unwrap();
        builder.ret(1, QueueRet::Done).unwrap();
        builder.ret(2, QueueRet::Done).unwrap();
        builder.call(1, QueueOp::Dequeue).unwrap();
        builder.ret(1, QueueRet::Value(Some(3))).unwrap();
        let judgment = just_in_time::tree::check(&Queue::new(), &builder.finish(), &Budget::unlimited());
        assert!(judgment.verdict.is_rejected());
        assert_eq!(judgment.stats.configurations, 1 + 2 * 2, "a root and two ways of two points");
    }
}

/// Lowe, section 4: the just-in-time graph search visits at most (N + 1) · 2^p · (p + 1) configurations of a register.
#[test]
fn register_bound() {
    let mut tightest = 0;
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let processes = 2 + random.below(4);
        let shape = Simulation { processes, operations: 60, crashes: 0, busy: true };
        let mut history = simulated::<Registers>(&shape, &mut random);
        if seed % 2 == 0 {
            history = crate::families::spoilt::<Registers>(&history, &mut random);
        }
        let judgment = just_in_time::graph::check(&Register::new(0), &history, &Budget::unlimited());
        let (n, p) = (history.events().len() as u64, u64::from(processes));
        let bound = (n + 1) * (1 << p) * (p + 1);
        let visited = judgment.stats.configurations;
        assert!(visited <= bound, "seed {seed}: {visited} configurations, but the bound is {bound}");
        tightest = tightest.max(visited * 1000 / bound);
    }
    assert!(tightest > 10, "the bound says nothing about these histories: {tightest} of 1,000 at most");
}

/// Lowe, figure 7: the event that was refused, and the results that were allowed.
#[test]
fn figure_7() {
    use trueline::spec::{Map, MapOp, MapRet};
    let mut builder = History::builder();
    let mut event = |process: u32, call: Option<MapOp<u8, char>>, ret: Option<MapRet<char>>| {
        match (call, ret) {
            (Some(op), _) => builder.call(process, op).unwrap(),
            (_, Some(ret)) => builder.ret(process, ret).unwrap(),
            _ => unreachable!("an event is a call or a return"),
        };
    };
    event(1, Some(MapOp::Put(0, '0')), None);
    event(0, Some(MapOp::Delete(0)), None);
    event(0, None, Some(MapRet::Done));
    event(0, Some(MapOp::Put(0, '2')), None);
    event(0, None, Some(MapRet::Done));
    event(0, Some(MapOp::Delete(0)), None);
    event(0, None, Some(MapRet::Done));
    event(1, None, Some(MapRet::Done));
    event(1, Some(MapOp::GetOrInsert(0, 'X')), None);
    event(1, None, Some(MapRet::Value(Some('2'))));
    let history = builder.finish();
    let judgment = check(&Map::new(), &history, &Config::new());
    let evidence = judgment.verdict.evidence().expect("the paper's error");
    assert_eq!((evidence.refused, evidence.event), (OpId(4), 9));
    assert_eq!(evidence.allowed, [MapRet::Value(Some('0')), MapRet::Value(Some('X'))]);
}

/// Horn and Kroening's history H1 (figure 1), and the claims of their examples 1 to 5 about it.
mod horn_and_kroening {
    use super::*;

    fn h1() -> History<SetOp<u8>, SetRet> {
        let mut builder = History::builder();
        builder.call(0, SetOp::Add(1)).unwrap();
        builder.call(1, SetOp::Remove(1)).unwrap();
        builder.ret(0, SetRet::Bool(true)).unwrap();
        builder.ret(1, SetRet::Bool(false)).unwrap();
        builder.call(0, SetOp::Contains(1)).unwrap();
        builder.ret(0, SetRet::Bool(true)).unwrap();
        builder.finish()
    }

    /// Returns a history of operations that do not overlap.
    fn sequential<Op, Ret>(operations: impl IntoIterator<Item = (Op, Ret)>) -> History<Op, Ret> {
        let mut builder = History::builder();
        for (op, ret) in operations {
            builder.call(0, op).unwrap();
            builder.ret(0, ret).unwrap();
        }
        builder.finish()
    }

    fn accepted<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>) -> bool {
        check(spec, history, &Config::new()).verdict.is_accepted()
    }

    #[test]
    fn example_1_the_history_has_six_events() {
        let history = h1();
        assert_eq!(history.events().len(), 6);
        assert!(history[OpId(0)].return_position().unwrap() < history[OpId(2)].call_position());
    }

    #[test]
    fn examples_2_and_3_sequential_histories_may_be_wrong() {
        let (remove, add, contains) = (
            (SetOp::Remove(1), SetRet::Bool(false)),
            (SetOp::Add(1), SetRet::Bool(true)),
            (SetOp::Contains(1), SetRet::Bool(true)),
        );
        let h2 = sequential([remove.clone(), add.clone(), contains.clone()]);
        let h3 = sequential([add, remove, contains]);
        assert!(accepted(&Set::new(), &h2));
        assert!(!accepted(&Set::new(), &h3));
    }

    #[test]
    fn example_4_happens_before() {
        let history = h1();
        assert!(history.precedes(OpId(0), OpId(2)) && history.precedes(OpId(1), OpId(2)));
        assert!(!history.precedes(OpId(0), OpId(1)) && !history.precedes(OpId(1), OpId(0)));
    }

    #[test]
    fn example_5_h1_is_linearizable_as_h2() {
        let history = h1();
        replay(&Set::new(), &history, &[OpId(1), OpId(0), OpId(2)]).expect("H2 is a linearization");
        assert!(replay(&Set::new(), &history, &[OpId(0), OpId(1), OpId(2)]).is_err(), "H3 is not");
        for (algorithm, _) in trueline::judge::ALGORITHMS.iter().filter(|(one, _)| *one != Algorithm::QueueLowe) {
            let judgment = check(&Set::new(), &history, &Config::new().algorithm(algorithm.clone()));
            assert_eq!(judgment.verdict.witness().expect("accepted").order, [OpId(1), OpId(0), OpId(2)], "{algorithm}");
        }
    }

    #[test]
    fn example_6_objects_are_judged_alone() {
        let mut builder = History::builder();
        let (a, b) = (builder.object("a"), builder.object("b"));
        builder.call_on(a, 0, SetOp::Add(1)).unwrap();
        builder.ret(0, SetRet::Bool(true)).unwrap();
        builder.call_on(b, 0, SetOp::Contains(1)).unwrap();
        builder.ret(0, SetRet::Bool(false)).unwrap();
        let history = builder.finish();
        let judgment = check(&Set::new(), &history, &Config::new().partition(false));
        assert!(judgment.verdict.is_accepted(), "1 is in a, not in b");
        assert_eq!(judgment.stats.partitions, 2);
    }

    #[test]
    fn example_7_a_set_is_judged_by_value() {
        let history = sequential([
            (SetOp::Add(1), SetRet::Bool(true)),
            (SetOp::Add(2), SetRet::Bool(true)),
            (SetOp::Contains(3), SetRet::Bool(false)),
        ]);
        let judgment = check(&Set::new(), &history, &Config::new());
        assert_eq!((judgment.verdict.name(), judgment.stats.partitions), ("accepted", 3));
        // "A 'size' operation cannot be generally partitioned this way."
        let spanning = sequential([
            (SetOp::Add(1), SetRet::Bool(true)),
            (SetOp::Add(2), SetRet::Bool(true)),
            (SetOp::Size, SetRet::Size(1)),
        ]);
        let judgment = check(&Set::new(), &spanning, &Config::new());
        assert_eq!((judgment.verdict.name(), judgment.stats.partitions), ("rejected", 1));
        // But a value that is wrong by itself is found without judging the rest.
        let early = sequential([(SetOp::Size, SetRet::Size(0)), (SetOp::Contains(1), SetRet::Bool(true))]);
        let judgment = check(&Set::new(), &early, &Config::new());
        assert!(judgment.verdict.is_rejected());
        assert!(judgment.stats.choice.is_some_and(|choice| choice.contains("ignoring those that span several keys")));
    }

    /// An array that is read and written by index, as a map.
    #[test]
    fn example_8_an_array_is_judged_by_index() {
        use trueline::spec::{Map, MapOp, MapRet};
        let history = sequential([
            (MapOp::Put(0, 'a'), MapRet::Done),
            (MapOp::Put(1, 'b'), MapRet::Done),
            (MapOp::Get(0), MapRet::Value(Some('a'))),
        ]);
        let judgment = check(&Map::new(), &history, &Config::new());
        assert_eq!((judgment.verdict.name(), judgment.stats.partitions), ("accepted", 2));
    }

    /// A stack whose operations also return the height before them, partitioned by height as in example 9, or not.
    struct Heights {
        by_height: bool,
    }

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    enum HeightOp {
        Push(char),
        Pop,
    }

    impl Spec for Heights {
        type Op = HeightOp;
        type Ret = (usize, Option<char>);
        type State = Vec<char>;
        type Key = usize;
        type Value = ();

        fn initial(&self) -> Vec<char> {
            Vec::new()
        }

        fn step(
            &self,
            state: &Vec<char>,
            op: &HeightOp,
            recorded: Option<&Self::Ret>,
        ) -> Outcomes<Self::Ret, Vec<char>> {
            let mut next = state.clone();
            // A partition does not contain the elements below, so the recorded height must be trusted.
            let height = match recorded {
                Some((height, _)) if self.by_height => *height,
                _ => state.len(),
            };
            match op {
                HeightOp::Push(value) => {
                    next.push(*value);
                    outcome((height, None), next)
                }
                HeightOp::Pop => {
                    let popped = next.pop();
                    outcome((height, popped), next)
                }
            }
        }

        fn key(&self, op: &HeightOp, recorded: Option<&Self::Ret>) -> Option<usize> {
            // A push at height h and a pop at height h + 1 concern the same place.
            recorded.filter(|_| self.by_height).map(|(height, _)| match op {
                HeightOp::Push(_) => *height,
                HeightOp::Pop => height.saturating_sub(1),
            })
        }
    }

    /// Example 9 is wrong: with `push a` at height 0, `push b` at 1 and a pop that returns a at height 1, each height
    /// alone may be legal, but no stack behaves like this.
    #[test]
    fn example_9_is_wrong() {
        let history = sequential([
            (HeightOp::Push('a'), (0, None)),
            (HeightOp::Push('b'), (1, None)),
            (HeightOp::Pop, (1, Some('a'))),
        ]);
        assert!(accepted(&Heights { by_height: true }, &history), "each height alone is legal");
        assert!(!accepted(&Heights { by_height: false }, &history), "the whole history is not");
    }

    #[test]
    fn example_11_the_parts_of_figure_2b() {
        let history = from_intervals([
            Interval::returned(0, SetOp::Add(0), 0, 10, SetRet::Bool(true)),
            Interval::returned(1, SetOp::Remove(1), 5, 15, SetRet::Bool(false)),
            Interval::returned(0, SetOp::Contains(0), 20, 30, SetRet::Bool(true)),
        ])
        .unwrap();
        let value = |id: OpId| usize::from(history[id].op == SetOp::Remove(1));
        let parts = trueline::history::split(history.events(), 2, value);
        let parts: Vec<_> = parts.iter().collect();
        let of = |part: usize| parts[part].iter().map(|event| (event.kind(), event.op().0)).collect::<Vec<_>>();
        let (call, ret) = (EventKind::Call, EventKind::Return);
        assert_eq!(of(0), [(call, 0), (ret, 0), (call, 2), (ret, 2)]);
        assert_eq!(of(1), [(call, 1), (ret, 1)]);
        let judgment = check(&Set::new(), &history, &Config::new().algorithm(Algorithm::WingGongGraph));
        assert_eq!((judgment.verdict.name(), judgment.stats.partitions), ("accepted", 2));
    }
}

/// Checks a history of one read and one write of a register.
#[test]
fn a_read_before_its_write_is_refused() {
    let mut builder = History::builder();
    builder.call(0, RegisterOp::Read).unwrap();
    builder.ret(0, RegisterRet::Value(1)).unwrap();
    builder.call(1, RegisterOp::Write(1)).unwrap();
    builder.ret(1, RegisterRet::Done).unwrap();
    let judgment = check(&Register::new(0), &builder.finish(), &Config::new());
    assert_eq!(judgment.verdict.evidence().expect("the read is refused").allowed, [RegisterRet::Value(0)]);
}

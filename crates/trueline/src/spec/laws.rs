//! The laws that every specification must satisfy, checked on random walks through its states.

use std::collections::HashMap;

use super::persistent::testing::Random;
use super::{Outcomes, Spec};

/// Checks that a specification satisfies these laws in the states of random walks, for all of these
/// operations and results:
///
/// - given a recorded result, `step` returns the same outcomes as without a recorded result,
///   restricted to those with that result;
/// - no outcome is returned twice;
/// - an operation for which `observes` returns `true` leaves the state unchanged;
/// - an operation for which `overwrites` returns `true` does overwrite ([`check_overwrites`]);
/// - a goal for which `reaches` returns `false` is not reachable ([`check_reaches`]);
/// - the `object`, if there is one, behaves as `step` does ([`check_object`]).
pub(crate) fn check<S: Spec>(spec: &S, operations: &[S::Op], results: &[S::Ret], seed: u64) {
    check_overwrites(spec, operations, results, seed);
    check_reaches(spec, operations, results, seed);
    check_object(spec, operations, results, seed);
    let mut random = Random::new(seed);
    let (mut observed, mut blocked) = (0, 0);
    for _ in 0..60 {
        let mut state = spec.initial();
        for _ in 0..40 {
            for operation in operations {
                let all = spec.step(&state, operation, None);
                blocked += usize::from(all.is_empty());
                for (index, outcome) in all.iter().enumerate() {
                    assert!(
                        !all[..index].contains(outcome),
                        "in {state:?}, one call of `step` lists the outcome {outcome:?} of {operation:?} twice"
                    );
                    assert!(
                        results.contains(&outcome.0),
                        "`results` must contain {:?}, which {operation:?} returned",
                        outcome.0
                    );
                }
                let observes_always = spec.observes(operation, None);
                for result in results {
                    let mut matching = spec.step(&state, operation, Some(result));
                    matching.retain(|(given, _)| given == result);
                    let expected: Outcomes<_, _> = all.iter().filter(|(given, _)| given == result).cloned().collect();
                    assert_eq!(
                        matching, expected,
                        "`step` with and without a result disagree about {operation:?} -> {result:?} in {state:?}"
                    );
                    for (_, next) in &matching {
                        if observes_always || spec.observes(operation, Some(result)) {
                            assert_eq!(
                                *next, state,
                                "`observes` is true for {operation:?} -> {result:?}, but the operation changes the state"
                            );
                            observed += 1;
                        }
                    }
                }
            }
            let operation = &operations[random.below(operations.len())];
            let mut outcomes = spec.step(&state, operation, None);
            if !outcomes.is_empty() {
                let chosen = random.below(outcomes.len());
                state = outcomes.swap_remove(chosen).1;
            }
        }
    }
    assert!(observed > 0 || blocked > 0, "the test visited only operations that change the state, so it tested little");
}

/// Checks the promise of `overwrites`: in every state of the walks, an operation that overwrites with a result has
/// exactly one outcome with this result, and the next state is always the same. For an operation with a key, the walks
/// use operations with that key.
///
/// If `overwrites` returns `true` without a recorded result, there must be at least one outcome,
/// and all outcomes must have the same next state.
pub(crate) fn check_overwrites<S: Spec>(spec: &S, operations: &[S::Op], results: &[S::Ret], seed: u64) {
    let mut random = Random::new(seed);
    for operation in operations {
        for recorded in std::iter::once(None).chain(results.iter().map(Some)) {
            if !spec.overwrites(operation, recorded) {
                continue;
            }
            let key = spec.key(operation, recorded);
            let mut reached: Option<S::State> = None;
            for _ in 0..20 {
                let mut state = spec.initial();
                for _ in 0..30 {
                    let mut outcomes = spec.step(&state, operation, recorded);
                    outcomes.retain(|(result, _)| recorded.is_none_or(|recorded| result == recorded));
                    assert!(
                        outcomes.len() == 1 || (recorded.is_none() && !outcomes.is_empty()),
                        "`overwrites` is true for {operation:?} -> {recorded:?}, but its outcomes are {outcomes:?} in {state:?}"
                    );
                    for (_, next) in outcomes {
                        let reached = reached.get_or_insert_with(|| next.clone());
                        assert_eq!(
                            *reached, next,
                            "`overwrites` is true for {operation:?} -> {recorded:?}, but the next state depends on \
                             {state:?}"
                        );
                    }
                    let step = &operations[random.below(operations.len())];
                    let mut outcomes = spec.step(&state, step, None);
                    outcomes.retain(|(result, _)| key.is_none() || spec.key(step, Some(result)) == key);
                    if !outcomes.is_empty() {
                        let chosen = random.below(outcomes.len());
                        state = outcomes.swap_remove(chosen).1;
                    }
                }
            }
        }
    }
}

/// Checks the promise of `reaches`. If a goal is possible in a state of a walk, `reaches` must
/// return `true` in that state, and also in the earlier states of the walk, back to the state after
/// the last operation that overwrites the goal's key. If there are goals, `reaches` must return
/// `false` for some goal in some state, because otherwise the check would prove nothing.
pub(crate) fn check_reaches<S: Spec>(spec: &S, operations: &[S::Op], results: &[S::Ret], seed: u64) {
    let mut random = Random::new(seed);
    let (mut goals, mut out_of_reach) = (0, 0);
    for _ in 0..60 {
        // The states of a walk, and for each state after the first, the step that led to it.
        let mut states = vec![spec.initial()];
        let mut steps: Vec<(S::Op, S::Ret)> = Vec::new();
        for _ in 0..20 {
            let state = states.last().expect("the list begins with the initial state");
            for goal in operations {
                for result in results.iter().filter(|result| spec.is_goal(goal, result)) {
                    goals += 1;
                    out_of_reach += usize::from(!spec.reaches(state, goal, result));
                }
                for (result, _) in
                    spec.step(state, goal, None).into_iter().filter(|(result, _)| spec.is_goal(goal, result))
                {
                    let key = spec.key(goal, Some(&result));
                    let overwritten = steps.iter().rposition(|(op, ret)| {
                        spec.overwrites(op, Some(ret)) && (key.is_none() || spec.key(op, Some(ret)) == key)
                    });
                    for before in &states[overwritten.map_or(0, |step| step + 1)..] {
                        assert!(
                            spec.reaches(before, goal, &result),
                            "`reaches` is false for {goal:?} -> {result:?} from {before:?}, but the goal is possible in \
                             {state:?}"
                        );
                    }
                }
            }
            let step = &operations[random.below(operations.len())];
            let mut outcomes = spec.step(state, step, None);
            if !outcomes.is_empty() {
                let chosen = random.below(outcomes.len());
                let (result, next) = outcomes.swap_remove(chosen);
                steps.push((step.clone(), result));
                states.push(next);
            }
        }
    }
    assert!(goals == 0 || out_of_reach > 0, "no goal was ever out of reach, so `reaches` was not tested");
}

/// Checks the `object`, if there is one: it must allow exactly the results that `step` allows. The
/// check uses random walks. Each walk ends at the first result that is not allowed.
pub(crate) fn check_object<S: Spec>(spec: &S, operations: &[S::Op], results: &[S::Ret], seed: u64) {
    let mut random = Random::new(seed);
    let mut answers = [0; 2];
    for _ in 0..2_000 {
        let Some(mut object) = spec.object() else { return };
        let mut state = spec.initial();
        for _ in 0..60 {
            let operation = &operations[random.below(operations.len())];
            // Most of the time, choose an allowed result, so that some walks are long.
            let right = spec.step(&state, operation, None).into_iter().map(|(result, _)| result);
            let mut right = results.iter().filter(|result| right.clone().any(|other| other == **result));
            let any = &results[random.below(results.len())];
            let result = if random.below(40) == 0 { any } else { right.next().unwrap_or(any) };
            let mut outcomes = spec.step(&state, operation, Some(result));
            outcomes.retain(|(given, _)| given == result);
            assert!(
                outcomes.len() <= 1,
                "the specification has an `object`, but {operation:?} -> {result:?} has several outcomes"
            );
            let expected = outcomes.pop();
            let answer = object(operation, result);
            assert_eq!(
                answer,
                expected.is_some(),
                "`object` and `step` disagree about {operation:?} -> {result:?} in {state:?}"
            );
            answers[usize::from(answer)] += 1;
            match expected {
                Some((_, next)) => state = next,
                None => break,
            }
        }
    }
    assert!(answers.iter().all(|count| *count > 500), "{answers:?}");
}

/// Checks that `observes` is complete. If an operation with a result leaves every state of the
/// walks unchanged, `observes` must return `true`, unless the caller excludes the operation; if the
/// operation changes some state, `observes` must return `false`.
pub(crate) fn check_observers_are_known<S: Spec>(
    spec: &S,
    operations: &[S::Op],
    excepted: impl Fn(&S::Op, &S::Ret) -> bool,
    seed: u64,
) {
    let mut random = Random::new(seed);
    let mut changes: HashMap<(S::Op, S::Ret), bool> = HashMap::new();
    for _ in 0..100 {
        let mut state = spec.initial();
        for _ in 0..60 {
            for operation in operations {
                for (result, next) in spec.step(&state, operation, None) {
                    *changes.entry((operation.clone(), result)).or_default() |= next != state;
                }
            }
            let mut outcomes = spec.step(&state, &operations[random.below(operations.len())], None);
            if !outcomes.is_empty() {
                let chosen = random.below(outcomes.len());
                state = outcomes.swap_remove(chosen).1;
            }
        }
    }
    for operation in operations {
        let mut seen = changes.iter().filter(|((other, _), _)| other == operation).peekable();
        assert!(seen.peek().is_some(), "{operation:?} had no outcome in any state that was visited");
        for ((_, result), &changed) in seen {
            if !excepted(operation, result) {
                assert_eq!(spec.observes(operation, Some(result)), !changed, "{operation:?} -> {result:?}");
            }
        }
    }
}

/// Checks the promise of `key`: a random sequence of operations that all have keys is legal if and
/// only if, for each key, the operations with that key are legal.
pub(crate) fn check_keys<S: Spec>(spec: &S, operations: &[S::Op], results: &[S::Ret], seed: u64) {
    let mut random = Random::new(seed);
    let (mut legal, mut illegal) = (0, 0);
    while legal < 500 || illegal < 500 {
        let mut sequence: Vec<(S::Op, S::Ret)> = Vec::new();
        let mut state = spec.initial();
        for _ in 0..1 + random.below(8) {
            let operation = operations[random.below(operations.len())].clone();
            let outcomes = spec.step(&state, &operation, None);
            // Most of the time, choose an allowed result, so that some long sequences are legal.
            let result = if outcomes.is_empty() || random.below(10) == 0 {
                results[random.below(results.len())].clone()
            } else {
                let (result, next) = outcomes[random.below(outcomes.len())].clone();
                state = next;
                result
            };
            if spec.key(&operation, Some(&result)).is_some() {
                sequence.push((operation, result));
            }
        }
        let mut parts: HashMap<S::Key, Vec<_>> = HashMap::new();
        for (operation, result) in &sequence {
            let key = spec.key(operation, Some(result)).expect("only operations with keys are in the sequence");
            parts.entry(key).or_default().push((operation.clone(), result.clone()));
        }
        let whole = is_legal(spec, &sequence);
        assert_eq!(whole, parts.values().all(|part| is_legal(spec, part)), "{sequence:?}");
        if whole {
            legal += 1;
        } else {
            illegal += 1;
        }
    }
}

/// Checks that two specifications allow the same results, on random sequences.
pub(crate) fn check_same<S: Spec, T: Spec<Op = S::Op, Ret = S::Ret>>(
    one: &S,
    other: &T,
    operations: &[S::Op],
    results: &[S::Ret],
    seed: u64,
) {
    let mut random = Random::new(seed);
    let mut answers = [0; 2];
    for _ in 0..2_000 {
        let mut sequence = Vec::new();
        for _ in 0..1 + random.below(12) {
            let operation = &operations[random.below(operations.len())];
            let result = &results[random.below(results.len())];
            sequence.push((operation.clone(), result.clone()));
            let is_legal = is_legal(one, &sequence);
            assert_eq!(is_legal, self::is_legal(other, &sequence), "{sequence:?}");
            answers[usize::from(is_legal)] += 1;
            if !is_legal {
                sequence.pop();
            }
        }
    }
    assert!(answers.iter().all(|count| *count > 500), "{answers:?}");
}

/// Returns whether the operations can return these results when they are executed one after
/// another.
pub(crate) fn is_legal<S: Spec>(spec: &S, sequence: &[(S::Op, S::Ret)]) -> bool {
    let mut states = vec![spec.initial()];
    for (operation, result) in sequence {
        let mut next_states = Vec::new();
        for state in &states {
            let outcomes = spec.step(state, operation, Some(result));
            next_states.extend(outcomes.into_iter().filter(|(given, _)| given == result).map(|(_, next)| next));
        }
        states = next_states;
    }
    !states.is_empty()
}

mod tests {
    use super::*;
    use crate::spec::{Map, MapOp, MapRet, Object, outcome};

    /// A map that makes false promises about some of its operations.
    struct Boastful(fn(&MapOp<u8, u8>, Option<&MapRet<u8>>) -> bool);

    impl Spec for Boastful {
        type Op = MapOp<u8, u8>;
        type Ret = MapRet<u8>;
        type State = <Map<u8, u8> as Spec>::State;
        type Key = u8;
        type Value = ();

        fn initial(&self) -> Self::State {
            Map::new().initial()
        }

        fn step(
            &self,
            state: &Self::State,
            op: &MapOp<u8, u8>,
            recorded: Option<&MapRet<u8>>,
        ) -> Outcomes<MapRet<u8>, Self::State> {
            match op {
                MapOp::Size => outcome(MapRet::Done, state.clone()),
                op => Map::new().step(state, op, recorded),
            }
        }

        fn overwrites(&self, op: &MapOp<u8, u8>, recorded: Option<&MapRet<u8>>) -> bool {
            (self.0)(op, recorded)
        }

        fn key(&self, op: &MapOp<u8, u8>, recorded: Option<&MapRet<u8>>) -> Option<u8> {
            // A put of 9 claims to affect all keys.
            if matches!(op, MapOp::Put(_, 9)) { None } else { Map::new().key(op, recorded) }
        }
    }

    fn check_boast(overwrites: fn(&MapOp<u8, u8>, Option<&MapRet<u8>>) -> bool) {
        let operations = [
            MapOp::Put(0, 1),
            MapOp::Put(0, 9),
            MapOp::Put(1, 1),
            MapOp::Insert(0, 1),
            MapOp::Get(0),
            MapOp::Size,
            MapOp::Clear,
        ];
        check_overwrites(&Boastful(overwrites), &operations, &[MapRet::Done, MapRet::Value(None)], 1);
    }

    #[test]
    fn true_overwrites_pass() {
        check_boast(|op, recorded| {
            matches!((op, recorded), (MapOp::Put(_, 1) | MapOp::Clear, None | Some(MapRet::Done)))
        });
        check_boast(|op, recorded| matches!((op, recorded), (MapOp::Insert(..), None)));
    }

    #[test]
    #[should_panic(expected = ", but its outcomes are ")]
    fn what_some_states_refuse_does_not_overwrite() {
        check_boast(|op, recorded| matches!((op, recorded), (MapOp::Insert(..), Some(MapRet::Value(None)))));
    }

    #[test]
    #[should_panic(expected = ", but the next state depends on ")]
    fn what_keeps_the_state_does_not_overwrite() {
        check_boast(|op, _| matches!(op, MapOp::Get(_)));
    }

    /// A counter with a given implementation of `reaches`.
    struct Hopeless(fn(u8, u8) -> bool);

    impl Spec for Hopeless {
        type Op = u8;
        type Ret = u8;
        type State = u8;
        type Key = ();
        type Value = ();

        fn initial(&self) -> u8 {
            0
        }

        /// Adds its argument, and returns the old count.
        fn step(&self, state: &u8, op: &u8, _recorded: Option<&u8>) -> Outcomes<u8, u8> {
            outcome(*state, state.saturating_add(*op))
        }

        fn is_goal(&self, _op: &u8, _result: &u8) -> bool {
            true
        }

        fn reaches(&self, state: &u8, _goal: &u8, result: &u8) -> bool {
            (self.0)(*state, *result)
        }
    }

    /// A counter with a given implementation of `object`.
    struct Careless(fn(u8, u8) -> bool);

    impl Spec for Careless {
        type Op = u8;
        type Ret = u8;
        type State = u8;
        type Key = ();
        type Value = ();

        fn initial(&self) -> u8 {
            0
        }

        fn step(&self, state: &u8, op: &u8, _recorded: Option<&u8>) -> Outcomes<u8, u8> {
            outcome(*state, (state + op) % 3)
        }

        fn object<'a>(&'a self) -> Option<Object<'a, u8, u8>> {
            let mut state = 0;
            Some(Box::new(move |op, result| {
                let answer = self.0(state, *result);
                state = (state + op) % 3;
                answer
            }))
        }
    }

    #[test]
    fn a_true_object_passes() {
        check_object(&Careless(|state, result| state == result), &[0, 1, 2], &[0, 1, 2], 1);
    }

    #[test]
    #[should_panic(expected = "`object` and `step` disagree about")]
    fn an_object_that_allows_too_much_is_found() {
        check_object(&Careless(|state, result| state == result || state == 2), &[0, 1, 2], &[0, 1, 2], 1);
    }

    #[test]
    #[should_panic(expected = "`object` and `step` disagree about")]
    fn an_object_that_refuses_too_much_is_found() {
        check_object(&Careless(|state, result| state == result && state != 2), &[0, 1, 2], &[0, 1, 2], 1);
    }

    #[test]
    fn true_words_on_what_is_out_of_reach_pass() {
        check_reaches(&Hopeless(|state, result| state <= result), &[0, 1, 2], &[0, 1, 2], 1);
    }

    #[test]
    #[should_panic(expected = "`reaches` is false for ")]
    fn what_happens_is_not_out_of_reach() {
        check_reaches(&Hopeless(|state, result| state == result), &[0, 1, 2], &[0, 1, 2], 1);
    }

    #[test]
    #[should_panic(expected = ", but the next state depends on ")]
    fn what_overwrites_one_key_of_all_does_not_overwrite() {
        check_boast(|op, recorded| matches!((op, recorded), (MapOp::Put(_, 9), Some(MapRet::Done))));
    }
}

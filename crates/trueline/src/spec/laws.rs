//! What every specification promises, checked on random walks through its states.

use std::collections::HashMap;

use super::super::persistent::testing::Random;
use super::super::{Outcomes, Spec};

/// Checks a specification in the states of random walks, for all of these operations and results.
///
/// - `step` with a result gives exactly those outcomes that `step` without one gives and that have this result;
/// - no outcome is given twice;
/// - an operation that `observes` leaves the state as it is.
pub(crate) fn check<S: Spec>(spec: &S, operations: &[S::Op], results: &[S::Ret], seed: u64) {
    let mut random = Random::new(seed);
    let (mut observed, mut blocked) = (0, 0);
    for _ in 0..60 {
        let mut state = spec.initial();
        for _ in 0..40 {
            for operation in operations {
                let all = spec.step(&state, operation, None);
                blocked += usize::from(all.is_empty());
                for (index, outcome) in all.iter().enumerate() {
                    assert!(!all[..index].contains(outcome), "{operation:?} gives {outcome:?} twice in {state:?}");
                    assert!(
                        results.contains(&outcome.0),
                        "the results to check with lack {:?} of {operation:?}",
                        outcome.0
                    );
                }
                let observes_always = spec.observes(operation, None);
                for result in results {
                    let mut matching = spec.step(&state, operation, Some(result));
                    matching.retain(|(given, _)| given == result);
                    let expected: Outcomes<_, _> = all.iter().filter(|(given, _)| given == result).cloned().collect();
                    assert_eq!(matching, expected, "{operation:?} with {result:?} in {state:?}");
                    for (_, next) in &matching {
                        if observes_always || spec.observes(operation, Some(result)) {
                            assert_eq!(*next, state, "{operation:?} -> {result:?} is said to observe");
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
    assert!(observed > 0 || blocked > 0, "a walk that sees nothing but changes tests little");
}

/// Checks that `observes` says so wherever it could: that an operation and a result which leave every state of the
/// walks alone are known as such, but for those that the caller excepts.
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
        assert!(seen.peek().is_some(), "{operation:?} never happened");
        for ((_, result), &changed) in seen {
            if !excepted(operation, result) {
                assert_eq!(spec.observes(operation, Some(result)), !changed, "{operation:?} -> {result:?}");
            }
        }
    }
}

/// Checks that keys are what they promise: random sequences of operations that all have keys are legal if and only if
/// the part of each key is.
pub(crate) fn check_keys<S: Spec>(spec: &S, operations: &[S::Op], results: &[S::Ret], seed: u64) {
    let mut random = Random::new(seed);
    let (mut legal, mut illegal) = (0, 0);
    while legal < 500 || illegal < 500 {
        let mut sequence: Vec<(S::Op, S::Ret)> = Vec::new();
        let mut state = spec.initial();
        for _ in 0..1 + random.below(8) {
            let operation = operations[random.below(operations.len())].clone();
            let outcomes = spec.step(&state, &operation, None);
            // Mostly what is right, so that some long sequences are legal.
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

/// Whether the operations can have these results one after the other.
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

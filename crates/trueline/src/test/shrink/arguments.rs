//! Simplifies arguments: tries those that their generators produce first.

use std::collections::BTreeSet;

use super::super::listing::Listing;
use crate::drive::{Call, Workload};
use crate::history::Value;

/// Only this many of a generator's first arguments are tried.
const FEW: u32 = 3;
/// The number of arguments drawn to see which ones a generator produces.
const DRAWS: u64 = 8;
/// The number of unique numbers that are skipped to see which parts of an argument are unique.
const FAR: u64 = 1 << 20;

/// Returns `argument` with its parts replaced by those of `simple`, except for the unique ones.
fn with_parts_of(simple: &Value, later: &Value, argument: &Value) -> Value {
    match (simple, later, argument) {
        (Value::List(simple), Value::List(later), Value::List(parts))
            if simple.len() == later.len() && simple.len() == parts.len() =>
        {
            let parts = simple.iter().zip(&**later).zip(&**parts);
            parts.map(|((simple, later), part)| with_parts_of(simple, later, part)).collect()
        }
        _ if simple == later => simple.clone(),
        _ => argument.clone(),
    }
}

/// Returns the arguments that the generator produces before the call's own, in order; none if it has no first argument.
pub(super) fn simpler(workload: &Workload, Call { operation, argument }: &Call) -> Vec<Value> {
    let draw = |few: u32, seed: u64| {
        let [simple, later] = [0, FAR].map(|unique| workload.draw(*operation, seed, few, unique));
        with_parts_of(&simple, &later, argument)
    };
    let mut found: Vec<Value> = Vec::new();
    for few in 1..=FEW {
        let mut drawn: Vec<Value> = (0..DRAWS).map(|seed| draw(few, seed)).collect();
        drawn.dedup();
        if few == 1 && drawn.len() > 1 {
            return Vec::new();
        }
        for value in drawn {
            if value == *argument {
                return found;
            }
            if !found.contains(&value) {
                found.push(value);
            }
        }
    }
    found
}

/// Returns the program with the first argument in all calls.
pub(super) fn simplest(workload: &Workload, program: &Listing) -> Listing {
    let mut program = program.clone();
    for call in program.all_mut() {
        if let Some(first) = simpler(workload, call).into_iter().next() {
            call.argument = first;
        }
    }
    program
}

/// Returns the program with smaller unique numbers, in the same order.
pub(super) fn renumbered(workload: &Workload, program: &Listing) -> Listing {
    let mut numbers = BTreeSet::new();
    let each = |call: &Call, look: &mut dyn FnMut(i64) -> i64| {
        let [simple, later] = [0, FAR].map(|unique| workload.draw(call.operation, 0, 1, unique));
        change_unique(&simple, &later, &call.argument, look)
    };
    for call in program.all() {
        each(call, &mut |number| {
            numbers.insert(number);
            number
        });
    }
    let mut program = program.clone();
    let place =
        |number: i64| numbers.iter().zip(1..).find(|(known, _)| **known == number).map_or(number, |(_, place)| place);
    for call in program.all_mut() {
        call.argument = each(call, &mut |number| place(number));
    }
    program
}

/// Returns the argument with its unique numbers changed.
fn change_unique(simple: &Value, later: &Value, argument: &Value, change: &mut dyn FnMut(i64) -> i64) -> Value {
    match (simple, later, argument) {
        (Value::List(simple), Value::List(later), Value::List(parts))
            if simple.len() == later.len() && simple.len() == parts.len() =>
        {
            let parts = simple.iter().zip(&**later).zip(&**parts);
            parts.map(|((simple, later), part)| change_unique(simple, later, part, change)).collect()
        }
        (Value::Int(simple), Value::Int(later), Value::Int(number)) if simple.abs_diff(*later) == FAR => {
            Value::Int(change(*number))
        }
        _ => argument.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::{Generate, Kind, made_by, unique};
    use crate::history::Datum as _;

    fn kind<G: Generate + Send + Sync + 'static>(generator: G) -> Kind {
        Kind::new("put", move |making| generator.generate(making).to_value())
    }

    fn simpler_of<G: Generate + Send + Sync + 'static>(generator: G, argument: &str) -> String {
        let workload = Workload { kinds: vec![kind(generator)], ..Workload::default() };
        let call = Call { operation: 0, argument: argument.parse().expect("a value") };
        Value::from_iter(simpler(&workload, &call)).to_string()
    }

    #[test]
    fn arguments_move_to_the_beginning_of_their_generator() {
        let first = simpler_of(5..100_u32, "57");
        assert!(first == "[5,6,7]" || first == "[5,7,6]", "{first}");
        assert_eq!(simpler_of(5..100_u32, "6"), "[5]");
        assert_eq!(simpler_of(5..100_u32, "5"), "[]");
        assert_eq!(simpler_of(['z', 'a'], "\"a\""), "[\"z\"]");
        assert_eq!(simpler_of((), "null"), "[]");
        assert_eq!(simpler_of((0..2_u32, unique()), "[1,77]"), "[[0,77]]", "what is unique stays");
        assert_eq!(simpler_of(made_by(|random| random.below(1000)), "7"), "[]", "nothing comes first");
    }

    #[test]
    fn unique_numbers_keep_their_order() {
        let kinds = vec![kind(unique()), kind((0..9_u32, unique()))];
        let workload = Workload { kinds, ..Workload::default() };
        let call = |operation, text: &str| Call { operation, argument: text.parse().expect("a value") };
        let threads = vec![vec![call(0, "70"), call(1, "[70,9]")], vec![call(0, "9"), call(1, "[8,12]")]];
        let program = renumbered(&workload, &Listing { threads, ..Listing::default() });
        let shown: Vec<String> = program.all().map(|call| call.argument.to_string()).collect();
        assert_eq!(shown, ["3", "[70,1]", "1", "[8,2]"]);
    }
}

//! Simplifies arguments: tries to replace each argument by an argument that comes earlier in its
//! generator.

use std::collections::BTreeSet;

use super::super::listing::Listing;
use crate::drive::{Call, Workload};
use crate::history::Value;

/// Arguments are replaced only by arguments that consist of the first values of the ranges and
/// lists in the generator: at most this many values of each range or list.
const FEW: u32 = 3;
/// The number of arguments that are drawn from a generator, with different seeds, to learn which
/// arguments it produces.
const DRAWS: u64 = 8;
/// To find the parts of an argument that are unique numbers, an argument is drawn twice from the
/// same seed. The unique numbers of the second draw are this much higher than those of the first
/// draw. So the parts in which the two arguments differ are unique numbers.
const FAR: u64 = 1 << 20;

/// Returns `argument` with its parts replaced by the parts of `simple`. A part in which `simple`
/// and `later` differ is a unique number, and is not replaced.
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

/// Returns the arguments that come before the argument of this call in its generator, in the order
/// of the generator. Returns no arguments if the generator has no fixed first argument.
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

/// Returns the program with the argument of each call replaced by the first argument of its
/// generator. If the generator has no fixed first argument, the argument of the call is kept.
pub(super) fn simplest(workload: &Workload, program: &Listing) -> Listing {
    let mut program = program.clone();
    for call in program.all_mut() {
        if let Some(first) = simpler(workload, call).into_iter().next() {
            call.argument = first;
        }
    }
    program
}

/// Returns the program with its unique numbers, from the smallest to the largest, replaced by 1, 2,
/// 3 and so on.
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

/// Returns the argument with `change` applied to its unique numbers.
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
        let call = Call { operation: 0, argument: argument.parse().expect("the text is a value") };
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
        assert_eq!(simpler_of((0..2_u32, unique()), "[1,77]"), "[[0,77]]", "unique numbers stay");
        assert_eq!(simpler_of(made_by(|random| random.below(1000)), "7"), "[]", "the generator has no first argument");
    }

    #[test]
    fn unique_numbers_keep_their_order() {
        let kinds = vec![kind(unique()), kind((0..9_u32, unique()))];
        let workload = Workload { kinds, ..Workload::default() };
        let call = |operation, text: &str| Call { operation, argument: text.parse().expect("the text is a value") };
        let threads = vec![vec![call(0, "70"), call(1, "[70,9]")], vec![call(0, "9"), call(1, "[8,12]")]];
        let program = renumbered(&workload, &Listing { threads, ..Listing::default() });
        let shown: Vec<String> = program.all().map(|call| call.argument.to_string()).collect();
        assert_eq!(shown, ["3", "[70,1]", "1", "[8,2]"]);
    }
}

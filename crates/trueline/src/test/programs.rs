//! Lists programs with given numbers of [`Calls`]. If the object has an operation that inserts and
//! one that removes, the list contains programs that insert as many values as they remove.
//! Otherwise, the programs are random.

use super::calls::Calls;
use super::listing::Listing;
use super::meaning::Meaning;
use crate::drive::{Call, Random, Workload};

/// Names of operations that insert a value.
const INSERTS: &[&str] = &["enqueue", "push", "insert", "add", "push-back", "send"];
/// Names of operations that remove a value.
const REMOVES: &[&str] = &["dequeue", "pop", "delete-min", "remove", "remove-any", "pop-front", "receive"];

/// If the main thread makes at least this many calls, it may remove values before the child threads start.
const MUCH: u32 = 8;
/// The maximum number of values that the main thread removes before the child threads start.
const MOST_REMOVED_BEFORE: u32 = 3;

/// Returns an operation that inserts a value and an operation that removes a value. Returns `None`
/// if the object does not have both.
pub(super) fn pair(workload: &Workload, meaning: impl Fn(u32) -> Option<Meaning>) -> Option<(u32, u32)> {
    let find = |names: &[&str], means: fn(Meaning) -> bool| {
        let is_it = |(number, name): &(u32, &str)| names.contains(name) || meaning(*number).is_some_and(means);
        (0..).zip(workload.kinds.iter().map(|kind| &*kind.name)).find(is_it).map(|(number, _)| number)
    };
    let inserts = find(INSERTS, |meaning| matches!(meaning, Meaning::Enqueue | Meaning::Push));
    let removes = find(REMOVES, |meaning| matches!(meaning, Meaning::Dequeue | Meaning::Pop));
    inserts.zip(removes)
}

/// The programs with a given number of calls, for an object.
pub(super) struct Programs<'w> {
    workload: &'w Workload,
    calls: &'w Calls,
    /// The operation that inserts and the operation that removes; `None` if the object does not
    /// have both.
    pair: Option<(u32, u32)>,
    /// The possible patterns of the child threads' calls. A pattern has one bit for each call,
    /// starting with the first child; the bit is set if the call inserts. Programs with the same
    /// pattern differ in the number of values that the main thread removes before the children
    /// start.
    patterns: Vec<u64>,
}

impl<'w> Programs<'w> {
    /// Creates the list of programs; `meaning` returns the meaning of an operation, if it is known.
    pub(super) fn new(workload: &'w Workload, calls: &'w Calls, meaning: impl Fn(u32) -> Option<Meaning>) -> Self {
        let pair = pair(workload, meaning);
        let mut programs = Self { workload, calls, pair, patterns: Vec::new() };
        if pair.is_some() {
            programs.patterns = programs.all_patterns();
        }
        programs
    }

    fn all_patterns(&self) -> Vec<u64> {
        let Calls { children, main } = self.calls;
        let of_children: u32 = children.iter().sum();
        // If the child threads make many calls, there would be too many patterns, so use only one.
        if of_children > 16 {
            return vec![self.alternating()];
        }
        let half = (of_children + main) / 2;
        let is_balanced = |pattern: &u64| {
            let inserts = pattern.count_ones();
            inserts <= half && half - inserts <= *main
        };
        // Children with equal numbers of calls are interchangeable, so keep only one of the
        // patterns that differ in the order of such children.
        let is_first = |pattern: &u64| {
            let mut rest = *pattern;
            let parts: Vec<(u32, u64)> = children
                .iter()
                .map(|calls| {
                    let part = rest & ((1 << calls) - 1);
                    rest >>= calls;
                    (*calls, part)
                })
                .collect();
            parts.windows(2).all(|pair| pair[0].0 != pair[1].0 || pair[0].1 >= pair[1].1)
        };
        let mut patterns: Vec<u64> = (0..1_u64 << of_children).filter(is_balanced).filter(is_first).collect();
        let plain = self.alternating();
        patterns.sort_by_key(|pattern| ((pattern ^ plain).count_ones(), *pattern));
        patterns
    }

    /// Returns the pattern in which each child alternately inserts and removes.
    fn alternating(&self) -> u64 {
        let mut pattern = 0;
        let mut at = 0;
        for calls in &self.calls.children {
            for call in 0..*calls {
                pattern |= u64::from(call % 2 == 0) << (at % 64);
                at += 1;
            }
        }
        pattern
    }

    /// Returns the number of programs; `None` if programs are generated at random, without a limit.
    pub(super) fn count(&self) -> Option<u32> {
        let count = self.patterns.len() * (self.most_removed_before() as usize + 1);
        self.pair.map(|_| u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Returns how many values the main thread may remove before the child threads start. Returns 0
    /// if the main thread makes few calls, because it would then often remove all the values that
    /// it has inserted.
    fn most_removed_before(&self) -> u32 {
        if self.calls.main >= MUCH { MOST_REMOVED_BEFORE } else { 0 }
    }

    /// Returns the program with this number.
    pub(super) fn get(&self, number: u32) -> Option<Listing> {
        let mut random = Random::new(u64::from(number));
        let mut unique = 0;
        let Calls { children, main } = self.calls;
        let workload = self.workload;
        let Some((inserts, removes)) = self.pair else {
            let kinds: Vec<u32> =
                (0..).zip(&workload.kinds).filter(|(_, kind)| kind.weight > 0).map(|(number, _)| number).collect();
            let mut draw = |count: u32| -> Vec<Call> {
                (0..count)
                    .map(|_| {
                        let kind = *random.pick(&kinds);
                        workload.call(kind, &mut random, &mut unique)
                    })
                    .collect()
            };
            let before = draw(main / 2);
            let threads = children.iter().map(|calls| draw(*calls)).collect();
            return Some(Listing { before, threads, after: draw(main - main / 2) });
        };
        let patterns = u32::try_from(self.patterns.len()).ok()?.max(1);
        let pattern = *self.patterns.get((number % patterns) as usize)?;
        let of_children: u32 = children.iter().sum();
        let of_main = ((of_children + main) / 2).saturating_sub(pattern.count_ones()).min(*main);
        let mut call = |is_insert| workload.call(if is_insert { inserts } else { removes }, &mut random, &mut unique);
        let removed = number / patterns;
        if removed > self.most_removed_before() {
            return None;
        }
        let removed = removed.min(main - of_main).min(of_main);
        let before = (0..of_main + removed).map(|place| call(place < of_main)).collect();
        let mut at = 0;
        let threads = children
            .iter()
            .map(|calls| {
                let first = at;
                at += calls;
                (first..at).map(|place| call(pattern >> (place % 64) & 1 == 1)).collect()
            })
            .collect();
        Some(Listing { before, threads, after: (of_main + removed..*main).map(|_| call(false)).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Kind;
    use crate::history::Value;

    fn queue() -> Workload {
        let kinds = vec![Kind::with_unique_values("enqueue"), Kind::new("dequeue", |_| Value::Null)];
        Workload { kinds, ..Workload::default() }
    }

    fn calls(text: &str) -> Calls {
        text.parse().expect("the text gives numbers of calls")
    }

    #[test]
    fn programs_put_in_as_much_as_they_take_out() {
        let workload = queue();
        for text in ["2*2+4", "4*4+0", "1*1+12", "3*3+2", "2*3+3", "1*1*1+3"] {
            let calls = calls(text);
            let programs = Programs::new(&workload, &calls, |_| None);
            let count = programs.count().expect("a queue inserts and removes");
            assert!(count > 0 && programs.get(count).is_none(), "{text}");
            let mut seen = Vec::new();
            for number in 0..count {
                let program = programs.get(number).expect("the number is below the count");
                let all = [program.threads.concat(), program.before.clone(), program.after.clone()].concat();
                let inserts = all.iter().filter(|call| call.operation == 0).count();
                assert_eq!(inserts * 2, all.len(), "{text} {number}");
                let lengths: Vec<u32> = program.threads.iter().map(|calls| calls.len() as u32).collect();
                assert_eq!(lengths, calls.children);
                assert_eq!(program.before.len() + program.after.len(), calls.main as usize);
                assert!(program.before.is_sorted_by_key(|call| call.operation), "insertions come first");
                assert!(!seen.contains(&program), "{text} {number}");
                seen.push(program);
            }
        }
        // Each of the two calls of the children is an enqueue or a dequeue, as in table V of the Round-Up paper.
        // Before the children start, there are up to three removals.
        assert_eq!(Programs::new(&workload, &calls("1*1+12"), |_| None).count(), Some(12));
        assert_eq!(Programs::new(&workload, &calls("1*1+2"), |_| None).count(), Some(3));
    }
}

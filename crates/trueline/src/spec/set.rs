//! A set.

use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hash};
use std::marker::PhantomData;

use hashbrown::HashSet;
use smallvec::SmallVec;

use super::persistent::{FoldHasher, Trie, in_reading_order};
use super::{Object, Outcomes, Spec, Standard, Subject, blocked, outcome};

/// A set of values of type `V`, initially empty.
///
/// | operation | result | key | leaves the state unchanged |
/// |---|---|---|---|
/// | `Add(v)` | `Bool`: `true` if `v` was absent (and has been added) | `v` | if `false` |
/// | `Remove(v)` | `Bool`: `true` if `v` was present (and has been removed) | `v` | if `false` |
/// | `Contains(v)` | `Bool`: `true` if `v` is present | `v` | always |
/// | `Size` | `Size`, the number of elements | none | always |
/// | `Clear` | `Done` | none | never |
///
/// A new state allocates only the nodes on the path to the changed entry; see [`Trie::heap_size`].
///
/// ```
/// use trueline::spec::{Set, SetOp, SetRet, Spec};
///
/// let set = Set::new();
/// let (result, state) = set.step(&set.initial(), &SetOp::Add('a'), None).remove(0);
/// assert_eq!(result, SetRet::Bool(true));
/// assert_eq!(set.step(&state, &SetOp::Add('a'), None)[0].0, SetRet::Bool(false));
/// assert!(set.step(&state, &SetOp::Contains('b'), Some(&SetRet::Bool(true))).is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Set<V>(PhantomData<fn() -> V>);

without_parameters!(Set<V>, "Creates the specification of a set that is initially empty.");

/// An operation of a [`Set`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SetOp<V> {
    /// Adds a value, and returns whether it was absent.
    Add(V),
    /// Removes a value, and returns whether it was present.
    Remove(V),
    /// Returns whether a value is present.
    Contains(V),
    /// Returns the number of values.
    Size,
    /// Removes all values.
    Clear,
}

/// A result of a [`SetOp`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SetRet {
    /// Whether a value was added, was removed, or is present.
    Bool(bool),
    /// The number of values.
    Size(usize),
    /// The set was cleared.
    Done,
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for Set<V> {
    type Op = SetOp<V>;
    type Ret = SetRet;
    type State = Trie<V, ()>;
    type Key = V;
    type Value = ();

    fn initial(&self) -> Trie<V, ()> {
        Trie::new()
    }

    fn step(&self, state: &Trie<V, ()>, op: &SetOp<V>, recorded: Option<&SetRet>) -> Outcomes<SetRet, Trie<V, ()>> {
        // Reading the result is cheaper than updating the state, so the result is checked first.
        let result = match op {
            SetOp::Add(value) => SetRet::Bool(!state.contains_key(value)),
            SetOp::Remove(value) | SetOp::Contains(value) => SetRet::Bool(state.contains_key(value)),
            SetOp::Size => SetRet::Size(state.len()),
            SetOp::Clear => SetRet::Done,
        };
        if recorded.is_some_and(|recorded| *recorded != result) {
            return blocked();
        }
        let next = match op {
            SetOp::Add(value) => state.insert(value.clone(), ()),
            SetOp::Remove(value) => state.remove(value),
            SetOp::Contains(_) | SetOp::Size => state.clone(),
            SetOp::Clear => Trie::new(),
        };
        outcome(result, next)
    }

    fn object<'a>(&'a self) -> Option<Object<'a, SetOp<V>, SetRet>> {
        let mut values = Values::new();
        Some(Box::new(move |op, result| match (op, result) {
            (SetOp::Add(value), SetRet::Bool(was_absent)) => values.insert(value) == *was_absent,
            (SetOp::Remove(value), SetRet::Bool(was_there)) => values.remove(value) == *was_there,
            (SetOp::Contains(value), SetRet::Bool(is_there)) => values.contains(value) == *is_there,
            (SetOp::Size, SetRet::Size(size)) => values.len() == *size,
            (SetOp::Clear, SetRet::Done) => {
                values = Values::new();
                true
            }
            _ => false,
        }))
    }

    fn subject(&self, op: &SetOp<V>, recorded: Option<&SetRet>) -> Subject {
        match (op, recorded) {
            (SetOp::Add(value) | SetOp::Remove(value) | SetOp::Contains(value), _) => Subject::of(value),
            (SetOp::Clear, _) | (SetOp::Size, Some(SetRet::Size(0))) => Subject::Free,
            (SetOp::Size, _) => Subject::All,
        }
    }

    fn leads_to(&self, op: &SetOp<V>, recorded: &SetRet) -> Option<Trie<V, ()>> {
        match (op, recorded) {
            (SetOp::Add(value), SetRet::Bool(_)) | (SetOp::Contains(value), SetRet::Bool(true)) => {
                Some(Trie::new().insert(value.clone(), ()))
            }
            (SetOp::Remove(_), SetRet::Bool(_))
            | (SetOp::Contains(_), SetRet::Bool(false))
            | (SetOp::Size, SetRet::Size(0))
            | (SetOp::Clear, SetRet::Done) => Some(Trie::new()),
            _ => None,
        }
    }

    fn observes(&self, op: &SetOp<V>, recorded: Option<&SetRet>) -> bool {
        match op {
            SetOp::Contains(_) | SetOp::Size => true,
            SetOp::Add(_) | SetOp::Remove(_) => recorded == Some(&SetRet::Bool(false)),
            SetOp::Clear => false,
        }
    }

    fn overwrites(&self, op: &SetOp<V>, recorded: Option<&SetRet>) -> bool {
        matches!((op, recorded), (SetOp::Clear, None | Some(SetRet::Done)))
    }

    fn key(&self, op: &SetOp<V>, _recorded: Option<&SetRet>) -> Option<V> {
        match op {
            SetOp::Add(value) | SetOp::Remove(value) | SetOp::Contains(value) => Some(value.clone()),
            SetOp::Size | SetOp::Clear => None,
        }
    }

    fn heap_size(&self, state: &Trie<V, ()>) -> usize {
        state.heap_size()
    }

    fn describe_state(&self, state: &Trie<V, ()>) -> String {
        format!("{{{}}}", in_reading_order(state.keys()).join(", "))
    }

    fn standard<'a>(&'a self, op: &'a SetOp<V>, recorded: Option<&'a SetRet>) -> Option<Standard<&'a ()>> {
        Some(match (op, recorded) {
            // A pending operation can be treated as one that changes the set. An operation that
            // changes nothing can be left out if it is pending.
            (SetOp::Add(_), None | Some(SetRet::Bool(true))) => Standard::Flip(true),
            (SetOp::Remove(_), None | Some(SetRet::Bool(true))) => Standard::Flip(false),
            (SetOp::Add(_), Some(SetRet::Bool(false))) => Standard::Sees(true),
            (SetOp::Remove(_), Some(SetRet::Bool(false))) => Standard::Sees(false),
            (SetOp::Contains(_), Some(SetRet::Bool(present))) => Standard::Sees(*present),
            _ => return None,
        })
    }
}

/// The values of a set that is updated in place.
///
/// Sets are mostly judged key by key. The part of a set that belongs to one key contains at most
/// one value. Therefore, the first few values are not stored in a hash table.
struct Values<'a, V> {
    few: SmallVec<[&'a V; 3]>,
    others: HashSet<&'a V, BuildHasherDefault<FoldHasher>>,
}

impl<'a, V: Eq + Hash> Values<'a, V> {
    fn new() -> Self {
        Self { few: SmallVec::new(), others: HashSet::default() }
    }

    fn len(&self) -> usize {
        self.few.len() + self.others.len()
    }

    fn contains(&self, value: &V) -> bool {
        self.few.contains(&value) || (!self.others.is_empty() && self.others.contains(value))
    }

    /// Adds a value, and returns whether it was absent.
    fn insert(&mut self, value: &'a V) -> bool {
        let is_new = !self.contains(value);
        if is_new && self.few.len() < self.few.inline_size() {
            self.few.push(value);
        } else if is_new {
            self.others.insert(value);
        }
        is_new
    }

    /// Removes a value, and returns whether it was present.
    fn remove(&mut self, value: &V) -> bool {
        match self.few.iter().position(|other| *other == value) {
            Some(place) => {
                self.few.swap_remove(place);
                true
            }
            None => !self.others.is_empty() && self.others.remove(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::laws;

    fn operations() -> Vec<SetOp<u8>> {
        let of_one = |value| [SetOp::Add(value), SetOp::Remove(value), SetOp::Contains(value)];
        (0..4).flat_map(of_one).chain([SetOp::Size, SetOp::Clear]).collect()
    }

    fn results() -> Vec<SetRet> {
        (0..=4).map(SetRet::Size).chain([SetRet::Bool(true), SetRet::Bool(false), SetRet::Done]).collect()
    }

    #[test]
    fn keeps_the_laws() {
        laws::check(&Set::new(), &operations(), &results(), 1);
        laws::check_observers_are_known(&Set::new(), &operations(), |_, _| false, 2);
        laws::check_keys(&Set::new(), &operations(), &results(), 3);
    }

    #[test]
    fn the_object_is_the_set_when_it_has_many_values() {
        let operations: Vec<SetOp<u8>> = (0..12)
            .flat_map(|value| [SetOp::Add(value), SetOp::Add(value), SetOp::Remove(value), SetOp::Contains(value)])
            .chain([SetOp::Size, SetOp::Clear])
            .collect();
        let results: Vec<SetRet> = [SetRet::Bool(false), SetRet::Bool(true), SetRet::Done]
            .into_iter()
            .chain((0..=12).map(SetRet::Size))
            .collect();
        laws::check_object(&Set::new(), &operations, &results, 4);
    }

    #[test]
    fn whole_set_operations_have_no_key() {
        assert_eq!(Set::<u8>::new().key(&SetOp::Size, None), None);
        assert_eq!(Set::<u8>::new().key(&SetOp::Clear, None), None);
        assert_eq!(Set::new().key(&SetOp::Remove(3), None), Some(3));
    }

    #[test]
    fn is_described_as_a_set() {
        let state = [10, 9, 1].into_iter().map(|value| (value, ())).collect();
        assert_eq!(Set::new().describe_state(&state), "{1, 9, 10}");
        assert_eq!(Set::<u8>::new().describe_state(&Trie::new()), "{}");
    }
}

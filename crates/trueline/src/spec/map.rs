//! A map from keys to values.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::persistent::{Trie, describe_map};
use super::{Spec, Standard, Steps, Subject, blocked, outcome};

/// A map from keys `K` to values `V`, initially empty.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `Get(k)` | `Value`, the current value | always |
/// | `Put(k, v)` | `Done` | never |
/// | `Append(k, v)` | `Done` | never |
/// | `Insert(k, v)` | `Value`, the value before the operation | if the result is `v` |
/// | `GetOrInsert(k, v)` | `Value`, the value after the operation, never `None` | if the result is not `v` |
/// | `Cas { key, expected, new }` | `Swapped`: `true` if the value was `expected` | if `false`; always if `expected` is `new` |
/// | `Delete(k)` | `Done`, whether or not there was a value | never |
/// | `Remove(k)` | `Value`, the value before the operation | if the result is `None` |
/// | `Size` | `Size`, the number of keys with values | always |
/// | `Clear` | `Done` | never |
///
/// `Cas` sets the value to `new` if the value is `expected` (`None` means absent), and otherwise
/// fails. It does not fail for any other reason. [`Map::appending`] defines the effect of appends;
/// by default, appends are not possible. An append copies the value, so [`Kv`](super::Kv) is faster
/// for appending to long strings.
///
/// The key of an operation is its `k` or `key`; `Size` and `Clear` have no key. A new state
/// allocates only the nodes on the path to the changed entry; see [`Trie::heap_size`].
///
/// ```
/// use trueline::spec::{Map, MapOp, MapRet, Spec};
///
/// let map = Map::new();
/// let (result, state) = map.step(&map.initial(), &MapOp::Insert("k", 1), None).remove(0);
/// assert_eq!(result, MapRet::Value(None));
/// let (result, state) = map.step(&state, &MapOp::GetOrInsert("k", 2), None).remove(0);
/// assert_eq!(result, MapRet::Value(Some(1)));
/// assert!(map.step(&state, &MapOp::Get("k"), Some(&MapRet::Value(Some(2)))).is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Map<K, V> {
    entries: PhantomData<fn() -> (K, V)>,
    append: fn(Option<&V>, &V) -> Option<V>,
}

impl<K, V> Map<K, V> {
    /// Creates a map that is initially empty.
    pub const fn new() -> Self {
        Self { entries: PhantomData, append: |_, _| None }
    }

    /// Allows appends: `append` takes the current value (`None` if the key is absent) and the value
    /// to append. It returns the new value, or `None` if the append is not possible.
    ///
    /// ```
    /// use trueline::spec::{Map, MapOp, MapRet, Spec};
    ///
    /// let map = Map::new().appending(|old: Option<&String>, end| Some(old.cloned().unwrap_or_default() + end));
    /// let state = map.step(&map.initial(), &MapOp::Append("k", "a".to_owned()), None).remove(0).1;
    /// let state = map.step(&state, &MapOp::Append("k", "b".to_owned()), None).remove(0).1;
    /// assert_eq!(map.step(&state, &MapOp::Get("k"), None)[0].0, MapRet::Value(Some("ab".to_owned())));
    /// ```
    #[must_use]
    pub const fn appending(mut self, append: fn(Option<&V>, &V) -> Option<V>) -> Self {
        self.append = append;
        self
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

/// An operation of a [`Map`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MapOp<K, V> {
    /// Returns the value of a key.
    Get(K),
    /// Sets the value of a key, without a result.
    Put(K, V),
    /// Appends to the value of a key, without a result.
    Append(K, V),
    /// Sets the value of a key, and returns the old one.
    Insert(K, V),
    /// Sets the value of a key if the key is absent, and returns the resulting value.
    GetOrInsert(K, V),
    /// Sets the value of a key if the current value is the expected one.
    Cas {
        /// The key.
        key: K,
        /// The value that the key must have; `None` if the key must be absent.
        expected: Option<V>,
        /// The new value.
        new: V,
    },
    /// Removes the value of a key, without a result.
    Delete(K),
    /// Removes the value of a key, and returns it.
    Remove(K),
    /// Returns the number of keys that have values.
    Size,
    /// Removes all values.
    Clear,
}

/// A result of a [`MapOp`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MapRet<V> {
    /// A value; `None` if the key is absent.
    Value(Option<V>),
    /// An operation without a result took place.
    Done,
    /// Whether a compare-and-set found the expected value.
    Swapped(bool),
    /// The number of keys that have values.
    Size(usize),
}

impl<K, V> Spec for Map<K, V>
where
    K: Clone + Eq + Hash + Debug + Send + Sync,
    V: Clone + Eq + Hash + Debug + Send + Sync,
{
    type Op = MapOp<K, V>;
    type Ret = MapRet<V>;
    type State = Trie<K, V>;
    type Key = K;
    type Value = V;

    fn initial(&self) -> Trie<K, V> {
        Trie::new()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        // Reading the result is cheaper than updating the state, so the result is checked first.
        let result = match op {
            MapOp::Get(key) | MapOp::Insert(key, _) | MapOp::Remove(key) => MapRet::Value(state.get(key).cloned()),
            MapOp::GetOrInsert(key, value) => MapRet::Value(Some(state.get(key).unwrap_or(value).clone())),
            MapOp::Cas { key, expected, .. } => MapRet::Swapped(state.get(key) == expected.as_ref()),
            MapOp::Size => MapRet::Size(state.len()),
            MapOp::Put(..) | MapOp::Append(..) | MapOp::Delete(_) | MapOp::Clear => MapRet::Done,
        };
        if recorded.is_some_and(|recorded| *recorded != result) {
            return blocked();
        }
        let next = match op {
            MapOp::Get(_) | MapOp::Size => state.clone(),
            MapOp::Put(key, value) | MapOp::Insert(key, value) => state.insert(key.clone(), value.clone()),
            MapOp::Append(key, end) => match (self.append)(state.get(key), end) {
                Some(value) => state.insert(key.clone(), value),
                None => return blocked(),
            },
            MapOp::GetOrInsert(key, _) if state.contains_key(key) => state.clone(),
            MapOp::GetOrInsert(key, value) => state.insert(key.clone(), value.clone()),
            MapOp::Cas { key, new, .. } if result == MapRet::Swapped(true) => state.insert(key.clone(), new.clone()),
            MapOp::Cas { .. } => state.clone(),
            MapOp::Delete(key) | MapOp::Remove(key) => state.remove(key),
            MapOp::Clear => Trie::new(),
        };
        outcome(result, next)
    }

    fn subject(&self, op: &MapOp<K, V>, recorded: Option<&MapRet<V>>) -> Subject {
        match (op, recorded) {
            (MapOp::Clear, _) | (MapOp::Size, Some(MapRet::Size(0))) => Subject::Free,
            _ => self.key(op, recorded).map_or(Subject::All, |key| Subject::of(&key)),
        }
    }

    fn leads_to(&self, op: &MapOp<K, V>, recorded: &MapRet<V>) -> Option<Trie<K, V>> {
        let present = |key: &K, value: &V| Some(Trie::new().insert(key.clone(), value.clone()));
        match (op, recorded) {
            (MapOp::Get(key), MapRet::Value(Some(value)))
            | (MapOp::Put(key, value), MapRet::Done)
            | (MapOp::Insert(key, value), MapRet::Value(_))
            | (MapOp::GetOrInsert(key, _), MapRet::Value(Some(value)))
            | (MapOp::Cas { key, new: value, .. }, MapRet::Swapped(true)) => present(key, value),
            (MapOp::Get(_), MapRet::Value(None))
            | (MapOp::Delete(_) | MapOp::Clear, MapRet::Done)
            | (MapOp::Remove(_), MapRet::Value(_))
            | (MapOp::Size, MapRet::Size(0)) => Some(Trie::new()),
            _ => None,
        }
    }

    fn observes(&self, op: &MapOp<K, V>, recorded: Option<&MapRet<V>>) -> bool {
        match op {
            MapOp::Get(_) | MapOp::Size => true,
            MapOp::Put(..) | MapOp::Append(..) | MapOp::Delete(_) | MapOp::Clear => false,
            // The old value equals the new one, so the state has not changed.
            MapOp::Insert(_, value) => matches!(recorded, Some(MapRet::Value(Some(old))) if old == value),
            // If a value other than `value` was returned, nothing was inserted. If `value` was
            // returned, this operation may have inserted it.
            MapOp::GetOrInsert(_, value) => matches!(recorded, Some(MapRet::Value(Some(found))) if found != value),
            MapOp::Cas { expected, new, .. } => {
                expected.as_ref() == Some(new) || recorded == Some(&MapRet::Swapped(false))
            }
            MapOp::Remove(_) => recorded == Some(&MapRet::Value(None)),
        }
    }

    fn overwrites(&self, op: &MapOp<K, V>, recorded: Option<&MapRet<V>>) -> bool {
        // A put or a delete leaves other keys unchanged, but it still overwrites the state: an
        // operation with a key is judged by the state of that key alone, which is its value.
        matches!((op, recorded), (MapOp::Put(..) | MapOp::Delete(_) | MapOp::Clear, None | Some(MapRet::Done)))
    }

    fn key(&self, op: &MapOp<K, V>, _recorded: Option<&MapRet<V>>) -> Option<K> {
        match op {
            MapOp::Get(key)
            | MapOp::Put(key, _)
            | MapOp::Append(key, _)
            | MapOp::Insert(key, _)
            | MapOp::GetOrInsert(key, _)
            | MapOp::Cas { key, .. }
            | MapOp::Delete(key)
            | MapOp::Remove(key) => Some(key.clone()),
            MapOp::Size | MapOp::Clear => None,
        }
    }

    fn heap_size(&self, state: &Trie<K, V>) -> usize {
        state.heap_size()
    }

    fn describe_state(&self, state: &Trie<K, V>) -> String {
        describe_map(state.iter())
    }

    fn standard<'a>(&'a self, op: &'a MapOp<K, V>, recorded: Option<&'a MapRet<V>>) -> Option<Standard<&'a V>> {
        Some(match (op, recorded) {
            (MapOp::Get(_), Some(MapRet::Value(found))) => Standard::Get(found.as_ref()),
            (MapOp::Put(_, new), None | Some(MapRet::Done)) => Standard::Replace { old: None, new: Some(new) },
            (MapOp::Delete(_), None | Some(MapRet::Done)) => Standard::Replace { old: None, new: None },
            (MapOp::Insert(_, new), None) => Standard::Replace { old: None, new: Some(new) },
            (MapOp::Insert(_, new), Some(MapRet::Value(old))) => {
                Standard::Replace { old: Some(old.as_ref()), new: Some(new) }
            }
            (MapOp::GetOrInsert(_, new), Some(MapRet::Value(Some(found)))) if found != new => {
                Standard::Get(Some(found))
            }
            // This assumes that the operation inserted the value itself. If another operation
            // inserted it, two operations insert the same value, and the monitors do not judge such
            // a history.
            (MapOp::GetOrInsert(_, new), None | Some(MapRet::Value(Some(_)))) => {
                Standard::Replace { old: Some(None), new: Some(new) }
            }
            (MapOp::Cas { expected, new, .. }, None | Some(MapRet::Swapped(true))) => {
                Standard::Replace { old: Some(expected.as_ref()), new: Some(new) }
            }
            (MapOp::Remove(_), None) => Standard::Replace { old: None, new: None },
            (MapOp::Remove(_), Some(MapRet::Value(None))) => Standard::Get(None),
            (MapOp::Remove(_), Some(MapRet::Value(old))) => Standard::Replace { old: Some(old.as_ref()), new: None },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::laws;

    fn operations() -> Vec<MapOp<u8, u8>> {
        let mut operations = vec![MapOp::Size, MapOp::Clear];
        for key in 0..3 {
            operations.extend([MapOp::Get(key), MapOp::Delete(key), MapOp::Remove(key)]);
            for new in 0..2 {
                operations.extend([MapOp::Put(key, new), MapOp::Insert(key, new), MapOp::GetOrInsert(key, new)]);
                operations.push(MapOp::Append(key, new));
                operations.extend([None, Some(0), Some(1)].map(|expected| MapOp::Cas { key, expected, new }));
            }
        }
        operations
    }

    fn results() -> Vec<MapRet<u8>> {
        let mut results: Vec<_> = (0..=3).map(MapRet::Size).collect();
        results.extend([None, Some(0), Some(1)].map(MapRet::Value));
        results.extend([MapRet::Done, MapRet::Swapped(true), MapRet::Swapped(false)]);
        results
    }

    #[test]
    fn keeps_the_laws() {
        // Appending is a bitwise `or`, and nothing can be appended to 1.
        let map = Map::new().appending(|old, end| match old {
            Some(1) => None,
            old => Some(old.unwrap_or(&0) | end),
        });
        laws::check(&map, &operations(), &results(), 1);
        laws::check_observers_are_known(&map, &operations(), |_, _| false, 2);
        laws::check_keys(&map, &operations(), &results(), 3);
    }

    #[test]
    fn appends_only_if_told_how() {
        let append = |value: &str| (MapOp::Append('k', value.to_owned()), MapRet::Done);
        let get = (MapOp::Get('k'), MapRet::Value(Some("ab".to_owned())));
        let history = [append("a"), append("b"), get];
        assert!(!laws::is_legal(&Map::new(), &history));
        let map = Map::new().appending(|old: Option<&String>, end| Some(old.cloned().unwrap_or_default() + end));
        assert!(laws::is_legal(&map, &history));
        assert!(!laws::is_legal(&map, &[&history[1..2], &history[0..1], &history[2..]].concat()));
    }

    #[test]
    fn observes_by_result_and_arguments() {
        let map = Map::new();
        let value = |value| MapRet::Value(Some(value));
        assert!(!map.observes(&MapOp::GetOrInsert('k', 1), None));
        assert!(!map.observes(&MapOp::GetOrInsert('k', 1), Some(&value(1))));
        assert!(map.observes(&MapOp::GetOrInsert('k', 1), Some(&value(2))));
        assert!(map.observes(&MapOp::Insert('k', 1), Some(&value(1))));
        assert!(!map.observes(&MapOp::Insert('k', 1), Some(&value(2))));
        assert!(!map.observes(&MapOp::Insert('k', 1), Some(&MapRet::Value(None))));
        assert!(map.observes(&MapOp::Cas { key: 'k', expected: Some(1), new: 1 }, None));
        assert!(!map.observes(&MapOp::Cas { key: 'k', expected: None, new: 1 }, None));
        assert!(map.observes(&MapOp::Remove('k'), Some(&MapRet::Value(None))));
        assert!(!map.observes(&MapOp::Remove('k'), None));
    }

    #[test]
    fn cas_tells_absent_from_present() {
        let map = Map::new();
        let create = MapOp::Cas { key: 'k', expected: None, new: 1 };
        assert!(laws::is_legal(
            &map,
            &[(create.clone(), MapRet::Swapped(true)), (create.clone(), MapRet::Swapped(false))]
        ));
        assert!(!laws::is_legal(&map, &[(create, MapRet::Swapped(false))]));
    }

    #[test]
    fn is_described_as_a_map() {
        let state = [(10, 'c'), (2, 'b')].into_iter().collect();
        assert_eq!(Map::new().describe_state(&state), "{2: 'b', 10: 'c'}");
    }
}

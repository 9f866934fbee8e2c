//! A key-value store of strings that supports appending.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::array::written;
use super::persistent::{Text, Trie, describe_map};
use super::{Initial, Outcomes, Spec, Standard, blocked, outcome};

/// A store with a string for each key `K`, initially empty: students of MIT's distributed systems course build such a
/// store, and Porcupine checks its histories.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `Get(k)` | `Value`, the current string | always |
/// | `Put(k, s)` | `Done` | never |
/// | `Append(k, s)` | `Done` | if `s` is empty |
///
/// Until the next put, a get can return only strings that start with the current one.
///
/// Strings are [`Text`]s: an append does not copy the existing string, and recorded results are
/// compared by hash first. The key of each operation is its `k`. A state contains the strings that
/// are not empty. A new state allocates only one piece of text, and the nodes on the path to the
/// changed entry; see [`Trie::heap_size`].
///
/// ```
/// use trueline::spec::{Kv, KvOp, KvRet, Spec};
///
/// let kv = Kv::new();
/// let state = kv.step(&kv.initial(), &KvOp::Put("k", "hel".into()), None).remove(0).1;
/// let state = kv.step(&state, &KvOp::Append("k", "lo".into()), None).remove(0).1;
/// assert_eq!(kv.step(&state, &KvOp::Get("k"), Some(&KvRet::Value("hello".into()))).len(), 1);
/// assert!(kv.step(&state, &KvOp::Get("other"), Some(&KvRet::Value("hello".into()))).is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Kv<K>(PhantomData<fn() -> K>);

without_parameters!(Kv<K>, "Creates the specification of a store whose strings are all initially empty.");

/// An operation of a [`Kv`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum KvOp<K> {
    /// Returns the string of a key.
    Get(K),
    /// Replaces the string of a key.
    Put(K, Text),
    /// Adds to the end of the string of a key.
    Append(K, Text),
}

/// A result of a [`KvOp`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum KvRet {
    /// The string that a get returned.
    Value(Text),
    /// A put or append took place.
    Done,
}

const EMPTY: &Text = &Text::new();

impl<K: Clone + Eq + Hash + Debug + Send + Sync> Spec for Kv<K> {
    type Op = KvOp<K>;
    type Ret = KvRet;
    type State = Trie<K, Text>;
    type Key = K;
    type Value = Text;

    fn initial(&self) -> Trie<K, Text> {
        Trie::new()
    }

    fn step(&self, state: &Trie<K, Text>, op: &KvOp<K>, recorded: Option<&KvRet>) -> Outcomes<KvRet, Trie<K, Text>> {
        match (op, recorded) {
            (KvOp::Get(key), None | Some(KvRet::Value(_))) => {
                let text = state.get(key).unwrap_or(EMPTY);
                match recorded {
                    Some(KvRet::Value(recorded)) if recorded != text => blocked(),
                    _ => outcome(KvRet::Value(text.clone()), state.clone()),
                }
            }
            (KvOp::Put(key, text), None | Some(KvRet::Done)) => outcome(KvRet::Done, written(state, EMPTY, key, text)),
            (KvOp::Append(key, end), None | Some(KvRet::Done)) => {
                let text = state.get(key).unwrap_or(EMPTY).append(end);
                outcome(KvRet::Done, written(state, EMPTY, key, &text))
            }
            (KvOp::Get(_), Some(KvRet::Done)) | (KvOp::Put(..) | KvOp::Append(..), Some(KvRet::Value(_))) => blocked(),
        }
    }

    fn leads_to(&self, op: &KvOp<K>, recorded: &KvRet) -> Option<Trie<K, Text>> {
        match (op, recorded) {
            (KvOp::Put(key, text), KvRet::Done) | (KvOp::Get(key), KvRet::Value(text)) => {
                Some(written(&Trie::new(), EMPTY, key, text))
            }
            _ => None,
        }
    }

    fn observes(&self, op: &KvOp<K>, _recorded: Option<&KvRet>) -> bool {
        match op {
            KvOp::Get(_) => true,
            KvOp::Put(..) => false,
            KvOp::Append(_, end) => end.is_empty(),
        }
    }

    fn overwrites(&self, op: &KvOp<K>, recorded: Option<&KvRet>) -> bool {
        matches!((op, recorded), (KvOp::Put(..), None | Some(KvRet::Done)))
    }

    fn key(&self, op: &KvOp<K>, _recorded: Option<&KvRet>) -> Option<K> {
        match op {
            KvOp::Get(key) | KvOp::Put(key, _) | KvOp::Append(key, _) => Some(key.clone()),
        }
    }

    fn is_goal(&self, op: &KvOp<K>, _result: &KvRet) -> bool {
        matches!(op, KvOp::Get(_))
    }

    /// Returns whether appends may turn the current string of the key into the string that the goal
    /// returned. They cannot if the returned string does not start with the current one.
    fn reaches(&self, state: &Trie<K, Text>, goal: &KvOp<K>, result: &KvRet) -> bool {
        match (goal, result) {
            (KvOp::Get(key), KvRet::Value(text)) => text.may_start_with(state.get(key).unwrap_or(EMPTY)),
            _ => true,
        }
    }

    fn heap_size(&self, state: &Trie<K, Text>) -> usize {
        // An update adds at most one piece of text. The bytes of a piece are not counted, and
        // without them all pieces have the same size. So the size of the first string can be used
        // for the updated one.
        state.heap_size() + state.iter().next().map_or(0, |(_, text)| text.heap_size())
    }

    fn describe_state(&self, state: &Trie<K, Text>) -> String {
        describe_map(state.iter())
    }

    fn standard<'a>(&'a self, op: &'a KvOp<K>, recorded: Option<&'a KvRet>) -> Option<Standard<&'a Text>> {
        Some(match (op, recorded) {
            (KvOp::Get(_), Some(KvRet::Value(text))) => Standard::Read(text),
            (KvOp::Put(_, text), None | Some(KvRet::Done)) => Standard::Write(text),
            _ => return None,
        })
    }

    fn standard_initial(&self) -> Initial<&Text> {
        Initial::Value(EMPTY)
    }
}

#[cfg(test)]
mod tests {
    use super::KvOp::{Append, Get, Put};
    use super::KvRet::{Done, Value};
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let of_key = |key| {
            [Get(key), Put(key, "b".into()), Put(key, "".into()), Append(key, "a".into()), Append(key, "".into())]
        };
        let operations: Vec<_> = (0..2).flat_map(of_key).collect();
        let value = |start: &str, length| Value(Text::from(start.to_owned() + &"a".repeat(length)));
        let results: Vec<_> =
            (0..41).flat_map(|length| [value("", length), value("b", length)]).chain([Done]).collect();
        laws::check(&Kv::new(), &operations, &results, 1);
        laws::check_observers_are_known(&Kv::new(), &operations, |_, _| false, 2);
        laws::check_keys(&Kv::new(), &operations, &results, 3);
    }

    #[test]
    fn appends_add_to_the_end() {
        let appends = [(Append('k', "x".into()), Done), (Append('k', "yz".into()), Done)];
        let with = |get: (KvOp<char>, KvRet)| appends.iter().cloned().chain([get]).collect::<Vec<_>>();
        assert!(laws::is_legal(&Kv::new(), &with((Get('k'), Value("xyz".into())))));
        assert!(!laws::is_legal(&Kv::new(), &with((Get('k'), Value("yzx".into())))));
        assert!(laws::is_legal(&Kv::new(), &with((Get('j'), Value("".into())))));
    }

    #[test]
    fn equal_strings_are_equal_states_however_they_were_made() {
        let kv = Kv::new();
        let after = |operations: &[KvOp<char>]| {
            operations.iter().fold(kv.initial(), |state, operation| kv.step(&state, operation, None).remove(0).1)
        };
        let pieces = after(&[Append('k', "a".into()), Append('k', "b".into()), Append('k', "c".into())]);
        assert_eq!(pieces, after(&[Append('k', "ab".into()), Append('k', "c".into())]));
        assert_eq!(pieces, after(&[Put('k', "x".into()), Put('k', "abc".into())]));
        assert_eq!(after(&[Put('k', "x".into()), Put('k', "".into())]), kv.initial());
        assert_eq!(kv.describe_state(&pieces), "{'k': \"abc\"}");
    }

    #[test]
    fn a_long_string_costs_no_more_per_append() {
        let (kv, append) = (Kv::new(), Append('k', "0123456789".into()));
        let mut state = kv.initial();
        // If each append copied the string, this loop would copy about 50 GB and run for a long
        // time.
        for _ in 0..100_000 {
            state = kv.step(&state, &append, Some(&Done)).remove(0).1;
        }
        assert!(kv.heap_size(&state) < 250, "{}", kv.heap_size(&state));
        let whole = Value("0123456789".repeat(100_000).into());
        assert_eq!(kv.step(&state, &Get('k'), Some(&whole)).len(), 1);
    }
}

//! Several registers that transactions read and write atomically.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;

use super::array::written;
use super::persistent::{Trie, describe_map};
use super::{Spec, Steps, Subject, blocked, outcome};

/// A register with values `V` for each key `K`, and transactions that read and write several of them atomically.
///
/// The only operation is a transaction, a list of [`MicroOp`]s that take effect one after another
/// with nothing in between. Its result consists of the values that its reads returned, in the order
/// of the reads. A read sees the earlier writes of its own transaction.
///
/// A transaction *observes* if it leaves every key that it writes unchanged: its first access to
/// the key is a read, and its last write to the key writes the value of that read. It *overwrites*
/// if it uses only one key, writes that key, and no result of its reads depends on the state
/// before. It has a key if all its accesses use this key.
///
/// A new state allocates only the nodes on the path to the changed entry; see [`Trie::heap_size`].
///
/// ```
/// use trueline::spec::{MicroOp, MultiRegister, MultiRegisterOp, MultiRegisterRet, Spec};
///
/// let registers = MultiRegister::new(0);
/// let swap: MultiRegisterOp<_, _> = [MicroOp::Read('x'), MicroOp::Write('y', 1)].into_iter().collect();
/// let (result, state) = registers.step(&registers.initial(), &swap, None).remove(0);
/// assert_eq!(result, [0].into_iter().collect());
/// let both: MultiRegisterOp<_, _> = [MicroOp::Read('x'), MicroOp::Read('y')].into_iter().collect();
/// assert!(registers.step(&state, &both, Some(&[1, 1].into_iter().collect())).is_empty());
/// assert_eq!(registers.step(&state, &both, None)[0].0, [0, 1].into_iter().collect());
/// ```
#[derive(Clone, Debug)]
pub struct MultiRegister<K, V> {
    initial: V,
    nil: Option<V>,
    keys: PhantomData<fn() -> K>,
}

impl<K, V> MultiRegister<K, V> {
    /// Creates registers that all initially hold `initial`.
    pub fn new(initial: V) -> Self {
        Self { initial, nil: None, keys: PhantomData }
    }

    /// Makes a read whose recorded result is `nil` match any value of the register, as
    /// [`CasRegister::nil_wildcard`](super::CasRegister::nil_wildcard) does.
    ///
    /// ```
    /// use trueline::spec::{MicroOp, MultiRegister, MultiRegisterOp, Spec};
    ///
    /// let registers = MultiRegister::new(Some(3)).nil_wildcard(None);
    /// let read: MultiRegisterOp<_, _> = [MicroOp::Read('x')].into_iter().collect();
    /// let unknown = [None].into_iter().collect();
    /// assert_eq!(registers.step(&registers.initial(), &read, Some(&unknown)).len(), 1);
    /// ```
    #[must_use]
    pub fn nil_wildcard(mut self, nil: V) -> Self {
        self.nil = Some(nil);
        self
    }
}

/// A transaction of a [`MultiRegister`]: its reads and writes, in their order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MultiRegisterOp<K, V>(pub Arc<[MicroOp<K, V>]>);

impl<K, V> FromIterator<MicroOp<K, V>> for MultiRegisterOp<K, V> {
    fn from_iter<I: IntoIterator<Item = MicroOp<K, V>>>(accesses: I) -> Self {
        Self(accesses.into_iter().collect())
    }
}

/// A read or write of one register in a [transaction](MultiRegisterOp).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MicroOp<K, V> {
    /// Reads the current value of a key.
    Read(K),
    /// Replaces the current value of a key.
    Write(K, V),
}

impl<K, V> MicroOp<K, V> {
    fn key(&self) -> &K {
        match self {
            Self::Read(key) | Self::Write(key, _) => key,
        }
    }
}

/// A result of a [`MultiRegisterOp`]: the values that its reads returned, in their order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MultiRegisterRet<V>(pub Arc<[V]>);

impl<V> FromIterator<V> for MultiRegisterRet<V> {
    fn from_iter<I: IntoIterator<Item = V>>(found: I) -> Self {
        Self(found.into_iter().collect())
    }
}

impl<K: Eq, V: Eq> MultiRegister<K, V> {
    fn is_wildcard(&self, value: &V) -> bool {
        self.nil.as_ref() == Some(value)
    }

    /// Returns the value of the key before the transaction, if the recorded result contains it.
    /// This requires that the transaction reads the key before writing it.
    fn found_before<'ret>(
        &self,
        op: &MultiRegisterOp<K, V>,
        key: &K,
        recorded: &'ret MultiRegisterRet<V>,
    ) -> Option<&'ret V> {
        let first = op.0.iter().position(|access| access.key() == key)?;
        let reads_before = op.0[..first].iter().filter(|access| matches!(access, MicroOp::Read(_))).count();
        match op.0[first] {
            MicroOp::Read(_) => recorded.0.get(reads_before).filter(|value| !self.is_wildcard(value)),
            MicroOp::Write(..) => None,
        }
    }
}

impl<K, V> Spec for MultiRegister<K, V>
where
    K: Clone + Eq + Hash + Debug + Send + Sync,
    V: Clone + Eq + Hash + Debug + Send + Sync,
{
    type Op = MultiRegisterOp<K, V>;
    type Ret = MultiRegisterRet<V>;
    /// The values that differ from the initial one.
    type State = Trie<K, V>;
    type Key = K;
    type Value = ();

    fn initial(&self) -> Trie<K, V> {
        Trie::new()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        let mut next = state.clone();
        let mut recorded_reads = recorded.map(|recorded| recorded.0.iter());
        let mut found = Vec::new();
        for access in op.0.iter() {
            match access {
                MicroOp::Write(key, value) => next = written(&next, &self.initial, key, value),
                MicroOp::Read(key) => {
                    let value = next.get(key).unwrap_or(&self.initial);
                    match &mut recorded_reads {
                        None => found.push(value.clone()),
                        Some(recorded) => match recorded.next() {
                            Some(recorded) if recorded == value || self.is_wildcard(recorded) => {}
                            Some(_) | None => return blocked(),
                        },
                    }
                }
            }
        }
        match recorded {
            None => outcome(found.into_iter().collect(), next),
            Some(_) if recorded_reads.is_some_and(|mut more| more.next().is_some()) => blocked(),
            Some(recorded) => outcome(recorded.clone(), next),
        }
    }

    fn subject(&self, op: &MultiRegisterOp<K, V>, recorded: Option<&MultiRegisterRet<V>>) -> Subject {
        self.key(op, recorded).map_or(Subject::Several, |key| Subject::of(&key))
    }

    fn restrict(
        &self,
        op: &MultiRegisterOp<K, V>,
        recorded: Option<&MultiRegisterRet<V>>,
        gone: &dyn Fn(Subject) -> bool,
    ) -> Option<(MultiRegisterOp<K, V>, Option<MultiRegisterRet<V>>)> {
        let stays: Vec<bool> = op.0.iter().map(|access| !gone(Subject::of(access.key()))).collect();
        if !stays.contains(&true) {
            return None;
        }
        let left = op.0.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(access, _)| access.clone()).collect();
        let reads = || op.0.iter().zip(&stays).filter(|(access, _)| matches!(access, MicroOp::Read(_)));
        let found = recorded.map(|recorded| {
            if recorded.0.len() != reads().count() {
                // This result has the wrong number of values, so it is impossible. Return it
                // unchanged, so that it stays impossible.
                return recorded.clone();
            }
            reads().zip(recorded.0.iter()).filter(|((_, stays), _)| **stays).map(|(_, value)| value.clone()).collect()
        });
        Some((left, found))
    }

    fn observes(&self, op: &MultiRegisterOp<K, V>, recorded: Option<&MultiRegisterRet<V>>) -> bool {
        op.0.iter().enumerate().all(|(place, access)| match access {
            MicroOp::Read(_) => true,
            MicroOp::Write(key, value) => {
                let is_last =
                    || !op.0[place + 1..].iter().any(|later| matches!(later, MicroOp::Write(k, _) if k == key));
                let is_as_before =
                    || recorded.is_some_and(|recorded| self.found_before(op, key, recorded) == Some(value));
                !is_last() || is_as_before()
            }
        })
    }

    fn overwrites(&self, op: &MultiRegisterOp<K, V>, recorded: Option<&MultiRegisterRet<V>>) -> bool {
        // A transaction on several keys leaves all other keys unchanged, so the next state depends
        // on the state before.
        if self.key(op, recorded).is_none() {
            return false;
        }
        let mut recorded_reads = recorded.map(|recorded| recorded.0.iter());
        let mut present = None;
        for access in op.0.iter() {
            match (access, &mut recorded_reads) {
                (MicroOp::Write(_, value), _) => present = Some(value),
                // Without a recorded result, a read may return any value.
                (MicroOp::Read(_), None) => {}
                (MicroOp::Read(_), Some(recorded)) => match recorded.next() {
                    Some(value) if self.is_wildcard(value) || Some(value) == present => {}
                    Some(_) | None => return false,
                },
            }
        }
        present.is_some() && recorded_reads.is_none_or(|mut more| more.next().is_none())
    }

    fn key(&self, op: &MultiRegisterOp<K, V>, _recorded: Option<&MultiRegisterRet<V>>) -> Option<K> {
        let (first, rest) = op.0.split_first()?;
        rest.iter().all(|access| access.key() == first.key()).then(|| first.key().clone())
    }

    fn heap_size(&self, state: &Trie<K, V>) -> usize {
        state.heap_size()
    }

    fn describe_state(&self, state: &Trie<K, V>) -> String {
        describe_map(state.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::MicroOp::{Read, Write};
    use super::*;
    use crate::spec::laws;

    type Op = MultiRegisterOp<char, u8>;

    fn txn<const N: usize>(accesses: [MicroOp<char, u8>; N]) -> Op {
        accesses.into_iter().collect()
    }

    fn found<const N: usize>(values: [u8; N]) -> MultiRegisterRet<u8> {
        values.into_iter().collect()
    }

    fn operations() -> Vec<Op> {
        let mut operations = vec![txn([]), txn([Read('x'), Read('y')]), txn([Write('x', 1), Write('y', 1)])];
        for key in ['x', 'y'] {
            operations.extend([txn([Read(key)]), txn([Read(key), Write('x', 1)]), txn([Read('x'), Write(key, 2)])]);
            for value in 0..3 {
                operations.extend([
                    txn([Write(key, value)]),
                    txn([Write(key, value), Read(key)]),
                    txn([Read(key), Write(key, value)]),
                    txn([Read(key), Write(key, 1), Write(key, value), Read(key)]),
                ]);
            }
        }
        operations
    }

    fn results() -> Vec<MultiRegisterRet<u8>> {
        let mut results = vec![found([])];
        for first in 0..3 {
            results.push(found([first]));
            results.extend((0..3).map(|second| found([first, second])));
        }
        results
    }

    #[test]
    fn keeps_the_laws() {
        let registers = MultiRegister::new(0);
        laws::check(&registers, &operations(), &results(), 1);
        laws::check_observers_are_known(&registers, &operations(), |_, _| false, 2);
        laws::check_keys(&registers, &operations(), &results(), 3);
        laws::check_overwrites(&registers.nil_wildcard(0), &operations(), &results(), 4);
        laws::check_overwrites(&MultiRegister::new(0).nil_wildcard(2), &operations(), &results(), 5);
    }

    #[test]
    fn a_transaction_sees_its_own_writes() {
        let registers = MultiRegister::new(0);
        let op = txn([Read('x'), Write('x', 1), Read('x'), Read('y')]);
        assert_eq!(registers.step(&registers.initial(), &op, None)[0].0, found([0, 1, 0]));
        assert!(registers.step(&registers.initial(), &op, Some(&found([0, 0, 0]))).is_empty());
        assert!(registers.step(&registers.initial(), &op, Some(&found([0, 1]))).is_empty());
        assert!(registers.step(&registers.initial(), &op, Some(&found([0, 1, 0, 0]))).is_empty());
    }

    #[test]
    fn a_register_that_holds_the_initial_value_again_is_as_if_never_written() {
        let registers = MultiRegister::new(0);
        let state = registers.step(&registers.initial(), &txn([Write('x', 1)]), None).remove(0).1;
        assert_eq!(registers.step(&state, &txn([Write('x', 0)]), None)[0].1, registers.initial());
    }

    #[test]
    fn blind_writes_are_known() {
        let registers = MultiRegister::new(0);
        assert!(registers.overwrites(&txn([Write('x', 1)]), Some(&found([]))));
        assert!(registers.overwrites(&txn([Write('x', 1), Read('x')]), Some(&found([1]))));
        assert!(!registers.overwrites(&txn([Write('x', 1), Read('x')]), Some(&found([2]))));
        assert!(!registers.overwrites(&txn([Read('x'), Write('x', 1)]), Some(&found([0]))));
        assert!(registers.overwrites(&txn([Read('x'), Write('x', 1)]), None));
        assert!(!registers.overwrites(&txn([Write('x', 1), Write('y', 1)]), Some(&found([]))));
        assert!(!registers.overwrites(&txn([Read('x')]), None));
        let wild = registers.nil_wildcard(9);
        assert!(wild.overwrites(&txn([Read('x'), Write('x', 1), Read('x')]), Some(&found([9, 1]))));
        assert!(!wild.overwrites(&txn([Read('x'), Write('x', 1), Read('x')]), Some(&found([9, 2]))));
    }

    #[test]
    fn a_wildcard_tells_nothing() {
        let wild = MultiRegister::new(0).nil_wildcard(9);
        let same = txn([Read('x'), Write('x', 9)]);
        // Without the wildcard, the read would mean that the value before was 9.
        assert!(!wild.observes(&same, Some(&found([9]))));
        assert!(MultiRegister::new(0).observes(&same, Some(&found([9]))));
        assert!(laws::is_legal(&wild, &[(txn([Write('x', 3)]), found([])), (txn([Read('x')]), found([9]))]));
        assert!(!laws::is_legal(&wild, &[(txn([Write('x', 3)]), found([])), (txn([Read('x')]), found([0]))]));
    }

    #[test]
    fn transactions_on_several_keys_have_none() {
        let registers = MultiRegister::new(0);
        assert_eq!(registers.key(&txn([Read('x'), Write('x', 1)]), None), Some('x'));
        assert_eq!(registers.key(&txn([Read('x'), Write('y', 1)]), None), None);
        assert_eq!(registers.key(&txn([]), None), None);
    }
}

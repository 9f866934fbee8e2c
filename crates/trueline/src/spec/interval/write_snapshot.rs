//! The write-snapshot object.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::Part::{self, Begins, GoesOn};
use super::{IntervalSpec, Stepped};

/// A write-snapshot object: each operation writes a value, and returns the set of all values written so far, including
/// its own (Castañeda, Rajsbaum & Raynal).
///
/// A slow operation writes its value in an early step, and takes its snapshot in a late one. In
/// between, a second operation may return a set with that value. After that, a third operation may
/// be called, and its value may also be in the slow operation's snapshot. No single moment explains
/// both sets, so neither linearizability nor synchronizations can express this object. A step in
/// which several operations write values or take snapshots can be replaced by several steps, one
/// for each operation. So in this specification, each step has a single operation.
#[derive(Clone, Copy, Debug)]
pub struct WriteSnapshot<V>(PhantomData<fn(V)>);

without_parameters!(WriteSnapshot<V>, "Creates the specification of a write-snapshot object.");

impl<V: Clone + Ord + Hash + Debug + Send + Sync> IntervalSpec for WriteSnapshot<V> {
    type Op = V;
    type Ret = BTreeSet<V>;
    type State = BTreeSet<V>;

    fn initial(&self) -> BTreeSet<V> {
        BTreeSet::new()
    }

    fn extends(&self, _: &BTreeSet<V>, _: &[Part<'_, V>]) -> bool {
        false
    }

    fn step(&self, written: &BTreeSet<V>, parts: &[Part<'_, V>]) -> Stepped<BTreeSet<V>, BTreeSet<V>> {
        let mut written = written.clone();
        match *parts {
            [Begins(value)] => {
                written.insert(value.clone());
                vec![(written, vec![None])]
            }
            [GoesOn(_)] => vec![(written.clone(), vec![Some(written)])],
            _ => Vec::new(),
        }
    }
}

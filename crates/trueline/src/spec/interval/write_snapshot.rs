//! Write-snapshot.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::Part::{self, Begins, GoesOn};
use super::{IntervalSpec, Stepped};

/// Each brings a value, and returns the set of all values that were brought by then, its own among them (Castañeda, Rajsbaum
/// & Raynal).
///
/// One that is slow may be seen by another that returns before a third is called, and see that third itself: it brings its
/// value in an early step, and takes its snapshot in a late one. No single moment of it explains both, so neither
/// linearizability nor synchronisations can say that. If several bring values or take snapshots in one step, they might as
/// well do so in several, one after the other; so each is alone in its steps.
#[derive(Clone, Copy, Debug)]
pub struct WriteSnapshot<V>(PhantomData<fn(V)>);

without_parameters!(WriteSnapshot<V>, "A write-snapshot object.");

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

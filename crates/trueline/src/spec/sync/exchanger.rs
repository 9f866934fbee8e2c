//! Exchangers.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::{SyncSpec, Synchronized};

/// An exchanger: two operations that meet exchange values. Each operation passes a value, and
/// returns the value of the other operation.
#[derive(Clone, Copy, Debug)]
pub struct Exchanger<V>(PhantomData<fn(V)>);

without_parameters!(Exchanger<V>, "Creates the specification of an exchanger.");

impl<V: Clone + Eq + Hash + Debug + Send + Sync> SyncSpec for Exchanger<V> {
    type Op = V;
    type Ret = V;
    type State = ();

    fn initial(&self) {}

    fn arities(&self, (): &()) -> Vec<usize> {
        vec![2]
    }

    fn synchronize(&self, (): &(), ops: &[&V]) -> Synchronized<(), V> {
        match *ops {
            [one, other] => vec![((), vec![other.clone(), one.clone()])],
            _ => Vec::new(),
        }
    }

    /// The partners of an execution that passed u and returned v are the executions that passed v
    /// and returned u, or passed v and have no result.
    fn is_interchangeable(&self, _: &V, _: Option<&V>) -> bool {
        true
    }
}

//! States whose types are erased, so that one type can hold the state of any specification.

use std::any::Any;
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::persistent::hash_of;

/// A state with its type erased.
#[derive(Clone)]
pub struct State(Arc<dyn AnyState>);

/// The methods of a state that do not mention its type.
pub(crate) trait AnyState: Debug + Send + Sync + 'static {
    fn is_equal(&self, other: &dyn Any) -> bool;
    fn hash(&self) -> u64;
    fn as_any(&self) -> &dyn Any;
}

impl<T: Eq + Hash + Debug + Send + Sync + 'static> AnyState for T {
    fn is_equal(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>() == Some(self)
    }

    fn hash(&self) -> u64 {
        hash_of(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl State {
    pub(crate) fn new<T: AnyState>(state: T) -> Self {
        Self(Arc::new(state))
    }

    /// Returns the state with its type.
    ///
    /// # Panics
    /// Panics if the state has another type.
    pub(crate) fn of<T: 'static>(&self) -> &T {
        self.0.as_any().downcast_ref().expect("a state is passed only to the specification that created it")
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.is_equal(other.0.as_any())
    }
}

impl Eq for State {}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(AnyState::hash(&*self.0));
    }
}

impl Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

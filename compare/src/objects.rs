//! The objects as users of other checkers would write them, with the collections of the standard library.
//!
//! For histories that are split by key, there are separate objects for a single key ([`OneOfSet`],
//! [`OneOfStore`]). They hold the state of the key directly, not in a collection with one element.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use trueline::spec::{CasRegisterOp, CasRegisterRet, QueueOp, QueueRet, RegisterOp, RegisterRet, SetOp, SetRet};

/// A sequential object in which every operation is always possible.
pub(crate) trait Object: Clone + Debug + Send + Sync + 'static {
    type Op: Clone + Debug + Send + Sync;
    type Ret: Clone + PartialEq + Debug + Send + Sync;
    type State: Clone + Eq + Hash + Debug + Send + Sync;

    fn initial() -> Self::State;

    /// Returns the result of `op` in `state`.
    fn answer(state: &Self::State, op: &Self::Op) -> Self::Ret;

    /// Returns whether `op` may return `ret` in `state`.
    fn allows(state: &Self::State, op: &Self::Op, ret: &Self::Ret) -> bool {
        Self::answer(state, op) == *ret
    }

    fn update(state: &mut Self::State, op: &Self::Op);

    /// Returns the key by which histories are split.
    fn key(op: &Self::Op) -> Key {
        let _ = op;
        Key::None
    }

    /// Returns the state after `op`, or `None` if `op` cannot return `ret` in `state`. If the
    /// argument `ret` is `None`, every result is allowed.
    fn step(state: &Self::State, op: &Self::Op, ret: Option<&Self::Ret>) -> Option<Self::State> {
        ret.is_none_or(|ret| Self::allows(state, op, ret)).then(|| {
            let mut next = state.clone();
            Self::update(&mut next, op);
            next
        })
    }
}

/// The key by which a history is split.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Key {
    None,
    Number(u64),
    Text(Arc<str>),
}

#[derive(Clone, Debug)]
pub(crate) struct Register;

impl Object for Register {
    type Op = RegisterOp<u64>;
    type Ret = RegisterRet<u64>;
    type State = u64;

    fn initial() -> u64 {
        0
    }

    fn answer(state: &u64, op: &RegisterOp<u64>) -> RegisterRet<u64> {
        match op {
            RegisterOp::Read => RegisterRet::Value(*state),
            RegisterOp::Write(_) => RegisterRet::Done,
        }
    }

    fn update(state: &mut u64, op: &RegisterOp<u64>) {
        if let RegisterOp::Write(value) = op {
            *state = *value;
        }
    }
}

/// A register with an optional value, initially absent.
#[derive(Clone, Debug)]
pub(crate) struct CasRegister;

impl Object for CasRegister {
    type Op = CasRegisterOp<Option<i64>>;
    type Ret = CasRegisterRet<Option<i64>>;
    type State = Option<i64>;

    fn initial() -> Option<i64> {
        None
    }

    fn answer(state: &Option<i64>, op: &Self::Op) -> Self::Ret {
        match op {
            CasRegisterOp::Read => CasRegisterRet::Value(*state),
            CasRegisterOp::Write(_) => CasRegisterRet::Done,
            CasRegisterOp::Cas { expected, .. } => CasRegisterRet::Swapped(state == expected),
        }
    }

    fn update(state: &mut Option<i64>, op: &Self::Op) {
        match op {
            CasRegisterOp::Read => {}
            CasRegisterOp::Write(value) => *state = *value,
            CasRegisterOp::Cas { expected, new } => {
                if state == expected {
                    *state = *new;
                }
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Set;

impl Object for Set {
    type Op = SetOp<u64>;
    type Ret = SetRet;
    type State = BTreeSet<u64>;

    fn initial() -> BTreeSet<u64> {
        BTreeSet::new()
    }

    fn answer(state: &BTreeSet<u64>, op: &SetOp<u64>) -> SetRet {
        match op {
            SetOp::Add(value) => SetRet::Bool(!state.contains(value)),
            SetOp::Remove(value) | SetOp::Contains(value) => SetRet::Bool(state.contains(value)),
            SetOp::Size => SetRet::Size(state.len()),
            SetOp::Clear => SetRet::Done,
        }
    }

    fn update(state: &mut BTreeSet<u64>, op: &SetOp<u64>) {
        match op {
            SetOp::Add(value) => {
                state.insert(*value);
            }
            SetOp::Remove(value) => {
                state.remove(value);
            }
            SetOp::Contains(_) | SetOp::Size => {}
            SetOp::Clear => state.clear(),
        }
    }
}

/// The state of one value of a set: whether the set contains it.
#[derive(Clone, Debug)]
pub(crate) struct OneOfSet;

impl Object for OneOfSet {
    type Op = SetOp<u64>;
    type Ret = SetRet;
    type State = bool;

    fn initial() -> bool {
        false
    }

    fn answer(state: &bool, op: &SetOp<u64>) -> SetRet {
        match op {
            SetOp::Add(_) => SetRet::Bool(!state),
            SetOp::Remove(_) | SetOp::Contains(_) => SetRet::Bool(*state),
            SetOp::Size => SetRet::Size(usize::from(*state)),
            SetOp::Clear => SetRet::Done,
        }
    }

    fn update(state: &mut bool, op: &SetOp<u64>) {
        match op {
            SetOp::Add(_) => *state = true,
            SetOp::Remove(_) | SetOp::Clear => *state = false,
            SetOp::Contains(_) | SetOp::Size => {}
        }
    }

    fn key(op: &SetOp<u64>) -> Key {
        match op {
            SetOp::Add(value) | SetOp::Remove(value) | SetOp::Contains(value) => Key::Number(*value),
            SetOp::Size | SetOp::Clear => Key::None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Queue;

impl Object for Queue {
    type Op = QueueOp<u64>;
    type Ret = QueueRet<u64>;
    type State = VecDeque<u64>;

    fn initial() -> VecDeque<u64> {
        VecDeque::new()
    }

    fn answer(state: &VecDeque<u64>, op: &QueueOp<u64>) -> QueueRet<u64> {
        match op {
            QueueOp::Enqueue(_) => QueueRet::Done,
            QueueOp::Dequeue | QueueOp::Peek => QueueRet::Value(state.front().copied()),
        }
    }

    fn update(state: &mut VecDeque<u64>, op: &QueueOp<u64>) {
        match op {
            QueueOp::Enqueue(value) => state.push_back(*value),
            QueueOp::Dequeue => {
                state.pop_front();
            }
            QueueOp::Peek => {}
        }
    }
}

/// An operation of a [`Store`], on a key.
#[derive(Clone, Debug)]
pub(crate) struct StoreOp {
    pub(crate) key: Arc<str>,
    pub(crate) action: Action,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    Get,
    Put(String),
    Append(String),
}

impl Action {
    fn update(&self, text: &mut String) {
        match self {
            Self::Get => {}
            Self::Put(value) => text.clone_from(value),
            Self::Append(end) => text.push_str(end),
        }
    }
}

/// The result of a get; `None` for a put or an append.
pub(crate) type StoreRet = Option<String>;

/// A string for each key, initially empty.
#[derive(Clone, Debug)]
pub(crate) struct Store;

impl Object for Store {
    type Op = StoreOp;
    type Ret = StoreRet;
    type State = BTreeMap<Arc<str>, String>;

    fn initial() -> Self::State {
        BTreeMap::new()
    }

    fn answer(state: &Self::State, op: &StoreOp) -> StoreRet {
        matches!(op.action, Action::Get).then(|| state.get(&op.key).cloned().unwrap_or_default())
    }

    fn allows(state: &Self::State, op: &StoreOp, ret: &StoreRet) -> bool {
        let text = matches!(op.action, Action::Get).then(|| state.get(&op.key).map_or("", String::as_str));
        text == ret.as_deref()
    }

    fn update(state: &mut Self::State, op: &StoreOp) {
        if !matches!(op.action, Action::Get) {
            op.action.update(state.entry(op.key.clone()).or_default());
        }
    }
}

/// The string of one key of a [`Store`].
#[derive(Clone, Debug)]
pub(crate) struct OneOfStore;

impl Object for OneOfStore {
    type Op = StoreOp;
    type Ret = StoreRet;
    type State = String;

    fn initial() -> String {
        String::new()
    }

    fn answer(state: &String, op: &StoreOp) -> StoreRet {
        matches!(op.action, Action::Get).then(|| state.clone())
    }

    fn allows(state: &String, op: &StoreOp, ret: &StoreRet) -> bool {
        matches!(op.action, Action::Get).then_some(state.as_str()) == ret.as_deref()
    }

    fn update(state: &mut String, op: &StoreOp) {
        op.action.update(state);
    }

    fn key(op: &StoreOp) -> Key {
        Key::Text(op.key.clone())
    }
}

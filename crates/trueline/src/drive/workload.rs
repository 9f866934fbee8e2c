//! The calls that the threads of a run make.

use std::fmt;
use std::sync::Arc;

use super::run::Worker;
use super::{Generate, Making, Random};
use crate::history::{Datum, Value};

/// A call of an operation of a [`Workload`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The index of the operation in the workload.
    pub operation: u32,
    /// The argument of the call.
    pub argument: Value,
}

/// A function that generates the argument of an operation.
type MakeArgument = Arc<dyn Fn(&mut Making<'_>) -> Value + Send + Sync>;

/// An operation: how often it is called, by which threads, and with which arguments.
#[derive(Clone)]
pub struct Kind {
    /// The name of the operation.
    pub name: Arc<str>,
    /// The relative frequency of the operation's calls.
    pub weight: u32,
    /// The roles of the threads that call the operation. If the list is empty, the operation is
    /// called by threads without a role, and by threads whose role is in [`Workload::sharing`].
    pub roles: Vec<Arc<str>>,
    /// Whether the operation is allowed to block forever. If it is, a blocked operation is pending,
    /// and the run does not count as stuck.
    pub may_block: bool,
    /// Formats an argument for reports.
    pub(crate) show_argument: fn(&Value) -> String,
    /// Formats a result for reports.
    pub(crate) show_result: fn(&Value) -> String,
    pub(super) make: MakeArgument,
}

impl Kind {
    /// Creates an operation whose arguments `make` generates.
    pub fn new(name: &str, make: impl Fn(&mut Making<'_>) -> Value + Send + Sync + 'static) -> Self {
        let (show_argument, show_result) = (Value::to_string as fn(&Value) -> String, Value::to_string as _);
        let make = Arc::new(make);
        Self { name: name.into(), weight: 1, roles: Vec::new(), may_block: false, show_argument, show_result, make }
    }

    /// Formats arguments of type `A` and results of type `R` as Rust prints them.
    pub(crate) fn with_types<A: Datum, R: Datum>(mut self) -> Self {
        (self.show_argument, self.show_result) = (A::as_rust, R::as_rust);
        self
    }
}

impl Kind {
    /// Returns the index of the operation with this name.
    pub(crate) fn find<'k>(kinds: impl IntoIterator<Item = &'k Self>, name: &str) -> Option<u32> {
        (0..).zip(kinds).find(|(_, kind)| *kind.name == *name).map(|(number, _)| number)
    }

    /// Sets the weight: the operation is called `weight` times as often as one with the default weight of 1.
    #[must_use]
    pub fn weight(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }

    /// Creates an operation whose arguments are [unique](super::unique) numbers.
    pub fn with_unique_values(name: &str) -> Self {
        Self::new(name, |making| super::unique().generate(making).to_value())
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, weight, roles, may_block, .. } = self;
        f.debug_struct("Kind")
            .field("name", name)
            .field("weight", weight)
            .field("roles", roles)
            .field("may_block", may_block)
            .finish_non_exhaustive()
    }
}

/// The behavior of a thread in a run.
#[derive(Clone)]
pub enum Behavior {
    /// The thread makes these calls, one after the other.
    Calls(Vec<Call>),
    /// The thread chooses each call, depending on earlier results.
    Chooses(Arc<dyn Fn(&mut Worker<'_>) + Send + Sync>),
}

impl fmt::Debug for Behavior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calls(calls) => f.debug_tuple("Calls").field(calls).finish(),
            Self::Chooses(_) => f.write_str("Chooses"),
        }
    }
}

/// The size of a run, how often its threads yield, and how its calls are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of threads; more are used if the roles need more.
    pub threads: u32,
    /// The minimum and the maximum number of operations of a thread.
    pub operations: (u32, u32),
    /// Threads yield at one in this many schedule points ([`Chaos`](crate::primitives::Chaos)); 0 disables yielding.
    pub chaos: u32,
    /// If this is `Some(n)`, ranges and lists of arguments produce only their first `n` values.
    pub few: Option<u32>,
    /// The number of phases of a run, each with its own random weights. If this is 0, the weights of the operations
    /// apply to the whole run.
    pub phases: u32,
}

/// The operations of an object, and how they are called.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// The operations.
    pub kinds: Vec<Kind>,
    /// The number of threads with each role.
    pub roles: Vec<(Arc<str>, u32)>,
    /// The roles whose threads also call operations without a role.
    pub sharing: Vec<Arc<str>>,
    /// The calls that a separate process makes before the threads start.
    pub before: Vec<Call>,
    /// The calls that the process of `before` makes after all threads are done.
    pub after: Vec<Call>,
}

/// In each phase, the weight of each operation is multiplied by one of these factors, picked at random.
const FACTORS: [u32; 3] = [2, 8, 32];

impl Workload {
    /// Returns the index of the operation with this name.
    pub fn find(&self, name: &str) -> Option<u32> {
        Kind::find(&self.kinds, name)
    }

    /// Generates an argument for the operation with this index.
    pub fn argument(&self, operation: u32, random: &mut Random) -> Value {
        let mut unique = random.bits() >> 32;
        (self.kinds[operation as usize].make)(&mut Making { random, unique: &mut unique, few: None })
    }

    /// Generates a call of the operation with this index; `unique` counts the unique arguments generated so far.
    pub fn call(&self, operation: u32, random: &mut Random, unique: &mut u64) -> Call {
        let argument = (self.kinds[operation as usize].make)(&mut Making { random, unique, few: None });
        Call { operation, argument }
    }

    /// Generates an argument from this seed. Ranges and lists produce only their first `few` values, and `unique` is
    /// the number of unique arguments that were generated before.
    pub(crate) fn draw(&self, operation: u32, seed: u64, few: u32, mut unique: u64) -> Value {
        let (mut random, few) = (Random::new(seed), Some(few));
        (self.kinds[operation as usize].make)(&mut Making { random: &mut random, unique: &mut unique, few })
    }

    /// Returns the minimum number of threads with which every operation can be called.
    pub fn fewest_threads(&self) -> u32 {
        let with_roles: u32 = self.roles.iter().map(|(_, threads)| *threads).sum();
        with_roles + u32::from(self.kinds.iter().any(|kind| kind.weight > 0 && kind.roles.is_empty()))
    }

    /// Returns whether the thread `thread` is allowed to call the operation with the index
    /// `operation`.
    pub(crate) fn may_call(&self, thread: u32, operation: u32) -> bool {
        self.is_for(&self.kinds[operation as usize], self.role(thread))
    }

    /// Returns whether threads with the given role call the given operation. If `role` is `None`,
    /// returns whether threads without a role call the operation.
    fn is_for(&self, kind: &Kind, role: Option<&str>) -> bool {
        let shares = |role: &str| self.sharing.iter().any(|name| **name == *role);
        match role {
            Some(role) if kind.roles.is_empty() => shares(role),
            Some(role) => kind.roles.iter().any(|name| **name == *role),
            None => kind.roles.is_empty(),
        }
    }

    /// Returns the role of a thread, if it has one.
    fn role(&self, thread: u32) -> Option<&str> {
        let mut first = 0;
        self.roles.iter().find_map(|(name, threads)| {
            first += threads;
            (thread < first).then_some(&**name)
        })
    }

    /// Generates the calls of each thread.
    ///
    /// # Panics
    /// Panics if a role has no operation to call.
    pub fn program(&self, shape: &Shape, random: &mut Random) -> Vec<Vec<Call>> {
        let threads = shape.threads.max(self.fewest_threads());
        let mut unique = self.before.len() as u64;
        let mut program: Vec<Vec<Call>> = Vec::new();
        for thread in 0..threads {
            let role = self.role(thread);
            let is_called = |kind: &usize| self.kinds[*kind].weight > 0 && self.is_for(&self.kinds[*kind], role);
            let kinds: Vec<usize> = (0..self.kinds.len()).filter(is_called).collect();
            if kinds.is_empty() && role.is_none() {
                // All operations have roles, so a thread without a role has nothing to call.
                continue;
            }
            assert!(!kinds.is_empty(), "there is a role without operations: its threads have nothing to call");
            let (fewest, most) = shape.operations;
            let length = fewest + random.below(most.saturating_sub(fewest) + 1);
            let phase_length = (length / shape.phases.max(1)).max(1);
            let mut weights: Vec<u32> = Vec::new();
            let mut calls = Vec::with_capacity(length as usize);
            for place in 0..length {
                if place % phase_length == 0 {
                    let mut factor = || if shape.phases == 0 { 1 } else { *random.pick(&FACTORS) };
                    weights = kinds.iter().map(|kind| self.kinds[*kind].weight.saturating_mul(factor())).collect();
                }
                let total = weights.iter().copied().fold(0, u32::saturating_add);
                let mut drawn = random.below(total.max(1));
                let chosen = weights.iter().position(|weight| {
                    let is_it = drawn < *weight;
                    drawn = drawn.saturating_sub(*weight);
                    is_it
                });
                let kind = kinds[chosen.unwrap_or(0)];
                let making = &mut Making { random, unique: &mut unique, few: shape.few };
                let argument = (self.kinds[kind].make)(making);
                calls.push(Call {
                    operation: u32::try_from(kind).expect("the number of operations fits in 32 bits"),
                    argument,
                });
            }
            program.push(calls);
        }
        program
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Datum;

    const SHAPE: Shape = Shape { threads: 3, operations: (2, 5), chaos: 0, few: None, phases: 0 };

    fn workload() -> Workload {
        let push = Kind { weight: 3, ..Kind::new("push", |making| (making.random.below(9)).to_value()) };
        let pop = Kind::new("pop", |_| Value::Null);
        Workload { kinds: vec![push, pop], ..Workload::default() }
    }

    #[test]
    fn programs_are_as_large_as_they_should_be_and_come_from_the_seed() {
        let program = |seed| workload().program(&SHAPE, &mut Random::new(seed));
        for seed in 0..50 {
            assert_eq!(program(seed).len(), 3);
            assert!(program(seed).iter().all(|calls| (2..=5).contains(&calls.len())));
            assert_eq!(program(seed), program(seed));
        }
        assert_ne!(program(1), program(2));
    }

    #[test]
    fn weights_count() {
        let shape = Shape { operations: (1000, 1000), ..SHAPE };
        let pushes = |shape: &Shape, seed| {
            let program = workload().program(shape, &mut Random::new(seed));
            program.concat().iter().filter(|call| call.operation == 0).count()
        };
        let in_phase = Shape { phases: 1, ..shape };
        assert!((0..20).all(|seed| (2100..2400).contains(&pushes(&shape, seed))));
        assert!((0..20).any(|seed| pushes(&in_phase, seed) < 2000));
        assert!((0..20).any(|seed| pushes(&in_phase, seed) > 2500));
    }

    #[test]
    fn roles_have_threads_of_their_own() {
        let mut workload = workload();
        workload.kinds[1].roles.push("consumer".into());
        workload.roles.push(("consumer".into(), 1));
        let program = workload.program(&SHAPE, &mut Random::new(1));
        let all = |calls: &[Call], operation| calls.iter().all(|call| call.operation == operation);
        assert!(all(&program[0], 1) && all(&program[1], 0) && all(&program[2], 0));
        workload.sharing.push("consumer".into());
        let shape = Shape { operations: (50, 50), ..SHAPE };
        let program = workload.program(&shape, &mut Random::new(1));
        assert!(!all(&program[0], 1) && !all(&program[0], 0) && all(&program[1], 0) && all(&program[2], 0));
        workload.kinds[0].roles.push("consumer".into());
        assert_eq!(workload.program(&SHAPE, &mut Random::new(1)).len(), 1, "threads without a role have no operation");
    }
}

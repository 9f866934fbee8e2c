//! A test without the types of its object, so that this code is compiled only once, rather than
//! once for each test and operation.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::drive::{Call, Instance, Kind, Workload};
use crate::history::visible;

use super::judge::Judge;
use super::plan::{Choose, Options, Plan, Signature};
use super::{Explored, NamedCall, Outcome};

/// An operation, without the code that executes it.
#[derive(Clone)]
pub(super) struct Operation {
    pub(super) kind: Kind,
    pub(super) signature: Signature,
    pub(super) is_weak: bool,
}

/// The operations and calls of a [`Test`](super::Test).
#[derive(Default)]
pub(super) struct Outline {
    pub(super) operations: Vec<Operation>,
    pub(super) roles: Vec<(Arc<str>, u32)>,
    /// The roles of threads that also call operations without a role.
    pub(super) sharing: Vec<Arc<str>>,
    pub(super) before: Vec<NamedCall>,
    pub(super) after: Vec<NamedCall>,
    pub(super) programs: Vec<Vec<Vec<NamedCall>>>,
    pub(super) choose: Option<Choose>,
    pub(super) weak: bool,
}

impl Outline {
    #[track_caller]
    pub(super) fn add(&mut self, kind: Kind, signature: Signature) {
        let name = &kind.name;
        assert!(
            self.find(name).is_none(),
            "two operations have the name `{name}`: give each operation a different name"
        );
        self.operations.push(Operation { kind, signature, is_weak: false });
    }

    fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.operations.iter().map(|operation| &operation.kind)
    }

    /// Returns the number of the operation with this name.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        Kind::find(self.kinds(), name)
    }

    /// Returns the operation that was added last. Panics if no operation has been added yet. The
    /// message of the panic names the setter `what`.
    #[track_caller]
    pub(super) fn last(&mut self, what: &str) -> &mut Operation {
        match self.operations.last_mut() {
            Some(operation) => operation,
            None => panic!("`{what}` applies to the operation before it, but no operation has been added yet"),
        }
    }

    /// Restricts the operation that was added last to threads with this role, and sets the number
    /// of these threads.
    #[track_caller]
    pub(super) fn by_threads(&mut self, role: &str, threads: u32) {
        assert!(threads > 0, "a role needs at least one thread");
        let role: Arc<str> = role.into();
        self.last("by").kind.roles.push(Arc::clone(&role));
        match self.roles.iter_mut().find(|(name, _)| *name == role) {
            Some((_, known)) => *known = threads.max(*known),
            None => self.roles.push((role, threads)),
        }
    }

    #[track_caller]
    fn resolve(&self, NamedCall { name, argument }: &NamedCall) -> Call {
        let Some(operation) = self.find(name) else {
            let names: Vec<&str> = self.kinds().map(|kind| &*kind.name).collect();
            panic!("{}", visible(&format!("a program calls `{name}`, but the test has only {}", names.join(", "))));
        };
        let takes = self.operations[operation as usize].signature.takes;
        let is_taken = takes(argument);
        assert!(
            is_taken,
            "a program calls `{}` with {argument}, which is not a valid argument of this operation",
            visible(name)
        );
        Call { operation, argument: argument.clone() }
    }

    fn resolved(&self, calls: &[NamedCall]) -> Vec<Call> {
        calls.iter().map(|call| self.resolve(call)).collect()
    }

    /// Returns the operations and calls of the test, with all names of operations resolved to
    /// numbers.
    #[track_caller]
    pub(super) fn into_calls(mut self, options: &Options) -> ResolvedCalls {
        assert!(!self.operations.is_empty(), "a test needs operations: add them with `.operation(...)`");
        for operation in self.operations.iter_mut().filter(|operation| operation.is_weak && !self.weak) {
            operation.kind.weight = 0;
        }
        let has_weight = self.kinds().any(|kind| kind.weight > 0);
        assert!(
            has_weight || !self.programs.is_empty() || self.choose.is_some() || options.only.is_some(),
            "there is nothing to call: all operations are weak or have weight 0, and there is no program"
        );
        let (before, after) = (self.resolved(&self.before), self.resolved(&self.after));
        let resolved = |program: &Vec<Vec<NamedCall>>| program.iter().map(|calls| self.resolved(calls)).collect();
        let fixed: Vec<Vec<Vec<Call>>> = self.programs.iter().map(resolved).collect();
        assert!(fixed.iter().all(|program| !program.is_empty()), "a program needs at least one thread");
        // If all operations of a role have weight 0, the role needs no thread.
        let is_called = |role| self.kinds().any(|kind| kind.weight > 0 && kind.roles.contains(role));
        let roles = self.roles.iter().filter(|(role, _)| is_called(role)).cloned().collect();
        let signatures = self.operations.iter().map(|operation| operation.signature).collect();
        let kinds = self.kinds().cloned().collect();
        ResolvedCalls {
            workload: Workload { roles, sharing: self.sharing, kinds, before, after },
            signatures,
            fixed,
            choose: self.choose,
        }
    }
}

/// The calls of a test, with names resolved to numbers.
pub(super) struct ResolvedCalls {
    pub(super) workload: Workload,
    signatures: Arc<[Signature]>,
    fixed: Vec<Vec<Vec<Call>>>,
    choose: Option<Choose>,
}

impl ResolvedCalls {
    /// Returns the plan of a test that makes these calls on the objects that `make` creates.
    #[track_caller]
    pub(super) fn into_plan(
        self,
        make: Arc<dyn Fn() -> Arc<dyn Instance> + Send + Sync>,
        judge: Arc<dyn Judge>,
        options: Options,
    ) -> Plan {
        let Self { workload, signatures, fixed, choose } = self;
        let plan = Plan {
            make,
            judge,
            workload,
            signatures,
            fixed,
            choose,
            options,
            watch: None,
            keep: None,
            #[cfg(feature = "systematic")]
            watch_exploration: None,
            cancel: None,
        };
        if let Some(Err(error)) = plan.options.only.as_ref().map(|program| plan.read_program(program)) {
            panic!("{}", visible(&error.to_string()));
        }
        plan
    }
}

impl Outcome {
    /// Prints a summary of the runs, or panics with a report if one failed.
    #[track_caller]
    #[expect(clippy::print_stderr, reason = "test harnesses print their summaries to stderr, too")]
    pub(super) fn conclude(self) {
        if let Some(warning) = self.warning {
            eprintln!("trueline: {warning}; `Instant` is used instead");
        }
        if let Some(failure) = &self.failure {
            let further = self.further.iter().fold(String::new(), |mut text, further| {
                let _ = writeln!(text, "  also failed: {} ({})", further.token, further.kind);
                text
            });
            panic!("{failure}{further}");
        }
        let Outcome { runs, operations, undecided, elapsed, seed, .. } = self;
        if let Some(explored) = &self.explored {
            let Explored { programs, executions, histories, preemptions, is_complete, .. } = explored;
            let how_far = match (is_complete, preemptions) {
                (true, _) => "all schedules".to_owned(),
                (false, Some(1)) => "all schedules with up to 1 preemption, and some more".to_owned(),
                (false, Some(most)) => format!("all schedules with up to {most} preemptions, and some more"),
                (false, None) => "not all schedules".to_owned(),
            };
            eprintln!(
                "trueline: {executions} executions of {programs} programs ({how_far}), {histories} histories, no \
                 failures, in {elapsed:.1?}"
            );
        }
        for warning in &self.warnings {
            eprintln!("trueline: {warning}");
        }
        if !self.too_little.is_empty() {
            let reasons: Vec<String> =
                self.too_little.iter().map(|reason| format!("\n  {reason}: {}", reason.remedy())).collect();
            panic!("nothing failed, but too little was tested:{}\n  (seed {seed})", reasons.concat());
        }
        eprintln!("trueline: {runs} runs with {operations} operations, no failures, in {elapsed:.1?} (seed {seed})");
        if undecided > 0 {
            eprintln!(
                "trueline: {undecided} of these runs could not be judged in time; make them smaller with `.calls(20)`, or \
                 give them more time with `.timeout(..)`"
            );
        }
    }
}

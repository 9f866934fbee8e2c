//! Tests that compare an object with the user's own [`Spec`], or with a model that allows several outcomes.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::judge::{Judge, Recorded};
use super::model::{self, ModelOperation, PlainModel};
use super::{Judges, Modeled, Test, Unjudged};
use crate::drive::{Call, Generate, Workload};
use crate::history::{Argument, Datum, Value};
use crate::judge::{Config, Judged, Linearizable, Show, Specification, judged};
use crate::spec::Spec;

/// Creates an operation of the specification from an argument.
type MakeOp<S> = Box<dyn Fn(&Value) -> <S as Spec>::Op + Send + Sync>;
/// Creates a result of the specification from a result of the object.
type MakeRet<S> = Box<dyn Fn(&Value) -> <S as Spec>::Ret + Send + Sync>;

/// A test whose operations are compared with the user's own [`Spec`].
pub struct OwnSpec<S: Spec> {
    spec: S,
    /// The conversions for each operation of the test.
    operations: Vec<(MakeOp<S>, MakeRet<S>)>,
}

impl<S: Spec> fmt::Debug for OwnSpec<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnSpec").field("operations", &self.operations.len()).finish_non_exhaustive()
    }
}

impl<O, H> Test<O, H, Unjudged> {
    /// Compares the object with this [`Spec`]. Use a `Spec` if operations are
    /// [partial](crate::spec::blocked) or have several [outcomes](crate::spec::Outcomes), if
    /// [keys](Spec::key) are to be judged separately, or if a model is too slow.
    ///
    /// The queue in this example may report that it is empty although it is not, as many queues do
    /// while another thread is using them:
    ///
    /// ```
    /// use std::collections::VecDeque;
    /// use std::sync::Mutex;
    /// use trueline::spec::{Outcomes, Spec, outcome};
    ///
    /// struct Reluctant;
    ///
    /// #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    /// enum Op { Push(u32), TryPop }
    ///
    /// impl Spec for Reluctant {
    ///     type Op = Op;
    ///     type Ret = Option<u32>;
    ///     type State = VecDeque<u32>;
    ///     type Key = ();
    ///     type Value = ();
    ///
    ///     fn initial(&self) -> VecDeque<u32> {
    ///         VecDeque::new()
    ///     }
    ///
    ///     fn step(
    ///         &self,
    ///         state: &VecDeque<u32>,
    ///         op: &Op,
    ///         _recorded: Option<&Option<u32>>,
    ///     ) -> Outcomes<Option<u32>, VecDeque<u32>> {
    ///         let mut next = state.clone();
    ///         match op {
    ///             Op::Push(x) => {
    ///                 next.push_back(*x);
    ///                 outcome(None, next)
    ///             }
    ///             Op::TryPop => {
    ///                 let mut outcomes = outcome(None, state.clone()); // always possible
    ///                 if let Some(x) = next.pop_front() {
    ///                     outcomes.push((Some(x), next)); // possible if there is an element
    ///                 }
    ///                 outcomes
    ///             }
    ///         }
    ///     }
    /// }
    ///
    /// trueline::test(|| Mutex::new(VecDeque::new()))
    ///     .own_spec(Reluctant)
    ///     .operation("push", 0..100_u32, |queue, x| queue.lock().unwrap().push_back(x), Op::Push, |()| None)
    ///     .operation(
    ///         "try_pop",
    ///         (),
    ///         |queue, ()| queue.try_lock().ok()?.pop_front(),
    ///         |()| Op::TryPop,
    ///         |popped| popped,
    ///     )
    ///     .runs(200)
    ///     .run();
    /// ```
    ///
    /// Reports display operations and results as the specification [describes](Spec::describe_operation) them.
    pub fn own_spec<S: Spec + Send + 'static>(self, spec: S) -> Test<O, H, OwnSpec<S>> {
        self.judged_by(OwnSpec { spec, operations: Vec::new() })
    }
}

impl<O, H: 'static, S: Spec + 'static> Test<O, H, OwnSpec<S>> {
    /// Adds an operation: its name, a generator of its arguments, and the code that it calls. `op`
    /// converts an argument to the operation of the specification. `ret` converts a result of the
    /// object to a result of the specification.
    ///
    /// # Panics
    /// Panics if the test already has an operation with this name.
    #[track_caller]
    pub fn operation<G, R>(
        mut self,
        name: &str,
        arguments: G,
        body: impl Fn(&mut H, G::Item) -> R + Send + Sync + 'static,
        op: impl Fn(G::Item) -> S::Op + Send + Sync + 'static,
        ret: impl Fn(R) -> S::Ret + Send + Sync + 'static,
    ) -> Self
    where
        G: Generate + Send + Sync + 'static,
        R: Argument,
    {
        self.add(name, arguments, body);
        let op = move |value: &Value| {
            op(G::Item::from_value(value).expect("each argument has the type that its operation takes"))
        };
        let ret = move |value: &Value| ret(R::from_value(value).expect("each result has its operation's type"));
        self.judge.operations.push((Box::new(op), Box::new(ret)));
        self
    }
}

impl<S: Spec + Send + 'static> Judges for OwnSpec<S> {
    fn into_judge(self, _workload: &Workload) -> Arc<dyn Judge> {
        Arc::new(self)
    }
}

impl<S: Spec + Send> Specification<Call, Value> for OwnSpec<S> {
    type Error = String;

    fn judge<'a>(&'a self, history: Cow<'a, Recorded>, config: &Config) -> Result<Box<dyn Judged + 'a>, String> {
        let typed = history.map(|operation| {
            let Call { operation: number, argument } = &operation.op;
            let (op, ret) = &self.operations[*number as usize];
            (op(argument), operation.outcome.map(ret))
        });
        Ok(judged(Linearizable(&self.spec), Show::described(&self.spec), typed, config))
    }
}

impl<S: Spec + Send> Judge for OwnSpec<S> {
    fn name(&self) -> &str {
        "the specification"
    }

    fn describes_operations(&self) -> bool {
        true
    }

    fn needs_search(&self) -> bool {
        true
    }
}

impl<O, H: 'static, M: PlainModel> Test<O, H, Modeled<M>> {
    /// Adds an operation that may have several outcomes. `model` returns each result that is
    /// allowed in a given state, with the next state. If `model` returns no result, the operation
    /// blocks in that state.
    ///
    /// ```
    /// use std::collections::VecDeque;
    /// use std::sync::Mutex;
    ///
    /// trueline::test(|| Mutex::new(VecDeque::new()))
    ///     .model(VecDeque::new())
    ///     .operation("push", 0..100_u32, |queue, x| queue.lock().unwrap().push_back(x), |model, x| model.push_back(x))
    ///     .nondeterministic_operation(
    ///         "try_pop",
    ///         (),
    ///         |queue, ()| queue.try_lock().ok()?.pop_front(),
    ///         |model, ()| {
    ///             // `try_pop` may return nothing although there is an element.
    ///             let mut outcomes = vec![(None, model.clone())];
    ///             let mut next = model.clone();
    ///             if let Some(x) = next.pop_front() {
    ///                 outcomes.push((Some(x), next));
    ///             }
    ///             outcomes
    ///         },
    ///     )
    ///     .runs(200)
    ///     .run();
    /// ```
    ///
    /// # Panics
    /// Panics if the test already has an operation with this name.
    #[track_caller]
    pub fn nondeterministic_operation<G, R, I>(
        mut self,
        name: &str,
        arguments: G,
        body: impl Fn(&mut H, G::Item) -> R + Send + Sync + 'static,
        model: impl Fn(&M, G::Item) -> I + Send + Sync + 'static,
    ) -> Self
    where
        G: Generate + Send + Sync + 'static,
        R: Datum,
        I: IntoIterator<Item = (R, M)>,
    {
        self.add(name, arguments, body);
        let step = model::choices(move |state: &M, argument| {
            let argument = G::Item::from_value(argument).expect("each argument has the type that its operation takes");
            model(state, argument).into_iter().map(|(result, next)| (result.to_value(), next)).collect()
        });
        self.judge.steps.push(ModelOperation::new(step));
        self
    }
}

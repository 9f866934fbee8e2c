//! The specification with which a test compares its histories, with its types erased.

use std::borrow::Cow;
use std::sync::Arc;

use super::model::ModelSpec;
use super::synchronizing::SyncModel;
use crate::drive::{Call, Workload};
use crate::history::{History, Record, Shown, Value};
use crate::judge::{Algorithm, Config, Judged, Linearizable, Show, Specification, Synchronizing, judged, judged_so};
#[cfg(feature = "named")]
use crate::registry::NamedSpec;

/// A history as a test records it.
pub(super) type Recorded = History<Call, Value>;

/// The names of the operations of a test, by number.
pub(super) type Names = Arc<[Arc<str>]>;

pub(super) fn names(workload: &Workload) -> Names {
    workload.kinds.iter().map(|kind| Arc::clone(&kind.name)).collect()
}

/// The specification of a test, with the properties that the test needs besides verdicts.
pub(super) trait Judge: Specification<Call, Value, Error = String> {
    /// Returns the name that reports use for the specification.
    fn name(&self) -> &str;

    /// Returns the model, if the specification is a model.
    fn model(&self) -> Option<&ModelSpec> {
        None
    }

    /// Returns the specification as a [`SyncModel`], if its operations synchronize.
    fn synchronizing(&self) -> Option<&SyncModel> {
        None
    }

    /// Returns whether operations may be out of order. If they may, every program must contain as
    /// many removals as insertions.
    fn is_quasi(&self) -> bool {
        false
    }

    /// Returns all possible sequences of results if these calls are made one after the other; `None` if the
    /// specification cannot list them.
    #[cfg(feature = "systematic")]
    fn sequences(&self, calls: &[Call]) -> Option<Vec<Vec<Value>>> {
        let _ = calls;
        None
    }

    /// Returns whether reports show operations and results as the specification describes them.
    fn describes_operations(&self) -> bool {
        false
    }

    /// Returns whether the specification is the user's code, which may panic or never return.
    fn is_users_code(&self) -> bool {
        true
    }

    /// Returns whether histories must be judged by a search because no monitor supports the
    /// operations. A search may take too long for long histories.
    fn needs_search(&self) -> bool {
        false
    }
}

/// Converts the history to the form that history files store.
pub(super) fn raw(names: &[Arc<str>], history: &Recorded) -> History<Record, Value> {
    history.map(|operation| (record(names, &operation.op), operation.outcome.clone()))
}

fn record(names: &[Arc<str>], call: &Call) -> Record {
    Record { f: Arc::clone(&names[call.operation as usize]), key: None, value: call.argument.clone() }
}

/// Formats a result for reports.
pub(super) fn show_result(value: &Value) -> String {
    if value.is_null() { "-".to_owned() } else { value.to_string() }
}

/// Displays calls with the names of their operations instead of the numbers.
fn by_name(names: &[Arc<str>]) -> Show<'_, Call, Value> {
    Show::by(|call| Shown::Record(record(names, call)), show_result)
}

impl Specification<Call, Value> for ModelSpec {
    type Error = String;

    fn judge<'a>(&'a self, history: Cow<'a, Recorded>, config: &Config) -> Result<Box<dyn Judged + 'a>, String> {
        let is_free = *config.chosen() == Algorithm::Auto;
        match is_free.then(|| self.guess()).flatten().and_then(|guess| guess.judge(self, &history, config)) {
            Some(judgment) => Ok(judged_so(Linearizable(self), by_name(&self.names), history, judgment)),
            None => Ok(judged(Linearizable(self), by_name(&self.names), history, config)),
        }
    }
}

impl Judge for ModelSpec {
    fn name(&self) -> &str {
        "the model"
    }

    fn model(&self) -> Option<&ModelSpec> {
        Some(self)
    }

    fn needs_search(&self) -> bool {
        !self.is_standard()
    }

    #[cfg(feature = "systematic")]
    fn sequences(&self, calls: &[Call]) -> Option<Vec<Vec<Value>>> {
        let mut all = vec![(self.initial.clone(), Vec::new())];
        for call in calls {
            let mut next = Vec::new();
            for (state, results) in &all {
                for (result, state) in (self.operations[call.operation as usize].step)(state, &call.argument) {
                    next.push((state, [&results[..], &[result]].concat()));
                }
            }
            all = next;
        }
        Some(all.into_iter().map(|(_, results)| results).collect())
    }
}

impl Specification<Call, Value> for SyncModel {
    type Error = String;

    fn judge<'a>(&'a self, history: Cow<'a, Recorded>, config: &Config) -> Result<Box<dyn Judged + 'a>, String> {
        Ok(judged(Synchronizing(self), by_name(&self.names), history, config))
    }

    fn has_progress(&self) -> bool {
        true
    }
}

impl Judge for SyncModel {
    fn name(&self) -> &str {
        "the synchronizing operations"
    }

    fn synchronizing(&self) -> Option<&SyncModel> {
        Some(self)
    }
}

/// A named specification, and the names of the test's operations.
#[cfg(feature = "named")]
#[derive(Debug)]
pub(super) struct Named {
    pub(super) spec: NamedSpec,
    pub(super) names: Names,
}

#[cfg(feature = "named")]
impl Specification<Call, Value> for Named {
    type Error = String;

    fn judge<'a>(&'a self, history: Cow<'a, Recorded>, config: &Config) -> Result<Box<dyn Judged + 'a>, String> {
        self.spec.judge(raw(&self.names, &history), config).map_err(|error| error.message().to_owned())
    }

    fn has_progress(&self) -> bool {
        self.spec.has_progress()
    }
}

#[cfg(feature = "named")]
impl Judge for Named {
    fn name(&self) -> &str {
        self.spec.name()
    }

    fn is_users_code(&self) -> bool {
        false
    }

    #[cfg(feature = "systematic")]
    fn sequences(&self, calls: &[Call]) -> Option<Vec<Vec<Value>>> {
        let mut object = self.spec.object()?;
        let (mut has_choices, mut results) = (false, Vec::new());
        for call in calls {
            let record = record(&self.names, call);
            let mut choose = |bound| {
                has_choices |= bound > 1;
                0
            };
            let mut done = object.step(&[(crate::history::ProcessId(0), &record)], &mut choose).ok()?;
            results.push(done.pop()?.1);
        }
        (!has_choices).then(|| vec![results])
    }

    fn is_quasi(&self) -> bool {
        self.spec.is_quasi()
    }
}

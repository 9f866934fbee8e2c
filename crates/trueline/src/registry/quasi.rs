//! Quasi linearizability of specifications that are chosen by name.

use std::borrow::Cow;
use std::fmt::{self, Debug};
use std::str::FromStr;
use std::sync::Arc;

use super::family::{self, AnyFamily, Family, IsJudged};
use super::lookup::NamedError;
use super::numbered::{AnyNumbered, LentValue, NumberedHistory, OpNumber, RetNumber, show};
use super::parts::by_object;
use super::reading::read_all;
use super::sequential::AnyObject;
use super::table::{SpecInfo, nearest};
use crate::history::{Operation, RawHistory, Record, Value};
use crate::judge::quasi::{Factors, Semantics};
use crate::judge::{Config, QuasiLinearizable, judged};

/// The number of places by which operations may be out of order.
///
/// A single number is the factor of one class that contains all operations. With names, the
/// operations with each name form a class, which has its own factor.
///
/// ```
/// use trueline::registry::QuasiFactors;
///
/// assert_eq!("2".parse(), Ok(QuasiFactors::Whole(2)));
/// let by_name = QuasiFactors::ByOperation(vec![("enq".to_owned(), 0), ("deq".to_owned(), 4)]);
/// assert_eq!("enq=0,deq=4".parse(), Ok(by_name));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuasiFactors {
    /// All operations form one class, which has this factor.
    Whole(u32),
    /// For each of these names, the operations with this name form a class, which has the given
    /// factor.
    ByOperation(Vec<(String, u32)>),
}

impl fmt::Display for QuasiFactors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(factor) => write!(f, "{factor}"),
            Self::ByOperation(factors) => {
                let factors: Vec<String> = factors.iter().map(|(name, factor)| format!("{name}={factor}")).collect();
                f.write_str(&factors.join(","))
            }
        }
    }
}

/// The error for text that does not contain factors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoFactors(String);

impl fmt::Display for NoFactors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text) = self;
        write!(
            f,
            "`{text}` is not a factor; write a number for all operations, such as 2, or for each one, such as enq=0,deq=4"
        )
    }
}

impl std::error::Error for NoFactors {}

impl FromStr for QuasiFactors {
    type Err = NoFactors;

    fn from_str(text: &str) -> Result<Self, NoFactors> {
        if let Ok(factor) = text.trim().parse() {
            return Ok(Self::Whole(factor));
        }
        let factor = |part: &str| {
            let (name, factor) = part.split_once('=')?;
            let factor = factor.trim().parse().ok()?;
            (!name.trim().is_empty()).then(|| (name.trim().to_owned(), factor))
        };
        let factors: Option<Vec<(String, u32)>> = text.split(',').map(factor).collect();
        factors.map(Self::ByOperation).ok_or_else(|| NoFactors(text.to_owned()))
    }
}

impl QuasiFactors {
    /// Returns the factor of each named operation, with the operation's name in the table. Each
    /// operation occurs at most once. Returns `None` if all operations are one class.
    fn in_table(&self, info: &SpecInfo) -> Result<Option<Vec<(&'static str, u32)>>, NamedError> {
        let Self::ByOperation(factors) = self else { return Ok(None) };
        let mut known: Vec<(&'static str, u32)> = Vec::new();
        for (name, factor) in factors {
            let Some(operation) = info.operation(name) else {
                let names = info.operations.iter().map(|operation| operation.name);
                let hint = match nearest(name, names.clone()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("its operations are {}", names.collect::<Vec<_>>().join(", ")),
                };
                return Err(NamedError::new(format!(
                    "`{}` has no operation {name:?}, so {name:?} cannot have a factor; {hint}",
                    info.name
                )));
            };
            if known.iter().any(|(other, _)| *other == operation.name) {
                let message = format!("`{}` has two factors; give only one", operation.name);
                return Err(NamedError::new(message));
            }
            known.push((operation.name, *factor));
        }
        Ok(Some(known))
    }
}

/// Judges whether a history is quasi linearizable.
pub(super) fn judge_numbered<'f, V: LentValue>(
    spec: AnyNumbered<'f, V>,
    info: &'static SpecInfo,
    history: NumberedHistory,
    factors: &QuasiFactors,
    config: &Config,
) -> IsJudged<'f> {
    let semantics = match (factors.in_table(info)?, factors) {
        (Some(by_name), _) => Semantics::by_class(classes(&spec, info, &history, by_name)?),
        (None, QuasiFactors::Whole(factor)) => Semantics::whole_domain(*factor),
        (None, QuasiFactors::ByOperation(_)) => unreachable!("factors by operation are handled above"),
    };
    let show = show(&spec);
    Ok(judged(QuasiLinearizable(spec, semantics), show, history, config))
}

/// For each operation name, returns the class of the operations with this name, and the factor of
/// the class. Returns an error if an operation of the history has no factor.
fn classes<'f, V: LentValue>(
    spec: &AnyNumbered<'f, V>,
    info: &'static SpecInfo,
    history: &NumberedHistory,
    by_name: Vec<(&'static str, u32)>,
) -> Result<Factors<'f, OpNumber, RetNumber>, NamedError> {
    let name = |op: OpNumber| info.operation(&spec.show_op(op).f).map_or("", |operation| operation.name);
    let has_none = |op: &OpNumber| by_name.iter().all(|(other, _)| *other != name(*op));
    if let Some(op) = history.operations().iter().map(|operation| operation.op).find(has_none) {
        let name = name(op);
        let message = format!(
            "the history calls `{name}`, which has no factor; add {name}=0, or {name}=N if it may be out of order by N places"
        );
        return Err(NamedError::new(message));
    }
    let mut factors = Factors::new();
    for (name, factor) in by_name {
        let spec = Arc::clone(spec);
        factors = factors.class(name, factor, move |op| *spec.show_op(*op).f == *name);
    }
    Ok(factors)
}

/// A family whose histories are judged by quasi linearizability, with all operations as one class.
#[derive(Debug)]
pub(super) struct Quasi<F> {
    pub(super) family: F,
    pub(super) factor: u32,
}

impl<F: Family> AnyFamily for Quasi<F> {
    fn judge(&self, info: &'static SpecInfo, history: Cow<'_, RawHistory>, config: &Config) -> IsJudged<'_> {
        family::judge_quasi(&self.family, info, history, &QuasiFactors::Whole(self.factor), config)
    }

    fn process_matters(&self) -> bool {
        self.family.process_matters()
    }

    fn judge_quasi(
        &self,
        info: &'static SpecInfo,
        history: RawHistory,
        factors: &QuasiFactors,
        config: &Config,
    ) -> Option<IsJudged<'_>> {
        Some(family::judge_quasi(&self.family, info, Cow::Owned(history), factors, config))
    }

    fn is_quasi(&self) -> bool {
        true
    }

    fn fault(&self, info: &SpecInfo, operation: &Operation<Record, Value>) -> Option<NamedError> {
        AnyFamily::fault(&self.family, info, operation)
    }

    /// Keys are not judged separately: the distance by which an operation is out of order counts
    /// the operations on all keys of the object.
    fn parts(&self, info: &SpecInfo, history: &RawHistory) -> Result<(Vec<usize>, Vec<String>), NamedError> {
        read_all(&self.family, info, history)?;
        Ok(by_object(history))
    }

    /// Returns an object that executes operations in order. A quasi-linearizable object may always
    /// execute operations in order.
    fn object(&self) -> Option<Box<dyn AnyObject + '_>> {
        AnyFamily::object(&self.family)
    }
}

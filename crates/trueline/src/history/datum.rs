//! Conversion of Rust values to values of a history, and back.

use std::sync::Arc;

use super::Value;

/// A type that operations of a test may return: its values can be recorded in a history.
///
/// Two values of the type must be equal if and only if their converted values are equal.
///
/// ```
/// use trueline::history::{Datum, Value};
///
/// assert_eq!(Some(3_u64).to_value(), Value::Int(3));
/// assert_eq!(None::<u64>.to_value(), Value::Null);
/// assert_eq!(Err::<(), _>("full").to_value().to_string(), r#"["error","full"]"#);
/// ```
///
/// # Your own types
///
/// `#[derive(Datum)]` implements the trait for a struct or an enum whose fields implement it. Types
/// that are used as arguments also derive [`Argument`](trait@Argument). Reports print values of
/// derived types as `#[derive(Debug)]` does.
///
/// ```
/// use trueline::history::{Argument, Datum};
///
/// #[derive(Datum, Argument, Clone, Debug, PartialEq)]
/// struct Job { id: u32, urgent: bool }
///
/// #[derive(Datum, Debug)]
/// enum Push<T> {
///     Done { position: usize },
///     Full(T),
///     Closed,
/// }
///
/// // A struct is recorded like a tuple, and printed with its name.
/// let job = Job { id: 7, urgent: true };
/// assert_eq!(job.to_value().to_string(), "[7,true]");
/// assert_eq!(Job::as_rust(&job.to_value()), "Job { id: 7, urgent: true }");
/// assert_eq!(Job::from_value(&job.to_value()), Some(job.clone()));
///
/// // A variant is recorded as its name and its fields.
/// let full = Push::Full(job).to_value();
/// assert_eq!(full.to_string(), r#"["Full",[7,true]]"#);
/// assert_eq!(Push::<Job>::as_rust(&full), "Full(Job { id: 7, urgent: true })");
/// assert_eq!(Push::<Job>::Closed.to_value().to_string(), r#""Closed""#);
/// ```
///
/// A struct with one field becomes the value of that field, and a struct without fields becomes null. Every type
/// parameter must implement the trait, too. The macro has no options: implement the trait by hand to record a type in
/// another way, for example if it ignores a field when it compares values.
///
/// ```
/// use trueline::history::{Datum, Value};
///
/// /// Two entries are equal if their keys are equal, so only the key is recorded.
/// struct Entry { key: u32, cached: u64 }
///
/// impl Datum for Entry {
///     fn to_value(&self) -> Value {
///         self.key.to_value()
///     }
/// }
/// # assert_eq!(Entry { key: 1, cached: 2 }.to_value(), Value::Int(1));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be recorded in a history",
    label = "this is the result of an operation, or a part of it",
    note = "let the body of the operation return a plain value: numbers, `bool`, `char`, `String`, `()`, or `Option`, `Result`, tuples and `Vec` of them; `.is_ok()`, `.ok()` or `.map(|guard| *guard)` often helps",
    note = "or put `#[derive(trueline::history::Datum)]` on your own type"
)]
pub trait Datum {
    /// Converts `self` to a value of a history.
    fn to_value(&self) -> Value;

    /// Formats a converted value as Rust prints the original with `{:?}`, for reports of tests. The default
    /// implementation formats the value as JSON.
    ///
    /// ```
    /// use trueline::history::{Datum, Value};
    ///
    /// assert_eq!(Option::<u64>::as_rust(&Value::Int(3)), "Some(3)");
    /// assert_eq!(Option::<u64>::as_rust(&Value::Null), "None");
    /// assert_eq!(<()>::as_rust(&Value::Null), "()");
    /// ```
    fn as_rust(value: &Value) -> String {
        value.to_string()
    }
}

/// A type that operations of a test may take as an argument: its values can be read back from a history.
///
/// ```
/// use trueline::history::{Argument, Datum};
///
/// let pair = (1_u32, Some("a".to_owned()));
/// assert_eq!(Argument::from_value(&pair.to_value()), Some(pair));
/// ```
///
/// `#[derive(Datum, Argument)]` implements both traits for your own types: see [`Datum`](trait@Datum). The derived
/// `Argument` reads only values that the derived `Datum` writes: if you implement one of the two traits by hand,
/// implement both.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the argument of an operation",
    label = "the generator of the arguments produces this type",
    note = "arguments can be numbers, `bool`, `char`, `String`, `()`, and `Option`, tuples and `Vec` of them; build anything else from these in the body",
    note = "or put `#[derive(trueline::history::Datum, trueline::history::Argument)]` on your own type"
)]
pub trait Argument: Datum + Sized {
    /// Converts a value back; returns `None` if it does not represent a value of this type.
    fn from_value(value: &Value) -> Option<Self>;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        /// A number that is too large for [`Value::Int`] becomes text.
        impl Datum for $type {
            #[inline]
            fn to_value(&self) -> Value {
                match i64::try_from(*self) {
                    Ok(int) => Value::Int(int),
                    Err(_) => Value::Text(self.to_string().into()),
                }
            }

            fn as_rust(value: &Value) -> String {
                number_as_rust(value)
            }
        }

        impl Argument for $type {
            #[inline]
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Int(int) => (*int).try_into().ok(),
                    Value::Text(text) => text.parse().ok(),
                    _ => None,
                }
            }
        }
    )*};
}

/// Formats a recorded number. A number that is too large for [`Value::Int`] is recorded as text.
fn number_as_rust(value: &Value) -> String {
    if let Value::Text(text) = value { text.to_string() } else { value.to_string() }
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl Datum for () {
    #[inline]
    fn to_value(&self) -> Value {
        Value::Null
    }

    fn as_rust(value: &Value) -> String {
        if value.is_null() { "()".to_owned() } else { value.to_string() }
    }
}

impl Argument for () {
    #[inline]
    fn from_value(value: &Value) -> Option<Self> {
        value.is_null().then_some(())
    }
}

impl Datum for bool {
    #[inline]
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
}

impl Argument for bool {
    #[inline]
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Bool(value) = value { Some(*value) } else { None }
    }
}

impl Datum for char {
    fn to_value(&self) -> Value {
        Value::Text((*self.encode_utf8(&mut [0; 4])).into())
    }

    fn as_rust(value: &Value) -> String {
        Self::from_value(value).map_or_else(|| value.to_string(), |letter| format!("{letter:?}"))
    }
}

impl Argument for char {
    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let mut letters = text.chars();
        letters.next().filter(|_| letters.next().is_none())
    }
}

fn text_as_rust(value: &Value) -> String {
    if let Value::Text(text) = value { format!("{text:?}") } else { value.to_string() }
}

impl Datum for str {
    fn to_value(&self) -> Value {
        Value::Text(self.into())
    }

    fn as_rust(value: &Value) -> String {
        text_as_rust(value)
    }
}

impl Datum for String {
    fn to_value(&self) -> Value {
        Value::Text(self.as_str().into())
    }

    fn as_rust(value: &Value) -> String {
        text_as_rust(value)
    }
}

impl Argument for String {
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Text(text) = value { Some(text.as_ref().to_owned()) } else { None }
    }
}

impl<T: Datum + ?Sized> Datum for &T {
    fn to_value(&self) -> Value {
        (**self).to_value()
    }

    fn as_rust(value: &Value) -> String {
        T::as_rust(value)
    }
}

impl<T: Datum + ?Sized> Datum for Arc<T> {
    fn to_value(&self) -> Value {
        (**self).to_value()
    }

    fn as_rust(value: &Value) -> String {
        T::as_rust(value)
    }
}

impl<T: Datum + ?Sized> Datum for Box<T> {
    fn to_value(&self) -> Value {
        (**self).to_value()
    }

    fn as_rust(value: &Value) -> String {
        T::as_rust(value)
    }
}

/// `None` becomes null, and `Some(x)` becomes the value of `x`. There is one exception, which keeps
/// all values distinct: if the value of `x` is null or a list with one element, `Some(x)` becomes a
/// list that contains only this value.
impl<T: Datum> Datum for Option<T> {
    #[inline]
    fn to_value(&self) -> Value {
        match self {
            None => Value::Null,
            Some(some) => match some.to_value() {
                Value::Null => Value::List([Value::Null].into()),
                Value::List(list) if list.len() == 1 => Value::List([Value::List(list)].into()),
                value => value,
            },
        }
    }

    fn as_rust(value: &Value) -> String {
        match value {
            Value::Null => "None".to_owned(),
            Value::List(list) if list.len() == 1 => format!("Some({})", T::as_rust(&list[0])),
            value => format!("Some({})", T::as_rust(value)),
        }
    }
}

impl<T: Argument> Argument for Option<T> {
    #[inline]
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            Value::List(list) if list.len() == 1 => T::from_value(&list[0]).map(Some),
            value => T::from_value(value).map(Some),
        }
    }
}

/// `Err(e)` becomes the list `["error", e]`, and `Ok(x)` becomes the value of `x`. There is one
/// exception, which keeps all values distinct: if the value of `x` is a list of two elements that
/// begins with `"error"` or `"ok"`, `Ok(x)` becomes the list `["ok", x]`.
impl<T: Datum, E: Datum> Datum for Result<T, E> {
    fn to_value(&self) -> Value {
        let tagged = |tag: &str, value| Value::List([tag.into(), value].into());
        match self {
            Err(error) => tagged("error", error.to_value()),
            Ok(success) => match success.to_value() {
                Value::List(list) if is_tagged(&list) => tagged("ok", Value::List(list)),
                value => value,
            },
        }
    }

    fn as_rust(value: &Value) -> String {
        match value {
            Value::List(list) if is_tagged(list) && list[0] == "error".into() => {
                format!("Err({})", E::as_rust(&list[1]))
            }
            Value::List(list) if is_tagged(list) => format!("Ok({})", T::as_rust(&list[1])),
            value => format!("Ok({})", T::as_rust(value)),
        }
    }
}

fn is_tagged(list: &[Value]) -> bool {
    matches!(list, [Value::Text(tag), _] if matches!(tag.as_ref(), "ok" | "error"))
}

impl<T: Argument, E: Argument> Argument for Result<T, E> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::List(list) if is_tagged(list) && list[0] == "error".into() => E::from_value(&list[1]).map(Err),
            Value::List(list) if is_tagged(list) => T::from_value(&list[1]).map(Ok),
            value => T::from_value(value).map(Ok),
        }
    }
}

impl<T: Datum> Datum for [T] {
    fn to_value(&self) -> Value {
        self.iter().map(T::to_value).collect()
    }

    fn as_rust(value: &Value) -> String {
        let Value::List(list) = value else { return value.to_string() };
        format!("[{}]", list.iter().map(T::as_rust).collect::<Vec<_>>().join(", "))
    }
}

impl<T: Datum> Datum for Vec<T> {
    fn to_value(&self) -> Value {
        self.as_slice().to_value()
    }

    fn as_rust(value: &Value) -> String {
        <[T]>::as_rust(value)
    }
}

impl<T: Argument> Argument for Vec<T> {
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::List(list) = value { list.iter().map(T::from_value).collect() } else { None }
    }
}

impl<T: Datum, const N: usize> Datum for [T; N] {
    fn to_value(&self) -> Value {
        self.as_slice().to_value()
    }

    fn as_rust(value: &Value) -> String {
        <[T]>::as_rust(value)
    }
}

impl<T: Argument, const N: usize> Argument for [T; N] {
    fn from_value(value: &Value) -> Option<Self> {
        Vec::from_value(value)?.try_into().ok()
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),+))*) => {$(
        impl<$($name: Datum),+> Datum for ($($name,)+) {
            fn to_value(&self) -> Value {
                Value::List([$(self.$index.to_value()),+].into())
            }

            fn as_rust(value: &Value) -> String {
                match value {
                    Value::List(list) if list.len() == [$($index),+].len() => {
                        let elements = [$($name::as_rust(&list[$index])),+].join(", ");
                        if list.len() == 1 { format!("({elements},)") } else { format!("({elements})") }
                    }
                    value => value.to_string(),
                }
            }
        }

        impl<$($name: Argument),+> Argument for ($($name,)+) {
            fn from_value(value: &Value) -> Option<Self> {
                let Value::List(list) = value else { return None };
                let mut parts = list.iter();
                let tuple = ($($name::from_value(parts.next()?)?,)+);
                parts.next().is_none().then_some(tuple)
            }
        }
    )*};
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::fmt::Debug;

    use super::*;

    /// Asserts that all items of `all` are converted to different values, and that each item can be restored from its
    /// value.
    fn keeps_apart<T: Argument + Clone + PartialEq + Debug>(all: &[T]) {
        let mut seen: HashMap<Value, T> = HashMap::new();
        for one in all {
            let value = one.to_value();
            assert_eq!(T::from_value(&value).as_ref(), Some(one), "{value}");
            assert_eq!(T::as_rust(&value), format!("{one:?}"));
            if let Some(other) = seen.insert(value, one.clone()) {
                assert_eq!(*one, other, "both become the same value");
            }
        }
        assert_eq!(seen.len(), all.len());
    }

    #[test]
    fn numbers_are_exact() {
        keeps_apart(&[0, 1, u64::MAX, u64::MAX - 1, i64::MAX as u64, i64::MAX as u64 + 1]);
        keeps_apart(&[i128::MIN, i128::from(i64::MIN), -1, 0, i128::MAX]);
        assert_eq!(u8::from_value(&Value::Int(256)), None);
    }

    #[test]
    fn options_nest() {
        let inner = [None, Some(None), Some(Some(None)), Some(Some(Some(1_u8)))];
        keeps_apart(&inner);
        keeps_apart(&[None, Some(vec![]), Some(vec![None]), Some(vec![Some(1_u8)]), Some(vec![None, None])]);
        keeps_apart(&[None, Some((None,)), Some((Some(()),))]);
    }

    #[test]
    fn results_nest() {
        let ok = "ok".to_owned();
        keeps_apart(&[Ok(vec![ok.clone(), ok.clone()]), Ok(vec!["error".to_owned(), ok.clone()]), Err(ok.clone())]);
        keeps_apart(&[Ok(Ok(())), Ok(Err(())), Err(Ok::<(), ()>(())), Err(Err(()))]);
        keeps_apart(&[Ok((ok.clone(), 1_u8)), Ok(("error".to_owned(), 1)), Err(1)]);
    }

    #[test]
    fn others_come_back() {
        keeps_apart(&['a', 'é', '"']);
        keeps_apart(&[String::new(), "a".to_owned(), "null".to_owned()]);
        keeps_apart(&[[1_u8, 2], [2, 1]]);
        keeps_apart(&[(1_u8, true, "x".to_owned()), (1, false, "x".to_owned())]);
        assert_eq!(<(u8, u8)>::from_value(&vec![1_u8, 2, 3].to_value()), None);
        assert_eq!(char::from_value(&"ab".to_value()), None);
    }
}

//! Tests the derive macros of `Datum` and `Argument`: each shape of type is recorded, printed and read back.

use std::collections::{HashSet, VecDeque};
use std::fmt::Debug;
use std::sync::Mutex;
use std::time::Duration;

use trueline::history::{Argument, Datum, Value};

/// Asserts that each instance becomes the given value, is printed as `{:?}` prints it, and is
/// restored from its value. Also asserts that different instances become different values.
#[track_caller]
fn check<T: Argument + PartialEq + Debug>(all: &[(T, &str)]) {
    let mut seen = HashSet::new();
    for (one, expected) in all {
        let value = one.to_value();
        assert_eq!(value.to_string(), *expected);
        assert_eq!(T::as_rust(&value), format!("{one:?}"));
        assert_eq!(T::from_value(&value).as_ref(), Some(one));
        assert!(seen.insert(value), "another instance becomes {expected}, too");
    }
}

#[derive(Datum, Argument, Clone, PartialEq, Debug)]
struct Unit;

#[derive(Datum, Argument, Clone, PartialEq, Debug)]
struct NoElements();

#[derive(Datum, Argument, Clone, PartialEq, Debug)]
struct NoFields {}

/// A struct with one field, whose type is a tuple. After `pub`, the tuple looks like the scope in
/// `pub(crate)`.
#[derive(Datum, Argument, Clone, PartialEq, Debug)]
struct Key(pub (u8, char));

#[derive(Datum, Argument, Clone, PartialEq, Debug)]
struct Wrapper {
    inner: Option<u64>,
}

#[derive(Datum, Argument, Clone, PartialEq, Debug)]
struct Pair(pub(crate) i32, #[allow(dead_code, reason = "the macro skips attributes")] pub String);

/// Tests names that need `r#`, and types with commas between angle brackets.
#[derive(Datum, Argument, Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    /// Documented.
    pub(in crate::derive) r#type: Result<Vec<u8>, String>,
    pub(super) done: bool,
    unit: Unit,
}

#[test]
fn structs_are_like_tuples() {
    check(&[(Unit, "null")]);
    check(&[(NoElements(), "null")]);
    check(&[(NoFields {}, "null")]);
    check(&[(Key((1, 'x')), r#"[1,"x"]"#)]);
    check(&[
        (Wrapper { inner: None }, "null"),
        (Wrapper { inner: Some(3) }, "3"),
        (Wrapper { inner: Some(u64::MAX) }, r#""18446744073709551615""#),
    ]);
    check(&[(Pair(-1, "a\"b".to_owned()), r#"[-1,"a\"b"]"#)]);
    check(&[
        (Entry { r#type: Ok(vec![1]), done: true, unit: Unit }, "[[1],true,null]"),
        (Entry { r#type: Err(String::new()), done: false, unit: Unit }, r#"[["error",""],false,null]"#),
    ]);
}

#[derive(Datum, Argument, Clone, PartialEq, Debug, Default)]
#[repr(i16)]
enum Outcome {
    #[default]
    Empty,
    Full = 1 << 3,
    r#Loop = (2 > 1) as i16 + 20,
    Nothing(),
    Found(u32),
    Moved(u32, Option<Unit>),
    Swapped {
        r#old: Vec<Outcome>,
        new: (),
    },
    Bare {},
}

#[test]
fn enums_have_the_names_of_their_variants() {
    check(&[
        (Outcome::Empty, r#""Empty""#),
        (Outcome::Full, r#""Full""#),
        (Outcome::r#Loop, r#""Loop""#),
        (Outcome::Nothing(), r#""Nothing""#),
        (Outcome::Found(7), r#"["Found",7]"#),
        (Outcome::Moved(7, None), r#"["Moved",7,null]"#),
        (Outcome::Moved(7, Some(Unit)), r#"["Moved",7,[null]]"#),
        (
            Outcome::Swapped { r#old: vec![Outcome::Empty, Outcome::Found(1)], new: () },
            r#"["Swapped",["Empty",["Found",1]],null]"#,
        ),
        (Outcome::Bare {}, r#""Bare""#),
    ]);
}

#[derive(Datum, Argument, Clone, PartialEq, Debug)]
enum Never {}

/// A variant that looks like a failed `Result`.
#[derive(Datum, Argument, Clone, PartialEq, Debug)]
#[expect(non_camel_case_types, reason = "that is how a `Result` is recorded")]
enum Tag {
    error(u8),
    ok(u8),
}

#[test]
fn derived_types_nest() {
    check(&[(None, "null"), (Some(Unit), "[null]")]);
    check(&[(None, "null"), (Some(Outcome::Empty), r#""Empty""#), (Some(Outcome::Found(1)), r#"["Found",1]"#)]);
    check(&[
        (Ok(Tag::error(1)), r#"["ok",["error",1]]"#),
        (Ok(Tag::ok(1)), r#"["ok",["ok",1]]"#),
        (Err(1_u8), r#"["error",1]"#),
    ]);
    check(&[((Key((1, 'a')), vec![Pair(1, String::new())]), r#"[[1,"a"],[[1,""]]]"#)]);
    check(&[(None::<Never>, "null")]);
}

/// Tests bounds, defaults, constants, a where clause, and an arrow that does not close an angle bracket.
#[derive(Datum, Argument, Clone, PartialEq, Debug)]
struct Generic<T: Clone + Debug = u8, U = Vec<(T, T)>, const N: usize = { 1 + 1 }>(T, [U; N])
where
    U: Clone,
    fn(T) -> U: Clone;

#[derive(Datum, Argument, Clone, PartialEq, Debug)]
enum Either<Left, Right>
where
    Left: Clone,
{
    Left(Left),
    Right { right: Right },
}

/// Derives only `Datum`, for results: a borrowed string cannot be read back.
#[derive(Datum, Clone, PartialEq, Debug)]
struct Borrowed<'a, 'b: 'a, T: ?Sized> {
    name: &'a str,
    rest: &'b T,
}

#[test]
fn parameters_are_bounded() {
    check(&[(Generic(1_u8, [vec![(1, 2)], vec![]]), "[1,[[[1,2]],[]]]")]);
    check(&[(Either::Left(1), r#"["Left",1]"#), (Either::Right { right: Unit }, r#"["Right",null]"#)]);
    let borrowed = Borrowed { name: "a", rest: "b" };
    assert_eq!(borrowed.to_value().to_string(), r#"["a","b"]"#);
    assert_eq!(<Borrowed<'_, '_, str>>::as_rust(&borrowed.to_value()), format!("{borrowed:?}"));
}

/// A macro passes visibilities and types as groups of tokens.
macro_rules! declare {
    ($vis:vis $name:ident $field:ident $type:ty) => {
        #[derive(Datum, Argument, Clone, PartialEq, Debug)]
        $vis struct $name {
            $vis $field: $type,
            second: $type,
        }
    };
}

declare!(pub(crate) FromMacro first Option<u8>);
declare!(Private first (u8, u8));

#[test]
fn macros_can_declare_the_type() {
    check(&[(FromMacro { first: None, second: Some(2) }, "[null,2]")]);
    check(&[(Private { first: (1, 2), second: (3, 4) }, "[[1,2],[3,4]]")]);
}

#[test]
fn other_values_are_refused() {
    let read = |text: &str| text.parse::<Value>().expect("a value");
    for other in ["0", "[]", "[null]"] {
        assert_eq!(Unit::from_value(&read(other)), None, "{other}");
        assert_eq!(Unit::as_rust(&read(other)), other);
    }
    for other in ["null", "1", "[]", "[1]", r#"[1,"a",2]"#, r#"["a",1]"#] {
        assert_eq!(Pair::from_value(&read(other)), None, "{other}");
    }
    assert_eq!(Pair::as_rust(&read(r#"[1,"a",2]"#)), r#"[1,"a",2]"#);
    for other in
        ["null", r#""Found""#, r#"["Found"]"#, r#"["Found",1,2]"#, r#"["Empty"]"#, r#"["Empty",1]"#, r#""None""#]
    {
        assert_eq!(Outcome::from_value(&read(other)), None, "{other}");
        assert_eq!(Outcome::as_rust(&read(other)), other);
    }
    assert_eq!(Never::from_value(&read(r#""Never""#)), None);
}

#[derive(Datum, Argument, Clone, PartialEq, Eq, Hash, Debug)]
struct Job {
    id: u32,
    is_urgent: bool,
}

#[derive(Datum, Debug)]
enum Pushed {
    At(usize),
    Full,
}

#[test]
fn reports_print_derived_types() {
    let jobs = [Job { id: 1, is_urgent: false }, Job { id: 2, is_urgent: true }];
    let outcome = trueline::test(|| Mutex::new(VecDeque::new()))
        .model(VecDeque::new())
        .forgetful()
        .operation(
            "push",
            jobs,
            |queue, job| {
                let mut queue = queue.lock().expect("not poisoned");
                queue.push_back(job);
                if queue.len() < 2 { Pushed::At(queue.len()) } else { Pushed::Full }
            },
            |model, job| {
                model.push_back(job);
                Pushed::At(model.len())
            },
        )
        .shrink_for(Duration::ZERO)
        .runs(1000)
        .outcome();
    let report = outcome.failure.expect("the second push is refused").to_string();
    for part in ["push(Job { id: ", ", is_urgent: ", "returned Full, but could only have returned At("] {
        assert!(report.contains(part), "no {part} in:\n{report}");
    }
}

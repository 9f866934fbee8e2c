//! The text notation of programs.
//!
//! Threads are separated by `|`, and the calls of a thread by `,`. The argument of a call follows
//! the name of its operation, in JSON: `push 1, pop | pop`. If there are calls before the threads
//! start or after they have finished, the threads are in parentheses: `push 1 (pop | pop) pop`. A
//! name that contains a character with a special meaning is quoted.

use std::fmt::Write as _;

use crate::drive::{Call, Kind};
use crate::history::Value;

/// A program whose calls are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Listing {
    /// The calls before the threads start.
    pub(super) before: Vec<Call>,
    /// The calls of each thread.
    pub(super) threads: Vec<Vec<Call>>,
    /// The calls after the threads have finished.
    pub(super) after: Vec<Call>,
}

impl Listing {
    /// Returns the number of calls.
    pub(super) fn calls(&self) -> usize {
        self.before.len() + self.threads.iter().map(Vec::len).sum::<usize>() + self.after.len()
    }

    /// Returns all calls: those before the threads start, those of the threads, and those after the
    /// threads have finished.
    pub(super) fn all(&self) -> impl Iterator<Item = &Call> {
        self.before.iter().chain(self.threads.iter().flatten()).chain(&self.after)
    }

    /// Returns mutable references to all calls, in the order of [`all`](Self::all).
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Call> {
        self.before.iter_mut().chain(self.threads.iter_mut().flatten()).chain(&mut self.after)
    }

    /// Keeps only the calls for which `keeps` returns `true`. The argument of `keeps` is the index
    /// of the call in [`all`](Self::all). A thread that loses all its calls is kept.
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(usize) -> bool) {
        let mut place = 0;
        for calls in [&mut self.before].into_iter().chain(&mut self.threads).chain([&mut self.after]) {
            calls.retain(|_| {
                place += 1;
                keeps(place - 1)
            });
        }
    }

    /// Returns whether leaving out calls from `whole` can result in this program, if only the
    /// following may be left out: entire threads, the last calls of a thread, and the last calls
    /// made after the threads have finished.
    pub(super) fn is_beginning_of(&self, whole: &Self) -> bool {
        let mut threads = whole.threads.iter();
        self.before == whole.before
            && self.threads.iter().all(|calls| threads.any(|all| all.starts_with(calls)))
            && whole.after.starts_with(&self.after)
    }

    /// Formats the program as text that [`read`](Self::read) parses.
    pub(super) fn to_text(&self, kinds: &[Kind]) -> String {
        let list = |calls: &[Call]| calls.iter().map(|call| call_text(call, kinds)).collect::<Vec<_>>().join(", ");
        let threads = self.threads.iter().map(|calls| list(calls)).collect::<Vec<_>>().join(" | ");
        if self.before.is_empty() && self.after.is_empty() {
            return threads.trim().to_owned();
        }
        format!("{} ({}) {}", list(&self.before), threads.trim(), list(&self.after)).trim().to_owned()
    }

    /// Parses a program that calls the operations `kinds`. `takes` returns whether the operation
    /// with the given number accepts the given argument.
    ///
    /// # Errors
    /// Returns a message if the program is invalid.
    pub(super) fn read(text: &str, kinds: &[Kind], takes: impl Fn(u32, &Value) -> bool) -> Result<Self, String> {
        let list = |text: &str| -> Result<Vec<Call>, String> {
            if text.trim().is_empty() {
                return Ok(Vec::new());
            }
            split(text, ',').into_iter().map(|call| read_call(call.trim(), kinds, &takes)).collect()
        };
        let parts = split(text, '(');
        let (before, inside, after) = match parts.as_slice() {
            [threads] => ("", *threads, ""),
            [before, rest] => match split(rest, ')').as_slice() {
                [threads, after] => (*before, *threads, *after),
                _ => return Err(format!("a parenthesis of `{text}` is not closed")),
            },
            _ => return Err(format!("put only the threads in parentheses, as in {EXAMPLE}; found `{text}`")),
        };
        let threads = split(inside, '|').into_iter().map(list).collect::<Result<_, _>>()?;
        let program = Self { before: list(before)?, threads, after: list(after)? };
        if program.calls() == 0 {
            Err(format!("a program needs at least one call, as in {EXAMPLE}"))
        } else {
            Ok(program)
        }
    }
}

const EXAMPLE: &str = "`push 1 (pop | push 2, pop) pop`";

/// The characters that have a special meaning in the notation of programs.
const SIGNS: [char; 8] = ['"', '\\', ',', '|', '(', ')', '[', ']'];

fn call_text(call: &Call, kinds: &[Kind]) -> String {
    let name = &*kinds[call.operation as usize].name;
    let starts_another = || {
        let is_longer = |kind: &Kind| kind.name.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '));
        kinds.iter().any(is_longer)
    };
    let is_plain = !name.is_empty()
        && !name.contains(SIGNS)
        && !name.contains(|c: char| c.is_whitespace() && c != ' ')
        && name.trim() == name
        && !starts_another();
    let mut text = if is_plain { name.to_owned() } else { Value::from(name).to_string() };
    if !call.argument.is_null() {
        let _ = write!(text, " {}", call.argument);
    }
    text
}

fn read_call(text: &str, kinds: &[Kind], takes: impl Fn(u32, &Value) -> bool) -> Result<Call, String> {
    // If several names match, the longest one is used, because a name may be a prefix of another.
    let longest = (0..).zip(kinds).filter_map(|(number, kind)| {
        let quoted = Value::from(&*kind.name).to_string();
        let rest = text.strip_prefix(&quoted).or_else(|| text.strip_prefix(&*kind.name))?;
        (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some((number, rest.trim()))
    });
    let Some((operation, argument)) = longest.min_by_key(|(_, rest)| rest.len()) else {
        let names: Vec<&str> = kinds.iter().map(|kind| &*kind.name).collect();
        return Err(format!("a program calls `{text}`, but the test has only {}", names.join(", ")));
    };
    let argument = if argument.is_empty() { Value::Null } else { argument.parse()? };
    if takes(operation, &argument) {
        return Ok(Call { operation, argument });
    }
    let name = &kinds[operation as usize].name;
    Err(format!("a program calls `{name}` with {argument}, which is not a valid argument of this operation"))
}

/// Splits `text` at each `sign`, except inside strings and lists.
fn split(text: &str, sign: char) -> Vec<&str> {
    let (mut parts, mut first, mut depth) = (Vec::new(), 0, 0_u32);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (place, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            c if c == sign && depth == 0 => {
                parts.push(&text[first..place]);
                first = place + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[first..]);
    parts
}

/// The separators of a program, each with the character that replaces the separator in a token. The
/// replacement characters have no special meaning in shells and file names. If the name of an
/// operation contains a replacement character, the character is escaped.
const STANDS_FOR: [(&str, char); 7] =
    [(", ", ','), (" | ", '+'), (" (", '='), ("(", '='), (") ", '='), (")", '='), (" ", '_')];

/// Encodes a program as a part of a token.
pub(super) fn to_name(text: &str) -> String {
    let (mut name, mut rest) = (String::new(), text);
    let (mut is_quoted, mut is_escaped) = (false, false);
    while let Some(c) = rest.chars().next() {
        let stands_for = STANDS_FOR.iter().find(|(sign, _)| !is_quoted && rest.starts_with(sign));
        if let Some((sign, stands)) = stands_for {
            name.push(*stands);
            rest = &rest[sign.len()..];
            continue;
        }
        is_quoted ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        rest = &rest[c.len_utf8()..];
        if c.is_ascii_alphanumeric() || c == '-' {
            name.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(name, "~{byte:02x}");
            }
        }
    }
    name
}

/// Decodes a program from a part of a token.
pub(super) fn from_name(name: &str) -> Option<String> {
    let (mut text, mut is_open, mut rest) = (Vec::new(), false, name.chars());
    while let Some(c) = rest.next() {
        match c {
            ',' => text.extend(b", "),
            '+' => text.extend(b" | "),
            '_' => text.push(b' '),
            '=' => {
                text.extend(if is_open { b") " } else { b" (" });
                is_open = true;
            }
            '~' => {
                text.push(u8::from_str_radix(rest.as_str().get(..2)?, 16).ok()?);
                rest = rest.as_str()[2..].chars();
            }
            c if c.is_ascii_alphanumeric() || c == '-' => text.push(u8::try_from(c).ok()?),
            _ => return None,
        }
    }
    String::from_utf8(text).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Random;

    const NAMES: [&str; 6] = ["push", "pop", "drop the sender", "push back", "compare (and) swap", "a|b, \"c\" é"];

    fn kinds() -> Vec<Kind> {
        NAMES.iter().map(|name| Kind::new(name, |_| Value::Null)).collect()
    }

    fn read(text: &str) -> Result<Listing, String> {
        Listing::read(text, &kinds(), |_, argument| *argument != Value::Bool(false))
    }

    fn call(operation: u32, argument: impl Into<Value>) -> Call {
        Call { operation, argument: argument.into() }
    }

    #[test]
    fn beginnings_lack_the_last_calls() {
        let whole = read("push 1 (push 2, pop | pop | push 3, pop) pop, pop").expect("the program is valid");
        let is_beginning = |text: &str| read(text).expect("the program is valid").is_beginning_of(&whole);
        assert!(is_beginning("push 1 (push 2 | pop | push 3) pop") && is_beginning("push 1 (pop | push 3, pop)"));
        assert!(is_beginning("push 1 (| push 3)") && whole.is_beginning_of(&whole));
        for other in ["(push 2)", "push 1 (pop, pop)", "push 1 (push 3 | push 2)", "push 1 (push 2 | pop | pop)"] {
            assert!(!is_beginning(other), "{other}");
        }
    }

    #[test]
    fn programs_are_read() {
        let program = read("push 1, pop | drop the sender, push back [1, \"|\"]").expect("the program is valid");
        let list = Value::List([1.into(), "|".into()].into());
        assert_eq!(
            program.threads,
            [vec![call(0, 1), call(1, Value::Null)], vec![call(2, Value::Null), call(3, list)]]
        );
        let around = read("push 1 (pop || pop) pop, pop").expect("the program is valid");
        assert_eq!((around.before.len(), around.threads.len(), around.after.len()), (1, 3, 2));
        assert!(around.threads[1].is_empty());
    }

    #[test]
    fn what_is_written_is_read() {
        let (kinds, mut random) = (kinds(), Random::new(5));
        let values =
            [Value::Null, 7.into(), (-1).into(), "x'|(y".into(), Value::List([1.into(), "a, b".into()].into())];
        for _ in 0..2000 {
            let mut calls = |most| -> Vec<Call> {
                let length = random.below(most);
                (0..length).map(|_| call(random.below(6), random.pick(&values).clone())).collect()
            };
            let mut program = Listing { before: calls(3), threads: vec![calls(4), calls(3)], after: calls(3) };
            program.threads.push(vec![call(1, Value::Null)]);
            let text = program.to_text(&kinds);
            assert_eq!(read(&text), Ok(program), "{text}");
            let name = to_name(&text);
            assert!(!name.contains('.'), "{name}");
            assert_eq!(from_name(&name).as_deref(), Some(&*text), "{name}");
        }
        assert_eq!(to_name("push 1 (pop | pop) pop"), "push_1=pop+pop=pop");
    }

    #[test]
    fn others_are_refused_with_a_hint() {
        for (bad, hint) in [
            ("", "needs at least one call"),
            (" | ", "needs at least one call"),
            ("peek", "only push, pop, drop the sender"),
            ("pushed", "a program calls `pushed`"),
            ("push x", "as in JSON"),
            ("push false", "which is not a valid argument of this operation"),
            ("push 1 (pop", "is not closed"),
            ("(push 1) (pop)", "in parentheses"),
            ("push 1,, pop", "a program calls ``"),
        ] {
            let message = read(bad).expect_err(bad);
            assert!(message.contains(hint), "{bad}: {message}");
        }
        assert_eq!(from_name("pop~f"), None);
        assert_eq!(from_name("pop~ff"), None);
        assert_eq!(from_name("pop.x"), None);
    }
}

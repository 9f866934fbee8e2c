//! Conditions of rules, such as `f == "txn" and not status.error`.

use super::super::super::Value;
use super::super::field::{Parsed, quoted};
use super::path::Path;

/// Maximum depth of nested conditions.
const DEEPEST: u32 = 32;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// The value exists, and is neither null nor false.
    Is(Operand),
    Compared(Operand, Comparison, Value),
}

/// The left side of a condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    /// The name of the operation, translated by the mapping.
    Function,
    Path(Path),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    In,
}

/// The operators. Longer ones come first, because `<=` begins with `<`.
const COMPARISONS: [(&str, Comparison); 7] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Less),
    (">", Comparison::More),
    ("in ", Comparison::In),
];

impl Condition {
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let mut parser = Parser { rest: text, depth: DEEPEST };
        let condition = parser.any().and_then(|condition| match parser.rest.trim_start() {
            "" => Ok(condition),
            rest => {
                Err(format!("`{}` is left over after the condition; join conditions with `and` or `or`", quoted(rest)))
            }
        });
        condition.map_err(|fault| format!("`{}` is not a condition: {fault}", quoted(text)))
    }

    /// Returns whether the condition holds. `look` returns the value of an operand.
    pub(super) fn holds(&self, look: &dyn Fn(&Operand) -> Option<Parsed>) -> bool {
        match self {
            Self::All(conditions) => conditions.iter().all(|condition| condition.holds(look)),
            Self::Any(conditions) => conditions.iter().any(|condition| condition.holds(look)),
            Self::Not(condition) => !condition.holds(look),
            Self::Is(operand) => !matches!(look(operand), None | Some(Ok(Value::Null | Value::Bool(false)))),
            Self::Compared(operand, comparison, value) => {
                let found = look(operand).unwrap_or(Ok(Value::Null));
                let comparable = |found: &Value| {
                    matches!((found, value), (Value::Int(_), Value::Int(_)) | (Value::Text(_), Value::Text(_)))
                };
                match (comparison, found) {
                    (Comparison::Equal, found) => found.is_ok_and(|found| found == *value),
                    (Comparison::Unequal, found) => !found.is_ok_and(|found| found == *value),
                    (Comparison::In, Ok(found)) => matches!(value, Value::List(values) if values.contains(&found)),
                    (_, Ok(found)) if !comparable(&found) => false,
                    (Comparison::Less, Ok(found)) => found < *value,
                    (Comparison::AtMost, Ok(found)) => found <= *value,
                    (Comparison::More, Ok(found)) => found > *value,
                    (Comparison::AtLeast, Ok(found)) => found >= *value,
                    (_, Err(_)) => false,
                }
            }
        }
    }
}

struct Parser<'t> {
    rest: &'t str,
    depth: u32,
}

impl Parser<'_> {
    /// If the remaining text begins with `word`, consumes the word and returns true. Otherwise,
    /// returns false.
    fn word(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(word).filter(|behind| !behind.starts_with(|c: char| c.is_alphanumeric() || c == '_')) {
            Some(behind) => {
                self.rest = behind;
                true
            }
            None => false,
        }
    }

    fn any(&mut self) -> Result<Condition, String> {
        let mut conditions = vec![self.all()?];
        while self.word("or") {
            conditions.push(self.all()?);
        }
        Ok(if conditions.len() == 1 { conditions.remove(0) } else { Condition::Any(conditions) })
    }

    fn all(&mut self) -> Result<Condition, String> {
        let mut conditions = vec![self.one()?];
        while self.word("and") {
            conditions.push(self.one()?);
        }
        Ok(if conditions.len() == 1 { conditions.remove(0) } else { Condition::All(conditions) })
    }

    fn one(&mut self) -> Result<Condition, String> {
        self.depth = self.depth.checked_sub(1).ok_or("it is nested too deeply; write several rules")?;
        let condition = if self.word("not") {
            Condition::Not(Box::new(self.one()?))
        } else if let Some(inside) = self.rest.trim_start().strip_prefix('(') {
            self.rest = inside;
            let condition = self.any()?;
            self.rest = self.rest.trim_start().strip_prefix(')').ok_or("a parenthesis is not closed; close it")?;
            condition
        } else {
            self.comparison()?
        };
        self.depth += 1;
        Ok(condition)
    }

    fn comparison(&mut self) -> Result<Condition, String> {
        let operand = self.operand()?;
        let rest = self.rest.trim_start();
        let Some((sign, comparison)) = COMPARISONS.into_iter().find(|(sign, _)| rest.starts_with(sign)) else {
            if rest.starts_with('=') {
                return Err("`=` is not a comparison; write `==`".to_owned());
            }
            return Ok(Condition::Is(operand));
        };
        self.rest = rest[sign.len()..].trim_start();
        let value = self.literal()?;
        if comparison == Comparison::In && !matches!(value, Value::List(_)) {
            return Err("`in` needs a list; write in [\"a\", \"b\"]".to_owned());
        }
        Ok(Condition::Compared(operand, comparison, value))
    }

    fn operand(&mut self) -> Result<Operand, String> {
        let text = self.rest.trim_start();
        let (mut brackets, mut quotes) = (0_u32, false);
        let end = text.char_indices().find(|&(_, c)| {
            match c {
                '"' => quotes = !quotes,
                '[' if !quotes => brackets += 1,
                ']' if !quotes => brackets = brackets.saturating_sub(1),
                _ => {}
            }
            brackets == 0 && !quotes && (c.is_whitespace() || "=!<>()".contains(c))
        });
        let (path, rest) = text.split_at(end.map_or(text.len(), |(end, _)| end));
        self.rest = rest;
        match path {
            "" => Err("the name of a field is missing; write a condition such as `f == \"read\"`".to_owned()),
            "f" => Ok(Operand::Function),
            path => Path::new(path).map(Operand::Path),
        }
    }

    fn literal(&mut self) -> Result<Value, String> {
        let text = self.rest;
        let (mut brackets, mut quotes, mut escaped) = (0_u32, false, false);
        let end = text.char_indices().find(|&(_, c)| {
            match c {
                _ if escaped => escaped = false,
                '\\' if quotes => escaped = true,
                '"' => quotes = !quotes,
                '[' if !quotes => brackets += 1,
                ']' if !quotes => brackets = brackets.saturating_sub(1),
                _ => {}
            }
            brackets == 0 && !quotes && (c.is_whitespace() || c == ')')
        });
        let (literal, rest) = text.split_at(end.map_or(text.len(), |(end, _)| end));
        self.rest = rest;
        literal.parse().map_err(|_| {
            format!(
                "`{}` is not a value; write a number, true, false, null, or a string in quotation marks",
                quoted(literal)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(condition: &str) -> bool {
        let condition = Condition::new(condition).unwrap_or_else(|fault| panic!("{fault}"));
        condition.holds(&|operand| match operand {
            Operand::Function => Some(Ok("txn".into())),
            Operand::Path(path) => match path.name().as_str() {
                "n" => Some(Ok(Value::Int(5))),
                "s" => Some(Ok("abc".into())),
                "no" => Some(Ok(Value::Bool(false))),
                "t[k=a b].v" => Some(Ok(Value::Int(1))),
                _ => None,
            },
        })
    }

    #[test]
    fn conditions_hold_or_do_not() {
        for condition in [
            r#"f == "txn""#,
            "n == 5",
            "n != 6 and n < 6 and n <= 5 and n > 4 and n >= 5",
            r#"s in ["x", "abc"]"#,
            "no == false",
            "not no",
            "nothing == null",
            "not nothing",
            "n==5 and (s==\"x\" or not (no))",
            "t[k=a b].v == 1",
            r#"s != "a b)""#,
            "not not n",
        ] {
            assert!(holds(condition), "{condition}");
            assert!(!holds(&format!("not ({condition})")), "{condition}");
        }
        for condition in ["n == \"5\"", "s < 5", "nothing < 5", "no and n", "n == 6 or no"] {
            assert!(!holds(condition), "{condition}");
        }
    }

    #[test]
    fn what_is_not_a_condition_is_told() {
        for (condition, expected) in [
            ("", "name of a field is missing"),
            ("n = 5", "write `==`"),
            ("n == abc", "not a value"),
            ("n == 5 n == 6", "is left over"),
            ("(n == 5", "close it"),
            ("n in 5", "needs a list"),
            ("a..b == 1", "a name is empty"),
            (&"not ".repeat(50), "nested too deeply"),
        ] {
            let fault = Condition::new(condition).expect_err(condition);
            assert!(fault.contains(expected), "{fault}");
        }
    }
}

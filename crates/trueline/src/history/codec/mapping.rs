//! Foreign JSON lines: which of their fields mean what.
//!
//! A [`Mapping`] says where each line has what [`jsonl`](super::jsonl) wants to know. Of this log
//! ```json
//! {"who":"c1","ev":"begin","what":{"name":"deposit","args":[5]},"account":"a"}
//! {"who":"c1","ev":"end","what":{"name":"deposit"},"answer":null}
//! ```
//! the mapping is, as TOML (or the same as JSON):
//! ```toml
//! process = "who"              # numbers or names
//! type = "ev"                  # for events; or `call` and `return`, the times of whole operations
//! f = "what.name"              # a dot goes into an object
//! value = "what.args.0"        # a number goes into a list; a list of fields, ["from", "to"], makes a list
//! object = "account"           # or `key`; both may be left out
//! result = "answer"
//!
//! [types]                      # what the words for `type` mean: invoke, ok, fail, info, or skip
//! begin = "invoke"
//! end = "ok"
//!
//! [functions]                  # other names for operations
//! deposit = "add"
//! ```
//! `scale = 1000000` multiplies times, which may then be fractions.

use std::collections::HashMap;
use std::io::BufRead;
use std::sync::Arc;

use serde_json::Value as Json;

use super::super::{RawHistory, Value};
use super::CodecError;
use super::field::{Names, Parsed, Unfit, quoted, shorten, wrong};
use super::json::{self, Node, Object, syntax_message};
use super::jsonl::{Fields, File};
use super::lines::Lines;
use super::survey::Remarks;

/// What the file should hold, for messages.
const WHAT: &str = "JSON lines that the mapping describes";

/// Which fields of foreign JSON lines mean what: see the [module](self).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mapping {
    /// By our name of a field: the fields of theirs that make it.
    fields: Vec<(&'static str, Source)>,
    types: Vec<(String, Kind)>,
    functions: HashMap<String, Arc<str>>,
    scale: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
enum Source {
    One(Path),
    Several(Vec<Path>),
}

/// The names on the way to a field.
type Path = Vec<String>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Is(&'static str),
    Skip,
}

const FIELDS: [&str; 10] = ["process", "type", "f", "key", "value", "result", "object", "call", "return", "time"];

impl Mapping {
    /// The mapping that a JSON object describes.
    ///
    /// ```
    /// use trueline::history::codec::Mapping;
    ///
    /// let mapping = Mapping::from_json(&serde_json::json!({"process": "who", "f": "what", "call": "t0", "return": "t1"}))?;
    /// let history = mapping.read(&br#"{"who":"alice","what":"read","t0":1,"t1":2}"#[..], 0)?;
    /// assert_eq!(history.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If it is no mapping: the message says what is wrong and what to do.
    pub fn from_json(description: &Json) -> Result<Self, String> {
        let Json::Object(entries) = description else {
            return Err("a mapping is a table of fields; write process = \"who\" and so on".to_owned());
        };
        let mut mapping = Self::default();
        for (name, entry) in entries {
            match name.as_str() {
                "types" => {
                    for (word, kind) in words(name, entry)? {
                        let kind = match kind.as_str() {
                            "invoke" => Kind::Is("invoke"),
                            "ok" => Kind::Is("ok"),
                            "fail" => Kind::Is("fail"),
                            "info" => Kind::Is("info"),
                            "skip" => Kind::Skip,
                            other => {
                                let other = quoted(other);
                                return Err(format!(
                                    "`{other}` is no type of an event; write invoke, ok, fail, info or skip"
                                ));
                            }
                        };
                        mapping.types.push((word, kind));
                    }
                }
                "functions" => {
                    for (theirs, ours) in words(name, entry)? {
                        mapping.functions.insert(theirs, ours.into());
                    }
                }
                "scale" => {
                    let scale = entry.as_f64().filter(|scale| scale.is_finite() && *scale > 0.0);
                    mapping.scale = Some(scale.ok_or("`scale` must be a number above 0, such as 1000000")?);
                }
                name => {
                    let Some(ours) = FIELDS.into_iter().find(|ours| *ours == name) else {
                        return Err(format!(
                            "`{}` is none of the fields of an operation; those are {}, and there are the tables `types` and `functions` and the number `scale`",
                            quoted(name),
                            FIELDS.join(", ")
                        ));
                    };
                    mapping.fields.push((ours, source(ours, entry)?));
                }
            }
        }
        for needed in ["process", "f"] {
            if !mapping.has(needed) {
                return Err(format!("`{needed}` is missing; say which field has it, such as {needed} = \"who\""));
            }
        }
        match (mapping.has("type"), mapping.has("call")) {
            (true, false) | (false, true) => Ok(mapping),
            (true, true) => Err("there are both `type` and `call`; keep `type` for events, or `call` and `return` for whole operations".to_owned()),
            (false, false) => Err("there is neither `type` nor `call`; give `type` for events, or `call` and `return` for whole operations".to_owned()),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(ours, _)| *ours == name)
    }

    /// Reads a history of such lines; clocks may differ by `skew`, as in [`read_skewed`](super::read_skewed).
    ///
    /// # Errors
    /// If a line has not what the mapping says, or the lines together are no history.
    pub fn read(&self, input: impl BufRead, skew: i64) -> Result<RawHistory, CodecError> {
        self.read_with(input, skew, None)
    }

    pub(super) fn read_with(
        &self,
        input: impl BufRead,
        skew: i64,
        remarks: Option<&mut Remarks>,
    ) -> Result<RawHistory, CodecError> {
        let mut names = Names::default();
        let mut lines = Lines::new(input, WHAT);
        let mut buffer = Vec::new();
        let mut file = File::new(remarks);
        let mut processes: HashMap<Value, i64> = HashMap::new();
        while let Some((number, line)) = lines.next(&mut buffer)? {
            let object = json::object(line, &mut names)
                .map_err(|error| CodecError::at(number, syntax_message(&error, line, lines.at_end())))?;
            let fields = self.fields(&object, &mut processes).map_err(|message| CodecError::at(number, message))?;
            if let Some(fields) = fields {
                file.add(number, fields).map_err(|fault| fault.at(number))?;
            }
        }
        file.finish(skew)
    }

    /// The fields as our own format has them; `None` for a line that is to be skipped.
    fn fields(&self, object: &Object, processes: &mut HashMap<Value, i64>) -> Result<Option<Fields>, String> {
        let mut fields = Fields::default();
        for (ours, source) in &self.fields {
            let mut found = match source {
                Source::One(path) => find(object, path),
                Source::Several(paths) => {
                    let values = paths.iter().map(|path| find(object, path).unwrap_or(Ok(Value::Null)));
                    Some(values.collect::<Result<Vec<Value>, Unfit>>().map(|values| Value::List(values.into())))
                }
            };
            match (*ours, &found) {
                ("process", None | Some(Ok(Value::Null))) => {
                    return Err(format!(
                        "there is no `{}`, which should say who called; correct the mapping",
                        source.name()
                    ));
                }
                ("process", Some(Ok(process @ (Value::Int(_) | Value::Text(_))))) => {
                    let next = i64::try_from(processes.len()).unwrap_or(i64::MAX);
                    found = Some(Ok(Value::Int(*processes.entry(process.clone()).or_insert(next))));
                }
                ("type", Some(kind)) => match self.kind(source, kind)? {
                    Kind::Skip => return Ok(None),
                    Kind::Is(kind) => found = Some(Ok(Value::from(kind))),
                },
                ("type", None) => {
                    return Err(format!(
                        "there is no `{}`, which should say what happens; correct the mapping",
                        source.name()
                    ));
                }
                ("f", Some(Ok(Value::Text(f)))) => {
                    if let Some(name) = self.functions.get(&**f) {
                        found = Some(Ok(Value::Text(Arc::clone(name))));
                    }
                }
                ("call" | "return" | "time", Some(time)) => found = Some(self.scaled(time)),
                _ => {}
            }
            if let (Some(slot), Some(found)) = (fields.slot(ours), found) {
                *slot = Some(found);
            }
        }
        Ok(Some(fields))
    }

    fn kind(&self, source: &Source, found: &Parsed) -> Result<Kind, String> {
        let word = match found {
            Ok(Value::Text(word)) => word.to_string(),
            Ok(value @ (Value::Bool(_) | Value::Int(_))) => value.to_string(),
            found => return Err(wrong(&source.name(), found, "a word", "correct the mapping")),
        };
        if let Some((_, kind)) = self.types.iter().find(|(theirs, _)| *theirs == word) {
            return Ok(*kind);
        }
        match word.as_str() {
            "invoke" => Ok(Kind::Is("invoke")),
            "ok" => Ok(Kind::Is("ok")),
            "fail" => Ok(Kind::Is("fail")),
            "info" => Ok(Kind::Is("info")),
            word => Err(format!(
                "the mapping does not say what `{}` means; add it to the table `types` as invoke, ok, fail, info or skip",
                shorten(quoted(word))
            )),
        }
    }

    fn scaled(&self, time: &Parsed) -> Parsed {
        let Some(scale) = self.scale else { return time.clone() };
        #[expect(clippy::cast_precision_loss, reason = "a clock is not as exact")]
        let number = match time {
            Ok(Value::Int(time)) => *time as f64,
            Err(Unfit::Fraction(time)) => *time,
            other => return other.clone(),
        };
        let scaled = (number * scale).round();
        if scaled.abs() >= 9.2e18 {
            return Err(Unfit::Big(None));
        }
        #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
        Ok(Value::Int(scaled as i64))
    }
}

impl Source {
    /// The name of the field, for messages.
    fn name(&self) -> String {
        match self {
            Self::One(path) => quoted(&path.join(".")),
            Self::Several(paths) => quoted(&paths.iter().map(|path| path.join(".")).collect::<Vec<_>>().join(", ")),
        }
    }
}

fn source(ours: &str, entry: &Json) -> Result<Source, String> {
    let path = |text: &str| text.split('.').map(str::to_owned).collect::<Path>();
    let wrong = || format!("`{ours}` must be the name of a field, such as {ours} = \"name\" (or a list of them)");
    match entry {
        Json::String(text) if !text.is_empty() => Ok(Source::One(path(text))),
        Json::Array(texts) if !texts.is_empty() && ours == "value" => {
            let paths: Option<Vec<Path>> = texts.iter().map(|text| text.as_str().map(path)).collect();
            paths.map(Source::Several).ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}

/// A table of words.
fn words(name: &str, entry: &Json) -> Result<Vec<(String, String)>, String> {
    let wrong = || format!("`{name}` must be a table of words, such as begin = \"invoke\"");
    let table = entry.as_object().ok_or_else(wrong)?;
    table.iter().map(|(key, value)| Ok((key.clone(), value.as_str().ok_or_else(wrong)?.to_owned()))).collect()
}

/// What stands at the end of a path.
fn find(object: &Object, path: &[String]) -> Option<Parsed> {
    let (first, rest) = path.split_first()?;
    match object.get(first)? {
        Node::Object(inner) if !rest.is_empty() => find(inner, rest),
        Node::Object(_) => Some(Err(Unfit::Object)),
        Node::Value(Ok(value)) => {
            let mut value = value;
            for index in rest {
                let Value::List(values) = value else { return None };
                value = values.get(index.parse::<usize>().ok()?)?;
            }
            Some(Ok(value.clone()))
        }
        Node::Value(Err(unfit)) => rest.is_empty().then_some(Err(unfit.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(description: Json) -> Mapping {
        Mapping::from_json(&description).expect("a mapping")
    }

    #[test]
    fn events() {
        let mapping = mapping(serde_json::json!({
            "process": "who", "type": "ev", "f": "what.name", "value": "what.args.0", "object": "account", "result": "answer",
            "types": {"begin": "invoke", "end": "ok", "beat": "skip", "1": "info"}, "functions": {"deposit": "add"}
        }));
        let text = r#"{"who":"c1","ev":"begin","what":{"name":"deposit","args":[5]},"account":"a"}
            {"ev":"beat","who":"c9"}
            {"who":"c2","ev":"begin","what":{"name":"read"},"account":"a"}
            {"who":"c1","ev":"end","what":{"name":"deposit"},"answer":true,"account":"a"}
            {"who":"c2","ev":1,"account":"a"}"#;
        let history = mapping.read(text.as_bytes(), 0).expect("a history");
        assert_eq!((history.len(), history.pending()), (2, 1));
        let add = &history.operations()[0];
        assert_eq!((add.op.to_string(), add.outcome.result()), ("add(5)".to_owned(), Some(&Value::Bool(true))));
        // `c9` is numbered, too, as the line is skipped by what it says.
        assert_eq!(history.operations()[1].op.to_string(), "read()");
        assert_eq!(history.object_name(add.object), Some("a"));
        let error = |text: &str| mapping.read(text.as_bytes(), 0).expect_err(text).to_string();
        assert!(error(r#"{"who":1,"ev":"stop"}"#).contains("line 1: the mapping does not say what `stop` means"));
        assert!(error(r#"{"ev":"begin"}"#).contains("no `who`"));
        assert!(error(r#"{"who":1}"#).contains("no `ev`"));
    }

    #[test]
    fn operations_with_scaled_times() {
        let mapping = mapping(serde_json::json!({
            "process": "p", "f": "op", "value": ["from", "to"], "call": "t0", "return": "t1", "scale": 1000
        }));
        let history = mapping.read(&br#"{"p":7,"op":"cas","from":1,"to":2,"t0":1.5,"t1":2}"#[..], 0).expect("one");
        assert_eq!(history.operations()[0].op.to_string(), "cas([1,2])");
        assert_eq!(history.operations()[0].process, crate::history::ProcessId(0));
    }

    #[test]
    fn what_is_wrong_with_a_mapping_is_told() {
        for (description, expected) in [
            (serde_json::json!([]), "a mapping is a table"),
            (serde_json::json!({"f": "f", "call": "c"}), "`process` is missing"),
            (serde_json::json!({"process": "p", "f": "f"}), "neither `type` nor `call`"),
            (serde_json::json!({"process": "p", "f": "f", "type": "t", "call": "c"}), "both `type` and `call`"),
            (serde_json::json!({"process": "p", "f": "f", "typ": "t"}), "`typ` is none of the fields"),
            (serde_json::json!({"process": 5, "f": "f", "type": "t"}), "must be the name of a field"),
            (serde_json::json!({"process": "p", "f": "f", "type": "t", "types": {"a": "b"}}), "`b` is no type"),
            (serde_json::json!({"process": "p", "f": "f", "type": "t", "types": 5}), "must be a table of words"),
            (serde_json::json!({"process": "p", "f": "f", "call": "t", "scale": 0}), "number above 0"),
        ] {
            let error = Mapping::from_json(&description).expect_err("it is none");
            assert!(error.contains(expected), "{error}");
        }
    }
}

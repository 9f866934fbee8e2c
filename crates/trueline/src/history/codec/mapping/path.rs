//! Paths to the values of a record, such as `attributes[key=db.statement].value`.

use super::super::super::Value;
use super::super::field::{Parsed, Unfit, quoted};
use super::super::json::{Node, Object};

/// The path from a record to a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path {
    /// The number of levels that the path goes up before its first step: 1 leads to the item that contains the record,
    /// and 2 to the item that contains that item.
    up: usize,
    steps: Vec<Segment>,
    /// The text of the path, for messages. If a record has no value at the path, but has a field whose name is this
    /// whole text, the path leads to that field.
    text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Segment {
    /// A field of an object, by its name. If the name is a number, also an item of a list, by its
    /// index.
    Name(String),
    /// An item of a list: the first object whose field with this name has this value.
    Where(String, String),
    /// Every item of a list. Only the path to the records may contain this step.
    Each,
}

/// A record and the items that contain it, outermost first.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) record: &'a Object,
    pub(super) around: &'a [&'a Node],
}

/// The item at the end of a path.
#[derive(Clone, Copy)]
pub(super) enum Reached<'a> {
    Node(&'a Node),
    Object(&'a Object),
    Value(&'a Value),
}

impl Reached<'_> {
    /// Returns the value, or an error if the item is an object.
    pub(super) fn value(self) -> Parsed {
        match self {
            Self::Node(Node::Value(value)) => value.clone(),
            Self::Node(node) => Err(node.unfit()),
            Self::Object(_) => Err(Unfit::Object),
            Self::Value(value) => Ok(value.clone()),
        }
    }
}

impl Path {
    /// Parses a path, or returns a message about the error in it.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let mut rest = text.trim();
        let mut up = 0;
        while let Some(behind) = rest.strip_prefix('^') {
            up += 1;
            rest = behind.strip_prefix('.').unwrap_or(behind);
        }
        let steps = steps(rest).map_err(|fault| format!("`{}` is not a path: {fault}", quoted(text)))?;
        if steps.contains(&Segment::Each) {
            return Err(format!(
                "`{}` has `[]`, which only `records` may have; select one item, such as `[0]` or `[key=name]`",
                quoted(text)
            ));
        }
        Ok(Self { up, steps, text: text.trim().to_owned() })
    }

    /// Returns the text of the path, for messages.
    pub(super) fn name(&self) -> String {
        quoted(&self.text)
    }

    pub(super) fn find<'a>(&self, place: Place<'a>) -> Option<Reached<'a>> {
        let start = match self.up {
            0 => Reached::Object(place.record),
            up => Reached::Node(place.around.len().checked_sub(up).map(|at| place.around[at])?),
        };
        let found = self.steps.iter().try_fold(start, |found, step| step.from(found));
        if found.is_none() && self.up == 0 && self.steps.len() > 1 {
            // In tables and flat logs, the name of a field may contain dots. So look for a field
            // whose name is the whole path.
            return place.record.get(&self.text).map(Reached::Node);
        }
        found
    }
}

impl Segment {
    fn from<'a>(&self, found: Reached<'a>) -> Option<Reached<'a>> {
        match (self, found) {
            (Self::Name(name), Reached::Object(object) | Reached::Node(Node::Object(object))) => {
                object.get(name).map(Reached::Node)
            }
            (Self::Name(name), Reached::Node(Node::List(nodes))) => {
                nodes.get(name.parse::<usize>().ok()?).map(Reached::Node)
            }
            (
                Self::Name(name),
                Reached::Value(Value::List(values)) | Reached::Node(Node::Value(Ok(Value::List(values)))),
            ) => values.get(name.parse::<usize>().ok()?).map(Reached::Value),
            (Self::Where(field, wanted), Reached::Node(Node::List(nodes))) => nodes
                .iter()
                .find(|node| match node {
                    Node::Object(object) => match object.get(field) {
                        Some(Node::Value(Ok(Value::Text(text)))) => **text == **wanted,
                        Some(Node::Value(Ok(value))) => value.to_string() == *wanted,
                        _ => false,
                    },
                    _ => false,
                })
                .map(Reached::Node),
            _ => None,
        }
    }
}

/// Parses the steps of a path, or returns a message about the error in them and what to do.
pub(super) fn steps(text: &str) -> Result<Vec<Segment>, String> {
    let mut steps = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (inside, behind) = inside.split_once(']').ok_or("`[` has no `]`; close it")?;
            steps.push(match inside.split_once('=') {
                _ if inside.is_empty() => Segment::Each,
                Some((field, wanted)) => Segment::Where(unquoted(field).to_owned(), unquoted(wanted).to_owned()),
                None if inside.parse::<usize>().is_ok() => Segment::Name(inside.to_owned()),
                None => return Err("brackets need a number or `field=value`; write [0] or [key=name]".to_owned()),
            });
            rest = behind.strip_prefix('.').unwrap_or(behind);
            continue;
        }
        let (name, behind) = match rest.strip_prefix('"') {
            Some(inside) => inside.split_once('"').ok_or("a quotation mark is not closed; close it")?,
            None => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
        };
        if name.is_empty() {
            return Err("a name is empty; write names with a dot between them".to_owned());
        }
        steps.push(Segment::Name(name.to_owned()));
        rest = match behind.strip_prefix('.') {
            Some("") => return Err("it ends with a dot; name a field after the dot, or remove the dot".to_owned()),
            Some(behind) => behind,
            None if behind.is_empty() || behind.starts_with('[') => behind,
            None => {
                return Err(
                    "a closing quotation mark must be followed by a dot or a bracket; insert a dot or a bracket"
                        .to_owned(),
                );
            }
        };
    }
    if steps.is_empty() { Err("it is empty; name a field".to_owned()) } else { Ok(steps) }
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

/// A function that is called with a record and the nodes that contain it.
type Visit<'v, E> = dyn FnMut(&Object, &[&Node]) -> Result<(), E> + 'v;

/// Visits every record that a path leads to, with the items that contain the record. Returns whether the path leads to
/// a record or to an empty list.
pub(super) fn walk<'a, E>(
    node: &'a Node,
    steps: &[Segment],
    holders: &mut Vec<&'a Node>,
    visit: &mut Visit<'_, E>,
) -> Result<bool, E> {
    let Some((step, rest)) = steps.split_first() else {
        return match node {
            Node::Object(record) => visit(record, holders).map(|()| true),
            _ => Ok(false),
        };
    };
    match (step, node) {
        (Segment::Each, Node::List(nodes)) => {
            let mut found = nodes.is_empty();
            for node in nodes {
                found |= walk(node, rest, holders, visit)?;
            }
            Ok(found)
        }
        (Segment::Each, Node::Value(Ok(Value::List(values)))) => Ok(values.is_empty()),
        (Segment::Name(name), Node::Object(object)) => match object.get(name) {
            Some(inner) => {
                holders.push(node);
                let found = walk(inner, rest, holders, visit)?;
                holders.pop();
                Ok(found)
            }
            None => Ok(false),
        },
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::codec::field::Names;
    use crate::history::codec::json;

    fn find(path: &str, record: &str) -> Option<Parsed> {
        let record = json::record(record, &mut Names::default()).expect("JSON");
        let path = Path::new(path).unwrap_or_else(|fault| panic!("{fault}"));
        path.find(Place { record: &record, around: &[] }).map(Reached::value)
    }

    #[test]
    fn paths_lead_into_objects_and_lists() {
        let record = r#"{"a":{"b":[1,{"c":"x"},[2,3]]},"tags":[{"key":"k","v":1},{"key":"db.statement","v":{"s":"GET"}},{"key":7,"v":true}],"x.y":9,"x":{"y":8},"p.q":4}"#;
        for (path, expected) in [
            ("a.b.0", Some(Ok(Value::Int(1)))),
            ("a.b[0]", Some(Ok(Value::Int(1)))),
            ("a.b[1].c", Some(Ok("x".into()))),
            ("a.b.2.1", Some(Ok(Value::Int(3)))),
            ("tags[key=db.statement].v.s", Some(Ok("GET".into()))),
            ("tags[key=\"k\"].v", Some(Ok(Value::Int(1)))),
            ("tags[key=7].v", Some(Ok(Value::Bool(true)))),
            ("tags[key=none].v", None),
            ("x.y", Some(Ok(Value::Int(8)))),
            ("\"x.y\"", Some(Ok(Value::Int(9)))),
            ("p.q", Some(Ok(Value::Int(4)))),
            ("a", Some(Err(Unfit::Object))),
            ("a.b", Some(Err(Unfit::Object))),
            ("nothing.here", None),
        ] {
            assert_eq!(find(path, record), expected, "{path}");
        }
    }

    #[test]
    fn what_is_not_a_path_is_told() {
        for (path, expected) in [
            ("", "it is empty"),
            ("a..b", "a name is empty"),
            ("a.", "ends with a dot"),
            ("a[", "has no `]`"),
            ("a[b]", "need a number"),
            ("a[]", "only `records`"),
            ("\"a", "is not closed"),
            ("\"a\"b", "a dot or a bracket"),
        ] {
            let fault = Path::new(path).expect_err(path);
            assert!(fault.contains(expected), "{fault}");
        }
    }
}

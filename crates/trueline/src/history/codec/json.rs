//! Reads lines of JSON into values of histories.
//!
//! serde_json parses directly into the types of this crate. An intermediate tree of generic JSON
//! would take more time than the parsing itself, and would lose repeated keys and the difference
//! between 1 and 1.0.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};

use super::super::Value;
use super::DEEPEST_NESTING;
use super::field::{Names, Parsed, Unfit, quoted};

/// Returns a message for a line that is not a JSON object. The message also says what to do.
pub(super) fn syntax_message(error: &serde_json::Error, line: &str, last: bool) -> String {
    let message = error.to_string();
    // The input of serde_json is always one line, so the line number in its message is useless.
    let message = message.rfind(" at line ").map_or(message.as_str(), |end| &message[..end]);
    let column = error.column();
    match error.classify() {
        serde_json::error::Category::Eof if last => {
            format!("the file ends inside this line ({message}); it was cut off: record it again, or delete the line")
        }
        serde_json::error::Category::Eof => {
            format!("the line ends too early ({message}); write each JSON object on a single line")
        }
        serde_json::error::Category::Data => message.to_owned(),
        _ if message == "trailing characters" => {
            format!("there is more text after the JSON object, at column {column}; write one object on each line")
        }
        _ if line.starts_with("{:") => {
            format!("this looks like EDN, not JSON ({message} at column {column}); read it as format `jepsen`")
        }
        _ => format!("this is not JSON ({message} at column {column}); write one JSON object on each line"),
    }
}

/// The message for a line that is a list.
pub(super) const LIST: &str = "the line is a JSON list, not an object; write one object on each line, without a list around them (`jq -c '.[]'` does that)";

pub(super) fn twice<E: serde::de::Error>(name: &str) -> E {
    E::custom(format!("the key \"{}\" occurs twice; keep one of them", quoted(name)))
}

/// Reads a value with lists nested at most `depth` deep.
pub(super) struct ValueSeed<'n> {
    names: &'n mut Names,
    depth: usize,
}

impl<'n> ValueSeed<'n> {
    pub(super) fn new(names: &'n mut Names) -> Self {
        Self { names, depth: DEEPEST_NESTING }
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Parsed;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Parsed, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Parsed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Parsed, E> {
        Ok(Ok(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Parsed, E> {
        Ok(Ok(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Parsed, E> {
        Ok(Ok(Value::Int(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Parsed, E> {
        Ok(i64::try_from(value).map(Value::Int).map_err(|_| Unfit::Big(Some(value.to_string().into()))))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Parsed, E> {
        // serde_json represents integers beyond 64 bits as floats.
        let big = value.abs() >= 9_223_372_036_854_775_808.0;
        Ok(Err(if big { Unfit::Big(None) } else { Unfit::Fraction(value) }))
    }

    fn visit_str<E>(self, value: &str) -> Result<Parsed, E> {
        Ok(Ok(Value::Text(self.names.get(value))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Parsed, A::Error> {
        let mut values = Vec::new();
        let mut unfit = if self.depth == 0 { Some(Unfit::Deep) } else { None };
        while unfit.is_none() {
            match list.next_element_seed(ValueSeed { names: &mut *self.names, depth: self.depth - 1 })? {
                Some(Ok(value)) => values.push(value),
                Some(Err(why)) => unfit = Some(why),
                None => return Ok(Ok(Value::List(values.into()))),
            }
        }
        // serde_json skips ignored content without recursion, however deep it is.
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Err(unfit.expect("the loop ends only at an item that is not a value")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parsed, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Err(Unfit::Object))
    }
}

/// A value, an object, or a list that is not a value.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Value(Parsed),
    Object(Object),
    /// A list in which at least one item is not a value.
    List(Vec<Node>),
}

impl Node {
    /// Returns the value, or the reason why the node is not a value.
    pub(super) fn into_value(self) -> Parsed {
        match self {
            Self::Value(value) => value,
            other => Err(other.unfit()),
        }
    }

    /// Returns the reason why the node is not a value. For a list, returns the reason for the first
    /// item that is not a value.
    pub(super) fn unfit(&self) -> Unfit {
        match self {
            Self::List(nodes) => {
                let first = nodes.iter().find(|node| !matches!(node, Self::Value(Ok(_))));
                first.map_or(Unfit::Object, Self::unfit)
            }
            Self::Value(Err(unfit)) => unfit.clone(),
            Self::Value(Ok(_)) | Self::Object(_) => Unfit::Object,
        }
    }
}

/// The fields of an object, in their order. Names are unique.
#[derive(Clone, Debug, Default)]
pub(super) struct Object {
    fields: Vec<(Arc<str>, Node)>,
    /// The line on which the object begins; 0 if the line is unknown.
    line: u32,
}

impl Object {
    /// Creates an object from the fields of a row. The names of the fields must be distinct.
    pub(super) fn of_row(fields: Vec<(Arc<str>, Node)>) -> Self {
        Self { fields, line: 0 }
    }

    pub(super) fn line(&self) -> u32 {
        self.line
    }

    /// Returns the fields, in their order.
    pub(super) fn fields(&self) -> &[(Arc<str>, Node)] {
        &self.fields
    }

    pub(super) fn into_fields(self) -> Vec<(Arc<str>, Node)> {
        self.fields
    }

    /// Removes the field that has one of these names, and returns its name in the file and its value.
    ///
    /// Names are compared ignoring case, `_` and `-`: `client_id` and `clientId` match `clientid`.
    pub(super) fn take(&mut self, names: &[&str]) -> Result<Option<(Arc<str>, Node)>, String> {
        let mut found = None;
        for (index, (name, _)) in self.fields.iter().enumerate() {
            if names.iter().any(|other| is_same(name, other)) {
                if let Some(first) = found.replace(index) {
                    let first: &str = &self.fields[first].0;
                    return Err(format!("`{first}` and `{name}` mean the same; keep one of them"));
                }
            }
        }
        Ok(found.map(|index| self.fields.remove(index)))
    }

    /// Returns the field with exactly this name.
    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        self.fields.iter().find(|(other, _)| **other == *name).map(|(_, node)| node)
    }

    /// Puts back a field that was removed.
    pub(super) fn put(&mut self, name: Arc<str>, node: Node) {
        self.fields.push((name, node));
    }

    /// Returns whether there is a field with this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(other, _)| is_same(other, name))
    }

    /// Lists the names of the fields, for messages.
    pub(super) fn names(&self) -> String {
        let names: Vec<String> = self.fields.iter().take(8).map(|(name, _)| format!("`{}`", quoted(name))).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

/// Returns whether the name of a field matches `name`, which must be in lower case.
fn is_same(field: &str, name: &str) -> bool {
    // Messages print the names of matching fields as they are in the file. So a long name must not match, even if most
    // of its characters are underscores.
    if field.len() > 20 {
        return false;
    }
    let letters = field.bytes().filter(|&byte| byte != b'_' && byte != b'-').map(|byte| byte.to_ascii_lowercase());
    letters.eq(name.bytes())
}

/// Reads a line that consists of an object.
pub(super) fn object(line: &str, names: &mut Names) -> Result<Object, serde_json::Error> {
    whole(line, NodeSeed { names, depth: DEEPEST_NESTING, lists: false, at: None })
}

/// Reads the object at the beginning of a text.
pub(super) fn first_object(text: &str, names: &mut Names) -> Result<Object, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.deserialize_any(ObjectVisitor(NodeSeed { names, depth: DEEPEST_NESTING, lists: false, at: None }))
}

/// Reads a line that consists of an object. Unlike [`object`], also reads objects inside of lists.
pub(super) fn record(line: &str, names: &mut Names) -> Result<Object, serde_json::Error> {
    whole(line, NodeSeed { names, depth: DEEPEST_NESTING, lists: true, at: None })
}

fn whole(line: &str, seed: NodeSeed<'_>) -> Result<Object, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let object = deserializer.deserialize_any(ObjectVisitor(seed))?;
    deserializer.end()?;
    Ok(object)
}

/// Reads a value from a text that contains nothing else.
pub(super) fn value(text: &str, names: &mut Names) -> Result<Parsed, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = ValueSeed::new(names).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

struct ObjectVisitor<'n>(NodeSeed<'n>);

impl<'de> Visitor<'de> for ObjectVisitor<'_> {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object; write one on each line")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let NodeSeed { names, depth, lists, at } = self.0;
        let line = at.map_or(0, Cell::get);
        let mut fields: Vec<(Arc<str>, Node)> = Vec::new();
        let mut seen: HashSet<Arc<str>> = HashSet::new();
        while let Some(name) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            let name = names.get(&name);
            if !seen.insert(Arc::clone(&name)) {
                return Err(twice(&name));
            }
            let node = map.next_value_seed(NodeSeed { names: &mut *names, depth, lists, at })?;
            fields.push((name, node));
        }
        Ok(Object { fields, line })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Object, A::Error> {
        Err(A::Error::custom(LIST))
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<Object, E> {
        // serde's message would repeat the whole string, which may be very long.
        Err(E::invalid_type(Unexpected::Other("string"), &self))
    }
}

/// Reads a node of JSON: a value, an object, or a list.
pub(super) struct NodeSeed<'n> {
    pub(super) names: &'n mut Names,
    /// The maximum number of nested levels of lists and objects, including the node itself.
    pub(super) depth: usize,
    /// Whether objects inside of lists are read. If not, a list that contains an object is not a
    /// value.
    pub(super) lists: bool,
    /// The number of the line that is being read, if lines are counted.
    pub(super) at: Option<&'n Cell<u32>>,
}

impl<'de> DeserializeSeed<'de> for NodeSeed<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'n> NodeSeed<'n> {
    fn value(self) -> ValueSeed<'n> {
        ValueSeed { names: self.names, depth: self.depth }
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Node, E> {
        self.value().visit_unit().map(Node::Value)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Node, E> {
        self.value().visit_bool(value).map(Node::Value)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Node, E> {
        self.value().visit_i64(value).map(Node::Value)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Node, E> {
        self.value().visit_u64(value).map(Node::Value)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Node, E> {
        self.value().visit_f64(value).map(Node::Value)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Node, E> {
        self.value().visit_str(value).map(Node::Value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        if !self.lists || self.depth == 0 {
            return self.value().visit_seq(list).map(Node::Value);
        }
        let Self { names, depth, lists, at } = self;
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element_seed(NodeSeed { names: &mut *names, depth: depth - 1, lists, at })? {
            nodes.push(node);
        }
        if !nodes.iter().all(|node| matches!(node, Node::Value(Ok(_)))) {
            return Ok(Node::List(nodes));
        }
        Ok(Node::Value(nodes.into_iter().map(Node::into_value).collect::<Result<Value, Unfit>>()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Node, A::Error> {
        if self.depth == 0 {
            // serde_json skips ignored content without recursion, however deep it is.
            return IgnoredAny.visit_map(map).map(|_| Node::Value(Err(Unfit::Deep)));
        }
        let depth = self.depth - 1;
        ObjectVisitor(NodeSeed { depth, ..self }).visit_map(map).map(Node::Object)
    }
}

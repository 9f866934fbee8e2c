//! The representation of types that derive [`Datum`](super::Datum) and [`Argument`](super::Argument).
//!
//! A struct becomes the list of its fields, like a tuple. A struct with one field becomes the value of this field, so
//! `Key(7)` is judged like `7`. A struct without fields becomes null, like `()`. A variant of an enum becomes its name
//! or, if it has fields, a list of its name and its fields.

use std::slice;

use super::Value;

/// The name of a field (`None` in a tuple), and the function that formats the value of the field.
pub type FieldShape<'s> = (Option<&'s str>, fn(&Value) -> String);

/// The name and the fields of a struct or of a variant, for printing.
#[derive(Debug)]
pub struct Shape<'s> {
    /// The name of the struct or of the variant.
    pub name: &'s str,
    /// The fields, in order.
    pub fields: &'s [FieldShape<'s>],
}

/// Returns the value of a struct with these fields, or of a variant with this name and these fields.
pub fn to_value<const N: usize>(variant: Option<&str>, fields: [Value; N]) -> Value {
    match variant {
        Some(name) if N == 0 => name.into(),
        Some(name) => [name.into()].into_iter().chain(fields).collect(),
        None if N == 0 => Value::Null,
        None if N == 1 => fields.into_iter().collect::<Vec<_>>().swap_remove(0),
        None => Value::List(fields.into()),
    }
}

/// Returns the fields of a struct that has this number of fields, or `None` if the value cannot
/// represent such a struct. The name in the pair is always `None`, because the value does not
/// contain the name of the struct.
pub fn split_struct(value: &Value, fields: usize) -> Option<(Option<&str>, &[Value])> {
    let fields = match value {
        Value::Null if fields == 0 => &[],
        value if fields == 1 => slice::from_ref(value),
        Value::List(list) if fields > 1 && list.len() == fields => list,
        _ => return None,
    };
    Some((None, fields))
}

/// Returns the name and the fields of a variant, or `None` if the value cannot represent a variant.
/// The name in the pair is always present.
pub fn split_enum(value: &Value) -> Option<(Option<&str>, &[Value])> {
    match value {
        Value::Text(name) => Some((Some(name), &[])),
        Value::List(list) => match &**list {
            [Value::Text(name), fields @ ..] if !fields.is_empty() => Some((Some(name), fields)),
            _ => None,
        },
        _ => None,
    }
}

impl Shape<'_> {
    /// Formats the fields as `#[derive(Debug)]` does. Returns `None` if the shape has a different
    /// number of fields.
    fn format(&self, fields: &[Value]) -> Option<String> {
        let &Self { name, fields: shown } = self;
        if fields.len() != shown.len() {
            return None;
        }
        let (mut texts, mut has_names) = (Vec::new(), false);
        for ((label, as_rust), value) in shown.iter().zip(fields) {
            has_names |= label.is_some();
            texts.push(label.map_or_else(|| as_rust(value), |label| format!("{label}: {}", as_rust(value))));
        }
        let texts = texts.join(", ");
        Some(match (shown, has_names) {
            ([], _) => name.to_owned(),
            (_, true) => format!("{name} {{ {texts} }}"),
            (_, false) => format!("{name}({texts})"),
        })
    }
}

/// Formats the value of a struct. `shapes` contains only the shape of this struct.
pub fn struct_as_rust(value: &Value, shapes: &[Shape<'_>]) -> String {
    let shown = shapes.first().and_then(|shape| shape.format(split_struct(value, shape.fields.len())?.1));
    shown.unwrap_or_else(|| value.to_string())
}

/// Formats the value of an enum. `shapes` contains the shapes of its variants.
pub fn enum_as_rust(value: &Value, shapes: &[Shape<'_>]) -> String {
    let shown = split_enum(value).and_then(|(name, fields)| {
        let shape = shapes.iter().find(|shape| Some(shape.name) == name)?;
        shape.format(fields)
    });
    shown.unwrap_or_else(|| value.to_string())
}

//! The fields of a record of [`jsonl`](super::jsonl).

use super::field::Parsed;
use super::json::Object;

/// The fields of a record.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Fields {
    pub(super) process: Option<Parsed>,
    pub(super) kind: Option<Parsed>,
    pub(super) f: Option<Parsed>,
    pub(super) key: Option<Parsed>,
    pub(super) value: Option<Parsed>,
    pub(super) result: Option<Parsed>,
    pub(super) object: Option<Parsed>,
    pub(super) call: Option<Parsed>,
    pub(super) ret: Option<Parsed>,
    pub(super) id: Option<Parsed>,
    pub(super) time: Option<Parsed>,
    pub(super) version: Option<Parsed>,
    /// The name of the first field that is ignored.
    pub(super) other: Option<Box<str>>,
}

impl Fields {
    /// Reads the fields of an object.
    pub(super) fn of(object: Object) -> Self {
        let mut fields = Self::default();
        for (name, node) in object.into_fields() {
            if let Some(slot) = fields.slot(&name) {
                *slot = Some(node.into_value());
            } else if fields.other.is_none() {
                fields.other = Some((*name).into());
            }
        }
        fields
    }

    /// Returns the place for the value of a field, or `None` if the field is ignored.
    pub(super) fn slot(&mut self, name: &str) -> Option<&mut Option<Parsed>> {
        Some(match name {
            "process" => &mut self.process,
            "type" => &mut self.kind,
            "f" => &mut self.f,
            "key" => &mut self.key,
            "value" => &mut self.value,
            "result" => &mut self.result,
            "object" => &mut self.object,
            "call" => &mut self.call,
            "return" => &mut self.ret,
            "id" => &mut self.id,
            "time" => &mut self.time,
            "version" => &mut self.version,
            _ => return None,
        })
    }
}

//! The names and keys of the operations of a file.
//!
//! A file has few different pairs of a name and a key, in comparison with its operations. So each pair is stored once, in
//! the form of a record without an argument. While the file is read, an operation consists of the number of its template
//! and its argument. It does not hold references to the strings, which would have to be counted.

use super::super::{Record, Value};
use super::field::{self, Names};
use super::numbering::OpNumber;
use super::quick::{QuickCall, Scalar};

/// The maximum number of templates. Operations with other names and keys are converted to records one by one.
const MOST: usize = 1 << 14;

/// The maximum length of the strings in templates, in bytes.
const LONGEST: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Templates {
    list: Vec<Template>,
    /// A table with open addressing and linear probing: 0 or the number of a template plus 1. At most a quarter of the
    /// places are taken. Their number is a power of two, or 0.
    places: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct Template {
    /// The operation with the argument null.
    record: Record,
    /// The number of this operation, if it is known and does not depend on the process.
    pub(super) number: Option<OpNumber>,
}

impl Template {
    /// Returns the operation with the argument null.
    pub(super) fn record(&self) -> &Record {
        &self.record
    }

    /// Calls `read` with the operation that has this argument.
    #[inline]
    pub(super) fn with<T>(&mut self, value: &mut Value, read: impl FnOnce(&Record) -> T) -> T {
        std::mem::swap(&mut self.record.value, value);
        let read = read(&self.record);
        std::mem::swap(&mut self.record.value, value);
        read
    }

    #[inline]
    fn is_of(&self, f: &[u8], key: Part<'_>) -> bool {
        field::is_same(self.record.f.as_bytes(), f)
            && match (key, &self.record.key) {
                (Part::None, None) => true,
                (Part::Bool(key), Some(Value::Bool(own))) => key == *own,
                (Part::Int(key), Some(Value::Int(own))) => key == *own,
                (Part::Text(key), Some(Value::Text(own))) => field::is_same(own.as_bytes(), key),
                _ => false,
            }
    }
}

/// A key of the usual form, or no key.
#[derive(Clone, Copy)]
enum Part<'a> {
    None,
    Bool(bool),
    Int(i64),
    Text(&'a [u8]),
}

impl<'a> Part<'a> {
    #[inline]
    fn of(key: Option<&'a Scalar<'_>>) -> Option<Self> {
        Some(match key {
            None => Self::None,
            Some(Scalar::Bool(key)) => Self::Bool(*key),
            Some(Scalar::Int(key)) => Self::Int(*key),
            Some(Scalar::Text(key)) => Self::Text(key),
            #[cfg(feature = "_columns")]
            Some(Scalar::Shared(Value::Text(key))) => Self::Text(key.as_bytes()),
            Some(_) => return None,
        })
        .filter(|part| !matches!(part, Self::Text(text) if text.len() > LONGEST))
    }

    /// Returns a hash of the key and the name `f`.
    #[inline]
    fn hash(self, f: &[u8]) -> usize {
        let key = match self {
            Self::None => 0,
            Self::Bool(key) => 1 + usize::from(key),
            Self::Int(key) => field::hash(&key.to_le_bytes()),
            Self::Text(key) => field::hash(key),
        };
        field::hash(f).wrapping_mul(31) ^ key
    }
}

impl Templates {
    /// Returns the number of the template for a call. Adds the template if it is new. Returns `None` if the call is
    /// unusual, or if there are too many templates.
    #[inline]
    pub(super) fn number(&mut self, call: &QuickCall<'_>, names: &mut Names) -> Option<u32> {
        let (f, key) = (call.f.bytes(), Part::of(call.key.as_ref())?);
        if 4 * self.list.len() >= self.places.len() {
            self.grow();
        }
        let mut place = key.hash(f) & (self.places.len() - 1);
        while let Some(number) = self.places[place].checked_sub(1) {
            if self.list[number as usize].is_of(f, key) {
                return Some(number);
            }
            place = (place + 1) & (self.places.len() - 1);
        }
        self.add(place, call, names)
    }

    #[cold]
    fn add(&mut self, place: usize, call: &QuickCall<'_>, names: &mut Names) -> Option<u32> {
        if self.list.len() == MOST || call.f.bytes().len() > LONGEST {
            return None;
        }
        let record = QuickCall { f: call.f, key: call.key.clone(), value: Scalar::Null }.record(names);
        let number = u32::try_from(self.list.len()).ok()?;
        self.list.push(Template { record, number: None });
        self.places[place] = number + 1;
        Some(number)
    }

    #[cold]
    fn grow(&mut self) {
        let count = (8 * self.list.len()).max(16).next_power_of_two();
        self.places = vec![0; count];
        for (number, Template { record, .. }) in (1..).zip(&self.list) {
            let key = match &record.key {
                Some(Value::Text(key)) => Part::Text(key.as_bytes()),
                Some(Value::Int(key)) => Part::Int(*key),
                Some(Value::Bool(key)) => Part::Bool(*key),
                Some(Value::Null | Value::List(_)) | None => Part::None,
            };
            let mut place = key.hash(record.f.as_bytes()) & (count - 1);
            while self.places[place] != 0 {
                place = (place + 1) & (count - 1);
            }
            self.places[place] = number;
        }
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &Template {
        &self.list[number as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> &mut Template {
        &mut self.list[number as usize]
    }
}

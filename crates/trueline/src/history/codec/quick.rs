//! Reads lines of the usual form without copying their text.
//!
//! Nearly all lines of a long file are alike: an object whose field names are known, and whose values are short strings
//! without escapes, whole numbers, and null. [`Quick`] reads such a line straight from the buffer of the file. It
//! returns `None` for every other line, and for a line that is incomplete or invalid. In this case, the reader of
//! [`jsonl`](super::jsonl) reads the line again. So only that reader decides which lines are invalid, and reports the
//! errors in them.

use std::sync::Arc;

use super::super::{Record, Value};
use super::field::{Kind, Names};

/// The maximum number of ignored fields in a line of the usual form.
const MOST_OTHERS: usize = 4;

/// The maximum nesting depth of lists.
const DEEPEST: usize = 4;

/// A line of the usual form. Each field is absent or has a value of the usual kind. In fields where
/// `null` and absence mean the same, `null` counts as absent.
#[derive(Debug, Default)]
pub(super) struct Quick<'a> {
    pub(super) process: Option<u32>,
    pub(super) kind: Option<Kind>,
    pub(super) f: Option<Name<'a>>,
    pub(super) key: Option<Scalar<'a>>,
    pub(super) value: Option<Scalar<'a>>,
    pub(super) result: Option<Scalar<'a>>,
    /// The name of the object: a text that does not look like a value of another type.
    pub(super) object: Option<&'a str>,
    pub(super) call: Option<i64>,
    pub(super) ret: Option<i64>,
    pub(super) id: Option<i64>,
    pub(super) time: Option<i64>,
    pub(super) version: Option<i64>,
}

/// The operation of a line of the usual form.
#[derive(Debug)]
pub(super) struct QuickCall<'a> {
    pub(super) f: Name<'a>,
    /// The key, which is not null.
    pub(super) key: Option<Scalar<'a>>,
    pub(super) value: Scalar<'a>,
}

impl QuickCall<'_> {
    pub(super) fn record(self, names: &mut Names) -> Record {
        Record { f: self.f.get(names), key: self.key.map(|key| key.value(names)), value: self.value.value(names) }
    }
}

/// A value. If it is a text, it refers to the bytes in the buffer, which are not copied.
#[derive(Clone, Debug, Default)]
pub(super) enum Scalar<'a> {
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    Text(&'a [u8]),
    /// A list.
    Value(Value),
    /// A value that several lines share, and that is not null.
    #[cfg(feature = "_columns")]
    Shared(&'a Value),
}

/// The name of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name<'a> {
    Text(&'a [u8]),
    #[cfg(feature = "_columns")]
    Shared(&'a Arc<str>),
}

impl Name<'_> {
    pub(super) fn get(self, names: &mut Names) -> Arc<str> {
        match self {
            Self::Text(text) => names.get_ascii(text),
            #[cfg(feature = "_columns")]
            Self::Shared(name) => Arc::clone(name),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text,
            #[cfg(feature = "_columns")]
            Self::Shared(name) => name.as_bytes(),
        }
    }
}

impl Scalar<'_> {
    #[inline]
    pub(super) fn value(self, names: &mut Names) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(bool) => Value::Bool(bool),
            Self::Int(int) => Value::Int(int),
            Self::Text(text) => Value::Text(names.get_ascii(text)),
            Self::Value(value) => value,
            #[cfg(feature = "_columns")]
            Self::Shared(value) => value.clone(),
        }
    }
}

/// One bit for each field. A set of these bits records which fields of a line have been read.
mod field {
    pub(super) const PROCESS: u16 = 1;
    pub(super) const TYPE: u16 = 1 << 1;
    pub(super) const F: u16 = 1 << 2;
    pub(super) const KEY: u16 = 1 << 3;
    pub(super) const VALUE: u16 = 1 << 4;
    pub(super) const RESULT: u16 = 1 << 5;
    pub(super) const OBJECT: u16 = 1 << 6;
    pub(super) const CALL: u16 = 1 << 7;
    pub(super) const RETURN: u16 = 1 << 8;
    pub(super) const ID: u16 = 1 << 9;
    pub(super) const TIME: u16 = 1 << 10;
    pub(super) const VERSION: u16 = 1 << 11;

    /// The names of the fields, in quotation marks and with a colon, in the order of their bits.
    pub(super) const NAMES: [&str; 12] = [
        "\"process\":",
        "\"type\":",
        "\"f\":",
        "\"key\":",
        "\"value\":",
        "\"result\":",
        "\"object\":",
        "\"call\":",
        "\"return\":",
        "\"id\":",
        "\"time\":",
        "\"version\":",
    ];

    /// Returns the bit of a field, or `None` if the field is ignored.
    #[inline]
    pub(super) fn of(name: &[u8]) -> Option<u16> {
        let is = |field: u16, expected: bool| expected.then_some(field);
        match name.len() {
            1 => is(F, name == b"f"),
            2 => is(ID, name == b"id"),
            3 => is(KEY, name == b"key"),
            4 if name[0] == b't' => is(TYPE, name == b"type").or(is(TIME, name == b"time")),
            4 => is(CALL, name == b"call"),
            5 => is(VALUE, name == b"value"),
            6 if name[0] == b'o' => is(OBJECT, name == b"object"),
            6 => is(RESULT, name == b"result").or(is(RETURN, name == b"return")),
            7 => is(PROCESS, name == b"process").or(is(VERSION, name == b"version")),
            _ => None,
        }
    }
}

/// The order of the fields in earlier lines. Almost always, the fields of a line have the same order as those of an
/// earlier line of the same kind, so the name of the next field is expected instead of read.
#[derive(Debug)]
pub(super) struct FieldOrder {
    /// For each kind and each field, the field after it. A field is the number of its bit; at the beginning of a line,
    /// the field before the first one is [`BEGIN`].
    next: [[u8; BEGIN + 1]; 5],
}

/// The number that stands for the beginning of a line.
const BEGIN: usize = field::NAMES.len();

impl Default for FieldOrder {
    fn default() -> Self {
        Self { next: [[0; BEGIN + 1]; 5] }
    }
}

impl FieldOrder {
    #[inline]
    fn after(&mut self, kind: Option<Kind>, last: usize) -> &mut u8 {
        &mut self.next[kind.map_or(4, |kind| kind as usize)][last]
    }
}

/// The longest name in [`field::NAMES`] is shorter than this number of bytes.
const WORD: usize = size_of::<u128>();

/// The name of a field: a word that consists of its bytes, the mask of these bytes, and their number.
#[derive(Clone, Copy)]
struct Expected {
    word: u128,
    mask: u128,
    length: usize,
}

static EXPECTED: [Expected; BEGIN] = {
    let mut expected = [Expected { word: 0, mask: 0, length: 0 }; BEGIN];
    let mut field = 0;
    while field < BEGIN {
        let name = field::NAMES[field].as_bytes();
        let mut at = name.len();
        while at > 0 {
            at -= 1;
            expected[field].word = expected[field].word << 8 | name[at] as u128;
            expected[field].mask = expected[field].mask << 8 | 0xff;
        }
        expected[field].length = name.len();
        field += 1;
    }
    expected
};

impl<'a> Quick<'a> {
    /// Takes the operation out of the line, if the line names one.
    #[inline]
    pub(super) fn call(&mut self) -> Option<QuickCall<'a>> {
        let key = self.key.take().filter(|key| !matches!(key, Scalar::Null));
        Some(QuickCall { f: self.f?, key, value: self.value.take().unwrap_or_default() })
    }

    /// Reads the line at the beginning of `bytes` into `line`, which must be empty. Returns the length of the line,
    /// including the line feed.
    #[inline]
    pub(super) fn read(bytes: &'a [u8], line: &mut Self, names: &mut Names, order: &mut FieldOrder) -> Option<usize> {
        let mut text = Cursor { bytes, at: 0 };
        text.expect(b'{')?;
        let mut seen = 0;
        let mut others: [&[u8]; MOST_OTHERS] = [b""; MOST_OTHERS];
        let mut other_count = 0;
        let mut last = BEGIN;
        loop {
            let guess = order.after(line.kind, last);
            if !text.skip(&EXPECTED[usize::from(*guess)]) {
                let name = text.string()?;
                text.expect(b':')?;
                let Some(field) = field::of(name) else {
                    if others[..other_count].contains(&name) {
                        return None;
                    }
                    *others.get_mut(other_count)? = name;
                    other_count += 1;
                    text.scalar(&mut None, names, DEEPEST)?;
                    match text.next()? {
                        b',' => continue,
                        b'}' => break,
                        _ => return None,
                    }
                };
                *guess = u8::try_from(field.trailing_zeros()).ok()?;
            }
            last = usize::from(*guess);
            let field = 1 << last;
            if seen & field != 0 {
                return None;
            }
            seen |= field;
            match field {
                field::PROCESS => line.process = Some(u32::try_from(text.int()?).ok()?),
                field::TYPE => line.kind = Some(text.kind()?),
                field::F => line.f = Some(Name::Text(text.string()?)),
                field::KEY => text.scalar(&mut line.key, names, DEEPEST)?,
                field::VALUE => text.scalar(&mut line.value, names, DEEPEST)?,
                field::RESULT => text.scalar(&mut line.result, names, DEEPEST)?,
                field::OBJECT => line.object = Some(plain_name(text.string()?)?),
                field::CALL => line.call = Some(text.int()?),
                field::RETURN => line.ret = text.int_or_null()?,
                // An event may also have an `id`. The caller ignores the `id` of an event.
                field::ID => line.id = Some(text.int()?),
                field::TIME => line.time = text.int_or_null()?,
                _ => line.version = text.int_or_null()?,
            }
            match text.next()? {
                b',' => {}
                b'}' => break,
                _ => return None,
            }
        }
        let mut end = text.byte()?;
        if end == b'\r' {
            end = text.byte()?;
        }
        (end == b'\n').then_some(text.at)
    }
}

#[cfg(feature = "_columns")]
impl<'a> Quick<'a> {
    /// Returns the bit of a field, for [`set`](Self::set).
    pub(super) fn field(name: &str) -> Option<u16> {
        field::of(name.as_bytes())
    }

    /// Sets a field. Returns false if the value is unusual for this field.
    #[inline]
    pub(super) fn set(&mut self, field: u16, value: &'a Value) -> bool {
        match (field, value) {
            (field, Value::Null) => self.set_null(field),
            (field::VALUE, value) => self.value = Some(Scalar::Shared(value)),
            (field::RESULT, value) => self.result = Some(Scalar::Shared(value)),
            (field::KEY, value) => self.key = Some(Scalar::Shared(value)),
            (field::TYPE, Value::Text(kind)) => {
                self.kind = match &**kind {
                    "invoke" => Some(Kind::Invoke),
                    "ok" => Some(Kind::Ok),
                    "fail" => Some(Kind::Fail),
                    "info" => Some(Kind::Info),
                    _ => return false,
                };
            }
            (field::F, Value::Text(f)) => self.f = Some(Name::Shared(f)),
            (field::OBJECT, Value::Text(name)) => {
                self.object = plain_name(name.as_bytes());
                return self.object.is_some();
            }
            (field, Value::Int(int)) => return self.set_int(field, *int),
            _ => return false,
        }
        true
    }

    /// Sets a field to an integer. Returns false if the integer is unusual for this field.
    #[inline]
    pub(super) fn set_int(&mut self, field: u16, int: i64) -> bool {
        match field {
            field::PROCESS => {
                self.process = u32::try_from(int).ok();
                return self.process.is_some();
            }
            field::KEY => self.key = Some(Scalar::Int(int)),
            field::VALUE => self.value = Some(Scalar::Int(int)),
            field::RESULT => self.result = Some(Scalar::Int(int)),
            field::CALL => self.call = Some(int),
            field::RETURN => self.ret = Some(int),
            field::ID => self.id = Some(int),
            field::VERSION => self.version = Some(int),
            field::TIME => self.time = Some(int),
            _ => return false,
        }
        true
    }

    /// Sets a field to a boolean. Returns false if booleans are unusual for this field.
    pub(super) fn set_bool(&mut self, field: u16, bool: bool) -> bool {
        let slot = match field {
            field::KEY => &mut self.key,
            field::VALUE => &mut self.value,
            field::RESULT => &mut self.result,
            _ => return false,
        };
        *slot = Some(Scalar::Bool(bool));
        true
    }

    /// Sets a field to null. The argument and the result become null; for every other field, null means that the field
    /// is absent.
    #[inline]
    pub(super) fn set_null(&mut self, field: u16) {
        match field {
            field::VALUE => self.value = Some(Scalar::Null),
            field::RESULT => self.result = Some(Scalar::Null),
            _ => {}
        }
    }
}

/// Returns the name of an object as text, if the name consists of letters, digits and a few other
/// characters, and does not look like a value of another type.
/// [`object_name`](super::field::object_name) does not change such a name.
fn plain_name(name: &[u8]) -> Option<&str> {
    let is_plain = name.first()?.is_ascii_alphabetic()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/'))
        && !matches!(name, b"null" | b"true" | b"false");
    std::str::from_utf8(name).ok().filter(|_| is_plain)
}

/// For each byte, whether it stands for itself in a string, as do all printable ASCII characters except the quotation
/// mark and the backslash.
const IN_STRING: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0x20;
    while byte < 0x7f {
        table[byte] = byte != b'"' as usize && byte != b'\\' as usize;
        byte += 1;
    }
    table
};

/// A word with this number in each of its eight bytes.
const fn eight(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Returns the index of the first of eight bytes that does not stand for itself in a string (see [`IN_STRING`]), or 8
/// if all of them do.
#[inline]
fn first_outside(word: u64) -> usize {
    // In each of these words, the lowest byte whose highest bit is set belongs to the lowest byte of the kind that is
    // looked for. Bytes above it may be wrong, because of a carry.
    let is_below = |word: u64, limit: u8| word.wrapping_sub(eight(limit)) & !word;
    let is_control = is_below(word, 0x20);
    let is_quote = is_below(word ^ eight(b'"'), 1);
    let is_backslash = is_below(word ^ eight(b'\\'), 1);
    let is_above = word.wrapping_add(eight(1)) | word;
    ((is_control | is_quote | is_backslash | is_above) & eight(0x80)).trailing_zeros() as usize / 8
}

/// Returns the number of digits at the beginning of eight bytes, and the number that they stand for if there are fewer
/// than eight digits.
#[inline]
fn short_int(word: u64) -> (usize, i64) {
    let digits = word ^ eight(b'0');
    // The lowest byte whose highest bit is set belongs to the first byte that is not a digit.
    let others = (digits.wrapping_add(eight(0x7f - 9)) | digits) & eight(0x80);
    let count = others.trailing_zeros() as usize / 8;
    if count == 0 || count == 8 {
        return (count, 0);
    }
    // The number has leading zeros now, so that it has eight digits. The first digit is in the lowest byte. Combine
    // neighboring digits, then neighboring pairs of digits, then both halves.
    let digits = digits << (64 - 8 * count);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let even = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 | 1_000_000 << 32);
    let odd = (pairs >> 16 & 0x0000_00ff_0000_00ff).wrapping_mul(1 | 10_000 << 32);
    (count, i64::from(u32::try_from(even.wrapping_add(odd) >> 32).unwrap_or_default()))
}

/// Integers of up to this many digits cannot overflow; [`Cursor::long_int`] reads longer integers.
const MOST_DIGITS: usize = 18;

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// Returns the next byte that is not a space.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        loop {
            match self.byte()? {
                b' ' => {}
                byte => return Some(byte),
            }
        }
    }

    /// Skips the name of a field. Returns false, and does not skip a name, if another name is next, or if the text ends
    /// soon.
    #[inline]
    fn skip(&mut self, name: &Expected) -> bool {
        self.at += usize::from(self.bytes.get(self.at) == Some(&b' '));
        let Some(next) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<WORD>) else { return false };
        let is_next = u128::from_le_bytes(*next) & name.mask == name.word;
        self.at += if is_next { name.length } else { 0 };
        is_next
    }

    #[inline]
    fn expect(&mut self, expected: u8) -> Option<()> {
        (self.next()? == expected).then_some(())
    }

    /// Reads a string.
    #[inline]
    fn string(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        self.rest_of_string()
    }

    /// Reads a string after its opening quotation mark.
    #[inline]
    fn rest_of_string(&mut self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let mut length = 0;
        loop {
            match rest[length..].first_chunk() {
                Some(eight) => {
                    let end = first_outside(u64::from_le_bytes(*eight));
                    length += end;
                    if end < 8 {
                        break;
                    }
                }
                None => {
                    length += rest[length..].iter().position(|byte| !IN_STRING[usize::from(*byte)])?;
                    break;
                }
            }
        }
        if rest[length] != b'"' {
            return None;
        }
        self.at += length + 1;
        Some(&rest[..length])
    }

    /// Reads the type of an event.
    #[inline]
    fn kind(&mut self) -> Option<Kind> {
        // Events are almost always calls or results. Compare the eight or four bytes of their types at once.
        let rest = self.bytes.get(self.at..)?;
        for (word, kind) in [(&b"\"invoke\""[..], Kind::Invoke), (b"\"ok\"", Kind::Ok)] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Some(kind);
            }
        }
        match self.string()? {
            b"invoke" => Some(Kind::Invoke),
            b"ok" => Some(Kind::Ok),
            b"fail" => Some(Kind::Fail),
            b"info" => Some(Kind::Info),
            _ => None,
        }
    }

    #[inline]
    fn int(&mut self) -> Option<i64> {
        let first = self.next()?;
        self.rest_of_int(first)
    }

    #[inline]
    fn int_or_null(&mut self) -> Option<Option<i64>> {
        match self.next()? {
            b'n' => self.rest_of_word("ull").map(|()| None),
            first => self.rest_of_int(first).map(Some),
        }
    }

    /// Reads the rest of an integer whose first character is `first`. Returns `None` for a fraction or an exponent.
    #[inline]
    fn rest_of_int(&mut self, first: u8) -> Option<i64> {
        let (is_negative, first) = if first == b'-' { (true, self.byte()?) } else { (false, first) };
        if !first.is_ascii_digit() {
            return None;
        }
        let begin = self.at;
        let mut number = i64::from(first - b'0');
        if let Some(eight) = self.bytes[begin - 1..].first_chunk() {
            let (count, short) = short_int(u64::from_le_bytes(*eight));
            if count < 8 {
                (self.at, number) = (begin - 1 + count, short);
            }
        }
        while let Some(byte) = self.bytes.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            if self.at - begin >= MOST_DIGITS - 1 {
                return self.long_int(number, is_negative);
            }
            number = number * 10 + i64::from(byte - b'0');
            self.at += 1;
        }
        self.end_of_int(first, begin)?;
        match (is_negative, number) {
            (false, _) => Some(number),
            // Leave -0 to the reader of `jsonl`. Like other readers of JSON, that reader treats -0 as a floating-point
            // number.
            (true, 0) => None,
            (true, _) => Some(-number),
        }
    }

    /// Checks that an integer has no leading zero, and that a comma, a closing bracket or a space
    /// follows its digits. The first digit is `first`; the other digits begin at `begin`.
    fn end_of_int(&self, first: u8, begin: usize) -> Option<()> {
        let has_leading_zero = first == b'0' && self.at > begin;
        let ends = matches!(self.bytes.get(self.at)?, b',' | b'}' | b']' | b' ');
        (ends && !has_leading_zero).then_some(())
    }

    /// Reads the remaining digits of an integer of more than [`MOST_DIGITS`] digits. Returns `None` if the integer does
    /// not fit into 64 bits.
    #[cold]
    fn long_int(&mut self, number: i64, is_negative: bool) -> Option<i64> {
        if number < 10_i64.pow(u32::try_from(MOST_DIGITS).ok()? - 1) {
            // The number has leading zeros.
            return None;
        }
        let mut number = number;
        while let Some(byte) = self.bytes.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            number = number.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
            self.at += 1;
        }
        self.end_of_int(b'1', self.at)?;
        Some(if is_negative { -number } else { number })
    }

    /// Reads the rest of a word.
    #[inline]
    fn rest_of_word(&mut self, rest: &str) -> Option<()> {
        let found = self.bytes.get(self.at..self.at + rest.len())?;
        self.at += rest.len();
        (found == rest.as_bytes()).then_some(())
    }

    /// Reads a value with lists nested at most `depth` deep, and writes it to `slot` directly: copying it there would take
    /// longer than reading it.
    #[inline]
    fn scalar(&mut self, slot: &mut Option<Scalar<'a>>, names: &mut Names, depth: usize) -> Option<()> {
        match self.next()? {
            b'"' => *slot = Some(Scalar::Text(self.rest_of_string()?)),
            b'n' => {
                self.rest_of_word("ull")?;
                *slot = Some(Scalar::Null);
            }
            b't' => {
                self.rest_of_word("rue")?;
                *slot = Some(Scalar::Bool(true));
            }
            b'f' => {
                self.rest_of_word("alse")?;
                *slot = Some(Scalar::Bool(false));
            }
            b'[' => *slot = Some(Scalar::Value(self.list(names, depth.checked_sub(1)?)?)),
            first => *slot = Some(Scalar::Int(self.rest_of_int(first)?)),
        }
        Some(())
    }

    /// Reads a list after its opening bracket.
    fn list(&mut self, names: &mut Names, depth: usize) -> Option<Value> {
        let mut values = Vec::new();
        if self.next()? == b']' {
            return Some(values.into_iter().collect());
        }
        self.at -= 1;
        loop {
            let mut value = None;
            self.scalar(&mut value, names, depth)?;
            values.push(value.unwrap_or_default().value(names));
            match self.next()? {
                b',' => {}
                b']' => return Some(Value::List(values.into())),
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Random;

    /// Returns eight random bytes: those at the limits of each kind of byte, their neighbors, and digits.
    fn eight_bytes(random: &mut Random) -> [u8; 8] {
        let limits = *random.pick(&[&b"\0\x1f !\"#[\\]~\x7f\x80\xff"[..], b"09019/:", b"5\xff\xb0\x30\xaf\xba"]);
        let is_rare = random.chance(1, 2);
        std::array::from_fn(
            |_| {
                if is_rare && random.below(8) > 0 { *random.pick(b"0359") } else { *random.pick(limits) }
            },
        )
    }

    #[test]
    fn eight_bytes_are_judged_like_single_bytes() {
        let mut random = Random::new(3);
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let mut bytes = [b'0'; 8];
                bytes[at] = byte;
                let expected = if IN_STRING[usize::from(byte)] { 8 } else { at };
                assert_eq!(first_outside(u64::from_le_bytes(bytes)), expected, "{bytes:?}");
            }
        }
        for _ in 0..200_000 {
            let bytes = eight_bytes(&mut random);
            let word = u64::from_le_bytes(bytes);
            let expected = bytes.iter().position(|byte| !IN_STRING[usize::from(*byte)]).unwrap_or(8);
            assert_eq!(first_outside(word), expected, "{bytes:?}");
            let count = bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(8);
            let digits = std::str::from_utf8(&bytes[..count]).expect("digits");
            let number = if count < 8 { digits.parse().unwrap_or(0) } else { 0 };
            assert_eq!(short_int(word), (count, number), "{bytes:?}");
        }
    }

    /// Fields in any order, numbers and strings of any length, and lines that end at the end of the buffer.
    #[test]
    fn fields_are_read_in_any_order() {
        let mut random = Random::new(4);
        let (mut names, mut order) = (Names::default(), FieldOrder::default());
        for _ in 0..20_000 {
            let int = i64::try_from(random.bits() >> random.below(64) >> 1).expect("63 bits");
            let (process, int) = (random.below(1000), if random.chance(1, 2) { int } else { -int.max(1) });
            let f = "a name of twenty letters and more"[..random.below(30) as usize].to_owned();
            let mut fields = vec![
                format!("\"process\":{process}"),
                format!("\"f\":\"{f}\""),
                format!("\"value\":{int}"),
                format!("\"time\": {int}"),
                "\"type\":\"invoke\"".to_owned(),
                "\"version\":null".to_owned(),
                "\"processes\":{}".replace("{}", "1"),
            ];
            for last in (1..fields.len()).rev() {
                if random.chance(1, 4) {
                    fields.swap(last, random.below(u32::try_from(last).expect("few fields")) as usize);
                }
            }
            let line = format!("{{{}}}\n", fields.join(*random.pick(&[",", ", "])));
            let mut quick = Quick::default();
            let length = Quick::read(line.as_bytes(), &mut quick, &mut names, &mut order);
            assert_eq!(length, Some(line.len()), "{line}");
            let value = quick.value.take().map(|value| value.value(&mut names));
            assert_eq!(
                (quick.process, quick.kind, quick.time),
                (Some(process), Some(Kind::Invoke), Some(int)),
                "{line}"
            );
            assert_eq!((quick.f.map(|f| f.get(&mut names)).as_deref(), value), (Some(&*f), Some(Value::Int(int))));
            // A field that occurs twice.
            fields.push(random.pick(&fields).clone());
            let line = format!("{{{}}}\n", fields.join(","));
            assert_eq!(Quick::read(line.as_bytes(), &mut Quick::default(), &mut names, &mut order), None, "{line}");
        }
    }
}

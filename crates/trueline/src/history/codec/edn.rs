//! Reads EDN, the notation of Clojure, form by form.
//!
//! The reader keeps only the current form, whose length is limited, and does not recurse: forms that are nested too
//! deep are skipped with a stack of brackets, which takes one byte for each bracket. Lists, vectors and sets become
//! lists (sets ordered by value, since they have no order); maps become lists of pairs, ordered by key; keywords,
//! symbols and characters become text, without the colon or backslash. Tags are skipped: `#inst "2024-01-01"` becomes
//! the string `"2024-01-01"`. Fractions and integers beyond 64 bits are [`Unfit`]; a caller that needs the value
//! rejects them.
//!
//! Beyond the standard, the reader accepts forms that Clojure prints into logs: `#"regex"`, `##NaN`, `0x1f`,
//! `#:ns{..}`.

use std::io::{self, BufRead};

use super::super::Value;
use super::field::{Names, Parsed, Unfit, quoted, shorten};
use super::lines::not_text;
use super::{CodecError, DEEPEST_NESTING, LONGEST_LINE};

/// The bracketed forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    List,
    Vector,
    Map,
    Set,
}

impl Shape {
    /// Returns the closing bracket of the form.
    pub(super) fn closer(self) -> u8 {
        match self {
            Self::List => b')',
            Self::Vector => b']',
            Self::Map | Self::Set => b'}',
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Vector => "vector",
            Self::Map => "map",
            Self::Set => "set",
        }
    }
}

/// The next item in a text.
#[derive(Debug)]
pub(super) enum Item {
    /// A whole form.
    Value(Parsed),
    /// The opening bracket of a form whose content follows.
    Open(Shape),
    /// The closing bracket of a form whose opening bracket was returned as [`Open`](Self::Open), or
    /// a closing bracket without an opening one.
    Close(u8),
    /// The end of the text.
    End,
}

enum Token {
    Atom(Parsed),
    Open(Shape),
    Close(u8),
    /// `#_`: the next form is ignored.
    Discard,
    /// `#name`: annotates the next form.
    Tag,
    End,
}

/// A form or a discard (`#_`) that contains the current position.
enum Frame {
    Discard { line: u32 },
    Form { shape: Shape, line: u32, count: usize, content: Result<Vec<Value>, Unfit> },
}

/// Stands for a discard (`#_`) on the stack of brackets, when forms are skipped.
const DISCARD: u8 = b'_';

/// Reads forms from a text.
#[derive(Debug)]
pub(super) struct Reader<'n, R> {
    input: R,
    names: &'n mut Names,
    line: u32,
    /// The line on which the last token began.
    token_line: u32,
    /// The number of bytes in tokens since [`Reader::begin`]. White space and comments do not count, because they take
    /// no memory.
    used: usize,
    text: Vec<u8>,
    /// The word for the whole text in messages: "file" or "line".
    extent: &'static str,
    fresh: bool,
    /// The line of the first comment.
    comment: Option<u32>,
}

impl<'n, R: BufRead> Reader<'n, R> {
    /// Creates a reader for a whole file.
    pub(super) fn new(input: R, names: &'n mut Names) -> Self {
        Self {
            input,
            names,
            line: 1,
            token_line: 1,
            used: 0,
            text: Vec::new(),
            extent: "file",
            fresh: true,
            comment: None,
        }
    }

    /// Creates a reader for a single line of a file.
    pub(super) fn of_line(input: R, line: u32, names: &'n mut Names) -> Self {
        Self { line, token_line: line, extent: "line", fresh: false, ..Self::new(input, names) }
    }

    /// Returns the line of the first comment, if there was one.
    pub(super) fn first_comment(&self) -> Option<u32> {
        self.comment
    }

    /// Starts a new form, whose bytes are counted from 0.
    pub(super) fn begin(&mut self) {
        self.used = 0;
    }

    /// Returns the line on which the last token began.
    pub(super) fn token_line(&self) -> u32 {
        self.token_line
    }

    /// Returns the next complete form.
    pub(super) fn form(&mut self) -> Result<Item, CodecError> {
        self.read(false)
    }

    /// Returns the next atom, or the opening bracket of the next form.
    pub(super) fn open(&mut self) -> Result<Item, CodecError> {
        self.read(true)
    }

    fn read(&mut self, stop_at_open: bool) -> Result<Item, CodecError> {
        let mut stack: Vec<Frame> = Vec::new();
        let mut tagged = None;
        loop {
            let token = self.token()?;
            let line = self.token_line;
            let mut form = match token {
                Token::Tag => {
                    tagged = Some(line);
                    continue;
                }
                Token::Discard => {
                    if stack.len() < DEEPEST_NESTING {
                        stack.push(Frame::Discard { line });
                    } else {
                        self.pass_over(DISCARD)?;
                    }
                    continue;
                }
                Token::Open(shape) => {
                    tagged = None;
                    if stop_at_open && stack.is_empty() {
                        return Ok(Item::Open(shape));
                    }
                    if stack.len() < DEEPEST_NESTING {
                        stack.push(Frame::Form { shape, line, count: 0, content: Ok(Vec::new()) });
                        continue;
                    }
                    self.pass_over(shape.closer())?;
                    Err(Unfit::Deep)
                }
                Token::Atom(atom) => {
                    tagged = None;
                    atom
                }
                Token::Close(closer) => {
                    if let Some(line) = tagged {
                        return Err(CodecError::at(line, "a tag has no form after it; add one, or remove the tag"));
                    }
                    match stack.pop() {
                        None => return Ok(Item::Close(closer)),
                        Some(Frame::Discard { line }) => return Err(discards_nothing(line)),
                        Some(Frame::Form { shape, line: opened, count, content }) => {
                            if shape.closer() != closer {
                                return Err(mismatch(line, closer, shape, opened));
                            }
                            finish(shape, opened, count, content)?
                        }
                    }
                }
                Token::End => {
                    return match (stack.pop(), tagged) {
                        (None, None) => Ok(Item::End),
                        (None, Some(line)) => {
                            Err(CodecError::at(line, "a tag has no form after it; add one, or remove the tag"))
                        }
                        (Some(Frame::Discard { line }), _) => Err(discards_nothing(line)),
                        (Some(Frame::Form { shape, line, .. }), _) => Err(self.cut_off(shape.name(), line)),
                    };
                }
            };
            match stack.last_mut() {
                None => return Ok(Item::Value(form)),
                Some(Frame::Discard { .. }) => {
                    stack.pop();
                }
                Some(Frame::Form { count, content, .. }) => {
                    *count += 1;
                    match (content.as_mut(), &mut form) {
                        (Ok(values), Ok(value)) => values.push(std::mem::take(value)),
                        (Ok(_), Err(unfit)) => *content = Err(unfit.clone()),
                        (Err(_), _) => {}
                    }
                }
            }
        }
    }

    /// Skips everything up to the bracket `until`. If `until` is `DISCARD`, skips one form.
    fn pass_over(&mut self, until: u8) -> Result<(), CodecError> {
        let begun = self.token_line;
        let mut open = vec![until];
        while let Some(&innermost) = open.last() {
            match self.token()? {
                Token::Tag => {}
                Token::Discard => open.push(DISCARD),
                Token::Open(shape) => open.push(shape.closer()),
                Token::Atom(_) => {
                    if innermost == DISCARD {
                        open.pop();
                    }
                }
                Token::Close(_) if innermost == DISCARD => return Err(discards_nothing(self.token_line)),
                Token::Close(closer) if innermost == closer => {
                    open.pop();
                    // If a discard (`#_`) comes directly before the form that ends here, this form
                    // is the one that is discarded. So the discard ends here, too.
                    if open.last() == Some(&DISCARD) {
                        open.pop();
                    }
                }
                Token::Close(closer) => {
                    let message = format!(
                        "expected `{}`, found `{}`; close the innermost open bracket first",
                        char::from(innermost),
                        char::from(closer)
                    );
                    return Err(CodecError::at(self.token_line, message));
                }
                Token::End => return Err(self.cut_off("form", begun)),
            }
        }
        Ok(())
    }

    /// Returns the error for a text that ends too early.
    pub(super) fn cut_off(&self, what: &str, line: u32) -> CodecError {
        let extent = self.extent;
        CodecError::at(
            line,
            format!(
                "the {extent} ends inside the {what} that begins here; if it was cut off, record it again, otherwise \
                 close the {what}"
            ),
        )
    }

    fn token(&mut self) -> Result<Token, CodecError> {
        let Some(byte) = self.skip_space()? else {
            self.token_line = self.line;
            return Ok(Token::End);
        };
        self.token_line = self.line;
        Ok(match byte {
            b'(' => self.bracket(Token::Open(Shape::List))?,
            b'[' => self.bracket(Token::Open(Shape::Vector))?,
            b'{' => self.bracket(Token::Open(Shape::Map))?,
            b')' | b']' | b'}' => self.bracket(Token::Close(byte))?,
            b'"' => {
                self.bump()?;
                Token::Atom(Ok(self.string()?))
            }
            b'\\' => Token::Atom(Ok(self.character()?)),
            b'#' => self.dispatch()?,
            _ => {
                self.text.clear();
                self.take_until(ends_atom)?;
                Token::Atom(self.atom()?)
            }
        })
    }

    fn bracket(&mut self, token: Token) -> Result<Token, CodecError> {
        self.bump()?;
        Ok(token)
    }

    /// Reads a token that begins with `#`.
    fn dispatch(&mut self) -> Result<Token, CodecError> {
        self.bump()?;
        match self.peek()? {
            Some(b'{') => {
                self.bump()?;
                return Ok(Token::Open(Shape::Set));
            }
            Some(b'_') => {
                self.bump()?;
                return Ok(Token::Discard);
            }
            Some(b'"') => {
                self.bump()?;
                return Ok(Token::Atom(Ok(self.regex()?)));
            }
            Some(b'#') => {
                self.bump()?;
                self.text.clear();
                self.take_until(ends_atom)?;
                return match self.text.as_slice() {
                    b"NaN" => Ok(Token::Atom(Err(Unfit::Fraction(f64::NAN)))),
                    b"Inf" => Ok(Token::Atom(Err(Unfit::Fraction(f64::INFINITY)))),
                    b"-Inf" => Ok(Token::Atom(Err(Unfit::Fraction(f64::NEG_INFINITY)))),
                    _ => Err(self.fault("`##` must be followed by NaN, Inf or -Inf; correct or remove it")),
                };
            }
            _ => {}
        }
        self.text.clear();
        self.take_until(ends_atom)?;
        let name = text_of(&self.text, self.token_line)?;
        if name.starts_with(|c: char| c.is_alphabetic() || c == ':') {
            return Ok(Token::Tag);
        }
        let name = quoted(name);
        Err(self.fault(&format!("`#{name}` is not EDN; quote it as a string, or remove it")))
    }

    fn atom(&mut self) -> Result<Parsed, CodecError> {
        let text = text_of(&self.text, self.token_line)?;
        let first = text.bytes().next().unwrap_or(b' ');
        let number = first.is_ascii_digit()
            || (matches!(first, b'+' | b'-') && text.as_bytes().get(1).is_some_and(u8::is_ascii_digit));
        if number {
            return number_of(text).ok_or_else(|| {
                let text = quoted(text);
                self.fault(&format!("`{text}` is not a number; correct it, or quote it as a string"))
            });
        }
        Ok(Ok(match text {
            "nil" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            ":" => {
                return Err(self.fault(
                    "`:` has no name after it; write a keyword such as :read (if this is JSON, read it as `jsonl`)",
                ));
            }
            _ => {
                if let Some(odd) = text.chars().find(|&c| is_odd(c)) {
                    return Err(self.fault(&format!(
                        "{odd:?} is not part of EDN outside strings; quote it as a string, or remove it"
                    )));
                }
                Value::Text(self.names.get(text.strip_prefix(':').unwrap_or(text)))
            }
        }))
    }

    /// Reads the rest of a string, after its opening quote.
    fn string(&mut self) -> Result<Value, CodecError> {
        let line = self.token_line;
        self.text.clear();
        loop {
            self.take_until(|byte| byte == b'"' || byte == b'\\')?;
            match self.peek()? {
                None => return Err(self.cut_off("string", line)),
                Some(b'"') => {
                    self.bump()?;
                    break;
                }
                Some(_) => {
                    self.bump()?;
                    self.escape(line)?;
                }
            }
        }
        Ok(Value::Text(self.names.get(text_of(&self.text, line)?)))
    }

    /// Reads an escape in a string, after its backslash.
    fn escape(&mut self, line: u32) -> Result<(), CodecError> {
        let Some(byte) = self.peek()? else { return Err(self.cut_off("string", line)) };
        self.bump()?;
        let plain = match byte {
            b't' => b'\t',
            b'r' => b'\r',
            b'n' => b'\n',
            b'b' => 8,
            b'f' => 12,
            b'"' | b'\\' | b'/' | b'\'' => byte,
            b'u' => {
                let c = self.unicode_escape()?;
                self.text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => {
                return Err(CodecError::at(
                    self.line,
                    format!(
                        "`\\{}` is not an escape in a string; write `\\\\` for a backslash",
                        char::from(byte).escape_default()
                    ),
                ));
            }
        };
        self.text.push(plain);
        Ok(())
    }

    /// Reads the character of an escape `\uXXXX`, after the `u`. If the escape is the first half of
    /// a surrogate pair, also reads the escape with the second half.
    fn unicode_escape(&mut self) -> Result<char, CodecError> {
        let first = self.hex4()?;
        let code = if (0xd800..0xdc00).contains(&first) && self.peek()? == Some(b'\\') {
            self.bump()?;
            if self.peek()? != Some(b'u') {
                return Err(self.bad_unicode());
            }
            self.bump()?;
            let second = self.hex4()?;
            if !(0xdc00..0xe000).contains(&second) {
                return Err(self.bad_unicode());
            }
            0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
        } else {
            first
        };
        match char::from_u32(code) {
            Some('\0') | None => Err(self.bad_unicode()),
            Some(c) => Ok(c),
        }
    }

    fn hex4(&mut self) -> Result<u32, CodecError> {
        let mut code = 0;
        for _ in 0..4 {
            let digit =
                self.peek()?.and_then(|byte| char::from(byte).to_digit(16)).ok_or_else(|| self.bad_unicode())?;
            self.bump()?;
            code = code * 16 + digit;
        }
        Ok(code)
    }

    fn bad_unicode(&self) -> CodecError {
        CodecError::at(self.line, "`\\u` is not followed by the four hexadecimal digits of a character; correct it")
    }

    /// Reads the rest of `#"..."`, after its opening quote. Escapes are kept unchanged.
    fn regex(&mut self) -> Result<Value, CodecError> {
        let line = self.token_line;
        self.text.clear();
        loop {
            self.take_until(|byte| byte == b'"' || byte == b'\\')?;
            let Some(byte) = self.peek()? else { return Err(self.cut_off("string", line)) };
            self.bump()?;
            if byte == b'"' {
                break;
            }
            self.text.push(byte);
            if let Some(escaped) = self.peek()? {
                self.bump()?;
                self.text.push(escaped);
            }
        }
        Ok(Value::Text(self.names.get(text_of(&self.text, line)?)))
    }

    /// Reads a character such as `\a` or `\newline`.
    fn character(&mut self) -> Result<Value, CodecError> {
        self.bump()?;
        self.text.clear();
        // The first byte always belongs to the character, even if this byte would end an atom of
        // another kind.
        if let Some(byte) = self.peek()? {
            self.bump()?;
            self.text.push(byte);
        }
        self.take_until(ends_atom)?;
        let text = text_of(&self.text, self.token_line)?;
        let mut chars = text.chars();
        let c = match (chars.next(), chars.as_str()) {
            (Some(c), "") if !c.is_whitespace() => Some(c),
            (Some('u'), hex) if hex.len() == 4 => u32::from_str_radix(hex, 16).ok().and_then(char::from_u32),
            _ => match text {
                "newline" => Some('\n'),
                "return" => Some('\r'),
                "space" => Some(' '),
                "tab" => Some('\t'),
                "formfeed" => Some('\u{c}'),
                "backspace" => Some('\u{8}'),
                _ => None,
            },
        };
        match c {
            Some(c) if c != '\0' => Ok(Value::Text(self.names.get(c.encode_utf8(&mut [0; 4])))),
            _ => {
                let text = quoted(text);
                Err(self.fault(&format!("`\\{text}` is not a character; quote it as a string")))
            }
        }
    }

    /// Returns an error on the line where the last token began.
    fn fault(&self, message: &str) -> CodecError {
        CodecError::at(self.token_line, message)
    }

    /// Returns bytes that are ready to be read, or an empty slice at the end of the input.
    fn fill(&mut self) -> Result<&[u8], CodecError> {
        // Calling `fill_buf` twice, instead of returning its first result, satisfies the borrow checker.
        loop {
            match self.input.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(CodecError::io(self.line, error)),
            }
        }
        self.input.fill_buf().map_err(|error| CodecError::io(self.line, error))
    }

    fn peek(&mut self) -> Result<Option<u8>, CodecError> {
        Ok(self.fill()?.first().copied())
    }

    /// Consumes the byte that [`peek`](Self::peek) returned.
    fn bump(&mut self) -> Result<(), CodecError> {
        if self.fill()?.first() == Some(&b'\n') {
            self.next_lines(1)?;
        }
        self.input.consume(1);
        self.count(1)
    }

    fn count(&mut self, bytes: usize) -> Result<(), CodecError> {
        self.used += bytes;
        if self.used > LONGEST_LINE {
            let message =
                format!("this form is longer than {} MiB; write each event as its own form", LONGEST_LINE >> 20);
            return Err(self.fault(&message));
        }
        Ok(())
    }

    fn next_lines(&mut self, lines: usize) -> Result<(), CodecError> {
        let sum = u32::try_from(lines).ok().and_then(|lines| self.line.checked_add(lines));
        self.line = sum.ok_or_else(|| CodecError::at(self.line, "too many lines; split the file"))?;
        Ok(())
    }

    /// Appends to `text` all bytes before the first one for which `ends` returns true.
    fn take_until(&mut self, ends: impl Fn(u8) -> bool) -> Result<(), CodecError> {
        loop {
            self.fill()?;
            // Call `fill_buf` again instead of using the result of `fill`, which would borrow all
            // of `self` and not only the input.
            let bytes = self.input.fill_buf().map_err(|error| CodecError::io(self.line, error))?;
            let end = bytes.iter().position(|&byte| ends(byte));
            let length = end.unwrap_or(bytes.len());
            self.text.extend_from_slice(&bytes[..length]);
            let lines = newlines(&bytes[..length]);
            self.input.consume(length);
            self.next_lines(lines)?;
            self.count(length)?;
            if end.is_some() || length == 0 {
                return Ok(());
            }
        }
    }

    /// Skips white space, commas and comments, and returns the byte after them.
    fn skip_space(&mut self) -> Result<Option<u8>, CodecError> {
        let mut in_comment = false;
        let mut comment = None;
        loop {
            let fresh = std::mem::replace(&mut self.fresh, false);
            let bytes = self.fill()?;
            if bytes.is_empty() {
                return Ok(None);
            }
            if fresh && bytes.starts_with(b"\xef\xbb\xbf") {
                self.input.consume(3);
                continue;
            }
            let mut lines = 0;
            let mut found = None;
            let mut length = bytes.len();
            for (index, &byte) in bytes.iter().enumerate() {
                if byte == b'\n' {
                    lines += 1;
                    in_comment = false;
                } else if in_comment || is_space(byte) {
                } else if byte == b';' {
                    in_comment = true;
                    comment = comment.or(Some(lines));
                } else {
                    found = Some(byte);
                    length = index;
                    break;
                }
            }
            self.input.consume(length);
            if let (None, Some(lines)) = (self.comment, comment.take()) {
                self.comment = u32::try_from(lines).ok().map(|lines| self.line.saturating_add(lines));
            }
            self.next_lines(lines)?;
            if found.is_some() {
                return Ok(found);
            }
        }
    }
}

/// Returns the bytes of a token as a string, or an error if they are not valid UTF-8 or contain a NUL character.
fn text_of(text: &[u8], line: u32) -> Result<&str, CodecError> {
    match std::str::from_utf8(text) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(CodecError::at(line, not_text("EDN"))),
    }
}

/// Returns the value of a complete form.
fn finish(shape: Shape, line: u32, count: usize, content: Result<Vec<Value>, Unfit>) -> Result<Parsed, CodecError> {
    if shape == Shape::Map && count % 2 != 0 {
        return Err(CodecError::at(line, "a map has a key without a value; give the value, or remove the key"));
    }
    let mut values = match content {
        Ok(values) => values,
        Err(unfit) => return Ok(Err(unfit)),
    };
    match shape {
        Shape::List | Shape::Vector => {}
        Shape::Set => {
            values.sort_unstable();
            if let Some(pair) = values.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(twice("set", &pair[0], line));
            }
        }
        Shape::Map => {
            let mut pairs: Vec<(Value, Value)> = Vec::with_capacity(values.len() / 2);
            let mut values_left = values.into_iter();
            while let (Some(key), Some(value)) = (values_left.next(), values_left.next()) {
                pairs.push((key, value));
            }
            pairs.sort_unstable();
            if let Some(pair) = pairs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return Err(twice("map", &pair[0].0, line));
            }
            values = pairs.into_iter().map(|(key, value)| [key, value].into_iter().collect()).collect();
        }
    }
    Ok(Ok(Value::List(values.into())))
}

fn twice(what: &str, value: &Value, line: u32) -> CodecError {
    let value = shorten(value.to_string());
    CodecError::at(line, format!("the {what} that begins here has {value} twice; keep one of them"))
}

fn discards_nothing(line: u32) -> CodecError {
    CodecError::at(line, "`#_` has no form after it; give it a form to discard, or remove it")
}

/// Returns the error for a closing bracket that does not match the opening one.
pub(super) fn mismatch(line: u32, closer: u8, shape: Shape, opened: u32) -> CodecError {
    CodecError::at(
        line,
        format!(
            "`{}` cannot close the {} that begins on line {opened}; close that with `{}` first",
            char::from(closer),
            shape.name(),
            char::from(shape.closer())
        ),
    )
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b',' || byte == 11
}

fn ends_atom(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'"' | b';')
}

/// Returns whether the character is not allowed in symbols and keywords.
fn is_odd(c: char) -> bool {
    c.is_control() || matches!(c, '@' | '^' | '`' | '~' | '\\')
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

/// Parses a number. Returns `None` if the text is not a number.
fn number_of(text: &str) -> Option<Parsed> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if let Some(hex) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        return hex_of(hex, text.starts_with('-'));
    }
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let approximate = |text: &str| text.parse::<f64>().ok();
    let integer = unsigned.strip_suffix('N').unwrap_or(unsigned);
    if digits(integer) {
        // Reject octal numbers: in Clojure, 010 is eight.
        if integer.len() > 1 && integer.starts_with('0') {
            return None;
        }
        let signed = text.strip_suffix('N').unwrap_or(text);
        return match signed.parse() {
            Ok(int) => Some(Ok(Value::Int(int))),
            Err(_) => Some(Err(Unfit::Big(Some(signed.into())))),
        };
    }
    if let Some((above, below)) = unsigned.split_once('/') {
        let whole = digits(above) && digits(below);
        return if whole { Some(Err(Unfit::Fraction(approximate(above)? / approximate(below)?))) } else { None };
    }
    let decimal = text.strip_suffix('M').unwrap_or(text);
    if !decimal.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-')) {
        return None;
    }
    approximate(decimal).map(|number| Err(Unfit::Fraction(number)))
}

fn hex_of(digits: &str, negative: bool) -> Option<Parsed> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let int = i128::from_str_radix(digits, 16).ok().map(|int| if negative { -int } else { int });
    match int.map(i64::try_from) {
        Some(Ok(int)) => Some(Ok(Value::Int(int))),
        _ => Some(Err(Unfit::Big(Some(format!("{}0x{digits}", if negative { "-" } else { "" }).into())))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(text: &str) -> Result<Vec<Parsed>, CodecError> {
        let mut names = Names::default();
        // A tiny buffer, so that tokens cross its boundaries.
        let mut reader = Reader::new(io::BufReader::with_capacity(3, text.as_bytes()), &mut names);
        let mut forms = Vec::new();
        loop {
            match reader.form()? {
                Item::Value(form) => forms.push(form),
                Item::End => return Ok(forms),
                Item::Close(closer) => return Err(CodecError::at(reader.token_line(), format!("closed by {closer}"))),
                Item::Open(shape) => panic!("`form` returned the opening bracket of {shape:?}"),
            }
        }
    }

    /// Returns the forms as JSON, separated by spaces.
    fn shown(text: &str) -> String {
        let forms = forms(text).unwrap_or_else(|error| panic!("{error} in {text}"));
        let shown: Vec<String> = forms
            .iter()
            .map(|form| match form {
                Ok(value) => value.to_string(),
                Err(unfit) => format!("{unfit:?}"),
            })
            .collect();
        shown.join(" ")
    }

    fn error_of(text: &str) -> String {
        forms(text).expect_err(text).to_string()
    }

    #[test]
    fn atoms() {
        for (text, expected) in [
            ("nil true false", "null true false"),
            ("0 -7 +7 12N 9223372036854775807 0x1f -0x1f", "0 -7 7 12 9223372036854775807 31 -31"),
            (":read :a/b foo foo.bar/baz + - ->x", r#""read" "a/b" "foo" "foo.bar/baz" "+" "-" "->x""#),
            (r#""" "a\"b\\c\n\u00e9\ud83d\ude00" "ü""#, "\"\" \"a\\\"b\\\\c\\né😀\" \"ü\""),
            (r"\a \newline \( \u0041 \ü", "\"a\" \"\\n\" \"(\" \"A\" \"ü\""),
            ("1.5 -1e3 2.5M 1/2", "Fraction(1.5) Fraction(-1000.0) Fraction(2.5) Fraction(0.5)"),
            ("##NaN ##Inf ##-Inf", "Fraction(NaN) Fraction(inf) Fraction(-inf)"),
            (
                "9223372036854775808 -99999999999999999999N",
                "Big(Some(\"9223372036854775808\")) Big(Some(\"-99999999999999999999\"))",
            ),
            (r#"#"a\"+" #inst "2024" #uuid "f8" #a #b 5"#, r#""a\\\"+" "2024" "f8" 5"#),
            ("\u{feff} 1", "1"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn collections() {
        for (text, expected) in [
            ("[1 [2, 3] ()]", "[1,[2,3],[]]"),
            ("(1 2) [] {} #{}", "[1,2] [] [] []"),
            ("{:b 1, :a [2]}", r#"[["a",[2]],["b",1]]"#),
            ("#{3 1 2}", "[1,2,3]"),
            ("#:ns{:a 1} #jepsen.history.Op{:a 1}", r#"[["a",1]] [["a",1]]"#),
            ("[1 ; two ] \n 3]; end", "[1,3]"),
            ("[1 #_2 #_#_3 4 5 #_[6 #_7] #_ #tag {:a 1}] #_8", "[1,5]"),
            ("[1 [2 0.5] 3]", "Fraction(0.5)"),
            ("[ns/x#\"r\"\"s\":k]", r#"["ns/x#","r","s","k"]"#),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn errors_name_the_line_and_the_remedy() {
        for (text, expected) in [
            ("[1\n2", "line 1: the file ends inside the vector that begins here"),
            ("1\n{:a\n \"b", "line 3: the file ends inside the string that begins here"),
            ("[(1]", "line 1: `]` cannot close the list that begins on line 1; close that with `)` first"),
            ("\n{:a}", "line 2: a map has a key without a value; give the value, or remove the key"),
            ("{:a 1 :a 2}", "line 1: the map that begins here has \"a\" twice; keep one of them"),
            ("#{1\n2 1}", "line 1: the set that begins here has 1 twice; keep one of them"),
            ("[#_]", "line 1: `#_` has no form after it; give it a form to discard, or remove it"),
            ("#_", "line 1: `#_` has no form after it"),
            ("[#inst]", "line 1: a tag has no form after it; add one, or remove the tag"),
            ("#inst", "line 1: a tag has no form after it"),
            ("#<Object@1>", "line 1: `#<Object@1>` is not EDN"),
            ("#(+ 1)", "line 1: `#` is not EDN"),
            ("##Infinity", "line 1: `##` must be followed by"),
            ("1abc", "line 1: `1abc` is not a number; correct it, or quote it as a string"),
            ("010", "line 1: `010` is not a number"),
            ("1\u{1b}", "line 1: `1\\u{1b}` is not a number"),
            ("1/ 1.2.3", "line 1: `1/` is not a number"),
            ("1.2.3", "line 1: `1.2.3` is not a number"),
            ("0x 0xg", "line 1: `0x` is not a number"),
            ("\n:", "line 2: `:` has no name after it"),
            ("a@b", "line 1: '@' is not part of EDN"),
            (r#""\x""#, r"line 1: `\x` is not an escape in a string; write `\\` for a backslash"),
            (r#""\ud800""#, "line 1: `\\u` is not followed by the four hexadecimal digits"),
            (r#""\ud800\u0041""#, "line 1: `\\u` is not followed"),
            (r#""\u00""#, "line 1: `\\u` is not followed"),
            (r"\foo", r"line 1: `\foo` is not a character; quote it as a string"),
            ("\\", "line 1: `\\` is not a character"),
            ("\0", "line 1: this is not text; give an uncompressed UTF-8 file of EDN"),
            ("\"\0\"", "line 1: this is not text"),
            (")", "line 1: closed by 41"),
        ] {
            let error = error_of(text);
            assert!(error.starts_with(expected), "{error} in {text}");
        }
        let mut names = Names::default();
        let error = Reader::new(&b"ab\xff"[..], &mut names).form().expect_err("not UTF-8");
        assert!(error.to_string().contains("not text"), "{error}");
    }

    #[test]
    fn nesting_is_limited_without_recursion() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(shown(&nested(DEEPEST_NESTING)), nested(DEEPEST_NESTING));
        assert_eq!(shown(&nested(DEEPEST_NESTING + 1)), "Deep");
        assert_eq!(shown(&nested(1_000_000)), "Deep");
        assert_eq!(shown(&format!("{} 1 {} 2", "#_".repeat(500), "3 ".repeat(499))), "2");
        assert_eq!(shown(&format!("{}{} 7", "#_[".repeat(500), "]".repeat(500))), "7");
        assert_eq!(shown(&format!("{}5", "#t ".repeat(100_000))), "5");
        assert!(error_of(&"[".repeat(1_000_000)).contains("the file ends inside the form"));
        assert!(error_of(&"#_".repeat(1_000_000)).contains("the file ends inside the form"));
        assert!(error_of(&"#_[".repeat(1_000_000)).contains("the file ends inside the form"));
        assert!(error_of(&format!("{}}}", "[".repeat(100))).contains("expected `]`, found `}`"));
        assert!(error_of(&format!("{}#_]", "[".repeat(100))).contains("`#_` has no form after it"));
    }

    #[test]
    fn a_form_is_not_read_beyond_its_limit() {
        for (start, byte) in [("", b'a'), ("\"", b'a'), ("[", b'['), ("", b'1')] {
            let text = [start.as_bytes(), &vec![byte; LONGEST_LINE + 10]].concat();
            let mut names = Names::default();
            let error = Reader::new(text.as_slice(), &mut names).form().expect_err("the form is too long");
            assert!(error.to_string().contains("longer than 16 MiB"), "{error}");
        }
        // White space and comments do not count as part of a form.
        let space = " ;\n".repeat(LONGEST_LINE / 3 + 10);
        assert_eq!(shown(&format!("[1{space}2]")), "[1,2]");
    }
}

//! Detects the format of a file.

use super::field::Names;
use super::lines::without_byte_order_mark;
use super::{Format, jepsen_log, json, porcupine, start_finish, table};

/// The first bytes of a Parquet file.
pub(super) const PARQUET: &[u8] = b"PAR1";

/// The first bytes of an Arrow file, and of an Arrow stream.
pub(super) const ARROW: &[u8] = b"ARRO";
pub(super) const ARROW_STREAM: &[u8] = b"\xff\xff\xff\xff";

/// The first bytes of a file of Feather version 1, which is not supported.
pub(super) const FEATHER_1: &[u8] = b"FEA1";

/// Returns the format of a file that begins with `start`, or `None` if `start` matches no format.
///
/// The result is a guess from the first lines. Errors in the file are found only when the file is read in this format.
/// It is enough if `start` is a few tens of kilobytes long. A shorter beginning of a log may not suffice, because other
/// lines may come before the first event.
///
/// ```
/// use trueline::history::codec::{Format, detect};
///
/// assert_eq!(detect(b"; a comment\n[{:process 0"), Some(Format::Jepsen));
/// assert_eq!(detect(b"0\t:invoke\t:read\tnil\n"), Some(Format::JepsenLog));
/// assert_eq!(detect(b"Dear reader,"), None);
/// ```
pub fn detect(start: &[u8]) -> Option<Format> {
    if start.starts_with(PARQUET) {
        return Some(Format::Parquet);
    }
    if has_columns(start) || start.starts_with(FEATHER_1) {
        return Some(Format::Arrow);
    }
    let start = without_byte_order_mark(start);
    // The text may be cut off inside a character. The part before this character is enough.
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or(""),
    };
    let text = without_comments(text);
    match text.as_bytes().first()? {
        b'{' => of_maps(text),
        b'(' => Some(Format::Jepsen),
        b'#' if text[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => Some(Format::Jepsen),
        b'[' => match without_comments(&text[1..]).as_bytes().first() {
            None | Some(b']' | b'#') => Some(Format::Jepsen),
            Some(b'{') => of_maps(without_comments(&text[1..])).map(|format| match format {
                Format::PorcupineKv => Format::Jepsen,
                format => format,
            }),
            Some(_) => of_log(text),
        },
        _ if is_table(text) => Some(Format::Csv),
        _ => of_log(text),
    }
}

/// Returns the preset for a file that begins with `start`, if the file contains spans of
/// OpenTelemetry or Jaeger. Returns `None` for any other file.
pub(super) fn preset(start: &[u8]) -> Option<&'static str> {
    let head = String::from_utf8_lossy(&start[..start.len().min(1 << 12)]);
    if !head.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        None
    } else if head.contains("\"resourceSpans\"") {
        Some("otlp")
    } else {
        (head.contains("\"spans\"") && head.contains("\"data\"")).then_some("jaeger")
    }
}

/// Returns whether this is the start of a Parquet or Arrow file.
pub(super) fn has_columns(start: &[u8]) -> bool {
    [PARQUET, ARROW, ARROW_STREAM].iter().any(|first| start.starts_with(first))
}

/// Returns whether the first line contains the column names that trueline requires: `f`, and `type` or `call`.
fn is_table(text: &str) -> bool {
    let line = text.lines().next().unwrap_or("");
    let separator = char::from(table::separator(line));
    let has = |name: &str| line.split(separator).any(|cell| cell.trim().trim_matches('"') == name);
    has("f") && (has("type") || has("call"))
}

/// Returns the rest of the text after leading white space, commas and EDN comments.
fn without_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if !text.starts_with(';') {
            return text;
        }
        text = text.split_once('\n').map_or("", |(_, rest)| rest);
    }
}

/// Returns the format of a text that begins with a brace.
fn of_maps(text: &str) -> Option<Format> {
    match without_comments(&text[1..]).as_bytes().first()? {
        b':' => {
            let line = text.lines().next().unwrap_or("");
            Some(if porcupine::is_kv_event(line) { Format::PorcupineKv } else { Format::Jepsen })
        }
        b'"' => {
            // Invalid JSON counts as JSON lines, because the reader of JSON lines has a helpful
            // message for it.
            let Ok(mut object) = json::first_object(text, &mut Names::default()) else {
                return Some(Format::Jsonl);
            };
            Some(if object.has("input") && object.has("call") {
                Format::PorcupineJson
            } else if object.has("call") && !object.has("event") {
                Format::Jsonl
            } else if start_finish::is_event(&mut object) {
                Format::Events
            } else {
                Format::Jsonl
            })
        }
        _ => None,
    }
}

/// Returns the format of Jepsen's logs if the text comes from such a log, and `None` otherwise.
fn of_log(text: &str) -> Option<Format> {
    let first = text.lines().find(|line| !line.trim_ascii().is_empty())?;
    let log = jepsen_log::is_bare_event(first) || text.lines().any(|line| jepsen_log::behind_logger(line).is_some());
    log.then_some(Format::JepsenLog)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_apart() {
        for (format, texts) in [
            (
                Some(Format::Jsonl),
                &[
                    r#"{"process":0,"type":"invoke","f":"read"}"#,
                    r#"{"process":0,"f":"read","call":1,"return":2}"#,
                    r#"{ "process":0,"#,
                    r#"[{"process":0,"type":"invoke","f":"read"}]"#,
                    "\u{feff}\n{\"a\":1}",
                ][..],
            ),
            (
                Some(Format::Jepsen),
                &[
                    "[{:process 0, :type :invoke, :f :read}]",
                    "({:process 0",
                    "; about\n\n {:process 0, :type :invoke, :f :read}",
                    "{:process 0,\n :type :invoke, :key 1}",
                    "[]",
                    "[",
                    "#jepsen.history.Op{:process 0",
                    "[#jepsen.history.Op{:process 0",
                    "[{:process 0, :type :invoke, :f :read, :key 1}]",
                    "[ ; so\n{:process 0",
                    "#_ {} [",
                ],
            ),
            (
                Some(Format::JepsenLog),
                &[
                    "INFO  jepsen.util - 0\t:invoke\t:read\tnil",
                    "\nINFO  jepsen.core - starting\nINFO  jepsen.util - :nemesis\t:info\t:start\tnil",
                    "[worker] jepsen.util: 0\t:invoke\t:read\tnil",
                    "0\t:invoke\t:read\tnil",
                    ":nemesis :info :start nil",
                ],
            ),
            (Some(Format::PorcupineKv), &["{:process 0, :type :invoke, :f :get, :key \"1\", :value nil}\n"]),
            (
                Some(Format::PorcupineJson),
                &[
                    r#"{"ClientId":0,"Input":{"op":0},"Call":1,"Output":{},"Return":2}"#,
                    r#"{"client_id":0,"input":"read","call":1,"output":null,"return":2}"#,
                    "[{\"ClientId\":0,\n\"Input\":1,\"Call\":2},",
                ],
            ),
            (
                Some(Format::Events),
                &[
                    r#"{"client":0,"event":"start","op":"read"}"#,
                    r#"{"process":0,"type":"call","op":"read"}"#,
                    r#"{"ClientId":0,"Kind":false,"Value":{"op":1},"Id":0}"#,
                    r#"{"thread":0,"event":"call","call":"read"}"#,
                ],
            ),
            (Some(Format::Csv), &["process,f,value,call,return\n", "\"f\"\ttype\tprocess\n0", "\u{feff}f;call"]),
            (
                None,
                &[
                    "f,value\n",
                    "",
                    "\n",
                    "Dear reader,",
                    "INFO  jepsen.util - 3 nodes",
                    "{",
                    "{}",
                    "{a",
                    "17",
                    "\"x\"",
                    "# title",
                ],
            ),
        ] {
            for text in texts {
                assert_eq!(detect(text.as_bytes()), format, "{text}");
            }
        }
        assert_eq!(detect(b"\xff\xfe{"), None);
        assert_eq!(detect(b"ARROW1\0\0\xff\xff\xff\xff"), Some(Format::Arrow));
        assert_eq!(detect(b"\xff\xff\xff\xff\x80"), Some(Format::Arrow));
        assert_eq!(detect(b"({:process \xc3"), Some(Format::Jepsen), "cut inside a character");
    }
}

//! Makes text from histories, files and users safe to print.
//!
//! Names, values, file names and panic messages may contain anything: escape sequences that move
//! the cursor, marks that reverse the direction of surrounding text, line breaks that forge a line
//! of a report, or commands that a CI system reads from logs. Every writer passes such text through
//! [`visible`], or [`visible_json`] for JSON, immediately before writing. Until then, the text
//! stays unchanged.

use std::fmt::Write as _;

/// Returns whether the character is invisible, or moves or hides adjacent text: control characters, direction marks,
/// line separators, zero-width spaces, tags, and characters that XML cannot represent.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Returns whether `rest`, which follows `before`, begins a command that a CI system would execute: `::error` at the
/// start of a line, `##[error]` or `##vso[..]` anywhere. Text after any space counts as the start of a line, because a
/// report may wrap its lines there.
fn begins_command(before: Option<char>, rest: &str) -> bool {
    let is_start = before.is_none_or(|c| c.is_whitespace() || is_hidden(c));
    let behind_hashes = |rest: &str| rest.starts_with(|c: char| c == '[' || c.is_ascii_alphabetic());
    (is_start && rest.starts_with("::")) || rest.strip_prefix("##").is_some_and(behind_hashes)
}

/// Returns whether the first character of `rest`, which follows `before`, must be escaped.
pub(super) fn is_hostile(before: Option<char>, rest: &str) -> bool {
    match rest.chars().next() {
        Some(':' | '#') => begins_command(before, rest),
        first => first.is_some_and(is_hidden),
    }
}

/// Returns a copy of the text. For each character that must not be printed unchanged, `escape` appends a replacement.
fn escaped(text: &str, escape: impl Fn(&mut String, char)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    for (at, c) in text.char_indices() {
        if is_hostile(before, &text[at..]) {
            escape(&mut out, c);
        } else {
            out.push(c);
        }
        before = Some(c);
    }
    out
}

/// Returns the text on one line. Characters that are invisible, that move adjacent text, or that a CI system would take
/// for a command in its log, become escapes such as `\u{1b}`.
///
/// ```
/// use trueline::history::visible;
///
/// assert_eq!(visible("a\u{202e}b\u{1b}[2J"), "a\\u{202e}b\\u{1b}[2J");
/// assert_eq!(visible("a::b ::error::c\n"), "a::b \\u{3a}:error::c\\u{a}");
/// ```
pub fn visible(text: &str) -> String {
    escaped(text, |out, c| {
        let _ = write!(out, "\\u{{{:x}}}", c as u32);
    })
}

/// Returns equivalent JSON on one line, in which the characters that [`visible`] escapes are
/// escaped in JSON's notation.
///
/// ```
/// use trueline::history::visible_json;
///
/// assert_eq!(visible_json("{\"f\":\"\u{2028}\"}"), "{\"f\":\"\\u2028\"}");
/// ```
pub fn visible_json(json: &str) -> String {
    // Outside its strings, JSON contains none of these characters.
    escaped(json, |out, c| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hidden_is_left_and_plain_text_stays() {
        for plain in ["dequeue() → 2", "a::b::c", "x#1 ## y", "größer 🦀", "C:\\path", "a:b :c", "#[test]"] {
            assert_eq!(visible(plain), plain);
            assert_eq!(visible_json(plain), plain);
        }
        let hostile: String = (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| is_hidden(*c)).collect();
        assert!(hostile.chars().count() > 65 + 128, "controls and tags are hidden");
        for text in [visible(&hostile), visible_json(&hostile)] {
            assert!(text.is_ascii() && !text.contains(|c: char| c.is_ascii_control()), "{text}");
        }
    }

    #[test]
    fn commands_are_broken_up() {
        for hostile in ["::error::x", " ::add-mask::x", "a ::x", "\t::x", "##[group]", "x##vso[task]", "\u{85}::x"] {
            let text = visible(hostile);
            assert!(!text.trim_start().starts_with("::") && !text.contains(" ::"), "{text}");
            assert!(!text.contains("##[") && !text.contains("##v"), "{text}");
        }
    }

    #[cfg(feature = "json")]
    #[test]
    fn json_reads_the_same() {
        let value = serde_json::json!({"a\u{2028}": "\u{1b}##[x] ::y \u{e0041}\u{202e}\u{9b}\n\"\\"});
        let text = visible_json(&value.to_string());
        assert!(text.is_ascii(), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("the text is JSON"), value);
    }
}

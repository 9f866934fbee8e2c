//! Reads notes from a separate file. A note states what happened, and when, while a history was recorded.
//!
//! The file is a table whose cells are separated by commas, tabs, semicolons or vertical bars. Its column `time` has
//! numbers in the unit of the history's times, or ISO 8601 dates, which are converted to nanoseconds since 1970. The
//! text of a note consists of its cells in the other columns.

use std::io::{BufRead, Read};

use super::super::Value;
use super::field::Parsed;
use super::{CodecError, LONGEST_LINE, mapping, table};

/// A note about something that happened while a history was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The time, on the clock of the history.
    pub time: i64,
    /// The text of the note.
    pub text: String,
}

/// Reads notes, and sorts them by time.
///
/// ```
/// use trueline::history::codec::notes;
///
/// let notes = notes(&b"time,node,event\n30,n1,restarted\n12,n1,killed\n"[..])?;
/// assert_eq!((notes[0].time, notes[0].text.as_str()), (12, "n1 killed"));
/// # Ok::<(), trueline::history::codec::CodecError>(())
/// ```
///
/// # Errors
/// Fails if the file is not a table with a column `time`, or if a time cannot be read.
pub fn notes(mut input: impl BufRead) -> Result<Vec<Note>, CodecError> {
    let mut first = Vec::new();
    (&mut input).take(LONGEST_LINE as u64).read_until(b'\n', &mut first).map_err(|error| CodecError::io(0, error))?;
    let separator = table::separator(&String::from_utf8_lossy(&first));
    let mut rows = table::Rows::new(first.as_slice().chain(input), separator);
    let mut cells = Vec::new();
    let Some(line) = rows.next(&mut cells)? else { return Ok(Vec::new()) };
    let header: Vec<String> = cells.iter().map(|name| name.trim().to_owned()).collect();
    let Some(time_column) = header.iter().position(|name| name == "time") else {
        let message = "the notes have no column `time`; name the columns in the first row, such as time,event";
        return Err(CodecError::at(line, message));
    };
    let mut notes = Vec::new();
    while let Some(line) = rows.next(&mut cells)? {
        if cells.len() != header.len() {
            let message = format!(
                "the row has {} cells, but there are {} columns; write one cell for each column, or put cells that \
                 contain separators in quotation marks",
                cells.len(),
                header.len()
            );
            return Err(CodecError::at(line, message));
        }
        let cell: Parsed = Ok(Value::from(cells[time_column].trim()));
        let time = match mapping::plain_time(&cell) {
            Ok(Ok(Value::Int(time))) => time,
            Ok(_) => return Err(CodecError::at(line, "the time does not fit in 64 bits; write it in larger units")),
            Err(_) => {
                let message =
                    "the time is neither an integer nor an ISO 8601 time such as 2026-01-31T08:15:00.25Z; correct it";
                return Err(CodecError::at(line, message));
            }
        };
        let others = cells.iter().enumerate().filter(|(column, cell)| *column != time_column && !cell.is_empty());
        let text: Vec<&str> = others.map(|(_, cell)| cell.trim()).collect();
        notes.push(Note { time, text: text.join(" ") });
    }
    notes.sort_by_key(|note| note.time);
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_sorted_and_errors_have_lines() {
        let read = notes(&b"event\ttime\nlate\t2026-01-31T08:15:00Z\nearly\t -5\n"[..]).expect("two notes");
        let times: Vec<(i64, &str)> = read.iter().map(|note| (note.time, note.text.as_str())).collect();
        assert_eq!(times, [(-5, "early"), (1_769_847_300_000_000_000, "late")]);
        assert_eq!(notes(&b""[..]).expect("no notes"), []);
        for (text, expected) in [
            ("a,b\n1,2\n", "line 1: the notes have no column `time`"),
            ("time,b\n\n1\n", "line 3: the row has 1 cells"),
            ("time,b\n1.5,x\n", "line 2: the time is neither"),
            ("time,b\nnoon,x\n", "line 2: the time is neither"),
        ] {
            let error = notes(text.as_bytes()).expect_err(text).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

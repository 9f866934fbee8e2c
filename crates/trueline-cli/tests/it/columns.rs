//! Tests files of typed columns that declare far more than they contain.

use super::{Scratch, run};

// Types of Thrift's compact protocol, in which Parquet describes pages and columns.
const INT: u8 = 5;
const LONG: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(0x80 | u8::try_from(number & 0x7f).expect("seven bits"));
        number >>= 7;
    }
    bytes.push(u8::try_from(number).expect("seven bits"));
    bytes
}

/// Returns a number that is not negative; numbers with a sign are stored doubled.
fn int(number: u64) -> Vec<u8> {
    varint(number * 2)
}

fn binary(bytes: &[u8]) -> Vec<u8> {
    [varint(bytes.len() as u64), bytes.to_vec()].concat()
}

/// Returns a list that declares `count` items.
fn list(kind: u8, count: u64, items: &[Vec<u8>]) -> Vec<u8> {
    [vec![0xf0 | kind], varint(count), items.concat()].concat()
}

/// Returns a struct of fields, each with its number and type.
fn fields(fields: &[(u8, u8, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last = 0;
    for (number, kind, value) in fields {
        bytes.push((number - last) << 4 | kind);
        bytes.extend_from_slice(value);
        last = *number;
    }
    bytes.push(0);
    bytes
}

/// The largest count that a description can declare.
const MOST: u64 = (1 << 31) - 1;

/// What a file declares.
#[derive(Clone, Copy)]
struct Declared {
    /// The rows of its only group, and of the pages.
    rows: (u64, u64),
    groups: u64,
    columns: u64,
    /// The compression, and the length of a page after it is decompressed; `None` for the real length.
    compression: u64,
    length: Option<u64>,
}

const HONEST: Declared = Declared { rows: (1, 1), groups: 1, columns: 5, compression: 0, length: None };

const SNAPPY: u64 = 1;
const LZ4_RAW: u64 = 7;

/// Returns a Parquet file whose rows are equal: a read that returned 0.
fn parquet(declared: Declared) -> Vec<u8> {
    let Declared { rows, groups, columns: children, compression, length } = declared;
    let stored = |bytes: &[u8]| {
        // One literal, after the length with snappy.
        let literal = u8::try_from(bytes.len() - 1).expect("short") << 2;
        match compression {
            SNAPPY => [varint(length.unwrap_or(bytes.len() as u64)), vec![literal], bytes.to_vec()].concat(),
            _ => bytes.to_vec(),
        }
    };
    let page = |kind: u64, bytes: &[u8], header: (u8, u8, Vec<u8>)| {
        let content = stored(bytes);
        let length = length.unwrap_or(bytes.len() as u64);
        let sizes = [(1, INT, int(kind)), (2, INT, int(length)), (3, INT, int(content.len() as u64))];
        [fields(&[&sizes[..], &[header]].concat()), content].concat()
    };
    let mut content = b"PAR1".to_vec();
    let mut schema = vec![fields(&[(4, BINARY, binary(b"history")), (5, INT, int(children))])];
    let mut columns = Vec::new();
    let long = |number: u64| number.to_le_bytes().to_vec();
    for (name, kind, value) in [
        ("process", 2, long(0)),
        ("f", 6, [&[4, 0, 0, 0][..], b"read"].concat()),
        ("result", 2, long(0)),
        ("call", 2, long(1)),
        ("return", 2, long(2)),
    ] {
        schema.push(fields(&[(1, INT, int(kind)), (3, INT, int(0)), (4, BINARY, binary(name.as_bytes()))]));
        let start = content.len() as u64;
        content.extend(page(2, &value, (7, STRUCT, fields(&[(1, INT, int(1)), (2, INT, int(0))]))));
        let data = content.len() as u64;
        // All rows refer to the first value of the dictionary.
        let run = [vec![1], varint(rows.1 * 2), vec![0]].concat();
        let header = [(1, INT, int(rows.1)), (2, INT, int(8)), (3, INT, int(3)), (4, INT, int(3))];
        content.extend(page(0, &run, (5, STRUCT, fields(&header))));
        let size = content.len() as u64 - start;
        let column = fields(&[
            (1, INT, int(kind)),
            (2, LIST, list(INT, 2, &[int(0), int(8)])),
            (3, LIST, list(BINARY, 1, &[binary(name.as_bytes())])),
            (4, INT, int(compression)),
            (5, LONG, int(rows.0)),
            (6, LONG, int(size)),
            (7, LONG, int(size)),
            (9, LONG, int(data)),
            (11, LONG, int(start)),
        ]);
        columns.push(fields(&[(2, LONG, int(start)), (3, STRUCT, column)]));
    }
    let group = fields(&[
        (1, LIST, list(STRUCT, columns.len() as u64, &columns)),
        (2, LONG, int(content.len() as u64)),
        (3, LONG, int(rows.0)),
    ]);
    let description = fields(&[
        (1, INT, int(1)),
        (2, LIST, list(STRUCT, schema.len() as u64, &schema)),
        (3, LONG, int(rows.0)),
        (4, LIST, list(STRUCT, groups, &[group])),
    ]);
    content.extend_from_slice(&description);
    content.extend_from_slice(&u32::try_from(description.len()).expect("short").to_le_bytes());
    content.extend_from_slice(b"PAR1");
    content
}

/// A file may declare any number of rows, groups, columns and bytes. It must neither abort the process nor take more
/// memory than the limit.
#[test]
fn parquet_files_that_declare_too_much_are_refused() {
    let scratch = Scratch::new("columns");
    let limits = ["--memory", "64MiB", "--timeout", "20s"];
    for (name, declared, code, message) in [
        ("honest", HONEST, 0, ""),
        ("snappy", Declared { compression: SNAPPY, ..HONEST }, 0, ""),
        ("rows of the group", Declared { rows: (MOST << 9, 1), ..HONEST }, 2, "too few rows"),
        ("rows of pages", Declared { rows: (MOST, MOST), ..HONEST }, 3, "the memory limit was reached"),
        ("groups", Declared { groups: MOST, ..HONEST }, 2, "not a complete Parquet file"),
        ("columns", Declared { columns: MOST, ..HONEST }, 2, "not a complete Parquet file"),
        (
            "page of snappy",
            Declared { compression: SNAPPY, length: Some(MOST), ..HONEST },
            2,
            "not a complete Parquet file",
        ),
        (
            "page of LZ4",
            Declared { compression: LZ4_RAW, length: Some(MOST), ..HONEST },
            2,
            "not a complete Parquet file",
        ),
    ] {
        let file = scratch.file(&format!("{name}.parquet"), parquet(declared));
        let judged = run(&[&["check", "--spec", "register:0", &file], &limits[..]].concat());
        assert_eq!(judged.code, code, "{name}: {judged:?}");
        assert!(judged.stdout.contains(message) || judged.stderr.contains(message), "{name}: {judged:?}");
    }
}

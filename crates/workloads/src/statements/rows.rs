//! The rows of a user's table as bytes. A row follows from the seed, the table's name and its number alone, so it is the
//! same whoever loads it, in whatever order and by whatever method.

use plimsoll_core::plan::TablePlan;
use plimsoll_core::random::{keyed, unit};
use plimsoll_session::{Kept, Value};

use super::generate::{Maker, push_int};
use super::table::fnv1a;

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A line of LOAD DATA: tabs between values, `\N` for NULL, backslashes before what would be misunderstood.
    Line,
    /// A row of INSERT, with a comma after it.
    Tuple,
}

/// Writes the rows of one table.
pub struct TableRows {
    seed: u64,
    stream: u64,
    columns: Vec<(f64, Maker)>,
}

impl TableRows {
    /// The rows of a table without faults.
    pub fn new(table: &TablePlan, seed: u64) -> Self {
        let maker = |column: &plimsoll_core::plan::ColumnPlan| (column.null_ratio, Maker::new(&column.generator));
        Self {
            seed,
            stream: fnv1a(table.name.as_bytes()),
            columns: table.columns.iter().map(maker).collect(),
        }
    }

    /// Bytes of the longest row in any style: in hexadecimal each byte takes two.
    pub fn bytes_max(&self) -> usize {
        self.columns
            .iter()
            .map(|(_, maker)| 2 * maker.bytes_max() + 4)
            .sum::<usize>()
            + 3
    }

    /// Appends row `row`, counted from 0. `kept` is memory to work in.
    pub fn push(&self, row: u32, style: Style, kept: &mut Kept, out: &mut Vec<u8>) {
        let mut random = keyed(self.seed, self.stream, u64::from(row));
        let (before, between, after) = match style {
            Style::Line => (&b""[..], b'\t', &b"\n"[..]),
            Style::Tuple => (&b"("[..], b',', &b"),"[..]),
        };
        out.extend_from_slice(before);
        for (place, (null_ratio, maker)) in self.columns.iter().enumerate() {
            if place > 0 {
                out.push(between);
            }
            if *null_ratio > 0.0 && unit(&mut random) < *null_ratio {
                kept.set_null();
            } else {
                maker.make(i64::from(row), &mut random, kept);
            }
            push_value(kept.value(), style, out);
        }
        out.extend_from_slice(after);
    }
}

fn push_value(value: Value<'_>, style: Style, out: &mut Vec<u8>) {
    match (value, style) {
        (Value::Null, Style::Line) => out.extend_from_slice(b"\\N"),
        (Value::Null, Style::Tuple) => out.extend_from_slice(b"NULL"),
        (Value::Int(int), _) => push_int(int, out),
        (Value::Text(text), _) => push_bytes(text.as_bytes(), style, out),
        (Value::Bytes(bytes), _) => push_bytes(bytes, style, out),
    }
}

fn push_bytes(bytes: &[u8], style: Style, out: &mut Vec<u8>) {
    match style {
        Style::Line => bytes.iter().for_each(|byte| push_escaped(*byte, out)),
        Style::Tuple => push_literal(bytes, out),
    }
}

fn push_escaped(byte: u8, out: &mut Vec<u8>) {
    let escaped = match byte {
        b'\\' => b'\\',
        b'\t' => b't',
        b'\n' => b'n',
        0 => b'0',
        _ => return out.push(byte),
    };
    out.extend_from_slice(&[b'\\', escaped]);
}

/// In hexadecimal where a backslash or a control character could mean something else under some `sql_mode`.
fn push_literal(bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.iter().any(|byte| *byte == b'\\' || *byte < b' ') {
        const DIGITS: &[u8] = b"0123456789ABCDEF";
        out.extend_from_slice(b"X'");
        for byte in bytes {
            out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    } else {
        out.push(b'\'');
        for byte in bytes {
            if *byte == b'\'' {
                out.push(b'\'');
            }
            out.push(*byte);
        }
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, null_ratio: f64) -> TableRows {
        let json = format!(
            r#"{{"name":"{name}","rows":9,"primary_key":[],"indexes":[],"columns":[
            {{"name":"id","sql_type":"INT","nullable":false,"auto_increment":false,"null_ratio":0,
              "generator":{{"kind":"sequence","first":1,"step":1}}}},
            {{"name":"c","sql_type":"TEXT","nullable":true,"auto_increment":false,"null_ratio":{null_ratio},
              "generator":{{"kind":"choice","values":["it's","a\tb\\"],"weights":[1,1]}}}}]}}"#
        );
        TableRows::new(&serde_json::from_str(&json).unwrap(), 1)
    }

    fn row(rows: &TableRows, number: u32, style: Style) -> String {
        let mut out = Vec::new();
        rows.push(number, style, &mut Kept::default(), &mut out);
        assert!(out.len() <= rows.bytes_max(), "{} > {}", out.len(), rows.bytes_max());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn hostile_values_are_quoted_in_both_styles() {
        let rows = table("t", 0.0);
        let seen = |style| -> Vec<String> { (0..20).map(|n| row(&rows, n, style)).collect() };
        let lines = seen(Style::Line).concat();
        assert!(lines.contains("\tit's\n") && lines.contains("\ta\\tb\\\\\n"), "{lines}");
        let tuples = seen(Style::Tuple).concat();
        assert!(
            tuples.contains(",'it''s'),") && tuples.contains(",X'6109625C'),"),
            "{tuples}"
        );
    }

    #[test]
    fn nulls_come_as_often_as_asked_for() {
        let rows = table("t", 0.3);
        let nulls = (0..10_000)
            .filter(|n| row(&rows, *n, Style::Line).ends_with("\t\\N\n"))
            .count();
        assert!((2_850..3_150).contains(&nulls), "{nulls}");
        assert!((0..99).any(|n| row(&rows, n, Style::Tuple).ends_with(",NULL),")));
    }

    #[test]
    fn rows_differ_by_table() {
        let contents = |rows: &TableRows| -> Vec<String> { (0..30).map(|n| row(rows, n, Style::Line)).collect() };
        assert_ne!(contents(&table("t", 0.0)), contents(&table("u", 0.0)));
        assert_eq!(contents(&table("t", 0.0)), contents(&table("t", 0.0)));
    }
}

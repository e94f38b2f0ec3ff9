//! The rows of a user's table as bytes. A row follows from the seed, the table's name and its number alone, so it is the
//! same whoever loads it, in whatever order and by whatever method.

use std::io::Write as _;

use plimsoll_core::plan::{ColumnPlan, TablePlan};
use plimsoll_core::random::{keyed, unit};
use plimsoll_session::{Captured, Value};

use super::canonical::Canonical;
use crate::custom::format::push_int;
use crate::custom::generator::Generator;
use crate::fingerprint::fnv1a;
use crate::loading::row::{RowWriter, Style};

/// Writes the rows of one table.
pub struct TableRows {
    seed: u64,
    stream: u64,
    columns: Vec<Column>,
}

struct Column {
    null_ratio: f64,
    generator: Generator,
    /// How the server returns its values, where that is known.
    canonical: Option<Canonical>,
}

impl TableRows {
    /// The rows of a table without faults.
    pub fn new(table: &TablePlan, seed: u64) -> Self {
        let column = |column: &ColumnPlan| Column {
            null_ratio: column.null_ratio,
            generator: Generator::new(&column.generator),
            canonical: Canonical::of(column),
        };
        Self {
            seed,
            stream: fnv1a(table.name.as_bytes()),
            columns: table.columns.iter().map(column).collect(),
        }
    }

    /// Bytes of the longest row in any style: in hexadecimal each byte takes two.
    pub fn bytes_max(&self) -> usize {
        self.columns
            .iter()
            .map(|column| 2 * column.generator.bytes_max() + 4)
            .sum::<usize>()
            + 3
    }

    /// Appends row `row`, counted from 0: a line of LOAD DATA has tabs between values, `\N` for NULL and backslashes before
    /// what would be misunderstood. `memory` is to work in.
    pub fn push(&self, row: u32, style: Style, memory: &mut Captured, out: &mut Vec<u8>) {
        let mut line = RowWriter::new(style, out);
        line.begin();
        self.each(row, memory, |column, value| match (style, column.canonical) {
            (Style::Content, None) => {}
            (Style::Content, Some(canonical)) => push_content(value, canonical, &mut line),
            (Style::Line | Style::Tuple, _) => push_value(value, &mut line),
        });
        line.end();
    }

    /// Appends the values of these columns of a row, in the order in which they are given, as SQL in parentheses.
    pub fn push_key(&self, row: u32, columns: &[usize], memory: &mut Captured, out: &mut Vec<u8>) {
        let mut values = vec![Vec::new(); self.columns.len()];
        let mut position = 0;
        self.each(row, memory, |_, value| {
            if columns.contains(&position) {
                push_value(value, &mut RowWriter::new(Style::Tuple, &mut values[position]));
            }
            position += 1;
        });
        let values: Vec<&[u8]> = columns.iter().map(|position| &values[*position][..]).collect();
        out.push(b'(');
        out.extend_from_slice(&values.join(&b','));
        out.push(b')');
    }

    /// Makes the values of row `row`, column by column.
    fn each(&self, row: u32, memory: &mut Captured, mut take: impl FnMut(&Column, Value<'_>)) {
        let mut random = keyed(self.seed, self.stream, u64::from(row));
        for column in &self.columns {
            if column.null_ratio > 0.0 && unit(&mut random) < column.null_ratio {
                memory.set_null();
            } else {
                column.generator.generate(i64::from(row), &mut random, memory);
            }
            take(column, memory.value());
        }
    }
}

fn push_content(value: Value<'_>, canonical: Canonical, row: &mut RowWriter<'_>) {
    if value == Value::Null {
        return row.null();
    }
    row.text_by(|out| {
        let from = out.len();
        match value {
            Value::Null => {}
            Value::Int(int) => push_int(int, out),
            Value::Double(double) => push_double(double, out),
            Value::Text(text) => out.extend_from_slice(text.as_bytes()),
            Value::Bytes(bytes) => out.extend_from_slice(bytes),
        }
        canonical.adapt(from, out);
    });
}

fn push_double(double: f64, out: &mut Vec<u8>) {
    write!(out, "{double:?}").expect("a vector takes all that is written");
}

fn push_value(value: Value<'_>, row: &mut RowWriter<'_>) {
    match value {
        Value::Null => row.null(),
        Value::Int(int) => row.number_by(|out| push_int(int, out)),
        Value::Double(double) => row.number_by(|out| push_double(double, out)),
        Value::Text(text) => row.bytes(text.as_bytes()),
        Value::Bytes(bytes) => row.bytes(bytes),
    }
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
        rows.push(number, style, &mut Captured::default(), &mut out);
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

//! Prepared statements without the server: values are put into the text, as sysbench does it.

use std::io::Write as _;

use plimsoll_wire::Value;

/// A text between whose parts values stand.
pub struct Parts {
    text: Vec<u8>,
    /// Where the `?` are, those within literals included.
    marks: Vec<usize>,
}

impl Parts {
    /// Finds each `?`.
    pub fn new(text: &[u8]) -> Self {
        let marks = text.iter().enumerate().filter(|(_, byte)| **byte == b'?');
        Self {
            marks: marks.map(|(at, _)| at).collect(),
            text: text.to_vec(),
        }
    }

    /// How many values it takes.
    pub fn count(&self) -> usize {
        self.marks.len()
    }

    /// The text with these values, NULL for those that are missing.
    pub fn with(&self, values: &[Value<'_>]) -> Vec<u8> {
        let mut sql = Vec::with_capacity(self.text.len() + 16 * values.len());
        let mut from = 0;
        for (place, mark) in self.marks.iter().enumerate() {
            sql.extend_from_slice(&self.text[from..*mark]);
            push(values.get(place).copied().unwrap_or(Value::Null), &mut sql);
            from = mark + 1;
        }
        sql.extend_from_slice(&self.text[from..]);
        sql
    }
}

fn push(value: Value<'_>, sql: &mut Vec<u8>) {
    match value {
        Value::Null => sql.extend_from_slice(b"NULL"),
        Value::Int(int) => write!(sql, "{int}").expect("a vector takes all that is written"),
        Value::Double(double) => write!(sql, "{double:.6}").expect("a vector takes all that is written"),
        Value::Text(text) => push_quoted(text.as_bytes(), sql),
        Value::Bytes(bytes) => push_quoted(bytes, sql),
    }
}

fn push_quoted(bytes: &[u8], sql: &mut Vec<u8>) {
    sql.push(b'\'');
    sql.extend_from_slice(bytes);
    sql.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_mark_becomes_a_value() {
        let parts = Parts::new(b"SELECT ?, ?, '?', ? FROM t");
        let sql = parts.with(&[Value::Int(-1), Value::Double(0.5), Value::Bytes(b"x")]);
        assert_eq!(
            String::from_utf8(sql).unwrap(),
            "SELECT -1, 0.500000, ''x'', NULL FROM t"
        );
        assert_eq!((parts.count(), Parts::new(b"").with(&[])), (4, vec![]));
    }
}

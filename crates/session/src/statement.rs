//! The statements of a workload as data, and how one is written as text with its values in it.
//!
//! Deliberately not here: running them.

use std::fmt::Write as _;

use plimsoll_wire::Value;

/// A statement of a workload, by its place in [`Statements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatementId(pub usize);

/// All statements that a workload may run, shared by its connections. Values go where the texts have `?`; the texts
/// themselves have no other question mark, not even quoted.
#[derive(Debug)]
pub struct Statements {
    texts: Vec<String>,
    prepared: bool,
    opening: Vec<String>,
}

impl Statements {
    /// Statements that are prepared on the server when first used, or else sent as text each time.
    pub fn new(texts: Vec<String>, prepared: bool) -> Self {
        Self {
            texts,
            prepared,
            opening: Vec::new(),
        }
    }

    /// The same with a statement that each connection runs, as text, when it was opened.
    #[must_use]
    pub fn with_opening(mut self, sql: String) -> Self {
        self.opening.push(sql);
        self
    }

    /// What each connection runs when it was opened.
    pub(crate) fn opening(&self) -> &[String] {
        &self.opening
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.texts.len()
    }

    /// Whether they are prepared on the server.
    pub fn prepared(&self) -> bool {
        self.prepared
    }

    /// The text of one, as the server prepares it.
    pub fn text(&self, id: StatementId) -> &str {
        &self.texts[id.0]
    }

    /// Writes the text of one into `sql`, with `values` in place of the question marks.
    pub(crate) fn render(&self, id: StatementId, values: &[Value<'_>], sql: &mut String) {
        sql.clear();
        let mut pieces = self.text(id).split('?');
        sql.push_str(pieces.next().unwrap_or_default());
        let mut values = values.iter();
        for piece in pieces {
            push_literal(values.next().expect("a value for each question mark"), sql);
            sql.push_str(piece);
        }
        assert!(
            values.next().is_none(),
            "more values than question marks in {}",
            self.text(id)
        );
    }
}

fn push_literal(value: &Value<'_>, sql: &mut String) {
    match value {
        Value::Null => sql.push_str("NULL"),
        Value::Int(number) => sql.push_str(itoa::Buffer::new().format(*number)),
        Value::Double(number) => write!(sql, "{number:?}").expect("a string takes all that is written"),
        Value::Text(text) => push_text(text, sql),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => push_text(text, sql),
            Err(_) => push_hexadecimal(bytes, sql),
        },
    }
}

/// Quotes by doubling. What a backslash means depends on the server's `sql_mode`, so text with one (or with a control
/// character) is written in hexadecimal, which means the same under every mode.
fn push_text(text: &str, sql: &mut String) {
    if text.bytes().any(|byte| byte == b'\\' || byte < b' ') {
        return push_hexadecimal(text.as_bytes(), sql);
    }
    sql.push('\'');
    let mut parts = text.split('\'');
    sql.push_str(parts.next().unwrap_or_default());
    for part in parts {
        sql.push_str("''");
        sql.push_str(part);
    }
    sql.push('\'');
}

fn push_hexadecimal(bytes: &[u8], sql: &mut String) {
    sql.push_str("X'");
    for byte in bytes {
        write!(sql, "{byte:02X}").expect("a string takes all that is written");
    }
    sql.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rendered(text: &str, values: &[Value<'_>]) -> String {
        let statements = Statements::new(vec![text.to_owned()], false);
        let mut sql = "left over".to_owned();
        statements.render(StatementId(0), values, &mut sql);
        sql
    }

    #[test]
    fn values_take_the_place_of_question_marks() {
        let sql = rendered(
            "INSERT INTO t VALUES (?, ?, ?)",
            &[Value::Int(-7), Value::Text("a-b"), Value::Null],
        );
        assert_eq!(sql, "INSERT INTO t VALUES (-7, 'a-b', NULL)");
        assert_eq!(rendered("BEGIN", &[]), "BEGIN");
    }

    #[test]
    fn quotes_are_doubled_and_backslashes_never_reach_the_parser() {
        assert_eq!(rendered("?", &[Value::Text("it's ?")]), "'it''s ?'");
        assert_eq!(rendered("?", &[Value::Text("\\'")]), "X'5C27'");
        assert_eq!(rendered("?", &[Value::Text("\0")]), "X'00'");
        assert_eq!(rendered("?", &[Value::Bytes(b"it's")]), "'it''s'");
        assert_eq!(rendered("?", &[Value::Bytes(b"\xff'")]), "X'FF27'");
    }

    proptest! {
        #[test]
        fn no_text_can_end_its_literal_early(text in any::<String>()) {
            let sql = rendered("?", &[Value::Text(&text)]);
            let inner = sql.trim_start_matches('X').strip_prefix('\'').and_then(|s| s.strip_suffix('\'')).unwrap();
            prop_assert!(!inner.replace("''", "").contains(['\'', '\\']), "{}", sql);
        }
    }
}

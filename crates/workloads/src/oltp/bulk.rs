//! The statement of `bulk_insert`: as many rows as fit into 512 KiB, each with the same number as id and as k.

use crate::text::push_number;

/// Bytes in one statement.
const STATEMENT_BYTES: usize = 512 * 1024;

/// Room for the text before the rows.
const BEGIN_BYTES: usize = 64;

/// The longest row with its comma: `(2147483647,2147483647),`.
const ROW_BYTES_MAX: usize = 2 * 10 + 4;

/// Rows in one statement: always as many as fit when all their numbers are long.
pub const ROWS: u64 = ((STATEMENT_BYTES - BEGIN_BYTES) / ROW_BYTES_MAX) as u64;

/// The statement for readers: its first row, and that more follow.
pub fn outline(table: &str) -> String {
    format!("INSERT INTO {table} VALUES(?,?),... ({ROWS} rows)")
}

/// Writes the statement with the rows from `first` on into `sql`.
pub fn write(table: &str, first: u64, sql: &mut Vec<u8>) {
    sql.clear();
    sql.reserve(STATEMENT_BYTES);
    sql.extend_from_slice(b"INSERT INTO ");
    sql.extend_from_slice(table.as_bytes());
    sql.extend_from_slice(b" VALUES");
    for row in first..first + ROWS {
        sql.push(b'(');
        push_number(row, sql);
        sql.push(b',');
        push_number(row, sql);
        sql.extend_from_slice(b"),");
    }
    sql.pop();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_each_other_and_the_longest_fit() {
        let mut sql = Vec::new();
        write("sbtest7", 1, &mut sql);
        let text = std::str::from_utf8(&sql).unwrap();
        assert!(text.starts_with("INSERT INTO sbtest7 VALUES(1,1),(2,2),(3,3),"));
        assert!(text.ends_with(&format!("({ROWS},{ROWS})")));
        write("sbtest100000", i32::MAX as u64 - ROWS, &mut sql);
        assert!(sql.len() <= STATEMENT_BYTES);
    }
}

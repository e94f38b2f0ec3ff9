//! The tables of users' own workloads: their definition in SQL, and the mark by which Plimsoll knows its own.
//!
//! Deliberately not here: any connection.

use std::fmt::Write as _;

use plimsoll_core::plan::{ColumnPlan, IndexPlan, TablePlan};

/// How far the making of a table came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Rows, indexes or statistics may be missing.
    Loading,
    /// All is there.
    Complete,
}

/// What Plimsoll writes into the comment of a table that it made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Rows when complete.
    pub rows: u64,
    /// What the content follows from.
    pub seed: u64,
    /// A number for its columns, their generators and its indexes.
    pub shape: u64,
    /// How far it came.
    pub state: State,
}

impl Mark {
    const PREFIX: &'static str = "plimsoll statements ";

    /// The mark of a table.
    pub fn new(table: &TablePlan, seed: u64, state: State) -> Self {
        Self {
            rows: table.rows,
            seed,
            shape: shape(table),
            state,
        }
    }

    /// The comment.
    pub fn text(self) -> String {
        let state = match self.state {
            State::Loading => "loading",
            State::Complete => "complete",
        };
        let Self { rows, seed, shape, .. } = self;
        format!(
            "{}rows={rows} seed={seed} shape={shape:016x} state={state}",
            Self::PREFIX
        )
    }

    /// The mark in a comment; `None` when it is none of ours.
    pub fn parse(comment: &str) -> Option<Self> {
        let mut fields = comment.strip_prefix(Self::PREFIX)?.split(' ');
        let mut field = |name: &str| fields.next()?.strip_prefix(name)?.strip_prefix('=');
        Some(Self {
            rows: field("rows")?.parse().ok()?,
            seed: field("seed")?.parse().ok()?,
            shape: u64::from_str_radix(field("shape")?, 16).ok()?,
            state: match field("state")? {
                "loading" => State::Loading,
                "complete" => State::Complete,
                _ => return None,
            },
        })
    }
}

/// A name that the server takes for a name, whatever is in it.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A string that the server takes for a string, whatever is in it and whatever its `sql_mode` says.
pub fn literal(text: &str) -> String {
    let mut sql = "_utf8mb4 X'".to_owned();
    for byte in text.bytes() {
        write!(sql, "{byte:02X}").expect("a string takes all that is written");
    }
    sql.push('\'');
    sql
}

/// Names in quotes, with commas between them.
pub fn quoted_list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    names.join(", ")
}

/// The statement that creates a table, empty and marked as being loaded.
pub fn create_sql(table: &TablePlan, seed: u64) -> String {
    let mut parts: Vec<String> = table.columns.iter().map(column_sql).collect();
    if !table.primary_key.is_empty() {
        parts.push(format!("PRIMARY KEY ({})", quoted_list(&table.primary_key)));
    }
    format!(
        "CREATE TABLE {} ({}) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COMMENT = '{}'",
        quoted(&table.name),
        parts.join(", "),
        Mark::new(table, seed, State::Loading).text()
    )
}

fn column_sql(column: &ColumnPlan) -> String {
    let null = if column.nullable { "NULL" } else { "NOT NULL" };
    let numbered = if column.auto_increment { " AUTO_INCREMENT" } else { "" };
    format!("{} {} {null}{numbered}", quoted(&column.name), column.sql_type)
}

/// The statement that makes all other indexes in one go; `None` when there are none.
pub fn index_sql(table: &TablePlan) -> Option<String> {
    let index = |one: &IndexPlan| {
        let kind = if one.unique { "UNIQUE INDEX" } else { "INDEX" };
        format!("ADD {kind} {} ({})", quoted(&one.name), quoted_list(&one.columns))
    };
    let indexes: Vec<String> = table.indexes.iter().map(index).collect();
    (!indexes.is_empty()).then(|| format!("ALTER TABLE {} {}", quoted(&table.name), indexes.join(", ")))
}

/// Tells definitions apart: the hash (FNV-1a) of the table as it is written in a plan, without its number of rows.
fn shape(table: &TablePlan) -> u64 {
    let without_rows = TablePlan {
        rows: 0,
        ..table.clone()
    };
    fnv1a(&serde_json::to_vec(&without_rows).expect("a table is a plain value"))
}

/// FNV-1a with 64 bits (Fowler, Noll and Vo).
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, rows: u64) -> TablePlan {
        let json = r#"{"name":"","rows":0,"primary_key":["a`b"],"columns":[
            {"name":"a`b","sql_type":"BIGINT","nullable":false,"auto_increment":true,"null_ratio":0,
             "generator":{"kind":"sequence","first":1,"step":1}},
            {"name":"c","sql_type":"VARCHAR(9)","nullable":true,"auto_increment":false,"null_ratio":0.5,
             "generator":{"kind":"characters","alphabet":"digits","length_min":1,"length_max":9}}],
            "indexes":[{"name":"c","columns":["c","a`b"],"unique":true}]}"#;
        TablePlan {
            name: name.to_owned(),
            rows,
            ..serde_json::from_str(json).unwrap()
        }
    }

    #[test]
    fn names_stay_names() {
        let sql = create_sql(&table("x` (y INT); DROP TABLE z; --", 1), 2);
        assert!(
            sql.starts_with(
                "CREATE TABLE `x`` (y INT); DROP TABLE z; --` (`a``b` BIGINT NOT NULL AUTO_INCREMENT, \
                 `c` VARCHAR(9) NULL, PRIMARY KEY (`a``b`)) ENGINE = InnoDB"
            ),
            "{sql}"
        );
        let sql = index_sql(&table("t", 1)).unwrap();
        assert_eq!(sql, "ALTER TABLE `t` ADD UNIQUE INDEX `c` (`c`, `a``b`)");
        assert_eq!(literal("a'\\"), "_utf8mb4 X'61275C'");
    }

    #[test]
    fn a_mark_survives_the_comment_and_tells_shapes_apart() {
        let mark = Mark::new(&table("t", 7), 9, State::Complete);
        assert_eq!(Mark::parse(&mark.text()), Some(mark));
        assert_eq!(mark.shape, Mark::new(&table("t", 8), 9, State::Complete).shape);
        let mut other = table("t", 7);
        other.columns[1].null_ratio = 0.25;
        assert_ne!(mark.shape, Mark::new(&other, 9, State::Complete).shape);
        for comment in [
            "",
            "mine",
            "plimsoll oltp rows=1 seed=2 state=complete",
            "plimsoll statements rows=1",
        ] {
            assert_eq!(Mark::parse(comment), None, "{comment}");
        }
    }
}

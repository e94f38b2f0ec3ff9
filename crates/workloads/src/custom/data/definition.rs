//! The tables of users' own workloads: their definition in SQL, and the mark by which Plimsoll knows its own.
//!
//! Deliberately not here: any connection.

use std::fmt::Write as _;

use plimsoll_core::plan::{ColumnPlan, ForeignKeyPlan, IndexPlan, OnDelete, TablePlan};

use crate::fingerprint::fnv1a;
use crate::loading::mark::{Mark, State};
use crate::loading::table::ForeignKey;

/// What these tables are called in their marks.
pub const KIND: &str = "statements";

/// The mark of a table: its rows, what they follow from, and a number for its columns, their generators and its indexes.
pub fn mark(table: &TablePlan, seed: u64, state: State) -> Mark {
    let made = format!("rows={} seed={seed} shape={:016x}", table.rows, shape(table));
    Mark::new(KIND, made, state)
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
///
/// Its character set is utf8mb4, so that servers of all versions hold the same rows, unless its options name another one:
/// servers refuse two in one statement.
pub fn create_sql(table: &TablePlan, seed: u64) -> String {
    let mut parts: Vec<String> = table.columns.iter().map(column_sql).collect();
    if !table.primary_key.is_empty() {
        parts.push(format!("PRIMARY KEY ({})", quoted_list(&table.primary_key)));
    }
    format!(
        "CREATE TABLE {} ({}) ENGINE = InnoDB {}{} COMMENT = '{}'",
        quoted(&table.name),
        parts.join(", "),
        if names_character_set(&table.table_options) {
            ""
        } else {
            "DEFAULT CHARSET = utf8mb4 "
        },
        table.table_options,
        mark(table, seed, State::Loading).text()
    )
}

/// Whether options of CREATE TABLE name a character set, or a collation, which is one of a character set.
fn names_character_set(options: &str) -> bool {
    let options = options.to_ascii_uppercase();
    ["CHARSET", "CHARACTER SET", "COLLATE"]
        .iter()
        .any(|word| options.contains(word))
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
        format!("ADD {kind} {} ({})", quoted(&one.name), index_columns(one))
    };
    let indexes: Vec<String> = table.indexes.iter().map(index).collect();
    (!indexes.is_empty()).then(|| format!("ALTER TABLE {} {}", quoted(&table.name), indexes.join(", ")))
}

/// The columns of an index, each with how much of it is indexed.
fn index_columns(index: &IndexPlan) -> String {
    let lengths = index.lengths.iter().copied().chain(std::iter::repeat(0));
    let column = |(name, length): (&String, u32)| match length {
        0 => quoted(name),
        _ => format!("{}({length})", quoted(name)),
    };
    let columns: Vec<String> = index.columns.iter().zip(lengths).map(column).collect();
    columns.join(", ")
}

/// A foreign key of a table as statements have it.
pub fn foreign_key(table: &TablePlan, plan: &ForeignKeyPlan) -> ForeignKey {
    let on_delete = match plan.on_delete {
        OnDelete::Restrict => "RESTRICT",
        OnDelete::Cascade => "CASCADE",
        OnDelete::SetNull => "SET NULL",
    };
    let (name, referred) = (quoted(&plan.name), quoted(&plan.table));
    let columns: Vec<String> = plan.columns.iter().map(|one| format!("own.{}", quoted(one))).collect();
    let pairs = columns.iter().zip(&plan.references);
    let same: Vec<String> = pairs
        .map(|(own, other)| format!("{own} = other.{}", quoted(other)))
        .collect();
    let given: Vec<String> = columns.iter().map(|own| format!("{own} IS NOT NULL")).collect();
    ForeignKey {
        name: plan.name.clone(),
        add_sql: format!(
            "ADD CONSTRAINT {name} FOREIGN KEY ({}) REFERENCES {referred} ({}) ON DELETE {on_delete}",
            quoted_list(&plan.columns),
            quoted_list(&plan.references)
        ),
        orphan_sql: format!(
            "SELECT {} FROM {} own WHERE {} AND NOT EXISTS (SELECT 1 FROM {referred} other WHERE {}) LIMIT 1",
            columns.join(", "),
            quoted(&table.name),
            given.join(" AND "),
            same.join(" AND ")
        ),
        label: format!(
            "{} ({}) refers to {} ({})",
            table.name,
            plan.columns.join(", "),
            plan.table,
            plan.references.join(", ")
        ),
    }
}

/// Tells definitions apart: the hash (FNV-1a) of the table as it is written in a plan, without its number of rows.
fn shape(table: &TablePlan) -> u64 {
    let without_rows = TablePlan {
        rows: 0,
        ..table.clone()
    };
    fnv1a(&serde_json::to_vec(&without_rows).expect("a table is a plain value"))
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
    fn what_is_not_given_is_not_written_so_that_marks_stay() {
        let expected = r#"{"name":"t","rows":0,"columns":[{"name":"a`b","sql_type":"BIGINT","nullable":false,"#
            .to_owned()
            + r#""auto_increment":true,"null_ratio":0.0,"generator":{"kind":"sequence","first":1,"step":1}},"#
            + r#"{"name":"c","sql_type":"VARCHAR(9)","nullable":true,"auto_increment":false,"null_ratio":0.5,"#
            + r#""generator":{"kind":"characters","alphabet":"digits","length_min":1,"length_max":9}}],"#
            + r#""primary_key":["a`b"],"indexes":[{"name":"c","columns":["c","a`b"],"unique":true}]}"#;
        assert_eq!(serde_json::to_string(&table("t", 0)).unwrap(), expected);
    }

    #[test]
    fn prefixes_and_foreign_keys_keep_names_as_names() {
        let mut one = table("t", 1);
        one.indexes[0].lengths = vec![3, 0];
        assert_eq!(
            index_sql(&one).unwrap(),
            "ALTER TABLE `t` ADD UNIQUE INDEX `c` (`c`(3), `a``b`)"
        );
        let key = r#"{"name":"k`","columns":["c","a`b"],"table":"o`t","references":["x","y"],"on_delete":"set_null"}"#;
        let key = foreign_key(&one, &serde_json::from_str(key).unwrap());
        let added = "ADD CONSTRAINT `k``` FOREIGN KEY (`c`, `a``b`) REFERENCES `o``t` (`x`, `y`) ON DELETE SET NULL";
        assert_eq!(key.add_sql, added);
        assert_eq!(
            key.orphan_sql,
            "SELECT own.`c`, own.`a``b` FROM `t` own WHERE own.`c` IS NOT NULL AND own.`a``b` IS NOT NULL AND NOT EXISTS \
             (SELECT 1 FROM `o``t` other WHERE own.`c` = other.`x` AND own.`a``b` = other.`y`) LIMIT 1"
        );
    }

    #[test]
    fn a_character_set_in_the_options_is_the_only_one() {
        let mut one = table("t", 7);
        assert!(create_sql(&one, 9).contains("ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 "));
        for options in ["CHARSET=latin1", "default character set latin1", "COLLATE = latin1_bin"] {
            one.table_options = options.to_owned();
            let sql = create_sql(&one, 9);
            assert!(!sql.contains("utf8mb4"), "{sql}");
            assert!(sql.contains(&format!("InnoDB {options} COMMENT")), "{sql}");
        }
    }

    #[test]
    fn a_mark_survives_the_comment_and_tells_shapes_apart() {
        let complete = |table: &TablePlan| mark(table, 9, State::Complete);
        let usual = complete(&table("t", 7));
        assert_eq!(Mark::parse(KIND, &usual.text()), Some(usual.clone()));
        assert_eq!(usual.number("rows"), Some(7));
        assert!(
            usual.text().starts_with("plimsoll statements rows=7 seed=9 shape="),
            "{usual:?}"
        );
        assert!(usual.text().ends_with(" state=complete"), "{usual:?}");
        assert_eq!(shape(&table("t", 7)), shape(&table("t", 8)));
        let mut other = table("t", 7);
        other.columns[1].null_ratio = 0.25;
        assert_ne!(usual, complete(&other));
        let mut compressed = table("t", 7);
        compressed.table_options = "ROW_FORMAT=COMPRESSED".to_owned();
        assert_ne!(usual, complete(&compressed));
        let sql = create_sql(&compressed, 9);
        assert!(
            sql.contains("utf8mb4 ROW_FORMAT=COMPRESSED COMMENT = 'plimsoll"),
            "{sql}"
        );
    }
}

//! What is wrong with tables.

use std::collections::HashSet;

use plimsoll_core::plan::{ColumnPlan, Generator, TablePlan};

use super::generator;
use crate::loading::options::options_fault;

/// Most tables and most columns of one.
const TABLES_MAX: usize = 10_000;
const COLUMNS_MAX: usize = 1_000;
/// Most rows of a table, which other values choose from.
const ROWS_MAX: u64 = u32::MAX as u64;
/// The longest name that servers take, characters.
const NAME_MAX: usize = 64;

/// Faults of tables, each with its path.
pub fn table_faults(tables: &[TablePlan]) -> Vec<String> {
    let mut faults = Vec::new();
    if tables.len() > TABLES_MAX {
        return vec![format!(
            "data_set.tables: must be at most {TABLES_MAX}, are {}",
            tables.len()
        )];
    }
    faults.extend(repeated("data_set.tables", tables.iter().map(|one| &one.name)));
    for (index, table) in tables.iter().enumerate() {
        let path = format!("data_set.tables[{index}]");
        let found = one_table(table).into_iter().chain(foreign_key_faults(table, tables));
        faults.extend(found.map(|fault| format!("{path}.{fault}")));
    }
    faults
}

fn one_table(table: &TablePlan) -> Vec<String> {
    let mut faults: Vec<String> = name_fault("name", &table.name).into_iter().collect();
    if table.rows > ROWS_MAX {
        faults.push(format!("rows: must be at most {ROWS_MAX}, is {}", table.rows));
    }
    faults.extend(options_fault("table_options", &table.table_options));
    if table.columns.is_empty() || table.columns.len() > COLUMNS_MAX {
        faults.push(format!(
            "columns: must be within 1..={COLUMNS_MAX}, are {}",
            table.columns.len()
        ));
    }
    faults.extend(repeated("columns", table.columns.iter().map(|one| &one.name)));
    for (index, column) in table.columns.iter().enumerate() {
        let found = column_faults(column, table);
        faults.extend(found.iter().map(|fault| format!("columns[{index}].{fault}")));
    }
    faults.extend(unknown("primary_key", &table.primary_key, table));
    let names = table.indexes.iter().map(|one| &one.name);
    faults.extend(repeated("indexes", names.chain([&"PRIMARY".to_owned()])));
    for (index, one) in table.indexes.iter().enumerate() {
        faults.extend(name_fault(&format!("indexes[{index}].name"), &one.name));
        faults.extend(unknown(&format!("indexes[{index}].columns"), &one.columns, table));
        if one.columns.is_empty() {
            faults.push(format!("indexes[{index}].columns: must not be empty"));
        }
        if !one.lengths.is_empty() && one.lengths.len() != one.columns.len() {
            faults.push(format!(
                "indexes[{index}].lengths: must be one for each column, or none"
            ));
        }
    }
    faults
}

fn foreign_key_faults(table: &TablePlan, tables: &[TablePlan]) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, key) in table.foreign_keys.iter().enumerate() {
        let path = format!("foreign_keys[{index}]");
        faults.extend(name_fault(&format!("{path}.name"), &key.name));
        faults.extend(unknown(&format!("{path}.columns"), &key.columns, table));
        if key.columns.is_empty() || key.columns.len() != key.references.len() {
            faults.push(format!("{path}.references: must be one for each of its columns"));
        }
        match tables.iter().find(|one| one.name == key.table) {
            Some(referred) => faults.extend(unknown(&format!("{path}.references"), &key.references, referred)),
            None => faults.push(format!("{path}.table: there is no table {:?}", key.table)),
        }
    }
    faults
}

fn column_faults(column: &ColumnPlan, table: &TablePlan) -> Vec<String> {
    let mut faults: Vec<String> = name_fault("name", &column.name).into_iter().collect();
    let plain = |one: char| one.is_ascii_alphanumeric() || " _,()".contains(one);
    if column.sql_type.is_empty() || !column.sql_type.chars().all(plain) {
        faults.push(format!(
            "sql_type: must be letters, digits, spaces, `_`, `,` and parentheses, is {:?}",
            column.sql_type
        ));
    }
    if column.null_ratio > 0.0 && !column.nullable {
        faults.push("null_ratio: needs nullable".to_owned());
    }
    if column.nullable && table.primary_key.contains(&column.name) {
        faults.push("nullable: is part of the primary key".to_owned());
    }
    let positive = matches!(
        column.generator,
        Generator::Sequence {
            first: 1..,
            step: 1..,
            each: 1,
            cycle: None
        }
    );
    if column.auto_increment && !(positive && table.primary_key.first() == Some(&column.name)) {
        faults.push("auto_increment: belongs to a rising sequence from 1 or more, first in the primary key".to_owned());
    }
    faults.extend(generator::faults(
        &column.generator,
        column.null_ratio,
        Some(table.rows),
    ));
    faults
}

fn name_fault(path: &str, name: &str) -> Option<String> {
    let fits = !name.is_empty()
        && name.chars().count() <= NAME_MAX
        && !name.ends_with(' ')
        && !name.chars().any(char::is_control);
    (!fits).then(|| {
        format!("{path}: must be 1 to {NAME_MAX} characters, no control characters, no space at the end, is {name:?}")
    })
}

/// Servers take names that differ in upper and lower case for the same.
fn repeated<'a>(path: &str, names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen = HashSet::new();
    names
        .filter(|name| !seen.insert(name.to_lowercase()))
        .map(|name| format!("{path}: {name:?} is there twice"))
        .collect()
}

fn unknown(path: &str, names: &[String], table: &TablePlan) -> Vec<String> {
    let mut faults = repeated(path, names.iter());
    let is_there = |name: &&String| table.columns.iter().any(|column| column.name == **name);
    let missing = names.iter().filter(|name| !is_there(name));
    faults.extend(missing.map(|name| format!("{path}: there is no column {name:?}")));
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"{"name":"t","rows":5,"primary_key":["id"],"indexes":[{"name":"i","columns":["c"],
        "unique":false}],"columns":[
        {"name":"id","sql_type":"BIGINT","nullable":false,"auto_increment":true,"null_ratio":0,
         "generator":{"kind":"sequence","first":1,"step":1}},
        {"name":"c","sql_type":"VARCHAR(9)","nullable":true,"auto_increment":false,"null_ratio":0.5,
         "generator":{"kind":"characters","alphabet":"digits","length_min":1,"length_max":9}}]}"#;

    fn found(from: &str, to: &str) -> Vec<String> {
        table_faults(&[serde_json::from_str(&TABLE.replace(from, to)).unwrap()])
    }

    #[test]
    fn what_makes_sense_has_no_faults() {
        assert_eq!(found("", ""), Vec::<String>::new());
    }

    #[test]
    fn each_fault_has_its_path() {
        for (from, to, expected) in [
            (
                r#""name":"t""#,
                r#""name":"""#,
                "data_set.tables[0].name: must be 1 to 64",
            ),
            ("VARCHAR(9)", "VARCHAR(9) DEFAULT 'x'", "columns[1].sql_type: must be"),
            (r#""name":"c""#, r#""name":"ID""#, "columns: \"ID\" is there twice"),
            (
                r#""nullable":true"#,
                r#""nullable":false"#,
                "columns[1].null_ratio: needs",
            ),
            (
                r#""nullable":false"#,
                r#""nullable":true"#,
                "columns[0].nullable: is part",
            ),
            (r#""first":1"#, r#""first":0"#, "columns[0].auto_increment: belongs"),
            (
                r#""first":1"#,
                r#""cycle":9,"first":1"#,
                "columns[0].auto_increment: belongs",
            ),
            (r#"["c"]"#, r#"["d"]"#, "indexes[0].columns: there is no column \"d\""),
            (r#"["c"]"#, "[]", "indexes[0].columns: must not be empty"),
            (r#""name":"i""#, r#""name":"primary""#, "is there twice"),
            (r#""rows":5"#, r#""rows":4294967296"#, "rows: must be at most"),
            (
                r#""unique":false"#,
                r#""unique":false,"lengths":[1,2]"#,
                "indexes[0].lengths: must be one for each",
            ),
            (
                r#""rows":5"#,
                r#""rows":5,"foreign_keys":[{"name":"f","columns":["c"],"table":"u","references":["c"],"on_delete":"restrict"}]"#,
                "foreign_keys[0].table: there is no table \"u\"",
            ),
            (
                r#""rows":5"#,
                r#""rows":5,"foreign_keys":[{"name":"f","columns":["c"],"table":"t","references":["c","d"],"on_delete":"cascade"}]"#,
                "foreign_keys[0].references: must be one for each",
            ),
            (
                r#""rows":5"#,
                r#""rows":5,"foreign_keys":[{"name":"f","columns":["d"],"table":"t","references":["c"],"on_delete":"set_null"}]"#,
                "foreign_keys[0].columns: there is no column \"d\"",
            ),
        ] {
            let found = found(from, to);
            assert!(found.iter().any(|one| one.contains(expected)), "{expected}: {found:?}");
        }
    }

    #[test]
    fn a_table_is_there_once() {
        let table: TablePlan = serde_json::from_str(TABLE).unwrap();
        let other = TablePlan {
            name: "T".to_owned(),
            ..table.clone()
        };
        assert_eq!(table_faults(&[table, other]), ["data_set.tables: \"T\" is there twice"]);
    }
}

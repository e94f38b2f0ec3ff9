//! Looks at tables that may be there: whose they are, their columns, their rows.

use std::collections::BTreeSet;

use plimsoll_core::plan::{Layout, OltpData};
use plimsoll_engine::WorkerFault;
use plimsoll_wire::{Connection, WireError};

use crate::control::{self, CATALOGUE_ROWS_MAX};
use crate::loading::fault::{blame, differs};
use crate::loading::mark::{self, Found};
use crate::oltp::tables::{self, Column, Numbers};

/// What is there under the name of each of these tables.
///
/// # Errors
/// Whatever the server said.
pub fn find(connection: &mut Connection, numbers: Numbers) -> Result<Vec<Found>, WireError> {
    mark::find(connection, tables::KIND, "LIKE 'sbtest%'", numbers.count(), |name| {
        numbers.position(name)
    })
}

/// What statements need of the columns.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Which columns there are.
    pub layout: Layout,
    /// The server gives the ids of new rows.
    pub auto_increment: bool,
}

/// What is wrong with the columns of each of these tables, as far as statements depend on them. Tables that do not exist
/// have no columns, which is wrong too.
///
/// # Errors
/// Whatever the server said.
pub fn column_faults(connection: &mut Connection, numbers: Numbers, needs: Needs) -> Result<Vec<String>, WireError> {
    let sql = "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, EXTRA FROM information_schema.COLUMNS \
               WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE 'sbtest%'";
    let columns = tables::columns(needs.layout);
    let mut seen = vec![Seen::default(); numbers.count()];
    for row in connection.query_rows(sql, CATALOGUE_ROWS_MAX)? {
        let [Some(table), Some(column), Some(kind), extra] = &row[..] else {
            continue;
        };
        let Some(position) = numbers.position(table) else {
            continue;
        };
        let known = columns.iter().position(|(name, kinds)| {
            name.eq_ignore_ascii_case(column) && kinds.iter().any(|one| one.eq_ignore_ascii_case(kind))
        });
        if let Some(known) = known {
            seen[position].columns[known] = true;
        }
        seen[position].counts |= extra.as_deref().is_some_and(|extra| extra.contains("auto_increment"));
    }
    let faults = numbers.iter().zip(&seen);
    Ok(faults
        .filter_map(|(number, seen)| fault(&tables::name(number), columns, needs, *seen))
        .collect())
}

/// What of a table was seen.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    columns: [bool; 4],
    counts: bool,
}

fn fault(name: &str, columns: &[Column], needs: Needs, seen: Seen) -> Option<String> {
    let missing = columns.iter().zip(seen.columns).filter(|(_, seen)| !*seen);
    let missing: Vec<String> = missing
        .map(|((name, kinds), _)| format!("{name} {}", kinds[0]))
        .collect();
    if !missing.is_empty() {
        return Some(format!("{name} has no column {}", missing.join(", ")));
    }
    (needs.auto_increment && !seen.counts).then(|| {
        format!("{name} has no AUTO_INCREMENT: make it with `plimsoll prepare`, or set auto_increment to false")
    })
}

/// Rows of a table as far as its primary key tells at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// Smallest id.
    pub first: i64,
    /// Largest id.
    pub last: i64,
}

/// The smallest and the largest id of a table; `None` when it is empty.
///
/// # Errors
/// Whatever the server said.
pub fn key_range(connection: &mut Connection, number: u32) -> Result<Option<KeyRange>, WireError> {
    let rows = connection.query_rows(&format!("SELECT MIN(id), MAX(id) FROM {}", tables::name(number)), 1)?;
    let ends = rows
        .first()
        .map(|row| (control::number(row, 0), control::number(row, 1)));
    Ok(match ends {
        Some((Some(first), Some(last))) => Some(KeyRange { first, last }),
        _ => None,
    })
}

/// Which of these ids have a row.
///
/// # Errors
/// Whatever the server said.
pub fn present(connection: &mut Connection, number: u32, ids: &BTreeSet<i64>) -> Result<BTreeSet<i64>, WireError> {
    let list: Vec<String> = ids.iter().map(i64::to_string).collect();
    let sql = format!(
        "SELECT id FROM {} WHERE id IN ({})",
        tables::name(number),
        list.join(",")
    );
    let rows = connection.query_rows(&sql, CATALOGUE_ROWS_MAX)?;
    Ok(rows.iter().filter_map(|row| control::number(row, 0)).collect())
}

/// Looks whether a table has its shape, its indexes, and exactly its rows, unless these may be `changing`.
/// Returns how many there are.
///
/// # Errors
/// When it is different, or whatever the server said.
pub fn verify(connection: &mut Connection, number: u32, data: &OltpData, changing: bool) -> Result<u64, WorkerFault> {
    let name = tables::name(number);
    let look = |error: &WireError| blame(error, &format!("look at {name}"));
    let sql = format!(
        "SELECT COLUMN_NAME, COLUMN_KEY FROM information_schema.COLUMNS \
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{name}' ORDER BY ORDINAL_POSITION"
    );
    let columns = connection
        .query_rows(&sql, CATALOGUE_ROWS_MAX)
        .map_err(|error| look(&error))?;
    let columns: Vec<String> = columns.into_iter().map(|row| joined(&row)).collect();
    let (columns, wanted) = (columns.join(", "), tables::keyed_columns(data));
    if columns != wanted {
        let how = format!("has the columns and keys {columns} and not {wanted} (PRI: primary key, MUL: other index)");
        return Err(differs(&name, &how));
    }
    let sql = format!("SELECT COUNT(*), MIN(id), MAX(id) FROM {name}");
    let rows = connection.query_rows(&sql, 1).map_err(|error| look(&error))?;
    let row = rows.first().map_or(&[][..], |row| &row[..]);
    let (found, wanted) = (joined(row), rows_wanted(data.rows_each()));
    if found != wanted && !changing {
        return Err(differs(
            &name,
            &format!("has (number of rows, first id, last id) {found} and not {wanted}"),
        ));
    }
    Ok(control::number(row, 0).unwrap_or_default())
}

fn rows_wanted(count: u64) -> String {
    if count == 0 {
        "0 NULL NULL".to_owned()
    } else {
        format!("{count} 1 {count}")
    }
}

fn joined(row: &[Option<String>]) -> String {
    let fields: Vec<&str> = row.iter().map(|field| field.as_deref().unwrap_or("NULL")).collect();
    fields.join(" ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_column_is_named_with_its_type() {
        let needs = Needs {
            layout: Layout::Sysbench1,
            auto_increment: false,
        };
        let columns = tables::columns(needs.layout);
        let seen = |columns| Seen { columns, counts: false };
        assert_eq!(fault("sbtest2", columns, needs, seen([true; 4])), None);
        let missing = fault("sbtest2", columns, needs, seen([true, false, true, false]));
        assert_eq!(missing.unwrap(), "sbtest2 has no column k int, pad char");
        let counting = Needs {
            auto_increment: true,
            ..needs
        };
        let uncounted = fault("sbtest2", columns, counting, seen([true; 4])).unwrap();
        assert!(uncounted.starts_with("sbtest2 has no AUTO_INCREMENT"), "{uncounted}");
    }
}

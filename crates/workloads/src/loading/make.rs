//! Makes tables: created empty and marked as unfinished, filled by several connections, then indexed, analysed, counted, and
//! marked as complete. Tables that were left unfinished are resumed (see `resume`).
//!
//! Rows go by LOAD DATA LOCAL, written on the fly, where the server allows it, else by multi-row inserts. Each statement
//! commits by itself, since the session's autocommit is on. No other setting is touched, not even of the session: switching
//! off `unique_checks` and `foreign_key_checks` saves nothing on tables without unique indexes and foreign keys, and makes
//! MariaDB lock the whole table, so that two loaders of one table end in a deadlock.

use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_core::fault::FaultKind;
use plimsoll_core::message::FailureClass;
use plimsoll_engine::WorkerFault;
use plimsoll_session::Reply;
use plimsoll_wire::{Connection, WireError};

use super::content::leading_rows;
use super::fault::{blame, run};
use super::foreign_keys;
use super::mark::State;
use super::pool::{LoaderPool, Meter};
use super::resume::{self, Rest};
use super::row::{LINE_FORMAT, Style};
use super::sending::{ATTEMPTS_MAX, PIECE_BYTES, SendLimits};
use super::table::{CHUNK_ROWS, Slice, Table, chunks};

/// The tables of a data set, by how far they are.
pub struct Tables<'a> {
    /// There must be none of them yet.
    pub new: Vec<&'a dyn Table>,
    /// Those that an earlier attempt left.
    pub unfinished: Vec<&'a dyn Table>,
    /// Those that are done, but for foreign keys to tables that are made again.
    pub complete: Vec<&'a dyn Table>,
}

/// Makes the new tables, and resumes the unfinished ones of the same data set.
///
/// # Errors
/// When an unfinished table holds rows that are not its own, or whatever the server says; unfinished tables stay marked as
/// such.
pub fn make(pool: &mut LoaderPool<'_>, tables: &Tables<'_>) -> Result<(), WorkerFault> {
    let Tables {
        new,
        unfinished,
        complete,
    } = tables;
    let tables: Vec<&dyn Table> = new.iter().chain(unfinished).copied().collect();
    if tables.is_empty() {
        return Ok(());
    }
    let Rest {
        mut missing,
        loaded_rows,
    } = resume::remaining(pool, unfinished)?;
    pool.work("create", new.len() as u64, new, |connection, table, meter| {
        run(connection, &table.create_sql(), &format!("create {}", table.name()))?;
        meter.add(1);
        Ok(())
    })?;
    missing.extend(chunks(new));
    let runs = runs(&missing, pool.size());
    let loader = Loader::new(pool)?;
    let rows = tables.iter().map(|table| table.rows_count()).sum();
    pool.resume("load", loaded_rows, rows, &runs, |connection, run, meter| {
        run.iter().try_for_each(|slice| loader.load(connection, *slice, meter))
    })?;
    let indexed: Vec<_> = tables
        .iter()
        .filter_map(|table| Some((*table, table.index_sql()?)))
        .collect();
    let count = indexed.len() as u64;
    pool.work("index", count, &indexed, |connection, (table, sql), meter| {
        index(connection, &table.name(), sql)?;
        meter.add(1);
        Ok(())
    })?;
    foreign_keys::add(pool, &[&tables[..], complete].concat())?;
    finish(pool, &tables)
}

/// Brings statistics up to date, counts, and says that tables are complete. Where tables refer to each other, changing one
/// locks others too: two at a time would be a deadlock.
fn finish(pool: &mut LoaderPool<'_>, tables: &[&dyn Table]) -> Result<(), WorkerFault> {
    let refer = tables.iter().any(|table| !table.foreign_keys().is_empty());
    pool.work("analyze", tables.len() as u64, tables, |connection, table, meter| {
        analyze(connection, *table)?;
        if !refer {
            complete(connection, *table)?;
        }
        meter.add(1);
        Ok(())
    })?;
    if !refer {
        return Ok(());
    }
    pool.work("complete", tables.len() as u64, &[()], |connection, (), meter| {
        tables.iter().try_for_each(|table| {
            complete(connection, *table)?;
            meter.add(1);
            Ok(())
        })
    })
}

/// As many runs for each table as keep all loaders busy. One loader takes a whole run, since where one stream of keys ends
/// and another goes on beside it, InnoDB leaves up to an extent of 1 MiB unused.
fn runs<'s, 't>(missing: &'s [Slice<'t>], loaders: usize) -> Vec<&'s [Slice<'t>]> {
    let tables: Vec<&[Slice<'t>]> = missing.chunk_by(Slice::is_beside).collect();
    let per_table = loaders.div_ceil(tables.len().max(1));
    let of_table = |slices: &'s [Slice<'t>]| slices.chunks(slices.len().div_ceil(per_table));
    tables.into_iter().flat_map(of_table).collect()
}

/// Where the table is resumed, the index may be there already, or be under way when we were not there any more to
/// hear of it. What it is an index of is checked before the table is called complete.
///
/// # Errors
/// Whatever else the server said.
pub fn index(connection: &mut Connection, table: &str, sql: &str) -> Result<(), WorkerFault> {
    match connection.query(sql) {
        Err(error) if error.kind() != FaultKind::DuplicateIndex => Err(blame(&error, &format!("index {table}"))),
        _ => Ok(()),
    }
}

/// Brings the statistics up to date, and counts.
fn analyze(connection: &mut Connection, table: &dyn Table) -> Result<(), WorkerFault> {
    let (name, quoted) = (table.name(), table.quoted_name());
    run(
        connection,
        &format!("ANALYZE TABLE {quoted}"),
        &format!("analyze {name}"),
    )?;
    table.inspect(connection)
}

/// Says that the table is complete.
fn complete(connection: &mut Connection, table: &dyn Table) -> Result<(), WorkerFault> {
    let (name, quoted) = (table.name(), table.quoted_name());
    run(
        connection,
        &format!(
            "ALTER TABLE {quoted} COMMENT = '{}'",
            table.mark(State::Complete).text()
        ),
        &format!("complete {name}"),
    )
}

/// What became of the rows of one statement.
#[derive(Clone, Copy)]
struct Loaded {
    sent: u64,
    reply: Reply,
}

impl Loaded {
    fn is_short(&self) -> bool {
        self.sent != self.reply.rows_affected
    }

    /// Why rows were not taken as they were sent, with the server's own word if it has one.
    fn refused(&self, connection: &mut Connection, table: &dyn Table) -> WorkerFault {
        let (name, sent, taken) = (table.name(), self.sent, self.reply.rows_affected);
        let said = match connection.query_rows("SHOW WARNINGS LIMIT 1", 1) {
            Ok(rows) => rows.first().and_then(|row| row.last()?.clone()).unwrap_or_default(),
            Err(error) => return blame(&error, "ask for warnings"),
        };
        let cure = if table.minds_warnings() {
            "make the column's type fit its values, let the generators of keys give each row another value, and let \
             nobody else write to this table"
        } else {
            "somebody else writes to this table; stop that, then prepare again"
        };
        let message = format!(
            "load rows into {name}: of {sent} rows the server took {taken}, not all as they were sent ({}): {cure}",
            if said.is_empty() { "no warning" } else { &said }
        );
        WorkerFault::new(FailureClass::Target, message)
    }
}

/// How rows are sent, as found out so far.
struct Loader {
    insert_bytes: usize,
    /// Falls to false when the server turns out to refuse LOAD DATA LOCAL.
    local: AtomicBool,
}

impl Loader {
    fn new(pool: &LoaderPool<'_>) -> Result<Self, WorkerFault> {
        let limits = SendLimits::ask(pool)?;
        Ok(Self {
            insert_bytes: limits.insert_bytes,
            local: AtomicBool::new(limits.local),
        })
    }

    fn load(&self, connection: &mut Connection, slice: Slice<'_>, meter: &Meter) -> Result<(), WorkerFault> {
        let doing = format!("load rows into {}", slice.table.name());
        let mut rest = slice;
        let mut attempt = 1;
        while rest.first <= rest.last && !meter.stopped() {
            let done = match self.load_some(connection, rest) {
                Ok(loaded) if slice.table.minds_warnings() && !loaded.is_short() && loaded.reply.warnings > 0 => {
                    return Err(loaded.refused(connection, slice.table));
                }
                // LOAD DATA LOCAL passes over rows whose key is there already, INSERT refuses them.
                Ok(loaded) if loaded.is_short() => {
                    let refused = loaded.refused(connection, slice.table);
                    came_meanwhile(connection, rest)?.ok_or(refused)?
                }
                Err(error) if error.kind() == FaultKind::Duplicate => {
                    came_meanwhile(connection, rest)?.ok_or_else(|| blame(&error, &doing))?
                }
                Ok(loaded) => loaded.sent,
                Err(error) if error.kind() == FaultKind::LocalFileRefused => {
                    self.local.store(false, Ordering::Relaxed);
                    continue;
                }
                // The whole statement was undone.
                Err(error) if error.kind().asks_for_repetition() && attempt < ATTEMPTS_MAX => {
                    attempt += 1;
                    continue;
                }
                Err(error) => return Err(blame(&error, &doing)),
            };
            rest.first += done;
            meter.add(done);
            attempt = 1;
        }
        Ok(())
    }

    /// One statement with the first of these rows.
    fn load_some(&self, connection: &mut Connection, rest: Slice<'_>) -> Result<Loaded, WireError> {
        if self.local.load(Ordering::Relaxed) {
            let last = rest.last.min(rest.first + CHUNK_ROWS - 1);
            load_local(connection, Slice { last, ..rest })
        } else {
            self.insert(connection, rest)
        }
    }

    /// One INSERT of as many rows as fit.
    fn insert(&self, connection: &mut Connection, rest: Slice<'_>) -> Result<Loaded, WireError> {
        let table = rest.table;
        let mut write = table.writer(Style::Tuple);
        let mut sql = format!("INSERT INTO {} ({}) VALUES ", table.quoted_name(), table.columns_sql()).into_bytes();
        sql.reserve(self.insert_bytes);
        let mut row = rest.first;
        while row <= rest.last && (row == rest.first || sql.len() + table.row_bytes_max() <= self.insert_bytes) {
            write(row, &mut sql);
            row += 1;
        }
        sql.pop();
        let reply = connection.query(std::str::from_utf8(&sql).expect("values are text"))?;
        Ok(Loaded {
            sent: row - rest.first,
            reply,
        })
    }
}

/// One LOAD DATA.
fn load_local(connection: &mut Connection, part: Slice<'_>) -> Result<Loaded, WireError> {
    let table = part.table;
    let sql = format!(
        "LOAD DATA LOCAL INFILE 'plimsoll' INTO TABLE {} CHARACTER SET {} {LINE_FORMAT} ({})",
        table.quoted_name(),
        table.character_set(),
        table.columns_sql()
    );
    let mut write = table.writer(Style::Line);
    let mut row = part.first;
    let reply = connection.load_local(&sql, &mut |piece| {
        while row <= part.last && piece.len() < PIECE_BYTES {
            write(row, piece);
            row += 1;
        }
        row <= part.last
    })?;
    Ok(Loaded {
        sent: row - part.first,
        reply,
    })
}

/// How many of the first of these rows are there, when there are some and no others. The last statement of an engine that
/// was killed may take effect only after it was gone and its tables were looked at.
fn came_meanwhile(connection: &mut Connection, rest: Slice<'_>) -> Result<Option<u64>, WorkerFault> {
    let leading = leading_rows(connection, rest)?;
    Ok(leading.filter(|rows| *rows > 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loading::table::as_tables;
    use crate::loading::table::fixture::Numbered;

    fn run_lengths(tables: u32, rows: u64, loaders: usize) -> Vec<usize> {
        let tables: Vec<Numbered> = (1..=tables).map(|number| Numbered { number, rows }).collect();
        runs(&chunks(&as_tables(&tables)), loaders)
            .iter()
            .map(|run| run.len())
            .collect()
    }

    #[test]
    fn each_loader_has_a_run_of_its_own() {
        assert_eq!(run_lengths(1, 250_000, 1), [5]);
        assert_eq!(run_lengths(1, 250_000, 2), [3, 2]);
        assert_eq!(run_lengths(1, 250_000, 9), [1; 5]);
        assert_eq!(run_lengths(3, 250_000, 2), [5; 3]);
        assert_eq!(run_lengths(2, 250_000, 4), [3, 2, 3, 2]);
        assert!(run_lengths(1, 0, 2).is_empty());
    }
}

//! Makes tables: created empty and marked as unfinished, filled by several connections, then indexed, analysed, counted, and
//! marked as complete. Tables that were left unfinished are gone on with (see `resume`).
//!
//! Rows go by LOAD DATA LOCAL, written on the fly, where the server allows it, else by multi-row inserts. Each statement
//! commits by itself, since the session's autocommit is on. No other setting is touched, not even of the session: switching
//! off `unique_checks` and `foreign_key_checks` saves nothing on tables without unique indexes and foreign keys, and makes
//! MariaDB lock the whole table, so that two loaders of one table end in a deadlock.

use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{DataPlan, LoadMethod, OltpData};
use plimsoll_engine::WorkerFault;
use plimsoll_wire::{Connection, WireError};

use super::content::{CHUNK_ROWS, Slice, chunks, leading_rows};
use super::crew::{Crew, Meter};
use super::fault::blame;
use super::inspect;
use super::resume::{self, Rest};
use super::rows::{LINE, ROW_BYTES_MAX, Rows, TUPLE};
use super::tables;
use crate::control;
use crate::oltp::tables::{Mark, State};

/// Rows in one LOAD DATA.
pub const LOAD_ROWS: u64 = CHUNK_ROWS;

/// Bytes handed over at a time while a LOAD DATA runs.
pub const PIECE_BYTES: usize = 256 * 1024;

/// Bytes in one INSERT, where the server takes so many.
pub const INSERT_BYTES: usize = 512 * 1024;

/// A statement that was undone by the server so many times in a row has failed.
pub const ATTEMPTS_MAX: u32 = 10;

/// "Not allowed by the server or the client", in the words of MySQL before 8, MySQL since, and MariaDB.
const LOCAL_REFUSED_CODES: [u16; 4] = [1148, 2068, 3948, 4166];

/// "Duplicate key name".
const INDEX_EXISTS_CODE: u16 = 1061;

/// "Duplicate entry".
const ROW_EXISTS_CODE: u16 = 1062;

/// Makes the `new` tables, of which there must be none yet, and goes on with the `unfinished` ones of the same data set.
///
/// # Errors
/// When an unfinished table holds rows that are not its own, or whatever the server says; unfinished tables stay marked as
/// such.
pub fn make(
    crew: &mut Crew<'_>,
    new: &[u32],
    unfinished: &[u32],
    plan: &DataPlan,
    data: &OltpData,
) -> Result<(), WorkerFault> {
    let numbers: Vec<u32> = new.iter().chain(unfinished).copied().collect();
    if numbers.is_empty() {
        return Ok(());
    }
    let Rest { mut missing, kept_rows } = resume::look(crew, unfinished, data)?;
    let count = new.len() as u64;
    crew.work("create", count, new, |connection, number, meter| {
        create(connection, *number, data)?;
        meter.add(1);
        Ok(())
    })?;
    missing.extend(chunks(new, data.rows_each()));
    let runs = runs(&missing, crew.size());
    let loader = Loader::new(plan, data)?;
    let count = numbers.len() as u64;
    let rows = count * data.rows_each();
    crew.go_on("load", kept_rows, rows, &runs, |connection, run, meter| {
        run.iter().try_for_each(|slice| loader.load(connection, *slice, meter))
    })?;
    let indexed = if tables::is_indexed_after_loading(data) {
        &numbers[..]
    } else {
        &[]
    };
    crew.work("index", count, indexed, |connection, number, meter| {
        index(connection, *number)?;
        meter.add(1);
        Ok(())
    })?;
    crew.work("analyze", count, &numbers, |connection, number, meter| {
        analyze(connection, *number, data)?;
        meter.add(1);
        Ok(())
    })
}

/// As many runs for each table as keep all loaders busy. One loader takes a whole run, since where one stream of keys ends
/// and another goes on beside it, InnoDB leaves up to an extent of 1 MiB unused.
fn runs(missing: &[Slice], loaders: usize) -> Vec<&[Slice]> {
    let tables: Vec<&[Slice]> = missing.chunk_by(|one, next| one.table == next.table).collect();
    let per_table = loaders.div_ceil(tables.len().max(1));
    let of_table = |slices| <[Slice]>::chunks(slices, slices.len().div_ceil(per_table));
    tables.into_iter().flat_map(of_table).collect()
}

fn create(connection: &mut Connection, number: u32, data: &OltpData) -> Result<(), WorkerFault> {
    let sql = tables::create_sql(number, data);
    run(connection, &sql, &format!("create {}", tables::name(number)))
}

/// Where the table is gone on with, the index may be there already, or be under way when we were not there any more to
/// hear of it. What it is an index of is looked at before the table is called complete.
fn index(connection: &mut Connection, number: u32) -> Result<(), WorkerFault> {
    let (name, index) = (tables::name(number), tables::index_name(number));
    match connection.query(&format!("CREATE INDEX {index} ON {name}(k)")) {
        Err(error) if error.server_code() != Some(INDEX_EXISTS_CODE) => Err(blame(&error, &format!("index {name}"))),
        _ => Ok(()),
    }
}

/// Brings the statistics up to date, counts, and then says that the table is complete.
fn analyze(connection: &mut Connection, number: u32, data: &OltpData) -> Result<(), WorkerFault> {
    let name = tables::name(number);
    run(connection, &format!("ANALYZE TABLE {name}"), &format!("analyze {name}"))?;
    inspect::verify(connection, number, data, false)?;
    let mark = Mark::new(data, State::Complete).text();
    run(
        connection,
        &format!("ALTER TABLE {name} COMMENT = '{mark}'"),
        &format!("complete {name}"),
    )
}

fn run(connection: &mut Connection, sql: &str, doing: &str) -> Result<(), WorkerFault> {
    connection.query(sql).map(|_| ()).map_err(|error| blame(&error, doing))
}

/// What became of the rows of one statement.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    sent: u64,
    taken: u64,
}

fn meddled(loaded: Loaded, table: u32) -> WorkerFault {
    let name = tables::name(table);
    let message = format!(
        "load rows into {name}: of {} rows the server took {}: somebody else writes to this table; stop that, then \
         prepare again",
        loaded.sent, loaded.taken
    );
    WorkerFault::new(FailureClass::Target, message)
}

/// How rows are sent, as found out so far.
struct Loader<'a> {
    data: &'a OltpData,
    insert_bytes: usize,
    /// Falls to false when the server turns out to refuse LOAD DATA LOCAL.
    local: AtomicBool,
}

impl<'a> Loader<'a> {
    fn new(plan: &DataPlan, data: &'a OltpData) -> Result<Self, WorkerFault> {
        let mut control = control::open(&plan.target)?;
        let sql = "SELECT @@local_infile, @@max_allowed_packet";
        let rows = control
            .query_rows(sql, 1)
            .map_err(|error| blame(&error, "ask for limits"))?;
        control.close();
        let number = |at: usize| rows.first()?.get(at)?.as_ref()?.parse::<usize>().ok();
        let packet_bytes = number(1).unwrap_or(INSERT_BYTES);
        Ok(Self {
            data,
            insert_bytes: INSERT_BYTES.min(packet_bytes.saturating_sub(1024)),
            local: AtomicBool::new(plan.method == LoadMethod::Auto && number(0) == Some(1)),
        })
    }

    fn load(&self, connection: &mut Connection, slice: Slice, meter: &Meter) -> Result<(), WorkerFault> {
        let doing = format!("load rows into {}", tables::name(slice.table));
        let mut rest = slice;
        let mut attempt = 1;
        while rest.first <= rest.last && !meter.stopped() {
            let done = match self.load_some(connection, rest) {
                // LOAD DATA LOCAL passes over rows whose key is there already, INSERT refuses them.
                Ok(loaded) if loaded.taken != loaded.sent => self
                    .came_meanwhile(connection, rest)?
                    .ok_or_else(|| meddled(loaded, rest.table))?,
                Err(error) if error.server_code() == Some(ROW_EXISTS_CODE) => self
                    .came_meanwhile(connection, rest)?
                    .ok_or_else(|| blame(&error, &doing))?,
                Ok(loaded) => loaded.sent,
                Err(error) if is_refusal(&error) => {
                    self.local.store(false, Ordering::Relaxed);
                    continue;
                }
                Err(error) if is_passing(&error) && attempt < ATTEMPTS_MAX => {
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

    /// How many of the first of these rows are there, when there are some and no others. The last statement of an engine that
    /// was killed may take effect only after it was gone and its tables were looked at.
    fn came_meanwhile(&self, connection: &mut Connection, rest: Slice) -> Result<Option<u64>, WorkerFault> {
        let leading = leading_rows(connection, self.data, rest)?;
        Ok(leading.filter(|rows| *rows > 0))
    }

    /// One statement with the first of these rows.
    fn load_some(&self, connection: &mut Connection, rest: Slice) -> Result<Loaded, WireError> {
        if self.local.load(Ordering::Relaxed) {
            let last = rest.last.min(rest.first + LOAD_ROWS - 1);
            self.load_local(connection, Slice { last, ..rest })
        } else {
            self.insert(connection, rest)
        }
    }

    /// One LOAD DATA.
    fn load_local(&self, connection: &mut Connection, part: Slice) -> Result<Loaded, WireError> {
        let sql = format!(
            "LOAD DATA LOCAL INFILE 'plimsoll' INTO TABLE {} CHARACTER SET latin1 \
             FIELDS TERMINATED BY ',' ESCAPED BY '' LINES TERMINATED BY '\\n' (id, k, c, pad)",
            tables::name(part.table)
        );
        let rows = Rows::new(self.data, part.table, LINE);
        let mut id = part.first;
        let reply = connection.load_local(&sql, &mut |piece| {
            while id <= part.last && piece.len() + ROW_BYTES_MAX <= PIECE_BYTES {
                rows.push(id, piece);
                id += 1;
            }
            id <= part.last
        })?;
        Ok(Loaded {
            sent: id - part.first,
            taken: reply.rows_affected,
        })
    }

    /// One INSERT of as many rows as fit.
    fn insert(&self, connection: &mut Connection, rest: Slice) -> Result<Loaded, WireError> {
        let rows = Rows::new(self.data, rest.table, TUPLE);
        let mut sql = format!("INSERT INTO {} (id, k, c, pad) VALUES ", tables::name(rest.table)).into_bytes();
        sql.reserve(self.insert_bytes);
        let mut id = rest.first;
        while id <= rest.last && (id == rest.first || sql.len() + ROW_BYTES_MAX <= self.insert_bytes) {
            rows.push(id, &mut sql);
            id += 1;
        }
        sql.pop();
        let reply = connection.query(std::str::from_utf8(&sql).expect("digits and punctuation"))?;
        Ok(Loaded {
            sent: id - rest.first,
            taken: reply.rows_affected,
        })
    }
}

/// Deadlock and lock-wait timeout, which undo the whole statement.
pub fn is_passing(error: &WireError) -> bool {
    matches!(error.server_code(), Some(1213 | 1205))
}

pub fn is_refusal(error: &WireError) -> bool {
    error
        .server_code()
        .is_some_and(|code| LOCAL_REFUSED_CODES.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_loader_has_a_run_of_its_own() {
        let one = chunks(&[1], 250_000);
        let lengths =
            |missing: &[Slice], loaders| runs(missing, loaders).iter().map(|run| run.len()).collect::<Vec<_>>();
        assert_eq!(lengths(&one, 1), [5]);
        assert_eq!(lengths(&one, 2), [3, 2]);
        assert_eq!(lengths(&one, 9), [1; 5]);
        assert_eq!(lengths(&chunks(&[1, 2, 3], 250_000), 2), [5; 3]);
        assert_eq!(lengths(&chunks(&[1, 2], 250_000), 4), [3, 2, 3, 2]);
        assert!(lengths(&[], 2).is_empty());
    }
}

//! Sends rows: by LOAD DATA LOCAL, written on the fly, where the server allows it, else by multi-row inserts. No setting of the
//! server or the session is touched.

use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::DataPlan;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::{Connection, WireError};

use super::population::{LINE_FORMAT, ROW_BYTES_MAX, Rows, Style, is_whole, places};
use super::tables::Table;
use crate::data::crew::Meter;
use crate::data::fault::blame;
use crate::data::load::{ATTEMPTS_MAX, Limits, PIECE_BYTES, is_passing, is_refusal};

/// Rows of one transaction, or some more: what any server and its binary log can hold.
const TRANSACTION_ROWS: u64 = 50_000;

/// How rows are sent, as found out so far.
pub struct Loader {
    seed: u64,
    insert_bytes: usize,
    /// Falls to false when the server turns out to refuse LOAD DATA LOCAL.
    local: AtomicBool,
}

impl Loader {
    /// Asks the server what it allows.
    ///
    /// # Errors
    /// Whatever it says; the same for all below.
    pub fn new(plan: &DataPlan, seed: u64) -> Result<Self, WorkerFault> {
        let limits = Limits::ask(plan)?;
        Ok(Self {
            seed,
            insert_bytes: limits.insert_bytes,
            local: AtomicBool::new(limits.local),
        })
    }

    /// Fills a table with the rows of one warehouse.
    pub fn fill(
        &self,
        connection: &mut Connection,
        table: Table,
        warehouse: u32,
        meter: &Meter,
    ) -> Result<(), WorkerFault> {
        let doing = format!("load rows into {}", table.name());
        let (mut place, mut attempt) = (0, 1);
        while place < places(table) && !meter.stopped() {
            match self.transaction(connection, table, warehouse, place) {
                Ok(sent) if sent.is_taken() => {
                    place = sent.next_place;
                    meter.add(sent.rows);
                    attempt = 1;
                }
                Ok(sent) => return Err(refused(connection, table, &sent)),
                Err(error) if is_refusal(&error) => self.local.store(false, Ordering::Relaxed),
                Err(error) if is_passing(&error) && attempt < ATTEMPTS_MAX => attempt += 1,
                Err(error) => return Err(blame(&error, &doing)),
            }
        }
        Ok(())
    }

    /// Sends rows until they are enough for one transaction, and commits them if all were taken.
    fn transaction(
        &self,
        connection: &mut Connection,
        table: Table,
        warehouse: u32,
        first: u32,
    ) -> Result<Sent, WireError> {
        connection.query("BEGIN")?;
        let mut all = Sent {
            next_place: first,
            rows: 0,
            rows_taken: 0,
        };
        while all.next_place < places(table) && all.rows < TRANSACTION_ROWS && all.is_taken() {
            let sent = if self.local.load(Ordering::Relaxed) {
                self.load_local(connection, table, warehouse, all.next_place)
            } else {
                self.insert(connection, table, warehouse, all.next_place)
            };
            let sent = sent.inspect_err(|_| {
                let _ = connection.query("ROLLBACK"); // a connection that is gone has rolled back
            })?;
            all.next_place = sent.next_place;
            all.rows += sent.rows;
            all.rows_taken += sent.rows_taken;
        }
        if all.is_taken() {
            connection.query("COMMIT")?;
        }
        Ok(all)
    }

    fn load_local(
        &self,
        connection: &mut Connection,
        table: Table,
        warehouse: u32,
        first: u32,
    ) -> Result<Sent, WireError> {
        let whole = is_whole(table, first);
        let (name, columns) = (table.name(), table.columns_sql(whole));
        let sql = format!("LOAD DATA LOCAL INFILE 'plimsoll' INTO TABLE {name} {LINE_FORMAT} ({columns})");
        let mut rows = Rows::new(table, self.seed, warehouse, Style::Line);
        let (mut place, mut count) = (first, 0);
        let reply = connection.load_local(&sql, &mut |piece| {
            let goes_on = |place, count| belongs(table, place, whole) && u64::from(count) < TRANSACTION_ROWS;
            while goes_on(place, count) && piece.len() < PIECE_BYTES {
                count += rows.push(place, piece);
                place += 1;
            }
            goes_on(place, count)
        })?;
        Ok(Sent {
            next_place: place,
            rows: u64::from(count),
            rows_taken: reply.rows_affected,
        })
    }

    fn insert(&self, connection: &mut Connection, table: Table, warehouse: u32, first: u32) -> Result<Sent, WireError> {
        let whole = is_whole(table, first);
        let (name, columns) = (table.name(), table.columns_sql(whole));
        let mut sql = format!("INSERT INTO {name} ({columns}) VALUES ").into_bytes();
        sql.reserve(self.insert_bytes);
        let mut rows = Rows::new(table, self.seed, warehouse, Style::Tuple);
        let (mut place, mut count) = (first, 0);
        while belongs(table, place, whole) && (count == 0 || sql.len() + ROW_BYTES_MAX <= self.insert_bytes) {
            count += rows.push(place, &mut sql);
            place += 1;
        }
        sql.pop();
        let reply = connection.query(std::str::from_utf8(&sql).expect("values are text"))?;
        Ok(Sent {
            next_place: place,
            rows: u64::from(count),
            rows_taken: reply.rows_affected,
        })
    }
}

/// Whether rows of a place go into a statement of whole rows, or of others.
fn belongs(table: Table, place: u32, whole: bool) -> bool {
    place < places(table) && is_whole(table, place) == whole
}

/// What became of one statement, or of those of one transaction.
struct Sent {
    next_place: u32,
    rows: u64,
    rows_taken: u64,
}

impl Sent {
    fn is_taken(&self) -> bool {
        self.rows == self.rows_taken
    }
}

/// LOAD DATA LOCAL passes over rows whose key is there already.
fn refused(connection: &mut Connection, table: Table, sent: &Sent) -> WorkerFault {
    let warnings = connection.query_rows("SHOW WARNINGS LIMIT 1", 1).unwrap_or_default();
    let said = warnings.first().and_then(|row| row.last()?.clone()).unwrap_or_default();
    let message = format!(
        "load rows into {}: of {} rows the server took {} ({said}): somebody else writes to this table; stop that, then \
         prepare again",
        table.name(),
        sent.rows,
        sent.rows_taken
    );
    WorkerFault::new(FailureClass::Target, message)
}

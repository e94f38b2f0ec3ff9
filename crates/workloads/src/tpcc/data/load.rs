//! Sends rows: by LOAD DATA LOCAL, written on the fly, where the server allows it, else by multi-row inserts. No setting of the
//! server or the session is touched.

use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_core::fault::FaultKind;
use plimsoll_core::message::FailureClass;
use plimsoll_engine::WorkerFault;
use plimsoll_wire::{Connection, WireError};

use super::population::{ROW_BYTES_MAX, Rows, is_whole, positions};
use crate::loading::fault::blame;
use crate::loading::pool::{LoaderPool, Meter};
use crate::loading::row::{LINE_FORMAT, Style};
use crate::loading::sending::{ATTEMPTS_MAX, PIECE_BYTES, SendLimits};
use crate::tpcc::tables::Table;

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
    pub fn new(pool: &LoaderPool<'_>, seed: u64) -> Result<Self, WorkerFault> {
        let limits = SendLimits::ask(pool)?;
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
        let (mut position, mut attempt) = (0, 1);
        while position < positions(table) && !meter.stopped() {
            match self.transaction(connection, table, warehouse, position) {
                Ok(sent) if sent.is_taken() => {
                    position = sent.next_position;
                    meter.add(sent.rows);
                    attempt = 1;
                }
                Ok(sent) => return Err(refused(connection, table, &sent)),
                Err(error) if error.kind() == FaultKind::LocalFileRefused => self.local.store(false, Ordering::Relaxed),
                Err(error) if error.kind().asks_for_repetition() && attempt < ATTEMPTS_MAX => attempt += 1,
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
            next_position: first,
            rows: 0,
            rows_taken: 0,
        };
        while all.next_position < positions(table) && all.rows < TRANSACTION_ROWS && all.is_taken() {
            let sent = if self.local.load(Ordering::Relaxed) {
                self.load_local(connection, table, warehouse, all.next_position)
            } else {
                self.insert(connection, table, warehouse, all.next_position)
            };
            let sent = sent.inspect_err(|_| {
                let _ = connection.query("ROLLBACK"); // a connection that is gone has rolled back
            })?;
            all.next_position = sent.next_position;
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
        let sql = format!(
            "LOAD DATA LOCAL INFILE 'plimsoll' INTO TABLE {name} CHARACTER SET latin1 {LINE_FORMAT} ({columns})"
        );
        let mut rows = Rows::new(table, self.seed, warehouse, Style::Line);
        let (mut position, mut count) = (first, 0);
        let reply = connection.load_local(&sql, &mut |piece| {
            let goes_on = |position, count| belongs(table, position, whole) && u64::from(count) < TRANSACTION_ROWS;
            while goes_on(position, count) && piece.len() < PIECE_BYTES {
                count += rows.push(position, piece);
                position += 1;
            }
            goes_on(position, count)
        })?;
        Ok(Sent {
            next_position: position,
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
        let (mut position, mut count) = (first, 0);
        while belongs(table, position, whole) && (count == 0 || sql.len() + ROW_BYTES_MAX <= self.insert_bytes) {
            count += rows.push(position, &mut sql);
            position += 1;
        }
        sql.pop();
        let reply = connection.query(std::str::from_utf8(&sql).expect("values are text"))?;
        Ok(Sent {
            next_position: position,
            rows: u64::from(count),
            rows_taken: reply.rows_affected,
        })
    }
}

/// Whether rows of a position go into a statement of whole rows, or of others.
fn belongs(table: Table, position: u32, whole: bool) -> bool {
    position < positions(table) && is_whole(table, position) == whole
}

/// What became of one statement, or of those of one transaction.
struct Sent {
    next_position: u32,
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

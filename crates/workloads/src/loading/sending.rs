//! How rows can be sent to a server: by LOAD DATA LOCAL or by INSERT, in pieces of what size.

use plimsoll_core::plan::LoadMethod;
use plimsoll_engine::WorkerFault;

use super::pool::LoaderPool;
use crate::control::first_number;

/// Bytes handed over at a time while a LOAD DATA runs.
pub const PIECE_BYTES: usize = 256 * 1024;

/// Bytes in one INSERT, where the server takes so many.
const INSERT_BYTES: usize = 512 * 1024;

/// A statement that was undone by the server so many times in a row has failed.
pub const ATTEMPTS_MAX: u32 = 10;

/// What a server allows.
pub struct SendLimits {
    /// Bytes of one INSERT.
    pub insert_bytes: usize,
    /// LOAD DATA LOCAL is allowed, and wanted.
    pub local: bool,
}

impl SendLimits {
    /// Asks for them.
    ///
    /// # Errors
    /// Whatever the server said.
    pub fn ask(pool: &LoaderPool<'_>) -> Result<Self, WorkerFault> {
        let sql = "SELECT @@local_infile, @@max_allowed_packet";
        let rows = pool.ask("ask for limits", |connection| connection.query_rows(sql, 1))?;
        let number = |column| first_number::<usize>(&rows, column);
        let packet_bytes = number(1).unwrap_or(INSERT_BYTES);
        Ok(Self {
            insert_bytes: INSERT_BYTES.min(packet_bytes.saturating_sub(1024)),
            local: pool.method() == LoadMethod::Auto && number(0) == Some(1),
        })
    }
}

//! Bulk inserts: rows are collected in one statement until it is full.

use super::Verdict;
use super::connection::Connection;
use crate::log::Level;
use crate::lua::host::Host;

/// Bytes of a statement at most, a zero byte at its end included.
const STATEMENT_BYTES: usize = 512 * 1024;

/// A statement that grows.
pub struct Bulk {
    sql: Vec<u8>,
    /// The length of what stands before the rows.
    head_bytes: usize,
}

impl Connection {
    /// Begins with what stands before the rows. False when the connection is closed or the text too long.
    pub fn bulk_init(&mut self, host: &Host, head: &[u8]) -> bool {
        if !self.check_open(host) {
            return false;
        }
        if head.len() + 1 > STATEMENT_BYTES {
            host.log(Level::Alert, "the statement of a bulk insert is longer than its buffer");
            self.verdict(Verdict::Fatal);
            return false;
        }
        self.bulk = Some(Bulk {
            sql: head.to_vec(),
            head_bytes: head.len(),
        });
        true
    }

    /// Adds a row; sends the rows before it when it does not fit. False when something failed, which was said.
    pub fn bulk_next(&mut self, host: &Host, row: &[u8]) -> bool {
        if !self.check_open(host) {
            return false;
        }
        let Some(bulk) = &self.bulk else {
            host.log(
                Level::Alert,
                "attempt to call bulk_insert_next() before bulk_insert_init()",
            );
            return false;
        };
        let is_full = bulk.sql.len() + row.len() + 2 > STATEMENT_BYTES;
        if bulk.head_bytes + row.len() + 1 > STATEMENT_BYTES {
            host.log(Level::Alert, "a row of a bulk insert is longer than its buffer");
            return false;
        }
        if is_full && !self.bulk_send(host) {
            return false;
        }
        if let Some(bulk) = &mut self.bulk {
            if bulk.sql.len() > bulk.head_bytes {
                bulk.sql.push(b',');
            }
            bulk.sql.extend_from_slice(row);
        }
        true
    }

    /// Sends what is left, and ends it.
    pub fn bulk_done(&mut self, host: &Host) -> bool {
        if !self.check_open(host) {
            return false;
        }
        let is_sent = self.bulk_send(host);
        self.bulk = None;
        is_sent
    }

    fn bulk_send(&mut self, host: &Host) -> bool {
        let Some(mut bulk) = self.bulk.take() else { return true };
        if bulk.sql.len() > bulk.head_bytes {
            self.query_as(host, "mysql_drv_query()", &bulk.sql);
            bulk.sql.truncate(bulk.head_bytes);
        }
        self.bulk = Some(bulk);
        self.face.get().error == Verdict::None as i32
    }
}

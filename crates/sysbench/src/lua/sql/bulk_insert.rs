//! Bulk inserts: rows are sent together when no more of them fit into a statement.

use super::Verdict;
use super::bulk::Bulk;
use super::connection::Connection;
use crate::log::Level;
use crate::lua::thread_context::ThreadContext;

impl Connection {
    /// Begins with what stands before the rows. False when the connection is closed or the text too long.
    pub fn bulk_init(&mut self, thread: &ThreadContext, head: &[u8]) -> bool {
        if !self.check_open(thread) {
            return false;
        }
        let Some(bulk) = Bulk::new(head) else {
            thread.log(Level::Alert, "the statement of a bulk insert is longer than its buffer");
            self.verdict(Verdict::Fatal);
            return false;
        };
        self.bulk = Some(bulk);
        true
    }

    /// Adds a row; sends the rows before it when it does not fit. False when something failed, which was said.
    pub fn bulk_next(&mut self, thread: &ThreadContext, row: &[u8]) -> bool {
        if !self.check_open(thread) {
            return false;
        }
        let Some(bulk) = &self.bulk else {
            thread.log(
                Level::Alert,
                "attempt to call bulk_insert_next() before bulk_insert_init()",
            );
            return false;
        };
        if !bulk.takes(row) {
            thread.log(Level::Alert, "a row of a bulk insert is longer than its buffer");
            return false;
        }
        if !bulk.has_room(row) && !self.bulk_send(thread) {
            return false;
        }
        if let Some(bulk) = &mut self.bulk {
            bulk.add(row);
        }
        true
    }

    /// Sends what is left, and ends it.
    pub fn bulk_done(&mut self, thread: &ThreadContext) -> bool {
        if !self.check_open(thread) {
            return false;
        }
        let is_sent = self.bulk_send(thread);
        self.bulk = None;
        is_sent
    }

    fn bulk_send(&mut self, thread: &ThreadContext) -> bool {
        let Some(mut bulk) = self.bulk.take() else { return true };
        if let Some(statement) = bulk.statement() {
            self.query_as(thread, "mysql_drv_query()", statement);
            bulk.clear();
        }
        self.bulk = Some(bulk);
        self.face.get().error == Verdict::None as i32
    }
}

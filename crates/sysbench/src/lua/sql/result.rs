//! The results of a connection, as scripts ask for them and as they count.

use std::ptr::null;

use super::connection::Connection;
use super::{ConnectionFace, ResultFace, RowFace, Sql};
use crate::log::Level;
use crate::lua::thread_context::ThreadContext;

impl Connection {
    /// Counts all results that came.
    pub(super) fn count(&mut self, thread: &ThreadContext) {
        for set in self.results.sets() {
            thread.statement(set.reply.into());
        }
    }

    /// Whether the statement gave further results.
    pub fn has_more_results(&self) -> bool {
        self.rows.set_next() < self.results.sets().len()
    }

    /// Makes the next result the live one. False when it is no result set, or there is none.
    pub fn next_result(&mut self) -> bool {
        let next = self.rows.set_next();
        next <= self.results.sets().len() && self.show(next)
    }

    /// Decodes the next row; null after the last.
    fn fetch(&mut self, thread: &ThreadContext) -> *const RowFace {
        let values = match self.rows.fetch(self.results.sets()) {
            Ok(Some(values)) => values,
            Ok(None) => return null(),
            Err(error) => {
                thread.log(Level::Fatal, format_args!("the server sent no proper row: {error}"));
                return null();
            }
        };
        let row = RowFace { values };
        self.face.set(ConnectionFace { row, ..self.face.get() });
        // The row lies within the face, which does not move.
        self.face
            .pointer()
            .cast_const()
            .cast::<u8>()
            .wrapping_add(std::mem::offset_of!(ConnectionFace, row))
            .cast()
    }
}

/// The result within a connection's face.
pub fn result_of(connection: *mut ConnectionFace) -> *mut ResultFace {
    connection
        .cast::<u8>()
        .wrapping_add(std::mem::offset_of!(ConnectionFace, result))
        .cast()
}

impl Sql {
    /// The connection whose result this is.
    fn owner(&mut self, result: *const ResultFace) -> Option<&mut Connection> {
        let face = result
            .cast::<u8>()
            .wrapping_sub(std::mem::offset_of!(ConnectionFace, result));
        let index = self.connections.find(face.cast())?;
        Some(self.connections.at(index))
    }

    /// The next row of a result; null after the last, and for what is no live result.
    pub fn fetch_row(&mut self, thread: &ThreadContext, result: *const ResultFace) -> *const RowFace {
        match self.owner(result) {
            Some(connection) if connection.rows.is_live() => connection.fetch(thread),
            _ => {
                thread.log(Level::Alert, "attempt to fetch row from an invalid result set");
                null()
            }
        }
    }

    /// Forgets a result. False when there is none.
    pub fn free_result(&mut self, thread: &ThreadContext, result: *const ResultFace) -> bool {
        let is_freed = self.owner(result).is_some_and(Connection::free_result);
        if !is_freed {
            thread.log(Level::Alert, "attempt to free an invalid result set");
        }
        is_freed
    }
}

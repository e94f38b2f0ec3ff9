//! The live result of a connection: which of several it is, which row comes next, and how it counts.

use std::ffi::c_char;
use std::ptr::null;

use plimsoll_engine::StatementResult;
use plimsoll_wire::{Reply, ResultSet};

use super::connection::Connection;
use super::{ConnectionFace, ResultFace, RowFace, Sql, ValueFace};
use crate::log::Level;
use crate::lua::host::Host;

/// `SB_CNT_OTHER`, `SB_CNT_READ`, `SB_CNT_WRITE`.
const OTHER: i32 = 0;
const READ: i32 = 1;
const WRITE: i32 = 2;

/// Where a script is in the results of its last statement.
#[derive(Default)]
pub struct Rows {
    /// There is a result that was not freed.
    is_live: bool,
    set: usize,
    next: usize,
    values: Vec<ValueFace>,
    bytes: Vec<u8>,
}

impl Connection {
    /// Counts all results that came.
    pub(super) fn count(&mut self, host: &Host) {
        for set in self.results.sets() {
            let Reply {
                has_result_set,
                rows_returned,
                rows_affected,
                ..
            } = set.reply;
            host.statement(StatementResult {
                has_result_set,
                rows_returned,
                rows_affected,
            });
        }
    }

    /// Makes the first result the live one. False when it is no result set.
    pub(super) fn show_first(&mut self) -> bool {
        self.show(0)
    }

    fn show(&mut self, place: usize) -> bool {
        (self.rows.set, self.rows.next) = (place, 0);
        let set = self.results.sets().get(place);
        let is_live = set.is_some_and(|set| set.reply.has_result_set);
        let face = set.map(shown).unwrap_or_default();
        self.rows.is_live = is_live;
        let row = RowFace { values: null() };
        self.face.set(ConnectionFace {
            result: face,
            row,
            ..self.face.get()
        });
        is_live
    }

    /// Whether the statement gave further results.
    pub fn has_more_results(&self) -> bool {
        self.rows.set + 1 < self.results.sets().len()
    }

    /// Makes the next result the live one. False when it is no result set, or there is none.
    pub fn next_result(&mut self) -> bool {
        let next = self.rows.set + 1;
        next <= self.results.sets().len() && self.show(next)
    }

    /// Forgets the results. False when there was none.
    pub fn free_result(&mut self) -> bool {
        if !std::mem::take(&mut self.rows.is_live) {
            return false;
        }
        self.results.clear();
        self.show(0);
        true
    }

    /// Decodes the next row; null after the last.
    fn fetch(&mut self, host: &Host) -> *const RowFace {
        let Rows {
            set,
            next,
            values,
            bytes,
            ..
        } = &mut self.rows;
        let Some(set) = self.results.sets().get(*set).filter(|set| *next < set.rows()) else {
            return null();
        };
        values.clear();
        bytes.clear();
        let read = set.row(*next, |value| {
            values.push(ValueFace {
                len: value.map_or(0, <[u8]>::len) as u32,
                ptr: if value.is_some() { PRESENT } else { null() },
            });
            bytes.extend_from_slice(value.unwrap_or_default());
        });
        *next += 1;
        if let Err(error) = read {
            host.log(Level::Fatal, format_args!("the server sent no proper row: {error}"));
            return null();
        }
        point(values, bytes);
        let row = RowFace {
            values: values.as_ptr(),
        };
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

/// Marks a value that is not NULL until all bytes are where they stay.
const PRESENT: *const c_char = c"".as_ptr();

/// Lets values point to their bytes, which lie one after the other.
fn point(values: &mut [ValueFace], bytes: &[u8]) {
    let mut at = 0;
    for value in values.iter_mut().filter(|value| !value.ptr.is_null()) {
        value.ptr = bytes[at..].as_ptr().cast();
        at += value.len as usize;
    }
}

fn shown(set: &ResultSet) -> ResultFace {
    ResultFace {
        counter: match set.reply {
            reply if reply.has_result_set => READ,
            reply if reply.rows_affected > 0 => WRITE,
            _ => OTHER,
        },
        nrows: u32::try_from(set.rows()).unwrap_or(u32::MAX),
        nfields: set.columns() as u32,
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
        let place = self.connections.find(face.cast())?;
        Some(self.connections.at(place))
    }

    /// The next row of a result; null after the last, and for what is no live result.
    pub fn fetch_row(&mut self, host: &Host, result: *const ResultFace) -> *const RowFace {
        match self.owner(result) {
            Some(connection) if connection.rows.is_live => connection.fetch(host),
            _ => {
                host.log(Level::Alert, "attempt to fetch row from an invalid result set");
                null()
            }
        }
    }

    /// Forgets a result. False when there is none.
    pub fn free_result(&mut self, host: &Host, result: *const ResultFace) -> bool {
        let is_freed = self.owner(result).is_some_and(Connection::free_result);
        if !is_freed {
            host.log(Level::Alert, "attempt to free an invalid result set");
        }
        is_freed
    }
}

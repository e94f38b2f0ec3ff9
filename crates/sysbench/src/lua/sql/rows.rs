//! Where a script is in the results of its last statement: which of several it is, which row comes next.

use std::ffi::c_char;
use std::ptr::null;

use plimsoll_wire::{Captured, ResultSet, WireError};

use super::{ResultFace, ValueFace};

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
    /// A value while it is decoded.
    value: Captured,
}

impl Rows {
    /// Whether there is a result that was not freed.
    pub(super) fn is_live(&self) -> bool {
        self.is_live
    }

    /// The number of the result that follows.
    pub(super) fn set_next(&self) -> usize {
        self.set + 1
    }

    /// Makes one of these results the live one, if it is a result set; gives how Lua sees it.
    pub(super) fn show(&mut self, sets: &[ResultSet], index: usize) -> ResultFace {
        let set = sets.get(index);
        (self.set, self.next) = (index, 0);
        self.is_live = set.is_some_and(|set| set.reply.has_result_set);
        set.map(shown).unwrap_or_default()
    }

    /// Takes note that the result was freed. False when there was none.
    pub(super) fn end(&mut self) -> bool {
        std::mem::take(&mut self.is_live)
    }

    /// Decodes the next row of these results; `None` after the last.
    pub(super) fn fetch(&mut self, sets: &[ResultSet]) -> Result<Option<*const ValueFace>, WireError> {
        let Self {
            set,
            next,
            values,
            bytes,
            value,
            ..
        } = self;
        let Some(set) = sets.get(*set).filter(|set| *next < set.rows()) else {
            return Ok(None);
        };
        values.clear();
        bytes.clear();
        let read = set.row(*next, value, |text| {
            values.push(ValueFace {
                len: text.map_or(0, <[u8]>::len) as u32,
                ptr: if text.is_some() { PRESENT } else { null() },
            });
            bytes.extend_from_slice(text.unwrap_or_default());
        });
        *next += 1;
        read?;
        point(values, bytes);
        Ok(Some(values.as_ptr()))
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

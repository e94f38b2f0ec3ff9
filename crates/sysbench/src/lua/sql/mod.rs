//! `sysbench.sql` on our wire: connections, results and statements that Lua holds by pointer.
//!
//! Whatever a script hands in is looked up before it is used: a closed connection, a foreign statement, a freed result are
//! errors of the script and never touch memory that is gone.

mod bulk;
mod bulk_insert;
mod connection;
mod emulate;
mod failure;
mod params;
mod query;
mod result;
mod rows;
mod statement;

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null;

pub use connection::Connection;
pub use params::Param;
pub use result::result_of;
pub use statement::Statement;

use super::slab::Slab;
use super::thread_context::ThreadContext;
use crate::log::Level;

/// What became of the last call on a connection, as `sysbench.sql.error` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Verdict {
    /// It succeeded.
    None,
    /// The event may be tried again.
    Ignorable,
    /// The run should end.
    Fatal,
}

/// A driver as Lua sees it.
#[repr(C)]
pub struct DriverFace {
    /// `mysql`.
    pub sname: *const c_char,
}

/// A connection as Lua sees it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ConnectionFace {
    /// A [`Verdict`].
    pub error: c_int,
    /// MySQL's number of the last error, or 0.
    pub sql_errno: c_int,
    /// Five characters.
    pub sql_state: *const c_char,
    /// The text of the last error.
    pub sql_errmsg: *const c_char,
    /// Its driver.
    pub driver: *const c_void,
    /// The one live result.
    pub result: ResultFace,
    /// The row fetched last.
    pub row: RowFace,
}

/// A result as Lua sees it.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct ResultFace {
    /// How it counts, an `sb_counter_type`.
    pub counter: c_int,
    /// Rows.
    pub nrows: u32,
    /// Columns.
    pub nfields: u32,
}

/// A row as Lua sees it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct RowFace {
    /// As many as the result has columns.
    pub values: *const ValueFace,
}

/// A value as Lua sees it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ValueFace {
    /// Bytes.
    pub len: u32,
    /// NULL for NULL.
    pub ptr: *const c_char,
}

/// A statement as Lua sees it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct StatementFace {
    /// The connection that it was prepared on.
    pub connection: *const ConnectionFace,
    /// Its `?`.
    pub nparams: u32,
}

/// A parameter as Lua sees it: the value that the next execution takes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ParamFace {
    /// A number of `sysbench.sql.type`.
    pub kind: c_int,
    /// NULL, whatever the other fields say.
    pub is_null: bool,
    /// For integers.
    pub int_value: i64,
    /// For numbers with fractions.
    pub double_value: f64,
    /// Bytes of the text.
    pub length: u64,
    /// Room for text.
    pub max_length: u64,
    /// The text.
    pub buffer: *mut c_char,
}

impl Default for ConnectionFace {
    fn default() -> Self {
        Self {
            error: 0,
            sql_errno: 0,
            sql_state: c"".as_ptr(),
            sql_errmsg: c"".as_ptr(),
            driver: null(),
            result: ResultFace::default(),
            row: RowFace { values: null() },
        }
    }
}

impl Default for StatementFace {
    fn default() -> Self {
        Self {
            connection: null(),
            nparams: 0,
        }
    }
}

impl Default for ParamFace {
    fn default() -> Self {
        Self {
            kind: 0,
            is_null: true,
            int_value: 0,
            double_value: 0.0,
            length: 0,
            max_length: 0,
            buffer: std::ptr::null_mut(),
        }
    }
}

/// Everything of one state that has to do with SQL.
#[derive(Default)]
pub struct Sql {
    pub connections: Slab<Connection>,
    pub statements: Slab<Statement>,
    pub params: Slab<Param>,
}

impl Sql {
    /// Finds a connection by its face, and says what is wrong where there is none.
    pub fn connection(&mut self, thread: &ThreadContext, face: *const ConnectionFace) -> Option<&mut Connection> {
        let Some(index) = self.connections.find(face) else {
            thread.log(Level::Alert, "attempt to use an invalid connection");
            return None;
        };
        Some(self.connections.at(index))
    }

    /// Lua holds a connection no more.
    pub fn release_connection(&mut self, thread: &ThreadContext, face: *const ConnectionFace) {
        if let Some(index) = self.connections.find(face) {
            self.let_connection_go(thread, index);
        }
    }

    fn let_connection_go(&mut self, thread: &ThreadContext, index: usize) {
        if let Some(connection) = self.connections.release(index) {
            connection.close(thread);
        }
    }

    /// Lua holds a statement no more.
    pub fn release_statement(&mut self, thread: &ThreadContext, face: *const StatementFace) {
        let Some(index) = self.statements.find(face) else {
            return;
        };
        let connection = self.statements.at(index).connection();
        self.close_statement(face);
        self.unbind(index);
        self.statements.release(index);
        self.let_connection_go(thread, connection);
    }

    /// Lua holds a parameter no more.
    pub fn release_param(&mut self, face: *const ParamFace) {
        if let Some(index) = self.params.find(face) {
            self.let_param_go(index);
        }
    }

    fn let_param_go(&mut self, index: usize) {
        if let Some(param) = self.params.release(index) {
            param.end();
        }
    }

    /// A statement takes no values from its parameters any more.
    fn unbind(&mut self, index: usize) {
        for param in std::mem::take(&mut self.statements.at(index).bound) {
            self.let_param_go(param);
        }
    }
}

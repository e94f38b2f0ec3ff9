//! Prepared statements of a script.

use std::ptr::null_mut;

use plimsoll_core::fault::FaultKind;
use plimsoll_engine::StatementResult;
use plimsoll_wire::{PreparedStatement, Sink, Value, WireError};

use super::connection::Connection;
use super::emulate::Parts;
use super::failure::Failure;
use super::params::Param;
use super::query::closed;
use super::result::result_of;
use super::{ConnectionFace, ParamFace, ResultFace, Sql, StatementFace, Verdict};
use crate::log::Level;
use crate::lua::fixed::Fixed;
use crate::lua::slab::{Faced, Slab};
use crate::lua::thread_context::ThreadContext;

/// So many values are buffered on the stack.
const VALUES_FEW: usize = 8;

/// A prepared statement.
#[derive(Default)]
pub struct Statement {
    face: Fixed<StatementFace>,
    connection: usize,
    sql: Vec<u8>,
    form: Form,
    /// Parameters, in order.
    pub(super) bound: Vec<usize>,
}

/// Who puts values into it.
#[derive(Default)]
enum Form {
    /// Nobody: it was closed.
    #[default]
    Closed,
    /// The server, on the connection of this number.
    Prepared(u64, PreparedStatement),
    /// We.
    Emulated(Parts),
    /// It is on no server: a new connection has to prepare it, or nothing is sent at all.
    Pending,
}

impl Faced for Statement {
    type Face = StatementFace;

    fn face(&self) -> *mut StatementFace {
        self.face.pointer()
    }
}

impl Statement {
    pub(super) fn connection(&self) -> usize {
        self.connection
    }

    /// Prepares it on the connection's server.
    fn prepare(&mut self, connection: &mut Connection) -> Result<(), WireError> {
        let prepared = match &mut connection.wire {
            Some(wire) => wire.prepare(&self.sql),
            None => Err(closed()),
        };
        self.form = match prepared {
            Ok(prepared) => Form::Prepared(connection.number, prepared),
            Err(error) if error.kind() == FaultKind::TextOnly => Form::Emulated(Parts::new(&self.sql)),
            Err(error) => return Err(error),
        };
        Ok(())
    }

    fn parameter_count(&self) -> usize {
        match &self.form {
            Form::Prepared(_, statement) => usize::from(statement.parameter_count),
            Form::Emulated(parts) => parts.count(),
            Form::Closed | Form::Pending => Parts::new(&self.sql).count(),
        }
    }

    /// Executes it. Whether it gave a result set.
    #[inline]
    fn execute(&mut self, thread: &ThreadContext, connection: &mut Connection, values: &[Value<'_>]) -> bool {
        let what = "mysql_stmt_execute()";
        connection.free_result();
        if let Form::Emulated(parts) = &self.form {
            return connection.query_as(thread, "mysql_drv_query()", &parts.with(values));
        }
        if connection.is_dry {
            thread.statement(StatementResult::default());
            return false;
        }
        if !matches!(self.form, Form::Prepared(number, _) if number == connection.number) {
            if let Err(error) = self.prepare(connection) {
                return connection.settle(thread, Err(error), what, &self.sql);
            }
        }
        let outcome = match (&self.form, &mut connection.wire) {
            (Form::Prepared(_, statement), Some(wire)) => {
                wire.run(statement, values, Sink::Whole(&mut connection.results))
            }
            _ => Err(closed()),
        };
        connection.settle(thread, outcome, what, &self.sql)
    }

    /// Closes it on its server, if that is still there.
    fn close(&mut self, connection: &mut Connection) {
        if let Form::Prepared(number, statement) = std::mem::take(&mut self.form) {
            if let Some(wire) = connection.wire.as_mut().filter(|_| number == connection.number) {
                let _ = wire.close_statement(statement); // a connection that is gone is noticed by the next statement
            }
        }
    }
}

impl Sql {
    /// Prepares a statement; null when that failed, which was said.
    pub fn prepare(&mut self, thread: &ThreadContext, face: *const ConnectionFace, sql: &[u8]) -> *mut StatementFace {
        let Some(index) = self.connections.find(face) else {
            thread.log(Level::Alert, "attempt to use an invalid connection");
            return null_mut();
        };
        let connection = self.connections.at(index);
        if !connection.check_open(thread) {
            return null_mut();
        }
        connection.free_result();
        let mut statement = Statement {
            sql: sql.to_vec(),
            form: Form::Pending,
            ..Statement::default()
        };
        if thread.shared.config.emulates_prepared {
            statement.form = Form::Emulated(Parts::new(sql));
        } else if !connection.is_dry {
            while let Err(error) = statement.prepare(connection) {
                if !say_unprepared(thread, connection, &error, sql) {
                    return null_mut();
                }
            }
        }
        self.connections.hold(index);
        self.add_statement(statement, index)
    }

    fn add_statement(&mut self, statement: Statement, connection: usize) -> *mut StatementFace {
        let index = self.statements.add();
        let shown = StatementFace {
            connection: self.connections.at(connection).face(),
            nparams: statement.parameter_count() as u32,
        };
        let slot = self.statements.at(index);
        (slot.sql, slot.form, slot.connection) = (statement.sql, statement.form, connection);
        slot.face.set(shown);
        slot.face()
    }

    /// Makes a parameter; null for a type that cannot be bound.
    pub fn create_param(&mut self, kind: i32, max_length: u64) -> *mut ParamFace {
        let index = self.params.add();
        let param = self.params.at(index);
        if param.begin(kind, max_length) {
            return param.face();
        }
        self.params.release(index);
        null_mut()
    }

    /// Lets a statement take its values from these parameters. False when their number is wrong or one is none.
    pub fn bind(&mut self, thread: &ThreadContext, face: *const StatementFace, params: &[*const ParamFace]) -> bool {
        let Some(index) = self.statements.find(face) else {
            thread.log(Level::Alert, "attempt to use an invalid statement");
            return false;
        };
        let wanted = self.statements.at(index).parameter_count();
        if wanted != params.len() {
            thread.log(Level::Fatal, "Wrong number of parameters to mysql_stmt_bind_param");
            return false;
        }
        let indexes: Option<Vec<usize>> = params.iter().map(|param| self.params.find(*param)).collect();
        let Some(indexes) = indexes else {
            thread.log(Level::Alert, "attempt to bind what is no parameter");
            return false;
        };
        for param in &indexes {
            self.params.hold(*param);
        }
        self.unbind(index);
        self.statements.at(index).bound = indexes;
        true
    }

    /// Executes a statement; null without a result set.
    #[inline]
    pub fn execute(&mut self, thread: &ThreadContext, face: *const StatementFace) -> *mut ResultFace {
        let Some(index) = self.statements.find(face) else {
            thread.log(Level::Alert, "attempt to use an invalid statement");
            return null_mut();
        };
        let statement = self.statements.at(index);
        let connection = self.connections.at(statement.connection);
        if !connection.check_open(thread) {
            return null_mut();
        }
        if matches!(statement.form, Form::Closed) {
            thread.log(Level::Alert, "attempt to use an already closed statement");
            connection.verdict(Verdict::Fatal);
            return null_mut();
        }
        let bound = std::mem::take(&mut statement.bound);
        let is_result = with_values(&self.params, &bound, |values| {
            statement.execute(thread, connection, values)
        });
        statement.bound = bound;
        if is_result {
            result_of(connection.face())
        } else {
            null_mut()
        }
    }

    /// Closes a statement; Lua may hold it on.
    pub fn close_statement(&mut self, face: *const StatementFace) -> bool {
        let Some(index) = self.statements.find(face) else {
            return false;
        };
        let statement = self.statements.at(index);
        statement.close(self.connections.at(statement.connection));
        true
    }
}

/// Calls with the values of these parameters as they are now.
#[inline]
fn with_values<R>(params: &Slab<Param>, bound: &[usize], action: impl FnOnce(&[Value<'_>]) -> R) -> R {
    if bound.len() > VALUES_FEW {
        let values: Vec<Value<'_>> = bound.iter().map(|index| params.get(*index).value()).collect();
        return action(&values);
    }
    let mut values = [Value::Null; VALUES_FEW];
    for (value, index) in values.iter_mut().zip(bound) {
        *value = params.get(*index).value();
    }
    action(&values[..bound.len()])
}

/// Says why a statement could not be prepared. True when the connection was lost, that is lived with, and it is back.
fn say_unprepared(thread: &ThreadContext, connection: &mut Connection, error: &WireError, sql: &[u8]) -> bool {
    let failure = Failure::from(error);
    if failure.is_lost {
        connection.fail(thread, &failure, "mysql_stmt_prepare()", sql);
        return connection.face.get().error == Verdict::Ignorable as i32;
    }
    thread.log(Level::Fatal, "mysql_stmt_prepare() failed");
    thread.log(
        Level::Fatal,
        format_args!("MySQL error: {} \"{}\"", failure.code, failure.message),
    );
    connection.verdict(Verdict::Fatal);
    false
}

//! Prepared statements of a script.

use std::ptr::null_mut;

use plimsoll_engine::StatementResult;
use plimsoll_wire::{Statement as WireStatement, Value, WireError};

use super::connection::{Connection, closed};
use super::emulate::Parts;
use super::failure::Failure;
use super::params::Param;
use super::result::result_of;
use super::{ConnectionFace, ParamFace, ResultFace, Sql, StatementFace, Verdict};
use crate::log::Level;
use crate::lua::host::Host;
use crate::lua::slab::{Faced, Fixed, Slab};

/// The server prepares no statements of this kind.
const UNSUPPORTED: u16 = 1295;

/// So many values are kept on the stack.
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
    Prepared(u64, WireStatement),
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
            Err(error) if error.server_code() == Some(UNSUPPORTED) => Form::Emulated(Parts::new(&self.sql)),
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
    fn execute(&mut self, host: &Host, connection: &mut Connection, values: &[Value<'_>]) -> bool {
        let what = "mysql_stmt_execute()";
        connection.free_result();
        if let Form::Emulated(parts) = &self.form {
            return connection.query_as(host, "mysql_drv_query()", &parts.with(values));
        }
        if connection.is_dry {
            host.statement(StatementResult::default());
            return false;
        }
        if !matches!(self.form, Form::Prepared(number, _) if number == connection.number) {
            if let Err(error) = self.prepare(connection) {
                return connection.settle(host, Err(error), what, &self.sql);
            }
        }
        let outcome = match (&self.form, &mut connection.wire) {
            (Form::Prepared(_, statement), Some(wire)) => {
                wire.execute_whole(statement, values, &mut connection.results)
            }
            _ => Err(closed()),
        };
        connection.settle(host, outcome, what, &self.sql)
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
    pub fn prepare(&mut self, host: &Host, face: *const ConnectionFace, sql: &[u8]) -> *mut StatementFace {
        let Some(place) = self.connections.find(face) else {
            host.log(Level::Alert, "attempt to use an invalid connection");
            return null_mut();
        };
        let connection = self.connections.at(place);
        if !connection.check_open(host) {
            return null_mut();
        }
        connection.free_result();
        let mut statement = Statement {
            sql: sql.to_vec(),
            form: Form::Pending,
            ..Statement::default()
        };
        if host.shared.config.emulates_prepared {
            statement.form = Form::Emulated(Parts::new(sql));
        } else if !connection.is_dry {
            while let Err(error) = statement.prepare(connection) {
                if !say_unprepared(host, connection, &error, sql) {
                    return null_mut();
                }
            }
        }
        self.connections.hold(place);
        self.add_statement(statement, place)
    }

    fn add_statement(&mut self, statement: Statement, connection: usize) -> *mut StatementFace {
        let place = self.statements.add();
        let shown = StatementFace {
            connection: self.connections.at(connection).face(),
            nparams: statement.parameter_count() as u32,
        };
        let slot = self.statements.at(place);
        (slot.sql, slot.form, slot.connection) = (statement.sql, statement.form, connection);
        slot.face.set(shown);
        slot.face()
    }

    /// Makes a parameter; null for a type that cannot be bound.
    pub fn create_param(&mut self, kind: i32, max_length: u64) -> *mut ParamFace {
        let place = self.params.add();
        let param = self.params.at(place);
        if param.begin(kind, max_length) {
            return param.face();
        }
        self.params.release(place);
        null_mut()
    }

    /// Lets a statement take its values from these parameters. False when their number is wrong or one is none.
    pub fn bind(&mut self, host: &Host, face: *const StatementFace, params: &[*const ParamFace]) -> bool {
        let Some(place) = self.statements.find(face) else {
            host.log(Level::Alert, "attempt to use an invalid statement");
            return false;
        };
        let wanted = self.statements.at(place).parameter_count();
        if wanted != params.len() {
            host.log(Level::Fatal, "Wrong number of parameters to mysql_stmt_bind_param");
            return false;
        }
        let places: Option<Vec<usize>> = params.iter().map(|param| self.params.find(*param)).collect();
        let Some(places) = places else {
            host.log(Level::Alert, "attempt to bind what is no parameter");
            return false;
        };
        for param in &places {
            self.params.hold(*param);
        }
        self.unbind(place);
        self.statements.at(place).bound = places;
        true
    }

    /// Executes a statement; null without a result set.
    #[inline]
    pub fn execute(&mut self, host: &Host, face: *const StatementFace) -> *mut ResultFace {
        let Some(place) = self.statements.find(face) else {
            host.log(Level::Alert, "attempt to use an invalid statement");
            return null_mut();
        };
        let statement = self.statements.at(place);
        let connection = self.connections.at(statement.connection);
        if !connection.check_open(host) {
            return null_mut();
        }
        if matches!(statement.form, Form::Closed) {
            host.log(Level::Alert, "attempt to use an already closed statement");
            connection.verdict(Verdict::Fatal);
            return null_mut();
        }
        let bound = std::mem::take(&mut statement.bound);
        let is_result = with_values(&self.params, &bound, |values| {
            statement.execute(host, connection, values)
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
        let Some(place) = self.statements.find(face) else {
            return false;
        };
        let statement = self.statements.at(place);
        statement.close(self.connections.at(statement.connection));
        true
    }
}

/// Calls with the values of these parameters as they are now.
#[inline]
fn with_values<R>(params: &Slab<Param>, bound: &[usize], action: impl FnOnce(&[Value<'_>]) -> R) -> R {
    if bound.len() > VALUES_FEW {
        let values: Vec<Value<'_>> = bound.iter().map(|place| params.get(*place).value()).collect();
        return action(&values);
    }
    let mut values = [Value::Null; VALUES_FEW];
    for (value, place) in values.iter_mut().zip(bound) {
        *value = params.get(*place).value();
    }
    action(&values[..bound.len()])
}

/// Says why a statement could not be prepared. True when the connection was lost, that is lived with, and it is back.
fn say_unprepared(host: &Host, connection: &mut Connection, error: &WireError, sql: &[u8]) -> bool {
    let failure = Failure::from(error);
    if failure.is_lost {
        connection.fail(host, &failure, "mysql_stmt_prepare()", sql);
        return connection.face.get().error == Verdict::Ignorable as i32;
    }
    host.log(Level::Fatal, "mysql_stmt_prepare() failed");
    host.log(
        Level::Fatal,
        format_args!("MySQL error: {} \"{}\"", failure.code, failure.message),
    );
    connection.verdict(Verdict::Fatal);
    false
}

//! A probe of one server before a trial, whatever its workload is: is it enough for so many connections?
//!
//! Deliberately not here: tables and rows, which each kind of workload knows for itself, and any change.

use std::time::Duration;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::Target;
use plimsoll_engine::WorkerFault;
use plimsoll_session::worker_fault;
use plimsoll_wire::{Connection, WireError};

use super::limits;
use crate::control;

/// How often and with what pause the server's limits are read before they count as too low: connections that
/// were closed just before are still counted for a moment.
const ATTEMPTS: (u32, Duration) = (20, Duration::from_millis(100));

/// A connection that looks at a server, and changes nothing.
pub struct Probe<'a> {
    /// To ask what no method here asks.
    pub connection: Connection,
    target: &'a Target,
}

impl<'a> Probe<'a> {
    /// Connects.
    ///
    /// # Errors
    /// When the server cannot be reached or does not let us in.
    pub fn open(target: &'a Target) -> Result<Self, WorkerFault> {
        Ok(Self {
            connection: control::open(target)?,
            target,
        })
    }

    /// Whether each statement ends with itself. Where no COMMIT does it, writes would never be kept, and reads would hold
    /// one old view of the data for the whole trial.
    ///
    /// # Errors
    /// When they do not, or when the server says no.
    pub fn autocommit(&mut self) -> Result<(), WorkerFault> {
        if self.number("SELECT @@autocommit")? == 1 {
            return Ok(());
        }
        Err(self.fault("autocommit is 0, and the workload has no COMMIT: set autocommit=1 on the server"))
    }

    /// Whether so many connections fit, and the statements that each of them will prepare.
    ///
    /// # Errors
    /// When they do not, or when the server says no.
    pub fn limits(&mut self, connections: u32, statements_each: u64) -> Result<(), WorkerFault> {
        let connections = u64::from(connections);
        let mut attempts = 1;
        while let Some(fault) = limits::fault(&mut |sql| self.number(sql), connections, connections * statements_each)?
        {
            if attempts == ATTEMPTS.0 {
                return Err(self.fault(&fault));
            }
            std::thread::sleep(ATTEMPTS.1);
            attempts += 1;
        }
        Ok(())
    }

    /// The number that a query gives.
    ///
    /// # Errors
    /// When it gives none, or when the server says no.
    pub fn number(&mut self, sql: &str) -> Result<u64, WorkerFault> {
        let rows = self.ask(|connection| connection.query_rows(sql, 1))?;
        let last = rows.first().map_or(0, |row| row.len().saturating_sub(1));
        control::first_number(&rows, last).ok_or_else(|| self.fault(&format!("{sql}: no number came back")))
    }

    /// Asks anything.
    ///
    /// # Errors
    /// What the question failed with; it says where.
    pub fn ask<T>(&mut self, ask: impl FnOnce(&mut Connection) -> Result<T, WireError>) -> Result<T, WorkerFault> {
        ask(&mut self.connection).map_err(|error| worker_fault(&error, &format!("look at {}", self.target.endpoint)))
    }

    /// Something wrong with this server.
    pub fn fault(&self, message: &str) -> WorkerFault {
        let target = self.target;
        let message = format!("{}, database {}: {message}", target.endpoint, target.database);
        WorkerFault::new(FailureClass::Target, message)
    }
}

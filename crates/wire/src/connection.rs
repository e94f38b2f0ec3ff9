//! A connection to a server: logs in, sends commands, reads their replies. One command at a time, blocking.
//!
//! Deliberately not here: retries and reconnects. A connection that broke stays broken, so that no reply can be taken for
//! another's.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plimsoll_core::plan::Target;

use crate::channel::Channel;
use crate::codec::capability;
use crate::codec::greeting::ServerInfo;
use crate::codec::row::TextRow;
use crate::codec::statement::{Statement, Value};
use crate::connector::Connector;
use crate::error::WireError;
use crate::first_row::FirstRow;
use crate::interrupter::Interrupter;
use crate::login::Agreement;
use crate::replies::{KeptRows, Replies, Reply, Take};
use crate::results::Results;
use crate::tls::Encryption;

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const COM_PING: u8 = 0x0E;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_CLOSE: u8 = 0x19;

/// How to connect.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Looking up the host's name and connecting may take so long; then logging in and what is run first again so long.
    pub connect_timeout: Duration,
    /// Over TCP the connection is lost when the other machine says nothing for so long although it was asked; known to a
    /// second or two. However long a statement takes has nothing to do with it.
    pub network_timeout: Duration,
    /// The server may ask for the data of LOAD DATA LOCAL; needed for [`Connection::load_local`].
    pub local_infile: bool,
    /// A query may be several statements, with semicolons between them.
    pub multi_statements: bool,
    /// What each connection runs first.
    pub opening: Vec<String>,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            network_timeout: Duration::from_secs(30),
            local_infile: false,
            multi_statements: false,
            opening: Vec::new(),
        }
    }
}

/// An open connection.
#[derive(Debug)]
pub struct Connection {
    channel: Channel,
    server: ServerInfo,
    capabilities: u64,
    /// Unique within this process, so that a statement cannot be used on another connection.
    number: u64,
    broken: bool,
}

impl Connection {
    /// Opens a single connection.
    ///
    /// # Errors
    /// As [`Connector::open`], which is for more than one.
    pub fn open(target: &Target, options: &ConnectOptions) -> Result<Self, WireError> {
        Connector::new(target.clone()).open(options, &Interrupter::default())
    }

    /// A connection that is logged in. Runs what is to be run first, and lifts the limit that logging in had.
    pub(crate) fn begin(channel: Channel, agreement: Agreement, options: &ConnectOptions) -> Result<Self, WireError> {
        static OPENED: AtomicU64 = AtomicU64::new(0);
        let mut connection = Self {
            channel,
            server: agreement.server,
            capabilities: agreement.capabilities,
            number: OPENED.fetch_add(1, Ordering::Relaxed),
            broken: false,
        };
        for sql in &options.opening {
            connection.query(sql)?;
        }
        connection.channel.lift_deadline()?;
        Ok(connection)
    }

    /// Who the server says it is.
    pub fn server(&self) -> &ServerInfo {
        &self.server
    }

    /// How the connection is encrypted; `None` when it is not.
    pub fn encryption(&self) -> Option<Encryption> {
        self.channel.encryption()
    }

    /// Runs a statement given as text. Rows are counted, none are kept.
    ///
    /// # Errors
    /// When the server refuses it or the connection breaks.
    pub fn query(&mut self, sql: &str) -> Result<Reply, WireError> {
        self.run_text(sql, Take::Nothing)
    }

    /// Runs a statement given as text, and keeps values of its first row.
    ///
    /// # Errors
    /// As [`Self::query`]; and when its result lacks a column that is to be kept.
    pub fn query_keeping(&mut self, sql: &str, kept: &mut FirstRow) -> Result<Reply, WireError> {
        kept.begin(false);
        let reply = self.run_text(sql, Take::First(kept))?;
        kept.complete()?;
        Ok(reply)
    }

    /// Runs a control query and returns its rows, NULL as `None`.
    ///
    /// # Errors
    /// As [`Self::query`]; and when there are more than `rows_max` rows or more than [`crate::ROWS_BYTES_MAX`] bytes of them.
    pub fn query_rows(&mut self, sql: &str, rows_max: usize) -> Result<Vec<Vec<Option<String>>>, WireError> {
        let mut kept = KeptRows::new(rows_max);
        self.run_text(sql, Take::Rows(&mut kept))?;
        kept.into_rows()
    }

    /// Runs one or more statements given as text, and keeps all their results.
    ///
    /// # Errors
    /// As [`Self::query`]; of the statement that failed, when those before it are done. And when the rows have more bytes
    /// than there is room for.
    pub fn query_whole(&mut self, sql: &[u8], results: &mut Results) -> Result<(), WireError> {
        results.clear();
        results.is_binary = false;
        self.run_text(sql, Take::Whole(results))?;
        results.complete()
    }

    /// Executes a prepared statement, and keeps all its results.
    ///
    /// # Errors
    /// As [`Self::execute`]; and when the rows have more bytes than there is room for.
    ///
    /// # Panics
    /// When another connection prepared the statement.
    pub fn execute_whole(
        &mut self,
        statement: &Statement,
        parameters: &[Value<'_>],
        results: &mut Results,
    ) -> Result<(), WireError> {
        results.clear();
        results.is_binary = true;
        self.run_prepared(statement, parameters, Take::Whole(results))?;
        results.complete()
    }

    /// Runs a query given as text and hands each of its rows over, however many there are.
    ///
    /// # Errors
    /// As [`Self::query`]; and when a row has more than [`TextRow::COLUMNS_MAX`] values. Rows may have been handed over before.
    pub fn query_each(&mut self, sql: &str, hand_over: &mut dyn FnMut(&TextRow<'_>)) -> Result<Reply, WireError> {
        self.run_text(sql, Take::Each(hand_over))
    }

    /// Runs LOAD DATA LOCAL with data from memory: `next` appends some of it to the empty buffer it is given, and returns
    /// false when there is no more. The file named in the statement is not opened.
    ///
    /// # Errors
    /// As [`Self::query`]; the server refuses unless its `local_infile` is on and [`ConnectOptions::local_infile`] was set.
    pub fn load_local(&mut self, sql: &str, next: &mut dyn FnMut(&mut Vec<u8>) -> bool) -> Result<Reply, WireError> {
        self.run_text(sql, Take::File(next))
    }

    /// Prepares a statement.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub fn prepare(&mut self, sql: impl AsRef<[u8]>) -> Result<Statement, WireError> {
        self.check_usable()?;
        self.put_command(COM_STMT_PREPARE, sql.as_ref());
        let outcome = self.channel.send().and_then(|()| self.replies().read_prepared());
        let (prepared, definitions) = self.settle(outcome)?;
        Ok(Statement::new(prepared, definitions, self.number))
    }

    /// Executes a prepared statement with these values. Rows are counted, none are kept.
    ///
    /// # Errors
    /// As [`Self::query`]; and when there are more or fewer values than parameters.
    ///
    /// # Panics
    /// When another connection prepared the statement.
    #[inline]
    pub fn execute(&mut self, statement: &Statement, parameters: &[Value<'_>]) -> Result<Reply, WireError> {
        self.run_prepared(statement, parameters, Take::Nothing)
    }

    /// Executes a prepared statement, and keeps values of its first row.
    ///
    /// # Errors
    /// As [`Self::execute`]; and when its result lacks a column that is to be kept.
    ///
    /// # Panics
    /// When another connection prepared the statement.
    pub fn execute_keeping(
        &mut self,
        statement: &Statement,
        parameters: &[Value<'_>],
        kept: &mut FirstRow,
    ) -> Result<Reply, WireError> {
        kept.begin(true);
        let reply = self.run_prepared(statement, parameters, Take::First(kept))?;
        kept.complete()?;
        Ok(reply)
    }

    #[inline]
    fn run_prepared(
        &mut self,
        statement: &Statement,
        parameters: &[Value<'_>],
        take: Take<'_>,
    ) -> Result<Reply, WireError> {
        assert_eq!(
            statement.connection, self.number,
            "the statement was prepared on another connection"
        );
        self.check_usable()?;
        if parameters.len() != usize::from(statement.parameter_count) {
            let (parameters, values) = (statement.parameter_count, parameters.len());
            return Err(WireError::ParameterCount { parameters, values });
        }
        statement.encode_execute(parameters, self.channel.begin());
        let outcome = self.channel.send().and_then(|()| {
            let mut replies = self.replies();
            replies.known = replies.caches_metadata.then_some(&statement.definitions);
            replies.read(take)
        });
        if outcome.is_err() {
            statement.forget_types();
        }
        self.settle(outcome)
    }

    /// Makes the server forget a statement. The server does not answer.
    ///
    /// # Errors
    /// When the connection breaks.
    ///
    /// # Panics
    /// When another connection prepared the statement.
    #[expect(clippy::needless_pass_by_value, reason = "a closed statement must not be used again")]
    pub fn close_statement(&mut self, statement: Statement) -> Result<(), WireError> {
        assert_eq!(
            statement.connection, self.number,
            "the statement was prepared on another connection"
        );
        self.check_usable()?;
        self.put_command(COM_STMT_CLOSE, &statement.id.to_le_bytes());
        let outcome = self.channel.send();
        self.settle(outcome)
    }

    /// Asks the server for a sign of life.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub fn ping(&mut self) -> Result<(), WireError> {
        self.check_usable()?;
        self.put_command(COM_PING, &[]);
        let outcome = self.channel.send().and_then(|()| self.replies().read(Take::Nothing));
        self.settle(outcome).map(|_| ())
    }

    /// A handle by which another thread can end this connection.
    pub fn interrupter(&self) -> Interrupter {
        self.channel.interrupter()
    }

    /// Says good-bye, so that the server does not count an aborted client, and closes. Dropping only closes.
    pub fn close(mut self) {
        if !self.broken {
            self.put_command(COM_QUIT, &[]);
            let _ = self.channel.send(); // the connection is closed either way
        }
    }

    #[inline]
    fn check_usable(&self) -> Result<(), WireError> {
        if self.broken {
            Err(WireError::Closed {
                endpoint: self.channel.endpoint.clone(),
            })
        } else {
            Ok(())
        }
    }

    /// Remembers errors that leave the exchange unfinished.
    #[inline]
    fn settle<T>(&mut self, outcome: Result<T, WireError>) -> Result<T, WireError> {
        if let Err(error) = &outcome {
            self.broken |= error.breaks_connection();
        }
        outcome
    }

    fn replies(&mut self) -> Replies<'_> {
        Replies {
            caches_metadata: self.capabilities & capability::CACHE_METADATA != 0,
            channel: &mut self.channel,
            known: None,
        }
    }

    fn put_command(&mut self, command: u8, argument: &[u8]) {
        let out = self.channel.begin();
        out.push(command);
        out.extend_from_slice(argument);
    }

    fn run_text(&mut self, sql: impl AsRef<[u8]>, take: Take<'_>) -> Result<Reply, WireError> {
        self.check_usable()?;
        self.put_command(COM_QUERY, sql.as_ref());
        let outcome = self.channel.send().and_then(|()| self.replies().read(take));
        self.settle(outcome)
    }
}

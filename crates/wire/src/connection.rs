//! A connection to a server: logs in, sends commands, reads their replies. One command at a time, blocking.
//!
//! Deliberately not here: retries and reconnects. A connection that broke stays broken, so that no reply can be taken for
//! another's.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::channel::Channel;
use crate::codec::capability;
use crate::codec::greeting::ServerInfo;
use crate::codec::row::TextRow;
use crate::codec::statement::{PreparedStatement, Value};
use crate::error::{Cause, WireError};
use crate::interrupter::Interrupter;
use crate::login::Agreement;
use crate::options::ConnectOptions;
use crate::replies::Replies;
use crate::reply::Reply;
use crate::sink::{Sink, Take, TextRows};
use crate::statement::Statement;
use crate::tls::Encryption;

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const COM_PING: u8 = 0x0E;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_CLOSE: u8 = 0x19;

/// An open connection.
#[derive(Debug)]
pub struct Connection {
    channel: Channel,
    server: ServerInfo,
    capabilities: u64,
    /// Unique within this process, so that a statement cannot be used on another connection.
    number: u64,
    broken: bool,
    /// The last that the server told of, in memory that is used again; `None` where it is not asked.
    last_gtid: Option<Vec<u8>>,
}

impl Connection {
    /// A connection that is logged in. Runs what is to be run first, and lifts the limit that logging in had.
    pub(crate) fn begin(channel: Channel, agreement: Agreement, options: &ConnectOptions) -> Result<Self, WireError> {
        static OPENED: AtomicU64 = AtomicU64::new(0);
        let mut connection = Self {
            channel,
            server: agreement.server,
            capabilities: agreement.capabilities,
            number: OPENED.fetch_add(1, Ordering::Relaxed),
            broken: false,
            last_gtid: None,
        };
        if options.tracks_gtid {
            connection.query(connection.server.flavour.track_gtid_sql())?;
            connection.last_gtid = Some(Vec::new());
        }
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

    /// The GTID of the last transaction that committed here; empty before the first, and where GTIDs are not asked for
    /// ([`ConnectOptions::tracks_gtid`]) or not in use. It has no other characters than letters, digits and `-:,_`.
    pub fn last_gtid(&self) -> &str {
        let gtid = self.last_gtid.as_deref().unwrap_or_default();
        std::str::from_utf8(gtid).expect("its characters were checked")
    }

    /// How the connection is encrypted; `None` when it is not.
    pub fn encryption(&self) -> Option<Encryption> {
        self.channel.encryption()
    }

    /// Runs a statement with these values, given as text, which has none, or prepared. Its rows go into the sink.
    ///
    /// # Errors
    /// When the server refuses it, the connection breaks, there are more or fewer values than parameters, or the sink has no
    /// room for the rows or misses a column. Of several statements in one text those before the failed one are done.
    ///
    /// # Panics
    /// When another connection prepared the statement.
    #[inline]
    pub fn run<'s>(
        &mut self,
        statement: impl Into<Statement<'s>>,
        values: &[Value<'_>],
        mut sink: Sink<'_>,
    ) -> Result<Reply, WireError> {
        let statement = statement.into();
        sink.begin(matches!(statement, Statement::Prepared(_)));
        let reply = self.exchange(statement, values, sink.take())?;
        sink.complete()?;
        Ok(reply)
    }

    /// Runs a statement given as text. Rows are counted.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn query(&mut self, sql: &str) -> Result<Reply, WireError> {
        self.run(sql, &[], Sink::Count)
    }

    /// Executes a prepared statement with these values. Rows are counted.
    ///
    /// # Errors
    /// As [`Self::run`].
    ///
    /// # Panics
    /// When another connection prepared the statement.
    #[inline]
    pub fn execute(&mut self, statement: &PreparedStatement, values: &[Value<'_>]) -> Result<Reply, WireError> {
        self.run(statement, values, Sink::Count)
    }

    /// Runs a control query and returns its rows, NULL as `None`.
    ///
    /// # Errors
    /// As [`Self::run`]; and when there are more than `rows_max` rows or more than [`crate::ROWS_BYTES_MAX`] bytes of them.
    pub fn query_rows(&mut self, sql: &str, rows_max: usize) -> Result<Vec<Vec<Option<String>>>, WireError> {
        let mut rows = TextRows::new(rows_max);
        self.exchange(sql.into(), &[], Take::Rows(&mut rows))?;
        rows.into_rows()
    }

    /// Runs a query given as text and hands each of its rows over, however many there are.
    ///
    /// # Errors
    /// As [`Self::run`]; and when a row has more than [`TextRow::COLUMNS_MAX`] values. Rows may have been handed over before.
    pub fn query_each(&mut self, sql: &str, hand_over: &mut dyn FnMut(&TextRow<'_>)) -> Result<Reply, WireError> {
        self.exchange(sql.into(), &[], Take::Each(hand_over))
    }

    /// Runs LOAD DATA LOCAL with data from memory: `next` appends some of it to the empty buffer it is given, and returns
    /// false when there is no more. The file named in the statement is not opened.
    ///
    /// # Errors
    /// As [`Self::run`]; the server refuses unless its `local_infile` is on and
    /// [`ConnectOptions::local_infile`](crate::ConnectOptions) was set.
    pub fn load_local(&mut self, sql: &str, next: &mut dyn FnMut(&mut Vec<u8>) -> bool) -> Result<Reply, WireError> {
        self.exchange(sql.into(), &[], Take::File(next))
    }

    /// Sends a statement and reads its reply: the one way of all of them.
    #[inline]
    fn exchange(&mut self, statement: Statement<'_>, values: &[Value<'_>], take: Take<'_>) -> Result<Reply, WireError> {
        self.check_usable()?;
        statement.check_values(values.len())?;
        let prepared = match statement {
            Statement::Text(sql) => {
                self.put_command(COM_QUERY, sql);
                None
            }
            Statement::Prepared(prepared) => {
                self.check_own(prepared);
                prepared.encode_execute(values, self.channel.begin());
                Some(prepared)
            }
        };
        let outcome = self.channel.send().and_then(|()| {
            let mut replies = self.replies();
            if replies.caches_metadata {
                replies.known = prepared.map(|prepared| &prepared.definitions);
            }
            replies.read(take)
        });
        if let (Err(_), Some(prepared)) = (&outcome, prepared) {
            prepared.forget_types();
        }
        self.settle(outcome)
    }

    /// Prepares a statement.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub fn prepare(&mut self, sql: impl AsRef<[u8]>) -> Result<PreparedStatement, WireError> {
        self.check_usable()?;
        self.put_command(COM_STMT_PREPARE, sql.as_ref());
        let outcome = self.channel.send().and_then(|()| self.replies().read_prepared());
        let (prepared, definitions) = self.settle(outcome)?;
        Ok(PreparedStatement::new(prepared, definitions, self.number))
    }

    /// Makes the server forget a statement. The server does not answer.
    ///
    /// # Errors
    /// When the connection breaks.
    ///
    /// # Panics
    /// When another connection prepared the statement.
    #[expect(clippy::needless_pass_by_value, reason = "a closed statement must not be used again")]
    pub fn close_statement(&mut self, statement: PreparedStatement) -> Result<(), WireError> {
        self.check_own(&statement);
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
    fn check_own(&self, statement: &PreparedStatement) {
        assert_eq!(
            statement.connection, self.number,
            "the statement was prepared on another connection"
        );
    }

    #[inline]
    fn check_usable(&self) -> Result<(), WireError> {
        if self.broken {
            let endpoint = self.channel.endpoint.clone();
            Err(Cause::Closed { endpoint }.into())
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
            last_gtid: self.last_gtid.as_mut(),
        }
    }

    fn put_command(&mut self, command: u8, argument: &[u8]) {
        let out = self.channel.begin();
        out.push(command);
        out.extend_from_slice(argument);
    }
}

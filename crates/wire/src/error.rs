//! What can go wrong on a connection, in words that a user can act on.

use std::io;
use std::time::Duration;

use plimsoll_core::fault::FaultKind;
use thiserror::Error;

use crate::codec::reply::ServerError;
use crate::codec::{ProtocolError, STATEMENT_BYTES_MAX};

/// Why no connection came about.
#[derive(Debug, Error)]
pub enum ConnectFailure {
    /// The name of the host means nothing here.
    #[error("unknown host ({0}); is its name spelled right?")]
    UnknownHost(String),
    /// Nobody listens there.
    #[error("connection refused; is the server running there?")]
    Refused,
    /// There is no socket of that name.
    #[error("there is no such socket; is the server running, and is this its socket?")]
    NoSocket,
    /// The name server did not answer in time.
    #[error("its name was not looked up within {0:?}; does the name server answer? An address needs none")]
    NoName(Duration),
    /// Another thread ended the attempt.
    #[error("the attempt was ended")]
    Interrupted,
    /// No answer in time.
    #[error("no answer within {0:?}; is the address right, and does a firewall let it through?")]
    TimedOut(Duration),
    /// It accepts connections and then says nothing, or not enough to log in.
    #[error("it accepts connections, but answered no login within {0:?}; does a MySQL server listen there?")]
    Silent(Duration),
    /// It accepts connections and ends them.
    #[error("it closed the connection during the login; its error log may say why")]
    HungUp,
    /// The server offers no encryption, and the target asks for it.
    #[error(
        "the server offers no encrypted connections (TLS), and tls={0} asks for one; \
         switch TLS on at the server, or choose tls=disabled"
    )]
    NoTls(&'static str),
    /// Encryption was asked for and did not come about.
    #[error("no encrypted connection (TLS): {0}")]
    Tls(String),
    /// The server wants the password itself, over a connection that others may read or end somewhere else.
    #[error(
        "the server asks for the password itself, and whoever answers in its place could read it, since the connection is \
         not encrypted; encrypt it (tls=required or better), name the server's public key (server_public_key_path=FILE, a \
         copy of public_key.pem in its data directory), or take any key that comes (get_server_public_key=true)"
    )]
    NoServerKey,
    /// The file with the server's public key cannot be used.
    #[error("{0}")]
    ServerKeyFile(String),
    /// A file of certificates or keys that the target names cannot be used.
    #[error("{0}")]
    TlsFile(String),
    /// Anything else the operating system says.
    #[error("{0}")]
    Other(io::Error),
}

/// Who said nothing for longer than a connection waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// The server, while its machine acknowledged what was sent: see [`Watch`](crate::Watch).
    Server,
    /// The other machine, or the network: see [`ConnectOptions::network_timeout`](crate::ConnectOptions).
    Network,
}

/// Anything that kept a command from succeeding: as small as a pointer, since every successful reply makes room for one.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct WireError(Box<Cause>);

const _: () = assert!(size_of::<Result<(), WireError>>() == size_of::<usize>());

/// What kept a command from succeeding.
#[derive(Debug, Error)]
pub enum Cause {
    /// No connection came about.
    #[error("cannot connect to {endpoint}: {failure}")]
    Connect {
        /// Where to.
        endpoint: String,
        /// Why not.
        failure: ConnectFailure,
    },
    /// Something else than a MySQL server listens there, or one too old.
    #[error("{endpoint} answered, but not with MySQL's protocol: {evidence}; is this the server's port?")]
    NotMySql {
        /// Where.
        endpoint: String,
        /// What it said.
        evidence: String,
    },
    /// The account wants an authentication method that this client does not know.
    #[error(
        "the server wants to authenticate user '{user}' by '{plugin}', which is not supported; \
         use an account with caching_sha2_password, mysql_native_password or client_ed25519"
    )]
    Method {
        /// The account.
        user: String,
        /// The method.
        plugin: String,
    },
    /// The server said no. The connection can be used on, unless the error says that it ends.
    #[error("{}", refusal_text(.0))]
    Server(ServerError),
    /// The connection broke, or no answer came in time.
    #[error("{}", lost_text(.endpoint, .source))]
    Lost {
        /// Where it led.
        endpoint: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// The server broke the protocol.
    #[error("the server broke MySQL's protocol: {0}")]
    Protocol(ProtocolError),
    /// The connection was used again after it broke.
    #[error("the connection to {endpoint} is closed")]
    Closed {
        /// Where it led.
        endpoint: String,
    },
    /// The server asked for a file of this machine that no statement named. It got an empty one.
    #[error("the server asked for the local file '{file}' without being told to; do not trust this server")]
    LocalFileAsked {
        /// The file.
        file: String,
    },
    /// A control query gave more than the caller expects.
    #[error("the query gave more than {limit} {what}")]
    RowsMax {
        /// Rows, or bytes of rows.
        what: &'static str,
        /// The largest number allowed.
        limit: usize,
    },
    /// A column whose value was to be kept is not in the result.
    #[error("the result has no column `{column}`, whose value is to be kept; name a column that the statement selects")]
    NoColumn {
        /// The column.
        column: String,
    },
    /// A statement was executed with the wrong number of values.
    #[error("the statement has {parameters} parameters and was given {values} values")]
    ParameterCount {
        /// Its parameters.
        parameters: u16,
        /// Values given.
        values: usize,
    },
    /// A statement is longer than any server takes.
    #[error("the statement has {size_bytes} bytes, servers take at most {max}; split it", max = STATEMENT_BYTES_MAX)]
    StatementTooLong {
        /// Its size.
        size_bytes: usize,
    },
}

impl WireError {
    /// What it was.
    pub fn cause(&self) -> &Cause {
        &self.0
    }

    /// What it was, with all that belongs to it.
    pub(crate) fn into_cause(self) -> Cause {
        *self.0
    }

    /// What the server said, when it was the server that said no.
    pub fn server(&self) -> Option<&ServerError> {
        match &*self.0 {
            Cause::Server(error) => Some(error),
            _ => None,
        }
    }

    /// MySQL's error number, when it was the server that said no.
    pub fn server_code(&self) -> Option<u16> {
        self.server().map(|error| error.code)
    }

    /// What it means.
    pub fn kind(&self) -> FaultKind {
        match &*self.0 {
            Cause::Server(error) => error.kind(),
            Cause::Connect { .. } | Cause::Lost { .. } | Cause::Protocol(_) | Cause::Closed { .. } => FaultKind::Gone,
            _ => FaultKind::Other,
        }
    }

    /// Whether the connection is of no more use or never came about, and another attempt may have more luck.
    pub fn is_connection_lost(&self) -> bool {
        self.kind().ends_connection()
    }

    /// Who was silent when the connection was lost for that; `None` when it broke for another reason.
    pub fn silence(&self) -> Option<Silence> {
        match &*self.0 {
            Cause::Lost { source, .. } => silence(source),
            _ => None,
        }
    }

    /// Whether the connection must not be used again: it is gone, its exchange is unfinished, or its server is hostile.
    pub(crate) fn breaks_connection(&self) -> bool {
        self.is_connection_lost() || matches!(&*self.0, Cause::LocalFileAsked { .. })
    }
}

/// The one place where they are made: whatever leads here is kept out of the way of what succeeds.
impl From<Cause> for WireError {
    #[cold]
    #[inline(never)]
    fn from(cause: Cause) -> Self {
        Self(Box::new(cause))
    }
}

impl From<ServerError> for WireError {
    #[cold]
    fn from(error: ServerError) -> Self {
        Cause::Server(error).into()
    }
}

impl From<ProtocolError> for WireError {
    #[cold]
    fn from(fault: ProtocolError) -> Self {
        Cause::Protocol(fault).into()
    }
}

/// What the server said, with the cure where one is known.
fn refusal_text(error: &ServerError) -> String {
    match error.cure() {
        Some(cure) => format!("{error}; {cure}"),
        None => error.to_string(),
    }
}

/// A wait that is over by our own limit ends as one that would block; TCP's own end of patience is timed out, or what the
/// network last said of the other machine.
fn silence(source: &io::Error) -> Option<Silence> {
    match source.kind() {
        io::ErrorKind::WouldBlock => Some(Silence::Server),
        io::ErrorKind::TimedOut | io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            Some(Silence::Network)
        }
        _ => None,
    }
}

fn lost_text(endpoint: &str, source: &io::Error) -> String {
    match (silence(source), source.kind()) {
        (Some(Silence::Server), _) => format!(
            "no answer from {endpoint} within the read timeout; does the server hang? Statements that take longer need a \
             longer timeout"
        ),
        (Some(Silence::Network), _) => {
            format!("no sign of life from {endpoint} ({source}); is the machine up, and does the network reach it?")
        }
        (None, io::ErrorKind::UnexpectedEof) => {
            format!("{endpoint} closed the connection; the server stopped, or ended it (its error log may say why)")
        }
        _ => format!("the connection to {endpoint} broke: {source}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    fn check(error: &Cause, expect: &str) {
        assert_eq!(error.to_string(), expect);
    }

    #[test]
    fn messages_name_the_thing_and_the_cure() {
        let endpoint = || "127.0.0.1:3306".to_owned();
        check(
            &Cause::Connect {
                endpoint: endpoint(),
                failure: ConnectFailure::Refused,
            },
            "cannot connect to 127.0.0.1:3306: connection refused; is the server running there?",
        );
        check(
            &Cause::Lost {
                endpoint: endpoint(),
                source: io::ErrorKind::WouldBlock.into(),
            },
            "no answer from 127.0.0.1:3306 within the read timeout; does the server hang? Statements that take longer need a \
             longer timeout",
        );
        let error = ServerError {
            code: 1040,
            sqlstate: "08004".into(),
            message: "Too many connections".into(),
        };
        check(
            &Cause::Server(error),
            "Too many connections (error 1040, SQLSTATE 08004); use fewer connections or raise the server's max_connections",
        );
        check(
            &Cause::StatementTooLong {
                size_bytes: 1_073_741_825,
            },
            "the statement has 1073741825 bytes, servers take at most 1073741824; split it",
        );
    }

    #[test]
    fn which_errors_end_a_connection() {
        let server = |code| {
            WireError::from(ServerError {
                code,
                sqlstate: String::new(),
                message: String::new(),
            })
        };
        assert!(server(1053).is_connection_lost() && !server(1213).is_connection_lost());
        assert_eq!(server(1213).server_code(), Some(1213));
        let closed = Cause::Closed {
            endpoint: String::new(),
        };
        let miscounted = Cause::ParameterCount {
            parameters: 1,
            values: 2,
        };
        assert!(WireError::from(closed).is_connection_lost());
        assert!(!WireError::from(miscounted).is_connection_lost());
    }

    #[test]
    fn what_the_operating_system_said_is_the_source_of_a_loss() {
        let lost = WireError::from(Cause::Lost {
            endpoint: String::new(),
            source: io::ErrorKind::BrokenPipe.into(),
        });
        assert_eq!(lost.source().unwrap().to_string(), "broken pipe");
    }
}

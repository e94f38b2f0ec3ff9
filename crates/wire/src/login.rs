//! Drives the handshake over a fresh channel: greeting, encryption, login, authentication by whatever method the account has.

use std::io;
use std::time::{Duration, Instant};

use plimsoll_core::plan::{Endpoint, ServerKey, Target, Tls};

use crate::auth::{Method, clear_password, encrypt_password};
use crate::channel::Channel;
use crate::codec::greeting::{Greeting, NONCE_BYTES, ServerInfo};
use crate::codec::login::{Login, LoginReply, encode_ssl_request};
use crate::codec::{ProtocolError, capability, printable};
use crate::error::{Cause, ConnectFailure, WireError};
use crate::options::ConnectOptions;
use crate::server_key::read_server_key;
use crate::tls::{TlsClient, tls_error};
use crate::tls_trust::explain;

/// A login takes at most four packets from the server after its greeting; a hostile one could go on for ever.
const LOGIN_PACKETS_MAX: usize = 10;

/// As MariaDB's client library has them, and through it most tools that drive load, so that servers do the same work for us
/// as for them: definitions are cached where the server can do so, EOF packets end definitions and rows, and OK
/// packets tell changes of the session, which are not read.
const CAPABILITIES: u64 = capability::LONG_PASSWORD
    | capability::LONG_FLAG
    | capability::PROTOCOL_41
    | capability::TRANSACTIONS
    | capability::SECURE_CONNECTION
    | capability::MULTI_RESULTS
    | capability::PS_MULTI_RESULTS
    | capability::PLUGIN_AUTH
    | capability::SESSION_TRACK
    | capability::CACHE_METADATA;

/// What both sides agreed on.
#[derive(Debug)]
pub struct Agreement {
    pub server: ServerInfo,
    pub capabilities: u64,
}

/// Logs in; all reads together may take `options.connect_timeout`, which goes on to count for what follows.
pub fn log_in(
    channel: &mut Channel,
    target: &Target,
    tls: &TlsClient,
    options: &ConnectOptions,
) -> Result<Agreement, WireError> {
    channel.set_deadline(Instant::now() + options.connect_timeout);
    let greeting = read_greeting(channel, options.connect_timeout)?;
    exchange(channel, (target, tls), options, greeting)
        .map_err(|error| while_logging_in(&channel.endpoint, options.connect_timeout, error))
}

/// Says of an error that it belongs to the login.
fn while_logging_in(endpoint: &str, timeout: Duration, error: WireError) -> WireError {
    let endpoint = endpoint.to_owned();
    let cause = match error.into_cause() {
        Cause::Lost { source, .. } => {
            let failure = login_failure(source, timeout);
            Cause::Connect { endpoint, failure }
        }
        Cause::Protocol(fault) => Cause::NotMySql {
            endpoint,
            evidence: fault.to_string(),
        },
        other => other,
    };
    cause.into()
}

fn login_failure(source: io::Error, timeout: Duration) -> ConnectFailure {
    if let Some(error) = tls_error(&source) {
        return ConnectFailure::Tls(explain(error));
    }
    match source.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ConnectFailure::Silent(timeout),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            ConnectFailure::HungUp
        }
        _ => ConnectFailure::Other(source),
    }
}

fn read_greeting(channel: &mut Channel, timeout: Duration) -> Result<Greeting, WireError> {
    let endpoint = channel.endpoint.clone();
    let decoded = read_greeting_packet(channel);
    decoded.map_err(|error| match error.cause() {
        Cause::Protocol(ProtocolError::Sequence { .. } | ProtocolError::TooLarge { .. }) => {
            let evidence = format!("it began with \"{}\"", first_line(channel.unread()));
            Cause::NotMySql { endpoint, evidence }.into()
        }
        _ => while_logging_in(&endpoint, timeout, error),
    })
}

fn read_greeting_packet(channel: &mut Channel) -> Result<Greeting, WireError> {
    let payload = channel.packet()?;
    match LoginReply::decode(payload) {
        Ok(LoginReply::Error(error)) => Err(error.into()),
        _ => Ok(Greeting::decode(payload)?),
    }
}

fn first_line(bytes: &[u8]) -> String {
    let line = bytes.split(|&b| b == b'\r' || b == b'\n').next().unwrap_or_default();
    printable(&line[..line.len().min(60)])
}

fn exchange(
    channel: &mut Channel,
    (target, tls): (&Target, &TlsClient),
    options: &ConnectOptions,
    greeting: Greeting,
) -> Result<Agreement, WireError> {
    let mut capabilities = agreed(greeting.capabilities, target, options);
    if is_encrypted(target, greeting.capabilities).map_err(|failure| refused(channel, failure))? {
        let session = tls
            .session(&target.tls, &target.endpoint)
            .map_err(|failure| refused(channel, failure))?;
        capabilities |= capability::SSL;
        encode_ssl_request(capabilities, channel.go_on());
        channel.send()?;
        channel.encrypt(session)?;
    }
    // A method unknown to us may be only the server's default: the account's own is asked for by a switch.
    let method = Method::named(&greeting.plugin)
        .filter(|method| method.nonce_bytes() == NONCE_BYTES)
        .unwrap_or(Method::Native);
    let login = Login {
        capabilities,
        user: &target.user,
        database: &target.database,
        plugin: method.name(),
        answer: &method.answer(target.password.reveal(), &greeting.nonce),
    };
    login.encode(channel.go_on())?;
    channel.send()?;
    Authentication {
        channel,
        target,
        method,
        nonce: greeting.nonce.to_vec(),
        is_key_asked: false,
    }
    .run()?;
    Ok(Agreement {
        server: greeting.server,
        capabilities,
    })
}

/// What both sides can do, encryption aside.
fn agreed(offered: u64, target: &Target, options: &ConnectOptions) -> u64 {
    let mut wanted = CAPABILITIES;
    if options.local_infile {
        wanted |= capability::LOCAL_FILES;
    }
    if options.multi_statements {
        wanted |= capability::MULTI_STATEMENTS;
    }
    if !target.database.is_empty() {
        wanted |= capability::CONNECT_WITH_DB;
    }
    wanted & offered
}

/// Whether the connection is to be encrypted. A server that says it cannot, when it must, is refused here, before it has
/// learned anything about the account: whoever stands in between could say so in its place.
fn is_encrypted(target: &Target, offered: u64) -> Result<bool, ConnectFailure> {
    let is_offered = offered & capability::SSL != 0;
    match &target.tls {
        Tls::Disabled => Ok(false),
        Tls::Preferred => Ok(is_offered && matches!(target.endpoint, Endpoint::Tcp { .. })),
        demanding if !is_offered => Err(ConnectFailure::NoTls(demanding.name())),
        _ => Ok(true),
    }
}

fn refused(channel: &Channel, failure: ConnectFailure) -> WireError {
    let endpoint = channel.endpoint.clone();
    Cause::Connect { endpoint, failure }.into()
}

/// The rounds between the login packet and the server's verdict.
struct Authentication<'a> {
    channel: &'a mut Channel,
    target: &'a Target,
    method: Method,
    nonce: Vec<u8>,
    /// The next packet may be the server's public key.
    is_key_asked: bool,
}

/// One packet of the server's, free of the buffer it lay in.
enum Round {
    Done,
    Switch { method: Method, nonce: Vec<u8> },
    FastPathTaken,
    PasswordWanted,
    Key(Vec<u8>),
}

impl Authentication<'_> {
    fn run(mut self) -> Result<(), WireError> {
        for _ in 0..LOGIN_PACKETS_MAX {
            match self.read()? {
                Round::Done => return Ok(()),
                Round::FastPathTaken => {}
                Round::Switch { method, nonce } => self.switch(method, nonce)?,
                Round::PasswordWanted => self.send_password()?,
                Round::Key(pem) => self.send(&encrypt_password(self.password(), &self.nonce, &pem)?)?,
            }
        }
        Err(ProtocolError::Invalid {
            what: "the login does not end",
        }
        .into())
    }

    fn read(&mut self) -> Result<Round, WireError> {
        Ok(match LoginReply::decode(self.channel.packet()?)? {
            LoginReply::Ok(_) => Round::Done,
            LoginReply::Error(error) => return Err(error.into()),
            LoginReply::Switch { plugin, challenge } => {
                let Some(method) = Method::named(&plugin) else {
                    let user = self.target.user.clone();
                    return Err(Cause::Method { user, plugin }.into());
                };
                let nonce = method.nonce_in(challenge).ok_or(ProtocolError::Invalid {
                    what: "the challenge has another length than its method gives it",
                })?;
                let nonce = nonce.to_vec();
                Round::Switch { method, nonce }
            }
            LoginReply::More(_) if self.method != Method::CachingSha2 => {
                return Err(ProtocolError::Invalid {
                    what: "the method in use has no further packets",
                }
                .into());
            }
            LoginReply::More([3]) => Round::FastPathTaken,
            LoginReply::More([4]) => Round::PasswordWanted,
            LoginReply::More(key) if std::mem::take(&mut self.is_key_asked) => Round::Key(key.to_vec()),
            LoginReply::More(_) => {
                return Err(ProtocolError::Invalid {
                    what: "a key came that nobody asked for",
                }
                .into());
            }
        })
    }

    /// Hands the password over: as it is where nobody can read along, otherwise encrypted by the server's key. A key that came
    /// over the same connection is anybody's who stands in between, so it is asked for only when the user wants that.
    fn send_password(&mut self) -> Result<(), WireError> {
        if self.channel.is_private() {
            return self.send(&clear_password(self.password()));
        }
        match &self.target.server_key {
            ServerKey::Asked => {
                self.is_key_asked = true;
                self.send(&[2])
            }
            ServerKey::File { path } => {
                let pem = read_server_key(path).map_err(|failure| refused(self.channel, failure))?;
                let fault =
                    |fault| ConnectFailure::ServerKeyFile(format!("{} cannot be used: {fault}", path.display()));
                let encrypted = encrypt_password(self.password(), &self.nonce, &pem);
                let encrypted = encrypted.map_err(|error| refused(self.channel, fault(error)))?;
                self.send(&encrypted)
            }
            ServerKey::None => Err(refused(self.channel, ConnectFailure::NoServerKey)),
        }
    }

    fn password(&self) -> &str {
        self.target.password.reveal()
    }

    fn switch(&mut self, method: Method, nonce: Vec<u8>) -> Result<(), WireError> {
        let answer = method.answer(self.password(), &nonce);
        (self.method, self.nonce) = (method, nonce);
        self.send(&answer)
    }

    fn send(&mut self, payload: &[u8]) -> Result<(), WireError> {
        self.channel.go_on().extend_from_slice(payload);
        self.channel.send()
    }
}

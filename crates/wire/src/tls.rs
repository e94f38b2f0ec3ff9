//! A TLS session over a socket, by rustls.
//!
//! Deliberately not here: whom to trust (`tls_trust`), and when to encrypt (`login`).

use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::sync::{Arc, Mutex};

use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::{IpAddr, Ipv4Addr, ServerName};
use rustls::{ClientConfig, ClientConnection, ProtocolVersion};

use plimsoll_core::lock::lock;
use plimsoll_core::plan::{Endpoint, Tls};

use crate::error::ConnectFailure;
use crate::socket::Socket;
use crate::tls_trust::{Trust, client_identity};

/// How a connection is encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encryption {
    /// `TLSv1.2` or `TLSv1.3`, as servers write it.
    pub version: &'static str,
    /// Name of the cipher suite, as its standard writes it.
    pub cipher: String,
}

impl fmt::Display for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.version, self.cipher)
    }
}

/// What all TLS sessions with one server share. It remembers no earlier session, so that each connection costs the server
/// what a first one costs.
#[derive(Debug, Default)]
pub struct TlsClient(Mutex<Option<Arc<ClientConfig>>>);

impl TlsClient {
    /// A client's side that has not begun to talk. Files are read for the first one; one that cannot be used is read again
    /// for the next.
    pub fn session(&self, tls: &Tls, endpoint: &Endpoint) -> Result<ClientConnection, ConnectFailure> {
        let name = server_name(tls, endpoint)?;
        ClientConnection::new(self.config(tls)?, name).map_err(|error| failure(&error))
    }

    fn config(&self, tls: &Tls) -> Result<Arc<ClientConfig>, ConnectFailure> {
        let mut shared = lock(&self.0);
        if let Some(config) = &*shared {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(read_config(tls)?);
        Ok(Arc::clone(shared.insert(config)))
    }
}

fn read_config(tls: &Tls) -> Result<ClientConfig, ConnectFailure> {
    let provider = Arc::new(default_provider());
    let trust = Trust::new(tls, provider.signature_verification_algorithms)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failure(&error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(trust));
    let mut config = match client_identity(tls)? {
        Some((chain, key)) => builder
            .with_client_auth_cert(chain, key)
            .map_err(|error| failure(&error))?,
        None => builder.with_no_client_auth(),
    };
    config.resumption = Resumption::disabled();
    Ok(config)
}

/// The name that the certificate must be for. Where it does not matter, a name that no certificate can have becomes an
/// address, which is not told to the server.
fn server_name(tls: &Tls, endpoint: &Endpoint) -> Result<ServerName<'static>, ConnectFailure> {
    let host = match endpoint {
        Endpoint::Tcp { host, .. } => host.as_str(),
        Endpoint::Socket { .. } => "localhost",
    };
    match ServerName::try_from(host) {
        Ok(name) => Ok(name.to_owned()),
        Err(_) if matches!(tls, Tls::VerifyIdentity { .. }) => Err(ConnectFailure::Tls(format!(
            "no certificate can be for the name '{host}'; use the name that the server's certificate is for"
        ))),
        Err(_) => Ok(ServerName::IpAddress(IpAddr::V4(Ipv4Addr::from([0; 4])))),
    }
}

fn failure(error: &rustls::Error) -> ConnectFailure {
    ConnectFailure::Tls(error.to_string())
}

/// A socket whose bytes are encrypted.
pub struct TlsStream {
    socket: Arc<Socket>,
    session: ClientConnection,
}

impl TlsStream {
    /// Puts a session onto a socket; nothing is sent yet.
    pub fn new(socket: Arc<Socket>, session: ClientConnection) -> Self {
        Self { socket, session }
    }

    pub fn socket(&self) -> &Arc<Socket> {
        &self.socket
    }

    pub fn is_handshaking(&self) -> bool {
        self.session.is_handshaking()
    }

    /// What both sides agreed on; `None` before the handshake is over.
    pub fn encryption(&self) -> Option<Encryption> {
        let version = match self.session.protocol_version()? {
            ProtocolVersion::TLSv1_2 => "TLSv1.2",
            _ => "TLSv1.3",
        };
        let suite = self.session.negotiated_cipher_suite()?.suite();
        let cipher = suite.as_str().unwrap_or_default().replace("TLS13_", "TLS_");
        Some(Encryption { version, cipher })
    }

    /// Goes on with the handshake: sends what is due, waits for bytes once, and takes them in.
    pub fn shake_hands(&mut self) -> io::Result<()> {
        self.send_due()?;
        self.receive()?;
        self.send_due()
    }

    /// Waits for bytes once and takes them in. What is to be sent in answer, an alert perhaps, is sent if it can be: a
    /// server that no longer listens may have said why, and that must be read first.
    fn receive(&mut self) -> io::Result<()> {
        if self.session.read_tls(&mut &*self.socket)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let taken = self.session.process_new_packets();
        let _ = self.send_due();
        taken
            .map(|_| ())
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    fn send_due(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut &*self.socket) {
                // What is due was accepted as sent: whoever heard of this would send it again.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                sent => drop(sent?),
            }
        }
        Ok(())
    }
}

/// What rustls says of an error, when it was it that failed and not the socket.
pub fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

impl fmt::Debug for TlsStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsStream")
            .field("socket", &self.socket)
            .field("encryption", &self.encryption())
            .finish_non_exhaustive()
    }
}

impl Read for TlsStream {
    /// Waits for the socket at most once. A record that is not whole by then is `Interrupted`, so that the caller looks at
    /// its deadline before it waits again.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let is_empty = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
        match self.session.reader().read(bytes) {
            Err(error) if is_empty(&error) => self.receive()?,
            other => return other,
        }
        match self.session.reader().read(bytes) {
            Err(error) if is_empty(&error) => Err(io::ErrorKind::Interrupted.into()),
            other => other,
        }
    }
}

impl Write for TlsStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let count = self.session.writer().write_vectored(parts)?;
        self.send_due()?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

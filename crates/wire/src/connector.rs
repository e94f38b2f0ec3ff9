//! A server as those who connect to it share it: how to reach it, and what would be the same for each connection.

use plimsoll_core::plan::Target;

use crate::channel::Channel;
use crate::connection::Connection;
use crate::dial::Dial;
use crate::error::{Cause, WireError};
use crate::interrupter::Interrupter;
use crate::login::log_in;
use crate::lookup::Lookup;
use crate::options::ConnectOptions;
use crate::tls::TlsClient;

/// Opens connections to one server. Trust, certificates and the configuration of TLS are read when the first connection is
/// encrypted, and shared from then on: for each connection they would take more memory than all the rest.
#[derive(Debug)]
pub struct Connector {
    target: Target,
    lookup: Lookup,
    tls: TlsClient,
}

impl Connector {
    /// For connections to `target`. Nothing is opened or read yet.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            lookup: Lookup::default(),
            tls: TlsClient::default(),
        }
    }

    /// Where it leads, and as whom.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Connects, logs in and selects the target's database, unless that is empty. Another thread may end the attempt, and
    /// later the connection.
    ///
    /// # Errors
    /// When nobody answers, something else than a MySQL server answers, or the server lets the account not in.
    pub fn open(&self, options: &ConnectOptions, interrupter: &Interrupter) -> Result<Connection, WireError> {
        let endpoint = self.target.endpoint.to_string();
        let dial = Dial {
            lookup: &self.lookup,
            interrupter,
            timeout: options.connect_timeout,
            network_timeout: options.network_timeout,
        };
        let socket = dial.open(&self.target.endpoint).map_err(|failure| Cause::Connect {
            endpoint: endpoint.clone(),
            failure,
        })?;
        let mut channel = Channel::new(socket, endpoint, interrupter);
        let agreement = log_in(&mut channel, &self.target, &self.tls, options)?;
        Connection::begin(channel, agreement, options)
    }
}

impl Connection {
    /// Opens a single connection.
    ///
    /// # Errors
    /// As [`Connector::open`], which is for more than one.
    pub fn open(target: &Target, options: &ConnectOptions) -> Result<Self, WireError> {
        Connector::new(target.clone()).open(options, &Interrupter::default())
    }
}

//! How to connect.

use std::time::Duration;

/// How to connect.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Looking up the host's name and connecting may take so long; then logging in and what is run first again so long.
    pub connect_timeout: Duration,
    /// Over TCP the connection is lost when the other machine says nothing for so long although it was asked; known to a
    /// second or two. However long a statement takes has nothing to do with it.
    pub network_timeout: Duration,
    /// The server may ask for the data of LOAD DATA LOCAL; needed for [`crate::Connection::load_local`].
    pub local_infile: bool,
    /// A query may be several statements, with semicolons between them.
    pub multi_statements: bool,
    /// What each connection runs first.
    pub opening: Vec<String>,
    /// The GTID of each transaction that commits is wanted, see [`crate::Connection::last_gtid`].
    pub tracks_gtid: bool,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            network_timeout: Duration::from_secs(30),
            local_infile: false,
            multi_statements: false,
            opening: Vec::new(),
            tracks_gtid: false,
        }
    }
}

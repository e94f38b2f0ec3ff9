//! Servers and how to reach them.

use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::tls::Tls;

/// A password. It can be read and used, but is never shown: not by `Debug`, and it cannot be serialised.
#[derive(Clone, Default, PartialEq, Eq, JsonSchema)]
#[schemars(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a password.
    pub fn new(password: String) -> Self {
        Self(password)
    }

    /// The password itself, for the authentication exchange and nothing else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Secret {
    /// Unlike what could be derived, the error does not repeat a password that is not a string.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer);
        text.map(Self)
            .map_err(|_| D::Error::custom("a password must be a string"))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Endpoint {
    /// A TCP port.
    Tcp {
        /// Name or address.
        host: String,
        /// Port number.
        port: u16,
    },
    /// A unix socket on this machine.
    Socket {
        /// Its path.
        path: PathBuf,
    },
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Socket { path } => write!(f, "{}", path.display()),
        }
    }
}

/// How to reach one server, as whom, and in which database.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Where it listens.
    pub endpoint: Endpoint,
    /// Account name.
    pub user: String,
    /// Its password; empty for none.
    #[serde(default)]
    pub password: Secret,
    /// The database that holds the tables.
    pub database: String,
    /// How its connections are encrypted.
    #[serde(default)]
    pub tls: Tls,
    /// Whose key encrypts the password where the server asks for it and the connection is not encrypted.
    #[serde(default)]
    pub server_key: ServerKey,
}

/// Whose key encrypts a password that the server asks for, over a connection that is neither encrypted nor a unix socket: the
/// accounts of `caching_sha2_password` that the server does not know from an earlier login.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ServerKey {
    /// Nobody's: such a login fails.
    #[default]
    None,
    /// The server's, from a file.
    File {
        /// A public key, PEM.
        path: PathBuf,
    },
    /// Any that comes: whoever answers in the server's place learns the password.
    Asked,
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Takes reads and writes.
    #[default]
    Source,
    /// Takes reads only.
    Replica,
}

/// One server that a group of connections uses, and what for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleTarget {
    /// What its connections are for.
    pub role: Role,
    /// Its name in all results; that of the group if absent.
    #[serde(default)]
    pub instance: Option<String>,
    /// How to reach it.
    pub target: Target,
}

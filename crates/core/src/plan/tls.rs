//! How connections are encrypted. What a mode cannot use cannot be said with it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

/// How connections are encrypted, named as MySQL's own clients name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Tls {
    /// Never.
    Disabled,
    /// Over TCP where the server offers it, whoever the server is; never over a unix socket.
    #[default]
    Preferred,
    /// Always, whoever the server is.
    Required {
        /// What the client shows of itself.
        client: Option<ClientCertificate>,
    },
    /// Always, with a server whose certificate a known authority signed, for whatever name.
    VerifyCa {
        /// File of the authorities' certificates, PEM.
        ca: PathBuf,
        /// What the client shows of itself.
        client: Option<ClientCertificate>,
    },
    /// Always, with a server whose certificate a known authority signed for the name that the target has.
    VerifyIdentity {
        /// File of the authorities' certificates, PEM.
        ca: PathBuf,
        /// What the client shows of itself.
        client: Option<ClientCertificate>,
    },
}

impl Tls {
    /// Its name in a URL, a study file and MySQL's own clients.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Preferred => "preferred",
            Self::Required { .. } => "required",
            Self::VerifyCa { .. } => "verify-ca",
            Self::VerifyIdentity { .. } => "verify-identity",
        }
    }
}

/// By what the server may know the client.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientCertificate {
    /// File of its certificate, PEM, those between it and the authority behind it.
    pub cert: PathBuf,
    /// File of its private key, PEM, not encrypted.
    pub key: PathBuf,
}

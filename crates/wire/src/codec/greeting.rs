//! The first packet, from the server: who it is, what it can do, and its challenge.
//!
//! Deliberately not here: protocol 9 of servers before 4.1.

use super::cursor::Cursor;
use super::{ProtocolError, capability, printable};

/// Bytes of a challenge.
pub const NONCE_BYTES: usize = 20;

/// Which family of servers one belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// MySQL or Percona Server.
    MySql,
    /// MariaDB.
    MariaDb,
}

impl Flavour {
    /// What a session runs once so that its OK packets tell of GTIDs.
    pub fn track_gtid_sql(self) -> &'static str {
        match self {
            Self::MySql => "SET SESSION session_track_gtids = OWN_GTID",
            Self::MariaDb => "SET SESSION session_track_system_variables = 'last_gtid'",
        }
    }
}

/// Who a server says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo {
    /// Its version as it says it, without the "5.5.5-" that MariaDB puts in front for old replicas.
    pub version: String,
    /// Which family it belongs to.
    pub flavour: Flavour,
    /// The server's number for this connection, as in its process list.
    pub connection_id: u32,
}

/// The server's first packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// Who it is.
    pub server: ServerInfo,
    /// Its capability bits; those from 32 on are MariaDB's own.
    pub capabilities: u64,
    /// Its challenge.
    pub nonce: [u8; NONCE_BYTES],
    /// The authentication method it starts with.
    pub plugin: String,
}

const WHAT: &str = "the server's greeting";
const REQUIRED: u64 = capability::PROTOCOL_41 | capability::SECURE_CONNECTION | capability::PLUGIN_AUTH;

impl Greeting {
    /// Reads the payload of a greeting.
    ///
    /// # Errors
    /// When it is cut short, of another protocol version, or of a server without named authentication methods (before MySQL 5.5).
    pub fn decode(payload: &[u8]) -> Result<Self, ProtocolError> {
        let mut cursor = Cursor::new(payload);
        let protocol = cursor.u8(WHAT)?;
        if protocol != 10 {
            return Err(ProtocolError::Unexpected {
                what: "the protocol version in the server's greeting",
                byte: protocol,
            });
        }
        let version = printable(cursor.nul_bytes(WHAT)?);
        let connection_id = cursor.u32(WHAT)?;
        let nonce_start = cursor.bytes(8, WHAT)?;
        cursor.u8(WHAT)?;
        let capabilities_low = cursor.u16(WHAT)?;
        cursor.bytes(3, WHAT)?; // character set, status flags
        let mut capabilities = u64::from(capabilities_low) | u64::from(cursor.u16(WHAT)?) << 16;
        if capabilities & REQUIRED != REQUIRED {
            return Err(ProtocolError::Invalid {
                what: "the server is older than MySQL 5.5, which is not supported",
            });
        }
        cursor.bytes(7, WHAT)?; // length of the challenge, reserved bytes
        let extended = cursor.u32(WHAT)?;
        if capabilities & capability::LONG_PASSWORD == 0 {
            capabilities |= u64::from(extended) << 32;
        }
        let nonce_end = cursor.bytes(NONCE_BYTES - 8 + 1, WHAT)?;
        let mut nonce = [0; NONCE_BYTES];
        nonce[..8].copy_from_slice(nonce_start);
        nonce[8..].copy_from_slice(&nonce_end[..NONCE_BYTES - 8]);
        let plugin = printable(cursor.rest().split(|&b| b == 0).next().unwrap_or_default());
        Ok(Self {
            server: server_info(&version, connection_id),
            capabilities,
            nonce,
            plugin,
        })
    }
}

fn server_info(version: &str, connection_id: u32) -> ServerInfo {
    let flavour = if version.contains("MariaDB") {
        Flavour::MariaDb
    } else {
        Flavour::MySql
    };
    let version = match flavour {
        Flavour::MariaDb => version.strip_prefix("5.5.5-").unwrap_or(version),
        Flavour::MySql => version,
    };
    ServerInfo {
        version: version.to_owned(),
        flavour,
        connection_id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greeting(version: &[u8], plugin: &[u8]) -> Vec<u8> {
        let mut bytes = vec![10];
        bytes.extend_from_slice(version);
        bytes.extend_from_slice(b"\0\x2a\0\0\0ABCDEFGH\0\xff\xf7\x2d\x02\0\xff\x81\x15");
        bytes.extend_from_slice(&[0; 10]);
        bytes.extend_from_slice(b"IJKLMNOPQRST\0");
        bytes.extend_from_slice(plugin);
        bytes
    }

    fn check(version: &[u8], expect_version: &str, expect_flavour: Flavour) {
        let greeting = Greeting::decode(&greeting(version, b"mysql_native_password\0")).unwrap();
        assert_eq!(greeting.server.version, expect_version);
        assert_eq!(greeting.server.flavour, expect_flavour);
        assert_eq!(greeting.server.connection_id, 42);
        assert_eq!(&greeting.nonce, b"ABCDEFGHIJKLMNOPQRST");
        assert_eq!(greeting.capabilities, 0x81ff_f7ff);
        assert_eq!(greeting.plugin, "mysql_native_password");
    }

    #[test]
    fn versions_and_flavours() {
        check(
            b"5.5.5-10.11.6-MariaDB-0+deb12u1",
            "10.11.6-MariaDB-0+deb12u1",
            Flavour::MariaDb,
        );
        check(b"11.4.2-MariaDB", "11.4.2-MariaDB", Flavour::MariaDb);
        check(b"9.7.0", "9.7.0", Flavour::MySql);
        check(b"8.0.36-28", "8.0.36-28", Flavour::MySql);
        check(b"5.5.5-m3", "5.5.5-m3", Flavour::MySql);
    }

    #[test]
    fn the_bits_of_mariadb_count_where_it_speaks_its_own_dialect() {
        let mut bytes = greeting(b"11.4.2-MariaDB", b"mysql_native_password");
        let low = bytes.iter().position(|&byte| byte == 0xF7).unwrap() - 1;
        let extended = low + 2 + 3 + 2 + 7;
        bytes[extended..extended + 4].copy_from_slice(&0x1D_u32.to_le_bytes());
        let capabilities = |bytes: &[u8]| Greeting::decode(bytes).unwrap().capabilities;
        assert_eq!(capabilities(&bytes), 0x81ff_f7ff);
        bytes[low] &= !1;
        assert_eq!(capabilities(&bytes), 0x1d_81ff_f7fe);
        assert_ne!(capabilities(&bytes) & capability::CACHE_METADATA, 0);
    }

    #[test]
    fn a_plugin_name_without_its_zero_byte_is_taken() {
        let greeting = Greeting::decode(&greeting(b"9.7.0", b"caching_sha2_password")).unwrap();
        assert_eq!(greeting.plugin, "caching_sha2_password");
    }

    #[test]
    fn every_cut_is_an_error() {
        let whole = greeting(b"9.7.0", b"");
        for length in 0..whole.len() {
            assert!(Greeting::decode(&whole[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn old_servers_are_refused() {
        let mut old = greeting(b"5.1.73", b"");
        let high = old.len() - 13 - 10 - 1 - 2;
        old[high] = 0;
        old[high + 1] = 0;
        let error = Greeting::decode(&old).unwrap_err().to_string();
        assert!(error.contains("older than MySQL 5.5"), "{error}");
        assert!(Greeting::decode(b"\x09 3.23\0").is_err());
    }
}

//! The login: the client's answer to the greeting, and what the server says until it lets the client in.
//!
//! Deliberately not here: computing answers to challenges (`auth`).

use super::cursor::Cursor;
use super::reply::{OkPacket, ServerError};
use super::{ProtocolError, capability, printable};

/// `utf8mb4_general_ci`, which has this number on all servers; MySQL's newer default is unknown to MariaDB.
const COLLATION: u8 = 45;

/// The client's answer to the greeting.
#[derive(Clone, Copy, Debug)]
pub struct Login<'a> {
    /// Capability bits to use from here on; those from 32 on are MariaDB's own.
    pub capabilities: u64,
    /// Account name.
    pub user: &'a str,
    /// Database to select; left out without `CONNECT_WITH_DB`.
    pub database: &'a str,
    /// Authentication method of `answer`.
    pub plugin: &'a str,
    /// Answer to the challenge.
    pub answer: &'a [u8],
}

impl Login<'_> {
    /// Appends the packet's payload.
    ///
    /// # Errors
    /// When a name holds a zero byte or the answer is longer than 255 bytes.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), ProtocolError> {
        if self.user.contains('\0') || self.database.contains('\0') {
            return Err(ProtocolError::Invalid {
                what: "a user or database name holds a zero byte",
            });
        }
        let answer_length = u8::try_from(self.answer.len()).map_err(|_| ProtocolError::Invalid {
            what: "the answer to the challenge is too long",
        })?;
        put_head(self.capabilities, out);
        put_nul_str(out, self.user);
        out.push(answer_length);
        out.extend_from_slice(self.answer);
        if self.capabilities & capability::CONNECT_WITH_DB != 0 {
            put_nul_str(out, self.database);
        }
        put_nul_str(out, self.plugin);
        Ok(())
    }
}

/// Appends the payload that asks for encryption: the head of a login, and nothing of the account. Servers keep these
/// capabilities, and not those of the login that follows.
pub fn encode_ssl_request(capabilities: u64, out: &mut Vec<u8>) {
    put_head(capabilities | capability::SSL, out);
}

fn put_head(capabilities: u64, out: &mut Vec<u8>) {
    let bits = capabilities.to_le_bytes();
    out.extend_from_slice(&bits[..4]);
    out.extend_from_slice(&0x4000_0000_u32.to_le_bytes()); // largest packet the client takes
    out.push(COLLATION);
    out.extend_from_slice(&[0; 19]);
    out.extend_from_slice(&bits[4..]);
}

fn put_nul_str(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// What the server says while logging in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginReply<'a> {
    /// The client is in.
    Ok(OkPacket),
    /// It is not.
    Error(ServerError),
    /// Answer this challenge by this method instead.
    Switch {
        /// The method.
        plugin: String,
        /// The challenge, with a zero byte behind it in some methods.
        challenge: &'a [u8],
    },
    /// Something that the method in use understands.
    More(&'a [u8]),
}

impl<'a> LoginReply<'a> {
    /// Reads a payload.
    ///
    /// # Errors
    /// When it is cut short or of no known kind.
    pub fn decode(payload: &'a [u8]) -> Result<Self, ProtocolError> {
        let what = "a packet of the login";
        let mut cursor = Cursor::new(payload);
        match cursor.u8(what)? {
            0x00 => Ok(Self::Ok(OkPacket::decode(payload)?)),
            0xFF => Ok(Self::Error(ServerError::decode(payload)?)),
            0x01 => Ok(Self::More(cursor.rest())),
            // Alone, it asks for the method of servers before 4.1.
            0xFE if cursor.rest().is_empty() => Ok(Self::Switch {
                plugin: "mysql_old_password".to_owned(),
                challenge: &[],
            }),
            0xFE => {
                let plugin = printable(cursor.nul_bytes(what)?);
                let challenge = cursor.rest();
                Ok(Self::Switch { plugin, challenge })
            }
            byte => Err(ProtocolError::Unexpected { what, byte }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_bytes() {
        let login = Login {
            capabilities: capability::PROTOCOL_41 | capability::CONNECT_WITH_DB,
            user: "u",
            database: "d",
            plugin: "p",
            answer: &[1, 2],
        };
        let mut bytes = Vec::new();
        login.encode(&mut bytes).unwrap();
        let mut expect = vec![0x08, 0x02, 0, 0, 0, 0, 0, 0x40, 45];
        expect.extend_from_slice(&[0; 23]);
        expect.extend_from_slice(b"u\0\x02\x01\x02d\0p\0");
        assert_eq!(bytes, expect);
    }

    #[test]
    fn a_request_for_encryption_is_the_head_of_a_login() {
        let mut bytes = Vec::new();
        encode_ssl_request(capability::PROTOCOL_41 | capability::CACHE_METADATA, &mut bytes);
        let mut expect = vec![0x00, 0x0A, 0, 0, 0, 0, 0, 0x40, 45];
        expect.extend_from_slice(&[0; 19]);
        expect.extend_from_slice(&[0x10, 0, 0, 0]);
        assert_eq!(bytes, expect);
    }

    #[test]
    fn names_with_zero_bytes_are_refused() {
        let login = Login {
            capabilities: 0,
            user: "a\0b",
            database: "",
            plugin: "",
            answer: &[],
        };
        assert!(login.encode(&mut Vec::new()).is_err());
    }

    fn check(payload: &[u8], expect: &LoginReply<'_>) {
        assert_eq!(&LoginReply::decode(payload).unwrap(), expect, "{payload:02x?}");
    }

    #[test]
    fn replies() {
        check(b"\x01\x03", &LoginReply::More(b"\x03"));
        let plugin = "mysql_native_password".to_owned();
        check(
            b"\xfemysql_native_password\0ABCDEFGHIJKLMNOPQRST\0",
            &LoginReply::Switch {
                plugin,
                challenge: b"ABCDEFGHIJKLMNOPQRST\0",
            },
        );
        check(
            b"\xfe",
            &LoginReply::Switch {
                plugin: "mysql_old_password".to_owned(),
                challenge: &[],
            },
        );
        assert!(LoginReply::decode(b"").is_err());
        assert!(LoginReply::decode(b"\x07").is_err());
        assert!(LoginReply::decode(b"\xfeno-end").is_err());
    }
}

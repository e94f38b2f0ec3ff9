//! Answers to the server's challenge: `mysql_native_password`, `caching_sha2_password` and `client_ed25519`.
//!
//! Deliberately not here: packets (`codec::login`), and methods that hand the password itself to whoever asks.

use aws_lc_rs::digest::{self, Algorithm};
use aws_lc_rs::rsa::{OAEP_SHA1_MGF1SHA1, OaepPublicEncryptingKey, PublicEncryptingKey};
use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use ed25519_dalek::{Sha512, VerifyingKey};

use crate::codec::ProtocolError;
use crate::codec::greeting::NONCE_BYTES;

/// An authentication method that this client knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `mysql_native_password`: SHA-1, on all servers but MySQL 9.
    Native,
    /// `caching_sha2_password`: MySQL 8 and 9.
    CachingSha2,
    /// `client_ed25519`: MariaDB.
    Ed25519,
}

impl Method {
    /// The method of that name.
    pub fn named(plugin: &str) -> Option<Self> {
        [Self::Native, Self::CachingSha2, Self::Ed25519]
            .into_iter()
            .find(|method| method.name() == plugin)
    }

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "mysql_native_password",
            Self::CachingSha2 => "caching_sha2_password",
            Self::Ed25519 => "client_ed25519",
        }
    }

    /// Bytes of its challenge.
    pub fn nonce_bytes(self) -> usize {
        match self {
            Self::Native | Self::CachingSha2 => NONCE_BYTES,
            Self::Ed25519 => 32,
        }
    }

    /// The challenge without the zero byte that some servers send behind it. It may end in a zero byte of its own.
    pub fn nonce_in(self, challenge: &[u8]) -> Option<&[u8]> {
        let (nonce, rest) = challenge.split_at_checked(self.nonce_bytes())?;
        matches!(rest, [] | [0]).then_some(nonce)
    }

    /// The answer to a challenge. For an empty password it is empty where the method wants it so.
    pub fn answer(self, password: &str, nonce: &[u8]) -> Vec<u8> {
        match self {
            Self::Native | Self::CachingSha2 if password.is_empty() => Vec::new(),
            Self::Native => native_answer(password.as_bytes(), nonce),
            Self::CachingSha2 => sha2_answer(password.as_bytes(), nonce),
            Self::Ed25519 => ed25519_answer(password.as_bytes(), nonce),
        }
    }
}

fn hash(algorithm: &'static Algorithm, parts: &[&[u8]]) -> Vec<u8> {
    let mut context = digest::Context::new(algorithm);
    for part in parts {
        context.update(part);
    }
    context.finish().as_ref().to_vec()
}

fn xor(mut left: Vec<u8>, right: &[u8]) -> Vec<u8> {
    for (byte, mask) in left.iter_mut().zip(right.iter().cycle()) {
        *byte ^= mask;
    }
    left
}

/// SHA1(password) XOR SHA1(nonce + SHA1(SHA1(password))).
fn native_answer(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let sha1 = |parts: &[&[u8]]| hash(&digest::SHA1_FOR_LEGACY_USE_ONLY, parts);
    let once = sha1(&[password]);
    let twice = sha1(&[&once]);
    xor(once, &sha1(&[nonce, &twice]))
}

/// SHA256(password) XOR SHA256(SHA256(SHA256(password)) + nonce).
fn sha2_answer(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let sha256 = |parts: &[&[u8]]| hash(&digest::SHA256, parts);
    let once = sha256(&[password]);
    let twice = sha256(&[&once]);
    xor(once, &sha256(&[&twice, nonce]))
}

/// The challenge signed by Ed25519, with SHA512(password) in the place where RFC 8032 has the hash of a random seed. The
/// public key must be the one of this secret: anything else gives the secret away.
fn ed25519_answer(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let expanded = hash(&digest::SHA512, &[password]);
    let secret = ExpandedSecretKey::from_slice(&expanded).expect("SHA-512 gives 64 bytes");
    let public = VerifyingKey::from(&secret);
    raw_sign::<Sha512>(&secret, nonce, &public).to_bytes().to_vec()
}

/// The password for `caching_sha2_password`'s full exchange over a connection that others may read: with its zero byte,
/// XOR the challenge, encrypted with the server's RSA key. It is as safe as the way that the key came by: whoever has its
/// other half learns the password.
///
/// # Errors
/// When the key is none, or too short for the password.
pub fn encrypt_password(password: &str, nonce: &[u8], key_pem: &[u8]) -> Result<Vec<u8>, ProtocolError> {
    let invalid = |what| move |_| ProtocolError::Invalid { what };
    let der = decode_pem(key_pem)?;
    let key = PublicEncryptingKey::from_der(&der).map_err(invalid("the server's RSA key is not valid"))?;
    let key = OaepPublicEncryptingKey::new(key).map_err(|_| ProtocolError::Invalid {
        what: "the server's RSA key is not usable",
    })?;
    let plain = xor(clear_password(password), nonce);
    let mut cipher = vec![0; key.ciphertext_size()];
    key.encrypt(&OAEP_SHA1_MGF1SHA1, &plain, &mut cipher, None)
        .map_err(|_| ProtocolError::Invalid {
            what: "the password is too long for the server's RSA key",
        })?;
    Ok(cipher)
}

/// The password with its zero byte, for a connection that nobody else can read.
pub fn clear_password(password: &str) -> Vec<u8> {
    [password.as_bytes(), &[0]].concat()
}

/// The bytes inside a PEM block of a public key.
fn decode_pem(pem: &[u8]) -> Result<Vec<u8>, ProtocolError> {
    let invalid = ProtocolError::Invalid {
        what: "the server's RSA key is not in PEM format",
    };
    let text = std::str::from_utf8(pem).map_err(|_| invalid.clone())?;
    let body = text
        .trim_matches(|c: char| c.is_whitespace() || c == '\0')
        .strip_prefix("-----BEGIN PUBLIC KEY-----")
        .and_then(|rest| rest.strip_suffix("-----END PUBLIC KEY-----"))
        .ok_or_else(|| invalid.clone())?;
    decode_base64(body).ok_or(invalid)
}

/// Decodes standard base64, white space allowed anywhere.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut bit_count) = (0_u32, 0);
    for symbol in text.bytes().filter(|b| !b.is_ascii_whitespace() && *b != b'=') {
        bits = bits << 6 | base64_value(symbol)?;
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            bytes.push((bits >> bit_count) as u8);
        }
    }
    Some(bytes)
}

fn base64_value(symbol: u8) -> Option<u32> {
    let value = match symbol {
        b'A'..=b'Z' => symbol - b'A',
        b'a'..=b'z' => symbol - b'a' + 26,
        b'0'..=b'9' => symbol - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
    use aws_lc_rs::rsa::{KeySize, OaepPrivateDecryptingKey, PrivateDecryptingKey};

    use super::*;

    const NONCE: &[u8; NONCE_BYTES] = b"abcdefghijklmnopqrst";

    fn check(method: Method, password: &str, expect: &str) {
        let answer = method.answer(password, NONCE);
        let hex: Vec<String> = answer.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex.concat(), expect, "{} of {password:?}", method.name());
    }

    /// Expected values by Python's hashlib from the two formulas, and for Ed25519 by `PyMySQL` with libsodium.
    #[test]
    fn answers() {
        check(Method::Native, "sécret", "5a2f96264b32e1e4299a3462b820e0b24384c6ed");
        check(
            Method::CachingSha2,
            "sécret",
            "0dd28fa5f05c8ae7e3c0e2d9caa07501cfa616cb0289a40cce476cefefb94f1a",
        );
        check(
            Method::Ed25519,
            "sécret",
            "863efd36af619bfee75761e80e1346bf799edcb8dce5a76f731baf256215dcf2b88889d484732390901d46ab0e6f99ae69c569514b2ee5f2f1af341ffd66dc05",
        );
        check(
            Method::Ed25519,
            "",
            "18995b9cac7877b45a0a262631838ccea92f20bfdd19fde74d878417238e34af98d2679a1414b9b1c44e129736113c13072335464658b5d9a674d17a200bd901",
        );
        check(Method::Native, "", "");
        check(Method::CachingSha2, "", "");
        assert_eq!(Method::named("mysql_clear_password"), None);
    }

    #[test]
    fn challenges_may_end_in_zero() {
        let check = |method: Method, challenge: &[u8], expect: Option<usize>| {
            assert_eq!(method.nonce_in(challenge).map(<[u8]>::len), expect, "{challenge:?}");
        };
        check(Method::Native, &[0; 20], Some(20));
        check(Method::Native, &[0; 21], Some(20));
        check(Method::CachingSha2, &[7; 21], None);
        check(Method::CachingSha2, &[0; 19], None);
        check(Method::Ed25519, &[0; 32], Some(32));
        check(Method::Ed25519, &[0; 33], Some(32));
        check(Method::Ed25519, &[0; 20], None);
    }

    fn pem(der: &[u8]) -> String {
        pem::encode(&pem::Pem::new("PUBLIC KEY", der))
    }

    #[test]
    fn the_server_can_decrypt_the_password() {
        let private = PrivateDecryptingKey::generate(KeySize::Rsa2048).unwrap();
        let der: PublicKeyX509Der<'_> = private.public_key().as_der().unwrap();
        let cipher = encrypt_password("sécret", NONCE, pem(der.as_ref()).as_bytes()).unwrap();
        let private = OaepPrivateDecryptingKey::new(private).unwrap();
        let mut plain = vec![0; cipher.len()];
        let masked = private.decrypt(&OAEP_SHA1_MGF1SHA1, &cipher, &mut plain, None).unwrap();
        assert_eq!(xor(masked.to_vec(), NONCE), "sécret\0".as_bytes());
        let error = encrypt_password(&"x".repeat(300), NONCE, pem(der.as_ref()).as_bytes()).unwrap_err();
        assert!(error.to_string().contains("too long"), "{error}");
    }

    #[test]
    fn keys_that_are_none_are_errors() {
        let empty = "-----BEGIN PUBLIC KEY-----AAAA-----END PUBLIC KEY-----";
        for key in ["", "-----BEGIN PUBLIC KEY-----", empty, "ä"] {
            assert!(encrypt_password("secret", NONCE, key.as_bytes()).is_err(), "{key}");
        }
    }
}

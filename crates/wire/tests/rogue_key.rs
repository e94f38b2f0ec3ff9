//! Somebody who answers in the server's place, offers no encryption, and asks for the password under a key of their own: who
//! learns the password, and who does not.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::thread;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use plimsoll_core::plan::{Endpoint, Secret, ServerKey, Target, Tls};
use plimsoll_sim::packets::{self, packet};
use plimsoll_wire::{ConnectOptions, Connection, WireError};

const PASSWORD: &str = "a-password-nobody-may-see";
const NONCE: &[u8; 20] = b"ABCDEFGHIJKLMNOPQRST";

/// What the client said in the end, and the password if it was learned.
fn meet(server_key: ServerKey) -> (WireError, Option<String>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let target = Target {
        endpoint: Endpoint::Tcp {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
        },
        user: "user".to_owned(),
        password: Secret::new(PASSWORD.to_owned()),
        database: String::new(),
        tls: Tls::Preferred,
        server_key,
    };
    thread::scope(|scope| {
        let rogue = scope.spawn(|| learn(&mut listener.accept().unwrap().0));
        let error = Connection::open(&target, &ConnectOptions::default()).unwrap_err();
        (error, rogue.join().unwrap())
    })
}

/// Plays the server until the password is there or the client has gone.
fn learn(stream: &mut TcpStream) -> Option<String> {
    let key = PrivateDecryptingKey::generate(KeySize::Rsa2048).unwrap();
    stream
        .write_all(&packet(0, &packets::greeting("9.7.0", 1, true)))
        .unwrap();
    read_packet(stream)?;
    let switch = [b"\xfecaching_sha2_password\0", &NONCE[..], b"\0"].concat();
    stream.write_all(&packet(2, &switch)).unwrap();
    read_packet(stream)?;
    stream.write_all(&packet(4, b"\x01\x04")).unwrap();
    let answer = read_packet(stream)?;
    if answer != [2] {
        return decrypted(key, &answer); // under a key that the client had before
    }
    stream
        .write_all(&packet(6, &[b"\x01", pem(&key).as_bytes()].concat()))
        .unwrap();
    let answer = read_packet(stream)?;
    decrypted(key, &answer)
}

fn read_packet(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).ok()?;
    let mut payload = vec![0; usize::from(header[0]) | usize::from(header[1]) << 8];
    stream.read_exact(&mut payload).ok()?;
    Some(payload)
}

fn decrypted(key: PrivateDecryptingKey, cipher: &[u8]) -> Option<String> {
    let key = OaepPrivateDecryptingKey::new(key).unwrap();
    let mut plain = vec![0; key.min_output_size()];
    let masked = key.decrypt(&OAEP_SHA1_MGF1SHA1, cipher, &mut plain, None).ok()?;
    let bytes = masked.iter().zip(NONCE.iter().cycle()).map(|(byte, mask)| byte ^ mask);
    String::from_utf8(bytes.take(masked.len() - 1).collect()).ok()
}

fn pem(key: &PrivateDecryptingKey) -> String {
    let der: PublicKeyX509Der<'_> = key.public_key().as_der().unwrap();
    pem::encode(&pem::Pem::new("PUBLIC KEY", der.as_ref()))
}

/// A file with somebody's public key, gone after the test.
struct KeyFile(PathBuf);

impl KeyFile {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(format!("/var/tmp/plimsoll-wire-{}-{name}.pem", std::process::id()));
        std::fs::write(&path, pem(&PrivateDecryptingKey::generate(KeySize::Rsa2048).unwrap())).unwrap();
        Self(path)
    }
}

impl Drop for KeyFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn without_encryption_nobody_gets_the_password_under_a_key_of_their_own() {
    let (error, learned) = meet(ServerKey::None);
    assert_eq!(learned, None);
    let text = error.to_string();
    for part in [
        "the server asks for the password itself",
        "tls=required",
        "server_public_key_path=FILE",
        "get_server_public_key",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn under_the_key_of_the_server_itself_the_password_is_of_no_use_to_others() {
    let file = KeyFile::new("key");
    let (error, learned) = meet(ServerKey::File { path: file.0.clone() });
    assert_eq!(learned, None);
    assert!(
        error.to_string().contains("closed the connection during the login"),
        "{error}"
    );
}

#[test]
fn who_trusts_any_key_that_comes_tells_the_password() {
    let (_, learned) = meet(ServerKey::Asked);
    assert_eq!(learned.as_deref(), Some(PASSWORD), "this test would not notice a thief");
}

#[test]
fn a_key_that_cannot_be_read_is_named() {
    let path = PathBuf::from("/var/tmp/no-such-key.pem");
    let (error, learned) = meet(ServerKey::File { path });
    assert_eq!(learned, None);
    assert!(
        error.to_string().contains("/var/tmp/no-such-key.pem cannot be read"),
        "{error}"
    );
    let file = KeyFile::new("bad");
    std::fs::write(&file.0, "no key").unwrap();
    let (error, learned) = meet(ServerKey::File { path: file.0.clone() });
    assert_eq!(learned, None);
    let expect = ".pem cannot be used: the server's RSA key is not in PEM format";
    assert!(error.to_string().contains(expect), "{error}");
}

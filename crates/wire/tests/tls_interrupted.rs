//! Signals that arrive while a long statement is being sent over TLS, to a server that reads slowly: nothing is sent twice,
//! and nothing is left out.

#![allow(unsafe_code)] // signals

#[allow(dead_code)] // this test uses its own part of it
mod certificates;

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::thread::JoinHandleExt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use certificates::{Authority, Folder};
use plimsoll_core::plan::{Endpoint, Secret, ServerKey, Target, Tls};
use plimsoll_sim::packets::{self, packet};
use plimsoll_wire::{ConnectOptions, Connection};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

const STATEMENT_BYTES: usize = 8_000_000;

/// A statement no two places of which look alike.
fn statement() -> String {
    let mut text = String::with_capacity(STATEMENT_BYTES);
    for number in 0..STATEMENT_BYTES / 8 {
        write!(text, "{number:07} ").unwrap();
    }
    text
}

fn server_config() -> Arc<ServerConfig> {
    let folder = Folder::new("interrupted");
    let files = Authority::new("our authority").sign(&folder, "server", &["localhost"]);
    let chain = vec![CertificateDer::from_pem_file(&files.cert).unwrap()];
    let key = PrivateKeyDer::from_pem_file(&files.key).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    Arc::new(builder.with_no_client_auth().with_single_cert(chain, key).unwrap())
}

/// Lets one client in, over TLS, and returns the statement that it sends, read with pauses.
fn serve(mut stream: TcpStream, config: Arc<ServerConfig>) -> Vec<u8> {
    let mut greeting = packets::greeting("9.7.0", 1, true);
    greeting[1 + "9.7.0".len() + 1 + 4 + 9 + 1] |= 0x08; // offers TLS
    stream.write_all(&packet(0, &greeting)).unwrap();
    stream.read_exact(&mut [0; 36]).unwrap();
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    read_payload(&mut stream, Duration::ZERO);
    stream.write_all(&packet(3, &packets::ok(0))).unwrap();
    let payload = read_payload(&mut stream, Duration::from_millis(1));
    stream.write_all(&packet(1, &packets::ok(0))).unwrap();
    payload
}

fn read_payload(stream: &mut impl Read, pause: Duration) -> Vec<u8> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).unwrap();
    let mut payload = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    for piece in payload.chunks_mut(20_000) {
        thread::sleep(pause);
        stream.read_exact(piece).unwrap();
    }
    payload
}

/// Makes a signal interrupt whatever waits, and do nothing else.
fn catch(signal: libc::c_int) {
    extern "C" fn ignore(_: libc::c_int) {}
    // SAFETY: an all-zero action is one without flags and with an empty mask; the handler touches nothing.
    let caught = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ignore as *const () as usize;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut())
    };
    assert_eq!(caught, 0);
}

#[test]
fn what_is_sent_between_signals_arrives_once_and_whole() {
    catch(libc::SIGUSR1);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let target = Target {
        endpoint: Endpoint::Tcp {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
        },
        user: "user".to_owned(),
        password: Secret::default(),
        database: String::new(),
        tls: Tls::Required { client: None },
        server_key: ServerKey::None,
    };
    let server = thread::spawn(move || serve(listener.accept().unwrap().0, server_config()));
    let mut connection = Connection::open(&target, &ConnectOptions::default()).unwrap();
    let client = thread::spawn(move || connection.query(&statement()).map(|_| ()));
    while !client.is_finished() {
        // SAFETY: the thread has not been joined, so its handle is valid.
        unsafe { libc::pthread_kill(client.as_pthread_t(), libc::SIGUSR1) };
        thread::sleep(Duration::from_micros(200));
    }
    client.join().unwrap().unwrap();
    let payload = server.join().unwrap();
    assert_eq!(payload.len(), 1 + STATEMENT_BYTES);
    assert!(payload[1..] == *statement().as_bytes(), "the statement was damaged");
}

//! Servers that lie, stall or talk nonsense where encryption should begin: always an error, and nothing of the account in
//! what they were sent.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener};
use std::thread;
use std::time::Duration;

use plimsoll_core::plan::{Endpoint, Secret, ServerKey, Target, Tls};
use plimsoll_sim::packets::{self, packet};
use plimsoll_wire::{ConnectOptions, Connection, WireError};
use proptest::prelude::*;

const USER: &str = "a-user-nobody-may-see";
const PASSWORD: &str = "a-password-nobody-may-see";
const IMPATIENT: Duration = Duration::from_millis(300);
const PATIENT: Duration = Duration::from_secs(20);
const REQUIRED: Tls = Tls::Required { client: None };

fn greeting(offers_tls: bool) -> Vec<u8> {
    let version = "9.7.0";
    let mut payload = packets::greeting(version, 1, true);
    let capabilities = 1 + version.len() + 1 + 4 + 9;
    if offers_tls {
        payload[capabilities + 1] |= 0x08;
    }
    packet(0, &payload)
}

/// Says `first`, waits for the request for encryption if there is to be one, says `then`, and stays until the client goes
/// or, when it is not to hang, closes. Returns what the client got and everything that the server was sent.
fn meet(tls: Tls, patience: Duration, first: &[u8], then: &[u8], hangs: bool) -> (WireError, Vec<u8>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let target = Target {
        endpoint: Endpoint::Tcp {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
        },
        user: USER.to_owned(),
        password: Secret::new(PASSWORD.to_owned()),
        database: String::new(),
        tls,
        server_key: ServerKey::None,
    };
    let options = ConnectOptions {
        connect_timeout: patience,
        ..ConnectOptions::default()
    };
    thread::scope(|scope| {
        let server = scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.write_all(first);
            let mut seen = vec![0; 36];
            let count = stream.read(&mut seen).unwrap_or(0);
            seen.truncate(count);
            let _ = stream.write_all(then); // the client may have gone already
            if !hangs {
                let _ = stream.shutdown(Shutdown::Write);
            }
            let _ = stream.read_to_end(&mut seen);
            seen
        });
        let error = Connection::open(&target, &options).unwrap_err();
        (error, server.join().unwrap())
    })
}

fn check(tls: Tls, first: &[u8], then: &[u8], expect: &str) {
    let (error, seen) = meet(tls, PATIENT, first, then, false);
    assert!(error.to_string().contains(expect), "{error}");
    check_nothing_told(&seen);
}

fn check_nothing_told(seen: &[u8]) {
    let text = String::from_utf8_lossy(seen);
    assert!(!text.contains(USER) && !text.contains(PASSWORD), "{text}");
}

#[test]
fn a_server_that_hides_that_it_can_encrypt_learns_nothing() {
    let demanding = |tls: Tls| {
        let name = tls.name();
        let (error, seen) = meet(tls, PATIENT, &greeting(false), b"", false);
        let text = error.to_string();
        assert!(text.contains(&format!("and tls={name} asks for one")), "{text}");
        assert_eq!(seen, b"", "{name}");
    };
    demanding(REQUIRED);
    let (ca, client) = ("/no/such/file".into(), None);
    demanding(Tls::VerifyCa { ca, client });
    let (ca, client) = ("/no/such/file".into(), None);
    demanding(Tls::VerifyIdentity { ca, client });
}

#[test]
fn the_request_for_encryption_names_no_account() {
    let (_, seen) = meet(REQUIRED, PATIENT, &greeting(true), b"", false);
    assert_eq!(seen[..4], [32, 0, 0, 1], "a packet of 32 bytes, number 1");
    assert_eq!(seen[4 + 32..][..2], [0x16, 3], "then a TLS handshake record");
    check_nothing_told(&seen);
}

/// Whoever stands in between could slip in replies that would pass for encrypted ones.
#[test]
fn bytes_before_the_encryption_are_refused() {
    let mut first = greeting(true);
    first.extend(packet(2, &packets::ok(0)));
    check(
        REQUIRED,
        &first,
        b"",
        "the server went on in plain where encryption was to begin",
    );
}

#[test]
fn nonsense_instead_of_a_handshake() {
    let nonsense = "no encrypted connection (TLS): received corrupt message";
    for tls in [Tls::Preferred, REQUIRED] {
        check(
            tls.clone(),
            &greeting(true),
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            nonsense,
        );
        let refusal = packet(2, &packets::error(1040, "08004", "Too many connections"));
        check(tls.clone(), &greeting(true), &refusal, nonsense);
        check(tls.clone(), &greeting(true), &[0x16, 3, 3, 0xff, 0xff], nonsense);
        let alert = [0x15, 3, 3, 0, 2, 2, 40];
        check(
            tls.clone(),
            &greeting(true),
            &alert,
            "does it want a client certificate",
        );
        check(tls, &greeting(true), b"", "it closed the connection during the login");
    }
}

#[test]
fn a_handshake_may_take_only_so_long() {
    for begun in [&b""[..], &[0x16, 3, 3, 0x10]] {
        let (error, seen) = meet(REQUIRED, IMPATIENT, &greeting(true), begun, true);
        assert!(error.to_string().contains("answered no login within 300ms"), "{error}");
        check_nothing_told(&seen);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_bytes_in_a_handshake_are_an_error(
        framed in any::<bool>(), kind in 20_u8..24, bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut then = if framed { vec![kind, 3, 3, (bytes.len() >> 8) as u8, bytes.len() as u8] } else { Vec::new() };
        then.extend(&bytes);
        let (_, seen) = meet(REQUIRED, PATIENT, &greeting(true), &then, false);
        check_nothing_told(&seen);
    }
}

//! What goes in comes out, the same and later: on plain sockets, without any server of a database.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_core::plan::Endpoint;
use plimsoll_relay::Relay;

/// A wait that nothing ends is a failure, not a test that hangs.
const LIMIT: Duration = Duration::from_secs(300);

fn listener() -> (TcpListener, Endpoint) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let host = "127.0.0.1".to_owned();
    (listener, Endpoint::Tcp { host, port })
}

/// A relay and the two ends of one connection through it: the client's and the server's.
fn linked(delay: Duration) -> (Relay, TcpStream, TcpStream) {
    let (listener, to) = listener();
    let relay = Relay::start(to, delay).unwrap();
    let client = connected(&relay);
    let (server, _) = listener.accept().unwrap();
    server.set_read_timeout(Some(LIMIT)).unwrap();
    server.set_nodelay(true).unwrap();
    (relay, client, server)
}

fn connected(relay: &Relay) -> TcpStream {
    let client = TcpStream::connect((Ipv4Addr::LOCALHOST, relay.port())).unwrap();
    client.set_read_timeout(Some(LIMIT)).unwrap();
    client.set_nodelay(true).unwrap();
    client
}

fn read_all(mut from: &TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).unwrap();
    bytes
}

/// Bytes in which every place can be told from others.
fn many_bytes(seed: u64) -> Vec<u8> {
    let words = (0..=3 << 20).map(|index: u64| (index ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    words.flat_map(u64::to_le_bytes).collect()
}

#[test]
fn many_bytes_arrive_unchanged_both_ways_at_once() {
    for delay_ms in [0, 30] {
        let (_relay, client, server) = linked(Duration::from_millis(delay_ms));
        let (up, down) = (many_bytes(1), many_bytes(2));
        thread::scope(|scope| {
            for (mut from, bytes) in [(&client, &up), (&server, &down)] {
                scope.spawn(move || {
                    from.write_all(bytes).unwrap();
                    from.shutdown(Shutdown::Write).unwrap();
                });
            }
            let at_client = scope.spawn(|| read_all(&client));
            assert!(read_all(&server) == up, "delay {delay_ms} ms: up");
            assert!(at_client.join().unwrap() == down, "delay {delay_ms} ms: down");
        });
    }
}

#[test]
fn each_way_takes_the_delay_and_messages_behind_each_other_share_it() {
    let delay = Duration::from_millis(40);
    let (_relay, mut client, mut server) = linked(delay);
    let mut byte = [0];
    for _ in 0..5 {
        let sent = Instant::now();
        client.write_all(&[1]).unwrap();
        server.read_exact(&mut byte).unwrap();
        let there = Instant::now();
        assert!(there - sent >= delay, "{:?}", there - sent);
        server.write_all(&byte).unwrap();
        client.read_exact(&mut byte).unwrap();
        assert!(there.elapsed() >= delay, "{:?}", there.elapsed());
    }
    let (begin, count) = (Instant::now(), 500);
    let mut all = vec![0; count as usize];
    for message in 0..count {
        client.write_all(&[message as u8]).unwrap();
        thread::sleep(Duration::from_micros(100)); // so that they are messages of their own
    }
    server.read_exact(&mut all).unwrap();
    assert!(all.iter().zip(0..count).all(|(one, message)| *one == message as u8));
    // One after the other they would take the delay each; a busy machine takes its time for the sleeps.
    assert!(
        begin.elapsed() < delay * count * 3 / 4,
        "one after the other: {:?}",
        begin.elapsed()
    );
}

#[test]
fn an_end_that_says_no_more_still_hears() {
    let (_relay, mut client, mut server) = linked(Duration::from_millis(5));
    client.write_all(b"question").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_all(&server), b"question");
    server.write_all(b"answer").unwrap();
    drop(server);
    assert_eq!(read_all(&client), b"answer");
}

#[test]
fn what_an_end_said_before_it_went_arrives_whatever_is_sent_to_it() {
    let (_relay, mut client, mut server) = linked(Duration::from_millis(50));
    server.write_all(b"last words").unwrap();
    drop(server);
    let mut heard = Vec::new();
    let begin = Instant::now();
    while heard.len() < 10 && begin.elapsed() < LIMIT {
        let _ = client.write_all(b"is anybody there?");
        let mut some = [0; 10];
        let count = client.read(&mut some).unwrap();
        heard.extend_from_slice(&some[..count]);
    }
    assert_eq!(heard, b"last words");
    let begin = Instant::now();
    while client.write_all(b"and now?").is_ok() {
        assert!(
            begin.elapsed() < LIMIT,
            "nobody told the client that the server is gone"
        );
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn where_nobody_listens_the_connection_is_closed() {
    let (listener, to) = listener();
    drop(listener);
    let relay = Relay::start(to, Duration::ZERO).unwrap();
    assert_eq!(read_all(&connected(&relay)), b"");
}

#[test]
fn a_server_may_listen_on_a_unix_socket() {
    let folder = std::env::temp_dir().join(format!("plimsoll-relay-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let relay = Relay::start(Endpoint::Socket { path }, Duration::ZERO).unwrap();
    let mut client = connected(&relay);
    client.write_all(b"to a socket").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    let mut heard = String::new();
    server.read_to_string(&mut heard).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    assert_eq!(heard, "to a socket");
}

#[test]
fn a_relay_that_ends_closes_its_connections() {
    let (relay, client, server) = linked(Duration::ZERO);
    let port = relay.port();
    drop(relay);
    assert_eq!((read_all(&client), read_all(&server)), (Vec::new(), Vec::new()));
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
}

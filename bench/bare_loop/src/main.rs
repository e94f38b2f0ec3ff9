//! The least that a client of blocking sockets can do: one thread per connection, one prepared statement, one `send` and
//! as few `recv` as the reply takes. Replies are not read, only their bytes are counted. No client that sends the same
//! statements one by one over blocking sockets can use less of the processor.
//!
//! `plimsoll-bare-loop PORT USER DATABASE ROWS CONNECTIONS SECONDS` drives point selects on `sbtest1` as a user without a
//! password and prints the number of statements. Server and statement are those of the bench; nothing else is handled.

use std::env;
use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const STATEMENT: &str = "SELECT c FROM sbtest1 WHERE id=?";
const HEADER_BYTES: usize = 4;
const STACK_BYTES: usize = 64 * 1024;

/// Of the MySQL protocol: long password, connect with database, 4.1 protocol, transactions, authentication by plug-in.
const CAPABILITIES: u32 = 1 | 1 << 3 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 19;

struct Asked {
    port: u16,
    user: String,
    database: String,
    rows: u64,
    connections: u64,
    seconds: f64,
}

fn main() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [port, user, database, rows, connections, seconds] = words.as_slice() else {
        return Err("usage: plimsoll-bare-loop PORT USER DATABASE ROWS CONNECTIONS SECONDS".into());
    };
    let asked = Asked {
        port: port.parse()?,
        user: user.clone(),
        database: database.clone(),
        rows: rows.parse()?,
        connections: connections.parse()?,
        seconds: seconds.parse()?,
    };
    println!("{}", drive(&asked)?);
    Ok(())
}

/// Runs all connections side by side; gives the statements that completed.
fn drive(asked: &Asked) -> Result<u64> {
    let is_over = Arc::new(AtomicBool::new(false));
    let begin = Arc::new(Barrier::new(usize::try_from(asked.connections)? + 1));
    let mut threads = Vec::new();
    for index in 0..asked.connections {
        let mut stream = TcpStream::connect(("127.0.0.1", asked.port))?;
        stream.set_nodelay(true)?;
        log_in(&mut stream, asked)?;
        let statement = prepare(&mut stream)?;
        let (is_over, begin, rows) = (Arc::clone(&is_over), Arc::clone(&begin), asked.rows);
        threads.push(thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            begin.wait();
            repeat(stream, statement, index + 1, rows, &is_over)
        })?);
    }
    begin.wait();
    thread::sleep(Duration::from_secs_f64(asked.seconds));
    is_over.store(true, Ordering::Relaxed);
    let mut completed = 0;
    for one in threads {
        completed += one.join().expect("a thread does not panic")?;
    }
    Ok(completed)
}

/// The loop itself.
fn repeat(mut stream: TcpStream, statement: u32, seed: u64, rows: u64, is_over: &AtomicBool) -> Result<u64> {
    let mut request = execution(statement);
    let value = request.len() - 8;
    let mut reply = [0; 4096];
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let expected_bytes = first_reply(&mut stream, &request)?;
    let mut completed = 1;
    while !is_over.load(Ordering::Relaxed) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        request[value..].copy_from_slice(&(random % rows + 1).to_le_bytes());
        stream.write_all(&request)?;
        let mut got = 0;
        while got < expected_bytes {
            match stream.read(&mut reply)? {
                0 => return Err("the server closed the connection".into()),
                count => got += count,
            }
        }
        if got != expected_bytes {
            return Err(format!("a reply of {got} bytes in place of {expected_bytes}").into());
        }
        completed += 1;
    }
    Ok(completed)
}

/// Answers the greeting without a password.
fn log_in(stream: &mut TcpStream, asked: &Asked) -> Result<()> {
    read_packet(stream)?;
    let mut answer = Vec::new();
    answer.extend_from_slice(&CAPABILITIES.to_le_bytes());
    answer.extend_from_slice(&(1_u32 << 24).to_le_bytes());
    answer.push(45); // utf8mb4
    answer.extend_from_slice(&[0; 23]);
    answer.extend_from_slice(asked.user.as_bytes());
    answer.extend_from_slice(&[0, 0]); // the end of the name, and no bytes of a password
    answer.extend_from_slice(asked.database.as_bytes());
    answer.extend_from_slice(b"\0mysql_native_password\0");
    write_packet(stream, 1, &answer)?;
    refused(&read_packet(stream)?)
}

/// Prepares the statement; gives its id. Its parameter and its column are described in two packets each.
fn prepare(stream: &mut TcpStream) -> Result<u32> {
    let mut request = vec![0x16];
    request.extend_from_slice(STATEMENT.as_bytes());
    write_packet(stream, 0, &request)?;
    let reply = read_packet(stream)?;
    refused(&reply)?;
    for _ in 0..4 {
        read_packet(stream)?;
    }
    Ok(u32::from_le_bytes(reply[1..5].try_into()?))
}

/// The statement's execution as one packet; its last eight bytes are the row's number.
fn execution(statement: u32) -> Vec<u8> {
    let mut payload = vec![0x17];
    payload.extend_from_slice(&statement.to_le_bytes());
    payload.push(0); // no cursor
    payload.extend_from_slice(&1_u32.to_le_bytes());
    payload.extend_from_slice(&[0, 1, 8, 0]); // not null; types follow: a signed number of eight bytes
    payload.extend_from_slice(&1_u64.to_le_bytes());
    packet(0, &payload)
}

/// Reads the first reply packet by packet: all others have as many bytes, since every row is as long.
fn first_reply(stream: &mut TcpStream, request: &[u8]) -> Result<usize> {
    stream.write_all(request)?;
    let (mut bytes, mut ends) = (0, 0);
    while ends < 2 {
        let payload = read_packet(stream)?;
        refused(&payload)?;
        bytes += HEADER_BYTES + payload.len();
        ends += usize::from(payload[0] == 0xfe && payload.len() < 9);
    }
    Ok(bytes)
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("packets here are short");
    let mut bytes = length.to_le_bytes().to_vec();
    bytes[3] = sequence;
    bytes.extend_from_slice(payload);
    bytes
}

fn write_packet(stream: &mut TcpStream, sequence: u8, payload: &[u8]) -> Result<()> {
    Ok(stream.write_all(&packet(sequence, payload))?)
}

fn read_packet(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut header = [0; HEADER_BYTES];
    stream.read_exact(&mut header)?;
    let mut payload = vec![0; usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16];
    stream.read_exact(&mut payload)?;
    if payload.is_empty() {
        return Err("an empty packet".into());
    }
    Ok(payload)
}

fn refused(payload: &[u8]) -> Result<()> {
    if payload[0] == 0xff {
        return Err(format!("the server refused: {}", String::from_utf8_lossy(&payload[3..])).into());
    }
    Ok(())
}

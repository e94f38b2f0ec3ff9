//! As much of the protocol as the loop needs: a login without a password, prepared statements, the end of a reply.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::Result;

pub const HEADER_BYTES: usize = 4;

/// A hundred rows fit.
pub const REPLY_BYTES_MAX: usize = 16 * 1024;

/// What Plimsoll asks for, so that the server sends the loop the same bytes: long column flags, connect with database, 4.1
/// protocol, transactions, challenge, several results of texts and of statements, authentication by plug-in, session
/// tracking; MariaDB's cache of column definitions.
const CAPABILITIES: u64 =
    1 << 2 | 1 << 3 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 17 | 1 << 18 | 1 << 19 | 1 << 23 | 1 << 36;

const OK: u8 = 0x00;
const ERROR: u8 = 0xff;
const END: u8 = 0xfe;
const END_BYTES: usize = HEADER_BYTES + 5;
const DEADLOCK: u16 = 1213;

/// The number of columns with the sign that no definitions follow, the end of these, and the end of the rows.
const RESULT_BYTES_MIN: usize = HEADER_BYTES + 2 + END_BYTES + END_BYTES;

pub enum Outcome {
    Done,
    /// By the server, because of a deadlock.
    RolledBack,
}

/// Reads a reply to its end.
pub fn read_reply(stream: &mut TcpStream, reply: &mut [u8; REPLY_BYTES_MAX]) -> Result<Outcome> {
    let mut got = 0;
    while !is_whole(&reply[..got]) {
        match stream.read(&mut reply[got..])? {
            0 => return Err(format!("the server closed the connection, or a reply has more than {got} bytes").into()),
            count => got += count,
        }
    }
    match reply[HEADER_BYTES] {
        OK => Ok(Outcome::Done),
        ERROR if u16::from_le_bytes([reply[5], reply[6]]) == DEADLOCK => Ok(Outcome::RolledBack),
        ERROR => Err(refusal(&reply[HEADER_BYTES..got])),
        _ if reply[HEADER_BYTES + 1] == 0 => Ok(Outcome::Done),
        _ => Err("the server sent column definitions again".into()),
    }
}

/// Whether these are all bytes of a reply: one packet, or rows with their end behind them. No row ends as that does.
fn is_whole(reply: &[u8]) -> bool {
    match reply.get(HEADER_BYTES) {
        None => false,
        Some(&(OK | ERROR)) => reply.len() == HEADER_BYTES + payload_bytes(reply),
        Some(_) => {
            reply.len() >= RESULT_BYTES_MIN && matches!(reply[reply.len() - END_BYTES..], [5, 0, 0, _, END, _, _, _, _])
        }
    }
}

/// Answers the greeting without a password.
pub fn log_in(stream: &mut TcpStream, user: &str, database: &str) -> Result<()> {
    read_packet(stream)?;
    let capabilities = CAPABILITIES.to_le_bytes();
    let mut answer = vec![0; HEADER_BYTES];
    answer.extend_from_slice(&capabilities[..4]);
    answer.extend_from_slice(&(1_u32 << 30).to_le_bytes());
    answer.push(45); // utf8mb4
    answer.extend_from_slice(&[0; 19]);
    answer.extend_from_slice(&capabilities[4..]);
    answer.extend_from_slice(user.as_bytes());
    answer.extend_from_slice(&[0, 0]); // the end of the name, and no bytes of a password
    answer.extend_from_slice(database.as_bytes());
    answer.extend_from_slice(b"\0mysql_native_password\0");
    put_length(&mut answer);
    answer[3] = 1;
    stream.write_all(&answer)?;
    accepted(&read_packet(stream)?)
}

/// Prepares a statement; gives its id.
pub fn prepare(stream: &mut TcpStream, sql: &str, parameters: usize) -> Result<u32> {
    let mut request = vec![0; HEADER_BYTES];
    request.push(0x16);
    request.extend_from_slice(sql.as_bytes());
    put_length(&mut request);
    stream.write_all(&request)?;
    let reply = read_packet(stream)?;
    accepted(&reply)?;
    let columns = usize::from(u16::from_le_bytes([reply[5], reply[6]]));
    for count in [parameters, columns].into_iter().filter(|count| *count > 0) {
        read_packets(stream, count + 1)?;
    }
    Ok(u32::from_le_bytes(reply[1..5].try_into()?))
}

/// Sends a statement's first execution and reads its reply, which may hold definitions.
pub fn first_reply(stream: &mut TcpStream, request: &[u8]) -> Result<()> {
    stream.write_all(request)?;
    let reply = read_packet(stream)?;
    accepted(&reply)?;
    match reply[..] {
        [OK, ..] => return Ok(()),
        [columns, are_sent] => read_packets(stream, usize::from(columns) * usize::from(are_sent) + 1)?,
        _ => return Err("the server does not cache column definitions: it must be MariaDB 10.6 or later".into()),
    }
    while read_packet(stream)?[0] != END {}
    Ok(())
}

/// Writes the length of the payload into the header in front of it.
pub fn put_length(packet: &mut [u8]) {
    let length = u32::try_from(packet.len() - HEADER_BYTES).expect("packets here are short");
    packet[..3].copy_from_slice(&length.to_le_bytes()[..3]);
}

fn payload_bytes(header: &[u8]) -> usize {
    usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16
}

fn read_packets(stream: &mut TcpStream, count: usize) -> Result<()> {
    for _ in 0..count {
        read_packet(stream)?;
    }
    Ok(())
}

fn read_packet(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut header = [0; HEADER_BYTES];
    stream.read_exact(&mut header)?;
    let mut payload = vec![0; payload_bytes(&header)];
    stream.read_exact(&mut payload)?;
    if payload.is_empty() {
        return Err("an empty packet".into());
    }
    Ok(payload)
}

fn accepted(payload: &[u8]) -> Result<()> {
    if payload[0] == ERROR {
        Err(refusal(payload))
    } else {
        Ok(())
    }
}

fn refusal(payload: &[u8]) -> Box<dyn std::error::Error + Send + Sync> {
    format!("the server refused: {}", String::from_utf8_lossy(&payload[3..])).into()
}

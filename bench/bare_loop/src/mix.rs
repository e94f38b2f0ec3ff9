//! The statements of sysbench's workloads in their order, as packets in which only values change.

use std::net::TcpStream;

use crate::{Result, protocol};

const RANGE: i64 = 100;
const C: Value = Value::Text(119);
const PAD: Value = Value::Text(59);

/// What stands in the place of a `?`.
#[derive(Clone, Copy)]
pub enum Value {
    /// Any row.
    Row,
    /// The row that was drawn last.
    SameRow,
    /// The last row of a range that begins there.
    RangeEnd,
    /// Any number up to that of the rows.
    K,
    /// Text of so many bytes.
    Text(u8),
}

/// A statement that runs so many times in a row.
struct Step(&'static str, &'static [Value], u32);

const ROW: &[Value] = &[Value::Row];
const ROWS: &[Value] = &[Value::Row, Value::RangeEnd];
const POINT: &str = "SELECT c FROM sbtest1 WHERE id=?";

const READS: [Step; 5] = [
    Step(POINT, ROW, 10),
    Step("SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?", ROWS, 1),
    Step("SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?", ROWS, 1),
    Step("SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c", ROWS, 1),
    Step(
        "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c",
        ROWS,
        1,
    ),
];

const INSERT: &str = "INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)";
const WRITES: [Step; 4] = [
    Step("UPDATE sbtest1 SET k=k+1 WHERE id=?", ROW, 1),
    Step("UPDATE sbtest1 SET c=? WHERE id=?", &[C, Value::Row], 1),
    Step("DELETE FROM sbtest1 WHERE id=?", ROW, 1),
    Step(INSERT, &[Value::SameRow, Value::K, C, PAD], 1),
];

fn steps(workload: &str) -> Result<Vec<Step>> {
    let (before, after) = (Step("BEGIN", &[], 1), Step("COMMIT", &[], 1));
    match workload {
        "oltp_point_select" => Ok(vec![Step(POINT, ROW, 1)]),
        "oltp_read_only" => Ok([before].into_iter().chain(READS).chain([after]).collect()),
        "oltp_read_write" => Ok([before].into_iter().chain(READS).chain(WRITES).chain([after]).collect()),
        _ => Err(format!("unknown workload {workload}").into()),
    }
}

/// One transaction on one connection.
pub struct Mix {
    pub requests: Vec<Request>,
}

impl Mix {
    /// Prepares all statements and runs the first transaction: with the types of values, which later executions leave out.
    pub fn prepared(workload: &str, stream: &mut TcpStream, random: &mut Random) -> Result<Self> {
        let mut requests = Vec::new();
        for Step(sql, values, times) in steps(workload)? {
            let statement = protocol::prepare(stream, sql, values.len())?;
            requests.push([true, false].map(|with_types| Request::new(statement, values, with_types, times)));
        }
        for [first, _] in &mut requests {
            for _ in 0..first.times {
                protocol::first_reply(stream, first.filled(random))?;
            }
        }
        Ok(Self {
            requests: requests.into_iter().map(|[_, later]| later).collect(),
        })
    }
}

/// The execution of a statement as one packet.
pub struct Request {
    pub times: u32,
    packet: Vec<u8>,
    /// Where each value is.
    values: Vec<(usize, Value)>,
}

impl Request {
    fn new(statement: u32, values: &[Value], with_types: bool, times: u32) -> Self {
        let mut packet = vec![0; protocol::HEADER_BYTES];
        packet.push(0x17);
        packet.extend_from_slice(&statement.to_le_bytes());
        packet.extend_from_slice(&[0, 1, 0, 0, 0]); // no cursor, once
        if !values.is_empty() {
            packet.extend_from_slice(&[0, u8::from(with_types)]); // none is NULL
        }
        for value in values.iter().filter(|_| with_types) {
            packet.extend_from_slice(&[if let Value::Text(_) = value { 253 } else { 8 }, 0]);
        }
        let mut places = Vec::new();
        for value in values {
            let bytes = match value {
                Value::Text(bytes) => {
                    packet.push(*bytes);
                    *bytes
                }
                _ => 8,
            };
            places.push((packet.len(), *value));
            packet.resize(packet.len() + usize::from(bytes), b'5');
        }
        protocol::put_length(&mut packet);
        Self {
            times,
            packet,
            values: places,
        }
    }

    /// With new values. Of a text only the first bytes change.
    pub fn filled(&mut self, random: &mut Random) -> &[u8] {
        for (at, value) in &self.values {
            let bytes = match value {
                Value::Row => random.row().to_le_bytes(),
                Value::SameRow => random.last_row.to_le_bytes(),
                Value::RangeEnd => (random.last_row + RANGE - 1).to_le_bytes(),
                Value::K => random.number().to_le_bytes(),
                Value::Text(_) => random.digits(),
            };
            self.packet[*at..*at + 8].copy_from_slice(&bytes);
        }
        &self.packet
    }
}

/// Random numbers of one connection (Marsaglia's xorshift), and the row that it drew last.
pub struct Random {
    state: u64,
    rows: u64,
    last_row: i64,
}

impl Random {
    pub fn new(seed: u64, rows: u64) -> Self {
        Self {
            state: (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            rows,
            last_row: 1,
        }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn number(&mut self) -> i64 {
        (self.next() % self.rows + 1).cast_signed()
    }

    fn row(&mut self) -> i64 {
        self.last_row = self.number();
        self.last_row
    }

    /// Eight digits from 0 to 7.
    fn digits(&mut self) -> [u8; 8] {
        (self.next() & 0x0707_0707_0707_0707 | 0x3030_3030_3030_3030).to_le_bytes()
    }
}

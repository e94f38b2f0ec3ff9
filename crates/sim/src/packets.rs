//! The packets that a server sends, as bytes.
//!
//! Deliberately not here: reading the client's packets, beyond what `serve` needs.

use crate::Rows;

/// Status flags of every reply: autocommit.
const STATUS: [u8; 2] = [2, 0];
const CAPABILITIES: u32 = 0x00FF_F7DF & !DEPRECATE_EOF & !COMPRESS & !SSL;
const COMPRESS: u32 = 1 << 5;
const SSL: u32 = 1 << 11;
/// Capability bit: rows end with an OK packet, and nothing follows column definitions.
pub const DEPRECATE_EOF: u32 = 1 << 24;
const TYPE_VAR_STRING: u8 = 253;
const TYPE_LONGLONG: u8 = 8;

/// One packet: its header and a payload shorter than 16 MiB.
///
/// # Panics
/// When the payload is longer.
pub fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    assert!(payload.len() < 0xFF_FFFF);
    let length = (payload.len() as u32).to_le_bytes();
    let mut bytes = vec![length[0], length[1], length[2], sequence];
    bytes.extend_from_slice(payload);
    bytes
}

/// Payload of a greeting that asks for `mysql_native_password`.
pub fn greeting(version: &str, connection_id: u32, deprecate_eof: bool) -> Vec<u8> {
    let capabilities = (CAPABILITIES | if deprecate_eof { DEPRECATE_EOF } else { 0 }).to_le_bytes();
    let mut bytes = vec![10];
    bytes.extend_from_slice(version.as_bytes());
    bytes.push(0);
    bytes.extend_from_slice(&connection_id.to_le_bytes());
    bytes.extend_from_slice(b"abcdefgh\0");
    bytes.extend_from_slice(&capabilities[..2]);
    bytes.push(45);
    bytes.extend_from_slice(&STATUS);
    bytes.extend_from_slice(&capabilities[2..]);
    bytes.push(21);
    bytes.extend_from_slice(&[0; 10]);
    bytes.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
    bytes
}

/// Payload of an OK packet.
pub fn ok(rows_affected: u64) -> Vec<u8> {
    changed(rows_affected, 0)
}

/// Payload of an OK packet after a statement that changed rows; `insert_id` is 0 when none was generated.
pub fn changed(rows_affected: u64, insert_id: u64) -> Vec<u8> {
    let mut bytes = vec![0];
    put_lenenc(&mut bytes, rows_affected);
    put_lenenc(&mut bytes, insert_id);
    bytes.extend_from_slice(&STATUS);
    bytes.extend_from_slice(&[0, 0]);
    bytes
}

/// Payload of an error packet.
pub fn error(code: u16, sqlstate: &str, message: &str) -> Vec<u8> {
    let mut bytes = vec![0xFF];
    bytes.extend_from_slice(&code.to_le_bytes());
    bytes.push(b'#');
    bytes.extend_from_slice(sqlstate.as_bytes());
    bytes.extend_from_slice(message.as_bytes());
    bytes
}

/// Payload of the packet after the last row.
pub fn rows_end(deprecate_eof: bool) -> Vec<u8> {
    if deprecate_eof {
        vec![0xFE, 0, 0, 2, 0, 0, 0]
    } else {
        eof()
    }
}

fn eof() -> Vec<u8> {
    vec![0xFE, 0, 0, 2, 0]
}

/// Payload of the definition of a column or parameter of strings.
pub fn column(name: &str) -> Vec<u8> {
    definition(name, ColumnKind::Text)
}

fn definition(name: &str, kind: ColumnKind) -> Vec<u8> {
    let kind = match kind {
        ColumnKind::Text => TYPE_VAR_STRING,
        ColumnKind::Integer => TYPE_LONGLONG,
    };
    let mut bytes = Vec::new();
    for text in ["def", "", "", "", name, ""] {
        put_text(&mut bytes, text);
    }
    bytes.extend_from_slice(&[0x0C, 45, 0, 0, 1, 0, 0, kind, 0, 0, 0, 0, 0]);
    bytes
}

/// How a result set writes its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// As `COM_QUERY` answers.
    Text,
    /// As `COM_STMT_EXECUTE` answers.
    Binary,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text.
    Text,
    /// Whole numbers of 64 bits.
    Integer,
}

/// A column of a result set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
}

/// What a statement returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultSet {
    /// At least one.
    pub columns: Vec<Column>,
    /// Values, numbers in decimal.
    pub rows: Rows,
}

impl ResultSet {
    /// Rows of texts. There are as many columns as the first row has, or one.
    pub fn of_texts(rows: Rows) -> Self {
        let column = Column {
            name: "c".to_owned(),
            kind: ColumnKind::Text,
        };
        let columns = vec![column; rows.first().map_or(1, Vec::len)];
        Self { columns, rows }
    }
}

/// All packets of a result set, the first numbered 1.
pub fn result_set(result: &ResultSet, format: RowFormat, deprecate_eof: bool) -> Vec<u8> {
    let mut stream = Stream {
        bytes: Vec::new(),
        sequence: 1,
    };
    let mut head = Vec::new();
    put_lenenc(&mut head, result.columns.len() as u64);
    stream.push(&head);
    for column in &result.columns {
        stream.push(&definition(&column.name, column.kind));
    }
    if !deprecate_eof {
        stream.push(&eof());
    }
    for row in &result.rows {
        stream.push(&match format {
            RowFormat::Text => text_row(row),
            RowFormat::Binary => binary_row(row, &result.columns),
        });
    }
    stream.push(&rows_end(deprecate_eof));
    stream.bytes
}

/// All packets of the reply to a prepare, the first numbered 1.
pub fn prepared(id: u32, parameters: u16, columns: u16, deprecate_eof: bool) -> Vec<u8> {
    let mut head = vec![0];
    head.extend_from_slice(&id.to_le_bytes());
    head.extend_from_slice(&columns.to_le_bytes());
    head.extend_from_slice(&parameters.to_le_bytes());
    head.extend_from_slice(&[0, 0, 0]);
    let mut stream = Stream {
        bytes: Vec::new(),
        sequence: 1,
    };
    stream.push(&head);
    for count in [parameters, columns] {
        for _ in 0..count {
            stream.push(&column("?"));
        }
        if count > 0 && !deprecate_eof {
            stream.push(&eof());
        }
    }
    stream.bytes
}

/// Payload of a row of text.
pub fn text_row(row: &[Option<String>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in row {
        match value {
            Some(text) => put_text(&mut bytes, text),
            None => bytes.push(0xFB),
        }
    }
    bytes
}

/// Payload of a row in the binary format. What is no number where one should be is 0.
pub fn binary_row(row: &[Option<String>], columns: &[Column]) -> Vec<u8> {
    let mut bytes = vec![0; 1 + (row.len() + 9) / 8];
    for (index, (value, column)) in row.iter().zip(columns).enumerate() {
        match value {
            Some(number) if column.kind == ColumnKind::Integer => {
                bytes.extend_from_slice(&number.parse::<i64>().unwrap_or(0).to_le_bytes());
            }
            Some(text) => put_text(&mut bytes, text),
            None => bytes[1 + (index + 2) / 8] |= 1 << ((index + 2) % 8),
        }
    }
    bytes
}

/// Packets numbered in a row.
struct Stream {
    bytes: Vec<u8>,
    sequence: u8,
}

impl Stream {
    fn push(&mut self, payload: &[u8]) {
        self.bytes.extend(packet(self.sequence, payload));
        self.sequence = self.sequence.wrapping_add(1);
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_lenenc(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn put_lenenc(out: &mut Vec<u8>, value: u64) {
    let (mark, bytes) = match value {
        0..251 => (None, 1),
        251..0x1_0000 => (Some(0xFC), 2),
        0x1_0000..0x100_0000 => (Some(0xFD), 3),
        _ => (Some(0xFE), 8),
    };
    out.extend(mark);
    out.extend_from_slice(&value.to_le_bytes()[..bytes]);
}

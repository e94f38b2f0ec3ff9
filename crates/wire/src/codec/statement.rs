//! Prepared statements: the reply to a prepare, and the execution with its parameters in binary.

use std::cell::Cell;

use super::ProtocolError;
use super::cursor::{Cursor, put_lenenc};
use super::definitions::Definitions;

const COM_STMT_EXECUTE: u8 = 0x17;
const TYPE_DOUBLE: u8 = 5;
const TYPE_LONGLONG: u8 = 8;
const TYPE_VAR_STRING: u8 = 253;
/// Types of statements with more parameters are sent each time.
const TYPES_REMEMBERED_MAX: usize = 64;

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// Sent as a 64-bit integer.
    Int(i64),
    /// Sent as a double.
    Double(f64),
    /// Sent as a string in UTF-8.
    Text(&'a str),
    /// Sent as a string, whatever its bytes are.
    Bytes(&'a [u8]),
}

/// What the server told about a statement it prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrepareOk {
    /// The server's number for it, valid within its connection.
    pub id: u32,
    /// Columns of its result set, 0 for none.
    pub column_count: u16,
    /// Its `?`.
    pub parameter_count: u16,
}

impl PrepareOk {
    /// Reads the first packet of the reply to a prepare that did not fail.
    ///
    /// # Errors
    /// When it is cut short or of another kind.
    pub fn decode(payload: &[u8]) -> Result<Self, ProtocolError> {
        let what = "the reply to a prepare";
        let mut cursor = Cursor::new(payload);
        let kind = cursor.u8(what)?;
        if kind != 0x00 {
            return Err(ProtocolError::Unexpected { what, byte: kind });
        }
        let id = cursor.u32(what)?;
        let column_count = cursor.u16(what)?;
        let parameter_count = cursor.u16(what)?;
        Ok(Self {
            id,
            column_count,
            parameter_count,
        })
    }
}

/// A statement that one connection prepared.
#[derive(Debug)]
pub struct PreparedStatement {
    /// The server's number for it, valid within its connection.
    pub id: u32,
    /// Its `?`.
    pub parameter_count: u16,
    /// Columns of its result set, 0 for none.
    pub column_count: u16,
    /// The connection that prepared it, by a number unique within this process.
    pub(crate) connection: u64,
    /// The parameter types that the server remembers from the last execution; `None` when it may remember nothing.
    types: Cell<Option<Types>>,
    /// Of the columns of its result; empty where the server sends them each time.
    pub(crate) definitions: Definitions,
}

impl PreparedStatement {
    /// A statement just prepared, by the connection with this number.
    pub fn new(prepared: PrepareOk, definitions: Definitions, connection: u64) -> Self {
        let PrepareOk {
            id,
            column_count,
            parameter_count,
        } = prepared;
        Self {
            id,
            parameter_count,
            column_count,
            connection,
            types: Cell::new(None),
            definitions,
        }
    }

    /// Makes the next execution send the types again: after an error nobody knows what the server kept.
    pub fn forget_types(&self) {
        self.types.set(None);
    }

    /// Appends the payload of an execution without a cursor. Types are sent only when they differ from those of the
    /// execution before, as the protocol allows.
    ///
    /// # Panics
    /// When the number of values is not the number of parameters, which the caller checks.
    #[inline]
    pub fn encode_execute(&self, values: &[Value<'_>], out: &mut Vec<u8>) {
        assert_eq!(values.len(), usize::from(self.parameter_count));
        out.push(COM_STMT_EXECUTE);
        out.extend_from_slice(&self.id.to_le_bytes());
        out.extend_from_slice(&[0, 1, 0, 0, 0]); // no cursor, one iteration
        if values.is_empty() {
            return;
        }
        put_null_bitmap(values, out);
        let before = self.types.get();
        let now = Types::of(values, before.unwrap_or_default());
        if before == Some(now) && values.len() <= TYPES_REMEMBERED_MAX {
            out.push(0);
        } else {
            out.push(1);
            put_types(values, now, out);
            self.types.set(Some(now));
        }
        for value in values {
            put_value(*value, out);
        }
    }
}

/// Types of parameters, a bit for each; those past the 64th have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Types {
    texts: u64,
    doubles: u64,
}

impl Types {
    /// A NULL keeps the type that was bound before.
    #[inline]
    fn of(values: &[Value<'_>], before: Self) -> Self {
        let mut types = Self::default();
        for (index, value) in values.iter().take(TYPES_REMEMBERED_MAX).enumerate() {
            let bit = 1 << index;
            match value {
                Value::Text(_) | Value::Bytes(_) => types.texts |= bit,
                Value::Double(_) => types.doubles |= bit,
                Value::Int(_) => {}
                Value::Null => {
                    types.texts |= before.texts & bit;
                    types.doubles |= before.doubles & bit;
                }
            }
        }
        types
    }

    /// The protocol's number of a value's type.
    fn code(self, index: usize, value: &Value<'_>) -> u8 {
        let remembered = |bits: u64| index < TYPES_REMEMBERED_MAX && bits & 1 << index != 0;
        match value {
            Value::Text(_) | Value::Bytes(_) => TYPE_VAR_STRING,
            Value::Double(_) => TYPE_DOUBLE,
            Value::Null if remembered(self.texts) => TYPE_VAR_STRING,
            Value::Null if remembered(self.doubles) => TYPE_DOUBLE,
            Value::Int(_) | Value::Null => TYPE_LONGLONG,
        }
    }
}

#[inline]
fn put_null_bitmap(values: &[Value<'_>], out: &mut Vec<u8>) {
    for eight in values.chunks(8) {
        let bit = |(index, value): (usize, &Value<'_>)| u8::from(*value == Value::Null) << index;
        out.push(eight.iter().enumerate().map(bit).fold(0, |all, one| all | one));
    }
}

fn put_types(values: &[Value<'_>], types: Types, out: &mut Vec<u8>) {
    for (index, value) in values.iter().enumerate() {
        out.extend_from_slice(&[types.code(index, value), 0]);
    }
}

#[inline]
fn put_value(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => {}
        Value::Int(int) => out.extend_from_slice(&int.to_le_bytes()),
        Value::Double(double) => out.extend_from_slice(&double.to_le_bytes()),
        Value::Text(text) => put_string(text.as_bytes(), out),
        Value::Bytes(bytes) => put_string(bytes, out),
    }
}

#[inline]
fn put_string(bytes: &[u8], out: &mut Vec<u8>) {
    put_lenenc(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(parameter_count: u16) -> PreparedStatement {
        PreparedStatement::new(
            PrepareOk {
                id: 7,
                column_count: 1,
                parameter_count,
            },
            Definitions::default(),
            1,
        )
    }

    fn check(statement: &PreparedStatement, values: &[Value<'_>], expect: &[u8]) {
        let mut bytes = Vec::new();
        statement.encode_execute(values, &mut bytes);
        let (head, rest) = bytes.split_at(10);
        assert_eq!(head, [0x17, 7, 0, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(rest, expect, "{values:?}");
    }

    #[test]
    fn types_are_sent_once_and_when_they_change() {
        let one = statement(1);
        check(&one, &[Value::Int(-2)], b"\0\x01\x08\0\xfe\xff\xff\xff\xff\xff\xff\xff");
        check(&one, &[Value::Int(1)], b"\0\0\x01\0\0\0\0\0\0\0");
        check(&one, &[Value::Null], b"\x01\0");
        check(&one, &[Value::Text("ab")], b"\0\x01\xfd\0\x02ab");
        check(&one, &[Value::Bytes(b"\xff")], b"\0\0\x01\xff");
        check(&one, &[Value::Null], b"\x01\0");
        check(&one, &[Value::Text("")], b"\0\0\0");
        check(&one, &[Value::Double(1.5)], b"\0\x01\x05\0\0\0\0\0\0\0\xf8\x3f");
        check(&one, &[Value::Null], b"\x01\0");
        check(&one, &[Value::Double(0.0)], b"\0\0\0\0\0\0\0\0\0\0");
        check(&one, &[Value::Text("")], b"\0\x01\xfd\0\0");
        one.forget_types();
        check(&one, &[Value::Text("")], b"\0\x01\xfd\0\0");
        check(&statement(0), &[], b"");
    }

    #[test]
    fn a_null_first_is_bound_as_integer() {
        let two = statement(2);
        check(&two, &[Value::Null, Value::Text("x")], b"\x01\x01\x08\0\xfd\0\x01x");
        check(
            &two,
            &[Value::Text("y"), Value::Text("x")],
            b"\0\x01\xfd\0\xfd\0\x01y\x01x",
        );
    }

    #[test]
    fn types_of_many_parameters_are_always_sent() {
        let many = statement(65);
        let mut values = vec![Value::Null; 64];
        values.push(Value::Text("z"));
        let mut expect = vec![0xFF; 8];
        expect.extend_from_slice(&[0, 1]);
        expect.extend_from_slice(&[8, 0].repeat(64));
        expect.extend_from_slice(b"\xfd\0\x01z");
        check(&many, &values, &expect);
        check(&many, &values, &expect);
    }

    #[test]
    fn replies_to_a_prepare() {
        let prepared = PrepareOk::decode(b"\0\x07\0\0\0\x02\0\x03\0\0\0\0").unwrap();
        assert_eq!(
            prepared,
            PrepareOk {
                id: 7,
                column_count: 2,
                parameter_count: 3
            }
        );
        assert!(PrepareOk::decode(b"\0\x07\0\0").is_err());
        assert!(PrepareOk::decode(b"\x01\x07\0\0\0\x02\0\x03\0").is_err());
    }
}

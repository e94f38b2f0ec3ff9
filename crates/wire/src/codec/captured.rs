//! Values of one row that a later statement takes: decoded from the binary and the text protocol into memory that is
//! used again.
//!
//! Deliberately not here: rows that are only counted, and control queries (`row`).

use std::io::Write as _;

use super::ProtocolError;
use super::column::ColumnType;
use super::cursor::Cursor;
use super::row::text_value;
use super::statement::Value;

/// A value that is captured. Setting it anew uses its memory again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    kind: Kind,
    int: i64,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Null,
    Int,
    Bytes,
}

impl Captured {
    /// The value as a parameter.
    #[inline]
    pub fn value(&self) -> Value<'_> {
        match self.kind {
            Kind::Null => Value::Null,
            Kind::Int => Value::Int(self.int),
            Kind::Bytes => Value::Bytes(&self.bytes),
        }
    }

    /// Makes it NULL.
    pub fn set_null(&mut self) {
        self.kind = Kind::Null;
    }

    /// Makes it an integer.
    #[inline]
    pub fn set_int(&mut self, int: i64) {
        self.kind = Kind::Int;
        self.int = int;
    }

    /// Makes it an empty string and hands out its bytes to be filled.
    #[inline]
    pub fn begin_bytes(&mut self) -> &mut Vec<u8> {
        self.kind = Kind::Bytes;
        self.bytes.clear();
        &mut self.bytes
    }

    /// Makes it the same as another. Unlike a clone it uses its memory again.
    #[inline]
    pub fn set(&mut self, other: &Self) {
        self.kind = other.kind;
        self.int = other.int;
        if other.kind == Kind::Bytes {
            self.set_bytes(&other.bytes);
        }
    }

    /// Hands it over as text, NULL as `None`.
    pub fn with_text(&mut self, take: &mut impl FnMut(Option<&[u8]>)) {
        match self.kind {
            Kind::Null => take(None),
            Kind::Bytes => take(Some(&self.bytes)),
            Kind::Int => {
                let int = self.int;
                self.set_display(int);
                take(Some(&self.bytes));
            }
        }
    }

    fn set_bytes(&mut self, bytes: &[u8]) {
        self.begin_bytes().extend_from_slice(bytes);
    }

    fn set_unsigned(&mut self, number: u64) {
        match i64::try_from(number) {
            Ok(int) => self.set_int(int),
            Err(_) => self.set_display(number),
        }
    }

    fn set_display(&mut self, shown: impl std::fmt::Display) {
        write!(self.begin_bytes(), "{shown}").expect("a vector takes all that is written");
    }
}

const TINY: u8 = 1;
const SHORT: u8 = 2;
const LONG: u8 = 3;
const FLOAT: u8 = 4;
const DOUBLE: u8 = 5;
const NULL: u8 = 6;
const TIMESTAMP: u8 = 7;
const LONGLONG: u8 = 8;
const INT24: u8 = 9;
const DATE: u8 = 10;
const TIME: u8 = 11;
const DATETIME: u8 = 12;
const YEAR: u8 = 13;

const WHAT: &str = "a row";

/// Walks over the values of one row in the binary protocol.
pub struct BinaryRow<'a> {
    nulls: &'a [u8],
    values: Cursor<'a>,
    position: usize,
}

impl<'a> BinaryRow<'a> {
    /// Starts at the first of so many columns.
    ///
    /// # Errors
    /// When the row is too short or of another kind.
    pub fn new(payload: &'a [u8], columns: usize) -> Result<Self, ProtocolError> {
        let mut values = Cursor::new(payload);
        let kind = values.u8(WHAT)?;
        if kind != 0 {
            return Err(ProtocolError::Unexpected { what: WHAT, byte: kind });
        }
        let nulls = values.bytes((columns + 2).div_ceil(8), WHAT)?;
        Ok(Self {
            nulls,
            values,
            position: 0,
        })
    }

    /// The next value: into `captured`, or passed over.
    ///
    /// # Errors
    /// When it is cut short.
    pub fn next(&mut self, column: ColumnType, captured: Option<&mut Captured>) -> Result<(), ProtocolError> {
        let bit = self.position + 2; // the protocol leaves two bits free
        self.position += 1;
        let mut passed_over = Captured::default();
        let captured = captured.unwrap_or(&mut passed_over);
        if self.nulls[bit / 8] & 1 << (bit % 8) != 0 || column.code == NULL {
            captured.set_null();
            return Ok(());
        }
        self.take(column, captured)
    }

    fn take(&mut self, column: ColumnType, captured: &mut Captured) -> Result<(), ProtocolError> {
        match column.code {
            TINY => self.integer(1, column, captured),
            SHORT | YEAR => self.integer(2, column, captured),
            LONG | INT24 => self.integer(4, column, captured),
            LONGLONG => self.integer(8, column, captured),
            FLOAT => {
                let bits = self.little_endian(4)? as u32;
                captured.set_display(f32::from_bits(bits));
                Ok(())
            }
            DOUBLE => {
                let bits = self.little_endian(8)?;
                captured.set_display(f64::from_bits(bits));
                Ok(())
            }
            DATE | DATETIME | TIMESTAMP => self.date(column, captured),
            TIME => self.time(captured),
            _ => {
                captured.set_bytes(self.values.lenenc_bytes(WHAT)?);
                Ok(())
            }
        }
    }

    fn little_endian(&mut self, size: usize) -> Result<u64, ProtocolError> {
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(self.values.bytes(size, WHAT)?);
        Ok(u64::from_le_bytes(bytes))
    }

    fn integer(&mut self, size: usize, column: ColumnType, captured: &mut Captured) -> Result<(), ProtocolError> {
        let number = self.little_endian(size)?;
        if column.unsigned {
            captured.set_unsigned(number);
        } else {
            let unused_bits = 64 - 8 * size as u32;
            #[expect(
                clippy::cast_possible_wrap,
                reason = "the sign bit of the shorter integer becomes that of this one"
            )]
            captured.set_int((number << unused_bits) as i64 >> unused_bits);
        }
        Ok(())
    }

    /// `YYYY-MM-DD`, with the time of day where the column has one.
    fn date(&mut self, column: ColumnType, captured: &mut Captured) -> Result<(), ProtocolError> {
        let field = self.field::<11>()?;
        let year = u16::from_le_bytes([field[0], field[1]]);
        let (month, day) = (field[2], field[3]);
        captured.set_display(format_args!("{year:04}-{month:02}-{day:02}"));
        if column.code != DATE {
            push_time(&mut captured.bytes, " ", u32::from(field[4]), &field[5..]);
        }
        Ok(())
    }

    /// `[-]HH:MM:SS`, with as many hours as there are.
    fn time(&mut self, captured: &mut Captured) -> Result<(), ProtocolError> {
        let field = self.field::<12>()?;
        let days = u32::from_le_bytes([field[1], field[2], field[3], field[4]]);
        let hours = days.saturating_mul(24).saturating_add(u32::from(field[5]));
        let sign = if field[0] == 0 { "" } else { "-" };
        push_time(captured.begin_bytes(), sign, hours, &field[6..]);
        Ok(())
    }

    /// A field whose zeros at the end are left out, with them.
    fn field<const N: usize>(&mut self) -> Result<[u8; N], ProtocolError> {
        let size = usize::from(self.values.u8(WHAT)?);
        let mut field = [0; N];
        let filled = field.get_mut(..size).ok_or(ProtocolError::Invalid {
            what: "a point in time has too many bytes",
        })?;
        filled.copy_from_slice(self.values.bytes(size, WHAT)?);
        Ok(field)
    }
}

/// Appends a time of day; `rest` holds minutes, seconds and microseconds.
fn push_time(out: &mut Vec<u8>, before: &str, hours: u32, rest: &[u8]) {
    let (minutes, seconds) = (rest[0], rest[1]);
    let micros = u32::from_le_bytes([rest[2], rest[3], rest[4], rest[5]]);
    let written = if micros == 0 {
        write!(out, "{before}{hours:02}:{minutes:02}:{seconds:02}")
    } else {
        write!(out, "{before}{hours:02}:{minutes:02}:{seconds:02}.{micros:06}")
    };
    written.expect("a vector takes all that is written");
}

/// The next value of a row in the text protocol: into `captured`, or passed over. Integers become integers, so that both
/// protocols give the same.
///
/// # Errors
/// When it is cut short.
pub fn next_text(
    row: &mut Cursor<'_>,
    column: ColumnType,
    captured: Option<&mut Captured>,
) -> Result<(), ProtocolError> {
    let mut passed_over = Captured::default();
    let captured = captured.unwrap_or(&mut passed_over);
    let Some(bytes) = text_value(row)? else {
        captured.set_null();
        return Ok(());
    };
    let is_integer = matches!(column.code, TINY | SHORT | LONG | LONGLONG | INT24 | YEAR);
    let text = std::str::from_utf8(bytes).ok().filter(|_| is_integer);
    match text.and_then(|text| text.parse().ok()) {
        Some(int) => captured.set_int(int),
        None => captured.set_bytes(bytes),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(code: u8, unsigned: bool, value: &[u8]) -> Captured {
        let payload = [&[0, 0][..], value].concat();
        let mut captured = Captured::default();
        let mut row = BinaryRow::new(&payload, 1).unwrap();
        row.next(ColumnType { code, unsigned }, Some(&mut captured)).unwrap();
        captured
    }

    fn text(code: u8, value: &[u8]) -> Captured {
        let mut captured = Captured::default();
        let column = ColumnType { code, unsigned: false };
        next_text(&mut Cursor::new(value), column, Some(&mut captured)).unwrap();
        captured
    }

    #[test]
    fn integers_of_all_sizes_keep_their_sign() {
        assert_eq!(binary(TINY, false, &[0xFF]).value(), Value::Int(-1));
        assert_eq!(binary(TINY, true, &[0xFF]).value(), Value::Int(255));
        assert_eq!(binary(SHORT, false, &[0xFE, 0xFF]).value(), Value::Int(-2));
        assert_eq!(
            binary(LONG, false, &[1, 0, 0, 0x80]).value(),
            Value::Int(-2_147_483_647)
        );
        assert_eq!(binary(LONGLONG, false, &[0xFF; 8]).value(), Value::Int(-1));
        let largest = binary(LONGLONG, true, &[0xFF; 8]);
        assert_eq!(largest.value(), Value::Bytes(b"18446744073709551615"));
    }

    #[test]
    fn other_types_become_the_text_that_the_server_takes() {
        assert_eq!(
            binary(DOUBLE, false, &1.5f64.to_le_bytes()).value(),
            Value::Bytes(b"1.5")
        );
        assert_eq!(binary(253, false, b"\x02ab").value(), Value::Bytes(b"ab"));
        assert_eq!(
            binary(DATE, false, b"\x04\xe8\x07\x02\x1d").value(),
            Value::Bytes(b"2024-02-29")
        );
        assert_eq!(binary(DATE, false, b"\0").value(), Value::Bytes(b"0000-00-00"));
        let whole = binary(DATETIME, false, b"\x07\xe8\x07\x02\x1d\x01\x02\x03");
        assert_eq!(whole.value(), Value::Bytes(b"2024-02-29 01:02:03"));
        let micros = binary(TIMESTAMP, false, b"\x0b\xe8\x07\x02\x1d\x01\x02\x03\x40\xe2\x01\0");
        assert_eq!(micros.value(), Value::Bytes(b"2024-02-29 01:02:03.123456"));
        let time = binary(TIME, false, b"\x08\x01\x01\0\0\0\x02\x03\x04");
        assert_eq!(time.value(), Value::Bytes(b"-26:03:04"));
    }

    #[test]
    fn text_gives_the_same_as_binary() {
        assert_eq!(
            text(LONGLONG, b"\x02-7"),
            binary(LONGLONG, false, &(-7i64).to_le_bytes())
        );
        assert_eq!(text(253, b"\x027x").value(), Value::Bytes(b"7x"));
        assert_eq!(text(253, b"\x017").value(), Value::Bytes(b"7"));
        assert_eq!(text(LONGLONG, b"\xfb").value(), Value::Null);
    }

    #[test]
    fn a_null_has_no_bytes_and_values_behind_it_are_found() {
        let columns = [LONG, LONG, 253];
        let payload = [&[0, 0b0000_1000][..], &7i32.to_le_bytes(), b"\x01x"].concat();
        let mut row = BinaryRow::new(&payload, 3).unwrap();
        let mut captured: Vec<Captured> = vec![Captured::default(); 3];
        for (code, captured) in columns.into_iter().zip(&mut captured) {
            row.next(ColumnType { code, unsigned: false }, Some(captured)).unwrap();
        }
        let values: Vec<Value<'_>> = captured.iter().map(Captured::value).collect();
        assert_eq!(values, [Value::Int(7), Value::Null, Value::Bytes(b"x")]);
    }

    #[test]
    fn hostile_rows_are_errors() {
        assert!(BinaryRow::new(b"", 1).is_err());
        assert!(BinaryRow::new(b"\x01\0", 1).is_err());
        for (code, value) in [(LONG, &b"\x01"[..]), (DATE, b"\xff"), (TIME, b"\x0d"), (253, b"\x09a")] {
            let payload = [&[0, 0][..], value].concat();
            let mut row = BinaryRow::new(&payload, 1).unwrap();
            assert!(row.next(ColumnType { code, unsigned: false }, None).is_err(), "{code}");
        }
    }
}

//! Events of rows: which table, and how many rows.
//!
//! Lengths of fields: MySQL 8.4 source, `libs/mysql/binlog/event/binary_log_funcs.cpp` (`calc_field_size`).
//! Deliberately not here: the values.

use super::bytes::Bytes;
use crate::entry::RowChange;

/// How events of rows are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// MariaDB, MySQL before 5.6.
    First,
    /// With extra data behind the flags.
    Second,
    /// Rows cannot be counted: they are compressed, or hold parts of documents.
    Closed,
}

/// What a kind of event does, if it is one of rows.
pub fn change_of(kind: u8) -> Option<(RowChange, Layout)> {
    let found = match kind {
        23 => (RowChange::Insert, Layout::First),
        24 => (RowChange::Update, Layout::First),
        25 => (RowChange::Delete, Layout::First),
        30 => (RowChange::Insert, Layout::Second),
        31 => (RowChange::Update, Layout::Second),
        32 => (RowChange::Delete, Layout::Second),
        166 | 169 => (RowChange::Insert, Layout::Closed),
        39 | 167 | 170 => (RowChange::Update, Layout::Closed),
        168 | 171 => (RowChange::Delete, Layout::Closed),
        _ => return None,
    };
    Some(found)
}

/// A table as the log names it before its rows.
#[derive(Clone, Debug)]
pub struct TableMap {
    pub schema: Vec<u8>,
    name: Vec<u8>,
    columns: Vec<Field>,
}

/// How long the value of a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// Always so many bytes.
    Fixed(usize),
    /// As a number of so many bytes before it says.
    Counted(usize),
    /// Nobody knows.
    Unknown,
}

impl TableMap {
    /// Behind its id and flags.
    pub fn read(body: &mut Bytes<'_>, is_cut: bool) -> Option<Self> {
        let schema_len = body.byte()?.into();
        let schema = body.take(schema_len)?.to_vec();
        body.skip(1)?;
        let name_len = body.byte()?.into();
        let name = body.take(name_len)?.to_vec();
        body.skip(1)?;
        let count = body.packed()?;
        if is_cut {
            return Some(Self {
                schema,
                name,
                columns: Vec::new(),
            });
        }
        let kinds = body.take(count)?;
        let meta_len = body.packed()?;
        let mut meta = Bytes::of(body.take(meta_len)?);
        let columns = kinds
            .iter()
            .map(|&kind| Field::of(kind, &mut meta))
            .collect::<Option<_>>()?;
        Some(Self { schema, name, columns })
    }

    /// What stands for a statement that changed rows of it.
    pub fn statement(&self, change: RowChange) -> Vec<u8> {
        let (before, after): (&[u8], &[u8]) = match change {
            RowChange::Insert => (b"INSERT INTO ", b" VALUES (...)"),
            RowChange::Update => (b"UPDATE ", b" SET (...)"),
            RowChange::Delete => (b"DELETE FROM ", b" WHERE (...)"),
        };
        let table = [quoted(&self.schema), b".".to_vec(), quoted(&self.name)].concat();
        [before, &table, after].concat()
    }

    /// How many rows an event has, behind its id and flags; `None` when that cannot be told.
    pub fn rows(&self, layout: Layout, change: RowChange, body: &mut Bytes<'_>) -> Option<u64> {
        match layout {
            Layout::Closed => return None,
            Layout::First => {}
            Layout::Second => {
                let extra = body.number(2)? as usize;
                body.skip(extra.checked_sub(2)?)?;
            }
        }
        let width = body.packed()?;
        if width != self.columns.len() || width == 0 {
            return None;
        }
        let present = body.take(width.div_ceil(8))?;
        let after = if change == RowChange::Update {
            Some(body.take(width.div_ceil(8))?)
        } else {
            None
        };
        let mut count = 0;
        while !body.rest().is_empty() {
            self.skip_row(present, body)?;
            if let Some(after) = after {
                self.skip_row(after, body)?;
            }
            count += 1;
        }
        Some(count)
    }

    fn skip_row(&self, present: &[u8], body: &mut Bytes<'_>) -> Option<()> {
        let is_set = |bits: &[u8], place: usize| bits[place / 8] & (1 << (place % 8)) != 0;
        let held = self
            .columns
            .iter()
            .enumerate()
            .filter(|&(place, _)| is_set(present, place));
        let nulls = body.take(held.clone().count().div_ceil(8))?;
        // a row without columns takes no bytes: there would be no end of them
        held.clone().next()?;
        for (number, (_, field)) in held.enumerate() {
            if !is_set(nulls, number) {
                field.skip(body)?;
            }
        }
        Some(())
    }
}

impl Field {
    /// Of a column of this type, whose further properties come next.
    fn of(kind: u8, meta: &mut Bytes<'_>) -> Option<Self> {
        let fraction = |bytes: usize, digits: u8| Self::Fixed(bytes + usize::from(digits).div_ceil(2));
        let counted = |bytes_max: u64| Self::Counted(if bytes_max > 255 { 2 } else { 1 });
        Some(match kind {
            1 | 13 => Self::Fixed(1),
            2 => Self::Fixed(2),
            9 | 10 | 11 | 14 => Self::Fixed(3),
            3 | 7 => Self::Fixed(4),
            8 | 12 => Self::Fixed(8),
            4 | 5 => Self::Fixed(meta.byte()?.into()),
            6 => Self::Fixed(0),
            17 => fraction(4, meta.byte()?),
            18 => fraction(5, meta.byte()?),
            19 => fraction(3, meta.byte()?),
            15 | 253 | 141 => counted(meta.number(2)?),
            16 => {
                let (bits, bytes) = (meta.byte()?, meta.byte()?);
                Self::Fixed(usize::from(bytes) + usize::from(bits > 0))
            }
            246 => Self::Fixed(decimal_bytes(meta.byte()?, meta.byte()?)?),
            242 | 245 | 249..=252 | 255 | 140 => Self::Counted(match meta.byte()? {
                bytes @ 1..=4 => bytes.into(),
                _ => return None,
            }),
            247 | 248 => {
                meta.skip(1)?;
                Self::Fixed(meta.byte()?.into())
            }
            254 => {
                let (first, second) = (meta.byte()?, meta.byte()?);
                // lengths above 255 have their high bits, inverted, within the type
                let long = u64::from(second) | u64::from((first & 0x30) ^ 0x30) << 4;
                match first | 0x30 {
                    247 | 248 => Self::Fixed(second.into()),
                    _ => counted(long),
                }
            }
            _ => Self::Unknown,
        })
    }

    fn skip(self, body: &mut Bytes<'_>) -> Option<()> {
        let bytes = match self {
            Self::Fixed(bytes) => bytes,
            Self::Counted(length) => usize::try_from(body.number(length)?).ok()?,
            Self::Unknown => return None,
        };
        body.skip(bytes)
    }
}

/// Nine digits take four bytes, fewer take less.
fn decimal_bytes(digits: u8, scale: u8) -> Option<usize> {
    const BYTES: [usize; 9] = [0, 1, 1, 2, 2, 3, 3, 4, 4];
    let of = |digits: u8| usize::from(digits / 9) * 4 + BYTES[usize::from(digits % 9)];
    Some(of(digits.checked_sub(scale)?) + of(scale))
}

fn quoted(name: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'`'];
    for &byte in name {
        quoted.push(byte);
        if byte == b'`' {
            quoted.push(byte);
        }
    }
    quoted.push(b'`');
    quoted
}

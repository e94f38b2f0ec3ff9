//! The canonical format of a column's values: how servers return them, as far as that follows from its type and from what its values are made from.
//!
//! A column of another type (FLOAT, JSON, …) may show a value otherwise than it was sent, so it is not compared.

use plimsoll_core::plan::{ColumnPlan, Constant, Generator};

const DAY_US: i64 = 86_400_000_000;
/// Digits of microseconds.
const MICRO_DIGITS: usize = 6;
/// Bytes of `YYYY-MM-DD` and of `YYYY-MM-DD HH:MM:SS`.
const DATE_BYTES: usize = 10;
const SECOND_BYTES: usize = 19;

const TEXTS: [&str; 9] = [
    "VARCHAR",
    "TINYTEXT",
    "TEXT",
    "MEDIUMTEXT",
    "LONGTEXT",
    "VARBINARY",
    "BLOB",
    "MEDIUMBLOB",
    "LONGBLOB",
];
const INTEGERS: [&str; 8] = [
    "TINYINT",
    "SMALLINT",
    "MEDIUMINT",
    "INT",
    "INTEGER",
    "BIGINT",
    "BOOL",
    "BOOLEAN",
];
const DECIMALS: [&str; 3] = ["DECIMAL", "NUMERIC", "DEC"];
const TIMES: [&str; 2] = ["DATETIME", "TIMESTAMP"];

/// From what is sent to what comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canonical {
    /// Nothing is changed.
    AsSent,
    /// Spaces at the end are gone.
    Trimmed,
    /// A number with so many digits after the point.
    Number(usize),
    /// A time with so many digits after its seconds.
    Time(usize),
    /// The day of a time.
    Date,
}

impl Canonical {
    /// The format of this column's values; `None` where that is not known.
    pub fn of(column: &ColumnPlan) -> Option<Self> {
        let written = column.sql_type.to_ascii_uppercase();
        let name = written.split([' ', '(']).find(|word| !word.is_empty())?;
        let in_parentheses = numbers(&written);
        let generator = &column.generator;
        if column.null_ratio >= 1.0 || TEXTS.contains(&name) {
            return Some(Self::AsSent);
        }
        if name == "CHAR" {
            return Some(Self::Trimmed);
        }
        if INTEGERS.contains(&name) || DECIMALS.contains(&name) {
            let is_decimal = DECIMALS.contains(&name);
            let digits = if is_decimal {
                in_parentheses.get(1).copied()
            } else {
                None
            };
            let digits = digits.unwrap_or(0);
            return (!written.contains("ZEROFILL") && is_number(generator, digits)).then_some(Self::Number(digits));
        }
        let (first_us, step_us) = times(generator)?;
        let fits = |unit_us: i64| first_us % unit_us == 0 && step_us % unit_us == 0;
        if TIMES.contains(&name) {
            let digits = in_parentheses.first().copied().unwrap_or(0).min(MICRO_DIGITS);
            return fits(10_i64.pow((MICRO_DIGITS - digits) as u32)).then_some(Self::Time(digits));
        }
        (name == "DATE" && fits(DAY_US)).then_some(Self::Date)
    }

    /// Makes what comes back of the value that was appended to `out` at `from`.
    pub fn adapt(self, from: usize, out: &mut Vec<u8>) {
        match self {
            Self::AsSent => {}
            Self::Trimmed => out.truncate(from + trimmed_length(&out[from..])),
            Self::Number(digits) => {
                let point = out[from..].iter().position(|byte| *byte == b'.');
                pad(point.map(|at| from + at), digits, out);
            }
            Self::Time(digits) => {
                let whole = from + SECOND_BYTES;
                pad((out.len() > whole).then_some(whole), digits, out);
                if digits > 0 {
                    out.truncate(whole + 1 + digits);
                }
            }
            Self::Date => out.truncate(from + DATE_BYTES),
        }
    }
}

/// Puts zeros behind a fraction until it has so many digits; `point` is where its point stands, if it has one.
fn pad(point: Option<usize>, digits: usize, out: &mut Vec<u8>) {
    if digits == 0 {
        return;
    }
    let point = point.unwrap_or_else(|| {
        out.push(b'.');
        out.len() - 1
    });
    out.resize(out.len().max(point + 1 + digits), b'0');
}

/// The numbers in the parentheses of a type.
fn numbers(written: &str) -> Vec<usize> {
    let inside = written.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let inside = inside.map_or("", |(inside, _)| inside);
    inside.split(',').filter_map(|one| one.trim().parse().ok()).collect()
}

/// Whether all values are numbers as servers write them, with at most so many digits after the point.
fn is_number(generator: &Generator, digits: usize) -> bool {
    match generator {
        Generator::Sequence { .. } | Generator::Integer { .. } => true,
        Generator::Decimal { scale, .. } => *scale as usize <= digits,
        Generator::Choice { values, .. } => values.iter().all(|value| match value {
            Constant::Int(_) => true,
            Constant::Text(text) => is_plain(text, digits),
        }),
        _ => false,
    }
}

/// Whether a text is a number without sign, exponent and leading zeros that a server would leave out.
fn is_plain(text: &str, digits: usize) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    are_digits(whole)
        && are_digits(fraction)
        && (whole == "0" || !whole.starts_with('0'))
        && (fraction == "0" && !text.contains('.') || fraction.len() <= digits)
}

/// The first point in time and the distance between neighbours, microseconds.
fn times(generator: &Generator) -> Option<(i64, i64)> {
    match generator {
        Generator::Timestamp { first_us, step_us, .. } | Generator::TimestampSequence { first_us, step_us } => {
            Some((*first_us, *step_us))
        }
        _ => None,
    }
}

/// Bytes up to the last that is no space.
fn trimmed_length(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(sql_type: &str, generator: &str) -> Option<Canonical> {
        let json = format!(
            r#"{{"name":"c","sql_type":"{sql_type}","nullable":false,"auto_increment":false,"null_ratio":0,
                "generator":{generator}}}"#
        );
        Canonical::of(&serde_json::from_str(&json).unwrap())
    }

    const SEQUENCE: &str = r#"{"kind":"sequence","first":1,"step":1}"#;
    const CENTS: &str = r#"{"kind":"decimal","first":-5,"count":9,"scale":2,"distribution":{"kind":"uniform"}}"#;
    const LETTERS: &str = r#"{"kind":"characters","alphabet":"letters","length_min":1,"length_max":9}"#;
    const TENTHS: &str = r#"{"kind":"timestamp_sequence","first_us":0,"step_us":100000}"#;
    const DAYS: &str = r#"{"kind":"timestamp_sequence","first_us":0,"step_us":86400000000}"#;

    fn choice(values: &str) -> String {
        format!(r#"{{"kind":"choice","values":[{values}],"weights":[1]}}"#)
    }

    #[test]
    fn it_follows_from_type_and_generator() {
        for (sql_type, generator, expected) in [
            ("BIGINT", SEQUENCE, Some(Canonical::Number(0))),
            ("int unsigned", SEQUENCE, Some(Canonical::Number(0))),
            ("INT(5) ZEROFILL", SEQUENCE, None),
            ("INT", CENTS, None),
            ("INT", LETTERS, None),
            ("DECIMAL(9,4)", CENTS, Some(Canonical::Number(4))),
            ("DECIMAL(9,1)", CENTS, None),
            ("decimal", SEQUENCE, Some(Canonical::Number(0))),
            ("DOUBLE", CENTS, None),
            (
                "DECIMAL(5,2)",
                &choice("1, \"0.5\", \"2.25\""),
                Some(Canonical::Number(2)),
            ),
            ("DECIMAL(5,2)", &choice("\"007\""), None),
            ("DECIMAL(5,2)", &choice("\"1e3\""), None),
            ("CHAR(9)", LETTERS, Some(Canonical::Trimmed)),
            ("VARCHAR(9) CHARACTER SET latin1", LETTERS, Some(Canonical::AsSent)),
            ("JSON", LETTERS, None),
            ("DATETIME(6)", TENTHS, Some(Canonical::Time(6))),
            ("DATETIME(1)", TENTHS, Some(Canonical::Time(1))),
            ("DATETIME", TENTHS, None),
            ("TIMESTAMP", DAYS, Some(Canonical::Time(0))),
            ("DATE", DAYS, Some(Canonical::Date)),
            ("DATE", TENTHS, None),
            ("DATETIME", LETTERS, None),
        ] {
            assert_eq!(canonical(sql_type, generator), expected, "{sql_type} of {generator}");
        }
    }

    #[test]
    fn values_become_what_servers_return() {
        for (canonical, sent, expected) in [
            (Canonical::AsSent, "a ", "a "),
            (Canonical::Trimmed, "a  ", "a"),
            (Canonical::Trimmed, "  ", ""),
            (Canonical::Number(0), "-7", "-7"),
            (Canonical::Number(3), "-7", "-7.000"),
            (Canonical::Number(3), "0.25", "0.250"),
            (Canonical::Time(0), "2024-02-29 00:00:00", "2024-02-29 00:00:00"),
            (Canonical::Time(3), "2024-02-29 00:00:00", "2024-02-29 00:00:00.000"),
            (
                Canonical::Time(1),
                "2024-02-29 00:00:00.500000",
                "2024-02-29 00:00:00.5",
            ),
            (Canonical::Date, "2024-02-29 00:00:00", "2024-02-29"),
        ] {
            let mut out = [b"x,", sent.as_bytes()].concat();
            canonical.adapt(2, &mut out);
            assert_eq!(
                String::from_utf8(out).unwrap(),
                format!("x,{expected}"),
                "{canonical:?}"
            );
        }
    }
}

//! Generators, compiled: each makes one value for a row or a parameter.
//!
//! Deliberately not here: whether what was asked for makes sense (`faults`), and how values are sent.

use plimsoll_core::plan::{Alphabet, Constant, Distribution, Generator, TemplatePart};
use plimsoll_core::random::{Random, below, unit};
use plimsoll_session::Kept;

use crate::distribution::Rows;
use crate::text::push_number;

/// Microseconds in a second.
const MICROS: i64 = 1_000_000;
/// Seconds in a day.
const DAY_S: i64 = 86_400;
/// Bytes of the longest integer, point or timestamp, signs and points included.
const NUMBER_BYTES_MAX: usize = 32;

/// Makes values, each from the number of its row and a random generator.
#[derive(Clone, Debug)]
pub enum Maker {
    /// Follows the number of the row.
    Sequence { first: i64, step: i64 },
    /// A multiple of `step` from `first` on.
    Integer { first: i64, step: i64, pick: Pick },
    /// The same, with a point before the last `scale` digits.
    Decimal { first: i64, scale: usize, pick: Pick },
    /// Characters of an alphabet.
    Characters {
        alphabet: &'static [u8],
        min: u64,
        lengths: u64,
    },
    /// Pieces one after the other.
    Template(Vec<Piece>),
    /// A point in time.
    Timestamp { first: i64, step: i64, pick: Pick },
    /// A point in time that follows the number of the row.
    TimestampSequence { first: i64, step: i64 },
    /// One of a few values, each with the share of all that is chosen before it ends, 0..=1.
    Choice(Vec<(f64, Constant)>),
}

/// A piece of a template.
#[derive(Clone, Debug)]
pub enum Piece {
    Text(String),
    Made(Maker),
}

/// Chooses one of several.
#[derive(Clone, Copy, Debug)]
pub enum Pick {
    /// Each equally likely; there may be more than rows can be numbered.
    Evenly(u64),
    /// As rows are chosen.
    Rows(Rows),
}

impl Pick {
    fn new(distribution: Distribution, count: u64) -> Self {
        match distribution {
            Distribution::Uniform {} => Self::Evenly(count),
            _ => Self::Rows(Rows::new(distribution, count as u32)),
        }
    }

    /// A place, from 0.
    #[inline]
    #[expect(clippy::cast_possible_wrap, reason = "there are at most 2^63 - 1")]
    fn draw(self, random: &mut Random) -> i64 {
        match self {
            Self::Evenly(count) => below(random, count) as i64,
            Self::Rows(rows) => rows.draw(random) - 1,
        }
    }
}

impl Maker {
    /// Compiles a generator that has no faults.
    pub fn new(generator: &Generator) -> Self {
        match generator {
            Generator::Sequence { first, step } => Self::Sequence {
                first: *first,
                step: *step,
            },
            Generator::Integer {
                first,
                step,
                count,
                distribution,
            } => Self::Integer {
                first: *first,
                step: *step,
                pick: Pick::new(*distribution, *count),
            },
            Generator::Decimal {
                first,
                count,
                scale,
                distribution,
            } => Self::Decimal {
                first: *first,
                scale: *scale as usize,
                pick: Pick::new(*distribution, *count),
            },
            Generator::Characters {
                alphabet,
                length_min,
                length_max,
            } => Self::Characters {
                alphabet: characters(*alphabet),
                min: u64::from(*length_min),
                lengths: u64::from(length_max - length_min) + 1,
            },
            Generator::Template { parts } => Self::Template(parts.iter().map(Piece::new).collect()),
            Generator::Timestamp {
                first_us,
                step_us,
                count,
                distribution,
            } => Self::Timestamp {
                first: *first_us,
                step: *step_us,
                pick: Pick::new(*distribution, *count),
            },
            Generator::TimestampSequence { first_us, step_us } => Self::TimestampSequence {
                first: *first_us,
                step: *step_us,
            },
            Generator::Choice { values, weights } => Self::Choice(shares(values, weights)),
        }
    }

    /// The value for row `row`, counted from 0.
    #[inline]
    pub fn make(&self, row: i64, random: &mut Random, into: &mut Kept) {
        match self {
            Self::Sequence { first, step } => into.set_int(first + row * step),
            Self::Integer { first, step, pick } => into.set_int(first + pick.draw(random) * step),
            Self::Choice(shares) => match choose(shares, random) {
                Constant::Int(int) => into.set_int(*int),
                Constant::Text(text) => into.begin_bytes().extend_from_slice(text.as_bytes()),
            },
            _ => self.push(row, random, into.begin_bytes()),
        }
    }

    /// Appends the value as text.
    fn push(&self, row: i64, random: &mut Random, out: &mut Vec<u8>) {
        match self {
            Self::Sequence { first, step } => push_int(first + row * step, out),
            Self::Integer { first, step, pick } => push_int(first + pick.draw(random) * step, out),
            Self::Decimal { first, scale, pick } => push_decimal(first + pick.draw(random), *scale, out),
            Self::Characters { alphabet, min, lengths } => {
                let count = min + below(random, *lengths);
                push_characters(alphabet, count as usize, random, out);
            }
            Self::Template(pieces) => pieces.iter().for_each(|piece| piece.push(row, random, out)),
            Self::Timestamp { first, step, pick } => push_timestamp(first + pick.draw(random) * step, out),
            Self::TimestampSequence { first, step } => push_timestamp(first + row * step, out),
            Self::Choice(shares) => match choose(shares, random) {
                Constant::Int(int) => push_int(*int, out),
                Constant::Text(text) => out.extend_from_slice(text.as_bytes()),
            },
        }
    }

    /// Bytes of the longest value as text.
    pub fn bytes_max(&self) -> usize {
        match self {
            Self::Characters { min, lengths, .. } => (min + lengths) as usize,
            Self::Template(pieces) => pieces.iter().map(Piece::bytes_max).sum(),
            Self::Choice(shares) => shares.iter().map(|(_, value)| constant_bytes(value)).max().unwrap_or(0),
            _ => NUMBER_BYTES_MAX,
        }
    }
}

impl Piece {
    fn new(part: &TemplatePart) -> Self {
        match part {
            TemplatePart::Text(text) => Self::Text(text.clone()),
            TemplatePart::Generated(generator) => Self::Made(Maker::new(generator)),
        }
    }

    fn push(&self, row: i64, random: &mut Random, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
            Self::Made(maker) => maker.push(row, random, out),
        }
    }

    fn bytes_max(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Made(maker) => maker.bytes_max(),
        }
    }
}

fn characters(alphabet: Alphabet) -> &'static [u8] {
    match alphabet {
        Alphabet::Digits => b"0123456789",
        Alphabet::Letters => b"abcdefghijklmnopqrstuvwxyz",
        Alphabet::Hexadecimal => b"0123456789abcdef",
    }
}

fn shares(values: &[Constant], weights: &[f64]) -> Vec<(f64, Constant)> {
    let total: f64 = weights.iter().sum();
    let mut before = 0.0;
    let share = |(value, weight): (&Constant, &f64)| {
        before += weight / total;
        (before, value.clone())
    };
    values.iter().zip(weights).map(share).collect()
}

fn choose<'a>(shares: &'a [(f64, Constant)], random: &mut Random) -> &'a Constant {
    let drawn = unit(random);
    let found = shares.iter().find(|(end, _)| drawn < *end);
    &found.or(shares.last()).expect("a choice has values").1
}

fn constant_bytes(value: &Constant) -> usize {
    match value {
        Constant::Int(_) => NUMBER_BYTES_MAX,
        Constant::Text(text) => text.len(),
    }
}

/// Appends an integer in decimal.
pub fn push_int(int: i64, out: &mut Vec<u8>) {
    if int < 0 {
        out.push(b'-');
    }
    push_number(int.unsigned_abs(), out);
}

fn push_decimal(number: i64, scale: usize, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    let unit = 10u64.pow(scale as u32);
    let number = number.unsigned_abs();
    push_number(number / unit, out);
    if scale > 0 {
        out.push(b'.');
        push_padded(number % unit, scale, out);
    }
}

/// Appends the last `digits` digits of a number.
fn push_padded(number: u64, digits: usize, out: &mut Vec<u8>) {
    let from = out.len();
    out.resize(from + digits, b'0');
    let mut rest = number;
    for place in out[from..].iter_mut().rev() {
        *place = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

/// Several characters from each 64 random bits: the bias is below the alphabet's size over 2^32.
fn push_characters(alphabet: &[u8], count: usize, random: &mut Random, out: &mut Vec<u8>) {
    const PER_DRAW: usize = 6;
    let size = alphabet.len() as u64;
    let mut left = count;
    while left > 0 {
        let mut bits = below(random, size.pow(PER_DRAW as u32));
        for _ in 0..left.min(PER_DRAW) {
            out.push(alphabet[(bits % size) as usize]);
            bits /= size;
        }
        left -= left.min(PER_DRAW);
    }
}

/// Appends a point in time: `YYYY-MM-DD HH:MM:SS`, with microseconds where there are any.
fn push_timestamp(us: i64, out: &mut Vec<u8>) {
    let (seconds, micros) = (us.div_euclid(MICROS), us.rem_euclid(MICROS) as u64);
    let (days, of_day) = (seconds.div_euclid(DAY_S), seconds.rem_euclid(DAY_S) as u64);
    let (year, month, day) = civil(days);
    for (number, digits, after) in [
        (year, 4, b"-"),
        (month, 2, b"-"),
        (day, 2, b" "),
        (of_day / 3600, 2, b":"),
        (of_day / 60 % 60, 2, b":"),
    ] {
        push_padded(number, digits, out);
        out.extend_from_slice(after);
    }
    push_padded(of_day % 60, 2, out);
    if micros > 0 {
        out.push(b'.');
        push_padded(micros, 6, out);
    }
}

/// Year, month and day of a day counted from 1970-01-01, in the years 0 to 9999 (Hinnant, `civil_from_days`).
fn civil(days: i64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year as u64, month as u64, day as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::random::keyed;
    use plimsoll_session::Value;

    fn text(maker: &Maker, row: i64, n: u64) -> String {
        let mut out = Vec::new();
        maker.push(row, &mut keyed(1, 2, n), &mut out);
        assert!(out.len() <= maker.bytes_max(), "{} > {}", out.len(), maker.bytes_max());
        String::from_utf8(out).unwrap()
    }

    fn maker(json: &str) -> Maker {
        Maker::new(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn sequences_follow_the_row() {
        let down = maker(r#"{"kind":"sequence","first":5,"step":-3}"#);
        assert_eq!(
            (text(&down, 0, 0), text(&down, 4, 1)),
            ("5".to_owned(), "-7".to_owned())
        );
        let times = maker(r#"{"kind":"timestamp_sequence","first_us":1709164800000000,"step_us":86400500000}"#);
        assert_eq!(text(&times, 0, 0), "2024-02-29 00:00:00");
        assert_eq!(text(&times, 1, 0), "2024-03-01 00:00:00.500000");
        let early = maker(r#"{"kind":"timestamp_sequence","first_us":-1000000,"step_us":-62167219199000000}"#);
        assert_eq!(text(&early, 0, 0), "1969-12-31 23:59:59");
        assert_eq!(text(&early, 1, 0), "0000-01-01 00:00:00");
    }

    #[test]
    fn drawn_values_fill_their_range_and_stay_in_it() {
        let seen = |maker: &Maker| -> Vec<String> {
            let mut seen: Vec<String> = (0..2_000).map(|n| text(maker, 0, n)).collect();
            seen.sort();
            seen.dedup();
            seen
        };
        let steps = maker(r#"{"kind":"integer","first":-5,"step":5,"count":3,"distribution":{"kind": "uniform"}}"#);
        assert_eq!(seen(&steps), ["-5", "0", "5"]);
        let cents = maker(r#"{"kind":"decimal","first":-1,"count":3,"scale":2,"distribution":{"kind": "uniform"}}"#);
        assert_eq!(seen(&cents), ["-0.01", "0.00", "0.01"]);
        let whole = maker(r#"{"kind":"decimal","first":7,"count":1,"scale":0,"distribution":{"kind": "uniform"}}"#);
        assert_eq!(seen(&whole), ["7"]);
        let letters = maker(r#"{"kind":"characters","alphabet":"letters","length_min":1,"length_max":1}"#);
        assert_eq!(seen(&letters).concat(), "abcdefghijklmnopqrstuvwxyz");
        let lengths = maker(r#"{"kind":"characters","alphabet":"digits","length_min":6,"length_max":8}"#);
        let mut found: Vec<usize> = seen(&lengths).iter().map(String::len).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, [6, 7, 8]);
        let times =
            r#"{"kind":"timestamp","first_us":0,"step_us":1000000,"count":2,"distribution":{"kind": "uniform"}}"#;
        assert_eq!(seen(&maker(times)), ["1970-01-01 00:00:00", "1970-01-01 00:00:01"]);
    }

    #[test]
    fn each_character_is_as_likely_at_each_place() {
        let hex = maker(r#"{"kind":"characters","alphabet":"hexadecimal","length_min":13,"length_max":13}"#);
        let mut hits = [[0u32; 16]; 13];
        for n in 0..16_000 {
            for (place, character) in text(&hex, 0, n).chars().enumerate() {
                hits[place][character.to_digit(16).unwrap() as usize] += 1;
            }
        }
        // 1,000 are expected, with a standard deviation of 31.
        assert!(hits.iter().flatten().all(|&n| (850..1150).contains(&n)), "{hits:?}");
    }

    #[test]
    fn choices_come_by_their_weights_and_keep_their_type() {
        let choice = maker(r#"{"kind":"choice","values":["a",7],"weights":[3,1]}"#);
        let mut kept = Kept::default();
        let mut sevens = 0;
        for n in 0..4_000 {
            choice.make(0, &mut keyed(3, 0, n), &mut kept);
            sevens += u32::from(kept.value() == Value::Int(7));
            assert!([Value::Int(7), Value::Bytes(b"a")].contains(&kept.value()));
        }
        assert!((900..1100).contains(&sevens), "{sevens}");
    }

    #[test]
    fn templates_join_their_pieces() {
        let template = maker(
            r#"{"kind":"template","parts":[{"text":"user-"},{"generated":{"kind":"sequence","first":1,"step":1}},
                {"text":"-"},{"generated":{"kind":"characters","alphabet":"digits","length_min":4,"length_max":4}}]}"#,
        );
        let made = text(&template, 8, 0);
        assert!(made.starts_with("user-9-") && made.len() == 11, "{made}");
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (-719_528, (0, 1, 1)),
            (11_016, (2000, 2, 29)),
            (47_541, (2100, 3, 1)),
            (2_932_896, (9999, 12, 31)),
        ] {
            assert_eq!(civil(days), date);
        }
    }
}

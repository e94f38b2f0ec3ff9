//! Generators, compiled: each makes one value for a row or a parameter.
//!
//! Deliberately not here: whether what was asked for makes sense (`faults`), and how values are sent.

use plimsoll_core::plan::{self, Alphabet, Constant, RankedDistribution, TemplatePart, ValueDistribution};
use plimsoll_core::random::{Random, below, unit};
use plimsoll_session::Captured;

use super::format::{push_characters, push_decimal, push_int, push_timestamp};
use crate::distribution::{Ranks, Rows};

/// Bytes of the longest integer, point or timestamp, signs and points included.
const NUMBER_BYTES_MAX: usize = 32;

/// Makes values, each from the number of its row and a random generator.
#[derive(Clone, Debug)]
pub enum Generator {
    /// Follows the number of the row, see [`Sequence`].
    Sequence(Sequence),
    /// A multiple of `step` from `first` on.
    Integer { first: i64, step: i64, sampler: Sampler },
    /// The same, with a point before the last `scale` digits.
    Decimal { first: i64, scale: usize, sampler: Sampler },
    /// Characters of an alphabet.
    Characters {
        alphabet: &'static [u8],
        min: u64,
        lengths: u64,
    },
    /// Pieces one after the other.
    Template(Vec<Piece>),
    /// A point in time.
    Timestamp { first: i64, step: i64, sampler: Sampler },
    /// A point in time that follows the number of the row.
    TimestampSequence { first: i64, step: i64 },
    /// One of a few values, each with the share of all that is chosen before it ends, 0..=1.
    Choice(Vec<(f64, Constant)>),
}

/// `first + step * ((row / each) mod cycle)`.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    first: i64,
    step: i64,
    each: i64,
    cycle: i64,
}

impl Sequence {
    /// The value in row `row`, counted from 0.
    #[inline]
    fn at(self, row: i64) -> i64 {
        self.first + row / self.each % self.cycle * self.step
    }
}

/// A piece of a template.
#[derive(Clone, Debug)]
pub enum Piece {
    Text(String),
    Generated(Generator),
}

/// Chooses one of several.
#[derive(Clone, Debug)]
pub enum Sampler {
    /// Each equally likely; there may be more than rows can be numbered.
    Evenly(u64),
    /// As rows are chosen.
    Rows(Rows),
    /// By rank.
    Ranks(Ranks),
}

impl Sampler {
    /// Chooses one of `count`; of more than 2^32 - 1 only where each is equally likely.
    pub fn new(distribution: &ValueDistribution, count: u64) -> Self {
        match distribution {
            _ if distribution.is_uniform() => Self::Evenly(count),
            ValueDistribution::Rows(rows) => Self::Rows(Rows::new(*rows, count as u32)),
            ValueDistribution::Ranked(RankedDistribution::Hot(hot)) => Self::Ranks(Ranks::new(hot, count as u32)),
        }
    }

    /// A position, from 0.
    #[inline]
    #[expect(clippy::cast_possible_wrap, reason = "there are at most 2^63 - 1")]
    pub fn draw(&self, random: &mut Random) -> i64 {
        match self {
            Self::Evenly(count) => below(random, *count) as i64,
            Self::Rows(rows) => rows.draw(random) - 1,
            Self::Ranks(ranks) => ranks.draw(random) - 1,
        }
    }
}

impl Generator {
    /// Compiles a generator that has no faults.
    pub fn new(plan: &plan::Generator) -> Self {
        match plan {
            plan::Generator::Sequence {
                first,
                step,
                each,
                cycle,
            } => Self::Sequence(Sequence {
                first: *first,
                step: *step,
                each: i64::try_from(*each).unwrap_or(i64::MAX),
                cycle: cycle.and_then(|count| i64::try_from(count).ok()).unwrap_or(i64::MAX),
            }),
            plan::Generator::Integer {
                first,
                step,
                count,
                distribution,
            } => Self::Integer {
                first: *first,
                step: *step,
                sampler: Sampler::new(distribution, *count),
            },
            plan::Generator::Decimal {
                first,
                count,
                scale,
                distribution,
            } => Self::Decimal {
                first: *first,
                scale: *scale as usize,
                sampler: Sampler::new(distribution, *count),
            },
            plan::Generator::Characters {
                alphabet,
                length_min,
                length_max,
            } => Self::Characters {
                alphabet: characters(*alphabet),
                min: u64::from(*length_min),
                lengths: u64::from(length_max - length_min) + 1,
            },
            plan::Generator::Template { parts } => Self::Template(parts.iter().map(Piece::new).collect()),
            plan::Generator::Timestamp {
                first_us,
                step_us,
                count,
                distribution,
            } => Self::Timestamp {
                first: *first_us,
                step: *step_us,
                sampler: Sampler::new(distribution, *count),
            },
            plan::Generator::TimestampSequence { first_us, step_us } => Self::TimestampSequence {
                first: *first_us,
                step: *step_us,
            },
            plan::Generator::Choice { values, weights } => Self::Choice(shares(values, weights)),
        }
    }

    /// The value for row `row`, counted from 0.
    #[inline]
    pub fn generate(&self, row: i64, random: &mut Random, into: &mut Captured) {
        match self {
            Self::Sequence(sequence) => into.set_int(sequence.at(row)),
            Self::Integer { first, step, sampler } => into.set_int(first + sampler.draw(random) * step),
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
            Self::Sequence(sequence) => push_int(sequence.at(row), out),
            Self::Integer { first, step, sampler } => push_int(first + sampler.draw(random) * step, out),
            Self::Decimal { first, scale, sampler } => push_decimal(first + sampler.draw(random), *scale, out),
            Self::Characters { alphabet, min, lengths } => {
                let count = min + below(random, *lengths);
                push_characters(alphabet, count as usize, random, out);
            }
            Self::Template(pieces) => pieces.iter().for_each(|piece| piece.push(row, random, out)),
            Self::Timestamp { first, step, sampler } => push_timestamp(first + sampler.draw(random) * step, out),
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
            TemplatePart::Generated(generator) => Self::Generated(Generator::new(generator)),
        }
    }

    fn push(&self, row: i64, random: &mut Random, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
            Self::Generated(generator) => generator.push(row, random, out),
        }
    }

    fn bytes_max(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Generated(generator) => generator.bytes_max(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::random::keyed;
    use plimsoll_session::Value;

    fn text(generator: &Generator, row: i64, n: u64) -> String {
        let mut out = Vec::new();
        generator.push(row, &mut keyed(1, 2, n), &mut out);
        assert!(
            out.len() <= generator.bytes_max(),
            "{} > {}",
            out.len(),
            generator.bytes_max()
        );
        String::from_utf8(out).unwrap()
    }

    fn generator(json: &str) -> Generator {
        Generator::new(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn sequences_follow_the_row() {
        let down = generator(r#"{"kind":"sequence","first":5,"step":-3}"#);
        assert_eq!(
            (text(&down, 0, 0), text(&down, 4, 1)),
            ("5".to_owned(), "-7".to_owned())
        );
        let digit = generator(r#"{"kind":"sequence","first":7,"step":2,"each":3,"cycle":4}"#);
        let seen: Vec<String> = (0..14).map(|row| text(&digit, row, 0)).collect();
        assert_eq!(seen.join(" "), "7 7 7 9 9 9 11 11 11 13 13 13 7 7");
        let times = generator(r#"{"kind":"timestamp_sequence","first_us":1709164800000000,"step_us":86400500000}"#);
        assert_eq!(text(&times, 0, 0), "2024-02-29 00:00:00");
        assert_eq!(text(&times, 1, 0), "2024-03-01 00:00:00.500000");
        let early = generator(r#"{"kind":"timestamp_sequence","first_us":-1000000,"step_us":-62167219199000000}"#);
        assert_eq!(text(&early, 0, 0), "1969-12-31 23:59:59");
        assert_eq!(text(&early, 1, 0), "0000-01-01 00:00:00");
    }

    #[test]
    fn drawn_values_fill_their_range_and_stay_in_it() {
        let seen = |generator: &Generator| -> Vec<String> {
            let mut seen: Vec<String> = (0..2_000).map(|n| text(generator, 0, n)).collect();
            seen.sort();
            seen.dedup();
            seen
        };
        let steps = generator(r#"{"kind":"integer","first":-5,"step":5,"count":3,"distribution":{"kind": "uniform"}}"#);
        assert_eq!(seen(&steps), ["-5", "0", "5"]);
        let cents =
            generator(r#"{"kind":"decimal","first":-1,"count":3,"scale":2,"distribution":{"kind": "uniform"}}"#);
        assert_eq!(seen(&cents), ["-0.01", "0.00", "0.01"]);
        let whole = generator(r#"{"kind":"decimal","first":7,"count":1,"scale":0,"distribution":{"kind": "uniform"}}"#);
        assert_eq!(seen(&whole), ["7"]);
        let letters = generator(r#"{"kind":"characters","alphabet":"letters","length_min":1,"length_max":1}"#);
        assert_eq!(seen(&letters).concat(), "abcdefghijklmnopqrstuvwxyz");
        let lengths = generator(r#"{"kind":"characters","alphabet":"digits","length_min":6,"length_max":8}"#);
        let mut found: Vec<usize> = seen(&lengths).iter().map(String::len).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, [6, 7, 8]);
        let times =
            r#"{"kind":"timestamp","first_us":0,"step_us":1000000,"count":2,"distribution":{"kind": "uniform"}}"#;
        assert_eq!(seen(&generator(times)), ["1970-01-01 00:00:00", "1970-01-01 00:00:01"]);
    }

    #[test]
    fn each_character_is_as_likely_at_each_place() {
        let hex = generator(r#"{"kind":"characters","alphabet":"hexadecimal","length_min":13,"length_max":13}"#);
        let mut hits = [[0u32; 16]; 13];
        for n in 0..16_000 {
            for (position, character) in text(&hex, 0, n).chars().enumerate() {
                hits[position][character.to_digit(16).unwrap() as usize] += 1;
            }
        }
        // 1,000 are expected, with a standard deviation of 31.
        assert!(hits.iter().flatten().all(|&n| (850..1150).contains(&n)), "{hits:?}");
    }

    #[test]
    fn choices_come_by_their_weights_and_keep_their_type() {
        let choice = generator(r#"{"kind":"choice","values":["a",7],"weights":[3,1]}"#);
        let mut value = Captured::default();
        let mut sevens = 0;
        for n in 0..4_000 {
            choice.generate(0, &mut keyed(3, 0, n), &mut value);
            sevens += u32::from(value.value() == Value::Int(7));
            assert!([Value::Int(7), Value::Bytes(b"a")].contains(&value.value()));
        }
        assert!((900..1100).contains(&sevens), "{sevens}");
    }

    #[test]
    fn templates_join_their_pieces() {
        let template = generator(
            r#"{"kind":"template","parts":[{"text":"user-"},{"generated":{"kind":"sequence","first":1,"step":1}},
                {"text":"-"},{"generated":{"kind":"characters","alphabet":"digits","length_min":4,"length_max":4}}]}"#,
        );
        let made = text(&template, 8, 0);
        assert!(made.starts_with("user-9-") && made.len() == 11, "{made}");
    }
}

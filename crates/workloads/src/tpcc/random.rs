//! What TPC-C draws: alphanumeric and numeric strings, names of customers, zip codes, and numbers that are not uniform.

use plimsoll_core::random::{Random, Rng, below, keyed};

const SYMBOLS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PAIRS_COUNT: usize = SYMBOLS.len() * SYMBOLS.len();

/// Two symbols are drawn at once; the first is in the low byte.
const PAIRS: [u16; PAIRS_COUNT] = pairs();

const fn pairs() -> [u16; PAIRS_COUNT] {
    let mut pairs = [0; PAIRS_COUNT];
    let mut at = 0;
    while at < PAIRS_COUNT {
        pairs[at] = u16::from_le_bytes([SYMBOLS[at / SYMBOLS.len()], SYMBOLS[at % SYMBOLS.len()]]);
        at += 1;
    }
    pairs
}

/// Symbols drawn from one 64-bit number: more would be felt in their distribution.
const SYMBOLS_EACH_DRAW: usize = 8;

/// Syllables of last names, clause 4.3.2.3.
const SYLLABLES: [&str; 10] = [
    "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING",
];

/// Runs of randomness that are no rows.
const LAST_NAME_STREAM: u64 = 1_000;

/// A whole number from `first` to `last`, both included.
pub fn within(random: &mut Random, first: u32, last: u32) -> u32 {
    first + below(random, u64::from(last - first) + 1) as u32
}

/// Appends so many alphanumeric characters. They are put together in a register: a processor waits for a load of eight bytes
/// that were just stored by twos.
pub fn push_alphanumeric(random: &mut Random, length: usize, out: &mut Vec<u8>) {
    let end = out.len() + length;
    while out.len() < end {
        let mut drawn = random.next_u64();
        let mut some = 0;
        for pair in 0..SYMBOLS_EACH_DRAW / 2 {
            let product = u128::from(drawn) * PAIRS_COUNT as u128;
            some |= u64::from(PAIRS[(product >> 64) as usize]) << (16 * pair);
            drawn = product as u64;
        }
        out.extend_from_slice(&some.to_le_bytes());
    }
    out.truncate(end);
}

/// Appends so many letters.
pub fn push_letters(random: &mut Random, length: usize, out: &mut Vec<u8>) {
    out.extend((0..length).map(|_| b'A' + below(random, 26) as u8));
}

/// Appends so many digits.
pub fn push_digits(random: &mut Random, length: usize, out: &mut Vec<u8>) {
    out.extend((0..length).map(|_| b'0' + below(random, 10) as u8));
}

/// Bytes of the longest last name.
pub const LAST_NAME_BYTES: usize = 15;

/// The syllables of the last name of a number from 0 to 999.
pub fn last_name(number: u32) -> [&'static str; 3] {
    [number / 100, number / 10 % 10, number % 10].map(|digit| SYLLABLES[digit as usize])
}

/// A number that is not uniform, clause 2.1.6: `a` says how uneven, `c` is constant during a run.
pub fn nurand(random: &mut Random, a: u32, c: u32, first: u32, last: u32) -> u32 {
    let mixed = within(random, 0, a) | within(random, first, last);
    (mixed + c) % (last - first + 1) + first
}

/// The `a` of last names.
pub const LAST_NAME_A: u32 = 255;

/// The constant with which last names are drawn while rows are made.
pub fn last_name_load(seed: u64) -> u32 {
    within(&mut keyed(seed, LAST_NAME_STREAM, 0), 0, LAST_NAME_A)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(push: impl Fn(&mut Random, &mut Vec<u8>)) -> String {
        let mut out = b"x".to_vec();
        push(&mut keyed(1, 2, 3), &mut out);
        String::from_utf8(out.split_off(1)).unwrap()
    }

    #[test]
    fn strings_have_their_length_and_symbols() {
        for length in [0, 1, 7, 8, 9, 500] {
            let drawn = text(|random, out| push_alphanumeric(random, length, out));
            assert_eq!(drawn.len(), length);
            assert!(drawn.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{drawn}");
        }
        let digits = text(|random, out| push_digits(random, 16, out));
        assert!(digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_digit()));
        let letters = text(|random, out| push_letters(random, 2, out));
        assert!(letters.len() == 2 && letters.bytes().all(|byte| byte.is_ascii_uppercase()));
    }

    #[test]
    fn all_symbols_are_as_frequent_at_all_places() {
        let mut counts = [[0u32; 256]; SYMBOLS_EACH_DRAW];
        let mut random = keyed(5, 0, 0);
        let mut out = Vec::new();
        for _ in 0..62_000 {
            out.clear();
            push_alphanumeric(&mut random, SYMBOLS_EACH_DRAW, &mut out);
            for (place, byte) in out.iter().enumerate() {
                counts[place][usize::from(*byte)] += 1;
            }
        }
        // 1,000 are expected, with a standard deviation of 31.
        let rare = |place: &[u32; 256]| {
            SYMBOLS
                .iter()
                .any(|byte| !(840..1160).contains(&place[usize::from(*byte)]))
        };
        assert!(!counts.iter().any(rare));
    }

    #[test]
    fn last_names_are_those_of_the_clause() {
        let name = |number| last_name(number).concat();
        assert_eq!(name(371), "PRICALLYOUGHT");
        assert_eq!(name(40), "BARPRESBAR");
        let longest = (0..1_000).map(|number| name(number).len()).max();
        assert_eq!(longest, Some(LAST_NAME_BYTES));
    }

    #[test]
    fn nurand_stays_in_range_and_is_uneven() {
        let mut random = keyed(1, 0, 0);
        let mut counts = [0u32; 1000];
        for _ in 0..1_000_000 {
            counts[nurand(&mut random, 255, 123, 0, 999) as usize] += 1;
        }
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(*least > 0 && *most > 20 * *least, "{least} {most}");
    }
}

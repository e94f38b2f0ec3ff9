//! The texts in the rows of the OLTP tables, written fast and without allocation: groups of eleven random digits.

use plimsoll_core::random::{Random, below};

/// Digits in a group.
const GROUP_DIGITS: usize = 11;

/// Length of column `c`: ten groups.
pub const C_LENGTH: usize = groups_length(10);

/// Length of column `pad`: five groups.
pub const PAD_LENGTH: usize = groups_length(5);

const fn groups_length(groups: usize) -> usize {
    groups * (GROUP_DIGITS + 1) - 1
}

const PAIRS: [[u8; 2]; 100] = pairs();

const fn pairs() -> [[u8; 2]; 100] {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
}

/// Fills `out` with groups of digits joined by `-`. Its length must be that of whole groups.
pub fn fill_groups(random: &mut Random, out: &mut [u8]) {
    assert_eq!(
        (out.len() + 1) % (GROUP_DIGITS + 1),
        0,
        "{} bytes are no whole groups",
        out.len()
    );
    for group in out.chunks_mut(GROUP_DIGITS + 1) {
        let number = below(random, 100_000_000_000);
        write_group(number, group.first_chunk_mut().expect("checked above"));
        if let Some(joint) = group.get_mut(GROUP_DIGITS) {
            *joint = b'-';
        }
    }
}

/// Eleven digits: one, then five pairs.
fn write_group(number: u64, out: &mut [u8; GROUP_DIGITS]) {
    let (high, low) = ((number / 100_000_000) as u32, (number % 100_000_000) as u32);
    out[0] = b'0' + (high / 100) as u8;
    let (upper, lower) = (low / 10_000, low % 10_000);
    let all = [high % 100, upper / 100, upper % 100, lower / 100, lower % 100];
    for (at, pair) in all.into_iter().enumerate() {
        out[1 + 2 * at..3 + 2 * at].copy_from_slice(&PAIRS[pair as usize]);
    }
}

/// Whole numbers from 0 to 2^31 - 1 joined by `-`, as sysbench 0.4 writes them, without allocation.
#[derive(Clone, Copy, Debug)]
pub struct Integers {
    text: [u8; INTEGERS_LENGTH],
    length: usize,
}

/// Ten numbers of ten digits.
const INTEGERS_LENGTH: usize = 10 * 11 - 1;

impl Integers {
    /// So many of them, at most ten.
    pub fn new(random: &mut Random, count: u32) -> Self {
        let mut integers = Self {
            text: [b'-'; INTEGERS_LENGTH],
            length: 0,
        };
        for number in 0..count {
            integers.length += usize::from(number > 0);
            integers.push(below(random, 1 << 31) as u32);
        }
        integers
    }

    fn push(&mut self, number: u32) {
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(number).as_bytes();
        self.text[self.length..self.length + digits.len()].copy_from_slice(digits);
        self.length += digits.len();
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[..self.length]).expect("digits and hyphens")
    }
}

/// Appends a number in decimal.
pub fn push_number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::random::keyed;
    use proptest::prelude::*;

    #[test]
    fn columns_have_the_lengths_and_shape_of_sysbench() {
        let mut c = [0u8; C_LENGTH];
        fill_groups(&mut keyed(1, 0, 0), &mut c);
        assert_eq!((C_LENGTH, PAD_LENGTH), (119, 59));
        let text = std::str::from_utf8(&c).unwrap();
        let groups: Vec<&str> = text.split('-').collect();
        assert_eq!(groups.len(), 10);
        assert!(
            groups
                .iter()
                .all(|group| group.len() == 11 && group.bytes().all(|b| b.is_ascii_digit()))
        );
    }

    #[test]
    fn each_digit_occurs_everywhere() {
        let mut seen = [[false; 10]; GROUP_DIGITS];
        for n in 0..2_000 {
            let mut pad = [0u8; PAD_LENGTH];
            fill_groups(&mut keyed(1, 0, n), &mut pad);
            for (place, digit) in pad[..GROUP_DIGITS].iter().enumerate() {
                seen[place][usize::from(digit - b'0')] = true;
            }
        }
        assert!(seen.iter().flatten().all(|&was| was));
    }

    #[test]
    fn integers_are_numbers_below_two_to_the_31() {
        for (n, count) in (0..2_000).flat_map(|n| [(n, 10), (n, 5)]) {
            let integers = Integers::new(&mut keyed(3, 0, n), count);
            let mut random = keyed(3, 0, n);
            let expected: Vec<String> = (0..count).map(|_| below(&mut random, 1 << 31).to_string()).collect();
            assert_eq!(integers.as_str(), expected.join("-"));
        }
    }

    proptest! {
        #[test]
        fn numbers_are_written_as_the_standard_library_writes_them(number in any::<u64>(), shift in 0u32..64) {
            let number = number >> shift;
            let mut out = Vec::new();
            push_number(number, &mut out);
            prop_assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }

        #[test]
        fn groups_are_the_number_in_eleven_digits(number in 0u64..100_000_000_000) {
            let mut out = [0u8; GROUP_DIGITS];
            write_group(number, &mut out);
            prop_assert_eq!(std::str::from_utf8(&out).unwrap(), format!("{number:011}"));
        }
    }
}

//! Values as text: numbers, characters and points in time, appended without allocation of their own.

use plimsoll_core::random::{Random, below};

use crate::text::push_number;

/// Microseconds in a second.
const MICROS: i64 = 1_000_000;
/// Seconds in a day.
const DAY_S: i64 = 86_400;

/// Appends an integer in decimal.
pub fn push_int(int: i64, out: &mut Vec<u8>) {
    if int < 0 {
        out.push(b'-');
    }
    push_number(int.unsigned_abs(), out);
}

/// Appends a number with so many digits after the point.
pub fn push_decimal(number: i64, scale: usize, out: &mut Vec<u8>) {
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
    for digit in out[from..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

/// Appends so many characters of an alphabet. Several come from each 64 random bits: the bias is below the alphabet's size over 2^32.
pub fn push_characters(alphabet: &[u8], count: usize, random: &mut Random, out: &mut Vec<u8>) {
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
pub fn push_timestamp(us: i64, out: &mut Vec<u8>) {
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

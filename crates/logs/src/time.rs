//! Times and durations as servers write them.

/// A point in time and how exactly it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Microseconds since 1970, UTC.
    pub unix_us: i64,
    /// It is written to a fraction of a second.
    pub is_fine: bool,
}

const DAY_S: i64 = 86_400;
/// Microseconds in a second.
pub const SECOND_US: i64 = 1_000_000;

/// Reads `2024-05-10T17:44:36.400424Z`, with any number of decimal places, `T` or a space, and `Z`, `+02:00` or nothing
/// (local time); or `20240510 17:44:36`; or `240515 17:02:39`, whose hour may be padded with a space.
pub fn moment(text: &[u8], local_offset_s: i32) -> Option<Moment> {
    let text = text.trim_ascii();
    let date_end = text.iter().position(|byte| matches!(byte, b'T' | b' '))?;
    let (date, time) = (&text[..date_end], text[date_end + 1..].trim_ascii_start());
    let (year, month, day) = match date {
        [y @ .., b'-', m1, m2, b'-', d1, d2] if y.len() == 4 => {
            (digits(y)?, digits(&[*m1, *m2])?, digits(&[*d1, *d2])?)
        }
        [y @ .., m1, m2, d1, d2] if y.len() == 4 => (digits(y)?, digits(&[*m1, *m2])?, digits(&[*d1, *d2])?),
        [y @ .., m1, m2, d1, d2] if y.len() == 2 => (2000 + digits(y)?, digits(&[*m1, *m2])?, digits(&[*d1, *d2])?),
        _ => return None,
    };
    let (clock, offset_s) = zone(time, local_offset_s)?;
    let (hms, fraction) = match clock.iter().position(|&byte| byte == b'.') {
        Some(dot) => (&clock[..dot], Some(&clock[dot + 1..])),
        None => (clock, None),
    };
    let second_of_day = second_of_day(hms)?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let second = days(year, month, day) * DAY_S + second_of_day - offset_s;
    let fraction_us = fraction.map_or(Some(0), fraction_us)?;
    Some(Moment {
        unix_us: second * SECOND_US + fraction_us,
        is_fine: fraction.is_some(),
    })
}

/// Seconds with up to six decimal places, as microseconds.
pub fn duration_us(text: &[u8]) -> Option<u64> {
    let dot = text.iter().position(|&byte| byte == b'.');
    let (whole, fraction) = dot.map_or((text, &b"0"[..]), |dot| (&text[..dot], &text[dot + 1..]));
    let whole_us = number(whole)?.checked_mul(1_000_000)?;
    whole_us.checked_add(fraction_us(fraction)? as u64)
}

/// A whole number.
pub fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then(|| number.checked_mul(10)?.checked_add(u64::from(digit)))?
    })
}

fn digits(text: &[u8]) -> Option<i64> {
    number(text)?.try_into().ok()
}

/// The time without its zone, and what the zone is ahead of UTC.
fn zone(time: &[u8], local_offset_s: i32) -> Option<(&[u8], i64)> {
    if let [clock @ .., b'Z'] = time {
        return Some((clock, 0));
    }
    if let [clock @ .., sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] = time {
        let offset_s = digits(&[*h1, *h2])? * 3600 + digits(&[*m1, *m2])? * 60;
        return Some((clock, if *sign == b'-' { -offset_s } else { offset_s }));
    }
    Some((time, i64::from(local_offset_s)))
}

fn second_of_day(hms: &[u8]) -> Option<i64> {
    let [hour @ .., b':', m1, m2, b':', s1, s2] = hms else {
        return None;
    };
    let (hour, minute, second) = (digits(hour)?, digits(&[*m1, *m2])?, digits(&[*s1, *s2])?);
    (hour < 24 && minute < 60 && second <= 60).then_some(hour * 3600 + minute * 60 + second)
}

fn fraction_us(digits: &[u8]) -> Option<i64> {
    let mut us = 0;
    for place in 0..6 {
        us = us * 10 + digits.get(place).map_or(0, |byte| i64::from(byte.wrapping_sub(b'0')));
    }
    digits.iter().all(u8::is_ascii_digit).then_some(us)
}

/// Days since 1970-01-01 in the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(text: &str) -> Option<i64> {
        moment(text.as_bytes(), 7200).map(|moment| moment.unix_us)
    }

    #[test]
    fn all_forms_are_read() {
        assert_eq!(us("2024-05-10T17:44:36.400424Z"), Some(1_715_363_076_400_424));
        assert_eq!(us("2024-05-10T19:44:36.400424+02:00"), Some(1_715_363_076_400_424));
        assert_eq!(us("2024-05-10 19:44:36.4"), Some(1_715_363_076_400_000));
        assert_eq!(us("240510 19:44:36"), Some(1_715_363_076_000_000));
        assert_eq!(us("20240510  9:44:36"), Some(1_715_327_076_000_000));
        assert_eq!(us("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(us("2000-02-29T00:00:00Z"), Some(951_782_400_000_000));
    }

    #[test]
    fn anything_else_is_no_time() {
        for text in [
            "",
            "2024-05-10",
            "240510 25:00:00",
            "241310 10:00:00",
            "2024-05-10T1:2:3",
            "x 10:00:00",
            "240510 10:00:00.x",
        ] {
            assert_eq!(us(text), None, "{text}");
        }
    }

    #[test]
    fn durations_are_read() {
        assert_eq!(duration_us(b"1.300267"), Some(1_300_267));
        assert_eq!(duration_us(b"12"), Some(12_000_000));
        assert_eq!(duration_us(b"0.0200"), Some(20_000));
        assert_eq!(duration_us(b"18446744073709551615.0"), None);
        assert_eq!(duration_us(b"-1"), None);
        assert_eq!(duration_us(b""), None);
    }
}

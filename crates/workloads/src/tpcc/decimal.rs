//! Money as servers write it, counted in hundredths.

/// Reads a decimal number; 0 when there is no text. Digits beyond the second behind the point are cut off.
pub fn hundredths(text: &[u8]) -> i64 {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        _ => (false, text),
    };
    let mut parts = digits.splitn(2, |byte| *byte == b'.');
    let whole = value(parts.next().unwrap_or_default()).saturating_mul(100);
    let behind = match parts.next().unwrap_or_default() {
        [] => 0,
        [tenths] => value(&[*tenths]) * 10,
        [tenths, hundredths, ..] => value(&[*tenths, *hundredths]),
    };
    let size = whole.saturating_add(behind);
    if is_negative { -size } else { size }
}

fn value(digits: &[u8]) -> i64 {
    let digits = digits.iter().map(|byte| i64::from(byte.wrapping_sub(b'0')));
    digits.fold(0, |sum, digit| sum.saturating_mul(10).saturating_add(digit))
}

/// An amount as text, without allocation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amount {
    text: [u8; 24],
    begin: usize,
}

impl Amount {
    /// So many hundredths.
    pub fn new(hundredths: i64) -> Self {
        let mut text = [0; 24];
        let mut rest = hundredths.unsigned_abs();
        let mut begin = text.len();
        let mut digits = 0;
        while rest > 0 || digits < 3 {
            if digits == 2 {
                begin -= 1;
                text[begin] = b'.';
            }
            begin -= 1;
            text[begin] = b'0' + (rest % 10) as u8;
            rest /= 10;
            digits += 1;
        }
        if hundredths < 0 {
            begin -= 1;
            text[begin] = b'-';
        }
        Self { text, begin }
    }

    /// The text.
    pub fn bytes(&self) -> &[u8] {
        &self.text[self.begin..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_as_servers_write_them() {
        let read = ["-10.00", "300000.05", "7", "1.5", "", "0.1999"].map(|text| hundredths(text.as_bytes()));
        assert_eq!(read, [-1_000, 30_000_005, 700, 150, 0, 19]);
    }

    proptest! {
        #[test]
        fn an_amount_is_read_as_it_was_written(cents in -1_000_000_000_000i64..1_000_000_000_000) {
            prop_assert_eq!(hundredths(Amount::new(cents).bytes()), cents);
        }
    }
}

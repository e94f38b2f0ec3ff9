//! The values of rows that are drawn, and numbers that are counted in parts of a unit.

use plimsoll_core::random::Random;

use crate::loading::row::RowWriter;
use crate::text::push_number;
use crate::tpcc::random::{push_alphanumeric, push_digits, push_letters, within};

impl RowWriter<'_> {
    /// Several whole numbers.
    pub fn numbers(&mut self, numbers: &[u32]) {
        for number in numbers {
            self.number(u64::from(*number));
        }
    }

    /// A number with two digits behind the point.
    pub fn hundredths(&mut self, number: u32) {
        self.number_by(|out| {
            push_number(u64::from(number / 100), out);
            let rest = (number % 100) as u8;
            out.extend_from_slice(&[b'.', b'0' + rest / 10, b'0' + rest % 10]);
        });
    }

    /// A number below one with four digits behind the point.
    pub fn ten_thousandths(&mut self, number: u32) {
        let digit = |power: u32| b'0' + (number / power % 10) as u8;
        self.number_by(|out| {
            out.extend_from_slice(b"0.");
            out.extend_from_slice(&[digit(1_000), digit(100), digit(10), digit(1)]);
        });
    }

    /// An alphanumeric string of a length that is drawn too.
    pub fn drawn(&mut self, random: &mut Random, shortest: u32, longest: u32) {
        let length = if shortest == longest {
            shortest
        } else {
            within(random, shortest, longest)
        };
        self.text_by(|out| push_alphanumeric(random, length as usize, out));
    }

    /// Two streets, city, state and zip code.
    pub fn address(&mut self, random: &mut Random) {
        for _ in 0..3 {
            self.drawn(random, 10, 20);
        }
        self.text_by(|out| push_letters(random, 2, out));
        self.text_by(|out| {
            push_digits(random, 4, out);
            out.extend_from_slice(b"11111");
        });
    }
}

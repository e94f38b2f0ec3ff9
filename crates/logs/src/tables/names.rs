//! Names become numbers of rows. Only hashes are kept, so that memory does not grow with texts.

use crate::hash::ByNumber;

/// Rows of one table at most. Whatever comes later has no row of its own.
pub const NAMES_MAX: usize = 1_000_000;

/// Numbers of names that were seen.
#[derive(Debug, Default)]
pub struct Names {
    numbers: ByNumber<u32>,
    overflow: Option<u32>,
}

/// A name's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// It has a row.
    Known(u32),
    /// It needs one.
    New(u32),
    /// It needs the row that it shares with all that came too late.
    NewShared(u32),
}

impl Names {
    /// Of the name with this hash.
    pub fn number(&mut self, hash: u64) -> Number {
        if let Some(&number) = self.numbers.get(&hash) {
            return Number::Known(number);
        }
        let next = self.numbers.len() as u32;
        if self.numbers.len() < NAMES_MAX {
            self.numbers.insert(hash, next);
            return Number::New(next);
        }
        match self.overflow {
            Some(number) => Number::Known(number),
            None => Number::NewShared(*self.overflow.insert(next)),
        }
    }
}

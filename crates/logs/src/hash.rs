//! A stable hash of 64 bits: the same on every machine and in every version, since files of different runs are compared by
//! it. It is no defence against somebody who looks for collisions.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

const SEED: u64 = 0x243F_6A88_85A3_08D3;
const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
const SECOND: u64 = 0xC2B2_AE3D_27D4_EB4F;

/// The hash of these bytes.
pub fn hash64(bytes: &[u8]) -> u64 {
    let mut pairs = bytes.chunks_exact(16);
    let mut state = SEED ^ bytes.len() as u64;
    for pair in &mut pairs {
        state = folded(state ^ word(&pair[..8]), FIRST ^ word(&pair[8..]));
    }
    let mut last = [0_u8; 16];
    let rest = pairs.remainder();
    last[..rest.len()].copy_from_slice(rest);
    state = folded(state ^ word(&last[..8]), FIRST ^ word(&last[8..]));
    folded(state ^ SECOND, FIRST)
}

/// Of two hashes, in this order.
pub fn both(first: u64, second: u64) -> u64 {
    folded(first ^ SEED, second ^ SECOND)
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// A map whose keys are hashes or connection ids already.
pub type ByNumber<V> = HashMap<u64, V, BuildHasherDefault<NumberHasher>>;

/// Spreads a number over all bits; the map takes some from either end.
#[derive(Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash64(bytes);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = folded(number ^ SEED, FIRST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_stay_as_they_are() {
        assert_eq!(hash64(b""), 0xE693_4902_2297_0E67);
        assert_eq!(hash64(b"abc"), 0x9F59_F5DA_0C82_3C49);
        assert_eq!(hash64(b"a text of more than sixteen bytes"), 0x8561_0D2B_458F_9508);
    }

    #[test]
    fn zeros_at_the_end_count() {
        assert_ne!(hash64(b"a"), hash64(b"a\0"));
        assert_ne!(hash64(&[0; 16]), hash64(&[0; 17]));
        assert_ne!(both(1, 2), both(2, 1));
    }
}

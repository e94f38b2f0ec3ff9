//! Reproducible randomness: every transaction draws from a generator of its own, keyed by what identifies it, so that
//! the values do not depend on how threads interleave or on which worker picked the transaction up.
//!
//! Deliberately not here: distributions over rows (they belong to the workloads).

use rand_xoshiro::Xoshiro256PlusPlus;
pub use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The generator of all workloads and data sets.
pub type Random = Xoshiro256PlusPlus;

/// The generator of item `n` of stream `stream` under `seed`. Equal keys give equal sequences, forever: changing this
/// function changes all data and all drawn keys.
pub fn keyed(seed: u64, stream: u64, n: u64) -> Random {
    Random::seed_from_u64(mix(mix(mix(seed) ^ stream) ^ n))
}

/// A double uniform on [0, 1) with 53 random bits.
pub fn unit(random: &mut Random) -> f64 {
    (random.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// An integer uniform on 0..`bound`. The multiply-and-shift of Lemire (2019) without rejection: the bias is at most
/// `bound` / 2^64. Panics when `bound` is 0.
pub fn below(random: &mut Random, bound: u64) -> u64 {
    assert!(bound > 0, "nothing to draw from");
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014) over an advanced state.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_of_a_key_never_changes() {
        let mut random = keyed(1, 2, 3);
        let drawn: Vec<u64> = (0..3).map(|_| below(&mut random, 1_000_000)).collect();
        assert_eq!(drawn, PINNED, "this would change every data set that was ever loaded");
    }

    const PINNED: [u64; 3] = [287_207, 968_423, 659_373];

    #[test]
    fn neighbouring_keys_are_unrelated() {
        let first = |seed, stream, n| keyed(seed, stream, n).next_u64();
        let all = [
            first(1, 1, 1),
            first(1, 1, 2),
            first(1, 2, 1),
            first(2, 1, 1),
            first(0, 0, 0),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(all[at + 1..].iter().all(|other| (one ^ other).count_ones() > 10));
        }
    }

    #[test]
    fn units_and_integers_stay_in_range_and_fill_it() {
        let mut random = keyed(7, 0, 0);
        let mut hits = [0u32; 10];
        for _ in 0..10_000 {
            assert!((0.0..1.0).contains(&unit(&mut random)));
            hits[below(&mut random, 10) as usize] += 1;
        }
        assert!(hits.iter().all(|&n| (850..1150).contains(&n)), "{hits:?}");
    }
}

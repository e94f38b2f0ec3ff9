//! What `sysbench.rand` draws from: a generator for each thread, keyed by seed and thread, and the formulas of the
//! workloads' distributions.

use std::sync::atomic::{AtomicU32, Ordering};

use plimsoll_core::plan::Distribution;
use plimsoll_core::random::{Random, Rng as _, below, keyed, unit};
use plimsoll_workloads::distribution::Rows;

use crate::distributions::Distributions;

/// Keeps threads of scripts apart from everything else that is drawn from a seed.
const STREAM: u64 = 0x4C75_6100_0000_0000;

/// Which way to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As `--rand-type` says.
    Default,
    /// Each number equally likely.
    Uniform,
    /// A bell.
    Gaussian,
    /// A hot band in the middle.
    Special,
    /// A power law.
    Pareto,
    /// Zipf's law.
    Zipfian,
}

const WAYS: usize = 6;

/// The generator of one thread.
pub struct Draws {
    random: Random,
    distributions: Distributions,
    /// By way, the range drawn from last: what it takes to draw from one may be expensive to calculate.
    last: [Option<(u32, Rows)>; WAYS],
}

impl Draws {
    /// The generator of thread `tid` of a kind of threads.
    pub fn new(distributions: Distributions, seed: u64, kind: u64, tid: u32) -> Self {
        Self {
            random: keyed(seed, STREAM + kind, u64::from(tid)),
            distributions,
            last: [None; WAYS],
        }
    }

    /// A number from `a` to `b`, both included. All is reckoned in 32 bits without sign, so that `b` below `a` is far above it.
    pub fn within(&mut self, way: Way, a: u32, b: u32) -> u32 {
        let count = b.wrapping_sub(a).wrapping_add(1);
        let distribution = self.distribution(way);
        // The count of the whole range of 32 bits wraps to 0. sysbench gives `a` then; its hot band is reckoned from b - a.
        let count = match distribution {
            Distribution::Special10(_) if count == 0 => u32::MAX,
            _ if count == 0 => return a,
            _ => count,
        };
        let rows = match self.last[way as usize] {
            Some((last, rows)) if last == count => rows,
            _ => {
                let rows = Rows::new(distribution, count);
                self.last[way as usize] = Some((count, rows));
                rows
            }
        };
        a.wrapping_add((rows.draw(&mut self.random) - 1) as u32)
    }

    fn distribution(&self, way: Way) -> Distribution {
        let all = &self.distributions;
        match way {
            Way::Default => all.default,
            Way::Uniform => Distribution::Uniform {},
            Way::Gaussian => Distribution::Gaussian(all.gaussian),
            Way::Special => Distribution::Special10(all.special),
            Way::Pareto => Distribution::Pareto(all.pareto),
            Way::Zipfian => Distribution::Zipfian(all.zipfian),
        }
    }

    /// Uniform on [0, 1).
    pub fn unit(&mut self) -> f64 {
        unit(&mut self.random)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.random.next_u64()
    }

    /// Replaces each `#` by a digit and each `@` by a letter from a to z.
    pub fn fill(&mut self, text: &mut [u8]) {
        for byte in text {
            match *byte {
                b'#' => *byte = b'0' + below(&mut self.random, 10) as u8,
                b'@' => *byte = b'a' + below(&mut self.random, 26) as u8,
                _ => {}
            }
        }
    }

    /// Fills a text with characters from `0` to `z`.
    pub fn fill_any(&mut self, text: &mut [u8]) {
        for byte in text {
            *byte = b'0' + below(&mut self.random, u64::from(b'z' - b'0') + 1) as u8;
        }
    }
}

/// Numbers of 32 bits of which none comes twice, whoever asks: a count sent through two permutations. Where it begins follows
/// from the seed, so that a second process does not repeat the first.
///
/// The permutation is that of quadratic residues modulo a prime of the form 4k + 3: squares of the numbers up to half of it
/// are all different, and so are their negatives.
#[derive(Debug, Default)]
pub struct Unique {
    count: AtomicU32,
    between: AtomicU32,
}

/// The largest prime below 2^32 that is 3 modulo 4.
const PRIME: u64 = 4_294_967_291;

impl Unique {
    /// Begins where the seed says.
    pub fn seed(&self, seed: u64) {
        let mut random = keyed(seed, STREAM, u64::MAX);
        self.count.store(random.next_u64() as u32, Ordering::Relaxed);
        self.between.store(random.next_u64() as u32, Ordering::Relaxed);
    }

    /// The next one.
    pub fn next(&self) -> u32 {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        permute(permute(count).wrapping_add(self.between.load(Ordering::Relaxed)))
    }
}

fn permute(number: u32) -> u32 {
    let wide = u64::from(number);
    if wide >= PRIME {
        return number;
    }
    let residue = wide * wide % PRIME;
    if wide <= PRIME / 2 {
        residue as u32
    } else {
        (PRIME - residue) as u32
    }
}

#[cfg(test)]
mod tests;

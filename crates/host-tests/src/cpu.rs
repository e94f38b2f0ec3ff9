//! Whole-number divisions. One event looks for the primes up to a limit by trial division.

use std::hint::black_box;

use plimsoll_engine::WorkerFactory;

use crate::Setup;
use crate::event::{Events, Work};

/// Workers that look for the primes below `prime_max`, at most 2^31.
pub fn factory(prime_max: u64, setup: &Setup) -> Box<dyn WorkerFactory> {
    let work = move |_| Work {
        event: move || {
            black_box(primes_count(black_box(prime_max)));
        },
        events_max: None,
    };
    Events::factory("cpu", setup.stack_bytes, work)
}

/// How many odd primes lie below `limit`: each number from 3 on is divided by 2, 3, … up to its square root or to its
/// first divisor, even numbers and even divisors too. The divisions are the work.
///
/// They are to be divisions of 64 bits. Compilers look at run time whether 32 bits would do, which are faster, so both
/// numbers are multiples of 2^32 here: that changes no remainder from or to 0. `limit` is at most 2^31.
fn primes_count(limit: u64) -> u64 {
    let one = black_box(1 << 32);
    let mut count = 0;
    for number in 3..limit {
        let (scaled, root) = (number * one, (number as f64).sqrt() as u64 * one);
        let mut divisor = 2 * one;
        while divisor <= root && scaled % divisor != 0 {
            divisor += one;
        }
        count += u64::from(divisor > root);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_odd_primes_are_found() {
        assert_eq!((primes_count(10_000), primes_count(8), primes_count(3)), (1_228, 3, 0));
    }
}

//! The test `cpu`: whole-number divisions. One event looks for the primes up to a limit by trial division.

use std::hint::black_box;
use std::sync::Arc;

use super::event::{Events, Work};
use crate::exit::Exit;
use crate::log::Log;
use crate::options::{Kind, OptionSpec};
use crate::report::{Stat, general};
use crate::test::{Context, Run, Test};

/// The test.
#[derive(Default)]
pub struct Cpu {
    context: Option<Arc<Context>>,
    prime_max: u64,
}

impl Test for Cpu {
    fn name(&self) -> String {
        "cpu".to_owned()
    }

    fn options(&self) -> Vec<OptionSpec> {
        let help = "upper limit for primes generator";
        vec![OptionSpec::new("cpu-max-prime", Kind::Int, "10000", help)]
    }

    fn configure(&mut self, context: &Arc<Context>) -> Result<(), Exit> {
        let given = context.options.int("cpu-max-prime");
        self.context = Some(Arc::clone(context));
        self.prime_max = match u64::try_from(given) {
            Ok(max @ 1..) => max,
            _ => return Err(context.log.fatal(format!("Invalid value of cpu-max-prime: {given}."))),
        };
        Ok(())
    }

    fn command(&mut self, _name: &str) -> Option<Result<(), Exit>> {
        None
    }

    fn begin(&mut self) -> Result<Run, Exit> {
        let (context, max) = (self.context.as_ref().expect("configured"), self.prime_max);
        let work = move |_| Work {
            event: move || {
                black_box(primes_count(black_box(max)));
            },
            events_max: None,
        };
        Ok(Run {
            factory: Events::factory("cpu", context, work),
            events_max: None,
            mode: format!("Prime numbers limit: {max}\n\n"),
        })
    }

    fn cumulative(&mut self, stat: &Stat, log: &Log) {
        let per_s = stat.per_s(stat.events);
        let own = format!("CPU speed:\n    events per second: {per_s:8.2}\n");
        general::after(&own, stat, log);
    }
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

//! The test `cpu`: whole-number divisions.

use std::sync::Arc;

use plimsoll_host_tests::cpu;

use super::setup;
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
        Ok(Run {
            factory: cpu::factory(max, &setup(context)),
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

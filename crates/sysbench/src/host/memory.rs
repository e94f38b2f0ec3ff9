//! The test `memory`: one event passes once over a block, word by word.

use std::fmt::Write as _;
use std::sync::Arc;

use plimsoll_core::plan::Distribution;
use plimsoll_host_tests::memory::{self, Operation, Options};

use super::setup;
use crate::distributions::Distributions;
use crate::exit::Exit;
use crate::log::{Level, Log};
use crate::options::{Kind, OptionSpec};
use crate::report::{Stat, general};
use crate::test::{Context, Run, Test};

const MIB: u64 = 1 << 20;

/// The test.
#[derive(Default)]
pub struct Memory {
    configured: Option<(Arc<Context>, Options)>,
}

impl Test for Memory {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn options(&self) -> Vec<OptionSpec> {
        let with = OptionSpec::new;
        vec![
            with("memory-block-size", Kind::Size, "1K", "size of memory block for test"),
            with(
                "memory-total-size",
                Kind::Size,
                "100G",
                "total size of data to transfer",
            ),
            with(
                "memory-scope",
                Kind::String,
                "global",
                "memory access scope {global,local}",
            ),
            with("memory-hugetlb", Kind::Bool, "off", "allocate memory from HugeTLB pool"),
            with(
                "memory-oper",
                Kind::String,
                "write",
                "type of memory operations {read, write, none}",
            ),
            with(
                "memory-access-mode",
                Kind::String,
                "seq",
                "memory access mode {seq,rnd}",
            ),
        ]
    }

    fn configure(&mut self, context: &Arc<Context>) -> Result<(), Exit> {
        let options = read(context)?;
        self.configured = Some((Arc::clone(context), options));
        Ok(())
    }

    fn command(&mut self, _name: &str) -> Option<Result<(), Exit>> {
        None
    }

    fn begin(&mut self) -> Result<Run, Exit> {
        let (context, options) = self.configured.as_ref().expect("configured");
        let factory = memory::factory(options, &setup(context));
        Ok(Run {
            factory: factory.map_err(|fault| context.log.fatal(fault.message))?,
            events_max: Some(None),
            mode: mode(options),
        })
    }

    fn intermediate(&mut self, stat: &Stat, log: &Log) {
        let mib_per_s = stat.per_s(stat.events) * self.block_mib();
        log.line(
            Level::Notice,
            format_args!("[ {:.0}s ] {mib_per_s:4.2} MiB/sec", stat.time_total_s),
        );
    }

    fn cumulative(&mut self, stat: &Stat, log: &Log) {
        let (events, per_s, mib) = (stat.events, stat.per_s(stat.events), self.block_mib());
        let mut own = format!("Total operations: {events} ({per_s:8.2} per second)\n\n");
        if self.asked().operation != Operation::None {
            let (moved, mib_per_s) = (events as f64 * mib, per_s * mib);
            let _ = write!(own, "{moved:4.2} MiB transferred ({mib_per_s:4.2} MiB/sec)\n\n");
        }
        general::after(&own, stat, log);
    }
}

impl Memory {
    fn asked(&self) -> &Options {
        &self.configured.as_ref().expect("configured").1
    }

    fn block_mib(&self) -> f64 {
        self.asked().block_bytes as f64 / MIB as f64
    }
}

/// What is asked for.
fn read(context: &Context) -> Result<Options, Exit> {
    let options = &context.options;
    let block_bytes = options.size("memory-block-size");
    if !block_bytes.is_power_of_two() || block_bytes < 8 {
        let written = options.size_written("memory-block-size");
        let message = format!("Invalid value for memory-block-size: {written}");
        return Err(context.log.fatal(message));
    }
    let mut asked = Options {
        block_bytes,
        total_bytes: options.size("memory-total-size"),
        is_local: choice(context, "memory-scope", &[("global", false), ("local", true)])?,
        is_huge: options.bool("memory-hugetlb"),
        operation: choice(context, "memory-oper", &OPERATIONS)?,
        distribution: None,
    };
    if choice(context, "memory-access-mode", &[("seq", false), ("rnd", true)])? {
        asked.distribution = Some(distribution(context)?);
    }
    Ok(asked)
}

/// The lines before a run.
fn mode(options: &Options) -> String {
    let (operation, _) = OPERATIONS[options.operation as usize];
    format!(
        "Running memory speed test with the following options:\n  block size: {}KiB\n  total size: {}MiB\n  \
         operation: {operation}\n  scope: {}\n\n",
        options.block_bytes / 1024,
        options.total_bytes / MIB,
        if options.is_local { "local" } else { "global" },
    )
}

/// Names in the order of the operations.
const OPERATIONS: [(&str, Operation); 3] = [
    ("read", Operation::Read),
    ("write", Operation::Write),
    ("none", Operation::None),
];

/// What a word of an option stands for.
fn choice<T: Copy>(context: &Context, name: &str, choices: &[(&str, T)]) -> Result<T, Exit> {
    let given = context.options.string(name);
    let found = choices.iter().find(|(word, _)| *word == given);
    let invalid = || context.log.fatal(format!("Invalid value for {name}: {given}"));
    found.map(|(_, choice)| *choice).ok_or_else(invalid)
}

/// What `--rand-type` asks for.
fn distribution(context: &Context) -> Result<Distribution, Exit> {
    Distributions::chosen(&context.options).map_err(|message| context.log.fatal(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_is_told_as_sysbench_tells_it() {
        let options = Options {
            block_bytes: 1_024,
            total_bytes: 100 << 30,
            is_local: false,
            is_huge: false,
            operation: Operation::Write,
            distribution: None,
        };
        assert_eq!(
            mode(&options),
            "Running memory speed test with the following options:\n  block size: 1KiB\n  total size: 102400MiB\n  \
             operation: write\n  scope: global\n\n"
        );
    }
}

//! The test `memory`: one event passes once over a block, word by word.

mod block;
mod offsets;

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;

use plimsoll_core::plan::Distribution;
use plimsoll_core::random::keyed;

use self::block::Block;
use self::offsets::Offsets;
use super::event::{Events, Work};
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
    configured: Option<(Arc<Context>, Terms)>,
}

/// What is done, as it was asked for.
#[derive(Clone, Debug)]
struct Terms {
    block_bytes: u64,
    total_bytes: u64,
    /// Each thread has a block of its own.
    is_local: bool,
    is_huge: bool,
    operation: Operation,
    /// Word after word, or wherever chance leads.
    is_random: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Read,
    Write,
    None,
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
        let terms = Terms::read(context)?;
        if terms.is_random {
            distribution(context)?;
        }
        self.configured = Some((Arc::clone(context), terms));
        Ok(())
    }

    fn command(&mut self, _name: &str) -> Option<Result<(), Exit>> {
        None
    }

    fn begin(&mut self) -> Result<Run, Exit> {
        let (context, terms) = self.configured.as_ref().expect("configured");
        let blocks_count = if terms.is_local { context.threads } else { 1 };
        let new_block = |_| Block::new(terms.block_bytes, terms.is_huge).map_err(|why| context.log.fatal(why));
        let blocks = (0..blocks_count).map(new_block).collect::<Result<Vec<_>, _>>()?;
        let (blocks, offsets) = (Arc::new(blocks), terms.offsets(context)?);
        let (run_terms, run_context) = (terms.clone(), Arc::clone(context));
        let work = move |worker: u32| {
            let (blocks, operation) = (Arc::clone(&blocks), run_terms.operation);
            let block_index = worker as usize % blocks.len();
            let mut pass = offsets.pass(keyed(run_context.seed, worker.into(), 0));
            Work {
                event: move || {
                    let block = &blocks[block_index];
                    match operation {
                        Operation::Read => pass.each(block.words(), |at| block.touch(at)),
                        Operation::Write => pass.each(block.words(), |at| block.store(at, at)),
                        Operation::None => pass.each(block.words(), |_| black_box(())),
                    }
                },
                events_max: run_terms.events_max(worker, run_context.threads),
            }
        };
        Ok(Run {
            factory: Events::factory("memory", context, work),
            events_max: Some(None),
            mode: terms.mode(),
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
        if self.terms().operation != Operation::None {
            let (moved, mib_per_s) = (events as f64 * mib, per_s * mib);
            let _ = write!(own, "{moved:4.2} MiB transferred ({mib_per_s:4.2} MiB/sec)\n\n");
        }
        general::after(&own, stat, log);
    }
}

impl Memory {
    fn terms(&self) -> &Terms {
        &self.configured.as_ref().expect("configured").1
    }

    fn block_mib(&self) -> f64 {
        self.terms().block_bytes as f64 / MIB as f64
    }
}

impl Terms {
    fn read(context: &Context) -> Result<Self, Exit> {
        let options = &context.options;
        let block_bytes = options.size("memory-block-size");
        if !block_bytes.is_power_of_two() || block_bytes < 8 {
            let message = format!("Invalid value for memory-block-size: {block_bytes}");
            return Err(context.log.fatal(message));
        }
        Ok(Self {
            block_bytes,
            total_bytes: options.size("memory-total-size"),
            is_local: choice(context, "memory-scope", &[("global", false), ("local", true)])?,
            is_huge: options.bool("memory-hugetlb"),
            operation: choice(context, "memory-oper", &OPERATIONS)?,
            is_random: choice(context, "memory-access-mode", &[("seq", false), ("rnd", true)])?,
        })
    }

    /// How many events a worker has: the blocks of the total size, dealt out evenly.
    fn events_max(&self, worker: u32, threads: u32) -> Option<u64> {
        let blocks_count = self.total_bytes / self.block_bytes;
        let (threads, worker) = (u64::from(threads), u64::from(worker));
        let share = blocks_count / threads + u64::from(worker < blocks_count % threads);
        (self.total_bytes > 0).then_some(share)
    }

    fn offsets(&self, context: &Context) -> Result<Offsets, Exit> {
        if !self.is_random {
            return Ok(Offsets::InOrder);
        }
        let words_count = self.block_bytes / block::WORD_BYTES;
        Ok(Offsets::random(distribution(context)?, words_count, context.seed))
    }

    fn mode(&self) -> String {
        let (operation, _) = OPERATIONS[self.operation as usize];
        format!(
            "Running memory speed test with the following options:\n  block size: {}KiB\n  total size: {}MiB\n  \
             operation: {operation}\n  scope: {}\n\n",
            self.block_bytes / 1024,
            self.total_bytes / MIB,
            if self.is_local { "local" } else { "global" },
        )
    }
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

    fn terms(block_bytes: u64, total_bytes: u64) -> Terms {
        Terms {
            block_bytes,
            total_bytes,
            is_local: false,
            is_huge: false,
            operation: Operation::Write,
            is_random: false,
        }
    }

    #[test]
    fn the_total_size_is_dealt_out_without_rest() {
        let terms = terms(1_024, 1 << 20);
        let shares: Vec<_> = (0..3).map(|worker| terms.events_max(worker, 3)).collect();
        assert_eq!(shares, [Some(342), Some(341), Some(341)]);
        assert_eq!(self::terms(8, 0).events_max(0, 1), None);
        assert_eq!(self::terms(1_024, 100).events_max(0, 1), Some(0));
    }

    #[test]
    fn the_mode_is_told_as_sysbench_tells_it() {
        assert_eq!(
            terms(1_024, 100 << 30).mode(),
            "Running memory speed test with the following options:\n  block size: 1KiB\n  total size: 102400MiB\n  \
             operation: write\n  scope: global\n\n"
        );
    }
}

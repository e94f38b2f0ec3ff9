//! Memory: one event passes once over a block, word by word.

#[allow(unsafe_code)] // memory from the pool of huge pages
mod block;
mod offsets;

use std::hint::black_box;
use std::sync::Arc;

use plimsoll_core::plan::Distribution;
use plimsoll_core::random::keyed;
use plimsoll_engine::{WorkerFactory, WorkerFault};

use self::block::Block;
use self::offsets::Offsets;
use crate::Setup;
use crate::event::{Events, Work};

/// What is done.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Length of a block: a power of two, at least 8.
    pub block_bytes: u64,
    /// What all workers pass over together; 0 for no end.
    pub total_bytes: u64,
    /// Each worker has a block of its own.
    pub is_local: bool,
    /// Blocks come from the pool of huge pages.
    pub is_huge: bool,
    /// What is done to each word.
    pub operation: Operation,
    /// Which words an event touches; one after the other if absent.
    pub distribution: Option<Distribution>,
}

/// What is done to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// Nothing: what the passes themselves cost.
    None,
}

/// Workers that do so.
///
/// # Errors
/// A fault of class `host` when there is not enough memory.
pub fn factory(options: &Options, setup: &Setup) -> Result<Box<dyn WorkerFactory>, WorkerFault> {
    let blocks_count = if options.is_local { setup.threads } else { 1 };
    let new_block = |_| Block::new(options.block_bytes, options.is_huge);
    let blocks = (0..blocks_count).map(new_block).collect::<Result<Vec<_>, _>>()?;
    let (blocks, offsets) = (Arc::new(blocks), options.offsets(setup.seed));
    let (options, setup) = (options.clone(), *setup);
    let work = move |worker: u32| {
        let (blocks, operation) = (Arc::clone(&blocks), options.operation);
        let block_index = worker as usize % blocks.len();
        let mut pass = offsets.pass(keyed(setup.seed, worker.into(), 0));
        Work {
            event: move || {
                let block = &blocks[block_index];
                match operation {
                    Operation::Read => pass.each(block.words(), |at| block.touch(at)),
                    Operation::Write => pass.each(block.words(), |at| block.store(at, at)),
                    Operation::None => pass.each(block.words(), |_| black_box(())),
                }
            },
            events_max: options.events_max(worker, setup.threads),
        }
    };
    Ok(Events::factory("memory", setup.stack_bytes, work))
}

impl Options {
    /// How many events a worker has: the blocks of the total size, dealt out evenly.
    fn events_max(&self, worker: u32, threads: u32) -> Option<u64> {
        let blocks_count = self.total_bytes / self.block_bytes;
        let (threads, worker) = (u64::from(threads), u64::from(worker));
        let share = blocks_count / threads + u64::from(worker < blocks_count % threads);
        (self.total_bytes > 0).then_some(share)
    }

    fn offsets(&self, seed: u64) -> Offsets {
        match self.distribution {
            None => Offsets::InOrder,
            Some(distribution) => Offsets::random(distribution, self.block_bytes / block::WORD_BYTES, seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(block_bytes: u64, total_bytes: u64) -> Options {
        Options {
            block_bytes,
            total_bytes,
            is_local: false,
            is_huge: false,
            operation: Operation::Write,
            distribution: None,
        }
    }

    #[test]
    fn the_total_size_is_dealt_out_without_rest() {
        let options = options(1_024, 1 << 20);
        let shares: Vec<_> = (0..3).map(|worker| options.events_max(worker, 3)).collect();
        assert_eq!(shares, [Some(342), Some(341), Some(341)]);
        assert_eq!(self::options(8, 0).events_max(0, 1), None);
        assert_eq!(self::options(1_024, 100).events_max(0, 1), Some(0));
    }
}

//! The plain counters of one shard and interval. Whoever holds the shard's lock writes them.

use std::collections::BTreeMap;

use plimsoll_core::histogram::{BUCKET_COUNT, Histogram, bucket_index};
use plimsoll_core::snapshot::{Counts, ErrorClass, ErrorCount, Measure, Snapshot, TransactionSnapshot};
use plimsoll_core::timing::TransactionTiming;

/// Counters of all transaction types, and errors.
pub(crate) struct Cells {
    types: Box<[TypeCells]>,
    /// By transaction type, if it was within one.
    errors: BTreeMap<(Option<usize>, ErrorClass, u16), u64>,
}

struct TypeCells {
    counts: Counts,
    measures: [Buckets; Measure::ALL.len()],
}

/// Buckets of one measure. They are allocated as zero pages that cost nothing until they are hit, and blocks that were
/// not hit are not looked at.
struct Buckets {
    counts: Box<[u32]>,
    /// One bit for each block that was hit.
    hit_blocks: u64,
    sum_ns: u64,
    max_ns: u64,
}

const BLOCK: usize = 1024;
const _: () = assert!(BUCKET_COUNT % BLOCK == 0 && BUCKET_COUNT / BLOCK <= u64::BITS as usize);

impl Cells {
    pub(crate) fn new(type_count: usize) -> Self {
        Self {
            types: (0..type_count).map(|_| TypeCells::new()).collect(),
            errors: BTreeMap::new(),
        }
    }

    /// Adds the counts of one transaction, and its times where there are any.
    pub(crate) fn transaction(&mut self, transaction: usize, counts: &Counts, timing: Option<TransactionTiming>) {
        let cells = &mut self.types[transaction];
        cells.counts = cells.counts.merge(counts);
        if let Some(timing) = timing {
            for (buckets, measure) in cells.measures.iter_mut().zip(Measure::ALL) {
                buckets.record(duration_ns(timing, measure));
            }
        }
    }

    /// Adds one error.
    pub(crate) fn error(&mut self, transaction: Option<usize>, class: ErrorClass, code: u16) {
        *self.errors.entry((transaction, class, code)).or_default() += 1;
    }

    /// Everything as a snapshot; afterwards all is 0.
    pub(crate) fn drain(&mut self, transaction_names: &[String]) -> Snapshot {
        let named = transaction_names.iter().zip(&mut self.types);
        let errors = std::mem::take(&mut self.errors);
        Snapshot {
            transactions: named.map(|(name, cells)| (name.clone(), cells.drain())).collect(),
            errors: errors
                .into_iter()
                .map(|((transaction, class, code), count)| ErrorCount {
                    transaction: transaction.map(|index| transaction_names[index].clone()),
                    class,
                    code,
                    count,
                })
                .collect(),
        }
    }
}

impl TypeCells {
    fn new() -> Self {
        Self {
            counts: Counts::default(),
            measures: std::array::from_fn(|_| Buckets::new()),
        }
    }

    fn drain(&mut self) -> TransactionSnapshot {
        let measures = Measure::ALL.into_iter().zip(&mut self.measures);
        TransactionSnapshot {
            counts: std::mem::take(&mut self.counts),
            histograms: measures.map(|(measure, buckets)| (measure, buckets.drain())).collect(),
        }
    }
}

impl Buckets {
    fn new() -> Self {
        Self {
            counts: vec![0; BUCKET_COUNT].into_boxed_slice(),
            hit_blocks: 0,
            sum_ns: 0,
            max_ns: 0,
        }
    }

    fn record(&mut self, value_ns: u64) {
        let index = bucket_index(value_ns);
        self.counts[index] += 1;
        self.hit_blocks |= 1 << (index / BLOCK);
        self.sum_ns += value_ns;
        self.max_ns = self.max_ns.max(value_ns);
    }

    fn drain(&mut self) -> Histogram {
        let mut histogram = Histogram {
            sum_ns: std::mem::take(&mut self.sum_ns),
            max_ns: std::mem::take(&mut self.max_ns),
            ..Histogram::default()
        };
        let hit_blocks = std::mem::take(&mut self.hit_blocks);
        for block in (0..BUCKET_COUNT / BLOCK).filter(|block| hit_blocks & (1 << block) != 0) {
            for index in block * BLOCK..(block + 1) * BLOCK {
                let count = std::mem::take(&mut self.counts[index]);
                if count > 0 {
                    histogram.buckets.push(index as u32);
                    histogram.counts.push(u64::from(count));
                }
            }
        }
        histogram
    }
}

fn duration_ns(timing: TransactionTiming, measure: Measure) -> u64 {
    match measure {
        Measure::Response => timing.response_ns(),
        Measure::Service => timing.service_ns(),
        Measure::PoolWait => timing.pool_wait_ns(),
        Measure::DispatchDelay => timing.dispatch_delay_ns(),
    }
}

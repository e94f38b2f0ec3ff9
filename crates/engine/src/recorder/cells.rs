//! The plain counters of one shard and interval. Whoever holds the shard's lock writes them.

use std::collections::BTreeMap;

use plimsoll_core::snapshot::{Counts, ErrorClass, ErrorCount, Measure, Snapshot, TransactionSnapshot};
use plimsoll_core::timing::TransactionTiming;

use super::buckets::Buckets;

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

fn duration_ns(timing: TransactionTiming, measure: Measure) -> u64 {
    match measure {
        Measure::Response => timing.response_ns(),
        Measure::Service => timing.service_ns(),
        Measure::PoolWait => timing.pool_wait_ns(),
        Measure::DispatchDelay => timing.dispatch_delay_ns(),
    }
}

//! The plain buckets of one measure. Whoever holds them writes them: nothing here is shared.

use plimsoll_core::histogram::{BUCKET_COUNT, Histogram, bucket_index};

/// Buckets of one measure. They are allocated as zero pages that cost nothing until they are hit, and blocks that were
/// not hit are not looked at.
pub(super) struct Buckets {
    counts: Box<[u32]>,
    /// One bit for each block that was hit.
    hit_blocks: u64,
    sum_ns: u64,
    max_ns: u64,
}

const BLOCK: usize = 1024;
const _: () = assert!(BUCKET_COUNT % BLOCK == 0 && BUCKET_COUNT / BLOCK <= u64::BITS as usize);

impl Buckets {
    pub(super) fn new() -> Self {
        Self {
            counts: vec![0; BUCKET_COUNT].into_boxed_slice(),
            hit_blocks: 0,
            sum_ns: 0,
            max_ns: 0,
        }
    }

    /// Counts one duration.
    pub(super) fn record(&mut self, value_ns: u64) {
        self.hit(value_ns);
        self.sum_ns += value_ns;
    }

    /// Counts how long something has waited: of millions that wait for hours the sum is too much for 64 bits.
    pub(super) fn record_age(&mut self, age_ns: u64) {
        self.hit(age_ns);
        self.sum_ns = self.sum_ns.saturating_add(age_ns);
    }

    fn hit(&mut self, value_ns: u64) {
        let index = bucket_index(value_ns);
        self.counts[index] += 1;
        self.hit_blocks |= 1 << (index / BLOCK);
        self.max_ns = self.max_ns.max(value_ns);
    }

    /// Everything as a histogram; afterwards all is 0.
    pub(super) fn drain(&mut self) -> Histogram {
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

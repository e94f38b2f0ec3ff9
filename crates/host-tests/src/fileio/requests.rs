//! Which request comes next. All workers ask one and the same queue, under a lock, so that each block of a sequential test is
//! asked for once and each file is synchronised once.

use plimsoll_core::random::{Random, below};

use super::plan::{Mode, Plan};

/// A stretch of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Number of the file.
    pub(super) file: u32,
    /// Where it begins, bytes.
    pub(super) offset: u64,
    /// How long it is, bytes; a multiple of the block.
    pub(super) len: usize,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Read(Extent),
    Write(Extent),
    /// Synchronise a file.
    Sync(u32),
}

/// What one worker did so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turns {
    reads_count: u64,
    writes_count: u64,
}

/// The queue.
#[derive(Debug)]
pub(super) struct Queue {
    mode: Mode,
    rw_ratio: f64,
    files_count: u32,
    file_blocks: u64,
    block_bytes: u64,
    merged_count: u64,
    /// Files are synchronised after so many requests; 0 for never.
    sync_every: u64,
    requests_count: u64,
    /// Something was written since the files were synchronised.
    is_dirty: bool,
    /// The file that is to be synchronised next.
    sync_next: Option<u32>,
    /// Ordinal of the sequential request that comes next.
    sequential_next: u64,
}

impl Queue {
    /// The queue of a run.
    pub(super) fn new(plan: &Plan, mode: Mode) -> Self {
        Self {
            mode,
            rw_ratio: plan.rw_ratio,
            files_count: plan.files_count,
            file_blocks: plan.file_blocks(),
            block_bytes: plan.block_bytes,
            merged_count: plan.merged_count,
            sync_every: plan.syncs.every,
            requests_count: 0,
            is_dirty: false,
            sync_next: None,
            sequential_next: 0,
        }
    }

    /// The next request, for a worker that did so much, with chance from `random`.
    pub(super) fn next(&mut self, turns: &mut Turns, random: &mut Random) -> Request {
        if let Some(file) = self.sync_next {
            self.sync_next = Some(file + 1).filter(|next| *next < self.files_count);
            self.is_dirty = self.sync_next.is_some();
            return Request::Sync(file);
        }
        let extent = if self.mode.is_sequential() {
            self.next_in_order()
        } else {
            self.anywhere(random)
        };
        let is_read = match self.mode {
            Mode::SeqRd | Mode::RndRd => true,
            Mode::SeqWr | Mode::SeqReWr | Mode::RndWr => false,
            Mode::RndRw => turns.is_read_next(self.rw_ratio),
        };
        turns.took(is_read);
        self.is_dirty |= !is_read;
        self.requests_count += 1;
        if self.is_dirty && self.sync_every > 0 && self.requests_count % self.sync_every == 0 {
            self.sync_next = Some(0);
        }
        if is_read {
            Request::Read(extent)
        } else {
            Request::Write(extent)
        }
    }

    /// From file to file, and again from the first.
    fn next_in_order(&mut self) -> Extent {
        let file_requests = self.file_blocks.div_ceil(self.merged_count);
        let number = self.sequential_next % (file_requests * u64::from(self.files_count));
        self.sequential_next += 1;
        let block = number % file_requests * self.merged_count;
        Extent {
            file: (number / file_requests) as u32,
            offset: block * self.block_bytes,
            len: (self.merged_count.min(self.file_blocks - block) * self.block_bytes) as usize,
        }
    }

    /// Every block is equally likely.
    fn anywhere(&self, random: &mut Random) -> Extent {
        let block = below(random, self.file_blocks * u64::from(self.files_count));
        Extent {
            file: (block / self.file_blocks) as u32,
            offset: block % self.file_blocks * self.block_bytes,
            len: self.block_bytes as usize,
        }
    }
}

impl Turns {
    fn is_read_next(self, rw_ratio: f64) -> bool {
        ((self.reads_count + 1) as f64) / ((self.writes_count + 1) as f64) < rw_ratio
    }

    fn took(&mut self, is_read: bool) {
        if is_read {
            self.reads_count += 1;
        } else {
            self.writes_count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::random::keyed;

    fn queue(mode: Mode) -> Queue {
        Queue {
            mode,
            rw_ratio: 1.5,
            files_count: 2,
            file_blocks: 5,
            block_bytes: 10,
            merged_count: 1,
            sync_every: 0,
            requests_count: 0,
            is_dirty: false,
            sync_next: None,
            sequential_next: 0,
        }
    }

    fn take(queue: &mut Queue, count: usize) -> Vec<Request> {
        let (mut turns, mut random) = (Turns::default(), keyed(1, 0, 0));
        (0..count).map(|_| queue.next(&mut turns, &mut random)).collect()
    }

    #[test]
    fn sequential_requests_cover_all_files_block_by_block_and_begin_again() {
        let mut queue = Queue {
            merged_count: 2,
            ..queue(Mode::SeqRd)
        };
        let read = |file, offset, len| Request::Read(Extent { file, offset, len });
        let once = [
            read(0, 0, 20),
            read(0, 20, 20),
            read(0, 40, 10),
            read(1, 0, 20),
            read(1, 20, 20),
            read(1, 40, 10),
        ];
        assert_eq!(take(&mut queue, 12), [once, once].concat());
    }

    #[test]
    fn after_so_many_requests_every_file_is_synchronised_once() {
        let mut queue = Queue {
            sync_every: 3,
            ..queue(Mode::RndWr)
        };
        let taken = take(&mut queue, 10);
        let syncs: Vec<_> = (0..)
            .zip(&taken)
            .filter(|(_, one)| matches!(one, Request::Sync(_)))
            .collect();
        let sync = Request::Sync;
        assert_eq!(syncs, [(3, &sync(0)), (4, &sync(1)), (8, &sync(0)), (9, &sync(1))]);
    }

    #[test]
    fn what_was_only_read_is_not_synchronised() {
        let mut queue = Queue {
            sync_every: 1,
            ..queue(Mode::RndRd)
        };
        assert!(take(&mut queue, 20).iter().all(|one| matches!(one, Request::Read(_))));
    }

    #[test]
    fn random_requests_reach_every_block_and_keep_the_ratio() {
        let taken = take(&mut queue(Mode::RndRw), 1_000);
        let mut extents: Vec<(u32, u64)> = vec![];
        let mut reads_count = 0;
        for request in taken {
            let extent = match request {
                Request::Read(extent) => {
                    reads_count += 1;
                    extent
                }
                Request::Write(extent) => extent,
                Request::Sync(_) => unreachable!("not wanted"),
            };
            assert_eq!(extent.len, 10);
            extents.push((extent.file, extent.offset));
        }
        extents.sort_unstable();
        extents.dedup();
        assert_eq!((extents.len(), reads_count), (10, 600));
    }
}

//! The ledger: a line for each transaction that was acknowledged or failed, and for each attempt to connect that failed.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_core::message::{FailureClass, Lost, Resumed};
use plimsoll_engine::{WorkerFault, monotonic_ns};

use super::LedgerEvent;

/// The file, and what all workers together know.
#[derive(Debug)]
pub(super) struct Note {
    file: File,
    path: PathBuf,
    acknowledged: AtomicU64,
    /// Since when transactions fail, monotonic nanoseconds; 0 while they are acknowledged.
    lost_since_ns: AtomicU64,
}

impl Note {
    pub(super) fn new(file: File, path: PathBuf) -> Self {
        Self {
            file,
            path,
            acknowledged: AtomicU64::new(0),
            lost_since_ns: AtomicU64::new(0),
        }
    }

    /// How many transactions were acknowledged.
    pub(super) fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Relaxed)
    }

    /// Notes a transaction that the server acknowledged just now, and tells it if it ends a loss: answers that were on their
    /// way when the server went come over connections that were opened before.
    pub(super) fn acknowledge(
        &self,
        worker: u32,
        number: u32,
        opened_ns: u64,
        tell: &dyn Fn(LedgerEvent),
    ) -> Result<(), WorkerFault> {
        let now_ns = monotonic_ns();
        self.line(&format!("{worker} {number} {now_ns}\n"))?;
        self.acknowledged.fetch_add(1, Ordering::Relaxed);
        let since_ns = self.lost_since_ns.load(Ordering::Relaxed);
        if since_ns != 0 && opened_ns > since_ns {
            let taken = self
                .lost_since_ns
                .compare_exchange(since_ns, 0, Ordering::Relaxed, Ordering::Relaxed);
            if taken.is_ok() {
                tell(LedgerEvent::Resumed(Resumed { monotonic_ns: now_ns }));
            }
        }
        Ok(())
    }

    /// Notes what failed just now: a transaction, or an attempt to connect as number 0. Tells the first after a success.
    pub(super) fn fail(
        &self,
        worker: u32,
        number: u32,
        (code, message): (u16, String),
        tell: &dyn Fn(LedgerEvent),
    ) -> Result<(), WorkerFault> {
        let now_ns = monotonic_ns();
        self.line(&format!("{worker} {number} {now_ns} {code}\n"))?;
        let began = self
            .lost_since_ns
            .compare_exchange(0, now_ns, Ordering::Relaxed, Ordering::Relaxed);
        if began.is_ok() {
            tell(LedgerEvent::Lost(Lost {
                monotonic_ns: now_ns,
                code,
                message,
            }));
        }
        Ok(())
    }

    fn line(&self, line: &str) -> Result<(), WorkerFault> {
        let written = (&self.file).write_all(line.as_bytes());
        written.map_err(|error| unwritten(&self.path, &error))
    }
}

pub(super) fn unwritten(path: &Path, error: &io::Error) -> WorkerFault {
    let message = format!(
        "{}: the ledger cannot be written: {error}; without it nothing can be said of what was lost: free space, or \
         choose another folder for it",
        path.display()
    );
    WorkerFault::new(FailureClass::Host, message)
}

//! Calls that return at once: Linux's asynchronous I/O. Up to a backlog of requests is under
//! way; when it is full, the next one waits until one of them is done.

#[allow(unsafe_code)] // system calls that no library wraps
mod kernel;

use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::thread;

use plimsoll_core::random::Random;
use plimsoll_engine::WorkerFault;

use self::kernel::{Done, Queue, Slot};
use super::super::requests::Extent;
use super::{Io, Shared, failed, host_fault};

/// One worker's requests.
pub(super) struct Aio {
    shared: Arc<Shared>,
    queue: Queue,
    /// What each slot does.
    tasks: Vec<Option<Task>>,
    /// Slots that do nothing.
    free: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Task {
    extent: Extent,
    is_read: bool,
}

impl Aio {
    /// With a slot for each request of the backlog.
    pub(super) fn new(shared: Arc<Shared>) -> Result<Self, WorkerFault> {
        let count = shared.plan.backlog_count;
        let queue = Queue::new(count, shared.plan.request_bytes_max() as usize).map_err(|error| {
            let why = super::errno(&error);
            host_fault(&format!(
                "io_setup() failed with {why}: this kernel gives no asynchronous I/O, or not so much of it \
                 ({count} requests at a time in each thread, fs.aio-max-nr); use fewer, or synchronous I/O"
            ))
        })?;
        Ok(Self {
            shared,
            queue,
            tasks: vec![None; count],
            free: (0..count).rev().collect(),
        })
    }

    /// A slot for a request whose blocks nobody else has now.
    fn slot_for(&mut self, extent: Extent) -> Result<usize, WorkerFault> {
        let slot = loop {
            match self.free.pop() {
                Some(slot) => break slot,
                None => self.reap()?,
            }
        };
        while !self.shared.try_take(extent) {
            if self.is_idle() {
                thread::yield_now();
            } else {
                self.reap()?;
            }
        }
        Ok(slot)
    }

    fn begin(&mut self, slot: usize, task: Task) -> Result<(), WorkerFault> {
        self.tasks[slot] = Some(task);
        let shared = Arc::clone(&self.shared);
        let file = shared.files[task.extent.file as usize].as_fd();
        self.queue
            .submit(Slot(slot), file, task.extent.offset, task.extent.len, task.is_read)
            .map_err(|error| failed(task.verb(), task.extent, &error))
    }

    /// Waits for at least one request, and ends all that are done.
    fn reap(&mut self) -> Result<(), WorkerFault> {
        let done = self
            .queue
            .wait()
            .map_err(|error| host_fault(&format!("io_getevents() failed with {}", super::errno(&error))))?;
        done.into_iter().try_for_each(|one| self.end(&one))
    }

    fn end(&mut self, done: &Done) -> Result<(), WorkerFault> {
        let Slot(slot) = done.slot;
        let task = self.tasks[slot].take().expect("what ends has begun");
        self.free.push(slot);
        let moved = match &done.result {
            Err(error) => Err(failed(task.verb(), task.extent, error)),
            Ok(len) => self.end_rest(done.slot, *len, task),
        };
        self.shared.give_back(task.extent);
        moved
    }

    /// Does what the kernel left out after `len` bytes, if anything, which also tells why it did; then looks at what was
    /// read.
    fn end_rest(&mut self, slot: Slot, len: usize, task: Task) -> Result<(), WorkerFault> {
        let (file, bytes) = (
            &self.shared.files[task.extent.file as usize],
            self.queue.bytes_mut(slot),
        );
        let (rest, offset) = (&mut bytes[len..task.extent.len], task.extent.offset + len as u64);
        let ended = if task.is_read {
            file.read_exact_at(rest, offset)
        } else {
            file.write_all_at(rest, offset)
        };
        ended.map_err(|error| failed(task.verb(), task.extent, &error))?;
        if task.is_read {
            self.shared.check(&bytes[..task.extent.len], task.extent)?;
        }
        Ok(())
    }

    fn is_idle(&self) -> bool {
        self.tasks.iter().all(Option::is_none)
    }
}

/// After a fault others may wait for its blocks.
impl Drop for Aio {
    fn drop(&mut self) {
        let tasks = self.tasks.iter().flatten();
        tasks.for_each(|task| self.shared.give_back(task.extent));
    }
}

impl Task {
    fn verb(self) -> &'static str {
        if self.is_read { "read" } else { "write" }
    }
}

impl Io for Aio {
    fn read(&mut self, extent: Extent) -> Result<(), WorkerFault> {
        let slot = self.slot_for(extent)?;
        self.begin(slot, Task { extent, is_read: true })
    }

    fn write(&mut self, extent: Extent, random: &mut Random) -> Result<(), WorkerFault> {
        let slot = self.slot_for(extent)?;
        self.shared
            .fill(&mut self.queue.bytes_mut(Slot(slot))[..extent.len], extent, random);
        self.begin(slot, Task { extent, is_read: false })
    }

    fn sync(&mut self, file: u32) -> Result<(), WorkerFault> {
        self.shared.sync(file)
    }

    fn finish(&mut self) -> Result<(), WorkerFault> {
        while !self.is_idle() {
            self.reap()?;
        }
        Ok(())
    }
}

//! Several connections that work off a list of jobs, while the caller hears how far they are.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use plimsoll_core::message::{EngineWarning, Progress};
use plimsoll_core::plan::{LoadMethod, Target};
use plimsoll_engine::WorkerFault;
use plimsoll_wire::{Connection, WireError};

use super::DataEvent;
use super::fault::blame;
use crate::control;

/// How often progress is told.
const PROGRESS_PERIOD: Duration = Duration::from_millis(250);

/// Where rows go, and how.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions<'a> {
    /// The server and its database.
    pub target: &'a Target,
    /// Connections that load at the same time.
    pub loaders: u32,
    /// How rows are sent.
    pub method: LoadMethod,
    /// Also drops tables of the right name that Plimsoll did not make.
    pub drop_foreign: bool,
}

/// The loaders of a data set, each with a connection of its own.
pub struct LoaderPool<'a> {
    options: LoadOptions<'a>,
    observe: &'a mut dyn FnMut(DataEvent),
}

/// What is done so far in one phase, and whether to go on.
#[derive(Default)]
pub struct Meter {
    done_count: AtomicU64,
    stopped: AtomicBool,
}

impl Meter {
    /// So many more rows or tables are done.
    pub fn add(&self, count: u64) {
        self.done_count.fetch_add(count, Ordering::Relaxed);
    }

    /// Whether another loader met a fault, so that there is no sense in going on.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl<'a> LoaderPool<'a> {
    /// As many connections as the options say.
    pub fn new(options: LoadOptions<'a>, observe: &'a mut dyn FnMut(DataEvent)) -> Self {
        Self { options, observe }
    }

    /// How rows are sent.
    pub fn method(&self) -> LoadMethod {
        self.options.method
    }

    /// Whether tables may be dropped that Plimsoll did not make.
    pub fn drop_foreign(&self) -> bool {
        self.options.drop_foreign
    }

    /// Tells a doubt about the data.
    pub fn warn(&mut self, warning: EngineWarning) {
        (self.observe)(DataEvent::Warning(warning));
    }

    /// How many connections work at the same time.
    pub fn size(&self) -> usize {
        self.options.loaders as usize
    }

    /// One more connection, for what is no phase of its own.
    ///
    /// # Errors
    /// When the server cannot be reached or lets nobody in.
    pub fn connect(&self) -> Result<Connection, WorkerFault> {
        control::open(self.options.target)
    }

    /// Asks by a connection of its own, `doing` something as messages have it.
    ///
    /// # Errors
    /// As [`Self::connect`], or what the question failed with.
    pub fn ask<T>(
        &self,
        doing: &str,
        ask: impl FnOnce(&mut Connection) -> Result<T, WireError>,
    ) -> Result<T, WorkerFault> {
        let mut connection = self.connect()?;
        let answer = ask(&mut connection).map_err(|error| blame(&error, doing))?;
        connection.close();
        Ok(answer)
    }

    /// Runs each job once, on whichever connection is free. `total_count` is what the meter will have counted at the
    /// end. A phase without jobs is not even told.
    ///
    /// # Errors
    /// The first fault of any job; jobs that have not begun by then are left out.
    pub fn work<J: Sync>(
        &mut self,
        phase: &str,
        total_count: u64,
        jobs: &[J],
        run: impl Fn(&mut Connection, &J, &Meter) -> Result<(), WorkerFault> + Sync,
    ) -> Result<(), WorkerFault> {
        self.resume(phase, 0, total_count, jobs, run)
    }

    /// As [`Self::work`], for a phase of which so much was done before.
    ///
    /// # Errors
    /// As [`Self::work`].
    pub fn resume<J: Sync>(
        &mut self,
        phase: &str,
        done_count: u64,
        total_count: u64,
        jobs: &[J],
        run: impl Fn(&mut Connection, &J, &Meter) -> Result<(), WorkerFault> + Sync,
    ) -> Result<(), WorkerFault> {
        if jobs.is_empty() {
            return Ok(());
        }
        let (meter, next) = (Meter::default(), AtomicUsize::new(0));
        meter.add(done_count);
        let (target, size) = (self.options.target, self.size().min(jobs.len()));
        let loader = || -> Result<(), WorkerFault> {
            let mut connection = control::open(target)?;
            // Where a server's default is 0, rows would be gone with their connection.
            connection
                .query("SET autocommit = 1")
                .map_err(|error| blame(&error, "switch autocommit on"))?;
            while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                if meter.stopped() {
                    break;
                }
                run(&mut connection, job, &meter)?;
            }
            connection.close();
            Ok(())
        };
        std::thread::scope(|scope| {
            let (ended, endings) = channel();
            for _ in 0..size {
                let ended = ended.clone();
                let (loader, meter) = (&loader, &meter);
                scope.spawn(move || {
                    let outcome = loader();
                    meter.stopped.fetch_or(outcome.is_err(), Ordering::Relaxed);
                    // The receiver lives until all loaders have ended.
                    let _ = ended.send(outcome);
                });
            }
            drop(ended);
            self.watch(phase, total_count, &meter, &endings)
        })
    }

    fn watch(
        &mut self,
        phase: &str,
        total_count: u64,
        meter: &Meter,
        endings: &Receiver<Result<(), WorkerFault>>,
    ) -> Result<(), WorkerFault> {
        let mut first_fault = Ok(());
        loop {
            match endings.recv_timeout(PROGRESS_PERIOD) {
                Ok(outcome) => first_fault = first_fault.and(outcome),
                Err(RecvTimeoutError::Timeout) => self.tell(phase, total_count, meter),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.tell(phase, total_count, meter);
        first_fault
    }

    fn tell(&mut self, phase: &str, total_count: u64, meter: &Meter) {
        (self.observe)(DataEvent::Progress(Progress {
            phase: phase.to_owned(),
            done_count: meter.done_count.load(Ordering::Relaxed).min(total_count),
            total_count,
        }));
    }
}

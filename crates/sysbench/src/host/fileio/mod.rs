//! The test `fileio`: reads and writes of files in the current folder.

mod buffer;
mod checksum;
mod files;
mod io;
mod plan;
mod report;
mod requests;
mod size;
mod worker;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use self::files::Files;
use self::io::{Map, Shared, Traffic};
use self::plan::{IoMode, Mode, Plan};
use self::requests::Queue;
use crate::exit::Exit;
use crate::log::Log;
use crate::options::{OptionSpec, help};
use crate::report::Stat;
use crate::test::{Context, Run, Test};

/// The test.
#[derive(Default)]
pub struct FileIo {
    folder: PathBuf,
    configured: Option<(Arc<Context>, Plan)>,
    /// What a run shares with its workers, once it began.
    shared: Option<Arc<Shared>>,
}

impl FileIo {
    /// The test in a folder of its own instead of the current one.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self {
            folder,
            ..Self::default()
        }
    }

    fn configured(&self) -> (&Arc<Context>, Files<'_>) {
        let (context, plan) = self.configured.as_ref().expect("configured");
        let files = Files {
            folder: &self.folder,
            plan,
            log: &context.log,
            seed: context.seed,
        };
        (context, files)
    }

    /// Without a mode there is no run.
    fn mode_missing(&self, log: &Log) -> Exit {
        let exit = log.fatal("Missing required argument: --file-test-mode\n");
        log.print(format_args!("fileio options:\n{}\n", help::table(&self.options())));
        exit
    }

    fn request_bytes(&self) -> f64 {
        let shared = self.shared.as_ref().expect("there is a run");
        shared.traffic.request_bytes(shared.plan.block_bytes)
    }
}

impl Test for FileIo {
    fn name(&self) -> String {
        "fileio".to_owned()
    }

    fn options(&self) -> Vec<OptionSpec> {
        plan::options()
    }

    fn configure(&mut self, context: &Arc<Context>) -> Result<(), Exit> {
        self.configured = Some((Arc::clone(context), Plan::read(context)?));
        Ok(())
    }

    fn command(&mut self, name: &str) -> Option<Result<(), Exit>> {
        let (_, files) = self.configured();
        match name {
            "prepare" => Some(files.prepare()),
            "cleanup" => Some(files.cleanup()),
            _ => None,
        }
    }

    fn begin(&mut self) -> Result<Run, Exit> {
        let (context, files) = self.configured();
        let plan = files.plan;
        let mode = plan.mode.ok_or_else(|| self.mode_missing(&context.log))?;
        let is_mapped = plan.io_mode == IoMode::Mmap;
        let opened = match mode {
            Mode::SeqWr => files.recreate(is_mapped),
            _ => files.open_all(),
        }?;
        let map_bytes = (plan.file_blocks() * plan.block_bytes) as usize;
        let map = |file| Map::new(file, map_bytes, mode.writes());
        let maps = if is_mapped {
            let mapped: Result<_, _> = opened.iter().map(map).collect();
            mapped.map_err(|error| context.log.fatal(format!("mmap() failed: {}", files::errno(&error))))?
        } else {
            vec![]
        };
        let shared = Arc::new(Shared {
            context: Arc::clone(context),
            plan: plan.clone(),
            files: opened,
            maps,
            queue: Mutex::new(Queue::new(plan, mode)),
            busy: Mutex::new(HashSet::new()),
            traffic: Traffic::default(),
        });
        let shown = plan.shown(mode);
        self.shared = Some(Arc::clone(&shared));
        Ok(Run {
            factory: Box::new(worker::Factory(shared)),
            events_max: None,
            mode: shown,
        })
    }

    fn intermediate(&mut self, stat: &Stat, log: &Log) {
        report::intermediate(stat, self.request_bytes(), log);
    }

    fn cumulative(&mut self, stat: &Stat, log: &Log) {
        let shared = self.shared.as_ref().expect("there is a run");
        let end_syncs_count = shared.traffic.end_syncs_count.load(Ordering::Relaxed);
        report::cumulative(stat, end_syncs_count, self.request_bytes(), log);
    }
}

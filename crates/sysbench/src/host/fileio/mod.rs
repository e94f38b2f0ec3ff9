//! The test `fileio`: reads and writes of files in the current folder.

mod plan;
mod report;
mod size;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use plimsoll_host_tests::fileio::{self, Action, FileFault, Files, Mode, Plan, Step, errno, name};

use super::logged::Logged;
use super::setup;
use crate::exit::Exit;
use crate::log::{Level, Log};
use crate::options::{OptionSpec, help};
use crate::report::Stat;
use crate::test::{Context, Run, Test};

/// The test.
#[derive(Default)]
pub struct FileIo {
    folder: PathBuf,
    configured: Option<(Arc<Context>, Plan)>,
    /// Once it began.
    run: Option<fileio::Run>,
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

    fn run(&self) -> &fileio::Run {
        self.run.as_ref().expect("there is a run")
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
        self.configured = Some((Arc::clone(context), plan::read(context)?));
        Ok(())
    }

    fn command(&mut self, name: &str) -> Option<Result<(), Exit>> {
        let (context, files) = self.configured();
        match name {
            "prepare" => Some(prepare(&files, &context.log)),
            "cleanup" => Some(cleanup(&files, &context.log)),
            _ => None,
        }
    }

    fn begin(&mut self) -> Result<Run, Exit> {
        let (context, files) = self.configured();
        let plan = files.plan;
        let mode = plan.mode.ok_or_else(|| self.mode_missing(&context.log))?;
        let run = fileio::Run::begin(&files, mode).map_err(|fault| say_unready(&fault, mode, &context.log))?;
        let started = Run {
            factory: Box::new(Logged {
                factory: run.factory(setup(context).stack_bytes),
                log: Arc::clone(&context.log),
            }),
            events_max: None,
            mode: plan::shown(plan, mode, context.options.int("events")),
        };
        self.run = Some(run);
        Ok(started)
    }

    fn intermediate(&mut self, stat: &Stat, log: &Log) {
        report::intermediate(stat, self.run().request_bytes(), log);
    }

    fn cumulative(&mut self, stat: &Stat, log: &Log) {
        let run = self.run();
        report::cumulative(stat, run.end_syncs_count(), run.request_bytes(), log);
    }
}

fn prepare(files: &Files<'_>, log: &Log) -> Result<(), Exit> {
    let notice = |message: String| log.line(Level::Notice, message);
    let (each, count) = (files.plan.file_bytes(), files.plan.files_count);
    let total_mib = each * u64::from(count) / (1 << 20);
    notice(format!("{count} files, {}Kb each, {total_mib}Mb total", each / 1024));
    notice("Creating files for the test...".to_owned());
    notice(plan::shown_flags(files.plan.flags));
    let begin = Instant::now();
    let tell = |step, file| {
        let doing = match step {
            Step::Create => "Creating file",
            Step::Reuse => "Reusing existing file",
            Step::Extend => "Extending existing file",
        };
        notice(format!("{doing} {}", name(file)));
    };
    let written_bytes = files.prepare(tell).map_err(|fault| say(&fault, log))?;
    let seconds = begin.elapsed().as_secs_f64();
    if written_bytes == 0 {
        notice("No bytes written.".to_owned());
    } else {
        let mib_per_s = written_bytes as f64 / f64::from(1 << 20) / seconds;
        notice(format!(
            "{written_bytes} bytes written in {seconds:.2} seconds ({mib_per_s:.2} MiB/sec)."
        ));
    }
    Ok(())
}

fn cleanup(files: &Files<'_>, log: &Log) -> Result<(), Exit> {
    log.line(Level::Notice, "Removing test files...");
    files.remove().map_err(|fault| say(&fault, log))
}

/// Says why files are not as they should be.
fn say(fault: &FileFault, log: &Log) -> Exit {
    match fault {
        FileFault::Failed { action, file, error } => {
            let what = match action {
                Action::Open => "Cannot open",
                Action::Measure => "Failed to look at",
                Action::Write => "Failed to write",
                Action::Allocate => "Failed to allocate",
                Action::Remove => "Cannot remove",
            };
            log.fatal(format_args!("{what} file '{}' {}", name(*file), errno(error)))
        }
        FileFault::Short {
            file,
            found_bytes,
            expected_bytes,
        } => {
            let (found, expected) = (size::shown(*found_bytes), size::shown(*expected_bytes));
            let name = name(*file);
            log.fatal(format_args!(
                "Size of file '{name}' is {found}, but at least {expected} is expected."
            ))
        }
        FileFault::Map(error) => log.fatal(format_args!("mmap() failed: {}", errno(error))),
    }
}

/// The same before a run, with what may be the cause.
fn say_unready(fault: &FileFault, mode: Mode, log: &Log) -> Exit {
    let exit = say(fault, log);
    match fault {
        FileFault::Failed {
            action: Action::Open, ..
        } if mode != Mode::SeqWr => log.text(Level::Warning, "Did you forget to run the prepare step?"),
        FileFault::Short { .. } => log.text(
            Level::Warning,
            "Did you run 'prepare' with different --file-total-size or --file-num values?",
        ),
        _ => {}
    }
    exit
}

//! What is asked of the test `fileio`, checked, and how it is told before a run.

use super::size;
use crate::exit::Exit;
use crate::options::{Kind, OptionSpec};
use crate::test::Context;

/// What is done to the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    SeqWr,
    SeqReWr,
    SeqRd,
    RndRd,
    RndWr,
    RndRw,
}

/// How it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IoMode {
    Sync,
    Async,
    Mmap,
}

/// When files are synchronised with the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Syncs {
    /// After so many requests; 0 for never.
    pub(super) every: u64,
    /// After each write, and at no other time.
    pub(super) after_write: bool,
    /// When all is done.
    pub(super) at_end: bool,
    /// Without what is not needed to read the data again.
    pub(super) is_data_only: bool,
}

/// The whole.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) files_count: u32,
    /// Length of a request where none are merged, bytes.
    pub(super) block_bytes: u64,
    /// Of all files, bytes.
    pub(super) total_bytes: u64,
    /// Absent unless there is a run.
    pub(super) mode: Option<Mode>,
    pub(super) io_mode: IoMode,
    /// Requests that wait at once in a thread, for asynchronous ones.
    pub(super) backlog_count: usize,
    pub(super) flags: Flags,
    pub(super) syncs: Syncs,
    /// Blocks of a sequential request.
    pub(super) merged_count: u64,
    /// Reads for each write where both are done.
    pub(super) rw_ratio: f64,
    /// Whether blocks carry checksums.
    pub(super) is_validated: bool,
    events_max: i64,
}

const MODES: [(&str, Mode, &str); 6] = [
    ("seqwr", Mode::SeqWr, "sequential write (creation)"),
    ("seqrewr", Mode::SeqReWr, "sequential rewrite"),
    ("seqrd", Mode::SeqRd, "sequential read"),
    ("rndrd", Mode::RndRd, "random read"),
    ("rndwr", Mode::RndWr, "random write"),
    ("rndrw", Mode::RndRw, "random r/w"),
];

/// With the names under which they are told.
const FLAGS: [(&str, i32, &str); 3] = [
    ("sync", libc::O_SYNC, "sync "),
    ("dsync", libc::O_DSYNC, "dsync "),
    ("direct", libc::O_DIRECT, "directio "),
];

/// How files are opened.
#[derive(Clone, Debug, Default)]
pub(super) struct Flags {
    pub(super) bits: i32,
    names: String,
}

impl Flags {
    /// The line that tells them.
    pub(super) fn shown(&self) -> String {
        let names = if self.names.is_empty() { "(none)" } else { &self.names };
        format!("Extra file open flags: {names}")
    }
}

impl Mode {
    /// Whether it writes.
    pub(super) fn writes(self) -> bool {
        !matches!(self, Self::SeqRd | Self::RndRd)
    }

    /// Whether requests go from block to block.
    pub(super) fn is_sequential(self) -> bool {
        matches!(self, Self::SeqWr | Self::SeqReWr | Self::SeqRd)
    }
}

impl Plan {
    /// Reads the options.
    ///
    /// # Errors
    /// What makes no sense; said in the log.
    pub(super) fn read(context: &Context) -> Result<Self, Exit> {
        let options = &context.options;
        let invalid = |message: String| context.log.fatal(message);
        let at_least = |name: &str, min: i64, end: &str| {
            let value = options.int(name);
            let message = format!("Invalid value for {name}: {value}{end}");
            (value >= min).then_some(value as u64).ok_or_else(|| invalid(message))
        };
        let files_count = at_least("file-num", 1, "")?;
        let files_count =
            u32::try_from(files_count).map_err(|_| invalid(format!("Invalid value for file-num: {files_count}")))?;
        let (total_bytes, block_bytes) = (options.size("file-total-size"), options.size("file-block-size"));
        if total_bytes == 0 {
            return Err(invalid("Invalid value for file-total-size: 0".to_owned()));
        }
        if block_bytes == 0 || block_bytes > 1 << 30 {
            return Err(invalid(format!("Invalid value for file-block-size: {block_bytes}.")));
        }
        let rw_ratio = options.double("file-rw-ratio");
        if !(rw_ratio >= 0.0 && rw_ratio.is_finite()) {
            return Err(invalid(format!("Invalid value for --file-rw-ratio: {rw_ratio:.6}.")));
        }
        let io_mode = io_mode(options.string("file-io-mode")).map_err(invalid)?;
        let backlog_min = i64::from(io_mode == IoMode::Async);
        let plan = Self {
            files_count,
            block_bytes,
            total_bytes,
            mode: mode(options.string("file-test-mode")).map_err(invalid)?,
            io_mode,
            backlog_count: at_least("file-async-backlog", backlog_min, ".")? as usize,
            flags: flags(options.list("file-extra-flags")).map_err(invalid)?,
            syncs: Syncs {
                every: at_least("file-fsync-freq", 0, ".")?,
                after_write: options.bool("file-fsync-all"),
                at_end: options.bool("file-fsync-end"),
                is_data_only: is_data_only(options.string("file-fsync-mode")).map_err(invalid)?,
            }
            .settled(),
            merged_count: at_least("file-merged-requests", 0, ".")?.clamp(1, 1 << 20),
            rw_ratio,
            is_validated: options.bool("validate"),
            events_max: options.int("events"),
        };
        plan.fault().map_or(Ok(plan), |fault| Err(invalid(fault)))
    }

    /// What makes no sense together.
    fn fault(&self) -> Option<String> {
        if self.file_blocks() == 0 {
            return Some(format!(
                "Files of {} cannot hold a block of {}: use a larger --file-total-size, or a smaller --file-num or \
                 --file-block-size",
                size::shown(self.file_bytes()),
                size::shown(self.block_bytes)
            ));
        }
        if self.request_bytes_max() > 1 << 30 {
            return Some("Merged requests are longer than 1GiB: use a smaller --file-merged-requests".to_owned());
        }
        if self.is_validated && self.block_bytes < super::checksum::BLOCK_BYTES_MIN {
            let min = super::checksum::BLOCK_BYTES_MIN;
            return Some(format!("--validate needs a --file-block-size of at least {min} bytes"));
        }
        (self.flags.bits & libc::O_DIRECT != 0 && self.block_bytes % 512 != 0)
            .then(|| "--file-extra-flags=direct needs a --file-block-size that is a multiple of 512".to_owned())
    }

    /// Length of a file as it is told and expected, bytes.
    pub(super) fn file_bytes(&self) -> u64 {
        self.total_bytes / u64::from(self.files_count)
    }

    /// Whole blocks of a file.
    pub(super) fn file_blocks(&self) -> u64 {
        self.file_bytes() / self.block_bytes
    }

    /// The longest request, bytes.
    pub(super) fn request_bytes_max(&self) -> u64 {
        let is_merged = self.mode.is_some_and(Mode::is_sequential);
        self.block_bytes * if is_merged { self.merged_count } else { 1 }
    }

    /// The lines before a run.
    pub(super) fn shown(&self, mode: Mode) -> String {
        let mut lines = vec![
            self.flags.shown(),
            format!("{} files, {} each", self.files_count, size::shown(self.file_bytes())),
            format!(
                "{} total file size",
                size::shown(self.file_bytes() * u64::from(self.files_count))
            ),
            format!("Block size {}", size::shown(self.block_bytes)),
        ];
        if self.merged_count > 1 {
            let most = size::shown(self.block_bytes * self.merged_count);
            lines.push(format!("Merging requests up to {most} for sequential IO."));
        }
        if !mode.is_sequential() {
            lines.push(format!("Number of IO requests: {}", self.events_max));
            let ratio = self.rw_ratio;
            lines.push(format!("Read/Write ratio for combined random IO test: {ratio:.2}"));
        }
        lines.extend(self.syncs.shown());
        lines.push(
            match self.io_mode {
                IoMode::Sync => "Using synchronous I/O mode",
                IoMode::Async => "Using asynchronous I/O mode",
                IoMode::Mmap => "Using fast mmaped I/O mode",
            }
            .to_owned(),
        );
        if self.is_validated {
            lines.push("Using checksums validation.".to_owned());
        }
        lines.push(format!("Doing {} test\n", MODES[mode as usize].2));
        lines.join("\n")
    }
}

impl Syncs {
    /// One after each write makes the others needless.
    fn settled(self) -> Self {
        if !self.after_write {
            return self;
        }
        Self {
            every: 0,
            at_end: false,
            ..self
        }
    }

    fn shown(self) -> Vec<String> {
        let mut lines = vec![];
        if self.after_write {
            lines.push("Calling fsync() after each write operation.".to_owned());
        }
        if self.every > 0 {
            let every = self.every;
            lines.push(format!(
                "Periodic FSYNC enabled, calling fsync() each {every} requests."
            ));
        }
        if self.at_end {
            lines.push("Calling fsync() at the end of test, Enabled.".to_owned());
        }
        lines
    }
}

fn mode(name: &str) -> Result<Option<Mode>, String> {
    if name.is_empty() {
        return Ok(None);
    }
    let found = MODES.iter().find(|(known, _, _)| *known == name);
    found
        .map(|(_, mode, _)| Some(*mode))
        .ok_or_else(|| format!("Invalid IO operations mode: {name}."))
}

fn io_mode(name: &str) -> Result<IoMode, String> {
    match name {
        "sync" | "" => Ok(IoMode::Sync),
        "async" => Ok(IoMode::Async),
        "mmap" => Ok(IoMode::Mmap),
        _ => Err(format!("unknown I/O mode: {name}")),
    }
}

fn is_data_only(name: &str) -> Result<bool, String> {
    match name {
        "fsync" => Ok(false),
        "fdatasync" => Ok(true),
        _ => Err(format!("Invalid fsync mode: {name}.")),
    }
}

fn flags(given: &[String]) -> Result<Flags, String> {
    let mut flags = Flags::default();
    for (name, bits, shown) in FLAGS {
        if given.iter().any(|one| one == name) {
            flags.bits |= bits;
            flags.names += shown;
        }
    }
    let unknown = given.iter().find(|one| FLAGS.iter().all(|(name, _, _)| name != one));
    unknown.map_or(Ok(flags), |name| {
        Err(format!("Invalid value for file-extra-flags: {name}"))
    })
}

/// The options of the test.
pub(super) fn options() -> Vec<OptionSpec> {
    let with = OptionSpec::new;
    vec![
        with("file-num", Kind::Int, "128", "number of files to create"),
        with(
            "file-block-size",
            Kind::Size,
            "16384",
            "block size to use in all IO operations",
        ),
        with("file-total-size", Kind::Size, "2G", "total size of files to create"),
        OptionSpec::without_default(
            "file-test-mode",
            Kind::String,
            "test mode {seqwr, seqrewr, seqrd, rndrd, rndwr, rndrw}",
        ),
        with(
            "file-io-mode",
            Kind::String,
            "sync",
            "file operations mode {sync,async,mmap}",
        ),
        with(
            "file-async-backlog",
            Kind::Int,
            "128",
            "number of asynchronous operations to queue per thread",
        ),
        with(
            "file-extra-flags",
            Kind::List,
            "",
            "list of additional flags to use to open files {sync,dsync,direct}",
        ),
        with(
            "file-fsync-freq",
            Kind::Int,
            "100",
            "do fsync() after this number of requests (0 - don't use fsync())",
        ),
        with(
            "file-fsync-all",
            Kind::Bool,
            "off",
            "do fsync() after each write operation",
        ),
        with("file-fsync-end", Kind::Bool, "on", "do fsync() at the end of test"),
        with(
            "file-fsync-mode",
            Kind::String,
            "fsync",
            "which method to use for synchronization {fsync, fdatasync}",
        ),
        with(
            "file-merged-requests",
            Kind::Int,
            "0",
            "merge at most this number of IO requests if possible (0 - don't merge)",
        ),
        with(
            "file-rw-ratio",
            Kind::Double,
            "1.5",
            "reads/writes ratio for combined test",
        ),
    ]
}

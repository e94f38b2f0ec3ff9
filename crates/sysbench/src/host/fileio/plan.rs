//! What is asked of the test `fileio`, checked, and how it is told before a run.

use plimsoll_host_tests::fileio::{CHECKED_BLOCK_BYTES_MIN, IoMode, Mode, OpenFlags, Plan, Syncs};

use super::size;
use crate::exit::Exit;
use crate::options::{Kind, OptionSpec};
use crate::test::Context;

const MODES: [(&str, Mode, &str); 6] = [
    ("seqwr", Mode::SeqWr, "sequential write (creation)"),
    ("seqrewr", Mode::SeqReWr, "sequential rewrite"),
    ("seqrd", Mode::SeqRd, "sequential read"),
    ("rndrd", Mode::RndRd, "random read"),
    ("rndwr", Mode::RndWr, "random write"),
    ("rndrw", Mode::RndRw, "random r/w"),
];

/// Reads the options.
///
/// # Errors
/// What makes no sense; said in the log.
pub(super) fn read(context: &Context) -> Result<Plan, Exit> {
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
    let plan = Plan {
        files_count,
        block_bytes,
        total_bytes,
        mode: mode(options.string("file-test-mode")).map_err(invalid)?,
        io_mode,
        backlog_count: at_least("file-async-backlog", backlog_min, ".")? as usize,
        flags: flags(options.list("file-extra-flags")).map_err(invalid)?,
        syncs: settled(Syncs {
            every: at_least("file-fsync-freq", 0, ".")?,
            after_write: options.bool("file-fsync-all"),
            at_end: options.bool("file-fsync-end"),
            is_data_only: is_data_only(options.string("file-fsync-mode")).map_err(invalid)?,
        }),
        merged_count: at_least("file-merged-requests", 0, ".")?.clamp(1, 1 << 20),
        rw_ratio,
        is_validated: options.bool("validate"),
    };
    fault(&plan).map_or(Ok(plan), |fault| Err(invalid(fault)))
}

/// What makes no sense together.
fn fault(plan: &Plan) -> Option<String> {
    if plan.file_blocks() == 0 {
        return Some(format!(
            "Files of {} cannot hold a block of {}: use a larger --file-total-size, or a smaller --file-num or \
             --file-block-size",
            size::shown(plan.file_bytes()),
            size::shown(plan.block_bytes)
        ));
    }
    if plan.request_bytes_max() > 1 << 30 {
        return Some("Merged requests are longer than 1GiB: use a smaller --file-merged-requests".to_owned());
    }
    if plan.is_validated && plan.block_bytes < CHECKED_BLOCK_BYTES_MIN {
        let min = CHECKED_BLOCK_BYTES_MIN;
        return Some(format!("--validate needs a --file-block-size of at least {min} bytes"));
    }
    (plan.flags.direct && plan.block_bytes % 512 != 0)
        .then(|| "--file-extra-flags=direct needs a --file-block-size that is a multiple of 512".to_owned())
}

/// The lines before a run.
pub(super) fn shown(plan: &Plan, mode: Mode, events_max: i64) -> String {
    let mut lines = vec![
        shown_flags(plan.flags),
        format!("{} files, {} each", plan.files_count, size::shown(plan.file_bytes())),
        format!(
            "{} total file size",
            size::shown(plan.file_bytes() * u64::from(plan.files_count))
        ),
        format!("Block size {}", size::shown(plan.block_bytes)),
    ];
    if plan.merged_count > 1 {
        let most = size::shown(plan.block_bytes * plan.merged_count);
        lines.push(format!("Merging requests up to {most} for sequential IO."));
    }
    if !mode.is_sequential() {
        lines.push(format!("Number of IO requests: {events_max}"));
        let ratio = plan.rw_ratio;
        lines.push(format!("Read/Write ratio for combined random IO test: {ratio:.2}"));
    }
    lines.extend(shown_syncs(plan.syncs));
    lines.push(
        match plan.io_mode {
            IoMode::Sync => "Using synchronous I/O mode",
            IoMode::Async => "Using asynchronous I/O mode",
            IoMode::Mmap => "Using fast mmaped I/O mode",
        }
        .to_owned(),
    );
    if plan.is_validated {
        lines.push("Using checksums validation.".to_owned());
    }
    lines.push(format!("Doing {} test\n", MODES[mode as usize].2));
    lines.join("\n")
}

/// The line that tells how files are opened.
pub(super) fn shown_flags(flags: OpenFlags) -> String {
    let all = [
        (flags.sync, "sync "),
        (flags.dsync, "dsync "),
        (flags.direct, "directio "),
    ];
    let names: String = all
        .iter()
        .filter(|(is_set, _)| *is_set)
        .map(|(_, name)| *name)
        .collect();
    format!(
        "Extra file open flags: {}",
        if names.is_empty() { "(none)" } else { &names }
    )
}

fn shown_syncs(syncs: Syncs) -> Vec<String> {
    let mut lines = vec![];
    if syncs.after_write {
        lines.push("Calling fsync() after each write operation.".to_owned());
    }
    if syncs.every > 0 {
        let every = syncs.every;
        lines.push(format!(
            "Periodic FSYNC enabled, calling fsync() each {every} requests."
        ));
    }
    if syncs.at_end {
        lines.push("Calling fsync() at the end of test, Enabled.".to_owned());
    }
    lines
}

/// A synchronisation after each write makes the others needless.
fn settled(syncs: Syncs) -> Syncs {
    if !syncs.after_write {
        return syncs;
    }
    Syncs {
        every: 0,
        at_end: false,
        ..syncs
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

fn flags(given: &[String]) -> Result<OpenFlags, String> {
    let mut flags = OpenFlags::default();
    for name in given {
        match name.as_str() {
            "sync" => flags.sync = true,
            "dsync" => flags.dsync = true,
            "direct" => flags.direct = true,
            _ => return Err(format!("Invalid value for file-extra-flags: {name}")),
        }
    }
    Ok(flags)
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

//! What is done to files, and how.

/// What is done to the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// They are made, block by block.
    SeqWr,
    /// They are written again, block by block.
    SeqReWr,
    /// They are read, block by block.
    SeqRd,
    /// Blocks are read wherever chance leads.
    RndRd,
    /// Blocks are written wherever chance leads.
    RndWr,
    /// Both.
    RndRw,
}

/// How it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoMode {
    /// By calls that return when all is done.
    Sync,
    /// By calls that return at once.
    Async,
    /// By memory that is a file.
    Mmap,
}

/// When files are synchronised with the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syncs {
    /// After so many requests; 0 for never.
    pub every: u64,
    /// After each write. Other times are needless then.
    pub after_write: bool,
    /// When all is done.
    pub at_end: bool,
    /// Without what is not needed to read the data again.
    pub is_data_only: bool,
}

/// How files are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenFlags {
    /// `O_SYNC`.
    pub sync: bool,
    /// `O_DSYNC`.
    pub dsync: bool,
    /// `O_DIRECT`: requests are multiples of 512 bytes then.
    pub direct: bool,
}

/// The whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How many files, at least 1.
    pub files_count: u32,
    /// Length of a request where none are merged, bytes. A file has at least one.
    pub block_bytes: u64,
    /// Of all files, bytes.
    pub total_bytes: u64,
    /// Absent unless there is a run.
    pub mode: Option<Mode>,
    /// How it is done.
    pub io_mode: IoMode,
    /// Requests that wait at once in a thread, for asynchronous ones.
    pub backlog_count: usize,
    /// How files are opened.
    pub flags: OpenFlags,
    /// When they are synchronised.
    pub syncs: Syncs,
    /// Blocks of a sequential request, at least 1.
    pub merged_count: u64,
    /// Reads for each write where both are done.
    pub rw_ratio: f64,
    /// Whether blocks carry checksums. They have at least [`CHECKED_BLOCK_BYTES_MIN`](super::CHECKED_BLOCK_BYTES_MIN) then.
    pub is_validated: bool,
}

impl OpenFlags {
    pub(super) fn bits(self) -> i32 {
        let all = [
            (self.sync, libc::O_SYNC),
            (self.dsync, libc::O_DSYNC),
            (self.direct, libc::O_DIRECT),
        ];
        all.iter()
            .filter(|(is_set, _)| *is_set)
            .fold(0, |bits, (_, one)| bits | one)
    }
}

impl Mode {
    /// Whether it writes.
    pub fn writes(self) -> bool {
        !matches!(self, Self::SeqRd | Self::RndRd)
    }

    /// Whether requests go from block to block.
    pub fn is_sequential(self) -> bool {
        matches!(self, Self::SeqWr | Self::SeqReWr | Self::SeqRd)
    }
}

impl Plan {
    /// Length of a file as it is told and expected, bytes.
    pub fn file_bytes(&self) -> u64 {
        self.total_bytes / u64::from(self.files_count)
    }

    /// Whole blocks of a file.
    pub fn file_blocks(&self) -> u64 {
        self.file_bytes() / self.block_bytes
    }

    /// The longest request, bytes.
    pub fn request_bytes_max(&self) -> u64 {
        let is_merged = self.mode.is_some_and(Mode::is_sequential);
        self.block_bytes * if is_merged { self.merged_count } else { 1 }
    }
}

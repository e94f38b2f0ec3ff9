//! How a command ends when it does not end well.

/// The process ends with this code; why was logged already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(pub u8);

impl Exit {
    /// Whatever went wrong.
    pub const FAILED: Self = Self(1);
    /// Threads did not come up in time, or did not end in time.
    pub const FORCED: Self = Self(2);
}

//! How a worker that waits for a server is reached from another thread.

/// Cuts the connections of one worker, so that a call that waits for a server returns with an error. It must be safe to call
/// at any time, more than once, and after a reconnect it must mean the new connection.
pub struct Interrupter(Box<dyn Fn() + Send + Sync>);

impl Interrupter {
    /// Wraps the action.
    pub fn new(cut: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Box::new(cut))
    }

    /// For a worker that never waits for anybody.
    pub fn none() -> Self {
        Self::new(|| {})
    }

    /// Cuts.
    pub fn interrupt(&self) {
        (self.0)();
    }
}

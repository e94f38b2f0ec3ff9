//! How users go on by themselves: the one mechanism of pauses. Schedules ask it when a transaction is due; workers never
//! pause on their own, since a worker that pauses cannot claim what is due.

/// When users begin, and how long they pause. Pure: the same for the same user and index.
pub trait Pace: Send + Sync {
    /// The number of a user's first transaction, and when it is due, nanoseconds since trial start.
    fn begin(&self, user: u32) -> (u64, u64);

    /// From the end of a user's last transaction until number `index` is due, nanoseconds.
    fn pause_ns(&self, user: u32, index: u64) -> u64;

    /// Whether this transaction, once it is done, leaves work to be carried out in the background.
    fn leaves_work(&self, _user: u32, _index: u64) -> bool {
        false
    }
}

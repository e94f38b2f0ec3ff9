//! One transaction as planned and as it happened. The clock is not here: callers pass nanoseconds in.

/// One transaction as planned and as it happened: nanoseconds since trial start on one monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionTiming {
    /// When the schedule wanted it to start. In a closed loop that is the `done_ns` of the connection's last transaction, plus
    /// a think time if there is one; for the first transaction, when the loop began; after the connection was lost, when it was
    /// open again; in a duet, not before the turn began.
    pub due_ns: u64,
    /// When a connection was free for it: `due_ns` or later. A connection to a replica that the transaction had to wait for is
    /// free once it is open.
    pub free_ns: u64,
    /// When its first byte left this process, on the connection that was chosen for it and is open. The wait of a replica for
    /// the session's own writes is a statement of the transaction.
    pub sent_ns: u64,
    /// When the last byte of its last reply was read.
    pub done_ns: u64,
}

impl TransactionTiming {
    /// What a user waits, queueing inside the client included. This is what is reported.
    pub fn response_ns(self) -> u64 {
        self.assert_ordered();
        self.done_ns - self.due_ns
    }

    /// What the server and the way to it took.
    pub fn service_ns(self) -> u64 {
        self.assert_ordered();
        self.done_ns - self.sent_ns
    }

    /// From due until a connection was free: the server's slowness, or too few connections.
    pub fn pool_wait_ns(self) -> u64 {
        self.assert_ordered();
        self.free_ns - self.due_ns
    }

    /// From a free connection until the first byte left: the client's own slowness. In a closed loop the client's time
    /// between two transactions is in it.
    pub fn dispatch_delay_ns(self) -> u64 {
        self.assert_ordered();
        self.sent_ns - self.free_ns
    }

    fn assert_ordered(self) {
        assert!(
            self.due_ns <= self.free_ns && self.free_ns <= self.sent_ns && self.sent_ns <= self.done_ns,
            "a transaction's times are out of order: {self:?}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_time_is_pool_wait_plus_dispatch_delay_plus_service_time() {
        let timing = TransactionTiming {
            due_ns: 10,
            free_ns: 40,
            sent_ns: 45,
            done_ns: 145,
        };
        assert_eq!(timing.response_ns(), 135);
        assert_eq!(
            timing.pool_wait_ns() + timing.dispatch_delay_ns() + timing.service_ns(),
            135
        );
    }

    #[test]
    #[should_panic(expected = "out of order")]
    fn a_reply_before_the_request_is_a_programmer_error() {
        let _ = TransactionTiming {
            due_ns: 10,
            free_ns: 10,
            sent_ns: 20,
            done_ns: 15,
        }
        .response_ns();
    }
}

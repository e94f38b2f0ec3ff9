//! What is recorded of one server of a group: its transactions and errors, and its outages.

use crate::outages::Outages;
use crate::recorder::Recorder;
use crate::server::{GroupServer, ServerIndex};

/// One of a group's servers.
pub(crate) struct ServerRecord {
    pub(crate) server: GroupServer,
    pub(crate) recorder: Recorder,
    pub(crate) outages: Outages,
}

/// The servers of a group, the source first, which also has what belongs to no server.
pub(crate) struct ServerRecords(Box<[ServerRecord]>);

impl ServerRecords {
    /// Each server of a group once, one at least; the source comes first.
    pub(crate) fn new(records: impl IntoIterator<Item = ServerRecord>) -> Self {
        let records: Box<[ServerRecord]> = records.into_iter().collect();
        assert!(!records.is_empty(), "a group has a server");
        Self(records)
    }

    /// That of a server.
    pub(crate) fn of(&self, server: ServerIndex) -> &ServerRecord {
        &self.0[server.0]
    }

    /// The first.
    pub(crate) fn source(&self) -> &ServerRecord {
        &self.0[0]
    }

    /// All of them.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, ServerRecord> {
        self.0.iter()
    }
}

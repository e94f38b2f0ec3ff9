//! The servers of a group as a trial sees them: by place, with their names in results.

use std::sync::Arc;

use plimsoll_core::plan::Role;
use plimsoll_core::replication::ReplicationInterval;

/// One of a group's servers by its place; the source is the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerIndex(pub usize);

impl ServerIndex {
    /// The source.
    pub const SOURCE: Self = Self(0);
}

/// A server of a group.
#[derive(Clone)]
pub struct GroupServer {
    /// What its connections are for.
    pub role: Role,
    /// Its name in results; that of the group if absent.
    pub instance: Option<String>,
    /// Tells of a replica how far it is behind.
    pub replica: Option<Arc<dyn ReplicaTally>>,
}

impl GroupServer {
    /// The one server of a group without replicas.
    pub fn source() -> Self {
        Self {
            role: Role::Source,
            instance: None,
            replica: None,
        }
    }
}

/// Counts what became of reads on a replica.
pub trait ReplicaTally: Send + Sync {
    /// What was since the last call.
    fn take(&self) -> ReplicationInterval;
}

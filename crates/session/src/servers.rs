//! The servers of one group: how to reach each, and what its sessions, its heartbeat and the trial share about replicas.

use std::sync::Arc;

use plimsoll_core::plan::{ReadsPlan, Role, RoleTarget, Target};
use plimsoll_engine::{GroupServer, ReplicaTally, ServerIndex};
use plimsoll_wire::Connector;

use crate::clock::{Clock, Connect, MachineClock};
use crate::replicas::{Beats, Replica};

/// As many replicas as a group may have.
const REPLICAS_MAX: usize = 16;

/// The servers of a group, the source first.
#[derive(Clone)]
pub struct GroupServers {
    pub(crate) servers: Arc<[Server]>,
    /// How reads are spread; `None` where they stay on the source.
    pub(crate) reads: Option<ReadsPlan>,
    pub(crate) beats: Arc<Beats>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// One of them.
pub(crate) struct Server {
    pub(crate) role: Role,
    pub(crate) instance: Option<String>,
    pub(crate) connector: Arc<dyn Connect>,
    /// What is known of it, if it is a replica.
    pub(crate) replica: Option<Arc<Replica>>,
}

impl GroupServers {
    /// Servers with these targets. Nothing is connected yet. What is wrong with them is told by [`Self::faults`].
    pub fn new(targets: &[RoleTarget], reads: Option<ReadsPlan>) -> Self {
        Self::with(targets, reads, Arc::new(MachineClock), &|target| {
            Arc::new(Connector::new(target.clone()))
        })
    }

    /// The same under another clock, and reached in another way.
    pub fn with(
        targets: &[RoleTarget],
        reads: Option<ReadsPlan>,
        clock: Arc<dyn Clock>,
        connect: &dyn Fn(&Target) -> Arc<dyn Connect>,
    ) -> Self {
        let beats = Arc::new(Beats::new(&clock));
        let of_role = |role: Role| targets.iter().filter(move |one| one.role == role);
        let server = |one: &RoleTarget| Server {
            role: one.role,
            instance: one.instance.clone(),
            connector: connect(&one.target),
            replica: (one.role == Role::Replica).then(|| Arc::new(Replica::new(&beats))),
        };
        Self {
            servers: of_role(Role::Source)
                .chain(of_role(Role::Replica))
                .map(server)
                .collect(),
            reads,
            beats,
            clock,
        }
    }

    /// What is wrong with the servers of a group; nothing where they make sense.
    pub fn faults(&self) -> Vec<String> {
        let replicas = self.replicas().count();
        let mut faults = Vec::new();
        match self.servers.len() - replicas {
            0 => faults.push("group.targets: one of them must have the role `source`, none has".to_owned()),
            1 => {}
            count => faults.push(format!(
                "group.targets: {count} have the role `source`; a group has one"
            )),
        }
        if replicas > REPLICAS_MAX {
            faults.push(format!(
                "group.targets: must be at most {REPLICAS_MAX} replicas, are {replicas}"
            ));
        }
        let unnamed = self.replicas().any(|(_, server)| server.instance.is_none());
        if unnamed && replicas > 1 {
            faults.push("group.targets: each of several replicas must have an instance of its own name".to_owned());
        }
        if self.reads.is_some_and(|reads| reads.wait_timeout_ms == 0) {
            faults.push("group.reads.wait_timeout_ms: must be at least 1, is 0".to_owned());
        }
        faults
    }

    /// Whether there are replicas.
    pub fn has_replicas(&self) -> bool {
        self.replicas().next().is_some()
    }

    /// Whether reads go to replicas.
    pub fn spreads_reads(&self) -> bool {
        self.reads.is_some() && self.has_replicas()
    }

    /// Whether each replica shows a heartbeat of this trial.
    pub fn shows_a_beat(&self) -> bool {
        self.replicas().all(|(server, _)| self.replica(server).shown_ns() > 0)
    }

    /// As a trial sees them.
    pub fn of_trial(&self) -> Vec<GroupServer> {
        let server = |one: &Server| GroupServer {
            role: one.role,
            instance: one.instance.clone(),
            replica: one.replica.clone().map(|replica| replica as Arc<dyn ReplicaTally>),
        };
        self.servers.iter().map(server).collect()
    }

    pub(crate) fn at(&self, server: ServerIndex) -> &Server {
        &self.servers[server.0]
    }

    /// What is known of a replica.
    pub(crate) fn replica(&self, server: ServerIndex) -> &Replica {
        let replica = self.at(server).replica.as_deref();
        replica.expect("asked of replicas only")
    }

    pub(crate) fn replicas(&self) -> impl Iterator<Item = (ServerIndex, &Server)> {
        let servers = self.servers.iter().enumerate();
        let replicas = servers.filter(|(_, server)| server.role == Role::Replica);
        replicas.map(|(place, server)| (ServerIndex(place), server))
    }
}

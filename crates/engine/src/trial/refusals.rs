//! Why connections did not come.

use std::collections::BTreeMap;
use std::sync::Mutex;

use plimsoll_core::connections::ConnectFailure;
use plimsoll_core::lock::lock;

use crate::fault::WorkerFault;
use crate::server::ServerIndex;
use crate::server_record::ServerRecords;

/// Why connections of one group did not come, the first fault of each server and code.
#[derive(Default)]
pub(super) struct Refusals(Mutex<BTreeMap<Reason, (u64, WorkerFault)>>);

/// The server, and the code that it gave.
type Reason = (ServerIndex, Option<u16>);

impl Refusals {
    /// Takes note of `count` connections that did not come.
    pub(super) fn add(&self, fault: WorkerFault, count: u64) {
        let mut refusals = lock(&self.0);
        let key = (fault.server.unwrap_or_default(), fault.code);
        refusals.entry(key).or_insert((0, fault)).0 += count;
    }

    /// All of them, for `ready`.
    pub(super) fn failures(&self, instance: &str, servers: &ServerRecords) -> Vec<ConnectFailure> {
        let refusals = lock(&self.0);
        let failure = |((server, code), (count, fault)): (&Reason, &(u64, WorkerFault))| {
            let server = &servers.of(*server).server;
            ConnectFailure {
                instance: server.instance.clone().unwrap_or_else(|| instance.to_owned()),
                role: server.role,
                code: *code,
                count: *count,
                message: fault.message.clone(),
            }
        };
        refusals.iter().map(failure).collect()
    }

    /// The most frequent one.
    pub(super) fn main_fault(&self) -> Option<WorkerFault> {
        let refusals = lock(&self.0);
        let main = refusals.values().max_by_key(|(count, _)| *count);
        main.map(|(_, fault)| fault.clone())
    }
}

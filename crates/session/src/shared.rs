//! What the sessions of one group share.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::random::{keyed, unit};
use plimsoll_wire::Watch;

use crate::servers::GroupServers;
use crate::statement::Statements;
use crate::terms::Terms;

/// The streams of pauses before another attempt to connect, one for each worker.
const ATTEMPTS: u64 = 7 << 32;

/// Its servers, the statements, and what is done about errors.
pub(crate) struct Shared {
    pub(crate) servers: GroupServers,
    pub(crate) statements: Arc<Statements>,
    pub(crate) terms: Terms,
    pub(crate) watch: Option<Watch>,
    seed: u64,
}

impl Shared {
    pub(crate) fn new(servers: &GroupServers, statements: Arc<Statements>, terms: Terms, seed: u64) -> Self {
        Self {
            servers: servers.clone(),
            statements,
            watch: terms.read_timeout.map(Watch::new),
            terms,
            seed,
        }
    }

    /// The pause of a worker after `count` attempts to connect again have failed since the last one that succeeded. Connections
    /// that were lost together must not come back together, so each has a random half of it to itself.
    pub(crate) fn reconnect_pause(&self, worker: u32, count: u32) -> Duration {
        let pause = self.terms.reconnect.pause(count);
        let mut random = keyed(self.seed, ATTEMPTS + u64::from(worker), u64::from(count));
        pause.mul_f64(0.5 + unit(&mut random) / 2.0)
    }
}

//! Which replica takes the next read of one session, and what the session remembers of its writes for that.
//!
//! Deliberately not here: opening connections (see `session`).

use std::fmt::Write as _;

use plimsoll_core::plan::{ReadPolicy, ReadYourWrites, ReadsPer, ReadsPlan};
use plimsoll_engine::ServerIndex;
use plimsoll_wire::{Connection, FirstRow, Flavour, Sink, Value, WireError};

use crate::servers::GroupServers;

/// The name of the column that says how a wait ended.
const WAITED: &str = "waited";

/// The choices of one session. Nothing is allocated for a choice but for a statement longer than any before.
pub(crate) struct Spread {
    pub(crate) plan: ReadsPlan,
    replicas: u32,
    /// The place among the replicas that is next in turn.
    turn: u32,
    /// The place of the replica that the session keeps; `None` where one is chosen for each transaction.
    home: Option<u32>,
    /// When the session's last write was acknowledged; 0 before the first.
    pub(crate) written_ns: u64,
    writes_count: u64,
    /// The GTID of that write, where it is waited for.
    gtid: String,
    /// By replica.
    places: Box<[Place]>,
    sql: String,
    answer: FirstRow,
}

/// What a session remembers of one replica.
#[derive(Clone, Copy, Default)]
struct Place {
    /// The write that it is known to have.
    has_write: u64,
    /// Not before then another attempt to connect.
    retry_ns: u64,
    /// Attempts since the last transaction that succeeded there.
    attempts: u32,
}

impl Spread {
    /// The choices of a worker: workers begin with different replicas.
    pub(crate) fn new(servers: &GroupServers, worker: u32) -> Option<Self> {
        let plan = servers.reads.filter(|_| servers.has_replicas())?;
        let replicas = servers.replicas().count() as u32;
        let turn = worker % replicas;
        Some(Self {
            plan,
            replicas,
            turn,
            home: (plan.per == ReadsPer::Connection).then_some(turn),
            written_ns: 0,
            writes_count: 0,
            gtid: String::new(),
            places: vec![Place::default(); replicas as usize].into(),
            sql: String::new(),
            answer: FirstRow::new(vec![WAITED.to_owned()]),
        })
    }

    /// Whether the session begins with a connection to this server.
    pub(crate) fn begins_with(&self, server: ServerIndex) -> bool {
        self.home.is_none_or(|home| server == at(home))
    }

    /// The next candidate that `is_tried` does not hold; `None` when all are tried. One that is kept comes first.
    pub(crate) fn candidate(&mut self, servers: &GroupServers, tried: u32) -> Option<ServerIndex> {
        let is_free = |place: u32| tried & 1 << place == 0;
        if let Some(home) = self.home.filter(|home| is_free(*home)) {
            return Some(at(home));
        }
        let (turn, replicas) = (self.turn, self.replicas);
        let mut in_turn = (0..replicas)
            .map(|step| (turn + step) % replicas)
            .filter(|place| is_free(*place));
        let chosen = match self.plan.policy {
            ReadPolicy::RoundRobin => in_turn.next(),
            ReadPolicy::LeastOutstanding => in_turn.min_by_key(|place| servers.replica(at(*place)).outstanding()),
        }?;
        self.turn = (chosen + 1) % replicas;
        Some(at(chosen))
    }

    /// Whether it is time for another attempt to connect to this replica.
    pub(crate) fn may_connect(&self, server: ServerIndex, now_ns: u64) -> bool {
        now_ns >= self.places[place(server)].retry_ns
    }

    /// The connection to this replica is gone, or did not come: after the pause that `pause_ns` gives for so many
    /// attempts, another may be made.
    pub(crate) fn lost(&mut self, server: ServerIndex, now_ns: u64, pause_ns: impl FnOnce(u32) -> u64) {
        let one = &mut self.places[place(server)];
        one.retry_ns = now_ns + pause_ns(one.attempts);
        one.attempts = one.attempts.saturating_add(1);
    }

    /// A transaction succeeded on this replica.
    #[inline]
    pub(crate) fn succeeded(&mut self, server: ServerIndex) {
        self.places[place(server)].attempts = 0;
    }

    /// The session's transaction was committed on the source.
    pub(crate) fn wrote(&mut self, now_ns: u64, source: Option<&Connection>) {
        self.written_ns = now_ns;
        self.writes_count += 1;
        if self.plan.read_your_writes == ReadYourWrites::Wait {
            self.gtid.clear();
            self.gtid.push_str(source.map_or("", Connection::last_gtid));
        }
    }

    /// Whether the session's last write must be waited for on this replica.
    pub(crate) fn must_wait(&self, server: ServerIndex) -> bool {
        !self.gtid.is_empty() && self.places[place(server)].has_write < self.writes_count
    }

    /// Waits until the replica has the session's last write; false when it took too long.
    ///
    /// # Errors
    /// Whatever the server answered, or that the connection was lost.
    pub(crate) fn wait(&mut self, server: ServerIndex, replica: &mut Connection) -> Result<bool, WireError> {
        let limit_s = f64::from(self.plan.wait_timeout_ms) / 1e3;
        let function = match replica.server().flavour {
            Flavour::MySql => "WAIT_FOR_EXECUTED_GTID_SET",
            Flavour::MariaDb => "MASTER_GTID_WAIT",
        };
        self.sql.clear();
        let written = write!(self.sql, "SELECT {function}('{}', {limit_s}) AS {WAITED}", self.gtid);
        written.expect("a string takes all that is written");
        replica.run(&*self.sql, &[], Sink::First(&mut self.answer))?;
        let has_it = self.answer.values_mut()[0].value() == Value::Int(0);
        if has_it {
            self.places[place(server)].has_write = self.writes_count;
        }
        Ok(has_it)
    }
}

/// The server of a place among the replicas: these come after the source.
fn at(place: u32) -> ServerIndex {
    ServerIndex(place as usize + 1)
}

fn place(server: ServerIndex) -> usize {
    server.0 - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::plan::{Endpoint, Role, RoleTarget, Secret, ServerKey, Target, Tls};

    fn servers(plan: ReadsPlan) -> GroupServers {
        let target = |role| RoleTarget {
            role,
            instance: None,
            target: Target {
                endpoint: Endpoint::Socket { path: "/s".into() },
                user: String::new(),
                password: Secret::default(),
                database: String::new(),
                tls: Tls::Disabled,
                server_key: ServerKey::None,
            },
        };
        let roles = [Role::Replica, Role::Source, Role::Replica, Role::Replica];
        GroupServers::new(&roles.map(target), Some(plan))
    }

    fn choices(spread: &mut Spread, servers: &GroupServers, tried: u32) -> Vec<usize> {
        (0..4).map(|_| spread.candidate(servers, tried).unwrap().0).collect()
    }

    #[test]
    fn each_in_turn_and_workers_begin_with_different_ones() {
        let servers = servers(ReadsPlan::default());
        let mut spread = Spread::new(&servers, 4).unwrap();
        assert_eq!(choices(&mut spread, &servers, 0), [2, 3, 1, 2]);
        assert_eq!(choices(&mut spread, &servers, 0b100), [1, 2, 1, 2]);
        assert_eq!(spread.candidate(&servers, 0b111), None);
    }

    #[test]
    fn the_fewest_outstanding_first() {
        let policy = ReadPolicy::LeastOutstanding;
        let servers = servers(ReadsPlan {
            policy,
            ..ReadsPlan::default()
        });
        servers.replica(ServerIndex(1)).begin_read();
        servers.replica(ServerIndex(3)).begin_read();
        let mut spread = Spread::new(&servers, 0).unwrap();
        assert_eq!(choices(&mut spread, &servers, 0), [2; 4]);
        servers.replica(ServerIndex(3)).end_read();
        assert_eq!(choices(&mut spread, &servers, 0), [3, 2, 3, 2]);
    }

    #[test]
    fn a_connection_keeps_its_own_and_takes_another_only_without_it() {
        let per = ReadsPer::Connection;
        let servers = servers(ReadsPlan {
            per,
            ..ReadsPlan::default()
        });
        let mut spread = Spread::new(&servers, 1).unwrap();
        assert_eq!(choices(&mut spread, &servers, 0), [2; 4]);
        assert!(spread.begins_with(ServerIndex(2)) && !spread.begins_with(ServerIndex(1)));
        assert_ne!(spread.candidate(&servers, 0b010), Some(ServerIndex(2)));
        assert_eq!(choices(&mut spread, &servers, 0), [2; 4], "it goes back");
    }

    #[test]
    fn attempts_to_connect_have_pauses_that_follow_from_their_number() {
        let servers = servers(ReadsPlan::default());
        let mut spread = Spread::new(&servers, 0).unwrap();
        let server = ServerIndex(2);
        assert!(spread.may_connect(server, 0));
        let pause_ns = |attempts| 10 + u64::from(attempts);
        spread.lost(server, 100, pause_ns);
        assert!(!spread.may_connect(server, 109) && spread.may_connect(server, 110));
        assert!(spread.may_connect(ServerIndex(1), 0));
        spread.lost(server, 110, pause_ns);
        assert!(!spread.may_connect(server, 120) && spread.may_connect(server, 121));
    }
}

//! The heartbeat of a group with replicas: a row that is updated on the source all the time, and looked for on each replica.
//!
//! Whatever goes wrong while the load runs ends nothing: beats are missing then, and the lag of replicas grows or is unknown.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::ReadYourWrites;
use plimsoll_engine::{Interrupter as EngineInterrupter, WorkerFault};
use plimsoll_wire::{ConnectOptions, Connection, Flavour, Interrupter, WireError};

use super::beats::BEAT;
use super::replica::{Replica, look_again};
use crate::cancel::CancelRegistry;
use crate::fault::worker_fault;
use crate::retry::retry_while_full;
use crate::servers::{GroupServers, Server};

/// The table, in the database of the group.
const TABLE: &str = "plimsoll_heartbeat";

/// What its comment begins with, as those of all tables that Plimsoll makes.
const COMMENT: &str = "plimsoll heartbeat";

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Pause before a server that could not be reached is tried again.
const PAUSE: Duration = Duration::from_millis(200);

/// Pause after the source refused a beat: the table may be made again, or the account may not make it.
const PAUSE_REFUSED: Duration = Duration::from_millis(500);

/// Longest wait for the next beat before the replica is looked at anyway, so that its loss is noticed.
const LOOK_ANYWAY: Duration = Duration::from_millis(500);

/// How often a driver that does not write beats looks for them on the source.
const LOOK_AT_SOURCE: Duration = Duration::from_millis(10);

/// The threads that write and look for the heartbeat of one group. Dropping it ends them.
pub struct Heartbeat {
    ends_all: EngineInterrupter,
    servers: GroupServers,
}

/// What all of its threads have.
#[derive(Clone)]
struct Beating {
    servers: GroupServers,
    /// Which row is this group's.
    row: u32,
    cancels: Arc<CancelRegistry>,
}

impl Heartbeat {
    /// Begins; `None` for a group without replicas. Of several engines that drive a group one writes, the others only look.
    ///
    /// # Errors
    /// When this machine gives no thread.
    pub fn begin(servers: &GroupServers, row: u32, is_writer: bool) -> Result<Option<Self>, WorkerFault> {
        if !servers.has_replicas() {
            return Ok(None);
        }
        let cancels = Arc::new(CancelRegistry::new(&servers.clock));
        let beating = Beating {
            servers: servers.clone(),
            row,
            cancels: Arc::clone(&cancels),
        };
        let heartbeat = Self {
            ends_all: cancels.interrupter(),
            servers: servers.clone(),
        };
        if is_writer {
            servers.beats.own();
        }
        let at_source = beating.clone();
        start("beat-source", move || at_source.at_source(is_writer))?;
        for (server, _) in servers.replicas() {
            let beating = beating.clone();
            start("beat-replica", move || {
                let server = beating.servers.at(server);
                let replica = server.replica.as_deref().expect("a replica");
                beating.at_replica(server, replica);
            })?;
        }
        Ok(Some(heartbeat))
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.ends_all.interrupt();
        self.servers.beats.end();
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), WorkerFault> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(work);
    spawned.map(drop).map_err(|error| {
        let message = format!("the thread of the heartbeat cannot be started: {error}; raise `ulimit -u`");
        WorkerFault::new(FailureClass::Host, message)
    })
}

impl Beating {
    /// Writes beats, or looks for them, until the end; a connection that is lost is opened again.
    fn at_source(&self, is_writer: bool) {
        let (server, cut) = (&self.servers.servers[0], self.cancels.register());
        while !self.cancels.is_cut() {
            let ended = open(server, &cut).and_then(|mut source| {
                if is_writer {
                    self.write(&mut source)
                } else {
                    self.look_at_source(&mut source)
                }
            });
            let is_refused = ended.is_err_and(|error| !error.is_connection_lost());
            self.cancels.wait(if is_refused { PAUSE_REFUSED } else { PAUSE });
        }
    }

    /// Writes a beat every so often, in a table that is made where it is not there, until that fails.
    fn write(&self, source: &mut Connection) -> Result<(), WireError> {
        source.query(&create_sql())?;
        // Numbers rise from trial to trial, also after the machine's monotonic clock began anew.
        let clock = &self.servers.clock;
        let (unix_begin_ns, begin_ns) = (clock.unix_ns(), clock.monotonic_ns());
        while !self.cancels.is_cut() {
            let beat_ns = clock.monotonic_ns();
            let number = unix_begin_ns + (beat_ns - begin_ns);
            source.query(&write_sql(self.row, number))?;
            self.servers.beats.add(number, beat_ns);
            let spent = Duration::from_nanos(clock.monotonic_ns() - beat_ns);
            self.cancels.wait(BEAT.saturating_sub(spent));
        }
        Ok(())
    }

    /// Looks for the beats of another engine. One counts from the last look that did not find it.
    fn look_at_source(&self, source: &mut Connection) -> Result<(), WireError> {
        let clock = &self.servers.clock;
        let (mut last, mut without_ns) = (None, clock.monotonic_ns());
        while !self.cancels.is_cut() {
            let look_ns = clock.monotonic_ns();
            let found = look(source, self.row)?;
            if found == last {
                without_ns = look_ns;
            } else if let Some(number) = found {
                if last.is_some() {
                    self.servers.beats.add(number, without_ns);
                }
                (last, without_ns) = (found, look_ns);
            }
            self.cancels.wait(LOOK_AT_SOURCE);
        }
        Ok(())
    }

    /// Looks for the newest beat on a replica until the end, and knows whether the replica can be reached.
    fn at_replica(&self, server: &Server, replica: &Replica) {
        let cut = self.cancels.register();
        while !self.cancels.is_cut() {
            if let Ok(mut connection) = open(server, &cut) {
                replica.set_up(true);
                while !self.cancels.is_cut() && self.follow(&mut connection, replica).is_ok() {}
            }
            replica.set_up(self.cancels.is_cut());
            self.cancels.wait(PAUSE);
        }
    }

    /// Waits for a beat on the source and looks until the replica has it.
    fn follow(&self, connection: &mut Connection, replica: &Replica) -> Result<(), WireError> {
        let beats = &self.servers.beats;
        beats.await_newer(replica.shown_ns(), LOOK_ANYWAY);
        for count in 0.. {
            let found = match look(connection, self.row) {
                Ok(found) => found,
                Err(error) if error.is_connection_lost() => return Err(error),
                Err(_) => None, // the table has not come yet, or may not be read
            };
            if let Some(begin_ns) = found.and_then(|number| beats.begin_ns(number)) {
                replica.shows(begin_ns, self.servers.clock.monotonic_ns());
            }
            if replica.shown_ns() >= beats.newest_ns() || self.cancels.wait(look_again(count)) {
                break;
            }
        }
        Ok(())
    }
}

fn open(server: &Server, cut: &Interrupter) -> Result<Connection, WireError> {
    let options = ConnectOptions {
        connect_timeout: CONNECT_TIMEOUT,
        opening: vec!["SET SESSION autocommit = 1".to_owned()],
        ..ConnectOptions::default()
    };
    server.connector.open(&options, cut)
}

fn create_sql() -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {TABLE} (id INT UNSIGNED NOT NULL PRIMARY KEY, beat BIGINT UNSIGNED NOT NULL) \
         ENGINE = InnoDB COMMENT = '{COMMENT}'"
    )
}

fn write_sql(row: u32, number: u64) -> String {
    format!("INSERT INTO {TABLE} (id, beat) VALUES ({row}, {number}) ON DUPLICATE KEY UPDATE beat = {number}")
}

/// The number of the newest beat that a server shows.
fn look(connection: &mut Connection, row: u32) -> Result<Option<u64>, WireError> {
    let rows = connection.query_rows(&format!("SELECT beat FROM {TABLE} WHERE id = {row}"), 1)?;
    Ok(rows.first().and_then(|row| row.first()?.as_ref()?.parse().ok()))
}

/// Makes the table of the heartbeat and writes the first one: whether that works is known before any load.
///
/// # Errors
/// Where it does not and reads go to replicas, which needs it; with the cure.
pub fn preflight(servers: &GroupServers, row: u32) -> Result<(), WorkerFault> {
    if !servers.spreads_reads() {
        return Ok(());
    }
    let source = &servers.servers[0];
    let target = source.connector.target();
    let place = format!("{}, database {}", target.endpoint, target.database);
    let doing = format!("make the heartbeat's table {TABLE} on {place}");
    let blame = |error: &WireError| {
        let fault = worker_fault(error, &doing);
        let cure = "the account needs CREATE, INSERT, UPDATE and SELECT there; or keep reads on the source with \
                    reads = \"source\"";
        WorkerFault {
            message: format!("{}; {cure}", fault.message),
            ..fault
        }
    };
    let connection = retry_while_full(&*servers.clock, || open(source, &Interrupter::default()));
    let mut connection = connection.map_err(|error| blame(&error))?;
    if is_foreign(&mut connection).map_err(|error| blame(&error))? {
        let message =
            format!("{place}: {TABLE} is a table that Plimsoll did not make; rename it, or use another database");
        return Err(WorkerFault::new(FailureClass::Target, message));
    }
    let made = connection.query(&create_sql()).and_then(|_| {
        let number = servers.clock.unix_ns();
        connection.query(&write_sql(row, number))
    });
    made.map_err(|error| blame(&error))?;
    let has_gtids = tells_gtids(&mut connection).map_err(|error| blame(&error))?;
    connection.close();
    if !has_gtids
        && servers
            .reads
            .is_some_and(|reads| reads.read_your_writes == ReadYourWrites::Wait)
    {
        let message = format!(
            "{place}: has no GTIDs, which read_your_writes = \"wait\" waits for; set gtid_mode=ON (MariaDB: log_bin), or use \
             \"pin\" or \"off\""
        );
        return Err(WorkerFault::new(FailureClass::Target, message));
    }
    Ok(())
}

/// Whether there is a table of that name that Plimsoll did not make.
fn is_foreign(connection: &mut Connection) -> Result<bool, WireError> {
    let sql = format!(
        "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{TABLE}'"
    );
    let rows = connection.query_rows(&sql, 1)?;
    let comment = rows.into_iter().next().map(|row| row.into_iter().next().flatten());
    Ok(comment.is_some_and(|comment| !comment.unwrap_or_default().starts_with(COMMENT)))
}

/// Whether a transaction that commits gets a GTID.
fn tells_gtids(connection: &mut Connection) -> Result<bool, WireError> {
    let sql = match connection.server().flavour {
        Flavour::MySql => "SELECT @@global.gtid_mode = 'ON' AND @@global.log_bin",
        Flavour::MariaDb => "SELECT @@global.log_bin",
    };
    let rows = connection.query_rows(sql, 1)?;
    let value = rows.first().and_then(|row| row.first()?.as_deref());
    Ok(value == Some("1"))
}

//! A source and its replicas, by GTIDs, as throwaway servers.

use std::path::Path;

use std::net::TcpListener;

use plimsoll_core::plan::{Role, RoleTarget};
use plimsoll_wire::Connection;

use super::{Kind, Server, connect, value};

/// A source and its replicas.
pub struct Replicated {
    pub source: Server,
    pub replicas: Vec<Server>,
    database: String,
}

impl Replicated {
    /// Starts them, with an empty database of this name that all have; `None`, loudly, when there are none of this kind.
    pub fn start(kind: Kind, replicas: usize, database: &str) -> Option<Self> {
        let (source, port) = start(kind, 1)?;
        let mut control = connect(&source.target(""));
        control
            .query("CREATE USER copies@'127.0.0.1' IDENTIFIED BY 'x'")
            .unwrap();
        control.query("GRANT ALL ON *.* TO copies@'127.0.0.1'").unwrap();
        let replicas = (0..replicas).map(|number| {
            let (replica, _) = start(kind, 2 + number).expect("the source was started");
            follow(&mut connect(&replica.target("")), kind, port);
            replica
        });
        let replicated = Self {
            replicas: replicas.collect(),
            source,
            database: database.to_owned(),
        };
        replicated.source.create_database(database);
        replicated.await_applied();
        Some(replicated)
    }

    /// All of them, as a group has them: `test` and `replica-1`, `replica-2`, ….
    pub fn targets(&self) -> Vec<RoleTarget> {
        let target = |role, instance, server: &Server| RoleTarget {
            role,
            instance,
            target: server.target(&self.database),
        };
        let replicas = (1..).zip(&self.replicas);
        let replicas = replicas.map(|(number, one)| target(Role::Replica, Some(format!("replica-{number}")), one));
        [target(Role::Source, None, &self.source)]
            .into_iter()
            .chain(replicas)
            .collect()
    }

    /// A connection to the source's database.
    pub fn on_source(&self) -> Connection {
        connect(&self.source.target(&self.database))
    }

    /// Runs a statement on a replica.
    pub fn tell(&self, replica: usize, sql: &str) {
        connect(&self.replicas[replica].target("")).query(sql).unwrap();
    }

    /// Waits until all replicas have what the source has.
    pub fn await_applied(&self) {
        let (executed, wait) = match self.source.kind {
            Kind::MariaDb => ("SELECT @@gtid_binlog_pos", "MASTER_GTID_WAIT"),
            Kind::MySql => ("SELECT @@global.gtid_executed", "WAIT_FOR_EXECUTED_GTID_SET"),
        };
        let gtids = value(&mut self.on_source(), executed);
        for replica in &self.replicas {
            let waited = value(
                &mut connect(&replica.target("")),
                &format!("SELECT {wait}('{gtids}', 60)"),
            );
            assert_eq!(waited, "0", "it does not replicate");
        }
    }
}

/// An address of this process: a port that was free there stays so until a server takes it. Who connects to it comes from
/// 127.0.0.1.
fn own_address() -> String {
    let id = std::process::id();
    format!("127.{}.{}.{}", 1 + (id >> 16) % 250, (id >> 8) & 255, id & 255)
}

fn start(kind: Kind, id: usize) -> Option<(Server, u16)> {
    let listener = TcpListener::bind((own_address(), 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let (id, port_option) = (format!("--server-id={id}"), format!("--port={port}"));
    let address_option = format!("--bind-address={}", own_address());
    let common = [
        "--log-bin=bin",
        "--skip-networking=0",
        &address_option,
        "--sync-binlog=0",
        &id,
        &port_option,
    ];
    let own: &[&str] = match kind {
        Kind::MariaDb => &["--log-slave-updates=1"],
        Kind::MySql => &["--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--mysqlx=0"],
    };
    let server = Server::start(kind, &[&common[..], own].concat(), Path::new("/var/tmp"))?;
    Some((server, port))
}

fn follow(replica: &mut Connection, kind: Kind, port: u16) {
    let host = own_address();
    let sql = match kind {
        Kind::MariaDb => format!(
            "CHANGE MASTER TO MASTER_HOST = '{host}', MASTER_PORT = {port}, MASTER_USER = 'copies', \
             MASTER_PASSWORD = 'x', MASTER_CONNECT_RETRY = 1, MASTER_USE_GTID = slave_pos"
        ),
        Kind::MySql => format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '{host}', SOURCE_PORT = {port}, SOURCE_USER = 'copies', \
             SOURCE_PASSWORD = 'x', SOURCE_CONNECT_RETRY = 1, SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1"
        ),
    };
    replica.query(&sql).unwrap();
    replica.query("START REPLICA").unwrap();
}

//! The client against real servers: MariaDB and MySQL 9.

mod captured;
mod support;

use std::time::{Duration, Instant};

use plimsoll_core::plan::{ServerKey, Target, Tls};
use plimsoll_wire::{Cause, ConnectOptions, Connection, Connector, Flavour, Interrupter, Reply, Silence, Value, Watch};
use support::Server;

/// What must be the same on every server.
fn check_everything(server: &Server, flavour: Flavour) {
    let mut connection = server.root();
    assert_eq!(connection.server().flavour, flavour);
    check_text(&mut connection);
    check_prepared(&mut connection);
    captured::check(&mut connection);
    captured::check_changed_table(&mut connection);
    check_large(&mut connection);
    check_load(&mut connection);
    check_several_results(&mut connection);
    check_errors(&mut connection, server);
    check_statement_too_long(server);
    check_waiting(server);
    check_local_infile_off(&mut connection, server);
    check_too_many_connections(&mut connection, server);
    connection.ping().unwrap();
    connection.close();
}

fn check_text(connection: &mut Connection) {
    connection.query("CREATE DATABASE e2e CHARACTER SET utf8mb4").unwrap();
    connection.query("USE e2e").unwrap();
    connection
        .query("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, c VARCHAR(200))")
        .unwrap();
    let inserted = connection
        .query("INSERT INTO t (c) VALUES ('ä'), (NULL), ('€😀')")
        .unwrap();
    assert_eq!(
        (inserted.rows_affected, inserted.last_insert_id, inserted.has_result_set),
        (3, 1, false)
    );
    let rows = connection.query_rows("SELECT id, c FROM t ORDER BY id", 3).unwrap();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        rows,
        [[text("1"), text("ä")], [text("2"), None], [text("3"), text("€😀")]].map(|row| row.to_vec())
    );
    let selected = connection.query("SELECT * FROM t WHERE id < 3").unwrap();
    assert_eq!(
        selected,
        Reply {
            has_result_set: true,
            rows_returned: 2,
            ..Reply::default()
        }
    );
    let error = connection.query_rows("SELECT id FROM t", 2).unwrap_err();
    assert_eq!(error.to_string(), "the query gave more than 2 rows");
    connection.ping().unwrap();
}

fn check_prepared(connection: &mut Connection) {
    let select = connection.prepare("SELECT id, c FROM t WHERE id = ? OR c = ?").unwrap();
    assert_eq!((select.parameter_count, select.column_count), (2, 2));
    let mut count = |values: &[Value<'_>]| connection.execute(&select, values).unwrap().rows_returned;
    assert_eq!(count(&[Value::Int(1), Value::Text("€😀")]), 2);
    assert_eq!(count(&[Value::Int(2), Value::Text("nothing")]), 1);
    assert_eq!(count(&[Value::Null, Value::Text("ä")]), 1);
    assert_eq!(count(&[Value::Text("3"), Value::Int(77)]), 1);
    assert_eq!(count(&[Value::Int(-1), Value::Null]), 0);
    assert_eq!(count(&[Value::Int(3), Value::Null]), 1);
    let update = connection.prepare("UPDATE t SET c = ? WHERE id = ?").unwrap();
    let reply = connection
        .execute(&update, &[Value::Text("new"), Value::Int(2)])
        .unwrap();
    assert_eq!((reply.rows_affected, reply.has_result_set), (1, false));
    let begin = connection.prepare("COMMIT").unwrap();
    connection.execute(&begin, &[]).unwrap();
    // The table changes, so the server prepares again on its own; what it remembers of types must survive that.
    connection.query("ALTER TABLE t ADD COLUMN d INT").unwrap();
    assert_eq!(
        connection
            .execute(&select, &[Value::Int(2), Value::Text("ä")])
            .unwrap()
            .rows_returned,
        2
    );
    let insert = connection.prepare("INSERT INTO t (id, c) VALUES (?, ?)").unwrap();
    let error = connection
        .execute(&insert, &[Value::Int(1), Value::Text("x")])
        .unwrap_err();
    assert_eq!(error.server_code(), Some(1062));
    connection
        .execute(&insert, &[Value::Int(10), Value::Text("x")])
        .unwrap();
    for statement in [select, update, begin, insert] {
        connection.close_statement(statement).unwrap();
    }
    let error = connection.prepare("SELEC 1").unwrap_err();
    assert_eq!(error.server_code(), Some(1064));
    let error = connection.query("SELECT * FROM missing").unwrap_err();
    assert_eq!(error.server_code(), Some(1146));
    connection.ping().unwrap();
}

/// Payloads around and beyond the 16 MiB of a packet, both ways.
fn check_large(connection: &mut Connection) {
    for size in [(1 << 24) - 40, (1 << 24) - 1, 1 << 24, 20_000_000] {
        let row = connection.query(&format!("SELECT REPEAT('x', {size}), 1")).unwrap();
        assert_eq!(row.rows_returned, 1);
        let rows = connection
            .query_rows(&format!("SELECT REPEAT('x', {size}), 1"), 1)
            .unwrap();
        assert_eq!(rows[0][0].as_ref().unwrap().len(), size);
    }
    let prefix = "SELECT LENGTH('";
    for extra in [-30, -2, -1, 0, 1, 4_000_000] {
        let size = usize::try_from(0xFF_FFFF + extra).unwrap() - 1 - prefix.len() - 2;
        let rows = connection
            .query_rows(&format!("{prefix}{}')", "y".repeat(size)), 1)
            .unwrap();
        assert_eq!(rows[0][0].as_deref(), Some(size.to_string().as_str()));
    }
    let length = connection.prepare("SELECT 1 FROM DUAL WHERE LENGTH(?) = ?").unwrap();
    let text = "z".repeat(17_000_000);
    let reply = connection
        .execute(&length, &[Value::Text(&text), Value::Int(17_000_000)])
        .unwrap();
    assert_eq!(reply.rows_returned, 1);
    connection.close_statement(length).unwrap();
}

fn check_load(connection: &mut Connection) {
    connection
        .query("CREATE TABLE l (id INT PRIMARY KEY, c CHAR(20))")
        .unwrap();
    let mut chunks = 0;
    let mut next = |out: &mut Vec<u8>| {
        assert!(out.is_empty());
        for row in 0..1000 {
            out.extend_from_slice(format!("{}\tname\n", chunks * 1000 + row).as_bytes());
        }
        chunks += 1;
        chunks < 10
    };
    let reply = connection
        .load_local("LOAD DATA LOCAL INFILE 'memory' INTO TABLE l", &mut next)
        .unwrap();
    assert_eq!((reply.rows_affected, reply.warnings), (10_000, 0));
    let error = connection
        .load_local(
            "LOAD DATA LOCAL INFILE 'memory' INTO TABLE missing",
            &mut |_| unreachable!(),
        )
        .unwrap_err();
    assert_eq!(error.server_code(), Some(1146));
    connection.ping().unwrap();
}

fn check_several_results(connection: &mut Connection) {
    connection
        .query("CREATE PROCEDURE p() BEGIN SELECT 1 UNION SELECT 2; SELECT 3, 4; END")
        .unwrap();
    let reply = connection.query("CALL p()").unwrap();
    assert_eq!((reply.has_result_set, reply.rows_returned), (true, 3));
    let call = connection.prepare("CALL p()").unwrap();
    assert_eq!(connection.execute(&call, &[]).unwrap().rows_returned, 3);
    let error = connection.query("SELECT 1; SELECT 2").unwrap_err();
    assert_eq!(
        error.server_code(),
        Some(1064),
        "several statements in one text are not allowed"
    );
}

fn check_errors(connection: &mut Connection, server: &Server) {
    connection.query("CREATE USER somebody IDENTIFIED BY 'right'").unwrap();
    for target in [server.by_tcp("somebody", "wrong"), server.by_socket("somebody", "")] {
        let error = Connection::open(&target, &ConnectOptions::default()).unwrap_err();
        let fault = error.server().unwrap_or_else(|| panic!("{error}"));
        assert_eq!((fault.code, fault.sqlstate.as_str()), (1045, "28000"));
        assert!(
            error.to_string().starts_with("Access denied for user 'somebody'@'"),
            "{error}"
        );
    }
    let mut no_database = server.by_socket("root", "");
    "missing".clone_into(&mut no_database.database);
    let error = Connection::open(&no_database, &ConnectOptions::default()).unwrap_err();
    assert_eq!(error.server_code(), Some(1049));
    let mut with_database = server.by_socket("root", "");
    "e2e".clone_into(&mut with_database.database);
    let mut other = Connection::open(&with_database, &ConnectOptions::default()).unwrap();
    assert_eq!(
        other.query_rows("SELECT DATABASE()", 1).unwrap()[0][0].as_deref(),
        Some("e2e")
    );
    check_killed(connection, other);
}

/// A connection that the server ends is lost, and stays so.
fn check_killed(connection: &mut Connection, mut other: Connection) {
    connection
        .query(&format!("KILL {}", other.server().connection_id))
        .unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let error = other.query("SELECT 1").unwrap_err();
    assert!(error.is_connection_lost(), "{error}");
    let error = other.query("SELECT 1").unwrap_err();
    assert!(matches!(error.cause(), Cause::Closed { .. }), "{error}");
}

/// The server ends the connection in the middle of the statement, and its reason is not lost.
fn check_statement_too_long(server: &Server) {
    let sql = format!("SELECT '{}'", "x".repeat(80_000_000));
    for target in [
        server.by_tcp("somebody", "right"),
        server.by_socket("somebody", "right"),
    ] {
        let mut connection = Connection::open(&target, &ConnectOptions::default()).unwrap();
        let error = connection.query(&sql).unwrap_err();
        assert!(error.is_connection_lost());
        assert!(
            error.to_string().ends_with("; raise the server's max_allowed_packet"),
            "{error}"
        );
    }
}

/// A wait that is too long, and one that another thread ends.
fn check_waiting(server: &Server) {
    std::thread::scope(|scope| {
        for target in [server.by_socket("root", ""), server.by_tcp("somebody", "right")] {
            scope.spawn(move || check_silence(target));
        }
    });
    let mut connection = server.root();
    let interrupter = connection.interrupter();
    let started = Instant::now();
    let error = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| connection.query("SELECT SLEEP(50)").unwrap_err());
        std::thread::sleep(Duration::from_millis(100));
        interrupter.interrupt();
        waiting.join().unwrap()
    });
    assert!(error.is_connection_lost(), "{error}");
    assert!(started.elapsed() < Duration::from_secs(40));
    drop(connection);
    interrupter.interrupt();
}

/// Answers that each come within the limit, and one that does not.
fn check_silence(target: Target) {
    // Three seconds are left for each of the first, on a machine that has other things to do; together they take longer.
    let limit = Duration::from_secs(5);
    let (interrupter, watch) = (Interrupter::default(), Watch::new(limit));
    watch.add(&interrupter).unwrap();
    let server = Connector::new(target);
    let open = || server.open(&ConnectOptions::default(), &interrupter).unwrap();
    let mut connection = open();
    for _ in 0..3 {
        connection.query("SELECT SLEEP(1.8)").unwrap(); // each is a wait of its own
    }
    let begin = Instant::now();
    let error = connection.query("SELECT SLEEP(60)").unwrap_err();
    assert!(
        error.is_connection_lost() && error.silence() == Some(Silence::Server),
        "{error}"
    );
    assert!(
        (limit..Duration::from_secs(30)).contains(&begin.elapsed()),
        "{:?}",
        begin.elapsed()
    );
    open().query("SELECT SLEEP(0.1)").unwrap();
}

fn check_local_infile_off(connection: &mut Connection, server: &Server) {
    let load = "LOAD DATA LOCAL INFILE 'memory' INTO TABLE e2e.l";
    let mut without = Connection::open(&server.by_socket("root", ""), &ConnectOptions::default()).unwrap();
    let error = without.load_local(load, &mut |_| unreachable!()).unwrap_err();
    assert!(error.server_code().is_some(), "{error}");
    connection.query("SET GLOBAL local_infile = 0").unwrap();
    let error = connection.load_local(load, &mut |_| unreachable!()).unwrap_err();
    assert!(
        error.to_string().ends_with("; set local_infile=ON on the server"),
        "{error}"
    );
    connection.ping().unwrap();
}

fn check_too_many_connections(connection: &mut Connection, server: &Server) {
    connection.query("SET GLOBAL max_connections = 10").unwrap();
    let open = || Connection::open(&server.by_tcp("somebody", "right"), &ConnectOptions::default());
    let mut connections = Vec::new();
    let error = loop {
        assert!(connections.len() < 20);
        match open() {
            Ok(connection) => connections.push(connection),
            Err(error) => break error,
        }
    };
    assert_eq!(error.server_code(), Some(1040));
    assert!(
        error.to_string().contains("raise the server's max_connections"),
        "{error}"
    );
}

#[test]
fn mariadb() {
    let Some(server) = Server::mariadb(&[]) else { return };
    check_everything(&server, Flavour::MariaDb);
}

#[test]
fn mysql() {
    let Some(server) = Server::mysql() else { return };
    let path = server.data_file("public_key.pem");
    check_caching_sha2(&server, &Tls::Disabled, &ServerKey::File { path });
    check_caching_sha2(&server, &Tls::Disabled, &ServerKey::Asked);
    check_caching_sha2(&server, &Tls::Preferred, &ServerKey::None);
    check_key_needed(&server);
    check_everything(&server, Flavour::MySql);
}

/// Without encryption and without a key only accounts come in that the server knows from an earlier login.
fn check_key_needed(server: &Server) {
    let mut root = server.root();
    root.query("CREATE USER careful IDENTIFIED WITH caching_sha2_password BY 'right'")
        .unwrap();
    let plain = Target {
        tls: Tls::Disabled,
        ..server.by_tcp("careful", "right")
    };
    let open = || Connection::open(&plain, &ConnectOptions::default());
    let error = open().unwrap_err().to_string();
    assert!(error.contains("the server asks for the password itself"), "{error}");
    let by_socket = server.by_socket("careful", "right");
    Connection::open(&by_socket, &ConnectOptions::default()).unwrap();
    open().unwrap().ping().unwrap();
    root.query("DROP USER careful").unwrap();
}

/// The first login of an account takes the full exchange, later ones the fast path, until the server's cache is emptied.
/// The full exchange encrypts the password by the server's key where the connection is not encrypted.
fn check_caching_sha2(server: &Server, tls: &Tls, key: &ServerKey) {
    let mut root = server.root();
    root.query("CREATE USER careful IDENTIFIED WITH caching_sha2_password BY 'päss'")
        .unwrap();
    root.query("CREATE USER careless IDENTIFIED WITH caching_sha2_password BY ''")
        .unwrap();
    let open = |target: Target| {
        let target = Target {
            tls: tls.clone(),
            server_key: key.clone(),
            ..target
        };
        Connection::open(&target, &ConnectOptions::default())
    };
    for _ in 0..2 {
        for _ in 0..2 {
            open(server.by_tcp("careful", "päss")).unwrap().ping().unwrap();
        }
        root.query("FLUSH PRIVILEGES").unwrap();
        for _ in 0..2 {
            open(server.by_socket("careful", "päss")).unwrap().ping().unwrap();
        }
        assert_eq!(
            open(server.by_tcp("careful", "wrong")).unwrap_err().server_code(),
            Some(1045)
        );
        assert_eq!(
            open(server.by_tcp("careful", "")).unwrap_err().server_code(),
            Some(1045)
        );
        open(server.by_tcp("careless", "")).unwrap().ping().unwrap();
        root.query("FLUSH PRIVILEGES").unwrap();
    }
    root.query("DROP USER careful, careless").unwrap();
}

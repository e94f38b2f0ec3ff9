//! The fake server does what its script says, as the real client sees it.

use std::time::{Duration, Instant};

use plimsoll_core::plan::{Endpoint, Secret, ServerKey, Target, Tls};
use plimsoll_sim::{Answer, Failure, Script, Shape, ShapeColumn, Sim, Stall};
use plimsoll_wire::{ConnectOptions, Connection, FirstRow, Sink, Value};

fn connect(sim: &Sim) -> Connection {
    let target = Target {
        endpoint: Endpoint::Tcp {
            host: "127.0.0.1".to_owned(),
            port: sim.port(),
        },
        user: "anybody".to_owned(),
        password: Secret::new("anything".to_owned()),
        database: "any".to_owned(),
        tls: Tls::Preferred,
        server_key: ServerKey::None,
    };
    Connection::open(&target, &ConnectOptions::default()).unwrap()
}

#[test]
fn rows_and_parameters_in_both_forms_of_end() {
    for deprecate_eof in [true, false] {
        let sim = Sim::start(Script {
            rows: 700,
            row_bytes: 300,
            deprecate_eof,
            ..Script::default()
        })
        .unwrap();
        let mut connection = connect(&sim);
        assert_eq!(connection.query("SELECT 1").unwrap().rows_returned, 700);
        let rows = connection.query_rows("SELECT 1", 700).unwrap();
        assert_eq!(rows[699], [Some("x".repeat(300))]);
        let statement = connection.prepare("SELECT c FROM t WHERE a = ? AND b = ?").unwrap();
        assert_eq!((statement.parameter_count, statement.column_count), (2, 1));
        let values = [Value::Int(1), Value::Text("a")];
        assert_eq!(connection.execute(&statement, &values).unwrap().rows_returned, 700);
        assert_eq!(connection.query("UPDATE t SET a = 1").unwrap().rows_affected, 1);
        connection.close_statement(statement).unwrap();
        connection.ping().unwrap();
        assert_eq!(sim.statements(), 4);
        connection.close();
    }
}

#[test]
fn result_sets_have_the_columns_of_their_shape_in_both_formats() {
    let column = |name: &str, text_bytes| ShapeColumn {
        name: name.to_owned(),
        text_bytes,
    };
    let shape = |contains: &str, rows, columns| Shape {
        contains: contains.to_owned(),
        rows,
        columns,
    };
    let script = Script {
        shapes: vec![
            shape(
                "FROM t WHERE a = ? AND b = ?",
                3,
                vec![column("name", Some(5)), column("id", None)],
            ),
            shape("FROM t", 1, vec![column("n", None)]),
        ],
        ..Script::default()
    };
    let sim = Sim::start(script).unwrap();
    let mut connection = connect(&sim);
    let rows = connection
        .query_rows("SELECT * FROM t WHERE a = 'x' AND b = 7", 9)
        .unwrap();
    assert_eq!(rows, vec![vec![Some("xxxxx".to_owned()), Some("1".to_owned())]; 3]);
    assert_eq!(
        connection.query_rows("SHOW b, a FROM t WHERE b = 1", 9).unwrap().len(),
        1
    );
    let statement = connection.prepare("SELECT * FROM t WHERE a = ? AND b = ?").unwrap();
    assert_eq!(statement.column_count, 2);
    let mut first = FirstRow::new(vec!["id".to_owned(), "name".to_owned()]);
    let reply = connection.run(&statement, &[Value::Int(1), Value::Int(2)], Sink::First(&mut first));
    assert_eq!(reply.unwrap().rows_returned, 3);
    let captured: Vec<Value<'_>> = first.values_mut().iter().map(|captured| captured.value()).collect();
    assert_eq!(captured, [Value::Int(1), Value::Bytes(b"xxxxx")]);
    assert_eq!(connection.query("INSERT INTO u VALUES (1)").unwrap().last_insert_id, 1);
}

#[test]
fn control_queries_are_answered_and_not_counted() {
    let rows = vec![vec![Some("16382".to_owned()), None]];
    let answer = Answer {
        begins_with: "select @@max".to_owned(),
        rows: rows.clone(),
    };
    let script = Script {
        answers: vec![answer],
        statement_delay: Duration::from_secs(60),
        ..Script::default()
    };
    let sim = Sim::start(script).unwrap();
    let mut connection = connect(&sim);
    assert_eq!(
        connection
            .query_rows("SELECT @@max_prepared_stmt_count, NULL", 1)
            .unwrap(),
        rows
    );
    assert_eq!(sim.statements(), 0);
}

/// A server at which every n-th statement ends in a deadlock.
fn deadlocking(every: u64) -> Sim {
    let failure = Failure {
        every,
        code: 1213,
        sqlstate: "40001".to_owned(),
        message: "Deadlock found".to_owned(),
    };
    let script = Script {
        failure: Some(failure),
        ..Script::default()
    };
    Sim::start(script).unwrap()
}

#[test]
fn every_third_statement_fails() {
    let sim = deadlocking(3);
    let mut connection = connect(&sim);
    let codes: Vec<_> = (0..6)
        .map(|_| connection.query("SELECT 1").err().and_then(|error| error.server_code()))
        .collect();
    assert_eq!(codes, [None, None, Some(1213), None, None, Some(1213)]);
}

#[test]
fn a_rollback_never_fails() {
    let sim = deadlocking(1);
    let mut connection = connect(&sim);
    let statement = connection.prepare("rollback").unwrap();
    connection.query("SELECT 1").unwrap_err();
    connection.query("ROLLBACK").unwrap();
    connection.run(&statement, &[], Sink::Count).unwrap();
}

#[test]
fn delays_and_stalls_take_as_long_as_scripted() {
    let stall = Stall {
        after: Duration::from_millis(400),
        lasts: Duration::from_secs(3),
    };
    let statement_delay = Duration::from_millis(20);
    let script = Script {
        statement_delay,
        stalls: vec![stall],
        ..Script::default()
    };
    let started = Instant::now();
    let sim = Sim::start(script).unwrap();
    let mut connection = connect(&sim);
    let mut durations = Vec::new();
    while started.elapsed() < Duration::from_millis(3_500) {
        let sent = Instant::now();
        connection.query("SELECT 1").unwrap();
        durations.push(sent.elapsed());
    }
    assert!(
        durations.iter().all(|duration| *duration >= statement_delay),
        "{durations:?}"
    );
    let stalled = durations
        .iter()
        .filter(|duration| **duration > Duration::from_millis(300))
        .count();
    assert!(stalled >= 1, "{durations:?}");
}

#[test]
fn a_restart_ends_connections_and_accepts_new_ones() {
    let sim = Sim::start(Script::default()).unwrap();
    let mut connection = connect(&sim);
    sim.disconnect_all();
    assert!(connection.query("SELECT 1").unwrap_err().is_connection_lost());
    connect(&sim).ping().unwrap();
}

//! Thousands of connections in one process: they all come, they all work, and they cost little memory.

#[allow(dead_code)] // this test uses its own part of it
mod support;

use serde_json::json;
use support::{Engine, Server, data_plan};

const CONNECTIONS: u64 = 4_096;

/// A quarter of the 0.32 MB that sysbench takes for each of 1,024 connections.
const BYTES_PER_CONNECTION: u64 = 80 * 1024;

#[test]
fn thousands_of_connections_that_think_do_their_work_in_little_memory() {
    let options = [
        "--max-connections=5000",
        "--thread-handling=pool-of-threads",
        "--back-log=4096",
    ];
    let Some(server) = Server::start_with(&options) else {
        return;
    };
    let mut prepare = Engine::start("prepare");
    prepare.say(&data_plan(&server.target(), 1_000));
    prepare.hear_type("done");
    let mut trial = Engine::start("trial");
    let plan = json!({
        "type": "plan", "protocol": 1, "seed": 1, "interval_ms": 1_000, "duration_ms": 3_000, "stop_at_stdin_end": true,
        "groups": [{
            "instance": "db", "targets": [{"role": "source", "target": server.target()}],
            "workload": {"kind": "oltp_point_select", "table_size": 1_000},
            "arrivals": {"closed": {"think_time": {"exponential": {"mean_ms": 1_500}}}},
            "connections": CONNECTIONS, "connect": {"all_required": true},
        }],
    });
    trial.say(&plan.to_string());
    let ready = trial.hear_type("ready");
    assert_eq!(
        (&ready["connections"], &ready["failures"]),
        (&json!(CONNECTIONS), &json!([])),
        "{ready}"
    );
    trial.say("{\"type\":\"start\"}");
    let mut completed = 0;
    let done = loop {
        let message = trial.hear();
        if message["type"] == "done" {
            break message;
        }
        if message["type"] != "interval" {
            continue; // a warning, where the machine is busy
        }
        let group = &message["groups"][0];
        assert_eq!(group["connected_count"], CONNECTIONS, "{group}");
        let counts = &group["snapshot"]["transactions"]["oltp_point_select"]["counts"];
        assert_eq!(counts["failed"], 0, "{counts}");
        completed += counts["completed"].as_u64().unwrap();
    };
    let count = |name: &str| done[name].as_u64().unwrap();
    assert_eq!(count("offered_count"), completed + count("unfinished_count"));
    // Two each on average, in three seconds of pauses of one and a half.
    assert!((CONNECTIONS..3 * CONNECTIONS).contains(&completed), "{completed}");
    let each = count("memory_bytes_max") / CONNECTIONS;
    assert!(each < BYTES_PER_CONNECTION, "{each} bytes for each connection");
    eprintln!(
        "{completed} transactions, {each} bytes for each connection, connected in {} ms",
        ready["connect_ms"]
    );
}

//! A group with a replica in the engine protocol: what is told of each server. One server plays both roles.

#[allow(dead_code)] // this test uses its own part of it
mod support;

use serde_json::{Value, json};
use support::{Engine, Server, data_plan};

fn plan(target: &Value, reads: &Value, index: u32) -> String {
    json!({
        "type": "plan", "protocol": 1, "seed": 7, "interval_ms": 500, "duration_ms": 2_000, "stop_at_stdin_end": true,
        "share": {"index": index, "count": 2},
        "groups": [{
            "instance": "db/0",
            "targets": [
                {"role": "replica", "instance": "db/1", "target": target},
                {"role": "source", "target": target},
            ],
            "reads": reads,
            "workload": {"kind": "oltp_point_select", "table_size": 1_000},
            "arrivals": {"closed": {"transactions_max": null, "think_time": null}},
            "connections": 2,
        }],
    })
    .to_string()
}

/// The groups of all intervals of two engines that drive it together.
fn drive(target: &Value, reads: &Value) -> Vec<Vec<Value>> {
    let mut engines = [0, 1].map(|index| {
        let mut engine = Engine::start("trial");
        engine.say(&plan(target, reads, index));
        engine
    });
    for engine in &mut engines {
        let opened = engine.hear_type("ready");
        let encrypted: Vec<_> = opened["encryptions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| &one["instance"])
            .collect();
        assert_eq!(encrypted, ["db/1", "db/0"]);
        engine.say("{\"type\":\"start\"}");
    }
    let groups = engines.iter_mut().map(|engine| {
        let mut groups = Vec::new();
        loop {
            let message = engine.hear();
            match message["type"].as_str() {
                Some("interval") => groups.extend(message["groups"].as_array().unwrap().clone()),
                Some("done") => return groups,
                _ => {}
            }
        }
    });
    groups.collect()
}

fn completed(groups: &[Value], role: &str) -> u64 {
    let of_role = groups.iter().filter(|one| one["role"] == role);
    let counts = of_role.map(|one| &one["snapshot"]["transactions"]["oltp_point_select"]["counts"]["completed"]);
    counts.filter_map(Value::as_u64).sum()
}

#[test]
fn each_server_is_told_of_and_the_first_engine_tells_the_lag() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut prepare = Engine::start("prepare");
    prepare.say(&data_plan(&server.target(), 1_000));
    prepare.hear_type("done");
    let of_engines = drive(&server.target(), &json!({}));
    for (index, groups) in of_engines.iter().enumerate() {
        let names: Vec<_> = groups[..2].iter().map(|one| (&one["instance"], &one["role"])).collect();
        let expected = [("db/0", "source"), ("db/1", "replica")].map(|(name, role)| (json!(name), json!(role)));
        assert_eq!(
            names,
            expected.iter().map(|(name, role)| (name, role)).collect::<Vec<_>>()
        );
        assert!(completed(groups, "replica") > 10 && completed(groups, "source") == 0);
        assert!(groups[0]["replication"].is_null());
        let replication = groups
            .iter()
            .map(|one| &one["replication"])
            .filter(|one| !one.is_null());
        let (mut reads, mut has_lag) = (0, false);
        for one in replication {
            reads += one["reads_count"].as_u64().unwrap();
            has_lag |= !one["lag_ns"].is_null();
        }
        assert_eq!(reads, completed(groups, "replica"));
        assert_eq!(has_lag, index == 0);
    }
    let on_source = drive(&server.target(), &Value::Null);
    for groups in &on_source {
        assert!(completed(groups, "source") > 10 && completed(groups, "replica") == 0);
        assert!(
            groups
                .iter()
                .filter(|one| one["role"] == "replica")
                .all(|one| one["connected_count"] == 0)
        );
    }
    assert!(
        on_source[0].iter().any(|one| !one["replication"]["lag_ns"].is_null()),
        "lag is known all the same"
    );
}

#[test]
fn servers_that_make_no_sense_are_refused() {
    let target = json!({"endpoint": {"socket": {"path": "/nowhere"}}, "user": "u", "database": "d"});
    let lines = plan(&target, &json!({"wait_timeout_ms": 0}), 0).replace("\"source\"", "\"replica\"");
    let (class, message, _) = Engine::refuse("trial", &lines);
    assert_eq!(class, "spec");
    for part in [
        "role `source`, none has",
        "an instance of its own name",
        "wait_timeout_ms: must be at least 1",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

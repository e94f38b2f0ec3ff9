//! Several engines that drive one trial together ask a server for what one engine asks it for.

#[allow(dead_code)] // this test uses its own part of it
mod support;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};
use support::{Engine, Server, data_plan};

/// 200 arrivals in the first second; the time after it is there to end them all, also on a busy machine.
fn plan(target: &Value, kind: &str, share: &Value) -> String {
    let step = |rate_tps: f64| json!({"duration_ms": 1_000, "from_tps": rate_tps, "to_tps": rate_tps});
    json!({
        "type": "plan", "protocol": 1, "seed": 7, "interval_ms": 1_000, "duration_ms": 4_000, "stop_at_stdin_end": true,
        "share": share,
        "groups": [{
            "instance": "db", "targets": [{"role": "source", "target": target}],
            "workload": {"kind": kind, "table_size": 1_000},
            "arrivals": {"open": {"process": "poisson", "steps": [step(200.0), step(0.0)], "backlog_max": 10_000}},
            "connections": 5,
        }],
    })
    .to_string()
}

/// Runs all shares side by side; gives connections and offered transactions of each.
fn drive(target: &Value, kind: &str, count: u64) -> Vec<(u64, u64)> {
    let shares = (0..count).map(|index| json!({"index": index, "count": count}));
    let mut engines: Vec<Engine> = shares
        .map(|share| {
            let mut engine = Engine::start("trial");
            engine.say(&plan(target, kind, &share));
            engine
        })
        .collect();
    let connections: Vec<u64> = engines
        .iter_mut()
        .map(|engine| engine.hear_type("ready")["connections"].as_u64().unwrap())
        .collect();
    for engine in &mut engines {
        engine.say("{\"type\":\"start\"}");
    }
    let offered = engines.iter_mut().map(|engine| {
        let done = engine.hear_type("done");
        assert_eq!(done["unfinished_count"], 0, "{done}");
        done["offered_count"].as_u64().unwrap()
    });
    connections.iter().copied().zip(offered).collect()
}

/// The selects that a server logged from this position on, with their values, and how often they came; and where the log ends.
fn selects(log: &PathBuf, from: usize) -> (BTreeMap<String, u32>, usize) {
    let text = std::fs::read_to_string(log).unwrap();
    let mut counts = BTreeMap::new();
    for line in text[from..].lines() {
        if let Some((_, sql)) = line
            .split_once("Execute\t")
            .filter(|(_, sql)| sql.starts_with("SELECT"))
        {
            *counts.entry(sql.to_owned()).or_default() += 1;
        }
    }
    (counts, text.len())
}

#[test]
fn shares_together_ask_for_what_the_whole_asks_for() {
    let log = PathBuf::from(format!("/var/tmp/plimsoll-shares-{}.log", std::process::id()));
    let Some(server) = Server::start_with(&["--general-log", &format!("--general-log-file={}", log.display())]) else {
        return;
    };
    let mut prepare = Engine::start("prepare");
    prepare.say(&data_plan(&server.target(), 1_000));
    prepare.hear_type("done");
    let mut end = 0;
    for kind in ["oltp_point_select", "oltp_read_only"] {
        let mut seen = Vec::new();
        for (count, connections) in [(1, vec![5]), (2, vec![3, 2]), (3, vec![2, 2, 1])] {
            let found = drive(&server.target(), kind, count);
            let (of_it, after) = selects(&log, end);
            end = after;
            assert_eq!(found.iter().map(|one| one.0).collect::<Vec<_>>(), connections);
            assert!(found.iter().all(|one| one.1 > 0), "{found:?}");
            seen.push((found.iter().map(|one| one.1).sum::<u64>(), of_it));
        }
        assert!(seen[0].1.len() > 100, "{kind}: {}", seen[0].1.len());
        assert_eq!(seen[1], seen[0], "{kind}");
        assert_eq!(seen[2], seen[0], "{kind}");
    }
    std::fs::remove_file(log).unwrap();
}

#[test]
fn a_share_that_is_none_is_refused() {
    let target = json!({"endpoint": {"socket": {"path": "/nowhere"}}, "user": "u", "database": "d"});
    let refused = |index: u32, count: u32| {
        let share = json!({"index": index, "count": count});
        let (class, message, _) = Engine::refuse("trial", &plan(&target, "oltp_point_select", &share));
        assert_eq!(class, "spec");
        message
    };
    assert_eq!(refused(2, 2), "share.index: must be below share.count, 2, is 2");
    assert_eq!(refused(0, 0), "share.index: must be below share.count, 0, is 0");
    assert_eq!(refused(1, 6), "group.connections: must be at least 6, is 5");
}

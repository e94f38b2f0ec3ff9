//! Turns as the starter of the engine sees them: while one server has its turn no statement reaches the other one.

#[allow(dead_code)] // this test uses its own part of it
mod support;

use std::time::Duration;

use plimsoll_sim::{Script, Sim};
use serde_json::{Value, json};
use support::Engine;

fn group(sim: &Sim, instance: &str) -> Value {
    let target = json!({"endpoint": {"tcp": {"host": "127.0.0.1", "port": sim.port()}}, "user": "u", "database": "d"});
    json!({
        "instance": instance, "targets": [{"role": "source", "target": target}],
        "workload": {"kind": "oltp_point_select", "table_size": 1_000},
        "arrivals": {"closed": {"transactions_max": null, "think_time": null}}, "connections": 4,
    })
}

#[test]
fn no_statement_reaches_a_server_whose_turn_it_is_not() {
    let order = [0, 1, 1, 0, 1, 0];
    let script = || Script {
        statement_delay: Duration::from_millis(3),
        ..Script::default()
    };
    let sims = [Sim::start(script()).unwrap(), Sim::start(script()).unwrap()];
    let plan = json!({
        "type": "plan", "protocol": 1, "seed": 7, "interval_ms": 1_000, "duration_ms": 60_000, "stop_at_stdin_end": true,
        "look_first": false, "groups": [group(&sims[0], "a"), group(&sims[1], "b")],
        "turns": {"turn_ms": 100, "lead_ms": 20, "sides": [0, 1], "order": order},
    });
    let counts = || [sims[0].statements(), sims[1].statements()];
    let mut engine = Engine::start("trial");
    engine.say(&plan.to_string());
    engine.hear_type("ready");
    engine.say("{\"type\":\"start\"}");
    let (mut before, mut asked) = (counts(), [0, 0]);
    for (turn, side) in order.into_iter().enumerate() {
        let handover = engine.hear_type("handover");
        assert_eq!((&handover["turn"], &handover["side"]), (&json!(turn), &json!(side)));
        let idle = counts();
        if turn > 0 {
            let last = order[turn - 1];
            asked[last] += idle[last] - before[last];
            assert_eq!(
                idle[1 - last],
                before[1 - last],
                "turn {}: the other one is not",
                turn - 1
            );
        }
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(counts(), idle, "between turns nobody is asked");
        before = idle;
        engine.say(&json!({"type": "go", "turn": turn}).to_string());
    }
    // In a single turn a busy machine may leave nobody the time to.
    assert!(asked.iter().all(|count| *count > 0), "{asked:?}");
    let done = engine.hear_type("done");
    assert_eq!(
        (&done["reason"], &done["unfinished_count"]),
        (&json!("completed"), &json!(0))
    );
    assert_eq!(engine.exit_code(), 0);
}

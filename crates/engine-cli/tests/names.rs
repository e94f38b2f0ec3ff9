//! A name server that never answers keeps neither a trial nor its end waiting.

#[allow(dead_code)] // this test uses its own part of it
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use support::{ENGINE, Engine};

/// A network of its own, where whatever is sent to the name server is lost; then the engine.
const SCRIPT: &str = "ip link add here type veth peer name beyond && ip addr add 198.51.100.1/24 dev here && \
                      ip link set here up && ip link set beyond up && \
                      ip neigh add 198.51.100.2 lladdr 02:00:00:00:00:02 dev here && \
                      mount --bind \"$1\" /etc/resolv.conf && exec \"$2\" trial";

/// The settings of the resolver, gone with the value.
struct Resolver(PathBuf);

impl Resolver {
    fn new() -> Self {
        let path = Path::new("/var/tmp").join(format!("plimsoll-resolv-{}.conf", std::process::id()));
        std::fs::write(&path, "nameserver 198.51.100.2\noptions timeout:60\n").unwrap();
        Self(path)
    }

    fn command(&self, script: &str) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--net", "sh", "-c", script, "sh"]);
        command.arg(&self.0).arg(ENGINE);
        command
    }

    /// An engine that was told to connect to a server by name.
    fn engine(&self) -> Engine {
        let mut engine = Engine::start_by(&mut self.command(SCRIPT));
        let target = json!({"endpoint": {"tcp": {"host": "db.example", "port": 3306}}, "user": "u", "database": "d"});
        let plan = json!({
            "type": "plan", "protocol": 1, "seed": 1, "interval_ms": 1_000, "duration_ms": 1_000, "stop_at_stdin_end": true,
            "look_first": false,
            "groups": [{
                "instance": "db", "targets": [{"role": "source", "target": target}],
                "workload": {"kind": "oltp_point_select", "table_size": 10},
                "arrivals": {"closed": {}}, "connections": 8,
            }],
        });
        engine.say(&plan.to_string());
        engine
    }
}

impl Drop for Resolver {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_name_that_nobody_looks_up_ends_a_trial_with_its_cause_and_a_stop_ends_it_at_once() {
    let resolver = Resolver::new();
    let can = resolver.command(&SCRIPT.replace("exec \"$2\" trial", "true")).output();
    if !can.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: no namespaces can be made: not root, or a root that is no mount point");
        return;
    }
    let mut engine = resolver.engine();
    assert_eq!(engine.hear()["type"], "progress", "it waits");
    let begin = Instant::now();
    engine.say("{\"type\":\"stop\"}");
    assert_eq!(engine.hear_type("done")["reason"], "stopped");
    assert_eq!(engine.exit_code(), 0);
    // The name server is waited for ten seconds.
    assert!(begin.elapsed() < Duration::from_secs(8), "{:?}", begin.elapsed());

    let begin = Instant::now();
    let mut engine = resolver.engine();
    let failed = loop {
        let message = engine.hear();
        if message["type"] != "progress" {
            break message;
        }
    };
    let expect = "cannot connect to db.example:3306: its name was not looked up within 10s; does the name server answer? An \
                  address needs none";
    assert_eq!(
        (&failed["class"], &failed["message"]),
        (&json!("target"), &json!(expect))
    );
    // The resolver itself would go on for two minutes.
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    assert_eq!(engine.exit_code(), 3);
}

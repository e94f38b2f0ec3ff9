//! Thousands of connections in one process: they all come, they all work, and they cost little memory, over a unix socket and
//! over TCP with TLS.

#[allow(dead_code)] // this test uses its own part of it
mod support;

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};
use support::{Engine, Server, data_plan};

const CONNECTIONS: u64 = 4_096;

/// A quarter of the 0.32 MB that sysbench takes for each of 1,024 connections.
const BYTES_PER_CONNECTION: u64 = 80 * 1024;

/// The server needs much longer for each, and about twice as much memory.
const TLS_CONNECTIONS: u64 = 1_024;

/// A TLS session has buffers and keys of its own. What sessions have in common, the authorities that are trusted and the
/// configuration, would be another 105 kB for each.
const BYTES_PER_TLS_CONNECTION: u64 = 100 * 1024;

/// As many authorities as a system trusts.
const AUTHORITIES: u32 = 140;

/// Certificates in a folder that is gone with the value.
struct Certificates(PathBuf);

impl Certificates {
    fn new() -> Self {
        let files = Self(PathBuf::from(format!("/var/tmp/plimsoll-many-{}", std::process::id())));
        std::fs::create_dir_all(&files.0).unwrap();
        let authorities: Vec<_> = (0..AUTHORITIES).map(|_| authority()).collect();
        let key = KeyPair::generate().unwrap();
        let server = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = server.signed_by(&key, &authorities[0]).unwrap();
        let all: Vec<String> = authorities.iter().map(CertifiedIssuer::pem).collect();
        for (name, text) in [
            ("ca", all.concat()),
            ("cert", certificate.pem()),
            ("key", key.serialize_pem()),
        ] {
            std::fs::write(files.path(name), text).unwrap();
        }
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.pem"))
    }
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

impl Drop for Certificates {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn thousands_of_connections_that_think_do_their_work_in_little_memory() {
    let certificates = Certificates::new();
    // On an address of this process a port that was free stays so until the server takes it.
    let id = std::process::id();
    let host = format!("127.{}.{}.{}", 1 + (id >> 16) % 250, (id >> 8) & 255, id & 255);
    let listener = TcpListener::bind((host.as_str(), 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let option = |name: &str, path: &Path| format!("--ssl-{name}={}", path.display());
    let options = [
        "--max-connections=5000".to_owned(),
        "--thread-handling=pool-of-threads".to_owned(),
        "--back-log=4096".to_owned(),
        "--skip-networking=0".to_owned(),
        format!("--bind-address={host}"),
        format!("--port={port}"),
        option("ca", &certificates.path("ca")),
        option("cert", &certificates.path("cert")),
        option("key", &certificates.path("key")),
    ];
    let Some(server) = Server::start_with(&options.each_ref().map(String::as_str)) else {
        return;
    };
    let mut prepare = Engine::start("prepare");
    prepare.say(&data_plan(&server.target(), 1_000));
    prepare.hear_type("done");
    let each = drive(&server.target(), CONNECTIONS, &json!(null));
    assert!(each < BYTES_PER_CONNECTION, "{each} bytes for each connection");
    let mut encrypted = server.target();
    encrypted["endpoint"] = json!({"tcp": {"host": host, "port": port}});
    encrypted["tls"] = json!({"verify_ca": {"ca": certificates.path("ca"), "client": null}});
    let each = drive(&encrypted, TLS_CONNECTIONS, &json!("TLSv1.3 TLS_AES_256_GCM_SHA384"));
    assert!(
        each < BYTES_PER_TLS_CONNECTION,
        "{each} bytes for each connection under TLS"
    );
}

/// Runs a load, and returns how much memory the engine took at most for each connection, bytes.
fn drive(target: &Value, connections: u64, agreed: &Value) -> u64 {
    let mut trial = Engine::start("trial");
    let plan = json!({
        "type": "plan", "protocol": 1, "seed": 1, "interval_ms": 1_000, "duration_ms": 6_000, "stop_at_stdin_end": true,
        "groups": [{
            "instance": "db", "targets": [{"role": "source", "target": target}],
            "workload": {"kind": "oltp_point_select", "table_size": 1_000},
            "arrivals": {"closed": {"think_time": {"exponential": {"mean_ms": 1_500}}}},
            "connections": connections, "connect": {"all_required": true},
        }],
    });
    trial.say(&plan.to_string());
    let ready = trial.hear_type("ready");
    assert_eq!(
        (
            &ready["connections"],
            &ready["failures"],
            &ready["encryptions"][0]["agreed"]
        ),
        (&json!(connections), &json!([]), agreed),
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
        assert_eq!(group["connected_count"], connections, "{group}");
        let counts = &group["snapshot"]["transactions"]["oltp_point_select"]["counts"];
        assert_eq!(counts["failed"], 0, "{counts}");
        completed += counts["completed"].as_u64().unwrap();
    };
    let count = |name: &str| done[name].as_u64().unwrap();
    assert_eq!(count("offered_count"), completed + count("unfinished_count"));
    // Four each on average, in six seconds of pauses of one and a half; fewer on a busy machine.
    assert!((connections..6 * connections).contains(&completed), "{completed}");
    let each = count("memory_bytes_max") / connections;
    eprintln!(
        "{completed} transactions, {each} bytes for each connection, connected in {} ms",
        ready["connect_ms"]
    );
    each
}

//! The executable as its starter sees it: messages, exit codes, and every way to end it.

mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use plimsoll_engine::unix_ns;
use plimsoll_sim::Sim;
use plimsoll_sim::hostile::{Step, let_in};
use rustix::process::{Pid, Signal, getpgid};
use serde_json::{Value, json};
use support::{Engine, Server, data_plan, trial_plan};

fn nobody() -> Value {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    json!({"endpoint": {"tcp": {"host": "127.0.0.1", "port": port}}, "user": "nobody", "password": "hush", "database": "x"})
}

#[test]
fn what_is_wrong_with_a_plan_is_named() {
    let plan = trial_plan(&nobody(), true);
    let refused = |from: &str, to: &str| {
        let (class, message, code) = Engine::refuse("trial", &plan.replace(from, to));
        assert_eq!((class.as_str(), code), ("spec", 2), "{message}");
        assert!(!message.contains("hush"), "a password in {message}");
        message
    };
    assert!(refused("\"seed\":1,", "").contains("missing field `seed`"));
    assert!(refused("\"seed\"", "\"sede\"").contains("unknown field `sede`"));
    assert!(refused("\"protocol\":1", "\"protocol\":2").contains("plan.protocol: is 2"));
    assert!(refused("\"interval_ms\":100", "\"interval_ms\":0").starts_with("interval_ms: must be"));
    assert!(refused("oltp_point_select", "oltp_poin_select").contains("oltp_poin_select"));
    assert!(refused("\"hush\"", "4711").contains("a password must be a string"));
    assert!(!refused("\"hush\"", "4711").contains("4711"));
    assert!(refused(&plan, "hello").contains("line 1 of standard input"));
    assert!(refused(&plan, "").contains("ended before a plan"));
    assert!(refused(&plan, "{\"type\":\"stop\"}").contains("`plan`"));
    assert_eq!(Engine::refuse("prepare", "{\"type\":\"start\"}").2, 2);
}

#[test]
fn a_fake_server_ends_with_its_input_and_leaves_no_socket() {
    let path = std::env::temp_dir().join(format!("plimsoll-sim-{}", std::process::id()));
    for socket in [json!(null), json!(path)] {
        let mut engine = Engine::start("sim");
        engine.say(&json!({"type": "plan", "protocol": 1, "socket": socket, "shapes": []}).to_string());
        assert_eq!(engine.hear()["type"], "listening");
        engine.end_input();
        assert_eq!(engine.hear()["type"], "done");
        assert_eq!(engine.exit_code(), 0);
        assert!(!path.exists());
    }
}

#[test]
fn a_relay_forwards_until_its_input_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = json!({"tcp": {"host": "127.0.0.1", "port": listener.local_addr().unwrap().port()}});
    let plan = |delay_ns: u64| json!({"type": "plan", "protocol": 1, "to": to, "delay_ns": delay_ns}).to_string();
    let mut engine = Engine::start("relay");
    engine.say(&plan(20_000_000));
    let port = engine.hear()["port"].as_u64().unwrap() as u16;
    let begin = Instant::now();
    let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    server.write_all(b"hello").unwrap();
    let mut heard = [0; 5];
    client.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"hello");
    assert!(begin.elapsed() >= Duration::from_millis(20));
    engine.end_input();
    assert_eq!(engine.hear()["type"], "done");
    assert_eq!(engine.exit_code(), 0);
    assert_eq!(
        client.read(&mut heard).unwrap(),
        0,
        "the connection ends with the relay"
    );
    let (class, message, code) = Engine::refuse("relay", &plan(60_000_000_001));
    assert_eq!((class.as_str(), code), ("spec", 2), "{message}");
    assert!(
        message.starts_with("delay_ns: must be at most 60000000000"),
        "{message}"
    );
}

/// Sizes that no machine has, and plans that would measure nothing.
#[test]
fn what_cannot_be_meant_is_refused_before_anything_is_allocated() {
    let target = nobody();
    let refused = |command, plan: &str, from: &str, to: &str| {
        assert!(plan.contains(from));
        let mut engine = Engine::start(command);
        engine.say(&plan.replace(from, to)); // input stays open: its end would end `prepare` without a word
        let failed = engine.hear();
        assert_eq!((&failed["class"], engine.exit_code()), (&json!("spec"), 2), "{failed}");
        failed["message"].as_str().unwrap().to_owned()
    };
    let trial = |from: &str, to: &str| refused("trial", &trial_plan(&target, true), from, to);
    assert!(
        trial("\"connections\":3", "\"connections\":4294967295").contains("at most 100000 together, are 4294967295")
    );
    assert!(trial("\"transactions_max\":null", "\"transactions_max\":0").contains("transactions_max: must be"));
    let source = json!({"role": "source", "target": target}).to_string();
    assert!(trial(&source, &format!("{source},{source}")).contains("2 have the role `source`"));
    let data = |from: &str, to: &str| refused("prepare", &data_plan(&target, 9), from, to);
    assert!(data("\"tables\":1", "\"tables\":4294967295").contains("data_set.tables: must be within 1..=100000"));
    assert!(data("\"loaders\":1", "\"loaders\":4294967295").contains("loaders: must be within 1..=1000"));
}

/// Nobody listens where the plans lead.
#[test]
fn faults_are_told_without_a_server() {
    let told = |plan: &str, from: &str, to: &str| {
        assert!(plan.contains(from));
        let (class, message, code) = Engine::refuse("faults", &plan.replace(from, to));
        assert_eq!((class.as_str(), code), ("spec", 2), "{message}");
        message
    };
    let (trial, data) = (trial_plan(&nobody(), true), data_plan(&nobody(), 9));
    assert!(told(&trial, "\"connections\":3", "\"connections\":0").contains("group.connections: must be"));
    assert!(told(&data, "\"tables\":1", "\"tables\":0").contains("data_set.tables: must be"));
    assert!(told(&trial, "\"protocol\":1", "\"protocol\":2").contains("plan.protocol: is 2"));
    told(&trial, &trial, "{\"type\":\"stop\"}");
    told(&trial, &trial, "");
    for plan in [trial, data] {
        let mut engine = Engine::start("faults");
        engine.say(&plan);
        assert_eq!((&engine.hear()["type"], engine.exit_code()), (&json!("done"), 0));
    }
}

#[test]
fn a_command_with_a_field_of_another_name_is_refused() {
    for command in ["start", "stop"] {
        let (_, message, code) = Engine::refuse("trial", &json!({"type": command, "at_unix_ms": 7}).to_string());
        assert!(message.contains("unknown field `at_unix_ms`") && code == 2, "{message}");
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    for (command, plan) in [
        ("trial", trial_plan(&nobody(), false)),
        ("check", data_plan(&nobody(), 9)),
    ] {
        let mut engine = Engine::start(command);
        engine.say(&plan);
        let failed = engine.hear();
        assert_eq!(
            (&failed["type"], &failed["class"]),
            (&json!("failed"), &json!("target")),
            "{failed}"
        );
        assert!(failed["message"].as_str().unwrap().contains("127.0.0.1:"), "{failed}");
        assert_eq!(engine.exit_code(), 3);
    }
}

#[test]
fn a_ping_is_answered_while_a_server_keeps_the_trial_waiting() {
    let silent = Sim::play([let_in(), vec![Step::Hang]].concat()).unwrap();
    let endpoint = json!({"tcp": {"host": "127.0.0.1", "port": silent.port()}});
    let mut engine = Engine::start("trial");
    engine.say(&trial_plan(
        &json!({"endpoint": endpoint, "user": "u", "database": "x"}),
        true,
    ));
    engine.say("{\"type\":\"ping\",\"id\":7}");
    let before_ns = unix_ns();
    let pong = engine.hear_type("pong");
    assert_eq!(pong["id"], 7);
    let second_ns = 1_000_000_000;
    let shown_ns = pong["unix_ns"].as_u64().unwrap();
    assert!((before_ns - 10 * second_ns..unix_ns()).contains(&shown_ns), "{pong}");
    engine.say("{\"type\":\"stop\"}");
}

#[test]
fn a_server_that_never_answers_does_not_keep_a_trial_from_ending() {
    let silent = Sim::play([let_in(), vec![Step::Hang]].concat()).unwrap();
    let endpoint = json!({"tcp": {"host": "127.0.0.1", "port": silent.port()}});
    let target = json!({"endpoint": endpoint, "user": "u", "database": "x"});
    for interrupt in [
        |engine: &mut Engine| engine.say("{\"type\":\"stop\"}"),
        |engine: &mut Engine| engine.end_input(),
    ] {
        let mut engine = Engine::start("trial");
        engine.say(&trial_plan(&target, true));
        interrupt(&mut engine);
        let done = engine.hear();
        assert_eq!(
            (&done["type"], &done["reason"]),
            (&json!("done"), &json!("stopped")),
            "{done}"
        );
        assert_eq!((&done["offered_count"], engine.exit_code()), (&json!(0), 0));
    }
}

#[test]
fn misuse_is_told_to_a_person_and_not_in_the_protocol() {
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll-engine"))
        .arg("run")
        .output()
        .unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("\"run\" is no command"));
}

#[test]
fn a_reader_that_is_gone_ends_it_quietly() {
    let mut process = Command::new(env!("CARGO_BIN_EXE_plimsoll-engine"))
        .arg("trial")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(process.stdout.take());
    drop(process.stdin.take());
    let mut errors = String::new();
    process.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!((errors.as_str(), process.wait().unwrap().code()), ("", Some(130)));
}

/// A trial that runs: `interval` 0 was heard.
fn running(target: &Value, stop_at_stdin_end: bool) -> Engine {
    let mut engine = Engine::start("trial");
    engine.say(&trial_plan(target, stop_at_stdin_end));
    assert_eq!(engine.hear_type("ready")["connections"], 3);
    engine.say("{\"type\":\"start\"}");
    assert_eq!(engine.hear_type("interval")["index"], 0);
    engine
}

/// It ends well, long before its time, with what was measured.
fn assert_stopped(mut engine: Engine) {
    let done = engine.hear_type("done");
    assert_eq!(done["reason"], "stopped");
    assert!(done["offered_count"].as_u64().unwrap() > 0 && done["duration_ns"].as_u64().unwrap() < 50_000_000_000);
    assert_eq!(engine.exit_code(), 0);
}

#[test]
fn a_real_server_carries_whole_conversations() {
    let Some(server) = Server::start() else { return };
    let target = server.target();
    data_sets_come_and_go(&target);
    let mut prepare = Engine::start("prepare");
    prepare.say(&data_plan(&target, 1_000));
    assert_eq!(prepare.hear_type("done")["rows_count"], 1_000);
    trials_end_in_every_way(&target);
    trials_that_never_start_end_too(&target);
    what_comes_out_of_order_is_refused(&target);
}

fn data_sets_come_and_go(target: &Value) {
    for (command, rows) in [("prepare", 2_000), ("check", 2_000), ("cleanup", 0)] {
        let mut engine = Engine::start(command);
        engine.say(&data_plan(target, 2_000));
        let done = engine.hear_type("done");
        assert_eq!(
            (&done["reason"], &done["rows_count"]),
            (&json!("completed"), &json!(rows))
        );
        assert_eq!(engine.exit_code(), 0);
    }
    for interrupt in [
        |engine: &mut Engine| engine.end_input(),
        |engine: &mut Engine| engine.signal(Signal::TERM),
    ] {
        let mut engine = Engine::start("prepare");
        engine.say(&data_plan(target, 5_000_000));
        engine.hear_type("progress");
        interrupt(&mut engine);
        assert_eq!(engine.process.wait().unwrap().code(), Some(130));
    }
    let mut cleanup = Engine::start("cleanup");
    cleanup.say(&data_plan(target, 5_000_000));
    cleanup.hear_type("done");
}

fn trials_end_in_every_way(target: &Value) {
    let mut engine = running(target, false);
    let pid = Pid::from_child(&engine.process);
    assert_eq!(getpgid(Some(pid)).unwrap(), pid, "a process group of its own");
    engine.say("{\"type\":\"stop\"}");
    assert_stopped(engine);
    for signal in [Signal::TERM, Signal::INT] {
        let mut engine = running(target, false);
        engine.end_input(); // which means nothing here
        engine.hear_type("interval");
        engine.signal(signal);
        assert_stopped(engine);
    }
    let mut engine = running(target, true);
    engine.end_input();
    assert_stopped(engine);
}

fn trials_that_never_start_end_too(target: &Value) {
    let mut engine = Engine::start("trial");
    engine.say(&trial_plan(target, false));
    engine.hear_type("ready");
    engine.end_input();
    let done = engine.hear_type("done");
    assert_eq!(
        (&done["reason"], &done["offered_count"]),
        (&json!("stopped"), &json!(0))
    );
    assert_eq!(engine.exit_code(), 0);
}

fn what_comes_out_of_order_is_refused(target: &Value) {
    for (line, named) in [
        ("{\"type\":\"strat\"}", "strat"),
        (&*trial_plan(target, true), "a second plan"),
    ] {
        let mut engine = running(target, true);
        engine.say(line);
        let failed = loop {
            let message = engine.hear();
            if message["type"] != "interval" {
                break message;
            }
        };
        assert!(failed["message"].as_str().unwrap().contains(named), "{failed}");
        assert_eq!(engine.exit_code(), 2);
    }
}

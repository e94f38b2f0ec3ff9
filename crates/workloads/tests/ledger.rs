//! The ledger follows promotions, and notes what it meets on the way.

mod support;

use std::fs;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_core::plan::{LedgerPlan, Target};
use plimsoll_sim::{Failure, Script, Sim};
use plimsoll_workloads::ledger::{Ledger, LedgerEvent};
use support::over_tcp;

fn sim(failure: Option<Failure>) -> (Sim, Target) {
    let script = Script {
        statement_delay: Duration::from_millis(1),
        failure,
        ..Script::default()
    };
    let sim = Sim::start(script).unwrap();
    let target = over_tcp("127.0.0.1", sim.port(), "root", "test");
    (sim, target)
}

/// Ends what hangs, not what is slow.
fn wait_until(is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(300), "it never came");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_worker_goes_on_past_servers_that_take_no_writes_and_servers_that_are_not_there() {
    let ((source, first), (_successor, successor)) = (sim(None), sim(None));
    let (_read_only, read_only) = sim(Some(Failure {
        every: 1,
        code: 1290,
        sqlstate: "HY000".to_owned(),
        message: "no writes".to_owned(),
    }));
    let absent = over_tcp("127.0.0.1", 1, "root", "test");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ledger");
    let _ = fs::remove_file(&path); // of a run before
    let plan = LedgerPlan {
        protocol: 1,
        seed: 1,
        target: first,
        connections: 1,
        ledger: path.clone(),
    };
    let ledger = Ledger::open(&plan).unwrap();
    let (control, (sender, events)) = (ledger.control(), channel());
    let writing = thread::spawn(move || ledger.write(&|event| sender.send(event).unwrap()));
    // Code, or nothing where it was acknowledged, and whether a transaction was sent.
    let lines = || -> Vec<(String, bool)> {
        let text = fs::read_to_string(&path).unwrap();
        let fields = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        fields.map(|line| (line[3..].concat(), line[1] != "0")).collect()
    };
    let ends_with = |code: &str| lines().last().is_some_and(|(last, _)| last == code);
    for (server, code) in [
        (None, ""),
        (Some(read_only), "1290"),
        (Some(absent), "2003"),
        (Some(successor), ""),
    ] {
        if let Some(server) = server {
            control.promote(server);
        }
        wait_until(|| writing.is_finished() || ends_with(code)); // what ended it is said below
    }
    control.stop();
    let done = writing.join().unwrap().unwrap();

    let mut met = lines();
    let of_kind = |is_kind: fn(&(String, bool)) -> bool| met.iter().filter(|line| is_kind(line)).count() as u64;
    let counts = (of_kind(|(_, is_sent)| *is_sent), of_kind(|(code, _)| code.is_empty()));
    assert_eq!((done.sent_count, done.acknowledged_count), counts);
    met.dedup();
    let expected = [("", true), ("1290", true), ("2003", false), ("", true)];
    assert_eq!(met, expected.map(|(code, is_sent)| (code.to_owned(), is_sent)));
    let told: Vec<LedgerEvent> = events
        .iter()
        .filter(|one| !matches!(one, LedgerEvent::Acknowledged(_)))
        .collect();
    let [LedgerEvent::Lost(lost), LedgerEvent::Resumed(resumed)] = &told[..] else {
        panic!("{told:?}");
    };
    assert_eq!(lost.code, 1290);
    assert!(lost.message.starts_with("no writes (error 1290"), "{}", lost.message);
    assert!(lost.monotonic_ns < resumed.monotonic_ns);
    assert_eq!(source.login_begins().len(), 2, "one makes the tables, one writes");
}

//! The protocol's documentation is true: its example is in the protocol, and every message and failure is described.

use plimsoll_core::message::{DataCommand, Message, TrialCommand};

fn document() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/engine-protocol.md");
    std::fs::read_to_string(path).unwrap()
}

fn lines_after(mark: &str) -> Vec<String> {
    let text = document();
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix(mark))
        .map(str::to_owned);
    lines.collect()
}

#[test]
fn the_example_session_is_in_the_protocol() {
    let said = lines_after("→ ");
    let heard = lines_after("← ");
    assert!(said.len() >= 3 && heard.len() >= 6);
    for line in said {
        let is_command =
            serde_json::from_str::<TrialCommand>(&line).is_ok() || serde_json::from_str::<DataCommand>(&line).is_ok();
        assert!(is_command, "{line}");
    }
    for line in heard {
        assert!(serde_json::from_str::<Message>(&line).is_ok(), "{line}");
    }
}

#[test]
fn every_message_command_and_class_is_described() {
    let text = document();
    let words = [
        "plan",
        "start",
        "stop",
        "hello",
        "ready",
        "interval",
        "progress",
        "warning",
        "done",
        "failed",
        "spec",
        "target",
        "host",
        "bug",
        "connections-missing",
        "columns-not-compared",
        "outage",
        "connections-stuck",
        "intervals-late",
    ];
    for word in words {
        assert!(
            text.contains(&format!("`{word}`")),
            "`{word}` is not in docs/engine-protocol.md"
        );
    }
}

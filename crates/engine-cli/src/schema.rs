//! The JSON Schema of the protocol, generated from the types that speak it.

use plimsoll_core::message::{
    DataCommand, LedgerCommand, Message, PROTOCOL, ReadLogsCommand, RelayCommand, SimCommand, TrialCommand,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

/// One document for both directions: `TrialCommand`, `DataCommand`, `SimCommand`, `RelayCommand`, `LedgerCommand` and
/// `ReadLogsCommand` are what the engine reads, `Message` is what it writes. Ends with a newline.
pub fn text() -> String {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let properties = json!({
        "TrialCommand": reference::<TrialCommand>(&mut generator),
        "DataCommand": reference::<DataCommand>(&mut generator),
        "SimCommand": reference::<SimCommand>(&mut generator),
        "RelayCommand": reference::<RelayCommand>(&mut generator),
        "LedgerCommand": reference::<LedgerCommand>(&mut generator),
        "ReadLogsCommand": reference::<ReadLogsCommand>(&mut generator),
        "Message": reference::<Message>(&mut generator),
    });
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("Plimsoll engine protocol {PROTOCOL}"),
        "description": "One JSON document a line. TrialCommand: standard input of `plimsoll-engine trial`. \
                        DataCommand: standard input of `prepare`, `check` and `cleanup`. SimCommand: standard input \
                        of `sim`. RelayCommand: standard input of `relay`. LedgerCommand: standard input of `ledger`. \
                        ReadLogsCommand: standard input of `read-logs`. Message: standard output.",
        "type": "object",
        "properties": properties,
        "$defs": generator.take_definitions(true),
    });
    serde_json::to_string_pretty(&schema).expect("a schema is a plain value") + "\n"
}

fn reference<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_schema_is_the_generated_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/engine-protocol.schema.json");
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            committed == text(),
            "docs/engine-protocol.schema.json is out of date: cargo run -p plimsoll-engine-cli -- schema > \
             docs/engine-protocol.schema.json"
        );
    }
}

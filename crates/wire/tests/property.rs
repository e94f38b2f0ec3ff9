//! What one side writes the other reads, whatever the values; and no bytes make a decoder panic. The fuzz targets' entries
//! are driven here by random bytes, by damaged packets and by the corpus, so that they run without a fuzzer.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_core::plan::{Endpoint, Secret, ServerKey, Target, Tls};
use plimsoll_sim::Sim;
use plimsoll_sim::hostile::{Step, let_in};
use plimsoll_sim::packets::{self, ResultSet, RowFormat};
use plimsoll_wire::codec::capability;
use plimsoll_wire::codec::cursor::{Cursor, put_lenenc};
use plimsoll_wire::codec::definitions::Definitions;
use plimsoll_wire::codec::greeting::Greeting;
use plimsoll_wire::codec::packet::{Header, SkipUntil, Skipped, Skipper};
use plimsoll_wire::codec::reply::{OkPacket, ReplyHead, ServerError};
use plimsoll_wire::codec::row::decode_text_row;
use plimsoll_wire::codec::statement::PrepareOk;
use plimsoll_wire::fuzz_entry::ENTRIES;
use plimsoll_wire::{
    ConnectOptions, Connection, Connector, Interrupter, PreparedStatement, Results, Sink, Value, Watch,
};
use proptest::prelude::*;

/// A parameter's value that owns its text.
#[derive(Clone, Debug, PartialEq)]
enum Owned {
    Null,
    Int(i64),
    Text(String),
}

impl Owned {
    fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(int) => Value::Int(*int),
            Self::Text(text) => Value::Text(text),
        }
    }
}

fn owned() -> impl Strategy<Value = Owned> {
    prop_oneof![
        Just(Owned::Null),
        any::<i64>().prop_map(Owned::Int),
        ".{0,300}".prop_map(Owned::Text)
    ]
}

/// Executions of one statement: each a row of as many values.
fn executions() -> impl Strategy<Value = Vec<Vec<Owned>>> {
    (0..70_usize).prop_flat_map(|count| prop::collection::vec(prop::collection::vec(owned(), count), 1..5))
}

/// Reads executions as a server does, which remembers types when none are sent.
struct ServerSide {
    types: Option<Vec<u8>>,
}

impl ServerSide {
    fn read(&mut self, payload: &[u8], count: usize) -> Vec<Owned> {
        let mut cursor = Cursor::new(payload);
        assert_eq!(cursor.bytes(10, "head").unwrap(), [0x17, 9, 0, 0, 0, 0, 1, 0, 0, 0]);
        if count == 0 {
            assert!(cursor.rest().is_empty());
            return Vec::new();
        }
        let nulls = cursor.bytes(count.div_ceil(8), "nulls").unwrap();
        if cursor.u8("types are sent").unwrap() == 1 {
            let types = cursor.bytes(2 * count, "types").unwrap();
            self.types = Some(types.chunks(2).map(|pair| pair[0]).collect());
        }
        let types = self.types.as_ref().expect("types come with the first execution");
        let read = |(index, kind): (usize, &u8)| match kind {
            _ if nulls[index / 8] & 1 << (index % 8) != 0 => Owned::Null,
            8 => Owned::Int(i64::from_le_bytes(cursor.bytes(8, "int").unwrap().try_into().unwrap())),
            253 => Owned::Text(String::from_utf8(cursor.lenenc_bytes("text").unwrap().to_vec()).unwrap()),
            other => panic!("type {other}"),
        };
        let values = types.iter().enumerate().map(read).collect();
        assert!(cursor.rest().is_empty());
        values
    }
}

fn skip_all(stream: &[u8], until: SkipUntil, sequence: u8) -> (u64, usize) {
    let mut skipper = Skipper::new(until, sequence);
    let (used, state) = skipper.advance(stream).unwrap();
    assert_eq!(state, Skipped::Done);
    (skipper.packets(), used)
}

fn rows() -> impl Strategy<Value = plimsoll_sim::Rows> {
    let value = prop::option::of(".{0,300}");
    (1..5_usize).prop_flat_map(move |count| prop::collection::vec(prop::collection::vec(value.clone(), count), 1..20))
}

proptest! {
    #[test]
    fn integers(value: u64, shift in 0..64) {
        let mut bytes = Vec::new();
        put_lenenc(&mut bytes, value >> shift);
        let mut cursor = Cursor::new(&bytes);
        prop_assert_eq!(cursor.lenenc("n"), Ok(value >> shift));
        prop_assert!(cursor.rest().is_empty());
    }

    #[test]
    fn headers(length in 0..=0xFF_FFFF_usize, sequence: u8) {
        let header = Header { length, sequence };
        prop_assert_eq!(Header::decode(header.encode()), header);
    }

    #[test]
    fn executions_are_read_as_they_were_written(executions in executions()) {
        let count = executions[0].len();
        let prepared = PrepareOk { id: 9, column_count: 0, parameter_count: count as u16 };
        let statement = PreparedStatement::new(prepared, Definitions::default(), 0);
        let mut server = ServerSide { types: None };
        for values in executions {
            let mut bytes = Vec::new();
            statement.encode_execute(&values.iter().map(Owned::value).collect::<Vec<_>>(), &mut bytes);
            prop_assert_eq!(server.read(&bytes, count), values);
        }
    }

    #[test]
    fn greetings(version in "[ -~]{0,50}", connection_id: u32) {
        let greeting = Greeting::decode(&packets::greeting(&version, connection_id, false)).unwrap();
        prop_assert!(version.ends_with(&greeting.server.version));
        prop_assert_eq!(greeting.server.connection_id, connection_id);
        prop_assert_eq!(&greeting.nonce, b"abcdefghijklmnopqrst");
        prop_assert_ne!(greeting.capabilities & capability::PLUGIN_AUTH, 0);
    }

    #[test]
    fn errors(code: u16, sqlstate in "[0-9A-Z]{5}", message in "[ -~ä]{0,100}") {
        let payload = packets::error(code, &sqlstate, &message);
        prop_assert_eq!(ServerError::decode(&payload), Ok(ServerError { code, sqlstate, message }));
    }

    #[test]
    fn oks(rows_affected: u64) {
        let expect = OkPacket { rows_affected, ..OkPacket::default() };
        prop_assert_eq!(OkPacket::decode(&packets::ok(rows_affected)), Ok(expect));
    }

    #[test]
    fn result_sets(rows in rows(), binary: bool) {
        let format = if binary { RowFormat::Binary } else { RowFormat::Text };
        let stream = packets::result_set(&ResultSet::of_texts(rows.clone()), format, false);
        let columns = rows[0].len() as u64;
        let head = ReplyHead::Columns { count: columns, has_definitions: true };
        prop_assert_eq!(ReplyHead::decode(&stream[4..5], false), Ok(head));
        // The EOF packet after the definitions would end the walk, so it is stepped over by its own length.
        let (_, used) = skip_all(&stream[5..], SkipUntil::Count(columns), 2);
        let start = 5 + used + 9;
        let (count, _) = skip_all(&stream[start..], SkipUntil::RowsEnd, (3 + columns) as u8);
        prop_assert_eq!(count, rows.len() as u64);
    }

    #[test]
    fn text_rows(rows in rows()) {
        for row in rows {
            prop_assert_eq!(decode_text_row(&packets::text_row(&row), row.len()), Ok(row));
        }
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        for (_, entry) in ENTRIES {
            entry(&bytes);
        }
    }

    #[test]
    fn damaged_packets_are_decoded_or_refused(
        file in 0..10_000_usize,
        damage in prop::collection::vec((any::<usize>(), any::<u8>()), 1..4),
        cut: usize,
    ) {
        let corpus = corpus();
        let (_, mut bytes) = corpus[file % corpus.len()].clone();
        for (at, byte) in damage {
            let length = bytes.len();
            bytes[at % length] = byte;
        }
        bytes.truncate(1 + cut % (2 * bytes.len()));
        for (_, entry) in ENTRIES {
            entry(&bytes);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_reply_ends_a_command(bytes in prop::collection::vec(any::<u8>(), 0..200), in_order: bool) {
        // Half of the cases get through to the decoders behind a proper header.
        let reply = if in_order { packets::packet(1, &bytes) } else { bytes };
        let mut steps = let_in();
        steps.extend([Step::AwaitPacket, Step::Send(reply)]);
        let sim = Sim::play(steps).unwrap();
        let target = Target {
            endpoint: Endpoint::Tcp { host: "127.0.0.1".to_owned(), port: sim.port() },
            user: "user".to_owned(),
            password: Secret::default(),
            database: String::new(),
            tls: Tls::Preferred,
            server_key: ServerKey::None,
        };
        let (server, watch) = (Connector::new(target), Watch::new(Duration::from_secs(10)));
        let open = || {
            let interrupter = Interrupter::default();
            watch.add(&interrupter).unwrap();
            server.open(&ConnectOptions::default(), &interrupter).unwrap()
        };
        for command in [|connection: &mut Connection| connection.query_rows("SELECT 1", 9).is_ok(),
                        |connection: &mut Connection| connection.query("SELECT 1").is_ok(),
                        |connection: &mut Connection| connection.run("SELECT 1", &[], Sink::Whole(&mut Results::new(999))).is_ok(),
                        |connection: &mut Connection| connection.prepare("SELECT 1").is_ok()] {
            let mut connection = open();
            command(&mut connection);
        }
    }
}

fn fuzz_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// All files of the corpus with the names of their entries.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for (name, _) in ENTRIES {
        for file in fs::read_dir(fuzz_directory().join("corpus").join(name)).unwrap() {
            files.push((name.to_owned(), fs::read(file.unwrap().path()).unwrap()));
        }
    }
    files
}

#[test]
fn the_corpus_is_decoded_or_refused() {
    for (name, bytes) in corpus() {
        let (_, entry) = ENTRIES.iter().find(|(entry, _)| *entry == name).unwrap();
        entry(&bytes);
    }
}

#[test]
fn each_entry_has_a_fuzz_target_and_a_corpus() {
    let manifest = fs::read_to_string(fuzz_directory().join("Cargo.toml")).unwrap();
    for (name, _) in ENTRIES {
        assert!(
            manifest.contains(&format!("name = \"{name}\"")),
            "fuzz/Cargo.toml does not name {name}"
        );
        let target = fs::read_to_string(fuzz_directory().join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(
            target.contains(&format!("fuzz_entry::{name}(")),
            "the target {name} drives another entry"
        );
        assert!(corpus().iter().any(|(entry, _)| entry == name), "{name} has no corpus");
    }
}

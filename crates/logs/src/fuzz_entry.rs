//! One entry for each decoder, taking any bytes. The fuzz targets and the tests drive the same; none may panic.

use plimsoll_core::plan::{AuditEscape, AuditPlan, AuditTime, LogFormat};

use crate::reader::{LogReader, Options};
use crate::statement::Lexer;
use crate::tables::Writers;

/// Takes any bytes.
pub type Entry = fn(&[u8]);

/// All entries with their names, which are those of the fuzz targets.
pub const ENTRIES: [(&str, Entry); 5] = [
    ("slow_log", slow_log),
    ("general_log", general_log),
    ("audit_log", audit_log),
    ("binary_log", binary_log),
    ("log_statement", log_statement),
];

/// A slow log, in two pieces.
pub fn slow_log(bytes: &[u8]) {
    read(LogFormat::Slow, bytes);
    read(LogFormat::Auto, bytes);
}

/// A general log, in two pieces.
pub fn general_log(bytes: &[u8]) {
    read(LogFormat::General, bytes);
}

/// An audit log, in two pieces, with each way to write quotes.
pub fn audit_log(bytes: &[u8]) {
    for (quote, escape) in [
        ("'", AuditEscape::Backslash),
        ("\"", AuditEscape::Doubled),
        ("^^", AuditEscape::Doubled),
    ] {
        let plan = AuditPlan {
            quote: quote.to_owned(),
            escape,
            time_format: AuditTime::UnixUs,
            query_time: Some(3),
            ..AuditPlan::of(4, 0, 1, 2)
        };
        read(LogFormat::Audit(plan), bytes);
    }
}

/// A binary log, in two pieces.
pub fn binary_log(bytes: &[u8]) {
    read(LogFormat::Binlog, bytes);
}

/// A statement.
pub fn log_statement(bytes: &[u8]) {
    let mut lexer = Lexer::default();
    lexer.read(bytes);
    let slots = lexer.slots();
    assert!(
        lexer.literals().iter().all(|literal| literal.slot < slots),
        "literals stand for slots"
    );
    let kind = lexer.kind(bytes);
    let template = lexer.template().to_vec();
    lexer.read(bytes);
    assert!(
        lexer.template() == template && lexer.kind(bytes) == kind,
        "nothing stays from before"
    );
}

fn read(format: LogFormat, bytes: &[u8]) {
    let writers = Writers {
        events: std::io::sink(),
        templates: std::io::sink(),
        literals: std::io::sink(),
        accounts: std::io::sink(),
        schemas: std::io::sink(),
        damage: std::io::sink(),
    };
    let options = Options {
        format,
        time_zone_offset_s: 3600,
        seconds_are_ends: false,
        literals_share: 1.0,
    };
    let mut reader = LogReader::new(options, writers);
    reader.begin("bytes");
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let _ = reader
        .feed(first)
        .and_then(|()| reader.feed(second))
        .and_then(|()| reader.end());
    let _ = reader.finish();
}

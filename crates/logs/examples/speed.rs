//! How fast slow logs are read: generates one like that of an online shop on MySQL and reads it into files.
//!
//!     cargo run --release -p plimsoll-logs --example speed -- /var/tmp/folder 500

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use plimsoll_core::plan::LogFormat;
use plimsoll_logs::{LogReader, Options, Writers};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().expect("a folder"));
    let megabytes: usize = arguments.next().expect("megabytes").parse().expect("a number");
    let log = generated(megabytes * 1_000_000);
    for literals_share in [1.0, 0.0, 1.0, 0.0] {
        let (began, began_s) = (Instant::now(), processor_s());
        let events = read(&log, &folder, literals_share);
        let (seconds, used_s) = (began.elapsed().as_secs_f64(), processor_s() - began_s);
        let megabytes = log.len() as f64 / 1e6;
        let with = if literals_share > 0.0 { "with" } else { "without" };
        println!(
            "{:.0} MB for each second of processor time, {:.0} MB/s, {with} literals, {events} statements",
            megabytes / used_s,
            megabytes / seconds
        );
    }
}

/// Processor time of this thread, seconds: what else runs on the machine hardly changes it.
fn processor_s() -> f64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let used_ns: f64 = stat
        .split(' ')
        .next()
        .and_then(|text| text.parse().ok())
        .expect("a number");
    used_ns / 1e9
}

fn read(log: &[u8], folder: &Path, literals_share: f64) -> u64 {
    let file = |name: &str| File::create(folder.join(name)).expect("a file");
    let writers = Writers {
        events: file("events.csv"),
        templates: file("templates.csv"),
        literals: file("literals.csv"),
        accounts: file("accounts.csv"),
        schemas: file("schemas.csv"),
        damage: file("damage.csv"),
    };
    let options = Options {
        format: LogFormat::Auto,
        time_zone_offset_s: 0,
        seconds_are_ends: false,
        literals_share,
    };
    let mut reader = LogReader::new(options, writers);
    reader.begin("generated");
    for piece in log.chunks(1 << 18) {
        reader.feed(piece).expect("a log");
    }
    reader.end().expect("a log");
    let facts = reader.finish().expect("tables");
    for name in ["events", "templates", "literals", "accounts", "schemas", "damage"] {
        fs::remove_file(folder.join(format!("{name}.csv"))).expect("it was there");
    }
    assert_eq!(facts.damaged_count, 0);
    facts.events_count
}

/// Entries as MySQL writes them without `log_slow_extra`: the shortest, so those with the most statements in each byte.
fn generated(bytes: usize) -> Vec<u8> {
    let mut log = Vec::with_capacity(bytes + 1000);
    let mut number: u64 = 1;
    while log.len() < bytes {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (id, us) = (number >> 40, log.len() / 1000 % 1_000_000);
        let text = match number >> 33 & 7 {
            0 => "BEGIN".to_owned(),
            1 => "COMMIT".to_owned(),
            2 => format!(
                "UPDATE stock SET quantity = quantity - {} WHERE item_id = {id} AND warehouse = 'w{}'",
                id % 9,
                id % 50
            ),
            3 => format!(
                "INSERT INTO orders (customer_id, placed, note) VALUES ({id}, '2026-11-23 10:00:00', 'it''s note {id}')"
            ),
            4 => format!(
                "SELECT id, name, price FROM items WHERE id IN ({id}, {}, {}, {}) ORDER BY name LIMIT 20",
                id + 1,
                id + 2,
                id + 3
            ),
            5 => format!(
                "INSERT INTO order_lines (order_id, item_id, quantity, price) VALUES ({id}, 1, 2, 9.99), ({id}, 2, 1, 19.5), ({id}, 3, 7, 0.5)"
            ),
            _ => format!(
                "SELECT o.id, o.placed, c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = {id} AND c.state <> 'closed'"
            ),
        };
        let entry = write!(
            log,
            "# Time: 2026-11-23T12:28:33.{us:06}Z\n# User@Host: shop[shop] @ app{}.example.com [10.0.0.{}]  Id: {:5}\n\
             # Query_time: 0.000{:03}  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1795436913;\n{text};\n",
            id % 4,
            id % 4,
            id % 500,
            id % 1000,
        );
        entry.expect("memory");
    }
    log
}

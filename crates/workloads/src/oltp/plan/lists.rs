//! `select_random_points` and `select_random_ranges`: one statement on the first table with many values of k.

use plimsoll_core::plan::OltpOptions;

use super::step::{Step, signed};
use super::texts::Texts;

/// Most values in one list: servers take 65,535 parameters.
pub const POINTS_MAX: u64 = 65_535;

/// Most ranges: each has two parameters.
pub const RANGES_MAX: u64 = POINTS_MAX / 2;

/// A select of the rows with any of the values.
pub fn points(options: &OltpOptions, texts: &mut Texts) -> Step {
    let count = options.random_points as usize;
    let list = vec!["?"; count].join(", ");
    Step::PointList {
        statement: texts.first("SELECT id, k, c, pad FROM ", &format!(" WHERE k IN ({list})")),
        count,
    }
}

/// The statement of [`points`] for readers: how many values the list has.
pub fn outline_points(sql: &str, count: usize) -> String {
    let head = sql.split_once(" IN (").map_or(sql, |(head, _)| head);
    format!("{head} IN (?, ...) ({count} values)")
}

/// The statement of [`ranges`] for readers: how many ranges it has.
pub fn outline_ranges(sql: &str, count: usize) -> String {
    let first = sql.split_once(" OR ").map_or(sql, |(first, _)| first);
    format!("{first} OR ... ({count} ranges)")
}

/// A count of the rows within any of the ranges.
pub fn ranges(options: &OltpOptions, texts: &mut Texts) -> Step {
    let count = options.number_of_ranges as usize;
    let ranges = vec!["k BETWEEN ? AND ?"; count].join(" OR ");
    Step::RangeList {
        statement: texts.first("SELECT count(k) FROM ", &format!(" WHERE {ranges}")),
        count,
        delta: signed(options.delta),
    }
}

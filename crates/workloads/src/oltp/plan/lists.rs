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

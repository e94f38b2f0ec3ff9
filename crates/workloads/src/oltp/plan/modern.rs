//! The transactions of sysbench 1.0 and 1.1.

use plimsoll_core::plan::OltpOptions;

use super::step::{Body, NewId, Step, Text, signed, some};
use super::texts::Texts;

/// Where new ids without `AUTO_INCREMENT` begin: the least value of column id.
const LEAST_ID: i64 = i32::MIN as i64;

/// Reads, writes, or both, within BEGIN and COMMIT.
pub fn transaction(options: &OltpOptions, texts: &mut Texts, (reads, writes): (bool, bool)) -> Body {
    let mut steps = Vec::new();
    if reads {
        steps.extend(some(options.point_selects, || points(texts, options.point_selects)));
        if options.range_selects {
            steps.extend(ranges(options, texts));
        }
    }
    if writes {
        steps.extend(updates(options.index_updates, options.non_index_updates, texts).steps);
        steps.extend(some(options.delete_inserts, || Step::Replacements {
            delete: texts.each("DELETE FROM ", " WHERE id=?"),
            insert: texts.each("INSERT INTO ", " (id, k, c, pad) VALUES (?, ?, ?, ?)"),
            count: options.delete_inserts,
            renewed: true,
        }));
    }
    Body {
        steps,
        writes,
        around: Some(("BEGIN".to_owned(), "COMMIT")),
    }
}

/// Selects of one row.
pub fn points(texts: &mut Texts, count: u32) -> Step {
    Step::ByRow {
        statement: texts.each("SELECT c FROM ", " WHERE id=?"),
        count,
    }
}

fn ranges(options: &OltpOptions, texts: &mut Texts) -> Vec<Step> {
    let kinds = [
        (options.simple_ranges, "SELECT c FROM ", ""),
        (options.sum_ranges, "SELECT SUM(k) FROM ", ""),
        (options.order_ranges, "SELECT c FROM ", " ORDER BY c"),
        (options.distinct_ranges, "SELECT DISTINCT c FROM ", " ORDER BY c"),
    ];
    let wanted = kinds.into_iter().filter(|(count, ..)| *count > 0);
    let step = |(count, before, after)| Step::ByRange {
        statement: texts.each(before, &format!(" WHERE id BETWEEN ? AND ?{after}")),
        count,
        beyond: signed(options.range_size) - 1,
        first_max: i64::MAX,
    };
    wanted.map(step).collect()
}

/// So many updates of the indexed column, and so many of another, without BEGIN and COMMIT.
pub fn updates(index: u32, non_index: u32, texts: &mut Texts) -> Body {
    let mut steps = Vec::new();
    steps.extend(some(index, || Step::ByRow {
        statement: texts.each("UPDATE ", " SET k=k+1 WHERE id=?"),
        count: index,
    }));
    steps.extend(some(non_index, || Step::Rewrites {
        statement: texts.each("UPDATE ", " SET c=? WHERE id=?"),
        count: non_index,
        text: Text::Groups,
    }));
    Body {
        steps,
        writes: true,
        around: None,
    }
}

/// One insert of a new row.
pub fn insert(options: &OltpOptions, texts: &mut Texts) -> Step {
    Step::Insert {
        statement: texts.each("INSERT INTO ", " (id, k, c, pad) VALUES (?, ?, ?, ?)"),
        id: if options.auto_increment {
            NewId::Server
        } else {
            NewId::Scattered(LEAST_ID)
        },
        text: Text::Groups,
    }
}

/// One delete of any row.
pub fn delete(texts: &mut Texts) -> Step {
    Step::ByRow {
        statement: texts.each("DELETE FROM ", " WHERE id=?"),
        count: 1,
    }
}

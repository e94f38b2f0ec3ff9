//! The modes of sysbench 0.4: `simple`, `complex`, `nontrx` and `sp`, on the one table `sbtest`.

use plimsoll_core::plan::{NontrxMode, OltpOptions};

use super::step::{Body, NewId, Step, Text, signed, some};
use super::texts::Texts;

/// Engines that know no transactions: `complex` locks its table there.
const WITHOUT_TRANSACTIONS: [&str; 7] = ["myisam", "aria", "memory", "heap", "archive", "csv", "merge"];

/// What replaces a deleted row.
const REPLACED: &str = " values(?,0,' ','aaaaaaaaaaffffffffffrrrrrrrrrreeeeeeeeeeyyyyyyyyyy')";

/// `complex`: reads, writes, or both, within BEGIN and COMMIT, or locks.
pub fn transaction(options: &OltpOptions, texts: &mut Texts) -> Body {
    let mut steps = Vec::new();
    if !options.write_only {
        steps.extend(some(options.point_selects, || {
            points(options, texts, options.point_selects)
        }));
        if options.range_selects {
            steps.extend(ranges(options, texts));
        }
    }
    if !options.read_only {
        steps.extend(writes(options, texts));
    }
    Body {
        steps,
        writes: !options.read_only,
        around: Some(around(options)),
    }
}

/// Whether the table is locked in place of a transaction.
pub fn locks(options: &OltpOptions) -> bool {
    let engine = options.storage_engine.to_ascii_lowercase();
    !options.skip_transaction && WITHOUT_TRANSACTIONS.contains(&&*engine)
}

fn around(options: &OltpOptions) -> (String, &'static str) {
    if !locks(options) {
        return ("BEGIN".to_owned(), "COMMIT");
    }
    let lock = if options.read_only { "READ" } else { "WRITE" };
    (format!("LOCK TABLES sbtest {lock}"), "UNLOCK TABLES")
}

/// Selects of one row.
pub fn points(options: &OltpOptions, texts: &mut Texts, count: u32) -> Step {
    let statement = match (options.point_select_handler, options.point_select_all_columns) {
        (true, _) => texts.each("HANDLER ", " READ `PRIMARY` = (?)"),
        (false, true) => texts.each("SELECT id, k, c, pad from ", " where id=?"),
        (false, false) => texts.each("SELECT c from ", " where id=?"),
    };
    Step::ByRow { statement, count }
}

/// What each connection says first that is to read by HANDLER.
pub fn open_handler() -> String {
    "HANDLER sbtest OPEN".to_owned()
}

/// `sp`: a call of the user's procedure.
pub fn call(options: &OltpOptions, texts: &mut Texts) -> Step {
    Step::Call(texts.alone(format!("CALL {}(?,?)", options.procedure)))
}

/// The first row is moved down so that a range ends within the table; `distinct` takes one row more than the others.
fn ranges(options: &OltpOptions, texts: &mut Texts) -> Vec<Step> {
    let size = signed(options.range_size);
    let kinds = [
        (options.simple_ranges, "SELECT c from ", "", size - 1),
        (options.sum_ranges, "SELECT SUM(K) from ", "", size - 1),
        (options.order_ranges, "SELECT c from ", " order by c", size - 1),
        (options.distinct_ranges, "SELECT DISTINCT c from ", " order by c", size),
    ];
    let wanted = kinds.into_iter().filter(|(count, ..)| *count > 0);
    let step = |(count, before, after, beyond)| Step::ByRange {
        statement: texts.each(before, &format!(" where id between ? and ?{after}")),
        count,
        beyond,
        first_max: (signed(options.table_size) - size).max(1),
    };
    wanted.map(step).collect()
}

fn writes(options: &OltpOptions, texts: &mut Texts) -> Vec<Step> {
    let mut steps = Vec::new();
    steps.extend(some(options.index_updates, || update_key(texts, options.index_updates)));
    steps.extend(some(options.non_index_updates, || {
        update_nokey(texts, options.non_index_updates)
    }));
    steps.extend(some(options.delete_inserts, || Step::Replacements {
        delete: texts.each("DELETE from ", " where id=?"),
        insert: texts.each("INSERT INTO ", REPLACED),
        count: options.delete_inserts,
        renewed: false,
    }));
    steps
}

fn update_key(texts: &mut Texts, count: u32) -> Step {
    Step::ByRow {
        statement: texts.each("UPDATE ", " set k=k+1 where id=?"),
        count,
    }
}

fn update_nokey(texts: &mut Texts, count: u32) -> Step {
    Step::Rewrites {
        statement: texts.each("UPDATE ", " set c=? where id=?"),
        count,
        text: Text::Integers,
    }
}

/// `nontrx`: the one statement asked for.
pub fn single(options: &OltpOptions, texts: &mut Texts) -> Body {
    let step = match options.nontrx_mode {
        NontrxMode::Select => Step::ByRow {
            statement: texts.each("SELECT pad from ", " where id=?"),
            count: 1,
        },
        NontrxMode::UpdateKey => update_key(texts, 1),
        NontrxMode::UpdateNokey => update_nokey(texts, 1),
        NontrxMode::Insert => Step::Insert {
            statement: texts.each("INSERT INTO ", " values(?,?,?,?)"),
            id: if options.auto_increment {
                NewId::Server
            } else {
                NewId::Scattered(0)
            },
            text: Text::Integers,
        },
        NontrxMode::Delete => Step::DeleteOnce(texts.each("DELETE from ", " where id=?")),
    };
    Body::single(step, options.nontrx_mode != NontrxMode::Select)
}

//! What a server counts of the work that clients give it.

use std::collections::BTreeMap;

use plimsoll_wire::Connection;

/// Counts per transaction may differ by so much of themselves.
const RATIO_MAX: f64 = 0.005;

/// What connecting costs, once.
const ONCE_MAX: f64 = 15.0;

/// Counts by name.
pub type Status = BTreeMap<String, f64>;

fn status(control: &mut Connection) -> Status {
    let rows = control.query_rows("SHOW GLOBAL STATUS", 10_000).unwrap();
    let of_work = |name: &str| {
        ["Com_", "Handler_", "Sort_", "Select_", "Innodb_rows_", "Bytes_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
    };
    let row = |row: Vec<Option<String>>| Some((row[0].clone()?, row[1].as_ref()?.parse().ok()?));
    rows.into_iter()
        .filter_map(row)
        .filter(|(name, _)| of_work(name))
        .collect()
}

/// What the server counted for each of so many transactions while `work` was done, without what the looking itself costs.
pub fn counted(control: &mut Connection, transactions: u64, work: impl FnOnce()) -> Status {
    let (first, before) = (status(control), status(control));
    work();
    let after = status(control);
    let each = |(name, after): (&String, &f64)| {
        let looking = before[name] - first[name];
        (name.clone(), (after - before[name] - looking) / transactions as f64)
    };
    after.iter().map(each).collect()
}

/// What differs by more than may be: a little of the counts for each transaction, and what one connection does once.
pub fn differences(ours: &Status, theirs: &Status, transactions: u64) -> Vec<String> {
    let once_max = ONCE_MAX / transactions as f64;
    let differs = |(name, ours): (&String, &f64)| {
        let theirs = theirs[name];
        let once = once_max * once_factor(name);
        ((ours - theirs).abs() > RATIO_MAX * theirs + once).then(|| format!("{name}: {ours} and not {theirs}"))
    };
    ours.iter().filter_map(differs).collect()
}

/// How much more of what is counted connecting costs: it sends texts, and prepares statements that are closed at the end.
fn once_factor(name: &str) -> f64 {
    match name {
        "Com_stmt_prepare" | "Com_stmt_close" => 4.0,
        _ if name.starts_with("Bytes_") => 100.0,
        _ => 1.0,
    }
}

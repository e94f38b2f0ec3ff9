//! The statements of each kind, against those that sysbench sends.

use plimsoll_core::plan::NontrxMode;

use super::*;

fn described(workload: &OltpPlan) -> Vec<String> {
    let transaction = Transaction::new(workload);
    let text = |kind: ForTable| {
        let last = kind.tables() as usize - 1;
        transaction.statements.text(kind.at(last)).to_owned()
    };
    let describe = |step: &Step| match *step {
        Step::Alone(id) | Step::Call(id) => transaction.statements.text(id).to_owned(),
        Step::ByRow { statement, count } | Step::Rewrites { statement, count, .. } => {
            format!("{count} x {}", text(statement))
        }
        Step::ByRange {
            statement,
            count,
            beyond,
            ..
        } => format!("{count} x {} ({beyond})", text(statement)),
        Step::Replacements {
            delete, insert, count, ..
        } => format!("{count} x {} + {}", text(delete), text(insert)),
        Step::Insert { statement, .. }
        | Step::DeleteOnce(statement)
        | Step::PointList { statement, .. }
        | Step::RangeList { statement, .. } => text(statement),
        Step::BulkInsert => "bulk".to_owned(),
    };
    transaction.steps.iter().map(describe).collect()
}

fn two_tables() -> OltpOptions {
    OltpOptions {
        tables: 2,
        ..OltpOptions::default()
    }
}

const READS: [&str; 5] = [
    "10 x SELECT c FROM sbtest2 WHERE id=?",
    "1 x SELECT c FROM sbtest2 WHERE id BETWEEN ? AND ? (99)",
    "1 x SELECT SUM(k) FROM sbtest2 WHERE id BETWEEN ? AND ? (99)",
    "1 x SELECT c FROM sbtest2 WHERE id BETWEEN ? AND ? ORDER BY c (99)",
    "1 x SELECT DISTINCT c FROM sbtest2 WHERE id BETWEEN ? AND ? ORDER BY c (99)",
];
const WRITES: [&str; 3] = [
    "1 x UPDATE sbtest2 SET k=k+1 WHERE id=?",
    "1 x UPDATE sbtest2 SET c=? WHERE id=?",
    "1 x DELETE FROM sbtest2 WHERE id=? + INSERT INTO sbtest2 (id, k, c, pad) VALUES (?, ?, ?, ?)",
];
const READS_04: [&str; 5] = [
    "10 x SELECT c from sbtest where id=?",
    "1 x SELECT c from sbtest where id between ? and ? (99)",
    "1 x SELECT SUM(K) from sbtest where id between ? and ? (99)",
    "1 x SELECT c from sbtest where id between ? and ? order by c (99)",
    "1 x SELECT DISTINCT c from sbtest where id between ? and ? order by c (100)",
];
const WRITES_04: [&str; 3] = [
    "1 x UPDATE sbtest set k=k+1 where id=?",
    "1 x UPDATE sbtest set c=? where id=?",
    "1 x DELETE from sbtest where id=? + INSERT INTO sbtest values(?,0,' ',\
     'aaaaaaaaaaffffffffffrrrrrrrrrreeeeeeeeeeyyyyyyyyyy')",
];

fn within(steps: &[&[&'static str]]) -> Vec<&'static str> {
    [&["BEGIN"][..], &steps.concat(), &["COMMIT"]].concat()
}

#[test]
fn transactions_are_those_of_sysbench_1() {
    let of = |kind: OltpKind| described(&kind.with(two_tables()));
    assert_eq!(of(OltpKind::ReadOnly), within(&[&READS]));
    assert_eq!(of(OltpKind::ReadWrite), within(&[&READS, &WRITES]));
    assert_eq!(of(OltpKind::WriteOnly), within(&[&WRITES]));
    assert_eq!(of(OltpKind::PointSelect), ["1 x SELECT c FROM sbtest2 WHERE id=?"]);
    assert_eq!(
        of(OltpKind::Insert),
        ["INSERT INTO sbtest2 (id, k, c, pad) VALUES (?, ?, ?, ?)"]
    );
    assert_eq!(of(OltpKind::Delete), ["1 x DELETE FROM sbtest2 WHERE id=?"]);
    assert_eq!(of(OltpKind::UpdateIndex), WRITES[..1]);
    assert_eq!(of(OltpKind::UpdateNonIndex), WRITES[1..2]);
    assert_eq!(of(OltpKind::BulkInsert), ["bulk"]);
}

#[test]
fn lists_of_values_are_as_long_as_asked_for_and_on_the_first_table() {
    let options = OltpOptions {
        random_points: 3,
        number_of_ranges: 2,
        ..two_tables()
    };
    assert_eq!(
        described(&OltpKind::RandomPoints.with(options.clone())),
        ["SELECT id, k, c, pad FROM sbtest1 WHERE k IN (?, ?, ?)"]
    );
    assert_eq!(
        described(&OltpKind::RandomRanges.with(options)),
        ["SELECT count(k) FROM sbtest1 WHERE k BETWEEN ? AND ? OR k BETWEEN ? AND ?"]
    );
}

#[test]
fn transactions_of_sysbench_04_are_on_its_one_table() {
    let options = OltpOptions::default();
    let complex = |options: OltpOptions| described(&OltpKind::Complex04.with(options));
    assert_eq!(complex(options.clone()), within(&[&READS_04, &WRITES_04]));
    let (read_only, write_only) = (true, true);
    let reads = OltpOptions {
        read_only,
        ..options.clone()
    };
    assert_eq!(complex(reads), within(&[&READS_04]));
    let writes = OltpOptions {
        write_only,
        ..options.clone()
    };
    assert_eq!(complex(writes), within(&[&WRITES_04]));
    assert_eq!(
        described(&OltpKind::Simple04.with(options)),
        ["1 x SELECT c from sbtest where id=?"]
    );
}

#[test]
fn an_engine_without_transactions_is_locked() {
    let options = |read_only| OltpOptions {
        storage_engine: "MyISAM".to_owned(),
        read_only,
        ..OltpOptions::default()
    };
    for (read_only, lock) in [(true, "LOCK TABLES sbtest READ"), (false, "LOCK TABLES sbtest WRITE")] {
        let steps = described(&OltpKind::Complex04.with(options(read_only)));
        assert_eq!((&*steps[0], &**steps.last().unwrap()), (lock, "UNLOCK TABLES"));
    }
}

#[test]
fn each_nontrx_mode_is_one_statement() {
    for (nontrx_mode, text) in [
        (NontrxMode::Select, "1 x SELECT pad from sbtest where id=?"),
        (NontrxMode::UpdateKey, "1 x UPDATE sbtest set k=k+1 where id=?"),
        (NontrxMode::UpdateNokey, "1 x UPDATE sbtest set c=? where id=?"),
        (NontrxMode::Insert, "INSERT INTO sbtest values(?,?,?,?)"),
        (NontrxMode::Delete, "DELETE from sbtest where id=?"),
    ] {
        let options = OltpOptions {
            nontrx_mode,
            ..OltpOptions::default()
        };
        assert_eq!(described(&OltpKind::Nontrx04.with(options)), [text]);
    }
}

#[test]
fn sysbench_04_selects_points_by_handler_or_whole_and_calls_procedures() {
    let simple = |options: OltpOptions| described(&OltpKind::Simple04.with(options));
    let handler = OltpOptions {
        point_select_handler: true,
        ..OltpOptions::default()
    };
    assert_eq!(simple(handler), ["1 x HANDLER sbtest READ `PRIMARY` = (?)"]);
    let whole = OltpOptions {
        point_select_all_columns: true,
        ..OltpOptions::default()
    };
    assert_eq!(simple(whole), ["1 x SELECT id, k, c, pad from sbtest where id=?"]);
    let call = OltpOptions {
        procedure: "shop.buy".to_owned(),
        ..OltpOptions::default()
    };
    assert_eq!(described(&OltpKind::Sp04.with(call)), ["CALL shop.buy(?,?)"]);
}

#[test]
fn what_is_not_wanted_is_left_out() {
    let options = OltpOptions {
        skip_transaction: true,
        point_selects: 0,
        order_ranges: 0,
        distinct_ranges: 0,
        sum_ranges: 3,
        ..two_tables()
    };
    assert_eq!(
        described(&OltpKind::ReadOnly.with(options.clone())),
        [
            "1 x SELECT c FROM sbtest2 WHERE id BETWEEN ? AND ? (99)",
            "3 x SELECT SUM(k) FROM sbtest2 WHERE id BETWEEN ? AND ? (99)"
        ]
    );
    let points_only = OltpOptions {
        range_selects: false,
        point_selects: 4,
        ..options
    };
    assert_eq!(
        described(&OltpKind::ReadOnly.with(points_only)),
        ["4 x SELECT c FROM sbtest2 WHERE id=?"]
    );
}

#[test]
fn there_are_as_many_statements_as_will_be_prepared() {
    let count = |kind: OltpKind| Transaction::new(&kind.with(two_tables())).statements.count();
    assert_eq!(count(OltpKind::ReadOnly), 2 + 5 * 2);
    assert_eq!(count(OltpKind::ReadWrite), 2 + 9 * 2);
    assert_eq!(count(OltpKind::PointSelect), 2);
    assert_eq!(count(OltpKind::RandomPoints), 1);
}

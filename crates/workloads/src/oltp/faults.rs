//! Options that make no sense, each told with its path, its value and the cure.

use plimsoll_core::plan::{Layout, OltpKind, OltpOptions, OltpPlan};

use super::plan::{self, POINTS_MAX, RANGES_MAX, Transaction};
use super::tables;

/// Most rows: the range of column id.
const ROWS_MAX: u64 = i32::MAX as u64;

/// Nobody takes longer than an hour between two statements, milliseconds.
const DELAY_MAX_MS: f64 = 3_600_000.0;

/// Most statements of one kind in a transaction.
const COUNT_MAX: u32 = 1_000_000;

/// All faults in the options of a workload.
pub fn faults(workload: &OltpPlan) -> Vec<String> {
    let options = &workload.options;
    let mut faults = Vec::new();
    let mut within = |name: &str, value: u64, last: u64| {
        if !(1..=last).contains(&value) {
            faults.push(format!("workload.{name}: must be within 1..={last}, is {value}"));
        }
    };
    within("tables", u64::from(options.tables), tables::TABLES_MAX);
    within("table_size", options.table_size, ROWS_MAX);
    within("range_size", options.range_size, ROWS_MAX);
    within("random_points", u64::from(options.random_points), POINTS_MAX);
    within("number_of_ranges", u64::from(options.number_of_ranges), RANGES_MAX);
    within("delta", options.delta.saturating_add(1), ROWS_MAX);
    faults.extend(
        options
            .distribution
            .faults()
            .into_iter()
            .map(|fault| format!("workload.distribution.{fault}")),
    );
    faults.extend(delay_fault(options));
    faults.extend(count_faults(options));
    if plan::layout(workload.kind) == Layout::Sysbench04 && options.tables != 1 {
        faults.push(format!(
            "workload.tables: sysbench 0.4 has one table, is {}",
            options.tables
        ));
    }
    faults.extend(procedure_fault(workload));
    if options.point_select_handler && plan::locks(workload) {
        faults.push(
            "workload.point_select_handler: a table that is locked by LOCK TABLES cannot be read by HANDLER; leave one \
             of the two out"
                .to_owned(),
        );
    }
    if options.read_only && options.write_only {
        faults.push("workload: is read_only and write_only at once: leave one of them out".to_owned());
    } else if faults.is_empty() && Transaction::new(workload).is_empty() {
        faults.push("workload: a transaction of no statements: ask for at least one select or update".to_owned());
    }
    faults
}

fn delay_fault(options: &OltpOptions) -> Option<String> {
    let delay = options.user_delay;
    let fits = 0.0 <= delay.min_ms && delay.min_ms <= delay.max_ms && delay.max_ms <= DELAY_MAX_MS;
    (!fits).then(|| {
        format!(
            "workload.user_delay: must be 0 <= min_ms <= max_ms <= {DELAY_MAX_MS}, is {} and {}",
            delay.min_ms, delay.max_ms
        )
    })
}

/// The name goes into the statement as it is.
fn procedure_fault(workload: &OltpPlan) -> Option<String> {
    let procedure = &workload.options.procedure;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_$.".contains(&byte);
    let is_name = (1..=129).contains(&procedure.len()) && procedure.bytes().all(is_letter);
    (workload.kind == OltpKind::Sp04 && !is_name).then(|| {
        format!(
            "workload.procedure: must be the name of a stored procedure, of letters, digits, `_`, `$` and a dot, is {procedure:?}"
        )
    })
}

fn count_faults(options: &OltpOptions) -> Vec<String> {
    let counts = [
        ("point_selects", options.point_selects),
        ("simple_ranges", options.simple_ranges),
        ("sum_ranges", options.sum_ranges),
        ("order_ranges", options.order_ranges),
        ("distinct_ranges", options.distinct_ranges),
        ("index_updates", options.index_updates),
        ("non_index_updates", options.non_index_updates),
        ("delete_inserts", options.delete_inserts),
    ];
    let too_many = counts.into_iter().filter(|(_, count)| *count > COUNT_MAX);
    too_many
        .map(|(name, count)| format!("workload.{name}: must be at most {COUNT_MAX}, is {count}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::plan::{Distribution, UserDelay, Zipfian};

    #[test]
    fn all_faults_of_the_options_are_named_at_once() {
        let options = OltpOptions {
            tables: 0,
            table_size: 3_000_000_000,
            distribution: Distribution::Zipfian(Zipfian { exponent: -1.0 }),
            user_delay: UserDelay {
                min_ms: 2.0,
                max_ms: 1.0,
            },
            ..OltpOptions::default()
        };
        let found = faults(&OltpKind::ReadOnly.with(options));
        assert_eq!(found.len(), 4, "{found:?}");
    }

    #[test]
    fn a_transaction_without_statements_is_refused() {
        let nothing = OltpOptions {
            index_updates: 0,
            non_index_updates: 0,
            delete_inserts: 0,
            ..OltpOptions::default()
        };
        for skip_transaction in [true, false] {
            let options = OltpOptions {
                skip_transaction,
                ..nothing.clone()
            };
            assert_eq!(faults(&OltpKind::WriteOnly.with(options)).len(), 1);
        }
        assert_eq!(faults(&OltpKind::UpdateIndex.with(nothing)).len(), 1);
    }

    #[test]
    fn handler_and_locks_exclude_each_other() {
        let options = OltpOptions {
            point_select_handler: true,
            storage_engine: "MyISAM".to_owned(),
            ..OltpOptions::default()
        };
        assert_eq!(faults(&OltpKind::Complex04.with(options.clone())).len(), 1);
        assert!(faults(&OltpKind::Simple04.with(options)).is_empty());
    }

    #[test]
    fn a_procedure_is_a_name_and_nothing_else() {
        let found = |procedure: &str| {
            faults(&OltpKind::Sp04.with(OltpOptions {
                procedure: procedure.to_owned(),
                ..OltpOptions::default()
            }))
        };
        assert_eq!(found("shop.buy"), Vec::<String>::new());
        for wrong in ["", "buy(1,2); DROP TABLE x", "a b"] {
            assert_eq!(found(wrong).len(), 1, "{wrong}");
        }
    }

    #[test]
    fn sysbench_04_has_one_table_and_one_direction() {
        let options = OltpOptions {
            tables: 2,
            read_only: true,
            write_only: true,
            ..OltpOptions::default()
        };
        assert_eq!(faults(&OltpKind::Complex04.with(options)).len(), 2);
    }
}

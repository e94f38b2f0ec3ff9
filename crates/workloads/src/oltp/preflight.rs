//! A look at the server before a trial: does everything exist that the workload needs, and is it enough.
//!
//! Tables that others made, sysbench among them, are used as they are. Deliberately not here: any change.

use std::collections::BTreeSet;

use plimsoll_core::message::EngineWarning;
use plimsoll_core::plan::{OltpOptions, OltpPlan, RoleTarget};
use plimsoll_core::random::{below, keyed};
use plimsoll_engine::WorkerFault;

use super::data::{self, KeyRange, Needs};
use super::plan::Transaction;
use super::tables::{self, Numbers};
use crate::distribution::Rows;
use crate::loading::mark::{Found, unfinished};
use crate::preflight::probe::Probe;

/// Keys drawn to see how many have no row, of all tables together. Each costs a look-up by the primary key: counting the
/// rows would read whole tables, and the largest id says nothing of the gaps below it.
const SAMPLE_COUNT: u32 = 10_000;

/// Keys drawn of each table, at least and at most: with the latter the share is exact to 2 to 3 % of the keys.
const SAMPLE_OF_TABLE: (u32, u32) = (20, 1_000);

/// Fewer keys without rows are no doubt.
const MISSED_RATIO_MIN: f64 = 0.01;

/// What to do with a `table_size` beyond what Plimsoll prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableSizes {
    /// Refuse it.
    AsPrepared,
    /// Draw keys without rows, and say so.
    Any,
}

/// Looks at each target once.
///
/// # Errors
/// When the workload cannot work there.
pub fn preflight(
    workload: &OltpPlan,
    targets: &[RoleTarget],
    connections: u32,
    sizes: TableSizes,
) -> Result<Vec<EngineWarning>, WorkerFault> {
    let (transaction, options) = (Transaction::new(workload), &workload.options);
    let mut warnings = Vec::new();
    for one in targets {
        let mut probe = OltpProbe::open(one, options, &transaction)?;
        probe.tables(sizes)?;
        if !transaction.is_enclosed {
            probe.server.autocommit()?;
        }
        let statements = if options.prepared {
            transaction.statements.count() as u64
        } else {
            0
        };
        probe.server.limits(connections, statements)?;
        warnings.extend(probe.keys()?);
        probe.server.connection.close();
    }
    Ok(warnings)
}

/// As [`preflight`], but keys beyond the rows of a table that Plimsoll made are a doubt and no error, as in sysbench.
///
/// # Errors
/// As [`preflight`].
pub fn preflight_as_sysbench(
    workload: &OltpPlan,
    targets: &[RoleTarget],
    connections: u32,
) -> Result<Vec<EngineWarning>, WorkerFault> {
    preflight(workload, targets, connections, TableSizes::Any)
}

/// Whether a table that the workload needs is on none of the targets, or not on all of them.
///
/// # Errors
/// When a target cannot be asked.
pub fn misses_tables(workload: &OltpPlan, targets: &[RoleTarget]) -> Result<bool, WorkerFault> {
    let (transaction, options) = (Transaction::new(workload), &workload.options);
    for one in targets {
        let mut probe = OltpProbe::open(one, options, &transaction)?;
        let numbers = probe.numbers;
        let found = probe.server.ask(|connection| data::find(connection, numbers))?;
        probe.server.connection.close();
        if found.contains(&Found::Nothing) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// One look at one server.
struct OltpProbe<'a> {
    server: Probe<'a>,
    options: &'a OltpOptions,
    transaction: &'a Transaction,
    numbers: Numbers,
}

impl<'a> OltpProbe<'a> {
    fn open(
        target: &'a RoleTarget,
        options: &'a OltpOptions,
        transaction: &'a Transaction,
    ) -> Result<Self, WorkerFault> {
        Ok(Self {
            server: Probe::open(&target.target)?,
            options,
            transaction,
            numbers: Numbers::new(transaction.layout, options.tables),
        })
    }

    /// Whether all tables are there, complete, large enough, and have the columns that the statements name.
    fn tables(&mut self, sizes: TableSizes) -> Result<(), WorkerFault> {
        let numbers = self.numbers;
        let found = self.server.ask(|connection| data::find(connection, numbers))?;
        let mut faults = missing(numbers, &found);
        let partial = numbers.iter().zip(&found).filter(|(_, one)| one.is_unfinished());
        faults.extend(partial.map(|(number, _)| unfinished(&tables::name(number))));
        if faults.is_empty() && sizes == TableSizes::AsPrepared && self.transaction.needs_rows() {
            faults.extend(too_small(numbers, &found, self.options.table_size));
        }
        if faults.is_empty() {
            let needs = Needs {
                layout: self.transaction.layout,
                auto_increment: self.transaction.needs_auto_increment(),
            };
            faults = self
                .server
                .ask(|connection| data::column_faults(connection, numbers, needs))?;
        }
        if faults.is_empty() {
            return Ok(());
        }
        Err(self.server.fault(&faults.join("; ")))
    }

    /// Whether there are rows where they are needed, and none where they would be in the way. A doubt when keys will be
    /// drawn for which there are no rows.
    fn keys(&mut self) -> Result<Option<EngineWarning>, WorkerFault> {
        let mut worst: Option<Missed> = None;
        if !self.transaction.needs_rows() && !self.transaction.needs_no_rows() {
            return Ok(None);
        }
        for number in self.numbers.iter() {
            let name = tables::name(number);
            let range = self.server.ask(|connection| data::key_range(connection, number))?;
            if self.transaction.needs_no_rows() {
                let Some(range) = range else { continue };
                let (first, last) = (range.first, range.last);
                return Err(self.server.fault(&format!(
                    "{name} holds ids from {first} to {last}, and the workload inserts from 1 on: make the table again with \
                     `plimsoll cleanup` and `plimsoll prepare`, in a study with reset = \"per_trial\""
                )));
            }
            let Some(range) = range else {
                return Err(self
                    .server
                    .fault(&format!("{name} is empty: make its rows with `plimsoll prepare`")));
            };
            let missed = self.missed(number, range)?;
            if missed.ratio >= worst.map_or(MISSED_RATIO_MIN, |worst| worst.ratio) {
                worst = Some(missed);
            }
        }
        Ok(worst.map(|missed| missed.warning(self.options.table_size)))
    }

    /// Looks up a sample of the keys that will be drawn, and one of all ids that the table may have.
    fn missed(&mut self, number: u32, range: KeyRange) -> Result<Missed, WorkerFault> {
        let count = (SAMPLE_COUNT / self.options.tables.max(1)).clamp(SAMPLE_OF_TABLE.0, SAMPLE_OF_TABLE.1);
        let (drawn, evenly) = (drawn(self.options, count), evenly(range, count));
        let ids: BTreeSet<i64> = drawn.iter().chain(&evenly).copied().collect();
        let present = self.server.ask(|connection| data::present(connection, number, &ids))?;
        Ok(Missed {
            number,
            range,
            ratio: absent_ratio(&drawn, &present),
            has_gaps: absent_ratio(&evenly, &present) >= MISSED_RATIO_MIN,
        })
    }
}

fn missing(numbers: Numbers, found: &[Found]) -> Vec<String> {
    let names: Vec<String> = numbers
        .iter()
        .zip(found)
        .filter(|(_, one)| **one == Found::Nothing)
        .map(|(number, _)| tables::name(number))
        .collect();
    match &names[..] {
        [] => vec![],
        [one] => vec![format!("table {one} does not exist: make it with `plimsoll prepare`")],
        [first, .., last] => {
            let count = names.len();
            vec![format!(
                "{count} tables do not exist ({first} … {last}): make them with `plimsoll prepare`"
            )]
        }
    }
}

/// Tables of ours that hold fewer rows than keys are drawn for.
fn too_small(numbers: Numbers, found: &[Found], table_size: u64) -> Option<String> {
    numbers.iter().zip(found).find_map(|(number, one)| {
        let Found::Ours(mark) = one else { return None };
        let rows = mark.number("rows").filter(|rows| (1..table_size).contains(rows))?;
        Some(format!(
            "{} was prepared with {rows} rows, and table_size is {table_size}: set table_size to {rows}, or make the tables again \
             with `plimsoll cleanup` and `plimsoll prepare`",
            tables::name(number)
        ))
    })
}

/// Keys as statements draw them.
fn drawn(options: &OltpOptions, count: u32) -> Vec<i64> {
    let rows = Rows::new(options.distribution, options.table_size as u32);
    let mut random = keyed(0, 0, 0);
    (0..count).map(|_| rows.draw(&mut random)).collect()
}

/// Ids from the first to the last of a table, one as probable as another.
fn evenly(range: KeyRange, count: u32) -> Vec<i64> {
    let mut random = keyed(0, 0, 1);
    let span = range.last.abs_diff(range.first).saturating_add(1);
    (0..count)
        .map(|_| range.first.saturating_add_unsigned(below(&mut random, span)))
        .collect()
}

fn absent_ratio(ids: &[i64], present: &BTreeSet<i64>) -> f64 {
    ids.iter().filter(|id| !present.contains(id)).count() as f64 / ids.len() as f64
}

/// The keys of one table for which there are no rows.
#[derive(Clone, Copy, Debug)]
struct Missed {
    number: u32,
    range: KeyRange,
    /// Of the keys that will be drawn, 0..=1.
    ratio: f64,
    /// Ids between the first and the last have no row.
    has_gaps: bool,
}

impl Missed {
    fn warning(&self, table_size: u64) -> EngineWarning {
        let (name, KeyRange { first, last }) = (tables::name(self.number), self.range);
        let is_dense = first == 1 && !self.has_gaps;
        let gaps = if self.has_gaps { ", with gaps" } else { "" };
        let advice = if is_dense {
            format!("Set table_size to {last}, or prepare tables of {table_size} rows.")
        } else {
            format!(
                "Prepare tables of {table_size} rows: no table_size fits ids that have gaps or do not begin with 1."
            )
        };
        EngineWarning {
            code: "key-range-misses-data".to_owned(),
            evidence: format!(
                "keys are drawn from 1 to {table_size}, but {name} holds ids from {first} to {last}{gaps}: about {:.1} % of the \
                 keys have no row",
                self.ratio * 100.0
            ),
            advice,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::plan::{Distribution, HotBand, Layout, OltpData};

    use crate::loading::mark::State;

    #[test]
    fn misses_are_estimated_under_the_distribution_in_use() {
        let rows: BTreeSet<i64> = (1..=1_000).collect();
        let missed = |distribution, table_size| {
            let options = OltpOptions {
                table_size,
                distribution,
                ..OltpOptions::default()
            };
            absent_ratio(&drawn(&options, 10_000), &rows)
        };
        let uniform = missed(Distribution::Uniform {}, 8_000);
        assert!((uniform - 0.875).abs() < 0.02, "{uniform}");
        let special = missed(Distribution::Special10(HotBand::default()), 8_000);
        assert!(special > 0.99, "the hot band lies in the middle: {special}");
        assert_eq!(missed(Distribution::Uniform {}, 1_000).to_bits(), 0);
    }

    #[test]
    fn a_table_size_is_advised_only_where_it_helps() {
        let warning = |first, has_gaps| {
            let range = KeyRange { first, last: 2_000 };
            let missed = Missed {
                number: 1,
                range,
                ratio: 0.28,
                has_gaps,
            };
            missed.warning(3_000)
        };
        assert!(warning(1, false).advice.starts_with("Set table_size to 2000"));
        assert!(warning(1, true).evidence.contains("with gaps: about 28.0 %"));
        for other in [warning(1, true), warning(500, false)] {
            assert!(!other.advice.contains("table_size to"), "{}", other.advice);
        }
    }

    #[test]
    fn ids_are_spread_over_the_widest_range() {
        let widest = KeyRange {
            first: i64::MIN,
            last: i64::MAX,
        };
        assert_eq!(evenly(widest, 100).len(), 100);
        assert_eq!(evenly(KeyRange { first: 7, last: 7 }, 3), [7, 7, 7]);
    }

    #[test]
    fn tables_of_ours_that_are_smaller_than_the_keys_are_refused() {
        let ours = |table_size| {
            let data = OltpData {
                table_size,
                ..OltpData::default()
            };
            Found::Ours(tables::mark(&data, State::Complete))
        };
        let numbers = Numbers::new(Layout::Sysbench1, 2);
        assert_eq!(too_small(numbers, &[ours(2_000), ours(3_000)], 2_000), None);
        assert_eq!(too_small(numbers, &[Found::Foreign, Found::Foreign], 2_000), None);
        let fault = too_small(numbers, &[ours(3_000), ours(2_000)], 2_001).unwrap();
        assert!(
            fault.starts_with("sbtest2 was prepared with 2000 rows, and table_size is 2001"),
            "{fault}"
        );
    }

    #[test]
    fn missing_tables_are_named_with_the_cure() {
        let missing = |found: &[Found]| missing(Numbers::new(Layout::Sysbench1, found.len() as u32), found);
        assert_eq!(missing(&[Found::Foreign]), Vec::<String>::new());
        assert!(missing(&[Found::Nothing])[0].starts_with("table sbtest1 does not exist"));
        assert!(missing(&[const { Found::Nothing }; 3])[0].contains("3 tables do not exist (sbtest1 … sbtest3)"));
    }
}

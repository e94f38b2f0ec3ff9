//! A look at the server before a trial: does everything exist that the workload needs, and is it enough.
//!
//! Tables that others made, sysbench among them, are used as they are. Deliberately not here: any change.

use plimsoll_core::message::EngineWarning;
use plimsoll_core::plan::{OltpOptions, RoleTarget, WorkloadPlan};
use plimsoll_core::random::keyed;
use plimsoll_engine::WorkerFault;

use super::data::{self, KeyRange, Needs};
use super::plan::{self, Transaction};
use super::tables::{self, Mark, Numbers};
use crate::distribution::Rows;
use crate::loading::mark::{Found, unfinished};
use crate::preflight::probe::Probe;

/// Keys drawn to see how many miss the data.
const SAMPLE_COUNT: u32 = 10_000;

/// Looks at each target once.
///
/// # Errors
/// When the workload cannot work there.
pub fn preflight(
    workload: &WorkloadPlan,
    targets: &[RoleTarget],
    connections: u32,
) -> Result<Vec<EngineWarning>, WorkerFault> {
    let (transaction, options) = (Transaction::new(workload), plan::options(workload));
    let mut warnings = Vec::new();
    for one in targets {
        let mut probe = OltpProbe::open(one, options, &transaction)?;
        probe.tables()?;
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

/// Whether a table that the workload needs is on none of the targets, or not on all of them.
///
/// # Errors
/// When a target cannot be asked.
pub fn misses_tables(workload: &WorkloadPlan, targets: &[RoleTarget]) -> Result<bool, WorkerFault> {
    let (transaction, options) = (Transaction::new(workload), plan::options(workload));
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

    /// Whether all tables are there, complete, and have the columns that the statements name.
    fn tables(&mut self) -> Result<(), WorkerFault> {
        let numbers = self.numbers;
        let found = self.server.ask(|connection| data::find(connection, numbers))?;
        let mut faults = missing(numbers, &found);
        let partial = numbers.iter().zip(&found).filter(|(_, one)| one.is_unfinished());
        faults.extend(partial.map(|(number, _)| unfinished(&tables::name(number))));
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
        let mut missed: Option<(u32, KeyRange, f64)> = None;
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
            let ratio = missed_ratio(self.options, range);
            if ratio > missed.map_or(0.0, |worst| worst.2) {
                missed = Some((number, range, ratio));
            }
        }
        Ok(missed.map(|(number, range, ratio)| warning(self.options, number, range, ratio)))
    }
}

fn missing(numbers: Numbers, found: &[Found<Mark>]) -> Vec<String> {
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

/// The share of drawn keys that are outside of the table, 0..=1, from a sample of draws.
fn missed_ratio(options: &OltpOptions, range: KeyRange) -> f64 {
    let rows = Rows::new(options.distribution, options.table_size as u32);
    let mut random = keyed(0, 0, 0);
    let misses = (0..SAMPLE_COUNT)
        .filter(|_| !(range.first..=range.last).contains(&rows.draw(&mut random)))
        .count();
    misses as f64 / f64::from(SAMPLE_COUNT)
}

fn warning(options: &OltpOptions, number: u32, range: KeyRange, ratio: f64) -> EngineWarning {
    let name = tables::name(number);
    EngineWarning {
        code: "key-range-misses-data".to_owned(),
        evidence: format!(
            "keys are drawn from 1 to {}, but {name} holds ids from {} to {}: about {:.1} % of its statements find no row",
            options.table_size,
            range.first,
            range.last,
            ratio * 100.0
        ),
        advice: format!(
            "Set table_size to {}, or prepare tables of {} rows.",
            range.last, options.table_size
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::plan::{Distribution, HotBand, Layout};

    #[test]
    fn misses_are_estimated_under_the_distribution_in_use() {
        let range = KeyRange { first: 1, last: 1_000 };
        let options = |distribution| OltpOptions {
            table_size: 8_000,
            distribution,
            ..OltpOptions::default()
        };
        let uniform = missed_ratio(&options(Distribution::Uniform {}), range);
        assert!((uniform - 0.875).abs() < 0.02, "{uniform}");
        let special = missed_ratio(&options(Distribution::Special10(HotBand::default())), range);
        assert!(special > 0.99, "the hot band lies in the middle: {special}");
        let whole = KeyRange { first: 1, last: 8_000 };
        assert_eq!(missed_ratio(&options(Distribution::Uniform {}), whole).to_bits(), 0);
    }

    #[test]
    fn missing_tables_are_named_with_the_cure() {
        let missing = |found: &[Found<Mark>]| missing(Numbers::new(Layout::Sysbench1, found.len() as u32), found);
        assert_eq!(missing(&[Found::Foreign]), Vec::<String>::new());
        assert!(missing(&[Found::Nothing])[0].starts_with("table sbtest1 does not exist"));
        assert!(missing(&[const { Found::Nothing }; 3])[0].contains("3 tables do not exist (sbtest1 … sbtest3)"));
    }
}

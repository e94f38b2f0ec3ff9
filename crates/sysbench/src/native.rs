//! The workloads that sysbench has as Lua modules, run by our own engine when they are called by their names.
//!
//! Options and all commands but `run` are the module's. A run that asks for what the engine has not (several hosts, reconnects,
//! a dry run) is the module's too, and so is one whose tables are missing; so is the first run of a script that users changed, since that is no module of ours.

use std::sync::Arc;

use plimsoll_core::plan::{OltpKind, OltpOptions, OltpPlan, RoleTarget};
use plimsoll_engine::WorkerFault;
use plimsoll_session::{GroupServers, Terms, Tolerance};
use plimsoll_wire::fault::client;
use plimsoll_workloads::Workload as _;

use crate::distributions::Distributions;
use crate::exit::Exit;
use crate::mysql::Ignored;
use crate::options::Options;
use crate::test::{Context, Run};

/// The workload of a module with these options; `None` where the engine does not run it as the module would, or refuses
/// it: a transaction without statements, say, is one to sysbench.
pub fn workload(module: &str, options: &Options) -> Option<OltpPlan> {
    let kind = match module {
        "oltp_read_only" => OltpKind::ReadOnly,
        "oltp_read_write" => OltpKind::ReadWrite,
        "oltp_write_only" => OltpKind::WriteOnly,
        "oltp_point_select" => OltpKind::PointSelect,
        "oltp_insert" => OltpKind::Insert,
        "oltp_delete" => OltpKind::Delete,
        "oltp_update_index" => OltpKind::UpdateIndex,
        "oltp_update_non_index" => OltpKind::UpdateNonIndex,
        "select_random_points" => OltpKind::RandomPoints,
        "select_random_ranges" => OltpKind::RandomRanges,
        _ => return None,
    };
    let is_plain = options.string("db-driver") == "mysql"
        && !options.bool("mysql-dry-run")
        && !options.bool("mysql-debug")
        && !options.bool("db-debug")
        && number(options, "reconnect") == 0.0
        && ["mysql-host", "mysql-port", "mysql-socket"]
            .iter()
            .all(|name| options.list(name).len() <= 1);
    let plan = is_plain.then(|| oltp(kind, options)).flatten();
    plan.filter(|plan| plan.faults().is_empty())
}

/// A run of one of our workloads, after a probe of the server.
///
/// # Errors
/// When it cannot work there; said in the log.
pub fn run(workload: &OltpPlan, targets: &[RoleTarget], context: &Arc<Context>, mode: String) -> Result<Run, Exit> {
    let log = &context.log;
    let fatal = |fault: WorkerFault| log.fatal(fault.message);
    let threads = context.threads;
    let terms = Terms::strict(tolerance(&context.options).map_err(|message| log.fatal(message))?);
    let factory = plimsoll_workloads::factory(
        workload,
        &GroupServers::new(targets, None),
        context.seed,
        threads,
        terms,
    )
    .map_err(fatal)?;
    for warning in plimsoll_workloads::preflight_as_sysbench(workload, targets, threads).map_err(fatal)? {
        log.doubt(&warning);
    }
    Ok(Run {
        factory,
        events_max: None,
        mode,
    })
}

/// What a run lives with: `--mysql-ignore-errors`.
fn tolerance(options: &Options) -> Result<Tolerance, String> {
    let ignored = Ignored::new(options)?;
    let lost_connections = client::LOST_ALL.iter().any(|code| ignored.contains(*code));
    let (codes, all) = match ignored {
        Ignored::All => (vec![], true),
        Ignored::Codes(codes) => (codes, false),
    };
    Ok(Tolerance {
        codes,
        all,
        lost_connections,
    })
}

/// `None` for numbers that are no counts.
fn oltp(kind: OltpKind, options: &Options) -> Option<OltpPlan> {
    let count = |name: &str| whole(options, name).and_then(|value| u32::try_from(value).ok());
    let is_on = |name: &str, default: bool| match options.get(name) {
        Some(crate::options::Value::Bool(value)) => *value,
        _ => default,
    };
    let defaults = OltpOptions::default();
    Some(kind.with(OltpOptions {
        tables: count("tables")?,
        table_size: whole(options, "table-size")?,
        distribution: Distributions::chosen(options).ok()?,
        range_size: whole(options, "range-size")?,
        range_selects: is_on("range-selects", true),
        point_selects: count("point-selects")?,
        simple_ranges: count("simple-ranges")?,
        sum_ranges: count("sum-ranges")?,
        order_ranges: count("order-ranges")?,
        distinct_ranges: count("distinct-ranges")?,
        index_updates: count("index-updates")?,
        non_index_updates: count("non-index-updates")?,
        delete_inserts: count("delete-inserts")?,
        random_points: count("random-points").unwrap_or(defaults.random_points),
        number_of_ranges: count("number-of-ranges").unwrap_or(defaults.number_of_ranges),
        delta: whole(options, "delta").unwrap_or(defaults.delta),
        auto_increment: is_on("auto-inc", true),
        skip_transaction: is_on("skip-trx", false),
        // The module never prepares its insert.
        prepared: kind != OltpKind::Insert && options.string("db-ps-mode") != "disable",
        ..defaults
    }))
}

/// An option of a script that is a whole number; scripts know only numbers.
fn whole(options: &Options, name: &str) -> Option<u64> {
    let value = number(options, name);
    (value >= 0.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0 && options.get(name).is_some())
        .then_some(value as u64)
}

/// 0 where there is no such number.
fn number(options: &Options, name: &str) -> f64 {
    match options.get(name) {
        Some(crate::options::Value::Double(value)) => *value,
        Some(crate::options::Value::Int(value)) => *value as f64,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_core::plan::{Distribution, Zipfian};

    use super::*;
    use crate::compat::Compat;
    use crate::options::line::CommandLine;
    use crate::options::{Kind, OptionSpec, declared};

    fn options(words: &[&str]) -> Options {
        let own = [
            ("tables", "1"),
            ("table_size", "10000"),
            ("range_size", "100"),
            ("point_selects", "10"),
            ("simple_ranges", "1"),
            ("sum_ranges", "1"),
            ("order_ranges", "1"),
            ("distinct_ranges", "1"),
            ("index_updates", "1"),
            ("non_index_updates", "1"),
            ("delete_inserts", "1"),
            ("reconnect", "0"),
        ];
        let mut specs = declared::all(Compat::V11);
        specs.extend(own.map(|(name, default)| OptionSpec::new(name, Kind::Double, default, "")));
        specs.push(OptionSpec::new("range_selects", Kind::Bool, "on", ""));
        let mut line = CommandLine::split(words.iter().map(|word| (*word).to_owned())).unwrap();
        let mut options = Options::default();
        line.take_declared(&specs, &mut options).unwrap();
        options
    }

    #[test]
    fn options_become_those_of_our_workload() {
        let given = options(&["--table-size=77", "--rand-type=zipfian", "--db-ps-mode=disable"]);
        let plan = workload("oltp_read_only", &given).expect("natively");
        let (kind, oltp) = (plan.kind, plan.options);
        assert_eq!(kind, OltpKind::ReadOnly);
        assert_eq!((oltp.table_size, oltp.prepared), (77, false));
        assert_eq!(oltp.distribution, Distribution::Zipfian(Zipfian { exponent: 0.8 }));
    }

    #[test]
    fn errors_that_are_lived_with_are_numbers_and_may_be_those_of_a_lost_connection() {
        let of = |words: &str| tolerance(&options(&[&format!("--mysql-ignore-errors={words}")]));
        let codes = |codes: &[u16], lost_connections| Tolerance {
            codes: codes.to_vec(),
            all: false,
            lost_connections,
        };
        assert_eq!(of("1213,1020"), Ok(codes(&[1213, 1020], false)));
        assert_eq!(of("1213,2013"), Ok(codes(&[1213, 2013], true)));
        assert!(of("all").is_ok_and(|all| all.all && all.lost_connections));
        assert_eq!(
            of("1213,deadlock"),
            Err("Invalid value for --mysql-ignore-errors: deadlock".to_owned())
        );
    }

    #[test]
    fn what_the_engine_has_not_is_left_to_the_module() {
        for words in [
            &["--reconnect=5"][..],
            &["--mysql-dry-run"],
            &["--mysql-host=a,b"],
            &["--tables=1.5"],
            &["--table-size=0"],
            &["--point-selects=0", "--range-selects=off"],
            &["--db-driver=pgsql"],
        ] {
            assert_eq!(workload("oltp_read_only", &options(words)), None, "{words:?}");
        }
        assert_eq!(workload("bulk_insert", &options(&[])), None);
    }

    #[test]
    fn inserts_are_text_as_in_sysbench() {
        let insert = workload("oltp_insert", &options(&[])).expect("natively");
        assert_eq!((insert.kind, insert.options.prepared), (OltpKind::Insert, false));
    }
}

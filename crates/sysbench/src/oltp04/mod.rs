//! The database test of sysbench 0.4: `--test=oltp`, on our own engine.

mod declared;
mod report;

use std::path::Path;
use std::sync::Arc;

use plimsoll_core::message::PROTOCOL;
use plimsoll_core::plan::{
    Bell, DataPlan, DataSet, Distribution, HotBand, Layout, LoadMethod, NontrxMode, OltpData, OltpKind, OltpOptions,
    OltpPlan, ReconnectMode, Role, RoleTarget, UserDelay,
};
use plimsoll_engine::WorkerFault;
use plimsoll_workloads::data::{self, DataEvent};

use crate::exit::Exit;
use crate::log::{Level, Log};
use crate::options::{OptionSpec, Options};
use crate::report::Stat;
use crate::test::{Context, Run, Test};
use crate::{mysql, native};

/// Its name. Later versions do not have it.
pub const NAME: &str = "oltp";

/// The one table that it can work on.
const TABLE: &str = "sbtest";

/// `--test=oltp`.
#[derive(Default)]
pub struct Oltp04 {
    context: Option<Arc<Context>>,
}

/// Whether a name means this test, and no script.
pub fn is_meant(name: Option<&str>) -> bool {
    name == Some(NAME) && !Path::new(NAME).is_file()
}

impl Oltp04 {
    fn context(&self) -> &Arc<Context> {
        self.context.as_ref().expect("configure comes first")
    }

    fn target(&self) -> Result<RoleTarget, Exit> {
        let context = self.context();
        let targets = mysql::targets(&context.options).map_err(|message| context.log.fatal(message))?;
        Ok(RoleTarget {
            role: Role::Source,
            instance: None,
            target: targets.next().target().clone(),
        })
    }

    fn data_plan(&self) -> Result<DataPlan, Exit> {
        let options = &self.context().options;
        Ok(DataPlan {
            protocol: PROTOCOL,
            target: self.target()?.target,
            data_set: DataSet::Oltp(OltpData {
                tables: 1,
                table_size: options.int("oltp-table-size").max(0) as u64,
                seed: self.context().seed,
                layout: Layout::Sysbench04,
                auto_increment: options.bool("oltp-auto-inc"),
                secondary: options.bool("oltp-secondary"),
                storage_engine: options.string("mysql-table-engine").to_owned(),
                table_options: options.string("mysql-create-options").to_owned(),
                ..OltpData::default()
            }),
            loaders: 1,
            method: LoadMethod::Auto,
            drop_foreign: true, // who says cleanup, or prepare, of this test means its table
        })
    }

    fn prepare(&self) -> Result<(), Exit> {
        let (plan, log) = (self.data_plan()?, &self.context().log);
        let size = self.context().options.int("oltp-table-size");
        log.line(Level::Notice, format_args!("Creating table '{TABLE}'..."));
        log.line(
            Level::Notice,
            format_args!("Creating {size} records in table '{TABLE}'..."),
        );
        data::prepare(&plan, &mut |event| warn(log, event)).map_err(|fault| failed(log, &fault))?;
        Ok(())
    }

    fn cleanup(&self) -> Result<(), Exit> {
        let (plan, log) = (self.data_plan()?, &self.context().log);
        log.line(Level::Notice, format_args!("Dropping table '{TABLE}'..."));
        data::cleanup(&plan, &mut |event| warn(log, event)).map_err(|fault| failed(log, &fault))?;
        log.line(Level::Notice, "Done.");
        Ok(())
    }
}

impl Test for Oltp04 {
    fn name(&self) -> String {
        NAME.to_owned()
    }

    fn options(&self) -> Vec<OptionSpec> {
        declared::options()
    }

    fn configure(&mut self, context: &Arc<Context>) -> Result<(), Exit> {
        let table = context.options.string("oltp-table-name");
        if table != TABLE {
            let message = format!("--oltp-table-name={table}: only a table named {TABLE} can be used");
            return Err(context.log.fatal(message));
        }
        workload(&context.options).map_err(|message| context.log.fatal(message))?;
        self.context = Some(Arc::clone(context));
        Ok(())
    }

    fn command(&mut self, name: &str) -> Option<Result<(), Exit>> {
        match name {
            "prepare" => Some(self.prepare()),
            "cleanup" => Some(self.cleanup()),
            _ => None,
        }
    }

    fn begin(&mut self) -> Result<Run, Exit> {
        let context = self.context();
        let log = &context.log;
        let workload = workload(&context.options).map_err(|message| log.fatal(message))?;
        native::run(&workload, &[self.target()?], context, mode(&context.options))
    }

    fn intermediate(&mut self, stat: &Stat, log: &Log) {
        report::intermediate(stat, log);
    }

    fn cumulative(&mut self, stat: &Stat, log: &Log) {
        log.line(Level::Notice, "Done.\n");
        report::cumulative(stat, log);
    }
}

/// The workload that the options ask for, or what is wrong with them.
fn workload(options: &Options) -> Result<OltpPlan, String> {
    let invalid = |name: &str| format!("Invalid value for --{name}: {}", options.string(name));
    let kind = match options.string("oltp-test-mode") {
        "simple" => OltpKind::Simple04,
        "complex" => OltpKind::Complex04,
        "nontrx" => OltpKind::Nontrx04,
        "sp" => OltpKind::Sp04,
        _ => return Err(invalid("oltp-test-mode")),
    };
    let nontrx_mode = match options.string("oltp-nontrx-mode") {
        "select" => NontrxMode::Select,
        "update_key" => NontrxMode::UpdateKey,
        "update_nokey" => NontrxMode::UpdateNokey,
        "insert" => NontrxMode::Insert,
        "delete" => NontrxMode::Delete,
        _ => return Err(invalid("oltp-nontrx-mode")),
    };
    let reconnect_mode = match options.string("oltp-reconnect-mode") {
        "session" => ReconnectMode::Session,
        "query" => ReconnectMode::Query,
        "transaction" => ReconnectMode::Transaction,
        "random" => ReconnectMode::Random,
        _ => return Err(invalid("oltp-reconnect-mode")),
    };
    let count = |name: &str| count(options, name);
    Ok(kind.with(OltpOptions {
        table_size: count("oltp-table-size")?.into(),
        distribution: distribution(options)?,
        range_size: count("oltp-range-size")?.into(),
        range_selects: options.bool("oltp-range-selects"),
        point_selects: count("oltp-point-selects")?,
        simple_ranges: count("oltp-simple-ranges")?,
        sum_ranges: count("oltp-sum-ranges")?,
        order_ranges: count("oltp-order-ranges")?,
        distinct_ranges: count("oltp-distinct-ranges")?,
        index_updates: count("oltp-index-updates")?,
        non_index_updates: count("oltp-non-index-updates")?,
        delete_inserts: count("oltp-delete-inserts")?,
        auto_increment: options.bool("oltp-auto-inc"),
        read_only: options.bool("oltp-read-only"),
        write_only: options.bool("oltp-write-only"),
        nontrx_mode,
        point_select_handler: options.bool("oltp-point-select-mysql-handler"),
        point_select_all_columns: options.bool("oltp-point-select-all-cols"),
        procedure: options.string("oltp-sp-name").to_owned(),
        storage_engine: options.string("mysql-table-engine").to_owned(),
        skip_transaction: options.bool("oltp-skip-trx"),
        prepared: options.string("db-ps-mode") != "disable",
        reconnect_mode,
        user_delay: UserDelay {
            min_ms: f64::from(count("oltp-user-delay-min")?) / 1e3,
            max_ms: f64::from(count("oltp-user-delay-max")?) / 1e3,
        },
        ..OltpOptions::default()
    }))
}

fn count(options: &Options, name: &str) -> Result<u32, String> {
    let value = options.int(name);
    u32::try_from(value).map_err(|_| format!("Invalid value for --{name}: {value}"))
}

fn distribution(options: &Options) -> Result<Distribution, String> {
    match options.string("oltp-dist-type") {
        "uniform" => Ok(Distribution::Uniform {}),
        "gaussian" => Ok(Distribution::Gaussian(Bell {
            draws: count(options, "oltp-dist-iter")?,
        })),
        "special" => Ok(Distribution::Special04(HotBand {
            hot_rows_percent: count(options, "oltp-dist-pct")?,
            hot_accesses_percent: count(options, "oltp-dist-res")?,
            draws: count(options, "oltp-dist-iter")?,
        })),
        other => Err(format!("Invalid random numbers distribution: {other}.")),
    }
}

/// What 0.4 says before it starts.
fn mode(options: &Options) -> String {
    let running = match options.string("oltp-test-mode") {
        "simple" => "Running simple OLTP test",
        "nontrx" => "Running non-transactional test",
        "sp" => "Running stored procedure test",
        _ => "Running mixed OLTP test",
    };
    let number = |name: &str| options.int(name);
    let using = match options.string("oltp-dist-type") {
        "uniform" => "Using Uniform distribution".to_owned(),
        "gaussian" => format!("Using Gaussian distribution ({} iterations)", number("oltp-dist-iter")),
        _ => format!(
            "Using Special distribution ({} iterations,  {} pct of values are returned in {} pct cases)",
            number("oltp-dist-iter"),
            number("oltp-dist-pct"),
            number("oltp-dist-res")
        ),
    };
    let limit = match number("events") {
        0 => String::new(),
        count => format!("Maximum number of requests for OLTP test is limited to {count}\n"),
    };
    format!(
        "Doing OLTP test.\n{running}\n{using}\nUsing \"BEGIN\" for starting transactions\nUsing auto_inc on the id \
         column\n{limit}"
    )
}

fn warn(log: &Log, event: DataEvent) {
    if let DataEvent::Warning(warning) = event {
        log.doubt(&warning);
    }
}

fn failed(log: &Log, fault: &WorkerFault) -> Exit {
    log.fatal(&fault.message)
}

//! A workload of sysbench called by its name: the module's options and commands, our engine's run.

use std::sync::Arc;

use plimsoll_core::plan::{Role, RoleTarget};

use crate::exit::Exit;
use crate::log::Log;
use crate::lua::LuaTest;
use crate::options::OptionSpec;
use crate::report::{Stat, sql};
use crate::settings::Settings;
use crate::test::{Context, Run, Test};
use crate::{mysql, native};

/// One of our own modules.
pub struct ByName {
    script: LuaTest,
    module: String,
    context: Option<Arc<Context>>,
    is_native: bool,
}

impl ByName {
    /// The module of this name.
    pub fn new(script: LuaTest, module: String) -> Self {
        Self {
            script,
            module,
            context: None,
            is_native: false,
        }
    }
}

impl Test for ByName {
    fn name(&self) -> String {
        self.script.name()
    }

    fn options(&self) -> Vec<OptionSpec> {
        self.script.options()
    }

    fn takes_any_option(&self) -> bool {
        self.script.takes_any_option()
    }

    fn needs_command(&self) -> bool {
        self.script.needs_command()
    }

    fn configure(&mut self, context: &Arc<Context>) -> Result<(), Exit> {
        self.context = Some(Arc::clone(context));
        self.script.configure(context)
    }

    fn command(&mut self, name: &str) -> Option<Result<(), Exit>> {
        self.script.command(name)
    }

    fn begin(&mut self) -> Result<Run, Exit> {
        let context = self.context.as_ref().expect("configure comes first");
        let Some(workload) = native::workload(&self.module, &context.options) else {
            return self.script.begin();
        };
        let targets = mysql::targets(&context.options).map_err(|message| context.log.fatal(message))?;
        let source = RoleTarget {
            role: Role::Source,
            instance: None,
            target: targets.next().target().clone(),
        };
        let targets = [source];
        let misses = plimsoll_workloads::misses_tables(&workload, &targets);
        if misses.map_err(|fault| context.log.fatal(fault.message))? {
            return self.script.begin(); // its first statement fails, and is told as sysbench tells it
        }
        self.is_native = true;
        native::run(&workload, &targets, context, String::new())
    }

    fn before_threads(&mut self, settings: &Settings) -> Result<(), Exit> {
        if self.is_native {
            return Ok(());
        }
        self.script.before_threads(settings)
    }

    fn intermediate(&mut self, stat: &Stat, log: &Log) {
        if self.is_native {
            sql::intermediate(stat, log);
        } else {
            self.script.intermediate(stat, log);
        }
    }

    fn cumulative(&mut self, stat: &Stat, log: &Log) {
        if self.is_native {
            sql::cumulative(stat, log);
        } else {
            self.script.cumulative(stat, log);
        }
    }

    fn before_last_report(&mut self) {
        self.script.before_last_report();
    }

    fn has_own_reports(&self) -> bool {
        !self.is_native && self.script.has_own_reports()
    }

    fn has_server(&self) -> bool {
        self.is_native || self.script.has_server()
    }

    fn reconnects(&self) -> u64 {
        self.script.reconnects()
    }

    fn end(&mut self) -> Result<(), Exit> {
        self.script.end()
    }
}

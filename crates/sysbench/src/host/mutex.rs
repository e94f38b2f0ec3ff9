//! The test `mutex`: random mutexes, many times.

use std::sync::Arc;

use plimsoll_host_tests::mutex::{self, Options};

use super::{at_least, setup};
use crate::exit::Exit;
use crate::options::{Kind, OptionSpec};
use crate::test::{Context, Run, Test};

/// The test.
#[derive(Default)]
pub struct Mutexes {
    context: Option<Arc<Context>>,
    options: Options,
}

impl Test for Mutexes {
    fn name(&self) -> String {
        "mutex".to_owned()
    }

    fn options(&self) -> Vec<OptionSpec> {
        let with = |name, default, help| OptionSpec::new(name, Kind::Int, default, help);
        vec![
            with("mutex-num", "4096", "total size of mutex array"),
            with("mutex-locks", "50000", "number of mutex locks to do per thread"),
            with("mutex-loops", "10000", "number of empty loops to do outside mutex lock"),
        ]
    }

    fn configure(&mut self, context: &Arc<Context>) -> Result<(), Exit> {
        self.options = Options {
            slots_count: at_least(context, "mutex-num", 1)?,
            locks_count: at_least(context, "mutex-locks", 0)?,
            loops_count: at_least(context, "mutex-loops", 0)?,
        };
        self.context = Some(Arc::clone(context));
        Ok(())
    }

    fn command(&mut self, _name: &str) -> Option<Result<(), Exit>> {
        None
    }

    fn begin(&mut self) -> Result<Run, Exit> {
        let context = self.context.as_ref().expect("configured");
        let factory = mutex::factory(self.options, &setup(context));
        Ok(Run {
            factory: factory.map_err(|fault| context.log.fatal(fault.message))?,
            events_max: Some(Some(context.threads.into())),
            mode: String::new(),
        })
    }
}

//! The test `threads`: the scheduler.

use std::sync::Arc;

use plimsoll_host_tests::threads::{self, Options};

use super::{at_least, setup};
use crate::exit::Exit;
use crate::options::{Kind, OptionSpec};
use crate::test::{Context, Run, Test};

/// The test.
#[derive(Default)]
pub struct Threads {
    context: Option<Arc<Context>>,
    options: Options,
}

impl Test for Threads {
    fn name(&self) -> String {
        "threads".to_owned()
    }

    fn options(&self) -> Vec<OptionSpec> {
        vec![
            OptionSpec::new("thread-yields", Kind::Int, "1000", "number of yields to do per request"),
            OptionSpec::new("thread-locks", Kind::Int, "8", "number of locks per thread"),
        ]
    }

    fn configure(&mut self, context: &Arc<Context>) -> Result<(), Exit> {
        self.options = Options {
            yields_count: at_least(context, "thread-yields", 0)?,
            locks_count: at_least(context, "thread-locks", 1)?,
        };
        self.context = Some(Arc::clone(context));
        Ok(())
    }

    fn command(&mut self, _name: &str) -> Option<Result<(), Exit>> {
        None
    }

    fn begin(&mut self) -> Result<Run, Exit> {
        let context = self.context.as_ref().expect("configured");
        let factory = threads::factory(self.options, &setup(context));
        Ok(Run {
            factory: factory.map_err(|fault| context.log.fatal(fault.message))?,
            events_max: None,
            mode: String::new(),
        })
    }
}

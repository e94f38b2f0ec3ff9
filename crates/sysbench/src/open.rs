//! Finds the test that a user names.

use std::io::Read;

use crate::by_name::ByName;
use crate::compat::Compat;
use crate::exit::Exit;
use crate::host;
use crate::log::Log;
use crate::lua::{CommandLine, LuaTest, Script};
use crate::oltp04::Oltp04;
use crate::test::{Context, Test};

/// The tests that are built in, a line each.
pub fn built_in() -> String {
    host::list()
}

/// Opens a test by its name or path; `-`, or nothing, reads a script from standard input.
///
/// # Errors
/// When there is none, or it is broken; said in the log.
pub fn open(name: Option<&str>, command_line: CommandLine, context: &Context) -> Result<Box<dyn Test>, Exit> {
    let Some(name) = name.filter(|name| *name != "-") else {
        let text = read_input(&context.log)?;
        return Ok(Box::new(LuaTest::open(Script::Text(&text), command_line, context)?));
    };
    if let Some(test) = host::open(name) {
        return Ok(test);
    }
    if context.compat == Compat::V04 {
        return Ok(Box::new(Oltp04::default()));
    }
    let script = LuaTest::open(Script::Named(name), command_line, context)?;
    Ok(match script.own_module().map(str::to_owned) {
        Some(module) => Box::new(ByName::new(script, module)),
        None => Box::new(script),
    })
}

fn read_input(log: &Log) -> Result<String, Exit> {
    let mut bytes = Vec::new();
    match std::io::stdin().read_to_end(&mut bytes) {
        Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => Err(log.fatal(format_args!("Cannot read standard input: {error}"))),
    }
}

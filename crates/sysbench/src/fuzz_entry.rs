//! One entry for the command line, taking any bytes. The fuzz target and the tests drive the same; it may not panic.

use crate::compat::Compat;
use crate::options::line::CommandLine;
use crate::options::{Options, declared};
use crate::settings::Settings;

/// A command line, one word a line.
pub fn command_line(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(line) = CommandLine::split(text.lines().map(str::to_owned)) else {
        return;
    };
    for compat in [Compat::V04, Compat::V10, Compat::V11] {
        let (mut line, mut options) = (line.clone(), Options::default());
        if compat == Compat::V04 {
            line.modernise();
        }
        if line.take_declared(&declared::all(compat), &mut options).is_ok() {
            let _ = Settings::of(&options, compat);
        }
    }
}

//! Finds the test that a user names.

use crate::compat::Compat;
use crate::exit::Exit;
use crate::host;
use crate::log::{Level, Log};
use crate::options::Options;
use crate::test::Test;

/// The database test of sysbench 0.4, which later versions do not have.
pub const OLTP_04: &str = "oltp";

/// Whether a name means the database test of 0.4.
pub fn is_oltp_04(name: Option<&str>) -> bool {
    name == Some(OLTP_04) && !std::path::Path::new(OLTP_04).is_file()
}

/// The tests that are built in, a line each.
pub fn built_in() -> String {
    host::list()
}

/// Opens a test by its name or path; `-` reads a script from standard input.
///
/// # Errors
/// When there is none, or it is broken; said in the log.
pub fn open(name: &str, _compat: Compat, _options: &Options, log: &Log) -> Result<Box<dyn Test>, Exit> {
    if let Some(test) = host::open(name) {
        return Ok(test);
    }
    log.text(
        Level::Fatal,
        format_args!("Cannot find benchmark '{name}': no such built-in test, file or module"),
    );
    Err(Exit::FAILED)
}

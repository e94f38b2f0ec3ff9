//! What all states of one script share: which script it is, the log, what the options mean for the host, and the options
//! themselves once the script's own are known.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock};

use super::rand::Unique;
use crate::compat::Compat;
use crate::distributions::Distributions;
use crate::log::Log;
use crate::mysql::{Ignored, Targets, doubts, targets};
use crate::options::{Options, Value};
use crate::test::Context;

/// Where a script comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file.
    File(String),
    /// A module, found by `require`.
    Module(String),
    /// Text that was read already.
    Text(String),
}

/// What was typed on the command line, as scripts see it.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    /// All words, the program's name first.
    pub argv: Vec<String>,
    /// The command, if there is one.
    pub command: Option<String>,
}

/// What all states of one script share.
pub struct Shared {
    pub source: Source,
    /// The script as it was typed; empty for one from standard input.
    pub script_path: String,
    pub command_line: CommandLine,
    pub log: Arc<Log>,
    pub unique: Unique,
    /// Reconnects that scripts asked for.
    pub reconnects_count: AtomicU64,
    /// A script asked for a driver, so reports tell of statements.
    pub has_driver: AtomicBool,
    /// A connection was opened.
    pub has_connected: AtomicBool,
    pub config: Config,
    /// All options. The script's body runs before its own can be read, and finds none.
    pub options: OnceLock<Options>,
}

impl Shared {
    /// A script whose own options are not known yet, and what has to be said about the others.
    ///
    /// # Errors
    /// What is wrong with their values.
    pub fn new(
        source: Source,
        script_path: &str,
        command_line: CommandLine,
        context: &Context,
    ) -> Result<(Self, Vec<String>), String> {
        let (config, doubts) = Config::new(context)?;
        let shared = Self {
            source,
            script_path: script_path.to_owned(),
            command_line,
            log: Arc::clone(&context.log),
            unique: Unique::default(),
            reconnects_count: AtomicU64::new(0),
            has_driver: AtomicBool::new(false),
            has_connected: AtomicBool::new(false),
            config,
            options: OnceLock::new(),
        };
        shared.unique.seed(context.seed);
        Ok((shared, doubts))
    }
}

/// The options as the host needs them.
pub struct Config {
    pub targets: Targets,
    pub ignored: Ignored,
    pub distributions: Distributions,
    pub seed: u64,
    pub threads: u32,
    pub compat: Compat,
    /// `--mysql-dry-run`: nothing is sent.
    pub is_dry: bool,
    /// `--db-ps-mode=disable`: values are put into the text.
    pub emulates_prepared: bool,
    /// `--db-driver`.
    pub driver: String,
    /// `--luajit-cmd`.
    pub luajit_command: Option<String>,
}

impl Config {
    fn new(context: &Context) -> Result<(Self, Vec<String>), String> {
        let options = &context.options;
        let (distributions, faults) = Distributions::all(options)?;
        let config = Self {
            targets: targets(options)?,
            ignored: Ignored::new(options)?,
            distributions,
            seed: context.seed,
            threads: context.threads,
            compat: context.compat,
            is_dry: matches!(options.get("mysql-dry-run"), Some(Value::Bool(true))),
            emulates_prepared: emulates_prepared(text(options, "db-ps-mode").unwrap_or("auto"))?,
            driver: text(options, "db-driver").unwrap_or("mysql").to_owned(),
            luajit_command: text(options, "luajit-cmd").map(str::to_owned),
        };
        Ok((config, [faults, doubts(options)].concat()))
    }
}

fn emulates_prepared(mode: &str) -> Result<bool, String> {
    match mode {
        "auto" => Ok(false),
        "disable" => Ok(true),
        _ => Err(format!("Invalid value for db-ps-mode: {mode}")),
    }
}

fn text<'a>(options: &'a Options, name: &str) -> Option<&'a str> {
    match options.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

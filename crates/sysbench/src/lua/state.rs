//! One Lua state with everything that a script finds in it. It lives and dies in one thread.

use std::rc::Rc;
use std::sync::Arc;

use mlua::{FromLuaMulti, Function, IntoLuaMulti, Lua, MultiValue, Table, Value as LuaValue};

use super::host::Host;
use super::memory;
use super::modules::RUNTIME;
use super::rand::Draws;
use super::raw_state::RawState;
use super::shared::{Shared, Source};
use crate::options::{Options, Value, declared};

/// A new state takes less than this. It must have it: what the libraries do at their begin cannot fail in good order.
const STATE_BYTES: usize = 2 * 1024 * 1024;

/// Which kind of thread a state belongs to: each has a sequence of random numbers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The one that leads, and writes the last report.
    Master,
    /// One of a run.
    Worker,
    /// One of a command.
    Command,
    /// One that writes reports while the load runs.
    Report,
}

/// A Lua state.
pub struct State {
    /// Calls all others. Gone before the state is closed.
    protected: Function,
    raw: RawState,
    kind: Kind,
    pub host: Rc<Host>,
}

impl State {
    /// A state with all libraries and the script loaded. A message where that fails.
    ///
    /// # Errors
    /// What went wrong, as Lua says it.
    pub fn load(shared: &Arc<Shared>, kind: Kind, tid: u32) -> Result<Self, String> {
        let state = Self::empty(shared, kind, tid)?;
        state.load_script()?;
        Ok(state)
    }

    /// Runs the script's body in a state that has none yet, and makes the options known to it.
    ///
    /// # Errors
    /// What went wrong, as Lua says it.
    pub fn load_script(&self) -> Result<(), String> {
        let shared = &self.host.thread.shared;
        match &shared.source {
            Source::File(path) => self.call::<()>("load_file", path.as_str())?,
            Source::Module(name) => self.call::<()>("load_module", name.as_str())?,
            Source::Text(text) => self.call::<()>("load_text", text.as_str())?,
        }
        shared.options.get().map_or(Ok(()), |options| self.set_options(options))
    }

    /// A state with all libraries and no script.
    ///
    /// # Errors
    /// Where there is no memory for it.
    pub fn empty(shared: &Arc<Shared>, kind: Kind, tid: u32) -> Result<Self, String> {
        memory::limit_to_half_of_machine();
        if memory::left_bytes() < STATE_BYTES {
            return Err("not enough memory".to_owned());
        }
        super::exports::link();
        let config = &shared.config;
        let draws = Draws::new(config.distributions, config.seed, kind as u64, tid);
        let host = Rc::new(Host::new(Arc::clone(shared), tid, draws));
        let raw = RawState::open(Rc::clone(&host)).ok_or("not enough memory")?;
        let lua = raw.lua();
        let protected = host.enter(|| runtime(lua));
        let is_ready = protected.as_ref().map(|_| ()).map_err(ToString::to_string);
        let state = Self {
            protected: protected
                .or_else(|_| lua.load("return false").into_function())
                .map_err(shown)?,
            raw,
            kind,
            host,
        };
        is_ready?;
        state.begin()?;
        Ok(state)
    }

    fn begin(&self) -> Result<(), String> {
        let shared = &self.host.thread.shared;
        let script = || -> mlua::Result<Table> {
            let argv = self.raw.lua().create_table()?;
            for (place, word) in shared.command_line.argv.iter().enumerate() {
                argv.raw_set(place, word.as_str())?;
            }
            let script = self.raw.lua().create_table()?;
            script.raw_set("tid", self.host.tid)?;
            script.raw_set("is_master", self.kind == Kind::Master)?;
            if !matches!(shared.source, Source::Text(_)) {
                script.raw_set("path", shared.script_path.as_str())?;
            }
            script.raw_set("is_file", matches!(shared.source, Source::File(_)))?;
            script.raw_set("argv", argv)?;
            script.raw_set("command", shared.command_line.command.as_deref())?;
            script.raw_set("version", shared.config.compat.version())?;
            script.raw_set("long_version", shared.config.compat.long_version())?;
            script.raw_set("luajit_command", shared.config.luajit_command.as_deref())?;
            Ok(script)
        };
        self.call("begin", script().map_err(shown)?)
    }

    /// Makes the options known to the script.
    ///
    /// # Errors
    /// Where there is no memory for it.
    pub fn set_options(&self, options: &Options) -> Result<(), String> {
        let table = || -> mlua::Result<Table> {
            let table = self.raw.lua().create_table()?;
            let shown = options.iter().filter(|(name, _)| !name.starts_with(declared::OWN));
            for (name, value) in shown {
                table.raw_set(name.replace('-', "_"), self.option(value)?)?;
            }
            Ok(table)
        };
        self.call("options", table().map_err(shown)?)
    }

    fn option(&self, value: &Value) -> mlua::Result<LuaValue> {
        Ok(match value {
            Value::Bool(value) => LuaValue::Boolean(*value),
            Value::Int(value) => LuaValue::Number(*value as f64),
            Value::Size(value) => LuaValue::Number(*value as f64),
            Value::Double(value) => LuaValue::Number(*value),
            Value::String(text) => LuaValue::String(self.raw.lua().create_string(text)?),
            Value::List(items) => {
                LuaValue::Table(self.raw.lua().create_sequence_from(items.iter().map(String::as_str))?)
            }
            Value::Percentiles(percents) => LuaValue::Number(percents.first().copied().unwrap_or_default()),
            Value::File(_) => LuaValue::Nil,
        })
    }

    /// A table made in this state.
    ///
    /// # Errors
    /// Where there is no memory for it.
    pub fn table(&self, fields: &[(&str, f64)]) -> Result<Table, String> {
        self.raw.lua().create_table_from(fields.iter().copied()).map_err(shown)
    }

    /// Calls a function of `host.lua`.
    ///
    /// # Errors
    /// What went wrong, as the script's error says it.
    pub fn call<R: FromLuaMulti>(&self, name: &str, arguments: impl IntoLuaMulti) -> Result<R, String> {
        self.host.enter(|| self.call_entered(name, arguments))
    }

    /// The same where the host was entered before.
    ///
    /// # Errors
    /// The same.
    pub fn call_entered<R: FromLuaMulti>(&self, name: &str, arguments: impl IntoLuaMulti) -> Result<R, String> {
        let mut all = arguments.into_lua_multi(self.raw.lua()).map_err(shown)?;
        all.push_front(LuaValue::String(self.raw.lua().create_string(name).map_err(shown)?));
        let mut results: MultiValue = self.protected.call(all).map_err(shown)?;
        let is_done = results.pop_front() == Some(LuaValue::Boolean(true));
        if self.host.is_broken() {
            return Err("a defect of this program, see above".to_owned());
        }
        if is_done {
            return R::from_lua_multi(results, self.raw.lua()).map_err(shown);
        }
        Err(match results.pop_front() {
            Some(LuaValue::String(text)) => text.to_string_lossy(),
            _ => "(not a string)".to_owned(),
        })
    }

    /// Whether the script has a global function of this name.
    pub fn has(&self, name: &str) -> bool {
        self.call("has", name).unwrap_or(false)
    }
}

/// Loads what is part of the program. The last piece returns the function that calls all others.
fn runtime(lua: &Lua) -> mlua::Result<Function> {
    let (last, others) = RUNTIME.split_last().expect("there are some");
    for (name, text) in others {
        lua.load(*text).set_name(*name).exec()?;
    }
    lua.load(last.1).set_name(last.0).eval()
}

#[allow(clippy::needless_pass_by_value)] // as `map_err` wants it
fn shown(error: mlua::Error) -> String {
    match error {
        mlua::Error::RuntimeError(text) => text.lines().next().unwrap_or_default().to_owned(),
        mlua::Error::MemoryError(_) => "not enough memory".to_owned(),
        other => other.to_string(),
    }
}

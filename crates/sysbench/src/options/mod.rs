//! Options as sysbench has them: declared with a type and a default, written `--name=value`, shown in a table.

pub mod declared;
mod file;
mod given;
pub mod help;
pub mod line;
#[allow(unsafe_code)] // a function of the C library
mod strtod;
mod value;

pub use value::{Kind, Value};

use std::collections::BTreeMap;

/// One option as it is declared and shown.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionSpec {
    /// As it is shown, with `-` or `_`. Both mean the same where options are read.
    pub name: String,
    /// What follows it in the help.
    pub help: String,
    /// Its default as it is shown; `None` shows none.
    pub default: Option<String>,
    /// What its value is.
    pub kind: Kind,
    /// The version that is spoken does not have it: an option of this name that a script declares takes its place.
    pub is_extra: bool,
}

impl OptionSpec {
    /// An option with a default.
    pub fn new(name: &str, kind: Kind, default: &str, help: &str) -> Self {
        Self {
            name: name.to_owned(),
            help: help.to_owned(),
            default: Some(default.to_owned()),
            kind,
            is_extra: false,
        }
    }

    /// An option without a default.
    pub fn without_default(name: &str, kind: Kind, help: &str) -> Self {
        Self {
            default: None,
            ..Self::new(name, kind, "", help)
        }
    }

    /// The same, marked as one that the version that is spoken does not have, or not.
    #[must_use]
    pub fn extra(self, is_extra: bool) -> Self {
        Self { is_extra, ..self }
    }

    /// Its value where none is given.
    pub fn default_value(&self) -> Value {
        let default = self.default.as_deref().and_then(|text| self.kind.read(Some(text)));
        default.unwrap_or_else(|| self.kind.empty())
    }

    /// Its name as options are looked up, with `-`.
    pub fn key(&self) -> String {
        key(&self.name)
    }
}

/// The name of an option as it is looked up: `-` and `_` are the same.
pub fn key(name: &str) -> String {
    name.replace('_', "-")
}

/// All options of a run with their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    values: BTreeMap<String, Value>,
    /// Sizes as they were written, where they were.
    sizes_written: BTreeMap<String, String>,
}

impl Options {
    /// Sets a value; the name may be written with `-` or `_`.
    pub fn set(&mut self, name: &str, value: Value) {
        self.values.insert(key(name), value);
    }

    /// Notes how the value of a size was written, for messages.
    pub fn note_written(&mut self, name: &str, text: &str) {
        self.sizes_written.insert(key(name), text.to_owned());
    }

    /// A size as it was written, or its bytes.
    pub fn size_written(&self, name: &str) -> String {
        let written = self.sizes_written.get(&key(name)).cloned();
        written.unwrap_or_else(|| self.size(name).to_string())
    }

    /// Takes an option out, as if nobody had declared it.
    pub fn remove(&mut self, name: &str) {
        self.values.remove(&key(name));
    }

    /// A value; `None` when nobody declared such an option.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(&key(name))
    }

    /// All of them by name (with `-`).
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// A switch. Panics where the option was declared otherwise, as the other readers do: who reads an option declared it.
    pub fn bool(&self, name: &str) -> bool {
        match self.get(name) {
            Some(Value::Bool(value)) => *value,
            other => panic!("option {name} is no switch: {other:?}"),
        }
    }

    /// A whole number.
    pub fn int(&self, name: &str) -> i64 {
        match self.get(name) {
            Some(Value::Int(value)) => *value,
            other => panic!("option {name} is no whole number: {other:?}"),
        }
    }

    /// A size in bytes.
    pub fn size(&self, name: &str) -> u64 {
        match self.get(name) {
            Some(Value::Size(value)) => *value,
            other => panic!("option {name} is no size: {other:?}"),
        }
    }

    /// Percentiles, in percent; empty for none.
    pub fn percentiles(&self) -> &[f64] {
        match self.get("percentile") {
            Some(Value::Percentiles(value)) => value,
            other => panic!("no percentiles: {other:?}"),
        }
    }

    /// A number.
    pub fn double(&self, name: &str) -> f64 {
        match self.get(name) {
            Some(Value::Double(value)) => *value,
            other => panic!("option {name} is no number: {other:?}"),
        }
    }

    /// A text; empty where none was given.
    pub fn string(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Value::String(value)) => value,
            other => panic!("option {name} is no text: {other:?}"),
        }
    }

    /// A list; empty where none was given.
    pub fn list(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(Value::List(value)) => value,
            other => panic!("option {name} is no list: {other:?}"),
        }
    }
}

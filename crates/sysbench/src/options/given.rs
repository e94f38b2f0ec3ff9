//! One option as it was written, on the command line or in a file.

use super::{Kind, Value, key};

/// An option as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Its name, with `-`.
    pub key: String,
    /// What stood behind `=`; absent where there was none.
    pub value: Option<String>,
    /// As it was written, for messages.
    pub shown: String,
    /// It stood in a file, which may serve several tests.
    pub is_from_file: bool,
}

impl Given {
    /// An argument: `written` is it without its `--`.
    pub(super) fn parse(written: &str, shown: &str) -> Self {
        let (name, value) = match written.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (written, None),
        };
        Self {
            key: key(name),
            value,
            shown: shown.to_owned(),
            is_from_file: false,
        }
    }

    /// An option of a file.
    pub fn from_file(name: &str, value: &str) -> Self {
        Self {
            key: key(name),
            value: Some(value.to_owned()),
            shown: format!("--{name}={value}"),
            is_from_file: true,
        }
    }

    /// Its value.
    ///
    /// # Errors
    /// The message for one that cannot be read.
    pub(super) fn read(&self, kind: Kind) -> Result<Value, String> {
        let value = kind.read(self.value.as_deref());
        value.ok_or_else(|| senseless(&self.key, self.value.as_deref().unwrap_or_default()))
    }

    /// What is to be said where only a part of the value was read.
    pub(super) fn doubt(&self, kind: Kind) -> Option<String> {
        let text = self.value.as_deref().filter(|text| !kind.takes_whole(text))?;
        let number = match kind.read(Some(text))? {
            Value::Double(number) => number.to_string(),
            Value::Size(bytes) => bytes.to_string(),
            _ => return None,
        };
        let name = self.shown.split('=').next().unwrap_or_default();
        Some(format!(
            "WARNING: {name}={text} is read as {number}, as sysbench reads it"
        ))
    }
}

/// What is said of a value that makes no sense.
pub(super) fn senseless(key: &str, value: &str) -> String {
    format!("Invalid value for the '{}' option: '{value}'", key.replace('-', "_"))
}

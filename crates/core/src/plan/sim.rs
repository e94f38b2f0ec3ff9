//! The fake server: how it answers.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

/// A server that lets anybody in and answers every statement at once, to learn what a client can drive at most, or after
/// a fixed time, to have a capacity that is known.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimPlan {
    /// Version of the engine protocol that this plan is written in.
    pub protocol: u32,
    /// A unix socket to be made; a free port of the loopback address without it.
    pub socket: Option<PathBuf>,
    /// Result sets; the first whose text is in the statement counts. Other selects return one row of one byte.
    pub shapes: Vec<SimShape>,
    /// Each statement's reply comes so long after the statement arrived, nanoseconds: then the server does at most
    /// connections / delay statements in a second, which is known beforehand.
    #[serde(default)]
    pub delay_ns: u64,
}

/// The result set of statements with a certain text in them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimShape {
    /// The text, letter case as in the statement; `?` stands for any value.
    pub contains: String,
    /// How many rows.
    pub rows: u32,
    /// The columns of each; at least one.
    pub columns: Vec<SimColumn>,
}

/// A column of a result set.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimColumn {
    /// Its name.
    pub name: String,
    /// Bytes of its text in each row; null for a column that holds the whole number 1.
    pub text_bytes: Option<u32>,
}

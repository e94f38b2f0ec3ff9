//! The fake server: how it answers.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

/// A server that lets anybody in and answers every statement at once, to learn what a client can drive at most.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimPlan {
    /// Version of the engine protocol that this plan is written in.
    pub protocol: u32,
    /// A unix socket to be made; a free port of the loopback address without it.
    pub socket: Option<PathBuf>,
    /// Result sets of selects; the first whose text is in the statement counts. Others return one row of one byte.
    pub shapes: Vec<SimShape>,
}

/// The result set of selects with a certain text in them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimShape {
    /// The text, letter case as in the statement.
    pub contains: String,
    /// How many rows.
    pub rows: u32,
    /// Bytes of the one column of each.
    pub row_bytes: u32,
}

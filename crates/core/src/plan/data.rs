//! Data sets: what to make, check or remove.

use schemars::JsonSchema;
use serde::Deserialize;

use super::distribution::Distribution;
use super::oltp::DEFAULT_ENGINE;
use super::tables::StatementsData;
use super::target::Target;
use super::tpcc::TpccData;

/// The rows of a workload.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DataSet {
    /// The tables of the OLTP workloads.
    Oltp(OltpData),
    /// Tables that the user described.
    Statements(StatementsData),
    /// The nine tables of the TPC-C-derived workload.
    Tpcc(TpccData),
}

/// The tables of the OLTP workloads, shaped as sysbench shapes them.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // each is an option of its own, as users write it
pub struct OltpData {
    /// Number of tables.
    pub tables: u32,
    /// Rows in each table.
    pub table_size: u64,
    /// All content follows from it.
    pub seed: u64,
    /// Their names and columns.
    pub layout: Layout,
    /// They begin without rows: for workloads that bring their own.
    pub empty: bool,
    /// Its workloads insert or delete, so that a check takes any number of rows.
    pub changing: bool,
    /// How column k is filled; the layout of sysbench 0.4 has 0 everywhere.
    pub distribution: Distribution,
    /// Column id has an index `xid` in place of the primary key.
    pub secondary: bool,
    /// Column k has an index.
    pub create_secondary: bool,
    /// The server can give the ids of new rows.
    pub auto_increment: bool,
    /// Storage engine.
    pub storage_engine: String,
    /// Further options of the tables, as CREATE TABLE takes them after the engine.
    pub table_options: String,
}

impl Default for OltpData {
    fn default() -> Self {
        Self {
            tables: 1,
            table_size: 10_000,
            seed: 1,
            layout: Layout::Sysbench1,
            empty: false,
            changing: false,
            distribution: Distribution::default(),
            secondary: false,
            create_secondary: true,
            auto_increment: true,
            storage_engine: DEFAULT_ENGINE.to_owned(),
            table_options: String::new(),
        }
    }
}

impl OltpData {
    /// Rows that each table has once it is made.
    pub fn rows_each(&self) -> u64 {
        if self.empty { 0 } else { self.table_size }
    }

    /// Rows of all tables together.
    pub fn rows_count(&self) -> u64 {
        u64::from(self.tables) * self.rows_each()
    }
}

/// Names and columns of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Layout {
    /// `sbtest1` to `sbtestN` with id, k, c and pad.
    #[serde(rename = "sysbench-1")]
    Sysbench1,
    /// The one table `sbtest` of sysbench 0.4, with its own rows.
    #[serde(rename = "sysbench-0.4")]
    Sysbench04,
    /// `sbtest1` to `sbtestN` with id and k only, for `bulk_insert`.
    #[serde(rename = "bulk")]
    Bulk,
}

/// How rows are sent to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadMethod {
    /// LOAD DATA LOCAL where the server allows it, else inserts.
    Auto,
    /// Multi-row inserts.
    Inserts,
}

/// A data set to make, check or remove.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataPlan {
    /// Version of the engine protocol that this plan is written in.
    pub protocol: u32,
    /// Where.
    pub target: Target,
    /// Which rows.
    pub data_set: DataSet,
    /// Connections that load at the same time.
    pub loaders: u32,
    /// How rows are sent.
    pub method: LoadMethod,
    /// Also drops tables of the right name that Plimsoll did not make.
    pub drop_foreign: bool,
}

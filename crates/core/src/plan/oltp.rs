//! Options of the OLTP workloads. Each kind heeds those that mean something to it; the Python side refuses the others.

use schemars::JsonSchema;
use serde::Deserialize;

use super::distribution::Distribution;
use super::statements::Isolation;

/// Which rows and statements the OLTP workloads use. The defaults are those of sysbench 1.1.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // each is an option of its own, as users write it
pub struct OltpOptions {
    /// Number of tables, `sbtest1` to `sbtestN`; the workloads of sysbench 0.4 have one, `sbtest`.
    pub tables: u32,
    /// Rows in each table.
    pub table_size: u64,
    /// How rows are chosen.
    pub distribution: Distribution,
    /// Rows in each range select.
    pub range_size: u64,
    /// Whether there are range selects at all.
    pub range_selects: bool,
    /// Point selects in each transaction.
    pub point_selects: u32,
    /// Simple range selects in each transaction.
    pub simple_ranges: u32,
    /// `SUM` range selects in each transaction.
    pub sum_ranges: u32,
    /// `ORDER BY` range selects in each transaction.
    pub order_ranges: u32,
    /// `DISTINCT` range selects in each transaction.
    pub distinct_ranges: u32,
    /// Updates of the indexed column in each transaction.
    pub index_updates: u32,
    /// Updates of a column without index in each transaction.
    pub non_index_updates: u32,
    /// Pairs of delete and insert of the same row in each transaction.
    pub delete_inserts: u32,
    /// Values in the list of `select_random_points`.
    pub random_points: u32,
    /// Ranges in `select_random_ranges`.
    pub number_of_ranges: u32,
    /// Width of each of its ranges: from k to k + delta.
    pub delta: u64,
    /// `oltp_insert`: the server gives the ids; otherwise they are numbers that do not repeat, spread over the column.
    pub auto_increment: bool,
    /// `oltp_0.4_complex` without its writes.
    pub read_only: bool,
    /// `oltp_0.4_complex` without its reads.
    pub write_only: bool,
    /// Which statement `oltp_0.4_nontrx` runs.
    pub nontrx_mode: NontrxMode,
    /// Point selects of the modes of 0.4 go by HANDLER, which reads an index without the optimiser.
    pub point_select_handler: bool,
    /// Point selects of the modes of 0.4 ask for all columns.
    pub point_select_all_columns: bool,
    /// The stored procedure that `oltp_0.4_sp` calls, with a database's name before it or not.
    pub procedure: String,
    /// Storage engine of the tables. `oltp_0.4_complex` locks its table where an engine knows no transactions.
    pub storage_engine: String,
    /// Leaves out BEGIN and COMMIT.
    pub skip_transaction: bool,
    /// Statements are prepared once for each connection and run in the binary protocol; otherwise sent as text.
    pub prepared: bool,
    /// How far transactions see each other's changes.
    pub isolation: Isolation,
    /// A connection is closed and opened again after so many transactions; 0 for never. The next transaction waits for it.
    pub reconnect_after: u64,
    /// When else connections of the modes of 0.4 are closed and opened again.
    pub reconnect_mode: ReconnectMode,
    /// How long a user takes before each statement. It is part of the transaction.
    pub user_delay: UserDelay,
}

impl Default for OltpOptions {
    fn default() -> Self {
        Self {
            tables: 1,
            table_size: 10_000,
            distribution: Distribution::default(),
            range_size: 100,
            range_selects: true,
            point_selects: 10,
            simple_ranges: 1,
            sum_ranges: 1,
            order_ranges: 1,
            distinct_ranges: 1,
            index_updates: 1,
            non_index_updates: 1,
            delete_inserts: 1,
            random_points: 10,
            number_of_ranges: 10,
            delta: 5,
            auto_increment: true,
            read_only: false,
            write_only: false,
            nontrx_mode: NontrxMode::Select,
            point_select_handler: false,
            point_select_all_columns: false,
            procedure: String::new(),
            storage_engine: DEFAULT_ENGINE.to_owned(),
            skip_transaction: false,
            prepared: true,
            isolation: Isolation::ServerDefault,
            reconnect_after: 0,
            reconnect_mode: ReconnectMode::Session,
            user_delay: UserDelay::default(),
        }
    }
}

/// The storage engine where nothing else is said.
pub(super) const DEFAULT_ENGINE: &str = "innodb";

/// Which statement `oltp_0.4_nontrx` runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NontrxMode {
    /// Selects a row.
    Select,
    /// Updates the indexed column.
    UpdateKey,
    /// Updates a column without index.
    UpdateNokey,
    /// Inserts a row.
    Insert,
    /// Deletes a row, each only once.
    Delete,
}

/// When a connection is closed and opened again, in the words of sysbench 0.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReconnectMode {
    /// Never: one connection lasts as long as the session.
    Session,
    /// After each statement, within transactions too: what was open on the connection is rolled back.
    Query,
    /// After each transaction.
    Transaction,
    /// After half of the transactions, by chance.
    Random,
}

/// A pause, evenly distributed; none when both are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UserDelay {
    /// The shortest, milliseconds.
    pub min_ms: f64,
    /// The longest, milliseconds.
    pub max_ms: f64,
}

//! The TPC-C-derived workload and its rows.

use schemars::JsonSchema;
use serde::Deserialize;

use super::oltp::DEFAULT_ENGINE;
use super::statements::Isolation;

/// The nine tables by clause 4.3 of TPC-C 5.11.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TpccData {
    /// How many warehouses: the scale.
    pub warehouses: u32,
    /// Number of the first of them; the others follow.
    pub first_warehouse: u32,
    /// Partitions of all tables but `item`, by the number of the warehouse; 0 for none.
    pub partitions: u32,
    /// Tables have foreign keys.
    pub foreign_keys: bool,
    /// Storage engine.
    pub storage_engine: String,
    /// Further options of the tables, as CREATE TABLE takes them after the engine.
    pub table_options: String,
    /// What the table of new orders is called.
    pub order_names: OrderNames,
    /// The transactions are there as stored procedures too.
    pub procedures: bool,
    /// All content follows from it.
    pub seed: u64,
    /// Rows may have come and gone since they were made; counting takes any number of them.
    pub changing: bool,
}

impl Default for TpccData {
    fn default() -> Self {
        Self {
            warehouses: 1,
            first_warehouse: 1,
            partitions: 0,
            foreign_keys: false,
            storage_engine: DEFAULT_ENGINE.to_owned(),
            table_options: String::new(),
            order_names: OrderNames::Usual,
            procedures: false,
            seed: 1,
            changing: false,
        }
    }
}

impl TpccData {
    /// The numbers of the warehouses.
    pub fn numbers(&self) -> std::ops::Range<u32> {
        self.first_warehouse..self.first_warehouse.saturating_add(self.warehouses)
    }
}

/// What the table of new orders is called: kits do not agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderNames {
    /// `new_orders`, as sysbench-tpcc and tpcc-mysql have it.
    #[default]
    Usual,
    /// `new_order`, as the specification and go-tpc have it, whose check then runs on the tables: `history` has the index
    /// that its condition 10 needs.
    Tpc,
}

/// What its clients do.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TpccOptions {
    /// How many warehouses are used.
    pub warehouses: u32,
    /// Number of the first of them.
    pub first_warehouse: u32,
    /// The seed of the rows: names of customers are drawn as it says.
    pub data_seed: u64,
    /// What the table of new orders is called.
    pub order_names: OrderNames,
    /// How transactions are sent.
    pub mode: TpccMode,
    /// How often each type of transaction is chosen.
    pub mix: TpccMix,
    /// How the next type is chosen.
    pub choice: TpccChoice,
    /// How many terminals there are; one for each connection if absent. With more of them connections are a pool.
    pub terminals: Option<u32>,
    /// Where there are fewer terminals than warehouses, each goes around its share of them; otherwise each stays in one.
    pub all_warehouses: bool,
    /// Scale of keying and think times: 1 as the specification has them, 0 for none.
    pub times: f64,
    /// How long it takes until all terminals have begun, one after the other, milliseconds.
    pub ramp_up_ms: u64,
    /// Connections besides those of the group that carry out queued deliveries; with 0 they are carried out at once.
    pub delivery_connections: u32,
    /// The kit whose deviations from the specification are reproduced.
    pub quirks: Option<TpccKit>,
    /// Isolation level of all connections.
    pub isolation: Isolation,
    /// Statements are prepared on the server; otherwise they are sent as text.
    pub prepared: bool,
}

impl Default for TpccOptions {
    fn default() -> Self {
        Self {
            warehouses: 1,
            first_warehouse: 1,
            data_seed: 1,
            order_names: OrderNames::Usual,
            mode: TpccMode::Statements,
            mix: TpccMix::default(),
            choice: TpccChoice::Deck,
            terminals: None,
            all_warehouses: true,
            times: 0.0,
            ramp_up_ms: 0,
            delivery_connections: 0,
            quirks: None,
            isolation: Isolation::ServerDefault,
            prepared: true,
        }
    }
}

impl TpccOptions {
    /// Whether terminals, and not connections, say when transactions are wanted.
    pub fn has_own_pace(&self) -> bool {
        self.terminals.is_some() || self.times > 0.0 || self.ramp_up_ms > 0 || self.delivery_connections > 0
    }
}

/// How the type of the next transaction is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TpccChoice {
    /// From a shuffled deck of each terminal, with as many cards of each type as its weight says.
    Deck,
    /// Each by itself, by weight.
    Weighted,
}

/// How transactions are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TpccMode {
    /// Statement by statement.
    Statements,
    /// Each as one call of a stored procedure.
    Procedures,
}

/// Kits with a TPC-C-derived workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TpccKit {
    /// DBT-2 with MySQL, as its driver runs by default.
    Dbt2,
    /// The scripts for sysbench.
    SysbenchTpcc,
    /// The kit of that name.
    TpccMysql,
    /// The kit of that name.
    GoTpc,
}

/// Weights of the five types of transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TpccMix {
    /// Of New-Order.
    pub new_order: u32,
    /// Of Payment.
    pub payment: u32,
    /// Of Order-Status.
    pub order_status: u32,
    /// Of Delivery.
    pub delivery: u32,
    /// Of Stock-Level.
    pub stock_level: u32,
}

impl Default for TpccMix {
    fn default() -> Self {
        Self {
            new_order: 10,
            payment: 10,
            order_status: 1,
            delivery: 1,
            stock_level: 1,
        }
    }
}

impl TpccMix {
    /// The weights in the order of the fields.
    pub fn weights(&self) -> [u32; 5] {
        [
            self.new_order,
            self.payment,
            self.order_status,
            self.delivery,
            self.stock_level,
        ]
    }
}

//! The TPC-C-derived workload and its rows.

use schemars::JsonSchema;
use serde::Deserialize;

use super::oltp::DEFAULT_ENGINE;

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

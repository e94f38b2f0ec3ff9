//! The OLTP workloads: selects, updates, deletes and inserts on tables as sysbench shapes them.

mod bulk;
pub mod data;
mod faults;
mod plan;
mod preflight;
mod run;
mod shared;
mod tables;
mod transaction_id;
mod worker;

pub use preflight::{misses_tables, preflight_as_sysbench};

use plimsoll_core::message::EngineWarning;
use plimsoll_core::plan::{OltpPlan, RoleTarget};
use plimsoll_engine::{WorkerFactory, WorkerFault};

use crate::workload::{Setting, Workload};
use preflight::TableSizes;
use worker::OltpFactory;

impl Workload for OltpPlan {
    fn faults(&self) -> Vec<String> {
        faults::faults(self)
    }

    fn compile(&self, setting: Setting<'_>) -> Box<dyn WorkerFactory> {
        Box::new(OltpFactory::new(self, setting))
    }

    fn preflight(&self, targets: &[RoleTarget], connections: u32) -> Result<Vec<EngineWarning>, WorkerFault> {
        preflight::preflight(self, targets, connections, TableSizes::AsPrepared)
    }
}

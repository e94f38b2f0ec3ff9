//! Workloads that users wrote: their statements, and the tables that belong to them.
//!
//! Everything is compiled at start, names into positions: running a transaction looks nothing up and allocates nothing.

mod choice;
mod compiled;
mod counts;
pub mod data;
mod drawing;
mod factory;
mod faults;
mod format;
mod generator;
mod keys;
mod lists;
mod preflight;
mod reading;
mod think_times;
mod values;
mod variants;
mod worker;

use plimsoll_core::message::EngineWarning;
use plimsoll_core::plan::{RoleTarget, StatementsPlan};
use plimsoll_engine::{Arrivals, WorkerFactory, WorkerFault};

use crate::workload::{ClosedUsers, Setting, Workload};
use factory::CustomFactory;
use think_times::ThinkTimes;

impl Workload for StatementsPlan {
    fn faults(&self) -> Vec<String> {
        faults::faults(self)
    }

    fn compile(&self, setting: Setting<'_>) -> Box<dyn WorkerFactory> {
        Box::new(CustomFactory::new(self, setting))
    }

    fn preflight(&self, targets: &[RoleTarget], connections: u32) -> Result<Vec<EngineWarning>, WorkerFault> {
        preflight::preflight(self, targets, connections)
    }

    fn own_pace(&self) -> Option<&'static str> {
        self.has_own_pace()
            .then_some("think_time of the workload's transactions")
    }

    fn closed_loop(&self, users: ClosedUsers) -> Result<Box<dyn Arrivals>, WorkerFault> {
        match ThinkTimes::of(self, users.seed) {
            None => Ok(users.arrivals()),
            Some(own) if users.think_time.is_none() => Ok(Box::new(users.unpaced().with_pace(own))),
            Some(_) => Err(WorkerFault::spec(
                "workload.transactions: have think times of their own; leave those or think_time out",
            )),
        }
    }
}

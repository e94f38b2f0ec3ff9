//! The TPC-C-derived workload: nine tables by clause 4.3 of TPC-C revision 5.11, their rows, five transactions by clause 2,
//! and whether the tables are consistent by clause 3.3.2.
//!
//! What is measured with it is no TPC-C result: `docs/tpcc.md` says where it departs.

pub mod data;
mod decimal;
mod deviations;
mod preflight;
mod procedures;
mod random;
mod scale;
mod tables;
mod transactions;

use plimsoll_core::message::EngineWarning;
use plimsoll_core::plan::{RoleTarget, TpccOptions};
use plimsoll_engine::{Arrivals, Users, UsersOptions, WorkerFactory, WorkerFault};

use crate::workload::{Background, ClosedUsers, Setting, Workload};
use transactions::{Times, TpccFactory};

impl Workload for TpccOptions {
    fn faults(&self) -> Vec<String> {
        preflight::faults(self)
    }

    fn compile(&self, setting: Setting<'_>) -> Box<dyn WorkerFactory> {
        Box::new(TpccFactory::new(self, setting))
    }

    fn preflight(&self, targets: &[RoleTarget], connections: u32) -> Result<Vec<EngineWarning>, WorkerFault> {
        preflight::preflight(self, targets, connections)
    }

    fn background(&self) -> Option<Background> {
        Some(Background {
            option: "delivery_connections",
            connections: self.delivery_connections,
        })
    }

    fn own_pace(&self) -> Option<&'static str> {
        self.has_own_pace()
            .then_some("terminals, times, ramp_up and delivery_connections of the workload")
    }

    fn closed_loop(&self, closed: ClosedUsers) -> Result<Box<dyn Arrivals>, WorkerFault> {
        let connections = closed.connections;
        if let Some(fault) = preflight::pace_fault(self, connections.total, closed.think_time.is_some()) {
            return Err(WorkerFault::spec(fault));
        }
        if !self.has_own_pace() {
            return Ok(closed.arrivals());
        }
        let users = UsersOptions {
            users: self.terminals.unwrap_or(connections.total),
            share: connections.share,
            connections: connections.own(),
            transactions_max: closed.transactions_max,
        };
        let times = Times::new(self, users.users, closed.think_time, closed.seed);
        Ok(Box::new(Users::new(users, Box::new(times))))
    }
}

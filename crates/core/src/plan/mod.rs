//! What the engine is asked to do: trials and data sets, as they arrive in the engine protocol.
//!
//! Values are checked for shape here (`deny_unknown_fields`, types); whether they make sense together is checked where
//! they are used, and on the Python side before anything starts.

mod arrivals;
mod connections;
mod counts;
mod data;
mod distribution;
mod ledger;
mod logs;
mod oltp;
mod reads;
mod relay;
mod share;
mod sim;
mod statements;
mod tables;
mod target;
mod tls;
mod tpcc;
mod turns;
mod workload;

use schemars::JsonSchema;
use serde::Deserialize;

pub use arrivals::{ArrivalProcess, ArrivalsPlan, RateStepPlan, ThinkTimePlan};
pub use connections::{ConnectPlan, ReconnectPlan, RetryRule};
pub use counts::{CountPlan, ItemsPlan, TimesPlan};
pub use data::{DataPlan, DataSet, Layout, LoadMethod, OltpData};
pub use distribution::{Bell, Distribution, HotBand, HotRanks, Pareto, RankedDistribution, ValueDistribution, Zipfian};
pub use ledger::LedgerPlan;
pub use logs::{AuditEscape, AuditPlan, AuditTime, LiteralsPlan, LogFormat, LogInput, LogsPlan};
pub use oltp::{NontrxMode, OltpOptions, ReconnectMode, UserDelay};
pub use reads::{ReadPolicy, ReadYourWrites, ReadsPer, ReadsPlan};
pub use relay::RelayPlan;
pub use share::{Connections, Share};
pub use sim::{SimColumn, SimPlan, SimShape};
pub use statements::{
    Alphabet, ByPlan, Constant, CounterPlan, Generator, Isolation, KeepPlan, LoopPlan, NoRow, RowsPlan, SamePlan,
    StatementPlan, StatementsPlan, TemplatePart, ThinkRange, TransactionPlan, ValuePlan, ValueSource,
};
pub use tables::{ColumnPlan, ForeignKeyPlan, IndexPlan, OnDelete, StatementsData, TablePlan};
pub use target::{Endpoint, Role, RoleTarget, Secret, ServerKey, Target};
pub use tls::{ClientCertificate, Tls};
pub use tpcc::{OrderNames, TpccChoice, TpccData, TpccKit, TpccMix, TpccMode, TpccOptions};
pub use turns::TurnsPlan;
pub use workload::{OltpKind, OltpPlan, WorkloadPlan};

/// Connections that do the same thing on the same instance.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Name of the instance, repeated in all results.
    pub instance: String,
    /// The servers: one source, and any number of replicas of it.
    pub targets: Vec<RoleTarget>,
    /// How transactions that only read are spread over the replicas; if absent they run on the source, as all others do.
    #[serde(default)]
    pub reads: Option<ReadsPlan>,
    /// What its connections do.
    pub workload: WorkloadPlan,
    /// When transactions are wanted.
    pub arrivals: ArrivalsPlan,
    /// How many connections, all engines together.
    pub connections: u32,
    /// How they are opened.
    #[serde(default)]
    pub connect: ConnectPlan,
    /// What is tried again; if absent, what servers ask for; an empty list for nothing.
    #[serde(default, deserialize_with = "some")]
    #[schemars(with = "Vec<RetryRule>")]
    pub retry: Option<Vec<RetryRule>>,
    /// How lost ones are opened again.
    #[serde(default)]
    pub reconnect: ReconnectPlan,
}

impl Group {
    /// The servers that its connections use: replicas only where they take reads.
    pub fn used_targets(&self) -> impl Iterator<Item = &RoleTarget> {
        let reads_replicas = self.reads.is_some();
        let targets = self.targets.iter();
        targets.filter(move |one| one.role == Role::Source || reads_replicas)
    }
}

/// One measured run, as a whole: `share` says which part of it this engine drives.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialPlan {
    /// Version of the engine protocol that this plan is written in.
    pub protocol: u32,
    /// All randomness follows from it.
    pub seed: u64,
    /// Length of an interval, milliseconds.
    pub interval_ms: u64,
    /// The load ends after so long, milliseconds, unless `stop` ends it before.
    pub duration_ms: u64,
    /// End of standard input ends the trial too: the starter is gone.
    pub stop_at_stdin_end: bool,
    /// Probes each server first: whether the workload can work there, its tables, rows and limits.
    #[serde(default = "yes")]
    pub look_first: bool,
    /// Which part of all connections, users and arrivals is driven here; all of it if absent.
    #[serde(default)]
    pub share: Share,
    /// What is driven together.
    pub groups: Vec<Group>,
    /// The groups take turns; all run all the time if absent.
    #[serde(default)]
    pub turns: Option<TurnsPlan>,
}

impl TrialPlan {
    /// The connections of a group, and which of them are opened here.
    pub fn connections(&self, group: &Group) -> Connections {
        Connections {
            total: group.connections,
            share: self.share,
        }
    }
}

/// A value that may be absent and is not null where it is there.
fn some<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

fn yes() -> bool {
    true
}

//! What a kind of workload has to be able to do. Each kind implements it beside its code, for its plan.

use plimsoll_core::message::{EngineWarning, FailureClass};
use plimsoll_core::plan::{Connections, RoleTarget, ThinkTimePlan, WorkloadPlan};
use plimsoll_engine::{Arrivals, ClosedLoop, Thinking, WorkerFactory, WorkerFault};
use plimsoll_session::{GroupServers, Terms};

/// A workload with its options.
pub trait Workload {
    /// What is wrong with the options, whatever they run on; nothing where they make sense.
    fn faults(&self) -> Vec<String>;

    /// Compiles options without faults into what builds workers.
    fn compile(&self, setting: Setting<'_>) -> Box<dyn WorkerFactory>;

    /// Connects once to each target and checks that the workload can work there: tables, columns, rows, and the server's
    /// limits for so many connections. Returns doubts about the numbers to come.
    ///
    /// # Errors
    /// When the workload cannot work, with the cure.
    fn preflight(&self, targets: &[RoleTarget], connections: u32) -> Result<Vec<EngineWarning>, WorkerFault>;

    /// Connections besides those of the group.
    fn background(&self) -> Option<Background> {
        None
    }

    /// The options by which the workload sets a pace of its own, as messages name them.
    fn own_pace(&self) -> Option<&'static str> {
        None
    }

    /// When the users of a closed loop start their transactions: the workload's own pace, if it has one.
    ///
    /// # Errors
    /// When the pace is given twice, or does not go together with so many connections.
    fn closed_loop(&self, users: ClosedUsers) -> Result<Box<dyn Arrivals>, WorkerFault> {
        Ok(users.arrivals())
    }
}

/// What the workers of a group are compiled for.
pub struct Setting<'a> {
    /// The servers of the group.
    pub servers: &'a GroupServers,
    /// All randomness follows from it.
    pub seed: u64,
    /// The connections of the group, and which of them are opened here.
    pub connections: Connections,
    /// What workers do about errors.
    pub terms: Terms,
}

/// Connections for work in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Background {
    /// The option that asks for them.
    pub option: &'static str,
    /// How many, all engines together.
    pub connections: u32,
}

/// The users of a closed loop.
#[derive(Clone, Copy, Debug)]
pub struct ClosedUsers {
    /// All randomness follows from it.
    pub seed: u64,
    /// The connections of the group, and which of them are opened here.
    pub connections: Connections,
    /// Waited between two transactions of a user.
    pub think_time: Option<ThinkTimePlan>,
    /// Transactions after which this engine's part ends.
    pub transactions_max: Option<u64>,
}

impl ClosedUsers {
    /// One user on each connection, without think time.
    pub fn unpaced(self) -> ClosedLoop {
        ClosedLoop::new(self.connections.own(), self.transactions_max).sharing(self.connections.share)
    }

    /// One user on each connection, with the think time that is given.
    pub fn arrivals(self) -> Box<dyn Arrivals> {
        match self.think_time {
            None => Box::new(self.unpaced()),
            Some(think_time) => Box::new(self.unpaced().with_pace(Thinking {
                think_time,
                seed: self.seed,
            })),
        }
    }
}

/// The workload of a plan. A new kind of workload is one arm here.
pub fn workload_of(plan: &WorkloadPlan) -> &dyn Workload {
    match plan {
        WorkloadPlan::Oltp(plan) => plan,
        WorkloadPlan::Statements(plan) => plan,
        WorkloadPlan::Tpcc(options) => options,
    }
}

/// Compiles a workload into what builds its workers, one for each of the group's `connections` that are opened here. They do
/// about errors what `terms` say. Nothing is connected yet.
///
/// # Errors
/// When the options make no sense together; all faults are in the message.
pub fn factory(
    workload: &dyn Workload,
    servers: &GroupServers,
    seed: u64,
    connections: impl Into<Connections>,
    terms: Terms,
) -> Result<Box<dyn WorkerFactory>, WorkerFault> {
    let connections = connections.into();
    let mut faults = workload.faults();
    faults.extend(servers.faults());
    faults.extend(empty_share(workload, connections));
    if !faults.is_empty() {
        return Err(WorkerFault::new(FailureClass::Spec, faults.join("; ")));
    }
    Ok(workload.compile(Setting {
        servers,
        seed,
        connections,
        terms,
    }))
}

/// What a share of a group lacks: it has at least one connection, and one for work in the background where that has
/// connections of its own.
fn empty_share(workload: &dyn Workload, connections: Connections) -> Option<String> {
    let least = connections.share.count;
    if connections.total < least {
        return Some(format!(
            "group.connections: must be at least {least}, is {}",
            connections.total
        ));
    }
    let too_few = |background: &Background| (1..least).contains(&background.connections);
    workload.background().filter(too_few).map(|background| {
        format!(
            "workload.{}: must be 0 or at least {least}, one for each engine, is {}",
            background.option, background.connections
        )
    })
}

/// Connections that are opened here for those of a group: its own, and what the workload needs besides for work in the
/// background.
pub fn sessions_count(workload: &dyn Workload, connections: impl Into<Connections>) -> u32 {
    let connections = connections.into();
    let background = Connections {
        total: workload.background().map_or(0, |background| background.connections),
        ..connections
    };
    connections.own().saturating_add(background.own())
}

/// The closed loop of a workload on the connections that are opened here: each is one user, unless the workload has terminals
/// of its own. A `think_time` is waited between two transactions of a user, or what the workload itself says. It ends after
/// `transactions_max` of all engines together.
///
/// # Errors
/// When there are fewer terminals than connections, or the pace is given twice.
pub fn closed_loop(
    workload: &dyn Workload,
    seed: u64,
    connections: impl Into<Connections>,
    think_time: Option<ThinkTimePlan>,
    transactions_max: Option<u64>,
) -> Result<Box<dyn Arrivals>, WorkerFault> {
    let connections = connections.into();
    workload.closed_loop(ClosedUsers {
        seed,
        connections,
        think_time,
        transactions_max: transactions_max.map(|max| connections.share.of(max)),
    })
}

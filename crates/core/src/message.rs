//! The engine protocol: JSON lines, one message each. The schema of both directions is generated from these types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::connections::{ConnectFailure, Outage};
use crate::histogram::Histogram;
use crate::plan::{DataPlan, LedgerPlan, LogsPlan, RelayPlan, Role, SimPlan, Target, TrialPlan};
use crate::replication::ReplicationInterval;
use crate::snapshot::{Measure, Snapshot};
use crate::statement::SentStatement;

/// Version of the protocol. It grows with every change that an older reader would misunderstand.
pub const PROTOCOL: u32 = 1;

/// What `plimsoll-engine trial` reads from standard input.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum TrialCommand {
    /// First: what to do. The engine connects and answers `ready` or `failed`.
    Plan(TrialPlan),
    /// Second: begin.
    Start {
        /// When, on the wall clock, nanoseconds since 1970; now if absent or past.
        at_unix_ns: Option<u64>,
    },
    /// The answer to `handover`: the server of the side runs, and no other.
    Go {
        /// The turn that begins.
        turn: u64,
    },
    /// At any time: answer `pong` at once, so that clocks can be compared.
    Ping {
        /// Comes back with the answer.
        id: u64,
    },
    /// At any time: end with what was measured.
    Stop {}, // with braces, since serde passes over the fields of a variant that has none
}

/// What `plimsoll-engine prepare`, `check`, `verify` and `cleanup` read from standard input.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum DataCommand {
    /// First: what to do. Work begins at once.
    Plan(DataPlan),
}

/// What `plimsoll-engine sim` reads from standard input.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum SimCommand {
    /// First: how to answer. It listens at once, until standard input ends.
    Plan(SimPlan),
}

/// What `plimsoll-engine relay` reads from standard input.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum RelayCommand {
    /// First: where to, and how late. It listens at once, until standard input ends.
    Plan(RelayPlan),
}

/// What `plimsoll-engine ledger` reads from standard input.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum LedgerCommand {
    /// First: what to do. The engine makes the tables, connects and answers `ready` or `failed`.
    Plan(Box<LedgerPlan>),
    /// Second: begin.
    Start {
        /// Not used: the load begins now.
        at_unix_ns: Option<u64>,
    },
    /// At any time after `start`: another server is the source now. Workers go on there, with their next numbers.
    Promoted {
        /// The server; it has the tables.
        target: Box<Target>,
    },
    /// At any time: begin no more transactions.
    Stop {},
}

/// What `plimsoll-engine read-logs` reads from standard input.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ReadLogsCommand {
    /// First: what to read. Work begins at once.
    Plan(Box<LogsPlan>),
}

/// What the engine writes to standard output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Message {
    /// First, before any input is read.
    Hello(Hello),
    /// The answer to `ping`.
    Pong(Pong),
    /// The connections are open, or as many as came; `start` is awaited.
    Ready(Ready),
    /// The fake server or the relay can be reached.
    Listening(Listening),
    /// What happened in one interval.
    Interval(Interval),
    /// Nothing is in flight: freeze the servers of the last turn, let those of the next run, and say `go`.
    Handover(Handover),
    /// How far a data set is, or the opening of connections.
    Progress(Progress),
    /// Workers of a ledger have met an error, the first since transactions were acknowledged.
    Lost(Lost),
    /// A transaction of a ledger was acknowledged, the first since the loss, over a new connection.
    Resumed(Resumed),
    /// A doubt about the numbers to come.
    Warning(EngineWarning),
    /// Last, when the work was done.
    Done(Done),
    /// Last, when it could not be done.
    Failed(Failed),
}

/// Who speaks, and one reading of both clocks taken together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// Version of the protocol.
    pub protocol: u32,
    /// Version of the engine.
    pub engine: String,
    /// Process id.
    pub pid: u32,
    /// Monotonic clock, nanoseconds.
    pub monotonic_ns: u64,
    /// Wall clock, nanoseconds since 1970.
    pub unix_ns: u64,
}

/// The wall clock when a `ping` was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pong {
    /// As in the `ping`.
    pub id: u64,
    /// Wall clock, nanoseconds since 1970.
    pub unix_ns: u64,
}

/// The connections are open, or as many as came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// How many are open.
    pub connections: u32,
    /// How many were wanted.
    pub wanted_count: u32,
    /// How long it took to open them, milliseconds.
    pub connect_ms: u64,
    /// Why the others did not come, one entry for each group and code.
    pub failures: Vec<ConnectFailure>,
    /// How those to each server are encrypted.
    pub encryptions: Vec<Encryption>,
    /// What transactions of the built-in workloads will send, each statement once. A plan states those of the others.
    pub statements: Vec<SentStatement>,
}

/// How the connections to one server are encrypted, as the first one to it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Encryption {
    /// Name of the server, as in the plan.
    pub instance: String,
    /// What the server is used for.
    pub role: Role,
    /// Version and cipher suite, such as `TLSv1.3 TLS_AES_256_GCM_SHA384`; null for connections in plain.
    pub agreed: Option<String>,
}

/// The fake server or the relay can be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listening {
    /// Port on the loopback address; 0 when it listens on the socket of the plan.
    pub port: u16,
}

/// What one group did in an interval on one of its servers. A transaction counts on the server that it ran on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupInterval {
    /// Name of the server, as in the plan.
    pub instance: String,
    /// Of the server.
    #[serde(default)]
    pub role: Role,
    /// Transactions that are due at the end of the interval and that no connection was free for. Nobody knows on which
    /// server they will run: they are told with the first, as is `in_flight`.
    pub backlog_count: u64,
    /// Its connections that are open at the end of the interval.
    pub connected_count: u64,
    /// What its connections did.
    pub snapshot: Snapshot,
    /// How long each transaction that was due and had not ended at the end of the interval had lasted by then: `response`
    /// of all of them, `service` of those that were sent, `pool_wait` of those that waited for a connection. A measure
    /// without any is left out.
    pub in_flight: BTreeMap<Measure, Histogram>,
    /// How far the replica was behind, and what that meant for reads; null for sources.
    #[serde(default)]
    pub replication: Option<ReplicationInterval>,
}

/// Processor time that the engine itself used, all threads together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientCpu {
    /// In user space, nanoseconds.
    pub user_ns: u64,
    /// In the kernel, nanoseconds.
    pub system_ns: u64,
}

/// What happened in one interval. Transactions count where they end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// 0, 1, 2, …
    pub index: u64,
    /// Begin, nanoseconds since trial start.
    pub from_ns: u64,
    /// End, nanoseconds since trial start. The last interval of a trial may be shorter than the others.
    pub to_ns: u64,
    /// The engine's own processor time within the interval.
    pub client: ClientCpu,
    /// How long the engine's threads, all together, were ready and waited for a processor within the interval; null
    /// where the kernel does not count that.
    pub run_delay_ns: Option<u64>,
    /// One entry for each group of the plan and each of its servers, in the order of the groups, the source first.
    pub groups: Vec<GroupInterval>,
    /// Which part of which turn it is, where groups take turns. Nothing happens between turns, and no interval is of it.
    #[serde(default)]
    pub turn: Option<TurnPart>,
}

/// A part of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnPart {
    /// Ordinal of the turn in the plan's order, from 0.
    pub turn: u64,
    /// Whose turn it is.
    pub side: u32,
    /// Which part of it.
    pub part: Part,
}

/// The parts of a turn, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The begin, which the plan wants told apart.
    Lead,
    /// The rest of the time in which transactions begin.
    Counted,
    /// No transaction begins; those in flight end.
    Drain,
}

/// Nothing is in flight, and nothing begins before `go`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handover {
    /// The turn that begins with `go`.
    pub turn: u64,
    /// Whose turn it is.
    pub side: u32,
}

/// How far a data set is, or the opening of connections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Of a data set `resume`, `create`, `load`, `index`, `analyze`, `verify`, `content` or `drop`, of the TPC-C-derived one
    /// also `clear` (in statements), `foreign keys`, `payments`, `consistency` (in warehouses) and `complete`; of a trial
    /// `connect`, and `warm-up` (in seconds) where sysbench's command line asked for one; of logs `read`.
    pub phase: String,
    /// Rows (`resume`, `load`, `content`), connections (`connect`), bytes (`read`) or tables (other phases) that are done.
    pub done_count: u64,
    /// Of so many; 0 where nobody knows.
    pub total_count: u64,
}

/// The first error of a ledger's workers since transactions were acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lost {
    /// When, on the monotonic clock, nanoseconds.
    pub monotonic_ns: u64,
    /// MySQL's error number; where no server answered, that of MySQL's client library for it (2002, 2003, 2013).
    pub code: u16,
    /// What went wrong.
    pub message: String,
}

/// A ledger's workers write again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resumed {
    /// When the transaction was acknowledged, on the monotonic clock, nanoseconds.
    pub monotonic_ns: u64,
}

/// A doubt about a number: what, the evidence for it, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EngineWarning {
    /// Stable name, as in the documentation of warnings.
    pub code: String,
    /// What was seen, with its numbers.
    pub evidence: String,
    /// What to do about it.
    pub advice: String,
}

/// Why a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The planned time or number of transactions was reached, or the data set is as wanted.
    Completed,
    /// `stop`, a signal, or the end of standard input.
    Stopped,
    /// A group had no connection left for as long as its plan allows.
    Outage,
}

/// The account of the whole: offered = completed + failed + dropped + unfinished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Done {
    /// Why it ended.
    pub reason: EndReason,
    /// Wall clock at the start, nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// How long it took, nanoseconds.
    pub duration_ns: u64,
    /// Transactions that fell due; for a data set 0.
    pub offered_count: u64,
    /// Transactions that were still running when connections were cut at the end, or still waiting for one.
    pub unfinished_count: u64,
    /// The engine's own processor time: for a trial the sum of its intervals, for a data set all of it.
    pub client: ClientCpu,
    /// The engine's largest resident memory, bytes.
    pub memory_bytes_max: u64,
    /// Rows that a data set holds, all tables together; statements that were read from logs; for a trial 0.
    pub rows_count: u64,
    /// The first thousand outages, by group and time.
    pub outages: Vec<Outage>,
    /// How many there were.
    pub outages_count: u64,
}

/// Who must act, as in the exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The plan is wrong.
    Spec,
    /// The server refused, or cannot be reached.
    Target,
    /// A server holds other tables or rows than it should.
    Data,
    /// This machine refused.
    Host,
    /// A fault in the engine.
    Bug,
}

/// It could not be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    /// Who must act.
    pub class: FailureClass,
    /// MySQL's error number, where a server answered with one.
    pub code: Option<u16>,
    /// The five characters of SQLSTATE, where a server answered with them.
    pub sqlstate: Option<String>,
    /// What is wrong, with the thing, the value and the cure.
    pub message: String,
}

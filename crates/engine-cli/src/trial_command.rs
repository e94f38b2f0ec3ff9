//! `plimsoll-engine trial`: a plan becomes a trial, and `start`, `stop`, signals and the end of input reach it.

use std::io::{self, BufReader, Stdin};
use std::sync::Arc;

use plimsoll_core::message::{Done, Encryption, EngineWarning, Message, PROTOCOL, TrialCommand};
use plimsoll_core::plan::{Connections, Group, Share, TrialPlan};
use plimsoll_engine::{CONNECTIONS_MAX, ConnectionTerms, GroupRun, Trial, TrialHandle, TrialOptions, WorkerFault};
use plimsoll_session::{GroupServers, Heartbeat, Terms, default_retry};
use plimsoll_workloads::{sessions_count, workload_of};

use crate::input::Input;
use crate::limits;
use crate::output::{Output, TrialReporter};
use crate::process;
use crate::schedule::schedule;

/// Runs one trial from its plan to its account.
///
/// # Errors
/// Why it could not be done.
pub fn run(output: &Arc<Output>) -> Result<Done, WorkerFault> {
    let mut input = Input::new(BufReader::new(io::stdin()));
    let plan = read_plan(&mut input)?;
    check_size(&plan)?;
    limits::check(&plan)?;
    let servers = servers(&plan);
    let trial = build(&plan, &servers)?;
    let handle = trial.handle();
    process::on_signal(move || handle.stop())?;
    let listener = Listener {
        input,
        handle: trial.handle(),
        stop_at_stdin_end: plan.stop_at_stdin_end,
    };
    process::beside(output, move |output| listener.listen(output));
    let (is_writer, look_first) = (plan.share.index == 0, plan.look_first);
    let mut probed = Probed::default();
    if look_first {
        let looked_at = servers.clone();
        let done = trial.handle().unless_stopped(move || {
            let probed = probe(&plan.groups)?;
            if is_writer {
                prepare_heartbeats(&looked_at)?;
            }
            Ok(probed)
        });
        probed = done.transpose()?.unwrap_or_default();
    }
    for warning in probed.warnings {
        output.say(&Message::Warning(warning));
    }
    let encryptions = probed.encryptions;
    let begin = |(row, servers)| Heartbeat::begin(servers, row, is_writer);
    let heartbeats: Vec<Option<Heartbeat>> = (0..).zip(&servers).map(begin).collect::<Result<_, _>>()?;
    let done = trial.run(&mut TrialReporter { output, encryptions });
    drop(heartbeats);
    done
}

/// Whether the heartbeat of each group whose reads are spread can be written.
fn prepare_heartbeats(servers: &[GroupServers]) -> Result<(), WorkerFault> {
    let mut rows = (0..).zip(servers);
    rows.try_for_each(|(row, servers)| plimsoll_session::preflight(servers, row))
}

fn read_plan(input: &mut Input<BufReader<Stdin>>) -> Result<TrialPlan, WorkerFault> {
    match input.next()? {
        Some(TrialCommand::Plan(plan)) => {
            check_protocol(plan.protocol)?;
            Ok(plan)
        }
        Some(_) => Err(WorkerFault::spec("the first command must be `plan`")),
        None => Err(WorkerFault::spec("standard input ended before a plan came")),
    }
}

/// Refuses plans of another version.
///
/// # Errors
/// A fault of class `spec` when `protocol` is not ours.
pub fn check_protocol(protocol: u32) -> Result<(), WorkerFault> {
    if protocol == PROTOCOL {
        return Ok(());
    }
    let message =
        format!("plan.protocol: is {protocol}, this engine speaks {PROTOCOL}; use the engine of that version");
    Err(WorkerFault::spec(message))
}

/// Refuses what nobody can mean, before memory is asked for in its proportion.
///
/// # Errors
/// A fault of class `spec` when there are more connections than the engine opens.
pub fn check_size(plan: &TrialPlan) -> Result<(), WorkerFault> {
    let Share { index, count } = plan.share;
    if index >= count {
        return Err(WorkerFault::spec(format!(
            "share.index: must be below share.count, {count}, is {index}"
        )));
    }
    let connections: u64 = plan
        .groups
        .iter()
        .map(|group| u64::from(sessions_count(workload_of(&group.workload), plan.connections(group))))
        .sum();
    if connections > CONNECTIONS_MAX {
        return Err(WorkerFault::spec(format!(
            "groups.connections: must be at most {CONNECTIONS_MAX} together, are {connections}"
        )));
    }
    Ok(())
}

/// The servers of each group.
pub fn servers(plan: &TrialPlan) -> Vec<GroupServers> {
    let groups = plan.groups.iter();
    groups
        .map(|group| GroupServers::new(&group.targets, group.reads))
        .collect()
}

/// Everything that a trial is made of, with the servers of each group; nothing is connected yet.
///
/// # Errors
/// When the plan makes no sense; all faults of a group are in the message.
pub fn build(plan: &TrialPlan, servers: &[GroupServers]) -> Result<Trial, WorkerFault> {
    let seeds = (0..).map(|number| plan.seed.wrapping_add(number));
    let groups = plan
        .groups
        .iter()
        .zip(servers)
        .zip(seeds)
        .map(|((group, servers), seed)| build_group(group, servers, seed, plan.connections(group)));
    Trial::taking_turns(
        TrialOptions::new(plan.interval_ms, plan.duration_ms),
        groups.collect::<Result<_, _>>()?,
        plan.turns.clone(),
    )
}

/// Each group has a seed of its own, so that several instances are not asked for the same rows at the same time.
fn build_group(
    group: &Group,
    servers: &GroupServers,
    seed: u64,
    connections: Connections,
) -> Result<GroupRun, WorkerFault> {
    let retry = group.retry.clone().unwrap_or_else(default_retry);
    let terms = Terms::new(&retry, &group.reconnect)?;
    let workload = workload_of(&group.workload);
    Ok(GroupRun {
        instance: group.instance.clone(),
        factory: plimsoll_workloads::factory(workload, servers, seed, connections, terms)?,
        arrivals: schedule(group, seed, connections.share)?,
        connections: sessions_count(workload, connections),
        terms: ConnectionTerms {
            per_s: group
                .connect
                .per_s
                .map(|per_s| per_s / f64::from(connections.share.count)),
            all_required: group.connect.all_required,
            back_ratio: group.reconnect.back_ratio,
            give_up_ms: group.reconnect.give_up_ms,
        },
    })
}

/// What was found before connections were opened in number.
#[derive(Default)]
struct Probed {
    warnings: Vec<EngineWarning>,
    encryptions: Vec<Encryption>,
}

/// Probes the servers before connections are opened in number.
fn probe(groups: &[Group]) -> Result<Probed, WorkerFault> {
    let mut probed = Probed::default();
    for group in groups {
        let workload = workload_of(&group.workload);
        let found = workload.preflight(
            &group.used_targets().cloned().collect::<Vec<_>>(),
            sessions_count(workload, group.connections),
        )?;
        probed.warnings.extend(found);
        for one in &group.targets {
            probed.encryptions.push(Encryption {
                instance: one.instance.clone().unwrap_or_else(|| group.instance.clone()),
                role: one.role,
                agreed: plimsoll_workloads::encryption(&one.target)?,
            });
        }
    }
    Ok(probed)
}

/// Takes commands while the trial runs.
struct Listener {
    input: Input<BufReader<Stdin>>,
    handle: TrialHandle,
    stop_at_stdin_end: bool,
}

impl Listener {
    fn listen(mut self, output: &Output) {
        let mut is_started = false;
        loop {
            match self.input.next() {
                Ok(Some(TrialCommand::Start { at_unix_ns })) => {
                    is_started = true;
                    self.handle.start(at_unix_ns);
                }
                Ok(Some(TrialCommand::Go { turn })) => self.handle.go(turn),
                Ok(Some(TrialCommand::Ping { id })) => output.say(&Message::Pong(process::pong(id))),
                Ok(Some(TrialCommand::Stop {})) => self.handle.stop(),
                Ok(Some(TrialCommand::Plan(_))) => {
                    output.fail(WorkerFault::spec("a second plan: one engine runs one trial"))
                }
                Ok(None) => break,
                Err(fault) => output.fail(fault),
            }
        }
        if self.stop_at_stdin_end || !is_started {
            self.handle.stop();
        }
    }
}

//! `plimsoll-engine trial`: a plan becomes a trial, and `start`, `stop`, signals and the end of input reach it.

use std::io::{self, BufReader, Stdin};
use std::sync::Arc;

use plimsoll_core::message::{Done, Encryption, EngineWarning, FailureClass, Message, PROTOCOL, TrialCommand};
use plimsoll_core::plan::{Group, TrialPlan};
use plimsoll_engine::{CONNECTIONS_MAX, ConnectionTerms, GroupRun, Trial, TrialHandle, TrialOptions, WorkerFault};
use plimsoll_session::Terms;
use plimsoll_workloads::sessions_count;

use crate::input::Input;
use crate::limits;
use crate::output::{Output, TrialReporter};
use crate::process;
use crate::schedule::schedule;

/// Runs one trial from its plan to its account.
///
/// # Errors
/// Whatever kept it from being done.
pub fn run(output: &Arc<Output>) -> Result<Done, WorkerFault> {
    let mut input = Input::new(BufReader::new(io::stdin()));
    let plan = read_plan(&mut input)?;
    check_size(&plan)?;
    limits::check(&plan.groups)?;
    let trial = build(&plan)?;
    let handle = trial.handle();
    process::on_signal(move || handle.stop())?;
    let listener = Listener {
        input,
        handle: trial.handle(),
        stop_at_stdin_end: plan.stop_at_stdin_end,
    };
    process::beside(output, move |output| listener.listen(output));
    let mut looked = Looked::default();
    if plan.look_first {
        let done = trial.handle().unless_stopped(move || look_first(&plan.groups));
        looked = done.transpose()?.unwrap_or_default();
    }
    for warning in looked.warnings {
        output.say(&Message::Warning(warning));
    }
    let encryptions = looked.encryptions;
    trial.run(&mut TrialReporter { output, encryptions })
}

fn read_plan(input: &mut Input<BufReader<Stdin>>) -> Result<TrialPlan, WorkerFault> {
    match input.next()? {
        Some(TrialCommand::Plan(plan)) => {
            check_protocol(plan.protocol)?;
            Ok(plan)
        }
        Some(_) => Err(spec("the first command must be `plan`")),
        None => Err(spec("standard input ended before a plan came")),
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
    Err(spec(&message))
}

/// Refuses what nobody can mean, before memory is asked for in its proportion.
///
/// # Errors
/// A fault of class `spec` when there are more connections than the engine opens.
pub fn check_size(plan: &TrialPlan) -> Result<(), WorkerFault> {
    let connections: u64 = plan
        .groups
        .iter()
        .map(|group| u64::from(sessions_count(&group.workload, group.connections)))
        .sum();
    if connections > CONNECTIONS_MAX {
        return Err(spec(&format!(
            "groups.connections: must be at most {CONNECTIONS_MAX} together, are {connections}"
        )));
    }
    Ok(())
}

/// Everything that a trial is made of; nothing is connected yet.
///
/// # Errors
/// When the plan makes no sense; all faults of a group are in the message.
pub fn build(plan: &TrialPlan) -> Result<Trial, WorkerFault> {
    let seeds = (0..).map(|number| plan.seed.wrapping_add(number));
    let groups = plan
        .groups
        .iter()
        .zip(seeds)
        .map(|(group, seed)| build_group(group, seed));
    Trial::new(
        TrialOptions::new(plan.interval_ms, plan.duration_ms),
        groups.collect::<Result<_, _>>()?,
    )
}

/// Each group has a seed of its own, so that several instances are not asked for the same rows at the same time.
fn build_group(group: &Group, seed: u64) -> Result<GroupRun, WorkerFault> {
    let terms = Terms::new(&group.retry, &group.reconnect)?;
    Ok(GroupRun {
        instance: group.instance.clone(),
        factory: plimsoll_workloads::factory(&group.workload, &group.targets, seed, group.connections, terms)?,
        arrivals: schedule(group, seed)?,
        connections: sessions_count(&group.workload, group.connections),
        terms: ConnectionTerms {
            per_s: group.connect.per_s,
            all_required: group.connect.all_required,
            back_ratio: group.reconnect.back_ratio,
            give_up_ms: group.reconnect.give_up_ms,
        },
    })
}

/// What was found before connections were opened in number.
#[derive(Default)]
struct Looked {
    warnings: Vec<EngineWarning>,
    encryptions: Vec<Encryption>,
}

/// Looks at the servers before connections are opened in number.
fn look_first(groups: &[Group]) -> Result<Looked, WorkerFault> {
    let mut looked = Looked::default();
    for group in groups {
        let found = plimsoll_workloads::preflight(
            &group.workload,
            &group.targets,
            sessions_count(&group.workload, group.connections),
        )?;
        looked.warnings.extend(found);
        for one in &group.targets {
            looked.encryptions.push(Encryption {
                instance: group.instance.clone(),
                role: one.role,
                agreed: plimsoll_workloads::encryption(&one.target)?,
            });
        }
    }
    Ok(looked)
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
                Ok(Some(TrialCommand::Stop {})) => self.handle.stop(),
                Ok(Some(TrialCommand::Plan(_))) => output.fail(spec("a second plan: one engine runs one trial")),
                Ok(None) => break,
                Err(fault) => output.fail(fault),
            }
        }
        if self.stop_at_stdin_end || !is_started {
            self.handle.stop();
        }
    }
}

fn spec(message: &str) -> WorkerFault {
    WorkerFault::new(FailureClass::Spec, message)
}

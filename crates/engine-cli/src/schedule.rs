//! Arrivals as planned become a schedule that workers claim from.

use plimsoll_core::plan::{ArrivalProcess, ArrivalsPlan, Connections, Group, RateStepPlan, Share, ThinkTimePlan};
use plimsoll_engine::{Arrivals, OpenLoop, OpenLoopOptions, WorkerFault};
use plimsoll_workloads::{Workload, workload_of};

/// More arrivals than this in a second no single machine can send.
const RATE_MAX_TPS: f64 = 10_000_000.0;

/// A longer curve is no plan but a mistake.
const STEPS_MAX: usize = 100_000;

/// Nobody thinks for longer than a day, milliseconds.
const THINK_TIME_MAX_MS: f64 = 86_400_000.0;

/// Burstier arrivals than these are hours of silence.
const DISPERSION_MAX: f64 = 100_000.0;

/// Bursts last an hour at most, milliseconds.
const STAY_MAX_MS: f64 = 3_600_000.0;

/// As many as may wait: some tens of megabytes.
const BACKLOG_MAX: u64 = 1_000_000;

/// The schedule of one group: a share of what the plan says of the whole.
///
/// # Errors
/// A fault of class `spec` that names the first thing that makes no sense.
pub fn schedule(group: &Group, seed: u64, share: Share) -> Result<Box<dyn Arrivals>, WorkerFault> {
    match &group.arrivals {
        ArrivalsPlan::Closed {
            transactions_max: Some(0),
            ..
        } => Err(spec("closed.transactions_max: must be at least 1, is 0")),
        ArrivalsPlan::Closed {
            transactions_max,
            think_time,
        } => {
            think_time.as_ref().map_or(Ok(()), check_think_time)?;
            let connections = Connections {
                total: group.connections,
                share,
            };
            let workload = workload_of(&group.workload);
            plimsoll_workloads::closed_loop(workload, seed, connections, *think_time, *transactions_max)
        }
        ArrivalsPlan::Open {
            process,
            steps,
            backlog_max,
        } => {
            check(steps, *backlog_max)?;
            check_pace(workload_of(&group.workload))?;
            check_process(*process)?;
            let options = OpenLoopOptions {
                process: *process,
                steps: steps.clone(),
                backlog_max: share.of(*backlog_max),
                seed,
            };
            Ok(Box::new(OpenLoop::sharing(&options, share)))
        }
    }
}

fn check_process(process: ArrivalProcess) -> Result<(), WorkerFault> {
    let ArrivalProcess::Bursty { dispersion, stay_ms } = process else {
        return Ok(());
    };
    for (name, value, most) in [
        ("dispersion", dispersion, DISPERSION_MAX),
        ("stay_ms", stay_ms, STAY_MAX_MS),
    ] {
        if !(1.0..=most).contains(&value) {
            return Err(spec(&format!(
                "open.process.bursty.{name}: must be 1..={most}, is {value}"
            )));
        }
    }
    Ok(())
}

fn check_think_time(plan: &ThinkTimePlan) -> Result<(), WorkerFault> {
    let within = |name: &str, value_ms: f64, least_ms: f64| {
        if (least_ms..=THINK_TIME_MAX_MS).contains(&value_ms) {
            return Ok(());
        }
        Err(spec(&format!(
            "closed.think_time.{name}: must be {least_ms}..={THINK_TIME_MAX_MS}, is {value_ms}"
        )))
    };
    match *plan {
        ThinkTimePlan::Exponential { mean_ms } => within("exponential.mean_ms", mean_ms, 0.0),
        ThinkTimePlan::Uniform { min_ms, max_ms } => {
            within("uniform.min_ms", min_ms, 0.0)?;
            within("uniform.max_ms", max_ms, min_ms)
        }
    }
}

fn check(steps: &[RateStepPlan], backlog_max: u64) -> Result<(), WorkerFault> {
    if !(1..=STEPS_MAX).contains(&steps.len()) {
        return Err(spec(&format!(
            "open.steps: must be 1..={STEPS_MAX}, are {}",
            steps.len()
        )));
    }
    for (index, step) in steps.iter().enumerate() {
        if !(1..=1_000_000_000).contains(&step.duration_ms) {
            let message = format!(
                "open.steps[{index}].duration_ms: must be 1..=1000000000, is {}",
                step.duration_ms
            );
            return Err(spec(&message));
        }
        for (name, rate_tps) in [("from_tps", step.from_tps), ("to_tps", step.to_tps)] {
            if !(0.0..=RATE_MAX_TPS).contains(&rate_tps) {
                return Err(spec(&format!(
                    "open.steps[{index}].{name}: must be 0..={RATE_MAX_TPS}, is {rate_tps}"
                )));
            }
        }
    }
    if steps.iter().all(|step| step.from_tps == 0.0 && step.to_tps == 0.0) {
        return Err(spec(
            "open.steps: no step has a rate above 0, so nothing would ever be wanted",
        ));
    }
    if backlog_max > BACKLOG_MAX {
        return Err(spec(&format!(
            "open.backlog_max: must be at most {BACKLOG_MAX}, is {backlog_max}"
        )));
    }
    Ok(())
}

/// A rate sets the pace, so nothing else may.
fn check_pace(workload: &dyn Workload) -> Result<(), WorkerFault> {
    workload.own_pace().map_or(Ok(()), |options| {
        Err(spec(&format!("open: a rate sets the pace; leave {options} out")))
    })
}

fn spec(message: &str) -> WorkerFault {
    WorkerFault::spec(format!("group.arrivals.{message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    use plimsoll_core::message::FailureClass;
    use plimsoll_core::plan::{ConnectPlan, ReconnectPlan, TpccOptions, WorkloadPlan};

    fn fault(arrivals: ArrivalsPlan, workload: TpccOptions) -> WorkerFault {
        fault_of(arrivals, WorkloadPlan::Tpcc(workload))
    }

    fn fault_of(arrivals: ArrivalsPlan, workload: WorkloadPlan) -> WorkerFault {
        let group = Group {
            instance: "a".to_owned(),
            targets: vec![],
            reads: None,
            workload,
            arrivals,
            connections: 4,
            connect: ConnectPlan::default(),
            retry: None,
            reconnect: ReconnectPlan::default(),
        };
        schedule(&group, 1, Share::default()).err().expect("refused")
    }

    fn refused(steps: &[(u64, f64, f64)], backlog_max: u64) -> String {
        let steps = steps.iter().map(|&(duration_ms, from_tps, to_tps)| RateStepPlan {
            duration_ms,
            from_tps,
            to_tps,
        });
        let plan = ArrivalsPlan::Open {
            process: ArrivalProcess::Poisson,
            steps: steps.collect(),
            backlog_max,
        };
        let fault = fault(plan, TpccOptions::default());
        assert_eq!(fault.class, FailureClass::Spec);
        fault.message
    }

    #[test]
    fn senseless_schedules_are_refused_with_the_thing_and_the_value() {
        let good = (1_000, 10.0, 10.0);
        assert!(refused(&[], 1).starts_with("group.arrivals.open.steps: must be 1..=100000, are 0"));
        assert!(refused(&[good, (0, 1.0, 1.0)], 1).contains("steps[1].duration_ms: must be 1..=1000000000, is 0"));
        assert!(refused(&[(1, -1.0, 1.0)], 1).contains("steps[0].from_tps: must be 0..=10000000, is -1"));
        assert!(refused(&[(1, 1.0, 1e300)], 1).contains("steps[0].to_tps"));
        assert!(refused(&[(1, f64::NAN, 1.0)], 1).contains("steps[0].from_tps"));
        assert!(refused(&[(1, 0.0, 0.0)], 1).contains("nothing would ever be wanted"));
        assert!(refused(&[good], 1_000_001).contains("open.backlog_max: must be at most 1000000"));
        let none = ArrivalsPlan::Closed {
            transactions_max: Some(0),
            think_time: None,
        };
        assert!(
            fault(none, TpccOptions::default())
                .message
                .contains("closed.transactions_max: must be at least 1, is 0")
        );
    }

    #[test]
    fn pauses_that_nobody_can_mean_are_refused() {
        let refused = |think_time| {
            let plan = ArrivalsPlan::Closed {
                transactions_max: None,
                think_time: Some(think_time),
            };
            fault(plan, TpccOptions::default()).message
        };
        let (min_ms, max_ms) = (5.0, 4.0);
        assert_eq!(
            refused(ThinkTimePlan::Uniform { min_ms, max_ms }),
            "group.arrivals.closed.think_time.uniform.max_ms: must be 5..=86400000, is 4"
        );
        for mean_ms in [-1.0, 1e9, f64::NAN] {
            assert!(refused(ThinkTimePlan::Exponential { mean_ms }).contains("think_time.exponential.mean_ms"));
        }
    }

    fn a_rate() -> ArrivalsPlan {
        ArrivalsPlan::Open {
            process: ArrivalProcess::Poisson,
            steps: vec![RateStepPlan {
                duration_ms: 1,
                from_tps: 1.0,
                to_tps: 1.0,
            }],
            backlog_max: 1,
        }
    }

    #[test]
    fn connections_that_pause_are_not_driven_at_a_rate() {
        let paused = |max_ms: f64| {
            let text = format!(
                r#"{{"kind":"statements","tables":[],"prepared":true,"transactions":[{{"name":"t","weight":1,"begin":false,
                "isolation":"server_default","values":[],"statements":[],"think_time":{{"min_ms":0,"max_ms":{max_ms}}}}}]}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        let message = fault_of(a_rate(), paused(5.0)).message;
        let expect = "group.arrivals.open: a rate sets the pace; leave think_time of the workload's transactions out";
        assert_eq!(message, expect);
        assert!(check_pace(workload_of(&paused(0.0))).is_ok());
    }

    #[test]
    fn terminals_have_one_pace_and_a_connection_for_none_is_refused() {
        let closed = |think_time| ArrivalsPlan::Closed {
            transactions_max: None,
            think_time,
        };
        let few = TpccOptions {
            terminals: Some(3),
            ..TpccOptions::default()
        };
        let message = fault(closed(None), few).message;
        assert_eq!(
            message,
            "workload.terminals: must be at least as many as connections, 4, are 3"
        );
        let timed = TpccOptions {
            times: 0.5,
            ..TpccOptions::default()
        };
        let think_time = ThinkTimePlan::Exponential { mean_ms: 1.0 };
        assert!(
            fault(closed(Some(think_time)), timed.clone())
                .message
                .contains("has think times of its own")
        );
        assert!(fault(a_rate(), timed).message.contains("a rate sets the pace"));
    }
}

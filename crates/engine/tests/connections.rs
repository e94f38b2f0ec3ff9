//! Connections that do not come, come slowly, or are lost: what the trial says of them.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{LONG_MS, Told, closed, run, run_until, run_with, transact};
use plimsoll_core::message::{EndReason, FailureClass, Message, Ready};
use plimsoll_core::snapshot::ErrorClass;
use plimsoll_engine::{
    Arrival, ConnectionTerms, Gate, GroupRun, Outcome, ServerIndex, Trial, TrialOptions, WorkerFault,
};

fn refused(code: u16) -> WorkerFault {
    WorkerFault {
        code: Some(code),
        ..WorkerFault::new(FailureClass::Target, format!("no: {code}"))
    }
}

#[allow(clippy::unnecessary_wraps)] // what a script gives
fn work(gate: &mut Gate<'_>, _: Arrival) -> Result<(), WorkerFault> {
    transact(gate, || sleep(Duration::from_millis(1)));
    Ok(())
}

/// Of ten, number 3 meets one error and each from 7 on another.
fn some_of_ten(all_required: bool) -> GroupRun {
    let build = |worker| match worker {
        3 => Err(refused(1130)),
        7.. => Err(refused(1040)),
        _ => Ok(work),
    };
    GroupRun {
        terms: ConnectionTerms {
            all_required,
            ..ConnectionTerms::default()
        },
        ..closed(10, build)
    }
}

fn ready(told: &Told) -> &Ready {
    let mut ready = told.events.iter().filter_map(|event| match event {
        Message::Ready(ready) => Some(ready),
        _ => None,
    });
    ready.next().expect("it was ready")
}

/// What a trial warns of, but for what it says of a machine that is busy elsewhere.
fn warnings(told: &Told) -> Vec<(&str, &str)> {
    let warnings = told.events.iter().filter_map(|event| match event {
        Message::Warning(warning) => Some((warning.code.as_str(), warning.evidence.as_str())),
        _ => None,
    });
    warnings.filter(|(code, _)| *code != "intervals-late").collect()
}

#[test]
fn a_trial_runs_with_the_connections_that_came_and_says_which_did_not() {
    let told = run(TrialOptions::new(100, 300), vec![some_of_ten(false)]);
    let done = told.checked(100);
    assert!(done.offered_count > 0 && done.reason == EndReason::Completed);
    let ready = ready(&told);
    assert_eq!((ready.connections, ready.wanted_count), (6, 10));
    let failures: Vec<_> = ready
        .failures
        .iter()
        .map(|one| (one.code, one.count, &*one.message))
        .collect();
    assert_eq!(failures, [(Some(1040), 3, "no: 1040"), (Some(1130), 1, "no: 1130")]);
    assert_eq!(
        warnings(&told),
        [(
            "connections-missing",
            "6 of 10 connections could be opened; 3 times: no: 1040; 1 times: no: 1130."
        )]
    );
    assert!(told.intervals().all(|interval| interval.groups[0].connected_count == 6));
}

#[test]
fn where_all_are_wanted_one_that_is_missing_ends_it() {
    let told = run(TrialOptions::new(100, 60_000), vec![some_of_ten(true)]);
    assert!(matches!(told.result.unwrap_err().code, Some(1040 | 1130)));
}

#[test]
fn without_a_single_connection_there_is_no_trial() {
    let none = closed(5, |worker| -> Result<fn(&mut Gate<'_>, Arrival) -> _, _> {
        Err(refused(if worker == 0 { 1130 } else { 1040 }))
    });
    let told = run(TrialOptions::new(100, 60_000), vec![closed(2, |_| Ok(work)), none]);
    assert_eq!(
        told.result.unwrap_err(),
        refused(1040),
        "the one that was met most often"
    );
}

#[test]
fn what_is_nobodys_refusal_ends_it_as_before() {
    let wrong = closed(5, |worker| match worker {
        4 => Err(WorkerFault::new(FailureClass::Spec, "what is this?")),
        _ => Ok(work),
    });
    let told = run(TrialOptions::new(100, 60_000), vec![wrong]);
    assert_eq!(told.result.unwrap_err().message, "what is this?");
}

#[test]
fn connections_are_opened_at_the_pace_that_was_asked_for() {
    static OPENED: Mutex<Vec<Instant>> = Mutex::new(Vec::new());
    let (told_progress, progress) = mpsc::channel();
    let progress = Mutex::new(progress);
    let slow = GroupRun {
        terms: ConnectionTerms {
            per_s: Some(20.0),
            ..ConnectionTerms::default()
        },
        ..closed(25, move |worker| {
            OPENED.lock().unwrap().push(Instant::now());
            // The last one takes until there was a word, also where the machine stood still while the others were due.
            if worker == 24 {
                let word = progress.lock().unwrap().recv_timeout(Duration::from_secs(60));
                word.expect("a word after the first second");
            }
            Ok(work)
        })
    };
    let begin = Instant::now();
    let told = run_with(TrialOptions::new(100, 100), vec![slow], |event, handle| match event {
        Message::Progress(_) => told_progress.send(()).unwrap(),
        Message::Ready(_) => handle.start(None),
        _ => {}
    });
    told.checked(100);
    let opened = OPENED.lock().unwrap();
    for (number, at) in opened.iter().enumerate() {
        let due = Duration::from_millis(50) * number as u32;
        assert!(at.duration_since(begin) >= due, "number {number} came early");
    }
    // 1.2 s, and what a busy machine takes for it.
    assert!(opened[24].duration_since(begin) < Duration::from_secs(10));
    let Message::Progress(progress) = &told.events[0] else {
        panic!("{:?}", told.events[0]);
    };
    assert_eq!((&*progress.phase, progress.total_count), ("connect", 25));
    assert!((1..25).contains(&progress.done_count), "{progress:?}");
}

/// Connections that are away, until they may be back.
#[derive(Default)]
struct Away {
    may_be_back: AtomicBool,
    /// Just before one was lost, and just after it was back.
    moments: Mutex<Vec<Instant>>,
}

impl Away {
    fn moment(&self) {
        self.moments.lock().unwrap().push(Instant::now());
    }
}

/// Each loses its connection in its transaction number 20.
fn loses(connections: u32, away: &Arc<Away>) -> GroupRun {
    let away = Arc::clone(away);
    closed(connections, move |_| {
        let away = Arc::clone(&away);
        Ok(move |gate: &mut Gate<'_>, arrival: Arrival| {
            if arrival.index != 20 {
                return work(gate, arrival);
            }
            gate.sent();
            gate.error(ServerIndex::SOURCE, Some(0), ErrorClass::Connection, 0);
            away.moment();
            gate.connection_lost(ServerIndex::SOURCE, Duration::ZERO);
            gate.connection_lost(ServerIndex::SOURCE, Duration::ZERO); // says nothing more
            gate.finish(0, Outcome::Failed);
            while !away.may_be_back.load(Ordering::SeqCst) && !gate.is_ending() {
                sleep(Duration::from_millis(1));
            }
            if !gate.is_ending() {
                gate.connection_back(ServerIndex::SOURCE);
                away.moment();
            }
            Ok(())
        })
    })
}

#[test]
fn an_outage_is_told_with_its_length_its_connections_and_what_was_lost() {
    let away = Arc::new(Away::default());
    let (mut none_since, mut none_for) = (None, Duration::ZERO);
    let told = run_until(TrialOptions::new(100, LONG_MS), vec![loses(4, &away)], |interval| {
        let connected_count = interval.groups[0].connected_count;
        if connected_count == 0 && none_for < Duration::from_millis(200) {
            none_for = none_since.get_or_insert_with(Instant::now).elapsed();
            away.may_be_back
                .store(none_for >= Duration::from_millis(200), Ordering::SeqCst);
        }
        connected_count == 4 && away.may_be_back.load(Ordering::SeqCst)
    });
    let done = told.checked(100);
    assert_eq!(done.outages_count, 1, "{:?}", done.outages);
    let outage = &done.outages[0];
    assert_eq!(
        (&*outage.instance, outage.connections_count, outage.lost_count),
        ("one", 4, 4)
    );
    let length = Duration::from_nanos(outage.to_ns.unwrap() - outage.from_ns);
    let moments = away.moments.lock().unwrap();
    let around = *moments.iter().max().unwrap() - *moments.iter().min().unwrap();
    assert!(
        (none_for..=around).contains(&length),
        "{none_for:?} {length:?} {around:?}"
    );
    assert_eq!(told.intervals().last().unwrap().groups[0].connected_count, 4);
    let (code, evidence) = warnings(&told)[0];
    assert!(
        code == "outage" && evidence.contains("of 4 connections to one"),
        "{evidence}"
    );
}

#[test]
fn when_nobody_is_connected_for_too_long_the_trial_ends_with_its_account() {
    let group = GroupRun {
        terms: ConnectionTerms {
            give_up_ms: 300,
            ..ConnectionTerms::default()
        },
        ..loses(3, &Arc::default())
    };
    let told = run(TrialOptions::new(100, 60_000), vec![group]);
    let done = told.checked(100);
    assert_eq!((done.reason, told.total().counts().failed), (EndReason::Outage, 3));
    assert!(done.duration_ns < 30_000_000_000);
    assert_eq!((done.outages[0].to_ns, done.outages[0].lost_count), (None, 3));
}

#[test]
fn as_long_as_one_connection_is_left_the_trial_goes_on() {
    let group = GroupRun {
        terms: ConnectionTerms {
            give_up_ms: 100,
            ..ConnectionTerms::default()
        },
        ..closed(2, |worker| {
            Ok(move |gate: &mut Gate<'_>, arrival: Arrival| {
                if worker == 0 && arrival.index == 5 {
                    gate.connection_lost(ServerIndex::SOURCE, Duration::ZERO);
                }
                work(gate, arrival)
            })
        })
    };
    let told = run(TrialOptions::new(100, 500), vec![group]);
    assert_eq!(told.checked(100).reason, EndReason::Completed);
}

#[test]
fn senseless_terms_are_refused_with_the_thing_and_the_value() {
    let refused = |terms| {
        let group = GroupRun {
            terms,
            ..closed(1, |_| Ok(work))
        };
        let fault = Trial::new(TrialOptions::new(100, 100), vec![group])
            .err()
            .expect("refused");
        fault.message
    };
    let terms = ConnectionTerms::default;
    for per_s in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let per_s = Some(per_s);
        assert!(refused(ConnectionTerms { per_s, ..terms() }).starts_with("groups[0].connect.per_s: must be at least"));
    }
    for back_ratio in [0.0, 1.1] {
        assert!(refused(ConnectionTerms { back_ratio, ..terms() }).contains("reconnect.back_ratio: must be above 0"));
    }
}

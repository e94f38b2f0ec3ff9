//! Groups that take turns: exactly one side works at a time, what is in flight ends before the other begins, and the parts of
//! turns say what happened in them.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use common::{Script, closed, transact};
use plimsoll_core::message::{Done, EndReason, Interval, Message, Part};
use plimsoll_core::plan::TurnsPlan;
use plimsoll_core::snapshot::Measure;
use plimsoll_engine::{GroupRun, Observer, Trial, TrialHandle, TrialOptions, WorkerFault};

/// Who works: for each side how many, and what anybody saw of the other side meanwhile.
#[derive(Default)]
struct Floor {
    working: [AtomicU32; 2],
    together: AtomicU32,
    /// When a worker of a side worked.
    spans: Mutex<Vec<(usize, Instant, Instant)>>,
}

fn script(floor: Arc<Floor>, side: usize, lasts: Duration) -> impl Script {
    move |gate, _| {
        transact(gate, || {
            let begin = Instant::now();
            floor.working[side].fetch_add(1, Ordering::SeqCst);
            thread::sleep(lasts);
            floor
                .together
                .fetch_add(floor.working[1 - side].load(Ordering::SeqCst), Ordering::SeqCst);
            floor.working[side].fetch_sub(1, Ordering::SeqCst);
            floor.spans.lock().unwrap().push((side, begin, Instant::now()));
        });
        Ok(())
    }
}

fn groups(floor: &Arc<Floor>, lasts: Duration) -> Vec<GroupRun> {
    let side = |side| {
        let floor = Arc::clone(floor);
        closed(3, move |_| Ok(script(Arc::clone(&floor), side, lasts)))
    };
    vec![side(0), side(1)]
}

fn options(order: &[u32]) -> TurnsPlan {
    TurnsPlan {
        turn_ms: 60,
        lead_ms: 20,
        sides: vec![0, 1],
        order: order.to_vec(),
    }
}

struct Conductor<A> {
    events: Vec<Message>,
    handle: TrialHandle,
    action: A,
}

impl<A: FnMut(&Message, &TrialHandle)> Observer for Conductor<A> {
    fn on(&mut self, event: &Message) {
        self.events.push(event.clone());
        if matches!(event, Message::Ready(_)) {
            self.handle.start(None);
        }
        (self.action)(event, &self.handle);
    }
}

fn run(groups: Vec<GroupRun>, turns: TurnsPlan, action: impl FnMut(&Message, &TrialHandle)) -> (Vec<Message>, Done) {
    let trial = Trial::taking_turns(TrialOptions::new(1_000, 20_000), groups, Some(turns)).expect("a sensible plan");
    let handle = trial.handle();
    let events = Vec::new();
    let mut conductor = Conductor { events, handle, action };
    let done = trial.run(&mut conductor).expect("an account");
    (conductor.events, done)
}

fn go(event: &Message, handle: &TrialHandle) {
    if let Message::Handover(handover) = event {
        handle.go(handover.turn);
    }
}

fn intervals(events: &[Message]) -> impl Iterator<Item = &Interval> {
    events.iter().filter_map(|event| match event {
        Message::Interval(interval) => Some(interval),
        _ => None,
    })
}

/// Transactions of 7 ms in turns of 60 ms: at the end of each turn some are in flight.
#[test]
fn exactly_one_side_works_at_a_time_and_all_ends_before_the_next_turn() {
    const ORDER: [u32; 8] = [0, 1, 1, 0, 1, 0, 0, 1];
    let floor = Arc::new(Floor::default());
    let (events, done) = run(groups(&floor, Duration::from_millis(7)), options(&ORDER), go);
    assert_eq!(floor.together.load(Ordering::SeqCst), 0);
    let mut spans = floor.spans.lock().unwrap().clone();
    spans.sort_by_key(|one| one.1);
    assert!(spans.windows(2).all(|two| two[0].0 == two[1].0 || two[0].2 <= two[1].1));

    let handovers = events
        .iter()
        .filter(|event| matches!(event, Message::Handover(_)))
        .count();
    assert_eq!(
        (handovers, done.reason, done.unfinished_count),
        (8, EndReason::Completed, 0)
    );
    let (mut completed, mut counted, mut worked) = (0, [0, 0], Vec::new());
    for interval in intervals(&events) {
        let own = |side: usize| interval.groups[side].snapshot.counts().completed;
        completed += own(0) + own(1);
        worked.extend([0, 1].into_iter().filter(|side| own(*side) > 0));
        let Some(turn) = interval.turn else {
            assert_eq!(own(0) + own(1), 0, "outside of turns nothing ends");
            continue;
        };
        assert_eq!(turn.side, ORDER[usize::try_from(turn.turn).unwrap()]);
        assert_eq!(own(1 - turn.side as usize), 0, "{turn:?}");
        let lasts_ms = (interval.to_ns - interval.from_ns) / 1_000_000;
        match turn.part {
            Part::Lead => assert!(lasts_ms >= 20),
            Part::Counted => counted[turn.side as usize] += own(turn.side as usize),
            Part::Drain => assert!(own(turn.side as usize) <= 3, "a worker ends at most one"),
        }
    }
    assert_eq!((completed, completed), (done.offered_count, spans.len() as u64));
    assert!(counted.iter().all(|count| *count > 0), "{counted:?}");
    // In a turn in which a busy machine lets nobody run, nobody does.
    worked.dedup();
    let sides: Vec<_> = spans.chunk_by(|a, b| a.0 == b.0).map(|run| run[0].0).collect();
    assert_eq!(sides, worked, "neighbouring turns of one side are one run");
    let mut parts: Vec<_> = intervals(&events)
        .filter_map(|one| one.turn)
        .map(|turn| turn.part)
        .collect();
    parts.dedup(); // a drain that takes longer than an interval is told in several
    assert!(
        parts
            .chunks(3)
            .all(|turn| turn == [Part::Lead, Part::Counted, Part::Drain])
    );
}

/// Nobody works between a handover and the word that the server runs, however long that takes, and nobody has waited then.
#[test]
fn a_turn_waits_for_go() {
    let floor = Arc::new(Floor::default());
    let seen = Arc::clone(&floor);
    let (events, done) = run(
        groups(&floor, Duration::from_millis(1)),
        options(&[0, 1, 0, 1]),
        |event, handle| {
            if let Message::Handover(handover) = event {
                let begun = seen.spans.lock().unwrap().len();
                handle.go(handover.turn + 1); // of another turn
                thread::sleep(Duration::from_millis(50));
                assert_eq!(seen.spans.lock().unwrap().len(), begun);
                handle.go(handover.turn);
            }
        },
    );
    let length_ns = |one: &Interval| one.to_ns - one.from_ns;
    let of_turns: u64 = intervals(&events).filter(|one| one.turn.is_some()).map(length_ns).sum();
    let waited_ns = done.duration_ns - of_turns;
    assert!(waited_ns >= 4 * 50_000_000, "waiting is part of no turn: {waited_ns}");
    let groups = intervals(&events).flat_map(|one| &one.groups);
    let response_ns: u64 = groups
        .filter_map(|group| group.snapshot.transactions.get("first"))
        .map(|one| one.histograms[&Measure::Response].sum_ns)
        .sum();
    assert!(response_ns <= 3 * of_turns, "nothing is due outside of its turn");
}

#[test]
fn a_stop_ends_it_in_the_middle_of_a_turn_and_while_it_waits() {
    for in_turn in [true, false] {
        let floor = Arc::new(Floor::default());
        let (_, done) = run(
            groups(&floor, Duration::from_millis(1)),
            options(&[0, 1, 0, 1]),
            |event, handle| match event {
                Message::Handover(one) if one.turn < 2 => handle.go(one.turn),
                Message::Handover(_) => handle.stop(),
                Message::Interval(one) if in_turn && one.turn.is_some_and(|turn| turn.part == Part::Lead) => {
                    handle.stop();
                }
                _ => {}
            },
        );
        assert_eq!((done.reason, done.unfinished_count), (EndReason::Stopped, 0));
    }
}

/// A side whose worker fails while the other side waits: its fault ends the trial, and nobody is left waiting.
#[test]
fn a_fault_ends_it_while_the_other_side_waits() {
    let failing = closed(1, |_| {
        Ok(|_: &mut plimsoll_engine::Gate<'_>, _| {
            Err(WorkerFault::new(plimsoll_core::message::FailureClass::Target, "gone"))
        })
    });
    let floor = Arc::new(Floor::default());
    let mut both = groups(&floor, Duration::from_millis(1));
    both[1] = failing;
    let trial = Trial::taking_turns(TrialOptions::new(1_000, 20_000), both, Some(options(&[0, 1, 0]))).unwrap();
    let handle = trial.handle();
    let mut conductor = Conductor {
        events: Vec::new(),
        handle,
        action: go,
    };
    assert_eq!(trial.run(&mut conductor).unwrap_err().message, "gone");
}

#[test]
fn turns_that_make_no_sense_are_refused() {
    let fault = |turns: TurnsPlan| {
        let floor = Arc::new(Floor::default());
        let trial = Trial::taking_turns(
            TrialOptions::new(1_000, 1_000),
            groups(&floor, Duration::ZERO),
            Some(turns),
        );
        trial.err().expect("a fault").message
    };
    let usual = options(&[0, 1]);
    assert!(
        fault(TurnsPlan {
            lead_ms: 60,
            ..usual.clone()
        })
        .starts_with("turns.lead_ms: must be below turn_ms, 60")
    );
    assert!(
        fault(TurnsPlan {
            turn_ms: 0,
            ..usual.clone()
        })
        .starts_with("turns.turn_ms: must be 1..=")
    );
    assert!(
        fault(TurnsPlan {
            sides: vec![0],
            ..usual.clone()
        })
        .contains("one for each of the 2 groups, are 1")
    );
    assert!(
        fault(TurnsPlan {
            sides: vec![0, u32::MAX],
            ..usual.clone()
        })
        .contains("must be below 2")
    );
    assert!(fault(options(&[])).contains("turns.order: must be 1..="));
    assert!(fault(options(&[0, 2])).contains("side 2 has no group"));
}

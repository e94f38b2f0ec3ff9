//! The engine's hand-offs between threads under loom: its own sources over a model of the futex, run in every order in which
//! their steps can follow each other, weak memory included. A model that fails panics with the order in which it did.

#![allow(dead_code)] // the sources have more than is modelled

mod clock;
#[path = "../../crates/engine/src/ending.rs"]
mod ending;
#[path = "../../crates/engine/src/turns.rs"]
mod turns;
mod word;

use std::sync::atomic::{AtomicU64, Ordering, Ordering::Relaxed};

use loom::model::Builder;
use loom::sync::atomic::AtomicU32;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread::{self, JoinHandle};

use clock::TrialClock;
use ending::Ending;
use turns::Turns;

fn main() {
    check("the end wakes all who sleep", None, the_end_wakes_all_who_sleep);
    check("nobody works once a side is idle", None, || {
        nobody_works_once_a_side_is_idle(1)
    });
    check("the same with two workers", Some(2), || {
        nobody_works_once_a_side_is_idle(2)
    });
    check("the leader hears that a side is idle", None, || {
        the_leader_hears_that_a_side_is_idle(1)
    });
    check("the same with two workers", Some(2), || {
        the_leader_hears_that_a_side_is_idle(2)
    });
    check("the end sends all home", Some(2), the_end_sends_all_home);
}

/// Runs a model in all orders, or in those in which threads are interrupted at most so often.
fn check(name: &str, interruptions_max: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let before = RUNS.load(Relaxed);
    let mut builder = Builder::new();
    builder.preemption_bound = interruptions_max;
    builder.check(move || {
        RUNS.fetch_add(1, Relaxed);
        model();
    });
    println!("{name}: {} orders", RUNS.load(Relaxed) - before);
}

fn the_end_wakes_all_who_sleep() {
    let ending = Arc::new(Ending::default());
    let sleepers: Vec<JoinHandle<bool>> = (0..2)
        .map(|_| {
            let ending = Arc::clone(&ending);
            thread::spawn(move || ending.sleep_until(TrialClock, 1))
        })
        .collect();
    ending.come();
    assert!(sleepers.into_iter().all(|one| !one.join().unwrap()));
}

/// Workers of one side that may work once each.
fn workers(
    count: u32,
    turns: &Arc<Turns>,
    working: &Arc<AtomicU32>,
    idle: impl Fn() + Clone + Send + 'static,
) -> Vec<JoinHandle<()>> {
    let start = |_| {
        let (turns, working, idle) = (Arc::clone(turns), Arc::clone(working), idle.clone());
        thread::spawn(move || {
            if turns.enter(0, &idle) {
                working.fetch_add(1, Ordering::Relaxed);
                working.fetch_sub(1, Ordering::Relaxed);
                turns.leave(0, &idle);
            }
        })
    };
    (0..count).map(start).collect()
}

fn nobody_works_once_a_side_is_idle(count: u32) {
    let (turns, working) = (Arc::new(Turns::new(1)), Arc::new(AtomicU32::new(0)));
    let workers = workers(count, &turns, &working, || {});
    turns.begin(0);
    turns.pause(0);
    while !turns.is_idle(0) {
        thread::yield_now();
    }
    assert_eq!(working.load(Ordering::Relaxed), 0);
    turns.end();
    workers.into_iter().for_each(|one| one.join().unwrap());
}

/// The leader sleeps as it does in a trial: until it is told that something changed, and what it waits for is so.
fn the_leader_hears_that_a_side_is_idle(count: u32) {
    let (turns, working) = (Arc::new(Turns::new(1)), Arc::new(AtomicU32::new(0)));
    let leader = Arc::new((Mutex::new(()), Condvar::new()));
    let told = Arc::clone(&leader);
    let workers = workers(count, &turns, &working, move || {
        drop(told.0.lock().unwrap());
        told.1.notify_all();
    });
    turns.begin(0);
    turns.pause(0);
    let mut guard = leader.0.lock().unwrap();
    while !turns.is_idle(0) {
        guard = leader.1.wait(guard).unwrap();
    }
    drop(guard);
    assert_eq!(working.load(Ordering::Relaxed), 0);
    turns.end();
    workers.into_iter().for_each(|one| one.join().unwrap());
}

fn the_end_sends_all_home() {
    let (turns, working) = (Arc::new(Turns::new(1)), Arc::new(AtomicU32::new(0)));
    let workers = workers(2, &turns, &working, || {});
    turns.end();
    workers.into_iter().for_each(|one| one.join().unwrap());
    turns.begin(0);
    assert!(!turns.is_on(0) && turns.is_idle(0));
}

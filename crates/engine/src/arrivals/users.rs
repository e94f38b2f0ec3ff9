//! Users who share connections: each goes at its own pace, and its next transaction is due a pause after its last one was
//! done, whether or not a connection is free then.
//!
//! As in an open loop an idle worker claims the next user ahead of its time and sleeps until it is due. A worker that claims
//! has just ended what its last user wanted, so users come back in the order in which they are due, and nobody but the
//! worker itself has to wake up for it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use plimsoll_core::lock::lock;
use plimsoll_core::plan::Share;

use super::{Arrival, Arrivals, Backlog, Claim, Pace};

/// Who shares what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsersOptions {
    /// How many users there are, all engines together.
    pub users: u32,
    /// Which of them are served here.
    pub share: Share,
    /// Workers that serve users are those below this number. All others carry out what is left to the background.
    pub connections: u32,
    /// Ends the trial after so many transactions of all users together, background work not counted.
    pub transactions_max: Option<u64>,
}

/// Users who share connections, and what they leave to the background, which is due at once and waits in a queue.
pub struct Users {
    options: UsersOptions,
    pace: Box<dyn Pace>,
    state: Mutex<State>,
    /// There is background work, or never will be again.
    changed: Condvar,
}

struct State {
    /// Users that no worker has claimed, the earliest first: due, user, index.
    idle: BinaryHeap<Reverse<(u64, u32, u64)>>,
    /// What each worker runs, or waits to run: user and index.
    claimed: Vec<Option<(u32, u64)>>,
    claimed_count: u64,
    background: VecDeque<Arrival>,
    closed_ns: Option<u64>,
}

impl Users {
    /// Users that begin with the trial.
    pub fn new(options: UsersOptions, pace: Box<dyn Pace>) -> Self {
        let own = (0..options.users).filter(|user| options.share.has(u64::from(*user)));
        let idle = own.map(|user| {
            let (index, due_ns) = pace.begin(user);
            Reverse((due_ns, user, index))
        });
        let state = State {
            idle: idle.collect(),
            claimed: vec![None; options.connections as usize],
            claimed_count: 0,
            background: VecDeque::new(),
            closed_ns: None,
        };
        Self {
            options,
            pace,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Whether no user is served any more.
    fn is_exhausted(&self, state: &State) -> bool {
        let max = self.options.transactions_max;
        max.is_some_and(|max| state.claimed_count >= max)
    }

    /// Takes note that what a worker ran is done.
    fn release(&self, state: &mut State, worker: u32, now_ns: u64) {
        let Some((user, index)) = state.claimed[worker as usize].take() else {
            return;
        };
        let due_ns = now_ns.saturating_add(self.pace.pause_ns(user, index + 1));
        state.idle.push(Reverse((due_ns, user, index + 1)));
        if self.pace.leaves_work(user, index) {
            state.background.push_back(Arrival {
                index,
                actor: user,
                due_ns: now_ns,
            });
            self.changed.notify_one();
        }
    }

    fn claim_user(&self, worker: u32, now_ns: u64) -> Claim {
        let mut state = self.lock();
        self.release(&mut state, worker, now_ns);
        if state.closed_ns.is_some() || self.is_exhausted(&state) {
            self.changed.notify_all();
            return Claim::End;
        }
        let Some(Reverse((due_ns, actor, index))) = state.idle.pop() else {
            return Claim::End; // fewer users than connections: this one is never needed
        };
        state.claimed[worker as usize] = Some((actor, index));
        state.claimed_count += 1;
        Claim::Run(Arrival { index, actor, due_ns })
    }

    /// Waits for work until the schedule is closed, or nobody is left who could leave any.
    fn claim_background(&self) -> Claim {
        let mut state = self.lock();
        loop {
            if state.closed_ns.is_some() {
                return Claim::End;
            }
            if let Some(arrival) = state.background.pop_front() {
                return Claim::Run(arrival);
            }
            if self.is_exhausted(&state) && state.claimed.iter().all(Option::is_none) {
                return Claim::End;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Arrivals for Users {
    fn claim(&self, worker: u32, now_ns: u64) -> Claim {
        if worker < self.options.connections {
            self.claim_user(worker, now_ns)
        } else {
            self.claim_background()
        }
    }

    fn backlog(&self, now_ns: u64, waiting: &mut dyn FnMut(u64)) -> Backlog {
        let state = self.lock();
        let until_ns = state.closed_ns.map_or(now_ns, |closed_ns| closed_ns.min(now_ns));
        let users_due_ns = state.idle.iter().map(|Reverse((due_ns, ..))| *due_ns);
        let users_due_ns = users_due_ns.filter(|due_ns| *due_ns < until_ns && !self.is_exhausted(&state));
        let background_due_ns = state.background.iter().map(|arrival| arrival.due_ns);
        let waiting_count = users_due_ns.chain(background_due_ns).map(waiting).count();
        Backlog {
            waiting_count: waiting_count as u64,
            dropped_count: 0,
        }
    }

    fn close(&self, now_ns: u64) {
        self.lock().closed_ns.get_or_insert(now_ns);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pause is 10 times the user's number and 100 more; each third transaction leaves work.
    struct Steps;

    impl Pace for Steps {
        fn begin(&self, user: u32) -> (u64, u64) {
            (0, u64::from(user))
        }

        fn pause_ns(&self, user: u32, _index: u64) -> u64 {
            100 + 10 * u64::from(user)
        }

        fn leaves_work(&self, _user: u32, index: u64) -> bool {
            index % 3 == 2
        }
    }

    fn users(users: u32, connections: u32, transactions_max: Option<u64>) -> Users {
        let options = UsersOptions {
            users,
            share: Share::default(),
            connections,
            transactions_max,
        };
        Users::new(options, Box::new(Steps))
    }

    #[test]
    fn a_share_serves_its_users_and_no_others() {
        let options = UsersOptions {
            users: 5,
            share: Share { index: 1, count: 2 },
            connections: 2,
            transactions_max: None,
        };
        let users = Users::new(options, Box::new(Steps));
        assert_eq!(users.claim(0, 0), run(1, 0, 1));
        assert_eq!(users.claim(1, 0), run(3, 0, 3));
        assert_eq!(users.claim(0, 10), run(1, 1, 120));
    }

    fn run(actor: u32, index: u64, due_ns: u64) -> Claim {
        Claim::Run(Arrival { index, actor, due_ns })
    }

    /// When those that wait were due, in order.
    fn waiting(users: &Users, now_ns: u64) -> Vec<u64> {
        let mut due_ns = Vec::new();
        let backlog = users.backlog(now_ns, &mut |one| due_ns.push(one));
        due_ns.sort_unstable();
        assert_eq!(backlog.waiting_count, due_ns.len() as u64);
        due_ns
    }

    #[test]
    fn a_user_is_due_a_pause_after_its_last_transaction_was_done_whichever_connection_serves_it() {
        let users = users(3, 2, None);
        assert_eq!(users.claim(0, 0), run(0, 0, 0));
        assert_eq!(users.claim(1, 0), run(1, 0, 1));
        assert_eq!(users.claim(0, 50), run(2, 0, 2)); // user 0 is due at 150
        assert_eq!(users.claim(0, 60), run(0, 1, 150)); // user 2 is due at 180
        assert_eq!(users.claim(1, 500), run(2, 1, 180)); // user 1 is due at 610
        assert_eq!(users.claim(1, 501), run(1, 1, 610));
    }

    #[test]
    fn who_is_due_while_all_connections_are_busy_waits_and_is_counted() {
        let users = users(5, 1, None);
        users.claim(0, 0);
        assert_eq!(waiting(&users, 3), [1, 2]); // not user 3, who is due then
        users.close(4);
        assert_eq!(users.claim(0, 9), Claim::End);
        assert_eq!(waiting(&users, 1_000), [1, 2, 3]);
    }

    #[test]
    fn work_that_is_left_is_carried_out_by_other_workers_in_order() {
        let users = users(1, 1, None);
        let mut now_ns = 0;
        for _ in 0..7 {
            users.claim(0, now_ns);
            now_ns += 1_000;
        }
        assert_eq!(waiting(&users, 0), [3_000, 6_000]);
        assert_eq!(users.claim(1, 99), run(0, 2, 3_000));
        assert_eq!(users.claim(2, 99), run(0, 5, 6_000));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| users.claim(1, 0));
            users.claim(0, 7_000);
            users.claim(0, 8_000);
            users.claim(0, 9_000);
            assert_eq!(waiting.join().unwrap(), run(0, 8, 9_000));
            let waiting = scope.spawn(|| users.claim(1, 0));
            users.close(9_500);
            assert_eq!(waiting.join().unwrap(), Claim::End);
        });
    }

    #[test]
    fn a_bounded_schedule_ends_for_all_and_leaves_nobody_waiting() {
        let users = users(4, 2, Some(100));
        let serve = |worker| {
            let mut count = 0;
            while users.claim(worker, count) != Claim::End {
                count += 1;
            }
            count
        };
        let counts: Vec<u64> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4).map(|worker| scope.spawn(move || serve(worker))).collect();
            workers.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(counts[0] + counts[1], 100);
        assert!((20..=40).contains(&(counts[2] + counts[3])), "{counts:?}");
        assert_eq!(waiting(&users, u64::MAX), [0; 0]);
    }
}

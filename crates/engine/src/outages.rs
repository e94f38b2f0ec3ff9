//! The outages of one server of a group: from the first connection that is lost until they are back.
//!
//! Deliberately not here: clocks (times are passed in), and opening connections again (workers do).

use std::sync::{Mutex, MutexGuard};

use plimsoll_core::connections::Outage;
use plimsoll_core::lock::lock;
use plimsoll_core::plan::Role;

/// As many are captured; more are only counted. Connections that are cut one by one all day make many short ones.
const KEPT_MAX: usize = 1_000;

/// Who is connected, and when somebody was not. Workers come here only when they lose a connection or have it back.
pub(crate) struct Outages {
    instance: String,
    role: Role,
    /// Share of the connections that must be open for an outage to be over.
    back_ratio: f64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    opened_count: u64,
    lost_count: u64,
    /// Since when not a single connection is open.
    none_since_ns: Option<u64>,
    current: Option<Current>,
    past: Vec<Outage>,
    past_count: u64,
    /// The end of the last one.
    past_until_ns: u64,
}

struct Current {
    from_ns: u64,
    /// By worker, sorted.
    connections: Vec<u32>,
    lost_count: u64,
}

impl Outages {
    /// No connection yet.
    pub(crate) fn new(instance: String, role: Role, back_ratio: f64) -> Self {
        Self {
            instance,
            role,
            back_ratio,
            state: Mutex::default(),
        }
    }

    /// A connection was opened for the first time.
    pub(crate) fn opened(&self) {
        self.lock().opened_count += 1;
    }

    /// A worker's connection is gone: it is noticed at `now_ns`, and was of no use since `since_ns`. An outage begins where the
    /// first of its connections fell silent, but not within the one before.
    pub(crate) fn lost(&self, worker: u32, since_ns: u64, now_ns: u64) {
        let mut state = self.lock();
        let since_ns = since_ns.max(state.past_until_ns);
        state.lost_count += 1;
        if state.lost_count == state.opened_count {
            state.none_since_ns = Some(now_ns);
        }
        let current = state.current.get_or_insert_with(|| Current {
            from_ns: since_ns,
            connections: Vec::new(),
            lost_count: 0,
        });
        current.from_ns = current.from_ns.min(since_ns);
        if let Err(place) = current.connections.binary_search(&worker) {
            current.connections.insert(place, worker);
        }
    }

    /// A transaction failed since its connection is gone.
    pub(crate) fn transaction_lost(&self) {
        if let Some(current) = &mut self.lock().current {
            current.lost_count += 1;
        }
    }

    /// A lost connection is open again.
    pub(crate) fn back(&self, now_ns: u64) {
        let mut state = self.lock();
        state.lost_count -= 1;
        state.none_since_ns = None;
        let open_count = (state.opened_count - state.lost_count) as f64;
        if open_count >= self.back_ratio * state.opened_count as f64 {
            self.end(&mut state, Some(now_ns));
        }
    }

    /// Connections that are open now.
    pub(crate) fn connected_count(&self) -> u64 {
        let state = self.lock();
        state.opened_count - state.lost_count
    }

    /// Since when not a single connection is open.
    pub(crate) fn none_since_ns(&self) -> Option<u64> {
        self.lock().none_since_ns
    }

    /// All there were, and how many. One that is not over has no end.
    pub(crate) fn take(&self) -> (Vec<Outage>, u64) {
        let mut state = self.lock();
        self.end(&mut state, None);
        (std::mem::take(&mut state.past), state.past_count)
    }

    fn end(&self, state: &mut State, to_ns: Option<u64>) {
        let Some(current) = state.current.take() else { return };
        state.past_count += 1;
        state.past_until_ns = to_ns.unwrap_or(u64::MAX);
        if state.past.len() < KEPT_MAX {
            state.past.push(Outage {
                instance: self.instance.clone(),
                role: self.role,
                from_ns: current.from_ns,
                to_ns,
                connections_count: current.connections.len() as u64,
                lost_count: current.lost_count,
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(connections: u32, back_ratio: f64) -> Outages {
        let outages = Outages::new("one".to_owned(), Role::Source, back_ratio);
        (0..connections).for_each(|_| outages.opened());
        outages
    }

    fn outage(from_ns: u64, to_ns: Option<u64>, connections_count: u64, lost_count: u64) -> Outage {
        Outage {
            instance: "one".to_owned(),
            role: Role::Source,
            from_ns,
            to_ns,
            connections_count,
            lost_count,
        }
    }

    #[test]
    fn one_lasts_from_the_first_that_is_lost_until_all_are_back() {
        let outages = of(3, 1.0);
        outages.lost(1, 10, 10);
        outages.transaction_lost();
        outages.lost(0, 20, 20);
        outages.back(30);
        outages.lost(1, 40, 40); // again, within the same
        outages.back(50);
        assert_eq!((outages.connected_count(), outages.none_since_ns()), (2, None));
        outages.back(60);
        outages.lost(2, 70, 70);
        let captured = vec![outage(10, Some(60), 2, 1), outage(70, None, 1, 0)];
        assert_eq!(outages.take(), (captured, 2));
    }

    #[test]
    fn one_begins_where_the_first_connection_fell_silent_and_never_within_another() {
        let outages = of(2, 1.0);
        outages.lost(0, 80, 80); // the server closed it
        outages.lost(1, 50, 90); // nothing had come for 40
        assert_eq!(outages.none_since_ns(), Some(90), "until then it might have come back");
        outages.back(100);
        outages.back(110);
        outages.lost(1, 70, 120);
        outages.back(130);
        assert_eq!(
            outages.take().0,
            [outage(50, Some(110), 2, 0), outage(110, Some(130), 1, 0)]
        );
    }

    #[test]
    fn a_share_may_be_enough() {
        let outages = of(10, 0.8);
        (0..5).for_each(|worker| outages.lost(worker, 10, 10));
        (0..5).for_each(|step| outages.back(20 + step));
        assert_eq!(outages.take().0, [outage(10, Some(22), 5, 0)]);
    }

    #[test]
    fn it_is_known_since_when_nobody_is_connected() {
        let outages = of(2, 1.0);
        outages.lost(0, 10, 10);
        assert_eq!(outages.none_since_ns(), None);
        outages.lost(1, 20, 20);
        assert_eq!((outages.none_since_ns(), outages.connected_count()), (Some(20), 0));
        outages.back(30);
        assert_eq!(outages.none_since_ns(), None);
    }

    #[test]
    fn of_many_the_first_are_kept_and_all_are_counted() {
        let outages = of(1, 1.0);
        for begin in 0..2_000 {
            outages.lost(0, begin, begin);
            outages.back(begin + 1);
        }
        let (captured, count) = outages.take();
        assert_eq!((captured.len(), captured[999].from_ns, count), (1_000, 999, 2_000));
    }
}

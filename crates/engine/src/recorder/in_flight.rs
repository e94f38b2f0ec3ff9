//! How old everything in flight is, at one instant. What ended is in the recorder; what hangs is only here.
//!
//! Deliberately not here: any clock, and who is asked (the trial's leader asks workers and schedule once an interval).

use std::collections::BTreeMap;

use plimsoll_core::histogram::Histogram;
use plimsoll_core::snapshot::Measure;

use super::buckets::Buckets;
use super::{Running, Tally};

/// Gathers the ages of what one group has in flight at one instant. Used again for each group and interval.
pub(crate) struct InFlight {
    at_ns: u64,
    response: Buckets,
    service: Buckets,
    pool_wait: Buckets,
}

impl InFlight {
    pub(crate) fn new() -> Self {
        Self {
            at_ns: 0,
            response: Buckets::new(),
            service: Buckets::new(),
            pool_wait: Buckets::new(),
        }
    }

    /// Begins a probe at this instant, nanoseconds since trial start.
    pub(crate) fn begin(&mut self, at_ns: u64) {
        self.at_ns = at_ns;
    }

    /// Counts what a worker runs, if it was due before the instant.
    pub(crate) fn worker(&mut self, tally: &Tally) {
        let Some(Running { due_ns, sent_ns }) = tally.running().filter(|running| running.due_ns < self.at_ns) else {
            return;
        };
        self.response.record_age(self.at_ns - due_ns);
        if let Some(age_ns) = sent_ns.and_then(|sent_ns| self.at_ns.checked_sub(sent_ns)) {
            self.service.record_age(age_ns);
        }
    }

    /// Counts what was due at `due_ns` and waits for a worker, if that was before the instant.
    pub(crate) fn waiting(&mut self, due_ns: u64) {
        if due_ns < self.at_ns {
            self.response.record_age(self.at_ns - due_ns);
            self.pool_wait.record_age(self.at_ns - due_ns);
        }
    }

    /// What was gathered; afterwards there is nothing. A measure without any is left out.
    pub(crate) fn take(&mut self) -> BTreeMap<Measure, Histogram> {
        let measures = [
            (Measure::Response, &mut self.response),
            (Measure::Service, &mut self.service),
            (Measure::PoolWait, &mut self.pool_wait),
        ];
        measures
            .into_iter()
            .map(|(measure, buckets)| (measure, buckets.drain()))
            .filter(|(_, histogram)| histogram.count() > 0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn max_ns(found: &BTreeMap<Measure, Histogram>, measure: Measure) -> Option<u64> {
        found.get(&measure).map(|histogram| histogram.max_ns)
    }

    #[test]
    fn what_runs_and_what_waits_is_as_old_as_it_is_due() {
        let (sent, unsent, later, ended) = (Tally::default(), Tally::default(), Tally::default(), Tally::default());
        sent.offered(0);
        sent.sent(40);
        unsent.offered(90);
        later.offered(100); // due at the instant, and not before it
        ended.offered(1);
        ended.ended(None);
        let mut in_flight = InFlight::new();
        in_flight.begin(100);
        for tally in [&sent, &unsent, &later, &ended] {
            in_flight.worker(tally);
        }
        in_flight.waiting(30);
        in_flight.waiting(101);
        let found = in_flight.take();
        let counts: Vec<(Measure, u64)> = found.iter().map(|(measure, one)| (*measure, one.count())).collect();
        let expected = [(Measure::Response, 3), (Measure::Service, 1), (Measure::PoolWait, 1)];
        assert_eq!(counts, expected);
        assert_eq!(max_ns(&found, Measure::Response), Some(100));
        assert_eq!(max_ns(&found, Measure::Service), Some(60));
        assert_eq!(max_ns(&found, Measure::PoolWait), Some(70));
        assert!(in_flight.take().is_empty(), "counted twice");
    }

    #[test]
    fn what_is_sent_after_the_instant_was_not_sent_then() {
        let tally = Tally::default();
        tally.offered(10);
        tally.sent(120); // the probe comes a little late
        let mut in_flight = InFlight::new();
        in_flight.begin(100);
        in_flight.worker(&tally);
        let found = in_flight.take();
        assert_eq!(found.keys().collect::<Vec<_>>(), [&Measure::Response]);
    }
}

//! The open loop: transactions are wanted at a rate, whether or not a connection is free.
//!
//! A worker that is idle claims the next arrival ahead of its time and sleeps until it is due; so nobody but the worker
//! itself has to wake up for it. What falls due while all workers are busy waits in order; past a bound what falls due is
//! given up, and counted.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use plimsoll_core::lock::lock;
use plimsoll_core::plan::{ArrivalProcess, RateStepPlan, Share};
use plimsoll_core::random::{keyed, unit};

use super::bursts::{BurstOptions, Bursts};
use super::rate::RateCurve;
use super::{Arrival, Arrivals, Backlog, Claim};

/// Whose arrivals these are: no connection's.
const SHARED: u32 = u32::MAX;

/// The stream of the gaps between arrivals, apart from the streams of the transactions' values.
const GAPS: u64 = 1 << 32;

/// What is wanted of an open loop.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenLoopOptions {
    /// How arrivals follow each other.
    pub process: ArrivalProcess,
    /// How many a second, over time; at least one step.
    pub steps: Vec<RateStepPlan>,
    /// How many may wait for a connection; what falls due beyond that is given up.
    pub backlog_max: u64,
    /// The gaps follow from it.
    pub seed: u64,
}

/// Transactions are wanted at a rate. All connections share one schedule, the same one for the same options.
#[derive(Debug)]
pub struct OpenLoop(Mutex<Schedule>);

#[derive(Debug)]
struct Schedule {
    process: ArrivalProcess,
    backlog_max: u64,
    seed: u64,
    curve: RateCurve,
    /// Where the next arrival lies on the way of the curve, in arrivals at one a second, before bursts move it.
    position: f64,
    bursts: Option<Bursts>,
    next: Arrival,
    waiting: VecDeque<Arrival>,
    dropped_count: u64,
    is_closed: bool,
    share: Share,
}

impl OpenLoop {
    /// An open loop that begins with the trial. Panics without a step.
    pub fn new(options: &OpenLoopOptions) -> Self {
        Self::sharing(options, Share::default())
    }

    /// A share of the arrivals of an open loop: the same ones at the same times that the whole has.
    pub fn sharing(options: &OpenLoopOptions, share: Share) -> Self {
        Self(Mutex::new(Schedule::new(options, share)))
    }

    fn at(&self, now_ns: u64) -> MutexGuard<'_, Schedule> {
        let mut schedule = lock(&self.0);
        schedule.advance(now_ns);
        schedule
    }
}

impl Arrivals for OpenLoop {
    fn claim(&self, _worker: u32, now_ns: u64) -> Claim {
        let mut schedule = self.at(now_ns);
        if schedule.is_closed {
            return Claim::End;
        }
        let waiting = schedule.waiting.pop_front();
        Claim::Run(waiting.unwrap_or_else(|| schedule.take_next()))
    }

    fn backlog(&self, now_ns: u64, waiting: &mut dyn FnMut(u64)) -> Backlog {
        let mut schedule = self.at(now_ns);
        schedule.waiting.iter().for_each(|arrival| waiting(arrival.due_ns));
        Backlog {
            waiting_count: schedule.waiting.len() as u64,
            dropped_count: std::mem::take(&mut schedule.dropped_count),
        }
    }

    fn close(&self, now_ns: u64) {
        self.at(now_ns).is_closed = true;
    }
}

impl Schedule {
    fn new(options: &OpenLoopOptions, share: Share) -> Self {
        let mut schedule = Self {
            process: options.process,
            backlog_max: options.backlog_max,
            seed: options.seed,
            curve: RateCurve::new(&options.steps),
            position: 0.0,
            bursts: match options.process {
                ArrivalProcess::Bursty { dispersion, stay_ms } => {
                    let bursts = BurstOptions::at_highest(dispersion, stay_ms, &options.steps);
                    Some(Bursts::new(bursts, options.seed))
                }
                ArrivalProcess::Poisson | ArrivalProcess::Uniform => None,
            },
            next: Arrival {
                index: 0,
                actor: SHARED,
                due_ns: 0,
            },
            waiting: VecDeque::new(),
            dropped_count: 0,
            is_closed: false,
            share,
        };
        if schedule.process != ArrivalProcess::Uniform {
            schedule.position = schedule.gap(0);
        }
        schedule.next.due_ns = schedule.due_ns();
        if !share.has(0) {
            schedule.take_next();
        }
        schedule
    }

    /// Lets everything that fell due before `now_ns` wait, or gives it up. Between two calls nothing was claimed, so what was
    /// waiting when each of them fell due is known exactly.
    fn advance(&mut self, now_ns: u64) {
        while !self.is_closed && self.next.due_ns < now_ns {
            let due = self.take_next();
            if (self.waiting.len() as u64) < self.backlog_max {
                self.waiting.push_back(due);
            } else {
                self.dropped_count += 1;
            }
        }
    }

    fn take_next(&mut self) -> Arrival {
        let mut index = self.next.index;
        loop {
            index += 1;
            self.position += self.gap(index);
            if self.share.has(index) {
                break;
            }
        }
        let due_ns = self.due_ns();
        let after = Arrival {
            index,
            due_ns,
            ..self.next
        };
        std::mem::replace(&mut self.next, after)
    }

    /// When the arrival at the present position is due.
    fn due_ns(&mut self) -> u64 {
        let position = self.position;
        self.curve
            .due_ns(self.bursts.as_mut().map_or(position, |bursts| bursts.at(position)))
    }

    /// From the arrival before number `index` to it, at one arrival a second. The exponential distribution by inversion.
    fn gap(&self, index: u64) -> f64 {
        match self.process {
            ArrivalProcess::Uniform => 1.0,
            ArrivalProcess::Poisson | ArrivalProcess::Bursty { .. } => {
                -(1.0 - unit(&mut keyed(self.seed, GAPS, index))).ln()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn open_loop(process: ArrivalProcess, rate_tps: f64, backlog_max: u64) -> OpenLoop {
        OpenLoop::new(&OpenLoopOptions {
            process,
            steps: vec![RateStepPlan {
                duration_ms: 1_000,
                from_tps: rate_tps,
                to_tps: rate_tps,
            }],
            backlog_max,
            seed: 7,
        })
    }

    fn claimed(arrivals: &OpenLoop, now_ns: u64) -> Arrival {
        match arrivals.claim(0, now_ns) {
            Claim::Run(arrival) => arrival,
            Claim::End => panic!("the schedule has ended"),
        }
    }

    fn backlog(arrivals: &OpenLoop, now_ns: u64) -> Backlog {
        arrivals.backlog(now_ns, &mut |_| {})
    }

    #[test]
    fn shares_are_the_arrivals_of_the_whole() {
        let options = OpenLoopOptions {
            process: ArrivalProcess::Poisson,
            steps: vec![RateStepPlan {
                duration_ms: 1_000,
                from_tps: 10.0,
                to_tps: 90.0,
            }],
            backlog_max: 99,
            seed: 7,
        };
        let first = |arrivals: &OpenLoop, count| (0..count).map(|_| claimed(arrivals, 0)).collect::<Vec<_>>();
        let whole = first(&OpenLoop::new(&options), 60);
        let mut together: Vec<Arrival> = (0..3)
            .flat_map(|index| first(&OpenLoop::sharing(&options, Share { index, count: 3 }), 20))
            .collect();
        together.sort_unstable_by_key(|arrival| arrival.index);
        assert_eq!(together, whole);
    }

    #[test]
    fn what_waits_is_told_with_when_it_was_due() {
        let arrivals = open_loop(ArrivalProcess::Uniform, 4.0, 2);
        claimed(&arrivals, 0);
        let mut due_ns = Vec::new();
        let backlog = arrivals.backlog(S, &mut |one| due_ns.push(one));
        assert_eq!((due_ns, backlog.dropped_count), (vec![S / 4, S / 2], 1));
    }

    #[test]
    fn an_idle_worker_is_told_ahead_and_a_late_one_gets_the_oldest() {
        let arrivals = open_loop(ArrivalProcess::Uniform, 10.0, 99);
        let due = |now_ns| claimed(&arrivals, now_ns).due_ns;
        assert_eq!((due(0), due(0), due(0)), (0, S / 10, S / 5));
        assert_eq!((due(S), due(S)), (3 * S / 10, 4 * S / 10));
    }

    #[test]
    fn what_falls_due_over_the_bound_is_given_up_and_the_oldest_stay() {
        let arrivals = open_loop(ArrivalProcess::Uniform, 1000.0, 5);
        let found = backlog(&arrivals, S);
        assert_eq!((found.waiting_count, found.dropped_count), (5, 995));
        assert_eq!(backlog(&arrivals, S).dropped_count, 0, "counted twice");
        assert_eq!(claimed(&arrivals, S).index, 0);
        // One place is free: of the 1,000 that fall due in the next second the first takes it.
        assert_eq!(backlog(&arrivals, 2 * S).dropped_count, 999);
        let waiting: Vec<u64> = (0..5).map(|_| claimed(&arrivals, 2 * S).index).collect();
        assert_eq!(waiting, [1, 2, 3, 4, 1000]);
    }

    #[test]
    fn a_closed_schedule_gives_nothing_and_keeps_its_count() {
        let arrivals = open_loop(ArrivalProcess::Uniform, 1000.0, 5000);
        arrivals.close(S);
        assert_eq!(arrivals.claim(0, S), Claim::End);
        assert_eq!(backlog(&arrivals, 9 * S).waiting_count, 1000);
    }

    #[test]
    fn poisson_arrivals_have_exponential_gaps_and_the_same_seed_the_same_gaps() {
        let count = 100_000;
        let take = || {
            let arrivals = open_loop(ArrivalProcess::Poisson, 1000.0, 0);
            let due: Vec<u64> = (0..count).map(|_| claimed(&arrivals, 0).due_ns).collect();
            due
        };
        let due = take();
        assert_eq!(due, take());
        let mut gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        gaps.sort_by(f64::total_cmp);
        // Kolmogorov-Smirnov against 1 - exp(-x); 1.95 / sqrt(n) is its bound at 0.001.
        let n = gaps.len() as f64;
        let distance = gaps
            .iter()
            .enumerate()
            .map(|(rank, gap)| ((rank as f64 + 0.5) / n - (1.0 - (-gap).exp())).abs())
            .fold(0.0, f64::max);
        assert!(distance < 1.95 / n.sqrt(), "{distance}");
    }

    #[test]
    fn workers_together_claim_each_arrival_once() {
        let arrivals = open_loop(ArrivalProcess::Poisson, 1e6, 1_000_000);
        let take = |worker| {
            let mut taken = Vec::new();
            while let Claim::Run(arrival) = arrivals.claim(worker, 0) {
                taken.push(arrival.index);
                if taken.len() == 5_000 {
                    break;
                }
            }
            taken
        };
        let mut all: Vec<u64> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4).map(|worker| scope.spawn(move || take(worker))).collect();
            workers.into_iter().flat_map(|one| one.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert!(all.iter().copied().eq(0..20_000));
    }
}

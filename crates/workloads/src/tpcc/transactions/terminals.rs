//! Terminals: where each has its home, and how long people key in and think, clauses 2.4.1.1, 2.5.1.1, 2.8.1.1 and 5.2.5.

use plimsoll_core::plan::{ThinkTimePlan, TpccOptions};
use plimsoll_core::random::{Random, below, keyed, unit};
use plimsoll_engine::{Pace, Thinking};

use super::choice::{Choice, Type};
use crate::tpcc::random::within;
use crate::tpcc::scale::DISTRICTS;

/// The streams of think times, one for each terminal.
const PAUSES: u64 = 4 << 32;

/// Keying times by type, seconds, clause 5.2.5.2.
const KEYING_S: [f64; 5] = [18.0, 3.0, 2.0, 2.0, 2.0];

/// Means of think times by type, seconds, clause 5.2.5.4.
const THINK_S: [f64; 5] = [12.0, 12.0, 10.0, 5.0, 5.0];

/// Think times may be cut off at so many times their mean.
const THINK_MEANS_MAX: f64 = 10.0;

/// Pauses of a terminal that it is found in at its begin.
const FOUND_AMONG: u64 = 32;

/// The streams of where terminals are found, one for each.
const BEGINS: u64 = 5 << 32;

const NS_PER_S: f64 = 1e9;

/// Where a terminal stands when it begins a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    pub warehouse: u32,
    /// Of Stock-Level; all others draw theirs.
    pub district: u32,
}

/// Where terminals are at home.
#[derive(Clone, Copy, Debug)]
pub struct Homes {
    first_warehouse: u32,
    warehouses: u32,
    terminals: u32,
    all_warehouses: bool,
}

impl Homes {
    /// Of so many terminals, at least one.
    pub fn new(options: &TpccOptions, terminals: u32) -> Self {
        Self {
            first_warehouse: options.first_warehouse,
            warehouses: options.warehouses,
            terminals,
            all_warehouses: options.all_warehouses,
        }
    }

    /// Where a terminal stands. Whoever is no terminal, as all who come at a rate, stands for any of them.
    pub fn of(&self, actor: u32, random: &mut Random) -> Home {
        let terminal = if actor < self.terminals {
            actor
        } else {
            below(random, u64::from(self.terminals)) as u32
        };
        let (first, last) = self.share(terminal);
        Home {
            warehouse: self.first_warehouse + within(random, first, last),
            district: (terminal / self.warehouses + terminal % self.warehouses) % DISTRICTS + 1,
        }
    }

    /// The warehouses of a terminal, first and last, from 0: one, unless there are fewer terminals than warehouses and each
    /// goes around its share.
    fn share(&self, terminal: u32) -> (u32, u32) {
        if self.terminals >= self.warehouses {
            return (terminal % self.warehouses, terminal % self.warehouses);
        }
        let [terminal, terminals, warehouses] = [terminal, self.terminals, self.warehouses].map(u64::from);
        let first = (terminal * warehouses / terminals) as u32;
        let end = ((terminal + 1) * warehouses / terminals) as u32;
        (first, if self.all_warehouses { end - 1 } else { first })
    }
}

/// How long terminals take between transactions, and what they leave to be carried out later.
pub struct Times {
    choice: Choice,
    scale: f64,
    ramp_up_ns: f64,
    terminals: u32,
    defers_deliveries: bool,
    think_time: Option<Thinking>,
    seed: u64,
}

impl Times {
    /// Of so many terminals. A `think_time` takes the place of all times of the specification.
    pub fn new(options: &TpccOptions, terminals: u32, think_time: Option<ThinkTimePlan>, seed: u64) -> Self {
        Self {
            choice: Choice::new(options, seed),
            scale: options.times,
            ramp_up_ns: options.ramp_up_ms as f64 * 1e6,
            terminals,
            defers_deliveries: options.delivery_connections > 0,
            think_time: think_time.map(|think_time| Thinking { think_time, seed }),
            seed,
        }
    }

    /// Terminals begin one after the other, evenly.
    fn ramp_ns(&self, terminal: u32) -> u64 {
        (self.ramp_up_ns * f64::from(terminal) / f64::from(self.terminals)) as u64
    }

    /// A terminal is found at any point of time in its first pauses, as if it had been there for long: otherwise all would
    /// begin with a short pause, and go on in step for minutes. The number of its next transaction, and how long until then.
    fn found_ns(&self, terminal: u32) -> (u64, u64) {
        let pauses_ns: Vec<u64> = (1..=FOUND_AMONG).map(|index| self.pause_ns(terminal, index)).collect();
        let total_ns: u64 = pauses_ns.iter().sum();
        let mut random = keyed(self.seed, BEGINS + u64::from(terminal), 0);
        let mut at_ns = (unit(&mut random) * total_ns as f64) as u64;
        for (index, pause_ns) in (1..).zip(pauses_ns) {
            if at_ns < pause_ns {
                return (index, pause_ns - at_ns);
            }
            at_ns -= pause_ns;
        }
        (1, 0) // there are no pauses
    }

    /// A negative exponential, clause 5.2.5.4.
    fn think_ns(&self, terminal: u32, index: u64, after: Type) -> f64 {
        let drawn = unit(&mut keyed(self.seed, PAUSES + u64::from(terminal), index));
        let means = -(1.0 - drawn).ln();
        THINK_S[after as usize] * means.min(THINK_MEANS_MAX) * self.scale * NS_PER_S
    }
}

impl Pace for Times {
    fn begin(&self, user: u32) -> (u64, u64) {
        let (index, due_ns) = match self.think_time {
            Some(thinking) => thinking.begin(user),
            None if self.scale > 0.0 => self.found_ns(user),
            None => (0, 0),
        };
        (index, self.ramp_ns(user) + due_ns)
    }

    /// Of a terminal's transaction number `index`, 1 at least.
    fn pause_ns(&self, user: u32, index: u64) -> u64 {
        if let Some(thinking) = self.think_time {
            return thinking.pause_ns(user, index);
        }
        if self.scale == 0.0 {
            return 0; // no need to look what the transaction is
        }
        let think_ns = self.think_ns(user, index, self.choice.of(user, index - 1));
        let keying_ns = KEYING_S[self.choice.of(user, index) as usize] * self.scale * NS_PER_S;
        (think_ns + keying_ns) as u64
    }

    fn leaves_work(&self, user: u32, index: u64) -> bool {
        self.defers_deliveries && self.choice.of(user, index) == Type::Delivery
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn options(warehouses: u32) -> TpccOptions {
        TpccOptions {
            warehouses,
            first_warehouse: 5,
            times: 1.0,
            ..TpccOptions::default()
        }
    }

    fn home(homes: &Homes, actor: u32, n: u64) -> (u32, u32) {
        let home = homes.of(actor, &mut keyed(1, 2, n));
        (home.warehouse, home.district)
    }

    #[test]
    fn ten_terminals_for_each_warehouse_are_one_in_each_district() {
        let homes = Homes::new(&options(7), 70);
        let all: BTreeSet<(u32, u32)> = (0..70).map(|terminal| home(&homes, terminal, 0)).collect();
        assert_eq!(all.len(), 70);
        assert!((0..70).all(|terminal| (1..99).all(|n| home(&homes, terminal, n) == home(&homes, terminal, 0))));
    }

    #[test]
    fn fewer_terminals_go_around_their_share_of_the_warehouses_or_stay_in_one() {
        let seen = |options: &TpccOptions, terminal| -> BTreeSet<u32> {
            let homes = Homes::new(options, 3);
            (0..200).map(|n| home(&homes, terminal, n).0).collect()
        };
        let around = options(10);
        assert_eq!(seen(&around, 0), BTreeSet::from([5, 6, 7]));
        assert_eq!(seen(&around, 1), BTreeSet::from([8, 9, 10]));
        assert_eq!(seen(&around, 2), BTreeSet::from([11, 12, 13, 14]));
        let fixed = TpccOptions {
            all_warehouses: false,
            ..options(10)
        };
        assert_eq!(seen(&fixed, 1), BTreeSet::from([8]));
    }

    #[test]
    fn who_comes_at_a_rate_stands_for_any_terminal() {
        let homes = Homes::new(&options(4), 8);
        let all: BTreeSet<(u32, u32)> = (0..500).map(|n| home(&homes, u32::MAX, n)).collect();
        assert_eq!(all.len(), 8);
    }

    #[test]
    fn people_key_in_and_think_as_long_as_the_specification_says() {
        let options = options(1);
        let (times, choice) = (Times::new(&options, 10, None, 3), Choice::new(&options, 3));
        let (mut thought_s, mut counts) = ([0.0; 5], [0u32; 5]);
        for index in 1..200_000 {
            let (after, next) = (choice.of(4, index - 1) as usize, choice.of(4, index) as usize);
            let think_s = times.pause_ns(4, index) as f64 / 1e9 - KEYING_S[next];
            assert!((-1e-6..=10.0 * THINK_S[after]).contains(&think_s), "{think_s}");
            thought_s[after] += think_s;
            counts[after] += 1;
        }
        for (at, mean_s) in THINK_S.iter().enumerate() {
            let found_s = thought_s[at] / f64::from(counts[at]);
            assert!((found_s / mean_s - 1.0).abs() < 0.04, "{at}: {found_s}");
        }
    }

    #[test]
    fn terminals_begin_as_if_they_had_been_there_for_long() {
        let times = Times::new(&options(1), 20_000, None, 3);
        let second = |ns: u64| (ns / 1_000_000_000) as usize;
        let mut due = [0u32; 100];
        for terminal in 0..20_000 {
            let (mut index, mut at_ns) = times.begin(terminal);
            while second(at_ns) < due.len() {
                due[second(at_ns)] += 1;
                index += 1;
                at_ns += times.pause_ns(terminal, index);
            }
        }
        let wanted = 20_000.0 / 20.7;
        let worst = due.chunks(5).map(|some| some.iter().sum::<u32>());
        let worst = worst
            .map(|sum| (f64::from(sum) / 5.0 / wanted - 1.0).abs())
            .fold(0.0, f64::max);
        assert!(worst < 0.05, "{worst}: {due:?}");
    }

    #[test]
    fn the_ramp_spreads_the_begin_and_times_are_scaled() {
        let mut options = options(1);
        let whole = Times::new(&options, 10, None, 3);
        options.times = 0.1;
        let tenth = Times::new(&options, 10, None, 3);
        assert!(whole.pause_ns(3, 7).abs_diff(10 * tenth.pause_ns(3, 7)) <= 10);
        options.ramp_up_ms = 60_000;
        assert_eq!(
            Times::new(&options, 10, None, 3).begin(9).1 - tenth.begin(9).1,
            54_000_000_000
        );
        options.times = 0.0;
        let none = Times::new(&options, 10, None, 3);
        assert_eq!((none.begin(5), none.pause_ns(3, 7)), ((0, 30_000_000_000), 0));
        let think = ThinkTimePlan::Uniform {
            min_ms: 5.0,
            max_ms: 5.0,
        };
        assert_eq!(Times::new(&options, 10, Some(think), 3).pause_ns(3, 7), 5_000_000);
    }
}

//! What terminals draw: warehouses, customers and items, by clauses 2.1.6 and 2.4.1 to 2.8.1.

use plimsoll_core::plan::TpccOptions;
use plimsoll_core::random::{Random, below, keyed};

use super::list::Text;
use super::terminals::Home;
use crate::tpcc::deviations::{Constants, Deviations, Remote};
use crate::tpcc::random::{LAST_NAME_A, LAST_NAME_BYTES, last_name, last_name_load, nurand, within};
use crate::tpcc::scale::{CUSTOMERS, DISTRICTS, ITEMS};

/// The `a` of customers' and items' numbers.
const CUSTOMER_A: u32 = 1_023;
const ITEM_A: u32 = 8_191;

/// How far the constant of last names while running must lie from that while loading, with two exceptions.
const LAST_NAME_SHIFT: (u32, u32) = (65, 119);
const LAST_NAME_SHIFT_EXCEPT: [u32; 2] = [96, 112];

/// The run's own streams of randomness, which no connection has.
const CONSTANTS_STREAM: u64 = u64::MAX;

/// The constants of one run.
#[derive(Clone, Copy, Debug)]
pub struct Inputs {
    first_warehouse: u32,
    warehouses: u32,
    customer_c: u32,
    item_c: u32,
    last_name_c: u32,
    deviations: Deviations,
}

/// A customer as terminals name one.
#[derive(Clone, Debug)]
pub enum WhichCustomer {
    Number(u32),
    LastName(Text<LAST_NAME_BYTES>),
}

impl Inputs {
    /// Of a run with this seed.
    pub fn new(options: &TpccOptions, seed: u64) -> Self {
        let mut random = keyed(seed, CONSTANTS_STREAM, 0);
        let customer_c = within(&mut random, 0, CUSTOMER_A);
        let item_c = within(&mut random, 0, ITEM_A);
        let load = last_name_load(options.data_seed);
        let deviations = Deviations::of(options.quirks);
        let (customer_c, item_c, last_name_c) = match deviations.constants {
            Constants::OfRun | Constants::OfEachNumber => (customer_c, item_c, last_name_run(load, &mut random)),
            Constants::Zero => (0, 0, 0),
            Constants::Exchanged => (item_c, customer_c, load),
        };
        Self {
            first_warehouse: options.first_warehouse,
            warehouses: options.warehouses,
            customer_c,
            item_c,
            last_name_c,
            deviations,
        }
    }

    /// What is done otherwise than the specification asks.
    pub fn deviations(&self) -> &Deviations {
        &self.deviations
    }

    /// Where a transaction stands that is no terminal's.
    pub fn any_home(&self, random: &mut Random) -> Home {
        Home {
            warehouse: self.first_warehouse + below(random, u64::from(self.warehouses)) as u32,
            district: district(random),
        }
    }

    fn uneven(&self, random: &mut Random, a: u32, c: u32, (first, last): (u32, u32)) -> u32 {
        let c = match self.deviations.constants {
            Constants::OfEachNumber => within(random, 0, a),
            _ => c,
        };
        nurand(random, a, c, first, last)
    }

    /// A warehouse that is not the home, if there is another; the home where nothing is remote.
    pub fn other_warehouse(&self, home: u32, random: &mut Random) -> u32 {
        if self.warehouses == 1 || self.deviations.remote != Remote::Other {
            return home;
        }
        let drawn = self.first_warehouse + below(random, u64::from(self.warehouses) - 1) as u32;
        drawn + u32::from(drawn >= home)
    }

    /// A customer's number.
    pub fn customer(&self, random: &mut Random) -> u32 {
        self.uneven(random, CUSTOMER_A, self.customer_c, (1, CUSTOMERS))
    }

    /// A customer, six times of ten by name.
    pub fn which_customer(&self, random: &mut Random) -> WhichCustomer {
        if is_percent(random, 60) {
            let number = self.uneven(random, LAST_NAME_A, self.last_name_c, (0, 999));
            let mut name = Text::new(0);
            for part in last_name(number) {
                name.extend(part.as_bytes());
            }
            WhichCustomer::LastName(name)
        } else {
            WhichCustomer::Number(self.customer(random))
        }
    }

    /// An item's number.
    pub fn item(&self, random: &mut Random) -> u32 {
        let a = match self.deviations.constants {
            Constants::Exchanged => ITEM_A - 1,
            _ => ITEM_A,
        };
        self.uneven(random, a, self.item_c, (1, ITEMS))
    }
}

/// A district's number.
pub fn district(random: &mut Random) -> u32 {
    within(random, 1, DISTRICTS)
}

/// True in so many of a hundred cases.
pub fn is_percent(random: &mut Random, percent: u64) -> bool {
    below(random, 100) < percent
}

fn last_name_run(load: u32, random: &mut Random) -> u32 {
    let shift = loop {
        let shift = within(random, LAST_NAME_SHIFT.0, LAST_NAME_SHIFT.1);
        if !LAST_NAME_SHIFT_EXCEPT.contains(&shift) {
            break shift;
        }
    };
    if load + shift <= LAST_NAME_A {
        load + shift
    } else {
        load - shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::plan::TpccKit;

    fn inputs(warehouses: u32) -> Inputs {
        let options = TpccOptions {
            warehouses,
            first_warehouse: 5,
            ..TpccOptions::default()
        };
        Inputs::new(&options, 3)
    }

    #[test]
    fn the_constant_of_last_names_keeps_its_distance() {
        for load in 0..=LAST_NAME_A {
            for n in 0..100 {
                let run = last_name_run(load, &mut keyed(1, 0, n));
                let shift = run.abs_diff(load);
                assert!(run <= LAST_NAME_A && (65..=119).contains(&shift) && ![96, 112].contains(&shift));
            }
        }
    }

    fn of_kit(quirks: Option<TpccKit>) -> Inputs {
        let options = TpccOptions {
            warehouses: 4,
            quirks,
            ..TpccOptions::default()
        };
        Inputs::new(&options, 3)
    }

    /// The share of the accesses that the tenth of the customers takes that is asked for most.
    fn share_of_a_tenth(inputs: &Inputs) -> f64 {
        let mut random = keyed(1, 0, 0);
        let mut counts = vec![0u32; CUSTOMERS as usize];
        for _ in 0..300_000 {
            counts[inputs.customer(&mut random) as usize - 1] += 1;
        }
        counts.sort_unstable();
        f64::from(counts.iter().rev().take(300).sum::<u32>()) / 300_000.0
    }

    #[test]
    fn a_constant_for_each_number_makes_them_nearly_uniform() {
        let [ours, of_sysbench, of_go] =
            [None, Some(TpccKit::SysbenchTpcc), Some(TpccKit::GoTpc)].map(|kit| share_of_a_tenth(&of_kit(kit)));
        assert!(
            ours > 0.3 && of_go > 0.3 && of_sysbench < 0.15,
            "{ours} {of_go} {of_sysbench}"
        );
    }

    #[test]
    fn kits_have_constants_of_their_own() {
        let constants = |kit| {
            let Inputs {
                customer_c,
                item_c,
                last_name_c,
                ..
            } = of_kit(kit);
            [customer_c, item_c, last_name_c]
        };
        let ours = constants(None);
        assert_eq!(constants(Some(TpccKit::TpccMysql)), ours);
        assert_eq!(constants(Some(TpccKit::Dbt2)), [0, 0, 0]);
        assert_eq!(constants(Some(TpccKit::GoTpc)), [ours[1], ours[0], last_name_load(1)]);
    }

    #[test]
    fn who_has_no_home_is_everywhere() {
        let (inputs, mut random) = (of_kit(Some(TpccKit::GoTpc)), keyed(1, 0, 0));
        let homes: std::collections::HashSet<(u32, u32)> = (0..2_000)
            .map(|_| inputs.any_home(&mut random))
            .map(|home| (home.warehouse, home.district))
            .collect();
        assert_eq!(homes.len(), 40);
    }

    #[test]
    fn nothing_is_remote_where_kits_never_leave_home() {
        let mut random = keyed(1, 0, 0);
        let mut other = |kit| of_kit(Some(kit)).other_warehouse(2, &mut random);
        assert_eq!([TpccKit::Dbt2, TpccKit::SysbenchTpcc].map(&mut other), [2, 2]);
        assert_ne!(other(TpccKit::TpccMysql), 2);
    }

    #[test]
    fn another_warehouse_is_any_but_the_home() {
        let mut random = keyed(1, 0, 0);
        let mut seen = [0; 4];
        for _ in 0..1_000 {
            seen[inputs(4).other_warehouse(6, &mut random) as usize - 5] += 1;
        }
        assert!(
            seen[1] == 0 && seen.iter().filter(|count| **count > 200).count() == 3,
            "{seen:?}"
        );
        assert_eq!(inputs(1).other_warehouse(5, &mut random), 5);
    }
}

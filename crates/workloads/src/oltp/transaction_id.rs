//! What follows from which transaction it is, and not from chance: numbers that must not repeat, and the part of the
//! rows that belongs to a connection.

use plimsoll_engine::Arrival;

/// Which transaction of a group this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionId {
    /// Whose: the connection's number in a closed loop. Where connections share one schedule, its transactions are dealt
    /// out to them in turn, whichever of them runs it, so that values follow from the schedule alone.
    pub member: u64,
    /// Its ordinal among those of its member: 0, 1, 2, …
    pub turn: u64,
    /// Its ordinal among those of all members, if each had the same number: no two transactions have the same.
    pub serial: u64,
}

impl TransactionId {
    /// That of an arrival among those of so many connections.
    pub fn new(arrival: &Arrival, connections: u64) -> Self {
        let actor = u64::from(arrival.actor);
        let (member, turn) = if actor < connections {
            (actor, arrival.index)
        } else {
            (arrival.index % connections, arrival.index / connections)
        };
        Self {
            member,
            turn,
            serial: turn * connections + member,
        }
    }

    /// A number of 0..2^32 that no other transaction within 2^32 has under this seed, and that is far from its
    /// neighbours': the finaliser of `MurmurHash3` (Appleby 2011), which maps 32 bits onto 32 bits one to one.
    pub fn scattered(self, seed: u64) -> i64 {
        let seed = (seed ^ (seed >> 32)) as u32;
        let mut z = (self.serial as u32).wrapping_add(seed.wrapping_mul(0x9E37_79B9));
        z = (z ^ (z >> 16)).wrapping_mul(0x85EB_CA6B);
        z = (z ^ (z >> 13)).wrapping_mul(0xC2B2_AE35);
        i64::from(z ^ (z >> 16))
    }

    /// A row of 1..=`rows` that no other transaction names before all rows were named: steps of a prime, as in sysbench
    /// 0.4.
    pub fn row_once(self, rows: u64) -> i64 {
        const STEP: u128 = 2_147_483_647;
        1 + (u128::from(self.serial) * STEP % u128::from(rows)) as i64
    }

    /// The first value of the member's part of 0..=`rows` when so many `members` share them, and how many values it has:
    /// neighbouring parts have their border in common, as in sysbench.
    pub fn part(self, rows: u64, members: u64) -> (i64, u64) {
        let border = |number: u64| (u128::from(rows) * u128::from(number) / u128::from(members)) as u32;
        let first = border(self.member);
        (i64::from(first), u64::from(border(self.member + 1) - first) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn id(actor: u32, index: u64, connections: u64) -> TransactionId {
        let arrival = Arrival {
            index,
            actor,
            due_ns: 0,
        };
        TransactionId::new(&arrival, connections)
    }

    #[test]
    fn no_two_transactions_have_the_same_id() {
        let closed = (0..3).flat_map(|actor| (0..50).map(move |index| id(actor, index, 3)));
        let serials: HashSet<u64> = closed.map(|id| id.serial).collect();
        assert_eq!(serials.len(), 150);
        let shared: HashSet<u64> = (0..150).map(|index| id(u32::MAX, index, 3).serial).collect();
        assert_eq!(shared, serials);
        assert_eq!(id(u32::MAX, 7, 3).member, 1);
    }

    #[test]
    fn scattered_numbers_and_rows_do_not_repeat() {
        let ids_of = || (0..100_000).map(|index| id(0, index, 1));
        let ids: HashSet<i64> = ids_of().map(|id| id.scattered(7)).collect();
        assert_eq!(ids.len(), 100_000);
        assert!(ids.iter().all(|id| (0..1 << 32).contains(id)));
        assert_ne!(id(0, 1, 1).scattered(7), id(0, 1, 1).scattered(8));
        let rows: HashSet<i64> = ids_of().map(|id| id.row_once(100_000)).collect();
        assert_eq!(rows.len(), 100_000);
        assert!(rows.iter().all(|row| (1..=100_000).contains(row)));
    }

    #[test]
    fn parts_are_those_of_sysbench() {
        // As seen with two threads and 20 rows: 0 to 10, and 10 to 20.
        assert_eq!(id(0, 5, 2).part(20, 2), (0, 11));
        assert_eq!(id(1, 5, 2).part(20, 2), (10, 11));
        assert_eq!(id(0, 0, 1).part(20, 1), (0, 21));
    }
}

//! The statements that one connection has prepared. Most connections use few of a workload's statements, of which there may
//! be many thousands (tables times kinds), so what was not used takes no memory; what was used is found in some ten
//! instructions, and without allocating.

use plimsoll_wire::PreparedStatement;

use crate::statement::StatementId;

/// Slots at the start; a power of two.
const SLOTS_START: usize = 16;

/// How a statement is sent that was prepared, or was to be.
pub(crate) enum Prepared {
    OnServer(PreparedStatement),
    /// The server does not prepare this kind of statement.
    AsText,
}

/// Statements by their number in the workload: a hash table with linear probing, of which at most half is taken. There is
/// no removing of single ones, which is what makes it so simple.
pub(crate) struct PreparedStatements {
    /// By hash: the number of a statement, and its position in `prepared` plus one; zeros where there is none.
    slots: Box<[(u32, u32)]>,
    prepared: Vec<Prepared>,
}

impl Default for PreparedStatements {
    fn default() -> Self {
        Self {
            slots: vec![(0, 0); SLOTS_START].into(),
            prepared: Vec::new(),
        }
    }
}

impl PreparedStatements {
    #[inline]
    pub(crate) fn get(&self, id: StatementId) -> Option<&Prepared> {
        let (_, position) = self.slots[self.find(id)];
        self.prepared.get((position as usize).wrapping_sub(1))
    }

    /// Adds one that was not there.
    pub(crate) fn insert(&mut self, id: StatementId, prepared: Prepared) -> &Prepared {
        if self.slots.len() < 2 * (self.prepared.len() + 1) {
            self.grow();
        }
        self.prepared.push(prepared);
        self.slots[self.find(id)] = (number(id), self.prepared.len() as u32);
        &self.prepared[self.prepared.len() - 1]
    }

    /// Forgets all of them, with the connection that they were prepared on.
    pub(crate) fn clear(&mut self) {
        self.slots.fill((0, 0));
        self.prepared.clear();
    }

    /// Where a statement is, or would be. Numbers are unlike each other already; one multiplication spreads neighbours over the
    /// table (Fibonacci hashing).
    #[inline]
    fn find(&self, id: StatementId) -> usize {
        let last = self.slots.len() - 1;
        let mut at = (u64::from(number(id)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & last;
        while let (other, 1..) = self.slots[at] {
            if other == number(id) {
                break;
            }
            at = (at + 1) & last;
        }
        at
    }

    fn grow(&mut self) {
        let larger = vec![(0, 0); 2 * self.slots.len()].into();
        for (number, position) in std::mem::replace(&mut self.slots, larger) {
            if position > 0 {
                let at = self.find(StatementId(number as usize));
                self.slots[at] = (number, position);
            }
        }
    }
}

/// A workload has at most so many thousand tables, and few statements for each.
fn number(id: StatementId) -> u32 {
    id.0 as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_there(prepared: &PreparedStatements, id: usize) -> bool {
        matches!(prepared.get(StatementId(id)), Some(Prepared::AsText))
    }

    proptest! {
        #[test]
        fn what_was_added_is_found_and_nothing_else(ids in proptest::collection::hash_set(0..2_000_000_usize, 0..300)) {
            let mut prepared = PreparedStatements::default();
            for round in 0..2 {
                for id in &ids {
                    prop_assert!(!is_there(&prepared, *id), "{id} in round {round}");
                    prepared.insert(StatementId(*id), Prepared::AsText);
                }
                prop_assert!(ids.iter().all(|id| is_there(&prepared, *id)));
                prop_assert!((0..1_000).all(|id| is_there(&prepared, id) == ids.contains(&id)));
                prepared.clear();
            }
        }
    }

    #[test]
    fn memory_follows_what_was_used() {
        let mut prepared = PreparedStatements::default();
        for id in (0..14_000).step_by(1_000) {
            prepared.insert(StatementId(id), Prepared::AsText);
        }
        let bytes =
            prepared.slots.len() * size_of::<(u32, u32)>() + prepared.prepared.capacity() * size_of::<Prepared>();
        assert!(bytes < 2_500, "{bytes} bytes for 14 of 14,000 statements");
    }
}

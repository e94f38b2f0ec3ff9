//! What Plimsoll writes into the comments of the nine tables: how they were made.

use std::fmt::Write as _;

use plimsoll_core::plan::{OrderNames, TpccData};

use crate::fingerprint::fnv1a;
use crate::loading::mark::{Mark, State};

/// What these tables are called in their marks.
pub const KIND: &str = "tpcc";

/// What Plimsoll writes into the comment of each of the nine tables.
pub fn mark(data: &TpccData, state: State) -> Mark {
    let mut words = format!(
        "warehouses={} first={} seed={}",
        data.warehouses, data.first_warehouse, data.seed
    );
    if data.partitions > 0 {
        let _ = write!(words, " partitions={}", data.partitions);
    }
    if data.foreign_keys {
        words += " foreign-keys";
    }
    if !data
        .storage_engine
        .eq_ignore_ascii_case(&TpccData::default().storage_engine)
    {
        let _ = write!(words, " engine={}", data.storage_engine.to_ascii_lowercase());
    }
    if !data.table_options.is_empty() {
        let _ = write!(words, " options={:016x}", fnv1a(data.table_options.as_bytes()));
    }
    if data.order_names == OrderNames::Tpc {
        words += " order-names=tpc";
    }
    Mark::new(KIND, words, state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_tell_shapes_apart() {
        let usual = TpccData::default();
        let complete = "plimsoll tpcc warehouses=1 first=1 seed=1 state=complete";
        assert_eq!(mark(&usual, State::Complete).text(), complete);
        let other = TpccData {
            partitions: 4,
            storage_engine: "RocksDB".to_owned(),
            ..usual.clone()
        };
        let compressed = TpccData {
            table_options: "ROW_FORMAT=COMPRESSED".to_owned(),
            ..usual
        };
        assert!(mark(&compressed, State::Complete).text().contains("seed=1 options="));
        let mark = mark(&other, State::Loading);
        assert_eq!(
            mark.text(),
            "plimsoll tpcc warehouses=1 first=1 seed=1 partitions=4 engine=rocksdb state=loading"
        );
        assert_eq!(Mark::parse(KIND, &mark.text()), Some(mark));
    }
}

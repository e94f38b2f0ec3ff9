//! The nine tables: names, columns, keys, and the mark by which Plimsoll knows its own.
//!
//! Deliberately not here: rows (see `population`) and any connection.

mod definitions;
pub mod mark;

use std::fmt::Write as _;

use plimsoll_core::plan::{OrderNames, TpccData};

use crate::loading::mark::State;
use definitions::{DEFINITIONS, Definition, PAYMENTS_BY_CUSTOMER};
use mark::mark;

/// One of them. `Warehouse` is the last that is created and filled: its row says that all else of a warehouse is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    Item,
    Stock,
    District,
    Customer,
    History,
    Orders,
    NewOrders,
    OrderLine,
    Warehouse,
    /// `NewOrders` under its other name.
    NewOrder,
}

/// All of them with these names, in the order in which they are made.
pub fn tables(names: OrderNames) -> [Table; 9] {
    USUAL.map(|table| match table {
        Table::NewOrders => Table::of_new_orders(names),
        _ => table,
    })
}

/// All of them as they are usually called.
const USUAL: [Table; 9] = [
    Table::Item,
    Table::Stock,
    Table::District,
    Table::Customer,
    Table::History,
    Table::Orders,
    Table::NewOrders,
    Table::OrderLine,
    Table::Warehouse,
];

impl Table {
    /// That of new orders.
    pub fn of_new_orders(names: OrderNames) -> Self {
        match names {
            OrderNames::Usual => Self::NewOrders,
            OrderNames::Tpc => Self::NewOrder,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::NewOrder => "new_order",
            other => other.definition().name,
        }
    }

    /// The column that says to which warehouse a row belongs; empty for items, which belong to all.
    pub fn warehouse_column(self) -> &'static str {
        self.definition().warehouse
    }

    /// The columns that are written, in their order, with commas between them: all, or those that are no constants.
    pub fn columns_sql(self, whole: bool) -> String {
        let names = self.definition().columns.iter().map(|(name, _)| *name);
        let written: Vec<&str> = names.filter(|name| whole || self.constant(name).is_none()).collect();
        written.join(", ")
    }

    fn constant(self, column: &str) -> Option<&'static str> {
        let mut constants = self.definition().constants.iter();
        constants.find_map(|(name, value)| (*name == column).then_some(*value))
    }

    /// Creates it, empty and marked as unfinished.
    pub fn create_sql(self, data: &TpccData) -> String {
        let definition = self.definition();
        let columns = definition.columns.iter().map(|(name, kind)| match self.constant(name) {
            Some(value) => format!("{name} {kind} DEFAULT {value}"),
            None => format!("{name} {kind}"),
        });
        let mut parts: Vec<String> = columns.collect();
        if !definition.primary_key.is_empty() {
            parts.push(format!("PRIMARY KEY ({})", definition.primary_key));
        }
        let partitions = if data.partitions > 0 && !definition.warehouse.is_empty() {
            format!(
                " PARTITION BY HASH ({}) PARTITIONS {}",
                definition.warehouse, data.partitions
            )
        } else {
            String::new()
        };
        format!(
            "CREATE TABLE {} ({}) ENGINE = {} {} COMMENT = '{}'{partitions}",
            self.name(),
            parts.join(", "),
            data.storage_engine,
            data.table_options,
            mark(data, State::Loading).text()
        )
    }

    /// Marks it as complete, and takes the defaults away that it was loaded with.
    pub fn complete_sql(self, data: &TpccData) -> String {
        let (name, columns) = (self.name(), self.definition().columns);
        let mut sql = format!("ALTER TABLE {name} COMMENT = '{}'", mark(data, State::Complete).text());
        for (column, kind) in columns.iter().filter(|(column, _)| self.constant(column).is_some()) {
            let _ = write!(sql, ", MODIFY {column} {kind}");
        }
        sql
    }

    /// Makes its other index after loading.
    pub fn index_sql(self, names: OrderNames) -> Option<String> {
        let name = self.name();
        let index = match (self, names) {
            (Self::History, OrderNames::Tpc) => PAYMENTS_BY_CUSTOMER,
            _ => self.definition().index,
        };
        (!index.is_empty()).then(|| format!("ALTER TABLE {name} {index}"))
    }

    /// Makes its foreign keys after loading.
    pub fn foreign_keys_sql(self) -> Option<String> {
        let (name, foreign_keys) = (self.name(), self.definition().foreign_keys);
        let numbered = foreign_keys.iter().zip(1..);
        let added: Vec<String> = numbered
            .map(|(key, number)| format!("ADD CONSTRAINT fk_{name}_{number} FOREIGN KEY {key}"))
            .collect();
        (!added.is_empty()).then(|| format!("ALTER TABLE {name} {}", added.join(", ")))
    }

    fn definition(self) -> &'static Definition {
        let usual = if self == Self::NewOrder { Self::NewOrders } else { self };
        &DEFINITIONS[USUAL
            .iter()
            .position(|one| *one == usual)
            .expect("all tables are listed")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_definitions_is_that_of_the_tables() {
        let names: Vec<&str> = USUAL.iter().map(|table| table.name()).collect();
        let all = "item stock district customer history orders new_orders order_line warehouse";
        assert_eq!(names.join(" "), all);
        assert_eq!(Table::NewOrders.columns_sql(true), "no_o_id, no_d_id, no_w_id");
    }

    #[test]
    fn new_orders_may_have_the_name_of_the_specification_and_payments_an_index() {
        let usual = tables(OrderNames::Usual).map(Table::name);
        let tpc = tables(OrderNames::Tpc).map(Table::name);
        let differ: Vec<_> = usual.iter().zip(tpc).filter(|(usual, tpc)| *usual != tpc).collect();
        assert_eq!(differ, [(&"new_orders", "new_order")]);
        let data = TpccData {
            order_names: OrderNames::Tpc,
            ..TpccData::default()
        };
        let sql = Table::NewOrder.create_sql(&data);
        assert!(sql.starts_with("CREATE TABLE new_order (no_o_id INT"), "{sql}");
        assert!(sql.contains(" order-names=tpc state=loading"), "{sql}");
        assert_eq!(Table::History.index_sql(OrderNames::Usual), None);
        let index = Table::History.index_sql(OrderNames::Tpc).unwrap();
        assert!(index.ends_with("(h_c_w_id, h_c_d_id, h_c_id)"), "{index}");
    }

    #[test]
    fn constants_are_defaults_until_all_is_loaded() {
        let data = TpccData::default();
        assert_eq!(
            Table::Orders.columns_sql(false),
            "o_id, o_d_id, o_w_id, o_c_id, o_carrier_id, o_ol_cnt"
        );
        let created = Table::Orders.create_sql(&data);
        assert!(
            created.contains("o_all_local TINYINT NOT NULL DEFAULT 1, PRIMARY"),
            "{created}"
        );
        let compressed = TpccData {
            table_options: "ROW_FORMAT=COMPRESSED".to_owned(),
            partitions: 2,
            ..data.clone()
        };
        let sql = Table::Orders.create_sql(&compressed);
        assert!(
            sql.contains(") ENGINE = innodb ROW_FORMAT=COMPRESSED COMMENT = '"),
            "{sql}"
        );
        let completed = Table::Orders.complete_sql(&data);
        assert!(
            completed
                .ends_with("state=complete', MODIFY o_entry_d DATETIME NOT NULL, MODIFY o_all_local TINYINT NOT NULL"),
            "{completed}"
        );
        for table in USUAL {
            for (name, _) in table.definition().constants {
                assert!(table.columns_sql(true).contains(name), "{name}");
                assert!(!table.columns_sql(false).contains(name), "{name}");
            }
        }
    }

    #[test]
    fn there_are_ten_foreign_keys() {
        let keys: usize = DEFINITIONS.iter().map(|one| one.foreign_keys.len()).sum();
        assert_eq!(keys, 10);
    }
}

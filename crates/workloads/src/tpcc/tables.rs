//! The nine tables: names, columns, keys, and the mark by which Plimsoll knows its own.
//!
//! Deliberately not here: rows (see `population`) and any connection.

use std::fmt::Write as _;

use plimsoll_core::plan::TpccData;

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
}

/// All of them, in the order in which they are made.
pub const TABLES: [Table; 9] = [
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

struct Definition {
    name: &'static str,
    /// Column of the warehouse by which rows are loaded, deleted and partitioned.
    warehouse: &'static str,
    columns: &'static [(&'static str, &'static str)],
    /// Columns that are equal in all rows when these are loaded, or in all but those that are written as a whole. They are
    /// the default of their columns until all is loaded, so that nobody sends or reads them.
    constants: &'static [(&'static str, &'static str)],
    primary_key: &'static str,
    /// Made after loading.
    index: &'static str,
    /// Made after loading, where they are wanted.
    foreign_keys: &'static [&'static str],
}

/// The index by which customers are found by name.
const BY_NAME: &str = "ADD INDEX idx_customer (c_w_id, c_d_id, c_last, c_first)";

/// The index by which the last order of a customer is found.
const BY_CUSTOMER: &str = "ADD INDEX idx_orders (o_w_id, o_d_id, o_c_id, o_id)";

impl Table {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.definition().name
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
            "CREATE TABLE {} ({}) ENGINE = {} COMMENT = '{}'{partitions}",
            definition.name,
            parts.join(", "),
            data.storage_engine,
            mark(data, State::Loading)
        )
    }

    /// Marks it as complete, and takes the defaults away that it was loaded with.
    pub fn complete_sql(self, data: &TpccData) -> String {
        let Definition { name, columns, .. } = self.definition();
        let mut sql = format!("ALTER TABLE {name} COMMENT = '{}'", mark(data, State::Complete));
        for (column, kind) in columns.iter().filter(|(column, _)| self.constant(column).is_some()) {
            let _ = write!(sql, ", MODIFY {column} {kind}");
        }
        sql
    }

    /// Makes its other index after loading.
    pub fn index_sql(self) -> Option<String> {
        let Definition { name, index, .. } = self.definition();
        (!index.is_empty()).then(|| format!("ALTER TABLE {name} {index}"))
    }

    /// Makes its foreign keys after loading.
    pub fn foreign_keys_sql(self) -> Option<String> {
        let Definition { name, foreign_keys, .. } = self.definition();
        let numbered = foreign_keys.iter().zip(1..);
        let added: Vec<String> = numbered
            .map(|(key, number)| format!("ADD CONSTRAINT fk_{name}_{number} FOREIGN KEY {key}"))
            .collect();
        (!added.is_empty()).then(|| format!("ALTER TABLE {name} {}", added.join(", ")))
    }

    fn definition(self) -> &'static Definition {
        &DEFINITIONS[TABLES
            .iter()
            .position(|one| *one == self)
            .expect("all tables are listed")]
    }
}

/// When all rows came about.
const DATE: &str = "'2025-01-01 00:00:00'";

/// In the order of [`TABLES`].
static DEFINITIONS: [Definition; 9] = [
    Definition {
        name: "item",
        warehouse: "",
        columns: &[
            ("i_id", "INT NOT NULL"),
            ("i_im_id", "INT NOT NULL"),
            ("i_name", "VARCHAR(24) NOT NULL"),
            ("i_price", "DECIMAL(5, 2) NOT NULL"),
            ("i_data", "VARCHAR(50) NOT NULL"),
        ],
        constants: &[],
        primary_key: "i_id",
        index: "",
        foreign_keys: &[],
    },
    Definition {
        name: "stock",
        warehouse: "s_w_id",
        columns: &[
            ("s_i_id", "INT NOT NULL"),
            ("s_w_id", "INT NOT NULL"),
            ("s_quantity", "SMALLINT NOT NULL"),
            ("s_dist_01", "CHAR(24) NOT NULL"),
            ("s_dist_02", "CHAR(24) NOT NULL"),
            ("s_dist_03", "CHAR(24) NOT NULL"),
            ("s_dist_04", "CHAR(24) NOT NULL"),
            ("s_dist_05", "CHAR(24) NOT NULL"),
            ("s_dist_06", "CHAR(24) NOT NULL"),
            ("s_dist_07", "CHAR(24) NOT NULL"),
            ("s_dist_08", "CHAR(24) NOT NULL"),
            ("s_dist_09", "CHAR(24) NOT NULL"),
            ("s_dist_10", "CHAR(24) NOT NULL"),
            ("s_ytd", "DECIMAL(8, 0) NOT NULL"),
            ("s_order_cnt", "INT NOT NULL"),
            ("s_remote_cnt", "INT NOT NULL"),
            ("s_data", "VARCHAR(50) NOT NULL"),
        ],
        constants: &[("s_ytd", "0"), ("s_order_cnt", "0"), ("s_remote_cnt", "0")],
        primary_key: "s_w_id, s_i_id",
        index: "",
        foreign_keys: &[
            "(s_w_id) REFERENCES warehouse (w_id)",
            "(s_i_id) REFERENCES item (i_id)",
        ],
    },
    Definition {
        name: "district",
        warehouse: "d_w_id",
        columns: &[
            ("d_id", "TINYINT NOT NULL"),
            ("d_w_id", "INT NOT NULL"),
            ("d_name", "VARCHAR(10) NOT NULL"),
            ("d_street_1", "VARCHAR(20) NOT NULL"),
            ("d_street_2", "VARCHAR(20) NOT NULL"),
            ("d_city", "VARCHAR(20) NOT NULL"),
            ("d_state", "CHAR(2) NOT NULL"),
            ("d_zip", "CHAR(9) NOT NULL"),
            ("d_tax", "DECIMAL(4, 4) NOT NULL"),
            ("d_ytd", "DECIMAL(12, 2) NOT NULL"),
            ("d_next_o_id", "INT NOT NULL"),
        ],
        constants: &[],
        primary_key: "d_w_id, d_id",
        index: "",
        foreign_keys: &["(d_w_id) REFERENCES warehouse (w_id)"],
    },
    Definition {
        name: "customer",
        warehouse: "c_w_id",
        columns: &[
            ("c_id", "INT NOT NULL"),
            ("c_d_id", "TINYINT NOT NULL"),
            ("c_w_id", "INT NOT NULL"),
            ("c_first", "VARCHAR(16) NOT NULL"),
            ("c_middle", "CHAR(2) NOT NULL"),
            ("c_last", "VARCHAR(16) NOT NULL"),
            ("c_street_1", "VARCHAR(20) NOT NULL"),
            ("c_street_2", "VARCHAR(20) NOT NULL"),
            ("c_city", "VARCHAR(20) NOT NULL"),
            ("c_state", "CHAR(2) NOT NULL"),
            ("c_zip", "CHAR(9) NOT NULL"),
            ("c_phone", "CHAR(16) NOT NULL"),
            ("c_since", "DATETIME NOT NULL"),
            ("c_credit", "CHAR(2) NOT NULL"),
            ("c_credit_lim", "DECIMAL(12, 2) NOT NULL"),
            ("c_discount", "DECIMAL(4, 4) NOT NULL"),
            ("c_balance", "DECIMAL(12, 2) NOT NULL"),
            ("c_ytd_payment", "DECIMAL(12, 2) NOT NULL"),
            ("c_payment_cnt", "INT NOT NULL"),
            ("c_delivery_cnt", "INT NOT NULL"),
            ("c_data", "VARCHAR(500) NOT NULL"),
        ],
        constants: &[
            ("c_middle", "'OE'"),
            ("c_since", DATE),
            ("c_credit_lim", "50000"),
            ("c_balance", "-10"),
            ("c_ytd_payment", "10"),
            ("c_payment_cnt", "1"),
            ("c_delivery_cnt", "0"),
        ],
        primary_key: "c_w_id, c_d_id, c_id",
        index: BY_NAME,
        foreign_keys: &["(c_w_id, c_d_id) REFERENCES district (d_w_id, d_id)"],
    },
    Definition {
        name: "history",
        warehouse: "h_c_w_id",
        columns: &[
            ("h_c_id", "INT NOT NULL"),
            ("h_c_d_id", "TINYINT NOT NULL"),
            ("h_c_w_id", "INT NOT NULL"),
            ("h_d_id", "TINYINT NOT NULL"),
            ("h_w_id", "INT NOT NULL"),
            ("h_date", "DATETIME NOT NULL"),
            ("h_amount", "DECIMAL(6, 2) NOT NULL"),
            ("h_data", "VARCHAR(24) NOT NULL"),
        ],
        constants: &[("h_date", DATE), ("h_amount", "10")],
        primary_key: "",
        index: "",
        foreign_keys: &[
            "(h_c_w_id, h_c_d_id, h_c_id) REFERENCES customer (c_w_id, c_d_id, c_id)",
            "(h_w_id, h_d_id) REFERENCES district (d_w_id, d_id)",
        ],
    },
    Definition {
        name: "orders",
        warehouse: "o_w_id",
        columns: &[
            ("o_id", "INT NOT NULL"),
            ("o_d_id", "TINYINT NOT NULL"),
            ("o_w_id", "INT NOT NULL"),
            ("o_c_id", "INT NOT NULL"),
            ("o_entry_d", "DATETIME NOT NULL"),
            ("o_carrier_id", "TINYINT"),
            ("o_ol_cnt", "TINYINT NOT NULL"),
            ("o_all_local", "TINYINT NOT NULL"),
        ],
        constants: &[("o_entry_d", DATE), ("o_all_local", "1")],
        primary_key: "o_w_id, o_d_id, o_id",
        index: BY_CUSTOMER,
        foreign_keys: &["(o_w_id, o_d_id, o_c_id) REFERENCES customer (c_w_id, c_d_id, c_id)"],
    },
    Definition {
        name: "new_orders",
        warehouse: "no_w_id",
        columns: &[
            ("no_o_id", "INT NOT NULL"),
            ("no_d_id", "TINYINT NOT NULL"),
            ("no_w_id", "INT NOT NULL"),
        ],
        constants: &[],
        primary_key: "no_w_id, no_d_id, no_o_id",
        index: "",
        foreign_keys: &["(no_w_id, no_d_id, no_o_id) REFERENCES orders (o_w_id, o_d_id, o_id)"],
    },
    Definition {
        name: "order_line",
        warehouse: "ol_w_id",
        columns: &[
            ("ol_o_id", "INT NOT NULL"),
            ("ol_d_id", "TINYINT NOT NULL"),
            ("ol_w_id", "INT NOT NULL"),
            ("ol_number", "TINYINT NOT NULL"),
            ("ol_i_id", "INT NOT NULL"),
            ("ol_supply_w_id", "INT NOT NULL"),
            ("ol_delivery_d", "DATETIME"),
            ("ol_quantity", "TINYINT NOT NULL"),
            ("ol_amount", "DECIMAL(6, 2) NOT NULL"),
            ("ol_dist_info", "CHAR(24) NOT NULL"),
        ],
        constants: &[("ol_delivery_d", DATE), ("ol_quantity", "5"), ("ol_amount", "0")],
        primary_key: "ol_w_id, ol_d_id, ol_o_id, ol_number",
        index: "",
        foreign_keys: &[
            "(ol_w_id, ol_d_id, ol_o_id) REFERENCES orders (o_w_id, o_d_id, o_id)",
            "(ol_supply_w_id, ol_i_id) REFERENCES stock (s_w_id, s_i_id)",
        ],
    },
    Definition {
        name: "warehouse",
        warehouse: "w_id",
        columns: &[
            ("w_id", "INT NOT NULL"),
            ("w_name", "VARCHAR(10) NOT NULL"),
            ("w_street_1", "VARCHAR(20) NOT NULL"),
            ("w_street_2", "VARCHAR(20) NOT NULL"),
            ("w_city", "VARCHAR(20) NOT NULL"),
            ("w_state", "CHAR(2) NOT NULL"),
            ("w_zip", "CHAR(9) NOT NULL"),
            ("w_tax", "DECIMAL(4, 4) NOT NULL"),
            ("w_ytd", "DECIMAL(12, 2) NOT NULL"),
        ],
        constants: &[],
        primary_key: "w_id",
        index: "",
        foreign_keys: &[],
    },
];

/// How far the making of the tables came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Rows, indexes or statistics may be missing.
    Loading,
    /// All is there.
    Complete,
}

/// What all comments begin with.
const MARK: &str = "plimsoll tpcc ";

/// What Plimsoll writes into the comment of each of the nine tables.
pub fn mark(data: &TpccData, state: State) -> String {
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
    let state = match state {
        State::Loading => "loading",
        State::Complete => "complete",
    };
    format!("{MARK}{words} state={state}")
}

/// Whether a comment is one of ours, whatever was made.
pub fn is_ours(comment: &str) -> bool {
    comment.starts_with(MARK)
}

/// What a comment of ours says that was made, and whether it is complete.
pub fn described(comment: &str) -> (&str, bool) {
    let said = comment.strip_prefix(MARK).unwrap_or(comment);
    match said.rsplit_once(" state=") {
        Some((words, state)) => (words, state == "complete"),
        None => (said, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_definitions_is_that_of_the_tables() {
        let names: Vec<&str> = TABLES.iter().map(|table| table.name()).collect();
        let all = "item stock district customer history orders new_orders order_line warehouse";
        assert_eq!(names.join(" "), all);
        assert_eq!(Table::NewOrders.columns_sql(true), "no_o_id, no_d_id, no_w_id");
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
        let completed = Table::Orders.complete_sql(&data);
        assert!(
            completed
                .ends_with("state=complete', MODIFY o_entry_d DATETIME NOT NULL, MODIFY o_all_local TINYINT NOT NULL"),
            "{completed}"
        );
        for table in TABLES {
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

    #[test]
    fn marks_tell_shapes_apart() {
        let usual = TpccData::default();
        let complete = "plimsoll tpcc warehouses=1 first=1 seed=1 state=complete";
        assert_eq!(mark(&usual, State::Complete), complete);
        let other = TpccData {
            partitions: 4,
            storage_engine: "RocksDB".to_owned(),
            ..usual
        };
        let mark = mark(&other, State::Loading);
        assert!(is_ours(&mark) && !is_ours("plimsoll oltp rows=1"));
        assert_eq!(
            described(&mark),
            ("warehouses=1 first=1 seed=1 partitions=4 engine=rocksdb", false)
        );
        assert!(described(complete).1);
    }
}

//! Names, columns, keys and indexes of the nine tables.

/// What makes up one table.
pub struct Definition {
    pub name: &'static str,
    /// Column of the warehouse by which rows are loaded, deleted and partitioned.
    pub warehouse: &'static str,
    pub columns: &'static [(&'static str, &'static str)],
    /// Columns that are equal in all rows when these are loaded, or in all but those that are written as a whole. They are
    /// the default of their columns until all is loaded, so that nobody sends or reads them.
    pub constants: &'static [(&'static str, &'static str)],
    pub primary_key: &'static str,
    /// Made after loading.
    pub index: &'static str,
    /// Made after loading, where they are wanted.
    pub foreign_keys: &'static [&'static str],
}

/// The index by which customers are found by name.
const BY_NAME: &str = "ADD INDEX idx_customer (c_w_id, c_d_id, c_last, c_first)";

/// The index by which the last order of a customer is found.
const BY_CUSTOMER: &str = "ADD INDEX idx_orders (o_w_id, o_d_id, o_c_id, o_id)";

/// The index by which the payments of a customer are found, which no transaction needs: go-tpc's check does.
pub const PAYMENTS_BY_CUSTOMER: &str = "ADD INDEX idx_history (h_c_w_id, h_c_d_id, h_c_id)";

/// When all rows came about.
const DATE: &str = "'2025-01-01 00:00:00'";

/// In the order in which tables are made.
pub static DEFINITIONS: [Definition; 9] = [
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

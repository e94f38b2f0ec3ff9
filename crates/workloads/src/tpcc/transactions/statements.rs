//! The texts of all statements. Lists are as long as the longest order, with the last value repeated, so that there is one
//! statement for all lengths.

use std::sync::Arc;

use plimsoll_core::plan::{TpccMode, TpccOptions};
use plimsoll_session::{StatementId, Statements};

use super::calls::Calls;
use crate::oltp::isolation_sql;
use crate::tpcc::scale::{DISTRICTS, ORDER_LINES};

/// Values in a list of items.
pub const LIST_LENGTH: usize = ORDER_LINES.1 as usize;

/// Fewest lines that are inserted: those of the shortest order without the one whose item is not there.
pub const LINES_MIN: usize = ORDER_LINES.0 as usize - 1;

/// All statements, and where each is.
pub struct Catalogue {
    pub statements: Arc<Statements>,
    pub commit: StatementId,
    pub rollback: StatementId,
    pub customers_by_name: StatementId,
    pub new_order: NewOrderSql,
    pub payment: PaymentSql,
    pub order_status: OrderStatusSql,
    pub delivery: DeliverySql,
    pub stock_level: StockLevelSql,
    /// Where transactions are called, and none of the others is used.
    pub calls: Option<Calls>,
}

pub struct NewOrderSql {
    pub customer: StatementId,
    pub district: StatementId,
    pub next_order: StatementId,
    pub order: StatementId,
    pub new_order: StatementId,
    pub items: StatementId,
    /// By district, from 1.
    pub stocks: Vec<StatementId>,
    pub stock: StatementId,
    /// By number of lines, from [`LINES_MIN`].
    pub lines: Vec<StatementId>,
}

pub struct PaymentSql {
    pub pay_warehouse: StatementId,
    pub warehouse: StatementId,
    pub pay_district: StatementId,
    pub district: StatementId,
    pub customer: StatementId,
    pub pay: StatementId,
    pub pay_bad_credit: StatementId,
    pub history: StatementId,
}

pub struct OrderStatusSql {
    pub customer: StatementId,
    pub last_order: StatementId,
    pub lines: StatementId,
}

pub struct DeliverySql {
    pub oldest: StatementId,
    pub remove: StatementId,
    pub customer: StatementId,
    pub carrier: StatementId,
    pub lines: StatementId,
    pub amount: StatementId,
    pub pay: StatementId,
}

pub struct StockLevelSql {
    pub district: StatementId,
    pub count: StatementId,
}

impl Catalogue {
    /// The statements for these options.
    pub fn new(options: &TpccOptions) -> Self {
        let mut texts = Texts::default();
        let parts = (
            new_order(&mut texts),
            payment(&mut texts),
            order_status(&mut texts),
            delivery(&mut texts),
        );
        let stock_level = StockLevelSql {
            district: texts.add("SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?"),
            count: texts.add(
                "SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id \
                 WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? AND s_quantity < ?",
            ),
        };
        let (commit, rollback) = (texts.add("COMMIT"), texts.add("ROLLBACK"));
        let customers_by_name =
            texts.add("SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first");
        let calls = (options.mode == TpccMode::Procedures).then(|| Calls::new(|sql| texts.add(sql)));
        let opening = isolation_sql(options.isolation)
            .into_iter()
            .chain(["SET autocommit = 0".to_owned()]);
        let statements = Statements::new(texts.0, options.prepared);
        let (new_order, payment, order_status, delivery) = parts;
        Self {
            statements: Arc::new(opening.fold(statements, Statements::with_opening)),
            commit,
            rollback,
            customers_by_name,
            new_order,
            payment,
            order_status,
            delivery,
            stock_level,
            calls,
        }
    }

    /// How many statements a connection uses.
    pub fn used_count(&self) -> u64 {
        self.calls.map_or(self.statements.count() as u64, |_| Calls::COUNT)
    }
}

#[derive(Default)]
struct Texts(Vec<String>);

impl Texts {
    fn add(&mut self, sql: impl Into<String>) -> StatementId {
        self.0.push(sql.into());
        StatementId(self.0.len() - 1)
    }
}

fn marks(count: usize, mark: &str) -> String {
    vec![mark; count].join(", ")
}

fn new_order(texts: &mut Texts) -> NewOrderSql {
    let list = marks(LIST_LENGTH, "?");
    let stock = |district: u32| {
        format!(
            "SELECT s_i_id, s_quantity, s_data, s_dist_{district:02} FROM stock WHERE s_w_id = ? AND s_i_id IN ({list}) FOR UPDATE"
        )
    };
    let lines = |count: usize| {
        format!(
            "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, \
             ol_dist_info) VALUES {}",
            marks(count, "(?, ?, ?, ?, ?, ?, ?, ?, ?)")
        )
    };
    NewOrderSql {
        customer: texts.add(
            "SELECT c_discount, c_last, c_credit, w_tax FROM customer JOIN warehouse ON w_id = c_w_id \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
        ),
        district: texts.add("SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE"),
        next_order: texts.add("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?"),
        order: texts.add(
            "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) \
             VALUES (?, ?, ?, ?, NOW(), ?, ?)",
        ),
        new_order: texts.add("INSERT INTO new_orders (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)"),
        items: texts.add(format!(
            "SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id IN ({list})"
        )),
        stocks: (1..=DISTRICTS).map(|district| texts.add(stock(district))).collect(),
        stock: texts.add(
            "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, \
             s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?",
        ),
        lines: (LINES_MIN..=LIST_LENGTH).map(|count| texts.add(lines(count))).collect(),
    }
}

fn payment(texts: &mut Texts) -> PaymentSql {
    PaymentSql {
        pay_warehouse: texts.add("UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?"),
        warehouse: texts
            .add("SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = ?"),
        pay_district: texts.add("UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?"),
        district: texts.add(
            "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = ? AND d_id = ?",
        ),
        customer: texts.add(
            "SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, \
             c_credit_lim, c_discount, c_balance FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR UPDATE",
        ),
        pay: texts.add(
            "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, \
             c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
        ),
        pay_bad_credit: texts.add(
            "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, \
             c_payment_cnt = c_payment_cnt + 1, c_data = LEFT(CONCAT(?, c_data), 500) \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
        ),
        history: texts.add(
            "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) \
             VALUES (?, ?, ?, ?, ?, NOW(), ?, ?)",
        ),
    }
}

fn order_status(texts: &mut Texts) -> OrderStatusSql {
    OrderStatusSql {
        customer: texts.add(
            "SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
        ),
        last_order: texts.add(
            "SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? \
             ORDER BY o_id DESC LIMIT 1",
        ),
        lines: texts.add(
            "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line \
             WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
        ),
    }
}

fn delivery(texts: &mut Texts) -> DeliverySql {
    DeliverySql {
        oldest: texts.add(
            "SELECT no_o_id FROM new_orders WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1 FOR UPDATE",
        ),
        remove: texts.add("DELETE FROM new_orders WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?"),
        customer: texts.add("SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ? FOR UPDATE"),
        carrier: texts.add("UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?"),
        lines: texts
            .add("UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"),
        amount: texts.add("SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"),
        pay: texts.add(
            "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
        ),
    }
}

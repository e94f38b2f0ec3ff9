//! The texts of all statements. Lists are as long as the longest order, with the last value repeated, so that there is one
//! statement for all lengths.

use std::sync::Arc;

use plimsoll_core::plan::{TpccMode, TpccOptions};
use plimsoll_session::{StatementId, Statements};

use super::calls::Calls;
use super::choice::Type;
use crate::isolation;
use crate::tpcc::deviations::{Deviations, LowStocks, Oldest, Paid};
use crate::tpcc::scale::{DISTRICTS, ORDER_LINES};
use crate::tpcc::tables::Table;

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
    pub deviations: Deviations,
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
    /// By number of lines, from [`LINES_MIN`]; that of one line alone, where they go line by line.
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
    /// How many there are, or which items may be.
    pub count: StatementId,
    /// Whether one of these items is, where each is asked for.
    pub each: Option<StatementId>,
}

impl Catalogue {
    /// The statements for these options.
    pub fn new(options: &TpccOptions) -> Self {
        let mut texts = Texts::default();
        let deviations = Deviations::of(options.quirks);
        let new_orders = Table::of_new_orders(options.order_names).name();
        let parts = (
            new_order(&mut texts, &deviations, new_orders),
            payment(&mut texts, &deviations),
            order_status(&mut texts),
            delivery(&mut texts, &deviations, new_orders),
        );
        let stock_level = stock_level(&mut texts, &deviations);
        let (commit, rollback) = (texts.add("COMMIT"), texts.add("ROLLBACK"));
        let customers_by_name =
            texts.add("SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first");
        let calls = (options.mode == TpccMode::Procedures).then(|| Calls::new(|sql| texts.add(sql)));
        let opening = isolation::session_sql(options.isolation)
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
            deviations,
            calls,
        }
    }

    /// What each transaction sends, in order. Of statements for the districts, and for the lengths of an order, the first.
    pub fn sent(&self) -> [(Type, Vec<StatementId>); 5] {
        if let Some(calls) = self.calls {
            return [
                (Type::NewOrder, vec![calls.new_order]),
                (Type::Payment, vec![calls.payment]),
                (Type::OrderStatus, vec![calls.order_status]),
                (Type::Delivery, vec![calls.delivery]),
                (Type::StockLevel, vec![calls.stock_level]),
            ];
        }
        let (order, payment, status) = (&self.new_order, &self.payment, &self.order_status);
        let (delivery, stocks) = (&self.delivery, &self.stock_level);
        [
            (
                Type::NewOrder,
                vec![
                    order.customer,
                    order.district,
                    order.next_order,
                    order.order,
                    order.new_order,
                    order.items,
                    order.stocks[0],
                    order.stock,
                    order.lines[0],
                    self.commit,
                    self.rollback,
                ],
            ),
            (
                Type::Payment,
                vec![
                    payment.pay_warehouse,
                    payment.warehouse,
                    payment.pay_district,
                    payment.district,
                    self.customers_by_name,
                    payment.customer,
                    payment.pay,
                    payment.pay_bad_credit,
                    payment.history,
                    self.commit,
                ],
            ),
            (
                Type::OrderStatus,
                vec![
                    self.customers_by_name,
                    status.customer,
                    status.last_order,
                    status.lines,
                    self.commit,
                ],
            ),
            (
                Type::Delivery,
                vec![
                    delivery.oldest,
                    delivery.remove,
                    delivery.customer,
                    delivery.carrier,
                    delivery.lines,
                    delivery.amount,
                    delivery.pay,
                    self.commit,
                ],
            ),
            (
                Type::StockLevel,
                [stocks.district, stocks.count]
                    .into_iter()
                    .chain(stocks.each)
                    .chain([self.commit])
                    .collect(),
            ),
        ]
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

fn new_order(texts: &mut Texts, deviations: &Deviations, table: &str) -> NewOrderSql {
    let (length, lines_min) = if deviations.goes_line_by_line {
        (1, 1)
    } else {
        (LIST_LENGTH, LINES_MIN)
    };
    let list = marks(length, "?");
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
        new_order: texts.add(format!(
            "INSERT INTO {table} (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)"
        )),
        items: texts.add(format!(
            "SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id IN ({list})"
        )),
        stocks: (1..=DISTRICTS).map(|district| texts.add(stock(district))).collect(),
        stock: texts.add(if deviations.leaves_stock_counters {
            "UPDATE stock SET s_quantity = ? WHERE s_w_id = ? AND s_i_id = ?"
        } else {
            "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, \
             s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?"
        }),
        lines: (lines_min..=length).map(|count| texts.add(lines(count))).collect(),
    }
}

fn payment(texts: &mut Texts, deviations: &Deviations) -> PaymentSql {
    let mut pay = "UPDATE customer SET c_balance = c_balance - ?".to_owned();
    pay += match deviations.paid {
        Paid::Amount => ", c_ytd_payment = c_ytd_payment + ?",
        Paid::One => ", c_ytd_payment = c_ytd_payment + 1",
        Paid::Nothing => "",
    };
    if !deviations.leaves_payment_count {
        pay += ", c_payment_cnt = c_payment_cnt + 1";
    }
    let key = "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";
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
        pay: texts.add(format!("{pay} {key}")),
        pay_bad_credit: texts.add(format!("{pay}, c_data = LEFT(CONCAT(?, c_data), 500) {key}")),
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

fn delivery(texts: &mut Texts, deviations: &Deviations, table: &str) -> DeliverySql {
    let oldest = format!("FROM {table} WHERE no_w_id = ? AND no_d_id = ?");
    DeliverySql {
        oldest: texts.add(match deviations.oldest {
            Oldest::Locked => format!("SELECT no_o_id {oldest} ORDER BY no_o_id LIMIT 1 FOR UPDATE"),
            Oldest::Read => format!("SELECT no_o_id {oldest} ORDER BY no_o_id LIMIT 1"),
            Oldest::Least => format!("SELECT MIN(no_o_id) {oldest}"),
        }),
        remove: texts.add(format!("DELETE {oldest} AND no_o_id = ?")),
        customer: texts.add("SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ? FOR UPDATE"),
        carrier: texts.add("UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?"),
        lines: texts
            .add("UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"),
        amount: texts.add(if deviations.multiplies_deliveries {
            "SELECT CAST(SUM(ol_amount * ol_quantity) AS SIGNED) FROM order_line \
             WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"
        } else {
            "SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"
        }),
        pay: texts.add(
            "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
        ),
    }
}

fn stock_level(texts: &mut Texts, deviations: &Deviations) -> StockLevelSql {
    let count = |counted: &str| {
        format!(
            "SELECT COUNT({counted}) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id \
             WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? AND s_quantity < ?"
        )
    };
    let items =
        "SELECT DISTINCT ol_i_id FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ?";
    let each = "SELECT COUNT(*) FROM stock WHERE s_w_id = ? AND s_i_id = ? AND s_quantity < ?";
    StockLevelSql {
        district: texts.add("SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?"),
        count: texts.add(match deviations.low_stocks {
            LowStocks::Items => count("DISTINCT s_i_id"),
            LowStocks::Lines => count("*"),
            LowStocks::EachItem => items.to_owned(),
        }),
        each: (deviations.low_stocks == LowStocks::EachItem).then(|| texts.add(each)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::plan::{OrderNames, TpccKit};

    fn of_kit(quirks: Option<TpccKit>) -> Catalogue {
        Catalogue::new(&TpccOptions {
            quirks,
            ..TpccOptions::default()
        })
    }

    #[test]
    fn new_orders_are_looked_for_under_their_name() {
        let tpc = Catalogue::new(&TpccOptions {
            order_names: OrderNames::Tpc,
            ..TpccOptions::default()
        });
        for statement in [tpc.new_order.new_order, tpc.delivery.oldest, tpc.delivery.remove] {
            let sql = tpc.statements.text(statement);
            assert!(sql.contains(" new_order ") && !sql.contains("new_orders"), "{sql}");
        }
    }

    #[test]
    fn each_transaction_names_what_it_sends() {
        let known = |kit: Option<TpccKit>| {
            let catalogue = of_kit(kit);
            let sent: Vec<_> = catalogue.sent().into_iter().flat_map(|(_, ids)| ids).collect();
            let alike = [&catalogue.new_order.stocks[1..], &catalogue.new_order.lines[1..]].concat();
            let all = (0..catalogue.statements.count()).map(StatementId);
            all.filter(|id| !sent.contains(id) && !alike.contains(id))
                .map(|id| catalogue.statements.text(id).to_owned())
                .collect::<Vec<_>>()
        };
        for kit in [None, Some(TpccKit::TpccMysql), Some(TpccKit::Dbt2)] {
            assert_eq!(known(kit), Vec::<String>::new(), "statements that no transaction names");
        }
    }

    #[test]
    fn kits_have_statements_of_their_own() {
        let oldest = |one: &Catalogue| one.statements.text(one.delivery.oldest).to_owned();
        let counted = |one: &Catalogue| one.statements.text(one.stock_level.count).to_owned();
        let ours = of_kit(None);
        assert!(oldest(&ours).ends_with("FOR UPDATE") && counted(&ours).contains("COUNT(DISTINCT s_i_id)"));
        assert!(ours.stock_level.each.is_none() && ours.new_order.lines.len() == 12);

        let mysql = of_kit(Some(TpccKit::TpccMysql));
        assert!(oldest(&mysql).contains("MIN(no_o_id)") && mysql.stock_level.each.is_some());
        let dbt2 = of_kit(Some(TpccKit::Dbt2));
        assert!(oldest(&dbt2).ends_with("LIMIT 1") && counted(&dbt2).contains("COUNT(*)"));
        for one in [mysql, dbt2, of_kit(Some(TpccKit::SysbenchTpcc))] {
            let items = one.statements.text(one.new_order.items);
            assert!(items.ends_with("IN (?)") && one.new_order.lines.len() == 1, "{items}");
        }
        assert_eq!(of_kit(Some(TpccKit::GoTpc)).new_order.lines.len(), 12);
    }
}

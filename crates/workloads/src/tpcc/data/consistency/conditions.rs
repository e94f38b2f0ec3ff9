//! The twelve consistency conditions of clause 3.3.2, held against what was read of the tables.
//!
//! Deliberately not here: reading them. Money is counted in hundredths.

use super::findings::Findings;
use crate::tpcc::scale::{CUSTOMERS, FIRST_NEW_ORDER};

/// One warehouse, as far as conditions are about it.
pub struct Warehouse {
    pub number: u32,
    pub ytd: i64,
    /// What was paid there.
    pub payments: i64,
    pub districts: Vec<District>,
}

/// One district, as far as conditions are about it.
pub struct District {
    pub number: u32,
    pub ytd: i64,
    pub next_order: i64,
    /// What was paid there.
    pub payments: i64,
}

/// An order.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    pub number: i64,
    pub customer: i64,
    pub lines: i64,
    pub is_delivered: bool,
}

/// The lines of an order, together.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    pub order: i64,
    pub count: i64,
    pub delivered: i64,
    /// Of those that were delivered.
    pub amount: i64,
}

/// A customer.
#[derive(Clone, Copy, Debug)]
pub struct Customer {
    pub number: i64,
    pub balance: i64,
    pub ytd_payment: i64,
    pub deliveries: i64,
}

/// What belongs to one district, each list in the order of its numbers.
#[derive(Default)]
pub struct Contents {
    pub orders: Vec<Order>,
    pub new_orders: Vec<i64>,
    pub lines: Vec<Lines>,
    pub customers: Vec<Customer>,
}

impl Contents {
    /// Empties it, to be filled again.
    pub fn clear(&mut self) {
        self.orders.clear();
        self.new_orders.clear();
        self.lines.clear();
        self.customers.clear();
    }
}

/// Conditions 1, 8 and 9.
pub fn check_warehouse(warehouse: &Warehouse, findings: &mut Findings) {
    let number = warehouse.number;
    let mut compare = |condition, what: &str, sum: i64| {
        if warehouse.ytd != sum {
            findings.add(condition, || {
                format!("warehouse {number}: {} and {what} {}", money(warehouse.ytd), money(sum))
            });
        }
    };
    compare(1, "districts", warehouse.districts.iter().map(|one| one.ytd).sum());
    compare(8, "history", warehouse.payments);
    for district in warehouse.districts.iter().filter(|one| one.ytd != one.payments) {
        let (ytd, paid) = (money(district.ytd), money(district.payments));
        findings.add(9, || {
            format!(
                "warehouse {number} district {}: {ytd} and history {paid}",
                district.number
            )
        });
    }
}

/// Conditions 2 to 7 and 10 to 12; `payments` has what each customer paid, in the order of their numbers from 1.
pub fn check_district(
    warehouse: u32,
    district: &District,
    contents: &Contents,
    payments: &[i64],
    findings: &mut Findings,
) {
    let place = format!("warehouse {warehouse} district {}", district.number);
    check_numbers(&place, district, contents, findings);
    check_new_orders(&place, contents, findings);
    let delivered = check_lines(&place, contents, findings);
    for customer in &contents.customers {
        let at = usize::try_from(customer.number - 1).unwrap_or(usize::MAX);
        let of = |amounts: &[i64]| amounts.get(at).copied().unwrap_or_default();
        let (got, paid) = (of(&delivered), of(payments));
        let told = |left: i64, right: i64| {
            format!(
                "{place} customer {}: {} and {}",
                customer.number,
                money(left),
                money(right)
            )
        };
        if customer.balance != got - paid {
            findings.add(10, || told(customer.balance, got - paid));
        }
        if customer.balance + customer.ytd_payment != got {
            findings.add(12, || told(customer.balance + customer.ytd_payment, got));
        }
    }
}

/// Conditions 2, 3, 4 and 11. The last holds until the first transaction: no order came, none was delivered.
fn check_numbers(place: &str, district: &District, contents: &Contents, findings: &mut Findings) {
    let Contents {
        orders,
        new_orders,
        lines,
        customers,
    } = contents;
    let last = district.next_order - 1;
    let last_order = orders.last().map_or(0, |order| order.number);
    let is_last_new = new_orders.last().is_none_or(|order| *order == last);
    if last_order != last || !is_last_new {
        let new = new_orders.last().map_or_else(|| "none".to_owned(), ToString::to_string);
        findings.add(2, || format!("{place}: {last}, {last_order} and {new}"));
    }
    let count = count_of(new_orders);
    if let (Some(first), Some(last)) = (new_orders.first(), new_orders.last()) {
        if last - first + 1 != count {
            findings.add(3, || format!("{place}: {first} to {last}, and {count} rows"));
        }
    }
    let wanted: i64 = orders.iter().map(|order| order.lines).sum();
    let found: i64 = lines.iter().map(|one| one.count).sum();
    if wanted != found {
        findings.add(4, || format!("{place}: {wanted} and {found}"));
    }
    let is_as_loaded = last == i64::from(CUSTOMERS) && customers.iter().all(|one| one.deliveries == 0);
    let (delivered, wanted) = (count_of(orders) - count, i64::from(FIRST_NEW_ORDER) - 1);
    if is_as_loaded && delivered != wanted {
        findings.add(11, || format!("{place}: {delivered}"));
    }
}

/// Condition 5.
fn check_new_orders(place: &str, contents: &Contents, findings: &mut Findings) {
    let mut new = contents.new_orders.iter().copied().peekable();
    let mut alone = |number: i64| findings.add(5, || format!("{place} order {number}"));
    for order in &contents.orders {
        while let Some(orphan) = new.next_if(|number| *number < order.number) {
            alone(orphan);
        }
        let is_new = new.next_if_eq(&order.number).is_some();
        if is_new == order.is_delivered {
            alone(order.number);
        }
    }
    new.for_each(alone);
}

/// Conditions 6 and 7. Returns what was delivered to each customer, in the order of their numbers from 1.
fn check_lines(place: &str, contents: &Contents, findings: &mut Findings) -> Vec<i64> {
    let mut delivered = vec![0; CUSTOMERS as usize];
    let mut lines = contents.lines.iter().peekable();
    for order in &contents.orders {
        while lines.next_if(|one| one.order < order.number).is_some() {} // without an order: seen by condition 4
        let none = Lines {
            order: order.number,
            count: 0,
            delivered: 0,
            amount: 0,
        };
        let lines = *lines.next_if(|one| one.order == order.number).unwrap_or(&none);
        if lines.count != order.lines {
            findings.add(6, || {
                format!("{place} order {}: {} and {}", order.number, order.lines, lines.count)
            });
        }
        let wanted = if order.is_delivered { lines.count } else { 0 };
        if lines.delivered != wanted {
            findings.add(7, || {
                format!(
                    "{place} order {}: {} of {} lines",
                    order.number, lines.delivered, lines.count
                )
            });
        }
        let customer = usize::try_from(order.customer - 1)
            .ok()
            .and_then(|at| delivered.get_mut(at));
        if let Some(amount) = customer {
            *amount += lines.amount;
        }
    }
    delivered
}

fn count_of<T>(rows: &[T]) -> i64 {
    i64::try_from(rows.len()).unwrap_or(i64::MAX)
}

fn money(hundredths: i64) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    let size = hundredths.unsigned_abs();
    format!("{sign}{}.{:02}", size / 100, size % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn district() -> District {
        District {
            number: 2,
            ytd: 1_000,
            next_order: 3,
            payments: 1_000,
        }
    }

    /// A district with one order that was delivered and one that was not.
    fn contents() -> Contents {
        let order = |number, is_delivered| Order {
            number,
            customer: number,
            lines: 2,
            is_delivered,
        };
        let lines = |order, delivered, amount| Lines {
            order,
            count: 2,
            delivered,
            amount,
        };
        let customer = |number, balance| Customer {
            number,
            balance,
            ytd_payment: 1_000,
            deliveries: 1,
        };
        Contents {
            orders: vec![order(1, true), order(2, false)],
            new_orders: vec![2],
            lines: vec![lines(1, 2, 700), lines(2, 0, 0)],
            customers: vec![customer(1, 700 - 1_000), customer(2, -1_000)],
        }
    }

    fn broken(district: &District, contents: &Contents) -> Vec<usize> {
        let mut findings = Findings::default();
        check_district(1, district, contents, &[1_000, 1_000], &mut findings);
        let numbered = findings.conditions.iter().zip(1..);
        numbered
            .filter(|(one, _)| one.count > 0)
            .map(|(_, number)| number)
            .collect()
    }

    fn after(change: impl FnOnce(&mut District, &mut Contents)) -> Vec<usize> {
        let (mut district, mut contents) = (district(), contents());
        change(&mut district, &mut contents);
        broken(&district, &contents)
    }

    #[test]
    fn each_condition_is_seen_to_break() {
        assert!(after(|_, _| {}).is_empty());
        assert_eq!(after(|district, _| district.next_order = 4), [2]);
        assert_eq!(
            after(|_, contents| contents.lines.push(Lines {
                order: 9,
                count: 1,
                delivered: 0,
                amount: 0
            })),
            [4]
        );
        assert_eq!(after(|_, contents| contents.new_orders.clear()), [5]);
        assert_eq!(after(|_, contents| contents.orders[0].lines = 3), [4, 6]);
        assert_eq!(after(|_, contents| contents.lines[1].delivered = 1), [7]);
        assert_eq!(after(|_, contents| contents.customers[1].balance = 0), [10, 12]);
        assert_eq!(after(|_, contents| contents.customers[1].ytd_payment = 0), [12]);
        assert_eq!(after(|_, contents| contents.new_orders.insert(0, -7)), [3, 5]);
    }

    #[test]
    fn money_of_warehouses_and_districts_is_compared() {
        let mut findings = Findings::default();
        let warehouse = |ytd| Warehouse {
            number: 7,
            ytd,
            payments: 1_000,
            districts: vec![district()],
        };
        check_warehouse(&warehouse(1_000), &mut findings);
        assert_eq!(findings.told(), None);
        check_warehouse(&warehouse(999), &mut findings);
        let told = findings.told().unwrap();
        assert!(
            told.starts_with(
                "consistency condition 1 (w_ytd = sum(d_ytd)) does not hold: warehouse 7: 9.99 and districts 10.00; "
            ),
            "{told}"
        );
        assert!(told.contains("consistency condition 8"), "{told}");
    }

    #[test]
    fn many_places_are_a_number() {
        let mut all = Findings::default();
        for number in 0..5 {
            let mut one = Findings::default();
            one.add(3, || number.to_string());
            all.merge(one);
        }
        assert!(
            all.told()
                .unwrap()
                .ends_with("does not hold: 0, 1, 2 and at 2 more places")
        );
    }
}

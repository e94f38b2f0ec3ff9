//! Reads what the consistency conditions are about, each table once, and holds them against it.
//!
//! Lines of orders are summed up on the server by order, which their primary key gives for nothing; what else is needed of
//! orders, customers and payments comes row by row. That costs a server less than joining and grouping them, and keeps here
//! no more than one district for each connection and a number for each customer.

mod conditions;
mod findings;

use std::ops::Range;
use std::sync::Mutex;

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{OrderNames, TpccData};
use plimsoll_engine::WorkerFault;
use plimsoll_wire::{Connection, TextRow};

use crate::loading::fault::blame;
use crate::loading::pool::LoaderPool;
use crate::tpcc::decimal;
use crate::tpcc::scale::{CUSTOMERS, DISTRICTS};
use crate::tpcc::tables::Table;
use conditions::{Contents, Customer, District, Lines, Order, Warehouse, check_district, check_warehouse};
use findings::Findings;

/// Warehouses for which payments are read at once: 61 MB of sums by customer.
const WAREHOUSES_AT_ONCE: usize = 256;

/// Checks all conditions of all warehouses.
///
/// # Errors
/// Those that do not hold, with their places; or whatever the server said.
pub fn check(pool: &mut LoaderPool<'_>, data: &TpccData) -> Result<(), WorkerFault> {
    let findings = Mutex::new(Findings::default());
    let numbers: Vec<u32> = data.numbers().collect();
    let parts: Vec<&[u32]> = numbers.chunks(WAREHOUSES_AT_ONCE).collect();
    for part in &parts {
        let part_of_all = (parts.len() > 1).then_some(*part);
        let payments = payments(pool, part[0]..part[0] + part.len() as u32, part_of_all)?;
        pool.work("consistency", part.len() as u64, part, |connection, number, meter| {
            let found = warehouse(connection, (*number, data.order_names), &payments)?;
            let mut all = findings.lock().expect("no loader panics while it notes findings");
            all.merge(found);
            meter.add(1);
            Ok(())
        })?;
    }
    match findings.into_inner().expect("no loader panicked").told() {
        Some(told) => Err(WorkerFault::new(FailureClass::Data, told)),
        None => Ok(()),
    }
}

/// What was paid, in hundredths.
struct Payments {
    warehouses: Range<u32>,
    by_warehouse: Vec<i64>,
    by_district: Vec<i64>,
    by_customer: Vec<i64>,
}

impl Payments {
    fn new(warehouses: &Range<u32>) -> Self {
        let districts = warehouses.len() * DISTRICTS as usize;
        Self {
            warehouses: warehouses.clone(),
            by_warehouse: vec![0; warehouses.len()],
            by_district: vec![0; districts],
            by_customer: vec![0; districts * CUSTOMERS as usize],
        }
    }

    /// The position of a warehouse, if it is among these.
    fn warehouse(&self, number: i64) -> Option<usize> {
        let number = u32::try_from(number)
            .ok()
            .filter(|number| self.warehouses.contains(number))?;
        Some((number - self.warehouses.start) as usize)
    }

    /// The position of a district, if there is one of this number.
    fn district(&self, warehouse: i64, district: i64) -> Option<usize> {
        let is_district = (1..=i64::from(DISTRICTS)).contains(&district);
        let warehouse = self.warehouse(warehouse).filter(|_| is_district)?;
        Some(warehouse * DISTRICTS as usize + district as usize - 1)
    }

    fn customer(&self, warehouse: i64, district: i64, customer: i64) -> Option<usize> {
        let is_customer = (1..=i64::from(CUSTOMERS)).contains(&customer);
        let district = self.district(warehouse, district).filter(|_| is_customer)?;
        Some(district * CUSTOMERS as usize + customer as usize - 1)
    }

    fn add(&mut self, row: &TextRow<'_>) {
        let [customer, customer_district, customer_warehouse, district, warehouse] =
            [0, 1, 2, 3, 4].map(|at| number(row, at));
        let amount = hundredths(row, 5);
        if let Some(at) = self.warehouse(warehouse) {
            self.by_warehouse[at] += amount;
        }
        if let Some(at) = self.district(warehouse, district) {
            self.by_district[at] += amount;
        }
        if let Some(at) = self.customer(customer_warehouse, customer_district, customer) {
            self.by_customer[at] += amount;
        }
    }

    /// What the customers of a district paid, in the order of their numbers.
    fn customers(&self, warehouse: u32, district: u32) -> &[i64] {
        let first = self.customer(i64::from(warehouse), i64::from(district), 1);
        first.map_or(&[], |first| &self.by_customer[first..first + CUSTOMERS as usize])
    }
}

/// Reads all payments, or those of a part of the warehouses.
fn payments(pool: &mut LoaderPool<'_>, warehouses: Range<u32>, part: Option<&[u32]>) -> Result<Payments, WorkerFault> {
    let (first, last) = (warehouses.start, warehouses.end - 1);
    let condition = part.map_or(String::new(), |_| {
        format!(" WHERE h_c_w_id BETWEEN {first} AND {last} OR h_w_id BETWEEN {first} AND {last}")
    });
    let sql = format!("SELECT h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_amount FROM history{condition}");
    let payments = Mutex::new(Payments::new(&warehouses));
    pool.work("payments", 1, &[()], |connection, (), meter| {
        let mut payments = payments.lock().expect("one loader reads");
        each(connection, &sql, &mut |row| payments.add(row))?;
        meter.add(1);
        Ok(())
    })?;
    Ok(payments.into_inner().expect("no loader panicked"))
}

/// Checks one warehouse.
fn warehouse(
    connection: &mut Connection,
    (number, names): (u32, OrderNames),
    payments: &Payments,
) -> Result<Findings, WorkerFault> {
    let mut findings = Findings::default();
    let warehouse = read_warehouse(connection, number, payments)?;
    check_warehouse(&warehouse, &mut findings);
    let mut contents = Contents::default();
    for district in &warehouse.districts {
        read_contents(connection, (number, district.number), names, &mut contents)?;
        let paid = payments.customers(number, district.number);
        check_district(number, district, &contents, paid, &mut findings);
    }
    Ok(findings)
}

fn read_warehouse(connection: &mut Connection, number: u32, payments: &Payments) -> Result<Warehouse, WorkerFault> {
    let (mut ytd, mut districts) = (None, Vec::new());
    let sql = format!("SELECT w_ytd FROM warehouse WHERE w_id = {number}");
    each(connection, &sql, &mut |row| ytd = Some(hundredths(row, 0)))?;
    let sql = format!("SELECT d_id, d_ytd, d_next_o_id FROM district WHERE d_w_id = {number} ORDER BY d_id");
    each(connection, &sql, &mut |row| {
        districts.push((self::number(row, 0), hundredths(row, 1), self::number(row, 2)));
    })?;
    let is_there = ytd.is_some() && districts.iter().map(|one| one.0).eq(1..=i64::from(DISTRICTS));
    let Some(ytd) = ytd.filter(|_| is_there) else {
        let message =
            format!("warehouse {number} or one of its ten districts is not there: make it with `plimsoll prepare`");
        return Err(WorkerFault::new(FailureClass::Data, message));
    };
    let paid = |sums: &[i64], position: Option<usize>| position.map_or(0, |at| sums[at]);
    let district = |(district, ytd, next_order): (i64, i64, i64)| District {
        number: district as u32,
        ytd,
        next_order,
        payments: paid(&payments.by_district, payments.district(i64::from(number), district)),
    };
    Ok(Warehouse {
        number,
        ytd,
        payments: paid(&payments.by_warehouse, payments.warehouse(i64::from(number))),
        districts: districts.into_iter().map(district).collect(),
    })
}

fn read_contents(
    connection: &mut Connection,
    (warehouse, district): (u32, u32),
    names: OrderNames,
    contents: &mut Contents,
) -> Result<(), WorkerFault> {
    contents.clear();
    let sql = format!(
        "SELECT o_id, o_c_id, o_ol_cnt, o_carrier_id FROM orders WHERE o_w_id = {warehouse} AND o_d_id = {district} ORDER BY o_id"
    );
    each(connection, &sql, &mut |row| {
        contents.orders.push(Order {
            number: number(row, 0),
            customer: number(row, 1),
            lines: number(row, 2),
            is_delivered: row.value(3).is_some(),
        });
    })?;
    let new_orders = Table::of_new_orders(names).name();
    let sql = format!(
        "SELECT no_o_id FROM {new_orders} WHERE no_w_id = {warehouse} AND no_d_id = {district} ORDER BY no_o_id"
    );
    each(connection, &sql, &mut |row| contents.new_orders.push(number(row, 0)))?;
    let sql = format!(
        "SELECT ol_o_id, COUNT(*), COUNT(ol_delivery_d), SUM(IF(ol_delivery_d IS NULL, 0, ol_amount)) FROM order_line \
         WHERE ol_w_id = {warehouse} AND ol_d_id = {district} GROUP BY ol_o_id ORDER BY ol_o_id"
    );
    each(connection, &sql, &mut |row| {
        contents.lines.push(Lines {
            order: number(row, 0),
            count: number(row, 1),
            delivered: number(row, 2),
            amount: hundredths(row, 3),
        });
    })?;
    let sql = format!(
        "SELECT c_id, c_balance, c_ytd_payment, c_delivery_cnt FROM customer \
         WHERE c_w_id = {warehouse} AND c_d_id = {district} ORDER BY c_id"
    );
    each(connection, &sql, &mut |row| {
        contents.customers.push(Customer {
            number: number(row, 0),
            balance: hundredths(row, 1),
            ytd_payment: hundredths(row, 2),
            deliveries: number(row, 3),
        });
    })
}

fn each(connection: &mut Connection, sql: &str, take: &mut dyn FnMut(&TextRow<'_>)) -> Result<(), WorkerFault> {
    let reply = connection.query_each(sql, take);
    reply.map(|_| ()).map_err(|error| blame(&error, "check consistency"))
}

/// A whole number; 0 for NULL.
fn number(row: &TextRow<'_>, column: usize) -> i64 {
    hundredths(row, column) / 100
}

/// A decimal number in hundredths; 0 for NULL.
fn hundredths(row: &TextRow<'_>, column: usize) -> i64 {
    decimal::hundredths(row.value(column).unwrap_or_default())
}

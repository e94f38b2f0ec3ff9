//! Stock-Level, clause 2.8: how many items of a district's last twenty orders are low in stock.

use plimsoll_core::random::Random;
use plimsoll_session::{StatementError, StatementId, Value};

use super::client::{Client, int};
use super::list::List;
use super::terminals::Home;
use crate::tpcc::random::within;
use crate::tpcc::scale::ORDER_LINES;

/// Orders that are looked at.
const ORDERS: i64 = 20;

/// Most items in them.
const ITEMS_MAX: usize = ORDERS as usize * ORDER_LINES.1 as usize;

/// What the terminal sends.
pub struct StockLevel {
    warehouse: u32,
    district: u32,
    threshold: u32,
}

impl StockLevel {
    /// Draws one of a terminal.
    pub fn draw(home: Home, random: &mut Random) -> Self {
        Self {
            warehouse: home.warehouse,
            district: home.district,
            threshold: within(random, 10, 20),
        }
    }

    /// Asks.
    ///
    /// # Errors
    /// Whatever a server answers.
    pub fn run(&self, client: &mut Client<'_, '_>) -> Result<(), StatementError> {
        if let Some(calls) = client.catalogue.calls {
            let values = [int(self.warehouse), int(self.district), int(self.threshold)];
            return client.ask_one(calls.stock_level, &values).map(|_| ());
        }
        let sql = &client.catalogue.stock_level;
        let (warehouse, district) = (int(self.warehouse), int(self.district));
        let next = client.ask_one(sql.district, &[warehouse, district])?.number(0, 0);
        let orders = [warehouse, district, Value::Int(next - ORDERS), Value::Int(next)];
        if let Some(each) = sql.each {
            self.count_each(client, &orders, each)?;
        } else {
            let [warehouse, district, first, next] = orders;
            let values = [warehouse, district, first, next, int(self.threshold)];
            client.ask_one(sql.count, &values)?;
        }
        client.commit()
    }

    fn count_each(
        &self,
        client: &mut Client<'_, '_>,
        orders: &[Value<'_>; 4],
        each: StatementId,
    ) -> Result<(), StatementError> {
        let answer = client.ask(client.catalogue.stock_level.count, orders)?;
        let items = (0..answer.rows()).map(|row| answer.number(row, 0));
        let mut own = List::<i64, ITEMS_MAX>::new(0);
        items.take(ITEMS_MAX).for_each(|item| own.push(item));
        for item in &*own {
            client.ask_one(each, &[orders[0], Value::Int(*item), int(self.threshold)])?;
        }
        Ok(())
    }
}

//! New-Order, clause 2.4: an order with all its lines, from one warehouse or several. One of a hundred names an item that is
//! not there in its last line, and is rolled back after everything else was done.

use std::fmt::Write as _;

use plimsoll_core::random::Random;
use plimsoll_session::{StatementError, StatementId, Value};

use super::client::{Client, int};
use super::input::{Inputs, district, is_percent};
use super::new_order_lines::Charge;
use super::statements::{LINES_MIN, LIST_LENGTH};
use crate::tpcc::decimal::Amount;
use crate::tpcc::quirks::{Departures, Remote};
use crate::tpcc::random::within;
use crate::tpcc::scale::{ITEMS, ORDER_LINES};

/// What the terminal sends.
pub struct NewOrder {
    pub(super) warehouse: u32,
    pub(super) district: u32,
    customer: u32,
    pub(super) lines: Vec<Line>,
    /// What `o_all_local` says.
    is_local: bool,
    /// The last line is left out, since there is no such item.
    pub(super) is_refused: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub item: u32,
    pub supply: u32,
    pub quantity: u32,
}

/// What is known of the stock of an item in a warehouse.
struct Stock {
    supply: u32,
    item: u32,
    quantity: i64,
    information: [u8; 24],
}

impl NewOrder {
    /// Draws one for a home warehouse.
    pub fn draw(inputs: &Inputs, warehouse: u32, random: &mut Random) -> Self {
        let (district, customer) = (district(random), inputs.customer(random));
        let departures = inputs.departures();
        let count = within(
            random,
            ORDER_LINES.0 + u32::from(departures.has_six_lines),
            ORDER_LINES.1,
        );
        let is_refused = is_percent(random, 1);
        let mut is_local = true;
        let line = |_| {
            let item = inputs.item(random);
            let mut supply = warehouse;
            if is_percent(random, 1) {
                supply = inputs.other_warehouse(warehouse, random);
                is_local &= supply == warehouse && departures.remote != Remote::OnlySaid;
            }
            Line {
                item,
                supply,
                quantity: within(random, 1, 10),
            }
        };
        let lines = (0..count).map(line).collect();
        Self {
            warehouse,
            district,
            customer,
            lines,
            is_local,
            is_refused,
        }
    }

    /// Enters it.
    ///
    /// # Errors
    /// Whatever a server answers; the same for all below.
    pub fn run(&self, client: &mut Client<'_, '_>) -> Result<(), StatementError> {
        match client.catalogue.calls {
            Some(calls) => self.call(client, calls.new_order),
            None => self.statements(client),
        }?;
        if self.is_refused {
            client.gate.rolled_back();
        }
        Ok(())
    }

    fn call(&self, client: &mut Client<'_, '_>, call: StatementId) -> Result<(), StatementError> {
        let lines = self.lines_text();
        let values = [
            int(self.warehouse),
            int(self.district),
            int(self.customer),
            int(u32::from(self.is_local)),
            Value::Text(&lines),
        ];
        let was_rolled_back = client.ask_one(call, &values)?.number(0, 0) != 0;
        if was_rolled_back == self.is_refused {
            Ok(())
        } else {
            Err(StatementError::no_data("an item is not there"))
        }
    }

    /// The lines as the procedure takes them: 20 digits each, in the order in which their stocks are locked.
    fn lines_text(&self) -> String {
        let mut lines: Vec<(usize, &Line)> = (1..).zip(self.valid()).collect();
        lines.sort_by_key(|(_, line)| (line.supply, line.item));
        let mut text = String::with_capacity(20 * self.lines.len());
        for (number, line) in lines {
            push_line(number, line.item, line, &mut text);
        }
        if let Some(line) = self.lines.last().filter(|_| self.is_refused) {
            push_line(self.lines.len(), ITEMS + 1, line, &mut text);
        }
        text
    }

    fn statements(&self, client: &mut Client<'_, '_>) -> Result<(), StatementError> {
        let sql = &client.catalogue.new_order;
        let (warehouse, district) = (int(self.warehouse), int(self.district));
        let customer = client.ask_one(sql.customer, &[warehouse, district, int(self.customer)])?;
        let (discount, tax) = (customer.ratio(0, 0), customer.ratio(0, 3));
        let found = client.ask_one(sql.district, &[warehouse, district])?;
        let (order, taxes) = (found.number(0, 0), tax + found.ratio(0, 1));
        let charge = Charge::new(&client.catalogue.departures, taxes, discount);
        client.run(sql.next_order, &[warehouse, district])?;
        let (count, local) = (self.lines.len() as u32, u32::from(self.is_local));
        let values = [
            Value::Int(order),
            district,
            warehouse,
            int(self.customer),
            int(count),
            int(local),
        ];
        client.run(sql.order, &values)?;
        client.run(sql.new_order, &[Value::Int(order), district, warehouse])?;
        if client.catalogue.departures.goes_line_by_line {
            if self.enter_one_by_one(client, order, charge)? != self.is_refused {
                return Err(StatementError::no_data("an item is not there"));
            }
        } else {
            let amounts = self.amounts(client, charge)?;
            let stocks = self.take_stocks(client)?;
            self.insert_lines(client, order, &amounts, &stocks)?;
        }
        if self.is_refused {
            client.run(client.catalogue.rollback, &[])
        } else {
            client.commit()
        }
    }

    /// The lines whose items are there.
    fn valid(&self) -> &[Line] {
        &self.lines[..self.lines.len() - usize::from(self.is_refused)]
    }

    /// The amount of each line, in hundredths: price times quantity.
    fn amounts(&self, client: &mut Client<'_, '_>, charge: Charge) -> Result<Vec<i64>, StatementError> {
        let items = self.lines.iter().enumerate().map(|(at, line)| {
            let is_there = at < self.valid().len();
            if is_there { line.item } else { ITEMS + 1 }
        });
        let answer = client.ask(client.catalogue.new_order.items, &list(items))?;
        let price = |line: &Line| {
            let row = (0..answer.rows()).find(|row| answer.number(*row, 0) == i64::from(line.item));
            let price = row.map(|row| answer.hundredths(row, 1));
            price.ok_or_else(|| StatementError::no_data("an item is not there"))
        };
        let amount = |line: &Line| Ok(charge.amount(price(line)?, line.quantity));
        self.valid().iter().map(amount).collect()
    }

    /// Reads and changes the stocks, warehouse by warehouse, so that orders lock them in the same order.
    fn take_stocks(&self, client: &mut Client<'_, '_>) -> Result<Vec<Stock>, StatementError> {
        let sql = &client.catalogue.new_order;
        let departures = &client.catalogue.departures;
        let supply = |line: &Line| self.stock_warehouse(*line, departures);
        let mut supplies: Vec<u32> = self.valid().iter().map(supply).collect();
        supplies.sort_unstable();
        supplies.dedup();
        let mut stocks = Vec::with_capacity(self.lines.len());
        for warehouse in supplies {
            let items = self
                .valid()
                .iter()
                .filter(|line| supply(line) == warehouse)
                .map(|line| line.item);
            let mut values = vec![int(warehouse)];
            values.extend(list(items));
            let answer = client.ask_one(sql.stocks[self.district as usize - 1], &values)?;
            stocks.extend((0..answer.rows()).map(|row| Stock {
                supply: warehouse,
                item: answer.number(row, 0) as u32,
                quantity: answer.number(row, 1),
                information: information(answer.text(row, 3)),
            }));
        }
        for line in self.valid() {
            let stock = stocks
                .iter_mut()
                .find(|one| (one.supply, one.item) == (supply(line), line.item));
            let stock = stock.ok_or_else(|| StatementError::no_data("a stock is not there"))?;
            stock.quantity = after(stock.quantity, line.quantity, departures);
            self.update_stock(client, *line, stock.quantity)?;
        }
        Ok(stocks)
    }

    /// Whose stock a line takes.
    pub(super) fn stock_warehouse(&self, line: Line, departures: &Departures) -> u32 {
        if departures.takes_stock_at_home {
            self.warehouse
        } else {
            line.supply
        }
    }

    /// Writes what is left of a stock.
    pub(super) fn update_stock(
        &self,
        client: &mut Client<'_, '_>,
        line: Line,
        quantity: i64,
    ) -> Result<(), StatementError> {
        let departures = &client.catalogue.departures;
        let mut values = vec![Value::Int(quantity)];
        if !departures.leaves_stock_counters {
            let is_remote = line.supply != self.warehouse;
            values.extend([int(line.quantity), int(u32::from(is_remote))]);
        }
        values.extend([int(self.stock_warehouse(line, departures)), int(line.item)]);
        client.run(client.catalogue.new_order.stock, &values)
    }

    fn insert_lines(
        &self,
        client: &mut Client<'_, '_>,
        order: i64,
        amounts: &[i64],
        stocks: &[Stock],
    ) -> Result<(), StatementError> {
        let departures = &client.catalogue.departures;
        let amounts: Vec<Amount> = amounts.iter().map(|amount| Amount::new(*amount)).collect();
        let mut values = Vec::with_capacity(9 * self.lines.len());
        for ((line, amount), number) in self.valid().iter().zip(&amounts).zip(1..) {
            let stock = stocks
                .iter()
                .find(|one| (one.supply, one.item) == (self.stock_warehouse(*line, departures), line.item));
            let information = stock.map_or(&[][..], |one| &one.information);
            values.extend([Value::Int(order), int(self.district), int(self.warehouse), int(number)]);
            values.extend([int(line.item), int(line.supply), int(line.quantity)]);
            values.extend([Value::Bytes(amount.bytes()), Value::Bytes(information)]);
        }
        client.run(
            client.catalogue.new_order.lines[self.valid().len() - LINES_MIN],
            &values,
        )
    }
}

fn push_line(number: usize, item: u32, line: &Line, text: &mut String) {
    let Line { supply, quantity, .. } = line;
    write!(text, "{number:02}{item:06}{supply:010}{quantity:02}").expect("a string takes all that is written");
}

/// What is left in a stock; it is filled up when it gets low.
pub fn after(stock: i64, taken: u32, departures: &Departures) -> i64 {
    let taken = i64::from(taken);
    let least = if departures.fills_up_late { 1 } else { 10 };
    if stock >= taken + least {
        stock - taken
    } else {
        stock - taken + 91
    }
}

/// As many values as a list has, the last one repeated.
fn list(mut items: impl Iterator<Item = u32>) -> [Value<'static>; LIST_LENGTH] {
    let mut values = [int(0); LIST_LENGTH];
    let mut last = int(0);
    for value in &mut values {
        last = items.next().map_or(last, int);
        *value = last;
    }
    values
}

/// The text of 24 characters that a stock has for a district.
fn information(text: &[u8]) -> [u8; 24] {
    let mut kept = [b' '; 24];
    let length = text.len().min(kept.len());
    kept[..length].copy_from_slice(&text[..length]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::plan::TpccOptions;
    use plimsoll_core::random::keyed;

    #[test]
    fn a_stock_that_gets_low_is_filled_up() {
        assert_eq!(
            [(20, 10), (19, 10), (11, 1), (10, 1)].map(|(stock, taken)| after(stock, taken, &Departures::default())),
            [10, 100, 10, 100]
        );
        let late = Departures {
            fills_up_late: true,
            ..Departures::default()
        };
        assert_eq!([after(11, 10, &late), after(10, 10, &late)], [1, 91]);
    }

    #[test]
    fn lists_end_with_the_last_value_repeated() {
        let values = list([7, 8].into_iter());
        assert_eq!((values[0], values[1], values[14]), (int(7), int(8), int(8)));
    }

    #[test]
    fn procedures_get_lines_in_the_order_of_their_locks_and_the_one_without_item_last() {
        let line = |item, supply| Line {
            item,
            supply,
            quantity: 7,
        };
        let order = NewOrder {
            warehouse: 2,
            district: 1,
            customer: 1,
            is_local: false,
            lines: vec![line(9, 3), line(8, 3), line(5, 12), line(99_999, 2), line(1, 1)],
            is_refused: true,
        };
        let wanted = [
            "04099999000000000207",
            "02000008000000000307",
            "01000009000000000307",
            "03000005000000001207",
            "05100001000000000107",
        ];
        assert_eq!(order.lines_text(), wanted.concat());
    }

    #[test]
    fn one_order_of_a_hundred_is_refused_and_one_line_of_a_hundred_is_remote() {
        let options = TpccOptions {
            warehouses: 3,
            ..TpccOptions::default()
        };
        let inputs = Inputs::new(&options, 1);
        let mut random = keyed(1, 0, 0);
        let orders: Vec<NewOrder> = (0..20_000).map(|_| NewOrder::draw(&inputs, 2, &mut random)).collect();
        let lines: usize = orders.iter().map(|order| order.lines.len()).sum();
        let remote: usize = orders
            .iter()
            .map(|one| one.lines.iter().filter(|line| line.supply != 2).count())
            .sum();
        let refused = orders.iter().filter(|order| order.is_refused).count();
        assert!((198_000..202_000).contains(&lines), "{lines}");
        assert!((1_850..2_150).contains(&remote), "{remote}");
        assert!((150..250).contains(&refused), "{refused}");
    }
}

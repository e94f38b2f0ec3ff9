//! The lines of a New-Order all together: items and stocks are read, and lines inserted, by statements with lists.

use plimsoll_session::{StatementError, Value};

use super::charge::Charge;
use super::order::{LINES_MAX, Line, NewOrder, after};
use crate::tpcc::decimal::Amount;
use crate::tpcc::scale::ITEMS;
use crate::tpcc::transactions::client::{Client, int};
use crate::tpcc::transactions::list::List;
use crate::tpcc::transactions::statements::{LINES_MIN, LIST_LENGTH};

/// What is known of the stock of an item in a warehouse.
#[derive(Clone, Copy)]
struct Stock {
    supply: u32,
    item: u32,
    quantity: i64,
    information: [u8; 24],
}

/// Values of one line.
const LINE_VALUES: usize = 9;

/// Enters the lines under this number.
///
/// # Errors
/// Whatever a server answers; the same for all below.
pub fn enter(order: &NewOrder, client: &mut Client<'_, '_>, number: i64, charge: Charge) -> Result<(), StatementError> {
    let amounts = amounts(order, client, charge)?;
    let stocks = take_stocks(order, client)?;
    insert(order, client, number, (&amounts, &stocks))
}

/// The amount of each line: price times quantity.
fn amounts(
    order: &NewOrder,
    client: &mut Client<'_, '_>,
    charge: Charge,
) -> Result<List<Amount, LINES_MAX>, StatementError> {
    let items = order.lines.iter().enumerate().map(|(at, line)| {
        let is_there = at < order.valid().len();
        if is_there { line.item } else { ITEMS + 1 }
    });
    let answer = client.ask(client.catalogue.new_order.items, &list(items))?;
    let mut amounts = List::new(Amount::default());
    for line in order.valid() {
        let row = (0..answer.rows()).find(|row| answer.number(*row, 0) == i64::from(line.item));
        let row = row.ok_or_else(|| StatementError::no_data("an item is not there"))?;
        amounts.push(Amount::new(charge.amount(answer.hundredths(row, 1), line.quantity)));
    }
    Ok(amounts)
}

/// Reads and changes the stocks, warehouse by warehouse, so that orders lock them in the same order.
fn take_stocks(order: &NewOrder, client: &mut Client<'_, '_>) -> Result<List<Stock, LINES_MAX>, StatementError> {
    let deviations = &client.catalogue.deviations;
    let supply = |line: &Line| order.stock_warehouse(*line, deviations);
    let mut supplies = List::<u32, LINES_MAX>::new(0);
    order.valid().iter().for_each(|line| supplies.push(supply(line)));
    supplies.sort_unstable();
    let mut stocks = List::new(Stock {
        supply: 0,
        item: 0,
        quantity: 0,
        information: [0; 24],
    });
    for same in supplies.chunk_by(u32::eq) {
        read_stocks(order, client, same[0], &mut stocks)?;
    }
    for line in order.valid() {
        let stock = stocks
            .iter_mut()
            .find(|one| (one.supply, one.item) == (supply(line), line.item));
        let stock = stock.ok_or_else(|| StatementError::no_data("a stock is not there"))?;
        stock.quantity = after(stock.quantity, line.quantity, deviations);
        order.update_stock(client, *line, stock.quantity)?;
    }
    Ok(stocks)
}

/// Reads the stocks of one warehouse.
fn read_stocks(
    order: &NewOrder,
    client: &mut Client<'_, '_>,
    warehouse: u32,
    stocks: &mut List<Stock, LINES_MAX>,
) -> Result<(), StatementError> {
    let catalogue = client.catalogue;
    let of_warehouse = |line: &&Line| order.stock_warehouse(**line, &catalogue.deviations) == warehouse;
    let items = order.valid().iter().filter(of_warehouse).map(|line| line.item);
    let mut values = List::<Value<'_>, { 1 + LIST_LENGTH }>::new(Value::Null);
    values.push(int(warehouse));
    values.extend(&list(items));
    let answer = client.ask_one(catalogue.new_order.stocks[order.district as usize - 1], &values)?;
    for row in 0..answer.rows().min(stocks.room()) {
        stocks.push(Stock {
            supply: warehouse,
            item: answer.number(row, 0) as u32,
            quantity: answer.number(row, 1),
            information: information(answer.text(row, 3)),
        });
    }
    Ok(())
}

fn insert(
    order: &NewOrder,
    client: &mut Client<'_, '_>,
    number: i64,
    (amounts, stocks): (&[Amount], &[Stock]),
) -> Result<(), StatementError> {
    let deviations = &client.catalogue.deviations;
    let mut values = List::<Value<'_>, { LINE_VALUES * LINES_MAX }>::new(Value::Null);
    for ((line, amount), at) in order.valid().iter().zip(amounts).zip(1..) {
        let stock = stocks
            .iter()
            .find(|one| (one.supply, one.item) == (order.stock_warehouse(*line, deviations), line.item));
        let information = stock.map_or(&[][..], |one| &one.information);
        values.extend(&[
            Value::Int(number),
            int(order.district),
            int(order.warehouse),
            int(at),
            int(line.item),
            int(line.supply),
            int(line.quantity),
            Value::Bytes(amount.bytes()),
            Value::Bytes(information),
        ]);
    }
    let statement = client.catalogue.new_order.lines[order.valid().len() - LINES_MIN];
    client.run(statement, &values)
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
    let mut own = [b' '; 24];
    let length = text.len().min(own.len());
    own[..length].copy_from_slice(&text[..length]);
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_with_the_last_value_repeated() {
        let values = list([7, 8].into_iter());
        assert_eq!((values[0], values[1], values[14]), (int(7), int(8), int(8)));
    }
}

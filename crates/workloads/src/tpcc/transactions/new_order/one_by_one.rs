//! The lines of a New-Order one after the other, as kits do it that have no lists.

use plimsoll_session::{StatementError, Value};

use super::charge::Charge;
use super::order::{Line, NewOrder, after};
use crate::tpcc::decimal::Amount;
use crate::tpcc::scale::ITEMS;
use crate::tpcc::transactions::client::{Client, int};
use crate::tpcc::transactions::list::Text;

/// Bytes of the text of 24 characters that a stock has for a district.
const INFORMATION_BYTES: usize = 24 * 4;

/// Enters the lines; true when one of them names no item, at which it stops.
///
/// # Errors
/// Whatever a server answers; the same for all below.
pub fn enter(
    order: &NewOrder,
    client: &mut Client<'_, '_>,
    number: i64,
    charge: Charge,
) -> Result<bool, StatementError> {
    let behind = 1 + usize::from(client.catalogue.deviations.refuses_line_before_last);
    let refused = order.is_refused.then(|| order.lines.len() - behind);
    for (at, line) in order.lines.iter().enumerate() {
        if refused == Some(at) {
            let found = client.ask(client.catalogue.new_order.items, &[int(ITEMS + 1)])?;
            return Ok(found.rows() == 0);
        }
        line_of(order, client, (number, at + 1), *line, charge)?;
    }
    Ok(false)
}

fn line_of(
    order: &NewOrder,
    client: &mut Client<'_, '_>,
    (number, at): (i64, usize),
    line: Line,
    charge: Charge,
) -> Result<(), StatementError> {
    let sql = &client.catalogue.new_order;
    let deviations = &client.catalogue.deviations;
    let price = client.ask_one(sql.items, &[int(line.item)])?.hundredths(0, 1);
    let key = [int(order.stock_warehouse(line, deviations)), int(line.item)];
    let stock = client.ask_one(sql.stocks[order.district as usize - 1], &key)?;
    let (quantity, information) = (stock.number(0, 1), Text::<INFORMATION_BYTES>::of(stock.text(0, 3)));
    order.update_stock(client, line, after(quantity, line.quantity, deviations))?;
    let amount = Amount::new(charge.amount(price, line.quantity));
    let values = [
        Value::Int(number),
        int(order.district),
        int(order.warehouse),
        int(at as u32),
        int(line.item),
        int(line.supply),
        int(line.quantity),
        Value::Bytes(amount.bytes()),
        Value::Bytes(&information),
    ];
    client.run(sql.lines[0], &values)
}

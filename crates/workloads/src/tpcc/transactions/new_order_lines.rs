//! The lines of a New-Order one after the other, as kits do it that have no lists; and what a line costs.

use plimsoll_session::{StatementError, Value};

use super::client::{Client, int};
use super::new_order::{Line, NewOrder, after};
use crate::tpcc::decimal::Amount;
use crate::tpcc::quirks::{Cents, Departures};
use crate::tpcc::scale::ITEMS;

/// What makes the amount of a line out of a price and a quantity.
#[derive(Clone, Copy)]
pub struct Charge {
    /// With tax and without discount, where lines are so.
    factor: f64,
    cents: Cents,
}

impl Charge {
    /// Of an order with these taxes and this discount, as ratios.
    pub fn new(departures: &Departures, taxes: f64, discount: f64) -> Self {
        let factor = if departures.taxes_lines {
            (1.0 + taxes) * (1.0 - discount)
        } else {
            1.0
        };
        Self {
            factor,
            cents: departures.line_amounts,
        }
    }

    /// In hundredths.
    pub fn amount(&self, price: i64, quantity: u32) -> i64 {
        let exact = (price * i64::from(quantity)) as f64 * self.factor;
        match self.cents {
            Cents::Kept => exact.round() as i64,
            Cents::CutOff => (exact / 100.0) as i64 * 100,
            Cents::Rounded => (exact / 100.0).round() as i64 * 100,
        }
    }
}

impl NewOrder {
    /// Enters the lines; true when one of them names no item, at which it stops.
    ///
    /// # Errors
    /// Whatever a server answers; the same for all below.
    pub fn enter_one_by_one(
        &self,
        client: &mut Client<'_, '_>,
        order: i64,
        charge: Charge,
    ) -> Result<bool, StatementError> {
        let behind = 1 + usize::from(client.catalogue.departures.refuses_line_before_last);
        let refused = self.is_refused.then(|| self.lines.len() - behind);
        for (at, line) in self.lines.iter().enumerate() {
            if refused == Some(at) {
                let found = client.ask(client.catalogue.new_order.items, &[int(ITEMS + 1)])?;
                return Ok(found.rows() == 0);
            }
            self.enter(client, (order, at + 1), *line, charge)?;
        }
        Ok(false)
    }

    fn enter(
        &self,
        client: &mut Client<'_, '_>,
        (order, number): (i64, usize),
        line: Line,
        charge: Charge,
    ) -> Result<(), StatementError> {
        let sql = &client.catalogue.new_order;
        let departures = &client.catalogue.departures;
        let price = client.ask_one(sql.items, &[int(line.item)])?.hundredths(0, 1);
        let key = [int(self.stock_warehouse(line, departures)), int(line.item)];
        let stock = client.ask_one(sql.stocks[self.district as usize - 1], &key)?;
        let (quantity, information) = (stock.number(0, 1), stock.text(0, 3).to_vec());
        self.update_stock(client, line, after(quantity, line.quantity, departures))?;
        let amount = Amount::new(charge.amount(price, line.quantity));
        let values = [
            Value::Int(order),
            int(self.district),
            int(self.warehouse),
            int(number as u32),
            int(line.item),
            int(line.supply),
            int(line.quantity),
            Value::Bytes(amount.bytes()),
            Value::Bytes(&information),
        ];
        client.run(sql.lines[0], &values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::plan::TpccKit;

    #[test]
    fn amounts_are_those_of_each_kit() {
        let amount = |kit| Charge::new(&Departures::of(kit), 0.25, 0.1).amount(1_099, 3);
        let kits = [
            None,
            Some(TpccKit::GoTpc),
            Some(TpccKit::SysbenchTpcc),
            Some(TpccKit::Dbt2),
            Some(TpccKit::TpccMysql),
        ];
        assert_eq!(kits.map(amount), [3_297, 3_709, 3_700, 3_300, 3_297]);
    }
}

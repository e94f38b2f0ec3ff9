//! New-Order, clause 2.4: an order with all its lines, from one warehouse or several. One of a hundred names an item that is
//! not there in its last line, and is rolled back after everything else was done.

mod charge;
mod in_lists;
mod one_by_one;
mod order;

use plimsoll_session::{StatementError, StatementId, Value};

use super::client::{Client, int};
use charge::Charge;

pub use order::NewOrder;

impl NewOrder {
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
            Value::Bytes(&lines),
        ];
        let was_rolled_back = client.ask_one(call, &values)?.number(0, 0) != 0;
        if was_rolled_back == self.is_refused {
            Ok(())
        } else {
            Err(StatementError::no_data("an item is not there"))
        }
    }

    fn statements(&self, client: &mut Client<'_, '_>) -> Result<(), StatementError> {
        let sql = &client.catalogue.new_order;
        let (warehouse, district) = (int(self.warehouse), int(self.district));
        let customer = client.ask_one(sql.customer, &[warehouse, district, int(self.customer)])?;
        let (discount, tax) = (customer.ratio(0, 0), customer.ratio(0, 3));
        let found = client.ask_one(sql.district, &[warehouse, district])?;
        let (order, taxes) = (found.number(0, 0), tax + found.ratio(0, 1));
        let charge = Charge::new(&client.catalogue.deviations, taxes, discount);
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
        if client.catalogue.deviations.goes_line_by_line {
            if one_by_one::enter(self, client, order, charge)? != self.is_refused {
                return Err(StatementError::no_data("an item is not there"));
            }
        } else {
            in_lists::enter(self, client, order, charge)?;
        }
        if self.is_refused {
            client.run(client.catalogue.rollback, &[])
        } else {
            client.commit()
        }
    }
}

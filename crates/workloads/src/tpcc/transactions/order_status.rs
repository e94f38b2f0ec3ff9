//! Order-Status, clause 2.6: what became of a customer's last order.

use plimsoll_core::random::Random;
use plimsoll_session::{StatementError, Value};

use super::client::{Client, int};
use super::input::{Inputs, WhichCustomer, district};

/// What the terminal sends.
pub struct OrderStatus {
    warehouse: u32,
    district: u32,
    customer: WhichCustomer,
}

impl OrderStatus {
    /// Draws one for a home warehouse.
    pub fn draw(inputs: &Inputs, warehouse: u32, random: &mut Random) -> Self {
        Self {
            warehouse,
            district: district(random),
            customer: inputs.which_customer(random),
        }
    }

    /// Asks.
    ///
    /// # Errors
    /// Whatever a server answers.
    pub fn run(&self, client: &mut Client<'_, '_>) -> Result<(), StatementError> {
        let (warehouse, district) = (int(self.warehouse), int(self.district));
        if let Some(calls) = client.catalogue.calls {
            let [number, name] = self.customer.values();
            let values = [warehouse, district, number, name];
            return client.ask_one(calls.order_status, &values).map(|_| ());
        }
        let sql = &client.catalogue.order_status;
        let number = self.customer.number(client, warehouse, district)?;
        let key = [warehouse, district, Value::Int(number)];
        client.ask_one(sql.customer, &key)?;
        let last = Value::Int(client.ask_one(sql.last_order, &key)?.number(0, 0));
        let order = if client.catalogue.deviations.shows_order_of_district_number {
            district
        } else {
            last
        };
        client.ask_one(sql.lines, &[warehouse, district, order])?;
        client.commit()
    }
}

//! Delivery, clause 2.7: the oldest order of each of the ten districts goes out, in one transaction. A district without open
//! orders is passed over.

use plimsoll_core::random::Random;
use plimsoll_session::{StatementError, Value};

use super::client::{Client, int};
use crate::tpcc::decimal::Amount;
use crate::tpcc::random::within;
use crate::tpcc::scale::DISTRICTS;

/// What the terminal sends.
pub struct Delivery {
    warehouse: u32,
    carrier: u32,
}

impl Delivery {
    /// Draws one for a home warehouse.
    pub fn draw(warehouse: u32, random: &mut Random) -> Self {
        Self {
            warehouse,
            carrier: within(random, 1, 10),
        }
    }

    /// Delivers.
    ///
    /// # Errors
    /// Whatever a server answers.
    pub fn run(&self, client: &mut Client<'_, '_>) -> Result<(), StatementError> {
        if let Some(calls) = client.catalogue.calls {
            let values = [int(self.warehouse), int(self.carrier)];
            return client.ask_one(calls.delivery, &values).map(|_| ());
        }
        for district in 1..=DISTRICTS {
            self.district(client, district)?;
        }
        client.commit()
    }

    fn district(&self, client: &mut Client<'_, '_>, district: u32) -> Result<(), StatementError> {
        let sql = &client.catalogue.delivery;
        let (warehouse, district) = (int(self.warehouse), int(district));
        // 0 where there is none, or NULL.
        let oldest = client.ask(sql.oldest, &[warehouse, district])?.number(0, 0);
        if oldest == 0 {
            return Ok(());
        }
        let order = [warehouse, district, Value::Int(oldest)];
        client.run(sql.remove, &order)?;
        // Locked, so that it is seen as it is now and not as when the transaction began.
        let customer = client.ask_one(sql.customer, &order)?.number(0, 0);
        client.run(sql.carrier, &[int(self.carrier), order[0], order[1], order[2]])?;
        client.run(sql.lines, &order)?;
        let amount = Amount::new(client.ask_one(sql.amount, &order)?.hundredths(0, 0));
        client.run(
            sql.pay,
            &[Value::Bytes(amount.bytes()), warehouse, district, Value::Int(customer)],
        )
    }
}

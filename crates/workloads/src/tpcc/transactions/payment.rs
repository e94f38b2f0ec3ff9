//! Payment, clause 2.5: a customer pays at a district, in fifteen of a hundred cases not the one where it is known.

use std::fmt::Write as _;

use plimsoll_core::random::Random;
use plimsoll_session::{StatementError, StatementId, Value};

use super::client::{Client, int};
use super::input::{Inputs, WhichCustomer, district, is_percent};
use super::list::{List, Text};
use crate::tpcc::decimal::Amount;
use crate::tpcc::deviations::{Paid, Payments, Remote};
use crate::tpcc::random::within;

/// Bytes of the name of a warehouse or district: ten characters.
const NAME_BYTES: usize = 10 * 4;

/// Bytes of the longest note: five numbers and an amount, with what stands between them.
const NOTE_BYTES: usize = 20 + 4 * 10 + 24 + 6;

/// What the terminal sends.
pub struct Payment {
    warehouse: u32,
    district: u32,
    customer_warehouse: u32,
    customer_district: u32,
    customer: WhichCustomer,
    amount: Amount,
}

impl Payment {
    /// Draws one for a home warehouse.
    pub fn draw(inputs: &Inputs, warehouse: u32, random: &mut Random) -> Self {
        let here = district(random);
        let deviations = inputs.deviations();
        let (customer_warehouse, customer_district) = if is_percent(random, 85) || deviations.remote == Remote::Never {
            (warehouse, here)
        } else {
            (inputs.other_warehouse(warehouse, random), district(random))
        };
        Self {
            warehouse,
            district: here,
            customer_warehouse,
            customer_district,
            customer: inputs.which_customer(random),
            amount: Amount::new(i64::from(cents(deviations.payments, random))),
        }
    }

    /// Enters it.
    ///
    /// # Errors
    /// Whatever a server answers.
    pub fn run(&self, client: &mut Client<'_, '_>) -> Result<(), StatementError> {
        match client.catalogue.calls {
            Some(calls) => self.call(client, calls.payment),
            None => self.statements(client),
        }
    }

    fn call(&self, client: &mut Client<'_, '_>, call: StatementId) -> Result<(), StatementError> {
        let [number, name] = self.customer.values();
        let values = [
            int(self.warehouse),
            int(self.district),
            int(self.customer_warehouse),
            int(self.customer_district),
            number,
            name,
            Value::Bytes(self.amount.bytes()),
        ];
        client.ask_one(call, &values).map(|_| ())
    }

    fn statements(&self, client: &mut Client<'_, '_>) -> Result<(), StatementError> {
        let sql = &client.catalogue.payment;
        let (warehouse, district) = (int(self.warehouse), int(self.district));
        let amount = Value::Bytes(self.amount.bytes());
        client.run(sql.pay_warehouse, &[amount, warehouse])?;
        let name = Text::<NAME_BYTES>::of(client.ask_one(sql.warehouse, &[warehouse])?.text(0, 0));
        client.run(sql.pay_district, &[amount, warehouse, district])?;
        let other_name = Text::<NAME_BYTES>::of(client.ask_one(sql.district, &[warehouse, district])?.text(0, 0));
        let (customer_warehouse, customer_district) = (int(self.customer_warehouse), int(self.customer_district));
        let number = self.customer.number(client, customer_warehouse, customer_district)?;
        let key = [customer_warehouse, customer_district, Value::Int(number)];
        let has_bad_credit = client.ask_one(sql.customer, &key)?.text(0, 0) == b"BC";
        let note;
        let mut values = List::<Value<'_>, 6>::new(Value::Null);
        values.push(amount);
        if client.catalogue.deviations.paid == Paid::Amount {
            values.push(amount);
        }
        if has_bad_credit {
            note = self.note(number);
            values.push(Value::Bytes(&note));
            values.extend(&key);
            client.run(sql.pay_bad_credit, &values)?;
        } else {
            values.extend(&key);
            client.run(sql.pay, &values)?;
        }
        let mut data = Text::<{ 2 * NAME_BYTES + 4 }>::of(&name);
        data.extend(b"    ");
        data.extend(&other_name);
        client.run(
            sql.history,
            &[
                key[2],
                customer_district,
                customer_warehouse,
                district,
                warehouse,
                amount,
                Value::Bytes(&data),
            ],
        )?;
        client.commit()
    }

    /// What is put before the data of a customer with bad credit.
    fn note(&self, number: i64) -> Text<NOTE_BYTES> {
        let Self {
            customer_district,
            customer_warehouse,
            district,
            warehouse,
            amount,
            ..
        } = self;
        let mut note = Text::new(0);
        write!(
            note,
            "{number} {customer_district} {customer_warehouse} {district} {warehouse} "
        )
        .expect("there is room for five numbers");
        note.extend(amount.bytes());
        note.push(b'|');
        note
    }
}

/// How much is paid, in hundredths.
fn cents(payments: Payments, random: &mut Random) -> u32 {
    match payments {
        Payments::InCents => within(random, 100, 500_000),
        Payments::Whole => within(random, 1, 5_000) * 100,
        Payments::Rounded => (within(random, 101, 500_100) + 50) / 100 * 100,
    }
}

impl WhichCustomer {
    /// Number and last name as procedures take them: no number where the name counts.
    pub fn values(&self) -> [Value<'_>; 2] {
        match self {
            Self::Number(number) => [int(*number), Value::Bytes(b"")],
            Self::LastName(name) => [int(0), Value::Bytes(name)],
        }
    }

    /// The customer's number; of several with one name that in the middle by first name, or the first.
    ///
    /// # Errors
    /// Whatever a server answers.
    pub fn number(
        &self,
        client: &mut Client<'_, '_>,
        warehouse: Value<'_>,
        district: Value<'_>,
    ) -> Result<i64, StatementError> {
        match self {
            Self::Number(number) => Ok(i64::from(*number)),
            Self::LastName(name) => {
                let values = [warehouse, district, Value::Bytes(name)];
                let takes_first = client.catalogue.deviations.takes_first_customer;
                let found = client.ask_one(client.catalogue.customers_by_name, &values)?;
                let last = if takes_first { 0 } else { found.rows() - 1 };
                Ok(found.number(last / 2, 0))
            }
        }
    }
}

//! What a terminal sends for a New-Order, and what becomes of the stocks that it takes.

use std::fmt::Write as _;

use plimsoll_core::random::Random;
use plimsoll_session::{StatementError, Value};

use crate::tpcc::deviations::{Deviations, Remote};
use crate::tpcc::random::within;
use crate::tpcc::scale::{ITEMS, ORDER_LINES};
use crate::tpcc::transactions::client::{Client, int};
use crate::tpcc::transactions::input::{Inputs, district, is_percent};
use crate::tpcc::transactions::list::{List, Text};

/// Most lines of an order.
pub const LINES_MAX: usize = ORDER_LINES.1 as usize;

/// Bytes of all lines as the procedure takes them.
const LINES_TEXT_BYTES: usize = 20 * LINES_MAX;

/// What the terminal sends.
pub struct NewOrder {
    pub warehouse: u32,
    pub district: u32,
    pub customer: u32,
    pub lines: List<Line, LINES_MAX>,
    /// What `o_all_local` says.
    pub is_local: bool,
    /// The last line is left out, since there is no such item.
    pub is_refused: bool,
}

/// One line of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line {
    pub item: u32,
    pub supply: u32,
    pub quantity: u32,
}

impl NewOrder {
    /// Draws one for a home warehouse.
    pub fn draw(inputs: &Inputs, warehouse: u32, random: &mut Random) -> Self {
        let (district, customer) = (district(random), inputs.customer(random));
        let deviations = inputs.deviations();
        let count = within(
            random,
            ORDER_LINES.0 + u32::from(deviations.has_six_lines),
            ORDER_LINES.1,
        );
        let is_refused = is_percent(random, 1);
        let mut is_local = true;
        let line = |_| {
            let item = inputs.item(random);
            let mut supply = warehouse;
            if is_percent(random, 1) {
                supply = inputs.other_warehouse(warehouse, random);
                is_local &= supply == warehouse && deviations.remote != Remote::OnlySaid;
            }
            Line {
                item,
                supply,
                quantity: within(random, 1, 10),
            }
        };
        let mut lines = List::new(Line::default());
        (0..count).map(line).for_each(|line| lines.push(line));
        Self {
            warehouse,
            district,
            customer,
            lines,
            is_local,
            is_refused,
        }
    }

    /// The lines as the procedure takes them: 20 digits each, in the order in which their stocks are locked.
    pub fn lines_text(&self) -> Text<LINES_TEXT_BYTES> {
        let mut numbered = List::<(usize, Line), LINES_MAX>::new((0, Line::default()));
        (1..)
            .zip(self.valid())
            .for_each(|(number, line)| numbered.push((number, *line)));
        numbered.sort_unstable_by_key(|(number, line)| (line.supply, line.item, *number));
        let mut text = Text::new(0);
        for (number, line) in &*numbered {
            push_line(*number, line.item, line, &mut text);
        }
        if let Some(line) = self.lines.last().filter(|_| self.is_refused) {
            push_line(self.lines.len(), ITEMS + 1, line, &mut text);
        }
        text
    }

    /// The lines whose items are there.
    pub fn valid(&self) -> &[Line] {
        &self.lines[..self.lines.len() - usize::from(self.is_refused)]
    }

    /// Whose stock a line takes.
    pub fn stock_warehouse(&self, line: Line, deviations: &Deviations) -> u32 {
        if deviations.takes_stock_at_home {
            self.warehouse
        } else {
            line.supply
        }
    }

    /// Writes what is left of a stock.
    ///
    /// # Errors
    /// Whatever a server answers.
    pub fn update_stock(&self, client: &mut Client<'_, '_>, line: Line, quantity: i64) -> Result<(), StatementError> {
        let deviations = &client.catalogue.deviations;
        let mut values = List::<Value<'_>, 5>::new(Value::Null);
        values.push(Value::Int(quantity));
        if !deviations.leaves_stock_counters {
            let is_remote = line.supply != self.warehouse;
            values.extend(&[int(line.quantity), int(u32::from(is_remote))]);
        }
        values.extend(&[int(self.stock_warehouse(line, deviations)), int(line.item)]);
        client.run(client.catalogue.new_order.stock, &values)
    }
}

fn push_line(number: usize, item: u32, line: &Line, text: &mut Text<LINES_TEXT_BYTES>) {
    let Line { supply, quantity, .. } = line;
    write!(text, "{number:02}{item:06}{supply:010}{quantity:02}").expect("there is room for all lines");
}

/// What is left in a stock; it is filled up when it gets low.
pub fn after(stock: i64, taken: u32, deviations: &Deviations) -> i64 {
    let taken = i64::from(taken);
    let least = if deviations.fills_up_late { 1 } else { 10 };
    if stock >= taken + least {
        stock - taken
    } else {
        stock - taken + 91
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::plan::TpccOptions;
    use plimsoll_core::random::keyed;

    #[test]
    fn a_stock_that_gets_low_is_filled_up() {
        assert_eq!(
            [(20, 10), (19, 10), (11, 1), (10, 1)].map(|(stock, taken)| after(stock, taken, &Deviations::default())),
            [10, 100, 10, 100]
        );
        let late = Deviations {
            fills_up_late: true,
            ..Deviations::default()
        };
        assert_eq!([after(11, 10, &late), after(10, 10, &late)], [1, 91]);
    }

    #[test]
    fn procedures_get_lines_in_the_order_of_their_locks_and_the_one_without_item_last() {
        let line = |item, supply| Line {
            item,
            supply,
            quantity: 7,
        };
        let mut lines = List::new(Line::default());
        lines.extend(&[line(9, 3), line(8, 3), line(5, 12), line(99_999, 2), line(1, 1)]);
        let order = NewOrder {
            warehouse: 2,
            district: 1,
            customer: 1,
            is_local: false,
            lines,
            is_refused: true,
        };
        let wanted = [
            "04099999000000000207",
            "02000008000000000307",
            "01000009000000000307",
            "03000005000000001207",
            "05100001000000000107",
        ];
        assert_eq!(&order.lines_text()[..], wanted.concat().as_bytes());
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

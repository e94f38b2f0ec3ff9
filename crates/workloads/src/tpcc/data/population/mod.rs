//! The rows by clause 4.3.3.1, each from the seed and its own position, whoever loads it and in which order.
//!
//! All dates are one point in time, so that equal seeds give equal rows.

mod row;

use plimsoll_core::plan::OrderNames;
use plimsoll_core::random::{Random, below, keyed};

use crate::loading::row::{RowWriter, Style};
use crate::tpcc::random::{LAST_NAME_A, last_name, last_name_load, nurand, push_alphanumeric, push_digits, within};
use crate::tpcc::scale::{CUSTOMERS, DISTRICTS, FIRST_NEW_ORDER, ITEMS, NEW_ORDERS, ORDER_LINES};
use crate::tpcc::tables::{Table, tables};

/// Randomness that is not of the row alone: which rows of ten are special, and permutations.
const MARKED_STREAM: u64 = 100;
const PERMUTATION_STREAM: u64 = 200;

/// Places of one warehouse in the space of keys: more than the rows of any table.
const POSITIONS: u64 = 1_000_000;

/// Bytes of the longest row, lines of a whole order included.
pub const ROW_BYTES_MAX: usize = 2_048;

/// Rows of one table for one warehouse, each made of one or, for lines of orders, of several rows that belong together.
pub struct Rows {
    table: Table,
    seed: u64,
    warehouse: u32,
    style: Style,
    last_name_c: u32,
    /// Customers of the district whose orders are written, in the order in which they ordered.
    permutation: (u32, Vec<u16>),
}

/// How many positions a table has in each warehouse, or at all.
pub fn positions(table: Table) -> u32 {
    match table {
        Table::Item | Table::Stock => ITEMS,
        Table::District => DISTRICTS,
        Table::Customer | Table::History | Table::Orders | Table::OrderLine => DISTRICTS * CUSTOMERS,
        Table::NewOrders | Table::NewOrder => DISTRICTS * NEW_ORDERS,
        Table::Warehouse => 1,
    }
}

/// Whether rows of a position have other values than the constants of their table: lines of orders that are not delivered.
pub fn is_whole(table: Table, position: u32) -> bool {
    table == Table::OrderLine && position % CUSTOMERS + 1 >= FIRST_NEW_ORDER
}

impl Rows {
    /// The rows of a table and warehouse; for items the number of the warehouse means nothing.
    pub fn new(table: Table, seed: u64, warehouse: u32, style: Style) -> Self {
        Self {
            table,
            seed,
            warehouse,
            style,
            last_name_c: last_name_load(seed),
            permutation: (0, Vec::new()),
        }
    }

    /// Appends what belongs to a position, counted from 0: constants of the table only where rows are written as a whole.
    /// Returns how many rows that were.
    pub fn push(&mut self, position: u32, out: &mut Vec<u8>) -> u32 {
        let mut row = RowWriter::new(self.style, out);
        let random = &mut self.random(self.table, position);
        let (district, number) = (position / CUSTOMERS + 1, position % CUSTOMERS + 1);
        row.begin();
        match self.table {
            Table::Warehouse => self.warehouse_row(random, &mut row),
            Table::District => self.district(position + 1, random, &mut row),
            Table::Customer => self.customer(position, random, &mut row),
            Table::History => {
                row.numbers(&[number, district, self.warehouse, district, self.warehouse]);
                row.drawn(random, 12, 24);
            }
            Table::Item => self.item(position, random, &mut row),
            Table::Stock => self.stock(position, random, &mut row),
            Table::Orders => self.order(district, number, random, &mut row),
            Table::NewOrders | Table::NewOrder => {
                let (district, order) = (position / NEW_ORDERS + 1, position % NEW_ORDERS + FIRST_NEW_ORDER);
                row.numbers(&[order, district, self.warehouse]);
            }
            Table::OrderLine => return self.order_lines(position, random, &mut row),
        }
        row.end();
        1
    }

    fn random(&self, table: Table, position: u32) -> Random {
        let warehouse = if table == Table::Item { 0 } else { self.warehouse };
        keyed(
            self.seed,
            table as u64,
            u64::from(warehouse) * POSITIONS + u64::from(position),
        )
    }

    /// One position in each ten neighbouring ones is special: exactly a tenth of the rows, at random.
    fn is_special(&self, position: u32) -> bool {
        let warehouse = if self.table == Table::Item { 0 } else { self.warehouse };
        let ten = u64::from(warehouse) * POSITIONS + u64::from(position / 10);
        let mut random = keyed(self.seed, MARKED_STREAM + self.table as u64, ten);
        below(&mut random, 10) == u64::from(position % 10)
    }

    fn warehouse_row(&self, random: &mut Random, row: &mut RowWriter<'_>) {
        row.number(u64::from(self.warehouse));
        row.drawn(random, 6, 10);
        row.address(random);
        row.ten_thousandths(within(random, 0, 2_000));
        row.hundredths(30_000_000);
    }

    fn district(&self, district: u32, random: &mut Random, row: &mut RowWriter<'_>) {
        row.numbers(&[district, self.warehouse]);
        row.drawn(random, 6, 10);
        row.address(random);
        row.ten_thousandths(within(random, 0, 2_000));
        row.hundredths(3_000_000);
        row.number(u64::from(CUSTOMERS + 1));
    }

    fn customer(&self, position: u32, random: &mut Random, row: &mut RowWriter<'_>) {
        let (district, number) = (position / CUSTOMERS + 1, position % CUSTOMERS + 1);
        row.numbers(&[number, district, self.warehouse]);
        row.drawn(random, 8, 16);
        let name = if number <= 1_000 {
            number - 1
        } else {
            nurand(random, LAST_NAME_A, self.last_name_c, 0, 999)
        };
        row.text_by(|out| {
            for part in last_name(name) {
                out.extend_from_slice(part.as_bytes());
            }
        });
        row.address(random);
        row.text_by(|out| push_digits(random, 16, out));
        let credit = if self.is_special(position) { "BC" } else { "GC" };
        row.text_by(|out| out.extend_from_slice(credit.as_bytes()));
        row.ten_thousandths(within(random, 0, 5_000));
        row.drawn(random, 300, 500);
    }

    fn item(&self, position: u32, random: &mut Random, row: &mut RowWriter<'_>) {
        row.numbers(&[position + 1, within(random, 1, 10_000)]);
        row.drawn(random, 14, 24);
        row.hundredths(within(random, 100, 10_000));
        self.data(position, random, row);
    }

    fn stock(&self, position: u32, random: &mut Random, row: &mut RowWriter<'_>) {
        row.numbers(&[position + 1, self.warehouse, within(random, 10, 100)]);
        for _ in 0..DISTRICTS {
            row.drawn(random, 24, 24);
        }
        self.data(position, random, row);
    }

    /// Of items and stocks; a tenth of them are original.
    fn data(&self, position: u32, random: &mut Random, row: &mut RowWriter<'_>) {
        const ORIGINAL: &[u8; 8] = b"ORIGINAL";
        let length = within(random, 26, 50) as usize;
        let is_original = self.is_special(position);
        row.text_by(|out| {
            let begin = out.len();
            push_alphanumeric(random, length, out);
            if is_original {
                let at = begin + below(random, (length - ORIGINAL.len() + 1) as u64) as usize;
                out[at..at + ORIGINAL.len()].copy_from_slice(ORIGINAL);
            }
        });
    }

    fn order(&mut self, district: u32, order: u32, random: &mut Random, row: &mut RowWriter<'_>) {
        let lines = lines_of(random);
        let customer = u32::from(self.permutation(district)[order as usize - 1]);
        row.numbers(&[order, district, self.warehouse, customer]);
        if order < FIRST_NEW_ORDER {
            row.number(u64::from(within(random, 1, 10)));
        } else {
            row.null();
        }
        row.number(u64::from(lines));
    }

    fn order_lines(&self, position: u32, random: &mut Random, row: &mut RowWriter<'_>) -> u32 {
        let (district, order) = (position / CUSTOMERS + 1, position % CUSTOMERS + 1);
        let lines = lines_of(&mut self.random(Table::Orders, position));
        for line in 1..=lines {
            if line > 1 {
                row.begin();
            }
            row.numbers(&[
                order,
                district,
                self.warehouse,
                line,
                within(random, 1, ITEMS),
                self.warehouse,
            ]);
            if is_whole(self.table, position) {
                row.null();
                row.number(5);
                row.hundredths(within(random, 1, 999_999));
            }
            row.drawn(random, 24, 24);
            row.end();
        }
        lines
    }

    /// The customers of a district, each once, at random.
    fn permutation(&mut self, district: u32) -> &[u16] {
        if self.permutation.0 != district {
            let mut random = keyed(
                self.seed,
                PERMUTATION_STREAM,
                u64::from(self.warehouse) * u64::from(DISTRICTS) + u64::from(district),
            );
            let mut customers: Vec<u16> = (1..=CUSTOMERS as u16).collect();
            for last in (1..customers.len()).rev() {
                customers.swap(last, below(&mut random, last as u64 + 1) as usize);
            }
            self.permutation = (district, customers);
        }
        &self.permutation.1
    }
}

/// Rows of one warehouse, all tables together.
pub fn rows_count(seed: u64, warehouse: u32) -> u64 {
    let rows = Rows::new(Table::OrderLine, seed, warehouse, Style::Line);
    let lines = (0..positions(Table::OrderLine)).map(|position| lines_of(&mut rows.random(Table::Orders, position)));
    let lines: u64 = lines.map(u64::from).sum();
    let all = tables(OrderNames::default());
    let others = all
        .iter()
        .filter(|table| !matches!(table, Table::Item | Table::OrderLine));
    lines + others.map(|table| u64::from(positions(*table))).sum::<u64>()
}

/// The first number that is drawn for an order: how many lines it has.
fn lines_of(random: &mut Random) -> u32 {
    within(random, ORDER_LINES.0, ORDER_LINES.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn lines(table: Table, warehouse: u32, style: Style) -> Vec<String> {
        let mut rows = Rows::new(table, 1, warehouse, style);
        let mut out = Vec::new();
        for position in 0..positions(table) {
            let begin = out.len();
            rows.push(position, &mut out);
            assert!(out.len() - begin <= ROW_BYTES_MAX);
        }
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    fn field(line: &str, at: usize) -> &str {
        line.split('\t').nth(at).unwrap()
    }

    #[test]
    fn a_row_is_the_same_in_both_styles() {
        let (line, tuple) = (
            &lines(Table::Warehouse, 3, Style::Line)[0],
            &lines(Table::Warehouse, 3, Style::Tuple)[0],
        );
        let inside = tuple.strip_prefix('(').unwrap().strip_suffix("),").unwrap();
        assert_eq!(inside.replace('\'', "").replace(',', "\t"), *line);
        assert!(line.ends_with("\t300000.00") && field(line, 0) == "3", "{line}");
        assert!(field(line, 6).len() == 9 && field(line, 6).ends_with("11111"), "{line}");
    }

    #[test]
    fn rows_have_the_columns_that_are_written() {
        for table in tables(OrderNames::default()) {
            let mut rows = Rows::new(table, 1, 2, Style::Line);
            for position in 0..positions(table) {
                let mut out = Vec::new();
                rows.push(position, &mut out);
                let columns = table.columns_sql(is_whole(table, position)).split(", ").count();
                let made = String::from_utf8(out).unwrap();
                assert!(made.lines().all(|row| row.split('\t').count() == columns), "{made}");
            }
        }
    }

    #[test]
    fn rows_never_change() {
        let pinned = [
            (Table::District, PINNED_DISTRICT),
            (Table::OrderLine, PINNED_ORDER_LINE),
        ];
        for (table, wanted) in pinned {
            let made = lines(table, 1, Style::Line)[0].replace('\t', ",");
            assert_eq!(made, wanted, "this would change every data set that was ever loaded");
        }
    }

    const PINNED_DISTRICT: &str =
        "1,1,N7naDeCw0,mXJZqd5re7,o3oYbngycFBkRc2uXp,9U1oIu92rdeH,EX,110811111,0.1744,30000.00,3001";
    const PINNED_ORDER_LINE: &str = "1,1,1,1,91282,1,KQjdG7koq10NfuPMNjRSYbkz";

    #[test]
    fn a_tenth_of_items_and_stocks_is_original() {
        for table in [Table::Item, Table::Stock] {
            let rows = lines(table, 2, Style::Line);
            assert_eq!(rows.iter().filter(|row| row.contains("ORIGINAL")).count(), 10_000);
        }
    }

    #[test]
    fn customers_are_as_the_clause_has_them() {
        let rows = lines(Table::Customer, 1, Style::Line);
        assert_eq!(rows.iter().filter(|row| field(row, 11) == "BC").count(), 3_000);
        assert_eq!(field(&rows[371], 4), "PRICALLYOUGHT");
        assert_eq!(field(&rows[3_371], 4), "PRICALLYOUGHT");
        let mean = rows.iter().map(|row| field(row, 13).len()).sum::<usize>() / rows.len();
        assert!((398..=402).contains(&mean), "{mean}");
        assert!(rows.iter().all(|row| (300..=500).contains(&field(row, 13).len())));
    }

    #[test]
    fn each_customer_of_each_district_has_one_order_in_an_order_of_its_own() {
        let rows = lines(Table::Orders, 1, Style::Line);
        let customers = |district: usize| -> Vec<&str> {
            let orders = rows.iter().skip(district * CUSTOMERS as usize).take(CUSTOMERS as usize);
            orders.map(|row| field(row, 3)).collect()
        };
        for district in 0..DISTRICTS as usize {
            assert_eq!(
                customers(district).iter().collect::<HashSet<_>>().len(),
                CUSTOMERS as usize
            );
        }
        assert_ne!(customers(0), customers(1));
        let open = rows.iter().filter(|row| field(row, 4) == "\\N").count();
        assert_eq!(open, (DISTRICTS * NEW_ORDERS) as usize);
    }

    #[test]
    fn orders_have_as_many_lines_as_they_say() {
        let orders = lines(Table::Orders, 4, Style::Line);
        let said: u32 = orders.iter().map(|row| field(row, 5).parse::<u32>().unwrap()).sum();
        let all = lines(Table::OrderLine, 4, Style::Line);
        assert_eq!(said as usize, all.len());
        assert!((299_000..301_000).contains(&said), "{said}");
    }
}

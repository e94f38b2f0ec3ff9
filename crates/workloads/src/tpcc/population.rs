//! The rows by clause 4.3.3.1, each from the seed and its own place, whoever loads it and in which order.
//!
//! All dates are one point in time, so that equal seeds give equal rows.

use plimsoll_core::random::{Random, below, keyed};

use super::random::{
    LAST_NAME_A, last_name_load, nurand, push_alphanumeric, push_digits, push_last_name, push_letters, within,
};
use super::scale::{CUSTOMERS, DISTRICTS, FIRST_NEW_ORDER, ITEMS, NEW_ORDERS, ORDER_LINES};
use super::tables::{TABLES, Table};
use crate::text::push_number;

/// Randomness that is not of the row alone: which rows of ten are special, and permutations.
const MARKED_STREAM: u64 = 100;
const PERMUTATION_STREAM: u64 = 200;

/// Places of one warehouse in the space of keys: more than the rows of any table.
const PLACES: u64 = 1_000_000;

/// Bytes of the longest row, lines of a whole order included.
pub const ROW_BYTES_MAX: usize = 2_048;

/// How a row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A line of LOAD DATA in [`LINE_FORMAT`].
    Line,
    /// A row of INSERT, with a comma after it.
    Tuple,
}

/// Separators of [`Style::Line`], as LOAD DATA has them. Nothing in the rows is a comma or an exclamation mark.
pub const LINE_FORMAT: &str = "CHARACTER SET latin1 FIELDS TERMINATED BY ',' ESCAPED BY '!' LINES TERMINATED BY '\\n'";

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

/// How many places a table has in each warehouse, or at all.
pub fn places(table: Table) -> u32 {
    match table {
        Table::Item | Table::Stock => ITEMS,
        Table::District => DISTRICTS,
        Table::Customer | Table::History | Table::Orders | Table::OrderLine => DISTRICTS * CUSTOMERS,
        Table::NewOrders => DISTRICTS * NEW_ORDERS,
        Table::Warehouse => 1,
    }
}

/// Whether rows of a place have other values than the constants of their table: lines of orders that are not delivered.
pub fn is_whole(table: Table, place: u32) -> bool {
    table == Table::OrderLine && place % CUSTOMERS + 1 >= FIRST_NEW_ORDER
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

    /// Appends what belongs to a place, counted from 0: constants of the table only where rows are written as a whole.
    /// Returns how many rows that were.
    pub fn push(&mut self, place: u32, out: &mut Vec<u8>) -> u32 {
        let mut row = Row {
            style: self.style,
            is_first: true,
            out,
        };
        let random = &mut self.random(self.table, place);
        let (district, number) = (place / CUSTOMERS + 1, place % CUSTOMERS + 1);
        row.begin();
        match self.table {
            Table::Warehouse => self.warehouse_row(random, &mut row),
            Table::District => self.district(place + 1, random, &mut row),
            Table::Customer => self.customer(place, random, &mut row),
            Table::History => {
                row.numbers(&[number, district, self.warehouse, district, self.warehouse]);
                row.drawn(random, 12, 24);
            }
            Table::Item => self.item(place, random, &mut row),
            Table::Stock => self.stock(place, random, &mut row),
            Table::Orders => self.order(district, number, random, &mut row),
            Table::NewOrders => {
                let (district, order) = (place / NEW_ORDERS + 1, place % NEW_ORDERS + FIRST_NEW_ORDER);
                row.numbers(&[order, district, self.warehouse]);
            }
            Table::OrderLine => return self.order_lines(place, random, &mut row),
        }
        row.end();
        1
    }

    fn random(&self, table: Table, place: u32) -> Random {
        let warehouse = if table == Table::Item { 0 } else { self.warehouse };
        keyed(
            self.seed,
            table as u64,
            u64::from(warehouse) * PLACES + u64::from(place),
        )
    }

    /// One place in each ten neighbouring ones is special: exactly a tenth of the rows, at random.
    fn is_special(&self, place: u32) -> bool {
        let warehouse = if self.table == Table::Item { 0 } else { self.warehouse };
        let ten = u64::from(warehouse) * PLACES + u64::from(place / 10);
        let mut random = keyed(self.seed, MARKED_STREAM + self.table as u64, ten);
        below(&mut random, 10) == u64::from(place % 10)
    }

    fn warehouse_row(&self, random: &mut Random, row: &mut Row<'_>) {
        row.number(self.warehouse);
        row.drawn(random, 6, 10);
        row.address(random);
        row.ten_thousandths(within(random, 0, 2_000));
        row.hundredths(30_000_000);
    }

    fn district(&self, district: u32, random: &mut Random, row: &mut Row<'_>) {
        row.numbers(&[district, self.warehouse]);
        row.drawn(random, 6, 10);
        row.address(random);
        row.ten_thousandths(within(random, 0, 2_000));
        row.hundredths(3_000_000);
        row.number(CUSTOMERS + 1);
    }

    fn customer(&self, place: u32, random: &mut Random, row: &mut Row<'_>) {
        let (district, number) = (place / CUSTOMERS + 1, place % CUSTOMERS + 1);
        row.numbers(&[number, district, self.warehouse]);
        row.drawn(random, 8, 16);
        let name = if number <= 1_000 {
            number - 1
        } else {
            nurand(random, LAST_NAME_A, self.last_name_c, 0, 999)
        };
        row.text(|out| push_last_name(name, out));
        row.address(random);
        row.text(|out| push_digits(random, 16, out));
        let credit = if self.is_special(place) { "BC" } else { "GC" };
        row.text(|out| out.extend_from_slice(credit.as_bytes()));
        row.ten_thousandths(within(random, 0, 5_000));
        row.drawn(random, 300, 500);
    }

    fn item(&self, place: u32, random: &mut Random, row: &mut Row<'_>) {
        row.numbers(&[place + 1, within(random, 1, 10_000)]);
        row.drawn(random, 14, 24);
        row.hundredths(within(random, 100, 10_000));
        self.data(place, random, row);
    }

    fn stock(&self, place: u32, random: &mut Random, row: &mut Row<'_>) {
        row.numbers(&[place + 1, self.warehouse, within(random, 10, 100)]);
        for _ in 0..DISTRICTS {
            row.drawn(random, 24, 24);
        }
        self.data(place, random, row);
    }

    /// Of items and stocks; a tenth of them are original.
    fn data(&self, place: u32, random: &mut Random, row: &mut Row<'_>) {
        const ORIGINAL: &[u8; 8] = b"ORIGINAL";
        let length = within(random, 26, 50) as usize;
        let is_original = self.is_special(place);
        row.text(|out| {
            let begin = out.len();
            push_alphanumeric(random, length, out);
            if is_original {
                let at = begin + below(random, (length - ORIGINAL.len() + 1) as u64) as usize;
                out[at..at + ORIGINAL.len()].copy_from_slice(ORIGINAL);
            }
        });
    }

    fn order(&mut self, district: u32, order: u32, random: &mut Random, row: &mut Row<'_>) {
        let lines = lines_of(random);
        let customer = u32::from(self.permutation(district)[order as usize - 1]);
        row.numbers(&[order, district, self.warehouse, customer]);
        if order < FIRST_NEW_ORDER {
            row.number(within(random, 1, 10));
        } else {
            row.null();
        }
        row.number(lines);
    }

    fn order_lines(&self, place: u32, random: &mut Random, row: &mut Row<'_>) -> u32 {
        let (district, order) = (place / CUSTOMERS + 1, place % CUSTOMERS + 1);
        let lines = lines_of(&mut self.random(Table::Orders, place));
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
            if is_whole(self.table, place) {
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
    let lines = (0..places(Table::OrderLine)).map(|place| lines_of(&mut rows.random(Table::Orders, place)));
    let lines: u64 = lines.map(u64::from).sum();
    let others = TABLES
        .iter()
        .filter(|table| !matches!(table, Table::Item | Table::OrderLine));
    lines + others.map(|table| u64::from(places(*table))).sum::<u64>()
}

/// The first number that is drawn for an order: how many lines it has.
fn lines_of(random: &mut Random) -> u32 {
    within(random, ORDER_LINES.0, ORDER_LINES.1)
}

/// One row as it is written.
struct Row<'a> {
    style: Style,
    is_first: bool,
    out: &'a mut Vec<u8>,
}

impl Row<'_> {
    fn begin(&mut self) {
        if self.style == Style::Tuple {
            self.out.push(b'(');
        }
        self.is_first = true;
    }

    fn end(&mut self) {
        let after: &[u8] = if self.style == Style::Tuple { b")," } else { b"\n" };
        self.out.extend_from_slice(after);
    }

    fn separate(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
    }

    fn number(&mut self, number: u32) {
        self.separate();
        push_number(u64::from(number), self.out);
    }

    fn numbers(&mut self, numbers: &[u32]) {
        for number in numbers {
            self.number(*number);
        }
    }

    /// A number with two digits behind the point.
    fn hundredths(&mut self, number: u32) {
        self.number(number / 100);
        let rest = (number % 100) as u8;
        self.out.extend_from_slice(&[b'.', b'0' + rest / 10, b'0' + rest % 10]);
    }

    /// A number below one with four digits behind the point.
    fn ten_thousandths(&mut self, number: u32) {
        self.separate();
        self.out.extend_from_slice(b"0.");
        let digit = |power: u32| b'0' + (number / power % 10) as u8;
        self.out
            .extend_from_slice(&[digit(1_000), digit(100), digit(10), digit(1)]);
    }

    fn null(&mut self) {
        let null: &[u8] = if self.style == Style::Tuple { b"NULL" } else { b"!N" };
        self.separate();
        self.out.extend_from_slice(null);
    }

    fn text(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        self.separate();
        if self.style == Style::Line {
            return push(self.out);
        }
        self.out.push(b'\'');
        push(self.out);
        self.out.push(b'\'');
    }

    /// An alphanumeric string of a length that is drawn too.
    fn drawn(&mut self, random: &mut Random, shortest: u32, longest: u32) {
        let length = if shortest == longest {
            shortest
        } else {
            within(random, shortest, longest)
        };
        self.text(|out| push_alphanumeric(random, length as usize, out));
    }

    /// Two streets, city, state and zip code.
    fn address(&mut self, random: &mut Random) {
        for _ in 0..3 {
            self.drawn(random, 10, 20);
        }
        self.text(|out| push_letters(random, 2, out));
        self.text(|out| {
            push_digits(random, 4, out);
            out.extend_from_slice(b"11111");
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn lines(table: Table, warehouse: u32, style: Style) -> Vec<String> {
        let mut rows = Rows::new(table, 1, warehouse, style);
        let mut out = Vec::new();
        for place in 0..places(table) {
            let begin = out.len();
            rows.push(place, &mut out);
            assert!(out.len() - begin <= ROW_BYTES_MAX);
        }
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    fn field(line: &str, at: usize) -> &str {
        line.split(',').nth(at).unwrap()
    }

    #[test]
    fn a_row_is_the_same_in_both_styles() {
        let (line, tuple) = (
            &lines(Table::Warehouse, 3, Style::Line)[0],
            &lines(Table::Warehouse, 3, Style::Tuple)[0],
        );
        let inside = tuple.strip_prefix('(').unwrap().strip_suffix("),").unwrap();
        assert_eq!(inside.replace('\'', ""), *line);
        assert!(line.ends_with(",300000.00") && field(line, 0) == "3", "{line}");
        assert!(field(line, 6).len() == 9 && field(line, 6).ends_with("11111"), "{line}");
    }

    #[test]
    fn rows_have_the_columns_that_are_written() {
        for table in TABLES {
            let mut rows = Rows::new(table, 1, 2, Style::Line);
            for place in 0..places(table) {
                let mut out = Vec::new();
                rows.push(place, &mut out);
                let columns = table.columns_sql(is_whole(table, place)).split(", ").count();
                let made = String::from_utf8(out).unwrap();
                assert!(made.lines().all(|row| row.split(',').count() == columns), "{made}");
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
            let made = &lines(table, 1, Style::Line)[0];
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
        let open = rows.iter().filter(|row| field(row, 4) == "!N").count();
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

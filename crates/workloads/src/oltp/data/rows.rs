//! The rows of the OLTP tables as bytes. A row follows from (seed, table, id) alone, so it is the same whoever loads
//! it, in whatever order and by whatever method.

use plimsoll_core::plan::{Layout, OltpData};
use plimsoll_core::random::keyed;

use crate::distribution;
use crate::loading::row::{RowWriter, Style};
use crate::text::{C_LENGTH, PAD_LENGTH, fill_groups};

/// `c` and `pad` of every row in the table of sysbench 0.4. It sends a space as `c`, of which a CHAR column keeps nothing.
const TEXTS_04: (&[u8], &[u8]) = (b"", b"qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt");

/// The longest row in any style, in bytes: two numbers of ten digits, the texts, and what stands around them.
pub const ROW_BYTES_MAX: usize = 2 * 10 + C_LENGTH + PAD_LENGTH + 16;

/// Writes the rows of one table.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    seed: u64,
    table: u32,
    layout: Layout,
    keys: distribution::Rows,
    style: Style,
}

impl Rows {
    /// The rows of table number `table`.
    pub fn new(data: &OltpData, table: u32, style: Style) -> Self {
        Self {
            seed: data.seed,
            table,
            layout: data.layout,
            keys: distribution::Rows::new(data.distribution, data.table_size as u32),
            style,
        }
    }

    /// Appends row `id`, counted from 1.
    pub fn push(&self, id: u64, out: &mut Vec<u8>) {
        if self.layout == Layout::Sysbench04 {
            return self.write(id, 0, TEXTS_04, out);
        }
        let mut random = keyed(self.seed, u64::from(self.table), id);
        let k = self.keys.draw(&mut random) as u64;
        let (mut c, mut pad) = ([0; C_LENGTH], [0; PAD_LENGTH]);
        fill_groups(&mut random, &mut c);
        fill_groups(&mut random, &mut pad);
        self.write(id, k, (&c, &pad), out);
    }

    fn write(&self, id: u64, k: u64, (c, pad): (&[u8], &[u8]), out: &mut Vec<u8>) {
        let mut row = RowWriter::new(self.style, out);
        row.begin();
        row.number(id);
        row.number(k);
        row.text_by(|out| out.extend_from_slice(c));
        row.text_by(|out| out.extend_from_slice(pad));
        row.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::plan::{Distribution, Pareto};

    fn row(seed: u64, table: u32, id: u64, style: Style) -> String {
        let mut out = Vec::new();
        Rows::new(
            &OltpData {
                table_size: 1000,
                seed,
                ..OltpData::default()
            },
            table,
            style,
        )
        .push(id, &mut out);
        assert!(out.len() <= ROW_BYTES_MAX);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_row_is_the_same_in_both_styles() {
        let line = row(1, 1, 7, Style::Line);
        let fields: Vec<&str> = line.trim_end().split('\t').collect();
        assert_eq!(fields.len(), 4);
        assert_eq!(fields[0], "7");
        assert_eq!((fields[2].len(), fields[3].len()), (C_LENGTH, PAD_LENGTH));
        let tuple = format!("({},{},'{}','{}'),", fields[0], fields[1], fields[2], fields[3]);
        assert_eq!(row(1, 1, 7, Style::Tuple), tuple);
    }

    #[test]
    fn rows_differ_by_seed_table_and_id() {
        let rows = [
            row(1, 1, 7, Style::Line),
            row(2, 1, 7, Style::Line),
            row(1, 2, 7, Style::Line),
            row(1, 1, 8, Style::Line),
        ];
        let after_id = |row: &String| row.split_once('\t').unwrap().1.to_owned();
        for (at, one) in rows.iter().enumerate() {
            assert!(rows[at + 1..].iter().all(|other| after_id(one) != after_id(other)));
        }
    }

    #[test]
    fn a_row_never_changes() {
        assert_eq!(
            row(1, 1, 7, Style::Line),
            PINNED,
            "this would change every data set that was ever loaded"
        );
    }

    const PINNED: &str = "7\t335\t73993625726-01015905033-83564603846-31290889100-72528561454-68162278365-01052529231-\
                          06214372244-26286326088-14643773504\t\
                          06045719552-21317354887-67034328665-54431100197-61917434980\n";

    #[test]
    fn the_rows_of_sysbench_04_are_all_alike() {
        let data = OltpData {
            layout: Layout::Sysbench04,
            ..OltpData::default()
        };
        let mut out = Vec::new();
        Rows::new(&data, 0, Style::Tuple).push(3, &mut out);
        let expected = "(3,0,'','qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt'),";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn k_follows_the_distribution() {
        let data = OltpData {
            distribution: Distribution::Pareto(Pareto::default()),
            ..OltpData::default()
        };
        let rows = Rows::new(&data, 1, Style::Line);
        let k = |id| {
            let mut out = Vec::new();
            rows.push(id, &mut out);
            String::from_utf8(out)
                .unwrap()
                .split('\t')
                .nth(1)
                .unwrap()
                .parse::<u64>()
                .unwrap()
        };
        let first_fifth = (1..=10_000).filter(|id| k(*id) <= 2_000).count();
        assert!((7_850..8_150).contains(&first_fifth), "{first_fifth}");
    }

    #[test]
    fn k_is_uniform_over_the_table() {
        let k = |id| {
            row(3, 1, id, Style::Line)
                .split('\t')
                .nth(1)
                .unwrap()
                .parse::<f64>()
                .unwrap()
        };
        let mean = (1..=10_000).map(k).sum::<f64>() / 10_000.0;
        // The standard error of the mean of 10,000 draws from 1..=1000 is 2.9.
        assert!((mean - 500.5).abs() < 9.0, "{mean}");
    }
}

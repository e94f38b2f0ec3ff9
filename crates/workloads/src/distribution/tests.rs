//! Each distribution against its formula, by a chi-square test over cells of rows.

use super::*;
use plimsoll_core::plan::{Bell, HotRanks, Pareto, Zipfian as ZipfianPlan};
use plimsoll_core::random::keyed;
use proptest::prelude::*;

const DRAWS: u32 = 400_000;

/// How often each row came up; index 0 is row 1.
fn hits(distribution: Distribution, count: u32) -> Vec<u32> {
    let rows = Rows::new(distribution, count);
    hits_of(count, |random| rows.draw(random))
}

fn hits_of(count: u32, draw: impl Fn(&mut Random) -> i64) -> Vec<u32> {
    let mut random = keyed(11, 0, 0);
    let mut hits = vec![0; count as usize];
    for _ in 0..DRAWS {
        hits[draw(&mut random) as usize - 1] += 1;
    }
    hits
}

fn assert_follows(distribution: Distribution, count: u32, probability: impl Fn(u32) -> f64) {
    let cells = assert_hits_follow(&format!("{distribution:?}"), &hits(distribution, count), probability);
    assert!(cells > 20, "{distribution:?}: only {cells} cells");
}

/// Neighbouring rows are joined until 50 draws are expected in each cell. The bound is the 0.999 quantile after Wilson
/// and Hilferty (1931), so a right formula fails once in a thousand seeds, and this seed is fixed. Gives the number of cells.
fn assert_hits_follow(name: &str, hits: &[u32], probability: impl Fn(u32) -> f64) -> u32 {
    let count = hits.len() as u32;
    let (mut chi_square, mut cells, mut cell, mut total) = (0.0, 0, (0.0, 0.0), 0.0);
    for (row, &found) in (1..).zip(hits) {
        let expected = probability(row) * f64::from(DRAWS);
        total += expected;
        cell = (cell.0 + expected, cell.1 + f64::from(found));
        if cell.0 >= 50.0 || row == count {
            chi_square += (cell.1 - cell.0).powi(2) / cell.0.max(0.5);
            cells += 1;
            cell = (0.0, 0.0);
        }
    }
    assert!(
        (total / f64::from(DRAWS) - 1.0).abs() < 1e-6,
        "the formula sums to {total}"
    );
    let freedom = f64::from(cells - 1);
    let spread = 2.0 / (9.0 * freedom);
    let bound = freedom * (1.0 - spread + 3.09 * spread.sqrt()).powi(3);
    assert!(chi_square < bound, "{name} of {count}: {chi_square} in {cells} cells");
    cells
}

/// The share of means of `draws` uniform numbers on 0..1 below `x`: the Irwin-Hall distribution.
fn bell(draws: u32, x: f64) -> f64 {
    let (at, mut sum, mut term) = (x.clamp(0.0, 1.0) * f64::from(draws), 0.0, 1.0);
    for k in 0..=at.floor() as u32 {
        sum += term * (at - f64::from(k)).powf(f64::from(draws));
        term *= -f64::from(draws - k) / f64::from(k + 1);
    }
    sum / (1..=draws).map(f64::from).product::<f64>()
}

fn bell_of_offset(draws: u32, width: f64) -> impl Fn(u32) -> f64 {
    move |row| bell(draws, f64::from(row) / width) - bell(draws, f64::from(row - 1) / width)
}

#[test]
fn uniform() {
    assert_follows(Distribution::Uniform {}, 1_000, |_| 0.001);
}

#[test]
fn gaussian() {
    for draws in [3, 12] {
        let distribution = Distribution::Gaussian(Bell { draws });
        assert_follows(distribution, 1_000, bell_of_offset(draws, 1_000.0));
    }
}

#[test]
fn special_10() {
    for (percent, access_percent) in [(1, 75), (10, 50)] {
        let band = HotBand {
            hot_rows_percent: percent,
            hot_accesses_percent: access_percent,
            draws: 12,
        };
        let (last, hot) = (9_999.0, f64::from(access_percent) / 100.0);
        let whole = last * f64::from(percent) / 100.0 + 1.0;
        let begin = last / 2.0 - last * f64::from(percent) / 200.0;
        // The selector is uniform on 1 - hot..1 in this branch, and so is its image in the band.
        let below = |offset: f64| ((offset - begin) / whole).clamp(1.0 - hot, 1.0) - (1.0 - hot);
        let bell = bell_of_offset(12, last);
        assert_follows(Distribution::Special10(band), 10_000, |row| {
            let offset = f64::from(row - 1);
            below(offset + 1.0) - below(offset) + (1.0 - hot) * bell(row)
        });
    }
}

#[test]
fn special_04() {
    // 60 % is 100 / 40 = 2 in whole numbers: half of the accesses.
    for (access_percent, hot) in [(75, 0.75), (60, 0.5)] {
        let band = HotBand {
            hot_accesses_percent: access_percent,
            ..HotBand::default()
        };
        let (count, factor) = (10_000, 100 / (100 - access_percent));
        let first = count / 2 - count / 200;
        // How many of the numbers above `count` leave this remainder: the rows of the band are not exactly alike.
        let of_band = |offset: u32| (count + 1..=count * factor).filter(|n| n % 100 == offset).count();
        let mean = |limit: f64| whole_mean_below(12, count, limit);
        assert_follows(Distribution::Special04(band), count, |row| {
            let in_band = row.checked_sub(first).filter(|offset| *offset < 100);
            let band = in_band.map_or(0.0, |offset| of_band(offset) as f64 / f64::from(count * factor));
            band + (1.0 - hot) * (mean(f64::from(row + 1)) - mean(f64::from(row)))
        });
    }
}

/// The share of means of `draws` whole numbers on 1..=count, before they are rounded down, that is below `limit`. The
/// continuous bell with the half step of the sum between two whole numbers: far below what the test can see.
fn whole_mean_below(draws: u32, count: u32, limit: f64) -> f64 {
    let half = 0.5 / f64::from(draws);
    bell(draws, (limit - half - 0.5) / f64::from(count))
}

#[test]
fn pareto() {
    for h in [0.2f64, 0.5, 0.8] {
        let power = h.ln() / (1.0 - h).ln();
        let below = |offset: f64| (offset / 1_000.0).powf(1.0 / power);
        assert_follows(Distribution::Pareto(Pareto { h }), 1_000, |row| {
            below(f64::from(row)) - below(f64::from(row - 1))
        });
    }
}

#[test]
fn pareto_gives_four_fifths_to_the_first_fifth() {
    let hits = hits(Distribution::Pareto(Pareto::default()), 10_000);
    let first: u32 = hits[..2_000].iter().sum();
    assert!((f64::from(first) / f64::from(DRAWS) - 0.8).abs() < 0.003);
}

#[test]
fn zipfian() {
    for exponent in [0.0, 0.5, 0.8, 1.0, 1.2] {
        let weight = |row: u32| f64::from(row).powf(-exponent);
        for count in [50, 3_000] {
            let sum: f64 = (1..=count).map(weight).sum();
            let distribution = Distribution::Zipfian(ZipfianPlan { exponent });
            assert_follows(distribution, count, |row| weight(row) / sum);
        }
    }
}

/// The exact share of each rank: its own, or what it has of the rest.
fn of_rank(hot: &HotRanks, count: u32) -> Vec<f64> {
    let ranked = hot.shares.len().min(count as usize);
    let sum: f64 = hot.shares[..ranked].iter().sum();
    let weight = |rank: u32| f64::from(rank).powf(-hot.exponent);
    let rest: f64 = (ranked as u32 + 1..=count).map(weight).sum();
    let share = |rank: u32| match hot.shares.get(rank as usize - 1) {
        Some(share) if rest == 0.0 => share / sum,
        Some(share) => *share,
        None => (1.0 - sum) * weight(rank) / rest,
    };
    (1..=count).map(share).collect()
}

#[test]
fn hot_ranks_have_their_shares_and_the_others_the_rest() {
    for (shares, exponent) in [
        (vec![0.2, 0.1, 0.05], 0.8),
        (vec![0.2, 0.1, 0.05], 0.0),
        (vec![0.001; 300], 1.0),
        (vec![], 1.2),
        (vec![0.5, 0.3, 0.2], 0.8),
        (vec![0.02; 40], 0.5),
    ] {
        for count in [2, 3, 4, 30, 3_000] {
            let hot = HotRanks {
                shares: shares.clone(),
                exponent,
                scattered: false,
            };
            let ranks = Ranks::new(&hot, count);
            let exact = of_rank(&hot, count);
            let hits = hits_of(count, |random| ranks.draw(random));
            assert_hits_follow(&format!("{hot:?}"), &hits, |row| exact[row as usize - 1]);
        }
    }
}

#[test]
fn scattered_ranks_are_the_same_on_other_rows() {
    let hot = |scattered| HotRanks {
        shares: vec![0.2, 0.1, 0.05],
        exponent: 0.8,
        scattered,
    };
    let of = |scattered| {
        let ranks = Ranks::new(&hot(scattered), 1_000);
        hits_of(1_000, |random| ranks.draw(random))
    };
    let (mut here, mut there) = (of(false), of(true));
    assert!(
        here[0] > here[1] && here[1] > here[2] && there[0] < there[333],
        "{there:?}"
    );
    here.sort_unstable();
    there.sort_unstable();
    assert_eq!(here, there);
}

#[test]
fn a_single_row_is_always_chosen() {
    for shares in [vec![], vec![0.3], vec![0.3, 0.2]] {
        let hot = HotRanks {
            shares,
            ..HotRanks::default()
        };
        let ranks = Ranks::new(&hot, 1);
        assert!((0..100).all(|n| ranks.draw(&mut keyed(n, 0, 0)) == 1));
    }
}

#[test]
fn a_steep_zipfian_goes_to_its_first_rows() {
    let hits = hits(Distribution::Zipfian(ZipfianPlan { exponent: 3.0 }), 1_000_000);
    let first = f64::from(hits[0]) / f64::from(DRAWS);
    assert!((first - 1.0 / 1.202_056_9).abs() < 0.003, "{first}");
}

fn every() -> [Distribution; 6] {
    [
        Distribution::Uniform {},
        Distribution::Gaussian(Bell::default()),
        Distribution::Special04(HotBand::default()),
        Distribution::Special10(HotBand::default()),
        Distribution::Pareto(Pareto::default()),
        Distribution::Zipfian(ZipfianPlan::default()),
    ]
}

/// How many of 1,000 rows take 50, 90 and 99 % of the accesses, as `plimsoll.analyse.trial.working_set` calculates it: its
/// tests pin the same numbers.
const WORKING_SETS: [(&str, [usize; 3]); 6] = [
    ("uniform", [500, 900, 990]),
    ("gaussian", [114, 275, 423]),
    ("special-0.4", [7, 142, 341]),
    ("special-1.0", [6, 142, 341]),
    ("pareto", [7, 468, 931]),
    ("zipfian", [86, 668, 962]),
];

#[test]
fn the_most_frequent_rows_take_the_share_that_is_told() {
    for (distribution, (name, rows)) in every().into_iter().zip(WORKING_SETS) {
        let mut hits = hits(distribution, 1_000);
        hits.sort_unstable_by(|one, other| other.cmp(one));
        for (count, share) in rows.into_iter().zip([0.5, 0.9, 0.99]) {
            let taken = |count: usize| f64::from(hits[..count].iter().sum::<u32>()) / f64::from(DRAWS);
            // Chance makes some of equally likely rows look more frequent: it adds at most 2.5 % to their share.
            assert!(
                taken(count) > share - 0.002,
                "{name}: {count} rows take {}",
                taken(count)
            );
            assert!(
                taken(count - 1) < share + 0.025,
                "{name}: {count} rows take {}",
                taken(count)
            );
        }
    }
}

proptest! {
    #[test]
    fn every_draw_is_one_of_the_rows(seed in any::<u64>(), count in prop_oneof![1u32..300, 1u32..]) {
        for distribution in every() {
            let row = Rows::new(distribution, count).draw(&mut keyed(seed, 0, 0));
            prop_assert!(row >= 1 && row <= i64::from(count), "{:?} {}", distribution, row);
        }
    }
}

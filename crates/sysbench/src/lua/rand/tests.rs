//! Each way to draw against its formula, with a fixed seed.

use std::collections::HashSet;

use super::*;

const DRAWS: u32 = 200_000;

fn draws() -> Draws {
    Draws::new(Distributions::default(), 42, 1, 0)
}

/// How often each of `from..=to` was drawn.
fn counts(way: Way, from: u32, to: u32) -> Vec<u64> {
    let mut draws = draws();
    let mut counts = vec![0; (to - from + 1) as usize];
    for _ in 0..DRAWS {
        counts[(draws.within(way, from, to) - from) as usize] += 1;
    }
    counts
}

/// Pearson's statistic against these probabilities; with `n` cells its mean is n - 1 and its deviation sqrt(2 (n - 1)).
fn chi_square(counts: &[u64], probability: impl Fn(usize) -> f64) -> f64 {
    let total = counts.iter().sum::<u64>() as f64;
    let cell = |(place, count): (usize, &u64)| {
        let expected = total * probability(place);
        (*count as f64 - expected).powi(2) / expected
    };
    counts.iter().enumerate().map(cell).sum()
}

/// Five deviations above the mean.
#[track_caller]
fn fits(counts: &[u64], probability: impl Fn(usize) -> f64) {
    let freedom = (counts.len() - 1) as f64;
    let statistic = chi_square(counts, probability);
    assert!(
        statistic < freedom + 5.0 * (2.0 * freedom).sqrt(),
        "{statistic} with {freedom} degrees of freedom"
    );
}

fn mean(counts: &[u64]) -> f64 {
    let sum: f64 = counts
        .iter()
        .enumerate()
        .map(|(place, count)| place as f64 * *count as f64)
        .sum();
    sum / f64::from(DRAWS)
}

#[test]
fn uniform_is_even_and_is_the_default() {
    let uniform = counts(Way::Uniform, 5, 104);
    fits(&uniform, |_| 0.01);
    assert_eq!(counts(Way::Default, 5, 104), uniform);
}

#[test]
fn gaussian_is_the_mean_of_twelve() {
    let counts = counts(Way::Gaussian, 1, 1000);
    // The mean of 12 numbers on 1000 values, rounded down, deviates by 1000 / 12.
    assert!((mean(&counts) - 499.5).abs() < 1.0, "{}", mean(&counts));
    let variance: f64 = counts
        .iter()
        .enumerate()
        .map(|(place, count)| (place as f64 - 499.5).powi(2) * *count as f64)
        .sum();
    let deviation = (variance / f64::from(DRAWS)).sqrt();
    assert!((deviation - 1000.0 / 12.0).abs() < 0.5, "{deviation}");
}

#[test]
fn special_hits_a_band_in_the_middle() {
    let counts = counts(Way::Special, 1, 10_000);
    let band: u64 = counts[4_900..5_100].iter().sum();
    let outside: u64 = counts[..4_900].iter().chain(&counts[5_100..]).sum();
    // Three quarters, and of the bell's quarter what lies within 100 of the middle: its deviation is 10,000 / 12.
    assert!((0.76..0.80).contains(&(band as f64 / f64::from(DRAWS))), "{band}");
    assert!(outside > 40_000);
}

#[test]
fn pareto_gives_most_to_the_first_fifth() {
    let counts = counts(Way::Pareto, 0, 99);
    let power = 0.2f64.ln() / 0.8f64.ln();
    let below = |row: f64| (row / 100.0).powf(1.0 / power);
    fits(&counts, |place| below(place as f64 + 1.0) - below(place as f64));
    let first_fifth: u64 = counts[..20].iter().sum();
    assert!((first_fifth as f64 / f64::from(DRAWS) - 0.8).abs() < 0.005);
}

#[test]
fn zipfian_follows_its_exponent() {
    let counts = counts(Way::Zipfian, 10, 59);
    let all: f64 = (1..=50).map(|row| f64::from(row).powf(-0.8)).sum();
    fits(&counts, |place| (place as f64 + 1.0).powf(-0.8) / all);
}

#[test]
fn units_and_bits_are_even() {
    let mut draws = draws();
    let mut cells = vec![0; 100];
    let mut ones = 0;
    for _ in 0..DRAWS {
        cells[(draws.unit() * 100.0) as usize] += 1;
        ones += u64::from(draws.bits().count_ones());
    }
    fits(&cells, |_| 0.01);
    let expected = f64::from(DRAWS) * 32.0;
    assert!((ones as f64 - expected).abs() < 5.0 * (f64::from(DRAWS) * 16.0).sqrt());
}

#[test]
fn texts_are_filled_evenly() {
    let (mut digits, mut letters, mut any) = (vec![0; 10], vec![0; 26], vec![0; 75]);
    let mut draws = draws();
    for _ in 0..DRAWS / 10 {
        let mut text = *b"#-@";
        draws.fill(&mut text);
        assert_eq!(text[1], b'-');
        digits[usize::from(text[0] - b'0')] += 1;
        letters[usize::from(text[2] - b'a')] += 1;
        draws.fill_any(&mut text);
        for byte in text {
            any[usize::from(byte - b'0')] += 1;
        }
    }
    fits(&digits, |_| 0.1);
    fits(&letters, |_| 1.0 / 26.0);
    fits(&any, |_| 1.0 / 75.0);
}

#[test]
fn unique_numbers_do_not_come_twice_and_do_not_follow_each_other() {
    let unique = Unique::default();
    unique.seed(3);
    let drawn: Vec<u32> = (0..1_000_000).map(|_| unique.next()).collect();
    assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), drawn.len());
    let mut tops = vec![0; 64];
    for number in &drawn {
        tops[(number >> 26) as usize] += 1;
    }
    fits(&tops, |_| 1.0 / 64.0);
    let other = Unique::default();
    other.seed(4);
    assert_ne!(other.next(), drawn[0], "another process begins elsewhere");
    let again = Unique::default();
    again.seed(3);
    assert_eq!(again.next(), drawn[0]);
}

#[test]
fn the_permutation_is_one_at_its_ends() {
    let around = |middle: u64| (middle - 1_000..middle + 1_000).filter_map(|number| u32::try_from(number).ok());
    let ends: Vec<u32> = around(PRIME / 2).chain(around(PRIME)).chain(0..2_000).collect();
    let images: HashSet<u32> = ends.iter().map(|number| permute(*number)).collect();
    assert_eq!(images.len(), ends.len());
}

#[test]
fn ranges_that_wrap_are_drawn_from() {
    let mut draws = draws();
    for way in [
        Way::Default,
        Way::Uniform,
        Way::Gaussian,
        Way::Special,
        Way::Pareto,
        Way::Zipfian,
    ] {
        assert_eq!(draws.within(way, 7, 7), 7);
        for _ in 0..1_000 {
            assert!(draws.within(way, u32::MAX - 1, u32::MAX) >= u32::MAX - 1);
            draws.within(way, 9, 3);
            draws.within(way, 1, u32::MAX);
        }
    }
}

#[test]
fn a_range_whose_count_wraps_to_nothing_is_its_first_number_as_in_sysbench() {
    let mut draws = draws();
    for way in [Way::Default, Way::Uniform, Way::Gaussian, Way::Pareto] {
        assert_eq!((draws.within(way, 2, 1), draws.within(way, 0, u32::MAX)), (2, 0));
    }
    let different: HashSet<u32> = (0..100).map(|_| draws.within(Way::Special, 0, u32::MAX)).collect();
    assert!(different.len() > 90, "{different:?}");
}

#[test]
fn threads_and_seeds_have_their_own_numbers() {
    let first = |seed, kind, tid| Draws::new(Distributions::default(), seed, kind, tid).bits();
    let all = [first(1, 1, 0), first(1, 1, 1), first(1, 2, 0), first(2, 1, 0)];
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 4);
    assert_eq!(first(1, 1, 0), all[0]);
}

//! Bursts: a Poisson process whose rate goes back and forth between a high and a low value.
//!
//! A Markov-modulated Poisson process of two states that last equally long on average (exponentially distributed), with
//! rates 1 + a and 1 - a times the mean. Its index of dispersion of counts over long windows is 1 + a² s, s being the mean
//! number of arrivals in one stay in a state (Heffes and Lucantoni, IEEE JSAC 4(6), 1986, equation 15, for equal stays).
//! So a follows from the index and the stay; where it would be above a bound, stays are longer.
//!
//! It is made by changing the clock of a Poisson process, so that the seed's gaps are the same ones with and without
//! bursts. Deliberately not here: gaps, and rates that change over time (`rate`).

use plimsoll_core::plan::RateStepPlan;
use plimsoll_core::random::{keyed, unit};

/// The stream of the lengths of stays, apart from that of the gaps.
const STAYS: u64 = 2 << 32;

/// Rates stay above a twentieth of the mean: a trial in which nothing arrives for long looks like a stall.
const AMPLITUDE_MAX: f64 = 0.95;

/// How strong bursts are, and how long they last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BurstOptions {
    /// Index of dispersion of counts over windows much longer than a stay; 1 is a Poisson process.
    pub(super) dispersion: f64,
    /// Mean number of arrivals in one stay, at the mean rate.
    pub(super) stay_arrivals: f64,
}

impl BurstOptions {
    /// Bursts whose stays last `stay_ms` milliseconds on average, at the highest rate of the steps.
    pub(super) fn at_highest(dispersion: f64, stay_ms: f64, steps: &[RateStepPlan]) -> Self {
        let rates_tps = steps.iter().flat_map(|step| [step.from_tps, step.to_tps]);
        Self {
            dispersion,
            stay_arrivals: (rates_tps.fold(0.0, f64::max) * stay_ms / 1e3).max(1.0),
        }
    }
}

/// The way from the clock of a Poisson process of rate 1 to that of the bursts. It is asked forwards only.
#[derive(Debug)]
pub(super) struct Bursts {
    amplitude: f64,
    stay_arrivals: f64,
    seed: u64,
    index: u64,
    is_high: bool,
    /// Where the present stay begins, on both clocks, and how long it lasts on that of the bursts.
    begin: (f64, f64),
    length: f64,
}

impl Bursts {
    pub(super) fn new(options: BurstOptions, seed: u64) -> Self {
        let excess = (options.dispersion - 1.0).max(0.0);
        let amplitude = (excess / options.stay_arrivals).sqrt().min(AMPLITUDE_MAX);
        let stay_arrivals = options.stay_arrivals.max(excess / (AMPLITUDE_MAX * AMPLITUDE_MAX));
        let mut bursts = Self {
            amplitude,
            stay_arrivals,
            seed,
            index: 0,
            is_high: unit(&mut keyed(seed, STAYS, u64::MAX)) < 0.5,
            begin: (0.0, 0.0),
            length: 0.0,
        };
        bursts.length = bursts.stay(0);
        bursts
    }

    /// When the bursts have had as many arrivals as the Poisson process at `poisson`. It must not be smaller than in the call
    /// before.
    pub(super) fn at(&mut self, poisson: f64) -> f64 {
        loop {
            let rate = if self.is_high {
                1.0 + self.amplitude
            } else {
                1.0 - self.amplitude
            };
            let (begin_poisson, begin) = self.begin;
            if poisson < begin_poisson + rate * self.length {
                return begin + (poisson - begin_poisson) / rate;
            }
            self.begin = (begin_poisson + rate * self.length, begin + self.length);
            self.is_high = !self.is_high;
            self.index += 1;
            self.length = self.stay(self.index);
        }
    }

    fn stay(&self, index: u64) -> f64 {
        -self.stay_arrivals * (1.0 - unit(&mut keyed(self.seed, STAYS, index))).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAPS: u64 = 9;

    /// Index of dispersion of counts in windows of so many arrivals, and the mean count over what it should be.
    fn measured(dispersion: f64, stay_arrivals: f64, window: f64, windows: usize) -> (f64, f64) {
        let options = BurstOptions {
            dispersion,
            stay_arrivals,
        };
        let mut bursts = Bursts::new(options, 5);
        let (mut counts, mut poisson, mut index) = (vec![0.0; windows], 0.0, 0);
        loop {
            poisson -= (1.0 - unit(&mut keyed(5, GAPS, index))).ln();
            index += 1;
            let place = (bursts.at(poisson) / window) as usize;
            if place >= windows {
                break;
            }
            counts[place] += 1.0;
        }
        let mean = counts.iter().sum::<f64>() / windows as f64;
        let variance = counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / (windows as f64 - 1.0);
        (variance / mean, mean / window)
    }

    #[test]
    fn the_index_of_dispersion_is_the_one_that_was_asked_for() {
        // Windows of 30 stays: 2 % below the limit over long windows. The index of 1,500 windows has an error of 4 %.
        for (dispersion, stay_arrivals) in [(40.0, 60.0), (4.0, 10.0), (40.0, 5.0)] {
            let window = 30.0 * f64::max(stay_arrivals, dispersion);
            let (found, mean) = measured(dispersion, stay_arrivals, window, 1_500);
            assert!((found / dispersion - 1.0).abs() < 0.12, "{found} for {dispersion}");
            assert!((mean - 1.0).abs() < 0.02, "{mean}");
        }
    }

    #[test]
    fn one_is_a_poisson_process_on_the_same_clock() {
        let options = BurstOptions {
            dispersion: 1.0,
            stay_arrivals: 10.0,
        };
        let mut bursts = Bursts::new(options, 5);
        assert!((0..10_000).all(|n| (bursts.at(f64::from(n)) - f64::from(n)).abs() < 1e-6));
    }

    #[test]
    fn the_same_seed_has_the_same_bursts_and_they_never_go_back() {
        let run = |seed| {
            let options = BurstOptions {
                dispersion: 40.0,
                stay_arrivals: 20.0,
            };
            let mut bursts = Bursts::new(options, seed);
            (0..1_000).map(|n| bursts.at(f64::from(n))).collect::<Vec<_>>()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        assert!(run(1).windows(2).all(|pair| pair[0] < pair[1]));
    }
}

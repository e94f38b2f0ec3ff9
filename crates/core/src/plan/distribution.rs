//! How rows are chosen out of 1..=n, with the parameters of each way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How rows are chosen out of 1..=n. Names and defaults are sysbench's; the formulas stand where they are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", deny_unknown_fields)]
pub enum Distribution {
    /// Each row equally likely.
    #[serde(rename = "uniform")]
    Uniform {},
    /// A bell over all rows: the mean of several uniform numbers.
    #[serde(rename = "gaussian")]
    Gaussian(Bell),
    /// `special` as sysbench 0.4 has it: a band in the middle of the rows takes most accesses, a bell the others.
    #[serde(rename = "special-0.4")]
    Special04(HotBand),
    /// `special` as sysbench 1.0 has it, which hits only the upper part of the band.
    #[serde(rename = "special-1.0")]
    Special10(HotBand),
    /// A power law: the share 1 - `h` of the accesses goes to the share `h` of the rows, the first ones.
    #[serde(rename = "pareto")]
    Pareto(Pareto),
    /// Row r is chosen in proportion to 1 / r^`exponent`.
    #[serde(rename = "zipfian")]
    Zipfian(Zipfian),
}

/// How values are chosen out of 1..=n.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ValueDistribution {
    /// As rows of tables are.
    Rows(Distribution),
    /// The most frequent ones have shares of their own.
    Ranked(RankedDistribution),
}

/// How values are chosen by their rank, the most frequent first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", deny_unknown_fields)]
pub enum RankedDistribution {
    /// The first ranks have a share of the choices each, the others follow a power law.
    #[serde(rename = "hot")]
    Hot(HotRanks),
}

/// Parameters of `hot`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HotRanks {
    /// The share of the choices that rank 1, 2, … has: falling or equal, at most 1,000, with a sum of at most 1.
    pub shares: Vec<f64>,
    /// The other ranks r share the rest in proportion to 1 / r^`exponent`; 0 (each the same) to 10.
    pub exponent: f64,
    /// Neighbouring ranks are far apart; otherwise rank 1 is the first.
    pub scattered: bool,
}

impl Default for HotRanks {
    fn default() -> Self {
        Self {
            shares: Vec::new(),
            exponent: 0.0,
            scattered: true,
        }
    }
}

impl Default for ValueDistribution {
    fn default() -> Self {
        Self::Rows(Distribution::default())
    }
}

impl ValueDistribution {
    /// Whether each is equally likely.
    pub fn is_uniform(&self) -> bool {
        *self == Self::default()
    }

    /// What is wrong with the parameters, each fault with the value and the cure.
    pub fn faults(&self) -> Vec<String> {
        let hot = match self {
            Self::Rows(rows) => return rows.faults(),
            Self::Ranked(RankedDistribution::Hot(hot)) => hot,
        };
        let mut faults = Vec::new();
        let (count, sum) = (hot.shares.len(), hot.shares.iter().sum::<f64>());
        let falls = hot.shares.is_sorted_by(|one, next| one >= next) && hot.shares.iter().all(|one| *one > 0.0);
        if !falls || count > SHARES_MAX || sum > 1.0 + ROUNDING {
            faults.push(format!(
                "shares: must be at most {SHARES_MAX} above 0, falling or equal, with a sum of at most 1, are {count} \
                 with a sum of {sum}"
            ));
        }
        if !(0.0..=EXPONENT_MAX).contains(&hot.exponent) {
            let exponent = hot.exponent;
            faults.push(format!("exponent: must be within 0..={EXPONENT_MAX}, is {exponent}"));
        }
        faults
    }
}

/// Parameters of `gaussian`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bell {
    /// How many uniform numbers are averaged, 1 to 1,000 (sysbench: rand-spec-iter).
    pub draws: u32,
}

impl Default for Bell {
    fn default() -> Self {
        Self { draws: 12 }
    }
}

/// Parameters of `special`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HotBand {
    /// The share of the rows that is hot, percent, 1 to 100 (sysbench: rand-spec-pct).
    pub hot_rows_percent: u32,
    /// The share of the accesses that is meant for them, percent, 0 to 99 (sysbench: rand-spec-res).
    pub hot_accesses_percent: u32,
    /// How many uniform numbers are averaged for the other accesses, 1 to 1,000 (sysbench: rand-spec-iter).
    pub draws: u32,
}

impl Default for HotBand {
    fn default() -> Self {
        Self {
            hot_rows_percent: 1,
            hot_accesses_percent: 75,
            draws: 12,
        }
    }
}

/// Parameters of `pareto`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pareto {
    /// Above 0 and below 1 (sysbench: rand-pareto-h).
    pub h: f64,
}

impl Default for Pareto {
    fn default() -> Self {
        Self { h: 0.2 }
    }
}

/// Parameters of `zipfian`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Zipfian {
    /// 0 (uniform) to 10 (sysbench 1.1: rand-zipfian-exp).
    pub exponent: f64,
}

impl Default for Zipfian {
    fn default() -> Self {
        Self { exponent: 0.8 }
    }
}

impl Default for Distribution {
    fn default() -> Self {
        Self::Uniform {}
    }
}

impl Distribution {
    /// What is wrong with the parameters, each fault with the value and the cure.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut within = |name: &str, value: u32, (least, most): (u32, u32)| {
            if !(least..=most).contains(&value) {
                faults.push(format!("{name}: must be within {least}..={most}, is {value}"));
            }
        };
        match *self {
            Self::Uniform {} => {}
            Self::Gaussian(bell) => within("draws", bell.draws, DRAWS),
            Self::Special04(band) | Self::Special10(band) => {
                within("hot_rows_percent", band.hot_rows_percent, (1, 100));
                within("hot_accesses_percent", band.hot_accesses_percent, (0, 99));
                within("draws", band.draws, DRAWS);
            }
            Self::Pareto(Pareto { h }) => {
                if !(h > 0.0 && h < 1.0) {
                    faults.push(format!("h: must be above 0 and below 1, is {h}"));
                }
            }
            Self::Zipfian(Zipfian { exponent }) => {
                if !(0.0..=EXPONENT_MAX).contains(&exponent) {
                    faults.push(format!("exponent: must be within 0..={EXPONENT_MAX}, is {exponent}"));
                }
            }
        }
        faults
    }
}

const DRAWS: (u32, u32) = (1, 1_000);
const EXPONENT_MAX: f64 = 10.0;
const SHARES_MAX: usize = 1_000;
/// A sum of shares may be above 1 by so much.
const ROUNDING: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Distribution, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn parameters_have_defaults_and_unknown_ones_are_refused() {
        assert_eq!(
            read(r#"{"kind":"zipfian"}"#).unwrap(),
            Distribution::Zipfian(Zipfian { exponent: 0.8 })
        );
        let band = HotBand {
            hot_rows_percent: 5,
            ..HotBand::default()
        };
        assert_eq!(
            read(r#"{"kind":"special-0.4","hot_rows_percent":5}"#).unwrap(),
            Distribution::Special04(band)
        );
        assert!(read(r#"{"kind":"pareto","exponent":1}"#).is_err());
    }

    #[test]
    fn parameters_that_mean_nothing_are_faults() {
        let band = HotBand {
            hot_rows_percent: 0,
            hot_accesses_percent: 100,
            draws: 0,
        };
        assert_eq!(Distribution::Special10(band).faults().len(), 3);
        assert_eq!(Distribution::Pareto(Pareto { h: f64::NAN }).faults().len(), 1);
        assert_eq!(Distribution::Zipfian(Zipfian { exponent: -1.0 }).faults().len(), 1);
        assert!(Distribution::Gaussian(Bell::default()).faults().is_empty());
    }

    #[test]
    fn ranked_values_are_read_and_written_as_the_others() {
        let read = |text: &str| serde_json::from_str::<ValueDistribution>(text);
        for text in [
            r#"{"kind":"uniform"}"#,
            r#"{"kind":"zipfian","exponent":0.9}"#,
            r#"{"kind":"hot","shares":[0.2,0.1],"exponent":0.8,"scattered":false}"#,
        ] {
            assert_eq!(serde_json::to_string(&read(text).unwrap()).unwrap(), text);
        }
        assert_eq!(
            read(r#"{"kind":"hot"}"#).unwrap(),
            ValueDistribution::Ranked(RankedDistribution::Hot(HotRanks::default()))
        );
        for text in [
            r#"{"kind":"hot","h":0.2}"#,
            r#"{"kind":"cold"}"#,
            r#"{"kind":"uniform","shares":[]}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shares_fall_and_are_no_more_than_all() {
        let faults = |shares: Vec<f64>| {
            let hot = HotRanks {
                shares,
                ..HotRanks::default()
            };
            ValueDistribution::Ranked(RankedDistribution::Hot(hot)).faults()
        };
        assert!(faults(vec![0.5, 0.5]).is_empty() && faults(vec![]).is_empty());
        for wrong in [vec![0.1, 0.2], vec![0.6, 0.5], vec![0.1, 0.0], vec![0.0005; 1_001]] {
            assert_eq!(faults(wrong.clone()).len(), 1, "{wrong:?}");
        }
    }
}

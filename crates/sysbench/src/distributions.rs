//! How random numbers are distributed: `--rand-type`, and the parameters of all distributions.
//!
//! Deliberately not here: drawing, and the options of 0.4, which have names of their own (`oltp04`).

use plimsoll_core::plan::{Bell, Distribution, HotBand, Pareto, Zipfian};

use crate::options::{Options, Value};

/// The parameters of all distributions, and which of them is the default.
#[derive(Clone, Copy, Debug)]
pub struct Distributions {
    /// As `--rand-type` says.
    pub default: Distribution,
    /// Parameters of a bell.
    pub gaussian: Bell,
    /// Parameters of a hot band in the middle.
    pub special: HotBand,
    /// Parameters of a power law.
    pub pareto: Pareto,
    /// Parameters of Zipf's law.
    pub zipfian: Zipfian,
}

impl Distributions {
    /// All of them, for who may draw from any; what nobody declared has sysbench's defaults, and so has what makes no sense
    /// for a distribution that is not the default, with a word about it.
    ///
    /// # Errors
    /// When there is no such distribution, or a parameter of the default one makes no sense.
    pub fn all(options: &Options) -> Result<(Self, Vec<String>), String> {
        let mut all = Self::read(options)?;
        check(&[all.default])?;
        let mut doubts = Vec::new();
        let mut is_senseless = |distribution, name: &str| {
            let fault = check(&[distribution]).err();
            doubts.extend(
                fault
                    .iter()
                    .map(|fault| format!("{fault}; sysbench.rand.{name}() draws with the defaults")),
            );
            fault.is_some()
        };
        if is_senseless(Distribution::Gaussian(all.gaussian), "gaussian") {
            all.gaussian = Bell::default();
        }
        if is_senseless(Distribution::Special10(all.special), "special") {
            all.special = HotBand::default();
        }
        if is_senseless(Distribution::Pareto(all.pareto), "pareto") {
            all.pareto = Pareto::default();
        }
        if is_senseless(Distribution::Zipfian(all.zipfian), "zipfian") {
            all.zipfian = Zipfian::default();
        }
        Ok((all, doubts))
    }

    /// The one that `--rand-type` names.
    ///
    /// # Errors
    /// When there is no such distribution, or a parameter of it makes no sense.
    pub fn chosen(options: &Options) -> Result<Distribution, String> {
        let chosen = Self::read(options)?.default;
        check(&[chosen])?;
        Ok(chosen)
    }

    fn read(options: &Options) -> Result<Self, String> {
        let band = HotBand::default();
        let draws = whole(options, "rand-spec-iter", band.draws)?;
        let mut all = Self {
            default: Distribution::Uniform {},
            gaussian: Bell { draws },
            special: HotBand {
                hot_rows_percent: whole(options, "rand-spec-pct", band.hot_rows_percent)?,
                hot_accesses_percent: whole(options, "rand-spec-res", band.hot_accesses_percent)?,
                draws,
            },
            pareto: Pareto {
                h: number(options, "rand-pareto-h", Pareto::default().h),
            },
            zipfian: Zipfian {
                exponent: number(options, "rand-zipfian-exp", Zipfian::default().exponent),
            },
        };
        let name = match options.get("rand-type") {
            Some(Value::String(name)) => name.as_str(),
            _ => "uniform",
        };
        let known = all.named(name);
        all.default = known.ok_or_else(|| format!("Invalid random numbers distribution: {name}."))?;
        Ok(all)
    }

    fn named(&self, name: &str) -> Option<Distribution> {
        Some(match name {
            "uniform" => Distribution::Uniform {},
            "gaussian" => Distribution::Gaussian(self.gaussian),
            "special" => Distribution::Special10(self.special),
            "pareto" => Distribution::Pareto(self.pareto),
            "zipfian" => Distribution::Zipfian(self.zipfian),
            _ => return None,
        })
    }
}

impl Default for Distributions {
    fn default() -> Self {
        Self::all(&Options::default()).expect("the defaults make sense").0
    }
}

fn check(distributions: &[Distribution]) -> Result<(), String> {
    let faults: Vec<_> = distributions.iter().flat_map(Distribution::faults).collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!("Invalid parameters of random numbers: {}", faults.join("; ")))
}

fn whole(options: &Options, name: &str, default: u32) -> Result<u32, String> {
    match options.get(name) {
        Some(Value::Int(value)) => u32::try_from(*value).map_err(|_| format!("Invalid value for --{name}: {value}")),
        _ => Ok(default),
    }
}

fn number(options: &Options, name: &str, default: f64) -> f64 {
    match options.get(name) {
        Some(Value::Double(value)) => *value,
        _ => default,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(name: &str, value: Value) -> Options {
        let mut options = Options::default();
        options.set(name, value);
        options
    }

    fn text(text: &str) -> Value {
        Value::String(text.to_owned())
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let fault = |name: &str, value| Distributions::all(&options(name, value)).unwrap_err();
        assert_eq!(
            fault("rand-type", text("even")),
            "Invalid random numbers distribution: even."
        );
        assert_eq!(
            fault("rand-spec-iter", Value::Int(-1)),
            "Invalid value for --rand-spec-iter: -1"
        );
        for (kind, name, value, expected) in [
            ("special", "rand-spec-pct", Value::Int(0), "hot_rows_percent: must be"),
            ("pareto", "rand-pareto-h", Value::Double(2.0), "h: must be"),
            ("zipfian", "rand-zipfian-exp", Value::Double(-1.0), "exponent: must be"),
        ] {
            let mut chosen = options(name, value.clone());
            chosen.set("rand-type", text(kind));
            assert!(Distributions::all(&chosen).unwrap_err().contains(expected), "{name}");
            let (_, doubts) = Distributions::all(&options(name, value)).unwrap();
            assert!(doubts[0].contains(expected) && doubts[0].contains(kind), "{doubts:?}");
        }
    }

    #[test]
    fn who_draws_from_one_needs_sound_parameters_of_that_one() {
        let mut options = options("rand-pareto-h", Value::Double(2.0));
        assert_eq!(Distributions::chosen(&options), Ok(Distribution::Uniform {}));
        options.set("rand-type", text("pareto"));
        assert!(Distributions::chosen(&options).unwrap_err().contains("h: must be"));
    }
}

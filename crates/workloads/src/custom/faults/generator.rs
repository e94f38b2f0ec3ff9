//! What is wrong with a generator.

use plimsoll_core::plan::{Generator, TemplatePart, ValueDistribution};

/// The longest random string, characters.
const LENGTH_MAX: u32 = 65_535;
/// Most values of a choice, and pieces of a template.
const PARTS_MAX: usize = 10_000;
/// Most digits after a point.
const SCALE_MAX: u32 = 18;
/// The years 0 to 9999, microseconds since 1970.
const TIME_US: std::ops::RangeInclusive<i128> = -62_167_219_200_000_000..=253_402_300_799_999_999;

/// Faults of a generator, each behind the name of its field. `rows` is how many rows are made from it; without, it makes
/// values of parameters, which have no number to follow.
pub fn faults(generator: &Generator, null_ratio: f64, rows: Option<u64>) -> Vec<String> {
    let mut faults = Vec::new();
    if !(0.0..=1.0).contains(&null_ratio) {
        faults.push(format!("null_ratio: must be within 0..=1, is {null_ratio}"));
    }
    faults.extend(fault(generator, rows));
    faults
}

fn fault(generator: &Generator, rows: Option<u64>) -> Option<String> {
    match generator {
        Generator::Sequence {
            first,
            step,
            each,
            cycle,
        } => followed("sequence", rows, |count| {
            if *each == 0 || *cycle == Some(0) {
                return Some(format!("each, cycle: must be at least 1, are {each} and {cycle:?}"));
            }
            whole(*first, *step, count.div_ceil(*each).min(cycle.unwrap_or(u64::MAX)))
        }),
        Generator::TimestampSequence { first_us, step_us } => {
            followed("timestamp_sequence", rows, |count| in_time(*first_us, *step_us, count))
        }
        Generator::Integer {
            first,
            step,
            count,
            distribution,
        } => counted(*count, distribution).or_else(|| whole(*first, *step, *count)),
        Generator::Decimal {
            first,
            count,
            scale,
            distribution,
        } => counted(*count, distribution)
            .or_else(|| whole(*first, 1, *count))
            .or_else(|| (*scale > SCALE_MAX).then(|| format!("scale: must be at most {SCALE_MAX}, is {scale}"))),
        Generator::Timestamp {
            first_us,
            step_us,
            count,
            distribution,
        } => counted(*count, distribution).or_else(|| in_time(*first_us, *step_us, *count)),
        Generator::Characters {
            length_min, length_max, ..
        } => (length_min > length_max || *length_max > LENGTH_MAX)
            .then(|| format!("length_max: must rise within 0..={LENGTH_MAX}, is {length_min} to {length_max}")),
        Generator::Template { parts } => template(parts, rows),
        Generator::Choice { values, weights } => choice(values.len(), weights),
    }
}

fn followed(kind: &str, rows: Option<u64>, check: impl Fn(u64) -> Option<String>) -> Option<String> {
    match rows {
        Some(count) => check(count),
        None => Some(format!(
            "kind: {kind} follows the number of a row, which a parameter has not"
        )),
    }
}

pub fn counted(count: u64, distribution: &ValueDistribution) -> Option<String> {
    let last = if distribution.is_uniform() {
        i64::MAX as u64
    } else {
        u64::from(u32::MAX)
    };
    if !(1..=last).contains(&count) {
        return Some(format!("count: must be within 1..={last}, is {count}"));
    }
    let fault = distribution.faults().into_iter().next();
    fault.map(|fault| format!("distribution.{fault}"))
}

/// Whether `first`, `first + step`, … are 64-bit integers.
fn whole(first: i64, step: i64, count: u64) -> Option<String> {
    let last = i128::from(first) + i128::from(step) * i128::from(count.saturating_sub(1));
    i64::try_from(last)
        .is_err()
        .then(|| format!("step: leads to {last}, which is no 64-bit integer"))
}

fn in_time(first: i64, step: i64, count: u64) -> Option<String> {
    let last = i128::from(first) + i128::from(step) * i128::from(count.saturating_sub(1));
    let outside = [i128::from(first), last].into_iter().any(|one| !TIME_US.contains(&one));
    outside.then(|| format!("step_us: leads from {first} to {last}, outside of the years 0 to 9999"))
}

fn template(parts: &[TemplatePart], rows: Option<u64>) -> Option<String> {
    if parts.len() > PARTS_MAX {
        return Some(format!("parts: must be at most {PARTS_MAX}, are {}", parts.len()));
    }
    parts.iter().enumerate().find_map(|(index, part)| match part {
        TemplatePart::Text(_) => None,
        TemplatePart::Generated(Generator::Template { .. }) => Some(format!("parts[{index}]: is a template itself")),
        TemplatePart::Generated(generator) => fault(generator, rows).map(|one| format!("parts[{index}].{one}")),
    })
}

fn choice(values: usize, weights: &[f64]) -> Option<String> {
    if !(1..=PARTS_MAX).contains(&values) {
        return Some(format!("values: must be within 1..={PARTS_MAX}, are {values}"));
    }
    let total: f64 = weights.iter().sum();
    let fit = weights.len() == values && weights.iter().all(|one| *one >= 0.0) && total.is_finite() && total > 0.0;
    (!fit).then(|| format!("weights: must be one for each of {values} values, 0 or more, and not all 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(json: &str, rows: Option<u64>) -> Vec<String> {
        faults(&serde_json::from_str(json).unwrap(), 0.0, rows)
    }

    #[test]
    fn what_cannot_be_made_is_told() {
        let cases = [
            (
                r#"{"kind":"sequence","first":1,"step":1}"#,
                None,
                "follows the number of a row",
            ),
            (
                r#"{"kind":"sequence","first":9223372036854775807,"step":1}"#,
                Some(2),
                "no 64-bit integer",
            ),
            (
                r#"{"kind":"sequence","first":1,"step":1,"each":0}"#,
                Some(2),
                "each, cycle: must be at least 1",
            ),
            (
                r#"{"kind":"sequence","first":9223372036854775806,"step":1,"each":2}"#,
                Some(5),
                "no 64-bit integer",
            ),
            (
                r#"{"kind":"integer","first":0,"step":1,"count":4294967296,"distribution":{"kind": "special-1.0"}}"#,
                None,
                "count: must be within 1..=4294967295",
            ),
            (
                r#"{"kind":"decimal","first":0,"count":1,"scale":19,"distribution":{"kind": "uniform"}}"#,
                None,
                "scale: must be at most 18",
            ),
            (
                r#"{"kind":"timestamp","first_us":0,"step_us":9000000000000000000,"count":2,"distribution":{"kind": "uniform"}}"#,
                None,
                "outside of the years",
            ),
            (
                r#"{"kind":"characters","alphabet":"digits","length_min":2,"length_max":1}"#,
                None,
                "length_max: must rise",
            ),
            (
                r#"{"kind":"choice","values":[],"weights":[]}"#,
                None,
                "values: must be within",
            ),
            (
                r#"{"kind":"choice","values":[1,2],"weights":[1]}"#,
                None,
                "weights: must be one for each",
            ),
            (r#"{"kind":"choice","values":[1],"weights":[0]}"#, None, "not all 0"),
            (
                r#"{"kind":"template","parts":[{"generated":{"kind":"template","parts":[]}}]}"#,
                None,
                "parts[0]: is a template itself",
            ),
        ];
        for (json, rows, expected) in cases {
            let found = found(json, rows);
            assert!(found.len() == 1 && found[0].contains(expected), "{expected}: {found:?}");
        }
    }

    #[test]
    fn the_ends_of_what_can_be_made_are_allowed() {
        for (json, rows) in [
            (r#"{"kind":"sequence","first":9223372036854775806,"step":1}"#, 2),
            (
                r#"{"kind":"timestamp_sequence","first_us":-62167219200000000,"step_us":1}"#,
                1,
            ),
            (r#"{"kind":"sequence","first":1,"step":1}"#, 0),
            (
                r#"{"kind":"sequence","first":9223372036854775806,"step":1,"cycle":2}"#,
                5,
            ),
            (
                r#"{"kind":"sequence","first":9223372036854775806,"step":1,"each":2}"#,
                4,
            ),
        ] {
            assert_eq!(found(json, Some(rows)), Vec::<String>::new());
        }
    }
}

//! Whole numbers that are drawn: how often something runs, how many of something there are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A whole number that is drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CountPlan {
    /// Each number from `min` to `max` is equally likely; nothing is drawn where they are the same.
    Range {
        /// The smallest.
        min: u32,
        /// The largest.
        max: u32,
    },
    /// One of a few numbers by weight.
    Weighted {
        /// The numbers, rising.
        counts: Vec<u32>,
        /// How often each is drawn, relative to the others.
        weights: Vec<f64>,
    },
}

impl CountPlan {
    /// How many numbers it may give.
    pub fn choices(&self) -> u64 {
        match self {
            Self::Range { min, max } => (u64::from(*max) + 1).saturating_sub(u64::from(*min)),
            Self::Weighted { counts, .. } => counts.len() as u64,
        }
    }

    /// The number at a position, of those without faults.
    pub fn at(&self, position: usize) -> u32 {
        match self {
            Self::Range { min, .. } => min + position as u32,
            Self::Weighted { counts, .. } => counts[position],
        }
    }

    /// All numbers that it may give, of those without faults.
    pub fn numbers(&self) -> Vec<u32> {
        (0..self.choices() as usize).map(|position| self.at(position)).collect()
    }

    /// What is wrong with it, where its numbers must lie within `least..=most`.
    pub fn fault(&self, least: u32, most: u32) -> Option<String> {
        let is_rising = match self {
            Self::Range { min, max } => min <= max,
            Self::Weighted { counts, .. } => counts.is_sorted_by(|one, next| one < next),
        };
        let is_within = match self {
            Self::Range { min, max } => least <= *min && *max <= most,
            Self::Weighted { counts, .. } => counts.iter().all(|one| (least..=most).contains(one)),
        };
        if !is_rising || !is_within || self.choices() == 0 {
            return Some(format!("must rise within {least}..={most}, is {self:?}"));
        }
        let Self::Weighted { counts, weights } = self else {
            return None;
        };
        let total: f64 = weights.iter().sum();
        let fit =
            weights.len() == counts.len() && weights.iter().all(|one| *one >= 0.0) && total.is_finite() && total > 0.0;
        (!fit).then(|| {
            format!(
                "weights: must be one for each of {} counts, 0 or more, and not all 0",
                counts.len()
            )
        })
    }
}

impl Default for CountPlan {
    fn default() -> Self {
        Self::Range { min: 1, max: 1 }
    }
}

/// How often something runs, or how many rows or items there are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TimesPlan {
    /// A number that is drawn.
    Drawn(CountPlan),
    /// As many as a list of the transaction has items.
    Items(ItemsPlan),
}

/// The number of items of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemsPlan {
    /// The list.
    pub items_of: String,
}

impl Default for TimesPlan {
    fn default() -> Self {
        Self::Drawn(CountPlan::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(json: &str) -> String {
        let plan: CountPlan = serde_json::from_str(json).unwrap();
        plan.fault(1, 9).unwrap_or_default()
    }

    #[test]
    fn times_are_drawn_or_those_of_a_list() {
        let read = |json: &str| serde_json::from_str::<TimesPlan>(json);
        let drawn = CountPlan::Range { min: 1, max: 9 };
        assert_eq!(read(r#"{"range":{"min":1,"max":9}}"#).unwrap(), TimesPlan::Drawn(drawn));
        let items_of = "ids".to_owned();
        assert_eq!(
            read(r#"{"items_of":"ids"}"#).unwrap(),
            TimesPlan::Items(ItemsPlan { items_of })
        );
        assert!(read(r#"{"items_of":"ids","range":{"min":1,"max":9}}"#).is_err());
    }

    #[test]
    fn numbers_rise_within_their_limits_and_have_a_weight_each() {
        assert_eq!(fault(r#"{"range":{"min":1,"max":9}}"#), "");
        assert_eq!(fault(r#"{"weighted":{"counts":[2,5],"weights":[0,1]}}"#), "");
        for json in [
            r#"{"range":{"min":3,"max":2}}"#,
            r#"{"range":{"min":0,"max":2}}"#,
            r#"{"range":{"min":1,"max":10}}"#,
            r#"{"weighted":{"counts":[],"weights":[]}}"#,
            r#"{"weighted":{"counts":[2,2],"weights":[1,1]}}"#,
            r#"{"weighted":{"counts":[2,10],"weights":[1,1]}}"#,
        ] {
            assert!(fault(json).starts_with("must rise within 1..=9, is "), "{json}");
        }
        for json in [
            r#"{"weighted":{"counts":[2,3],"weights":[1]}}"#,
            r#"{"weighted":{"counts":[2,3],"weights":[0,0]}}"#,
            r#"{"weighted":{"counts":[2,3],"weights":[-1,2]}}"#,
        ] {
            assert!(fault(json).starts_with("weights: must be one for each of 2"), "{json}");
        }
    }
}

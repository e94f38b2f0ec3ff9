//! Where the consistency conditions of clause 3.3.2 do not hold, and how that is told.

use std::fmt::Write as _;

/// Conditions by their number, from 1.
pub const CONDITIONS: [&str; 12] = [
    "w_ytd = sum(d_ytd)",
    "d_next_o_id - 1 = max(o_id) = max(no_o_id)",
    "max(no_o_id) - min(no_o_id) + 1 = number of new orders",
    "sum(o_ol_cnt) = number of order lines",
    "o_carrier_id is null if and only if the order is among the new ones",
    "o_ol_cnt = number of lines of the order",
    "ol_delivery_d is null if and only if o_carrier_id is null",
    "w_ytd = sum(h_amount)",
    "d_ytd = sum(h_amount)",
    "c_balance = sum(ol_amount) of what was delivered - sum(h_amount)",
    "number of orders - number of new orders = 2100, as loaded",
    "c_balance + c_ytd_payment = sum(ol_amount) of what was delivered",
];

/// Places of a condition that are told; of more there is only a number.
const TOLD_MAX: usize = 3;

/// Where conditions do not hold.
#[derive(Debug, Default)]
pub struct Findings {
    pub conditions: [Broken; CONDITIONS.len()],
}

/// Where one condition does not hold.
#[derive(Debug, Default)]
pub struct Broken {
    /// At how many places.
    pub count: u64,
    told: Vec<String>,
}

impl Findings {
    /// A condition, by its number, does not hold at a place.
    pub fn add(&mut self, condition: usize, place: impl FnOnce() -> String) {
        let broken = &mut self.conditions[condition - 1];
        broken.count += 1;
        if broken.told.len() < TOLD_MAX {
            broken.told.push(place());
        }
    }

    /// Takes those of another part of the tables in.
    pub fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.conditions.iter_mut().zip(other.conditions) {
            mine.count += theirs.count;
            let room = TOLD_MAX - mine.told.len();
            mine.told.extend(theirs.told.into_iter().take(room));
        }
    }

    /// What does not hold, condition by condition; `None` when all do.
    pub fn told(&self) -> Option<String> {
        let mut text = String::new();
        for (number, (broken, meaning)) in self.conditions.iter().zip(CONDITIONS).enumerate() {
            if broken.count == 0 {
                continue;
            }
            let before = if text.is_empty() { "" } else { "; " };
            let (condition, places) = (number + 1, broken.told.join(", "));
            let _ = write!(
                text,
                "{before}consistency condition {condition} ({meaning}) does not hold: {places}"
            );
            if broken.count > broken.told.len() as u64 {
                let _ = write!(text, " and at {} more places", broken.count - broken.told.len() as u64);
            }
        }
        (!text.is_empty()).then_some(text)
    }
}

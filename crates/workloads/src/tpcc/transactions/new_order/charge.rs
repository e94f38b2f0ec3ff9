//! What a line of a New-Order costs.

use crate::tpcc::deviations::{Cents, Deviations};

/// What makes the amount of a line out of a price and a quantity.
#[derive(Clone, Copy)]
pub struct Charge {
    /// With tax and without discount, where lines are so.
    factor: f64,
    cents: Cents,
}

impl Charge {
    /// Of an order with these taxes and this discount, as ratios.
    pub fn new(deviations: &Deviations, taxes: f64, discount: f64) -> Self {
        let factor = if deviations.taxes_lines {
            (1.0 + taxes) * (1.0 - discount)
        } else {
            1.0
        };
        Self {
            factor,
            cents: deviations.line_amounts,
        }
    }

    /// In hundredths.
    pub fn amount(&self, price: i64, quantity: u32) -> i64 {
        let exact = (price * i64::from(quantity)) as f64 * self.factor;
        match self.cents {
            Cents::Kept => exact.round() as i64,
            Cents::CutOff => (exact / 100.0) as i64 * 100,
            Cents::Rounded => (exact / 100.0).round() as i64 * 100,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::plan::TpccKit;

    #[test]
    fn amounts_are_those_of_each_kit() {
        let amount = |kit| Charge::new(&Deviations::of(kit), 0.25, 0.1).amount(1_099, 3);
        let kits = [
            None,
            Some(TpccKit::GoTpc),
            Some(TpccKit::SysbenchTpcc),
            Some(TpccKit::Dbt2),
            Some(TpccKit::TpccMysql),
        ];
        assert_eq!(kits.map(amount), [3_297, 3_709, 3_700, 3_300, 3_297]);
    }
}

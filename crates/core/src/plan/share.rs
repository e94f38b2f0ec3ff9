//! The part of a trial that one engine drives.

use schemars::JsonSchema;
use serde::Deserialize;

/// Which part of a trial this engine drives. Several engines drive one trial together when each is given the same plan, which
/// is that of the whole, and a share of its own: connections, users and arrivals are numbered over all of them, and each
/// engine takes every `count`-th number from `index` on. So all together do what one engine would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// 0, 1, … below `count`.
    pub index: u32,
    /// How many engines there are.
    pub count: u32,
}

impl Default for Share {
    fn default() -> Self {
        Self { index: 0, count: 1 }
    }
}

impl Share {
    /// How many of so many belong to this share.
    pub fn of(self, total: u64) -> u64 {
        let (index, count) = (u64::from(self.index), u64::from(self.count));
        total.saturating_sub(index).div_ceil(count)
    }

    /// The number, among all, of the one that is number `own` in this share.
    pub fn number(self, own: u32) -> u32 {
        self.index + own * self.count
    }

    /// Whether a number belongs to this share.
    pub fn has(self, number: u64) -> bool {
        number % u64::from(self.count) == u64::from(self.index)
    }
}

/// The connections of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connections {
    /// Of all engines together.
    pub total: u32,
    /// Which of them this engine opens.
    pub share: Share,
}

impl Connections {
    /// How many this engine opens.
    pub fn own(self) -> u32 {
        self.share.of(self.total.into()) as u32 // of a number of 32 bits it is no more
    }
}

impl From<u32> for Connections {
    fn from(total: u32) -> Self {
        Self {
            total,
            share: Share::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_divide_all_numbers_without_one_left_or_twice() {
        for count in 1..7 {
            for total in 0..40_u32 {
                let mut numbers = Vec::new();
                for index in 0..count {
                    let connections = Connections {
                        total,
                        share: Share { index, count },
                    };
                    let own: Vec<u32> = (0..connections.own())
                        .map(|own| connections.share.number(own))
                        .collect();
                    assert!(own.iter().all(|number| connections.share.has((*number).into())));
                    numbers.extend(own);
                }
                numbers.sort_unstable();
                assert_eq!(numbers, (0..total).collect::<Vec<_>>());
            }
        }
    }
}

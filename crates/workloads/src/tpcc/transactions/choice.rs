//! Which type of transaction comes next, clause 5.2.4: from a deck of each terminal, or by weight. It follows from the seed,
//! the terminal and the number of the transaction alone, so that whoever needs to know it may ask.

use plimsoll_core::plan::{Role, TpccChoice, TpccOptions};
use plimsoll_core::random::{below, keyed};

/// The streams of choices, one for each terminal, apart from those of the transactions' values.
const CHOICES: u64 = 3 << 32;

/// More cards than this are shuffled for longer than a transaction should wait.
pub const CARDS_MAX: u64 = 1_000;

/// The five types, in the order of their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    NewOrder,
    Payment,
    OrderStatus,
    Delivery,
    StockLevel,
}

impl Type {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::NewOrder,
        Self::Payment,
        Self::OrderStatus,
        Self::Delivery,
        Self::StockLevel,
    ];

    /// Where it may run: two of them only read.
    pub fn role(self) -> Role {
        match self {
            Self::OrderStatus | Self::StockLevel => Role::Replica,
            Self::NewOrder | Self::Payment | Self::Delivery => Role::Source,
        }
    }

    /// What it is called in results.
    pub fn name(self) -> &'static str {
        ["new_order", "payment", "order_status", "delivery", "stock_level"][self as usize]
    }
}

/// How types are chosen.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    rule: TpccChoice,
    /// Without a divisor that all have.
    weights: [u32; 5],
    seed: u64,
}

impl Choice {
    /// For a mix of which at least one weight is above 0.
    pub fn new(options: &TpccOptions, seed: u64) -> Self {
        Self {
            rule: options.choice,
            weights: reduced(options.mix.weights()),
            seed,
        }
    }

    /// Whether any transaction is of this type.
    pub fn may_be(&self, kind: Type) -> bool {
        self.weights[kind as usize] > 0
    }

    /// The type of a terminal's transaction number `index`.
    pub fn of(&self, terminal: u32, index: u64) -> Type {
        let stream = CHOICES + u64::from(terminal);
        let total = cards(&self.weights);
        match self.rule {
            TpccChoice::Weighted => self.card(below(&mut keyed(self.seed, stream, index), total)),
            TpccChoice::Deck => self.card(self.dealt(stream, index / total, index % total, total)),
        }
    }

    /// The card at a position of one shuffled deck: the shuffle of Fisher and Yates from the front, as far as it is needed.
    fn dealt(&self, stream: u64, deck: u64, position: u64, total: u64) -> u64 {
        let mut random = keyed(self.seed, stream, deck);
        let mut cards = [0u16; CARDS_MAX as usize];
        let cards = &mut cards[..total as usize];
        for (number, card) in cards.iter_mut().enumerate() {
            *card = number as u16;
        }
        for at in 0..=position {
            cards.swap(at as usize, (at + below(&mut random, total - at)) as usize);
        }
        u64::from(cards[position as usize])
    }

    /// The type of a card, where each type has as many cards in a row as its weight says.
    fn card(&self, mut number: u64) -> Type {
        for (kind, weight) in Type::ALL.into_iter().zip(self.weights) {
            if number < u64::from(weight) {
                return kind;
            }
            number -= u64::from(weight);
        }
        unreachable!("a card is one of all")
    }
}

/// What makes no sense about a mix and how it is chosen from.
pub fn faults(options: &TpccOptions) -> Option<String> {
    let weights = options.mix.weights();
    if weights.iter().all(|weight| *weight == 0) {
        return Some("workload.mix: all weights are 0; give one of them more".to_owned());
    }
    let count = cards(&reduced(weights));
    (options.choice == TpccChoice::Deck && count > CARDS_MAX).then(|| {
        format!(
            "workload.mix: makes a deck of {count} cards, of at most {CARDS_MAX}; choose smaller weights, or choice = \
             \"weighted\""
        )
    })
}

fn cards(weights: &[u32; 5]) -> u64 {
    weights.iter().map(|weight| u64::from(*weight)).sum()
}

fn reduced(weights: [u32; 5]) -> [u32; 5] {
    let common = weights.into_iter().fold(0, divisor);
    weights.map(|weight| weight / common.max(1))
}

/// The greatest number that divides both (Euclid).
fn divisor(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::plan::TpccMix;

    fn choice(rule: TpccChoice, weights: [u32; 5]) -> Choice {
        Choice::new(&options(rule, weights), 7)
    }

    fn options(rule: TpccChoice, [new_order, payment, order_status, delivery, stock_level]: [u32; 5]) -> TpccOptions {
        TpccOptions {
            choice: rule,
            mix: TpccMix {
                new_order,
                payment,
                order_status,
                delivery,
                stock_level,
            },
            ..TpccOptions::default()
        }
    }

    fn counts(choice: &Choice, indexes: impl Iterator<Item = u64>) -> [u32; 5] {
        let mut counts = [0; 5];
        for index in indexes {
            counts[choice.of(3, index) as usize] += 1;
        }
        counts
    }

    #[test]
    fn each_deck_has_each_card_once_and_each_is_shuffled_anew() {
        let deck = choice(TpccChoice::Deck, [20, 20, 2, 2, 2]);
        for number in 0..200 {
            assert_eq!(counts(&deck, number * 23..(number + 1) * 23), [10, 10, 1, 1, 1]);
        }
        // Any position has any type as often as the deck has it: 435 and 43 of 1,000 with deviations of 16 and 6.
        for position in 0..23 {
            let found = counts(&deck, (0..1_000).map(|number| number * 23 + position));
            assert!(found[0].abs_diff(435) < 65 && found[4].abs_diff(43) < 26, "{found:?}");
        }
        let of = |terminal| (0..23).map(|index| deck.of(terminal, index)).collect::<Vec<_>>();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn by_weight_each_choice_stands_alone() {
        let found = counts(&choice(TpccChoice::Weighted, [45, 43, 0, 8, 4]), 0..100_000);
        let wanted = [45_000, 43_000, 0, 8_000, 4_000];
        let is_near = |(found, wanted): (&u32, u32)| found.abs_diff(wanted) < 700;
        assert!(found.iter().zip(wanted).all(is_near), "{found:?}");
    }

    #[test]
    fn a_mix_of_nothing_and_a_deck_of_thousands_are_refused() {
        let deck = |weights| faults(&options(TpccChoice::Deck, weights));
        assert_eq!(deck([450_000, 430_000, 40_000, 40_000, 40_000]), None);
        assert!(deck([1_000, 1, 0, 0, 0]).unwrap().contains("a deck of 1001 cards"));
        assert!(deck([0; 5]).unwrap().contains("all weights are 0"));
        assert_eq!(faults(&options(TpccChoice::Weighted, [1_000, 1, 0, 0, 0])), None);
    }
}

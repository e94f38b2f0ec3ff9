//! The values of a transaction, compiled: where each comes from, and where it is kept.

use std::collections::HashMap;

use plimsoll_core::plan::{RowsPlan, SamePlan, TimesPlan, ValuePlan, ValueSource};

use super::counts::{Counts, Times};
use super::generator::Generator;
use super::keys::Recent;

/// A value that is made, and its position.
pub struct Draw {
    pub position: usize,
    pub source: Source,
}

/// Where a value comes from.
pub enum Source {
    Generated(Generator),
    GeneratedOrNull(Generator, f64),
    Sum {
        position: usize,
        add: i64,
        /// Each row has its own.
        in_row: bool,
    },
    /// The number of the row, from 1.
    RowNumber,
    /// An item of a list of the transaction: where its first one is, and which list it is.
    ItemOf {
        first: usize,
        list: usize,
    },
    /// The next key of a counter.
    Next(usize),
    /// One of the newest keys, by the position of its [`Recent`].
    Recent(usize),
    List(Box<List>),
    /// An earlier value in a share of the draws.
    OftenSame(Box<OftenSame>),
}

/// A value that is an earlier one in a share of its draws.
pub struct OftenSame {
    pub same: Same,
    /// Of all other draws.
    pub source: Source,
}

/// An earlier value, and how often it is there again.
pub struct Same {
    pub position: usize,
    /// Each row has its own.
    pub in_row: bool,
    pub ratio: f64,
}

/// A list of the transaction, and how often it is there again.
pub struct SameList {
    /// Of its first item.
    pub position: usize,
    /// Which of the transaction's lists it is.
    pub number: usize,
    /// By the position of its length among those that it may have: that among those of the list which it is.
    pub lengths: Vec<usize>,
    pub ratio: f64,
}

/// Several values one behind the other.
pub struct List {
    /// Of each.
    pub source: Source,
    pub counts: Times,
    /// The list that it is in a share of the draws.
    pub same: Option<SameList>,
    /// Which of the transaction's lists it is.
    pub number: usize,
    pub sorted: bool,
    pub distinct: bool,
}

/// A list that is drawn before the first statement.
struct TransactionList {
    position: usize,
    list: usize,
    /// How many items it may have.
    lengths: Vec<u32>,
}

/// Where a value is kept.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The position of the value, or of its first item.
    pub position: usize,
    /// Which list it is and how many lengths that has, if it is one.
    pub list: Option<(usize, usize)>,
}

/// The values of one transaction, each with a position of its own.
#[derive(Default)]
pub struct Names {
    places: HashMap<String, Place>,
    values: usize,
    lists: usize,
    of_transaction: HashMap<String, TransactionList>,
    /// Where the values of the rows that are compiled begin.
    row_begin: Option<usize>,
    /// Of all transactions.
    recent: Vec<Recent>,
}

impl Names {
    /// Those of a transaction behind others, which have these recent keys.
    pub fn behind(recent: Vec<Recent>) -> Self {
        Self {
            recent,
            ..Self::default()
        }
    }

    /// The recent keys of all transactions so far.
    pub fn into_recent(self) -> Vec<Recent> {
        self.recent
    }

    /// How many positions there are.
    pub fn values(&self) -> usize {
        self.values
    }

    /// How many lists there are.
    pub fn lists(&self) -> usize {
        self.lists
    }

    pub fn position(&mut self, name: &str) -> usize {
        self.place(name).position
    }

    pub fn place(&mut self, name: &str) -> Place {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.reserve(name, 1, None)
    }

    /// Whether a position is one of the values that each row has for itself.
    pub fn is_in_row(&self, position: usize) -> bool {
        self.row_begin.is_some_and(|begin| position >= begin)
    }

    /// How often something runs.
    pub fn times(&self, plan: &TimesPlan) -> Times {
        match plan {
            TimesPlan::Drawn(counts) => Times::Drawn(Counts::new(counts)),
            TimesPlan::Items(items) => Times::Items(self.of_transaction[&items.items_of].list),
        }
    }

    /// All numbers that there may be, rising.
    fn numbers(&self, plan: &TimesPlan) -> Vec<u32> {
        match plan {
            TimesPlan::Drawn(counts) => counts.numbers(),
            TimesPlan::Items(items) => self.of_transaction[&items.items_of].lengths.clone(),
        }
    }

    /// Values that are drawn before the first statement.
    pub fn draws_of_transaction(&mut self, values: &[ValuePlan]) -> Vec<Draw> {
        self.row_begin = None;
        let draw = |value: &ValuePlan| {
            let draw = self.draw(value);
            if let (Source::List(list), Some(items)) = (&draw.source, &value.items) {
                let found = TransactionList {
                    position: draw.position,
                    list: list.number,
                    lengths: self.numbers(items),
                };
                self.of_transaction.insert(value.name.clone(), found);
            }
            draw
        };
        values.iter().map(draw).collect()
    }

    pub fn draws(&mut self, values: &[ValuePlan]) -> Vec<Draw> {
        self.row_begin = None;
        values.iter().map(|value| self.draw(value)).collect()
    }

    /// Values that each row has for itself: those of the first row stand together, those of the others behind them. Gives
    /// how many positions a row takes, too.
    pub fn draws_of_rows(&mut self, values: &[ValuePlan], plan: &RowsPlan) -> (Vec<Draw>, usize) {
        let begin = self.values;
        self.row_begin = Some(begin);
        for value in values {
            self.places.remove(&value.name);
        }
        let draws = values.iter().map(|value| self.draw(value)).collect();
        let width = self.values - begin;
        let most = self.numbers(&plan.rows).last().map_or(1, |most| *most as usize);
        self.values += width * (most - 1);
        (draws, width)
    }

    fn draw(&mut self, value: &ValuePlan) -> Draw {
        let source = match &value.source {
            ValueSource::Drawn { generator, null_ratio } if *null_ratio > 0.0 => {
                Source::GeneratedOrNull(Generator::new(generator), *null_ratio)
            }
            ValueSource::Drawn { generator, .. } => Source::Generated(Generator::new(generator)),
            ValueSource::RowNumber {} => Source::RowNumber,
            ValueSource::ItemOf { list } => {
                let found = &self.of_transaction[list];
                Source::ItemOf {
                    first: found.position,
                    list: found.list,
                }
            }
            ValueSource::Sum { value, add } => {
                let position = self.position(value);
                Source::Sum {
                    position,
                    add: *add,
                    in_row: self.is_in_row(position),
                }
            }
            ValueSource::Next { counter } => Source::Next(*counter),
            ValueSource::Recent {
                counter,
                within,
                distribution,
            } => {
                self.recent.push(Recent {
                    counter: *counter,
                    within: *within,
                    distribution: distribution.clone(),
                });
                Source::Recent(self.recent.len() - 1)
            }
        };
        let same = match &value.same {
            Some(same) if value.items.is_none() => Some(self.same(same)),
            _ => None,
        };
        if self.places.get(&value.name).is_some_and(|place| place.list.is_some()) {
            self.places.remove(&value.name);
        }
        if let Some(items) = &value.items {
            return self.list(value, items, source);
        }
        Draw {
            position: self.position(&value.name),
            source: match same {
                None => source,
                Some(same) => Source::OftenSame(Box::new(OftenSame { same, source })),
            },
        }
    }

    fn same(&mut self, plan: &SamePlan) -> Same {
        let position = self.position(&plan.value);
        Same {
            position,
            in_row: self.is_in_row(position),
            ratio: plan.ratio,
        }
    }

    fn same_list(&self, plan: &SamePlan, lengths: &[u32]) -> SameList {
        let other = &self.of_transaction[&plan.value];
        let own = |length: &u32| lengths.iter().position(|one| one == length).unwrap_or_default();
        SameList {
            position: other.position,
            number: other.list,
            lengths: other.lengths.iter().map(own).collect(),
            ratio: plan.ratio,
        }
    }

    /// A list has positions for as many items as it may have.
    fn list(&mut self, value: &ValuePlan, items: &TimesPlan, source: Source) -> Draw {
        let (counts, lengths) = (self.times(items), self.numbers(items));
        let same = value.same.as_ref().map(|same| self.same_list(same, &lengths));
        let number = self.lists;
        self.lists += 1;
        let most = lengths.last().map_or(1, |most| *most as usize);
        let place = self.reserve(&value.name, most, Some((number, lengths.len())));
        Draw {
            position: place.position,
            source: Source::List(Box::new(List {
                source,
                counts,
                same,
                number,
                sorted: value.sorted,
                distinct: value.distinct,
            })),
        }
    }

    fn reserve(&mut self, name: &str, positions: usize, list: Option<(usize, usize)>) -> Place {
        let place = Place {
            position: self.values,
            list,
        };
        self.values += positions;
        self.places.insert(name.to_owned(), place);
        place
    }
}

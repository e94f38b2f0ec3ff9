//! Statements that have rows or lists: which of their texts is sent, and which values belong to it.

use plimsoll_core::plan::StatementPlan;
use plimsoll_session::{Captured, StatementId, Value};

use super::counts::{Length, Times};
use super::values::Names;

/// A statement in all its lengths.
pub struct Variants {
    pub rows: Option<Rows>,
    /// The lists in it, and how many lengths each has.
    lists: Vec<(usize, usize)>,
    parameters: Vec<Parameter>,
    texts: Vec<StatementId>,
    /// Where the value is that says which of several statements runs, and how many there are.
    by: Option<(usize, usize)>,
}

/// The part of it that is there once for each row.
pub struct Rows {
    pub counts: Times,
    /// From a value of one row to that of the next.
    pub width: usize,
    /// Its parameters.
    first: usize,
    end: usize,
}

/// Where the values of a parameter are.
struct Parameter {
    position: usize,
    /// To that of the next row; 0 where all rows have the same.
    width: usize,
    list: Option<usize>,
}

impl Variants {
    pub fn new(plan: &StatementPlan, names: &mut Names, width: usize, texts: Vec<StatementId>) -> Self {
        let mut lists: Vec<(usize, usize)> = Vec::new();
        let parameters = plan.parameters.iter().map(|name| {
            let place = names.place(name);
            if let Some(list) = place.list.filter(|list| !lists.contains(list)) {
                lists.push(list);
            }
            Parameter {
                position: place.position,
                width: if names.is_in_row(place.position) { width } else { 0 },
                list: place.list.map(|(list, _)| list),
            }
        });
        Self {
            parameters: parameters.collect(),
            rows: plan.rows.as_ref().map(|rows| Rows {
                counts: names.times(&rows.rows),
                width,
                first: rows.first,
                end: rows.first + rows.count,
            }),
            lists,
            texts,
            by: plan
                .by
                .as_ref()
                .map(|by| (names.position(&by.value), by.choices as usize)),
        }
    }

    /// Which of several statements runs, from 0; `None` where its value is none of their numbers.
    #[inline]
    pub fn choice(&self, values: &[Captured]) -> Option<usize> {
        let Some((position, choices)) = self.by else {
            return Some(0);
        };
        match values[position].value() {
            Value::Int(number) => usize::try_from(number - 1).ok().filter(|choice| *choice < choices),
            Value::Null | Value::Double(_) | Value::Text(_) | Value::Bytes(_) => None,
        }
    }

    /// The text of a choice for so many rows, by the position of their number, and for lists of these lengths.
    #[inline]
    pub fn text(&self, choice: usize, rows_position: usize, lengths: &[Length]) -> StatementId {
        let first = choice * (self.texts.len() / self.by.map_or(1, |(_, choices)| choices));
        let position = self.lists.iter().fold(rows_position, |position, (list, choices)| {
            position * choices + lengths[*list].position
        });
        self.texts[first + position]
    }

    /// How many parameters it has then.
    pub fn count(&self, rows: usize, lengths: &[Length]) -> usize {
        let of = |one: &Parameter| one.list.map_or(1, |list| lengths[list].count);
        let all: usize = self.parameters.iter().map(of).sum();
        all + self
            .rows
            .as_ref()
            .map_or(0, |group| (rows - 1) * (group.end - group.first))
    }

    /// Hands out the parameters in their order.
    pub fn fill<'a>(&self, rows: usize, lengths: &[Length], values: &'a [Captured], mut put: impl FnMut(Value<'a>)) {
        let mut pass = |parameters: &[Parameter], row: usize| {
            for one in parameters {
                let from = one.position + row * one.width;
                let count = one.list.map_or(1, |list| lengths[list].count);
                values[from..from + count].iter().for_each(|value| put(value.value()));
            }
        };
        let Some(group) = &self.rows else {
            return pass(&self.parameters, 0);
        };
        pass(&self.parameters[..group.first], 0);
        for row in 0..rows {
            pass(&self.parameters[group.first..group.end], row);
        }
        pass(&self.parameters[group.end..], 0);
    }
}

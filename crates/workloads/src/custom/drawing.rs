//! Draws the values of a transaction, each into its position.

use std::ops::Range;

use plimsoll_core::random::unit;
use plimsoll_session::{StatementError, Value};

use super::counts::Length;
use super::lists;
use super::values::{Draw, List, Source};
use super::worker::{Run, Turn};

impl Run<'_, '_> {
    /// Draws values, those of rows behind so many positions of the rows before.
    #[inline]
    pub fn draw(&mut self, draws: &[Draw], turn: Turn) -> Result<(), StatementError> {
        for draw in draws {
            self.draw_one(&draw.source, draw.position + turn.offset, turn)?;
        }
        Ok(())
    }

    #[inline]
    fn draw_one(&mut self, source: &Source, to: usize, turn: Turn) -> Result<(), StatementError> {
        match source {
            Source::Generated(generator) => {
                generator.generate(0, &mut self.random, &mut self.memory.values[to]);
            }
            Source::GeneratedOrNull(generator, ratio) => {
                let value = &mut self.memory.values[to];
                if unit(&mut self.random) < *ratio {
                    value.set_null();
                } else {
                    generator.generate(0, &mut self.random, value);
                }
            }
            Source::Sum { position, add, in_row } => {
                let from = position + if *in_row { turn.offset } else { 0 };
                self.add(from, *add, to)?;
            }
            Source::RowNumber => {
                let number = i64::try_from(turn.row + 1).unwrap_or(i64::MAX);
                self.memory.values[to].set_int(number);
            }
            Source::ItemOf { first, list } => {
                let from = first + turn.item % self.memory.lengths[*list].count;
                lists::copy(&mut self.memory.values, from, to);
            }
            Source::Next(counter) => self.memory.values[to].set_int(self.keys.next(*counter)),
            Source::Recent(recent) => {
                let key = self.keys.recent(*recent, &mut self.random);
                self.memory.values[to].set_int(key);
            }
            Source::List(list) => self.draw_list(list, to, turn)?,
            Source::OftenSame(often) if unit(&mut self.random) < often.same.ratio => {
                let offset = if often.same.in_row { turn.offset } else { 0 };
                lists::copy(&mut self.memory.values, often.same.position + offset, to);
            }
            Source::OftenSame(often) => self.draw_one(&often.source, to, turn)?,
        }
        Ok(())
    }

    fn draw_list(&mut self, list: &List, to: usize, turn: Turn) -> Result<(), StatementError> {
        let length = match &list.same {
            Some(same) if unit(&mut self.random) < same.ratio => {
                let Length { position, count } = self.memory.lengths[same.number];
                for item in 0..count {
                    lists::copy(&mut self.memory.values, same.position + item, to + item);
                }
                let position = same.lengths[position];
                Length { position, count }
            }
            _ => {
                let length = list.counts.draw(&mut self.random, &self.memory.lengths);
                self.draw_items(list, to..to + length.count, turn)?;
                length
            }
        };
        self.memory.lengths[list.number] = length;
        if list.sorted {
            lists::sort(&mut self.memory.values[to..to + length.count]);
        }
        Ok(())
    }

    fn draw_items(&mut self, list: &List, to: Range<usize>, turn: Turn) -> Result<(), StatementError> {
        for at in to.clone() {
            self.draw_one(&list.source, at, turn)?;
            let mut again = if list.distinct { lists::AGAIN_MAX } else { 0 };
            while again > 0 && lists::is_there_before(&self.memory.values[to.start..=at]) {
                self.draw_one(&list.source, at, turn)?;
                again -= 1;
            }
        }
        Ok(())
    }

    /// Puts the sum of an integer and a constant into a position; NULL stays NULL.
    fn add(&mut self, from: usize, add: i64, to: usize) -> Result<(), StatementError> {
        match self.memory.values[from].value() {
            Value::Int(int) => self.memory.values[to].set_int(int.saturating_add(add)),
            Value::Null => self.memory.values[to].set_null(),
            Value::Double(_) | Value::Text(_) | Value::Bytes(_) => {
                return Err(StatementError::no_data(
                    "a value that something is added to is no integer",
                ));
            }
        }
        Ok(())
    }
}

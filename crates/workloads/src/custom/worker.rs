//! Runs a user's transactions on the connections of one session.
//!
//! Nothing is allocated for a transaction but for values longer than any before. What is drawn follows from the seed and
//! the arrival, so a transaction that is repeated after a deadlock draws the same again; what it reads may differ.

use std::sync::Arc;

use plimsoll_core::plan::NoRow;
use plimsoll_core::random::{Random, unit};
use plimsoll_engine::{Gate, Interrupter, ServerIndex, Worker, WorkerFault};
use plimsoll_session::{Captured, FirstRow, Reply, Session, Sink, StatementError, StatementId, Value, transact};

use super::compiled::{Block, Compiled, Step, Transaction};
use super::counts::Length;
use super::faults::PARAMETERS_MAX;
use super::keys::Keys;
use super::variants::Variants;

/// Runs the transactions of one session.
pub struct CustomWorker {
    session: Session,
    compiled: Arc<Compiled>,
    keys: Arc<Keys>,
    memory: Memory,
    seed: u64,
}

impl CustomWorker {
    /// On this session, with memory for all values of the workload.
    pub fn new(session: Session, compiled: &Arc<Compiled>, keys: Arc<Keys>, seed: u64) -> Self {
        Self {
            session,
            compiled: Arc::clone(compiled),
            keys,
            memory: Memory {
                values: vec![Captured::default(); compiled.values_max],
                lengths: vec![Length::default(); compiled.lists_max],
                first_rows: compiled.captured.iter().cloned().map(FirstRow::new).collect(),
            },
            seed,
        }
    }
}

/// What transactions write their values into, one after the other.
pub struct Memory {
    pub values: Vec<Captured>,
    /// Of lists.
    pub lengths: Vec<Length>,
    first_rows: Vec<FirstRow>,
}

impl Worker for CustomWorker {
    fn run(&mut self, gate: &mut Gate<'_>) -> Result<(), WorkerFault> {
        let compiled = &*self.compiled;
        while let Some(arrival) = gate.next() {
            let mut random = arrival.random(self.seed);
            let chosen = compiled.choice.draw(&mut random);
            let transaction = &compiled.transactions[chosen];
            let (memory, keys) = (&mut self.memory, &*self.keys);
            transact(&mut self.session, gate, (chosen, transaction.role), |session, gate| {
                Run {
                    transaction,
                    session,
                    gate,
                    memory,
                    keys,
                    random: random.clone(),
                }
                .transaction()
            })?;
        }
        Ok(())
    }

    fn is_connected(&self, server: ServerIndex) -> bool {
        self.session.is_connected(server)
    }

    fn interrupter(&self) -> Interrupter {
        self.session.interrupter()
    }
}

/// Which values are drawn: of which row of a statement, and with which items of lists.
#[derive(Clone, Copy, Default)]
pub struct Turn {
    /// The number of the row from 0.
    pub row: usize,
    /// How far its values are behind those of the first row.
    pub offset: usize,
    /// The number of the row, of the repetition or of the round, from 0.
    pub item: usize,
}

/// One attempt at one transaction.
pub struct Run<'a, 'g> {
    transaction: &'a Transaction,
    session: &'a mut Session,
    gate: &'a mut Gate<'g>,
    pub memory: &'a mut Memory,
    pub keys: &'a Keys,
    pub random: Random,
}

impl Run<'_, '_> {
    fn transaction(mut self) -> Result<(), StatementError> {
        let transaction = self.transaction;
        for statement in &transaction.before {
            self.alone(*statement)?;
        }
        let last = self.last(transaction);
        self.draw(&transaction.draws, Turn::default())?;
        self.blocks(&transaction.blocks)?;
        last.map_or(Ok(()), |last| self.alone(last))
    }

    /// What it ends with: ROLLBACK where its author wants one, which is drawn only then.
    #[inline]
    fn last(&mut self, transaction: &Transaction) -> Option<StatementId> {
        match transaction.rollback {
            Some((rollback, ratio)) if unit(&mut self.random) < ratio => Some(rollback),
            _ => transaction.after,
        }
    }

    /// Runs all statements, those of a loop as often as it is to run, until one leaves the rest of the transaction out.
    #[inline]
    fn blocks(&mut self, blocks: &[Block]) -> Result<(), StatementError> {
        for block in blocks {
            let times = match &block.repeat {
                None => 1,
                Some(repeat) => repeat.draw(&mut self.random, &self.memory.lengths).count,
            };
            for round in 0..times {
                for step in &block.steps {
                    if !self.step(step, round)? {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Runs one statement of this round as often as it is to run; false when the rest of the transaction is to be left out.
    #[inline]
    fn step(&mut self, step: &Step, round: usize) -> Result<bool, StatementError> {
        let times = step.repeat.draw(&mut self.random, &self.memory.lengths).count;
        for time in 0..times {
            let turn = Turn {
                item: if step.is_repeated { time } else { round },
                ..Turn::default()
            };
            let (reply, rows) = match &step.variants {
                None => {
                    self.draw(&step.draws, turn)?;
                    (self.execute(step)?, 1)
                }
                Some(variants) => self.execute_variant(step, variants, turn)?,
            };
            self.count(reply);
            if step.no_row != NoRow::Continue && found_nothing(reply) {
                return match step.no_row {
                    NoRow::Fail => Err(StatementError::no_data("a statement found no row")),
                    NoRow::Continue | NoRow::Skip => Ok(false),
                };
            }
            self.capture(step, reply);
            if let Some(counter) = step.given.filter(|_| reply.last_insert_id > 0) {
                // The server says which number the first row was given; others of the same statement follow it.
                let last = reply.last_insert_id + reply.rows_affected.min(rows).saturating_sub(1);
                self.keys.given(counter, i64::try_from(last).unwrap_or(i64::MAX));
            }
        }
        Ok(true)
    }

    fn alone(&mut self, statement: StatementId) -> Result<(), StatementError> {
        let reply = self.session.connection().execute(statement, &[])?;
        self.count(reply);
        Ok(())
    }

    #[inline]
    fn execute(&mut self, step: &Step) -> Result<Reply, StatementError> {
        match step.parameters.len() {
            0..=4 => self.send::<4>(step),
            5..=32 => self.send::<32>(step),
            _ => self.send::<PARAMETERS_MAX>(step),
        }
    }

    #[inline]
    fn send<const N: usize>(&mut self, step: &Step) -> Result<Reply, StatementError> {
        let mut parameters = [Value::Null; N];
        for (parameter, position) in parameters.iter_mut().zip(&step.parameters) {
            *parameter = self.memory.values[*position].value();
        }
        let parameters = &parameters[..step.parameters.len()];
        let connection = self.session.connection();
        let sink = sink(step, &mut self.memory.first_rows);
        connection.run(step.statement, parameters, sink)
    }

    /// Draws what each row has, and sends the text for so many rows and items.
    fn execute_variant(
        &mut self,
        step: &Step,
        variants: &Variants,
        turn: Turn,
    ) -> Result<(Reply, u64), StatementError> {
        let (mut rows_position, mut rows) = (0, 1);
        match &variants.rows {
            None => self.draw(&step.draws, turn)?,
            Some(group) => {
                let drawn = group.counts.draw(&mut self.random, &self.memory.lengths);
                (rows_position, rows) = (drawn.position, drawn.count);
                for row in 0..rows {
                    let offset = row * group.width;
                    let turn = Turn { row, offset, item: row };
                    self.draw(&step.draws, turn)?;
                }
            }
        }
        let choice = variants.choice(&self.memory.values);
        let choice =
            choice.ok_or_else(|| StatementError::no_data("the value that chooses a statement is no number of one"))?;
        let text = variants.text(choice, rows_position, &self.memory.lengths);
        let reply = match variants.count(rows, &self.memory.lengths) {
            0..=32 => self.send_variant::<32>(step, variants, (text, rows)),
            33..=PARAMETERS_MAX => self.send_variant::<PARAMETERS_MAX>(step, variants, (text, rows)),
            count => {
                let mut parameters = Vec::with_capacity(count);
                let (values, lengths) = (&self.memory.values, &self.memory.lengths);
                variants.fill(rows, lengths, values, |value| parameters.push(value));
                let sink = sink(step, &mut self.memory.first_rows);
                self.session.connection().run(text, &parameters, sink)
            }
        }?;
        Ok((reply, rows as u64))
    }

    fn send_variant<const N: usize>(
        &mut self,
        step: &Step,
        variants: &Variants,
        (text, rows): (StatementId, usize),
    ) -> Result<Reply, StatementError> {
        let mut parameters = [Value::Null; N];
        let mut count = 0;
        let (values, lengths) = (&self.memory.values, &self.memory.lengths);
        variants.fill(rows, lengths, values, |value| {
            parameters[count] = value;
            count += 1;
        });
        let sink = sink(step, &mut self.memory.first_rows);
        self.session.connection().run(text, &parameters[..count], sink)
    }

    #[inline]
    fn count(&mut self, reply: Reply) {
        self.gate.statement(reply.into());
    }

    #[inline]
    fn capture(&mut self, step: &Step, reply: Reply) {
        let Memory { values, first_rows, .. } = &mut *self.memory;
        if let Some((row, positions)) = &step.capture {
            for (captured, position) in first_rows[*row].values_mut().iter_mut().zip(positions) {
                std::mem::swap(captured, &mut values[*position]);
            }
        }
        if let Some(position) = step.capture_insert_id {
            values[position].set_int(i64::try_from(reply.last_insert_id).unwrap_or(i64::MAX));
        }
    }
}

/// Where the rows of a statement go.
#[inline]
fn sink<'a>(step: &Step, first_rows: &'a mut [FirstRow]) -> Sink<'a> {
    match &step.capture {
        None => Sink::Count,
        Some((row, _)) => Sink::First(&mut first_rows[*row]),
    }
}

/// No row came, or, without a result set, none was changed.
#[inline]
fn found_nothing(reply: Reply) -> bool {
    if reply.has_result_set {
        reply.rows_returned == 0
    } else {
        reply.rows_affected == 0
    }
}

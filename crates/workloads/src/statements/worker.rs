//! Runs a user's transactions on the connections of one session.
//!
//! Nothing is allocated for a transaction but for values longer than any before. What is drawn follows from the seed and
//! the arrival, so a transaction that is repeated after a deadlock draws the same again; what it reads may differ.

use std::sync::Arc;

use plimsoll_core::plan::{NoRow, Role, RoleTarget, StatementsPlan};
use plimsoll_core::random::{Random, below, unit};
use plimsoll_engine::{Gate, Interrupter, StatementResult, Worker, WorkerFactory, WorkerFault};
use plimsoll_session::{FirstRow, Kept, Reply, Session, Sessions, StatementError, StatementId, Terms, Value, transact};

use super::plan::{Compiled, Draw, Source, Step, Transaction};

/// Most parameters that a statement may have: they are put together on the stack.
pub const PARAMETERS_MAX: usize = 256;

/// Builds the workers of one group.
pub struct StatementsFactory {
    compiled: Arc<Compiled>,
    sessions: Sessions,
    seed: u64,
}

impl StatementsFactory {
    /// Compiles the workload, which must have no faults.
    pub fn new(plan: &StatementsPlan, targets: &[RoleTarget], seed: u64, terms: Terms) -> Self {
        let compiled = Arc::new(Compiled::new(plan));
        Self {
            sessions: Sessions::new(targets, Arc::clone(&compiled.statements), terms, seed),
            compiled,
            seed,
        }
    }
}

impl WorkerFactory for StatementsFactory {
    fn transaction_names(&self) -> Vec<String> {
        let transactions = &self.compiled.transactions;
        transactions.iter().map(|one| one.name.clone()).collect()
    }

    fn build(&self, _worker: u32) -> Result<Box<dyn Worker>, WorkerFault> {
        let compiled = &self.compiled;
        Ok(Box::new(StatementsWorker {
            session: self.sessions.open()?,
            memory: Memory {
                values: vec![Kept::default(); compiled.values_max],
                first_rows: compiled.kept.iter().cloned().map(FirstRow::new).collect(),
            },
            compiled: Arc::clone(compiled),
            seed: self.seed,
        }))
    }
}

struct StatementsWorker {
    session: Session,
    compiled: Arc<Compiled>,
    memory: Memory,
    seed: u64,
}

/// What transactions write their values into, one after the other.
struct Memory {
    values: Vec<Kept>,
    first_rows: Vec<FirstRow>,
}

impl Worker for StatementsWorker {
    fn run(&mut self, gate: &mut Gate<'_>) -> Result<(), WorkerFault> {
        let compiled = &*self.compiled;
        while let Some(arrival) = gate.next() {
            let mut random = arrival.random(self.seed);
            let chosen = compiled.choice.draw(&mut random);
            let transaction = &compiled.transactions[chosen];
            let memory = &mut self.memory;
            transact(&mut self.session, gate, chosen, |session, gate| {
                Run {
                    transaction,
                    session,
                    gate,
                    memory,
                    random: random.clone(),
                }
                .transaction()
            })?;
        }
        Ok(())
    }

    fn interrupter(&self) -> Interrupter {
        self.session.interrupter()
    }
}

/// One attempt at one transaction.
struct Run<'a, 'g> {
    transaction: &'a Transaction,
    session: &'a mut Session,
    gate: &'a mut Gate<'g>,
    memory: &'a mut Memory,
    random: Random,
}

impl Run<'_, '_> {
    fn transaction(mut self) -> Result<(), StatementError> {
        let transaction = self.transaction;
        for statement in &transaction.before {
            self.alone(*statement)?;
        }
        self.draw(&transaction.draws)?;
        for step in &transaction.steps {
            if !self.step(step)? {
                break;
            }
        }
        transaction.after.map_or(Ok(()), |commit| self.alone(commit))
    }

    /// Runs one statement as often as it is to run; false when the rest of the transaction is to be left out.
    #[inline]
    fn step(&mut self, step: &Step) -> Result<bool, StatementError> {
        let mut times = u64::from(step.repeat_min);
        if step.repeats > 1 {
            times += below(&mut self.random, step.repeats);
        }
        for _ in 0..times {
            self.draw(&step.draws)?;
            let reply = self.execute(step)?;
            self.count(reply);
            if step.no_row != NoRow::Continue && found_nothing(reply) {
                return match step.no_row {
                    NoRow::Fail => Err(StatementError::no_data("a statement found no row")),
                    NoRow::Continue | NoRow::Skip => Ok(false),
                };
            }
            self.keep(step, reply);
        }
        Ok(true)
    }

    fn alone(&mut self, statement: StatementId) -> Result<(), StatementError> {
        let reply = self.session.on(Role::Source).execute(statement, &[])?;
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
        for (parameter, place) in parameters.iter_mut().zip(&step.parameters) {
            *parameter = self.memory.values[*place].value();
        }
        let parameters = &parameters[..step.parameters.len()];
        let connection = self.session.on(Role::Source);
        match &step.keep {
            None => connection.execute(step.statement, parameters),
            Some((row, _)) => connection.execute_keeping(step.statement, parameters, &mut self.memory.first_rows[*row]),
        }
    }

    #[inline]
    fn count(&mut self, reply: Reply) {
        self.gate.statement(StatementResult {
            has_result_set: reply.has_result_set,
            rows_returned: reply.rows_returned,
            rows_affected: reply.rows_affected,
        });
    }

    #[inline]
    fn keep(&mut self, step: &Step, reply: Reply) {
        let Memory { values, first_rows } = &mut *self.memory;
        if let Some((row, places)) = &step.keep {
            for (kept, place) in first_rows[*row].values_mut().iter_mut().zip(places) {
                std::mem::swap(kept, &mut values[*place]);
            }
        }
        if let Some(place) = step.keep_insert_id {
            values[place].set_int(i64::try_from(reply.last_insert_id).unwrap_or(i64::MAX));
        }
    }

    #[inline]
    fn draw(&mut self, draws: &[Draw]) -> Result<(), StatementError> {
        for draw in draws {
            match &draw.source {
                Source::Made(maker) => maker.make(0, &mut self.random, &mut self.memory.values[draw.place]),
                Source::MadeOrNull(maker, ratio) => {
                    let value = &mut self.memory.values[draw.place];
                    if unit(&mut self.random) < *ratio {
                        value.set_null();
                    } else {
                        maker.make(0, &mut self.random, value);
                    }
                }
                Source::Sum { place, add } => self.add(*place, *add, draw.place)?,
            }
        }
        Ok(())
    }

    /// Puts the sum of an integer and a constant into a place; NULL stays NULL.
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

/// No row came, or, without a result set, none was changed.
#[inline]
fn found_nothing(reply: Reply) -> bool {
    if reply.has_result_set {
        reply.rows_returned == 0
    } else {
        reply.rows_affected == 0
    }
}

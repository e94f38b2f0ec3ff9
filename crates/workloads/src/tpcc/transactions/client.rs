//! Runs statements of one transaction, and tells the gate about each.

use plimsoll_engine::Gate;
use plimsoll_session::{Reply, Results, Session, Sink, StatementError, StatementId, Value};

use super::answer::Answer;
use super::statements::Catalogue;

/// Bytes of rows that one statement may return: far above what any of them does.
const ROWS_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What transactions write into, one after the other.
pub struct Memory {
    results: Results,
    answer: Answer,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            results: Results::new(ROWS_BYTES_MAX),
            answer: Answer::default(),
        }
    }
}

/// One attempt at one transaction.
pub struct Client<'a, 'g> {
    pub session: &'a mut Session,
    pub gate: &'a mut Gate<'g>,
    pub memory: &'a mut Memory,
    pub catalogue: &'a Catalogue,
}

impl Client<'_, '_> {
    /// Runs a statement without rows.
    ///
    /// # Errors
    /// Whatever the server answered; the same for all below.
    pub fn run(&mut self, id: StatementId, values: &[Value<'_>]) -> Result<(), StatementError> {
        let reply = self.session.connection().execute(id, values)?;
        self.tell(reply);
        Ok(())
    }

    /// Runs a statement and returns its rows.
    pub fn ask(&mut self, id: StatementId, values: &[Value<'_>]) -> Result<&Answer, StatementError> {
        let Memory { results, answer } = &mut *self.memory;
        self.session.connection().run(id, values, Sink::Whole(&mut *results))?;
        answer.take(results)?;
        // A call ends with a result of its own, which counts as no statement.
        let reply = results.sets().first().map(|set| set.reply).unwrap_or_default();
        self.tell(reply);
        Ok(&self.memory.answer)
    }

    /// Runs a statement that must find a row.
    pub fn ask_one(&mut self, id: StatementId, values: &[Value<'_>]) -> Result<&Answer, StatementError> {
        if self.ask(id, values)?.rows() == 0 {
            return Err(StatementError::no_data(
                "a row of the TPC-C-derived tables is not there",
            ));
        }
        Ok(&self.memory.answer)
    }

    /// Ends the transaction.
    pub fn commit(&mut self) -> Result<(), StatementError> {
        self.run(self.catalogue.commit, &[])
    }

    fn tell(&mut self, reply: Reply) {
        self.gate.statement(reply.into());
    }
}

/// A number as a parameter.
pub fn int(number: u32) -> Value<'static> {
    Value::Int(i64::from(number))
}

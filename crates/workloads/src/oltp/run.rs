//! Runs the transactions of an OLTP workload on the connections of one session.
//!
//! Nothing is allocated for a transaction. All values follow from the seed and the arrival, so a transaction that is
//! repeated after a deadlock does the same again.

use std::time::Duration;

use plimsoll_core::plan::ReconnectMode;
use plimsoll_core::random::{Random, below, unit};
use plimsoll_engine::Gate;
use plimsoll_session::{Reply, Session, StatementError, StatementId, Value};

use super::bulk;
use super::plan::{ForTable, NewId, Step, Text};
use super::shared::Shared;
use super::transaction_id::TransactionId;
use crate::text::{C_LENGTH, Integers, PAD_LENGTH, fill_groups};

/// What a worker keeps from transaction to transaction, so that nothing is allocated anew.
#[derive(Default)]
pub struct Scratch {
    /// The values of long lists.
    values: Vec<Value<'static>>,
    /// The text of long statements.
    sql: Vec<u8>,
}

/// One attempt at one transaction.
pub struct Run<'a, 'g> {
    pub shared: &'a Shared,
    pub session: &'a mut Session,
    pub gate: &'a mut Gate<'g>,
    pub scratch: &'a mut Scratch,
    pub id: TransactionId,
    pub random: Random,
    pub seed: u64,
}

impl Run<'_, '_> {
    /// Runs all steps.
    ///
    /// # Errors
    /// That of the first statement that failed.
    pub fn transaction(mut self) -> Result<(), StatementError> {
        for step in &self.shared.transaction.steps {
            match *step {
                Step::Alone(statement) => self.execute(statement, &[])?,
                Step::Call(statement) => self.call(statement)?,
                Step::ByRow { statement, count } => self.by_row(statement, count)?,
                Step::ByRange {
                    statement,
                    count,
                    beyond,
                    first_max,
                } => self.by_range(statement, count, (beyond, first_max))?,
                Step::Rewrites { statement, count, text } => self.rewrite(statement, count, text)?,
                Step::Replacements {
                    delete,
                    insert,
                    count,
                    renewed,
                } => self.replace((delete, insert), count, renewed)?,
                Step::Insert { statement, id, text } => self.insert(statement, id, text)?,
                Step::DeleteOnce(statement) => self.delete_once(statement)?,
                Step::PointList { statement, count } => self.point_list(statement, count)?,
                Step::RangeList {
                    statement,
                    count,
                    delta,
                } => self.range_list(statement, count, delta)?,
                Step::BulkInsert => self.bulk_insert()?,
            }
        }
        Ok(())
    }

    fn by_row(&mut self, statement: ForTable, count: u32) -> Result<(), StatementError> {
        let statement = self.on_some_table(statement);
        for _ in 0..count {
            let row = self.row();
            self.execute(statement, &[Value::Int(row)])?;
        }
        Ok(())
    }

    fn by_range(
        &mut self,
        statement: ForTable,
        count: u32,
        (beyond, first_max): (i64, i64),
    ) -> Result<(), StatementError> {
        let statement = self.on_some_table(statement);
        for _ in 0..count {
            let first = self.row().min(first_max);
            self.execute(statement, &[Value::Int(first), Value::Int(first + beyond)])?;
        }
        Ok(())
    }

    fn rewrite(&mut self, statement: ForTable, count: u32, text: Text) -> Result<(), StatementError> {
        let statement = self.on_some_table(statement);
        for _ in 0..count {
            let row = self.row();
            match text {
                Text::Groups => {
                    let c = self.groups::<C_LENGTH>();
                    self.execute(statement, &[Value::Text(as_str(&c)), Value::Int(row)])?;
                }
                Text::Integers => {
                    let c = self.integers(10);
                    self.execute(statement, &[Value::Text(c.as_str()), Value::Int(row)])?;
                }
            }
        }
        Ok(())
    }

    fn replace(
        &mut self,
        (delete, insert): (ForTable, ForTable),
        count: u32,
        renewed: bool,
    ) -> Result<(), StatementError> {
        let table = self.table(delete);
        for _ in 0..count {
            let row = Value::Int(self.row());
            if !renewed {
                self.execute(delete.at(table), &[row])?;
                self.execute(insert.at(table), &[row])?;
                continue;
            }
            let k = Value::Int(self.row());
            let (c, pad) = (self.groups::<C_LENGTH>(), self.groups::<PAD_LENGTH>());
            self.execute(delete.at(table), &[row])?;
            let texts = [Value::Text(as_str(&c)), Value::Text(as_str(&pad))];
            self.execute(insert.at(table), &[row, k, texts[0], texts[1]])?;
        }
        Ok(())
    }

    fn insert(&mut self, statement: ForTable, id: NewId, text: Text) -> Result<(), StatementError> {
        let statement = self.on_some_table(statement);
        let id = Value::Int(match id {
            NewId::Server => 0,
            NewId::Scattered(offset) => offset + self.id.scattered(self.seed),
        });
        let k = Value::Int(self.row());
        match text {
            Text::Groups => {
                let (c, pad) = (self.groups::<C_LENGTH>(), self.groups::<PAD_LENGTH>());
                self.execute(statement, &[id, k, Value::Text(as_str(&c)), Value::Text(as_str(&pad))])
            }
            Text::Integers => {
                let (c, pad) = (self.integers(10), self.integers(5));
                self.execute(statement, &[id, k, Value::Text(c.as_str()), Value::Text(pad.as_str())])
            }
        }
    }

    fn delete_once(&mut self, statement: ForTable) -> Result<(), StatementError> {
        let row = self.id.row_once(self.shared.options.table_size);
        let statement = self.on_some_table(statement);
        self.execute(statement, &[Value::Int(row)])
    }

    fn point_list(&mut self, statement: ForTable, count: usize) -> Result<(), StatementError> {
        let mut values = std::mem::take(&mut self.scratch.values);
        values.clear();
        values.extend((0..count).map(|_| Value::Int(self.k())));
        let outcome = self.execute(statement.at(0), &values);
        self.scratch.values = values;
        outcome
    }

    fn range_list(&mut self, statement: ForTable, count: usize, delta: i64) -> Result<(), StatementError> {
        let mut values = std::mem::take(&mut self.scratch.values);
        values.clear();
        for _ in 0..count {
            let first = self.k();
            values.extend([Value::Int(first), Value::Int(first + delta)]);
        }
        let outcome = self.execute(statement.at(0), &values);
        self.scratch.values = values;
        outcome
    }

    fn call(&mut self, statement: StatementId) -> Result<(), StatementError> {
        let number = |count: u64| Value::Int(i64::from(count as u32));
        let values = [number(self.id.member), number(self.shared.connections)];
        self.execute(statement, &values)
    }

    /// Members of a table take its rows in turn.
    fn bulk_insert(&mut self) -> Result<(), StatementError> {
        let tables = self.shared.bulk_tables.len() as u64;
        let (table, member) = (self.id.member % tables, self.id.member / tables);
        let members = self.shared.connections.div_ceil(tables);
        let first = 1 + (self.id.turn * members + member) * bulk::ROWS;
        self.think();
        bulk::write(&self.shared.bulk_tables[table as usize], first, &mut self.scratch.sql);
        let reply = self.session.connection().query(as_str(&self.scratch.sql))?;
        self.count(reply);
        Ok(())
    }

    #[inline]
    fn execute(&mut self, statement: StatementId, values: &[Value<'_>]) -> Result<(), StatementError> {
        self.think();
        let reply = self.session.connection().execute(statement, values)?;
        self.count(reply);
        if self.shared.options.reconnect_mode == ReconnectMode::Query {
            self.session.renew()?;
        }
        Ok(())
    }

    fn count(&mut self, reply: Reply) {
        self.gate.statement(reply.into());
    }

    /// What a user takes before each statement.
    #[inline]
    fn think(&mut self) {
        let delay = self.shared.options.user_delay;
        if delay.max_ms > 0.0 {
            let pause_ms = delay.min_ms + unit(&mut self.random) * (delay.max_ms - delay.min_ms);
            self.session.pause(Duration::from_nanos((pause_ms * 1e6) as u64));
        }
    }

    fn on_some_table(&mut self, statement: ForTable) -> StatementId {
        statement.at(self.table(statement))
    }

    fn table(&mut self, statement: ForTable) -> usize {
        below(&mut self.random, statement.tables()) as usize
    }

    fn row(&mut self) -> i64 {
        self.shared.rows.draw(&mut self.random)
    }

    /// A value of k from the member's part of 0 to the table's size.
    fn k(&mut self) -> i64 {
        let parts = self.shared.parts.as_ref().expect("lists are drawn from parts");
        let (first, count) = self.id.part(self.shared.options.table_size, self.shared.connections);
        let draw = if count == parts.small_count {
            &parts.small
        } else {
            &parts.large
        };
        first + draw.draw(&mut self.random) - 1
    }

    fn groups<const N: usize>(&mut self) -> [u8; N] {
        let mut text = [0; N];
        fill_groups(&mut self.random, &mut text);
        text
    }

    fn integers(&mut self, count: u32) -> Integers {
        Integers::new(&mut self.random, count)
    }
}

fn as_str(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("digits and punctuation")
}

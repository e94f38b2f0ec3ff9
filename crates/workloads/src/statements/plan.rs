//! A workload compiled: names became places, so that a transaction finds its values and statements by index.
//!
//! Deliberately not here: running it (`worker`), and whether it makes sense (`faults`).

use std::collections::HashMap;
use std::sync::Arc;

use plimsoll_core::plan::{Isolation, NoRow, StatementPlan, StatementsPlan, TransactionPlan, ValuePlan, ValueSource};
use plimsoll_session::{StatementId, Statements};

use super::choice::Choice;
use super::generate::Maker;

/// A whole workload.
pub struct Compiled {
    pub statements: Arc<Statements>,
    pub transactions: Vec<Transaction>,
    pub choice: Choice,
    /// The most values that a transaction has.
    pub values_max: usize,
    /// The columns that statements keep, one list for each statement that keeps any.
    pub kept: Vec<Vec<String>>,
}

/// One type of transaction.
pub struct Transaction {
    pub name: String,
    /// Statements before the first and after the last of its own.
    pub before: Vec<StatementId>,
    pub after: Option<StatementId>,
    pub draws: Vec<Draw>,
    pub steps: Vec<Step>,
}

/// A value that is made, and its place.
pub struct Draw {
    pub place: usize,
    pub source: Source,
}

/// Where a value comes from.
pub enum Source {
    Made(Maker),
    MadeOrNull(Maker, f64),
    Sum { place: usize, add: i64 },
}

/// One statement.
pub struct Step {
    pub statement: StatementId,
    pub draws: Vec<Draw>,
    /// The places of its parameters.
    pub parameters: Vec<usize>,
    /// Which of the worker's first rows it keeps, and where each of its columns goes.
    pub keep: Option<(usize, Vec<usize>)>,
    pub keep_insert_id: Option<usize>,
    pub no_row: NoRow,
    pub repeat_min: u32,
    /// How many numbers of repetitions there are.
    pub repeats: u64,
}

impl Compiled {
    /// Compiles a plan that has no faults.
    pub fn new(plan: &StatementsPlan) -> Self {
        let mut compiler = Compiler::default();
        let transactions = plan.transactions.iter().map(|one| compiler.transaction(one)).collect();
        Self {
            transactions,
            choice: Choice::of(plan),
            values_max: compiler.values_max,
            statements: Arc::new(Statements::new(compiler.texts, plan.prepared)),
            kept: compiler.kept,
        }
    }
}

#[derive(Default)]
struct Compiler {
    texts: Vec<String>,
    by_text: HashMap<String, StatementId>,
    kept: Vec<Vec<String>>,
    values_max: usize,
}

impl Compiler {
    fn transaction(&mut self, plan: &TransactionPlan) -> Transaction {
        let mut names = Names::default();
        let draws = names.draws(&plan.values);
        let mut before = Vec::new();
        if let Some(sql) = isolation_sql(plan.isolation) {
            before.push(self.statement(sql));
        }
        if plan.begin {
            before.push(self.statement("BEGIN"));
        }
        let after = plan.begin.then(|| self.statement("COMMIT"));
        let steps = plan.statements.iter().map(|one| self.step(one, &mut names)).collect();
        self.values_max = self.values_max.max(names.places.len());
        Transaction {
            name: plan.name.clone(),
            before,
            after,
            draws,
            steps,
        }
    }

    fn step(&mut self, plan: &StatementPlan, names: &mut Names) -> Step {
        let draws = names.draws(&plan.values);
        let parameters = plan.parameters.iter().map(|name| names.place(name)).collect();
        let keep = (!plan.keep.is_empty()).then(|| {
            self.kept.push(plan.keep.iter().map(|one| one.column.clone()).collect());
            let places = plan.keep.iter().map(|one| names.place(&one.name)).collect();
            (self.kept.len() - 1, places)
        });
        Step {
            statement: self.statement(&plan.sql),
            draws,
            parameters,
            keep,
            keep_insert_id: plan.keep_insert_id.as_ref().map(|name| names.place(name)),
            no_row: plan.no_row,
            repeat_min: plan.repeat_min,
            repeats: u64::from(plan.repeat_max - plan.repeat_min) + 1,
        }
    }

    /// Equal texts are one statement, prepared once.
    fn statement(&mut self, sql: &str) -> StatementId {
        if let Some(id) = self.by_text.get(sql) {
            return *id;
        }
        let id = StatementId(self.texts.len());
        self.texts.push(sql.to_owned());
        self.by_text.insert(sql.to_owned(), id);
        id
    }
}

fn isolation_sql(isolation: Isolation) -> Option<&'static str> {
    match isolation {
        Isolation::ServerDefault => None,
        Isolation::ReadUncommitted => Some("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"),
        Isolation::ReadCommitted => Some("SET TRANSACTION ISOLATION LEVEL READ COMMITTED"),
        Isolation::RepeatableRead => Some("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"),
        Isolation::Serializable => Some("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
    }
}

/// The values of one transaction, each with a place of its own.
#[derive(Default)]
struct Names {
    places: HashMap<String, usize>,
}

impl Names {
    fn place(&mut self, name: &str) -> usize {
        let next = self.places.len();
        *self.places.entry(name.to_owned()).or_insert(next)
    }

    fn draws(&mut self, values: &[ValuePlan]) -> Vec<Draw> {
        values.iter().map(|value| self.draw(value)).collect()
    }

    fn draw(&mut self, value: &ValuePlan) -> Draw {
        let source = match &value.source {
            ValueSource::Drawn { generator, null_ratio } if *null_ratio > 0.0 => {
                Source::MadeOrNull(Maker::new(generator), *null_ratio)
            }
            ValueSource::Drawn { generator, .. } => Source::Made(Maker::new(generator)),
            ValueSource::Sum { value, add } => Source::Sum {
                place: self.place(value),
                add: *add,
            },
        };
        Draw {
            place: self.place(&value.name),
            source,
        }
    }
}

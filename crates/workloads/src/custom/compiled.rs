//! A workload compiled: names became positions, so that a transaction finds its values and statements by index.
//!
//! Deliberately not here: running it (`worker`), and whether it makes sense (`faults`).

use std::collections::HashMap;
use std::sync::Arc;

use plimsoll_core::plan::{NoRow, Role, StatementPlan, StatementsPlan, TimesPlan, TransactionPlan};
use plimsoll_session::{StatementId, Statements};

use super::choice::Choice;
use super::counts::Times;
use super::keys::{Recent, ends_sql};
use super::reading;
use super::values::{Draw, Names};
use super::variants::Variants;
use crate::isolation;

/// A whole workload.
pub struct Compiled {
    pub statements: Arc<Statements>,
    pub transactions: Vec<Transaction>,
    pub choice: Choice,
    /// The most values that a transaction has.
    pub values_max: usize,
    /// The most lists that a transaction has.
    pub lists_max: usize,
    /// The columns that statements capture, one list for each statement that captures any.
    pub captured: Vec<Vec<String>>,
    /// What asks for the smallest and the largest key of each counter.
    pub counters: Vec<StatementId>,
    pub recent: Vec<Recent>,
}

/// One type of transaction.
pub struct Transaction {
    pub name: String,
    /// Where it may run.
    pub role: Role,
    /// Statements before the first and after the last of its own.
    pub before: Vec<StatementId>,
    pub after: Option<StatementId>,
    /// What it ends with instead, and how often.
    pub rollback: Option<(StatementId, f64)>,
    pub draws: Vec<Draw>,
    pub blocks: Vec<Block>,
}

/// Statements that are run several times, in their order.
pub struct Block {
    /// How often; `None` for once.
    pub repeat: Option<Times>,
    pub steps: Vec<Step>,
}

/// One statement.
pub struct Step {
    pub statement: StatementId,
    pub draws: Vec<Draw>,
    /// The positions of its parameters; empty where it has variants.
    pub parameters: Vec<usize>,
    pub variants: Option<Box<Variants>>,
    /// Which of the worker's first rows it captures, and where each of its columns goes.
    pub capture: Option<(usize, Vec<usize>)>,
    pub capture_insert_id: Option<usize>,
    /// The counter that follows what it is given.
    pub given: Option<usize>,
    pub no_row: NoRow,
    pub repeat: Times,
    /// Items of lists are counted by its repetitions, and not by the rounds of its loop.
    pub is_repeated: bool,
}

impl Compiled {
    /// Compiles a plan that has no faults.
    pub fn new(plan: &StatementsPlan) -> Self {
        let mut compiler = Compiler::default();
        let transactions = plan.transactions.iter().map(|one| compiler.transaction(one)).collect();
        let counters = plan
            .counters
            .iter()
            .map(|one| compiler.statement(&ends_sql(one)))
            .collect();
        Self {
            counters,
            recent: compiler.recent,
            transactions,
            choice: Choice::of(plan),
            values_max: compiler.values_max,
            lists_max: compiler.lists_max,
            statements: Arc::new(Statements::new(compiler.texts, plan.prepared)),
            captured: compiler.captured,
        }
    }
}

#[derive(Default)]
struct Compiler {
    texts: Vec<String>,
    by_text: HashMap<String, StatementId>,
    captured: Vec<Vec<String>>,
    values_max: usize,
    lists_max: usize,
    recent: Vec<Recent>,
}

impl Compiler {
    fn transaction(&mut self, plan: &TransactionPlan) -> Transaction {
        let mut names = Names::behind(std::mem::take(&mut self.recent));
        let draws = names.draws_of_transaction(&plan.values);
        let mut before = Vec::new();
        if let Some(sql) = isolation::next_transaction_sql(plan.isolation) {
            before.push(self.statement(&sql));
        }
        if plan.begin {
            before.push(self.statement("BEGIN"));
        }
        let after = plan.begin.then(|| self.statement("COMMIT"));
        let rollback = plan.rollback_ratio.map(|ratio| (self.statement("ROLLBACK"), ratio));
        let blocks = self.blocks(plan, &mut names);
        self.values_max = self.values_max.max(names.values());
        self.lists_max = self.lists_max.max(names.lists());
        self.recent = names.into_recent();
        Transaction {
            name: plan.name.clone(),
            role: reading::role(plan),
            before,
            after,
            rollback,
            draws,
            blocks,
        }
    }

    /// The loops of a transaction, and what is between them.
    fn blocks(&mut self, plan: &TransactionPlan, names: &mut Names) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut at = 0;
        for one in &plan.loops {
            blocks.push(self.block(&plan.statements[at..one.first], names, None));
            at = one.first + one.count;
            let repeat = names.times(&one.repeat);
            blocks.push(self.block(&plan.statements[one.first..at], names, Some(repeat)));
        }
        blocks.push(self.block(&plan.statements[at..], names, None));
        blocks.retain(|block| !block.steps.is_empty());
        blocks
    }

    fn block(&mut self, plans: &[StatementPlan], names: &mut Names, repeat: Option<Times>) -> Block {
        let steps = plans.iter().map(|one| self.step(one, names)).collect();
        Block { repeat, steps }
    }

    fn step(&mut self, plan: &StatementPlan, names: &mut Names) -> Step {
        let (draws, width) = match &plan.rows {
            None => (names.draws(&plan.values), 0),
            Some(rows) => names.draws_of_rows(&plan.values, rows),
        };
        let texts: Vec<StatementId> = plan.variants.iter().map(|sql| self.statement(sql)).collect();
        let (parameters, variants) = if texts.is_empty() {
            (plan.parameters.iter().map(|name| names.position(name)).collect(), None)
        } else {
            let variants = Variants::new(plan, names, width, texts.clone());
            (Vec::new(), Some(Box::new(variants)))
        };
        let capture = (!plan.keep.is_empty()).then(|| {
            self.captured
                .push(plan.keep.iter().map(|one| one.column.clone()).collect());
            let positions = plan.keep.iter().map(|one| names.position(&one.name)).collect();
            (self.captured.len() - 1, positions)
        });
        Step {
            statement: texts.first().copied().unwrap_or_else(|| self.statement(&plan.sql)),
            draws,
            parameters,
            variants,
            capture,
            capture_insert_id: plan.keep_insert_id.as_ref().map(|name| names.position(name)),
            given: plan.given,
            no_row: plan.no_row,
            repeat: names.times(&plan.repeat),
            is_repeated: plan.repeat != TimesPlan::default(),
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

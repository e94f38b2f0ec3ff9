//! What is wrong with a user's workload as it arrived: all of it at once, each with its path, its value and the cure.
//!
//! The Python side finds the same before it sends anything, in the words of the workload file. Whoever speaks the engine
//! protocol otherwise is told here.

use std::collections::HashSet;

use plimsoll_core::plan::{Isolation, StatementPlan, StatementsPlan, TransactionPlan, ValuePlan, ValueSource};

use super::worker::PARAMETERS_MAX;

mod generator;
mod table;

pub use table::table_faults;

/// A statement is not repeated more often.
const REPEAT_MAX: u32 = 1_000_000;

/// The longest think time, milliseconds: an hour.
const THINK_MS_MAX: f64 = 3_600_000.0;

/// Faults of a workload.
pub fn faults(plan: &StatementsPlan) -> Vec<String> {
    let mut faults = Vec::new();
    if plan.transactions.is_empty() {
        faults.push("workload.transactions: must not be empty".to_owned());
    }
    let mut names = HashSet::new();
    for (index, transaction) in plan.transactions.iter().enumerate() {
        let path = format!("workload.transactions[{index}]");
        if !names.insert(&transaction.name) {
            faults.push(format!("{path}.name: {:?} is there twice", transaction.name));
        }
        Checked::new(&path, &mut faults).transaction(transaction);
    }
    faults
}

/// One transaction while it is looked at: values are known from where they are made on.
struct Checked<'a> {
    path: &'a str,
    faults: &'a mut Vec<String>,
    known: HashSet<&'a str>,
}

impl<'a> Checked<'a> {
    fn new(path: &'a str, faults: &'a mut Vec<String>) -> Self {
        let known = HashSet::new();
        Self { path, faults, known }
    }

    fn say(&mut self, what: &str) {
        self.faults.push(format!("{}.{what}", self.path));
    }

    fn transaction(&mut self, plan: &'a TransactionPlan) {
        if plan.name.is_empty() {
            self.say("name: must not be empty");
        }
        if plan.weight == 0 {
            self.say("weight: must be at least 1, is 0");
        }
        if plan.isolation != Isolation::ServerDefault && !plan.begin {
            self.say("isolation: belongs to a transaction with begin");
        }
        if plan.statements.is_empty() {
            self.say("statements: must not be empty");
        }
        if let Some(range) = plan.think_time {
            if !(0.0 <= range.min_ms && range.min_ms <= range.max_ms && range.max_ms <= THINK_MS_MAX) {
                let (min_ms, max_ms) = (range.min_ms, range.max_ms);
                self.say(&format!(
                    "think_time: must rise within 0..={THINK_MS_MAX}, is {min_ms} to {max_ms}"
                ));
            }
        }
        self.values("values", &plan.values);
        for (index, statement) in plan.statements.iter().enumerate() {
            self.statement(&format!("statements[{index}]"), statement);
        }
    }

    fn statement(&mut self, path: &str, plan: &'a StatementPlan) {
        self.values(&format!("{path}.values"), &plan.values);
        let marks = plan.sql.matches('?').count();
        if marks != plan.parameters.len() {
            let count = plan.parameters.len();
            self.say(&format!(
                "{path}.sql: has {marks} question marks for {count} parameters; a `?` within quotes cannot be either"
            ));
        }
        if plan.sql.trim().is_empty() {
            self.say(&format!("{path}.sql: must not be empty"));
        }
        if plan.parameters.len() > PARAMETERS_MAX {
            let count = plan.parameters.len();
            self.say(&format!(
                "{path}.parameters: must be at most {PARAMETERS_MAX}, are {count}"
            ));
        }
        for name in &plan.parameters {
            self.must_be_known(&format!("{path}.parameters"), name);
        }
        if plan.repeat_min > plan.repeat_max || plan.repeat_max > REPEAT_MAX {
            let (min, max) = (plan.repeat_min, plan.repeat_max);
            self.say(&format!(
                "{path}.repeat_max: must rise within 0..={REPEAT_MAX}, is {min} to {max}"
            ));
        }
        self.known.extend(plan.keep.iter().map(|one| &*one.name));
        self.known.extend(plan.keep_insert_id.as_deref());
    }

    fn values(&mut self, path: &str, values: &'a [ValuePlan]) {
        for (index, value) in values.iter().enumerate() {
            let path = format!("{path}[{index}]");
            match &value.source {
                ValueSource::Drawn { generator, null_ratio } => {
                    for one in generator::faults(generator, *null_ratio, None) {
                        self.say(&format!("{path}.{one}"));
                    }
                }
                ValueSource::Sum { value, .. } => self.must_be_known(&path, value),
            }
            self.known.insert(&value.name);
        }
    }

    fn must_be_known(&mut self, path: &str, name: &str) {
        if !self.known.contains(name) {
            self.say(&format!("{path}: there is no value {name:?} before it"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(transaction: &str) -> StatementsPlan {
        let json = format!(r#"{{"tables":[],"prepared":true,"transactions":[{transaction}]}}"#);
        serde_json::from_str(&json).unwrap()
    }

    const STATEMENT: &str = r#"{"sql":"SELECT ?","parameters":["x"],"values":[],"keep":[],"keep_insert_id":null,
        "no_row":"continue","repeat_min":1,"repeat_max":1}"#;

    fn transaction(change: impl Fn(String) -> String) -> StatementsPlan {
        let draw = r#"{"name":"x","source":{"drawn":{"null_ratio":0,"generator":
            {"kind":"integer","first":1,"step":1,"count":9,"distribution":{"kind": "uniform"}}}}}"#;
        plan(&change(format!(
            r#"{{"name":"t","weight":1,"begin":false,"isolation":"server_default","think_time":null,"values":[{draw}],
                "statements":[{STATEMENT}]}}"#
        )))
    }

    #[test]
    fn what_makes_sense_has_no_faults() {
        assert_eq!(faults(&transaction(|json| json)), Vec::<String>::new());
    }

    #[test]
    fn each_fault_has_its_path() {
        for (from, to, expected) in [
            (
                r#""weight":1"#,
                r#""weight":0"#,
                "workload.transactions[0].weight: must be at least 1",
            ),
            (
                r#""SELECT ?""#,
                r#""SELECT '?', ?""#,
                "statements[0].sql: has 2 question marks for 1",
            ),
            (
                r#"["x"]"#,
                r#"["y"]"#,
                "statements[0].parameters: there is no value \"y\"",
            ),
            (r#""count":9"#, r#""count":0"#, "values[0].count: must be"),
            (
                r#""null_ratio":0"#,
                r#""null_ratio":2"#,
                "values[0].null_ratio: must be",
            ),
            (
                r#""repeat_min":1"#,
                r#""repeat_min":2"#,
                "statements[0].repeat_max: must rise",
            ),
            (
                r#""isolation":"server_default""#,
                r#""isolation":"serializable""#,
                "isolation: belongs",
            ),
            (
                r#""think_time":null"#,
                r#""think_time":{"min_ms":2,"max_ms":1}"#,
                "think_time: must rise",
            ),
        ] {
            let found = faults(&transaction(|json| json.replace(from, to)));
            assert!(found.len() == 1 && found[0].contains(expected), "{expected}: {found:?}");
        }
        assert_eq!(faults(&plan("")), ["workload.transactions: must not be empty"]);
    }

    #[test]
    fn all_faults_come_at_once() {
        let found = faults(&transaction(|json| {
            json.replace(r#""weight":1"#, r#""weight":0"#)
                .replace(r#"["x"]"#, r#"["y","z"]"#)
        }));
        assert_eq!(found.len(), 4, "{found:?}");
    }
}

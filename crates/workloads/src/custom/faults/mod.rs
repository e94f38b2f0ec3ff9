//! What is wrong with a user's workload as it arrived: all of it at once, each with its path, its value and the cure.
//!
//! The Python side finds the same before it sends anything, in the words of the workload file. Whoever speaks the engine
//! protocol otherwise is told here.

use std::collections::{HashMap, HashSet};

use plimsoll_core::plan::{
    CountPlan, Isolation, SamePlan, StatementPlan, StatementsPlan, TimesPlan, TransactionPlan, ValuePlan, ValueSource,
};

mod generator;
mod table;
mod variants;

pub use table::table_faults;

/// Most parameters that a statement may name: they are put together on the stack. Only those of more rows or items than that
/// are put together on the heap, each time.
pub const PARAMETERS_MAX: usize = 256;

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
        Checked::new(&path, &mut faults, plan.counters.len()).transaction(transaction);
    }
    faults
}

/// One transaction while it is looked at: values are known from where they are made on.
struct Checked<'a> {
    path: &'a str,
    faults: &'a mut Vec<String>,
    /// How many there are.
    counters: usize,
    known: HashSet<&'a str>,
    /// What lists have as their lengths, by name; `None` for single values.
    lists: HashMap<&'a str, Option<&'a CountPlan>>,
    /// The lists that are drawn before the first statement, and what they have as their lengths.
    of_transaction: HashMap<&'a str, &'a CountPlan>,
}

impl<'a> Checked<'a> {
    fn new(path: &'a str, faults: &'a mut Vec<String>, counters: usize) -> Self {
        Self {
            counters,
            path,
            faults,
            known: HashSet::new(),
            lists: HashMap::new(),
            of_transaction: HashMap::new(),
        }
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
        if let Some(ratio) = plan.rollback_ratio {
            if !(0.0..=1.0).contains(&ratio) || !plan.begin {
                self.say(&format!(
                    "rollback_ratio: must be within 0..=1, and belongs to a transaction with begin, is {ratio}"
                ));
            }
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
        for (index, value) in plan.values.iter().enumerate() {
            self.value(&format!("values[{index}]"), value, false);
            if let Some(counts) = self.lists[&*value.name] {
                self.of_transaction.insert(&value.name, counts);
            }
        }
        for (index, statement) in plan.statements.iter().enumerate() {
            let is_in_loop = plan
                .loops
                .iter()
                .any(|one| index >= one.first && index - one.first < one.count);
            self.statement(&format!("statements[{index}]"), statement, is_in_loop);
        }
        self.loops(plan);
    }

    fn loops(&mut self, plan: &'a TransactionPlan) {
        let mut end = 0;
        for (index, one) in plan.loops.iter().enumerate() {
            let path = format!("loops[{index}]");
            self.times(&format!("{path}.repeat"), &one.repeat);
            let until = one.first.saturating_add(one.count);
            if one.first < end || one.count == 0 || until > plan.statements.len() {
                let (first, count) = (one.first, one.count);
                self.say(&format!(
                    "{path}.first: must be statements of this transaction, behind those of other loops, are {count} \
                     from {first}"
                ));
            }
            end = until;
        }
    }

    /// A number that is drawn and lies within these limits.
    fn counts(&mut self, path: &str, plan: &CountPlan, (least, most): (u32, u32)) {
        if let Some(fault) = plan.fault(least, most) {
            self.say(&format!("{path}: {fault}"));
        }
    }

    /// How often something runs.
    fn times(&mut self, path: &str, plan: &TimesPlan) {
        match plan {
            TimesPlan::Drawn(counts) => self.counts(path, counts, (0, REPEAT_MAX)),
            TimesPlan::Items(items) => self.must_be_list(path, &items.items_of),
        }
    }

    fn must_be_list(&mut self, path: &str, name: &str) {
        if !self.of_transaction.contains_key(name) {
            self.say(&format!(
                "{path}: {name:?} is no list that is drawn before the first statement"
            ));
        }
    }

    fn statement(&mut self, path: &str, plan: &'a StatementPlan, is_in_loop: bool) {
        let is_several = is_in_loop || plan.rows.is_some() || plan.repeat != TimesPlan::default();
        for (index, value) in plan.values.iter().enumerate() {
            self.value(&format!("{path}.values[{index}]"), value, is_several);
        }
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
        if let Some(by) = &plan.by {
            self.must_be_known(&format!("{path}.by"), &by.value);
        }
        self.times(&format!("{path}.repeat"), &plan.repeat);
        if let Some(counter) = plan.given {
            self.must_count(&format!("{path}.given"), counter);
        }
        for fault in variants::faults(plan, &self.lists, &self.of_transaction) {
            self.say(&format!("{path}.{fault}"));
        }
        self.known.extend(plan.keep.iter().map(|one| &*one.name));
        self.known.extend(plan.keep_insert_id.as_deref());
    }

    /// A value, which may be an item of a list where there are several rows or executions.
    fn value(&mut self, path: &str, value: &'a ValuePlan, is_several: bool) {
        match &value.source {
            ValueSource::Drawn { generator, null_ratio } => {
                for one in generator::faults(generator, *null_ratio, None) {
                    self.say(&format!("{path}.{one}"));
                }
            }
            ValueSource::Sum { value, .. } => self.must_be_known(path, value),
            ValueSource::RowNumber {} => {}
            ValueSource::ItemOf { list } if is_several => self.must_be_list(path, list),
            ValueSource::ItemOf { .. } => {
                self.say(&format!(
                    "{path}: belongs to a statement in a loop, with a repeat or with rows"
                ));
            }
            ValueSource::Next { counter } => self.must_count(path, *counter),
            ValueSource::Recent {
                counter,
                within,
                distribution,
            } => {
                self.must_count(path, *counter);
                if let Some(fault) = generator::counted(within.unwrap_or(1).into(), distribution) {
                    self.say(&format!("{path}.{fault}"));
                }
            }
        }
        if value.items.is_none() && (value.sorted || value.distinct) {
            self.say(&format!("{path}: only items of a list can be sorted or distinct"));
        }
        let counts = value
            .items
            .as_ref()
            .and_then(|items| self.items(&format!("{path}.items"), items));
        if let Some(same) = &value.same {
            self.same(&format!("{path}.same"), same, counts);
        }
        self.lists.insert(&value.name, counts);
        self.known.insert(&value.name);
    }

    /// An earlier value that another one often is, which is a list with these lengths, if any.
    fn same(&mut self, path: &str, same: &SamePlan, lengths: Option<&CountPlan>) {
        if !(0.0..=1.0).contains(&same.ratio) {
            self.say(&format!("{path}.ratio: must be within 0..=1, is {}", same.ratio));
        }
        let Some(lengths) = lengths else {
            self.must_be_known(path, &same.value);
            if self.lists.get(&*same.value).is_some_and(Option::is_some) {
                self.say(&format!("{path}: {:?} is a list, this is none", same.value));
            }
            return;
        };
        self.must_be_list(path, &same.value);
        let others = self.of_transaction.get(&*same.value).copied();
        let is_sound = |one: &CountPlan| one.fault(1, variants::ITEMS_MAX).is_none();
        if let Some(others) = others.filter(|others| is_sound(others) && is_sound(lengths)) {
            let own = lengths.numbers();
            if others.numbers().iter().any(|number| !own.contains(number)) {
                self.say(&format!(
                    "{path}: must be able to have as many items as {:?}",
                    same.value
                ));
            }
        }
    }

    /// How many items a list has.
    fn items(&mut self, path: &str, plan: &'a TimesPlan) -> Option<&'a CountPlan> {
        match plan {
            TimesPlan::Drawn(counts) => {
                self.counts(path, counts, (1, variants::ITEMS_MAX));
                Some(counts)
            }
            TimesPlan::Items(items) => {
                self.must_be_list(path, &items.items_of);
                self.of_transaction.get(&*items.items_of).copied()
            }
        }
    }

    fn must_count(&mut self, path: &str, counter: usize) {
        if counter >= self.counters {
            let count = self.counters;
            self.say(&format!(
                "{path}.counter: must be the position of one of {count} counters, is {counter}"
            ));
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
        "no_row":"continue","repeat":{"range":{"min":1,"max":1}}}"#;

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
            (r#""min":1"#, r#""min":2"#, "statements[0].repeat: must rise"),
            (
                r#""think_time":null"#,
                r#""think_time":null,"rollback_ratio":0.5"#,
                "rollback_ratio: must be within 0..=1, and belongs",
            ),
            (
                r#""think_time":null"#,
                r#""think_time":null,"loops":[{"first":0,"count":2,"repeat":{"range":{"min":1,"max":2}}}]"#,
                "loops[0].first: must be statements",
            ),
            (
                r#""think_time":null"#,
                r#""think_time":null,"loops":[{"first":0,"count":1,"repeat":{"range":{"min":3,"max":2}}}]"#,
                "loops[0].repeat: must rise",
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
    fn items_belong_to_a_list_of_the_transaction_and_to_what_runs_several_times() {
        let item = r#"{"name":"y","source":{"item_of":{"list":"ids"}}}"#;
        let found = |list: &str, repeat: &str| {
            faults(&transaction(|json| {
                let list = format!(r#"{{"name":"{list}","items":{{"range":{{"min":1,"max":2}}}},"sorted":true,"#);
                let values = r#""parameters":["x"],"values":["#;
                json.replace(r#"["x"]"#, r#"["y"]"#)
                    .replace(
                        r#""parameters":["y"],"values":["#,
                        &format!("{}{item}", values.replace('x', "y")),
                    )
                    .replacen(r#"{"name":"x","#, &list, 1)
                    .replace(r#"{"range":{"min":1,"max":1}}"#, repeat)
            }))
        };
        let by_list = r#"{"items_of":"ids"}"#;
        assert_eq!(found("ids", by_list), Vec::<String>::new());
        assert_eq!(found("ids", r#"{"range":{"min":1,"max":3}}"#), Vec::<String>::new());
        let alone = found("ids", r#"{"range":{"min":1,"max":1}}"#);
        assert!(
            alone.len() == 1 && alone[0].contains("values[0]: belongs to a statement in a loop"),
            "{alone:?}"
        );
        let other = found("others", by_list);
        assert!(
            other.len() == 2
                && other
                    .iter()
                    .all(|one| one.contains("\"ids\" is no list that is drawn before")),
            "{other:?}"
        );
        let single = faults(&transaction(|json| {
            json.replacen(r#"{"name":"x","#, r#"{"name":"x","sorted":true,"#, 1)
        }));
        assert!(
            single.len() == 1 && single[0].contains("values[0]: only items of a list can be sorted"),
            "{single:?}"
        );
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

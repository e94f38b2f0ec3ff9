//! Plans of users' own workloads, written as the engine protocol has them.

use plimsoll_core::plan::{CounterPlan, DataPlan, DataSet, LoadMethod, StatementsData, StatementsPlan, Target};
use serde_json::{Value, json};

/// A workload of these transactions on these tables.
pub fn workload(tables: &[&str], transactions: &Value) -> StatementsPlan {
    serde_json::from_value(json!({"tables": tables, "prepared": true, "transactions": transactions})).unwrap()
}

/// The same with counters of the keys of these columns.
pub fn counting(plan: &StatementsPlan, columns: &[(&str, &str)]) -> StatementsPlan {
    let counter = |(table, column): &(&str, &str)| CounterPlan {
        table: (*table).to_owned(),
        column: (*column).to_owned(),
    };
    StatementsPlan {
        counters: columns.iter().map(counter).collect(),
        ..plan.clone()
    }
}

/// The same with statements sent as text.
pub fn as_text(plan: &StatementsPlan) -> StatementsPlan {
    StatementsPlan {
        prepared: false,
        ..plan.clone()
    }
}

/// A transaction with the defaults of what is not given.
pub fn transaction(name: &str, given: Value) -> Value {
    let defaults = json!({"name": name, "weight": 1, "begin": false, "isolation": "server_default", "values": [],
        "statements": [], "loops": [], "rollback_ratio": null,
        "think_time": null});
    merged(defaults, given)
}

/// A statement with the defaults of what is not given.
pub fn statement(sql: &str, parameters: &[&str], given: Value) -> Value {
    let defaults = json!({"sql": sql, "parameters": parameters, "values": [], "keep": [], "keep_insert_id": null, "given": null,
        "no_row": "continue", "repeat": {"range": {"min": 1, "max": 1}},
        "rows": null, "variants": []});
    merged(defaults, given)
}

/// A value that is drawn.
pub fn drawn(name: &str, generator: &Value) -> Value {
    json!({"name": name, "source": {"drawn": {"generator": generator, "null_ratio": 0.0}}})
}

/// An integer from 1 to `count`, each equally likely.
pub fn integer(count: u64) -> Value {
    json!({"kind": "integer", "first": 1, "step": 1, "count": count, "distribution": {"kind": "uniform"}})
}

/// A column that is never NULL.
pub fn column(name: &str, sql_type: &str, generator: &Value) -> Value {
    json!({"name": name, "sql_type": sql_type, "nullable": false, "auto_increment": false, "null_ratio": 0.0,
        "generator": generator})
}

/// A table whose first column is its primary key.
pub fn table(name: &str, rows: u64, columns: &[Value]) -> Value {
    json!({"name": name, "rows": rows, "primary_key": [columns[0]["name"]], "indexes": [], "columns": columns})
}

/// Tables to make.
pub fn data(target: &Target, tables: &[Value]) -> DataPlan {
    let data: StatementsData = serde_json::from_value(json!({"tables": tables, "seed": 5})).unwrap();
    DataPlan {
        protocol: 1,
        target: target.clone(),
        data_set: DataSet::Statements(data),
        loaders: 2,
        method: LoadMethod::Auto,
        drop_foreign: false,
    }
}

/// The second with everything of the first that it has not.
fn merged(mut defaults: Value, given: Value) -> Value {
    let Value::Object(given) = given else { return defaults };
    let all = defaults.as_object_mut().unwrap();
    for (name, value) in given {
        assert!(all.insert(name.clone(), value).is_some(), "there is no field {name}");
    }
    defaults
}

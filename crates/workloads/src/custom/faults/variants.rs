//! What is wrong with statements that have rows or lists.

use std::collections::HashMap;

use plimsoll_core::plan::{CountPlan, StatementPlan, TimesPlan};

/// Most rows of a statement, and items of a list.
pub const ITEMS_MAX: u32 = 1_000;
/// Most texts of a statement.
const VARIANTS_MAX: u64 = 64;
/// Most statements of which a value chooses one.
const CHOICES_MAX: u64 = 1_000;
/// As many parameters as the protocol can number.
const EXPANDED_MAX: u64 = 65_535;

/// Faults, each behind the name of its field. `lists` has the lengths of values that are lists, `of_transaction` those of lists
/// that are drawn before the first statement.
pub fn faults(
    plan: &StatementPlan,
    lists: &HashMap<&str, Option<&CountPlan>>,
    of_transaction: &HashMap<&str, &CountPlan>,
) -> Vec<String> {
    let rows = plan.rows.as_ref().map(|one| match &one.rows {
        TimesPlan::Drawn(counts) => Ok(counts),
        TimesPlan::Items(items) => of_transaction.get(&*items.items_of).copied().ok_or(&items.items_of),
    });
    let rows = match rows.transpose() {
        Ok(rows) => rows,
        Err(name) => {
            return vec![format!(
                "rows.rows: {name:?} is no list that is drawn before the first statement"
            )];
        }
    };
    if let Some(fault) = rows_fault(plan, rows) {
        return vec![fault];
    }
    let mut drawn: Vec<(Option<&str>, &CountPlan)> = Vec::new();
    drawn.extend(rows.map(|counts| (None, counts)));
    for name in &plan.parameters {
        let list = lists.get(&**name).copied().flatten();
        if let Some(list) = list.filter(|_| !drawn.iter().any(|(one, _)| *one == Some(name))) {
            drawn.push((Some(name), list));
        }
    }
    let lengths = drawn
        .iter()
        .fold(1, |all: u64, (_, counts)| all.saturating_mul(counts.choices()));
    let choices = match &plan.by {
        Some(by) => u64::from(by.choices),
        None => u64::from(!drawn.is_empty()),
    };
    let expected = lengths.saturating_mul(choices);
    let count = plan.variants.len() as u64;
    if count != expected || lengths > VARIANTS_MAX || choices > CHOICES_MAX {
        return vec![format!(
            "variants: must be one for each number of rows and items, {expected}, at most {VARIANTS_MAX}, are {count}"
        )];
    }
    if drawn.iter().any(|(_, counts)| counts.fault(1, ITEMS_MAX).is_some()) {
        return vec![]; // told where it stands
    }
    (0..count)
        .filter_map(|position| variant_fault(plan, &drawn, position))
        .collect()
}

fn rows_fault(plan: &StatementPlan, counts: Option<&CountPlan>) -> Option<String> {
    let rows = plan.rows.as_ref()?;
    if let Some(fault) = counts?.fault(1, ITEMS_MAX) {
        return Some(format!("rows.rows: {fault}"));
    }
    if plan.values.iter().any(|value| value.items.is_some()) {
        return Some("values: are drawn for each row, so none can be a list".to_owned());
    }
    let end = rows.first.saturating_add(rows.count);
    (end > plan.parameters.len()).then(|| {
        format!(
            "rows.count: must be parameters of the statement, are {} from {}",
            rows.count, rows.first
        )
    })
}

/// Whether a text has as many question marks as there are values for it.
fn variant_fault(plan: &StatementPlan, drawn: &[(Option<&str>, &CountPlan)], position: u64) -> Option<String> {
    let mut rest = position; // what is left of it at the end is the choice
    let mut numbers: HashMap<Option<&str>, u64> = HashMap::new();
    for (name, counts) in drawn.iter().rev() {
        numbers.insert(*name, counts.at((rest % counts.choices()) as usize).into());
        rest /= counts.choices();
    }
    let of = |name: &String| numbers.get(&Some(&**name)).copied().unwrap_or(1);
    let mut expected: u64 = plan.parameters.iter().map(of).sum();
    if let Some(rows) = &plan.rows {
        let each: u64 = plan.parameters[rows.first..rows.first + rows.count]
            .iter()
            .map(of)
            .sum();
        expected += (numbers[&None] - 1) * each;
    }
    let marks = plan.variants[position as usize].matches('?').count() as u64;
    (marks != expected || expected > EXPANDED_MAX).then(|| {
        format!("variants[{position}]: must have {expected} question marks, at most {EXPANDED_MAX}, has {marks}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(change: impl Fn(&mut serde_json::Value)) -> Vec<String> {
        let mut json = serde_json::json!({"sql": "INSERT INTO t VALUES (?, ?) ? (?)", "parameters": ["a", "b", "c", "ids"],
            "values": [], "keep": [], "keep_insert_id": null, "no_row": "continue",
            "rows": {"first": 0, "count": 2, "rows": {"range": {"min": 1, "max": 2}}},
            "variants": ["????", "??????", "??????", "????????"]});
        change(&mut json);
        let lengths = CountPlan::Weighted {
            counts: vec![1, 3],
            weights: vec![1.0, 1.0],
        };
        let lists = HashMap::from([("a", None), ("ids", Some(&lengths))]);
        let of_transaction = HashMap::from([("ids", &lengths)]);
        faults(&serde_json::from_value(json).unwrap(), &lists, &of_transaction)
    }

    #[test]
    fn each_length_has_its_text() {
        assert_eq!(found(|_| ()), Vec::<String>::new());
        let fewer = found(|json| json["variants"] = serde_json::json!(["????"]));
        assert_eq!(
            fewer,
            ["variants: must be one for each number of rows and items, 4, at most 64, are 1"]
        );
        let other = found(|json| json["variants"][2] = serde_json::json!("???"));
        assert_eq!(other, ["variants[2]: must have 6 question marks, at most 65535, has 3"]);
    }

    #[test]
    fn there_may_be_as_many_rows_as_a_list_has_items() {
        let of = |list: &str| {
            found(|json| {
                json["rows"]["rows"] = serde_json::json!({"items_of": list});
                json["variants"] = serde_json::json!(["????", "??????", "????????", "??????????"]);
            })
        };
        assert_eq!(of("ids"), Vec::<String>::new());
        assert_eq!(
            of("a"),
            ["rows.rows: \"a\" is no list that is drawn before the first statement"]
        );
    }

    #[test]
    fn rows_are_parameters_of_their_statement() {
        let none = found(|json| json["rows"]["rows"]["range"]["min"] = serde_json::json!(0));
        assert!(none[0].starts_with("rows.rows: must rise within 1..=1000"), "{none:?}");
        let beyond = found(|json| json["rows"]["count"] = serde_json::json!(5));
        assert_eq!(
            beyond,
            ["rows.count: must be parameters of the statement, are 5 from 0"]
        );
    }
}

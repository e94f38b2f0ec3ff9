//! Items of lists, one behind the other in the memory of a worker: nothing here allocates.

use std::cmp::Ordering;

use plimsoll_session::{Captured, Value};

/// How often an item is drawn again that is there already. One that is hot enough stays then, whatever was asked for.
pub const AGAIN_MAX: u32 = 100;

/// Puts items into ascending order: NULL, numbers as numbers, all else byte by byte.
pub fn sort(items: &mut [Captured]) {
    items.sort_unstable_by(|one, other| order(one.value(), other.value()));
}

/// Whether the last of these is among those before it.
pub fn is_there_before(items: &[Captured]) -> bool {
    let Some((last, before)) = items.split_last() else {
        return false;
    };
    before.iter().any(|one| one.value() == last.value())
}

/// Copies a value from one position to another, using the memory that is there.
#[inline]
pub fn copy(values: &mut [Captured], from: usize, to: usize) {
    let (before, behind) = values.split_at_mut(from.max(to));
    match from.cmp(&to) {
        Ordering::Less => behind[0].set(&before[from]),
        Ordering::Greater => before[to].set(&behind[0]),
        Ordering::Equal => {}
    }
}

fn order(one: Value<'_>, other: Value<'_>) -> Ordering {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => one.cmp(&other),
        (Value::Bytes(one), Value::Bytes(other)) => one.cmp(other),
        _ => rank(one).cmp(&rank(other)),
    }
}

fn rank(value: Value<'_>) -> u8 {
    match value {
        Value::Null => 0,
        Value::Int(_) | Value::Double(_) => 1,
        Value::Text(_) | Value::Bytes(_) => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(items: &[&str]) -> Vec<Captured> {
        let text = |text: &&str| {
            let mut item = Captured::default();
            item.begin_bytes().extend_from_slice(text.as_bytes());
            item
        };
        items.iter().map(text).collect()
    }

    fn integers(items: &[i64]) -> Vec<Captured> {
        let integer = |int: &i64| {
            let mut item = Captured::default();
            item.set_int(*int);
            item
        };
        items.iter().map(integer).collect()
    }

    #[test]
    fn numbers_rise_as_numbers_and_texts_as_texts() {
        let mut numbers = integers(&[10, 9, -3, 9]);
        sort(&mut numbers);
        assert_eq!(numbers, integers(&[-3, 9, 9, 10]));
        let mut names = texts(&["b", "10", "9", "a"]);
        sort(&mut names);
        assert_eq!(names, texts(&["10", "9", "a", "b"]));
        let mut mixed = integers(&[2]);
        mixed.push(Captured::default());
        sort(&mut mixed);
        assert_eq!(mixed[0].value(), Value::Null);
    }

    #[test]
    fn the_last_item_is_looked_for_among_those_before_it() {
        let of = |items: &[i64]| is_there_before(&integers(items));
        assert_eq!(
            [of(&[]), of(&[1]), of(&[1, 2]), of(&[1, 2, 1])],
            [false, false, false, true]
        );
    }

    #[test]
    fn a_copy_is_the_same_whatever_was_there() {
        let mut values = texts(&["long enough", "x"]);
        values.extend(integers(&[7]));
        copy(&mut values, 2, 0);
        copy(&mut values, 1, 2);
        assert_eq!(
            (values[0].value(), values[2].value()),
            (Value::Int(7), Value::Bytes(b"x"))
        );
    }
}

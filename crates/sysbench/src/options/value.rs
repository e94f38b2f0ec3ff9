//! Values of options and how they are read.

/// What the value of an option is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A switch: on, true, 1 or nothing; off, false, 0.
    Bool,
    /// A whole number of 32 bits.
    Int,
    /// A number of bytes: digits, and K, M, G or T.
    Size,
    /// A number.
    Double,
    /// A text.
    String,
    /// Texts between commas.
    List,
    /// The name of a file.
    File,
    /// Percent of a percentile, or several between commas.
    Percentiles,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A switch.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Bytes.
    Size(u64),
    /// A number.
    Double(f64),
    /// A text; empty where none was given.
    String(String),
    /// Texts; empty where none was given.
    List(Vec<String>),
    /// The name of a file; empty where none was given.
    File(String),
    /// Percent of each percentile; empty for none.
    Percentiles(Vec<f64>),
}

impl Kind {
    /// How it is shown behind the name in a table of options.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Bool => "[=on|off]",
            Self::Int | Self::Double | Self::Percentiles => "=N",
            Self::Size => "=SIZE",
            Self::String => "=STRING",
            Self::List => "=[LIST,...]",
            Self::File => "=FILENAME",
        }
    }

    /// Reads a value; `None` for text that is no such value. `text` is absent for a bare `--name`.
    pub fn read(self, text: Option<&str>) -> Option<Value> {
        let given = text.unwrap_or_default();
        match self {
            Self::Bool => switch(text).map(Value::Bool),
            Self::Int => given
                .trim_start()
                .parse::<i32>()
                .ok()
                .map(|number| Value::Int(number.into())),
            Self::Size => size(given).map(Value::Size),
            Self::Double => given.trim_start().parse().ok().map(Value::Double),
            Self::String => Some(Value::String(given.to_owned())),
            Self::List => Some(Value::List(list(given))),
            Self::File => Some(Value::File(given.to_owned())),
            Self::Percentiles => percentiles(given).map(Value::Percentiles),
        }
    }

    /// The value where nothing was given and nothing is declared.
    pub fn empty(self) -> Value {
        match self {
            Self::Bool => Value::Bool(false),
            Self::Int => Value::Int(0),
            Self::Size => Value::Size(0),
            Self::Double => Value::Double(0.0),
            Self::String => Value::String(String::new()),
            Self::List => Value::List(vec![]),
            Self::File => Value::File(String::new()),
            Self::Percentiles => Value::Percentiles(vec![]),
        }
    }
}

fn switch(text: Option<&str>) -> Option<bool> {
    match text {
        None | Some("on" | "true" | "1") => Some(true),
        Some("off" | "false" | "0") => Some(false),
        Some(_) => None,
    }
}

/// Digits, and a letter for a power of 1,024.
fn size(text: &str) -> Option<u64> {
    let (digits, shift) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 10),
        (at, 'm' | 'M') => (&text[..at], 20),
        (at, 'g' | 'G') => (&text[..at], 30),
        (at, 't' | 'T') => (&text[..at], 40),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

fn list(text: &str) -> Vec<String> {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    items.map(str::to_owned).collect()
}

/// Numbers between 0 and 100; 0 alone means none.
fn percentiles(text: &str) -> Option<Vec<f64>> {
    let percents: Vec<f64> = list(text).iter().map(|one| one.parse().ok()).collect::<Option<_>>()?;
    match percents[..] {
        [0.0] => Some(vec![]),
        [] => None,
        _ => percents
            .iter()
            .all(|one| *one > 0.0 && *one <= 100.0)
            .then_some(percents),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_may_stand_alone() {
        let read = |text| Kind::Bool.read(text);
        assert_eq!(
            (read(None), read(Some("true"))),
            (Some(Value::Bool(true)), Some(Value::Bool(true)))
        );
        assert_eq!((read(Some("0")), read(Some("maybe"))), (Some(Value::Bool(false)), None));
    }

    #[test]
    fn sizes_have_letters_and_bounds() {
        let read = |text| Kind::Size.read(Some(text));
        assert_eq!(
            (read("16K"), read("2G")),
            (Some(Value::Size(16_384)), Some(Value::Size(2 << 30)))
        );
        assert_eq!(
            (read("99999999T"), read("K"), read("1é"), read("-1")),
            (None, None, None, None)
        );
    }

    #[test]
    fn whole_numbers_have_32_bits() {
        let read = |text| Kind::Int.read(Some(text));
        assert_eq!(
            (read("-7"), read("2147483648"), read("4x")),
            (Some(Value::Int(-7)), None, None)
        );
    }

    #[test]
    fn lists_are_split_at_commas() {
        let value = Kind::List.read(Some("a, b,,c"));
        assert_eq!(value, Some(Value::List(["a", "b", "c"].map(str::to_owned).to_vec())));
        assert_eq!(Kind::List.read(None), Some(Kind::List.empty()));
    }

    #[test]
    fn percentiles_may_be_several_and_fractions() {
        let read = |text| Kind::Percentiles.read(Some(text));
        assert_eq!(read("95,99.9"), Some(Value::Percentiles(vec![95.0, 99.9])));
        assert_eq!(
            (read("0"), read("0,5"), read("101"), read("")),
            (Some(Value::Percentiles(vec![])), None, None, None)
        );
    }
}

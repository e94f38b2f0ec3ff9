//! Values of options and how they are read, with what sysbench makes of text that is no proper value: nothing is 0, and
//! a number with something behind it is that number where it may have a fraction or a unit.

use super::strtod::double;

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
    /// A switch, or the name of a mode: `--mysql-ssl`.
    Mode,
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
            Self::Bool | Self::Mode => "[=on|off]",
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
            Self::Mode => mode(text),
            Self::Int if given.is_empty() => Some(Value::Int(0)),
            Self::Int => given
                .trim_start()
                .parse::<i32>()
                .ok()
                .map(|number| Value::Int(number.into())),
            Self::Size => size(given).map(|(bytes, _)| Value::Size(bytes)),
            Self::Double => Some(Value::Double(double(given).0)),
            Self::String => Some(Value::String(given.to_owned())),
            Self::List => Some(Value::List(list(given))),
            Self::File => Some(Value::File(given.to_owned())),
            Self::Percentiles => percentiles(given).map(Value::Percentiles),
        }
    }

    /// Whether nothing of a text that was read was left out. Nothing at all is 0, which is meant.
    pub fn takes_whole(self, text: &str) -> bool {
        match self {
            Self::Size => size(text).is_none_or(|(_, read_bytes)| read_bytes == text.len()),
            Self::Double => double(text).1 == text.len(),
            _ => true,
        }
    }

    /// The value where nothing was given and nothing is declared. A switch without a default is on, as in sysbench.
    pub fn empty(self) -> Value {
        match self {
            Self::Bool | Self::Mode => Value::Bool(true),
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

/// A switch where it is one, else a text; nothing behind `=` is neither.
fn mode(text: Option<&str>) -> Option<Value> {
    match (switch(text), text) {
        (Some(is_on), _) => Some(Value::Bool(is_on)),
        (None, Some("")) => None,
        (None, text) => text.map(|text| Value::String(text.to_owned())),
    }
}

/// Digits, and a letter for a power of 1,024, with how many bytes of the text that are. What is no size is 0, and what stands
/// behind the letter is not looked at. `None` where it is too large.
fn size(text: &str) -> Option<(u64, usize)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let shift = match text.as_bytes().get(digits) {
        _ if digits == 0 => return Some((0, 0)),
        None => return Some((text.parse().ok()?, digits)),
        Some(b'k' | b'K') => 10,
        Some(b'm' | b'M') => 20,
        Some(b'g' | b'G') => 30,
        Some(b't' | b'T') => 40,
        Some(_) => return Some((0, 0)),
    };
    let bytes = text[..digits].parse::<u64>().ok()?.checked_mul(1 << shift)?;
    Some((bytes, digits + 1))
}

fn list(text: &str) -> Vec<String> {
    let items = text.split(',').filter(|item| !item.is_empty());
    items.map(str::to_owned).collect()
}

/// Numbers; 0 alone means none, and so does nothing.
fn percentiles(text: &str) -> Option<Vec<f64>> {
    let number = |item: &String| item.trim().parse().ok().filter(|one: &f64| one.is_finite());
    let percents: Vec<f64> = list(text).iter().map(number).collect::<Option<_>>()?;
    match percents[..] {
        [0.0] => Some(vec![]),
        [] if !text.is_empty() => None,
        _ => Some(percents),
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
    fn a_mode_is_a_switch_or_a_name() {
        let read = |text| Kind::Mode.read(text);
        assert_eq!(
            (read(None), read(Some("off"))),
            (Some(Value::Bool(true)), Some(Value::Bool(false)))
        );
        assert_eq!(read(Some("REQUIRED")), Some(Value::String("REQUIRED".to_owned())));
        assert_eq!(read(Some("")), None);
    }

    #[test]
    fn sizes_have_letters_and_bounds() {
        let read = |text| Kind::Size.read(Some(text));
        assert_eq!(
            (read("16K"), read("2G")),
            (Some(Value::Size(16_384)), Some(Value::Size(2 << 30)))
        );
        assert_eq!((read("99999999T"), read("99999999999999999999")), (None, None));
    }

    #[test]
    fn a_text_that_is_no_size_is_0_and_said_to_be_so() {
        for (text, bytes, is_whole) in [
            ("", 0, true),
            ("K", 0, false),
            ("1é", 0, false),
            ("-1", 0, false),
            ("5x", 0, false),
            ("1kb", 1024, false),
            ("1k", 1024, true),
        ] {
            assert_eq!(Kind::Size.read(Some(text)), Some(Value::Size(bytes)), "{text}");
            assert_eq!(Kind::Size.takes_whole(text), is_whole, "{text}");
        }
    }

    #[test]
    fn a_number_with_something_behind_it_is_that_number_and_said_to_be_so() {
        for (text, number, is_whole) in [
            ("", 0.0, true),
            ("1k", 1.0, false),
            ("x", 0.0, false),
            (" -.5e-2", -0.005, true),
            ("1e", 1.0, false),
            ("0x10", 16.0, true),
        ] {
            assert_eq!(Kind::Double.read(Some(text)), Some(Value::Double(number)), "{text}");
            assert_eq!(Kind::Double.takes_whole(text), is_whole, "{text}");
        }
    }

    #[test]
    fn whole_numbers_have_32_bits() {
        let read = |text| Kind::Int.read(Some(text));
        assert_eq!(
            (read("-7"), read("2147483648"), read("4x")),
            (Some(Value::Int(-7)), None, None)
        );
        assert_eq!(
            (read(""), Kind::Int.read(None)),
            (Some(Value::Int(0)), Some(Value::Int(0)))
        );
    }

    #[test]
    fn lists_are_split_at_commas() {
        let value = Kind::List.read(Some("a, b,,c"));
        assert_eq!(value, Some(Value::List(["a", " b", "c"].map(str::to_owned).to_vec())));
        assert_eq!(Kind::List.read(None), Some(Kind::List.empty()));
    }

    #[test]
    fn percentiles_may_be_several_and_fractions() {
        let read = |text| Kind::Percentiles.read(Some(text));
        assert_eq!(read("95,99.9"), Some(Value::Percentiles(vec![95.0, 99.9])));
        assert_eq!(
            (read("0"), read(""), read("nan"), read(","), read("5x")),
            (
                Some(Value::Percentiles(vec![])),
                Some(Value::Percentiles(vec![])),
                None,
                None,
                None
            )
        );
    }
}

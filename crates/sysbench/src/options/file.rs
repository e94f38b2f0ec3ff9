//! Files of options, as `--config-file` names them: `name=value` a line.
//!
//! A value is one word, or stands between quotation marks; what follows it is not looked at. Lines that are no option, such
//! as remarks and `[sections]`, are passed over.

use std::fs;

use super::given::Given;

/// Reads the options of a file.
///
/// # Errors
/// A message when it cannot be read.
pub fn read(path: &str) -> Result<Vec<Given>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(text.lines().filter_map(option).collect())
}

fn option(line: &str) -> Option<Given> {
    let line = line.trim();
    let (name, value) = line.split_once('=')?;
    if line.starts_with(['#', ';', '[']) {
        return None;
    }
    let (name, value) = (name.trim().trim_start_matches("--"), first_word(value.trim_start()));
    Some(Given::from_file(name, value))
}

/// What stands between quotation marks, or before the first space.
fn first_word(text: &str) -> &str {
    let quoted = ['"', '\'']
        .iter()
        .find_map(|mark| text.strip_prefix(*mark)?.split_once(*mark));
    match quoted {
        Some((word, _)) => word,
        None => text.split_whitespace().next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_word_or_quoted() {
        for (line, expected) in [
            ("threads=3 # remark", Some(("threads", "3"))),
            ("mysql_db = x y", Some(("mysql-db", "x"))),
            ("mysql-db=\"x y\" z", Some(("mysql-db", "x y"))),
            ("mysql-db='x'", Some(("mysql-db", "x"))),
            ("mysql-db=\"x", Some(("mysql-db", "\"x"))),
            ("mysql-password=a#b=c", Some(("mysql-password", "a#b=c"))),
            ("--time=", Some(("time", ""))),
            ("# time=3", None),
            ("[time=3]", None),
            ("debug", None),
        ] {
            let given = option(line);
            let shown = given
                .as_ref()
                .map(|one| (one.key.as_str(), one.value.as_deref().unwrap_or("none")));
            assert_eq!(shown, expected, "{line}");
        }
    }
}

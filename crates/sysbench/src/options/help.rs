//! Options as they are shown.

use std::fmt::Write as _;

use super::{OptionSpec, declared};
use crate::compat::Compat;

/// A table of options: name with what follows it, help, default.
pub fn table(options: &[OptionSpec]) -> String {
    let shown = |option: &OptionSpec| format!("--{}{}", option.name, option.kind.suffix());
    let width = options
        .iter()
        .map(|option| shown(option).len())
        .max()
        .unwrap_or_default();
    let mut text = String::new();
    for option in options {
        let _ = write!(text, "  {:width$} {}", shown(option), option.help);
        if let Some(default) = &option.default {
            let _ = write!(text, " [{default}]");
        }
        text.push('\n');
    }
    text
}

/// What `--help` prints; `tests` are the lines of the tests that are built in.
pub fn usage(compat: Compat, tests: &str) -> String {
    let section = |title: &str, options: &[OptionSpec]| format!("{title}\n{}\n", table(options));
    [
        "Usage:\n  sysbench [options]... [testname] [command]\n\nCommands implemented by most tests: prepare run cleanup \
         help\n\n",
        &section("General options:", &declared::general(compat)),
        &section("Options of Plimsoll:", &declared::own(compat)),
        &section("Pseudo-Random Numbers Generator options:", &declared::random(compat)),
        &section("Log options:", &[declared::log(), declared::latency()].concat()),
        &section("General database options:\n", &declared::database()),
        "\nCompiled-in database drivers:\n  mysql - MySQL driver\n\n",
        &section("mysql options:", &declared::mysql(compat)),
        "Compiled-in tests:\n",
        tests,
        "\nSee 'sysbench <testname> help' for a list of options for each test.\n\n",
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Kind;

    #[test]
    fn a_table_has_names_in_a_column_and_defaults_in_brackets() {
        let options = [
            OptionSpec::new("a_switch", Kind::Bool, "off", "turns"),
            OptionSpec::without_default("b", Kind::Int, "counts"),
        ];
        assert_eq!(
            table(&options),
            "  --a_switch[=on|off] turns [off]\n  --b=N               counts\n"
        );
    }
}

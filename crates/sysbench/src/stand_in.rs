//! Paths of sysbench's own scripts that are not there, as command lines have them that were written where sysbench is
//! installed: the workload of the same name stands in for the file.
//!
//! Deliberately not here: files that exist, which are scripts of the user's whatever their names are.

use std::path::Path;

use crate::options::line::CommandLine;
use crate::options::{Kind, Value};

/// Scripts of 1.0 and 1.1. A file of such a name may have been in any folder.
const SCRIPTS: [&str; 11] = [
    "bulk_insert",
    "oltp_delete",
    "oltp_insert",
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_write_only",
    "select_random_points",
    "select_random_ranges",
];

/// Scripts of 0.5, which 1.0 kept in a folder of their own, and the workloads of today that do the same.
const LEGACY_SCRIPTS: [(&str, &str); 10] = [
    ("bulk_insert", "bulk_insert"),
    ("delete", "oltp_delete"),
    ("insert", "oltp_insert"),
    ("oltp", "oltp_read_write"),
    ("oltp_simple", "oltp_point_select"),
    ("select", "oltp_point_select"),
    ("select_random_points", "select_random_points"),
    ("select_random_ranges", "select_random_ranges"),
    ("update_index", "oltp_update_index"),
    ("update_non_index", "oltp_update_non_index"),
];

/// Folders of the scripts of 0.5: of 1.0, and of 0.5 itself.
const LEGACY_FOLDERS: [&str; 2] = ["tests/include/oltp_legacy", "tests/db"];

/// Options of the scripts of 0.5 whose names of today are not just those without `oltp-`.
const RENAMED: [(&str, &str); 3] = [
    ("oltp-tables-count", "tables"),
    ("mysql-table-engine", "mysql-storage-engine"),
    ("mysql-table-options", "create-table-options"),
];

/// Puts the workload in the place of the script, and its options in the place of the script's. Returns what is to be said
/// of it; `None` where nothing was changed.
pub fn take_place(line: &mut CommandLine) -> Option<String> {
    let path = line.test.clone()?;
    if Path::new(&path).exists() {
        return None;
    }
    let name = Path::new(&path).file_name()?.to_str()?.strip_suffix(".lua")?;
    let workload = match legacy(&path, name) {
        Some(workload) => modernise(line, workload),
        None => SCRIPTS.into_iter().find(|known| *known == name)?,
    };
    line.test = Some(workload.to_owned());
    Some(format!(
        "WARNING: there is no file {path}; the built-in workload {workload} runs in its place"
    ))
}

/// The workload of today for a script of 0.5. Its names are too common to mean it in any folder, except the best known.
fn legacy(path: &str, name: &str) -> Option<&'static str> {
    let folder = Path::new(path).parent()?;
    let is_theirs = name == "oltp" || LEGACY_FOLDERS.iter().any(|known| folder.ends_with(known));
    let known = LEGACY_SCRIPTS.iter().find(|(script, _)| *script == name);
    known.filter(|_| is_theirs).map(|(_, workload)| *workload)
}

/// Writes the options of a script of 0.5 as those of a workload of today, and says which one that is: `oltp.lua` is three
/// in one. Its statements are texts, and it takes whatever options there are.
fn modernise(line: &mut CommandLine, workload: &'static str) -> &'static str {
    let is_on = |line: &CommandLine, name: &str| {
        let given = line.given.iter().rev().find(|one| one.key == name);
        given.is_some_and(|one| Kind::Bool.read(one.value.as_deref()) == Some(Value::Bool(true)))
    };
    let workload = match workload {
        "oltp_read_write" if is_on(line, "oltp-read-only") => "oltp_read_only",
        "oltp_read_write" if is_on(line, "oltp-write-only") => "oltp_write_only",
        other => other,
    };
    line.given
        .retain(|one| !matches!(one.key.as_str(), "oltp-read-only" | "oltp-write-only"));
    for given in &mut line.given {
        let renamed = RENAMED.iter().find(|(old, _)| *old == given.key);
        let today = renamed.map_or_else(|| given.key.strip_prefix("oltp-"), |(_, today)| Some(*today));
        if let Some(today) = today {
            given.key = today.to_owned();
        }
    }
    line.give("db-ps-mode=disable");
    line.passes_over_unknown = true;
    workload
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(words: &str) -> (CommandLine, Option<String>) {
        let mut line = CommandLine::split(words.split(' ').map(str::to_owned)).unwrap();
        let said = take_place(&mut line);
        (line, said)
    }

    #[test]
    fn scripts_that_are_not_there_have_a_workload_in_their_place() {
        for (words, workload) in [
            ("/nothere/sysbench/oltp_read_write.lua run", "oltp_read_write"),
            ("./select_random_points.lua run", "select_random_points"),
            ("--test=bulk_insert.lua run", "bulk_insert"),
            ("/nothere/tests/include/oltp_legacy/oltp.lua run", "oltp_read_write"),
            ("--test=/nothere/doc/sysbench/tests/db/oltp.lua run", "oltp_read_write"),
            ("--test=tests/db/oltp.lua --oltp-read-only=on run", "oltp_read_only"),
            ("--test=tests/db/oltp.lua --oltp-read-only=off run", "oltp_read_write"),
            ("--test=tests/db/oltp.lua --oltp_write_only run", "oltp_write_only"),
            ("tests/include/oltp_legacy/update_index.lua run", "oltp_update_index"),
            ("tests/include/oltp_legacy/oltp_simple.lua run", "oltp_point_select"),
        ] {
            let (line, said) = placed(words);
            assert_eq!(line.test.as_deref(), Some(workload), "{words}");
            assert!(said.is_some_and(|said| said.contains(workload)), "{words}");
        }
    }

    #[test]
    fn other_names_and_files_that_exist_are_left_alone() {
        let file = std::env::temp_dir().join(format!("plimsoll-stand-in-{}", std::process::id()));
        std::fs::create_dir_all(&file).unwrap();
        let file = file.join("oltp_read_write.lua");
        std::fs::write(&file, "").unwrap();
        for words in [
            "oltp_read_write run",
            "/nothere/oltp_common.lua run",
            "./insert.lua run",
            "/nothere/mine.lua run",
            "oltp run",
            file.to_str().unwrap(),
        ] {
            let before = CommandLine::split(words.split(' ').map(str::to_owned)).unwrap();
            assert_eq!(placed(words), (before, None), "{words}");
        }
        std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
    }

    #[test]
    fn options_of_old_scripts_have_their_names_of_today() {
        let (line, _) =
            placed("--test=tests/db/oltp.lua --oltp-tables-count=3 --oltp_range_size=7 --mysql-table-engine=x run");
        let given: Vec<_> = line
            .given
            .iter()
            .map(|one| (one.key.as_str(), one.value.as_deref().unwrap_or_default()))
            .collect();
        let expected = [
            ("tables", "3"),
            ("range-size", "7"),
            ("mysql-storage-engine", "x"),
            ("db-ps-mode", "disable"),
        ];
        assert_eq!((given, line.passes_over_unknown), (expected.to_vec(), true));
        let (line, _) = placed("/nothere/oltp_read_only.lua --oltp-tables-count=3 run");
        assert_eq!(
            (line.given[0].key.as_str(), line.passes_over_unknown),
            ("oltp-tables-count", false)
        );
    }
}

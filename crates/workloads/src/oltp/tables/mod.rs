//! The tables of the OLTP workloads: their names, their shape, and the mark by which Plimsoll knows its own.
//!
//! Deliberately not here: any connection.

mod mark;

use plimsoll_core::plan::{Layout, OltpData};

pub use mark::{KIND, mark};

use crate::loading::mark::State;
use crate::loading::options::options_fault;

/// Most tables of a workload or data set: what the catalogue says about so many fits into the answer to a control query.
pub const TABLES_MAX: u64 = 100_000;

/// The number under which the one table of sysbench 0.4 goes, which has none in its name.
const UNNUMBERED: u32 = 0;

/// Name of a table.
pub fn name(number: u32) -> String {
    if number == UNNUMBERED {
        "sbtest".to_owned()
    } else {
        format!("sbtest{number}")
    }
}

/// Name of the secondary index of a table.
pub fn index_name(number: u32) -> String {
    if number == UNNUMBERED {
        "k".to_owned()
    } else {
        format!("k_{number}")
    }
}

/// The tables of a layout by their numbers, which follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    first: u32,
    count: u32,
}

impl Numbers {
    /// Those of so many tables.
    pub fn new(layout: Layout, tables: u32) -> Self {
        match layout {
            Layout::Sysbench1 | Layout::Bulk => Self {
                first: 1,
                count: tables,
            },
            Layout::Sysbench04 => Self {
                first: UNNUMBERED,
                count: 1,
            },
        }
    }

    /// How many.
    pub fn count(self) -> usize {
        self.count as usize
    }

    /// All of them, in order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        self.first..self.first + self.count
    }

    /// The position of the table of this name among them.
    pub fn position(self, name: &str) -> Option<usize> {
        let digits = name.strip_prefix("sbtest")?;
        let number = match digits {
            "" => UNNUMBERED,
            _ if digits.starts_with(['0', '+']) => return None,
            _ => digits.parse().ok()?,
        };
        let position = number.checked_sub(self.first)?;
        (position < self.count).then_some(position as usize)
    }
}

/// A column: its name, and what `information_schema` may call its type.
pub type Column = (&'static str, &'static [&'static str]);

const COLUMNS: [Column; 4] = [
    ("id", &["int", "bigint"]),
    ("k", &["int", "bigint"]),
    ("c", &["char", "varchar"]),
    ("pad", &["char", "varchar"]),
];

/// The columns of a layout in their order. Older versions of sysbench made unsigned integers, which is the same type
/// there.
pub fn columns(layout: Layout) -> &'static [Column] {
    match layout {
        Layout::Sysbench1 | Layout::Sysbench04 => &COLUMNS,
        Layout::Bulk => &COLUMNS[..2],
    }
}

/// Whether `k` is indexed by a statement of its own after loading, as sysbench 1 does it.
pub fn is_indexed_after_loading(data: &OltpData) -> bool {
    data.layout == Layout::Sysbench1 && data.create_secondary
}

/// The columns as `information_schema` tells their keys once the table is made: `id PRI, k MUL, c, pad`.
pub fn keyed_columns(data: &OltpData) -> String {
    let id = if data.secondary { "id MUL" } else { "id PRI" };
    let has_index = data.create_secondary && data.layout != Layout::Bulk;
    let k = if has_index { "k MUL" } else { "k" };
    let rest = columns(data.layout)[2..].iter().map(|(name, _)| *name);
    [id, k].into_iter().chain(rest).collect::<Vec<_>>().join(", ")
}

/// The statement that creates table `number`, empty and marked as being loaded.
pub fn create_sql(number: u32, data: &OltpData) -> String {
    let unsigned = if data.layout == Layout::Sysbench04 {
        " UNSIGNED"
    } else {
        ""
    };
    let counted = if data.auto_increment && data.layout != Layout::Bulk {
        " AUTO_INCREMENT"
    } else {
        ""
    };
    let texts = if data.layout == Layout::Bulk {
        ""
    } else {
        "c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, "
    };
    let key = if data.secondary {
        "KEY xid (id)"
    } else {
        "PRIMARY KEY (id)"
    };
    let index = if data.layout == Layout::Sysbench04 && data.create_secondary {
        format!(", KEY {} (k)", index_name(number))
    } else {
        String::new()
    };
    format!(
        "CREATE TABLE {} (id INTEGER{unsigned} NOT NULL{counted}, k INTEGER{unsigned} DEFAULT '0' NOT NULL, \
         {texts}{key}{index}) ENGINE = {} {} COMMENT = '{}'",
        name(number),
        data.storage_engine,
        data.table_options,
        mark(data, State::Loading).text()
    )
}

/// Faults in what a data set says about its shape, each with its name, its value and the cure.
pub fn shape_faults(data: &OltpData) -> Vec<String> {
    let mut faults = Vec::new();
    let engine = &data.storage_engine;
    let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if engine.is_empty() || engine.len() > 64 || !is_word(engine) {
        faults.push(format!(
            "storage_engine: must be the name of an engine such as innodb, is {engine:?}"
        ));
    }
    faults.extend(options_fault("table_options", &data.table_options));
    if data.layout == Layout::Sysbench04 && data.tables != 1 {
        faults.push(format!("tables: sysbench 0.4 has one table, is {}", data.tables));
    }
    if data.layout == Layout::Sysbench04 && data.secondary && data.auto_increment {
        faults.push("secondary: sysbench 0.4 has it only with auto_increment off".to_owned());
    }
    if data.layout == Layout::Bulk && !data.empty {
        faults.push("empty: the tables of bulk_insert begin empty".to_owned());
    }
    faults.extend(
        data.distribution
            .faults()
            .into_iter()
            .map(|fault| format!("distribution.{fault}")),
    );
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_names_are_ours() {
        let numbers = Numbers::new(Layout::Sysbench1, 3);
        assert_eq!(
            (numbers.position("sbtest1"), numbers.position("sbtest3")),
            (Some(0), Some(2))
        );
        for other in [
            "sbtest4", "sbtest0", "sbtest01", "sbtest+1", "sbtest", "sbtest1x", "other1",
        ] {
            assert_eq!(numbers.position(other), None, "{other}");
        }
        let single = Numbers::new(Layout::Sysbench04, 1);
        assert_eq!((single.position("sbtest"), single.position("sbtest1")), (Some(0), None));
        assert_eq!(single.iter().map(name).collect::<Vec<_>>(), ["sbtest"]);
    }

    #[test]
    fn what_would_hide_the_mark_is_refused() {
        let data = OltpData {
            storage_engine: "innodb COMMENT 'x'".to_owned(),
            table_options: "ROW_FORMAT=COMPRESSED comment 'mine'".to_owned(),
            layout: Layout::Sysbench04,
            tables: 2,
            ..OltpData::default()
        };
        assert_eq!(shape_faults(&data).len(), 3);
        assert_eq!(shape_faults(&OltpData::default()), Vec::<String>::new());
    }
}

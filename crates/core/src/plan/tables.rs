//! Tables of a user's own workload: columns, keys, and what they are filled with.
//!
//! What is not given is not written either: a table is known by the hash of its plan, which must not change when plans can
//! say more.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::statements::Generator;

/// The tables of a user's own workload.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatementsData {
    /// The tables.
    pub tables: Vec<TablePlan>,
    /// All content follows from it.
    pub seed: u64,
    /// A check takes any number of rows, since workloads insert or delete.
    #[serde(default)]
    pub changing: bool,
}

/// A table with its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TablePlan {
    /// Its name.
    pub name: String,
    /// How many rows are made.
    pub rows: u64,
    /// Its columns, in this order.
    pub columns: Vec<ColumnPlan>,
    /// The columns of its primary key; none if empty.
    pub primary_key: Vec<String>,
    /// Its other indexes, made after the rows.
    pub indexes: Vec<IndexPlan>,
    /// Further options, as CREATE TABLE takes them after the engine. Without any, tables are known by the marks that they
    /// had before there were such options.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub table_options: String,
    /// Its foreign keys, made after the rows and indexes of all tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKeyPlan>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColumnPlan {
    /// Its name.
    pub name: String,
    /// Its type in SQL, such as `VARCHAR(40)`: letters, digits, spaces, `_`, `,` and parentheses.
    pub sql_type: String,
    /// NULL is allowed.
    pub nullable: bool,
    /// The server numbers new rows itself.
    pub auto_increment: bool,
    /// So many of its values are NULL, 0 to 1.
    pub null_ratio: f64,
    /// What its values are.
    pub generator: Generator,
}

/// An index of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexPlan {
    /// Its name.
    pub name: String,
    /// Its columns, in this order.
    pub columns: Vec<String>,
    /// No two rows are alike in them.
    pub unique: bool,
    /// For each column, how many of its first characters or bytes are indexed; 0 for all. None at all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lengths: Vec<u32>,
}

/// A foreign key of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForeignKeyPlan {
    /// The name of its constraint.
    pub name: String,
    /// The columns that refer to others.
    pub columns: Vec<String>,
    /// The table that is referred to, which is one of the same data set.
    pub table: String,
    /// The columns of that table, one for each.
    pub references: Vec<String>,
    /// What becomes of rows whose row in that table is deleted.
    pub on_delete: OnDelete,
}

/// What a foreign key does when a row is deleted that others refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnDelete {
    /// Refuses that.
    Restrict,
    /// Deletes them too.
    Cascade,
    /// Makes their columns NULL.
    SetNull,
}

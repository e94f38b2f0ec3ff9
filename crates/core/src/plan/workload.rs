//! What clients do: the kinds of workloads, each with its options.

use schemars::JsonSchema;
use serde::Deserialize;

use super::oltp::OltpOptions;
use super::statements::StatementsPlan;
use super::tpcc::TpccOptions;

/// What clients do.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(from = "Form")]
#[schemars(with = "Form")]
pub enum WorkloadPlan {
    /// Statements of sysbench on its tables.
    Oltp(OltpPlan),
    /// Statements that the user wrote.
    Statements(StatementsPlan),
    /// The five transactions of the TPC-C-derived workload.
    Tpcc(TpccOptions),
}

/// One of the OLTP workloads.
#[derive(Clone, Debug, PartialEq)]
pub struct OltpPlan {
    /// Which of them.
    pub kind: OltpKind,
    /// Which rows and statements it uses.
    pub options: OltpOptions,
}

/// Declares the kinds of OLTP workloads, each with its name, and the form that all workloads have in the protocol: one
/// object of the kind's name and its options.
macro_rules! oltp_kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:tt,)*) => {
        /// Which OLTP workload.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum OltpKind {
            $($(#[$doc])* $kind,)*
        }

        impl OltpKind {
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Its name in the protocol, and that of its transactions.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }

        /// What clients do.
        #[derive(Deserialize, JsonSchema)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        #[schemars(rename = "WorkloadPlan")]
        enum Form {
            $($(#[$doc])* #[serde(rename = $name)] $kind(OltpOptions),)*
            /// Statements that the user wrote.
            Statements(StatementsPlan),
            /// The five transactions of the TPC-C-derived workload.
            Tpcc(TpccOptions),
        }

        impl From<Form> for WorkloadPlan {
            fn from(form: Form) -> Self {
                match form {
                    $(Form::$kind(options) => Self::Oltp(OltpKind::$kind.with(options)),)*
                    Form::Statements(plan) => Self::Statements(plan),
                    Form::Tpcc(options) => Self::Tpcc(options),
                }
            }
        }
    };
}

oltp_kinds! {
    /// Point and range selects in a transaction.
    ReadOnly = "oltp_read_only",
    /// Selects, updates, and a delete with an insert in a transaction.
    ReadWrite = "oltp_read_write",
    /// Updates, and a delete with an insert in a transaction.
    WriteOnly = "oltp_write_only",
    /// One select by primary key, without a transaction around it.
    PointSelect = "oltp_point_select",
    /// One insert, without a transaction around it.
    Insert = "oltp_insert",
    /// One delete by primary key, without a transaction around it.
    Delete = "oltp_delete",
    /// Updates of the indexed column, without a transaction around them.
    UpdateIndex = "oltp_update_index",
    /// Updates of a column without index, without a transaction around them.
    UpdateNonIndex = "oltp_update_non_index",
    /// One select of the rows with any of a list of values in the indexed column.
    RandomPoints = "select_random_points",
    /// One count of the rows with a value within any of several ranges in the indexed column.
    RandomRanges = "select_random_ranges",
    /// One insert of as many rows as fit into 512 KiB. sysbench counts each row as an event.
    BulkInsert = "bulk_insert",
    /// `simple` of sysbench 0.4: one select by primary key.
    Simple04 = "oltp_0.4_simple",
    /// `complex` of sysbench 0.4: selects, updates, and a delete with an insert in a transaction.
    Complex04 = "oltp_0.4_complex",
    /// `nontrx` of sysbench 0.4: one statement of the kind asked for, without a transaction around it.
    Nontrx04 = "oltp_0.4_nontrx",
    /// Calls of a stored procedure, with the number of the connection and how many there are.
    Sp04 = "oltp_0.4_sp",
}

impl OltpKind {
    /// This workload with these options.
    pub fn with(self, options: OltpOptions) -> OltpPlan {
        OltpPlan { kind: self, options }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_known_by_its_name_and_takes_the_options_beside_it() {
        for kind in OltpKind::ALL {
            let json = format!(r#"{{"kind":"{}","tables":3}}"#, kind.name());
            let options = OltpOptions {
                tables: 3,
                ..OltpOptions::default()
            };
            let plan: WorkloadPlan = serde_json::from_str(&json).unwrap();
            assert_eq!(plan, WorkloadPlan::Oltp(kind.with(options)));
        }
        for wrong in [
            r#"{"kind":"oltp"}"#,
            r#"{"kind":"oltp_delete","table":3}"#,
            r#"{"tables":3}"#,
        ] {
            assert!(serde_json::from_str::<WorkloadPlan>(wrong).is_err(), "{wrong}");
        }
    }
}

//! What a group of connections did in one interval, and the one way to add such results up.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;

/// How a failed statement is to be read. What to do about it is decided where it is handled; this only sorts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The transaction may be tried again with the same values: deadlock, lock-wait timeout, record changed.
    Retryable,
    /// The connection is gone.
    Connection,
    /// A lost connection could not be opened again, at one attempt.
    Connect,
    /// The server refused the statement, and would again.
    Statement,
}

/// How often one kind of error occurred.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorCount {
    /// Name of the transaction type that met it; null outside of transactions.
    pub transaction: Option<String>,
    /// How the error is to be read.
    pub class: ErrorClass,
    /// MySQL's error number; 0 when the client noticed it without one.
    pub code: u16,
    /// How often it occurred.
    pub count: u64,
}

/// Counts of one transaction type. Every field is a number of occurrences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Transactions that ended well.
    pub completed: u64,
    /// Those of them that ended in the rollback that they were to end in, and not in a commit.
    pub rolled_back: u64,
    /// Transactions that ended in an error, after all retries.
    pub failed: u64,
    /// Arrivals given up because the backlog was over its bound. Always 0 in a closed loop.
    pub dropped: u64,
    /// Repetitions of transactions after a retryable error.
    pub retries: u64,
    /// Statements that returned a result set.
    pub reads: u64,
    /// Statements that changed at least one row.
    pub writes: u64,
    /// All other statements: BEGIN, COMMIT, writes that touched no row.
    pub others: u64,
    /// Rows in result sets.
    pub rows_returned: u64,
    /// Rows that the server said were changed.
    pub rows_affected: u64,
}

impl Counts {
    /// Statements of all kinds.
    pub fn statements(&self) -> u64 {
        self.reads + self.writes + self.others
    }

    /// Both added, field by field.
    #[must_use]
    pub fn merge(&self, other: &Self) -> Self {
        Self {
            completed: self.completed + other.completed,
            rolled_back: self.rolled_back + other.rolled_back,
            failed: self.failed + other.failed,
            dropped: self.dropped + other.dropped,
            retries: self.retries + other.retries,
            reads: self.reads + other.reads,
            writes: self.writes + other.writes,
            others: self.others + other.others,
            rows_returned: self.rows_returned + other.rows_returned,
            rows_affected: self.rows_affected + other.rows_affected,
        }
    }
}

/// What a duration measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// done - due: what a user waits.
    Response,
    /// done - sent: what the server and the way to it took.
    Service,
    /// From due until a connection was free.
    PoolWait,
    /// From a free connection until the first byte left.
    DispatchDelay,
}

impl Measure {
    /// All measures, in the order in which recorders index them.
    pub const ALL: [Self; 4] = [Self::Response, Self::Service, Self::PoolWait, Self::DispatchDelay];
}

/// What the transactions of one type did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransactionSnapshot {
    /// How often things happened.
    pub counts: Counts,
    /// How long completed transactions took. Failed ones are counted, not timed.
    pub histograms: BTreeMap<Measure, Histogram>,
}

/// What a group of connections did: by transaction type, and errors by type, class and code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// By the name of the transaction type.
    pub transactions: BTreeMap<String, TransactionSnapshot>,
    /// Sorted by transaction type, class and code, one entry for each.
    pub errors: Vec<ErrorCount>,
}

impl Snapshot {
    /// Both as one.
    #[must_use]
    pub fn merge(&self, other: &Self) -> Self {
        Self::sum([self, other])
    }

    /// All as one: the only way to add results. The work grows with the total number of their entries, not with the square of
    /// the number of parts.
    pub fn sum<'s>(parts: impl IntoIterator<Item = &'s Self>) -> Self {
        let mut transactions: BTreeMap<&str, Vec<&TransactionSnapshot>> = BTreeMap::new();
        let mut errors: BTreeMap<(Option<&str>, ErrorClass, u16), u64> = BTreeMap::new();
        for part in parts {
            for (name, one) in &part.transactions {
                transactions.entry(name).or_default().push(one);
            }
            for error in &part.errors {
                let kind = (error.transaction.as_deref(), error.class, error.code);
                *errors.entry(kind).or_default() += error.count;
            }
        }
        let errors = errors
            .into_iter()
            .map(|((transaction, class, code), count)| ErrorCount {
                transaction: transaction.map(str::to_owned),
                class,
                code,
                count,
            });
        let transactions = transactions.into_iter();
        Self {
            transactions: transactions
                .map(|(name, parts)| (name.to_owned(), sum_of(&parts)))
                .collect(),
            errors: errors.collect(),
        }
    }

    /// Counts of all transaction types together.
    pub fn counts(&self) -> Counts {
        self.transactions
            .values()
            .fold(Counts::default(), |sum, one| sum.merge(&one.counts))
    }
}

fn sum_of(parts: &[&TransactionSnapshot]) -> TransactionSnapshot {
    let mut histograms: BTreeMap<Measure, Vec<&Histogram>> = BTreeMap::new();
    for (measure, histogram) in parts.iter().flat_map(|part| &part.histograms) {
        histograms.entry(*measure).or_default().push(histogram);
    }
    let counts = parts.iter().map(|part| &part.counts);
    TransactionSnapshot {
        counts: counts.fold(Counts::default(), |sum, one| sum.merge(one)),
        histograms: histograms
            .into_iter()
            .map(|(measure, parts)| (measure, Histogram::sum(&parts)))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn snapshots() -> impl Strategy<Value = Snapshot> {
        let error = (prop::option::of("[ab]"), 0u16..4, 1u64..9);
        let transaction = ("[ab]", 0u64..99, prop::collection::vec(0u64..9999, 0..9));
        (
            prop::collection::vec(transaction, 0..4),
            prop::collection::vec(error, 0..4),
        )
            .prop_map(|(named, errors)| {
                let single = |snapshot: Snapshot, one: Snapshot| snapshot.merge(&one);
                let transactions = named.into_iter().map(|(name, completed, durations)| {
                    let mut one = TransactionSnapshot::default();
                    one.counts.completed = completed;
                    let histogram = one.histograms.entry(Measure::Response).or_default();
                    for ns in durations {
                        histogram.record(ns);
                    }
                    Snapshot {
                        transactions: BTreeMap::from([(name, one)]),
                        errors: vec![],
                    }
                });
                let errors = errors.into_iter().map(|(transaction, code, count)| Snapshot {
                    transactions: BTreeMap::new(),
                    errors: vec![ErrorCount {
                        transaction,
                        class: ErrorClass::Retryable,
                        code,
                        count,
                    }],
                });
                transactions.chain(errors).fold(Snapshot::default(), single)
            })
    }

    proptest! {
        #[test]
        fn merging_is_associative_and_commutative(a in snapshots(), b in snapshots(), c in snapshots()) {
            prop_assert_eq!(a.merge(&b).merge(&c), a.merge(&b.merge(&c)));
            prop_assert_eq!(a.merge(&b), b.merge(&a));
        }

        #[test]
        fn a_sum_is_what_merging_one_after_the_other_gives(parts in prop::collection::vec(snapshots(), 0..6)) {
            let merged = parts.iter().fold(Snapshot::default(), |sum, one| sum.merge(one));
            prop_assert_eq!(Snapshot::sum(&parts), merged);
        }

        #[test]
        fn nothing_is_lost_in_a_merge(a in snapshots(), b in snapshots()) {
            prop_assert_eq!(a.merge(&b).counts(), a.counts().merge(&b.counts()));
        }
    }
}

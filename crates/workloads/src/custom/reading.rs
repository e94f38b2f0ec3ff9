//! Whether a transaction of a user's own only reads, so that a replica may take it.
//!
//! No parser: a statement that might do more than read counts as one that does. A word within quotes counts too.

use plimsoll_core::plan::{Role, TransactionPlan};

/// Words that only stand in a select which locks, writes, calls or depends on its session.
const MORE_THAN_READING: [&str; 12] = [
    "INTO",
    "UPDATE",
    "SHARE",
    "LOCK",
    "GET_LOCK",
    "RELEASE_LOCK",
    "RELEASE_ALL_LOCKS",
    "LAST_INSERT_ID",
    "NEXTVAL",
    "SETVAL",
    "NEXT",
    "SLEEP",
];

/// Where a transaction may run: on a replica when all its statements are plain selects, unless its author keeps it.
pub fn role(plan: &TransactionPlan) -> Role {
    let mut statements = plan.statements.iter();
    if !plan.on_source && statements.all(|one| is_plain_select(&one.sql)) {
        Role::Replica
    } else {
        Role::Source
    }
}

/// A SELECT, and nothing in it that could be more. Comments may hold what servers run, variables what a session remembers.
fn is_plain_select(sql: &str) -> bool {
    let sql = sql.trim();
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut words = sql.split(|character| !is_word(character));
    let is_select = words.next().is_some_and(|word| word.eq_ignore_ascii_case("select"));
    let has_more =
        sql.contains("/*") || sql.contains('@') || sql.contains(":=") || sql.trim_end_matches(';').contains(';');
    let is_more = |word: &str| MORE_THAN_READING.iter().any(|more| word.eq_ignore_ascii_case(more));
    is_select && !has_more && !words.any(is_more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_selects_may_leave_the_source() {
        for sql in [
            "SELECT c FROM t WHERE id = ?",
            " select count(*) from t where updated > ? ;",
            "SELECT a.x FROM a JOIN b USING (id) ORDER BY a.x LIMIT 3",
        ] {
            assert!(is_plain_select(sql), "{sql}");
        }
        for sql in [
            "SELECT c FROM t WHERE id = ? FOR UPDATE",
            "SELECT c FROM t FOR SHARE",
            "select c from t lock in share mode",
            "SELECT c INTO @x FROM t",
            "SELECT c FROM t INTO OUTFILE '/f'",
            "SELECT GET_LOCK('x', 1)",
            "SELECT @x := 1",
            "SELECT @@version",
            "SELECT LAST_INSERT_ID()",
            "SELECT NEXTVAL(s)",
            "SELECT /*!40000 SQL_NO_CACHE */ 1",
            "SELECT 1; DELETE FROM t",
            "CALL p()",
            "UPDATE t SET c = 1",
            "WITH x AS (SELECT 1) SELECT * FROM x",
            "selectx",
            "",
        ] {
            assert!(!is_plain_select(sql), "{sql}");
        }
    }
}

//! What a server allows, looked at before connections are opened in number.

use plimsoll_engine::WorkerFault;

/// All that is too low for so many connections that prepare so many statements together, each with its cure; `None`
/// when they fit. `number` asks the server for the only value of a query.
///
/// # Errors
/// Those of `number`.
pub fn fault(
    number: &mut dyn FnMut(&str) -> Result<u64, WorkerFault>,
    connections: u64,
    statements: u64,
) -> Result<Option<String>, WorkerFault> {
    let mut faults = Vec::new();
    let connections_max = number("SELECT @@max_connections")?;
    let connected = number("SHOW GLOBAL STATUS LIKE 'Threads_connected'")?.saturating_sub(1);
    if connected + connections > connections_max {
        faults.push(format!(
            "{connections} connections do not fit: max_connections is {connections_max}, and {connected} are in use; \
             raise it, or use fewer connections"
        ));
    }
    // Within a session it is the limit of the account, or else that of all accounts; 0 for none.
    let of_account = number("SELECT @@max_user_connections")?;
    if of_account > 0 && connections > of_account {
        faults.push(format!(
            "{connections} connections do not fit: this account may have {of_account} (max_user_connections, or WITH \
             MAX_USER_CONNECTIONS of the account); raise it, or use fewer connections"
        ));
    }
    let statements_max = number("SELECT @@max_prepared_stmt_count")?;
    let in_use = number("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'")?;
    if statements > 0 && in_use + statements > statements_max {
        faults.push(format!(
            "{connections} connections prepare {statements} statements, but max_prepared_stmt_count is \
             {statements_max}, and {in_use} are in use; raise it to at least {}, use fewer connections or tables, or \
             send statements as text",
            in_use + statements
        ));
    }
    Ok((!faults.is_empty()).then(|| faults.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(connections: u64, statements: u64, of_account: u64) -> Option<String> {
        let mut number = |sql: &str| {
            Ok(match sql {
                "SELECT @@max_connections" => 151,
                "SHOW GLOBAL STATUS LIKE 'Threads_connected'" => 12,
                "SELECT @@max_user_connections" => of_account,
                "SELECT @@max_prepared_stmt_count" => 16_382,
                "SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'" => 82,
                other => panic!("{other}"),
            })
        };
        fault(&mut number, connections, statements).unwrap()
    }

    #[test]
    fn everything_that_is_too_low_is_named_at_once() {
        assert_eq!(fault_of(140, 16_300, 0), None);
        let all = fault_of(141, 16_301, 140).unwrap();
        for part in [
            "141 connections do not fit: max_connections is 151, and 11 are in use",
            "this account may have 140",
            "max_prepared_stmt_count is 16382, and 82 are in use; raise it to at least 16383",
        ] {
            assert!(all.contains(part), "{part}: {all}");
        }
        assert_eq!(fault_of(100, 0, 100), None);
        assert!(
            fault_of(100, 0, 99)
                .unwrap()
                .starts_with("100 connections do not fit: this account may have 99")
        );
    }
}

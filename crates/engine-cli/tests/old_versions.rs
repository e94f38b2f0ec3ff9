//! Command lines of sysbench 0.4: its database test in every mode, on every server, with its report.

#[path = "../../workloads/tests/support/mod.rs"]
mod support;

mod beside;

use std::process::Command;

use beside::number;
use plimsoll_core::plan::Target;
use support::{Server, connect, on_each_server, value};

/// Runs `sysbench --test=oltp` with these words, which must end well; gives what it printed.
fn oltp(server: &Server, target: &Target, words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll-engine"))
        .args(["sysbench", "--test=oltp", "--mysql-user=root", "--oltp-table-size=500"])
        .arg(format!("--mysql-socket={}", server.socket().display()))
        .arg(format!("--mysql-db={}", target.database))
        .args(words)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && errors.is_empty(),
        "{words:?}\n{text}{errors}"
    );
    text
}

#[test]
fn the_database_test_of_0_4_in_every_mode() {
    on_each_server("front_old", |server, target| {
        oltp(server, target, &["prepare"]);
        let mut control = connect(target);
        assert_eq!(value(&mut control, "SELECT COUNT(*) FROM sbtest WHERE k = 0"), "500");
        let complex = [
            "--oltp-test-mode=complex",
            "--num-threads=2",
            "--max-requests=50",
            "run",
        ];
        let report = oltp(server, target, &complex);
        assert!(
            report.starts_with("sysbench 0.4.12:  multi-threaded system evaluation benchmark\n"),
            "{report}"
        );
        assert_eq!(
            (number(&report, "transactions:"), number(&report, "read:") >= 700),
            (50, true)
        );
        assert!(report.contains("approx.  95 percentile:"), "{report}");
        for mode in ["select", "update_key", "update_nokey", "delete", "insert"] {
            let mode = format!("--oltp-nontrx-mode={mode}");
            let report = oltp(
                server,
                target,
                &["--oltp-test-mode=nontrx", &mode, "--max-requests=20", "run"],
            );
            assert_eq!(number(&report, "total:"), 20, "{mode}");
        }
        let simple = [
            "--oltp-test-mode=simple",
            "--max-requests=20",
            "--report-interval=1",
            "run",
        ];
        assert_eq!(number(&oltp(server, target, &simple), "read:"), 20);
        control
            .query("CREATE PROCEDURE touch(member INT, members INT) SELECT member")
            .unwrap();
        let stored = [
            "--oltp-test-mode=sp",
            "--oltp-sp-name=touch",
            "--max-requests=20",
            "run",
        ];
        assert_eq!(number(&oltp(server, target, &stored), "transactions:"), 20);
        oltp(server, target, &["cleanup"]);
        assert_eq!(
            value(
                &mut control,
                "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'sbtest'"
            ),
            "0"
        );
    });
}

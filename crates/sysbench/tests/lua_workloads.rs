//! The modules that are part of the program, and those of an installed sysbench, on real servers.

mod lua_support;
#[path = "../../workloads/tests/support/mod.rs"]
mod support;

use std::os::unix::fs::symlink;
use std::path::Path;

use lua_support::{Folder, named, with, words_to};
use support::{connect, on_each_server, value};

#[test]
fn the_built_in_workload_does_what_it_says() {
    on_each_server("lua_oltp", |_, target| {
        let to = words_to(target);
        let size = ["--tables=3", "--table-size=300", "--threads=2"];
        let prepared = named("oltp_read_write", &with(&to, &[&["prepare"], &size[..]].concat()));
        assert_eq!(prepared.exit, 0, "{}", prepared.out);
        let mut control = connect(target);
        for table in ["sbtest1", "sbtest2", "sbtest3"] {
            let sql = format!(
                "SELECT CONCAT(COUNT(*), ' ', MIN(LENGTH(c)), ' ', MAX(LENGTH(pad)), ' ', MAX(k) <= 300) FROM {table}"
            );
            assert_eq!(value(&mut control, &sql), "300 119 59 1");
        }
        for (workload, reads, writes, others) in [
            ("oltp_read_write", 14, 4, 2),
            ("oltp_read_only", 14, 0, 2),
            ("oltp_write_only", 0, 4, 2),
            ("oltp_point_select", 1, 0, 0),
            ("oltp_update_index", 0, 1, 0),
            ("oltp_update_non_index", 0, 1, 0),
            ("oltp_insert", 0, 1, 0),
            ("select_random_points", 1, 0, 0),
            ("select_random_ranges", 1, 0, 0),
        ] {
            let seed = format!("--rand-seed={}", workload.len() as u64 * 100 + reads); // equal values would change no row
            let outcome = named(
                workload,
                &with(&to, &[&["run", "--events=50", &seed], &size[..]].concat()),
            );
            let counts = outcome.snapshot.counts();
            assert_eq!((outcome.exit, counts.completed), (0, 50), "{workload}: {}", outcome.out);
            let expected = (50 * reads, 50 * writes, 50 * others);
            assert_eq!((counts.reads, counts.writes, counts.others), expected, "{workload}");
        }
        let warm = named("oltp_read_only", &with(&to, &[&["warmup"], &size[..]].concat()));
        assert_eq!(warm.exit, 0, "{}", warm.out);
        let delete = named(
            "oltp_delete",
            &with(&to, &[&["run", "--events=50"], &size[..]].concat()),
        );
        assert_eq!(delete.snapshot.counts().statements(), 50);
        let gone = named("oltp_read_write", &with(&to, &[&["cleanup"], &size[..]].concat()));
        assert_eq!(
            (
                gone.exit,
                value(
                    &mut control,
                    "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
                )
                .as_str()
            ),
            (0, "0")
        );
    });
}

#[test]
fn bulk_inserts_send_rows_by_the_statement() {
    on_each_server("lua_bulk", |_, target| {
        let to = words_to(target);
        assert_eq!(named("bulk_insert", &with(&to, &["prepare", "--threads=2"])).exit, 0);
        let outcome = named("bulk_insert", &with(&to, &["run", "--threads=2", "--events=100000"]));
        assert_eq!(outcome.exit, 0, "{}", outcome.out);
        let rows = "SELECT (SELECT COUNT(*) FROM sbtest1) + (SELECT COUNT(*) FROM sbtest2)";
        assert_eq!(value(&mut connect(target), rows), "100000");
        let counts = outcome.snapshot.counts();
        assert!((2..=5).contains(&counts.writes), "{counts:?}");
    });
}

/// The scripts that Debian's package has.
#[test]
fn scripts_of_an_installed_sysbench_run() {
    let folder = Path::new("/usr/share/sysbench");
    if !folder.join("oltp_read_write.lua").exists() {
        return support::skip("sysbench's scripts are not installed (Debian: sysbench)");
    }
    on_each_server("lua_debian", |_, target| {
        let to = words_to(target);
        let path = |name: &str| folder.join(format!("{name}.lua")).display().to_string();
        let size = ["--tables=2", "--table-size=200", "--threads=2"];
        let prepared = named(
            &path("oltp_read_write"),
            &with(&to, &[&["prepare"], &size[..]].concat()),
        );
        assert_eq!(prepared.exit, 0, "{}", prepared.out);
        for (workload, statements) in [
            ("oltp_read_write", 20),
            ("oltp_read_only", 16),
            ("oltp_write_only", 6),
            ("oltp_point_select", 1),
            ("oltp_update_index", 1),
            ("oltp_update_non_index", 1),
            ("oltp_insert", 1),
            ("oltp_delete", 1),
            ("select_random_points", 1),
            ("select_random_ranges", 1),
        ] {
            let size = if workload.starts_with("select") {
                &size[1..]
            } else {
                &size[..]
            };
            let outcome = named(&path(workload), &with(&to, &[&["run", "--events=20"], size].concat()));
            let counts = outcome.snapshot.counts();
            let expected = (0, 20, 20 * statements);
            assert_eq!(
                (outcome.exit, counts.completed, counts.statements()),
                expected,
                "{workload}: {}",
                outcome.out
            );
        }
    });
}

/// Who changed it gets the changed one, and our transactions around it.
#[test]
fn transactions_go_with_an_oltp_common_of_the_users() {
    let installed = Path::new("/usr/share/sysbench/oltp_common.lua");
    if !installed.exists() {
        return support::skip("sysbench's scripts are not installed (Debian: sysbench)");
    }
    let users = Folder::new();
    symlink(installed, users.0.join("oltp_common.lua")).unwrap();
    let path = users.0.join("?.lua").display().to_string();
    on_each_server("lua_users", |_, target| {
        let to = words_to(target);
        let words = with(&to, &["run", "--events=20", "--table-size=200"]);
        let prepare = with(&to, &["prepare", "--table-size=200"]);
        assert_eq!(named("oltp_read_write", &prepare).exit, 0);
        for (workload, statements) in [("oltp_read_write", 20), ("oltp_read_only", 16), ("oltp_write_only", 6)] {
            let text = format!("package.path = '{path}' require('{workload}') function check_reconnect() end"); // 1.0 has none
            let outcome = named(&users.file("users.lua", &text), &words);
            let counts = outcome.snapshot.counts();
            assert_eq!(
                (outcome.exit, counts.statements()),
                (0, 20 * statements),
                "{workload}: {}",
                outcome.out
            );
        }
    });
}

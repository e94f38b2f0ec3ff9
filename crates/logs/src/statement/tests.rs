//! Statements and what becomes of them: kind, template, literals.

use super::Lexer;

/// Kind and template of a statement, and its literals as `slot:kind:value`; of texts the length stands for the value.
fn read(text: &str) -> (String, String) {
    let mut lexer = Lexer::default();
    lexer.read(text.as_bytes());
    let literals = lexer.literals().iter().map(|literal| {
        let written = &text[literal.from as usize..(literal.to as usize).max(literal.from as usize)];
        let sign = if literal.is_negative { "-" } else { "" };
        let value = match literal.kind.name() {
            "text" => literal.length.to_string(),
            "list" | "rows" => literal.value.to_string(),
            _ => format!("{sign}{written}"),
        };
        format!("{}:{}:{value}", literal.slot, literal.kind.name())
    });
    let literals: Vec<String> = literals.collect();
    let template = String::from_utf8_lossy(lexer.template()).into_owned();
    (
        format!("{} | {template}", lexer.kind(text.as_bytes()).name()),
        literals.join(" "),
    )
}

#[test]
fn templates_and_literals() {
    for (text, template, literals) in [
        (
            "select  a\n,b from T where x=-5 and y = a -5",
            "select | SELECT a, b FROM T WHERE x = ? AND y = a - ?",
            "0:int:-5 1:int:5",
        ),
        (
            "select 1.5, .5, 1e3, -2.5e-7, 0x1F, x'0aff', b'101'",
            "select | SELECT ?, ?, ?, ?, ?, ?, ?",
            "0:decimal:1.5 1:decimal:.5 2:decimal:1e3 3:decimal:-2.5e-7 4:text:1 5:text:2 6:text:3",
        ),
        (
            "select 'it''s', \"a\\\"b\", _utf8mb4'x', N'y', 'a' 'b'",
            "select | SELECT ?, ?, ?, ?, ?",
            "0:text:4 1:text:3 2:text:1 3:text:1 4:text:2",
        ),
        (
            "select '2026-11-23', '2026-11-23 10:00:00.5'",
            "select | SELECT ?, ?",
            "0:date:2026-11-23 1:date:2026-11-23 10:00:00.5",
        ),
        (
            "select `a``b` from s.`select` where t.key=1",
            "select | SELECT `a``b` FROM s.`select` WHERE t.key = ?",
            "0:int:1",
        ),
        (
            "select /* x */ 1 -- y\n, 2 # z",
            "select | SELECT ?, ?",
            "0:int:1 1:int:2",
        ),
        (
            "select /*!40001 SQL_NO_CACHE */ /*+ MAX(1) */ 1--2",
            "select | SELECT SQL_NO_CACHE /*+ MAX(1) */ ? - ?",
            "0:int:1 1:int:-2",
        ),
        (
            "select a from t where b is not null and c in (1,'x',null)",
            "select | SELECT a FROM t WHERE b IS NOT NULL AND c IN (...)",
            "0:list:3 0:int:1 0:text:1 0:null:",
        ),
        (
            "select a from t where b in (select 1) and c in (d, 2)",
            "select | SELECT a FROM t WHERE b IN (SELECT ?) AND c IN (d, ?)",
            "0:int:1 1:int:2",
        ),
        (
            "select 1 where (a,b) in ((1,2),(3,4)) limit 5",
            "select | SELECT ? WHERE (a, b) IN (...) LIMIT ?",
            "0:int:1 1:list:2 1:int:1 1:int:2 1:int:3 1:int:4 2:int:5",
        ),
        (
            "insert into t (a,b) values (1, now())",
            "insert | INSERT INTO t(a, b) VALUES (?, NOW())",
            "0:int:1",
        ),
        (
            "insert into t values (1,'a'),(-2,'b') on duplicate key update n=values(n)+3",
            "insert | INSERT INTO t VALUES (...) ON DUPLICATE KEY UPDATE n = VALUES (n) + ?",
            "0:rows:2 0:int:1 0:text:1 0:int:-2 0:text:1 1:int:3",
        ),
        (
            "replace t value (1),(2),(3",
            "replace | REPLACE t VALUE (...)",
            "0:rows:2 0:int:1 0:int:2",
        ),
        (
            "select count( * ), Orders.Id from Orders o where o.`x`<>1 and a<=>2;",
            "select | SELECT COUNT(*), Orders.Id FROM Orders o WHERE o.`x` <> ? AND a <=> ?",
            "0:int:1 1:int:2",
        ),
        (
            "set @a := 5, @@session.sql_mode = ''",
            "set | SET @a := ?, @@session.sql_mode = ?",
            "0:int:5 1:text:0",
        ),
        (
            "select 170141183460469231731687303715884105728, 1abc",
            "select | SELECT ?, 1abc",
            "0:decimal:170141183460469231731687303715884105728",
        ),
    ] {
        assert_eq!(read(text), (template.to_owned(), literals.to_owned()), "{text}");
    }
}

#[test]
fn kinds() {
    for (text, kind) in [
        ("select 1 from t for share", "select_locking"),
        ("select 1 from t lock in share mode", "select_locking"),
        ("(select 1) union (select 2)", "select"),
        ("with x as (select 1) select * from x", "select"),
        ("with x as (select 1) update t join x set a = 1", "update"),
        ("insert into t select * from u for update", "insert"),
        ("start transaction read only", "begin"),
        ("start replica", "admin"),
        ("rollback to savepoint s", "savepoint"),
        ("ROLLBACK", "rollback"),
        ("set autocommit=0", "autocommit_off"),
        ("SET @@session.autocommit = ON", "autocommit_on"),
        ("set session autocommit = 1", "autocommit_on"),
        ("set names utf8mb4", "set"),
        ("lock tables a write", "lock_tables"),
        ("unlock tables", "unlock_tables"),
        ("truncate table a", "ddl"),
        ("drop prepare p", "close"),
        ("explain select 1", "show"),
        ("call p(1)", "call"),
        ("load data infile 'x' into table t", "load"),
        ("/* only a comment */", "other"),
        ("", "other"),
    ] {
        assert_eq!(read(text).0.split(' ').next(), Some(kind), "{text}");
    }
}

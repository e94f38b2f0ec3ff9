//! Words of SQL whose case means nothing: reserved words, and the few others that statements begin with.
//!
//! Names of tables may depend on their case, so words that may be names are left as they are written.

use std::sync::LazyLock;

/// What the lexer must know of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    In,
    Values,
    Null,
    For,
    Lock,
    Share,
    Update,
    Select,
    Insert,
    Replace,
    Delete,
    With,
    /// It is itself a value: what follows is no sign.
    Value,
    Other,
}

/// A word and how it is written.
#[derive(Clone, Copy, Debug)]
pub struct Keyword {
    /// In capitals.
    pub text: &'static str,
    /// What it means here.
    pub word: Word,
}

/// Reserved words of MySQL 9 and MariaDB 11, and words of clauses that are hardly ever names.
const WORDS: &str = "
ACCESSIBLE ADD ALL ALTER ANALYZE AND AS ASC ASENSITIVE BEFORE BETWEEN BIGINT BINARY BLOB BOTH BY CALL CASCADE CASE CHANGE
CHAR CHARACTER CHECK COLLATE COLUMN CONDITION CONSTRAINT CONTINUE CONVERT CREATE CROSS CUBE CUME_DIST CURRENT_DATE
CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURSOR DATABASE DATABASES DEC DECIMAL DECLARE DEFAULT DELAYED DELETE DENSE_RANK
DESC DESCRIBE DETERMINISTIC DISTINCT DISTINCTROW DIV DOUBLE DROP DUAL EACH ELSE ELSEIF EMPTY ENCLOSED ESCAPED EXCEPT EXISTS
EXIT EXPLAIN FALSE FETCH FIRST_VALUE FLOAT FOR FORCE FOREIGN FROM FULLTEXT FUNCTION GENERATED GRANT GROUP GROUPING GROUPS
HAVING HIGH_PRIORITY IF IGNORE IN INDEX INFILE INNER INOUT INSENSITIVE INSERT INT INTEGER INTERSECT INTERVAL INTO IS ITERATE
JOIN JSON_TABLE KEY KEYS KILL LAG LAST_VALUE LATERAL LEAD LEADING LEAVE LEFT LIKE LIMIT LINEAR LINES LOAD LOCALTIME
LOCALTIMESTAMP LOCK LONG LONGBLOB LONGTEXT LOOP LOW_PRIORITY MATCH MAXVALUE MEDIUMBLOB MEDIUMINT MEDIUMTEXT MOD MODIFIES
NATURAL NOT NTH_VALUE NTILE NULL NUMERIC OF ON OPTIMIZE OPTION OPTIONALLY OR ORDER OUT OUTER OUTFILE OVER PARTITION
PERCENT_RANK PRECISION PRIMARY PROCEDURE PURGE RANGE RANK READ READS REAL RECURSIVE REFERENCES REGEXP RELEASE RENAME REPEAT
REPLACE REQUIRE RESTRICT RETURN RETURNING REVOKE RIGHT RLIKE ROW ROWS ROW_NUMBER SCHEMA SCHEMAS SELECT SENSITIVE SEPARATOR
SET SHOW SMALLINT SPATIAL SQL SQL_BIG_RESULT SQL_CALC_FOUND_ROWS SQL_SMALL_RESULT SQL_NO_CACHE SQL_CACHE STARTING STORED
STRAIGHT_JOIN SYSTEM TABLE TERMINATED THEN TINYBLOB TINYINT TINYTEXT TO TRAILING TRIGGER TRUE UNDO UNION UNIQUE UNLOCK
UNSIGNED UPDATE USAGE USE USING UTC_DATE UTC_TIME UTC_TIMESTAMP VALUE VALUES VARBINARY VARCHAR VARYING VIRTUAL WHEN WHERE
WHILE WINDOW WITH WRITE XOR YEAR_MONTH ZEROFILL END OFFSET NOWAIT SKIP LOCKED SHARE MODE DUPLICATE ESCAPE QUICK
PREPARE DEALLOCATE
";

/// Functions of the servers, folded where a parenthesis follows.
const FUNCTIONS: &str = "
ABS AVG CAST CEIL CEILING COALESCE CONCAT CONCAT_WS COUNT CURDATE CURTIME DATE DATE_ADD DATE_FORMAT DATE_SUB DATEDIFF DAY
FIELD FIND_IN_SET FLOOR FROM_UNIXTIME GET_LOCK GREATEST GROUP_CONCAT HEX HOUR IFNULL INSTR ISNULL JSON_EXTRACT LAST_INSERT_ID
LCASE LEAST LENGTH LOCATE LOWER LPAD LTRIM MAX MD5 MIN MINUTE MONTH NOW NULLIF POW POWER RAND RELEASE_LOCK ROUND RTRIM SECOND
SHA1 SHA2 SLEEP SUBSTR SUBSTRING SUM SYSDATE TIME TIMESTAMP TIMESTAMPDIFF TRIM TRUNCATE UCASE UNHEX UNIX_TIMESTAMP UPPER UUID
VERSION WEEK YEAR
";

/// Statements whose words are all folded: they name nothing whose case counts.
pub const FOLDED_STATEMENTS: [&[u8]; 6] = [b"BEGIN", b"COMMIT", b"ROLLBACK", b"SET", b"START", b"XA"];

const LONGEST: usize = 20;
const SLOTS: usize = 2048;

/// Words by their letters.
pub struct Keywords {
    slots: Vec<Slot>,
}

/// A word, whether it is a function's name, and what it was mixed to: other words are hardly ever mixed to the same.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    mixed: u64,
    word: Option<(Keyword, bool)>,
}

/// All of them.
pub static KEYWORDS: LazyLock<Keywords> = LazyLock::new(Keywords::new);

impl Keywords {
    fn new() -> Self {
        let mut made = Self {
            slots: vec![Slot::default(); SLOTS],
        };
        let function = |text| (text, true);
        let words = WORDS.split_whitespace().map(|text| (text, false));
        for (text, is_function) in words.chain(FUNCTIONS.split_whitespace().map(function)) {
            let at = made.place(text.as_bytes());
            made.slots[at] = Slot {
                mixed: mixed(text.as_bytes()),
                word: Some((Keyword { text, word: word(text) }, is_function)),
            };
        }
        made
    }

    /// The keyword with these letters; a function only where `is_call`.
    pub fn find(&self, letters: &[u8], is_call: bool) -> Option<Keyword> {
        if letters.len() > LONGEST {
            return None;
        }
        let (keyword, is_function) = self.slots[self.place(letters)].word?;
        (is_call || !is_function).then_some(keyword)
    }

    /// Where a word is, or would be.
    fn place(&self, letters: &[u8]) -> usize {
        let mixed = mixed(letters);
        let mut at = (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 53) as usize;
        while let Slot {
            mixed: other,
            word: Some((keyword, _)),
        } = &self.slots[at]
        {
            if *other == mixed && keyword.text.as_bytes().eq_ignore_ascii_case(letters) {
                break;
            }
            at = (at + 1) % SLOTS;
        }
        at
    }
}

/// Whether it is a function's name and nothing else.
pub fn is_function(text: &str) -> bool {
    KEYWORDS.slots[KEYWORDS.place(text.as_bytes())]
        .word
        .is_some_and(|(_, is_function)| is_function)
}

/// Some of a word's letters, without their case, and its length.
fn mixed(letters: &[u8]) -> u64 {
    let (Some(first), Some(last)) = (letters.first(), letters.last()) else {
        return 0;
    };
    let fold = |byte: u8| u64::from(byte | 0x20);
    let length = letters.len();
    let (second, middle) = (letters[1 % length], letters[length / 2]);
    let before_last = letters[length.saturating_sub(2)];
    fold(*first)
        | fold(second) << 8
        | fold(middle) << 16
        | fold(*last) << 24
        | fold(before_last) << 32
        | (length as u64) << 56
}

fn word(text: &str) -> Word {
    match text {
        "IN" => Word::In,
        "VALUES" | "VALUE" => Word::Values,
        "NULL" => Word::Null,
        "FOR" => Word::For,
        "LOCK" => Word::Lock,
        "SHARE" => Word::Share,
        "UPDATE" => Word::Update,
        "SELECT" => Word::Select,
        "INSERT" => Word::Insert,
        "REPLACE" => Word::Replace,
        "DELETE" => Word::Delete,
        "WITH" => Word::With,
        "TRUE" | "FALSE" | "CURRENT_DATE" | "CURRENT_TIME" | "CURRENT_TIMESTAMP" | "END" => Word::Value,
        _ => Word::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case() {
        let found = |letters: &str, is_call| KEYWORDS.find(letters.as_bytes(), is_call).map(|found| found.text);
        for text in WORDS.split_whitespace() {
            assert_eq!(found(&text.to_lowercase(), false), Some(text));
        }
        assert_eq!((found("count", true), found("count", false)), (Some("COUNT"), None));
        assert_eq!((found("orders", true), found("", true)), (None, None));
    }
}

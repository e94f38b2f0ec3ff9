//! What kind of statement it is, by its first words.

use super::literal::Literal;
use super::words::Word;

/// Kinds of statements, as files name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    Select,
    SelectLocking,
    Insert,
    Replace,
    Update,
    Delete,
    Call,
    Load,
    Begin,
    Commit,
    Rollback,
    Savepoint,
    AutocommitOn,
    AutocommitOff,
    LockTables,
    UnlockTables,
    Ddl,
    Set,
    Use,
    Show,
    Prepare,
    Execute,
    Close,
    Connect,
    Quit,
    Ping,
    Admin,
    Other,
}

impl StatementKind {
    /// As it is written to files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::SelectLocking => "select_locking",
            Self::Insert => "insert",
            Self::Replace => "replace",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Call => "call",
            Self::Load => "load",
            Self::Begin => "begin",
            Self::Commit => "commit",
            Self::Rollback => "rollback",
            Self::Savepoint => "savepoint",
            Self::AutocommitOn => "autocommit_on",
            Self::AutocommitOff => "autocommit_off",
            Self::LockTables => "lock_tables",
            Self::UnlockTables => "unlock_tables",
            Self::Ddl => "ddl",
            Self::Set => "set",
            Self::Use => "use",
            Self::Show => "show",
            Self::Prepare => "prepare",
            Self::Execute => "execute",
            Self::Close => "close",
            Self::Connect => "connect",
            Self::Quit => "quit",
            Self::Ping => "ping",
            Self::Admin => "admin",
            Self::Other => "other",
        }
    }
}

/// What the lexer saw of a statement's words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Words and names so far.
    pub count: u32,
    /// Bytes of the template before and with the first word; 0 before it.
    pub first_len: usize,
    first_begin: usize,
    /// The first of the verbs that stands in no parentheses: behind WITH it is not the first word.
    verb: Option<Word>,
    before: [Option<Word>; 2],
    is_locking: bool,
}

impl Seen {
    /// Takes the next keyword, which ends at `end` of the template.
    pub fn word(&mut self, letters: &[u8], word: Word, depth: u32, end: usize) {
        self.count += 1;
        if self.first_len == 0 {
            (self.first_begin, self.first_len) = (end - letters.len(), end);
        }
        let is_verb = matches!(
            word,
            Word::Select | Word::Insert | Word::Replace | Word::Update | Word::Delete
        );
        if is_verb && self.verb.is_none() && (depth == 0 || self.count == 1) {
            self.verb = Some(word);
        }
        self.is_locking |= matches!(
            (self.before, word),
            ([_, Some(Word::For)], Word::Update | Word::Share) | ([Some(Word::Lock), Some(Word::In)], Word::Share)
        );
        self.before = [self.before[1], Some(word)];
    }

    /// Whether `VALUES` begins rows.
    pub fn writes_rows(&self) -> bool {
        matches!(self.verb, Some(Word::Insert | Word::Replace))
    }

    /// What kind of statement it is.
    pub fn kind(&self, template: &[u8], literals: &[Literal], text: &[u8]) -> StatementKind {
        let words = template.get(self.first_begin..).unwrap_or_default();
        let mut words = words
            .split(|byte| matches!(byte, b' ' | b'(' | b'.' | b'@' | b',' | b';'))
            .filter(|word| !word.is_empty());
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is = |word: &str| second.eq_ignore_ascii_case(word.as_bytes());
        match first {
            b"WITH" | b"SELECT" | b"INSERT" | b"REPLACE" | b"UPDATE" | b"DELETE" => self.by_verb(),
            b"VALUES" | b"TABLE" => StatementKind::Select,
            b"BEGIN" => StatementKind::Begin,
            b"START" if is("TRANSACTION") => StatementKind::Begin,
            b"COMMIT" => StatementKind::Commit,
            b"ROLLBACK" if template.windows(4).any(|part| part == b" TO ") => StatementKind::Savepoint,
            b"ROLLBACK" => StatementKind::Rollback,
            b"SAVEPOINT" | b"RELEASE" => StatementKind::Savepoint,
            b"SET" => autocommit(template, literals, text).unwrap_or(StatementKind::Set),
            b"LOCK" if is("TABLES") || is("TABLE") => StatementKind::LockTables,
            b"UNLOCK" if is("TABLES") || is("TABLE") => StatementKind::UnlockTables,
            b"DROP" | b"DEALLOCATE" if is("PREPARE") => StatementKind::Close,
            b"CREATE" | b"ALTER" | b"DROP" | b"TRUNCATE" | b"RENAME" => StatementKind::Ddl,
            b"CALL" => StatementKind::Call,
            b"LOAD" => StatementKind::Load,
            b"USE" => StatementKind::Use,
            b"SHOW" | b"DESCRIBE" | b"DESC" | b"EXPLAIN" | b"HELP" => StatementKind::Show,
            b"PREPARE" => StatementKind::Prepare,
            b"EXECUTE" => StatementKind::Execute,
            b"START" | b"STOP" | b"CHANGE" | b"RESET" | b"FLUSH" | b"KILL" | b"GRANT" | b"REVOKE" | b"ANALYZE"
            | b"OPTIMIZE" | b"REPAIR" | b"CHECK" | b"CHECKSUM" | b"CACHE" | b"INSTALL" | b"UNINSTALL" | b"PURGE"
            | b"LOCK" | b"UNLOCK" | b"SHUTDOWN" | b"RESTART" | b"BINLOG" | b"CLONE" => StatementKind::Admin,
            _ => StatementKind::Other,
        }
    }

    fn by_verb(&self) -> StatementKind {
        match self.verb {
            Some(Word::Insert) => StatementKind::Insert,
            Some(Word::Replace) => StatementKind::Replace,
            Some(Word::Update) => StatementKind::Update,
            Some(Word::Delete) => StatementKind::Delete,
            Some(_) if self.is_locking => StatementKind::SelectLocking,
            Some(_) => StatementKind::Select,
            None => StatementKind::Other,
        }
    }
}

/// `SET autocommit = 0` and its other forms; `None` for other settings.
fn autocommit(template: &[u8], literals: &[Literal], text: &[u8]) -> Option<StatementKind> {
    let rest = template.strip_prefix(b"SET ")?;
    let prefixes: [&[u8]; 5] = [b"@@", b"SESSION ", b"session.", b"SESSION.", b"LOCAL "];
    let rest = prefixes
        .iter()
        .fold(rest, |rest, prefix| rest.strip_prefix(*prefix).unwrap_or(rest));
    let value = rest.get(..10).filter(|name| name.eq_ignore_ascii_case(b"AUTOCOMMIT"))?;
    let value = rest[value.len()..].trim_ascii_start();
    let value = value
        .strip_prefix(b":=")
        .or_else(|| value.strip_prefix(b"="))?
        .trim_ascii();
    let value = match value {
        [b'?', ..] => text.get(literals.first().map(|one| one.from as usize..one.to as usize)?)?,
        word => word.split(|byte| *byte == b',').next()?,
    };
    match value {
        b"1" | b"ON" | b"TRUE" | b"DEFAULT" => Some(StatementKind::AutocommitOn),
        b"0" | b"OFF" | b"FALSE" => Some(StatementKind::AutocommitOff),
        _ => None,
    }
}

//! What a parser finds: an entry of a log, or damage.

/// What a connection asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Command {
    /// A statement, as text or prepared.
    #[default]
    Statement,
    /// To prepare the statement.
    Prepare,
    /// To be let in.
    Connect,
    /// Its end.
    Quit,
    /// Another default schema.
    InitDb,
    /// Nothing.
    Ping,
    /// To forget a prepared statement.
    Close,
    /// Anything else.
    Admin,
    /// To change rows; the text stands for a statement that nobody logged.
    Rows(RowChange),
}

/// What became of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowChange {
    /// They are new.
    Insert,
    /// They have other values.
    Update,
    /// They are gone.
    Delete,
}

impl Command {
    /// By the name that servers write.
    pub fn of(name: &[u8]) -> Self {
        match name {
            b"Query" | b"Execute" => Self::Statement,
            b"Prepare" => Self::Prepare,
            b"Connect" => Self::Connect,
            b"Quit" => Self::Quit,
            b"Init DB" => Self::InitDb,
            b"Ping" => Self::Ping,
            b"Close stmt" => Self::Close,
            _ => Self::Admin,
        }
    }
}

/// When it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// Nobody says.
    #[default]
    Unknown,
    /// It started at this time, microseconds since 1970.
    Start(i64),
    /// It ended at this time, microseconds since 1970.
    End(i64),
    /// Start and end, microseconds since 1970.
    Both(i64, i64),
    /// It started within this second since 1970.
    StartSecond(i64),
    /// It ended within this second since 1970.
    EndSecond(i64),
}

/// Who wrote a log, as far as its entries tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flavour {
    /// MySQL, or nothing speaks against it.
    #[default]
    MySql,
    /// Percona Server.
    Percona,
    /// MariaDB.
    MariaDb,
    /// The format does not tell.
    Unknown,
}

/// One statement or command. Buffers are used again for the next.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // facts that are independent of each other
pub struct Entry {
    /// Line of its begin, from 1.
    pub line: u64,
    /// The server's id of the connection.
    pub thread: Option<u64>,
    /// Empty for an unknown or anonymous user.
    pub user: Vec<u8>,
    /// Name or address of the client's host.
    pub host: Vec<u8>,
    /// User and host are known.
    pub has_account: bool,
    /// Default schema; empty when there is none or it is unknown.
    pub schema: Vec<u8>,
    /// The entry itself says which schema it is, even if none.
    pub has_schema: bool,
    /// What was asked for.
    pub command: Command,
    /// When.
    pub when: When,
    /// Duration, microseconds.
    pub query_us: Option<u64>,
    /// Waiting for locks, microseconds.
    pub lock_us: Option<u64>,
    /// Rows of the result.
    pub rows_sent: Option<u64>,
    /// Rows that were read.
    pub rows_examined: Option<u64>,
    /// Rows that were changed.
    pub rows_affected: Option<u64>,
    /// Bytes of the answer.
    pub bytes_sent: Option<u64>,
    /// Error number; 0 for none.
    pub errno: Option<u64>,
    /// InnoDB's id of the transaction.
    pub trx: Option<u64>,
    /// Pages that InnoDB accessed.
    pub pages: Option<u64>,
    /// Rows that storage engines were asked for: the sum of MySQL's `Handler_read` counters.
    pub handler_reads: Option<u64>,
    /// How many statements this one stands for.
    pub weight: u64,
    /// The text, or the name of the command.
    pub text: Vec<u8>,
    /// The text was longer than what is kept.
    pub is_cut: bool,
    /// Nothing followed in the file: the text may have been cut there.
    pub is_last: bool,
}

impl Entry {
    /// Empty, at this line; buffers keep their memory.
    pub fn begin(&mut self, line: u64) {
        let [user, host, schema, text] =
            [&mut self.user, &mut self.host, &mut self.schema, &mut self.text].map(|buffer| {
                buffer.clear();
                std::mem::take(buffer)
            });
        *self = Self {
            line,
            user,
            host,
            schema,
            text,
            weight: 1,
            ..Self::default()
        };
    }

    /// Adds a line of text, up to what is kept.
    pub fn add_text(&mut self, line: &[u8], is_cut: bool) {
        let room = TEXT_BYTES_MAX - self.text.len().min(TEXT_BYTES_MAX);
        self.is_cut |= is_cut || line.len() > room;
        self.text.extend_from_slice(&line[..line.len().min(room)]);
    }
}

/// What is kept of a statement at most, bytes.
pub const TEXT_BYTES_MAX: usize = 1 << 20;

/// Takes what a parser finds.
pub trait Found {
    /// An entry that is whole, or only too long.
    fn entry(&mut self, entry: &Entry, flavour: Flavour);
    /// Something that cannot be read, and why.
    fn damage(&mut self, line: u64, reason: &'static str);
    /// The server opened the file: what it says of itself.
    fn opened(&mut self, program: &[u8]);
}

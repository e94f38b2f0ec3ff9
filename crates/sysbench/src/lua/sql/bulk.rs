//! The statement of a bulk insert: rows are collected in it until it is full.

/// Bytes of a statement at most, a zero byte at its end included.
const STATEMENT_BYTES: usize = 512 * 1024;

/// A statement that grows.
pub struct Bulk {
    sql: Vec<u8>,
    /// The length of what stands before the rows.
    head_bytes: usize,
}

impl Bulk {
    /// Begins with what stands before the rows; `None` when that is too long.
    pub(super) fn new(head: &[u8]) -> Option<Self> {
        (head.len() < STATEMENT_BYTES).then(|| Self {
            sql: head.to_vec(),
            head_bytes: head.len(),
        })
    }

    /// Whether a row fits beside those that are there.
    pub(super) fn has_room(&self, row: &[u8]) -> bool {
        self.sql.len() + row.len() + 2 <= STATEMENT_BYTES
    }

    /// Whether a row fits where it is the only one.
    pub(super) fn takes(&self, row: &[u8]) -> bool {
        self.head_bytes + row.len() < STATEMENT_BYTES
    }

    /// Adds a row.
    pub(super) fn add(&mut self, row: &[u8]) {
        if self.sql.len() > self.head_bytes {
            self.sql.push(b',');
        }
        self.sql.extend_from_slice(row);
    }

    /// The statement; `None` without a row.
    pub(super) fn statement(&self) -> Option<&[u8]> {
        (self.sql.len() > self.head_bytes).then_some(&self.sql)
    }

    /// Forgets the rows.
    pub(super) fn clear(&mut self) {
        self.sql.truncate(self.head_bytes);
    }
}

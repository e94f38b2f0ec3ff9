//! Folding: `IN (1, 2, 3)` and rows of an INSERT become `(...)`, so that their number makes no new template.

use super::literal::{Kind, Literal};

/// Places in the template and among the literals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// Bytes of the template before it.
    pub template: usize,
    /// Literals before it.
    pub literals: usize,
    /// Slots before it.
    pub slots: u32,
}

/// What is being folded.
#[derive(Clone, Copy, Debug, Default)]
pub enum Fold {
    /// Nothing.
    #[default]
    None,
    /// `IN` was read; `(` may follow.
    In,
    /// In a list that has only had literals.
    List { begin: Place, depth: u32, items: u64 },
    /// `VALUES` was read; `(` may follow.
    Values,
    /// In the first row.
    Row { begin: Place, depth: u32 },
    /// In another row, which leaves the template when it is whole.
    NextRow {
        begin: Place,
        end: Place,
        row: Place,
        depth: u32,
        rows: Rows,
    },
    /// Behind a row; the first one ended at `end`.
    AfterRow { begin: Place, end: Place, rows: Rows },
    /// Behind a comma behind a row.
    AfterComma { begin: Place, end: Place, rows: Rows },
}

/// Rows so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rows {
    /// How many are whole.
    pub count: u64,
    /// Literals in each; `None` when they differ.
    pub literals: Option<u32>,
}

impl Rows {
    /// With one more.
    pub fn and(self, literals: u32) -> Self {
        Self {
            count: self.count + 1,
            literals: Some(literals).filter(|_| self.count == 0 || self.literals == Some(literals)),
        }
    }
}

/// Puts ` (...)` in the place of what began there, and gives its literals one slot. The first of them is a placeholder.
pub fn fold(template: &mut Vec<u8>, literals: &mut [Literal], begin: Place, counted: Counted) {
    template.truncate(begin.template);
    template.extend_from_slice(b" (...)");
    let folded = &mut literals[begin.literals..];
    for literal in folded.iter_mut() {
        literal.slot = begin.slots;
    }
    folded[0] = Literal {
        value: counted.count,
        to: counted.each,
        ..Literal::plain(begin.slots, counted.kind)
    };
}

/// What was folded.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// List or rows.
    pub kind: Kind,
    /// Items or rows.
    pub count: u64,
    /// Literals in each row, 0 where unknown.
    pub each: u32,
}
